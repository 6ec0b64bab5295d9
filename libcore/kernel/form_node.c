/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees of a form that are made, not read: coefficients of taps, factors of products.
 * Equal trees are one object, so they are compared by their addresses.
 */
#include "config.h"

#include "libcore/kernel/check.h"
#include "libcore/kernel/form_write.h"

#include <string.h>

rk_ir *rk_form_constant(rk_form *form, double value, rk_span at)
{
    rk_ir draft = rk_node_draft(RK_IR_CONST, RK_REAL, at);
    draft.value.type = RK_REAL;
    draft.value.u.real = value;
    return rk_node_get(form->lower, &draft);
}

bool rk_is_number(const rk_ir *node, double value)
{
    return node->kind == RK_IR_CONST && node->type == RK_REAL &&
           node->value.u.real >= value && node->value.u.real <= value;
}

bool rk_is_zero_guard(const rk_ir *node)
{
    return node->kind == RK_IR_GUARD && rk_is_number(node->b, 0);
}

rk_ir *rk_form_apply(rk_form *form, rk_op op, rk_span at, rk_ir *x, rk_ir *y, rk_ir *z)
{
    const rk_value none = {.type = RK_VOID};
    const bool known = x->kind == RK_IR_CONST && (y == NULL || y->kind == RK_IR_CONST) &&
                       (z == NULL || z->kind == RK_IR_CONST);
    if (known) {
        rk_ir draft = rk_node_draft(RK_IR_CONST, RK_REAL, at);
        draft.value = rk_apply(&form->unit->numbers, op, x->value,
                               y == NULL ? none : y->value, z == NULL ? none : z->value);
        draft.type = draft.value.type;
        return rk_node_get(form->lower, &draft);
    }
    rk_ir draft = rk_node_draft(RK_IR_APPLY, RK_REAL, at);
    draft.op = op;
    draft.a = x;
    draft.b = y;
    draft.c = z;
    return rk_node_get(form->lower, &draft);
}

rk_ir *rk_form_times(rk_form *form, rk_span at, rk_ir *a, rk_ir *b)
{
    return rk_is_number(a, 1)   ? b
           : rk_is_number(b, 1) ? a
                                : rk_form_apply(form, RK_OP_MUL, at, a, b, NULL);
}

rk_ir *rk_form_guarded(rk_form *form, const rk_ir *guard, rk_ir *a, rk_ir *b)
{
    rk_ir draft = *guard;
    draft.type = RK_REAL;
    draft.a = a;
    draft.b = b;
    draft.nuse = 0;
    draft.id = 0;
    return rk_node_get(form->lower, &draft);
}

/* a less the points along an axis, if that is a number. */
static bool less_extent(const rk_form *form, rk_affine a, int32_t axis, int64_t *out)
{
    const rk_symbol *symbol = form->work->symbol;
    if (a.nterm != 1 || a.term[0].coef != 1 ||
        strcmp(symbol[a.term[0].symbol].name, form->extent[axis]) != 0) {
        return false;
    }
    *out = a.constant;
    return true;
}

bool rk_form_box(const rk_form *form, const rk_box *box, int64_t lo[3], int64_t hi[3])
{
    for (int32_t d = 0; d < 3; d++) {
        lo[d] = 0;
        hi[d] = 0;
        if (box->bounded[d] && (!rk_affine_is_const(box->lo[d], &lo[d]) ||
                                !less_extent(form, box->hi[d], d, &hi[d]))) {
            return false;
        }
    }
    return true;
}

/* --- what a tree depends on -------------------------------------------------------- */

static void join(rk_traits *all, const rk_traits *one)
{
    all->axes |= one->axes;
    all->field = all->field || one->field;
    all->number = all->number || one->number;
    all->hard = all->hard || one->hard;
    const int64_t size = (int64_t)all->size + one->size;
    all->size = size < RK_TRAITS_SIZE ? (int32_t)size : RK_TRAITS_SIZE;
}

static rk_traits load_traits(const rk_form *form, const rk_ir *node)
{
    rk_traits t = {.size = 1};
    const rk_leaf *leaf = form->leaf[node->param];
    const int32_t rank = rk_leaf_rank(form, leaf);
    int32_t axis = 0;
    for (int32_t k = 0; k < rank; k++) {
        if (node->at[k].axis >= 0) {
            t.hard = t.hard || node->at[k].axis < axis ||
                     !rk_affine_is_const(node->at[k].off, NULL);
            axis = node->at[k].axis + 1;
        }
    }
    if (leaf->kind >= RK_LEAF_POINT && leaf->kind <= RK_LEAF_A && !t.hard &&
        (node->at[0].axis < 0 || node->at[0].axis == leaf->axis)) {
        t.axes = 1u << leaf->axis;
    } else {
        t.field = true;
    }
    return t;
}

static rk_traits find_traits(rk_form_traits *m, const rk_ir *node)
{
    rk_traits t = {.size = 1};
    if (node->kind == RK_IR_LOAD) {
        return load_traits(m->form, node);
    }
    if (node->kind == RK_IR_COORD) {
        t.axes = 1u << node->axis;
        t.field = !rk_affine_is_const(node->affine, NULL);
    }
    t.number = node->kind == RK_IR_SCALAR || node->kind == RK_IR_AFFINE;
    const rk_ir *part[3] = {node->a, node->b, node->c};
    for (int i = 0; i < 3 && part[i] != NULL; i++) {
        const rk_traits one = rk_form_traits_of(m, part[i]);
        join(&t, &one);
    }
    for (int32_t i = 0; i < node->narg; i++) {
        const rk_traits one = rk_form_traits_of(m, node->arg[i]);
        join(&t, &one);
    }
    if (node->kind == RK_IR_GUARD) {
        int64_t lo[3];
        int64_t hi[3];
        t.field = t.field || !rk_form_box(m->form, &node->box, lo, hi);
        for (int32_t d = 0; d < 3; d++) {
            t.axes |= node->box.bounded[d] ? 1u << d : 0;
        }
    }
    return t;
}

rk_traits rk_form_traits_of(rk_form_traits *m, const rk_ir *node)
{
    if (node->id >= m->n) {
        const int32_t n = m->form->lower->nnode * 2;
        rk_traits *memo = rk_new(m->form->unit, (size_t)n * sizeof(*memo));
        if (m->n > 0) {
            memcpy(memo, m->memo, (size_t)m->n * sizeof(*memo));
        }
        m->memo = memo;
        m->n = n;
    }
    if (m->memo[node->id].size == 0) {
        const rk_traits found = find_traits(m, node); // may move the memo
        m->memo[node->id] = found;
    }
    return m->memo[node->id];
}
