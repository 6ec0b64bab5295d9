/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic in dialect c, run under the sanitizer for undefined behaviour: ints at their
 * ends, the functions on reals against the C library's, and expressions of any depth.
 */
#include "config.h"

#include <math.h>

#include "tests/support/suite.h"
#include "text_run.h"

static text_module open_f64(const char *text)
{
    return text_open(text, run_options(RUBUS_F64, RUBUS_I32, false), true);
}

START_TEST(int_arithmetic_wraps_and_survives_zero)
{
    text_module m = open_f64(
        "kernel k(out int r[9], in int a[1], in int b[1], in real x[1]) over (i in 0:1)\n"
        "{ r[0] = a[0] + b[0]; r[1] = a[0] * b[0]; r[2] = div(a[0], b[0]);\n"
        "  r[3] = fld(a[0], b[0]); r[4] = a[0] % b[0]; r[5] = mod(a[0], b[0]);\n"
        "  r[6] = -a[0]; r[7] = abs(a[0]); r[8] = int(x[0]); }");
    static const struct {
        int32_t a;
        int32_t b;
        double x;
        int32_t want[9];
    } row[] = {
        {INT32_MIN,
         -1,
         1e300,
         {INT32_MAX, INT32_MIN, INT32_MIN, INT32_MIN, 0, 0, INT32_MIN, INT32_MIN,
          INT32_MAX}},
        {7, 0, -1e300, {7, 0, 0, 0, 0, 0, -7, 7, INT32_MIN}},
        {-7, 3, -2.9, {-4, -21, -2, -3, -1, 2, 7, 7, -2}},
        {7, -3, 2147483647.9, {4, -21, -2, -3, 1, -2, -7, 7, INT32_MAX}},
        {INT32_MAX,
         2,
         NAN,
         {-INT32_MAX, -2, INT32_MAX / 2, INT32_MAX / 2, 1, 1, -INT32_MAX, INT32_MAX, 0}},
    };
    for (size_t k = 0; k < sizeof(row) / sizeof(row[0]); k++) {
        int32_t r[9] = {0};
        int32_t a = row[k].a;
        int32_t b = row[k].b;
        double x = row[k].x;
        const run_arg args[] = {RUN_ARRAY1(r, 9), RUN_ARRAY1(&a, 1), RUN_ARRAY1(&b, 1),
                                RUN_ARRAY1(&x, 1)};
        text_run(&m, 0, args, NULL);
        for (int i = 0; i < 9; i++) {
            ck_assert_msg(r[i] == row[k].want[i], "row %d, value %d: %d, expected %d",
                          (int)k, i, r[i], row[k].want[i]);
        }
    }
    text_close(&m);
}
END_TEST

static void expect_bits(double got, double want, const char *what, double x)
{
    ck_assert_msg((got == want && signbit(got) == signbit(want)) ||
                      (isnan(got) && isnan(want)),
                  "%s of %a: %a, expected %a", what, x, got, want);
}

START_TEST(real_functions_equal_the_exact_ones)
{
    text_module m = open_f64(
        "kernel k(out real r[8,n], out int e[n], in real x[n], int p) over (i in 0:n)\n"
        "{ r[0,i] = round(x[i]); r[1,i] = frexp(x[i]); r[2,i] = ldexp(x[i], p);\n"
        "  r[3,i] = min(x[i], 1); r[4,i] = max(1, x[i]); r[5,i] = sign(x[i]);\n"
        "  r[6,i] = x[i] ^ 5; r[7,i] = x[i] ^ p; e[i] = exponent(x[i]); }");
    double x[] = {0.0,
                  -0.0,
                  0.5,
                  -0.5,
                  1.5,
                  2.5,
                  0.49999999999999994,
                  -3.7,
                  0x1p-1074,
                  0x1p-1030,
                  0x1p1023,
                  1e16,
                  1.0,
                  4503599627370497.5,
                  -1e300,
                  INFINITY,
                  -(double)INFINITY,
                  NAN,
                  0x1.8p-1022,
                  3.0};
    enum { N = sizeof(x) / sizeof(x[0]) };
    static const int power[] = {0,    1,    3,     -3,        52,       -1074,
                                1030, 2100, -2200, INT32_MAX, INT32_MIN};
    for (size_t k = 0; k < sizeof(power) / sizeof(power[0]); k++) {
        double r[8 * N] = {0};
        int32_t e[N] = {0};
        const int p = power[k];
        const run_arg args[] = {RUN_ARRAY2(r, 8, N), RUN_ARRAY1(e, N), RUN_ARRAY1(x, N),
                                RUN_INT(p)};
        text_run(&m, 0, args, NULL);
        for (int i = 0; i < N; i++) {
            const double v = x[i];
            int exponent = 0;
            const double fraction = frexp(v, &exponent);
            const double squared = v * v;
            expect_bits(r[8 * i], round(v), "round", v);
            expect_bits(r[8 * i + 1], fraction, "frexp", v);
            expect_bits(r[8 * i + 2], ldexp(v, p), "ldexp", v);
            expect_bits(r[8 * i + 3], v < 1 ? v : 1, "min", v);
            expect_bits(r[8 * i + 4], v > 1 ? v : 1, "max", v);
            expect_bits(r[8 * i + 5], v > 0 ? 1 : v < 0 ? -1 : v, "sign", v);
            expect_bits(r[8 * i + 6], squared * squared * v, "x^5", v);
            ck_assert_int_eq(e[i], isfinite(v) ? exponent : 0);
            if (p == 0 || p == 1) {
                expect_bits(r[8 * i + 7], p == 0 ? 1 : v, "power", v);
            } else if (p == 3 || p == -3) {
                const double cube = squared * v;
                expect_bits(r[8 * i + 7], p > 0 ? cube : 1 / cube, "power", v);
            }
        }
    }
    text_close(&m);
}
END_TEST

/* "head middle*n tail*n" */
static char *repeated(const char *head, const char *open, int n, const char *middle,
                      const char *close, const char *tail)
{
    rubus__text text;
    rubus__text_init(&text);
    rubus__text_add(&text, head);
    for (int i = 0; i < n; i++) {
        rubus__text_add(&text, open);
    }
    rubus__text_add(&text, middle);
    for (int i = 0; i < n; i++) {
        rubus__text_add(&text, close);
    }
    rubus__text_add(&text, tail);
    return rubus__text_take(&text);
}

START_TEST(deep_expression_compiles_and_is_right)
{
    static const char head[] = "kernel k(out real u[n], in real f[n]) over (i) { u[i] = ";
    static const struct {
        const char *open;
        const char *middle;
        const char *close;
        double want; /* for 600 levels and f = 1 */
    } form[] = {
        {"(f[i] + ", "f[i]", ")", 601},
        {"", "f[i]", " - f[i]", -599},
        {"(f[i] > 0 ? 2 + ", "f[i]", " : f[9])", 1201},
        {"(f[i] > 0 && ", "f[i] > 0", ")", 1},
        {"(f[i] < 0 || ", "f[i] > 0", ")", 1},
    };
    for (size_t k = 0; k < sizeof(form) / sizeof(form[0]); k++) {
        const bool truth = k > 2;
        char *tail = rubus__format("%s; }", truth ? " ? 1 : 0" : "");
        char *text =
            repeated(head, form[k].open, 600, form[k].middle, form[k].close, tail);
        rk_program *program =
            text_compile(text, run_options(RUBUS_F64, RUBUS_I32, false));
        char from[64];
        char to[64];
        text_write(program, from);
        text_path(to, ".so");
        if (text_has("clang")) { // refuses more than 256 nested brackets
            ck_assert_int_eq(text_build("clang", from, to, false), 0);
            unlink(to);
        }
        unlink(from);
        rk_program_destroy(program);
        text_module m = open_f64(text);
        double u[1] = {0};
        double f[1] = {1};
        const run_arg args[] = {RUN_ARRAY1(u, 1), RUN_ARRAY1(f, 1)};
        text_run(&m, 0, args, NULL);
        ck_assert_double_eq(u[0], form[k].want);
        text_close(&m);
        rubus__free(text);
        rubus__free(tail);
    }
}
END_TEST

static Suite *value_suite(void)
{
    Suite *suite = suite_create("dialect c, arithmetic");
    TCase *tcase = tcase_create("arithmetic");
    tcase_add_test(tcase, int_arithmetic_wraps_and_survives_zero);
    tcase_add_test(tcase, real_functions_equal_the_exact_ones);
    tcase_add_test(tcase, deep_expression_compiles_and_is_right);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUBUS_TEST_MAIN("dialect c, arithmetic", value_suite)
