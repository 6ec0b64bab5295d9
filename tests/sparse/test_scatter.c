/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling matrices on the device through tables of positions, atomically or by gathering;
 * and storage by columns.
 */
#include "config.h"

#include <check.h>

#include "tests/sparse/sparse_probe.h"

/* Eight values for four entries: entry 1 gets three, entry 2 none. */
static const int table[8] = {1, -1, 0, 1, 3, -7, 1, 0};
static const double brought[8] = {1, 99, 2, 4, 8, 99, 16, 32};

START_TEST(device_scatter_adds_and_skips)
{
    rubus_context *context = backends_open(_i);
    static probe_numbers row;
    static probe_numbers col;
    for (int kind = 0; kind < 4; kind++) {
        const int32_t index = probe_index[kind];
        const int32_t real = probe_real[kind];
        rubus_csr *csr = NULL;
        ok(rubus_csr_create_coo(context, index, real, 2, 2, 4,
                                probe_indices(&row, index, 4, (int[]){0, 0, 1, 1}),
                                probe_indices(&col, index, 4, (int[]){0, 1, 0, 1}), NULL,
                                &csr));
        rubus_array *value = probe_vector(context, real, 8, brought);
        for (int mode = RUBUS_SCATTER_AUTO; mode <= RUBUS_SCATTER_GATHER; mode++) {
            rubus_scatter *scatter = NULL;
            double got[4];
            const rubus_status st = rubus_scatter_create(
                csr, 8, probe_indices(&row, index, 8, table), mode, &scatter);
            if (mode == RUBUS_SCATTER_ATOMIC && st == RUBUS_EUNSUPPORTED) {
                backends_text_has("atomically|RUBUS_SCATTER_GATHER", "create", __LINE__);
                continue;
            }
            ok(st);
            ck_assert(mode == RUBUS_SCATTER_AUTO || rubus_scatter_mode(scatter) == mode);
            ok(rubus_array_fill(rubus_csr_nzval(csr), 1000));
            const rubus_context_counters before = probe_counters(context);
            ok(rubus_scatter_set(scatter, value));
            ok(rubus_scatter_add(scatter, value));
            const rubus_context_counters after = probe_counters(context);
            ck_assert_uint_eq(after.write_bytes, before.write_bytes);
            ck_assert_uint_eq(after.read_bytes, before.read_bytes);
            probe_read(rubus_csr_nzval(csr), got);
            probe_same(got, (double[]){68, 42, 0, 16}, 4, "values");
            rubus_scatter_destroy(scatter);
        }
        rubus_array_destroy(value);
        rubus_csr_destroy(csr);
    }
    backends_finish(context);
}
END_TEST

/* As the probe says; where the device is told to have no atomics, values are gathered. */
START_TEST(atomics_are_probed_or_done_without)
{
    char spec[160];
    rubus_context *context = NULL;
    snprintf(spec, sizeof spec, "%s:cap.atomic_f64_add=0:cap.atomic_f32_add=0",
             backends_spec[_i]);
    ok(rubus_context_create(spec, &context));
    rubus_csr *csr = probe_tridiagonal(context, 3);
    rubus_scatter *scatter = NULL;
    const int32_t position[2] = {0, 0};
    fails(rubus_scatter_create(csr, 2, position, RUBUS_SCATTER_ATOMIC, &scatter),
          RUBUS_EUNSUPPORTED, "f64 atomically|RUBUS_SCATTER_GATHER");
    ok(rubus_scatter_create(csr, 2, position, RUBUS_SCATTER_AUTO, &scatter));
    ck_assert_int_eq(rubus_scatter_mode(scatter), RUBUS_SCATTER_GATHER);
    rubus_scatter_destroy(scatter);
    rubus_csr_destroy(csr);
    rubus_context_destroy(context);
    context = backends_open(_i);
    csr = probe_tridiagonal(context, 3);
    ok(rubus_scatter_create(csr, 2, position, RUBUS_SCATTER_AUTO, &scatter));
    const rubus_context_counters before = probe_counters(context);
    ck_assert_int_ne(context->atomics[1], 0); // tried
    ck_assert_int_eq(rubus_scatter_mode(scatter), context->atomics[1] > 0
                                                      ? RUBUS_SCATTER_ATOMIC
                                                      : RUBUS_SCATTER_GATHER);
    rubus_scatter_destroy(scatter);
    ok(rubus_scatter_create(csr, 2, position, RUBUS_SCATTER_AUTO, &scatter));
    ck_assert_uint_eq(probe_counters(context).launches, before.launches); // once
    rubus_scatter_destroy(scatter);
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

START_TEST(wrong_tables_are_refused)
{
    rubus_context *context = backends_open(_i);
    rubus_csr *csr = probe_tridiagonal(context, 3);
    rubus_scatter *scatter = NULL;
    const int32_t position[2] = {6, 7};
    fails(rubus_scatter_create(csr, 2, position, 0, &scatter), RUBUS_EBOUNDS,
          "position 7|value 1|7 entries");
    fails(rubus_scatter_create(NULL, 2, position, 0, &scatter), RUBUS_EINVAL,
          "matrix is NULL");
    fails(rubus_scatter_create(csr, 2, position, 0, NULL), RUBUS_EINVAL, "out_scatter");
    fails(rubus_scatter_create(csr, -2, position, 0, &scatter), RUBUS_EINVAL, "negative");
    fails(rubus_scatter_create(csr, 2, NULL, 0, &scatter), RUBUS_EINVAL, "positions");
    fails(rubus_scatter_create(csr, 2, position, 7, &scatter), RUBUS_EINVAL, "mode 7");
    fails(rubus_scatter_create(csr, (int64_t)1 << 31, position, 0, &scatter),
          RUBUS_ELIMIT, "2147483648|RUBUS_I64"); // a mock size: trap T21
    ok(rubus_scatter_create(csr, 1, position, RUBUS_SCATTER_GATHER, &scatter));
    rubus_array *two = backends_ramp(context, 2, 0);
    rubus_array *window = NULL;
    ok(rubus_array_view(rubus_csr_nzval(csr), 0, RUBUS_SHAPE(1), &window));
    fails(rubus_scatter_set(scatter, two), RUBUS_ESHAPE, "1 entries|values 2");
    fails(rubus_scatter_set(scatter, NULL), RUBUS_EINVAL, "values is NULL");
    fails(rubus_scatter_add(NULL, two), RUBUS_EINVAL, "scatter is NULL");
    fails(rubus_scatter_add(scatter, window), RUBUS_EALIAS, "nzval");
    rubus_array_destroy(two);
    rubus_array_destroy(window);
    rubus_csr_destroy(csr); // the scatter holds it
    rubus_scatter_destroy(scatter);
    rubus_scatter_destroy(NULL);
    ck_assert_int_eq(rubus_scatter_mode(NULL), 0);
    backends_finish(context);
}
END_TEST

/* Gathering repeats to the bit, and takes values in the order of the table. */
START_TEST(gathering_repeats_to_the_bit)
{
    rubus_context *context = backends_open(_i);
    enum { N = 40, M = 4000 };
    rubus_csr *csr = probe_tridiagonal(context, N);
    int32_t position[M];
    double value[M];
    double want[3 * N - 2] = {0};
    double got[3 * N - 2];
    uint64_t seed = 11;
    for (int k = 0; k < M; k++) {
        position[k] = k % 5 == 4 ? -1 : (int32_t)(k * 37 % (3 * N - 2));
        value[k] = probe_random(&seed) / 3;
        if (position[k] >= 0) {
            want[position[k]] += value[k];
        }
    }
    rubus_scatter *scatter = NULL;
    rubus_array *array = probe_vector(context, RUBUS_F64, M, value);
    ok(rubus_scatter_create(csr, M, position, RUBUS_SCATTER_GATHER, &scatter));
    for (int repeat = 0; repeat < 3; repeat++) {
        ok(rubus_scatter_set(scatter, array));
        probe_read(rubus_csr_nzval(csr), got);
        probe_same(got, want, 3 * N - 2, "values");
    }
    rubus_array_destroy(array);
    rubus_scatter_destroy(scatter);
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

/* --- by columns ------------------------------------------------------------------- */

START_TEST(columns_have_no_products_but_a_conversion)
{
    rubus_context *context = backends_open(_i);
    const int32_t colptr[4] = {0, 2, 2, 3};
    const int32_t rowval[3] = {1, 0, 1};
    const double value[3] = {2, 1, 3};
    rubus_csc *csc = NULL;
    rubus_csr *csr = NULL;
    ok(rubus_csc_create(context, RUBUS_I32, RUBUS_F64, 2, 3, 3, colptr, rowval, value,
                        &csc));
    ck_assert_int_eq(rubus_array_count(rubus_csc_colptr(csc)), 4);
    ck_assert_int_eq(rubus_array_count(rubus_csc_rowval(csc)), 3);
    ck_assert_double_eq(backends_get(rubus_csc_nzval(csc), 0), 1); // rows are sorted
    rubus_array *x = backends_ramp(context, 3, 1);
    rubus_array *y = backends_ramp(context, 2, 1);
    fails(rubus_csc_spmv(1, csc, x, 0, y), RUBUS_EUNSUPPORTED,
          "2 rows and 3 columns|rubus_csc_to_csr");
    fails(rubus_csc_spmm(1, csc, rubus_dense_columns(x, 3, 1, 0), 0,
                         rubus_dense_columns(y, 2, 1, 0)),
          RUBUS_EUNSUPPORTED, "rubus_csc_spmm|rubus_csc_to_csr");
    ok(rubus_array_fill(rubus_csc_nzval(csc), 4));
    ok(rubus_csc_to_csr(csc, &csr));
    probe_csr_is(csr, 2, 3, (int[]){0, 1, 3}, (int[]){0, 0, 2}, (double[]){4, 4, 4});
    fails(rubus_csc_create(context, RUBUS_I32, RUBUS_F64, 1, 3, 3, colptr, rowval, value,
                           &csc),
          RUBUS_EINVAL, "column 0|entry 0|row 1|0..0");
    fails(rubus_csc_create(context, RUBUS_I32, RUBUS_F64, 2, 3, 3, colptr, rowval, value,
                           NULL),
          RUBUS_EINVAL, "output argument");
    fails(rubus_csc_to_csr(NULL, &csr), RUBUS_EINVAL, "matrix is NULL");
    fails(rubus_csc_to_csr(csc, NULL), RUBUS_EINVAL, "output argument");
    fails(rubus_csc_spmv(1, NULL, x, 0, y), RUBUS_EINVAL, "matrix is NULL");
    ck_assert_ptr_null(rubus_csc_colptr(NULL));
    ck_assert_ptr_null(rubus_csc_rowval(NULL));
    ck_assert_ptr_null(rubus_csc_nzval(NULL));
    rubus_array_destroy(x);
    rubus_array_destroy(y);
    rubus_csr_destroy(csr);
    rubus_csc_destroy(csc);
    rubus_csc_destroy(NULL);
    backends_finish(context);
}
END_TEST

static Suite *scatter_suite(void)
{
    TCase *tc = tcase_create("scatter");
    backends_add(tc, device_scatter_adds_and_skips);
    backends_add(tc, atomics_are_probed_or_done_without);
    backends_add(tc, wrong_tables_are_refused);
    backends_add(tc, gathering_repeats_to_the_bit);
    backends_add(tc, columns_have_no_products_but_a_conversion);
    Suite *suite = suite_create("sparse: filling on the device, columns");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("sparse: filling on the device, columns", scatter_suite)
