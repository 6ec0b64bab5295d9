/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays: shapes, transfers whole and in part, fills, random numbers, copies inside and
 * between contexts, views, mapping; and what each refuses.
 */
#include "config.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "tests/support/backends.h"
#include "tests/support/suite.h"

static const int32_t types[] = {RUBUS_F32, RUBUS_F64, RUBUS_I32, RUBUS_I64, RUBUS_BOOL};
enum { NTYPE = sizeof types / sizeof types[0] };

START_TEST(array_create_is_zero_and_knows_its_shape)
{
    rubus_context *context = backends_open(_i);
    for (int t = 0; t < NTYPE; t++) {
        const size_t size = rubus__type_size(types[t]);
        rubus_array *a = NULL;
        char host[3 * 5 * 7 * 2 * 8];
        memset(host, 1, sizeof host);
        ok(rubus_array_create(context, types[t], RUBUS_SHAPE(3, 5, 7, 2), &a));
        ck_assert_int_eq(rubus_array_type(a), types[t]);
        ck_assert_int_eq(rubus_array_count(a), 210);
        ck_assert_uint_eq(rubus_array_nbyte(a), 210 * size);
        ck_assert_int_eq(rubus_array_shape(a).rank, 4);
        ck_assert_int_eq(rubus_array_shape(a).n[2], 7);
        ck_assert_ptr_eq(rubus_array_context(a), context);
        ok(rubus_array_read(a, host, 210 * size));
        for (size_t i = 0; i < 210 * size; i++) {
            ck_assert_msg(host[i] == 0, "byte %zu of type %d is %d", i, types[t],
                          host[i]);
        }
        rubus_array_destroy(a);
    }
    ck_assert_int_eq(rubus_array_type(NULL), 0);
    ck_assert_int_eq(rubus_array_shape(NULL).rank, 0);
    ck_assert_int_eq(rubus_array_count(NULL), 0);
    ck_assert_uint_eq(rubus_array_nbyte(NULL), 0);
    ck_assert_ptr_null(rubus_array_context(NULL));
    rubus_array_destroy(NULL);
    backends_finish(context);
}
END_TEST

START_TEST(array_create_refuses_wrong_shapes)
{
    rubus_context *context = backends_open(_i);
    rubus_array *a = NULL;
    const rubus_shape flat = {0, 0, {1, 1, 1, 1}};
    const rubus_shape deep = {5, 0, {1, 1, 1, 1}};
    const int64_t huge = INT64_C(1) << 31;
    fails(rubus_array_create(NULL, RUBUS_F64, RUBUS_SHAPE(1), &a), RUBUS_EINVAL,
          "rubus_array_create|context is NULL");
    fails(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(1), NULL), RUBUS_EINVAL,
          "out_array is NULL");
    fails(rubus_array_create(context, 17, RUBUS_SHAPE(1), &a), RUBUS_EINVAL,
          "17 is no element type");
    fails(rubus_array_create(context, RUBUS_F64, flat, &a), RUBUS_EINVAL,
          "rank 0|1 to 4");
    fails(rubus_array_create(context, RUBUS_F64, deep, &a), RUBUS_EINVAL,
          "rank 5|1 to 4");
    fails(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(4, -3), &a), RUBUS_EINVAL,
          "extent 1 is -3");
    fails(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(huge, huge), &a),
          RUBUS_ELIMIT, "2^63 bytes");
    const rubus_status st =
        rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(INT64_C(1) << 52), &a);
    ck_assert_msg(st == RUBUS_ELIMIT || st == RUBUS_EDEVMEM, "%s: %s",
                  rubus_status_name(st), rubus_error_text());
    backends_text_has("36028797018963968 bytes", "2^55 bytes", __LINE__);
    fails(rubus_array_from(context, RUBUS_F64, RUBUS_SHAPE(2), NULL, &a), RUBUS_EINVAL,
          "rubus_array_from|data is NULL");
    fails(rubus_array_from(context, RUBUS_F64, RUBUS_SHAPE(2), &huge, NULL), RUBUS_EINVAL,
          "rubus_array_from|out_array is NULL");
    ck_assert_ptr_null(a);
    backends_finish(context);
}
END_TEST

START_TEST(array_without_elements_is_legal)
{
    rubus_context *context = backends_open(_i);
    rubus_array *a = NULL;
    rubus_array *b = NULL;
    rubus_array *view = NULL;
    void *p = NULL;
    ok(rubus_array_create(context, RUBUS_F32, RUBUS_SHAPE(0, 7), &a));
    ok(rubus_array_from(context, RUBUS_F32, RUBUS_SHAPE(0, 7), NULL, &b));
    ok(rubus_array_read(a, NULL, 0));
    ok(rubus_array_write(a, NULL, 0));
    ok(rubus_array_fill(a, 3));
    ok(rubus_array_random(a, 1, 0, 1));
    ok(rubus_array_copy(a, b));
    ok(rubus_array_view(a, 0, RUBUS_SHAPE(5, 0), &view));
    ok(rubus_array_map(a, RUBUS_WRITE, &p));
    fails(rubus_array_fill(a, 3), RUBUS_ESTATE, "mapped");
    fails(rubus_array_random(a, 3, 0, 1), RUBUS_ESTATE, "mapped");
    ok(rubus_array_unmap(a));
    ck_assert_int_eq(rubus_array_count(a), 0);
    rubus_array_destroy(view);
    rubus_array_destroy(b);
    rubus_array_destroy(a);
    backends_finish(context);
}
END_TEST

START_TEST(array_ranges_move_their_elements_only)
{
    rubus_context *context = backends_open(_i);
    rubus_array *a = backends_ramp(context, 100, 0);
    const double fresh[3] = {-1, -2, -3};
    double host[100];
    ok(rubus_array_write_range(a, 40, 3, fresh));
    ok(rubus_array_read(a, host, sizeof host));
    for (int i = 0; i < 100; i++) {
        const double want = i >= 40 && i < 43 ? fresh[i - 40] : i;
        ck_assert_msg(host[i] == want, "element %d is %g, not %g", i, host[i], want);
    }
    ok(rubus_array_read_range(a, 98, 2, host));
    ck_assert(host[0] == 98 && host[1] == 99 && host[2] == 2);
    ok(rubus_array_read_range(a, 100, 0, NULL));
    ok(rubus_array_write_range(a, 0, 0, NULL));
    rubus_array_destroy(a);
    backends_finish(context);
}
END_TEST

START_TEST(array_transfer_refuses_what_does_not_fit)
{
    rubus_context *context = backends_open(_i);
    rubus_array *a = backends_ramp(context, 10, 0);
    double host[11] = {0};
    fails(rubus_array_read(a, host, 88), RUBUS_ESHAPE,
          "rubus_array_read|88 bytes given|has 80");
    fails(rubus_array_write(a, host, 72), RUBUS_ESHAPE,
          "rubus_array_write|72 bytes given|has 80");
    fails(rubus_array_read(a, NULL, 80), RUBUS_EINVAL, "host pointer is NULL");
    fails(rubus_array_write(a, NULL, 80), RUBUS_EINVAL, "host pointer is NULL");
    fails(rubus_array_read(NULL, host, 80), RUBUS_EINVAL, "the array is NULL");
    fails(rubus_array_write(NULL, host, 80), RUBUS_EINVAL, "the array is NULL");
    fails(rubus_array_read_range(NULL, 0, 1, host), RUBUS_EINVAL, "the array is NULL");
    fails(rubus_array_write_range(NULL, 0, 1, host), RUBUS_EINVAL, "the array is NULL");
    fails(rubus_array_fill(NULL, 0), RUBUS_EINVAL, "the array is NULL");
    fails(rubus_array_random(NULL, 0, 0, 1), RUBUS_EINVAL, "the array is NULL");
    fails(rubus_array_copy(NULL, a), RUBUS_EINVAL, "the array is NULL");
    fails(rubus_array_copy(a, NULL), RUBUS_EINVAL, "the array is NULL");
    static const int64_t outside[][2] = {
        {-1, 1}, {0, -1}, {0, 11}, {10, 1}, {INT64_MAX, INT64_MAX}, {INT64_MIN, 2}};
    for (size_t k = 0; k < sizeof outside / sizeof outside[0]; k++) {
        fails(rubus_array_read_range(a, outside[k][0], outside[k][1], host), RUBUS_ESHAPE,
              "rubus_array_read_range|not all in the array, which has 10");
        fails(rubus_array_write_range(a, outside[k][0], outside[k][1], host),
              RUBUS_ESHAPE, "rubus_array_write_range|not all in the array, which has 10");
    }
    ck_assert(backends_get(a, 9) == 9);
    rubus_array_destroy(a);
    backends_finish(context);
}
END_TEST

START_TEST(array_fill_converts_and_reaches_all_elements)
{
    rubus_context *context = backends_open(_i);
    enum { N = 1027 };
    for (int t = 0; t < NTYPE; t++) {
        rubus_array *a = NULL;
        rubus_array *view = NULL;
        union {
            float f32[N];
            double f64[N];
            int32_t i32[N];
            int64_t i64[N];
            uint8_t b[N];
        } host;
        ok(rubus_array_create(context, types[t], RUBUS_SHAPE(N), &a));
        ok(rubus_array_view(a, 1, RUBUS_SHAPE(N - 2), &view));
        ok(rubus_array_fill(view, -2.5));
        ok(rubus_array_read(a, &host, rubus_array_nbyte(a)));
        for (int i = 0; i < N; i++) {
            const bool in = i > 0 && i < N - 1;
            const double want = !in ? 0 : types[t] == RUBUS_BOOL ? 1 : t < 2 ? -2.5 : -2;
            const double got = types[t] == RUBUS_F32   ? (double)host.f32[i]
                               : types[t] == RUBUS_F64 ? host.f64[i]
                               : types[t] == RUBUS_I32 ? host.i32[i]
                               : types[t] == RUBUS_I64 ? (double)host.i64[i]
                                                       : host.b[i];
            ck_assert_msg(got == want, "type %d: element %d is %g", types[t], i, got);
        }
        rubus_array_destroy(view);
        rubus_array_destroy(a);
    }
    rubus_array *a = NULL;
    ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(3), &a));
    fails(rubus_array_fill(a, 2147483648.0), RUBUS_EINVAL, "2.14748e+09|i32");
    fails(rubus_array_fill(a, (double)NAN), RUBUS_EINVAL, "nan|i32");
    ok(rubus_array_fill(a, -2147483648.9));
    rubus_array_destroy(a);
    ok(rubus_array_create(context, RUBUS_I64, RUBUS_SHAPE(3), &a));
    fails(rubus_array_fill(a, 0x1p63), RUBUS_EINVAL, "9.22337e+18|i64");
    int64_t host[3];
    ok(rubus_array_fill(a, -0x1p63));
    ok(rubus_array_read(a, host, sizeof host));
    ck_assert(host[2] == INT64_MIN);
    rubus_array_destroy(a);
    backends_finish(context);
}
END_TEST

START_TEST(array_random_stays_in_its_range)
{
    rubus_context *context = backends_open(_i);
    enum { N = 4000 };
    static const struct {
        int32_t type;
        double lo;
        double hi;
    } range[] = {{RUBUS_F64, -1, 2},         {RUBUS_F32, 0.7, 0.7000003},
                 {RUBUS_F32, -3, -2.999999}, {RUBUS_I32, -2147483648.0, 2147483648.0},
                 {RUBUS_I32, 5, 6.5},        {RUBUS_I64, -9007199254740992.0, -1e15}};
    for (size_t k = 0; k < sizeof range / sizeof range[0]; k++) {
        rubus_array *a = NULL;
        union {
            double f64[N];
            float f32[N];
            int32_t i32[N];
            int64_t i64[N];
        } host;
        ok(rubus_array_create(context, range[k].type, RUBUS_SHAPE(N), &a));
        ok(rubus_array_random(a, 42, range[k].lo, range[k].hi));
        ok(rubus_array_read(a, &host, rubus_array_nbyte(a)));
        int differ = 0;
        for (int i = 0; i < N; i++) {
            const double x = range[k].type == RUBUS_F64   ? host.f64[i]
                             : range[k].type == RUBUS_F32 ? (double)host.f32[i]
                             : range[k].type == RUBUS_I32 ? host.i32[i]
                                                          : (double)host.i64[i];
            ck_assert_msg(x >= range[k].lo && x < range[k].hi, "range %zu: %.17g", k, x);
            differ += i > 0 && memcmp(&host.f32[i], &host.f32[0], 4) != 0;
        }
        ck_assert_int_gt(differ, 0);
        rubus_array_destroy(a);
    }
    backends_finish(context);
}
END_TEST

START_TEST(array_random_depends_on_seed_and_number_alone)
{
    rubus_context *context = backends_open(_i);
    enum { N = 200001 }; // more than one piece through the host
    rubus_array *a = NULL;
    rubus_array *b = NULL;
    double *x = malloc(N * sizeof *x);
    double y[10];
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(N), &a));
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(5, 2), &b));
    ok(rubus_array_random(a, 7, 0, 1));
    ok(rubus_array_random(b, 7, 0, 1));
    ok(rubus_array_read(a, x, N * sizeof *x));
    ok(rubus_array_read(b, y, sizeof y));
    ck_assert_int_eq(memcmp(x, y, sizeof y), 0);
    double sum = 0;
    for (int i = 0; i < N; i++) {
        sum += x[i];
    }
    // the mean of n uniform numbers has the deviation sqrt(1/12n), here 6.5e-4
    ck_assert_msg(fabs(sum / N - 0.5) < 6 * 6.5e-4, "mean %g", sum / N);
    ok(rubus_array_random(b, 8, 0, 1));
    ok(rubus_array_read(b, y, sizeof y));
    ck_assert_int_ne(memcmp(x, y, sizeof y), 0);
    free(x);
    rubus_array_destroy(a);
    rubus_array_destroy(b);

    uint8_t truth[1000];
    int n = 0;
    ok(rubus_array_create(context, RUBUS_BOOL, RUBUS_SHAPE(1000), &a));
    ok(rubus_array_random(a, 7, 5, 5));
    ok(rubus_array_read(a, truth, sizeof truth));
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_le(truth[i], 1);
        n += truth[i];
    }
    ck_assert_msg(n > 400 && n < 600, "%d of 1000 are true", n); // 6 deviations of 16
    rubus_array_destroy(a);
    backends_finish(context);
}
END_TEST

START_TEST(array_random_refuses_ranges_without_numbers)
{
    rubus_context *context = backends_open(_i);
    static const struct {
        int32_t type;
        double lo;
        double hi;
        const char *words;
    } wrong[] = {{RUBUS_F64, 1, 1, "[1, 1)|f64"},
                 {RUBUS_F64, 2, 1, "[2, 1)"},
                 {RUBUS_F64, 0, (double)INFINITY, "inf"},
                 {RUBUS_F64, (double)NAN, 1, "nan"},
                 {RUBUS_F64, -1e308, 1e308, "e+308"},
                 {RUBUS_F32, 0.1, 0.1000000001, "f32"},
                 {RUBUS_F32, 0, 1e39, "f32"},
                 {RUBUS_I32, 0.5, 9, "[0.5, 9)|i32|whole lo"},
                 {RUBUS_I32, 0, 2147483649.0, "2147483649|i32"},
                 {RUBUS_I64, -9007199254740994.0, 0, "i64"}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        rubus_array *a = NULL;
        ok(rubus_array_create(context, wrong[k].type, RUBUS_SHAPE(3), &a));
        fails(rubus_array_random(a, 1, wrong[k].lo, wrong[k].hi), RUBUS_EINVAL,
              wrong[k].words);
        rubus_array_destroy(a);
    }
    backends_finish(context);
}
END_TEST

static Suite *array_suite(void)
{
    TCase *tc = tcase_create("array");
    backends_add(tc, array_create_is_zero_and_knows_its_shape);
    backends_add(tc, array_create_refuses_wrong_shapes);
    backends_add(tc, array_without_elements_is_legal);
    backends_add(tc, array_ranges_move_their_elements_only);
    backends_add(tc, array_transfer_refuses_what_does_not_fit);
    backends_add(tc, array_fill_converts_and_reaches_all_elements);
    backends_add(tc, array_random_stays_in_its_range);
    backends_add(tc, array_random_depends_on_seed_and_number_alone);
    backends_add(tc, array_random_refuses_ranges_without_numbers);
    Suite *suite = suite_create("runtime: arrays");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: arrays", array_suite)
