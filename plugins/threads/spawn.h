/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_THREADS_SPAWN_H
#define RUBUS_THREADS_SPAWN_H
/*
 * Runs a program with files that have no name as its input and outputs.
 */
#include <stdbool.h>

#include <rubus/backend.h>

/* Where the child of threads_spawn finds out_fd. */
#define THREADS_SPAWN_OUTPUT "/proc/self/fd/3"

/* How a program ended. */
typedef struct threads_spawn_end {
    int error;     /* errno where it could not be started, else 0 */
    bool known;    /* false: somebody else in this process collected its status */
    int exited;    /* exit status, -1 if a signal ended it */
    int signalled; /* number of that signal, else 0 */
} threads_spawn_end;

/* A readable, writable and executable file without a name, closed on exec; -1 and errno
 * if there is none. name: for those who look at /proc. */
int threads_file_create(const char *name);
/* Writes all of it at the end; false and errno on failure. */
bool threads_file_write(int fd, const void *data, size_t size);
/* The whole file in fresh memory of the host's allocator, with a NUL behind it; NULL if
 * it cannot be read, is larger than max, or memory is out. */
char *threads_file_read(const rubus_host *host, int fd, size_t max, size_t *out_size);

/*
 * Runs path with argv and waits. in_fd is its standard input, read from its beginning;
 * standard output and error both go to text_fd, and out_fd is its descriptor 3. Signals
 * are as in a fresh process. ENOMEM is the only failure; the rest is told in *out_end.
 */
rubus_status threads_spawn(const rubus_host *host, const char *path,
                           const char *const argv[], int in_fd, int text_fd, int out_fd,
                           threads_spawn_end *out_end);

#endif
