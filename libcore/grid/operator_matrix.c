/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators of shaders/grid.rk as sparse matrices, from the points of the axes that
 * the host has. The rows of an operator along an axis are told by a few taps each, which
 * depend on the place on that axis alone.
 */
#include "config.h"

#include "libcore/grid/grid.h"
#include "libcore/kernel/form_tree.h"

#include <string.h>

enum { TAPS_MOST = 3 };

/* A row along an axis: values at distances; no value where an operator is 0. */
typedef struct taps {
    int32_t n;
    int64_t offset[TAPS_MOST];
    double value[TAPS_MOST];
} taps;

/* A point of an axis. */
typedef struct place {
    const double *x;
    int32_t type;
    int64_t n;
    int64_t i;
    int64_t k; /* of a shift */
} place;

static void add(taps *t, int64_t offset, double value)
{
    t->offset[t->n] = offset;
    t->value[t->n++] = value;
}

/* --- the operators on an axis ----------------------------------------------------- */

static bool has_before(const place *p)
{
    return p->i > 0;
}

static bool has_next(const place *p)
{
    return p->i + 1 < p->n;
}

/* The spacings below and above; there are such points. */
static double below(const place *p)
{
    return rubus__round_to(p->type, p->x[p->i] - p->x[p->i - 1]);
}

static double above(const place *p)
{
    return rubus__round_to(p->type, p->x[p->i + 1] - p->x[p->i]);
}

static double star(const place *p)
{
    return has_before(p) ? rubus__round_to(p->type, below(p) + above(p)) / 2 : above(p);
}

static void diffm(const place *p, taps *t)
{
    if (has_before(p)) {
        add(t, -1, -1);
    }
    add(t, 0, 1);
}

static void diffp(const place *p, taps *t)
{
    add(t, 0, -1);
    if (has_next(p)) {
        add(t, 1, 1);
    }
}

static void backward(const place *p, taps *t)
{
    if (has_before(p)) {
        add(t, -1, -1 / below(p));
        add(t, 0, 1 / below(p));
    }
}

static void forward(const place *p, taps *t)
{
    if (has_next(p)) {
        add(t, 0, -1 / above(p));
        add(t, 1, 1 / above(p));
    }
}

static void mean_before(const place *p, taps *t)
{
    if (has_before(p)) {
        add(t, -1, 0.5);
        add(t, 0, 0.5);
    }
}

static void mean_next(const place *p, taps *t)
{
    if (has_next(p)) {
        add(t, 0, 0.5);
        add(t, 1, 0.5);
    }
}

static void star_forward(const place *p, taps *t)
{
    if (has_next(p)) {
        add(t, 0, -1 / star(p));
        add(t, 1, 1 / star(p));
    }
}

static void central(const place *p, taps *t)
{
    if (has_before(p) && has_next(p)) {
        add(t, -1, -1 / (below(p) + above(p)));
        add(t, 1, 1 / (below(p) + above(p)));
    }
}

static void weighted(const place *p, taps *t)
{
    if (has_before(p) && has_next(p)) {
        const double h = below(p);
        const double q = above(p);
        add(t, -1, -(q / h) / (h + q));
        add(t, 0, (q / h - h / q) / (h + q));
        add(t, 1, (h / q) / (h + q));
    }
}

static void mean_central(const place *p, taps *t)
{
    if (has_before(p) && has_next(p)) {
        add(t, -1, 0.25);
        add(t, 0, 0.5);
        add(t, 1, 0.25);
    }
}

static void second(const place *p, taps *t)
{
    if (has_next(p)) {
        const double right = 1 / above(p) / star(p);
        const double left = has_before(p) ? 1 / below(p) / star(p) : 0;
        if (has_before(p)) {
            add(t, -1, left);
        }
        add(t, 0, -(left + right));
        add(t, 1, right);
    }
}

static void shift(const place *p, taps *t)
{
    if (p->i + p->k >= 0 && p->i + p->k < p->n) {
        add(t, p->k, 1);
    }
}

typedef struct operator_row {
    const char *op; /* of grid.rk, without its axis */
    void (*taps)(const place *p, taps *t);
    bool wide; /* has no meaning on two points */
} operator_row;

static const operator_row operators[] = {
    {"diffm", diffm, false},  {"diffp", diffp, false},        {"jump", diffp, false},
    {"Dm", backward, false},  {"Dp", forward, false},         {"Mm", mean_before, false},
    {"Mp", mean_next, false}, {"Dstar", star_forward, false}, {"Dc", central, true},
    {"Dw", weighted, true},   {"Mc", mean_central, true},     {"lap", second, false},
    {"shift", shift, false},
};

/* --- the matrix ------------------------------------------------------------------- */

/* An operator along some axes of a mesh, added up; in work. */
typedef struct builder {
    const rubus__state *state;
    const operator_row *row;
    uint32_t axes;
    int64_t k;
    taps *along[3]; /* [points of the axis] */
    int64_t nnz;    /* of one component */
    int32_t *rowptr;
    int32_t *colval;
    double *value;
} builder;

static void builder_fini(builder *b)
{
    for (int d = 0; d < 3; d++) {
        rubus__free(b->along[d]);
    }
    rubus__free(b->rowptr);
    rubus__free(b->colval);
    rubus__free(b->value);
}

/* What the name means on this mesh. */
static rubus_status find(const char *what, const char *op, int32_t k, builder *b)
{
    rk_word word;
    const bool known = rk_word_find(op, &word);
    const bool moved = known && word.kind == RK_WORD_SHIFT;
    if (!moved && (!known || word.kind != RK_WORD_OPERATOR)) {
        return rubus__fail(
            RUBUS_EINVAL,
            "%s: no operator '%s' on grid functions; there are diffm, "
            "diffp, jump, Dm, Dp, Mm, Mp, Dstar, Dc, Dw, Mc, lap and shift, "
            "with an axis behind: Dm_x",
            what, op);
    }
    const char *name = moved ? "shift" : word.op;
    const uint32_t all = (1u << (unsigned)b->state->ndim) - 1;
    const bool whole = strcmp(name, "lap") == 0 || b->state->ndim == 1;
    b->axes = word.axes == 0 && whole ? all : word.axes;
    if (b->axes == 0 || (b->axes & ~all) != 0) {
        return rubus__fail(
            RUBUS_EINVAL, "%s: '%s' on a mesh with %d ax%ss; name one of them: %s_x",
            what, op, (int)b->state->ndim, b->state->ndim == 1 ? "i" : "e", name);
    }
    if (k != 0 && !moved) {
        return rubus__fail(RUBUS_EINVAL, "%s: k is %d, but '%s' is no shift", what,
                           (int)k, op);
    }
    b->k = k;
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (strcmp(operators[i].op, name) == 0) {
            b->row = &operators[i];
        }
    }
    return RUBUS_OK;
}

/* The taps of every place on an axis. */
static rubus_status axis_fill(const char *what, builder *b, int32_t d)
{
    const rubus__axis *axis = b->state->axis[d];
    if (b->row->wide && axis->n == 2) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: '%s' needs 3 points on axis %d, which has 2", what,
                           b->row->op, (int)d);
    }
    b->along[d] = rubus__alloc_array((size_t)axis->n, sizeof(taps));
    if (b->along[d] == NULL) {
        return RUBUS_ENOMEM;
    }
    int64_t sum = 0;
    for (int64_t i = 0; i < axis->n; i++) {
        const place p = {axis->x, b->state->type, axis->n, i, b->k};
        b->row->taps(&p, &b->along[d][i]);
        sum += b->along[d][i].n;
    }
    b->nnz += sum * (b->state->count / axis->n);
    return RUBUS_OK;
}

static rubus_status room_make(const char *what, const rubus_space *space, builder *b)
{
    if (b->nnz > INT32_MAX / space->ncomponent) {
        return rubus__fail(RUBUS_ELIMIT,
                           "%s: %d components of %lld entries; more than 2^31 - 1", what,
                           (int)space->ncomponent, (long long)b->nnz);
    }
    const size_t nnz = (size_t)b->nnz * (size_t)space->ncomponent;
    const size_t nrow = (size_t)space->count * (size_t)space->ncomponent;
    b->rowptr = rubus__alloc_array(nrow + 1, sizeof(*b->rowptr));
    b->colval = rubus__alloc_array(nnz + 1, sizeof(*b->colval));
    b->value = rubus__alloc_array(nnz + 1, sizeof(*b->value));
    return b->rowptr == NULL || b->colval == NULL || b->value == NULL ? RUBUS_ENOMEM
                                                                      : RUBUS_OK;
}

/* The entries of one row behind `at`; where they end. */
static int32_t row_write(builder *b, int64_t point, int64_t first, int32_t at)
{
    int64_t stride = 1;
    for (int32_t d = 0; d < b->state->ndim; d++) {
        const int64_t n = b->state->shape.n[d];
        const taps *t = b->along[d] == NULL ? NULL : &b->along[d][point / stride % n];
        for (int32_t k = 0; t != NULL && k < t->n; k++, at++) {
            b->colval[at] = (int32_t)(first + point + t->offset[k] * stride);
            b->value[at] = t->value[k];
        }
        stride *= n;
    }
    return at;
}

static rubus_status build(const char *what, const rubus_space *space, builder *b,
                          rubus_csr **out_csr)
{
    rubus_status st = RUBUS_OK;
    for (int32_t d = 0; st == RUBUS_OK && d < b->state->ndim; d++) {
        if ((b->axes >> (unsigned)d & 1u) != 0) {
            st = axis_fill(what, b, d);
        }
    }
    if (st == RUBUS_OK) {
        st = room_make(what, space, b);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    int32_t at = 0;
    const int64_t nrow = space->count * space->ncomponent;
    for (int64_t row = 0; row < nrow; row++) {
        const int64_t point = row % space->count;
        at = row_write(b, point, row - point, at);
        b->rowptr[row + 1] = at;
    }
    float *narrow = b->state->type == RUBUS_F32 ? rubus__narrow(b->value, at) : NULL;
    if (b->state->type == RUBUS_F32 && narrow == NULL) {
        return RUBUS_ENOMEM;
    }
    st = rubus_csr_create(b->state->context, RUBUS_I32, b->state->type, nrow, nrow, at,
                          b->rowptr, b->colval,
                          narrow != NULL ? (const void *)narrow : b->value, out_csr);
    rubus__free(narrow);
    return st;
}

rubus_status rubus_space_operator_matrix(const rubus_space *space, const char *op,
                                         int32_t k, rubus_csr **out_csr)
{
    static const char what[] = "rubus_space_operator_matrix";
    if (op == NULL || out_csr == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what,
                           op == NULL ? "the operator's name" : "out_csr");
    }
    rubus__state *state = NULL;
    rubus_status st = rubus__space_enter(space, what, &state);
    if (st != RUBUS_OK) {
        return st;
    }
    builder b = {.state = state};
    st = find(what, op, k, &b);
    if (st == RUBUS_OK) {
        st = build(what, space, &b, out_csr);
    }
    builder_fini(&b);
    rubus__state_release(state);
    return st;
}
