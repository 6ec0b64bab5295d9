/* SPDX-License-Identifier: Apache-2.0 */
/* Spaces of grid functions: making, arrays, components, and the check of what users
 * give. */
#include "config.h"

#include "libcore/grid/grid.h"

#include <stdio.h>
#include <string.h>

/* --- life ------------------------------------------------------------------------- */

static void destroy_object(void *self)
{
    rubus_space_destroy(self);
}

static rubus_status space_new(const char *what, rubus_mesh *mesh,
                              const rubus__state *state, int64_t ncomponent,
                              rubus_space **out_space)
{
    if (ncomponent > INT32_MAX / state->count) {
        return rubus__fail(
            RUBUS_ELIMIT,
            "%s: %lld component%s of %lld point%s; more than 2^31 - 1 numbers", what,
            (long long)ncomponent, RUBUS__S(ncomponent), (long long)state->count,
            RUBUS__S(state->count));
    }
    rubus_space *space = rubus__alloc(sizeof(*space));
    if (space == NULL) {
        return RUBUS_ENOMEM;
    }
    atomic_init(&space->references, 1);
    rubus__mesh_hold(mesh);
    space->mesh = mesh;
    space->version = state->version;
    space->ncomponent = (int32_t)ncomponent;
    space->shape = state->shape;
    space->count = state->count;
    rubus__object_add(mesh->context, &space->object, RUBUS__RANK_SPACE, destroy_object,
                      space);
    *out_space = space;
    return RUBUS_OK;
}

void rubus__space_hold(rubus_space *space)
{
    atomic_fetch_add(&space->references, 1);
}

void rubus_space_destroy(rubus_space *space)
{
    if (space != NULL && atomic_fetch_sub(&space->references, 1) == 1) {
        rubus__object_remove(space->mesh->context, &space->object);
        rubus_mesh_destroy(space->mesh);
        rubus__free(space);
    }
}

rubus_status rubus_space_create(rubus_mesh *mesh, int32_t ncomponent,
                                rubus_space **out_space)
{
    static const char what[] = "rubus_space_create";
    rubus__state *state = NULL;
    rubus_status st = rubus__need(what, "out_space", out_space, NULL);
    if (st == RUBUS_OK && ncomponent < 1) {
        st = rubus__fail(RUBUS_EINVAL, "%s: %d components; at least 1", what,
                         (int)ncomponent);
    }
    if (st == RUBUS_OK) {
        st = rubus__mesh_enter(mesh, what, &state);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    st = space_new(what, mesh, state, ncomponent, out_space);
    rubus__state_release(state);
    return st;
}

static rubus_status foreign_part(const char *what, int32_t at, const rubus_mesh *mesh,
                                 const rubus_mesh *first)
{
    if (mesh->context == first->context) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: space %d is on another mesh than space 0; a product "
                           "stands on one",
                           what, (int)at);
    }
    char name[32];
    snprintf(name, sizeof(name), "space %d", (int)at);
    return rubus__foreign(what, name, mesh->context, "space 0", first->context, NULL);
}

rubus_status rubus_space_create_product(int32_t nspace, rubus_space *const *space,
                                        rubus_space **out_space)
{
    static const char what[] = "rubus_space_create_product";
    rubus_status st =
        rubus__need(what, "the list of spaces", space, "out_space", out_space, NULL);
    if (st == RUBUS_OK && nspace < 1) {
        st = rubus__fail(RUBUS_EINVAL, "%s: %d spaces; at least 1", what, (int)nspace);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    int64_t ncomponent = 0;
    for (int32_t k = 0; k < nspace; k++) {
        st = rubus__space_fresh(space[k], what);
        if (st != RUBUS_OK) {
            return st;
        }
        if (space[k]->mesh != space[0]->mesh) {
            return foreign_part(what, k, space[k]->mesh, space[0]->mesh);
        }
        ncomponent += space[k]->ncomponent;
    }
    rubus__state *state = NULL;
    st = rubus__space_enter(space[0], what, &state);
    if (st == RUBUS_OK) {
        st = space_new(what, space[0]->mesh, state, ncomponent, out_space);
        rubus__state_release(state);
    }
    return st;
}

rubus_status rubus__space_enter(const rubus_space *space, const char *what,
                                rubus__state **out_state)
{
    if (space == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the space is NULL", what);
    }
    rubus__state *state = NULL;
    const rubus_status st = rubus__mesh_enter(space->mesh, what, &state);
    if (st != RUBUS_OK) {
        return st;
    }
    if (state->version != space->version) {
        (void)rubus__fail(RUBUS_ESTALE,
                          "%s: the space was made for version %llu of its mesh, which is "
                          "at version %llu now; make a new space, and new arrays",
                          what, (unsigned long long)space->version,
                          (unsigned long long)state->version);
        rubus__state_release(state);
        return RUBUS_ESTALE;
    }
    *out_state = state;
    return RUBUS_OK;
}

rubus_status rubus__space_fresh(const rubus_space *space, const char *what)
{
    rubus__state *state = NULL;
    const rubus_status st = rubus__space_enter(space, what, &state);
    if (st == RUBUS_OK) {
        rubus__state_release(state);
    }
    return st;
}

/* --- looking ---------------------------------------------------------------------- */

rubus_mesh *rubus_space_mesh(const rubus_space *space)
{
    return space == NULL ? NULL : space->mesh;
}

int32_t rubus_space_ncomponent(const rubus_space *space)
{
    return space == NULL ? 0 : space->ncomponent;
}

rubus_shape rubus_space_shape(const rubus_space *space)
{
    rubus_shape shape = {0, 0, {0, 0, 0, 0}};
    if (space != NULL) {
        shape = space->shape;
        if (space->ncomponent > 1) {
            shape.n[shape.rank] = space->ncomponent;
            shape.rank++;
        }
    }
    return shape;
}

/* --- what users give -------------------------------------------------------------- */

static bool same_shape(rubus_shape a, rubus_shape b)
{
    return a.rank == b.rank && memcmp(a.n, b.n, (size_t)a.rank * sizeof(a.n[0])) == 0;
}

static void shape_text(rubus_shape shape, char out[100])
{
    size_t n = 0;
    for (int32_t d = 0; d < shape.rank; d++) {
        n += (size_t)rubus__snprintf(out + n, 100 - n, "%s%lld", d > 0 ? " x " : "",
                                     (long long)shape.n[d]);
    }
}

rubus_status rubus__space_check(const rubus_space *space, const char *what,
                                const char *name, const rubus_array *u, bool component)
{
    if (u == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what, name);
    }
    const rubus_context *context = space->mesh->context;
    const rubus_context *other = u->storage->context;
    if (other != context) {
        return rubus__foreign(what, name, other, "the space", context,
                              "copy it with rubus_array_copy");
    }
    const int32_t type = rubus_mesh_type(space->mesh);
    if (u->type != type) {
        return rubus__fail(RUBUS_ETYPE, "%s: %s has elements of %s, the mesh is of %s",
                           what, name, rubus__type_name(u->type), rubus__type_name(type));
    }
    const rubus_shape whole = rubus_space_shape(space);
    if (same_shape(u->shape, whole) ||
        (component && same_shape(u->shape, space->shape))) {
        return RUBUS_OK;
    }
    char given[100];
    char wanted[100];
    shape_text(u->shape, given);
    shape_text(whole, wanted);
    return rubus__fail(RUBUS_ESHAPE, "%s: %s is %s, a grid function of the space is %s",
                       what, name, given, wanted);
}

int32_t rubus__space_components(const rubus_space *space, const rubus_array *u)
{
    return u->count == space->count ? 1 : space->ncomponent;
}

rubus_status rubus__space_window(const rubus_space *space, rubus_array *u, int32_t k,
                                 rubus_array **out_window)
{
    return rubus_array_view(u, k * space->count, space->shape, out_window);
}

/* --- grid functions --------------------------------------------------------------- */

rubus_status rubus_space_array(const rubus_space *space, double value,
                               rubus_array **out_array)
{
    static const char what[] = "rubus_space_array";
    rubus__state *state = NULL;
    rubus_array *array = NULL;
    if (out_array == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: out_array is NULL", what);
    }
    rubus_status st = rubus__space_enter(space, what, &state);
    if (st != RUBUS_OK) {
        return st;
    }
    st =
        rubus_array_create(state->context, state->type, rubus_space_shape(space), &array);
    if (st == RUBUS_OK && value != 0) {
        st = rubus_array_fill(array, value);
    }
    rubus__state_release(state);
    if (st != RUBUS_OK) {
        rubus_array_destroy(array);
        return st;
    }
    *out_array = array;
    return RUBUS_OK;
}

rubus_status rubus_space_arrays(const rubus_space *space, int32_t n,
                                rubus_array **const *out_array)
{
    static const char what[] = "rubus_space_arrays";
    for (int32_t k = 0; out_array != NULL && k < n; k++) {
        if (out_array[k] == NULL) {
            return rubus__fail(RUBUS_EINVAL, "%s: pointer %d is NULL", what, (int)k);
        }
    }
    if (n < 1 || out_array == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: no pointers to arrays", what);
    }
    rubus_array **made = rubus__alloc_array((size_t)n, sizeof(*made));
    if (made == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus_status st = RUBUS_OK;
    for (int32_t k = 0; st == RUBUS_OK && k < n; k++) {
        st = rubus_space_array(space, 0, &made[k]);
    }
    for (int32_t k = 0; k < n; k++) {
        if (st == RUBUS_OK) {
            *out_array[k] = made[k];
        } else {
            rubus_array_destroy(made[k]);
        }
    }
    rubus__free(made);
    return st;
}

rubus_status rubus_space_component(const rubus_space *space, rubus_array *u, int32_t k,
                                   rubus_array **out_window)
{
    static const char what[] = "rubus_space_component";
    rubus__state *state = NULL;
    if (out_window == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: out_window is NULL", what);
    }
    rubus_status st = rubus__space_enter(space, what, &state);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__state_release(state);
    if (k < 0 || k >= space->ncomponent) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: component %d of a space with %d; they count from 0", what,
                           (int)k, (int)space->ncomponent);
    }
    st = rubus__space_check(space, what, "u", u, false);
    return st != RUBUS_OK ? st : rubus__space_window(space, u, k, out_window);
}
