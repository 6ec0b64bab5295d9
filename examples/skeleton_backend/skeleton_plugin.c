/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor, the table of functions, opening and closing. Complete. */
#include "skeleton_backend.h"

#include <stddef.h>
#include <string.h>

rubus_status skeleton_not_written(const rubus_host *host, const char *slot)
{
    return host->fail(
        host->ctx, RUBUS_EUNSUPPORTED,
        "the slot %s of the backend skeleton is not written yet: fill it in "
        "as docs/backend-author.md of Rubus shows",
        slot);
}

static const rubus_ops own_ops = {
    .struct_size = sizeof(rubus_ops),
    .device_count = skeleton_device_count,
    .device_caps = skeleton_device_caps,
    .context_create = skeleton_context_create,
    .context_destroy = skeleton_context_destroy,
    .buffer_create = skeleton_buffer_create,
    .buffer_destroy = skeleton_buffer_destroy,
    .locality = skeleton_locality,
    .write = skeleton_write,
    .read = skeleton_read,
    .module_create = skeleton_module_create,
    .module_destroy = skeleton_module_destroy,
    .launch = skeleton_launch,
    .synchronize = skeleton_synchronize,
};

static rubus_status open_backend(const rubus_host *host, rubus_ops *room, void **out_be)
{
    skeleton_backend *be = host->alloc(host->ctx, sizeof *be, _Alignof(max_align_t));
    if (be == NULL) {
        return RUBUS_ENOMEM; /* alloc has written the text */
    }
    be->host = host;
    /* A library that is older than this plugin offers room for fewer slots. */
    const uint32_t offered = room->struct_size;
    memcpy(room, &own_ops, offered < sizeof own_ops ? offered : sizeof own_ops);
    room->struct_size = offered;
    *out_be = be;
    return RUBUS_OK;
}

static void close_backend(void *backend)
{
    skeleton_backend *be = backend;
    be->host->free(be->host->ctx, be);
}

RUBUS_PLUGIN_EXPORT const rubus_plugin_desc rubus_backend_plugin = {
    .magic = RUBUS_PLUGIN_MAGIC,
    .struct_size = sizeof(rubus_plugin_desc),
    .abi_major = RUBUS_ABI_MAJOR,
    .abi_minor = RUBUS_ABI_MINOR,
    .abi_minor_min = 0,
    .name = "skeleton",
    .version = "0.1",
    .vendor = "not named yet",
    .licence = "not chosen yet",
    .open = open_backend,
    .close = close_backend,
};
