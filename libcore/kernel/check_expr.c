/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of per-point code: finds what each name means, gives every node its type,
 * and puts a call of `real` where an int meets a real. One function for each kind of
 * node; all return the type, or RK_VOID where the error was reported.
 */
#include "config.h"

#include "libcore/kernel/check.h"

#include <string.h>

/* --- conversions -------------------------------------------------------------------- */

static void to_real(rk_unit *unit, rk_expr **slot)
{
    rk_expr *call = RK_NEW(unit, rk_expr);
    call->kind = RK_EXPR_CALL;
    call->at = (*slot)->at;
    call->type = RK_REAL;
    call->op = RK_OP_TO_REAL;
    call->name = rk_intern(unit, "real", 4);
    call->narg = 1;
    call->arg = RK_NEW(unit, rk_expr *);
    call->arg[0] = *slot;
    *slot = call;
}

/* Int to real where `to` asks for it. */
static void convert(rk_unit *unit, rk_expr **slot, rk_type to)
{
    if (to == RK_REAL && (*slot)->type == RK_INT) {
        to_real(unit, slot);
    }
}

void rk_check_value(rk_checker *c, rk_expr **value, rk_type to, const char *what)
{
    const rk_type from = rk_check_expr(c, *value);
    if (from == RK_VOID || to == RK_VOID || from == to) {
        return;
    }
    if (from == RK_INT && to == RK_REAL) {
        to_real(c->unit, value);
    } else {
        rk_bad_store(c->unit, (*value)->at, from, to, what);
    }
}

/* --- names -------------------------------------------------------------------------- */

static rk_type needs_subscript(rk_checker *c, const rk_expr *e)
{
    rk_error(c->unit, RK_NEEDS_SUBSCRIPT, e->at,
             rubus__arena_format(c->unit->arena, "write one element: %s[...]", e->name),
             "`%s` is %s, and per-point code works on its elements", e->name,
             rk_decl_text(e->decl));
    return RK_VOID;
}

static rk_type check_name(rk_checker *c, rk_expr *e)
{
    const rk_bound *bound = rk_scope_find(&c->scope, e->name);
    if (bound == NULL) {
        rk_unknown_name(&c->scope, e->name, e->at);
        return RK_VOID;
    }
    e->decl = bound->decl;
    if (e->decl->kind == RK_DECL_EXTENT) {
        return RK_INT;
    }
    if (e->decl->rank > 0) {
        return needs_subscript(c, e);
    }
    if (e->decl->is_result) {
        return RK_VOID; // the kernel's header was reported
    }
    return e->decl->type;
}

/* --- elements ----------------------------------------------------------------------- */

static void check_mode(rk_checker *c, const rk_expr *e, bool read, bool write)
{
    const rk_decl *array = e->a->decl;
    if (array->kind != RK_DECL_PARAM) {
        return;
    }
    if (write && array->mode == RK_MODE_IN) {
        rk_error(c->unit, RK_WRITE_TO_IN, e->at,
                 rubus__arena_format(c->unit->arena, "declare it `inout %s %s`",
                                     rk_type_text(array->type), array->name),
                 "`%s` is `in`, so it cannot be written", array->name);
        rk_note(c->unit, array->at, "declared here");
    } else if (read && array->mode == RK_MODE_OUT) {
        rk_error(
            c->unit, RK_READ_OF_OUT, e->at,
            rubus__arena_format(c->unit->arena,
                                "declare it `inout %s %s`, or keep the value in a local",
                                rk_type_text(array->type), array->name),
            "`%s` is `out`, so per-point code cannot read it", array->name);
        rk_note(c->unit, array->at, "declared here");
    }
}

static bool check_subscripts(rk_checker *c, const rk_expr *e, int32_t rank)
{
    bool good = true;
    for (int32_t i = 0; i < e->nsub; i++) {
        rk_sub *sub = &e->sub[i];
        if (sub->kind != RK_SUB_INDEX) {
            rk_error(c->unit, RK_SLICE_IN_POINT, sub->at,
                     "write an index; slices belong in kernels without `over (...)`",
                     "per-point code takes single elements of `%s`", e->a->name);
            good = false;
            continue;
        }
        const rk_type type = rk_check_expr(c, sub->lo);
        if (type != RK_INT && type != RK_VOID) {
            rk_error(c->unit, RK_BAD_SUBSCRIPT, sub->lo->at,
                     type == RK_REAL ? "write int(x), which truncates" : "give it an int",
                     "a subscript of `%s` is an int, this is %s", e->a->name,
                     rk_type_text(type));
        }
        good = good && type == RK_INT;
    }
    if (good && e->nsub != rank) {
        rk_error(c->unit, RK_WRONG_SUBSCRIPTS, e->at, NULL,
                 "`%s` has %d dimension%s, but here are %d subscript%s", e->a->name, rank,
                 rank == 1 ? "" : "s", e->nsub, e->nsub == 1 ? "" : "s");
        rk_note(c->unit, e->a->decl->at, "declared here");
        good = false;
    }
    return good;
}

rk_type rk_check_element(rk_checker *c, rk_expr *e, bool read, bool write)
{
    rk_expr *base = e->a;
    if (base->kind != RK_EXPR_NAME) {
        rk_error(c->unit, RK_NOT_AN_ARRAY, base->at,
                 "subscripts follow the name of an array", "this has no elements");
        return RK_VOID;
    }
    const rk_bound *bound = rk_scope_find(&c->scope, base->name);
    if (bound == NULL) {
        rk_unknown_name(&c->scope, base->name, base->at);
        return RK_VOID;
    }
    base->decl = bound->decl;
    if (rk_decl_is_unknown(base->decl)) {
        return RK_VOID;
    }
    if (base->decl->rank == 0) {
        rk_error(c->unit, RK_NOT_AN_ARRAY, e->at, "remove the subscripts",
                 "`%s` is %s and has no elements", base->name, rk_decl_text(base->decl));
        return RK_VOID;
    }
    if (c->in_range) {
        rk_error(c->unit, RK_BAD_RANGE, e->at,
                 "a range uses extents and int parameters only; test inside the kernel",
                 "the range of an index cannot read `%s`", base->name);
        return RK_VOID;
    }
    base->type = base->decl->type;
    check_mode(c, e, read, write);
    e->type = check_subscripts(c, e, base->decl->rank) ? base->decl->type : RK_VOID;
    return e->type;
}

/* --- operations --------------------------------------------------------------------- */

/* Type of op on the operands, converted as the language says. */
static rk_type check_operation(rk_checker *c, const rk_expr *e, rk_op op,
                               rk_expr **slot[3])
{
    rk_type type[3] = {RK_VOID, RK_VOID, RK_VOID};
    bool good = true;
    for (int i = 0; i < 3 && slot[i] != NULL; i++) {
        type[i] = rk_check_expr(c, *slot[i]);
        good = good && type[i] != RK_VOID;
    }
    if (!good) {
        return RK_VOID;
    }
    const rk_type result = rk_op_type(op, type[0], type[1], type[2]);
    if (result == RK_VOID) {
        rk_bad_operands(c->unit, e->at, op, type[0], type[1], type[2]);
        return RK_VOID;
    }
    for (int i = 0; i < 3 && slot[i] != NULL; i++) {
        convert(c->unit, slot[i], rk_op_operand_type(op, i, type[0], type[1], type[2]));
    }
    return result;
}

static rk_type check_unary(rk_checker *c, rk_expr *e)
{
    if (e->op == RK_OP_NEG && e->a->kind == RK_EXPR_INT) {
        e->a->type = rk_literal_fits(c->unit, e->a, true) ? RK_INT : RK_VOID;
        return e->a->type;
    }
    rk_expr **slot[3] = {&e->a, NULL, NULL};
    return check_operation(c, e, e->op, slot);
}

static rk_type check_binary(rk_checker *c, rk_expr *e)
{
    rk_expr **slot[3] = {&e->a, &e->b, NULL};
    return check_operation(c, e, e->op, slot);
}

static rk_type check_select(rk_checker *c, rk_expr *e)
{
    rk_expr **slot[3] = {&e->a, &e->b, &e->c};
    e->op = RK_OP_SELECT;
    return check_operation(c, e, RK_OP_SELECT, slot);
}

static rk_type check_power(rk_checker *c, rk_expr *e)
{
    const rk_type base = rk_check_expr(c, e->a);
    const rk_type exponent = rk_check_expr(c, e->b);
    if (base == RK_VOID || exponent == RK_VOID) {
        return RK_VOID;
    }
    if (base == RK_BOOL || exponent == RK_BOOL) {
        rk_bad_operands(c->unit, e->at, RK_OP_POWI, base, exponent, RK_VOID);
        return RK_VOID;
    }
    if (exponent == RK_INT) {
        e->op = RK_OP_POWI;
        if (base == RK_INT && e->b->kind == RK_EXPR_INT) {
            return RK_INT;
        }
        convert(c->unit, &e->a, RK_REAL);
        return RK_REAL;
    }
    e->decl = rk_find_pow(c->unit, e->at);
    if (e->decl == NULL) {
        return RK_VOID;
    }
    rk_note_call(c->unit, c->decl, e->decl);
    convert(c->unit, &e->a, RK_REAL);
    return RK_REAL;
}

/* --- calls -------------------------------------------------------------------------- */

static rk_type check_extent(rk_checker *c, rk_expr *e)
{
    rk_expr *array = e->arg[0];
    const rk_expr *dim = e->arg[1];
    const rk_bound *bound =
        array->kind == RK_EXPR_NAME ? rk_scope_find(&c->scope, array->name) : NULL;
    if (bound == NULL && array->kind == RK_EXPR_NAME) {
        rk_unknown_name(&c->scope, array->name, array->at);
        return RK_VOID;
    }
    if (bound == NULL || bound->decl->kind != RK_DECL_PARAM || bound->decl->rank == 0) {
        rk_error(c->unit, RK_BAD_EXTENT_CALL, array->at, "write extent(A, 0)",
                 "`extent` takes an array parameter");
        return RK_VOID;
    }
    if (dim->kind != RK_EXPR_INT || dim->value.i >= bound->decl->rank) {
        rk_error(c->unit, RK_BAD_EXTENT_CALL, dim->at,
                 rubus__arena_format(c->unit->arena, "`%s` has dimensions 0 to %d",
                                     array->name, bound->decl->rank - 1),
                 "the dimension of `extent` is a literal that the array has");
        return RK_VOID;
    }
    array->decl = bound->decl;
    array->type = bound->decl->type;
    e->arg[1]->type = RK_INT;
    e->op = RK_OP_EXTENT;
    return RK_INT;
}

static rk_type check_func_call(rk_checker *c, rk_expr *e, rk_decl *func)
{
    if (e->narg != func->nparam) {
        rk_error(c->unit, RK_WRONG_ARGUMENTS, e->at, NULL,
                 "`%s` takes %d argument%s, not %d", func->name, func->nparam,
                 func->nparam == 1 ? "" : "s", e->narg);
        rk_note(c->unit, func->at, "defined here");
        return RK_VOID;
    }
    for (int32_t i = 0; i < e->narg; i++) {
        rk_check_value(c, &e->arg[i], func->param[i]->type,
                       rubus__arena_format(c->unit->arena, "parameter `%s` of `%s`",
                                           func->param[i]->name, func->name));
    }
    e->decl = func;
    rk_note_call(c->unit, c->decl, func);
    return func->type;
}

/* Calls that only whole-array code has. */
static bool refuse_field_call(rk_checker *c, const rk_expr *e)
{
    rk_fold_op fold;
    if (strcmp(e->name, "sum") == 0 ||
        (e->narg == 1 && rk_fold_by_name(e->name, &fold))) {
        rk_error(
            c->unit, RK_FOLD_IN_POINT, e->at,
            "fold a field into a result `out real NAME` of a kernel without `over`, or "
            "add up in a loop",
            "`%s` over a field has no meaning in per-point code", e->name);
        return true;
    }
    const bool field = strcmp(e->name, "pad") == 0 || strcmp(e->name, "ix") == 0 ||
                       strcmp(e->name, "iy") == 0 || strcmp(e->name, "iz") == 0;
    if (field || rk_op_exists(c->unit, e->name)) {
        rk_error(c->unit, RK_OP_IN_POINT, e->at,
                 "use elements, A[i] - A[i-1], or write the kernel without `over (...)`",
                 "`%s` works on whole fields, not in per-point code", e->name);
        return true;
    }
    return false;
}

static rk_type check_call(rk_checker *c, rk_expr *e)
{
    for (int32_t i = 0; i < e->narg; i++) {
        if (e->arg[i]->kind == RK_EXPR_RANGE) {
            rk_error(c->unit, RK_OP_IN_POINT, e->arg[i]->at,
                     "only `pad` takes ranges, in kernels without `over (...)`",
                     "a range is no value");
            return RK_VOID;
        }
    }
    if (e->narg == 2 && strcmp(e->name, "extent") == 0) {
        return check_extent(c, e);
    }
    const rk_op op = rk_find_builtin(e->name, e->narg);
    if (op != RK_OP_NONE) {
        rk_expr **slot[3] = {NULL, NULL, NULL};
        for (int32_t i = 0; i < e->narg; i++) {
            slot[i] = &e->arg[i];
        }
        e->op = op;
        return check_operation(c, e, op, slot);
    }
    rk_decl *func = rk_find_func_from(c->unit, c->decl, e->name);
    if (func != NULL) {
        return check_func_call(c, e, func);
    }
    if (!refuse_field_call(c, e)) {
        rk_unknown_call(&c->scope, e);
    }
    return RK_VOID;
}

/* --- all kinds ---------------------------------------------------------------------- */

static rk_type check_kind(rk_checker *c, rk_expr *e)
{
    switch (e->kind) {
    case RK_EXPR_REAL:
        return RK_REAL;
    case RK_EXPR_INT:
        return rk_literal_fits(c->unit, e, false) ? RK_INT : RK_VOID;
    case RK_EXPR_BOOL:
        return RK_BOOL;
    case RK_EXPR_NAME:
        return check_name(c, e);
    case RK_EXPR_CALL:
        return check_call(c, e);
    case RK_EXPR_INDEX:
        return rk_check_element(c, e, true, false);
    case RK_EXPR_UNARY:
        return check_unary(c, e);
    case RK_EXPR_BINARY:
        return check_binary(c, e);
    case RK_EXPR_POWER:
        return check_power(c, e);
    case RK_EXPR_SELECT:
        return check_select(c, e);
    case RK_EXPR_RANGE:
    case RK_EXPR_TUPLE: // in forms only, which have rules of their own
    case RK_EXPR_LABEL:
        break;
    }
    rk_error(c->unit, RK_OP_IN_POINT, e->at,
             "only `pad` takes ranges, in kernels without `over (...)`",
             "a range is no value");
    return RK_VOID;
}

rk_type rk_check_expr(rk_checker *c, rk_expr *e)
{
    e->type = check_kind(c, e);
    return e->type;
}
