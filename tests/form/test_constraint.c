/* SPDX-License-Identifier: Apache-2.0 */
/* Constraints on every backend: values on points, rows of operators, lifting. */
#include "config.h"

#include <check.h>

#include "tests/form/form_probe.h"

static const char text[] =
    "form stiffness(trial u, test v) = inner_plus(grad(u), grad(v));\n"
    "form exchange(trial u, test v) = inner_h(u[0] - u[1], v[0] - v[1]);\n"
    "form load(test v, field f) = inner_h(f, v);\n"
    "func bool never(real x) { return false; }\n"
    "func bool middle(real x) { return x == 1 || x == 3; }\n"
    "func bool corner(real x, real y) { return x + y > 5; }\n";

static rubus_constraint *constraint_on(rubus_space *space)
{
    rubus_constraint *bc = NULL;
    ok(rubus_constraint_create(space, &bc));
    return bc;
}

START_TEST(constraint_values_the_last_wins)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_013_023(p.context, RUBUS_F64));
    ok(rubus_mesh_mark_func(p.mesh, "corner", rubus_module_func(p.module, "corner")));
    probe_mesh(&p, p.mesh);
    rubus_array *g = array_of(p.space, 10, 11, 12, 13, 14, 15, 16, 17, 18);
    rubus_array *u = array_of(p.space, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    rubus_constraint *bc = constraint_on(p.space);
    ok(rubus_constraint_apply(bc, u));
    array_is(u, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    ok(rubus_constraint_add(bc, "left,bottom", RUBUS_ALL, g));
    ok(rubus_constraint_add(bc, "right", 0, -1));
    ok(rubus_constraint_add(bc, "corner", 0, 2.5));
    ok(rubus_constraint_apply(bc, u));
    array_is(u, 0, 10, 11, -1, 13, 1, -1, 16, 1, 2.5);
    ok(rubus_array_fill(g, 7)); // read at every use
    ok(rubus_constraint_apply(bc, u));
    array_is(u, 0, 7, 7, -1, 7, 1, -1, 7, 1, 2.5);
    ok(rubus_constraint_apply(bc, g)); // it keeps the values that it holds itself
    array_is(g, 0, 7, 7, -1, 7, 7, -1, 7, 7, 2.5);
    rubus_constraint_destroy(bc);
    rubus_array_destroy(g);
    rubus_array_destroy(u);
    probe_close(&p);
}
END_TEST

START_TEST(constraint_on_components)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F32));
    rubus_array *one = array_of(p.space, 1, 2, 3, 4);
    rubus_array *both = array_of(p.pair, 5, 6, 7, 8, 9, 10, 11, 12);
    rubus_array *u = array_of(p.pair, 0, 0, 0, 0, 0, 0, 0, 0);
    rubus_constraint *bc = constraint_on(p.pair);
    ok(rubus_constraint_add(bc, "boundary", RUBUS_ALL, one));
    ok(rubus_constraint_add(bc, "right", 1, both));
    ok(rubus_constraint_add(bc, "interior", 0, -1));
    ok(rubus_constraint_apply(bc, u));
    array_is(u, 0, 1, -1, -1, 4, 1, 0, 0, 12);
    rubus_constraint_destroy(bc);
    rubus_array_destroy(one);
    rubus_array_destroy(both);
    rubus_array_destroy(u);
    probe_close(&p);
}
END_TEST

START_TEST(constraint_refuses)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    rubus_context *other = backends_open(_i);
    rubus_mesh *away = mesh_0135(other, RUBUS_F64);
    rubus_mesh *twin = mesh_0135(p.context, RUBUS_F64);
    rubus_space *on_away = NULL;
    rubus_space *on_twin = NULL;
    ok(rubus_space_create(away, 1, &on_away));
    ok(rubus_space_create(twin, 1, &on_twin));
    rubus_array *u = array_of(p.pair, 1, 2, 3, 4, 5, 6, 7, 8);
    rubus_array *far = backends_ramp(other, 4, 0);
    rubus_constraint *bc = constraint_on(p.pair);
    rubus_constraint *none = NULL;
    fails(rubus_constraint_create(NULL, &none), RUBUS_EINVAL, "the space is NULL");
    fails(rubus_constraint_create(p.space, NULL), RUBUS_EINVAL, "out_constraint is NULL");
    fails(rubus_constraint_add(NULL, "left", 0, 1.0), RUBUS_EINVAL, "constraint is NULL");
    fails(rubus_constraint_add(bc, NULL, 0, 1.0), RUBUS_EINVAL, "the labels are NULL");
    fails(rubus_constraint_add(bc, " , ", 0, 1.0), RUBUS_EINVAL, "has no label");
    fails(rubus_constraint_add(bc, "left,up", 0, 1.0), RUBUS_ENOTFOUND,
          "no label `up`|boundary, interior, left");
    fails(rubus_constraint_add(bc, "left", 2, 1.0), RUBUS_EINVAL,
          "component 2 of a space with 2|RUBUS_ALL");
    fails(rubus_constraint_add(bc, "left", -2, u), RUBUS_EINVAL, "component -2");
    fails(rubus_constraint_add_array(bc, "left", 0, NULL), RUBUS_EINVAL, "array is NULL");
    fails(rubus_constraint_add(bc, "left", 0, far), RUBUS_EFOREIGN, "the array lives on");
    fails(rubus_constraint_apply(NULL, u), RUBUS_EINVAL, "the constraint is NULL");
    fails(rubus_constraint_apply(bc, NULL), RUBUS_EINVAL, "u is NULL");
    fails(rubus_constraint_apply(bc, far), RUBUS_EFOREIGN, "u lives on");
    rubus_constraint_destroy(NULL);
    rubus_form *form = probe_form(&p, "stiffness", p.space);
    rubus_operator *op = NULL;
    none = constraint_on(on_away);
    fails(rubus_form_operator(form, none, &op), RUBUS_EFOREIGN, "constraint lives on");
    rubus_constraint_destroy(none);
    none = constraint_on(on_twin);
    fails(rubus_form_operator(form, none, &op), RUBUS_EINVAL, "on another mesh");
    rubus_constraint_destroy(none);
    rubus_form_destroy(form);
    rubus_constraint_destroy(bc);
    rubus_array_destroy(u);
    rubus_array_destroy(far);
    rubus_space_destroy(on_away);
    rubus_space_destroy(on_twin);
    rubus_mesh_destroy(away);
    rubus_mesh_destroy(twin);
    rubus_context_destroy(other);
    probe_close(&p);
}
END_TEST

/* Values that overlap what is held at them, without being it. */
START_TEST(constraint_on_values_that_overlap_fails)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    rubus_array *u = array_of(p.pair, 1, 2, 3, 4, 5, 6, 7, 8);
    rubus_array *shifted = NULL;
    rubus_constraint *bc = constraint_on(p.pair);
    ok(rubus_constraint_add(bc, "right", 1, 9.0));
    ok(rubus_array_view(u, 2, RUBUS_SHAPE(4), &shifted));
    ok(rubus_constraint_add(bc, "left", 0, shifted));
    fails(rubus_constraint_apply(bc, u), RUBUS_EALIAS,
          "rubus_constraint_apply: component 0|overlaps the values");
    rubus_form *load = probe_linear(&p, "load", p.pair);
    rubus_array *one = array_of(p.space, 1, 1, 1, 1);
    ok(rubus_form_set(load, "f", one));
    fails(rubus_form_vector(load, bc, u), RUBUS_EALIAS, "overlaps the values");
    rubus_form *both = probe_form(&p, "exchange", p.pair);
    fails(rubus_form_lift(both, bc, u), RUBUS_EALIAS, "overlaps the values");
    rubus_form_destroy(both);
    rubus_form_destroy(load);
    rubus_array_destroy(one);
    array_is(u, 0, 1, 2, 3, 4, 5, 6, 7, 8); // nothing has changed
    rubus_constraint_destroy(bc);
    rubus_array_destroy(shifted);
    rubus_array_destroy(u);
    probe_close(&p);
}
END_TEST

/* The points that are held, as an operator tells them. */
static void held_is(rubus_operator *op, const double *want, int64_t n)
{
    rubus_array *mask = NULL;
    ok(rubus_operator_constraint(op, &mask));
    ck_assert_msg((mask == NULL) == (want == NULL), "a mask, or none");
    if (mask != NULL) {
        probe_near(mask, want, n, 0, "mask");
    }
}

static const double free_stiffness[16] = {1, -1,  0, 0,   -1, 1.5, -.5, 0,
                                          0, -.5, 1, -.5, 0,  0,   -.5, .5};

/* Whole faces, a mask that is not, and masks without any point. */
START_TEST(constraint_makes_rows_of_the_identity)
{
    static const struct {
        const char *labels;
        double held[4];
    } cases[] = {{"left", {1, 0, 0, 0}},         {"boundary", {1, 0, 0, 1}},
                 {"interior", {0, 1, 1, 0}},     {"middle", {0, 1, 1, 0}},
                 {"right,middle", {0, 1, 1, 1}}, {"never", {0, 0, 0, 0}}};
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    ok(rubus_mesh_mark_func(p.mesh, "never", rubus_module_func(p.module, "never")));
    ok(rubus_mesh_mark_func(p.mesh, "middle", rubus_module_func(p.module, "middle")));
    probe_mesh(&p, p.mesh);
    rubus_form *form = probe_form(&p, "stiffness", p.space);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        rubus_operator *op = NULL;
        rubus_constraint *bc = constraint_on(p.space);
        ok(rubus_form_operator(form, bc, &op)); // no points: no constraint
        held_is(op, NULL, 0);
        probe_matrix_is(op, p.space, free_stiffness, 1e-15, "free");
        rubus_operator_destroy(op);
        ok(rubus_constraint_add(bc, cases[k].labels, RUBUS_ALL, 0.0));
        ok(rubus_form_operator(form, bc, &op));
        rubus_constraint_destroy(bc);
        held_is(op, cases[k].held, 4);
        double want[16];
        for (int i = 0; i < 16; i++) {
            want[i] = cases[k].held[i / 4] == 0 ? free_stiffness[i] : i % 5 == 0 ? 1 : 0;
        }
        probe_matrix_is(op, p.space, want, 1e-15, cases[k].labels);
        rubus_operator_destroy(op);
    }
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

/* One component held on a face, one nowhere; then one on a mask as well. */
START_TEST(constraint_of_one_component)
{
    static const double w[4] = {.5, 1.5, 2, 1};
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    ok(rubus_mesh_mark_func(p.mesh, "middle", rubus_module_func(p.module, "middle")));
    probe_mesh(&p, p.mesh);
    rubus_form *form = probe_form(&p, "exchange", p.pair);
    ck_assert(rubus_form_is_symmetric(form));
    rubus_constraint *bc = constraint_on(p.pair);
    for (int k = 0; k < 2; k++) {
        double held[8] = {0};
        double want[64] = {0};
        rubus_operator *op = NULL;
        ok(rubus_constraint_add(bc, k == 0 ? "right" : "middle", 1 - k, 0.0));
        held[7] = 1;
        held[1] = k;
        held[2] = k;
        for (int i = 0; i < 8; i++) {
            want[i * 8 + i] = held[i] != 0 ? 1 : w[i % 4];
            want[i * 8 + (i + 4) % 8] = held[i] != 0 ? 0 : -w[i % 4];
        }
        ok(rubus_form_operator(form, bc, &op));
        held_is(op, held, 8);
        probe_matrix_is(op, p.pair, want, 1e-15, "exchange");
        rubus_operator_destroy(op);
    }
    rubus_constraint_destroy(bc);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

/* f = 2 on five points; u = 3 and -1 at the ends. */
START_TEST(test_case_10_18_vector_and_lift)
{
    form_probe p = probe_open(_i, text);
    rubus_mesh *mesh = NULL;
    ok(rubus_mesh_create_box(p.context, RUBUS_F64, RUBUS_SHAPE(5), (double[]){0},
                             (double[]){1}, &mesh));
    probe_mesh(&p, mesh);
    rubus_array *f = array_of(p.space, 2, 2, 2, 2, 2);
    rubus_array *F = array_of(p.space, (double)NAN, (double)NAN, (double)NAN, (double)NAN,
                              (double)NAN);
    rubus_array *u = array_of(p.space, 9, 9, 9, 9, 9);
    rubus_form *a = probe_form(&p, "stiffness", p.space);
    rubus_form *l = probe_linear(&p, "load", p.space);
    rubus_constraint *bc = constraint_on(p.space);
    rubus_operator *op = NULL;
    ok(rubus_form_set(l, "f", f));
    ok(rubus_constraint_add(bc, "boundary", RUBUS_ALL, 0.0));
    ok(rubus_form_vector(l, bc, F));
    array_is(F, 1e-15, 0, .5, .5, .5, 0);
    ok(rubus_constraint_add(bc, "left", RUBUS_ALL, 3));
    ok(rubus_constraint_add(bc, "right", RUBUS_ALL, -1));
    ok(rubus_form_vector(l, bc, F));
    array_is(F, 1e-15, 3, .5, .5, .5, -1);
    ok(rubus_form_operator(a, bc, &op));
    probe_matrix_is(op, p.space,
                    (const double[]){1,  0, 0, 0, 0,  -4, 8,  -4, 0, 0, 0, -4, 8,
                                     -4, 0, 0, 0, -4, 8,  -4, 0,  0, 0, 0, 1},
                    1e-14, "stiffness");
    ok(rubus_solve_cg(op, F, u, NULL, NULL));
    array_is(u, 1e-9, 3, 2.1875, 1.25, .1875, -1);
    ok(rubus_form_lift(a, bc, F));
    array_is(F, 1e-15, 3, 12.5, .5, -3.5, -1);
    rubus_operator_destroy(op);
    rubus_constraint_destroy(bc);
    rubus_form_destroy(a);
    rubus_form_destroy(l);
    rubus_array_destroy(f);
    rubus_array_destroy(F);
    rubus_array_destroy(u);
    probe_close(&p);
}
END_TEST

static Suite *constraint_suite(void)
{
    Suite *suite = suite_create("constraint");
    TCase *tc = tcase_create("constraint");
    backends_add(tc, constraint_values_the_last_wins);
    backends_add(tc, constraint_on_components);
    backends_add(tc, constraint_refuses);
    backends_add(tc, constraint_on_values_that_overlap_fails);
    backends_add(tc, constraint_makes_rows_of_the_identity);
    backends_add(tc, constraint_of_one_component);
    backends_add(tc, test_case_10_18_vector_and_lift);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("constraint", constraint_suite)
