/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_PROBE_LIST_H
#define RUBUS_PROBE_LIST_H
/*
 * For tests of the loader: a folder of plugin files, and what the list of plugins says of
 * one of them. Include after check.h and config.h.
 */
#include <rubus/context.h>

#include "tests/support/probe_files.h"

static char folder[64];

static inline void folder_setup(void)
{
    probe_folder_make(folder);
    probe_environment(folder);
}

static inline void folder_teardown(void)
{
    chmod(folder, 0700);
    probe_folder_remove(folder);
}

/* The number of the plugin whose path ends so; -1 if there is none. */
static inline int plugin_at(const char *ending)
{
    uint32_t n = 0;
    ck_assert_int_eq(rubus_plugin_count(&n), RUBUS_OK);
    for (uint32_t i = 0; i < n; i++) {
        rubus_plugin_info info = {.struct_size = sizeof info};
        ck_assert_int_eq(rubus_plugin_info_get(i, &info), RUBUS_OK);
        const size_t size = strlen(info.path);
        if (size >= strlen(ending) &&
            strcmp(info.path + size - strlen(ending), ending) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static inline rubus_plugin_info plugin_of(const char *ending)
{
    rubus_plugin_info info = {.struct_size = sizeof info};
    const int at = plugin_at(ending);
    ck_assert_msg(at >= 0, "%s is not listed", ending);
    ck_assert_int_eq(rubus_plugin_info_get((uint32_t)at, &info), RUBUS_OK);
    return info;
}

static inline void refused(const char *ending, const char *stage, const char *word)
{
    const rubus_plugin_info info = plugin_of(ending);
    ck_assert_msg(info.refused == 1, "%s: refused is %d", ending, (int)info.refused);
    ck_assert_msg(strcmp(info.stage, stage) == 0, "%s: stage '%s', %s", ending,
                  info.stage, info.reason);
    ck_assert_msg(strstr(info.reason, word) != NULL, "%s: '%s' is not in '%s'", ending,
                  word, info.reason);
}

static inline void usable(const char *ending)
{
    const rubus_plugin_info info = plugin_of(ending);
    ck_assert_msg(info.refused == 0, "%s: %s", ending, info.reason);
}

static inline const char *path_of(const char *file)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return path;
}

#endif
