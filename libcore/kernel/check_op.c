/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops before they are used: names. Shapes and types of an op depend on its arguments and
 * are field.c's, which expands it; a name that means nothing is wrong whatever the
 * arguments.
 */
#include "config.h"

#include "libcore/kernel/check.h"

typedef struct op_checker {
    rk_unit *unit;
    rk_scope scope;
    rk_decl *op;
} op_checker;

static void walk(op_checker *c, const rk_expr *e);

static void walk_call(op_checker *c, const rk_expr *e)
{
    for (int32_t i = 0; i < e->narg; i++) {
        walk(c, e->arg[i]);
    }
    const bool known = rk_name_is_taken(e->name) || rk_op_exists(c->unit, e->name) ||
                       rk_find_func_from(c->unit, c->op, e->name) != NULL;
    if (!known) {
        rk_unknown_call(&c->scope, e);
    }
}

static void walk_index(op_checker *c, const rk_expr *e)
{
    walk(c, e->a);
    for (int32_t i = 0; i < e->nsub; i++) {
        if (e->sub[i].lo != NULL) {
            walk(c, e->sub[i].lo);
        }
        if (e->sub[i].hi != NULL) {
            walk(c, e->sub[i].hi);
        }
    }
}

static void walk(op_checker *c, const rk_expr *e)
{
    switch (e->kind) {
    case RK_EXPR_NAME:
        if (rk_scope_find(&c->scope, e->name) == NULL) {
            rk_unknown_name(&c->scope, e->name, e->at);
        }
        break;
    case RK_EXPR_CALL:
        walk_call(c, e);
        break;
    case RK_EXPR_INDEX:
        walk_index(c, e);
        break;
    case RK_EXPR_UNARY:
        walk(c, e->a);
        break;
    case RK_EXPR_BINARY:
    case RK_EXPR_POWER:
        walk(c, e->a);
        walk(c, e->b);
        break;
    case RK_EXPR_SELECT:
        walk(c, e->a);
        walk(c, e->b);
        walk(c, e->c);
        break;
    default:
        break;
    }
}

static void walk_let(op_checker *c, const rk_stmt *s)
{
    walk(c, s->value);
    rk_scope_let(&c->scope, s, NULL, "give the value another name");
}

void rk_check_op(rk_unit *unit, rk_decl *op)
{
    op_checker checker;
    checker.unit = unit;
    checker.op = op;
    rk_scope_init(&checker.scope, unit);
    const int64_t errors = rk_errors(unit);
    for (int32_t i = 0; i < op->nparam; i++) {
        rk_scope_declare(&checker.scope, op->param[i], 0);
    }
    for (int32_t i = 0; i < op->body->nbody; i++) {
        const rk_stmt *s = op->body->body[i];
        if (s->kind == RK_STMT_LET) {
            walk_let(&checker, s);
        } else if (s->value != NULL) {
            walk(&checker, s->value);
        }
        rk_stop_if_many(unit);
    }
    op->checked = rk_errors(unit) == errors;
}
