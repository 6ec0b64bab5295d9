/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints: a run that was cut in two is the same run to the bit, with every kernel
 * set and across backends; every kind of damaged or foreign file is refused.
 */
#include "config.h"

#include <sys/stat.h>

#include "tests/solver/relax_probe.h"

/* Runs `first` iterations, saves, and goes on in another solver on another backend. */
static result cut_in_two(const rubus_relax_desc *desc, int64_t first, const char *from,
                         const char *to)
{
    rubus_context *one = open_context(from);
    rubus_relax *relax = make(one, desc);
    MUST(rubus_relax_run(relax, first, NULL, NULL));
    MUST(rubus_relax_save(relax, "c.bin"));
    rubus_relax_destroy(relax);
    rubus_context_destroy(one);
    rubus_context *two = open_context(to);
    MUST(rubus_relax_load(two, "c.bin", NULL, &relax));
    ck_assert_int_eq(report_of(relax).iterations, first);
    MUST(rubus_relax_run(relax, -1, NULL, NULL));
    const result r = result_of(relax);
    rubus_relax_destroy(relax);
    rubus_context_destroy(two);
    return r;
}

START_TEST(checkpoint_of_any_iteration_continues_to_the_same_bits)
{
    static const int64_t at[] = {0, 1, 7, 9, 10, 11, 19, 205, 399, 400};
    rubus_relax_desc desc = problem(1, 64, 0, 0);
    desc.tol = -1;
    desc.niter = 400;
    desc.kernels = all_sets[_i];
    result whole = solve_on("threads", &desc);
    CLOSE(whole.u[31], 0.4949601532044946, 1e-12);
    for (int i = 0; i < 10; i++) {
        const bool down = i % 2 == 0;
        result r = cut_in_two(&desc, at[i], down ? "threads" : "reference",
                              down ? "reference" : "threads:threads=3");
        ended(&r, RUBUS_OUTCOME_LIMIT, 400);
        same_bits(&whole, &r);
        ck_assert(r.report.beta == whole.report.beta);
        ck_assert_uint_eq(r.report.nhistory, whole.report.nhistory);
        result_free(&r);
    }
    result_free(&whole);
}
END_TEST

START_TEST(checkpoint_of_every_dimension_and_real_continues)
{
    for (int32_t dim = 1; dim <= 3; dim++) {
        for (int32_t real = RUBUS_F32; real <= RUBUS_F64; real++) {
            rubus_relax_desc desc = problem(dim, 11, 9, 7);
            desc.real = real;
            desc.tol = -1;
            desc.niter = 60;
            desc.profile = dim - 1;
            desc.mean = RUBUS_MEAN_HARMONIC;
            desc.left = 3;
            desc.init = 1;
            desc.kernels = all_sets[_i];
            result whole = solve_on("threads", &desc);
            result r = cut_in_two(&desc, 29, "threads", "threads");
            same_bits(&whole, &r);
            result_free(&whole);
            result_free(&r);
        }
    }
}
END_TEST

static rubus_relax *load(rubus_context *context, const rubus_relax_desc *changes)
{
    rubus_relax *relax = NULL;
    MUST(rubus_relax_load(context, "c.bin", changes, &relax));
    return relax;
}

/* A limit that is raised, and a tolerance that is lowered after convergence: the run that
 * had them from the start. */
START_TEST(checkpoint_with_another_limit_or_tolerance_continues)
{
    rubus_context *context = open_context("threads");
    rubus_relax_desc desc = problem(1, 64, 0, 0);
    desc.kernels = all_sets[_i];
    desc.niter = 205;
    rubus_relax *relax = make(context, &desc);
    MUST(rubus_relax_run(relax, -1, NULL, NULL));
    MUST(rubus_relax_save(relax, "c.bin"));
    rubus_relax_destroy(relax);
    relax = load(context, NULL);
    MUST(rubus_relax_run(relax, -1, NULL, NULL));
    ck_assert_int_eq(report_of(relax).outcome, RUBUS_OUTCOME_LIMIT);
    ck_assert_int_eq(report_of(relax).iterations, 205);
    rubus_relax_destroy(relax);
    rubus_relax_desc changes = {.struct_size = sizeof changes, .niter = 2000};
    relax = load(context, &changes);
    MUST(rubus_relax_run(relax, -1, NULL, NULL));
    result r = result_of(relax);
    ended(&r, RUBUS_OUTCOME_CONVERGED, 630); /* ends inside a change of the damping */
    result_free(&r);
    MUST(rubus_relax_save(relax, "c.bin"));
    rubus_relax_destroy(relax);
    relax = load(context, NULL);
    MUST(rubus_relax_run(relax, -1, NULL, NULL));
    ck_assert_int_eq(report_of(relax).iterations, 630);
    rubus_relax_destroy(relax);
    changes.tol = 1e-9;
    desc.tol = 1e-9;
    desc.niter = 2000;
    result whole = solve_in(context, &desc);
    ck_assert_int_eq(whole.report.outcome, RUBUS_OUTCOME_CONVERGED);
    relax = load(context, &changes);
    ck_assert_int_eq(report_of(relax).outcome, RUBUS_OUTCOME_RUNNING);
    MUST(rubus_relax_save(relax, "c.bin")); /* the open half of the iteration is kept */
    rubus_relax_destroy(relax);
    relax = load(context, NULL);
    MUST(rubus_relax_run(relax, -1, NULL, NULL));
    r = result_of(relax);
    ended(&r, RUBUS_OUTCOME_CONVERGED, whole.report.iterations);
    same_bits(&whole, &r);
    result_free(&r);
    result_free(&whole);
    rubus_relax_destroy(relax);
    rubus_context_destroy(context);
}
END_TEST

START_TEST(checkpoint_of_an_ended_run_keeps_its_outcome)
{
    rubus_context *context = open_context("threads");
    rubus_relax_desc desc = problem(1, 24, 0, 0);
    desc.tol = -1;
    desc.niter = 20000;
    rubus_relax *relax = make(context, &desc);
    MUST(rubus_relax_run(relax, -1, NULL, NULL));
    const rubus_relax_report ended_report = report_of(relax);
    ck_assert_int_eq(ended_report.outcome, RUBUS_OUTCOME_STAGNATED);
    MUST(rubus_relax_save(relax, "c.bin"));
    rubus_relax_destroy(relax);
    relax = load(context, NULL);
    MUST(rubus_relax_run(relax, -1, NULL, NULL));
    ck_assert_int_eq(report_of(relax).outcome, RUBUS_OUTCOME_STAGNATED);
    ck_assert_int_eq(report_of(relax).iterations, ended_report.iterations);
    rubus_relax_destroy(relax);
    rubus_relax_desc changes = {.struct_size = sizeof changes, .tol = 1e-6};
    relax = load(context, &changes); /* with a tolerance that can be met it is met */
    MUST(rubus_relax_run(relax, -1, NULL, NULL));
    ck_assert_int_eq(report_of(relax).outcome, RUBUS_OUTCOME_CONVERGED);
    rubus_relax_destroy(relax);
    rubus_context_destroy(context);
}
END_TEST

/* --- what is refused ---------------------------------------------------------------- */

static rubus_context *context;

static char *file;
static size_t file_size;

static void setup(void)
{
    enter_work_folder();
    context = open_context("reference");
    rubus_relax_desc desc = problem(2, 6, 5, 0);
    desc.niter = 12;
    rubus_relax *relax = make(context, &desc);
    MUST(rubus_relax_run(relax, -1, NULL, NULL));
    MUST(rubus_relax_save(relax, "c.bin"));
    rubus_relax_destroy(relax);
    MUST(rubus__file_read("c.bin", SIZE_MAX / 2, &file, &file_size));
}

static void teardown(void)
{
    rubus__free(file);
    rubus_context_destroy(context);
    leave_work_folder();
}

static void refused(const char *path, rubus_status status, const char *part)
{
    rubus_relax *relax = NULL;
    REFUSED(rubus_relax_load(context, path, NULL, &relax), status, part);
    ck_assert_msg(strstr(rubus_error_text(), path) != NULL, "%s", rubus_error_text());
    ck_assert_ptr_null(relax);
}

START_TEST(checkpoint_cut_short_is_refused)
{
    for (size_t n = 0; n<file_size; n += n + 40> file_size ? 1 : 7) {
        MUST(rubus__file_write("cut.bin", file, n));
        refused("cut.bin", RUBUS_EFORMAT, "");
    }
    char *longer = calloc(file_size + 8, 1);
    ck_assert_ptr_nonnull(longer);
    memcpy(longer, file, file_size);
    MUST(rubus__file_write("long.bin", longer, file_size + 8));
    free(longer);
    refused("long.bin", RUBUS_EFORMAT, "damaged");
}
END_TEST

START_TEST(checkpoint_with_one_wrong_bit_is_refused)
{
    for (size_t i = 0; i < file_size; i += i < 16 ? 1 : 5) {
        const char flip = (char)(1u << (i % 8));
        file[i] = (char)(file[i] ^ flip);
        MUST(rubus__file_write("bad.bin", file, file_size));
        refused("bad.bin", RUBUS_EFORMAT,
                i < 8    ? "not a checkpoint"
                : i < 12 ? "format"
                         : "damaged");
        file[i] = (char)(file[i] ^ flip);
    }
    MUST(rubus__file_write("good.bin", file, file_size));
    rubus_relax *relax = NULL;
    MUST(rubus_relax_load(context, "good.bin", NULL, &relax));
    rubus_relax_destroy(relax);
}
END_TEST

START_TEST(checkpoint_that_is_something_else_is_refused)
{
    refused("none.bin", RUBUS_EIO, "");
    refused(".", RUBUS_EIO, "");
    MUST(rubus__file_write("text.bin", "1\n2\n", 4));
    refused("text.bin", RUBUS_EFORMAT, "no checkpoint");
    char *zeros = calloc(10000, 1);
    ck_assert_ptr_nonnull(zeros);
    MUST(rubus__file_write("zero.bin", zeros, 10000));
    free(zeros);
    refused("zero.bin", RUBUS_EFORMAT, "not a checkpoint");
    rubus_relax *relax = NULL;
    REFUSED(rubus_relax_load(NULL, "c.bin", NULL, &relax), RUBUS_EINVAL, "context");
    REFUSED(rubus_relax_load(context, NULL, NULL, &relax), RUBUS_EINVAL, "path");
    REFUSED(rubus_relax_load(context, "c.bin", NULL, NULL), RUBUS_EINVAL, "out_relax");
}
END_TEST

/* A head that fits its digest, but not the fields behind it. */
START_TEST(checkpoint_whose_fields_do_not_fit_is_refused)
{
    int64_t nx = 0;
    char *at = file + 56; /* n[0], after magic, version and 11 more int32 */
    memcpy(&nx, at, sizeof nx);
    ck_assert_int_eq(nx, 6);
    nx = 7;
    memcpy(at, &nx, sizeof nx);
    const rubus__part all = {file, file_size - 32};
    rubus__sha256(&all, 1, (uint8_t *)file + file_size - 32);
    MUST(rubus__file_write("fit.bin", file, file_size));
    rubus_relax *relax = NULL;
    REFUSED(rubus_relax_load(context, "fit.bin", NULL, &relax), RUBUS_EFORMAT, "fit");
    ck_assert_ptr_null(relax);
}
END_TEST

/* Each change but niter and tol; equal values are no change. */
static rubus_relax_desc change(int i)
{
    static const double lambda = 1;
    rubus_relax_desc c = {.struct_size = sizeof c};
    switch (i) {
    case 0:
        c.dim = 3;
        break;
    case 1:
        c.real = RUBUS_F32;
        break;
    case 2:
        c.kernels = RUBUS_KERNELS_MATH;
        break;
    case 3:
        c.profile = 1;
        break;
    case 4:
        c.n[0] = 7;
        break;
    case 5:
        c.n[1] = 6;
        break;
    case 6:
        c.length[1] = 21;
        break;
    case 7:
        c.left = 1;
        break;
    case 8:
        c.right = 2;
        break;
    case 9:
        c.init = 1;
        break;
    case 10:
        c.mean = RUBUS_MEAN_HARMONIC;
        break;
    case 11:
        c.no_checks = 1;
        break;
    case 12:
        c.lambda_const = 1;
        break;
    case 13:
        c.lambda = &lambda;
        break;
    default:
        c.struct_size = 0;
        break;
    }
    return c;
}

START_TEST(checkpoint_of_another_problem_is_refused)
{
    rubus_relax *relax = NULL;
    for (int i = 0; i < 14; i++) {
        const rubus_relax_desc c = change(i);
        REFUSED(rubus_relax_load(context, "c.bin", &c, &relax), RUBUS_EINVAL,
                "another problem");
    }
    const rubus_relax_desc none = change(14);
    REFUSED(rubus_relax_load(context, "c.bin", &none, &relax), RUBUS_EINVAL,
            "struct_size");
    rubus_relax_desc bad = {.struct_size = sizeof bad, .tol = NAN};
    REFUSED(rubus_relax_load(context, "c.bin", &bad, &relax), RUBUS_EINVAL, "tol");
    ck_assert_ptr_null(relax);
    rubus_relax_desc same = problem(2, 6, 5, 0);
    same.real = RUBUS_F64;
    same.length[0] = same.length[1] = 20;
    same.kernels = RUBUS_KERNELS_FUSED;
    same.mean = RUBUS_MEAN_ARITHMETIC;
    MUST(rubus_relax_load(context, "c.bin", &same, &relax));
    rubus_relax_destroy(relax);
}
END_TEST

START_TEST(checkpoint_that_cannot_be_written_leaves_nothing)
{
    rubus_relax *relax = NULL;
    MUST(rubus_relax_load(context, "c.bin", NULL, &relax));
    ck_assert_int_eq(mkdir("folder", 0700), 0);
    REFUSED(rubus_relax_save(relax, "folder"), RUBUS_EIO, "folder");
    REFUSED(rubus_relax_save(relax, "no/such/c.bin"), RUBUS_EIO, "no/such/c.bin");
    REFUSED(rubus_relax_save(NULL, "d.bin"), RUBUS_EINVAL, "solver");
    REFUSED(rubus_relax_save(relax, NULL), RUBUS_EINVAL, "path");
    ck_assert_int_eq(system("test \"$(ls -A | tr '\\n' ' ')\" = 'c.bin folder '"), 0);
    rubus_relax_destroy(relax);
}
END_TEST

static rubus_status try_save(void *user, int64_t n)
{
    rubus__alloc_fail_after(n, false);
    const rubus_status st = rubus_relax_save(user, "d.bin");
    rubus__alloc_fail_after(0, false);
    return st;
}

static rubus_status try_load(void *user, int64_t n)
{
    rubus_relax *relax = NULL;
    rubus__alloc_fail_after(n, false);
    const rubus_status st = rubus_relax_load(user, "d.bin", NULL, &relax);
    rubus__alloc_fail_after(0, false);
    ck_assert((st == RUBUS_OK) == (relax != NULL));
    rubus_relax_destroy(relax);
    return st;
}

START_TEST(checkpoint_survives_the_failure_of_any_allocation)
{
    rubus_relax *relax = NULL;
    MUST(rubus_relax_load(context, "c.bin", NULL, &relax));
    fail_allocations(try_save, relax, 10);
    rubus_relax_destroy(relax);
    fail_allocations(try_load, context, 40);
}
END_TEST

static Suite *file_suite(void)
{
    Suite *suite = suite_create("relax file");
    TCase *goes_on = tcase_create("continue");
    tcase_add_checked_fixture(goes_on, enter_work_folder, leave_work_folder);
    tcase_add_loop_test(goes_on, checkpoint_of_any_iteration_continues_to_the_same_bits,
                        0, MOST_SETS);
    tcase_add_loop_test(goes_on, checkpoint_of_every_dimension_and_real_continues, 0,
                        MOST_SETS);
    tcase_add_loop_test(goes_on, checkpoint_with_another_limit_or_tolerance_continues, 0,
                        MOST_SETS);
    tcase_add_test(goes_on, checkpoint_of_an_ended_run_keeps_its_outcome);
    suite_add_tcase(suite, goes_on);
    TCase *bad = tcase_create("refused");
    tcase_add_checked_fixture(bad, setup, teardown);
    tcase_add_test(bad, checkpoint_cut_short_is_refused);
    tcase_add_test(bad, checkpoint_with_one_wrong_bit_is_refused);
    tcase_add_test(bad, checkpoint_that_is_something_else_is_refused);
    tcase_add_test(bad, checkpoint_whose_fields_do_not_fit_is_refused);
    tcase_add_test(bad, checkpoint_of_another_problem_is_refused);
    tcase_add_test(bad, checkpoint_that_cannot_be_written_leaves_nothing);
    tcase_add_test(bad, checkpoint_survives_the_failure_of_any_allocation);
    suite_add_tcase(suite, bad);
    return suite;
}

RUBUS_TEST_MAIN("relaxation: checkpoints", file_suite)
