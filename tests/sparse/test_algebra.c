/* SPDX-License-Identifier: Apache-2.0 */
/* Products, sums and diagonals of matrices, on every backend, against dense ones. */
#include "config.h"

#include <check.h>

#include "tests/sparse/sparse_probe.h"

START_TEST(product_and_sum_of_small_matrices)
{
    rubus_context *context = backends_open(_i);
    static probe_numbers row;
    static probe_numbers col;
    static probe_numbers value;
    for (int kind = 0; kind < 4; kind++) {
        const int32_t index = probe_index[kind];
        const int32_t real = probe_real[kind];
        rubus_csr *a = NULL; // [1 2 0; 0 0 3]
        rubus_csr *b = NULL; // [0 4; 5 -2; 0 6]
        rubus_csr *c = NULL;
        ok(rubus_csr_create_coo(context, index, real, 2, 3, 3,
                                probe_indices(&row, index, 3, (int[]){0, 0, 1}),
                                probe_indices(&col, index, 3, (int[]){0, 1, 2}),
                                probe_values(&value, real, 3, (double[]){1, 2, 3}), &a));
        ok(rubus_csr_create_coo(context, index, real, 3, 2, 4,
                                probe_indices(&row, index, 4, (int[]){0, 1, 1, 2}),
                                probe_indices(&col, index, 4, (int[]){1, 0, 1, 1}),
                                probe_values(&value, real, 4, (double[]){4, 5, -2, 6}),
                                &b));
        ok(rubus_csr_create_product(a, b, &c)); // 4 - 4 stays an entry
        probe_csr_is(c, 2, 2, (int[]){0, 2, 3}, (int[]){0, 1, 1}, (double[]){10, 0, 18});
        rubus_csr_destroy(c);
        ok(rubus_csr_create_product(b, a, &c));
        probe_csr_is(c, 3, 3, (int[]){0, 1, 4, 5}, (int[]){2, 0, 1, 2, 2},
                     (double[]){12, 5, 10, -6, 18});
        rubus_csr_destroy(a);
        a = c;
        ok(rubus_csr_create_identity(context, index, real, 3, &c));
        rubus_csr_destroy(b);
        ok(rubus_csr_create_sum(2, a, -1, c, &b));
        probe_csr_is(b, 3, 3, (int[]){0, 2, 5, 6}, (int[]){0, 2, 0, 1, 2, 2},
                     (double[]){-1, 24, 10, 19, -12, 35});
        rubus_csr_destroy(b);
        ok(rubus_csr_create_sum(0, a, 1, a, &b)); // a factor of 0 keeps its entries
        probe_csr_is(b, 3, 3, (int[]){0, 1, 4, 5}, (int[]){2, 0, 1, 2, 2},
                     (double[]){12, 5, 10, -6, 18});
        rubus_csr_destroy(b);
        rubus_csr_destroy(c);
        ok(rubus_csr_create_diagonal(context, index, real, 3,
                                     probe_values(&value, real, 3, (double[]){2, 0, -1}),
                                     &c));
        probe_csr_is(c, 3, 3, (int[]){0, 1, 2, 3}, (int[]){0, 1, 2},
                     (double[]){2, 0, -1});
        ok(rubus_csr_create_product(c, a, &b));
        probe_csr_is(b, 3, 3, (int[]){0, 1, 4, 5}, (int[]){2, 0, 1, 2, 2},
                     (double[]){24, 0, 0, 0, -18});
        rubus_csr_destroy(a);
        rubus_csr_destroy(b);
        rubus_csr_destroy(c);
    }
    backends_finish(context);
}
END_TEST

/* Entry (i, j) of a matrix that has about a third of its entries. */
static double dense(int which, int i, int j)
{
    const int k = (i * 31 + j * 17 + which * 7) % 23;
    return k % 3 == 0 ? (double)(k - 11) / 4 : 0;
}

static rubus_csr *sparse_of(rubus_context *context, int which, int nrow, int ncol)
{
    int *row = malloc(sizeof(int) * (size_t)(nrow * ncol + 1));
    int *col = malloc(sizeof(int) * (size_t)(nrow * ncol + 1));
    double *value = malloc(sizeof(double) * (size_t)(nrow * ncol + 1));
    int64_t n = 0;
    for (int i = 0; i < nrow; i++) {
        for (int j = 0; j < ncol; j++) {
            if (dense(which, i, j) != 0) {
                row[n] = i;
                col[n] = j;
                value[n++] = dense(which, i, j);
            }
        }
    }
    rubus_csr *csr = NULL;
    ok(rubus_csr_create_coo(context, RUBUS_I32, RUBUS_F64, nrow, ncol, n, row, col, value,
                            &csr));
    free(row);
    free(col);
    free(value);
    return csr;
}

/* Entry (i, j) of what a matrix stores; 0 if it does not. */
static double entry(rubus_csr *csr, int i, int j)
{
    rubus_csr_mirror m = {.struct_size = sizeof m};
    ok(rubus_csr_mirror_get(csr, &m));
    const int64_t at = rubus_csr_position(csr, i, j);
    return at < 0 ? 0 : ((double *)m.nzval)[at];
}

START_TEST(product_equals_the_dense_one)
{
    static const int sizes[][3] = {{7, 5, 9}, {1, 30, 1}, {40, 1, 20}, {25, 25, 25},
                                   {0, 3, 2}, {3, 0, 2},  {2, 3, 0}};
    rubus_context *context = backends_open(_i);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const int *n = sizes[s];
        rubus_csr *a = sparse_of(context, 0, n[0], n[1]);
        rubus_csr *b = sparse_of(context, 1, n[1], n[2]);
        rubus_csr *c = NULL;
        ok(rubus_csr_create_product(a, b, &c));
        for (int i = 0; i < n[0]; i++) {
            for (int j = 0; j < n[2]; j++) {
                double sum = 0; // numbers of few bits: exact in any order
                for (int k = 0; k < n[1]; k++) {
                    sum += dense(0, i, k) * dense(1, k, j);
                }
                ck_assert_double_eq(entry(c, i, j), sum);
            }
        }
        rubus_csr_destroy(a);
        rubus_csr_destroy(b);
        rubus_csr_destroy(c);
    }
    backends_finish(context);
}
END_TEST

START_TEST(algebra_refuses_what_does_not_fit)
{
    rubus_context *context = backends_open(_i);
    rubus_context *other = backends_open(_i);
    rubus_csr *a = sparse_of(context, 0, 4, 3);
    rubus_csr *square = sparse_of(context, 0, 4, 4);
    rubus_csr *foreign = sparse_of(other, 0, 3, 4);
    rubus_csr *wide = NULL;
    rubus_csr *narrow = NULL;
    rubus_csr *c = NULL;
    ok(rubus_csr_create_zeros(context, RUBUS_I64, RUBUS_F64, 3, 4, &wide));
    ok(rubus_csr_create_zeros(context, RUBUS_I32, RUBUS_F32, 3, 4, &narrow));
    fails(rubus_csr_create_product(NULL, a, &c), RUBUS_EINVAL, "first matrix is NULL");
    fails(rubus_csr_create_product(a, NULL, &c), RUBUS_EINVAL, "second matrix is NULL");
    fails(rubus_csr_create_product(a, a, NULL), RUBUS_EINVAL, "output");
    fails(rubus_csr_create_product(a, a, &c), RUBUS_ESHAPE, "4 x 3 and 4 x 3|columns");
    fails(rubus_csr_create_product(a, foreign, &c), RUBUS_EFOREIGN, "another context");
    fails(rubus_csr_create_product(a, wide, &c), RUBUS_ETYPE, "i32|i64");
    fails(rubus_csr_create_product(a, narrow, &c), RUBUS_ETYPE, "f64|f32");
    fails(rubus_csr_create_sum(1, a, 1, square, &c), RUBUS_ESHAPE, "of one size");
    fails(rubus_csr_create_sum(1, NULL, 1, a, &c), RUBUS_EINVAL, "NULL");
    fails(rubus_csr_create_diagonal(context, RUBUS_I32, RUBUS_F64, 2, NULL, &c),
          RUBUS_EINVAL, "values are NULL");
    fails(rubus_csr_create_diagonal(context, RUBUS_I32, RUBUS_F64, -1, NULL, &c),
          RUBUS_EINVAL, "-1");
    ok(rubus_csr_create_diagonal(context, RUBUS_I32, RUBUS_F64, 0, NULL, &c));
    probe_csr_is(c, 0, 0, (int[]){0}, NULL, NULL);
    rubus_csr_destroy(c);
    rubus_csr_destroy(a);
    rubus_csr_destroy(square);
    rubus_csr_destroy(foreign);
    rubus_csr_destroy(wide);
    rubus_csr_destroy(narrow);
    rubus_context_destroy(other);
    backends_finish(context);
}
END_TEST

START_TEST(algebra_survives_the_failure_of_any_allocation)
{
    rubus_context *context = backends_open(_i);
    rubus_csr *a = sparse_of(context, 0, 5, 5);
    rubus_csr *c = NULL;
    const double value[5] = {1, 2, 3, 4, 5};
    const int64_t live = rubus__alloc_live();
    for (int what = 0; what < 3; what++) {
        rubus_status st = RUBUS_ENOMEM;
        for (int64_t n = 1; st != RUBUS_OK; n++) {
            rubus__alloc_fail_after(n, true);
            st = what == 0   ? rubus_csr_create_product(a, a, &c)
                 : what == 1 ? rubus_csr_create_sum(1, a, 2, a, &c)
                             : rubus_csr_create_diagonal(context, RUBUS_I32, RUBUS_F64, 5,
                                                         value, &c);
            rubus__alloc_fail_after(0, true);
            ck_assert_msg(st == RUBUS_OK || st == RUBUS_ENOMEM || st == RUBUS_EDEVMEM,
                          "%s", rubus_error_text());
            ck_assert_int_eq(rubus__alloc_live() == live, st != RUBUS_OK);
            ck_assert_int_lt(n, 100);
        }
        rubus_csr_destroy(c);
    }
    rubus_csr_destroy(a);
    backends_finish(context);
}
END_TEST

static Suite *algebra_suite(void)
{
    Suite *suite = suite_create("algebra");
    TCase *tc = tcase_create("backends");
    backends_add(tc, product_and_sum_of_small_matrices);
    backends_add(tc, product_equals_the_dense_one);
    backends_add(tc, algebra_refuses_what_does_not_fit);
    suite_add_tcase(suite, tc);
    TCase *memory = tcase_create("memory");
    tcase_set_tags(memory, "counts"); // see chaos_suite.sh
    backends_add(memory, algebra_survives_the_failure_of_any_allocation);
    suite_add_tcase(suite, memory);
    return suite;
}

RUBUS_TEST_MAIN("sparse: products and sums of matrices", algebra_suite)
