/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One contestant of tools/bench-peers in one case:
 *     peer CASE THREADS K LAYOUT
 * makes the matrix, checks the product against a plain loop, and prints the median time
 * of a product, the time until the first one was done, and the bytes of matrix, x and y.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_matrix.h"
#include "peer.h"

enum { BATCHES = 5, WORK_A_BATCH = 10000000 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- matrices ----------------------------------------------------------------------- */

/* A million rows or so, by the sizes of `rubus bench --n`; one that fits into a cache. */
static int make(peer_csr *a, const char *name)
{
    static const int64_t size[BENCH_KINDS] = {
        [BENCH_GRID2D] = 4000,    [BENCH_GRID3D] = 4096, [BENCH_RANDOM] = 4000,
        [BENCH_DENSE_ROW] = 4000, [BENCH_POWER] = 4000,  [BENCH_SMALL] = 3920};
    for (int kind = 0; kind < BENCH_KINDS; kind++) {
        if (strcmp(name, bench_matrix_name((bench_kind)kind)) != 0) {
            continue;
        }
        bench_matrix m;
        if (!bench_matrix_make((bench_kind)kind, size[kind], true, &m)) {
            fprintf(stderr, "out of memory\n");
            return 1;
        }
        *a = (peer_csr){(int32_t)m.n, (int32_t)m.n, (int32_t)m.nnz,
                        m.rowptr,     m.colval,     m.nzval};
        return 0;
    }
    fprintf(stderr, "no case '%s'\n", name);
    return 1;
}

/* --- the product -------------------------------------------------------------------- */

typedef struct task {
    peer_csr a;
    int k;
    int by_rows;
    double *x;
    double *y;
} task;

static int64_t element(const task *t, int32_t n, int32_t i, int j)
{
    return t->by_rows ? (int64_t)i * t->k + j : i + (int64_t)j * n;
}

static int make_vectors(task *t)
{
    const size_t nx = (size_t)t->a.ncol * (size_t)t->k;
    t->x = malloc(nx * sizeof *t->x);
    t->y = malloc((size_t)t->a.nrow * (size_t)t->k * sizeof *t->y);
    if (t->x == NULL || t->y == NULL) {
        fprintf(stderr, "out of memory\n");
        return 1;
    }
    for (size_t i = 0; i < nx; i++) {
        t->x[i] = (double)(i * 7919 % 1021) / 1021 - 0.5;
    }
    return 0;
}

/* All terms of a row are below 1 in size, so an error of their number times eps is due to
 * another order of additions; anything worse is a wrong product. */
static int check(const task *t, int32_t low, int32_t high)
{
    const peer_csr *a = &t->a;
    for (int32_t i = low; i < high; i++) {
        for (int j = 0; j < t->k; j++) {
            double sum = 0;
            for (int32_t e = a->rowptr[i]; e < a->rowptr[i + 1]; e++) {
                sum += a->nzval[e] * t->x[element(t, a->ncol, a->colval[e], j)];
            }
            const double n = a->rowptr[i + 1] - a->rowptr[i];
            const double got = t->y[element(t, a->nrow, i, j)];
            if (!(fabs(got - sum) <= 4 * n * 0x1p-53 * (1 + n / 1000))) {
                fprintf(stderr, "row %d: %.17g instead of %.17g\n", (int)i, got, sum);
                return 1;
            }
        }
    }
    return 0;
}

static int by_size(const void *p, const void *q)
{
    const double a = *(const double *)p;
    const double b = *(const double *)q;
    return (a > b) - (a < b);
}

static int measure(task *t)
{
    const double start = seconds();
    int failed = peer_create(&t->a);
    failed = failed != 0 ? failed : peer_load(t->x, t->k, t->by_rows);
    failed = failed != 0 ? failed : peer_run(1);
    if (failed != 0) {
        return failed;
    }
    const double setup = seconds() - start;
    int32_t low = 0;
    int32_t high = 0;
    if (peer_store(t->y, &low, &high) != 0 || check(t, low, high) != 0) {
        return 1;
    }
    // the same number everywhere: processes must agree on it
    const int64_t work = (int64_t)t->a.nnz * t->k;
    const int repeat = work > WORK_A_BATCH ? 1 : (int)(WORK_A_BATCH / work);
    double batch[BATCHES];
    for (int i = 0; i < BATCHES; i++) {
        const double begin = seconds();
        if (peer_run(repeat) != 0) {
            return 1;
        }
        batch[i] = (seconds() - begin) / repeat;
    }
    qsort(batch, BATCHES, sizeof batch[0], by_size);
    const double bytes = 12.0 * t->a.nnz + 4.0 * (t->a.nrow + 1) +
                         8.0 * t->k * ((double)t->a.nrow + t->a.ncol);
    if (peer_speaks()) {
        printf("%.9g %.9g %.9g\n", batch[BATCHES / 2], setup, bytes);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: %s CASE THREADS K rows|columns\n", argv[0]);
        return 2;
    }
    task t = {.k = atoi(argv[3]), .by_rows = strcmp(argv[4], "rows") == 0};
    const int threads = atoi(argv[2]);
    if (t.k < 1 || threads < 1) {
        fprintf(stderr, "THREADS and K are positive numbers\n");
        return 2;
    }
    if (peer_begin(&argc, &argv, threads) != 0) {
        return 1;
    }
    int status = make(&t.a, argv[1]);
    status = status != 0 ? status : make_vectors(&t);
    status = status != 0 ? status : measure(&t);
    if (status == PEER_NOT_OFFERED) {
        status = 0;
        if (peer_speaks()) {
            printf("-\n");
        }
    }
    peer_end();
    free(t.a.rowptr);
    free(t.a.colval);
    free(t.a.nzval);
    free(t.x);
    free(t.y);
    return status;
}
