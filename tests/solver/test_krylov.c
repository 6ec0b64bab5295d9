/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Krylov solvers that converge, on every backend: problems with known solutions, the
 * number of iterations that theory asks for, constraints, operators without a matrix, and
 * the same bits everywhere.
 */
#include "config.h"

#include <check.h>

#include "tests/solver/krylov_probe.h"

enum { NX = 13, NY = 9, N = NX * NY };

/* Adds c times the eigenvector (a, b) of the five points without a wind, whose eigenvalue
 * is 4 - 2 cos(pi a / (NX + 1)) - 2 cos(pi b / (NY + 1)), and which it gives. */
static double add_mode(int a, int b, double c, double *to)
{
    for (int i = 0; i < N; i++) {
        to[i] += c * sin(probe_pi * a * (i % NX + 1) / (NX + 1)) *
                 sin(probe_pi * b * (int)(i / NX + 1) / (NY + 1));
    }
    return 4 - 2 * cos(probe_pi * a / (NX + 1)) - 2 * cos(probe_pi * b / (NY + 1));
}

static void random_numbers(double *out, int n, uint64_t seed)
{
    for (int i = 0; i < n; i++) {
        out[i] = probe_random(&seed);
    }
}

/* F of m eigenvectors lies in a Krylov space of m dimensions: both methods end after m
 * iterations, as the diagonal is constant. */
START_TEST(krylov_takes_as_many_iterations_as_there_are_eigenvalues)
{
    static const int mode[4][2] = {{1, 1}, {3, 2}, {7, 5}, {13, 9}};
    rubus_context *context = backends_open(_i);
    grid_matrix m = grid_five_points(NX, NY, 0, 0);
    double F[N] = {0};
    double want[N] = {0};
    for (int k = 0; k < 4; k++) {
        const double eigenvalue = add_mode(mode[k][0], mode[k][1], 1, F);
        (void)add_mode(mode[k][0], mode[k][1], 1 / eigenvalue, want);
        for (int solver = CG; solver <= BICGSTAB; solver++) {
            linear_system s =
                probe_system(context, RUBUS_F64, &m, RUBUS_SYMMETRIC_YES, NULL, F);
            const rubus_krylov_report r = probe_solve(solver, &s, NULL);
            probe_ended(&r, RUBUS_OUTCOME_CONVERGED);
            ck_assert_int_eq(r.iterations, k + 1);
            ck_assert_int_eq(r.preconditioned, 1);
            ck_assert_int_eq(r.restarts, 0);
            probe_near(s.u, want, 1e-9); /* |F| is some 20, and 1 / 0.15 times 1e-10 */
            probe_system_free(&s);
        }
    }
    grid_free(&m);
    backends_finish(context);
}
END_TEST

/* A solution is chosen, and F computed from it here. */
START_TEST(krylov_finds_the_solution_of_a_wind)
{
    rubus_context *context = backends_open(_i);
    for (int kind = 0; kind < 2; kind++) {
        const int32_t real = kind == 0 ? RUBUS_F64 : RUBUS_F32;
        grid_matrix m = grid_five_points(NX, NY, 2, 0.5);
        double want[N];
        double F[N];
        random_numbers(want, N, 5);
        grid_apply(&m, want, F);
        linear_system s = probe_system(context, real, &m, RUBUS_SYMMETRIC_NO, NULL, F);
        const rubus_krylov_desc desc = {.struct_size = sizeof desc, .niter = 200};
        const rubus_krylov_report r = probe_solve(BICGSTAB, &s, &desc);
        probe_ended(&r, RUBUS_OUTCOME_CONVERGED);
        ck_assert_int_gt(r.iterations, 3);
        ck_assert_int_lt(r.iterations, N);
        ck_assert(r.residual <= r.tolerance);
        const double rtol = kind == 0 ? 1e-10 : 1e-5;
        ck_assert_double_eq_tol(r.tolerance, rtol * r.norm, 1e-6 * rtol * r.norm);
        probe_near(s.u, want, 100 * rtol); /* |F| is some 45, |1/A| less than 1 */
        probe_system_free(&s);
        grid_free(&m);
    }
    backends_finish(context);
}
END_TEST

/* CG in f32, and a diagonal of many sizes, which Jacobi makes harmless. */
START_TEST(jacobi_undoes_a_scaling_by_rows)
{
    rubus_context *context = backends_open(_i);
    for (int kind = 0; kind < 2; kind++) {
        const int32_t real = kind == 0 ? RUBUS_F64 : RUBUS_F32;
        grid_matrix m = grid_five_points(NX, NY, 0, 0);
        double want[N];
        double F[N];
        random_numbers(want, N, 6);
        for (int k = 0; k < m.nnz; k++) { /* D A D with D from 1 to 4096 */
            m.value[k] *= ldexp(1, (int)(m.row[k] % 13 + m.col[k] % 13));
        }
        grid_apply(&m, want, F);
        int64_t iterations[2];
        for (int jacobi = 0; jacobi < 2; jacobi++) {
            linear_system s =
                probe_system(context, real, &m, RUBUS_SYMMETRIC_UNKNOWN, NULL, F);
            const rubus_krylov_desc desc = {.struct_size = sizeof desc,
                                            .precondition =
                                                jacobi ? RUBUS_PRECONDITION_JACOBI
                                                       : RUBUS_PRECONDITION_NONE,
                                            .rtol = 1e-5,
                                            .niter = 5000};
            const rubus_krylov_report r = probe_solve(CG, &s, &desc);
            iterations[jacobi] = r.iterations;
            ck_assert_int_eq(r.preconditioned, jacobi);
            if (jacobi) {
                probe_ended(&r, RUBUS_OUTCOME_CONVERGED);
            }
            probe_system_free(&s);
        }
        ck_assert_msg(2 * iterations[1] < iterations[0], "%lld with Jacobi, %lld without",
                      (long long)iterations[1], (long long)iterations[0]);
        grid_free(&m);
    }
    backends_finish(context);
}
END_TEST

/* 1 + 2x + 3y has no second differences. The matrix is not symmetric, for its rim: CG
 * solves it nevertheless, and leaves the rim's values as they are given. */
START_TEST(krylov_keeps_the_values_of_constrained_points)
{
    rubus_context *context = backends_open(_i);
    for (int kind = 0; kind < 4; kind++) {
        const int32_t real = kind % 2 == 0 ? RUBUS_F64 : RUBUS_F32;
        grid_matrix m = grid_with_rim(NX, NY, 0, 0);
        rubus_array *mask = grid_mask(context, NX, NY);
        double want[N];
        double F[N];
        for (int i = 0; i < N; i++) {
            want[i] = 1 + 2 * (i % NX) + 3 * (double)(i / NX);
            F[i] = grid_on_rim(NX, NY, i) ? want[i] : 0;
        }
        linear_system s = probe_system(context, real, &m, RUBUS_SYMMETRIC_YES, mask, F);
        rubus_array_destroy(mask); /* the operator holds its memory */
        ok(rubus_array_fill(s.u, -7));
        const rubus_krylov_report r = probe_solve(kind / 2, &s, NULL);
        probe_ended(&r, RUBUS_OUTCOME_CONVERGED);
        probe_near(s.u, want, (real == RUBUS_F64 ? 1e-10 : 1e-5) * r.norm * 10);
        double got[N];
        probe_read(s.u, got);
        for (int i = 0; i < N; i++) {
            ck_assert(!grid_on_rim(NX, NY, i) || got[i] == want[i]);
        }
        probe_system_free(&s);
        grid_free(&m);
    }
    backends_finish(context);
}
END_TEST

/* --- an operator without a matrix --------------------------------------------------- */

static const char five_points[] =
    "kernel apply(inout real y[nx,ny], in real x[nx,ny], real alpha, real beta)\n"
    "{\n"
    "    let west = pad(x[:-1, :], 0, 1:0, 0:0);\n"
    "    let east = pad(x[1:, :], 0, 0:1, 0:0);\n"
    "    let south = pad(x[:, :-1], 0, 0:0, 1:0);\n"
    "    let north = pad(x[:, 1:], 0, 0:0, 0:1);\n"
    "    let ax = 4 * x - west - east - south - north;\n"
    "    y = beta == 0 ? alpha * ax : alpha * ax + beta * y;\n"
    "}\n";

typedef struct free_operator {
    const rubus_kernel *apply;
    int applied;
    int destroyed;
} free_operator;

static rubus_status free_apply(void *self, double alpha, rubus_array *x, double beta,
                               rubus_array *y)
{
    free_operator *f = self;
    f->applied++;
    return rubus_launch(f->apply, y, x, alpha, beta);
}

static rubus_status free_diagonal(void *self, rubus_array *d)
{
    (void)self;
    return rubus_array_fill(d, 4);
}

static void free_destroy(void *self)
{
    ((free_operator *)self)->destroyed++;
}

/* The kernel wants arrays of rank 2, which the solver's vectors are as F is. */
START_TEST(krylov_solves_without_a_matrix)
{
    rubus_context *context = backends_open(_i);
    rubus_module *module = backends_module(context, five_points, RUBUS_F64, 0);
    double F[N] = {0};
    double want[N] = {0};
    const double first = add_mode(1, 1, 1, F);
    const double second = add_mode(4, 7, 1, F);
    (void)add_mode(1, 1, 1 / first, want);
    (void)add_mode(4, 7, 1 / second, want);
    rubus_array *right = NULL;
    ok(rubus_array_from(context, RUBUS_F64, RUBUS_SHAPE(NX, NY), F, &right));
    for (int kind = 0; kind < 4; kind++) {
        free_operator f = {backends_kernel(module, "apply"), 0, 0};
        const rubus_operator_ops ops = {.struct_size = sizeof ops,
                                        .symmetric = kind < 2 ? RUBUS_SYMMETRIC_YES
                                                              : RUBUS_SYMMETRIC_UNKNOWN,
                                        .apply = free_apply,
                                        .diagonal = kind < 2 ? free_diagonal : NULL,
                                        .destroy = free_destroy};
        linear_system s = {.F = right};
        ok(rubus_operator_create(context, N, &ops, &f, &s.op));
        ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(NX, NY), &s.u));
        const rubus_krylov_report r = probe_solve(kind % 2, &s, NULL);
        probe_ended(&r, RUBUS_OUTCOME_CONVERGED);
        ck_assert_int_eq(r.iterations, 2);
        ck_assert_int_eq(r.preconditioned, kind < 2);
        /* r before and after, and one or two in each iteration */
        ck_assert_int_eq(f.applied, kind % 2 == CG ? 4 : 6);
        probe_near(s.u, want, 1e-9);
        rubus_operator_destroy(s.op);
        ck_assert_int_eq(f.destroyed, 1);
        rubus_array_destroy(s.u);
    }
    rubus_array_destroy(right);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

/* --- the same bits everywhere ------------------------------------------------------- */

enum { ROOM = 400 };
typedef struct solved {
    rubus_krylov_report report;
    double history[ROOM];
    double *u;
    int n;
} solved;

static solved solve_grid(const char *spec, int solver, int32_t real, int nx, int ny)
{
    rubus_context *context = NULL;
    ok(rubus_context_create(spec, &context));
    grid_matrix m = grid_five_points(nx, ny, solver == CG ? 0 : 1, 0);
    solved out = {.n = m.n, .u = malloc((size_t)m.n * sizeof(double))};
    double *F = malloc((size_t)m.n * sizeof(double));
    random_numbers(F, m.n, 11);
    linear_system s = probe_system(context, real, &m, RUBUS_SYMMETRIC_UNKNOWN, NULL, F);
    const rubus_krylov_desc desc = {.struct_size = sizeof desc,
                                    .rtol = 1e-5,
                                    .niter = 1000,
                                    .history = out.history,
                                    .history_room = ROOM};
    out.report = probe_solve(solver, &s, &desc);
    probe_read(s.u, out.u);
    free(F);
    probe_system_free(&s);
    grid_free(&m);
    rubus_context_destroy(context);
    return out;
}

static void same_solved(const solved *a, const solved *b)
{
    ck_assert_int_eq(a->report.outcome, b->report.outcome);
    ck_assert_int_eq(a->report.iterations, b->report.iterations);
    ck_assert_int_eq(a->report.restarts, b->report.restarts);
    ck_assert(a->report.residual == b->report.residual);
    ck_assert_uint_eq(a->report.nhistory, b->report.nhistory);
    probe_same(a->history, b->history, (int64_t)a->report.nhistory, "history");
    probe_same(a->u, b->u, a->n, "u");
}

START_TEST(krylov_gives_the_bits_of_the_reference)
{
    for (int kind = 0; kind < 4; kind++) {
        const int32_t real = kind % 2 == 0 ? RUBUS_F64 : RUBUS_F32;
        solved want = solve_grid("reference", kind / 2, real, NX, NY);
        solved got = solve_grid(backends_spec[_i], kind / 2, real, NX, NY);
        probe_ended(&want.report, RUBUS_OUTCOME_CONVERGED);
        ck_assert_uint_eq(want.report.nhistory, (uint64_t)want.report.iterations + 1);
        same_solved(&want, &got);
        free(want.u);
        free(got.u);
    }
}
END_TEST

START_TEST(krylov_gives_the_same_bits_on_any_number_of_threads)
{
    static const char *const spec[] = {"threads:threads=1", "threads:threads=2",
                                       "threads:threads=3", "threads:threads=8"};
    for (int solver = CG; solver <= BICGSTAB; solver++) {
        solved want = solve_grid(spec[0], solver, RUBUS_F64, 150, 100);
        probe_ended(&want.report, RUBUS_OUTCOME_CONVERGED);
        for (int k = 1; k < 4; k++) {
            solved got = solve_grid(spec[k], solver, RUBUS_F64, 150, 100);
            same_solved(&want, &got);
            free(got.u);
        }
        free(want.u);
    }
}
END_TEST

/* --- numbers of any size ------------------------------------------------------------ */

/* Squares of F and of r have no place in f32, one way or the other. */
START_TEST(krylov_takes_a_right_side_of_any_size)
{
    static const double size[] = {1e-30, 1e-20, 1e20, 1e30};
    rubus_context *context = backends_open(_i);
    grid_matrix m = grid_five_points(NX, NY, 0, 0);
    for (int k = 0; k < 8; k++) {
        double F[N] = {0};
        double want[N] = {0};
        const double eigenvalue = add_mode(2, 3, size[k % 4], F);
        (void)add_mode(2, 3, size[k % 4] / eigenvalue, want);
        linear_system s =
            probe_system(context, RUBUS_F32, &m, RUBUS_SYMMETRIC_YES, NULL, F);
        const rubus_krylov_report r = probe_solve(k / 4, &s, NULL);
        probe_ended(&r, RUBUS_OUTCOME_CONVERGED);
        ck_assert_int_le(r.iterations, 2); /* F is rounded to f32 */
        ck_assert(r.tolerance > 0 && r.tolerance < 1e-3 * size[k % 4]);
        probe_near(s.u, want, 1e-4 * size[k % 4]);
        probe_system_free(&s);
    }
    grid_free(&m);
    backends_finish(context);
}
END_TEST

static Suite *krylov_suite(void)
{
    Suite *suite = suite_create("krylov");
    TCase *solve = tcase_create("solve");
    backends_add(solve, krylov_takes_as_many_iterations_as_there_are_eigenvalues);
    backends_add(solve, krylov_finds_the_solution_of_a_wind);
    backends_add(solve, jacobi_undoes_a_scaling_by_rows);
    backends_add(solve, krylov_keeps_the_values_of_constrained_points);
    backends_add(solve, krylov_solves_without_a_matrix);
    backends_add(solve, krylov_takes_a_right_side_of_any_size);
    suite_add_tcase(suite, solve);
    TCase *bits = tcase_create("bits");
    backends_add(bits, krylov_gives_the_bits_of_the_reference);
    tcase_add_test(bits, krylov_gives_the_same_bits_on_any_number_of_threads);
    suite_add_tcase(suite, bits);
    return suite;
}

RUBUS_TEST_MAIN("krylov", krylov_suite)
