/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public view of plugins, devices, slots and variables, as `rubus devices` shows it.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

#include <string.h>

/* A refused file is known by its own name alone, whatever it would have been. */
static const char *name_shown(const rubus__plugin *plugin)
{
    const char *slash = strrchr(plugin->path, '/');
    return plugin->state == RUBUS__REFUSED && slash != NULL && slash[1] != '\0'
               ? slash + 1
               : plugin->name;
}

/* Locks the registry with all plugins examined. */
static rubus_status lock_examined(void)
{
    rubus_status st = rubus__registry_lock();
    if (st != RUBUS_OK) {
        return st;
    }
    st = rubus__registry_examine_all();
    if (st != RUBUS_OK) {
        rubus__registry_unlock();
    }
    return st;
}

static rubus_status no_plugin(const char *function, uint32_t at)
{
    return rubus__fail(RUBUS_EINVAL, "%s: there is no plugin %u, only %zu of them",
                       function, at, rubus__registry_count());
}

RUBUS_API rubus_status rubus_plugin_count(uint32_t *out_count)
{
    rubus_status st = rubus__need("rubus_plugin_count", "out_count", out_count, NULL);
    if (st != RUBUS_OK) {
        return st;
    }
    st = lock_examined();
    if (st != RUBUS_OK) {
        return st;
    }
    *out_count = (uint32_t)rubus__registry_count();
    rubus__registry_unlock();
    return RUBUS_OK;
}

RUBUS_API rubus_status rubus_plugin_info_get(uint32_t at, rubus_plugin_info *info)
{
    rubus_status st = rubus__need_struct("rubus_plugin_info_get", "info", info);
    if (st != RUBUS_OK) {
        return st;
    }
    st = lock_examined();
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus__plugin *plugin = rubus__registry_at(at);
    if (plugin == NULL) {
        st = no_plugin("rubus_plugin_info_get", at);
    } else {
        const size_t size = info->struct_size;
        const rubus_plugin_desc *desc = plugin->desc;
        const rubus_plugin_info whole = {
            .struct_size = size,
            .name = name_shown(plugin),
            .path = plugin->path,
            .version = desc == NULL ? "" : desc->version,
            .vendor = desc == NULL ? "" : desc->vendor,
            .licence = desc == NULL ? "" : desc->licence,
            .abi_major = plugin->abi_major,
            .abi_minor = plugin->abi_minor,
            .refused = plugin->state,
            .stage = plugin->stage,
            .reason = plugin->reason == NULL ? "" : plugin->reason,
        };
        memcpy(info, &whole, size < sizeof whole ? size : sizeof whole);
    }
    rubus__registry_unlock();
    return st;
}

/* The backend of plugin `at` with the options of the environment; release it. */
static rubus_status backend_of(const char *function, uint32_t at,
                               rubus__backend **out_backend)
{
    rubus_status st = lock_examined();
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__plugin *plugin = rubus__registry_at(at);
    if (plugin == NULL) {
        st = no_plugin(function, at);
    } else if (plugin->state != RUBUS__USABLE) {
        st = rubus__fail(RUBUS_EPLUGIN, "%s (%s) cannot be used: %s", plugin->path,
                         plugin->name, plugin->reason);
    } else {
        st = rubus__backend_use(plugin, NULL, out_backend);
    }
    rubus__registry_unlock();
    return st;
}

static rubus_status count_devices(rubus__backend *backend, uint32_t *out_count)
{
    uint32_t n = 0;
    rubus__error_expect();
    const rubus_status st = backend->ops.device_count(backend->be, &n);
    if (st == RUBUS_OK) {
        *out_count = n;
    }
    return rubus__backend_result(backend, "device_count", st);
}

RUBUS_API rubus_status rubus_plugin_device_count(uint32_t at, uint32_t *out_count)
{
    rubus_status st =
        rubus__need("rubus_plugin_device_count", "out_count", out_count, NULL);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__backend *backend = NULL;
    st = backend_of("rubus_plugin_device_count", at, &backend);
    if (st == RUBUS_OK) {
        st = count_devices(backend, out_count);
        rubus__backend_release(backend);
    }
    return st;
}

static void device_info_fill(const rubus_caps *caps, rubus_device_info *out)
{
    memset(out, 0, sizeof *out);
    memcpy(out->name, caps->name, sizeof out->name);
    memcpy(out->driver, caps->driver, sizeof out->driver);
    memcpy(out->dialect, caps->dialect, sizeof out->dialect);
    memcpy(out->uuid, caps->uuid, sizeof out->uuid);
    out->kind = caps->kind;
    out->fp64 = caps->fp64;
    out->int64 = caps->int64;
    out->atomic_f32_add = caps->atomic_f32_add;
    out->atomic_f64_add = caps->atomic_f64_add;
    out->lane_width = caps->lane_width;
    out->memory = caps->memory;
    out->mem_total = caps->mem_total;
    out->max_alloc = caps->max_alloc;
    out->max_buffer = caps->max_buffer;
}

RUBUS_API rubus_status rubus_plugin_device_info(uint32_t at, uint32_t device,
                                                rubus_device_info *info)
{
    rubus_status st = rubus__need_struct("rubus_plugin_device_info", "info", info);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__backend *backend = NULL;
    st = backend_of("rubus_plugin_device_info", at, &backend);
    if (st != RUBUS_OK) {
        return st;
    }
    uint32_t n = 0;
    rubus_caps caps;
    st = count_devices(backend, &n);
    if (st == RUBUS_OK && device >= n) {
        st = rubus__fail(
            RUBUS_EINVAL,
            "rubus_plugin_device_info: backend '%s' has no device %u, only %u",
            backend->plugin->name, device, n);
    }
    if (st == RUBUS_OK) {
        st = rubus__caps_get(backend, device, &caps);
    }
    rubus__backend_release(backend);
    if (st == RUBUS_OK) {
        rubus_device_info whole;
        const size_t size = info->struct_size;
        device_info_fill(&caps, &whole);
        whole.struct_size = size;
        memcpy(info, &whole, size < sizeof whole ? size : sizeof whole);
    }
    return st;
}

RUBUS_API rubus_status rubus_plugin_slot(uint32_t at, uint32_t slot,
                                         const char **out_name, int32_t *out_own)
{
    rubus_status st =
        rubus__need("rubus_plugin_slot", "out_name", out_name, "out_own", out_own, NULL);
    if (st != RUBUS_OK) {
        return st;
    }
    if (slot >= RUBUS__SLOT_COUNT) {
        return rubus__fail(RUBUS_EINVAL,
                           "rubus_plugin_slot: there is no slot %u, only %d", slot,
                           RUBUS__SLOT_COUNT);
    }
    rubus__backend *backend = NULL;
    st = backend_of("rubus_plugin_slot", at, &backend);
    if (st == RUBUS_OK) {
        *out_name = rubus__slots[slot].name;
        *out_own = rubus__slot_filled(&backend->ops, slot) ? 1 : 0;
        rubus__backend_release(backend);
    }
    return st;
}

#define ENV_STANDARD(symbol, variable, standard, meaning) standard,
static const char *const env_standards[RUBUS__ENV_COUNT] = {
    RUBUS__ENV_LIST(ENV_STANDARD)};

RUBUS_API rubus_status rubus_environment_get(uint32_t at, const char **out_name,
                                             const char **out_value)
{
    rubus_status st = rubus__need("rubus_environment_get", "out_name", out_name,
                                  "out_value", out_value, NULL);
    if (st != RUBUS_OK) {
        return st;
    }
    if (at >= RUBUS__ENV_COUNT) {
        return rubus__fail(RUBUS_EINVAL,
                           "rubus_environment_get: there is no variable %u, only %d", at,
                           (int)RUBUS__ENV_COUNT);
    }
    const char *value = rubus__env((rubus__env_id)at);
    *out_name = rubus__env_name((rubus__env_id)at);
    *out_value = value == NULL ? env_standards[at] : value;
    return RUBUS_OK;
}
