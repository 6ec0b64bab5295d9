/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a relaxation ends (converged, limit, stagnated, diverged, stopped), what it refuses
 * to begin with, and that it survives a failure of every allocation.
 */
#include "config.h"

#include "tests/solver/relax_probe.h"

/* --- outcomes ----------------------------------------------------------------------- */

START_TEST(relax_whose_start_is_the_solution_converges_at_iteration_0)
{
    static const int64_t nx[] = {200, 64, 12};
    for (int i = 0; i < 3; i++) {
        for (int s = 0; s < MOST_SETS; s++) {
            rubus_relax_desc desc = problem(1, nx[i], 0, 0);
            desc.lambda_const = 1;
            desc.left = 1;
            desc.init = 1;
            desc.kernels = all_sets[s];
            result one = solve_on(_i == 0 ? "reference" : "threads", &desc);
            ended(&one, RUBUS_OUTCOME_CONVERGED, 0);
            ck_assert(one.report.residual == 0);
            ck_assert_uint_eq(one.report.nhistory, 0);
            desc.left = desc.right = desc.init = 0;
            result zero = solve_on("threads", &desc);
            ended(&zero, RUBUS_OUTCOME_CONVERGED, 0);
            for (int64_t k = 0; k < nx[i]; k++) {
                ck_assert(one.u[k] == 1 && zero.u[k] == 0);
            }
            result_free(&one);
            result_free(&zero);
        }
    }
}
END_TEST

/* Without checks nothing stops the same run; where nothing moves the damping has no sums,
 * and keeps its value. */
START_TEST(relax_without_motion_stays_finite)
{
    for (int s = 0; s < MOST_SETS; s++) {
        rubus_relax_desc desc = problem(1, 200, 0, 0);
        desc.lambda_const = 1;
        desc.left = 1;
        desc.init = 1;
        desc.no_checks = 1;
        desc.niter = 45;
        desc.kernels = all_sets[s];
        result r = solve_on("threads", &desc);
        ended(&r, RUBUS_OUTCOME_LIMIT, 45);
        ck_assert(isfinite(r.report.beta));
        for (int64_t i = 0; i < 200; i++) {
            ck_assert(r.u[i] == 1);
        }
        result_free(&r);
    }
}
END_TEST

START_TEST(relax_stops_at_its_limit)
{
    rubus_relax_desc desc = problem(1, 64, 0, 0);
    desc.kernels = all_sets[_i];
    desc.niter = 50;
    result r = solve_on("threads", &desc);
    ended(&r, RUBUS_OUTCOME_LIMIT, 50);
    CLOSE(r.report.residual, 0.14873069234198705, 1e-9); /* of iteration 49 */
    result_free(&r);
    desc.niter = 629;
    r = solve_on("threads", &desc);
    ended(&r, RUBUS_OUTCOME_LIMIT, 629);
    CLOSE(r.report.residual, 1.016074155013591e-06, 1e-10); /* of iteration 623 */
    result_free(&r);
    desc.niter = 630;
    r = solve_on("threads", &desc);
    ended(&r, RUBUS_OUTCOME_CONVERGED, 630);
    result_free(&r);
    desc.niter = -1;
    r = solve_on("threads", &desc);
    ended(&r, RUBUS_OUTCOME_LIMIT, 0);
    for (int64_t i = 0; i < 64; i++) {
        ck_assert(r.u[i] == (i == 63 ? 1 : 0));
    }
    result_free(&r);
}
END_TEST

/* 200 cells in f32: the residual stays at some 1e-4, far over the tolerance of 1e-6. */
START_TEST(relax_at_the_floor_of_f32_never_claims_convergence)
{
    rubus_relax_desc desc = problem(1, 200, 0, 0);
    desc.real = RUBUS_F32;
    desc.kernels = all_sets[_i];
    result r = solve_on("threads", &desc);
    ck_assert_msg(r.report.outcome == RUBUS_OUTCOME_LIMIT ||
                      r.report.outcome == RUBUS_OUTCOME_STAGNATED,
                  "%s", rubus_outcome_name(r.report.outcome));
    ck_assert(r.report.residual > 1e-6);
    CLOSE(r.u[99], 0.499724548945, 1e-2);
    result_free(&r);
    desc.niter = 60000;
    r = solve_on("threads", &desc);
    ck_assert_int_eq(r.report.outcome, RUBUS_OUTCOME_STAGNATED);
    ck_assert_int_lt(r.report.iterations, 60000);
    result_free(&r);
}
END_TEST

START_TEST(relax_in_f32_gives_equal_bits_everywhere)
{
    rubus_relax_desc desc = problem(2, 33, 21, 0);
    desc.real = RUBUS_F32;
    desc.niter = 57;
    result first = solve_on("reference", &desc);
    for (int s = 0; s < MOST_SETS; s++) {
        desc.kernels = all_sets[s];
        result r = solve_on("threads:threads=3", &desc);
        same_bits(&first, &r);
        result_free(&r);
    }
    result_free(&first);
}
END_TEST

START_TEST(relax_with_tolerance_0_stagnates_at_rounding_level)
{
    rubus_relax_desc desc = problem(1, 64, 0, 0);
    desc.tol = -1;
    desc.niter = 100000;
    desc.kernels = all_sets[_i];
    result r = solve_on("threads", &desc);
    ck_assert_int_eq(r.report.outcome, RUBUS_OUTCOME_STAGNATED);
    ck_assert_int_lt(r.report.iterations, 5000);
    ck_assert(r.report.residual < 5e-12);
    CLOSE(r.u[31], 0.49915811634906704, 1e-12); /* the exact discrete solution */
    result_free(&r);
}
END_TEST

/* Runs 40 iterations, spoils the field, goes on. */
static result spoil(int32_t kernels, double value)
{
    rubus_context *context = open_context("threads");
    rubus_relax_desc desc = problem(2, 20, 20, 0);
    desc.kernels = kernels;
    desc.tol = 1e-9;
    desc.niter = 3000;
    rubus_relax *relax = make(context, &desc);
    MUST(rubus_relax_run(relax, 40, NULL, NULL));
    MUST(rubus_array_write_range(rubus_relax_field(relax), 210, 1, &value));
    MUST(rubus_relax_run(relax, -1, NULL, NULL));
    const result r = result_of(relax);
    rubus_relax_destroy(relax);
    rubus_context_destroy(context);
    return r;
}

START_TEST(relax_that_blows_up_is_diverged)
{
    static const double bad[] = {1e12, 1e200, INFINITY, NAN};
    for (int i = 0; i < 4; i++) {
        result r = spoil(all_sets[_i], bad[i]);
        ended(&r, RUBUS_OUTCOME_DIVERGED, 42); /* a check every 2 */
        result_free(&r);
    }
    result r = spoil(all_sets[_i], 2);
    ck_assert_int_eq(r.report.outcome, RUBUS_OUTCOME_CONVERGED);
    result_free(&r);
}
END_TEST

/* Fluxes that no double holds. */
START_TEST(relax_whose_start_residual_overflows_is_diverged)
{
    rubus_relax_desc desc = problem(2, 16, 16, 0);
    desc.lambda_const = 1e308;
    desc.length[0] = desc.length[1] = 1e-3;
    desc.kernels = all_sets[_i];
    result r = solve_on("threads", &desc);
    ended(&r, RUBUS_OUTCOME_DIVERGED, 0);
    ck_assert(!isfinite(r.report.residual));
    result_free(&r);
}
END_TEST

/* Units cannot make a start look converged: conductivity of 1e-9 in a box of 1e6. */
START_TEST(relax_in_small_units_caps_its_tolerance)
{
    rubus_relax_desc desc = problem(1, 32, 0, 0);
    desc.lambda_const = 1e-9;
    desc.length[0] = 1e6;
    desc.niter = 2000;
    result r = solve_on("threads", &desc);
    const double dx = 1e6 / 32;
    ck_assert_int_eq(r.report.outcome, RUBUS_OUTCOME_CONVERGED);
    CLOSE(r.report.tolerance, 1e-6 * 1e-9 / (dx * dx), 1e-30);
    CLOSE(r.u[16], 16.0 / 31, 1e-4);
    result_free(&r);
}
END_TEST

/* --- running in pieces -------------------------------------------------------------- */

typedef struct stopper {
    int calls;
    int64_t iteration;
    double residual;
} stopper;

static int stop_at_third(void *user, int64_t iteration, double residual)
{
    stopper *s = user;
    s->iteration = iteration;
    s->residual = residual;
    return ++s->calls == 3;
}

START_TEST(relax_run_in_pieces_equals_one_run)
{
    rubus_relax_desc desc = problem(1, 64, 0, 0);
    desc.kernels = all_sets[_i];
    result whole = solve_on("threads", &desc);
    rubus_context *context = open_context("threads");
    rubus_relax *relax = make(context, &desc);
    ck_assert_int_eq(report_of(relax).outcome, RUBUS_OUTCOME_RUNNING);
    MUST(rubus_relax_run(relax, 0, NULL, NULL));
    ck_assert_int_eq(report_of(relax).iterations, 0);
    stopper s = {0, 0, 0};
    MUST(rubus_relax_run(relax, -1, stop_at_third, &s));
    rubus_relax_report report = report_of(relax);
    ck_assert_int_eq(report.outcome, RUBUS_OUTCOME_RUNNING);
    ck_assert_int_eq(report.iterations, 21);
    ck_assert_int_eq(s.iteration, 21);
    ck_assert(s.residual == report.residual);
    for (int piece = 1; report.outcome == RUBUS_OUTCOME_RUNNING; piece++) {
        MUST(rubus_relax_run(relax, piece, NULL, NULL));
        const int64_t before = report.iterations;
        report = report_of(relax);
        ck_assert(report.iterations == before + piece ||
                  report.outcome == RUBUS_OUTCOME_CONVERGED);
    }
    result pieces = result_of(relax);
    ended(&pieces, RUBUS_OUTCOME_CONVERGED, 630);
    same_bits(&whole, &pieces);
    MUST(rubus_relax_run(relax, -1, NULL, NULL)); /* ended: nothing happens */
    ck_assert_int_eq(report_of(relax).iterations, 630);
    result_free(&whole);
    result_free(&pieces);
    rubus_relax_destroy(relax);
    rubus_context_destroy(context);
}
END_TEST

START_TEST(relax_without_checks_runs_all_iterations_with_the_same_bits)
{
    rubus_relax_desc desc = problem(2, 30, 20, 0);
    desc.kernels = all_sets[_i];
    desc.niter = 137;
    desc.tol = -1;
    result checked = solve_on("threads", &desc);
    desc.no_checks = 1;
    result unchecked = solve_on("threads", &desc);
    ended(&unchecked, RUBUS_OUTCOME_LIMIT, 137);
    ck_assert_uint_eq(unchecked.report.nhistory, 0);
    ck_assert(isnan(unchecked.report.residual));
    ck_assert_uint_eq(checked.report.nhistory, 45);
    same_bits(&checked, &unchecked);
    result_free(&checked);
    result_free(&unchecked);
}
END_TEST

/* --- what is refused ---------------------------------------------------------------- */

START_TEST(relax_with_a_bad_coefficient_is_refused_by_number)
{
    static const double bad[] = {NAN, -10, 0, INFINITY, -INFINITY, 1e300, 1e-60};
    rubus_context *context = open_context("threads");
    double lambda[63];
    rubus_relax *relax = NULL;
    for (int i = 0; i < 7; i++) {
        for (int k = 0; k < 63; k++) {
            lambda[k] = k == 19 ? bad[i] : 1;
        }
        rubus_relax_desc desc = problem(1, 64, 0, 0);
        desc.real = i < 5 ? RUBUS_F64 : RUBUS_F32; /* the last two have no place in f32 */
        desc.lambda = lambda;
        desc.nlambda = 63;
        REFUSED(rubus_relax_create(context, &desc, &relax), RUBUS_EINVAL, "number 20 is");
        desc.lambda = NULL;
        desc.lambda_const = bad[i] == 0 ? -0.5 : bad[i];
        REFUSED(rubus_relax_create(context, &desc, &relax), RUBUS_EINVAL, "coefficient");
    }
    ck_assert_ptr_null(relax);
    rubus_context_destroy(context);
}
END_TEST

START_TEST(relax_with_a_wrong_number_of_coefficients_is_refused)
{
    rubus_context *context = open_context("threads");
    double lambda[20 * 20];
    for (int i = 0; i < 400; i++) {
        lambda[i] = 1;
    }
    rubus_relax *relax = NULL;
    rubus_relax_desc desc = problem(1, 20, 0, 0);
    desc.lambda = lambda;
    static const int64_t wrong[] = {-1, 0, 1, 18, 21, 400};
    for (int i = 0; i < 6; i++) {
        desc.nlambda = wrong[i];
        REFUSED(rubus_relax_create(context, &desc, &relax), RUBUS_ESHAPE, "19");
    }
    for (desc.nlambda = 19; desc.nlambda <= 20; desc.nlambda++) {
        MUST(rubus_relax_create(context, &desc, &relax));
        rubus_relax_destroy(relax);
    }
    desc.dim = 2;
    desc.n[1] = 20;
    desc.nlambda = 399;
    relax = NULL;
    REFUSED(rubus_relax_create(context, &desc, &relax), RUBUS_ESHAPE, "400");
    ck_assert_ptr_null(relax);
    rubus_context_destroy(context);
}
END_TEST

/* One field of a good desc set to something impossible. */
typedef struct bad_field {
    const char *part; /* of the error text */
    size_t offset;
    char kind; /* 'i' int32, 'l' int64, 'd' double, 's' size */
    double value;
} bad_field;

#define AT(member) offsetof(rubus_relax_desc, member)

static const bad_field bad_fields[] = {
    {"struct_size", AT(struct_size), 's', 4},
    {"0 dimensions", AT(dim), 'i', 0},
    {"4 dimensions", AT(dim), 'i', 4},
    {"real", AT(real), 'i', RUBUS_I32},
    {"no kernel set 4", AT(kernels), 'i', 4},
    {"no kernel set -1", AT(kernels), 'i', -1},
    {"profile axis 2", AT(profile), 'i', 2},
    {"profile axis -1", AT(profile), 'i', -1},
    {"nx is 2", AT(n[0]), 'l', 2},
    {"ny is -5", AT(n[1]), 'l', -5},
    {"ny is 0", AT(n[1]), 'l', 0},
    {"2^59", AT(n[0]), 'l', 1e18},
    {"length along x", AT(length[0]), 'd', -1},
    {"length along y", AT(length[1]), 'd', NAN},
    {"length along x", AT(length[0]), 'd', INFINITY},
    {"left is", AT(left), 'd', NAN},
    {"right is", AT(right), 'd', -INFINITY},
    {"init is", AT(init), 'd', NAN},
    {"tol is", AT(tol), 'd', NAN},
    {"tol is", AT(tol), 'd', INFINITY},
    {"no mean 3", AT(mean), 'i', 3},
};
#define NBAD (int)(sizeof bad_fields / sizeof bad_fields[0])

static void set_field(rubus_relax_desc *desc, const bad_field *f)
{
    const int32_t i = f->kind == 'i' ? (int32_t)f->value : 0;
    const int64_t l = f->kind == 'l' ? (int64_t)f->value : 0;
    const size_t s = f->kind == 's' ? (size_t)f->value : 0;
    char *at = (char *)desc + f->offset;
    switch (f->kind) {
    case 'i':
        memcpy(at, &i, sizeof i);
        break;
    case 'l':
        memcpy(at, &l, sizeof l);
        break;
    case 's':
        memcpy(at, &s, sizeof s);
        break;
    default:
        memcpy(at, &f->value, sizeof f->value);
        break;
    }
}

START_TEST(relax_with_a_bad_desc_is_refused)
{
    rubus_context *context = open_context("threads");
    rubus_relax *relax = NULL;
    for (int i = 0; i < NBAD; i++) {
        rubus_relax_desc desc = problem(2, 16, 16, 0);
        set_field(&desc, &bad_fields[i]);
        REFUSED(rubus_relax_create(context, &desc, &relax), RUBUS_EINVAL,
                bad_fields[i].part);
    }
    rubus_relax_desc narrow = problem(2, 16, 16, 0);
    narrow.real = RUBUS_F32;
    narrow.right = 1e39; /* no float */
    REFUSED(rubus_relax_create(context, &narrow, &relax), RUBUS_EINVAL, "right is");
    narrow = problem(1, 16, 0, 0);
    narrow.real = RUBUS_F32;
    narrow.length[0] = 1e25; /* the spacing has a float, its square has none */
    REFUSED(rubus_relax_create(context, &narrow, &relax), RUBUS_EINVAL,
            "too large for f32; scale the box");
    narrow.real = RUBUS_F64;
    narrow.length[0] = 1e180;
    REFUSED(rubus_relax_create(context, &narrow, &relax), RUBUS_EINVAL,
            "too large for f64; scale the box");
    narrow = problem(1, 16, 0, 0);
    narrow.real = RUBUS_F32;
    narrow.tol = 1e-40;
    REFUSED(rubus_relax_create(context, &narrow, &relax), RUBUS_EINVAL,
            "below the normal numbers of f32");
    ck_assert_ptr_null(relax);
    rubus_relax_desc huge = problem(1, INT64_C(1) << 58, 0, 0);
    const rubus_status st = rubus_relax_create(context, &huge, &relax);
    ck_assert_msg(st == RUBUS_ELIMIT || st == RUBUS_EDEVMEM || st == RUBUS_ENOMEM, "%s",
                  rubus_status_name(st));
    rubus_context_destroy(context);
}
END_TEST

START_TEST(relax_with_null_arguments_is_refused)
{
    rubus_context *context = open_context("threads");
    const rubus_relax_desc desc = problem(1, 8, 0, 0);
    rubus_relax *relax = NULL;
    REFUSED(rubus_relax_create(NULL, &desc, &relax), RUBUS_EINVAL, "context");
    REFUSED(rubus_relax_create(context, NULL, &relax), RUBUS_EINVAL, "desc");
    REFUSED(rubus_relax_create(context, &desc, NULL), RUBUS_EINVAL, "out_relax");
    REFUSED(rubus_relax_run(NULL, 1, NULL, NULL), RUBUS_EINVAL, "NULL");
    rubus_relax_report report = {.struct_size = sizeof report};
    REFUSED(rubus_relax_report_get(NULL, &report), RUBUS_EINVAL, "solver");
    relax = make(context, &desc);
    REFUSED(rubus_relax_report_get(relax, NULL), RUBUS_EINVAL, "report");
    report.struct_size = 3;
    REFUSED(rubus_relax_report_get(relax, &report), RUBUS_EINVAL, "struct_size");
    /* an older program knows the first members only */
    memset(&report, 0x55, sizeof report);
    report.struct_size = offsetof(rubus_relax_report, iterations);
    MUST(rubus_relax_report_get(relax, &report));
    ck_assert_int_eq(report.outcome, RUBUS_OUTCOME_RUNNING);
    ck_assert_int_eq(report.iterations, 0x5555555555555555);
    ck_assert_ptr_null(rubus_relax_field(NULL));
    ck_assert_ptr_null(rubus_relax_desc_get(NULL));
    rubus_relax_destroy(NULL);
    ck_assert_str_eq(rubus_outcome_name(RUBUS_OUTCOME_STAGNATED), "stagnated");
    ck_assert_str_eq(rubus_outcome_name(-1), "?");
    ck_assert_str_eq(rubus_outcome_name(RUBUS_OUTCOME_BREAKDOWN), "breakdown");
    ck_assert_str_eq(rubus_outcome_name(6), "?");
    const rubus_relax_desc *full = rubus_relax_desc_get(relax);
    ck_assert_int_eq(full->niter, 120);
    ck_assert(full->tol == 1e-6 && full->length[0] == 20);
    ck_assert_int_eq(full->kernels, RUBUS_KERNELS_FUSED);
    rubus_context_destroy(context); /* the solver holds it */
    MUST(rubus_relax_run(relax, -1, NULL, NULL));
    rubus_relax_destroy(relax);
}
END_TEST

/* --- memory ------------------------------------------------------------------------- */

typedef struct solver_try {
    rubus_context *context;
    rubus_relax_desc desc;
} solver_try;

static rubus_status try_solver(void *user, int64_t n)
{
    const solver_try *t = user;
    rubus_relax *relax = NULL;
    rubus__alloc_fail_after(n, false);
    rubus_status st = rubus_relax_create(t->context, &t->desc, &relax);
    if (st == RUBUS_OK) {
        st = rubus_relax_run(relax, -1, NULL, NULL);
    }
    rubus__alloc_fail_after(0, false);
    if (st != RUBUS_OK && relax != NULL) {
        /* goes on where it stood, or says that it cannot */
        const rubus_status again = rubus_relax_run(relax, -1, NULL, NULL);
        if (again == RUBUS_OK) {
            ck_assert_int_eq(report_of(relax).iterations, t->desc.niter);
        } else {
            ck_assert_int_eq(again, RUBUS_ESTATE);
            REFUSED(rubus_relax_save(relax, "/nowhere/c.bin"), RUBUS_ESTATE, "failed");
        }
    }
    rubus_relax_destroy(relax);
    return st;
}

START_TEST(relax_survives_the_failure_of_any_allocation)
{
    double lambda[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    solver_try t = {open_context("reference"), problem(1, 8, 0, 0)};
    t.desc.kernels = all_sets[_i];
    t.desc.niter = 66; /* a check every iteration: the history grows after 64 */
    t.desc.tol = -1;
    t.desc.lambda = lambda;
    t.desc.nlambda = 8;
    fail_allocations(try_solver, &t, 100);
    rubus_context_destroy(t.context);
}
END_TEST

static Suite *outcome_suite(void)
{
    Suite *suite = suite_create("relax outcome");
    TCase *ends = tcase_create("outcome");
    tcase_add_loop_test(ends, relax_whose_start_is_the_solution_converges_at_iteration_0,
                        0, 2);
    tcase_add_test(ends, relax_without_motion_stays_finite);
    tcase_add_loop_test(ends, relax_stops_at_its_limit, 0, MOST_SETS);
    tcase_add_loop_test(ends, relax_at_the_floor_of_f32_never_claims_convergence, 0,
                        MOST_SETS);
    tcase_add_test(ends, relax_in_f32_gives_equal_bits_everywhere);
    tcase_add_loop_test(ends, relax_with_tolerance_0_stagnates_at_rounding_level, 0,
                        MOST_SETS);
    tcase_add_loop_test(ends, relax_that_blows_up_is_diverged, 0, MOST_SETS);
    tcase_add_loop_test(ends, relax_whose_start_residual_overflows_is_diverged, 0,
                        MOST_SETS);
    tcase_add_test(ends, relax_in_small_units_caps_its_tolerance);
    tcase_add_loop_test(ends, relax_run_in_pieces_equals_one_run, 0, MOST_SETS);
    tcase_add_loop_test(ends, relax_without_checks_runs_all_iterations_with_the_same_bits,
                        0, MOST_SETS);
    suite_add_tcase(suite, ends);
    TCase *input = tcase_create("input");
    tcase_add_test(input, relax_with_a_bad_coefficient_is_refused_by_number);
    tcase_add_test(input, relax_with_a_wrong_number_of_coefficients_is_refused);
    tcase_add_test(input, relax_with_a_bad_desc_is_refused);
    tcase_add_test(input, relax_with_null_arguments_is_refused);
    suite_add_tcase(suite, input);
    TCase *memory = tcase_create("memory");
    tcase_add_loop_test(memory, relax_survives_the_failure_of_any_allocation, 0,
                        MOST_SETS);
    suite_add_tcase(suite, memory);
    return suite;
}

RUBUS_TEST_MAIN("relaxation: outcomes and refusals", outcome_suite)
