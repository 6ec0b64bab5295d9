/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Axes for the pictures: a box, ticks at round numbers with short labels, a title. Labels
 * are formatted by the library's own printf, so a decimal comma never gets in.
 */
#include "config.h"

#include "libcore/output/picture_axes.h"

#include <math.h>

#define MOST_TICKS 12

typedef struct ticks {
    int n;
    double at[MOST_TICKS];
} ticks;

/* About five round numbers of [lo, hi]; the ends only where the range is not a range. */
static ticks choose(double lo, double hi, bool decades)
{
    ticks t = {0, {0}};
    const double span = hi / 2 - lo / 2;
    if (!(span > 0) || !isfinite(span * 2)) {
        t.at[t.n++] = lo;
        if (hi > lo) {
            t.at[t.n++] = hi;
        }
        return t;
    }
    double step = decades ? ceil((hi - lo) / 8) : pow(10, floor(log10((hi - lo) / 4)));
    if (!decades) {
        const double many = (hi - lo) / step;
        step *= many > 25 ? 10 : many > 12 ? 5 : many > 6 ? 2 : 1;
    }
    if (!(step > 0)) { /* a denormal range */
        t.at[t.n++] = lo;
        t.at[t.n++] = hi;
        return t;
    }
    const double first = ceil(lo / step - 1e-9);
    for (int k = 0; k < MOST_TICKS; k++) {
        const double v = (first + k) * step;
        if (v > hi + 1e-9 * step) {
            break;
        }
        t.at[t.n++] = fabs(v) < 1e-12 * step ? 0 : v;
    }
    return t;
}

static void label_of(const rubus__picture *p, double v, bool decades, char out[32])
{
    if (decades) {
        p->format(out, 32, "1e%d", (int)v);
    } else {
        p->format(out, 32, "%.4g", v);
    }
}

void axes_box(cairo_t *cr, const axes_frame *f)
{
    cairo_set_source_rgb(cr, 0.2, 0.2, 0.2);
    cairo_set_line_width(cr, 1);
    cairo_rectangle(cr, f->x - 0.5, f->y - 0.5, f->w + 1, f->h + 1);
    cairo_stroke(cr);
}

void axes_title(cairo_t *cr, const char *text, double x, double y)
{
    cairo_set_source_rgb(cr, 0.1, 0.1, 0.1);
    cairo_set_font_size(cr, 14);
    cairo_move_to(cr, x, y);
    cairo_show_text(cr, text);
}

static double text_width(cairo_t *cr, const char *text)
{
    cairo_text_extents_t e;
    cairo_text_extents(cr, text, &e);
    return e.x_advance;
}

static void start(cairo_t *cr)
{
    cairo_set_source_rgb(cr, 0.2, 0.2, 0.2);
    cairo_set_line_width(cr, 1);
    cairo_set_font_size(cr, 11);
}

static void tick(cairo_t *cr, double x, double y, double dx, double dy)
{
    cairo_move_to(cr, x, y);
    cairo_line_to(cr, x + dx, y + dy);
    cairo_stroke(cr);
}

/* 0 to 1 along the axis. */
static double along(double v, double lo, double hi)
{
    const double span = hi / 2 - lo / 2;
    return span > 0 ? (v / 2 - lo / 2) / span : 0.5;
}

void axes_ticks_below(const rubus__picture *p, cairo_t *cr, const axes_frame *f, double lo,
                      double hi, const char *label)
{
    start(cr);
    const ticks t = choose(lo, hi, false);
    for (int i = 0; i < t.n; i++) {
        char text[32];
        const double x = f->x + f->w * along(t.at[i], lo, hi);
        label_of(p, t.at[i], false, text);
        tick(cr, x, f->y + f->h, 0, 5);
        cairo_move_to(cr, x - text_width(cr, text) / 2, f->y + f->h + 18);
        cairo_show_text(cr, text);
    }
    if (label != NULL) {
        cairo_move_to(cr, f->x + f->w / 2 - text_width(cr, label) / 2, f->y + f->h + 34);
        cairo_show_text(cr, label);
    }
}

void axes_ticks_left(const rubus__picture *p, cairo_t *cr, const axes_frame *f, double lo,
                     double hi, const char *label, bool decades)
{
    start(cr);
    const ticks t = choose(lo, hi, decades);
    for (int i = 0; i < t.n; i++) {
        char text[32];
        const double y = f->y + f->h * (1 - along(t.at[i], lo, hi));
        label_of(p, t.at[i], decades, text);
        tick(cr, f->x, y, -5, 0);
        cairo_move_to(cr, f->x - 9 - text_width(cr, text), y + 4);
        cairo_show_text(cr, text);
    }
    if (label != NULL) {
        cairo_save(cr);
        cairo_move_to(cr, f->x - 60, f->y + f->h / 2 + text_width(cr, label) / 2);
        cairo_rotate(cr, -1.5707963267948966);
        cairo_show_text(cr, label);
        cairo_restore(cr);
    }
}

void axes_ticks_right(const rubus__picture *p, cairo_t *cr, const axes_frame *f, double lo,
                      double hi)
{
    start(cr);
    const ticks t = choose(lo, hi, false);
    for (int i = 0; i < t.n; i++) {
        char text[32];
        const double y = f->y + f->h * (1 - along(t.at[i], lo, hi));
        label_of(p, t.at[i], false, text);
        tick(cr, f->x + f->w, y, 4, 0);
        cairo_move_to(cr, f->x + f->w + 8, y + 4);
        cairo_show_text(cr, text);
    }
}
