/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_CONFORM_PROCESS_H
#define RUBUS_CONFORM_PROCESS_H
/* The state of a process that a plugin must leave alone, and what a process has open. */
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include "conform.h"

enum { CONFORM_NSIGNAL = 65, CONFORM_NVARIABLE = 1024 };

typedef struct conform_process {
    char locale[256];
    char folder[1024];
    int nvariable;
    uint64_t variable[CONFORM_NVARIABLE]; // digests of "NAME=value"
    unsigned mask;                        // of new files
    sigset_t blocked;
    struct sigaction action[CONFORM_NSIGNAL];
    int rounding;
    unsigned float_control; // of the CPU; 0 where not known
    cpu_set_t affinity;
    struct rlimit limit[RLIMIT_NLIMITS];
    uint64_t output; // what stdout and stderr lead to
} conform_process;

void conform_process_look(conform_process *out);
/* Fails at the first difference. */
void conform_process_same(const conform_process *before, const conform_process *after,
                          const char *what);

int conform_count_fds(void);
int conform_count_threads(void);
int conform_count_maps(void);
/* Fails if there are more than `most` threads, also a moment later: one that was joined
 * may still be seen. */
void conform_threads_at_most(int most, const char *when);
size_t conform_resident_bytes(void);

#endif
