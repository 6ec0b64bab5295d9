/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A context: a logical device with one queue, and the parts of the backend that hang from
 * it. Every feature that the backend can use is turned on where the device has it and no
 * option takes it away, and nothing else: shaders that declare what is off are rejected.
 */
#include "config.h"

#include "plugins/vulkan/vk_sparse.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { EXTENSIONS_MOST = 8 };

/* The chain of features; lives until the device is made. */
typedef struct wanted {
    VkPhysicalDeviceFeatures2 base;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceVulkan13Features v13;
    VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomics;
#if defined(VK_EXT_device_fault)
    VkPhysicalDeviceFaultFeaturesEXT fault;
#endif
    const char *extension[EXTENSIONS_MOST];
    uint32_t nextension;
} wanted;

static void add_extension(wanted *want, const char *name)
{
    want->extension[want->nextension++] = name;
}

static void want_extensions(const vk_context *ctx, wanted *want)
{
    const vk_have *have = &ctx->physical->have;
    if (have->portability) {
        add_extension(want, "VK_KHR_portability_subset");
    }
    if (have->budget) {
        add_extension(want, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    }
    if (ctx->limits.atomic_f32 || ctx->limits.atomic_f64) {
        add_extension(want, VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
        want->atomics = (VkPhysicalDeviceShaderAtomicFloatFeaturesEXT){
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT,
            .shaderBufferFloat32AtomicAdd = ctx->limits.atomic_f32,
            .shaderBufferFloat64AtomicAdd = ctx->limits.atomic_f64};
        vk_chain(&want->base, &want->atomics);
    }
#if defined(VK_EXT_device_fault)
    if (have->fault) {
        add_extension(want, VK_EXT_DEVICE_FAULT_EXTENSION_NAME);
        want->fault = (VkPhysicalDeviceFaultFeaturesEXT){
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT,
            .deviceFault = VK_TRUE};
        vk_chain(&want->base, &want->fault);
    }
#endif
}

static void want_features(const vk_context *ctx, wanted *want)
{
    const vk_have *have = &ctx->physical->have;
    const vk_limits *limits = &ctx->limits;
    want->base = (VkPhysicalDeviceFeatures2){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .features = {.shaderFloat64 = limits->float64,
                     .shaderInt64 = limits->int64,
                     .robustBufferAccess = ctx->be->validate && have->robust}};
    want->v12 = (VkPhysicalDeviceVulkan12Features){
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .bufferDeviceAddress = VK_TRUE,
        .timelineSemaphore = VK_TRUE,
        .storageBuffer8BitAccess = limits->bytes,
        .shaderInt8 = limits->bytes,
        .shaderBufferInt64Atomics = limits->atomic_i64,
        .scalarBlockLayout = have->scalar_layout};
    vk_chain(&want->base, &want->v12);
    if (ctx->physical->version >= VK_API_VERSION_1_3) {
        want->v13 = (VkPhysicalDeviceVulkan13Features){
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
            .maintenance4 = have->maintenance4};
        vk_chain(&want->base, &want->v13);
    }
    want_extensions(ctx, want);
}

static rubus_status open_device(vk_context *ctx)
{
    vk_backend *be = ctx->be;
    wanted want;
    memset(&want, 0, sizeof want);
    want_features(ctx, &want);
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType =
                                               VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = ctx->physical->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &want.base,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = want.nextension,
                                     .ppEnabledExtensionNames = want.extension};
    char what[320];
    snprintf(what, sizeof what, "opening the device '%s'",
             ctx->physical->properties.deviceName);
    VkResult result =
        be->api.CreateDevice(ctx->physical->handle, &info, NULL, &ctx->device);
    if (result != VK_SUCCESS) {
        ctx->device = VK_NULL_HANDLE;
        return vk_fail_result(ctx->host, result, what, NULL);
    }
    char why[200];
    if (!vk_api_device(&be->api, ctx->device, &ctx->api, why, sizeof why)) {
        return ctx->host->fail(ctx->host->ctx, RUBUS_ENODEV, "%s: %s; update the driver",
                               what, why);
    }
    // The loader may hand out functions of extensions that are not on.
    if (!ctx->physical->have.fault) {
        ctx->api.GetDeviceFaultInfoEXT = NULL;
    }
    if (be->messenger == VK_NULL_HANDLE) {
        ctx->api.SetDebugUtilsObjectNameEXT = NULL;
        ctx->api.CmdInsertDebugUtilsLabelEXT = NULL;
    }
    ctx->api.GetDeviceQueue(ctx->device, ctx->physical->family, 0, &ctx->queue);
    return RUBUS_OK;
}

static rubus_status choose(vk_context *ctx, uint32_t device)
{
    const vk_backend *be = ctx->be;
    const rubus_host *host = ctx->host;
    rubus_status st = vk_device_check(be, device);
    if (st != RUBUS_OK) {
        return st;
    }
    ctx->physical = &be->device[device];
    if (ctx->physical->unfit[0] != '\0') {
        return host->fail(host->ctx, RUBUS_EUNSUPPORTED, "the device '%s': %s",
                          ctx->physical->properties.deviceName, ctx->physical->unfit);
    }
    char why[300];
    if (!vk_limits_lower(be, ctx->physical, &ctx->limits, why, sizeof why)) {
        return host->fail(host->ctx, RUBUS_EINVAL, "%s", why);
    }
    return RUBUS_OK;
}

rubus_status vk_context_create(void *pointer, uint32_t device, void **out_ctx)
{
    vk_backend *be = pointer;
    const rubus_host *host = be->host;
    rubus_status st = vk_backend_start(be);
    if (st != RUBUS_OK) {
        return st;
    }
    vk_context *ctx = vk_new(host, sizeof *ctx);
    if (ctx == NULL) {
        return RUBUS_ENOMEM;
    }
    ctx->be = be;
    ctx->host = host;
    atomic_init(&ctx->lost, false);
    st = choose(ctx, device);
    if (st == RUBUS_OK) {
        st = open_device(ctx);
    }
    if (st == RUBUS_OK) {
        st = vk_memory_init(ctx);
    }
    if (st == RUBUS_OK) {
        st = vk_queue_init(ctx);
    }
    if (st == RUBUS_OK) {
        st = vk_pipelines_init(ctx);
    }
    if (st != RUBUS_OK) {
        vk_context_destroy(ctx);
        return st;
    }
    *out_ctx = ctx;
    return RUBUS_OK;
}

/* Legal half built, on a lost device, and in a child process, where only host memory is
 * freed: the driver must not be called there, and what it holds ends with the process. */
void vk_context_destroy(void *pointer)
{
    vk_context *ctx = pointer;
    if (ctx == NULL) {
        return;
    }
    const rubus_host *host = ctx->host;
    if (ctx->stream != NULL) {
        vk_queue_fini(ctx);
    }
    vk_sparse_fini(ctx);
    if (ctx->pipelines != NULL) {
        vk_pipelines_fini(ctx);
    }
    vk_memory_fini(ctx);
    if (ctx->device != VK_NULL_HANDLE && ctx->api.DestroyDevice != NULL &&
        !vk_backend_forked(ctx->be)) {
        ctx->api.DestroyDevice(ctx->device, NULL);
    }
    host->free(host->ctx, ctx);
}

rubus_status vk_usable(vk_context *ctx)
{
    const rubus_host *host = ctx->host;
    if (vk_process_ends()) {
        return vk_fail_end(host);
    }
    if (vk_backend_forked(ctx->be)) {
        return host->fail(host->ctx, RUBUS_EFORKED,
                          "this context was opened before fork, and drivers do not "
                          "survive that: fork first and open Vulkan in the child "
                          "process, or let the child exec a program that opens it");
    }
    // pairs with the store in vk_error.c
    if (atomic_load_explicit(&ctx->lost, memory_order_acquire)) {
        return host->fail(host->ctx, RUBUS_ELOST,
                          "the device '%s' is lost (%s): destroy the context and open a "
                          "new one; what its arrays held is gone",
                          ctx->physical->properties.deviceName, ctx->lost_text);
    }
    return RUBUS_OK;
}
