/* SPDX-License-Identifier: Apache-2.0 */
/* Checks P: fork, exec, exit, and processes that share a kernel cache. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conform.h"

enum { N = 500 };

static void launch_and_want(rubus_context *context, int32_t factor)
{
    char text[200];
    snprintf(
        text, sizeof text,
        "kernel k%d(out int u[n]) over (i) { int x = i; for (int t = 0; t < %d; t++) "
        "{ x += %d; } u[i] = x; }",
        factor, factor, factor + 1);
    char name[16];
    snprintf(name, sizeof name, "k%d", factor);
    rubus_module *module = conform_module(context, text, RUBUS_F32);
    rubus_array *u = NULL;
    conform_ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(N), &u));
    conform_ok(rubus_launch(conform_kernel(module, name), u));
    int32_t *got = conform_contents(u);
    for (int i = 0; i < N; i++) {
        conform_true(got[i] == i + factor * (factor + 1),
                     "kernel %s: element %d is %d, should be %d", name, i, got[i],
                     i + factor * (factor + 1));
    }
    free(got);
    rubus_array_destroy(u);
    rubus_module_destroy(module);
}

/* --- fork ------------------------------------------------------------------------- */

typedef struct forked {
    rubus_context *context;
    rubus_array *array;
    rubus_module *module;
} forked;

static void want_forked(rubus_status st, const char *call)
{
    conform_true(st == RUBUS_EFORKED, "in a forked child %s gives %s, not RUBUS_EFORKED",
                 call, rubus_status_name(st));
}

static void use_after_fork(void *argument)
{
    const forked *f = argument;
    int32_t data[N];
    rubus_array *none = NULL;
    want_forked(rubus_array_read(f->array, data, sizeof data), "a read");
    want_forked(rubus_array_write(f->array, data, sizeof data), "a write");
    want_forked(rubus_array_fill(f->array, 1), "a fill");
    want_forked(rubus_launch(conform_kernel(f->module, "more"), f->array), "a launch");
    want_forked(rubus_context_synchronize(f->context), "synchronize");
    want_forked(rubus_array_create(f->context, RUBUS_I32, RUBUS_SHAPE(3), &none),
                "an array");
    rubus_array_destroy(f->array);
    rubus_module_destroy(f->module);
    rubus_context_destroy(f->context);
    _exit(0);
}

static void fork_returns_forked(void)
{
    forked f = {.context = conform_open()};
    f.module =
        conform_module(f.context, "kernel more(inout int u[n]) { u += 1; }", RUBUS_F32);
    conform_ok(rubus_array_create(f.context, RUBUS_I32, RUBUS_SHAPE(N), &f.array));
    for (int round = 0; round < 3; round++) {
        conform_ok(rubus_launch(conform_kernel(f.module, "more"), f.array));
        const int status = conform_in_child(use_after_fork, &f, 5);
        conform_true(WIFEXITED(status) && WEXITSTATUS(status) == 0,
                     "the forked child ended with status %x", (unsigned)status);
        int32_t *got = conform_contents(f.array);
        conform_true(got[N - 1] == round + 1, "after a fork the parent reads %d, not %d",
                     got[N - 1], round + 1);
        free(got);
    }
    rubus_array_destroy(f.array);
    rubus_module_destroy(f.module);
    rubus_context_destroy(f.context);
}

/* --- exec ------------------------------------------------------------------------- */

enum { MOST_FD = 1024 };

/* Descriptors that a program started from here would inherit. */
static void inherited(bool out[MOST_FD])
{
    for (int fd = 0; fd < MOST_FD; fd++) {
        const int flags = fcntl(fd, F_GETFD);
        out[fd] = flags >= 0 && (flags & FD_CLOEXEC) == 0;
    }
}

static void run_true(void *argument)
{
    (void)argument;
    execl("/bin/sh", "sh", "-c", "exit 0", (char *)NULL);
    _exit(9);
}

static void exec_after_use(void)
{
    bool before[MOST_FD];
    bool after[MOST_FD];
    inherited(before);
    rubus_context *context = conform_open();
    launch_and_want(context, 3);
    inherited(after);
    for (int fd = 0; fd < MOST_FD; fd++) {
        char link[64];
        char target[256] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t size = readlink(link, target, sizeof target - 1);
        target[size > 0 ? size : 0] = '\0';
        conform_true(!after[fd] || before[fd],
                     "descriptor %d (%s) would be inherited by programs: open it with "
                     "O_CLOEXEC",
                     fd, target);
    }
    const int status = conform_in_child(run_true, NULL, 10);
    conform_true(WIFEXITED(status) && WEXITSTATUS(status) == 0,
                 "a program started then ends with status %x", (unsigned)status);
    launch_and_want(context, 4);
    rubus_context_destroy(context);
}

/* --- exit ------------------------------------------------------------------------- */

static void exit_busy(void *argument)
{
    const int how = *(const int *)argument;
    rubus_context *context = conform_open();
    launch_and_want(context, 5);
    rubus_module *module =
        conform_module(context, "kernel more(inout int u[n]) { u += 1; }", RUBUS_F32);
    rubus_array *u = NULL;
    conform_ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(100000), &u));
    const int launches = conform_interprets() ? 2 : 50;
    for (int i = 0; i < launches; i++) {
        conform_ok(rubus_launch(conform_kernel(module, "more"), u));
    }
    if (how % 3 == 1) {
        conform_ok(rubus_context_synchronize(context));
    } else if (how % 3 == 2) {
        rubus_array_destroy(u);
        rubus_context_destroy(context); // the module still holds it
    }
    exit(0);
}

static void exit_without_shutdown(void)
{
    for (int round = 0; round < 12; round++) {
        const int status = conform_in_child(exit_busy, &round, 60);
        conform_true(WIFEXITED(status) && WEXITSTATUS(status) == 0,
                     "a process that exits with a context open ends with %s %d",
                     WIFSIGNALED(status) ? "signal" : "status",
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
}

/* --- the kernel cache ------------------------------------------------------------- */

typedef struct cache_job {
    const char *folder;
    int first;
} cache_job;

static void use_cache(void *argument)
{
    const cache_job *job = argument;
    setenv("RUBUS_CACHE_DIR", job->folder, 1);
    rubus_context *context = conform_open();
    for (int i = 0; i < 4; i++) {
        launch_and_want(context, 10 + (job->first + i) % 4);
    }
    rubus_context_destroy(context);
    rubus_shutdown();
}

static void use_together(const char *folder, const char *when)
{
    enum { PROCESSES = 6 };
    pid_t pid[PROCESSES];
    fflush(NULL);
    for (int i = 0; i < PROCESSES; i++) {
        pid[i] = fork();
        conform_true(pid[i] >= 0, "fork: %s", strerror(errno));
        if (pid[i] == 0) {
            cache_job job = {folder, i};
            conform_say("%s, process %d: ", when, i);
            use_cache(&job);
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        waitpid(pid[i], &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            conform_fail("%s: process %d of %d ended with %s %d", when, i, PROCESSES,
                         WIFSIGNALED(status) ? "signal" : "status",
                         WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        }
    }
}

/* Spoils every file of the cache: cut, emptied, or filled with other bytes. */
static int spoil(const char *folder, int how)
{
    int n = 0;
    DIR *files = opendir(folder);
    const struct dirent *entry;
    while (files != NULL && (entry = readdir(files)) != NULL) {
        char path[1024];
        struct stat info;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || stat(path, &info) != 0) {
            continue;
        }
        if (S_ISDIR(info.st_mode)) {
            n += spoil(path, how);
            continue;
        }
        n++;
        if (how == 0) {
            conform_true(truncate(path, info.st_size / 2) == 0, "truncate");
        } else if (how == 1) {
            conform_true(truncate(path, 0) == 0, "truncate");
        } else {
            const int fd = open(path, O_WRONLY | O_CLOEXEC);
            static const char junk[] = "these bytes are not what was stored here";
            conform_true(fd >= 0 && pwrite(fd, junk, sizeof junk, info.st_size / 3) > 0,
                         "pwrite");
            close(fd);
        }
    }
    if (files != NULL) {
        closedir(files);
    }
    return n;
}

static void two_processes_share_cache(void)
{
    // Below the folder of this run, which is removed in any case.
    const char *own = getenv("RUBUS_CACHE_DIR");
    char folder[300];
    snprintf(folder, sizeof folder, "%s/shared-XXXXXX", own != NULL ? own : "/tmp");
    conform_true(mkdtemp(folder) != NULL, "%s: %s", folder, strerror(errno));
    char cache[320];
    snprintf(cache, sizeof cache, "%s/cache", folder);
    use_together(cache, "a cold cache");
    use_together(cache, "a warm cache");
    static const char *const states[] = {"files cut in half", "files emptied",
                                         "files with other bytes"};
    for (int how = 0; how < 3; how++) {
        spoil(cache, how);
        use_together(cache, states[how]);
    }
    conform_remove_tree(cache);
    conform_true(mkdir(cache, 0500) == 0, "mkdir: %s", strerror(errno));
    use_together(cache, "a folder that cannot be written");
    use_together("/proc/no/such/folder", "a folder that cannot be made");
    use_together("off", "no cache");
    conform_remove_tree(folder);
}

const conform_check conform_process_checks[] = {
    {"P01_fork_returns_FORKED", CONFORM_BASIC, 60, 0,
     "calls in a forked child come back with RUBUS_EFORKED, and the parent goes on",
     fork_returns_forked},
    {"P02_exec_after_use", CONFORM_BASIC, 60, 0,
     "programs can be started, and inherit no descriptor of the plugin", exec_after_use},
    {"P03_two_processes_share_cache", CONFORM_FULL, 300, 0,
     "6 processes on one kernel cache: cold, warm, spoilt, not writable",
     two_processes_share_cache},
    {"P04_exit_without_shutdown", CONFORM_FULL, 240, 0,
     "a process that exits in the midst of work ends with status 0",
     exit_without_shutdown},
    {.name = NULL},
};
