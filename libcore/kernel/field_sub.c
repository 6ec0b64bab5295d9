/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subscripts of fields: slices, single indices, lifted dimensions, and their bounds as
 * affine expressions.
 *
 * A bound may be any int expression of extents and int scalars. What is affine in them
 * is taken apart; each other part becomes a symbol of its own, and equal parts the same
 * one, so that u[0:div(nx,2)] and v[1:div(nx,2)+1] have equal sizes.
 */
#include "config.h"

#include "libcore/kernel/field_build.h"

#include <string.h>

enum { OPAQUE_MAX = 1000 }; /* operations in one part that is not affine */

/* --- bounds ------------------------------------------------------------------------- */

/* Number of nodes of a tree as it would be evaluated, up to a limit. */
static int32_t tree_size(const rk_field *field, int32_t limit)
{
    int32_t n = 1;
    const rk_field *const part[] = {field->a, field->b, field->c};
    for (int i = 0; i < 3 && n < limit; i++) {
        if (part[i] != NULL) {
            n += tree_size(part[i], limit - n);
        }
    }
    return n;
}

static bool same_tree(const rk_field *x, const rk_field *y)
{
    if (x == y) {
        return true;
    }
    if (x == NULL || y == NULL || x->kind != y->kind || x->type != y->type) {
        return false;
    }
    switch (x->kind) {
    case RK_FIELD_CONST:
        return x->type == RK_REAL  ? x->value.u.real == y->value.u.real
               : x->type == RK_INT ? x->value.u.i == y->value.u.i
                                   : x->value.u.b == y->value.u.b;
    case RK_FIELD_SYMBOL:
        return rk_affine_equal(x->affine, y->affine);
    case RK_FIELD_APPLY:
        return x->op == y->op && same_tree(x->a, y->a) && same_tree(x->b, y->b) &&
               same_tree(x->c, y->c);
    default:
        return false;
    }
}

static const char *opaque_name(rk_builder *b, const rk_field *field)
{
    const char *text = rk_source_text(b->unit, field->at);
    return strcmp(text, "this") != 0
               ? text
               : rubus__arena_format(b->unit->arena, "(the value at %s)",
                                     rk_place(b->unit, field->at));
}

static void add_opaque(rk_builder *b, const rk_field *field)
{
    rk_work *work = &b->work;
    if (work->nsymbol >= b->symbol_room) {
        b->symbol_room = 2 * work->nsymbol + 8;
        rk_symbol *grown = rk_new(b->unit, (size_t)b->symbol_room * sizeof(*grown));
        memcpy(grown, work->symbol, (size_t)work->nsymbol * sizeof(*grown));
        work->symbol = grown;
    }
    work->symbol[work->nsymbol++] =
        (rk_symbol){RK_SYMBOL_OPAQUE, opaque_name(b, field), 0, 0, field};
}

static bool make_opaque(rk_builder *b, const rk_field *field, rk_affine *out)
{
    rk_work *work = &b->work;
    if (tree_size(field, OPAQUE_MAX) >= OPAQUE_MAX) {
        rk_field_error(b, RK_BAD_BOUND, field->at,
                       "compute it before the launch and pass it "
                       "as an int parameter",
                       "this bound takes more than %d operations", (int)OPAQUE_MAX);
        return false;
    }
    for (int32_t i = 0; i < work->nsymbol; i++) {
        if (work->symbol[i].kind == RK_SYMBOL_OPAQUE) {
            rk_spend(b->unit, 4, field->at);
            if (same_tree(work->symbol[i].expr, field)) {
                *out = rk_affine_symbol(b->unit, i);
                return true;
            }
        }
    }
    add_opaque(b, field);
    *out = rk_affine_symbol(b->unit, work->nsymbol - 1);
    return true;
}

/* A hosted int field as affine expression. */
static bool take_apart(rk_builder *b, const rk_field *field, rk_affine *out)
{
    rk_affine x = rk_affine_int(0);
    rk_affine y = rk_affine_int(0);
    int64_t k = 0;
    rk_spend(b->unit, 1, field->at);
    if (field->kind == RK_FIELD_CONST) {
        *out = rk_affine_int(field->value.u.i);
        return true;
    }
    if (field->kind == RK_FIELD_SYMBOL) {
        *out = field->affine;
        return true;
    }
    if (field->op == RK_OP_NEG) {
        const bool good = take_apart(b, field->a, &x);
        *out = rk_affine_scale(b->unit, x, -1);
        return good;
    }
    if (field->op == RK_OP_ADD || field->op == RK_OP_SUB) {
        const bool good = take_apart(b, field->a, &x) && take_apart(b, field->b, &y);
        *out = rk_affine_add(b->unit, x, field->op == RK_OP_ADD ? 1 : -1, y);
        return good;
    }
    if (field->op == RK_OP_MUL && field->a->kind == RK_FIELD_CONST) {
        const bool good = take_apart(b, field->b, &y);
        k = field->a->value.u.i;
        *out = rk_affine_scale(b->unit, y, k);
        return good;
    }
    if (field->op == RK_OP_MUL && field->b->kind == RK_FIELD_CONST) {
        const bool good = take_apart(b, field->a, &x);
        k = field->b->value.u.i;
        *out = rk_affine_scale(b->unit, x, k);
        return good;
    }
    return make_opaque(b, field, out);
}

bool rk_build_affine(rk_builder *b, const rk_expr *e, rk_affine *out)
{
    *out = rk_affine_int(0);
    const rk_field *field = rk_build_expr(b, e);
    if (field == NULL) {
        return false;
    }
    if (field->rank > 0) {
        rk_field_error(b, RK_BAD_BOUND, e->at,
                       "whole-array kernels do not gather; use a "
                       "kernel with `over (...)`",
                       "a bound is one int, this is a field %s", rk_shape_text(b, field));
        return false;
    }
    if (field->type != RK_INT) {
        rk_field_error(b, RK_BAD_BOUND, e->at, "use extents and int parameters",
                       "a bound is an int, this is %s", rk_type_text(field->type));
        return false;
    }
    if (!rk_field_hosted(field)) {
        rk_field_error(b, RK_BAD_BOUND, e->at,
                       "compute it before the launch and pass it as an int parameter",
                       rk_field_reads(field)
                           ? "a bound cannot depend on elements of arrays"
                           : "a bound is made of extents, int parameters and operations");
        return false;
    }
    return take_apart(b, field, out);
}

/* --- subscripts of one dimension ---------------------------------------------------- */

/* A bound that counts from the start, or, if from_end, back from `size`. */
static bool build_bound(rk_builder *b, const rk_expr *e, bool from_end, rk_affine size,
                        rk_affine *out)
{
    rk_affine bound = rk_affine_int(0);
    if (!rk_build_affine(b, e, &bound)) {
        return false;
    }
    *out = from_end ? rk_affine_add(b->unit, size, -1, bound) : bound;
    return true;
}

/* Bounds that count from the same end and differ by a number below 0 are a slip of the
 * pen; a slice that only a launch makes so is empty. */
static bool check_direction(rk_builder *b, const rk_sub *sub, rk_affine lo, rk_affine hi)
{
    const bool lo_end = sub->lo != NULL && sub->lo_end;
    const bool hi_end = sub->hi == NULL || sub->hi_end;
    int64_t size = 0;
    if (lo_end != hi_end ||
        !rk_affine_is_const(rk_affine_add(b->unit, hi, -1, lo), &size) || size >= 0) {
        return true;
    }
    rk_span at = (sub->lo != NULL ? sub->lo : sub->hi)->at;
    at.last = (sub->hi != NULL ? sub->hi : sub->lo)->at.last;
    rk_field_error(
        b, RK_BACKWARD_SLICE, at,
        "write the lower bound first; whole-array code has no reversed slices, a "
        "kernel with `over (...)` reads in any order",
        "this slice runs backwards, %lld below its start", (long long)-size);
    return false;
}

/* Slice of a dimension that fits any size: it has a size of its own only if both bounds
 * count from the same end. All elements along it are equal, wherever it starts. */
static bool slice_any(rk_builder *b, const rk_sub *sub, rk_field *out, int32_t to)
{
    rk_affine lo = rk_affine_int(0);
    rk_affine hi = rk_affine_int(0);
    const rk_affine zero = rk_affine_int(0);
    if ((sub->lo != NULL && !build_bound(b, sub->lo, sub->lo_end, zero, &lo)) ||
        (sub->hi != NULL && !build_bound(b, sub->hi, sub->hi_end, zero, &hi))) {
        return false;
    }
    if (!check_direction(b, sub, lo, hi)) {
        return false;
    }
    const bool lo_end = sub->lo != NULL && sub->lo_end;
    const bool hi_end = sub->hi == NULL || sub->hi_end;
    out->any[to] = lo_end != hi_end;
    out->size[to] = out->any[to] ? zero : rk_affine_add(b->unit, hi, -1, lo);
    return true;
}

/* Dimension `from` of a, sliced or indexed into dimension `to` of out. */
static bool slice_one(rk_builder *b, const rk_sub *sub, rk_field *out, int32_t from,
                      int32_t to)
{
    const rk_field *a = out->a;
    rk_field_sub *s = &out->sub[from];
    s->keep = sub->kind == RK_SUB_SLICE;
    s->lo = rk_affine_int(0);
    if (s->keep && a->any[from]) {
        return slice_any(b, sub, out, to);
    }
    const rk_affine size = a->any[from] ? rk_affine_int(0) : a->size[from];
    if (sub->lo != NULL && !build_bound(b, sub->lo, sub->lo_end, size, &s->lo)) {
        return false;
    }
    if (a->any[from]) {
        s->lo = rk_affine_int(0);
    }
    if (s->keep) {
        rk_affine hi = size;
        if (sub->hi != NULL && !build_bound(b, sub->hi, sub->hi_end, size, &hi)) {
            return false;
        }
        out->size[to] = rk_affine_add(b->unit, hi, -1, s->lo);
        return check_direction(b, sub, s->lo, hi);
    }
    return true;
}

/* --- all of them -------------------------------------------------------------------- */

static bool whole(const rk_sub *sub)
{
    return sub->kind == RK_SUB_SLICE && sub->lo == NULL && sub->hi == NULL;
}

/* a[...] without the lifted dimensions. */
static rk_field *build_slice(rk_builder *b, const rk_expr *e, rk_field *a)
{
    bool same = true;
    for (int32_t i = 0; i < e->nsub; i++) {
        same = same && (e->sub[i].kind == RK_SUB_LIFT || whole(&e->sub[i]));
    }
    if (same) {
        return a;
    }
    rk_field *slice = rk_field_new(b, RK_FIELD_SLICE, a->type, e->at);
    slice->a = a;
    int32_t from = 0;
    for (int32_t i = 0; i < e->nsub; i++) {
        if (e->sub[i].kind == RK_SUB_LIFT) {
            continue;
        }
        if (!slice_one(b, &e->sub[i], slice, from, slice->rank)) {
            return NULL;
        }
        slice->rank += e->sub[i].kind == RK_SUB_SLICE ? 1 : 0;
        from++;
    }
    return rk_field_adopt(b, slice, a) ? slice : NULL;
}

/* Puts the new dimensions among those that the slice keeps. */
static rk_field *build_lift(rk_builder *b, const rk_expr *e, rk_field *a)
{
    rk_field *lift = rk_field_new(b, RK_FIELD_LIFT, a->type, e->at);
    lift->a = a;
    int32_t from = 0;
    for (int32_t i = 0; i < e->nsub; i++) {
        if (e->sub[i].kind == RK_SUB_INDEX) {
            continue;
        }
        const int32_t to = lift->rank++;
        if (e->sub[i].kind == RK_SUB_LIFT) {
            lift->lift[to] = true;
            lift->any[to] = true;
        } else {
            lift->any[to] = a->any[from];
            lift->size[to] = a->size[from];
            from++;
        }
    }
    return rk_field_adopt(b, lift, a) ? lift : NULL;
}

static bool count_subscripts(rk_builder *b, const rk_expr *e, const rk_field *a,
                             int32_t *out_nlift)
{
    int32_t nlift = 0;
    int32_t nkeep = 0;
    for (int32_t i = 0; i < e->nsub; i++) {
        nlift += e->sub[i].kind == RK_SUB_LIFT ? 1 : 0;
        nkeep += e->sub[i].kind != RK_SUB_INDEX ? 1 : 0;
    }
    *out_nlift = nlift;
    if (e->nsub - nlift != a->rank) {
        rk_field_error(b, RK_FIELD_SUBSCRIPTS, e->at,
                       a->rank == 0
                           ? "only `*` can stand in subscripts of a scalar"
                           : "one subscript for each dimension; `:` takes all of it",
                       "%d subscript%s for a field of rank %d, %s", e->nsub - nlift,
                       e->nsub - nlift == 1 ? "" : "s", a->rank, rk_shape_text(b, a));
        return false;
    }
    if (nkeep > 3) {
        rk_field_error(b, RK_FIELD_RANK, e->at, "take an index along one of them",
                       "fields have at most 3 dimensions, not %d", nkeep);
        return false;
    }
    return true;
}

rk_field *rk_build_index(rk_builder *b, const rk_expr *e)
{
    rk_field *a = rk_build_expr(b, e->a);
    int32_t nlift = 0;
    if (a == NULL || !count_subscripts(b, e, a, &nlift)) {
        return NULL;
    }
    rk_field *field = build_slice(b, e, a);
    return field == NULL || nlift == 0 ? field : build_lift(b, e, field);
}
