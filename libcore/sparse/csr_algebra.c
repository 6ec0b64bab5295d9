/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices from matrices: products, sums, diagonals, on the host from the mirrors. A row
 * of the result is a sum of rows, gathered in dense accumulators; one pass over all rows
 * counts the entries, a second one writes them. Source: Gustavson, Two fast algorithms
 * for sparse matrices, ACM TOMS 4 (1978).
 */
#include "config.h"

#include "libcore/sparse/csr.h"

#include <string.h>

/* What a row of the result is the sum of: rows of b with the entries of row i of a as
 * factors; or row i of a and row i of b. */
typedef struct sum_of {
    const rubus__host_csr *a;
    const rubus__host_csr *b;
    bool product;
    double alpha; /* of a sum */
    double beta;
} sum_of;

/* One row of the result. */
typedef struct gathered {
    int64_t *seen; /* [ncol] the row, from 1, in which a column was met last */
    double *value; /* [ncol] */
    int64_t *col;  /* [ncol] columns that were met */
    int64_t n;
} gathered;

static void gathered_fini(gathered *g)
{
    rubus__free(g->seen);
    rubus__free(g->value);
    rubus__free(g->col);
}

static rubus_status gathered_init(gathered *g, int64_t ncol)
{
    g->n = 0;
    g->seen = rubus__alloc_array((size_t)ncol, sizeof(*g->seen));
    g->value = rubus__alloc_array((size_t)ncol, sizeof(*g->value));
    g->col = rubus__alloc_array((size_t)ncol, sizeof(*g->col));
    if (g->seen == NULL || g->value == NULL || g->col == NULL) {
        gathered_fini(g);
        return RUBUS_ENOMEM;
    }
    return RUBUS_OK;
}

static double value_of(const rubus__host_csr *m, int64_t k)
{
    return m->real == RUBUS_F32 ? (double)((const float *)m->nzval)[k]
                                : ((const double *)m->nzval)[k];
}

/* Adds a row of m, times a factor, to row `stamp` - 1 of the result. */
static void gather_row(gathered *g, const rubus__host_csr *m, int64_t row, double factor,
                       int64_t stamp)
{
    const int64_t end = rubus__index_get(m->rowptr, m->index, row + 1);
    for (int64_t k = rubus__index_get(m->rowptr, m->index, row); k < end; k++) {
        const int64_t col = rubus__index_get(m->colval, m->index, k);
        if (g->seen[col] != stamp) {
            g->seen[col] = stamp;
            g->value[col] = 0;
            g->col[g->n++] = col;
        }
        g->value[col] += factor * value_of(m, k);
    }
}

/* `stamp` is row + 1 in the first pass, and goes on from there in the second. */
static void gather(gathered *g, const sum_of *s, int64_t row, int64_t stamp)
{
    g->n = 0;
    if (!s->product) {
        gather_row(g, s->a, row, s->alpha, stamp);
        gather_row(g, s->b, row, s->beta, stamp);
        return;
    }
    const int64_t end = rubus__index_get(s->a->rowptr, s->a->index, row + 1);
    for (int64_t k = rubus__index_get(s->a->rowptr, s->a->index, row); k < end; k++) {
        gather_row(g, s->b, rubus__index_get(s->a->colval, s->a->index, k),
                   value_of(s->a, k), stamp);
    }
}

/* Room for the entries that the rows turned out to have. */
static rubus_status host_make(const char *what, rubus_context *context,
                              rubus__host_csr *host, const void *out)
{
    rubus_status st = rubus__csr_check_sizes(what, context, host, out);
    if (st != RUBUS_OK) {
        return st;
    }
    const size_t index = rubus__type_size(host->index);
    host->rowptr = rubus__alloc_array((size_t)host->nrow + 1, index);
    host->colval = rubus__alloc_array((size_t)host->nnz, index);
    host->nzval = rubus__alloc_array((size_t)host->nnz, rubus__type_size(host->real));
    if (host->rowptr == NULL || host->colval == NULL || host->nzval == NULL) {
        rubus__host_csr_fini(host);
        return RUBUS_ENOMEM;
    }
    return RUBUS_OK;
}

/* The rows of the result, unsorted. */
static void host_write(gathered *g, const sum_of *s, rubus__host_csr *host)
{
    int64_t at = 0;
    for (int64_t row = 0; row < host->nrow; row++) {
        gather(g, s, row, host->nrow + row + 1);
        for (int64_t k = 0; k < g->n; k++, at++) {
            rubus__index_set(host->colval, host->index, at, g->col[k]);
            const double value = g->value[g->col[k]];
            if (host->real == RUBUS_F32) {
                ((float *)host->nzval)[at] = (float)value;
            } else {
                ((double *)host->nzval)[at] = value;
            }
        }
        rubus__index_set(host->rowptr, host->index, row + 1, at);
    }
}

/* The result, whose types and sizes are set. */
static rubus_status combine(const char *what, rubus_context *context, const sum_of *s,
                            rubus__host_csr *host, rubus_csr **out_csr)
{
    gathered g;
    rubus_status st = gathered_init(&g, host->ncol);
    if (st != RUBUS_OK) {
        return st;
    }
    for (int64_t row = 0; row < host->nrow; row++) {
        gather(&g, s, row, row + 1);
        host->nnz += g.n;
    }
    st = host_make(what, context, host, out_csr);
    if (st == RUBUS_OK) {
        host_write(&g, s, host);
        st = rubus__host_sort_rows(host);
        if (st != RUBUS_OK) {
            rubus__host_csr_fini(host);
        }
    }
    gathered_fini(&g);
    return st != RUBUS_OK ? st : rubus__csr_take(context, host, out_csr);
}

/* Both of one context, and of the same types. */
static rubus_status pair_check(const char *what, const rubus_csr *a, const rubus_csr *b,
                               const void *out)
{
    if (a == NULL || b == NULL || out == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what,
                           a == NULL   ? "the first matrix"
                           : b == NULL ? "the second matrix"
                                       : "the output argument");
    }
    if (a->context != b->context) {
        return rubus__foreign(what, "the first matrix", a->context, "the second",
                              b->context, NULL);
    }
    const rubus__host_csr *m = &a->mirror;
    const rubus__host_csr *n = &b->mirror;
    if (m->index != n->index || m->real != n->real) {
        return rubus__fail(RUBUS_ETYPE,
                           "%s: one matrix has indices of %s and values of %s, the other "
                           "%s and %s; they must be the same",
                           what, rubus__type_name(m->index), rubus__type_name(m->real),
                           rubus__type_name(n->index), rubus__type_name(n->real));
    }
    return RUBUS_OK;
}

static rubus_status sizes_differ(const char *what, const rubus__host_csr *m,
                                 const rubus__host_csr *n, const char *wanted)
{
    return rubus__fail(RUBUS_ESHAPE,
                       "%s: the matrices are %lld x %lld and %lld x %lld; %s", what,
                       (long long)m->nrow, (long long)m->ncol, (long long)n->nrow,
                       (long long)n->ncol, wanted);
}

rubus_status rubus_csr_create_product(rubus_csr *a, rubus_csr *b, rubus_csr **out_csr)
{
    static const char what[] = "rubus_csr_create_product";
    const rubus_status st = pair_check(what, a, b, out_csr);
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus__host_csr *m = &a->mirror;
    const rubus__host_csr *n = &b->mirror;
    if (m->ncol != n->nrow) {
        return sizes_differ(what, m, n,
                            "the first must have as many columns as the second has rows");
    }
    rubus__host_csr host = {m->index, m->real, m->nrow, n->ncol, 0, NULL, NULL, NULL};
    const sum_of s = {.a = m, .b = n, .product = true};
    return combine(what, a->context, &s, &host, out_csr);
}

rubus_status rubus_csr_create_sum(double alpha, rubus_csr *a, double beta, rubus_csr *b,
                                  rubus_csr **out_csr)
{
    static const char what[] = "rubus_csr_create_sum";
    const rubus_status st = pair_check(what, a, b, out_csr);
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus__host_csr *m = &a->mirror;
    const rubus__host_csr *n = &b->mirror;
    if (m->nrow != n->nrow || m->ncol != n->ncol) {
        return sizes_differ(what, m, n, "they must be of one size");
    }
    rubus__host_csr host = {m->index, m->real, m->nrow, m->ncol, 0, NULL, NULL, NULL};
    const sum_of s = {.a = m, .b = n, .alpha = alpha, .beta = beta};
    return combine(what, a->context, &s, &host, out_csr);
}

rubus_status rubus_csr_create_diagonal(rubus_context *context, int32_t index,
                                       int32_t real, int64_t n, const void *value,
                                       rubus_csr **out_csr)
{
    static const char what[] = "rubus_csr_create_diagonal";
    rubus__host_csr host = {index, real, n, n, n, NULL, NULL, NULL};
    rubus_status st = rubus__csr_check_sizes(what, context, &host, out_csr);
    if (st == RUBUS_OK && value == NULL && n > 0) {
        st = rubus__fail(RUBUS_EINVAL, "%s: the values are NULL", what);
    }
    if (st == RUBUS_OK) {
        st = rubus__host_identity(&host);
    }
    if (st == RUBUS_OK && n > 0) {
        memcpy(host.nzval, value, (size_t)n * rubus__type_size(real));
    }
    return st != RUBUS_OK ? st : rubus__csr_take(context, &host, out_csr);
}
