/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random forms against dense matrices: apply, diagonal, entries, rows (counted, their
 * columns, their values), vectors and values, without constraints and with both modes of
 * them, by whole faces and by masks. In 1, 2 and 3 dimensions, one and two components,
 * f64 and f32, on the interpreter; some on threads. Every whole kernel must be one pass.
 */
#include "config.h"

#include "tests/form/form_setting.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>

/* Arrays of all parameters of a kind, by number, one after the other. */
static void read_all(setting *s, const rk_form_kernel *kernel, const arguments *a,
                     rk_leaf_kind kind, double *x)
{
    for (int32_t i = 0; i < kernel->nparam; i++) {
        if (kernel->param[i].kind == kind) {
            real_read(a->array[i], x + kernel->param[i].number * s->m.npoint);
        }
    }
}

/* Those of the last check of entries, for products. */
static double entries[MODEL_STENCIL][MODEL_POINTS];

/* --- what must hold ----------------------------------------------------------------- */

/* y = alpha A x + beta y, by the form as it is written or by its stored entries. */
static void check_apply(setting *s, rk_form_job job, double alpha, double beta)
{
    const int n = unknowns(s);
    double before[MODEL_UNKNOWNS];
    double y[MODEL_UNKNOWNS];
    for (int i = 0; i < n; i++) {
        before[i] = beta == 0 ? (double)NAN : (double)(i % 7) - 3;
    }
    arguments a = {.alpha = alpha, .beta = beta, .before = before, .trial = s->u};
    a.entry = entries;
    rk_form_kernel kernel = run_job(s, job, &a);
    read_all(s, &kernel, &a, RK_LEAF_OUT, y);
    for (int i = 0; i < n; i++) {
        double want = beta == 0 ? 0 : beta * before[i];
        double scale = fabs(want);
        for (int j = 0; j < n; j++) {
            want += alpha * s->matrix[i][j] * s->u[j];
            scale += fabs(alpha) * s->scale[i][j] * fabs(s->u[j]);
        }
        expect_near(s, y[i], want, scale, job == RK_JOB_APPLY ? "apply" : "product", i,
                    0);
    }
    end_job(&kernel, &a);
}

static void check_diagonal(setting *s)
{
    static const double nothing[MODEL_UNKNOWNS] = {0};
    double d[MODEL_UNKNOWNS];
    arguments a = {.before = nothing};
    rk_form_kernel kernel = run_job(s, RK_JOB_DIAGONAL, &a);
    read_all(s, &kernel, &a, RK_LEAF_OUT, d);
    for (int i = 0; i < unknowns(s); i++) {
        expect_near(s, d[i], s->matrix[i][i], s->scale[i][i], "diagonal", i, i);
    }
    end_job(&kernel, &a);
}

static double got_matrix[MODEL_UNKNOWNS][MODEL_UNKNOWNS];

static void compare_matrix(setting *s, const char *what)
{
    for (int i = 0; i < unknowns(s); i++) {
        for (int j = 0; j < unknowns(s); j++) {
            expect_near(s, got_matrix[i][j], s->matrix[i][j], s->scale[i][j], what, i, j);
        }
    }
}

/* Column of an entry of row point p; -1: off the grid. */
static int column_of(const model *m, int p, const rk_form_entry *e)
{
    int rest = p;
    int column = 0;
    int stride = 1;
    for (int d = 0; d < m->ndim; d++) {
        const int i = rest % m->axis[d].n + e->offset[d];
        rest /= m->axis[d].n;
        if (i < 0 || i >= m->axis[d].n) {
            return -1;
        }
        column += i * stride;
        stride *= m->axis[d].n;
    }
    return e->column * m->npoint + column;
}

static void check_entries(setting *s)
{
    static double x[MODEL_UNKNOWNS * 40];
    arguments a = {.before = NULL};
    rk_form_kernel kernel = run_job(s, RK_JOB_STENCIL, &a);
    memset(got_matrix, 0, sizeof(got_matrix));
    for (int i = 0; i < unknowns(s); i++) { /* rows that no entry is of */
        const bool fixed = s->fixed[i / s->m.npoint][i % s->m.npoint];
        got_matrix[i][i] = fixed ? 1 : 0;
    }
    for (int32_t k = 0; k < kernel.nparam; k++) {
        if (kernel.param[k].kind != RK_LEAF_ENTRY) {
            continue;
        }
        const rk_form_entry *e = &kernel.entry[kernel.param[k].number];
        real_read(a.array[k], x);
        memcpy(entries[kernel.param[k].number], x, sizeof(entries[0]));
        for (int p = 0; p < s->m.npoint; p++) {
            const int j = column_of(&s->m, p, e);
            if (j >= 0) {
                got_matrix[e->row * s->m.npoint + p][j] = x[p];
            } else {
                ck_assert_msg(x[p] == 0, "an entry off the grid is %g\n%s", x[p],
                              kernel.text);
            }
        }
    }
    compare_matrix(s, "entries");
    end_job(&kernel, &a);
}

static void check_rows(setting *s)
{
    static pattern p;
    static double nzval[MODEL_ENTRIES];
    const int n = unknowns(s);
    make_pattern(s, &p);
    arguments a = {.nnz = p.rowptr[n]};
    a.given[RK_LEAF_ROWPTR] = p.rows;
    rk_form_kernel kernel = run_job(s, RK_JOB_FILL, &a);
    real_read(a.array[0], nzval);
    end_job(&kernel, &a);
    end_pattern(&p);
    memset(got_matrix, 0, sizeof(got_matrix));
    for (int i = 0; i < n; i++) {
        bool diagonal = !s->fixed[i / s->m.npoint][i % s->m.npoint];
        for (int32_t k = p.rowptr[i]; k < p.rowptr[i + 1]; k++) {
            ck_assert_int_ge(p.colval[k], k > p.rowptr[i] ? p.colval[k - 1] + 1 : 0);
            ck_assert_int_lt(p.colval[k], n);
            got_matrix[i][p.colval[k]] = nzval[k];
            diagonal = diagonal || p.colval[k] == i;
        }
        ck_assert_msg(diagonal, "constrained row %d has no diagonal\n%s", i, s->m.text);
    }
    compare_matrix(s, "rows");
}

static void check_value(setting *s)
{
    double want = 0;
    double scale = 0;
    const bool bilinear = s->run.form->bilinear;
    for (int i = 0; i < unknowns(s); i++) {
        for (int j = 0; j < unknowns(s) && bilinear; j++) {
            want += s->v[i] * s->m.matrix[i][j] * s->u[j];
            scale += fabs(s->v[i]) * s->m.scale[i][j] * fabs(s->u[j]);
        }
        want += bilinear ? 0 : s->v[i] * s->m.source[i];
        scale += bilinear ? 0 : fabs(s->v[i]) * s->m.source_scale[i];
    }
    arguments a = {.trial = s->u, .test = s->v};
    rk_form_kernel kernel = run_job(s, RK_JOB_VALUE, &a);
    expect_near(s, s->run.real == RUBUS_F64 ? a.result : (double)a.result32, want, scale,
                "value", 0, 0);
    end_job(&kernel, &a);
}

static void check_vector(setting *s)
{
    static const double nothing[MODEL_UNKNOWNS] = {0};
    double f[MODEL_UNKNOWNS];
    arguments a = {.before = nothing};
    rk_form_kernel kernel = run_job(s, RK_JOB_VECTOR, &a);
    read_all(s, &kernel, &a, RK_LEAF_OUT, f);
    for (int i = 0; i < unknowns(s); i++) {
        expect_near(s, f[i], s->m.source[i], s->m.source_scale[i], "vector", i, 0);
    }
    end_job(&kernel, &a);
}

/* --- tests -------------------------------------------------------------------------- */

static setting shared;

static void check_bilinear(const char *backend, int32_t real, uint32_t seed, int ndim,
                           int ncomponent, int modes)
{
    setting *s = &shared;
    make_form(s, backend, real, seed, ndim, ncomponent, true);
    for (int mode = 0; mode < modes; mode++) {
        make_constraints(s, (rk_fix_mode)mode);
        check_apply(s, RK_JOB_APPLY, 1, 0);
        check_apply(s, RK_JOB_APPLY, -0.75, 0.5);
        check_diagonal(s);
        check_entries(s);
        check_apply(s, RK_JOB_PRODUCT, 1, 0);
        check_apply(s, RK_JOB_PRODUCT, -0.75, 0.5);
        check_rows(s);
        if (mode == 0) {
            check_value(s);
        }
    }
    form_close(&s->run);
    make_form(s, backend, real, seed + 77, ndim, ncomponent, false);
    make_constraints(s, RK_FIX_NONE);
    check_vector(s);
    check_value(s);
    form_close(&s->run);
}

START_TEST(form_random_equals_dense_matrix)
{
    static const int ndim[] = {1, 2, 3, 1, 2, 3};
    const int kind = _i % 6;
    const int32_t real = _i % 4 == 3 ? RUBUS_F32 : RUBUS_F64;
    check_bilinear("reference", real, seed_of(_i), ndim[kind], kind < 3 ? 1 : 2, 3);
}
END_TEST

START_TEST(form_random_on_threads_equals_dense_matrix)
{
    check_bilinear("threads", _i % 2 == 0 ? RUBUS_F64 : RUBUS_F32, seed_of(1000 + _i),
                   1 + _i % 3, 1, 2);
}
END_TEST

static Suite *suite_function(void)
{
    Suite *suite = suite_create("form/random");
    TCase *tcase = tcase_create("reference");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, form_random_equals_dense_matrix, 0, 60);
    suite_add_tcase(suite, tcase);
    TCase *threads = tcase_create("threads");
    tcase_set_timeout(threads, 300);
    tcase_add_loop_test(threads, form_random_on_threads_equals_dense_matrix, 0, 3);
    suite_add_tcase(suite, threads);
    return suite;
}

RUBUS_TEST_MAIN("form/random", suite_function)
