/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a result of Vulkan to a status and a text: what was done, what came back, what to
 * do. A lost device is lost for good: the context remembers it, with what the driver
 * tells about the fault.
 */
#include "config.h"

#include "plugins/vulkan/vulkan.h"

#include <stdio.h>
#include <string.h>

#define RESULTS(X)                                                                       \
    X(VK_SUCCESS)                                                                        \
    X(VK_NOT_READY)                                                                      \
    X(VK_TIMEOUT)                                                                        \
    X(VK_EVENT_SET)                                                                      \
    X(VK_EVENT_RESET)                                                                    \
    X(VK_INCOMPLETE)                                                                     \
    X(VK_ERROR_OUT_OF_HOST_MEMORY)                                                       \
    X(VK_ERROR_OUT_OF_DEVICE_MEMORY)                                                     \
    X(VK_ERROR_INITIALIZATION_FAILED)                                                    \
    X(VK_ERROR_DEVICE_LOST)                                                              \
    X(VK_ERROR_MEMORY_MAP_FAILED)                                                        \
    X(VK_ERROR_LAYER_NOT_PRESENT)                                                        \
    X(VK_ERROR_EXTENSION_NOT_PRESENT)                                                    \
    X(VK_ERROR_FEATURE_NOT_PRESENT)                                                      \
    X(VK_ERROR_INCOMPATIBLE_DRIVER)                                                      \
    X(VK_ERROR_TOO_MANY_OBJECTS)                                                         \
    X(VK_ERROR_FORMAT_NOT_SUPPORTED)                                                     \
    X(VK_ERROR_FRAGMENTED_POOL)                                                          \
    X(VK_ERROR_UNKNOWN)                                                                  \
    X(VK_ERROR_OUT_OF_POOL_MEMORY)                                                       \
    X(VK_ERROR_INVALID_EXTERNAL_HANDLE)                                                  \
    X(VK_ERROR_FRAGMENTATION)                                                            \
    X(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)                                           \
    X(VK_PIPELINE_COMPILE_REQUIRED)                                                      \
    X(VK_ERROR_VALIDATION_FAILED_EXT)                                                    \
    X(VK_ERROR_INVALID_SHADER_NV)

const char *vk_result_name(VkResult result)
{
    switch (result) {
#define NAME(value)                                                                      \
    case value:                                                                          \
        return #value;
        RESULTS(NAME)
#undef NAME
    default:
        return "a result of no known name";
    }
}

typedef struct meaning {
    VkResult result;
    rubus_status status;
    const char *hint;
} meaning;

static const meaning meanings[] = {
    {VK_NOT_READY, RUBUS_ETIMEOUT, "the device did not answer in time"},
    {VK_TIMEOUT, RUBUS_ETIMEOUT, "the device did not answer in time"},
    {VK_ERROR_OUT_OF_HOST_MEMORY, RUBUS_ENOMEM,
     "the driver found no host memory; free some, or use smaller arrays"},
    {VK_ERROR_OUT_OF_DEVICE_MEMORY, RUBUS_EDEVMEM,
     "use smaller arrays or f32, or free arrays first"},
    {VK_ERROR_OUT_OF_POOL_MEMORY, RUBUS_EDEVMEM,
     "use smaller arrays or f32, or free arrays first"},
    {VK_ERROR_FRAGMENTATION, RUBUS_EDEVMEM,
     "use smaller arrays or f32, or free arrays first"},
    {VK_ERROR_FRAGMENTED_POOL, RUBUS_EDEVMEM,
     "use smaller arrays or f32, or free arrays first"},
    {VK_ERROR_DEVICE_LOST, RUBUS_ELOST,
     "destroy the context and open a new one; what its arrays held is gone"},
    {VK_ERROR_MEMORY_MAP_FAILED, RUBUS_ENOMEM,
     "the process has no address space left for it"},
    {VK_ERROR_LAYER_NOT_PRESENT, RUBUS_ENODEV,
     "a layer that is asked for is not installed; see VK_INSTANCE_LAYERS"},
    {VK_ERROR_EXTENSION_NOT_PRESENT, RUBUS_EUNSUPPORTED, "update the driver"},
    {VK_ERROR_FEATURE_NOT_PRESENT, RUBUS_EUNSUPPORTED, "update the driver"},
    {VK_ERROR_INCOMPATIBLE_DRIVER, RUBUS_ENODEV,
     "install the Vulkan driver of the GPU, or mesa-vulkan-drivers"},
    {VK_ERROR_INITIALIZATION_FAILED, RUBUS_ENODEV,
     "the driver does not start; check it with vulkaninfo"},
    {VK_ERROR_TOO_MANY_OBJECTS, RUBUS_ELIMIT, "free arrays or modules first"},
};

static const meaning *meaning_of(VkResult result)
{
    static const meaning other = {
        VK_ERROR_UNKNOWN, RUBUS_EINTERNAL,
        "a fault of the driver or of this backend; "
        "RUBUS_VALIDATE=1 with the validation layer tells more"};
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (meanings[i].result == result) {
            return &meanings[i];
        }
    }
    return &other;
}

rubus_status vk_fail_result(const rubus_host *host, VkResult result, const char *what,
                            const char *hint)
{
    const meaning *m = meaning_of(result);
    return host->fail(host->ctx, m->status, "%s: %s (%d): %s", what,
                      vk_result_name(result), (int)result, hint != NULL ? hint : m->hint);
}

/* What the driver knows of the fault; empty if it cannot tell. */
static void describe_fault(vk_context *ctx, char *text, size_t room)
{
    text[0] = '\0';
#if defined(VK_EXT_device_fault)
    if (ctx->api.GetDeviceFaultInfoEXT == NULL || !ctx->physical->have.fault) {
        return;
    }
    // No room for addresses: the description comes all the same, with VK_INCOMPLETE.
    VkDeviceFaultCountsEXT counts = {.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT};
    VkDeviceFaultInfoEXT info = {.sType = VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT};
    VkResult result = ctx->api.GetDeviceFaultInfoEXT(ctx->device, &counts, &info);
    if (result >= 0 && info.description[0] != '\0') {
        snprintf(text, room, "; the driver says: %.*s",
                 (int)strnlen(info.description, sizeof info.description),
                 info.description);
    }
#else
    (void)ctx;
    (void)room;
#endif
}

static rubus_status lose(vk_context *ctx, const char *what)
{
    const rubus_host *host = ctx->host;
    if (!atomic_load_explicit(&ctx->lost, memory_order_acquire)) {
        char fault[300];
        describe_fault(ctx, fault, sizeof fault);
        snprintf(ctx->lost_text, sizeof ctx->lost_text, "%.180s%s", what, fault);
        // pairs with the load in vk_usable and above: the text is there
        atomic_store_explicit(&ctx->lost, true, memory_order_release);
        host->log(host->ctx, 1, ctx->lost_text);
    }
    return host->fail(host->ctx, RUBUS_ELOST, "%s: the device '%s' is lost (%s): %s",
                      what, ctx->physical->properties.deviceName, ctx->lost_text,
                      meaning_of(VK_ERROR_DEVICE_LOST)->hint);
}

rubus_status vk_check(vk_context *ctx, VkResult result, const char *what)
{
    if (result == VK_ERROR_DEVICE_LOST) {
        return lose(ctx, what);
    }
    if (result >= 0 && result != VK_TIMEOUT && result != VK_NOT_READY) {
        return RUBUS_OK;
    }
    return vk_fail_result(ctx->host, result, what, NULL);
}
