/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The axes of a mesh: what a user gives becomes points on the host and on the device, and
 * the device computes all other arrays from them. Points that a formula gives are
 * computed on both sides; only given and random ones are uploaded.
 */
#include "config.h"

#include "libcore/grid/grid.h"

#include <math.h>
#include <string.h>

#define POINTS_MOST ((int64_t)INT32_MAX - 1) /* n + 1 fits an int of a kernel */

rubus__axis *rubus__axis_hold(rubus__axis *axis)
{
    atomic_fetch_add(&axis->references, 1);
    return axis;
}

void rubus__axis_release(rubus__axis *axis)
{
    if (axis == NULL || atomic_fetch_sub(&axis->references, 1) != 1) {
        return;
    }
    for (int k = 0; k < RUBUS__AXIS_ARRAYS; k++) {
        rubus_array_destroy(axis->array[k]);
    }
    rubus__free(axis->x);
    rubus__free(axis);
}

static rubus__axis *axis_new(double lower, double upper, int64_t n)
{
    rubus__axis *axis = rubus__alloc(sizeof(*axis));
    if (axis == NULL) {
        return NULL;
    }
    atomic_init(&axis->references, 1);
    axis->lower = lower;
    axis->upper = upper;
    axis->n = n;
    axis->x = rubus__alloc_array((size_t)n, sizeof(double));
    if (axis->x == NULL) {
        rubus__axis_release(axis);
        return NULL;
    }
    return axis;
}

/* --- arrays on the device --------------------------------------------------------- */

static rubus_status kernel_of(rubus_context *context, int32_t type, const char *name,
                              const rubus_kernel **out_kernel)
{
    const rubus_module_options options = {
        .struct_size = sizeof(options), .real = type, .index = RUBUS_I32};
    return rubus__kept_kernel(context, "mesh.rk", &options, name, out_kernel);
}

static rubus_status upload(rubus_context *context, int32_t type, rubus__axis *axis)
{
    return rubus__upload(context, type, RUBUS_SHAPE(axis->n), axis->x, axis->n,
                         &axis->array[RUBUS_MESH_POINTS]);
}

static rubus_status formula(rubus_context *context, int32_t type, rubus__axis *axis,
                            double step)
{
    rubus_array **x = &axis->array[RUBUS_MESH_POINTS];
    const rubus_kernel *kernel = NULL;
    rubus_status st = kernel_of(context, type, "uniform_points", &kernel);
    if (st == RUBUS_OK) {
        st = rubus_array_create(context, type, RUBUS_SHAPE(axis->n), x);
    }
    if (st == RUBUS_OK) {
        st = rubus_launch(kernel, *x, axis->lower, axis->upper, step);
    }
    return st;
}

/* All arrays from the points, which are there on both sides. */
static rubus_status metrics(rubus_context *context, int32_t type, rubus__axis *axis)
{
    rubus_array **a = axis->array;
    const rubus_kernel *kernel = NULL;
    rubus_status st = kernel_of(context, type, "metrics", &kernel);
    for (int k = RUBUS_MESH_SPACING; st == RUBUS_OK && k < RUBUS__AXIS_ARRAYS; k++) {
        const int64_t n = k == RUBUS_MESH_STAR      ? axis->n - 1
                          : k == RUBUS_MESH_MIDDLES ? axis->n + 1
                                                    : axis->n;
        st = rubus_array_create(context, type, RUBUS_SHAPE(n), &a[k]);
    }
    if (st == RUBUS_OK) {
        st = rubus_launch(kernel, a[RUBUS_MESH_SPACING], a[RUBUS_MESH_FORWARD],
                          a[RUBUS_MESH_STAR], a[RUBUS_MESH_CELLS], a[RUBUS_MESH_ALIGNED],
                          a[RUBUS_MESH_MIDDLES], a[RUBUS_MESH_POINTS]);
    }
    axis->uniform = rubus__points_are_uniform(type, axis->x, axis->n);
    for (int64_t i = 1; i < axis->n; i++) {
        axis->hmax = fmax(axis->hmax, rubus__round_to(type, axis->x[i] - axis->x[i - 1]));
    }
    return st;
}

/* --- what a user gives ------------------------------------------------------------ */

static rubus_status check_increasing(const char *what, int32_t type, int32_t at,
                                     const double *x, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        if (!(x[i] > x[i - 1])) {
            return rubus__fail(RUBUS_EINVAL,
                               "%s: point %lld of axis %d, %.17g, does not lie above "
                               "point %lld, %.17g (as numbers of %s)",
                               what, (long long)i, (int)at, x[i], (long long)(i - 1),
                               x[i - 1], rubus__type_name(type));
        }
    }
    return RUBUS_OK;
}

static rubus_status check_inside(const char *what, int32_t at, const double *x, int64_t n,
                                 double lower, double upper)
{
    const int64_t wrong = !(x[0] >= lower) ? 0 : n - 1;
    if (x[0] >= lower && x[n - 1] <= upper) {
        return RUBUS_OK;
    }
    return rubus__fail(RUBUS_EINVAL,
                       "%s: point %lld of axis %d, %.17g, is outside its interval "
                       "[%.17g, %.17g]",
                       what, (long long)wrong, (int)at, x[wrong], lower, upper);
}

/* The interval, as numbers of the type, and the number of points. */
static rubus_status check_sizes(const char *what, int32_t type, int32_t at,
                                const rubus_axis_desc *desc, double *lower, double *upper)
{
    if (desc->n < 1 || desc->n > POINTS_MOST) {
        return rubus__fail(desc->n < 1 ? RUBUS_EINVAL : RUBUS_ELIMIT,
                           "%s: axis %d has %lld point%s; 1 to %lld are possible", what,
                           (int)at, (long long)desc->n, RUBUS__S(desc->n),
                           (long long)POINTS_MOST);
    }
    const bool given = desc->point != NULL && desc->lower == 0 && desc->upper == 0;
    *lower = rubus__round_to(type, given ? desc->point[0] : desc->lower);
    *upper = rubus__round_to(type, given ? desc->point[desc->n - 1] : desc->upper);
    if (given && !(*lower <= *upper) && isfinite(*lower) && isfinite(*upper)) {
        return RUBUS_OK; // the points do not increase, which is told with the index
    }
    if (!isfinite(*lower) || !isfinite(*upper) || *lower > *upper) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: axis %d has the interval [%g, %g]; finite bounds, the "
                           "lower first, are needed",
                           what, (int)at, *lower, *upper);
    }
    const bool single = rubus__interval_collapsed(*lower, *upper, type);
    if (single != (desc->n == 1)) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: axis %d has %lld point%s on [%.17g, %.17g]; a single "
                           "point stands on an interval without length, and there only",
                           what, (int)at, (long long)desc->n, RUBUS__S(desc->n), *lower,
                           *upper);
    }
    return RUBUS_OK;
}

static rubus_status given_points(const char *what, int32_t type, int32_t at,
                                 const rubus_axis_desc *desc, rubus__axis *axis)
{
    for (int64_t i = 0; i < axis->n; i++) {
        if (!isfinite(desc->point[i])) {
            return rubus__fail(RUBUS_EINVAL, "%s: point %lld of axis %d is %g", what,
                               (long long)i, (int)at, desc->point[i]);
        }
        axis->x[i] = rubus__round_to(type, desc->point[i]);
    }
    const rubus_status st = check_increasing(what, type, at, axis->x, axis->n);
    return st != RUBUS_OK
               ? st
               : check_inside(what, at, axis->x, axis->n, axis->lower, axis->upper);
}

static rubus_status fill(const char *what, rubus_context *context, int32_t type,
                         int32_t at, const rubus_axis_desc *desc, rubus__axis *axis)
{
    rubus_status st = RUBUS_OK;
    const bool random = desc->point == NULL && desc->seed != 0 && desc->n > 2;
    if (desc->point != NULL) {
        st = given_points(what, type, at, desc, axis);
    } else if (random) {
        st = rubus__points_random(what, type, axis->lower, axis->upper, axis->n,
                                  desc->seed, axis->x);
    } else {
        double step = 0;
        rubus__points_uniform(type, axis->lower, axis->upper, axis->n, axis->x, &step);
        st = check_increasing(what, type, at, axis->x, axis->n);
        return st != RUBUS_OK ? st : formula(context, type, axis, step);
    }
    return st != RUBUS_OK ? st : upload(context, type, axis);
}

rubus_status rubus__axis_create(const char *what, rubus_context *context, int32_t type,
                                int32_t at, const rubus_axis_desc *desc,
                                rubus__axis **out_axis)
{
    double lower = 0;
    double upper = 0;
    rubus_status st = check_sizes(what, type, at, desc, &lower, &upper);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__axis *axis = axis_new(lower, upper, desc->n);
    if (axis == NULL) {
        return RUBUS_ENOMEM;
    }
    st = fill(what, context, type, at, desc, axis);
    if (st == RUBUS_OK) {
        st = metrics(context, type, axis);
    }
    if (st != RUBUS_OK) {
        rubus__axis_release(axis);
        return st;
    }
    *out_axis = axis;
    return RUBUS_OK;
}

static rubus_status refine(const char *what, rubus_context *context, int32_t type,
                           int32_t at, const rubus__axis *axis, rubus__axis *fine)
{
    rubus__points_refined(type, axis->x, axis->n, fine->x);
    const rubus_kernel *kernel = NULL;
    rubus_status st = check_increasing(what, type, at, fine->x, fine->n);
    if (st == RUBUS_OK) {
        st = kernel_of(context, type, "refined_points", &kernel);
    }
    if (st == RUBUS_OK) {
        st = rubus_array_create(context, type, RUBUS_SHAPE(fine->n),
                                &fine->array[RUBUS_MESH_POINTS]);
    }
    if (st == RUBUS_OK) {
        st = rubus_launch(kernel, fine->array[RUBUS_MESH_POINTS],
                          axis->array[RUBUS_MESH_POINTS]);
    }
    return st == RUBUS_OK ? metrics(context, type, fine) : st;
}

rubus_status rubus__axis_refine(const char *what, rubus_context *context, int32_t type,
                                int32_t at, rubus__axis *axis, rubus__axis **out_axis)
{
    if (axis->n == 1) {
        *out_axis = rubus__axis_hold(axis);
        return RUBUS_OK;
    }
    if (axis->n > (POINTS_MOST + 1) / 2) {
        return rubus__fail(RUBUS_ELIMIT,
                           "%s: axis %d has %lld points; with one more in each interval "
                           "they would be over %lld",
                           what, (int)at, (long long)axis->n, (long long)POINTS_MOST);
    }
    rubus__axis *fine = axis_new(axis->lower, axis->upper, 2 * axis->n - 1);
    if (fine == NULL) {
        return RUBUS_ENOMEM;
    }
    const rubus_status st = refine(what, context, type, at, axis, fine);
    if (st != RUBUS_OK) {
        rubus__axis_release(fine);
        return st;
    }
    *out_axis = fine;
    return RUBUS_OK;
}
