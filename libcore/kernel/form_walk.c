/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points, unknowns and pairs of taps as text of per-point kernels; form_fill.c walks rows
 * with them, form_table.c the points of the terms.
 */
#include "config.h"

#include "libcore/kernel/form_walk.h"

#include <string.h>

rk_walk rk_walk_make(rk_writer *w)
{
    static const char *const names[3] = {"i", "j", "k"};
    rk_walk k = {.w = w};
    for (int32_t d = 0; d < w->form->desc.ndim; d++) {
        k.index[d] = rk_form_name(w->form, names[d]);
        k.extent[d] = rk_write_own(w, RK_LEAF_EXTENT, 0, d, "in");
        w->index[d] = k.index[d];
    }
    return k;
}

void rk_walk_line(const rk_walk *k, int indent, const char *text)
{
    rubus__text_format(k->w->body, "%*s%s\n", 4 * indent, "", text);
}

const char *rk_walk_moved(const rk_walk *k, int32_t d, int32_t by)
{
    return by == 0  ? k->index[d]
           : by > 0 ? rk_write(k->w, "%s + %d", k->index[d], (int)by)
                    : rk_write(k->w, "%s - %d", k->index[d], (int)-by);
}

const char *rk_walk_on_grid(const rk_walk *k, const int32_t by[3], const char *before)
{
    const char *text = before;
    for (int32_t d = 0; d < k->w->form->desc.ndim; d++) {
        const char *place = rk_walk_moved(k, d, by[d]);
        const char *one = by[d] < 0   ? rk_write(k->w, "%s >= 0", place)
                          : by[d] > 0 ? rk_write(k->w, "%s < %s", place, k->extent[d])
                                      : NULL;
        if (one != NULL && (text == NULL || strstr(text, one) == NULL)) {
            text = text == NULL ? one : rk_write(k->w, "%s && %s", text, one);
        }
    }
    return text;
}

const char *rk_walk_number(const rk_walk *k, int32_t component, const int32_t by[3])
{
    rk_writer *w = k->w;
    const int32_t ndim = w->form->desc.ndim;
    const char *text = rk_walk_moved(k, ndim - 1, by[ndim - 1]);
    const char *all = k->extent[ndim - 1];
    for (int32_t d = ndim - 2; d >= 0; d--) {
        text =
            rk_write(w, "%s + %s * (%s)", rk_walk_moved(k, d, by[d]), k->extent[d], text);
        all = rk_write(w, "%s * %s", k->extent[d], all);
    }
    return component == 0 ? text : rk_write(w, "%d * %s + %s", (int)component, all, text);
}

const char *rk_walk_constrained(const rk_walk *k, int32_t component, const int32_t by[3])
{
    rk_writer *w = k->w;
    const int32_t ndim = w->form->desc.ndim;
    const uint32_t faces = rk_fix_faces(w, component);
    const char *text = NULL;
    if (rk_fix_masked(w, component)) {
        text = rk_write(w, "%s[", rk_write_own(w, RK_LEAF_FIXED, component, 0, "in"));
        for (int32_t d = 0; d < ndim; d++) {
            text = rk_write(w, "%s%s%s", text, d > 0 ? ", " : "",
                            rk_walk_moved(k, d, by[d]));
        }
        return rk_write(w, "%s]", text);
    }
    for (int32_t f = 0; f < 2 * ndim; f++) {
        if ((faces >> f & 1u) != 0) {
            const char *end = f % 2 == 0 ? "0" : rk_write(w, "%s - 1", k->extent[f / 2]);
            const char *one =
                rk_write(w, "%s == %s", rk_walk_moved(k, f / 2, by[f / 2]), end);
            text = text == NULL ? one : rk_write(w, "%s || %s", text, one);
        }
    }
    return text;
}

static const char *weight_at(const rk_walk *k, const rk_form_term *t,
                             const int32_t back[3])
{
    const char *text = NULL;
    for (int32_t d = 0; d < k->w->form->desc.ndim; d++) {
        if (t->face >= 0 && t->face / 2 == d) {
            continue;
        }
        const bool staggered = (t->staggered >> d & 1u) != 0;
        const char *name =
            rk_write_own(k->w, staggered ? RK_LEAF_A : RK_LEAF_W, 0, d, "in");
        const char *one = rk_write(k->w, "%s[%s]", name, rk_walk_moved(k, d, back[d]));
        text = text == NULL ? one : rk_write(k->w, "%s * %s", text, one);
    }
    return text == NULL ? "1" : rk_write(k->w, "(%s)", text);
}

const char *rk_walk_on_face(const rk_walk *k, const rk_form_term *t, const int32_t by[3],
                            const char *before)
{
    if (t->face < 0) {
        return before;
    }
    const int32_t d = t->face / 2;
    const char *end = t->face % 2 == 0 ? "0" : rk_write(k->w, "%s - 1", k->extent[d]);
    const char *one = rk_write(k->w, "%s == %s", rk_walk_moved(k, d, by[d]), end);
    return before == NULL ? one : rk_write(k->w, "%s && %s", before, one);
}

const char *rk_walk_points(const rk_walk *k)
{
    const char *all = k->extent[0];
    for (int32_t d = 1; d < k->w->form->desc.ndim; d++) {
        all = rk_write(k->w, "%s * %s", all, k->extent[d]);
    }
    return all;
}

const char *rk_walk_present(const rk_walk *k, const rk_tap *test, const rk_tap *trial,
                            const int32_t offset[3])
{
    const rk_ir *coef[2] = {test->coef, trial->coef};
    const char *present = NULL;
    for (int i = 0; i < 2; i++) {
        if (rk_write_masked(k->w->form, coef[i])) {
            const char *one = rk_write_present(k->w, coef[i], k->index, offset);
            present = present == NULL ? one : rk_write(k->w, "%s && %s", present, one);
        }
    }
    return present;
}

const char *rk_walk_value(const rk_walk *k, const rk_form_term *t, const rk_tap *test,
                          const rk_tap *trial, const int32_t offset[3])
{
    rk_writer *w = k->w;
    const int32_t back[3] = {-offset[0], -offset[1], -offset[2]};
    const char *scale =
        t->scale == NULL
            ? ""
            : rk_write(w, "%s * ", rk_write_point(w, t->scale, k->index, back));
    return rk_write(w, "%s%s * %s * %s", scale, weight_at(k, t, back),
                    rk_write_point(w, test->coef, k->index, offset),
                    rk_write_point(w, trial->coef, k->index, offset));
}
