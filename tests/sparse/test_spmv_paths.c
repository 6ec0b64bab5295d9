/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways in which the backend for threads stores a matrix for products. Each matrix is
 * made for one of them, which is asserted; results are those of a plain sum in the
 * promised order, to the bit, for any number of threads, and nothing beside y is written.
 */
#include "config.h"

#include <check.h>

#include "tests/sparse/path_checks.h"

enum { THREADS = 4 };
static const int thread_count[THREADS] = {1, 2, 3, 8};

static rubus_context *open_threads(int n)
{
    char spec[40];
    snprintf(spec, sizeof spec, "threads:threads=%d", n);
    rubus_context *context = NULL;
    ok(rubus_context_create(spec, &context));
    return context;
}

START_TEST(every_path_gives_the_plain_sum)
{
    const path_case *c = &cases[_i];
    for (int t = 0; t < THREADS; t++) {
        rubus_context *context = open_threads(thread_count[t]);
        check_factors(context, c, c->path, 1);
        backends_finish(context);
    }
}
END_TEST

START_TEST(new_values_are_taken)
{
    rubus_context *context = open_threads(3);
    check_new_values(context, &cases[_i], 1);
    backends_finish(context);
}
END_TEST

START_TEST(not_a_number_stays_in_its_rows)
{
    rubus_context *context = open_threads(2);
    check_not_a_number(context, &cases[_i]);
    backends_finish(context);
}
END_TEST

START_TEST(every_path_multiplies_dense_matrices)
{
    rubus_context *context = open_threads(3);
    check_widths(context, &cases[_i], 1);
    backends_finish(context);
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
