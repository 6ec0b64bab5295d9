/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_LOWER_H
#define RK_LOWER_H
/*
 * From fields to nodes: the value of a field at one point of a pass. Used twice for each
 * statement by plan.c: once alone, to learn what it accesses, and once inside its pass.
 */
#include "libcore/kernel/plan.h"

/* Boxes that hold where a value is needed, innermost first. Equal chains are one object.
 * */
typedef struct rk_chain {
    const struct rk_chain *outer;
    rk_box box;
    int32_t length;
} rk_chain;

/* One read of an array by a statement. */
typedef struct rk_read {
    int32_t param;
    int32_t rank;
    int32_t when;
    rk_at at[3];
    const rk_chain *chain; /* its last link is the statement's own box */
    rk_span at_source;
} rk_read;

/* Nodes of one pass (or of one statement alone), and what lowering has met. */
typedef struct rk_lower {
    rk_work *work;
    rk_unit *unit;
    rk_pass *pass; /* NULL: a statement alone, nothing is forwarded */
    rk_ir **node;
    int32_t nnode;
    int32_t node_room;
    rk_ir **table; /* hash-consing: open addressing by node hash */
    uint32_t *hash;
    int32_t table_room;
    struct rk_memo *memo; /* of the present statement */
    int32_t memo_room;
    int32_t nmemo;
    rk_chain **chain;
    int32_t nchain;
    int32_t chain_room;
    rk_read *read;
    int32_t nread;
    int32_t read_room;
    int32_t depth;
} rk_lower;

void rk_lower_init(rk_lower *lower, rk_work *work, rk_pass *pass);
/* Forgets memo and reads: a new statement begins. */
void rk_lower_statement(rk_lower *lower);
const rk_chain *rk_lower_chain(rk_lower *lower, const rk_chain *outer, const rk_box *box);
/* Value of `field` at position at[] (one per dimension of the field). */
rk_ir *rk_lower_field(rk_lower *lower, const rk_field *field, const rk_at *at,
                      const rk_chain *chain);
/* `value` converted to `type` (only int to real). */
rk_ir *rk_lower_convert(rk_lower *lower, rk_ir *value, rk_type type);
/* True if the points of `chain` are certainly points of `box`. */
bool rk_chain_inside(const rk_work *work, const rk_chain *chain, const rk_box *box);
bool rk_at_equal(const rk_at *a, const rk_at *b, int32_t rank);
bool rk_box_equal(const rk_box *a, const rk_box *b);
/* Grows an arena array to hold one more. */
void rk_room(rk_unit *unit, void **array, int32_t *room, int32_t n, size_t size);

/* --- node.c ----------------------------------------------------------------------- */

/* Of no array, axis or value yet. */
rk_ir rk_node_draft(rk_ir_kind kind, rk_type type, rk_span at);
/* The node equal to *draft, made if there is none. */
rk_ir *rk_node_get(rk_lower *lower, const rk_ir *draft);
uint32_t rk_mix(uint32_t h, uint64_t v);
uint32_t rk_mix_affine(uint32_t h, rk_affine a);

/* --- access.c --------------------------------------------------------------------- */

/* Turns the reads (and the write) of a statement into accesses of the plan; reports those
 * that certainly leave their arrays. */
void rk_access_add(rk_work *work, rk_plan *plan, int32_t *room, const rk_read *read);
/* Accesses of a per-point kernel that are certain to be made; marks them as proven. */
void rk_access_point(rk_work *work, rk_plan *plan);

#endif
