/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugins built against the header of another minor version (other_minor.awk): one that
 * knows two slots less, and one that knows a slot more and longer structs. Both load, get
 * stubs for what they do not fill, and write no further than they are offered.
 */
#include "config.h"

#include <check.h>
#include <dlfcn.h>

#include "libcore/runtime/plugin.h"
#include "tests/runtime/probe_list.h"
#include "tests/support/fake_host.h"
#include "tests/support/probe_files.h"
#include "tests/support/suite.h"

#include <rubus/array.h>

static const char *const minors[] = {"older", "newer"};

/* The probe built against that header, of that name and manner, in `folder`. */
static void add_minor(const char *name, const char *manner)
{
    char path[100];
    char file[100];
    snprintf(path, sizeof path, "tests/plugins/minor/.libs/rubus-%s.so", name);
    snprintf(file, sizeof file, "rubus-%s.so", name);
    probe_image image = probe_read_from(path);
    probe_name(&image, name);
    probe_manner(&image, manner);
    probe_write(&image, folder, file);
    rubus__free(image.data);
}

static uint32_t listed(const char *name)
{
    char ending[100];
    snprintf(ending, sizeof ending, "/rubus-%s.so", name);
    usable(ending);
    return (uint32_t)plugin_at(ending);
}

START_TEST(minor_other_than_ours_loads_and_gets_stubs)
{
    const char *name = minors[_i];
    add_minor(name, "native");
    const uint32_t at = listed(name);
    rubus_plugin_info info = {.struct_size = sizeof info};
    ck_assert_int_eq(rubus_plugin_info_get(at, &info), RUBUS_OK);
    ck_assert_uint_eq(info.abi_minor, (uint32_t)_i);
    for (uint32_t i = 0; i < RUBUS__SLOT_COUNT; i++) {
        const char *slot = NULL;
        int32_t own = 7;
        ck_assert_int_eq(rubus_plugin_slot(at, i, &slot, &own), RUBUS_OK);
        const bool filled = rubus__slots[i].required || strcmp(slot, "map") == 0 ||
                            strcmp(slot, "unmap") == 0 || strcmp(slot, "spmv") == 0;
        ck_assert_msg(own == filled, "%s: slot %s: %d", name, slot, (int)own);
    }
    rubus__device *dev = NULL;
    ck_assert_msg(rubus__device_open(name, &dev) == RUBUS_OK, "%s", rubus_error_text());
    ck_assert(dev->ops->spmv != NULL);
    ck_assert(dev->ops->spmm == NULL);
    rubus__device_close(dev);
    rubus_shutdown();
}
END_TEST

START_TEST(minor_other_than_ours_moves_data)
{
    const char *name = minors[_i];
    add_minor(name, "good");
    rubus_context *context = NULL;
    rubus_array *a = NULL;
    rubus_array *b = NULL;
    double x[100] = {0};
    void *data = NULL;
    ck_assert_msg(rubus_context_create(name, &context) == RUBUS_OK, "%s",
                  rubus_error_text());
    ck_assert_int_eq(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(100), &a),
                     RUBUS_OK);
    ck_assert_int_eq(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(100), &b),
                     RUBUS_OK);
    ck_assert_int_eq(rubus_array_fill(a, 3), RUBUS_OK);
    ck_assert_int_eq(rubus_array_map(a, RUBUS_READ | RUBUS_WRITE, &data), RUBUS_OK);
    ((double *)data)[99] = 4;
    ck_assert_int_eq(rubus_array_unmap(a), RUBUS_OK);
    ck_assert_int_eq(rubus_array_copy(b, a), RUBUS_OK);
    ck_assert_int_eq(rubus_array_read(b, x, sizeof x), RUBUS_OK);
    ck_assert(x[0] == 3 && x[98] == 3 && x[99] == 4);
    rubus_array_destroy(a);
    rubus_array_destroy(b);
    rubus_context_destroy(context);
    rubus_shutdown();
    ck_assert_int_eq(rubus__alloc_live(), 0);
}
END_TEST

/* The plugin is called as libraries of several versions would. */
START_TEST(minor_other_than_ours_stays_in_what_it_is_offered)
{
    static const size_t sizes[] = {sizeof(rubus_ops), offsetof(rubus_ops, fill),
                                   offsetof(rubus_ops, spmv),
                                   sizeof(rubus_ops) + 3 * sizeof(void *)};
    const char *name = minors[_i];
    add_minor(name, "native");
    char file[100];
    snprintf(file, sizeof file, "rubus-%s.so", name);
    void *library = dlopen(path_of(file), RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    const rubus_plugin_desc *desc = dlsym(library, "rubus_backend_plugin");
    ck_assert_ptr_nonnull(desc);
    ck_assert_uint_eq(desc->struct_size,
                      sizeof(rubus_plugin_desc) + (_i == 1 ? sizeof(uint64_t) : 0));
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        static fake_host fake;
        fake_host_init(&fake);
        enum { ROOM = sizeof(rubus_ops) + 100 };
        union {
            rubus_ops ops;
            unsigned char bytes[ROOM];
        } room;
        memset(&room, 0, sizeof room);
        memset(room.bytes + sizes[k], 0x5c, ROOM - sizes[k]);
        room.ops.struct_size = (uint32_t)sizes[k];
        void *be = NULL;
        ck_assert_int_eq(desc->open(&fake.host, &room.ops, &be), RUBUS_OK);
        ck_assert_ptr_nonnull((const void *)(uintptr_t)room.ops.synchronize);
        for (size_t i = sizes[k]; i < ROOM; i++) {
            ck_assert_msg(room.bytes[i] == 0x5c, "%s: byte %zu of a table of %zu", name,
                          i, sizes[k]);
        }
        desc->close(be);
        ck_assert_int_eq(fake.live, 0);
    }
    dlclose(library);
}
END_TEST

static Suite *minor_suite(void)
{
    TCase *tc = tcase_create("minor");
    tcase_add_checked_fixture(tc, folder_setup, folder_teardown);
    tcase_add_loop_test(tc, minor_other_than_ours_loads_and_gets_stubs, 0, 2);
    tcase_add_loop_test(tc, minor_other_than_ours_moves_data, 0, 2);
    tcase_add_loop_test(tc, minor_other_than_ours_stays_in_what_it_is_offered, 0, 2);
    Suite *suite = suite_create("plugins: other minor versions");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("plugins: other minor versions", minor_suite)
