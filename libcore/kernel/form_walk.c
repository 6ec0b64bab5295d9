/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points, unknowns and pairs of taps as text of per-point kernels; form_fill.c walks rows
 * with them, form_scatter.c the points of the terms.
 */
#include "config.h"

#include "libcore/kernel/form_walk.h"

#include <string.h>

rk_walk rk_walk_make(rk_writer *w)
{
    static const char *const names[3] = {"i", "j", "k"};
    rk_walk k = {.w = w};
    for (int32_t d = 0; d < w->ndim; d++) {
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

const char *rk_walk_both(const rk_walk *k, const char *a, const char *b)
{
    return a == NULL ? b : b == NULL ? a : rk_write(k->w, "%s && %s", a, b);
}

const char *rk_walk_region(const rk_walk *k, const rk_region *r, const rk_region *known)
{
    const char *text = NULL;
    for (int32_t d = 0; d < k->w->ndim; d++) {
        if (r->lo[d] > known->lo[d]) {
            text = rk_walk_both(
                k, text, rk_write(k->w, "%s >= %lld", k->index[d], (long long)r->lo[d]));
        }
        if (r->hi[d] < known->hi[d]) {
            text = rk_walk_both(k, text,
                                rk_write(k->w, "%s < %s - %lld", k->index[d],
                                         k->extent[d], (long long)-r->hi[d]));
        }
    }
    return text;
}

const char *rk_walk_on_grid(const rk_walk *k, const int32_t by[3], const char *before)
{
    const char *text = before;
    for (int32_t d = 0; d < k->w->ndim; d++) {
        if (k->w->inside) {
            rk_write_away(k->w, d, -by[d], by[d]);
            continue;
        }
        const char *place = rk_walk_moved(k, d, by[d]);
        const char *one = by[d] < 0   ? rk_write(k->w, "%s >= 0", place)
                          : by[d] > 0 ? rk_write(k->w, "%s < %s", place, k->extent[d])
                                      : NULL;
        if (one != NULL && (text == NULL || strstr(text, one) == NULL)) {
            text = rk_walk_both(k, text, one);
        }
    }
    return text;
}

const char *rk_walk_number(const rk_walk *k, int32_t component, const int32_t by[3])
{
    rk_writer *w = k->w;
    const int32_t ndim = w->ndim;
    const char *text = rk_walk_moved(k, ndim - 1, by[ndim - 1]);
    const char *all = k->extent[ndim - 1];
    for (int32_t d = ndim - 2; d >= 0; d--) {
        text =
            rk_write(w, "%s + %s * (%s)", rk_walk_moved(k, d, by[d]), k->extent[d], text);
        all = rk_write(w, "%s * %s", k->extent[d], all);
    }
    return component == 0 ? text : rk_write(w, "%d * %s + %s", (int)component, all, text);
}

/* Notes that the point `index + by` must not be on a face, if text is written for points
 * away from the ends. */
static bool off_face(const rk_walk *k, int32_t face, const int32_t by[3])
{
    const int32_t d = face / 2;
    if (k->w->inside) {
        rk_write_away(k->w, d, face % 2 == 0 ? 1 - by[d] : 0,
                      face % 2 == 0 ? 0 : 1 + by[d]);
    }
    return k->w->inside;
}

bool rk_walk_off_face(const rk_walk *k, const rk_form_term *t, const int32_t by[3])
{
    return t->face >= 0 && off_face(k, t->face, by);
}

const char *rk_walk_constrained(const rk_walk *k, int32_t component, const int32_t by[3])
{
    rk_writer *w = k->w;
    const int32_t ndim = w->ndim;
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
        if ((faces >> f & 1u) != 0 && !off_face(k, f, by)) {
            const char *end = f % 2 == 0 ? "0" : rk_write(w, "%s - 1", k->extent[f / 2]);
            const char *one =
                rk_write(w, "%s == %s", rk_walk_moved(k, f / 2, by[f / 2]), end);
            text = text == NULL ? one : rk_write(w, "%s || %s", text, one);
        }
    }
    return text;
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
    return rk_walk_both(k, before, one);
}

const char *rk_walk_points(const rk_walk *k)
{
    const char *all = k->extent[0];
    for (int32_t d = 1; d < k->w->ndim; d++) {
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
            present = rk_walk_both(k, present,
                                   rk_write_present(k->w, coef[i], k->index, offset));
        }
    }
    return present;
}

const char *rk_walk_product(const rk_walk *k, const rk_product *p, const rk_ir *rest,
                            const int32_t offset[3])
{
    rk_writer *w = k->w;
    const char *text =
        p->number == NULL ? NULL : rk_write_point(w, p->number, k->index, offset);
    for (int32_t d = w->ndim - 1; d >= 0; d--) {
        if (p->line[d] != NULL) {
            const char *one = rk_write(w, "%s[%s]", rk_write_leaf(w, p->line[d], "in"),
                                       rk_walk_moved(k, d, -offset[d]));
            text = text == NULL ? one : rk_write(w, "%s * %s", text, one);
        }
    }
    if (rest != NULL) {
        const char *one = rk_write_point(w, rest, k->index, offset);
        text = text == NULL ? one : rk_write(w, "%s * %s", text, one);
    }
    return text == NULL ? "1" : text;
}

const char *rk_walk_value(const rk_walk *k, const rk_form_term *t, int32_t pair,
                          const int32_t offset[3])
{
    const rk_product *p = &t->pair[pair];
    const char *text = rk_walk_product(k, p, p->rest, offset);
    return p->negative ? rk_write(k->w, "-(%s)", text) : text;
}

/* "i >= 1 && i < nx - 1"; NULL: all points. */
static const char *away(const rk_walk *k)
{
    const rk_region everywhere = {{0, 0, 0}, {0, 0, 0}};
    rk_region inside = everywhere;
    for (int32_t d = 0; d < k->w->ndim; d++) {
        inside.lo[d] = k->w->low[d];
        inside.hi[d] = -k->w->high[d];
    }
    return rk_walk_region(k, &inside, &everywhere);
}

void rk_walk_twice(const rk_walk *k, void (*body)(void *user), void *user)
{
    rk_writer *w = k->w;
    rubus__text *outer = w->body;
    w->body = w->inner;
    w->inside = true;
    body(user);
    w->inside = false;
    w->body = outer;
    const char *inner = w->inner->data == NULL ? "" : w->inner->data;
    const char *when = away(k);
    if (when == NULL) {
        rubus__text_add(w->body, inner);
        return;
    }
    rk_walk_line(k, 1, rk_write(w, "if (%s) {", when));
    rubus__text_add(w->body, inner);
    rk_walk_line(k, 2, "return;");
    rk_walk_line(k, 1, "}");
    body(user);
}
