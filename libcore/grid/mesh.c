/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Meshes: making and changing them, and what can be asked of one. A change works on a new
 * state, with all markers evaluated, and exchanges the states at its end.
 */
#include "config.h"

#include "libcore/grid/grid.h"

#include <math.h>
#include <string.h>

/* --- life ------------------------------------------------------------------------- */

void rubus__mesh_hold(rubus_mesh *mesh)
{
    atomic_fetch_add(&mesh->references, 1);
}

void rubus_mesh_destroy(rubus_mesh *mesh)
{
    if (mesh == NULL || atomic_fetch_sub(&mesh->references, 1) != 1) {
        return;
    }
    rubus__state_release(mesh->state);
    rubus_context *context = mesh->context;
    rubus__object_remove(context, &mesh->object);
    if (!rubus__context_forked(context)) {
        pthread_mutex_destroy(&mesh->lock);
        pthread_mutex_destroy(&mesh->change);
    }
    rubus__free(mesh);
    rubus_context_destroy(context);
}

static void destroy_object(void *self)
{
    rubus_mesh_destroy(self);
}

/* Takes over the reference to the state, also on failure. */
static rubus_status mesh_new(rubus_context *context, rubus__state *state,
                             rubus_mesh **out_mesh)
{
    rubus_mesh *mesh = rubus__alloc(sizeof(*mesh));
    if (mesh == NULL) {
        rubus__state_release(state);
        return RUBUS_ENOMEM;
    }
    atomic_init(&mesh->references, 1);
    rubus__context_hold(context);
    mesh->context = context;
    mesh->state = state;
    pthread_mutex_init(&mesh->change, NULL);
    pthread_mutex_init(&mesh->lock, NULL);
    rubus__object_add(context, &mesh->object, RUBUS__RANK_MESH, destroy_object, mesh);
    *out_mesh = mesh;
    return RUBUS_OK;
}

rubus_status rubus__mesh_enter(const rubus_mesh *mesh, const char *what,
                               rubus__state **out_state)
{
    if (mesh == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the mesh is NULL", what);
    }
    if (rubus__context_forked(mesh->context)) {
        return rubus__enter(mesh->context, what); // says so
    }
    pthread_mutex_t *lock = &((rubus_mesh *)(uintptr_t)mesh)->lock;
    pthread_mutex_lock(lock);
    *out_state = rubus__state_hold(mesh->state);
    pthread_mutex_unlock(lock);
    return RUBUS_OK;
}

/* --- making ----------------------------------------------------------------------- */

static rubus_status add_markers(const char *what, const rubus_mesh_desc *desc,
                                rubus__state *state)
{
    if (desc->nmarker < 0) {
        return rubus__fail(RUBUS_EINVAL, "%s: %d markers", what, (int)desc->nmarker);
    }
    if (desc->nmarker > 0 && desc->marker == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the list of markers is NULL", what);
    }
    for (int32_t k = 0; k < desc->nmarker; k++) {
        rubus__marker *marker = NULL;
        rubus_array *mask = NULL;
        rubus_status st = rubus__marker_create(what, state, &desc->marker[k], &marker);
        if (st == RUBUS_OK) {
            st = rubus__marker_evaluate(state, marker, &mask);
        }
        if (st != RUBUS_OK) {
            rubus__marker_release(marker);
            return st;
        }
        rubus__state_add_marker(state, marker, mask);
    }
    return RUBUS_OK;
}

static rubus_status check_desc(const char *what, rubus_context *context,
                               const rubus_mesh_desc *desc, rubus_mesh *const *out_mesh)
{
    if (context == NULL || out_mesh == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what,
                           context == NULL ? "the context" : "out_mesh");
    }
    if (desc->ndim < 1 || desc->ndim > 3) {
        return rubus__fail(RUBUS_EINVAL, "%s: %d axes; a mesh has 1 to 3", what,
                           (int)desc->ndim);
    }
    if (desc->type != RUBUS_F32 && desc->type != RUBUS_F64) {
        return rubus__fail(RUBUS_EINVAL, "%s: the type must be RUBUS_F32 or RUBUS_F64",
                           what);
    }
    if (desc->type == RUBUS_F64 && context->dev->caps.fp64 == 0) {
        return rubus__fail(RUBUS_EUNSUPPORTED,
                           "%s: device \"%s\" of backend %s has no f64; make the mesh of "
                           "RUBUS_F32",
                           what, context->dev->caps.name, context->dev->name);
    }
    if (!isfinite(desc->time)) {
        return rubus__fail(RUBUS_EINVAL, "%s: the time is %g", what, desc->time);
    }
    return RUBUS_OK;
}

static rubus_status create_axes(const char *what, rubus_context *context,
                                const rubus_mesh_desc *desc, rubus__axis **axis)
{
    rubus_status st = RUBUS_OK;
    for (int32_t d = 0; st == RUBUS_OK && d < desc->ndim; d++) {
        st = rubus__axis_create(what, context, desc->type, d, &desc->axis[d], &axis[d]);
    }
    for (int32_t d = 0; st != RUBUS_OK && d < desc->ndim; d++) {
        rubus__axis_release(axis[d]);
    }
    return st;
}

static rubus_status create(const char *what, rubus_context *context,
                           const rubus_mesh_desc *desc, rubus_mesh **out_mesh)
{
    rubus__axis *axis[3] = {NULL, NULL, NULL};
    rubus__state *state = NULL;
    rubus_status st = check_desc(what, context, desc, out_mesh);
    if (st == RUBUS_OK) {
        st = create_axes(what, context, desc, axis);
    }
    if (st == RUBUS_OK) {
        st = rubus__state_create(what, context, desc->type, desc->ndim, axis, &state);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    state->time = desc->time;
    st = add_markers(what, desc, state);
    if (st != RUBUS_OK) {
        rubus__state_release(state);
        return st;
    }
    return mesh_new(context, state, out_mesh);
}

rubus_status rubus_mesh_create(rubus_context *context, const rubus_mesh_desc *desc,
                               rubus_mesh **out_mesh)
{
    static const char what[] = "rubus_mesh_create";
    const rubus_status st = rubus__need_struct(what, "the description", desc);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_mesh_desc all;
    memset(&all, 0, sizeof(all));
    memcpy(&all, desc, desc->struct_size < sizeof(all) ? desc->struct_size : sizeof(all));
    all.type = all.type == 0 ? RUBUS_F64 : all.type;
    return create(what, context, &all, out_mesh);
}

rubus_status rubus_mesh_create_box(rubus_context *context, int32_t type,
                                   rubus_shape shape, const double *p, const double *q,
                                   rubus_mesh **out_mesh)
{
    static const char what[] = "rubus_mesh_create_box";
    rubus_set set;
    rubus_mesh_desc desc;
    memset(&desc, 0, sizeof(desc));
    const rubus_status st = rubus__set_box(what, shape.rank, p, q, &set);
    if (st != RUBUS_OK) {
        return st;
    }
    desc.ndim = shape.rank;
    desc.type = type;
    for (int32_t d = 0; d < shape.rank; d++) {
        desc.axis[d].lower = set.lower[d];
        desc.axis[d].upper = set.upper[d];
        desc.axis[d].n = shape.n[d];
    }
    return create(what, context, &desc, out_mesh);
}

/* --- changing --------------------------------------------------------------------- */

/* The next state of `old`: other axes, and all its markers evaluated. Takes over the
 * references to the axes, also on failure. */
static rubus_status next_state(const char *what, const rubus__state *old,
                               rubus__axis *const *axis, double time,
                               rubus__state **out_state)
{
    rubus__state *state = NULL;
    rubus_status st =
        rubus__state_create(what, old->context, old->type, old->ndim, axis, &state);
    if (st != RUBUS_OK) {
        return st;
    }
    state->version = old->version + 1;
    state->time = time;
    for (int32_t k = 0; st == RUBUS_OK && k < old->nmarker; k++) {
        rubus_array *mask = NULL;
        st = rubus__marker_evaluate(state, old->marker[k], &mask);
        if (st == RUBUS_OK) {
            rubus__state_add_marker(state, rubus__marker_hold(old->marker[k]), mask);
        }
    }
    if (st != RUBUS_OK) {
        rubus__state_release(state);
        return st;
    }
    *out_state = state;
    return RUBUS_OK;
}

/* Takes over the reference to the new state. */
static void exchange(rubus_mesh *mesh, rubus__state *state)
{
    pthread_mutex_lock(&mesh->lock);
    rubus__state *old = mesh->state;
    mesh->state = state;
    pthread_mutex_unlock(&mesh->lock);
    rubus__state_release(old);
}

/* Begins a change: the state is the last until change_end. */
static rubus_status change_begin(rubus_mesh *mesh, const char *what,
                                 rubus__state **out_state)
{
    const rubus_status st = rubus__mesh_enter(mesh, what, out_state);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__state_release(*out_state);
    pthread_mutex_lock(&mesh->change);
    return rubus__mesh_enter(mesh, what, out_state);
}

static rubus_status change_end(rubus_mesh *mesh, rubus__state *old, rubus__state *fresh,
                               rubus_status st)
{
    if (st == RUBUS_OK && fresh != NULL) {
        exchange(mesh, fresh);
    }
    rubus__state_release(old);
    pthread_mutex_unlock(&mesh->change);
    return st;
}

static void hold_axes(const rubus__state *state, rubus__axis **axis)
{
    for (int32_t d = 0; d < state->ndim; d++) {
        axis[d] = rubus__axis_hold(state->axis[d]);
    }
}

rubus_status rubus_mesh_refine(rubus_mesh *mesh)
{
    static const char what[] = "rubus_mesh_refine";
    rubus__state *old = NULL;
    rubus_status st = change_begin(mesh, what, &old);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__axis *axis[3] = {NULL, NULL, NULL};
    rubus__state *fresh = NULL;
    for (int32_t d = 0; st == RUBUS_OK && d < old->ndim; d++) {
        st = rubus__axis_refine(what, old->context, old->type, d, old->axis[d], &axis[d]);
    }
    if (st == RUBUS_OK) {
        st = next_state(what, old, axis, old->time, &fresh);
    } else {
        for (int32_t d = 0; d < old->ndim; d++) {
            rubus__axis_release(axis[d]);
        }
    }
    return change_end(mesh, old, fresh, st);
}

static rubus_status moved_axis(const char *what, const rubus__state *old, int32_t at,
                               int64_t n, const double *x, rubus__axis **out_axis)
{
    const rubus_status st = rubus__need(what, "x", x, NULL);
    if (st != RUBUS_OK) {
        return st;
    }
    if (at < 0 || at >= old->ndim) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: axis %d of a mesh with %d; they count from 0", what,
                           (int)at, (int)old->ndim);
    }
    const rubus__axis *axis = old->axis[at];
    if (n != axis->n) {
        return rubus__fail(
            RUBUS_ESHAPE,
            "%s: %lld point%s for axis %d, which has %lld; rubus_mesh_refine "
            "or another mesh changes their number",
            what, (long long)n, RUBUS__S(n), (int)at, (long long)axis->n);
    }
    const rubus_axis_desc desc = {axis->lower, axis->upper, n, x, 0};
    return rubus__axis_create(what, old->context, old->type, at, &desc, out_axis);
}

rubus_status rubus_mesh_set_points(rubus_mesh *mesh, int32_t axis, int64_t n,
                                   const double *x)
{
    static const char what[] = "rubus_mesh_set_points";
    rubus__state *old = NULL;
    rubus_status st = change_begin(mesh, what, &old);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__axis *moved = NULL;
    rubus__state *fresh = NULL;
    st = moved_axis(what, old, axis, n, x, &moved);
    if (st == RUBUS_OK) {
        rubus__axis *all[3] = {NULL, NULL, NULL};
        hold_axes(old, all);
        rubus__axis_release(all[axis]);
        all[axis] = moved;
        st = next_state(what, old, all, old->time, &fresh);
    }
    return change_end(mesh, old, fresh, st);
}

rubus_status rubus_mesh_set_time(rubus_mesh *mesh, double t)
{
    static const char what[] = "rubus_mesh_set_time";
    if (!isfinite(t)) {
        return rubus__fail(RUBUS_EINVAL, "%s: the time is %g", what, t);
    }
    rubus__state *old = NULL;
    rubus_status st = change_begin(mesh, what, &old);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__axis *axis[3] = {NULL, NULL, NULL};
    rubus__state *fresh = NULL;
    hold_axes(old, axis);
    st = next_state(what, old, axis, t, &fresh);
    return change_end(mesh, old, fresh, st);
}

/* --- marking ---------------------------------------------------------------------- */

/* A label that means something else from now on is a change of the mesh. */
static rubus_status replace_automatic(const char *what, const rubus__state *old,
                                      rubus__marker *marker, rubus__state **out_state)
{
    rubus__axis *axis[3] = {NULL, NULL, NULL};
    rubus_array *mask = NULL;
    hold_axes(old, axis);
    rubus_status st = next_state(what, old, axis, old->time, out_state);
    if (st == RUBUS_OK) {
        st = rubus__marker_evaluate(*out_state, marker, &mask);
        if (st != RUBUS_OK) {
            rubus__state_release(*out_state);
            *out_state = NULL;
            return st;
        }
        rubus__state_add_marker(*out_state, rubus__marker_hold(marker), mask);
    }
    return st;
}

static rubus_status mark(rubus_mesh *mesh, const char *what,
                         const rubus_marker_desc *desc)
{
    rubus__state *old = NULL;
    rubus__state *fresh = NULL;
    rubus__marker *marker = NULL;
    rubus_status st = change_begin(mesh, what, &old);
    if (st != RUBUS_OK) {
        return st;
    }
    st = rubus__marker_create(what, old, desc, &marker);
    if (st == RUBUS_OK && rubus__label_is_automatic(old, marker->label)) {
        st = replace_automatic(what, old, marker, &fresh);
    } else if (st == RUBUS_OK) {
        rubus_array *mask = NULL;
        st = rubus__marker_evaluate(old, marker, &mask);
        if (st == RUBUS_OK) {
            pthread_mutex_lock(&old->lock);
            rubus__state_add_marker(old, rubus__marker_hold(marker), mask);
            pthread_mutex_unlock(&old->lock);
        }
    }
    rubus__marker_release(marker);
    return change_end(mesh, old, fresh, st);
}

rubus_status rubus_mesh_mark(rubus_mesh *mesh, const char *label, const char *faces)
{
    static const char what[] = "rubus_mesh_mark";
    if (faces == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the names of faces are NULL", what);
    }
    return mark(mesh, what, &(rubus_marker_desc){.label = label, .faces = faces});
}

rubus_status rubus_mesh_mark_func(rubus_mesh *mesh, const char *label,
                                  const rubus_func *func)
{
    static const char what[] = "rubus_mesh_mark_func";
    if (func == NULL) {
        return rubus__no_func(what);
    }
    return mark(mesh, what, &(rubus_marker_desc){.label = label, .func = func});
}

rubus_status rubus_mesh_mark_callback(rubus_mesh *mesh, const char *label,
                                      rubus_point_predicate callback, void *user)
{
    static const char what[] = "rubus_mesh_mark_callback";
    if (callback == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the function is NULL", what);
    }
    return mark(mesh, what,
                &(rubus_marker_desc){.label = label, .callback = callback, .user = user});
}
