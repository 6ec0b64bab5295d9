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

/* Points: lo <= index < extent + hi, by axis. */
typedef struct rk_region {
    int64_t lo[3];
    int64_t hi[3];
} rk_region;

/* Names the indices and takes the sizes of the mesh as parameters. */
rk_walk rk_walk_make(rk_writer *w);
void rk_walk_line(const rk_walk *k, int indent, const char *text);
/* "i - 1" */
const char *rk_walk_moved(const rk_walk *k, int32_t d, int32_t by);
/* Both conditions, of which either may be NULL: certainly. */
const char *rk_walk_both(const rk_walk *k, const char *a, const char *b);
/* Whether the point lies in the region, of points in `known`; NULL: certainly. */
const char *rk_walk_region(const rk_walk *k, const rk_region *r, const rk_region *known);
/* `before`, and whether the point `index + by` is on the grid; NULL: certainly. */
const char *rk_walk_on_grid(const rk_walk *k, const int32_t by[3], const char *before);
/* `before`, and whether the point `index + by` is on the face of the term. */
const char *rk_walk_on_face(const rk_walk *k, const rk_form_term *t, const int32_t by[3],
                            const char *before);
/* Whether that can never be, since the text stands away from the ends. */
bool rk_walk_off_face(const rk_walk *k, const rk_form_term *t, const int32_t by[3]);
/* Number of an unknown: its component, then its point; and of all points. */
const char *rk_walk_number(const rk_walk *k, int32_t component, const int32_t by[3]);
const char *rk_walk_points(const rk_walk *k);
/* Whether the unknown at `index + by` is constrained; NULL: never. */
const char *rk_walk_constrained(const rk_walk *k, int32_t component, const int32_t by[3]);
/* Whether a pair of taps of a term at the point `index - offset` is there, as far as
 * masks tell; NULL: they tell nothing. */
const char *rk_walk_present(const rk_walk *k, const rk_tap *test, const rk_tap *trial,
                            const int32_t offset[3]);
/* A product at the point `index - offset`, with that for its rest (NULL: 1). */
const char *rk_walk_product(const rk_walk *k, const rk_product *p, const rk_ir *rest,
                            const int32_t offset[3]);
/* What a pair of taps of a term at the point `index - offset` gives. */
const char *rk_walk_value(const rk_walk *k, const rk_form_term *t, int32_t pair,
                          const int32_t offset[3]);

/* Writes what `body` writes, first for points away from the ends, without conditions
 * that hold there, then for all others. */
void rk_walk_twice(const rk_walk *k, void (*body)(void *user), void *user);

#endif
