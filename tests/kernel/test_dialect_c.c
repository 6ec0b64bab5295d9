/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of dialect c: compiles without a warning under two compilers, and run under
 * the sanitizer for undefined behaviour it gives what closed forms say, however its
 * range is cut.
 */
#include "config.h"

#include <math.h>

#include "tests/support/suite.h"
#include "text_run.h"

/* One kernel for each thing that the emitter treats in a way of its own. */
static const char whole[] =
    "kernel step(out real un[nx,ny], out real dn[nx-2,ny-2], in real u[nx,ny],\n"
    "            in real d[nx-2,ny-2], in real lam[nx,ny], in real Q[nx-2,ny-2],\n"
    "            real alpha, real beta, real _dx, real _dy)\n"
    "{\n"
    "    let v  = u + alpha * pad(d, 0);\n"
    "    let qx = -av_xi(lam) * d_xi(v) * _dx;\n"
    "    let qy = -av_yi(lam) * d_yi(v) * _dy;\n"
    "    un = v;\n"
    "    dn = beta * d - Q * (d_xa(qx) * _dx + d_ya(qy) * _dy);\n"
    "}\n"
    "kernel padded(out real w[n+3], out real s, in real u[n])\n"
    "{ w = pad(u, -1.5, 1:2); s = sum(pad(u, 1.0)); }\n"
    "kernel thin(inout real u[nx,ny], in real f[nx,ny])\n"
    "{ u[1:-1,1:-1] = 2 * f[1:-1,1:-1]; u[0:1,:] = f[0:1,:] + 1; u[:,-1:] = f[:,-1:] - "
    "1; }\n"
    "kernel chosen(inout real u[n], in real f[n], real b)\n"
    "{ if (b > 0) { u = u + b * f; } else { u = f; } }\n"
    "kernel chosen_twice(inout real u[n], in real f[n], real b, int k)\n"
    "{ if (b > 0) { u = u + b * f; } if (k == 2) { u[1:] *= 3; } }\n"
    "kernel lifted(out real u[nx,ny,nz], in real h[nx], in real g[nz])\n"
    "{ u = h[:,*,*] * g[*,*,:] + ix(u) - 2 * iy(u) + real(iz(u)) / 4; }\n";
static const char points[] =
    "kernel spmv(inout real y[n], in index rowptr[n+1], in index colval[], in real "
    "nzval[],\n"
    "            in real x[], real alpha, real beta) over (row in 0:n)\n"
    "{\n"
    "    real acc = 0;\n"
    "    if (alpha != 0)\n"
    "        for (int k = rowptr[row]; k < rowptr[row + 1]; k++)\n"
    "            acc += nzval[k] * x[colval[k]];\n"
    "    y[row] = beta == 0 ? alpha * acc : alpha * acc + beta * y[row];\n"
    "}\n"
    "kernel flow(inout real u[nx,ny], in bool m[nx,ny]) over (i, j)\n"
    "{\n"
    "    int hits;\n"
    "    while (hits < 9) { hits++; if (hits == 3) { continue; } if (hits > 5) { break; "
    "} }\n"
    "    if (i > 0 && m[i - 1, j] || hits == 0) { u[i, j] = 1; return; }\n"
    "    for (int k = 0; k < 3; k++) { if (k == 1) { continue; } u[i, j] += k * hits; }\n"
    "}\n"
    "kernel count(inout real h[n], inout int c[n], in int v[m]) over (i in 0:m)\n"
    "{ atomic_add(h[mod(v[i], n)], 0.5); atomic_add(c[mod(i, n)], v[i]); }\n";
static const char others[] =
    "kernel masks(inout int a[n], in bool m[n], out bool t[n], int k)\n"
    "{ a = m ? a % 7 + div(a, 3) : mod(a, k) * fld(a, -2); t = m || a > k; }\n"
    "kernel functions(inout real a[n], in real b[n])\n"
    "{ a = exp(a) + sin(b) + sqrt(abs(a)) * round(b) + max(a, b) ^ 3 + mixed(a, b); }\n"
    "func real mixed(real x, real y)\n"
    "{ real q[4]; for (int k = 0; k < 4; k++) { q[k] = x * k; } return y > 0 ? q[3] : "
    "q[1]; }\n"
    "kernel corner(inout real u[nx,ny], real s) { u[1, 2] = s; u[:, 0] += s; }\n"
    "reduce max widest(in real a[,,], in real b[,,]) = abs(a - b);\n"
    "reduce min lowest(in real a[]) = a;\n";

static text_module open_f64(const char *text)
{
    return text_open(text, run_options(RUBUS_F64, RUBUS_I32, false), true);
}

/* Smooth, of both signs, nowhere a round number. */
static double number(int64_t i)
{
    return sin(0.7 * (double)i + 0.1) + 0.25;
}

static double *numbers(int64_t n, int64_t first)
{
    double *p = malloc(((size_t)n + 1u) * sizeof(*p));
    for (int64_t i = 0; i < n; i++) {
        p[i] = number(first + i);
    }
    return p;
}

static void expect_same(const double *got, const double *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        ck_assert_msg(got[i] == want[i], "[%lld]: %.17g, expected %.17g", (long long)i,
                      got[i], want[i]);
    }
}

/* --- the text itself --------------------------------------------------------------- */

static const struct {
    int32_t real;
    int32_t index;
    bool check;
} mode[] = {{RUBUS_F64, RUBUS_I32, false},
            {RUBUS_F32, RUBUS_I64, false},
            {RUBUS_F64, RUBUS_I64, true}};

START_TEST(text_compiles_without_warning)
{
    static const char *const compiler[] = {"gcc", "clang"};
    const rk_options options = run_options(mode[_i].real, mode[_i].index, mode[_i].check);
    char *all = rubus__format("%s%s%s", whole, points, others);
    rk_program *program = text_compile(all, options);
    rubus__free(all);
    char from[64];
    char to[64];
    text_write(program, from);
    text_path(to, ".so");
    for (int k = 0; k < 2; k++) {
        if (text_has(compiler[k])) {
            ck_assert_msg(text_build(compiler[k], from, to, false) == 0, "%s",
                          compiler[k]);
        }
    }
    unlink(from);
    unlink(to);
    rk_program_destroy(program);
}
END_TEST

START_TEST(text_of_users_names_uses_none_of_them)
{
    rk_program *program =
        text_compile("kernel int64_t(out real while_[λ], in real printf[λ],"
                     " real block) { while_ = block * printf; }",
                     run_options(RUBUS_F64, RUBUS_I32, false));
    ck_assert_ptr_null(strstr(program->text, "while_"));
    ck_assert_ptr_null(strstr(program->text, "printf"));
    ck_assert_ptr_null(strstr(program->text, "λ"));
    ck_assert_ptr_null(strstr(program->text, "#include"));
    rk_program_destroy(program);
}
END_TEST

/* --- whole-array kernels ----------------------------------------------------------- */

enum { NX = 37, NY = 11 };

/* Value of u + alpha * pad(d, 0) at a point. */
static double step_v(const double *u, const double *d, double alpha, int i, int j)
{
    const bool inner = i > 0 && i < NX - 1 && j > 0 && j < NY - 1;
    return u[i + j * NX] + alpha * (inner ? d[i - 1 + (j - 1) * (NX - 2)] : 0.0);
}

/* -average * difference * spacing between point p and the next along a direction */
static double step_q(const double *u, const double *d, const double *lam, double alpha,
                     int i, int j, int di, double spacing)
{
    const int k = i + di;
    const int l = j + 1 - di;
    const double mean = (lam[i + j * NX] + lam[k + l * NX]) * 0.5;
    return -mean * (step_v(u, d, alpha, k, l) - step_v(u, d, alpha, i, j)) * spacing;
}

static void step_by_hand(double *un, double *dn, const double *u, const double *d,
                         const double *lam, const double *q)
{
    for (int j = 0; j < NY; j++) {
        for (int i = 0; i < NX; i++) {
            un[i + j * NX] = step_v(u, d, 0.3, i, j);
        }
    }
    for (int j = 0; j < NY - 2; j++) {
        for (int i = 0; i < NX - 2; i++) {
            const int p = i + j * (NX - 2);
            const double x = step_q(u, d, lam, 0.3, i + 1, j + 1, 1, 2.5) -
                             step_q(u, d, lam, 0.3, i, j + 1, 1, 2.5);
            const double y = step_q(u, d, lam, 0.3, i + 1, j + 1, 0, 1.5) -
                             step_q(u, d, lam, 0.3, i + 1, j, 0, 1.5);
            dn[p] = 0.9 * d[p] - q[p] * (x * 2.5 + y * 1.5);
        }
    }
}

START_TEST(step_equals_code_by_hand_however_it_is_cut)
{
    static const text_cut cuts[] = {
        {{1, 1, 1}}, {{3, 1, 1}}, {{1, 4, 1}}, {{5, 5, 1}}, {{NX, NY, 1}}};
    text_module m = open_f64(whole);
    const int64_t inner = (NX - 2) * (NY - 2);
    double *u = numbers(NX * NY, 0);
    double *d = numbers(inner, 1000);
    double *lam = numbers(NX * NY, 2000);
    double *q = numbers(inner, 3000);
    double want_u[NX * NY];
    double want_d[NX * NY];
    step_by_hand(want_u, want_d, u, d, lam, q);
    for (size_t k = 0; k < sizeof(cuts) / sizeof(cuts[0]); k++) {
        double un[NX * NY] = {0};
        double dn[NX * NY] = {0};
        const run_arg args[] = {RUN_ARRAY2(un, NX, NY),  RUN_ARRAY2(dn, NX - 2, NY - 2),
                                RUN_ARRAY2(u, NX, NY),   RUN_ARRAY2(d, NX - 2, NY - 2),
                                RUN_ARRAY2(lam, NX, NY), RUN_ARRAY2(q, NX - 2, NY - 2),
                                RUN_REAL(0.3),           RUN_REAL(0.9),
                                RUN_REAL(2.5),           RUN_REAL(1.5)};
        text_run(&m, 0, args, &cuts[k]);
        expect_same(un, want_u, NX * NY);
        expect_same(dn, want_d, inner);
    }
    free(u);
    free(d);
    free(lam);
    free(q);
    text_close(&m);
}
END_TEST

START_TEST(padded_field_has_its_value_at_the_ends_only)
{
    text_module m = open_f64(whole);
    for (int64_t n = 0; n < 5; n++) {
        double u[5] = {1, 2, 4, 8, 16};
        double w[8] = {0};
        double s = -1.0;
        const run_arg args[] = {RUN_ARRAY1(w, n + 3), RUN_RESULT(&s), RUN_ARRAY1(u, n)};
        text_run(&m, 1, args, NULL);
        for (int64_t i = 0; i < n + 3; i++) {
            ck_assert_double_eq(w[i], i < 1 || i > n ? -1.5 : u[i - 1]);
        }
        ck_assert_double_eq(s, 2.0 + (double)((1 << n) - 1));
    }
    text_close(&m);
}
END_TEST

START_TEST(thin_statement_writes_its_line_only)
{
    text_module m = open_f64(whole);
    double u[NX * NY];
    double *f = numbers(NX * NY, 50);
    for (int64_t i = 0; i < NX * NY; i++) {
        u[i] = 99.0;
    }
    const run_arg args[] = {RUN_ARRAY2(u, NX, NY), RUN_ARRAY2(f, NX, NY)};
    const text_cut cut = {{2, 3, 1}};
    text_run(&m, 2, args, &cut);
    for (int j = 0; j < NY; j++) {
        for (int i = 0; i < NX; i++) {
            const double v = f[i + j * NX];
            const double want = j == NY - 1                    ? v - 1
                                : i == 0                       ? v + 1
                                : i > 0 && i < NX - 1 && j > 0 ? 2 * v
                                                               : 99.0;
            ck_assert_double_eq(u[i + j * NX], want);
        }
    }
    free(f);
    text_close(&m);
}
END_TEST

START_TEST(condition_of_scalars_chooses_the_statement)
{
    text_module m = open_f64(whole);
    for (int k = 0; k < 4; k++) {
        const double b = (k & 1) != 0 ? 0.5 : -0.5;
        double u[40];
        double w[40];
        double *f = numbers(40, 7);
        for (int i = 0; i < 40; i++) {
            u[i] = w[i] = i;
        }
        const run_arg once[] = {RUN_ARRAY1(u, 40), RUN_ARRAY1(f, 40), RUN_REAL(b)};
        const run_arg twice[] = {RUN_ARRAY1(w, 40), RUN_ARRAY1(f, 40), RUN_REAL(b),
                                 RUN_INT(k / 2 + 1)};
        text_run(&m, 3, once, NULL);
        text_run(&m, 4, twice, NULL);
        for (int i = 0; i < 40; i++) {
            ck_assert_double_eq(u[i], b > 0 ? i + b * f[i] : f[i]);
            const double v = b > 0 ? i + b * f[i] : i;
            ck_assert_double_eq(w[i], k / 2 + 1 == 2 && i > 0 ? v * 3 : v);
        }
        free(f);
    }
    text_close(&m);
}
END_TEST

START_TEST(lifted_field_and_coordinates_follow_their_axes)
{
    text_module m = open_f64(whole);
    double u[5 * 4 * 3] = {0};
    double *h = numbers(5, 0);
    double *g = numbers(3, 9);
    const run_arg args[] = {RUN_ARRAY3(u, 5, 4, 3), RUN_ARRAY1(h, 5), RUN_ARRAY1(g, 3)};
    const text_cut cut = {{2, 2, 3}};
    text_run(&m, 5, args, &cut);
    for (int k = 0; k < 60; k++) {
        const int x = k % 5;
        const int y = k / 5 % 4;
        const int z = k / 20;
        ck_assert_double_eq(u[k], h[x] * g[z] + x - 2 * y + z / 4.0);
    }
    free(h);
    free(g);
    text_close(&m);
}
END_TEST

/* --- per-point kernels ------------------------------------------------------------- */

START_TEST(sparse_product_equals_the_dense_one)
{
    text_module m = open_f64(points);
    // rows: {0: 2, 2: 3}, {}, {1: 5}
    int32_t rowptr[4] = {0, 2, 2, 3};
    int32_t colval[3] = {0, 2, 1};
    double nzval[3] = {2, 3, 5};
    double x[3] = {1, 10, 100};
    double y[3] = {7, 8, 9};
    const run_arg args[] = {RUN_ARRAY1(y, 3),      RUN_ARRAY1(rowptr, 4),
                            RUN_ARRAY1(colval, 3), RUN_ARRAY1(nzval, 3),
                            RUN_ARRAY1(x, 3),      RUN_REAL(2),
                            RUN_REAL(0.5)};
    text_run(&m, 0, args, NULL);
    ck_assert_double_eq(y[0], 2 * 302 + 3.5);
    ck_assert_double_eq(y[1], 4);
    ck_assert_double_eq(y[2], 2 * 50 + 4.5);
    text_close(&m);
}
END_TEST

START_TEST(jumps_leave_loops_and_points_where_they_should)
{
    text_module m = open_f64(points);
    double u[6] = {0};
    uint8_t mask[6] = {0, 1, 0, 0, 0, 1};
    const run_arg args[] = {RUN_ARRAY2(u, 3, 2), RUN_ARRAY2(mask, 3, 2)};
    text_run(&m, 1, args, NULL);
    // hits ends at 6; the loop adds 0 * 6 and 2 * 6, but not at k = 1
    for (int k = 0; k < 6; k++) {
        const bool left = k % 3 > 0 && mask[k - 1] != 0;
        ck_assert_double_eq(u[k], left ? 1.0 : 12.0);
    }
    text_close(&m);
}
END_TEST

START_TEST(atomic_adds_all_arrive)
{
    text_module m = open_f64(points);
    double h[3] = {0};
    int32_t c[3] = {0};
    int32_t v[50];
    for (int i = 0; i < 50; i++) {
        v[i] = i - 20;
    }
    const run_arg args[] = {RUN_ARRAY1(h, 3), RUN_ARRAY1(c, 3), RUN_ARRAY1(v, 50)};
    const text_cut cut = {{7, 1, 1}};
    text_run(&m, 2, args, &cut);
    double want_h[3] = {0};
    int32_t want_c[3] = {0};
    for (int i = 0; i < 50; i++) {
        want_h[(i - 20 + 60) % 3] += 0.5;
        want_c[i % 3] += i - 20;
    }
    for (int k = 0; k < 3; k++) {
        ck_assert_double_eq(h[k], want_h[k]);
        ck_assert_int_eq(c[k], want_c[k]);
    }
    text_close(&m);
}
END_TEST

/* The record that a kernel leaves for an array of n elements. */
static void violate(const char *text, int64_t n, int64_t error[RK_ERROR_WORDS], double *u,
                    int32_t *out_param)
{
    text_module m = text_open(text, run_options(RUBUS_F64, RUBUS_I32, true), true);
    double f[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    memset(error, 0, RK_ERROR_WORDS * sizeof(int64_t));
    const run_arg args[] = {RUN_ARRAY1(u, n), RUN_ARRAY1(f, n)};
    ck_assert_int_eq(text_run_range(&m, 0, args, NULL, NULL, error, NULL), RUBUS_OK);
    *out_param = -2;
    if (error[0] != 0) {
        ck_assert_int_le(error[0], m.program->nsite);
        *out_param = m.program->site[error[0] - 1].param;
    }
    text_close(&m);
}

START_TEST(checked_read_outside_is_recorded_and_zero)
{
    int64_t error[RK_ERROR_WORDS];
    int32_t param = 0;
    double u[8] = {0};
    violate("kernel k(out real u[n], in real f[n]) over (i)\n"
            "{ real a = 9; if (i >= 0) { a = f[i + 2]; } u[i] = a; }",
            8, error, u, &param);
    ck_assert_int_eq(param, 1);
    ck_assert_int_eq(error[1], 8); // the first violation: point 6
    ck_assert_double_eq(u[5], 8);
    ck_assert_double_eq(u[6], 0);
    ck_assert_double_eq(u[7], 0);
}
END_TEST

START_TEST(checked_write_outside_is_recorded_and_dropped)
{
    int64_t error[RK_ERROR_WORDS];
    int32_t param = 0;
    double u[9] = {0};
    u[8] = 77;
    violate("kernel k(out real u[n], in real f[n]) over (i)\n"
            "{ if (f[i] > 3) { u[3 * i - 1] = f[i]; } }",
            8, error, u, &param);
    ck_assert_int_eq(param, 0);
    ck_assert_int_eq(error[1], 8); // i = 3 has f = 4
    for (int i = 0; i < 8; i++) {
        ck_assert_double_eq(u[i], 0);
    }
    ck_assert_double_eq(u[8], 77);
}
END_TEST

START_TEST(local_array_outside_is_zero_and_recorded)
{
    int64_t error[RK_ERROR_WORDS];
    int32_t param = 0;
    double u[8] = {0};
    violate("func real pick(int k) { real q[3]; q[k] = 5; return q[0] + q[k] + q[2]; }\n"
            "kernel k(out real u[n], in real f[n]) over (i) { u[i] = pick(i); }",
            8, error, u, &param);
    ck_assert_int_eq(param, -1);
    ck_assert_int_eq(error[1], 3);
    ck_assert_double_eq(u[0], 10);
    ck_assert_double_eq(u[1], 5);
    ck_assert_double_eq(u[2], 10);
    ck_assert_double_eq(u[3], 0);
    ck_assert_double_eq(u[7], 0);
}
END_TEST

static Suite *dialect_c_suite(void)
{
    Suite *suite = suite_create("dialect c");
    TCase *text = tcase_create("text");
    tcase_add_loop_test(text, text_compiles_without_warning, 0,
                        (int)(sizeof(mode) / sizeof(mode[0])));
    tcase_add_test(text, text_of_users_names_uses_none_of_them);
    suite_add_tcase(suite, text);
    TCase *arrays = tcase_create("whole-array kernels");
    tcase_add_test(arrays, step_equals_code_by_hand_however_it_is_cut);
    tcase_add_test(arrays, padded_field_has_its_value_at_the_ends_only);
    tcase_add_test(arrays, thin_statement_writes_its_line_only);
    tcase_add_test(arrays, condition_of_scalars_chooses_the_statement);
    tcase_add_test(arrays, lifted_field_and_coordinates_follow_their_axes);
    suite_add_tcase(suite, arrays);
    TCase *point = tcase_create("per-point kernels");
    tcase_add_test(point, sparse_product_equals_the_dense_one);
    tcase_add_test(point, jumps_leave_loops_and_points_where_they_should);
    tcase_add_test(point, atomic_adds_all_arrive);
    tcase_add_test(point, checked_read_outside_is_recorded_and_zero);
    tcase_add_test(point, checked_write_outside_is_recorded_and_dropped);
    tcase_add_test(point, local_array_outside_is_zero_and_recorded);
    suite_add_tcase(suite, point);
    return suite;
}

RUBUS_TEST_MAIN("dialect c", dialect_c_suite)
