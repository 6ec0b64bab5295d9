/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a form, as a program can list them. */
#include "config.h"

#include <check.h>

#include "tests/form/form_probe.h"

static const char text[] =
    "form all(test v, field f, real a, int k, field g[y], trial u) =\n"
    "    inner_h(a * k * f * g * u, v);\n"
    "form none(test v) = inner_h(x, v);\n";

START_TEST(form_params_are_told_in_their_order)
{
    static const struct {
        const char *name;
        int32_t kind;
        int32_t axis;
    } want[] = {{"f", RUBUS_FORM_FIELD, -1},
                {"a", RUBUS_FORM_REAL, -1},
                {"k", RUBUS_FORM_INT, -1},
                {"g", RUBUS_FORM_FIELD, 1}};
    form_probe p = probe_open(_i, text);
    rubus_mesh *mesh = NULL;
    ok(rubus_mesh_create_box(p.context, RUBUS_F64, RUBUS_SHAPE(3, 4), (double[]){0, 0},
                             (double[]){1, 1}, &mesh));
    probe_mesh(&p, mesh);
    rubus_form *form = probe_form(&p, "all", p.space);
    ck_assert_uint_eq(rubus_form_param_count(form), 4);
    for (uint32_t k = 0; k < 4; k++) {
        rubus_form_param param = {.struct_size = sizeof(param)};
        ok(rubus_form_param_get(form, k, &param));
        ck_assert_str_eq(param.name, want[k].name);
        ck_assert_int_eq(param.kind, want[k].kind);
        ck_assert_int_eq(param.axis, want[k].axis);
    }
    // a caller with an older struct gets what it has room for
    rubus_form_param part = {.struct_size = offsetof(rubus_form_param, kind), .kind = 77};
    ok(rubus_form_param_get(form, 1, &part));
    ck_assert_str_eq(part.name, "a");
    ck_assert_int_eq(part.kind, 77);
    rubus_form_destroy(form);
    form = probe_linear(&p, "none", p.space);
    ck_assert_uint_eq(rubus_form_param_count(form), 0);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

START_TEST(form_param_that_is_not_there_fails)
{
    form_probe p = probe_open(_i, text);
    rubus_mesh *mesh = NULL;
    ok(rubus_mesh_create_box(p.context, RUBUS_F64, RUBUS_SHAPE(3, 4), (double[]){0, 0},
                             (double[]){1, 1}, &mesh));
    probe_mesh(&p, mesh);
    rubus_form *form = probe_form(&p, "all", p.space);
    rubus_form_param param = {.struct_size = sizeof(param), .kind = 77};
    ck_assert_int_eq(rubus_form_param_get(form, 4, &param), RUBUS_EINVAL);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "parameter 4 of 4"));
    ck_assert_int_eq(rubus_form_param_get(form, 0, NULL), RUBUS_EINVAL);
    ck_assert_int_eq(rubus_form_param_get(NULL, 0, &param), RUBUS_EINVAL);
    param.struct_size = 0;
    ck_assert_int_eq(rubus_form_param_get(form, 0, &param), RUBUS_EINVAL);
    ck_assert_int_eq(param.kind, 77);
    ck_assert_uint_eq(rubus_form_param_count(NULL), 0);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

static Suite *param_suite(void)
{
    Suite *suite = suite_create("form_param");
    TCase *tc = tcase_create("parameters");
    backends_add(tc, form_params_are_told_in_their_order);
    backends_add(tc, form_param_that_is_not_there_fails);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("form_param", param_suite)
