/* SPDX-License-Identifier: Apache-2.0 */
/* Forms and constraints on every backend: parameters, life, errors. */
#include "config.h"

#include <check.h>

#include "tests/form/form_probe.h"

static const char text[] =
    "func real run(real s) { return 2 * s; }\n" // a name that kernels of forms might have
    "form scaled(trial u, test v, field c, field l[x], real t, int k) =\n"
    "    inner_h(run(c) * l * u, v) * t * k;\n"
    "form plain(trial u, test v) = inner_h(u, v);\n"
    "form stiffness(trial u, test v) = inner_plus(grad(u), grad(v));\n"
    "form robin(trial u, test v, real beta) = beta * inner_Gamma(u, v, \"left\", "
    "\"top\");\n"
    "form rim(trial u, test v) = inner_Gamma(u, v);\n"
    "form ends(trial u, test v) = inner_Gamma(u, v, \"left\")\n"
    "    + inner_Gamma(u, v, \"right\");\n"
    "form second(trial u, test v) = inner_h(u[1], v[1]);\n"
    "form gone(trial u, test v) = inner_h(u, v, \"nowhere\");\n"
    "form part(trial u, test v) = inner_h(u, v, \"odd\", \"left\");\n"
    "form load(test v, field f) = inner_h(f, v);\n"
    "func bool odd(real x) { return x == 1 || x == 5; }\n"
    "func bool never(real x) { return false; }\n";

/* f32 and f64 are near to this of the numbers here. */
static double near_in(int32_t type)
{
    return type == RUBUS_F64 ? 1e-14 : 1e-6;
}

/* --- parameters --------------------------------------------------------------------- */

START_TEST(form_parameters_are_read_at_every_use)
{
    static const int32_t types[2] = {RUBUS_F64, RUBUS_F32};
    for (int k = 0; k < 2; k++) {
        const double tol = near_in(types[k]);
        form_probe p = probe_open(_i, text);
        probe_mesh(&p, mesh_0135(p.context, types[k]));
        rubus_array *c = array_of(p.space, 1, 2, 3, 4);
        rubus_array *l = array_of(p.space, 1, 1, 2, 2);
        rubus_array *x = array_of(p.space, 1, 1, 1, 1);
        rubus_array *y =
            array_of(p.space, (double)NAN, (double)NAN, (double)NAN, (double)NAN);
        rubus_form *form = probe_form(&p, "scaled", p.space);
        ck_assert_str_eq(rubus_form_name(form), "scaled");
        ok(rubus_form_set(form, "c", c));
        ok(rubus_form_set(form, "l", l));
        ok(rubus_form_set(form, "t", 0.5));
        ok(rubus_form_set(form, "k", 3));
        rubus_operator *op = NULL;
        ok(rubus_form_operator(form, NULL, &op));
        ok(rubus_operator_apply(op, 1, x, 0, y)); // .5 * 3 * 2c * l * (.5, 1.5, 2, 1)
        array_is(y, tol, 1.5, 9, 36, 24);
        const rubus_context_counters before = probe_counters(p.context);
        ok(rubus_array_fill(c, 1)); // held by reference
        ok(rubus_form_set(form, "t", 1));
        ok(rubus_form_set(form, "k", -1));
        ok(rubus_form_set(form, "l", c));
        ok(rubus_operator_apply(op, 2, x, 1, y));
        array_is(y, tol, 1.5 - 2, 9 - 6, 36 - 8, 24 - 4);
        const rubus_context_counters after = probe_counters(p.context);
        ck_assert_uint_eq(after.modules_built, before.modules_built);
        rubus_operator_destroy(op);
        rubus_form_destroy(form);
        rubus_array_destroy(c);
        rubus_array_destroy(l);
        rubus_array_destroy(x);
        rubus_array_destroy(y);
        probe_close(&p);
    }
}
END_TEST

START_TEST(form_set_refuses)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    rubus_context *other = backends_open(_i);
    rubus_array *c = array_of(p.space, 1, 2, 3, 4);
    rubus_array *both = array_of(p.pair, 1, 2, 3, 4, 5, 6, 7, 8);
    rubus_array *far = backends_ramp(other, 4, 0);
    rubus_array *longer = backends_ramp(p.context, 5, 0);
    rubus_array *narrow = NULL;
    ok(rubus_array_create(p.context, RUBUS_F32, RUBUS_SHAPE(4), &narrow));
    rubus_form *form = probe_form(&p, "scaled", p.space);
    rubus_form *wide = probe_form(&p, "second", p.pair);
    fails(rubus_form_set_array(NULL, "c", c), RUBUS_EINVAL, "the form is NULL");
    fails(rubus_form_set_array(form, NULL, c), RUBUS_EINVAL, "the name is NULL");
    fails(rubus_form_set_array(form, "c", NULL), RUBUS_EINVAL, "c is NULL");
    fails(rubus_form_set_array(form, "l", NULL), RUBUS_EINVAL, "l is NULL");
    fails(rubus_form_set(form, "d", c), RUBUS_EINVAL,
          "`scaled` has no parameter `d`; it has c, l, t, k");
    fails(rubus_form_set(form, "u", c), RUBUS_EINVAL, "no parameter `u`");
    fails(rubus_form_set(wide, "d", 1), RUBUS_EINVAL, "it has none");
    fails(rubus_form_set(form, "t", c), RUBUS_EINVAL, "`t`|is a number; set it to a num");
    fails(rubus_form_set(form, "c", 1), RUBUS_EINVAL, "`c`|is a field; set it to an arr");
    fails(rubus_form_set(form, "c", far), RUBUS_EFOREIGN, "c lives on");
    fails(rubus_form_set(form, "l", far), RUBUS_EFOREIGN, "l lives on");
    fails(rubus_form_set(form, "c", narrow), RUBUS_ETYPE, "c has elements of f32");
    fails(rubus_form_set(form, "l", narrow), RUBUS_ETYPE, "l has elements of f32");
    fails(rubus_form_set(form, "c", longer), RUBUS_ESHAPE, "c is 5");
    fails(rubus_form_set(form, "c", both), RUBUS_ESHAPE, "c is 4 x 2");
    fails(rubus_form_set(form, "l", longer), RUBUS_ESHAPE,
          "`l`|4 points of axis x|5 ele");
    fails(rubus_form_set(form, "k", 0.5), RUBUS_EINVAL, "`k`|0.5 is no whole number");
    fails(rubus_form_set(form, "k", 0x1p31), RUBUS_EINVAL, "no whole number of 32 bits");
    fails(rubus_form_set(form, "k", (double)NAN), RUBUS_EINVAL, "no whole number");
    ck_assert_str_eq(rubus_form_name(NULL), "");
    rubus_form_destroy(NULL);
    rubus_form_destroy(form);
    rubus_form_destroy(wide);
    rubus_array_destroy(c);
    rubus_array_destroy(both);
    rubus_array_destroy(far);
    rubus_array_destroy(longer);
    rubus_array_destroy(narrow);
    rubus_context_destroy(other);
    probe_close(&p);
}
END_TEST

/* A field of a form on several components has one. */
START_TEST(form_field_of_all_components_fails)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    rubus_array *both = array_of(p.pair, 1, 2, 3, 4, 5, 6, 7, 8);
    rubus_form *form = probe_linear(&p, "load", p.pair);
    fails(rubus_form_set(form, "f", both), RUBUS_ESHAPE, "`f`|rubus_space_component");
    fails(rubus_form_vector(form, NULL, both), RUBUS_ESTATE,
          "rubus_form_vector|parameter `f` of form `load` is not set");
    rubus_array *window = NULL;
    ok(rubus_space_component(p.pair, both, 1, &window));
    ok(rubus_form_set(form, "f", window));
    fails(rubus_form_vector(form, NULL, both), RUBUS_EALIAS,
          "rubus_form_vector: F overlaps the field `f` of form");
    rubus_array *F = array_of(p.pair, 0, 0, 0, 0, 0, 0, 0, 0);
    ok(rubus_form_vector(form, NULL, F));
    array_is(F, 1e-15, 2.5, 9, 14, 8, 2.5, 9, 14, 8);
    rubus_array_destroy(F);
    rubus_array_destroy(window);
    rubus_array_destroy(both);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

/* --- making ------------------------------------------------------------------------- */

START_TEST(form_create_refuses)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    rubus_context *other = backends_open(_i);
    rubus_module *far = backends_module(other, text, RUBUS_F64, 0);
    rubus_module *narrow = backends_module(p.context, text, RUBUS_F32, 0);
    rubus_mesh *twin = mesh_0135(p.context, RUBUS_F64);
    rubus_mesh *away = mesh_0135(other, RUBUS_F64);
    rubus_space *on_twin = NULL;
    rubus_space *on_away = NULL;
    ok(rubus_space_create(twin, 1, &on_twin));
    ok(rubus_space_create(away, 1, &on_away));
    rubus_space *s = p.space;
    rubus_form *form = NULL;
    fails(rubus_form_create(NULL, "plain", s, s, &form), RUBUS_EINVAL, "module is NULL");
    fails(rubus_form_create(p.module, NULL, s, s, &form), RUBUS_EINVAL, "name is NULL");
    fails(rubus_form_create(p.module, "plain", s, NULL, &form), RUBUS_EINVAL,
          "test space is NULL");
    fails(rubus_form_create(p.module, "plain", s, s, NULL), RUBUS_EINVAL, "out_form");
    fails(rubus_form_create(p.module, "plane", s, s, &form), RUBUS_EINVAL,
          "no form `plane`|there are scaled, plain");
    fails(rubus_form_create(p.module, "plain", NULL, s, &form), RUBUS_EINVAL,
          "`plain` is bilinear; give a trial space");
    fails(rubus_form_create(p.module, "load", s, s, &form), RUBUS_EINVAL,
          "`load` is linear; the trial space is NULL");
    fails(rubus_form_create(p.module, "plain", on_twin, s, &form), RUBUS_EINVAL,
          "another mesh");
    fails(rubus_form_create(narrow, "plain", s, s, &form), RUBUS_EINVAL,
          "built for f32, the mesh is of f64");
    fails(rubus_form_create(p.module, "second", s, s, &form), RUBUS_ECOMPILE,
          "test.rk:10|component");
    fails(rubus_form_create(p.module, "gone", s, s, &form), RUBUS_ECOMPILE,
          "no label \"nowhere\"|\"boundary\", \"interior\", \"left\", \"right\", "
          "\"xmin\", \"xmax\"");
    fails(rubus_form_create(far, "plain", s, s, &form), RUBUS_EFOREIGN,
          "the module lives on");
    fails(rubus_form_create(p.module, "plain", on_away, s, &form), RUBUS_EFOREIGN,
          "the trial space lives on");
    ck_assert_ptr_null(form);
    rubus_space_destroy(on_twin);
    rubus_space_destroy(on_away);
    rubus_mesh_destroy(twin);
    rubus_mesh_destroy(away);
    rubus_module_destroy(far);
    rubus_module_destroy(narrow);
    rubus_context_destroy(other);
    probe_close(&p);
}
END_TEST

/* One product over both faces of a short axis is refused, two products are not. */
START_TEST(form_over_both_faces_of_a_short_axis_fails)
{
    form_probe p = probe_open(_i, text);
    rubus_form *form = NULL;
    probe_mesh(&p, mesh_of(p.context, RUBUS_F64, 1, &axis_of(0, 2)));
    fails(rubus_form_create(p.module, "rim", p.space, p.space, &form), RUBUS_EINVAL,
          "`rim` integrates over both faces of axis x, which has 2 points");
    form = probe_form(&p, "ends", p.space);
    rubus_array *x = array_of(p.space, 3, 4);
    double value = 0;
    ok(rubus_form_value(form, x, x, &value));
    number_is(value, 25, 0);
    rubus_array_destroy(x);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

/* Whoever made a form may give back everything else. */
START_TEST(form_holds_what_it_needs)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    rubus_array *c = array_of(p.space, 1, 2, 3, 4);
    rubus_array *x = array_of(p.space, 1, 1, 1, 1);
    rubus_array *y = array_of(p.space, 0, 0, 0, 0);
    rubus_array *three = array_of(p.space, 3, 3, 3, 3);
    rubus_form *form = probe_form(&p, "scaled", p.space);
    ok(rubus_form_set(form, "c", c));
    ok(rubus_form_set(form, "l", three));
    ok(rubus_form_set(form, "t", 1));
    ok(rubus_form_set(form, "k", 1));
    rubus_constraint *bc = NULL;
    ok(rubus_constraint_create(p.space, &bc));
    ok(rubus_constraint_add(bc, "left", RUBUS_ALL, three));
    rubus_operator *op = NULL;
    ok(rubus_form_operator(form, bc, &op));
    ok(rubus_constraint_apply(bc, x));
    array_is(x, 0, 3, 1, 1, 1);
    rubus_array_destroy(c);
    rubus_array_destroy(three);
    rubus_form_destroy(form);
    ok(rubus_constraint_apply(bc, x));
    rubus_constraint_destroy(bc);
    rubus_space_destroy(p.space);
    rubus_space_destroy(p.pair);
    rubus_mesh_destroy(p.mesh);
    rubus_module_destroy(p.module);
    ok(rubus_operator_apply(op, 1, x, 0, y));
    array_is(y, 1e-15, 3, 18, 36, 24);
    rubus_array_destroy(x);
    rubus_array_destroy(y);
    rubus_operator_destroy(op);
    backends_finish(p.context);
}
END_TEST

START_TEST(form_of_an_older_mesh_is_stale)
{
    form_probe p = probe_open(_i, text);
    static const char both[] = "version 1|version 2";
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    rubus_form *form = probe_form(&p, "plain", p.space);
    rubus_form *load = probe_linear(&p, "load", p.space);
    rubus_form *number = probe_form(&p, "scaled", p.space);
    rubus_array *x = array_of(p.space, 1, 2, 3, 4);
    rubus_array *y = array_of(p.space, 7, 7, 7, 7);
    rubus_constraint *bc = NULL;
    rubus_operator *op = NULL;
    ok(rubus_form_set(load, "f", x));
    ok(rubus_constraint_create(p.space, &bc));
    ok(rubus_constraint_add(bc, "left", RUBUS_ALL, 0.0));
    ok(rubus_form_operator(form, bc, &op));
    ok(rubus_mesh_refine(p.mesh));
    rubus_space *fresh = NULL;
    rubus_form *none = NULL;
    rubus_operator *no_operator = NULL;
    rubus_constraint *no_constraint = NULL;
    double value = 0;
    ok(rubus_space_create(p.mesh, 1, &fresh));
    fails(rubus_form_create(p.module, "plain", p.space, fresh, &none), RUBUS_ESTALE,
          both);
    fails(rubus_form_create(p.module, "plain", fresh, p.space, &none), RUBUS_ESTALE,
          both);
    fails(rubus_form_set(load, "f", x), RUBUS_ESTALE, both);
    fails(rubus_form_set(number, "t", 2.0), RUBUS_ESTALE, both);
    fails(rubus_solve_cg(op, x, y, NULL, NULL), RUBUS_ESTALE,
          "rubus_solve_cg: |version 1");
    fails(rubus_operator_apply(op, 1, x, 0, y), RUBUS_ESTALE, both);
    fails(rubus_operator_diagonal(op, y), RUBUS_ESTALE, both);
    fails(rubus_form_vector(load, NULL, y), RUBUS_ESTALE, both);
    fails(rubus_form_value(load, NULL, y, &value), RUBUS_ESTALE, both);
    fails(rubus_form_operator(form, NULL, &no_operator), RUBUS_ESTALE, both);
    fails(rubus_form_lift(form, bc, y), RUBUS_ESTALE, both);
    fails(rubus_constraint_add(bc, "left", 0, x), RUBUS_ESTALE, both);
    fails(rubus_constraint_add(bc, "left", 0, 1.0), RUBUS_ESTALE, both);
    fails(rubus_constraint_apply(bc, y), RUBUS_ESTALE, both);
    fails(rubus_constraint_create(p.space, &no_constraint), RUBUS_ESTALE, both);
    form_probe q = p; // the same calls on the new version
    q.space = fresh;
    rubus_form *again = probe_form(&q, "plain", fresh);
    fails(rubus_form_operator(again, bc, &no_operator), RUBUS_ESTALE, both);
    array_is(y, 0, 7, 7, 7, 7);
    rubus_form_destroy(again);
    rubus_space_destroy(fresh);
    rubus_array_destroy(x);
    rubus_array_destroy(y);
    rubus_operator_destroy(op);
    rubus_constraint_destroy(bc);
    rubus_form_destroy(form);
    rubus_form_destroy(load);
    rubus_form_destroy(number);
    probe_close(&p);
}
END_TEST

/* --- using -------------------------------------------------------------------------- */

START_TEST(form_use_refuses)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    rubus_array *x = array_of(p.space, 1, 2, 3, 4);
    rubus_array *both = array_of(p.pair, 1, 2, 3, 4, 5, 6, 7, 8);
    rubus_form *form = probe_form(&p, "plain", p.space);
    rubus_form *load = probe_linear(&p, "load", p.space);
    rubus_form *mixed = NULL;
    ok(rubus_form_create(p.module, "second", p.pair, p.pair, &mixed));
    rubus_constraint *bc = NULL;
    ok(rubus_constraint_create(p.space, &bc));
    ok(rubus_form_set(load, "f", x));
    rubus_operator *op = NULL;
    double value = 0;
    fails(rubus_form_vector(NULL, NULL, x), RUBUS_EINVAL, "the form is NULL");
    fails(rubus_form_vector(load, NULL, NULL), RUBUS_EINVAL, "F is NULL");
    fails(rubus_form_vector(load, NULL, both), RUBUS_ESHAPE, "F is 4 x 2");
    fails(rubus_form_vector(form, NULL, x), RUBUS_EINVAL, "`plain` is bilinear");
    fails(rubus_form_vector(mixed, bc, both), RUBUS_EINVAL,
          "a space of 1 component, the form tests with 2");
    fails(rubus_form_value(load, x, x, &value), RUBUS_EINVAL, "linear; u is NULL");
    fails(rubus_form_value(form, NULL, x, &value), RUBUS_EINVAL, "u is NULL");
    fails(rubus_form_value(form, x, NULL, &value), RUBUS_EINVAL, "v is NULL");
    fails(rubus_form_value(form, x, both, &value), RUBUS_ESHAPE, "v is 4 x 2");
    fails(rubus_form_value(form, x, x, NULL), RUBUS_EINVAL, "out_value is NULL");
    fails(rubus_form_value(NULL, x, x, &value), RUBUS_EINVAL, "the form is NULL");
    fails(rubus_form_operator(NULL, NULL, &op), RUBUS_EINVAL, "the form is NULL");
    fails(rubus_form_operator(form, NULL, NULL), RUBUS_EINVAL, "out_operator is NULL");
    fails(rubus_form_operator(load, NULL, &op), RUBUS_EINVAL, "`load` is linear");
    fails(rubus_form_operator(mixed, bc, &op), RUBUS_EINVAL, "make it on the test space");
    fails(rubus_form_lift(NULL, bc, x), RUBUS_EINVAL, "the form is NULL");
    fails(rubus_form_lift(form, NULL, x), RUBUS_EINVAL, "the constraint is NULL");
    fails(rubus_form_lift(load, bc, x), RUBUS_EINVAL, "`load` is linear");
    fails(rubus_form_lift(form, bc, both), RUBUS_ESHAPE, "F is 4 x 2");
    fails(rubus_form_lift(mixed, bc, both), RUBUS_EINVAL, "a space of 1 component");
    ck_assert(!rubus_form_is_symmetric(NULL) && !rubus_form_is_symmetric(load));
    rubus_constraint_destroy(bc);
    rubus_form_destroy(mixed);
    rubus_form_destroy(load);
    rubus_form_destroy(form);
    rubus_array_destroy(x);
    rubus_array_destroy(both);
    probe_close(&p);
}
END_TEST

START_TEST(form_of_two_spaces_is_no_operator)
{
    form_probe p =
        probe_open(_i, "form a(trial u, test v) = inner_h(u[0] - u[1], v[0]);\n"
                       "form c(trial u, test v) = inner_h(u[0], v[1]);\n");
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    rubus_form *form = NULL;
    rubus_operator *op = NULL;
    double value = 0;
    ok(rubus_form_create(p.module, "a", p.pair, p.pair, &form));
    ck_assert(!rubus_form_is_symmetric(form));
    rubus_form_destroy(form);
    rubus_space *three = NULL;
    ok(rubus_space_create(p.mesh, 3, &three));
    ok(rubus_form_create(p.module, "c", p.pair, three, &form));
    fails(rubus_form_operator(form, NULL, &op), RUBUS_EINVAL,
          "`c` takes 2 components to 3; an operator is square");
    rubus_array *u = array_of(p.pair, 1, 2, 3, 4, 0, 0, 0, 0);
    rubus_array *v = array_of(three, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0);
    ok(rubus_form_value(form, u, v, &value));
    number_is(value, .5 + 3 + 6 + 4, 1e-15);
    rubus_array_destroy(u);
    rubus_array_destroy(v);
    rubus_space_destroy(three);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

/* a(u, v) is v'Au; labels are masks; the boundary is that of rubus_inner_gamma. */
START_TEST(form_values_match_operators_and_inner_products)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    ok(rubus_mesh_mark_func(p.mesh, "odd", rubus_module_func(p.module, "odd")));
    probe_mesh(&p, p.mesh);
    rubus_array *u = array_of(p.space, 1, -2, 3, 5);
    rubus_array *v = array_of(p.space, 2, 7, -1, 4);
    rubus_form *form = probe_form(&p, "part", p.space);
    double value = 0;
    double same = 0;
    ok(rubus_form_value(form, u, v, &value));
    number_is(value, .5 * 2 - 1.5 * 14 + 20, 1e-15);
    ok(rubus_inner_h(p.space, u, v, "odd,left", &same));
    number_is(value, same, 1e-15);
    rubus_form_destroy(form);
    form = probe_form(&p, "stiffness", p.space);
    ok(rubus_form_value(form, u, v, &value));
    number_is(value, -3 * 5 + 2 * (2.5 * -4) + 2 * (1 * 2.5), 1e-15);
    ok(rubus_form_value(form, u, u, &value));
    number_is(value, 9 + 2 * 6.25 + 2, 1e-15);
    rubus_form_destroy(form);
    rubus_array_destroy(u);
    rubus_array_destroy(v);
    probe_mesh(&p, mesh_013_023(p.context, RUBUS_F64));
    u = array_of(p.space, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    form = probe_form(&p, "robin", p.space);
    ck_assert(rubus_form_is_symmetric(form));
    ok(rubus_form_set(form, "beta", 2));
    ok(rubus_form_value(form, u, u, &value));
    ok(rubus_inner_gamma(p.space, u, u, "left,top", &same));
    number_is(value, 2 * same, 1e-15);
    rubus_form_destroy(form);
    rubus_array_destroy(u);
    probe_close(&p);
}
END_TEST

static Suite *forms_suite(void)
{
    Suite *suite = suite_create("forms");
    TCase *tc = tcase_create("forms");
    backends_add(tc, form_parameters_are_read_at_every_use);
    backends_add(tc, form_set_refuses);
    backends_add(tc, form_field_of_all_components_fails);
    backends_add(tc, form_create_refuses);
    backends_add(tc, form_over_both_faces_of_a_short_axis_fails);
    backends_add(tc, form_holds_what_it_needs);
    backends_add(tc, form_of_an_older_mesh_is_stale);
    backends_add(tc, form_use_refuses);
    backends_add(tc, form_of_two_spaces_is_no_operator);
    backends_add(tc, form_values_match_operators_and_inner_products);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("forms", forms_suite)
