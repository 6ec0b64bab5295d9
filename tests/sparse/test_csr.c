/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making matrices: from rows, columns, lists of entries in any order, patterns; what is
 * refused, with which row and entry; sizes that no array holds.
 */
#include "config.h"

#include <check.h>

#include "tests/sparse/sparse_probe.h"

/* The matrix of cases/A30: 12 x 12, given in random order. */
static const int a30_row[] = {9, 11, 1, 0, 11, 1, 1, 10, 11};
static const int a30_col[] = {9, 10, 1, 11, 0, 10, 2, 0, 2};
static const double a30_value[] = {9, 3, 4, 5, 7, 2, 8, 6, 1};
static const int a30_rowptr[] = {0, 1, 4, 4, 4, 4, 4, 4, 4, 4, 5, 6, 9};
static const int a30_colval[] = {11, 1, 2, 10, 9, 0, 0, 2, 10};
static const double a30_nzval[] = {5, 4, 8, 2, 9, 6, 7, 1, 3};

START_TEST(list_in_any_order_gives_sorted_rows)
{
    rubus_context *context = backends_open(_i);
    static probe_numbers row;
    static probe_numbers col;
    static probe_numbers value;
    for (int kind = 0; kind < 4; kind++) {
        const int32_t index = probe_index[kind];
        const int32_t real = probe_real[kind];
        rubus_csr *csr = NULL;
        ok(rubus_csr_create_coo(context, index, real, 12, 12, 9,
                                probe_indices(&row, index, 9, a30_row),
                                probe_indices(&col, index, 9, a30_col),
                                probe_values(&value, real, 9, a30_value), &csr));
        probe_csr_is(csr, 12, 12, a30_rowptr, a30_colval, a30_nzval);
        ck_assert_ptr_eq(rubus_csr_context(csr), context);
        rubus_csr_destroy(csr);
    }
    backends_finish(context);
}
END_TEST

/* Row 0 is (2, 0, 2, 1) with two values at column 2; row 1 is empty. */
START_TEST(unsorted_rows_are_sorted_and_equal_places_added)
{
    rubus_context *context = backends_open(_i);
    static probe_numbers rowptr;
    static probe_numbers colval;
    static probe_numbers value;
    for (int kind = 0; kind < 4; kind++) {
        const int32_t index = probe_index[kind];
        const int32_t real = probe_real[kind];
        rubus_csr *csr = NULL;
        ok(rubus_csr_create(context, index, real, 3, 3, 6,
                            probe_indices(&rowptr, index, 4, (int[]){0, 4, 4, 6}),
                            probe_indices(&colval, index, 6, (int[]){2, 0, 2, 1, 1, 1}),
                            probe_values(&value, real, 6, (double[]){1, 2, 4, 8, 3, -3}),
                            &csr));
        probe_csr_is(csr, 3, 3, (int[]){0, 3, 3, 4}, (int[]){0, 1, 2, 1},
                     (double[]){2, 8, 5, 0});
        rubus_csr_destroy(csr);
    }
    backends_finish(context);
}
END_TEST

/* [1 0 2; 0 3 0] by columns, and its transpose. */
START_TEST(columns_are_converted_and_transposed)
{
    rubus_context *context = backends_open(_i);
    static probe_numbers colptr;
    static probe_numbers rowval;
    static probe_numbers value;
    for (int kind = 0; kind < 4; kind++) {
        const int32_t index = probe_index[kind];
        const int32_t real = probe_real[kind];
        rubus_csr *csr = NULL;
        rubus_csr *turned = NULL;
        ok(rubus_csr_create_csc(context, index, real, 2, 3, 3,
                                probe_indices(&colptr, index, 4, (int[]){0, 1, 2, 3}),
                                probe_indices(&rowval, index, 3, (int[]){0, 1, 0}),
                                probe_values(&value, real, 3, (double[]){1, 3, 2}),
                                &csr));
        probe_csr_is(csr, 2, 3, (int[]){0, 2, 3}, (int[]){0, 2, 1}, (double[]){1, 2, 3});
        ok(rubus_csr_create_transpose(csr, &turned));
        rubus_csr_destroy(csr);
        probe_csr_is(turned, 3, 2, (int[]){0, 1, 2, 3}, (int[]){0, 1, 0},
                     (double[]){1, 3, 2});
        rubus_csr_destroy(turned);
    }
    backends_finish(context);
}
END_TEST

START_TEST(pattern_identity_and_zeros)
{
    rubus_context *context = backends_open(_i);
    static probe_numbers row;
    static probe_numbers col;
    for (int kind = 0; kind < 4; kind++) {
        const int32_t index = probe_index[kind];
        const int32_t real = probe_real[kind];
        rubus_csr *csr = NULL;
        ok(rubus_csr_create_coo(context, index, real, 2, 2, 3,
                                probe_indices(&row, index, 3, (int[]){1, 1, 1}),
                                probe_indices(&col, index, 3, (int[]){1, 0, 1}), NULL,
                                &csr));
        probe_csr_is(csr, 2, 2, (int[]){0, 0, 2}, (int[]){0, 1}, (double[]){0, 0});
        rubus_csr_destroy(csr);
        ok(rubus_csr_create_identity(context, index, real, 3, &csr));
        probe_csr_is(csr, 3, 3, (int[]){0, 1, 2, 3}, (int[]){0, 1, 2},
                     (double[]){1, 1, 1});
        rubus_csr_destroy(csr);
        ok(rubus_csr_create_zeros(context, index, real, 2, 5, &csr));
        probe_csr_is(csr, 2, 5, (int[]){0, 0, 0}, NULL, NULL);
        rubus_csr_destroy(csr);
    }
    backends_finish(context);
}
END_TEST

/* 0 x n and n x 0, with no arrays at all where none are needed. */
START_TEST(empty_matrices_need_no_arrays)
{
    rubus_context *context = backends_open(_i);
    rubus_csr *csr = NULL;
    const int32_t zeros[4] = {0, 0, 0, 0};
    ok(rubus_csr_create(context, RUBUS_I32, RUBUS_F64, 0, 7, 0, NULL, NULL, NULL, &csr));
    probe_csr_is(csr, 0, 7, (int[]){0}, NULL, NULL);
    rubus_csr_destroy(csr);
    ok(rubus_csr_create(context, RUBUS_I32, RUBUS_F64, 3, 0, 0, zeros, NULL, NULL, &csr));
    probe_csr_is(csr, 3, 0, (int[]){0, 0, 0, 0}, NULL, NULL);
    rubus_csr_destroy(csr);
    ok(rubus_csr_create_csc(context, RUBUS_I32, RUBUS_F64, 3, 0, 0, NULL, NULL, NULL,
                            &csr));
    probe_csr_is(csr, 3, 0, (int[]){0, 0, 0, 0}, NULL, NULL);
    rubus_csr_destroy(csr);
    ok(rubus_csr_create_coo(context, RUBUS_I64, RUBUS_F32, 0, 0, 0, NULL, NULL, NULL,
                            &csr));
    probe_csr_is(csr, 0, 0, (int[]){0}, NULL, NULL);
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

/* A row of n entries in the order 0, 7, 14, ... modulo n, each twice. */
START_TEST(long_rows_are_sorted)
{
    rubus_context *context = backends_open(_i);
    enum { N = 1000 };
    static int32_t row[2 * N];
    static int32_t col[2 * N];
    static double value[2 * N];
    for (int k = 0; k < 2 * N; k++) {
        row[k] = 1;
        col[k] = 7 * k % N;
        value[k] = k < N ? col[k] : 0.5;
    }
    rubus_csr *csr = NULL;
    ok(rubus_csr_create_coo(context, RUBUS_I32, RUBUS_F64, 3, N, 2 * N, row, col, value,
                            &csr));
    rubus_csr_mirror mirror = {.struct_size = sizeof mirror};
    ok(rubus_csr_mirror_get(csr, &mirror));
    ck_assert_int_eq(((const int32_t *)mirror.rowptr)[2], N);
    for (int k = 0; k < N; k++) {
        ck_assert_int_eq(((const int32_t *)mirror.colval)[k], k);
        ck_assert_double_eq(((const double *)mirror.nzval)[k], k + 0.5);
    }
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

START_TEST(mirror_costs_no_transfer_and_three_uploads)
{
    rubus_context *context = backends_open(_i);
    const rubus_context_counters before = probe_counters(context);
    rubus_csr *csr = NULL;
    ok(rubus_csr_create_identity(context, RUBUS_I32, RUBUS_F64, 100, &csr));
    const rubus_context_counters after = probe_counters(context);
    ck_assert_uint_eq(after.write_calls - before.write_calls, 3);
    ck_assert_uint_eq(after.write_bytes - before.write_bytes, 101 * 4 + 100 * 4 + 800);
    ck_assert_uint_eq(after.read_calls, before.read_calls);
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

START_TEST(faults_name_row_and_entry)
{
    rubus_context *context = backends_open(_i);
    rubus_csr *csr = NULL;
    const int32_t col[3] = {0, 1, 5};
    const double one[3] = {1, 1, 1};
    const int32_t good[3] = {0, 1, 3};
    fails(rubus_csr_create(context, RUBUS_I32, RUBUS_F64, 2, 5, 3, good, col, one, &csr),
          RUBUS_EINVAL, "row 1|entry 2|column 5|0..4");
    const int32_t down[4] = {0, 2, 1, 3};
    fails(rubus_csr_create(context, RUBUS_I32, RUBUS_F64, 3, 6, 3, down, col, one, &csr),
          RUBUS_EINVAL, "row 1|2 to 1");
    const int32_t late[3] = {1, 2, 3};
    fails(rubus_csr_create(context, RUBUS_I32, RUBUS_F64, 2, 6, 3, late, col, one, &csr),
          RUBUS_EINVAL, "row 0|entry 1|count from 0");
    const int32_t cut[3] = {0, 1, 2};
    fails(rubus_csr_create(context, RUBUS_I32, RUBUS_F64, 2, 6, 3, cut, col, one, &csr),
          RUBUS_EINVAL, "ends at entry 2|nnz is 3");
    const int32_t over[3] = {0, 9, 3};
    fails(rubus_csr_create(context, RUBUS_I32, RUBUS_F64, 2, 6, 3, over, col, one, &csr),
          RUBUS_EINVAL, "row 0|0 to 9");
    const int32_t row[3] = {0, -1, 1};
    fails(
        rubus_csr_create_coo(context, RUBUS_I32, RUBUS_F64, 2, 6, 3, row, col, one, &csr),
        RUBUS_EINVAL, "entry 1|row -1|column 1|2 rows and 6 columns");
    fails(rubus_csr_create_csc(context, RUBUS_I32, RUBUS_F64, 5, 2, 3, good, col, one,
                               &csr),
          RUBUS_EINVAL, "column 1|entry 2|row 5|0..4");
    ck_assert_ptr_null(csr);
    backends_finish(context);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
    rubus_context *context = backends_open(_i);
    rubus_csr *csr = NULL;
    const int32_t ptr[3] = {0, 1, 1};
    fails(rubus_csr_create(NULL, RUBUS_I32, RUBUS_F64, 2, 2, 1, ptr, ptr, NULL, &csr),
          RUBUS_EINVAL, "context is NULL");
    fails(rubus_csr_create(context, RUBUS_I32, RUBUS_F64, 2, 2, 1, ptr, ptr, NULL, NULL),
          RUBUS_EINVAL, "output argument is NULL");
    fails(rubus_csr_create(context, RUBUS_F32, RUBUS_F64, 2, 2, 1, ptr, ptr, NULL, &csr),
          RUBUS_EINVAL, "index type|RUBUS_I64");
    fails(rubus_csr_create(context, RUBUS_I32, RUBUS_I32, 2, 2, 1, ptr, ptr, NULL, &csr),
          RUBUS_EINVAL, "type of values|RUBUS_F64");
    fails(rubus_csr_create(context, RUBUS_I32, RUBUS_F64, -2, 2, 1, ptr, ptr, NULL, &csr),
          RUBUS_EINVAL, "nrow is -2");
    fails(rubus_csr_create(context, RUBUS_I32, RUBUS_F64, 2, 2, 1, NULL, ptr, NULL, &csr),
          RUBUS_EINVAL, "pointers is NULL");
    fails(rubus_csr_create(context, RUBUS_I32, RUBUS_F64, 2, 2, 1, ptr, NULL, NULL, &csr),
          RUBUS_EINVAL, "indices is NULL");
    fails(rubus_csr_create_coo(context, RUBUS_I32, RUBUS_F64, 2, 2, 1, ptr, NULL, NULL,
                               &csr),
          RUBUS_EINVAL, "columns is NULL");
    fails(rubus_csr_create_transpose(NULL, &csr), RUBUS_EINVAL, "NULL");
    rubus_csr_info info = {.struct_size = 0};
    rubus_csr_mirror mirror = {.struct_size = 0};
    fails(rubus_csr_info_get(NULL, &info), RUBUS_EINVAL, "matrix is NULL");
    fails(rubus_csr_mirror_get(NULL, &mirror), RUBUS_EINVAL, "matrix is NULL");
    ok(rubus_csr_create_identity(context, RUBUS_I32, RUBUS_F64, 2, &csr));
    fails(rubus_csr_info_get(csr, NULL), RUBUS_EINVAL, "info is NULL");
    fails(rubus_csr_info_get(csr, &info), RUBUS_EINVAL, "struct_size");
    fails(rubus_csr_mirror_get(csr, NULL), RUBUS_EINVAL, "mirror is NULL");
    fails(rubus_csr_mirror_get(csr, &mirror), RUBUS_EINVAL, "struct_size");
    rubus_csr_destroy(csr);
    rubus_csr_destroy(NULL);
    ck_assert_ptr_null(rubus_csr_rowptr(NULL));
    ck_assert_ptr_null(rubus_csr_colval(NULL));
    ck_assert_ptr_null(rubus_csr_nzval(NULL));
    ck_assert_ptr_null(rubus_csr_context(NULL));
    backends_finish(context);
}
END_TEST

/* Trap T21: sizes that the index type cannot count are refused before any array is read
 * or made. The arrays are mock ones. */
START_TEST(test_trap_21_sizes_past_the_index_type_are_refused)
{
    rubus_context *context = backends_open(_i);
    rubus_csr *csr = NULL;
    const int32_t mock[1] = {0};
    const int64_t many = (int64_t)1 << 31;
    fails(rubus_csr_create(context, RUBUS_I32, RUBUS_F32, many, 2, 0, mock, mock, NULL,
                           &csr),
          RUBUS_ELIMIT, "nrow is 2147483648|RUBUS_I64");
    fails(rubus_csr_create(context, RUBUS_I32, RUBUS_F32, 2, many, 0, mock, mock, NULL,
                           &csr),
          RUBUS_ELIMIT, "ncol is 2147483648|RUBUS_I64");
    fails(rubus_csr_create(context, RUBUS_I32, RUBUS_F32, 2, 2, many, mock, mock, NULL,
                           &csr),
          RUBUS_ELIMIT, "nnz is 2147483648|RUBUS_I64");
    fails(rubus_csr_create_coo(context, RUBUS_I32, RUBUS_F32, 2, 2, many, mock, mock,
                               NULL, &csr),
          RUBUS_ELIMIT, "nnz is 2147483648|RUBUS_I64");
    fails(rubus_csr_create_csc(context, RUBUS_I32, RUBUS_F32, 2, many, 0, mock, mock,
                               NULL, &csr),
          RUBUS_ELIMIT, "ncol is 2147483648|RUBUS_I64");
    fails(rubus_csr_create_identity(context, RUBUS_I32, RUBUS_F32, many, &csr),
          RUBUS_ELIMIT, "nrow is 2147483648|RUBUS_I64");
    // what 64 bits can count, but no device holds
    fails(rubus_csr_create_zeros(context, RUBUS_I64, RUBUS_F32, INT64_MAX, 1, &csr),
          RUBUS_ELIMIT, "nrow is 9223372036854775807|largest buffer");
    fails(rubus_csr_create(context, RUBUS_I64, RUBUS_F64, 2, 2, (int64_t)1 << 60, mock,
                           mock, NULL, &csr),
          RUBUS_ELIMIT, "nnz is 1152921504606846976|largest buffer");
    // columns need no memory
    ok(rubus_csr_create_zeros(context, RUBUS_I64, RUBUS_F32, 1, INT64_MAX, &csr));
    rubus_csr_destroy(csr);
    ok(rubus_csr_create_zeros(context, RUBUS_I32, RUBUS_F32, 1, INT32_MAX - 1, &csr));
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    rubus_context *context = backends_open(_i);
    int32_t row[60];
    int32_t col[60];
    for (int k = 0; k < 60; k++) {
        row[k] = 1;
        col[k] = 59 - k;
    }
    rubus_csr *csr = NULL;
    for (int64_t n = 1; csr == NULL; n++) {
        const int64_t live = rubus__alloc_live();
        rubus__alloc_fail_after(n, false);
        const rubus_status st = rubus_csr_create_coo(context, RUBUS_I32, RUBUS_F64, 2, 60,
                                                     60, row, col, NULL, &csr);
        rubus__alloc_fail_after(0, false);
        ck_assert_msg(st == RUBUS_OK || st == RUBUS_ENOMEM || st == RUBUS_EDEVMEM,
                      "%lld: %s", (long long)n, rubus_error_text());
        ck_assert(st == RUBUS_OK || rubus__alloc_live() == live);
    }
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

static Suite *csr_suite(void)
{
    TCase *tc = tcase_create("csr");
    backends_add(tc, list_in_any_order_gives_sorted_rows);
    backends_add(tc, unsorted_rows_are_sorted_and_equal_places_added);
    backends_add(tc, columns_are_converted_and_transposed);
    backends_add(tc, pattern_identity_and_zeros);
    backends_add(tc, empty_matrices_need_no_arrays);
    backends_add(tc, long_rows_are_sorted);
    backends_add(tc, mirror_costs_no_transfer_and_three_uploads);
    backends_add(tc, faults_name_row_and_entry);
    backends_add(tc, wrong_arguments_are_refused);
    backends_add(tc, test_trap_21_sizes_past_the_index_type_are_refused);
    TCase *memory = tcase_create("memory");
    tcase_set_tags(memory, "counts"); // see chaos_suite.sh
    backends_add(memory, every_allocation_may_fail);
    Suite *suite = suite_create("sparse: making matrices");
    suite_add_tcase(suite, tc);
    suite_add_tcase(suite, memory);
    return suite;
}

RUBUS_TEST_MAIN("sparse: making matrices", csr_suite)
