/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner: puts the statements of a whole-array kernel into passes, one after the
 * other.
 *
 * Each statement is lowered alone first, in its own coordinates, which gives its reads. A
 * statement joins the present pass if one shift per axis brings every access of it that
 * meets an access of the pass (one of the two being a write) to the same point; then it
 * is lowered again, shifted, among the nodes of the pass. Otherwise a new pass begins.
 * Nothing here changes a result; what cannot keep the meaning is an error.
 */
#include "config.h"

#include "libcore/kernel/planner.h"

#include <string.h>

/* --- a statement alone ------------------------------------------------------------ */

rk_box rk_item_box(rk_unit *unit, const rk_item *item, const rk_affine *shift)
{
    rk_box box;
    memset(&box, 0, sizeof(box));
    for (int32_t d = 0; d < item->rank; d++) {
        box.bounded[d] = true;
        box.lo[d] = shift[d];
        box.hi[d] = rk_affine_add(unit, item->size[d], 1, shift[d]);
    }
    return box;
}

/* Position of a statement's own point, in a pass to which it is shifted. */
static void item_position(rk_unit *unit, const rk_item *item, const rk_affine *shift,
                          rk_at *at)
{
    for (int32_t d = 0; d < 3; d++) {
        at[d].axis = d < item->rank ? d : -1;
        at[d].off =
            d < item->rank ? rk_affine_scale(unit, shift[d], -1) : rk_affine_int(0);
    }
}

static void item_target(rk_work *work, const rk_item *item, const rk_at *own,
                        rk_at *target)
{
    const int32_t rank =
        item->kind == RK_ITEM_ASSIGN ? work->decl->param[item->param]->rank : 0;
    int32_t next = 0;
    for (int32_t d = 0; d < 3; d++) {
        target[d].axis = -1;
        target[d].off = rk_affine_int(0);
        if (d >= rank) {
            continue;
        }
        if (item->target[d].keep) {
            target[d].axis = own[next].axis;
            target[d].off =
                rk_affine_add(work->unit, own[next].off, 1, item->target[d].lo);
            next++;
        } else {
            target[d].off = item->target[d].lo;
        }
    }
}

static void read_cond(rk_lower *lower, const rk_item *item, const rk_chain *chain)
{
    if (item->cond != NULL) {
        (void)rk_lower_field(lower, item->cond, NULL, chain);
    }
}

static void statement_learn(rk_planner *p, int32_t number, rk_statement *out)
{
    const rk_item *item = &p->work->item[number];
    const rk_affine zero[3] = {rk_affine_int(0), rk_affine_int(0), rk_affine_int(0)};
    rk_lower alone;
    rk_lower_init(&alone, p->work, NULL);
    const rk_box box = rk_item_box(p->unit, item, zero);
    const rk_chain *chain = rk_lower_chain(&alone, NULL, &box);
    rk_at own[3];
    item_position(p->unit, item, zero, own);
    (void)rk_lower_field(&alone, item->value, own, chain);
    read_cond(&alone, item, chain);
    out->item = number;
    out->read = alone.read;
    out->nread = alone.nread;
    out->box = chain;
    out->target_rank =
        item->kind == RK_ITEM_ASSIGN ? p->work->decl->param[item->param]->rank : 0;
    item_target(p->work, item, own, out->target);
}

const char *rk_planner_param(const rk_planner *p, int32_t param)
{
    return p->work->decl->param[param]->name;
}

/* "[i+1, j]" of an access */
static const char *offset_text(rk_planner *p, const rk_at *at, int32_t rank)
{
    static const char axis_name[3] = {'i', 'j', 'k'};
    rubus__arena *arena = p->unit->arena;
    const char *text = "[";
    for (int32_t d = 0; d < rank; d++) {
        const char *off = rk_affine_text(p->unit, p->work->symbol, at[d].off);
        const char *comma = d == 0 ? "" : ", ";
        if (at[d].axis < 0) {
            text = rubus__arena_format(arena, "%s%s%s", text, comma, off);
        } else if (strcmp(off, "0") == 0) {
            text =
                rubus__arena_format(arena, "%s%s%c", text, comma, axis_name[at[d].axis]);
        } else {
            text =
                rubus__arena_format(arena, "%s%s%c%s%s", text, comma,
                                    axis_name[at[d].axis], off[0] == '-' ? "" : "+", off);
        }
    }
    return rubus__arena_format(arena, "%s]", text);
}

/* Rule 2: a statement may not read what another point of it writes. Rule 6: where that
 * holds for large arrays only, the launch checks it. */
static void check_own_reads(rk_planner *p, const rk_statement *s)
{
    const rk_item *item = &p->work->item[s->item];
    for (int32_t i = 0; s->target_rank > 0 && i < s->nread; i++) {
        const rk_read *r = &s->read[i];
        if (r->param != item->param || rk_at_equal(r->at, s->target, r->rank)) {
            continue;
        }
        rk_affine gap = rk_affine_int(0);
        const rk_meeting m =
            rk_meet(p, s->target, s->box, r->at, r->chain, r->rank, &gap);
        if (m == RK_MEET) {
            const char *name = rk_planner_param(p, item->param);
            rk_error(p->unit, RK_RACE_IN_STATEMENT, r->at_source,
                     "write to a second array, or use a `let` and two statements",
                     "this statement writes %s%s and reads %s%s, which another of its "
                     "points writes",
                     name, offset_text(p, s->target, r->rank), name,
                     offset_text(p, r->at, r->rank));
            return;
        }
        if (m == RK_APART_IF_LARGE) {
            const char *name = rk_planner_param(p, item->param);
            const char *message = rubus__arena_format(
                p->unit->arena,
                "`%s` is too small: this statement would read elements of `%s` that it "
                "writes",
                name, name);
            const rk_check check = {RK_CHECK_LARGE, r->at_source, gap, rk_affine_int(0),
                                    message};
            rk_work_add_check(p->work, check);
        }
    }
}

/* --- building passes -------------------------------------------------------------- */

static void pass_begin(rk_planner *p, const rk_statement *s)
{
    const rk_item *item = &p->work->item[s->item];
    rk_room(p->unit, (void **)&p->plan->pass, &p->pass_room, p->plan->npass,
            sizeof(rk_pass));
    rk_pass *pass = &p->plan->pass[p->plan->npass++];
    memset(pass, 0, sizeof(*pass));
    pass->rank = item->rank;
    pass->access = rk_new(p->unit, (size_t)p->work->decl->nparam * sizeof(uint32_t) + 1);
    if (p->plan->npass > 1) {
        pass->why = p->why;
        pass->why_at = item->at;
        pass->why_other = p->why_other;
    }
    p->action_room = 0;
    p->first_item = s->item;
    rk_lower_init(&p->lower, p->work, pass);
}

static void pass_add(rk_planner *p, const rk_statement *s, const rk_affine *shift)
{
    const rk_item *item = &p->work->item[s->item];
    rk_pass *pass = &p->plan->pass[p->plan->npass - 1];
    p->lower.pass = pass;
    rk_lower_statement(&p->lower);
    rk_action action;
    memset(&action, 0, sizeof(action));
    action.kind = item->kind == RK_ITEM_ASSIGN ? RK_ACTION_STORE : RK_ACTION_FOLD;
    action.at_source = item->at;
    action.item = s->item;
    action.param = item->param;
    action.fold = item->fold;
    action.box = rk_item_box(p->unit, item, shift);
    rk_at own[3];
    item_position(p->unit, item, shift, own);
    item_target(p->work, item, own, action.at);
    const rk_chain *chain = rk_lower_chain(&p->lower, NULL, &action.box);
    action.value = rk_lower_field(&p->lower, item->value, own, chain);
    action.value = rk_lower_convert(&p->lower, action.value,
                                    p->work->decl->param[item->param]->type);
    if (item->cond != NULL) {
        action.cond = rk_lower_field(&p->lower, item->cond, NULL, chain);
    }
    for (int32_t i = 0; i < p->lower.nread; i++) {
        rk_access_add(p->work, p->plan, &p->access_room, &p->lower.read[i]);
    }
    if (action.kind == RK_ACTION_STORE) {
        const rk_read write = {item->param, s->target_rank,
                               s->item,     {action.at[0], action.at[1], action.at[2]},
                               chain,       item->at};
        rk_access_add(p->work, p->plan, &p->access_room, &write);
    } else {
        pass->nfold++;
    }
    rk_room(p->unit, (void **)&pass->action, &p->action_room, pass->naction,
            sizeof(rk_action));
    pass->action[pass->naction++] = action;
}

/* --- finishing a pass: live nodes, what it touches, what it costs ----------------- */

static void mark(rk_ir *node, int32_t *pending, rk_ir **stack)
{
    if (node != NULL && node->nuse++ == 0) {
        stack[(*pending)++] = node;
    }
}

static void pass_mark(rk_planner *p, rk_pass *pass)
{
    rk_ir **stack = rk_new(p->unit, ((size_t)p->lower.nnode + 1u) * sizeof(rk_ir *));
    int32_t pending = 0;
    for (int32_t i = 0; i < pass->naction; i++) {
        mark(pass->action[i].value, &pending, stack);
        mark(pass->action[i].cond, &pending, stack);
    }
    while (pending > 0) {
        rk_ir *node = stack[--pending];
        mark(node->a, &pending, stack);
        mark(node->b, &pending, stack);
        mark(node->c, &pending, stack);
        for (int32_t i = 0; i < node->narg; i++) {
            mark(node->arg[i], &pending, stack);
        }
    }
    pass->node = rk_new(p->unit, ((size_t)p->lower.nnode + 1u) * sizeof(rk_ir *));
    for (int32_t i = 0; i < p->lower.nnode; i++) {
        if (p->lower.node[i]->nuse > 0) {
            p->lower.node[i]->id = pass->nnode;
            pass->node[pass->nnode++] = p->lower.node[i];
        }
    }
}

/* Subscripts that follow an axis: an access with all axes of the pass costs memory
 * traffic at every point. */
static int32_t axes_of(const rk_at *at)
{
    return (at[0].axis >= 0 ? 1 : 0) + (at[1].axis >= 0 ? 1 : 0) +
           (at[2].axis >= 0 ? 1 : 0);
}

static int32_t element_bytes(const rk_planner *p, int32_t param)
{
    const rk_type type = p->work->decl->param[param]->type;
    if (type == RK_REAL) {
        return p->unit->numbers.f64 ? 8 : 4;
    }
    return type == RK_BOOL ? 1 : (p->unit->numbers.int64 ? 8 : 4);
}

/* Counts of operations are hints: 100000 says "very many". */
static int32_t ops_number(int64_t nop)
{
    return nop < 100000 ? (int32_t)nop : 100000;
}

static void pass_measure(rk_planner *p, rk_pass *pass)
{
    const int32_t nparam = p->work->decl->nparam;
    bool *counted = rk_new(p->unit, 2u * (size_t)nparam + 1u);
    int64_t nop = 0;
    for (int32_t i = 0; i < pass->nnode; i++) {
        const rk_ir *n = pass->node[i];
        if (n->kind == RK_IR_LOAD) {
            pass->access[n->param] |= RUBUS_READ;
            if (!counted[n->param] && axes_of(n->at) == pass->rank) {
                counted[n->param] = true;
                pass->bytes_per_point += element_bytes(p, n->param);
            }
        } else if (n->kind == RK_IR_APPLY && n->op != RK_OP_TO_REAL) {
            nop++;
        } else if (n->kind == RK_IR_CALL) {
            nop += rk_func_ops(p->unit, n->func);
        }
    }
    pass->ops_per_point = ops_number(nop);
    for (int32_t i = 0; i < pass->naction; i++) {
        const rk_action *a = &pass->action[i];
        if (a->kind != RK_ACTION_STORE) {
            continue;
        }
        pass->access[a->param] |= RUBUS_WRITE;
        if (!counted[nparam + a->param]) {
            counted[nparam + a->param] = true;
            pass->bytes_per_point += element_bytes(p, a->param);
        }
    }
}

static void pass_end(rk_planner *p)
{
    if (p->plan->npass > 0) {
        rk_pass *pass = &p->plan->pass[p->plan->npass - 1];
        pass_mark(p, pass);
        pass_measure(p, pass);
    }
}

static void number_results(rk_planner *p)
{
    for (int32_t i = 0; i < p->plan->npass; i++) {
        rk_pass *pass = &p->plan->pass[i];
        for (int32_t k = 0; k < pass->naction; k++) {
            rk_action *a = &pass->action[k];
            for (int32_t q = 0; a->kind == RK_ACTION_FOLD && q < a->param; q++) {
                a->number += p->work->decl->param[q]->is_result ? 1 : 0;
            }
        }
    }
}

static void plan_items(rk_planner *p)
{
    for (int32_t i = 0; i < p->work->nitem; i++) {
        if (p->work->item[i].kind == RK_ITEM_LET) {
            continue;
        }
        rk_statement *s = &p->done[i];
        statement_learn(p, i, s);
        check_own_reads(p, s);
        rk_affine shift[3] = {rk_affine_int(0), rk_affine_int(0), rk_affine_int(0)};
        if (p->plan->npass == 0 || !rk_planner_can_join(p, s, shift)) {
            for (int32_t d = 0; d < 3; d++) {
                shift[d] = rk_affine_int(0);
            }
            pass_end(p);
            rk_planner_check_lets(p, s, s->item);
            pass_begin(p, s);
        } else {
            rk_planner_check_lets(p, s, p->first_item);
        }
        pass_add(p, s, shift);
    }
    pass_end(p);
    number_results(p);
}

rk_plan *rk_plan_build(rk_work *work)
{
    const int32_t before = rk_error_count(work->unit);
    rk_plan *plan = RK_NEW(work->unit, rk_plan);
    if (work->decl->nindex > 0) {
        plan->npass = 1;
        plan->pass = RK_NEW(work->unit, rk_pass);
        plan->pass->rank = work->decl->nindex;
        plan->pass->ops_per_point = ops_number(rk_point_ops(work->unit, work->decl));
        rk_access_point(work, plan);
    } else {
        rk_planner p;
        memset(&p, 0, sizeof(p));
        p.work = work;
        p.unit = work->unit;
        p.plan = plan;
        p.done = rk_new(work->unit, ((size_t)work->nitem + 1u) * sizeof(rk_statement));
        plan_items(&p);
    }
    return rk_error_count(work->unit) == before ? plan : NULL;
}
