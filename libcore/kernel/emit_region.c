/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts a pass into interior and rest. Collects the boxes that its actions and guards
 * speak of, tells bulk from thin, and works out where each value of the DAG is needed:
 * a load may be made only where its element exists, while arithmetic may run anywhere,
 * so the general text is flat and its size linear, without one nested branch.
 */
#include "config.h"

#include <string.h>

#include "libcore/kernel/emit.h"
#include "libcore/kernel/lower.h"

#define THIN_MOST 8 /* points across a box that may count as thin */

/* --- boxes ------------------------------------------------------------------------- */

static int32_t box_number(rk_region *r, const rk_box *box)
{
    for (int32_t i = 0; i < r->nbox; i++) {
        if (rk_box_equal(&r->box[i], box)) {
            return i;
        }
    }
    r->box[r->nbox] = *box;
    return r->nbox++;
}

/* Is the box only a few points wide along the axis, for every size of the arrays? */
static bool narrow(const rk_region *r, const rk_box *box, int axis)
{
    if (!box->bounded[axis]) {
        return false;
    }
    int64_t width = 0;
    const rk_affine size = rk_affine_add(r->unit, box->hi[axis], -1, box->lo[axis]);
    return rk_affine_is_const(size, &width) && width <= THIN_MOST;
}

static void find_boxes(rk_region *r)
{
    const rk_pass *pass = r->pass;
    const size_t most = (size_t)pass->naction + (size_t)pass->nnode + 1u;
    r->box = rk_new(r->unit, most * sizeof(rk_box));
    r->thin = rk_new(r->unit, most);
    r->thin_x = rk_new(r->unit, most);
    r->action_box = rk_new(r->unit, most * sizeof(int32_t));
    r->guard_box = rk_new(r->unit, most * sizeof(int32_t));
    r->fold_box = -1;
    for (int32_t i = 0; i < pass->naction; i++) {
        r->action_box[i] = box_number(r, &pass->action[i].box);
        if (pass->action[i].kind == RK_ACTION_FOLD) {
            r->fold_box = r->action_box[i];
        }
    }
    bool wide[3] = {false, false, false};
    for (int32_t i = 0; i < r->nbox; i++) {
        for (int axis = 0; axis < 3; axis++) {
            wide[axis] = wide[axis] || !narrow(r, &r->box[i], axis);
        }
    }
    r->plain = r->nbox == 1;
    for (int32_t i = 0; i < pass->nnode; i++) {
        r->guard_box[i] = -1;
        if (pass->node[i]->kind == RK_IR_GUARD) {
            r->guard_box[i] = box_number(r, &pass->node[i]->box);
            r->plain = false;
        }
    }
    bool bulk = false;
    for (int32_t i = 0; i < r->nbox; i++) {
        for (int axis = 0; axis < 3; axis++) {
            r->thin[i] = r->thin[i] || (wide[axis] && narrow(r, &r->box[i], axis));
        }
        r->thin_x[i] = wide[0] && narrow(r, &r->box[i], 0);
    }
    for (int32_t i = 0; i < pass->naction; i++) {
        bulk = bulk || !r->thin[r->action_box[i]];
    }
    if (r->fold_box >= 0) {
        r->thin[r->fold_box] = false; /* the sweep follows it */
    }
    if (!bulk) {
        memset(r->thin, 0, (size_t)r->nbox);
    }
}

/* --- what is the same everywhere --------------------------------------------------- */

static bool is_uniform(const rk_region *r, const rk_ir *node)
{
    switch (node->kind) {
    case RK_IR_CONST:
    case RK_IR_SCALAR:
    case RK_IR_AFFINE:
        return true;
    case RK_IR_APPLY:
        return (node->a == NULL || r->uniform[node->a->id]) &&
               (node->b == NULL || r->uniform[node->b->id]) &&
               (node->c == NULL || r->uniform[node->c->id]);
    case RK_IR_CALL: {
        bool same = true;
        for (int32_t i = 0; i < node->narg; i++) {
            same = same && r->uniform[node->arg[i]->id];
        }
        return same && rk_func_is_straight(node->func);
    }
    default:
        return false;
    }
}

/* A condition of scalars is the same everywhere, whatever it calls. */
static void mark_uniform(rk_region *r, const rk_ir *node)
{
    if (node == NULL || r->uniform[node->id]) {
        return;
    }
    r->uniform[node->id] = true;
    mark_uniform(r, node->a);
    mark_uniform(r, node->b);
    mark_uniform(r, node->c);
    for (int32_t i = 0; i < node->narg; i++) {
        mark_uniform(r, node->arg[i]);
    }
}

static void find_uniform(rk_region *r)
{
    const rk_pass *pass = r->pass;
    r->uniform = rk_new(r->unit, (size_t)pass->nnode + 1u);
    for (int32_t i = 0; i < pass->naction; i++) {
        mark_uniform(r, pass->action[i].cond);
    }
    for (int32_t i = 0; i < pass->nnode; i++) {
        r->uniform[i] = r->uniform[i] || is_uniform(r, pass->node[i]);
    }
}

static const rk_ir *without_not(const rk_ir *cond, bool *out_negated)
{
    *out_negated = false;
    while (cond->kind == RK_IR_APPLY && cond->op == RK_OP_NOT) {
        *out_negated = !*out_negated;
        cond = cond->a;
    }
    return cond;
}

static void find_choice(rk_region *r)
{
    bool several = false;
    for (int32_t i = 0; i < r->pass->naction; i++) {
        if (r->pass->action[i].cond != NULL) {
            bool negated;
            const rk_ir *cond = without_not(r->pass->action[i].cond, &negated);
            several = several || (r->choice != NULL && r->choice != cond);
            r->choice = cond;
        }
    }
    if (several || (r->choice != NULL && r->choice->kind == RK_IR_CONST)) {
        r->choice = NULL;
    }
}

const rk_ir *rk_region_interior(const rk_region *r, const rk_ir *node, bool choice)
{
    for (;;) {
        if (node->kind == RK_IR_GUARD) {
            node = r->thin[r->guard_box[node->id]] ? node->b : node->a;
        } else if (r->choice != NULL && node->kind == RK_IR_APPLY &&
                   node->op == RK_OP_SELECT) {
            bool negated;
            if (without_not(node->a, &negated) != r->choice) {
                return node;
            }
            node = choice != negated ? node->b : node->c;
        } else {
            return node;
        }
    }
}

bool rk_region_active(const rk_region *r, int32_t action, bool choice, bool *out_test)
{
    const rk_ir *cond = r->pass->action[action].cond;
    *out_test = false;
    if (r->thin[r->action_box[action]]) {
        return false;
    }
    if (cond == NULL) {
        return true;
    }
    bool negated;
    if (without_not(cond, &negated) == r->choice) {
        return choice != negated;
    }
    *out_test = true;
    return true;
}

/* --- where values are needed ------------------------------------------------------- */

static int32_t when_number(rk_region *r, rk_when_kind kind, int32_t a, int32_t b,
                           const rk_ir *node)
{
    for (int32_t i = r->nwhen - 1; i >= 0; i--) {
        const rk_when *w = &r->when[i];
        if (w->kind == kind && w->a == a && w->b == b && w->node == node) {
            return i;
        }
    }
    rk_spend(r->unit, 4 + r->nwhen / 16, r->kernel->decl->at);
    rk_room(r->unit, (void **)&r->when, &r->when_room, r->nwhen, sizeof(rk_when));
    const rk_when fresh = {kind, a, b, node, false};
    r->when[r->nwhen] = fresh;
    return r->nwhen++;
}

/* Is condition `part` one of those that `whole` joins by AND? */
static bool implies(const rk_region *r, int32_t whole, int32_t part)
{
    while (whole != part) {
        const rk_when *w = &r->when[whole];
        if (w->kind != RK_WHEN_AND) {
            return false;
        }
        if (w->b == part) {
            return true;
        }
        whole = w->a;
    }
    return true;
}

static int32_t when_and(rk_region *r, int32_t a, int32_t b)
{
    if (a == 0 || b == 0) {
        return 0; /* never */
    }
    return implies(r, a, b) ? a : when_number(r, RK_WHEN_AND, a, b, NULL);
}

static int32_t when_or(rk_region *r, int32_t a, int32_t b)
{
    if (a == 0 || implies(r, a, b)) {
        return b;
    }
    if (b == 0 || implies(r, b, a)) {
        return a;
    }
    const rk_when *w = &r->when[a];
    if (w->kind == RK_WHEN_OR && (w->a == b || w->b == b)) {
        return a;
    }
    return when_number(r, RK_WHEN_OR, a, b, NULL);
}

static void need(rk_region *r, const rk_ir *node, int32_t when)
{
    if (node != NULL) {
        r->node_when[node->id] = when_or(r, r->node_when[node->id], when);
    }
}

static void mark_used(rk_region *r, int32_t when)
{
    rk_when *w = &r->when[when];
    if (w->used) {
        return;
    }
    w->used = true;
    if (w->kind == RK_WHEN_AND || w->kind == RK_WHEN_OR) {
        mark_used(r,
                  w->a); /* both were made before w: the depth is bounded by the budget */
        mark_used(r, w->b);
    }
}

static void need_operands(rk_region *r, const rk_ir *node)
{
    const int32_t when = r->node_when[node->id];
    if (node->kind == RK_IR_GUARD) {
        const int32_t box = r->guard_box[node->id];
        need(r, node->a, when_and(r, when, when_number(r, RK_WHEN_IN, box, 0, NULL)));
        need(r, node->b, when_and(r, when, when_number(r, RK_WHEN_OUT, box, 0, NULL)));
        return;
    }
    need(r, node->a, when);
    need(r, node->b, when);
    need(r, node->c, when);
    for (int32_t i = 0; i < node->narg; i++) {
        need(r, node->arg[i], when);
    }
}

static void find_needs(rk_region *r)
{
    const rk_pass *pass = r->pass;
    r->node_when = rk_new(r->unit, ((size_t)pass->nnode + 1u) * sizeof(int32_t));
    r->action_when = rk_new(r->unit, ((size_t)pass->naction + 1u) * sizeof(int32_t));
    (void)when_number(r, RK_WHEN_NEVER, 0, 0, NULL);
    for (int32_t i = 0; i < pass->naction; i++) {
        int32_t when = when_number(r, RK_WHEN_IN, r->action_box[i], 0, NULL);
        if (pass->action[i].cond != NULL) {
            const rk_ir *cond = pass->action[i].cond;
            when = when_and(r, when, when_number(r, RK_WHEN_COND, cond->id, 0, cond));
        }
        r->action_when[i] = when;
        mark_used(r, when);
        need(r, pass->action[i].value, when);
    }
    for (int32_t i = pass->nnode - 1; i >= 0; i--) {
        const rk_ir *node = pass->node[i];
        if (r->node_when[i] == 0 || r->uniform[i]) {
            continue;
        }
        need_operands(r, node);
        if (node->kind == RK_IR_LOAD || node->kind == RK_IR_CALL) {
            mark_used(r, r->node_when[i]);
        }
    }
}

void rk_region_build(rk_unit *unit, const rk_kernel *kernel, const rk_pass *pass,
                     rk_region *out_region)
{
    rk_region *r = out_region;
    memset(r, 0, sizeof(*r));
    r->unit = unit;
    r->kernel = kernel;
    r->pass = pass;
    find_boxes(r);
    find_uniform(r);
    find_choice(r);
    find_needs(r);
}
