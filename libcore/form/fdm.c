/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Systems with Kronecker sums, by fast diagonalisation. On each axis K Q = H Q L with
 * Q'H Q = 1, so that A = sum of c H x .. K .. x H has the inverse
 *
 *   (Q x Q x Q) (mass + sum of c L)^-1 (Q' x Q' x Q'),
 *
 * products of a small dense matrix along one axis and a division at each point.
 * Constrained faces are left out of the matrices, and their values are brought to the
 * right-hand side by one application of A.
 */
#include "config.h"

#include "libcore/form/kronecker_inner.h"

#include <math.h>

enum { TILE = 8 }; /* points that an item of the kernels makes */

/* A smaller part of the largest eigenvalue counts as 0: rounding leaves as much. */
#define NOTHING 1e-13

/* One axis without its constrained ends. */
typedef struct fdm_axis {
    int64_t n;            /* points */
    int64_t first;        /* of those that are not constrained */
    int64_t m;            /* their number */
    double *value;        /* [m] eigenvalues */
    rubus_array *lambda;  /* [m] the same, on the device */
    rubus_array *forward; /* [m, m] Q' */
    rubus_array *back;    /* [m, m] Q */
} fdm_axis;

struct rubus_fdm {
    rubus__object object;
    rubus__kronecker *kronecker; /* held */
    fdm_axis axis[3];
    rubus_array *scratch[2]; /* [count] */
    bool empty;              /* every point is constrained */
    bool checked;            /* with these factors nothing is divided by 0 */
    double sum[4];
};

/* --- eigenvectors of an axis ------------------------------------------------------ */

/* The matrix that is similar to H^-1 K, on the points of an axis that are left. */
static void matrix_make(const double *x, const fdm_axis *a, double *cell, double *d,
                        double *e)
{
    for (int64_t i = 0; i < a->m; i++) {
        const int64_t p = i + a->first;
        const double below = p > 0 ? x[p] - x[p - 1] : 0;
        const double above = p + 1 < a->n ? x[p + 1] - x[p] : 0;
        cell[i] = a->n == 1 ? 1 : (below + above) / 2;
        d[i] = ((p > 0 ? 1 / below : 0) + (p + 1 < a->n ? 1 / above : 0)) / cell[i];
        e[i] = p + 1 < a->n ? -1 / above : 0;
    }
    for (int64_t i = 0; i + 1 < a->m; i++) {
        e[i] /= sqrt(cell[i]) * sqrt(cell[i + 1]);
    }
}

static rubus_status upload(const rubus__state *state, rubus_shape shape,
                           const double *from, int64_t n, rubus_array **out_array)
{
    return rubus__upload(state->context, state->type, shape, from, n, out_array);
}

/* Q and its transpose, from eigenvectors z of the similar matrix. */
static rubus_status vectors_upload(const rubus__state *state, const double *cell,
                                   double *z, fdm_axis *a)
{
    const int64_t m = a->m;
    const rubus_shape square = RUBUS_SHAPE(m, m);
    for (int64_t k = 0; k < m; k++) {
        for (int64_t i = 0; i < m; i++) {
            z[i + k * m] /= sqrt(cell[i]);
        }
    }
    rubus_status st = upload(state, square, z, m * m, &a->back);
    for (int64_t k = 0; k < m; k++) {
        for (int64_t i = 0; i < k; i++) {
            const double swapped = z[i + k * m];
            z[i + k * m] = z[k + i * m];
            z[k + i * m] = swapped;
        }
    }
    if (st == RUBUS_OK) {
        st = upload(state, square, z, m * m, &a->forward);
    }
    return st != RUBUS_OK ? st : upload(state, RUBUS_SHAPE(m), a->value, m, &a->lambda);
}

static rubus_status axis_solve(const char *what, const rubus__state *state, int32_t d,
                               fdm_axis *a, double *cell, double *e, double *z)
{
    matrix_make(state->axis[d]->x, a, cell, a->value, e);
    if (!rubus__tridiagonal_eigen(a->m, a->value, e, z)) {
        return rubus__fail(RUBUS_ELIMIT,
                           "%s: the eigenvalues of axis %d cannot be found: its spacings "
                           "are too small, or too far apart",
                           what, (int)d);
    }
    return vectors_upload(state, cell, z, a);
}

/* Axes that the mesh has not count as one point of eigenvalue 0. */
static rubus_status axis_make(const char *what, const rubus__state *state, int32_t d,
                              uint32_t faces, fdm_axis *a)
{
    a->n = d < state->ndim ? state->axis[d]->n : 1;
    a->first = (faces >> (unsigned)(2 * d) & 1u) != 0 ? 1 : 0;
    const int64_t last = (faces >> (unsigned)(2 * d + 1) & 1u) != 0 ? a->n - 1 : a->n;
    a->m = last > a->first ? last - a->first : 0;
    a->value = rubus__alloc_array((size_t)a->m + 1, sizeof(*a->value));
    if (a->value == NULL) {
        return RUBUS_ENOMEM;
    }
    if (d >= state->ndim || a->m == 0) {
        return upload(state, RUBUS_SHAPE(1), a->value, 1, &a->lambda);
    }
    double *cell = rubus__alloc_array((size_t)a->m, sizeof(*cell));
    double *e = rubus__alloc_array((size_t)a->m, sizeof(*e));
    double *z = rubus__alloc_array((size_t)a->m, (size_t)a->m * sizeof(*z));
    rubus_status st = RUBUS_ENOMEM;
    if (cell != NULL && e != NULL && z != NULL) {
        st = axis_solve(what, state, d, a, cell, e, z);
    }
    rubus__free(cell);
    rubus__free(e);
    rubus__free(z);
    return st;
}

/* --- making ----------------------------------------------------------------------- */

void rubus_fdm_destroy(rubus_fdm *fdm)
{
    if (fdm == NULL) {
        return;
    }
    rubus__object_remove(fdm->kronecker->state->context, &fdm->object);
    for (int d = 0; d < 3; d++) {
        rubus__free(fdm->axis[d].value);
        rubus_array_destroy(fdm->axis[d].lambda);
        rubus_array_destroy(fdm->axis[d].forward);
        rubus_array_destroy(fdm->axis[d].back);
    }
    rubus_array_destroy(fdm->scratch[0]);
    rubus_array_destroy(fdm->scratch[1]);
    rubus__kronecker_release(fdm->kronecker);
    rubus__free(fdm);
}

static void destroy_object(void *self)
{
    rubus_fdm_destroy(self);
}

static rubus_status fdm_fill(const char *what, rubus_fdm *fdm)
{
    const rubus__kronecker *k = fdm->kronecker;
    uint32_t faces = 0;
    rubus_status st = k->labels == NULL
                          ? RUBUS_OK
                          : rubus__labels_faces(what, k->state, k->labels, &faces);
    for (int32_t d = 0; st == RUBUS_OK && d < 3; d++) {
        st = axis_make(what, k->state, d, faces, &fdm->axis[d]);
        fdm->empty = fdm->empty || fdm->axis[d].m == 0;
    }
    for (int i = 0; st == RUBUS_OK && i < 2; i++) {
        st = rubus_array_create(k->state->context, k->state->type,
                                RUBUS_SHAPE(k->space->count), &fdm->scratch[i]);
    }
    return st;
}

rubus_status rubus_fdm_create(rubus_operator *op, rubus_fdm **out_fdm)
{
    static const char what[] = "rubus_fdm_create";
    rubus__kronecker *k = NULL;
    if (out_fdm == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: out_fdm is NULL", what);
    }
    rubus_status st = rubus__kronecker_of(what, op, &k);
    if (st == RUBUS_OK) {
        st = rubus__kronecker_update(what, k);
    }
    for (int32_t t = 0; st == RUBUS_OK && t < k->nterm; t++) {
        if (k->term[t].coefficient != NULL) {
            st = rubus__fail(RUBUS_EINVAL,
                             "%s: term %d has a coefficient that varies along an axis; "
                             "use rubus_solve_cg",
                             what, (int)t);
        }
    }
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_fdm *fdm = rubus__alloc(sizeof(*fdm));
    if (fdm == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus__kronecker_hold(k);
    fdm->kronecker = k;
    st = fdm_fill(what, fdm);
    if (st != RUBUS_OK) {
        rubus_fdm_destroy(fdm);
        return st;
    }
    rubus__object_add(k->state->context, &fdm->object, RUBUS__RANK_OPERATOR,
                      destroy_object, fdm);
    *out_fdm = fdm;
    return RUBUS_OK;
}

/* --- solving ---------------------------------------------------------------------- */

/* Refuses factors with which some eigenvalue of A is 0. */
static rubus_status singular_check(const char *what, rubus_fdm *fdm)
{
    double sum[4];
    rubus__kronecker_sums(fdm->kronecker, sum);
    bool same = fdm->checked;
    for (int kind = 0; kind < 4; kind++) {
        same = same && sum[kind] == fdm->sum[kind];
    }
    if (same || fdm->empty) {
        return RUBUS_OK;
    }
    const fdm_axis *a = fdm->axis;
    double least = (double)INFINITY;
    double most = 0;
    for (int64_t k = 0; k < a[2].m; k++) {
        for (int64_t j = 0; j < a[1].m; j++) {
            const double rest = sum[0] + sum[2] * a[1].value[j] + sum[3] * a[2].value[k];
            for (int64_t i = 0; i < a[0].m; i++) {
                const double v = fabs(rest + sum[1] * a[0].value[i]);
                least = v < least ? v : least;
                most = v > most ? v : most;
            }
        }
    }
    if (!(least > NOTHING * most)) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: the operator is singular: its eigenvalues are from %g to "
                           "%g; add mass, or constrain a face",
                           what, least, most);
    }
    for (int kind = 0; kind < 4; kind++) {
        fdm->sum[kind] = sum[kind];
    }
    fdm->checked = true;
    return RUBUS_OK;
}

/* to = q from along axis d, where `from` has size[d] elements and `to` gets n. */
static rubus_status contract(const rubus_fdm *fdm, int d, bool forward, rubus_array *from,
                             rubus_array *to, int64_t size[3])
{
    const fdm_axis *axis = &fdm->axis[d];
    const rubus__state *state = fdm->kronecker->state;
    int64_t before = 1;
    int64_t behind = 1;
    for (int e = 0; e < 3; e++) {
        before *= e < d ? size[e] : 1;
        behind *= e > d ? size[e] : 1;
    }
    const bool first = before == 1;
    const int64_t n = forward ? axis->m : axis->n;
    rubus_array x;
    rubus_array y;
    rubus_status st = rubus__array_cut(
        from, 0,
        first ? RUBUS_SHAPE(size[d], behind) : RUBUS_SHAPE(before, size[d], behind), &x);
    if (st == RUBUS_OK) {
        st = rubus__array_cut(
            to, 0, first ? RUBUS_SHAPE(n, behind) : RUBUS_SHAPE(before, n, behind), &y);
    }
    const rubus_kernel *kernel = NULL;
    if (st == RUBUS_OK) {
        st = rubus__state_kernel(state, "kronecker.rk",
                                 first ? "contract_first" : "contract", &kernel);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    const int64_t tiled = first ? n : before;
    size[d] = n;
    const rubus_arg arg[6] = {rubus_arg_array(&y),
                              rubus_arg_array(forward ? axis->forward : axis->back),
                              rubus_arg_array(&x),
                              rubus_arg_integer(forward ? 0 : axis->first),
                              rubus_arg_integer(forward ? axis->first : 0),
                              rubus_arg_integer((tiled + TILE - 1) / TILE)};
    return rubus_launch_args(kernel, arg, 6);
}

static rubus_status divide(const rubus_fdm *fdm, rubus_array *x)
{
    const fdm_axis *a = fdm->axis;
    const rubus_kernel *kernel = NULL;
    rubus_array box;
    rubus_status st = rubus__array_cut(x, 0, RUBUS_SHAPE(a[0].m, a[1].m, a[2].m), &box);
    if (st == RUBUS_OK) {
        st =
            rubus__state_kernel(fdm->kronecker->state, "kronecker.rk", "divide", &kernel);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_arg arg[8] = {rubus_arg_array(&box)};
    for (int d = 0; d < 3; d++) {
        arg[1 + d] = rubus_arg_array(a[d].lambda);
    }
    for (int kind = 0; kind < 4; kind++) {
        arg[4 + kind] = rubus_arg_real(fdm->sum[kind]);
    }
    return rubus_launch_args(kernel, arg, 8);
}

/* u = the inverse of the part that is not constrained, times `from`; which may be
 * scratch[0]. */
static rubus_status invert(const rubus_fdm *fdm, rubus_array *from, rubus_array *u)
{
    const int32_t ndim = fdm->kronecker->state->ndim;
    int64_t size[3] = {fdm->axis[0].n, fdm->axis[1].n, fdm->axis[2].n};
    rubus_array *now = from;
    int next = 1;
    rubus_status st = RUBUS_OK;
    for (int d = 0; st == RUBUS_OK && d < ndim; d++) {
        st = contract(fdm, d, true, now, fdm->scratch[next], size);
        now = fdm->scratch[next];
        next = 1 - next;
    }
    if (st == RUBUS_OK) {
        st = divide(fdm, now);
    }
    for (int d = 0; st == RUBUS_OK && d < ndim; d++) {
        rubus_array *to = d + 1 == ndim ? u : fdm->scratch[next];
        st = contract(fdm, d, false, now, to, size);
        now = to;
        next = 1 - next;
    }
    return st;
}

/* u = F at the constrained points; the arrays are lines. */
static rubus_status hold(const rubus_fdm *fdm, rubus_array *F, rubus_array *u)
{
    const rubus__kronecker *k = fdm->kronecker;
    const rubus_kernel *kernel = NULL;
    rubus_array mask;
    rubus_status st = rubus__state_kernel(k->state, "krylov.rk", "hold", &kernel);
    if (st == RUBUS_OK) {
        st = rubus__array_cut(k->on_mesh, 0, RUBUS_SHAPE(k->space->count), &mask);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus_arg arg[3] = {rubus_arg_array(u), rubus_arg_array(F),
                              rubus_arg_array(&mask)};
    return rubus_launch_args(kernel, arg, 3);
}

/* With constraints: u = F there, and the rest from F - A u. */
static rubus_status solve_held(const rubus_fdm *fdm, rubus_array *F, rubus_array *u)
{
    rubus__kronecker *k = fdm->kronecker;
    rubus_array held;
    rubus_array rest;
    rubus_status st = rubus_array_fill(u, 0);
    if (st == RUBUS_OK) {
        st = hold(fdm, F, u);
    }
    if (st != RUBUS_OK || fdm->empty) {
        return st;
    }
    st = rubus_array_copy(fdm->scratch[0], F);
    if (st == RUBUS_OK) {
        st = rubus__array_cut(u, 0, k->space->shape, &held);
    }
    if (st == RUBUS_OK) {
        st = rubus__array_cut(fdm->scratch[0], 0, k->space->shape, &rest);
    }
    if (st == RUBUS_OK) {
        st = rubus__kronecker_one(k, -1, &held, 1, &rest);
    }
    if (st == RUBUS_OK) {
        st = invert(fdm, fdm->scratch[0], u);
    }
    return st != RUBUS_OK ? st : hold(fdm, F, u);
}

static rubus_status solve_check(const char *what, rubus_fdm *fdm, const rubus_array *F,
                                const rubus_array *u)
{
    if (fdm == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the fdm is NULL", what);
    }
    rubus__kronecker *k = fdm->kronecker;
    rubus_status st = rubus__kronecker_update(what, k);
    if (st == RUBUS_OK) {
        st = rubus__space_check(k->space, what, "F", F, false);
    }
    if (st == RUBUS_OK) {
        st = rubus__space_check(k->space, what, "u", u, false);
    }
    if (st == RUBUS_OK && rubus__array_overlap(F, u)) {
        st = rubus__fail(RUBUS_EALIAS,
                         "%s: F and u share memory; pass two different arrays", what);
    }
    return st != RUBUS_OK ? st : singular_check(what, fdm);
}

rubus_status rubus_fdm_solve(rubus_fdm *fdm, rubus_array *F, rubus_array *u)
{
    rubus_status st = solve_check("rubus_fdm_solve", fdm, F, u);
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus_space *space = fdm->kronecker->space;
    const rubus_shape flat = RUBUS_SHAPE(space->count);
    for (int32_t c = 0; st == RUBUS_OK && c < space->ncomponent; c++) {
        rubus_array from;
        rubus_array to;
        st = rubus__array_cut(F, c * space->count, flat, &from);
        if (st == RUBUS_OK) {
            st = rubus__array_cut(u, c * space->count, flat, &to);
        }
        if (st == RUBUS_OK) {
            st = fdm->kronecker->on_mesh != NULL ? solve_held(fdm, &from, &to)
                                                 : invert(fdm, &from, &to);
        }
    }
    return st;
}
