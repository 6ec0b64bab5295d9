/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line tables: which factors of a product go into them and which must not, what their
 * kernel computes, also on axes of one and two points, and that the other kernels of the
 * form read them.
 */
#include "config.h"

#include "tests/form/form_run.h"
#include "tests/support/suite.h"

#include <stdio.h>

static const rk_form_label labels[] = {{"p", 0}};

static void make(form_run *run, const char *text, int ndim, int ncomponent)
{
    const rk_form_desc desc = {ndim, ncomponent, ncomponent, 1, labels};
    form_open(run, "reference", RUBUS_F64);
    form_make(run, text, &desc);
}

static const char stiffness[] =
    "form a(trial u, test v, field k) = inner_plus(Mm(k) * grad(u), grad(v));\n";

/* What `explain` tells of them: to be freed. */
static char *explained(const form_run *run, bool json)
{
    rubus__text text;
    rubus__text_init(&text);
    const rubus_status st = rk_form_explain(run->form, json, &text);
    ck_assert_msg(st == RUBUS_OK, "%s", rubus_error_text());
    return rubus__text_take(&text);
}

static void expect_part(const char *text, const char *part, bool there)
{
    ck_assert_msg((strstr(text, part) != NULL) == there, "%s: `%s`\n%s",
                  there ? "missing" : "found", part, text);
}

/* The text of a kernel, from its head on: to be freed. */
static char *body_of(form_run *run, rk_form_job job)
{
    rk_form_kernel kernel = form_kernel(run, job, NULL);
    char *body = strdup(strstr(kernel.text, "kernel run"));
    rubus__free(kernel.text);
    return body;
}

START_TEST(stiffness_has_one_table_an_axis)
{
    form_run run;
    make(&run, stiffness, 2, 1);
    ck_assert_int_eq(run.form->ntable, 2);
    char *text = explained(&run, false);
    expect_part(text,
                "table_0 along x: ((ix(table_0) >= (1) && ix(table_0) < (nx)) ? "
                "(((0.5 * a_x[:]) / h_x[:]) / h_x[:]) : 0.0)",
                true);
    expect_part(text,
                "table_1 along y: ((ix(table_1) >= (1) && ix(table_1) < (ny)) ? "
                "(((0.5 * a_y[:]) / h_y[:]) / h_y[:]) : 0.0)",
                true);
    rubus__free(text);
    text = explained(&run, true);
    expect_part(
        text, "\"tables\": [{\"name\": \"table_0\", \"axis\": \"x\", \"value\": ", true);
    rubus__free(text);
    static const rk_form_job jobs[] = {RK_JOB_APPLY, RK_JOB_STENCIL, RK_JOB_DIAGONAL,
                                       RK_JOB_FILL};
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        text = body_of(&run, jobs[i]);
        expect_part(text, "in real table_0[nx]", true);
        expect_part(text, "in real table_1[ny]", true);
        expect_part(text, "h_x", false);
        expect_part(text, "/", false);
        free(text);
    }
    form_close(&run);
}
END_TEST

typedef struct table_case {
    const char *form;
    int ndim;
    int ncomponent;
    int ntable;
    const char *part; /* of what `explain` tells; NULL: nothing */
} table_case;

static const table_case cases[] = {
    // weights alone are the arrays of the mesh
    {"form a(trial u, test v) = inner_h(u, v);", 2, 1, 0, NULL},
    // literals need a table, signs do not
    {"form a(trial u, test v) = -inner_h(u, v);", 2, 1, 0, NULL},
    {"form a(trial u, test v) = -0.5 * inner_h(u, v);", 2, 1, 1, "x: (0.5 * w_x[:])"},
    {"form a(trial u, test v) = inner_h(u, v) / 4;", 1, 1, 1, "x: (0.25 * w_x[:])"},
    // coordinates are arrays of the mesh; parameters are read at every use
    {"form a(trial u, test v) = inner_h(y * u, v);", 2, 1, 1, "y: (y[:] * w_y[:])"},
    {"form a(trial u, test v, field l[x]) = inner_h(l * u, v);", 2, 1, 0, NULL},
    {"form a(trial u, test v, real t) = t * inner_h(t * u, v);", 2, 1, 0, NULL},
    {"form a(trial u, test v, real t) = inner_h(t * x * u, v);", 1, 1, 1,
     "x: (x[:] * w_x[:])"},
    // a func of coordinates is a factor of its axis, one of two axes is not
    {"func real g(real s) { return s^2; } form a(trial u, test v) = inner_h(g(x) * u, "
     "v);",
     2, 1, 1, "x: (g(x[:]) * w_x[:])"},
    {"func real g(real s) { return s^2; }"
     "form a(trial u, test v) = inner_h(g(x + y) * u, v);",
     2, 1, 0, NULL},
    // equal tables are one, in other terms and components as well
    {"form a(trial u, test v, real t) = inner_h(u[0], v[0]) / 2 + t * inner_h(u[1], "
     "v[0]) "
     "/ 2 + 0.5 * inner_y(u[0], v[1]);",
     2, 2, 1, "x: (0.5 * w_x[:])"},
    // a mask keeps what it guards, but spacings are finite wherever they are read
    {"form a(trial u, test v) = inner_x(Dm_x(u), v, \"p\");", 1, 1, 1,
     "x: ((ix(table_0) >= (1) && ix(table_0) < (nx)) ? (a_x[:] / h_x[:]) : 0.0)"},
    {"form a(trial u, test v) = inner_h(u / x, v, \"p\");", 1, 1, 0, NULL},
    // s is shorter by one than the axis
    {"form a(trial u, test v) = inner_h(Dstar_x(u), v);", 1, 1, 1,
     "(w_x[:] / pad(s_x[:], 0, 0:1)) : 0.0)"},
    // rules of two neighbours meet in one table
    {"form a(trial u, test v) = inner_h(Mp_x(u), Mm_x(v));", 1, 1, 1,
     "x: ((ix(table_0) >= (1) && ix(table_0) < (nx-1)) ? (0.25 * w_x[:]) : 0.0)"},
    // a face has no weight of its own axis
    {"form a(trial u, test v) = 3 * inner_Gamma(u, v, \"left\");", 1, 1, 0, NULL},
};

START_TEST(tables_are_as_expected)
{
    const table_case *k = &cases[_i];
    const rk_form_label known[] = {{"p", 0}, {"left", 1}};
    const rk_form_desc desc = {k->ndim, k->ncomponent, k->ncomponent, 2, known};
    form_run run;
    form_open(&run, "reference", RUBUS_F64);
    form_make(&run, k->form, &desc);
    ck_assert_msg(run.form->ntable == k->ntable, "%d tables, not %d, in %s",
                  (int)run.form->ntable, k->ntable, k->form);
    char *text = explained(&run, false);
    expect_part(text, k->part != NULL ? k->part : "table_", k->part != NULL);
    rubus__free(text);
    form_close(&run);
}
END_TEST

START_TEST(tables_of_an_axis_are_limited)
{
    char text[1024] = "form a(trial u, test v) = inner_h(u, v)";
    for (int i = 1; i <= 2 * RK_FORM_TABLES; i++) {
        const size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, " + %d * inner_h(u, v)", i + 1);
    }
    strcat(text, ";");
    form_run run;
    make(&run, text, 1, 1);
    ck_assert_int_eq(run.form->ntable, RK_FORM_TABLES);
    char *body = body_of(&run, RK_JOB_APPLY);
    expect_part(body, "2.0 *", false); // in a table
    expect_part(body, "9.0 *", true);  // no room
    free(body);
    form_close(&run);
}
END_TEST

START_TEST(form_without_tables_has_no_kernel_for_them)
{
    form_run run;
    rk_form_kernel kernel;
    make(&run, "form a(trial u, test v) = inner_h(u, v);", 1, 1);
    ck_assert_int_eq(rk_form_kernel_text(run.form, RK_JOB_TABLES, NULL, &kernel),
                     RUBUS_EINVAL);
    ck_assert_str_eq(rubus_error_text(), "form `a` has no line tables");
    form_close(&run);
}
END_TEST

/* Tables of `text` on an axis of n points 0, 1, 3, 6 ...; a[0] is 9, which no rule reads.
 */
static void run_tables(const char *text, int n, double table[][4])
{
    form_run run;
    make(&run, text, 1, 1);
    rk_form_kernel kernel = form_kernel(&run, RK_JOB_TABLES, NULL);
    rubus_arg arg[16];
    rubus_array *array[16];
    ck_assert_int_le(kernel.nparam, 16);
    for (int32_t i = 0; i < kernel.nparam; i++) {
        const rk_leaf_kind kind = kernel.param[i].kind;
        const bool shorter = kind == RK_LEAF_S;
        double x[4];
        for (int k = 0; k < 4; k++) {
            const double h = n == 1 ? 0 : k == 0 ? 1 : k;
            x[k] = kind == RK_LEAF_H                        ? h
                   : kind == RK_LEAF_S                      ? (h + k + 1) / 2
                   : kind == RK_LEAF_A || kind == RK_LEAF_W ? (k == 0 ? 9 : h)
                                                            : -1;
        }
        const rubus_shape shape = {.rank = 1, .n = {shorter ? n - 1 : n}};
        array[i] = real_array(run.context, RUBUS_F64, shape, x);
        arg[i] = rubus_arg_array(array[i]);
    }
    form_launch(&run, &kernel, arg);
    for (int32_t i = 0; i < kernel.nparam; i++) {
        if (kernel.param[i].kind == RK_LEAF_TABLE) {
            real_read(array[i], table[kernel.param[i].number]);
        }
        rubus_array_destroy(array[i]);
    }
    rubus__free(kernel.text);
    form_close(&run);
}

START_TEST(tables_hold_the_rules_of_the_edges)
{
    // w / (h * h) and 0 at the first point: h is 1, 1, 2, 3, and w 9, 1, 2, 3
    double table[2][4];
    run_tables("form a(trial u, test v) = inner_h(Dm_x(u), Dm_x(v));", 4, table);
    const double want[4] = {0, 1, 0.5, 1.0 / 3};
    for (int k = 0; k < 4; k++) {
        ck_assert_msg(table[0][k] >= want[k] && table[0][k] <= want[k],
                      "table[%d] is %.17g, not %g", k, table[0][k], want[k]);
    }
}
END_TEST

START_TEST(tables_of_short_axes_are_0_where_neighbours_are_missing)
{
    // a neighbour on both sides: none has it, and nothing is divided by a spacing of 0
    for (int n = 1; n <= 2; n++) {
        double table[2][4] = {{-1, -1, -1, -1}};
        run_tables("form a(trial u, test v) = inner_h(Dstar_x(u), Dm_x(v));", n, table);
        for (int k = 0; k < n; k++) {
            ck_assert_msg(table[0][k] >= 0 && table[0][k] <= 0, "table[%d] of %d is %g",
                          k, n, table[0][k]);
        }
    }
}
END_TEST

static Suite *suite_function(void)
{
    Suite *suite = suite_create("form/table");
    TCase *tcase = tcase_create("tables");
    tcase_add_test(tcase, stiffness_has_one_table_an_axis);
    tcase_add_loop_test(tcase, tables_are_as_expected, 0,
                        (int)(sizeof(cases) / sizeof(cases[0])));
    tcase_add_test(tcase, tables_of_an_axis_are_limited);
    tcase_add_test(tcase, form_without_tables_has_no_kernel_for_them);
    tcase_add_test(tcase, tables_hold_the_rules_of_the_edges);
    tcase_add_test(tcase, tables_of_short_axes_are_0_where_neighbours_are_missing);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUBUS_TEST_MAIN("form/table", suite_function)
