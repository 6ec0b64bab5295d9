/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of a term taken apart: factors that depend on one axis only (spacings,
 * weights, and where a missing neighbour makes them 0) become one array of that axis, a
 * line table, with the literals. What remains is a number of live parameters, and what
 * varies over the mesh. The sign stands apart, so that the rows on both sides of a face,
 * whose taps differ in it alone, share all of it.
 *
 * A factor is found beneath products, quotients, and guards whose other side is 0: there
 * the guard goes with the factor into the table, and stays with what remains.
 */
#include "config.h"

#include "libcore/kernel/check.h"
#include "libcore/kernel/form_write.h"

#include <math.h>
#include <string.h>

enum {
    PRODUCT_MAX = 512, /* nodes of a tree that is taken apart */
    LINE_MAX = 32      /* factors of an axis in a product */
};

/* A product on the way: numerators of an axis by number of the node, then
 * denominators. */
typedef struct factors {
    bool negative;
    double literal; /* > 0 */
    int32_t n[3];
    rk_ir *line[3][LINE_MAX];
    bool below[3][LINE_MAX]; /* it divides */
    bool guarded[3];         /* tables are 0 before lo, and from the extent + hi on */
    int64_t lo[3];
    int64_t hi[3];
    rk_ir *number;
    rk_ir *rest;
} factors;

typedef struct maker {
    rk_form *form;
    rk_unit *unit;
    rk_form_traits traits;
    rk_span at; /* the product */
    int32_t ntable[3];
} maker;

static void start(factors *f)
{
    memset(f, 0, sizeof(*f));
    f->literal = 1;
}

/* --- parts of a product ------------------------------------------------------------ */

static bool is_zero_guard(const rk_ir *node)
{
    return node->kind == RK_IR_GUARD && rk_is_number(node->b, 0);
}

/* a * b, both 1 if NULL; under one guard where they have the same. */
static rk_ir *multiplied(maker *m, rk_ir *a, rk_ir *b)
{
    if (a == NULL || b == NULL) {
        return a == NULL ? b : a;
    }
    if (is_zero_guard(a) && is_zero_guard(b) && rk_box_equal(&a->box, &b->box)) {
        return rk_form_guarded(m->form, a, multiplied(m, a->a, b->a), a->b);
    }
    return rk_form_times(m->form, m->at, a, b);
}

static void multiply(maker *m, rk_ir **product, rk_ir *factor, bool below)
{
    if (!below) {
        *product = multiplied(m, *product, factor);
        return;
    }
    rk_ir *above = *product != NULL ? *product : rk_form_constant(m->form, 1, m->at);
    *product = rk_form_apply(m->form, RK_OP_DIV, m->at, above, factor, NULL);
}

/* Literals that the table of a mesh in f32 can hold as well. */
static bool take_literal(factors *f, double value, bool below)
{
    const double size = below ? f->literal / fabs(value) : f->literal * fabs(value);
    if (!(size > 1e-30 && size < 1e30)) {
        return false;
    }
    f->literal = size;
    f->negative = f->negative != (value < 0);
    return true;
}

/* The factors of an axis stand in one order, whatever the product. */
static bool add_line(factors *f, int32_t axis, rk_ir *node, bool below)
{
    int32_t at = f->n[axis];
    if (at == LINE_MAX) {
        return false;
    }
    while (at > 0 &&
           (f->below[axis][at - 1] > below ||
            (f->below[axis][at - 1] == below && f->line[axis][at - 1]->id > node->id))) {
        f->line[axis][at] = f->line[axis][at - 1];
        f->below[axis][at] = f->below[axis][at - 1];
        at--;
    }
    f->line[axis][at] = node;
    f->below[axis][at] = below;
    f->n[axis]++;
    return true;
}

/* 0 outside of the bounds along an axis. */
static void restrict_line(factors *f, int32_t axis, int64_t lo, int64_t hi)
{
    f->lo[axis] = f->guarded[axis] && f->lo[axis] > lo ? f->lo[axis] : lo;
    f->hi[axis] = f->guarded[axis] && f->hi[axis] < hi ? f->hi[axis] : hi;
    f->guarded[axis] = true;
}

/* f *= more */
static bool join(maker *m, factors *f, const factors *more)
{
    factors all = *f;
    bool good = take_literal(&all, more->literal, false);
    for (int32_t d = 0; d < 3; d++) {
        for (int32_t i = 0; i < more->n[d]; i++) {
            good = good && add_line(&all, d, more->line[d][i], more->below[d][i]);
        }
        if (more->guarded[d]) {
            restrict_line(&all, d, more->lo[d], more->hi[d]);
        }
    }
    if (good) {
        all.negative = all.negative != more->negative;
        all.number = multiplied(m, all.number, more->number);
        all.rest = multiplied(m, all.rest, more->rest);
        *f = all;
    }
    return good;
}

/* --- taking trees apart ------------------------------------------------------------ */

static void gather(maker *m, factors *f, rk_ir *node, bool below);

/* a * b in a guard: the guard stays with what varies, and goes into the tables. */
static bool gather_guard(maker *m, factors *f, rk_ir *node)
{
    int64_t lo[3];
    int64_t hi[3];
    if (!rk_form_box(m->form, &node->box, lo, hi)) {
        return false;
    }
    factors inner;
    start(&inner);
    gather(m, &inner, node->a, false);
    inner.rest = multiplied(m, inner.number, inner.rest);
    inner.number = NULL;
    if (inner.rest != NULL) {
        inner.rest = rk_form_guarded(m->form, node, inner.rest, node->b);
    }
    for (int32_t d = 0; d < 3; d++) {
        if (node->box.bounded[d]) {
            restrict_line(&inner, d, lo[d], hi[d]);
        }
    }
    return join(m, f, &inner);
}

/* Whether a factor is finite wherever it stands; positive: and above 0. */
static bool is_tame(const rk_form *form, const rk_ir *node, bool positive)
{
    if (node->kind == RK_IR_CONST) {
        return node->type == RK_REAL && isfinite(node->value.u.real) &&
               (!positive || node->value.u.real > 0);
    }
    if (node->kind == RK_IR_LOAD) {
        const rk_leaf_kind kind = form->leaf[node->param]->kind;
        return kind == RK_LEAF_H || kind == RK_LEAF_F || kind == RK_LEAF_S ||
               kind == RK_LEAF_W || (kind == RK_LEAF_A && !positive);
    }
    if (node->kind != RK_IR_APPLY) {
        return false;
    }
    switch (node->op) {
    case RK_OP_ADD:
    case RK_OP_MUL:
        return is_tame(form, node->a, positive) && is_tame(form, node->b, positive);
    case RK_OP_DIV:
        return is_tame(form, node->a, positive) && is_tame(form, node->b, true);
    default:
        return false;
    }
}

/* c ? a : 0, where factors of a do no harm where c is not. */
static bool gather_choice(maker *m, factors *f, const rk_ir *node)
{
    factors inner;
    start(&inner);
    gather(m, &inner, node->b, false);
    for (int32_t d = 0; d < 3; d++) {
        for (int32_t i = 0; i < inner.n[d]; i++) {
            if (!is_tame(m->form, inner.line[d][i], inner.below[d][i])) {
                return false;
            }
        }
    }
    rk_ir *rest = multiplied(m, inner.number, inner.rest);
    rest = rest != NULL ? rest : rk_form_constant(m->form, 1, m->at);
    inner.number = NULL;
    inner.rest = rk_form_apply(m->form, RK_OP_SELECT, m->at, node->a, rest, node->c);
    return join(m, f, &inner);
}

static bool gather_parts(maker *m, factors *f, rk_ir *node, bool below)
{
    if (node->kind == RK_IR_CONST) {
        return node->type == RK_REAL && take_literal(f, node->value.u.real, below);
    }
    if (node->type != RK_REAL || rk_form_traits_of(&m->traits, node).size > PRODUCT_MAX) {
        return false;
    }
    if (is_zero_guard(node) && !below) {
        return gather_guard(m, f, node);
    }
    if (node->kind != RK_IR_APPLY) {
        return false;
    }
    switch (node->op) {
    case RK_OP_MUL:
    case RK_OP_DIV:
        gather(m, f, node->a, below);
        gather(m, f, node->b, below != (node->op == RK_OP_DIV));
        return true;
    case RK_OP_NEG:
        f->negative = !f->negative;
        gather(m, f, node->a, below);
        return true;
    case RK_OP_SELECT:
        return !below && rk_is_number(node->c, 0) && gather_choice(m, f, node);
    default:
        return false;
    }
}

/* f *= node, or f /= node if it stands below. */
static void gather(maker *m, factors *f, rk_ir *node, bool below)
{
    rk_spend(m->unit, RK_STEPS_OF(sizeof(factors)) / 4, m->at);
    if (gather_parts(m, f, node, below)) {
        return;
    }
    const rk_traits t = rk_form_traits_of(&m->traits, node);
    const bool line =
        !t.field && !t.number && node->type == RK_REAL && t.size <= PRODUCT_MAX;
    for (int32_t d = 0; d < 3 && line; d++) {
        if (t.axes == 1u << d && add_line(f, d, node, below)) {
            return;
        }
    }
    multiply(m, !t.field && t.axes == 0 ? &f->number : &f->rest, node, below);
}

/* --- tables ------------------------------------------------------------------------ */

/* The tree in one dimension, that of the axis. */
static rk_ir *on_line(maker *m, const rk_ir *node, int32_t axis)
{
    rk_spend(m->unit, 8, m->at);
    rk_ir draft = *node;
    draft.nuse = 0;
    draft.id = 0;
    for (int32_t k = 0; k < 3; k++) {
        draft.at[k].axis = draft.at[k].axis < 0 ? -1 : 0;
    }
    draft.axis = draft.kind == RK_IR_COORD ? 0 : draft.axis;
    memset(&draft.box, 0, sizeof(draft.box));
    if (node->kind == RK_IR_GUARD) {
        draft.box.bounded[0] = true;
        draft.box.lo[0] = node->box.lo[axis];
        draft.box.hi[0] = node->box.hi[axis];
    }
    draft.a = node->a == NULL ? NULL : on_line(m, node->a, axis);
    draft.b = node->b == NULL ? NULL : on_line(m, node->b, axis);
    draft.c = node->c == NULL ? NULL : on_line(m, node->c, axis);
    draft.arg = rk_new(m->unit, ((size_t)node->narg + 1) * sizeof(rk_ir *));
    for (int32_t i = 0; i < node->narg; i++) {
        draft.arg[i] = on_line(m, node->arg[i], axis);
    }
    return rk_node_get(m->form->lower, &draft);
}

/* The array of the mesh that is all of a line; NULL: it is more than one. */
static const rk_leaf *bare_line(const maker *m, const factors *f, int32_t axis)
{
    const rk_ir *node = f->line[axis][0];
    int64_t off = 1;
    if (f->n[axis] != 1 || f->below[axis][0] || f->guarded[axis] ||
        node->kind != RK_IR_LOAD || node->at[0].axis < 0 ||
        !rk_affine_is_const(node->at[0].off, &off) || off != 0) {
        return NULL;
    }
    const rk_leaf *leaf = m->form->leaf[node->param];
    return leaf->kind == RK_LEAF_S ? NULL : leaf;
}

/* Factors of an axis as a tree on the mesh; NULL: 1. */
static rk_ir *line_value(maker *m, const factors *f, int32_t axis, double literal)
{
    rk_ir *value = NULL;
    for (int32_t i = 0; i < f->n[axis]; i++) {
        multiply(m, &value, f->line[axis][i], f->below[axis][i]);
        if (literal > 1 || literal < 1) { // behind the first one: it is no integer more
            value = rk_form_times(m->form, m->at,
                                  rk_form_constant(m->form, literal, m->at), value);
            literal = 1;
        }
    }
    if (f->guarded[axis]) {
        rk_ir guard = rk_node_draft(RK_IR_GUARD, RK_REAL, m->at);
        guard.box.bounded[axis] = true;
        guard.box.lo[axis] = rk_affine_int(f->lo[axis]);
        guard.box.hi[axis] = rk_affine_add(m->unit, rk_form_extent(m->form, axis), 1,
                                           rk_affine_int(f->hi[axis]));
        value = value != NULL ? value : rk_form_constant(m->form, literal, m->at);
        value =
            rk_form_guarded(m->form, &guard, value, rk_form_constant(m->form, 0, m->at));
    }
    return value;
}

/* The table of that value, if there is room for it. */
static const rk_leaf *table_of(maker *m, int32_t axis, const rk_ir *value)
{
    rk_form *form = m->form;
    rk_ir *line = on_line(m, value, axis);
    for (int32_t i = 0; i < form->ntable; i++) {
        if (form->table[i].value == line && form->table[i].leaf->axis == axis) {
            return form->table[i].leaf;
        }
    }
    if (m->ntable[axis] == RK_FORM_TABLES) {
        return NULL;
    }
    m->ntable[axis]++;
    form->table = rk_extend(m->unit, form->table, form->ntable, sizeof(rk_table));
    const rk_leaf *leaf = rk_form_leaf(form, RK_LEAF_TABLE, form->ntable, axis);
    form->table[form->ntable++] = (rk_table){leaf, line};
    return leaf;
}

/* Axis whose table takes the literal: one that is needed anyway; -1: none has any. */
static int32_t literal_axis(const maker *m, const factors *f)
{
    int32_t axis = -1;
    for (int32_t d = 0; d < 3; d++) {
        const bool any = f->n[d] > 0 || f->guarded[d];
        if (any && bare_line(m, f, d) == NULL) {
            return d;
        }
        axis = any && axis < 0 ? d : axis;
    }
    return axis;
}

static rk_product finish(maker *m, factors *f)
{
    rk_product p = {f->negative, {NULL, NULL, NULL}, NULL, NULL};
    const bool one = !(f->literal > 1 || f->literal < 1);
    const int32_t keeper = one ? -1 : literal_axis(m, f);
    if (!one && keeper < 0) {
        f->number =
            multiplied(m, rk_form_constant(m->form, f->literal, m->at), f->number);
    }
    for (int32_t d = 0; d < 3; d++) {
        p.line[d] = d == keeper ? NULL : bare_line(m, f, d);
        rk_ir *value = line_value(m, f, d, d == keeper ? f->literal : 1);
        if (p.line[d] == NULL && value != NULL) {
            p.line[d] = table_of(m, d, value);
            f->rest = p.line[d] == NULL ? multiplied(m, f->rest, value) : f->rest;
        }
    }
    p.number = f->number;
    p.rest = f->rest;
    return p;
}

/* --- products of terms ------------------------------------------------------------- */

static rk_ir *leaf_load(maker *m, rk_leaf_kind kind, int32_t axis)
{
    const rk_leaf *leaf = rk_form_leaf(m->form, kind, 0, axis);
    rk_ir draft = rk_node_draft(RK_IR_LOAD, RK_REAL, m->at);
    for (int32_t i = 0; i < m->form->nleaf; i++) {
        draft.param = m->form->leaf[i] == leaf ? i : draft.param;
    }
    draft.at[0].axis = axis;
    return rk_node_get(m->form->lower, &draft);
}

/* The number and the weight of a term. */
static void gather_term(maker *m, factors *f, const rk_form_term *term)
{
    start(f);
    if (term->scale != NULL) {
        gather(m, f, term->scale, false);
    }
    for (int32_t d = 0; d < m->form->desc.ndim; d++) {
        if (term->face < 0 || term->face / 2 != d) {
            const bool staggered = (term->staggered >> d & 1u) != 0;
            gather(m, f, leaf_load(m, staggered ? RK_LEAF_A : RK_LEAF_W, d), false);
        }
    }
}

static void make_products(maker *m, rk_form_term *term)
{
    m->at = term->at;
    const rk_traits t = rk_form_traits_of(&m->traits, term->lowered_a);
    term->written = t.hard || t.size > PRODUCT_MAX;
    term->row = rk_new(m->unit, ((size_t)term->ntest + 1) * sizeof(rk_product));
    term->pair = rk_new(m->unit, ((size_t)term->ntest * (size_t)term->ntrial + 1) *
                                     sizeof(rk_product));
    for (int32_t k = 0; k < term->ntest; k++) {
        factors left;
        gather_term(m, &left, term);
        gather(m, &left, term->test[k].coef, false);
        factors row = left;
        if (!term->written) {
            gather(m, &row, term->lowered_a, false);
        }
        term->row[k] = finish(m, &row);
        for (int32_t i = 0; i < term->ntrial; i++) {
            factors pair = left;
            gather(m, &pair, term->trial[i].coef, false);
            term->pair[k * term->ntrial + i] = finish(m, &pair);
        }
    }
}

void rk_form_tables(rk_form *form)
{
    maker m = {.form = form, .unit = form->unit, .traits = {.form = form}};
    for (int32_t i = 0; i < form->nterm; i++) {
        make_products(&m, &form->term[i]);
    }
}

bool rk_product_equal(const rk_product *a, const rk_product *b)
{
    for (int32_t d = 0; d < 3; d++) {
        if (a->line[d] != b->line[d]) {
            return false;
        }
    }
    return a->number == b->number && a->rest == b->rest;
}
