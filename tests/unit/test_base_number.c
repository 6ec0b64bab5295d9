/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers to text and back, also in a process with a decimal comma; names without locale.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <check.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

START_TEST(parse_f64_takes_whole_numbers_only)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"1.5", 1.5},     {" \t-2e3\n", -2000},
                {"1e-400", 0},    {"+.5", 0.5},
                {"7.", 7},        {"4.9e-324", 4.9406564584124654e-324},
                {"inf", INFINITY}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double value = 99;
        ck_assert_msg(rubus__parse_f64(good[i].text, &value), "'%s'", good[i].text);
        ck_assert_msg(value == good[i].value, "'%s' read as %.17g", good[i].text, value);
    }
    static const char *const bad[] = {"",    " ",  "1.5x", "1,5",  "1 2",
                                      "--1", "e5", ".",    "1e999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value = 99;
        ck_assert_msg(!rubus__parse_f64(bad[i], &value), "'%s'", bad[i]);
        ck_assert(value == 99);
    }
}
END_TEST

START_TEST(parse_f32_rounds_once)
{
    // just above the middle of 1 and its successor, by less than a double can tell: by
    // way of a double the tie would go to the even 1
    float value = 0;
    ck_assert(rubus__parse_f32("1.00000005960464477539062500001", &value));
    ck_assert(value == 1.0f + FLT_EPSILON);
    ck_assert(!rubus__parse_f32("1e39", &value));
    ck_assert(!rubus__parse_f32("1f", &value));
    ck_assert(rubus__parse_f32("nan", &value));
    ck_assert(isnan(value));
}
END_TEST

START_TEST(parse_i64_knows_its_limits)
{
    int64_t value = 0;
    ck_assert(rubus__parse_i64(" -9223372036854775808 ", &value));
    ck_assert(value == INT64_MIN);
    ck_assert(rubus__parse_i64("9223372036854775807", &value));
    ck_assert(value == INT64_MAX);
    ck_assert(rubus__parse_i64("+007", &value));
    ck_assert(value == 7);
    static const char *const bad[] = {"9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999999",
                                      "",
                                      "-",
                                      "+ 1",
                                      "1.0",
                                      "0x10",
                                      "1e3",
                                      "12a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(!rubus__parse_i64(bad[i], &value), "'%s'", bad[i]);
    }
}
END_TEST

START_TEST(print_f64_is_shortest_and_reads_back)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {-0.0, "-0"},
                 {1.0 / 3, "0.3333333333333333"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {1e300, "1e+300"},
                 {INFINITY, "inf"},
                 {-INFINITY, "-inf"},
                 {NAN, "nan"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[32];
        rubus__print_f64(cases[i].value, text);
        ck_assert_str_eq(text, cases[i].text);
    }
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 2000; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        double value = 0;
        memcpy(&value, &bits, sizeof value);
        if (isnan(value)) {
            continue;
        }
        char text[32];
        double back = 0;
        rubus__print_f64(value, text);
        ck_assert_msg(rubus__parse_f64(text, &back) && back == value, "%s", text);
        float small = (float)(i - 1000) / 7.0f;
        float small_back = 0;
        rubus__print_f32(small, text);
        ck_assert_msg(rubus__parse_f32(text, &small_back) && small_back == small, "%s",
                      text);
    }
}
END_TEST

START_TEST(print_f32_is_shortest)
{
    char text[32];
    rubus__print_f32(0.1f, text);
    ck_assert_str_eq(text, "0.1");
    rubus__print_f32(16777216.0f, text);
    ck_assert_str_eq(text, "16777216");
    rubus__print_f32(-INFINITY, text);
    ck_assert_str_eq(text, "-inf");
}
END_TEST

/* A locale with a decimal comma: one of the machine's, or one made for this test. */
static const char *comma_locale_set(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
                                        "de_DE"};
    const char *set = NULL;
    for (size_t i = 0; set == NULL && i < sizeof names / sizeof names[0]; i++) {
        set = setlocale(LC_ALL, names[i]);
    }
    if (set != NULL) {
        return set;
    }
    char folder[] = "/tmp/rubus-test-XXXXXX";
    char command[200];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(command, sizeof command,
             "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    if (system(command) == 0) {
        setenv("LOCPATH", folder, 1);
        set = setlocale(LC_ALL, "de_DE.UTF-8");
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) == 0 ? set : NULL;
}

START_TEST(numbers_in_comma_locale_keep_their_point)
{
    const char *set = comma_locale_set();
    // where no such locale can be had the same calls are checked in the C locale
    char native[16];
    snprintf(native, sizeof native, "%.1f", 1.5);
    ck_assert_str_eq(native, set == NULL ? "1.5" : "1,5");
    char text[32];
    rubus__print_f64(1.5, text);
    ck_assert_str_eq(text, "1.5");
    rubus__snprintf(text, sizeof text, "%g", 2.5);
    ck_assert_str_eq(text, "2.5");
    double value = 0;
    ck_assert(rubus__parse_f64("3.25", &value));
    ck_assert(value == 3.25);
    ck_assert(!rubus__parse_f64("3,25", &value));
    // the thread's own locale is back
    snprintf(native, sizeof native, "%.1f", 1.5);
    ck_assert_str_eq(native, set == NULL ? "1.5" : "1,5");
}
END_TEST

START_TEST(distance_counts_edits)
{
    ck_assert_int_eq(rubus__distance("", ""), 0);
    ck_assert_int_eq(rubus__distance("vulkan", "VULKAN"), 0);
    ck_assert_int_eq(rubus__distance("vulcan", "vulkan"), 1);
    ck_assert_int_eq(rubus__distance("vluakn", "vulkan"), 2);
    ck_assert_int_eq(rubus__distance("", "abc"), 3);
    char longer[201];
    memset(longer, 'a', 200);
    longer[200] = '\0';
    ck_assert_int_eq(rubus__distance(longer, longer), 0);
    ck_assert_int_eq(rubus__distance("", longer), 200);
}
END_TEST

START_TEST(nearest_needs_a_near_one)
{
    static const char *const names[] = {"threads", "reference", "vulkan", "on"};
    ck_assert_str_eq(rubus__nearest("thread", names, 4), "threads");
    ck_assert_str_eq(rubus__nearest("Vulcan", names, 4), "vulkan");
    ck_assert_str_eq(rubus__nearest("refrence", names, 4), "reference");
    ck_assert_ptr_null(rubus__nearest("cuda", names, 4));
    ck_assert_ptr_null(rubus__nearest("xy", names, 4));
    ck_assert_ptr_null(rubus__nearest("threads", names, 0));
}
END_TEST

START_TEST(equal_nocase_uses_ascii_rules)
{
    ck_assert(rubus__equal_nocase("INTEGER", "integer"));
    ck_assert(!rubus__equal_nocase("integer", "integers"));
    ck_assert(!rubus__equal_nocase("a", "b"));
    // the dotless i of Turkish is no i
    ck_assert(!rubus__equal_nocase("\xc4\xb1", "i"));
    ck_assert(rubus__equal_nocase("", ""));
}
END_TEST

static Suite *number_suite(void)
{
    TCase *tc = tcase_create("number");
    tcase_add_test(tc, parse_f64_takes_whole_numbers_only);
    tcase_add_test(tc, parse_f32_rounds_once);
    tcase_add_test(tc, parse_i64_knows_its_limits);
    tcase_add_test(tc, print_f64_is_shortest_and_reads_back);
    tcase_add_test(tc, print_f32_is_shortest);
    tcase_add_test(tc, numbers_in_comma_locale_keep_their_point);
    tcase_add_test(tc, distance_counts_edits);
    tcase_add_test(tc, nearest_needs_a_near_one);
    tcase_add_test(tc, equal_nocase_uses_ascii_rules);
    Suite *suite = suite_create("base: numbers and names");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("base: numbers and names", number_suite)
