/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relaxation solver against the iteration path and the values that its algorithm
 * fixes, on every backend and with every kernel set; against closed forms; and against
 * the algorithm written down once more for the host.
 */
#include "config.h"

#include "tests/solver/relax_probe.h"
#include "tests/support/vulkan_specs.h"

static const char *const all_backends[] = {"reference", "threads:threads=1",
                                           "threads:threads=2",
                                           "threads:threads=3" VULKAN_SPECS};
#define NBACKEND (sizeof all_backends / sizeof all_backends[0])

/* Solves with all kernel sets on backends first to last: equal iterations, equal bits.
 * Returns the last result. */
static result solve_everywhere(const rubus_relax_desc *given, size_t first, size_t last,
                               int64_t iterations)
{
    result seen = {.count = 0};
    for (size_t b = first; b <= last; b++) {
        rubus_context *context = open_context(all_backends[b]);
        for (int s = 0; s < MOST_SETS; s++) {
            rubus_relax_desc desc = *given;
            desc.kernels = all_sets[s];
            result r = solve_in(context, &desc);
            ended(&r, RUBUS_OUTCOME_CONVERGED, iterations);
            ck_assert(r.report.residual < r.report.tolerance);
            if (seen.u != NULL) {
                same_bits(&seen, &r);
                ck_assert(seen.report.residual == r.report.residual);
                ck_assert(seen.report.beta == r.report.beta);
                result_free(&seen);
            }
            seen = r;
        }
        rubus_context_destroy(context);
    }
    return seen;
}

/* --- the reference runs ------------------------------------------------------------- */

START_TEST(relax_1d_64_takes_the_known_path)
{
    const rubus_relax_desc desc = problem(1, 64, 0, 0);
    result r = solve_everywhere(&desc, 0, NBACKEND - 1, 630);
    CLOSE(r.report.residual, 8.3850008252284165e-07, 8.4e-11);
    CLOSE(r.report.beta, 0.94264844750509147, 1e-6);
    /* the published values, at 8, 16, 32, 48, 56 counted from 1 */
    CLOSE(r.u[7], 0.12964753561537665, 1e-12);
    CLOSE(r.u[15], 0.27781628959201216, 1e-12);
    CLOSE(r.u[31], 0.49914932793047123, 1e-12);
    CLOSE(r.u[47], 0.70365130873788351, 1e-12);
    CLOSE(r.u[55], 0.85182557105515, 1e-12);
    ck_assert(r.u[0] == 0 && r.u[63] == 1);
    ck_assert_uint_eq(r.report.nhistory, 90); /* a check every 7 */
    result_free(&r);
}
END_TEST

START_TEST(relax_2d_128_takes_the_known_path)
{
    const rubus_relax_desc desc = problem(2, 128, 128, 0);
    result r = solve_everywhere(&desc, 1, NBACKEND - 1, 845);
    CLOSE(r.report.residual, 9.6219498016154176e-07, 9.6e-11);
    CLOSE(r.report.beta, 0.95871208179610412, 1e-6);
    CLOSE(at(&r, 32, 32, 0), 0.25786910246831674, 1e-12);
    CLOSE(at(&r, 64, 64, 0), 0.50090493140471359, 1e-12);
    CLOSE(at(&r, 96, 32, 0), 0.75012774357557399, 1e-12);
    CLOSE(at(&r, 32, 96, 0), 0.25757979467880426, 1e-12);
    CLOSE(at(&r, 64, 32, 0), 0.50368764000262156, 1e-12);
    CLOSE(at(&r, 56, 72, 0), 0.4711307395064438, 1e-12);
    double sum = 0;
    for (int64_t i = 0; i < r.count; i++) {
        sum += r.u[i];
    }
    CLOSE(sum, 8191.9868825355452, 1e-9);
    result_free(&r);
}
END_TEST

START_TEST(relax_2d_128_has_the_known_history)
{
    const rubus_relax_desc desc = problem(2, 128, 128, 0);
    rubus_context *context = open_context("threads");
    rubus_relax *relax = make(context, &desc);
    MUST(rubus_relax_run(relax, -1, NULL, NULL));
    const rubus_relax_report report = report_of(relax);
    ck_assert_uint_eq(report.nhistory, 65); /* 845 / 13 */
    CLOSE(report.history_residual[0], 9.617222, 1e-6);
    CLOSE(report.history_residual[1], 1.024507, 1e-6);
    CLOSE(report.history_residual[2], 3.251288e-01, 1e-7);
    CLOSE(report.history_residual[63], 1.250532e-06, 1e-10);
    CLOSE(report.history_residual[64], 9.621950e-07, 1e-10);
    for (uint64_t i = 0; i < report.nhistory; i++) {
        ck_assert(report.history_iteration[i] == 13 * ((double)i + 1) / 128);
    }
    ck_assert_int_eq(report.passes, 6);
    ck_assert(report.bytes_effective == 6.0 * 128 * 128 * 8);
    ck_assert(report.seconds > 0);
    rubus_relax_destroy(relax);
    rubus_context_destroy(context);
}
END_TEST

static void check_3d(const result *r)
{
    ended(r, RUBUS_OUTCOME_CONVERGED, 399);
    CLOSE(r->report.residual, 8.9112335615801341e-07, 8.9e-11);
    CLOSE(at(r, 16, 16, 16), 0.25466015536646497, 1e-12);
    CLOSE(at(r, 32, 32, 32), 0.50293339580837682, 1e-12);
    CLOSE(at(r, 48, 16, 32), 0.76046252064753128, 1e-12);
    CLOSE(at(r, 16, 32, 32), 0.25906161224426483, 1e-12);
    CLOSE(at(r, 28, 32, 32), 0.474659406359489, 1e-12);
    CLOSE(at(r, 32, 16, 48), 0.50789123228475785, 1e-12);
}

START_TEST(relax_3d_64_takes_the_known_path)
{
    rubus_relax_desc desc = problem(3, 64, 64, 64);
    result one = solve_everywhere(&desc, 1, 1, 399);
    check_3d(&one);
    desc.kernels = all_sets[_i];
    result three = solve_on("threads:threads=3", &desc);
    check_3d(&three);
    same_bits(&one, &three);
    result_free(&one);
    result_free(&three);
}
END_TEST

/* --- other sizes -------------------------------------------------------------------- */

typedef struct sized {
    int32_t dim;
    int64_t n[3];
    double length[3];
    int64_t iterations;
    size_t backend; /* first that is quick enough */
} sized;

/* Counts of the reference implementation: 5.6 to 9 times nx, check every nx/10. */
static const sized sizes[] = {
    {1, {128, 0, 0}, {0}, 1157, 1},     {1, {256, 0, 0}, {0}, 2184, 1},
    {2, {16, 16, 0}, {0}, 90, 0},       {2, {32, 32, 0}, {0}, 208, 1},
    {2, {64, 64, 0}, {0}, 420, 1},      {2, {96, 64, 0}, {0}, 540, 1},
    {2, {12, 7, 0}, {20, 5, 0}, 54, 0}, {3, {16, 16, 16}, {0}, 86, 1},
    {3, {24, 24, 24}, {0}, 141, 1},     {3, {32, 24, 20}, {0}, 156, 1},
};
#define NSIZE (int)(sizeof sizes / sizeof sizes[0])

START_TEST(relax_of_any_size_takes_the_known_number_of_iterations)
{
    const sized *size = &sizes[_i];
    rubus_relax_desc desc = problem(size->dim, size->n[0], size->n[1], size->n[2]);
    memcpy(desc.length, size->length, sizeof desc.length);
    result r = solve_everywhere(&desc, size->backend, NBACKEND - 1, size->iterations);
    /* point symmetry of the data: u(x) + u(l - x) = 1, up to the tolerance */
    for (int64_t i = 0; i < r.count; i++) {
        CLOSE(r.u[i] + r.u[r.count - 1 - i], 1, 1e-4);
    }
    result_free(&r);
}
END_TEST

START_TEST(relax_3d_on_reference_gives_the_bits_of_threads)
{
    rubus_relax_desc desc = problem(3, 9, 7, 6);
    desc.kernels = all_sets[_i];
    desc.tol = -1;
    desc.niter = 25;
    result slow = solve_on("reference", &desc);
    result fast = solve_on("threads:threads=3", &desc);
    ended(&slow, RUBUS_OUTCOME_LIMIT, 25);
    same_bits(&slow, &fast);
    result_free(&slow);
    result_free(&fast);
}
END_TEST

/* --- closed forms and direct solves ------------------------------------------------- */

START_TEST(relax_of_constant_coefficient_gives_the_linear_profile)
{
    for (size_t b = 0; b < 2; b++) {
        rubus_relax_desc desc = problem(3, 10, 6, 5);
        desc.length[0] = 20;
        desc.length[1] = 7;
        desc.length[2] = 3;
        desc.lambda_const = 1;
        desc.profile = _i;
        desc.left = -2;
        desc.right = 5;
        result r = solve_on(all_backends[b], &desc);
        ck_assert_int_eq(r.report.outcome, RUBUS_OUTCOME_CONVERGED);
        for (int64_t k = 0; k < 5; k++) {
            for (int64_t j = 0; j < 6; j++) {
                for (int64_t i = 0; i < 10; i++) {
                    const double place[3] = {(double)i / 9, (double)j / 5, (double)k / 4};
                    CLOSE(at(&r, i, j, k), -2 + 7 * place[_i], 7e-6);
                }
            }
        }
        result_free(&r);
    }
}
END_TEST

static int64_t iterations_on(const char *backend, const rubus_relax_desc *desc)
{
    result r = solve_on(backend, desc);
    const int64_t iterations = r.report.iterations;
    result_free(&r);
    return iterations;
}

/* One inner layer has nothing to iterate but itself. */
START_TEST(relax_of_three_cells_converges)
{
    for (int32_t dim = 1; dim <= 3; dim++) {
        rubus_relax_desc desc = problem(dim, 3, 3, 3);
        desc.lambda_const = 2;
        desc.niter = 100;
        result r = solve_everywhere(&desc, 0, 1, iterations_on("reference", &desc));
        CLOSE(r.u[r.count / 2], 0.5, 1e-6);
        result_free(&r);
    }
}
END_TEST

START_TEST(relax_of_a_jump_of_1e6_reaches_the_exact_solution)
{
    double lambda[63];
    for (int i = 0; i < 63; i++) {
        lambda[i] = i < 31 ? 1 : 1e6;
    }
    rubus_relax_desc desc = problem(1, 64, 0, 0);
    desc.lambda = lambda;
    desc.nlambda = 63;
    result r = solve_on("threads", &desc);
    ended(&r, RUBUS_OUTCOME_CONVERGED, 707);
    /* u[i] is the sum of 1/lambda up to face i over the whole sum */
    double whole = 0;
    for (int i = 0; i < 63; i++) {
        whole += 1 / lambda[i];
    }
    double part = 0;
    for (int i = 0; i < 64; i++) {
        CLOSE(r.u[i], part / whole, 1e-6);
        part += i < 63 ? 1 / lambda[i] : 0;
    }
    result_free(&r);
    desc.real = RUBUS_F32;
    r = solve_on("threads", &desc);
    ck_assert_int_ne(r.report.outcome, RUBUS_OUTCOME_CONVERGED);
    result_free(&r);
}
END_TEST

/* The table holds the solution of a direct solve; row x, column y. */
START_TEST(relax_of_nonsquare_cells_reaches_the_direct_solve)
{
    const char *folder = getenv("RUBUS_TEST_SRCDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/cases/nonsquare.tsv",
             folder == NULL ? "." : folder);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    char comment[200];
    ck_assert_ptr_nonnull(fgets(comment, sizeof comment, file));
    rubus_relax_desc desc = problem(2, 12, 7, 0);
    desc.length[1] = 5;
    desc.tol = 1e-11;
    result r = solve_on("threads", &desc);
    ended(&r, RUBUS_OUTCOME_CONVERGED, 86);
    for (int i = 0; i < 12; i++) {
        for (int j = 0; j < 7; j++) {
            double want = 0;
            ck_assert_int_eq(fscanf(file, "%lf", &want), 1);
            CLOSE(at(&r, i, j, 0), want, 1e-9);
            CLOSE(at(&r, i, j, 0), at(&r, i, 6 - j, 0), 1e-9);
        }
    }
    fclose(file);
    /* turned by a quarter: its own data, and the transpose along the other axis */
    rubus_relax_desc turned = problem(2, 7, 12, 0);
    turned.length[0] = 5;
    turned.length[1] = 20;
    turned.profile = 1;
    turned.tol = 1e-11;
    turned.niter = 2000;
    result t = solve_on("threads", &turned);
    ck_assert_int_eq(t.report.outcome, RUBUS_OUTCOME_CONVERGED);
    for (int i = 0; i < 12; i++) {
        for (int j = 0; j < 7; j++) {
            CLOSE(at(&t, j, i, 0), at(&r, i, j, 0), 1e-9);
        }
    }
    result_free(&r);
    result_free(&t);
}
END_TEST

/* --- the algorithm once more, on the host ------------------------------------------- */

#define HX 9
#define HY 7

typedef struct host {
    bool harmonic;
    double _dx;
    double _dy;
    double lambda[HY][HX];
    double u[HY][HX];
    double d[HY][HX]; /* rim unused */
    double z[HY][HX];
} host;

static double face(const host *h, double a, double b)
{
    return h->harmonic ? 2 * a * b / (a + b) : (a + b) / 2;
}

/* z of the present u, and the diagonal by the way. */
static double host_z(const host *h, int i, int j)
{
    const double mid = h->lambda[j][i];
    const double west = face(h, h->lambda[j][i - 1], mid) * h->_dx * h->_dx;
    const double east = face(h, h->lambda[j][i + 1], mid) * h->_dx * h->_dx;
    const double south = face(h, h->lambda[j - 1][i], mid) * h->_dy * h->_dy;
    const double north = face(h, h->lambda[j + 1][i], mid) * h->_dy * h->_dy;
    const double r =
        west * (h->u[j][i - 1] - h->u[j][i]) + east * (h->u[j][i + 1] - h->u[j][i]) +
        south * (h->u[j - 1][i] - h->u[j][i]) + north * (h->u[j + 1][i] - h->u[j][i]);
    return r / (west + east + south + north);
}

static void host_step(host *h, int number, double *beta)
{
    const double alpha = 0.99 * (1 + *beta);
    double before[HY][HX];
    memcpy(before, h->z, sizeof before);
    for (int j = 1; j < HY - 1; j++) {
        for (int i = 1; i < HX - 1; i++) {
            h->u[j][i] += alpha * h->d[j][i];
        }
    }
    double num = 0;
    double den = 0;
    for (int j = 1; j < HY - 1; j++) {
        for (int i = 1; i < HX - 1; i++) {
            h->z[j][i] = host_z(h, i, j);
            num += h->d[j][i] * (h->z[j][i] - before[j][i]);
            den += h->d[j][i] * h->d[j][i];
        }
    }
    if (number % 10 == 0) {
        *beta = pow(1 - sqrt(fabs(num) / den), 2);
    }
    for (int j = 1; j < HY - 1; j++) {
        for (int i = 1; i < HX - 1; i++) {
            h->d[j][i] = *beta * h->d[j][i] + h->z[j][i];
        }
    }
}

START_TEST(relax_2d_follows_the_algorithm_on_the_host)
{
    const int niter = 33; /* three changes of the damping */
    host h = {.harmonic = _i == 1, ._dx = HX / 4.0, ._dy = HY / 3.0};
    for (int j = 0; j < HY; j++) {
        for (int i = 0; i < HX; i++) {
            h.lambda[j][i] = 1 + (i * 7 + j * 5) % 11;
            const bool rim = i == 0 || i == HX - 1 || j == 0 || j == HY - 1;
            h.u[j][i] = rim ? 3 - 4.0 * i / (HX - 1) : 0.25;
        }
    }
    rubus_relax_desc desc = problem(2, HX, HY, 0);
    desc.length[0] = 4;
    desc.length[1] = 3;
    desc.left = 3;
    desc.right = -1;
    desc.init = 0.25;
    desc.lambda = &h.lambda[0][0];
    desc.nlambda = (int64_t)HX * HY;
    desc.mean = h.harmonic ? RUBUS_MEAN_HARMONIC : RUBUS_MEAN_ARITHMETIC;
    desc.tol = -1;
    desc.niter = niter;
    double beta = 1 - 2 * acos(-1) / HX;
    for (int number = 1; number <= niter; number++) {
        host_step(&h, number, &beta);
    }
    for (int s = 0; s < MOST_SETS; s++) {
        desc.kernels = all_sets[s];
        result r = solve_on("threads", &desc);
        CLOSE(r.report.beta, beta, 1e-12);
        for (int j = 0; j < HY; j++) {
            for (int i = 0; i < HX; i++) {
                CLOSE(at(&r, i, j, 0), h.u[j][i], 1e-13);
            }
        }
        result_free(&r);
    }
}
END_TEST

/* In 1D cells become faces before the run. */
START_TEST(relax_1d_from_cells_equals_the_run_from_their_means)
{
    double cells[40];
    double faces[39];
    for (int i = 0; i < 40; i++) {
        cells[i] = 1 + (i * 13) % 17;
    }
    for (int i = 0; i < 39; i++) {
        faces[i] = _i == 1 ? 1 / (1 / cells[i] + 1 / cells[i + 1]) * 2
                           : 0.5 * (cells[i] + cells[i + 1]);
    }
    rubus_relax_desc desc = problem(1, 40, 0, 0);
    desc.lambda = faces;
    desc.nlambda = 39;
    result from_faces = solve_on("threads", &desc);
    desc.lambda = cells;
    desc.nlambda = 40;
    desc.mean = _i == 1 ? RUBUS_MEAN_HARMONIC : RUBUS_MEAN_ARITHMETIC;
    result from_cells = solve_on("threads", &desc);
    ck_assert_int_eq(from_cells.report.outcome, RUBUS_OUTCOME_CONVERGED);
    same_bits(&from_faces, &from_cells);
    result_free(&from_faces);
    result_free(&from_cells);
}
END_TEST

/* Harmonic means conserve the flux through layers: in 3D, a stack along x. */
START_TEST(relax_3d_with_harmonic_means_is_equal_for_all_sets)
{
    double lambda[8 * 6 * 5];
    for (int i = 0; i < 8 * 6 * 5; i++) {
        lambda[i] = 1 + (i * 29) % 23;
    }
    rubus_relax_desc desc = problem(3, 8, 6, 5);
    desc.lambda = lambda;
    desc.nlambda = 8 * 6 * 5;
    desc.mean = RUBUS_MEAN_HARMONIC;
    desc.tol = 1e-12;
    desc.niter = 2000;
    const int64_t iterations = iterations_on("threads", &desc);
    result r = solve_everywhere(&desc, 0, 1, iterations);
    /* the balance of every inner cell, with the means written another way */
    for (int c = 0; c < 6 * 4 * 3; c++) {
        const int i = 1 + c % 6 + 8 * (1 + c / 6 % 4 + 6 * (1 + c / 24));
        const int stride[3] = {1, 8, 48};
        const double n[3] = {8, 6, 5};
        double flow = 0;
        for (int k = 0; k < 6; k++) {
            const int other = i + (k % 2 == 0 ? 1 : -1) * stride[k / 2];
            const double mean =
                2 * lambda[i] * lambda[other] / (lambda[i] + lambda[other]);
            flow += mean * (r.u[other] - r.u[i]) * pow(n[k / 2] / 20, 2);
        }
        CLOSE(flow, 0, 2e-12);
    }
    result_free(&r);
}
END_TEST

static Suite *relax_suite(void)
{
    Suite *suite = suite_create("relax");
    TCase *path = tcase_create("path");
    tcase_add_test(path, relax_1d_64_takes_the_known_path);
    tcase_add_test(path, relax_2d_128_takes_the_known_path);
    tcase_add_test(path, relax_2d_128_has_the_known_history);
    tcase_add_loop_test(path, relax_3d_64_takes_the_known_path, MOST_SETS - 1, MOST_SETS);
    tcase_add_loop_test(path, relax_of_any_size_takes_the_known_number_of_iterations, 0,
                        NSIZE);
    tcase_add_loop_test(path, relax_3d_on_reference_gives_the_bits_of_threads, 0,
                        MOST_SETS);
    suite_add_tcase(suite, path);
    TCase *truth = tcase_create("truth");
    tcase_add_loop_test(truth, relax_of_constant_coefficient_gives_the_linear_profile, 0,
                        3);
    tcase_add_test(truth, relax_of_three_cells_converges);
    tcase_add_test(truth, relax_of_a_jump_of_1e6_reaches_the_exact_solution);
    tcase_add_test(truth, relax_of_nonsquare_cells_reaches_the_direct_solve);
    tcase_add_loop_test(truth, relax_2d_follows_the_algorithm_on_the_host, 0, 2);
    tcase_add_loop_test(truth, relax_1d_from_cells_equals_the_run_from_their_means, 0, 2);
    tcase_add_test(truth, relax_3d_with_harmonic_means_is_equal_for_all_sets);
    suite_add_tcase(suite, truth);
    return suite;
}

RUBUS_TEST_MAIN("relaxation: path and values", relax_suite)
