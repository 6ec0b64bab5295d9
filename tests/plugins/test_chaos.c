/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend "chaos" itself: is it as late as it claims, and does it keep the contract
 * while it is? Its table is used directly. What lies behind it is the backend threads,
 * whose buffers a pointer of map shows at any time, so a test sees what was done already.
 */
#include "config.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcore/runtime/plugin.h"
#include "tests/support/suite.h"

enum { TRIES = 400, N = 512 };

static rubus__device *dev;
static void *buffer;
static double *seen; /* the buffer's own memory */
static double host[N];

static void chaos_setup(void)
{
    const char *build = getenv("RUBUS_TEST_BUILDDIR");
    ck_assert_msg(build != NULL, "RUBUS_TEST_BUILDDIR is not set: run by make check");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/plugins/.libs", build);
    setenv("RUBUS_PLUGIN_PATH", path, 1);
    unsetenv("RUBUS_TEST_INNER");
    rubus__env_reset_for_test();
    ck_assert_msg(rubus__device_open("chaos:threads=1", &dev) == RUBUS_OK, "%s",
                  rubus_error_text());
    ck_assert_int_eq(dev->ops->buffer_create(dev->ctx, sizeof host, &buffer), RUBUS_OK);
    void *p = NULL;
    ck_assert_int_eq(dev->ops->map(dev->ctx, buffer, RUBUS_READ, &p), RUBUS_OK);
    ck_assert_int_eq(dev->ops->unmap(dev->ctx, buffer), RUBUS_OK);
    seen = p;
}

static void chaos_teardown(void)
{
    if (buffer != NULL) {
        dev->ops->buffer_destroy(dev->ctx, buffer);
    }
    rubus__device_close(dev);
    rubus_shutdown();
    ck_assert_int_eq(rubus__alloc_live(), 0);
}

static void put(double value)
{
    for (int i = 0; i < N; i++) {
        host[i] = value;
    }
    ck_assert_int_eq(dev->ops->write(dev->ctx, buffer, 0, host, sizeof host), RUBUS_OK);
}

/* Another thread may write it now. */
static double look(int at)
{
    return *(volatile double *)&seen[at];
}

#ifndef __SANITIZE_THREAD__ // looking at memory in use is the point of this one
START_TEST(work_is_done_after_its_call_returned)
{
    int late = 0;
    for (int i = 1; i <= TRIES; i++) {
        put(i);
        late += look(N - 1) != i;
        ck_assert_int_eq(dev->ops->synchronize(dev->ctx), RUBUS_OK);
        ck_assert(look(0) == i && look(N - 1) == i);
    }
    ck_assert_msg(late > TRIES / 20, "only %d of %d writes came late", late, TRIES);
}
END_TEST
#endif

START_TEST(source_of_a_write_may_change_at_once)
{
    for (int i = 1; i <= TRIES; i++) {
        put(i);
        memset(host, 0xff, sizeof host);
        double back[N];
        ck_assert_int_eq(dev->ops->read(dev->ctx, buffer, 0, back, sizeof back),
                         RUBUS_OK);
        ck_assert_msg(back[0] == i && back[N - 1] == i, "try %d: %g", i, back[0]);
    }
}
END_TEST

START_TEST(read_and_map_see_all_that_came_before)
{
    for (int i = 1; i <= TRIES; i++) {
        const double one = i;
        const double two = -i;
        ck_assert_int_eq(
            dev->ops->fill(dev->ctx, buffer, 0, sizeof host, &one, sizeof one), RUBUS_OK);
        ck_assert_int_eq(dev->ops->fill(dev->ctx, buffer, 8, 8, &two, 8), RUBUS_OK);
        ck_assert_int_eq(dev->ops->copy(dev->ctx, buffer, 16, buffer, 8, 8), RUBUS_OK);
        if (i % 2 == 0) {
            void *p = NULL;
            ck_assert_int_eq(dev->ops->map(dev->ctx, buffer, RUBUS_READ, &p), RUBUS_OK);
            const double *x = p;
            ck_assert(x[0] == one && x[1] == two && x[2] == two && x[N - 1] == one);
            ck_assert_int_eq(dev->ops->unmap(dev->ctx, buffer), RUBUS_OK);
        } else {
            double x[3];
            ck_assert_int_eq(dev->ops->read(dev->ctx, buffer, 0, x, sizeof x), RUBUS_OK);
            ck_assert(x[0] == one && x[1] == two && x[2] == two);
        }
    }
}
END_TEST

START_TEST(buffer_may_go_while_its_work_waits)
{
    for (int i = 1; i <= TRIES; i++) {
        void *other = NULL;
        ck_assert_int_eq(dev->ops->buffer_create(dev->ctx, sizeof host, &other),
                         RUBUS_OK);
        const double one = i;
        ck_assert_int_eq(
            dev->ops->fill(dev->ctx, other, 0, sizeof host, &one, sizeof one), RUBUS_OK);
        ck_assert_int_eq(dev->ops->copy(dev->ctx, buffer, 0, other, 0, sizeof host),
                         RUBUS_OK);
        dev->ops->buffer_destroy(dev->ctx, other);
        double back[N];
        ck_assert_int_eq(dev->ops->read(dev->ctx, buffer, 0, back, sizeof back),
                         RUBUS_OK);
        ck_assert(back[0] == one && back[N - 1] == one);
    }
}
END_TEST

START_TEST(mistake_that_shows_at_once_is_told_at_once)
{
    double x = 1;
    ck_assert_int_eq(dev->ops->write(dev->ctx, buffer, sizeof host, &x, 8), RUBUS_EINVAL);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "writing to a buffer"));
    ck_assert_int_eq(dev->ops->fill(dev->ctx, buffer, 4, 8, &x, 8), RUBUS_EINVAL);
    ck_assert_int_eq(dev->ops->copy(dev->ctx, buffer, 0, buffer, 8, sizeof host),
                     RUBUS_EINVAL);
    ck_assert_int_eq(dev->ops->synchronize(dev->ctx), RUBUS_OK);
}
END_TEST

/* The inner backend cannot start its pool then: no memory for it at the first launch
 * that is shared, which is found when the queue comes to it. */
START_TEST(failure_of_queued_work_is_told_once_by_a_waiting_call)
{
    dev->ops->buffer_destroy(dev->ctx, buffer);
    rubus__device_close(dev);
    ck_assert_int_eq(rubus__device_open("chaos:threads=3", &dev), RUBUS_OK);
    enum { LARGE = 1 << 20 };
    ck_assert_int_eq(dev->ops->buffer_create(dev->ctx, LARGE, &buffer), RUBUS_OK);
    ck_assert_int_eq(dev->ops->synchronize(dev->ctx), RUBUS_OK);
    const double zero = 0;
    rubus__alloc_fail_after(1, false);
    ck_assert_int_eq(dev->ops->fill(dev->ctx, buffer, 0, LARGE, &zero, 8), RUBUS_OK);
    rubus_status st = dev->ops->synchronize(dev->ctx);
    rubus__alloc_fail_after(0, false);
    ck_assert_int_eq(st, RUBUS_ENOMEM);
    ck_assert_msg(strstr(rubus_error_text(), "out of memory") != NULL, "%s",
                  rubus_error_text());
    ck_assert_int_eq(dev->ops->synchronize(dev->ctx), RUBUS_OK);
    ck_assert_int_eq(dev->ops->fill(dev->ctx, buffer, 0, LARGE, &zero, 8), RUBUS_OK);
    ck_assert_int_eq(dev->ops->synchronize(dev->ctx), RUBUS_OK);
}
END_TEST

START_TEST(context_may_go_while_its_work_waits)
{
    for (int i = 1; i <= 20; i++) {
        rubus__device *other = NULL;
        void *b = NULL;
        ck_assert_int_eq(rubus__device_open("chaos:threads=1", &other), RUBUS_OK);
        ck_assert_int_eq(other->ops->buffer_create(other->ctx, sizeof host, &b),
                         RUBUS_OK);
        for (int k = 0; k < 30; k++) {
            ck_assert_int_eq(other->ops->write(other->ctx, b, 0, host, sizeof host),
                             RUBUS_OK);
        }
        other->ops->buffer_destroy(other->ctx, b);
        rubus__device_close(other);
    }
}
END_TEST

static Suite *chaos_suite(void)
{
    TCase *tc = tcase_create("chaos");
    tcase_add_checked_fixture(tc, chaos_setup, chaos_teardown);
#ifndef __SANITIZE_THREAD__
    tcase_add_test(tc, work_is_done_after_its_call_returned);
#endif
    tcase_add_test(tc, source_of_a_write_may_change_at_once);
    tcase_add_test(tc, read_and_map_see_all_that_came_before);
    tcase_add_test(tc, buffer_may_go_while_its_work_waits);
    tcase_add_test(tc, mistake_that_shows_at_once_is_told_at_once);
    tcase_add_test(tc, failure_of_queued_work_is_told_once_by_a_waiting_call);
    tcase_add_test(tc, context_may_go_while_its_work_waits);
    Suite *suite = suite_create("plugins: chaos");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("plugins: chaos", chaos_suite)
