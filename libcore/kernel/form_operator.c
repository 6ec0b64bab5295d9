/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators in forms: each becomes a call of its op of grid.rk with the spacings that it
 * needs, or, along all axes, a tuple of such calls.
 */
#include "config.h"

#include "libcore/kernel/form_value.h"

#include <string.h>

/* --- expressions ------------------------------------------------------------------- */

rk_expr *rk_expr_node(rk_unit *unit, rk_expr_kind kind, rk_op op, rk_span at, rk_expr *a,
                      rk_expr *b, rk_expr *c)
{
    rk_spend(unit, RK_STEPS_OF(sizeof(rk_expr)), at);
    rk_expr *expr = RK_NEW(unit, rk_expr);
    expr->kind = kind;
    expr->op = op;
    expr->at = at;
    expr->a = a;
    expr->b = b;
    expr->c = c;
    return expr;
}

rk_expr *rk_expr_int(rk_unit *unit, int64_t value, rk_span at)
{
    rk_expr *expr = rk_expr_node(unit, RK_EXPR_INT, RK_OP_NONE, at, NULL, NULL, NULL);
    expr->value.i = value;
    return expr;
}

rk_expr *rk_expr_call(rk_unit *unit, const char *name, rk_span at, int32_t narg,
                      rk_expr **arg)
{
    rk_expr *call = rk_expr_node(unit, RK_EXPR_CALL, RK_OP_NONE, at, NULL, NULL, NULL);
    call->name = name;
    call->narg = narg;
    call->arg = rk_new(unit, ((size_t)narg + 1) * sizeof(rk_expr *));
    if (narg > 0) {
        memcpy(call->arg, arg, (size_t)narg * sizeof(rk_expr *));
    }
    return call;
}

rk_expr *rk_leaf_expr(rk_form_reader *r, const rk_leaf *leaf, rk_span at)
{
    rk_expr *name = rk_expr_node(r->unit, RK_EXPR_NAME, RK_OP_NONE, at, NULL, NULL, NULL);
    name->name = leaf->name;
    return name;
}

rk_expr *rk_line_expr(rk_form_reader *r, rk_expr *array, int32_t axis)
{
    const int32_t ndim = r->form->desc.ndim;
    if (ndim == 1) {
        return array;
    }
    rk_expr *lift =
        rk_expr_node(r->unit, RK_EXPR_INDEX, RK_OP_NONE, array->at, array, NULL, NULL);
    lift->nsub = ndim;
    lift->sub = rk_new(r->unit, (size_t)ndim * sizeof(rk_sub));
    for (int32_t d = 0; d < ndim; d++) {
        lift->sub[d].kind = d == axis ? RK_SUB_SLICE : RK_SUB_LIFT;
        lift->sub[d].at = array->at;
    }
    return lift;
}

/* An expression that has no size along some axis gets it: plus 0 * h. */
static rk_expr *with_sizes(rk_form_reader *r, const rk_form_value *value)
{
    rk_expr *expr = value->expr;
    for (int32_t d = 0; d < r->form->desc.ndim && !value->full; d++) {
        const rk_leaf *leaf = rk_form_leaf(r->form, RK_LEAF_W, 0, d);
        rk_expr *line = rk_line_expr(r, rk_leaf_expr(r, leaf, expr->at), d);
        rk_expr *zero = rk_expr_int(r->unit, 0, expr->at);
        zero =
            rk_expr_node(r->unit, RK_EXPR_BINARY, RK_OP_MUL, expr->at, zero, line, NULL);
        expr =
            rk_expr_node(r->unit, RK_EXPR_BINARY, RK_OP_ADD, expr->at, expr, zero, NULL);
    }
    return expr;
}

/* --- along one axis ---------------------------------------------------------------- */

static rk_form_value *field_value(rk_form_reader *r, rk_expr *expr, uint32_t uses)
{
    rk_form_value *value = rk_form_value_new(r, RK_VALUE_EXPR, expr->at);
    value->expr = expr;
    value->uses = uses;
    value->rank = RK_KIND_FIELD;
    value->full = true;
    return value;
}

static rk_form_value *along(rk_form_reader *r, const rk_expr *e, const rk_word *word,
                            int32_t axis, const rk_form_value *u)
{
    static const char kinds[] = "hfswa";
    rk_expr *arg[3] = {with_sizes(r, u), NULL, NULL};
    int32_t narg = 1;
    for (const char *s = word->spacing; *s != '\0'; s++) {
        const int32_t kind = RK_LEAF_H + (int32_t)(strchr(kinds, *s) - kinds);
        const rk_leaf *leaf = rk_form_leaf(r->form, (rk_leaf_kind)kind, 0, axis);
        arg[narg++] = rk_leaf_expr(r, leaf, e->at);
    }
    const char *name = rk_word_op(r->unit, word->op, axis);
    return field_value(r, rk_expr_call(r->unit, name, e->at, narg, arg), u->uses);
}

static bool has_literal(const rk_expr *e, int64_t *out)
{
    const bool negative = e->kind == RK_EXPR_UNARY && e->op == RK_OP_NEG;
    const rk_expr *literal = negative ? e->a : e;
    *out = negative ? -literal->value.i : literal->value.i;
    return literal->kind == RK_EXPR_INT && literal->value.i < 1000;
}

/* u[i + k], 0 off the grid: pad(u[k:], 0, 0:k). */
static rk_form_value *shifted(rk_form_reader *r, const rk_expr *e, int32_t axis,
                              const rk_form_value *u)
{
    const int32_t ndim = r->form->desc.ndim;
    int64_t k = 0;
    if (!has_literal(e->arg[1], &k)) {
        rk_error(r->unit, RK_FORM_VALUE, e->arg[1]->at, "write shift_x(u, -1)",
                 "the second argument of `%s` is an int literal", e->name);
        return NULL;
    }
    rk_expr *field = with_sizes(r, u);
    rk_expr *slice =
        rk_expr_node(r->unit, RK_EXPR_INDEX, RK_OP_NONE, e->at, field, NULL, NULL);
    rk_expr *arg[5] = {slice, rk_expr_int(r->unit, 0, e->at), NULL, NULL, NULL};
    slice->nsub = ndim;
    slice->sub = rk_new(r->unit, (size_t)ndim * sizeof(rk_sub));
    for (int32_t d = 0; d < ndim; d++) {
        rk_sub *sub = &slice->sub[d];
        const int64_t here = d == axis ? k : 0;
        sub->kind = RK_SUB_SLICE;
        sub->at = e->at;
        sub->lo = here > 0 ? rk_expr_int(r->unit, here, e->at) : NULL;
        sub->hi = here < 0 ? rk_expr_int(r->unit, -here, e->at) : NULL;
        sub->hi_end = here < 0;
        arg[2 + d] =
            rk_expr_node(r->unit, RK_EXPR_RANGE, RK_OP_NONE, e->at, NULL, NULL, NULL);
        arg[2 + d]->value.range[0] = here < 0 ? -here : 0;
        arg[2 + d]->value.range[1] = here > 0 ? here : 0;
    }
    const char *pad = rk_intern(r->unit, "pad", 3);
    return field_value(
        r, k == 0 ? field : rk_expr_call(r->unit, pad, e->at, 2 + ndim, arg), u->uses);
}

/* One axis of an operator or shift; entry by entry over a tuple. */
static rk_form_value *along_one(rk_form_reader *r, const rk_expr *e, const rk_word *word,
                                int32_t axis, rk_form_value *u)
{
    if (u->kind == RK_VALUE_EXPR) {
        if (u->rank != RK_KIND_FIELD) {
            rk_error(r->unit, RK_FORM_VALUE, e->at,
                     "give it a field: a parameter, or the trial or test function",
                     "`%s` of what is no field on the mesh", e->name);
            return NULL;
        }
        return word->kind == RK_WORD_SHIFT ? shifted(r, e, axis, u)
                                           : along(r, e, word, axis, u);
    }
    rk_form_value *tuple = rk_form_value_new(r, RK_VALUE_TUPLE, e->at);
    tuple->n = u->n;
    tuple->uses = u->uses;
    tuple->item = rk_new(r->unit, (size_t)u->n * sizeof(*tuple->item));
    for (int32_t i = 0; i < u->n; i++) {
        tuple->item[i] = along_one(r, e, word, axis, u->item[i]);
        if (tuple->item[i] == NULL) {
            return NULL;
        }
    }
    return tuple;
}

/* --- along all --------------------------------------------------------------------- */

static rk_form_value *combine(rk_form_reader *r, const rk_expr *e, rk_op op,
                              rk_form_value *a, rk_form_value *b)
{
    if (a == NULL || b == NULL) {
        return NULL;
    }
    const rk_expr *model =
        rk_expr_node(r->unit, RK_EXPR_BINARY, op, e->at, NULL, NULL, NULL);
    rk_form_value *operand[2] = {a, b};
    return rk_form_map(r, model, operand, 2);
}

static rk_form_value *along_all(rk_form_reader *r, const rk_expr *e, const rk_word *word,
                                rk_form_value *u)
{
    const int32_t ndim = r->form->desc.ndim;
    const bool sum = strcmp(word->op, "lap") == 0;
    if (u->kind == RK_VALUE_TUPLE && !sum) {
        rk_error(r->unit, RK_FORM_TUPLE, e->at, "name an axis, as in Dm_x",
                 "`%s` of a tuple would be a tuple of tuples", e->name);
        return NULL;
    }
    rk_form_value *tuple = rk_form_value_new(r, RK_VALUE_TUPLE, e->at);
    rk_form_value *total = NULL;
    tuple->n = ndim;
    tuple->uses = u->uses;
    tuple->item = rk_new(r->unit, (size_t)ndim * sizeof(*tuple->item));
    for (int32_t d = 0; d < ndim; d++) {
        rk_form_value *one = along_one(r, e, word, d, u);
        if (one == NULL) {
            return NULL;
        }
        tuple->item[d] = one;
        total = d == 0 ? one : sum ? combine(r, e, RK_OP_ADD, total, one) : total;
    }
    return sum || ndim == 1 ? total : tuple;
}

/* --- div, curl, strain ------------------------------------------------------------- */

/* Entry d of what stands for a vector of the mesh's dimension; NULL: reported. */
static rk_form_value *entry(rk_form_reader *r, const rk_expr *e, rk_form_value *t,
                            int32_t d)
{
    const int32_t ndim = r->form->desc.ndim;
    if (t->kind == RK_VALUE_EXPR && ndim == 1) {
        return t;
    }
    if (t->kind != RK_VALUE_TUPLE || t->n != ndim) {
        rk_error(r->unit, RK_FORM_TUPLE, e->at, "write (u[0], u[1]), one for each axis",
                 "`%s` wants a tuple of %d entries", e->name, (int)ndim);
        return NULL;
    }
    return t->item[d];
}

static rk_form_value *derivative(rk_form_reader *r, const rk_expr *e, const char *op,
                                 int32_t axis, rk_form_value *u)
{
    const rk_word word = {RK_WORD_OPERATOR, op, strcmp(op, "Dm") == 0 ? "h" : "", 0, 0};
    return u == NULL ? NULL : along_one(r, e, &word, axis, u);
}

static rk_form_value *read_div(rk_form_reader *r, const rk_expr *e, rk_form_value *t)
{
    rk_form_value *total = derivative(r, e, "Dm", 0, entry(r, e, t, 0));
    for (int32_t d = 1; d < r->form->desc.ndim && total != NULL; d++) {
        total =
            combine(r, e, RK_OP_ADD, total, derivative(r, e, "Dm", d, entry(r, e, t, d)));
    }
    return total;
}

/* D of t_b along a less D of t_a along b. */
static rk_form_value *rotation(rk_form_reader *r, const rk_expr *e, rk_form_value *t,
                               int32_t a, int32_t b)
{
    rk_form_value *first = derivative(r, e, "Dm", a, entry(r, e, t, b));
    return first == NULL ? NULL
                         : combine(r, e, RK_OP_SUB, first,
                                   derivative(r, e, "Dm", b, entry(r, e, t, a)));
}

static rk_form_value *read_curl(rk_form_reader *r, const rk_expr *e, rk_form_value *t)
{
    const int32_t ndim = r->form->desc.ndim;
    if (ndim == 1) {
        rk_error(r->unit, RK_NO_AXIS, e->at, "it needs a mesh of two or three dimensions",
                 "`%s` on a mesh of one dimension", e->name);
        return NULL;
    }
    if (ndim == 2) {
        return rotation(r, e, t, 0, 1);
    }
    rk_form_value *tuple = rk_form_value_new(r, RK_VALUE_TUPLE, e->at);
    tuple->n = 3;
    tuple->uses = t->uses;
    tuple->item = rk_new(r->unit, 3 * sizeof(*tuple->item));
    for (int32_t d = 0; d < 3; d++) {
        tuple->item[d] = rotation(r, e, t, (d + 1) % 3, (d + 2) % 3);
        if (tuple->item[d] == NULL) {
            return NULL;
        }
    }
    return tuple;
}

static int32_t axis_of(uint32_t bit)
{
    return bit == 4 ? 2 : bit == 2 ? 1 : 0;
}

/* D of t_d along d; (M along d of D along e of t_e, plus the same exchanged) / 2. */
static rk_form_value *read_strain(rk_form_reader *r, const rk_expr *e,
                                  const rk_word *word, rk_form_value *t)
{
    const int32_t d = axis_of(word->axes);
    const int32_t f = axis_of(word->other);
    const int32_t ndim = r->form->desc.ndim;
    if (d >= ndim || f >= ndim) {
        return rk_form_no_axis(r, e->at, d >= ndim ? d : f);
    }
    if (d == f) {
        return derivative(r, e, "Dm", d, entry(r, e, t, d));
    }
    rk_form_value *x = derivative(r, e, "Dm", f, entry(r, e, t, f));
    rk_form_value *y = x == NULL ? NULL : derivative(r, e, "Dm", d, entry(r, e, t, d));
    rk_form_value *sum = combine(r, e, RK_OP_ADD, derivative(r, e, "Mm", d, x),
                                 derivative(r, e, "Mm", f, y));
    rk_form_value *two = rk_form_value_new(r, RK_VALUE_EXPR, e->at);
    two->expr = rk_expr_int(r->unit, 2, e->at);
    return combine(r, e, RK_OP_DIV, sum, two);
}

/* --- all of them ------------------------------------------------------------------- */

rk_form_value *rk_form_operator(rk_form_reader *r, const rk_expr *e, const rk_word *word,
                                rk_form_value **arg)
{
    const int32_t want = word->kind == RK_WORD_SHIFT ? 2 : 1;
    if (e->narg != want) {
        rk_error(r->unit, RK_WRONG_ARGUMENTS, e->at,
                 "spacings are not written in forms: Dm_x(u)",
                 "`%s` takes %d argument%s, not %d", e->name, (int)want,
                 want == 1 ? "" : "s", e->narg);
        return NULL;
    }
    if (word->kind == RK_WORD_DIV) {
        return read_div(r, e, arg[0]);
    }
    if (word->kind == RK_WORD_CURL) {
        return read_curl(r, e, arg[0]);
    }
    if (word->kind == RK_WORD_STRAIN) {
        return read_strain(r, e, word, arg[0]);
    }
    const int32_t axis = axis_of(word->axes);
    if (axis >= r->form->desc.ndim) {
        return rk_form_no_axis(r, e->at, axis);
    }
    return word->axes == 0 ? along_all(r, e, word, arg[0])
                           : along_one(r, e, word, axis, arg[0]);
}
