/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Per-point kernels and funcs: frames of locals, statements, and the sweep over points.
 * Locals lie in cells of one stack that grows as funcs call each other; where each lies
 * in its frame is worked out once a launch. Calls nest no deeper than funcs are declared,
 * and statements no deeper than the source, so neither needs a limit here.
 */
#include "config.h"

#include "libcore/kernel/interpret.h"

#include <string.h>

/* --- frames ----------------------------------------------------------------------- */

/* Visits the locals declared under `stmt`: first, while offset is NULL, to count them,
 * then to lay them out. */
static void find_locals(const rk_stmt *stmt, rk_body *body)
{
    if (stmt == NULL) {
        return;
    }
    if (stmt->kind == RK_STMT_DECL) {
        int32_t number = stmt->decl->number;
        if (body->offset == NULL) {
            body->nlocal = number >= body->nlocal ? number + 1 : body->nlocal;
        } else {
            body->offset[number] = body->ncell;
            body->ncell += stmt->decl->length != NULL ? stmt->decl->length_value : 1;
        }
    }
    find_locals(stmt->init, body);
    find_locals(stmt->then, body);
    find_locals(stmt->other, body);
    for (int32_t k = 0; k < stmt->nbody; k++) {
        find_locals(stmt->body[k], body);
    }
}

static rk_body *body_create(const rk_decl *decl)
{
    rk_body *body = rubus__alloc(sizeof(*body));
    if (body == NULL) {
        return NULL;
    }
    body->decl = decl;
    find_locals(decl->body, body);
    body->offset = rubus__alloc_array((size_t)body->nlocal, sizeof(*body->offset));
    if (body->offset == NULL) {
        rubus__free(body);
        return NULL;
    }
    body->ncell = decl->kind == RK_DECL_FUNC ? decl->nparam : 0;
    find_locals(decl->body, body);
    return body;
}

static const rk_body *body_of(rk_points *p, const rk_decl *decl)
{
    for (int32_t k = 0; k < p->nbody; k++) {
        if (p->body[k]->decl == decl) {
            return p->body[k];
        }
    }
    if (p->nbody == p->body_room) {
        int32_t room = p->body_room == 0 ? 8 : p->body_room * 2;
        rk_body **bodies = rubus__realloc(p->body, (size_t)room * sizeof(rk_body *));
        if (bodies == NULL) {
            return NULL;
        }
        p->body = bodies;
        p->body_room = room;
    }
    rk_body *body = body_create(decl);
    if (body != NULL) {
        p->body[p->nbody++] = body;
    }
    return body;
}

void rk_points_fini(rk_points *p)
{
    for (int32_t k = 0; k < p->nbody; k++) {
        rubus__free(p->body[k]->offset);
        rubus__free(p->body[k]);
    }
    rubus__free(p->body);
    rubus__free(p->cell);
    memset(p, 0, sizeof(*p));
}

bool rk_frame_open(rk_machine *m, const rk_decl *func, const rk_body **out_body,
                   int64_t *out_base)
{
    rk_points *p = &m->points;
    const rk_body *body = body_of(p, func);
    if (body == NULL) {
        m->status = RUBUS_ENOMEM;
        return false;
    }
    if (p->top + body->ncell > p->room) {
        int64_t room = (p->top + body->ncell) * 2;
        rk_value *cells = rubus__realloc(p->cell, (size_t)room * sizeof(*cells));
        if (cells == NULL) {
            m->status = RUBUS_ENOMEM;
            return false;
        }
        p->cell = cells;
        p->room = room;
    }
    *out_body = body;
    *out_base = p->top;
    for (int64_t k = 0; k < body->ncell; k++) {
        p->cell[p->top + k] = rk_zero(RK_VOID);
    }
    p->top += body->ncell;
    return true;
}

/* --- statements ------------------------------------------------------------------- */

typedef enum { GO_ON, BREAK, CONTINUE, RETURN } flow; /* a failure acts as RETURN */

static flow run(rk_machine *m, const rk_stmt *stmt);

static void assign(rk_machine *m, const rk_stmt *stmt)
{
    rk_spot place;
    if (!rk_locate(m, stmt->target, &place)) {
        return;
    }
    rk_value v = rk_evaluate(m, stmt->value);
    if (stmt->op != RK_OP_NONE && m->status == RUBUS_OK) {
        rk_value old = rk_spot_read(m, &place, stmt->target->at, RK_TOUCH_READ);
        v = rk_operate(m->numbers, stmt->op, RK_VOID, old, v, v);
    }
    if (m->status == RUBUS_OK) {
        rk_spot_write(m, &place, stmt->target->at, RK_TOUCH_WRITE, v);
    }
}

static void add_atomically(rk_machine *m, const rk_stmt *stmt)
{
    rk_spot place;
    if (!rk_locate(m, stmt->target, &place)) {
        return;
    }
    rk_value v = rk_evaluate(m, stmt->value);
    v = v.type == place.type ? v : rk_convert(m->numbers, v, place.type);
    if (m->status != RUBUS_OK) {
        return;
    }
    rk_value old = rk_spot_read(m, &place, stmt->target->at, RK_TOUCH_ADD);
    v = rk_operate(m->numbers, RK_OP_ADD, place.type, old, v, v);
    if (m->status == RUBUS_OK) {
        rk_spot_write(m, &place, stmt->target->at, RK_TOUCH_ADD, v);
    }
}

static void declare(rk_machine *m, const rk_stmt *stmt)
{
    const rk_decl *decl = stmt->decl;
    rk_value v = rk_zero(decl->type);
    if (stmt->value != NULL) {
        v = rk_evaluate(m, stmt->value);
        v = v.type == decl->type ? v : rk_convert(m->numbers, v, decl->type);
    }
    rk_points *p = &m->points;
    int64_t first = p->base + p->frame->offset[decl->number];
    int64_t n = decl->length != NULL ? decl->length_value : 1;
    for (int64_t k = 0; k < n; k++) {
        p->cell[first + k] = v;
    }
}

static flow loop(rk_machine *m, const rk_stmt *stmt)
{
    if (stmt->init != NULL) {
        (void)run(m, stmt->init);
    }
    while (m->status == RUBUS_OK) {
        if (stmt->cond != NULL && !rk_evaluate(m, stmt->cond).u.b) {
            break;
        }
        flow f = m->status == RUBUS_OK ? run(m, stmt->then) : RETURN;
        if (f == RETURN) {
            return f;
        }
        if (f == BREAK) {
            break;
        }
        if (stmt->step != NULL) {
            (void)run(m, stmt->step);
        }
    }
    return m->status == RUBUS_OK ? GO_ON : RETURN;
}

static flow block(rk_machine *m, const rk_stmt *stmt)
{
    for (int32_t k = 0; k < stmt->nbody; k++) {
        flow f = run(m, stmt->body[k]);
        if (f != GO_ON) {
            return f;
        }
    }
    return GO_ON;
}

static flow branch(rk_machine *m, const rk_stmt *stmt)
{
    bool holds = rk_evaluate(m, stmt->cond).u.b;
    if (m->status != RUBUS_OK) {
        return RETURN;
    }
    const rk_stmt *taken = holds ? stmt->then : stmt->other;
    return taken == NULL ? GO_ON : run(m, taken);
}

static flow run(rk_machine *m, const rk_stmt *stmt)
{
    switch (stmt->kind) {
    case RK_STMT_BLOCK:
        return block(m, stmt);
    case RK_STMT_IF:
        return branch(m, stmt);
    case RK_STMT_WHILE:
    case RK_STMT_FOR:
        return loop(m, stmt);
    case RK_STMT_BREAK:
        return BREAK;
    case RK_STMT_CONTINUE:
        return CONTINUE;
    case RK_STMT_RETURN:
        if (stmt->value != NULL) {
            m->points.result = rk_evaluate(m, stmt->value);
        }
        return RETURN;
    case RK_STMT_ASSIGN:
        assign(m, stmt);
        break;
    case RK_STMT_ATOMIC:
        add_atomically(m, stmt);
        break;
    case RK_STMT_DECL:
        declare(m, stmt);
        break;
    case RK_STMT_LET: /* stands in whole-array kernels only */
        break;
    }
    return m->status == RUBUS_OK ? GO_ON : RETURN;
}

/* --- calls ------------------------------------------------------------------------ */

rk_value rk_frame_run(rk_machine *m, const rk_body *body, int64_t base)
{
    rk_points *p = &m->points;
    const rk_body *caller = p->frame;
    int64_t caller_base = p->base;
    p->frame = body;
    p->base = base;
    p->result = rk_zero(body->decl->type);
    if (m->status == RUBUS_OK) {
        (void)run(m, body->decl->body);
    }
    p->frame = caller;
    p->base = caller_base;
    p->top = base;
    rk_value v = m->status == RUBUS_OK ? p->result : rk_zero(body->decl->type);
    return v.type == body->decl->type ? v : rk_convert(m->numbers, v, body->decl->type);
}

rk_value rk_points_call(rk_machine *m, const rk_decl *func, const rk_value *arg)
{
    const rk_body *body;
    int64_t base;
    if (!rk_frame_open(m, func, &body, &base)) {
        return rk_zero(func->type);
    }
    for (int32_t k = 0; k < func->nparam; k++) {
        rk_value v = arg[k];
        rk_type want = func->param[k]->type;
        m->points.cell[base + k] = v.type == want ? v : rk_convert(m->numbers, v, want);
    }
    return rk_frame_run(m, body, base);
}

/* --- the sweep -------------------------------------------------------------------- */

static rubus_status make_shadows(rk_machine *m)
{
    const rk_decl *decl = m->kernel->decl;
    for (int32_t k = 0; m->program->unit->check && k < decl->nparam; k++) {
        rk_operand *array = &m->operand[k];
        if (array->rank == 0 || decl->param[k]->mode == RK_MODE_IN ||
            decl->param[k]->mode == RK_MODE_NONE) {
            continue;
        }
        rubus_status st = rk_shadow_create(array->count, &array->shadow);
        if (st != RUBUS_OK) {
            return st;
        }
    }
    return RUBUS_OK;
}

rubus_status rk_points_run(rk_machine *m)
{
    rk_points *p = &m->points;
    int32_t ndim = m->kernel->decl->nindex;
    for (int32_t d = 0; d < 3; d++) {
        if (d >= ndim) {
            m->lo[d] = 0;
            m->hi[d] = 1;
        } else if (m->hi[d] <= m->lo[d]) {
            return RUBUS_OK;
        }
    }
    rubus_status st = make_shadows(m);
    const rk_body *body;
    int64_t base;
    if (st != RUBUS_OK || !rk_frame_open(m, m->kernel->decl, &body, &base)) {
        return st != RUBUS_OK ? st : m->status;
    }
    int64_t top = p->top;
    for (p->at[2] = m->lo[2]; p->at[2] < m->hi[2]; p->at[2]++) {
        for (p->at[1] = m->lo[1]; p->at[1] < m->hi[1]; p->at[1]++) {
            for (p->at[0] = m->lo[0]; p->at[0] < m->hi[0]; p->at[0]++) {
                p->number++;
                p->top = top;
                (void)rk_frame_run(m, body, base);
                p->top = top;
                if (m->status != RUBUS_OK) {
                    return m->status;
                }
            }
        }
    }
    return RUBUS_OK;
}
