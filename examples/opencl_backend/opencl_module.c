/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: a program of OpenCL with one kernel for each entry. What the driver makes of
 * the text is kept in the library's cache.
 */
#define _GNU_SOURCE /* memfd_create */
#include "opencl_backend.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOG_ROOM = 4000 };

/* --- the cache --------------------------------------------------------------------- */

/* All of a file, in memory of the host; NULL if that fails. */
static unsigned char *read_all(const rubus_host *host, int fd, size_t *out_size)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || info.st_size <= 0) {
        return NULL;
    }
    const size_t size = (size_t)info.st_size;
    unsigned char *bytes = host->alloc(host->ctx, size, 1);
    size_t done = 0;
    while (bytes != NULL && done < size) {
        const ssize_t n = read(fd, bytes + done, size - done);
        if (n <= 0) {
            host->free(host->ctx, bytes);
            return NULL;
        }
        done += (size_t)n;
    }
    *out_size = size;
    return bytes;
}

/* The program as it was compiled before; NULL where there is none that still fits. */
static cl_program load(const ocl_context *ctx, const rubus_module_desc *desc)
{
    const rubus_host *host = ctx->host;
    const ocl_device *device = ctx->device;
    int32_t fd = -1;
    if (host->cache_get(host->ctx, desc->key, device->suffix, &fd) != RUBUS_OK ||
        fd < 0) {
        return NULL;
    }
    size_t size = 0;
    unsigned char *bytes = read_all(host, fd, &size);
    close(fd);
    if (bytes == NULL) {
        return NULL;
    }
    cl_int error = CL_SUCCESS;
    const unsigned char *binary = bytes;
    cl_program program = clCreateProgramWithBinary(ctx->handle, 1, &device->id, &size,
                                                   &binary, NULL, &error);
    host->free(host->ctx, bytes);
    return error == CL_SUCCESS ? program : NULL;
}

static void store_bytes(const ocl_context *ctx, const rubus_module_desc *desc,
                        const unsigned char *bytes, size_t size)
{
    const rubus_host *host = ctx->host;
    const int fd = memfd_create("rubus-opencl", MFD_CLOEXEC);
    if (fd < 0) {
        return;
    }
    size_t done = 0;
    while (done < size) {
        const ssize_t n = write(fd, bytes + done, size - done);
        if (n <= 0) {
            break;
        }
        done += (size_t)n;
    }
    if (done == size) {
        (void)host->cache_put(host->ctx, desc->key, ctx->device->suffix, fd);
    }
    close(fd);
}

/* A cache that cannot be written costs time, not results. */
static void store(const ocl_context *ctx, const rubus_module_desc *desc,
                  cl_program program)
{
    size_t size = 0;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) !=
            CL_SUCCESS ||
        size == 0) {
        return;
    }
    unsigned char *bytes = ctx->host->alloc(ctx->host->ctx, size, 1);
    if (bytes == NULL) {
        return;
    }
    if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL) ==
        CL_SUCCESS) {
        store_bytes(ctx, desc, bytes, size);
    }
    ctx->host->free(ctx->host->ctx, bytes);
}

/* --- building ---------------------------------------------------------------------- */

static rubus_status fail_build(ocl_context *ctx, const rubus_module_desc *desc,
                               cl_program program, cl_int error)
{
    const rubus_host *host = ctx->host;
    char *log = host->alloc(host->ctx, LOG_ROOM, 1);
    if (log == NULL) {
        return RUBUS_ENOMEM;
    }
    size_t size = 0;
    cl_device_id id = ctx->device->id;
    const cl_program_build_info what = CL_PROGRAM_BUILD_LOG;
    log[0] = '\0';
    if (clGetProgramBuildInfo(program, id, what, 0, NULL, &size) == CL_SUCCESS &&
        size > 1) {
        char *whole = host->alloc(host->ctx, size, 1);
        if (whole != NULL &&
            clGetProgramBuildInfo(program, id, what, size, whole, NULL) == CL_SUCCESS) {
            snprintf(log, LOG_ROOM, "%.*s", LOG_ROOM - 1, whole);
        }
        if (whole != NULL) {
            host->free(host->ctx, whole);
        }
    }
    const rubus_status st = host->fail(
        host->ctx, RUBUS_ECOMPILE,
        "module %s: the OpenCL compiler of '%s' refused it (error %d, options %s):\n%s",
        desc->name, ctx->device->name, (int)error, ctx->device->options, log);
    host->free(host->ctx, log);
    return st;
}

/* Compiles the text: a program that is still to be linked. */
static rubus_status compile(ocl_context *ctx, const rubus_module_desc *desc,
                            cl_program *out_program)
{
    cl_int error = CL_SUCCESS;
    const size_t size = (size_t)desc->text_size;
    const char *text = desc->text;
    cl_program program = clCreateProgramWithSource(ctx->handle, 1, &text, &size, &error);
    if (error != CL_SUCCESS) {
        return ocl_fail(ctx->host, NULL, error, false, "module", desc->name);
    }
    error = clCompileProgram(program, 1, &ctx->device->id, ctx->device->options, 0, NULL,
                             NULL, NULL, NULL);
    if (error != CL_SUCCESS) {
        const rubus_status st = fail_build(ctx, desc, program, error);
        (void)clReleaseProgram(program);
        return st;
    }
    store(ctx, desc, program);
    *out_program = program;
    return RUBUS_OK;
}

/* The compiled program is what is cached: a driver may take long over the binary of a
 * linked one (PoCL makes machine code of every kernel for it, of every size). */
static rubus_status build(ocl_context *ctx, const rubus_module_desc *desc,
                          cl_program *out_program)
{
    cl_int error = CL_SUCCESS;
    cl_program compiled = load(ctx, desc);
    if (compiled != NULL) {
        *out_program = clLinkProgram(ctx->handle, 1, &ctx->device->id, NULL, 1, &compiled,
                                     NULL, NULL, &error);
        (void)clReleaseProgram(compiled);
        if (error == CL_SUCCESS) {
            return RUBUS_OK;
        }
    }
    rubus_status st = compile(ctx, desc, &compiled);
    if (st != RUBUS_OK) {
        return st;
    }
    *out_program = clLinkProgram(ctx->handle, 1, &ctx->device->id, NULL, 1, &compiled,
                                 NULL, NULL, &error);
    (void)clReleaseProgram(compiled);
    if (error != CL_SUCCESS) {
        st = *out_program == NULL
                 ? ocl_fail(ctx->host, NULL, error, false, "linking", desc->name)
                 : fail_build(ctx, desc, *out_program, error);
    }
    return st;
}

/* --- entries ----------------------------------------------------------------------- */

static rubus_status make_entry(ocl_context *ctx, const ocl_module *module,
                               const rubus_entry *from, ocl_entry *to)
{
    const rubus_host *host = ctx->host;
    for (uint32_t i = 0; i < from->nparam; i++) {
        const rubus_param *p = &from->param[i];
        to->argument[i] = (ocl_argument){.is_buffer = p->is_buffer,
                                         .place = p->is_buffer ? p->index : p->offset,
                                         .size = p->size};
    }
    snprintf(to->label, sizeof to->label, "%s", from->label);
    to->flags = from->flags;
    to->nargument = from->nparam;
    cl_int error = CL_SUCCESS;
    to->kernel = clCreateKernel(module->program, from->symbol, &error);
    size_t group[3] = {0, 0, 0};
    if (error == CL_SUCCESS) {
        const bool fixed = (from->flags & RUBUS_ENTRY_GROUPS) != 0;
        error = clGetKernelWorkGroupInfo(
            to->kernel, ctx->device->id,
            fixed ? CL_KERNEL_COMPILE_WORK_GROUP_SIZE : CL_KERNEL_WORK_GROUP_SIZE,
            fixed ? sizeof group : sizeof group[0], group, NULL);
    }
    if (error != CL_SUCCESS) {
        return ocl_fail(host, NULL, error, false, "making the kernel of", to->label);
    }
    to->group = group[0] > 0 ? group[0] : 1;
    return RUBUS_OK;
}

void ocl_module_destroy(void *pointer, void *handle)
{
    ocl_context *ctx = pointer;
    ocl_module *module = handle;
    if (module == NULL) {
        return;
    }
    for (uint32_t i = 0; i < module->nentry; i++) {
        if (module->entry[i].kernel != NULL) {
            (void)clReleaseKernel(module->entry[i].kernel);
        }
    }
    if (module->program != NULL) {
        (void)clReleaseProgram(module->program);
    }
    ctx->host->free(ctx->host->ctx, module);
}

/* The module with its entries and their arguments, in one piece of memory. */
static ocl_module *allocate(const rubus_host *host, const rubus_module_desc *desc)
{
    size_t narg = 0;
    for (uint32_t i = 0; i < desc->nentry; i++) {
        narg += desc->entry[i].nparam;
    }
    const size_t head = sizeof(ocl_module) + desc->nentry * sizeof(ocl_entry);
    const size_t size = head + narg * sizeof(ocl_argument);
    ocl_module *module = host->alloc(host->ctx, size, _Alignof(max_align_t));
    if (module == NULL) {
        return NULL;
    }
    memset(module, 0, size);
    module->nentry = desc->nentry;
    ocl_argument *at = (ocl_argument *)(void *)((char *)module + head);
    for (uint32_t i = 0; i < desc->nentry; i++) {
        module->entry[i].argument = at;
        at += desc->entry[i].nparam;
    }
    return module;
}

rubus_status ocl_module_create(void *pointer, const rubus_module_desc *desc, void **out)
{
    ocl_context *ctx = pointer;
    const rubus_host *host = ctx->host;
    if (strcmp(desc->dialect, "opencl") != 0) {
        return host->fail(host->ctx, RUBUS_EUNSUPPORTED,
                          "module %s: text of dialect %s; this backend takes opencl",
                          desc->name, desc->dialect);
    }
    ocl_module *module = allocate(host, desc);
    if (module == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus_status st = build(ctx, desc, &module->program);
    for (uint32_t i = 0; i < desc->nentry && st == RUBUS_OK; i++) {
        st = make_entry(ctx, module, &desc->entry[i], &module->entry[i]);
    }
    if (st != RUBUS_OK) {
        ocl_module_destroy(ctx, module);
        return st;
    }
    *out = module;
    return RUBUS_OK;
}
