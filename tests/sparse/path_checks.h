/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_PATH_CHECKS_H
#define RUBUS_TESTS_PATH_CHECKS_H
/*
 * Products of the matrices of path_matrices.h against plain sums in the promised order,
 * to the bit, with guards around what is written. Include after check.h and config.h.
 */
#include "tests/sparse/path_matrices.h"

enum { GUARD = 21 };

/* The path of a matrix begins so, and has that. */
static inline void path_is(rubus_csr *csr, const path_case *c, const char *path,
                           const char *with)
{
    rubus_csr_info info = {.struct_size = sizeof info};
    ok(rubus_csr_optimize(csr));
    ok(rubus_csr_info_get(csr, &info));
    ck_assert_msg(strncmp(info.path, path, strlen(path)) == 0 &&
                      strstr(info.path, with) != NULL,
                  "%s: '%s' instead of '%s'...'%s'", c->name, info.path, path, with);
}

/* --- vectors ------------------------------------------------------------------------ */

/* A product, with guards around y, and what it must give. */
typedef struct vectors {
    rubus_csr *csr;
    const char *name;
    rubus_array *x;
    rubus_array *all; /* y between guards */
    rubus_array *y;
    double *sum; /* [nrow] of A x */
    double *start;
    double *got;
} vectors;

static inline vectors make_vectors(rubus_csr *csr, const char *name)
{
    const rubus__host_csr *m = &csr->mirror;
    rubus_context *context = rubus_csr_context(csr);
    const int64_t n = m->nrow + 2 * GUARD;
    vectors v = {.csr = csr, .name = name};
    double *x = malloc((size_t)m->ncol * 8 + 8);
    v.sum = malloc((size_t)n * 8);
    v.start = malloc((size_t)n * 8);
    v.got = malloc((size_t)n * 8);
    uint64_t seed = 99;
    for (int64_t j = 0; j < m->ncol; j++) {
        x[j] = probe_random(&seed);
    }
    for (int64_t i = 0; i < m->nrow; i++) {
        v.sum[i] = probe_row_sum(csr, i, x, 1, 0);
    }
    v.x = probe_vector(context, m->real, m->ncol, x);
    ok(rubus_array_create(context, m->real, RUBUS_SHAPE(n), &v.all));
    ok(rubus_array_view(v.all, GUARD, RUBUS_SHAPE(m->nrow), &v.y));
    free(x);
    return v;
}

static inline void drop_vectors(vectors *v)
{
    rubus_array_destroy(v->x);
    rubus_array_destroy(v->y);
    rubus_array_destroy(v->all);
    free(v->sum);
    free(v->start);
    free(v->got);
}

/* y is NaN where it must not be read. */
static inline void check_product(vectors *v, double alpha, double beta)
{
    const int32_t real = v->csr->mirror.real;
    const int64_t nrow = v->csr->mirror.nrow;
    const int64_t n = nrow + 2 * GUARD;
    for (int64_t i = 0; i < n; i++) {
        const bool inside = i >= GUARD && i < GUARD + nrow;
        v->start[i] = inside && beta == 0 ? (double)NAN : (double)(i % 31) - 7.5;
    }
    rubus_array *fresh = probe_vector(rubus_csr_context(v->csr), real, n, v->start);
    ok(rubus_array_copy(v->all, fresh));
    rubus_array_destroy(fresh);
    ok(rubus_spmv(alpha, v->csr, v->x, beta, v->y));
    probe_read(v->all, v->got);
    for (int64_t i = 0; i < nrow; i++) {
        double *want = &v->start[GUARD + i];
        const double sum = alpha == 0 ? 0 : probe_round(real, alpha * v->sum[i]);
        *want =
            beta == 0 ? sum : probe_round(real, sum + probe_round(real, beta * *want));
    }
    char what[80];
    snprintf(what, sizeof what, "%s, %g A x + %g y, with %d guards", v->name, alpha, beta,
             (int)GUARD);
    probe_same(v->got, v->start, n, what);
}

/* --- dense matrices ----------------------------------------------------------------- */

/* Columns of Y are what the vectors give; what lies between them is kept. */
static inline void check_dense(rubus_csr *csr, const char *name, int64_t k, bool x_rows,
                               bool y_rows, double beta)
{
    const rubus__host_csr *m = &csr->mirror;
    rubus_context *context = rubus_csr_context(csr);
    const int64_t x_ld = (x_rows ? k : m->ncol) + 3;
    const int64_t y_ld = (y_rows ? k : m->nrow) + 2;
    const int64_t nx = x_ld * (x_rows ? m->ncol : k);
    const int64_t ny = y_ld * (y_rows ? m->nrow : k);
    double *x = malloc((size_t)nx * 8);
    double *y = malloc((size_t)ny * 8);
    double *got = malloc((size_t)ny * 8);
    double *plain = malloc((size_t)(m->ncol * k) * 8);
    uint64_t seed = (uint64_t)k;
    for (int64_t e = 0; e < nx; e++) {
        x[e] = probe_random(&seed);
    }
    for (int64_t e = 0; e < ny; e++) {
        y[e] = probe_random(&seed);
    }
    for (int64_t i = 0; i < m->ncol * k; i++) {
        plain[i] = x_rows ? x[i / k * x_ld + i % k] : x[i / k + i % k * x_ld];
    }
    rubus_array *dx = probe_vector(context, m->real, nx, x);
    rubus_array *dy = probe_vector(context, m->real, ny, y);
    ok(rubus_spmm(
        1.5, csr, (x_rows ? rubus_dense_rows : rubus_dense_columns)(dx, m->ncol, k, x_ld),
        beta, (y_rows ? rubus_dense_rows : rubus_dense_columns)(dy, m->nrow, k, y_ld)));
    probe_read(dy, got);
    for (int64_t i = 0; i < m->nrow; i++) {
        for (int64_t j = 0; j < k; j++) {
            double *to = &y[y_rows ? i * y_ld + j : i + j * y_ld];
            const double sum =
                probe_round(m->real, 1.5 * probe_row_sum(csr, i, plain, k, j));
            *to = beta == 0
                      ? sum
                      : probe_round(m->real, sum + probe_round(m->real, beta * *to));
        }
    }
    char what[80];
    snprintf(what, sizeof what, "%s, %lld columns, X by %s, Y by %s", name, (long long)k,
             x_rows ? "rows" : "columns", y_rows ? "rows" : "columns");
    probe_same(got, y, ny, what);
    rubus_array_destroy(dx);
    rubus_array_destroy(dy);
    free(x);
    free(y);
    free(got);
    free(plain);
}

/* --- all matrices of a context ------------------------------------------------------ */

/* Every `step`-th pair of factors, types of all kinds. path: how that of the context's
 * backend begins. */
static inline void check_factors(rubus_context *context, const path_case *c,
                                 const char *path, int step)
{
    static const double factor[4] = {0, 1, -1, 2.5};
    builder b = c->make();
    for (int kind = 0; kind < 4; kind++) {
        rubus_csr *csr = finish(context, probe_index[kind], probe_real[kind], &b);
        if (b.nnz > 0 && b.nrow > 0) {
            path_is(csr, c, path, c->with);
        }
        vectors v = make_vectors(csr, c->name);
        for (int k = 0; k < 16; k += step) {
            check_product(&v, factor[k / 4], factor[k % 4]);
        }
        check_product(&v, 1, 0);
        drop_vectors(&v);
        rubus_csr_destroy(csr);
    }
    drop(&b);
}

/* The plan holds copies of the values, or none: both must be those of the matrix now. For
 * every `step`-th kind of types. */
static inline void check_new_values(rubus_context *context, const path_case *c, int step)
{
    builder b = c->make();
    for (int kind = 0; kind < 4; kind += step) {
        rubus_csr *csr = finish(context, probe_index[kind], probe_real[kind], &b);
        ok(rubus_csr_optimize(csr));
        rubus_csr_mirror mirror = {.struct_size = sizeof mirror};
        ok(rubus_csr_mirror_get(csr, &mirror));
        uint64_t seed = 5;
        // products after each refill: too few to pack again, enough, and none
        for (int round = 0; round < 4; round++) {
            for (int64_t k = 0; k < b.nnz; k++) {
                const double value = probe_random(&seed);
                if (csr->mirror.real == RUBUS_F32) {
                    ((float *)mirror.nzval)[k] = (float)value;
                } else {
                    ((double *)mirror.nzval)[k] = value;
                }
            }
            ok(rubus_csr_flush(csr));
            vectors v = make_vectors(csr, c->name);
            for (int repeat = 0; repeat < (round == 1 ? 12 : round); repeat++) {
                check_product(&v, 1, repeat % 2);
            }
            drop_vectors(&v);
        }
        rubus_csr_destroy(csr);
    }
    drop(&b);
}

/* A NaN in x reaches the rows that have its column, whatever is stored beside them. */
static inline void check_not_a_number(rubus_context *context, const path_case *c)
{
    builder b = c->make();
    if (b.nrow == 0 || b.ncol == 0) {
        drop(&b);
        return;
    }
    rubus_csr *csr = finish(context, RUBUS_I32, RUBUS_F64, &b);
    const int64_t marked[3] = {0, b.ncol / 2, b.ncol - 1};
    double *x = malloc((size_t)b.ncol * 8);
    double *y = malloc((size_t)b.nrow * 8);
    double *want = malloc((size_t)b.nrow * 8);
    for (int64_t j = 0; j < b.ncol; j++) {
        x[j] = 1 + (double)(j % 5);
    }
    for (int k = 0; k < 3; k++) {
        x[marked[k]] = k == 1 ? (double)INFINITY : (double)NAN;
    }
    for (int64_t i = 0; i < b.nrow; i++) {
        y[i] = (double)i;
    }
    memcpy(want, y, (size_t)b.nrow * 8);
    probe_multiply(csr, 1, -1, x, 2, want);
    rubus_array *dx = probe_vector(context, RUBUS_F64, b.ncol, x);
    rubus_array *dy = probe_vector(context, RUBUS_F64, b.nrow, y);
    ok(rubus_spmv(-1, csr, dx, 2, dy));
    probe_read(dy, y);
    probe_same(y, want, b.nrow, c->name);
    rubus_array_destroy(dx);
    rubus_array_destroy(dy);
    rubus_csr_destroy(csr);
    free(x);
    free(y);
    free(want);
    drop(&b);
}

/* Every `step`-th width, other ones for each kind of types. */
static inline void check_widths(rubus_context *context, const path_case *c, int step)
{
    static const int64_t width[] = {1, 2, 3, 4, 5, 8, 16, 19};
    builder b = c->make();
    if (b.nrow == 0 || b.ncol == 0) {
        drop(&b);
        return;
    }
    for (int kind = 0; kind < 4; kind++) {
        rubus_csr *csr = finish(context, probe_index[kind], probe_real[kind], &b);
        for (int w = kind % step; w < 8; w += step) {
            // every layout with every width, over the kinds
            const int turn = (w + kind) % 4;
            check_dense(csr, c->name, width[w], turn / 2 == 0, turn % 2 == 0, 0);
            check_dense(csr, c->name, width[w], turn / 2 == 0, turn / 2 == 0, -1);
        }
        rubus_csr_destroy(csr);
    }
    drop(&b);
}

#endif
