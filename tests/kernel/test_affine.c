/* SPDX-License-Identifier: Apache-2.0 */
/* Affine expressions: sums, comparison, sign, text, values, overflow. */
#include "config.h"

#include "tests/kernel/check_unit.h"
#include "tests/support/suite.h"

static const rk_symbol symbols[] = {
    {RK_SYMBOL_SCALAR, "k", 0, 0, NULL},
    {RK_SYMBOL_EXTENT, "nx", 1, 0, NULL},
    {RK_SYMBOL_BLANK, "u.x", 2, 0, NULL},
};

static test_unit t;

static void setup(void)
{
    unit_open(&t);
}

static void teardown(void)
{
    unit_close(&t);
}

/* c + a*k + b*nx + d*u.x */
static rk_affine make(int64_t c, int64_t a, int64_t b, int64_t d)
{
    rk_unit *unit = &t.unit;
    rk_affine r = rk_affine_int(c);
    r = rk_affine_add(unit, r, d, rk_affine_symbol(unit, 2));
    r = rk_affine_add(unit, r, a, rk_affine_symbol(unit, 0));
    return rk_affine_add(unit, r, b, rk_affine_symbol(unit, 1));
}

static const char *text(rk_affine a)
{
    return rk_affine_text(&t.unit, symbols, a);
}

START_TEST(affine_sum_sorts_and_joins_terms)
{
    const rk_affine a = make(1, 2, 3, 0);
    const rk_affine b = make(5, 0, 4, 7);
    const rk_affine sum = rk_affine_add(&t.unit, a, -2, b);
    ck_assert_int_eq(sum.constant, 1 - 10);
    ck_assert_int_eq(sum.nterm, 3);
    for (int32_t i = 0; i < 3; i++) {
        ck_assert_int_eq(sum.term[i].symbol, i);
    }
    ck_assert_int_eq(sum.term[0].coef, 2);
    ck_assert_int_eq(sum.term[1].coef, 3 - 8);
    ck_assert_int_eq(sum.term[2].coef, -14);
    ck_assert_int_eq(a.term[1].coef, 3); // operands stay as they are
}
END_TEST

START_TEST(affine_difference_of_equals_is_constant)
{
    const rk_affine a = make(4, 1, 2, 3);
    int64_t value = -1;
    ck_assert(
        rk_affine_is_const(rk_affine_add(&t.unit, a, -1, make(1, 1, 2, 3)), &value));
    ck_assert_int_eq(value, 3);
    ck_assert(rk_affine_is_const(rk_affine_scale(&t.unit, a, 0), &value));
    ck_assert_int_eq(value, 0);
    ck_assert(!rk_affine_is_const(a, NULL));
}
END_TEST

START_TEST(affine_equal_compares_all_parts)
{
    ck_assert(rk_affine_equal(make(1, 2, 3, 4), make(1, 2, 3, 4)));
    ck_assert(!rk_affine_equal(make(1, 2, 3, 4), make(2, 2, 3, 4)));
    ck_assert(!rk_affine_equal(make(1, 2, 3, 4), make(1, 2, 3, 5)));
    ck_assert(!rk_affine_equal(make(1, 0, 3, 0), make(1, 3, 0, 0)));
    ck_assert(!rk_affine_equal(make(1, 0, 3, 0), make(1, 0, 3, 1)));
}
END_TEST

START_TEST(affine_sign_knows_extents_only)
{
    ck_assert_int_eq(rk_affine_sign(symbols, rk_affine_int(3)), 1);
    ck_assert_int_eq(rk_affine_sign(symbols, rk_affine_int(0)), 0);
    ck_assert_int_eq(rk_affine_sign(symbols, rk_affine_int(-1)), -1);
    ck_assert_int_eq(rk_affine_sign(symbols, make(0, 0, 2, 1)), 0);
    ck_assert_int_eq(rk_affine_sign(symbols, make(1, 0, 2, 1)), 1);
    ck_assert_int_eq(rk_affine_sign(symbols, make(-1, 0, 2, 1)), -1);
    ck_assert_int_eq(rk_affine_sign(symbols, make(1, 0, -1, 0)), -1);
    ck_assert_int_eq(rk_affine_sign(symbols, make(1, 1, 0, 0)), -1); // k may be negative
}
END_TEST

START_TEST(affine_text_reads_as_written)
{
    ck_assert_str_eq(text(rk_affine_int(0)), "0");
    ck_assert_str_eq(text(rk_affine_int(-7)), "-7");
    ck_assert_str_eq(text(make(-2, 0, 1, 0)), "nx-2");
    ck_assert_str_eq(text(make(1, 0, 2, 0)), "2*nx+1");
    ck_assert_str_eq(text(make(3, -1, 0, 0)), "-k+3");
    ck_assert_str_eq(text(make(0, -1, -2, 1)), "-k-2*nx+u.x");
    ck_assert_str_eq(text(make(0, INT64_MIN, 0, 0)), "-9223372036854775808*k");
}
END_TEST

START_TEST(affine_eval_is_exact_or_refused)
{
    const int64_t values[] = {-4, 10, INT64_MAX};
    int64_t value = 0;
    ck_assert(rk_affine_eval(make(1, 2, 3, 0), values, &value));
    ck_assert_int_eq(value, 1 - 8 + 30);
    ck_assert(rk_affine_eval(make(-1, 0, 0, 1), values, &value));
    ck_assert(value == INT64_MAX - 1);
    value = 77;
    ck_assert(!rk_affine_eval(make(1, 0, 0, 1), values, &value));
    ck_assert(!rk_affine_eval(make(0, 0, 0, 2), values, &value));
    ck_assert_int_eq(value, 77);
}
END_TEST

START_TEST(affine_overflow_ends_the_compilation)
{
    static const char *const list[] = {
        "kernel k(inout real a[n]) { a = pad(a, 0, 9223372036854775807:1); }",
        "kernel k(out real a[n], in real b[n + 9223372036854775807 + 1]) { a = 1; }",
        "kernel k(out real a[n], in real b[n * 4611686018427387904 * 2]) { a = 1; }",
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        expect_error(list[i], RK_TOO_LARGE, "64 bits", NULL);
    }
}
END_TEST

static Suite *affine_suite(void)
{
    Suite *suite = suite_create("affine");
    TCase *tests = tcase_create("affine");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, affine_sum_sorts_and_joins_terms);
    tcase_add_test(tests, affine_difference_of_equals_is_constant);
    tcase_add_test(tests, affine_equal_compares_all_parts);
    tcase_add_test(tests, affine_sign_knows_extents_only);
    tcase_add_test(tests, affine_text_reads_as_written);
    tcase_add_test(tests, affine_eval_is_exact_or_refused);
    tcase_add_test(tests, affine_overflow_ends_the_compilation);
    suite_add_tcase(suite, tests);
    return suite;
}

RUBUS_TEST_MAIN("affine", affine_suite)
