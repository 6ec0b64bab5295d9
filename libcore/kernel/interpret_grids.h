/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_INTERPRET_GRIDS_H
#define RK_INTERPRET_GRIDS_H
/*
 * What interpret_grids.c (which fields, in which order, for how long) and
 * interpret_array.c (the elements of one field) share.
 */
#include "libcore/kernel/interpret.h"

typedef struct rk_node { /* one field of the kernel */
    const rk_field *field;
    rk_grid grid;
    int32_t list;  /* that evaluates it now; -1: none, the grid is not its own to drop */
    int32_t uses;  /* of it in the list that was made last */
    int32_t left;  /* uses to come while the list runs */
    int32_t let;   /* number of the LET whose value it is, or -1 */
    bool kept;     /* a LET that later statements use */
    bool snapshot; /* an array as it is before statement field->when */
} rk_node;

typedef struct rk_step {
    int32_t node;
    int32_t uses;
} rk_step;

typedef struct rk_list { /* value (2 * item) or cond (2 * item + 1) of a statement */
    const rk_field *root;
    int32_t nstep;
    int32_t room;
    rk_step *step;
} rk_list;

struct rk_grids {
    rk_machine *machine;
    int32_t nnode;
    int32_t node_room;
    rk_node *node;
    size_t nplace;  /* hash table: a power of two */
    int32_t *place; /* number of a node, or -1 */
    int32_t nlist;
    rk_list *list;
};

int32_t rk_grids_find(const rk_grids *grids, const rk_field *field);
/* Operand number k, NULL past the last. */
const rk_field *rk_grids_operand(const rk_field *field, int32_t k);
/* The elements of a field whose operands stand. *grid is empty before, and left so on
 * failure. */
rubus_status rk_grid_make(rk_grids *grids, const rk_field *field, rk_grid *grid);

#endif
