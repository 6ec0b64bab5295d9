/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling matrices on the host, by search and by position; flushes, identity rows, the
 * diagonal.
 */
#include "config.h"

#include <check.h>

#include "tests/sparse/sparse_probe.h"

/* Adds the stiffness of the n - 1 cells of width h between n points to the mirror, two
 * by two entries a cell. */
static void add_stiffness(rubus_csr *csr, int n, double h)
{
    for (int c = 0; c + 1 < n; c++) {
        const int32_t row[4] = {c, c, c + 1, c + 1};
        const int32_t col[4] = {c, c + 1, c, c + 1};
        const double value[4] = {1 / h, -1 / h, -1 / h, 1 / h};
        ok(rubus_csr_add(csr, 4, row, col, value));
    }
}

/* Every value on the device is that of the stiffness matrix. */
static void check_stiffness(rubus_csr *csr, int n, double h)
{
    const int nnz = 3 * n - 2;
    double *got = malloc((size_t)nnz * sizeof(double));
    ok(rubus_array_read(rubus_csr_nzval(csr), got, (size_t)nnz * sizeof(double)));
    int k = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i - 1; j <= i + 1; j++) {
            if (j >= 0 && j < n) {
                const double want = j != i                 ? -1 / h
                                    : i == 0 || i == n - 1 ? 1 / h
                                                           : 2 / h;
                ck_assert_msg(got[k] == want, "(%d, %d) is %g, not %g", i, j, got[k],
                              want);
                k++;
            }
        }
    }
    free(got);
}

START_TEST(positions_are_found_in_short_and_long_rows)
{
    rubus_context *context = backends_open(_i);
    enum { NROW = 4, NCOL = 3000 };
    for (int kind = 0; kind < 4; kind++) {
        rubus_csr *csr = probe_rows(context, probe_index[kind], probe_real[kind], NROW,
                                    NCOL, (int64_t[]){3, 0, 33, 1000}, 9);
        rubus_csr_mirror mirror = {.struct_size = sizeof mirror};
        ok(rubus_csr_mirror_get(csr, &mirror));
        int64_t k = 0;
        for (int64_t i = 0; i < NROW; i++) {
            for (int64_t j = 0; j < NCOL; j++) {
                const bool there =
                    k < rubus__index_get(mirror.rowptr, probe_index[kind], i + 1) &&
                    rubus__index_get(mirror.colval, probe_index[kind], k) == j;
                ck_assert_int_eq(rubus_csr_position(csr, i, j), there ? k : -1);
                k += there;
            }
        }
        ck_assert_int_eq(k, 1036);
        ck_assert_int_eq(rubus_csr_position(csr, -1, 0), -1);
        ck_assert_int_eq(rubus_csr_position(csr, NROW, 0), -1);
        ck_assert_int_eq(rubus_csr_position(csr, 0, -1), -1);
        ck_assert_int_eq(rubus_csr_position(csr, 0, NCOL), -1);
        rubus_csr_destroy(csr);
    }
    ck_assert_int_eq(rubus_csr_position(NULL, 0, 0), -1);
    backends_finish(context);
}
END_TEST

START_TEST(values_are_added_by_search_and_by_position)
{
    rubus_context *context = backends_open(_i);
    static probe_numbers row;
    static probe_numbers col;
    static probe_numbers value;
    for (int kind = 0; kind < 4; kind++) {
        const int32_t index = probe_index[kind];
        const int32_t real = probe_real[kind];
        rubus_csr *csr = NULL;
        ok(rubus_csr_create_coo(context, index, real, 2, 2, 3,
                                probe_indices(&row, index, 3, (int[]){0, 1, 1}),
                                probe_indices(&col, index, 3, (int[]){1, 0, 1}), NULL,
                                &csr));
        ok(rubus_csr_add(csr, 4, probe_indices(&row, index, 4, (int[]){1, 0, 1, 1}),
                         probe_indices(&col, index, 4, (int[]){1, 1, 0, 1}),
                         probe_values(&value, real, 4, (double[]){1, 2, 4, 8})));
        ok(rubus_csr_add_at(csr, 3, probe_indices(&row, index, 3, (int[]){2, -1, 0}),
                            probe_values(&value, real, 3, (double[]){16, 99, 32})));
        ok(rubus_csr_flush(csr));
        probe_csr_is(csr, 2, 2, (int[]){0, 1, 3}, (int[]){1, 0, 1},
                     (double[]){34, 4, 25});
        ok(rubus_csr_mirror_zero(csr));
        ok(rubus_csr_add_at(csr, 0, NULL, NULL));
        ok(rubus_csr_add(csr, 0, NULL, NULL, NULL));
        ok(rubus_csr_pull(csr)); // the device still has the others
        probe_csr_is(csr, 2, 2, (int[]){0, 1, 3}, (int[]){1, 0, 1},
                     (double[]){34, 4, 25});
        rubus_csr_destroy(csr);
    }
    backends_finish(context);
}
END_TEST

/* Trap T20: an entry that the pattern has not is an error, and nothing is added. */
START_TEST(test_trap_20_entry_outside_the_pattern_is_an_error)
{
    rubus_context *context = backends_open(_i);
    rubus_csr *csr = probe_tridiagonal(context, 5);
    const int32_t row[2] = {1, 1};
    const int32_t col[2] = {1, 3};
    const int32_t past[2] = {0, 13};
    const double one[2] = {1, 1};
    fails(rubus_csr_add(csr, 2, row, col, one), RUBUS_ENOTFOUND,
          "rubus_csr_add: value 1|(1, 3)|pattern");
    fails(rubus_csr_add_at(csr, 2, past, one), RUBUS_EBOUNDS,
          "position 13|value 1|13 entries");
    ok(rubus_csr_flush(csr));
    for (int k = 0; k < 13; k++) {
        ck_assert_double_eq(backends_get(rubus_csr_nzval(csr), k), 0);
    }
    fails(rubus_csr_add(NULL, 2, row, col, one), RUBUS_EINVAL, "matrix is NULL");
    fails(rubus_csr_add(csr, -1, row, col, one), RUBUS_EINVAL, "n is negative");
    fails(rubus_csr_add(csr, 2, row, NULL, one), RUBUS_EINVAL, "array is NULL");
    fails(rubus_csr_add_at(NULL, 2, past, one), RUBUS_EINVAL, "matrix is NULL");
    fails(rubus_csr_add_at(csr, -1, past, one), RUBUS_EINVAL, "n is negative");
    fails(rubus_csr_add_at(csr, 2, past, NULL), RUBUS_EINVAL, "array is NULL");
    fails(rubus_csr_mirror_zero(NULL), RUBUS_EINVAL, "matrix is NULL");
    fails(rubus_csr_flush(NULL), RUBUS_EINVAL, "matrix is NULL");
    fails(rubus_csr_pull(NULL), RUBUS_EINVAL, "matrix is NULL");
    void *p = NULL;
    ok(rubus_array_map(rubus_csr_nzval(csr), RUBUS_READ, &p));
    fails(rubus_csr_flush(csr), RUBUS_ESTATE, "rubus_csr_flush|mapped");
    ok(rubus_array_unmap(rubus_csr_nzval(csr)));
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

/* Zeroing touches the host alone; a flush is one copy of all values. */
START_TEST(flush_is_one_transfer)
{
    rubus_context *context = backends_open(_i);
    enum { N = 100 };
    rubus_csr *csr = probe_tridiagonal(context, N);
    const rubus_context_counters before = probe_counters(context);
    ok(rubus_csr_mirror_zero(csr));
    add_stiffness(csr, N, 1);
    const rubus_context_counters filled = probe_counters(context);
    ck_assert_uint_eq(filled.write_calls, before.write_calls);
    ck_assert_uint_eq(filled.launches, before.launches);
    ok(rubus_csr_flush(csr));
    const rubus_context_counters after = probe_counters(context);
    ck_assert_uint_eq(after.write_calls, before.write_calls + 1);
    ck_assert_uint_eq(after.write_bytes, before.write_bytes + (3 * N - 2) * 8);
    ck_assert_uint_eq(after.launches, before.launches);
    check_stiffness(csr, N, 1);
    rubus_csr *empty = NULL;
    ok(rubus_csr_create_zeros(context, RUBUS_I32, RUBUS_F64, 2, 2, &empty));
    ok(rubus_csr_mirror_zero(empty));
    ok(rubus_csr_flush(empty));
    ok(rubus_csr_pull(empty));
    rubus_csr_destroy(empty);
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

/* Trap T5: two unordered writers would show as values of +-2/h. */
START_TEST(test_trap_05_assembly_again_and_again_is_exact)
{
    rubus_context *context = backends_open(_i);
    static const int sizes[] = {513, 1025, 2049};
    for (int s = 0; s < 3; s++) {
        const int n = sizes[s];
        const double h = 1.0 / (n - 1); // a power of two
        rubus_csr *csr = probe_tridiagonal(context, n);
        rubus_array *x = backends_ramp(context, n, 0);
        rubus_array *y = backends_ramp(context, n, 0);
        for (int repeat = 0; repeat < 40; repeat++) {
            ok(rubus_csr_mirror_zero(csr));
            add_stiffness(csr, n, h);
            ok(rubus_csr_flush(csr));
            ok(rubus_csr_mirror_zero(csr)); // the copy must be done with the mirror
            ok(rubus_spmv(1, csr, x, 0, y));
            check_stiffness(csr, n, h);
        }
        // of a line: 0 inside, -1/h and 1/h at the ends
        ck_assert_double_eq(backends_get(y, 0), -1 / h);
        ck_assert_double_eq(backends_get(y, n / 2), 0);
        ck_assert_double_eq(backends_get(y, n - 1), 1 / h);
        rubus_array_destroy(x);
        rubus_array_destroy(y);
        rubus_csr_destroy(csr);
    }
    backends_finish(context);
}
END_TEST

/* Trap T7: each matrix has a mirror of its own. */
START_TEST(test_trap_07_matrices_of_one_shape_do_not_mix)
{
    rubus_context *context = backends_open(_i);
    enum { N = 50 };
    rubus_csr *a = probe_tridiagonal(context, N);
    rubus_csr *b = probe_tridiagonal(context, N);
    for (int repeat = 0; repeat < 2; repeat++) {
        ok(rubus_csr_mirror_zero(a));
        add_stiffness(a, N, 1);
        ok(rubus_csr_mirror_zero(b));
        add_stiffness(b, N, 0.5);
        ok(rubus_csr_flush(b));
        ok(rubus_csr_flush(a));
        check_stiffness(a, N, 1);
        check_stiffness(b, N, 0.5);
        rubus_csr_destroy(b);
        b = probe_tridiagonal(context, N); // perhaps where the old one was
    }
    rubus_csr_destroy(a);
    rubus_csr_destroy(b);
    backends_finish(context);
}
END_TEST

/* Trap T8: positions once recorded are used as they are; nothing is searched. */
START_TEST(test_trap_08_positions_are_not_searched_again)
{
    rubus_context *context = backends_open(_i);
    enum { N = 20 };
    rubus_csr *csr = probe_tridiagonal(context, N);
    int32_t position[4 * (N - 1)];
    double value[4 * (N - 1)];
    for (int c = 0; c + 1 < N; c++) {
        for (int q = 0; q < 4; q++) {
            position[4 * c + q] =
                (int32_t)rubus_csr_position(csr, c + (q >> 1), c + (q & 1));
            ck_assert_int_ge(position[4 * c + q], 0);
            value[4 * c + q] = q == 0 || q == 3 ? 1 : -1;
        }
    }
    rubus_csr_mirror mirror = {.struct_size = sizeof mirror};
    ok(rubus_csr_mirror_get(csr, &mirror));
    int32_t saved[3 * N - 2];
    int32_t *colval = (int32_t *)(uintptr_t)mirror.colval;
    memcpy(saved, colval, sizeof saved);
    memset(colval, 0, sizeof saved);
    ok(rubus_csr_mirror_zero(csr));
    ok(rubus_csr_add_at(csr, 4 * (N - 1), position, value));
    ok(rubus_csr_flush(csr));
    check_stiffness(csr, N, 1);
    for (int k = 0; k < 4 * (N - 1); k++) {
        value[k] *= 3;
    }
    ok(rubus_csr_mirror_zero(csr));
    ok(rubus_csr_add_at(csr, 4 * (N - 1), position, value));
    ok(rubus_csr_flush(csr));
    check_stiffness(csr, N, 1.0 / 3);
    memcpy(colval, saved, sizeof saved);
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

/* Trap T3: a mask of 13 is 13 bytes, wherever it goes. */
START_TEST(test_trap_03_mask_of_13_survives_the_way)
{
    rubus_context *context = backends_open(_i);
    uint8_t mask[13];
    uint8_t back[13];
    for (int k = 0; k < 13; k++) {
        mask[k] = k % 3 != 1;
    }
    rubus_array *array = NULL;
    ok(rubus_array_from(context, RUBUS_BOOL, RUBUS_SHAPE(13), mask, &array));
    ok(rubus_array_read(array, back, 13));
    ck_assert_mem_eq(mask, back, 13);
    rubus_module *module = backends_module(
        context, "reduce sum inner(in real a[n], in bool m[n]) = m ? a : 0;", RUBUS_F64,
        0);
    rubus_array *a = backends_ramp(context, 13, 1);
    double sum = 0;
    ok(rubus_launch(backends_kernel(module, "inner"), a, array, &sum));
    ck_assert_double_eq(sum, 91 - 2 - 5 - 8 - 11);
    rubus_array_destroy(a);
    rubus_array_destroy(array);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

START_TEST(identity_rows_on_host_and_device)
{
    rubus_context *context = backends_open(_i);
    rubus_csr *csr = probe_tridiagonal(context, 4);
    add_stiffness(csr, 4, 1);
    ok(rubus_csr_flush(csr));
    const int32_t row[4] = {3, 0, 3, 0};
    const rubus_context_counters before = probe_counters(context);
    ok(rubus_csr_set_identity_rows(csr, 4, row));
    const rubus_context_counters after = probe_counters(context);
    ck_assert_uint_le(after.write_bytes - before.write_bytes, 16); // the list of rows
    ck_assert_uint_eq(after.read_calls, before.read_calls);
    probe_csr_is(csr, 4, 4, (int[]){0, 2, 5, 8, 10},
                 (int[]){0, 1, 0, 1, 2, 1, 2, 3, 2, 3},
                 (double[]){1, 0, -1, 2, -1, -1, 2, -1, 0, 1});
    ok(rubus_csr_set_identity_rows(csr, 0, NULL));
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

/* Trap T12: a missing diagonal is an error, and no value has changed. */
START_TEST(test_trap_12_missing_diagonal_changes_nothing)
{
    rubus_context *context = backends_open(_i);
    rubus_csr *csr = NULL;
    const int32_t row[3] = {0, 0, 1};
    const int32_t col[3] = {0, 1, 0};
    const double value[3] = {5, 6, 7};
    const int32_t both[2] = {0, 1};
    const int32_t outside[1] = {2};
    ok(rubus_csr_create_coo(context, RUBUS_I32, RUBUS_F64, 2, 2, 3, row, col, value,
                            &csr));
    fails(rubus_csr_set_identity_rows(csr, 2, both), RUBUS_ENOTFOUND,
          "row 1 stores no diagonal|(1, 1)");
    probe_csr_is(csr, 2, 2, (int[]){0, 2, 3}, (int[]){0, 1, 0}, value);
    fails(rubus_csr_set_identity_rows(csr, 1, outside), RUBUS_EINVAL, "row 2|0..1");
    fails(rubus_csr_set_identity_rows(csr, -1, both), RUBUS_EINVAL, "n is negative");
    fails(rubus_csr_set_identity_rows(csr, 1, NULL), RUBUS_EINVAL, "rows is NULL");
    fails(rubus_csr_set_identity_rows(NULL, 1, both), RUBUS_EINVAL, "matrix is NULL");
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

START_TEST(diagonal_is_found)
{
    rubus_context *context = backends_open(_i);
    static probe_numbers row;
    static probe_numbers col;
    static probe_numbers value;
    for (int kind = 0; kind < 4; kind++) {
        const int32_t index = probe_index[kind];
        const int32_t real = probe_real[kind];
        rubus_csr *csr = NULL;
        rubus_array *d = NULL;
        ok(rubus_csr_create_coo(
            context, index, real, 5, 4, 6,
            probe_indices(&row, index, 6, (int[]){0, 0, 1, 3, 3, 4}),
            probe_indices(&col, index, 6, (int[]){0, 3, 0, 0, 3, 3}),
            probe_values(&value, real, 6, (double[]){1, 2, 3, 4, 5, 6}), &csr));
        ok(rubus_array_create(context, real, RUBUS_SHAPE(2, 2), &d));
        ok(rubus_csr_diagonal(csr, d));
        double got[4];
        probe_read(d, got);
        probe_same(got, (double[]){1, 0, 0, 5}, 4, "diagonal");
        rubus_array_destroy(d);
        rubus_array *wrong = backends_ramp(context, 5, 0);
        fails(rubus_csr_diagonal(csr, wrong), RUBUS_ESHAPE, "4 elements|array has 5");
        fails(rubus_csr_diagonal(NULL, wrong), RUBUS_EINVAL, "matrix is NULL");
        fails(rubus_csr_diagonal(csr, NULL), RUBUS_EINVAL, "array is NULL");
        rubus_array_destroy(wrong);
        rubus_csr_destroy(csr);
    }
    backends_finish(context);
}
END_TEST

static Suite *fill_suite(void)
{
    TCase *tc = tcase_create("fill");
    backends_add(tc, positions_are_found_in_short_and_long_rows);
    backends_add(tc, values_are_added_by_search_and_by_position);
    backends_add(tc, test_trap_20_entry_outside_the_pattern_is_an_error);
    backends_add(tc, flush_is_one_transfer);
    backends_add(tc, test_trap_05_assembly_again_and_again_is_exact);
    backends_add(tc, test_trap_07_matrices_of_one_shape_do_not_mix);
    backends_add(tc, test_trap_08_positions_are_not_searched_again);
    backends_add(tc, test_trap_03_mask_of_13_survives_the_way);
    backends_add(tc, identity_rows_on_host_and_device);
    backends_add(tc, test_trap_12_missing_diagonal_changes_nothing);
    backends_add(tc, diagonal_is_found);
    Suite *suite = suite_create("sparse: filling");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("sparse: filling", fill_suite)
