/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points of an axis on the host. They are held as doubles, but are numbers of the mesh's
 * type, computed by the steps that the kernels of shaders/mesh.rk take, so that host and
 * device have the same bits.
 */
#include "config.h"

#include "libcore/grid/grid.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Rounding to float after each operation on floats done in double is the operation in
 * float (the double has more than twice its digits). */
double rubus__round_to(int32_t type, double x)
{
    return type == RUBUS_F32 ? (double)(float)x : x;
}

float *rubus__narrow(const double *x, int64_t n)
{
    float *narrow = rubus__alloc_array((size_t)n, sizeof(*narrow));
    for (int64_t i = 0; narrow != NULL && i < n; i++) {
        narrow[i] = (float)x[i];
    }
    return narrow;
}

rubus_status rubus__upload(rubus_context *context, int32_t type, rubus_shape shape,
                           const double *x, int64_t n, rubus_array **out_array)
{
    if (type == RUBUS_F64) {
        return rubus_array_from(context, type, shape, x, out_array);
    }
    float *narrow = rubus__narrow(x, n);
    if (narrow == NULL) {
        return RUBUS_ENOMEM;
    }
    const rubus_status st = rubus_array_from(context, type, shape, narrow, out_array);
    rubus__free(narrow);
    return st;
}

void rubus__points_uniform(int32_t type, double lower, double upper, int64_t n, double *x,
                           double *out_step)
{
    const double length = rubus__round_to(type, upper - lower);
    const double step =
        n > 1 ? rubus__round_to(type, length / rubus__round_to(type, (double)(n - 1)))
              : 0;
    for (int64_t i = 0; i + 1 < n; i++) {
        const double along =
            rubus__round_to(type, rubus__round_to(type, (double)i) * step);
        x[i] = rubus__round_to(type, lower + along);
    }
    x[n - 1] = n > 1 ? upper : lower;
    *out_step = step;
}

/* --- random points ---------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

/* Sorts x[m] and drops what stands twice or at the ends; how many are left. */
static int64_t sort_unique(double *x, int64_t m, double lower, double upper)
{
    qsort(x, (size_t)m, sizeof(*x), compare);
    int64_t kept = 0;
    for (int64_t i = 0; i < m; i++) {
        if (x[i] > lower && x[i] < upper && (kept == 0 || x[i] > x[kept - 1])) {
            x[kept++] = x[i];
        }
    }
    return kept;
}

rubus_status rubus__points_random(const char *what, int32_t type, double lower,
                                  double upper, int64_t n, uint64_t seed, double *x)
{
    enum { ROUNDS = 64 };
    uint32_t state = (uint32_t)seed;
    double *inner = x + 1;
    int64_t have = 0;
    for (int round = 0; have < n - 2 && round < ROUNDS; round++) {
        for (int64_t i = have; i < n - 2; i++) {
            state = state * 1664525u + 1013904223u;
            const double share = (double)state / 4294967296.0;
            inner[i] = rubus__round_to(type, lower + share * (upper - lower));
        }
        have = sort_unique(inner, n - 2, lower, upper);
    }
    if (have < n - 2) {
        return rubus__fail(RUBUS_ELIMIT,
                           "%s: %lld random points between %g and %g cannot all differ "
                           "in %s",
                           what, (long long)n, lower, upper, rubus__type_name(type));
    }
    x[0] = lower;
    x[n - 1] = upper;
    return RUBUS_OK;
}

/* --- other meshes ----------------------------------------------------------------- */

void rubus__points_refined(int32_t type, const double *x, int64_t n, double *fine)
{
    for (int64_t i = 0; i < n; i++) {
        fine[2 * i] = x[i];
        if (i + 1 < n) {
            fine[2 * i + 1] =
                rubus__round_to(type, rubus__round_to(type, x[i] + x[i + 1]) / 2);
        }
    }
}

bool rubus__points_are_uniform(int32_t type, const double *x, int64_t n)
{
    const double eps = type == RUBUS_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
    const double first = n > 1 ? x[1] - x[0] : 0;
    const double allowed = fmax(1e-10, 4 * eps * (double)n * fabs(first));
    for (int64_t i = 1; i < n; i++) {
        if (!(fabs(x[i] - x[i - 1] - first) <= allowed)) {
            return false;
        }
    }
    return true;
}
