/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of fields that the language itself has: pad, the coordinates ix, iy and
 * iz, and extent.
 */
#include "config.h"

#include "libcore/kernel/field_build.h"

#include <string.h>

static int32_t coordinate_axis(const char *name)
{
    static const char *const names[] = {"ix", "iy", "iz"};
    for (int32_t i = 0; i < 3; i++) {
        if (strcmp(name, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

bool rk_is_special(const char *name)
{
    return strcmp(name, "pad") == 0 || strcmp(name, "extent") == 0 ||
           coordinate_axis(name) >= 0;
}

/* --- pad ---------------------------------------------------------------------------- */

/* Cells before and after along each dimension. */
static bool pad_ranges(rk_builder *b, const rk_expr *e, rk_field *pad)
{
    for (int32_t d = 0; d < pad->rank; d++) {
        pad->before[d] = 1;
        pad->after[d] = 1;
    }
    if (e->narg == 2) {
        return true;
    }
    if (e->narg - 2 != pad->rank) {
        rk_field_error(
            b, RK_BAD_PAD, e->at,
            "give before:after for each dimension (0:0 adds nothing), or none for "
            "1:1 everywhere",
            "`pad` has %d range%s for a field of rank %d", e->narg - 2,
            e->narg == 3 ? "" : "s", pad->rank);
        return false;
    }
    for (int32_t d = 0; d < pad->rank; d++) {
        const rk_expr *range = e->arg[d + 2];
        if (range->kind != RK_EXPR_RANGE || range->value.range[0] < 0 ||
            range->value.range[1] < 0) {
            rk_field_error(b, RK_BAD_PAD, range->at, "write pad(F, v, 1:0, 0:2)",
                           "`pad` takes ranges of int literals behind its value");
            return false;
        }
        pad->before[d] = range->value.range[0];
        pad->after[d] = range->value.range[1];
    }
    return true;
}

static bool pad_sizes(rk_builder *b, const rk_expr *e, rk_field *pad)
{
    for (int32_t d = 0; d < pad->rank; d++) {
        if (!pad->any[d]) {
            rk_affine size = rk_affine_int(pad->before[d]);
            size = rk_affine_add(b->unit, size, 1, rk_affine_int(pad->after[d]));
            pad->size[d] = rk_affine_add(b->unit, pad->size[d], 1, size);
        } else if (pad->before[d] != 0 || pad->after[d] != 0) {
            rk_field_error(
                b, RK_ANY_SIZE, e->at,
                "pad first and make the new dimension after that, or give 0:0",
                "dimension %d of this field was made by `*` and has no end to pad", d);
            return false;
        }
    }
    return true;
}

static rk_field *build_pad(rk_builder *b, const rk_expr *e)
{
    rk_field *a = rk_build_expr(b, e->arg[0]);
    rk_field *value = rk_build_expr(b, e->arg[1]);
    if (a == NULL || value == NULL) {
        return NULL;
    }
    if (a->rank == 0) {
        rk_field_error(b, RK_BAD_PAD, e->arg[0]->at, "pad a field",
                       "a scalar has no sides to pad");
        return NULL;
    }
    if (value->rank != 0) {
        rk_field_error(b, RK_BAD_PAD, e->arg[1]->at, "give it a scalar",
                       "the value that `pad` adds is a scalar, this is a field %s",
                       rk_shape_text(b, value));
        return NULL;
    }
    if (value->type == RK_REAL && a->type == RK_INT) {
        a = rk_make_real(b, a); // an int meets a real
    }
    value = a == NULL
                ? NULL
                : rk_make_store(b, value, a->type, e->arg[1]->at, "the padded field");
    if (value == NULL) {
        return NULL;
    }
    rk_field *pad = rk_field_new(b, RK_FIELD_PAD, a->type, e->at);
    pad->a = a;
    pad->b = value;
    rk_field_shape_as(pad, a);
    if (!pad_ranges(b, e, pad) || !pad_sizes(b, e, pad) || !rk_field_adopt(b, pad, a) ||
        !rk_field_adopt(b, pad, value)) {
        return NULL;
    }
    return pad;
}

/* --- coordinates, extents ----------------------------------------------------------- */

/* Whether the field has a size of its own along axis. */
static bool has_axis(rk_builder *b, const rk_expr *e, const rk_field *a, int32_t axis)
{
    if (axis >= a->rank) {
        rk_field_error(b, RK_BAD_AXIS, e->at,
                       a->rank == 0 ? "give it a field" : "take another axis, or field",
                       "`%s` needs a field with %d dimension%s, this is %s", e->name,
                       axis + 1, axis == 0 ? "" : "s", rk_shape_text(b, a));
        return false;
    }
    if (a->any[axis]) {
        rk_field_error(b, RK_ANY_SIZE, e->at, "take a field that has a size there",
                       "dimension %d of this field was made by `*` and has no positions",
                       axis);
        return false;
    }
    return true;
}

static rk_field *build_coordinate(rk_builder *b, const rk_expr *e, int32_t axis)
{
    const rk_field *a = rk_build_expr(b, e->arg[0]);
    if (a == NULL || !has_axis(b, e, a, axis)) {
        return NULL;
    }
    rk_field *field = rk_field_new(b, RK_FIELD_COORD, RK_INT, e->at);
    field->axis = axis;
    rk_field_shape_as(field, a);
    return field;
}

static rk_field *build_extent(rk_builder *b, const rk_expr *e)
{
    const rk_field *a = rk_build_expr(b, e->arg[0]);
    if (a == NULL) {
        return NULL;
    }
    const rk_expr *dim = e->arg[1];
    if (dim->kind != RK_EXPR_INT || dim->value.i > 2) {
        rk_field_error(b, RK_BAD_EXTENT_CALL, dim->at, "write extent(F, 0)",
                       "the dimension of `extent` is 0, 1 or 2");
        return NULL;
    }
    if (!has_axis(b, e, a, (int32_t)dim->value.i)) {
        return NULL;
    }
    return rk_make_symbol(b, a->size[dim->value.i], e->at);
}

rk_field *rk_build_special(rk_builder *b, const rk_expr *e)
{
    const int32_t axis = coordinate_axis(e->name);
    if (axis >= 0 && e->narg == 1) {
        return build_coordinate(b, e, axis);
    }
    if (strcmp(e->name, "extent") == 0 && e->narg == 2) {
        return build_extent(b, e);
    }
    if (strcmp(e->name, "pad") == 0 && e->narg >= 2) {
        return build_pad(b, e);
    }
    rk_unknown_call(&b->scope, e);
    rk_note_ops(b, e->at);
    return NULL;
}
