/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validate mode: poison in fresh memory, guard zones that notice who left an array, the
 * warning about tiny transfers; and that right programs run in it as ever.
 */
#include "config.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "libcore/runtime/runtime.h"
#include "tests/support/backends.h"
#include "tests/support/suite.h"

static int nlog;
static char last_log[1024];

static void take_log(void *user, int32_t level, const char *topic, const char *text)
{
    (void)user;
    if (level <= RUBUS__LOG_WARNING && strcmp(topic, "validate") == 0) {
        nlog++;
        snprintf(last_log, sizeof last_log, "%s", text);
    }
}

static rubus_context *open_validated(int at)
{
    char spec[96];
    rubus_context *context = NULL;
    backends_plain(at, spec);
    strcat(spec, ":validate=1");
    ok(rubus_context_create(spec, &context));
    ck_assert(context->validate);
    nlog = 0;
    rubus_log_set(take_log, NULL);
    return context;
}

static void write_at(rubus_array *a, uint64_t first, char byte)
{
    rubus__device *dev = a->storage->context->dev;
    ok(dev->ops->write(dev->ctx, a->storage->buffer, first, &byte, 1));
}

START_TEST(mode_comes_from_the_spec_or_the_variable)
{
    char spec[80];
    backends_plain(_i, spec);
    rubus_context *context = NULL;
    ok(rubus_context_create(spec, &context));
    ck_assert(!context->validate);
    rubus_context_destroy(context);
    rubus_shutdown();
    setenv("RUBUS_VALIDATE", "1", 1);
    rubus__env_reset_for_test();
    ok(rubus_context_create(spec, &context));
    ck_assert(context->validate);
    unsetenv("RUBUS_VALIDATE");
    backends_finish(context);
}
END_TEST

START_TEST(fresh_memory_is_no_plausible_number)
{
    enum { SIZE = 200008 }; // more than is written at once
    rubus_context *context = open_validated(_i);
    rubus__storage *s = NULL;
    ok(rubus__enter(context, "test"));
    ok(rubus__storage_create(context, SIZE, &s));
    ok(rubus__poison(s));
    char *bytes = malloc(SIZE + 2 * s->base);
    ok(rubus__read_bytes(context, s->buffer, 0, bytes, SIZE + 2 * s->base));
    ok(rubus__leave(context, RUBUS_OK));
    ck_assert_uint_ge(s->base, RUBUS__GUARD);
    for (uint64_t i = 0; i < s->base; i++) {
        ck_assert_int_eq(bytes[i], 0x5A);
        ck_assert_int_eq(bytes[s->base + SIZE + i], 0x5A);
    }
    const char *user = bytes + s->base;
    for (int i = 0; i < SIZE / 4; i++) {
        float x;
        int32_t k;
        memcpy(&x, user + 4 * i, sizeof x);
        memcpy(&k, user + 4 * i, sizeof k);
        ck_assert_msg(isnan(x) && k > 2000000000, "word %d is %x", i, (unsigned)k);
    }
    for (int i = 0; i < SIZE / 8; i++) {
        double x;
        memcpy(&x, user + 8 * i, sizeof x);
        ck_assert_msg(isnan(x), "double %d is %g", i, x);
    }
    for (int i = 0; i < SIZE; i++) {
        ck_assert(user[i] != 0 && user[i] != 1);
    }
    free(bytes);
    rubus__storage_release(s);
    rubus_log_set(NULL, NULL);
    backends_finish(context);
}
END_TEST

START_TEST(write_beside_an_array_is_noticed)
{
    static const struct {
        int64_t at; /* from the start of the array of 80 bytes */
        const char *words;
    } cases[] = {{-1, "wrote before an array of 80 bytes, 1 bytes from its edge"},
                 {-200, "wrote before an array of 80 bytes, 200 bytes"},
                 {80, "wrote behind an array of 80 bytes, 1 bytes from its edge"},
                 {335, "wrote behind an array of 80 bytes, 256 bytes"}};
    rubus_context *context = open_validated(_i);
    rubus_array *a = backends_ramp(context, 10, 0);
    rubus_array *b = backends_ramp(context, 10, 0);
    double host[10];
    for (int k = 0; k < 4; k++) {
        const uint64_t at = (uint64_t)((int64_t)a->storage->base + cases[k].at);
        ok(rubus_context_synchronize(context));
        write_at(a, at, 1);
        fails(rubus_array_read(a, host, sizeof host), RUBUS_EINTERNAL, cases[k].words);
        fails(rubus_context_synchronize(context), RUBUS_EINTERNAL, cases[k].words);
        ok(rubus_array_read(b, host, sizeof host));
        write_at(a, at, 0x5A);
        ok(rubus_array_read(a, host, sizeof host));
    }
    ck_assert_int_eq(nlog, 0);
    write_at(b, 3, 1);
    rubus_array_destroy(b); // the last chance to tell
    ck_assert_int_eq(nlog, 1);
    ck_assert_ptr_nonnull(
        strstr(last_log, "wrote before an array of 80 bytes, 253 bytes"));
    rubus_array_destroy(a);
    ck_assert_int_eq(nlog, 1);
    rubus_log_set(NULL, NULL);
    backends_finish(context);
}
END_TEST

START_TEST(tiny_transfers_in_a_loop_are_noticed)
{
    rubus_context *context = open_validated(_i);
    rubus_array *a = backends_ramp(context, 10, 0);
    for (int k = 0; k < 999; k++) {
        ck_assert(backends_get(a, k % 10) == k % 10);
    }
    ck_assert_int_eq(nlog, 0);
    for (int k = 0; k < 2000; k++) {
        ck_assert(backends_get(a, k % 10) == k % 10);
    }
    ck_assert_int_eq(nlog, 1);
    ck_assert_ptr_nonnull(strstr(last_log, "1000 transfers of fewer than 64 bytes"));
    rubus_array_destroy(a);
    rubus_log_set(NULL, NULL);
    backends_finish(context);
}
END_TEST

START_TEST(right_programs_run_as_ever)
{
    rubus_context *context = open_validated(_i);
    rubus_module *module = backends_module(
        context, "kernel f(inout real a[n], out real s) { a += 1; s = sum(a); }\n",
        RUBUS_F64, 1);
    rubus_array *a = NULL;
    rubus_array *b = backends_ramp(context, 1000, 0);
    rubus_array *view = NULL;
    rubus_array *empty = NULL;
    double s = 0;
    double *p = NULL;
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(1000), &a));
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(0), &empty));
    ck_assert(backends_get(a, 999) == 0);
    ok(rubus_array_copy(a, b));
    ok(rubus_launch(backends_kernel(module, "f"), a, &s));
    ck_assert(s == 500500);
    ok(rubus_array_view(a, 990, RUBUS_SHAPE(10), &view));
    ok(rubus_array_fill(view, 5));
    ok(rubus_array_map(view, RUBUS_READ | RUBUS_WRITE, (void **)&p));
    ck_assert(p[9] == 5);
    p[9] = 6;
    ok(rubus_array_unmap(view));
    ck_assert(backends_get(a, 989) == 990 && backends_get(a, 999) == 6);
    ok(rubus_array_random(a, 1, 0, 1));
    ok(rubus_context_synchronize(context));
    rubus_array_destroy(empty);
    rubus_array_destroy(a);
    rubus_array_destroy(b);
    rubus_array_destroy(view);
    rubus_module_destroy(module);
    ck_assert_msg(nlog == 0, "%s", last_log);
    rubus_log_set(NULL, NULL);
    backends_finish(context);
}
END_TEST

static Suite *validate_suite(void)
{
    TCase *tc = tcase_create("validate");
    backends_add(tc, mode_comes_from_the_spec_or_the_variable);
    backends_add(tc, fresh_memory_is_no_plausible_number);
    backends_add(tc, write_beside_an_array_is_noticed);
    backends_add(tc, tiny_transfers_in_a_loop_are_noticed);
    backends_add(tc, right_programs_run_as_ever);
    Suite *suite = suite_create("runtime: validate mode");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: validate mode", validate_suite)
