/* SPDX-License-Identifier: Apache-2.0 */
/* Funcs of modules, and modules made of them, on every backend. */
#include "config.h"

#include <check.h>

#include "libcore/runtime/runtime.h"
#include "tests/support/backends.h"
#include "tests/support/suite.h"

/* sin is the user's; the library's tan goes on to use its own. */
static const char text[] = "func real sin(real x) { return 100 + x; }\n"
                           "func real half(real x) { return x / 2; }\n"
                           "func real f(real x) { return sin(half(x)); }\n"
                           "op twice(A[]) = 2 * A;\n"
                           "func real g(real x) { return tan(x) + 1 / 3; }\n"
                           "kernel old(inout real u[n]) { u = twice(u); }\n";
static const char kernels[] =
    "kernel fresh(out real u[n], in real x[n]) over (i) { u[i] = f(x[i]); }\n"
    "kernel tangent(out real u[n], in real x[n]) over (i) { u[i] = g(x[i]); }\n"
    "kernel doubled(out real u[n], in real x[n]) { u = twice(x); }\n";

static double run(rubus_module *module, const char *kernel, int32_t real, double x)
{
    const rubus_shape one = RUBUS_SHAPE(1);
    rubus_context *context = module->context;
    rubus_module *made = NULL;
    rubus_array *u = NULL;
    rubus_array *v = NULL;
    float narrow = 0;
    double wide = 0;
    ok(rubus__module_derive(module, real, kernels, false, &made));
    ok(rubus_array_create(context, real, one, &u));
    ok(rubus_array_create(context, real, one, &v));
    ok(rubus_array_fill(v, x));
    ok(rubus_launch(backends_kernel(made, kernel), u, v));
    if (real == RUBUS_F32) {
        ok(rubus_array_read(u, &narrow, sizeof narrow));
        wide = (double)narrow;
    } else {
        ok(rubus_array_read(u, &wide, sizeof wide));
    }
    rubus_array_destroy(u);
    rubus_array_destroy(v);
    return wide;
}

START_TEST(derived_module_calls_own_and_library_funcs)
{
    rubus_context *context = backends_open(_i);
    rubus_module *module = backends_module(context, text, RUBUS_F64, 0);
    ck_assert_double_eq(run(module, "fresh", RUBUS_F64, 3), 101.5);
    ck_assert_double_eq(run(module, "doubled", RUBUS_F64, 3), 6);
    ck_assert_double_eq(run(module, "tangent", RUBUS_F64, 0), 1.0 / 3);
    const float third = 1.0F / 3; // not 1/3 of the module's f64
    ck_assert_double_eq(run(module, "tangent", RUBUS_F32, 0), (double)third);
    const double tan1 = run(module, "tangent", RUBUS_F64, 1) - 1.0 / 3;
    ck_assert_double_eq_tol(tan1, 1.5574077246549023, 1e-15);
    rubus_context_counters before = {.struct_size = sizeof before};
    rubus_context_counters after = before;
    ok(rubus_context_counters_get(context, &before));
    (void)run(module, "fresh", RUBUS_F64, 3); // both are kept
    (void)run(module, "fresh", RUBUS_F32, 3);
    ok(rubus_context_counters_get(context, &after));
    ck_assert_uint_eq(after.modules_built, before.modules_built);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

START_TEST(func_is_found_by_name_or_the_nearest_told)
{
    rubus_context *context = backends_open(_i);
    rubus_module *module = backends_module(context, text, RUBUS_F64, 0);
    const rubus_func *half = rubus_module_func(module, "half");
    ck_assert_str_eq(rubus_func_name(half), "half");
    ck_assert_ptr_eq(rubus_module_func(module, "half"), half);
    ck_assert_ptr_null(rubus_module_func(module, "halff"));
    backends_text_has("no func `halff`|did you mean `half`", "half", __LINE__);
    ck_assert_ptr_null(
        rubus_module_func(module, "tan")); // of the library, not the module
    ck_assert_ptr_null(rubus_module_func(module, "twice"));
    ck_assert_ptr_null(rubus_module_func(module, "old"));
    ck_assert_ptr_null(rubus_module_func(module, NULL));
    backends_text_has("name is NULL", "NULL", __LINE__);
    rubus_module_destroy(module);
    module =
        backends_module(context, "kernel k(inout real u[n]) { u = 1; }\n", RUBUS_F64, 0);
    ck_assert_ptr_null(rubus_module_func(module, "half"));
    rubus_module *made = NULL;
    fails(rubus__module_derive(module, RUBUS_F64, kernels, false, &made), RUBUS_ECOMPILE,
          "`f`");
    ck_assert_ptr_null(made);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

START_TEST(derived_module_survives_failed_allocations)
{
    rubus_context *context = backends_open(0);
    rubus_status st = RUBUS_ENOMEM;
    for (int64_t n = 1; st != RUBUS_OK; n++) {
        rubus_module *module = backends_module(context, text, RUBUS_F64, 0);
        rubus_module *made = NULL;
        rubus__alloc_fail_after(n, false);
        st = rubus__module_derive(module, RUBUS_F32, kernels, false, &made);
        rubus__alloc_fail_after(0, false);
        ck_assert_msg(st == RUBUS_OK || st == RUBUS_ENOMEM, "%s", rubus_error_text());
        rubus_module_destroy(module);
    }
    backends_finish(context);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("funcs");
    TCase *tc = tcase_create("funcs");
    backends_add(tc, derived_module_calls_own_and_library_funcs);
    backends_add(tc, func_is_found_by_name_or_the_nearest_told);
    tcase_add_test(tc, derived_module_survives_failed_allocations);
    suite_add_tcase(s, tc);
    return s;
}

RUBUS_TEST_MAIN("funcs", suite)
