/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the body of a form for a mesh: names become the leaves of the form or values that
 * were bound, tuples and calls of forms disappear. What is left of an expression is plain
 * text of the language, which fields and lowering take as they take a kernel's.
 */
#include "config.h"

#include "libcore/kernel/field_build.h"
#include "libcore/kernel/form_value.h"

#include <string.h>

enum { READ_DEPTH_MAX = 2000 };

rk_form_value *rk_form_value_new(rk_form_reader *r, rk_value_kind kind, rk_span at)
{
    rk_spend(r->unit, RK_STEPS_OF(sizeof(rk_form_value)), at);
    rk_form_value *value = RK_NEW(r->unit, rk_form_value);
    value->kind = kind;
    value->at = at;
    return value;
}

static rk_form_value *expr_value(rk_form_reader *r, rk_expr *expr, rk_rank_kind rank)
{
    rk_form_value *value = rk_form_value_new(r, RK_VALUE_EXPR, expr->at);
    value->expr = expr;
    value->rank = rank;
    value->full = rank == RK_KIND_FIELD;
    return value;
}

void rk_form_bind(rk_form_reader *r, const char *name, rk_form_value *value)
{
    rk_room(r->unit, (void **)&r->bound, &r->bound_room, r->nbound,
            sizeof(rk_form_bound));
    r->bound[r->nbound++] = (rk_form_bound){name, value};
}

/* --- names ------------------------------------------------------------------------- */

/* The array of an axis as a field on the mesh. */
static rk_form_value *line_value(rk_form_reader *r, const rk_leaf *leaf, rk_span at)
{
    rk_expr *array = rk_leaf_expr(r, leaf, at);
    rk_form_value *value =
        expr_value(r, rk_line_expr(r, array, leaf->axis), RK_KIND_FIELD);
    value->full = r->form->desc.ndim == 1;
    return value;
}

rk_form_value *rk_form_no_axis(rk_form_reader *r, rk_span at, int32_t axis)
{
    rk_error(r->unit, RK_NO_AXIS, at, "leave it out, or make the form for another mesh",
             "the mesh has no axis %c: it has %d dimension%s", "xyz"[axis],
             (int)r -> form -> desc.ndim, r->form->desc.ndim == 1 ? "" : "s");
    return NULL;
}

static rk_form_value *read_own_name(rk_form_reader *r, const rk_expr *e)
{
    static const char *const points[3] = {"x", "y", "z"};
    static const char kinds[] = "hfswa";
    const int32_t ndim = r->form->desc.ndim;
    for (int32_t d = 0; d < 3; d++) {
        if (strcmp(e->name, points[d]) == 0) {
            return d >= ndim
                       ? rk_form_no_axis(r, e->at, d)
                       : line_value(r, rk_form_leaf(r->form, RK_LEAF_POINT, 0, d), e->at);
        }
    }
    char kind = 0;
    int32_t axis = 0;
    if (!rk_is_axis_array(e->name, &kind, &axis)) {
        rk_error(r->unit, RK_UNKNOWN_NAME, e->at, "make it a parameter of the form",
                 "unknown name `%s`", e->name);
        return NULL;
    }
    if (axis >= ndim) {
        return rk_form_no_axis(r, e->at, axis);
    }
    const int32_t number = (int32_t)(strchr(kinds, kind) - kinds);
    const rk_leaf *leaf =
        rk_form_leaf(r->form, (rk_leaf_kind)(RK_LEAF_H + number), 0, axis);
    return expr_value(r, rk_leaf_expr(r, leaf, e->at),
                      ndim == 1 ? RK_KIND_FIELD : RK_KIND_LINE);
}

/* A value with the place where it is used. */
static rk_form_value *value_at(rk_form_reader *r, const rk_form_value *value, rk_span at)
{
    rk_form_value *here = rk_form_value_new(r, value->kind, at);
    *here = *value;
    here->at = at;
    if (value->kind == RK_VALUE_EXPR) {
        here->expr = RK_NEW(r->unit, rk_expr);
        *here->expr = *value->expr;
        here->expr->at = at;
    }
    return here;
}

static rk_form_value *read_name(rk_form_reader *r, const rk_expr *e)
{
    for (int32_t i = r->nbound - 1; i >= r->floor; i--) {
        if (r->bound[i].name == e->name) {
            return value_at(r, r->bound[i].value, e->at);
        }
    }
    return read_own_name(r, e);
}

/* --- operations -------------------------------------------------------------------- */

static rk_expr *node_over(rk_form_reader *r, const rk_expr *model,
                          rk_form_value *const *operand, int32_t n)
{
    rk_spend(r->unit, RK_STEPS_OF(sizeof(rk_expr)), model->at);
    rk_expr *expr = RK_NEW(r->unit, rk_expr);
    *expr = *model;
    if (model->kind == RK_EXPR_CALL) {
        expr->arg = rk_new(r->unit, ((size_t)n + 1) * sizeof(rk_expr *));
        for (int32_t i = 0; i < n; i++) {
            expr->arg[i] = operand[i]->expr;
        }
        return expr;
    }
    expr->a = operand[0]->expr;
    expr->b = n > 1 ? operand[1]->expr : NULL;
    expr->c = n > 2 ? operand[2]->expr : NULL;
    return expr;
}

static int32_t tuple_length(rk_form_reader *r, const rk_expr *model,
                            rk_form_value *const *operand, int32_t n)
{
    int32_t length = 0;
    for (int32_t i = 0; i < n; i++) {
        if (operand[i]->kind != RK_VALUE_TUPLE) {
            continue;
        }
        if (length != 0 && operand[i]->n != length) {
            rk_error(r->unit, RK_FORM_TUPLE, model->at, "give both the same length",
                     "a tuple of %d entries meets one of %d", (int)length,
                     (int)operand[i]->n);
            return -1;
        }
        length = operand[i]->n;
    }
    return length;
}

static rk_form_value *map_tuple(rk_form_reader *r, const rk_expr *model,
                                rk_form_value **operand, int32_t n, int32_t length)
{
    rk_form_value *tuple = rk_form_value_new(r, RK_VALUE_TUPLE, model->at);
    tuple->n = length;
    tuple->item = rk_new(r->unit, (size_t)length * sizeof(*tuple->item));
    rk_form_value **entry = rk_new(r->unit, ((size_t)n + 1) * sizeof(*entry));
    for (int32_t k = 0; k < length; k++) {
        for (int32_t i = 0; i < n; i++) {
            entry[i] =
                operand[i]->kind == RK_VALUE_TUPLE ? operand[i]->item[k] : operand[i];
        }
        tuple->item[k] = rk_form_map(r, model, entry, n);
        if (tuple->item[k] == NULL) {
            return NULL;
        }
        tuple->uses |= tuple->item[k]->uses;
    }
    return tuple;
}

rk_form_value *rk_form_map(rk_form_reader *r, const rk_expr *model,
                           rk_form_value **operand, int32_t n)
{
    const int32_t length = tuple_length(r, model, operand, n);
    if (length != 0) {
        return length < 0 ? NULL : map_tuple(r, model, operand, n, length);
    }
    rk_form_value *value = expr_value(r, node_over(r, model, operand, n), RK_KIND_NUMBER);
    for (int32_t i = 0; i < n; i++) {
        value->uses |= operand[i]->uses;
        value->full = value->full || operand[i]->full;
        value->rank = operand[i]->rank > value->rank ? operand[i]->rank : value->rank;
    }
    return value;
}

/* Reads operands and joins them: as fields, or as sums of terms. */
static rk_form_value *read_operation(rk_form_reader *r, const rk_expr *e)
{
    const rk_expr *part[3] = {e->a, e->b, e->c};
    rk_form_value *operand[3] = {NULL, NULL, NULL};
    bool terms = false;
    int32_t n = 0;
    for (; n < 3 && part[n] != NULL; n++) {
        operand[n] = rk_form_read(r, part[n]);
        if (operand[n] == NULL) {
            return NULL;
        }
        terms = terms || operand[n]->kind == RK_VALUE_TERMS;
    }
    return terms ? rk_form_sum(r, e, operand, n) : rk_form_map(r, e, operand, n);
}

static rk_form_value *read_tuple(rk_form_reader *r, const rk_expr *e)
{
    rk_form_value *tuple = rk_form_value_new(r, RK_VALUE_TUPLE, e->at);
    tuple->n = e->narg;
    tuple->item = rk_new(r->unit, (size_t)e->narg * sizeof(*tuple->item));
    for (int32_t i = 0; i < e->narg; i++) {
        tuple->item[i] = rk_form_read(r, e->arg[i]);
        if (tuple->item[i] == NULL) {
            return NULL;
        }
        if (tuple->item[i]->kind != RK_VALUE_EXPR) {
            rk_error(r->unit, RK_FORM_TUPLE, e->arg[i]->at,
                     "write one number or field for each axis",
                     "entries of a tuple are numbers and fields");
            return NULL;
        }
        tuple->uses |= tuple->item[i]->uses;
    }
    return tuple;
}

/* --- components and subscripts ----------------------------------------------------- */

static rk_form_value *read_component(rk_form_reader *r, const rk_expr *e,
                                     const rk_decl *space)
{
    const bool trial = space->role == RK_ROLE_TRIAL;
    const int32_t n = trial ? r->form->desc.ntrial : r->form->desc.ntest;
    const rk_sub *sub = &e->sub[0];
    if (e->nsub != 1 || sub->kind != RK_SUB_INDEX || sub->lo_end ||
        sub->lo->kind != RK_EXPR_INT) {
        rk_error(r->unit, RK_FORM_SLICE, e->at,
                 "operators shift (`shift_x(u, 1)`, `Dm_x(u)`); u[0] is a component",
                 "a slice of `%s` does not keep the mesh", space->name);
        return NULL;
    }
    const int64_t k = sub->lo->value.i;
    if (k >= n) {
        rk_error(r->unit, RK_BAD_COMPONENT, e->at, "components are counted from 0",
                 "`%s` has %d component%s, so no component %lld", space->name, (int)n,
                 n == 1 ? "" : "s", (long long)k);
        return NULL;
    }
    const rk_leaf *leaf =
        rk_form_leaf(r->form, trial ? RK_LEAF_TRIAL : RK_LEAF_TEST, (int32_t)k, 0);
    rk_form_value *value = expr_value(r, rk_leaf_expr(r, leaf, e->at), RK_KIND_FIELD);
    value->uses = trial ? RK_USES_TRIAL : RK_USES_TEST;
    if (n > 1) {
        value->uses |= trial ? RK_PART_TRIAL : RK_PART_TEST;
    }
    return value;
}

static bool read_bound(rk_form_reader *r, rk_expr **bound)
{
    if (*bound == NULL) {
        return true;
    }
    const rk_form_value *value = rk_form_read(r, *bound);
    if (value == NULL) {
        return false;
    }
    if (value->kind != RK_VALUE_EXPR || value->uses != 0) {
        rk_error(r->unit, RK_BAD_BOUND, (*bound)->at, "use int parameters and literals",
                 "a bound is one int");
        return false;
    }
    *bound = value->expr;
    return true;
}

/* Arrays of an axis are lifted and sliced as in a kernel. */
static rk_form_value *read_index(rk_form_reader *r, const rk_expr *e)
{
    rk_form_value *base = rk_form_read(r, e->a);
    if (base == NULL) {
        return NULL;
    }
    if (base->all != NULL) {
        return read_component(r, e, base->all);
    }
    if (base->kind != RK_VALUE_EXPR || base->uses != 0) {
        rk_error(r->unit, RK_FORM_SLICE, e->at,
                 "operators shift (`shift_x(u, 1)`, `Dm_x(u)`)",
                 "a slice of what depends on the trial or test function does not keep "
                 "the mesh");
        return NULL;
    }
    rk_expr *index = RK_NEW(r->unit, rk_expr);
    *index = *e;
    index->a = base->expr;
    index->sub = rk_new(r->unit, ((size_t)e->nsub + 1) * sizeof(rk_sub));
    int32_t kept = 0;
    for (int32_t i = 0; i < e->nsub; i++) {
        index->sub[i] = e->sub[i];
        kept += e->sub[i].kind != RK_SUB_INDEX ? 1 : 0;
        if (!read_bound(r, &index->sub[i].lo) || !read_bound(r, &index->sub[i].hi)) {
            return NULL;
        }
    }
    const int32_t ndim = r->form->desc.ndim;
    rk_form_value *value = expr_value(r, index,
                                      kept == ndim ? RK_KIND_FIELD
                                      : kept == 0  ? RK_KIND_NUMBER
                                                   : RK_KIND_LINE);
    value->full = base->rank == RK_KIND_FIELD && base->full && kept == ndim;
    return value;
}

/* --- calls ------------------------------------------------------------------------- */

static int32_t rank_of(const rk_form_reader *r, const rk_form_value *value)
{
    const rk_form_value *one = value->kind == RK_VALUE_TUPLE ? value->item[0] : value;
    return one->rank == RK_KIND_NUMBER ? 0
           : one->rank == RK_KIND_LINE ? 1
                                       : r->form->desc.ndim;
}

/* An op of the module itself that takes these ranks, or a func of it. */
static bool calls_own(const rk_form_reader *r, const rk_expr *e,
                      rk_form_value *const *arg)
{
    for (const rk_decl *d = rk_module_named(r->unit, e->name); d != NULL;
         d = d->next_named) {
        if (d->name != e->name || d->at.source->library || d->nparam != e->narg) {
            continue;
        }
        bool fits = true;
        for (int32_t i = 0; i < e->narg && d->kind == RK_DECL_OP; i++) {
            fits = fits && d->param[i]->rank == rank_of(r, arg[i]);
        }
        if (fits) {
            return true;
        }
    }
    return false;
}

static rk_decl *find_form(const rk_form_reader *r, const char *name)
{
    for (int32_t i = 0; i < r->unit->module.nform; i++) {
        if (r->unit->module.form[i]->name == name) {
            return r->unit->module.form[i];
        }
    }
    return NULL;
}

static rk_form_value *read_lets(rk_form_reader *r, const rk_decl *form)
{
    for (int32_t i = 0; i < form->body->nbody; i++) {
        const rk_stmt *s = form->body->body[i];
        rk_form_value *value = rk_form_read(r, s->value);
        if (value == NULL || s->kind == RK_STMT_RETURN) {
            return value;
        }
        rk_form_bind(r, s->name, value);
    }
    return NULL;
}

rk_form_value *rk_form_read_body(rk_form_reader *r, rk_decl *form)
{
    rk_room(r->unit, (void **)&r->active, &r->active_room, r->nactive, sizeof(rk_decl *));
    r->active[r->nactive++] = form;
    rk_form_value *value = form->checked ? read_lets(r, form) : NULL;
    r->nactive--;
    if (value != NULL && value->kind != RK_VALUE_TERMS) {
        rk_error(r->unit, RK_FORM_VALUE, value->at,
                 "write inner products: `inner_h(u, v)`, `2 * inner_plus(grad(u), "
                 "grad(v))`, and their sums",
                 "the value of form `%s` is no inner product", form->name);
        return NULL;
    }
    return value;
}

static bool check_argument(rk_form_reader *r, const rk_decl *param,
                           const rk_form_value *value)
{
    const uint32_t wanted = param->role == RK_ROLE_TRIAL  ? RK_USES_TRIAL
                            : param->role == RK_ROLE_TEST ? RK_USES_TEST
                                                          : 0;
    const uint32_t used = value->uses & (RK_USES_TRIAL | RK_USES_TEST);
    const bool number = value->kind == RK_VALUE_EXPR && value->rank == RK_KIND_NUMBER;
    if (value->kind == RK_VALUE_EXPR && used == wanted &&
        (param->role != RK_ROLE_NUMBER || number)) {
        return true;
    }
    static const char *const what[] = {"an expression of the trial function",
                                       "an expression of the test function", "a field",
                                       "a number"};
    rk_error(r->unit, RK_WRONG_ARGUMENTS, value->at, "give it in the order declared",
             "parameter `%s` wants %s", param->name, what[param->role]);
    rk_note(r->unit, param->at, "declared here");
    return false;
}

static rk_form_value *call_form(rk_form_reader *r, const rk_expr *e, rk_decl *form,
                                rk_form_value **arg)
{
    for (int32_t i = 0; i < r->nactive; i++) {
        if (r->active[i] == form) {
            rk_error(r->unit, RK_FORM_RECURSION, e->at, "write the steps out",
                     "form `%s` calls itself", form->name);
            return NULL;
        }
    }
    if (e->narg != form->nparam) {
        rk_error(r->unit, RK_WRONG_ARGUMENTS, e->at, NULL,
                 "form `%s` takes %d argument%s, not %d", form->name, form->nparam,
                 form->nparam == 1 ? "" : "s", e->narg);
        rk_note(r->unit, form->at, "defined here");
        return NULL;
    }
    for (int32_t i = 0; i < e->narg; i++) {
        if (!check_argument(r, form->param[i], arg[i])) {
            return NULL;
        }
    }
    const int32_t floor = r->floor;
    const int32_t nbound = r->nbound;
    for (int32_t i = 0; i < e->narg; i++) {
        rk_form_bind(r, form->param[i]->name, arg[i]);
    }
    r->floor = nbound;
    rk_form_value *value = rk_form_read_body(r, form);
    r->nbound = nbound;
    r->floor = floor;
    return value;
}

static rk_form_value *read_call(rk_form_reader *r, const rk_expr *e)
{
    rk_word word;
    rk_decl *form = find_form(r, e->name);
    const bool is_word = rk_word_find(e->name, &word);
    if (is_word && word.kind >= RK_WORD_RESTRICT && form == NULL) {
        return rk_form_product(r, e, &word);
    }
    rk_form_value **arg = rk_new(r->unit, ((size_t)e->narg + 1) * sizeof(*arg));
    for (int32_t i = 0; i < e->narg; i++) {
        arg[i] = rk_form_read(r, e->arg[i]);
        if (arg[i] == NULL) {
            return NULL;
        }
        if (arg[i]->kind == RK_VALUE_TERMS) {
            rk_error(r->unit, RK_FORM_NUMBER, e->arg[i]->at,
                     "apply it to the expressions inside the products",
                     "`%s` of an inner product", e->name);
            return NULL;
        }
    }
    if (form != NULL) {
        return call_form(r, e, form, arg);
    }
    return is_word && !calls_own(r, e, arg) ? rk_form_operator(r, e, &word, arg)
                                            : rk_form_map(r, e, arg, e->narg);
}

/* --- all kinds --------------------------------------------------------------------- */

static rk_form_value *read_kind(rk_form_reader *r, const rk_expr *e)
{
    switch (e->kind) {
    case RK_EXPR_NAME:
        return read_name(r, e);
    case RK_EXPR_CALL:
        return read_call(r, e);
    case RK_EXPR_INDEX:
        return read_index(r, e);
    case RK_EXPR_TUPLE:
        return read_tuple(r, e);
    case RK_EXPR_UNARY:
    case RK_EXPR_BINARY:
    case RK_EXPR_POWER:
    case RK_EXPR_SELECT:
        return read_operation(r, e);
    case RK_EXPR_LABEL:
        rk_error(r->unit, RK_BAD_LABEL, e->at,
                 "labels stand last in inner products and in `restrict`",
                 "a label cannot stand here");
        return NULL;
    default:
        break;
    }
    rk_expr *same = RK_NEW(r->unit, rk_expr);
    *same = *e;
    return expr_value(r, same, RK_KIND_NUMBER);
}

rk_form_value *rk_form_read(rk_form_reader *r, const rk_expr *e)
{
    if (r->depth >= READ_DEPTH_MAX) {
        rk_error(r->unit, RK_TOO_DEEP, e->at, "name parts of it, by `let`",
                 "forms and expressions are nested more than %d deep here",
                 (int)READ_DEPTH_MAX);
        rk_give_up(r->unit);
    }
    r->depth++;
    rk_form_value *value = read_kind(r, e);
    r->depth--;
    return value;
}
