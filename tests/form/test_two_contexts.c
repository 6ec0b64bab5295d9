/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operands of two contexts: each public call of grids, forms and sparse matrices that
 * takes several operands refuses, and names the backends of both.
 */
#include "config.h"

#include <check.h>

#include "tests/form/csr_probe.h"

static const char text[] =
    "form stiffness(trial u, test v) = inner_plus(grad(u), grad(v));\n"
    "form scaled(trial u, test v, field c) = inner_h(c * u, v);\n"
    "form load(test v, field f) = inner_h(f, v);\n"
    "func real square(real x) { return x^2; }\n"
    "func bool beyond(real x) { return x > 2; }\n";

/* What the calls work on, once in each context. */
typedef struct side {
    form_probe p;
    rubus_array *u;
    rubus_constraint *bc;
    rubus_form *form;
    rubus_csr *csr;
    rubus_operator *op;
} side;

static char both[80]; // names of the two backends

static side open_side(int at)
{
    side s = {.p = probe_open(at, text)};
    probe_mesh(&s.p, mesh_0135(s.p.context, RUBUS_F64));
    s.u = array_of(s.p.space, 1, 2, 3, 4);
    ok(rubus_constraint_create(s.p.space, &s.bc));
    ok(rubus_constraint_add(s.bc, "left", RUBUS_ALL, 0.0));
    s.form = probe_form(&s.p, "stiffness", s.p.space);
    s.csr = csr_make(s.form, s.bc, RUBUS_SYM);
    ok(rubus_form_operator(s.form, s.bc, &s.op));
    return s;
}

static void close_side(side *s)
{
    rubus_operator_destroy(s->op);
    rubus_csr_destroy(s->csr);
    rubus_form_destroy(s->form);
    rubus_constraint_destroy(s->bc);
    rubus_array_destroy(s->u);
    rubus_space_destroy(s->p.space);
    rubus_space_destroy(s->p.pair);
    rubus_mesh_destroy(s->p.mesh);
    rubus_module_destroy(s->p.module);
}

static void open_sides(int at, side *here, side *there)
{
    char name[2][32];
    const int other = at == 0 ? BACKENDS_ONE : 0;
    backends_name(at, name[0]);
    backends_name(other, name[1]);
    snprintf(both, sizeof both, "%s|%s|another context", name[0], name[1]);
    *here = open_side(at);
    *there = open_side(other);
}

/* What was given to refused calls is as it was, on both sides. */
static void close_sides(side *here, side *there)
{
    array_is(here->u, 0, 1, 2, 3, 4);
    array_is(there->u, 0, 1, 2, 3, 4);
    close_side(there);
    rubus_context_destroy(there->p.context);
    close_side(here);
    backends_finish(here->p.context);
}

#define foreign(call) fails((call), RUBUS_EFOREIGN, both)

START_TEST(test_trap_06_grid_calls_name_both_contexts)
{
    side here;
    side there;
    open_sides(_i, &here, &there);
    rubus_space *space = here.p.space;
    rubus_array *u = here.u;
    rubus_array *far = there.u;
    rubus_space *product = NULL;
    rubus_array *window = NULL;
    double x = 7;
    foreign(
        rubus_space_create_product(2, (rubus_space *[]){space, there.p.space}, &product));
    foreign(rubus_space_component(space, far, 0, &window));
    foreign(rubus_project(space, rubus_module_func(here.p.module, "square"), RUBUS_POINT,
                          NULL, 0, far));
    foreign(rubus_project(space, rubus_module_func(there.p.module, "square"), RUBUS_POINT,
                          NULL, 0, u));
    foreign(rubus_mesh_mark_func(here.p.mesh, "far",
                                 rubus_module_func(there.p.module, "beyond")));
    foreign(rubus_inner_axes(space, RUBUS_AXIS_X, far, u, NULL, &x));
    foreign(rubus_inner_axes(space, RUBUS_AXIS_X, u, far, NULL, &x));
    foreign(rubus_inner_h(space, u, far, NULL, &x));
    foreign(rubus_inner_plus(space, far, u, NULL, &x));
    foreign(rubus_inner_gamma(space, u, far, NULL, &x));
    foreign(rubus_norm_h(space, far, NULL, &x));
    foreign(rubus_norm_plus(space, far, NULL, &x));
    foreign(rubus_seminorm_1h(space, far, NULL, &x));
    foreign(rubus_norm_1h(space, far, NULL, &x));
    foreign(rubus_norm_inf(space, far, NULL, &x));
    foreign(rubus_space_weight(space, 0, far));
    foreign(rubus_space_face_weight(space, NULL, far));
    ck_assert_double_eq(x, 7);
    ck_assert_ptr_null(product);
    ck_assert_ptr_null(window);
    close_sides(&here, &there);
}
END_TEST

START_TEST(test_trap_06_form_calls_name_both_contexts)
{
    side here;
    side there;
    open_sides(_i, &here, &there);
    rubus_space *space = here.p.space;
    rubus_array *far = there.u;
    rubus_form *none = NULL;
    rubus_operator *op = NULL;
    rubus_csr *csr = NULL;
    double x = 7;
    foreign(rubus_form_create(there.p.module, "stiffness", space, space, &none));
    foreign(rubus_form_create(here.p.module, "stiffness", there.p.space, space, &none));
    rubus_form *scaled = probe_form(&here.p, "scaled", space);
    rubus_form *load = probe_linear(&here.p, "load", space);
    foreign(rubus_form_set(scaled, "c", far));
    ok(rubus_form_set(load, "f", here.u));
    foreign(rubus_constraint_add(here.bc, "right", 0, far));
    foreign(rubus_constraint_apply(here.bc, far));
    foreign(rubus_form_vector(load, NULL, far));
    foreign(rubus_form_vector(load, there.bc, here.u));
    foreign(rubus_form_value(here.form, far, here.u, &x));
    foreign(rubus_form_value(here.form, here.u, far, &x));
    foreign(rubus_form_lift(here.form, there.bc, here.u));
    foreign(rubus_form_lift(here.form, here.bc, far));
    foreign(rubus_form_operator(here.form, there.bc, &op));
    foreign(rubus_form_matrix(here.form, there.bc, RUBUS_ROWS, &csr));
    foreign(rubus_form_assemble(here.form, there.csr));
    foreign(rubus_form_assemble_how(here.form, there.csr, RUBUS_FILL_HOST));
    foreign(rubus_operator_apply(here.op, 1, far, 0, here.u));
    foreign(rubus_operator_apply(here.op, 1, here.u, 0, far));
    foreign(rubus_operator_diagonal(here.op, far));
    foreign(rubus_solve_cg(here.op, far, here.u, NULL, NULL));
    foreign(rubus_solve_bicgstab(here.op, here.u, far, NULL, NULL));
    ck_assert_double_eq(x, 7);
    ck_assert(none == NULL && op == NULL && csr == NULL);
    rubus_form_destroy(scaled);
    rubus_form_destroy(load);
    close_sides(&here, &there);
}
END_TEST

START_TEST(test_trap_06_sparse_calls_name_both_contexts)
{
    side here;
    side there;
    open_sides(_i, &here, &there);
    rubus_array *y = array_of(here.p.space, 1, 2, 3, 4);
    const rubus_dense near_x = rubus_dense_columns(here.u, 2, 2, 0);
    const rubus_dense near_y = rubus_dense_columns(y, 2, 2, 0);
    const rubus_dense far_x = rubus_dense_columns(there.u, 2, 2, 0);
    const int32_t position[4] = {0, 1, 2, 3};
    rubus_csr *two = NULL;
    rubus_csr *none = NULL;
    rubus_scatter *scatter = NULL;
    rubus_operator *op = NULL;
    ok(rubus_csr_create_identity(here.p.context, RUBUS_I32, RUBUS_F64, 2, &two));
    ok(rubus_scatter_create(here.csr, 4, position, RUBUS_SCATTER_AUTO, &scatter));
    foreign(rubus_spmv(1, here.csr, there.u, 0, y));
    foreign(rubus_spmv(1, here.csr, here.u, 0, there.u));
    foreign(rubus_spmv_transposed(1, here.csr, there.u, 0, y));
    foreign(rubus_spmm(1, two, far_x, 0, near_y));
    foreign(rubus_spmm(1, two, near_x, 0, far_x));
    foreign(rubus_spmm_transposed(1, two, far_x, 0, near_y));
    foreign(rubus_csr_create_product(here.csr, there.csr, &none));
    foreign(rubus_csr_create_sum(1, here.csr, 1, there.csr, &none));
    foreign(rubus_csr_diagonal(here.csr, there.u));
    foreign(rubus_scatter_set(scatter, there.u));
    foreign(rubus_scatter_add(scatter, there.u));
    foreign(rubus_operator_create_csr(here.csr, 0, there.u, &op));
    ck_assert(none == NULL && op == NULL);
    rubus_scatter_destroy(scatter);
    rubus_csr_destroy(two);
    rubus_array_destroy(y);
    close_sides(&here, &there);
}
END_TEST

static Suite *contexts_suite(void)
{
    Suite *suite = suite_create("form/two contexts");
    TCase *tc = tcase_create("two contexts");
    tcase_set_timeout(tc, 120);
    backends_add(tc, test_trap_06_grid_calls_name_both_contexts);
    backends_add(tc, test_trap_06_form_calls_name_both_contexts);
    backends_add(tc, test_trap_06_sparse_calls_name_both_contexts);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("form/two contexts", contexts_suite)
