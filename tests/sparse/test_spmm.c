/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with dense matrices: every layout, leading dimensions, any number of columns,
 * each the same to the bit as a product with a vector; what lies between is left alone.
 */
#include "config.h"

#include <check.h>
#include <math.h>

#include "tests/sparse/sparse_probe.h"

/* Number of element (i, j) in the array of a dense matrix. */
static int64_t place(const rubus_dense *d, int64_t i, int64_t j)
{
    return d->layout == RUBUS_ROW_MAJOR ? i * d->ld + j : i + j * d->ld;
}

/* An array for nrow x k elements, as short as it may be, `fill` between them. Element
 * (i, j) is from[i * k + j]. */
static rubus_dense make_dense(rubus_context *context, int32_t real, int64_t nrow,
                              int64_t k, int32_t layout, int64_t more, double fill,
                              const double *from)
{
    rubus_dense d = {.nrow = nrow, .ncol = k, .layout = layout};
    d.ld = (layout == RUBUS_ROW_MAJOR ? k : nrow) + more;
    const int64_t n =
        nrow > 0 && k > 0 ? place(&d, nrow - 1, k - 1) + 1 + (more > 0 ? 1 : 0) : 0;
    double *host = malloc((size_t)n * 8 + 8);
    for (int64_t e = 0; e < n; e++) {
        host[e] = fill;
    }
    for (int64_t i = 0; i < nrow; i++) {
        for (int64_t j = 0; j < k; j++) {
            host[place(&d, i, j)] = from[i * k + j];
        }
    }
    d.array = probe_vector(context, real, n, host);
    free(host);
    return d;
}

/* Elements are `want`, everything else still is `fill`. */
static void check_dense(const rubus_dense *d, const double *want, double fill,
                        const char *what)
{
    const int64_t n = rubus_array_count(d->array);
    double *got = malloc((size_t)n * 8 + 8);
    double *all = malloc((size_t)n * 8 + 8);
    probe_read(d->array, got);
    for (int64_t e = 0; e < n; e++) {
        all[e] = fill;
    }
    for (int64_t i = 0; i < d->nrow; i++) {
        for (int64_t j = 0; j < d->ncol; j++) {
            all[place(d, i, j)] = want[i * d->ncol + j];
        }
    }
    probe_same(got, all, n, what);
    free(got);
    free(all);
}

/* Case A28a: 3 x 4 times 4 x 2, by columns with leading dimensions 6 and 5. */
START_TEST(case_a28_padding_is_kept)
{
    rubus_context *context = backends_open(_i);
    const int32_t row[6] = {0, 0, 1, 1, 2, 2};
    const int32_t col[6] = {0, 3, 1, 2, 0, 2};
    const double value[6] = {1, 2, -1, 1, 3, 5};
    const double b[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    // rows: 1*B0 + 2*B3, B2 - B1, 3*B0 + 5*B2
    const double want[6] = {15, 18, 2, 2, 28, 36};
    const double seven[6] = {7, 7, 7, 7, 7, 7};
    rubus_csr *csr = NULL;
    ok(rubus_csr_create_coo(context, RUBUS_I32, RUBUS_F64, 3, 4, 6, row, col, value,
                            &csr));
    rubus_dense x = make_dense(context, RUBUS_F64, 4, 2, RUBUS_COLUMN_MAJOR, 2, 1e100, b);
    rubus_dense y =
        make_dense(context, RUBUS_F64, 3, 2, RUBUS_COLUMN_MAJOR, 2, -777, seven);
    ck_assert_int_eq(x.ld, 6);
    ck_assert_int_eq(y.ld, 5);
    ok(rubus_spmm(1, csr, x, 0, y));
    check_dense(&y, want, -777, "C");
    rubus_dense bad = x;
    bad.ld = 3;
    fails(rubus_spmm(1, csr, bad, 0, y), RUBUS_ESHAPE,
          "leading dimension of X is 3|4 rows");
    bad = y;
    bad.ld = 2;
    fails(rubus_spmm(1, csr, x, 0, bad), RUBUS_ESHAPE,
          "leading dimension of Y is 2|3 rows");
    check_dense(&y, want, -777, "C after the errors");
    rubus_array_destroy(x.array);
    rubus_array_destroy(y.array);
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

/* All layouts, widths around every multiple of 8, padding; rows of every kind. */
static void check_products(rubus_context *context, rubus_csr *csr, int64_t k, bool turned,
                           rubus_csr *oracle)
{
    static const double pairs[][2] = {{1, 0}, {2, 0}, {-1, 1}, {0.5, -3}, {0, 2}};
    const int32_t real = csr->mirror.real;
    const int64_t nrow = oracle->mirror.nrow;
    const int64_t ncol = oracle->mirror.ncol;
    double *x = malloc((size_t)(ncol * k) * 8 + 8);
    double *y = malloc((size_t)(nrow * k) * 8 + 8);
    double *want = malloc((size_t)(nrow * k) * 8 + 8);
    uint64_t seed = (uint64_t)k;
    for (int64_t e = 0; e < ncol * k; e++) {
        x[e] = probe_random(&seed);
    }
    for (int64_t e = 0; e < nrow * k; e++) {
        y[e] = probe_random(&seed);
    }
    for (int layouts = 0; layouts < 4; layouts++) {
        const int64_t more = layouts % 3;
        rubus_dense dx =
            make_dense(context, real, ncol, k, layouts & 1, more, (double)NAN, x);
        for (int p = 0; p < 5; p++) {
            rubus_dense dy =
                make_dense(context, real, nrow, k, layouts >> 1, more, -5, y);
            memcpy(want, y, (size_t)(nrow * k) * 8);
            probe_multiply(oracle, k, pairs[p][0], x, pairs[p][1], want);
            ok(turned ? rubus_spmm_transposed(pairs[p][0], csr, dx, pairs[p][1], dy)
                      : rubus_spmm(pairs[p][0], csr, dx, pairs[p][1], dy));
            check_dense(&dy, want, -5, turned ? "A'X" : "AX");
            rubus_array_destroy(dy.array);
        }
        rubus_array_destroy(dx.array);
    }
    free(x);
    free(y);
    free(want);
}

START_TEST(every_layout_and_width_gives_the_same_bits)
{
    rubus_context *context = backends_open(_i);
    enum { NROW = 8, NCOL = 300 };
    static const int64_t lengths[NROW] = {5, 0, 257, 1, 8, 3, 256, 17};
    static const int64_t widths[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33};
    for (int kind = 0; kind < 4; kind++) {
        rubus_csr *csr = probe_rows(context, probe_index[kind], probe_real[kind], NROW,
                                    NCOL, lengths, 21);
        for (int w = kind; w < 11; w += kind == 0 ? 1 : 4) {
            check_products(context, csr, widths[w], false, csr);
        }
        rubus_csr_destroy(csr);
    }
    rubus_csr *two =
        probe_rows(context, RUBUS_I32, RUBUS_F64, 3, 4200, (int64_t[]){4100, 2, 1}, 8);
    check_products(context, two, 3, false, two); // two segments
    rubus_csr_destroy(two);
    backends_finish(context);
}
END_TEST

START_TEST(transposed_products_with_dense_matrices)
{
    rubus_context *context = backends_open(_i);
    enum { NROW = 300, NCOL = 7 };
    int64_t lengths[NROW];
    for (int i = 0; i < NROW; i++) {
        lengths[i] = i % 4; // columns of the transpose get long
    }
    for (int kind = 0; kind < 4; kind++) {
        rubus_csr *csr = probe_rows(context, probe_index[kind], probe_real[kind], NROW,
                                    NCOL, lengths, 4);
        rubus_csr *oracle = NULL;
        ok(rubus_csr_create_transpose(csr, &oracle));
        check_products(context, csr, 3, true, oracle);
        check_products(context, csr, 8, true, oracle);
        rubus_csr_destroy(oracle);
        rubus_csr_destroy(csr);
    }
    backends_finish(context);
}
END_TEST

START_TEST(empty_sizes_do_nothing_or_scale)
{
    rubus_context *context = backends_open(_i);
    rubus_csr *csr = NULL;
    rubus_array *none = backends_ramp(context, 0, 0);
    rubus_array *six = backends_ramp(context, 6, 1);
    ok(rubus_csr_create_zeros(context, RUBUS_I32, RUBUS_F64, 3, 0, &csr));
    ok(rubus_spmm(1, csr, rubus_dense_rows(none, 0, 2, 0), 2,
                  rubus_dense_rows(six, 3, 2, 0)));
    for (int k = 0; k < 6; k++) {
        ck_assert_double_eq(backends_get(six, k), 2 * (k + 1));
    }
    ok(rubus_spmm(1, csr, rubus_dense_rows(none, 0, 0, 0), 2,
                  rubus_dense_rows(none, 3, 0, 0)));
    rubus_csr_destroy(csr);
    ok(rubus_csr_create_zeros(context, RUBUS_I32, RUBUS_F64, 0, 3, &csr));
    ok(rubus_spmm(1, csr, rubus_dense_columns(six, 3, 2, 0), 2,
                  rubus_dense_columns(none, 0, 2, 0)));
    rubus_csr_destroy(csr);
    rubus_array_destroy(none);
    rubus_array_destroy(six);
    backends_finish(context);
}
END_TEST

START_TEST(wrong_matrices_are_refused)
{
    rubus_context *context = backends_open(_i);
    rubus_csr *csr = NULL;
    ok(rubus_csr_create_identity(context, RUBUS_I32, RUBUS_F64, 4, &csr));
    rubus_array *x = backends_ramp(context, 12, 0);
    rubus_array *y = backends_ramp(context, 12, 0);
    const rubus_dense good = rubus_dense_columns(x, 4, 3, 0);
    const rubus_dense to = rubus_dense_columns(y, 4, 3, 0);
    ok(rubus_spmm(1, csr, good, 0, to));
    fails(rubus_spmm(1, NULL, good, 0, to), RUBUS_EINVAL, "rubus_spmm: A is NULL");
    fails(rubus_spmm(1, csr, rubus_dense_columns(NULL, 4, 3, 0), 0, to), RUBUS_EINVAL,
          "X is NULL");
    fails(rubus_spmm(1, csr, good, 0, rubus_dense_rows(NULL, 4, 3, 0)), RUBUS_EINVAL,
          "Y is NULL");
    fails(rubus_spmm(1, csr, rubus_dense_columns(x, 3, 4, 0), 0, to), RUBUS_ESHAPE,
          "X is 3 x 4|needs 4 x 4");
    fails(rubus_spmm(1, csr, good, 0, rubus_dense_columns(y, 4, 2, 0)), RUBUS_ESHAPE,
          "Y is 4 x 2|needs 4 x 3");
    fails(rubus_spmm(1, csr, rubus_dense_columns(x, 4, -3, 0), 0, to), RUBUS_ESHAPE,
          "X is 4 x -3");
    fails(rubus_spmm(1, csr, rubus_dense_rows(x, 4, 3, 4), 0, to), RUBUS_ESHAPE,
          "array of X has 12 elements|4 x 3|leading dimension 4");
    fails(rubus_spmm(1, csr, rubus_dense_columns(x, 4, INT64_MAX, 0), 0, to),
          RUBUS_ESHAPE, "array of X has 12");
    rubus_dense odd = good;
    odd.layout = 5;
    fails(rubus_spmm(1, csr, odd, 0, to), RUBUS_EINVAL, "layout of X is 5");
    fails(rubus_spmm(1, csr, good, 0, rubus_dense_columns(x, 4, 3, 0)), RUBUS_EALIAS,
          "share memory");
    rubus_array_destroy(x);
    rubus_array_destroy(y);
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

static Suite *spmm_suite(void)
{
    TCase *tc = tcase_create("spmm");
    backends_add(tc, case_a28_padding_is_kept);
    backends_add(tc, every_layout_and_width_gives_the_same_bits);
    backends_add(tc, transposed_products_with_dense_matrices);
    backends_add(tc, empty_sizes_do_nothing_or_scale);
    backends_add(tc, wrong_matrices_are_refused);
    Suite *suite = suite_create("sparse: products with dense matrices");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("sparse: products with dense matrices", spmm_suite)
