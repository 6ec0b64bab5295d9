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
};

/* Half spacings .5, 1.5, 2, 1 times D(c u) and c D u. */
static const matrix_case read_where[] = {
    {"reached", false, {0, 0, 0, 0, -3, 4.5, 0, 0, 0, -3, 5, 0, 0, 0, -2.5, 3.5}},
    {"visited", false, {0, 0, 0, 0, -4.5, 4.5, 0, 0, 0, -5, 5, 0, 0, 0, -3.5, 3.5}},
};

static void check_matrices(int at, const matrix_case *list, size_t n)
{
    form_probe p = probe_open(at, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    ok(rubus_mesh_mark_func(p.mesh, "upper", rubus_module_func(p.module, "beyond")));
    probe_mesh(&p, p.mesh);
    rubus_array *c = array_of(p.space, 2, 3, 5, 7);
    for (size_t k = 0; k < n; k++) {
        const matrix_case *m = &list[k];
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

START_TEST(test_case_10_09_matrices)
{
    check_matrices(_i, matrices, sizeof matrices / sizeof matrices[0]);
}
END_TEST

START_TEST(test_trap_15_coefficient_is_read_with_its_factor)
{
    check_matrices(_i, read_where, sizeof read_where / sizeof read_where[0]);
}
END_TEST

START_TEST(test_case_10_09_vectors)
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

START_TEST(test_case_10_09_matrix_in_2d)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_013_023(p.context, RUBUS_F64));
    ok(rubus_mesh_mark(p.mesh, "upper", "right"));
    probe_mesh(&p, p.mesh);
    static const double diagonal[9] = {1.25, 2.25, 1, 2.25, 4.5, 2.25, 1, 2.25, 1.25};
    rubus_form *form = probe_form(&p, "stiffness", p.space);
    rubus_operator *op = NULL;
    ok(rubus_form_operator(form, NULL, &op));
    ck_assert_int_eq(rubus_operator_symmetric(op), RUBUS_SYMMETRIC_YES);
    double *a = probe_matrix(op, p.space);
    for (int i = 0; i < 9; i++) {
        number_is(a[i * 9 + i], diagonal[i], 1e-15);
        double sum = 0;
        for (int j = 0; j < 9; j++) {
            sum += a[i * 9 + j];
            number_is(a[i * 9 + j], a[j * 9 + i], 1e-15);
        }
        number_is(sum, 0, 1e-15); // of a row: constants have no slope
    }
    number_is(a[1], -1, 1e-15);
    number_is(a[3], -.25, 1e-15);
    number_is(a[9 + 4], -.75, 1e-15);
    number_is(a[36 + 3], -1.5, 1e-15);
    number_is(a[36 + 5], -.75, 1e-15);
    number_is(a[36 + 7], -1.5, 1e-15);
    free(a);
    rubus_operator_destroy(op);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

/* Rows are those of the component that v names, columns of that of u. */
START_TEST(test_case_10_17_form_of_components)
{
    static const double cross[36] = {0, 0, 0, 1, -1,  0,  0, 0, 0, -1, 1.5, -.5,
                                     0, 0, 0, 0, -.5, .5, 1, 0, 0, 0,  0,   0,
                                     0, 3, 0, 0, 0,   0,  0, 0, 2, 0,  0,   0};
    static const double twice[36] = {1, -1,  0,  0,  0,   0,   -1, 1.5, -.5, 0, 0,   0,
                                     0, -.5, .5, 0,  0,   0,   0,  0,   0,   1, -1,  0,
                                     0, 0,   0,  -1, 1.5, -.5, 0,  0,   0,   0, -.5, .5};
    form_probe p = probe_open(
        _i, "form cross(trial u, test v) = 2 * inner_h(u[0], v[1])\n"
            "    + inner_plus(Dm(u[1]), Dm(v[0]));\n"
            "form stiffness(trial u, test v) = inner_plus(Dm(u), Dm(v));\n"
            "form both(trial u, test v) = cross(u, v) + 2 * inner_h(u[1], v[0])\n"
            "    + inner_plus(Dm(u[0]), Dm(v[1]));\n");
    probe_mesh(&p, mesh_of(p.context, RUBUS_F64, 1, &axis_of(0, 1, 3)));
    static const struct {
        const char *form;
        const double *want;
        bool symmetric;
    } cases[2] = {{"cross", cross, false}, {"stiffness", twice, true}};
    for (int k = 0; k < 2; k++) {
        rubus_operator *op = NULL;
        rubus_form *form = probe_form(&p, cases[k].form, p.pair);
        ck_assert(rubus_form_is_symmetric(form) == cases[k].symmetric);
        ok(rubus_form_operator(form, NULL, &op));
        ck_assert_int_eq(rubus_operator_size(op), 6);
        probe_matrix_is(op, p.pair, cases[k].want, 1e-15, cases[k].form);
        rubus_operator_destroy(op);
        rubus_form_destroy(form);
    }
    rubus_form *both = probe_form(&p, "both", p.pair); // its terms mirror one another
    ck_assert(rubus_form_is_symmetric(both));
    rubus_form_destroy(both);
    probe_close(&p);
}
END_TEST

/* Values of an operator on a field, from the vector of inner_h(operator, v). */
START_TEST(test_case_10_02_operators_on_fields)
{
    static const struct {
        const char *operator_;
        double want[4]; /* of x^2 on 0, 1, 3, 5 */
    } cases[] = {{"Dm", {0, 1, 4, 8}},          {"Dp", {1, 4, 8, 0}},
                 {"Mm", {0, .5, 5, 17}},        {"Mp", {.5, 5, 17, 0}},
                 {"Dstar", {1, 16. / 3, 8, 0}}, {"Dc", {0, 3, 6, 0}},
                 {"Dw", {0, 2, 6, 0}},          {"Mc", {0, 2.75, 11, 0}},
                 {"lap", {1, 2, 2, 0}},         {"diffm", {0, 1, 8, 16}},
                 {"diffp", {1, 8, 16, -25}},    {"jump", {1, 8, 16, -25}}};
    static const double w[4] = {.5, 1.5, 2, 1};
    char source[2048] = "";
    size_t used = 0;
    const size_t n = sizeof cases / sizeof cases[0];
    for (size_t k = 0; k < n; k++) {
        used += (size_t)snprintf(source + used, sizeof source - used,
                                 "form f%s(test v, field f) = inner_h(%s(f), v);\n",
                                 cases[k].operator_, cases[k].operator_);
    }
    form_probe p = probe_open(_i, source);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    rubus_array *f = array_of(p.space, 0, 1, 9, 25);
    rubus_array *F = array_of(p.space, 0, 0, 0, 0);
    for (size_t k = 0; k < n; k++) {
        char name[32];
        double want[4];
        snprintf(name, sizeof name, "f%s", cases[k].operator_);
        for (int i = 0; i < 4; i++) {
            want[i] = w[i] * cases[k].want[i];
        }
        rubus_form *form = probe_linear(&p, name, p.space);
        ok(rubus_form_set(form, "f", f));
        ok(rubus_form_vector(form, NULL, F));
        probe_near(F, want, 4, 1e-14, name);
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
    backends_add(tc, test_case_10_09_matrices);
    backends_add(tc, test_trap_15_coefficient_is_read_with_its_factor);
    backends_add(tc, test_case_10_09_vectors);
    backends_add(tc, test_case_10_09_matrix_in_2d);
    backends_add(tc, test_case_10_17_form_of_components);
    backends_add(tc, test_case_10_02_operators_on_fields);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("cases_matrix", matrix_suite)
