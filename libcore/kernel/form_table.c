/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of a term taken apart: factors that depend on one axis only (spacings,
 * weights, and where a missing neighbour makes them 0) become one array of that axis, a
 * line table, with the literals. What remains is a number of live parameters, and what
 * varies over the mesh. The sign stands apart, so that the rows on both sides of a face,
 * whose taps differ in it alone, share all of it.
 *
 * A factor is found beneath products, quotients, and guards whose other side is 0: there
 * the guard goes into the table, and stays with what remains. Products inside of sums are
 * taken apart likewise, where they stand: under their guards, at the points that they are
 * read at.
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
    rk_span at;  /* the product */
    bool inside; /* of a sum: guards and choices stay around their values */
    int32_t ntable[3];
    int32_t nline; /* values on their axis, by number of the node; NULL: not yet */
    int32_t line_room;
    rk_ir **line;
} maker;

static void start(factors *f)
{
    memset(f, 0, sizeof(*f));
    f->literal = 1;
}

/* --- parts of a product ------------------------------------------------------------ */

/* a * b, both 1 if NULL; under one guard where they have the same. */
static rk_ir *multiplied(maker *m, rk_ir *a, rk_ir *b)
{
    if (a == NULL || b == NULL) {
        return a == NULL ? b : a;
    }
    if (rk_is_zero_guard(a) && rk_is_zero_guard(b) && rk_box_equal(&a->box, &b->box)) {
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
    rk_spend(m->unit, 40, m->at);
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
static rk_ir *inside_of(maker *m, rk_ir *node);

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
    if (rk_is_zero_guard(node) && !below && !m->inside) {
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
        return !below && !m->inside && rk_is_number(node->c, 0) &&
               gather_choice(m, f, node);
    default:
        return false;
    }
}

/* f *= node, or f /= node if it stands below. */
static void gather(maker *m, factors *f, rk_ir *node, bool below)
{
    rk_spend(m->unit, 8, m->at);
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
    if (!t.field && t.axes == 0) {
        multiply(m, &f->number, node, below);
    } else {
        multiply(m, &f->rest, t.size <= PRODUCT_MAX ? inside_of(m, node) : node, below);
    }
}

/* --- tables ------------------------------------------------------------------------ */

/* The tree `shift` points before, in one dimension, that of the axis. */
static rk_ir *on_line(maker *m, const rk_ir *node, int32_t axis, rk_affine shift)
{
    rk_spend(m->unit, 8, m->at);
    rk_ir draft = *node;
    draft.nuse = 0;
    draft.id = 0;
    if (node->kind == RK_IR_LOAD && node->at[0].axis >= 0) {
        draft.at[0].axis = 0;
        draft.at[0].off = rk_affine_add(m->unit, node->at[0].off, -1, shift);
    } else if (node->kind == RK_IR_COORD) {
        draft.axis = 0;
        draft.affine = rk_affine_add(m->unit, node->affine, -1, shift);
    } else if (node->kind == RK_IR_GUARD) {
        memset(&draft.box, 0, sizeof(draft.box));
        draft.box.bounded[0] = true;
        draft.box.lo[0] = rk_affine_add(m->unit, node->box.lo[axis], 1, shift);
        draft.box.hi[0] = rk_affine_add(m->unit, node->box.hi[axis], 1, shift);
    }
    draft.a = node->a == NULL ? NULL : on_line(m, node->a, axis, shift);
    draft.b = node->b == NULL ? NULL : on_line(m, node->b, axis, shift);
    draft.c = node->c == NULL ? NULL : on_line(m, node->c, axis, shift);
    draft.arg = rk_new(m->unit, ((size_t)node->narg + 1) * sizeof(rk_ir *));
    for (int32_t i = 0; i < node->narg; i++) {
        draft.arg[i] = on_line(m, node->arg[i], axis, shift);
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

/* The table of that value, `shift` points before, if there is room for it. */
static const rk_leaf *table_of(maker *m, int32_t axis, const rk_ir *value,
                               rk_affine shift)
{
    rk_form *form = m->form;
    while (m->nline <= value->id) { // one value always has one shift
        rk_room(m->unit, (void **)&m->line, &m->line_room, m->nline, sizeof(rk_ir *));
        m->line[m->nline++] = NULL;
    }
    rk_ir *line = m->line[value->id];
    line = line != NULL ? line : on_line(m, value, axis, shift);
    m->line[value->id] = line;
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

static rk_product finish(maker *m, const factors *f)
{
    rk_product p = {f->negative, {NULL, NULL, NULL}, f->number, f->rest};
    const bool one = !(f->literal > 1 || f->literal < 1);
    const int32_t keeper = one ? -1 : literal_axis(m, f);
    if (!one && keeper < 0) {
        p.number = multiplied(m, rk_form_constant(m->form, f->literal, m->at), p.number);
    }
    for (int32_t d = 0; d < 3; d++) {
        p.line[d] = d == keeper ? NULL : bare_line(m, f, d);
        rk_ir *value = line_value(m, f, d, d == keeper ? f->literal : 1);
        if (p.line[d] == NULL && value != NULL) {
            p.line[d] = table_of(m, d, value, rk_affine_int(0));
            p.rest = p.line[d] == NULL ? multiplied(m, p.rest, value) : p.rest;
        }
    }
    return p;
}

/* --- products inside of sums ------------------------------------------------------- */

static rk_ir *leaf_load(maker *m, const rk_leaf *leaf, rk_affine off)
{
    rk_ir draft = rk_node_draft(RK_IR_LOAD, RK_REAL, m->at);
    for (int32_t i = 0; i < m->form->nleaf; i++) {
        draft.param = m->form->leaf[i] == leaf ? i : draft.param;
    }
    draft.at[0].axis = leaf->axis;
    draft.at[0].off = off;
    return rk_node_get(m->form->lower, &draft);
}

/* Where the first array of the axis in a tree is read; false: none is. */
static bool first_place(const rk_ir *node, rk_affine *out)
{
    if (node->kind == RK_IR_LOAD && node->at[0].axis >= 0) {
        *out = node->at[0].off;
        return true;
    }
    const rk_ir *part[3] = {node->a, node->b, node->c};
    for (int i = 0; i < 3; i++) {
        if (part[i] != NULL && first_place(part[i], out)) {
            return true;
        }
    }
    return false;
}

/* Factors of an axis where they stand: one table serves all points that it is read at,
 * since where one of its arrays is in range, it is. */
static rk_ir *line_inside(maker *m, const factors *f, int32_t axis)
{
    rk_ir *value = line_value(m, f, axis, 1);
    rk_affine place = rk_affine_int(0);
    if ((f->n[axis] == 1 && !f->below[axis][0]) || !first_place(value, &place)) {
        return value;
    }
    const rk_leaf *leaf = table_of(m, axis, value, place);
    return leaf == NULL ? value : leaf_load(m, leaf, place);
}

/* A product as one tree; inside: of a sum, where tables may stand. */
static rk_ir *whole(maker *m, const factors *f, bool inside)
{
    rk_ir *value = f->number;
    if (f->literal > 1 || f->literal < 1) {
        value = multiplied(m, rk_form_constant(m->form, f->literal, m->at), value);
    }
    for (int32_t d = 0; d < 3; d++) {
        rk_ir *line =
            inside && f->n[d] > 0 ? line_inside(m, f, d) : line_value(m, f, d, 1);
        value = multiplied(m, value, line);
    }
    value = multiplied(m, value, f->rest);
    value = value != NULL ? value : rk_form_constant(m->form, 1, m->at);
    return f->negative ? rk_form_apply(m->form, RK_OP_NEG, m->at, value, NULL, NULL)
                       : value;
}

static rk_ir *product_inside(maker *m, rk_ir *node)
{
    factors f;
    start(&f);
    gather(m, &f, node, false);
    return whole(m, &f, true);
}

/* A sum, or a choice between values, with its products taken apart. */
static rk_ir *inside_of(maker *m, rk_ir *node)
{
    const bool sum = node->kind == RK_IR_APPLY && node->type == RK_REAL &&
                     (node->op == RK_OP_ADD || node->op == RK_OP_SUB);
    const bool choice =
        node->kind == RK_IR_APPLY && node->type == RK_REAL && node->op == RK_OP_SELECT;
    const bool guard = node->kind == RK_IR_GUARD && node->type == RK_REAL;
    if (!sum && !choice && !guard) {
        return node;
    }
    rk_spend(m->unit, 8, m->at);
    const bool before = m->inside;
    m->inside = true;
    rk_ir draft = *node;
    draft.nuse = 0;
    draft.id = 0;
    draft.a = choice ? node->a : product_inside(m, node->a);
    draft.b = product_inside(m, node->b);
    draft.c = choice ? product_inside(m, node->c) : NULL;
    m->inside = before;
    return rk_node_get(m->form->lower, &draft);
}

/* --- products of terms ------------------------------------------------------------- */

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
            const rk_leaf *leaf =
                rk_form_leaf(m->form, staggered ? RK_LEAF_A : RK_LEAF_W, 0, d);
            gather(m, f, leaf_load(m, leaf, rk_affine_int(0)), false);
        }
    }
}

/* Factors of each tap of a side; of the test side with those of the term. */
static factors *tap_factors(maker *m, const rk_form_term *term, const rk_tap *tap,
                            int32_t n)
{
    factors *list = rk_new(m->unit, ((size_t)n + 1) * sizeof(*list));
    for (int32_t i = 0; i < n; i++) {
        if (tap == term->test) {
            gather_term(m, &list[i], term);
        } else {
            start(&list[i]);
        }
        gather(m, &list[i], tap[i].coef, false);
    }
    return list;
}

/* a * b, where factors that find no room stay together. */
static rk_product joined(maker *m, const factors *a, const factors *b)
{
    factors f = *a;
    if (!join(m, &f, b)) {
        f.rest = multiplied(m, f.rest, whole(m, b, false));
    }
    return finish(m, &f);
}

static void make_rows(maker *m, rk_form_term *term)
{
    m->at = term->at;
    const rk_traits t = rk_form_traits_of(&m->traits, term->lowered_a);
    term->written = t.hard || t.size > PRODUCT_MAX;
    factors first;
    start(&first);
    if (!term->written) {
        gather(m, &first, term->lowered_a, false);
    }
    const factors *test = tap_factors(m, term, term->test, term->ntest);
    term->row = rk_new(m->unit, ((size_t)term->ntest + 1) * sizeof(rk_product));
    for (int32_t k = 0; k < term->ntest; k++) {
        term->row[k] = joined(m, &test[k], &first);
    }
}

static void make_pairs(maker *m, rk_form_term *term)
{
    m->at = term->at;
    const int32_t n = term->ntest * term->ntrial;
    const factors *test = tap_factors(m, term, term->test, term->ntest);
    const factors *trial = tap_factors(m, term, term->trial, term->ntrial);
    term->pair = rk_new(m->unit, ((size_t)n + 1) * sizeof(rk_product));
    for (int32_t k = 0; k < n; k++) {
        term->pair[k] = joined(m, &test[k / term->ntrial], &trial[k % term->ntrial]);
    }
}

/* Rows first: an operator that is applied needs them at every step of a solver. */
void rk_form_tables(rk_form *form)
{
    maker m = {.form = form, .unit = form->unit, .traits = {.form = form}};
    for (int32_t i = 0; i < form->nterm; i++) {
        make_rows(&m, &form->term[i]);
    }
    for (int32_t i = 0; i < form->nterm; i++) {
        make_pairs(&m, &form->term[i]);
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
