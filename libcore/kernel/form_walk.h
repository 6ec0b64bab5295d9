/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_FORM_WALK_H
#define RK_FORM_WALK_H
/*
 * What the per-point kernels of forms have in common: the point at which they stand and
 * its neighbours as text, the unknowns there, and what a pair of taps gives.
 */
#include "libcore/kernel/form_write.h"

typedef struct rk_walk {
    rk_writer *w;
    const char *index[3]; /* of the point at which the kernel stands */
    const char *extent[3];
} rk_walk;

/* Names the indices and takes the sizes of the mesh as parameters. */
rk_walk rk_walk_make(rk_writer *w);
void rk_walk_line(const rk_walk *k, int indent, const char *text);
/* "i - 1" */
const char *rk_walk_moved(const rk_walk *k, int32_t d, int32_t by);
/* `before`, and whether the point `index + by` is on the grid; NULL: certainly. */
const char *rk_walk_on_grid(const rk_walk *k, const int32_t by[3], const char *before);
/* `before`, and whether the point `index + by` is on the face of the term. */
const char *rk_walk_on_face(const rk_walk *k, const rk_form_term *t, const int32_t by[3],
                            const char *before);
/* Number of an unknown: its component, then its point; and of all points. */
const char *rk_walk_number(const rk_walk *k, int32_t component, const int32_t by[3]);
const char *rk_walk_points(const rk_walk *k);
/* Whether the unknown at `index + by` is constrained; NULL: never. */
const char *rk_walk_constrained(const rk_walk *k, int32_t component, const int32_t by[3]);
/* Whether a pair of taps of a term at the point `index - offset` is there, as far as
 * masks tell; NULL: they tell nothing. */
const char *rk_walk_present(const rk_walk *k, const rk_tap *test, const rk_tap *trial,
                            const int32_t offset[3]);
/* What a pair of taps of a term at the point `index - offset` gives. */
const char *rk_walk_value(const rk_walk *k, const rk_form_term *t, const rk_tap *test,
                          const rk_tap *trial, const int32_t offset[3]);

#endif
