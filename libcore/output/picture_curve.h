/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_PICTURE_CURVE_H
#define RUBUS_PICTURE_CURVE_H
/* Curves of the drawing module: a field of one dimension, a history. */
#include "libcore/output/picture_axes.h"

/* Value axis of a curve: the finite values with some air. */
axes_range curve_range(const rubus__picture *p);
void curve_draw(const rubus__picture *p, cairo_t *cr, const axes_frame *f);

/* Ranges of both axes of the history (y in decades); false if it has nothing to show. */
bool history_ranges(const rubus__picture *p, axes_range *x, axes_range *y);
void history_draw(const rubus__picture *p, cairo_t *cr, const axes_frame *f);

#endif
