/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_PICTURE_AXES_H
#define RUBUS_PICTURE_AXES_H
/* Axes of the drawing module: boxes, ticks at round numbers, titles. */
#include <stdbool.h>

#include <cairo.h>

#include "libcore/output/picture.h"

typedef struct axes_frame { /* pixels */
    double x;
    double y;
    double w;
    double h;
} axes_frame;

/* A range of values. In decades lo and hi are powers of ten and labels are 10^lo ... */
typedef struct axes_range {
    double lo;
    double hi;
    bool decades;
} axes_range;

/* Place of a value in a range: 0 at lo, 1 at hi, 0.5 in an empty one; never overflows. */
double axes_along(const axes_range *range, double value);

void axes_box(cairo_t *cr, const axes_frame *f);
/* One line, made smaller or cut where it is longer than `room`. */
void axes_title(cairo_t *cr, const char *text, double x, double y, double room);

/* Width of the widest label that an upright axis of this height gets. */
double axes_label_width(const rubus__picture *p, cairo_t *cr, double height,
                        const axes_range *range);
void axes_ticks_below(const rubus__picture *p, cairo_t *cr, const axes_frame *f,
                      const axes_range *range, const char *label);
void axes_ticks_left(const rubus__picture *p, cairo_t *cr, const axes_frame *f,
                     const axes_range *range, const char *label);
void axes_ticks_right(const rubus__picture *p, cairo_t *cr, const axes_frame *f,
                      const axes_range *range);

#endif
