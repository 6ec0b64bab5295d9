/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend of Rubus for OpenCL devices: its descriptor, contexts, memory, and waiting.
 * Only the slots that must be there are filled; the library builds the others on them.
 */
#include "opencl_backend.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* --- contexts ---------------------------------------------------------------------- */

static void context_destroy(void *pointer)
{
    ocl_context *ctx = pointer;
    if (ctx == NULL) {
        return;
    }
    if (ctx->queue != NULL) {
        (void)clFinish(ctx->queue);
        (void)clReleaseCommandQueue(ctx->queue);
    }
    if (ctx->handle != NULL) {
        (void)clReleaseContext(ctx->handle);
    }
    ctx->host->free(ctx->host->ctx, ctx);
}

static rubus_status context_create(void *pointer, uint32_t number, void **out_ctx)
{
    const ocl_backend *be = pointer;
    const rubus_host *host = be->host;
    rubus_caps caps = {.struct_size = sizeof caps};
    rubus_status st = ocl_device_caps(pointer, number, &caps); // is there such a device?
    if (st != RUBUS_OK) {
        return st;
    }
    ocl_context *ctx = host->alloc(host->ctx, sizeof *ctx, _Alignof(max_align_t));
    if (ctx == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(ctx, 0, sizeof *ctx);
    ctx->host = host;
    ctx->device = &be->device[number];
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, (cl_context_properties)ctx->device->platform, 0};
    cl_int error = CL_SUCCESS;
    ctx->handle = clCreateContext(properties, 1, &ctx->device->id, NULL, NULL, &error);
    if (error == CL_SUCCESS) {
        ctx->queue = clCreateCommandQueue(ctx->handle, ctx->device->id, 0, &error);
    }
    if (error != CL_SUCCESS) {
        st = ocl_fail(host, NULL, error, false, "opening the device", caps.name);
        context_destroy(ctx);
        return st;
    }
    *out_ctx = ctx;
    return RUBUS_OK;
}

static rubus_status synchronize(void *pointer)
{
    ocl_context *ctx = pointer;
    rubus_status st = ocl_check_lost(ctx);
    if (st != RUBUS_OK) {
        return st;
    }
    const cl_int error = clFinish(ctx->queue);
    return error == CL_SUCCESS
               ? RUBUS_OK
               : ocl_fail(ctx->host, ctx, error, true, "waiting for", ctx->device->name);
}

/* --- memory ------------------------------------------------------------------------ */

static rubus_status buffer_create(void *pointer, uint64_t nbyte, void **out_buffer)
{
    ocl_context *ctx = pointer;
    rubus_status st = ocl_check_lost(ctx);
    if (st != RUBUS_OK) {
        return st;
    }
    char name[64];
    snprintf(name, sizeof name, "%llu bytes", (unsigned long long)nbyte);
    cl_int error = CL_INVALID_BUFFER_SIZE;
    cl_mem mem = NULL;
    if (nbyte <= ctx->device->max_alloc && nbyte <= SIZE_MAX) {
        mem = clCreateBuffer(ctx->handle, CL_MEM_READ_WRITE, (size_t)nbyte, NULL, &error);
    }
    if (error != CL_SUCCESS) {
        return ocl_fail(ctx->host, ctx, error, false, "allocating", name);
    }
    *out_buffer = mem;
    return RUBUS_OK;
}

/* OpenCL keeps the memory until enqueued commands are done with it. */
static void buffer_destroy(void *pointer, void *buffer)
{
    (void)pointer;
    if (buffer != NULL) {
        (void)clReleaseMemObject(buffer);
    }
}

static rubus_status locality(void *pointer, const void *buffer, uint32_t *out_where)
{
    (void)pointer;
    (void)buffer;
    *out_where = RUBUS_AT_DEVICE;
    return RUBUS_OK;
}

static rubus_status write_buffer(void *pointer, void *buffer, uint64_t first,
                                 const void *src, uint64_t n)
{
    ocl_context *ctx = pointer;
    rubus_status st = ocl_check_lost(ctx);
    if (st != RUBUS_OK || n == 0) {
        return st;
    }
    const cl_int error = clEnqueueWriteBuffer(ctx->queue, buffer, CL_TRUE, (size_t)first,
                                              (size_t)n, src, 0, NULL, NULL);
    return error == CL_SUCCESS
               ? RUBUS_OK
               : ocl_fail(ctx->host, ctx, error, true, "writing to", ctx->device->name);
}

static rubus_status read_buffer(void *pointer, const void *buffer, uint64_t first,
                                void *dst, uint64_t n)
{
    ocl_context *ctx = pointer;
    rubus_status st = ocl_check_lost(ctx);
    if (st != RUBUS_OK || n == 0) {
        return st;
    }
    cl_mem mem = (cl_mem)(uintptr_t)buffer; // reading changes nothing
    const cl_int error = clEnqueueReadBuffer(ctx->queue, mem, CL_TRUE, (size_t)first,
                                             (size_t)n, dst, 0, NULL, NULL);
    return error == CL_SUCCESS
               ? RUBUS_OK
               : ocl_fail(ctx->host, ctx, error, true, "reading from", ctx->device->name);
}

/* --- descriptor -------------------------------------------------------------------- */

static rubus_status open_backend(const rubus_host *host, rubus_ops *room, void **out_be)
{
    static const rubus_ops own = {
        .struct_size = sizeof own,
        .device_count = ocl_device_count,
        .device_caps = ocl_device_caps,
        .context_create = context_create,
        .context_destroy = context_destroy,
        .buffer_create = buffer_create,
        .buffer_destroy = buffer_destroy,
        .locality = locality,
        .write = write_buffer,
        .read = read_buffer,
        .module_create = ocl_module_create,
        .module_destroy = ocl_module_destroy,
        .launch = ocl_launch,
        .synchronize = synchronize,
    };
    ocl_backend *be = host->alloc(host->ctx, sizeof *be, _Alignof(max_align_t));
    if (be == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(be, 0, sizeof *be);
    be->host = host;
    pthread_mutex_init(&be->lock, NULL);
    const uint32_t offered = room->struct_size;
    memcpy(room, &own, offered < sizeof own ? offered : sizeof own);
    room->struct_size = offered;
    *out_be = be;
    return RUBUS_OK;
}

static void close_backend(void *pointer)
{
    ocl_backend *be = pointer;
    if (be != NULL) {
        pthread_mutex_destroy(&be->lock);
        be->host->free(be->host->ctx, be);
    }
}

RUBUS_PLUGIN_EXPORT const rubus_plugin_desc rubus_backend_plugin = {
    .magic = RUBUS_PLUGIN_MAGIC,
    .struct_size = sizeof(rubus_plugin_desc),
    .abi_major = RUBUS_ABI_MAJOR,
    .abi_minor = RUBUS_ABI_MINOR,
    .abi_minor_min = 0,
    .name = "opencl",
    .version = "0.1",
    .vendor = "Rubus examples",
    .licence = "Apache-2.0",
    .open = open_backend,
    .close = close_backend,
};
