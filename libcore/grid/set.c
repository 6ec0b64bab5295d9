/* SPDX-License-Identifier: Apache-2.0 */
/* Sets: products of closed intervals, as plain values. */
#include "config.h"

#include "libcore/grid/grid.h"

#include <float.h>
#include <math.h>
#include <string.h>

bool rubus__interval_collapsed(double lower, double upper, int32_t type)
{
    const double eps = type == RUBUS_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
    return upper - lower <= sqrt(eps) * fmax(fabs(lower), fabs(upper));
}

static bool is_set(const rubus_set *set)
{
    return set != NULL && set->ndim >= 1 && set->ndim <= 3;
}

static rubus_status no_set(const char *what)
{
    return rubus__fail(RUBUS_EINVAL, "%s: NULL, or a set that has not 1 to 3 axes", what);
}

rubus_status rubus_set_interval(double lower, double upper, rubus_set *out_set)
{
    if (out_set == NULL || !isfinite(lower) || !isfinite(upper) || lower > upper) {
        return rubus__fail(RUBUS_EINVAL,
                           "rubus_set_interval: [%g, %g] is no interval of finite "
                           "numbers, or out_set is NULL",
                           lower, upper);
    }
    memset(out_set, 0, sizeof(*out_set));
    out_set->ndim = 1;
    out_set->lower[0] = lower;
    out_set->upper[0] = upper;
    return RUBUS_OK;
}

rubus_status rubus_set_product(const rubus_set *a, const rubus_set *b, rubus_set *out_set)
{
    if (!is_set(a) || !is_set(b) || out_set == NULL) {
        return no_set("rubus_set_product");
    }
    if (a->ndim + b->ndim > 3) {
        return rubus__fail(RUBUS_EINVAL,
                           "rubus_set_product: %d axes and %d more are over 3",
                           (int)a->ndim, (int)b->ndim);
    }
    rubus_set all = *a;
    for (int32_t d = 0; d < b->ndim; d++) {
        all.lower[all.ndim] = b->lower[d];
        all.upper[all.ndim] = b->upper[d];
        all.ndim++;
    }
    *out_set = all;
    return RUBUS_OK;
}

rubus_status rubus_set_box(int32_t ndim, const double *p, const double *q,
                           rubus_set *out_set)
{
    if (ndim < 1 || ndim > 3 || p == NULL || q == NULL || out_set == NULL) {
        return rubus__fail(RUBUS_EINVAL,
                           "rubus_set_box: %d axes, not 1 to 3, or a pointer is NULL",
                           (int)ndim);
    }
    rubus_set set;
    memset(&set, 0, sizeof(set));
    set.ndim = ndim;
    for (int32_t d = 0; d < ndim; d++) {
        if (!isfinite(p[d]) || !isfinite(q[d])) {
            return rubus__fail(RUBUS_EINVAL,
                               "rubus_set_box: the corners have %g and %g on axis %d; "
                               "they must be finite",
                               p[d], q[d], (int)d);
        }
        set.lower[d] = fmin(p[d], q[d]);
        set.upper[d] = fmax(p[d], q[d]);
    }
    *out_set = set;
    return RUBUS_OK;
}

rubus_status rubus_set_axis(const rubus_set *set, int32_t axis, rubus_set *out_set)
{
    if (!is_set(set) || out_set == NULL) {
        return no_set("rubus_set_axis");
    }
    if (axis < 0 || axis >= set->ndim) {
        return rubus__fail(RUBUS_EINVAL, "rubus_set_axis: axis %d of a set with %d",
                           (int)axis, (int)set->ndim);
    }
    return rubus_set_interval(set->lower[axis], set->upper[axis], out_set);
}

rubus_status rubus_set_centre(const rubus_set *set, double *out_point)
{
    if (!is_set(set) || out_point == NULL) {
        return no_set("rubus_set_centre");
    }
    for (int32_t d = 0; d < set->ndim; d++) {
        out_point[d] = set->lower[d] / 2 + set->upper[d] / 2; // never too large
    }
    return RUBUS_OK;
}

bool rubus_set_contains(const rubus_set *set, const double *point)
{
    if (!is_set(set) || point == NULL) {
        return false;
    }
    for (int32_t d = 0; d < set->ndim; d++) {
        if (!(point[d] >= set->lower[d] && point[d] <= set->upper[d])) {
            return false;
        }
    }
    return true;
}

int32_t rubus_set_topological_ndim(const rubus_set *set)
{
    int32_t n = 0;
    for (int32_t d = 0; is_set(set) && d < set->ndim; d++) {
        n += rubus__interval_collapsed(set->lower[d], set->upper[d], RUBUS_F64) ? 0 : 1;
    }
    return n;
}
