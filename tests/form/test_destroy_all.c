/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubus_context_destroy_all: objects of every kind, held by others or not, given back
 * before or not, go with their context, and nothing of the library's memory is left.
 */
#include "config.h"

#include <check.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rubus/rubus.h>

#include "tests/form/csr_probe.h"

static const char text[] =
    "func real square(real x) { return x^2; }\n"
    "func bool beyond(real x) { return x > 2; }\n"
    "form stiffness(trial u, test v, field c) = inner_plus(Mm(c) * grad(u), grad(v));\n"
    "form load(test v) = inner_h(square(x), v);\n"
    "kernel twice(inout real a[n]) { a = 2 * a; }\n";

static rubus_context *open_all(int at, form_probe *p)
{
    *p = probe_open(at, text);
    probe_mesh(p, mesh_0135(p->context, RUBUS_F64));
    ok(rubus_mesh_mark_func(p->mesh, "far", rubus_module_func(p->module, "beyond")));
    probe_mesh(p, p->mesh);
    return p->context;
}

static void finish_all(rubus_context *context)
{
    rubus_context_destroy_all(context);
    rubus_shutdown();
    ck_assert_int_eq(rubus__alloc_live(), 0);
}

START_TEST(destroy_all_of_nothing)
{
    rubus_context_destroy_all(NULL);
    finish_all(backends_open(_i));
}
END_TEST

START_TEST(destroy_all_takes_arrays_in_every_state)
{
    rubus_context *context = backends_open(_i);
    rubus_array *parent = backends_ramp(context, 100, 0);
    rubus_array *view = NULL;
    rubus_array *inner = NULL;
    rubus_array *gone = NULL;
    void *p = NULL;
    ok(rubus_array_view(parent, 10, RUBUS_SHAPE(6, 5), &view));
    ok(rubus_array_view(view, 0, RUBUS_SHAPE(2), &gone));
    ok(rubus_array_view(view, 3, RUBUS_SHAPE(4), &inner));
    ok(rubus_array_map(inner, RUBUS_READ | RUBUS_WRITE, &p));
    rubus_array_destroy(gone);   // out of the middle of the list
    rubus_array_destroy(parent); // its memory lives on in the views
    finish_all(context);
}
END_TEST

START_TEST(destroy_all_takes_forms_and_what_holds_them)
{
    form_probe p;
    rubus_context *context = open_all(_i, &p);
    rubus_array *c = array_of(p.space, 1, 1, 1, 1);
    rubus_array *F = array_of(p.space, 0, 0, 0, 0);
    rubus_constraint *bc = NULL;
    rubus_constraint *none = NULL;
    rubus_operator *A = NULL;
    rubus_operator *stored = NULL;
    ok(rubus_constraint_create(p.space, &bc));
    ok(rubus_constraint_create(p.pair, &none));
    ok(rubus_constraint_add(bc, "left,far", RUBUS_ALL, F));
    rubus_form *a = probe_form(&p, "stiffness", p.space);
    rubus_form *l = probe_linear(&p, "load", p.space);
    ok(rubus_form_set(a, "c", c));
    ok(rubus_form_vector(l, bc, F));
    ok(rubus_form_operator(a, bc, &A));
    ok(rubus_form_operator_stored(a, bc, RUBUS_CSR, &stored));
    rubus_csr *matrix = csr_make(a, bc, RUBUS_SYM);
    for (int k = 0; k < CSR_HOWS; k++) {
        ok(rubus_form_assemble_how(a, matrix, csr_hows[k]));
    }
    ok(rubus_solve_cg(A, F, c, NULL, NULL));
    // given back, but alive in what holds them
    rubus_form_destroy(a);
    rubus_space_destroy(p.space);
    rubus_mesh_destroy(p.mesh);
    rubus_module_destroy(p.module);
    rubus_operator_destroy(stored);
    finish_all(context);
}
END_TEST

START_TEST(destroy_all_takes_matrices_and_solvers)
{
    form_probe p;
    rubus_context *context = open_all(_i, &p);
    const int32_t at[] = {0, 1, 2, 3, 4};
    const double value[] = {1, 2, 3, 4};
    rubus_csr *csr = NULL;
    rubus_csr *product = NULL;
    rubus_csc *csc = NULL;
    rubus_scatter *scatter = NULL;
    rubus_operator *op = NULL;
    rubus_operator *sum = NULL;
    rubus_fdm *fdm = NULL;
    rubus_relax *relax = NULL;
    ok(rubus_csr_create(context, RUBUS_I32, RUBUS_F64, 4, 4, 4, at, at, value, &csr));
    ok(rubus_csr_create_product(csr, csr, &product));
    ok(rubus_csc_create(context, RUBUS_I32, RUBUS_F64, 4, 4, 4, at, at, value, &csc));
    ok(rubus_scatter_create(csr, 4, at, RUBUS_SCATTER_GATHER, &scatter));
    ok(rubus_operator_create_csr(csr, RUBUS_SYMMETRIC_YES, NULL, &op));
    rubus_csr_destroy(csr);
    const rubus_kronecker_term term[] = {{RUBUS_KRONECKER_X, 0, 1, NULL}};
    ok(rubus_kronecker_create(p.space, term, 1, "left", &sum));
    ok(rubus_fdm_create(sum, &fdm));
    rubus_operator_destroy(sum);
    const rubus_relax_desc desc = {.struct_size = sizeof desc, .dim = 1, .n = {16}};
    ok(rubus_relax_create(context, &desc, &relax));
    finish_all(context);
}
END_TEST

/* An operator of the user that holds another operator and an array. */
typedef struct outer {
    rubus_operator *inner;
    rubus_array *array;
    int destroyed;
} outer;

static rubus_status outer_apply(void *self, double alpha, rubus_array *x, double beta,
                                rubus_array *y)
{
    return rubus_operator_apply(((outer *)self)->inner, alpha, x, beta, y);
}

static void outer_destroy(void *self)
{
    outer *o = self;
    rubus_operator_destroy(o->inner);
    rubus_array_destroy(o->array);
    o->destroyed++;
}

START_TEST(destroy_all_calls_the_functions_of_operators_once)
{
    rubus_context *context = backends_open(_i);
    const int32_t at[] = {0, 1, 2};
    const double value[] = {1, 2};
    rubus_csr *csr = NULL;
    rubus_operator *op = NULL;
    outer o = {.array = backends_ramp(context, 2, 0)};
    const rubus_operator_ops ops = {.struct_size = sizeof ops,
                                    .real = RUBUS_F64,
                                    .apply = outer_apply,
                                    .destroy = outer_destroy};
    ok(rubus_csr_create(context, RUBUS_I32, RUBUS_F64, 2, 2, 2, at, at, value, &csr));
    ok(rubus_operator_create_csr(csr, RUBUS_SYMMETRIC_YES, NULL, &o.inner));
    ok(rubus_operator_create(context, 2, &ops, &o, &op));
    finish_all(context);
    ck_assert_int_eq(o.destroyed, 1);
}
END_TEST

START_TEST(destroy_all_leaves_other_contexts_alone)
{
    rubus_context *context = backends_open(_i);
    rubus_context *other = backends_open(0);
    rubus_array *array = backends_ramp(other, 10, 0);
    (void)backends_ramp(context, 10, 0);
    rubus_context_destroy_all(context);
    ck_assert(backends_get(array, 9) == 9);
    finish_all(other);
}
END_TEST

START_TEST(destroy_all_in_a_child_does_nothing)
{
    rubus_context *context = backends_open(0);
    rubus_array *array = backends_ramp(context, 10, 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        rubus_context_destroy_all(context);
        _exit(rubus_array_count(array) == 10 ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert(backends_get(array, 9) == 9);
    finish_all(context);
}
END_TEST

static Suite *destroy_suite(void)
{
    Suite *suite = suite_create("form/destroy all");
    TCase *tc = tcase_create("destroy all");
    tcase_set_timeout(tc, 120);
    backends_add(tc, destroy_all_of_nothing);
    backends_add(tc, destroy_all_takes_arrays_in_every_state);
    backends_add(tc, destroy_all_takes_forms_and_what_holds_them);
    backends_add(tc, destroy_all_takes_matrices_and_solvers);
    backends_add(tc, destroy_all_calls_the_functions_of_operators_once);
    backends_add(tc, destroy_all_leaves_other_contexts_alone);
    tcase_add_test(tc, destroy_all_in_a_child_does_nothing);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("form/destroy all", destroy_suite)
