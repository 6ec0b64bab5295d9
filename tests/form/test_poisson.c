/* SPDX-License-Identifier: Apache-2.0 */
/* Poisson's equation on every backend: known errors, orders, exact solutions. */
#include "config.h"

#include <check.h>

#include "tests/form/problem_probe.h"

static const char text[] =
    "form stiffness(trial u, test v) = inner_plus(grad(u), grad(v));\n"
    "form load(test v, field f) = inner_h(f, v);\n"
    "func real pi() { return 3.14159265358979323846; }\n"
    "func real two_1d(real x) { return 2; }\n"
    "func real wave_1d(real x) { return pi()^2 * sin(pi() * x); }\n"
    "func real growth_1d(real x) { return -exp(x); }\n"
    "func real growth_2d(real x, real y) { return -2 * exp(x + y); }\n"
    "func real steep_2d(real x, real y) { return -5 * exp(x + 2*y); }\n"
    "func real growth_3d(real x, real y, real z) { return -3 * exp(x + y + z); }\n"
    "func real patch_3d(real x, real y, real z) { return 0; }\n";

/* The solution of each test. */
static const char parabola[] = "func real exact_1d(real x) { return x * (1 - x); }\n";
static const char sine[] = "func real exact_1d(real x) { return sin(pi() * x); }\n";
static const char growth[] =
    "func real exact_1d(real x) { return exp(x); }\n"
    "func real exact_2d(real x, real y) { return exp(x + y); }\n"
    "func real exact_3d(real x, real y, real z) { return exp(x + y + z); }\n";
static const char steep[] =
    "func real exact_2d(real x, real y) { return exp(x + 2*y); }\n";
static const char patch[] =
    "func real exact_3d(real x, real y, real z)\n"
    "{ return 1 + 2*x - y + 0.5*z + x^2 - 3*y^2 + 2*z^2 + x*y - y*z + 4*x*y*z; }\n";

static problem open_with(int at, const char *exact)
{
    char whole[sizeof text + 600];
    snprintf(whole, sizeof whole, "%s%s", text, exact);
    return (problem){.p = probe_open(at, whole)};
}

START_TEST(test_case_10_10_parabola_is_exact)
{
    problem q = open_with(_i, parabola);
    problem_begin(&q, mesh_uniform(q.p.context, 1, 5, 0, 0), "stiffness", "two",
                  RUBUS_CELL_MEAN);
    problem_hold(&q);
    problem_solve(&q, true);
    array_is(q.F, 1e-14, 0, .5, .5, .5, 0);
    array_is(q.u, 1e-13, 0, .1875, .25, .1875, 0);
    problem_end(&q);
    const errors e =
        problem_run(&q, mesh_of(q.p.context, RUBUS_F64, 1, &axis_of(0, .1, .15, .7, 1)),
                    "stiffness", "two", RUBUS_CELL_MEAN, true);
    ck_assert_double_lt(e.norm_inf, 1e-14);
    probe_close(&q.p);
}
END_TEST

START_TEST(test_case_10_10_sine_by_points_and_means)
{
    problem q = open_with(_i, sine);
    errors e = problem_run(&q, mesh_uniform(q.p.context, 1, 33, 0, 0), "stiffness",
                           "wave", RUBUS_POINT, true);
    problem_near(e.norm_inf, 8.035776774e-4, "largest, points", 33);
    problem_near(e.norm_1h, 1.872670480e-3, "norm_1h, points", 33);
    e = problem_run(&q, mesh_uniform(q.p.context, 1, 33, 0, 0), "stiffness", "wave",
                    RUBUS_CELL_MEAN, true);
    problem_near(e.norm_inf, 4.017081550e-4, "largest, means", 33);
    problem_near(e.norm_1h, 9.361472112e-4, "norm_1h, means", 33);
    probe_close(&q.p);
}
END_TEST

START_TEST(test_case_10_10_in_1d)
{
    static const double uniform[8] = {1.2977285592e-3, 3.3291338753e-4, 8.3751592712e-5,
                                      2.0970497572e-5, 5.2446602e-6,    1.3112922e-6,
                                      3.2783117e-7,    8.1958359e-8};
    static const double alternating[5] = {3.79970268e-3, 9.1314971087e-4, 2.2188357468e-4,
                                          5.4565315108e-5, 1.3521785e-5};
    problem q = open_with(_i, growth);
    errors e[8];
    const int n = probe_fast(_i) ? 8 : 4;
    for (int k = 0; k < n; k++) {
        e[k] = problem_run(&q, mesh_uniform(q.p.context, 1, (4 << k) + 1, 0, 0),
                           "stiffness", "growth", RUBUS_CELL_MEAN, true);
        problem_near(e[k].norm_1h, uniform[k], "uniform", k + 2);
    }
    problem_rate_is(&e[n - 2], &e[n - 1], 2, 0.01, "uniform");
    for (int k = 0; k < (n > 5 ? 5 : n); k++) {
        e[k] = problem_run(&q, mesh_alternating(q.p.context, 1, 4 << k, 1), "stiffness",
                           "growth", RUBUS_CELL_MEAN, true);
        problem_near(e[k].norm_1h, alternating[k], "alternating", k + 2);
    }
    problem_rate_is(&e[2], &e[3], 2, 0.03, "alternating");
    e[0] = problem_run(&q, mesh_uniform(q.p.context, 1, 17, 0, 0), "stiffness", "growth",
                       RUBUS_POINT, true);
    problem_near(e[0].norm_1h, 1.6748955553e-4, "by points", 4);
    probe_close(&q.p);
}
END_TEST

/* Slope of log error over log hmax by least squares. */
static double slope(const errors *e, int n)
{
    double sx = 0;
    double sy = 0;
    double sxx = 0;
    double sxy = 0;
    for (int k = 0; k < n; k++) {
        const double x = log(e[k].hmax);
        const double y = log(e[k].norm_1h);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

START_TEST(test_case_10_10_random_meshes)
{
    problem q = open_with(_i, growth);
    errors e[12];
    const int n = probe_fast(_i) ? 12 : 2;
    for (int k = 0; k < n; k++) {
        probe_points points;
        const int64_t npoint = 20 * (k + 1);
        points_random(npoint, 12345, points.x[0]);
        if (k == 0) {
            number_is(points.x[0][1], 0.01654784823767841, 1e-14);
            number_is(points.x[0][2], 0.02040268573909998, 1e-14);
            number_is(points.x[0][3], 0.03985431743785739, 1e-14);
        }
        e[k] = problem_run(&q, mesh_points(q.p.context, 1, &points, npoint, 0, 0),
                           "stiffness", "growth", RUBUS_CELL_MEAN, true);
        ck_assert_double_le(e[k].norm_1h, 0.024 * e[k].hmax * e[k].hmax);
    }
    problem_near(e[0].norm_1h, 1.8638649446e-3, "random", 20);
    if (n == 12) {
        ck_assert_double_ge(slope(e, n), 1.6);
    }
    probe_close(&q.p);
}
END_TEST

/* exp(x + y) with means of the source: the order seems to be 6. */
START_TEST(test_case_10_10_superconvergent_in_2d)
{
    static const double want[3] = {4.5076806148e-7, 1.0260990874e-8, 1.9353079e-10};
    problem q = open_with(_i, growth);
    for (int k = 0; k < (probe_fast(_i) ? 3 : 1); k++) {
        const int64_t n = 4 << k;
        const errors e = problem_run(&q, mesh_uniform(q.p.context, 2, n + 1, n + 2, 0),
                                     "stiffness", "growth", RUBUS_CELL_MEAN, true);
        // rounding: about eps * |u| * condition
        ck_assert_msg(fabs(e.norm_1h - want[k]) <= 1e-4 * want[k] + 2e-12,
                      "mesh %d: %.10g, not %.10g", k, e.norm_1h, want[k]);
    }
    probe_close(&q.p);
}
END_TEST

/* exp(x + 2 y) has nothing in it that cancels: the order is seen as it is. */
START_TEST(test_trap_23_case_10_10_order_in_2d)
{
    static const double want[5] = {1.1393640066e-2, 4.2664605240e-3, 1.2844531272e-3,
                                   3.5080811341e-4, 9.1554671220e-5};
    problem q = open_with(_i, steep);
    errors e[5];
    const int n = probe_fast(_i) ? 5 : 2;
    for (int k = 0; k < n; k++) {
        const int64_t m = 4 << k;
        e[k] = problem_run(&q, mesh_uniform(q.p.context, 2, m + 1, m + 2, 0), "stiffness",
                           "steep", RUBUS_CELL_MEAN, true);
        problem_near(e[k].norm_1h, want[k], "2D", k + 2);
    }
    if (n == 5) {
        problem_rate_is(&e[3], &e[4], 2, 0.1, "2D");
    }
    for (int k = n - 2; k < n; k++) {
        const int64_t m = 4 << k;
        e[k] = problem_run(&q, mesh_alternating(q.p.context, 2, m, m + 2), "stiffness",
                           "steep", RUBUS_CELL_MEAN, true);
    }
    if (n == 5) {
        problem_rate_is(&e[3], &e[4], 2, 0.1, "2D alternating");
    }
    probe_close(&q.p);
}
END_TEST

START_TEST(test_case_10_10_in_3d)
{
    static const double want[2] = {8.2661973539e-3, 3.4587009176e-3};
    problem q = open_with(_i, growth);
    errors e[4];
    const int n = probe_fast(_i) ? 4 : 1;
    for (int k = 0; k < n; k++) {
        const int64_t m = 2 << k;
        e[k] = problem_run(&q, mesh_uniform(q.p.context, 3, m + 1, m + 2, m + 3),
                           "stiffness", "growth", RUBUS_CELL_MEAN, true);
        if (k < 2) {
            problem_near(e[k].norm_1h, want[k], "3D", k + 1);
        }
    }
    if (n == 4) {
        problem_rate_is(&e[1], &e[2], 1.834, 1e-3, "3D");
        problem_rate_is(&e[2], &e[3], 1.950, 1e-3, "3D");
    }
    probe_close(&q.p);
}
END_TEST

/* Products of coordinates and squares are solved exactly on every mesh; those of a
 * source of 0 here. */
START_TEST(test_case_10_10_patch_in_3d)
{
    problem q = open_with(_i, patch);
    for (uint32_t seed = 1; seed <= (probe_fast(_i) ? 3u : 1u); seed++) {
        probe_points points;
        points_random(9, seed, points.x[0]);
        points_random(7, seed, points.x[1]);
        points_random(5, seed, points.x[2]);
        const errors e = problem_run(&q, mesh_points(q.p.context, 3, &points, 9, 7, 5),
                                     "stiffness", "patch", RUBUS_CELL_MEAN, true);
        ck_assert_double_le(e.norm_inf, 1e-11 * 7);
    }
    probe_close(&q.p);
}
END_TEST

/* The solution on a mesh of floats, from a module of doubles, is that of doubles. */
START_TEST(test_case_10_30_poisson_2d_in_f32)
{
    static const int32_t types[2] = {RUBUS_F64, RUBUS_F32};
    double *u[2];
    problem q = open_with(_i, steep);
    for (int k = 0; k < 2; k++) {
        rubus_mesh *mesh = NULL;
        rubus_krylov_report report = {.struct_size = sizeof report};
        ok(rubus_mesh_create_box(q.p.context, types[k], RUBUS_SHAPE(33, 34),
                                 (double[]){0, 0}, (double[]){1, 1}, &mesh));
        problem_begin(&q, mesh, "stiffness", "steep", RUBUS_CELL_MEAN);
        problem_hold(&q);
        ok(rubus_form_operator(q.a, q.bc, &q.op));
        ck_assert_int_eq(rubus_operator_real(q.op), types[k]);
        ok(rubus_form_vector(q.l, q.bc, q.F));
        const rubus_krylov_desc desc = {.struct_size = sizeof desc, .rtol = 1e-6};
        ok(rubus_solve_cg(q.op, q.F, q.u, &desc, &report));
        ck_assert_double_le(report.residual, 1e-5 * report.norm);
        u[k] = probe_numbers(q.u);
        problem_end(&q);
    }
    for (int i = 0; i < 33 * 34; i++) {
        ck_assert_msg(fabs(u[1][i] - u[0][i]) <= 1e-4 * u[0][i], "%d: %g in f32, not %g",
                      i, u[1][i], u[0][i]);
    }
    free(u[0]);
    free(u[1]);
    probe_close(&q.p);
}
END_TEST

static Suite *poisson_suite(void)
{
    Suite *suite = suite_create("poisson");
    TCase *tc = tcase_create("case 10.10");
    backends_add(tc, test_case_10_10_parabola_is_exact);
    backends_add(tc, test_case_10_10_sine_by_points_and_means);
    backends_add(tc, test_case_10_10_in_1d);
    backends_add(tc, test_case_10_10_random_meshes);
    backends_add(tc, test_case_10_10_superconvergent_in_2d);
    backends_add(tc, test_trap_23_case_10_10_order_in_2d);
    backends_add(tc, test_case_10_30_poisson_2d_in_f32);
    backends_add(tc, test_case_10_10_in_3d);
    backends_add(tc, test_case_10_10_patch_in_3d);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("poisson", poisson_suite)
