/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers. To be filled in. */
#include "skeleton_backend.h"

#include <stddef.h>
#include <string.h>

rubus_status skeleton_buffer_create(void *context, uint64_t nbyte, void **out_buffer)
{
    const skeleton_context *ctx = context;
    (void)nbyte;
    (void)out_buffer;
    return skeleton_not_written(ctx->host, "buffer_create");
}

void skeleton_buffer_destroy(void *context, void *buffer)
{
    (void)context;
    (void)buffer;
}

rubus_status skeleton_locality(void *context, const void *buffer, uint32_t *out_where)
{
    const skeleton_context *ctx = context;
    (void)buffer;
    (void)out_where;
    return skeleton_not_written(ctx->host, "locality");
}

rubus_status skeleton_write(void *context, void *buffer, uint64_t first, const void *src,
                            uint64_t n)
{
    const skeleton_context *ctx = context;
    (void)buffer;
    (void)first;
    (void)src;
    (void)n;
    return skeleton_not_written(ctx->host, "write");
}

rubus_status skeleton_read(void *context, const void *buffer, uint64_t first, void *dst,
                           uint64_t n)
{
    const skeleton_context *ctx = context;
    (void)buffer;
    (void)first;
    (void)dst;
    (void)n;
    return skeleton_not_written(ctx->host, "read");
}
