/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: from texts and files, with imports; options; kernels and their parameters by
 * name; what is refused.
 */
#include "config.h"

#include <check.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcore/runtime/runtime.h"
#include "tests/support/backends.h"
#include "tests/support/suite.h"

static const char source[] =
    "kernel scale(inout real a[nx, ny], in int by[nx], in bool on[], real f, int k,\n"
    "             bool b, out real most)\n"
    "{\n"
    "    a = b ? f * a * by[:, *] + k : a;\n"
    "    most = max(a);\n"
    "}\n"
    "kernel point(out real a[n], index shift) over (i) { a[i] = i + shift; }\n";

START_TEST(module_kernels_are_found_by_name_and_number)
{
    rubus_context *context = backends_open(_i);
    rubus_module *module = backends_module(context, source, RUBUS_F64, 0);
    ck_assert_uint_eq(rubus_module_kernel_count(module), 2);
    const rubus_kernel *scale = backends_kernel(module, "scale");
    ck_assert_ptr_eq(rubus_module_kernel_at(module, 0), scale);
    ck_assert_ptr_eq(rubus_module_kernel_at(module, 1), backends_kernel(module, "point"));
    ck_assert_ptr_null(rubus_module_kernel_at(module, 2));
    ck_assert_str_eq(rubus_kernel_name(scale), "scale");
    ck_assert_uint_eq(rubus_kernel_ndim(scale), 0);
    ck_assert_uint_eq(rubus_kernel_ndim(backends_kernel(module, "point")), 1);

    ck_assert_ptr_null(rubus_module_kernel(module, "scal"));
    backends_text_has("test.rk has no kernel `scal`|did you mean `scale`", "scal", 0);
    fails(rubus_launch_args(NULL, NULL, 0), RUBUS_ENOTFOUND, "no kernel `scal`|`scale`");
    ck_assert_ptr_null(rubus_module_kernel(module, "completely_different"));
    backends_text_has("no kernel `completely_different`", "nearest", 0);
    ck_assert_ptr_null(strstr(rubus_error_text(), "did you mean"));
    ck_assert_ptr_null(rubus_module_kernel(module, NULL));
    backends_text_has("the name is NULL", "name", 0);
    ck_assert_ptr_null(rubus_module_kernel(NULL, "scale"));
    backends_text_has("the module is NULL", "module", 0);
    fails(rubus_launch_args(NULL, NULL, 0), RUBUS_ENOTFOUND, "the module is NULL");

    ck_assert_uint_eq(rubus_module_kernel_count(NULL), 0);
    ck_assert_ptr_null(rubus_module_kernel_at(NULL, 0));
    ck_assert_str_eq(rubus_kernel_name(NULL), "");
    ck_assert_uint_eq(rubus_kernel_param_count(NULL), 0);
    ck_assert_uint_eq(rubus_kernel_ndim(NULL), 0);
    rubus_module_destroy(NULL);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

START_TEST(kernel_parameters_are_described)
{
    static const rubus_kernel_param want[] = {
        {0, "a", RUBUS_PARAM_ARRAY, RUBUS_F32, 2, RUBUS_READ | RUBUS_WRITE},
        {0, "by", RUBUS_PARAM_ARRAY, RUBUS_I32, 1, RUBUS_READ},
        {0, "on", RUBUS_PARAM_ARRAY, RUBUS_BOOL, 1, RUBUS_READ},
        {0, "f", RUBUS_PARAM_SCALAR, RUBUS_F32, 0, 0},
        {0, "k", RUBUS_PARAM_SCALAR, RUBUS_I32, 0, 0},
        {0, "b", RUBUS_PARAM_SCALAR, RUBUS_BOOL, 0, 0},
        {0, "most", RUBUS_PARAM_RESULT, RUBUS_F32, 0, RUBUS_WRITE}};
    rubus_context *context = backends_open(_i);
    rubus_module *module = backends_module(context, source, RUBUS_F32, 0);
    const rubus_kernel *scale = backends_kernel(module, "scale");
    ck_assert_uint_eq(rubus_kernel_param_count(scale), 7);
    for (uint32_t k = 0; k < 7; k++) {
        rubus_kernel_param got = {.struct_size = sizeof got};
        ok(rubus_kernel_param_get(scale, k, &got));
        ck_assert_str_eq(got.name, want[k].name);
        ck_assert_int_eq(got.kind, want[k].kind);
        ck_assert_int_eq(got.type, want[k].type);
        ck_assert_int_eq(got.rank, want[k].rank);
        ck_assert_uint_eq(got.access, want[k].access);
    }
    rubus_kernel_param got = {.struct_size = sizeof got};
    ok(rubus_kernel_param_get(backends_kernel(module, "point"), 0, &got));
    ck_assert_uint_eq(got.access, RUBUS_WRITE);
    got = (rubus_kernel_param){.struct_size = offsetof(rubus_kernel_param, type),
                               .type = 77};
    ok(rubus_kernel_param_get(scale, 1, &got));
    ck_assert_int_eq(got.type, 77);
    got.struct_size = sizeof got;
    fails(rubus_kernel_param_get(scale, 7, &got), RUBUS_EINVAL, "parameter 7 of 7");
    fails(rubus_kernel_param_get(NULL, 0, &got), RUBUS_EINVAL, "the kernel is NULL");
    fails(rubus_kernel_param_get(scale, 0, NULL), RUBUS_EINVAL, "param is NULL");
    got.struct_size = 0;
    fails(rubus_kernel_param_get(scale, 0, &got), RUBUS_EINVAL, "struct_size");
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

START_TEST(module_wrong_arguments_are_named)
{
    rubus_context *context = backends_open(_i);
    rubus_module *module = NULL;
    fails(rubus_module_create(NULL, "m", source, NULL, &module), RUBUS_EINVAL,
          "rubus_module_create|context is NULL");
    fails(rubus_module_create(context, "m", NULL, NULL, &module), RUBUS_EINVAL,
          "the text is NULL");
    fails(rubus_module_create(context, "m", source, NULL, NULL), RUBUS_EINVAL,
          "out_module is NULL");
    rubus_module_options o = {.struct_size = 0};
    fails(rubus_module_create(context, "m", source, &o, &module), RUBUS_EINVAL,
          "struct_size");
    o = (rubus_module_options){.struct_size = sizeof o, .real = RUBUS_I32};
    fails(rubus_module_create(context, "m.rk", source, &o, &module), RUBUS_EINVAL,
          "m.rk|real must be f32 or f64");
    o = (rubus_module_options){.struct_size = sizeof o, .index = RUBUS_F32};
    fails(rubus_module_create(context, "m.rk", source, &o, &module), RUBUS_EINVAL,
          "m.rk|index i32 or i64");
    fails(rubus_module_create_file(context, NULL, NULL, &module), RUBUS_EINVAL,
          "rubus_module_create_file|path is NULL");
    fails(rubus_module_create_file(context, "/no/such/file.rk", NULL, &module), RUBUS_EIO,
          "/no/such/file.rk|No such file");
    fails(rubus_module_create(context, "wrong.rk", "kernel f(out real a[n]) { a = b; }\n",
                              NULL, &module),
          RUBUS_ECOMPILE, "wrong.rk:1:31|`b`|^");
    fails(rubus_module_create(context, NULL, source, NULL, &module), RUBUS_EINVAL,
          "the name|is NULL");
    ck_assert_ptr_null(module);
    context->dev->caps.fp64 = 0;
    fails(rubus_module_create(context, "m", source, NULL, &module), RUBUS_EUNSUPPORTED,
          "has no f64|real f32");
    o = (rubus_module_options){.struct_size = sizeof o, .real = RUBUS_F32};
    ok(rubus_module_create(context, "m", source, &o, &module));
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

START_TEST(module_options_choose_the_numbers)
{
    rubus_context *context = backends_open(_i);
    rubus_module *module = NULL;
    rubus_array *a = NULL;
    rubus_module_options o = {
        .struct_size = sizeof o, .real = RUBUS_F32, .index = RUBUS_I64, .fast = 1};
    ok(rubus_module_create(context, "m", source, &o, &module));
    ok(rubus_array_create(context, RUBUS_F32, RUBUS_SHAPE(4), &a));
    ok(rubus_launch(backends_kernel(module, "point"), a, INT64_C(1) << 40));
    float host[4];
    ok(rubus_array_read(a, host, sizeof host));
    ck_assert_msg((double)host[3] == 0x1p40, "%g", (double)host[3]);
    rubus_module_destroy(module);
    // a shorter struct of an older program: what it has not is at its default
    o.struct_size = offsetof(rubus_module_options, index);
    ok(rubus_module_create(context, "m", source, &o, &module));
    fails(rubus_launch(backends_kernel(module, "point"), a, INT64_C(1) << 40),
          RUBUS_ELIMIT, "1099511627776|`shift`|index i64");
    rubus_array_destroy(a);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ok(rubus__file_write(path, text, strlen(text)));
}

START_TEST(module_of_a_file_imports_beside_it)
{
    char folder[] = "/tmp/rubus-test-XXXXXX";
    char path[200];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    write_file(folder, "ops.rk", "op twice(A[]) = 2 * A;\nop twice(A) = 2 * A;\n");
    write_file(folder, "main.rk",
               "import \"ops.rk\";\n"
               "kernel f(inout real a[n]) { a = twice(a); }\n");
    write_file(folder, "lost.rk", "import \"gone.rk\";\n");
    rubus_context *context = backends_open(_i);
    rubus_module *module = NULL;
    rubus_array *a = backends_ramp(context, 5, 1);
    snprintf(path, sizeof path, "%s/main.rk", folder);
    ok(rubus_module_create_file(context, path, NULL, &module));
    ck_assert_uint_eq(rubus_module_kernel_count(module), 1);
    ok(rubus_launch(backends_kernel(module, "f"), a));
    ck_assert(backends_get(a, 4) == 10);
    rubus_module_destroy(module);

    // the text of a caller: the name says where its imports are
    ok(rubus_module_create(context, path,
                           "import \"ops.rk\";\nkernel g(inout real a[n]) {"
                           " a = twice(a); }\n",
                           NULL, &module));
    rubus_module_destroy(module);
    snprintf(path, sizeof path, "%s/lost.rk", folder);
    fails(rubus_module_create_file(context, path, NULL, &module), RUBUS_ECOMPILE,
          "lost.rk:1|gone.rk|No such file");
    rubus_array_destroy(a);
    backends_finish(context);
    static const char *const names[] = {"ops.rk", "main.rk", "lost.rk"};
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        unlink(path);
    }
    rmdir(folder);
}
END_TEST

START_TEST(module_is_destroyed_right_after_a_launch)
{
    rubus_context *context = backends_open(_i);
    rubus_module *module = backends_module(context, source, RUBUS_F64, 0);
    rubus_array *a = backends_ramp(context, 1000, 0);
    ok(rubus_launch(backends_kernel(module, "point"), a, 100));
    rubus_module_destroy(module);
    ck_assert(backends_get(a, 999) == 1099);
    rubus_array_destroy(a);
    backends_finish(context);
}
END_TEST

START_TEST(module_embedded_is_found_by_name)
{
    rubus_context *context = backends_open(_i);
    rubus_module *module = NULL;
    fails(rubus__module_embedded(context, "nothing.rk", NULL, &module), RUBUS_EINTERNAL,
          "nothing.rk");
    ok(rubus__module_embedded(context, "blas.rk", NULL, &module));
    ck_assert_uint_eq(rubus_module_kernel_count(module), 5);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

static Suite *module_suite(void)
{
    TCase *tc = tcase_create("module");
    backends_add(tc, module_kernels_are_found_by_name_and_number);
    backends_add(tc, kernel_parameters_are_described);
    backends_add(tc, module_wrong_arguments_are_named);
    backends_add(tc, module_options_choose_the_numbers);
    backends_add(tc, module_of_a_file_imports_beside_it);
    backends_add(tc, module_is_destroyed_right_after_a_launch);
    backends_add(tc, module_embedded_is_found_by_name);
    Suite *suite = suite_create("runtime: modules");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: modules", module_suite)
