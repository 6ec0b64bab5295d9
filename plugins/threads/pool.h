/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_THREADS_POOL_H
#define RUBUS_THREADS_POOL_H
/*
 * A team of threads that runs one task after the other, and the rule by which a box of
 * points is dealt out to it.
 */
#include <stdatomic.h>

#include <rubus/backend.h>

#define THREADS_MAX 4096

typedef struct threads_pool threads_pool;

/* thread: 0 (the caller) to nthread - 1. */
typedef void (*threads_task)(void *arg, int thread);

/*
 * Starts nthread - 1 threads. ncpu: processors this process may use; with fewer than
 * nthread nobody spins. busy: number of threads at work in all pools of the process, kept
 * by the pools; while it exceeds ncpu they sleep instead of spinning. May be NULL.
 * ELIMIT when a thread cannot be started, ENOMEM.
 */
rubus_status threads_pool_create(const rubus_host *host, int nthread, int ncpu,
                                 _Atomic int *busy, threads_pool **out_pool);
/* Joins the threads; NULL allowed. In a child of fork it only frees the memory. */
void threads_pool_destroy(threads_pool *pool);
/* Runs the task once on each thread and waits. One caller at a time. */
void threads_pool_run(threads_pool *pool, threads_task task, void *arg);

/* --- partition.c -------------------------------------------------------------------- */

/* A box [lo, hi) cut into piece[0] * piece[1] * piece[2] smaller ones. */
typedef struct threads_partition {
    int64_t lo[3];
    int64_t hi[3];
    int64_t piece[3];
    int64_t count; /* pieces in all; at least 1, at most what was asked */
} threads_partition;

/* Cuts the slowest dimension that has more than one point; where it has fewer points than
 * parts are wanted, the next one too. The box must not be empty; wanted >= 1. */
void threads_partition_init(threads_partition *partition, const int64_t lo[3],
                            const int64_t hi[3], int64_t wanted);
/* Piece number k, slowest dimension first. No piece is empty. */
void threads_partition_get(const threads_partition *partition, int64_t k,
                           int64_t out_lo[3], int64_t out_hi[3]);
/* Share of [0, n) of one thread, cut at multiples of `grain`; may be empty. */
void threads_partition_line(uint64_t n, uint64_t grain, int thread, int nthread,
                            uint64_t *out_first, uint64_t *out_end);

#endif
