/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways in which the backend for threads stores a matrix for products. Each matrix is
 * made for one of them, which is asserted; results are those of a plain sum in the
 * promised order, to the bit, for any number of threads, and nothing beside y is written.
 */
#include "config.h"

#include <check.h>

#include "tests/sparse/path_matrices.h"

enum { GUARD = 21, THREADS = 4 };
static const int thread_count[THREADS] = {1, 2, 3, 8};

static rubus_context *open_threads(int n)
{
    char spec[40];
    snprintf(spec, sizeof spec, "threads:threads=%d", n);
    rubus_context *context = NULL;
    ok(rubus_context_create(spec, &context));
    return context;
}

static void path_is(rubus_csr *csr, const path_case *c)
{
    rubus_csr_info info = {.struct_size = sizeof info};
    ok(rubus_csr_optimize(csr));
    ok(rubus_csr_info_get(csr, &info));
    ck_assert_msg(strncmp(info.path, c->path, strlen(c->path)) == 0 &&
                      strstr(info.path, c->with) != NULL,
                  "%s: '%s' instead of '%s'...'%s'", c->name, info.path, c->path,
                  c->with);
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

static vectors make_vectors(rubus_csr *csr, const char *name)
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

static void drop_vectors(vectors *v)
{
    rubus_array_destroy(v->x);
    rubus_array_destroy(v->y);
    rubus_array_destroy(v->all);
    free(v->sum);
    free(v->start);
    free(v->got);
}

/* y is NaN where it must not be read. */
static void check_product(vectors *v, double alpha, double beta)
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

START_TEST(every_path_gives_the_plain_sum)
{
    static const double factor[4] = {0, 1, -1, 2.5};
    const path_case *c = &cases[_i];
    builder b = c->make();
    for (int t = 0; t < THREADS; t++) {
        rubus_context *context = open_threads(thread_count[t]);
        for (int kind = 0; kind < 4; kind++) {
            rubus_csr *csr = finish(context, probe_index[kind], probe_real[kind], &b);
            if (b.nnz > 0 && b.nrow > 0) {
                path_is(csr, c);
            }
            vectors v = make_vectors(csr, c->name);
            for (int k = 0; k < 16; k++) {
                check_product(&v, factor[k / 4], factor[k % 4]);
            }
            check_product(&v, 1, 0);
            drop_vectors(&v);
            rubus_csr_destroy(csr);
        }
        backends_finish(context);
    }
    drop(&b);
}
END_TEST

/* The plan holds copies of the values, or none: both must be those of the matrix now. */
START_TEST(new_values_are_taken)
{
    const path_case *c = &cases[_i];
    builder b = c->make();
    rubus_context *context = open_threads(3);
    for (int kind = 0; kind < 4; kind++) {
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
    backends_finish(context);
    drop(&b);
}
END_TEST

/* A NaN in x reaches the rows that have its column, whatever is stored beside them. */
START_TEST(not_a_number_stays_in_its_rows)
{
    const path_case *c = &cases[_i];
    builder b = c->make();
    if (b.nrow == 0 || b.ncol == 0) {
        drop(&b);
        return;
    }
    rubus_context *context = open_threads(2);
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
    backends_finish(context);
    drop(&b);
}
END_TEST

/* --- dense matrices ----------------------------------------------------------------- */

/* Columns of Y are what the vectors give; what lies between them is kept. */
static void check_dense(rubus_csr *csr, const char *name, int64_t k, bool x_rows,
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

START_TEST(every_path_multiplies_dense_matrices)
{
    static const int64_t width[] = {1, 2, 3, 4, 5, 8, 16, 19};
    const path_case *c = &cases[_i];
    builder b = c->make();
    if (b.nrow == 0 || b.ncol == 0) {
        drop(&b);
        return;
    }
    rubus_context *context = open_threads(3);
    for (int kind = 0; kind < 4; kind++) {
        rubus_csr *csr = finish(context, probe_index[kind], probe_real[kind], &b);
        for (int w = 0; w < 8; w++) {
            // every layout with every width, over the kinds
            const int turn = (w + kind) % 4;
            check_dense(csr, c->name, width[w], turn / 2 == 0, turn % 2 == 0, 0);
            check_dense(csr, c->name, width[w], turn / 2 == 0, turn / 2 == 0, -1);
        }
        rubus_csr_destroy(csr);
    }
    backends_finish(context);
    drop(&b);
}
END_TEST

/* --- results that pass the caches by ------------------------------------------------ */

/* Whole numbers, so the sums are exact. */
START_TEST(large_results_are_complete)
{
    enum { N = 9000011 };
    rubus_context *context = open_threads(2);
    int32_t *rowptr = malloc(((size_t)N + 1) * sizeof(int32_t));
    int32_t *colval = malloc((size_t)3 * N * sizeof(int32_t));
    float *nzval = malloc((size_t)3 * N * sizeof(float));
    float *x = malloc((size_t)N * sizeof(float));
    int32_t n = 0;
    rowptr[0] = 0;
    for (int32_t i = 0; i < N; i++) {
        for (int32_t j = i - 1; j <= i + 1; j++) {
            if (j >= 0 && j < N) {
                colval[n] = j;
                nzval[n++] = j == i ? 2 : -1;
            }
        }
        rowptr[i + 1] = n;
        x[i] = (float)(i % 11);
    }
    rubus_csr *csr = NULL;
    rubus_array *dx = NULL;
    rubus_array *dy = NULL;
    ok(rubus_csr_create(context, RUBUS_I32, RUBUS_F32, N, N, n, rowptr, colval, nzval,
                        &csr));
    ok(rubus_array_from(context, RUBUS_F32, RUBUS_SHAPE(N), x, &dx));
    ok(rubus_array_create(context, RUBUS_F32, RUBUS_SHAPE(N), &dy));
    ok(rubus_array_fill(dy, (double)NAN));
    ok(rubus_spmv(1, csr, dx, 0, dy));
    ok(rubus_array_read(dy, nzval, (size_t)N * sizeof(float)));
    for (int32_t i = 0; i < N; i++) {
        const float want = 2 * x[i] - (i > 0 ? x[i - 1] : 0) - (i < N - 1 ? x[i + 1] : 0);
        ck_assert_msg(nzval[i] == want, "element %d is %g, not %g", i, (double)nzval[i],
                      (double)want);
    }
    rubus_array_destroy(dx);
    rubus_array_destroy(dy);
    rubus_csr_destroy(csr);
    free(rowptr);
    free(colval);
    free(nzval);
    free(x);
    backends_finish(context);
}
END_TEST

static Suite *paths_suite(void)
{
    TCase *tc = tcase_create("paths");
    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, every_path_gives_the_plain_sum, 0, CASES);
    tcase_add_loop_test(tc, new_values_are_taken, 0, CASES);
    tcase_add_loop_test(tc, not_a_number_stays_in_its_rows, 0, CASES);
    tcase_add_loop_test(tc, every_path_multiplies_dense_matrices, 0, CASES);
    tcase_add_test(tc, large_results_are_complete);
    Suite *suite = suite_create("sparse: paths of the backend for threads");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("sparse: paths of the backend for threads", paths_suite)
