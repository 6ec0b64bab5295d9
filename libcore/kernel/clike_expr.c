/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialects like C: expressions of per-point code. They are written inline as the tree
 * stands; where one is deeper than compilers like, its inner parts get lines and names
 * of their own first, inside an `if` where `&&`, `||` or `?:` would not have evaluated
 * them.
 *
 * Subscripts that a launch has proven are computed in 64 bits throughout, which lets
 * the compiler see that neighbours are neighbours; the others in the module's int, as
 * they read.
 */
#include "config.h"

#include <string.h>

#include "libcore/kernel/clike.h"
#include "libcore/kernel/lower.h"

#define HEIGHT_MOST 48 /* of an inline expression, and half as much again */
#define NEAR 65536     /* index + literal cannot wrap for a literal below this */

static const char *const axis_name[3] = {"x", "y", "z"};

/* --- subscripts -------------------------------------------------------------------- */

static void write_name(rk_c *c, const rk_decl *decl, bool wide)
{
    switch (decl->kind) {
    case RK_DECL_INDEX:
        rk_c_add(c, wide ? "%s" : "RK_INT(%s)", axis_name[decl->number]);
        break;
    case RK_DECL_EXTENT:
        rk_c_add(c, wide ? "n%d" : "RK_INT(n%d)",
                 (int)rk_emit_extent_symbol(c->kernel->work, decl->name));
        break;
    case RK_DECL_PARAM:
        rk_c_add(c,
                 c->body_of->kind == RK_DECL_FUNC ? "p%d"
                 : wide                           ? "RK_I64(s%d)"
                                                  : "s%d",
                 (int)decl->number);
        break;
    default:
        rk_c_add(c, "v%d", (int)decl->number);
        break;
    }
}

static void write_extent(rk_c *c, const rk_expr *call)
{
    rk_c_affine(
        c, c->kernel->work->extent[call->arg[0]->decl->number][call->arg[1]->value.i]);
}

/* A proven subscript: affine in indices, extents and scalars. */
static void write_wide(rk_c *c, const rk_expr *e)
{
    switch (e->kind) {
    case RK_EXPR_INT:
        rk_c_i64(c, e->value.i);
        return;
    case RK_EXPR_NAME:
        write_name(c, e->decl, true);
        return;
    case RK_EXPR_CALL:
        if (e->op == RK_OP_EXTENT) {
            write_extent(c, e);
            return;
        }
        break;
    case RK_EXPR_UNARY:
        rk_c_add(c, "(-");
        write_wide(c, e->a);
        rk_c_add(c, ")");
        return;
    case RK_EXPR_BINARY:
        rk_c_add(c, "(");
        write_wide(c, e->a);
        rk_c_add(c, e->op == RK_OP_ADD ? " + " : e->op == RK_OP_SUB ? " - " : " * ");
        write_wide(c, e->b);
        rk_c_add(c, ")");
        return;
    default:
        break;
    }
    rk_c_add(c, "RK_I64(");
    rk_c_expr(c, e);
    rk_c_add(c, ")");
}

static bool is_index(const rk_expr *e)
{
    return e->kind == RK_EXPR_NAME && e->decl->kind == RK_DECL_INDEX;
}

/* Index plus or minus a small literal: the same in 64 bits. */
static bool is_near(const rk_expr *e)
{
    const bool sum =
        e->kind == RK_EXPR_BINARY && (e->op == RK_OP_ADD || e->op == RK_OP_SUB);
    return is_index(e) ||
           (sum && is_index(e->a) && e->b->kind == RK_EXPR_INT && e->b->value.i < NEAR);
}

static void write_subscript(rk_c *c, const rk_expr *index, int32_t d)
{
    const rk_expr *e = index->sub[d].lo;
    if (index->proven || is_near(e)) {
        write_wide(c, e);
    } else {
        rk_c_add(c, "RK_I64(");
        rk_c_expr(c, e);
        rk_c_add(c, ")");
    }
}

bool rk_c_is_tested(const rk_c *c, const rk_expr *index)
{
    if (index->a->decl->kind == RK_DECL_LOCAL) {
        return !rk_local_index_is_sure(index);
    }
    return c->unit->check && !index->proven;
}

void rk_c_offset(rk_c *c, const rk_expr *index)
{
    const rk_decl *array = index->a->decl;
    rk_c_add(c, "rk_at%d(", (int)index->nsub);
    if (c->target->pointers) {
        rk_c_add(c, "%s, ", c->unit->check ? c->error : "0");
    }
    rk_c_add(c, "%d", c->unit->check ? (int)rk_expr_site(index) : 0);
    for (int32_t d = 0; d < index->nsub; d++) {
        rk_c_add(c, ", ");
        write_subscript(c, index, d);
        rk_c_add(c, ", ");
        if (array->kind == RK_DECL_LOCAL) {
            rk_c_i64(c, array->length_value);
        } else {
            rk_c_affine(c, c->kernel->work->extent[array->number][d]);
        }
    }
    rk_c_add(c, ")");
}

void rk_c_element_of(rk_c *c, const rk_expr *index, const char *offset)
{
    const rk_decl *array = index->a->decl;
    const bool local = array->kind == RK_DECL_LOCAL;
    const bool call = !local && !c->target->pointers;
    rk_c_add(c, local ? "v%d[RK_LOCAL(" : call ? "A%d(" : "a%d[", (int)array->number);
    rk_c_add(c, "%s", offset != NULL ? offset : "");
    for (int32_t d = 0; d < index->nsub && offset == NULL; d++) {
        rk_c_add(c, d > 0 ? " + " : "");
        write_subscript(c, index, d);
        if (d > 0) {
            rk_c_add(c, " * d%d_%d", (int)array->number, (int)d);
        }
    }
    rk_c_add(c, local ? ")]" : call ? ")" : "]");
}

/* --- expressions ------------------------------------------------------------------- */

/* Where a test of the subscripts fails the element is 0. */
static void write_tested(rk_c *c, const rk_expr *e)
{
    const rk_decl *array = e->a->decl;
    const char *type = e->type == RK_REAL ? "real" : e->type == RK_INT ? "int" : "bool";
    rk_c_add(c, array->kind == RK_DECL_LOCAL ? "rk_pick_%s(v%d, " : "rk_get_%s(a%d, ",
             type, (int)array->number);
    rk_c_offset(c, e);
    rk_c_add(c, ")");
}

static void write_index(rk_c *c, const rk_expr *e)
{
    const bool byte = rk_c_is_byte(c, e->type, e->a->decl->kind == RK_DECL_LOCAL);
    const bool tested = rk_c_is_tested(c, e);
    const bool held = tested && !c->target->pointers;
    if (held) { /* in a global; operands are evaluated one after the other there */
        rk_c_add(c, "((rk_hold = ");
        rk_c_offset(c, e);
        rk_c_add(c, ") < 0 ? %s : ", rk_c_zero(c, e->type));
    }
    rk_c_add(c, byte ? "RK_TRUE(" : "");
    if (tested && !held) {
        write_tested(c, e);
    } else {
        rk_c_element_of(c, e, held ? "rk_hold" : NULL);
    }
    rk_c_add(c, byte ? ")" : "");
    rk_c_add(c, held ? ")" : "");
}

static void write_func(rk_c *c, const rk_decl *func, const rk_expr *const *arg,
                       int32_t narg)
{
    rk_c_call_open(c, func);
    for (int32_t i = 0; i < narg; i++) {
        rk_c_add(c, i > 0 ? ", " : "");
        rk_c_expr_as(c, arg[i], func->param[i]->type);
    }
    rk_c_add(c, ")");
}

static void write_apply(rk_c *c, const rk_expr *e, const rk_expr *const *operand)
{
    rk_c_part part[3];
    memset(part, 0, sizeof(part));
    for (int i = 0; i < 3 && i < rk_op_operands(e->op); i++) {
        part[i].expr = operand[i];
        part[i].type = operand[i]->type;
    }
    rk_c_apply(c, e->op, e->type, part, true);
}

static void write_literal(rk_c *c, const rk_expr *e)
{
    rk_value v = {e->type, {0}};
    if (e->kind == RK_EXPR_BOOL) {
        v.u.b = e->value.b;
    } else if (e->kind == RK_EXPR_REAL) {
        v.type = RK_REAL;
        v.u.real = c->unit->numbers.f64 ? e->value.real : (double)e->real32;
    } else {
        v.type = RK_INT;
        v.u.i = e->value.i;
        v = rk_convert(&c->unit->numbers, rk_convert(&c->unit->numbers, v, RK_INT),
                       e->type);
    }
    rk_c_value(c, v);
}

static bool write_temp(rk_c *c, const rk_expr *e)
{
    for (int32_t i = c->ntemp - 1; i >= 0; i--) {
        if (c->temp[i].expr == e) {
            rk_c_add(c, "t%d", (int)c->temp[i].number);
            return true;
        }
    }
    return false;
}

void rk_c_expr(rk_c *c, const rk_expr *e)
{
    if (write_temp(c, e)) {
        return;
    }
    const rk_expr *const operand[3] = {e->a, e->b, e->c};
    switch (e->kind) {
    case RK_EXPR_REAL:
    case RK_EXPR_INT:
    case RK_EXPR_BOOL:
        write_literal(c, e);
        break;
    case RK_EXPR_NAME:
        write_name(c, e->decl, false);
        break;
    case RK_EXPR_INDEX:
        write_index(c, e);
        break;
    case RK_EXPR_CALL:
        if (e->op == RK_OP_EXTENT) {
            rk_c_add(c, "RK_INT(");
            write_extent(c, e);
            rk_c_add(c, ")");
        } else if (e->op == RK_OP_NONE) {
            write_func(c, e->decl, (const rk_expr *const *)e->arg, e->narg);
        } else {
            write_apply(c, e, (const rk_expr *const *)e->arg);
        }
        break;
    case RK_EXPR_POWER:
        if (e->op == RK_OP_NONE) {
            write_func(c, e->decl, operand, 2);
            break;
        }
        write_apply(c, e, operand);
        break;
    case RK_EXPR_UNARY:
    case RK_EXPR_BINARY:
        write_apply(c, e, operand);
        break;
    case RK_EXPR_SELECT: {
        rk_expr select = *e;
        select.op = RK_OP_SELECT;
        write_apply(c, &select, operand);
        break;
    }
    case RK_EXPR_RANGE:
    case RK_EXPR_TUPLE: // in forms only, which have rules of their own
    case RK_EXPR_LABEL:
        break; /* whole-array statements only */
    }
}

void rk_c_expr_as(rk_c *c, const rk_expr *expr, rk_type type)
{
    const rk_c_part part = {NULL, expr, expr->type, type};
    rk_c_part_write(c, &part);
}

/* --- deep ones --------------------------------------------------------------------- */

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t height(const rk_expr *e)
{
    if (e == NULL) {
        return 0;
    }
    int32_t h = larger(height(e->a), larger(height(e->b), height(e->c)));
    for (int32_t i = 0; i < e->narg; i++) {
        h = larger(h, height(e->arg[i]));
    }
    for (int32_t i = 0; i < e->nsub; i++) {
        h = larger(h, height(e->sub[i].lo));
    }
    return h + 1;
}

bool rk_c_is_deep(const rk_expr *expr)
{
    return height(expr) > HEIGHT_MOST;
}

/* Conditions between the top of an expression and a part of it, the innermost first. */
typedef struct rk_c_path {
    const struct rk_c_path *outer;
    const rk_expr *cond;
    bool negated;
} rk_c_path;

static void write_path(rk_c *c, const rk_c_path *path)
{
    if (path->outer != NULL) {
        write_path(c, path->outer);
        rk_c_add(c, " && ");
    }
    rk_c_add(c, path->negated ? "!" : "");
    rk_c_expr(c, path->cond);
}

/* A temp that tells whether what lies at the end of the path is evaluated. */
static int32_t write_guard(rk_c *c, int32_t guard, const rk_c_path *path)
{
    if (path == NULL) {
        return guard;
    }
    const int32_t number = c->next_temp++;
    rk_c_begin(c);
    rk_c_add(c, "const %s t%d = ", c->target->boolean, (int)number);
    if (guard >= 0) {
        rk_c_add(c, "t%d && ", (int)guard);
    }
    write_path(c, path);
    rk_c_add(c, ";\n");
    return number;
}

static void cut_part(rk_c *c, const rk_expr *e, int32_t depth, int32_t guard,
                     const rk_c_path *path);

/* A line for e, after those for its own deep parts. */
static void name_part(rk_c *c, const rk_expr *e, int32_t guard, const rk_c_path *path)
{
    guard = write_guard(c, guard, path);
    cut_part(c, e, 0, guard, NULL);
    const int32_t number = c->next_temp++;
    rk_c_begin(c);
    rk_c_add(c, "const %s t%d = ", rk_c_type(c, e->type), (int)number);
    if (guard >= 0) {
        rk_c_add(c, "t%d ? ", (int)guard);
    }
    rk_c_expr(c, e);
    if (guard >= 0) {
        rk_c_add(c, " : %s", rk_c_zero(c, e->type));
    }
    rk_c_add(c, ";\n");
    rk_room(c->unit, (void **)&c->temp, &c->temp_room, c->ntemp, sizeof(rk_c_temp));
    c->temp[c->ntemp].expr = e;
    c->temp[c->ntemp++].number = number;
}

/* Descends from a named part (depth 0) and names what lies too deep below it. guard: the
 * temp that tells whether the part is evaluated at all, -1: it is. */
static void cut_part(rk_c *c, const rk_expr *e, int32_t depth, int32_t guard,
                     const rk_c_path *path)
{
    if (e == NULL || e->kind == RK_EXPR_NAME || e->op == RK_OP_EXTENT) {
        return;
    }
    if (depth >= HEIGHT_MOST && height(e) > HEIGHT_MOST / 2) {
        name_part(c, e, guard, path);
        return;
    }
    depth++;
    cut_part(c, e->a, depth, guard, path);
    if (e->kind == RK_EXPR_SELECT || e->op == RK_OP_AND || e->op == RK_OP_OR) {
        const rk_c_path b = {path, e->a, e->op == RK_OP_OR};
        const rk_c_path other = {path, e->a, true};
        cut_part(c, e->b, depth, guard, &b);
        cut_part(c, e->c, depth, guard, &other);
        return;
    }
    cut_part(c, e->b, depth, guard, path);
    for (int32_t i = 0; i < e->narg; i++) {
        cut_part(c, e->arg[i], depth, guard, path);
    }
    for (int32_t i = 0; i < e->nsub; i++) {
        cut_part(c, e->sub[i].lo, depth, guard, path);
    }
}

void rk_c_settle(rk_c *c, const rk_expr *expr)
{
    if (expr != NULL && rk_c_is_deep(expr)) {
        cut_part(c, expr, 0, -1, NULL);
    }
}
