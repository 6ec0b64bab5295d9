/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules built with checks: an access that leaves its array is found where it is made,
 * nothing is written through it, the next waiting call says so once, and the context goes
 * on; also when the module is gone by then, or sizes changed between two launches.
 */
#include "config.h"

#include <check.h>

#include "tests/support/backends.h"
#include "tests/support/faulty_ops.h"
#include "tests/support/suite.h"

static const char source[] =
    "kernel gather(out real a[n], in real b[m], in index at[n]) over (i)\n"
    "{\n"
    "    a[i] = b[at[i]];\n"
    "}\n"
    "kernel spread(inout real grid[nx, ny], in index at[n], real v) over (i in 0:n)\n"
    "{\n"
    "    if (at[i] != 0) grid[at[i], at[i] + 1] = v;\n"
    "}\n"
    "kernel plain(inout real a[n]) { a += 1; }\n";

static rubus_context *context;
static rubus_module *module;
static rubus_array *grid; /* 6 x 5 of zeros */
static rubus_array *at;   /* subscripts 0 0 0 1 */

static void put(int32_t last)
{
    const int32_t host[4] = {0, 0, 0, last};
    ok(rubus_array_write(at, host, sizeof host));
}

static void begin(int i)
{
    context = backends_open(i);
    module = backends_module(context, source, RUBUS_F64, 1);
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(6, 5), &grid));
    ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(4), &at));
    put(1);
}

static void end(void)
{
    rubus_array_destroy(grid);
    rubus_array_destroy(at);
    rubus_module_destroy(module);
    backends_finish(context);
}

static void spread(int32_t last)
{
    put(last);
    ok(rubus_launch(backends_kernel(module, "spread"), grid, at, 9.0));
}

/* What a report must tell; the interpreter has words of its own. */
static const char *words(int i, const char *kernel, int line, const char *array,
                         const char *index, const char *extents)
{
    static char text[300];
    snprintf(
        text, sizeof text,
        i == 0 ? "kernel `%s`|test.rk:%d: |`%s[%s]`|extents %s"
               : "kernel `%s`|test.rk:%d:|`%s`|index [%s]|[%s]; the access was not made",
        kernel, line, array, index, extents);
    return text;
}

/* All elements but (1, 2) are zero. */
static void check_grid(double at_1_2)
{
    double host[30];
    ok(rubus_array_read(grid, host, sizeof host));
    for (int k = 0; k < 30; k++) {
        const double want = k == 13 ? at_1_2 : 0;
        ck_assert_msg(host[k] == want, "element %d is %g, not %g", k, host[k], want);
    }
}

START_TEST(access_inside_is_made)
{
    begin(_i);
    spread(1);
    ok(rubus_context_synchronize(context));
    check_grid(9);
    end();
}
END_TEST

START_TEST(access_outside_is_reported_once_and_not_made)
{
    // subscripts at the first dimension, at the second, far off, below
    static const struct {
        int32_t last;
        const char *index;
    } cases[] = {
        {6, "6, 7"}, {4, "4, 5"}, {2000000000, "2000000000, 2000000001"}, {-3, "-3, -2"}};
    begin(_i);
    for (int k = 0; k < 4; k++) {
        spread(cases[k].last);
        fails(rubus_context_synchronize(context), RUBUS_EBOUNDS,
              words(_i, "spread", 7, "grid", cases[k].index, "6, 5"));
        ok(rubus_context_synchronize(context));
        check_grid(0);
    }
    spread(1);
    check_grid(9);
    end();
}
END_TEST

START_TEST(access_outside_is_reported_by_every_waiting_call)
{
    begin(_i);
    const char *all = words(_i, "spread", 7, "grid", "6, 7", "6, 5");
    double host[30];
    void *p = NULL;
    double *values = NULL;
    spread(6);
    fails(rubus_array_read(grid, host, sizeof host), RUBUS_EBOUNDS, all);
    ok(rubus_array_read(grid, host, sizeof host));
    spread(6);
    fails(rubus_array_read_range(grid, 3, 1, host), RUBUS_EBOUNDS, all);
    ok(rubus_array_read_range(grid, 3, 1, host));
    spread(6);
    fails(rubus_array_map(grid, RUBUS_READ, &p), RUBUS_EBOUNDS, all);
    ok(rubus_array_map(grid, RUBUS_READ, (void **)&values));
    ck_assert(values[0] == 0);
    ok(rubus_array_unmap(grid));

    // a result is waited for, also one of another module
    rubus_module *other =
        backends_module(context, "reduce sum all(in real a[,]) = a;\n", RUBUS_F64, 0);
    double sum = -1;
    spread(6);
    fails(rubus_launch(backends_kernel(other, "all"), grid, &sum), RUBUS_EBOUNDS, all);
    ck_assert(sum == -1);
    ok(rubus_launch(backends_kernel(other, "all"), grid, &sum));
    ck_assert(sum == 0);
    rubus_module_destroy(other);
    end();
}
END_TEST

START_TEST(access_outside_is_reported_after_the_module_is_gone)
{
    begin(_i);
    spread(6);
    fails(rubus_array_create(context, 99, RUBUS_SHAPE(1), &at), RUBUS_EINVAL, "99");
    rubus_module_destroy(module);
    backends_text_has("99", "the error text stays over destroy", __LINE__);
    fails(rubus_context_synchronize(context), RUBUS_EBOUNDS,
          words(_i, "spread", 7, "grid", "6, 7", "6, 5"));
    ok(rubus_context_synchronize(context));
    module = backends_module(context, source, RUBUS_F64, 1);
    check_grid(0);
    spread(6);
    rubus_module_destroy(module); // nobody waits any more
    module = NULL;
    end();
}
END_TEST

START_TEST(report_has_the_extents_of_its_own_launch)
{
    begin(_i);
    rubus_array *large = NULL;
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(60, 50), &large));
    spread(6);
    ok(rubus_launch(backends_kernel(module, "spread"), large, at, 9.0));
    rubus_array *line = backends_ramp(context, 3, 0);
    ok(rubus_launch(backends_kernel(module, "plain"), line));
    fails(rubus_context_synchronize(context), RUBUS_EBOUNDS,
          words(_i, "spread", 7, "grid", "6, 7", "6, 5"));
    ok(rubus_context_synchronize(context));
    ck_assert(backends_get(large, 6 + 60 * 7) == 9);
    rubus_array_destroy(large);
    rubus_array_destroy(line);
    end();
}
END_TEST

START_TEST(access_through_an_index_array_is_tested)
{
    begin(_i);
    rubus_array *a = backends_ramp(context, 4, 50);
    rubus_array *b = backends_ramp(context, 7, 100);
    put(7);
    ok(rubus_launch(backends_kernel(module, "gather"), a, b, at));
    fails(rubus_context_synchronize(context), RUBUS_EBOUNDS,
          words(_i, "gather", 3, "b", "7", "7"));
    ck_assert(backends_get(a, 0) == 100);
    put(6);
    ok(rubus_launch(backends_kernel(module, "gather"), a, b, at));
    ck_assert(backends_get(a, 3) == 106);
    rubus_array_destroy(a);
    rubus_array_destroy(b);
    end();
}
END_TEST

START_TEST(report_survives_a_device_that_fails)
{
    begin(_i);
    spread(1);
    faulty_install(context);
    faulty_status = RUBUS_ETIMEOUT;
    double x = 0;
    fails(rubus_array_read_range(grid, 0, 1, &x), RUBUS_ETIMEOUT, "cable was pulled");
    faulty_status = RUBUS_OK;
    spread(1);
    faulty_status = RUBUS_ELOST;
    fails(rubus_context_synchronize(context), RUBUS_ELOST, "cable was pulled");
    faulty_calls = 0;
    rubus_module_destroy(module); // the record of a lost device is not asked for
    ck_assert_int_eq(faulty_calls, 0);
    module = NULL;
    end();
}
END_TEST

START_TEST(damaged_record_is_found)
{
    begin(_i);
    if (module->error_buffer != NULL) {
        const int64_t record[RK_ERROR_WORDS] = {1000, 1, 2, 3};
        spread(1);
        ok(context->dev->ops->write(context->dev->ctx, module->error_buffer, 0, record,
                                    sizeof record));
        fails(rubus_context_synchronize(context), RUBUS_EINTERNAL, "test.rk|damaged");
        ok(rubus_context_synchronize(context));
    } else {
        ck_assert_int_eq(_i, 0); // only the interpreter tests without a record
    }
    end();
}
END_TEST

static Suite *checked_suite(void)
{
    TCase *tc = tcase_create("checked");
    backends_add(tc, access_inside_is_made);
    backends_add(tc, access_outside_is_reported_once_and_not_made);
    backends_add(tc, access_outside_is_reported_by_every_waiting_call);
    backends_add(tc, access_outside_is_reported_after_the_module_is_gone);
    backends_add(tc, report_has_the_extents_of_its_own_launch);
    backends_add(tc, access_through_an_index_array_is_tested);
    backends_add(tc, report_survives_a_device_that_fails);
    backends_add(tc, damaged_record_is_found);
    Suite *suite = suite_create("runtime: checked modules");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: checked modules", checked_suite)
