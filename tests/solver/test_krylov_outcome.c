/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a Krylov solve ends when it does not simply converge, what its report and history
 * say.
 */
#include "config.h"

#include <check.h>

#include "tests/solver/krylov_probe.h"

enum { N = MODEL_N };

static const double some_nan = (double)NAN;

static void explained(const rubus_krylov_report *r, const char *words)
{
    ck_assert_msg(strstr(r->why, words) != NULL, "no '%s' in '%s'", words, r->why);
}

/* --- converged at once -------------------------------------------------------------- */

START_TEST(krylov_of_zero_is_zero_at_once)
{
    rubus_context *context = backends_open(_i);
    for (int solver = CG; solver <= BICGSTAB; solver++) {
        linear_system s = probe_model(context, RUBUS_F64);
        ok(rubus_array_fill(s.F, 0));
        ok(rubus_array_random(s.u, 3, -1, 1));
        const rubus_krylov_report r = probe_solve(solver, &s, NULL);
        probe_ended(&r, RUBUS_OUTCOME_CONVERGED);
        ck_assert_int_eq(r.iterations, 0);
        ck_assert(r.norm == 0 && r.residual == 0 && r.tolerance == 0);
        probe_near(s.u, (double[N]){0}, 0);
        probe_system_free(&s);
    }
    backends_finish(context);
}
END_TEST

START_TEST(krylov_starts_from_u)
{
    rubus_context *context = backends_open(_i);
    for (int solver = CG; solver <= BICGSTAB; solver++) {
        linear_system s = probe_model(context, RUBUS_F64);
        const rubus_krylov_report first = probe_solve(solver, &s, NULL);
        probe_ended(&first, RUBUS_OUTCOME_CONVERGED);
        ck_assert_double_eq_tol(first.norm, sqrt(N), 1e-14);
        const rubus_krylov_report again = probe_solve(solver, &s, NULL);
        probe_ended(&again, RUBUS_OUTCOME_CONVERGED);
        ck_assert_int_eq(again.iterations, 0);
        ck_assert(again.residual == first.residual);
        const rubus_krylov_desc loose = {
            .struct_size = sizeof loose, .rtol = -1, .atol = 0.1};
        ok(rubus_array_fill(s.u, 0));
        const rubus_krylov_report r = probe_solve(solver, &s, &loose);
        probe_ended(&r, RUBUS_OUTCOME_CONVERGED);
        ck_assert(r.tolerance == 0.1 && r.residual <= 0.1 && r.residual > 1e-10);
        ck_assert_int_lt(r.iterations, first.iterations);
        probe_system_free(&s);
    }
    backends_finish(context);
}
END_TEST

START_TEST(krylov_of_no_unknowns_has_converged)
{
    rubus_context *context = backends_open(_i);
    rubus_csr *csr = NULL;
    linear_system s = {NULL, NULL, NULL};
    ok(rubus_csr_create_zeros(context, RUBUS_I32, RUBUS_F64, 0, 0, &csr));
    ok(rubus_operator_create_csr(csr, RUBUS_SYMMETRIC_YES, NULL, &s.op));
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(0), &s.F));
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(0), &s.u));
    for (int solver = CG; solver <= BICGSTAB; solver++) {
        const rubus_krylov_report r = probe_solve(solver, &s, NULL);
        probe_ended(&r, RUBUS_OUTCOME_CONVERGED);
    }
    rubus_csr_destroy(csr);
    probe_system_free(&s);
    backends_finish(context);
}
END_TEST

/* --- limit, stagnated, stopped ------------------------------------------------------ */

START_TEST(krylov_stops_at_its_limit)
{
    rubus_context *context = backends_open(_i);
    for (int solver = CG; solver <= BICGSTAB; solver++) {
        for (int64_t niter = -1; niter < 4; niter += 4) {
            linear_system s = probe_model(context, RUBUS_F64);
            rubus_krylov_desc desc = {.struct_size = sizeof desc, .niter = niter};
            const rubus_krylov_report r = probe_solve(solver, &s, &desc);
            probe_ended(&r, RUBUS_OUTCOME_LIMIT);
            ck_assert_int_eq(r.iterations, niter < 0 ? 0 : niter);
            ck_assert(r.residual > r.tolerance);
            ck_assert(niter > 0 || r.residual == r.norm);
            explained(&r, "limit");
            probe_system_free(&s);
        }
    }
    backends_finish(context);
}
END_TEST

/* A tolerance that rounding forbids. The best |r| is near eps |A| |u| sqrt(n), with |A| 8
 * and |u| some 6: 100 eps |F| here. */
START_TEST(krylov_stagnates_where_rounding_ends_it)
{
    rubus_context *context = backends_open(_i);
    for (int kind = 0; kind < 4; kind++) {
        const int32_t real = kind % 2 == 0 ? RUBUS_F64 : RUBUS_F32;
        linear_system s = probe_model(context, real);
        const rubus_krylov_desc desc = {.struct_size = sizeof desc,
                                        .rtol = kind % 2 == 0 ? -1 : 1e-10,
                                        .niter = 2000};
        const rubus_krylov_report r = probe_solve(kind / 2, &s, &desc);
        probe_ended(&r, RUBUS_OUTCOME_STAGNATED);
        const double eps = real == RUBUS_F64 ? 0x1p-52 : 0x1p-23;
        ck_assert_msg(r.residual > 0 && r.residual < 100 * eps * r.norm, "%g",
                      r.residual);
        ck_assert_int_lt(r.iterations, 500);
        explained(&r, "rounding");
        probe_system_free(&s);
    }
    backends_finish(context);
}
END_TEST

typedef struct watcher {
    int64_t stop_at; /* -1: never */
    int64_t calls;
    double residual[64];
} watcher;

static int watch(void *user, int64_t iteration, double residual)
{
    watcher *w = user;
    w->calls++;
    ck_assert_int_eq(iteration, w->calls);
    ck_assert_int_lt(iteration, 64);
    w->residual[iteration] = residual;
    return iteration == w->stop_at ? 1 : 0;
}

START_TEST(krylov_tells_the_residual_of_every_iteration)
{
    rubus_context *context = backends_open(_i);
    for (int solver = CG; solver <= BICGSTAB; solver++) {
        double history[64];
        watcher w = {.stop_at = -1};
        rubus_krylov_desc desc = {.struct_size = sizeof desc,
                                  .progress = watch,
                                  .user = &w,
                                  .history = history,
                                  .history_room = 64};
        linear_system s = probe_model(context, RUBUS_F64);
        const rubus_krylov_report all = probe_solve(solver, &s, &desc);
        probe_ended(&all, RUBUS_OUTCOME_CONVERGED);
        ck_assert_int_eq(w.calls, all.iterations);
        ck_assert_uint_eq(all.nhistory, (uint64_t)all.iterations + 1);
        ck_assert(history[0] == all.norm); /* u is 0 */
        for (int64_t k = 1; k <= all.iterations; k++) {
            ck_assert(history[k] == w.residual[k]);
            ck_assert((history[k] <= all.tolerance) == (k == all.iterations));
        }
        double few[3] = {0, 0, -1};
        w = (watcher){.stop_at = 4};
        desc.history = few;
        desc.history_room = 2;
        ok(rubus_array_fill(s.u, 0));
        const rubus_krylov_report r = probe_solve(solver, &s, &desc);
        probe_ended(&r, RUBUS_OUTCOME_RUNNING);
        ck_assert_int_eq(r.iterations, 4);
        ck_assert(r.residual == history[4]);
        ck_assert_uint_eq(r.nhistory, 2);
        ck_assert(few[0] == history[0] && few[1] == history[1] && few[2] == -1);
        probe_system_free(&s);
    }
    backends_finish(context);
}
END_TEST

/* --- breakdown ---------------------------------------------------------------------- */

static void cg_breaks(rubus_context *context, const double *a, const double *F,
                      const rubus_krylov_desc *desc, const char *words)
{
    linear_system s = probe_small(context, 2, a, F);
    const rubus_krylov_report r = probe_solve(CG, &s, desc);
    probe_ended(&r, RUBUS_OUTCOME_BREAKDOWN);
    ck_assert_int_eq(r.iterations, 0);
    explained(&r, words);
    explained(&r, "rubus_solve_bicgstab");
    probe_near(s.u, (double[]){0, 0}, 0);
    probe_system_free(&s);
}

START_TEST(cg_breaks_down_where_the_operator_is_not_positive)
{
    rubus_context *context = backends_open(_i);
    const double mixed[4] = {1, 0, 0, -1};
    cg_breaks(context, mixed, (double[]){3, 3}, &probe_plain, "is 0");
    cg_breaks(context, mixed, (double[]){3, 4}, &probe_plain, "negative");
    cg_breaks(context, (double[]){-2, 0, 0, -3}, (double[]){3, 4}, &probe_plain,
              "negative");
    cg_breaks(context, mixed, (double[]){3, 4}, NULL, "both signs");
    cg_breaks(context, mixed, (double[]){3, 3}, NULL, "both signs");
    backends_finish(context);
}
END_TEST

/* r'A r is 0 for every r; so is it after one step of the second matrix. */
START_TEST(bicgstab_breaks_down_where_beginning_again_does_not_help)
{
    rubus_context *context = backends_open(_i);
    linear_system s = probe_small(context, 2, (double[]){0, 1, -1, 0}, (double[]){1, 2});
    rubus_krylov_report r = probe_solve(BICGSTAB, &s, &probe_plain);
    probe_ended(&r, RUBUS_OUTCOME_BREAKDOWN);
    ck_assert_int_eq(r.iterations, 0);
    explained(&r, "orthogonal");
    probe_near(s.u, (double[]){0, 0}, 0);
    probe_system_free(&s);
    s = probe_small(context, 2, (double[]){1, 1, -1, 0}, (double[]){1, 0});
    r = probe_solve(BICGSTAB, &s, &probe_plain);
    probe_ended(&r, RUBUS_OUTCOME_BREAKDOWN);
    ck_assert_int_eq(r.iterations, 1);
    ck_assert_int_eq(r.restarts, 1);
    ck_assert(r.residual == 1); /* of (0, 1), computed from u = (1, 0) */
    probe_near(s.u, (double[]){1, 0}, 0);
    probe_system_free(&s);
    backends_finish(context);
}
END_TEST

/* After one iteration r = (0, -0.2, 0.4) is orthogonal to the first, (1, 0, 0). */
START_TEST(bicgstab_begins_again_after_a_breakdown)
{
    rubus_context *context = backends_open(_i);
    const double a[9] = {1, 0, 0, 1, 2, 0, 0, 1, 3};
    linear_system s = probe_small(context, 3, a, (double[]){1, 0, 0});
    const rubus_krylov_report r = probe_solve(BICGSTAB, &s, &probe_plain);
    probe_ended(&r, RUBUS_OUTCOME_CONVERGED);
    ck_assert_int_eq(r.restarts, 1);
    ck_assert_int_le(r.iterations, 4);
    probe_near(s.u, (double[]){1, -0.5, 1.0 / 6}, 1e-9);
    probe_system_free(&s);
    backends_finish(context);
}
END_TEST

START_TEST(krylov_names_the_entry_that_jacobi_cannot_divide_by)
{
    static const double bad[] = {0, (double)NAN, (double)INFINITY, 1e-320};
    rubus_context *context = backends_open(_i);
    for (int kind = 0; kind < 8; kind++) {
        double a[16] = {4, 1, 0, 0, 1, 4, 1, 0, 0, 1, bad[kind % 4], 1, 0, 0, 1, 4};
        linear_system s = probe_small(context, 4, a, (double[]){1, 1, 1, 1});
        const rubus_krylov_report r = probe_solve(kind / 4, &s, NULL);
        probe_ended(&r, RUBUS_OUTCOME_BREAKDOWN);
        explained(&r, "element 2 of the diagonal is");
        ck_assert(isnan(r.residual) && r.norm == 2);
        probe_system_free(&s);
    }
    linear_system s = probe_small(context, 2, (double[]){0, 1, 1, 0}, (double[]){1, 2});
    const rubus_krylov_report r = probe_solve(BICGSTAB, &s, &probe_plain);
    probe_ended(&r, RUBUS_OUTCOME_CONVERGED); /* not asked to divide by it */
    probe_near(s.u, (double[]){2, 1}, 1e-9);
    probe_system_free(&s);
    backends_finish(context);
}
END_TEST

/* --- diverged ----------------------------------------------------------------------- */

START_TEST(krylov_with_what_is_not_a_number_is_diverged)
{
    rubus_context *context = backends_open(_i);
    for (int kind = 0; kind < 8; kind++) {
        const double bad = kind % 2 == 0 ? some_nan : (double)INFINITY;
        double a[4] = {2, 1, 1, 2};
        double F[2] = {1, 2};
        *(kind % 4 < 2 ? &F[1] : &a[1]) = bad;
        linear_system s = probe_small(context, 2, a, F);
        ok(rubus_array_fill(s.u, 1));
        const rubus_krylov_report r = probe_solve(kind / 4, &s, NULL);
        probe_ended(&r, RUBUS_OUTCOME_DIVERGED);
        ck_assert_int_eq(r.iterations, 0);
        ck_assert(!isfinite(r.residual));
        explained(&r, kind % 4 < 2 ? "|F|" : "F - A u");
        probe_system_free(&s);
    }
    linear_system s = probe_small(context, 2, (double[]){2, 1, 1, 2}, (double[]){1, 2});
    ok(rubus_array_fill(s.u, some_nan));
    const rubus_krylov_report r = probe_solve(CG, &s, NULL);
    probe_ended(&r, RUBUS_OUTCOME_DIVERGED);
    probe_system_free(&s);
    backends_finish(context);
}
END_TEST

/* A rotation by almost a quarter, times 1e7: CG takes it for the identity, and r grows by
 * that factor. */
START_TEST(cg_that_blows_up_is_diverged)
{
    rubus_context *context = backends_open(_i);
    linear_system s =
        probe_small(context, 2, (double[]){1, -1e7, 1e7, 1}, (double[]){1, 2});
    const rubus_krylov_report r = probe_solve(CG, &s, NULL);
    probe_ended(&r, RUBUS_OUTCOME_DIVERGED);
    ck_assert_int_eq(r.iterations, 1);
    ck_assert_double_eq_tol(r.residual, 1e7 * sqrt(5), 10);
    explained(&r, "grown");
    probe_system_free(&s);
    backends_finish(context);
}
END_TEST

static Suite *outcome_suite(void)
{
    Suite *suite = suite_create("krylov_outcome");
    TCase *outcome = tcase_create("outcome");
    backends_add(outcome, krylov_of_zero_is_zero_at_once);
    backends_add(outcome, krylov_starts_from_u);
    backends_add(outcome, krylov_of_no_unknowns_has_converged);
    backends_add(outcome, krylov_stops_at_its_limit);
    backends_add(outcome, krylov_stagnates_where_rounding_ends_it);
    backends_add(outcome, krylov_tells_the_residual_of_every_iteration);
    backends_add(outcome, cg_breaks_down_where_the_operator_is_not_positive);
    backends_add(outcome, bicgstab_breaks_down_where_beginning_again_does_not_help);
    backends_add(outcome, bicgstab_begins_again_after_a_breakdown);
    backends_add(outcome, krylov_names_the_entry_that_jacobi_cannot_divide_by);
    backends_add(outcome, krylov_with_what_is_not_a_number_is_diverged);
    backends_add(outcome, cg_that_blows_up_is_diverged);
    suite_add_tcase(suite, outcome);
    return suite;
}

RUBUS_TEST_MAIN("krylov_outcome", outcome_suite)
