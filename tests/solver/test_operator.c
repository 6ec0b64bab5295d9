/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators on every backend: what one of a matrix computes, whose arrays it holds, what
 * it refuses, and operators of a user's own functions.
 */
#include "config.h"

#include <check.h>

#include "tests/solver/krylov_probe.h"

enum { NX = 4, NY = 3, N = NX * NY };

START_TEST(operator_of_a_matrix_is_its_products)
{
    rubus_context *context = backends_open(_i);
    for (int kind = 0; kind < 2; kind++) {
        const int32_t real = kind == 0 ? RUBUS_F64 : RUBUS_F32;
        grid_matrix m = grid_five_points(NX, NY, 2, 1);
        rubus_csr *csr = grid_csr(context, real, &m);
        rubus_operator *op = NULL;
        ok(rubus_operator_create_csr(csr, RUBUS_SYMMETRIC_NO, NULL, &op));
        rubus_csr_destroy(csr);
        ck_assert_int_eq(rubus_operator_size(op), N);
        ck_assert_int_eq(rubus_operator_real(op), real);
        ck_assert_int_eq(rubus_operator_symmetric(op), RUBUS_SYMMETRIC_NO);
        ck_assert_ptr_eq(rubus_operator_context(op), context);
        rubus_array *mask = (rubus_array *)&m; /* anything but NULL */
        ok(rubus_operator_constraint(op, &mask));
        ck_assert_ptr_null(mask);
        double x[N];
        double want[N];
        for (int i = 0; i < N; i++) {
            x[i] = i * i - 20;
        }
        grid_apply(&m, x, want);
        rubus_array *dx = probe_vector(context, real, N, x);
        rubus_array *dy = NULL;
        ok(rubus_array_create(context, real, RUBUS_SHAPE(NX, NY), &dy));
        ok(rubus_array_fill(dy, (double)NAN));
        ok(rubus_operator_apply(op, 1, dx, 0, dy)); /* small integers: exact */
        probe_near(dy, want, 0);
        ok(rubus_operator_apply(op, -2, dx, 3, dy));
        ok(rubus_operator_apply(op, 1, dx, -1, dy)); /* -(3 - 2) + 1 */
        probe_near(dy, (double[N]){0}, 0);
        ok(rubus_operator_diagonal(op, dy));
        for (int i = 0; i < N; i++) {
            want[i] = 7;
        }
        probe_near(dy, want, 0);
        rubus_operator_destroy(op);
        rubus_array_destroy(dx);
        rubus_array_destroy(dy);
        grid_free(&m);
    }
    backends_finish(context);
}
END_TEST

START_TEST(operator_of_a_matrix_holds_its_mask)
{
    rubus_context *context = backends_open(_i);
    grid_matrix m = grid_with_rim(NX, NY, 0, 0);
    rubus_csr *csr = grid_csr(context, RUBUS_F64, &m);
    rubus_array *mask = grid_mask(context, NX, NY);
    rubus_operator *op = NULL;
    ok(rubus_operator_create_csr(csr, RUBUS_SYMMETRIC_YES, mask, &op));
    rubus_array_destroy(mask);
    rubus_csr_destroy(csr);
    ok(rubus_operator_constraint(op, &mask));
    bool on[N];
    ok(rubus_array_read(mask, on, sizeof on));
    for (int i = 0; i < N; i++) {
        ck_assert_int_eq(on[i], grid_on_rim(NX, NY, i));
    }
    rubus_operator_destroy(op);
    grid_free(&m);
    backends_finish(context);
}
END_TEST

START_TEST(operator_of_a_matrix_refuses_what_does_not_fit)
{
    rubus_context *context = backends_open(_i);
    rubus_context *other = backends_open(_i);
    rubus_csr *csr = NULL;
    rubus_csr *oblong = NULL;
    rubus_operator *op = NULL;
    ok(rubus_csr_create_identity(context, RUBUS_I32, RUBUS_F64, 6, &csr));
    ok(rubus_csr_create_zeros(context, RUBUS_I32, RUBUS_F64, 6, 5, &oblong));
    rubus_array *integers = NULL;
    ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(6), &integers));
    rubus_array *mask = grid_mask(context, 3, 3);
    rubus_array *foreign = grid_mask(other, 3, 2);
    const int32_t no = RUBUS_SYMMETRIC_NO;
    fails(rubus_operator_create_csr(NULL, no, NULL, &op), RUBUS_EINVAL, "NULL");
    fails(rubus_operator_create_csr(csr, no, NULL, NULL), RUBUS_EINVAL, "out_operator");
    fails(rubus_operator_create_csr(csr, 3, NULL, &op), RUBUS_EINVAL, "symmetric is 3");
    fails(rubus_operator_create_csr(oblong, no, NULL, &op), RUBUS_ESHAPE, "6 x 5");
    fails(rubus_operator_create_csr(csr, no, integers, &op), RUBUS_ETYPE, "mask|bool");
    fails(rubus_operator_create_csr(csr, no, mask, &op), RUBUS_ESHAPE, "mask has 9");
    fails(rubus_operator_create_csr(csr, no, foreign, &op), RUBUS_EFOREIGN, "mask");
    ck_assert_ptr_null(op);
    rubus_array_destroy(integers);
    rubus_array_destroy(mask);
    rubus_array_destroy(foreign);
    rubus_csr_destroy(csr);
    rubus_csr_destroy(oblong);
    rubus_context_destroy(other);
    backends_finish(context);
}
END_TEST

/* --- a user's own ------------------------------------------------------------------- */

typedef struct own {
    rubus_array *mask;
    rubus_status status;
    int applied;
} own;

static rubus_status own_apply(void *self, double alpha, rubus_array *x, double beta,
                              rubus_array *y)
{
    own *o = self;
    o->applied++;
    (void)alpha;
    (void)beta;
    return o->status != RUBUS_OK ? o->status : rubus_array_copy(y, x);
}

static rubus_status own_diagonal(void *self, rubus_array *d)
{
    const own *o = self;
    return o->status != RUBUS_OK ? o->status : rubus_array_fill(d, 1);
}

static rubus_status own_constraint(void *self, rubus_array **out_mask)
{
    const own *o = self;
    *out_mask = o->mask;
    return o->status;
}

START_TEST(operator_checks_before_it_applies)
{
    rubus_context *context = backends_open(_i);
    rubus_context *other = backends_open(_i);
    own o = {NULL, RUBUS_OK, 0};
    const rubus_operator_ops ops = {.struct_size = sizeof ops, .apply = own_apply};
    rubus_operator *op = NULL;
    ok(rubus_operator_create(context, 4, &ops, &o, &op));
    ck_assert_int_eq(rubus_operator_real(op), RUBUS_F64);
    ck_assert_int_eq(rubus_operator_symmetric(op), RUBUS_SYMMETRIC_UNKNOWN);
    rubus_array *x = backends_ramp(context, 4, 1);
    rubus_array *y = backends_ramp(context, 4, 0);
    rubus_array *longer = backends_ramp(context, 5, 0);
    rubus_array *foreign = backends_ramp(other, 4, 0);
    rubus_array *narrow = NULL;
    rubus_array *window = NULL;
    ok(rubus_array_create(context, RUBUS_F32, RUBUS_SHAPE(4), &narrow));
    ok(rubus_array_view(longer, 0, RUBUS_SHAPE(4), &window));
    fails(rubus_operator_apply(NULL, 1, x, 0, y), RUBUS_EINVAL, "operator is NULL");
    fails(rubus_operator_apply(op, 1, NULL, 0, y), RUBUS_EINVAL, "x is NULL");
    fails(rubus_operator_apply(op, 1, x, 0, NULL), RUBUS_EINVAL, "y is NULL");
    fails(rubus_operator_apply(op, 1, longer, 0, y), RUBUS_ESHAPE, "4 unknowns|x has 5");
    fails(rubus_operator_apply(op, 1, x, 0, longer), RUBUS_ESHAPE, "y has 5");
    fails(rubus_operator_apply(op, 1, narrow, 0, y), RUBUS_ETYPE, "x|f32");
    fails(rubus_operator_apply(op, 1, x, 0, foreign), RUBUS_EFOREIGN, "y");
    fails(rubus_operator_apply(op, 1, x, 0, x), RUBUS_EALIAS, "x and y");
    fails(rubus_operator_diagonal(NULL, x), RUBUS_EINVAL, "NULL");
    fails(rubus_operator_diagonal(op, x), RUBUS_EUNSUPPORTED, "diagonal");
    fails(rubus_operator_constraint(NULL, &x), RUBUS_EINVAL, "operator is NULL");
    fails(rubus_operator_constraint(op, NULL), RUBUS_EINVAL, "out_mask");
    ck_assert_int_eq(o.applied, 0);
    ok(rubus_operator_apply(op, 1, x, 0, window));
    ck_assert_int_eq(o.applied, 1);
    ck_assert(backends_get(longer, 3) == 4 && backends_get(longer, 4) == 4);
    ck_assert_int_eq(rubus_operator_size(NULL), 0);
    ck_assert_int_eq(rubus_operator_real(NULL), 0);
    ck_assert_int_eq(rubus_operator_symmetric(NULL), RUBUS_SYMMETRIC_UNKNOWN);
    ck_assert_ptr_null(rubus_operator_context(NULL));
    rubus_operator_destroy(NULL);
    rubus_operator_destroy(op);
    rubus_array *const all[] = {x, y, window, longer, foreign, narrow};
    for (int k = 0; k < 6; k++) {
        rubus_array_destroy(all[k]);
    }
    rubus_context_destroy(other);
    backends_finish(context);
}
END_TEST

START_TEST(operator_passes_on_failures_and_bad_masks)
{
    rubus_context *context = backends_open(_i);
    own o = {NULL, RUBUS_EIO, 0};
    const rubus_operator_ops ops = {.struct_size = sizeof ops,
                                    .apply = own_apply,
                                    .diagonal = own_diagonal,
                                    .constraint = own_constraint};
    rubus_operator *op = NULL;
    ok(rubus_operator_create(context, 6, &ops, &o, &op));
    rubus_array *x = backends_ramp(context, 6, 1);
    rubus_array *y = backends_ramp(context, 6, 1);
    rubus_array *mask = NULL;
    fails(rubus_operator_apply(op, 1, x, 0, y), RUBUS_EIO, "own function");
    fails(rubus_operator_diagonal(op, x), RUBUS_EIO, "own function");
    fails(rubus_operator_constraint(op, &mask), RUBUS_EIO, "own function");
    fails(rubus_solve_cg(op, x, y, NULL, NULL), RUBUS_EIO, "own function");
    o.status = RUBUS_OK;
    o.mask = x;
    fails(rubus_operator_constraint(op, &mask), RUBUS_ETYPE, "mask|bool");
    o.mask = grid_mask(context, 3, 3);
    fails(rubus_operator_constraint(op, &mask), RUBUS_ESHAPE, "mask has 9");
    fails(rubus_solve_cg(op, x, y, NULL, NULL), RUBUS_ESHAPE, "mask has 9");
    ck_assert_ptr_null(mask);
    rubus_array_destroy(o.mask);
    rubus_array_destroy(x);
    rubus_array_destroy(y);
    rubus_operator_destroy(op);
    backends_finish(context);
}
END_TEST

START_TEST(operator_with_wrong_ops_is_refused)
{
    rubus_context *context = backends_open(_i);
    rubus_operator *op = NULL;
    const rubus_operator_ops good = {.struct_size = sizeof good, .apply = own_apply};
    fails(rubus_operator_create(NULL, 1, &good, NULL, &op), RUBUS_EINVAL, "NULL");
    fails(rubus_operator_create(context, 1, NULL, NULL, &op), RUBUS_EINVAL,
          "ops is NULL");
    fails(rubus_operator_create(context, 1, &good, NULL, NULL), RUBUS_EINVAL,
          "out_operator");
    fails(rubus_operator_create(context, -3, &good, NULL, &op), RUBUS_EINVAL, "n is -3");
    rubus_operator_ops ops = good;
    ops.apply = NULL;
    fails(rubus_operator_create(context, 1, &ops, NULL, &op), RUBUS_EINVAL, "no apply");
    ops = good;
    ops.struct_size = 16;
    fails(rubus_operator_create(context, 1, &ops, NULL, &op), RUBUS_EINVAL,
          "struct_size of ops is 16");
    ops = good;
    ops.real = RUBUS_I32;
    fails(rubus_operator_create(context, 1, &ops, NULL, &op), RUBUS_EINVAL, "real is");
    ops = good;
    ops.symmetric = -1;
    fails(rubus_operator_create(context, 1, &ops, NULL, &op), RUBUS_EINVAL,
          "symmetric is -1");
    rubus__alloc_fail_after(1, true);
    fails(rubus_operator_create(context, 1, &good, NULL, &op), RUBUS_ENOMEM, "memory");
    rubus__alloc_fail_after(0, true);
    rubus_csr *csr = NULL;
    ok(rubus_csr_create_identity(context, RUBUS_I32, RUBUS_F64, 6, &csr));
    rubus_array *mask = grid_mask(context, 3, 2);
    for (int64_t n = 1; n <= 3; n++) { /* self, the operator, the view of the mask */
        rubus__alloc_fail_after(n, true);
        fails(rubus_operator_create_csr(csr, 0, mask, &op), RUBUS_ENOMEM, "memory");
        rubus__alloc_fail_after(0, true);
    }
    ck_assert_ptr_null(op);
    rubus_array_destroy(mask);
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

static Suite *operator_suite(void)
{
    Suite *suite = suite_create("operator");
    TCase *matrix = tcase_create("matrix");
    backends_add(matrix, operator_of_a_matrix_is_its_products);
    backends_add(matrix, operator_of_a_matrix_holds_its_mask);
    backends_add(matrix, operator_of_a_matrix_refuses_what_does_not_fit);
    suite_add_tcase(suite, matrix);
    TCase *functions = tcase_create("functions");
    backends_add(functions, operator_checks_before_it_applies);
    backends_add(functions, operator_passes_on_failures_and_bad_masks);
    backends_add(functions, operator_with_wrong_ops_is_refused);
    suite_add_tcase(suite, functions);
    return suite;
}

RUBUS_TEST_MAIN("operator", operator_suite)
