/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is found, refused and shadowed in plugin folders, and with which words. Every file
 * here is made by the test itself, as the user who runs it.
 */
#include "config.h"

#include <check.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <ltdl.h>

#include "libcore/runtime/plugin.h"
#include "tests/runtime/probe_list.h"
#include "tests/support/probe_files.h"
#include "tests/support/suite.h"

/* A copy of the probe with one field of its descriptor changed. */
static void add_with_field(const char *name, size_t offset, uint32_t value)
{
    probe_image image = probe_read();
    probe_name(&image, name);
    probe_field(&image, offset, value);
    char file[80];
    snprintf(file, sizeof file, "rubus-%s.so", name);
    probe_write(&image, folder, file);
    rubus__free(image.data);
}

START_TEST(plugin_good_is_listed)
{
    probe_add(folder, "probe", "good");
    const rubus_plugin_info info = plugin_of("/rubus-probe.so");
    ck_assert_int_eq(info.refused, 0);
    ck_assert_str_eq(info.name, "probe");
    ck_assert_str_eq(info.version, "7.1");
    ck_assert_str_eq(info.vendor, "tests");
    ck_assert_str_eq(info.licence, "Apache-2.0");
    ck_assert_uint_eq(info.abi_major, RUBUS_ABI_MAJOR);
    ck_assert_str_eq(info.reason, "");
    const rubus_plugin_info built_in = plugin_of("(built in)");
    ck_assert_str_eq(built_in.name, "reference");
    ck_assert_int_eq(built_in.refused, 0);
}
END_TEST

START_TEST(plugin_of_other_abi_is_judged_by_its_numbers)
{
    add_with_field("newer", offsetof(rubus_plugin_desc, abi_minor), RUBUS_ABI_MINOR + 1);
    add_with_field("needs", offsetof(rubus_plugin_desc, abi_minor_min),
                   RUBUS_ABI_MINOR + 3);
    add_with_field("major", offsetof(rubus_plugin_desc, abi_major), 2);
    add_with_field("zero", offsetof(rubus_plugin_desc, abi_major), 0);
    usable("/rubus-newer.so");
    refused("/rubus-needs.so", "descriptor", "needs plugin ABI 1.3 or later");
    refused("/rubus-major.so", "descriptor",
            "speaks plugin ABI 2.0, this library speaks 1.0");
    ck_assert_uint_eq(plugin_of("/rubus-major.so").abi_major, 2);
    refused("/rubus-zero.so", "descriptor", "speaks plugin ABI 0.0");
}
END_TEST

START_TEST(plugin_with_wrong_descriptor_is_refused)
{
    add_with_field("magic", offsetof(rubus_plugin_desc, magic), 0xdeadbeef);
    add_with_field("tiny", offsetof(rubus_plugin_desc, struct_size), 1);
    add_with_field("nosize", offsetof(rubus_plugin_desc, struct_size), 0);
    add_with_field("huge", offsetof(rubus_plugin_desc, struct_size), 0x7fffffff);
    add_with_field("short", offsetof(rubus_plugin_desc, struct_size),
                   sizeof(rubus_plugin_desc) - 8);
    add_with_field("later", offsetof(rubus_plugin_desc, struct_size),
                   sizeof(rubus_plugin_desc) + 64);
    probe_image image = probe_read(); // calls itself "probe"
    probe_write(&image, folder, "rubus-alias.so");
    rubus__free(image.data);
    refused("/rubus-alias.so", "descriptor", "calls itself 'probe'");
    refused("/rubus-magic.so", "descriptor", "0xdeadbeef");
    refused("/rubus-tiny.so", "descriptor", "size of 1 bytes");
    refused("/rubus-nosize.so", "descriptor", "size of 0 bytes");
    refused("/rubus-huge.so", "descriptor", "2147483647");
    refused("/rubus-short.so", "descriptor", "the least is");
    usable("/rubus-later.so");
}
END_TEST

START_TEST(plugin_name_missing_is_refused)
{
    probe_add(folder, "probe", "good");
    probe_image image = probe_read();
    probe_name(&image, "");
    probe_write(&image, folder, "rubus-empty.so");
    rubus__free(image.data);
    refused("/rubus-empty.so", "descriptor", "lacks name");
}
END_TEST

START_TEST(file_that_does_not_link_gives_the_true_reason)
{
    probe_image image = probe_read();
    probe_name(&image, "undefined");
    probe_replace(&image, "gnu_get_libc_version", "gnu_get_libc_verZion", 20);
    probe_write(&image, folder, "rubus-undefined.so");
    rubus__free(image.data);
    image = probe_read();
    probe_name(&image, "needs");
    probe_replace(&image, "libc.so.6", "libQ.so.6", 9);
    probe_write(&image, folder, "rubus-needs.so");
    rubus__free(image.data);
    image = probe_read();
    probe_name(&image, "mute");
    probe_replace(&image, "rubus_backend_plugin", "rubus_backend_plugiX", 20);
    probe_write(&image, folder, "rubus-mute.so");
    rubus__free(image.data);
    image = probe_read();
    probe_name(&image, "object");
    probe_replace(&image, "program_invocation_short_name",
                  "program_invocation_short_naQe", 29);
    probe_write(&image, folder, "rubus-object.so");
    rubus__free(image.data);
    refused("/rubus-undefined.so", "open", "undefined symbol: gnu_get_libc_verZion");
    refused("/rubus-object.so", "open",
            "undefined symbol: program_invocation_short_naQe");
    refused("/rubus-needs.so", "open", "libQ.so.6: cannot open shared object file");
    refused("/rubus-mute.so", "descriptor", "does not export rubus_backend_plugin");
    ck_assert_ptr_null(strstr(plugin_of("/rubus-undefined.so").reason, folder));
}
END_TEST

START_TEST(file_that_is_no_plugin_is_refused_with_its_kind)
{
    ck_assert_int_eq(rubus__file_write(path_of("rubus-text.so"), "hello\n", 6), RUBUS_OK);
    ck_assert_int_eq(rubus__file_write(path_of("rubus-empty.so"), "", 0), RUBUS_OK);
    ck_assert_int_eq(mkdir(path_of("rubus-folder.so"), 0755), 0);
    ck_assert_int_eq(mkfifo(path_of("rubus-fifo.so"), 0644), 0);
    ck_assert_int_eq(symlink("/no/such/file", path_of("rubus-dangling.so")), 0);
    ck_assert_int_eq(symlink("/dev/null", path_of("rubus-device.so")), 0);
    probe_image image = probe_read();
    image.size = 3000;
    probe_write(&image, folder, "rubus-cut.so");
    rubus__free(image.data);
    char noise[5000];
    uint32_t bits = 99;
    for (size_t i = 0; i < sizeof noise; i++) {
        bits = bits * 1664525u + 1013904223u;
        noise[i] = (char)(bits >> 24);
    }
    ck_assert_int_eq(rubus__file_write(path_of("rubus-noise.so"), noise, sizeof noise),
                     RUBUS_OK);
    image = probe_read();
    image.data[offsetof(ElfW(Ehdr), e_machine)] = EM_MIPS;
    probe_write(&image, folder, "rubus-mips.so");
    image.data[offsetof(ElfW(Ehdr), e_machine)] = EM_X86_64;
    image.data[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS32 : ELFCLASS64;
    probe_write(&image, folder, "rubus-class.so");
    rubus__free(image.data);
    probe_add(folder, "probe", "good");
    refused("/rubus-noise.so", "elf", "not an ELF");
    refused("/rubus-mips.so", "elf", "built for mips, this process is");
    refused("/rubus-class.so", "elf", "-bit");
    refused("/rubus-text.so", "elf", "not an ELF");
    refused("/rubus-empty.so", "elf", "empty");
    refused("/rubus-folder.so", "file", "a folder");
    refused("/rubus-fifo.so", "file", "a FIFO");
    refused("/rubus-dangling.so", "file", "leads nowhere");
    refused("/rubus-device.so", "file", "a device");
    refused("/rubus-cut.so", "elf", "cut short");
    ck_assert_str_eq(plugin_of("/rubus-text.so").name, "rubus-text.so");
    usable("/rubus-probe.so");
}
END_TEST

START_TEST(file_cut_at_any_place_does_not_end_the_process)
{
    probe_image image = probe_read();
    const size_t whole = image.size;
    for (int i = 1; i <= 40; i++) {
        image.size = whole / 41 * (size_t)i;
        char file[64];
        snprintf(file, sizeof file, "rubus-cut%d.so", i);
        probe_write(&image, folder, file);
    }
    rubus__free(image.data);
    // each is refused, for its cut or (where only the section table is gone) its name
    uint32_t n = 0;
    ck_assert_int_eq(rubus_plugin_count(&n), RUBUS_OK);
    for (int i = 1; i <= 40; i++) {
        char ending[64];
        snprintf(ending, sizeof ending, "/rubus-cut%d.so", i);
        ck_assert_int_eq(plugin_of(ending).refused, 1);
    }
}
END_TEST

START_TEST(file_of_other_name_is_remembered_only_if_it_looks_meant)
{
    static const char *const files[] = {
        "libprobe.so",  "rubus-Upper.so", "rubus-.so", "rubus-9x.so", ".rubus-hidden.so",
        "rubus-x.so.1", "rubus-probe.la", "README",    "RUBUS-X.SO",  ".so"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        ck_assert_int_eq(rubus__file_write(path_of(files[i]), "x", 1), RUBUS_OK);
    }
    for (size_t i = 0; i < 4; i++) {
        char ending[64];
        snprintf(ending, sizeof ending, "/%s", files[i]);
        refused(ending, "file", "not named rubus-NAME.so");
    }
    for (size_t i = 4; i < sizeof files / sizeof files[0]; i++) {
        char ending[64];
        snprintf(ending, sizeof ending, "/%s", files[i]);
        ck_assert_msg(plugin_at(ending) < 0, "%s is listed", files[i]);
    }
}
END_TEST

START_TEST(file_that_others_may_write_is_refused)
{
    probe_add(folder, "probe", "good");
    probe_add(folder, "group", "good");
    ck_assert_int_eq(chmod(path_of("rubus-probe.so"), 0666), 0);
    ck_assert_int_eq(chmod(path_of("rubus-group.so"), 0664),
                     0); // of the caller: accepted
    refused("/rubus-probe.so", "file", "everybody may write");
    usable("/rubus-group.so");
}
END_TEST

START_TEST(folder_that_others_may_write_is_refused)
{
    probe_add(folder, "probe", "good");
    ck_assert_int_eq(chmod(folder, 01777), 0);
    refused(folder, "folder", "everybody may write");
    ck_assert_int_lt(plugin_at("/rubus-probe.so"), 0);
    rubus__registry_shutdown();
    ck_assert_int_eq(chmod(folder, 0755), 0);
    usable("/rubus-probe.so");
}
END_TEST

START_TEST(owner_other_than_root_and_caller_is_refused)
{
    char reason[RUBUS__REASON_ROOM];
    struct stat info;
    memset(&info, 0, sizeof info);
    info.st_mode = S_IFREG | 0644;
    info.st_uid = geteuid();
    ck_assert(rubus__stat_trusted(&info, reason));
    info.st_uid = 0;
    ck_assert(rubus__stat_trusted(&info, reason));
    info.st_uid = geteuid() + 12345;
    ck_assert(!rubus__stat_trusted(&info, reason));
    ck_assert_ptr_nonnull(strstr(reason, "neither root nor the caller"));
    if (geteuid() == 0) {
        // root can make such a file; nobody else can
        probe_add(folder, "probe", "good");
        ck_assert_int_eq(chown(path_of("rubus-probe.so"), 12345, 12345), 0);
        refused("/rubus-probe.so", "file", "user 12345");
    } else {
        info.st_uid = 0;
        info.st_gid = 77;
        info.st_mode = S_IFREG | 0664;
        ck_assert(!rubus__stat_trusted(&info, reason));
        ck_assert_ptr_nonnull(strstr(reason, "group 77"));
    }
}
END_TEST

START_TEST(folders_named_wrongly_are_remembered)
{
    probe_add(folder, "probe", "good");
    char path[300];
    snprintf(path, sizeof path, "/no/such:/etc/passwd::relative/folder:%s/:%s:", folder,
             folder);
    probe_environment(path);
    ck_assert_int_eq(chdir(folder), 0); // never searched, whatever the list says
    refused("/no/such", "folder", "No such file");
    refused("/etc/passwd", "folder", "not a folder");
    refused("relative/folder", "folder", "not an absolute path");
    usable("/rubus-probe.so");
    uint32_t n = 0;
    ck_assert_int_eq(rubus_plugin_count(&n), RUBUS_OK);
    int probes = 0;
    for (uint32_t i = 0; i < n; i++) {
        rubus_plugin_info info = {.struct_size = sizeof info};
        ck_assert_int_eq(rubus_plugin_info_get(i, &info), RUBUS_OK);
        probes += strcmp(info.name, "probe") == 0;
    }
    ck_assert_int_eq(probes, 1);
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(plugin_named_twice_is_shadowed_by_the_first_that_works)
{
    char second[64];
    probe_folder_make(second);
    probe_add(folder, "probe", "good");
    probe_add(second, "probe", "good");
    probe_add(second, "broken", "good");
    ck_assert_int_eq(rubus__file_write(path_of("rubus-broken.so"), "junk", 4), RUBUS_OK);
    ck_assert_int_eq(symlink("rubus-probe.so", path_of("rubus-link.so")), 0);
    char third[64];
    probe_folder_make(third);
    char link[200];
    snprintf(link, sizeof link, "%s/rubus-probe.so", third);
    ck_assert_int_eq(symlink(path_of("rubus-probe.so"), link), 0);
    char path[300];
    snprintf(path, sizeof path, "%s:%s:%s", folder, second, third);
    probe_environment(path);

    char ending[200];
    snprintf(ending, sizeof ending, "%s/rubus-probe.so", second);
    rubus_plugin_info info = plugin_of(ending);
    ck_assert_int_eq(info.refused, 2);
    ck_assert_ptr_nonnull(strstr(info.reason, "shadowed by"));
    ck_assert_ptr_nonnull(strstr(info.reason, folder));
    // a broken file does not stand in the way of a good one further on
    snprintf(ending, sizeof ending, "%s/rubus-broken.so", second);
    usable(ending);
    refused(path_of("rubus-broken.so"), "elf", "not an ELF");
    // one file by another name is refused and hides nothing; by the same name it is one
    refused("/rubus-link.so", "descriptor", "calls itself 'probe'");
    usable(path_of("rubus-probe.so"));
    ck_assert_int_lt(plugin_at(link), 0);
    probe_folder_remove(second);
    probe_folder_remove(third);
}
END_TEST

START_TEST(plugin_denied_is_never_opened)
{
    probe_add(folder, "probe", "good");
    probe_add(folder, "other", "good");
    probe_variable("RUBUS_PLUGIN_DENY", "x, Probe");
    refused("/rubus-probe.so", "file", "RUBUS_PLUGIN_DENY");
    usable("/rubus-other.so");
    ck_assert_ptr_null(dlopen(path_of("rubus-probe.so"), RTLD_NOW | RTLD_NOLOAD));
}
END_TEST

START_TEST(plugin_nobody_asks_for_is_not_opened)
{
    probe_add(folder, "probe", "good");
    probe_add(folder, "other", "good");
    rubus__device *dev = NULL;
    ck_assert_msg(rubus__device_open("probe", &dev) == RUBUS_OK, "%s",
                  rubus_error_text());
    ck_assert_ptr_nonnull(dlopen(path_of("rubus-probe.so"), RTLD_NOW | RTLD_NOLOAD));
    ck_assert_ptr_null(dlopen(path_of("rubus-other.so"), RTLD_NOW | RTLD_NOLOAD));
    rubus__device_close(dev);
}
END_TEST

START_TEST(libltdl_of_the_host_program_stays_whole)
{
    ck_assert_int_eq(lt_dlinit(), 0);
    probe_add(folder, "probe", "good");
    ck_assert_int_eq(rubus__file_write(path_of("rubus-bad.so"), "junk", 4), RUBUS_OK);
    usable("/rubus-probe.so");
    // the host opens files of its own, by the stock loaders, before and after
    probe_image image = probe_read();
    probe_name(&image, "mine");
    probe_write(&image, folder, "mine.so");
    rubus__free(image.data);
    lt_dlhandle mine = lt_dlopen(path_of("mine.so"));
    ck_assert_msg(mine != NULL, "%s", lt_dlerror());
    ck_assert_ptr_nonnull(lt_dlsym(mine, "rubus_backend_plugin"));
    ck_assert_ptr_ne(lt_dlsym(mine, "rubus_backend_plugin"),
                     dlsym(dlopen(path_of("rubus-probe.so"), RTLD_NOW | RTLD_NOLOAD),
                           "rubus_backend_plugin"));
    ck_assert_ptr_null(lt_dlopen(path_of("rubus-bad.so")));
    ck_assert_int_eq(lt_dlclose(mine), 0);
    ck_assert_int_eq(lt_dlexit(), 0);
    rubus__registry_shutdown();
    usable("/rubus-probe.so");
}
END_TEST

START_TEST(folders_are_searched_in_their_order)
{
    // a process of its own kind: no folder was ever restricted here
    rubus__folders folders;
    setenv("RUBUS_PLUGIN_PATH", "/first:/second/", 1);
    rubus__env_reset_for_test();
    ck_assert_int_eq(rubus__folders_find(&folders), RUBUS_OK);
    ck_assert_uint_ge(folders.n, 3);
    ck_assert_str_eq(folders.at[0].path, "/first");
    ck_assert_str_eq(folders.at[1].path, "/second");
    // the library is linked into this program, so beside it is beside the program
    char expected[4200];
    const ssize_t n = readlink("/proc/self/exe", expected, 4096);
    ck_assert_int_gt(n, 0);
    expected[n] = '\0';
    strcpy(strrchr(expected, '/'), "/rubus/plugins-1");
    ck_assert_str_eq(folders.at[2].path, expected);
    rubus__folders_fini(&folders);
    for (int64_t fail = 1; fail <= 3; fail++) {
        rubus__alloc_fail_after(fail, false);
        ck_assert_int_eq(rubus__folders_find(&folders), RUBUS_ENOMEM);
        rubus__alloc_fail_after(0, false);
        ck_assert_int_eq(rubus__alloc_live(), 0);
    }
}
END_TEST

static Suite *loader_suite(void)
{
    TCase *tc = tcase_create("files");
    tcase_add_checked_fixture(tc, folder_setup, folder_teardown);
    tcase_add_test(tc, plugin_good_is_listed);
    tcase_add_test(tc, plugin_of_other_abi_is_judged_by_its_numbers);
    tcase_add_test(tc, plugin_with_wrong_descriptor_is_refused);
    tcase_add_test(tc, plugin_name_missing_is_refused);
    tcase_add_test(tc, file_that_does_not_link_gives_the_true_reason);
    tcase_add_test(tc, file_that_is_no_plugin_is_refused_with_its_kind);
    tcase_add_test(tc, file_cut_at_any_place_does_not_end_the_process);
    tcase_add_test(tc, file_of_other_name_is_remembered_only_if_it_looks_meant);
    tcase_add_test(tc, file_that_others_may_write_is_refused);
    tcase_add_test(tc, folder_that_others_may_write_is_refused);
    tcase_add_test(tc, owner_other_than_root_and_caller_is_refused);
    tcase_add_test(tc, folders_named_wrongly_are_remembered);
    tcase_add_test(tc, plugin_named_twice_is_shadowed_by_the_first_that_works);
    tcase_add_test(tc, plugin_denied_is_never_opened);
    tcase_add_test(tc, plugin_nobody_asks_for_is_not_opened);
    tcase_add_test(tc, libltdl_of_the_host_program_stays_whole);
    TCase *order = tcase_create("order");
    tcase_add_test(order, folders_are_searched_in_their_order);
    Suite *suite = suite_create("runtime: plugin files");
    suite_add_tcase(suite, tc);
    suite_add_tcase(suite, order);
    return suite;
}

RUBUS_TEST_MAIN("runtime: plugin files", loader_suite)
