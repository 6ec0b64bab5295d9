/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at the state of the own process, mostly through /proc. */
#include "config.h"

#include "conform_process.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fenv.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

extern char **environ;

static uint64_t digest(const char *text)
{
    uint64_t hash = 1;
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * 0x100000001B3u;
    }
    return (hash ^ 0xFFu) * 0x100000001B3u;
}

static uint64_t file_identity(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 ? (uint64_t)info.st_ino * 31 + info.st_dev : 0;
}

void conform_process_look(conform_process *out)
{
    memset(out, 0, sizeof *out);
    const char *locale = setlocale(LC_ALL, NULL);
    snprintf(out->locale, sizeof out->locale, "%s", locale != NULL ? locale : "");
    if (getcwd(out->folder, sizeof out->folder) == NULL) {
        out->folder[0] = '\0';
    }
    for (char **at = environ; *at != NULL && out->nvariable < CONFORM_NVARIABLE; at++) {
        out->variable[out->nvariable++] = digest(*at);
    }
    out->mask = umask(0);
    umask((mode_t)out->mask);
    pthread_sigmask(SIG_SETMASK, NULL, &out->blocked);
    for (int s = 1; s < CONFORM_NSIGNAL; s++) {
        if (sigaction(s, NULL, &out->action[s]) != 0) {
            memset(&out->action[s], 0, sizeof out->action[s]);
        }
    }
    out->rounding = fegetround();
#if defined(__SSE2__)
    out->float_control = _mm_getcsr() & ~0x3fu; // without the flags of exceptions
#endif
    sched_getaffinity(0, sizeof out->affinity, &out->affinity);
    for (int r = 0; r < RLIMIT_NLIMITS; r++) {
        getrlimit((__rlimit_resource_t)r, &out->limit[r]);
    }
    out->output = file_identity(STDOUT_FILENO) * 31 + file_identity(STDERR_FILENO);
}

/* Drivers add variables of their own, which a plugin cannot prevent (PoCL does); what was
 * there must stay. */
static bool variables_stayed(const conform_process *a, const conform_process *b)
{
    bool all = true;
    for (int i = 0; i < a->nvariable && all; i++) {
        bool found = false;
        for (int j = 0; j < b->nvariable && !found; j++) {
            found = a->variable[i] == b->variable[j];
        }
        all = found;
    }
    return all;
}

/* A handler that lies in another library than the plugin is a driver's (LLVM in PoCL sets
 * some). */
static bool is_drivers(const struct sigaction *action)
{
    const char *file = conform_facts_now()->file;
    Dl_info where;
    union {
        void (*function)(int);
        void *address;
    } handler = {action->sa_handler};
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN &&
           dladdr(handler.address, &where) != 0 && where.dli_fname != NULL &&
           file[0] != '\0' && strcmp(where.dli_fname, file) != 0 &&
           strstr(where.dli_fname, ".so") != NULL;
}

static bool action_stayed(const struct sigaction *a, const struct sigaction *b)
{
    return (a->sa_handler == b->sa_handler && a->sa_flags == b->sa_flags) ||
           is_drivers(b);
}

void conform_process_same(const conform_process *a, const conform_process *b,
                          const char *what)
{
    conform_true(strcmp(a->locale, b->locale) == 0, "%s changed the locale from %s to %s",
                 what, a->locale, b->locale);
    conform_true(strcmp(a->folder, b->folder) == 0,
                 "%s changed the working folder from %s to %s", what, a->folder,
                 b->folder);
    conform_true(variables_stayed(a, b),
                 "%s changed or removed a variable of the environment", what);
    conform_true(a->mask == b->mask, "%s changed the umask from %o to %o", what, a->mask,
                 b->mask);
    for (int s = 1; s < CONFORM_NSIGNAL; s++) {
        conform_true(sigismember(&a->blocked, s) == sigismember(&b->blocked, s),
                     "%s changed whether signal %d is blocked", what, s);
        conform_true(action_stayed(&a->action[s], &b->action[s]),
                     "%s changed what signal %d (%s) does", what, s, strsignal(s));
    }
    conform_true(a->rounding == b->rounding, "%s changed the rounding mode", what);
    conform_true(
        a->float_control == b->float_control,
        "%s changed the floating-point mode from %x to %x (0x8040: small numbers "
        "become 0)",
        what, a->float_control, b->float_control);
    conform_true(CPU_EQUAL(&a->affinity, &b->affinity),
                 "%s changed on which CPUs the caller may run", what);
    for (int r = 0; r < RLIMIT_NLIMITS; r++) {
        conform_true(a->limit[r].rlim_cur == b->limit[r].rlim_cur &&
                         a->limit[r].rlim_max == b->limit[r].rlim_max,
                     "%s changed resource limit %d", what, r);
    }
    conform_true(a->output == b->output, "%s changed stdout or stderr", what);
}

static int count_entries(const char *path)
{
    DIR *folder = opendir(path);
    conform_true(folder != NULL, "%s cannot be read", path);
    int n = 0;
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        n += entry->d_name[0] != '.';
    }
    closedir(folder);
    return n;
}

int conform_count_fds(void)
{
    return count_entries("/proc/self/fd") - 1; // without that of the folder itself
}

int conform_count_threads(void)
{
    return count_entries("/proc/self/task");
}

void conform_threads_at_most(int most, const char *when)
{
    int n = 0;
    for (int i = 0; i < 200; i++) {
        n = conform_count_threads();
        if (n <= most) {
            return;
        }
        usleep(10000);
    }
    conform_fail("%d threads %s, at most %d are right", n, when, most);
}

int conform_count_maps(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    conform_true(maps != NULL, "/proc/self/maps cannot be read");
    int n = 0;
    for (int c = fgetc(maps); c != EOF; c = fgetc(maps)) {
        n += c == '\n';
    }
    fclose(maps);
    return n;
}

size_t conform_resident_bytes(void)
{
    unsigned long all = 0;
    unsigned long resident = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    conform_true(statm != NULL && fscanf(statm, "%lu %lu", &all, &resident) == 2,
                 "/proc/self/statm cannot be read");
    fclose(statm);
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}
