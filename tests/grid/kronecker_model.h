/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_KRONECKER_MODEL_H
#define RUBUS_TESTS_KRONECKER_MODEL_H
/*
 * Kronecker sums as their definition has them: a small dense matrix for each axis and
 * term, multiplied entry by entry. Include after check.h and grid_probe.h.
 */

/* Entry (i, j) of the matrix of a mass term on an axis: the cell, on the diagonal. */
static inline double model_mass(const double *x, int64_t n, int64_t i, int64_t j)
{
    if (i != j) {
        return 0;
    }
    const double below = i > 0 ? x[i] - x[i - 1] : 0;
    const double above = i + 1 < n ? x[i + 1] - x[i] : 0;
    return n == 1 ? 1 : (below + above) / 2;
}

/* Entry (i, j) of the stiffness matrix; c (or NULL) between the points p - 1 and p. */
static inline double model_stiffness(const double *x, const double *c, int64_t n,
                                     int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t p = 1; p < n; p++) { // D' diag(h c) D, term by term
        const double h = x[p] - x[p - 1];
        const double di = i == p ? 1 / h : i == p - 1 ? -1 / h : 0;
        const double dj = j == p ? 1 / h : j == p - 1 ? -1 / h : 0;
        sum += di * dj * h * (c == NULL ? 1 : c[p]);
    }
    return sum;
}

/* What the model knows of a term. */
typedef struct model_term {
    rubus_kronecker_term term; /* its coefficient is not looked at */
    const double *c;           /* [points of the axis along], or NULL */
} model_term;

/* Entry (row, col) of a sum of terms on a mesh of ndim axes. */
static inline double model_entry(int ndim, const int64_t *n, double *const *x,
                                 const model_term *term, int nterm, int64_t row,
                                 int64_t col)
{
    double sum = 0;
    for (int t = 0; t < nterm; t++) {
        const model_term *m = &term[t];
        double product = m->term.alpha;
        int64_t r = row;
        int64_t s = col;
        for (int d = 0; d < ndim && product != 0; d++) {
            const int64_t i = r % n[d];
            const int64_t j = s % n[d];
            const double *c = m->term.along == d ? m->c : NULL;
            if (m->term.kind == d + 1) {
                product *= model_stiffness(x[d], c, n[d], i, j);
            } else {
                product *= model_mass(x[d], n[d], i, j) * (c == NULL ? 1 : c[i]);
            }
            r /= n[d];
            s /= n[d];
        }
        sum += product;
    }
    return sum;
}

/* y = A u, and size = |A| |u|. on[i]: the row of the identity; NULL: nowhere. */
static inline void model_apply(int ndim, const int64_t *n, double *const *x,
                               const model_term *term, int nterm, const uint8_t *on,
                               const double *u, double *y, double *size)
{
    int64_t count = 1;
    for (int d = 0; d < ndim; d++) {
        count *= n[d];
    }
    for (int64_t r = 0; r < count; r++) {
        y[r] = 0;
        size[r] = 0;
        for (int64_t c = 0; c < count; c++) {
            const double a = on != NULL && on[r] != 0
                                 ? (r == c ? 1.0 : 0.0)
                                 : model_entry(ndim, n, x, term, nterm, r, c);
            y[r] += a * u[c];
            size[r] += fabs(a * u[c]);
        }
    }
}

/* A mesh of random axes, and its points. */
static inline rubus_mesh *model_mesh(rubus_context *context, int32_t type, int ndim,
                                     const int64_t *n, double **out_x)
{
    rubus_mesh_desc desc = {.struct_size = sizeof desc, .ndim = ndim, .type = type};
    for (int d = 0; d < ndim; d++) {
        desc.axis[d] = (rubus_axis_desc){
            .lower = d, .upper = d + 1.5, .n = n[d], .seed = 11 + (uint64_t)d};
    }
    rubus_mesh *mesh = NULL;
    ok(rubus_mesh_create(context, &desc, &mesh));
    for (int d = 0; d < ndim; d++) {
        out_x[d] = malloc((size_t)n[d] * sizeof(double));
        ok(rubus_mesh_points(mesh, d, out_x[d], n[d]));
    }
    return mesh;
}

/* Numbers in -1 .. 1 that do not repeat. */
static inline double model_number(int64_t i)
{
    return sin(1.7 * (double)i + 0.3);
}

static inline rubus_array *model_array(const rubus_space *space, int64_t first)
{
    rubus_array *array = NULL;
    ok(rubus_space_array(space, 0, &array));
    const int64_t n = rubus_array_count(array);
    rubus_array_destroy(array);
    double *host = malloc((size_t)n * sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        host[i] = model_number(i + first);
    }
    array = probe_array(space, host);
    free(host);
    return array;
}

#define kron_term(k, a)                                                                  \
    {                                                                                    \
        .kind = RUBUS_KRONECKER_##k, .alpha = (a)                                        \
    }

#endif
