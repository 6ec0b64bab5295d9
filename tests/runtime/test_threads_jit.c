/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules of the threads backend: compiled, kept in the kernel cache, taken from damaged
 * entries, built into the plugin, and with compilers that are wrong, odd or missing.
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "plugins/threads/prebuilt.h"
#include "tests/runtime/threads_probe.h"

/* --- cache ------------------------------------------------------------------------ */

START_TEST(module_second_time_comes_from_the_cache)
{
    check_module(build(0));
    ck_assert_int_eq(fake.nput, 2); // the version of the compiler, and the module
    int hits = fake.nhit;
    reopen();
    fake_set(&fake, "cc", NULL);
    check_module(build(0));
    ck_assert_int_eq(fake.nput, 2);
    ck_assert_int_eq(fake.nhit, hits + 2);
    ck_assert_int_eq(fake.nwarning, 0);
}
END_TEST

START_TEST(module_without_a_cache_is_compiled)
{
    fake.folder[0] = '\0';
    check_module(build(0));
    check_module(build(0));
    ck_assert_int_eq(fake.nhit, 0);
}
END_TEST

/* Path of the cached module, which is larger than that of the version. */
static void find_entry(char out[1024])
{
    off_t largest = -1;
    DIR *dir = opendir(fake.folder);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[1024];
        struct stat info;
        snprintf(path, sizeof path, "%s/%s", fake.folder, entry->d_name);
        if (entry->d_name[0] != '.' && stat(path, &info) == 0 && info.st_size > largest) {
            largest = info.st_size;
            memcpy(out, path, sizeof path);
        }
    }
    closedir(dir);
    ck_assert_int_gt(largest, 1000);
}

static char *slurp(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    char *data = malloc(1 << 20);
    *out_size = fread(data, 1, 1 << 20, file);
    fclose(file);
    return data;
}

static void spill(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, size, file), size);
    fclose(file);
}

/* Every file of the cache, damaged in one way: the module works, and the file is whole
 * again. */
static void check_damage(const char *path, const char *data, size_t size, size_t keep,
                         long flip)
{
    char *bad = malloc(size);
    memcpy(bad, data, size);
    if (flip >= 0) {
        bad[flip] ^= 0x10;
    }
    spill(path, bad, keep);
    reopen();
    check_module(build(0));
    size_t now;
    char *repaired = slurp(path, &now);
    ck_assert_msg(now == size, "%zu of %zu bytes kept, byte %ld: %zu", keep, size, flip,
                  now);
    free(repaired);
    free(bad);
}

START_TEST(module_damaged_cache_entry_is_made_anew)
{
    check_module(build(0));
    char path[1024];
    size_t size;
    find_entry(path);
    char *data = slurp(path, &size);
    const size_t cuts[] = {0, 1, 100, 4096, size / 2, size - 1};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        check_damage(path, data, size, cuts[i], -1);
    }
    const long flips[] = {0, 5, 20, 300, (long)size / 2, (long)size - 1, (long)size - 30};
    for (size_t i = 0; i < sizeof flips / sizeof *flips; i++) {
        check_damage(path, data, size, size, flips[i]);
    }
    int warnings = fake.nwarning;
    ck_assert_int_ge(warnings, 12);
    spill(path, "hello\n", 6);
    reopen();
    check_module(build(0));
    ck_assert_int_eq(unlink(path), 0);
    reopen();
    check_module(build(0));
    free(data);
}
END_TEST

START_TEST(module_cache_entry_of_another_key_is_not_taken)
{
    // Another module under the name of this one: whole and sealed, but not what was
    // asked.
    static const char other[] =
        "void mark(void *block) { *(volatile char *)0 = *(char *)block; }";
    void *module = NULL;
    ck_assert_int_eq(ops.module_create(ctx, describe(other, 0, 9), &module), RUBUS_OK);
    ops.module_destroy(ctx, module);
    char path[1024];
    char wrong[1024];
    size_t size;
    find_entry(path);
    char *data = slurp(path, &size);
    memcpy(wrong, path, sizeof wrong);
    char *name = strrchr(wrong, '/') + 1;
    for (int i = 0; i < 32; i++) {
        name[2 * i] = '0';
        name[2 * i + 1] = '7';
    }
    spill(wrong, data, size);
    check_module(build(0)); // would crash if it were taken
    free(data);
}
END_TEST

START_TEST(module_damaged_version_entry_is_made_anew)
{
    check_module(build(0));
    char path[1024];
    find_entry(path);
    DIR *dir = opendir(fake.folder);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strstr(entry->d_name, ".cc-version") != NULL) {
            snprintf(path, sizeof path, "%s/%s", fake.folder, entry->d_name);
        }
    }
    closedir(dir);
    static const char *const bad[] = {"", "hello", "rubus compiler 1\ngcc"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        spill(path, bad[i], strlen(bad[i]));
        int puts = fake.nput;
        reopen();
        check_module(build(0));
        ck_assert_int_eq(fake.nput, puts + 1);
        ck_assert_int_eq(count_files(fake.folder), 2);
    }
}
END_TEST

START_TEST(module_cache_that_cannot_be_written_is_no_error)
{
    fake.deny_put = true;
    check_module(build(0));
    ck_assert_int_eq(count_files(fake.folder), 0);
}
END_TEST

START_TEST(modules_alive_at_once_do_not_mix)
{
    enum { COUNT = 12 };
    static const char form[] = "struct block { long long lo[3], hi[3]; double *dst; };\n"
                               "void mark(void *block)\n"
                               "{ ((struct block *)block)->dst[0] = %d; }\n";
    void *module[COUNT];
    char text[COUNT][256];
    for (int i = 0; i < COUNT; i++) {
        snprintf(text[i], sizeof text[i], form, i + 1);
        rubus_status st =
            ops.module_create(ctx, describe(text[i], 0, (uint8_t)(20 + i)), &module[i]);
        ck_assert_msg(st == RUBUS_OK, "%s", fake.text);
    }
    static const int64_t one[3] = {1, 1, 1};
    static double out[POINTS];
    for (int i = 0; i < COUNT; i++) {
        launch(module[i], zeros, one, 0, out);
        ck_assert_double_eq(out[0], i + 1);
    }
    for (int i = 0; i < COUNT; i++) {
        ops.module_destroy(ctx, module[i]);
    }
}
END_TEST

static int count_descriptors(void)
{
    return count_files("/proc/self/fd");
}

START_TEST(modules_leave_no_descriptor_behind)
{
    check_module(build(0));
    int before = count_descriptors();
    for (int i = 0; i < 20; i++) {
        reopen();
        check_module(build(0));
    }
    fake_set(&fake, "cc", "/bin/false");
    reopen();
    void *module = NULL;
    ck_assert_int_ne(ops.module_create(ctx, describe(mark_text, 0, 3), &module),
                     RUBUS_OK);
    ck_assert_int_eq(count_descriptors(), before);
}
END_TEST

START_TEST(module_without_a_free_descriptor_fails)
{
    struct rlimit before;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    fake.folder[0] = '\0';
    for (rlim_t extra = 0; extra < 12; extra++) {
        struct rlimit few = {(rlim_t)count_descriptors() - 1 + extra, before.rlim_max};
        void *module = NULL;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
        fake.text[0] = '\0';
        rubus_status st = ops.module_create(ctx, describe(mark_text, 0, 7), &module);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
        ck_assert(st == RUBUS_OK || fake.text[0] != '\0');
        if (st == RUBUS_OK) {
            check_module(module);
        }
    }
    check_module(build(0));
}
END_TEST

START_TEST(prebuilt_modules_need_no_compiler)
{
    fake_set(&fake, "cc", "/bin/false");
    reopen();
    ck_assert_uint_ge(threads_prebuilt_count, 1);
    for (unsigned i = 0; i < threads_prebuilt_count; i++) {
        const threads_prebuilt *known = threads_prebuilt_list[i];
        ck_assert_uint_ge(known->nentry, 1);
        describe("this is no C", 0, 0);
        mark_entry.symbol = known->symbol[known->nentry - 1];
        memcpy(mark_desc.key, known->key, sizeof mark_desc.key);
        void *module = NULL;
        rubus_status st = ops.module_create(ctx, &mark_desc, &module);
        ck_assert_msg(st == RUBUS_OK, "%s", fake.text);
        ops.module_destroy(ctx, module);
        mark_entry.symbol = "no_such_function";
        ck_assert_int_eq(ops.module_create(ctx, &mark_desc, &module), RUBUS_ECOMPILE);
    }
    ck_assert_int_eq(fake.nhit, 0);
}
END_TEST

/* --- compiler --------------------------------------------------------------------- */

/* Fails to build with this command; the text names it. */
static void check_wrong(const char *cc, rubus_status status, const char *named)
{
    fake_set(&fake, "cc", cc);
    reopen();
    void *module = NULL;
    fake.text[0] = '\0';
    rubus_status st = ops.module_create(ctx, describe(mark_text, 0, 7), &module);
    ck_assert_msg(st == status, "'%s' gives %d: %s", cc, st, fake.text);
    ck_assert_ptr_null(module);
    ck_assert_msg(text_has(named) && text_has("RUBUS_CC"), "%s", fake.text);
}

START_TEST(compiler_that_is_wrong_fails_and_names_it)
{
    check_wrong("no-such-cc", RUBUS_EUNSUPPORTED, "no-such-cc");
    ck_assert(text_has("apt install gcc"));
    check_wrong("/nonexistent/cc", RUBUS_EUNSUPPORTED, "/nonexistent/cc");
    check_wrong("/tmp", RUBUS_EUNSUPPORTED, "/tmp");
    check_wrong("/bin/false", RUBUS_ECOMPILE, "/bin/false");
    ck_assert(text_has("status 1"));
    check_wrong("/bin/true", RUBUS_ECOMPILE, "made no object");
    check_wrong("cc; touch pwned", RUBUS_EUNSUPPORTED, "cc;");
    check_wrong("cc $(touch pwned)", RUBUS_ECOMPILE, "cc");
    check_wrong("cc '-O1'", RUBUS_ECOMPILE, "'-O1'");
    check_wrong("cc --no-such-flag-at-all", RUBUS_ECOMPILE, "no-such-flag-at-all");
    check_wrong("cc a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a",
                RUBUS_EUNSUPPORTED, "too many");
    fake_set(&fake, "cc", NULL);
    reopen();
    check_module(build(0));
}
END_TEST

START_TEST(compiler_with_arguments_works)
{
    static const char *const good[] = {"cc -O1", "  cc   -O0  -g0 ", "env cc", "cc\t-O2"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        fake_set(&fake, "cc", good[i]);
        reopen();
        check_module(build(0));
        ck_assert_int_eq(fake.nput, 2 * ((int)i + 1)); // each has its own entries
    }
    fake_set(&fake, "cc", "   ");
    reopen();
    check_module(build(0));
}
END_TEST

START_TEST(compilers_of_every_kind_work)
{
    static const char *const names[] = {"gcc", "clang", "tcc"};
    int found = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char command[64];
        snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", names[i]);
        if (system(command) == 0) {
            found++;
            fake_set(&fake, "cc", names[i]);
            reopen();
            check_module(build(0));
            check_module(build(0)); // as the cache has it
            ck_assert_int_eq(fake.nwarning, 0);
        }
    }
    ck_assert_int_ge(found, 1);
}
END_TEST

static void make_script(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "#!/bin/sh\n%s\n", text);
    fclose(file);
    ck_assert_int_eq(chmod(path, 0755), 0);
}

START_TEST(compiler_path_with_blanks_is_one_program)
{
    char path[256];
    snprintf(path, sizeof path, "%s/cache/my 'own' $(cc)", work_folder);
    make_script(path, "exec cc \"$@\"");
    fake_set(&fake, "cc", path);
    reopen();
    check_module(build(0));
}
END_TEST

START_TEST(compiler_that_knows_few_flags_is_asked_for_less)
{
    char path[256];
    snprintf(path, sizeof path, "%s/cache/plain", work_folder);
    make_script(
        path, "for a; do case $a in -f[a-z]*|--param|-march*) [ $a = -fPIC ] || exit 1;; "
              "esac; done; exec cc \"$@\"");
    fake_set(&fake, "cc", path);
    reopen();
    check_module(build(0));
    ck_assert_int_ge(fake.nwarning, 1);
}
END_TEST

START_TEST(compiler_message_is_cut_to_its_first_lines)
{
    char path[256];
    snprintf(path, sizeof path, "%s/cache/chatty", work_folder);
    make_script(path,
                "cat >/dev/null; i=1; while [ $i -le 500 ]; do echo \"line $i of many\" "
                ">&2; i=$((i+1)); done; exit 3");
    check_wrong(path, RUBUS_ECOMPILE, "line 20 of many");
    ck_assert(text_has("status 3") && !text_has("line 21 of many"));
    make_script(path, "kill -SEGV $$");
    check_wrong(path, RUBUS_ECOMPILE, "signal 11");
    make_script(path, "printf 'not an object' > /proc/self/fd/3");
    check_wrong(path, RUBUS_ECOMPILE, "no whole shared object");
}
END_TEST

START_TEST(compiler_missing_from_path_fails)
{
    char path[4096];
    snprintf(path, sizeof path, "%s", getenv("PATH"));
    fake_set(&fake, "cc", "gcc");
    reopen();
    ck_assert_int_eq(setenv("PATH", "/nonexistent::.", 1), 0);
    make_script("gcc", "touch pwned"); // never run from the working directory
    void *module = NULL;
    rubus_status st = ops.module_create(ctx, describe(mark_text, 0, 7), &module);
    ck_assert_int_eq(st, RUBUS_EUNSUPPORTED);
    ck_assert(text_has("gcc") && text_has("RUBUS_CC") && text_has("apt install gcc"));
    ck_assert_int_eq(unlink("gcc"), 0);
    ck_assert_int_eq(setenv("PATH", path, 1), 0);
    check_module(build(0)); // the failure was not remembered
}
END_TEST

START_TEST(compiler_error_in_text_is_shown)
{
    void *module = NULL;
    static const char text[] = "void mark(void *block) { nonsense here; }";
    ck_assert_int_eq(ops.module_create(ctx, describe(text, 0, 5), &module),
                     RUBUS_ECOMPILE);
    ck_assert(text_has("nonsense") && text_has("by hand"));
    static const char missing[] = "void other(void *block) { (void)block; }";
    ck_assert_int_eq(ops.module_create(ctx, describe(missing, 0, 6), &module),
                     RUBUS_ECOMPILE);
    ck_assert(text_has("no function mark"));
    describe(mark_text, 0, 7);
    mark_desc.dialect = "glsl";
    ck_assert_int_eq(ops.module_create(ctx, &mark_desc, &module), RUBUS_EUNSUPPORTED);
    ck_assert(text_has("glsl"));
    ck_assert_ptr_null(module);
}
END_TEST

START_TEST(compiler_works_whatever_is_done_with_children)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    ck_assert_int_eq(sigaction(SIGCHLD, &ignore, &before), 0);
    check_module(build(0));
    check_wrong("/bin/false", RUBUS_ECOMPILE, "/bin/false");
    ck_assert_int_eq(sigaction(SIGCHLD, &before, NULL), 0);
}
END_TEST

START_TEST(compiler_works_with_closed_standard_files)
{
    int saved[3];
    for (int fd = 0; fd < 3; fd++) {
        saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 50);
        close(fd);
    }
    void *module = NULL;
    rubus_status st = ops.module_create(ctx, describe(mark_text, 0, 7), &module);
    for (int fd = 0; fd < 3; fd++) {
        dup2(saved[fd], fd);
        close(saved[fd]);
    }
    ck_assert_msg(st == RUBUS_OK, "%s", fake.text);
    check_module(module);
}
END_TEST

static Suite *jit_suite(void)
{
    Suite *suite = suite_create("threads modules");
    TCase *cache = tcase_create("cache");
    tcase_add_checked_fixture(cache, setup, teardown);
    tcase_add_test(cache, module_second_time_comes_from_the_cache);
    tcase_add_test(cache, module_without_a_cache_is_compiled);
    tcase_add_test(cache, module_damaged_cache_entry_is_made_anew);
    tcase_add_test(cache, module_cache_entry_of_another_key_is_not_taken);
    tcase_add_test(cache, module_damaged_version_entry_is_made_anew);
    tcase_add_test(cache, module_cache_that_cannot_be_written_is_no_error);
    tcase_add_test(cache, modules_alive_at_once_do_not_mix);
    tcase_add_test(cache, modules_leave_no_descriptor_behind);
    tcase_add_test(cache, module_without_a_free_descriptor_fails);
    tcase_add_test(cache, prebuilt_modules_need_no_compiler);
    suite_add_tcase(suite, cache);
    TCase *compiler = tcase_create("compiler");
    tcase_add_checked_fixture(compiler, setup, teardown);
    tcase_add_test(compiler, compiler_that_is_wrong_fails_and_names_it);
    tcase_add_test(compiler, compiler_with_arguments_works);
    tcase_add_test(compiler, compilers_of_every_kind_work);
    tcase_add_test(compiler, compiler_path_with_blanks_is_one_program);
    tcase_add_test(compiler, compiler_that_knows_few_flags_is_asked_for_less);
    tcase_add_test(compiler, compiler_message_is_cut_to_its_first_lines);
    tcase_add_test(compiler, compiler_missing_from_path_fails);
    tcase_add_test(compiler, compiler_error_in_text_is_shown);
    tcase_add_test(compiler, compiler_works_whatever_is_done_with_children);
    tcase_add_test(compiler, compiler_works_with_closed_standard_files);
    suite_add_tcase(suite, compiler);
    return suite;
}

RUBUS_TEST_MAIN("modules of threads", jit_suite)
