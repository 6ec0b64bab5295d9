/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deals the work of sparse products out to the threads: contiguous shares, the same ones
 * at every product. A row is never cut but into segments, so results do not depend on the
 * number of threads.
 */
#include "config.h"

#include "plugins/threads/spmv.h"

typedef struct run_task {
    spmv_work work;
    void *arg;
    int nthread;
} run_task;

static void run_thread(void *arg, int thread)
{
    const run_task *task = arg;
    task->work(task->arg, thread, task->nthread);
}

rubus_status spmv_run(threads_context *ctx, bool alone, spmv_work work, void *arg)
{
    if (alone || ctx->be->nthread == 1) {
        work(arg, 0, 1);
        return RUBUS_OK;
    }
    const rubus_status st = threads_context_pool(ctx);
    if (st == RUBUS_OK) {
        run_task task = {work, arg, ctx->be->nthread};
        threads_pool_run(ctx->pool, run_thread, &task);
    }
    return st;
}

void spmv_part(int64_t n, int thread, int nthread, int64_t *out_first, int64_t *out_end)
{
    uint64_t first;
    uint64_t end;
    threads_partition_line((uint64_t)n, 1, thread, nthread, &first, &end);
    *out_first = (int64_t)first;
    *out_end = (int64_t)end;
}

/* First row whose entries begin at share t of n or later. */
static int64_t cut(const spmv_product *p, const spmv_kernels *k, int t, int n)
{
    const int64_t goal = p->nnz / n * t + p->nnz % n * t / n;
    int64_t lo = 0;
    int64_t hi = p->nrow;
    while (lo < hi) {
        const int64_t middle = lo + (hi - lo) / 2;
        if (spmv_index(p->rowptr, k->index_size, middle) < goal) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo;
}

void spmv_part_rows(const spmv_product *p, const spmv_kernels *k, int thread, int nthread,
                    int64_t *out_first, int64_t *out_end)
{
    *out_first = thread == 0 ? 0 : cut(p, k, thread, nthread);
    *out_end = thread + 1 == nthread ? p->nrow : cut(p, k, thread + 1, nthread);
}
