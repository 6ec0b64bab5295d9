/* SPDX-License-Identifier: Apache-2.0 */
/* Inverses of Kronecker sums by fast diagonalisation, on every backend; and what they
 * stand on, the eigenvalues of tridiagonal matrices. */
#include "config.h"

#include <check.h>

#include "libcore/form/kronecker_inner.h"
#include "tests/grid/grid_probe.h"
#include "tests/grid/kronecker_model.h"
#include "tests/support/real_arrays.h"

/* --- eigenvalues ------------------------------------------------------------------ */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* -1/h^2, 2/h^2, -1/h^2 on N - 2 inner points of N: (4/h^2) sin^2(k pi h / 2). */
START_TEST(test_case_10_22_eigenvalues_of_a_factor)
{
    enum { MOST = 64 };
    double d[MOST];
    double e[MOST];
    double *z = malloc(sizeof(double) * MOST * MOST);
    for (int64_t n = 1; n <= MOST; n = 2 * n + n % 2) {
        const double h = 1.0 / (double)(n + 1);
        for (int64_t i = 0; i < n; i++) {
            d[i] = 2 / (h * h);
            e[i] = -1 / (h * h);
        }
        ck_assert(rubus__tridiagonal_eigen(n, d, e, z));
        qsort(d, (size_t)n, sizeof d[0], ascending);
        for (int64_t k = 1; k <= n; k++) {
            const double s = sin((double)k * acos(-1.0) * h / 2);
            const double want = 4 / (h * h) * s * s;
            ck_assert_msg(fabs(d[k - 1] - want) <= 1e-14 * 4 / (h * h),
                          "eigenvalue %lld of %lld is %.17g, not %.17g", (long long)k,
                          (long long)n, d[k - 1], want);
        }
    }
    free(z);
    ck_assert(rubus__tridiagonal_eigen(0, d, e, d));
}
END_TEST

/* T z = value z, and the vectors are orthonormal; also where the matrix falls apart, and
 * where entries differ by many orders. */
static void eigen_check(int64_t n, const double *diagonal, const double *beside)
{
    double *d = malloc((size_t)n * sizeof(double));
    double *e = malloc((size_t)n * sizeof(double));
    double *z = malloc((size_t)(n * n) * sizeof(double));
    double size = 0;
    for (int64_t i = 0; i < n; i++) {
        d[i] = diagonal[i];
        e[i] = beside[i];
        size = fmax(size, fabs(d[i]) + 2 * fabs(e[i]));
    }
    ck_assert(rubus__tridiagonal_eigen(n, d, e, z));
    for (int64_t k = 0; k < n; k++) {
        const double *v = z + k * n;
        for (int64_t i = 0; i < n; i++) {
            const double tv = diagonal[i] * v[i] +
                              (i > 0 ? beside[i - 1] * v[i - 1] : 0) +
                              (i + 1 < n ? beside[i] * v[i + 1] : 0);
            ck_assert_double_le(fabs(tv - d[k] * v[i]), 1e-14 * (double)n * size);
        }
        for (int64_t j = 0; j <= k; j++) {
            double dot = 0;
            for (int64_t i = 0; i < n; i++) {
                dot += v[i] * z[i + j * n];
            }
            ck_assert_double_le(fabs(dot - (j == k ? 1 : 0)), 1e-14 * (double)n);
        }
    }
    free(d);
    free(e);
    free(z);
}

START_TEST(tridiagonal_eigenvectors_are_orthonormal)
{
    double d[40];
    double e[40];
    for (int64_t i = 0; i < 40; i++) {
        d[i] = model_number(i);
        e[i] = model_number(i + 100);
    }
    eigen_check(40, d, e);
    e[7] = 0; // two matrices
    e[8] = 0; // and a number
    eigen_check(40, d, e);
    for (int64_t i = 0; i < 40; i++) {
        d[i] *= pow(10, (double)(i % 9));
    }
    eigen_check(40, d, e);
    for (int64_t i = 0; i < 40; i++) {
        d[i] = 1; // all equal
        e[i] = 0;
    }
    eigen_check(40, d, e);
}
END_TEST

START_TEST(tridiagonal_of_no_numbers_has_no_eigenvalues)
{
    double d[3] = {1, NAN, 2};
    double e[3] = {1, 1, 0};
    double z[9];
    ck_assert(!rubus__tridiagonal_eigen(3, d, e, z));
    double infinite[3] = {1, INFINITY, 2};
    double beside[3] = {1, 1, 0};
    ck_assert(!rubus__tridiagonal_eigen(3, infinite, beside, z));
}
END_TEST

/* --- solutions -------------------------------------------------------------------- */

static rubus_fdm *fdm_of(rubus_operator *op)
{
    rubus_fdm *fdm = NULL;
    ok(rubus_fdm_create(op, &fdm));
    return fdm;
}

/* The stiffness on 17 x 9 points of the unit square, Dirichlet, 2 pi^2 sin sin. */
START_TEST(test_case_10_22_solution)
{
    enum { NX = 17, NY = 9, N = NX * NY };
    const double pi = acos(-1.0);
    rubus_context *context = backends_open(_i);
    for (int t = 0; t < 2; t++) {
        const int32_t type = t == 0 ? RUBUS_F64 : RUBUS_F32;
        rubus_mesh *mesh = NULL;
        ok(rubus_mesh_create_box(context, type, RUBUS_SHAPE(NX, NY), probe_pair(0, 0),
                                 probe_pair(1, 1), &mesh));
        rubus_space *space = space_of(mesh, 1);
        double f[N];
        double want[N];
        for (int k = 0; k < N; k++) {
            const double x = (k % NX) / 16.0; // cells are 1/16 and 1/8 inside
            const double y = (k / NX) / 8.0;
            const bool edge = x == 0 || x == 1 || y == 0 || y == 1;
            const double s = edge ? 0 : sin(pi * x) * sin(pi * y);
            f[k] = 2 * pi * pi * s / 128;
            want[k] = 1.0080613685734474 * s;
        }
        rubus_array *F = probe_array(space, f);
        rubus_array *u = model_array(space, 0);
        const rubus_kronecker_term term[2] = {kron_term(X, 1), kron_term(Y, 1)};
        rubus_operator *op = NULL;
        ok(rubus_kronecker_create(space, term, 2, "boundary", &op));
        rubus_fdm *fdm = fdm_of(op);
        ok(rubus_fdm_solve(fdm, F, u));
        double got[N];
        real_read(u, got);
        for (int k = 0; k < N; k++) {
            ck_assert_msg(fabs(got[k] - want[k]) <= (t == 0 ? 1e-13 : 1e-5),
                          "element %d is %.17g, not %.17g", k, got[k], want[k]);
        }
        rubus_fdm_destroy(fdm);
        rubus_operator_destroy(op);
        rubus_array_destroy(F);
        rubus_array_destroy(u);
        rubus_space_destroy(space);
        rubus_mesh_destroy(mesh);
    }
    backends_finish(context);
}
END_TEST

/* A u = F after u = inverse of A times F, F being A times known numbers. */
static void inverse_check(rubus_space *space, rubus_operator *op, rubus_fdm *fdm,
                          double rtol)
{
    rubus_array *v = model_array(space, 0);
    rubus_array *F = model_array(space, 50);
    rubus_array *u = model_array(space, 99);
    const int64_t n = rubus_array_count(v);
    double *want = malloc((size_t)n * sizeof(double));
    double *got = malloc((size_t)n * sizeof(double));
    ok(rubus_operator_apply(op, 1, v, 0, F));
    ok(rubus_fdm_solve(fdm, F, u));
    real_read(v, want);
    real_read(u, got);
    for (int64_t i = 0; i < n; i++) {
        ck_assert_msg(fabs(got[i] - want[i]) <= rtol, "element %lld is %.17g, not %.17g",
                      (long long)i, got[i], want[i]);
    }
    free(want);
    free(got);
    rubus_array_destroy(v);
    rubus_array_destroy(F);
    rubus_array_destroy(u);
}

/* Every number of axes, faces free or held at values that are not 0, more points than a
 * tile and fewer, one point, nothing left. */
START_TEST(fdm_solves_what_the_operator_applies)
{
    static const struct {
        int ndim;
        int64_t n[3];
        const char *labels;
        double mass;
    } all[] = {{1, {23, 1, 1}, NULL, 1},       {1, {9, 1, 1}, "left", 0},
               {2, {19, 6, 1}, NULL, 2.5},     {2, {5, 21, 1}, "boundary", 0},
               {2, {8, 16, 1}, "top", 0},      {3, {9, 8, 7}, NULL, 1},
               {3, {10, 5, 6}, "back,top", 0}, {3, {2, 17, 3}, "boundary", 0},
               {2, {2, 2, 1}, "boundary", 0},  {3, {3, 3, 3}, "boundary", 0}};
    rubus_context *context = backends_open(_i);
    for (size_t s = 0; s < sizeof all / sizeof all[0]; s++) {
        for (int t = 0; t < 2; t++) {
            double *x[3] = {NULL, NULL, NULL};
            rubus_mesh *mesh = model_mesh(context, t == 0 ? RUBUS_F64 : RUBUS_F32,
                                          all[s].ndim, all[s].n, x);
            rubus_space *space = space_of(mesh, 1);
            const rubus_kronecker_term term[4] = {kron_term(MASS, all[s].mass),
                                                  kron_term(X, 1), kron_term(Y, 0.5),
                                                  kron_term(Z, 2)};
            rubus_operator *op = NULL;
            ok(rubus_kronecker_create(space, term, all[s].ndim + 1, all[s].labels, &op));
            rubus_fdm *fdm = fdm_of(op);
            // condition numbers are below 1e4 on these meshes
            inverse_check(space, op, fdm, t == 0 ? 1e-10 : 2e-2);
            ok(rubus_kronecker_set(op, 0, 7.5)); // factors are live
            inverse_check(space, op, fdm, t == 0 ? 1e-10 : 2e-2);
            rubus_operator_destroy(op); // the fdm needs it no longer
            rubus_array *F = model_array(space, 0);
            rubus_array *u = model_array(space, 1);
            ok(rubus_fdm_solve(fdm, F, u));
            rubus_array_destroy(F);
            rubus_array_destroy(u);
            rubus_fdm_destroy(fdm);
            rubus_space_destroy(space);
            rubus_mesh_destroy(mesh);
            for (int d = 0; d < 3; d++) {
                free(x[d]);
            }
        }
    }
    backends_finish(context);
}
END_TEST

/* Several components, and an axis that is a single layer. */
START_TEST(fdm_solves_every_component_and_layer)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_of(
        context, RUBUS_F64, 3,
        (const rubus_axis_desc[]){axis_of(0, 1, 3), axis_of(4), axis_of(0, 2, 3)});
    rubus_space *space = space_of(mesh, 3);
    const rubus_kronecker_term term[3] = {kron_term(X, 1), kron_term(Y, 1),
                                          kron_term(Z, 1)};
    rubus_operator *op = NULL;
    ok(rubus_kronecker_create(space, term, 3, "xmax", &op));
    rubus_fdm *fdm = fdm_of(op);
    inverse_check(space, op, fdm, 1e-12);
    rubus_fdm_destroy(fdm);
    rubus_operator_destroy(op);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

/* --- refused ---------------------------------------------------------------------- */

static rubus_status apply_nothing(void *self, double alpha, rubus_array *x, double beta,
                                  rubus_array *y)
{
    (void)self;
    (void)alpha;
    (void)x;
    (void)beta;
    (void)y;
    return RUBUS_OK;
}

START_TEST(fdm_refuses_what_does_not_fit)
{
    rubus_context *context = backends_open(_i);
    rubus_context *other = backends_open(_i);
    rubus_mesh *mesh = mesh_013_023(context, RUBUS_F64);
    rubus_space *space = space_of(mesh, 1);
    rubus_array *u = model_array(space, 0);
    rubus_array *F = model_array(space, 0);
    rubus_fdm *fdm = NULL;
    rubus_operator *op = NULL;
    const double three[3] = {1, 2, 3};
    rubus_array *c = real_array(context, RUBUS_F64, RUBUS_SHAPE(3), three);
    rubus_array *foreign = real_array(other, RUBUS_F64, RUBUS_SHAPE(3, 3), three);
    const rubus_operator_ops ops = {.struct_size = sizeof ops, .apply = apply_nothing};
    const rubus_kronecker_term varies[2] = {
        kron_term(X, 1), {.kind = RUBUS_KRONECKER_Y, .alpha = 1, .coefficient = c}};
    const rubus_kronecker_term term[3] = {kron_term(X, 1), kron_term(Y, 1),
                                          kron_term(MASS, 0)};
    fails(rubus_fdm_create(NULL, &fdm), RUBUS_EINVAL, "operator is NULL");
    ok(rubus_operator_create(context, 9, &ops, NULL, &op));
    fails(rubus_fdm_create(op, &fdm), RUBUS_EINVAL, "rubus_kronecker_create");
    fails(rubus_kronecker_set(op, 0, 1), RUBUS_EINVAL, "no Kronecker sum");
    rubus_operator_destroy(op);
    ok(rubus_kronecker_create(space, varies, 2, NULL, &op));
    fails(rubus_fdm_create(op, NULL), RUBUS_EINVAL, "out_fdm");
    fails(rubus_fdm_create(op, &fdm), RUBUS_EINVAL, "term 1|rubus_solve_cg");
    rubus_operator_destroy(op);
    ok(rubus_kronecker_create(space, term, 3, "interior", &op));
    fails(rubus_fdm_create(op, &fdm), RUBUS_EINVAL, "interior");
    rubus_operator_destroy(op);
    ck_assert_ptr_null(fdm);
    ok(rubus_kronecker_create(space, term, 3, NULL, &op));
    fdm = fdm_of(op);
    fails(rubus_fdm_solve(fdm, F, u), RUBUS_EINVAL, "singular|mass");
    ok(rubus_kronecker_set(op, 2, 1));
    ok(rubus_fdm_solve(fdm, F, u));
    ok(rubus_kronecker_set(op, 2, 0)); // and singular again
    fails(rubus_fdm_solve(fdm, F, u), RUBUS_EINVAL, "singular|mass");
    ok(rubus_kronecker_set(op, 2, 1));
    fails(rubus_fdm_solve(NULL, F, u), RUBUS_EINVAL, "fdm is NULL");
    fails(rubus_fdm_solve(fdm, NULL, u), RUBUS_EINVAL, "F is NULL");
    fails(rubus_fdm_solve(fdm, F, NULL), RUBUS_EINVAL, "u is NULL");
    fails(rubus_fdm_solve(fdm, F, c), RUBUS_ESHAPE, "u is 3");
    fails(rubus_fdm_solve(fdm, foreign, u), RUBUS_EFOREIGN, "F lives on");
    fails(rubus_fdm_solve(fdm, u, u), RUBUS_EALIAS, "share memory");
    ok(rubus_mesh_refine(mesh));
    fails(rubus_fdm_solve(fdm, F, u), RUBUS_ESTALE, "version 1|version 2");
    rubus_fdm *stale = NULL;
    fails(rubus_fdm_create(op, &stale), RUBUS_ESTALE, "version 1|version 2");
    rubus_fdm_destroy(fdm);
    rubus_fdm_destroy(NULL);
    rubus_operator_destroy(op);
    rubus_array_destroy(u);
    rubus_array_destroy(F);
    rubus_array_destroy(c);
    rubus_array_destroy(foreign);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    rubus_context_destroy(other);
    backends_finish(context);
}
END_TEST

/* 1/h^2 is beyond all numbers. */
START_TEST(fdm_of_a_tiny_axis_is_refused)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_of(context, RUBUS_F64, 1, &axis_of(0, 1e-160, 3e-160));
    rubus_space *space = space_of(mesh, 1);
    const rubus_kronecker_term term = kron_term(X, 1);
    rubus_operator *op = NULL;
    rubus_fdm *fdm = NULL;
    ok(rubus_kronecker_create(space, &term, 1, "left", &op));
    fails(rubus_fdm_create(op, &fdm), RUBUS_ELIMIT, "axis 0|spacings");
    ck_assert_ptr_null(fdm);
    rubus_operator_destroy(op);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

START_TEST(fdm_survives_the_failure_of_any_allocation)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_013_023(context, RUBUS_F32);
    rubus_space *space = space_of(mesh, 1);
    const rubus_kronecker_term term[2] = {kron_term(X, 1), kron_term(Y, 1)};
    rubus_operator *op = NULL;
    ok(rubus_kronecker_create(space, term, 2, "left", &op));
    rubus_fdm *fdm = fdm_of(op);
    rubus_array *F = model_array(space, 0);
    rubus_array *u = model_array(space, 0);
    ok(rubus_fdm_solve(fdm, F, u)); // the kernels are made
    rubus_fdm_destroy(fdm);
    const int64_t live = rubus__alloc_live();
    rubus_status st = RUBUS_ENOMEM;
    for (int64_t n = 1; st != RUBUS_OK; n++) {
        fdm = NULL;
        rubus__alloc_fail_after(n, true);
        st = rubus_fdm_create(op, &fdm);
        st = st == RUBUS_OK ? rubus_fdm_solve(fdm, F, u) : st;
        rubus__alloc_fail_after(0, true);
        ck_assert_msg(st == RUBUS_OK || st == RUBUS_ENOMEM || st == RUBUS_EDEVMEM, "%s",
                      rubus_error_text());
        rubus_fdm_destroy(fdm);
        ck_assert_int_eq(rubus__alloc_live(), live);
        ck_assert_int_lt(n, 300);
    }
    rubus_array_destroy(F);
    rubus_array_destroy(u);
    rubus_operator_destroy(op);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

static Suite *fdm_suite(void)
{
    Suite *suite = suite_create("fdm");
    TCase *eigen = tcase_create("eigenvalues");
    tcase_add_test(eigen, test_case_10_22_eigenvalues_of_a_factor);
    tcase_add_test(eigen, tridiagonal_eigenvectors_are_orthonormal);
    tcase_add_test(eigen, tridiagonal_of_no_numbers_has_no_eigenvalues);
    suite_add_tcase(suite, eigen);
    TCase *tc = tcase_create("backends");
    backends_add(tc, test_case_10_22_solution);
    backends_add(tc, fdm_solves_what_the_operator_applies);
    backends_add(tc, fdm_solves_every_component_and_layer);
    backends_add(tc, fdm_refuses_what_does_not_fit);
    backends_add(tc, fdm_of_a_tiny_axis_is_refused);
    suite_add_tcase(suite, tc);
    TCase *memory = tcase_create("memory");
    tcase_set_tags(memory, "counts"); // see chaos_suite.sh
    backends_add(memory, fdm_survives_the_failure_of_any_allocation);
    suite_add_tcase(suite, memory);
    return suite;
}

RUBUS_TEST_MAIN("grid: fast diagonalisation", fdm_suite)
