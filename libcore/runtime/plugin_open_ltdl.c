/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening one module: the only file that knows libltdl.
 *
 * libltdl alone binds lazily and answers "file not found" whatever is wrong. So dlopen
 * comes first, bound at once, with its true text; then lt_dlopen gets the same path, and
 * a loader of ours, put before the stock ones, hands it that handle. It answers for this
 * one path while this call runs and for nothing else: what the host program does with its
 * own libltdl goes to the stock loaders as before. Modules are never unloaded: a thread
 * or a destructor of a plugin may outlive any context.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

#include <dlfcn.h>
#include <ltdl.h>
#include <stdlib.h>
#include <string.h>

/* What the loader answers for, between dlopen and the end of lt_dlopen; under the mutex
 * of the registry. */
static const char *expected_path;
static void *expected_module;

static lt_module expected_open(lt_user_data data, const char *filename,
                               lt_dladvise advise)
{
    (void)data;
    (void)advise;
    if (expected_path == NULL || filename == NULL ||
        strcmp(filename, expected_path) != 0) {
        return NULL;
    }
    return expected_module;
}

static int expected_close(lt_user_data data, lt_module module)
{
    (void)data;
    (void)module;
    return 0; // stays mapped
}

static void *expected_find(lt_user_data data, lt_module module, const char *symbol)
{
    (void)data;
    return dlsym(module, symbol);
}

/* Once in the life of the process: libltdl stays initialised, and frees the table itself
 * should the host program end it. */
static bool loader_add(char reason[RUBUS__REASON_ROOM])
{
    static bool added;
    if (added) {
        return true;
    }
    if (lt_dlinit() != 0) {
        rubus__snprintf(reason, RUBUS__REASON_ROOM, "libltdl does not start: %s",
                        lt_dlerror());
        return false;
    }
    // malloc'ed plainly: whoever removes the loader calls free
    lt_dlvtable *table = calloc(1, sizeof *table);
    if (table != NULL) {
        table->name = "rubus";
        table->module_open = expected_open;
        table->module_close = expected_close;
        table->find_sym = expected_find;
        table->priority = LT_DLLOADER_PREPEND;
    }
    if (table == NULL || lt_dlloader_add(table) != 0) {
        rubus__snprintf(reason, RUBUS__REASON_ROOM, "libltdl takes no loader: %s",
                        table == NULL ? "out of memory" : lt_dlerror());
        free(table);
        lt_dlexit();
        return false;
    }
    added = true;
    return true;
}

/* dlerror without the path in front, which the caller shows anyway. */
static void reason_of_linker(const char *path, char reason[RUBUS__REASON_ROOM])
{
    const char *text = dlerror();
    if (text == NULL) {
        text = "the dynamic linker gives no reason";
    }
    const size_t n = strlen(path);
    if (strncmp(text, path, n) == 0 && strncmp(text + n, ": ", 2) == 0) {
        text += n + 2;
    }
    rubus__snprintf(reason, RUBUS__REASON_ROOM, "%s", text);
}

const void *rubus__module_symbol(const char *path, const char *symbol, bool *out_opened,
                                 char reason[RUBUS__REASON_ROOM])
{
    *out_opened = false;
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (module == NULL) {
        reason_of_linker(path, reason);
        return NULL;
    }
    if (!loader_add(reason)) {
        dlclose(module);
        return NULL;
    }
    expected_path = path;
    expected_module = module;
    lt_dlhandle handle = lt_dlopen(path);
    expected_path = NULL;
    expected_module = NULL;
    if (handle == NULL) {
        rubus__snprintf(reason, RUBUS__REASON_ROOM, "libltdl does not take it: %s",
                        lt_dlerror());
        dlclose(module);
        return NULL;
    }
    *out_opened = true;
    const void *found = lt_dlsym(handle, symbol);
    if (found == NULL) {
        rubus__snprintf(
            reason, RUBUS__REASON_ROOM,
            "it is not a backend plugin: it does not export %s (was it built with "
            "RUBUS_PLUGIN_EXPORT?)",
            symbol);
    }
    return found;
}
