/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers: a Vulkan buffer in a piece of memory, with its device address. Where the
 * device's memory is the host's too, `memory.host` points to the bytes; elsewhere map
 * makes a copy in host memory and unmap writes it back.
 */
#include "config.h"

#include "plugins/vulkan/vulkan.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define USAGE                                                                            \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |             \
     VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT)

static void name_buffer(vk_context *ctx, const vk_buffer *buffer)
{
    if (ctx->be->messenger == VK_NULL_HANDLE ||
        ctx->api.SetDebugUtilsObjectNameEXT == NULL) {
        return;
    }
    char name[64];
    snprintf(name, sizeof name, "buffer %u, %" PRIu64 " bytes", buffer->number,
             buffer->nbyte);
    const VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = VK_OBJECT_TYPE_BUFFER,
        .objectHandle = (uint64_t)(uintptr_t)buffer->handle,
        .pObjectName = name};
    ctx->api.SetDebugUtilsObjectNameEXT(ctx->device, &info); // a name is only advice
}

static rubus_status bind(vk_context *ctx, vk_buffer *buffer, vk_purpose purpose)
{
    const VkBufferMemoryRequirementsInfo2 about = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2,
        .buffer = buffer->handle};
    VkMemoryRequirements2 need = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
    ctx->api.GetBufferMemoryRequirements2(ctx->device, &about, &need);
    rubus_status st =
        vk_memory_take(ctx, &need.memoryRequirements, purpose, &buffer->memory);
    if (st != RUBUS_OK) {
        return st;
    }
    st = vk_check(ctx,
                  ctx->api.BindBufferMemory(ctx->device, buffer->handle,
                                            buffer->memory.handle, buffer->memory.first),
                  "binding a buffer to its memory");
    if (st != RUBUS_OK) {
        return st;
    }
    const VkBufferDeviceAddressInfo address = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = buffer->handle};
    buffer->address = ctx->api.GetBufferDeviceAddress(ctx->device, &address);
    return RUBUS_OK;
}

rubus_status vk_buffer_make(vk_context *ctx, uint64_t nbyte, vk_purpose purpose,
                            vk_buffer **out_buffer)
{
    const rubus_host *host = ctx->host;
    // A lowered limit is for the user's buffers, not for the backend's own.
    const uint64_t most =
        purpose == VK_FOR_DEVICE ? ctx->limits.buffer : ctx->physical->limits.buffer;
    if (nbyte > most) {
        return host->fail(
            host->ctx, RUBUS_ELIMIT,
            "creating a buffer: %" PRIu64 " bytes (%.2f GiB) asked, and '%s' allows "
            "%" PRIu64 " (%.2f GiB) in one array; use smaller arrays or f32",
            nbyte, (double)nbyte / (1 << 30), ctx->physical->properties.deviceName, most,
            (double)most / (1 << 30));
    }
    vk_buffer *buffer = vk_new(host, sizeof *buffer);
    if (buffer == NULL) {
        return RUBUS_ENOMEM;
    }
    buffer->nbyte = nbyte;
    buffer->room = (nbyte + 3) / 4 * 4;
    buffer->number = ++ctx->nbuffer;
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = buffer->room,
                                     .usage = USAGE,
                                     .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
    rubus_status st =
        vk_check(ctx, ctx->api.CreateBuffer(ctx->device, &info, NULL, &buffer->handle),
                 "creating a buffer");
    if (st != RUBUS_OK) {
        buffer->handle = VK_NULL_HANDLE;
    } else {
        st = bind(ctx, buffer, purpose);
    }
    if (st != RUBUS_OK) {
        vk_buffer_free(ctx, buffer);
        return st;
    }
    name_buffer(ctx, buffer);
    *out_buffer = buffer;
    return RUBUS_OK;
}

void vk_buffer_free(vk_context *ctx, vk_buffer *buffer)
{
    const rubus_host *host = ctx->host;
    if (buffer == NULL) {
        return;
    }
    if (!vk_backend_forked(ctx->be)) {
        if (buffer->handle != VK_NULL_HANDLE) {
            ctx->api.DestroyBuffer(ctx->device, buffer->handle, NULL);
        }
        vk_memory_give(ctx, &buffer->memory);
    }
    if (buffer->shadow != NULL) {
        host->free(host->ctx, buffer->shadow);
    }
    host->free(host->ctx, buffer);
}

/* --- slots ------------------------------------------------------------------------ */

rubus_status vk_buffer_create(void *context, uint64_t nbyte, void **out_buffer)
{
    vk_context *ctx = context;
    rubus_status st = vk_usable(ctx);
    if (st != RUBUS_OK) {
        return st;
    }
    vk_buffer *buffer = NULL;
    st = vk_buffer_make(ctx, nbyte, VK_FOR_DEVICE, &buffer);
    if (st == RUBUS_EDEVMEM || st == RUBUS_ELIMIT) {
        // Buffers destroyed with work pending still have their memory.
        const rubus_status finished =
            nbyte <= ctx->limits.buffer ? vk_queue_finish(ctx) : RUBUS_ELIMIT;
        if (finished == RUBUS_OK) {
            st = vk_buffer_make(ctx, nbyte, VK_FOR_DEVICE, &buffer);
        }
    }
    if (st == RUBUS_OK) {
        *out_buffer = buffer;
    }
    return st;
}

static void free_retired(vk_context *ctx, void *buffer)
{
    vk_buffer_free(ctx, buffer);
}

void vk_buffer_destroy(void *context, void *pointer)
{
    vk_context *ctx = context;
    vk_buffer *buffer = pointer;
    if (buffer == NULL) {
        return;
    }
    if (vk_backend_forked(ctx->be)) {
        vk_buffer_free(ctx, buffer);
        return;
    }
    vk_queue_retire(ctx, buffer->last, free_retired, buffer);
}

rubus_status vk_locality(void *context, const void *buffer, uint32_t *out_where)
{
    const vk_context *ctx = context;
    (void)buffer; // vk_memory.c keeps all ordinary buffers of a device in one kind
    *out_where = ctx->physical->unified ? RUBUS_AT_SHARED : RUBUS_AT_DEVICE;
    return RUBUS_OK;
}

/* Host memory with the buffer's bytes, where the host does not see the device's own. */
static rubus_status map_copy(vk_context *ctx, vk_buffer *buffer, uint32_t access)
{
    const rubus_host *host = ctx->host;
    buffer->shadow = host->alloc(host->ctx, buffer->room, 64);
    if (buffer->shadow == NULL) {
        return RUBUS_ENOMEM;
    }
    (void)access; // all is written back, so all must be there, also to write only
    rubus_status st = vk_read(ctx, buffer, 0, buffer->shadow, buffer->nbyte);
    if (st != RUBUS_OK) {
        host->free(host->ctx, buffer->shadow);
        buffer->shadow = NULL;
    }
    return st;
}

rubus_status vk_map(void *context, void *pointer, uint32_t access, void **out_host)
{
    vk_context *ctx = context;
    vk_buffer *buffer = pointer;
    rubus_status st = vk_usable(ctx);
    if (st != RUBUS_OK) {
        return st;
    }
    if (buffer->mapped != 0) {
        return ctx->host->fail(ctx->host->ctx, RUBUS_ESTATE,
                               "mapping buffer %u: it is mapped already; unmap it first",
                               buffer->number);
    }
    if (buffer->memory.host == NULL) {
        st = map_copy(ctx, buffer, access);
    } else {
        st = vk_queue_wait(ctx, buffer->last);
        if (st == RUBUS_OK) {
            st = vk_memory_invalidate(ctx, &buffer->memory, 0, buffer->room);
        }
    }
    if (st != RUBUS_OK) {
        return st;
    }
    buffer->mapped = access != 0 ? access : RUBUS_READ;
    *out_host = buffer->shadow != NULL ? buffer->shadow : buffer->memory.host;
    return RUBUS_OK;
}

rubus_status vk_unmap(void *context, void *pointer)
{
    vk_context *ctx = context;
    vk_buffer *buffer = pointer;
    const rubus_host *host = ctx->host;
    rubus_status st = vk_usable(ctx);
    if (st == RUBUS_OK && buffer->mapped == 0) {
        return host->fail(host->ctx, RUBUS_ESTATE, "buffer %u is not mapped",
                          buffer->number);
    }
    if (st == RUBUS_OK && (buffer->mapped & RUBUS_WRITE) != 0) {
        st = buffer->shadow != NULL
                 ? vk_write(ctx, buffer, 0, buffer->shadow, buffer->nbyte)
                 : vk_memory_flush(ctx, &buffer->memory, 0, buffer->room);
    }
    if (buffer->shadow != NULL) {
        host->free(host->ctx, buffer->shadow);
        buffer->shadow = NULL;
    }
    buffer->mapped = 0;
    return st;
}
