/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_THREADS_CPU_COUNT_H
#define RUBUS_THREADS_CPU_COUNT_H
/*
 * What of the machine this process may use: processors, memory, and their names.
 */
#include <stddef.h>
#include <stdint.h>

/* Processors of the affinity mask; at least 1. */
int threads_cpu_affinity(void);
/* Processors that the cgroup's quota leaves, rounded up; 0 without a limit. self: the
 * file that names the groups of a process, mount: the folder of the groups. */
int threads_cpu_quota(const char *self, const char *mount);
/* Bytes that the cgroup leaves; 0 without a limit. */
uint64_t threads_memory_limit(const char *self, const char *mount);
/* The smaller of affinity and quota of this process. */
int threads_cpu_count(void);
/* Bytes of physical memory, cut by the cgroup's limit; 0 if not known. */
uint64_t threads_memory_total(void);
/* Bytes that can be had without swapping others out, and free swap; 0 if not known. */
uint64_t threads_memory_available(void);

/* "AMD EPYC 9654", or the name of the architecture. */
void threads_cpu_name(char *out, size_t room);
/* The lines of the first processor that tell what its code may use: vendor, model,
 * features. Returns the number of bytes written, without the NUL. */
size_t threads_cpu_features(char *out, size_t room);

#define THREADS_CGROUP_SELF "/proc/self/cgroup"
#define THREADS_CGROUP_MOUNT "/sys/fs/cgroup"

#endif
