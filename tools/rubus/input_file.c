/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of users that the command itself reads: regular ones only, and none that makes it
 * wait. The words are those of the library's own reader.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

static int refuse(int fd, const char *path, const char *why)
{
    if (fd >= 0) {
        close(fd);
    }
    return cli_fail(CLI_INPUT, "cannot read '%s': %s", path, why);
}

int cli_open_input(const char *path, FILE **out_file)
{
    // not blocking: a FIFO that nobody writes to must not hold the command up
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0) {
        return refuse(fd, path, strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return refuse(fd, path,
                      S_ISDIR(info.st_mode)    ? "it is a folder, not a regular file"
                      : S_ISFIFO(info.st_mode) ? "it is a FIFO, not a regular file"
                                               : "it is a device or socket, not a "
                                                 "regular file");
    }
    *out_file = fdopen(fd, "r");
    if (*out_file == NULL) {
        close(fd);
        return cli_out_of_memory();
    }
    return CLI_DONE;
}
