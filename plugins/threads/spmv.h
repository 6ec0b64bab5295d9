/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_THREADS_SPMV_H
#define RUBUS_THREADS_SPMV_H
/*
 * Products of sparse matrices. A matrix is inspected once (spmv_inspect.c), which chooses
 * one of three ways to store its values for products; the kernels are written once
 * (spmv_pack.h, spmv_kernel.h, spmm_kernel.h, spmv_tiles.h) and compiled for each pair of
 * types.
 *
 *   STENCIL  few distinct distances from the diagonal (grids): tiles of rows, in which
 *            each diagonal is contiguous; no column is stored
 *   SLICES   8 rows at a time, their entries interleaved. Where the 8 have common
 *            distances from the diagonal, one column stands for all
 *   ROWS     the arrays of the matrix as they are
 *
 * All three add the entries of a row in their order, starting from 0, as the kernels of
 * the library do, so the results are equal to the bit. What is missing between entries is
 * stored as 0; since 0 times NaN is not 0, rows whose sum is NaN are summed once more
 * from the matrix itself. Rows of more than 256 entries are left out of all three, and
 * summed in segments.
 */
#include "plugins/threads/threads_plugin.h"

enum {
    SPMV_LONG_ROW = 256,
    SPMV_SEGMENT = 4096,
    SPMV_LANES = 32,     /* of a segment */
    SPMV_DIAGONALS = 48, /* most of a stencil */
    SPMV_TILE = 256,     /* rows of a tile */
    SPMV_SLICE = 8,      /* rows of a slice */
    SPMV_AHEAD = 64      /* columns of slices read ahead, for the cache */
};

typedef enum spmv_kind { SPMV_ROWS, SPMV_STENCIL, SPMV_SLICES } spmv_kind;

/* A part of a long row. */
typedef struct spmv_segment {
    int64_t first; /* entries */
    int64_t end;
} spmv_segment;

/* Where a slice begins: its values, in slots of SPMV_SLICE, and its columns, which are as
 * many as it has slots if it is uniform, else SPMV_SLICE times as many. */
typedef struct spmv_slice {
    int64_t slot;
    int64_t column;
} spmv_slice;

typedef struct spmv_plan {
    rubus_csr_plan head;
    threads_context *ctx;
    spmv_kind kind;

    bool packed; /* `value` holds the values of `version` */
    uint64_t version;
    uint32_t products; /* since the values changed last */
    uint32_t before;   /* with those before */
    threads_buffer *value;

    /* STENCIL: rows [first_row, end_row) reach no column outside the matrix */
    int32_t ndiag;
    int64_t offset[SPMV_DIAGONALS]; /* column minus row, ascending */
    int64_t first_row;
    int64_t end_row;

    /* SLICES */
    int64_t nslice;
    int64_t nuniform;
    threads_buffer *slice;  /* spmv_slice [nslice + 1] */
    threads_buffer *column; /* int32 */
    threads_buffer *row;    /* int32 [SPMV_SLICE * nslice]; -1: none. NULL: in order */

    /* long rows */
    int64_t nlong;
    int64_t nsegment;
    int64_t *long_row;     /* [nlong] */
    void *long_y;          /* [nlong] what slices in order overwrite */
    int64_t *long_start;   /* [nlong + 1] of segments */
    spmv_segment *segment; /* [nsegment] */
    void *part;            /* [nsegment][part_width] sums of segments */
    int64_t part_width;

    threads_buffer *turned; /* columns of X in rows; NULL until they are wanted */
} spmv_plan;

/* A product, as kernels see it. */
typedef struct spmv_product {
    const spmv_plan *plan;
    int64_t nrow;
    int64_t ncol;
    int64_t nnz;
    const void *rowptr;
    const void *colval;
    const void *nzval;
    const void *x;
    void *y;
    double alpha;
    double beta;
    bool stream; /* y passes the caches by */
    /* dense: element (i, j) of X is x[i * x_row + j * x_col]; likewise Y */
    int64_t k;
    int64_t x_row;
    int64_t x_col;
    int64_t y_row;
    int64_t y_col;
} spmv_product;

/* Kernels for a pair of types, on [first, end) of rows, tiles, slices or segments. */
typedef void (*spmv_kernel)(const spmv_product *p, int64_t first, int64_t end);
typedef struct spmv_kernels {
    size_t real_size;
    size_t index_size;
    spmv_kernel pack_tiles; /* write to plan->value */
    spmv_kernel pack_slices;
    /* How many rows from `row` on, and before `end`, have the length of that row and its
     * distances from the diagonal; seldom fewer than there are. At least 1. */
    int64_t (*steady)(const spmv_product *p, int64_t row, int64_t end);
    spmv_kernel rows;
    spmv_kernel tiles;
    spmv_kernel slices;
    spmv_kernel segments;                /* to plan->part */
    void (*join)(const spmv_product *p); /* long rows, of plan->part; dense too */
    void (*save)(const spmv_product *p); /* y of long rows to plan->long_y */
    void (*restore)(const spmv_product *p);
    spmv_kernel rows_dense;    /* any strides */
    spmv_kernel rows_near;     /* x_col is 1 */
    spmv_kernel tiles_columns; /* x_row and y_row are 1 */
    spmv_kernel tiles_near;    /* x_col and y_col are 1 */
    spmv_kernel segments_near; /* x_col is 1 */
    /* Rows of X, with x_row 1, to `to` with x_col 1. */
    void (*turn)(const spmv_product *p, void *to, int64_t first, int64_t end);
} spmv_kernels;

extern const spmv_kernels spmv_f32_i32;
extern const spmv_kernels spmv_f32_i64;
extern const spmv_kernels spmv_f64_i32;
extern const spmv_kernels spmv_f64_i64;

/* --- spmv_inspect.c ----------------------------------------------------------------- */

/* Chooses, and makes all but the values; p: the arrays of the matrix. On failure the
 * caller frees what there is. */
rubus_status spmv_inspect(spmv_plan *plan, const spmv_product *p, const spmv_kernels *k);

/* --- spmv_slices.c ------------------------------------------------------------------ */

/* Whether slices suit the matrix; then plan->slice, column and row are made. */
rubus_status spmv_slices_make(spmv_plan *plan, const spmv_product *p,
                              const spmv_kernels *k, bool *out_made);

/* --- spmv_share.c ------------------------------------------------------------------- */

/* Runs work(arg, thread, nthread) on every thread, or once in the caller. */
typedef void (*spmv_work)(void *arg, int thread, int nthread);
rubus_status spmv_run(threads_context *ctx, bool alone, spmv_work work, void *arg);
/* Share of [0, n) of a thread. */
void spmv_part(int64_t n, int thread, int nthread, int64_t *out_first, int64_t *out_end);
/* The same for rows, by entries. */
void spmv_part_rows(const spmv_product *p, const spmv_kernels *k, int thread, int nthread,
                    int64_t *out_first, int64_t *out_end);
/* Element of an array of indices of 4 or 8 bytes. */
static inline int64_t spmv_index(const void *array, size_t size, int64_t at)
{
    return size == 4 ? ((const int32_t *)array)[at] : ((const int64_t *)array)[at];
}

/* --- spmv_slots.c ------------------------------------------------------------------- */

rubus_status threads_csr_prepare(void *ctx, const rubus_csr_desc *a,
                                 rubus_csr_plan **out_plan);
void threads_csr_release(void *ctx, rubus_csr_plan *plan);
rubus_status threads_spmv(void *ctx, const rubus_csr_desc *a, const rubus_vec *x,
                          const rubus_vec *y, double alpha, double beta);
rubus_status threads_spmm(void *ctx, const rubus_csr_desc *a, const rubus_mat *x,
                          const rubus_mat *y, double alpha, double beta);

#endif
