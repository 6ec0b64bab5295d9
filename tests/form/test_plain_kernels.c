/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels as backends see them: those of the library's own sources and those made of
 * forms take arrays and scalars and nothing else, and those of f32 need no f64.
 */
#include "config.h"

#include <check.h>

#include "libcore/runtime/runtime.h"
#include "tests/form/csr_probe.h"
#include "tests/form/form_run.h"

/* --- parameters --------------------------------------------------------------------- */

static bool is_number(int32_t type)
{
    return type == RUBUS_F64 || type == RUBUS_F32 || type == RUBUS_I32 ||
           type == RUBUS_I64 || type == RUBUS_BOOL;
}

/* Returns how many kernels were looked at. */
static uint32_t check_params(rubus_module *module, const char *name)
{
    const uint32_t n = rubus_module_kernel_count(module);
    for (uint32_t k = 0; k < n; k++) {
        const rubus_kernel *kernel = rubus_module_kernel_at(module, k);
        for (uint32_t i = 0; i < rubus_kernel_param_count(kernel); i++) {
            rubus_kernel_param param = {.struct_size = sizeof param};
            ok(rubus_kernel_param_get(kernel, i, &param));
            const bool array = param.kind == RUBUS_PARAM_ARRAY;
            const bool number =
                param.kind == RUBUS_PARAM_SCALAR || param.kind == RUBUS_PARAM_RESULT;
            ck_assert_msg(array ? param.rank >= 1 && param.rank <= 3
                                : number && param.rank == 0,
                          "%s: `%s` of kernel %s: kind %d, rank %d", name, param.name,
                          rubus_kernel_name(kernel), (int)param.kind, (int)param.rank);
            ck_assert_msg(is_number(param.type), "%s: `%s` of kernel %s: type %d", name,
                          param.name, rubus_kernel_name(kernel), (int)param.type);
        }
    }
    return n;
}

/* Builds every source for the real type; returns the number of their kernels. */
static uint32_t build_sources(rubus_context *context, int32_t real)
{
    const rubus_module_options options = {.struct_size = sizeof options, .real = real};
    uint32_t nkernel = 0;
    for (const rk_embedded *e = rk_embedded_list; e->name != NULL; e++) {
        if (strstr(e->name, "_kernels.rk") != NULL) {
            continue; // others import it, and give it what it calls
        }
        rubus_module *module = NULL;
        ok(rubus__module_embedded(context, e->name, &options, &module));
        nkernel += check_params(module, e->name);
        rubus_module_destroy(module);
    }
    return nkernel;
}

START_TEST(test_trap_01_library_kernels_take_arrays_and_scalars)
{
    rubus_context *context = backends_open(_i);
    ck_assert_uint_gt(build_sources(context, RUBUS_F64), 180);
    backends_finish(context);
}
END_TEST

/* Fields, lines, numbers, regions, faces, spacings that are none on a uniform axis. */
START_TEST(test_trap_01_form_kernels_take_arrays_and_scalars)
{
    static const rk_form_job jobs[] = {
        RK_JOB_APPLY,     RK_JOB_DIAGONAL, RK_JOB_VALUE, RK_JOB_TABLES, RK_JOB_COUNT,
        RK_JOB_COLUMNS,   RK_JOB_FILL,     RK_JOB_PAIRS, RK_JOB_PARTS,  RK_JOB_CLEAR,
        RK_JOB_POSITIONS, RK_JOB_SCATTER,  RK_JOB_GATHER};
    const rk_form_desc desc = {2, 1, 1, 0, NULL};
    const rk_form_fix none = {.mode = RK_FIX_NONE};
    form_run run;
    form_open(&run, backends_spec[_i], RUBUS_F64);
    form_make(&run,
              "form a(trial u, test v, field k, real beta) =\n"
              "    inner_plus(Mm(k) * grad(u), grad(v)) + beta * inner_h(k * u, v);\n",
              &desc);
    for (size_t j = 0; j < sizeof jobs / sizeof jobs[0]; j++) {
        rk_form_kernel kernel = form_kernel(&run, jobs[j], &none);
        rubus_module *module = backends_module(run.context, kernel.text, RUBUS_F64, 0);
        ck_assert_uint_eq(check_params(module, kernel.text), 1);
        rubus_module_destroy(module);
        rubus__free(kernel.text);
    }
    form_close(&run);
}
END_TEST

/* --- f32 alone ---------------------------------------------------------------------- */

static const char text[] =
    "form mixed(trial u, test v, field k) =\n"
    "    inner_plus(Mm(k) * grad(u), grad(v)) + inner_h(k * u / 2, v);\n"
    "func real wave(real x, real y) { return 2 + sin(3 * x) * exp(-y) + 0.5 * x^2; }\n";

/* Values of a matrix in f32, and one product with it; malloc'ed, [nnz + npoint]. */
static double *numbers_on(const char *spec, int64_t *out_n)
{
    form_probe p = {0};
    ok(rubus_context_create(spec, &p.context));
    p.module = backends_module(p.context, text, RUBUS_F32, 0);
    probe_mesh(&p, mesh_of(p.context, RUBUS_F32, 2,
                           (const rubus_axis_desc[]){{.upper = 1, .n = 13, .seed = 4},
                                                     {.upper = 1, .n = 11}}));
    rubus_array *k = NULL;
    rubus_array *y = NULL;
    ok(RUBUS_ARRAYS(p.space, &k, &y));
    ok(rubus_project(p.space, rubus_module_func(p.module, "wave"), RUBUS_CELL_MEAN, NULL,
                     0, k));
    rubus_form *form = probe_form(&p, "mixed", p.space);
    ok(rubus_form_set(form, "k", k));
    rubus_csr *csr = csr_make(form, NULL, RUBUS_ROWS);
    ok(rubus_spmv(1, csr, k, 0, y));
    const int64_t nnz = csr_info(csr).nnz;
    double *value = csr_values(csr);
    double *product = probe_numbers(y);
    double *all = malloc((size_t)(nnz + 143) * sizeof *all);
    memcpy(all, value, (size_t)nnz * sizeof *all);
    memcpy(all + nnz, product, 143 * sizeof *all);
    *out_n = nnz + 143;
    free(value);
    free(product);
    rubus_csr_destroy(csr);
    rubus_form_destroy(form);
    rubus_array_destroy(k);
    rubus_array_destroy(y);
    probe_close(&p);
    return all;
}

static void spec_without_f64(int at, char out[160])
{
    snprintf(out, 160, "%s:fp64=off", backends_spec[at]);
}

START_TEST(test_trap_02_library_builds_without_f64)
{
    char spec[160];
    rubus_context *context = NULL;
    rubus_module *none = NULL;
    spec_without_f64(_i, spec);
    ok(rubus_context_create(spec, &context));
    fails(rubus_module_create(context, "test.rk", text, NULL, &none), RUBUS_EUNSUPPORTED,
          "no f64|f32");
    ck_assert_uint_gt(build_sources(context, RUBUS_F32), 180);
    backends_finish(context);
}
END_TEST

START_TEST(test_trap_02_f32_has_the_same_bits_without_f64)
{
    char spec[160];
    int64_t n[2] = {0, 0};
    spec_without_f64(_i, spec);
    double *with = numbers_on(backends_spec[_i], &n[0]);
    double *without = numbers_on(spec, &n[1]);
    ck_assert_int_eq(n[0], n[1]);
    for (int64_t i = 0; i < n[0]; i++) {
        ck_assert_msg(with[i] == without[i], "number %lld is %.9g, without f64 %.9g",
                      (long long)i, with[i], without[i]);
    }
    free(with);
    free(without);
}
END_TEST

static Suite *plain_suite(void)
{
    Suite *suite = suite_create("form/plain kernels");
    TCase *tc = tcase_create("plain");
    tcase_set_timeout(tc, 300); // whole sources are compiled
    backends_add(tc, test_trap_01_library_kernels_take_arrays_and_scalars);
    backends_add(tc, test_trap_01_form_kernels_take_arrays_and_scalars);
    backends_add(tc, test_trap_02_library_builds_without_f64);
    backends_add(tc, test_trap_02_f32_has_the_same_bits_without_f64);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("form/plain kernels", plain_suite)
