/* SPDX-License-Identifier: Apache-2.0 */
/* States of meshes: sizes and axes of one version, shared by all calls that use it. */
#include "config.h"

#include "libcore/grid/grid.h"

#include <string.h>

static rubus_status measure(const char *what, rubus__state *state)
{
    state->shape.rank = state->ndim;
    state->count = 1;
    for (int32_t d = 0; d < state->ndim; d++) {
        const int64_t n = state->axis[d]->n;
        if (state->count > INT32_MAX / n) {
            return rubus__fail(RUBUS_ELIMIT, "%s: more than 2^31 - 1 points", what);
        }
        state->count *= n;
        state->shape.n[d] = n;
    }
    return RUBUS_OK;
}

rubus_status rubus__state_create(const char *what, rubus_context *context, int32_t type,
                                 int32_t ndim, rubus__axis *const *axis,
                                 rubus__state **out_state)
{
    rubus__state *state = rubus__alloc(sizeof(*state));
    if (state == NULL) {
        for (int32_t d = 0; d < ndim; d++) {
            rubus__axis_release(axis[d]);
        }
        return RUBUS_ENOMEM;
    }
    atomic_init(&state->references, 1);
    rubus__context_hold(context);
    state->context = context;
    state->type = type;
    state->ndim = ndim;
    state->version = 1;
    pthread_mutex_init(&state->lock, NULL);
    memcpy(state->axis, axis, (size_t)ndim * sizeof(*axis));
    const rubus_status st = measure(what, state);
    if (st != RUBUS_OK) {
        rubus__state_release(state);
        return st;
    }
    *out_state = state;
    return RUBUS_OK;
}

rubus__state *rubus__state_hold(rubus__state *state)
{
    atomic_fetch_add(&state->references, 1);
    return state;
}

static void masks_fini(rubus__state *state)
{
    while (state->mask != NULL) {
        rubus__mask *mask = state->mask;
        state->mask = mask->next;
        rubus_array_destroy(mask->array);
        rubus__free(mask->host);
        rubus__free(mask);
    }
    for (int32_t k = 0; k < state->nmarker; k++) {
        rubus__marker_release(state->marker[k]);
        rubus_array_destroy(state->marked[k]);
    }
}

void rubus__state_release(rubus__state *state)
{
    if (state == NULL || atomic_fetch_sub(&state->references, 1) != 1) {
        return;
    }
    masks_fini(state);
    for (int32_t d = 0; d < state->ndim; d++) {
        rubus__axis_release(state->axis[d]);
    }
    rubus_context *context = state->context;
    if (!rubus__context_forked(context)) {
        pthread_mutex_destroy(&state->lock);
    }
    rubus__free(state);
    rubus_context_destroy(context);
}

rubus_status rubus__state_kernel(const rubus__state *state, const char *source,
                                 const char *name, const rubus_kernel **out_kernel)
{
    const rubus_module_options options = {
        .struct_size = sizeof(options), .real = state->type, .index = RUBUS_I32};
    return rubus__kept_kernel(state->context, source, &options, name, out_kernel);
}

rubus_status rubus__state_kernel_nd(const rubus__state *state, const char *source,
                                    const char *name, const rubus_kernel **out_kernel)
{
    char full[40];
    rubus__snprintf(full, sizeof(full), "%s_%dd", name, (int)state->ndim);
    return rubus__state_kernel(state, source, full, out_kernel);
}

void rubus__state_point(const rubus__state *state, int64_t index, double *out_x)
{
    for (int32_t d = 0; d < state->ndim; d++) {
        const int64_t n = state->shape.n[d];
        out_x[d] = state->axis[d]->x[index % n];
        index /= n;
    }
}
