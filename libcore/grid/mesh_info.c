/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of a mesh: sizes, points, arrays of its axes. */
#include "config.h"

#include "libcore/grid/grid.h"

#include <math.h>
#include <string.h>

/* The present state for a question that cannot fail; NULL for no mesh. */
static rubus__state *look(const rubus_mesh *mesh)
{
    if (mesh == NULL) {
        return NULL;
    }
    if (rubus__context_forked(mesh->context)) {
        return rubus__state_hold(mesh->state); // nobody else uses it here
    }
    rubus__state *state = NULL;
    return rubus__mesh_enter(mesh, "a mesh", &state) == RUBUS_OK ? state : NULL;
}

uint64_t rubus_mesh_version(const rubus_mesh *mesh)
{
    rubus__state *state = look(mesh);
    const uint64_t version = state == NULL ? 0 : state->version;
    rubus__state_release(state);
    return version;
}

int32_t rubus_mesh_ndim(const rubus_mesh *mesh)
{
    return rubus_mesh_shape(mesh).rank;
}

rubus_shape rubus_mesh_shape(const rubus_mesh *mesh)
{
    const rubus_shape none = {0, 0, {0, 0, 0, 0}};
    rubus__state *state = look(mesh);
    const rubus_shape shape = state == NULL ? none : state->shape;
    rubus__state_release(state);
    return shape;
}

int32_t rubus_mesh_type(const rubus_mesh *mesh)
{
    rubus__state *state = look(mesh);
    const int32_t type = state == NULL ? 0 : state->type;
    rubus__state_release(state);
    return type;
}

double rubus_mesh_hmax(const rubus_mesh *mesh)
{
    rubus__state *state = look(mesh);
    double sum = 0;
    for (int32_t d = 0; state != NULL && d < state->ndim; d++) {
        sum += state->axis[d]->hmax * state->axis[d]->hmax;
    }
    const bool one = state != NULL && state->ndim == 1;
    const double hmax = one ? state->axis[0]->hmax : sqrt(sum);
    rubus__state_release(state);
    return hmax;
}

bool rubus_mesh_is_uniform(const rubus_mesh *mesh, int32_t axis)
{
    rubus__state *state = look(mesh);
    const bool uniform =
        state != NULL && axis >= 0 && axis < state->ndim && state->axis[axis]->uniform;
    rubus__state_release(state);
    return uniform;
}

rubus_context *rubus_mesh_context(const rubus_mesh *mesh)
{
    return mesh == NULL ? NULL : mesh->context;
}

rubus_status rubus_mesh_set_get(const rubus_mesh *mesh, rubus_set *out_set)
{
    static const char what[] = "rubus_mesh_set_get";
    if (out_set == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: out_set is NULL", what);
    }
    rubus__state *state = NULL;
    const rubus_status st = rubus__mesh_enter(mesh, what, &state);
    if (st != RUBUS_OK) {
        return st;
    }
    memset(out_set, 0, sizeof(*out_set));
    out_set->ndim = state->ndim;
    for (int32_t d = 0; d < state->ndim; d++) {
        out_set->lower[d] = state->axis[d]->lower;
        out_set->upper[d] = state->axis[d]->upper;
    }
    rubus__state_release(state);
    return RUBUS_OK;
}

/* The state, if it has such an axis. */
static rubus_status enter_axis(const rubus_mesh *mesh, const char *what, int32_t axis,
                               bool has_out, rubus__state **out_state)
{
    if (!has_out) {
        return rubus__fail(RUBUS_EINVAL, "%s: the output is NULL", what);
    }
    const rubus_status st = rubus__mesh_enter(mesh, what, out_state);
    if (st == RUBUS_OK && (axis < 0 || axis >= (*out_state)->ndim)) {
        const int32_t ndim = (*out_state)->ndim;
        rubus__state_release(*out_state);
        return rubus__fail(RUBUS_EINVAL,
                           "%s: axis %d of a mesh with %d; they count from 0", what,
                           (int)axis, (int)ndim);
    }
    return st;
}

rubus_status rubus_mesh_points(const rubus_mesh *mesh, int32_t axis, double *out,
                               int64_t n)
{
    static const char what[] = "rubus_mesh_points";
    rubus__state *state = NULL;
    rubus_status st = enter_axis(mesh, what, axis, out != NULL, &state);
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus__axis *a = state->axis[axis];
    if (n == a->n) {
        memcpy(out, a->x, (size_t)n * sizeof(*out));
    } else {
        st = rubus__fail(
            RUBUS_ESHAPE, "%s: room for %lld number%s; axis %d has %lld point%s", what,
            (long long)n, RUBUS__S(n), (int)axis, (long long)a->n, RUBUS__S(a->n));
    }
    rubus__state_release(state);
    return st;
}

/* The last of x[n], which increase, that is not beyond the point; 0 if all are. */
static int64_t locate(const double *x, int64_t n, double point)
{
    int64_t below = 0;
    int64_t above = n;
    while (above - below > 1) {
        const int64_t middle = below + (above - below) / 2;
        if (x[middle] <= point) {
            below = middle;
        } else {
            above = middle;
        }
    }
    return below;
}

rubus_status rubus_mesh_locate(const rubus_mesh *mesh, const double *point,
                               int64_t *out_index)
{
    static const char what[] = "rubus_mesh_locate";
    if (point == NULL || out_index == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what,
                           point == NULL ? "the point" : "out_index");
    }
    rubus__state *state = NULL;
    const rubus_status st = rubus__mesh_enter(mesh, what, &state);
    if (st != RUBUS_OK) {
        return st;
    }
    for (int32_t d = 0; d < state->ndim; d++) {
        out_index[d] = locate(state->axis[d]->x, state->axis[d]->n, point[d]);
    }
    rubus__state_release(state);
    return RUBUS_OK;
}

rubus_status rubus_mesh_axis_array(const rubus_mesh *mesh, int32_t axis, int32_t which,
                                   rubus_array **out_array)
{
    static const char what[] = "rubus_mesh_axis_array";
    rubus__state *state = NULL;
    rubus_status st = enter_axis(mesh, what, axis, out_array != NULL, &state);
    if (st != RUBUS_OK) {
        return st;
    }
    if (which < 0 || which >= RUBUS__AXIS_ARRAYS) {
        st = rubus__fail(RUBUS_EINVAL,
                         "%s: no array %d; see RUBUS_MESH_POINTS and the others", what,
                         (int)which);
    } else {
        rubus_array *array = state->axis[axis]->array[which];
        st = rubus_array_view(array, 0, rubus_array_shape(array), out_array);
    }
    rubus__state_release(state);
    return st;
}
