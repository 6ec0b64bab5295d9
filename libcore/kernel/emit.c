/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the emitters of all dialects ask of a kernel before they write a line: how to
 * spell its name, which parameters and symbols an entry needs in its argument block,
 * and which funcs stand behind it. Layout asks the same questions, so block and text
 * always agree.
 */
#include "config.h"

#include "libcore/kernel/emit.h"

#include <string.h>

#include "libcore/kernel/lower.h"

#define MOST_LETTERS 24

const char *rk_emit_letters(rk_unit *unit, const char *name)
{
    char letters[MOST_LETTERS + 1];
    int n = 0;
    for (const char *p = name; *p != '\0' && n < MOST_LETTERS; p++) {
        const bool upper = *p >= 'A' && *p <= 'Z';
        if (upper || (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_') {
            letters[n++] = upper ? (char)(*p - 'A' + 'a') : *p;
        }
    }
    letters[n] = '\0';
    return rk_intern(unit, letters, n);
}

int32_t rk_emit_extent_symbol(const rk_work *work, const char *name)
{
    for (int32_t i = 0; i < work->nsymbol; i++) {
        if (work->symbol[i].kind == RK_SYMBOL_EXTENT &&
            strcmp(work->symbol[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* --- visiting ---------------------------------------------------------------------- */

void rk_visit_expr(rk_expr *expr, rk_visit visit, void *user)
{
    if (expr == NULL) {
        return;
    }
    rk_visit_expr(expr->a, visit, user);
    rk_visit_expr(expr->b, visit, user);
    rk_visit_expr(expr->c, visit, user);
    for (int32_t i = 0; i < expr->narg; i++) {
        rk_visit_expr(expr->arg[i], visit, user);
    }
    for (int32_t i = 0; i < expr->nsub; i++) {
        rk_visit_expr(expr->sub[i].lo, visit, user);
        rk_visit_expr(expr->sub[i].hi, visit, user);
    }
    visit(user, expr);
}

void rk_visit_stmt(rk_stmt *stmt, rk_visit visit, void *user)
{
    if (stmt == NULL) {
        return;
    }
    rk_visit_stmt(stmt->init, visit, user);
    rk_visit_expr(stmt->cond, visit, user);
    rk_visit_expr(stmt->target, visit, user);
    rk_visit_expr(stmt->value, visit, user);
    rk_visit_stmt(stmt->then, visit, user);
    rk_visit_stmt(stmt->other, visit, user);
    for (int32_t i = 0; i < stmt->nbody; i++) {
        rk_visit_stmt(stmt->body[i], visit, user);
    }
    rk_visit_stmt(stmt->step, visit, user);
}

bool rk_stmt_has(const rk_stmt *stmt, rk_stmt_kind kind)
{
    if (stmt == NULL) {
        return false;
    }
    if (stmt->kind == kind || rk_stmt_has(stmt->init, kind) ||
        rk_stmt_has(stmt->then, kind) || rk_stmt_has(stmt->other, kind) ||
        rk_stmt_has(stmt->step, kind)) {
        return true;
    }
    for (int32_t i = 0; i < stmt->nbody; i++) {
        if (rk_stmt_has(stmt->body[i], kind)) {
            return true;
        }
    }
    return false;
}

static void list_call(void *user, rk_expr *expr)
{
    const bool call = expr->kind == RK_EXPR_CALL || expr->kind == RK_EXPR_POWER;
    if (call && expr->decl != NULL && expr->decl->kind == RK_DECL_FUNC) {
        rk_func_list_add(user, expr->decl);
    }
}

void rk_func_list_add_stmt(rk_func_list *list, rk_stmt *stmt)
{
    rk_visit_stmt(stmt, list_call, list);
}

bool rk_local_index_is_sure(const rk_expr *index)
{
    const rk_expr *i = index->sub[0].lo;
    const rk_decl *array = index->a->decl;
    return i != NULL && i->kind == RK_EXPR_INT && i->value.i >= 0 &&
           i->value.i < array->length_value;
}

int32_t rk_expr_site(const rk_expr *index)
{
    return (int32_t)index->value.i - 1;
}

/* --- needs ------------------------------------------------------------------------- */

void rk_need_init(rk_unit *unit, const rk_kernel *kernel, rk_need *out_need)
{
    memset(out_need, 0, sizeof(*out_need));
    out_need->kernel = kernel;
    out_need->param = rk_new(unit, (size_t)kernel->decl->nparam + 1u);
    out_need->symbol = rk_new(unit, (size_t)kernel->work->nsymbol + 1u);
}

void rk_need_affine(rk_need *need, rk_affine a)
{
    for (int32_t i = 0; i < a.nterm; i++) {
        need->symbol[a.term[i].symbol] = true;
    }
}

/* An array and what its strides are made of. */
static void need_array(rk_need *need, int32_t param, bool all_extents)
{
    need->param[param] = true;
    const int32_t rank = need->kernel->decl->param[param]->rank;
    for (int32_t d = 0; d < rank - (all_extents ? 0 : 1); d++) {
        rk_need_affine(need, need->kernel->work->extent[param][d]);
    }
}

static void need_at(rk_need *need, int32_t param, const rk_at *at)
{
    need_array(need, param, false);
    for (int32_t d = 0; d < need->kernel->decl->param[param]->rank; d++) {
        rk_need_affine(need, at[d].off);
    }
}

static void need_box(rk_need *need, const rk_box *box)
{
    for (int32_t d = 0; d < 3; d++) {
        if (box->bounded[d]) {
            rk_need_affine(need, box->lo[d]);
            rk_need_affine(need, box->hi[d]);
        }
    }
}

void rk_need_pass(rk_need *need, const rk_pass *pass)
{
    for (int32_t i = 0; i < pass->naction; i++) {
        const rk_action *action = &pass->action[i];
        need_box(need, &action->box);
        if (action->kind == RK_ACTION_STORE) {
            need_at(need, action->param, action->at);
        }
    }
    for (int32_t i = 0; i < pass->nnode; i++) {
        const rk_ir *node = pass->node[i];
        switch (node->kind) {
        case RK_IR_SCALAR:
            need->param[node->param] = true;
            break;
        case RK_IR_AFFINE:
        case RK_IR_COORD:
            rk_need_affine(need, node->affine);
            break;
        case RK_IR_LOAD:
            need_at(need, node->param, node->at);
            break;
        case RK_IR_GUARD:
            need_box(need, &node->box);
            break;
        default:
            break;
        }
    }
}

typedef struct point_need {
    rk_need *need;
    bool all_extents;
} point_need;

static void point_name(rk_need *need, const rk_decl *decl)
{
    if (decl == NULL) {
        return;
    }
    if (decl->kind == RK_DECL_PARAM && decl->rank == 0) {
        need->param[decl->number] = true;
    } else if (decl->kind == RK_DECL_EXTENT) {
        const int32_t symbol = rk_emit_extent_symbol(need->kernel->work, decl->name);
        if (symbol >= 0) {
            need->symbol[symbol] = true;
        }
    }
}

static void point_expr(void *user, rk_expr *expr)
{
    const point_need *p = user;
    switch (expr->kind) {
    case RK_EXPR_NAME:
        point_name(p->need, expr->decl);
        break;
    case RK_EXPR_INDEX:
        if (expr->a->decl != NULL && expr->a->decl->kind == RK_DECL_PARAM) {
            need_array(p->need, expr->a->decl->number, p->all_extents);
        }
        break;
    case RK_EXPR_CALL:
        if (expr->op == RK_OP_EXTENT) {
            rk_need_affine(
                p->need, p->need->kernel->work
                             ->extent[expr->arg[0]->decl->number][expr->arg[1]->value.i]);
        }
        break;
    default:
        break;
    }
}

static void find_element(void *user, rk_expr *expr)
{
    bool *found = user;
    *found = *found || (expr->kind == RK_EXPR_INDEX && expr->a->decl != NULL &&
                        expr->a->decl->kind == RK_DECL_PARAM);
}

/* Does some loop's end depend on what an array holds? */
static bool loops_unevenly(rk_stmt *stmt)
{
    bool found = false;
    if (stmt == NULL) {
        return false;
    }
    if (stmt->kind == RK_STMT_FOR || stmt->kind == RK_STMT_WHILE) {
        rk_visit_expr(stmt->cond, find_element, &found);
        rk_visit_stmt(stmt->init, find_element, &found);
    }
    found = found || loops_unevenly(stmt->then) || loops_unevenly(stmt->other);
    for (int32_t i = 0; i < stmt->nbody && !found; i++) {
        found = loops_unevenly(stmt->body[i]);
    }
    return found;
}

void rk_need_point(rk_need *need, bool all_extents)
{
    point_need p = {need, all_extents};
    rk_stmt *body = need->kernel->decl->body;
    rk_visit_stmt(body, point_expr, &p);
    need->atomics = rk_stmt_has(body, RK_STMT_ATOMIC);
    need->uneven = loops_unevenly(body);
}
