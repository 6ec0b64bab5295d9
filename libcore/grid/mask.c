/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels and masks: a list of labels becomes the union of faces, of `interior` and of
 * markers; the union becomes an array of bools, made on the device when first asked for
 * and kept in the state of the mesh.
 */
#include "config.h"

#include "libcore/grid/grid.h"

#include <string.h>

/* --- labels ----------------------------------------------------------------------- */

uint32_t rubus__state_boundary(const rubus__state *state)
{
    uint32_t faces = 0;
    for (int32_t d = 0; d < state->ndim; d++) {
        faces |= state->axis[d]->n > 1 ? 3u << (unsigned)(2 * d) : 0;
    }
    return faces;
}

/* Number of a marker, -1 if there is none. Locked. */
static int32_t marker_find(const rubus__state *state, const char *name, size_t size)
{
    for (int32_t k = 0; k < state->nmarker; k++) {
        const char *label = state->marker[k]->label;
        if (strlen(label) == size && memcmp(label, name, size) == 0) {
            return k;
        }
    }
    return -1;
}

/* Locked. */
static rubus_status unknown(const char *what, const rubus__state *state, const char *name,
                            size_t size)
{
    rubus__text list;
    rubus__text_init(&list);
    for (int32_t k = 0; k < state->nmarker; k++) {
        rubus__text_format(&list, "%s, ", state->marker[k]->label);
    }
    rubus__text_add(&list, "boundary, interior, ");
    rubus__faces_list(state->ndim, &list);
    (void)rubus__fail(RUBUS_ENOTFOUND, "%s: the mesh has no label `%.*s`; it has %s",
                      what, (int)size, name, list.failed ? "others" : list.data);
    rubus__text_fini(&list);
    return RUBUS_ENOTFOUND;
}

/* Adds what a label means; false if the mesh has none of that name. Locked. */
static bool add_label(const rubus__state *state, const char *name, size_t size,
                      rubus__labels *labels)
{
    const int32_t at = marker_find(state, name, size);
    if (at >= 0 && state->marker[at]->kind == RUBUS__MARKER_FACES) {
        labels->faces |= state->marker[at]->faces;
        return true;
    }
    if (at >= 0) {
        labels->markers |= (uint64_t)1 << (unsigned)at;
        return true;
    }
    if (size == 8 && memcmp(name, "boundary", 8) == 0) {
        labels->faces |= rubus__state_boundary(state);
        return true;
    }
    if (size == 8 && memcmp(name, "interior", 8) == 0) {
        labels->interior = true;
        return true;
    }
    const uint32_t face = rubus__face_find(state->ndim, name, size);
    labels->faces |= face;
    return face != 0;
}

bool rubus__labels_any(const char *labels)
{
    const char *name = NULL;
    size_t size = 0;
    return labels != NULL && rubus__list_next(&labels, &name, &size);
}

rubus_status rubus__labels_parse(const char *what, rubus__state *state,
                                 const char *labels, rubus__labels *out_labels)
{
    if (!rubus__labels_any(labels)) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s%s%s", what,
                           labels == NULL ? "the labels are NULL" : "\"",
                           labels == NULL ? "" : labels,
                           labels == NULL ? "" : "\" has no label");
    }
    rubus__labels all;
    memset(&all, 0, sizeof(all));
    const char *name = NULL;
    size_t size = 0;
    rubus_status st = RUBUS_OK;
    pthread_mutex_lock(&state->lock);
    while (st == RUBUS_OK && rubus__list_next(&labels, &name, &size)) {
        if (!add_label(state, name, size, &all)) {
            st = unknown(what, state, name, size);
        }
    }
    pthread_mutex_unlock(&state->lock);
    if (st == RUBUS_OK) {
        *out_labels = all;
    }
    return st;
}

rubus_status rubus__labels_faces(const char *what, rubus__state *state,
                                 const char *labels, uint32_t *out_faces)
{
    if (!rubus__labels_any(labels)) {
        *out_faces = rubus__state_boundary(state);
        return RUBUS_OK;
    }
    uint32_t faces = 0;
    const char *rest = labels;
    const char *name = NULL;
    size_t size = 0;
    while (rubus__list_next(&rest, &name, &size)) {
        rubus__labels one;
        memset(&one, 0, sizeof(one));
        pthread_mutex_lock(&state->lock);
        const bool known = add_label(state, name, size, &one);
        const rubus_status st = known ? RUBUS_OK : unknown(what, state, name, size);
        pthread_mutex_unlock(&state->lock);
        if (st != RUBUS_OK) {
            return st;
        }
        if (one.interior || one.markers != 0) {
            return rubus__fail(RUBUS_EINVAL,
                               "%s: `%.*s` is no union of whole faces, as an integral "
                               "over faces needs",
                               what, (int)size, name);
        }
        faces |= one.faces;
    }
    *out_faces = faces;
    return RUBUS_OK;
}

/* --- masks ------------------------------------------------------------------------ */

/* The points on some faces, or all others. */
static rubus_status faces_mask(const rubus__state *state, uint32_t faces, bool others,
                               rubus_array *mask)
{
    const rubus_kernel *kernel = NULL;
    const rubus_status st = rubus__state_kernel_nd(state, "mesh.rk", "faces", &kernel);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_arg args[8] = {rubus_arg_array(mask)};
    size_t n = 1;
    for (int32_t face = 0; face < 2 * state->ndim; face++) {
        args[n++] = rubus_arg_integer((faces >> (unsigned)face) & 1u);
    }
    args[n++] = rubus_arg_integer(others ? 1 : 0);
    return rubus_launch_args(kernel, args, n);
}

/* mask = mask or other (or not other). */
static rubus_status join(const rubus__state *state, rubus_array *mask, rubus_array *other,
                         bool others)
{
    const rubus_kernel *kernel = NULL;
    rubus_array *flat[2] = {NULL, NULL};
    rubus_status st = rubus__state_kernel(
        state, "mesh.rk", others ? "mask_join_others" : "mask_join", &kernel);
    if (st == RUBUS_OK) {
        st = rubus_array_view(mask, 0, RUBUS_SHAPE(state->count), &flat[0]);
    }
    if (st == RUBUS_OK) {
        st = rubus_array_view(other, 0, RUBUS_SHAPE(state->count), &flat[1]);
    }
    if (st == RUBUS_OK) {
        st = rubus_launch(kernel, flat[0], flat[1]);
    }
    rubus_array_destroy(flat[0]);
    rubus_array_destroy(flat[1]);
    return st;
}

/* The complement of what `boundary` means. Locked. */
static rubus_status join_interior(const rubus__state *state, rubus_array *mask)
{
    const int32_t at = marker_find(state, "boundary", 8);
    if (at >= 0 && state->marker[at]->kind != RUBUS__MARKER_FACES) {
        return join(state, mask, state->marked[at], true);
    }
    const uint32_t faces =
        at >= 0 ? state->marker[at]->faces : rubus__state_boundary(state);
    rubus_array *other = NULL;
    rubus_status st =
        rubus_array_create(state->context, RUBUS_BOOL, state->shape, &other);
    if (st == RUBUS_OK) {
        st = faces_mask(state, faces, true, other);
    }
    if (st == RUBUS_OK) {
        st = join(state, mask, other, false);
    }
    rubus_array_destroy(other);
    return st;
}

/* Locked. */
static rubus_status make(const rubus__state *state, const rubus__labels *labels,
                         rubus_array *mask)
{
    rubus_status st = faces_mask(state, labels->faces, false, mask);
    if (st == RUBUS_OK && labels->interior) {
        st = join_interior(state, mask);
    }
    for (int32_t k = 0; st == RUBUS_OK && k < state->nmarker; k++) {
        if ((labels->markers >> (unsigned)k & 1u) != 0) {
            st = join(state, mask, state->marked[k], false);
        }
    }
    return st;
}

static bool same(const rubus__labels *a, const rubus__labels *b)
{
    return a->faces == b->faces && a->interior == b->interior && a->markers == b->markers;
}

/* The mask, made if need be; NULL with *out_st set. Locked. */
static rubus__mask *get(rubus__state *state, const rubus__labels *labels,
                        rubus_status *out_st)
{
    for (rubus__mask *mask = state->mask; mask != NULL; mask = mask->next) {
        if (same(&mask->labels, labels)) {
            return mask;
        }
    }
    rubus__mask *mask = rubus__alloc(sizeof(*mask));
    if (mask == NULL) {
        *out_st = RUBUS_ENOMEM;
        return NULL;
    }
    mask->labels = *labels;
    *out_st = rubus_array_create(state->context, RUBUS_BOOL, state->shape, &mask->array);
    if (*out_st == RUBUS_OK) {
        *out_st = make(state, labels, mask->array);
    }
    if (*out_st != RUBUS_OK) {
        rubus_array_destroy(mask->array);
        rubus__free(mask);
        return NULL;
    }
    mask->next = state->mask;
    state->mask = mask;
    return mask;
}

rubus_status rubus__state_mask(rubus__state *state, const rubus__labels *labels,
                               rubus_array **out_mask)
{
    rubus_status st = RUBUS_OK;
    pthread_mutex_lock(&state->lock);
    const rubus__mask *mask = get(state, labels, &st);
    pthread_mutex_unlock(&state->lock);
    if (mask != NULL) {
        *out_mask = mask->array;
    }
    return st;
}

rubus_status rubus__state_host_mask(rubus__state *state, const rubus__labels *labels,
                                    const uint8_t **out_mask)
{
    rubus_status st = RUBUS_OK;
    pthread_mutex_lock(&state->lock);
    rubus__mask *mask = get(state, labels, &st);
    if (mask != NULL && mask->host == NULL) {
        uint8_t *host = rubus__alloc((size_t)state->count);
        st = host == NULL ? RUBUS_ENOMEM
                          : rubus_array_read(mask->array, host, (size_t)state->count);
        if (st == RUBUS_OK) {
            mask->host = host;
        } else {
            rubus__free(host);
        }
    }
    if (st == RUBUS_OK) {
        *out_mask = mask->host;
    }
    pthread_mutex_unlock(&state->lock);
    return st;
}

rubus_status rubus_mesh_mask(rubus_mesh *mesh, const char *labels, rubus_array **out_mask)
{
    static const char what[] = "rubus_mesh_mask";
    if (out_mask == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: out_mask is NULL", what);
    }
    rubus__state *state = NULL;
    rubus_status st = rubus__mesh_enter(mesh, what, &state);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__labels parsed;
    rubus_array *mask = NULL;
    st = rubus__labels_parse(what, state, labels, &parsed);
    if (st == RUBUS_OK) {
        st = rubus__state_mask(state, &parsed, &mask);
    }
    if (st == RUBUS_OK) {
        st = rubus_array_view(mask, 0, state->shape, out_mask);
    }
    rubus__state_release(state);
    return st;
}
