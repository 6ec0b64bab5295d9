/* SPDX-License-Identifier: Apache-2.0 */
/* Constraints and arguments of kernels of random forms. */
#include "config.h"

#include "tests/form/form_setting.h"

#include <math.h>

static double epsilon(const setting *s)
{
    return s->run.real == RUBUS_F64 ? 0x1p-52 : 0x1p-23;
}

int unknowns(const setting *s)
{
    return s->m.npoint * s->m.ncomponent;
}

void expect_near(const setting *s, double got, double want, double scale,
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

void make_constraints(setting *s, rk_fix_mode mode)
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

rubus_array *index_array(form_run *run, int64_t n)
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
    if (leaf->number == 0 && a->given[leaf->kind] != NULL) {
        return NULL;
    }
    static const double nothing[MODEL_SLOTS] = {0};
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
        ck_assert_int_lt(leaf->number, MODEL_STENCIL);
        return real_array(s->run.context, s->run.real, mesh_shape(&s->m),
                          a->entry == NULL ? nothing : a->entry[leaf->number]);
    case RK_LEAF_FIELD:
        return real_array(s->run.context, s->run.real, mesh_shape(&s->m),
                          s->m.field[leaf->number - first]);
    case RK_LEAF_MASK:
        return label_array(s, leaf->number);
    case RK_LEAF_FIXED:
        return bool_array(&s->run, &s->m, s->fixed[leaf->number]);
    case RK_LEAF_ROWPTR:
        return index_array(&s->run, unknowns(s));
    case RK_LEAF_COLVAL:
        return index_array(&s->run, a->nnz);
    case RK_LEAF_NZVAL: {
        const rubus_shape shape = {.rank = 1, .n = {a->nnz}};
        return real_array(s->run.context, s->run.real, shape, nothing);
    }
    case RK_LEAF_TABLE:
        return index_array(&s->run, a->slots);
    case RK_LEAF_PART: {
        const rubus_shape shape = {.rank = 1, .n = {a->slots}};
        ck_assert_int_le(a->slots, MODEL_SLOTS);
        return real_array(s->run.context, s->run.real, shape, nothing);
    }
    case RK_LEAF_NUMBER:
    case RK_LEAF_RESULT:
    case RK_LEAF_ALPHA:
    case RK_LEAF_BETA:
    case RK_LEAF_EXTENT:
    case RK_LEAF_STRIDE:
    case RK_LEAF_PADDED:
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
    case RK_LEAF_STRIDE:
    case RK_LEAF_PADDED:
        arg.kind = RUBUS_ARG_INTEGER;
        arg.u.integer = leaf->kind == RK_LEAF_STRIDE ? a->stride : padded(s, a->stride);
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
    default:
        return rubus_arg_array(a->given[leaf->kind]);
    }
}

rk_form_kernel run_job(setting *s, rk_form_job job, arguments *a)
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

void end_job(rk_form_kernel *kernel, arguments *a)
{
    for (int32_t i = 0; i < kernel->nparam; i++) {
        rubus_array_destroy(a->array[i]);
    }
    rubus__free(kernel->text);
}

rubus_array *job_array(const rk_form_kernel *kernel, const arguments *a,
                       rk_leaf_kind kind, int32_t number)
{
    for (int32_t i = 0; i < kernel->nparam; i++) {
        if (kernel->param[i].kind == kind && kernel->param[i].number == number) {
            return a->array[i];
        }
    }
    return NULL;
}

int64_t padded(const setting *s, int64_t stride)
{
    return (s->m.npoint + stride - 1) / stride * stride;
}

/* --- forms, patterns ---------------------------------------------------------------- */

void make_form(setting *s, const char *backend, int32_t real, uint32_t seed, int ndim,
               int ncomponent, bool bilinear)
{
    rk_form_label labels[] = {
        {"p", 0},      {"q", 0},   {"left", 0}, {"right", 0},
        {"bottom", 0}, {"top", 0}, {"back", 0}, {"front", 0},
    };
    for (int i = 0; i < 8; i++) {
        labels[i].faces = rk_face_bits(labels[i].name, ndim);
    }
    const rk_form_desc desc = {ndim, ncomponent, ncomponent, 8, labels};
    form_open(&s->run, backend, real);
    model_make(&s->m, seed, ndim, ncomponent, bilinear, real == RUBUS_F32);
    form_make(&s->run, s->m.text, &desc);
}

void read_index(rubus_array *array, int32_t *x)
{
    ck_assert_int_eq(rubus_array_read(array, x, rubus_array_nbyte(array)), RUBUS_OK);
}

void make_pattern(setting *s, pattern *p)
{
    const int n = unknowns(s);
    arguments count = {.before = NULL};
    rk_form_kernel kernel = run_job(s, RK_JOB_COUNT, &count);
    p->rowptr[0] = 0;
    read_index(count.array[0], p->rowptr + 1);
    end_job(&kernel, &count);
    for (int i = 0; i < n; i++) {
        p->rowptr[i + 1] += p->rowptr[i];
    }
    ck_assert_int_le(p->rowptr[n], MODEL_ENTRIES);
    const rubus_shape shape = {.rank = 1, .n = {n + 1}};
    const rubus_status st =
        rubus_array_from(s->run.context, RUBUS_I32, shape, p->rowptr, &p->rows);
    ck_assert_msg(st == RUBUS_OK, "%s", rubus_error_text());
    p->columns = index_array(&s->run, p->rowptr[n]);
    arguments a = {.nnz = p->rowptr[n]};
    a.given[RK_LEAF_ROWPTR] = p->rows;
    a.given[RK_LEAF_COLVAL] = p->columns;
    kernel = run_job(s, RK_JOB_COLUMNS, &a);
    end_job(&kernel, &a);
    read_index(p->columns, p->colval);
}

void end_pattern(pattern *p)
{
    rubus_array_destroy(p->rows);
    rubus_array_destroy(p->columns);
}

uint32_t seed_of(int number)
{
    const char *text = getenv("RUBUS_TEST_SEED");
    return (text == NULL ? 1u : (uint32_t)strtoul(text, NULL, 10)) * 9973u +
           (uint32_t)number;
}
