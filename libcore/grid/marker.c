/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Markers: a label and a rule for the points that it means. Faces are resolved at once;
 * funcs are evaluated on the device, callbacks on the host with one write of the mask.
 */
#include "config.h"

#include "libcore/grid/func.h"
#include "libcore/grid/grid.h"

#include <string.h>

rubus__marker *rubus__marker_hold(rubus__marker *marker)
{
    atomic_fetch_add(&marker->references, 1);
    return marker;
}

void rubus__marker_release(rubus__marker *marker)
{
    if (marker == NULL || atomic_fetch_sub(&marker->references, 1) != 1) {
        return;
    }
    if (marker->func != NULL) {
        rubus__module_release(marker->func->module);
    }
    rubus__free(marker->label);
    rubus__free(marker);
}

/* --- labels ----------------------------------------------------------------------- */

bool rubus__label_is_automatic(const rubus__state *state, const char *label)
{
    return strcmp(label, "boundary") == 0 || strcmp(label, "interior") == 0 ||
           rubus__face_find(state->ndim, label, strlen(label)) != 0;
}

/* A label is a name that can stand in a list: no comma, no blanks. */
static rubus_status check_label(const char *what, const rubus__state *state,
                                const char *label)
{
    if (label == NULL || label[0] == '\0' || strpbrk(label, ", \t\r\n\"") != NULL) {
        return rubus__fail(
            RUBUS_EINVAL, "%s: a label is a name without commas, blanks and quotes%s%s%s",
            what, label == NULL ? "; NULL was given" : ", not \"",
            label == NULL ? "" : label, label == NULL ? "" : "\"");
    }
    for (int32_t k = 0; k < state->nmarker; k++) {
        if (strcmp(state->marker[k]->label, label) == 0) {
            return rubus__fail(RUBUS_EINVAL,
                               "%s: the mesh has a marker `%s` already; a label has one "
                               "rule",
                               what, label);
        }
    }
    if (state->nmarker == RUBUS__MARKERS_MOST) {
        return rubus__fail(RUBUS_ELIMIT,
                           "%s: the mesh has %d markers, and no room for `%s`", what,
                           RUBUS__MARKERS_MOST, label);
    }
    return RUBUS_OK;
}

/* --- making ----------------------------------------------------------------------- */

static rubus_status set_rule(const char *what, const rubus__state *state,
                             const rubus_marker_desc *desc, rubus__marker *marker)
{
    const int nrule = (desc->faces != NULL ? 1 : 0) + (desc->func != NULL ? 1 : 0) +
                      (desc->callback != NULL ? 1 : 0);
    if (nrule != 1) {
        return rubus__fail(
            RUBUS_EINVAL,
            "%s: marker `%s` has %d rules; give exactly one of faces, func "
            "and callback",
            what, desc->label, nrule);
    }
    if (desc->faces != NULL) {
        marker->kind = RUBUS__MARKER_FACES;
        return rubus__faces_parse(what, state->ndim, desc->faces, &marker->faces);
    }
    if (desc->func != NULL) {
        rubus__func_takes takes;
        marker->kind = RUBUS__MARKER_FUNC;
        const rubus_status st = rubus__func_check(what, desc->func, state->context,
                                                  state->ndim, RK_BOOL, &takes);
        if (st == RUBUS_OK) {
            marker->func = desc->func;
            rubus__module_hold(desc->func->module);
        }
        return st;
    }
    marker->kind = RUBUS__MARKER_CALLBACK;
    marker->callback = desc->callback;
    marker->user = desc->user;
    return RUBUS_OK;
}

rubus_status rubus__marker_create(const char *what, const rubus__state *state,
                                  const rubus_marker_desc *desc,
                                  rubus__marker **out_marker)
{
    rubus_status st = check_label(what, state, desc->label);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__marker *marker = rubus__alloc(sizeof(*marker));
    if (marker == NULL) {
        return RUBUS_ENOMEM;
    }
    atomic_init(&marker->references, 1);
    marker->label = rubus__strdup(desc->label);
    st = marker->label == NULL ? RUBUS_ENOMEM : set_rule(what, state, desc, marker);
    if (st != RUBUS_OK) {
        rubus__marker_release(marker);
        return st;
    }
    if (rubus__label_is_automatic(state, marker->label)) {
        rubus__log(RUBUS__LOG_WARNING, "mesh",
                   "the marker `%s` takes the place of what every mesh calls so",
                   marker->label);
    }
    *out_marker = marker;
    return RUBUS_OK;
}

void rubus__state_add_marker(rubus__state *state, rubus__marker *marker,
                             rubus_array *mask)
{
    state->marker[state->nmarker] = marker;
    state->marked[state->nmarker] = mask;
    state->nmarker++;
}

/* --- points ----------------------------------------------------------------------- */

static rubus_status evaluate_callback(const rubus__state *state,
                                      const rubus__marker *marker, rubus_array **out_mask)
{
    uint8_t *host = rubus__alloc((size_t)state->count);
    if (host == NULL) {
        return RUBUS_ENOMEM;
    }
    for (int64_t i = 0; i < state->count; i++) {
        double x[3];
        rubus__state_point(state, i, x);
        host[i] = marker->callback(marker->user, x, state->time) ? 1 : 0;
    }
    const rubus_status st =
        rubus_array_from(state->context, RUBUS_BOOL, state->shape, host, out_mask);
    rubus__free(host);
    return st;
}

rubus_status rubus__marker_evaluate(const rubus__state *state,
                                    const rubus__marker *marker, rubus_array **out_mask)
{
    rubus_array *mask = NULL;
    rubus_status st = RUBUS_OK;
    if (marker->kind == RUBUS__MARKER_CALLBACK) {
        st = evaluate_callback(state, marker, &mask);
    } else if (marker->kind == RUBUS__MARKER_FUNC) {
        st = rubus_array_create(state->context, RUBUS_BOOL, state->shape, &mask);
        if (st == RUBUS_OK) {
            const rubus__func_sweep sweep = {.use = RUBUS__FUNC_MARK,
                                             .time = state->time};
            st = rubus__func_run(marker->func, state, &sweep, mask);
        }
    }
    if (st != RUBUS_OK) {
        rubus_array_destroy(mask);
        return st;
    }
    *out_mask = mask;
    return RUBUS_OK;
}
