/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inner products and norms: one kernel of shaders/inner_*d.rk for each component, of
 * which one number comes back. Masks are multiplied in by a choice, so that what stands
 * off the labels, NaN too, is not met.
 */
#include "config.h"

#include "libcore/grid/grid.h"

#include <math.h>
#include <string.h>

/* What a call needs, found and checked. */
typedef struct products {
    const char *what;
    const rubus_space *space;
    rubus__state *state; /* to be released */
    rubus_array *mask;   /* NULL: all points */
} products;

/* A launch that grows. */
typedef struct arguments {
    rubus_arg arg[16];
    size_t n;
} arguments;

static void add_array(arguments *a, rubus_array *array)
{
    a->arg[a->n++] = rubus_arg_array(array);
}

/* The same array of every axis. */
static void add_axes(arguments *a, const rubus__state *state, int which)
{
    for (int32_t d = 0; d < state->ndim; d++) {
        add_array(a, state->axis[d]->array[which]);
    }
}

static void add_mask(arguments *a, const products *p)
{
    if (p->mask != NULL) {
        add_array(a, p->mask);
    }
}

/* Checks the arrays (v may be NULL: there is one) and finds the mask. */
static rubus_status begin(const char *what, const rubus_space *space,
                          const rubus_array *u, const rubus_array *v, bool pair,
                          const char *labels, const double *value, products *out)
{
    *out = (products){.what = what, .space = space};
    if (value == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: value is NULL", what);
    }
    rubus_status st = rubus__space_enter(space, what, &out->state);
    if (st != RUBUS_OK) {
        return st;
    }
    st = rubus__space_check(space, what, "u", u, false);
    if (st == RUBUS_OK && pair) {
        st = rubus__space_check(space, what, "v", v, false);
    }
    if (st == RUBUS_OK && rubus__labels_any(labels)) {
        rubus__labels parsed;
        st = rubus__labels_parse(what, out->state, labels, &parsed);
        if (st == RUBUS_OK) {
            st = rubus__state_mask(out->state, &parsed, &out->mask);
        }
    }
    if (st != RUBUS_OK) {
        rubus__state_release(out->state);
    }
    return st;
}

/* Kernel `name` of the dimension, in its masked form where there is a mask. */
static rubus_status find_kernel(const products *p, const char *name,
                                const rubus_kernel **out_kernel)
{
    static const char *const source[3] = {"inner_1d.rk", "inner_2d.rk", "inner_3d.rk"};
    char full[40];
    rubus__snprintf(full, sizeof(full), "%s%s", name, p->mask != NULL ? "_on" : "");
    return rubus__state_kernel(p->state, source[p->state->ndim - 1], full, out_kernel);
}

/* Launches with the result first, then the windows, the mask, and `rest`. */
static rubus_status run(const products *p, const char *name, rubus_array *u,
                        rubus_array *v, const arguments *rest, double *value)
{
    const rubus_kernel *kernel = NULL;
    const rubus_status st = find_kernel(p, name, &kernel);
    if (st != RUBUS_OK) {
        return st;
    }
    arguments a = {.n = 0};
    a.arg[a.n++] = rubus_arg_result_f64(value);
    add_array(&a, u);
    if (v != NULL) {
        add_array(&a, v);
    }
    add_mask(&a, p);
    memcpy(&a.arg[a.n], rest->arg, rest->n * sizeof(rest->arg[0]));
    a.n += rest->n;
    return rubus_launch_args(kernel, a.arg, a.n);
}

/* Folds run() over the components: their sum, or the largest. Ends the call. */
static rubus_status over_components(products *p, const char *name, rubus_array *u,
                                    rubus_array *v, const arguments *rest, bool largest,
                                    double *value)
{
    double all = 0;
    rubus_status st = RUBUS_OK;
    for (int32_t k = 0; st == RUBUS_OK && k < p->space->ncomponent; k++) {
        rubus_array *window[2] = {NULL, NULL};
        double one = 0;
        st = rubus__space_window(p->space, u, k, &window[0]);
        if (st == RUBUS_OK && v != NULL) {
            st = rubus__space_window(p->space, v, k, &window[1]);
        }
        if (st == RUBUS_OK) {
            st = run(p, name, window[0], window[1], rest, &one);
        }
        all = !largest ? all + one : one > all || isnan(one) ? one : all;
        rubus_array_destroy(window[0]);
        rubus_array_destroy(window[1]);
    }
    if (st == RUBUS_OK) {
        *value = all;
    }
    rubus__state_release(p->state);
    return st;
}

/* --- inner products --------------------------------------------------------------- */

static rubus_status check_axes(const char *what, const rubus_space *space, uint32_t axes)
{
    const int32_t ndim = space->shape.rank;
    if ((axes >> (unsigned)ndim) != 0) {
        return rubus__fail(RUBUS_EINVAL, "%s: axes 0x%x of a mesh with %d ax%ss", what,
                           (unsigned)axes, (int)ndim, ndim == 1 ? "i" : "e");
    }
    return RUBUS_OK;
}

static rubus_status one_component(const products *p)
{
    if (p->space->ncomponent == 1) {
        return RUBUS_OK;
    }
    rubus__state_release(p->state);
    return rubus__fail(RUBUS_EINVAL,
                       "%s: the space has %d components; take one with "
                       "rubus_space_component and a space of one",
                       p->what, (int)p->space->ncomponent);
}

static rubus_status inner(const char *what, const rubus_space *space, uint32_t axes,
                          rubus_array *u, rubus_array *v, const char *labels,
                          double *value)
{
    products p;
    rubus_status st = begin(what, space, u, v, true, labels, value, &p);
    if (st == RUBUS_OK && axes != 0) {
        st = one_component(&p);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    arguments rest = {.n = 0};
    for (int32_t d = 0; d < p.state->ndim; d++) {
        const bool staggered = (axes >> (unsigned)d & 1u) != 0;
        add_array(
            &rest,
            p.state->axis[d]->array[staggered ? RUBUS_MESH_ALIGNED : RUBUS_MESH_CELLS]);
    }
    return over_components(&p, "inner", u, v, &rest, false, value);
}

rubus_status rubus_inner_axes(const rubus_space *space, uint32_t axes, rubus_array *u,
                              rubus_array *v, const char *labels, double *value)
{
    static const char what[] = "rubus_inner_axes";
    if (space != NULL) {
        const rubus_status st = check_axes(what, space, axes);
        if (st != RUBUS_OK) {
            return st;
        }
    }
    return inner(what, space, axes, u, v, labels, value);
}

rubus_status rubus_inner_h(const rubus_space *space, rubus_array *u, rubus_array *v,
                           const char *labels, double *value)
{
    return inner("rubus_inner_h", space, 0, u, v, labels, value);
}

static rubus_status inner_plus(const char *what, const rubus_space *space, rubus_array *u,
                               rubus_array *v, const char *labels, double *value)
{
    products p;
    rubus_status st = begin(what, space, u, v, true, labels, value, &p);
    if (st == RUBUS_OK) {
        st = one_component(&p);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    arguments rest = {.n = 0};
    add_axes(&rest, p.state, RUBUS_MESH_CELLS);
    add_axes(&rest, p.state, RUBUS_MESH_ALIGNED);
    return over_components(&p, "inner_plus", u, v, &rest, false, value);
}

rubus_status rubus_inner_plus(const rubus_space *space, rubus_array *u, rubus_array *v,
                              const char *labels, double *value)
{
    return inner_plus("rubus_inner_plus", space, u, v, labels, value);
}

/* --- norms ------------------------------------------------------------------------ */

/* The root of what a call has found. */
static rubus_status root(rubus_status st, const double *square, double *value)
{
    if (st == RUBUS_OK) {
        *value = sqrt(*square);
    }
    return st;
}

rubus_status rubus_norm_h(const rubus_space *space, rubus_array *u, const char *labels,
                          double *value)
{
    double square = 0;
    double *out = value == NULL ? NULL : &square;
    return root(inner("rubus_norm_h", space, 0, u, u, labels, out), &square, value);
}

rubus_status rubus_norm_plus(const rubus_space *space, rubus_array *u, const char *labels,
                             double *value)
{
    double square = 0;
    double *out = value == NULL ? NULL : &square;
    return root(inner_plus("rubus_norm_plus", space, u, u, labels, out), &square, value);
}

/* The seminorm, or the norm if `whole`. */
static rubus_status first_order(const char *what, const rubus_space *space,
                                rubus_array *u, const char *labels, bool whole,
                                double *value)
{
    products p;
    double square = 0;
    const rubus_status st = begin(what, space, u, NULL, false, labels, value, &p);
    if (st != RUBUS_OK) {
        return st;
    }
    arguments rest = {.n = 0};
    add_axes(&rest, p.state, RUBUS_MESH_CELLS);
    add_axes(&rest, p.state, RUBUS_MESH_ALIGNED);
    add_axes(&rest, p.state, RUBUS_MESH_SPACING);
    return root(over_components(&p, whole ? "norm_1h" : "seminorm_1h", u, NULL, &rest,
                                false, &square),
                &square, value);
}

rubus_status rubus_seminorm_1h(const rubus_space *space, rubus_array *u,
                               const char *labels, double *value)
{
    return first_order("rubus_seminorm_1h", space, u, labels, false, value);
}

rubus_status rubus_norm_1h(const rubus_space *space, rubus_array *u, const char *labels,
                           double *value)
{
    return first_order("rubus_norm_1h", space, u, labels, true, value);
}

rubus_status rubus_norm_inf(const rubus_space *space, rubus_array *u, const char *labels,
                            double *value)
{
    products p;
    const rubus_status st =
        begin("rubus_norm_inf", space, u, NULL, false, labels, value, &p);
    const arguments rest = {.n = 0};
    return st != RUBUS_OK ? st
                          : over_components(&p, "norm_inf", u, NULL, &rest, true, value);
}
