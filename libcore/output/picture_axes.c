/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Axes for the pictures: a box, ticks at round numbers with labels that tell them apart,
 * a title. There are as many ticks as have room. Labels are formatted by the library's
 * own printf, so a decimal comma never gets in.
 */
#include "config.h"

#include "libcore/output/picture_axes.h"

#include <math.h>
#include <string.h>

#define MOST_TICKS 12
#define LABEL_SIZE 11.0
#define TITLE_SIZE 14.0
#define LEAST_TITLE_SIZE 9.0

typedef struct ticks {
    int n;
    double step; /* 0: at the ends only */
    double at[MOST_TICKS];
} ticks;

double axes_along(const axes_range *range, double value)
{
    /* halves keep huge ranges from overflowing; doubles keep denormal ones apart */
    const double scale = fmax(fabs(range->lo), fabs(range->hi)) < 1 ? 2 : 0.5;
    const double span = range->hi * scale - range->lo * scale;
    return span > 0 ? (value * scale - range->lo * scale) / span : 0.5;
}

static ticks at_ends(double lo, double hi)
{
    ticks t = {1, 0, {lo}};
    if (hi > lo) {
        t.at[t.n++] = hi;
    }
    return t;
}

/* The smallest of 1, 2, 5 times a power of ten that is not below `least`. */
static double round_step(double least)
{
    const double power = pow(10, floor(log10(least)));
    const double many = least / power;
    return power * (many <= 1 ? 1 : many <= 2 ? 2 : many <= 5 ? 5 : 10);
}

/* Round numbers of the range, about `most` steps; its ends where it is no range. */
static ticks choose(const axes_range *range, double most)
{
    const double lo = range->lo;
    const double hi = range->hi;
    const double span = hi - lo;
    most = most < 2 ? 2 : most > 6 ? 6 : floor(most);
    if (!(span > 0) || !isfinite(span)) {
        return at_ends(lo, hi);
    }
    const double step = range->decades ? ceil(span / most) : round_step(span / most);
    /* denormal, or below the resolution of the numbers */
    if (!(step > 1e-300) || step < 1e-12 * fmax(fabs(lo), fabs(hi))) {
        return at_ends(lo, hi);
    }
    ticks t = {0, step, {0}};
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

/* Enough digits to tell neighbours apart: plain for everyday sizes, else with exponent.
 * */
static void label_of(const rubus__picture *p, const ticks *t, int i, char out[40])
{
    double most = 0;
    for (int k = 0; k < t->n; k++) {
        most = fmax(most, fabs(t->at[k]));
    }
    const double v = t->at[i];
    if (t->step == 0) {
        p->format(out, 40, "%.6g", v);
    } else if (most >= 1e-3 && most < 1e6) {
        const double places = -floor(log10(t->step) + 1e-9);
        p->format(out, 40, "%.*f", places > 0 ? (int)places : 0, v);
    } else if (v == 0) {
        p->format(out, 40, "0");
    } else {
        const int digits = (int)ceil(log10(most / t->step)) + 1;
        p->format(out, 40, "%.*g", digits < 13 ? digits : 13, v);
    }
}

void axes_box(cairo_t *cr, const axes_frame *f)
{
    cairo_set_source_rgb(cr, 0.2, 0.2, 0.2);
    cairo_set_line_width(cr, 1);
    cairo_rectangle(cr, f->x - 0.5, f->y - 0.5, f->w + 1, f->h + 1);
    cairo_stroke(cr);
}

static double text_width(cairo_t *cr, const char *text)
{
    cairo_text_extents_t e;
    cairo_text_extents(cr, text, &e);
    return e.x_advance;
}

void axes_title(cairo_t *cr, const char *text, double x, double y, double room)
{
    char cut[512];
    size_t n = strlen(text);
    n = n < sizeof(cut) - 4 ? n : sizeof(cut) - 4;
    while (n > 0 && text[n] != '\0' && ((unsigned char)text[n] & 0xC0u) == 0x80) {
        n--; /* not inside a character */
    }
    memcpy(cut, text, n);
    strcpy(cut + n, text[n] == '\0' ? "" : "...");
    cairo_set_source_rgb(cr, 0.1, 0.1, 0.1);
    cairo_set_font_size(cr, TITLE_SIZE);
    const double width = text_width(cr, cut);
    if (width > room) {
        cairo_set_font_size(cr, fmax(LEAST_TITLE_SIZE, TITLE_SIZE * room / width));
    }
    while (n > 0 && text_width(cr, cut) > room * 1.01) {
        do {
            n--;
        } while (n > 0 && ((unsigned char)cut[n] & 0xC0u) == 0x80);
        strcpy(cut + n, "...");
    }
    cairo_move_to(cr, x, y);
    cairo_show_text(cr, cut);
}

static void start(cairo_t *cr)
{
    cairo_set_source_rgb(cr, 0.2, 0.2, 0.2);
    cairo_set_line_width(cr, 1);
    cairo_set_font_size(cr, LABEL_SIZE);
}

/* Ticks stand on whole pixels, so that their lines are sharp. */
static void tick(cairo_t *cr, double x, double y, double dx, double dy)
{
    cairo_move_to(cr, dx == 0 ? floor(x) + 0.5 : x, dy == 0 ? floor(y) + 0.5 : y);
    cairo_rel_line_to(cr, dx, dy);
    cairo_stroke(cr);
}

/* Draws (or only measures) the label of a tick from x on; returns its width. */
static double label(const rubus__picture *p, cairo_t *cr, const ticks *t, int i,
                    bool decades, bool draw, double x, double y)
{
    char text[40];
    if (decades) {
        p->format(text, sizeof(text), "%d", (int)t->at[i]);
        cairo_set_font_size(cr, LABEL_SIZE);
        const double base = text_width(cr, "10");
        if (draw) {
            cairo_move_to(cr, x, y);
            cairo_show_text(cr, "10");
        }
        cairo_set_font_size(cr, LABEL_SIZE * 0.75);
        const double exponent = text_width(cr, text);
        if (draw) {
            cairo_move_to(cr, x + base + 1, y - 5);
            cairo_show_text(cr, text);
        }
        cairo_set_font_size(cr, LABEL_SIZE);
        return base + 1 + exponent;
    }
    label_of(p, t, i, text);
    if (draw) {
        cairo_move_to(cr, x, y);
        cairo_show_text(cr, text);
    }
    return text_width(cr, text);
}

static double ticks_upright(double height)
{
    return height / 40;
}

double axes_label_width(const rubus__picture *p, cairo_t *cr, double height,
                        const axes_range *range)
{
    cairo_set_font_size(cr, LABEL_SIZE);
    const ticks t = choose(range, ticks_upright(height));
    double widest = 0;
    for (int i = 0; i < t.n; i++) {
        widest = fmax(widest, label(p, cr, &t, i, range->decades, false, 0, 0));
    }
    return widest;
}

void axes_ticks_below(const rubus__picture *p, cairo_t *cr, const axes_frame *f,
                      const axes_range *range, const char *name)
{
    start(cr);
    const ticks t = choose(range, f->w / 56);
    double free_from = f->x - 1e3;
    for (int i = 0; i < t.n; i++) {
        const double x = f->x + f->w * axes_along(range, t.at[i]);
        const double width = label(p, cr, &t, i, false, false, 0, 0);
        tick(cr, x, f->y + f->h + 0.5, 0, 5);
        if (x - width / 2 > free_from + 4) {
            label(p, cr, &t, i, false, true, x - width / 2, f->y + f->h + 18);
            free_from = x + width / 2;
        }
    }
    if (name != NULL) {
        cairo_move_to(cr, f->x + f->w / 2 - text_width(cr, name) / 2, f->y + f->h + 34);
        cairo_show_text(cr, name);
    }
}

void axes_ticks_left(const rubus__picture *p, cairo_t *cr, const axes_frame *f,
                     const axes_range *range, const char *name)
{
    start(cr);
    const ticks t = choose(range, ticks_upright(f->h));
    double widest = 0;
    for (int i = 0; i < t.n; i++) {
        const double y = f->y + f->h * (1 - axes_along(range, t.at[i]));
        const double width = label(p, cr, &t, i, range->decades, false, 0, 0);
        tick(cr, f->x - 0.5, y, -5, 0);
        label(p, cr, &t, i, range->decades, true, f->x - 9 - width, y + 4);
        widest = fmax(widest, width);
    }
    if (name != NULL) {
        cairo_save(cr);
        cairo_move_to(cr, f->x - 9 - widest - 10,
                      f->y + f->h / 2 + text_width(cr, name) / 2);
        cairo_rotate(cr, -1.5707963267948966);
        cairo_show_text(cr, name);
        cairo_restore(cr);
    }
}

void axes_ticks_right(const rubus__picture *p, cairo_t *cr, const axes_frame *f,
                      const axes_range *range)
{
    start(cr);
    const ticks t = choose(range, ticks_upright(f->h));
    for (int i = 0; i < t.n; i++) {
        const double y = f->y + f->h * (1 - axes_along(range, t.at[i]));
        tick(cr, f->x + f->w + 0.5, y, 4, 0);
        label(p, cr, &t, i, false, true, f->x + f->w + 8, y + 4);
    }
}
