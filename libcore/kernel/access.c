/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses that a launch proves to stay inside their arrays: all of a whole-array kernel,
 * and of a per-point kernel those that are certain to be made and whose subscripts are
 * affine in its indices, extents and int scalars. What leaves its array whatever the
 * sizes is an error already here.
 */
#include "config.h"

#include "libcore/kernel/lower.h"

#include <string.h>

/* --- whole-array kernels ---------------------------------------------------------- */

/* True if the subscript is certainly below 0 (or, high, at or past the extent) at the end
 * of its range: then every bound of every box must say so. */
static bool certainly_out(rk_work *work, const rk_access *a, int32_t d, int32_t axis,
                          bool high)
{
    rk_unit *unit = work->unit;
    const rk_affine extent = work->extent[a->param][d];
    bool any = false;
    for (int32_t i = 0; i < (axis < 0 ? 1 : a->nbox); i++) {
        rk_affine end = a->off[d];
        if (axis >= 0) {
            if (!a->box[i]->bounded[axis]) {
                continue;
            }
            end = high ? rk_affine_add(unit, a->box[i]->hi[axis], 1, rk_affine_int(-1))
                       : a->box[i]->lo[axis];
            end = rk_affine_add(unit, end, 1, a->off[d]);
        }
        any = true;
        const rk_affine over = high ? rk_affine_add(unit, end, -1, extent)
                                    : rk_affine_add(unit, rk_affine_int(-1), -1, end);
        int64_t by = 0;
        if (!rk_affine_is_const(over, &by) || by < 0) {
            return false;
        }
    }
    return any;
}

static void report_certain(rk_work *work, const rk_access *a, int32_t d, bool high)
{
    static const char *const axis_word[3] = {"first", "second", "third"};
    const char *extent =
        rk_affine_text(work->unit, work->symbol, work->extent[a->param][d]);
    rk_error(work->unit, RK_LEAVES_ARRAY, a->at_source,
             "take a slice whose points all lie inside",
             "this leaves `%s` at the %s end of its %s dimension (extent %s)",
             work->decl->param[a->param]->name, high ? "high" : "low", axis_word[d],
             extent);
}

static bool access_known(const rk_plan *plan, const rk_access *a)
{
    for (int32_t i = plan->naccess - 1; i >= 0 && i >= plan->naccess - 64; i--) {
        const rk_access *b = &plan->access[i];
        bool equal = b->param == a->param && b->rank == a->rank && b->nbox == a->nbox &&
                     memcmp(b->coef, a->coef, sizeof(a->coef)) == 0;
        for (int32_t d = 0; equal && d < a->rank; d++) {
            equal = rk_affine_equal(b->off[d], a->off[d]);
        }
        for (int32_t k = 0; equal && k < a->nbox; k++) {
            equal = rk_box_equal(b->box[k], a->box[k]);
        }
        if (equal) {
            return true;
        }
    }
    return false;
}

void rk_access_add(rk_work *work, rk_plan *plan, int32_t *room, const rk_read *read)
{
    rk_access a;
    memset(&a, 0, sizeof(a));
    a.param = read->param;
    a.rank = read->rank;
    a.at_source = read->at_source;
    const rk_box **box =
        rk_new(work->unit, (size_t)read->chain->length * sizeof(const rk_box *));
    for (const rk_chain *c = read->chain; c != NULL; c = c->outer) {
        box[a.nbox++] = &c->box;
    }
    a.box = box;
    for (int32_t d = 0; d < read->rank; d++) {
        a.off[d] = read->at[d].off;
        if (read->at[d].axis >= 0) {
            a.coef[d][read->at[d].axis] = 1;
        }
    }
    for (int32_t d = 0; d < a.rank; d++) {
        for (int high = 0; high < 2; high++) {
            if (certainly_out(work, &a, d, read->at[d].axis, high == 1)) {
                report_certain(work, &a, d, high == 1);
                return;
            }
        }
    }
    if (access_known(plan, &a)) {
        return;
    }
    rk_room(work->unit, (void **)&plan->access, room, plan->naccess, sizeof(rk_access));
    plan->access[plan->naccess++] = a;
}

/* --- per-point kernels ------------------------------------------------------------ */

typedef struct walker {
    rk_work *work;
    rk_plan *plan;
    int32_t room;
} walker;

typedef struct subscript {
    int64_t coef[3];
    rk_affine rest;
} subscript;

static bool symbol_find(const rk_work *work, rk_symbol_kind kind, const char *name,
                        int32_t param, int32_t *out)
{
    for (int32_t i = 0; i < work->nsymbol; i++) {
        const rk_symbol *s = &work->symbol[i];
        if (s->kind == kind &&
            (kind == RK_SYMBOL_EXTENT ? strcmp(s->name, name) == 0 : s->param == param)) {
            *out = i;
            return true;
        }
    }
    return false;
}

static bool subscript_name(walker *w, const rk_expr *e, subscript *out)
{
    const rk_decl *decl = e->decl;
    int32_t symbol = 0;
    if (decl == NULL) {
        return false;
    }
    if (decl->kind == RK_DECL_INDEX) {
        out->coef[decl->number] = 1;
        return true;
    }
    const bool extent = decl->kind == RK_DECL_EXTENT &&
                        symbol_find(w->work, RK_SYMBOL_EXTENT, decl->name, 0, &symbol);
    const bool scalar =
        decl->kind == RK_DECL_PARAM && decl->type == RK_INT && decl->rank == 0 &&
        symbol_find(w->work, RK_SYMBOL_SCALAR, NULL, decl->number, &symbol);
    if (extent || scalar) {
        out->rest = rk_affine_symbol(w->work->unit, symbol);
    }
    return extent || scalar;
}

static bool subscript_of(walker *w, const rk_expr *e, subscript *out);

static bool subscript_sum(walker *w, const rk_expr *e, int64_t sign, subscript *out)
{
    subscript b;
    if (!subscript_of(w, e->a, out) || !subscript_of(w, e->b, &b)) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        if (__builtin_mul_overflow(b.coef[k], sign, &b.coef[k]) ||
            __builtin_add_overflow(out->coef[k], b.coef[k], &out->coef[k])) {
            return false;
        }
    }
    out->rest = rk_affine_add(w->work->unit, out->rest, sign, b.rest);
    return true;
}

static bool subscript_scale(walker *w, int64_t by, subscript *out)
{
    for (int k = 0; k < 3; k++) {
        if (__builtin_mul_overflow(out->coef[k], by, &out->coef[k])) {
            return false;
        }
    }
    out->rest = rk_affine_scale(w->work->unit, out->rest, by);
    return true;
}

static bool subscript_product(walker *w, const rk_expr *e, subscript *out)
{
    if (e->a->kind == RK_EXPR_INT) {
        return subscript_of(w, e->b, out) && subscript_scale(w, e->a->value.i, out);
    }
    return e->b->kind == RK_EXPR_INT && subscript_of(w, e->a, out) &&
           subscript_scale(w, e->b->value.i, out);
}

static bool subscript_of(walker *w, const rk_expr *e, subscript *out)
{
    memset(out, 0, sizeof(*out));
    switch (e->kind) {
    case RK_EXPR_INT:
        out->rest = rk_affine_int(e->value.i);
        return true;
    case RK_EXPR_NAME:
        return subscript_name(w, e, out);
    case RK_EXPR_UNARY:
        return e->op == RK_OP_NEG && subscript_of(w, e->a, out) &&
               subscript_scale(w, -1, out);
    case RK_EXPR_BINARY:
        if (e->op == RK_OP_ADD || e->op == RK_OP_SUB) {
            return subscript_sum(w, e, e->op == RK_OP_ADD ? 1 : -1, out);
        }
        return e->op == RK_OP_MUL && subscript_product(w, e, out);
    case RK_EXPR_CALL:
        if (e->op == RK_OP_EXTENT && e->arg[0]->decl != NULL &&
            e->arg[1]->kind == RK_EXPR_INT) {
            out->rest = w->work->extent[e->arg[0]->decl->number][e->arg[1]->value.i];
            return true;
        }
        return false;
    default:
        return false;
    }
}

/* An element access that is certainly made at every point. */
static void certain_access(walker *w, rk_expr *e)
{
    const rk_decl *array = e->a->decl;
    if (array == NULL || array->kind != RK_DECL_PARAM || e->nsub != array->rank) {
        return;
    }
    rk_access a;
    memset(&a, 0, sizeof(a));
    a.param = array->number;
    a.rank = e->nsub;
    a.at_source = e->at;
    for (int32_t d = 0; d < e->nsub; d++) {
        subscript s;
        if (e->sub[d].kind != RK_SUB_INDEX || !subscript_of(w, e->sub[d].lo, &s)) {
            return;
        }
        memcpy(a.coef[d], s.coef, sizeof(s.coef));
        a.off[d] = s.rest;
    }
    e->proven = true;
    if (!access_known(w->plan, &a)) {
        rk_room(w->work->unit, (void **)&w->plan->access, &w->room, w->plan->naccess,
                sizeof(rk_access));
        w->plan->access[w->plan->naccess++] = a;
    }
}

/* Walks what is evaluated whatever the values are. */
static void walk_expr(walker *w, rk_expr *e)
{
    if (e == NULL) {
        return;
    }
    switch (e->kind) {
    case RK_EXPR_INDEX:
        for (int32_t d = 0; d < e->nsub; d++) {
            walk_expr(w, e->sub[d].lo);
        }
        certain_access(w, e);
        break;
    case RK_EXPR_CALL:
        for (int32_t i = 0; e->op != RK_OP_EXTENT && i < e->narg; i++) {
            walk_expr(w, e->arg[i]);
        }
        break;
    case RK_EXPR_SELECT:
        walk_expr(w, e->a);
        break;
    case RK_EXPR_BINARY:
        walk_expr(w, e->a);
        if (e->op != RK_OP_AND && e->op != RK_OP_OR) {
            walk_expr(w, e->b);
        }
        break;
    case RK_EXPR_UNARY:
    case RK_EXPR_POWER:
        walk_expr(w, e->a);
        walk_expr(w, e->b);
        break;
    default:
        break;
    }
}

static bool may_return(const rk_stmt *s)
{
    if (s == NULL) {
        return false;
    }
    if (s->kind == RK_STMT_RETURN || may_return(s->then) || may_return(s->other)) {
        return true;
    }
    for (int32_t i = 0; i < s->nbody; i++) {
        if (may_return(s->body[i])) {
            return true;
        }
    }
    return false;
}

/* Walks statements that are certainly run; false once the point may have ended. */
static bool walk_stmt(walker *w, rk_stmt *s)
{
    switch (s->kind) {
    case RK_STMT_BLOCK:
        for (int32_t i = 0; i < s->nbody; i++) {
            if (!walk_stmt(w, s->body[i])) {
                return false;
            }
        }
        return true;
    case RK_STMT_ASSIGN:
    case RK_STMT_ATOMIC:
        walk_expr(w, s->value);
        walk_expr(w, s->target);
        return true;
    case RK_STMT_DECL:
        walk_expr(w, s->value);
        return true;
    case RK_STMT_IF:
        walk_expr(w, s->cond);
        return !may_return(s);
    case RK_STMT_WHILE:
        walk_expr(w, s->cond);
        return !may_return(s);
    case RK_STMT_FOR:
        if (s->init != NULL) {
            (void)walk_stmt(w, s->init);
        }
        walk_expr(w, s->cond);
        return !may_return(s);
    default:
        return s->kind != RK_STMT_RETURN;
    }
}

/* --- what a per-point kernel touches at all --------------------------------------- */

static void touch(const walker *w, const rk_expr *e, uint32_t access)
{
    if (e == NULL) {
        return;
    }
    if (e->kind == RK_EXPR_INDEX && e->a->decl != NULL &&
        e->a->decl->kind == RK_DECL_PARAM) {
        w->plan->pass[0].access[e->a->decl->number] |= access;
        for (int32_t d = 0; d < e->nsub; d++) {
            touch(w, e->sub[d].lo, RUBUS_READ);
        }
        return;
    }
    touch(w, e->a, access);
    touch(w, e->b, RUBUS_READ);
    touch(w, e->c, RUBUS_READ);
    for (int32_t i = 0; i < e->narg; i++) {
        touch(w, e->arg[i], RUBUS_READ);
    }
    for (int32_t d = 0; d < e->nsub; d++) {
        touch(w, e->sub[d].lo, RUBUS_READ);
    }
}

static void touch_stmt(const walker *w, const rk_stmt *s)
{
    if (s == NULL) {
        return;
    }
    const bool updates = s->kind == RK_STMT_ATOMIC || s->op != RK_OP_NONE;
    touch(w, s->target, updates ? RUBUS_READ | RUBUS_WRITE : RUBUS_WRITE);
    touch(w, s->value, RUBUS_READ);
    touch(w, s->cond, RUBUS_READ);
    touch_stmt(w, s->init);
    touch_stmt(w, s->step);
    touch_stmt(w, s->then);
    touch_stmt(w, s->other);
    for (int32_t i = 0; i < s->nbody; i++) {
        touch_stmt(w, s->body[i]);
    }
}

static int32_t param_bytes(const rk_unit *unit, const rk_decl *param)
{
    if (param->type == RK_REAL) {
        return unit->numbers.f64 ? 8 : 4;
    }
    return param->type == RK_BOOL ? 1 : (unit->numbers.int64 ? 8 : 4);
}

static void measure(const walker *w)
{
    rk_pass *pass = &w->plan->pass[0];
    const rk_decl *decl = w->work->decl;
    pass->access = rk_new(w->work->unit, (size_t)decl->nparam * sizeof(uint32_t) + 1u);
    touch_stmt(w, decl->body);
    for (int32_t i = 0; i < decl->nparam; i++) {
        const uint32_t a = pass->access[i];
        const int32_t times =
            ((a & RUBUS_READ) != 0 ? 1 : 0) + ((a & RUBUS_WRITE) != 0 ? 1 : 0);
        if (decl->param[i]->rank == pass->rank) {
            pass->bytes_per_point += times * param_bytes(w->work->unit, decl->param[i]);
        }
    }
}

void rk_access_point(rk_work *work, rk_plan *plan)
{
    walker w = {work, plan, 0};
    (void)walk_stmt(&w, work->decl->body);
    measure(&w);
}
