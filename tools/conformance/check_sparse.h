/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_CHECK_SPARSE_H
#define RUBUS_CHECK_SPARSE_H
/* Matrices for the checks S, on the host, and what a product of them should be. */
#include <rubus/sparse.h>

#include "conform.h"

typedef struct sparse_matrix {
    const char *name;
    int64_t nrow;
    int64_t ncol;
    int64_t nnz;
    int64_t *rowptr;
    int64_t *colval;
    double *value; // numbers that a float holds too
} sparse_matrix;

enum { SPARSE_MATRICES = 12 };

/* Matrix number `which`; to be freed. */
sparse_matrix sparse_make(int which, uint64_t seed);
void sparse_free(sparse_matrix *m);
/* The same on the device. */
rubus_csr *sparse_upload(rubus_context *context, const sparse_matrix *m, int32_t index,
                         int32_t real);
/* n numbers that a float holds too; to be freed. */
double *sparse_vector(int64_t n, uint64_t seed);
/* An array between guard zones with these numbers. */
conform_window sparse_put(rubus_context *context, int32_t real, const double *x,
                          int64_t n, int shift);
/* Fails unless y = alpha A x + beta y0 within the bound of its sums; y0 may be NULL where
 * beta is 0. x has the stride `step`, y is contiguous in `got`. */
void sparse_want(const sparse_matrix *m, int32_t real, double alpha, const double *x,
                 double beta, const double *y0, const void *got, const char *what);

#endif
