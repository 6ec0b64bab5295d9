/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter on whole-array kernels against closed forms: statements, slices,
 * lifting, padding, coordinates, values taken where they stand, conditions, and folds
 * whose order shows in the bits.
 */
#include "config.h"

#include "tests/kernel/interpret_run.h"
#include "tests/support/suite.h"

#include <float.h>
#include <math.h>

enum { NX = 5, NY = 4, NZ = 3 };

static void count_up(double *a, int64_t n, double first)
{
    for (int64_t k = 0; k < n; k++) {
        a[k] = first + (double)k;
    }
}

static void assert_all(const double *got, const double *want, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        ck_assert_msg(got[k] == want[k] || (isnan(got[k]) && isnan(want[k])),
                      "element %lld is %.17g, not %.17g", (long long)k, got[k], want[k]);
    }
}

START_TEST(assign_inner_slice_leaves_the_rim)
{
    double u[NX * NY];
    double d[(NX - 2) * (NY - 2)];
    double want[NX * NY];
    count_up(u, NX * NY, 0.0);
    count_up(want, NX * NY, 0.0);
    count_up(d, (NX - 2) * (NY - 2), 10.0);
    for (int j = 0; j < NY - 2; j++) {
        for (int i = 0; i < NX - 2; i++) {
            want[i + 1 + NX * (j + 1)] += 0.5 * d[i + (NX - 2) * j];
        }
    }
    run_arg args[] = {RUN_ARRAY2(u, NX, NY), RUN_ARRAY2(d, NX - 2, NY - 2),
                      RUN_REAL(0.5)};
    run_good("kernel k(inout real u[nx,ny], in real d[nx-2,ny-2], real a)"
             "{ u[1:-1, 1:-1] += a * d; }",
             args);
    assert_all(u, want, NX * NY);
}
END_TEST

START_TEST(assign_slice_that_is_an_op_writes_there)
{
    double u[NX] = {1, 2, 3, 4, 5};
    const double want[NX] = {1, 4, 6, 8, 5};
    run_arg args[] = {RUN_ARRAY1(u, NX)};
    run_good("op middle(A[]) = A[1:-1]; kernel k(inout real u[n]) { middle(u) *= 2; }",
             args);
    assert_all(u, want, NX);
}
END_TEST

START_TEST(assign_reads_the_whole_value_before_it_writes)
{
    double u[NX * NY];
    double want[NX * NY];
    count_up(u, NX * NY, 0.0);
    count_up(want, NX * NY, 0.0);
    for (int j = 0; j < NY; j++) {
        want[NX * j] = want[NX - 2 + NX * j];
        want[NX - 1 + NX * j] = want[1 + NX * j];
    }
    run_arg args[] = {RUN_ARRAY2(u, NX, NY)};
    run_good("kernel k(inout real u[nx,ny]) { u[0, :] = u[-2, :]; u[-1, :] = u[1, :]; }",
             args);
    assert_all(u, want, NX * NY);
}
END_TEST

START_TEST(statements_see_what_earlier_ones_wrote)
{
    double u[NX] = {1, 2, 3, 4, 5};
    double v[NX] = {0, 0, 0, 0, 0};
    const double want[NX] = {0, 6, 6, 6, 0}; /* the second difference of i*i is 2 */
    for (int i = 0; i < NX; i++) {
        u[i] = (double)i;
    }
    run_arg args[] = {RUN_ARRAY1(u, NX), RUN_ARRAY1(v, NX)};
    run_good("kernel k(inout real u[n], inout real v[n])"
             "{ u = u * u; v[1:-1] = 3 * (u[2:] - 2 * u[1:-1] + u[:-2]); }",
             args);
    assert_all(v, want, NX);
}
END_TEST

START_TEST(let_keeps_the_value_where_it_stands)
{
    double u[NX] = {1, 2, 3, 4, 5};
    double v[NX];
    double w[NX];
    const double one[NX] = {1, 1, 1, 1, 1};
    const double old[NX] = {1, 2, 3, 4, 5};
    run_arg args[] = {RUN_ARRAY1(u, NX), RUN_ARRAY1(v, NX), RUN_ARRAY1(w, NX)};
    run_good("kernel k(inout real u[n], out real v[n], out real w[n])"
             "{ let old = u; u += 1; v = u - old; w = old; }",
             args);
    assert_all(v, one, NX);
    assert_all(w, old, NX);
}
END_TEST

START_TEST(slice_counts_from_both_ends)
{
    double u[NX * NY];
    double v[NY];
    double w[2];
    count_up(u, NX * NY, 0.0);
    const double second_last[NY] = {3, 8, 13, 18};
    const double two[2] = {NX * 3 + 1, NX * 3 + 2};
    run_arg args[] = {RUN_ARRAY2(u, NX, NY), RUN_ARRAY1(v, NY), RUN_ARRAY1(w, 2),
                      RUN_INT(1)};
    run_good("kernel k(in real u[nx,ny], out real v[ny], out real w[], int k)"
             "{ v = u[-2, :]; w = u[k:k+2, -1]; }",
             args);
    assert_all(v, second_last, NY);
    assert_all(w, two, 2);
}
END_TEST

START_TEST(lift_scales_along_each_axis)
{
    double u[NX * NY * NZ];
    double h[NX];
    double s[NZ];
    double v[NX * NY * NZ];
    count_up(u, NX * NY * NZ, 1.0);
    count_up(h, NX, 2.0);
    count_up(s, NZ, 3.0);
    run_arg args[] = {RUN_ARRAY3(u, NX, NY, NZ), RUN_ARRAY1(h, NX), RUN_ARRAY1(s, NZ),
                      RUN_ARRAY3(v, NX, NY, NZ)};
    run_good("kernel k(in real u[nx,ny,nz], in real h[nx], in real s[nz], out real "
             "v[nx,ny,nz])"
             "{ v = h[:, *, *] * u + s[*, *, :]; }",
             args);
    for (int k = 0; k < NZ; k++) {
        for (int j = 0; j < NY; j++) {
            for (int i = 0; i < NX; i++) {
                int e = i + NX * (j + NY * k);
                ck_assert_double_eq(v[e], (2.0 + i) * (1.0 + e) + (3.0 + k));
            }
        }
    }
}
END_TEST

START_TEST(lift_alone_fills_the_target)
{
    double h[NX];
    double v[NX * NY];
    count_up(h, NX, 2.0);
    run_arg args[] = {RUN_ARRAY1(h, NX), RUN_ARRAY2(v, NX, NY)};
    run_good("kernel k(in real h[nx], out real v[nx,ny]) { v = h[:, *]; }", args);
    for (int e = 0; e < NX * NY; e++) {
        ck_assert_double_eq(v[e], 2.0 + e % NX);
    }
}
END_TEST

START_TEST(pad_puts_cells_around)
{
    double u[2 * 2] = {1, 2, 3, 4};
    double v[4 * 4];
    double w[3 * 4];
    const double all[4 * 4] = {9, 9, 9, 9, 9, 1, 2, 9, 9, 3, 4, 9, 9, 9, 9, 9};
    const double some[3 * 4] = {7, 1, 2, 7, 3, 4, 7, 7, 7, 7, 7, 7};
    run_arg args[] = {RUN_ARRAY2(u, 2, 2), RUN_ARRAY2(v, 4, 4), RUN_ARRAY2(w, 3, 4),
                      RUN_REAL(9.0)};
    run_good(
        "kernel k(in real u[nx,ny], out real v[nx+2,ny+2], out real w[nx+1,ny+2], real a)"
        "{ v = pad(u, a); w = pad(u, 7, 1:0, 0:2); }",
        args);
    assert_all(v, all, 16);
    assert_all(w, some, 12);
}
END_TEST

START_TEST(coordinates_count_from_their_field)
{
    double u[NX * NY];
    double v[NX * NY];
    double w[(NX - 2) * (NY - 2)];
    double x[(NX - 2) * (NY - 2)];
    run_arg args[] = {RUN_ARRAY2(u, NX, NY), RUN_ARRAY2(v, NX, NY),
                      RUN_ARRAY2(w, NX - 2, NY - 2), RUN_ARRAY2(x, NX - 2, NY - 2)};
    count_up(u, NX * NY, 0.0);
    run_good("kernel k(in real u[nx,ny], out real v[nx,ny], out real w[nx-2,ny-2],"
             " out real x[nx-2,ny-2])"
             "{ v = ix(u) + 100 * iy(u); w = ix(u)[1:-1, 1:-1]; x = iy(inn(u)); }",
             args);
    for (int e = 0; e < NX * NY; e++) {
        ck_assert_double_eq(v[e], e % NX + 100.0 * (e / NX));
    }
    for (int e = 0; e < (NX - 2) * (NY - 2); e++) {
        ck_assert_double_eq(w[e], 1.0 + e % (NX - 2));
        ck_assert_double_eq(x[e], 0.0 + e / (NX - 2));
    }
}
END_TEST

START_TEST(condition_runs_one_side)
{
    double u[NX] = {1, 2, 3, 4, 5};
    const double want[2][NX] = {{-1, -2, -3, -4, -5}, {2, 3, 4, 5, 6}};
    for (int k = 0; k < 2; k++) {
        count_up(u, NX, 1.0);
        run_arg args[] = {RUN_ARRAY1(u, NX), RUN_INT(k), RUN_REAL(1.0)};
        run_good("kernel k(inout real u[n], int k, real a)"
                 "{ if (k > 0 && a == 1) { u += 1; } else if (n > 2) u = -u; }",
                 args);
        assert_all(u, want[k], NX);
    }
}
END_TEST

START_TEST(ints_and_bools_fill_their_arrays)
{
    double u[NX] = {-1.5, 2.5, (double)NAN, 1e20, 0};
    int32_t i[NX];
    uint8_t b[NX];
    double v[NX];
    const int32_t want_i[NX] = {-1, 2, 0, INT32_MAX, 0};
    const uint8_t want_b[NX] = {1, 0, 0, 0, 0};
    const double want_v[NX] = {-1, 3, 3, 3, 3};
    run_arg args[] = {RUN_ARRAY1(u, NX), RUN_ARRAY1(i, NX), RUN_ARRAY1(b, NX),
                      RUN_ARRAY1(v, NX)};
    run_good("kernel k(in real u[n], out int i[n], out bool b[n], out real v[n])"
             "{ i = int(u); b = u < 0; v = b ? i : 3; }",
             args);
    ck_assert_mem_eq(i, want_i, sizeof(i));
    ck_assert_mem_eq(b, want_b, sizeof(b));
    assert_all(v, want_v, NX);
}
END_TEST

START_TEST(funcs_run_point_by_point)
{
    double u[NX] = {-2, -1, 0, 1, 2};
    double v[NX];
    const double want[NX] = {28, 6, 0, 4,
                             16}; /* s = x^2 + (2x)^2; then 5x^2 - x for x < 0,
                                                  else 4x^2; and 6 more where x < -1 */
    run_arg args[] = {RUN_ARRAY1(u, NX), RUN_ARRAY1(v, NX)};
    run_good("func real f(real x, real c) {"
             "  real q[3]; real s = 0; real zero;"
             "  for (int k = 0; k < 3; k++) { q[k] = x * k; }"
             "  int k = 0;"
             "  while (true) { if (k == 3) break; s += q[k] * q[k]; k++; }"
             "  if (x < 0) { return s + c * -x + zero; }"
             "  return s - x * x;"
             "}"
             "kernel k(in real u[n], out real v[n]) { v = f(u, 1) + (u < -1 ? 6 : 0); }",
             args);
    assert_all(v, want, NX);
}
END_TEST

START_TEST(floats_round_after_each_operation)
{
    float u[2] = {16777216.0F, 0.1F};
    float v[2];
    run_arg args[] = {RUN_ARRAY1(u, 2), RUN_ARRAY1(v, 2)};
    rk_program *program =
        run_compile("kernel k(in real u[n], out real v[n]) { v = u + 1.0 - u * 1.1; }",
                    run_options(RUBUS_F32, RUBUS_I32, false));
    ck_assert_int_eq(run_number(program, 0, args, NULL, NULL), RUBUS_OK);
    rk_program_destroy(program);
    for (int e = 0; e < 2; e++) {
        float sum = u[e] + 1.0F;
        float product = u[e] * 1.1F;
        float want = sum - product;
        ck_assert_mem_eq(&v[e], &want, sizeof(want));
    }
}
END_TEST

START_TEST(empty_shapes_do_nothing)
{
    double u[1] = {7};
    double s = -1;
    double most = -1;
    run_arg args[] = {RUN_ARRAY1(u, 1), RUN_RESULT(&s), RUN_RESULT(&most)};
    run_good("kernel k(inout real u[n], out real s, out real m)"
             "{ u[1:-0] = 5; s = sum(u[1:]); m = max(u[1:]); }",
             args);
    ck_assert_double_eq(u[0], 7);
    ck_assert_double_eq(s, 0);
    ck_assert_double_eq(most, -(double)INFINITY);
}
END_TEST

START_TEST(deep_expression_runs)
{
    enum { DEPTH = 2000 };
    const char head[] = "kernel k(in real u[n], out real v[n]) { v = ";
    char *text = malloc(sizeof(head) + (size_t)DEPTH * 8 + 64);
    ck_assert_ptr_nonnull(text);
    char *at = stpcpy(text, head);
    for (int k = 0; k < DEPTH; k++) {
        at = stpcpy(at, "(1+");
    }
    at = stpcpy(at, "u");
    for (int k = 0; k < DEPTH; k++) {
        at = stpcpy(at, ")");
    }
    strcpy(at, "; }");
    double u[3] = {0, 1, 2};
    double v[3];
    run_arg args[] = {RUN_ARRAY1(u, 3), RUN_ARRAY1(v, 3)};
    run_good(text, args);
    free(text);
    ck_assert_double_eq(v[2], DEPTH + 2);
}
END_TEST

/* --- folds ------------------------------------------------------------------------ */

static const int64_t fold_size[] = {0,  1,  2,    31,   32,   33,  63,
                                    64, 65, 4095, 4096, 4097, 8193};

/* The order of a sum, written the long way round: lanes, their tree, the segments' tree.
 * */
static double tree_sum(double *p, int64_t n)
{
    for (int64_t step = 1; step < n; step *= 2) {
        for (int64_t k = 0; k + step < n; k += 2 * step) {
            p[k] += p[k + step];
        }
    }
    return n > 0 ? p[0] : 0;
}

static double expected_sum(const double *x, int64_t n, int64_t nline)
{
    double *part = calloc((size_t)(n / 4096 + 1) * (size_t)nline + 1, sizeof(*part));
    ck_assert_ptr_nonnull(part);
    int64_t npart = 0;
    for (int64_t line = 0; line < nline; line++) {
        for (int64_t first = 0; first < n; first += 4096) {
            double lane[32] = {0};
            for (int64_t j = 0; j < 4096 && first + j < n; j++) {
                lane[j % 32] += x[line * n + first + j];
            }
            part[npart++] = tree_sum(lane, 32);
        }
    }
    double sum = tree_sum(part, npart);
    free(part);
    return sum;
}

START_TEST(sum_keeps_the_documented_order)
{
    int64_t n = fold_size[_i];
    int64_t nline = 3;
    double *x = calloc((size_t)(n * nline) + 1, sizeof(*x));
    ck_assert_ptr_nonnull(x);
    for (int64_t k = 0; k < n * nline; k++) {
        x[k] = sin((double)k) * exp2((double)(k % 40)); /* order matters */
    }
    double s = -1;
    double most = -1;
    double least = -1;
    run_arg args[] = {RUN_ARRAY2(x, n, nline), RUN_RESULT(&s), RUN_RESULT(&most),
                      RUN_RESULT(&least)};
    run_good("kernel k(in real x[n,m], out real s, out real a, out real b)"
             "{ s = sum(x); a = max(x); b = min(x); }",
             args);
    double want = expected_sum(x, n, nline);
    double big = -(double)INFINITY;
    double small = (double)INFINITY;
    for (int64_t k = 0; k < n * nline; k++) {
        big = x[k] > big ? x[k] : big;
        small = x[k] < small ? x[k] : small;
    }
    free(x);
    ck_assert_msg(memcmp(&s, &want, sizeof(s)) == 0, "sum %.17g, not %.17g", s, want);
    ck_assert_double_eq(most, big);
    ck_assert_double_eq(least, small);
}
END_TEST

START_TEST(float_sum_is_as_good_as_double)
{
    int64_t n = fold_size[_i];
    float *x = calloc((size_t)n + 1, sizeof(*x));
    ck_assert_ptr_nonnull(x);
    double exact = 0;
    double size = 0;
    for (int64_t k = 0; k < n; k++) {
        x[k] = (float)(sin((double)k) + 0.25);
        exact += (double)x[k];
        size += fabs((double)x[k]);
    }
    float s = -1;
    run_arg args[] = {RUN_ARRAY1(x, n), RUN_RESULT(&s)};
    rk_program *program = run_compile("reduce sum s(in real x[n]) = x;",
                                      run_options(RUBUS_F32, RUBUS_I32, false));
    ck_assert_int_eq(run_number(program, 0, args, NULL, NULL), RUBUS_OK);
    rk_program_destroy(program);
    free(x);
    /* one rounding of the result, and the rests lose at most n eps^2 of the absolute sum
     * */
    double eps = (double)FLT_EPSILON;
    double bound = fabs(exact) * eps / 2 + (double)n * eps * eps * size;
    ck_assert_msg(fabs((double)s - exact) <= bound,
                  "sum of %lld floats is off by %g > %g", (long long)n, (double)s - exact,
                  bound);
}
END_TEST

START_TEST(float_sum_overflow_is_infinite)
{
    float x[40];
    for (int k = 0; k < 40; k++) {
        x[k] = FLT_MAX;
    }
    float s = 0;
    run_arg args[] = {RUN_ARRAY1(x, 40), RUN_RESULT(&s)};
    rk_program *program = run_compile("reduce sum s(in real x[n]) = x;",
                                      run_options(RUBUS_F32, RUBUS_I32, false));
    ck_assert_int_eq(run_number(program, 0, args, NULL, NULL), RUBUS_OK);
    rk_program_destroy(program);
    ck_assert(isinf(s) && s > 0);
}
END_TEST

START_TEST(nan_shows_in_every_result)
{
    enum { N = 100 };
    static const int place[] = {0, 1, 31, 32, 64, 99};
    double x[N];
    count_up(x, N, 0.0);
    x[place[_i]] = (double)NAN;
    double s = 0;
    double a = 0;
    double b = 0;
    run_arg args[] = {RUN_ARRAY1(x, N), RUN_RESULT(&s), RUN_RESULT(&a), RUN_RESULT(&b)};
    run_good("kernel k(in real x[n], out real s, out real a, out real b)"
             "{ s = sum(x); a = max(x); b = min(x); }",
             args);
    ck_assert(isnan(s) && isnan(a) && isnan(b));
}
END_TEST

static void add_array_tests(Suite *suite)
{
    TCase *tc = tcase_create("arrays");
    tcase_add_test(tc, assign_inner_slice_leaves_the_rim);
    tcase_add_test(tc, assign_slice_that_is_an_op_writes_there);
    tcase_add_test(tc, assign_reads_the_whole_value_before_it_writes);
    tcase_add_test(tc, statements_see_what_earlier_ones_wrote);
    tcase_add_test(tc, let_keeps_the_value_where_it_stands);
    tcase_add_test(tc, slice_counts_from_both_ends);
    tcase_add_test(tc, lift_scales_along_each_axis);
    tcase_add_test(tc, lift_alone_fills_the_target);
    tcase_add_test(tc, pad_puts_cells_around);
    tcase_add_test(tc, coordinates_count_from_their_field);
    tcase_add_test(tc, condition_runs_one_side);
    tcase_add_test(tc, ints_and_bools_fill_their_arrays);
    tcase_add_test(tc, funcs_run_point_by_point);
    tcase_add_test(tc, floats_round_after_each_operation);
    tcase_add_test(tc, empty_shapes_do_nothing);
    tcase_add_test(tc, deep_expression_runs);
    suite_add_tcase(suite, tc);
}

static Suite *interpret_suite(void)
{
    Suite *suite = suite_create("interpret");
    add_array_tests(suite);
    TCase *tc = tcase_create("folds");
    int nsize = (int)(sizeof(fold_size) / sizeof(fold_size[0]));
    tcase_add_loop_test(tc, sum_keeps_the_documented_order, 0, nsize);
    tcase_add_loop_test(tc, float_sum_is_as_good_as_double, 0, nsize);
    tcase_add_test(tc, float_sum_overflow_is_infinite);
    tcase_add_loop_test(tc, nan_shows_in_every_result, 0, 6);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("interpret", interpret_suite)
