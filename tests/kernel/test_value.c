/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of the language on constants: wrap-around, division of every sign,
 * powers in their order of multiplication, NaN, and float computed as float. Expected
 * values are worked out by hand or follow from IEEE 754.
 */
#include "config.h"

#include "libcore/kernel/tree.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "tests/support/suite.h"

static const rk_numbers f64i32 = {.f64 = true, .int64 = false};
static const rk_numbers f64i64 = {.f64 = true, .int64 = true};
static const rk_numbers f32i32 = {.f64 = false, .int64 = false};
static const double nan64 = (double)NAN;
static const double inf64 = (double)INFINITY;
static const rk_value none = {.type = RK_VOID};

static rk_value num(double real)
{
    rk_value v = {.type = RK_REAL};
    v.u.real = real;
    return v;
}

static rk_value whole(int64_t i)
{
    rk_value v = {.type = RK_INT};
    v.u.i = i;
    return v;
}

static rk_value truth(bool b)
{
    rk_value v = {.type = RK_BOOL};
    v.u.b = b;
    return v;
}

static void check_int(const rk_numbers *n, rk_op op, int64_t a, int64_t b, int64_t want)
{
    const rk_value v = rk_apply(n, op, whole(a), whole(b), none);
    ck_assert_int_eq(v.type, RK_INT);
    ck_assert_msg(v.u.i == want, "%lld %s %lld: %lld, not %lld", (long long)a,
                  rk_op_spelling(op), (long long)b, (long long)v.u.i, (long long)want);
}

/* The same number to the bit, or both NaN. */
static void check_real(rk_value v, double want)
{
    ck_assert_int_eq(v.type, RK_REAL);
    const bool same = isnan(want)
                          ? isnan(v.u.real)
                          : v.u.real == want && !signbit(v.u.real) == !signbit(want);
    ck_assert_msg(same, "%a, not %a", v.u.real, want);
}

static void check_bool(rk_value v, bool want)
{
    ck_assert_int_eq(v.type, RK_BOOL);
    ck_assert_int_eq(v.u.b, want);
}

static rk_value real1(const rk_numbers *n, rk_op op, double a)
{
    return rk_apply(n, op, num(a), none, none);
}

static rk_value real2(const rk_numbers *n, rk_op op, double a, double b)
{
    return rk_apply(n, op, num(a), num(b), none);
}

START_TEST(int_overflow_wraps_at_the_width)
{
    check_int(&f64i32, RK_OP_ADD, INT32_MAX, 1, INT32_MIN);
    check_int(&f64i64, RK_OP_ADD, INT32_MAX, 1, INT64_C(2147483648));
    check_int(&f64i64, RK_OP_ADD, INT64_MAX, 1, INT64_MIN);
    check_int(&f64i32, RK_OP_SUB, INT32_MIN, 1, INT32_MAX);
    check_int(&f64i32, RK_OP_MUL, 65536, 65536, 0);
    check_int(&f64i64, RK_OP_MUL, INT64_MIN, -1, INT64_MIN);
    check_int(&f64i32, RK_OP_NEG, INT32_MIN, 0, INT32_MIN);
    check_int(&f64i64, RK_OP_NEG, INT64_MIN, 0, INT64_MIN);
    check_int(&f64i32, RK_OP_ABS, INT32_MIN, 0, INT32_MIN);
    check_int(&f64i32, RK_OP_ABS, -5, 0, 5);
}
END_TEST

START_TEST(int_division_has_the_sign_of_its_rule)
{
    // columns: a, b, div (truncated), fld (floored), rem, mod
    static const int64_t table[][6] = {
        {7, 3, 2, 2, 1, 1},     {-7, 3, -2, -3, -1, 2}, {7, -3, -2, -3, 1, -2},
        {-7, -3, 2, 2, -1, -1}, {6, 3, 2, 2, 0, 0},     {-6, 3, -2, -2, 0, 0},
        {2, 5, 0, 0, 2, 2},     {-2, 5, 0, -1, -2, 3},  {5, 0, 0, 0, 0, 0},
        {-5, 0, 0, 0, 0, 0},    {5, -1, -5, -5, 0, 0},  {0, -3, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const int64_t *row = table[i];
        check_int(&f64i32, RK_OP_IDIV, row[0], row[1], row[2]);
        check_int(&f64i64, RK_OP_FLD, row[0], row[1], row[3]);
        check_int(&f64i32, RK_OP_REM, row[0], row[1], row[4]);
        check_int(&f64i64, RK_OP_MOD, row[0], row[1], row[5]);
    }
}
END_TEST

START_TEST(int_least_divided_by_minus_one_wraps)
{
    check_int(&f64i32, RK_OP_IDIV, INT32_MIN, -1, INT32_MIN);
    check_int(&f64i64, RK_OP_IDIV, INT64_MIN, -1, INT64_MIN);
    check_int(&f64i64, RK_OP_FLD, INT64_MIN, -1, INT64_MIN);
    check_int(&f64i64, RK_OP_REM, INT64_MIN, -1, 0);
    check_int(&f64i64, RK_OP_MOD, INT64_MIN, -1, 0);
}
END_TEST

START_TEST(int_min_max_sign_are_ordinary)
{
    check_int(&f64i32, RK_OP_MIN, -2, 3, -2);
    check_int(&f64i32, RK_OP_MAX, -2, 3, 3);
    check_int(&f64i32, RK_OP_SIGN, -9, 0, -1);
    check_int(&f64i32, RK_OP_SIGN, 0, 0, 0);
    check_int(&f64i32, RK_OP_SIGN, 9, 0, 1);
}
END_TEST

START_TEST(int_power_wraps_and_of_zero_is_one)
{
    check_int(&f64i32, RK_OP_POWI, 3, 4, 81);
    check_int(&f64i32, RK_OP_POWI, -2, 3, -8);
    check_int(&f64i32, RK_OP_POWI, 0, 0, 1);
    check_int(&f64i32, RK_OP_POWI, 2, 31, INT32_MIN);
    check_int(&f64i32, RK_OP_POWI, 2, 32, 0);
    check_int(&f64i64, RK_OP_POWI, 2, 62, INT64_C(1) << 62);
    check_int(&f64i32, RK_OP_POWI, -1, -3, -1);
    check_int(&f64i32, RK_OP_POWI, 2, -1, 0);
    check_int(&f64i32, RK_OP_POWI, 0, -1, 0);
}
END_TEST

START_TEST(real_power_multiplies_by_squaring_from_the_top)
{
    const double x = 1.1;
    const double x2 = x * x;
    const double x3 = x2 * x;
    check_real(rk_apply(&f64i32, RK_OP_POWI, num(x), whole(3), none), x3);
    check_real(rk_apply(&f64i32, RK_OP_POWI, num(x), whole(4), none), x2 * x2);
    check_real(rk_apply(&f64i32, RK_OP_POWI, num(x), whole(7), none), x3 * x3 * x);
    check_real(rk_apply(&f64i32, RK_OP_POWI, num(x), whole(-3), none), 1 / x3);
    check_real(rk_apply(&f64i32, RK_OP_POWI, num(x), whole(1), none), x);
    check_real(rk_apply(&f64i32, RK_OP_POWI, num(x), whole(0), none), 1);
    check_real(rk_apply(&f64i32, RK_OP_POWI, num(nan64), whole(0), none), 1);
    check_real(rk_apply(&f64i32, RK_OP_POWI, num(0), whole(-1), none), inf64);
    check_real(rk_apply(&f64i64, RK_OP_POWI, num(-1), whole(INT64_MIN), none), 1);
    const float y = 1.1F;
    const float y2 = y * y;
    check_real(rk_apply(&f32i32, RK_OP_POWI, num((double)y), whole(3), none),
               (double)(y2 * y));
    check_real(rk_apply(&f32i32, RK_OP_POWI, num((double)y), whole(-2), none),
               (double)(1 / y2));
}
END_TEST

START_TEST(real_division_of_ints_is_real)
{
    check_real(rk_apply(&f64i32, RK_OP_DIV, whole(1), whole(2), none), 0.5);
    check_real(rk_apply(&f32i32, RK_OP_DIV, whole(1), whole(3), none),
               (double)(1.0F / 3));
    check_real(rk_apply(&f64i32, RK_OP_DIV, whole(1), whole(0), none), inf64);
    check_real(rk_apply(&f64i32, RK_OP_ADD, whole(1), num(0.5), none), 1.5);
    check_real(rk_apply(&f64i32, RK_OP_SUB, num(0.5), whole(1), none), -0.5);
}
END_TEST

START_TEST(real_min_max_ignore_nan)
{
    check_real(real2(&f64i32, RK_OP_MIN, nan64, 2), 2);
    check_real(real2(&f64i32, RK_OP_MIN, 2, nan64), 2);
    check_real(real2(&f64i32, RK_OP_MAX, nan64, 2), 2);
    check_real(real2(&f64i32, RK_OP_MAX, 2, nan64), 2);
    check_real(real2(&f64i32, RK_OP_MIN, nan64, nan64), nan64);
    check_real(real2(&f64i32, RK_OP_MAX, nan64, nan64), nan64);
    check_real(real2(&f64i32, RK_OP_MIN, 1, 2), 1);
    check_real(real2(&f64i32, RK_OP_MAX, 1, 2), 2);
    // equal operands: the second, so the signs of zeros are fixed
    check_real(real2(&f64i32, RK_OP_MIN, -0.0, 0.0), 0.0);
    check_real(real2(&f64i32, RK_OP_MAX, 0.0, -0.0), -0.0);
}
END_TEST

START_TEST(real_comparison_with_nan_is_false)
{
    check_bool(real2(&f64i32, RK_OP_LT, nan64, 1), false);
    check_bool(real2(&f64i32, RK_OP_LE, 1, nan64), false);
    check_bool(real2(&f64i32, RK_OP_GT, nan64, 1), false);
    check_bool(real2(&f64i32, RK_OP_GE, nan64, nan64), false);
    check_bool(real2(&f64i32, RK_OP_EQ, nan64, nan64), false);
    check_bool(real2(&f64i32, RK_OP_NE, nan64, nan64), true);
    check_bool(real2(&f64i32, RK_OP_EQ, 0.0, -0.0), true);
    check_bool(rk_apply(&f64i32, RK_OP_LT, whole(1), num(1.5), none), true);
    check_bool(rk_apply(&f64i32, RK_OP_GE, whole(2), whole(2), none), true);
    check_bool(rk_apply(&f64i32, RK_OP_LE, whole(3), whole(2), none), false);
}
END_TEST

START_TEST(bool_operations_follow_their_tables)
{
    for (int i = 0; i < 4; i++) {
        const bool a = (i & 1) != 0;
        const bool b = (i & 2) != 0;
        check_bool(rk_apply(&f64i32, RK_OP_AND, truth(a), truth(b), none), a && b);
        check_bool(rk_apply(&f64i32, RK_OP_OR, truth(a), truth(b), none), a || b);
        check_bool(rk_apply(&f64i32, RK_OP_EQ, truth(a), truth(b), none), a == b);
        check_bool(rk_apply(&f64i32, RK_OP_NE, truth(a), truth(b), none), a != b);
    }
    check_bool(rk_apply(&f64i32, RK_OP_NOT, truth(true), none, none), false);
}
END_TEST

START_TEST(select_brings_its_branches_to_one_type)
{
    const rk_value a = rk_apply(&f64i32, RK_OP_SELECT, truth(true), whole(3), whole(4));
    ck_assert_int_eq(a.type, RK_INT);
    ck_assert_int_eq(a.u.i, 3);
    check_real(rk_apply(&f64i32, RK_OP_SELECT, truth(true), whole(3), num(0.5)), 3.0);
    check_real(rk_apply(&f64i32, RK_OP_SELECT, truth(false), whole(3), num(0.5)), 0.5);
    check_bool(rk_apply(&f64i32, RK_OP_SELECT, truth(false), truth(true), truth(false)),
               false);
}
END_TEST

START_TEST(rounding_functions_are_exact)
{
    check_real(real1(&f64i32, RK_OP_ROUND, 0.5), 1);
    check_real(real1(&f64i32, RK_OP_ROUND, -0.5), -1);
    check_real(real1(&f64i32, RK_OP_ROUND, 2.5), 3);
    check_real(real1(&f64i32, RK_OP_ROUND, 0.49999999999999994), 0);
    check_real(real1(&f64i32, RK_OP_FLOOR, -1.5), -2);
    check_real(real1(&f64i32, RK_OP_CEIL, -1.5), -1);
    check_real(real1(&f64i32, RK_OP_CEIL, -0.5), -0.0);
    check_real(real1(&f64i32, RK_OP_TRUNC, -1.5), -1);
    check_real(real1(&f64i32, RK_OP_SQRT, 2), 0x1.6a09e667f3bcdp+0);
    check_real(real1(&f64i32, RK_OP_SQRT, -1), nan64);
    check_real(rk_apply(&f64i32, RK_OP_FLOOR, whole(7), none, none), 7);
}
END_TEST

START_TEST(sign_and_abs_keep_nan_and_zero)
{
    check_real(real1(&f64i32, RK_OP_SIGN, -0.0), -0.0);
    check_real(real1(&f64i32, RK_OP_SIGN, nan64), nan64);
    check_real(real1(&f64i32, RK_OP_SIGN, -3.5), -1);
    check_real(real1(&f64i32, RK_OP_SIGN, inf64), 1);
    check_real(real1(&f64i32, RK_OP_ABS, -0.0), 0.0);
    check_real(real1(&f64i32, RK_OP_NEG, 0.0), -0.0);
}
END_TEST

START_TEST(fma_rounds_once)
{
    // (1 + 2^-30)^2 - 1 - 2^-29 is 2^-60, which two roundings lose
    const double x = 1 + 0x1p-30;
    check_real(rk_apply(&f64i32, RK_OP_FMA, num(x), num(x), num(-1 - 0x1p-29)), 0x1p-60);
    const double y = 1 + 0x1p-13;
    check_real(rk_apply(&f32i32, RK_OP_FMA, num(y), num(y), num(-1 - 0x1p-12)), 0x1p-26);
    check_real(rk_apply(&f64i32, RK_OP_FMA, whole(2), whole(3), whole(4)), 10);
}
END_TEST

START_TEST(ldexp_rounds_once_and_takes_any_exponent)
{
    check_real(rk_apply(&f64i32, RK_OP_LDEXP, num(0.75), whole(3), none), 6);
    // 1.5 * 2^-1074 lies half way between the two smallest numbers: ties to even
    check_real(rk_apply(&f64i32, RK_OP_LDEXP, num(1.5), whole(-1074), none), 0x1p-1073);
    check_real(rk_apply(&f64i64, RK_OP_LDEXP, num(1), whole(INT64_MAX), none), inf64);
    check_real(rk_apply(&f64i64, RK_OP_LDEXP, num(-1), whole(INT64_MIN), none), -0.0);
    check_real(rk_apply(&f64i64, RK_OP_LDEXP, num(0), whole(INT64_MAX), none), 0);
    check_real(rk_apply(&f32i32, RK_OP_LDEXP, num(1), whole(-149), none), 0x1p-149);
    check_real(rk_apply(&f32i32, RK_OP_LDEXP, num(1), whole(128), none), inf64);
}
END_TEST

static void check_exponent(double x, int64_t want)
{
    const rk_value v = real1(&f64i32, RK_OP_EXPONENT, x);
    ck_assert_int_eq(v.type, RK_INT);
    ck_assert_int_eq(v.u.i, want);
}

START_TEST(frexp_and_exponent_split_a_number)
{
    check_real(real1(&f64i32, RK_OP_FREXP, -6), -0.75);
    check_exponent(-6, 3);
    check_real(real1(&f64i32, RK_OP_FREXP, 1), 0.5);
    check_exponent(1, 1);
    check_real(real1(&f64i32, RK_OP_FREXP, 0x1p-1074), 0.5);
    check_exponent(0x1p-1074, -1073);
    check_real(real1(&f64i32, RK_OP_FREXP, -0.0), -0.0);
    check_exponent(-0.0, 0);
    check_real(real1(&f64i32, RK_OP_FREXP, -inf64), -inf64);
    check_exponent(-inf64, 0);
    check_real(real1(&f64i32, RK_OP_FREXP, nan64), nan64);
    check_exponent(nan64, 0);
}
END_TEST

START_TEST(tests_of_numbers_tell_nan_and_inf)
{
    check_bool(real1(&f64i32, RK_OP_ISNAN, nan64), true);
    check_bool(real1(&f64i32, RK_OP_ISNAN, inf64), false);
    check_bool(real1(&f64i32, RK_OP_ISFINITE, inf64), false);
    check_bool(real1(&f64i32, RK_OP_ISFINITE, nan64), false);
    check_bool(real1(&f64i32, RK_OP_ISFINITE, DBL_MAX), true);
}
END_TEST

static void check_to_int(const rk_numbers *n, double x, int64_t want)
{
    const rk_value v = real1(n, RK_OP_TO_INT, x);
    ck_assert_int_eq(v.type, RK_INT);
    ck_assert_msg(v.u.i == want, "int(%g): %lld, not %lld", x, (long long)v.u.i,
                  (long long)want);
}

START_TEST(to_int_truncates_and_saturates)
{
    check_to_int(&f64i32, 2.9, 2);
    check_to_int(&f64i32, -2.9, -2);
    check_to_int(&f64i32, nan64, 0);
    check_to_int(&f64i32, inf64, INT32_MAX);
    check_to_int(&f64i32, -inf64, INT32_MIN);
    check_to_int(&f64i32, 2147483647.5, INT32_MAX);
    check_to_int(&f64i32, 2147483648.0, INT32_MAX);
    check_to_int(&f64i32, -2147483648.5, INT32_MIN);
    check_to_int(&f64i64, 0x1p63, INT64_MAX);
    check_to_int(&f64i64, 0x1.fffffffffffffp62, INT64_C(9223372036854774784));
    check_to_int(&f64i64, -0x1p63, INT64_MIN);
    check_int(&f64i32, RK_OP_TO_INT, 5, 0, 5);
}
END_TEST

START_TEST(to_real_rounds_to_the_real_of_the_module)
{
    check_real(rk_apply(&f32i32, RK_OP_TO_REAL, whole(16777217), none, none), 16777216);
    check_real(rk_apply(&f64i32, RK_OP_TO_REAL, whole(16777217), none, none), 16777217);
    // straight to float: by way of double the last bit is lost, and a tie goes down to
    // 2^62
    const int64_t i = (INT64_C(1) << 62) + (INT64_C(1) << 38) + 1;
    check_real(rk_convert(&(rk_numbers){.f64 = false, .int64 = true}, whole(i), RK_REAL),
               0x1p62 + 0x1p39);
    check_real(rk_convert(&f32i32, num(0.1), RK_REAL), (double)0.1F);
    check_real(real1(&f64i32, RK_OP_TO_REAL, 0.1), 0.1);
}
END_TEST

START_TEST(float_is_computed_as_float)
{
    const float a = 0.1F;
    const float b = 0.2F;
    check_real(real2(&f32i32, RK_OP_ADD, (double)a, (double)b), (double)(a + b));
    check_real(real2(&f32i32, RK_OP_MUL, (double)a, (double)b), (double)(a * b));
    check_real(real2(&f32i32, RK_OP_SUB, 1, 0x1p-30), 1);
    check_real(real2(&f32i32, RK_OP_MUL, (double)FLT_MAX, 2), inf64);
    check_real(real1(&f32i32, RK_OP_SQRT, 2), (double)sqrtf(2));
    check_real(real1(&f32i32, RK_OP_ROUND, 0.5), 1);
}
END_TEST

START_TEST(convert_without_rule_gives_none)
{
    ck_assert_int_eq(rk_convert(&f64i32, truth(true), RK_INT).type, RK_VOID);
    ck_assert_int_eq(rk_convert(&f64i32, num(1), RK_BOOL).type, RK_VOID);
    ck_assert_int_eq(rk_convert(&f64i32, whole(INT64_C(1) << 32), RK_INT).u.i, 0);
    ck_assert_int_eq(rk_convert(&f64i32, num(-7.9), RK_INT).u.i, -7);
    ck_assert_int_eq(rk_convert(&f64i32, truth(true), RK_BOOL).u.b, true);
}
END_TEST

/* --- types -------------------------------------------------------------------------- */

/* Expected results for operands (int int), (int real), (real real), (bool bool), (real
 * int); v: none. One operand: of the first. */
typedef struct type_row {
    rk_op op;
    const char *want;
} type_row;

static char type_letter(rk_type type)
{
    return type == RK_REAL ? 'r' : type == RK_INT ? 'i' : type == RK_BOOL ? 'b' : 'v';
}

START_TEST(types_of_two_operands_follow_the_rules)
{
    static const type_row rows[] = {
        {RK_OP_ADD, "irrvr"},  {RK_OP_SUB, "irrvr"},   {RK_OP_MUL, "irrvr"},
        {RK_OP_MIN, "irrvr"},  {RK_OP_MAX, "irrvr"},   {RK_OP_DIV, "rrrvr"},
        {RK_OP_IDIV, "ivvvv"}, {RK_OP_FLD, "ivvvv"},   {RK_OP_REM, "ivvvv"},
        {RK_OP_MOD, "ivvvv"},  {RK_OP_AND, "vvvbv"},   {RK_OP_OR, "vvvbv"},
        {RK_OP_EQ, "bbbbb"},   {RK_OP_NE, "bbbbb"},    {RK_OP_LT, "bbbvb"},
        {RK_OP_LE, "bbbvb"},   {RK_OP_GT, "bbbvb"},    {RK_OP_GE, "bbbvb"},
        {RK_OP_POWI, "ivvvr"}, {RK_OP_LDEXP, "rvvvr"}, {RK_OP_EXTENT, "vvvvv"},
    };
    static const rk_type pair[5][2] = {{RK_INT, RK_INT},
                                       {RK_INT, RK_REAL},
                                       {RK_REAL, RK_REAL},
                                       {RK_BOOL, RK_BOOL},
                                       {RK_REAL, RK_INT}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int k = 0; k < 5; k++) {
            const rk_type type = rk_op_type(rows[i].op, pair[k][0], pair[k][1], RK_VOID);
            ck_assert_msg(type_letter(type) == rows[i].want[k], "%s, pair %d: %c",
                          rk_op_spelling(rows[i].op), k, type_letter(type));
        }
    }
}
END_TEST

START_TEST(types_of_one_operand_follow_the_rules)
{
    // of int, real, bool
    static const type_row rows[] = {
        {RK_OP_NEG, "irv"},      {RK_OP_ABS, "irv"},      {RK_OP_SIGN, "irv"},
        {RK_OP_NOT, "vvb"},      {RK_OP_SQRT, "rrv"},     {RK_OP_FLOOR, "rrv"},
        {RK_OP_CEIL, "rrv"},     {RK_OP_ROUND, "rrv"},    {RK_OP_TRUNC, "rrv"},
        {RK_OP_ISNAN, "bbv"},    {RK_OP_ISFINITE, "bbv"}, {RK_OP_FREXP, "rrv"},
        {RK_OP_EXPONENT, "iiv"}, {RK_OP_TO_REAL, "rrv"},  {RK_OP_TO_INT, "iiv"},
    };
    static const rk_type types[] = {RK_INT, RK_REAL, RK_BOOL};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int k = 0; k < 3; k++) {
            const rk_type type = rk_op_type(rows[i].op, types[k], RK_VOID, RK_VOID);
            ck_assert_msg(type_letter(type) == rows[i].want[k], "%s of %d: %c",
                          rk_op_spelling(rows[i].op), k, type_letter(type));
        }
    }
    ck_assert_int_eq(rk_op_type(RK_OP_FMA, RK_INT, RK_REAL, RK_INT), RK_REAL);
    ck_assert_int_eq(rk_op_type(RK_OP_FMA, RK_INT, RK_BOOL, RK_INT), RK_VOID);
    ck_assert_int_eq(rk_op_type(RK_OP_SELECT, RK_INT, RK_INT, RK_INT), RK_VOID);
    ck_assert_int_eq(rk_op_type(RK_OP_SELECT, RK_BOOL, RK_INT, RK_BOOL), RK_VOID);
    ck_assert_int_eq(rk_op_type(RK_OP_SELECT, RK_BOOL, RK_INT, RK_REAL), RK_REAL);
}
END_TEST

START_TEST(operands_are_converted_only_from_int_to_real)
{
    const rk_type i = RK_INT;
    const rk_type r = RK_REAL;
    ck_assert_int_eq(rk_op_operand_type(RK_OP_ADD, 0, i, i, RK_VOID), RK_VOID);
    ck_assert_int_eq(rk_op_operand_type(RK_OP_ADD, 0, i, r, RK_VOID), RK_REAL);
    ck_assert_int_eq(rk_op_operand_type(RK_OP_ADD, 1, i, r, RK_VOID), RK_VOID);
    ck_assert_int_eq(rk_op_operand_type(RK_OP_DIV, 0, i, i, RK_VOID), RK_REAL);
    ck_assert_int_eq(rk_op_operand_type(RK_OP_DIV, 1, i, i, RK_VOID), RK_REAL);
    ck_assert_int_eq(rk_op_operand_type(RK_OP_EQ, 1, r, i, RK_VOID), RK_REAL);
    ck_assert_int_eq(rk_op_operand_type(RK_OP_LDEXP, 0, i, i, RK_VOID), RK_REAL);
    ck_assert_int_eq(rk_op_operand_type(RK_OP_LDEXP, 1, i, i, RK_VOID), RK_VOID);
    ck_assert_int_eq(rk_op_operand_type(RK_OP_POWI, 1, r, i, RK_VOID), RK_VOID);
    ck_assert_int_eq(rk_op_operand_type(RK_OP_SELECT, 1, RK_BOOL, i, r), RK_REAL);
    ck_assert_int_eq(rk_op_operand_type(RK_OP_SELECT, 0, RK_BOOL, i, r), RK_VOID);
    ck_assert_int_eq(rk_op_operand_type(RK_OP_FMA, 2, r, r, i), RK_REAL);
}
END_TEST

START_TEST(apply_without_rule_gives_none)
{
    ck_assert_int_eq(rk_apply(&f64i32, RK_OP_ADD, truth(true), whole(1), none).type,
                     RK_VOID);
    ck_assert_int_eq(rk_apply(&f64i32, RK_OP_REM, num(1), num(1), none).type, RK_VOID);
}
END_TEST

START_TEST(op_list_has_spellings_and_counts)
{
    ck_assert_str_eq(rk_op_spelling(RK_OP_FLD), "fld");
    ck_assert_str_eq(rk_op_spelling(RK_OP_POWI), "^");
    ck_assert_int_eq(rk_op_operands(RK_OP_FMA), 3);
    ck_assert_int_eq(rk_op_operands(RK_OP_NOT), 1);
}
END_TEST

static Suite *value_suite(void)
{
    Suite *suite = suite_create("value");
    TCase *numbers = tcase_create("numbers");
    tcase_add_test(numbers, int_overflow_wraps_at_the_width);
    tcase_add_test(numbers, int_division_has_the_sign_of_its_rule);
    tcase_add_test(numbers, int_least_divided_by_minus_one_wraps);
    tcase_add_test(numbers, int_min_max_sign_are_ordinary);
    tcase_add_test(numbers, int_power_wraps_and_of_zero_is_one);
    tcase_add_test(numbers, real_power_multiplies_by_squaring_from_the_top);
    tcase_add_test(numbers, real_division_of_ints_is_real);
    tcase_add_test(numbers, real_min_max_ignore_nan);
    tcase_add_test(numbers, real_comparison_with_nan_is_false);
    tcase_add_test(numbers, bool_operations_follow_their_tables);
    tcase_add_test(numbers, select_brings_its_branches_to_one_type);
    tcase_add_test(numbers, rounding_functions_are_exact);
    tcase_add_test(numbers, sign_and_abs_keep_nan_and_zero);
    tcase_add_test(numbers, fma_rounds_once);
    tcase_add_test(numbers, ldexp_rounds_once_and_takes_any_exponent);
    tcase_add_test(numbers, frexp_and_exponent_split_a_number);
    tcase_add_test(numbers, tests_of_numbers_tell_nan_and_inf);
    tcase_add_test(numbers, to_int_truncates_and_saturates);
    tcase_add_test(numbers, to_real_rounds_to_the_real_of_the_module);
    tcase_add_test(numbers, float_is_computed_as_float);
    tcase_add_test(numbers, convert_without_rule_gives_none);
    suite_add_tcase(suite, numbers);
    TCase *types = tcase_create("types");
    tcase_add_test(types, types_of_two_operands_follow_the_rules);
    tcase_add_test(types, types_of_one_operand_follow_the_rules);
    tcase_add_test(types, operands_are_converted_only_from_int_to_real);
    tcase_add_test(types, apply_without_rule_gives_none);
    tcase_add_test(types, op_list_has_spellings_and_counts);
    suite_add_tcase(suite, types);
    return suite;
}

RUBUS_TEST_MAIN("kernel: values", value_suite)
