/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a statement may join a pass: one shift per axis must bring every access of it
 * that meets an access of the pass (one of the two a write) to the same point; sizes must
 * differ by constants only; a let must still hold what it read.
 */
#include "config.h"

#include "libcore/kernel/planner.h"

#include <string.h>

/* --- joining a pass --------------------------------------------------------------- */

typedef struct shift_search {
    bool set[3];
    rk_affine shift[3];
} shift_search;

/* Demands that own access `s` and pass access `t` fall on one pass point. False if no
 * shift does that. */
static bool align(rk_planner *p, shift_search *search, const rk_at *t, const rk_at *s,
                  int32_t rank)
{
    for (int32_t d = 0; d < rank; d++) {
        if (t[d].axis != s[d].axis) {
            return false;
        }
        if (t[d].axis < 0) {
            if (!rk_affine_equal(t[d].off, s[d].off)) {
                return false;
            }
            continue;
        }
        const int32_t axis = t[d].axis;
        const rk_affine shift = rk_affine_add(p->unit, s[d].off, -1, t[d].off);
        if (!search->set[axis]) {
            search->set[axis] = true;
            search->shift[axis] = shift;
        } else if (!rk_affine_equal(search->shift[axis], shift)) {
            return false;
        }
    }
    return true;
}

static bool conflict(rk_planner *p, const char *what, int32_t param, int32_t other)
{
    p->why = rubus__arena_format(p->unit->arena, what, rk_planner_param(p, param));
    p->why_other = p->work->item[other].at;
    return false;
}

/* The target of a statement of the pass, in pass coordinates. */
static const rk_action *action_of(const rk_planner *p, int32_t item)
{
    const rk_pass *pass = &p->plan->pass[p->plan->npass - 1];
    for (int32_t i = 0; i < pass->naction; i++) {
        if (pass->action[i].item == item) {
            return &pass->action[i];
        }
    }
    return NULL;
}

/* An access of an earlier statement, moved from its own to pass coordinates. */
static void to_pass(rk_planner *p, const rk_statement *t, const rk_at *own, int32_t rank,
                    rk_at *out)
{
    const rk_action *action = action_of(p, t->item);
    for (int32_t d = 0; d < 3; d++) {
        out[d] = own[d];
        if (d < rank && own[d].axis >= 0) { /* shift = low end of its box */
            out[d].off =
                rk_affine_add(p->unit, own[d].off, -1, action->box.lo[own[d].axis]);
        }
    }
}

/* Does statement s, with any shift, keep its order with statement t of the pass? */
static bool joins(rk_planner *p, shift_search *search, const rk_statement *s,
                  const rk_statement *t)
{
    const rk_item *item = &p->work->item[s->item];
    const rk_item *earlier = &p->work->item[t->item];
    rk_affine gap;
    rk_at moved[3];
    if (t->target_rank > 0) {
        to_pass(p, t, t->target, t->target_rank, moved);
        for (int32_t i = 0; i < s->nread; i++) {
            const rk_read *r = &s->read[i];
            if (r->param == earlier->param &&
                rk_meet(p, t->target, t->box, r->at, r->chain, r->rank, &gap) !=
                    RK_APART &&
                !align(p, search, moved, r->at, r->rank)) {
                return conflict(p,
                                "reads neighbours of `%s`, which an earlier statement "
                                "of the pass writes",
                                r->param, t->item);
            }
        }
        if (s->target_rank > 0 && item->param == earlier->param &&
            rk_meet(p, t->target, t->box, s->target, s->box, s->target_rank, &gap) !=
                RK_APART &&
            !align(p, search, moved, s->target, s->target_rank)) {
            return conflict(p,
                            "writes elements of `%s` that an earlier statement of the "
                            "pass writes at other points",
                            item->param, t->item);
        }
    }
    for (int32_t i = 0; s->target_rank > 0 && i < t->nread; i++) {
        const rk_read *r = &t->read[i];
        if (r->param != item->param ||
            rk_meet(p, r->at, r->chain, s->target, s->box, r->rank, &gap) == RK_APART) {
            continue;
        }
        to_pass(p, t, r->at, r->rank, moved);
        if (!align(p, search, moved, s->target, r->rank)) {
            return conflict(p,
                            "overwrites `%s`, whose neighbours an earlier statement of "
                            "the pass reads",
                            item->param, t->item);
        }
    }
    return true;
}

/* Our own reasons to begin a pass: boxes that differ by more than a constant make no
 * common sweep; folds of one pass share their segments. */
static bool fits(rk_planner *p, const rk_pass *pass, const rk_item *item,
                 const rk_affine *shift)
{
    const rk_box box = rk_item_box(p->unit, item, shift);
    const rk_box *first = &pass->action[0].box;
    for (int32_t d = 0; d < pass->rank; d++) {
        if (!rk_affine_is_const(rk_affine_add(p->unit, box.lo[d], -1, first->lo[d]),
                                NULL) ||
            !rk_affine_is_const(rk_affine_add(p->unit, box.hi[d], -1, first->hi[d]),
                                NULL)) {
            p->why = "has another size than the statements of the pass";
            p->why_other = pass->action[0].at_source;
            return false;
        }
    }
    for (int32_t i = 0; item->kind == RK_ITEM_RESULT && i < pass->naction; i++) {
        if (pass->action[i].kind == RK_ACTION_FOLD &&
            !rk_box_equal(&pass->action[i].box, &box)) {
            p->why = "folds other points than the result before it";
            p->why_other = pass->action[i].at_source;
            return false;
        }
    }
    return true;
}

/* Rule 5: a let must not be used after what it reads was overwritten, unless that
 * happened in the same pass at the same point (then the loads of the pass still see it).
 * */
void rk_planner_check_lets(rk_planner *p, const rk_statement *s, int32_t first_item)
{
    for (int32_t i = 0; i < s->nread; i++) {
        const rk_read *r = &s->read[i];
        for (int32_t w = r->when; w < first_item && w < s->item; w++) {
            const rk_item *writer = &p->work->item[w];
            rk_affine gap;
            if (writer->kind != RK_ITEM_ASSIGN || writer->param != r->param ||
                rk_meet(p, p->done[w].target, p->done[w].box, r->at, r->chain, r->rank,
                        &gap) == RK_APART) {
                continue;
            }
            rk_error(p->unit, RK_STALE_LET, p->work->item[s->item].at,
                     "assign the value to an array where it is taken",
                     "this uses a `let` that read `%s` before `%s` was overwritten",
                     rk_planner_param(p, r->param), rk_planner_param(p, r->param));
            rk_note(p->unit, r->at_source, "`%s` is read here",
                    rk_planner_param(p, r->param));
            rk_note(p->unit, writer->at, "and overwritten here");
            return;
        }
    }
}

static bool lets_hold(rk_planner *p, const rk_statement *s)
{
    for (int32_t i = 0; i < s->nread; i++) {
        if (s->read[i].when < s->item) {
            for (int32_t w = s->read[i].when; w < s->item; w++) {
                if (p->work->item[w].kind == RK_ITEM_ASSIGN &&
                    p->work->item[w].param == s->read[i].param) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* Can statement s join the present pass, and with which shift? */
bool rk_planner_can_join(rk_planner *p, const rk_statement *s, rk_affine *shift)
{
    const rk_item *item = &p->work->item[s->item];
    rk_pass *pass = &p->plan->pass[p->plan->npass - 1];
    if (item->rank != pass->rank) {
        p->why = "has another rank than the pass";
        p->why_other = pass->action[0].at_source;
        return false;
    }
    shift_search search;
    memset(&search, 0, sizeof(search));
    for (int32_t t = p->first_item; t < s->item; t++) {
        if (p->work->item[t].kind != RK_ITEM_LET && !joins(p, &search, s, &p->done[t])) {
            return false;
        }
    }
    for (int32_t d = 0; d < 3; d++) {
        shift[d] = search.set[d] ? search.shift[d] : rk_affine_int(0);
    }
    /* a split of ours must not break a let */
    return fits(p, pass, item, shift) ||
           (!lets_hold(p, s) && item->kind == RK_ITEM_ASSIGN);
}
