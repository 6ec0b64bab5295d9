/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry of plugins: found once, opened when somebody needs them.
 *
 * A plugin is known by the name of its file. It is mapped and its descriptor read at the
 * first question about it; of several files of one name the first that is usable wins,
 * and the others are remembered as shadowed. One mutex guards everything here, libltdl
 * included.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Taken before any other lock of the library. It reports a second lock by the same
 * thread, so a plugin or a log function that calls back gets an error instead of waiting
 * for ever. */
static pthread_mutex_t registry_mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static rubus__found found;
static bool scanned;
static bool fork_locked;
static _Atomic uint32_t generation;

rubus_status rubus__registry_lock(void)
{
    if (pthread_mutex_lock(&registry_mutex) == EDEADLK) {
        return rubus__fail(
            RUBUS_ESTATE,
            "the library was called while this thread looks for plugins or "
            "starts one: a plugin's open and a log function must not do that");
    }
    if (!scanned) {
        const rubus_status st = rubus__scan(&found);
        if (st != RUBUS_OK) {
            pthread_mutex_unlock(&registry_mutex);
            return st;
        }
        scanned = true;
    }
    return RUBUS_OK;
}

bool rubus__registry_relock(void)
{
    return pthread_mutex_lock(&registry_mutex) == 0;
}

void rubus__registry_unlock(void)
{
    pthread_mutex_unlock(&registry_mutex);
}

size_t rubus__registry_count(void)
{
    return found.n;
}

rubus__plugin *rubus__registry_at(size_t at)
{
    return at < found.n ? found.plugin[at] : NULL;
}

const rubus__folders *rubus__registry_folders(void)
{
    return &found.folders;
}

rubus_status rubus__plugin_refuse(rubus__plugin *plugin, const char *stage,
                                  const char *fmt, ...)
{
    if (plugin->state != RUBUS__USABLE) {
        return RUBUS_OK;
    }
    char reason[RUBUS__REASON_ROOM];
    va_list args;
    va_start(args, fmt);
    rubus__vsnprintf(reason, sizeof reason, fmt, args);
    va_end(args);
    plugin->reason = rubus__strdup(reason);
    if (plugin->reason == NULL) {
        return RUBUS_ENOMEM;
    }
    plugin->stage = stage;
    plugin->state = RUBUS__REFUSED;
    plugin->desc = NULL;
    rubus__log(RUBUS__LOG_WARNING, "load", "%s: refused (%s): %s", plugin->path, stage,
               reason);
    return RUBUS_OK;
}

static rubus_status shadow(rubus__plugin *plugin, const rubus__plugin *by)
{
    plugin->reason = rubus__format("shadowed by %s", by->path);
    if (plugin->reason == NULL) {
        return RUBUS_ENOMEM;
    }
    plugin->state = RUBUS__SHADOWED;
    plugin->examined = true;
    rubus__log(RUBUS__LOG_INFO, "load", "%s: %s", plugin->path, plugin->reason);
    return RUBUS_OK;
}

/* Opens the file and reads its descriptor, unless that was done. */
static rubus_status examine(rubus__plugin *plugin)
{
    if (plugin->examined) {
        return RUBUS_OK;
    }
    char reason[RUBUS__REASON_ROOM];
    struct stat info;
    const int fd = rubus__plugin_file_open(plugin->path, &info, reason);
    const bool fits = fd >= 0 && rubus__elf_preflight(fd, (uint64_t)info.st_size, reason);
    if (fd >= 0) {
        close(fd);
    }
    rubus_status st = RUBUS_OK;
    if (!fits) {
        st = rubus__plugin_refuse(plugin, fd < 0 ? "file" : "elf", "%s", reason);
    } else {
        bool opened = false;
        const void *desc =
            rubus__module_symbol(plugin->path, "rubus_backend_plugin", &opened, reason);
        st = desc == NULL ? rubus__plugin_refuse(plugin, opened ? "descriptor" : "open",
                                                 "%s", reason)
                          : rubus__descriptor_check(plugin, desc, plugin->name);
    }
    if (st != RUBUS_OK) {
        return st; // out of memory: tried again next time
    }
    plugin->examined = true;
    if (plugin->state == RUBUS__USABLE) {
        rubus__log(RUBUS__LOG_INFO, "load", "%s: %s %s, ABI %u.%u", plugin->path,
                   plugin->name, plugin->desc->version, plugin->abi_major,
                   plugin->abi_minor);
    }
    return RUBUS_OK;
}

rubus_status rubus__registry_find(const char *name, rubus__plugin **out_plugin)
{
    *out_plugin = NULL;
    for (size_t i = 0; i < found.n; i++) {
        rubus__plugin *plugin = found.plugin[i];
        if (strcmp(plugin->name, name) != 0 || (plugin->examined && plugin->state != 0)) {
            continue;
        }
        rubus_status st = RUBUS_OK;
        if (*out_plugin != NULL) {
            st = shadow(plugin, *out_plugin);
        } else {
            st = examine(plugin);
            if (st == RUBUS_OK && plugin->state == RUBUS__USABLE) {
                *out_plugin = plugin;
            }
        }
        if (st != RUBUS_OK) {
            return st;
        }
    }
    return RUBUS_OK;
}

rubus_status rubus__registry_examine_all(void)
{
    for (size_t i = 0; i < found.n; i++) {
        rubus__plugin *winner = NULL;
        if (!found.plugin[i]->examined) {
            const rubus_status st = rubus__registry_find(found.plugin[i]->name, &winner);
            if (st != RUBUS_OK) {
                return st;
            }
        }
    }
    return RUBUS_OK;
}

uint32_t rubus__registry_generation(void)
{
    return atomic_load(&generation);
}

void rubus__registry_shutdown(void)
{
    if (pthread_mutex_lock(&registry_mutex) != 0) {
        return; // from inside a plugin's open: nothing can be closed now
    }
    bool left = false;
    for (size_t i = 0; scanned && i < found.n; i++) {
        left = !rubus__backends_close(found.plugin[i]) || left;
    }
    if (scanned && !left) {
        rubus__found_fini(&found);
        scanned = false;
    }
    pthread_mutex_unlock(&registry_mutex);
}

void rubus__registry_fork_prepare(void)
{
    // a plugin that forks inside its open holds the mutex already
    fork_locked = pthread_mutex_lock(&registry_mutex) == 0;
}

void rubus__registry_fork_parent(void)
{
    if (fork_locked) {
        pthread_mutex_unlock(&registry_mutex);
    }
}

void rubus__registry_fork_child(void)
{
    // threads and devices of the parent's backends do not exist here
    atomic_fetch_add(&generation, 1u);
    if (fork_locked) {
        // an error-checking mutex knows its owner by a thread number, which fork changes
        registry_mutex = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    }
}
