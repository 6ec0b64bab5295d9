/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_PROBLEM_PROBE_H
#define RUBUS_TESTS_PROBLEM_PROBE_H
/*
 * Boundary value problems with a known solution: meshes by name, one solve, its errors.
 * Funcs of a test's module end in their dimension: exact_2d. Include after check.h and
 * config.h.
 */
#include "tests/form/form_probe.h"

static const double probe_pi = 3.14159265358979323846;

/* Only there the largest meshes are solved on. */
static inline bool probe_fast(int at)
{
    return strncmp(backends_spec[at], "threads", 7) == 0;
}

/* --- meshes on [0, 1] --------------------------------------------------------------- */

static inline rubus_mesh *mesh_uniform(rubus_context *context, int32_t ndim, int64_t nx,
                                       int64_t ny, int64_t nz)
{
    const int64_t n[3] = {nx, ny, nz};
    rubus_axis_desc axis[3];
    for (int d = 0; d < 3; d++) {
        axis[d] = (rubus_axis_desc){.lower = 0, .upper = 1, .n = n[d]};
    }
    return mesh_of(context, RUBUS_F64, ndim, axis);
}

/* n intervals of widths 1, 2, 1, 2 ... */
static inline void points_alternating(int64_t n, double *x)
{
    x[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        x[i + 1] = x[i] + (i % 2 == 0 ? 1 : 2);
    }
    const double all = x[n];
    for (int64_t i = 0; i <= n; i++) {
        x[i] /= all;
    }
}

static inline int points_order(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* n points, those inside drawn by a linear congruential generator. */
static inline void points_random(int64_t n, uint32_t seed, double *x)
{
    x[0] = 0;
    for (int64_t i = 1; i < n - 1; i++) {
        seed = 1664525u * seed + 1013904223u;
        x[i] = (double)seed / 0x1p32;
    }
    x[n - 1] = 1;
    qsort(x, (size_t)n, sizeof(double), points_order);
}

enum { PROBE_POINTS = 600 };
typedef struct probe_points {
    double x[3][PROBE_POINTS];
} probe_points;

static inline rubus_mesh *mesh_points(rubus_context *context, int32_t ndim,
                                      const probe_points *points, int64_t nx, int64_t ny,
                                      int64_t nz)
{
    const int64_t n[3] = {nx, ny, nz};
    rubus_axis_desc axis[3];
    for (int d = 0; d < 3; d++) {
        axis[d] = (rubus_axis_desc){.n = n[d], .point = points->x[d]};
    }
    return mesh_of(context, RUBUS_F64, ndim, axis);
}

static inline rubus_mesh *mesh_alternating(rubus_context *context, int32_t ndim,
                                           int64_t nx, int64_t ny)
{
    probe_points points;
    points_alternating(nx, points.x[0]);
    points_alternating(ny, points.x[1]);
    return mesh_points(context, ndim, &points, nx + 1, ny + 1, 0);
}

/* --- problems ----------------------------------------------------------------------- */

typedef struct errors {
    double hmax;
    double norm_1h;
    double norm_h;
    double norm_inf;
} errors;

/* A form that holds on all of the mesh, a vector `load(test v, field f)`. */
typedef struct problem {
    form_probe p;
    rubus_form *a;
    rubus_form *l;
    rubus_array *exact;
    rubus_array *f;
    rubus_array *F;
    rubus_array *u;
    rubus_constraint *bc;
    rubus_operator *op;
} problem;

/* Writes a func NAME_1d, _2d, _3d; how: RUBUS_POINT or RUBUS_CELL_MEAN. */
static inline void problem_put(const problem *q, const char *func, int32_t how,
                               rubus_array *u)
{
    char name[40];
    snprintf(name, sizeof name, "%s_%dd", func, (int)rubus_mesh_ndim(q->p.mesh));
    ok(rubus_project(q->p.space, rubus_module_func(q->p.module, name), how, NULL, 0, u));
}

/* The mesh passes to the problem. Forms are those of the names; u starts at 0. */
static inline void problem_begin(problem *q, rubus_mesh *mesh, const char *form,
                                 const char *source, int32_t how)
{
    probe_mesh(&q->p, mesh);
    ok(RUBUS_ARRAYS(q->p.space, &q->exact, &q->f, &q->F, &q->u));
    problem_put(q, "exact", RUBUS_POINT, q->exact);
    problem_put(q, source, how, q->f);
    q->a = probe_form(&q->p, form, q->p.space);
    q->l = probe_linear(&q->p, "load", q->p.space);
    ok(rubus_form_set(q->l, "f", q->f));
    ok(rubus_constraint_create(q->p.space, &q->bc));
}

static inline void problem_end(problem *q)
{
    rubus_operator_destroy(q->op);
    q->op = NULL;
    rubus_constraint_destroy(q->bc);
    rubus_form_destroy(q->a);
    rubus_form_destroy(q->l);
    rubus_array_destroy(q->exact);
    rubus_array_destroy(q->f);
    rubus_array_destroy(q->F);
    rubus_array_destroy(q->u);
}

/* u = exact on the whole boundary. */
static inline void problem_hold(problem *q)
{
    ok(rubus_constraint_add(q->bc, "boundary", RUBUS_ALL, q->exact));
}

/* To the last digits that rounding leaves. */
static inline void problem_solve(problem *q, bool symmetric)
{
    const rubus_krylov_desc desc = {.struct_size = sizeof desc, .rtol = 2e-15};
    rubus_krylov_report report = {.struct_size = sizeof report};
    if (q->op == NULL) {
        ok(rubus_form_operator(q->a, q->bc, &q->op));
    }
    ck_assert_int_eq(rubus_operator_symmetric(q->op),
                     symmetric ? RUBUS_SYMMETRIC_YES : RUBUS_SYMMETRIC_NO);
    ok(rubus_form_vector(q->l, q->bc, q->F));
    if (symmetric) {
        ok(rubus_solve_cg(q->op, q->F, q->u, &desc, &report));
    } else {
        ok(rubus_solve_bicgstab(q->op, q->F, q->u, &desc, &report));
    }
    ck_assert_msg(report.residual <= 1e-10 * report.norm, "%s: |r| = %g of %g",
                  rubus_outcome_name(report.outcome), report.residual, report.norm);
}

/* Of component k of u, against `exact`, both on the space of one component. */
static inline errors problem_errors(const problem *q, rubus_array *u, rubus_array *exact)
{
    errors e = {.hmax = rubus_mesh_hmax(q->p.mesh)};
    double *got = probe_numbers(u);
    double *want = probe_numbers(exact);
    for (int64_t i = 0; i < rubus_array_count(u); i++) {
        got[i] -= want[i];
    }
    rubus_array *difference = probe_array(q->p.space, got);
    ok(rubus_norm_1h(q->p.space, difference, NULL, &e.norm_1h));
    ok(rubus_norm_h(q->p.space, difference, NULL, &e.norm_h));
    ok(rubus_norm_inf(q->p.space, difference, NULL, &e.norm_inf));
    rubus_array_destroy(difference);
    free(got);
    free(want);
    return e;
}

/* Everything for the whole boundary held. */
static inline errors problem_run(problem *q, rubus_mesh *mesh, const char *form,
                                 const char *source, int32_t how, bool symmetric)
{
    problem_begin(q, mesh, form, source, how);
    problem_hold(q);
    problem_solve(q, symmetric);
    const errors e = problem_errors(q, q->u, q->exact);
    problem_end(q);
    return e;
}

/* Numbers of the model: 9 digits, fewer of small errors, in which rounding shows. */
static inline void problem_near(double got, double want, const char *what, int at)
{
    const double rtol = want < 1e-6 ? 1e-4 : want < 2e-4 ? 1e-7 : 1e-8;
    ck_assert_msg(fabs(got - want) <= rtol * want, "%s, mesh %d: %.12g, not %.12g", what,
                  at, got, want);
}

/* The order that two errors show. */
static inline double problem_rate(const errors *coarse, const errors *fine)
{
    return log(coarse->norm_1h / fine->norm_1h) / log(coarse->hmax / fine->hmax);
}

static inline void problem_rate_is(const errors *coarse, const errors *fine, double want,
                                   double tol, const char *what)
{
    const double rate = problem_rate(coarse, fine);
    ck_assert_msg(fabs(rate - want) <= tol, "%s: rate %.4f, not %g", what, rate, want);
}

#endif
