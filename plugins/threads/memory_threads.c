/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers of the threads backend. Large ones are mappings of their own, aligned to 2 MiB
 * and advised to use pages of that size, first touched by the threads that will work on
 * them. Their starts are staggered, so that the same element of several arrays does not
 * fall on the same place of a 4 KiB page (which stalls loads behind stores). Large copies
 * and fills use stores that pass the caches by.
 */
#include "config.h"

#include "plugins/threads/threads_plugin.h"

#include "plugins/threads/cpu_count.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define ALIGNMENT 64
#define PAGE 4096u
#define HUGE_PAGE (UINT64_C(2) << 20)
/* From here on a buffer is a mapping of its own. */
#define MAP_SIZE (UINT64_C(4) << 20)
/* From here on the free memory is looked at before it is asked for. */
#define LOOK_SIZE (UINT64_C(256) << 20)
/* From here on copies and fills are shared among the threads. */
#define SHARE_SIZE (UINT64_C(256) << 10)
/* Distance of successive starts within a page; 64 different ones. */
#define STAGGER 320u

/* --- allocation ------------------------------------------------------------------- */

static rubus_status out_of_memory(threads_context *ctx, uint64_t nbyte, const char *why)
{
    return ctx->host->fail(ctx->host->ctx, RUBUS_EDEVMEM,
                           "creating a buffer: %" PRIu64 " bytes (%.2f GiB) asked: %s; "
                           "use smaller arrays, f32, or free arrays first",
                           nbyte, (double)nbyte / (1 << 30), why);
}

/* Refuses what cannot be had, before the system kills the process for touching it. */
static rubus_status check_size(threads_context *ctx, uint64_t nbyte)
{
    char why[160];
    uint64_t total = ctx->be->mem_total;
    if (nbyte > (total != 0 ? total : SIZE_MAX / 2)) {
        snprintf(why, sizeof why, "this process may use %" PRIu64 " bytes (%.2f GiB)",
                 total, (double)total / (1 << 30));
        return out_of_memory(ctx, nbyte, why);
    }
    uint64_t available = nbyte >= LOOK_SIZE ? threads_memory_available() : 0;
    if (available != 0 && nbyte > available) {
        snprintf(why, sizeof why, "%" PRIu64 " bytes (%.2f GiB) are free", available,
                 (double)available / (1 << 30));
        return out_of_memory(ctx, nbyte, why);
    }
    return RUBUS_OK;
}

/* A mapping whose byte `lead` is the start of the data; trimmed to what is needed. */
static rubus_status map_pages(threads_context *ctx, threads_buffer *buffer, uint64_t lead)
{
    uint64_t size = (lead + buffer->nbyte + PAGE - 1) / PAGE * PAGE;
    uint64_t room = size + HUGE_PAGE;
    unsigned char *base =
        mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
        return out_of_memory(ctx, buffer->nbyte, strerror(errno));
    }
    uint64_t skip = (HUGE_PAGE - (uintptr_t)base % HUGE_PAGE) % HUGE_PAGE;
    if (skip > 0) {
        munmap(base, skip);
    }
    if (room - skip > size) {
        munmap(base + skip + size, room - skip - size);
    }
#if defined(MADV_HUGEPAGE)
    madvise(base + skip, size, MADV_HUGEPAGE); // only advice: a kernel without it is fine
#endif
    buffer->base = base + skip;
    buffer->mapped = size;
    buffer->data = base + skip + lead;
    return RUBUS_OK;
}

typedef struct touch_work {
    threads_context *ctx;
    threads_buffer *buffer;
} touch_work;

static void touch(void *arg, int thread)
{
    touch_work *work = arg;
    uint64_t first;
    uint64_t end;
    threads_partition_line(work->buffer->mapped, PAGE, thread, work->ctx->be->nthread,
                           &first, &end);
    volatile unsigned char *page = work->buffer->base;
    for (uint64_t at = first; at < end; at += PAGE) {
        page[at] = 0;
    }
}

rubus_status threads_buffer_reserve(threads_context *ctx, uint64_t nbyte,
                                    threads_buffer **out_buffer)
{
    const rubus_host *host = ctx->host;
    rubus_status st = check_size(ctx, nbyte);
    if (st != RUBUS_OK) {
        return st;
    }
    threads_buffer *buffer =
        host->alloc(host->ctx, sizeof *buffer, _Alignof(max_align_t));
    if (buffer == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(buffer, 0, sizeof *buffer);
    buffer->nbyte = nbyte;
    uint64_t lead = nbyte >= PAGE ? ctx->nbuffer * STAGGER % PAGE : 0;
    if (nbyte < MAP_SIZE) {
        buffer->base = host->alloc(host->ctx, lead + nbyte, ALIGNMENT);
        buffer->data = buffer->base != NULL ? (unsigned char *)buffer->base + lead : NULL;
        st = buffer->base != NULL
                 ? RUBUS_OK
                 : out_of_memory(ctx, nbyte, "the allocator has no more");
    } else {
        st = map_pages(ctx, buffer, lead);
    }
    if (st != RUBUS_OK) {
        threads_buffer_destroy(ctx, buffer);
        return st;
    }
    ctx->nbuffer += nbyte >= PAGE;
    *out_buffer = buffer;
    return RUBUS_OK;
}

rubus_status threads_buffer_create(void *context, uint64_t nbyte, void **out_buffer)
{
    threads_context *ctx = context;
    threads_buffer *buffer = NULL;
    rubus_status st = nbyte >= MAP_SIZE ? threads_context_pool(ctx) : RUBUS_OK;
    if (st == RUBUS_OK) {
        st = threads_buffer_reserve(ctx, nbyte, &buffer);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    if (buffer->mapped != 0) {
        touch_work work = {.ctx = ctx, .buffer = buffer};
        threads_pool_run(ctx->pool, touch, &work);
    }
    *out_buffer = buffer;
    return RUBUS_OK;
}

void threads_buffer_destroy(void *context, void *pointer)
{
    threads_context *ctx = context;
    threads_buffer *buffer = pointer;
    if (buffer == NULL) {
        return;
    }
    if (buffer->mapped != 0) {
        munmap(buffer->base, buffer->mapped);
    } else if (buffer->base != NULL) {
        ctx->host->free(ctx->host->ctx, buffer->base);
    }
    ctx->host->free(ctx->host->ctx, buffer);
}

rubus_status threads_locality(void *ctx, const void *buffer, uint32_t *out_where)
{
    (void)ctx;
    (void)buffer;
    *out_where = RUBUS_AT_HOST;
    return RUBUS_OK;
}

/* --- copies and fills ------------------------------------------------------------- */

typedef struct move_work {
    unsigned char *dst;
    const unsigned char *src; /* NULL: fill with the pattern */
    uint64_t n;
    int nthread;
    bool stream;
    unsigned char pattern[ALIGNMENT]; /* as it stands at an aligned address */
} move_work;

/* dst is aligned to ALIGNMENT, n is a multiple of it. Both loops are the whole trick: a
 * line is written without having been read. */
static void stream_copy(unsigned char *dst, const unsigned char *src, uint64_t n)
{
#if defined(__SSE2__)
    for (uint64_t i = 0; i < n; i += ALIGNMENT) {
        const __m128i *from = (const __m128i *)(const void *)(src + i);
        __m128i *to = (__m128i *)(void *)(dst + i);
        __m128i a = _mm_loadu_si128(from);
        __m128i b = _mm_loadu_si128(from + 1);
        __m128i c = _mm_loadu_si128(from + 2);
        __m128i d = _mm_loadu_si128(from + 3);
        _mm_stream_si128(to, a);
        _mm_stream_si128(to + 1, b);
        _mm_stream_si128(to + 2, c);
        _mm_stream_si128(to + 3, d);
    }
    _mm_sfence();
#else
    memcpy(dst, src, n);
#endif
}

/* Likewise; the pattern is repeated. */
static void fill_lines(unsigned char *dst, const unsigned char pattern[ALIGNMENT],
                       uint64_t n, bool stream)
{
#if defined(__SSE2__)
    if (stream) {
        const __m128i *from = (const __m128i *)(const void *)pattern;
        __m128i a = _mm_loadu_si128(from);
        __m128i b = _mm_loadu_si128(from + 1);
        __m128i c = _mm_loadu_si128(from + 2);
        __m128i d = _mm_loadu_si128(from + 3);
        for (uint64_t i = 0; i < n; i += ALIGNMENT) {
            __m128i *to = (__m128i *)(void *)(dst + i);
            _mm_stream_si128(to, a);
            _mm_stream_si128(to + 1, b);
            _mm_stream_si128(to + 2, c);
            _mm_stream_si128(to + 3, d);
        }
        _mm_sfence();
        return;
    }
#else
    (void)stream;
#endif
    for (uint64_t i = 0; i < n; i += ALIGNMENT) {
        memcpy(dst + i, pattern, ALIGNMENT);
    }
}

/* Fills n bytes at any address: a head up to the next line, whole lines, a tail. */
static void fill_bytes(const move_work *work, uint64_t first, uint64_t end)
{
    unsigned char *dst = work->dst + first;
    uint64_t n = end - first;
    uint64_t phase = (uintptr_t)dst % ALIGNMENT;
    if (phase != 0) {
        uint64_t head = ALIGNMENT - phase < n ? ALIGNMENT - phase : n;
        memcpy(dst, work->pattern + phase, head);
        dst += head;
        n -= head;
    }
    uint64_t lines = n / ALIGNMENT * ALIGNMENT;
    fill_lines(dst, work->pattern, lines, work->stream);
    memcpy(dst + lines, work->pattern, n - lines);
}

static void copy_bytes(const move_work *work, uint64_t first, uint64_t end)
{
    unsigned char *dst = work->dst + first;
    const unsigned char *src = work->src + first;
    uint64_t n = end - first;
    if (!work->stream || n < 2 * ALIGNMENT) {
        memcpy(dst, src, n);
        return;
    }
    uint64_t head = (ALIGNMENT - (uintptr_t)dst % ALIGNMENT) % ALIGNMENT;
    uint64_t lines = (n - head) / ALIGNMENT * ALIGNMENT;
    memcpy(dst, src, head);
    stream_copy(dst + head, src + head, lines);
    memcpy(dst + head + lines, src + head + lines, n - head - lines);
}

static void move_share(void *arg, int thread)
{
    const move_work *work = arg;
    uint64_t first;
    uint64_t end;
    threads_partition_line(work->n, PAGE, thread, work->nthread, &first, &end);
    if (first == end) {
        return;
    }
    if (work->src != NULL) {
        copy_bytes(work, first, end);
    } else {
        fill_bytes(work, first, end);
    }
}

/* Runs the work on all threads if it is large. */
static rubus_status move(threads_context *ctx, move_work *work)
{
    if (work->n == 0) {
        return RUBUS_OK;
    }
    work->stream = work->n >= ctx->be->stream_size;
    work->nthread = 1;
    if (work->n < SHARE_SIZE || ctx->be->nthread == 1) {
        move_share(work, 0);
        return RUBUS_OK;
    }
    rubus_status st = threads_context_pool(ctx);
    if (st == RUBUS_OK) {
        work->nthread = ctx->be->nthread;
        threads_pool_run(ctx->pool, move_share, work);
    }
    return st;
}

static rubus_status check_range(threads_context *ctx, const char *what,
                                const threads_buffer *buffer, uint64_t first, uint64_t n)
{
    if (first > buffer->nbyte || n > buffer->nbyte - first) {
        return ctx->host->fail(ctx->host->ctx, RUBUS_EINVAL,
                               "%s: bytes %" PRIu64 " to %" PRIu64
                               " asked of a buffer of %" PRIu64,
                               what, first, first + n, buffer->nbyte);
    }
    return RUBUS_OK;
}

rubus_status threads_write(void *context, void *pointer, uint64_t first, const void *src,
                           uint64_t n)
{
    threads_context *ctx = context;
    threads_buffer *buffer = pointer;
    rubus_status st = check_range(ctx, "writing to a buffer", buffer, first, n);
    if (st != RUBUS_OK) {
        return st;
    }
    move_work work = {.dst = buffer->data + first, .src = src, .n = n};
    return move(ctx, &work);
}

rubus_status threads_read(void *context, const void *pointer, uint64_t first, void *dst,
                          uint64_t n)
{
    threads_context *ctx = context;
    const threads_buffer *buffer = pointer;
    rubus_status st = check_range(ctx, "reading a buffer", buffer, first, n);
    if (st != RUBUS_OK) {
        return st;
    }
    move_work work = {.dst = dst, .src = buffer->data + first, .n = n};
    return move(ctx, &work);
}

rubus_status threads_fill(void *context, void *pointer, uint64_t first, uint64_t n,
                          const void *pattern, uint32_t pattern_size)
{
    threads_context *ctx = context;
    threads_buffer *buffer = pointer;
    rubus_status st = check_range(ctx, "filling a buffer", buffer, first, n);
    if (st != RUBUS_OK) {
        return st;
    }
    if (pattern_size == 0 || pattern_size > 16 ||
        (pattern_size & (pattern_size - 1)) != 0 || first % pattern_size != 0 ||
        n % pattern_size != 0) {
        return ctx->host->fail(ctx->host->ctx, RUBUS_EINVAL,
                               "filling a buffer: a pattern of %" PRIu32
                               " bytes does not fit bytes %" PRIu64 " to %" PRIu64,
                               pattern_size, first, first + n);
    }
    // The data are aligned to the pattern, so its phase at an aligned address is 0.
    move_work work = {.dst = buffer->data + first, .n = n};
    for (uint32_t i = 0; i < ALIGNMENT; i += pattern_size) {
        memcpy(work.pattern + i, pattern, pattern_size);
    }
    return move(ctx, &work);
}

rubus_status threads_copy(void *context, void *dst_pointer, uint64_t dst_first,
                          const void *src_pointer, uint64_t src_first, uint64_t n)
{
    threads_context *ctx = context;
    threads_buffer *dst = dst_pointer;
    const threads_buffer *src = src_pointer;
    rubus_status st = check_range(ctx, "copying to a buffer", dst, dst_first, n);
    if (st == RUBUS_OK) {
        st = check_range(ctx, "copying from a buffer", src, src_first, n);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    move_work work = {.dst = dst->data + dst_first, .src = src->data + src_first, .n = n};
    return move(ctx, &work);
}

rubus_status threads_map(void *context, void *pointer, uint32_t access, void **out_host)
{
    (void)context;
    (void)access;
    threads_buffer *buffer = pointer;
    *out_host = buffer->data;
    return RUBUS_OK;
}

rubus_status threads_unmap(void *ctx, void *buffer)
{
    (void)ctx;
    (void)buffer;
    return RUBUS_OK;
}
