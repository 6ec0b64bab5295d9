/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the ops and funcs of the library that the user's declarations reach, by the names
 * and numbers of arguments of the calls; ranks are not known here, so all ops of a name
 * count. Bodies wait in the lists and are looked through in rounds, so that long chains
 * of calls need no stack.
 */
#include "config.h"

#include "libcore/kernel/print.h"

#include <string.h>

const char *rk_reach_alias(const rk_reach *reach, const char *name)
{
    for (int32_t i = 0; i < reach->nalias; i++) {
        if (reach->alias[i].name == name) {
            return reach->alias[i].alias;
        }
    }
    return NULL;
}

/* --- names that both have ----------------------------------------------------------- */

static bool same_ranks(const rk_decl *a, const rk_decl *b)
{
    if (a->name != b->name || a->nparam != b->nparam) {
        return false;
    }
    for (int32_t i = 0; i < a->nparam; i++) {
        if (a->param[i]->rank != b->param[i]->rank) {
            return false;
        }
    }
    return true;
}

static bool is_hidden(rk_decl *const *list, int32_t count, const rk_decl *decl)
{
    for (int32_t i = 0; i < count; i++) {
        const bool same = decl->kind == RK_DECL_OP ? same_ranks(list[i], decl)
                                                   : list[i]->name == decl->name;
        if (same && !list[i]->at.source->library) {
            return true;
        }
    }
    return false;
}

static bool is_called(const rk_module *module, const char *name)
{
    for (int32_t i = 0; i < module->nop; i++) {
        if (module->op[i]->name == name) {
            return true;
        }
    }
    for (int32_t i = 0; i < module->nfunc; i++) {
        if (module->func[i]->name == name) {
            return true;
        }
    }
    return false;
}

static void add_alias(rk_reach *r, const char *name)
{
    if (rk_reach_alias(r, name) != NULL) {
        return;
    }
    rk_unit *unit = r->unit;
    const char *alias = name;
    do {
        alias = rubus__arena_format(unit->arena, "%s_", alias);
        alias = rk_intern(unit, alias, (int32_t)strlen(alias));
    } while (is_called(&unit->module, alias));
    rk_alias *list = rk_new(unit, ((size_t)r->nalias + 1) * sizeof *list);
    if (r->nalias > 0) {
        memcpy(list, r->alias, (size_t)r->nalias * sizeof *list);
    }
    list[r->nalias].name = name;
    list[r->nalias].alias = alias;
    r->alias = list;
    r->nalias++;
}

/* The state of a list before anything is reached; returns where the library's ends. */
static int32_t begin(rk_reach *r, rk_reached *reached, rk_decl *const *list,
                     int32_t count)
{
    reached->named = rk_new(r->unit, (size_t)count + 1);
    reached->aliased = rk_new(r->unit, (size_t)count + 1);
    reached->hidden = rk_new(r->unit, (size_t)count + 1);
    reached->seen = rk_new(r->unit, (size_t)count + 1);
    int32_t end = 0;
    for (int32_t i = 0; i < count; i++) {
        reached->named[i] = !list[i]->at.source->library;
        if (!reached->named[i]) {
            end = i + 1;
            reached->hidden[i] = is_hidden(list, count, list[i]);
        }
        if (reached->hidden[i]) {
            add_alias(r, list[i]->name);
        }
    }
    return end;
}

/* --- calls -------------------------------------------------------------------------- */

typedef struct walker {
    rk_reach *reach;
    bool library; /* in a body of the library */
} walker;

static void reach_in(const walker *w, rk_reached *reached, rk_decl *const *list,
                     int32_t count, const char *name, int32_t narg)
{
    const bool by_alias = w->library && rk_reach_alias(w->reach, name) != NULL;
    for (int32_t i = 0; i < count; i++) {
        const rk_decl *decl = list[i];
        if (decl->name != name || decl->nparam != narg || !decl->at.source->library ||
            (!w->library && reached->hidden[i])) {
            continue;
        }
        bool *mark = by_alias ? &reached->aliased[i] : &reached->named[i];
        w->reach->again = w->reach->again || !reached->seen[i];
        *mark = true;
    }
}

static void reach_name(const walker *w, const char *name, int32_t narg)
{
    rk_reach *r = w->reach;
    const rk_module *module = &r->unit->module;
    reach_in(w, &r->op, module->op, r->nlibrary_op, name, narg);
    reach_in(w, &r->func, module->func, r->nlibrary_func, name, narg);
}

/* `^` with a real exponent calls the library's pow, whatever the user calls so. */
static void reach_power(const walker *w, const rk_expr *power)
{
    const rk_expr *b = power->b;
    const bool literal =
        b->kind == RK_EXPR_INT || (b->kind == RK_EXPR_UNARY && b->a->kind == RK_EXPR_INT);
    const char *name = rk_intern(w->reach->unit, "pow", 3);
    if (!literal && rk_reach_alias(w->reach, name) == NULL) {
        reach_name(w, name, 2);
    }
}

static void reach_expr(const walker *w, const rk_expr *expr)
{
    if (expr == NULL) {
        return;
    }
    if (expr->kind == RK_EXPR_CALL) {
        reach_name(w, expr->name, expr->narg);
    } else if (expr->kind == RK_EXPR_POWER) {
        reach_power(w, expr);
    }
    reach_expr(w, expr->a);
    reach_expr(w, expr->b);
    reach_expr(w, expr->c);
    for (int32_t i = 0; i < expr->narg; i++) {
        reach_expr(w, expr->arg[i]);
    }
    for (int32_t i = 0; i < expr->nsub; i++) {
        reach_expr(w, expr->sub[i].lo);
        reach_expr(w, expr->sub[i].hi);
    }
}

static void reach_stmt(const walker *w, const rk_stmt *stmt)
{
    if (stmt == NULL) {
        return;
    }
    reach_expr(w, stmt->target);
    reach_expr(w, stmt->value);
    reach_expr(w, stmt->cond);
    reach_stmt(w, stmt->init);
    reach_stmt(w, stmt->step);
    reach_stmt(w, stmt->then);
    reach_stmt(w, stmt->other);
    for (int32_t i = 0; i < stmt->nbody; i++) {
        reach_stmt(w, stmt->body[i]);
    }
}

static void reach_round(rk_reach *r, rk_reached *reached, rk_decl *const *list,
                        int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        if ((reached->named[i] || reached->aliased[i]) && !reached->seen[i]) {
            reached->seen[i] = true;
            const walker w = {r, list[i]->at.source->library};
            reach_stmt(&w, list[i]->body);
        }
    }
}

void rk_reach_find(rk_unit *unit, rk_reach *out_reach)
{
    const rk_module *module = &unit->module;
    memset(out_reach, 0, sizeof *out_reach);
    out_reach->unit = unit;
    out_reach->nlibrary_op = begin(out_reach, &out_reach->op, module->op, module->nop);
    out_reach->nlibrary_func =
        begin(out_reach, &out_reach->func, module->func, module->nfunc);
    const walker user = {out_reach, false};
    for (int32_t i = 0; i < module->nkernel; i++) {
        if (!module->kernel[i]->at.source->library) {
            reach_stmt(&user, module->kernel[i]->body);
        }
    }
    for (int32_t i = 0; i < module->nform; i++) {
        reach_stmt(&user, module->form[i]->body);
    }
    do {
        out_reach->again = false;
        reach_round(out_reach, &out_reach->op, module->op, module->nop);
        reach_round(out_reach, &out_reach->func, module->func, module->nfunc);
    } while (out_reach->again);
}
