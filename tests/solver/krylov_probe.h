/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_KRYLOV_PROBE_H
#define RUBUS_TESTS_KRYLOV_PROBE_H
/*
 * What the tests of the Krylov solvers share: matrices of model problems on a grid, a
 * system with its operator, right side and unknown on one context, both solvers in one
 * table. Include after check.h and config.h.
 */
#include <math.h>

#include "tests/sparse/sparse_probe.h"

static const double probe_pi = 3.14159265358979323846;

/* A matrix as rows of at most 5 entries on a grid of nx by ny points. */
typedef struct grid_matrix {
    int nx;
    int ny;
    int n; /* points */
    int nnz;
    int64_t *row;
    int64_t *col;
    double *value;
} grid_matrix;

static inline void grid_add(grid_matrix *m, int row, int col, double value)
{
    m->row[m->nnz] = row;
    m->col[m->nnz] = col;
    m->value[m->nnz++] = value;
}

static inline bool grid_on_rim(int nx, int ny, int i)
{
    const int x = i % nx;
    const int y = i / nx;
    return x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
}

static inline grid_matrix grid_room(int nx, int ny)
{
    const size_t most = (size_t)nx * (size_t)ny * 5;
    grid_matrix m = {
        nx, ny, nx * ny, 0, malloc(most * 8), malloc(most * 8), malloc(most * 8)};
    ck_assert(m.row != NULL && m.col != NULL && m.value != NULL);
    return m;
}

/* The five points around each, what is off the grid being 0: diffusion, and a wind (wx,
 * wy) >= 0 taken from upwind. Symmetric without a wind. */
static inline grid_matrix grid_five_points(int nx, int ny, double wx, double wy)
{
    grid_matrix m = grid_room(nx, ny);
    for (int i = 0; i < m.n; i++) {
        const int x = i % nx;
        if (i >= nx) {
            grid_add(&m, i, i - nx, -1 - wy);
        }
        if (x > 0) {
            grid_add(&m, i, i - 1, -1 - wx);
        }
        grid_add(&m, i, i, 4 + wx + wy);
        if (x < nx - 1) {
            grid_add(&m, i, i + 1, -1);
        }
        if (i + nx < m.n) {
            grid_add(&m, i, i + nx, -1);
        }
    }
    return m;
}

/* The same on the inner points; on the rim the rows of the identity. */
static inline grid_matrix grid_with_rim(int nx, int ny, double wx, double wy)
{
    grid_matrix m = grid_room(nx, ny);
    for (int i = 0; i < m.n; i++) {
        if (grid_on_rim(nx, ny, i)) {
            grid_add(&m, i, i, 1);
            continue;
        }
        grid_add(&m, i, i - nx, -1 - wy);
        grid_add(&m, i, i - 1, -1 - wx);
        grid_add(&m, i, i, 4 + wx + wy);
        grid_add(&m, i, i + 1, -1);
        grid_add(&m, i, i + nx, -1);
    }
    return m;
}

/* out = A u, in double. */
static inline void grid_apply(const grid_matrix *m, const double *u, double *out)
{
    memset(out, 0, (size_t)m->n * sizeof(double));
    for (int k = 0; k < m->nnz; k++) {
        out[m->row[k]] += m->value[k] * u[m->col[k]];
    }
}

static inline void grid_free(grid_matrix *m)
{
    free(m->row);
    free(m->col);
    free(m->value);
}

static inline rubus_csr *grid_csr(rubus_context *context, int32_t real,
                                  const grid_matrix *m)
{
    float *narrow = malloc((size_t)m->nnz * sizeof(float));
    for (int k = 0; k < m->nnz; k++) {
        narrow[k] = (float)m->value[k];
    }
    rubus_csr *csr = NULL;
    ok(rubus_csr_create_coo(context, RUBUS_I64, real, m->n, m->n, m->nnz, m->row, m->col,
                            real == RUBUS_F32 ? (const void *)narrow : m->value, &csr));
    free(narrow);
    return csr;
}

/* A bool array that is true on the rim. */
static inline rubus_array *grid_mask(rubus_context *context, int nx, int ny)
{
    bool *host = malloc((size_t)nx * (size_t)ny);
    for (int i = 0; i < nx * ny; i++) {
        host[i] = grid_on_rim(nx, ny, i);
    }
    rubus_array *mask = NULL;
    ok(rubus_array_from(context, RUBUS_BOOL, RUBUS_SHAPE(nx, ny), host, &mask));
    free(host);
    return mask;
}

/* --- systems ------------------------------------------------------------------------ */

typedef rubus_status (*probe_solver)(rubus_operator *op, rubus_array *F, rubus_array *u,
                                     const rubus_krylov_desc *desc,
                                     rubus_krylov_report *report);
enum { CG, BICGSTAB };
static const probe_solver probe_solvers[2] = {rubus_solve_cg, rubus_solve_bicgstab};

typedef struct linear_system {
    rubus_operator *op;
    rubus_array *F;
    rubus_array *u; /* 0 at first */
} linear_system;

/* A matrix and F, as rank 1; mask may be NULL. */
static inline linear_system probe_system(rubus_context *context, int32_t real,
                                         const grid_matrix *m, int32_t symmetric,
                                         rubus_array *mask, const double *F)
{
    linear_system s = {NULL, NULL, NULL};
    rubus_csr *csr = grid_csr(context, real, m);
    ok(rubus_operator_create_csr(csr, symmetric, mask, &s.op));
    rubus_csr_destroy(csr); /* the operator holds it */
    s.F = probe_vector(context, real, m->n, F);
    ok(rubus_array_create(context, real, RUBUS_SHAPE(m->n), &s.u));
    return s;
}

static inline void probe_system_free(linear_system *s)
{
    rubus_operator_destroy(s->op);
    rubus_array_destroy(s->F);
    rubus_array_destroy(s->u);
}

enum { MODEL_NX = 11, MODEL_NY = 8, MODEL_N = MODEL_NX * MODEL_NY };

/* A dense matrix of n x n, n <= 4, zeros stored, as a system on `context`. */
static inline linear_system probe_small(rubus_context *context, int n, const double *a,
                                        const double *F)
{
    grid_matrix m = grid_room(4, 4);
    m.n = n;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            grid_add(&m, i, j, a[i * n + j]);
        }
    }
    linear_system s =
        probe_system(context, RUBUS_F64, &m, RUBUS_SYMMETRIC_UNKNOWN, NULL, F);
    grid_free(&m);
    return s;
}

/* The five points, F = 1 everywhere. */
static inline linear_system probe_model(rubus_context *context, int32_t real)
{
    grid_matrix m = grid_five_points(MODEL_NX, MODEL_NY, 0, 0);
    double F[MODEL_N];
    for (int i = 0; i < MODEL_N; i++) {
        F[i] = 1;
    }
    linear_system s = probe_system(context, real, &m, RUBUS_SYMMETRIC_YES, NULL, F);
    grid_free(&m);
    return s;
}

static const rubus_krylov_desc probe_plain = {.struct_size = sizeof(rubus_krylov_desc),
                                              .precondition = RUBUS_PRECONDITION_NONE};

static inline rubus_krylov_report probe_solve(int solver, linear_system *s,
                                              const rubus_krylov_desc *desc)
{
    rubus_krylov_report report = {.struct_size = sizeof report};
    ok(probe_solvers[solver](s->op, s->F, s->u, desc, &report));
    return report;
}

static inline void probe_ended(const rubus_krylov_report *r, int32_t outcome)
{
    ck_assert_msg(r->outcome == outcome,
                  "%s, not %s, after %lld iterations and %d restarts: |r| %g, |F| %g, "
                  "tolerance %g: %s",
                  rubus_outcome_name(r->outcome), rubus_outcome_name(outcome),
                  (long long)r->iterations, (int)r->restarts, r->residual, r->norm,
                  r->tolerance, r->why);
    ck_assert_msg((r->why[0] == '\0') == (outcome == RUBUS_OUTCOME_CONVERGED), "'%s'",
                  r->why);
}

/* Each of n elements is what it should be, within `tolerance`. */
static inline void probe_near(rubus_array *array, const double *want, double tolerance)
{
    const int64_t n = rubus_array_count(array);
    double *got = malloc((size_t)n * sizeof(double));
    probe_read(array, got);
    for (int64_t i = 0; i < n; i++) {
        ck_assert_msg(fabs(got[i] - want[i]) <= tolerance,
                      "element %lld is %.17g, not %.17g within %g", (long long)i, got[i],
                      want[i], tolerance);
    }
    free(got);
}

#endif
