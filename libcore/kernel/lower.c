/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering: the value of a field at one point, as a DAG of scalar operations.
 *
 * A field is followed down to arrays while a position (one affine subscript per
 * dimension) is carried along: slices add to it, lifted dimensions drop out of it, pads
 * put a GUARD around. Equal nodes are one node, so a value that several statements or
 * several neighbours need is computed once. Loads of what the pass itself wrote at the
 * same point become the value written.
 */
#include "config.h"

#include "libcore/kernel/lower.h"

#include <string.h>

typedef struct rk_memo {
    const rk_field *field; /* NULL: free */
    const rk_chain *chain;
    rk_at at[3];
    rk_ir *node;
} rk_memo;

void rk_room(rk_unit *unit, void **array, int32_t *room, int32_t n, size_t size)
{
    if (n < *room) {
        return;
    }
    const int32_t larger = *room == 0 ? 16 : *room * 2;
    void *fresh = rk_new(unit, (size_t)larger * size);
    if (n > 0) {
        memcpy(fresh, *array, (size_t)n * size);
    }
    *array = fresh;
    *room = larger;
}

void rk_lower_init(rk_lower *lower, rk_work *work, rk_pass *pass)
{
    memset(lower, 0, sizeof(*lower));
    lower->work = work;
    lower->unit = work->unit;
    lower->pass = pass;
}

void rk_lower_statement(rk_lower *lower)
{
    lower->nread = 0;
    lower->nmemo = 0;
    if (lower->memo != NULL) {
        memset(lower->memo, 0, (size_t)lower->memo_room * sizeof(rk_memo));
    }
}

bool rk_at_equal(const rk_at *a, const rk_at *b, int32_t rank)
{
    for (int32_t d = 0; d < rank; d++) {
        if (a[d].axis != b[d].axis || !rk_affine_equal(a[d].off, b[d].off)) {
            return false;
        }
    }
    return true;
}

bool rk_box_equal(const rk_box *a, const rk_box *b)
{
    for (int32_t d = 0; d < 3; d++) {
        if (a->bounded[d] != b->bounded[d]) {
            return false;
        }
        if (a->bounded[d] && (!rk_affine_equal(a->lo[d], b->lo[d]) ||
                              !rk_affine_equal(a->hi[d], b->hi[d]))) {
            return false;
        }
    }
    return true;
}

const rk_chain *rk_lower_chain(rk_lower *lower, const rk_chain *outer, const rk_box *box)
{
    for (int32_t i = 0; i < lower->nchain; i++) {
        const rk_chain *chain = lower->chain[i];
        if (chain->outer == outer && rk_box_equal(&chain->box, box)) {
            return chain;
        }
    }
    rk_spend(lower->unit, 16, lower->work->decl->at);
    rk_room(lower->unit, (void **)&lower->chain, &lower->chain_room, lower->nchain,
            sizeof(rk_chain *));
    rk_chain *chain = RK_NEW(lower->unit, rk_chain);
    chain->outer = outer;
    chain->box = *box;
    chain->length = outer == NULL ? 1 : outer->length + 1;
    lower->chain[lower->nchain++] = chain;
    return chain;
}

bool rk_chain_inside(const rk_work *work, const rk_chain *chain, const rk_box *box)
{
    for (int32_t d = 0; d < 3; d++) {
        if (!box->bounded[d]) {
            continue;
        }
        bool low = false;
        bool high = false;
        for (const rk_chain *c = chain; c != NULL; c = c->outer) {
            if (!c->box.bounded[d]) {
                continue;
            }
            rk_unit *unit = work->unit;
            rk_affine above = rk_affine_add(unit, c->box.lo[d], -1, box->lo[d]);
            rk_affine below = rk_affine_add(unit, box->hi[d], -1, c->box.hi[d]);
            low = low || rk_affine_sign(work->symbol, above) >= 0;
            high = high || rk_affine_sign(work->symbol, below) >= 0;
        }
        if (!low || !high) {
            return false;
        }
    }
    return true;
}

/* --- nodes ------------------------------------------------------------------------ */

static rk_ir *int_node(rk_lower *lower, rk_affine affine, rk_span at)
{
    int64_t constant = 0;
    rk_ir draft = rk_node_draft(RK_IR_AFFINE, RK_INT, at);
    if (rk_affine_is_const(affine, &constant)) {
        draft.kind = RK_IR_CONST;
        draft.value.type = RK_INT;
        draft.value.u.i = constant;
        draft.value = rk_convert(&lower->unit->numbers, draft.value, RK_INT);
    } else {
        draft.affine = affine;
    }
    return rk_node_get(lower, &draft);
}

rk_ir *rk_lower_convert(rk_lower *lower, rk_ir *value, rk_type type)
{
    if (value->type == type || type == RK_VOID || type != RK_REAL ||
        value->type != RK_INT) {
        return value;
    }
    if (value->kind == RK_IR_CONST) {
        rk_ir draft = rk_node_draft(RK_IR_CONST, RK_REAL, value->at_source);
        draft.value = rk_convert(&lower->unit->numbers, value->value, RK_REAL);
        return rk_node_get(lower, &draft);
    }
    rk_ir draft = rk_node_draft(RK_IR_APPLY, RK_REAL, value->at_source);
    draft.op = RK_OP_TO_REAL;
    draft.a = value;
    return rk_node_get(lower, &draft);
}

/* --- arrays: loads, and what the pass itself wrote -------------------------------- */

static void read_add(rk_lower *lower, const rk_field *field, const rk_at *at,
                     const rk_chain *chain)
{
    for (int32_t i = 0; i < lower->nread; i++) {
        const rk_read *r = &lower->read[i];
        if (r->param == field->param && r->when == field->when && r->chain == chain &&
            rk_at_equal(r->at, at, field->rank)) {
            return;
        }
    }
    rk_spend(lower->unit, 1 + lower->nread / 16, field->at);
    rk_room(lower->unit, (void **)&lower->read, &lower->read_room, lower->nread,
            sizeof(rk_read));
    rk_read *r = &lower->read[lower->nread++];
    memset(r, 0, sizeof(*r));
    r->param = field->param;
    r->rank = field->rank;
    r->when = field->when;
    memcpy(r->at, at, (size_t)field->rank * sizeof(rk_at));
    for (int32_t d = field->rank; d < 3; d++) {
        r->at[d].axis = -1;
    }
    r->chain = chain;
    r->at_source = field->at;
}

static rk_ir *lower_array(rk_lower *lower, const rk_field *field, const rk_at *at,
                          const rk_chain *chain)
{
    read_add(lower, field, at, chain);
    rk_ir draft = rk_node_draft(RK_IR_LOAD, field->type, field->at);
    draft.param = field->param;
    memcpy(draft.at, at, (size_t)field->rank * sizeof(rk_at));
    rk_ir *result = rk_node_get(lower, &draft);
    const int32_t naction = lower->pass == NULL ? 0 : lower->pass->naction;
    for (int32_t i = 0; i < naction; i++) {
        const rk_action *t = &lower->pass->action[i];
        if (t->kind != RK_ACTION_STORE || t->param != field->param ||
            t->item >= field->when || !rk_at_equal(t->at, at, field->rank)) {
            continue;
        }
        rk_ir *written = t->value;
        if (t->cond != NULL) {
            rk_ir select = rk_node_draft(RK_IR_APPLY, field->type, field->at);
            select.op = RK_OP_SELECT;
            select.a = t->cond;
            select.b = written;
            select.c = result;
            written = rk_node_get(lower, &select);
        }
        if (!rk_chain_inside(lower->work, chain, &t->box)) {
            rk_ir guard = rk_node_draft(RK_IR_GUARD, field->type, field->at);
            guard.box = t->box;
            guard.a = written;
            guard.b = result;
            written = rk_node_get(lower, &guard);
        }
        result = written;
    }
    return result;
}

/* --- fields ----------------------------------------------------------------------- */

static rk_ir *lower_any(rk_lower *lower, const rk_field *field, const rk_at *at,
                        const rk_chain *chain);

static rk_ir *lower_slice(rk_lower *lower, const rk_field *field, const rk_at *at,
                          const rk_chain *chain)
{
    rk_at inner[3];
    memset(inner, 0, sizeof(inner));
    int32_t next = 0;
    for (int32_t d = 0; d < field->a->rank; d++) {
        if (field->sub[d].keep) {
            inner[d].axis = at[next].axis;
            inner[d].off = rk_affine_add(lower->unit, at[next].off, 1, field->sub[d].lo);
            next++;
        } else {
            inner[d].axis = -1;
            inner[d].off = field->sub[d].lo;
        }
    }
    return rk_lower_field(lower, field->a, inner, chain);
}

/* A pad at a fixed position along dimension d: 1 inside, 0 outside. */
static bool fixed_inside(rk_lower *lower, const rk_field *field, int32_t d, rk_affine pos)
{
    rk_work *work = lower->work;
    rk_unit *unit = lower->unit;
    const rk_affine last = rk_affine_add(
        unit, rk_affine_add(unit, field->a->size[d], 1, rk_affine_int(-1)), -1, pos);
    const rk_affine before = rk_affine_add(unit, rk_affine_int(-1), -1, pos);
    const rk_affine after = rk_affine_add(unit, pos, -1, field->a->size[d]);
    if (rk_affine_sign(work->symbol, before) >= 0 ||
        rk_affine_sign(work->symbol, after) >= 0) {
        return false;
    }
    if (rk_affine_sign(work->symbol, pos) < 0 && !rk_affine_is_const(pos, NULL)) {
        rk_error(unit, RK_PAD_INDEX, field->at,
                 "take a slice of the field itself, or use a per-point kernel",
                 "index %s into a padded field: it is not known whether it lies inside",
                 rk_affine_text(unit, work->symbol, pos));
        return false;
    }
    if (rk_affine_sign(work->symbol, last) < 0) {
        rk_check check = {RK_CHECK_LARGE, field->at, last, rk_affine_int(0),
                          "the padded field must reach this index"};
        rk_work_add_check(work, check);
    }
    return true;
}

static rk_ir *lower_pad(rk_lower *lower, const rk_field *field, const rk_at *at,
                        const rk_chain *chain)
{
    rk_at inner[3];
    rk_box box;
    memset(&box, 0, sizeof(box));
    bool guarded = false;
    bool outside = false;
    for (int32_t d = 0; d < field->rank; d++) {
        inner[d].axis = at[d].axis;
        inner[d].off =
            rk_affine_add(lower->unit, at[d].off, 1, rk_affine_int(-field->before[d]));
        if (field->a->any[d] || (field->before[d] == 0 && field->after[d] == 0)) {
            continue;
        }
        if (at[d].axis < 0) {
            outside = outside || !fixed_inside(lower, field, d, inner[d].off);
            continue;
        }
        guarded = true;
        box.bounded[at[d].axis] = true;
        box.lo[at[d].axis] = rk_affine_scale(lower->unit, inner[d].off, -1);
        box.hi[at[d].axis] =
            rk_affine_add(lower->unit, field->a->size[d], -1, inner[d].off);
    }
    const rk_at nowhere = {0}; // the border is a scalar
    rk_ir *value = rk_lower_field(lower, field->b, &nowhere, chain);
    value = rk_lower_convert(lower, value, field->type);
    if (outside) {
        return value;
    }
    if (!guarded || rk_chain_inside(lower->work, chain, &box)) {
        return rk_lower_convert(lower, rk_lower_field(lower, field->a, inner, chain),
                                field->type);
    }
    const rk_chain *longer = rk_lower_chain(lower, chain, &box);
    rk_ir draft = rk_node_draft(RK_IR_GUARD, field->type, field->at);
    draft.box = box;
    draft.a = rk_lower_convert(lower, rk_lower_field(lower, field->a, inner, longer),
                               field->type);
    draft.b = value;
    return draft.a == draft.b ? value : rk_node_get(lower, &draft);
}

static rk_ir *lower_apply(rk_lower *lower, const rk_field *field, const rk_at *at,
                          const rk_chain *chain)
{
    const rk_field *operand[3] = {field->a, field->b, field->c};
    rk_type type[3] = {RK_VOID, RK_VOID, RK_VOID};
    rk_ir *node[3] = {NULL, NULL, NULL};
    for (int32_t i = 0; i < 3; i++) {
        if (operand[i] != NULL) {
            node[i] = rk_lower_field(lower, operand[i], at, chain);
            type[i] = node[i]->type;
        }
    }
    rk_ir draft = rk_node_draft(RK_IR_APPLY, field->type, field->at);
    draft.op = field->op;
    for (int32_t i = 0; i < 3; i++) {
        if (node[i] != NULL) {
            const rk_type want =
                rk_op_operand_type(field->op, i, type[0], type[1], type[2]);
            node[i] = rk_lower_convert(lower, node[i], want);
        }
    }
    draft.a = node[0];
    draft.b = node[1];
    draft.c = node[2];
    return rk_node_get(lower, &draft);
}

static rk_ir *lower_call(rk_lower *lower, const rk_field *field, const rk_at *at,
                         const rk_chain *chain)
{
    rk_ir draft = rk_node_draft(RK_IR_CALL, field->type, field->at);
    draft.func = field->func;
    draft.narg = field->narg;
    draft.arg = rk_new(lower->unit, (size_t)field->narg * sizeof(rk_ir *));
    for (int32_t i = 0; i < field->narg; i++) {
        rk_ir *arg = rk_lower_field(lower, field->arg[i], at, chain);
        draft.arg[i] = rk_lower_convert(lower, arg, field->func->param[i]->type);
    }
    return rk_node_get(lower, &draft);
}

static rk_ir *lower_leaf(rk_lower *lower, const rk_field *field, const rk_at *at)
{
    rk_ir draft = rk_node_draft(RK_IR_CONST, field->type, field->at);
    if (field->kind == RK_FIELD_CONST) {
        draft.value = field->value;
        draft.type = field->value.type;
        return rk_node_get(lower, &draft);
    }
    if (field->kind == RK_FIELD_SCALAR) {
        draft.kind = RK_IR_SCALAR;
        draft.param = field->param;
        return rk_node_get(lower, &draft);
    }
    if (field->kind == RK_FIELD_SYMBOL) {
        return int_node(lower, field->affine, field->at);
    }
    const rk_at *pos = &at[field->axis]; /* RK_FIELD_COORD */
    if (pos->axis < 0) {
        return int_node(lower, pos->off, field->at);
    }
    draft.kind = RK_IR_COORD;
    draft.type = RK_INT;
    draft.axis = pos->axis;
    draft.affine = pos->off;
    return rk_node_get(lower, &draft);
}

static rk_ir *lower_any(rk_lower *lower, const rk_field *field, const rk_at *at,
                        const rk_chain *chain)
{
    switch (field->kind) {
    case RK_FIELD_CONST:
    case RK_FIELD_SCALAR:
    case RK_FIELD_SYMBOL:
    case RK_FIELD_COORD:
        return lower_leaf(lower, field, at);
    case RK_FIELD_ARRAY:
        return lower_array(lower, field, at, chain);
    case RK_FIELD_SLICE:
        return lower_slice(lower, field, at, chain);
    case RK_FIELD_LIFT: {
        rk_at inner[3];
        memset(inner, 0, sizeof(inner));
        int32_t next = 0;
        for (int32_t d = 0; d < field->rank; d++) {
            if (!field->lift[d]) {
                inner[next++] = at[d];
            }
        }
        return rk_lower_field(lower, field->a, inner, chain);
    }
    case RK_FIELD_PAD:
        return lower_pad(lower, field, at, chain);
    case RK_FIELD_APPLY:
        return lower_apply(lower, field, at, chain);
    case RK_FIELD_CALL:
        return lower_call(lower, field, at, chain);
    }
    return NULL;
}

/* Memo of the present statement; also bounds the work by the budget. */
static rk_memo *memo_find(rk_lower *lower, const rk_field *field, const rk_at *at,
                          const rk_chain *chain)
{
    uint32_t h = rk_mix(rk_mix(3u, (uint64_t)field->id), (uint64_t)(uintptr_t)chain);
    for (int32_t d = 0; d < field->rank; d++) {
        h = rk_mix_affine(rk_mix(h, (uint64_t)at[d].axis), at[d].off);
    }
    uint32_t slot = h & (uint32_t)(lower->memo_room - 1);
    for (;;) {
        rk_memo *m = &lower->memo[slot];
        if (m->field == NULL || (m->field == field && m->chain == chain &&
                                 rk_at_equal(m->at, at, field->rank))) {
            return m;
        }
        slot = (slot + 1u) & (uint32_t)(lower->memo_room - 1);
    }
}

static void memo_grow(rk_lower *lower)
{
    rk_memo *old = lower->memo;
    const int32_t room = lower->memo_room;
    lower->memo_room = room == 0 ? 256 : room * 2;
    lower->memo = rk_new(lower->unit, (size_t)lower->memo_room * sizeof(rk_memo));
    for (int32_t i = 0; i < room; i++) {
        if (old[i].field != NULL) {
            *memo_find(lower, old[i].field, old[i].at, old[i].chain) = old[i];
        }
    }
}

rk_ir *rk_lower_field(rk_lower *lower, const rk_field *field, const rk_at *at,
                      const rk_chain *chain)
{
    if (lower->nmemo * 2 >= lower->memo_room) {
        memo_grow(lower);
    }
    rk_memo *m = memo_find(lower, field, at, chain);
    if (m->field != NULL) {
        return m->node;
    }
    rk_spend(lower->unit, RK_STEPS_OF(3 * sizeof(rk_memo)), field->at);
    rk_ir *node = lower_any(lower, field, at, chain);
    if (lower->nmemo * 2 >= lower->memo_room) {
        memo_grow(lower);
    }
    m = memo_find(lower, field, at, chain); /* the table may have moved */
    if (m->field == NULL) {
        m->field = field;
        m->chain = chain;
        for (int32_t d = 0; d < field->rank; d++) {
            m->at[d] = at[d];
        }
        m->node = node;
        lower->nmemo++;
    }
    return node;
}
