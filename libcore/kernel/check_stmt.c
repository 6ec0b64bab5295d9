/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements of per-point code: blocks and the names they declare, what may be assigned,
 * loops and jumps. Expressions are check_expr.c's.
 */
#include "config.h"

#include "libcore/kernel/check.h"

enum { LENGTH_MAX = 4096 }; /* elements of a local array */

static void check_stmt(rk_checker *c, rk_stmt *s);

/* --- assignments -------------------------------------------------------------------- */

/* Reports an assignment to what is no variable; type of the variable else. */
static rk_type check_variable(rk_checker *c, rk_expr *target)
{
    const rk_bound *bound = rk_scope_find(&c->scope, target->name);
    if (bound == NULL) {
        rk_unknown_name(&c->scope, target->name, target->at);
        return RK_VOID;
    }
    const rk_decl *decl = bound->decl;
    target->decl = bound->decl;
    target->type = decl->type;
    if (decl->rank > 0) {
        rk_error(c->unit, RK_NEEDS_SUBSCRIPT, target->at,
                 rubus__arena_format(c->unit->arena, "write one element: %s[...] = ...",
                                     target->name),
                 "`%s` is %s, and per-point code works on its elements", target->name,
                 rk_decl_text(decl));
        return RK_VOID;
    }
    if (decl->kind != RK_DECL_LOCAL) {
        if (!decl->is_result) { // else the header was reported
            rk_error(c->unit, RK_NOT_ASSIGNABLE, target->at,
                     rubus__arena_format(
                         c->unit->arena, "copy it into a local: %s my_%s = %s;",
                         rk_type_text(decl->kind == RK_DECL_EXTENT ? RK_INT : decl->type),
                         target->name, target->name),
                     "`%s` is %s and keeps its value", target->name, rk_decl_text(decl));
            rk_note(c->unit, decl->at, "declared here");
        }
        return RK_VOID;
    }
    return decl->type;
}

static rk_type check_target(rk_checker *c, rk_expr *target, bool read)
{
    if (target->kind == RK_EXPR_NAME) {
        return check_variable(c, target);
    }
    if (target->kind != RK_EXPR_INDEX) {
        rk_error(c->unit, RK_NOT_ASSIGNABLE, target->at,
                 "assign to a local, or to an element of an array",
                 "only variables and elements can be assigned");
        return RK_VOID;
    }
    return rk_check_element(c, target, read, true);
}

static const char *target_text(rk_unit *unit, const rk_expr *target)
{
    return rubus__arena_format(unit->arena, "`%s`", rk_source_text(unit, target->at));
}

static void check_assign(rk_checker *c, rk_stmt *s)
{
    const rk_type type = check_target(c, s->target, s->op != RK_OP_NONE);
    if (s->op == RK_OP_NONE) {
        rk_check_value(c, &s->value, type, target_text(c->unit, s->target));
        return;
    }
    const rk_type value = rk_check_expr(c, s->value);
    if (type == RK_VOID || value == RK_VOID) {
        return;
    }
    const rk_type result = rk_op_type(s->op, type, value, RK_VOID);
    if (result == RK_VOID) {
        rk_bad_operands(c->unit, s->at, s->op, type, value, RK_VOID);
    } else if (result != type && s->op == RK_OP_DIV && type == RK_INT) {
        rk_bad_int_division(c->unit, s->at, rk_source_text(c->unit, s->target->at));
    } else if (result != type) {
        rk_bad_store(c->unit, s->at, result, type, target_text(c->unit, s->target));
    } else {
        rk_check_value(c, &s->value, type, target_text(c->unit, s->target));
    }
}

static void check_atomic(rk_checker *c, rk_stmt *s)
{
    if (s->target->kind != RK_EXPR_INDEX) {
        rk_error(c->unit, RK_BAD_ATOMIC, s->target->at, "write atomic_add(A[i], v);",
                 "`atomic_add` takes an element of an array parameter");
        return;
    }
    const rk_type type = check_target(c, s->target, false);
    if (type == RK_VOID) {
        (void)rk_check_expr(c, s->value);
        return;
    }
    if (s->target->a->decl->kind != RK_DECL_PARAM) {
        rk_error(c->unit, RK_BAD_ATOMIC, s->target->at, "use `+=` on a local array",
                 "`atomic_add` takes an element of an array parameter");
    } else if (type == RK_BOOL) {
        rk_error(c->unit, RK_BAD_ATOMIC, s->target->at, "use an array of int or real",
                 "`atomic_add` adds numbers, and `%s` is an array of bool",
                 s->target->a->name);
    }
    rk_check_value(c, &s->value, type, target_text(c->unit, s->target));
}

/* --- declarations ------------------------------------------------------------------- */

static void check_length(rk_checker *c, rk_decl *local)
{
    const rk_expr *length = local->length;
    if (length->kind != RK_EXPR_INT || length->value.i < 1 ||
        length->value.i > LENGTH_MAX) {
        rk_error(c->unit, RK_BAD_LENGTH, length->at,
                 "larger or variable ones are parameters of the kernel",
                 "the length of a local array is a literal from 1 to %d", LENGTH_MAX);
        return;
    }
    local->length->type = RK_INT;
    local->length_value = length->value.i;
}

static void check_decl(rk_checker *c, rk_stmt *s, int32_t block)
{
    rk_decl *local = s->decl;
    if (local->length != NULL) {
        check_length(c, local);
        if (s->value != NULL) {
            rk_error(c->unit, RK_BAD_LENGTH, s->value->at,
                     "its elements start at 0; assign them in a loop",
                     "a local array cannot be given a value as a whole");
        }
    } else if (s->value != NULL) {
        // before the name is bound: in `real x = x;` the right one is the outer x
        rk_check_value(c, &s->value, local->type,
                       rubus__arena_format(c->unit->arena, "`%s`", local->name));
    }
    local->number = c->nlocal++;
    rk_scope_declare(&c->scope, local, block);
}

/* --- control ------------------------------------------------------------------------ */

static void check_condition(rk_checker *c, rk_expr *cond, const char *word)
{
    const rk_type type = rk_check_expr(c, cond);
    if (type != RK_VOID && type != RK_BOOL) {
        rk_error(c->unit, RK_NEEDS_BOOL, cond->at, "compare it: `x != 0`",
                 "the condition of `%s` is %s, not bool", word, rk_type_text(type));
    }
}

/* A body in a scope of its own. */
static void check_inner(rk_checker *c, rk_stmt *body)
{
    const int32_t block = c->scope.nbound;
    if (body->kind == RK_STMT_DECL) {
        check_decl(c, body, block);
    } else {
        check_stmt(c, body);
    }
    rk_scope_close(&c->scope, block);
}

static void check_block(rk_checker *c, const rk_stmt *s)
{
    const int32_t block = c->scope.nbound;
    for (int32_t i = 0; i < s->nbody; i++) {
        if (s->body[i]->kind == RK_STMT_DECL) {
            check_decl(c, s->body[i], block);
        } else {
            check_stmt(c, s->body[i]);
        }
        rk_stop_if_many(c->unit);
    }
    rk_scope_close(&c->scope, block);
}

static void check_for(rk_checker *c, rk_stmt *s)
{
    const int32_t block = c->scope.nbound;
    if (s->init != NULL && s->init->kind == RK_STMT_DECL) {
        check_decl(c, s->init, block);
    } else if (s->init != NULL) {
        check_stmt(c, s->init);
    }
    if (s->cond != NULL) {
        check_condition(c, s->cond, "for");
    }
    if (s->step != NULL) {
        check_stmt(c, s->step);
    }
    c->loop++;
    check_inner(c, s->then);
    c->loop--;
    rk_scope_close(&c->scope, block);
}

static void check_return(rk_checker *c, rk_stmt *s)
{
    if (c->decl->kind == RK_DECL_KERNEL) {
        if (s->value != NULL) {
            rk_error(c->unit, RK_BAD_RETURN, s->value->at,
                     "write `return;`, and assign results to elements of an array",
                     "a kernel returns no value");
        }
    } else if (s->value == NULL) {
        rk_error(c->unit, RK_BAD_RETURN, s->at,
                 rubus__arena_format(c->unit->arena,
                                     "write `return` and a value of type %s",
                                     rk_type_text(c->decl->type)),
                 "func `%s` must return a value", c->decl->name);
    } else {
        rk_check_value(
            c, &s->value, c->decl->type,
            rubus__arena_format(c->unit->arena, "the value of `%s`", c->decl->name));
    }
}

static void check_jump(rk_checker *c, const rk_stmt *s)
{
    if (c->loop == 0) {
        const bool is_break = s->kind == RK_STMT_BREAK;
        rk_error(c->unit, RK_OUTSIDE_LOOP, s->at,
                 "it belongs in the body of `for` or `while`; `return;` ends a point",
                 "`%s` outside a loop", is_break ? "break" : "continue");
    }
}

static void check_stmt(rk_checker *c, rk_stmt *s)
{
    switch (s->kind) {
    case RK_STMT_BLOCK:
        check_block(c, s);
        break;
    case RK_STMT_LET:
        rk_error(c->unit, RK_NOT_PER_POINT, s->at, "declare a local: real NAME = ...;",
                 "`let` cannot stand in per-point code");
        break;
    case RK_STMT_ASSIGN:
        check_assign(c, s);
        break;
    case RK_STMT_DECL:
        check_decl(c, s, c->scope.nbound);
        break;
    case RK_STMT_IF:
        check_condition(c, s->cond, "if");
        check_inner(c, s->then);
        if (s->other != NULL) {
            check_inner(c, s->other);
        }
        break;
    case RK_STMT_WHILE:
        check_condition(c, s->cond, "while");
        c->loop++;
        check_inner(c, s->then);
        c->loop--;
        break;
    case RK_STMT_FOR:
        check_for(c, s);
        break;
    case RK_STMT_BREAK:
    case RK_STMT_CONTINUE:
        check_jump(c, s);
        break;
    case RK_STMT_RETURN:
        check_return(c, s);
        break;
    case RK_STMT_ATOMIC:
        check_atomic(c, s);
        break;
    }
}

void rk_check_body(rk_checker *c, rk_stmt *body)
{
    check_block(c, body);
}

/* --- the first array written -------------------------------------------------------- */

static rk_decl *written_by(const rk_stmt *s)
{
    const bool writes = s->kind == RK_STMT_ASSIGN || s->kind == RK_STMT_ATOMIC;
    if (!writes || s->target->kind != RK_EXPR_INDEX || s->target->a->decl == NULL ||
        s->target->a->decl->kind != RK_DECL_PARAM) {
        return NULL;
    }
    return s->target->a->decl;
}

rk_decl *rk_first_written(const rk_stmt *s)
{
    if (s == NULL) {
        return NULL;
    }
    rk_decl *found = written_by(s);
    for (int32_t i = 0; i < s->nbody && found == NULL; i++) {
        found = rk_first_written(s->body[i]);
    }
    const rk_stmt *const part[] = {s->init, s->step, s->then, s->other};
    for (int i = 0; i < 4 && found == NULL; i++) {
        found = rk_first_written(part[i]);
    }
    return found;
}
