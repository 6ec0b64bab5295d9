/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes of a pass, hash-consed: equal nodes are one node, so a value that several
 * statements or several neighbours need is computed once.
 */
#include "config.h"

#include "libcore/kernel/lower.h"

#include <string.h>

uint32_t rk_mix(uint32_t h, uint64_t v)
{
    h = (h ^ (uint32_t)v) * 0x9E3779B1u;
    h = (h ^ (uint32_t)(v >> 32)) * 0x85EBCA77u;
    return h ^ (h >> 15);
}

uint32_t rk_mix_affine(uint32_t h, rk_affine a)
{
    h = rk_mix(h, (uint64_t)a.constant);
    for (int32_t i = 0; i < a.nterm; i++) {
        h = rk_mix(h, (uint64_t)a.term[i].symbol);
        h = rk_mix(h, (uint64_t)a.term[i].coef);
    }
    return h;
}

static uint64_t value_bits(rk_value v)
{
    uint64_t bits = 0;
    if (v.type == RK_REAL) {
        memcpy(&bits, &v.u.real, sizeof(bits));
    } else if (v.type == RK_INT) {
        bits = (uint64_t)v.u.i;
    } else {
        bits = v.u.b ? 1 : 0;
    }
    return bits;
}

static uint32_t node_hash(const rk_ir *n)
{
    uint32_t h = rk_mix(rk_mix(7u, (uint64_t)n->kind), (uint64_t)n->type);
    h = rk_mix(rk_mix(h, (uint64_t)n->op), (uint64_t)n->param);
    h = rk_mix(rk_mix(h, (uint64_t)n->axis), value_bits(n->value));
    h = rk_mix_affine(h, n->affine);
    h = rk_mix(h, (uint64_t)(uintptr_t)n->func);
    for (int32_t d = 0; d < 3; d++) {
        h = rk_mix(h, (uint64_t)n->at[d].axis);
        h = rk_mix_affine(h, n->at[d].off);
        if (n->box.bounded[d]) {
            h = rk_mix_affine(rk_mix_affine(h, n->box.lo[d]), n->box.hi[d]);
        }
    }
    h = rk_mix(h, n->a == NULL ? 0u : (uint64_t)n->a->id + 1u);
    h = rk_mix(h, n->b == NULL ? 0u : (uint64_t)n->b->id + 1u);
    h = rk_mix(h, n->c == NULL ? 0u : (uint64_t)n->c->id + 1u);
    for (int32_t i = 0; i < n->narg; i++) {
        h = rk_mix(h, (uint64_t)n->arg[i]->id);
    }
    return h;
}

static bool node_equal(const rk_ir *x, const rk_ir *y)
{
    if (x->kind != y->kind || x->type != y->type || x->op != y->op ||
        x->param != y->param || x->axis != y->axis || x->func != y->func ||
        x->a != y->a || x->b != y->b || x->c != y->c || x->narg != y->narg ||
        value_bits(x->value) != value_bits(y->value) ||
        !rk_affine_equal(x->affine, y->affine) || !rk_at_equal(x->at, y->at, 3) ||
        !rk_box_equal(&x->box, &y->box)) {
        return false;
    }
    for (int32_t i = 0; i < x->narg; i++) {
        if (x->arg[i] != y->arg[i]) {
            return false;
        }
    }
    return true;
}

static void table_insert(rk_lower *lower, rk_ir *node, uint32_t hash)
{
    uint32_t slot = hash & (uint32_t)(lower->table_room - 1);
    while (lower->table[slot] != NULL) {
        slot = (slot + 1u) & (uint32_t)(lower->table_room - 1);
    }
    lower->table[slot] = node;
    lower->hash[slot] = hash;
}

static void table_grow(rk_lower *lower)
{
    rk_ir **table = lower->table;
    uint32_t *hash = lower->hash;
    const int32_t room = lower->table_room;
    lower->table_room = room == 0 ? 256 : room * 2;
    lower->table = rk_new(lower->unit, (size_t)lower->table_room * sizeof(rk_ir *));
    lower->hash = rk_new(lower->unit, (size_t)lower->table_room * sizeof(uint32_t));
    for (int32_t i = 0; i < room; i++) {
        if (table[i] != NULL) {
            table_insert(lower, table[i], hash[i]);
        }
    }
}

/* The node equal to *draft, made if there is none. */
rk_ir rk_node_draft(rk_ir_kind kind, rk_type type, rk_span at)
{
    rk_ir draft;
    memset(&draft, 0, sizeof(draft));
    draft.kind = kind;
    draft.type = type;
    draft.at_source = at;
    draft.param = -1;
    draft.axis = -1;
    for (int32_t d = 0; d < 3; d++) {
        draft.at[d].axis = -1;
    }
    return draft;
}

rk_ir *rk_node_get(rk_lower *lower, const rk_ir *draft)
{
    if (lower->nnode * 2 >= lower->table_room) {
        table_grow(lower);
    }
    const uint32_t hash = node_hash(draft);
    uint32_t slot = hash & (uint32_t)(lower->table_room - 1);
    while (lower->table[slot] != NULL) {
        if (lower->hash[slot] == hash && node_equal(lower->table[slot], draft)) {
            return lower->table[slot];
        }
        slot = (slot + 1u) & (uint32_t)(lower->table_room - 1);
    }
    rk_spend(lower->unit, RK_STEPS_OF(sizeof(rk_ir)), draft->at_source);
    rk_ir *node = RK_NEW(lower->unit, rk_ir);
    *node = *draft;
    node->id = lower->nnode;
    rk_room(lower->unit, (void **)&lower->node, &lower->node_room, lower->nnode,
            sizeof(rk_ir *));
    lower->node[lower->nnode++] = node;
    table_insert(lower, node, hash);
    return node;
}
