/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fast reading and printing of decimals against the C library, whose own algorithms are
 * of another kind, and the table of powers against long integers.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcore/base/decimal.h"
#include "tests/support/suite.h"

static uint64_t state = 0x853c49e6748fea9bu;

static uint64_t draw(void)
{
    uint64_t x = state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* --- the table --------------------------------------------------------------------- */

enum { LIMBS = 48 }; /* of 32 bits, lowest first: room for 10^324 * 2^128 */

typedef struct longint {
    uint32_t limb[LIMBS];
} longint;

static void times(longint *n, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)n->limb[i] * factor;
        n->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    ck_assert_uint_eq(carry, 0);
}

static int bits_of(const longint *n)
{
    for (int i = LIMBS - 1; i >= 0; i--) {
        if (n->limb[i] != 0) {
            return 32 * (i + 1) - __builtin_clz(n->limb[i]);
        }
    }
    return 0;
}

static int bit(const longint *n, int at)
{
    return at < 0 ? 0 : (int)(n->limb[at / 32] >> (at % 32) & 1u);
}

/* n = 2n + low; then n -= m if it is not less: the bit of the quotient. */
static int divide_step(longint *n, const longint *m)
{
    times(n, 2);
    longint rest;
    int64_t borrow = 0;
    for (int i = 0; i < LIMBS; i++) {
        borrow += (int64_t)n->limb[i] - m->limb[i];
        rest.limb[i] = (uint32_t)borrow;
        borrow >>= 32;
    }
    if (borrow < 0) {
        return 0;
    }
    *n = rest;
    return 1;
}

START_TEST(powers_of_ten_are_right)
{
    for (int k = RUBUS__POWER_LEAST; k <= RUBUS__POWER_MOST; k++) {
        longint power = {{1}};
        for (int i = 0; i < abs(k); i++) {
            times(&power, 10);
        }
        const int size = bits_of(&power);
        rubus__u128 want = 0;
        bool exact = true;
        if (k >= 0) {
            for (int i = 1; i <= 128; i++) {
                want = want << 1 | (unsigned)bit(&power, size - i);
            }
            for (int i = 0; i < size - 128; i++) {
                exact = exact && bit(&power, i) == 0;
            }
            ck_assert_int_eq(rubus__log2_of_power(k), size - 1);
        } else {
            longint rest = {{1}};
            for (int i = 0; i < size + 127; i++) {
                want = want << 1 | (unsigned)divide_step(&rest, &power);
            }
            exact = false;
            ck_assert_int_eq(rubus__log2_of_power(k), -size);
        }
        want += !exact;
        const uint64_t *have = rubus__powers[k - RUBUS__POWER_LEAST];
        ck_assert_msg(have[0] == (uint64_t)(want >> 64) && have[1] == (uint64_t)want,
                      "10^%d", k);
        ck_assert_uint_eq(have[0] >> 63, 1);
    }
}
END_TEST

/* --- reading ----------------------------------------------------------------------- */

static void check_read(const char *text)
{
    const char *end = text + strlen(text);
    double value = 0;
    ck_assert_msg(rubus__read_f64(text, end, &value) == end, "'%s' is not read", text);
    const double want = strtod(text, NULL);
    ck_assert_msg(memcmp(&value, &want, sizeof want) == 0, "'%s' as %.17g, not %.17g",
                  text, value, want);
    float small = 0;
    ck_assert_ptr_eq(rubus__read_f32(text, end, &small), end);
    const float small_want = strtof(text, NULL);
    ck_assert_msg(memcmp(&small, &small_want, sizeof small) == 0,
                  "'%s' as %.9g, not %.9g", text, (double)small, (double)small_want);
}

START_TEST(read_agrees_with_strtod)
{
    const int n = rubus_test_long() ? 2000000 : 50000;
    for (int i = 0; i < n; i++) {
        char text[100];
        char *at = text;
        if (draw() % 4 == 0) {
            *at++ = draw() % 2 == 0 ? '-' : '+';
        }
        const int whole = (int)(draw() % (draw() % 8 == 0 ? 30 : 4));
        for (int k = 0; k < whole; k++) {
            *at++ = (char)('0' + draw() % 10);
        }
        const int fraction = (int)(draw() % (draw() % 8 == 0 ? 40 : 20));
        if (fraction > 0 || whole == 0) {
            *at++ = '.';
            *at++ = (char)('0' + draw() % 10);
        }
        for (int k = 1; k < fraction; k++) {
            *at++ = (char)('0' + draw() % 10);
        }
        *at = '\0';
        const int range = draw() % 3 == 0 ? 700 : draw() % 2 == 0 ? 90 : 10;
        if (draw() % 2 == 0) {
            snprintf(at, 12, "%c%d", draw() % 2 == 0 ? 'e' : 'E',
                     (int)(draw() % (unsigned)range) - range / 2);
        }
        check_read(text);
    }
}
END_TEST

START_TEST(read_f64_of_its_own_prints)
{
    const int n = rubus_test_long() ? 2000000 : 50000;
    for (int i = 0; i < n; i++) {
        const uint64_t bits = draw();
        double value = 0;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) {
            char text[40];
            snprintf(text, sizeof text, "%.*e", 5 + (int)(draw() % 18), value);
            check_read(text);
        }
    }
}
END_TEST

/* Halfway between two neighbours, written out in full, and by a last digit more or less.
 * A long double holds the middle exactly. */
START_TEST(read_rounds_ties_to_even)
{
    for (int i = 0; i < 3000; i++) {
        const uint64_t bits = draw() & ~((uint64_t)1 << 63);
        double low = 0;
        memcpy(&low, &bits, sizeof low);
        const double high = nextafter(low, (double)INFINITY);
        if (!isfinite(low) || !isfinite(high) || low < DBL_MIN) {
            continue;
        }
        const double even = (bits & 1) == 0 ? low : high;
        char text[1300];
        int n = snprintf(text, sizeof text, "%.800Le", ((long double)low + high) / 2);
        double value = 0;
        ck_assert_ptr_eq(rubus__read_f64(text, text + n, &value), text + n);
        ck_assert_msg(value == even, "%.17g for the middle above %.17g", value, low);
        // 0.1 more far behind all digits
        char *e = strchr(text, 'e');
        memmove(e + 1, e, strlen(e) + 1);
        *e = '1';
        n++;
        ck_assert_ptr_eq(rubus__read_f64(text, text + n, &value), text + n);
        ck_assert_msg(value == high, "%.17g for a little more than the middle", value);
        // the last digit that is not 0, less by one
        *e = '9';
        char *last = e - 1;
        for (; *last == '0' || *last == '.'; last--) {
            *last = *last == '.' ? '.' : '9';
        }
        *last = (char)(*last - 1);
        ck_assert_ptr_eq(rubus__read_f64(text, text + n, &value), text + n);
        ck_assert_msg(value == low, "%.17g for a little less than the middle", value);
    }
}
END_TEST

START_TEST(read_f32_rounds_once)
{
    // above the middle of 1 and its successor by less than a double can tell
    static const char text[] = "1.00000005960464477539062500001";
    float value = 0;
    ck_assert_ptr_nonnull(rubus__read_f32(text, text + strlen(text), &value));
    ck_assert(value == 1.0f + FLT_EPSILON);
    static const char tie[] = "1.000000059604644775390625";
    ck_assert_ptr_nonnull(rubus__read_f32(tie, tie + strlen(tie), &value));
    ck_assert(value == 1.0f);
}
END_TEST

START_TEST(read_stops_where_the_number_ends)
{
    static const struct {
        const char *text;
        int size; /* -1: no number */
        double value;
    } cases[] = {{"1 2", 1, 1},
                 {"-7.E1x", 5, -70},
                 {".5,", 2, 0.5},
                 {"3.", 2, 3},
                 {"1e", 1, 1},
                 {"1e+", 1, 1},
                 {"1.5D+03", 7, 1500},
                 {"2d2", 3, 200},
                 {"0x10", 1, 0},
                 {"1E9999", 6, INFINITY},
                 {"-1e-9999", 8, -0.0},
                 {"0e99999999999999999999", 22, 0},
                 {"1e99999999999999999999", 22, INFINITY},
                 {"1e-99999999999999999999", 23, 0},
                 {"Infinity", 8, INFINITY},
                 {"-inf", 4, -INFINITY},
                 {"infinit", 3, INFINITY},
                 {"", -1, 0},
                 {"-", -1, 0},
                 {".", -1, 0},
                 {"+.e1", -1, 0},
                 {"e5", -1, 0},
                 {"in", -1, 0},
                 {" 1", -1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *text = cases[i].text;
        double value = 99;
        float small = 99;
        const char *end = rubus__read_f64(text, text + strlen(text), &value);
        ck_assert_ptr_eq(rubus__read_f32(text, text + strlen(text), &small), end);
        if (cases[i].size < 0) {
            ck_assert_msg(end == NULL && value == 99 && small == 99, "'%s'", text);
            continue;
        }
        ck_assert_msg(end == text + cases[i].size, "'%s'", text);
        ck_assert_msg(value == cases[i].value &&
                          signbit(value) == signbit(cases[i].value),
                      "'%s' as %.17g", text, value);
        ck_assert_msg((double)small == cases[i].value, "'%s' as %.9g", text,
                      (double)small);
    }
    double value = 0;
    static const char nan_text[] = "NaN";
    ck_assert_ptr_eq(rubus__read_f64(nan_text, nan_text + 3, &value), nan_text + 3);
    ck_assert(isnan(value));
    // nothing behind `end` is looked at
    static const char cut_text[] = "12345e12";
    ck_assert_ptr_eq(rubus__read_f64(cut_text, cut_text + 2, &value), cut_text + 2);
    ck_assert(value == 12);
    ck_assert_ptr_eq(rubus__read_f64(cut_text, cut_text + 7, &value), cut_text + 7);
    ck_assert(value == 123450);
}
END_TEST

START_TEST(read_takes_any_number_of_digits)
{
    enum { MANY = 100000 };
    char *text = malloc(MANY + 20);
    ck_assert_ptr_nonnull(text);
    // 1 and a long way behind it another 1: above the tie of 2^53 + 1 only by that
    strcpy(text, "9007199254740993.");
    memset(text + 17, '0', MANY - 18);
    text[MANY - 1] = '1';
    double value = 0;
    ck_assert_ptr_eq(rubus__read_f64(text, text + MANY, &value), text + MANY);
    ck_assert(value == 9007199254740994.0);
    ck_assert_ptr_eq(rubus__read_f64(text, text + MANY - 1, &value), text + MANY - 1);
    ck_assert(value == 9007199254740992.0);
    // leading zeros, taken back by the exponent
    text[0] = '.';
    memset(text + 1, '0', MANY);
    const int n = MANY + snprintf(text + MANY, 20, "25e%d", MANY);
    ck_assert_ptr_eq(rubus__read_f64(text, text + n, &value), text + n);
    ck_assert(value == 2.5);
    free(text);
}
END_TEST

/* --- printing ---------------------------------------------------------------------- */

static int digits_of(const char *text)
{
    int n = 0;
    int zeros = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text >= '0' && *text <= '9' && (n > 0 || *text != '0')) {
            zeros = *text == '0' ? zeros + 1 : 0;
            n++;
        }
    }
    return n - zeros;
}

/* No decimal of fewer digits reads back, and of its number of digits it is the nearest
 * that does. */
static void check_print(double value)
{
    char text[32];
    ck_assert_uint_eq(rubus__print_f64(value, text), strlen(text));
    const double back = strtod(text, NULL);
    ck_assert_msg(memcmp(&back, &value, sizeof back) == 0, "%.17g printed as %s", value,
                  text);
    const int n = digits_of(text);
    char other[40];
    if (n > 1) {
        snprintf(other, sizeof other, "%.*e", n - 2, value);
        ck_assert_msg(strtod(other, NULL) != value, "%s is longer than %s", text, other);
    }
    if (n > 0) {
        snprintf(other, sizeof other, "%.*e", n - 1, value);
        ck_assert_msg(strtod(other, NULL) != value ||
                          strtold(other, NULL) == strtold(text, NULL),
                      "%s is farther away than %s", text, other);
    }
}

static void check_print_f32(float value)
{
    char text[32];
    ck_assert_uint_eq(rubus__print_f32(value, text), strlen(text));
    ck_assert_msg(strtof(text, NULL) == value, "%.9g printed as %s", (double)value, text);
    const int n = digits_of(text);
    char other[40];
    if (n > 1) {
        snprintf(other, sizeof other, "%.*e", n - 2, (double)value);
        ck_assert_msg(strtof(other, NULL) != value, "%s is longer than %s", text, other);
    }
}

START_TEST(print_is_shortest)
{
    const int n = rubus_test_long() ? 1000000 : 15000;
    for (int i = 0; i < n; i++) {
        const uint64_t bits = i % 16 == 0 ? draw() >> (draw() % 64) : draw();
        double value = 0;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) {
            check_print(value);
        }
        check_print((double)(draw() % 1000000) / 1000);
        const uint32_t small_bits = (uint32_t)draw();
        float small = 0;
        memcpy(&small, &small_bits, sizeof small);
        if (isfinite(small)) {
            check_print_f32(small);
        }
    }
    for (int e = -1074; e <= 1023; e++) {
        check_print(ldexp(1, e));
        check_print(nextafter(ldexp(1, e), 0));
        check_print(nextafter(ldexp(1, e), INFINITY));
        if (e >= -149 && e <= 127) {
            check_print_f32(ldexpf(1, e));
        }
    }
    for (double p = 1; p < 1e300; p *= 10) {
        check_print(p);
        check_print(1 / p);
    }
}
END_TEST

START_TEST(print_has_the_layout_of_g)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {1, "1"},
                 {-120, "-120"},
                 {123456789012345, "123456789012345"},
                 {1e14, "100000000000000"},
                 {1e15, "1e+15"},
                 {1234567890123456, "1234567890123456"},
                 {0.0001, "0.0001"},
                 {0.00012345, "0.00012345"},
                 {0.00001, "1e-05"},
                 {-1.5e-7, "-1.5e-07"},
                 {12.5, "12.5"},
                 {4.9406564584124654e-324, "5e-324"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"},
                 {2.2250738585072014e-308, "2.2250738585072014e-308"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[32];
        rubus__print_f64(cases[i].value, text);
        ck_assert_str_eq(text, cases[i].text);
    }
    char text[32];
    rubus__print_f32(123456.0f, text);
    ck_assert_str_eq(text, "123456");
    rubus__print_f32(1e6f, text);
    ck_assert_str_eq(text, "1e+06");
    rubus__print_f32(1e-45f, text);
    ck_assert_str_eq(text, "1e-45");
}
END_TEST

static Suite *decimal_suite(void)
{
    Suite *suite = suite_create("base decimals");
    TCase *tcase = tcase_create("decimals");
    tcase_add_test(tcase, powers_of_ten_are_right);
    tcase_add_test(tcase, read_agrees_with_strtod);
    tcase_add_test(tcase, read_f64_of_its_own_prints);
    tcase_add_test(tcase, read_rounds_ties_to_even);
    tcase_add_test(tcase, read_f32_rounds_once);
    tcase_add_test(tcase, read_stops_where_the_number_ends);
    tcase_add_test(tcase, read_takes_any_number_of_digits);
    tcase_add_test(tcase, print_is_shortest);
    tcase_add_test(tcase, print_has_the_layout_of_g);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUBUS_TEST_MAIN("base decimals", decimal_suite)
