/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folders that plugins are looked for in, and who may write to them.
 *
 * First what RUBUS_PLUGIN_PATH names, then the folder beside the library itself, so that
 * a build tree and a moved installation find their own, then the one fixed when the
 * library was configured. Never the current folder or that of the program: code is run
 * from here.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Set by tests alone, before the first use: an installed plugin must not answer them. */
static bool named_only;

static const char beside[] = "/rubus/plugins-1";

bool rubus__stat_trusted(const struct stat *info, char reason[RUBUS__REASON_ROOM])
{
    const uid_t caller = geteuid();
    if (info->st_uid != 0 && info->st_uid != caller) {
        rubus__snprintf(reason, RUBUS__REASON_ROOM,
                        "it belongs to user %ld, who is neither root nor the caller",
                        (long)info->st_uid);
        return false;
    }
    if ((info->st_mode & S_IWOTH) != 0) {
        rubus__snprintf(reason, RUBUS__REASON_ROOM,
                        "everybody may write to it; chmod o-w makes it acceptable");
        return false;
    }
    // a group of the owner alone is common (umask 002), the group of somebody else is not
    if ((info->st_mode & S_IWGRP) != 0 && info->st_uid != caller && info->st_gid != 0) {
        rubus__snprintf(
            reason, RUBUS__REASON_ROOM,
            "group %ld may write to it and its owner is another user; chmod g-w "
            "makes it acceptable",
            (long)info->st_gid);
        return false;
    }
    return true;
}

static rubus_status folder_add(rubus__folders *folders, const char *path, size_t n,
                               const char *suffix, const char *origin, bool named)
{
    if (folders->n == RUBUS__FOLDER_MOST) {
        return RUBUS_OK;
    }
    char *copy = rubus__format("%.*s%s", (int)n, path, suffix);
    if (copy == NULL) {
        return RUBUS_ENOMEM;
    }
    for (size_t i = 0; i < folders->n; i++) {
        if (strcmp(folders->at[i].path, copy) == 0) {
            rubus__free(copy);
            return RUBUS_OK;
        }
    }
    rubus__folder *folder = &folders->at[folders->n++];
    folder->path = copy;
    folder->origin = origin;
    folder->named = named;
    return RUBUS_OK;
}

/* The file that holds `address`, by the kernel's list of mappings; for a loader that
 * gives only a relative name, which would mean another file after a chdir. */
static bool mapped_file(const void *address, char out[PATH_MAX])
{
    FILE *maps = fopen("/proc/self/maps", "re");
    if (maps == NULL) {
        return false;
    }
    bool found = false;
    char line[PATH_MAX + 200];
    while (!found && fgets(line, sizeof line, maps) != NULL) {
        uintptr_t first = 0;
        uintptr_t end = 0;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &first, &end) != 2 ||
            (uintptr_t)address < first || (uintptr_t)address >= end) {
            continue;
        }
        line[strcspn(line, "\n")] = '\0';
        const char *path = strchr(line, '/');
        if (path == NULL || strlen(path) >= PATH_MAX) {
            break;
        }
        strcpy(out, path);
        found = true;
    }
    fclose(maps);
    return found;
}

static rubus_status folder_add_beside(rubus__folders *folders, const char *file)
{
    const char *slash = strrchr(file, '/');
    return folder_add(folders, file, (size_t)(slash - file), beside, "beside the library",
                      false);
}

static rubus_status library_folders(rubus__folders *folders)
{
    // any object of this library; data, since ISO C has no way from functions to objects
    Dl_info info;
    if (dladdr(beside, &info) == 0 || info.dli_fname == NULL) {
        return RUBUS_OK;
    }
    char file[PATH_MAX];
    if (info.dli_fname[0] == '/' && strlen(info.dli_fname) < sizeof file) {
        strcpy(file, info.dli_fname);
    } else if (!mapped_file(beside, file)) {
        return RUBUS_OK;
    }
    rubus_status st = folder_add_beside(folders, file);
    // where the name is a link, the plugins may lie beside what it points to
    char *real = st == RUBUS_OK ? realpath(file, NULL) : NULL;
    if (real != NULL) {
        st = folder_add_beside(folders, real);
        free(real);
    }
    return st;
}

static rubus_status named_folders(rubus__folders *folders)
{
    const char *at = rubus__env(RUBUS__ENV_PLUGIN_PATH);
    while (at != NULL) {
        size_t n = strcspn(at, ":");
        const char *next = at[n] == ':' ? at + n + 1 : NULL;
        while (n > 1 && at[n - 1] == '/') {
            n--;
        }
        if (n > 0) {
            const rubus_status st = folder_add(
                folders, at, n, "", rubus__env_name(RUBUS__ENV_PLUGIN_PATH), true);
            if (st != RUBUS_OK) {
                return st;
            }
        }
        at = next;
    }
    return RUBUS_OK;
}

rubus_status rubus__folders_find(rubus__folders *out)
{
    out->n = 0;
    rubus_status st = named_folders(out);
    if (st == RUBUS_OK && !named_only) {
        st = library_folders(out);
    }
#ifdef RUBUS_PLUGIN_DIR
    if (st == RUBUS_OK && !named_only) {
        st = folder_add(out, RUBUS_PLUGIN_DIR, strlen(RUBUS_PLUGIN_DIR), "", "built in",
                        false);
    }
#endif
    if (st != RUBUS_OK) {
        rubus__folders_fini(out);
    }
    return st;
}

void rubus__folders_named_only_for_test(void)
{
    named_only = true;
}

void rubus__folders_fini(rubus__folders *folders)
{
    for (size_t i = 0; i < folders->n; i++) {
        rubus__free(folders->at[i].path);
    }
    folders->n = 0;
}
