/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Curves: a field of one dimension over x, and a history with a logarithmic axis. What is
 * not finite leaves a gap. Of a long field each column of pixels shows the range of its
 * values.
 */
#include "config.h"

#include "libcore/output/picture_curve.h"

#include <math.h>

#define MOST_MARKS 150 /* longer histories are a line only */

static void pen(cairo_t *cr, double width)
{
    cairo_set_source_rgb(cr, 0.12, 0.38, 0.55);
    cairo_set_line_width(cr, width);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_ROUND); /* a lone point is a dot */
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
}

static void go_to(cairo_t *cr, double x, double y, bool *open)
{
    if (!*open) {
        cairo_move_to(cr, x, y);
    }
    cairo_line_to(cr, x, y);
    *open = true;
}

axes_range curve_range(const rubus__picture *p)
{
    axes_range range = {0, 1, false};
    if (p->any_finite == 0) {
        return range;
    }
    const double air =
        p->hi > p->lo ? p->hi * 0.05 - p->lo * 0.05 : fmax(fabs(p->hi) * 0.5, 1e-300);
    range.lo = p->lo - air;
    range.hi = p->hi + air;
    if (p->hi == 0 && p->lo == 0) {
        range.lo = -1;
        range.hi = 1;
    }
    /* the largest numbers have no air above them */
    range.lo = isfinite(range.lo) ? range.lo : p->lo;
    range.hi = isfinite(range.hi) ? range.hi : p->hi;
    return range;
}

/* Finite values of cells first to last; false if there are none. */
static bool column_range(const rubus__picture *p, int64_t first, int64_t last, double *lo,
                         double *hi)
{
    bool any = false;
    for (int64_t i = first; i < last; i++) {
        const double v = p->values[i];
        if (isfinite(v)) {
            *lo = !any || v < *lo ? v : *lo;
            *hi = !any || v > *hi ? v : *hi;
            any = true;
        }
    }
    return any;
}

void curve_draw(const rubus__picture *p, cairo_t *cr, const axes_frame *f)
{
    const axes_range x = {p->origin[0], p->origin[0] + p->spacing[0] * (double)p->n[0],
                          false};
    const axes_range y = curve_range(p);
    axes_box(cr, f);
    axes_ticks_below(p, cr, f, &x, "x");
    axes_ticks_left(p, cr, f, &y, p->name);
    pen(cr, 1.8);
    const int64_t most = (int64_t)(2 * f->w);
    const int64_t columns = p->n[0] < most ? p->n[0] : most;
    bool open = false;
    for (int64_t k = 0; k < columns; k++) {
        const int64_t first = k * p->n[0] / columns;
        const int64_t last = (k + 1) * p->n[0] / columns;
        double lo = 0;
        double hi = 0;
        if (!column_range(p, first, last, &lo, &hi)) {
            open = false;
            continue;
        }
        const double at =
            f->x + f->w * ((double)first + (double)last) / 2 / (double)p->n[0];
        go_to(cr, at, f->y + f->h * (1 - axes_along(&y, lo)), &open);
        if (hi > lo) {
            go_to(cr, at, f->y + f->h * (1 - axes_along(&y, hi)), &open);
        }
    }
    cairo_stroke(cr);
}

/* --- the history -------------------------------------------------------------------- */

static bool has_place(const rubus__picture *p, size_t i)
{
    return isfinite(p->history_x[i]) && isfinite(p->history_y[i]) && p->history_y[i] > 0;
}

bool history_ranges(const rubus__picture *p, axes_range *x, axes_range *y)
{
    bool any = false;
    *x = (axes_range){0, 0, false};
    *y = (axes_range){0, 0, true};
    for (size_t i = 0; i < p->nhistory; i++) {
        if (has_place(p, i)) {
            const double v = log10(p->history_y[i]);
            x->lo = fmin(x->lo, p->history_x[i]);
            x->hi = fmax(x->hi, p->history_x[i]);
            y->lo = any ? fmin(y->lo, v) : v;
            y->hi = any ? fmax(y->hi, v) : v;
            any = true;
        }
    }
    y->lo = floor(y->lo);
    y->hi = ceil(y->hi) > y->lo ? ceil(y->hi) : y->lo + 1;
    return any;
}

void history_draw(const rubus__picture *p, cairo_t *cr, const axes_frame *f)
{
    axes_range x;
    axes_range y;
    axes_box(cr, f);
    if (!history_ranges(p, &x, &y)) {
        return;
    }
    axes_ticks_below(p, cr, f, &x, p->history_label_x);
    axes_ticks_left(p, cr, f, &y, p->history_label_y);
    pen(cr, 1.4);
    for (int marks = 0; marks < (p->nhistory > MOST_MARKS ? 1 : 2); marks++) {
        bool open = false;
        for (size_t i = 0; i < p->nhistory; i++) {
            if (!has_place(p, i)) {
                open = false;
                continue;
            }
            const double at = f->x + f->w * axes_along(&x, p->history_x[i]);
            const double high =
                f->y + f->h * (1 - axes_along(&y, log10(p->history_y[i])));
            if (marks == 1) {
                cairo_new_sub_path(cr);
                cairo_arc(cr, at, high, 2.2, 0, 6.2832);
                cairo_fill(cr);
            } else {
                go_to(cr, at, high, &open);
            }
        }
        cairo_stroke(cr);
    }
}
