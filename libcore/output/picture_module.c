/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drawing module: a field as a map with colour bar and contour lines (or, in one
 * dimension, a curve), and below it a history with a logarithmic axis. Cairo draws.
 *
 * Cells without a number are grey; infinite ones have the end colours. x runs to the
 * right, y upwards.
 */
#include "config.h"

#include "libcore/output/picture_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAP_SIDE 560.0    /* longest side of the map, pixels */
#define LEAST_WIDTH 460.0 /* of a history, and of a map with a title */
#define MARGIN 12.0
#define LABEL_GAP 9.0   /* between a frame and the labels of its ticks */
#define NAME_SPACE 26.0 /* of the upright name of an axis */
#define MARGIN_TOP 44.0
#define MARGIN_BOTTOM 52.0
#define BAR_GAP 18.0
#define BAR_WIDTH 18.0
#define MOST_CONTOURS 1000
#define HISTORY_GAP 14.0
#define HISTORY_HEIGHT 200.0

/* Anchors of the colour scale, from dark blue over green to yellow. */
static const unsigned char scale[10][3] = {
    {68, 1, 84},    {72, 40, 120},  {62, 74, 137},  {49, 104, 142}, {38, 130, 142},
    {31, 158, 137}, {53, 183, 121}, {110, 206, 88}, {181, 222, 43}, {253, 231, 37}};

/* Place of a value in the range, 0 to 1, infinite ones at the ends. */
static double place_in(const rubus__picture *p, double v)
{
    const axes_range range = {p->lo, p->hi, false};
    if (!(p->any_finite != 0 && p->hi > p->lo) || !isfinite(v)) {
        return v > p->hi ? 1 : v < p->lo ? 0 : 0.5;
    }
    return fmin(1, fmax(0, axes_along(&range, v)));
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

/* --- the map ------------------------------------------------------------------------ */

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
        uint32_t *row =
            (uint32_t *)(void *)(data + (size_t)stride * (size_t)(ny - 1 - y));
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
static void contour_square(cairo_t *cr, const double v[4], double level, double x,
                           double y, double dx, double dy)
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
    const int64_t sx = p->n[0] / (int64_t)f->w + 1; /* squares of a pixel or more */
    const int64_t sy = p->n[1] / (int64_t)f->h + 1;
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
        cairo_stroke(cr); /* row by row: long paths are slow */
    }
}

/* Level number k of the contour lines. */
static bool contour_level(const rubus__picture *p, int k, double *level)
{
    *level = p->contour_first + k * p->contour_step;
    return p->contour_step > 0 && *level <= p->contour_last + 1e-9 * p->contour_step;
}

static void set_contour_pen(cairo_t *cr)
{
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_set_line_width(cr, 1.1);
}

static void draw_contours(const rubus__picture *p, cairo_t *cr, const axes_frame *f)
{
    if (!(p->contour_step > 0)) {
        return;
    }
    cairo_push_group(cr); /* so that lines do not shine where they meet */
    set_contour_pen(cr);
    double level = 0;
    for (int k = 0; k < MOST_CONTOURS && contour_level(p, k, &level); k++) {
        if (level > p->lo && level < p->hi) {
            draw_contour(p, cr, f, level);
        }
    }
    cairo_pop_group_to_source(cr);
    cairo_paint_with_alpha(cr, 0.85);
}

/* --- the bar ------------------------------------------------------------------------ */

static void draw_bar(const rubus__picture *p, cairo_t *cr, const axes_frame *map)
{
    const axes_frame f = {map->x + map->w + BAR_GAP, map->y, BAR_WIDTH, map->h};
    const axes_range range = {p->lo, p->hi, false};
    const int n = (int)f.h;
    for (int i = 0; i < n && p->any_finite != 0; i++) {
        const uint32_t c =
            p->hi > p->lo ? colour_at((double)i / (n > 1 ? n - 1 : 1)) : colour_at(0.5);
        cairo_set_source_rgb(cr, (double)(c >> 16u & 255u) / 255,
                             (double)(c >> 8u & 255u) / 255, (double)(c & 255u) / 255);
        cairo_rectangle(cr, f.x, f.y + f.h - 1 - i, f.w, i + 1 < n ? 1.5 : 1);
        cairo_fill(cr);
    }
    set_contour_pen(cr);
    for (int k = 0; k < MOST_CONTOURS && p->any_finite != 0; k++) {
        double level = 0;
        if (!contour_level(p, k, &level)) {
            break;
        }
        if (level > p->lo && level < p->hi) {
            const double y = f.y + f.h * (1 - axes_along(&range, level));
            cairo_move_to(cr, f.x, y);
            cairo_line_to(cr, f.x + f.w, y);
            cairo_stroke(cr);
        }
    }
    axes_box(cr, &f);
    if (p->any_finite != 0) {
        axes_ticks_right(p, cr, &f, &range);
    }
}

/* --- the whole ---------------------------------------------------------------------- */

typedef struct layout { /* pixels */
    axes_frame map;
    axes_frame history;
    int wide;
    int high;
} layout;

static axes_range side_range(const rubus__picture *p, int d)
{
    const axes_range range = {p->origin[d],
                              p->origin[d] + p->spacing[d] * (double)p->n[d], false};
    return range;
}

/* Sides of the map: true proportions, but no side under a fifth of the other; cells of 3
 * pixels and more get whole pixels. */
static axes_frame map_frame(const rubus__picture *p)
{
    axes_frame f = {0, MARGIN_TOP, MAP_SIDE, MAP_SIDE * 0.55};
    if (p->rank == 1) {
        return f;
    }
    double ratio = p->spacing[1] * (double)p->n[1] / (p->spacing[0] * (double)p->n[0]);
    ratio = !(ratio > 0.2) ? 0.2 : ratio > 5 ? 5 : ratio;
    f.w = ratio > 1 ? MAP_SIDE / ratio : MAP_SIDE;
    f.h = ratio > 1 ? MAP_SIDE : MAP_SIDE * ratio;
    const double cell[2] = {f.w / (double)p->n[0], f.h / (double)p->n[1]};
    if (cell[0] >= 3 && cell[1] >= 3) {
        f.w = floor(cell[0]) * (double)p->n[0];
        f.h = floor(cell[1]) * (double)p->n[1];
    }
    f.w = floor(f.w);
    f.h = floor(f.h);
    return f;
}

static layout lay_out(const rubus__picture *p, cairo_t *cr)
{
    layout l;
    memset(&l, 0, sizeof(l));
    l.map = map_frame(p);
    axes_range x;
    axes_range y = p->rank == 1 ? curve_range(p) : side_range(p, 1);
    double left = axes_label_width(p, cr, l.map.h, &y);
    double right = MARGIN;
    if (p->rank == 2) {
        const axes_range bar = {p->lo, p->hi, false};
        right += BAR_GAP + BAR_WIDTH + LABEL_GAP;
        right += p->any_finite != 0 ? axes_label_width(p, cr, l.map.h, &bar) : 0;
    }
    double wide = l.map.w + right;
    double high = l.map.y + l.map.h + MARGIN_BOTTOM;
    if (p->nhistory > 0) {
        left = history_ranges(p, &x, &y)
                   ? fmax(left, axes_label_width(p, cr, HISTORY_HEIGHT, &y))
                   : left;
        l.history = (axes_frame){0, high + HISTORY_GAP, fmax(l.map.w, LEAST_WIDTH),
                                 HISTORY_HEIGHT};
        wide = fmax(wide + fmax(0, l.history.w - l.map.w) / 2, l.history.w + 2 * MARGIN);
        high = l.history.y + l.history.h + MARGIN_BOTTOM;
    }
    left = ceil(left + MARGIN + NAME_SPACE + LABEL_GAP);
    l.history.x = left;
    l.map.x = left + floor(fmax(0, l.history.w - l.map.w) / 2); /* in the middle above */
    if (p->title != NULL) {
        wide = fmax(wide, LEAST_WIDTH);
    }
    l.wide = (int)(left + wide + MARGIN);
    l.high = (int)high;
    return l;
}

static const char *draw_map(const rubus__picture *p, cairo_t *cr, const axes_frame *f)
{
    const char *failed = draw_cells(p, cr, f);
    if (failed != NULL) {
        return failed;
    }
    draw_contours(p, cr, f);
    axes_box(cr, f);
    const axes_range x = side_range(p, 0);
    const axes_range y = side_range(p, 1);
    axes_ticks_below(p, cr, f, &x, "x");
    axes_ticks_left(p, cr, f, &y, "y");
    draw_bar(p, cr, f);
    return NULL;
}

static cairo_t *canvas(int wide, int high)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, wide, high);
    cairo_t *cr = cairo_create(surface);
    cairo_surface_destroy(surface); /* cr holds it */
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           CAIRO_FONT_WEIGHT_NORMAL);
    return cr;
}

static cairo_status_t to_sink(void *closure, const unsigned char *bytes, unsigned n)
{
    const rubus__picture *p = closure;
    return p->sink(p->user, bytes, n) == 0 ? CAIRO_STATUS_SUCCESS
                                           : CAIRO_STATUS_WRITE_ERROR;
}

static const char *draw_all(const rubus__picture *p, cairo_t *cr, const layout *l)
{
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    const double x = l->history.x;
    axes_title(cr, p->title != NULL ? p->title : p->name, x, 28, l->wide - x - MARGIN);
    const char *failed = NULL;
    if (p->rank == 1) {
        curve_draw(p, cr, &l->map);
    } else {
        failed = draw_map(p, cr, &l->map);
    }
    if (failed != NULL) {
        return failed;
    }
    if (p->nhistory > 0) {
        history_draw(p, cr, &l->history);
    }
    cairo_status_t st = cairo_status(cr);
    if (st == CAIRO_STATUS_SUCCESS) {
        st = cairo_surface_write_to_png_stream(cairo_get_target(cr), to_sink,
                                               (void *)(uintptr_t)p);
    }
    return st == CAIRO_STATUS_SUCCESS ? NULL : cairo_status_to_string(st);
}

__attribute__((visibility("default"))) const char *
rubus_picture_draw(const rubus__picture *p);

const char *rubus_picture_draw(const rubus__picture *p)
{
    if (p->abi != RUBUS__PICTURE_ABI) {
        return "the drawing module is of another version of Rubus";
    }
    cairo_t *measure = canvas(1, 1);
    const layout l = lay_out(p, measure);
    cairo_destroy(measure);
    cairo_t *cr = canvas(l.wide, l.high);
    const char *failed = draw_all(p, cr, &l);
    cairo_destroy(cr);
    return failed;
}
