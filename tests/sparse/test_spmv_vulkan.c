/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways in which the backend for GPUs stores a matrix for products, by addresses and
 * by descriptors, under the validation layer. Each matrix is made for one of them, which
 * is asserted; results are those of a plain sum in the promised order, to the bit, and
 * nothing beside y is written. Then what a poorer device gives.
 */
#include "config.h"

#include <check.h>

#include "plugins/vulkan/vulkan.h"
#include "tests/runtime/vulkan_probe.h"
#include "tests/sparse/path_checks.h"

START_TEST(every_path_gives_the_plain_sum)
{
    rubus_context *context = open_spec(vulkan_modes[_i]);
    for (int c = 0; c < CASES; c++) {
        check_factors(context, &cases[c], cases[c].vulkan, 3);
    }
    backends_finish(context);
}
END_TEST

START_TEST(every_path_multiplies_dense_matrices)
{
    rubus_context *context = open_spec(vulkan_modes[_i]);
    for (int c = 0; c < CASES; c++) {
        check_widths(context, &cases[c], 3);
    }
    backends_finish(context);
}
END_TEST

START_TEST(new_values_are_taken)
{
    rubus_context *context = open_spec(vulkan_modes[0]);
    for (int c = 0; c < CASES; c++) {
        check_new_values(context, &cases[c], 3);
    }
    backends_finish(context);
}
END_TEST

START_TEST(not_a_number_stays_in_its_rows)
{
    rubus_context *context = open_spec(vulkan_modes[0]);
    for (int c = 0; c < CASES; c++) {
        check_not_a_number(context, &cases[c]);
    }
    backends_finish(context);
}
END_TEST

/* One group for all rows. */
START_TEST(few_groups_change_nothing)
{
    rubus_context *context = open_spec("vulkan:validate=1:cap.groups=1");
    for (int c = 0; c < CASES; c++) {
        check_factors(context, &cases[c], cases[c].vulkan, 15);
    }
    backends_finish(context);
}
END_TEST

/* What a GPU runs, where an invocation takes one row: the driver is told to be one. */
START_TEST(rows_one_by_one_give_the_same)
{
    rubus_context *context = open_spec(vulkan_modes[0]);
    const vk_context *ctx = context->dev->ctx;
    vk_physical *physical = &ctx->be->device[ctx->physical - ctx->be->device];
    ck_assert(physical->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU);
    physical->properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    for (int c = 0; c < CASES; c++) {
        check_factors(context, &cases[c], cases[c].vulkan, 5);
        check_not_a_number(context, &cases[c]);
        check_widths(context, &cases[c], 5);
    }
    backends_finish(context);
}
END_TEST

/* Room for the arrays of the matrix, but not for its values in tiles. */
static void check_want_of_memory(const char *spec)
{
    rubus_context *context = open_spec(spec);
    builder b = stencil_1d();
    const path_case c = {.name = "1D"};
    rubus_csr *csr = finish(context, RUBUS_I32, RUBUS_F64, &b);
    path_is(csr, &c, "rows, for want of memory", "");
    rubus_csr_info info = {.struct_size = sizeof info};
    ok(rubus_csr_info_get(csr, &info));
    ck_assert_uint_eq(info.path_bytes, 0);
    vectors v = make_vectors(csr, c.name);
    check_product(&v, 2.5, -1);
    drop_vectors(&v);
    rubus_csr_destroy(csr);
    backends_finish(context);
    drop(&b);
}

START_TEST(without_memory_products_run_on_the_matrix)
{
    check_want_of_memory("vulkan:validate=1:cap.max_buffer=215500");
    check_want_of_memory("vulkan:validate=1:descriptors=on:cap.max_binding=215552");
}
END_TEST

/* Matrices of less than 2^31 entries have indices of which 32 bits are enough. */
START_TEST(long_indices_need_no_long_integers)
{
    rubus_context *context = open_spec("vulkan:validate=1:cap.int64=0");
    static builder (*const make[])(void) = {stencil_2d, bands, with_long_rows};
    for (int i = 0; i < 3; i++) {
        builder b = make[i]();
        rubus_csr *csr = finish(context, RUBUS_I64, RUBUS_F64, &b);
        vectors v = make_vectors(csr, "long indices");
        check_product(&v, 2.5, -1);
        drop_vectors(&v);
        rubus_csr_destroy(csr);
        drop(&b);
    }
    backends_finish(context);
}
END_TEST

static Suite *vulkan_suite(void)
{
    TCase *tc = tcase_create("paths");
    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, every_path_gives_the_plain_sum, 0, VULKAN_MODES);
    tcase_add_loop_test(tc, every_path_multiplies_dense_matrices, 0, VULKAN_MODES);
    tcase_add_test(tc, new_values_are_taken);
    tcase_add_test(tc, not_a_number_stays_in_its_rows);
    tcase_add_test(tc, rows_one_by_one_give_the_same);
    tcase_add_test(tc, few_groups_change_nothing);
    tcase_add_test(tc, without_memory_products_run_on_the_matrix);
    tcase_add_test(tc, long_indices_need_no_long_integers);
    Suite *suite = suite_create("sparse: paths of the backend for GPUs");
    suite_add_tcase(suite, tc);
    return suite;
}

VULKAN_TEST_MAIN("sparse: paths of the backend for GPUs", vulkan_suite)
