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

void axes_box(cairo_t *cr, const axes_frame *f);
void axes_title(cairo_t *cr, const char *text, double x, double y);
void axes_ticks_below(const rubus__picture *p, cairo_t *cr, const axes_frame *f, double lo,
                      double hi, const char *label);
/* decades: lo and hi are powers of ten, ticks are 1e-6 and so on. */
void axes_ticks_left(const rubus__picture *p, cairo_t *cr, const axes_frame *f, double lo,
                     double hi, const char *label, bool decades);
void axes_ticks_right(const rubus__picture *p, cairo_t *cr, const axes_frame *f, double lo,
                      double hi);

#endif
