/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls in whole-array code: ops, which are expanded here, then built-in functions and
 * funcs, which work point by point.
 *
 * An op is chosen by the ranks of its arguments and sees only its parameters. These are
 * bound to the argument fields themselves, so an argument that an op uses twice is one
 * field with two users, and ops of ops of ops stay small.
 */
#include "config.h"

#include "libcore/kernel/field_build.h"

#include <string.h>

/* --- choosing an op ----------------------------------------------------------------- */

static bool fits(const rk_decl *op, const char *name, rk_field *const *arg, int32_t narg)
{
    if (op->name != name || op->nparam != narg) {
        return false;
    }
    for (int32_t i = 0; i < narg; i++) {
        if (op->param[i]->rank != arg[i]->rank) {
            return false;
        }
    }
    return true;
}

/* The user's own op before the library's; inside the library its own ones only. */
static rk_decl *find_op(const rk_builder *b, const char *name, rk_field *const *arg,
                        int32_t narg)
{
    const bool in_library =
        b->nactive > 0 && b->active[b->nactive - 1].op->at.source->library;
    rk_decl *found = NULL;
    for (rk_decl *op = rk_module_named(b->unit, name); op != NULL; op = op->next_named) {
        if (op->kind == RK_DECL_OP && fits(op, name, arg, narg) &&
            (found == NULL || op->at.source->library == in_library)) {
            found = op;
        }
    }
    return found;
}

/* "(A[,], h)" */
static const char *signature(rk_unit *unit, const rk_decl *op)
{
    static const char *const brackets[] = {"", "[]", "[,]", "[,,]"};
    const char *text = "";
    for (int32_t i = 0; i < op->nparam && i < 16; i++) {
        text = rubus__arena_format(unit->arena, "%s%s%s%s", text, i > 0 ? ", " : "",
                                   op->param[i]->name, brackets[op->param[i]->rank]);
    }
    return rubus__arena_format(unit->arena, "%s(%s)", op->name, text);
}

static void no_op_fits(rk_builder *b, const rk_expr *e, rk_field *const *arg)
{
    const char *given = "";
    for (int32_t i = 0; i < e->narg && i < 16; i++) {
        given = rubus__arena_format(b->unit->arena, "%s%s%d", given, i > 0 ? ", " : "",
                                    arg[i]->rank);
    }
    rk_field_error(
        b, RK_NO_SUCH_OP, e->at,
        rubus__arena_format(b->unit->arena, "define `op %s` for these ranks", e->name),
        "no op `%s` takes %s of rank %s", e->name,
        e->narg == 1 ? "an argument" : "arguments", e->narg == 0 ? "-" : given);
    int32_t shown = 0;
    for (int32_t i = 0; i < b->unit->module.nop && shown < 4; i++) {
        const rk_decl *op = b->unit->module.op[i];
        if (op->name == e->name) {
            rk_note(b->unit, op->at, "there is %s", signature(b->unit, op));
            shown++;
        }
    }
}

/* --- expanding it ------------------------------------------------------------------- */

static void report_cycle(rk_builder *b, const rk_decl *op, rk_span at)
{
    int32_t first = 0;
    while (b->active[first].op != op) {
        first++;
    }
    const char *chain = op->name;
    for (int32_t i = first + 1; i < b->nactive && i < first + 16; i++) {
        chain =
            rubus__arena_format(b->unit->arena, "%s -> %s", chain, b->active[i].op->name);
    }
    rk_field_error(b, RK_OP_RECURSION, at,
                   "ops are expanded where they stand: write the steps out",
                   "op `%s` calls itself: %s -> %s", op->name, chain, op->name);
}

static bool enter_op(rk_builder *b, rk_decl *op, rk_span at)
{
    for (int32_t i = 0; i < b->nactive; i++) {
        if (b->active[i].op == op) {
            report_cycle(b, op, at);
            return false;
        }
    }
    if (b->nactive == b->active_room) {
        b->active = rk_extend(b->unit, b->active, b->active_room, sizeof(rk_active_op));
        b->active_room = b->active_room == 0 ? 8 : 2 * b->active_room;
    }
    b->active[b->nactive++] = (rk_active_op){op, at};
    rk_spend(b->unit, 1 + b->nactive / 64, at);
    return true;
}

static void bind_let(rk_builder *b, const rk_stmt *s)
{
    rk_field *value = rk_build_expr(b, s->value);
    rk_decl *let = RK_NEW(b->unit, rk_decl);
    let->kind = RK_DECL_LET;
    let->name = s->name;
    let->at = s->at;
    rk_scope_bind(&b->scope, let, value);
}

static rk_field *expand(rk_builder *b, rk_decl *op, rk_field **arg, rk_span at)
{
    if (!op->at.source->library && !op->checked) {
        return NULL; // its names were reported
    }
    if (!enter_op(b, op, at)) {
        return NULL;
    }
    rk_scope *scope = &b->scope;
    const int32_t floor = scope->floor;
    const int32_t block = scope->nbound;
    scope->floor = block;
    for (int32_t i = 0; i < op->nparam; i++) {
        rk_scope_bind(scope, op->param[i], arg[i]);
    }
    rk_field *result = NULL;
    for (int32_t i = 0; i < op->body->nbody; i++) {
        const rk_stmt *s = op->body->body[i];
        if (s->kind == RK_STMT_LET) {
            bind_let(b, s);
        } else if (s->kind == RK_STMT_RETURN && s->value != NULL) {
            result = rk_build_expr(b, s->value);
        }
    }
    rk_scope_close(scope, block);
    scope->floor = floor;
    b->nactive--;
    return result;
}

/* --- functions point by point ------------------------------------------------------- */

static rk_field *call_func(rk_builder *b, const rk_expr *e, rk_decl *func, rk_field **arg)
{
    if (e->narg != func->nparam) {
        rk_field_error(b, RK_WRONG_ARGUMENTS, e->at, NULL,
                       "`%s` takes %d argument%s, not %d", func->name, func->nparam,
                       func->nparam == 1 ? "" : "s", e->narg);
        rk_note(b->unit, func->at, "defined here");
        return NULL;
    }
    rk_span *at = rk_new(b->unit, ((size_t)e->narg + 1) * sizeof(*at));
    for (int32_t i = 0; i < e->narg; i++) {
        at[i] = e->arg[i]->at;
    }
    return rk_make_call(b, e->at, func, arg, at);
}

static rk_field *call_builtin(rk_builder *b, const rk_expr *e, rk_op op, rk_field **arg)
{
    rk_operand_of operand[3];
    memset(operand, 0, sizeof(operand));
    for (int32_t i = 0; i < e->narg; i++) {
        operand[i] = (rk_operand_of){arg[i], e->arg[i]->at};
    }
    return rk_make_apply(b, e->at, op, operand[0], operand[1], operand[2]);
}

static bool refuse_fold(rk_builder *b, const rk_expr *e)
{
    rk_fold_op fold;
    if (!rk_fold_by_name(e->name, &fold) || e->narg != 1) {
        return false;
    }
    rk_field_error(b, RK_FOLD_OUTSIDE, e->at,
                   "declare a result, `out real NAME`, and assign it: NAME = ...;",
                   "`%s(F)` is the value of a result and cannot stand inside a statement",
                   e->name);
    return true;
}

rk_field *rk_build_call(rk_builder *b, const rk_expr *e)
{
    if (rk_is_special(e->name)) {
        return rk_build_special(b, e);
    }
    if (refuse_fold(b, e)) {
        return NULL;
    }
    rk_field **arg = rk_new(b->unit, ((size_t)e->narg + 3) * sizeof(rk_field *));
    bool good = true;
    for (int32_t i = 0; i < e->narg; i++) {
        arg[i] = rk_build_expr(b, e->arg[i]);
        good = good && arg[i] != NULL;
    }
    if (!good) {
        return NULL;
    }
    rk_decl *op = find_op(b, e->name, arg, e->narg);
    if (op != NULL) {
        return expand(b, op, arg, e->at);
    }
    const rk_op builtin = rk_find_builtin(e->name, e->narg);
    if (builtin != RK_OP_NONE) {
        return call_builtin(b, e, builtin, arg);
    }
    const rk_decl *from = b->nactive > 0 ? b->active[b->nactive - 1].op : b->work.decl;
    rk_decl *func = rk_find_func_from(b->unit, from, e->name);
    if (func != NULL) {
        return call_func(b, e, func, arg);
    }
    if (rk_op_exists(b->unit, e->name)) {
        no_op_fits(b, e, arg);
    } else {
        rk_unknown_call(&b->scope, e);
        rk_note_ops(b, e->at);
    }
    return NULL;
}
