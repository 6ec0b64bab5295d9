/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_PLAN_H
#define RK_PLAN_H
/*
 * Passes: what the planner makes of a whole-array kernel, and what emitters read. A pass
 * is one sweep over a box of points. Coordinates of a pass are its own ("pass
 * coordinates"): along axis 0 (x, fastest), 1 (y), 2 (z). Every value of a pass is a node
 * of a DAG of scalar operations at one point; equal nodes are one node (hash-consed), so
 * a node with several users is computed once.
 */
#include "libcore/kernel/field.h"

/* lo[a] <= point[a] < hi[a] for each axis with bounded[a]. */
typedef struct rk_box {
    bool bounded[3];
    rk_affine lo[3];
    rk_affine hi[3];
} rk_box;

/* One subscript: element index = (axis >= 0 ? point[axis] : 0) + off. */
typedef struct rk_at {
    int32_t axis; /* -1: the same element for all points */
    rk_affine off;
} rk_at;

typedef enum {
    RK_IR_CONST,  /* value */
    RK_IR_SCALAR, /* scalar parameter `param` */
    RK_IR_AFFINE, /* int: `affine` of symbols */
    RK_IR_COORD,  /* int: point[axis] + affine */
    RK_IR_LOAD,   /* element at[] of array `param`, as it is before this pass writes it at
                     this point */
    RK_IR_APPLY,  /* op on a, b, c; operand types already as rk_op_operand_type wants */
    RK_IR_CALL,   /* func on arg[] */
    RK_IR_GUARD /* a where the point is in `box`, else b; a must not be evaluated outside.
                     Inside the interior of a pass it is a. */
} rk_ir_kind;

typedef struct rk_ir rk_ir;
struct rk_ir {
    rk_ir_kind kind;
    int32_t id;   /* 0.. within its pass, operands have smaller ids than users */
    int32_t nuse; /* users among nodes and actions of the pass */
    rk_type type;
    rk_op op;
    rk_decl *func;
    rk_value value;
    rk_affine affine;
    int32_t param;
    int32_t axis;
    rk_at at[3];
    rk_box box;
    rk_ir *a;
    rk_ir *b;
    rk_ir *c;
    int32_t narg;
    rk_ir **arg;
    rk_span at_source;
};

typedef enum { RK_ACTION_STORE, RK_ACTION_FOLD } rk_action_kind;

/* What a statement does at each point of its box. */
typedef struct rk_action {
    rk_action_kind kind;
    rk_span at_source;
    int32_t item;  /* number of the statement in rk_work.item */
    rk_ir *cond;   /* bool of scalars, the same for all points; NULL: always */
    rk_box box;    /* bounded on all axes of the pass */
    rk_ir *value;  /* STORE: element type; FOLD: real */
    int32_t param; /* STORE: array; FOLD: result parameter */
    rk_at at[3];   /* STORE: element written; each pass axis stands in exactly one */
    rk_fold_op fold;
    int32_t number; /* FOLD: number among the kernel's results, from 0 */
} rk_action;

/* All loads of a point see the arrays as before the pass touched that point; then all
 * stores happen. (Values written and read at one point were replaced by the node itself,
 * wrapped in a GUARD or SELECT where the write is not certain.) So a point may compute
 * all values first and store after; points are independent. Two stores of one pass to one
 * array may meet at one point: they take effect in order.
 *
 * Folds: all folds of a pass have equal boxes. Along axis 0 the box is cut into segments
 * of
 * 4096 points from its low end; a pass with folds is swept by segments: its launch range
 * along axis 0 counts segments, 0 .. max(1, ceil(n0 / 4096)) - segment 0 also covers
 * points before the box, the last one those after it. */
#define RK_SEGMENT 4096
#define RK_LANES 32
#define RK_TREE 256 /* partials joined by one point of a tree entry */

typedef struct rk_pass {
    int32_t rank;
    int32_t naction;
    rk_action *action;
    int32_t nfold;
    int32_t nnode;
    rk_ir **node;      /* by id */
    const char *why;   /* of the second and later passes: why it began */
    rk_span why_at;    /* the statement that began it */
    rk_span why_other; /* the one it could not join; source NULL if none */
    /* by array parameter: RUBUS_READ | RUBUS_WRITE, 0 if not touched */
    uint32_t *access;
    int32_t bytes_per_point; /* each array touched counted once, at its widest rank */
    int32_t ops_per_point;
} rk_pass;

/* An access that a launch proves: with the point in all boxes, subscript d is
 * sum coef[a] * point[a] + off and must be in [0, extent d). */
typedef struct rk_access {
    int32_t param;
    rk_span at_source;
    int32_t rank; /* subscripts */
    int64_t coef[3][3];
    rk_affine off[3];
    int32_t nbox;
    const rk_box *const
        *box; /* their intersection; none of its points: nothing to prove */
} rk_access;

typedef struct rk_plan {
    int32_t npass;
    rk_pass *pass; /* per-point kernels: one, with rank only; its code is decl->body */
    int32_t naccess;
    rk_access *access;
} rk_plan;

/* func_measure.c: operations of a call of a func; those of a per-point kernel's body.
 * Both measure the funcs on the way. */
int64_t rk_func_ops(rk_unit *unit, rk_decl *func);
int64_t rk_point_ops(rk_unit *unit, rk_decl *kernel);

/* plan.c, lower.c, access.c. NULL if there were errors (reported). */
rk_plan *rk_plan_build(rk_work *work);

#endif
