/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner: puts the statements of a whole-array kernel into passes, one after the other.
 *
 * Each statement is lowered alone first, in its own coordinates, which gives its reads. A
 * statement joins the present pass if one shift per axis brings every access of it that
 * meets an access of the pass (one of the two being a write) to the same point; then it is
 * lowered again, shifted, among the nodes of the pass. Otherwise a new pass begins. Nothing
 * here changes a result; what cannot keep the meaning is an error.
 */
#include "config.h"

#include "libcore/kernel/lower.h"

#include <string.h>

/* One statement alone. */
typedef struct statement {
    int32_t item;
    rk_read *read;
    int32_t nread;
    rk_at target[3];
    int32_t target_rank; /* 0: a result */
    const rk_chain *box; /* its own box as a chain of one */
} statement;

typedef struct planner {
    rk_work *work;
    rk_unit *unit;
    rk_plan *plan;
    int32_t pass_room;
    int32_t access_room;
    int32_t action_room;
    int32_t first_item; /* of the present pass */
    rk_lower lower;     /* of the present pass */
    statement *done;    /* [nitem]: all statements so far */
    const char *why;
    rk_span why_other;
} planner;

/* --- when do two accesses meet -------------------------------------------------------------- */

/* Ranges of elements along array dimension d, one per link of the chain; a fixed subscript
 * has one. Returns false past the last. */
static bool element_range(rk_unit *unit, const rk_at *at, const rk_chain **link,
                          bool *first, rk_affine *lo, rk_affine *hi)
{
    if (at->axis < 0) {
        if (!*first) {
            return false;
        }
        *first = false;
        *lo = at->off;
        *hi = rk_affine_add(unit, at->off, 1, rk_affine_int(1));
        return true;
    }
    while (*link != NULL && !(*link)->box.bounded[at->axis]) {
        *link = (*link)->outer;
    }
    if (*link == NULL) {
        return false;
    }
    *lo = rk_affine_add(unit, (*link)->box.lo[at->axis], 1, at->off);
    *hi = rk_affine_add(unit, (*link)->box.hi[at->axis], 1, at->off);
    *link = (*link)->outer;
    return true;
}

/* True if `gap` is >= 0 for all sizes that are large enough. */
static bool large_enough(const rk_work *work, rk_affine gap)
{
    for (int32_t i = 0; i < gap.nterm; i++) {
        const rk_symbol_kind kind = work->symbol[gap.term[i].symbol].kind;
        if (gap.term[i].coef < 0 ||
            (kind != RK_SYMBOL_EXTENT && kind != RK_SYMBOL_BLANK)) {
            return false;
        }
    }
    return gap.nterm > 0;
}

typedef enum { APART, APART_IF_LARGE, MEET } meeting;

/* Do accesses a and b along one dimension touch a common element? *out_gap: what must be
 * >= 0 for APART_IF_LARGE. */
static meeting meet_along(planner *p, const rk_at *a, const rk_chain *ca, const rk_at *b,
                          const rk_chain *cb, rk_affine *out_gap)
{
    meeting result = MEET;
    const rk_chain *la = ca;
    bool fa = true;
    rk_affine alo;
    rk_affine ahi;
    while (element_range(p->unit, a, &la, &fa, &alo, &ahi)) {
        const rk_chain *lb = cb;
        bool fb = true;
        rk_affine blo;
        rk_affine bhi;
        while (element_range(p->unit, b, &lb, &fb, &blo, &bhi)) {
            const rk_affine gap[2] = {rk_affine_add(p->unit, blo, -1, ahi),
                                      rk_affine_add(p->unit, alo, -1, bhi)};
            for (int i = 0; i < 2; i++) {
                if (rk_affine_sign(p->work->symbol, gap[i]) >= 0) {
                    return APART;
                }
                if (result == MEET && large_enough(p->work, gap[i])) {
                    result = APART_IF_LARGE;
                    *out_gap = gap[i];
                }
            }
        }
    }
    return result;
}

static meeting meet(planner *p, const rk_at *a, const rk_chain *ca, const rk_at *b,
                    const rk_chain *cb, int32_t rank, rk_affine *out_gap)
{
    meeting result = MEET;
    for (int32_t d = 0; d < rank; d++) {
        rk_affine gap = rk_affine_int(0);
        const meeting along = meet_along(p, &a[d], ca, &b[d], cb, &gap);
        if (along == APART) {
            return APART;
        }
        if (along == APART_IF_LARGE && result == MEET) {
            result = along;
            *out_gap = gap;
        }
    }
    return result;
}

/* --- a statement alone ------------------------------------------------------------------------ */

static rk_box item_box(rk_unit *unit, const rk_item *item, const rk_affine *shift)
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
        at[d].off = d < item->rank ? rk_affine_scale(unit, shift[d], -1) : rk_affine_int(0);
    }
}

static void item_target(rk_work *work, const rk_item *item, const rk_at *own, rk_at *target)
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

static void statement_learn(planner *p, int32_t number, statement *out)
{
    const rk_item *item = &p->work->item[number];
    const rk_affine zero[3] = {rk_affine_int(0), rk_affine_int(0), rk_affine_int(0)};
    rk_lower alone;
    rk_lower_init(&alone, p->work, NULL);
    const rk_box box = item_box(p->unit, item, zero);
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

static const char *param_name(const planner *p, int32_t param)
{
    return p->work->decl->param[param]->name;
}

/* "[i+1, j]" of an access */
static const char *offset_text(planner *p, const rk_at *at, int32_t rank)
{
    static const char axis_name[3] = {'i', 'j', 'k'};
    rubus__text text;
    rubus__text_init(&text);
    for (int32_t d = 0; d < rank; d++) {
        const char *off = rk_affine_text(p->unit, p->work->symbol, at[d].off);
        rubus__text_add(&text, d == 0 ? "[" : ", ");
        if (at[d].axis < 0) {
            rubus__text_add(&text, off);
        } else if (strcmp(off, "0") == 0) {
            rubus__text_format(&text, "%c", axis_name[at[d].axis]);
        } else {
            rubus__text_format(&text, "%c%s%s", axis_name[at[d].axis],
                               off[0] == '-' ? "" : "+", off);
        }
    }
    rubus__text_add(&text, "]");
    const char *result = text.failed
                             ? ""
                             : rubus__arena_strndup(p->unit->arena, text.data, text.size);
    rubus__text_fini(&text);
    return result;
}

/* Rule 2: a statement may not read what another point of it writes. Rule 6: where that
 * holds for large arrays only, the launch checks it. */
static void check_own_reads(planner *p, const statement *s)
{
    const rk_item *item = &p->work->item[s->item];
    for (int32_t i = 0; s->target_rank > 0 && i < s->nread; i++) {
        const rk_read *r = &s->read[i];
        if (r->param != item->param || rk_at_equal(r->at, s->target, r->rank)) {
            continue;
        }
        rk_affine gap = rk_affine_int(0);
        const meeting m = meet(p, s->target, s->box, r->at, r->chain, r->rank, &gap);
        if (m == MEET) {
            const char *name = param_name(p, item->param);
            rk_error(p->unit, RK_RACE_IN_STATEMENT, r->at_source,
                     "write to a second array, or use a `let` and two statements",
                     "this statement writes %s%s and reads %s%s, which another of its "
                     "points writes",
                     name, offset_text(p, s->target, r->rank), name,
                     offset_text(p, r->at, r->rank));
            return;
        }
        if (m == APART_IF_LARGE) {
            const char *name = param_name(p, item->param);
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

/* --- joining a pass ------------------------------------------------------------------------------ */

typedef struct shift_search {
    bool set[3];
    rk_affine shift[3];
} shift_search;

/* Demands that own access `s` and pass access `t` fall on one pass point. False if no shift
 * does that. */
static bool align(planner *p, shift_search *search, const rk_at *t, const rk_at *s,
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

static bool conflict(planner *p, const char *what, int32_t param, int32_t other)
{
    p->why = rubus__arena_format(p->unit->arena, what, param_name(p, param));
    p->why_other = p->work->item[other].at;
    return false;
}

/* The target of a statement of the pass, in pass coordinates. */
static const rk_action *action_of(const planner *p, int32_t item)
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
static void to_pass(planner *p, const statement *t, const rk_at *own, int32_t rank,
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
static bool joins(planner *p, shift_search *search, const statement *s, const statement *t)
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
                meet(p, t->target, t->box, r->at, r->chain, r->rank, &gap) != APART &&
                !align(p, search, moved, r->at, r->rank)) {
                return conflict(p, "reads neighbours of `%s`, which an earlier statement "
                                   "of the pass writes",
                                r->param, t->item);
            }
        }
        if (s->target_rank > 0 && item->param == earlier->param &&
            meet(p, t->target, t->box, s->target, s->box, s->target_rank, &gap) != APART &&
            !align(p, search, moved, s->target, s->target_rank)) {
            return conflict(p, "writes elements of `%s` that an earlier statement of the "
                               "pass writes at other points",
                            item->param, t->item);
        }
    }
    for (int32_t i = 0; s->target_rank > 0 && i < t->nread; i++) {
        const rk_read *r = &t->read[i];
        if (r->param != item->param ||
            meet(p, r->at, r->chain, s->target, s->box, r->rank, &gap) == APART) {
            continue;
        }
        to_pass(p, t, r->at, r->rank, moved);
        if (!align(p, search, moved, s->target, r->rank)) {
            return conflict(p, "overwrites `%s`, whose neighbours an earlier statement of "
                               "the pass reads",
                            item->param, t->item);
        }
    }
    return true;
}

/* Our own reasons to begin a pass: boxes that differ by more than a constant make no common
 * sweep; folds of one pass share their segments. */
static bool fits(planner *p, const rk_pass *pass, const rk_item *item,
                 const rk_affine *shift)
{
    const rk_box box = item_box(p->unit, item, shift);
    const rk_box *first = &pass->action[0].box;
    for (int32_t d = 0; d < pass->rank; d++) {
        if (!rk_affine_is_const(rk_affine_add(p->unit, box.lo[d], -1, first->lo[d]), NULL) ||
            !rk_affine_is_const(rk_affine_add(p->unit, box.hi[d], -1, first->hi[d]), NULL)) {
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

/* Rule 5: a let must not be used after what it reads was overwritten, unless that happened
 * in the same pass at the same point (then the loads of the pass still see it). */
static void check_lets(planner *p, const statement *s, int32_t first_item)
{
    for (int32_t i = 0; i < s->nread; i++) {
        const rk_read *r = &s->read[i];
        for (int32_t w = r->when; w < first_item && w < s->item; w++) {
            const rk_item *writer = &p->work->item[w];
            rk_affine gap;
            if (writer->kind != RK_ITEM_ASSIGN || writer->param != r->param ||
                meet(p, p->done[w].target, p->done[w].box, r->at, r->chain, r->rank,
                     &gap) == APART) {
                continue;
            }
            rk_error(p->unit, RK_STALE_LET, p->work->item[s->item].at,
                     "assign the value to an array where it is taken",
                     "this uses a `let` that read `%s` before `%s` was overwritten",
                     param_name(p, r->param), param_name(p, r->param));
            rk_note(p->unit, r->at_source, "`%s` is read here", param_name(p, r->param));
            rk_note(p->unit, writer->at, "and overwritten here");
            return;
        }
    }
}

static bool lets_hold(planner *p, const statement *s)
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
static bool can_join(planner *p, const statement *s, rk_affine *shift)
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
        if (p->work->item[t].kind != RK_ITEM_LET &&
            !joins(p, &search, s, &p->done[t])) {
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

/* --- building passes ---------------------------------------------------------------------------------- */

static void pass_begin(planner *p, const statement *s)
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

static void pass_add(planner *p, const statement *s, const rk_affine *shift)
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
    action.box = item_box(p->unit, item, shift);
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
        const rk_read write = {item->param, s->target_rank, s->item,
                               {action.at[0], action.at[1], action.at[2]}, chain, item->at};
        rk_access_add(p->work, p->plan, &p->access_room, &write);
    } else {
        pass->nfold++;
    }
    rk_room(p->unit, (void **)&pass->action, &p->action_room, pass->naction,
            sizeof(rk_action));
    pass->action[pass->naction++] = action;
}

/* --- finishing a pass: live nodes, what it touches, what it costs --------------------------------- */

static void mark(rk_ir *node, int32_t *pending, rk_ir **stack)
{
    if (node != NULL && node->nuse++ == 0) {
        stack[(*pending)++] = node;
    }
}

static void pass_mark(planner *p, rk_pass *pass)
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

/* Subscripts that follow an axis: an access with all axes of the pass costs memory traffic
 * at every point. */
static int32_t axes_of(const rk_at *at)
{
    return (at[0].axis >= 0 ? 1 : 0) + (at[1].axis >= 0 ? 1 : 0) + (at[2].axis >= 0 ? 1 : 0);
}

static int32_t element_bytes(const planner *p, int32_t param)
{
    const rk_type type = p->work->decl->param[param]->type;
    if (type == RK_REAL) {
        return p->unit->numbers.f64 ? 8 : 4;
    }
    return type == RK_BOOL ? 1 : (p->unit->numbers.int64 ? 8 : 4);
}

static void pass_measure(planner *p, rk_pass *pass)
{
    const int32_t nparam = p->work->decl->nparam;
    bool *counted = rk_new(p->unit, 2u * (size_t)nparam + 1u);
    for (int32_t i = 0; i < pass->nnode; i++) {
        const rk_ir *n = pass->node[i];
        if (n->kind == RK_IR_LOAD) {
            pass->access[n->param] |= RUBUS_READ;
            if (!counted[n->param] && axes_of(n->at) == pass->rank) {
                counted[n->param] = true;
                pass->bytes_per_point += element_bytes(p, n->param);
            }
        } else if (n->kind == RK_IR_APPLY && n->op != RK_OP_TO_REAL) {
            pass->ops_per_point++;
        } else if (n->kind == RK_IR_CALL) {
            pass->ops_per_point += 10; /* a rough price of a transcendental */
        }
    }
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

static void pass_end(planner *p)
{
    if (p->plan->npass > 0) {
        rk_pass *pass = &p->plan->pass[p->plan->npass - 1];
        pass_mark(p, pass);
        pass_measure(p, pass);
    }
}

static void number_results(planner *p)
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

static void plan_items(planner *p)
{
    for (int32_t i = 0; i < p->work->nitem; i++) {
        if (p->work->item[i].kind == RK_ITEM_LET) {
            continue;
        }
        statement *s = &p->done[i];
        statement_learn(p, i, s);
        check_own_reads(p, s);
        rk_affine shift[3] = {rk_affine_int(0), rk_affine_int(0), rk_affine_int(0)};
        if (p->plan->npass == 0 || !can_join(p, s, shift)) {
            for (int32_t d = 0; d < 3; d++) {
                shift[d] = rk_affine_int(0);
            }
            pass_end(p);
            check_lets(p, s, s->item);
            pass_begin(p, s);
        } else {
            check_lets(p, s, p->first_item);
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
        rk_access_point(work, plan);
    } else {
        planner p;
        memset(&p, 0, sizeof(p));
        p.work = work;
        p.unit = work->unit;
        p.plan = plan;
        p.done = rk_new(work->unit, ((size_t)work->nitem + 1u) * sizeof(statement));
        plan_items(&p);
    }
    return rk_error_count(work->unit) == before ? plan : NULL;
}
