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

/* EINVAL for a set that is none, or if out is NULL. */
static rubus_status check_set(const char *what, const rubus_set *set, const char *name,
                              const void *out)
{
    const rubus_status st = rubus__need(what, "the set", set, name, out, NULL);
    if (st == RUBUS_OK && !is_set(set)) {
        return rubus__fail(RUBUS_EINVAL, "%s: a set with %d axes; it has 1 to 3", what,
                           (int)set->ndim);
    }
    return st;
}

rubus_status rubus_set_interval(double lower, double upper, rubus_set *out_set)
{
    static const char what[] = "rubus_set_interval";
    const rubus_status st = rubus__need(what, "out_set", out_set, NULL);
    if (st != RUBUS_OK) {
        return st;
    }
    if (!isfinite(lower) || !isfinite(upper) || lower > upper) {
        return rubus__fail(RUBUS_EINVAL, "%s: [%g, %g] is no interval of finite numbers",
                           what, lower, upper);
    }
    memset(out_set, 0, sizeof(*out_set));
    out_set->ndim = 1;
    out_set->lower[0] = lower;
    out_set->upper[0] = upper;
    return RUBUS_OK;
}

rubus_status rubus_set_product(const rubus_set *a, const rubus_set *b, rubus_set *out_set)
{
    static const char what[] = "rubus_set_product";
    rubus_status st = check_set(what, a, "out_set", out_set);
    if (st == RUBUS_OK) {
        st = check_set(what, b, "out_set", out_set);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    if (a->ndim + b->ndim > 3) {
        return rubus__fail(RUBUS_EINVAL, "%s: %d axes and %d more are over 3", what,
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

rubus_status rubus__set_box(const char *what, int32_t ndim, const double *p,
                            const double *q, rubus_set *out_set)
{
    if (ndim < 1 || ndim > 3) {
        return rubus__fail(RUBUS_EINVAL, "%s: %d axes; there are 1 to 3", what,
                           (int)ndim);
    }
    const rubus_status st = rubus__need(what, "p", p, "q", q, "out_set", out_set, NULL);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_set set;
    memset(&set, 0, sizeof(set));
    set.ndim = ndim;
    for (int32_t d = 0; d < ndim; d++) {
        if (!isfinite(p[d]) || !isfinite(q[d])) {
            return rubus__fail(RUBUS_EINVAL,
                               "%s: the corners have %g and %g on axis %d; they must be "
                               "finite",
                               what, p[d], q[d], (int)d);
        }
        set.lower[d] = fmin(p[d], q[d]);
        set.upper[d] = fmax(p[d], q[d]);
    }
    *out_set = set;
    return RUBUS_OK;
}

rubus_status rubus_set_box(int32_t ndim, const double *p, const double *q,
                           rubus_set *out_set)
{
    return rubus__set_box("rubus_set_box", ndim, p, q, out_set);
}

rubus_status rubus_set_axis(const rubus_set *set, int32_t axis, rubus_set *out_set)
{
    static const char what[] = "rubus_set_axis";
    const rubus_status st = check_set(what, set, "out_set", out_set);
    if (st != RUBUS_OK) {
        return st;
    }
    if (axis < 0 || axis >= set->ndim) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: axis %d of a set with %d; they count from 0", what,
                           (int)axis, (int)set->ndim);
    }
    return rubus_set_interval(set->lower[axis], set->upper[axis], out_set);
}

rubus_status rubus_set_centre(const rubus_set *set, double *out_point)
{
    const rubus_status st = check_set("rubus_set_centre", set, "out_point", out_point);
    if (st != RUBUS_OK) {
        return st;
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
