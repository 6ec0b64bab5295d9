/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend for GPUs through Vulkan: its descriptor, its table and its options. Opening
 * it only reads options: Vulkan itself is opened when devices are asked for. The work is
 * in the files beside this one; vulkan.h says which does what.
 */
#include "config.h"

#include "plugins/vulkan/vk_sparse.h"

#include <stddef.h>
#include <string.h>

#if !defined(PACKAGE_VERSION)
#define PACKAGE_VERSION "0"
#endif

static const rubus_ops own_ops = {
    .struct_size = sizeof(rubus_ops),
    .device_count = vk_device_count,
    .device_caps = vk_device_caps,
    .context_create = vk_context_create,
    .context_destroy = vk_context_destroy,
    .buffer_create = vk_buffer_create,
    .buffer_destroy = vk_buffer_destroy,
    .locality = vk_locality,
    .write = vk_write,
    .read = vk_read,
    .module_create = vk_module_create,
    .module_destroy = vk_module_destroy,
    .launch = vk_launch,
    .synchronize = vk_synchronize,
    .fill = vk_fill,
    .copy = vk_copy,
    .map = vk_map,
    .unmap = vk_unmap,
    .csr_prepare = vk_csr_prepare,
    .csr_release = vk_csr_release,
    .spmv = vk_spmv,
    .spmm = vk_spmm,
};

/* Whether an option is on; anything but yes and no is an error. */
static rubus_status read_switch(const rubus_host *host, const char *key, bool *out)
{
    const char *value = host->option(host->ctx, key);
    if (value == NULL || strcmp(value, "off") == 0 || strcmp(value, "0") == 0) {
        *out = false;
        return RUBUS_OK;
    }
    if (strcmp(value, "on") == 0 || strcmp(value, "1") == 0) {
        *out = true;
        return RUBUS_OK;
    }
    return host->fail(host->ctx, RUBUS_EINVAL,
                      "%s='%.60s' of the backend vulkan: it must be on or off", key,
                      value);
}

static rubus_status read_options(vk_backend *be)
{
    rubus_status st = read_switch(be->host, "validate", &be->validate);
    if (st == RUBUS_OK) {
        st = read_switch(be->host, "descriptors", &be->descriptors);
    }
    return st == RUBUS_OK ? vk_wishes_read(be) : st;
}

static rubus_status open_backend(const rubus_host *host, rubus_ops *room, void **out_be)
{
    vk_backend *be = vk_new(host, sizeof *be);
    if (be == NULL) {
        return RUBUS_ENOMEM;
    }
    be->host = host;
    atomic_init(&be->messages, 0);
    rubus_status st = read_options(be);
    if (st != RUBUS_OK) {
        host->free(host->ctx, be);
        return st;
    }
    int err = pthread_mutex_init(&be->lock, NULL);
    if (err == 0) {
        err = pthread_mutex_init(&be->message_lock, NULL);
        if (err != 0) {
            pthread_mutex_destroy(&be->lock);
        }
    }
    if (err != 0) {
        host->free(host->ctx, be);
        return host->fail(host->ctx, RUBUS_ENOMEM, "opening the backend vulkan: %s",
                          strerror(err));
    }
    size_t size = room->struct_size < sizeof own_ops ? room->struct_size : sizeof own_ops;
    uint32_t offered = room->struct_size;
    memcpy(room, &own_ops, size);
    room->struct_size = offered;
    *out_be = be;
    return RUBUS_OK;
}

static void close_backend(void *pointer)
{
    vk_backend *be = pointer;
    if (be == NULL) {
        return;
    }
    const rubus_host *host = be->host;
    vk_backend_stop(be);
    pthread_mutex_destroy(&be->message_lock);
    pthread_mutex_destroy(&be->lock);
    host->free(host->ctx, be);
}

RUBUS_PLUGIN_EXPORT const rubus_plugin_desc rubus_backend_plugin = {
    .magic = RUBUS_PLUGIN_MAGIC,
    .struct_size = sizeof(rubus_plugin_desc),
    .abi_major = RUBUS_ABI_MAJOR,
    .abi_minor = RUBUS_ABI_MINOR,
    .abi_minor_min = 0,
    .name = "vulkan",
    .version = PACKAGE_VERSION,
    .vendor = "Rubus",
    .licence = "Apache-2.0",
    .open = open_backend,
    .close = close_backend,
};
