/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields of a whole-array kernel in the order in which a statement evaluates them.
 * Each distinct field is one node; a statement's list names the nodes it needs, operands
 * first, so nothing here recurses however deep a tree is. Three things outlive their
 * statement: values of LETs, snapshots of arrays that a later statement takes as they
 * were before an earlier one, and nothing else; all other temporaries go with their last
 * use.
 */
#include "config.h"

#include "libcore/kernel/interpret_grids.h"

#include <string.h>

/* --- nodes: a hash table by field ------------------------------------------------- */

static size_t place_of(const rk_grids *g, const rk_field *field)
{
    size_t mask = g->nplace - 1;
    size_t k = (size_t)(uint32_t)field->id * 2654435761U & mask;
    while (g->place[k] >= 0 && g->node[g->place[k]].field != field) {
        k = (k + 1) & mask;
    }
    return k;
}

static rubus_status grow_places(rk_grids *g)
{
    size_t old = g->nplace;
    int32_t *places = rubus__alloc_array(old * 2, sizeof(*places));
    if (places == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus__free(g->place);
    g->place = places;
    g->nplace = old * 2;
    memset(places, 0xff, g->nplace * sizeof(*places));
    for (int32_t k = 0; k < g->nnode; k++) {
        places[place_of(g, g->node[k].field)] = k;
    }
    return RUBUS_OK;
}

int32_t rk_grids_find(const rk_grids *g, const rk_field *field)
{
    return g->place[place_of(g, field)];
}

/* Number of the field's node, made if need be. */
static rubus_status node_of(rk_grids *g, const rk_field *field, int32_t *out_node)
{
    int32_t found = rk_grids_find(g, field);
    if (found >= 0) {
        *out_node = found;
        return RUBUS_OK;
    }
    if ((size_t)g->nnode * 2 >= g->nplace) {
        rubus_status st = grow_places(g);
        if (st != RUBUS_OK) {
            return st;
        }
    }
    if (g->nnode == g->node_room) {
        int32_t room = g->node_room * 2;
        rk_node *nodes = rubus__realloc(g->node, (size_t)room * sizeof(*nodes));
        if (nodes == NULL) {
            return RUBUS_ENOMEM;
        }
        g->node = nodes;
        g->node_room = room;
    }
    rk_node *node = &g->node[g->nnode];
    memset(node, 0, sizeof(*node));
    node->field = field;
    node->list = -1;
    node->let = -1;
    g->place[place_of(g, field)] = g->nnode;
    *out_node = g->nnode++;
    return RUBUS_OK;
}

/* --- lists ------------------------------------------------------------------------ */

const rk_field *rk_grids_operand(const rk_field *field, int32_t k)
{
    if (field->kind == RK_FIELD_CALL) {
        return k < field->narg ? field->arg[k] : NULL;
    }
    if (field->kind == RK_FIELD_COORD || k > 2) {
        return NULL; /* the values of a coordinate's field are not read */
    }
    const rk_field *operand[3] = {field->a, field->b, field->c};
    return operand[k];
}

typedef struct visit {
    int32_t node;
    int32_t next; /* operand to look at */
} visit;

typedef struct walk {
    rk_grids *g;
    int32_t list;
    int32_t item;
    visit *stack;
    int32_t depth;
    int32_t room;
} walk;

static rubus_status push(walk *w, int32_t node)
{
    if (w->depth == w->room) {
        int32_t room = w->room == 0 ? 64 : w->room * 2;
        visit *stack = rubus__realloc(w->stack, (size_t)room * sizeof(*stack));
        if (stack == NULL) {
            return RUBUS_ENOMEM;
        }
        w->stack = stack;
        w->room = room;
    }
    w->stack[w->depth].node = node;
    w->stack[w->depth].next = 0;
    w->depth++;
    return RUBUS_OK;
}

/* Whether the node's value stands already when the statement runs. */
static bool stands(walk *w, rk_node *node)
{
    if (node->let >= 0 && node->let < w->item) {
        node->kept = true;
        return true;
    }
    if (node->field->kind == RK_FIELD_ARRAY && node->field->when != w->item) {
        node->snapshot = true;
        return true;
    }
    return false;
}

/* Uses the field once more; its operands are still to be visited if it is new. */
static rubus_status use(walk *w, const rk_field *field)
{
    int32_t number;
    rubus_status st = node_of(w->g, field, &number);
    if (st != RUBUS_OK) {
        return st;
    }
    rk_node *node = &w->g->node[number];
    if (stands(w, node)) {
        return RUBUS_OK;
    }
    if (node->list == w->list) {
        node->uses++;
        return RUBUS_OK;
    }
    node->list = w->list;
    node->uses = 1;
    return push(w, number);
}

static rubus_status append(rk_list *list, rk_step step)
{
    if (list->nstep == list->room) {
        int32_t room = list->room == 0 ? 32 : list->room * 2;
        rk_step *steps = rubus__realloc(list->step, (size_t)room * sizeof(*steps));
        if (steps == NULL) {
            return RUBUS_ENOMEM;
        }
        list->step = steps;
        list->room = room;
    }
    list->step[list->nstep++] = step;
    return RUBUS_OK;
}

/* Fills the list of one root; the order is that of the last visits, operands first. */
static rubus_status make_list(rk_grids *g, int32_t number, int32_t item,
                              const rk_field *root)
{
    rk_list *list = &g->list[number];
    list->root = root;
    walk w = {g, number, item, NULL, 0, 0};
    rubus_status st = use(&w, root);
    while (st == RUBUS_OK && w.depth > 0) {
        visit *top = &w.stack[w.depth - 1];
        const rk_node *node = &g->node[top->node];
        const rk_field *operand = rk_grids_operand(node->field, top->next);
        if (operand != NULL) {
            top->next++;
            st = use(&w, operand);
            continue;
        }
        rk_step step = {top->node, 0};
        st = append(list, step);
        w.depth--;
    }
    for (int32_t k = 0; k < list->nstep; k++) {
        list->step[k].uses = g->node[list->step[k].node].uses;
    }
    rubus__free(w.stack);
    return st;
}

static rubus_status make_lists(rk_grids *g, const rk_work *work)
{
    for (int32_t k = 0; k < work->nitem; k++) {
        const rk_item *item = &work->item[k];
        rubus_status st = make_list(g, 2 * k, k, item->value);
        if (st == RUBUS_OK && item->cond != NULL && item->kind != RK_ITEM_LET) {
            st = make_list(g, 2 * k + 1, k, item->cond);
        }
        if (st != RUBUS_OK) {
            return st;
        }
        int32_t root = rk_grids_find(g, item->value);
        if (item->kind == RK_ITEM_LET && g->node[root].let < 0) {
            g->node[root].let = k;
        }
    }
    return RUBUS_OK;
}

rubus_status rk_grids_create(rk_machine *machine, rk_grids **out_grids)
{
    const rk_work *work = machine->kernel->work;
    rk_grids *g = rubus__alloc(sizeof(*g));
    if (g == NULL) {
        return RUBUS_ENOMEM;
    }
    g->machine = machine;
    g->nplace = 128;
    g->node_room = 64;
    g->nlist = 2 * work->nitem;
    g->place = rubus__alloc_array(g->nplace, sizeof(*g->place));
    g->node = rubus__alloc_array((size_t)g->node_room, sizeof(*g->node));
    g->list = rubus__alloc_array((size_t)g->nlist, sizeof(*g->list));
    rubus_status st = RUBUS_ENOMEM;
    if (g->place != NULL && g->node != NULL && g->list != NULL) {
        memset(g->place, 0xff, g->nplace * sizeof(*g->place));
        st = make_lists(g, work);
    }
    if (st != RUBUS_OK) {
        rk_grids_destroy(g);
        return st;
    }
    for (int32_t k = 0; k < g->nnode; k++) { /* from here on nodes stay where they are */
        g->node[k].grid.param = -1;
    }
    *out_grids = g;
    return RUBUS_OK;
}

void rk_grids_destroy(rk_grids *g)
{
    if (g == NULL) {
        return;
    }
    for (int32_t k = 0; g->node != NULL && k < g->nnode; k++) {
        rk_grid_drop(&g->node[k].grid);
    }
    for (int32_t k = 0; g->list != NULL && k < g->nlist; k++) {
        rubus__free(g->list[k].step);
    }
    rubus__free(g->list);
    rubus__free(g->node);
    rubus__free(g->place);
    rubus__free(g);
}

/* --- running ---------------------------------------------------------------------- */

rubus_status rk_grids_snapshot(rk_grids *g, int32_t item)
{
    for (int32_t k = 0; k < g->nnode; k++) {
        rk_node *node = &g->node[k];
        if (!node->snapshot || node->field->when != item) {
            continue;
        }
        node->list = -1;
        rk_grid now;
        memset(&now, 0, sizeof(now));
        rubus_status st = rk_grid_make(g, node->field, &now);
        if (st == RUBUS_OK) {
            st = rk_grid_copy(&now, &node->grid);
        }
        if (st != RUBUS_OK) {
            return st;
        }
    }
    return RUBUS_OK;
}

/* One use of the operand is over. */
static void used(rk_grids *g, int32_t list, const rk_field *operand)
{
    rk_node *node = &g->node[rk_grids_find(g, operand)];
    if (node->list == list && --node->left == 0) {
        rk_grid_drop(&node->grid);
    }
}

static rubus_status run_list(rk_grids *g, int32_t number)
{
    const rk_list *list = &g->list[number];
    for (int32_t k = 0; k < list->nstep; k++) {
        rk_node *node = &g->node[list->step[k].node];
        if (node->snapshot) {
            continue; /* taken already, for a later statement too */
        }
        node->list = number;
        node->left = list->step[k].uses;
        rubus_status st = rk_grid_make(g, node->field, &node->grid);
        if (st != RUBUS_OK) {
            return st; /* rk_grids_destroy gives back what stands */
        }
        const rk_field *operand;
        for (int32_t j = 0; (operand = rk_grids_operand(node->field, j)) != NULL; j++) {
            used(g, number, operand);
        }
    }
    return RUBUS_OK;
}

rubus_status rk_grids_evaluate(rk_grids *g, int32_t item, bool cond,
                               const rk_grid **out_grid)
{
    int32_t number = 2 * item + (cond ? 1 : 0);
    rubus_status st = run_list(g, number);
    if (st == RUBUS_OK) {
        *out_grid = &g->node[rk_grids_find(g, g->list[number].root)].grid;
    }
    return st;
}

void rk_grids_release(rk_grids *g, int32_t item, bool cond)
{
    int32_t number = 2 * item + (cond ? 1 : 0);
    used(g, number, g->list[number].root);
}

rubus_status rk_grids_keep(rk_grids *g, int32_t item)
{
    int32_t number = 2 * item;
    rk_node *node = &g->node[rk_grids_find(g, g->list[number].root)];
    if (!node->kept || node->let != item) {
        return RUBUS_OK; /* never used, or kept already under another name */
    }
    rubus_status st = run_list(g, number);
    node->list = -1; /* it outlives this statement */
    if (st == RUBUS_OK && node->grid.param >= 0) {
        rk_grid view = node->grid; /* arrays change, a LET does not */
        st = rk_grid_copy(&view, &node->grid);
    }
    return st;
}
