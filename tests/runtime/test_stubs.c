/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands in for optional slots, on a backend that fills none: fill, copy and map
 * through the host, flush as one write, and the words of what cannot be done.
 */
#include "config.h"

#include <check.h>

#include "libcore/runtime/plugin.h"
#include "tests/support/probe_files.h"
#include "tests/support/suite.h"

enum { LARGE = (3 << 20) + 48 }; /* more than the stubs move at once */

static char folder[64];
static rubus__device *dev;
static void *buffer;
static void *other;
static char *host;

static void device_setup(void)
{
    probe_folder_make(folder);
    probe_environment(folder);
    probe_add(folder, "probe", "good");
    probe_add(folder, "native", "native");
    probe_add(folder, "nothing", "map-nothing");
    ck_assert_msg(rubus__device_open("probe", &dev) == RUBUS_OK, "%s",
                  rubus_error_text());
    ck_assert_int_eq(dev->ops->buffer_create(dev->ctx, LARGE, &buffer), RUBUS_OK);
    ck_assert_int_eq(dev->ops->buffer_create(dev->ctx, LARGE, &other), RUBUS_OK);
    host = malloc(LARGE);
}

static void device_teardown(void)
{
    free(host);
    dev->ops->buffer_destroy(dev->ctx, buffer);
    dev->ops->buffer_destroy(dev->ctx, other);
    rubus__device_close(dev);
    rubus__registry_shutdown();
    ck_assert_int_eq(rubus__alloc_live(), 0);
    probe_folder_remove(folder);
}

static const char *contents(void *of)
{
    ck_assert_int_eq(dev->ops->read(dev->ctx, of, 0, host, LARGE), RUBUS_OK);
    return host;
}

START_TEST(fill_repeats_the_pattern_in_its_range_only)
{
    static const char pattern[] = "0123456789abcdef";
    for (uint32_t size = 1; size <= 16; size *= 2) {
        const uint64_t first = 32;
        const uint64_t n = LARGE - 48;
        const char zero = 0;
        ck_assert_int_eq(dev->optional.fill(dev, buffer, 0, LARGE, &zero, 1), RUBUS_OK);
        ck_assert_int_eq(dev->optional.fill(dev, buffer, first, n, pattern, size),
                         RUBUS_OK);
        const char *got = contents(buffer);
        int wrong = 0;
        for (uint64_t i = 0; i < LARGE; i++) {
            const bool inside = i >= first && i < first + n;
            wrong += got[i] != (inside ? pattern[(i - first) % size] : 0);
        }
        ck_assert_msg(wrong == 0, "pattern of %u bytes: %d bytes are wrong", size, wrong);
    }
    ck_assert_int_eq(dev->optional.fill(dev, buffer, 0, 0, pattern, 16), RUBUS_OK);
}
END_TEST

START_TEST(copy_moves_its_range_only)
{
    for (int i = 0; i < LARGE; i++) {
        host[i] = (char)(i * 31 + i / 997);
    }
    ck_assert_int_eq(dev->ops->write(dev->ctx, buffer, 0, host, LARGE), RUBUS_OK);
    const char zero = 0;
    ck_assert_int_eq(dev->optional.fill(dev, other, 0, LARGE, &zero, 1), RUBUS_OK);
    const int n = LARGE - 1000;
    ck_assert_int_eq(dev->optional.copy(dev, other, 600, buffer, 300, (uint64_t)n),
                     RUBUS_OK);
    const char *got = contents(other);
    int wrong = 0;
    for (int i = 0; i < LARGE; i++) {
        const int from = i - 300;
        const bool inside = i >= 600 && i < 600 + n;
        wrong += got[i] != (inside ? (char)(from * 31 + from / 997) : 0);
    }
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_eq(dev->optional.copy(dev, other, 0, buffer, 0, 0), RUBUS_OK);
}
END_TEST

START_TEST(map_shadows_a_window_and_writes_it_back)
{
    const char a = 'a';
    void *p = NULL;
    ck_assert_int_eq(dev->optional.fill(dev, buffer, 0, LARGE, &a, 1), RUBUS_OK);
    ck_assert_int_eq(
        dev->optional.map(dev, buffer, 100, 50, RUBUS_READ | RUBUS_WRITE, &p), RUBUS_OK);
    ck_assert_int_eq(((char *)p)[49], 'a');
    memset(p, 'b', 10);
    void *q = NULL;
    ck_assert_int_eq(dev->optional.map(dev, buffer, 0, 8, RUBUS_READ, &q), RUBUS_ESTATE);
    ck_assert_int_eq(dev->optional.unmap(dev, buffer), RUBUS_OK);
    ck_assert_int_eq(dev->optional.unmap(dev, buffer), RUBUS_ESTATE);
    const char *got = contents(buffer);
    ck_assert_int_eq(got[99], 'a');
    ck_assert_int_eq(got[100], 'b');
    ck_assert_int_eq(got[109], 'b');
    ck_assert_int_eq(got[110], 'a');

    // read only: what is written to the shadow is lost
    ck_assert_int_eq(dev->optional.map(dev, buffer, 0, 8, RUBUS_READ, &p), RUBUS_OK);
    memset(p, 'c', 8);
    ck_assert_int_eq(dev->optional.unmap(dev, buffer), RUBUS_OK);
    ck_assert_int_eq(contents(buffer)[0], 'a');

    // write only: other data of the process do not show through
    ck_assert_int_eq(dev->optional.map(dev, buffer, 0, 8, RUBUS_WRITE, &p), RUBUS_OK);
    ck_assert_int_eq(((char *)p)[7], 0);
    ck_assert_int_eq(dev->optional.unmap(dev, buffer), RUBUS_OK);
    ck_assert_int_eq(contents(buffer)[7], 0);
}
END_TEST

START_TEST(map_left_open_is_dropped_by_close)
{
    void *p = NULL;
    ck_assert_int_eq(dev->optional.map(dev, buffer, 0, 8, RUBUS_WRITE, &p), RUBUS_OK);
    ck_assert_int_eq(dev->optional.map(dev, other, 0, 8, RUBUS_WRITE, &p), RUBUS_OK);
}
END_TEST

START_TEST(errors_of_the_required_slots_are_passed_on)
{
    void *p = NULL;
    const char zero[16] = {0};
    const int64_t before = rubus__alloc_live();
    ck_assert_int_eq(dev->optional.fill(dev, buffer, LARGE - 8, 16, zero, 16),
                     RUBUS_EINVAL);
    ck_assert_int_eq(dev->optional.copy(dev, buffer, 0, other, LARGE, 16), RUBUS_EINVAL);
    ck_assert_int_eq(dev->optional.copy(dev, buffer, LARGE, other, 0, 16), RUBUS_EINVAL);
    ck_assert_int_eq(dev->optional.map(dev, buffer, LARGE, 8, RUBUS_READ, &p),
                     RUBUS_EINVAL);
    ck_assert_int_eq(dev->optional.map(dev, buffer, LARGE, 8, RUBUS_WRITE, &p), RUBUS_OK);
    ck_assert_int_eq(dev->optional.unmap(dev, buffer), RUBUS_EINVAL);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "leaves"));
    ck_assert_int_eq(rubus__alloc_live(), before);
}
END_TEST

START_TEST(out_of_memory_leaves_everything_as_it_was)
{
    void *p = NULL;
    const char zero = 0;
    const int64_t before = rubus__alloc_live();
    for (int64_t n = 1; n <= 2; n++) {
        rubus__alloc_fail_after(n, false);
        ck_assert_int_eq(dev->optional.map(dev, buffer, 0, 8, RUBUS_READ, &p),
                         RUBUS_ENOMEM);
        rubus__alloc_fail_after(0, false);
    }
    rubus__alloc_fail_after(1, false);
    ck_assert_int_eq(dev->optional.fill(dev, buffer, 0, 8, &zero, 1), RUBUS_ENOMEM);
    ck_assert_int_eq(dev->optional.copy(dev, buffer, 0, other, 0, 8), RUBUS_ENOMEM);
    rubus__alloc_fail_after(0, false);
    ck_assert_int_eq(rubus__alloc_live(), before);
    ck_assert_int_eq(dev->optional.map(dev, buffer, 0, 8, RUBUS_READ, &p), RUBUS_OK);
    ck_assert_int_eq(dev->optional.unmap(dev, buffer), RUBUS_OK);
}
END_TEST

START_TEST(flush_writes_all_values)
{
    double values[5] = {1, 2, 3, 4, 5};
    rubus_csr_desc a = {.struct_size = sizeof a,
                        .value_type = RUBUS_F64,
                        .nnz = 5,
                        .nzval = {buffer, 8, 5},
                        .mirror_nzval = values};
    ck_assert_int_eq(dev->optional.scatter_flush(dev, &a), RUBUS_OK);
    ck_assert_int_eq(memcmp(contents(buffer) + 8, values, sizeof values), 0);
    ck_assert_int_eq((unsigned char)contents(buffer)[7], 0xa5);
    ck_assert_int_eq((unsigned char)contents(buffer)[8 + sizeof values], 0xa5);
    a.nnz = 0;
    a.mirror_nzval = NULL;
    ck_assert_int_eq(dev->optional.scatter_flush(dev, &a), RUBUS_OK);
}
END_TEST

START_TEST(own_slots_are_called_themselves)
{
    rubus__device *native = NULL;
    void *own = NULL;
    void *p = NULL;
    ck_assert_int_eq(rubus__device_open("native", &native), RUBUS_OK);
    ck_assert(rubus__device_owns(native, "map"));
    ck_assert_int_eq(native->ops->buffer_create(native->ctx, 64, &own), RUBUS_OK);
    ck_assert_int_eq(native->optional.map(native, own, 8, 8, RUBUS_WRITE, &p), RUBUS_OK);
    memcpy(p, "12345678", 8);
    // it is the storage itself: seen before unmap
    ck_assert_int_eq(native->ops->read(native->ctx, own, 8, host, 8), RUBUS_OK);
    ck_assert_int_eq(memcmp(host, "12345678", 8), 0);
    ck_assert_int_eq(native->optional.unmap(native, own), RUBUS_OK);
    native->ops->buffer_destroy(native->ctx, own);
    rubus__device_close(native);

    ck_assert_int_eq(rubus__device_open("nothing", &native), RUBUS_OK);
    ck_assert_int_eq(native->ops->buffer_create(native->ctx, 64, &own), RUBUS_OK);
    ck_assert_int_eq(native->optional.map(native, own, 0, 8, RUBUS_WRITE, &p),
                     RUBUS_EPLUGIN);
    native->ops->buffer_destroy(native->ctx, own);
    rubus__device_close(native);
}
END_TEST

START_TEST(slot_result_gives_every_failure_a_text)
{
    rubus__error_clear();
    ck_assert_int_eq(rubus__slot_result(dev, "write", RUBUS_OK), RUBUS_OK);
    ck_assert_str_eq(rubus_error_text(), "");
    // an older text stays, and is not taken for the reason
    rubus__fail(RUBUS_EIO, "disk full");
    ck_assert_int_eq(RUBUS__SLOT_OF(dev, "write", RUBUS_OK), RUBUS_OK);
    ck_assert_str_eq(rubus_error_text(), "disk full");
    ck_assert_int_eq(RUBUS__SLOT_OF(dev, "read", RUBUS_ELOST), RUBUS_ELOST);
    ck_assert_ptr_nonnull(
        strstr(rubus_error_text(), "slot 'read' failed without a reason"));
    rubus__error_clear();
    ck_assert_int_eq(rubus__slot_result(dev, "write", RUBUS_ELOST), RUBUS_ELOST);
    ck_assert_ptr_nonnull(
        strstr(rubus_error_text(), "slot 'write' failed without a reason"));
    rubus__fail(RUBUS_ELOST, "cable pulled");
    ck_assert_int_eq(rubus__slot_result(dev, "write", RUBUS_ELOST), RUBUS_ELOST);
    ck_assert_str_eq(rubus_error_text(), "cable pulled");
    ck_assert_int_eq(rubus__slot_result(dev, "write", -999), RUBUS_EPLUGIN);
    ck_assert_int_eq(rubus__slot_result(dev, "write", 1), RUBUS_EPLUGIN);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "returned 1"));
}
END_TEST

static Suite *stubs_suite(void)
{
    TCase *tc = tcase_create("stubs");
    tcase_add_checked_fixture(tc, device_setup, device_teardown);
    tcase_add_test(tc, fill_repeats_the_pattern_in_its_range_only);
    tcase_add_test(tc, copy_moves_its_range_only);
    tcase_add_test(tc, map_shadows_a_window_and_writes_it_back);
    tcase_add_test(tc, map_left_open_is_dropped_by_close);
    tcase_add_test(tc, errors_of_the_required_slots_are_passed_on);
    tcase_add_test(tc, out_of_memory_leaves_everything_as_it_was);
    tcase_add_test(tc, flush_writes_all_values);
    tcase_add_test(tc, own_slots_are_called_themselves);
    tcase_add_test(tc, slot_result_gives_every_failure_a_text);
    Suite *suite = suite_create("runtime: stubs");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: stubs", stubs_suite)
