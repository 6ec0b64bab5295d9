/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_CSR_H
#define RUBUS_CSR_H
/*
 * What the files of the sparse layer share: the matrix itself, and compressed rows on the
 * host while one is made.
 *
 *   what a user gives  ->  csr_input.c checks it  ->  csr_build.c makes host rows,
 *   csr_row.c sorts them  ->  csr.c uploads them once and keeps them as the mirror
 */
#include <stdatomic.h>

#include <rubus/sparse.h>

#include "libcore/runtime/runtime.h"

#define RUBUS__INLINE static inline __attribute__((always_inline))

/* Compressed rows (or columns) on the host. Types as in rubus_csr. */
typedef struct rubus__host_csr {
    int32_t index;
    int32_t real;
    int64_t nrow;
    int64_t ncol;
    int64_t nnz;
    void *rowptr;
    void *colval;
    void *nzval;
} rubus__host_csr;

/* Rows of more entries are summed in segments; see rubus_spmv and shaders/sparse.rk. */
#define RUBUS__LONG_ROW 256
#define RUBUS__SEGMENT 4096

/* The long rows of a matrix, for the kernels of the library. */
typedef struct rubus__long_rows {
    int64_t nrow; /* 0: there are none, and no arrays */
    int64_t nsegment;
    rubus_array *row;   /* [nrow] */
    rubus_array *start; /* [nrow + 1] of segments */
    rubus_array *first; /* [nsegment] entry */
    rubus_array *size;  /* [nsegment] entries */
    rubus_array *part;  /* sums of segments: nsegment for each column of a product */
} rubus__long_rows;

/*
 * Locks: `lock` guards what is made when first needed (all below it), and is held through
 * a product; it comes before the lock of a transpose, and that before the context's.
 */
struct rubus_csr {
    rubus__object object;
    atomic_int references;
    rubus_context *context; /* held */
    rubus__host_csr mirror;
    rubus_array *rowptr;
    rubus_array *colval;
    rubus_array *nzval;

    pthread_mutex_t lock;
    bool prepared;
    rubus_csr_desc desc; /* for the backend; desc.plan is what it keeps */
    char path[64];       /* "" until prepared */
    uint64_t path_bytes;
    uint64_t product_bytes;
    rubus__long_rows long_rows;
    rubus_csr *turned;       /* the transpose, for products with it */
    rubus_array *turned_at;  /* entry k of it is entry turned_at[k] of this */
    uint64_t turned_version; /* of nzval, when the values were last taken */
    bool turned_fresh;       /* they were taken at all */
    void *owner; /* what a layer above keeps with the matrix, from its start */
    void (*owner_destroy)(void *owner);
};

/* Element k of an array of indices. `type` is a constant where the loop is hot. */
RUBUS__INLINE int64_t rubus__index_get(const void *array, int32_t type, int64_t k)
{
    return type == RUBUS_I32 ? ((const int32_t *)array)[k] : ((const int64_t *)array)[k];
}

RUBUS__INLINE void rubus__index_set(void *array, int32_t type, int64_t k, int64_t value)
{
    if (type == RUBUS_I32) {
        ((int32_t *)array)[k] = (int32_t)value;
    } else {
        ((int64_t *)array)[k] = value;
    }
}

/* to[k] = from[j], and to[k] += from[j], for values. */
RUBUS__INLINE void rubus__value_copy(void *to, int64_t k, const void *from, int64_t j,
                                     int32_t real)
{
    if (real == RUBUS_F32) {
        ((float *)to)[k] = ((const float *)from)[j];
    } else {
        ((double *)to)[k] = ((const double *)from)[j];
    }
}

RUBUS__INLINE void rubus__value_add(void *to, int64_t k, const void *from, int64_t j,
                                    int32_t real)
{
    if (real == RUBUS_F32) {
        ((float *)to)[k] += ((const float *)from)[j];
    } else {
        ((double *)to)[k] += ((const double *)from)[j];
    }
}

/* --- csr_input.c: what a user gives ------------------------------------------------- */

/* What all have in common: types, sizes, limits. nnz: stored or listed entries. */
rubus_status rubus__csr_check_sizes(const char *what, rubus_context *context,
                                    const rubus__host_csr *sizes, const void *out);
/* Compressed rows: ptr[n + 1] ascends from 0 to nnz, val[nnz] in 0..limit-1. `major` and
 * `minor` are "row" and "column", or the other way round. */
rubus_status rubus__csr_check_rows(const char *what, const rubus__host_csr *given,
                                   int64_t n, int64_t limit, const char *major,
                                   const char *minor);
/* A list of entries, n = sizes->nnz. */
rubus_status rubus__csr_check_list(const char *what, const rubus__host_csr *sizes,
                                   const void *row, const void *col);

/* --- csr_build.c: compressed rows on the host --------------------------------------- */

/* Fill the arrays of *out (types and sizes are set; nnz is that of the input, and falls
 * where entries stand twice). On failure nothing is left to free. values may be NULL. */
rubus_status rubus__host_from_rows(rubus__host_csr *out, const void *rowptr,
                                   const void *colval, const void *value);
rubus_status rubus__host_from_list(rubus__host_csr *out, const void *row, const void *col,
                                   const void *value);
/* From compressed columns. */
rubus_status rubus__host_from_columns(rubus__host_csr *out, const void *colptr,
                                      const void *rowval, const void *value);
rubus_status rubus__host_identity(rubus__host_csr *out);
void rubus__host_csr_fini(rubus__host_csr *host);

/* --- csr_row.c ---------------------------------------------------------------------- */

/* Sorts every row by column, stably, and adds values of equal places up. */
rubus_status rubus__host_sort_rows(rubus__host_csr *host);

/* --- csr_turn.c: products with the transpose ---------------------------------------- */

/* Locked (csr->lock): csr->turned, with the values that the device has now. */
rubus_status rubus__csr_turn(rubus_csr *csr);

/* --- csr_fill.c -------------------------------------------------------------------- */

/* EBOUNDS: a position past the last entry. */
rubus_status rubus__csr_check_positions(const char *what, const rubus_csr *csr, int64_t n,
                                        const void *position);

/* --- csr_plan.c: before the first product ------------------------------------------- */

/* What the backend is told of a matrix; without plan and version. */
rubus_csr_desc rubus__csr_describe(const rubus_csr *csr);
/* Locked (csr->lock). */
rubus_status rubus__csr_prepare(rubus_csr *csr);
/* Room for the segments' sums of a product of k columns. Locked. */
rubus_status rubus__csr_part(rubus_csr *csr, int64_t k);
/* Takes csr->lock; EFORKED, EINVAL for NULL. */
rubus_status rubus__csr_enter(rubus_csr *csr, const char *what);
void rubus__csr_plan_fini(rubus_csr *csr);
/* Kernel of shaders/sparse.rk for the types of the matrix. */
rubus_status rubus__csr_kernel(const rubus_csr *csr, const char *name,
                               const rubus_kernel **out_kernel);

/* --- csr.c -------------------------------------------------------------------------- */

/* A matrix that takes the host's arrays over; they are freed on failure too. Without
 * values the device's are 0, and the mirror has none. */
rubus_status rubus__csr_take(rubus_context *context, rubus__host_csr *host,
                             rubus_csr **out_csr);
void rubus__csr_hold(rubus_csr *csr);
/* Gives a new matrix an owner, which ends together with it. */
void rubus__csr_own(rubus_csr *csr, void *owner, void (*end)(void *owner));
/* The owner that ends so; NULL: the matrix has none of that kind. */
void *rubus__csr_owner(const rubus_csr *csr, void (*end)(void *owner));

/* --- scatter.c ---------------------------------------------------------------------- */

/* Whether the device adds numbers of the matrix atomically. Tried once in a context and a
 * type, with a kernel. */
rubus_status rubus__csr_atomics(const rubus_csr *csr, bool *out_works);

#endif
