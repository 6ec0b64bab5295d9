/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole files in and out. Reading takes regular files only and never blocks on a FIFO.
 * Writing goes to a fresh name in the same folder, then rename: a reader, or a run that
 * was killed, sees the old contents or the new ones, never half. What is no regular file
 * (/dev/stdout, a FIFO) is written in place, never replaced.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcore/base/c_locale.h"

enum { READ_STEP = 64 * 1024, NAME_TRIES = 100 };

const char *rubus__errno_text(int number)
{
    const locale_t c = rubus__c_locale();
    return c == (locale_t)0 ? "input or output failed" : strerror_l(number, c);
}

static rubus_status read_failed(const char *path, int number)
{
    return rubus__fail(RUBUS_EIO, "cannot read '%s': %s", path,
                       rubus__errno_text(number));
}

/* Reads to the end. A size from fstat is only a hint: files grow, and /proc says 0. */
static rubus_status read_all(int fd, const char *path, size_t max, size_t hint,
                             char **out_text, size_t *out_size)
{
    size_t room = hint + 2;
    size_t size = 0;
    char *text = rubus__alloc(room);
    if (text == NULL) {
        return RUBUS_ENOMEM;
    }
    for (;;) {
        const ssize_t n = read(fd, text + size, room - 1 - size);
        if (n == 0) {
            break;
        }
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            const int number = errno;
            rubus__free(text);
            return read_failed(path, number);
        }
        size += (size_t)n;
        if (size > max) {
            rubus__free(text);
            return rubus__fail(
                RUBUS_EIO, "cannot read '%s': it is longer than the limit of %zu bytes",
                path, max);
        }
        if (size + 1 == room) {
            char *grown = rubus__realloc(text, room + READ_STEP + room / 2);
            if (grown == NULL) {
                rubus__free(text);
                return RUBUS_ENOMEM;
            }
            text = grown;
            room += READ_STEP + room / 2;
        }
    }
    text[size] = '\0';
    *out_text = text;
    *out_size = size;
    return RUBUS_OK;
}

rubus_status rubus__file_read(const char *path, size_t max, char **out_text,
                              size_t *out_size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return read_failed(path, errno);
    }
    struct stat info;
    rubus_status st = RUBUS_OK;
    if (fstat(fd, &info) != 0) {
        st = read_failed(path, errno);
    } else if (!S_ISREG(info.st_mode)) {
        st =
            rubus__fail(RUBUS_EIO, "cannot read '%s': it is %s, not a regular file", path,
                        S_ISDIR(info.st_mode)    ? "a folder"
                        : S_ISFIFO(info.st_mode) ? "a FIFO"
                                                 : "a device or socket");
    } else if ((uintmax_t)info.st_size > max) {
        st =
            rubus__fail(RUBUS_EIO, "cannot read '%s': it has %jd bytes, the limit is %zu",
                        path, (intmax_t)info.st_size, max);
    } else {
        st = read_all(fd, path, max, (size_t)info.st_size, out_text, out_size);
    }
    close(fd);
    return st;
}

static rubus_status write_failed(const char *path, int number)
{
    return rubus__fail(RUBUS_EIO, "cannot write '%s': %s", path,
                       rubus__errno_text(number));
}

/* 0, or the errno of the failure. */
static int write_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        // Linux writes at most 2^31 - 4096 bytes a call
        const ssize_t n = write(fd, at, size < INT_MAX / 2 ? size : INT_MAX / 2);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return errno;
        }
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

/* Makes a file of a new name beside `path`; the caller frees the name. */
static rubus_status temporary_create(const char *path, char **out_name, int *out_fd)
{
    static _Atomic unsigned counter;
    const char *slash = strrchr(path, '/');
    const int folder = slash == NULL ? 0 : (int)(slash - path) + 1;
    for (int i = 0; i < NAME_TRIES; i++) {
        char *name = rubus__format("%.*s.rubus-%ld-%u.tmp", folder, path, (long)getpid(),
                                   atomic_fetch_add(&counter, 1u));
        if (name == NULL) {
            return RUBUS_ENOMEM;
        }
        const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            *out_name = name;
            *out_fd = fd;
            return RUBUS_OK;
        }
        const int number = errno;
        rubus__free(name);
        if (number != EEXIST) {
            return write_failed(path, number);
        }
    }
    return write_failed(path, EEXIST);
}

/* A file that is being written. */
struct rubus__file {
    char *path;
    char *target; /* what `name` becomes in the end: `path`, links resolved */
    char *name;   /* temporary; NULL: written in place */
    int fd;
    int number; /* errno of the first failure */
    bool had_mode;
    mode_t mode; /* of the file that is replaced */
};

static void file_free(rubus__file *file)
{
    if (file != NULL) {
        rubus__free(file->path);
        rubus__free(file->target);
        rubus__free(file->name);
        rubus__free(file);
    }
}

/* Opens what is written: the file itself, or a temporary one. */
static rubus_status file_open(rubus__file *file)
{
    struct stat info;
    const bool there = stat(file->path, &info) == 0;
    if (there && S_ISDIR(info.st_mode)) {
        return write_failed(file->path, EISDIR);
    }
    if (there && !S_ISREG(info.st_mode)) {
        file->fd = open(file->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return file->fd < 0 ? write_failed(file->path, errno) : RUBUS_OK;
    }
    if (!there) {
        file->target = rubus__strdup(file->path);
    } else {
        // a link stays a link: what it points to is replaced
        char *real = realpath(file->path, NULL);
        if (real == NULL) {
            return write_failed(file->path, errno);
        }
        file->target = rubus__strdup(real);
        free(real);
        file->had_mode = true;
        file->mode = info.st_mode & 07777u;
    }
    if (file->target == NULL) {
        return RUBUS_ENOMEM;
    }
    return temporary_create(file->target, &file->name, &file->fd);
}

rubus_status rubus__file_create(const char *path, rubus__file **out_file)
{
    rubus__file *file = rubus__alloc(sizeof *file);
    if (file == NULL) {
        return RUBUS_ENOMEM;
    }
    file->fd = -1;
    file->path = rubus__strdup(path);
    const rubus_status st = file->path == NULL ? RUBUS_ENOMEM : file_open(file);
    if (st != RUBUS_OK) {
        file_free(file);
        return st;
    }
    *out_file = file;
    return RUBUS_OK;
}

rubus_status rubus__file_add(rubus__file *file, const void *data, size_t size)
{
    if (file->number == 0) {
        file->number = write_all(file->fd, data, size);
    }
    return file->number == 0 ? RUBUS_OK : write_failed(file->path, file->number);
}

void rubus__file_discard(rubus__file *file)
{
    if (file != NULL) {
        close(file->fd);
        if (file->name != NULL) {
            unlink(file->name);
        }
        file_free(file);
    }
}

rubus_status rubus__file_finish(rubus__file *file)
{
    int number = file->number;
    if (number == 0 && file->had_mode && fchmod(file->fd, file->mode) != 0) {
        number = errno;
    }
    const bool temporary = file->name != NULL;
    if (number == 0 && temporary && fsync(file->fd) != 0 && errno != EINVAL) {
        number = errno;
    }
    if (close(file->fd) != 0 && number == 0) {
        number = errno;
    }
    if (number == 0 && temporary && rename(file->name, file->target) != 0) {
        number = errno;
    }
    if (number != 0 && temporary) {
        unlink(file->name);
    }
    const rubus_status st = number == 0 ? RUBUS_OK : write_failed(file->path, number);
    file_free(file);
    return st;
}

rubus_status rubus__file_write(const char *path, const void *data, size_t size)
{
    rubus__file *file = NULL;
    rubus_status st = rubus__file_create(path, &file);
    if (st != RUBUS_OK) {
        return st;
    }
    st = rubus__file_add(file, data, size);
    if (st != RUBUS_OK) {
        rubus__file_discard(file);
        return st;
    }
    return rubus__file_finish(file);
}
