/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integrals over whole faces, and the weights of all inner products as grid functions. A
 * face is summed by a kernel of its own over the points on it.
 */
#include "config.h"

#include "libcore/grid/grid.h"

/* The faces of some labels; those of both sides need a point between them. */
static rubus_status find_faces(const char *what, rubus__state *state, const char *labels,
                               uint32_t *out_faces)
{
    const rubus_status st = rubus__labels_faces(what, state, labels, out_faces);
    for (int32_t d = 0; st == RUBUS_OK && d < state->ndim; d++) {
        const bool both = (*out_faces >> (unsigned)(2 * d) & 3u) == 3u;
        if (both && state->axis[d]->n < 3) {
            return rubus__fail(RUBUS_EINVAL,
                               "%s: both faces of axis %d, which has %lld point%s; "
                               "there must be one between them",
                               what, (int)d, (long long)state->axis[d]->n,
                               RUBUS__S(state->axis[d]->n));
        }
    }
    return st;
}

static rubus_status one_face(const rubus__state *state, int32_t face, rubus_array *u,
                             rubus_array *v, double *value)
{
    static const char *const source[3] = {"inner_1d.rk", "inner_2d.rk", "inner_3d.rk"};
    static const char *const name[3] = {"face_x", "face_y", "face_z"};
    const int32_t axis = face / 2;
    const rubus_kernel *kernel = NULL;
    const rubus_status st =
        rubus__state_kernel(state, source[state->ndim - 1], name[axis], &kernel);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_arg args[6] = {rubus_arg_result_f64(value), rubus_arg_array(u),
                         rubus_arg_array(v)};
    size_t n = 3;
    for (int32_t d = 0; d < state->ndim; d++) {
        if (d != axis) {
            args[n++] = rubus_arg_array(state->axis[d]->array[RUBUS_MESH_CELLS]);
        }
    }
    args[n++] = rubus_arg_integer(face % 2 == 0 ? 0 : state->shape.n[axis] - 1);
    return rubus_launch_args(kernel, args, n);
}

/* The sum over all faces of one component. */
static rubus_status all_faces(const rubus_space *space, const rubus__state *state,
                              uint32_t faces, rubus_array *u, rubus_array *v, int32_t k,
                              double *sum)
{
    rubus_array *window[2] = {NULL, NULL};
    rubus_status st = rubus__space_window(space, u, k, &window[0]);
    if (st == RUBUS_OK) {
        st = rubus__space_window(space, v, k, &window[1]);
    }
    for (int32_t face = 0; st == RUBUS_OK && face < 2 * state->ndim; face++) {
        double one = 0;
        if ((faces >> (unsigned)face & 1u) != 0) {
            st = one_face(state, face, window[0], window[1], &one);
            *sum += one;
        }
    }
    rubus_array_destroy(window[0]);
    rubus_array_destroy(window[1]);
    return st;
}

rubus_status rubus_inner_gamma(const rubus_space *space, rubus_array *u, rubus_array *v,
                               const char *labels, double *value)
{
    static const char what[] = "rubus_inner_gamma";
    if (value == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: value is NULL", what);
    }
    rubus__state *state = NULL;
    uint32_t faces = 0;
    double sum = 0;
    rubus_status st = rubus__space_enter(space, what, &state);
    if (st != RUBUS_OK) {
        return st;
    }
    st = rubus__space_check(space, what, "u", u, false);
    if (st == RUBUS_OK) {
        st = rubus__space_check(space, what, "v", v, false);
    }
    if (st == RUBUS_OK) {
        st = find_faces(what, state, labels, &faces);
    }
    for (int32_t k = 0; st == RUBUS_OK && k < space->ncomponent; k++) {
        st = all_faces(space, state, faces, u, v, k, &sum);
    }
    rubus__state_release(state);
    if (st == RUBUS_OK) {
        *value = sum;
    }
    return st;
}

/* --- weights ---------------------------------------------------------------------- */

/* Launches a kernel whose first argument is each component in turn. */
static rubus_status fill_components(const rubus_space *space, const rubus_kernel *kernel,
                                    rubus_array *u, rubus_arg *args, size_t n)
{
    rubus_status st = RUBUS_OK;
    for (int32_t k = 0; st == RUBUS_OK && k < space->ncomponent; k++) {
        rubus_array *window = NULL;
        st = rubus__space_window(space, u, k, &window);
        if (st == RUBUS_OK) {
            args[0] = rubus_arg_array(window);
            st = rubus_launch_args(kernel, args, n);
        }
        rubus_array_destroy(window);
    }
    return st;
}

rubus_status rubus_space_weight(const rubus_space *space, uint32_t axes, rubus_array *u)
{
    static const char what[] = "rubus_space_weight";
    rubus__state *state = NULL;
    rubus_status st = rubus__space_enter(space, what, &state);
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus_kernel *kernel = NULL;
    st = rubus__space_check(space, what, "u", u, false);
    if (st == RUBUS_OK && (axes >> (unsigned)state->ndim) != 0) {
        st = rubus__fail(RUBUS_EINVAL, "%s: axes 0x%x of a mesh with %d", what,
                         (unsigned)axes, (int)state->ndim);
    }
    if (st == RUBUS_OK) {
        st = rubus__state_kernel_nd(state, "mesh.rk", "weight", &kernel);
    }
    if (st == RUBUS_OK) {
        rubus_arg args[4];
        for (int32_t d = 0; d < state->ndim; d++) {
            const bool staggered = (axes >> (unsigned)d & 1u) != 0;
            const int which = staggered ? RUBUS_MESH_ALIGNED : RUBUS_MESH_CELLS;
            args[d + 1] = rubus_arg_array(state->axis[d]->array[which]);
        }
        st = fill_components(space, kernel, u, args, (size_t)state->ndim + 1);
    }
    rubus__state_release(state);
    return st;
}

rubus_status rubus_space_face_weight(const rubus_space *space, const char *labels,
                                     rubus_array *u)
{
    static const char what[] = "rubus_space_face_weight";
    rubus__state *state = NULL;
    rubus_status st = rubus__space_enter(space, what, &state);
    if (st != RUBUS_OK) {
        return st;
    }
    uint32_t faces = 0;
    const rubus_kernel *kernel = NULL;
    st = rubus__space_check(space, what, "u", u, false);
    if (st == RUBUS_OK) {
        st = find_faces(what, state, labels, &faces);
    }
    if (st == RUBUS_OK) {
        st = rubus__state_kernel_nd(state, "mesh.rk", "face_weight", &kernel);
    }
    if (st == RUBUS_OK) {
        rubus_arg args[10];
        size_t n = 1;
        for (int32_t d = 0; state->ndim > 1 && d < state->ndim; d++) {
            args[n++] = rubus_arg_array(state->axis[d]->array[RUBUS_MESH_CELLS]);
        }
        for (int32_t face = 0; face < 2 * state->ndim; face++) {
            args[n++] = rubus_arg_integer(faces >> (unsigned)face & 1u);
        }
        st = fill_components(space, kernel, u, args, n);
    }
    rubus__state_release(state);
    return st;
}
