/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel cache: one folder of ours (0700), one file an entry. Entries appear by
 * rename, so a reader sees a whole file or none; any number of processes may write the
 * same entry. Nothing here is trusted by its users: a backend verifies what it gets.
 */
#include "config.h"

#include "libcore/runtime/kernel_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST_BYTES ((off_t)256 << 20) /* past this the oldest entries go */
#define DRAFT ".draft-"
#define DRAFT_SECONDS 3600 /* so old, it was left by a process that died */
enum { SUFFIX_MOST = 128, NAME_ROOM = 64 + 1 + SUFFIX_MOST + 1 };

static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER; /* guards `warned` */
static bool warned;

static void warn(const char *folder, const char *reason)
{
    pthread_mutex_lock(&once);
    const bool first = !warned;
    warned = true;
    pthread_mutex_unlock(&once);
    if (first) {
        rubus__log(RUBUS__LOG_WARNING, "cache",
                   "kernel cache %s is not used: %s (RUBUS_CACHE_DIR names another, or "
                   "`off`)",
                   folder, reason);
    }
}

/* Path of the folder as a fresh string; NULL: no cache. */
static char *folder_path(void)
{
    const char *set = rubus__env(RUBUS__ENV_CACHE_DIR);
    if (set != NULL && set[0] == '/') {
        return rubus__strdup(set);
    }
    if (set != NULL) {
        if (strcasecmp(set, "off") != 0) {
            warn(set, "it is no absolute path");
        }
        return NULL;
    }
    const char *xdg = rubus__env_system("XDG_CACHE_HOME");
    if (xdg != NULL && xdg[0] == '/') {
        return rubus__format("%s/rubus", xdg);
    }
    const char *home = rubus__env_system("HOME");
    return home != NULL && home[0] == '/' ? rubus__format("%s/.cache/rubus", home) : NULL;
}

/* Makes the folder and the one above it (~/.cache), but no more: a home that does not
 * exist must not come into being here. */
static void make_folders(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash != NULL && slash != path) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    (void)mkdir(path, 0700);
}

/* The folder, open; -1: no cache. */
static int folder_open(bool create)
{
    char *path = folder_path();
    if (path == NULL) {
        return -1;
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && create) {
        make_folders(path);
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    struct stat st;
    if (fd < 0) {
        if (create || errno != ENOENT) {
            warn(path, strerror(errno));
        }
    } else if (fstat(fd, &st) != 0 || st.st_uid != geteuid() || (st.st_mode & 022) != 0) {
        warn(path, "it is not ours, or others may write to it");
        close(fd);
        fd = -1;
    }
    rubus__free(path);
    return fd;
}

static void entry_name(const uint8_t key[32], const char *suffix, char out[NAME_ROOM])
{
    char hex[65];
    rubus__hex(key, 32, hex);
    rubus__snprintf(out, NAME_ROOM, "%s-%s", hex, suffix);
}

/* Whether a file of the folder is an entry of ours; the folder may hold other things. */
static bool is_entry(const char *name)
{
    return strspn(name, "0123456789abcdef") == 64 && name[64] == '-' &&
           strlen(name) < NAME_ROOM;
}

static bool suffix_ok(const char *suffix)
{
    return suffix != NULL && suffix[0] != '\0' && strlen(suffix) <= SUFFIX_MOST &&
           strspn(suffix, "abcdefghijklmnopqrstuvwxyz0123456789.-") == strlen(suffix);
}

static rubus_status bad_suffix(const char *what, const char *suffix)
{
    return rubus__fail(RUBUS_EINVAL,
                       "%s: the suffix `%.140s` must be 1 to %d characters of [a-z0-9.-]",
                       what, suffix == NULL ? "" : suffix, SUFFIX_MOST);
}

rubus_status rubus__cache_get(const uint8_t key[32], const char *suffix, int32_t *out_fd)
{
    *out_fd = -1;
    if (!suffix_ok(suffix)) {
        return bad_suffix("cache_get", suffix);
    }
    const int folder = folder_open(false);
    if (folder < 0) {
        return RUBUS_OK;
    }
    char name[NAME_ROOM];
    entry_name(key, suffix, name);
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    close(folder);
    struct stat st;
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
                    st.st_uid != geteuid() || st.st_size == 0)) {
        close(fd);
        return RUBUS_OK;
    }
    if (fd >= 0) {
        (void)futimens(fd, NULL); /* the least recently used go first */
    }
    *out_fd = fd;
    return RUBUS_OK;
}

/* --- writing ---------------------------------------------------------------------- */

static bool copy_all(int from, int to)
{
    char bytes[65536];
    off_t at = 0;
    for (;;) {
        const ssize_t n = pread(from, bytes, sizeof(bytes), at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n == 0;
        }
        at += n;
        for (ssize_t done = 0; done < n;) {
            const ssize_t w = write(to, bytes + done, (size_t)(n - done));
            if (w < 0 && errno != EINTR) {
                return false;
            }
            done += w > 0 ? w : 0;
        }
    }
}

typedef struct old_entry {
    struct timespec used;
    off_t size;
    char name[NAME_ROOM];
} old_entry;

static int older(const void *a, const void *b)
{
    const old_entry *x = a;
    const old_entry *y = b;
    if (x->used.tv_sec != y->used.tv_sec) {
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    }
    return strcmp(x->name, y->name);
}

/* All entries with their sizes. Removes drafts that nobody will finish. */
static old_entry *list_entries(int folder, size_t *out_n, off_t *out_total)
{
    *out_n = 0;
    *out_total = 0;
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = again < 0 ? NULL : fdopendir(again);
    if (dir == NULL) {
        if (again >= 0) {
            close(again);
        }
        return NULL;
    }
    old_entry *list = NULL;
    for (struct dirent *d = readdir(dir); d != NULL; d = readdir(dir)) {
        struct stat st;
        const bool draft = strncmp(d->d_name, DRAFT, strlen(DRAFT)) == 0;
        if ((!draft && !is_entry(d->d_name)) ||
            fstatat(folder, d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(st.st_mode)) {
            continue;
        }
        if (draft) {
            if (time(NULL) - st.st_mtim.tv_sec > DRAFT_SECONDS) {
                (void)unlinkat(folder, d->d_name, 0);
            }
            continue;
        }
        old_entry *more = rubus__realloc(list, (*out_n + 1) * sizeof(*list));
        if (more == NULL) {
            break;
        }
        list = more;
        list[*out_n].used = st.st_mtim;
        list[*out_n].size = st.st_size;
        strcpy(list[*out_n].name, d->d_name);
        *out_total += st.st_size;
        (*out_n)++;
    }
    closedir(dir);
    return list;
}

static void trim(int folder)
{
    size_t n = 0;
    off_t total = 0;
    old_entry *list = list_entries(folder, &n, &total);
    if (list != NULL && total > MOST_BYTES) {
        qsort(list, n, sizeof(*list), older);
        for (size_t i = 0; i < n && total > MOST_BYTES / 2; i++) {
            if (unlinkat(folder, list[i].name, 0) == 0) {
                total -= list[i].size;
            }
        }
    }
    rubus__free(list);
}

rubus_status rubus__cache_put(const uint8_t key[32], const char *suffix, int32_t fd)
{
    if (!suffix_ok(suffix)) {
        return bad_suffix("cache_put", suffix);
    }
    const int folder = folder_open(true);
    if (folder < 0) {
        return RUBUS_OK;
    }
    char name[NAME_ROOM];
    char draft[64];
    uint64_t number = 0;
    if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number)) {
        number = (uint64_t)getpid();
    }
    entry_name(key, suffix, name);
    rubus__snprintf(draft, sizeof(draft), DRAFT "%ld-%016llx", (long)getpid(),
                    (unsigned long long)number);
    const int out = openat(folder, draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out < 0) {
        char *path = folder_path();
        warn(path != NULL ? path : "folder", strerror(errno));
        rubus__free(path);
    } else {
        const bool whole = copy_all(fd, out);
        const bool kept = close(out) == 0 && whole;
        if (!kept || renameat(folder, draft, folder, name) != 0) {
            rubus__log(RUBUS__LOG_WARNING, "cache", "an entry could not be written: %s",
                       strerror(errno));
            (void)unlinkat(folder, draft, 0);
        }
        trim(folder);
    }
    close(folder);
    return RUBUS_OK;
}
