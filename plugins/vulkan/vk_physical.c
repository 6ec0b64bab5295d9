/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices of the machine: asked once, each GPU once although several drivers may
 * serve it, best first, so that a number means the same device everywhere. One that lacks
 * what the backend needs stays in the list, and says why when it is opened.
 */
#include "config.h"

#include "plugins/vulkan/vulkan.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { DEVICES_MOST = 64, FAMILIES_MOST = 32 };

/* Whether the device has an extension; asked by list. */
typedef struct extensions {
    uint32_t n;
    VkExtensionProperties *at;
} extensions;

static bool has(const extensions *list, const char *name)
{
    for (uint32_t i = 0; i < list->n; i++) {
        if (strcmp(list->at[i].extensionName, name) == 0) {
            return true;
        }
    }
    return false;
}

static rubus_status extensions_get(vk_backend *be, VkPhysicalDevice device,
                                   extensions *out)
{
    const rubus_host *host = be->host;
    static const char what[] = "listing the extensions of a device";
    *out = (extensions){0};
    uint32_t n = 0;
    VkResult result = be->api.EnumerateDeviceExtensionProperties(device, NULL, &n, NULL);
    if (result < 0) {
        return vk_fail_result(host, result, what, NULL);
    }
    out->at = vk_new(host, (n + 1) * sizeof *out->at);
    if (out->at == NULL) {
        return RUBUS_ENOMEM;
    }
    result = be->api.EnumerateDeviceExtensionProperties(device, NULL, &n, out->at);
    if (result < 0) {
        host->free(host->ctx, out->at);
        return vk_fail_result(host, result, what, NULL);
    }
    out->n = n;
    return RUBUS_OK;
}

bool vk_is_software(const vk_physical *physical)
{
    return physical->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
}

/* --- one device --------------------------------------------------------------------- */

void vk_chain(void *base, void *part)
{
    VkBaseOutStructure *end = base;
    while (end->pNext != NULL) {
        end = end->pNext;
    }
    end->pNext = part;
}

static void ask_properties(vk_backend *be, vk_physical *p, bool version_1_3,
                           bool sizes_extension)
{
    VkPhysicalDeviceVulkan11Properties v11 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES};
    VkPhysicalDeviceVulkan12Properties v12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
    VkPhysicalDeviceVulkan13Properties v13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES};
    VkPhysicalDeviceSubgroupSizeControlProperties sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
    VkPhysicalDeviceProperties2 all = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    vk_chain(&all, &v11);
    vk_chain(&all, &v12);
    if (version_1_3) {
        vk_chain(&all, &v13);
    } else if (sizes_extension) {
        vk_chain(&all, &sizes);
    }
    be->api.GetPhysicalDeviceProperties2(p->handle, &all);
    v12.pNext = NULL;
    p->vulkan12 = v12;
    memcpy(p->uuid, v11.deviceUUID, sizeof p->uuid);
    snprintf(p->driver, sizeof p->driver, "%.100s%s%.150s", v12.driverName,
             v12.driverInfo[0] != '\0' ? ", " : "", v12.driverInfo);
    const bool compute = (v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
    p->subgroup_size = compute && v11.subgroupSize > 0 ? v11.subgroupSize : 1;
    vk_limits *limits = &p->limits;
    limits->allocation = v11.maxMemoryAllocationSize;
    limits->buffer = version_1_3 ? v13.maxBufferSize : v11.maxMemoryAllocationSize;
    uint32_t least = version_1_3 ? v13.minSubgroupSize : sizes.minSubgroupSize;
    uint32_t most = version_1_3 ? v13.maxSubgroupSize : sizes.maxSubgroupSize;
    limits->subgroup_least = least > 0 ? least : p->subgroup_size;
    limits->subgroup_most = most > 0 ? most : p->subgroup_size;
}

static void ask_features(vk_backend *be, vk_physical *p, bool version_1_3,
                         const extensions *ext)
{
    VkPhysicalDeviceVulkan12Features v12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceVulkan13Features v13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomics = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT};
    VkPhysicalDeviceFeatures2 all = {.sType =
                                         VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
    vk_chain(&all, &v12);
    if (version_1_3) {
        vk_chain(&all, &v13);
    }
    if (has(ext, VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME)) {
        vk_chain(&all, &atomics);
    }
#if defined(VK_EXT_device_fault)
    VkPhysicalDeviceFaultFeaturesEXT fault = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT};
    if (has(ext, VK_EXT_DEVICE_FAULT_EXTENSION_NAME)) {
        vk_chain(&all, &fault);
    }
#endif
    be->api.GetPhysicalDeviceFeatures2(p->handle, &all);
    vk_limits *limits = &p->limits;
    limits->float64 = all.features.shaderFloat64;
    limits->int64 = all.features.shaderInt64;
    limits->bytes = v12.storageBuffer8BitAccess && v12.shaderInt8;
    limits->atomic_i64 = limits->int64 && v12.shaderBufferInt64Atomics;
    limits->atomic_f32 = atomics.shaderBufferFloat32AtomicAdd;
    limits->atomic_f64 = limits->float64 && atomics.shaderBufferFloat64AtomicAdd;
    vk_have *have = &p->have;
    have->address = v12.bufferDeviceAddress;
    have->timeline = v12.timelineSemaphore;
    have->scalar_layout = v12.scalarBlockLayout;
    have->maintenance4 = v13.maintenance4;
    have->robust = all.features.robustBufferAccess;
    have->budget = has(ext, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    have->portability = has(ext, "VK_KHR_portability_subset");
#if defined(VK_EXT_device_fault)
    have->fault = fault.deviceFault;
#endif
}

static void ask_queues(vk_backend *be, vk_physical *p)
{
    VkQueueFamilyProperties family[FAMILIES_MOST];
    uint32_t n = FAMILIES_MOST;
    be->api.GetPhysicalDeviceQueueFamilyProperties(p->handle, &n, family);
    p->family = UINT32_MAX;
    // A family that computes also copies, whether it says so or not.
    for (uint32_t i = 0; i < n; i++) {
        if ((family[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0 &&
            family[i].queueCount > 0) {
            p->family = i;
            p->timestamp_bits = family[i].timestampValidBits;
            return;
        }
    }
}

static void take_limits(vk_physical *p)
{
    const VkPhysicalDeviceLimits *from = &p->properties.limits;
    vk_limits *to = &p->limits;
    const uint64_t heap = vk_memory_total(&p->memory);
    to->binding = from->maxStorageBufferRange;
    to->allocation = to->allocation < heap ? to->allocation : heap;
    to->buffer = to->buffer < to->allocation ? to->buffer : to->allocation;
    to->allocations = from->maxMemoryAllocationCount;
    to->push = from->maxPushConstantsSize;
    memcpy(to->groups, from->maxComputeWorkGroupCount, sizeof to->groups);
    memcpy(to->group_size, from->maxComputeWorkGroupSize, sizeof to->group_size);
    to->invocations = from->maxComputeWorkGroupInvocations;
    to->offset_align = (uint32_t)from->minStorageBufferOffsetAlignment;
    to->atom = (uint32_t)from->nonCoherentAtomSize;
}

void vk_physical_judge(vk_physical *p)
{
    const uint32_t version = p->properties.apiVersion;
    p->unfit[0] = '\0';
    if (version < VK_API_VERSION_1_2) {
        snprintf(p->unfit, sizeof p->unfit,
                 "its driver has Vulkan %u.%u and 1.2 is needed; update the driver",
                 VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
    } else if (p->family == UINT32_MAX) {
        snprintf(p->unfit, sizeof p->unfit,
                 "it has no queue for compute shaders; choose another device");
    } else if (!p->have.address || !p->have.timeline) {
        snprintf(p->unfit, sizeof p->unfit,
                 "its driver lacks the feature %s; update the driver, or choose another "
                 "device",
                 p->have.address ? "timelineSemaphore" : "bufferDeviceAddress");
    } else if (p->limits.allocation == 0) {
        snprintf(p->unfit, sizeof p->unfit,
                 "its driver has no memory of the device's own; update the driver");
    }
}

static rubus_status ask(vk_backend *be, VkPhysicalDevice handle, vk_physical *p)
{
    memset(p, 0, sizeof *p);
    p->handle = handle;
    be->api.GetPhysicalDeviceProperties(handle, &p->properties);
    be->api.GetPhysicalDeviceMemoryProperties(handle, &p->memory);
    memcpy(p->cache_uuid, p->properties.pipelineCacheUUID, sizeof p->cache_uuid);
    ask_queues(be, p);
    if (p->properties.apiVersion >= VK_API_VERSION_1_2) {
        const bool version_1_3 = be->version >= VK_API_VERSION_1_3 &&
                                 p->properties.apiVersion >= VK_API_VERSION_1_3;
        extensions ext;
        rubus_status st = extensions_get(be, handle, &ext);
        if (st != RUBUS_OK) {
            return st;
        }
        ask_properties(be, p, version_1_3,
                       has(&ext, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME));
        ask_features(be, p, version_1_3, &ext);
        p->version = version_1_3 ? VK_API_VERSION_1_3 : VK_API_VERSION_1_2;
        be->host->free(be->host->ctx, ext.at);
    }
    take_limits(p);
    p->unified = vk_memory_unified(&p->memory);
    vk_physical_judge(p);
    return RUBUS_OK;
}

/* --- the list ----------------------------------------------------------------------- */

static int rank(const vk_physical *p)
{
    if (p->unfit[0] != '\0') {
        return -1;
    }
    switch (p->properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 4;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 3;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return 0;
    default:
        return 1;
    }
}

/* Of two drivers for one GPU the better known stays. */
static int driver_rank(const vk_physical *p)
{
    if (p->unfit[0] != '\0') {
        return -1;
    }
    switch (p->vulkan12.driverID) {
    case VK_DRIVER_ID_MESA_RADV:
    case VK_DRIVER_ID_NVIDIA_PROPRIETARY:
        return 3;
    case VK_DRIVER_ID_AMD_OPEN_SOURCE:
        return 2;
    case VK_DRIVER_ID_AMD_PROPRIETARY:
        return 1;
    default:
        return 0;
    }
}

bool vk_physical_same(const vk_physical *a, const vk_physical *b)
{
    static const uint8_t none[16];
    // One driver of macOS gives all devices the same number.
    return memcmp(a->uuid, b->uuid, sizeof a->uuid) == 0 &&
           memcmp(a->uuid, none, sizeof none) != 0 &&
           a->properties.vendorID == b->properties.vendorID &&
           a->properties.deviceID == b->properties.deviceID &&
           a->vulkan12.driverID != VK_DRIVER_ID_MOLTENVK &&
           b->vulkan12.driverID != VK_DRIVER_ID_MOLTENVK;
}

static void add(vk_backend *be, const vk_physical *fresh)
{
    vk_physical *device = be->device;
    for (uint32_t i = 0; i < be->ndevice; i++) {
        if (vk_physical_same(&device[i], fresh)) {
            if (driver_rank(fresh) > driver_rank(&device[i])) {
                device[i] = *fresh;
            }
            return;
        }
    }
    device[be->ndevice++] = *fresh;
}

/* By insertion: equals keep the loader's order. */
static void sort(vk_backend *be, vk_physical *spare)
{
    for (uint32_t i = 1; i < be->ndevice; i++) {
        uint32_t at = i;
        *spare = be->device[i];
        while (at > 0 && rank(&be->device[at - 1]) < rank(spare)) {
            be->device[at] = be->device[at - 1];
            at--;
        }
        be->device[at] = *spare;
    }
}

rubus_status vk_physical_list(vk_backend *be)
{
    const rubus_host *host = be->host;
    VkPhysicalDevice handle[DEVICES_MOST];
    uint32_t n = DEVICES_MOST;
    be->ndevice = 0;
    VkResult result = be->api.EnumeratePhysicalDevices(be->instance, &n, handle);
    if (result == VK_ERROR_INITIALIZATION_FAILED) {
        return RUBUS_OK; // no driver found a device: told by the caller
    }
    if (result < 0) {
        return vk_fail_result(host, result, "listing the Vulkan devices", NULL);
    }
    // One more: room for the device that is being asked, and for sorting.
    be->device = vk_new(host, ((uint64_t)n + 1) * sizeof *be->device);
    if (be->device == NULL) {
        return RUBUS_ENOMEM;
    }
    vk_physical *spare = &be->device[n];
    for (uint32_t i = 0; i < n; i++) {
        rubus_status st = ask(be, handle[i], spare);
        if (st != RUBUS_OK) {
            return st;
        }
        add(be, spare);
    }
    sort(be, spare);
    for (uint32_t i = 0; i < be->ndevice; i++) {
        const vk_physical *p = &be->device[i];
        if (p->unfit[0] != '\0') {
            char text[600];
            snprintf(text, sizeof text, "vulkan: '%s' cannot be used: %s",
                     p->properties.deviceName, p->unfit);
            host->log(host->ctx, 3, text);
        }
    }
    return RUBUS_OK;
}

/* --- slots ------------------------------------------------------------------------ */

rubus_status vk_device_count(void *pointer, uint32_t *out_n)
{
    vk_backend *be = pointer;
    rubus_status st = vk_backend_start(be);
    if (st == RUBUS_OK) {
        *out_n = be->ndevice;
    }
    return st;
}

static uint32_t kind_of(const vk_physical *p)
{
    if (p->unfit[0] != '\0') {
        return 0; // nothing that chooses by itself takes it
    }
    switch (p->properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return RUBUS_KIND_DISCRETE;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return RUBUS_KIND_INTEGRATED;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return RUBUS_KIND_VIRTUAL;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return RUBUS_KIND_SOFTWARE;
    default:
        return 0;
    }
}

rubus_status vk_device_caps(void *pointer, uint32_t device, rubus_caps *out_caps)
{
    vk_backend *be = pointer;
    rubus_status st = vk_backend_start(be);
    if (st == RUBUS_OK) {
        st = vk_device_check(be, device);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    const vk_physical *p = &be->device[device];
    vk_limits limits;
    char why[300];
    if (!vk_limits_lower(be, p, &limits, why, sizeof why)) {
        limits = p->limits; // told when it is opened: another device may be meant
    }
    rubus_caps caps = {.kind = kind_of(p),
                       .dialect = "glsl",
                       .fp64 = limits.float64 ? 2 : 0,
                       .int64 = limits.int64 ? 2 : 0,
                       .bool8 = limits.bytes ? 2 : 0,
                       .atomic_f32_add = limits.atomic_f32 ? 2 : 1,
                       .atomic_f64_add = limits.atomic_f64   ? 2
                                         : limits.atomic_i64 ? 1
                                                             : 0,
                       .lane_width = vk_lane_width(p, &limits),
                       .memory = p->unified ? RUBUS_AT_SHARED : RUBUS_AT_DEVICE,
                       .offset_align = 1,
                       .mem_total = vk_memory_total(&p->memory),
                       .max_alloc = limits.allocation,
                       .max_buffer = limits.buffer};
    snprintf(caps.name, sizeof caps.name, "%.255s", p->properties.deviceName);
    snprintf(caps.driver, sizeof caps.driver, "%s", p->driver);
    memcpy(caps.uuid, p->uuid, sizeof caps.uuid);
    // The library may know fewer fields than this plugin.
    size_t size =
        out_caps->struct_size < sizeof caps ? out_caps->struct_size : sizeof caps;
    caps.struct_size = out_caps->struct_size;
    memcpy(out_caps, &caps, size);
    return RUBUS_OK;
}

rubus_status vk_device_check(const vk_backend *be, uint32_t device)
{
    if (device < be->ndevice) {
        return RUBUS_OK;
    }
    return be->host->fail(be->host->ctx, RUBUS_ENODEV,
                          "the backend vulkan has %u device%s, the first is number 0; %u "
                          "was asked; `rubus devices` lists them",
                          be->ndevice, be->ndevice == 1 ? "" : "s", device);
}
