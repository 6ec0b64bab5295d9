/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files in and out: what is no regular file, limits, replacement as a whole; and SHA-256.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/suite.h"

static char folder[64];

static void folder_make(void)
{
    strcpy(folder, "/tmp/rubus-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

/* Removes the folder and gives how many entries it had. */
static int folder_remove(void)
{
    int n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            char path[400];
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
            if (unlink(path) != 0) {
                rmdir(path);
            }
            n++;
        }
    }
    closedir(dir);
    rmdir(folder);
    return n;
}

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

START_TEST(file_written_reads_back)
{
    folder_make();
    const int64_t before = rubus__alloc_live();
    static char data[200000];
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (char)(i * 7);
    }
    ck_assert_int_eq(rubus__file_write(in_folder("a b'"), data, sizeof data), RUBUS_OK);
    char *text = NULL;
    size_t size = 0;
    ck_assert_int_eq(rubus__file_read(in_folder("a b'"), sizeof data, &text, &size),
                     RUBUS_OK);
    ck_assert_uint_eq(size, sizeof data);
    ck_assert_int_eq(memcmp(text, data, size), 0);
    ck_assert_int_eq(text[size], 0);
    rubus__free(text);
    ck_assert_int_eq(rubus__file_write(in_folder("a b'"), "", 0), RUBUS_OK);
    ck_assert_int_eq(rubus__file_read(in_folder("a b'"), 10, &text, &size), RUBUS_OK);
    ck_assert_uint_eq(size, 0);
    rubus__free(text);
    ck_assert_int_eq(rubus__alloc_live(), before);
    ck_assert_int_eq(folder_remove(), 1); // no temporary is left
}
END_TEST

START_TEST(file_of_proc_without_size_is_read_whole)
{
    char *text = NULL;
    size_t size = 0;
    ck_assert_int_eq(rubus__file_read("/proc/self/maps", 1u << 24, &text, &size),
                     RUBUS_OK);
    ck_assert_uint_gt(size, 100);
    ck_assert_int_eq(text[size - 1], '\n');
    rubus__free(text);
}
END_TEST

static void read_fails(const char *path, size_t max, const char *word)
{
    char *text = NULL;
    size_t size = 77;
    ck_assert_int_eq(rubus__file_read(path, max, &text, &size), RUBUS_EIO);
    ck_assert_msg(strstr(rubus_error_text(), path) != NULL, "%s", rubus_error_text());
    ck_assert_msg(strstr(rubus_error_text(), word) != NULL, "%s", rubus_error_text());
    ck_assert_ptr_null(text);
    ck_assert_uint_eq(size, 77);
}

START_TEST(file_read_names_path_and_reason)
{
    folder_make();
    read_fails(in_folder("none"), 10, "No such file");
    read_fails(folder, 10, "a folder");
    ck_assert_int_eq(mkfifo(in_folder("fifo"), 0600), 0);
    read_fails(in_folder("fifo"), 10, "a FIFO");
    read_fails("/dev/null", 10, "a device");
    ck_assert_int_eq(rubus__file_write(in_folder("long"), "0123456789", 10), RUBUS_OK);
    read_fails(in_folder("long"), 9, "10 bytes, the limit is 9");
    read_fails("/proc/self/maps", 50, "limit of 50");
    char *text = NULL;
    size_t size = 0;
    rubus__alloc_fail_after(1, false);
    ck_assert_int_eq(rubus__file_read(in_folder("long"), 10, &text, &size), RUBUS_ENOMEM);
    rubus__alloc_fail_after(0, false);
    folder_remove();
}
END_TEST

static void write_fails(const char *path, const char *word)
{
    ck_assert_int_eq(rubus__file_write(path, "x", 1), RUBUS_EIO);
    ck_assert_msg(strstr(rubus_error_text(), path) != NULL, "%s", rubus_error_text());
    ck_assert_msg(strstr(rubus_error_text(), word) != NULL, "%s", rubus_error_text());
}

START_TEST(file_write_names_path_and_reason)
{
    folder_make();
    write_fails("/no/such/folder/file", "No such file");
    write_fails(folder, "directory");
    write_fails("/dev/full", "No space");
    rubus__alloc_fail_after(1, false);
    ck_assert_int_eq(rubus__file_write(in_folder("a"), "x", 1), RUBUS_ENOMEM);
    rubus__alloc_fail_after(0, false);
    ck_assert_int_eq(folder_remove(), 0);
}
END_TEST

START_TEST(file_write_failure_keeps_the_old_file)
{
    folder_make();
    // a folder in the place of the file makes rename fail after the temporary is written
    ck_assert_int_eq(rubus__file_write(in_folder("old"), "old", 3), RUBUS_OK);
    char long_name[300];
    memset(long_name, 'n', sizeof long_name);
    snprintf(long_name + 260, sizeof long_name - 260, "%s", "");
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, long_name);
    ck_assert_int_eq(rubus__file_write(path, "x", 1), RUBUS_EIO);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "too long"));
    ck_assert_int_eq(folder_remove(), 1);
}
END_TEST

START_TEST(file_write_keeps_links_devices_and_modes)
{
    folder_make();
    char link_path[128];
    snprintf(link_path, sizeof link_path, "%s", in_folder("link"));
    ck_assert_int_eq(rubus__file_write(in_folder("real"), "1", 1), RUBUS_OK);
    ck_assert_int_eq(chmod(in_folder("real"), 0640), 0);
    ck_assert_int_eq(symlink("real", link_path), 0);
    ck_assert_int_eq(rubus__file_write(link_path, "22", 2), RUBUS_OK);
    struct stat info;
    ck_assert_int_eq(lstat(link_path, &info), 0);
    ck_assert(S_ISLNK(info.st_mode));
    ck_assert_int_eq(stat(in_folder("real"), &info), 0);
    ck_assert_int_eq((int)info.st_size, 2);
    ck_assert_int_eq(info.st_mode & 0777, 0640);
    ck_assert_int_eq(rubus__file_write("/dev/null", "x", 1), RUBUS_OK);
    ck_assert_int_eq(stat("/dev/null", &info), 0);
    ck_assert(S_ISCHR(info.st_mode));
    folder_remove();
}
END_TEST

START_TEST(file_in_pieces_appears_at_the_end)
{
    folder_make();
    const int64_t before = rubus__alloc_live();
    const char *path = in_folder("file");
    ck_assert_int_eq(rubus__file_write(path, "old", 3), RUBUS_OK);
    rubus__file *file = NULL;
    char *text = NULL;
    size_t size = 0;
    ck_assert_int_eq(rubus__file_create(path, &file), RUBUS_OK);
    ck_assert_int_eq(rubus__file_add(file, "new ", 4), RUBUS_OK);
    ck_assert_int_eq(rubus__file_read(path, 100, &text, &size), RUBUS_OK);
    ck_assert_str_eq(text, "old");
    rubus__free(text);
    rubus__file_discard(file);
    rubus__file_discard(NULL);
    ck_assert_int_eq(rubus__file_create(path, &file), RUBUS_OK);
    ck_assert_int_eq(rubus__file_add(file, "new ", 4), RUBUS_OK);
    ck_assert_int_eq(rubus__file_add(file, "text", 4), RUBUS_OK);
    ck_assert_int_eq(rubus__file_finish(file), RUBUS_OK);
    ck_assert_int_eq(rubus__file_read(path, 100, &text, &size), RUBUS_OK);
    ck_assert_str_eq(text, "new text");
    rubus__free(text);
    ck_assert_int_eq(rubus__alloc_live(), before);
    ck_assert_int_eq(folder_remove(), 1);
}
END_TEST

START_TEST(file_in_pieces_says_that_the_device_is_full)
{
    rubus__file *file = NULL;
    if (access("/dev/full", W_OK) != 0) {
        return;
    }
    ck_assert_int_eq(rubus__file_create("/dev/full", &file), RUBUS_OK);
    ck_assert_int_eq(rubus__file_add(file, "x", 1), RUBUS_EIO);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "/dev/full"));
    // and does not forget it
    ck_assert_int_eq(rubus__file_add(file, "", 0), RUBUS_EIO);
    ck_assert_int_eq(rubus__file_finish(file), RUBUS_EIO);
}
END_TEST

START_TEST(file_write_in_current_folder_works)
{
    folder_make();
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_int_eq(rubus__file_write("plain", "abc", 3), RUBUS_OK);
    char *text = NULL;
    size_t size = 0;
    ck_assert_int_eq(rubus__file_read("plain", 3, &text, &size), RUBUS_OK);
    ck_assert_str_eq(text, "abc");
    rubus__free(text);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(folder_remove(), 1);
}
END_TEST

/* SHA-256 of the bytes that the list stands for, written out by hand: the count, then
 * each length and its bytes. Of the empty list that is eight zero bytes, whose digest is
 * known. */
START_TEST(sha256_of_empty_list_is_known)
{
    uint8_t digest[32];
    char hex[65];
    rubus__sha256(NULL, 0, digest);
    rubus__hex(digest, 32, hex);
    ck_assert_str_eq(hex,
                     "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc");
}
END_TEST

START_TEST(sha256_tells_lists_apart)
{
    static const rubus__part lists[][2] = {{{"ab", 2}, {"c", 1}},
                                           {{"a", 1}, {"bc", 2}},
                                           {{"abc", 3}, {NULL, 0}},
                                           {{NULL, 0}, {"abc", 3}}};
    uint8_t digests[5][32];
    for (int i = 0; i < 4; i++) {
        rubus__sha256(lists[i], 2, digests[i]);
    }
    rubus__sha256(lists[2], 1, digests[4]);
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < i; j++) {
            ck_assert_msg(memcmp(digests[i], digests[j], 32) != 0, "lists %d, %d", i, j);
        }
    }
    uint8_t again[32];
    rubus__sha256(lists[0], 2, again);
    ck_assert_int_eq(memcmp(again, digests[0], 32), 0);
}
END_TEST

static Suite *file_suite(void)
{
    TCase *tc = tcase_create("file");
    tcase_add_test(tc, file_written_reads_back);
    tcase_add_test(tc, file_of_proc_without_size_is_read_whole);
    tcase_add_test(tc, file_read_names_path_and_reason);
    tcase_add_test(tc, file_write_names_path_and_reason);
    tcase_add_test(tc, file_write_failure_keeps_the_old_file);
    tcase_add_test(tc, file_write_keeps_links_devices_and_modes);
    tcase_add_test(tc, file_in_pieces_appears_at_the_end);
    tcase_add_test(tc, file_in_pieces_says_that_the_device_is_full);
    tcase_add_test(tc, file_write_in_current_folder_works);
    tcase_add_test(tc, sha256_of_empty_list_is_known);
    tcase_add_test(tc, sha256_tells_lists_apart);
    Suite *suite = suite_create("base: files and digests");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("base: files and digests", file_suite)
