/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TOOLS_HANDWRITTEN_H
#define RUBUS_TOOLS_HANDWRITTEN_H
/*
 * The 2D relaxation and sparse products, written by hand in C as somebody would who has
 * no Rubus: what generated kernels and the paths of sparse matrices are measured against.
 * One call is one iteration, or one product, on all threads of a team. Results of the
 * relaxation are those of shaders/relax_2d.rk, bit for bit.
 */
#include <stdbool.h>
#include <stdint.h>

/** Threads of its own; NULL when they cannot be had. threads >= 1. */
typedef struct handwritten_team handwritten_team;
handwritten_team *handwritten_team_create(int threads);
void handwritten_team_destroy(handwritten_team *team); /* NULL allowed */

/**
 * One problem. All arrays are float, or all double (f64); x runs fastest, without
 * padding. A function needs only the arrays that it names. nx, ny >= 4.
 */
typedef struct handwritten_dr {
    bool f64;
    int64_t nx;
    int64_t ny;
    void *u;         /**< [ny, nx] */
    void *d;         /**< [ny-2, nx-2] */
    const void *lam; /**< [ny, nx] */
    const void *Q;   /**< [ny-2, nx-2] */
    void *qx;        /**< [ny-2, nx-1] */
    void *qy;        /**< [ny-1, nx-2] */
    void *r;         /**< [ny-2, nx-2] */
    void *z;         /**< [ny-2, nx-2] */
    void *un;        /**< [ny, nx] */
    void *dn;        /**< [ny-2, nx-2] */
    double alpha;
    double beta;
    double dx_inverse;
    double dy_inverse;
} handwritten_dr;

/** Five sweeps, 16 arrays: u, d, lam, Q, qx, qy, r, z. */
void handwritten_math(handwritten_team *team, const handwritten_dr *dr);
/** Four sweeps with the flux inside the residual, 12 arrays: u, d, lam, Q, r, z. */
void handwritten_index(handwritten_team *team, const handwritten_dr *dr);
/** One sweep, 6 arrays: u, d, lam, Q in, un, dn out (the caller swaps them). */
void handwritten_fused(handwritten_team *team, const handwritten_dr *dr);
/** The same, asking for the next row while it works on this one. */
void handwritten_fused_prefetch(handwritten_team *team, const handwritten_dr *dr);

/** dst = src with stores that pass the caches by: the bandwidth called T_peak. */
void handwritten_copy(handwritten_team *team, void *dst, const void *src, int64_t nbyte);
/** a = b + factor * c over n numbers. */
void handwritten_triad(handwritten_team *team, bool f64, int64_t n, void *a,
                       const void *b, const void *c, double factor);

/** Y = A X with a square matrix in compressed rows, columns of Y one after the other, or
 *  all at once where X and Y are stored by rows. */
typedef struct handwritten_csr {
    bool f64;
    int64_t n;
    const int32_t *rowptr; /**< [n + 1] */
    const int32_t *colval;
    const void *nzval;
    int64_t k;
    bool by_rows;
    const void *x; /**< [n, k] by rows, or [k, n] */
    void *y;
} handwritten_csr;
void handwritten_product(handwritten_team *team, const handwritten_csr *a);

/** Zeroes an array, with the threads that will work on it. */
void handwritten_touch(handwritten_team *team, void *data, int64_t nbyte);

#endif
