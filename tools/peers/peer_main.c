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

#include "peer.h"

enum { BATCHES = 5, WORK_A_BATCH = 10000000, POWER_LONGEST = 1000 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t state = 1;

static uint64_t draw(void)
{
    uint64_t x = state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static double draw_unit(void)
{
    return (double)(draw() >> 11) * 0x1p-53;
}

/* --- matrices ----------------------------------------------------------------------- */

static int allocate(peer_csr *a, int32_t nrow, int64_t room)
{
    a->nrow = nrow;
    a->ncol = nrow;
    a->nnz = 0;
    a->rowptr = malloc(((size_t)nrow + 1) * sizeof *a->rowptr);
    a->colval = malloc((size_t)room * sizeof *a->colval);
    a->nzval = malloc((size_t)room * sizeof *a->nzval);
    if (a->rowptr == NULL || a->colval == NULL || a->nzval == NULL) {
        fprintf(stderr, "out of memory\n");
        return 1;
    }
    a->rowptr[0] = 0;
    return 0;
}

static void add(peer_csr *a, int32_t col)
{
    a->colval[a->nnz] = col;
    a->nzval[a->nnz++] = 0.5 + draw_unit();
}

/* Points of a box and their neighbours along the axes, with variable coefficients. */
static int make_grid(peer_csr *a, int32_t nx, int32_t ny, int32_t nz)
{
    const int64_t n = (int64_t)nx * ny * nz;
    if (allocate(a, (int32_t)n, 7 * n) != 0) {
        return 1;
    }
    for (int32_t i = 0; i < n; i++) {
        const int32_t x = i % nx;
        const int32_t y = i / nx % ny;
        const int32_t z = i / nx / ny;
        const struct {
            int inside;
            int32_t step;
        } neighbour[7] = {
            {z > 0, -nx * ny}, {y > 0, -nx},     {x > 0, -1},          {1, 0},
            {x < nx - 1, 1},   {y < ny - 1, nx}, {z < nz - 1, nx * ny}};
        for (int k = 0; k < 7; k++) {
            if (neighbour[k].inside) {
                add(a, i + neighbour[k].step);
            }
        }
        a->rowptr[i + 1] = a->nnz;
    }
    return 0;
}

static int ascending(const void *p, const void *q)
{
    const int32_t a = *(const int32_t *)p;
    const int32_t b = *(const int32_t *)q;
    return (a > b) - (a < b);
}

/* n random columns, sorted, each once. */
static void add_random(peer_csr *a, int32_t n)
{
    static int32_t col[POWER_LONGEST];
    for (int32_t k = 0; k < n; k++) {
        col[k] = (int32_t)(draw() % (uint64_t)a->ncol);
    }
    qsort(col, (size_t)n, sizeof col[0], ascending);
    for (int32_t k = 0; k < n; k++) {
        if (k == 0 || col[k] != col[k - 1]) {
            add(a, col[k]);
        }
    }
}

/* Rows of 10; or, with a tail, of lengths after Pareto with exponent 1.2. The first row
 * may be full. */
static int make_random(peer_csr *a, int32_t n, int tail, int full)
{
    if (allocate(a, n, (int64_t)n * (tail ? 12 : 10) + (full ? n : 0)) != 0) {
        return 1;
    }
    const int64_t most = (int64_t)n * (tail ? 12 : 10) - POWER_LONGEST;
    for (int32_t i = 0; i < n; i++) {
        if (i == 0 && full) {
            for (int32_t j = 0; j < n; j++) {
                add(a, j);
            }
        } else {
            const double length = tail ? pow(1 - draw_unit(), -1 / 1.2) : 10;
            const int32_t row = length > POWER_LONGEST ? POWER_LONGEST : (int32_t)length;
            add_random(a, a->nnz < most ? row : 1);
        }
        a->rowptr[i + 1] = a->nnz;
    }
    return 0;
}

/* A diagonal and one full row. */
static int make_dense_row(peer_csr *a, int32_t n)
{
    if (allocate(a, n, 2 * (int64_t)n) != 0) {
        return 1;
    }
    for (int32_t i = 0; i < n; i++) {
        if (i == n / 2) {
            for (int32_t j = 0; j < n; j++) {
                add(a, j);
            }
        } else {
            add(a, i);
        }
        a->rowptr[i + 1] = a->nnz;
    }
    return 0;
}

static int make(peer_csr *a, const char *name)
{
    if (strcmp(name, "grid2d") == 0) {
        return make_grid(a, 2000, 2000, 1);
    }
    if (strcmp(name, "grid3d") == 0) {
        return make_grid(a, 128, 128, 128);
    }
    if (strcmp(name, "random") == 0) {
        return make_random(a, 1000000, 0, 0);
    }
    if (strcmp(name, "power") == 0) {
        return make_random(a, 1000000, 1, 1);
    }
    if (strcmp(name, "dense_row") == 0) {
        return make_dense_row(a, 1000000);
    }
    if (strcmp(name, "small") == 0) {
        return make_grid(a, 100, 100, 1);
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
        t->x[i] = draw_unit() - 0.5;
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
