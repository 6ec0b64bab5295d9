/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counted allocation. Every block of the library comes from here, so that a test can let
 * the n-th allocation fail and can see that nothing is left over. Failures leave an error
 * text with the size. The counter of live blocks is the only cost in ordinary use.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* No process has so much address space; a sanitizer would abort on such a size. */
static const size_t size_limit = (size_t)1 << 47;

static _Atomic int64_t live_blocks;
/* Allocations until failure sets in (1: the next one); 0: none is injected. */
static _Atomic int64_t fail_countdown;
static _Thread_local int64_t fail_countdown_thread;

void rubus__alloc_fail_after(int64_t n, bool thread_only)
{
    fail_countdown_thread = thread_only ? n : 0;
    atomic_store(&fail_countdown, thread_only ? 0 : n);
}

int64_t rubus__alloc_fail_swap(int64_t n)
{
    const int64_t before = fail_countdown_thread;
    fail_countdown_thread = n;
    return before;
}

int64_t rubus__alloc_live(void)
{
    return atomic_load(&live_blocks);
}

static bool fail_injected(void)
{
    if (fail_countdown_thread != 0) {
        if (fail_countdown_thread == 1) {
            return true;
        }
        fail_countdown_thread--;
    }
    int64_t n = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    while (n > 1) {
        if (atomic_compare_exchange_weak(&fail_countdown, &n, n - 1)) {
            return false;
        }
    }
    return n == 1;
}

static void *counted(void *p, size_t nbyte)
{
    if (p == NULL) {
        rubus__fail(RUBUS_ENOMEM, "out of host memory: %zu bytes were asked for", nbyte);
        return NULL;
    }
    atomic_fetch_add_explicit(&live_blocks, 1, memory_order_relaxed);
    return p;
}

void *rubus__alloc(size_t nbyte)
{
    const bool fails = fail_injected() || nbyte > size_limit;
    return counted(fails ? NULL : calloc(1, nbyte == 0 ? 1 : nbyte), nbyte);
}

void *rubus__alloc_array(size_t count, size_t size)
{
    size_t nbyte = 0;
    if (__builtin_mul_overflow(count, size, &nbyte)) {
        rubus__fail(RUBUS_ENOMEM,
                    "out of host memory: %zu elements of %zu bytes were asked for", count,
                    size);
        return NULL;
    }
    return rubus__alloc(nbyte);
}

void *rubus__alloc_aligned(size_t nbyte, size_t align)
{
    if (fail_injected() || nbyte > size_limit) {
        return counted(NULL, nbyte);
    }
    // posix_memalign wants at least the size of a pointer
    void *p = NULL;
    const size_t least = align < sizeof(void *) ? sizeof(void *) : align;
    if (posix_memalign(&p, least, nbyte == 0 ? 1 : nbyte) != 0) {
        p = NULL;
    }
    return counted(p, nbyte);
}

void *rubus__realloc(void *p, size_t nbyte)
{
    const bool fails = fail_injected() || nbyte > size_limit;
    void *grown = fails ? NULL : realloc(p, nbyte == 0 ? 1 : nbyte);
    if (grown == NULL || p == NULL) {
        return counted(grown, nbyte);
    }
    return grown;
}

static char *copy_of(const char *text, size_t size)
{
    char *copy = rubus__alloc(size + 1);
    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
}

char *rubus__strndup(const char *text, size_t n)
{
    return copy_of(text, strnlen(text, n));
}

char *rubus__strdup(const char *text)
{
    return copy_of(text, strlen(text));
}

char *rubus__format(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    const int n = rubus__vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *out = n < 0 ? NULL : rubus__alloc((size_t)n + 1);
    if (out != NULL) {
        rubus__vsnprintf(out, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    return out;
}

void rubus__free(void *p)
{
    if (p != NULL) {
        atomic_fetch_sub_explicit(&live_blocks, 1, memory_order_relaxed);
        free(p);
    }
}
