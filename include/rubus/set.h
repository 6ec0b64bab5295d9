/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_SET_H
#define RUBUS_SET_H
/**
 * Sets: products of up to three closed intervals, on which meshes stand. A set is a plain
 * value; it belongs to no context.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rubus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** [lower[0], upper[0]] x [lower[1], upper[1]] x ... */
typedef struct rubus_set {
    int32_t ndim; /**< 1 to 3 */
    int32_t reserved0;
    double lower[3];
    double upper[3];
} rubus_set;

/**
 * The interval [lower, upper].
 *
 * @return RUBUS_OK
 * @return RUBUS_EINVAL  NULL, bounds not finite, or lower > upper
 * @threads Any thread.
 */
RUBUS_API rubus_status rubus_set_interval(double lower, double upper,
                                          rubus_set *out_set) RUBUS_CHECKED;

/** The axes of `a`, then those of `b`.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, no set, more than 3 axes)
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_set_product(const rubus_set *a, const rubus_set *b,
                                         rubus_set *out_set) RUBUS_CHECKED;

/** The box between two opposite corners, in any order. Of one point twice: that point.
 *  @param p  [ndim]
 *  @param q  [ndim]
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, ndim not 1 to 3, not finite)
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_set_box(int32_t ndim, const double *p, const double *q,
                                     rubus_set *out_set) RUBUS_CHECKED;

/** The interval of one axis, counted from 0.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, no such axis)
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_set_axis(const rubus_set *set, int32_t axis,
                                      rubus_set *out_set) RUBUS_CHECKED;

/** Writes the centre to out_point [ndim].
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, no set)
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_set_centre(const rubus_set *set,
                                        double *out_point) RUBUS_CHECKED;

/** Whether point [ndim] lies in the set, bounds included.
 *  @return false also for NULL
 *  @threads Any thread. */
RUBUS_API bool rubus_set_contains(const rubus_set *set, const double *point);

/** Axes that are more than a point: those whose bounds differ by more than a rounding
 *  error (1.5e-8 of the larger). 0 for NULL.
 *  @return as said
 *  @threads Any thread. */
RUBUS_API int32_t rubus_set_topological_ndim(const rubus_set *set);

#ifdef __cplusplus
}
#endif
#endif
