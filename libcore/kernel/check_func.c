/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Funcs: their bodies, that every path returns, and that none calls itself.
 *
 * Bodies are checked one by one, the library's only when a kernel reaches them; each
 * check leaves the list of funcs that the body calls, and recursion is found on that
 * graph. Both walks keep their own stack, so long chains of funcs do no harm.
 */
#include "config.h"

#include "libcore/kernel/check.h"

#include <string.h>

void rk_note_call(rk_unit *unit, rk_decl *decl, rk_decl *func)
{
    for (int32_t i = 0; i < decl->ncall; i++) {
        if (decl->call[i] == func) {
            return;
        }
    }
    decl->call = rk_extend(unit, decl->call, decl->ncall, sizeof(rk_decl *));
    decl->call[decl->ncall++] = func;
}

/* --- does every path return? -------------------------------------------------------- */

/* Whether a `break` in s leaves the loop around s. */
static bool breaks(const rk_stmt *s)
{
    if (s == NULL || s->kind == RK_STMT_WHILE || s->kind == RK_STMT_FOR) {
        return false;
    }
    if (s->kind == RK_STMT_BREAK || breaks(s->then) || breaks(s->other)) {
        return true;
    }
    for (int32_t i = 0; i < s->nbody; i++) {
        if (breaks(s->body[i])) {
            return true;
        }
    }
    return false;
}

static bool returns(const rk_stmt *s)
{
    switch (s->kind) {
    case RK_STMT_RETURN:
        return true;
    case RK_STMT_IF:
        return s->other != NULL && returns(s->then) && returns(s->other);
    case RK_STMT_WHILE:
    case RK_STMT_FOR: {
        const bool endless =
            s->cond == NULL || (s->cond->kind == RK_EXPR_BOOL && s->cond->value.b);
        return endless && !breaks(s->then);
    }
    case RK_STMT_BLOCK:
        for (int32_t i = 0; i < s->nbody; i++) {
            if (returns(s->body[i])) {
                return true;
            }
        }
        return false;
    default:
        return false;
    }
}

/* --- bodies ------------------------------------------------------------------------- */

void rk_check_func(rk_unit *unit, rk_decl *func)
{
    if (func->checked) {
        return;
    }
    func->checked = true;
    rk_checker checker;
    memset(&checker, 0, sizeof(checker));
    checker.unit = unit;
    checker.decl = func;
    rk_scope_init(&checker.scope, unit);
    for (int32_t i = 0; i < func->nparam; i++) {
        rk_scope_declare(&checker.scope, func->param[i], 0);
    }
    const int64_t errors = rk_errors(unit);
    rk_check_body(&checker, func->body);
    if (rk_errors(unit) == errors && !returns(func->body)) {
        rk_error(unit, RK_MISSING_RETURN, func->at, "end it with `return`",
                 "func `%s` can end without returning a value", func->name);
    }
}

/* --- recursion ---------------------------------------------------------------------- */

typedef struct step {
    rk_decl *func;
    int32_t next; /* the call to follow next */
} step;

static void report_recursion(rk_unit *unit, const step *stack, int32_t depth)
{
    const rk_decl *again = stack[depth - 1].func->call[stack[depth - 1].next - 1];
    int32_t first = depth - 1;
    while (stack[first].func != again) {
        first--;
    }
    const char *chain = again->name;
    for (int32_t i = first + 1; i < depth && i < first + 16; i++) {
        chain = rubus__arena_format(unit->arena, "%s -> %s", chain, stack[i].func->name);
    }
    rk_error(unit, RK_RECURSION, again->at, "write a loop",
             "func `%s` calls itself: %s%s -> %s", again->name, chain,
             depth - first > 16 ? " -> ..." : "", again->name);
}

void rk_find_recursion(rk_unit *unit, rk_decl *func)
{
    step *stack = NULL;
    int32_t depth = 0;
    if (func->acyclic) {
        return;
    }
    stack = rk_extend(unit, stack, depth, sizeof(step));
    stack[depth++] = (step){func, 0};
    func->checking = true;
    int32_t most = depth;
    while (depth > 0) {
        step *top = &stack[depth - 1];
        if (top->next == top->func->ncall) {
            top->func->checking = false;
            top->func->acyclic = true; // or reported
            depth--;
            continue;
        }
        rk_decl *called = top->func->call[top->next++];
        if (called->checking) {
            report_recursion(unit, stack, depth);
        } else if (!called->acyclic && called->checked) {
            if (depth == most) {
                stack = rk_extend(unit, stack, depth, sizeof(step));
                most++;
            }
            called->checking = true;
            stack[depth++] = (step){called, 0};
        }
    }
}

/* --- use ---------------------------------------------------------------------------- */

void rk_use_func(rk_unit *unit, rk_decl *func)
{
    if (func->used) {
        return;
    }
    rk_decl **list = rk_extend(unit, NULL, 0, sizeof(rk_decl *));
    int32_t n = 0;
    list[n++] = func;
    func->used = true;
    for (int32_t i = 0; i < n; i++) {
        rk_check_func(unit, list[i]);
        for (int32_t k = 0; k < list[i]->ncall; k++) {
            rk_decl *called = list[i]->call[k];
            if (!called->used) {
                called->used = true;
                list = rk_extend(unit, list, n, sizeof(rk_decl *));
                list[n++] = called;
            }
        }
    }
    rk_find_recursion(unit, func);
}
