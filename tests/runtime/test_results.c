/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results: sum, max and min of shapes around every border of the folding order, against
 * the order that the language defines, computed here; so all backends and thread counts
 * agree to the bit. NaN, nothing to fold, and where a result may go.
 */
#include "config.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "tests/support/backends.h"
#include "tests/support/suite.h"

static const char source[] =
    "kernel fold1(in real a[n], out real s, out real hi, out real lo)\n"
    "{ s = sum(a); hi = max(a); lo = min(a); }\n"
    "kernel fold2(in real a[nx, ny], out real s, out real hi, out real lo)\n"
    "{ s = sum(a); hi = max(a); lo = min(a); }\n"
    "kernel fold3(in real a[nx, ny, nz], out real s, out real hi, out real lo)\n"
    "{ s = sum(a); hi = max(a); lo = min(a); }\n"
    "kernel parts(inout real a[n], out real s, out real t)\n"
    "{ s = sum(a[:-1]); a *= 2; t = sum(abs(a)); }\n"
    "reduce sum dot(in real a[n], in real b[n]) = a * b;\n";

enum { SEGMENT = 4096, LANES = 32 };

static const rubus_shape shapes[] = {
    {1, 0, {0}},         {1, 0, {1}},       {1, 0, {31}},      {1, 0, {32}},
    {1, 0, {33}},        {1, 0, {4095}},    {1, 0, {4096}},    {1, 0, {4097}},
    {1, 0, {8193}},      {2, 0, {33, 7}},   {2, 0, {1, 259}},  {2, 0, {4097, 3}},
    {2, 0, {7, 0}},      {3, 0, {5, 3, 7}}, {3, 0, {0, 3, 2}}, {3, 0, {1, 17, 31}},
    {3, 0, {31, 33, 9}},
};
enum { NSHAPE = sizeof shapes / sizeof shapes[0] };

/* --- the order of the language ---------------------------------------------------- */

/* Sum and remainder: the second is used in f32 alone. */
typedef struct part {
    double sum;
    float high;
    float low;
} part;

/* Exact: high + low of a sum of floats, by two-sum. */
static void add_float(part *p, float x, float carry)
{
    const float s = p->high + x;
    const float bb = s - p->high;
    const float error = (p->high - (s - bb)) + (x - bb);
    p->high = s;
    p->low = (p->low + carry) + error;
}

static part join(part a, part b, bool f64)
{
    if (f64) {
        a.sum += b.sum;
    } else {
        add_float(&a, b.high, b.low);
    }
    return a;
}

/* Aligned binary tree: 2k with 2k + 1 at each level; a missing partner changes nothing.
 * */
static part tree(part *p, int64_t n, bool f64)
{
    for (; n > 1; n = (n + 1) / 2) {
        for (int64_t k = 0; 2 * k < n; k++) {
            p[k] = 2 * k + 1 < n ? join(p[2 * k], p[2 * k + 1], f64) : p[2 * k];
        }
    }
    return p[0];
}

static part segment(const double *x, int64_t n, bool f64)
{
    part lane[LANES];
    memset(lane, 0, sizeof lane);
    for (int64_t i = 0; i < n; i++) {
        if (f64) {
            lane[i % LANES].sum += x[i];
        } else {
            add_float(&lane[i % LANES], (float)x[i], 0);
        }
    }
    return tree(lane, LANES, f64);
}

static double expected_sum(const double *x, rubus_shape shape, bool f64)
{
    int64_t lines = 1;
    for (int d = 1; d < shape.rank; d++) {
        lines *= shape.n[d];
    }
    const int64_t each = (shape.n[0] + SEGMENT - 1) / SEGMENT;
    if (lines * each == 0) {
        return 0;
    }
    part *p = malloc((size_t)(lines * each) * sizeof *p);
    for (int64_t line = 0; line < lines; line++) {
        for (int64_t k = 0; k < each; k++) {
            const int64_t left = shape.n[0] - k * SEGMENT;
            p[line * each + k] = segment(x + line * shape.n[0] + k * SEGMENT,
                                         left < SEGMENT ? left : SEGMENT, f64);
        }
    }
    const part all = tree(p, lines * each, f64);
    free(p);
    return f64 ? all.sum : (double)(all.high + all.low);
}

/* --- data ------------------------------------------------------------------------- */

/* An array of the shape with numbers of many sizes, and the same numbers as doubles. */
static rubus_array *numbers(rubus_context *context, rubus_shape shape, int32_t real,
                            double **out_host)
{
    rubus_array *array = NULL;
    ok(rubus_array_create(context, real, shape, &array));
    const int64_t n = rubus_array_count(array);
    double *host = malloc(((size_t)n + 1) * sizeof *host);
    float *narrow = malloc(((size_t)n + 1) * sizeof *narrow);
    for (int64_t i = 0; i < n; i++) {
        const double x = sin((double)(i * i % 1013)) * pow(10, (double)(i % 7) - 3);
        narrow[i] = (float)x;
        host[i] = real == RUBUS_F32 ? (double)narrow[i] : x;
    }
    ok(rubus_array_write(array, real == RUBUS_F32 ? (void *)narrow : (void *)host,
                         rubus_array_nbyte(array)));
    free(narrow);
    *out_host = host;
    return array;
}

static const rubus_kernel *fold_of(rubus_module *module, int32_t rank)
{
    return backends_kernel(module, rank == 1 ? "fold1" : rank == 2 ? "fold2" : "fold3");
}

static void check_shape(rubus_context *context, rubus_module *module, rubus_shape shape,
                        int32_t real)
{
    double *host = NULL;
    rubus_array *a = numbers(context, shape, real, &host);
    double s = -1;
    double hi = -1;
    double lo = -1;
    ok(rubus_launch(fold_of(module, shape.rank), a, &s, &hi, &lo));
    double most = -(double)INFINITY;
    double least = (double)INFINITY;
    for (int64_t i = 0; i < rubus_array_count(a); i++) {
        most = host[i] > most ? host[i] : most;
        least = host[i] < least ? host[i] : least;
    }
    const double want = expected_sum(host, shape, real == RUBUS_F64);
    ck_assert_msg(s == want && hi == most && lo == least,
                  "%s, %lld x %lld x %lld (rank %d): sum %.17g, not %.17g; max %g (%g); "
                  "min %g (%g)",
                  real == RUBUS_F64 ? "f64" : "f32", (long long)shape.n[0],
                  (long long)shape.n[1], (long long)shape.n[2], (int)shape.rank, s, want,
                  hi, most, lo, least);
    free(host);
    rubus_array_destroy(a);
}

START_TEST(result_follows_the_order_of_the_language)
{
    rubus_context *context = backends_open(_i);
    for (int32_t real = RUBUS_F32; real <= RUBUS_F64; real++) {
        rubus_module *module = backends_module(context, source, real, 0);
        for (int k = 0; k < NSHAPE; k++) {
            check_shape(context, module, shapes[k], real);
        }
        rubus_module_destroy(module);
    }
    backends_finish(context);
}
END_TEST

START_TEST(result_shows_a_nan_wherever_it_stands)
{
    rubus_context *context = backends_open(_i);
    for (int32_t real = RUBUS_F32; real <= RUBUS_F64; real++) {
        rubus_module *module = backends_module(context, source, real, 0);
        static const int64_t at[] = {0, 31, 32, 4095, 4096, 4999};
        for (int k = 0; k < 6; k++) {
            double *host = NULL;
            rubus_array *a = numbers(context, RUBUS_SHAPE(5000), real, &host);
            rubus_array *one = NULL;
            ok(rubus_array_view(a, at[k], RUBUS_SHAPE(1), &one));
            ok(rubus_array_fill(one, (double)NAN));
            double s = 0;
            double hi = 0;
            double lo = 0;
            ok(rubus_launch(fold_of(module, 1), a, &s, &hi, &lo));
            ck_assert_msg(isnan(s) && isnan(hi) && isnan(lo), "NaN at %lld: %g %g %g",
                          (long long)at[k], s, hi, lo);
            free(host);
            rubus_array_destroy(one);
            rubus_array_destroy(a);
        }
        rubus_module_destroy(module);
    }
    backends_finish(context);
}
END_TEST

START_TEST(result_goes_to_double_float_and_array)
{
    rubus_context *context = backends_open(_i);
    for (int32_t real = RUBUS_F32; real <= RUBUS_F64; real++) {
        rubus_module *module = backends_module(context, source, real, 0);
        double *host = NULL;
        rubus_array *a = numbers(context, RUBUS_SHAPE(5000), real, &host);
        rubus_array *one = NULL;
        rubus_array *window = NULL;
        double hi = 0;
        float lo = 0;
        ok(rubus_array_create(context, real, RUBUS_SHAPE(3, 1), &one));
        ok(rubus_array_fill(one, -5));
        ok(rubus_array_view(one, 1, RUBUS_SHAPE(1, 1, 1), &window));
        ok(rubus_launch(fold_of(module, 1), a, window, &hi, &lo));
        double got[3];
        float narrow[3];
        ok(rubus_array_read(one, real == RUBUS_F64 ? (void *)got : (void *)narrow,
                            rubus_array_nbyte(one)));
        for (int k = 0; k < 3 && real == RUBUS_F32; k++) {
            got[k] = (double)narrow[k];
        }
        double s = 0;
        double least = 0;
        float high = 0;
        ok(rubus_launch(fold_of(module, 1), a, &s, &high, &least));
        ck_assert(got[0] == -5 && got[1] == s && got[2] == -5);
        ck_assert((double)high == (double)(float)hi &&
                  (double)lo == (double)(float)least);
        // nothing to fold, into an array
        rubus_array *empty = NULL;
        ok(rubus_array_create(context, real, RUBUS_SHAPE(0), &empty));
        ok(rubus_launch(fold_of(module, 1), empty, window, &hi, &lo));
        ok(rubus_array_read(one, real == RUBUS_F64 ? (void *)got : (void *)narrow,
                            rubus_array_nbyte(one)));
        ck_assert((real == RUBUS_F64 ? got[1] : (double)narrow[1]) == 0);
        ck_assert(hi == -(double)INFINITY && lo == INFINITY);
        free(host);
        rubus_array_destroy(empty);
        rubus_array_destroy(window);
        rubus_array_destroy(one);
        rubus_array_destroy(a);
        rubus_module_destroy(module);
    }
    backends_finish(context);
}
END_TEST

START_TEST(results_of_several_passes_and_sizes_do_not_mix)
{
    rubus_context *context = backends_open(_i);
    rubus_module *module = backends_module(context, source, RUBUS_F64, 0);
    double s = 0;
    double t = 0;
    static const int64_t sizes[] = {3, 300000, 5, 10000, 1}; // memory of partials grows
    for (int k = 0; k < 5; k++) {
        const int64_t n = sizes[k];
        rubus_array *a = backends_ramp(context, n, 1);
        rubus_array *b = NULL;
        ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(n), &b));
        ok(rubus_array_fill(b, 2));
        ok(rubus_launch(backends_kernel(module, "parts"), a, &s, &t));
        // sums of whole numbers below 2^53 are exact in any order
        ck_assert_msg(s == (double)(n * (n - 1) / 2) && t == (double)(n * (n + 1)),
                      "n %lld: %g %g", (long long)n, s, t);
        ok(rubus_launch(backends_kernel(module, "dot"), a, b, &s));
        ck_assert(s == (double)(2 * n * (n + 1)));
        rubus_array_destroy(a);
        rubus_array_destroy(b);
    }
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

static Suite *results_suite(void)
{
    TCase *tc = tcase_create("results");
    backends_add(tc, result_follows_the_order_of_the_language);
    backends_add(tc, result_shows_a_nan_wherever_it_stands);
    backends_add(tc, result_goes_to_double_float_and_array);
    backends_add(tc, results_of_several_passes_and_sizes_do_not_mix);
    Suite *suite = suite_create("runtime: results");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: results", results_suite)
