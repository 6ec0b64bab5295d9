/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kronecker sums as operators. Terms of one kind share their factors: what they add up to
 * at a point is a sum over the axes, so that a table for each axis holds all of it, and
 * one kernel applies any number of terms in one pass. Tables are made again when a factor
 * or a coefficient has changed.
 */
#include "config.h"

#include "libcore/form/kronecker_inner.h"

#include <math.h>
#include <stdio.h>

enum { TABLE_COLUMNS = 6, TABLE_SHARES = 2 };

/* --- life ------------------------------------------------------------------------- */

void rubus__kronecker_hold(rubus__kronecker *k)
{
    atomic_fetch_add(&k->references, 1);
}

void rubus__kronecker_release(rubus__kronecker *k)
{
    if (k == NULL || atomic_fetch_sub(&k->references, 1) != 1) {
        return;
    }
    for (int32_t t = 0; k->term != NULL && t < k->nterm; t++) {
        rubus_array_destroy(k->term[t].coefficient);
    }
    for (int d = 0; d < 3; d++) {
        rubus_array_destroy(k->table[d]);
    }
    rubus_array_destroy(k->mask);
    rubus__free(k->term);
    rubus__free(k->version);
    rubus__free(k->labels);
    rubus__state_release(k->state);
    rubus_space_destroy(k->space);
    rubus__free(k);
}

/* --- terms ------------------------------------------------------------------------ */

static rubus_status coefficient_check(const char *what, const rubus__state *state,
                                      int32_t at, const rubus_kronecker_term *term)
{
    const rubus_array *c = term->coefficient;
    const rubus_context *other = c->storage->context;
    if (other != state->context) {
        char name[48];
        snprintf(name, sizeof(name), "the coefficient of term %d", (int)at);
        return rubus__foreign(what, name, other, "the space", state->context,
                              "copy it with rubus_array_copy");
    }
    if (c->type != state->type) {
        return rubus__fail(RUBUS_ETYPE,
                           "%s: the coefficient of term %d has elements of %s, the mesh "
                           "is of %s",
                           what, (int)at, rubus__type_name(c->type),
                           rubus__type_name(state->type));
    }
    if (c->count != state->shape.n[term->along]) {
        return rubus__fail(RUBUS_ESHAPE,
                           "%s: the coefficient of term %d has %lld element%s, axis %d "
                           "has %lld point%s",
                           what, (int)at, (long long)c->count, RUBUS__S(c->count),
                           (int)term->along, (long long)state->shape.n[term->along],
                           RUBUS__S(state->shape.n[term->along]));
    }
    return RUBUS_OK;
}

static rubus_status term_check(const char *what, const rubus__state *state, int32_t at,
                               const rubus_kronecker_term *term)
{
    if (term->kind < RUBUS_KRONECKER_MASS || term->kind > state->ndim) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: term %d is of kind %d; on a mesh with %d ax%ss it is "
                           "RUBUS_KRONECKER_MASS%s%s%s",
                           what, (int)at, (int)term->kind, (int)state->ndim,
                           state->ndim == 1 ? "i" : "e", ", _X",
                           state->ndim > 1 ? ", _Y" : "", state->ndim > 2 ? ", _Z" : "");
    }
    if (term->along < 0 || term->along >= state->ndim) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: term %d varies along axis %d of a mesh with %d; they "
                           "count from 0",
                           what, (int)at, (int)term->along, (int)state->ndim);
    }
    if (!isfinite(term->alpha)) {
        return rubus__fail(RUBUS_EINVAL, "%s: the factor of term %d is %g", what, (int)at,
                           term->alpha);
    }
    return term->coefficient == NULL ? RUBUS_OK
                                     : coefficient_check(what, state, at, term);
}

static rubus_status terms_take(const char *what, rubus__kronecker *k,
                               const rubus_kronecker_term *term, int32_t nterm)
{
    k->term = rubus__alloc_array((size_t)nterm, sizeof(*k->term));
    k->version = rubus__alloc_array((size_t)nterm, sizeof(*k->version));
    if (k->term == NULL || k->version == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus_status st = RUBUS_OK;
    for (int32_t t = 0; st == RUBUS_OK && t < nterm; t++) {
        st = term_check(what, k->state, t, &term[t]);
        if (st == RUBUS_OK) {
            k->term[t] = term[t];
            k->term[t].coefficient = NULL;
            k->nterm = t + 1;
        }
        if (st == RUBUS_OK && term[t].coefficient != NULL) {
            st = rubus_array_view(term[t].coefficient, 0,
                                  RUBUS_SHAPE(term[t].coefficient->count),
                                  &k->term[t].coefficient);
        }
    }
    return st;
}

void rubus__kronecker_sums(const rubus__kronecker *k, double out_sum[4])
{
    for (int kind = 0; kind < 4; kind++) {
        out_sum[kind] = 0;
    }
    for (int32_t t = 0; t < k->nterm; t++) {
        if (k->term[t].coefficient == NULL) {
            out_sum[k->term[t].kind] += k->term[t].alpha;
        }
    }
}

/* --- tables ----------------------------------------------------------------------- */

static rubus_status kernel_of(const rubus__kronecker *k, const char *name,
                              const rubus_kernel **out_kernel)
{
    return rubus__state_kernel(k->state, "kronecker.rk", name, out_kernel);
}

/* Whether a coefficient was written since the tables were made; notes what they are. */
static rubus_status coefficients_look(const char *what, rubus__kronecker *k,
                                      bool *out_changed)
{
    const rubus_status st = rubus__enter(k->state->context, what);
    if (st != RUBUS_OK) {
        return st;
    }
    for (int32_t t = 0; t < k->nterm; t++) {
        const rubus_array *c = k->term[t].coefficient;
        const uint64_t version = c == NULL ? 0 : c->storage->version;
        *out_changed = *out_changed || version != k->version[t];
        k->version[t] = version;
    }
    return rubus__leave(k->state->context, RUBUS_OK);
}

/* One table: factors that vary nowhere stand in that of the first axis. */
static rubus_status table_make(rubus__kronecker *k, int32_t d)
{
    double sum[4];
    rubus__kronecker_sums(k, sum);
    const rubus__axis *axis = k->state->axis[d];
    const rubus_kernel *kernel = NULL;
    rubus_status st = kernel_of(k, "table", &kernel);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_arg arg[7] = {rubus_arg_array(k->table[d]),
                        rubus_arg_array(axis->array[RUBUS_MESH_CELLS]),
                        rubus_arg_array(axis->array[RUBUS_MESH_SPACING])};
    for (int kind = 0; kind < 4; kind++) {
        arg[3 + kind] = rubus_arg_real(d == 0 ? sum[kind] : 0);
    }
    st = rubus_launch_args(kernel, arg, 7);
    if (st == RUBUS_OK) {
        st = kernel_of(k, "table_add", &kernel);
    }
    for (int32_t t = 0; st == RUBUS_OK && t < k->nterm; t++) {
        const rubus_kronecker_term *term = &k->term[t];
        if (term->coefficient != NULL && term->along == d) {
            const rubus_arg more[4] = {rubus_arg_array(k->table[d]),
                                       rubus_arg_array(term->coefficient),
                                       rubus_arg_integer(TABLE_SHARES + term->kind),
                                       rubus_arg_real(term->alpha)};
            st = rubus_launch_args(kernel, more, 4);
        }
    }
    return st;
}

rubus_status rubus__kronecker_update(const char *what, rubus__kronecker *k)
{
    rubus_status st = rubus__space_fresh(k->space, what);
    if (st != RUBUS_OK) {
        return st;
    }
    bool changed = !k->fresh;
    st = coefficients_look(what, k, &changed);
    if (st != RUBUS_OK || !changed) {
        return st;
    }
    k->fresh = false;
    for (int32_t d = 0; st == RUBUS_OK && d < k->state->ndim; d++) {
        st = table_make(k, d);
    }
    k->fresh = st == RUBUS_OK;
    return st;
}

/* --- the operator ----------------------------------------------------------------- */

rubus_status rubus__kronecker_one(rubus__kronecker *k, double alpha, rubus_array *x,
                                  double beta, rubus_array *y)
{
    const rubus_kernel *kernel = NULL;
    const char *name = k->on_mesh != NULL ? "apply_on" : "apply";
    const rubus_status st =
        rubus__state_kernel_nd(k->state, "kronecker.rk", name, &kernel);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_arg arg[8] = {rubus_arg_array(y), rubus_arg_array(x)};
    size_t n = 2;
    if (k->on_mesh != NULL) {
        arg[n++] = rubus_arg_array(k->on_mesh);
    }
    for (int32_t d = 0; d < k->state->ndim; d++) {
        arg[n++] = rubus_arg_array(k->table[d]);
    }
    arg[n++] = rubus_arg_real(alpha);
    arg[n++] = rubus_arg_real(beta);
    return rubus_launch_args(kernel, arg, n);
}

static rubus_status apply(void *self, double alpha, rubus_array *x, double beta,
                          rubus_array *y)
{
    rubus__kronecker *k = self;
    rubus_status st = rubus__kronecker_update("rubus_operator_apply", k);
    for (int32_t c = 0; st == RUBUS_OK && c < k->space->ncomponent; c++) {
        rubus_array from;
        rubus_array to;
        st = rubus__array_cut(x, c * k->space->count, k->space->shape, &from);
        if (st == RUBUS_OK) {
            st = rubus__array_cut(y, c * k->space->count, k->space->shape, &to);
        }
        if (st == RUBUS_OK) {
            st = rubus__kronecker_one(k, alpha, &from, beta, &to);
        }
    }
    return st;
}

/* The diagonal of one component, and 1 where it is constrained. */
static rubus_status diagonal_one(rubus__kronecker *k, rubus_array *d)
{
    const rubus_kernel *kernel = NULL;
    rubus_status st =
        rubus__state_kernel_nd(k->state, "kronecker.rk", "diagonal", &kernel);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_arg arg[4] = {rubus_arg_array(d)};
    size_t n = 1;
    for (int32_t axis = 0; axis < k->state->ndim; axis++) {
        arg[n++] = rubus_arg_array(k->table[axis]);
    }
    st = rubus_launch_args(kernel, arg, n);
    if (st != RUBUS_OK || k->on_mesh == NULL) {
        return st;
    }
    rubus_array line;
    rubus_array mask;
    const rubus_shape flat = RUBUS_SHAPE(k->space->count);
    st = kernel_of(k, "ones_on", &kernel);
    if (st == RUBUS_OK) {
        st = rubus__array_cut(d, 0, flat, &line);
    }
    if (st == RUBUS_OK) {
        st = rubus__array_cut(k->on_mesh, 0, flat, &mask);
    }
    const rubus_arg more[2] = {rubus_arg_array(&line), rubus_arg_array(&mask)};
    return st != RUBUS_OK ? st : rubus_launch_args(kernel, more, 2);
}

static rubus_status diagonal(void *self, rubus_array *d)
{
    rubus__kronecker *k = self;
    rubus_status st = rubus__kronecker_update("rubus_operator_diagonal", k);
    for (int32_t c = 0; st == RUBUS_OK && c < k->space->ncomponent; c++) {
        rubus_array to;
        st = rubus__array_cut(d, c * k->space->count, k->space->shape, &to);
        if (st == RUBUS_OK) {
            st = diagonal_one(k, &to);
        }
    }
    return st;
}

static rubus_status constraint(void *self, rubus_array **out_mask)
{
    const rubus__kronecker *k = self;
    *out_mask = k->mask != NULL ? k->mask : k->on_mesh;
    return rubus__space_fresh(k->space, "rubus_operator_constraint");
}

static void destroy(void *self)
{
    rubus__kronecker_release(self);
}

/* --- making ----------------------------------------------------------------------- */

/* The mask of the labels, for one component and for all. */
static rubus_status mask_make(const char *what, rubus__kronecker *k, const char *labels)
{
    rubus__labels parsed;
    k->labels = rubus__strdup(labels);
    if (k->labels == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus_status st = rubus__labels_parse(what, k->state, labels, &parsed);
    if (st == RUBUS_OK) {
        st = rubus__state_mask(k->state, &parsed, &k->on_mesh);
    }
    if (st != RUBUS_OK || k->space->ncomponent == 1) {
        return st;
    }
    st = rubus_array_create(k->state->context, RUBUS_BOOL, rubus_space_shape(k->space),
                            &k->mask);
    for (int32_t c = 0; st == RUBUS_OK && c < k->space->ncomponent; c++) {
        rubus_array to;
        st = rubus__array_cut(k->mask, c * k->space->count, k->space->shape, &to);
        if (st == RUBUS_OK) {
            st = rubus_array_copy(&to, k->on_mesh);
        }
    }
    return st;
}

/* Everything but the references; what is there already is released by the caller. */
static rubus_status kronecker_fill(const char *what, rubus__kronecker *k,
                                   const rubus_kronecker_term *term, int32_t nterm,
                                   const char *labels)
{
    rubus_status st = terms_take(what, k, term, nterm);
    if (st == RUBUS_OK && rubus__labels_any(labels)) {
        st = mask_make(what, k, labels);
    }
    for (int32_t d = 0; st == RUBUS_OK && d < k->state->ndim; d++) {
        st = rubus_array_create(k->state->context, k->state->type,
                                RUBUS_SHAPE(k->state->shape.n[d], TABLE_COLUMNS),
                                &k->table[d]);
    }
    return st;
}

rubus_status rubus_kronecker_create(rubus_space *space, const rubus_kronecker_term *term,
                                    int32_t nterm, const char *labels,
                                    rubus_operator **out_op)
{
    static const char what[] = "rubus_kronecker_create";
    rubus__state *state = NULL;
    rubus_status st =
        rubus__need(what, "out_op", out_op, "the list of terms", term, NULL);
    if (st == RUBUS_OK && nterm < 1) {
        st = rubus__fail(RUBUS_EINVAL, "%s: %d terms; at least 1", what, (int)nterm);
    }
    if (st == RUBUS_OK) {
        st = rubus__space_enter(space, what, &state);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__kronecker *k = rubus__alloc(sizeof(*k));
    if (k == NULL) {
        rubus__state_release(state);
        return RUBUS_ENOMEM;
    }
    atomic_init(&k->references, 1);
    rubus__space_hold(space);
    k->space = space;
    k->state = state;
    st = kronecker_fill(what, k, term, nterm, labels);
    const rubus_operator_ops ops = {.struct_size = sizeof(ops),
                                    .real = state->type,
                                    .symmetric = RUBUS_SYMMETRIC_YES,
                                    .apply = apply,
                                    .diagonal = diagonal,
                                    .constraint = constraint,
                                    .destroy = destroy};
    if (st == RUBUS_OK) {
        st = rubus_operator_create(state->context, space->count * space->ncomponent, &ops,
                                   k, out_op);
    }
    if (st != RUBUS_OK) {
        rubus__kronecker_release(k);
    }
    return st;
}

rubus_status rubus__kronecker_of(const char *what, const rubus_operator *op,
                                 rubus__kronecker **out_kronecker)
{
    if (op == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the operator is NULL", what);
    }
    if (op->ops.apply != apply) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: the operator is no Kronecker sum; make one with "
                           "rubus_kronecker_create",
                           what);
    }
    *out_kronecker = op->self;
    return RUBUS_OK;
}

rubus_status rubus_kronecker_set(rubus_operator *op, int32_t term, double alpha)
{
    static const char what[] = "rubus_kronecker_set";
    rubus__kronecker *k = NULL;
    const rubus_status st = rubus__kronecker_of(what, op, &k);
    if (st != RUBUS_OK) {
        return st;
    }
    if (term < 0 || term >= k->nterm || !isfinite(alpha)) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: factor %g of term %d; there are %d, counted from 0, and "
                           "factors are finite",
                           what, alpha, (int)term, (int)k->nterm);
    }
    k->fresh = k->fresh && k->term[term].alpha == alpha;
    k->term[term].alpha = alpha;
    return RUBUS_OK;
}
