/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists what lies in the plugin folders, by names alone; nothing is opened here, so a
 * folder of many plugins costs a program that needs one of them nothing, and a file that
 * crashes the linker harms only those who ask for it. Folders and files that are not
 * acceptable are remembered with the reason.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcore/base/c_locale.h"

static const char prefix[] = "rubus-";
static const char suffix[] = ".so";

static const char *system_reason(int number)
{
    const locale_t c = rubus__c_locale();
    return c == (locale_t)0 ? "the system refuses" : strerror_l(number, c);
}

static bool ends_in_so(const char *file)
{
    const size_t n = strlen(file);
    return n > strlen(suffix) && strcmp(file + n - strlen(suffix), suffix) == 0;
}

/* Length of NAME in rubus-NAME.so, and where it begins; 0 if the file is not so named. */
static size_t plugin_name(const char *file, const char **out_name)
{
    if (strncmp(file, prefix, strlen(prefix)) != 0 || !ends_in_so(file)) {
        return 0;
    }
    const char *name = file + strlen(prefix);
    const size_t n = strlen(name) - strlen(suffix);
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    if (name[0] < 'a' || name[0] > 'z' || strspn(name, letters) != n) {
        return 0;
    }
    *out_name = name;
    return n;
}

bool rubus__plugin_denied(const char *name)
{
    const char *at = rubus__env(RUBUS__ENV_PLUGIN_DENY);
    while (at != NULL && *at != '\0') {
        at += strspn(at, ",;: \t");
        const size_t n = strcspn(at, ",;: \t");
        char word[64];
        rubus__snprintf(word, sizeof word, "%.*s", (int)(n < 63 ? n : 63), at);
        if (n > 0 && rubus__equal_nocase(word, name)) {
            return true;
        }
        at += n;
    }
    return false;
}

static rubus_status entry_add(rubus__found *found, const char *name, size_t name_size,
                              char *path, rubus__plugin **out_entry)
{
    if (path == NULL) {
        return RUBUS_ENOMEM;
    }
    if (found->n == found->room) {
        const size_t room = found->room == 0 ? 8 : 2 * found->room;
        rubus__plugin **grown = rubus__realloc(found->plugin, room * sizeof *grown);
        if (grown == NULL) {
            rubus__free(path);
            return RUBUS_ENOMEM;
        }
        found->plugin = grown;
        found->room = room;
    }
    rubus__plugin *entry = rubus__alloc(sizeof *entry);
    char *copy = rubus__strndup(name, name_size);
    if (entry == NULL || copy == NULL) {
        rubus__free(entry);
        rubus__free(copy);
        rubus__free(path);
        return RUBUS_ENOMEM;
    }
    entry->name = copy;
    entry->path = path;
    entry->stage = "";
    found->plugin[found->n++] = entry;
    *out_entry = entry;
    return RUBUS_OK;
}

static rubus_status refused_add(rubus__found *found, const char *path, const char *stage,
                                const char *reason)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash == NULL || slash[1] == '\0' ? path : slash + 1;
    rubus__plugin *entry = NULL;
    const rubus_status st =
        entry_add(found, base, strlen(base), rubus__strdup(path), &entry);
    if (st != RUBUS_OK) {
        return st;
    }
    entry->examined = true;
    return rubus__plugin_refuse(entry, stage, "%s", reason);
}

static rubus_status built_in_add(rubus__found *found)
{
    const rubus_plugin_desc *desc = &rubus__reference_plugin;
    rubus__plugin *entry = NULL;
    const rubus_status st = entry_add(found, desc->name, strlen(desc->name),
                                      rubus__strdup("(built in)"), &entry);
    if (st != RUBUS_OK) {
        return st;
    }
    entry->examined = true;
    if (rubus__plugin_denied(desc->name)) {
        return rubus__plugin_refuse(entry, "file", "RUBUS_PLUGIN_DENY names it");
    }
    return rubus__descriptor_check(entry, desc, desc->name);
}

int rubus__plugin_file_open(const char *path, struct stat *out_info,
                            char reason[RUBUS__REASON_ROOM])
{
    // a FIFO would block without O_NONBLOCK
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        struct stat link;
        const int number = errno;
        const bool dangling = number == ENOENT && lstat(path, &link) == 0;
        rubus__snprintf(reason, RUBUS__REASON_ROOM, "it cannot be opened: %s",
                        dangling ? "the link leads nowhere" : system_reason(number));
        return -1;
    }
    bool good = false;
    if (fstat(fd, out_info) != 0) {
        rubus__snprintf(reason, RUBUS__REASON_ROOM, "it cannot be read: %s",
                        system_reason(errno));
    } else if (!S_ISREG(out_info->st_mode)) {
        rubus__snprintf(reason, RUBUS__REASON_ROOM, "it is %s, not a regular file",
                        S_ISDIR(out_info->st_mode)    ? "a folder"
                        : S_ISFIFO(out_info->st_mode) ? "a FIFO"
                                                      : "a device or socket");
    } else {
        good = rubus__stat_trusted(out_info, reason);
    }
    if (!good) {
        close(fd);
        return -1;
    }
    return fd;
}

/* The same file in another folder, or through a link to one, is no second plugin. By
 * another name it is refused later, since a plugin carries its own; it must not hide the
 * right one. */
static bool file_known(const rubus__found *found, const struct stat *info,
                       const char *name, size_t n)
{
    for (size_t i = 0; i < found->n; i++) {
        const rubus__plugin *plugin = found->plugin[i];
        if (plugin->file_number != 0 && plugin->file_number == info->st_ino &&
            plugin->file_device == info->st_dev && strlen(plugin->name) == n &&
            strncmp(plugin->name, name, n) == 0) {
            return true;
        }
    }
    return false;
}

static rubus_status file_add(rubus__found *found, const rubus__folder *folder,
                             const char *file)
{
    const char *name = NULL;
    const size_t n = plugin_name(file, &name);
    const bool meant = strncmp(file, prefix, strlen(prefix)) == 0 || folder->named;
    if (n == 0 && (file[0] == '.' || !ends_in_so(file) || !meant)) {
        return RUBUS_OK;
    }
    char *path = rubus__format("%s/%s", folder->path, file);
    if (path == NULL) {
        return RUBUS_ENOMEM;
    }
    if (n == 0) {
        const rubus_status st = refused_add(
            found, path, "file",
            "it is not named rubus-NAME.so, where NAME is small letters, digits "
            "and _, beginning with a letter");
        rubus__free(path);
        return st;
    }
    struct stat info;
    memset(&info, 0, sizeof info);
    if (stat(path, &info) == 0 && file_known(found, &info, name, n)) {
        rubus__log(RUBUS__LOG_DEBUG, "load", "%s: the same file was found before", path);
        rubus__free(path);
        return RUBUS_OK;
    }
    rubus__plugin *entry = NULL;
    const rubus_status st = entry_add(found, name, n, path, &entry);
    if (st != RUBUS_OK) {
        return st;
    }
    entry->file_device = info.st_dev;
    entry->file_number = info.st_ino;
    if (rubus__plugin_denied(entry->name)) {
        entry->examined = true;
        return rubus__plugin_refuse(entry, "file", "RUBUS_PLUGIN_DENY names it");
    }
    rubus__log(RUBUS__LOG_DEBUG, "load", "%s: found", entry->path);
    return RUBUS_OK;
}

static rubus_status folder_refuse(rubus__found *found, const rubus__folder *folder,
                                  const char *reason)
{
    return refused_add(found, folder->path, "folder", reason);
}

static rubus_status folder_list(rubus__found *found, const rubus__folder *folder)
{
    struct dirent **names = NULL;
    // cppcheck-suppress nullPointer ; no filter and no order are wanted
    const int n = scandir(folder->path, &names, NULL, NULL);
    if (n < 0) {
        return folder_refuse(found, folder, system_reason(errno));
    }
    // in byte order, whatever the locale: the list is the same for everybody
    for (int i = 1; i < n; i++) {
        struct dirent *moving = names[i];
        int at = i;
        while (at > 0 && strcmp(names[at - 1]->d_name, moving->d_name) > 0) {
            names[at] = names[at - 1];
            at--;
        }
        names[at] = moving;
    }
    rubus_status st = RUBUS_OK;
    for (int i = 0; i < n; i++) {
        if (st == RUBUS_OK) {
            st = file_add(found, folder, names[i]->d_name);
        }
        free(names[i]);
    }
    free(names);
    return st;
}

static rubus_status folder_scan(rubus__found *found, const rubus__folder *folder)
{
    char reason[RUBUS__REASON_ROOM];
    if (folder->path[0] != '/') {
        return folder_refuse(found, folder,
                             "it is not an absolute path: the current folder is never "
                             "searched; write it from / on");
    }
    struct stat info;
    if (stat(folder->path, &info) != 0) {
        const int number = errno;
        rubus__log(RUBUS__LOG_DEBUG, "load", "%s (%s): %s", folder->path, folder->origin,
                   system_reason(number));
        if (!folder->named && (number == ENOENT || number == ENOTDIR)) {
            return RUBUS_OK;
        }
        rubus__snprintf(reason, sizeof reason, "%s%s%s", system_reason(number),
                        folder->named ? "; correct " : "",
                        folder->named ? folder->origin : "");
        return folder_refuse(found, folder, reason);
    }
    if (!S_ISDIR(info.st_mode)) {
        return folder_refuse(found, folder, "it is not a folder");
    }
    if (!rubus__stat_trusted(&info, reason)) {
        return folder_refuse(found, folder, reason);
    }
    return folder_list(found, folder);
}

rubus_status rubus__scan(rubus__found *out)
{
    memset(out, 0, sizeof *out);
    rubus_status st = rubus__folders_find(&out->folders);
    if (st == RUBUS_OK) {
        st = built_in_add(out);
    }
    for (size_t i = 0; st == RUBUS_OK && i < out->folders.n; i++) {
        st = folder_scan(out, &out->folders.at[i]);
    }
    if (st != RUBUS_OK) {
        rubus__found_fini(out);
    }
    return st;
}

void rubus__found_fini(rubus__found *found)
{
    for (size_t i = 0; i < found->n; i++) {
        rubus__plugin *entry = found->plugin[i];
        rubus__free(entry->name);
        rubus__free(entry->path);
        rubus__free(entry->reason);
        rubus__free(entry);
    }
    rubus__free(found->plugin);
    rubus__folders_fini(&found->folders);
    memset(found, 0, sizeof *found);
}
