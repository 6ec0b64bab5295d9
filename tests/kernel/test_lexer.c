/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens: kinds, values and places, names in many scripts, numbers rounded once, and
 * every way in which bytes can be no token; and the form of messages.
 */
#include "config.h"

#include "tests/kernel/kernel_unit.h"

#include <math.h>

#include "tests/support/suite.h"

static test_unit t;
static rk_token *token;
static int32_t count;

static void setup(void)
{
    unit_open(&t);
}

static void teardown(void)
{
    unit_close(&t);
}

/* Lexes; false if it was left early or has errors. */
static bool lex_n(const char *text, size_t size)
{
    if (setjmp(t.leave) != 0) {
        return false;
    }
    token =
        rk_lex(&t.unit, unit_source(&t, "t.rk", text, size), 0, (int32_t)size, &count);
    return t.unit.nerror == 0;
}

static bool lex(const char *text)
{
    return lex_n(text, strlen(text));
}

static void expect_message(const char *want)
{
    ck_assert_msg(strstr(t.unit.messages.data, want) != NULL, "no \"%s\" in:\n%s", want,
                  t.unit.messages.data);
}

START_TEST(lexer_of_all_kinds_gives_tokens)
{
    ck_assert(lex("kernel a1 12 1.5 \"f.rk\" <= < = // x\n/* y */ :"));
    static const rk_token_kind kinds[] = {
        RK_TOKEN_KEYWORD, RK_TOKEN_NAME,  RK_TOKEN_INT,   RK_TOKEN_REAL,  RK_TOKEN_STRING,
        RK_TOKEN_PUNCT,   RK_TOKEN_PUNCT, RK_TOKEN_PUNCT, RK_TOKEN_PUNCT, RK_TOKEN_END};
    ck_assert_int_eq(count, 10);
    for (int i = 0; i < 10; i++) {
        ck_assert_msg(token[i].kind == kinds[i], "token %d", i);
    }
    ck_assert_str_eq(token[0].name, "kernel");
    ck_assert_str_eq(token[1].name, "a1");
    ck_assert_int_eq(token[2].i, 12);
    ck_assert_str_eq(token[3].name, "1.5");
    ck_assert_str_eq(token[4].name, "f.rk");
    ck_assert_str_eq(token[5].name, "<=");
    ck_assert_int_eq(token[5].at.first, 24);
    ck_assert_int_eq(token[5].at.last, 26);
    ck_assert_int_eq(token[9].at.first, token[8].at.last);
}
END_TEST

START_TEST(lexer_of_operators_takes_the_longest)
{
    ck_assert(lex("a+++b--c<==d&&e||f!=!g%=h^i?j:k"));
    static const char *const want[] = {"a",  "++", "+", "b",  "--", "c",  "<=", "=",
                                       "d",  "&&", "e", "||", "f",  "!=", "!",  "g",
                                       "%=", "h",  "^", "i",  "?",  "j",  ":",  "k"};
    ck_assert_int_eq(count, 25);
    for (int i = 0; i < 24; i++) {
        ck_assert_str_eq(token[i].name, want[i]);
    }
}
END_TEST

START_TEST(lexer_of_equal_names_gives_equal_pointers)
{
    ck_assert(lex("alpha beta alpha"));
    ck_assert_ptr_eq(token[0].name, token[2].name);
    ck_assert_ptr_ne(token[0].name, token[1].name);
}
END_TEST

START_TEST(lexer_of_many_names_keeps_them_apart)
{
    char text[8 * 2000 + 1];
    size_t size = 0;
    for (int i = 0; i < 2000; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size, "n%d ", i);
    }
    ck_assert(lex(text));
    ck_assert_int_eq(count, 2001);
    for (int i = 0; i < 2000; i++) {
        char want[16];
        snprintf(want, sizeof want, "n%d", i);
        ck_assert_str_eq(token[i].name, want);
    }
}
END_TEST

START_TEST(lexer_of_words_knows_the_keywords)
{
    ck_assert(
        lex("import kernel reduce op func in out inout real int bool index let if else "
            "for while break continue return over true false"));
    ck_assert_int_eq(count, 24);
    for (int i = 0; i < 23; i++) {
        ck_assert_msg(token[i].kind == RK_TOKEN_KEYWORD, "%s", token[i].name);
    }
    ck_assert(lex("sum max min half register double float4 new output reals"));
    for (int i = 0; i < 10; i++) {
        ck_assert_msg(token[i].kind == RK_TOKEN_NAME, "%s", token[i].name);
    }
}
END_TEST

START_TEST(lexer_of_unicode_names_takes_them_whole)
{
    // lambda; partial t; eta with a combining dot; u with a subscript zero; phi prime
    static const char *const names[] = {"\u03BB",  "\u2202t",      "\u03B7\u0307",
                                        "u\u2080", "\u03D5\u2032", "_",
                                        "\u00A1",  "\U0001F600x"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ck_assert_msg(lex(names[i]), "%s", t.unit.messages.data);
        ck_assert_int_eq(count, 2);
        ck_assert_int_eq(token[0].kind, RK_TOKEN_NAME);
        ck_assert_str_eq(token[0].name, names[i]);
    }
}
END_TEST

START_TEST(lexer_of_composed_and_decomposed_names_tells_them_apart)
{
    ck_assert(lex("\u00E9 e\u0301"));
    ck_assert_ptr_ne(token[0].name, token[1].name);
}
END_TEST

START_TEST(lexer_of_points_not_for_names_fails)
{
    // no-break space, ideographic space, soft hyphen, zero width joiner, line separator,
    // private use, language tag, the control U+0085
    static const char *const bad[] = {"a\u00A0b", "a\u3000b", "\u00ADa",     "a\u200Db",
                                      "a\u2028b", "\uE000",   "\U000E0001a", "a\xC2\x85"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unit_close(&t);
        unit_open(&t);
        ck_assert_msg(!lex(bad[i]), "%zu", i);
        expect_message("error[K001]");
        ck_assert_int_eq(t.unit.nerror, 1);
    }
}
END_TEST

START_TEST(lexer_of_broken_utf8_fails_with_its_byte)
{
    // lone continuation, overlong, surrogate, above U+10FFFF, cut short, never used
    static const char *const bad[] = {"ab\x80",         "ab\xC0\x80",
                                      "ab\xED\xA0\x80", "ab\xF4\x90\x80\x80",
                                      "ab\xE2\x88",     "ab\xFF"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unit_close(&t);
        unit_open(&t);
        ck_assert_msg(!lex(bad[i]), "%zu", i);
        expect_message("t.rk:1:3: error[K002]: byte 2 of the file");
        ck_assert_int_eq(t.unit.nerror, 1);
    }
}
END_TEST

START_TEST(lexer_of_broken_utf8_in_a_comment_fails)
{
    ck_assert(!lex("// caf\xE9\na"));
    expect_message("error[K002]");
    ck_assert_int_eq(count, 2);
}
END_TEST

START_TEST(lexer_of_nul_bytes_fails_once_a_run)
{
    ck_assert(!lex_n("a\0\0\0b\0c", 7));
    ck_assert_int_eq(t.unit.nerror, 2);
    expect_message("NUL byte at byte 1");
    expect_message("NUL byte at byte 5");
    ck_assert_int_eq(count, 4);
}
END_TEST

START_TEST(lexer_of_a_string_with_nul_reads_no_further)
{
    ck_assert(!lex_n("\"a\0b\"", 5));
    ck_assert_int_eq(count, 2);
    ck_assert(!lex_n("\"a\0b\"", 5));
}
END_TEST

START_TEST(lexer_of_line_ends_and_mark_skips_them)
{
    ck_assert(lex("\xEF\xBB\xBF"
                  "a\r\nb\r\n\tc\f\v"));
    ck_assert_int_eq(count, 4);
    int32_t line = 0;
    int32_t column = 0;
    rk_line_column(token[2].at, &line, &column);
    ck_assert_int_eq(line, 3);
    ck_assert_int_eq(column, 2);
    ck_assert_str_eq(rk_place(&t.unit, token[2].at), "t.rk:3");
}
END_TEST

START_TEST(lexer_of_comments_skips_them)
{
    ck_assert(lex("a /* b /* c */ d // e */ f"));
    ck_assert_int_eq(count, 3);
    ck_assert_str_eq(token[1].name, "d");
    ck_assert(lex("a /**/ b /***/ c //"));
    ck_assert_int_eq(count, 4);
}
END_TEST

START_TEST(lexer_of_open_comment_points_at_its_begin)
{
    ck_assert(!lex("a\n  /* b\n*"));
    expect_message("t.rk:2:3: error[K004]");
    ck_assert(!lex("/*/"));
}
END_TEST

START_TEST(lexer_of_open_string_fails)
{
    ck_assert(!lex("import \"a.rk\n;"));
    expect_message("t.rk:1:8: error[K006]");
    ck_assert_int_eq(count, 4);
    ck_assert_str_eq(token[1].name, "a.rk");
}
END_TEST

START_TEST(lexer_of_ints_gives_values)
{
    ck_assert(lex("0 007 2147483648 9223372036854775807"));
    ck_assert_int_eq(token[0].i, 0);
    ck_assert_int_eq(token[1].i, 7);
    ck_assert_int_eq(token[2].i, INT64_C(2147483648));
    ck_assert_int_eq(token[3].i, INT64_MAX);
    ck_assert(!lex("9223372036854775808"));
    expect_message("error[K007]");
}
END_TEST

START_TEST(lexer_of_reals_rounds_once_to_each_type)
{
    ck_assert(lex("1. .5 1e-3 1E+2 2.5e3 0.1 1e-310 1e-40"));
    static const double want[] = {1.0, 0.5, 1e-3, 100, 2500, 0.1, 1e-310, 1e-40};
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(token[i].kind, RK_TOKEN_REAL);
        ck_assert_msg(token[i].real == want[i], "%s", token[i].name);
    }
    ck_assert(token[5].real32 == 0.1F);
    ck_assert(token[6].real32 == 0.0F);
    ck_assert(token[7].real32 == 1e-40F);
    // 1 + 2^-24 + 2^-54: to double first and then to float would lose the last bit, and
    // round the tie to even, down to 1
    ck_assert(lex("1.00000005960464483090887734"));
    ck_assert(token[0].real32 == 1.0F + 0x1p-23F);
}
END_TEST

START_TEST(lexer_of_too_large_reals_fails_for_the_type_in_use)
{
    ck_assert(lex("1e300"));
    ck_assert(isinf(token[0].real32));
    t.unit.numbers.f64 = false;
    ck_assert(!lex("1e300"));
    expect_message("too large for f32");
    t.unit.numbers.f64 = true;
    ck_assert(!lex("1e309"));
    expect_message("too large for f64");
    // both types are written side by side in the library
    unit_close(&t);
    unit_open(&t);
    rk_source *library = RK_NEW(&t.unit, rk_source);
    *library = *unit_source(&t, "l.rk", "1e309", 5);
    library->library = true;
    rk_lex(&t.unit, library, 0, library->size, &count);
    ck_assert_int_eq(t.unit.nerror, 0);
}
END_TEST

START_TEST(lexer_of_broken_numbers_says_what_to_write)
{
    static const char *const bad[][2] = {
        {"1e", "digits after the `e`"},
        {"1e+", "digits after the `e`"},
        {"1.5f", "leave the suffix out"},
        {"3L", "leave the suffix out"},
        {"0x1F", "decimal"},
        {"2x", "put an operator"},
        {"1.2.3", "one point"},
        {"1..2", "one point"},
        {"1_000", "put an operator"},
        {"2\u03C0", "put an operator"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unit_close(&t);
        unit_open(&t);
        ck_assert_msg(!lex(bad[i][0]), "%s", bad[i][0]);
        ck_assert_int_eq(t.unit.nerror, 1);
        ck_assert_int_eq(count, 2);
        expect_message("error[K003]");
        expect_message(bad[i][1]);
    }
}
END_TEST

START_TEST(lexer_of_strange_characters_says_what_to_write)
{
    static const char *const bad[][2] = {
        {"a & b", "`&&`"},
        {"a | b", "`||`"},
        {"a # b", "`#`"},
        {"a' b", "U+2032"},
        {"a . b", "digit"},
        {"a\001b", "U+0001"},
        {"a\u00A0b", "ordinary blank"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        unit_close(&t);
        unit_open(&t);
        ck_assert(!lex(bad[i][0]));
        ck_assert_int_eq(t.unit.nerror, 1);
        ck_assert_int_eq(count, 3);
        expect_message("error[K001]");
        expect_message(bad[i][1]);
    }
    ck_assert(!lex("a @@@@ b"));
    ck_assert_int_eq(t.unit.nerror, 2); // a run is one error
}
END_TEST

START_TEST(lexer_of_garbage_stops_after_20_errors)
{
    char text[401];
    for (int i = 0; i < 200; i++) {
        memcpy(text + 2 * i, "# ", 2);
    }
    text[400] = '\0';
    ck_assert(!lex(text));
    ck_assert_int_eq(t.unit.nerror, 20);
    ck_assert_int_eq(t.unit.nerror_dropped, 1);
    ck_assert_int_eq(t.unit.status, RUBUS_ECOMPILE);
    expect_message("only the first 20 errors");
}
END_TEST

/* --- messages ----------------------------------------------------------------------- */

START_TEST(message_shows_place_line_caret_and_cure)
{
    ck_assert(!lex("first\n\tlet \u03BB = 2x;\r\n"));
    ck_assert_str_eq(t.unit.messages.data,
                     "t.rk:2:10: error[K003]: `2x` is not a number\n"
                     "    let \u03BB = 2x;\n"
                     "            ^~\n"
                     "  help: put an operator between the number and the name: 2 * x\n");
}
END_TEST

START_TEST(message_behind_a_combining_mark_has_its_caret_right)
{
    ck_assert(!lex("\u03B7\u0307 #"));
    ck_assert_str_eq(t.unit.messages.data,
                     "t.rk:1:4: error[K001]: `#` means nothing here\n"
                     "\u03B7\u0307 #\n"
                     "  ^\n"
                     "  help: remove it\n");
}
END_TEST

/* The longest line and the column of the caret's line, of a one-error message. */
static void expect_cut(int before, int after)
{
    char text[1001];
    memset(text, 'a', sizeof text);
    text[before] = '#';
    memset(text + before + 1, 'b', (size_t)after);
    text[before + 1 + after] = '\0';
    unit_close(&t);
    unit_open(&t);
    ck_assert(!lex(text));
    const char *line = strchr(t.unit.messages.data, '\n') + 1;
    const char *caret_line = strchr(line, '\n') + 1;
    const char *sign = strchr(line, '#');
    ck_assert_ptr_nonnull(sign);
    ck_assert_msg(caret_line - line - 1 <= 120, "%s", line);
    ck_assert_msg(strchr(caret_line, '^') - caret_line == sign - line, "%s", line);
}

START_TEST(message_of_a_long_line_is_cut_around_the_caret)
{
    expect_cut(0, 0);
    expect_cut(0, 119);
    expect_cut(0, 120);
    expect_cut(119, 0);
    expect_cut(120, 0);
    expect_cut(60, 60);
    expect_cut(500, 400);
    expect_cut(900, 10);
    expect_cut(10, 900);
}
END_TEST

START_TEST(message_note_has_its_own_place)
{
    ck_assert(lex("a\nb c"));
    rk_error(&t.unit, RK_EXPECTED, token[2].at, NULL, "number %d of %s", 3, "c");
    rk_note(&t.unit, token[0].at, "see %s", "a");
    ck_assert_str_eq(t.unit.messages.data, "t.rk:2:3: error[K005]: number 3 of c\n"
                                           "b c\n"
                                           "  ^\n"
                                           "t.rk:1:1: note: see a\n"
                                           "a\n"
                                           "^\n");
    ck_assert_int_eq(rk_error_count(&t.unit), 1);
}
END_TEST

START_TEST(budget_used_up_gives_up)
{
    ck_assert(lex("a"));
    t.unit.budget = 10;
    if (setjmp(t.leave) == 0) {
        rk_spend(&t.unit, 10, token[0].at);
        rk_spend(&t.unit, 1, token[0].at);
        ck_abort_msg("went on");
    }
    expect_message("error[K140]");
    ck_assert_int_eq(t.unit.status, RUBUS_ECOMPILE);
}
END_TEST

static Suite *lexer_suite(void)
{
    Suite *suite = suite_create("lexer");
    TCase *tokens = tcase_create("tokens");
    tcase_add_checked_fixture(tokens, setup, teardown);
    tcase_add_test(tokens, lexer_of_all_kinds_gives_tokens);
    tcase_add_test(tokens, lexer_of_operators_takes_the_longest);
    tcase_add_test(tokens, lexer_of_equal_names_gives_equal_pointers);
    tcase_add_test(tokens, lexer_of_many_names_keeps_them_apart);
    tcase_add_test(tokens, lexer_of_words_knows_the_keywords);
    tcase_add_test(tokens, lexer_of_unicode_names_takes_them_whole);
    tcase_add_test(tokens, lexer_of_composed_and_decomposed_names_tells_them_apart);
    tcase_add_test(tokens, lexer_of_points_not_for_names_fails);
    tcase_add_test(tokens, lexer_of_broken_utf8_fails_with_its_byte);
    tcase_add_test(tokens, lexer_of_broken_utf8_in_a_comment_fails);
    tcase_add_test(tokens, lexer_of_nul_bytes_fails_once_a_run);
    tcase_add_test(tokens, lexer_of_a_string_with_nul_reads_no_further);
    tcase_add_test(tokens, lexer_of_line_ends_and_mark_skips_them);
    tcase_add_test(tokens, lexer_of_comments_skips_them);
    tcase_add_test(tokens, lexer_of_open_comment_points_at_its_begin);
    tcase_add_test(tokens, lexer_of_open_string_fails);
    tcase_add_test(tokens, lexer_of_ints_gives_values);
    tcase_add_test(tokens, lexer_of_reals_rounds_once_to_each_type);
    tcase_add_test(tokens, lexer_of_too_large_reals_fails_for_the_type_in_use);
    tcase_add_test(tokens, lexer_of_broken_numbers_says_what_to_write);
    tcase_add_test(tokens, lexer_of_strange_characters_says_what_to_write);
    tcase_add_test(tokens, lexer_of_garbage_stops_after_20_errors);
    suite_add_tcase(suite, tokens);
    TCase *messages = tcase_create("messages");
    tcase_add_checked_fixture(messages, setup, teardown);
    tcase_add_test(messages, message_shows_place_line_caret_and_cure);
    tcase_add_test(messages, message_behind_a_combining_mark_has_its_caret_right);
    tcase_add_test(messages, message_of_a_long_line_is_cut_around_the_caret);
    tcase_add_test(messages, message_note_has_its_own_place);
    tcase_add_test(messages, budget_used_up_gives_up);
    suite_add_tcase(suite, messages);
    return suite;
}

RUBUS_TEST_MAIN("kernel: lexer", lexer_suite)
