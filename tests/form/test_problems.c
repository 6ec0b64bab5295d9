/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boundary value problems on every backend: a wind, variable coefficients, Picard's
 * iteration, natural conditions of Neumann and Robin; known errors, and orders.
 */
#include "config.h"

#include <check.h>

#include "tests/form/problem_probe.h"

static const char text[] =
    "form wind(trial u, test v, real eps, real b) =\n"
    "    eps * inner_plus(grad(u), grad(v)) + b * inner_plus(Mm(u), grad(v));\n"
    "form variable(trial u, test v, field kappa) =\n"
    "    inner_plus(Mm(kappa) * grad(u), grad(v));\n"
    "form nodal(trial u, test v, field kappa) = inner_plus(kappa * grad(u), grad(v));\n"
    "form picard(trial u, test v, field w) = inner_plus(alpha(Mm(w)) * grad(u), "
    "grad(v));\n"
    "form stiffness(trial u, test v) = inner_plus(grad(u), grad(v));\n"
    "form robin(trial u, test v, real beta) = inner_plus(grad(u), grad(v))\n"
    "    + inner_h(u, v) + beta * inner_Gamma(u, v);\n"
    "form load(test v, field f) = inner_h(f, v);\n"
    "form flows(test v, field f, field gl, field gr, field gb, field gt) = inner_h(f, "
    "v)\n"
    "    + inner_Gamma(gl, v, \"left\") + inner_Gamma(gr, v, \"right\")\n"
    "    + inner_Gamma(gb, v, \"bottom\") + inner_Gamma(gt, v, \"top\");\n"
    "func real pi() { return 3.14159265358979323846; }\n"
    "func real alpha(real s) { return 3 + 1/(1 + s^2); }\n"
    "func real slope(real s) { return -2*s/(1 + s^2)^2; }\n"
    "func real kappa_1d(real x) { return 1 + 0.5*sin(pi()*x); }\n"
    "func real kappa_2d(real x, real y) { return kappa_1d(x); }\n"
    "func real dkappa(real x) { return 0.5*pi()*cos(pi()*x); }\n"
    "func real wind_1d(real x) { return -1.1*exp(x); }\n"
    "func real wind_2d(real x, real y) { return -2.2*exp(x + y); }\n"
    "func real variable_1d(real x) { return -(dkappa(x) + kappa_1d(x))*exp(x); }\n"
    "func real variable_2d(real x, real y)\n"
    "{ return -(dkappa(x) + 2*kappa_1d(x))*exp(x + y); }\n"
    "func real nonlinear(int d, real u) { return -d*(slope(u)*u^2 + alpha(u)*u); }\n"
    "func real picard_1d(real x) { return nonlinear(1, exp(x)); }\n"
    "func real picard_2d(real x, real y) { return nonlinear(2, exp(x + y)); }\n"
    "func real neumann_2d(real x, real y) { return 2*pi()^2*cos(pi()*x)*cos(pi()*y); }\n";

static const char growth[] =
    "func real exact_1d(real x) { return exp(x); }\n"
    "func real exact_2d(real x, real y) { return exp(x + y); }\n";
static const char cosines[] =
    "func real exact_2d(real x, real y) { return cos(pi()*x)*cos(pi()*y); }\n";
/* A solution, its source, and on each side its slope outward plus 1.7 times it. */
static const char mixed[] =
    "func real exact_2d(real x, real y) { return cos(2.2*x)*exp(0.7*y); }\n"
    "func real ux(real x, real y) { return -2.2*sin(2.2*x)*exp(0.7*y); }\n"
    "func real uy(real x, real y) { return 0.7*exact_2d(x, y); }\n"
    "func real robin_2d(real x, real y) { return (2.2^2 - 0.7^2 + 1)*exact_2d(x, y); }\n"
    "func real gl_2d(real x, real y) { return -ux(x, y) + 1.7*exact_2d(x, y); }\n"
    "func real gr_2d(real x, real y) { return ux(x, y) + 1.7*exact_2d(x, y); }\n"
    "func real gb_2d(real x, real y) { return -uy(x, y) + 1.7*exact_2d(x, y); }\n"
    "func real gt_2d(real x, real y) { return uy(x, y) + 1.7*exact_2d(x, y); }\n";

static problem open_with(int at, const char *exact)
{
    char whole[sizeof text + 1200];
    snprintf(whole, sizeof whole, "%s%s", text, exact);
    return (problem){.p = probe_open(at, whole)};
}

/* --- a wind ------------------------------------------------------------------------- */

static errors run_wind(problem *q, rubus_mesh *mesh)
{
    problem_begin(q, mesh, "wind", "wind", RUBUS_CELL_MEAN);
    ok(rubus_form_set(q->a, "eps", 1));
    ok(rubus_form_set(q->a, "b", 0.1));
    problem_hold(q);
    problem_solve(q, false);
    const errors e = problem_errors(q, q->u, q->exact);
    problem_end(q);
    return e;
}

START_TEST(test_case_10_11_convection_diffusion)
{
    static const double want[5] = {1.6872832363e-3, 4.3281345747e-4, 1.0888149156e-4,
                                   2.7262620832e-5, 6.8182936e-6};
    problem q = open_with(_i, growth);
    errors e[5];
    const int n = probe_fast(_i) ? 5 : 3;
    for (int k = 0; k < n; k++) {
        e[k] = run_wind(&q, mesh_uniform(q.p.context, 1, (4 << k) + 1, 0, 0));
        problem_near(e[k].norm_1h, want[k], "1D", k + 2);
    }
    problem_rate_is(&e[n - 2], &e[n - 1], 2, 0.02, "1D");
    for (int k = n - 2; k < n; k++) {
        e[k] = run_wind(&q, mesh_alternating(q.p.context, 1, 4 << k, 1));
    }
    problem_rate_is(&e[n - 2], &e[n - 1], 2, 0.1, "1D alternating");
    for (int k = n - 2; k < n && n == 5; k++) {
        const int64_t m = 4 << k;
        e[k] = run_wind(&q, mesh_uniform(q.p.context, 2, m + 1, m + 2, 0));
    }
    if (n == 5) {
        problem_rate_is(&e[3], &e[4], 2, 0.1, "2D");
    }
    probe_close(&q.p);
}
END_TEST

/* CG is told that the form is not symmetric. */
START_TEST(convection_diffusion_is_refused_by_cg)
{
    problem q = open_with(_i, growth);
    problem_begin(&q, mesh_uniform(q.p.context, 1, 5, 0, 0), "wind", "wind",
                  RUBUS_CELL_MEAN);
    ok(rubus_form_operator(q.a, NULL, &q.op));
    fails(rubus_operator_apply(q.op, 1, q.F, 0, q.u), RUBUS_ESTATE,
          "rubus_operator_apply: parameter `eps` of form `wind` is not set");
    fails(rubus_solve_cg(q.op, q.F, q.u, NULL, NULL), RUBUS_EINVAL, "bicgstab");
    problem_end(&q);
    probe_close(&q.p);
}
END_TEST

/* --- a variable coefficient --------------------------------------------------------- */

static errors run_variable(problem *q, rubus_mesh *mesh, const char *form)
{
    rubus_array *kappa = NULL;
    problem_begin(q, mesh, form, "variable", RUBUS_CELL_MEAN);
    ok(rubus_space_array(q->p.space, 0, &kappa));
    problem_put(q, "kappa", RUBUS_POINT, kappa);
    ok(rubus_form_set(q->a, "kappa", kappa));
    problem_hold(q);
    problem_solve(q, true);
    const errors e = problem_errors(q, q->u, q->exact);
    rubus_array_destroy(kappa);
    problem_end(q);
    return e;
}

START_TEST(test_case_10_12_variable_coefficient)
{
    static const double want[5] = {1.3701003535e-2, 3.9456479554e-3, 1.0225156399e-3,
                                   2.5794670330e-4, 6.4632516e-5};
    problem q = open_with(_i, growth);
    errors e[5];
    const int n = probe_fast(_i) ? 5 : 3;
    for (int k = 0; k < n; k++) {
        e[k] = run_variable(&q, mesh_uniform(q.p.context, 1, (4 << k) + 1, 0, 0),
                            "variable");
        problem_near(e[k].norm_1h, want[k], "1D", k + 2);
    }
    problem_rate_is(&e[n - 2], &e[n - 1], 2, 0.06, "1D");
    for (int k = 3; k < n; k++) {
        const int64_t m = 4 << k;
        e[k] =
            run_variable(&q, mesh_uniform(q.p.context, 2, m + 1, m + 2, 0), "variable");
    }
    if (n == 5) {
        problem_rate_is(&e[3], &e[4], 2, 0.1, "2D");
    }
    probe_close(&q.p);
}
END_TEST

/* With the coefficient where the difference ends instead of in its middle, the order is
 * 1. */
START_TEST(test_case_10_12_nodal_coefficient_is_of_order_1)
{
    problem q = open_with(_i, growth);
    errors e[3];
    for (int k = 0; k < 3; k++) {
        e[k] =
            run_variable(&q, mesh_uniform(q.p.context, 1, (16 << k) + 1, 0, 0), "nodal");
    }
    problem_near(e[1].norm_1h, 2.7784161487e-2, "nodal", 33);
    problem_rate_is(&e[1], &e[2], 1, 0.05, "nodal");
    probe_close(&q.p);
}
END_TEST

/* --- Picard ------------------------------------------------------------------------- */

/* Sweeps until the step is small; their number. The operator is made once. */
static int sweep(problem *q, rubus_array *w)
{
    double step = 1;
    int n = 0;
    const rubus_krylov_desc desc = {.struct_size = sizeof desc, .rtol = 2e-15};
    ok(rubus_form_operator(q->a, q->bc, &q->op));
    ok(rubus_form_vector(q->l, q->bc, q->F));
    while (step >= 1e-12 && n < 30) {
        ok(rubus_solve_cg(q->op, q->F, q->u, &desc, NULL));
        step = problem_errors(q, q->u, w).norm_1h;
        ok(rubus_array_copy(w, q->u));
        n++;
    }
    return n;
}

static errors run_picard(problem *q, rubus_mesh *mesh, int sweeps)
{
    rubus_array *w = NULL;
    problem_begin(q, mesh, "picard", "picard", RUBUS_CELL_MEAN);
    ck_assert(rubus_form_is_symmetric(q->a));
    ok(rubus_space_array(q->p.space, 0, &w));
    ok(rubus_form_set(q->a, "w", w));
    problem_hold(q);
    const int n = sweep(q, w);
    ck_assert_msg(n == sweeps, "%d sweeps, not %d", n, sweeps);
    const errors e = problem_errors(q, q->u, q->exact);
    rubus_array_destroy(w);
    problem_end(q);
    return e;
}

START_TEST(test_case_10_13_picard)
{
    static const double want[5] = {1.1261763137e-3, 2.8911085276e-4, 7.2744797234e-5,
                                   1.8215303420e-5, 4.5556435e-6};
    problem q = open_with(_i, growth);
    errors e[5];
    const int n = probe_fast(_i) ? 5 : 2;
    for (int k = 0; k < n; k++) {
        e[k] = run_picard(&q, mesh_uniform(q.p.context, 1, (4 << k) + 1, 0, 0), 9);
        problem_near(e[k].norm_1h, want[k], "1D", k + 2);
    }
    for (int k = 2; k < n - 1; k++) {
        const int64_t m = 4 << k;
        e[k] = run_picard(&q, mesh_uniform(q.p.context, 2, m + 1, m + 2, 0), 8);
    }
    if (n == 5) {
        problem_rate_is(&e[2], &e[3], 2, 0.1, "2D");
        for (int k = 3; k < n; k++) {
            e[k] = run_picard(&q, mesh_alternating(q.p.context, 1, 4 << k, 1), 9);
        }
        problem_rate_is(&e[3], &e[4], 2, 0.1, "1D alternating");
    }
    probe_close(&q.p);
}
END_TEST

/* --- natural conditions ------------------------------------------------------------- */

/* array less its weighted mean */
static rubus_array *without_mean(const problem *q, rubus_array *array)
{
    double all = 0;
    rubus_array *one = NULL;
    ok(rubus_space_array(q->p.space, 1, &one));
    ok(rubus_inner_h(q->p.space, array, one, NULL, &all)); // the area is 1
    double *x = probe_numbers(array);
    for (int64_t i = 0; i < rubus_array_count(array); i++) {
        x[i] -= all;
    }
    rubus_array *less = probe_array(q->p.space, x);
    rubus_array_destroy(one);
    free(x);
    return less;
}

static errors run_neumann(problem *q, int64_t n)
{
    problem_begin(q, mesh_uniform(q->p.context, 2, n, n, 0), "stiffness", "neumann",
                  RUBUS_POINT);
    problem_solve(q, true); // the source is odd about the middle: its sum is 0
    double flat = 0;
    rubus_array *one = NULL;
    ok(rubus_space_array(q->p.space, 1, &one));
    ok(rubus_operator_apply(q->op, 1, one, 0, q->F)); // constants are the kernel
    ok(rubus_norm_inf(q->p.space, q->F, NULL, &flat));
    ck_assert_double_le(flat, 1e-14);
    rubus_array *u = without_mean(q, q->u);
    rubus_array *exact = without_mean(q, q->exact);
    const errors e = problem_errors(q, u, exact);
    rubus_array_destroy(u);
    rubus_array_destroy(exact);
    rubus_array_destroy(one);
    problem_end(q);
    return e;
}

START_TEST(test_case_10_14_neumann)
{
    problem q = open_with(_i, cosines);
    errors e[3];
    const int n = probe_fast(_i) ? 3 : 1;
    for (int k = 0; k < n; k++) {
        e[k] = run_neumann(&q, (12 << k) + 1);
    }
    problem_near(e[0].norm_1h, 1.3014603575e-2, "Neumann", 13);
    if (n == 3) {
        problem_near(e[1].norm_1h, 3.2519146399e-3, "Neumann", 25);
        problem_rate_is(&e[1], &e[2], 2, 0.01, "Neumann");
        number_is(log2(e[1].norm_h / e[2].norm_h), 2, 0.01);
    }
    probe_close(&q.p);
}
END_TEST

static errors run_robin(problem *q, int64_t n)
{
    static const char *const side[4] = {"gl", "gr", "gb", "gt"};
    rubus_array *g[4] = {NULL, NULL, NULL, NULL};
    problem_begin(q, mesh_uniform(q->p.context, 2, n, n, 0), "robin", "robin",
                  RUBUS_POINT);
    rubus_form_destroy(q->l);
    q->l = probe_linear(&q->p, "flows", q->p.space);
    ok(rubus_form_set(q->l, "f", q->f));
    for (int k = 0; k < 4; k++) {
        ok(rubus_space_array(q->p.space, 0, &g[k]));
        problem_put(q, side[k], RUBUS_POINT, g[k]);
        ok(rubus_form_set(q->l, side[k], g[k]));
        rubus_array_destroy(g[k]); // the form keeps it
    }
    ok(rubus_form_set(q->a, "beta", 1.7));
    problem_solve(q, true);
    const errors e = problem_errors(q, q->u, q->exact);
    problem_end(q);
    return e;
}

START_TEST(test_case_10_15_robin)
{
    problem q = open_with(_i, mixed);
    errors e[4];
    const int n = probe_fast(_i) ? 4 : 1;
    for (int k = 0; k < n; k++) {
        e[k] = run_robin(&q, (8 << k) + 1);
    }
    problem_near(e[0].norm_1h, 1.3000337919e-2, "Robin", 9);
    problem_near(e[0].norm_h, 3.6390565410e-3, "Robin, norm_h", 9);
    if (n == 4) {
        problem_near(e[1].norm_1h, 3.2615730417e-3, "Robin", 17);
        problem_rate_is(&e[2], &e[3], 2, 0.02, "Robin");
        number_is(log2(e[2].norm_h / e[3].norm_h), 2, 0.02);
    }
    probe_close(&q.p);
}
END_TEST

static Suite *problems_suite(void)
{
    Suite *suite = suite_create("problems");
    TCase *tc = tcase_create("problems");
    backends_add(tc, test_case_10_11_convection_diffusion);
    backends_add(tc, convection_diffusion_is_refused_by_cg);
    backends_add(tc, test_case_10_12_variable_coefficient);
    backends_add(tc, test_case_10_12_nodal_coefficient_is_of_order_1);
    backends_add(tc, test_case_10_13_picard);
    backends_add(tc, test_case_10_14_neumann);
    backends_add(tc, test_case_10_15_robin);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("problems", problems_suite)
