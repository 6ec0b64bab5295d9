/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_PLANNER_H
#define RK_PLANNER_H
/*
 * The planner from inside: plan.c builds passes, plan_meet.c says which accesses touch
 * common elements, plan_join.c whether a statement may join a pass.
 */
#include "libcore/kernel/lower.h"

/* One statement alone. */
typedef struct rk_statement {
    int32_t item;
    rk_read *read;
    int32_t nread;
    rk_at target[3];
    int32_t target_rank; /* 0: a result */
    const rk_chain *box; /* its own box as a chain of one */
} rk_statement;

typedef struct rk_planner {
    rk_work *work;
    rk_unit *unit;
    rk_plan *plan;
    int32_t pass_room;
    int32_t access_room;
    int32_t action_room;
    int32_t first_item; /* of the present pass */
    rk_lower lower;     /* of the present pass */
    rk_statement *done; /* [nitem]: all statements so far */
    const char *why;
    rk_span why_other;
} rk_planner;

/* --- plan_meet.c ------------------------------------------------------------------ */

typedef enum { RK_APART, RK_APART_IF_LARGE, RK_MEET } rk_meeting;

/* Do accesses a and b (of points in chains ca and cb) touch a common element of an array
 * of that rank? *out_gap: what must be >= 0 for RK_APART_IF_LARGE. */
rk_meeting rk_meet(rk_planner *p, const rk_at *a, const rk_chain *ca, const rk_at *b,
                   const rk_chain *cb, int32_t rank, rk_affine *out_gap);

/* --- plan_join.c ------------------------------------------------------------------ */

/* Can statement s join the present pass, and with which shift? If not, p->why says why.
 * */
bool rk_planner_can_join(rk_planner *p, const rk_statement *s, rk_affine *shift);
/* Reports a let that s uses after what it read was overwritten in an earlier pass. */
void rk_planner_check_lets(rk_planner *p, const rk_statement *s, int32_t first_item);

/* --- plan.c ----------------------------------------------------------------------- */

/* The box of a statement in a pass to which it is shifted. */
rk_box rk_item_box(rk_unit *unit, const rk_item *item, const rk_affine *shift);
const char *rk_planner_param(const rk_planner *p, int32_t param);

#endif
