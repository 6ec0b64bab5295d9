/* SPDX-License-Identifier: Apache-2.0 */
/* Kronecker sums as operators, on every backend. */
#include "config.h"

#include <check.h>

#include "tests/grid/grid_probe.h"
#include "tests/grid/kronecker_model.h"
#include "tests/support/real_arrays.h"

#define kronecker(space, labels, ...)                                                    \
    kronecker_of((space), (labels), (const rubus_kronecker_term[]){__VA_ARGS__},         \
                 (int32_t)(sizeof((rubus_kronecker_term[]){__VA_ARGS__}) /               \
                           sizeof(rubus_kronecker_term)))

static rubus_operator *kronecker_of(rubus_space *space, const char *labels,
                                    const rubus_kronecker_term *term, int32_t nterm)
{
    rubus_operator *op = NULL;
    ok(rubus_kronecker_create(space, term, nterm, labels, &op));
    return op;
}

/* --- case 10.21 ------------------------------------------------------------------- */

/* v = x y on [0, 1, 3] x [0, 2, 3]. */
START_TEST(test_case_10_21_stiffness_and_mass)
{
    rubus_context *context = backends_open(_i);
    for (int t = 0; t < 2; t++) {
        const int32_t type = t == 0 ? RUBUS_F64 : RUBUS_F32;
        const double rtol = t == 0 ? 1e-14 : 1e-6;
        rubus_mesh *mesh = mesh_013_023(context, type);
        rubus_space *space = space_of(mesh, 1);
        rubus_array *v = array_of(space, 0, 0, 0, 0, 2, 6, 0, 3, 9);
        rubus_array *y = NULL;
        ok(rubus_space_array(space, 0, &y));
        rubus_operator *op = kronecker(space, NULL, kron_term(X, 1), kron_term(Y, 1),
                                       kron_term(MASS, 2.5));
        ok(rubus_operator_apply(op, 1, v, 0, y));
        array_is(y, rtol, 0, -1.5, -3, -3, 11.25, 25.5, -1.5, 7.125, 15.75);
        ok(rubus_kronecker_set(op, 2, 0)); // the stiffness alone
        ok(rubus_operator_apply(op, 1, v, 0, y));
        array_is(y, rtol, 0, -1.5, -3, -3, 0, 3, -1.5, 1.5, 4.5);
        ck_assert_int_eq(rubus_operator_symmetric(op), RUBUS_SYMMETRIC_YES);
        ck_assert_int_eq(rubus_operator_size(op), 9);
        ck_assert_int_eq(rubus_operator_real(op), type);
        rubus_operator_destroy(op);
        rubus_array_destroy(v);
        rubus_array_destroy(y);
        rubus_space_destroy(space);
        rubus_mesh_destroy(mesh);
    }
    backends_finish(context);
}
END_TEST

/* Columns of the stiffness matrices of [0, 1, 3] and [0, 2, 3]. */
START_TEST(test_case_10_21_matrices_of_an_axis)
{
    static const double columns[2][3][3] = {{{1, -1, 0}, {-1, 1.5, -.5}, {0, -.5, .5}},
                                            {{.5, -.5, 0}, {-.5, 1.5, -1}, {0, -1, 1}}};
    rubus_context *context = backends_open(_i);
    for (int a = 0; a < 2; a++) {
        rubus_mesh *mesh = mesh_of(context, RUBUS_F64, 1,
                                   a == 0 ? &axis_of(0, 1, 3) : &axis_of(0, 2, 3));
        rubus_space *space = space_of(mesh, 1);
        rubus_operator *op = kronecker(space, NULL, kron_term(X, 1));
        for (int j = 0; j < 3; j++) {
            rubus_array *e = array_of(space, j == 0, j == 1, j == 2);
            rubus_array *y = NULL;
            ok(rubus_space_array(space, 0, &y));
            ok(rubus_operator_apply(op, 1, e, 0, y));
            probe_near(y, columns[a][j], 3, 1e-15, "a column");
            rubus_array_destroy(e);
            rubus_array_destroy(y);
        }
        rubus_operator_destroy(op);
        rubus_space_destroy(space);
        rubus_mesh_destroy(mesh);
    }
    backends_finish(context);
}
END_TEST

/* --- against the model ------------------------------------------------------------ */

/* Terms of all kinds, with coefficients along every axis, on a mesh of random axes. */
typedef struct against {
    int ndim;
    int64_t n[3];
    int64_t count;
    double *x[3];
    double *c[3]; /* a coefficient along each axis */
    rubus_array *c_array[3];
    int nterm;
    model_term model[16];
    rubus_kronecker_term term[16];
    rubus_mesh *mesh;
    rubus_space *space;
} against;

static void against_add(against *a, int32_t kind, double alpha, int along)
{
    rubus_kronecker_term *t = &a->term[a->nterm];
    *t = (rubus_kronecker_term){.kind = kind, .alpha = alpha};
    a->model[a->nterm].c = NULL;
    if (along >= 0) {
        t->along = along;
        t->coefficient = a->c_array[along];
        a->model[a->nterm].c = a->c[along];
    }
    a->model[a->nterm].term = *t;
    a->nterm++;
}

static against against_open(rubus_context *context, int32_t type, int ndim, int64_t nx,
                            int64_t ny, int64_t nz)
{
    against a = {.ndim = ndim, .n = {nx, ny, nz}};
    a.count = nx * ny * nz;
    a.mesh = model_mesh(context, type, ndim, a.n, a.x);
    a.space = space_of(a.mesh, 1);
    for (int d = 0; d < ndim; d++) {
        a.c[d] = malloc((size_t)a.n[d] * sizeof(double));
        for (int64_t i = 0; i < a.n[d]; i++) {
            a.c[d][i] = (double)(float)(1.25 + model_number(i + d));
        }
        a.c_array[d] = real_array(context, type, RUBUS_SHAPE(a.n[d]), a.c[d]);
    }
    against_add(&a, RUBUS_KRONECKER_MASS, 2.5, -1);
    for (int d = 0; d < ndim; d++) {
        against_add(&a, d + 1, 1, -1);
    }
    return a;
}

/* Every kind with a coefficient along every axis. */
static void against_add_coefficients(against *a)
{
    for (int32_t kind = 0; kind <= a->ndim; kind++) {
        for (int along = 0; along < a->ndim; along++) {
            against_add(a, kind, 0.5 + 0.25 * kind - 0.1 * along, along);
        }
    }
}

static void against_close(against *a)
{
    for (int d = 0; d < a->ndim; d++) {
        free(a->x[d]);
        free(a->c[d]);
        rubus_array_destroy(a->c_array[d]);
    }
    rubus_space_destroy(a->space);
    rubus_mesh_destroy(a->mesh);
}

/* alpha A u + beta y with and without y, and the diagonal, as the model has them. */
static void against_check(against *a, rubus_operator *op, const uint8_t *on, double rtol)
{
    const size_t room = (size_t)a->count * sizeof(double);
    double *u = malloc(room);
    double *want = malloc(room);
    double *size = malloc(room);
    double *got = malloc(room);
    rubus_array *ua = model_array(a->space, 0);
    rubus_array *ya = model_array(a->space, 100);
    real_read(ua, u);
    model_apply(a->ndim, a->n, a->x, a->model, a->nterm, on, u, want, size);
    ok(rubus_operator_apply(op, 1.5, ua, -0.5, ya));
    real_read(ya, got);
    for (int64_t i = 0; i < a->count; i++) {
        const double y = 1.5 * want[i] - 0.5 * model_number(100 + i);
        ck_assert_msg(fabs(got[i] - y) <= rtol * (1.5 * size[i] + 0.5),
                      "element %lld is %.17g, not %.17g", (long long)i, got[i], y);
    }
    ok(rubus_array_fill(ya, NAN));
    ok(rubus_operator_apply(op, 1, ua, 0, ya)); // what y was does not matter
    real_read(ya, got);
    for (int64_t i = 0; i < a->count; i++) {
        ck_assert_msg(fabs(got[i] - want[i]) <= rtol * size[i],
                      "element %lld is %.17g, not %.17g", (long long)i, got[i], want[i]);
    }
    ok(rubus_operator_diagonal(op, ya));
    real_read(ya, got);
    for (int64_t i = 0; i < a->count; i++) {
        const double d = on != NULL && on[i] != 0
                             ? 1
                             : model_entry(a->ndim, a->n, a->x, a->model, a->nterm, i, i);
        ck_assert_msg(fabs(got[i] - d) <= rtol * fabs(d),
                      "diagonal element %lld is %.17g, not %.17g", (long long)i, got[i],
                      d);
    }
    rubus_array_destroy(ua);
    rubus_array_destroy(ya);
    free(u);
    free(want);
    free(size);
    free(got);
}

START_TEST(test_case_10_21_equals_its_matrix)
{
    static const int64_t sizes[][4] = {
        {2, 31, 17, 1}, {3, 9, 8, 7}, {1, 23, 1, 1}, {2, 2, 3, 1}};
    rubus_context *context = backends_open(_i);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (int t = 0; t < 2; t++) {
            against a =
                against_open(context, t == 0 ? RUBUS_F64 : RUBUS_F32, (int)sizes[s][0],
                             sizes[s][1], sizes[s][2], sizes[s][3]);
            const double rtol = t == 0 ? 1e-12 : 2e-5;
            rubus_operator *op = kronecker_of(a.space, NULL, a.term, a.nterm);
            against_check(&a, op, NULL, rtol);
            rubus_operator_destroy(op);
            against_add_coefficients(&a);
            op = kronecker_of(a.space, NULL, a.term, a.nterm);
            against_check(&a, op, NULL, rtol);
            rubus_operator_destroy(op);
            against_close(&a);
        }
    }
    backends_finish(context);
}
END_TEST

/* Factors and coefficients count as they are at the time of use. */
START_TEST(kronecker_reads_live_factors_and_coefficients)
{
    rubus_context *context = backends_open(_i);
    against a = against_open(context, RUBUS_F64, 2, 6, 5, 1);
    against_add_coefficients(&a);
    rubus_operator *op = kronecker_of(a.space, NULL, a.term, a.nterm);
    against_check(&a, op, NULL, 1e-12);
    a.model[1].term.alpha = -3;
    ok(rubus_kronecker_set(op, 1, -3));
    against_check(&a, op, NULL, 1e-12);
    for (int64_t i = 0; i < 5; i++) {
        a.c[1][i] = 4 - (double)i / 2;
    }
    ok(rubus_array_write(a.c_array[1], a.c[1], 5 * sizeof(double)));
    against_check(&a, op, NULL, 1e-12);
    // nothing changed: one launch, and no transfer
    rubus_array *u = model_array(a.space, 0);
    rubus_array *y = model_array(a.space, 0);
    const rubus_context_counters before = probe_counters(context);
    ok(rubus_operator_apply(op, 1, u, 0, y));
    const rubus_context_counters after = probe_counters(context);
    ck_assert_uint_eq(after.launches - before.launches, 1);
    ck_assert_uint_eq(after.read_calls + after.write_calls,
                      before.read_calls + before.write_calls);
    rubus_array_destroy(u);
    rubus_array_destroy(y);
    rubus_operator_destroy(op);
    against_close(&a);
    backends_finish(context);
}
END_TEST

START_TEST(kronecker_with_labels_has_rows_of_the_identity)
{
    rubus_context *context = backends_open(_i);
    for (int ndim = 1; ndim <= 3; ndim++) {
        against a =
            against_open(context, RUBUS_F64, ndim, 5, ndim > 1 ? 4 : 1, ndim > 2 ? 4 : 1);
        rubus_operator *op = kronecker_of(a.space, "xmin,boundary", a.term, a.nterm);
        rubus_array *mask = NULL;
        ok(rubus_operator_constraint(op, &mask));
        uint8_t *on = malloc((size_t)a.count);
        ok(rubus_array_read(mask, on, (size_t)a.count));
        int64_t held = 0;
        for (int64_t i = 0; i < a.count; i++) {
            held += on[i];
        }
        ck_assert_int_eq(held, a.count - (ndim == 1 ? 3 : ndim == 2 ? 6 : 12));
        against_check(&a, op, on, 1e-12);
        free(on);
        rubus_operator_destroy(op);
        against_close(&a);
    }
    backends_finish(context);
}
END_TEST

/* Two components: each gets what one alone gets; so does a mask. */
START_TEST(kronecker_applies_to_every_component)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_013_023(context, RUBUS_F64);
    rubus_space *pair = space_of(mesh, 2);
    rubus_array *v =
        array_of(pair, 0, 0, 0, 0, 2, 6, 0, 3, 9, 0, 0, 0, 0, 4, 12, 0, 6, 18);
    rubus_array *y = NULL;
    ok(rubus_space_array(pair, 0, &y));
    rubus_operator *op = kronecker(pair, NULL, kron_term(X, 1), kron_term(Y, 1));
    ck_assert_int_eq(rubus_operator_size(op), 18);
    ok(rubus_operator_apply(op, 1, v, 0, y));
    array_is(y, 1e-14, 0, -1.5, -3, -3, 0, 3, -1.5, 1.5, 4.5, 0, -3, -6, -6, 0, 6, -3, 3,
             9);
    rubus_operator_destroy(op);
    op = kronecker(pair, "left", kron_term(X, 1), kron_term(Y, 1));
    rubus_array *mask = NULL;
    ok(rubus_operator_constraint(op, &mask));
    array_is(mask, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0);
    ok(rubus_operator_apply(op, 1, v, 0, y));
    array_is(y, 1e-14, 0, -1.5, -3, 0, 0, 3, 0, 1.5, 4.5, 0, -3, -6, 0, 0, 6, 0, 3, 9);
    ok(rubus_operator_diagonal(op, y));
    array_is(y, 1e-14, 1, 2.25, 1, 1, 4.5, 2.25, 1, 2.25, 1.25, 1, 2.25, 1, 1, 4.5, 2.25,
             1, 2.25, 1.25);
    rubus_operator_destroy(op);
    rubus_array_destroy(v);
    rubus_array_destroy(y);
    rubus_space_destroy(pair);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

/* -u'' = 2 on [0, 1, 3, 5] with u = x (5 - x) at the ends: exact at the points. */
START_TEST(kronecker_is_solved_by_cg)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_0135(context, RUBUS_F64);
    rubus_space *space = space_of(mesh, 1);
    rubus_operator *op = kronecker(space, "boundary", kron_term(X, 1));
    rubus_array *F = array_of(space, 0, 3, 4, 0); // 2 times the cells
    rubus_array *u = array_of(space, 9, 9, 9, 9);
    rubus_krylov_report report = {.struct_size = sizeof report};
    ok(rubus_solve_cg(op, F, u, NULL, &report));
    ck_assert_int_eq(report.outcome, RUBUS_OUTCOME_CONVERGED);
    array_is(u, 1e-9, 0, 4, 6, 0);
    rubus_array_destroy(F);
    rubus_array_destroy(u);
    rubus_operator_destroy(op);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

/* --- refused ---------------------------------------------------------------------- */

#define refused(status, words, ...)                                                      \
    fails(rubus_kronecker_create(space, &(const rubus_kronecker_term)__VA_ARGS__, 1,     \
                                 NULL, &op),                                             \
          (status), (words))

START_TEST(kronecker_refuses_what_does_not_fit)
{
    rubus_context *context = backends_open(_i);
    rubus_context *other = backends_open(_i);
    rubus_mesh *mesh = mesh_013_023(context, RUBUS_F64);
    rubus_space *space = space_of(mesh, 1);
    rubus_operator *op = NULL;
    const double three[3] = {1, 2, 3};
    rubus_array *c = real_array(context, RUBUS_F64, RUBUS_SHAPE(3), three);
    rubus_array *narrow = real_array(context, RUBUS_F32, RUBUS_SHAPE(3), three);
    rubus_array *two = real_array(context, RUBUS_F64, RUBUS_SHAPE(2), three);
    rubus_array *foreign = real_array(other, RUBUS_F64, RUBUS_SHAPE(3), three);
    const rubus_kronecker_term good = {.kind = RUBUS_KRONECKER_X, .alpha = 1};
    fails(rubus_kronecker_create(NULL, &good, 1, NULL, &op), RUBUS_EINVAL,
          "space is NULL");
    fails(rubus_kronecker_create(space, NULL, 1, NULL, &op), RUBUS_EINVAL, "NULL");
    fails(rubus_kronecker_create(space, &good, 0, NULL, &op), RUBUS_EINVAL, "0 terms");
    fails(rubus_kronecker_create(space, &good, 1, NULL, NULL), RUBUS_EINVAL, "NULL");
    fails(rubus_kronecker_create(space, &good, 1, "inlet", &op), RUBUS_ENOTFOUND,
          "inlet");
    refused(RUBUS_EINVAL, "term 0|kind 3|_X, _Y", {.kind = RUBUS_KRONECKER_Z});
    refused(RUBUS_EINVAL, "term 0|kind -1", {.kind = -1});
    refused(RUBUS_EINVAL, "term 0|axis 2|with 2", {.along = 2, .coefficient = c});
    refused(RUBUS_EINVAL, "factor of term 0", {.alpha = INFINITY});
    refused(RUBUS_ETYPE, "term 0|f32|f64", {.coefficient = narrow});
    refused(RUBUS_ESHAPE, "term 0|2 elements|3 points", {.coefficient = two});
    refused(RUBUS_EFOREIGN, "term 0|another context", {.coefficient = foreign});
    ck_assert_ptr_null(op);
    op =
        kronecker(space, NULL, {.kind = RUBUS_KRONECKER_X, .alpha = 1, .coefficient = c});
    rubus_array_destroy(c); // the operator keeps its memory
    rubus_array *u = model_array(space, 0);
    rubus_array *y = model_array(space, 0);
    ok(rubus_operator_apply(op, 1, u, 0, y));
    fails(rubus_operator_apply(op, 1, u, 0, u), RUBUS_EALIAS, "share memory");
    fails(rubus_operator_apply(op, 1, u, 0, foreign), RUBUS_EFOREIGN, "another context");
    fails(rubus_kronecker_set(NULL, 0, 1), RUBUS_EINVAL, "NULL");
    fails(rubus_kronecker_set(op, 1, 1), RUBUS_EINVAL, "term 1|there are 1");
    fails(rubus_kronecker_set(op, -1, 1), RUBUS_EINVAL, "term -1");
    fails(rubus_kronecker_set(op, 0, NAN), RUBUS_EINVAL, "finite");
    ok(rubus_mesh_refine(mesh));
    fails(rubus_operator_apply(op, 1, u, 0, y), RUBUS_ESTALE, "version 1|version 2");
    fails(rubus_operator_diagonal(op, y), RUBUS_ESTALE, "version 1|version 2");
    rubus_operator *stale = NULL;
    fails(rubus_kronecker_create(space, &good, 1, NULL, &stale), RUBUS_ESTALE,
          "version 1");
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    rubus_operator_destroy(op);
    rubus_array_destroy(u);
    rubus_array_destroy(y);
    rubus_array_destroy(narrow);
    rubus_array_destroy(two);
    rubus_array_destroy(foreign);
    rubus_context_destroy(other);
    backends_finish(context);
}
END_TEST

START_TEST(kronecker_survives_the_failure_of_any_allocation)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_013_023(context, RUBUS_F64);
    rubus_space *pair = space_of(mesh, 2);
    const double three[3] = {1, 2, 3};
    rubus_array *c = real_array(context, RUBUS_F64, RUBUS_SHAPE(3), three);
    rubus_array *u = model_array(pair, 0);
    rubus_array *y = model_array(pair, 0);
    const rubus_kronecker_term term[2] = {
        {.kind = RUBUS_KRONECKER_X, .alpha = 1},
        {.kind = RUBUS_KRONECKER_Y, .alpha = 1, .coefficient = c}};
    rubus_operator *op = kronecker_of(pair, "left", term, 2);
    ok(rubus_operator_apply(op, 1, u, 0, y)); // the kernels and masks are made
    rubus_operator_destroy(op);
    const int64_t live = rubus__alloc_live();
    rubus_status st = RUBUS_ENOMEM;
    for (int64_t n = 1; st != RUBUS_OK; n++) {
        op = NULL;
        rubus__alloc_fail_after(n, true);
        st = rubus_kronecker_create(pair, term, 2, "left", &op);
        st = st == RUBUS_OK ? rubus_operator_apply(op, 1, u, 0, y) : st;
        rubus__alloc_fail_after(0, true);
        ck_assert_msg(st == RUBUS_OK || st == RUBUS_ENOMEM || st == RUBUS_EDEVMEM, "%s",
                      rubus_error_text());
        rubus_operator_destroy(op);
        ck_assert_int_eq(rubus__alloc_live(), live);
        ck_assert_int_lt(n, 200);
    }
    rubus_array_destroy(c);
    rubus_array_destroy(u);
    rubus_array_destroy(y);
    rubus_space_destroy(pair);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

static Suite *kronecker_suite(void)
{
    Suite *suite = suite_create("kronecker");
    TCase *tc = tcase_create("backends");
    backends_add(tc, test_case_10_21_stiffness_and_mass);
    backends_add(tc, test_case_10_21_matrices_of_an_axis);
    backends_add(tc, test_case_10_21_equals_its_matrix);
    backends_add(tc, kronecker_reads_live_factors_and_coefficients);
    backends_add(tc, kronecker_with_labels_has_rows_of_the_identity);
    backends_add(tc, kronecker_applies_to_every_component);
    backends_add(tc, kronecker_is_solved_by_cg);
    backends_add(tc, kronecker_refuses_what_does_not_fit);
    suite_add_tcase(suite, tc);
    TCase *memory = tcase_create("memory");
    tcase_set_tags(memory, "counts"); // see chaos_suite.sh
    backends_add(memory, kronecker_survives_the_failure_of_any_allocation);
    suite_add_tcase(suite, memory);
    return suite;
}

RUBUS_TEST_MAIN("grid: Kronecker sums", kronecker_suite)
