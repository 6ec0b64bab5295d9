/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the library does for a plugin: error text, log, memory, options, kernel cache.
 * Each backend gets a table of its own, whose ctx is the backend, so that lines carry its
 * name and options are those it was started with. Any thread may call, also while `open`
 * runs: nothing here takes the registry's mutex.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

#include <string.h>

#include "libcore/runtime/kernel_cache.h"

static rubus_status host_fail(void *ctx, rubus_status st, const char *fmt, ...)
    RUBUS_PRINTF(3, 4);

static rubus_status host_fail(void *ctx, rubus_status st, const char *fmt, ...)
{
    const rubus__backend *backend = ctx;
    va_list args;
    va_start(args, fmt);
    if (rubus__error_held()) {
        char text[512];
        rubus__vsnprintf(text, sizeof text, fmt, args);
        rubus__log(RUBUS__LOG_WARNING, backend->plugin->name, "%s", text);
    } else {
        rubus__vfail(st, fmt, args);
    }
    va_end(args);
    return st;
}

static void host_log(void *ctx, int32_t level, const char *text)
{
    const rubus__backend *backend = ctx;
    if (text != NULL) {
        rubus__log(level, backend->plugin->name, "%s", text);
    }
}

static void *host_alloc(void *ctx, uint64_t size, uint64_t align)
{
    const rubus__backend *backend = ctx;
    if (align == 0 || (align & (align - 1)) != 0 || align > SIZE_MAX || size > SIZE_MAX) {
        rubus__fail(
            RUBUS_EINVAL, "backend '%s' asks for %llu bytes at a multiple of %llu",
            backend->plugin->name, (unsigned long long)size, (unsigned long long)align);
        return NULL;
    }
    return rubus__alloc_aligned((size_t)size, (size_t)align);
}

static void host_free(void *ctx, void *p)
{
    (void)ctx;
    rubus__free(p);
}

static const char *host_option(void *ctx, const char *key)
{
    const rubus__backend *backend = ctx;
    return key == NULL ? NULL : rubus__options_get(&backend->options, key);
}

/* The suffix becomes part of a file name. */
static bool suffix_fits(const char *suffix)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
    enum { SUFFIX_MOST = 128 };
    return suffix != NULL && suffix[0] != '\0' &&
           strspn(suffix, letters) == strlen(suffix) && strlen(suffix) <= SUFFIX_MOST;
}

static rubus_status bad_suffix(const rubus__backend *backend, const char *suffix)
{
    return rubus__fail(
        RUBUS_EINVAL,
        "backend '%s': '%.140s' is no suffix of a cache entry: 1 to 128 of "
        "small letters, digits, '.' and '-'",
        backend->plugin->name, suffix == NULL ? "" : suffix);
}

static rubus_status host_cache_get(void *ctx, const uint8_t key[32], const char *suffix,
                                   int32_t *out_fd)
{
    if (!suffix_fits(suffix)) {
        return bad_suffix(ctx, suffix);
    }
    return rubus__cache_get(key, suffix, out_fd);
}

static rubus_status host_cache_put(void *ctx, const uint8_t key[32], const char *suffix,
                                   int32_t fd)
{
    if (!suffix_fits(suffix)) {
        return bad_suffix(ctx, suffix);
    }
    return rubus__cache_put(key, suffix, fd);
}

void rubus__host_fill(rubus__backend *backend)
{
    backend->host = (rubus_host){
        .struct_size = sizeof(rubus_host),
        .abi_major = RUBUS_ABI_MAJOR,
        .abi_minor = RUBUS_ABI_MINOR,
        .ctx = backend,
        .fail = host_fail,
        .log = host_log,
        .alloc = host_alloc,
        .free = host_free,
        .option = host_option,
        .cache_get = host_cache_get,
        .cache_put = host_cache_put,
    };
}
