/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status names and the error text: quoting itself, prefixes, long texts, one for each
 * thread.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <check.h>
#include <pthread.h>
#include <string.h>

#include "tests/support/suite.h"

START_TEST(status_known_has_name_and_meaning)
{
    ck_assert_str_eq(rubus_status_name(RUBUS_OK), "RUBUS_OK");
    ck_assert_str_eq(rubus_status_name(RUBUS_EINVAL), "RUBUS_EINVAL");
    ck_assert_str_eq(rubus_status_name(-22), "RUBUS_EINTERNAL");
    ck_assert_str_eq(rubus_status_text(RUBUS_ENOMEM), "out of host memory");
}
END_TEST

START_TEST(status_unknown_is_marked)
{
    ck_assert_str_eq(rubus_status_name(-23), "RUBUS_?");
    ck_assert_str_eq(rubus_status_name(1), "RUBUS_?");
    ck_assert_int_gt((int)strlen(rubus_status_text(99)), 0);
}
END_TEST

START_TEST(fail_quoting_present_text_keeps_it)
{
    ck_assert_int_eq(rubus__fail(RUBUS_EIO, "disk %d", 7), RUBUS_EIO);
    ck_assert_int_eq(rubus__fail(RUBUS_ENODEV, "<%s>", rubus_error_text()), RUBUS_ENODEV);
    ck_assert_str_eq(rubus_error_text(), "<disk 7>");
}
END_TEST

START_TEST(fail_prefix_goes_before)
{
    rubus__fail(RUBUS_EIO, "disk full");
    ck_assert_int_eq(rubus__fail_prefix(RUBUS_EIO, "file '%s'", "a b"), RUBUS_EIO);
    ck_assert_str_eq(rubus_error_text(), "file 'a b': disk full");
    rubus__error_clear();
    ck_assert_str_eq(rubus_error_text(), "");
}
END_TEST

START_TEST(fail_text_due_is_missing_until_written)
{
    rubus__fail(RUBUS_EIO, "disk full");
    ck_assert(!rubus__error_missing());
    rubus__error_expect();
    ck_assert(rubus__error_missing());
    ck_assert_str_eq(rubus_error_text(), "disk full");
    rubus__fail(RUBUS_EIO, "again");
    ck_assert(!rubus__error_missing());
    rubus__error_clear();
    ck_assert(rubus__error_missing());
}
END_TEST

START_TEST(fail_while_held_keeps_the_text)
{
    rubus__fail(RUBUS_EIO, "disk full");
    rubus__error_hold(true);
    ck_assert(rubus__error_held());
    ck_assert_int_eq(rubus__fail(RUBUS_ENODEV, "something else"), RUBUS_ENODEV);
    rubus__error_hold(false);
    ck_assert(!rubus__error_held());
    ck_assert_str_eq(rubus_error_text(), "disk full");
    rubus__fail(RUBUS_ENODEV, "later");
    ck_assert_str_eq(rubus_error_text(), "later");
}
END_TEST

START_TEST(fail_long_text_is_cut_at_character)
{
    // 2-byte characters after one byte: a cut at an even place would halve one
    static char text[20001] = "x";
    for (int i = 1; i + 1 < 20000; i += 2) {
        memcpy(text + i, "\xc3\xa4", 2);
    }
    rubus__fail(RUBUS_EINVAL, "%s", text);
    const char *kept = rubus_error_text();
    const size_t size = strlen(kept);
    ck_assert_uint_gt(size, 16000);
    ck_assert_uint_lt(size, 16384);
    ck_assert_str_eq(kept + size - 3, "...");
    ck_assert_int_eq((unsigned char)kept[size - 4], 0xa4);

    // a text of just the room is whole
    text[16383] = '\0';
    rubus__fail(RUBUS_EINVAL, "%s", text);
    ck_assert_uint_eq(strlen(rubus_error_text()), 16383);
    rubus__fail_prefix(RUBUS_EINVAL, "p");
    ck_assert_int_eq(strncmp(rubus_error_text(), "p: x", 4), 0);
    ck_assert_str_eq(rubus_error_text() + strlen(rubus_error_text()) - 3, "...");
}
END_TEST

START_TEST(fail_text_is_whole_characters_and_no_controls)
{
    rubus__fail(RUBUS_EINVAL, "'%s'", "a\x1b[31m\xff\xc3x\x7f\r\xe2\x82");
    ck_assert_str_eq(rubus_error_text(), "'a?[31m??x????"
                                         "'");
    rubus__fail(RUBUS_EINVAL, "%s", "line\n\tß₊\xf0\x9f\x8c\xb1");
    ck_assert_str_eq(rubus_error_text(), "line\n\tß₊\xf0\x9f\x8c\xb1");
}
END_TEST

START_TEST(error_taken_can_be_restored)
{
    rubus__fail(RUBUS_EIO, "first 100%%");
    char *text = rubus__error_take();
    ck_assert_str_eq(rubus_error_text(), "");
    rubus__fail(RUBUS_EIO, "second");
    rubus__error_restore(text);
    ck_assert_str_eq(rubus_error_text(), "first 100%");
    rubus__error_restore(NULL);
    ck_assert_str_eq(rubus_error_text(), "first 100%");
    rubus__free(text);
}
END_TEST

static void *other_thread(void *out_same)
{
    *(bool *)out_same = strcmp(rubus_error_text(), "") != 0;
    rubus__fail(RUBUS_EIO, "of the other");
    return NULL;
}

START_TEST(error_text_is_of_its_thread)
{
    rubus__fail(RUBUS_EIO, "mine");
    bool same = true;
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, other_thread, &same), 0);
    pthread_join(thread, NULL);
    ck_assert(!same);
    ck_assert_str_eq(rubus_error_text(), "mine");
}
END_TEST

START_TEST(type_sizes_and_names)
{
    ck_assert_uint_eq(rubus__type_size(RUBUS_F32), sizeof(float));
    ck_assert_uint_eq(rubus__type_size(RUBUS_I64), sizeof(int64_t));
    ck_assert_uint_eq(rubus__type_size(RUBUS_BOOL), 1);
    ck_assert_uint_eq(rubus__type_size(0), 0);
    ck_assert_str_eq(rubus__type_name(RUBUS_F64), "f64");
    ck_assert_str_eq(rubus__type_name(77), "?");
}
END_TEST

static Suite *status_suite(void)
{
    TCase *tc = tcase_create("status");
    tcase_add_test(tc, status_known_has_name_and_meaning);
    tcase_add_test(tc, status_unknown_is_marked);
    tcase_add_test(tc, fail_quoting_present_text_keeps_it);
    tcase_add_test(tc, fail_prefix_goes_before);
    tcase_add_test(tc, fail_text_due_is_missing_until_written);
    tcase_add_test(tc, fail_while_held_keeps_the_text);
    tcase_add_test(tc, fail_long_text_is_cut_at_character);
    tcase_add_test(tc, fail_text_is_whole_characters_and_no_controls);
    tcase_add_test(tc, error_taken_can_be_restored);
    tcase_add_test(tc, error_text_is_of_its_thread);
    tcase_add_test(tc, type_sizes_and_names);
    Suite *suite = suite_create("base: status");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("base: status", status_suite)
