/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and launches. To be filled in. */
#include "skeleton_backend.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

rubus_status skeleton_module_create(void *context, const rubus_module_desc *desc,
                                    void **out_module)
{
    const skeleton_context *ctx = context;
    (void)desc;
    (void)out_module;
    return skeleton_not_written(ctx->host, "module_create");
}

void skeleton_module_destroy(void *context, void *module)
{
    (void)context;
    (void)module;
}

rubus_status skeleton_launch(void *context, void *module, const rubus_launch_info *info)
{
    const skeleton_context *ctx = context;
    (void)module;
    (void)info;
    return skeleton_not_written(ctx->host, "launch");
}
