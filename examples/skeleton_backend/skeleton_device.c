/* SPDX-License-Identifier: Apache-2.0 */
/* The device and contexts on it. To be filled in. */
#include "skeleton_backend.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

rubus_status skeleton_check_device(const skeleton_backend *be, uint32_t device)
{
    return device == 0
               ? RUBUS_OK
               : be->host->fail(be->host->ctx, RUBUS_ENODEV,
                                "the backend skeleton has one device, number 0; %u was "
                                "asked",
                                (unsigned)device);
}

rubus_status skeleton_device_count(void *backend, uint32_t *out_n)
{
    const skeleton_backend *be = backend;
    (void)out_n;
    return skeleton_not_written(be->host, "device_count");
}

rubus_status skeleton_device_caps(void *backend, uint32_t device, rubus_caps *out_caps)
{
    const skeleton_backend *be = backend;
    (void)device;
    (void)out_caps;
    return skeleton_not_written(be->host, "device_caps");
}

rubus_status skeleton_context_create(void *backend, uint32_t device, void **out_ctx)
{
    const skeleton_backend *be = backend;
    (void)device;
    (void)out_ctx;
    return skeleton_not_written(be->host, "context_create");
}

void skeleton_context_destroy(void *context)
{
    (void)context;
}

rubus_status skeleton_synchronize(void *context)
{
    const skeleton_context *ctx = context;
    return skeleton_not_written(ctx->host, "synchronize");
}
