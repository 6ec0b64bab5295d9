/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of per-point code, walked as the tree stands: `&&`, `||` and `?:` evaluate
 * only what they need, every index is tested, and in a checked program every access to an
 * array that the kernel writes is entered in the array's shadow. After a failure values
 * are 0 and nothing is written; the statements stop as soon as they see it.
 */
#include "config.h"

#include "libcore/kernel/interpret.h"

#include <string.h>

static rk_value int_value(int64_t i)
{
    rk_value v = {RK_INT, {0}};
    v.u.i = i;
    return v;
}

static rk_value bool_value(bool b)
{
    rk_value v = {RK_BOOL, {0}};
    v.u.b = b;
    return v;
}

static rk_value as_type(const rk_machine *m, rk_value v, rk_type type)
{
    return v.type == type || type == RK_VOID ? v : rk_convert(m->numbers, v, type);
}

/* --- messages --------------------------------------------------------------------- */

/* "3, 0" */
static void list_text(char *out, size_t room, const int64_t n[3], int32_t count)
{
    size_t used = 0;
    out[0] = '\0';
    for (int32_t k = 0; k < 3 && k < count && used < room; k++) {
        int w = rubus__snprintf(out + used, room - used, "%s%lld", k > 0 ? ", " : "",
                                (long long)n[k]);
        used += w > 0 ? (size_t)w : 0;
    }
}

static __attribute__((noinline)) void fail_bounds(rk_machine *m, rk_span at,
                                                  const char *name, const int64_t *index,
                                                  const int64_t *n, int32_t rank)
{
    char index_text[96];
    char extent_text[96];
    list_text(index_text, sizeof(index_text), index, rank);
    list_text(extent_text, sizeof(extent_text), n, rank);
    int32_t d = 0;
    while (d < rank - 1 && index[d] >= 0 && index[d] < n[d]) {
        d++;
    }
    m->status = rk_machine_fail(m, RUBUS_EBOUNDS, at,
                                "`%s[%s]` leaves the array of extents %s: index %lld in "
                                "dimension %d must be in 0:%lld",
                                name, index_text, extent_text, (long long)index[d], d,
                                (long long)n[d]);
}

static void point_text(const rk_machine *m, int64_t number, char *out, size_t room)
{
    int64_t at[3];
    number--;
    for (int32_t d = 0; d < 3; d++) {
        int64_t n = m->hi[d] - m->lo[d];
        at[d] = d < m->kernel->decl->nindex ? m->lo[d] + number % n : 0;
        number = d < m->kernel->decl->nindex ? number / n : 0;
    }
    list_text(out, room, at, m->kernel->decl->nindex);
}

static __attribute__((noinline)) void fail_race(rk_machine *m, const rk_spot *place,
                                                rk_span at, rk_touch touch, int64_t other,
                                                rk_touch other_touch)
{
    static const char *const does[] = {"reads", "writes", "adds to"};
    char here[96];
    char there[96];
    char index_text[96];
    point_text(m, m->points.number, here, sizeof(here));
    point_text(m, other, there, sizeof(there));
    int64_t index[3];
    int64_t rest = place->element;
    for (int32_t d = 0; d < place->array->rank; d++) {
        index[d] = rest % place->array->n[d];
        rest /= place->array->n[d];
    }
    list_text(index_text, sizeof(index_text), index, place->array->rank);
    m->status = rk_machine_fail(
        m, RUBUS_EBOUNDS, at,
        "race between points: point (%s) %s `%s[%s]`, which point (%s) %s; points may "
        "meet in "
        "an element only by atomic_add, or if all of them read it",
        here, does[touch], place->decl->name, index_text, there, does[other_touch]);
}

/* --- places ----------------------------------------------------------------------- */

static bool locate_local(rk_machine *m, const rk_expr *target, rk_spot *out_place)
{
    rk_decl *decl = target->kind == RK_EXPR_INDEX ? target->a->decl : target->decl;
    const rk_points *p = &m->points;
    int64_t cell = 0;
    if (target->kind == RK_EXPR_INDEX) {
        rk_value index = rk_evaluate(m, target->sub[0].lo);
        if (target->sub[0].lo_end) {
            index = rk_operate(m->numbers, RK_OP_NEG, RK_INT, index, index, index);
        }
        if (m->status != RUBUS_OK) {
            return false;
        }
        cell = index.u.i;
        if (cell < 0 || cell >= decl->length_value) {
            fail_bounds(m, target->at, decl->name, &cell, &decl->length_value, 1);
            return false;
        }
    }
    cell += decl->kind == RK_DECL_LOCAL ? p->frame->offset[decl->number] : decl->number;
    out_place->array = NULL;
    out_place->decl = decl;
    out_place->element = p->base + cell;
    out_place->type = decl->type;
    return true;
}

bool rk_locate(rk_machine *m, const rk_expr *target, rk_spot *out_place)
{
    if (target->kind != RK_EXPR_INDEX || target->a->decl->kind == RK_DECL_LOCAL) {
        return locate_local(m, target, out_place);
    }
    rk_decl *decl = target->a->decl;
    rk_operand *array = &m->operand[decl->number];
    int64_t index[3] = {0, 0, 0};
    int64_t element = 0;
    int64_t step = 1;
    bool inside = true;
    for (int32_t d = 0; d < target->nsub && d < 3; d++) {
        rk_value v = rk_evaluate(m, target->sub[d].lo);
        if (target->sub[d].lo_end) {
            v = rk_operate(m->numbers, RK_OP_NEG, RK_INT, v, v, v);
        }
        index[d] = v.u.i;
        inside = inside && index[d] >= 0 && index[d] < array->n[d];
        element += inside ? index[d] * step : 0;
        step *= array->n[d];
    }
    if (m->status != RUBUS_OK) {
        return false;
    }
    if (!inside) {
        fail_bounds(m, target->at, decl->name, index, array->n, array->rank);
        return false;
    }
    out_place->array = array;
    out_place->decl = decl;
    out_place->element = element;
    out_place->type = decl->type;
    return true;
}

/* Enters an access in the shadow; false if it is a race. */
static bool enter(rk_machine *m, const rk_spot *place, rk_span at, rk_touch touch)
{
    rk_shadow *shadow = place->array->shadow;
    if (shadow == NULL) {
        return true;
    }
    rk_touch how;
    int64_t other =
        rk_shadow_touch(shadow, place->element, m->points.number, touch, &how);
    if (other != 0) {
        fail_race(m, place, at, touch, other, how);
        return false;
    }
    return true;
}

static char *address_of(const rk_spot *place)
{
    size_t size = rubus__type_size(place->array->type);
    return place->array->base + (size_t)place->element * size;
}

rk_value rk_spot_read(rk_machine *m, const rk_spot *place, rk_span at, rk_touch touch)
{
    if (place->array == NULL) {
        return m->points.cell[place->element];
    }
    if (!enter(m, place, at, touch)) {
        return rk_zero(place->type);
    }
    return rk_element_get(place->array->type, address_of(place));
}

void rk_spot_write(rk_machine *m, const rk_spot *place, rk_span at, rk_touch touch,
                   rk_value v)
{
    v = as_type(m, v, place->type);
    if (place->array == NULL) {
        m->points.cell[place->element] = v;
    } else if (enter(m, place, at, touch)) {
        rk_element_set(place->array->type, address_of(place), v);
    }
}

/* --- expressions ------------------------------------------------------------------ */

static int64_t extent_value(const rk_machine *m, const rk_decl *decl)
{
    const rk_work *work = m->kernel->work;
    for (int32_t k = 0; k < work->nsymbol; k++) {
        if (work->symbol[k].kind == RK_SYMBOL_EXTENT &&
            strcmp(work->symbol[k].name, decl->name) == 0) {
            return m->symbol[k];
        }
    }
    return 0;
}

static rk_value name_value(const rk_machine *m, const rk_expr *expr)
{
    const rk_decl *decl = expr->decl;
    const rk_points *p = &m->points;
    switch (decl->kind) {
    case RK_DECL_INDEX:
        return int_value(p->at[decl->number]);
    case RK_DECL_EXTENT:
        return as_type(m, int_value(extent_value(m, decl)), RK_INT);
    case RK_DECL_LOCAL:
        return p->cell[p->base + p->frame->offset[decl->number]];
    default: /* a parameter: of the func that runs, or of the kernel */
        return p->frame->decl->kind == RK_DECL_FUNC ? p->cell[p->base + decl->number]
                                                    : m->operand[decl->number].value;
    }
}

static __attribute__((noinline)) rk_value
call_func(rk_machine *m, const rk_decl *func, const rk_expr *const *arg, int32_t narg)
{
    const rk_body *body;
    int64_t base;
    if (!rk_frame_open(m, func, &body, &base)) {
        return rk_zero(func->type);
    }
    for (int32_t k = 0; k < narg; k++) {
        rk_value v = as_type(m, rk_evaluate(m, arg[k]), func->param[k]->type);
        m->points.cell[base + k] = v;
    }
    return rk_frame_run(m, body, base);
}

static __attribute__((noinline)) rk_value call_value(rk_machine *m, const rk_expr *expr)
{
    if (expr->op == RK_OP_NONE) {
        return call_func(m, expr->decl, (const rk_expr *const *)expr->arg, expr->narg);
    }
    if (expr->op == RK_OP_EXTENT) {
        const rk_operand *array = &m->operand[expr->arg[0]->decl->number];
        int64_t d = expr->arg[1]->value.i;
        return as_type(m, int_value(d >= 0 && d < array->rank ? array->n[d] : 0), RK_INT);
    }
    rk_value v[3] = {rk_zero(RK_VOID), rk_zero(RK_VOID), rk_zero(RK_VOID)};
    for (int32_t k = 0; k < expr->narg && k < 3; k++) {
        v[k] = rk_evaluate(m, expr->arg[k]);
    }
    return rk_operate(m->numbers, expr->op, expr->type, v[0], v[1], v[2]);
}

static __attribute__((noinline)) rk_value index_value(rk_machine *m, const rk_expr *expr)
{
    rk_spot place;
    if (!rk_locate(m, expr, &place)) {
        return rk_zero(expr->type);
    }
    return rk_spot_read(m, &place, expr->at, RK_TOUCH_READ);
}

static rk_value literal_value(const rk_machine *m, const rk_expr *expr)
{
    rk_value v = {RK_REAL, {0}};
    if (expr->kind == RK_EXPR_REAL) {
        v.u.real = m->numbers->f64 ? expr->value.real : (double)expr->real32;
        return v;
    }
    if (expr->kind == RK_EXPR_BOOL) {
        return bool_value(expr->value.b);
    }
    return as_type(m, rk_convert(m->numbers, int_value(expr->value.i), RK_INT),
                   expr->type);
}

static rk_value binary_value(rk_machine *m, const rk_expr *expr)
{
    rk_value a = rk_evaluate(m, expr->a);
    if (expr->op == RK_OP_AND || expr->op == RK_OP_OR) {
        bool decided = a.u.b == (expr->op == RK_OP_OR);
        return decided ? a : rk_evaluate(m, expr->b);
    }
    rk_value b = rk_evaluate(m, expr->b);
    return rk_operate(m->numbers, expr->op, expr->type, a, b, a);
}

static rk_value power_value(rk_machine *m, const rk_expr *expr)
{
    if (expr->op == RK_OP_NONE) {
        const rk_expr *arg[2] = {expr->a, expr->b};
        return call_func(m, expr->decl, arg, 2);
    }
    return binary_value(m, expr);
}

rk_value rk_evaluate(rk_machine *m, const rk_expr *expr)
{
    rk_value v;
    switch (expr->kind) {
    case RK_EXPR_REAL:
    case RK_EXPR_INT:
    case RK_EXPR_BOOL:
        return literal_value(m, expr);
    case RK_EXPR_NAME:
        v = name_value(m, expr);
        break;
    case RK_EXPR_CALL:
        v = call_value(m, expr);
        break;
    case RK_EXPR_INDEX:
        v = index_value(m, expr);
        break;
    case RK_EXPR_UNARY:
        v = rk_evaluate(m, expr->a);
        v = rk_operate(m->numbers, expr->op, expr->type, v, v, v);
        break;
    case RK_EXPR_BINARY:
        v = binary_value(m, expr);
        break;
    case RK_EXPR_POWER:
        v = power_value(m, expr);
        break;
    case RK_EXPR_SELECT:
        v = rk_evaluate(m, expr->a);
        v = rk_evaluate(m, v.u.b ? expr->b : expr->c);
        break;
    default: /* ranges stand in whole-array statements only */
        v = rk_zero(expr->type);
        break;
    }
    return as_type(m, v, expr->type);
}
