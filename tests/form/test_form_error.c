/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong in forms: each error with its code, its place, and what to do; and that
 * what is right is taken, in ASCII and as printed, by canonical text as well.
 */
#include "config.h"

#include "libcore/kernel/form_tree.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static const rk_form_label labels[] = {{"left", 1}, {"inlet", 0}};

/* Compiles, and makes form `name`; its error text, or NULL. */
static const char *make(const char *text, const char *name, int ndim, int ncomponent)
{
    rk_options options;
    memset(&options, 0, sizeof(options));
    options.real = RUBUS_F64;
    options.index = RUBUS_I32;
    const rk_form_desc desc = {ndim, ncomponent, ncomponent, 2, labels};
    rk_program *program = NULL;
    rk_form *form = NULL;
    rubus_status st = rk_compile(&options, "t.rk", text, strlen(text), &program);
    if (st == RUBUS_OK) {
        st = rk_form_build(program, name, &desc, &form);
        rk_program_destroy(program);
    }
    return st == RUBUS_OK ? NULL : rubus_error_text();
}

typedef struct wrong {
    const char *body; /* of form a(trial u, test v, field k, real t) */
    int ndim;
    int ncomponent;
    const char *code;
    const char *part;
} wrong;

static const wrong wrongs[] = {
    {"inner_h(v, u)", 1, 1, "K103", "t.rk:2:"},
    {"inner_h(u, u)", 1, 1, "K103", "two trial functions"},
    {"inner_h(v, v)", 1, 1, "K103", "two test functions"},
    {"inner_h(k, v)", 1, 1, "K103", "no trial function"},
    {"inner_h(u, k)", 1, 1, "K103", "no test function"},
    {"inner_h(u * Mm_x(u), v)", 1, 1, "K104", "a product of two expressions of it"},
    {"inner_h(k / u, v)", 1, 1, "K104", "denominator"},
    {"inner_h(u > 0 ? u : 2 * u, v)", 1, 1, "K104", "condition"},
    {"inner_h(sqrt(u), v)", 1, 1, "K104", "a function of it, `sqrt`"},
    {"inner_h(twice(u), v)", 1, 1, "K104", "a function of it, `twice`"},
    {"inner_h(u, abs(v))", 1, 1, "K104", "not linear in `v`"},
    {"inner_h(u + 1, v)", 1, 1, "K104", "does not depend on it"},
    {"inner_h(k > 0 ? u : 1, v)", 1, 1, "K104", "a choice has a side"},
    {"inner_h(u[2], v[0])", 1, 2, "K105", "no component 2"},
    {"inner_h(u[0], v)", 1, 2, "K105", "names a component of one function"},
    {"inner_h(u[0] + u, v[0])", 1, 2, "K105", "both sides"},
    {"inner_plus((u, u, u), (v, v, v))", 2, 1, "K106", "a tuple of 3"},
    {"inner_plus(grad(u), v)", 2, 1, "K106", "a field"},
    {"inner_h(grad(u), v)", 2, 1, "K106", "a tuple where a field"},
    {"inner_plus((u, u) + (u, u, u), grad(v))", 2, 1, "K106", "meets one of 3"},
    {"inner_h(div((u, u, u)), v)", 2, 1, "K106", "a tuple of 2 entries"},
    {"inner_plus(grad(grad(u)), grad(v))", 2, 1, "K106", "tuple of tuples"},
    {"inner_h(u[1:], v)", 1, 1, "K107", "does not keep the mesh"},
    {"inner_h((2 * u)[1:], v)", 1, 1, "K107", "does not keep the mesh"},
    {"inner_h(cut(u), v)", 1, 1, "K107", "not one value at each point"},
    {"inner_h(first(u), v)", 1, 1, "K107", "at a fixed place"},
    {"inner_h(u, v, \"inlet\", \"outlet\")", 1, 1, "K108", "\"left\", \"inlet\""},
    {"inner_h(u, v, k)", 1, 1, "K108", "between quotes"},
    {"inner_Gamma(u, v, \"inlet\")", 1, 1, "K108", "not made of whole faces"},
    {"inner_h(max(u, \"left\"), v)", 1, 1, "K108", "cannot stand here"},
    {"inner_y(u, v)", 1, 1, "K109", "no axis y"},
    {"inner_h(Dm_z(u), v)", 2, 1, "K109", "no axis z"},
    {"inner_h(z * u, v)", 2, 1, "K109", "no axis z"},
    {"inner_h(h_y[*, :] * u, v)", 1, 1, "K109", "no axis y"},
    {"inner_h(curl(u), v)", 1, 1, "K109", "one dimension"},
    {"inner_h(strain_xy(u), v)", 1, 1, "K109", "no axis y"},
    {"b(u, v)", 1, 1, "K110", "calls itself"},
    {"inner_h(u - u, v)", 1, 1, "K111", "drops out"},
    {"inner_h(u, 0 * v)", 1, 1, "K111", "`v` drops out"},
    {"k * inner_h(u, v)", 1, 1, "K112", "put it inside"},
    {"inner_h(u, v) * inner_h(u, v)", 1, 1, "K112", "multiplied"},
    {"sqrt(inner_h(u, v))", 1, 1, "K112", "of an inner product"},
    {"inner_h(inner_h(u, v), v)", 1, 1, "K112", "of an inner product"},
    {"t ? inner_h(u, v) : inner_h(u, v)", 1, 1, "K112", "`?:`"},
    {"k", 1, 1, "K102", "no inner product"},
    {"inner_h(u, v) + 1", 1, 1, "K102", "cannot be added"},
    {"inner_h(Dm_x(t), v)", 1, 1, "K102", "no field"},
    {"inner_h(shift_x(u, t), v)", 1, 1, "K102", "int literal"},
    {"inner_h(u)", 1, 1, "K052", "too few arguments"},
    {"inner_h(Dm_x(u, h_x), v)", 1, 1, "K052", "spacings are not written"},
    {"c(u, v)", 1, 1, "K052", "takes 3 arguments"},
    {"c(v, u, t)", 1, 1, "K052", "of the trial function"},
    {"c(u, v, k)", 1, 1, "K052", "wants a number"},
    {"inner_h(w * u, v)", 1, 1, "K040", "`w`"},
    {"inner_h(rotor(u), v)", 1, 1, "K041", "`rotor`"},
};

START_TEST(form_wrong_tells_what)
{
    const wrong *w = &wrongs[_i];
    char text[1024];
    snprintf(text, sizeof(text),
             "form a(trial u, test v, field k, real t) =\n    %s;\n"
             "form b(trial u, test v) = 2 * b(u, v);\n"
             "form c(trial u, test v, real t) = t * inner_h(u, v);\n"
             "func real twice(real s) { return 2 * s; }\n"
             "op cut(A[]) = A[1:];\nop cut(A[,]) = A[1:, :];\n"
             "op first(A[]) = A[0];\n",
             w->body);
    const char *message = make(text, "a", w->ndim, w->ncomponent);
    ck_assert_msg(message != NULL, "no error in: %s", w->body);
    ck_assert_msg(strstr(message, w->code) != NULL, "%s wanted for %s, in:\n%s", w->code,
                  w->body, message);
    ck_assert_msg(strstr(message, w->part) != NULL, "`%s` wanted for %s, in:\n%s",
                  w->part, w->body, message);
}
END_TEST

START_TEST(form_header_wrong_tells_what)
{
    static const char *const list[][2] = {
        {"form a(trial u) = inner_h(u, u);", "K101"},
        {"form a(trial u, trial w, test v) = inner_h(u, v);", "K101"},
        {"form a(test v, test w) = inner_h(w, v);", "K101"},
        {"form a(u, v) = inner_h(u, v);", "K005"},
        {"form a(test v, field k[t]) = inner_h(k, v);", "K005"},
        {"form a(test v, real k[x]) = inner_h(k, v);", "K005"},
        {"form a(test v) { let v = 1; return inner_h(1, v); }", "K097"},
        {"form a(test v, real v) = inner_h(1, v);", "K042"},
        {"form a(test v) = inner_h(1, v); form a(test v) = inner_h(1, v);", "K042"},
        {"kernel k(out real a[n], in real b[n]) { a = (b, b); }", "K005"},
        {"kernel k(out real a[n], in real b[n]) { a = max(b, \"left\"); }", "K005"},
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        const char *message = make(list[i][0], "a", 1, 1);
        ck_assert_msg(message != NULL && strstr(message, list[i][1]) != NULL,
                      "%s wanted for %s, in:\n%s", list[i][1], list[i][0],
                      message == NULL ? "nothing" : message);
    }
    const char *message = make("form a(test v) = inner_h(1, v);", "b", 1, 1);
    ck_assert_msg(message != NULL && strstr(message, "no form `b`; there are a") != NULL,
                  "%s", message);
}
END_TEST

START_TEST(form_right_is_taken)
{
    static const struct {
        const char *text;
        int ndim;
        int ncomponent;
    } list[] = {
        {"form a(trial u, test v, field k) = inner\u208a(M\u208b(k) * \u2207\u208b(u), "
         "\u2207\u2095(v));",
         3, 1},
        {"form a(trial u, test v) = inner\u208a\u02e3\u02b8(D\u0303\u02e3(u), "
         "D\u033d\u02b8(v)) - inner\u2095(\u0394\u2095(u), v) / 2;",
         2, 1},
        {"form a(trial u, test v) = inner_h(div((u[0], u[1])), v[0])"
         " + inner_h(curl\u2095((u[0], u[1])), v[1]) + inner_xy(strain_xy((u[0], u[1])),"
         " strain\u02b8\u02e3((v[0], v[1])));",
         2, 2},
        {"form a(test v, field f, real t) = inner_h(f + sin(t) * x, v) - "
         "inner_\u0393(f, v, \"left\");",
         2, 1},
        {"form b(trial u, test v) = inner_plus(grad(u), grad(v));"
         "form a(trial u, test v, real dt) { let d = b(u, v);"
         " return inner_h(u, v) + dt * d; }",
         1, 1},
        {"form a(trial u, test v) = inner_h(u[0] - u[1], v[0] - v[1]);", 1, 2},
        /* words of forms are names elsewhere */
        {"op field(test[]) = 2 * test; kernel form(inout real trial[n], real field)"
         "{ trial = field(trial) * field; } form a(test form) = inner_h(1, form);",
         1, 1},
        /* an op of the module hides an operator */
        {"op grad(A[]) = 2 * A; form a(trial u, test v) = inner_h(grad(u), v);", 1, 1},
        {"op back(u[,], h[]) = pad((u[1:, :] - u[:-1, :]) / h[1:, *], 0, 1:0, 0:0);"
         "form a(trial u, test v) = inner_x(back(u, h_x), back(v, h_x));",
         2, 1},
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        const char *message = make(list[i].text, "a", list[i].ndim, list[i].ncomponent);
        ck_assert_msg(message == NULL, "%s\nin %s", message, list[i].text);
    }
}
END_TEST

/* Canonical text holds the forms and is its own canonical text. */
START_TEST(form_canonical_text_is_stable)
{
    static const char text[] =
        "form a(trial u, test v, field k[x], field f, int n) {\n"
        "    let g = f * (grad(u) + (u, 2));\n"
        "    return n * inner_plus(g, -grad(v), \"left\") + inner_Gamma(u, v);\n}\n";
    rk_options options;
    memset(&options, 0, sizeof(options));
    options.real = RUBUS_F64;
    options.index = RUBUS_I32;
    options.dialect = "rk";
    rk_program *first = NULL;
    rk_program *second = NULL;
    rubus_status st = rk_compile(&options, "t.rk", text, strlen(text), &first);
    ck_assert_msg(st == RUBUS_OK, "%s", rubus_error_text());
    ck_assert_msg(strstr(first->text, "form a(trial u, test v, field k[x], field f, "
                                      "int n)\n") != NULL,
                  "%s", first->text);
    st = rk_program_from_text("t.rk", first->text, first->text_size, &second);
    ck_assert_msg(st == RUBUS_OK, "%s\n%s", rubus_error_text(), first->text);
    ck_assert_int_eq(second->unit->module.nform, 1);
    ck_assert_str_eq(strstr(first->text, "form a"), strstr(second->text, "form a"));
    rk_program_destroy(first);
    rk_program_destroy(second);
}
END_TEST

/* One term, known: what stands in it. */
START_TEST(form_explain_tells_terms_and_passes)
{
    static const char text[] =
        "form a(trial u, test v, field k) = inner_plus(k * grad(u), grad(v));";
    rk_options options;
    memset(&options, 0, sizeof(options));
    options.real = RUBUS_F64;
    options.index = RUBUS_I32;
    rk_program *program = NULL;
    rk_form *form = NULL;
    rubus_status st = rk_compile(&options, "t.rk", text, strlen(text), &program);
    ck_assert_msg(st == RUBUS_OK, "%s", rubus_error_text());
    const rk_form_desc desc = {1, 1, 1, 0, NULL};
    ck_assert_int_eq(rk_form_build(program, "a", &desc, &form), RUBUS_OK);
    rubus__text out;
    rubus__text_init(&out);
    ck_assert_int_eq(rk_form_explain(form, false, &out), RUBUS_OK);
    static const char *const parts[] = {
        "bilinear, 1 component, 1 term, 3 arrays of entries",
        "k * Dm_x(u, h_x)",
        "weight a_x",
        "component 0 at (-1)",
        "component 0 at (0)",
        "apply     1 pass, ",
        "fill      1 pass",
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        ck_assert_msg(strstr(out.data, parts[i]) != NULL, "`%s` wanted in\n%s", parts[i],
                      out.data);
    }
    rubus__text_fini(&out);
    rubus__text_init(&out);
    ck_assert_int_eq(rk_form_explain(form, true, &out), RUBUS_OK);
    ck_assert_ptr_nonnull(strstr(out.data, "\"test_taps\": [{\"component\": 0, "
                                           "\"offset\": [-1]}, {"));
    rubus__text_fini(&out);
    rk_program_destroy(program);
}
END_TEST

static Suite *suite_function(void)
{
    Suite *suite = suite_create("form/error");
    TCase *tcase = tcase_create("error");
    tcase_add_loop_test(tcase, form_wrong_tells_what, 0,
                        (int)(sizeof(wrongs) / sizeof(wrongs[0])));
    tcase_add_test(tcase, form_header_wrong_tells_what);
    tcase_add_test(tcase, form_right_is_taken);
    tcase_add_test(tcase, form_canonical_text_is_stable);
    tcase_add_test(tcase, form_explain_tells_terms_and_passes);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUBUS_TEST_MAIN("form/error", suite_function)
