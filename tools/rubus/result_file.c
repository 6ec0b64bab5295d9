/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text results in files. A regular file is written under a temporary name beside it and
 * renamed, so a reader sees the old one or the whole new one; devices and pipes are
 * written as they are.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

bool cli_has_ending(const char *path, const char *ending)
{
    const size_t size = strlen(path);
    const size_t wanted = strlen(ending);
    return size > wanted && strcasecmp(path + size - wanted, ending) == 0;
}

bool cli_is_field_path(const char *path)
{
    static const char *const endings[] = {".vti", ".vtk", ".tsv", ".bin", ".png"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        if (cli_has_ending(path, endings[i])) {
            return true;
        }
    }
    return false;
}

// The folder that holds the last name of a path; false if there is none.
static bool stat_folder(const char *path, struct stat *info)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return stat(".", info) == 0;
    }
    char *folder = strndup(path, (size_t)(slash - path) + 1);
    const bool there = folder != NULL && stat(folder, info) == 0;
    free(folder);
    return there;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

bool cli_same_file(const char *one, const char *other)
{
    struct stat a;
    struct stat b;
    // links are not followed: renaming replaces the link itself
    if (strcmp(last_name(one), last_name(other)) != 0 ||
        (stat(one, &a) == 0 && !S_ISREG(a.st_mode))) {
        return false;
    }
    if (strcmp(one, other) == 0) {
        return true;
    }
    return stat_folder(one, &a) && stat_folder(other, &b) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static bool write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        const ssize_t n = write(fd, text, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        text += n;
        size -= (size_t)n;
    }
    return true;
}

static int write_in_place(const char *path, const char *text, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return cli_fail(CLI_INPUT, "cannot write %s: %s", path, strerror(errno));
    }
    const bool written = write_all(fd, text, size);
    const int reason = errno;
    if (close(fd) != 0 || !written) {
        return cli_fail(CLI_INPUT, "cannot write %s: %s", path,
                        strerror(written ? errno : reason));
    }
    return CLI_DONE;
}

int cli_write_file(const char *path, const char *text, size_t size)
{
    if (strcmp(path, "-") == 0) {
        fwrite(text, 1, size, stdout);
        return CLI_DONE;
    }
    struct stat info;
    const bool exists = stat(path, &info) == 0;
    if (exists && !S_ISREG(info.st_mode)) {
        return write_in_place(path, text, size);
    }
    char *temporary;
    if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
        return cli_out_of_memory();
    }
    int reason = 0;
    const int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        reason = errno;
    } else {
        const mode_t mask = umask(0);
        umask(mask);
        const mode_t mode = exists ? info.st_mode & 0777 : 0666 & ~mask;
        if (fchmod(fd, mode) != 0 || !write_all(fd, text, size)) {
            reason = errno;
        }
        if (close(fd) != 0 && reason == 0) {
            reason = errno;
        }
        if (reason == 0 && rename(temporary, path) != 0) {
            reason = errno;
        }
        if (reason != 0) {
            unlink(temporary);
        }
    }
    free(temporary);
    if (reason != 0) {
        return cli_fail(CLI_INPUT, "cannot write %s: %s", path, strerror(reason));
    }
    return CLI_DONE;
}
