/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_GRID_PROBE_H
#define RUBUS_TESTS_GRID_PROBE_H
/*
 * For tests of meshes and spaces: meshes from plain numbers, comparisons of arrays.
 * Include after check.h and config.h.
 */
#include <float.h>
#include <math.h>

#include "libcore/grid/grid.h"
#include "tests/support/backends.h"
#include "tests/support/suite.h"

#define probe_pair(a, b) ((const double[]){(a), (b)})

/* An axis with these points. */
#define axis_of(...)                                                                     \
    ((rubus_axis_desc){.n = (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), \
                       .point = (const double[]){__VA_ARGS__}})

static inline rubus_mesh *mesh_of(rubus_context *context, int32_t type, int32_t ndim,
                                  const rubus_axis_desc *axis)
{
    rubus_mesh_desc desc = {.struct_size = sizeof desc, .ndim = ndim, .type = type};
    for (int32_t d = 0; d < ndim; d++) {
        desc.axis[d] = axis[d];
    }
    rubus_mesh *mesh = NULL;
    ok(rubus_mesh_create(context, &desc, &mesh));
    return mesh;
}

/* x = [0, 1, 3, 5] */
static inline rubus_mesh *mesh_0135(rubus_context *context, int32_t type)
{
    return mesh_of(context, type, 1, &axis_of(0, 1, 3, 5));
}

/* x = [0, 1, 3], y = [0, 2, 3] */
static inline rubus_mesh *mesh_013_023(rubus_context *context, int32_t type)
{
    return mesh_of(context, type, 2,
                   (const rubus_axis_desc[]){axis_of(0, 1, 3), axis_of(0, 2, 3)});
}

static inline rubus_space *space_of(rubus_mesh *mesh, int32_t ncomponent)
{
    rubus_space *space = NULL;
    ok(rubus_space_create(mesh, ncomponent, &space));
    return space;
}

/* Elements as doubles, whatever the type; malloc'ed. */
static inline double *probe_numbers(rubus_array *array)
{
    const int64_t n = rubus_array_count(array);
    const int32_t type = rubus_array_type(array);
    char *raw = malloc((size_t)n * 8 + 8);
    double *out = malloc((size_t)n * 8 + 8);
    ok(rubus_array_read(array, raw, rubus_array_nbyte(array)));
    for (int64_t i = 0; i < n; i++) {
        out[i] = type == RUBUS_F32   ? (double)((float *)(void *)raw)[i]
                 : type == RUBUS_F64 ? ((double *)(void *)raw)[i]
                                     : (double)raw[i];
    }
    free(raw);
    return out;
}

/* Every element is within rtol of `want`, and of eps where that is 0. */
static inline void probe_near(rubus_array *array, const double *want, int64_t n,
                              double rtol, const char *what)
{
    ck_assert_msg(rubus_array_count(array) == n, "%s: %lld elements, not %lld", what,
                  (long long)rubus_array_count(array), (long long)n);
    double *got = probe_numbers(array);
    for (int64_t i = 0; i < n; i++) {
        const double scale = want[i] == 0 ? 1 : fabs(want[i]);
        ck_assert_msg(fabs(got[i] - want[i]) <= rtol * scale,
                      "%s: element %lld is %.17g, not %.17g", what, (long long)i, got[i],
                      want[i]);
    }
    free(got);
}

/* array_is(array, rtol, 1, 2, 3) */
#define array_is(array, rtol, ...)                                                       \
    probe_near((array), (const double[]){__VA_ARGS__},                                   \
               (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (rtol),      \
               #array)

/* One array of an axis. */
static inline void probe_axis(rubus_mesh *mesh, int32_t axis, int32_t which,
                              const double *want, int64_t n, double rtol,
                              const char *what)
{
    rubus_array *array = NULL;
    ok(rubus_mesh_axis_array(mesh, axis, which, &array));
    ck_assert_int_eq(rubus_array_type(array), rubus_mesh_type(mesh));
    probe_near(array, want, n, rtol, what);
    rubus_array_destroy(array);
}

#define axis_is(mesh, axis, which, rtol, ...)                                            \
    probe_axis((mesh), (axis), (which), (const double[]){__VA_ARGS__},                   \
               (int64_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), (rtol),      \
               #which)

static inline void probe_number(double got, double want, double rtol, const char *what)
{
    ck_assert_msg(fabs(got - want) <= rtol * (want == 0 ? 1 : fabs(want)),
                  "%s is %.17g, not %.17g", what, got, want);
}
#define number_is(got, want, rtol) probe_number((got), (want), (rtol), #got)

/* A grid function of these doubles. */
static inline rubus_array *probe_array(const rubus_space *space, const double *from)
{
    rubus_array *array = NULL;
    ok(rubus_space_array(space, 0, &array));
    const int64_t n = rubus_array_count(array);
    if (rubus_array_type(array) == RUBUS_F64) {
        ok(rubus_array_write(array, from, (size_t)n * 8));
        return array;
    }
    float *narrow = malloc((size_t)n * 4 + 4);
    for (int64_t i = 0; i < n; i++) {
        narrow[i] = (float)from[i];
    }
    ok(rubus_array_write(array, narrow, (size_t)n * 4));
    free(narrow);
    return array;
}
#define array_of(space, ...) probe_array((space), (const double[]){__VA_ARGS__})

/* A mask's points. */
static inline int64_t probe_count(rubus_mesh *mesh, const char *labels)
{
    rubus_array *mask = NULL;
    ok(rubus_mesh_mask(mesh, labels, &mask));
    ck_assert_int_eq(rubus_array_type(mask), RUBUS_BOOL);
    const int64_t n = rubus_array_count(mask);
    uint8_t *host = malloc((size_t)n + 1);
    ok(rubus_array_read(mask, host, (size_t)n));
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        ck_assert_uint_le(host[i], 1);
        count += host[i];
    }
    free(host);
    rubus_array_destroy(mask);
    return count;
}

static inline rubus_context_counters probe_counters(rubus_context *context)
{
    rubus_context_counters counters = {.struct_size = sizeof counters};
    ok(rubus_context_counters_get(context, &counters));
    return counters;
}

#endif
