/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that share memory or exchange it: views, copies inside and between contexts,
 * mapping, and the states that forbid a call.
 */
#include "config.h"

#include <check.h>

#include "libcore/runtime/runtime.h"
#include "tests/support/backends.h"
#include "tests/support/suite.h"

START_TEST(view_shares_memory_and_keeps_it_alive)
{
    rubus_context *context = backends_open(_i);
    rubus_array *parent = backends_ramp(context, 100, 0);
    rubus_array *view = NULL;
    rubus_array *inner = NULL;
    ok(rubus_array_view(parent, 10, RUBUS_SHAPE(6, 5), &view));
    ok(rubus_array_view(view, 3, RUBUS_SHAPE(4), &inner));
    ck_assert_int_eq(rubus_array_count(view), 30);
    ck_assert(backends_get(inner, 0) == 13);
    ok(rubus_array_fill(inner, -1));
    ck_assert(backends_get(parent, 12) == 12 && backends_get(parent, 13) == -1);
    ck_assert(backends_get(view, 6) == -1 && backends_get(view, 7) == 17);
    rubus_array_destroy(parent);
    rubus_array_destroy(view);
    ck_assert(backends_get(inner, 3) == -1);
    rubus_array_destroy(inner);
    backends_finish(context);
}
END_TEST

START_TEST(view_outside_its_parent_is_refused)
{
    rubus_context *context = backends_open(_i);
    rubus_array *parent = backends_ramp(context, 100, 0);
    rubus_array *view = NULL;
    fails(rubus_array_view(NULL, 0, RUBUS_SHAPE(1), &view), RUBUS_EINVAL,
          "rubus_array_view|parent is NULL");
    fails(rubus_array_view(parent, 0, RUBUS_SHAPE(1), NULL), RUBUS_EINVAL,
          "out_array is NULL");
    fails(rubus_array_view(parent, 0, RUBUS_SHAPE(1, -1), &view), RUBUS_EINVAL,
          "extent 1 is -1");
    fails(rubus_array_view(parent, 71, RUBUS_SHAPE(6, 5), &view), RUBUS_ESHAPE,
          "30 elements|number 71|which has 100");
    fails(rubus_array_view(parent, -1, RUBUS_SHAPE(2), &view), RUBUS_ESHAPE, "number -1");
    fails(rubus_array_view(parent, 0, RUBUS_SHAPE(101), &view), RUBUS_ESHAPE,
          "101 elements");
    fails(rubus_array_view(parent, INT64_MAX, RUBUS_SHAPE(50), &view), RUBUS_ESHAPE,
          "number 9223372036854775807");
    fails(rubus_array_view(parent, 0, RUBUS_SHAPE(INT64_MAX), &view), RUBUS_ELIMIT,
          "2^63");
    ck_assert_ptr_null(view);
    ok(rubus_array_view(parent, 100, RUBUS_SHAPE(0), &view));
    rubus_array_destroy(view);
    rubus_array_destroy(parent);
    backends_finish(context);
}
END_TEST

START_TEST(view_that_the_device_cannot_address_is_refused)
{
    rubus_context *context = backends_open(_i);
    rubus_array *parent = backends_ramp(context, 100, 0);
    rubus_array *view = NULL;
    rubus__device *dev = context->dev;
    dev->caps.offset_align = 64;
    fails(rubus_array_view(parent, 9, RUBUS_SHAPE(4), &view), RUBUS_EUNSUPPORTED,
          "multiple of 64 bytes|begins at 72");
    ok(rubus_array_view(parent, 8, RUBUS_SHAPE(4), &view));
    rubus_array_destroy(view);
    rubus_array_destroy(parent);
    backends_finish(context);
}
END_TEST

START_TEST(copy_gives_equal_elements_of_every_size)
{
    rubus_context *context = backends_open(_i);
    enum { N = 1031 };
    static const int32_t types[] = {RUBUS_F32, RUBUS_F64, RUBUS_BOOL};
    for (int t = 0; t < 3; t++) {
        char a_host[N * 8];
        char b_host[N * 8];
        for (int i = 0; i < N * 8; i++) {
            a_host[i] = (char)(types[t] == RUBUS_BOOL ? i % 3 == 0 : i * 13 + 1);
        }
        rubus_array *a = NULL;
        rubus_array *b = NULL;
        rubus_array *from = NULL;
        rubus_array *to = NULL;
        ok(rubus_array_from(context, types[t], RUBUS_SHAPE(N), a_host, &a));
        ok(rubus_array_create(context, types[t], RUBUS_SHAPE(N), &b));
        ok(rubus_array_copy(b, a));
        const size_t nbyte = rubus_array_nbyte(a);
        ok(rubus_array_read(b, b_host, nbyte));
        ck_assert_int_eq(memcmp(a_host, b_host, nbyte), 0);
        // windows at odd places, within one memory
        ok(rubus_array_view(a, 3, RUBUS_SHAPE(101), &from));
        ok(rubus_array_view(a, 504, RUBUS_SHAPE(101), &to));
        ok(rubus_array_copy(to, from));
        ok(rubus_array_read(a, b_host, nbyte));
        const size_t size = nbyte / N;
        memmove(a_host + 504 * size, a_host + 3 * size, 101 * size);
        ck_assert_int_eq(memcmp(a_host, b_host, nbyte), 0);
        rubus_array_destroy(from);
        rubus_array_destroy(to);
        rubus_array_destroy(a);
        rubus_array_destroy(b);
    }
    backends_finish(context);
}
END_TEST

START_TEST(copy_between_contexts_goes_through_the_host)
{
    rubus_context *here = backends_open(_i);
    rubus_context *there = backends_open((_i + 1) % BACKENDS);
    enum { N = 700001 }; // more than one piece of 4 MiB
    rubus_array *a = backends_ramp(here, N, 5);
    rubus_array *b = NULL;
    void *p = NULL;
    ok(rubus_array_create(there, RUBUS_F64, RUBUS_SHAPE(N), &b));
    ok(rubus_array_copy(b, a));
    ck_assert(backends_get(b, 0) == 5 && backends_get(b, N - 1) == N + 4);
    ck_assert(backends_get(b, 600000) == 600005);
    ok(rubus_array_map(a, RUBUS_READ, &p));
    fails(rubus_array_copy(b, a), RUBUS_ESTATE, "rubus_array_copy|mapped");
    ok(rubus_array_unmap(a));
    ok(rubus_array_map(b, RUBUS_READ, &p));
    fails(rubus_array_copy(b, a), RUBUS_ESTATE, "rubus_array_copy|mapped");
    rubus_array_destroy(a);
    rubus_array_destroy(b);
    rubus_context_destroy(there);
    backends_finish(here);
}
END_TEST

START_TEST(copy_refuses_what_is_not_alike)
{
    rubus_context *context = backends_open(_i);
    rubus_array *a = backends_ramp(context, 12, 0);
    rubus_array *other = NULL;
    rubus_array *window = NULL;
    rubus_array *next = NULL;
    ok(rubus_array_create(context, RUBUS_F32, RUBUS_SHAPE(12), &other));
    fails(rubus_array_copy(a, other), RUBUS_ETYPE, "from f32 to f64");
    rubus_array_destroy(other);
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(3, 4), &other));
    fails(rubus_array_copy(a, other), RUBUS_ESHAPE, "12 and 12 elements, rank 2 and 1");
    rubus_array_destroy(other);
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(13), &other));
    fails(rubus_array_copy(a, other), RUBUS_ESHAPE, "13 and 12 elements");
    rubus_array_destroy(other);
    fails(rubus_array_copy(a, a), RUBUS_EALIAS, "overlap");
    ok(rubus_array_view(a, 0, RUBUS_SHAPE(5), &window));
    ok(rubus_array_view(a, 4, RUBUS_SHAPE(5), &next));
    fails(rubus_array_copy(window, next), RUBUS_EALIAS, "overlap");
    rubus_array_destroy(next);
    ok(rubus_array_view(a, 5, RUBUS_SHAPE(5), &next));
    ok(rubus_array_copy(window, next));
    ck_assert(backends_get(a, 4) == 9);
    void *p = NULL;
    ok(rubus_array_map(next, RUBUS_READ, &p));
    fails(rubus_array_copy(window, next), RUBUS_ESTATE, "source is mapped");
    rubus_array_destroy(next);
    rubus_array_destroy(window);
    rubus_array_destroy(a);
    backends_finish(context);
}
END_TEST

START_TEST(map_gives_the_elements_and_takes_them_back)
{
    rubus_context *context = backends_open(_i);
    rubus_array *a = backends_ramp(context, 100, 0);
    rubus_array *view = NULL;
    double *p = NULL;
    ok(rubus_array_view(a, 20, RUBUS_SHAPE(30), &view));
    ok(rubus_array_map(view, RUBUS_READ | RUBUS_WRITE, (void **)&p));
    ck_assert(p[0] == 20 && p[29] == 49);
    p[29] = -5;
    ok(rubus_array_unmap(view));
    ck_assert(backends_get(a, 49) == -5 && backends_get(a, 50) == 50);
    ok(rubus_array_map(a, RUBUS_WRITE, (void **)&p));
    for (int i = 0; i < 100; i++) {
        p[i] = 2 * i;
    }
    ok(rubus_array_unmap(a));
    ck_assert(backends_get(view, 1) == 42);
    rubus_array_destroy(view);
    rubus_array_destroy(a);
    backends_finish(context);
}
END_TEST

START_TEST(map_forbids_other_calls_on_the_same_elements)
{
    rubus_context *context = backends_open(_i);
    rubus_array *a = backends_ramp(context, 100, 0);
    rubus_array *low = NULL;
    rubus_array *high = NULL;
    double host[100];
    void *p = NULL;
    ok(rubus_array_view(a, 0, RUBUS_SHAPE(50), &low));
    ok(rubus_array_view(a, 50, RUBUS_SHAPE(50), &high));
    fails(rubus_array_unmap(a), RUBUS_ESTATE, "rubus_array_unmap|not mapped");
    ok(rubus_array_map(low, RUBUS_READ | RUBUS_WRITE, &p));
    const char words[] = "is mapped; unmap it first";
    fails(rubus_array_map(low, RUBUS_READ, &p), RUBUS_ESTATE, words);
    fails(rubus_array_map(a, RUBUS_READ, &p), RUBUS_ESTATE, words);
    fails(rubus_array_map(high, RUBUS_READ, &p), RUBUS_ESTATE, "another window");
    fails(rubus_array_unmap(a), RUBUS_ESTATE, "not mapped");
    fails(rubus_array_read(a, host, sizeof host), RUBUS_ESTATE, words);
    fails(rubus_array_write(low, host, 400), RUBUS_ESTATE, words);
    fails(rubus_array_read_range(a, 60, 1, host), RUBUS_ESTATE, words);
    fails(rubus_array_write_range(low, 0, 1, host), RUBUS_ESTATE, words);
    fails(rubus_array_fill(a, 1), RUBUS_ESTATE, words);
    fails(rubus_array_random(a, 1, 0, 1), RUBUS_ESTATE, words);
    fails(rubus_array_copy(high, low), RUBUS_ESTATE, words);
    fails(rubus_array_copy(low, high), RUBUS_ESTATE, words);
    ck_assert(backends_get(high, 3) == 53); // elements that are not mapped
    ok(rubus_array_unmap(low));
    ok(rubus_array_read(a, host, sizeof host));
    rubus_array_destroy(low);
    rubus_array_destroy(high);
    rubus_array_destroy(a);
    backends_finish(context);
}
END_TEST

START_TEST(map_wrong_arguments_are_named)
{
    rubus_context *context = backends_open(_i);
    rubus_array *a = backends_ramp(context, 10, 0);
    void *p = NULL;
    fails(rubus_array_map(NULL, RUBUS_READ, &p), RUBUS_EINVAL,
          "rubus_array_map|the array is NULL");
    fails(rubus_array_map(a, 0, &p), RUBUS_EINVAL, "access must be");
    fails(rubus_array_map(a, 4, &p), RUBUS_EINVAL, "access must be");
    fails(rubus_array_map(a, RUBUS_READ, NULL), RUBUS_EINVAL, "out_data");
    fails(rubus_array_unmap(NULL), RUBUS_EINVAL, "rubus_array_unmap|the array is NULL");
    ck_assert_ptr_null(p);
    rubus_array_destroy(a);
    backends_finish(context);
}
END_TEST

START_TEST(map_ends_when_the_array_is_destroyed)
{
    rubus_context *context = backends_open(_i);
    rubus_array *a = backends_ramp(context, 100, 0);
    rubus_array *view = NULL;
    double *p = NULL;
    ok(rubus_array_view(a, 20, RUBUS_SHAPE(30), &view));
    ok(rubus_array_map(view, RUBUS_WRITE, (void **)&p));
    for (int i = 0; i < 30; i++) {
        p[i] = -1;
    }
    rubus_array_destroy(view);
    ck_assert(backends_get(a, 20) == -1);
    ok(rubus_array_fill(a, 4));
    rubus_array_destroy(a);
    backends_finish(context);
}
END_TEST

/* --- axpy ------------------------------------------------------------------------- */

static double real_of(rubus_array *array, int64_t at)
{
    float narrow = 0;
    if (rubus_array_type(array) == RUBUS_F64) {
        return backends_get(array, at);
    }
    ok(rubus_array_read_range(array, at, 1, &narrow));
    return (double)narrow;
}

START_TEST(axpy_adds_a_multiple)
{
    rubus_context *context = backends_open(_i);
    for (int32_t real = RUBUS_F32; real <= RUBUS_F64; real++) {
        double f64[2][15];
        float f32[2][15];
        for (int k = 0; k < 15; k++) {
            f32[0][k] = (float)(f64[0][k] = k);
            f32[1][k] = (float)(f64[1][k] = 100 - k);
        }
        rubus_array *x = NULL;
        rubus_array *y = NULL;
        rubus_array *part = NULL;
        rubus_array *empty[2] = {NULL, NULL};
        const bool wide = real == RUBUS_F64;
        ok(rubus_array_from(context, real, RUBUS_SHAPE(5, 3),
                            wide ? (void *)f64[0] : (void *)f32[0], &x));
        ok(rubus_array_from(context, real, RUBUS_SHAPE(5, 3),
                            wide ? (void *)f64[1] : (void *)f32[1], &y));
        ok(rubus_array_axpy(-2.5, x, y));
        for (int k = 0; k < 15; k++) {
            ck_assert(real_of(y, k) == 100 - k - 2.5 * k);
            ck_assert(real_of(x, k) == k);
        }
        rubus_array_destroy(x);
        ok(rubus_array_create(context, real, RUBUS_SHAPE(4), &x));
        ok(rubus_array_fill(x, 1));
        ok(rubus_array_fill(y, 0));
        ok(rubus_array_view(y, 8, RUBUS_SHAPE(4), &part));
        ok(rubus_array_axpy(3, x, part)); // and nothing beside it
        for (int k = 0; k < 15; k++) {
            ck_assert(real_of(y, k) == (k >= 8 && k < 12 ? 3 : 0));
        }
        ok(rubus_array_create(context, real, RUBUS_SHAPE(0), &empty[0]));
        ok(rubus_array_create(context, real, RUBUS_SHAPE(0), &empty[1]));
        ok(rubus_array_axpy(1, empty[0], empty[1]));
        rubus_array_destroy(empty[0]);
        rubus_array_destroy(empty[1]);
        rubus_array_destroy(part);
        rubus_array_destroy(x);
        rubus_array_destroy(y);
    }
    backends_finish(context);
}
END_TEST

START_TEST(axpy_refuses_what_does_not_fit)
{
    rubus_context *context = backends_open(_i);
    rubus_context *away = backends_open(0);
    rubus_array *y = backends_ramp(context, 12, 0);
    rubus_array *x = backends_ramp(context, 12, 0);
    rubus_array *foreign = backends_ramp(away, 12, 0);
    rubus_array *other = NULL;
    fails(rubus_array_axpy(1, NULL, y), RUBUS_EINVAL, "rubus_array_axpy|x is NULL");
    fails(rubus_array_axpy(1, x, NULL), RUBUS_EINVAL, "rubus_array_axpy|y is NULL");
    fails(rubus_array_axpy(1, foreign, y), RUBUS_EFOREIGN,
          "rubus_array_axpy|another context|rubus_array_copy");
    ok(rubus_array_create(context, RUBUS_F32, RUBUS_SHAPE(12), &other));
    fails(rubus_array_axpy(1, other, y), RUBUS_ETYPE, "from f32 to f64");
    rubus_array_destroy(other);
    ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(12), &other));
    fails(rubus_array_axpy(1, other, other), RUBUS_ETYPE, "arrays of i32");
    rubus_array_destroy(other);
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(3, 4), &other));
    fails(rubus_array_axpy(1, other, y), RUBUS_ESHAPE, "rank 2 and 1");
    fails(rubus_array_axpy(1, y, y), RUBUS_EALIAS, "rubus_array_axpy|overlap");
    void *p = NULL;
    ok(rubus_array_map(x, RUBUS_READ, &p));
    fails(rubus_array_axpy(1, x, y), RUBUS_ESTATE, "x is mapped");
    fails(rubus_array_axpy(1, y, x), RUBUS_ESTATE, "rubus_array_axpy|mapped");
    ok(rubus_array_unmap(x));
    ck_assert(backends_get(y, 11) == 11);
    ok(rubus_array_axpy(1, x, y));
    ck_assert(backends_get(y, 11) == 22);
    rubus_context_destroy_all(away);
    rubus_array_destroy(other);
    rubus_array_destroy(x);
    rubus_array_destroy(y);
    backends_finish(context);
}
END_TEST

static Suite *share_suite(void)
{
    TCase *tc = tcase_create("share");
    backends_add(tc, view_shares_memory_and_keeps_it_alive);
    backends_add(tc, view_outside_its_parent_is_refused);
    backends_add(tc, view_that_the_device_cannot_address_is_refused);
    backends_add(tc, copy_gives_equal_elements_of_every_size);
    backends_add(tc, copy_between_contexts_goes_through_the_host);
    backends_add(tc, copy_refuses_what_is_not_alike);
    backends_add(tc, axpy_adds_a_multiple);
    backends_add(tc, axpy_refuses_what_does_not_fit);
    backends_add(tc, map_gives_the_elements_and_takes_them_back);
    backends_add(tc, map_forbids_other_calls_on_the_same_elements);
    backends_add(tc, map_wrong_arguments_are_named);
    backends_add(tc, map_ends_when_the_array_is_destroyed);
    Suite *suite = suite_create("runtime: shared memory");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: shared memory", share_suite)
