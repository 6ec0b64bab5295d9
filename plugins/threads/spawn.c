/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the compiler. Its input, output and messages are files in memory: no pipe that
 * could block or raise SIGPIPE, nothing to clean up if the process dies. The program is
 * started by path and argument list; no shell sees anything.
 */
#include "config.h"

#include "plugins/threads/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if !defined(MFD_EXEC)
#define MFD_EXEC 0x0010U
#endif

extern char **environ;

/* --- files ------------------------------------------------------------------------ */

#if defined(O_TMPFILE)
/* Where memory files are missing: a file on disk that never had a name. */
static int nameless_file(void)
{
    static const char *const folders[] = {"/dev/shm", "/tmp", "/var/tmp"};
    int fd = -1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && fd < 0; i++) {
        fd = open(folders[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0700);
    }
    return fd;
}
#else
static int nameless_file(void)
{
    return -1;
}
#endif

int threads_file_create(const char *name)
{
    int fd = -1;
#if defined(MFD_CLOEXEC)
    // Kernels before 6.3 do not know MFD_EXEC, later ones may be set to want it.
    fd = memfd_create(name, MFD_CLOEXEC | MFD_EXEC);
    if (fd < 0 && errno == EINVAL) {
        fd = memfd_create(name, MFD_CLOEXEC);
    }
#else
    (void)name;
#endif
    return fd >= 0 ? fd : nameless_file();
}

bool threads_file_write(int fd, const void *data, size_t size)
{
    const char *bytes = data;
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

char *threads_file_read(const rubus_host *host, int fd, size_t max, size_t *out_size)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < 0 ||
        (uint64_t)info.st_size > max) {
        return NULL;
    }
    size_t size = (size_t)info.st_size;
    char *data = host->alloc(host->ctx, size + 1, 16);
    if (data == NULL) {
        return NULL;
    }
    size_t have = 0;
    while (have < size) {
        ssize_t n = pread(fd, data + have, size - have, (off_t)have);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            break; // it shrank meanwhile: whoever reads it notices
        }
        have += (size_t)n;
    }
    data[have] = '\0';
    *out_size = have;
    return data;
}

/* --- the child -------------------------------------------------------------------- */

/* Whether the variable NAME=... is kept from the compiler: these make it write files, or
 * speak another language. */
static bool is_dropped(const char *variable)
{
    static const char *const dropped[] = {
        "LC_ALL=", "LANGUAGE=", "DEPENDENCIES_OUTPUT=", "SUNPRO_DEPENDENCIES="};
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) {
        if (strncmp(variable, dropped[i], strlen(dropped[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* The environment of this process, but for those, and with LC_ALL=C. */
static char **child_environment(const rubus_host *host)
{
    static char language[] = "LC_ALL=C";
    size_t count = 0;
    for (char **at = environ; at != NULL && *at != NULL; at++) {
        count++;
    }
    char **list = host->alloc(host->ctx, (count + 2) * sizeof *list, sizeof *list);
    if (list == NULL) {
        return NULL;
    }
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_dropped(environ[i])) {
            list[n++] = environ[i];
        }
    }
    list[n++] = language;
    list[n] = NULL;
    return list;
}

/* Fills in who gets which descriptor, and the signals; 0 or an error number. */
static int set_up(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes,
                  int in_fd, int text_fd, int out_fd)
{
    const int from[] = {in_fd, text_fd, text_fd, out_fd};
    int err = 0;
    for (int i = 0; i < 4 && err == 0; i++) {
        err = posix_spawn_file_actions_adddup2(files, from[i], i);
    }
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    if (err == 0) {
        err = posix_spawnattr_setsigmask(attributes, &none);
    }
    if (err == 0) {
        err = posix_spawnattr_setsigdefault(attributes, &all);
    }
    if (err == 0) {
        err = posix_spawnattr_setflags(attributes,
                                       POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
    return err;
}

static int start(const char *path, const char *const argv[], char **environment,
                 int in_fd, int text_fd, int out_fd, pid_t *out_pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int err = posix_spawn_file_actions_init(&files);
    if (err != 0) {
        return err;
    }
    err = posix_spawnattr_init(&attributes);
    if (err == 0) {
        err = set_up(&files, &attributes, in_fd, text_fd, out_fd);
        if (err == 0) {
            // posix_spawn does not write to the strings; its type is older than const.
            union {
                const char *const *in;
                char *const *out;
            } list = {.in = argv};
            err = posix_spawn(out_pid, path, &files, &attributes, list.out, environment);
        }
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return err;
}

/* Copies of descriptors above those that the child is given, so that none of them is
 * overwritten before it is used. The last one closes what was opened on failure. */
static bool lift(const int from[3], int to[3])
{
    for (int i = 0; i < 3; i++) {
        to[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 4);
        if (to[i] < 0) {
            while (i-- > 0) {
                close(to[i]);
            }
            return false;
        }
    }
    return true;
}

rubus_status threads_spawn(const rubus_host *host, const char *path,
                           const char *const argv[], int in_fd, int text_fd, int out_fd,
                           threads_spawn_end *out_end)
{
    threads_spawn_end end = {.exited = -1};
    char **environment = child_environment(host);
    if (environment == NULL) {
        return RUBUS_ENOMEM;
    }
    const int given[3] = {in_fd, text_fd, out_fd};
    int lifted[3];
    pid_t pid = 0;
    lseek(in_fd, 0, SEEK_SET);
    if (lift(given, lifted)) {
        end.error = start(path, argv, environment, lifted[0], lifted[1], lifted[2], &pid);
        for (int i = 0; i < 3; i++) {
            close(lifted[i]);
        }
    } else {
        end.error = errno;
    }
    host->free(host->ctx, environment);
    if (end.error == 0) {
        int status;
        pid_t got;
        do {
            got = waitpid(pid, &status, 0);
        } while (got < 0 && errno == EINTR);
        // A program that ignores SIGCHLD, or collects every child itself, leaves us none.
        end.known = got == pid;
        if (end.known && WIFEXITED(status)) {
            end.exited = WEXITSTATUS(status);
        } else if (end.known && WIFSIGNALED(status)) {
            end.signalled = WTERMSIG(status);
        }
    }
    *out_end = end;
    return RUBUS_OK;
}
