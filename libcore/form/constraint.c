/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constraints: labels and what they are held at, in the order in which they were added.
 * Kernels see the union of a component's labels, as whole faces if it is nothing else,
 * or as a mask.
 */
#include "config.h"

#include "libcore/form/forms.h"

#include <string.h>

/* --- life ------------------------------------------------------------------------- */

static void destroy_object(void *self)
{
    rubus_constraint_destroy(self);
}

rubus_status rubus_constraint_create(rubus_space *space,
                                     rubus_constraint **out_constraint)
{
    static const char what[] = "rubus_constraint_create";
    rubus__state *state = NULL;
    if (out_constraint == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: out_constraint is NULL", what);
    }
    const rubus_status st = rubus__space_enter(space, what, &state);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_constraint *constraint = rubus__alloc(sizeof(*constraint));
    if (constraint == NULL) {
        rubus__state_release(state);
        return RUBUS_ENOMEM;
    }
    pthread_mutex_init(&constraint->lock, NULL);
    rubus__space_hold(space);
    constraint->space = space;
    constraint->state = state;
    rubus__object_add(state->context, &constraint->object, RUBUS__RANK_CONSTRAINT,
                      destroy_object, constraint);
    *out_constraint = constraint;
    return RUBUS_OK;
}

void rubus_constraint_destroy(rubus_constraint *constraint)
{
    if (constraint == NULL) {
        return;
    }
    rubus__object_remove(constraint->state->context, &constraint->object);
    for (int32_t i = 0; i < constraint->nheld; i++) {
        rubus_array_destroy(constraint->held[i].values);
    }
    if (!rubus__context_forked(constraint->state->context)) {
        pthread_mutex_destroy(&constraint->lock);
    }
    rubus_space_destroy(constraint->space);
    rubus__state_release(constraint->state);
    rubus__free(constraint->held);
    rubus__free(constraint);
}

/* EINVAL for NULL, ESTALE, EFORKED. */
static rubus_status enter(const rubus_constraint *constraint, const char *what)
{
    if (constraint == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the constraint is NULL", what);
    }
    return rubus__space_fresh(constraint->space, what);
}

/* --- adding ----------------------------------------------------------------------- */

/* Takes over the view in it on success. */
static rubus_status append(rubus_constraint *constraint, const rubus__held *held)
{
    pthread_mutex_lock(&constraint->lock);
    const size_t n = (size_t)constraint->nheld;
    rubus__held *more =
        rubus__realloc(constraint->held, (n + 1) * sizeof(*constraint->held));
    if (more != NULL) {
        more[n] = *held;
        constraint->held = more;
        constraint->nheld++;
    }
    pthread_mutex_unlock(&constraint->lock);
    return more == NULL ? RUBUS_ENOMEM : RUBUS_OK;
}

static rubus_status check(const char *what, rubus_constraint *constraint,
                          const char *labels, rubus__held *held)
{
    rubus_status st = enter(constraint, what);
    if (st != RUBUS_OK) {
        return st;
    }
    const int32_t n = constraint->space->ncomponent;
    if (held->component != RUBUS_ALL && (held->component < 0 || held->component >= n)) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: component %d of a space with %d; they count from 0, or "
                           "give RUBUS_ALL",
                           what, (int)held->component, (int)n);
    }
    return rubus__labels_parse(what, constraint->state, labels, &held->labels);
}

rubus_status rubus_constraint_add_array(rubus_constraint *constraint, const char *labels,
                                        int32_t component, rubus_array *array)
{
    static const char what[] = "rubus_constraint_add_array";
    rubus__held held = {.component = component};
    rubus_status st = check(what, constraint, labels, &held);
    if (st == RUBUS_OK) {
        st = rubus__space_check(constraint->space, what, "the array", array, true);
    }
    if (st == RUBUS_OK) {
        st = rubus_array_view(array, 0, array->shape, &held.values);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    st = append(constraint, &held);
    if (st != RUBUS_OK) {
        rubus_array_destroy(held.values);
    }
    return st;
}

rubus_status rubus_constraint_add_number(rubus_constraint *constraint, const char *labels,
                                         int32_t component, double value)
{
    static const char what[] = "rubus_constraint_add_number";
    rubus__held held = {.component = component, .number = value};
    const rubus_status st = check(what, constraint, labels, &held);
    return st == RUBUS_OK ? append(constraint, &held) : st;
}

/* --- u = g ------------------------------------------------------------------------ */

/* Component k of what is written, and of what is read. */
static void places(const rubus_constraint *constraint, const rubus__held *held,
                   const rubus_array *u, int32_t k, rubus_array *out_to,
                   rubus_array *out_from)
{
    const int64_t n = constraint->state->count;
    *out_to = rubus__array_line(u, k * n, n);
    *out_from =
        held->values == NULL
            ? *out_to
            : rubus__array_line(held->values, held->values->count == n ? 0 : k * n, n);
}

static bool same_place(const rubus_array *a, const rubus_array *b)
{
    return a->storage == b->storage && a->first == b->first;
}

/* One component. */
static rubus_status hold(const rubus_constraint *constraint, const rubus__held *held,
                         const rubus_array *u, int32_t k)
{
    rubus__state *state = constraint->state;
    const bool number = held->values == NULL;
    rubus_array *mask = NULL;
    const rubus_kernel *kernel = NULL;
    rubus_array to;
    rubus_array from;
    places(constraint, held, u, k, &to, &from);
    if (!number && same_place(&to, &from)) {
        return RUBUS_OK;
    }
    rubus_status st = rubus__state_mask(state, &held->labels, &mask);
    if (st == RUBUS_OK) {
        st = rubus__state_kernel(state, "krylov.rk", number ? "hold_number" : "hold",
                                 &kernel);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_array where = rubus__array_line(mask, 0, state->count);
    if (number) {
        return rubus_launch(kernel, &to, &where, held->number);
    }
    return rubus_launch(kernel, &to, &from, &where);
}

/* For each component that something is held in; locked. */
typedef rubus_status visit_held(const rubus_constraint *constraint,
                                const rubus__held *held, const rubus_array *u, int32_t k);

static rubus_status visit(rubus_constraint *constraint, const rubus_array *u,
                          visit_held *call)
{
    rubus_status st = RUBUS_OK;
    pthread_mutex_lock(&constraint->lock);
    for (int32_t i = 0; i < constraint->nheld; i++) {
        const rubus__held *held = &constraint->held[i];
        for (int32_t k = 0; st == RUBUS_OK && k < constraint->space->ncomponent; k++) {
            if (held->component == RUBUS_ALL || held->component == k) {
                st = call(constraint, held, u, k);
            }
        }
    }
    pthread_mutex_unlock(&constraint->lock);
    return st;
}

static rubus_status apart(const rubus_constraint *constraint, const rubus__held *held,
                          const rubus_array *u, int32_t k)
{
    rubus_array to;
    rubus_array from;
    places(constraint, held, u, k, &to, &from);
    return same_place(&to, &from) || !rubus__array_overlap(&to, &from)
               ? RUBUS_OK
               : rubus__fail(RUBUS_EALIAS,
                             "component %d of a grid function overlaps the values that "
                             "it is held at; hold it at another array",
                             (int)k);
}

rubus_status rubus__constraint_check(const char *what, rubus_constraint *constraint,
                                     const char *name, const rubus_array *u)
{
    rubus_status st = enter(constraint, what);
    if (st == RUBUS_OK) {
        st = rubus__space_check(constraint->space, what, name, u, false);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    st = visit(constraint, u, apart);
    return st == RUBUS_OK ? st : rubus__fail_prefix(st, "%s", what);
}

rubus_status rubus_constraint_apply(rubus_constraint *constraint, rubus_array *u)
{
    const rubus_status st =
        rubus__constraint_check("rubus_constraint_apply", constraint, "u", u);
    return st == RUBUS_OK ? visit(constraint, u, hold) : st;
}

/* --- as kernels see it ------------------------------------------------------------ */

void rubus__form_fix_fini(rubus__form_fix *fix)
{
    rubus__free(fix->labels);
    rubus__free(fix->faces);
    rubus__free(fix->masked);
    rubus__free(fix->mask);
    *fix = (rubus__form_fix){.mode = RK_FIX_NONE};
}

static rubus_status fix_new(rk_fix_mode mode, int32_t ncomponent, rubus__form_fix *fix)
{
    const size_t n = (size_t)ncomponent;
    *fix = (rubus__form_fix){.mode = mode, .ncomponent = ncomponent};
    fix->labels = rubus__alloc_array(n, sizeof(*fix->labels));
    fix->faces = rubus__alloc_array(n, sizeof(*fix->faces));
    fix->masked = rubus__alloc_array(n, sizeof(*fix->masked));
    fix->mask = rubus__alloc_array(n, sizeof(*fix->mask));
    if (fix->labels == NULL || fix->faces == NULL || fix->masked == NULL ||
        fix->mask == NULL) {
        rubus__form_fix_fini(fix);
        return RUBUS_ENOMEM;
    }
    return RUBUS_OK;
}

rubus_status rubus__form_fix_copy(const rubus__form_fix *fix, rubus__form_fix *out_fix)
{
    if (fix->mode == RK_FIX_NONE) {
        *out_fix = (rubus__form_fix){.mode = RK_FIX_NONE};
        return RUBUS_OK;
    }
    const rubus_status st = fix_new(fix->mode, fix->ncomponent, out_fix);
    for (int32_t c = 0; st == RUBUS_OK && c < fix->ncomponent; c++) {
        out_fix->labels[c] = fix->labels[c];
        out_fix->faces[c] = fix->faces[c];
        out_fix->masked[c] = fix->masked[c];
    }
    return st;
}

rubus_status rubus__constraint_fits(const char *what, const rubus_constraint *constraint,
                                    const rubus_space *space)
{
    const rubus_status st = enter(constraint, what);
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus_space *own = constraint->space;
    const rubus_context *context = space->mesh->context;
    const rubus_context *other = own->mesh->context;
    if (other != context) {
        return rubus__foreign(what, "the constraint", other, "the form", context, NULL);
    }
    if (own->mesh != space->mesh || own->ncomponent != space->ncomponent) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: the constraint is on a space of %d component%s%s, the "
                           "form tests with %d; make it on the test space",
                           what, (int)own->ncomponent, own->ncomponent == 1 ? "" : "s",
                           own->mesh != space->mesh ? " on another mesh" : "",
                           (int)space->ncomponent);
    }
    return RUBUS_OK;
}

/* Joins the labels of each component; whether there is any. */
static bool join_labels(rubus_constraint *constraint, rubus__form_fix *fix)
{
    pthread_mutex_lock(&constraint->lock);
    const int32_t nheld = constraint->nheld;
    for (int32_t i = 0; i < nheld; i++) {
        const rubus__held *held = &constraint->held[i];
        for (int32_t c = 0; c < fix->ncomponent; c++) {
            if (held->component == RUBUS_ALL || held->component == c) {
                fix->labels[c].faces |= held->labels.faces;
                fix->labels[c].interior |= held->labels.interior;
                fix->labels[c].markers |= held->labels.markers;
            }
        }
    }
    pthread_mutex_unlock(&constraint->lock);
    return nheld > 0;
}

rubus_status rubus__form_fix_init(const char *what, rubus_constraint *constraint,
                                  const rubus_space *space, rk_fix_mode mode,
                                  rubus__form_fix *out_fix)
{
    *out_fix = (rubus__form_fix){.mode = RK_FIX_NONE};
    if (constraint == NULL) {
        return RUBUS_OK;
    }
    rubus_status st = rubus__constraint_fits(what, constraint, space);
    if (st == RUBUS_OK) {
        st = fix_new(mode, space->ncomponent, out_fix);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    if (!join_labels(constraint, out_fix)) {
        rubus__form_fix_fini(out_fix);
        return RUBUS_OK;
    }
    for (int32_t c = 0; st == RUBUS_OK && c < out_fix->ncomponent; c++) {
        const rubus__labels *labels = &out_fix->labels[c];
        out_fix->faces[c] = labels->faces;
        out_fix->masked[c] = labels->interior || labels->markers != 0;
        if (out_fix->masked[c]) {
            st = rubus__state_mask(constraint->state, labels, &out_fix->mask[c]);
        }
    }
    if (st != RUBUS_OK) {
        rubus__form_fix_fini(out_fix);
    }
    return st;
}

/* --- as solvers see it ------------------------------------------------------------ */

static rubus_status join_masks(const rubus__form_fix *fix, rubus__state *state,
                               uint8_t *host)
{
    rubus_status st = RUBUS_OK;
    for (int32_t c = 0; st == RUBUS_OK && c < fix->ncomponent; c++) {
        const uint8_t *own = NULL;
        if (fix->masked[c] || fix->faces[c] != 0) {
            st = rubus__state_host_mask(state, &fix->labels[c], &own);
        }
        if (st == RUBUS_OK && own != NULL) {
            memcpy(host + c * state->count, own, (size_t)state->count);
        }
    }
    return st;
}

rubus_status rubus__form_fix_mask(const rubus__form_fix *fix, const rubus_space *space,
                                  rubus__state *state, rubus_array **out_mask)
{
    if (fix->mode == RK_FIX_NONE) {
        *out_mask = NULL;
        return RUBUS_OK;
    }
    if (fix->ncomponent == 1) {
        rubus_array *mask = NULL;
        const rubus_status st = rubus__state_mask(state, &fix->labels[0], &mask);
        return st == RUBUS_OK ? rubus_array_view(mask, 0, state->shape, out_mask) : st;
    }
    uint8_t *host = rubus__alloc_array((size_t)fix->ncomponent, (size_t)state->count);
    if (host == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus_status st = join_masks(fix, state, host);
    if (st == RUBUS_OK) {
        st = rubus_array_from(state->context, RUBUS_BOOL, rubus_space_shape(space), host,
                              out_mask);
    }
    rubus__free(host);
    return st;
}
