/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random forms against dense matrices: apply, diagonal, entries, rows (counted, their
 * columns, their values), vectors and values, without constraints and with both modes of
 * them, by whole faces and by masks. In 1, 2 and 3 dimensions, one and two components,
 * f64 and f32, on the interpreter; some on threads. Every whole kernel must be one pass.
 */
#include "config.h"

#include "tests/form/form_model.h"
#include "tests/form/form_run.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>

typedef struct setting {
    form_run run;
    model m;
    rk_fix_mode mode;
    uint32_t faces[MODEL_COMPONENTS];
    bool masked[MODEL_COMPONENTS];
    bool fixed[MODEL_COMPONENTS][MODEL_POINTS];
    /* what the constrained matrix must be, and sums of absolute values */
    double matrix[MODEL_UNKNOWNS][MODEL_UNKNOWNS];
    double scale[MODEL_UNKNOWNS][MODEL_UNKNOWNS];
    double u[MODEL_UNKNOWNS];
    double v[MODEL_UNKNOWNS];
    rubus_array *table[3 * RK_FORM_TABLES]; /* of the form */
} setting;

static double epsilon(const setting *s)
{
    return s->run.real == RUBUS_F64 ? 0x1p-52 : 0x1p-23;
}

static int unknowns(const setting *s)
{
    return s->m.npoint * s->m.ncomponent;
}

/* Each value is a sum of at most some 60 products of at most some 12 rounded factors. */
static void expect_near(const setting *s, double got, double want, double scale,
                        const char *what, int i, int j)
{
    ck_assert_msg(fabs(got - want) <= 100 * epsilon(s) * scale,
                  "%s at %d, %d (mode %d): %.17g, expected %.17g, scale %g\n%s", what, i,
                  j, (int)s->mode, got, want, scale, s->m.text);
}

/* --- constraints -------------------------------------------------------------------- */

static bool on_faces(const model *m, int p, uint32_t faces)
{
    int rest = p;
    for (int d = 0; d < m->ndim; d++) {
        const int i = rest % m->axis[d].n;
        rest /= m->axis[d].n;
        if (((faces >> (2 * d) & 1u) != 0 && i == 0) ||
            ((faces >> (2 * d + 1) & 1u) != 0 && i == m->axis[d].n - 1)) {
            return true;
        }
    }
    return false;
}

static void make_constraints(setting *s, rk_fix_mode mode)
{
    model *m = &s->m;
    const int n = unknowns(s);
    s->mode = mode;
    for (int c = 0; c < m->ncomponent; c++) {
        s->masked[c] = model_below(m, 2) == 0;
        s->faces[c] = (uint32_t)model_below(m, 1 << (2 * m->ndim));
        for (int p = 0; p < m->npoint; p++) {
            s->fixed[c][p] =
                mode != RK_FIX_NONE &&
                (s->masked[c] ? model_below(m, 3) == 0 : on_faces(m, p, s->faces[c]));
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            const bool row = s->fixed[i / m->npoint][i % m->npoint];
            const bool column = s->fixed[j / m->npoint][j % m->npoint];
            const bool drop = row || (column && mode == RK_FIX_SYM);
            s->matrix[i][j] = drop ? (i == j && row ? 1 : 0) : m->matrix[i][j];
            s->scale[i][j] = drop ? s->matrix[i][j] : m->scale[i][j];
        }
        s->u[i] = (double)(model_below(m, 256) - 128) / 64;
        s->v[i] = (double)(model_below(m, 256) - 128) / 64;
    }
}

/* --- arguments ---------------------------------------------------------------------- */

enum { MAX_PARAM = 128 };

typedef struct arguments {
    rubus_arg arg[MAX_PARAM];
    rubus_array *array[MAX_PARAM]; /* by parameter; NULL: not ours */
    double alpha;
    double beta;
    const double *before; /* [unknowns] of y */
    const double *trial;  /* [unknowns] */
    const double *test;   /* [unknowns] */
    rubus_array *rowptr;  /* not ours */
    int64_t nnz;
    double result;
    float result32;
} arguments;

static rubus_shape mesh_shape(const model *m)
{
    rubus_shape shape = {.rank = m->ndim};
    for (int d = 0; d < m->ndim; d++) {
        shape.n[d] = m->axis[d].n;
    }
    return shape;
}

static rubus_array *bool_array(form_run *run, const model *m, const bool *x)
{
    rubus_array *array = NULL;
    const rubus_status st =
        rubus_array_from(run->context, RUBUS_BOOL, mesh_shape(m), x, &array);
    ck_assert_msg(st == RUBUS_OK, "%s", rubus_error_text());
    return array;
}

static rubus_array *label_array(setting *s, int32_t set)
{
    const rk_label_set *labels = &s->run.form->mask[set];
    bool mask[MODEL_POINTS] = {false};
    for (int32_t i = 0; i < labels->nlabel; i++) {
        for (int p = 0; p < s->m.npoint; p++) {
            mask[p] = mask[p] || s->m.mask[labels->label[i][0] - 'p'][p];
        }
    }
    return bool_array(&s->run, &s->m, mask);
}

static rubus_array *axis_array(setting *s, const rk_leaf *leaf)
{
    const model_axis *a = &s->m.axis[leaf->axis];
    const double *x = leaf->kind == RK_LEAF_POINT ? a->x
                      : leaf->kind == RK_LEAF_H   ? a->h
                      : leaf->kind == RK_LEAF_F   ? a->f
                      : leaf->kind == RK_LEAF_S   ? a->s
                      : leaf->kind == RK_LEAF_W   ? a->w
                      : leaf->kind == RK_LEAF_A   ? a->a
                                                  : s->m.line;
    const rubus_shape shape = {.rank = 1,
                               .n = {leaf->kind == RK_LEAF_S ? a->n - 1 : a->n}};
    return real_array(s->run.context, s->run.real, shape, x);
}

static rubus_array *index_array(form_run *run, int64_t n)
{
    rubus_array *array = NULL;
    const rubus_shape shape = {.rank = 1, .n = {n}};
    const rubus_status st = rubus_array_create(run->context, RUBUS_I32, shape, &array);
    ck_assert_msg(st == RUBUS_OK, "%s", rubus_error_text());
    return array;
}

/* The array of a parameter; NULL: it is a scalar or not ours. */
static rubus_array *leaf_array(setting *s, const rk_leaf *leaf, const arguments *a)
{
    static const double nothing[MODEL_UNKNOWNS * 40] = {0};
    const int n = s->m.npoint;
    const int first = s->run.form->bilinear ? 2 : 1; /* of the form's fields */
    switch (leaf->kind) {
    case RK_LEAF_TRIAL:
        return real_array(s->run.context, s->run.real, mesh_shape(&s->m),
                          a->trial + leaf->number * n);
    case RK_LEAF_TEST:
        return real_array(s->run.context, s->run.real, mesh_shape(&s->m),
                          a->test + leaf->number * n);
    case RK_LEAF_OUT:
        return real_array(s->run.context, s->run.real, mesh_shape(&s->m),
                          a->before + leaf->number * n);
    case RK_LEAF_ENTRY:
        return real_array(s->run.context, s->run.real, mesh_shape(&s->m), nothing);
    case RK_LEAF_FIELD:
        return real_array(s->run.context, s->run.real, mesh_shape(&s->m),
                          s->m.field[leaf->number - first]);
    case RK_LEAF_MASK:
        return label_array(s, leaf->number);
    case RK_LEAF_FIXED:
        return bool_array(&s->run, &s->m, s->fixed[leaf->number]);
    case RK_LEAF_ROWPTR:
        return a->rowptr != NULL ? NULL : index_array(&s->run, unknowns(s));
    case RK_LEAF_COLVAL:
        return index_array(&s->run, a->nnz);
    case RK_LEAF_NZVAL: {
        const rubus_shape shape = {.rank = 1, .n = {a->nnz}};
        return real_array(s->run.context, s->run.real, shape, nothing);
    }
    case RK_LEAF_NUMBER:
    case RK_LEAF_RESULT:
    case RK_LEAF_ALPHA:
    case RK_LEAF_BETA:
    case RK_LEAF_EXTENT:
    case RK_LEAF_TABLE:
        return NULL;
    default:
        return axis_array(s, leaf);
    }
}

static rubus_arg leaf_arg(setting *s, const rk_leaf *leaf, arguments *a)
{
    rubus_arg arg = {.kind = RUBUS_ARG_REAL};
    switch (leaf->kind) {
    case RK_LEAF_NUMBER:
        arg.u.real = s->m.number;
        return arg;
    case RK_LEAF_ALPHA:
        arg.u.real = a->alpha;
        return arg;
    case RK_LEAF_BETA:
        arg.u.real = a->beta;
        return arg;
    case RK_LEAF_EXTENT:
        arg.kind = RUBUS_ARG_INTEGER;
        arg.u.integer = s->m.axis[leaf->axis].n;
        return arg;
    case RK_LEAF_RESULT:
        if (s->run.real == RUBUS_F64) {
            arg.kind = RUBUS_ARG_RESULT_F64;
            arg.u.result_f64 = &a->result;
        } else {
            arg.kind = RUBUS_ARG_RESULT_F32;
            arg.u.result_f32 = &a->result32;
        }
        return arg;
    case RK_LEAF_TABLE:
        return rubus_arg_array(s->table[leaf->number]);
    default:
        return rubus_arg_array(a->rowptr);
    }
}

/* Runs a kernel; its arrays stay in a->array. */
static rk_form_kernel run_job(setting *s, rk_form_job job, arguments *a)
{
    const rk_form_fix fix = {s->mode, s->faces, s->masked};
    const rk_form_kernel kernel = form_kernel(&s->run, job, &fix);
    ck_assert_int_le(kernel.nparam, MAX_PARAM);
    for (int32_t i = 0; i < kernel.nparam; i++) {
        a->array[i] = leaf_array(s, &kernel.param[i], a);
        a->arg[i] = a->array[i] != NULL ? rubus_arg_array(a->array[i])
                                        : leaf_arg(s, &kernel.param[i], a);
    }
    form_launch(&s->run, &kernel, a->arg);
    return kernel;
}

static void end_job(rk_form_kernel *kernel, arguments *a)
{
    for (int32_t i = 0; i < kernel->nparam; i++) {
        rubus_array_destroy(a->array[i]);
    }
    rubus__free(kernel->text);
}

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

/* Line tables, once for all kernels of the form. */
static void make_tables(setting *s)
{
    const rk_form *form = s->run.form;
    for (int32_t i = 0; i < form->ntable; i++) {
        double nothing[MODEL_AXIS];
        const rubus_shape shape = {.rank = 1,
                                   .n = {s->m.axis[form->table[i].leaf->axis].n}};
        for (int k = 0; k < MODEL_AXIS; k++) {
            nothing[k] = (double)NAN;
        }
        s->table[i] = real_array(s->run.context, s->run.real, shape, nothing);
    }
    arguments a = {.before = NULL};
    if (form->ntable > 0) {
        rk_form_kernel kernel = run_job(s, RK_JOB_TABLES, &a);
        end_job(&kernel, &a);
    }
}

static void end_tables(setting *s)
{
    for (int32_t i = 0; i < s->run.form->ntable; i++) {
        rubus_array_destroy(s->table[i]);
    }
}

/* --- what must hold ----------------------------------------------------------------- */

static void check_apply(setting *s, double alpha, double beta)
{
    const int n = unknowns(s);
    double before[MODEL_UNKNOWNS];
    double y[MODEL_UNKNOWNS];
    for (int i = 0; i < n; i++) {
        before[i] = beta == 0 ? (double)NAN : (double)(i % 7) - 3;
    }
    arguments a = {.alpha = alpha, .beta = beta, .before = before, .trial = s->u};
    rk_form_kernel kernel = run_job(s, RK_JOB_APPLY, &a);
    read_all(s, &kernel, &a, RK_LEAF_OUT, y);
    for (int i = 0; i < n; i++) {
        double want = beta == 0 ? 0 : beta * before[i];
        double scale = fabs(want);
        for (int j = 0; j < n; j++) {
            want += alpha * s->matrix[i][j] * s->u[j];
            scale += fabs(alpha) * s->scale[i][j] * fabs(s->u[j]);
        }
        expect_near(s, y[i], want, scale, "apply", i, 0);
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

static void read_index(rubus_array *array, int32_t *x)
{
    ck_assert_int_eq(rubus_array_read(array, x, rubus_array_nbyte(array)), RUBUS_OK);
}

static void check_rows(setting *s)
{
    static int32_t rowptr[MODEL_UNKNOWNS + 1];
    static int32_t colval[MODEL_UNKNOWNS * MODEL_UNKNOWNS];
    static double nzval[MODEL_UNKNOWNS * MODEL_UNKNOWNS];
    const int n = unknowns(s);
    arguments count = {.before = NULL};
    rk_form_kernel kernel = run_job(s, RK_JOB_COUNT, &count);
    read_index(count.array[0], rowptr + 1);
    end_job(&kernel, &count);
    for (int i = 0; i < n; i++) {
        rowptr[i + 1] += rowptr[i];
    }
    const rubus_shape shape = {.rank = 1, .n = {n + 1}};
    rubus_array *rows = NULL;
    rubus_status st = rubus_array_from(s->run.context, RUBUS_I32, shape, rowptr, &rows);
    ck_assert_msg(st == RUBUS_OK, "%s", rubus_error_text());
    arguments a = {.rowptr = rows, .nnz = rowptr[n]};
    ck_assert_int_le(rowptr[n], MODEL_UNKNOWNS * 40);
    kernel = run_job(s, RK_JOB_COLUMNS, &a);
    read_index(a.array[0], colval);
    end_job(&kernel, &a);
    kernel = run_job(s, RK_JOB_FILL, &a);
    real_read(a.array[0], nzval);
    end_job(&kernel, &a);
    rubus_array_destroy(rows);
    memset(got_matrix, 0, sizeof(got_matrix));
    for (int i = 0; i < n; i++) {
        bool diagonal = !s->fixed[i / s->m.npoint][i % s->m.npoint];
        for (int32_t k = rowptr[i]; k < rowptr[i + 1]; k++) {
            ck_assert_int_ge(colval[k], k > rowptr[i] ? colval[k - 1] + 1 : 0);
            ck_assert_int_lt(colval[k], n);
            got_matrix[i][colval[k]] = nzval[k];
            diagonal = diagonal || colval[k] == i;
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
    const rk_form_label labels[] = {
        {"p", 0},      {"q", 0},   {"left", 0}, {"right", 0},
        {"bottom", 0}, {"top", 0}, {"back", 0}, {"front", 0},
    };
    rk_form_label known[8];
    for (int i = 0; i < 8; i++) {
        known[i] = labels[i];
        known[i].faces = rk_face_bits(labels[i].name, ndim);
    }
    const rk_form_desc desc = {ndim, ncomponent, ncomponent, 8, known};
    form_open(&s->run, backend, real);
    model_make(&s->m, seed, ndim, ncomponent, true, real == RUBUS_F32);
    form_make(&s->run, s->m.text, &desc);
    make_tables(s);
    for (int mode = 0; mode < modes; mode++) {
        make_constraints(s, (rk_fix_mode)mode);
        check_apply(s, 1, 0);
        check_apply(s, -0.75, 0.5);
        check_diagonal(s);
        check_entries(s);
        check_rows(s);
        if (mode == 0) {
            check_value(s);
        }
    }
    end_tables(s);
    form_close(&s->run);
    form_open(&s->run, backend, real);
    model_make(&s->m, seed + 77, ndim, ncomponent, false, real == RUBUS_F32);
    form_make(&s->run, s->m.text, &desc);
    make_tables(s);
    make_constraints(s, RK_FIX_NONE);
    check_vector(s);
    check_value(s);
    end_tables(s);
    form_close(&s->run);
}

static uint32_t seed_of(int number)
{
    const char *text = getenv("RUBUS_TEST_SEED");
    return (text == NULL ? 1u : (uint32_t)strtoul(text, NULL, 10)) * 9973u +
           (uint32_t)number;
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
