/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_EMIT_H
#define RK_EMIT_H
/*
 * What layout.c and the emitters of all dialects share: names, what an entry needs of
 * its argument block, and the regions of a pass. Nothing here writes text of a target
 * language.
 *
 * The order of a fold, which every dialect and the interpreter keep to the bit:
 *  - A line is one run of the fold's box along axis 0, with the number (y - ylo) +
 *    (z - zlo) * (yhi - ylo). It is cut into segments of RK_SEGMENT points from its low
 *    end; the partial of segment s has number line * nsegment + s.
 *  - Element j of a segment (counted from the segment's start) is folded into lane
 *    j % RK_LANES. A lane starts at 0 (sum), -inf (max), inf (min). All RK_LANES lanes
 *    are then joined by the aligned binary tree on the lane's number: 2k with 2k+1 at
 *    each level.
 *  - A tree entry joins partials [RK_TREE * p, RK_TREE * (p + 1)) below n by the same
 *    tree on their numbers; a value without a partner moves up as it is.
 *  - max: m = (x > m || x != x) ? x : m, min likewise: a NaN, once met, stays.
 *  - Sums of floats carry a second float c. An element x: s' = s + x, b = s' - s,
 *    c += (s - (s' - b)) + (x - b). Joining (s1, c1) with (s2, c2): the same for x = s2,
 *    and c = (c1 + c2) + what was lost. The result is s + c, or s alone where c is not
 *    finite (s overflowed, or an element was infinite).
 */
#include "libcore/kernel/program.h"

/* --- emit.c: names and needs ------------------------------------------------------- */

/* At most 24 letters, digits and underscores of a name, in lower case; may be empty. */
const char *rk_emit_letters(rk_unit *unit, const char *name);

/* Parameters and symbols that code refers to. */
typedef struct rk_need {
    const rk_kernel *kernel;
    bool *param;  /* [nparam]: arrays touched, scalars read */
    bool *symbol; /* [nsymbol] */
    bool atomics;
    bool uneven; /* a loop whose bounds come out of an array */
} rk_need;

void rk_need_init(rk_unit *unit, const rk_kernel *kernel, rk_need *out_need);
void rk_need_affine(rk_need *need, rk_affine a);
void rk_need_pass(rk_need *need, const rk_pass *pass);
/* Of a per-point kernel; all_extents: of every array, as tests of subscripts want. */
void rk_need_point(rk_need *need, bool all_extents);

/* Symbol that an extents name is the value of; -1 if there is none. */
int32_t rk_emit_extent_symbol(const rk_work *work, const char *name);

/* Visits every expression of a statement, operands before their users. */
typedef void (*rk_visit)(void *user, rk_expr *expr);
void rk_visit_expr(rk_expr *expr, rk_visit visit, void *user);
void rk_visit_stmt(rk_stmt *stmt, rk_visit visit, void *user);
bool rk_stmt_has(const rk_stmt *stmt, rk_stmt_kind kind);
/* True if a func and all it calls are free of loops, so that calling it always ends. Of
 * funcs that a plan met (func_measure.c), as is the weight below. */
bool rk_func_is_straight(const rk_decl *func);
/* Funcs that a per-point body or pass calls, and theirs, callees before callers. The list
 * grows; a func that stands in it already is not added again. */
typedef struct rk_func_list {
    rk_unit *unit;
    int32_t n;
    int32_t room;
    const rk_decl **func;
} rk_func_list;
/* Expressions in a func and in all it calls, each call counted anew; most + 1 if
 * that is more than `most`. */
int64_t rk_func_weight(const rk_decl *func, int64_t most);
void rk_func_list_add_stmt(rk_func_list *list, rk_stmt *stmt);
void rk_func_list_add(rk_func_list *list, const rk_decl *func);

/* A subscript of a local array that is a literal inside it needs no test. */
bool rk_local_index_is_sure(const rk_expr *index);
/* Site number that rk_layout gave an INDEX expression, -1: none. */
int32_t rk_expr_site(const rk_expr *index);

/* --- emit_region.c: the regions of a pass ------------------------------------------ */

/* Where a value is needed at a point that lies in some boxes only. */
typedef enum {
    RK_WHEN_NEVER,
    RK_WHEN_IN,   /* the point is in box a */
    RK_WHEN_OUT,  /* it is not */
    RK_WHEN_COND, /* scalar condition `node` */
    RK_WHEN_AND,  /* of conditions a and b */
    RK_WHEN_OR
} rk_when_kind;
typedef struct rk_when {
    rk_when_kind kind;
    int32_t a; /* smaller than this one's own number, for AND and OR */
    int32_t b;
    const rk_ir *node;
    bool used; /* by a load, a call, or an action */
} rk_when;

/*
 * A pass has two versions of its text. INTERIOR: the point is in all bulk boxes and in
 * no thin one, so every action with a bulk box is made, and each GUARD is one of its
 * operands. GENERAL: any point; what may not be evaluated everywhere is tested for. A
 * box is thin if it is at most a few points wide along an axis where another action is
 * wide: a boundary statement must not shrink the interior of its pass to nothing.
 */
typedef struct rk_region {
    rk_unit *unit;
    const rk_kernel *kernel;
    const rk_pass *pass;
    int32_t nbox; /* distinct boxes of actions and guards */
    rk_box *box;
    bool *thin;          /* [nbox] */
    bool *thin_x;        /* [nbox]: thin along x, so the rest of a row may be interior */
    int32_t *action_box; /* [naction] */
    int32_t *guard_box;  /* [nnode]; -1: no GUARD */
    bool *uniform; /* [nnode]: the same at all points, and may always be evaluated */
    bool plain;    /* one box, no guards: the interior is all there is */
    const rk_ir
        *choice; /* the one scalar condition (without `!`) of all conditional actions;
                            the interior then has two variants. NULL: none or several */
    int32_t fold_box; /* box of the folds, -1: no folds */
    int32_t nwhen;
    rk_when *when;
    int32_t when_room;
    int32_t *node_when;   /* [nnode] */
    int32_t *action_when; /* [naction] */
} rk_region;

void rk_region_build(rk_unit *unit, const rk_kernel *kernel, const rk_pass *pass,
                     rk_region *out_region);
/* The node that stands for `node` in the interior; choice: value of region->choice. */
const rk_ir *rk_region_interior(const rk_region *region, const rk_ir *node, bool choice);
/* Is the action made in the interior? *out_test: only where its scalar condition holds.
   */
bool rk_region_active(const rk_region *region, int32_t action, bool choice,
                      bool *out_test);

#endif
