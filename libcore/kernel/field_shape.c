/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shapes: when two of them agree, and what to say when they do not.
 *
 * Sizes are compared as affine expressions, exactly: nx and ny differ even if a launch
 * makes them equal. Only where a blank extent takes part is the answer left to the
 * launch, as a condition of the work. Lifted dimensions fit everything; scalars spread.
 */
#include "config.h"

#include "libcore/kernel/field_build.h"

static const char axis_name[] = "xyz";

const char *rk_shape_text(rk_builder *b, const rk_field *field)
{
    const char *text = NULL;
    for (int32_t d = 0; d < field->rank; d++) {
        const char *size =
            field->any[d] ? "*" : rk_affine_text(b->unit, b->work.symbol, field->size[d]);
        text = text == NULL ? rubus__arena_format(b->unit->arena, "[%s", size)
                            : rubus__arena_format(b->unit->arena, "%s, %s", text, size);
    }
    return text == NULL ? "a scalar" : rubus__arena_format(b->unit->arena, "%s]", text);
}

static bool has_blank(const rk_work *work, rk_affine a)
{
    for (int32_t i = 0; i < a.nterm; i++) {
        if (work->symbol[a.term[i].symbol].kind == RK_SYMBOL_BLANK) {
            return true;
        }
    }
    return false;
}

/* The array of a size that is a blank extent by itself. */
static const rk_decl *blank_of(const rk_work *work, rk_affine a)
{
    if (a.nterm != 1 || a.constant != 0 || a.term[0].coef != 1 ||
        work->symbol[a.term[0].symbol].kind != RK_SYMBOL_BLANK) {
        return NULL;
    }
    return work->decl->param[work->symbol[a.term[0].symbol].param];
}

static void add_equal(rk_builder *b, rk_affine x, rk_affine y, int32_t dim, rk_span at)
{
    rk_work *work = &b->work;
    const rk_decl *u = blank_of(work, x);
    const rk_decl *v = blank_of(work, y);
    const char *message = NULL;
    if (u != NULL && v != NULL && u != v) {
        message = rubus__arena_format(b->unit->arena,
                                      "extents of `%s` and `%s` along %c must be equal",
                                      u->name, v->name, axis_name[dim]);
    } else {
        message =
            rubus__arena_format(b->unit->arena, "sizes along %c must be equal: %s and %s",
                                axis_name[dim], rk_affine_text(b->unit, work->symbol, x),
                                rk_affine_text(b->unit, work->symbol, y));
    }
    rk_check check = {RK_CHECK_EQUAL, at, x, y, message};
    rk_work_add_check(work, check);
}

typedef enum { SIZES_EQUAL, SIZES_CHECKED, SIZES_DIFFER } comparison;

/* Compares sizes along one dimension; those known at launch only become a condition. */
static comparison compare(rk_builder *b, rk_affine x, rk_affine y, int32_t dim,
                          rk_span at)
{
    const rk_affine gap = rk_affine_add(b->unit, x, -1, y);
    int64_t constant = 0;
    if (rk_affine_is_const(gap, &constant)) {
        return constant == 0 ? SIZES_EQUAL : SIZES_DIFFER;
    }
    if (has_blank(&b->work, gap)) {
        add_equal(b, x, y, dim, at);
        return SIZES_CHECKED;
    }
    return SIZES_DIFFER;
}

static const char *cure_of(rk_builder *b, const rk_field *x, const rk_field *y)
{
    for (int32_t d = 0; d < x->rank; d++) {
        if (!x->any[d] && !y->any[d] &&
            !rk_affine_is_const(rk_affine_add(b->unit, x->size[d], -1, y->size[d]),
                                NULL)) {
            return "declare both with one extent, or with blanks ([,]) to compare at "
                   "launch";
        }
    }
    return "take a slice of the larger one (`u[1:-1, :]`), or `pad` the smaller one";
}

static void note_shape(rk_builder *b, rk_operand_of operand)
{
    rk_note(b->unit, operand.at, "this is %s", rk_shape_text(b, operand.field));
}

static void report_rank(rk_builder *b, rk_operand_of from, rk_operand_of next, rk_span at,
                        const char *what)
{
    rk_field_error(b, RK_RANK_MISMATCH, at,
                   "add a dimension with `*` (`h[:, *]`), or take one index (`u[:, 0]`)",
                   "%s of fields of rank %d and %d: %s and %s", what, from.field->rank,
                   next.field->rank, rk_shape_text(b, from.field),
                   rk_shape_text(b, next.field));
    note_shape(b, from);
    note_shape(b, next);
}

bool rk_shape_join(rk_builder *b, rk_field *field, rk_operand_of from, rk_operand_of next,
                   rk_span at, const char *what)
{
    const rk_field *f = next.field;
    if (f->rank == 0) {
        return true;
    }
    if (field->rank == 0) {
        rk_field_shape_as(field, f);
        return true;
    }
    if (f->rank != field->rank) {
        report_rank(b, from, next, at, what);
        return false;
    }
    for (int32_t d = 0; d < f->rank; d++) {
        if (f->any[d]) {
            continue;
        }
        if (field->any[d]) {
            field->any[d] = false;
            field->size[d] = f->size[d];
            continue;
        }
        if (compare(b, field->size[d], f->size[d], d, at) == SIZES_DIFFER) {
            rk_field_error(b, RK_SHAPE_MISMATCH, at, cure_of(b, field, f),
                           "%s of shapes %s and %s, which differ along %c", what,
                           rk_shape_text(b, field), rk_shape_text(b, f), axis_name[d]);
            note_shape(b, from);
            note_shape(b, next);
            return false;
        }
    }
    return true;
}

bool rk_shape_fits(rk_builder *b, rk_operand_of target, rk_operand_of value, rk_span at)
{
    const rk_field *t = target.field;
    const rk_field *v = value.field;
    if (v->rank == 0) {
        return true;
    }
    if (v->rank != t->rank) {
        rk_field_error(
            b, RK_RANK_MISMATCH, at,
            t->rank == 0
                ? "fold the value (`sum`, `max`, `min`) into a result, or index it"
                : "add a dimension with `*` (`h[:, *]`), or take one index "
                  "(`u[:, 0]`)",
            "the left side has rank %d and the value rank %d: %s and %s", t->rank,
            v->rank, rk_shape_text(b, t), rk_shape_text(b, v));
        note_shape(b, value);
        return false;
    }
    for (int32_t d = 0; d < t->rank; d++) {
        if (!v->any[d] && compare(b, t->size[d], v->size[d], d, at) == SIZES_DIFFER) {
            rk_field_error(b, RK_SHAPE_MISMATCH, at, cure_of(b, t, v),
                           "the left side is %s and the value %s, which differ along %c",
                           rk_shape_text(b, t), rk_shape_text(b, v), axis_name[d]);
            note_shape(b, target);
            note_shape(b, value);
            return false;
        }
    }
    return true;
}
