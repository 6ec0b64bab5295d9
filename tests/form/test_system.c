/* SPDX-License-Identifier: Apache-2.0 */
/* Systems of equations on every backend: components that act on one another. */
#include "config.h"

#include <check.h>

#include "tests/form/problem_probe.h"

static const char text[] =
    "form system(trial u, test v) = inner_plus(grad(u), grad(v))\n"
    "    + inner_h(u[0] - u[1], v[0] - v[1]);\n"
    "form load(test v, field f, field g) = inner_h(f, v[0]) + inner_h(g, v[1]);\n"
    "form robin(trial u, test v, real k, real beta) = inner_plus(grad(u), grad(v))\n"
    "    + k * inner_h(u[0] - u[1], v[0] - v[1]) + beta * inner_Gamma(u[1], v[1], "
    "\"top\");\n"
    "func real pi() { return 3.14159265358979323846; }\n"
    "func real exact(real x, int k) { return k == 0 ? sin(pi()*x) : x*exp(x); }\n"
    "func real f(real x) { return (pi()^2 + 1)*sin(pi()*x) - x*exp(x); }\n"
    "func real g(real x) { return -(x + 2)*exp(x) + x*exp(x) - sin(pi()*x); }\n";

typedef struct run {
    double norm[2];
    double hmax;
} run;

static rubus_array *put(const form_probe *p, rubus_space *space, const char *func,
                        int32_t how)
{
    rubus_array *u = NULL;
    ok(rubus_space_array(space, 0, &u));
    ok(rubus_project(space, rubus_module_func(p->module, func), how, NULL, 0, u));
    return u;
}

static run solve(form_probe *p, int64_t n)
{
    run r;
    probe_mesh(p, mesh_uniform(p->context, 1, n, 0, 0));
    rubus_array *exact = put(p, p->pair, "exact", RUBUS_POINT);
    rubus_array *f = put(p, p->space, "f", RUBUS_CELL_MEAN);
    rubus_array *g = put(p, p->space, "g", RUBUS_CELL_MEAN);
    rubus_array *u = NULL;
    rubus_array *F = NULL;
    rubus_constraint *bc = NULL;
    rubus_operator *op = NULL;
    ok(RUBUS_ARRAYS(p->pair, &u, &F));
    rubus_form *a = probe_form(p, "system", p->pair);
    rubus_form *l = probe_linear(p, "load", p->pair);
    ok(rubus_form_set(l, "f", f));
    ok(rubus_form_set(l, "g", g));
    ok(rubus_constraint_create(p->pair, &bc));
    ok(rubus_constraint_add(bc, "boundary", RUBUS_ALL, exact));
    ok(rubus_form_vector(l, bc, F));
    ok(rubus_form_operator(a, bc, &op));
    const rubus_krylov_desc desc = {.struct_size = sizeof desc, .rtol = 2e-15};
    ok(rubus_solve_cg(op, F, u, &desc, NULL));
    problem q = {.p = *p};
    for (int32_t k = 0; k < 2; k++) {
        rubus_array *own = NULL;
        rubus_array *want = NULL;
        ok(rubus_space_component(p->pair, u, k, &own));
        ok(rubus_space_component(p->pair, exact, k, &want));
        const errors e = problem_errors(&q, own, want);
        r.norm[k] = e.norm_1h;
        r.hmax = e.hmax;
        rubus_array_destroy(own);
        rubus_array_destroy(want);
    }
    rubus_operator_destroy(op);
    rubus_constraint_destroy(bc);
    rubus_form_destroy(a);
    rubus_form_destroy(l);
    rubus_array_destroy(exact);
    rubus_array_destroy(f);
    rubus_array_destroy(g);
    rubus_array_destroy(u);
    rubus_array_destroy(F);
    return r;
}

START_TEST(test_case_10_16_system)
{
    static const double want[5] = {1.1855321017e-2, 2.9690984220e-3, 7.4260456303e-4,
                                   1.8567177e-4, 4.6419233e-5};
    form_probe p = probe_open(_i, text);
    run r[5];
    const int n = probe_fast(_i) ? 5 : 2;
    for (int k = 0; k < n; k++) {
        r[k] = solve(&p, (8 << k) + 1);
        problem_near(r[k].norm[0], want[k], "u", (8 << k) + 1);
    }
    number_is(log2(r[n - 2].norm[1] / r[n - 1].norm[1]), 2, 0.05);
    probe_close(&p);
}
END_TEST

/* Held on different faces: constants that satisfy all conditions come out. */
START_TEST(system_in_3d_with_robin_on_one_component)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_uniform(p.context, 3, 5, 4, 6));
    rubus_array *u = NULL;
    rubus_array *F = NULL;
    rubus_constraint *bc = NULL;
    rubus_operator *op = NULL;
    ok(RUBUS_ARRAYS(p.pair, &u, &F));
    rubus_form *a = probe_form(&p, "robin", p.pair);
    ck_assert(rubus_form_is_symmetric(a));
    ok(rubus_form_set(a, "k", 2));
    ok(rubus_form_set(a, "beta", 0)); // without it u = v = 1 solves the problem
    ok(rubus_constraint_create(p.pair, &bc));
    ok(rubus_constraint_add(bc, "boundary", 0, 1.0));
    ok(rubus_constraint_add(bc, "back,front", 1, 1.0));
    ok(rubus_constraint_apply(bc, F));
    ok(rubus_form_operator(a, bc, &op));
    rubus_krylov_report report = {.struct_size = sizeof report};
    ok(rubus_solve_cg(op, F, u, NULL, &report));
    ck_assert_int_eq(report.outcome, RUBUS_OUTCOME_CONVERGED);
    double *x = probe_numbers(u);
    for (int i = 0; i < 240; i++) {
        number_is(x[i], 1, 1e-8);
    }
    free(x);
    ok(rubus_form_set(a, "beta", 1.5)); // with it the second is less at the top
    ok(rubus_solve_cg(op, F, u, NULL, &report));
    ck_assert_int_eq(report.outcome, RUBUS_OUTCOME_CONVERGED);
    x = probe_numbers(u);
    const double middle = x[120 + 2 + 5 * (1 + 4 * 5)];
    ck_assert_msg(middle < 0.9 && middle > 0.3, "%g", middle);
    free(x);
    rubus_operator_destroy(op);
    rubus_constraint_destroy(bc);
    rubus_form_destroy(a);
    rubus_array_destroy(u);
    rubus_array_destroy(F);
    probe_close(&p);
}
END_TEST

static Suite *system_suite(void)
{
    Suite *suite = suite_create("system");
    TCase *tc = tcase_create("system");
    backends_add(tc, test_case_10_16_system);
    backends_add(tc, system_in_3d_with_robin_on_one_component);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("system", system_suite)
