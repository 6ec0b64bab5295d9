/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drawing module: a field as a map with colour bar and contour lines (or, in one
 * dimension, a curve), and below it a history with a logarithmic axis. Cairo draws.
 *
 * Cells without a number are grey; infinite ones have the end colours. x runs to the right,
 * y upwards.
 */
#include "config.h"

#include "libcore/output/picture_axes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAP_SIDE 560.0 /* longest side of the map, pixels */
#define MARGIN_LEFT 84.0
#define MARGIN_TOP 48.0
#define MARGIN_BOTTOM 56.0
#define BAR_GAP 22.0
#define BAR_WIDTH 18.0
#define BAR_SPACE 110.0
#define HISTORY_HEIGHT 200.0

/* Anchors of the colour scale, from dark blue over green to yellow. */
static const unsigned char scale[10][3] = {
    {68, 1, 84},   {72, 40, 120},  {62, 74, 137},  {49, 104, 142}, {38, 130, 142},
    {31, 158, 137}, {53, 183, 121}, {110, 206, 88}, {181, 222, 43}, {253, 231, 37}};

/* Place of a value in the range, 0 to 1; halves keep huge ranges from overflowing. */
static double place_in(const rubus__picture *p, double v)
{
    const double span = p->hi / 2 - p->lo / 2;
    if (!(span > 0)) {
        return v > p->hi ? 1 : v < p->lo ? 0 : 0.5;
    }
    const double t = (v / 2 - p->lo / 2) / span;
    return t < 0 ? 0 : t > 1 ? 1 : t;
}

static uint32_t colour_at(double t)
{
    const double x = t * 9;
    const int k = x >= 9 ? 8 : (int)x;
    uint32_t rgb = 0xFF;
    for (int c = 0; c < 3; c++) {
        const double v = scale[k][c] + (x - k) * (scale[k + 1][c] - scale[k][c]);
        rgb = rgb << 8u | (uint32_t)lround(v);
    }
    return rgb;
}

static uint32_t colour_of(const rubus__picture *p, double v)
{
    return isnan(v) ? 0xFFB0B0B0u : colour_at(place_in(p, v));
}

/* --- the map ----------------------------------------------------------------------------------- */

/* Every step-th cell, so that no image side passes what Cairo takes. */
static int64_t step_of(int64_t n)
{
    return n / 8192 + 1;
}

static const char *draw_cells(const rubus__picture *p, cairo_t *cr, const axes_frame *f)
{
    const int64_t sx = step_of(p->n[0]);
    const int64_t sy = step_of(p->n[1]);
    const int nx = (int)((p->n[0] + sx - 1) / sx);
    const int ny = (int)((p->n[1] + sy - 1) / sy);
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, nx, ny);
    if (cairo_surface_status(image) != CAIRO_STATUS_SUCCESS) {
        cairo_surface_destroy(image);
        return "out of memory for the map";
    }
    unsigned char *data = cairo_image_surface_get_data(image);
    const int stride = cairo_image_surface_get_stride(image);
    for (int y = 0; y < ny; y++) {
        uint32_t *row = (uint32_t *)(void *)(data + (size_t)stride * (size_t)(ny - 1 - y));
        for (int x = 0; x < nx; x++) {
            row[x] = colour_of(p, p->values[x * sx + p->n[0] * (y * sy)]);
        }
    }
    cairo_surface_mark_dirty(image);
    cairo_save(cr);
    cairo_translate(cr, f->x, f->y);
    cairo_scale(cr, f->w / nx, f->h / ny);
    cairo_set_source_surface(cr, image, 0, 0);
    const bool enlarge = f->w >= nx;
    cairo_pattern_set_filter(cairo_get_source(cr),
                             enlarge ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
    cairo_rectangle(cr, 0, 0, nx, ny);
    cairo_fill(cr);
    cairo_restore(cr);
    cairo_surface_destroy(image);
    return NULL;
}

/* Where the line of `level` crosses between two corners, 0 to 1. */
static double crossing(double a, double b, double level)
{
    return a == b ? 0.5 : (level - a) / (b - a);
}

/* Marching squares over the cell centres x0.., y0.. of one square. */
static void contour_square(cairo_t *cr, const double v[4], double level, double x, double y,
                           double dx, double dy)
{
    double px[4];
    double py[4];
    int n = 0;
    static const int from[4] = {0, 1, 2, 3};
    static const int to[4] = {1, 2, 3, 0};
    static const double cx[4] = {0, 1, 1, 0};
    static const double cy[4] = {0, 0, 1, 1};
    for (int e = 0; e < 4; e++) {
        const double a = v[from[e]];
        const double b = v[to[e]];
        if ((a < level) != (b < level)) {
            const double t = crossing(a, b, level);
            px[n] = x + dx * (cx[from[e]] + t * (cx[to[e]] - cx[from[e]]));
            py[n] = y - dy * (cy[from[e]] + t * (cy[to[e]] - cy[from[e]]));
            n++;
        }
    }
    for (int k = 0; k + 1 < n; k += 2) {
        cairo_move_to(cr, px[k], py[k]);
        cairo_line_to(cr, px[k + 1], py[k + 1]);
    }
}

static void draw_contour(const rubus__picture *p, cairo_t *cr, const axes_frame *f,
                         double level)
{
    const int64_t sx = p->n[0] / 1024 + 1;
    const int64_t sy = p->n[1] / 1024 + 1;
    const double dx = f->w / (double)p->n[0];
    const double dy = f->h / (double)p->n[1];
    for (int64_t y = 0; y + sy < p->n[1]; y += sy) {
        for (int64_t x = 0; x + sx < p->n[0]; x += sx) {
            const double *row = p->values + p->n[0] * y;
            const double *above = row + p->n[0] * sy;
            const double v[4] = {row[x], row[x + sx], above[x + sx], above[x]};
            if (isfinite(v[0] + v[1] + v[2] + v[3])) {
                contour_square(cr, v, level, f->x + dx * ((double)x + 0.5),
                               f->y + f->h - dy * ((double)y + 0.5), dx * (double)sx,
                               dy * (double)sy);
            }
        }
    }
    cairo_stroke(cr);
}

static void draw_contours(const rubus__picture *p, cairo_t *cr, const axes_frame *f)
{
    if (!(p->contour_step > 0)) {
        return;
    }
    cairo_set_source_rgba(cr, 1, 1, 1, 0.85);
    cairo_set_line_width(cr, 1.1);
    for (int k = 0; k < 1000; k++) {
        const double level = p->contour_first + k * p->contour_step;
        if (level > p->contour_last + 1e-9 * p->contour_step) {
            break;
        }
        draw_contour(p, cr, f, level);
    }
}

static void draw_bar(const rubus__picture *p, cairo_t *cr, const axes_frame *map)
{
    const axes_frame f = {map->x + map->w + BAR_GAP, map->y, BAR_WIDTH, map->h};
    const int n = (int)f.h;
    for (int i = 0; i < n && p->any_finite != 0; i++) {
        const uint32_t c =
            p->hi > p->lo ? colour_at((double)i / (n > 1 ? n - 1 : 1)) : colour_at(0.5);
        cairo_set_source_rgb(cr, (double)(c >> 16u & 255u) / 255,
                             (double)(c >> 8u & 255u) / 255, (double)(c & 255u) / 255);
        cairo_rectangle(cr, f.x, f.y + f.h - 1 - i, f.w, 1.5);
        cairo_fill(cr);
    }
    axes_box(cr, &f);
    if (p->any_finite != 0) {
        axes_ticks_right(p, cr, &f, p->lo, p->hi);
    }
}

static const char *draw_map(const rubus__picture *p, cairo_t *cr, const axes_frame *f)
{
    const char *failed = draw_cells(p, cr, f);
    if (failed != NULL) {
        return failed;
    }
    draw_contours(p, cr, f);
    axes_box(cr, f);
    const double x1 = p->origin[0] + p->spacing[0] * (double)p->n[0];
    const double y1 = p->origin[1] + p->spacing[1] * (double)p->n[1];
    axes_ticks_below(p, cr, f, p->origin[0], x1, "x");
    axes_ticks_left(p, cr, f, p->origin[1], y1, "y", false);
    draw_bar(p, cr, f);
    return NULL;
}

static void draw_curve(const rubus__picture *p, cairo_t *cr, const axes_frame *f)
{
    const double x1 = p->origin[0] + p->spacing[0] * (double)p->n[0];
    const double pad = p->hi > p->lo ? (p->hi - p->lo) * 0.05 : 1;
    const double lo = p->any_finite != 0 ? p->lo - pad : 0;
    const double hi = p->any_finite != 0 ? p->hi + pad : 1;
    axes_box(cr, f);
    axes_ticks_below(p, cr, f, p->origin[0], x1, "x");
    axes_ticks_left(p, cr, f, lo, hi, p->name, false);
    cairo_set_source_rgb(cr, 0.12, 0.38, 0.55);
    cairo_set_line_width(cr, 1.8);
    bool open = false;
    for (int64_t i = 0; i < p->n[0]; i++) {
        const double v = p->values[i];
        if (!isfinite(v)) {
            open = false;
            continue;
        }
        const double x = f->x + f->w * ((double)i + 0.5) / (double)p->n[0];
        const double y = f->y + f->h * (1 - (v - lo) / (hi - lo));
        if (open) {
            cairo_line_to(cr, x, y);
        } else {
            cairo_move_to(cr, x, y);
        }
        open = true;
    }
    cairo_stroke(cr);
}

/* --- the history ----------------------------------------------------------------------------------- */

static void draw_history(const rubus__picture *p, cairo_t *cr, const axes_frame *f)
{
    double lo = 0;
    double hi = 0;
    double x1 = 0;
    bool any = false;
    for (size_t i = 0; i < p->nhistory; i++) {
        const double y = p->history_y[i];
        x1 = p->history_x[i] > x1 ? p->history_x[i] : x1;
        if (isfinite(y) && y > 0) {
            lo = !any || log10(y) < lo ? log10(y) : lo;
            hi = !any || log10(y) > hi ? log10(y) : hi;
            any = true;
        }
    }
    axes_box(cr, f);
    if (!any || !(x1 > 0)) {
        return;
    }
    lo = floor(lo);
    hi = ceil(hi) > lo ? ceil(hi) : lo + 1;
    axes_ticks_below(p, cr, f, 0, x1, p->history_label_x);
    axes_ticks_left(p, cr, f, lo, hi, p->history_label_y, true);
    cairo_set_source_rgb(cr, 0.12, 0.38, 0.55);
    cairo_set_line_width(cr, 1.4);
    bool open = false;
    for (int marks = 0; marks < 2; marks++) {
        for (size_t i = 0; i < p->nhistory; i++) {
            const double v = p->history_y[i];
            if (!(isfinite(v) && v > 0)) {
                open = false;
                continue;
            }
            const double x = f->x + f->w * p->history_x[i] / x1;
            const double y = f->y + f->h * (1 - (log10(v) - lo) / (hi - lo));
            if (marks == 1) {
                cairo_arc(cr, x, y, 2.2, 0, 6.2832);
                cairo_fill(cr);
            } else if (open) {
                cairo_line_to(cr, x, y);
            } else {
                cairo_move_to(cr, x, y);
            }
            open = true;
        }
        cairo_stroke(cr);
    }
}

/* --- the whole --------------------------------------------------------------------------------------- */

static cairo_status_t to_sink(void *closure, const unsigned char *bytes, unsigned n)
{
    const rubus__picture *p = closure;
    return p->sink(p->user, bytes, n) == 0 ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

/* Size of the map: true proportions, but no side under a fifth of the other. */
static axes_frame map_frame(const rubus__picture *p)
{
    axes_frame f = {MARGIN_LEFT, MARGIN_TOP, MAP_SIDE, MAP_SIDE * 0.55};
    if (p->rank == 2) {
        double ratio = p->spacing[1] * (double)p->n[1] / (p->spacing[0] * (double)p->n[0]);
        ratio = !(ratio > 0.2) ? 0.2 : ratio > 5 ? 5 : ratio;
        f.w = ratio > 1 ? MAP_SIDE / ratio : MAP_SIDE;
        f.h = ratio > 1 ? MAP_SIDE : MAP_SIDE * ratio;
    }
    return f;
}

__attribute__((visibility("default"))) const char *
rubus_picture_draw(const rubus__picture *p);

const char *rubus_picture_draw(const rubus__picture *p)
{
    if (p->abi != RUBUS__PICTURE_ABI) {
        return "the drawing module is of another version of Rubus";
    }
    const axes_frame map = map_frame(p);
    const double history = p->nhistory > 0 ? HISTORY_HEIGHT + MARGIN_BOTTOM : 0;
    const double least = p->nhistory > 0 || p->title != NULL ? 420 : 0;
    const double wide = MARGIN_LEFT + (map.w > least ? map.w : least) + BAR_SPACE;
    const double high = MARGIN_TOP + map.h + MARGIN_BOTTOM + history;
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)wide, (int)high);
    cairo_t *cr = cairo_create(surface);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           CAIRO_FONT_WEIGHT_NORMAL);
    axes_title(cr, p->title != NULL ? p->title : p->name, MARGIN_LEFT, 28);
    const char *failed = NULL;
    if (p->rank == 1) {
        draw_curve(p, cr, &map);
    } else {
        failed = draw_map(p, cr, &map);
    }
    if (failed == NULL && p->nhistory > 0) {
        const axes_frame f = {MARGIN_LEFT, map.y + map.h + MARGIN_BOTTOM,
                              wide - MARGIN_LEFT - BAR_SPACE, HISTORY_HEIGHT};
        draw_history(p, cr, &f);
    }
    if (failed == NULL && cairo_surface_write_to_png_stream(
                              surface, to_sink, (void *)(uintptr_t)p) !=
                              CAIRO_STATUS_SUCCESS) {
        failed = "the picture could not be made (out of memory?)";
    }
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    return failed;
}
