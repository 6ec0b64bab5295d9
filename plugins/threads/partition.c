/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deals a box of points out to threads: contiguous pieces along the slowest dimension, so
 * that each thread streams through its own part of memory, and the same thread meets the
 * same rows in every launch. First touch of a buffer uses the same proportions.
 */
#include "config.h"

#include "plugins/threads/pool.h"

/* Along x, pieces this long are cut at multiples of ALIGN_POINTS, so that two threads
 * rarely write one cache line. */
#define LONG_PIECE 256
#define ALIGN_POINTS 16

/* floor(n * k / count) without overflow, for k <= count. */
static int64_t share(int64_t n, int64_t k, int64_t count)
{
    return n / count * k + n % count * k / count;
}

/* The largest divisor of n that is not above limit. */
static int64_t largest_divisor(int64_t n, int64_t limit)
{
    int64_t best = 1;
    for (int64_t d = 1; d * d <= n; d++) {
        if (n % d != 0) {
            continue;
        }
        if (d <= limit && d > best) {
            best = d;
        }
        if (n / d <= limit && n / d > best) {
            best = n / d;
        }
    }
    return best;
}

void threads_partition_init(threads_partition *partition, const int64_t lo[3],
                            const int64_t hi[3], int64_t wanted)
{
    partition->count = 1;
    for (int d = 2; d >= 0; d--) {
        int64_t n = hi[d] - lo[d];
        // A dimension shorter than the parts takes a divisor of them, so that all parts
        // can still be used; the last one takes what it can.
        int64_t piece = n >= wanted ? wanted : d == 0 ? n : largest_divisor(wanted, n);
        partition->lo[d] = lo[d];
        partition->hi[d] = hi[d];
        partition->piece[d] = piece;
        partition->count *= piece;
        wanted /= piece;
    }
}

/* Where piece k of a dimension begins, counted from its lower end. */
static int64_t cut(const threads_partition *partition, int d, int64_t k)
{
    int64_t n = partition->hi[d] - partition->lo[d];
    int64_t count = partition->piece[d];
    int64_t at = share(n, k, count);
    if (d == 0 && k < count && n / count >= LONG_PIECE) {
        at -= at % ALIGN_POINTS;
    }
    return at;
}

void threads_partition_get(const threads_partition *partition, int64_t k,
                           int64_t out_lo[3], int64_t out_hi[3])
{
    for (int d = 0; d < 3; d++) {
        int64_t mine = k % partition->piece[d];
        k /= partition->piece[d];
        out_lo[d] = partition->lo[d] + cut(partition, d, mine);
        out_hi[d] = partition->lo[d] + cut(partition, d, mine + 1);
    }
}

void threads_partition_line(uint64_t n, uint64_t grain, int thread, int nthread,
                            uint64_t *out_first, uint64_t *out_end)
{
    uint64_t ngrain = (n + grain - 1) / grain;
    uint64_t first = (uint64_t)share((int64_t)ngrain, thread, nthread) * grain;
    uint64_t end = (uint64_t)share((int64_t)ngrain, thread + 1, nthread) * grain;
    *out_first = first < n ? first : n;
    *out_end = end < n ? end : n;
}
