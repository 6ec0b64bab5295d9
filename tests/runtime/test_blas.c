/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fill and copy where a backend has no slot for them: kernels of the library run on its
 * device, and bytes go through the host where those cannot be built.
 */
#include "config.h"

#include <check.h>

#include "libcore/runtime/plugin.h"
#include "tests/support/backends.h"
#include "tests/support/faulty_ops.h"
#include "tests/support/suite.h"

static int nwarning;
static char warning[1024];

static void take_log(void *user, int32_t level, const char *topic, const char *text)
{
    (void)user;
    if (level == RUBUS__LOG_WARNING && strcmp(topic, "context") == 0) {
        nwarning++;
        snprintf(warning, sizeof warning, "%s", text);
    }
}

/* Every backend, as if it had neither slot. */
static rubus_context *open_bare(int at)
{
    rubus_context *context = backends_open(at);
    faulty_install(context);
    faulty_table.fill = NULL;
    faulty_table.copy = NULL;
    rubus__table_complete(context->dev);
    nwarning = 0;
    rubus_log_set(take_log, NULL);
    return context;
}

static void finish_bare(rubus_context *context)
{
    rubus_log_set(NULL, NULL);
    backends_finish(context);
}

static rubus_context_counters counters_of(rubus_context *context)
{
    rubus_context_counters counters = {.struct_size = sizeof counters};
    ok(rubus_context_counters_get(context, &counters));
    return counters;
}

/* Patterns and copies of every size at every phase. */
static void check_moves(rubus_context *context)
{
    static const int32_t types[] = {RUBUS_F64, RUBUS_F32, RUBUS_BOOL};
    enum { N = 67 };
    for (int t = 0; t < 3; t++) {
        const size_t size = rubus__type_size(types[t]);
        rubus_array *a = NULL;
        rubus_array *b = NULL;
        char zero[N * 8];
        char pattern[8];
        char host[N * 8];
        ok(rubus_array_create(context, types[t], RUBUS_SHAPE(N), &a));
        ok(rubus_array_create(context, types[t], RUBUS_SHAPE(N), &b));
        ok(rubus_array_fill(a, 1.25));
        ok(rubus_array_read_range(a, 0, 1, pattern));
        memset(zero, 0, sizeof zero);
        for (int first = 0; first < 9; first++) {
            for (int n = 0; n < 9; n++) {
                rubus_array *from = NULL;
                rubus_array *to = NULL;
                ok(rubus_array_fill(b, 0));
                ok(rubus_array_view(a, 2 * n, RUBUS_SHAPE(n), &from));
                ok(rubus_array_view(b, first, RUBUS_SHAPE(n), &to));
                if (n % 2 == 0) {
                    ok(rubus_array_copy(to, from));
                } else {
                    ok(rubus_array_fill(to, 1.25));
                }
                ok(rubus_array_read(b, host, rubus_array_nbyte(b)));
                for (int k = 0; k < N; k++) {
                    const bool in = k >= first && k < first + n;
                    ck_assert_msg(
                        memcmp(host + (size_t)k * size, in ? pattern : zero, size) == 0,
                        "type %d, %d elements at %d: element %d", types[t], n, first, k);
                }
                rubus_array_destroy(from);
                rubus_array_destroy(to);
            }
        }
        rubus_array_destroy(a);
        rubus_array_destroy(b);
    }
}

START_TEST(kernels_stand_in_for_the_slots)
{
    rubus_context *context = open_bare(_i);
    check_moves(context);
    const rubus_context_counters counters = counters_of(context);
    ck_assert_uint_eq(counters.modules_built, 1);
    ck_assert_uint_gt(counters.launches, 0);
    ck_assert_uint_eq(counters.write_calls, 0); // nothing went through the host
    ck_assert_int_eq(nwarning, 0);
    finish_bare(context);
}
END_TEST

START_TEST(host_stands_in_where_kernels_cannot_be_built)
{
    rubus_context *context = open_bare(_i);
    rubus_array *a = NULL;
    faulty_status = RUBUS_EUNSUPPORTED; // also for what follows, so the array fails
    fails(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(3), &a), RUBUS_EUNSUPPORTED,
          "slot buffer_create");
    ck_assert_int_eq(nwarning, 1);
    ck_assert_ptr_nonnull(strstr(warning, "fill and copy go through the host"));
    ck_assert_ptr_nonnull(strstr(warning, "slot module_create: the cable was pulled"));
    faulty_status = RUBUS_OK;
    check_moves(context);
    ck_assert_int_eq(nwarning, 1); // tried once
    ck_assert_uint_eq(counters_of(context).launches, 0);
    finish_bare(context);
}
END_TEST

START_TEST(failure_of_a_kernel_is_the_failure_of_the_call)
{
    rubus_context *context = open_bare(_i);
    rubus_array *a = NULL;
    rubus_array *b = NULL;
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(3), &a));
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(3), &b));
    faulty_status = RUBUS_ETIMEOUT;
    fails(rubus_array_fill(a, 1), RUBUS_ETIMEOUT, "slot launch");
    fails(rubus_array_copy(a, b), RUBUS_ETIMEOUT, "slot launch");
    faulty_status = RUBUS_OK;
    ok(rubus_array_fill(a, 1));
    ck_assert(backends_get(a, 2) == 1);
    rubus_array_destroy(a);
    rubus_array_destroy(b);
    finish_bare(context);
}
END_TEST

START_TEST(kernels_are_built_after_a_shortage_of_memory)
{
    rubus_context *context = open_bare(_i);
    rubus_array *a = NULL;
    for (int64_t n = 1;; n++) {
        rubus__alloc_fail_after(n, false);
        const rubus_status st = rubus__blas_prepare(context);
        rubus__alloc_fail_after(0, false);
        if (st == RUBUS_OK) {
            break;
        }
        ck_assert_msg(st == RUBUS_ENOMEM, "%lld: %s", (long long)n, rubus_error_text());
        ck_assert_ptr_null(context->blas);
    }
    ck_assert_ptr_nonnull(context->blas);
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(3), &a));
    ck_assert_uint_gt(counters_of(context).launches, 0);
    rubus_array_destroy(a);
    ck_assert_int_eq(nwarning, 0);
    finish_bare(context);
}
END_TEST

static Suite *blas_suite(void)
{
    TCase *tc = tcase_create("blas");
    backends_add(tc, kernels_stand_in_for_the_slots);
    backends_add(tc, host_stands_in_where_kernels_cannot_be_built);
    backends_add(tc, failure_of_a_kernel_is_the_failure_of_the_call);
    backends_add(tc, kernels_are_built_after_a_shortage_of_memory);
    Suite *suite = suite_create("runtime: fill and copy as kernels");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: fill and copy as kernels", blas_suite)
