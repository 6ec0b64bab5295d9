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

static const char *reason(int number)
{
    const locale_t c = rubus__c_locale();
    return c == (locale_t)0 ? "input or output failed" : strerror_l(number, c);
}

static rubus_status read_failed(const char *path, int number)
{
    return rubus__fail(RUBUS_EIO, "cannot read '%s': %s", path, reason(number));
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
    return rubus__fail(RUBUS_EIO, "cannot write '%s': %s", path, reason(number));
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

static rubus_status write_in_place(const char *path, const void *data, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return write_failed(path, errno);
    }
    int number = write_all(fd, data, size);
    if (close(fd) != 0 && number == 0) {
        number = errno;
    }
    return number == 0 ? RUBUS_OK : write_failed(path, number);
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

static rubus_status write_replacing(const char *path, const struct stat *old,
                                    const void *data, size_t size)
{
    char *name = NULL;
    int fd = -1;
    const rubus_status st = temporary_create(path, &name, &fd);
    if (st != RUBUS_OK) {
        return st;
    }
    int number = write_all(fd, data, size);
    if (number == 0 && old != NULL && fchmod(fd, old->st_mode & 07777u) != 0) {
        number = errno;
    }
    if (number == 0 && fsync(fd) != 0 && errno != EINVAL) {
        number = errno;
    }
    if (close(fd) != 0 && number == 0) {
        number = errno;
    }
    if (number == 0 && rename(name, path) != 0) {
        number = errno;
    }
    if (number != 0) {
        unlink(name);
    }
    rubus__free(name);
    return number == 0 ? RUBUS_OK : write_failed(path, number);
}

rubus_status rubus__file_write(const char *path, const void *data, size_t size)
{
    struct stat info;
    const bool there = stat(path, &info) == 0;
    if (there && S_ISDIR(info.st_mode)) {
        return write_failed(path, EISDIR);
    }
    if (there && !S_ISREG(info.st_mode)) {
        return write_in_place(path, data, size);
    }
    if (!there) {
        return write_replacing(path, NULL, data, size);
    }
    // a link stays a link: what it points to is replaced
    char *real = realpath(path, NULL);
    if (real == NULL) {
        return write_failed(path, errno);
    }
    const rubus_status st = write_replacing(real, &info, data, size);
    free(real);
    return st;
}
