/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_PATH_MATRICES_H
#define RUBUS_TESTS_PATH_MATRICES_H
/*
 * Matrices, each made for one of the ways in which the backends for threads and for GPUs
 * store values for products. Include after check.h and config.h.
 */
#include <math.h>
#include <string.h>

#include "tests/sparse/sparse_probe.h"

typedef struct builder {
    int64_t nrow;
    int64_t ncol;
    int64_t nnz;
    int64_t room;
    int64_t *rowptr;
    int64_t *colval;
    int64_t row; /* that is filled */
} builder;

static builder begin(int64_t nrow, int64_t ncol)
{
    builder b = {.nrow = nrow, .ncol = ncol, .room = 64};
    b.rowptr = calloc((size_t)nrow + 1, sizeof(int64_t));
    b.colval = malloc((size_t)b.room * sizeof(int64_t));
    return b;
}

/* Columns of a row ascend; what is outside the matrix is left out. */
static void add(builder *b, int64_t col)
{
    if (col < 0 || col >= b->ncol) {
        return;
    }
    if (b->nnz == b->room) {
        b->room *= 2;
        b->colval = realloc(b->colval, (size_t)b->room * sizeof(int64_t));
    }
    b->colval[b->nnz++] = col;
}

static void next_row(builder *b)
{
    b->rowptr[++b->row] = b->nnz;
}

/* n columns, a random one in each of n equal parts. */
static void add_random(builder *b, int64_t n, uint64_t *seed)
{
    const int64_t step = n > 0 ? b->ncol / n : 1;
    for (int64_t k = 0; k < n; k++) {
        const double at = (probe_random(seed) + 1) * 0.5 * (double)step;
        add(b, k * step + (int64_t)at);
    }
}

/* Distances from the diagonal; every `hole`-th row lacks the first (0: none does). */
static builder make_banded(int64_t nrow, int64_t ncol, int n, const int64_t *offset,
                           int hole)
{
    builder b = begin(nrow, ncol);
    for (int64_t i = 0; i < nrow; i++) {
        for (int d = hole > 0 && i % hole == 3 ? 1 : 0; d < n; d++) {
            add(&b, i + offset[d]);
        }
        next_row(&b);
    }
    return b;
}

/* Points of a box with their neighbours: `near` counts steps along the axes, so 1 gives
 * 5 or 7 points, 2 and 3 give 9 and 27. */
static builder make_grid(int nx, int ny, int nz, int near)
{
    builder b = begin((int64_t)nx * ny * nz, (int64_t)nx * ny * nz);
    for (int i = 0; i < nx * ny * nz; i++) {
        const int x = i % nx;
        const int y = i / nx % ny;
        const int z = i / nx / ny;
        for (int k = 0; k < 27; k++) {
            const int dx = k % 3 - 1;
            const int dy = k / 3 % 3 - 1;
            const int dz = k / 9 - 1;
            const bool inside = x + dx >= 0 && x + dx < nx && y + dy >= 0 &&
                                y + dy < ny && z + dz >= 0 && z + dz < nz;
            if (inside && abs(dx) + abs(dy) + abs(dz) <= near) {
                add(&b, i + dx + nx * (dy + ny * dz));
            }
        }
        next_row(&b);
    }
    return b;
}

static builder stencil_1d(void)
{
    return make_banded(9001, 9001, 3, (int64_t[]){-1, 0, 1}, 50);
}

static builder stencil_wide(void)
{
    return make_banded(5003, 5100, 4, (int64_t[]){-3, 0, 2, 97}, 9);
}

static builder stencil_tall(void)
{
    return make_banded(6000, 5800, 2, (int64_t[]){-200, -1}, 0);
}

static builder stencil_2d(void)
{
    return make_grid(70, 65, 1, 1);
}

static builder stencil_2d_9(void)
{
    return make_grid(50, 41, 1, 2);
}

static builder stencil_3d(void)
{
    return make_grid(20, 18, 17, 1);
}

static builder stencil_3d_27(void)
{
    return make_grid(14, 13, 12, 3);
}

/* More diagonals than a word has bits. */
static builder stencil_40(void)
{
    int64_t offset[40];
    for (int d = 0; d < 40; d++) {
        offset[d] = 3 * d - 50;
    }
    return make_banded(1500, 1500, 40, offset, 7);
}

static builder random_rows(void)
{
    builder b = begin(4003, 5000);
    uint64_t seed = 11;
    for (int i = 0; i < 4003; i++) {
        add_random(&b, 6, &seed);
        next_row(&b);
    }
    return b;
}

/* Too many distances for a stencil, but the same ones for 16 rows. */
static builder bands(void)
{
    builder b = begin(4000, 4300);
    for (int i = 0; i < 4000; i++) {
        for (int d = 0; d < 5; d++) {
            add(&b, i + d * (2 + i / 16 % 60));
        }
        next_row(&b);
    }
    return b;
}

/* Rows 0 and 1000 of more than one segment, one just over the limit, one at it. */
static builder with_long_rows(void)
{
    builder b = begin(3001, 9000);
    uint64_t seed = 12;
    for (int i = 0; i < 3001; i++) {
        add_random(&b,
                   i == 0      ? 9000
                   : i == 1000 ? 4500
                   : i == 2000 ? 257
                   : i == 2001 ? 256
                               : 5,
                   &seed);
        next_row(&b);
    }
    return b;
}

/* A diagonal and a full row: everything else is uniform. */
static builder dense_row(void)
{
    builder b = begin(9000, 9000);
    for (int i = 0; i < 9000; i++) {
        for (int j = 0; i == 4500 && j < 9000; j++) {
            add(&b, j);
        }
        if (i != 4500) {
            add(&b, i);
        }
        next_row(&b);
    }
    return b;
}

static builder power_law(void)
{
    builder b = begin(6001, 6001);
    uint64_t seed = 13;
    for (int i = 0; i < 6001; i++) {
        const double u = (probe_random(&seed) + 1.000001) * 0.5;
        const double length = pow(u, -1 / 1.2);
        add_random(&b, length < 900 ? (int64_t)length : 900, &seed);
        next_row(&b);
    }
    return b;
}

static builder mostly_empty(void)
{
    builder b = begin(8005, 3000);
    uint64_t seed = 14;
    for (int i = 0; i < 8005; i++) {
        add_random(&b, i % 4 == 1 ? 8 : 0, &seed);
        next_row(&b);
    }
    return b;
}

/* Slices would be mostly padding. */
static builder few_and_uneven(void)
{
    builder b = begin(24, 700);
    uint64_t seed = 15;
    for (int i = 0; i < 24; i++) {
        add_random(&b, i % 8 == 2 ? 200 : 1, &seed);
        next_row(&b);
    }
    return b;
}

static builder one_entry(void)
{
    builder b = begin(40, 30);
    for (int i = 0; i < 40; i++) {
        add(&b, i == 17 ? 29 : -1);
        next_row(&b);
    }
    return b;
}

static builder no_entry(void)
{
    builder b = begin(40, 30);
    return b;
}

static builder no_rows(void)
{
    return begin(0, 30);
}

static builder no_columns(void)
{
    return begin(40, 0);
}

typedef struct path_case {
    const char *name;
    builder (*make)(void);
    const char *path;   /* of the backend for threads begins so */
    const char *with;   /* and has this */
    const char *vulkan; /* that of the backend for GPUs begins so, and has the same */
} path_case;

static const path_case cases[] = {
    {"1D", stencil_1d, "stencil, 3 diagonals", "", "stencil, 3 diagonals"},
    {"wide", stencil_wide, "stencil, 4 diagonals", "", "stencil, 4 diagonals"},
    {"tall", stencil_tall, "stencil, 2 diagonals", "", "stencil, 2 diagonals"},
    {"2D", stencil_2d, "stencil, 5 diagonals", "", "stencil, 5 diagonals"},
    {"2D, 9 points", stencil_2d_9, "stencil, 9 diagonals", "", "stencil, 9 diagonals"},
    {"3D", stencil_3d, "stencil, 7 diagonals", "", "stencil, 7 diagonals"},
    {"3D, 27 points", stencil_3d_27, "stencil, 27 diagonals", "",
     "stencil, 27 diagonals"},
    {"40 diagonals", stencil_40, "stencil, 40 diagonals", "", "stencil, 40 diagonals"},
    {"random", random_rows, "slices of 8 rows, 0% uniform", "", "slices of 32 rows"},
    {"bands", bands, "slices of 8 rows, 100% uniform", "", "slices of 32 rows"},
    {"long rows", with_long_rows, "sorted slices of 8 rows", ", 3 long", "rows"},
    {"dense row", dense_row, "slices of 8 rows, 100% uniform", ", 1 long",
     "slices of 32 rows"},
    {"power law", power_law, "sorted slices of 8 rows", " long",
     "sorted slices of 32 rows"},
    {"mostly empty", mostly_empty, "sorted slices of 8 rows", "",
     "sorted slices of 32 rows"},
    {"few and uneven", few_and_uneven, "rows", "", "rows"},
    {"one entry", one_entry, "rows", "", "rows"},
    {"no entry", no_entry, "rows", "", "rows"},
    {"no rows", no_rows, "rows", "", "rows"},
    {"no columns", no_columns, "rows", "", "rows"},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static rubus_csr *finish(rubus_context *context, int32_t index, int32_t real,
                         const builder *b)
{
    char *rowptr = malloc((size_t)(b->nrow + 1) * 8);
    char *colval = malloc((size_t)b->nnz * 8 + 8);
    char *nzval = malloc((size_t)b->nnz * 8 + 8);
    uint64_t seed = 1;
    for (int64_t i = 0; i <= b->nrow; i++) {
        rubus__index_set(rowptr, index, i, b->rowptr[i]);
    }
    for (int64_t k = 0; k < b->nnz; k++) {
        const double value = probe_random(&seed);
        rubus__index_set(colval, index, k, b->colval[k]);
        if (real == RUBUS_F32) {
            ((float *)(void *)nzval)[k] = (float)value;
        } else {
            ((double *)(void *)nzval)[k] = value;
        }
    }
    rubus_csr *csr = NULL;
    ok(rubus_csr_create(context, index, real, b->nrow, b->ncol, b->nnz, rowptr, colval,
                        nzval, &csr));
    free(rowptr);
    free(colval);
    free(nzval);
    return csr;
}

static void drop(builder *b)
{
    free(b->rowptr);
    free(b->colval);
}

#endif
