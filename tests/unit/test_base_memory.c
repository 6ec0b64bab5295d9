/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counted allocation with injected failures, arenas that leave by longjmp, and strings
 * that survive running out of memory.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <check.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>

#include "tests/support/suite.h"

START_TEST(alloc_is_zeroed_and_counted)
{
    const int64_t before = rubus__alloc_live();
    unsigned char *p = rubus__alloc(1000);
    ck_assert_ptr_nonnull(p);
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(p[i], 0);
    }
    void *none = rubus__alloc(0);
    ck_assert_ptr_nonnull(none);
    ck_assert_ptr_ne(none, p);
    ck_assert_int_eq(rubus__alloc_live() - before, 2);
    p = rubus__realloc(p, 5000);
    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(p[999], 0);
    void *fresh = rubus__realloc(NULL, 8);
    ck_assert_int_eq(rubus__alloc_live() - before, 3);
    rubus__free(p);
    rubus__free(none);
    rubus__free(fresh);
    rubus__free(NULL);
    ck_assert_int_eq(rubus__alloc_live(), before);
}
END_TEST

START_TEST(alloc_aligned_keeps_alignment)
{
    for (size_t align = 1; align <= 4096; align *= 2) {
        char *p = rubus__alloc_aligned(33, align);
        ck_assert_ptr_nonnull(p);
        ck_assert_uint_eq((uintptr_t)p % align, 0);
        memset(p, 1, 33);
        rubus__free(p);
    }
}
END_TEST

START_TEST(alloc_too_large_fails_with_numbers)
{
    ck_assert_ptr_null(rubus__alloc(SIZE_MAX - 100));
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "18446744073709551515"));
    ck_assert_ptr_null(rubus__alloc_array(SIZE_MAX / 4, 8));
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "elements of 8 bytes"));
    ck_assert_ptr_null(rubus__alloc_aligned(SIZE_MAX - 100, 64));
    void *p = rubus__alloc_array(10, 8);
    ck_assert_ptr_nonnull(p);
    rubus__free(p);
}
END_TEST

static bool four_blocks(void)
{
    void *a = rubus__alloc(8);
    void *b = rubus__alloc_aligned(8, 64);
    void *c = rubus__strdup("abc");
    void *d = rubus__format("%d", 4);
    const bool all = a != NULL && b != NULL && c != NULL && d != NULL;
    rubus__free(a);
    rubus__free(b);
    rubus__free(c);
    rubus__free(d);
    return all;
}

START_TEST(alloc_injected_failure_hits_the_nth)
{
    for (int64_t n = 1; n <= 4; n++) {
        rubus__alloc_fail_after(n, n % 2 == 0);
        ck_assert_msg(!four_blocks(), "allocation %d did not fail", (int)n);
        ck_assert_ptr_null(rubus__alloc(1)); // later ones fail too
        rubus__alloc_fail_after(0, false);
    }
    rubus__alloc_fail_after(5, false);
    ck_assert(four_blocks());
    rubus__alloc_fail_after(0, false);
    ck_assert(four_blocks());
}
END_TEST

START_TEST(realloc_failure_keeps_block)
{
    char *p = rubus__strdup("kept");
    rubus__alloc_fail_after(1, false);
    ck_assert_ptr_null(rubus__realloc(p, 100));
    rubus__alloc_fail_after(0, false);
    ck_assert_str_eq(p, "kept");
    rubus__free(p);
}
END_TEST

static void *allocate_once(void *out_worked)
{
    void *p = rubus__alloc(1);
    *(bool *)out_worked = p != NULL;
    rubus__free(p);
    return NULL;
}

START_TEST(alloc_failure_of_one_thread_spares_others)
{
    bool worked = false;
    rubus__alloc_fail_after(1, true);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, allocate_once, &worked), 0);
    pthread_join(thread, NULL);
    ck_assert(worked);
    ck_assert_ptr_null(rubus__alloc(1));
    rubus__alloc_fail_after(0, true);
}
END_TEST

START_TEST(strndup_stops_at_length_and_nul)
{
    char *p = rubus__strndup("abcdef", 3);
    ck_assert_str_eq(p, "abc");
    rubus__free(p);
    p = rubus__strndup("ab", 10);
    ck_assert_str_eq(p, "ab");
    rubus__free(p);
}
END_TEST

static void leave(void *user)
{
    longjmp(*(jmp_buf *)user, 1);
}

START_TEST(arena_blocks_are_zeroed_aligned_distinct)
{
    jmp_buf escape;
    const int64_t before = rubus__alloc_live();
    rubus__arena *arena = rubus__arena_create(leave, &escape);
    ck_assert_ptr_nonnull(arena);
    unsigned char *last = NULL;
    int wrong = 0;
    for (size_t n = 0; n < 3000; n++) {
        unsigned char *p = rubus__arena_alloc(arena, n % 257);
        ck_assert_uint_eq((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n % 257; i++) {
            wrong += p[i] != 0;
        }
        memset(p, 0xff, n % 257);
        ck_assert(last == NULL || p != last || n % 257 <= 1);
        last = p;
    }
    ck_assert_int_eq(wrong, 0);
    unsigned char *large = rubus__arena_alloc(arena, 3u << 20);
    ck_assert_int_eq(large[(3u << 20) - 1], 0);
    memset(large, 1, 3u << 20);
    ck_assert_str_eq(rubus__arena_strndup(arena, "abcd", 2), "ab");
    ck_assert_str_eq(rubus__arena_format(arena, "%s-%d", "x", 12), "x-12");
    rubus__arena_destroy(arena);
    rubus__arena_destroy(NULL);
    ck_assert_int_eq(rubus__alloc_live(), before);
}
END_TEST

START_TEST(arena_out_of_memory_leaves_and_can_be_destroyed)
{
    const int64_t before = rubus__alloc_live();
    int volatile left = 0;
    for (int64_t volatile n = 1; n <= 4; n++) {
        jmp_buf escape;
        rubus__arena *volatile arena = NULL;
        rubus__alloc_fail_after(n, false);
        if (setjmp(escape) == 0) {
            arena = rubus__arena_create(leave, &escape);
            for (int i = 0; arena != NULL && i < 100; i++) {
                rubus__arena_alloc(arena, 1000);
            }
        } else {
            left++;
        }
        rubus__alloc_fail_after(0, false);
        rubus__arena_destroy(arena);
    }
    // the first fails in create; 100000 bytes need the chunks 16, 32 and 64 KiB
    ck_assert_int_eq(left, 3);
    ck_assert_int_eq(rubus__alloc_live(), before);
}
END_TEST

START_TEST(arena_absurd_size_leaves)
{
    jmp_buf escape;
    rubus__arena *arena = rubus__arena_create(leave, &escape);
    int volatile left = 0;
    for (int volatile i = 0; i < 2; i++) {
        if (setjmp(escape) == 0) {
            rubus__arena_alloc(arena, i == 0 ? SIZE_MAX : SIZE_MAX / 2 + 2);
        } else {
            left++;
        }
    }
    ck_assert_int_eq(left, 2);
    rubus__arena_destroy(arena);
}
END_TEST

START_TEST(text_grows_and_is_taken)
{
    const int64_t before = rubus__alloc_live();
    rubus__text text;
    rubus__text_init(&text);
    ck_assert_str_eq(text.data, "");
    for (int i = 0; i < 1000; i++) {
        rubus__text_format(&text, "%d,", i % 10);
    }
    rubus__text_add(&text, "end");
    rubus__text_add_n(&text, "abc", 0);
    ck_assert_uint_eq(text.size, 2003);
    ck_assert_str_eq(text.data + 1998, "9,end");
    char *data = rubus__text_take(&text);
    ck_assert_str_eq(text.data, "");
    ck_assert_uint_eq(strlen(data), 2003);
    rubus__free(data);
    data = rubus__text_take(&text); // of an empty text: an empty string
    ck_assert_str_eq(data, "");
    rubus__free(data);
    rubus__text_fini(&text);
    ck_assert_int_eq(rubus__alloc_live(), before);
}
END_TEST

START_TEST(text_out_of_memory_is_remembered)
{
    const int64_t before = rubus__alloc_live();
    rubus__text text;
    rubus__text_init(&text);
    rubus__text_add(&text, "first");
    rubus__alloc_fail_after(1, false);
    for (int i = 0; i < 100; i++) {
        rubus__text_add(&text, "0123456789");
    }
    rubus__alloc_fail_after(0, false);
    ck_assert(text.failed);
    rubus__text_add(&text, "x");
    ck_assert_ptr_null(rubus__text_take(&text));
    ck_assert_int_eq(rubus__alloc_live(), before);
}
END_TEST

static Suite *memory_suite(void)
{
    TCase *tc = tcase_create("memory");
    tcase_add_test(tc, alloc_is_zeroed_and_counted);
    tcase_add_test(tc, alloc_aligned_keeps_alignment);
    tcase_add_test(tc, alloc_too_large_fails_with_numbers);
    tcase_add_test(tc, alloc_injected_failure_hits_the_nth);
    tcase_add_test(tc, realloc_failure_keeps_block);
    tcase_add_test(tc, alloc_failure_of_one_thread_spares_others);
    tcase_add_test(tc, strndup_stops_at_length_and_nul);
    tcase_add_test(tc, arena_blocks_are_zeroed_aligned_distinct);
    tcase_add_test(tc, arena_out_of_memory_leaves_and_can_be_destroyed);
    tcase_add_test(tc, arena_absurd_size_leaves);
    tcase_add_test(tc, text_grows_and_is_taken);
    tcase_add_test(tc, text_out_of_memory_is_remembered);
    Suite *suite = suite_create("base: memory");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("base: memory", memory_suite)
