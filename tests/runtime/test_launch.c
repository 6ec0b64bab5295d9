/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches: scalars of every kind, ranges, several passes, many arguments; and every
 * reason for which one is refused before anything runs.
 */
#include "config.h"

#include <check.h>

#include "tests/support/backends.h"
#include "tests/support/faulty_ops.h"
#include "tests/support/suite.h"

static const char source[] =
    "kernel mix(out real a[n], in real b[n], real f, int k, bool on)\n"
    "{ a = on ? f * b + k : b; }\n"
    "kernel two(out real a[n], inout real b[n], out real s)\n"
    "{ b += 1; a[1:-1] = b[:-2] + b[2:]; s = sum(b); }\n"
    "kernel grid(out real a[nx, ny]) over (i in 1:nx - 1, j) { a[i, j] = i + 10 * j; }\n"
    "kernel cube(out real a[nx, ny, nz]) over (i, j, k) { a[i, j, k] = i + j + k; }\n"
    "kernel ints(out int a[n], in bool m[n]) { a = m ? 7 : -7; }\n"
    "kernel shift(out real a[n], in real b[n], int k) over (i) { a[i] = b[i + k]; }\n"
    "kernel pair(out real a[n], in real b[n+2]) { a = b[1:-1]; }\n"
    "kernel least(inout real u[nx]) { u[0] = u[-2]; }\n"
    "kernel margins(inout real u[nx,ny]) { u = 2 * u + 1; u[2:, 1:] = -u[2:, 1:]; }\n";

static rubus_context *context;
static rubus_module *module;
static rubus_array *a;
static rubus_array *b;

static void begin(int at)
{
    context = backends_open(at);
    module = backends_module(context, source, RUBUS_F64, 0);
    a = backends_ramp(context, 10, 0);
    b = backends_ramp(context, 10, 100);
}

static void end(void)
{
    rubus_array_destroy(a);
    rubus_array_destroy(b);
    rubus_module_destroy(module);
    backends_finish(context);
}

START_TEST(launch_takes_scalars_of_every_kind)
{
    begin(_i);
    const rubus_kernel *mix = backends_kernel(module, "mix");
    ok(rubus_launch(mix, a, b, 0.5, 3, true));
    ck_assert(backends_get(a, 9) == 57.5);
    ok(rubus_launch(mix, a, b, 2, 3, 1)); // an integer for a real
    ck_assert(backends_get(a, 9) == 221);
    ok(rubus_launch(mix, a, b, 2.0f, (int64_t)-3, false));
    ck_assert(backends_get(a, 9) == 109);
    ok(rubus_launch(mix, a, b, (unsigned char)2, (short)-1, 1));
    ck_assert(backends_get(a, 0) == 199);
    const uint8_t m[3] = {1, 0, 1};
    int32_t host[3];
    rubus_array *truth = NULL;
    rubus_array *whole = NULL;
    ok(rubus_array_from(context, RUBUS_BOOL, RUBUS_SHAPE(3), m, &truth));
    ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(3), &whole));
    ok(rubus_launch(backends_kernel(module, "ints"), whole, truth));
    ok(rubus_array_read(whole, host, sizeof host));
    ck_assert(host[0] == 7 && host[1] == -7 && host[2] == 7);
    rubus_array_destroy(truth);
    rubus_array_destroy(whole);
    end();
}
END_TEST

START_TEST(launch_runs_all_passes_in_order)
{
    begin(_i);
    double sum = 0;
    ok(rubus_launch(backends_kernel(module, "two"), a, b, &sum));
    ck_assert_msg(sum == 1055, "%g", sum); // 101 + ... + 110
    double host[10];
    ok(rubus_array_read(a, host, sizeof host));
    for (int i = 1; i < 9; i++) {
        ck_assert_msg(host[i] == 202 + 2 * i, "element %d is %g", i, host[i]);
    }
    ck_assert(host[0] == 0 && host[9] == 9); // not written: kept
    end();
}
END_TEST

START_TEST(launch_range_covers_its_points_only)
{
    begin(_i);
    rubus_array *g = NULL;
    double host[6 * 5];
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(6, 5), &g));
    const rubus_kernel *grid = backends_kernel(module, "grid");
    ok(rubus_launch(grid, g));
    ok(rubus_array_read(g, host, sizeof host));
    for (int k = 0; k < 30; k++) {
        const int i = k % 6;
        const double want = i >= 1 && i < 5 ? i + 10 * (k / 6) : 0;
        ck_assert_msg(host[k] == want, "point %d is %g", k, host[k]);
    }
    ok(rubus_array_fill(g, -1));
    const int64_t lo[2] = {2, 1};
    const int64_t hi[2] = {6, 3};
    ok(rubus_launch_range(grid, lo, hi, g));
    ok(rubus_array_read(g, host, sizeof host));
    for (int k = 0; k < 30; k++) {
        const int i = k % 6;
        const int j = k / 6;
        const double want = i >= 2 && j >= 1 && j < 3 ? i + 10 * j : -1;
        ck_assert_msg(host[k] == want, "point %d, %d is %g", i, j, host[k]);
    }
    ok(rubus_array_fill(g, -1));
    ok(rubus_launch_range(grid, lo, lo, g)); // empty
    ok(rubus_launch_range(grid, hi, lo, g));
    ck_assert(backends_get(g, 8) == -1);
    const int64_t far[2] = {7, 3};
    fails(rubus_launch_range(grid, lo, far, g), RUBUS_EBOUNDS,
          "kernel `grid`|element 6|first dimension of `a`|0 to 5|nothing ran");
    fails(rubus_launch_range(grid, NULL, hi, g), RUBUS_EINVAL, "`grid`|lo or hi");
    fails(rubus_launch_range(grid, lo, NULL, g), RUBUS_EINVAL, "`grid`|lo or hi");
    fails(rubus_launch_range(backends_kernel(module, "two"), lo, hi, a, b, b),
          RUBUS_EINVAL, "`two`|whole-array kernel|rubus_launch");
    fails(rubus_launch_range(NULL, lo, hi, g), RUBUS_ENOTFOUND, "kernel is NULL");
    ck_assert(backends_get(g, 8) == -1);
    rubus_array_destroy(g);
    end();
}
END_TEST

START_TEST(launch_in_three_dimensions_and_of_nothing)
{
    begin(_i);
    rubus_array *c = NULL;
    double host[3 * 4 * 5];
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(3, 4, 5), &c));
    ok(rubus_launch(backends_kernel(module, "cube"), c));
    ok(rubus_array_read(c, host, sizeof host));
    for (int k = 0; k < 60; k++) {
        ck_assert(host[k] == k % 3 + k / 3 % 4 + k / 12);
    }
    rubus_array_destroy(c);
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(3, 0, 5), &c));
    ok(rubus_launch(backends_kernel(module, "cube"), c));
    rubus_array_destroy(c);
    end();
}
END_TEST

START_TEST(launch_on_arrays_smaller_than_a_margin)
{
    begin(_i);
    const rubus_kernel *margins = backends_kernel(module, "margins");
    for (int64_t nx = 1; nx < 5; nx++) {
        for (int64_t ny = 1; ny < 4; ny++) {
            double host[12];
            for (int k = 0; k < nx * ny; k++) {
                host[k] = k;
            }
            rubus_array *u = NULL;
            ok(rubus_array_from(context, RUBUS_F64, RUBUS_SHAPE(nx, ny), host, &u));
            ok(rubus_launch(margins, u));
            ok(rubus_array_read(u, host, (size_t)(nx * ny) * sizeof host[0]));
            for (int k = 0; k < nx * ny; k++) {
                const double sign = k % nx >= 2 && k / nx >= 1 ? -1 : 1;
                ck_assert_msg(host[k] == sign * (2 * k + 1), "%d by %d, %d: %g", (int)nx,
                              (int)ny, k, host[k]);
            }
            rubus_array_destroy(u);
        }
    }
    end();
}
END_TEST

START_TEST(launch_with_wrong_arguments_is_refused)
{
    begin(_i);
    const rubus_kernel *mix = backends_kernel(module, "mix");
    const rubus_kernel *two = backends_kernel(module, "two");
    rubus_array *none = NULL;
    double *nowhere = NULL;
    fails(rubus_launch(mix, a, b, 1.0, 3), RUBUS_EINVAL, "`mix` takes 5 arguments, 4");
    fails(rubus_launch(mix, a, b, 1.0, 3, 1, 1), RUBUS_EINVAL,
          "takes 5 arguments, 6 given");
    fails(rubus_launch_args(mix, NULL, 5), RUBUS_EINVAL, "takes 5 arguments, 0 given");
    fails(rubus_launch(mix, 3, b, 1.0, 3, 1), RUBUS_EINVAL,
          "`mix`|argument 1 (`a`) must be an array, an integer was given");
    fails(rubus_launch(mix, a, &nowhere[0], 1.0, 3, 1), RUBUS_EINVAL,
          "argument 2 (`b`)|a pointer to double was given");
    fails(rubus_launch(mix, a, none, 1.0, 3, 1), RUBUS_EINVAL,
          "argument 2 (`b`) is NULL");
    fails(rubus_launch(mix, a, b, 1.0, 3.0, 1), RUBUS_EINVAL,
          "argument 4 (`k`) must be an integer, a real number was given");
    fails(rubus_launch(mix, a, b, a, 3, 1), RUBUS_EINVAL,
          "argument 3 (`f`) must be a number, an array was given");
    fails(rubus_launch(mix, a, b, 1.0, 3, 2), RUBUS_EINVAL, "`on`|0 or 1; 2 was given");
    fails(rubus_launch(mix, a, b, 1.0, INT64_C(3000000000), 1), RUBUS_ELIMIT,
          "3000000000 for `k`|32-bit|index i64");
    fails(rubus_launch(two, a, b, nowhere), RUBUS_EINVAL, "result `s` is NULL");
    fails(rubus_launch(two, a, b, 1.0), RUBUS_EINVAL,
          "(`s`) must be a pointer to double or float|a real number was given");
    fails(rubus_launch(two, a, b, none), RUBUS_EINVAL, "(`s`) is NULL");
    const rubus_arg odd[] = {rubus_arg_array(a), rubus_arg_array(b), {.kind = 99}};
    fails(rubus_launch_args(two, odd, 3), RUBUS_EINVAL, "(`s`)|nothing known was given");
    float *narrow = NULL;
    fails(rubus_launch(mix, a, narrow, 1.0, 3, 1), RUBUS_EINVAL, "a pointer to float");
    ck_assert(backends_get(a, 3) == 3);
    end();
}
END_TEST

START_TEST(launch_with_unfit_arrays_is_refused)
{
    begin(_i);
    const rubus_kernel *mix = backends_kernel(module, "mix");
    rubus_array *other = NULL;
    ok(rubus_array_create(context, RUBUS_F32, RUBUS_SHAPE(10), &other));
    fails(rubus_launch(mix, a, other, 1.0, 3, 1), RUBUS_ETYPE,
          "`mix`|`b` has elements of f64, the array given has f32");
    rubus_array_destroy(other);
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(10, 1), &other));
    fails(rubus_launch(mix, a, other, 1.0, 3, 1), RUBUS_ESHAPE,
          "`b` has rank 1|given has rank 2");
    fails(rubus_launch(backends_kernel(module, "two"), a, b, other), RUBUS_ESHAPE,
          "result `s` has 10 elements, it must have one");
    rubus_array_destroy(other);
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(11), &other));
    fails(rubus_launch(mix, a, other, 1.0, 3, 1), RUBUS_ESHAPE,
          "`mix`|first extent of `b` is 11|(n)|10");
    fails(rubus_launch(backends_kernel(module, "pair"), a, other), RUBUS_ESHAPE,
          "`pair`|extent of `b` is 11|n+2|12");
    rubus_array_destroy(other);
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(1), &other));
    fails(rubus_launch(backends_kernel(module, "least"), other), RUBUS_ESHAPE,
          "`least`|test.rk:10|`u` is too small|nx-3 >= 0, which is -2");
    fails(rubus_launch(backends_kernel(module, "shift"), a, b, 3), RUBUS_EBOUNDS,
          "`shift`|test.rk:8|element 12|`b`|0 to 9|nothing ran");
    fails(rubus_launch(backends_kernel(module, "shift"), a, b, -1), RUBUS_EBOUNDS,
          "element -1|`b`");
    ck_assert(backends_get(a, 3) == 3);
    rubus_array_destroy(other);
    end();
}
END_TEST

START_TEST(test_trap_19_shared_memory_is_refused)
{
    begin(_i);
    const rubus_kernel *mix = backends_kernel(module, "mix");
    rubus_array *low = NULL;
    rubus_array *high = NULL;
    rubus_array *none = NULL;
    fails(rubus_launch(mix, a, a, 1.0, 3, 1), RUBUS_EALIAS,
          "`mix`|`a` is written|shares memory with `b`|two different arrays");
    ok(rubus_array_view(a, 0, RUBUS_SHAPE(5), &low));
    ok(rubus_array_view(a, 4, RUBUS_SHAPE(5), &high));
    ok(rubus_array_view(a, 4, RUBUS_SHAPE(0), &none));
    fails(rubus_launch(mix, low, high, 1.0, 3, 1), RUBUS_EALIAS, "`a`|`b`");
    for (int k = 0; k < 10; k++) {
        ck_assert_double_eq(backends_get(a, k), k); // nothing ran
    }
    rubus_array_destroy(high);
    ok(rubus_array_view(a, 5, RUBUS_SHAPE(5), &high));
    ok(rubus_launch(mix, low, high, 1.0, 3, 1));
    ck_assert(backends_get(a, 0) == 8);
    // an array of no elements overlaps nothing
    const rubus_arg args[] = {rubus_arg_array(none), rubus_arg_array(none),
                              rubus_arg_real(1), rubus_arg_integer(1),
                              rubus_arg_integer(1)};
    ok(rubus_launch_args(mix, args, 5));
    rubus_array_destroy(none);
    ok(rubus_array_view(b, 2, RUBUS_SHAPE(1), &none));
    fails(rubus_launch(backends_kernel(module, "two"), a, b, none), RUBUS_EALIAS,
          "`b`|`s`");
    void *p = NULL;
    ok(rubus_array_map(high, RUBUS_READ, &p));
    fails(rubus_launch(mix, low, high, 1.0, 3, 1), RUBUS_ESTATE, "`mix`|`b` is mapped");
    fails(rubus_launch(mix, a, b, 1.0, 3, 1), RUBUS_ESTATE, "`a` is mapped");
    ok(rubus_array_unmap(high));
    rubus_array_destroy(none);
    rubus_array_destroy(low);
    rubus_array_destroy(high);
    end();
}
END_TEST

START_TEST(launch_across_contexts_is_refused)
{
    begin(_i);
    rubus_context *there = backends_open((_i + 1) % BACKENDS);
    rubus_array *foreign = backends_ramp(there, 10, 0);
    char here_name[32];
    char there_name[32];
    char words[128];
    backends_name(_i, here_name);
    backends_name((_i + 1) % BACKENDS, there_name);
    snprintf(words, sizeof words, "`mix`|on backend %s|`b` lives on %s|rubus_array_copy",
             here_name, there_name);
    fails(rubus_launch(backends_kernel(module, "mix"), a, foreign, 1.0, 3, 1),
          RUBUS_EFOREIGN, words);
    rubus_array_destroy(foreign);
    rubus_context_destroy(there);
    end();
}
END_TEST

START_TEST(launch_with_very_many_arguments_works)
{
    // more than the working memory on the stack holds
    enum { N = 150 };
    rubus__text text;
    rubus__text_init(&text);
    rubus__text_add(&text, "kernel many(out real a[n]");
    for (int k = 0; k < N; k++) {
        rubus__text_format(&text, ", real f%d", k);
    }
    rubus__text_add(&text, ") { a = f0");
    for (int k = 1; k < N; k++) {
        rubus__text_format(&text, " + f%d", k);
    }
    rubus__text_add(&text, "; }\n");
    begin(_i);
    rubus_module *large = backends_module(context, text.data, RUBUS_F64, 0);
    rubus_arg args[N + 1];
    args[0] = rubus_arg_array(a);
    for (int k = 0; k < N; k++) {
        args[k + 1] = rubus_arg_integer(k);
    }
    ok(rubus_launch_args(backends_kernel(large, "many"), args, N + 1));
    ck_assert(backends_get(a, 9) == N * (N - 1) / 2);
    rubus_module_destroy(large);
    rubus__text_fini(&text);
    end();
}
END_TEST

START_TEST(launch_failure_of_the_device_is_passed_on)
{
    begin(_i);
    double sum = -1;
    faulty_install(context);
    faulty_status = RUBUS_ETIMEOUT;
    fails(rubus_launch(backends_kernel(module, "mix"), a, b, 1.0, 3, 1), RUBUS_ETIMEOUT,
          "slot launch: the cable was pulled");
    fails(rubus_launch(backends_kernel(module, "two"), a, b, &sum), RUBUS_ETIMEOUT,
          "slot buffer_create: the cable was pulled");
    ck_assert(sum == -1);
    faulty_status = RUBUS_OK;
    ok(rubus_launch(backends_kernel(module, "two"), a, b, &sum));
    ck_assert(sum == 1055);
    end();
}
END_TEST

static Suite *launch_suite(void)
{
    TCase *tc = tcase_create("launch");
    backends_add(tc, launch_takes_scalars_of_every_kind);
    backends_add(tc, launch_runs_all_passes_in_order);
    backends_add(tc, launch_range_covers_its_points_only);
    backends_add(tc, launch_in_three_dimensions_and_of_nothing);
    backends_add(tc, launch_on_arrays_smaller_than_a_margin);
    backends_add(tc, launch_with_wrong_arguments_is_refused);
    backends_add(tc, launch_with_unfit_arrays_is_refused);
    backends_add(tc, test_trap_19_shared_memory_is_refused);
    backends_add(tc, launch_across_contexts_is_refused);
    backends_add(tc, launch_with_very_many_arguments_works);
    backends_add(tc, launch_failure_of_the_device_is_passed_on);
    Suite *suite = suite_create("runtime: launches");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: launches", launch_suite)
