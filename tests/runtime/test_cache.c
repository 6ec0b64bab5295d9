/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel cache by itself: entries come back whole, foreign files are neither used nor
 * removed, the oldest go when there is too much, and no trouble with the folder is more
 * than a miss.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <rubus/context.h>

#include "libcore/runtime/kernel_cache.h"
#include "tests/support/suite.h"

static char folder[64];
static char path[400];
static int nwarning;
static char warning[600];

static void take_log(void *user, int32_t level, const char *topic, const char *text)
{
    (void)user;
    if (level <= RUBUS__LOG_WARNING && strcmp(topic, "cache") == 0) {
        nwarning++;
        snprintf(warning, sizeof warning, "%s", text);
    }
}

static void use(const char *directory)
{
    setenv("RUBUS_CACHE_DIR", directory, 1);
    rubus__env_reset_for_test();
}

static void setup(void)
{
    strcpy(folder, "/tmp/rubus-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    use(folder);
    nwarning = 0;
    rubus_log_set(take_log, NULL);
}

static void teardown(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
    rubus_log_set(NULL, NULL);
    ck_assert_int_eq(rubus__alloc_live(), 0);
}

static void make_key(int number, uint8_t key[32])
{
    memset(key, number, 32);
}

static int file_of(const char *text)
{
    char name[] = "/tmp/rubus-test-XXXXXX";
    const int fd = mkstemp(name);
    ck_assert_int_ge(fd, 0);
    unlink(name);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    return fd;
}

static void put(int number, const char *suffix, const char *text)
{
    uint8_t key[32];
    make_key(number, key);
    const int fd = file_of(text);
    ck_assert_int_eq(rubus__cache_put(key, suffix, fd), RUBUS_OK);
    close(fd);
}

/* The text of an entry, "" on a miss. */
static const char *get(int number, const char *suffix)
{
    static char text[100];
    uint8_t key[32];
    int32_t fd = 77;
    make_key(number, key);
    ck_assert_int_eq(rubus__cache_get(key, suffix, &fd), RUBUS_OK);
    memset(text, 0, sizeof text);
    if (fd >= 0) {
        ck_assert_int_ge(read(fd, text, sizeof text - 1), 0);
        close(fd);
    } else {
        ck_assert_int_eq(fd, -1);
    }
    return text;
}

static const char *entry_path(int number, const char *suffix)
{
    uint8_t key[32];
    char hex[65];
    make_key(number, key);
    rubus__hex(key, 32, hex);
    snprintf(path, sizeof path, "%s/%s-%s", folder, hex, suffix);
    return path;
}

START_TEST(entry_comes_back_whole)
{
    ck_assert_str_eq(get(1, "a"), "");
    put(1, "a", "first");
    put(1, "b", "second");
    put(2, "a", "third");
    ck_assert_str_eq(get(1, "a"), "first");
    ck_assert_str_eq(get(1, "b"), "second");
    ck_assert_str_eq(get(2, "a"), "third");
    ck_assert_str_eq(get(2, "b"), "");
    put(1, "a", "again");
    ck_assert_str_eq(get(1, "a"), "again");
    // two suffixes that differ at their last letter
    char longest[129];
    memset(longest, 'x', 128);
    longest[128] = '\0';
    put(3, longest, "long");
    ck_assert_str_eq(get(3, longest), "long");
    longest[127] = 'y';
    ck_assert_str_eq(get(3, longest), "");
    ck_assert_int_eq(nwarning, 0);
}
END_TEST

START_TEST(suffix_must_be_a_file_name)
{
    char long_one[130];
    memset(long_one, 'x', 129);
    long_one[129] = '\0';
    const char *const wrong[] = {NULL,  "",    "A",        "../x",
                                 "a b", "a_b", "\xc3\xa4", long_one};
    for (int k = 0; k < 8; k++) {
        uint8_t key[32] = {0};
        int32_t fd = 0;
        ck_assert_int_eq(rubus__cache_get(key, wrong[k], &fd), RUBUS_EINVAL);
        ck_assert_int_eq(fd, -1);
        ck_assert_ptr_nonnull(strstr(rubus_error_text(), "cache_get: the suffix"));
        ck_assert_ptr_nonnull(strstr(rubus_error_text(), "[a-z0-9.-]"));
        ck_assert_int_eq(rubus__cache_put(key, wrong[k], 0), RUBUS_EINVAL);
        ck_assert_ptr_nonnull(strstr(rubus_error_text(), "cache_put: the suffix"));
    }
}
END_TEST

START_TEST(folder_is_made_for_us_alone)
{
    char deep[100];
    struct stat st;
    snprintf(deep, sizeof deep, "%s/x/y", folder);
    use(deep);
    ck_assert_str_eq(get(1, "a"), "");
    ck_assert_int_ne(stat(deep, &st), 0); // looking makes nothing
    put(1, "a", "text");
    ck_assert_str_eq(get(1, "a"), "text");
    ck_assert_int_eq(stat(deep, &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0700);
    ck_assert_int_eq(nwarning, 0);
}
END_TEST

START_TEST(folder_of_a_missing_home_is_not_made)
{
    char home[100];
    char deep[140];
    struct stat st;
    snprintf(home, sizeof home, "%s/nobody", folder);
    snprintf(deep, sizeof deep, "%s/.cache/rubus", home);
    use(deep);
    put(1, "a", "text");
    ck_assert_str_eq(get(1, "a"), "");
    ck_assert_int_ne(stat(home, &st), 0);
}
END_TEST

START_TEST(folder_comes_from_the_users_variables)
{
    char wanted[100];
    struct stat st;
    unsetenv("RUBUS_CACHE_DIR");
    setenv("XDG_CACHE_HOME", folder, 1);
    rubus__env_reset_for_test();
    put(1, "a", "xdg");
    ck_assert_str_eq(get(1, "a"), "xdg");
    snprintf(wanted, sizeof wanted, "%s/rubus", folder);
    ck_assert_int_eq(stat(wanted, &st), 0);
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", folder, 1);
    rubus__env_reset_for_test();
    put(1, "a", "home");
    ck_assert_str_eq(get(1, "a"), "home");
    snprintf(wanted, sizeof wanted, "%s/.cache/rubus", folder);
    ck_assert_int_eq(stat(wanted, &st), 0);
    unsetenv("HOME");
    rubus__env_reset_for_test();
    put(1, "a", "nowhere");
    ck_assert_str_eq(get(1, "a"), "");
    use("off");
    put(1, "a", "off");
    ck_assert_str_eq(get(1, "a"), "");
    use("OFF");
    put(1, "a", "off");
    ck_assert_int_eq(stat("OFF", &st), -1);
    ck_assert_int_eq(nwarning, 0);
}
END_TEST

START_TEST(relative_folder_is_not_used_and_a_warning)
{
    use("some/folder");
    put(1, "a", "text");
    ck_assert_str_eq(get(1, "a"), "");
    ck_assert_int_eq(nwarning, 1);
    ck_assert_ptr_nonnull(strstr(warning, "some/folder"));
    ck_assert_ptr_nonnull(strstr(warning, "no absolute path"));
}
END_TEST

START_TEST(folder_that_cannot_be_used_is_a_miss_and_one_warning)
{
    put(1, "a", "text");
    ck_assert_int_eq(chmod(folder, 0777), 0);
    ck_assert_str_eq(get(1, "a"), "");
    put(1, "a", "other");
    ck_assert_int_eq(nwarning, 1);
    ck_assert_ptr_nonnull(strstr(warning, folder));
    ck_assert_ptr_nonnull(strstr(warning, "others may write"));
    ck_assert_ptr_nonnull(strstr(warning, "RUBUS_CACHE_DIR"));
    ck_assert_int_eq(chmod(folder, 0700), 0);
    ck_assert_str_eq(get(1, "a"), "text");
    use("/proc/no/such/folder");
    put(1, "a", "text");
    ck_assert_str_eq(get(1, "a"), "");
    use("/dev/null");
    put(1, "a", "text");
    ck_assert_str_eq(get(1, "a"), "");
    ck_assert_int_eq(nwarning, 1); // told once
}
END_TEST

START_TEST(folder_that_takes_no_files_is_a_miss_and_a_warning)
{
    use("/proc/self"); // ours, not writable for others, and no file can be made there
    put(1, "a", "text");
    ck_assert_str_eq(get(1, "a"), "");
    ck_assert_int_eq(nwarning, 1);
    ck_assert_ptr_nonnull(strstr(warning, "not used"));
}
END_TEST

START_TEST(entry_of_another_kind_is_a_miss)
{
    char target[100];
    snprintf(target, sizeof target, "%s/target", folder);
    put(1, "a", "text");
    ck_assert_int_eq(rename(entry_path(1, "a"), target), 0);
    ck_assert_int_eq(symlink(target, entry_path(1, "a")), 0);
    ck_assert_str_eq(get(1, "a"), "");
    ck_assert_int_eq(mkdir(entry_path(2, "a"), 0700), 0);
    ck_assert_str_eq(get(2, "a"), "");
    ck_assert_int_eq(mkfifo(entry_path(3, "a"), 0600), 0); // must not wait for a writer
    ck_assert_str_eq(get(3, "a"), "");
    put(4, "a", "");
    ck_assert_str_eq(get(4, "a"), "");
    put(1, "a", "replaced");
    ck_assert_str_eq(get(1, "a"), "replaced");
    // a folder in the place of an entry: nothing can be put, and no draft stays
    put(2, "a", "text");
    ck_assert_int_eq(nwarning, 1);
    ck_assert_ptr_nonnull(strstr(warning, "could not be written"));
    char command[200];
    snprintf(command, sizeof command, "test -z \"$(find '%s' -name '.draft*')\"", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(file_that_cannot_be_read_is_not_put)
{
    uint8_t key[32];
    make_key(1, key);
    const int fd = open(folder, O_RDONLY | O_DIRECTORY);
    ck_assert_int_eq(rubus__cache_put(key, "a", fd), RUBUS_OK);
    close(fd);
    ck_assert_str_eq(get(1, "a"), "");
    ck_assert_int_eq(nwarning, 1);
}
END_TEST

static void make_file(const char *file, off_t size, time_t age)
{
    const int fd = open(file, O_WRONLY | O_CREAT, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, size), 0); // sparse: no blocks are taken
    const struct timespec when[2] = {{time(NULL) - age, 0}, {time(NULL) - age, 0}};
    ck_assert_int_eq(futimens(fd, when), 0);
    close(fd);
}

static bool exists(const char *file)
{
    struct stat st;
    return lstat(file, &st) == 0;
}

START_TEST(oldest_entries_go_and_nothing_else)
{
    static const off_t mib = 1 << 20;
    char mine[100];
    char draft_old[100];
    char draft_new[100];
    snprintf(mine, sizeof mine, "%s/thesis.tex", folder);
    snprintf(draft_old, sizeof draft_old, "%s/.draft-1-aa", folder);
    snprintf(draft_new, sizeof draft_new, "%s/.draft-2-bb", folder);
    make_file(mine, 900 * mib, 9000000);
    make_file(draft_old, 1, 90000);
    make_file(draft_new, 1, 10);
    for (int k = 1; k <= 4; k++) {
        make_file(entry_path(k, "a"), 60 * mib, 1000 * (10 - k));
    }
    put(9, "a", "small");
    for (int k = 1; k <= 4; k++) { // 240 MiB are not too much
        ck_assert(exists(entry_path(k, "a")));
    }
    ck_assert(!exists(draft_old));
    (void)get(1, "a"); // used: now the youngest
    make_file(entry_path(5, "a"), 60 * mib, 4000);
    put(9, "b", "small");
    ck_assert(exists(entry_path(1, "a")));
    ck_assert(!exists(entry_path(2, "a")));
    ck_assert(!exists(entry_path(3, "a")));
    ck_assert(!exists(entry_path(4, "a")));
    ck_assert(exists(entry_path(5, "a")));
    ck_assert(exists(entry_path(9, "a")) && exists(entry_path(9, "b")));
    ck_assert(exists(mine) && exists(draft_new));
}
END_TEST

static void *put_many(void *arg)
{
    const int *number = arg;
    uint8_t key[32];
    make_key(7, key);
    char text[20001];
    memset(text, 'a' + *number, 20000);
    text[20000] = '\0';
    const int fd = file_of(text);
    const char *wrong = NULL;
    for (int k = 0; k < 50 && wrong == NULL; k++) {
        int32_t got = -1;
        if (rubus__cache_put(key, "a", fd) != RUBUS_OK ||
            rubus__cache_get(key, "a", &got) != RUBUS_OK || got < 0) {
            wrong = "a call failed";
        } else {
            char read_back[20001];
            const ssize_t n = read(got, read_back, sizeof read_back);
            wrong =
                n != 20000 || read_back[0] != read_back[19999] ? "half an entry" : NULL;
            close(got);
        }
    }
    close(fd);
    return (void *)(uintptr_t)wrong;
}

START_TEST(readers_see_whole_entries_while_others_write)
{
    pthread_t thread[4];
    int number[4];
    for (int t = 0; t < 4; t++) {
        number[t] = t;
        ck_assert_int_eq(pthread_create(&thread[t], NULL, put_many, &number[t]), 0);
    }
    for (int t = 0; t < 4; t++) {
        void *wrong = NULL;
        pthread_join(thread[t], &wrong);
        ck_assert_msg(wrong == NULL, "%s", (const char *)wrong);
    }
    ck_assert_int_eq(nwarning, 0);
}
END_TEST

START_TEST(out_of_memory_is_a_miss)
{
    put(1, "a", "text");
    rubus__alloc_fail_after(1, false);
    ck_assert_str_eq(get(1, "a"), "");
    put(2, "a", "text");
    rubus__alloc_fail_after(0, false);
    ck_assert_str_eq(get(1, "a"), "text");
    rubus__alloc_fail_after(2, false); // the list of entries cannot be made
    put(2, "a", "text");
    rubus__alloc_fail_after(0, false);
    ck_assert_str_eq(get(2, "a"), "text");
}
END_TEST

static Suite *cache_suite(void)
{
    TCase *tc = tcase_create("cache");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, entry_comes_back_whole);
    tcase_add_test(tc, suffix_must_be_a_file_name);
    tcase_add_test(tc, folder_is_made_for_us_alone);
    tcase_add_test(tc, folder_of_a_missing_home_is_not_made);
    tcase_add_test(tc, folder_comes_from_the_users_variables);
    tcase_add_test(tc, folder_that_cannot_be_used_is_a_miss_and_one_warning);
    tcase_add_test(tc, relative_folder_is_not_used_and_a_warning);
    tcase_add_test(tc, folder_that_takes_no_files_is_a_miss_and_a_warning);
    tcase_add_test(tc, entry_of_another_kind_is_a_miss);
    tcase_add_test(tc, file_that_cannot_be_read_is_not_put);
    tcase_add_test(tc, oldest_entries_go_and_nothing_else);
    tcase_add_test(tc, readers_see_whole_entries_while_others_write);
    tcase_add_test(tc, out_of_memory_is_a_miss);
    Suite *suite = suite_create("runtime: kernel cache");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: kernel cache", cache_suite)
