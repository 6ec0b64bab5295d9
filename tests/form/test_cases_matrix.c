/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices and vectors of forms, known to the last number, on every backend. */
#include "config.h"

#include <check.h>

#include "tests/form/form_probe.h"

static const char text[] =
    "form mass(trial u, test v) = inner_h(u, v);\n"
    "form stiffness(trial u, test v) = inner_plus(grad(u), grad(v));\n"
    "form flux(trial u, test v) = inner_plus(Mm(u), Dm(v));\n"
    "form inside(trial u, test v, field c) = inner_plus(Dm(c * Mm(u)), Dm(v));\n"
    "form outside(trial u, test v, field c) = inner_plus(Mm(c) * Dm(u), Dm(v));\n"
    "form centred(trial u, test v) = inner_h(Dc(u), v);\n"
    "form jumps(trial u, test v) = inner_h(jump(u), jump(v));\n"
    "form diffs(trial u, test v) = inner_h(diffm(u), diffm(v));\n"
    "form upper(trial u, test v) = inner_plus(restrict(Dm(u), \"upper\"), Dm(v));\n"
    "form right(trial u, test v) = inner_h(u, v, \"right\");\n"
    "form reached(trial u, test v, field c) = inner_h(Dm(c * u), v);\n"
    "form visited(trial u, test v, field c) = inner_h(c * Dm(u), v);\n"
    "form l1(test v, field f) = inner_h(f, v);\n"
    "form l2(test v, field f) = inner_plus(f, Dm(v));\n"
    "form l3(test v, field f) = inner_h(f, Dm(v));\n"
    "form l4(test v, field f) = inner_h(Dm(f), Mm(v));\n"
    "func bool beyond(real x) { return x >= 3; }\n";

typedef struct matrix_case {
    const char *form;
    bool symmetric;
    double want[16];
} matrix_case;

static const matrix_case matrices[] = {
    {"mass", true, {.5, 0, 0, 0, 0, 1.5, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1}},
    {"stiffness", true, {1, -1, 0, 0, -1, 1.5, -.5, 0, 0, -.5, 1, -.5, 0, 0, -.5, .5}},
    {"flux", false, {-.5, -.5, 0, 0, .5, 0, -.5, 0, 0, .5, 0, -.5, 0, 0, .5, .5}},
    {"inside",
     false,
     {-1.5, -1.5, 0, 0, 2.25, 1, -1.25, 0, -.75, 1.75, .75, -1.75, 0, -1.25, .5, 1.75}},
    {"outside", true, {2.5, -2.5, 0, 0, -2.5, 4.5, -2, 0, 0, -2, 5, -3, 0, 0, -3, 3}},
    {"centred", false, {0, 0, 0, 0, -.5, 0, .5, 0, 0, -.5, 0, .5, 0, 0, 0, 0}},
    {"jumps", true, {.5, -.5, 0, 0, -.5, 2, -1.5, 0, 0, -1.5, 3.5, -2, 0, 0, -2, 3}},
    {"diffs", true, {2, -1.5, 0, 0, -1.5, 3.5, -2, 0, 0, -2, 3, -1, 0, 0, -1, 1}},
    {"upper", true, {0, 0, 0, 0, 0, .5, -.5, 0, 0, -.5, 1, -.5, 0, 0, -.5, .5}},
    {"right", true, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
    /* half spacings .5, 1.5, 2, 1 times D(c u) and c D u: where c is read matters */
    {"reached", false, {0, 0, 0, 0, -3, 4.5, 0, 0, 0, -3, 5, 0, 0, 0, -2.5, 3.5}},
    {"visited", false, {0, 0, 0, 0, -4.5, 4.5, 0, 0, 0, -5, 5, 0, 0, 0, -3.5, 3.5}},
};

START_TEST(form_matrices_case_10_9)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    ok(rubus_mesh_mark_func(p.mesh, "upper", rubus_module_func(p.module, "beyond")));
    probe_mesh(&p, p.mesh);
    rubus_array *c = array_of(p.space, 2, 3, 5, 7);
    for (size_t k = 0; k < sizeof matrices / sizeof matrices[0]; k++) {
        const matrix_case *m = &matrices[k];
        rubus_form *form = probe_form(&p, m->form, p.space);
        if (rubus_form_set(form, "c", c) != RUBUS_OK) {
            fails(RUBUS_EINVAL, RUBUS_EINVAL, "has no parameter `c`; it has none");
        }
        ck_assert_msg(rubus_form_is_symmetric(form) == m->symmetric, "%s", m->form);
        rubus_operator *op = NULL;
        ok(rubus_form_operator(form, NULL, &op));
        ck_assert_int_eq(rubus_operator_symmetric(op),
                         m->symmetric ? RUBUS_SYMMETRIC_YES : RUBUS_SYMMETRIC_NO);
        probe_matrix_is(op, p.space, m->want, 1e-14, m->form);
        rubus_operator_destroy(op);
        rubus_form_destroy(form);
    }
    rubus_array_destroy(c);
    probe_close(&p);
}
END_TEST

START_TEST(form_vectors_case_10_9)
{
    static const struct {
        const char *form;
        double want[4];
    } vectors[] = {{"l1", {0, 1.5, 18, 25}},
                   {"l2", {-1, -8, -16, 25}},
                   {"l3", {-1.5, -7.5, -3.5, 12.5}},
                   {"l4", {.75, 4.75, 8, 4}}};
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    ok(rubus_mesh_mark(p.mesh, "upper", "right"));
    probe_mesh(&p, p.mesh);
    rubus_array *f = array_of(p.space, 0, 1, 9, 25);
    rubus_array *F = array_of(p.space, 7, 7, 7, 7);
    for (size_t k = 0; k < 4; k++) {
        rubus_form *form = probe_linear(&p, vectors[k].form, p.space);
        ok(rubus_form_set(form, "f", f));
        ok(rubus_form_vector(form, NULL, F));
        probe_near(F, vectors[k].want, 4, 1e-14, vectors[k].form);
        rubus_form_destroy(form);
    }
    rubus_array_destroy(f);
    rubus_array_destroy(F);
    probe_close(&p);
}
END_TEST

static Suite *matrix_suite(void)
{
    Suite *suite = suite_create("cases_matrix");
    TCase *tc = tcase_create("cases");
    backends_add(tc, form_matrices_case_10_9);
    backends_add(tc, form_vectors_case_10_9);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("cases_matrix", matrix_suite)
