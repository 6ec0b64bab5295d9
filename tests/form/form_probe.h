/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_FORM_PROBE_H
#define RUBUS_TESTS_FORM_PROBE_H
/*
 * For tests of forms on meshes: forms from a text, and matrices as an operator shows
 * them. Include after check.h and config.h.
 */
#include "tests/grid/grid_probe.h"

/* A mesh, spaces of one and two components on it, and a module. */
typedef struct form_probe {
    rubus_context *context;
    rubus_module *module;
    rubus_mesh *mesh;
    rubus_space *space;
    rubus_space *pair;
} form_probe;

static inline form_probe probe_open(int at, const char *text)
{
    form_probe p = {.context = backends_open(at)};
    p.module = backends_module(p.context, text, RUBUS_F64, 0);
    return p;
}

/* The mesh passes to the probe, with spaces of its present version; what it had before
 * goes. */
static inline void probe_mesh(form_probe *p, rubus_mesh *mesh)
{
    rubus_space_destroy(p->space);
    rubus_space_destroy(p->pair);
    if (p->mesh != mesh) {
        rubus_mesh_destroy(p->mesh);
    }
    p->mesh = mesh;
    ok(rubus_space_create(mesh, 1, &p->space));
    ok(rubus_space_create(mesh, 2, &p->pair));
}

static inline void probe_close(form_probe *p)
{
    rubus_space_destroy(p->space);
    rubus_space_destroy(p->pair);
    rubus_mesh_destroy(p->mesh);
    rubus_module_destroy(p->module);
    backends_finish(p->context);
}

/* A bilinear form on a space. */
static inline rubus_form *probe_form(const form_probe *p, const char *name,
                                     rubus_space *space)
{
    rubus_form *form = NULL;
    ok(rubus_form_create(p->module, name, space, space, &form));
    return form;
}

static inline rubus_form *probe_linear(const form_probe *p, const char *name,
                                       rubus_space *space)
{
    rubus_form *form = NULL;
    ok(rubus_form_create(p->module, name, NULL, space, &form));
    return form;
}

/* The matrix of an operator, row by row; malloc'ed. */
static inline double *probe_matrix(rubus_operator *op, const rubus_space *space)
{
    const int64_t n = rubus_operator_size(op);
    double *matrix = malloc((size_t)(n * n) * sizeof(double));
    double *unit = calloc((size_t)n, sizeof(double));
    rubus_array *y = NULL;
    ok(rubus_space_array(space, 0, &y));
    for (int64_t j = 0; j < n; j++) {
        unit[j] = 1;
        rubus_array *x = probe_array(space, unit);
        unit[j] = 0;
        ok(rubus_operator_apply(op, 1, x, 0, y));
        double *column = probe_numbers(y);
        for (int64_t i = 0; i < n; i++) {
            matrix[i * n + j] = column[i];
        }
        free(column);
        rubus_array_destroy(x);
    }
    rubus_array_destroy(y);
    free(unit);
    return matrix;
}

static inline void probe_matrix_is(rubus_operator *op, const rubus_space *space,
                                   const double *want, double tol, const char *what)
{
    const int64_t n = rubus_operator_size(op);
    double *got = probe_matrix(op, space);
    rubus_array *d = NULL;
    ok(rubus_space_array(space, 0, &d));
    ok(rubus_operator_diagonal(op, d));
    double *diagonal = probe_numbers(d);
    for (int64_t k = 0; k < n * n; k++) {
        ck_assert_msg(fabs(got[k] - want[k]) <= tol,
                      "%s: entry %lld, %lld is %.17g, not %g", what, (long long)(k / n),
                      (long long)(k % n), got[k], want[k]);
        ck_assert_msg(k % (n + 1) != 0 || fabs(diagonal[k / n] - want[k]) <= tol,
                      "%s: diagonal %lld is %.17g, not %g", what, (long long)(k / n),
                      diagonal[k / n], want[k]);
    }
    rubus_array_destroy(d);
    free(diagonal);
    free(got);
}

#endif
