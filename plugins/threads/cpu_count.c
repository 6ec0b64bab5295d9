/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the processors and the memory that this process may use: the affinity mask, and
 * the quotas of its control groups, of version 1 and 2. A group is limited by every group
 * above it, so each level is read; a level that cannot be read does not limit.
 */
#include "config.h"

#include "plugins/threads/cpu_count.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PATH_ROOM 4352
/* The first processor of /proc/cpuinfo; some list more than 150 features. */
#define INFO_ROOM 8192

/* The beginning of a file as text; the number of bytes read, 0 if there are none. */
static size_t read_text(const char *path, char *out, size_t room)
{
    out[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    size_t size = 0;
    while (size + 1 < room) {
        ssize_t n = read(fd, out + size, room - 1 - size);
        if (n <= 0) {
            break;
        }
        size += (size_t)n;
    }
    close(fd);
    out[size] = '\0';
    return size;
}

int threads_cpu_affinity(void)
{
#if defined(__linux__)
    for (int room = 1024; room <= 1 << 20; room *= 4) {
        cpu_set_t *set = CPU_ALLOC((size_t)room);
        if (set == NULL) {
            break;
        }
        size_t size = CPU_ALLOC_SIZE((size_t)room);
        int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (count > 0) {
            return count;
        }
    }
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

/* Reads one level of a group; 0 without a limit. */
typedef double (*read_level)(const char *folder);

static double read_number(const char *folder, const char *file)
{
    char path[PATH_ROOM + 64];
    char text[64];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (read_text(path, text, sizeof text) == 0) {
        return 0;
    }
    long long value = strtoll(text, NULL, 10); // "max" and -1 are no limit
    return value > 0 ? (double)value : 0;
}

static double cpu_level_v1(const char *folder)
{
    double quota = read_number(folder, "cpu.cfs_quota_us");
    double period = read_number(folder, "cpu.cfs_period_us");
    return quota > 0 && period > 0 ? quota / period : 0;
}

static double cpu_level_v2(const char *folder)
{
    char path[PATH_ROOM + 64];
    char text[64];
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    if (read_text(path, text, sizeof text) == 0) {
        return 0;
    }
    char *end;
    long long quota = strtoll(text, &end, 10);
    long long period = strtoll(end, NULL, 10);
    return quota > 0 && period > 0 ? (double)quota / (double)period : 0;
}

static double memory_level_v1(const char *folder)
{
    double limit = read_number(folder, "memory.limit_in_bytes");
    return limit < 1e18 ? limit : 0; // no limit is a number near 2^63
}

static double memory_level_v2(const char *folder)
{
    return read_number(folder, "memory.max");
}

/* The least limit of mount/controller/group and all groups above it; 0 without one. */
static double least_limit(const char *mount, const char *controller, const char *group,
                          size_t group_size, read_level level)
{
    char folder[PATH_ROOM];
    int root = snprintf(folder, sizeof folder, "%s%s", mount, controller);
    if (root < 0 || (size_t)root + group_size >= sizeof folder) {
        return 0;
    }
    memcpy(folder + root, group, group_size);
    size_t size = (size_t)root + group_size;
    double least = 0;
    for (;;) {
        folder[size] = '\0';
        double limit = level(folder);
        if (limit > 0 && (least == 0 || limit < least)) {
            least = limit;
        }
        if (size <= (size_t)root) {
            return least;
        }
        do {
            size--;
        } while (size > (size_t)root && folder[size] != '/');
    }
}

/* Whether the list "cpu,cpuacct" (up to its colon) has the name. */
static bool list_has(const char *list, const char *name)
{
    size_t size = strlen(name);
    while (*list != ':' && *list != '\0') {
        size_t n = strcspn(list, ",:");
        if (n == size && strncmp(list, name, n) == 0) {
            return true;
        }
        list += n;
        list += *list == ',';
    }
    return false;
}

static double group_limit(const char *self, const char *mount, const char *controller,
                          read_level v1, read_level v2)
{
    char text[PATH_ROOM];
    read_text(self, text, sizeof text);
    double least = 0;
    for (char *line = text; *line != '\0';) {
        char *end = line + strcspn(line, "\n");
        char *list = strchr(line, ':');
        char *group = list != NULL && list < end ? strchr(list + 1, ':') : NULL;
        if (group != NULL && group < end) {
            size_t size = (size_t)(end - group - 1);
            char folder[256] = "";
            read_level level = NULL;
            if (group == list + 1) {
                level = v2;
            } else if (list_has(list + 1, controller)) {
                level = v1;
                snprintf(folder, sizeof folder, "/%.*s", (int)(group - list - 1),
                         list + 1);
            }
            double limit =
                level != NULL ? least_limit(mount, folder, group + 1, size, level) : 0;
            if (limit > 0 && (least == 0 || limit < least)) {
                least = limit;
            }
        }
        line = end + (*end == '\n');
    }
    return least;
}

int threads_cpu_quota(const char *self, const char *mount)
{
    double limit = group_limit(self, mount, "cpu", cpu_level_v1, cpu_level_v2);
    if (limit <= 0 || limit > 1 << 20) {
        return 0;
    }
    int whole = (int)limit;
    return limit > whole ? whole + 1 : whole;
}

uint64_t threads_memory_limit(const char *self, const char *mount)
{
    return (uint64_t)group_limit(self, mount, "memory", memory_level_v1, memory_level_v2);
}

int threads_cpu_count(void)
{
    int count = threads_cpu_affinity();
    int quota = threads_cpu_quota(THREADS_CGROUP_SELF, THREADS_CGROUP_MOUNT);
    return quota > 0 && quota < count ? quota : count;
}

uint64_t threads_memory_total(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long size = sysconf(_SC_PAGESIZE);
    uint64_t total = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
    uint64_t limit = threads_memory_limit(THREADS_CGROUP_SELF, THREADS_CGROUP_MOUNT);
    return limit > 0 && (total == 0 || limit < total) ? limit : total;
}

/* Kilobytes of one line of /proc/meminfo, in bytes. */
static uint64_t meminfo(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at != NULL ? strtoull(at + strlen(key), NULL, 10) * 1024 : 0;
}

uint64_t threads_memory_available(void)
{
    char text[INFO_ROOM];
    if (read_text("/proc/meminfo", text, sizeof text) == 0) {
        return 0;
    }
    uint64_t available = meminfo(text, "MemAvailable:");
    return available > 0 ? available + meminfo(text, "SwapFree:") : 0;
}

/* The line of the first processor whose key is exactly this; NULL if there is none. */
static const char *info_line(const char *text, const char *key)
{
    size_t size = strlen(key);
    while (*text != '\0') {
        size_t name = strcspn(text, ":\n");
        size_t blank = name;
        while (blank > 0 && (text[blank - 1] == ' ' || text[blank - 1] == '\t')) {
            blank--;
        }
        if (blank == size && text[name] == ':' && strncmp(text, key, size) == 0) {
            return text;
        }
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return NULL;
}

static void read_first_cpu(char out[INFO_ROOM])
{
    read_text("/proc/cpuinfo", out, INFO_ROOM);
    char *second = strstr(out, "\n\n");
    if (second != NULL) {
        second[1] = '\0';
    }
}

void threads_cpu_name(char *out, size_t room)
{
    static const char *const keys[] = {"model name", "Model", "cpu model", "cpu",
                                       "uarch"};
    char text[INFO_ROOM];
    read_first_cpu(text);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *line = info_line(text, keys[i]);
        if (line != NULL) {
            const char *value = line + strcspn(line, ":") + 1;
            value += strspn(value, " \t");
            snprintf(out, room, "%.*s", (int)strcspn(value, "\n"), value);
            return;
        }
    }
    struct utsname system;
    snprintf(out, room, "%s processor", uname(&system) == 0 ? system.machine : "unknown");
}

size_t threads_cpu_features(char *out, size_t room)
{
    static const char *const keys[] = {"vendor_id",
                                       "cpu family",
                                       "model",
                                       "model name",
                                       "stepping",
                                       "flags",
                                       "Features",
                                       "CPU implementer",
                                       "CPU variant",
                                       "CPU part",
                                       "CPU architecture",
                                       "cpu",
                                       "isa",
                                       "uarch"};
    char text[INFO_ROOM];
    read_first_cpu(text);
    size_t size = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *line = info_line(text, keys[i]);
        size_t n = line != NULL ? strcspn(line, "\n") : 0;
        if (n > 0 && size + n + 2 < room) {
            memcpy(out + size, line, n);
            size += n;
            out[size++] = '\n';
            out[size] = '\0';
        }
    }
    return size;
}
