/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Projections onto grid functions: values at points, and means over cells. Funcs run on
 * the device; host functions are swept here and written in one transfer.
 */
#include "config.h"

#include "libcore/grid/func.h"

#include <string.h>

/* The mask of labels; NULL where there are none: all points. */
static rubus_status find_mask(const char *what, rubus__state *state, const char *labels,
                              rubus__labels *parsed, bool *masked)
{
    *masked = rubus__labels_any(labels);
    return *masked ? rubus__labels_parse(what, state, labels, parsed) : RUBUS_OK;
}

static rubus_status check_how(const char *what, int32_t how)
{
    return how == RUBUS_POINT || how == RUBUS_CELL_MEAN
               ? RUBUS_OK
               : rubus__fail(RUBUS_EINVAL,
                             "%s: how must be RUBUS_POINT or RUBUS_CELL_MEAN, not %d",
                             what, (int)how);
}

/* The state of the space, for a projection of this kind. */
static rubus_status enter(const char *what, int32_t how, const rubus_space *space,
                          rubus__state **out_state)
{
    const rubus_status st = check_how(what, how);
    return st != RUBUS_OK ? st : rubus__space_enter(space, what, out_state);
}

/* --- funcs ------------------------------------------------------------------------ */

static rubus_status project(const rubus_space *space, rubus__state *state,
                            const rubus_func *func, rubus__func_sweep *sweep,
                            rubus_array *u)
{
    const int32_t n = rubus__space_components(space, u);
    rubus_status st = RUBUS_OK;
    for (int32_t k = 0; st == RUBUS_OK && k < n; k++) {
        rubus_array *window = NULL;
        st = rubus__space_window(space, u, k, &window);
        if (st == RUBUS_OK) {
            sweep->component = k;
            st = rubus__func_run(func, state, sweep, window);
        }
        rubus_array_destroy(window);
    }
    return st;
}

rubus_status rubus_project(const rubus_space *space, const rubus_func *func, int32_t how,
                           const char *labels, double time, rubus_array *u)
{
    static const char what[] = "rubus_project";
    if (func == NULL) {
        return rubus__no_func(what);
    }
    rubus__state *state = NULL;
    rubus_status st = enter(what, how, space, &state);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__func_sweep sweep = {.use = how == RUBUS_POINT ? RUBUS__FUNC_POINT
                                                         : RUBUS__FUNC_CELL_MEAN,
                               .time = time};
    rubus__func_takes takes;
    rubus__labels parsed;
    bool masked = false;
    st = rubus__func_check(what, func, state->context, state->ndim, RK_REAL, &takes);
    if (st == RUBUS_OK) {
        st = rubus__space_check(space, what, "u", u, true);
    }
    if (st == RUBUS_OK) {
        st = find_mask(what, state, labels, &parsed, &masked);
    }
    if (st == RUBUS_OK && masked) {
        st = rubus__state_mask(state, &parsed, &sweep.mask);
    }
    if (st == RUBUS_OK) {
        st = project(space, state, func, &sweep, u);
    }
    rubus__state_release(state);
    return st;
}

/* --- host functions --------------------------------------------------------------- */

typedef struct host_sweep {
    const rubus__state *state;
    rubus_point_function callback;
    void *user;
    double time;
    int32_t ncomponent;
    double *value; /* [ncomponent] of one call, then [ncomponent] of a sum */
} host_sweep;

static void at_point(const host_sweep *sweep, int64_t index, double *sum)
{
    double x[3];
    rubus__state_point(sweep->state, index, x);
    sweep->callback(sweep->user, x, sweep->time, sum);
}

/* Ends of the cell of point i of an axis. */
static void cell(const rubus__axis *axis, int64_t i, int32_t type, double *lower,
                 double *length)
{
    const double *x = axis->x;
    const int64_t above = i + 1 < axis->n ? i + 1 : i;
    const int64_t below = i > 0 ? i - 1 : i;
    *lower = rubus__round_to(type, (x[below] + x[i]) / 2);
    *length = rubus__round_to(type, (x[i] + x[above]) / 2) - *lower;
}

/* Adds node (a, b, c), counted by `node`, of a cell. */
static void add_node(const host_sweep *sweep, int32_t node, const double *lower,
                     const double *length, double *sum)
{
    double x[3];
    double weight = 1;
    for (int32_t d = 0; d < sweep->state->ndim; d++) {
        const int32_t k = node % RUBUS__GAUSS;
        const bool single = sweep->state->axis[d]->n == 1;
        x[d] = single ? lower[d] : lower[d] + rubus__gauss_node[k] * length[d];
        weight *= single ? 1 : rubus__gauss_weight[k];
        node = single ? node : node / RUBUS__GAUSS;
    }
    sweep->callback(sweep->user, x, sweep->time, sweep->value);
    for (int32_t c = 0; c < sweep->ncomponent; c++) {
        sum[c] += weight * sweep->value[c];
    }
}

static void cell_mean(const host_sweep *sweep, int64_t index, double *sum)
{
    const rubus__state *state = sweep->state;
    double lower[3];
    double length[3];
    int32_t nnode = 1;
    for (int32_t d = 0; d < state->ndim; d++) {
        const int64_t n = state->shape.n[d];
        cell(state->axis[d], index % n, state->type, &lower[d], &length[d]);
        index /= n;
        nnode *= n == 1 ? 1 : RUBUS__GAUSS;
    }
    memset(sum, 0, (size_t)sweep->ncomponent * sizeof(*sum));
    for (int32_t node = 0; node < nnode; node++) {
        add_node(sweep, node, lower, length, sum);
    }
}

/* All values, as numbers of the mesh's type, to host (zeroed). */
static void sweep_host(const host_sweep *sweep, int32_t how, const uint8_t *mask,
                       void *host)
{
    const rubus__state *state = sweep->state;
    double *sum = sweep->value + sweep->ncomponent;
    for (int64_t i = 0; i < state->count; i++) {
        if (mask != NULL && mask[i] == 0) {
            continue;
        }
        if (how == RUBUS_POINT) {
            at_point(sweep, i, sum);
        } else {
            cell_mean(sweep, i, sum);
        }
        for (int32_t c = 0; c < sweep->ncomponent; c++) {
            const int64_t at = c * state->count + i;
            if (state->type == RUBUS_F32) {
                ((float *)host)[at] = (float)sum[c];
            } else {
                ((double *)host)[at] = sum[c];
            }
        }
    }
}

static rubus_status project_host(const rubus_space *space, host_sweep *sweep, int32_t how,
                                 const uint8_t *mask, rubus_array *u)
{
    sweep->ncomponent = rubus__space_components(space, u);
    sweep->value =
        rubus__alloc_array(2 * (size_t)sweep->ncomponent, sizeof(*sweep->value));
    void *host = rubus__alloc(rubus_array_nbyte(u));
    rubus_status st = RUBUS_ENOMEM;
    if (sweep->value != NULL && host != NULL) {
        sweep_host(sweep, how, mask, host);
        st = rubus_array_write(u, host, rubus_array_nbyte(u));
    }
    rubus__free(sweep->value);
    rubus__free(host);
    return st;
}

rubus_status rubus_project_callback(const rubus_space *space,
                                    rubus_point_function callback, void *user,
                                    int32_t how, const char *labels, double time,
                                    rubus_array *u)
{
    static const char what[] = "rubus_project_callback";
    if (callback == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the function is NULL", what);
    }
    rubus__state *state = NULL;
    rubus_status st = enter(what, how, space, &state);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__labels parsed;
    bool masked = false;
    const uint8_t *mask = NULL;
    st = rubus__space_check(space, what, "u", u, true);
    if (st == RUBUS_OK) {
        st = find_mask(what, state, labels, &parsed, &masked);
    }
    if (st == RUBUS_OK && masked) {
        st = rubus__state_host_mask(state, &parsed, &mask);
    }
    if (st == RUBUS_OK) {
        host_sweep sweep = {
            .state = state, .callback = callback, .user = user, .time = time};
        st = project_host(space, &sweep, how, mask, u);
    }
    rubus__state_release(state);
    return st;
}
