/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a backend: the plugin's `open`, called at the first need and once for each
 * list of options, under the registry's mutex. A backend that a parent process started is
 * never used after fork: a child starts its own, and leaves the old one as it is.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

#include <string.h>

static void backend_free(rubus__backend *backend)
{
    if (backend != NULL) {
        rubus__options_fini(&backend->options);
        rubus__free(backend);
    }
}

static rubus_status start(rubus__backend *backend)
{
    rubus__plugin *plugin = backend->plugin;
    rubus__host_fill(backend);
    backend->room.struct_size = sizeof backend->room;
    rubus__error_expect();
    const rubus_status st =
        plugin->desc->open(&backend->host, &backend->room, &backend->be);
    if (st != RUBUS_OK) {
        const rubus_status passed = rubus__backend_result(backend, "open", st);
        rubus__log(RUBUS__LOG_INFO, "load", "%s: did not start: %s", plugin->path,
                   rubus_error_text());
        return rubus__fail_prefix(passed, "backend '%s' did not start (%s)", plugin->name,
                                  plugin->path);
    }
    char reason[RUBUS__REASON_ROOM];
    if (!rubus__table_take(backend, reason)) {
        if (plugin->desc->close != NULL) {
            plugin->desc->close(backend->be);
        }
        const rubus_status refused = rubus__plugin_refuse(plugin, "slots", "%s", reason);
        return refused != RUBUS_OK
                   ? refused
                   : rubus__fail(RUBUS_EPLUGIN, "backend '%s' (%s) was refused: %s",
                                 plugin->name, plugin->path, reason);
    }
    return RUBUS_OK;
}

rubus_status rubus__backend_use(rubus__plugin *plugin, const rubus__options *options,
                                rubus__backend **out_backend)
{
    rubus__backend *fresh = rubus__alloc(sizeof *fresh);
    if (fresh == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus_status st = rubus__options_resolve(options, &fresh->options);
    if (st != RUBUS_OK) {
        rubus__free(fresh);
        return st;
    }
    const uint32_t generation = rubus__registry_generation();
    for (rubus__backend *at = plugin->backends; at != NULL; at = at->next) {
        if (at->generation == generation &&
            rubus__options_equal(&at->options, &fresh->options)) {
            backend_free(fresh);
            at->nuse++;
            *out_backend = at;
            return RUBUS_OK;
        }
    }
    fresh->plugin = plugin;
    fresh->generation = generation;
    fresh->version = plugin->desc->version;
    fresh->close = plugin->desc->close; // desc goes if the plugin is refused later
    st = start(fresh);
    if (st != RUBUS_OK) {
        backend_free(fresh);
        return st;
    }
    fresh->nuse = 1;
    fresh->next = plugin->backends;
    plugin->backends = fresh;
    *out_backend = fresh;
    return RUBUS_OK;
}

void rubus__backend_release(rubus__backend *backend)
{
    // where a log function does this while a backend starts, its thread has the mutex
    const bool locked = rubus__registry_relock();
    backend->nuse--;
    if (locked) {
        rubus__registry_unlock();
    }
}

bool rubus__backends_close(rubus__plugin *plugin)
{
    rubus__backend **at = &plugin->backends;
    while (*at != NULL) {
        rubus__backend *backend = *at;
        const bool foreign = backend->generation != rubus__registry_generation();
        if (backend->nuse > 0) {
            at = &backend->next;
            continue;
        }
        *at = backend->next;
        // what a parent started has no threads here that close could join
        if (!foreign && backend->close != NULL) {
            backend->close(backend->be);
        }
        backend_free(backend);
    }
    return plugin->backends == NULL;
}
