/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that store the entries of a form: known matrices, equal to the operator that
 * stores none and to the matrix, filled again, and what is refused; known values moved to
 * the right side.
 */
#include "config.h"

#include <check.h>

#include "tests/form/csr_probe.h"

static const char text[] =
    "form stiffness(trial u, test v) = inner_plus(grad(u), grad(v));\n"
    "form centred(trial u, test v) = inner_h(Dc(u), v);\n"
    "form shifted(trial u, test v) = inner_h(shift_x(u, 1), v);\n"
    "form scaled(trial u, test v, real k) = k * inner_h(u, v);\n"
    "form load(test v, real f) = inner_h(f, v);\n"
    "form tall(trial u, test v) = inner_h(u, v[1]);\n"
    "form pair(trial u, test v, field c) = inner_plus(Mm(c) * grad(u), grad(v))\n"
    "    + inner_h(c * (u[0] - u[1]), v[0] + v[1]) + inner_plus(Mm(u), grad(v));\n"
    "func bool disc(real x, real y) { return x^2 + y^2 < 0.5; }\n";

static const int32_t storages[2] = {RUBUS_STENCIL, RUBUS_CSR};

static rubus_operator *stored(rubus_form *form, rubus_constraint *bc, int32_t storage)
{
    rubus_operator *op = NULL;
    ok(rubus_form_operator_stored(form, bc, storage, &op));
    return op;
}

START_TEST(stored_known_matrices)
{
    static const double free_ends[16] = {1, -1,  0, 0,   -1, 1.5, -.5, 0,
                                         0, -.5, 1, -.5, 0,  0,   -.5, .5};
    static const double held_ends[16] = {1, 0,   0, 0,   -1, 1.5, -.5, 0,
                                         0, -.5, 1, -.5, 0,  0,   0,   1};
    /* of a form without entries on the diagonal: half spacings .5, 1.5, 2 beside it */
    static const double shift[16] = {0, .5, 0, 0, 0, 0, 1.5, 0, 0, 0, 0, 2, 0, 0, 0, 0};
    static const double shift_held[16] = {1, 0, 0, 0, 0, 0, 1.5, 0,
                                          0, 0, 0, 2, 0, 0, 0,   1};
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    rubus_constraint *bc = NULL;
    ok(rubus_constraint_create(p.space, &bc));
    ok(rubus_constraint_add(bc, "boundary", RUBUS_ALL, 0.0));
    for (int k = 0; k < 8; k++) {
        const bool held = k % 2 == 1;
        rubus_form *form = probe_form(&p, k < 4 ? "stiffness" : "shifted", p.space);
        rubus_operator *op = stored(form, held ? bc : NULL, storages[k / 2 % 2]);
        probe_matrix_is(op, p.space,
                        k < 4  ? held ? held_ends : free_ends
                        : held ? shift_held
                               : shift,
                        1e-15, k < 4 ? "stiffness" : "shifted");
        ck_assert_int_eq(rubus_operator_symmetric(op),
                         k < 4 ? RUBUS_SYMMETRIC_YES : RUBUS_SYMMETRIC_NO);
        rubus_array *mask = NULL;
        ok(rubus_operator_constraint(op, &mask));
        ck_assert(held == (mask != NULL));
        if (held) {
            array_is(mask, 0, 1, 0, 0, 1);
        }
        rubus_operator_destroy(op);
        rubus_form_destroy(form);
    }
    rubus_constraint_destroy(bc);
    probe_close(&p);
}
END_TEST

/* In 2D, two components, one of them held in a disc and on a face. */
START_TEST(stored_equals_free)
{
    double value[2 * 56];
    form_probe p = probe_open(_i, text);
    rubus_mesh_desc desc = {.struct_size = sizeof desc, .ndim = 2};
    desc.axis[0] = (rubus_axis_desc){.upper = 1, .n = 8, .seed = 3};
    desc.axis[1] = (rubus_axis_desc){.upper = 1, .n = 7, .seed = 4};
    rubus_mesh *mesh = NULL;
    ok(rubus_mesh_create(p.context, &desc, &mesh));
    ok(rubus_mesh_mark_func(mesh, "disc", rubus_module_func(p.module, "disc")));
    probe_mesh(&p, mesh);
    for (int k = 0; k < 2 * 56; k++) {
        value[k] = (k * 29 % 17) / 8.0 - 0.75;
    }
    rubus_array *x = probe_array(p.pair, value);
    rubus_array *c = probe_array(p.space, value);
    rubus_array *want = probe_array(p.pair, value);
    rubus_array *got = probe_array(p.pair, value);
    rubus_form *form = probe_form(&p, "pair", p.pair);
    ok(rubus_form_set(form, "c", c));
    rubus_constraint *bc = NULL;
    ok(rubus_constraint_create(p.pair, &bc));
    ok(rubus_constraint_add(bc, "disc,top", 1, 0.0));
    rubus_operator *op = NULL;
    ok(rubus_form_operator(form, bc, &op));
    for (int k = 0; k < 4; k++) {
        const double beta = k < 2 ? 0 : -0.5;
        rubus_operator *other = stored(form, bc, storages[k % 2]);
        ok(rubus_array_copy(want, x));
        ok(rubus_array_copy(got, x));
        ok(rubus_operator_apply(op, 0.75, x, beta, want));
        ok(rubus_operator_apply(other, 0.75, x, beta, got));
        double *numbers = probe_numbers(want);
        probe_near(got, numbers, 2 * 56, 1e-12, "product");
        free(numbers);
        ok(rubus_operator_diagonal(op, want));
        ok(rubus_operator_diagonal(other, got));
        numbers = probe_numbers(want);
        probe_near(got, numbers, 2 * 56, 1e-12, "diagonal");
        free(numbers);
        rubus_operator_destroy(other);
    }
    rubus_operator_destroy(op);
    rubus_constraint_destroy(bc);
    rubus_form_destroy(form);
    rubus_array_destroy(x);
    rubus_array_destroy(c);
    rubus_array_destroy(want);
    rubus_array_destroy(got);
    probe_close(&p);
}
END_TEST

START_TEST(stored_keeps_its_entries_until_refilled)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    rubus_form *form = probe_form(&p, "scaled", p.space);
    rubus_array *x = array_of(p.space, 1, 1, 1, 1);
    rubus_array *y = array_of(p.space, 7, 7, 7, 7);
    for (int k = 0; k < 2; k++) {
        ok(rubus_form_set(form, "k", 2.0));
        rubus_operator *op = stored(form, NULL, storages[k]);
        ok(rubus_form_set(form, "k", 20.0));
        ok(rubus_operator_apply(op, 1, x, 0, y));
        array_is(y, 1e-15, 1, 3, 4, 2);
        const rubus_context_counters before = probe_counters(p.context);
        ok(rubus_form_operator_refill(op));
        const rubus_context_counters after = probe_counters(p.context);
        ck_assert_uint_eq(after.write_bytes, before.write_bytes);
        ck_assert_uint_eq(after.read_bytes, before.read_bytes);
        ok(rubus_operator_apply(op, 1, x, 0, y));
        array_is(y, 1e-15, 10, 30, 40, 20);
        ok(rubus_operator_diagonal(op, y));
        array_is(y, 1e-15, 10, 30, 40, 20);
        rubus_operator_destroy(op);
    }
    rubus_array_destroy(x);
    rubus_array_destroy(y);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

/* u'' with u = 3, -1 at the ends and f = 2, on 5 points. */
START_TEST(test_case_10_18)
{
    static const double rows[25] = {1,  0, 0, 0, 0,  -4, 8,  -4, 0, 0, 0, -4, 8,
                                    -4, 0, 0, 0, -4, 8,  -4, 0,  0, 0, 0, 1};
    static const double sym[25] = {1,  0, 0, 0, 0,  0, 8, -4, 0, 0, 0, -4, 8,
                                   -4, 0, 0, 0, -4, 8, 0, 0,  0, 0, 0, 1};
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_of(p.context, RUBUS_F64, 1, &axis_of(0, .25, .5, .75, 1)));
    rubus_form *form = probe_form(&p, "stiffness", p.space);
    rubus_form *load = probe_linear(&p, "load", p.space);
    ok(rubus_form_set(load, "f", 2.0));
    rubus_constraint *bc = NULL;
    ok(rubus_constraint_create(p.space, &bc));
    ok(rubus_constraint_add(bc, "left", RUBUS_ALL, 3.0));
    ok(rubus_constraint_add(bc, "right", RUBUS_ALL, -1.0));
    rubus_array *F = array_of(p.space, 7, 7, 7, 7, 7);
    rubus_array *u = array_of(p.space, 3, 2.1875, 1.25, .1875, -1);
    rubus_array *y = array_of(p.space, 7, 7, 7, 7, 7);
    for (int mode = RUBUS_ROWS; mode <= RUBUS_SYM; mode++) {
        rubus_csr *csr = csr_make(form, bc, mode);
        csr_is(csr, mode == RUBUS_ROWS ? rows : sym, 1e-14, "constrained");
        ok(rubus_form_vector(load, mode == RUBUS_ROWS ? bc : NULL, F));
        if (mode == RUBUS_SYM) {
            ok(rubus_form_lift(form, bc, F));
            array_is(F, 1e-14, 3, 12.5, .5, -3.5, -1);
        } else {
            array_is(F, 1e-14, 3, .5, .5, .5, -1);
        }
        ok(rubus_spmv(1, csr, u, 0, y)); // the solution of both
        double *want = probe_numbers(F);
        probe_near(y, want, 5, 1e-13, "A u");
        free(want);
        rubus_csr_destroy(csr);
    }
    rubus_array_destroy(F);
    rubus_array_destroy(u);
    rubus_array_destroy(y);
    rubus_constraint_destroy(bc);
    rubus_form_destroy(form);
    rubus_form_destroy(load);
    probe_close(&p);
}
END_TEST

START_TEST(stored_wrong_arguments_fail)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    rubus_form *form = probe_form(&p, "stiffness", p.space);
    rubus_form *open = probe_form(&p, "scaled", p.space);
    rubus_form *linear = probe_linear(&p, "load", p.space);
    rubus_form *tall = NULL;
    ok(rubus_form_create(p.module, "tall", p.space, p.pair, &tall));
    rubus_operator *op = NULL;
    for (int k = 0; k < 2; k++) {
        const int32_t storage = storages[k];
        fails(rubus_form_operator_stored(NULL, NULL, storage, &op), RUBUS_EINVAL, "NULL");
        fails(rubus_form_operator_stored(form, NULL, storage, NULL), RUBUS_EINVAL,
              "out_operator");
        fails(rubus_form_operator_stored(linear, NULL, storage, &op), RUBUS_EINVAL,
              "linear");
        fails(rubus_form_operator_stored(tall, NULL, storage, &op), RUBUS_EINVAL,
              "square");
        fails(rubus_form_operator_stored(open, NULL, storage, &op), RUBUS_ESTATE, "`k`");
    }
    fails(rubus_form_operator_stored(form, NULL, 0, &op), RUBUS_EINVAL,
          "storage 0|RUBUS_CSR");
    ck_assert_ptr_null(op);
    ok(rubus_form_operator(form, NULL, &op));
    fails(rubus_form_operator_refill(op), RUBUS_EINVAL, "stores no entries");
    fails(rubus_form_operator_refill(NULL), RUBUS_EINVAL, "NULL");
    rubus_operator_destroy(op);
    rubus_operator *both[2] = {stored(form, NULL, RUBUS_STENCIL),
                               stored(form, NULL, RUBUS_CSR)};
    rubus_array *x = array_of(p.space, 1, 1, 1, 1);
    rubus_array *y = array_of(p.space, 7, 7, 7, 7);
    ok(rubus_mesh_refine(p.mesh));
    for (int k = 0; k < 2; k++) {
        fails(rubus_operator_apply(both[k], 1, x, 0, y), RUBUS_ESTALE, "version");
        fails(rubus_operator_diagonal(both[k], y), RUBUS_ESTALE, "version");
        fails(rubus_form_operator_refill(both[k]), RUBUS_ESTALE, "version");
        rubus_operator_destroy(both[k]);
    }
    rubus_array_destroy(x);
    rubus_array_destroy(y);
    rubus_form_destroy(form);
    rubus_form_destroy(open);
    rubus_form_destroy(linear);
    rubus_form_destroy(tall);
    probe_close(&p);
}
END_TEST

START_TEST(stored_survives_every_failed_allocation)
{
    form_probe p = probe_open(BACKENDS_ONE, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    rubus_form *form = probe_form(&p, "stiffness", p.space);
    rubus_constraint *bc = NULL;
    ok(rubus_constraint_create(p.space, &bc));
    ok(rubus_constraint_add(bc, "boundary", RUBUS_ALL, 0.0));
    for (int k = 0; k < 2; k++) {
        rubus_operator_destroy(stored(form, bc, storages[k])); // kernels are built once
        for (int64_t n = 1;; n++) {
            rubus_operator *op = NULL;
            rubus__alloc_fail_after(n, false);
            const rubus_status st =
                rubus_form_operator_stored(form, bc, storages[k], &op);
            rubus__alloc_fail_after(0, false);
            rubus_operator_destroy(op);
            if (st == RUBUS_OK) {
                ck_assert_int_gt(n, 5);
                break;
            }
            ck_assert_msg(st == RUBUS_ENOMEM || st == RUBUS_EDEVMEM, "%s: %s",
                          rubus_status_name(st), rubus_error_text());
        }
    }
    rubus_constraint_destroy(bc);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

static Suite *stored_suite(void)
{
    Suite *suite = suite_create("form/stored");
    TCase *tc = tcase_create("stored");
    tcase_set_timeout(tc, 120);
    backends_add(tc, stored_known_matrices);
    backends_add(tc, stored_equals_free);
    backends_add(tc, stored_keeps_its_entries_until_refilled);
    backends_add(tc, test_case_10_18);
    backends_add(tc, stored_wrong_arguments_fail);
    tcase_add_test(tc, stored_survives_every_failed_allocation);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("form/stored", stored_suite)
