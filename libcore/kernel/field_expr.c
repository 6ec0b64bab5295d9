/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of whole-array code as fields: literals, names, operators. Calls and
 * subscripts have files of their own. The names in sight are those of the kernel, or of
 * the op that is being expanded.
 */
#include "config.h"

#include "libcore/kernel/field_build.h"

/* --- literals and names ------------------------------------------------------------- */

static rk_field *build_literal(rk_builder *b, const rk_expr *e, bool negated)
{
    rk_value value = {.type = RK_INT};
    if (e->kind == RK_EXPR_REAL) {
        value.type = RK_REAL;
        value.u.real = b->unit->numbers.f64 ? e->value.real : (double)e->real32;
    } else if (e->kind == RK_EXPR_BOOL) {
        value.type = RK_BOOL;
        value.u.b = e->value.b;
    } else {
        if (!rk_literal_fits(b->unit, e, negated)) {
            return NULL;
        }
        value.u.i = e->value.i;
        value = rk_convert(&b->unit->numbers, value, RK_INT);
    }
    return rk_make_const(b, value, e->at);
}

static rk_field *build_scalar(rk_builder *b, const rk_decl *param, rk_span at)
{
    if (param->type == RK_INT) {
        int32_t symbol = 0;
        while (b->work.symbol[symbol].kind != RK_SYMBOL_SCALAR ||
               b->work.symbol[symbol].param != param->number) {
            symbol++;
        }
        return rk_make_symbol(b, rk_affine_symbol(b->unit, symbol), at);
    }
    rk_field *field = rk_field_new(b, RK_FIELD_SCALAR, param->type, at);
    field->param = param->number;
    return field;
}

static rk_field *build_param(rk_builder *b, const rk_decl *param, rk_span at)
{
    if (param->is_result) {
        rk_field_error(b, RK_RESULT_READ, at,
                       "use it in a second kernel, or name the field before it is folded",
                       "`%s` is a result and cannot be read in its kernel", param->name);
        return NULL;
    }
    if (param->rank == 0) {
        return build_scalar(b, param, at);
    }
    b->reads_out = b->reads_out || param->mode == RK_MODE_OUT;
    return rk_make_array(b, param->number, at);
}

static rk_field *build_name(rk_builder *b, const rk_expr *e)
{
    const rk_bound *bound = rk_scope_find(&b->scope, e->name);
    if (bound == NULL) {
        rk_unknown_name(&b->scope, e->name, e->at);
        rk_note_ops(b, e->at);
        return NULL;
    }
    switch (bound->decl->kind) {
    case RK_DECL_PARAM:
        return build_param(b, bound->decl, e->at);
    case RK_DECL_EXTENT:
        return rk_make_symbol(b, rk_affine_symbol(b->unit, bound->decl->number), e->at);
    default:
        return bound->field; // NULL: its error was reported
    }
}

/* --- operators ---------------------------------------------------------------------- */

static rk_operand_of operand(rk_builder *b, const rk_expr *e)
{
    return (rk_operand_of){rk_build_expr(b, e), e->at};
}

static rk_operand_of no_operand(void)
{
    return (rk_operand_of){.field = NULL};
}

static rk_field *build_unary(rk_builder *b, const rk_expr *e)
{
    rk_operand_of a = {NULL, e->a->at};
    a.field = e->op == RK_OP_NEG && e->a->kind == RK_EXPR_INT
                  ? build_literal(b, e->a, true)
                  : rk_build_expr(b, e->a);
    return rk_make_apply(b, e->at, e->op, a, no_operand(), no_operand());
}

static rk_field *build_binary(rk_builder *b, const rk_expr *e)
{
    const rk_operand_of x = operand(b, e->a);
    const rk_operand_of y = operand(b, e->b);
    return rk_make_apply(b, e->at, e->op, x, y, no_operand());
}

static rk_field *build_select(rk_builder *b, const rk_expr *e)
{
    const rk_operand_of x = operand(b, e->a);
    const rk_operand_of y = operand(b, e->b);
    const rk_operand_of z = operand(b, e->c);
    return rk_make_apply(b, e->at, RK_OP_SELECT, x, y, z);
}

static rk_field *build_power(rk_builder *b, const rk_expr *e)
{
    rk_operand_of x = operand(b, e->a);
    const rk_operand_of y = operand(b, e->b);
    if (x.field == NULL || y.field == NULL) {
        return NULL;
    }
    if (y.field->type != RK_REAL || x.field->type == RK_BOOL) {
        const bool whole = x.field->type == RK_INT && e->b->kind == RK_EXPR_INT;
        x.field = whole ? x.field : rk_make_real(b, x.field);
        return x.field == NULL ? NULL
                               : rk_make_apply(b, e->at, RK_OP_POWI, x, y, no_operand());
    }
    rk_decl *func = rk_find_pow(b->unit, e->at);
    if (func == NULL) {
        return NULL;
    }
    rk_field *arg[2] = {x.field, y.field};
    const rk_span at[2] = {x.at, y.at};
    return rk_make_call(b, e->at, func, arg, at);
}

/* --- all kinds ---------------------------------------------------------------------- */

static rk_field *build_kind(rk_builder *b, const rk_expr *e)
{
    switch (e->kind) {
    case RK_EXPR_REAL:
    case RK_EXPR_INT:
    case RK_EXPR_BOOL:
        return build_literal(b, e, false);
    case RK_EXPR_NAME:
        return build_name(b, e);
    case RK_EXPR_CALL:
        return rk_build_call(b, e);
    case RK_EXPR_INDEX:
        return rk_build_index(b, e);
    case RK_EXPR_UNARY:
        return build_unary(b, e);
    case RK_EXPR_BINARY:
        return build_binary(b, e);
    case RK_EXPR_POWER:
        return build_power(b, e);
    case RK_EXPR_SELECT:
        return build_select(b, e);
    case RK_EXPR_RANGE:
    case RK_EXPR_TUPLE: // in forms only, which have rules of their own
    case RK_EXPR_LABEL:
        break;
    }
    rk_field_error(b, RK_BAD_PAD, e->at, "write pad(F, v, 1:0, 0:2)",
                   "a range is no value: only `pad` takes ranges");
    return NULL;
}

rk_field *rk_build_expr(rk_builder *b, const rk_expr *e)
{
    if (b->depth >= RK_FIELD_DEPTH_MAX) {
        rk_field_error(b, RK_TOO_DEEP, e->at, "use fewer ops that call ops",
                       "ops and expressions are nested more than %d deep here",
                       (int)RK_FIELD_DEPTH_MAX);
        rk_give_up(b->unit);
    }
    b->depth++;
    rk_field *field = build_kind(b, e);
    b->depth--;
    return field;
}
