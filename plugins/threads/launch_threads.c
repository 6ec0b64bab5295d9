/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One launch: the range is cut into a piece for each thread (or many small ones, dealt
 * out as threads become free, where points cost very different amounts), each thread gets
 * its own copy of the argument block with its own bounds, and calls the function on it.
 * Small work runs in the calling thread: waking others would cost more than it brings.
 */
#include "config.h"

#include "plugins/threads/threads_plugin.h"

#include <string.h>

#define CACHE_LINE 64
/* Bytes moved plus operations: less than this takes a few microseconds on one core. */
#define SERIAL_COST (UINT64_C(128) << 10)
/* Uneven points of unknown cost: up to so many run in the calling thread. */
#define SERIAL_UNEVEN 64
/* Pieces for each thread where they are dealt out one by one. */
#define UNEVEN_PIECES 32
/* Offsets of the bounds in the argument block. */
#define BLOCK_LO 0
#define BLOCK_HI 24

typedef struct launch_work {
    const threads_entry *entry;
    unsigned char *scratch; // the template, then a block for each thread
    size_t stride;
    threads_partition partition;
    bool uneven;
    _Atomic int64_t next; // uneven: number of the next piece
} launch_work;

/* Makes room for blocks of this size. Here and not where a module is made, because that
 * may go on beside a launch. */
static rubus_status scratch_reserve(threads_context *ctx, uint32_t block_size)
{
    size_t stride = ((size_t)block_size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    if (stride <= ctx->scratch_stride) {
        return RUBUS_OK;
    }
    const rubus_host *host = ctx->host;
    size_t size = stride * ((size_t)ctx->be->nthread + 1);
    unsigned char *scratch = host->alloc(host->ctx, size, CACHE_LINE);
    if (scratch == NULL) {
        return RUBUS_ENOMEM;
    }
    if (ctx->scratch != NULL) {
        host->free(host->ctx, ctx->scratch);
    }
    ctx->scratch = scratch;
    ctx->scratch_stride = stride;
    return RUBUS_OK;
}

/* --- running ---------------------------------------------------------------------- */

static void run_piece(const launch_work *work, unsigned char *block, int64_t k)
{
    int64_t lo[3];
    int64_t hi[3];
    threads_partition_get(&work->partition, k, lo, hi);
    memcpy(block + BLOCK_LO, lo, sizeof lo);
    memcpy(block + BLOCK_HI, hi, sizeof hi);
    work->entry->function(block);
}

static void run_share(void *arg, int thread)
{
    launch_work *work = arg;
    unsigned char *block = work->scratch + work->stride * ((size_t)thread + 1);
    if (!work->uneven) {
        if (thread < work->partition.count) {
            memcpy(block, work->scratch, work->entry->block_size);
            run_piece(work, block, thread);
        }
        return;
    }
    memcpy(block, work->scratch, work->entry->block_size);
    int64_t k;
    while ((k = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed)) <
           work->partition.count) {
        run_piece(work, block, k);
    }
}

/* a * b / c without overflow; c > 0. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b / c;
}

/* Whether the work is too small to be shared. Two bounds of it are known: points times
 * their price, and the bytes of all arrays, each touched about once. */
static bool is_small(const threads_context *ctx, const threads_entry *entry,
                     const rubus_launch_info *info)
{
    if (ctx->be->nthread == 1) {
        return true;
    }
    uint64_t points = 1;
    for (int d = 0; d < 3; d++) {
        points = scale(points, (uint64_t)(info->hi[d] - info->lo[d]), 1);
    }
    if (points == 1) {
        return true;
    }
    if ((entry->flags & RUBUS_ENTRY_UNEVEN) != 0) {
        return points <= SERIAL_UNEVEN;
    }
    uint64_t bytes = 0;
    for (uint32_t b = 0; b < info->nbuffer; b++) {
        bytes = bytes + info->nbyte[b] < bytes ? UINT64_MAX : bytes + info->nbyte[b];
    }
    if (entry->point_bytes == 0) {
        return scale(points, entry->point_ops, 1) < SERIAL_COST && bytes < SERIAL_COST;
    }
    uint64_t price = entry->point_bytes + entry->point_ops;
    return scale(points, price, 1) < SERIAL_COST ||
           scale(bytes, price, entry->point_bytes) < SERIAL_COST;
}

static rubus_status check_launch(const threads_context *ctx, const threads_module *module,
                                 const rubus_launch_info *info)
{
    const rubus_host *host = ctx->host;
    if (info->entry >= module->nentry) {
        return host->fail(host->ctx, RUBUS_EINVAL,
                          "launch: entry %u of a module that has %u",
                          (unsigned)info->entry, (unsigned)module->nentry);
    }
    const threads_entry *entry = &module->entry[info->entry];
    if (info->nbuffer != entry->nbuffer) {
        return host->fail(host->ctx, RUBUS_EINVAL,
                          "launch: %u buffers given to an entry that takes %u",
                          (unsigned)info->nbuffer, (unsigned)entry->nbuffer);
    }
    return RUBUS_OK;
}

rubus_status threads_launch(void *context, void *pointer, const rubus_launch_info *info)
{
    threads_context *ctx = context;
    const threads_module *module = pointer;
    rubus_status st = check_launch(ctx, module, info);
    if (st != RUBUS_OK) {
        return st;
    }
    for (int d = 0; d < 3; d++) {
        if (info->hi[d] <= info->lo[d]) {
            return RUBUS_OK;
        }
    }
    const threads_entry *entry = &module->entry[info->entry];
    bool small = is_small(ctx, entry, info);
    st = scratch_reserve(ctx, entry->block_size);
    if (st == RUBUS_OK && !small) {
        st = threads_context_pool(ctx);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    memcpy(ctx->scratch, info->block, entry->block_size);
    for (uint32_t b = 0; b < entry->nbuffer; b++) {
        const threads_buffer *buffer = info->buffer[b];
        void *data = buffer->data + info->first_byte[b];
        memcpy(ctx->scratch + entry->offset[b], &data, sizeof data);
    }
    launch_work work = {.entry = entry,
                        .scratch = ctx->scratch,
                        .stride = ctx->scratch_stride,
                        .uneven = (entry->flags & RUBUS_ENTRY_UNEVEN) != 0};
    atomic_init(&work.next, 0);
    int64_t piece = small ? 1 : ctx->be->nthread * (work.uneven ? UNEVEN_PIECES : 1);
    threads_partition_init(&work.partition, info->lo, info->hi, piece);
    threads_float_mode mode;
    threads_float_enter(&mode);
    if (small) {
        run_piece(&work, ctx->scratch, 0);
    } else {
        threads_pool_run(ctx->pool, run_share, &work);
    }
    threads_float_leave(&mode);
    return RUBUS_OK;
}
