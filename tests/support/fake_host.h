/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_FAKE_HOST_H
#define RUBUS_TESTS_FAKE_HOST_H
/*
 * The services of the library for a plugin, without the library: the last error text,
 * counted allocations that can be made to fail, options from a list, and a kernel cache
 * in a folder of the test. One for each test program; the counters are atomic.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rubus/backend.h>

#define FAKE_OPTIONS 8

typedef struct fake_host {
    rubus_host host;
    char text[16384]; /* of the last failure */
    _Atomic int nfail;
    _Atomic int64_t live;  /* blocks not yet freed */
    _Atomic int64_t count; /* allocations so far */
    int64_t fail_at;       /* this one and all later ones fail; 0: none */
    const char *key[FAKE_OPTIONS];
    const char *value[FAKE_OPTIONS];
    char folder[512]; /* of the cache; empty: no cache */
    bool deny_put;
    _Atomic int nget;
    _Atomic int nhit;
    _Atomic int nput;
    _Atomic int nwarning;
} fake_host;

RUBUS_PRINTF(3, 4)
static rubus_status fake_fail(void *ctx, rubus_status st, const char *fmt, ...)
{
    fake_host *fake = ctx;
    va_list args;
    va_start(args, fmt);
    vsnprintf(fake->text, sizeof fake->text, fmt, args);
    va_end(args);
    fake->nfail++;
    return st;
}

static void fake_log(void *ctx, int32_t level, const char *text)
{
    fake_host *fake = ctx;
    fake->nwarning += level <= 2 && text != NULL;
}

static void *fake_alloc(void *ctx, uint64_t size, uint64_t align)
{
    fake_host *fake = ctx;
    int64_t number = ++fake->count;
    void *p = NULL;
    if ((fake->fail_at != 0 && number >= fake->fail_at) ||
        posix_memalign(&p, align < sizeof p ? sizeof p : align, size) != 0) {
        fake_fail(ctx, RUBUS_ENOMEM, "out of memory: %llu bytes",
                  (unsigned long long)size);
        return NULL;
    }
    memset(p, 0xa5, size);
    fake->live++;
    return p;
}

static void fake_free(void *ctx, void *p)
{
    fake_host *fake = ctx;
    if (p != NULL) {
        fake->live--;
        free(p);
    }
}

static const char *fake_option(void *ctx, const char *key)
{
    const fake_host *fake = ctx;
    for (int i = 0; i < FAKE_OPTIONS; i++) {
        if (fake->key[i] != NULL && strcmp(fake->key[i], key) == 0) {
            return fake->value[i];
        }
    }
    return NULL;
}

static inline void fake_set(fake_host *fake, const char *key, const char *value)
{
    int at = 0;
    while (fake->key[at] != NULL && strcmp(fake->key[at], key) != 0) {
        at++;
    }
    fake->key[at] = key;
    fake->value[at] = value;
}

static void fake_cache_path(const fake_host *fake, const uint8_t key[32],
                            const char *suffix, char out[1024])
{
    int n = snprintf(out, 1024, "%s/", fake->folder);
    for (int i = 0; i < 32; i++) {
        n += snprintf(out + n, 1024 - (size_t)n, "%02x", key[i]);
    }
    snprintf(out + n, 1024 - (size_t)n, ".%s", suffix);
}

static rubus_status fake_cache_get(void *ctx, const uint8_t key[32], const char *suffix,
                                   int32_t *out_fd)
{
    fake_host *fake = ctx;
    char path[1024];
    fake->nget++;
    fake_cache_path(fake, key, suffix, path);
    *out_fd = fake->folder[0] != '\0' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    fake->nhit += *out_fd >= 0;
    return RUBUS_OK;
}

static rubus_status fake_cache_put(void *ctx, const uint8_t key[32], const char *suffix,
                                   int32_t fd)
{
    fake_host *fake = ctx;
    char path[1024];
    fake->nput++;
    if (fake->deny_put || fake->folder[0] == '\0') {
        return fake_fail(ctx, RUBUS_EIO, "the cache cannot be written");
    }
    fake_cache_path(fake, key, suffix, path);
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char bytes[4096];
    ssize_t n;
    off_t at = 0;
    while (to >= 0 && (n = pread(fd, bytes, sizeof bytes, at)) > 0) {
        if (write(to, bytes, (size_t)n) != n) {
            break;
        }
        at += n;
    }
    if (to < 0 || close(to) != 0) {
        return fake_fail(ctx, RUBUS_EIO, "%s: %s", path, strerror(errno));
    }
    return RUBUS_OK;
}

static inline void fake_host_init(fake_host *fake)
{
    memset(fake, 0, sizeof *fake);
    fake->host = (rubus_host){.struct_size = sizeof(rubus_host),
                              .abi_major = RUBUS_ABI_MAJOR,
                              .abi_minor = RUBUS_ABI_MINOR,
                              .ctx = fake,
                              .fail = fake_fail,
                              .log = fake_log,
                              .alloc = fake_alloc,
                              .free = fake_free,
                              .option = fake_option,
                              .cache_get = fake_cache_get,
                              .cache_put = fake_cache_put};
}

#endif
