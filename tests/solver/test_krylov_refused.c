/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Krylov solve refuses before anything runs, and what it does when its operator,
 * or the memory, fails in the middle.
 */
#include "config.h"

#include <check.h>

#include "tests/solver/krylov_probe.h"

static const double some_nan = (double)NAN;

/* --- operators that fail or lie ----------------------------------------------------- */

typedef struct liar {
    int calls;
    int bad_call;        /* 0: none */
    rubus_status status; /* what it returns then; OK: NaN in y */
} liar;

/* The identity. */
static rubus_status liar_apply(void *self, double alpha, rubus_array *x, double beta,
                               rubus_array *y)
{
    liar *l = self;
    if (++l->calls == l->bad_call) {
        return l->status == RUBUS_OK ? rubus_array_fill(y, some_nan) : l->status;
    }
    double a[2];
    double b[2] = {0, 0};
    ok(rubus_array_read(x, a, sizeof a));
    if (beta != 0) {
        ok(rubus_array_read(y, b, sizeof b));
    }
    for (int i = 0; i < 2; i++) {
        b[i] = alpha * a[i] + beta * b[i];
    }
    return rubus_array_write(y, b, sizeof b);
}

static linear_system lying(rubus_context *context, liar *l)
{
    linear_system s = {NULL, NULL, NULL};
    const rubus_operator_ops ops = {.struct_size = sizeof ops, .apply = liar_apply};
    ok(rubus_operator_create(context, 2, &ops, l, &s.op));
    s.F = probe_vector(context, RUBUS_F64, 2, (double[]){1, 2});
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(2), &s.u));
    return s;
}

START_TEST(krylov_passes_on_what_its_operator_returns)
{
    rubus_context *context = backends_open(_i);
    for (int solver = CG; solver <= BICGSTAB; solver++) {
        for (int call = 1; call <= 3; call++) { /* CG needs three, BiCGStab four */
            liar l = {0, call, RUBUS_EIO};
            linear_system s = lying(context, &l);
            rubus_krylov_report r = {.struct_size = sizeof r, .iterations = -5};
            fails(probe_solvers[solver](s.op, s.F, s.u, NULL, &r), RUBUS_EIO,
                  "own function|without a text");
            ck_assert_int_eq(r.iterations, -5);
            probe_system_free(&s);
        }
    }
    backends_finish(context);
}
END_TEST

START_TEST(krylov_with_nan_in_the_middle_ends)
{
    rubus_context *context = backends_open(_i);
    for (int call = 2; call <= 3; call++) {
        for (int solver = CG; solver <= BICGSTAB; solver++) {
            liar l = {0, call, RUBUS_OK};
            linear_system s = lying(context, &l);
            const rubus_krylov_report r = probe_solve(solver, &s, NULL);
            ck_assert_msg(r.outcome == RUBUS_OUTCOME_BREAKDOWN ||
                              r.outcome == RUBUS_OUTCOME_DIVERGED,
                          "%s", rubus_outcome_name(r.outcome));
            ck_assert_str_ne(r.why, "");
            probe_system_free(&s);
        }
    }
    backends_finish(context);
}
END_TEST

/* --- refused ------------------------------------------------------------------------ */

START_TEST(krylov_refuses_wrong_operands)
{
    rubus_context *context = backends_open(_i);
    rubus_context *other = backends_open(_i);
    linear_system s = probe_model(context, RUBUS_F64);
    linear_system narrow = probe_model(context, RUBUS_F32);
    linear_system foreign = probe_model(other, RUBUS_F64);
    linear_system tiny =
        probe_small(context, 2, (double[]){2, 1, 1, 2}, (double[]){1, 2});
    for (int solver = CG; solver <= BICGSTAB; solver++) {
        const probe_solver solve = probe_solvers[solver];
        fails(solve(NULL, s.F, s.u, NULL, NULL), RUBUS_EINVAL, "operator is NULL");
        fails(solve(s.op, NULL, s.u, NULL, NULL), RUBUS_EINVAL, "F is NULL");
        fails(solve(s.op, s.F, NULL, NULL, NULL), RUBUS_EINVAL, "u is NULL");
        fails(solve(s.op, narrow.F, s.u, NULL, NULL), RUBUS_ETYPE, "F|f64|f32");
        fails(solve(s.op, s.F, narrow.u, NULL, NULL), RUBUS_ETYPE, "u|f64|f32");
        fails(solve(s.op, tiny.F, s.u, NULL, NULL), RUBUS_ESHAPE, "88 unknowns|F has 2");
        fails(solve(s.op, s.F, tiny.u, NULL, NULL), RUBUS_ESHAPE, "88 unknowns|u has 2");
        fails(solve(s.op, foreign.F, s.u, NULL, NULL), RUBUS_EFOREIGN, "F");
        fails(solve(s.op, s.F, foreign.u, NULL, NULL), RUBUS_EFOREIGN, "u");
        fails(solve(s.op, s.F, s.F, NULL, NULL), RUBUS_EALIAS, "F and u");
    }
    probe_system_free(&s);
    probe_system_free(&narrow);
    probe_system_free(&foreign);
    probe_system_free(&tiny);
    rubus_context_destroy(other);
    backends_finish(context);
}
END_TEST

START_TEST(krylov_refuses_a_wrong_desc)
{
    static const struct {
        const char *words;
        rubus_krylov_desc desc;
    } bad[] = {
        {"struct_size of the desc is 4", {.struct_size = 4}},
        {"rtol is", {.struct_size = sizeof(rubus_krylov_desc), .rtol = (double)NAN}},
        {"rtol is", {.struct_size = sizeof(rubus_krylov_desc), .rtol = (double)INFINITY}},
        {"atol is", {.struct_size = sizeof(rubus_krylov_desc), .atol = (double)NAN}},
        {"atol is -1", {.struct_size = sizeof(rubus_krylov_desc), .atol = -1}},
        {"precondition is 3",
         {.struct_size = sizeof(rubus_krylov_desc), .precondition = 3}},
        {"precondition is -1",
         {.struct_size = sizeof(rubus_krylov_desc), .precondition = -1}},
        {"history is NULL|7",
         {.struct_size = sizeof(rubus_krylov_desc), .history_room = 7}},
    };
    rubus_context *context = backends_open(_i);
    linear_system s = probe_model(context, RUBUS_F64);
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        for (int solver = CG; solver <= BICGSTAB; solver++) {
            fails(probe_solvers[solver](s.op, s.F, s.u, &bad[k].desc, NULL), RUBUS_EINVAL,
                  bad[k].words);
        }
    }
    rubus_krylov_report short_report = {.struct_size = 4};
    fails(rubus_solve_cg(s.op, s.F, s.u, NULL, &short_report), RUBUS_EINVAL,
          "struct_size of the report is 4");
    liar l = {0, 0, RUBUS_OK};
    linear_system bare = lying(context, &l);
    const rubus_krylov_desc jacobi = {.struct_size = sizeof jacobi,
                                      .precondition = RUBUS_PRECONDITION_JACOBI};
    fails(rubus_solve_cg(bare.op, bare.F, bare.u, &jacobi, NULL), RUBUS_EUNSUPPORTED,
          "diagonal|RUBUS_PRECONDITION_NONE");
    ck_assert_int_eq(l.calls, 0);
    probe_system_free(&bare);
    probe_system_free(&s);
    backends_finish(context);
}
END_TEST

/* A desc and a report of an older library end earlier. */
START_TEST(krylov_takes_shorter_structs)
{
    rubus_context *context = backends_open(_i);
    linear_system s = probe_model(context, RUBUS_F64);
    rubus_krylov_desc desc = {.rtol = 0.5, .niter = -1};
    desc.struct_size = offsetof(rubus_krylov_desc, niter);
    rubus_krylov_report r = {.struct_size = offsetof(rubus_krylov_report, iterations),
                             .iterations = -5};
    ok(rubus_solve_cg(s.op, s.F, s.u, &desc, &r));
    ck_assert_int_eq(r.outcome, RUBUS_OUTCOME_CONVERGED);
    ck_assert_int_eq(r.iterations, -5);
    ok(rubus_solve_cg(s.op, s.F, s.u, NULL, NULL));
    probe_system_free(&s);
    backends_finish(context);
}
END_TEST

START_TEST(cg_refuses_an_operator_known_to_be_unsymmetric)
{
    rubus_context *context = backends_open(_i);
    grid_matrix m = grid_five_points(MODEL_NX, MODEL_NY, 1, 0);
    double F[MODEL_N] = {1};
    linear_system s = probe_system(context, RUBUS_F64, &m, RUBUS_SYMMETRIC_NO, NULL, F);
    fails(rubus_solve_cg(s.op, s.F, s.u, NULL, NULL), RUBUS_EINVAL,
          "rubus_solve_cg|not symmetric|rubus_solve_bicgstab");
    const rubus_krylov_report r = probe_solve(BICGSTAB, &s, NULL);
    probe_ended(&r, RUBUS_OUTCOME_CONVERGED);
    probe_system_free(&s);
    grid_free(&m);
    backends_finish(context);
}
END_TEST

START_TEST(krylov_of_a_mapped_array_is_refused)
{
    rubus_context *context = backends_open(_i);
    linear_system s = probe_model(context, RUBUS_F64);
    void *data = NULL;
    ok(rubus_array_map(s.F, RUBUS_READ, &data));
    fails(rubus_solve_cg(s.op, s.F, s.u, NULL, NULL), RUBUS_ESTATE, "mapped");
    ok(rubus_array_unmap(s.F));
    probe_system_free(&s);
    backends_finish(context);
}
END_TEST

/* --- memory ------------------------------------------------------------------------- */

START_TEST(krylov_survives_every_failure_of_memory)
{
    rubus_context *context = NULL;
    ok(rubus_context_create("threads:threads=1", &context));
    for (int solver = CG; solver <= BICGSTAB; solver++) {
        linear_system s =
            probe_small(context, 2, (double[]){2, 1, 1, 0}, (double[]){1, 2});
        /* fills caches, by either desc */
        rubus_krylov_report r = probe_solve(solver, &s, NULL);
        r = probe_solve(solver, &s, &probe_plain);
        const int64_t live = rubus__alloc_live();
        const rubus_krylov_desc *const desc[2] = {&probe_plain,
                                                  NULL}; /* NULL: 0 is named */
        for (int d = 0; d < 2; d++) {
            rubus_status st = RUBUS_ENOMEM;
            int64_t n = 1;
            for (; st != RUBUS_OK && n < 2000; n++) {
                rubus__alloc_fail_after(n, true);
                st = probe_solvers[solver](s.op, s.F, s.u, desc[d], &r);
                rubus__alloc_fail_after(0, true);
                ck_assert_msg(st == RUBUS_OK || st == RUBUS_ENOMEM || st == RUBUS_EDEVMEM,
                              "%s: %s", rubus_status_name(st), rubus_error_text());
                ck_assert_int_eq(rubus__alloc_live(), live);
            }
            ck_assert_int_eq(st, RUBUS_OK);
            ck_assert_int_gt(n, 5);
        }
        probe_system_free(&s);
    }
    backends_finish(context);
}
END_TEST

static Suite *refused_suite(void)
{
    Suite *suite = suite_create("krylov_refused");
    TCase *refused = tcase_create("refused");
    backends_add(refused, krylov_passes_on_what_its_operator_returns);
    backends_add(refused, krylov_with_nan_in_the_middle_ends);
    backends_add(refused, krylov_refuses_wrong_operands);
    backends_add(refused, krylov_refuses_a_wrong_desc);
    backends_add(refused, krylov_takes_shorter_structs);
    backends_add(refused, cg_refuses_an_operator_known_to_be_unsymmetric);
    backends_add(refused, krylov_of_a_mapped_array_is_refused);
    suite_add_tcase(suite, refused);
    TCase *memory = tcase_create("memory");
    tcase_set_tags(memory, "counts"); // see chaos_suite.sh
    tcase_add_test(memory, krylov_survives_every_failure_of_memory);
    suite_add_tcase(suite, memory);
    return suite;
}

RUBUS_TEST_MAIN("krylov_refused", refused_suite)
