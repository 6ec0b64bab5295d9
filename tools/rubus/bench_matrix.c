/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices for benchmarks: rows are appended in order, with values from 0.5 to 1.5. */
#include "config.h"

#include "bench_matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 10, LONGEST = 1000, POWER_ROW = 12 };

typedef struct filler {
    bench_matrix *m;
    bool f64;
    uint64_t state;
    int32_t col[LONGEST]; // of a random row
} filler;

static const char *const names[BENCH_KINDS] = {"grid2d",    "grid3d", "random",
                                               "dense_row", "power",  "small"};

const char *bench_matrix_name(bench_kind kind)
{
    return names[kind];
}

// splitmix64 (Steele, Lea, Flood, 2014)
static uint64_t draw(filler *f)
{
    uint64_t x = f->state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static double draw_unit(filler *f)
{
    return (double)(draw(f) >> 11) * 0x1p-53;
}

static void add(filler *f, int64_t col)
{
    bench_matrix *m = f->m;
    const double value = 0.5 + draw_unit(f);
    m->colval[m->nnz] = (int32_t)col;
    if (f->f64) {
        ((double *)m->nzval)[m->nnz] = value;
    } else {
        ((float *)m->nzval)[m->nnz] = (float)value;
    }
    m->nnz++;
}

static bool allocate(filler *f, int64_t n, int64_t room)
{
    bench_matrix *m = f->m;
    m->n = n;
    m->rowptr = calloc((size_t)n + 1, sizeof(int32_t));
    m->colval = malloc((size_t)room * sizeof(int32_t));
    m->nzval = malloc((size_t)room * (f->f64 ? sizeof(double) : sizeof(float)));
    return m->rowptr != NULL && m->colval != NULL && m->nzval != NULL;
}

// A grid of nx * nx * nz points; nz is 1 in two dimensions.
static bool make_grid(filler *f, int64_t nx, int64_t nz)
{
    if (!allocate(f, nx * nx * nz, (nz > 1 ? 7 : 5) * nx * nx * nz)) {
        return false;
    }
    for (int64_t i = 0; i < f->m->n; i++) {
        const int64_t x = i % nx;
        const int64_t y = i / nx % nx;
        const int64_t z = i / nx / nx;
        const bool inside[7] = {z > 0,      y > 0,      x > 0,     true,
                                x < nx - 1, y < nx - 1, z < nz - 1};
        const int64_t step[7] = {-nx * nx, -nx, -1, 0, 1, nx, nx * nx};
        for (int k = 0; k < 7; k++) {
            if (inside[k]) {
                add(f, i + step[k]);
            }
        }
        f->m->rowptr[i + 1] = (int32_t)f->m->nnz;
    }
    return true;
}

static int ascending(const void *p, const void *q)
{
    const int32_t a = *(const int32_t *)p;
    const int32_t b = *(const int32_t *)q;
    return (a > b) - (a < b);
}

static void add_full(filler *f)
{
    for (int64_t j = 0; j < f->m->n; j++) {
        add(f, j);
    }
}

// Up to n random columns: each once.
static void add_random(filler *f, int64_t n)
{
    int32_t *col = f->col;
    for (int64_t k = 0; k < n; k++) {
        col[k] = (int32_t)(draw(f) % (uint64_t)f->m->n);
    }
    qsort(col, (size_t)n, sizeof(col[0]), ascending);
    for (int64_t k = 0; k < n; k++) {
        if (k == 0 || col[k] != col[k - 1]) {
            add(f, col[k]);
        }
    }
}

static bool make_random(filler *f, int64_t n, bool power)
{
    const int64_t most = n * (power ? POWER_ROW : ROW);
    if (!allocate(f, n, most + LONGEST + n)) {
        return false;
    }
    for (int64_t i = 0; i < n; i++) {
        if (power && i == 0) {
            add_full(f);
        } else {
            const double length = power ? pow(1 - draw_unit(f), -1 / 1.2) : ROW;
            const int64_t row = length > LONGEST ? LONGEST : (int64_t)length;
            add_random(f, f->m->nnz < most ? row : 1);
        }
        f->m->rowptr[i + 1] = (int32_t)f->m->nnz;
    }
    return true;
}

static bool make_dense_row(filler *f, int64_t n)
{
    if (!allocate(f, n, 2 * n)) {
        return false;
    }
    for (int64_t i = 0; i < n; i++) {
        if (i == n / 2) {
            add_full(f);
        } else {
            add(f, i);
        }
        f->m->rowptr[i + 1] = (int32_t)f->m->nnz;
    }
    return true;
}

bool bench_matrix_make(bench_kind kind, int64_t size, bool f64, bench_matrix *out)
{
    memset(out, 0, sizeof(*out));
    filler f = {.m = out, .f64 = f64, .state = 1};
    const int64_t rows = size * size / 16;
    bool good = false;
    switch (kind) {
    case BENCH_GRID2D:
        good = make_grid(&f, size / 2, 1);
        break;
    case BENCH_GRID3D: {
        const int64_t edge = (int64_t)cbrt((double)(size * size / 8) + 0.5);
        good = make_grid(&f, edge, edge);
        break;
    }
    case BENCH_RANDOM:
    case BENCH_POWER:
        good = make_random(&f, rows, kind == BENCH_POWER);
        break;
    case BENCH_DENSE_ROW:
        good = make_dense_row(&f, rows);
        break;
    default:
        good = make_grid(&f, 2 + size / 40, 1);
        break;
    }
    if (!good) {
        bench_matrix_free(out);
    }
    return good;
}

void bench_matrix_free(bench_matrix *m)
{
    free(m->rowptr);
    free(m->colval);
    free(m->nzval);
    memset(m, 0, sizeof(*m));
}
