/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialects like C: the values of a pass as text. An array is reached through one offset
 * per row, so neighbours along x differ by a literal. A value gets a name of its own
 * where it is used more than once, where its expression would grow deep, or where it is
 * computed once for a row or once for all.
 */
#include "config.h"

#include "libcore/kernel/clike.h"
#include "libcore/kernel/lower.h"

#define DEPTH_MOST 12 /* of an expression before it gets a name */

static const char *const axis_name[3] = {"x", "y", "z"};

/* --- rows -------------------------------------------------------------------------- */

static int32_t rank_of(const rk_c *c, int32_t param)
{
    return c->kernel->decl->param[param]->rank;
}

static int32_t row_find(rk_c *c, int32_t param, const rk_at *at)
{
    rk_c_row row;
    row.param = param;
    row.xdim = -1;
    const int32_t rank = rank_of(c, param);
    for (int32_t d = 0; d < 3; d++) {
        row.at[d].axis = d < rank ? at[d].axis : -1;
        row.at[d].off = d < rank ? at[d].off : rk_affine_int(0);
        if (row.at[d].axis == 0) {
            row.xdim = d;
            row.at[d].off.constant = 0; /* stands beside x */
        }
    }
    for (int32_t i = 0; i < c->nrow; i++) {
        if (c->row[i].param == param && rk_at_equal(c->row[i].at, row.at, 3)) {
            return i;
        }
    }
    rk_spend(c->unit, 4 + c->nrow / 16, c->kernel->decl->at);
    rk_room(c->unit, (void **)&c->row, &c->row_room, c->nrow, sizeof(rk_c_row));
    c->row[c->nrow] = row;
    return c->nrow++;
}

void rk_c_find_rows(rk_c *c)
{
    const rk_pass *pass = c->pass;
    c->nrow = 0;
    c->node_row = rk_new(c->unit, ((size_t)pass->nnode + 1u) * sizeof(int32_t));
    c->action_row = rk_new(c->unit, ((size_t)pass->naction + 1u) * sizeof(int32_t));
    for (int32_t i = 0; i < pass->nnode; i++) {
        if (pass->node[i]->kind == RK_IR_LOAD) {
            c->node_row[i] = row_find(c, pass->node[i]->param, pass->node[i]->at);
        }
    }
    for (int32_t i = 0; i < pass->naction; i++) {
        if (pass->action[i].kind == RK_ACTION_STORE) {
            c->action_row[i] = row_find(c, pass->action[i].param, pass->action[i].at);
        }
    }
}

static void write_row(rk_c *c, int32_t number)
{
    const rk_c_row *row = &c->row[number];
    rk_c_begin(c);
    rk_c_add(c, "const rk_i64 r%d = ", (int)number);
    bool first = true;
    for (int32_t d = 0; d < rank_of(c, row->param); d++) {
        const rk_at *at = &row->at[d];
        const bool named = at->axis > 0;
        if (!named && at->off.nterm == 0 && at->off.constant == 0) {
            continue;
        }
        rk_c_add(c, first ? "" : " + ");
        first = false;
        if (named) {
            const bool sum = at->off.nterm > 0 || at->off.constant != 0;
            rk_c_add(c, sum ? "(%s" : "%s", axis_name[at->axis]);
            rk_c_plus(c, at->off);
            rk_c_add(c, sum ? ")" : "");
        } else {
            rk_c_affine(c, at->off);
        }
        if (d > 0) {
            rk_c_add(c, " * d%d_%d", (int)row->param, (int)d);
        }
    }
    rk_c_add(c, first ? "0;\n" : ";\n");
}

void rk_c_write_rows(rk_c *c)
{
    for (int32_t i = 0; i < c->nrow; i++) {
        write_row(c, i);
    }
}

/* "a0[r3 + x + 1]" */
void rk_c_write_element(rk_c *c, int32_t param, const rk_at *at, int32_t number)
{
    const rk_c_row *row = &c->row[number];
    rk_c_add(c, c->target->pointers ? "a%d[r%d" : "A%d(r%d", (int)param, (int)number);
    if (row->xdim >= 0) {
        rk_c_add(c, row->xdim > 0 ? " + (x" : " + x");
        rk_c_plus(c, rk_affine_int(at[row->xdim].off.constant));
        if (row->xdim > 0) {
            rk_c_add(c, ") * d%d_%d", (int)param, (int)row->xdim);
        }
    }
    rk_c_add(c, c->target->pointers ? "]" : ")");
}

/* --- versions: what has a name, and where it is computed --------------------------- */

static const rk_ir *seen(const rk_c *c, const rk_ir *node)
{
    return c->version->interior && node != NULL
               ? rk_region_interior(c->region, node, c->version->choice)
               : node;
}

static bool is_leaf(const rk_ir *node)
{
    return node->kind == RK_IR_CONST || node->kind == RK_IR_SCALAR ||
           node->kind == RK_IR_COORD;
}

static void use(rk_c *c, const rk_ir *node, bool forced)
{
    node = seen(c, node);
    if (node != NULL) {
        c->version->uses[node->id]++;
        c->version->named[node->id] = c->version->named[node->id] || forced;
    }
}

static void count_uses(rk_c *c)
{
    const rk_pass *pass = c->pass;
    rk_c_version *v = c->version;
    for (int32_t i = 0; i < pass->naction; i++) {
        bool test = false;
        if (!v->interior || rk_region_active(c->region, i, v->choice, &test)) {
            use(c, pass->action[i].value, pass->naction > 1);
        }
    }
    for (int32_t i = pass->nnode - 1; i >= 0; i--) {
        const rk_ir *node = pass->node[i];
        if (v->uses[i] == 0 || c->region->uniform[i]) {
            continue;
        }
        /* both values of a choice are computed, then chosen from: this vectorises */
        const bool choice = node->kind == RK_IR_GUARD ||
                            (node->kind == RK_IR_APPLY && node->op == RK_OP_SELECT);
        use(c, node->a, node->kind == RK_IR_GUARD);
        use(c, node->b, choice);
        use(c, node->c, choice);
        for (int32_t k = 0; k < node->narg; k++) {
            use(c, node->arg[k], false);
        }
    }
}

static int8_t higher(int8_t a, int8_t b)
{
    return a > b ? a : b;
}

static int8_t level_of(rk_c *c, const rk_ir *node)
{
    const rk_c_version *v = c->version;
    if (c->region->uniform[node->id]) {
        return RK_C_UNIFORM;
    }
    if (!v->interior) {
        return RK_C_POINT;
    }
    int8_t level = RK_C_ROW;
    if (node->kind == RK_IR_LOAD) {
        return c->row[c->node_row[node->id]].xdim >= 0 ? RK_C_POINT : RK_C_ROW;
    }
    if (node->kind == RK_IR_COORD) {
        return node->axis == 0 ? RK_C_POINT : RK_C_ROW;
    }
    const rk_ir *operand[3] = {seen(c, node->a), seen(c, node->b), seen(c, node->c)};
    for (int k = 0; k < 3; k++) {
        level = operand[k] == NULL ? level : higher(level, v->level[operand[k]->id]);
    }
    for (int32_t k = 0; k < node->narg; k++) {
        level = higher(level, v->level[seen(c, node->arg[k])->id]);
    }
    return level;
}

static int32_t deeper(rk_c *c, const int32_t *depth, const rk_ir *operand, int32_t d)
{
    operand = seen(c, operand);
    if (operand == NULL || c->version->named[operand->id] || depth[operand->id] < d) {
        return d;
    }
    return depth[operand->id] + 1;
}

static void name_nodes(rk_c *c)
{
    const rk_pass *pass = c->pass;
    rk_c_version *v = c->version;
    int32_t *depth = rk_new(c->unit, ((size_t)pass->nnode + 1u) * sizeof(int32_t));
    for (int32_t i = 0; i < pass->nnode; i++) {
        const rk_ir *node = pass->node[i];
        if (v->uses[i] == 0 && !c->region->uniform[i]) {
            continue;
        }
        v->level[i] = level_of(c, node);
        if (is_leaf(node)) {
            v->named[i] = false;
            continue;
        }
        depth[i] = deeper(c, depth, node->a, 1);
        depth[i] = deeper(c, depth, node->b, depth[i]);
        depth[i] = deeper(c, depth, node->c, depth[i]);
        for (int32_t k = 0; k < node->narg; k++) {
            depth[i] = deeper(c, depth, node->arg[k], depth[i]);
        }
        v->named[i] = v->named[i] || v->uses[i] > 1 || depth[i] > DEPTH_MOST ||
                      v->level[i] != RK_C_POINT || node->kind == RK_IR_CALL ||
                      (node->kind == RK_IR_LOAD && !v->interior);
        if (v->named[i]) {
            depth[i] = 0;
        }
    }
}

void rk_c_version_build(rk_c *c, rk_c_version *version, bool interior, bool choice)
{
    const size_t n = (size_t)c->pass->nnode + 1u;
    version->interior = interior;
    version->choice = choice;
    version->uses = rk_new(c->unit, n * sizeof(int32_t));
    version->level = rk_new(c->unit, n);
    version->named = rk_new(c->unit, n);
    c->version = version;
    count_uses(c);
    name_nodes(c);
}

/* --- nodes as text ----------------------------------------------------------------- */

void rk_c_write_when(rk_c *c, int32_t number)
{
    const rk_when *w = &c->region->when[number];
    switch (w->kind) {
    case RK_WHEN_NEVER:
        rk_c_add(c, "%s", c->target->no);
        break;
    case RK_WHEN_IN:
        rk_c_add(c, "i%d", (int)w->a);
        break;
    case RK_WHEN_OUT:
        rk_c_add(c, "(!i%d)", (int)w->a);
        break;
    case RK_WHEN_COND:
        rk_c_node(c, w->node);
        break;
    case RK_WHEN_AND:
    case RK_WHEN_OR:
        rk_c_add(c, "c%d", (int)number);
        break;
    }
}

static void write_load(rk_c *c, const rk_ir *node)
{
    rk_c_add(c, node->type == RK_BOOL ? "RK_TRUE(" : "");
    rk_c_write_element(c, node->param, node->at, c->node_row[node->id]);
    rk_c_add(c, node->type == RK_BOOL ? ")" : "");
}

static void write_call(rk_c *c, const rk_ir *node)
{
    rk_c_call_open(c, node->func);
    for (int32_t i = 0; i < node->narg; i++) {
        rk_c_add(c, i > 0 ? ", " : "");
        rk_c_node(c, node->arg[i]);
    }
    rk_c_add(c, ")");
}

static void write_expression(rk_c *c, const rk_ir *node)
{
    switch (node->kind) {
    case RK_IR_CONST:
        rk_c_value(c, node->value);
        break;
    case RK_IR_SCALAR:
        rk_c_add(c, "s%d", (int)node->param);
        break;
    case RK_IR_AFFINE:
        rk_c_add(c, "RK_INT(");
        rk_c_affine(c, node->affine);
        rk_c_add(c, ")");
        break;
    case RK_IR_COORD:
        rk_c_add(c, "RK_INT((%s", axis_name[node->axis]);
        rk_c_plus(c, node->affine);
        rk_c_add(c, "))");
        break;
    case RK_IR_LOAD:
        write_load(c, node);
        break;
    case RK_IR_CALL:
        write_call(c, node);
        break;
    case RK_IR_GUARD:
        rk_c_add(c, "(i%d ? ", (int)c->region->guard_box[node->id]);
        rk_c_node(c, node->a);
        rk_c_add(c, " : ");
        rk_c_node(c, node->b);
        rk_c_add(c, ")");
        break;
    case RK_IR_APPLY: {
        const rk_ir *x[3] = {seen(c, node->a), seen(c, node->b), seen(c, node->c)};
        rk_c_part part[3] = {{x[0], NULL, RK_VOID, RK_VOID},
                             {x[1], NULL, RK_VOID, RK_VOID},
                             {x[2], NULL, RK_VOID, RK_VOID}};
        for (int k = 0; k < 3; k++) {
            part[k].type = x[k] != NULL ? x[k]->type : RK_VOID;
        }
        rk_c_apply(c, node->op, node->type, part, false);
        break;
    }
    }
}

void rk_c_node(rk_c *c, const rk_ir *node)
{
    node = seen(c, node);
    if (c->version->named[node->id]) {
        rk_c_add(c, "v%d", (int)node->id);
    } else {
        write_expression(c, node);
    }
}

/* The named values of one level, each after what it needs. */
void rk_c_write_values(rk_c *c, rk_c_level level)
{
    const rk_c_version *v = c->version;
    for (int32_t i = 0; i < c->pass->nnode; i++) {
        const rk_ir *node = c->pass->node[i];
        if (!v->named[i] || v->level[i] != (int8_t)level) {
            continue;
        }
        rk_c_begin(c);
        rk_c_add(c, "const %s v%d = ", rk_c_type(c, node->type), (int)i);
        const bool tested = !v->interior && level == RK_C_POINT &&
                            (node->kind == RK_IR_LOAD || node->kind == RK_IR_CALL);
        if (tested) {
            rk_c_write_when(c, c->region->node_when[i]);
            rk_c_add(c, " ? ");
        }
        write_expression(c, node);
        if (tested) {
            rk_c_add(c, " : %s", rk_c_zero(c, node->type));
        }
        rk_c_add(c, ";\n");
    }
}
