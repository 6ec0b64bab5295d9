/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which devices there are and what they can do. A device counts if it is there, has a
 * compiler and the full profile, and is little-endian as the argument blocks are.
 */
#include "opencl_backend.h"

#include <stdio.h>
#include <string.h>

/* --- asking ------------------------------------------------------------------------ */

static void ask(cl_device_id id, cl_device_info what, size_t size, void *out)
{
    memset(out, 0, size);
    if (clGetDeviceInfo(id, what, size, out, NULL) != CL_SUCCESS) {
        memset(out, 0, size);
    }
}

static bool ask_bool(cl_device_id id, cl_device_info what)
{
    cl_bool value = CL_FALSE;
    ask(id, what, sizeof value, &value);
    return value == CL_TRUE;
}

static uint64_t ask_long(cl_device_id id, cl_device_info what)
{
    cl_ulong value = 0;
    ask(id, what, sizeof value, &value);
    return value;
}

/* A whole word of a list with blanks between. */
static bool has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = list; (p = strstr(p, word)) != NULL; p += n) {
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0')) {
            return true;
        }
    }
    return false;
}

static bool has_extension(const ocl_backend *be, cl_device_id id, const char *name)
{
    size_t size = 0;
    if (clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, 0, NULL, &size) != CL_SUCCESS) {
        return false;
    }
    char *list = be->host->alloc(be->host->ctx, size + 1, 1);
    if (list == NULL) {
        return false;
    }
    ask(id, CL_DEVICE_EXTENSIONS, size, list);
    list[size] = '\0';
    const bool found = has_word(list, name);
    be->host->free(be->host->ctx, list);
    return found;
}

/* --- finding ----------------------------------------------------------------------- */

static bool is_usable(cl_device_id id)
{
    char profile[64];
    ask(id, CL_DEVICE_PROFILE, sizeof profile, profile);
    return ask_bool(id, CL_DEVICE_AVAILABLE) && ask_bool(id, CL_DEVICE_ENDIAN_LITTLE) &&
           ask_bool(id, CL_DEVICE_COMPILER_AVAILABLE) &&
           strcmp(profile, "FULL_PROFILE") == 0;
}

static uint64_t mix(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3); // FNV-1a
    }
    return hash;
}

/* Nothing that relaxes arithmetic. */
static void make_options(ocl_device *device)
{
    snprintf(device->options, sizeof device->options, "-w -cl-std=CL1.2%s%s",
             device->exact32 ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
             device->blocks ? " -DRK_BLOCKS=1" : "");
}

/* A program fits the driver and the options that built it, on the same kind of device. */
static void make_suffix(ocl_device *device)
{
    static const cl_device_info parts[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR,
                                           CL_DEVICE_VERSION, CL_DRIVER_VERSION};
    char text[256];
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        ask(device->id, parts[i], sizeof text, text);
        hash = mix(mix(hash, text), "|");
    }
    memset(text, 0, sizeof text);
    (void)clGetPlatformInfo(device->platform, CL_PLATFORM_VERSION, sizeof text, text,
                            NULL);
    snprintf(device->suffix, sizeof device->suffix, "cl.%016llx",
             (unsigned long long)mix(mix(hash, text), device->options));
}

static void describe(ocl_device *device)
{
    const cl_device_id id = device->id;
    ask(id, CL_DEVICE_NAME, sizeof device->name, device->name);
    const uint64_t type = ask_long(id, CL_DEVICE_TYPE);
    device->cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
#if defined(OPENCL_GRIDS_OF_GPUS) /* a test: on any device */
    device->blocks = false;
#else
    device->blocks = device->cpu;
#endif
    const uint64_t single = ask_long(id, CL_DEVICE_SINGLE_FP_CONFIG);
    device->exact32 = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    ask(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof device->units, &device->units);
    device->max_alloc = ask_long(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    make_options(device);
    make_suffix(device);
}

static void find_devices(ocl_backend *be)
{
    cl_platform_id platform[16];
    cl_uint nplatform = 0;
    if (clGetPlatformIDs(16, platform, &nplatform) != CL_SUCCESS) {
        nplatform = 0; // no driver at all is an error of its own
    }
    for (cl_uint p = 0; p < nplatform && p < 16; p++) {
        cl_device_id id[DEVICES_MOST];
        cl_uint n = 0;
        if (clGetDeviceIDs(platform[p], CL_DEVICE_TYPE_ALL, DEVICES_MOST, id, &n) !=
            CL_SUCCESS) {
            continue;
        }
        for (cl_uint i = 0; i < n && i < DEVICES_MOST; i++) {
            if (be->ndevice < DEVICES_MOST && is_usable(id[i])) {
                ocl_device *device = &be->device[be->ndevice++];
                device->platform = platform[p];
                device->id = id[i];
                describe(device);
            }
        }
    }
}

/* --- slots ------------------------------------------------------------------------- */

rubus_status ocl_device_count(void *pointer, uint32_t *out_n)
{
    ocl_backend *be = pointer;
    pthread_mutex_lock(&be->lock); /* drivers start threads: not before this */
    if (!be->searched) {
        find_devices(be);
        be->searched = true;
    }
    *out_n = be->ndevice;
    pthread_mutex_unlock(&be->lock);
    return RUBUS_OK;
}

static uint32_t kind_of(const ocl_device *device)
{
    const uint64_t type = ask_long(device->id, CL_DEVICE_TYPE);
    if (device->cpu) {
        return RUBUS_KIND_CPU;
    }
    if ((type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR)) == 0) {
        return RUBUS_KIND_SOFTWARE; // of a custom kind: nothing is known
    }
    return ask_bool(device->id, CL_DEVICE_HOST_UNIFIED_MEMORY) ? RUBUS_KIND_INTEGRATED
                                                               : RUBUS_KIND_DISCRETE;
}

rubus_status ocl_device_caps(void *pointer, uint32_t number, rubus_caps *out_caps)
{
    const ocl_backend *be = pointer;
    uint32_t n = 0;
    (void)ocl_device_count(pointer, &n);
    if (number >= n) {
        return be->host->fail(be->host->ctx, RUBUS_ENODEV,
                              "there is no OpenCL device number %u; %u are usable (see "
                              "clinfo)",
                              (unsigned)number, (unsigned)n);
    }
    const ocl_device *device = &be->device[number];
    const bool fp64 = ask_long(device->id, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    const bool atomic64 = has_extension(be, device->id, "cl_khr_int64_base_atomics");
    rubus_caps caps = {.kind = kind_of(device),
                       .dialect = "opencl",
                       .fp64 = fp64 ? 2 : 0,
                       .int64 = 2,
                       .bool8 = 2,
                       .atomic_f32_add = 1,
                       .atomic_f64_add = fp64 && atomic64 ? 1 : 0,
                       .lane_width = device->cpu ? 1 : 32,
                       .memory = RUBUS_AT_DEVICE,
                       .offset_align = 1,
                       .mem_total = ask_long(device->id, CL_DEVICE_GLOBAL_MEM_SIZE),
                       .max_alloc = device->max_alloc,
                       .max_buffer = device->max_alloc};
    snprintf(caps.name, sizeof caps.name, "%s", device->name);
    char platform[100] = "";
    char version[100];
    (void)clGetPlatformInfo(device->platform, CL_PLATFORM_NAME, sizeof platform, platform,
                            NULL);
    ask(device->id, CL_DRIVER_VERSION, sizeof version, version);
    snprintf(caps.driver, sizeof caps.driver, "%s %s%s", platform, version,
             device->exact32 ? "" : ", f32 division not exact");
    // The library may know fewer fields than this plugin.
    const size_t known = out_caps->struct_size;
    caps.struct_size = out_caps->struct_size;
    memcpy(out_caps, &caps, known < sizeof caps ? known : sizeof caps);
    return RUBUS_OK;
}
