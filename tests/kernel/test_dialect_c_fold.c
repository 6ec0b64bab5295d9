/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results in dialect c: the bits of sums, maxima and minima against an implementation
 * of the documented order that shares nothing with the compiler, at the sizes where
 * segments, lanes and trees begin and end, and however the launch is cut.
 */
#include "config.h"

#include <math.h>

#include "tests/support/suite.h"
#include "text_run.h"

static const char source[] =
    "kernel all(out real s, out real high, out real low, in real u[n])\n"
    "{ s = sum(u); high = max(u); low = min(u); }\n"
    "kernel plane(out real s, in real u[nx,ny,nz]) { s = sum(u[1:,:,1:]); }\n"
    "kernel both(out real w[n+4], out real s, in real u[n])\n"
    "{ w = pad(u, 0.5, 2:2); s = sum(u * 2); }\n"
    "reduce sum shifted(in real u[n]) = pad(u, 1.0, 40:5);\n"
    "reduce max biggest(in real u[n]) = u[5:];\n";

enum { SEGMENT = 4096, LANES = 32 };

/* --- the order, once more ---------------------------------------------------------- */

typedef struct pair {
    float s;
    float c;
} pair;

static pair pair_add(pair p, float x)
{
    // Knuth's two-sum, spelled with volatiles so that nothing is optimised away
    volatile float sum = p.s + x;
    volatile float part = sum - p.s;
    volatile float rest = sum - part;
    volatile float lost_s = p.s - rest;
    volatile float lost_x = x - part;
    volatile float lost = lost_s + lost_x;
    const pair r = {sum, p.c + lost};
    return r;
}

static pair pair_join(pair a, pair b)
{
    const pair bare = {a.s, 0.0F};
    const pair sum = pair_add(bare, b.s);
    volatile float rest = a.c + b.c;
    const pair r = {sum.s, rest + sum.c};
    return r;
}

static double tree_f64(double *v, int64_t lo, int64_t n, int64_t width)
{
    // joins [lo, min(lo + width, n)): the aligned binary tree from the top
    if (width == 1) {
        return v[lo];
    }
    const int64_t half = width / 2;
    const double left = tree_f64(v, lo, n, half);
    return lo + half < n ? left + tree_f64(v, lo + half, n, half) : left;
}

static pair tree_f32(pair *v, int64_t lo, int64_t n, int64_t width)
{
    if (width == 1) {
        return v[lo];
    }
    const int64_t half = width / 2;
    const pair left = tree_f32(v, lo, n, half);
    return lo + half < n ? pair_join(left, tree_f32(v, lo + half, n, half)) : left;
}

static int64_t width_of(int64_t n)
{
    int64_t width = 1;
    while (width < n) {
        width *= 2;
    }
    return width;
}

/* Sum of nline lines of n numbers each. */
static double sum_f64(const double *u, int64_t n, int64_t nline, int64_t stride)
{
    const int64_t nsegment = (n + SEGMENT - 1) / SEGMENT;
    double *partial = calloc((size_t)(nsegment * nline) + 1u, sizeof(*partial));
    for (int64_t k = 0; k < nsegment * nline; k++) {
        double lane[LANES] = {0};
        const double *from = u + k / nsegment * stride;
        for (int64_t i = k % nsegment * SEGMENT;
             i < n && i < (k % nsegment + 1) * SEGMENT; i++) {
            lane[i % LANES] += from[i];
        }
        partial[k] = tree_f64(lane, 0, LANES, LANES);
    }
    const int64_t count = nsegment * nline;
    const double s = count > 0 ? tree_f64(partial, 0, count, width_of(count)) : 0.0;
    free(partial);
    return s;
}

static float sum_f32(const float *u, int64_t n)
{
    const int64_t nsegment = (n + SEGMENT - 1) / SEGMENT;
    pair *partial = calloc((size_t)nsegment + 1u, sizeof(*partial));
    for (int64_t k = 0; k < nsegment; k++) {
        pair lane[LANES] = {{0.0F, 0.0F}};
        for (int64_t i = k * SEGMENT; i < n && i < (k + 1) * SEGMENT; i++) {
            lane[i % LANES] = pair_add(lane[i % LANES], u[i]);
        }
        partial[k] = tree_f32(lane, 0, LANES, LANES);
    }
    pair all = {0.0F, 0.0F};
    if (nsegment > 0) {
        all = tree_f32(partial, 0, nsegment, width_of(nsegment));
    }
    free(partial);
    return all.s + all.c;
}

/* --- tests ------------------------------------------------------------------------- */

static const int64_t size[] = {0,  1,  2,   31,   32,   33,   63,   64,
                               65, 95, 255, 4095, 4096, 4097, 8193, 262145};
enum { NSIZE = sizeof(size) / sizeof(size[0]), MOST = 4096 * 260 + 77 };

static const text_cut cuts[] = {{{1, 1, 1}}, {{3, 1, 1}}, {{2, 2, 2}}, {{100, 7, 3}}};
enum { NCUT = sizeof(cuts) / sizeof(cuts[0]) };

static double number(int64_t i)
{
    return sin(1.3 * (double)i) * (i % 17 == 0 ? 1e6 : 1.0) + 1e-3;
}

START_TEST(f64_folds_have_the_bits_of_the_order)
{
    // without the sanitizer: a million numbers, and the optimiser that users have
    text_module m = text_open(source, run_options(RUBUS_F64, RUBUS_I32, false), false);
    for (int k = 0; k < NSIZE + 1; k++) {
        const int64_t n = k < NSIZE ? size[k] : MOST; // more partials than one tree joins
        double *u = malloc(((size_t)n + 1u) * sizeof(*u));
        double high = -(double)INFINITY;
        double low = (double)INFINITY;
        for (int64_t i = 0; i < n; i++) {
            u[i] = number(i);
            high = fmax(high, u[i]);
            low = fmin(low, u[i]);
        }
        const double want = sum_f64(u, n, 1, n);
        for (int c = 0; c < NCUT; c++) {
            double got[3] = {-7, -7, -7};
            const run_arg args[] = {RUN_RESULT(&got[0]), RUN_RESULT(&got[1]),
                                    RUN_RESULT(&got[2]), RUN_ARRAY1(u, n)};
            text_run(&m, 0, args, &cuts[c]);
            ck_assert_msg(got[0] == want, "n = %lld: %a, expected %a", (long long)n,
                          got[0], want);
            ck_assert_msg(got[1] == high && got[2] == low, "n = %lld: %g %g",
                          (long long)n, got[1], got[2]);
        }
        free(u);
    }
    text_close(&m);
}
END_TEST

START_TEST(f32_sum_carries_what_rounding_takes)
{
    text_module m = text_open(source, run_options(RUBUS_F32, RUBUS_I32, false), true);
    for (int k = 0; k < NSIZE; k++) {
        const int64_t n = size[k];
        float *u = malloc(((size_t)n + 1u) * sizeof(*u));
        double exact = 0.0;
        double magnitude = 0.0;
        for (int64_t i = 0; i < n; i++) {
            u[i] = (float)number(i);
            exact += (double)u[i];
            magnitude += fabs((double)u[i]);
        }
        const float want = sum_f32(u, n);
        for (int c = 0; c < NCUT; c++) {
            float got[3] = {-7.0F, -7.0F, -7.0F};
            const run_arg args[] = {RUN_RESULT(&got[0]), RUN_RESULT(&got[1]),
                                    RUN_RESULT(&got[2]), RUN_ARRAY1(u, n)};
            text_run(&m, 0, args, &cuts[c]);
            ck_assert_msg(got[0] == want, "n = %lld: %a, expected %a", (long long)n,
                          (double)got[0], (double)want);
            // one rounding of the result; the rests round at 2^-24 of themselves
            ck_assert_double_le(fabs((double)got[0] - exact),
                                fabs(exact) * 0x1p-24 + magnitude * 0x1p-40);
        }
        free(u);
    }
    text_close(&m);
}
END_TEST

START_TEST(fold_of_a_slice_counts_its_own_lines)
{
    enum { NX = 71, NY = 6, NZ = 5 };
    text_module m = text_open(source, run_options(RUBUS_F64, RUBUS_I64, false), true);
    double *u = malloc(sizeof(double) * NX * NY * NZ);
    for (int64_t i = 0; i < NX * NY * NZ; i++) {
        u[i] = number(i);
    }
    const double want = sum_f64(u + 1 + NX * NY, NX - 1, NY * (NZ - 1), NX);
    for (int c = 0; c < NCUT; c++) {
        double got = -7;
        const run_arg args[] = {RUN_RESULT(&got), RUN_ARRAY3(u, NX, NY, NZ)};
        text_run(&m, 1, args, &cuts[c]);
        ck_assert_msg(got == want, "%a, expected %a", got, want);
    }
    free(u);
    text_close(&m);
}
END_TEST

START_TEST(statement_beyond_the_folds_box_is_complete)
{
    text_module m = text_open(source, run_options(RUBUS_F64, RUBUS_I32, false), true);
    for (int k = 0; k < NSIZE; k++) {
        const int64_t n = size[k];
        double *u = malloc(((size_t)n + 1u) * sizeof(*u));
        double *twice = malloc(((size_t)n + 1u) * sizeof(*u));
        double *padded = malloc(((size_t)n + 45u) * sizeof(*u));
        double *w = malloc(((size_t)n + 4u) * sizeof(*u));
        for (int64_t i = 0; i < n + 45; i++) {
            padded[i] = i < 40 || i >= n + 40 ? 1.0 : number(i - 40);
        }
        memcpy(u, padded + 40, (size_t)n * sizeof(*u));
        for (int64_t i = 0; i < n; i++) {
            twice[i] = u[i] * 2;
        }
        for (int c = 0; c < NCUT; c++) {
            double got = -7;
            memset(w, 0, ((size_t)n + 4u) * sizeof(*w));
            const run_arg args[] = {RUN_ARRAY1(w, n + 4), RUN_RESULT(&got),
                                    RUN_ARRAY1(u, n)};
            text_run(&m, 2, args, &cuts[c]);
            ck_assert_double_eq(got, sum_f64(twice, n, 1, n));
            for (int64_t i = 0; i < n + 4; i++) {
                ck_assert_double_eq(w[i], i < 2 || i >= n + 2 ? 0.5 : u[i - 2]);
            }
            const run_arg shifted[] = {RUN_ARRAY1(u, n), RUN_RESULT(&got)};
            text_run(&m, 3, shifted, &cuts[c]);
            ck_assert_double_eq(got, sum_f64(padded, n + 45, 1, n + 45));
        }
        free(u);
        free(twice);
        free(padded);
        free(w);
    }
    text_close(&m);
}
END_TEST

START_TEST(nan_shows_wherever_it_stands)
{
    text_module m = text_open(source, run_options(RUBUS_F64, RUBUS_I32, false), true);
    enum { N = 5000 };
    double *u = malloc(sizeof(double) * N);
    for (int64_t at = 0; at < N; at += 311) {
        for (int64_t i = 0; i < N; i++) {
            u[i] = i == at ? (double)NAN : number(i);
        }
        double got[3] = {0, 0, 0};
        const run_arg args[] = {RUN_RESULT(&got[0]), RUN_RESULT(&got[1]),
                                RUN_RESULT(&got[2]), RUN_ARRAY1(u, N)};
        text_run(&m, 0, args, NULL);
        ck_assert(isnan(got[0]) && isnan(got[1]) && isnan(got[2]));
    }
    free(u);
    text_close(&m);
}
END_TEST

START_TEST(nothing_gives_the_neutral_element)
{
    text_module m = text_open(source, run_options(RUBUS_F64, RUBUS_I32, false), true);
    double u[5] = {1, 2, 3, 4, 5};
    double got = 3;
    const run_arg args[] = {RUN_ARRAY1(u, 5), RUN_RESULT(&got)};
    text_run(&m, 4, args, NULL);
    ck_assert_double_eq(got, -(double)INFINITY);
    text_close(&m);
}
END_TEST

START_TEST(infinite_float_sum_is_infinite)
{
    text_module m = text_open(source, run_options(RUBUS_F32, RUBUS_I32, false), true);
    float u[100];
    for (int i = 0; i < 100; i++) {
        u[i] = 3e38F;
    }
    float got[3] = {0.0F, 0.0F, 0.0F};
    const run_arg args[] = {RUN_RESULT(&got[0]), RUN_RESULT(&got[1]), RUN_RESULT(&got[2]),
                            RUN_ARRAY1(u, 100)};
    text_run(&m, 0, args, NULL);
    ck_assert_double_eq((double)got[0], (double)INFINITY);
    text_close(&m);
}
END_TEST

static Suite *fold_suite(void)
{
    Suite *suite = suite_create("dialect c, results");
    TCase *tcase = tcase_create("folds");
    tcase_add_test(tcase, f64_folds_have_the_bits_of_the_order);
    tcase_add_test(tcase, f32_sum_carries_what_rounding_takes);
    tcase_add_test(tcase, fold_of_a_slice_counts_its_own_lines);
    tcase_add_test(tcase, statement_beyond_the_folds_box_is_complete);
    tcase_add_test(tcase, nan_shows_wherever_it_stands);
    tcase_add_test(tcase, nothing_gives_the_neutral_element);
    tcase_add_test(tcase, infinite_float_sum_is_infinite);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUBUS_TEST_MAIN("dialect c, results", fold_suite)
