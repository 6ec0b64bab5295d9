/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts: creating and giving back in any order, information and counters, what becomes
 * of a context whose device is lost.
 */
#include "config.h"

#include <check.h>

#include "tests/support/backends.h"
#include "tests/support/faulty_ops.h"
#include "tests/support/suite.h"

static const char source[] = "kernel twice(inout real a[n]) { a = 2 * a; }\n";

START_TEST(context_wrong_arguments_are_named)
{
    rubus_context *context = NULL;
    rubus_context_info info = {.struct_size = 0};
    rubus_context_counters counters = {.struct_size = 4};
    fails(rubus_context_create(NULL, NULL), RUBUS_EINVAL, "out_context is NULL");
    fails(rubus_context_create("refrence", &context), RUBUS_ENODEV, "refrence");
    ck_assert_ptr_null(context);
    fails(rubus_context_create("threads:threads=0", &context), RUBUS_EINVAL, "threads");
    fails(rubus_context_synchronize(NULL), RUBUS_EINVAL,
          "rubus_context_synchronize|the context is NULL");
    fails(rubus_context_info_get(NULL, &info), RUBUS_EINVAL, "the context is NULL");
    fails(rubus_context_counters_get(NULL, &counters), RUBUS_EINVAL,
          "the context is NULL");
    context = backends_open(_i);
    fails(rubus_context_info_get(context, NULL), RUBUS_EINVAL, "struct_size");
    fails(rubus_context_info_get(context, &info), RUBUS_EINVAL, "struct_size");
    fails(rubus_context_counters_get(context, NULL), RUBUS_EINVAL, "struct_size");
    fails(rubus_context_counters_get(context, &counters), RUBUS_EINVAL, "struct_size");
    rubus_context_destroy(NULL);
    backends_finish(context);
}
END_TEST

START_TEST(context_info_tells_what_was_opened)
{
    rubus_context *context = backends_open(_i);
    rubus_context_info info;
    memset(&info, 0x77, sizeof info);
    info.struct_size = sizeof info;
    ok(rubus_context_info_get(context, &info));
    const bool reference = _i == 0;
    const bool vulkan = _i > 2;
    char name[32];
    backends_name(_i, name);
    ck_assert_str_eq(info.backend, name);
    ck_assert_str_eq(info.dialect, reference ? "rk" : vulkan ? "glsl" : "c");
    ck_assert_str_eq(info.why, "argument");
    if (vulkan) {
        ck_assert_uint_ne(info.kind, RUBUS_KIND_CPU);
        ck_assert(info.memory == RUBUS_AT_SHARED || info.memory == RUBUS_AT_DEVICE);
    } else {
        ck_assert_uint_eq(info.kind, RUBUS_KIND_CPU);
        ck_assert_uint_eq(info.memory, RUBUS_AT_HOST);
    }
    ck_assert_uint_eq(info.fp64, 2);
    ck_assert_uint_eq(info.threads, _i == 1 ? 1 : _i == 2 ? 3 : 0);
    ck_assert_uint_gt(info.mem_total, 0);
    ck_assert_str_ne(info.device, "");
    ck_assert_str_ne(info.version, "");
    ck_assert_ptr_nonnull(strstr(info.plugin, reference ? "(built in)" : name));

    // an older program knows fewer fields: the others are left alone
    memset(&info, 0x77, sizeof info);
    info.struct_size = offsetof(rubus_context_info, driver);
    ok(rubus_context_info_get(context, &info));
    ck_assert_str_eq(info.backend, name);
    ck_assert_uint_eq(info.device_index, 0x77777777u);
    ck_assert_uint_eq(info.struct_size, offsetof(rubus_context_info, driver));

    // a newer one knows more: only ours are written
    struct {
        rubus_context_info known;
        char more[16];
    } large;
    memset(&large, 0x77, sizeof large);
    large.known.struct_size = sizeof large;
    ok(rubus_context_info_get(context, &large.known));
    ck_assert_uint_eq(large.known.fp64, 2);
    ck_assert_int_eq(large.more[0], 0x77);
    backends_finish(context);
    ck_assert_int_eq(strncmp(rubus_version(), "0.1.", 4), 0);
}
END_TEST

START_TEST(context_counters_count_what_was_done)
{
    rubus_context *context = backends_open(_i);
    rubus_array *a = backends_ramp(context, 1000, 0);
    rubus_context_counters before = {.struct_size = sizeof before};
    ok(rubus_context_counters_get(context, &before));
    ck_assert_uint_eq(before.write_calls, 1);
    ck_assert_uint_eq(before.write_bytes, 8000);
    ck_assert_uint_eq(before.live_buffers, 1);
    ck_assert_uint_eq(before.live_bytes, 8000);
    rubus_module *module = backends_module(context, source, RUBUS_F64, 0);
    rubus_array *view = NULL;
    ok(rubus_array_view(a, 0, RUBUS_SHAPE(10), &view));
    ok(rubus_launch(backends_kernel(module, "twice"), a));
    ck_assert(backends_get(a, 7) == 14);
    rubus_context_counters after = {.struct_size = sizeof after};
    ok(rubus_context_counters_get(context, &after));
    ck_assert_uint_eq(after.launches, before.launches + 1);
    ck_assert_uint_eq(after.modules_built, before.modules_built + 1);
    ck_assert_uint_eq(after.read_calls, 1);
    ck_assert_uint_eq(after.read_bytes, 8);
    ck_assert_uint_eq(after.small_transfers, before.small_transfers + 1);
    ck_assert_uint_eq(after.live_buffers, 1); // a view has no memory of its own
    rubus_array_destroy(a);
    rubus_array_destroy(view);
    ok(rubus_context_counters_get(context, &after));
    ck_assert_uint_eq(after.live_buffers, 0);
    ck_assert_uint_eq(after.live_bytes, 0);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

START_TEST(context_objects_are_destroyed_in_any_order)
{
    // 6 orders of context, module, array; each with work just enqueued
    static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int k = 0; k < 6; k++) {
        rubus_context *context = backends_open(_i);
        rubus_module *module = backends_module(context, source, RUBUS_F64, 0);
        rubus_array *a = backends_ramp(context, 100, 1);
        ok(rubus_launch(backends_kernel(module, "twice"), a));
        for (int step = 0; step < 3; step++) {
            if (order[k][step] == 0) {
                rubus_context_destroy(context);
            } else if (order[k][step] == 1) {
                rubus_module_destroy(module);
            } else {
                ck_assert_ptr_eq(rubus_array_context(a), context);
                ck_assert(backends_get(a, 99) == 200);
                rubus_array_destroy(a);
            }
        }
    }
    rubus_shutdown();
    ck_assert_int_eq(rubus__alloc_live(), 0);
}
END_TEST

START_TEST(context_of_a_lost_device_stays_dead)
{
    rubus_context *context = backends_open(_i);
    rubus_module *module = backends_module(context, source, RUBUS_F64, 0);
    rubus_module *other = NULL;
    rubus_array *a = backends_ramp(context, 100, 1);
    rubus_array *b = NULL;
    void *p = NULL;
    double host[100];
    faulty_install(context);
    faulty_status = RUBUS_ELOST;
    fails(rubus_array_read(a, host, sizeof host), RUBUS_ELOST, "cable was pulled");
    faulty_status = RUBUS_OK; // even if it seems to come back
    faulty_calls = 0;
    const char words[] = "is lost|open a new one";
    fails(rubus_array_read(a, host, sizeof host), RUBUS_ELOST, words);
    fails(rubus_array_write(a, host, sizeof host), RUBUS_ELOST, words);
    fails(rubus_array_fill(a, 1), RUBUS_ELOST, words);
    fails(rubus_array_random(a, 1, 0, 1), RUBUS_ELOST, words);
    fails(rubus_array_map(a, RUBUS_READ, &p), RUBUS_ELOST, words);
    fails(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(3), &b), RUBUS_ELOST, words);
    fails(rubus_launch(backends_kernel(module, "twice"), a), RUBUS_ELOST, words);
    fails(rubus_context_synchronize(context), RUBUS_ELOST, words);
    fails(rubus_module_create(context, "m", source, NULL, &other), RUBUS_ELOST, words);
    ck_assert_ptr_null(other);
    ck_assert_ptr_null(b);
    ck_assert_int_eq(faulty_calls, 0); // the device is left alone
    rubus_module_destroy(module);
    rubus_array_destroy(a);
    backends_finish(context);
}
END_TEST

START_TEST(context_learns_of_the_loss_from_any_slot)
{
    for (int slot = 0; slot < 5; slot++) {
        rubus_context *context = backends_open(_i);
        rubus_module *module = backends_module(context, source, RUBUS_F64, 0);
        rubus_module *other = NULL;
        rubus_array *a = backends_ramp(context, 100, 1);
        rubus_array *b = NULL;
        faulty_install(context);
        faulty_status = RUBUS_ELOST;
        rubus_status st = RUBUS_OK;
        switch (slot) {
        case 0:
            st = rubus_launch(backends_kernel(module, "twice"), a);
            break;
        case 1:
            st = rubus_context_synchronize(context);
            break;
        case 2:
            st = rubus_array_from(context, RUBUS_F64, RUBUS_SHAPE(3), source, &b);
            break;
        case 3:
            st = rubus_module_create(context, "m", source, NULL, &other);
            break;
        default:
            st = rubus_array_write_range(a, 0, 1, source);
            break;
        }
        fails(st, RUBUS_ELOST, "cable was pulled");
        faulty_status = RUBUS_OK;
        fails(rubus_context_synchronize(context), RUBUS_ELOST, "is lost");
        rubus_array_destroy(a);
        rubus_module_destroy(module);
        rubus_context_destroy(context);
    }
    rubus_shutdown();
    ck_assert_int_eq(rubus__alloc_live(), 0);
}
END_TEST

START_TEST(context_goes_on_after_other_failures_of_its_device)
{
    rubus_context *context = backends_open(_i);
    rubus_array *a = backends_ramp(context, 100, 1);
    rubus_array *b = NULL;
    double host[100];
    faulty_install(context);
    faulty_status = RUBUS_ETIMEOUT;
    fails(rubus_array_read(a, host, sizeof host), RUBUS_ETIMEOUT, "cable was pulled");
    fails(rubus_context_synchronize(context), RUBUS_ETIMEOUT, "cable was pulled");
    faulty_status = RUBUS_EDEVMEM;
    fails(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(3), &b), RUBUS_EDEVMEM,
          "cable was pulled");
    ck_assert_ptr_null(b);
    faulty_status = RUBUS_OK;
    ck_assert(backends_get(a, 5) == 6);
    rubus_array_destroy(a);
    backends_finish(context);
}
END_TEST

static Suite *context_suite(void)
{
    TCase *tc = tcase_create("context");
    backends_add(tc, context_wrong_arguments_are_named);
    backends_add(tc, context_info_tells_what_was_opened);
    backends_add(tc, context_counters_count_what_was_done);
    backends_add(tc, context_objects_are_destroyed_in_any_order);
    backends_add(tc, context_of_a_lost_device_stays_dead);
    backends_add(tc, context_learns_of_the_loss_from_any_slot);
    backends_add(tc, context_goes_on_after_other_failures_of_its_device);
    Suite *suite = suite_create("runtime: contexts");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: contexts", context_suite)
