/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices with all that products stumble over: empty rows, one long row, everything in
 * the last column, no rows, no columns, bands as of a grid. Products are checked against
 * sums in twice the precision of double, with a bound for each row.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check_sparse.h"

/* --- making ----------------------------------------------------------------------- */

static double number(conform_dice *dice)
{
    return (double)(float)((conform_unit(dice) - 0.5) * 4);
}

static void start(sparse_matrix *m, const char *name, int64_t nrow, int64_t ncol,
                  int64_t room)
{
    *m = (sparse_matrix){.name = name, .nrow = nrow, .ncol = ncol};
    m->rowptr = conform_memory((size_t)(nrow + 1) * sizeof *m->rowptr);
    m->colval = conform_memory((size_t)room * sizeof *m->colval);
    m->value = conform_memory((size_t)room * sizeof *m->value);
}

static void push(sparse_matrix *m, int64_t col, conform_dice *dice)
{
    m->colval[m->nnz] = col;
    m->value[m->nnz++] = number(dice);
}

/* About `mean` entries a row, at ascending random columns; every fifth row is empty. */
static void make_random(sparse_matrix *m, const char *name, int64_t nrow, int64_t ncol,
                        int64_t mean, conform_dice *dice)
{
    start(m, name, nrow, ncol, nrow * (2 * mean + 1));
    for (int64_t i = 0; i < nrow; i++) {
        int64_t col = conform_below(dice, ncol / mean + 1);
        const int64_t most = 2 * mean;
        for (int64_t k = 0; i % 5 != 3 && k < most && col < ncol; k++) {
            push(m, col, dice);
            col += 1 + conform_below(dice, ncol / mean + 1);
        }
        m->rowptr[i + 1] = m->nnz;
    }
}

/* The five points of a grid of n x n. */
static void make_grid(sparse_matrix *m, const char *name, int64_t n, conform_dice *dice)
{
    start(m, name, n * n, n * n, 5 * n * n);
    for (int64_t i = 0; i < n * n; i++) {
        const int64_t x = i % n;
        const int64_t y = i / n;
        if (y > 0) {
            push(m, i - n, dice);
        }
        if (x > 0) {
            push(m, i - 1, dice);
        }
        push(m, i, dice);
        if (x < n - 1) {
            push(m, i + 1, dice);
        }
        if (y < n - 1) {
            push(m, i + n, dice);
        }
        m->rowptr[i + 1] = m->nnz;
    }
}

/* One row that is full, the others with one entry. */
static void make_dense_row(sparse_matrix *m, const char *name, int64_t n, int64_t ncol,
                           conform_dice *dice)
{
    start(m, name, n, ncol, n + ncol);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; i == n / 2 && k < ncol; k++) {
            push(m, k, dice);
        }
        if (i != n / 2) {
            push(m, (i * 7) % ncol, dice);
        }
        m->rowptr[i + 1] = m->nnz;
    }
}

static void make_last_column(sparse_matrix *m, const char *name, int64_t n,
                             conform_dice *dice)
{
    start(m, name, n, n, n);
    for (int64_t i = 0; i < n; i++) {
        push(m, n - 1, dice);
        m->rowptr[i + 1] = m->nnz;
    }
}

static void make_empty(sparse_matrix *m, const char *name, int64_t nrow, int64_t ncol)
{
    start(m, name, nrow, ncol, 1);
}

sparse_matrix sparse_make(int which, uint64_t seed)
{
    sparse_matrix m;
    conform_dice dice = {seed + (uint64_t)which};
    switch (which) {
    case 0:
        make_random(&m, "1 x 1", 1, 1, 1, &dice);
        break;
    case 1:
        make_random(&m, "random 300 x 200", 300, 200, 6, &dice);
        break;
    case 2:
        make_random(&m, "tall 3000 x 7", 3000, 7, 2, &dice);
        break;
    case 3:
        make_random(&m, "wide 7 x 3000", 7, 3000, 200, &dice);
        break;
    case 4:
        make_grid(&m, "grid 33 x 33", 33, &dice);
        break;
    case 5:
        make_dense_row(&m, "one full row of 9001", 50, 9001, &dice);
        break;
    case 6:
        make_last_column(&m, "all in the last column", 513, &dice);
        break;
    case 7:
        make_empty(&m, "no rows", 0, 5);
        break;
    case 8:
        make_empty(&m, "no columns", 5, 0);
        break;
    case 9:
        make_empty(&m, "no entries", 70, 70);
        break;
    case 10:
        make_dense_row(&m, "one full row of 300", 1, 300, &dice);
        break;
    default:
        make_random(&m, "random 5000 x 5000", 5000, 5000, 9, &dice);
        break;
    }
    return m;
}

void sparse_free(sparse_matrix *m)
{
    free(m->rowptr);
    free(m->colval);
    free(m->value);
}

/* --- to the device ---------------------------------------------------------------- */

static void *indices(const int64_t *from, int64_t n, int32_t index)
{
    int64_t *wide = conform_memory((size_t)n * sizeof *wide);
    int32_t *narrow = (int32_t *)(void *)wide;
    for (int64_t i = 0; i < n; i++) {
        if (index == RUBUS_I64) {
            wide[i] = from[i];
        } else {
            narrow[i] = (int32_t)from[i];
        }
    }
    return wide;
}

static void *reals(const double *from, int64_t n, int32_t real)
{
    double *wide = conform_memory((size_t)n * sizeof *wide);
    float *narrow = (float *)(void *)wide;
    for (int64_t i = 0; i < n; i++) {
        if (real == RUBUS_F64) {
            wide[i] = from[i];
        } else {
            narrow[i] = (float)from[i];
        }
    }
    return wide;
}

rubus_csr *sparse_upload(rubus_context *context, const sparse_matrix *m, int32_t index,
                         int32_t real)
{
    void *rowptr = indices(m->rowptr, m->nrow + 1, index);
    void *colval = indices(m->colval, m->nnz, index);
    void *value = reals(m->value, m->nnz, real);
    rubus_csr *csr = NULL;
    conform_ok(rubus_csr_create(context, index, real, m->nrow, m->ncol, m->nnz, rowptr,
                                colval, value, &csr));
    free(rowptr);
    free(colval);
    free(value);
    return csr;
}

double *sparse_vector(int64_t n, uint64_t seed)
{
    conform_dice dice = {seed};
    double *x = conform_memory((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        x[i] = number(&dice);
    }
    return x;
}

conform_window sparse_put(rubus_context *context, int32_t real, const double *x,
                          int64_t n, int shift)
{
    conform_window w = conform_window_make(context, real, RUBUS_SHAPE(n), shift);
    void *data = reals(x, n, real);
    conform_ok(rubus_array_write(w.array, data, rubus_array_nbyte(w.array)));
    free(data);
    return w;
}

/* --- what it should be ------------------------------------------------------------ */

/* Adds a * b to high + low, with the rounding of neither lost. */
static void add_product(double a, double b, double *high, double *low)
{
    const volatile double product = a * b;
    const volatile double sum = *high + product;
    const volatile double part = sum - *high;
    *low += (*high - (sum - part)) + (product - part) + fma(a, b, -product);
    *high = sum;
}

void sparse_want(const sparse_matrix *m, int32_t real, double alpha, const double *x,
                 double beta, const double *y0, const void *got, const char *what)
{
    const double u = real == RUBUS_F64 ? 0x1p-53 : 0x1p-24;
    for (int64_t i = 0; i < m->nrow; i++) {
        double high = 0;
        double low = 0;
        double size = 0;
        for (int64_t k = m->rowptr[i]; k < m->rowptr[i + 1]; k++) {
            add_product(m->value[k], x[m->colval[k]], &high, &low);
            size += fabs(m->value[k] * x[m->colval[k]]);
        }
        const double own = beta == 0 ? 0 : beta * y0[i];
        const double want = alpha * (high + low) + own;
        const double n = (double)(m->rowptr[i + 1] - m->rowptr[i]);
        const double bound = (n + 4) * u * (fabs(alpha) * size + fabs(own));
        const double is = conform_real_at(got, real, i);
        conform_true(fabs(is - want) <= bound,
                     "%s, %s, matrix '%s', alpha %g, beta %g: row %lld of %lld with %g "
                     "entries is %.17g, should be %.17g within %.3g",
                     what, conform_type_name(real), m->name, alpha, beta, (long long)i,
                     (long long)m->nrow, n, is, want, bound);
    }
}
