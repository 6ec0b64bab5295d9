/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_VK_SPARSE_H
#define RUBUS_VK_SPARSE_H
/*
 * Products of sparse matrices. A matrix is inspected once, on the host
 * (vk_sparse_plan.c), which chooses how its values are stored for products; vk_sparse.c
 * has the slots. The kernels are written by hand (shaders/spmv.comp) and made and
 * launched as every other module is (vk_sparse_launch.c).
 *
 *   STENCIL  few distinct distances from the diagonal (grids): tiles of 64 rows, in which
 *            each diagonal is contiguous; no column is stored
 *   SLICES   32 rows at a time, their entries interleaved, so that neighbouring
 *            invocations read neighbouring bytes
 *   ROWS     the arrays of the matrix as they are
 *
 * A row of up to 256 entries is the work of one invocation, which adds them in their
 * order; longer rows are left out of all three, and summed in segments by groups of 32.
 */
#include "plugins/vulkan/vulkan.h"

enum {
    VK_LONG_ROW = 256,
    VK_SEGMENT = 4096,
    VK_DIAGONALS = 48, /* most of a stencil */
    VK_TILE = 64,      /* rows of a tile */
    VK_SLICE = 32,     /* rows of a slice */
    VK_COLUMNS = 4     /* of X that an invocation takes at once */
};

/* Entries of shaders/spmv.comp, by their numbers. */
typedef enum vk_sparse_entry {
    VK_PACK_STENCIL,
    VK_STENCIL,
    VK_PACK_SLICES,
    VK_SLICES,
    VK_ROWS,
    VK_SEGMENTS,
    VK_LONG_ROWS,
    VK_STENCIL_DENSE,
    VK_ROWS_DENSE,
    VK_SPARSE_ENTRIES
} vk_sparse_entry;

typedef enum vk_sparse_kind {
    VK_KIND_ROWS,
    VK_KIND_STENCIL,
    VK_KIND_SLICES
} vk_sparse_kind;

typedef struct vk_sparse_plan {
    rubus_csr_plan head;
    vk_context *ctx;
    vk_sparse_kind kind;

    bool packed; /* `value` holds the values of `version` */
    uint64_t version;
    uint32_t products; /* since the values changed last */
    uint32_t before;   /* with those before */
    vk_buffer *value;

    /* STENCIL */
    int32_t ndiag;
    vk_buffer *offset; /* int32 [ndiag]: column minus row, ascending */
    vk_buffer *mask;   /* uint32 [nrow of all tiles][words]: which entries a row has */
    int64_t ntile;

    /* SLICES */
    int64_t nslice;
    int64_t nslot;
    bool sorted;
    vk_buffer *column; /* int32 [nslot][VK_SLICE] */
    vk_buffer *lane; /* int32 [nslice][VK_SLICE]: lengths, -1: no row; sorted: rows too */
    vk_buffer *start; /* int32 [nslice + 1] of slots */

    /* long rows */
    int64_t nlong;
    int64_t nsegment;
    vk_buffer *long_row; /* index [nlong + 1][2]: row, first segment */
    vk_buffer *segment;  /* index [nsegment][2]: first entry, number of entries */
    vk_buffer *part;     /* real [part_width][nsegment] sums of segments */
    int64_t part_width;
} vk_sparse_plan;

/* --- vk_sparse_launch.c ------------------------------------------------------------- */

#define VK_SPARSE_ARRAYS 7
#define VK_SPARSE_NUMBERS 4
#define VK_SPARSE_MODULES 4

struct vk_sparse {                   /* of a context */
    void *module[VK_SPARSE_MODULES]; /* f64 counts 2, i64 1; NULL: not made yet */
};

/* Arguments of an entry, in the order that its table there tells. */
typedef struct vk_sparse_call {
    vk_sparse_entry entry;
    int64_t points[2]; /* 0: as 1 */
    rubus_vec array[VK_SPARSE_ARRAYS];
    int64_t number[VK_SPARSE_NUMBERS];
    double alpha;
    double beta;
    uint64_t cost; /* bytes that all points move */
} vk_sparse_call;

/* Enqueues an entry of the module for the types of the matrix, which is made when needed
 * first. */
rubus_status vk_sparse_run(vk_context *ctx, const rubus_csr_desc *a,
                           const vk_sparse_call *call);
/* Whether a matrix of these types can be multiplied here; else the error. */
rubus_status vk_sparse_check(vk_context *ctx, const rubus_csr_desc *a);
void vk_sparse_fini(vk_context *ctx); /* modules; no work is pending */

/* --- vk_sparse_plan.c --------------------------------------------------------------- */

/* Chooses, and makes all but the values. On failure the caller frees what there is. */
rubus_status vk_sparse_inspect(vk_sparse_plan *plan, const rubus_csr_desc *a);
/* Memory for a plan; RUBUS_EDEVMEM or RUBUS_ELIMIT also where descriptors cannot reach it
 * all. */
rubus_status vk_sparse_buffer(vk_context *ctx, uint64_t nbyte, vk_buffer **out_buffer);
/* Gives back all that a stencil or slices have; what is left is of kind ROWS. */
void vk_sparse_drop(vk_sparse_plan *plan);

/* --- vk_sparse.c -------------------------------------------------------------------- */

rubus_status vk_csr_prepare(void *ctx, const rubus_csr_desc *a,
                            rubus_csr_plan **out_plan);
void vk_csr_release(void *ctx, rubus_csr_plan *plan);
rubus_status vk_spmv(void *ctx, const rubus_csr_desc *a, const rubus_vec *x,
                     const rubus_vec *y, double alpha, double beta);
rubus_status vk_spmm(void *ctx, const rubus_csr_desc *a, const rubus_mat *x,
                     const rubus_mat *y, double alpha, double beta);

#endif
