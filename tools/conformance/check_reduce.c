/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks R: sums, largest and smallest numbers. Their order is fixed by the shape, so the
 * bits are those of the interpreter; a bound of the error, from a sum in twice the
 * precision, holds besides.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conform_compare.h"

/* Around the lanes (32), the segments (4096) and their tree. */
static const int64_t line_sizes[] = {0,    1,    2,    3,    31,   32,    33,    63,
                                     64,   65,   127,  128,  129,  1000,  4095,  4096,
                                     4097, 8191, 8192, 8193, 9000, 12288, 12289, 100003};
enum { NLINE = sizeof line_sizes / sizeof line_sizes[0] };

static const char folds_text[] = "reduce sum total(in real a[nx]) = a;\n"
                                 "reduce max most(in real a[nx]) = a;\n"
                                 "reduce min least(in real a[nx]) = a;\n";

static void run_all(conform_pair *pair, const conform_case *c)
{
    const uint32_t n = rubus_module_kernel_count(pair->module[1]);
    for (uint32_t k = 0; k < n; k++) {
        const char *name = rubus_kernel_name(rubus_module_kernel_at(pair->module[1], k));
        char wrong[600];
        if (!conform_pair_same(pair, name, c, wrong, sizeof wrong)) {
            conform_fail("%s in %s, [%lld, %lld, %lld]: %s", name,
                         conform_type_name(pair->real), (long long)c->n[0],
                         (long long)c->n[1], (long long)c->n[2], wrong);
        }
    }
}

static void to_the_bit(const char *text, const int64_t (*shape)[3], size_t nshape)
{
    conform_pair pair;
    conform_pair_open(&pair);
    const bool f64 = conform_facts_now()->caps.fp64 != 0;
    for (int32_t real = RUBUS_F32; real <= (f64 ? RUBUS_F64 : RUBUS_F32); real++) {
        conform_pair_build(&pair, text, real, RUBUS_I32, 0);
        for (size_t s = 0; s < nshape; s++) {
            conform_case c = {.seed = conform_seed() + s, .special = s % 5 == 4};
            memcpy(c.n, shape[s], sizeof c.n);
            run_all(&pair, &c);
        }
    }
    conform_pair_close(&pair);
}

static void lines_to_the_bit(void)
{
    int64_t shape[NLINE][3];
    for (int i = 0; i < NLINE; i++) {
        shape[i][0] = line_sizes[i];
        shape[i][1] = shape[i][2] = 1;
    }
    to_the_bit(folds_text, (const int64_t(*)[3])shape, NLINE);
}

static void planes_to_the_bit(void)
{
    static const int64_t shapes[][3] = {{1, 1, 1},   {5, 7, 3},     {33, 65, 2},
                                        {64, 64, 1}, {4097, 3, 2},  {3, 4099, 1},
                                        {2, 3, 500}, {257, 129, 2}, {1, 1, 777},
                                        {0, 5, 5},   {5, 0, 5},     {100, 90, 11}};
    to_the_bit("reduce sum total2(in real a[nx,ny]) = a;\n"
               "reduce max most2(in real a[nx,ny]) = a;\n"
               "reduce sum total3(in real a[nx,ny,nz]) = a;\n"
               "reduce min least3(in real a[nx,ny,nz]) = a;\n",
               shapes, sizeof shapes / sizeof shapes[0]);
}

static void folds_of_expressions(void)
{
    static const int64_t shapes[][3] = {{3, 3, 3},    {40, 30, 2}, {200, 77, 3},
                                        {4100, 4, 1}, {2, 2, 2},   {1, 1, 1}};
    to_the_bit(
        "kernel change(inout real u[nx,ny], in real f[nx,ny], out real most, out real "
        "sq)\n"
        "{ let old = u; u += f; most = max(abs(u - old)); sq = sum((u - old)^2); }\n"
        "kernel three(in real a[nx,ny], in int k[nx,ny], out real s, out real b, out "
        "real c)\n"
        "{ s = sum(a * k); b = min(a[1:, :] - a[:-1, :]); c = max(inn(a)); }\n"
        "kernel chained(inout real u[nx], out real s, real w)\n"
        "{ u = u * w + 1; s = sum(u); }\n"
        "kernel two_ranks(in real a[nx,ny], in real h[nx], out real s, out real t)\n"
        "{ s = sum(a); t = max(h); }\n"
        "reduce sum weighted(in real a[nx,ny], in real h[nx], in bool m[nx,ny])\n"
        "    = m ? a * h[:, *] : 0;\n"
        "reduce sum dot(in real a[nx,ny], in real b[nx,ny]) = a * b;\n",
        shapes, sizeof shapes / sizeof shapes[0]);
}

/* --- closed forms ----------------------------------------------------------------- */

typedef struct fold_kit {
    rubus_context *context;
    rubus_module *module;
    int32_t real;
} fold_kit;

static void kit_open(fold_kit *kit, int32_t real)
{
    kit->real = real;
    kit->context = conform_open();
    kit->module = conform_module(kit->context, folds_text, real);
}

static void kit_close(fold_kit *kit)
{
    rubus_module_destroy(kit->module);
    rubus_context_destroy(kit->context);
}

static rubus_array *put(const fold_kit *kit, const double *x, int64_t n)
{
    rubus_array *array = NULL;
    conform_ok(rubus_array_create(kit->context, kit->real, RUBUS_SHAPE(n), &array));
    float *narrow = conform_memory((size_t)n * sizeof *narrow);
    for (int64_t i = 0; i < n; i++) {
        narrow[i] = (float)x[i];
    }
    conform_ok(rubus_array_write(array, kit->real == RUBUS_F64 ? (const void *)x : narrow,
                                 rubus_array_nbyte(array)));
    free(narrow);
    return array;
}

static double fold(const fold_kit *kit, const char *name, rubus_array *array)
{
    double result = NAN;
    conform_ok(rubus_launch(conform_kernel(kit->module, name), array, &result));
    return result;
}

/* a + b as the rounded sum and what rounding lost. */
static void two_sum(double a, double b, double *sum, double *lost)
{
    const volatile double s = a + b;
    const volatile double t = s - a;
    *lost = (a - (s - t)) + (b - t);
    *sum = s;
}

/* The sum in twice the precision of double, and that of the magnitudes. */
static double exact_sum(const double *x, int64_t n, double *out_magnitude)
{
    double high = 0;
    double low = 0;
    *out_magnitude = 0;
    for (int64_t i = 0; i < n; i++) {
        double lost = 0;
        two_sum(high, x[i], &high, &lost);
        low += lost;
        *out_magnitude += fabs(x[i]);
    }
    return high + low;
}

/* Additions one after another in a lane of a segment, the joins of lanes and segments,
 * and the last rounding. */
static double additions(int64_t n)
{
    double joins = 5 + 2;
    for (int64_t segments = n / 4096 + 1; segments > 1; segments = (segments + 1) / 2) {
        joins++;
    }
    return 128 + joins;
}

static void sum_in_bound(int32_t real)
{
    fold_kit kit;
    kit_open(&kit, real);
    conform_dice dice = {conform_seed()};
    for (int i = 0; i < NLINE; i++) {
        const int64_t n = line_sizes[i];
        double *x = conform_memory((size_t)n * sizeof *x);
        for (int64_t k = 0; k < n; k++) {
            x[k] = ldexp(conform_unit(&dice) - 0.5, (int)conform_below(&dice, 30) - 10);
            x[k] = real == RUBUS_F64 ? x[k] : (double)(float)x[k];
        }
        double magnitude = 0;
        const double exact = exact_sum(x, n, &magnitude);
        rubus_array *array = put(&kit, x, n);
        const double got = fold(&kit, "total", array);
        // in f32 a second float carries what rounding lost
        const double u = real == RUBUS_F64 ? 0x1p-53 : 0x1p-24;
        const double bound = real == RUBUS_F64 ? additions(n) * u * magnitude
                                               : 2 * u * fabs(exact) +
                                                     4 * additions(n) * u * u * magnitude;
        conform_true(fabs(got - exact) <= bound,
                     "sum of %lld numbers in %s: %.17g, exactly %.17g; off by %.3g, "
                     "allowed %.3g",
                     (long long)n, conform_type_name(real), got, exact, fabs(got - exact),
                     bound);
        rubus_array_destroy(array);
        free(x);
    }
    kit_close(&kit);
}

static void sum_error_bound(void)
{
    sum_in_bound(RUBUS_F32);
    if (conform_facts_now()->caps.fp64 != 0) {
        sum_in_bound(RUBUS_F64);
    }
}

static void nan_shows(void)
{
    enum { N = 9001 };
    static const int64_t places[] = {0, 1, 31, 32, 33, 4095, 4096, 8191, 8192, N - 1};
    fold_kit kit;
    kit_open(&kit, conform_real());
    double *x = conform_memory(N * sizeof *x);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        x[places[i]] = NAN;
        rubus_array *array = put(&kit, x, N);
        static const char *const names[] = {"total", "most", "least"};
        for (int k = 0; k < 3; k++) {
            const double got = fold(&kit, names[k], array);
            conform_true(isnan(got), "%s with a NaN at place %lld is %g", names[k],
                         (long long)places[i], got);
        }
        rubus_array_destroy(array);
        x[places[i]] = 0;
    }
    free(x);
    kit_close(&kit);
}

static void extremes(void)
{
    fold_kit kit;
    kit_open(&kit, conform_real());
    conform_dice dice = {conform_seed()};
    for (int i = 1; i < NLINE; i++) {
        const int64_t n = line_sizes[i];
        double *x = conform_memory((size_t)n * sizeof *x);
        for (int64_t k = 0; k < n; k++) {
            x[k] = (double)(conform_below(&dice, 1000) - 500) / 4;
        }
        const int64_t at[2] = {conform_below(&dice, n), conform_below(&dice, n)};
        x[at[0]] = 777.5;
        rubus_array *array = put(&kit, x, n);
        double got = fold(&kit, "most", array);
        conform_true(got == 777.5, "the largest of %lld, at %lld: %g, not 777.5",
                     (long long)n, (long long)at[0], got);
        rubus_array_destroy(array);
        x[at[1]] = -999.25;
        array = put(&kit, x, n);
        got = fold(&kit, "least", array);
        conform_true(got == -999.25, "the smallest of %lld, at %lld: %g, not -999.25",
                     (long long)n, (long long)at[1], got);
        rubus_array_destroy(array);
        free(x);
    }
    rubus_array *nothing = put(&kit, NULL, 0);
    conform_true(fold(&kit, "total", nothing) == 0, "the sum of nothing is not 0");
    conform_true(fold(&kit, "most", nothing) == -HUGE_VAL,
                 "the largest of nothing is not -inf");
    conform_true(fold(&kit, "least", nothing) == HUGE_VAL,
                 "the smallest of nothing is not inf");
    rubus_array_destroy(nothing);
    kit_close(&kit);
}

/* A result that stays on the device is the same number, and later kernels see it. */
static void result_in_array(void)
{
    static const char text[] =
        "reduce sum total(in real a[nx]) = a;\n"
        "kernel scaled(out real r[nx], in real a[nx], in real s[1]) over (i in 0:nx)\n"
        "{ r[i] = a[i] / s[0]; }\n";
    enum { N = 5000, ROUNDS = 40 };
    const int32_t real = conform_real();
    rubus_context *context = conform_open();
    rubus_module *module = conform_module(context, text, real);
    rubus_array *a = NULL;
    rubus_array *r = NULL;
    conform_ok(rubus_array_create(context, real, RUBUS_SHAPE(N), &a));
    conform_ok(rubus_array_create(context, real, RUBUS_SHAPE(N), &r));
    conform_window s = conform_window_make(context, real, RUBUS_SHAPE(1), 2);
    for (int round = 0; round < ROUNDS; round++) {
        double sum = 0;
        conform_ok(rubus_array_fill(a, round + 1));
        conform_ok(rubus_launch(conform_kernel(module, "total"), a, s.array));
        conform_ok(rubus_launch(conform_kernel(module, "scaled"), r, a, s.array));
        conform_ok(rubus_array_fill(a, round + 1));
        conform_ok(rubus_launch(conform_kernel(module, "total"), a, &sum));
        void *got = conform_contents(r);
        void *kept = conform_contents(s.array);
        conform_true(sum == (double)N * (round + 1) &&
                         conform_real_at(kept, real, 0) == sum,
                     "round %d: the sum is %g as a number, %g in an array", round, sum,
                     conform_real_at(kept, real, 0));
        const double want = real == RUBUS_F64 ? 1.0 / N : (double)(1.0F / N);
        conform_true(conform_real_at(got, real, N - 1) == want,
                     "round %d: the kernel that uses the sum gives %.17g, not %.17g",
                     round, conform_real_at(got, real, N - 1), want);
        free(got);
        free(kept);
    }
    conform_window_check(&s, "a result in an array");
    conform_window_destroy(&s);
    rubus_array_destroy(a);
    rubus_array_destroy(r);
    rubus_module_destroy(module);
    rubus_context_destroy(context);
}

static void repeat_bitwise(void)
{
    enum { N = 100003, ROUNDS = 100 };
    fold_kit kit;
    kit_open(&kit, conform_real());
    rubus_array *a = NULL;
    conform_ok(rubus_array_create(kit.context, kit.real, RUBUS_SHAPE(N), &a));
    conform_ok(rubus_array_random(a, conform_seed() >> 1, -1, 1));
    const double first = fold(&kit, "total", a);
    const int rounds = conform_interprets() ? 10 : ROUNDS;
    for (int round = 0; round < rounds; round++) {
        const double again = fold(&kit, "total", a);
        conform_true(memcmp(&first, &again, sizeof first) == 0,
                     "one sum is %.17g at first and %.17g in round %d", first, again,
                     round);
    }
    rubus_array_destroy(a);
    kit_close(&kit);
}

const conform_check conform_reduce_checks[] = {
    {"R01_lines_to_the_bit", CONFORM_BASIC, 180, 0,
     "sums, largest and smallest of lines of many lengths, as the interpreter has them",
     lines_to_the_bit},
    {"R02_sum_error_bound", CONFORM_BASIC, 120, 0,
     "sums within the bound of their order of additions", sum_error_bound},
    {"R03_extremes", CONFORM_BASIC, 120, 0,
     "largest and smallest numbers wherever they stand; folds of nothing", extremes},
    {"R04_nan_shows", CONFORM_BASIC, 60, 0, "a NaN anywhere shows in the result",
     nan_shows},
    {"R05_planes_to_the_bit", CONFORM_FULL, 180, 0,
     "folds over 2 and 3 dimensions, as the interpreter has them", planes_to_the_bit},
    {"R06_folds_of_expressions", CONFORM_BASIC, 180, CONFORM_NEEDS_BOOL,
     "folds of expressions, several in one kernel, beside writes", folds_of_expressions},
    {"R07_result_in_array", CONFORM_BASIC, 60, 0,
     "a result that stays on the device, used by the next kernel", result_in_array},
    {"R08_repeat_bitwise", CONFORM_FULL, 120, 0, "100 times the same bits",
     repeat_bitwise},
    {.name = NULL},
};
