/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_KRONECKER_INNER_H
#define RUBUS_KRONECKER_INNER_H
/* Kronecker sums from inside: kronecker.c applies them, fdm.c inverts them by what
 * tridiagonal.c finds on each axis. */
#include <stdatomic.h>

#include <rubus/kronecker.h>

#include "libcore/grid/grid.h"
#include "libcore/sparse/operator_inner.h"

/* What is behind such an operator; an fdm holds it too. */
typedef struct rubus__kronecker {
    atomic_int references;
    rubus_space *space;   /* held */
    rubus__state *state;  /* held */
    char *labels;         /* of constrained points; NULL: none */
    rubus_array *on_mesh; /* the mask of one component, of the state; NULL: none */
    rubus_array *mask;    /* of all components, if they are several */
    int32_t nterm;
    rubus_kronecker_term *term; /* [nterm] coefficients are views */
    uint64_t *version;          /* [nterm] of coefficients, as they are in the tables */
    rubus_array *table[3];      /* see shaders/kronecker.rk */
    bool fresh;                 /* the tables are made of these factors */
} rubus__kronecker;

/* --- kronecker.c ------------------------------------------------------------------ */

/* EINVAL (NULL, another kind of operator). */
rubus_status rubus__kronecker_of(const char *what, const rubus_operator *op,
                                 rubus__kronecker **out_kronecker);
void rubus__kronecker_hold(rubus__kronecker *kronecker);
void rubus__kronecker_release(rubus__kronecker *kronecker);
/* Tables with the present factors and coefficients; ESTALE. */
rubus_status rubus__kronecker_update(const char *what, rubus__kronecker *kronecker);
/* Applies updated tables to one component: windows shaped like the mesh. */
rubus_status rubus__kronecker_one(rubus__kronecker *kronecker, double alpha,
                                  rubus_array *x, double beta, rubus_array *y);
/* The factors of equal kinds, added up. */
void rubus__kronecker_sums(const rubus__kronecker *kronecker, double out_sum[4]);

/* --- tridiagonal.c ---------------------------------------------------------------- */

/*
 * All eigenvalues and eigenvectors of a symmetric tridiagonal matrix, in no order.
 *
 * d  [n] the diagonal; then the eigenvalues
 * e  [n] e[i] stands between i and i + 1, the last counts for nothing; overwritten
 * z  [n * n] then eigenvector k of length 1 is z[k*n] ... z[k*n + n-1]
 *
 * False: numbers that are not finite, or no end in sight.
 */
bool rubus__tridiagonal_eigen(int64_t n, double *d, double *e, double *z);

#endif
