/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators on grid functions as sparse matrices, on every backend: on the points 0, 1,
 * 3, 5, composed there, and in 1 to 3 dimensions against the kernels of grid.rk.
 */
#include "config.h"

#include <check.h>

#include "tests/grid/grid_probe.h"
#include "tests/grid/kronecker_model.h"

static rubus_csr *matrix_of(const rubus_space *space, const char *op, int32_t k)
{
    rubus_csr *csr = NULL;
    ok(rubus_space_operator_matrix(space, op, k, &csr));
    return csr;
}

/* The product, in place of its factors. */
static rubus_csr *times(rubus_csr *a, rubus_csr *b)
{
    rubus_csr *c = NULL;
    ok(rubus_csr_create_product(a, b, &c));
    rubus_csr_destroy(a);
    rubus_csr_destroy(b);
    return c;
}

/* All entries of the matrix, stored or not, are within a rounding of these. */
static void dense_is(rubus_csr *csr, int64_t n, const double *want, const char *what)
{
    rubus_csr_info info = {.struct_size = sizeof info};
    rubus_csr_mirror m = {.struct_size = sizeof m};
    ok(rubus_csr_info_get(csr, &info));
    ok(rubus_csr_mirror_get(csr, &m));
    ck_assert_int_eq(info.nrow, n);
    ck_assert_int_eq(info.ncol, n);
    const double eps = info.real == RUBUS_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
    for (int64_t k = 0; k < n * n; k++) {
        const int64_t at = rubus_csr_position(csr, k / n, k % n);
        const double got = at < 0                   ? 0
                           : info.real == RUBUS_F32 ? (double)((float *)m.nzval)[at]
                                                    : ((double *)m.nzval)[at];
        ck_assert_msg(fabs(got - want[k]) <= eps * fabs(want[k]),
                      "%s: entry (%lld, %lld) is %.17g, not %.17g", what,
                      (long long)(k / n), (long long)(k % n), got, want[k]);
    }
}

#define dense_4(csr, ...) dense_is((csr), 4, (const double[16])__VA_ARGS__, #csr)

typedef struct tiny {
    const char *op;
    int32_t k;
    double want[16];
} tiny;

static const tiny all_tiny[] = {
    {"Dm_x", 0, {0, 0, 0, 0, -1, 1, 0, 0, 0, -.5, .5, 0, 0, 0, -.5, .5}},
    {"Dp_x", 0, {-1, 1, 0, 0, 0, -.5, .5, 0, 0, 0, -.5, .5, 0, 0, 0, 0}},
    {"Mm_x", 0, {0, 0, 0, 0, .5, .5, 0, 0, 0, .5, .5, 0, 0, 0, .5, .5}},
    {"Mp_x", 0, {.5, .5, 0, 0, 0, .5, .5, 0, 0, 0, .5, .5, 0, 0, 0, 0}},
    {"diffm_x", 0, {1, 0, 0, 0, -1, 1, 0, 0, 0, -1, 1, 0, 0, 0, -1, 1}},
    {"diffp_x", 0, {-1, 1, 0, 0, 0, -1, 1, 0, 0, 0, -1, 1, 0, 0, 0, -1}},
    {"jump_x", 0, {-1, 1, 0, 0, 0, -1, 1, 0, 0, 0, -1, 1, 0, 0, 0, -1}},
    {"Dstar_x", 0, {-1, 1, 0, 0, 0, -2. / 3, 2. / 3, 0, 0, 0, -.5, .5, 0, 0, 0, 0}},
    {"Dc_x", 0, {0, 0, 0, 0, -1. / 3, 0, 1. / 3, 0, 0, -.25, 0, .25, 0, 0, 0, 0}},
    {"Dw_x", 0, {0, 0, 0, 0, -2. / 3, .5, 1. / 6, 0, 0, -.25, 0, .25, 0, 0, 0, 0}},
    {"Mc_x", 0, {0, 0, 0, 0, .25, .5, .25, 0, 0, .25, .5, .25, 0, 0, 0, 0}},
    {"lap_x", 0, {-1, 1, 0, 0, 2. / 3, -1, 1. / 3, 0, 0, .25, -.5, .25, 0, 0, 0, 0}},
    {"shift_x", 1, {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0}},
    {"shift_x", -2, {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0}},
    {"shift_x", 4, {0}},
    {"D\u208b", 0, {0, 0, 0, 0, -1, 1, 0, 0, 0, -.5, .5, 0, 0, 0, -.5, .5}},
    {"\u0394\u02e3", 0, {-1, 1, 0, 0, 2. / 3, -1, 1. / 3, 0, 0, .25, -.5, .25}},
    {"lap", 0, {-1, 1, 0, 0, 2. / 3, -1, 1. / 3, 0, 0, .25, -.5, .25, 0, 0, 0, 0}},
};

START_TEST(test_case_10_03_matrices_of_operators)
{
    rubus_context *context = backends_open(_i);
    for (int t = 0; t < 2; t++) {
        rubus_mesh *mesh = mesh_0135(context, t == 0 ? RUBUS_F64 : RUBUS_F32);
        rubus_space *space = space_of(mesh, 1);
        for (size_t i = 0; i < sizeof all_tiny / sizeof all_tiny[0]; i++) {
            rubus_csr *csr = matrix_of(space, all_tiny[i].op, all_tiny[i].k);
            dense_is(csr, 4, all_tiny[i].want, all_tiny[i].op);
            rubus_csr_destroy(csr);
        }
        rubus_space_destroy(space);
        rubus_mesh_destroy(mesh);
    }
    backends_finish(context);
}
END_TEST

/* A coefficient beneath a difference counts where the difference reaches. */
START_TEST(test_case_10_03_composition_is_the_product)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_0135(context, RUBUS_F64);
    rubus_space *space = space_of(mesh, 1);
    const double number[4] = {2, 3, 5, 7};
    rubus_csr *c = NULL;
    ok(rubus_csr_create_diagonal(context, RUBUS_I32, RUBUS_F64, 4, number, &c));
    rubus_csr *d = matrix_of(space, "Dm_x", 0);
    rubus_csr *dc = NULL;
    rubus_csr *cd = NULL;
    ok(rubus_csr_create_product(d, c, &dc));
    dense_4(dc, {0, 0, 0, 0, -2, 3, 0, 0, 0, -1.5, 2.5, 0, 0, 0, -2.5, 3.5});
    ok(rubus_csr_create_product(c, d, &cd));
    dense_4(cd, {0, 0, 0, 0, -3, 3, 0, 0, 0, -2.5, 2.5, 0, 0, 0, -3.5, 3.5});
    rubus_csr *dcm = times(dc, matrix_of(space, "Mm_x", 0));
    dense_4(dcm, {0, 0, 0, 0, 1.5, 1.5, 0, 0, -.75, .5, 1.25, 0, 0, -1.25, .5, 1.75});
    rubus_csr *lap = times(matrix_of(space, "Dstar_x", 0), d);
    dense_4(lap, {-1, 1, 0, 0, 2. / 3, -1, 1. / 3, 0, 0, .25, -.5, .25, 0, 0, 0, 0});
    rubus_csr_destroy(c);
    rubus_csr_destroy(cd);
    rubus_csr_destroy(dcm);
    rubus_csr_destroy(lap);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

/* The sum over the axes of D' diag(weights) D. */
static rubus_csr *stiffness(rubus_context *context, const rubus_space *space, int ndim)
{
    static const char *const op[3] = {"Dm_x", "Dm_y", "Dm_z"};
    rubus_csr *sum = NULL;
    rubus_array *weight = NULL;
    ok(rubus_space_array(space, 0, &weight));
    for (int d = 0; d < ndim; d++) {
        ok(rubus_space_weight(space, 1u << d, weight));
        double *w = probe_numbers(weight);
        rubus_csr *diagonal = NULL;
        ok(rubus_csr_create_diagonal(context, RUBUS_I32, RUBUS_F64,
                                     rubus_array_count(weight), w, &diagonal));
        free(w);
        rubus_csr *difference = matrix_of(space, op[d], 0);
        rubus_csr *turned = NULL;
        ok(rubus_csr_create_transpose(difference, &turned));
        rubus_csr *part = times(turned, times(diagonal, difference));
        rubus_csr *both = part;
        if (sum != NULL) {
            ok(rubus_csr_create_sum(1, sum, 1, part, &both));
            rubus_csr_destroy(sum);
            rubus_csr_destroy(part);
        }
        sum = both;
    }
    rubus_array_destroy(weight);
    return sum;
}

/* u = x + 2 y + 3 z on [0, 1, 3] x [0, 2, 3] x [0, 1]. */
START_TEST(test_case_10_06_stiffness_from_matrices)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_of(
        context, RUBUS_F64, 3,
        (const rubus_axis_desc[]){axis_of(0, 1, 3), axis_of(0, 2, 3), axis_of(0, 1)});
    rubus_space *space = space_of(mesh, 1);
    rubus_csr *s = stiffness(context, space, 3);
    rubus_csr_info info = {.struct_size = sizeof info};
    ok(rubus_csr_info_get(s, &info));
    ck_assert_int_eq(info.nnz, 84);
    static const double x[3] = {0, 1, 3};
    static const double y[3] = {0, 2, 3};
    double host[18];
    for (int p = 0; p < 18; p++) {
        host[p] = x[p % 3] + 2 * y[p / 3 % 3] + 3 * (p / 9);
    }
    rubus_array *u = probe_array(space, host);
    rubus_array *su = NULL;
    rubus_array *d = NULL;
    ok(RUBUS_ARRAYS(space, &su, &d));
    ok(rubus_spmv(1, s, u, 0, su));
    const double first[9] = {-2.5, -6, -3.5, -3, -6.75, -3.75, -.5, -.75, -.25};
    double *got = probe_numbers(su);
    for (int p = 0; p < 9; p++) {
        number_is(got[p], first[p], 1e-14);
    }
    double energy = 0;
    for (int p = 0; p < 18; p++) {
        energy += host[p] * got[p];
    }
    number_is(energy, 126, 1e-14);
    free(got);
    ok(rubus_csr_diagonal(s, d));
    got = probe_numbers(d);
    double trace = 0;
    for (int p = 0; p < 18; p++) {
        trace += got[p];
    }
    number_is(trace, 36, 1e-14);
    free(got);
    rubus_csr_destroy(s);
    rubus_array_destroy(u);
    rubus_array_destroy(su);
    rubus_array_destroy(d);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

/* --- against the kernels ---------------------------------------------------------- */

static const char *const stems[] = {"diffm", "diffp", "jump", "Dm", "Dp", "Mm",
                                    "Mp",    "Dstar", "Dc",   "Dw", "Mc", "lap"};
static const char *const spacings[] = {"", "",  "",  "h", "f", "",
                                       "", "s", "h", "h", "",  "hs"};
enum { STEMS = sizeof stems / sizeof stems[0] };

/* A module with a kernel op_axis(out r, in u [, spacings]) for every operator. */
static rubus_module *kernels(rubus_context *context, int ndim, int32_t real)
{
    static const char *const shape[3] = {"nx", "nx,ny", "nx,ny,nz"};
    char text[STEMS * 3 * 200] = "";
    size_t at = 0;
    for (int i = 0; i < STEMS; i++) {
        for (int d = 0; d < ndim; d++) {
            const char axis = "xyz"[d];
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   "kernel %s_%c(out real r[%s], in real u[%s]", stems[i],
                                   axis, shape[ndim - 1], shape[ndim - 1]);
            for (const char *s = spacings[i]; *s != '\0'; s++) {
                at += (size_t)snprintf(text + at, sizeof text - at, ", in real %c[n%c%s]",
                                       *s, axis, *s == 's' ? "-1" : "");
            }
            at += (size_t)snprintf(text + at, sizeof text - at, ") { r = %s_%c(u",
                                   stems[i], axis);
            for (const char *s = spacings[i]; *s != '\0'; s++) {
                at += (size_t)snprintf(text + at, sizeof text - at, ", %c", *s);
            }
            at += (size_t)snprintf(text + at, sizeof text - at, "); }\n");
        }
    }
    return backends_module(context, text, real, 0);
}

/* r = what the kernel of the operator gives. */
static void run_kernel(rubus_module *module, rubus_mesh *mesh, int i, int d,
                       rubus_array *r, rubus_array *u)
{
    char name[20];
    snprintf(name, sizeof name, "%s_%c", stems[i], "xyz"[d]);
    rubus_arg arg[4] = {rubus_arg_array(r), rubus_arg_array(u)};
    rubus_array *spacing[2] = {NULL, NULL};
    size_t n = 2;
    for (const char *s = spacings[i]; *s != '\0'; s++, n++) {
        const int32_t which = *s == 'h'   ? RUBUS_MESH_SPACING
                              : *s == 'f' ? RUBUS_MESH_FORWARD
                                          : RUBUS_MESH_STAR;
        ok(rubus_mesh_axis_array(mesh, d, which, &spacing[n - 2]));
        arg[n] = rubus_arg_array(spacing[n - 2]);
    }
    ok(rubus_launch_args(backends_kernel(module, name), arg, n));
    rubus_array_destroy(spacing[0]);
    rubus_array_destroy(spacing[1]);
}

static void against_kernels(rubus_context *context, int32_t type, int ndim,
                            const int64_t *n)
{
    double *x[3] = {NULL, NULL, NULL};
    rubus_mesh *mesh = model_mesh(context, type, ndim, n, x);
    rubus_space *space = space_of(mesh, 1);
    rubus_module *module = kernels(context, ndim, type);
    rubus_array *u = model_array(space, 0);
    rubus_array *r = model_array(space, 0);
    rubus_array *y = model_array(space, 0);
    const double eps = type == RUBUS_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
    for (int i = 0; i < STEMS; i++) {
        for (int d = 0; d < ndim; d++) {
            char name[20];
            snprintf(name, sizeof name, "%s_%c", stems[i], "xyz"[d]);
            rubus_csr *csr = matrix_of(space, name, 0);
            run_kernel(module, mesh, i, d, r, u);
            ok(rubus_spmv(1, csr, u, 0, y));
            double *want = probe_numbers(r);
            double *got = probe_numbers(y);
            double size = 0; // of the largest row: u is at most 1
            rubus_csr_info info = {.struct_size = sizeof info};
            rubus_csr_mirror m = {.struct_size = sizeof m};
            ok(rubus_csr_info_get(csr, &info));
            ok(rubus_csr_mirror_get(csr, &m));
            for (int64_t k = 0; k < info.nnz; k++) {
                size = fmax(size, fabs(type == RUBUS_F32 ? (double)((float *)m.nzval)[k]
                                                         : ((double *)m.nzval)[k]));
            }
            for (int64_t p = 0; p < rubus_array_count(u); p++) {
                ck_assert_msg(fabs(got[p] - want[p]) <= 12 * eps * size,
                              "%s at %lld: %.17g, the kernel has %.17g", name,
                              (long long)p, got[p], want[p]);
            }
            free(want);
            free(got);
            rubus_csr_destroy(csr);
        }
    }
    rubus_array_destroy(u);
    rubus_array_destroy(r);
    rubus_array_destroy(y);
    rubus_module_destroy(module);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    for (int d = 0; d < ndim; d++) {
        free(x[d]);
    }
}

START_TEST(test_case_10_02_matrices_equal_kernels)
{
    static const int64_t n[3][3] = {{9, 1, 1}, {7, 5, 1}, {5, 4, 6}};
    rubus_context *context = backends_open(_i);
    for (int ndim = 1; ndim <= 3; ndim++) {
        against_kernels(context, RUBUS_F64, ndim, n[ndim - 1]);
        against_kernels(context, RUBUS_F32, ndim, n[ndim - 1]);
    }
    backends_finish(context);
}
END_TEST

/* Components have blocks; lap is the sum of its axes; a single layer has empty rows. */
START_TEST(matrix_of_components_axes_and_layers)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_of(context, RUBUS_F64, 2,
                               (const rubus_axis_desc[]){axis_of(0, 1), axis_of(3)});
    rubus_space *pair = space_of(mesh, 2);
    rubus_csr *csr = matrix_of(pair, "Dm_x", 0);
    dense_4(csr, {0, 0, 0, 0, -1, 1, 0, 0, 0, 0, 0, 0, 0, 0, -1, 1});
    rubus_csr_destroy(csr);
    csr = matrix_of(pair, "diffm_y", 0);
    dense_4(csr, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
    rubus_csr_destroy(csr);
    csr = matrix_of(pair, "Dw_y", 0); // one point: 0
    dense_4(csr, {0});
    rubus_csr_destroy(csr);
    rubus_space_destroy(pair);
    rubus_mesh_destroy(mesh);
    mesh = mesh_of(context, RUBUS_F64, 2,
                   (const rubus_axis_desc[]){axis_of(0, 1), axis_of(0, 2)});
    rubus_space *space = space_of(mesh, 1);
    csr = matrix_of(space, "lap", 0);
    dense_4(csr, {-1.25, 1, .25, 0, 0, -.25, 0, .25, 0, 0, -1, 1, 0, 0, 0, 0});
    rubus_csr_destroy(csr);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

START_TEST(matrix_refuses_what_makes_no_sense)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh =
        mesh_of(context, RUBUS_F64, 2,
                (const rubus_axis_desc[]){axis_of(0, 1, 3), axis_of(0, 2)});
    rubus_space *space = space_of(mesh, 1);
    rubus_csr *csr = NULL;
    fails(rubus_space_operator_matrix(NULL, "Dm_x", 0, &csr), RUBUS_EINVAL, "space");
    fails(rubus_space_operator_matrix(space, NULL, 0, &csr), RUBUS_EINVAL,
          "name is NULL");
    fails(rubus_space_operator_matrix(space, "Dm_x", 0, NULL), RUBUS_EINVAL, "out_csr");
    fails(rubus_space_operator_matrix(space, "dx", 0, &csr), RUBUS_EINVAL, "'dx'|Dm_x");
    fails(rubus_space_operator_matrix(space, "inner_h", 0, &csr), RUBUS_EINVAL,
          "'inner_h'");
    fails(rubus_space_operator_matrix(space, "div", 0, &csr), RUBUS_EINVAL, "'div'");
    fails(rubus_space_operator_matrix(space, "Dm_z", 0, &csr), RUBUS_EINVAL,
          "'Dm_z'|2 axes|Dm_x");
    fails(rubus_space_operator_matrix(space, "Dm", 0, &csr), RUBUS_EINVAL, "name one");
    fails(rubus_space_operator_matrix(space, "Dm_x", 1, &csr), RUBUS_EINVAL,
          "k is 1|no shift");
    static const char *const wide[] = {"Dc_y", "Dw_y", "Mc_y"};
    for (int i = 0; i < 3; i++) {
        fails(rubus_space_operator_matrix(space, wide[i], 0, &csr), RUBUS_EINVAL,
              "3 points|axis 1");
    }
    ok(rubus_mesh_refine(mesh));
    fails(rubus_space_operator_matrix(space, "Dm_x", 0, &csr), RUBUS_ESTALE,
          "version 1|version 2");
    ck_assert_ptr_null(csr);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

START_TEST(matrix_survives_the_failure_of_any_allocation)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_013_023(context, RUBUS_F32);
    rubus_space *space = space_of(mesh, 2);
    const int64_t live = rubus__alloc_live();
    rubus_status st = RUBUS_ENOMEM;
    rubus_csr *csr = NULL;
    for (int64_t n = 1; st != RUBUS_OK; n++) {
        rubus__alloc_fail_after(n, true);
        st = rubus_space_operator_matrix(space, "lap", 0, &csr);
        rubus__alloc_fail_after(0, true);
        ck_assert_msg(st == RUBUS_OK || st == RUBUS_ENOMEM || st == RUBUS_EDEVMEM, "%s",
                      rubus_error_text());
        ck_assert_int_eq(rubus__alloc_live() == live, st != RUBUS_OK);
        ck_assert_int_lt(n, 100);
    }
    rubus_csr_destroy(csr);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

static Suite *matrix_suite(void)
{
    Suite *suite = suite_create("operator matrices");
    TCase *tc = tcase_create("backends");
    backends_add(tc, test_case_10_03_matrices_of_operators);
    backends_add(tc, test_case_10_03_composition_is_the_product);
    backends_add(tc, test_case_10_06_stiffness_from_matrices);
    backends_add(tc, test_case_10_02_matrices_equal_kernels);
    backends_add(tc, matrix_of_components_axes_and_layers);
    backends_add(tc, matrix_refuses_what_makes_no_sense);
    suite_add_tcase(suite, tc);
    TCase *memory = tcase_create("memory");
    tcase_set_tags(memory, "counts"); // see chaos_suite.sh
    backends_add(memory, matrix_survives_the_failure_of_any_allocation);
    suite_add_tcase(suite, memory);
    return suite;
}

RUBUS_TEST_MAIN("grid: operators as matrices", matrix_suite)
