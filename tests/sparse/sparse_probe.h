/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_SPARSE_PROBE_H
#define RUBUS_TESTS_SPARSE_PROBE_H
/*
 * For tests of sparse matrices: every index and value type, arrays of them from plain
 * numbers, comparisons of mirrors and device arrays. Include after check.h and config.h.
 */
#include "libcore/sparse/csr.h"
#include "tests/support/backends.h"
#include "tests/support/suite.h"

/* The four kinds of matrices, for loops. */
static const int32_t probe_index[4] = {RUBUS_I32, RUBUS_I64, RUBUS_I32, RUBUS_I64};
static const int32_t probe_real[4] = {RUBUS_F64, RUBUS_F64, RUBUS_F32, RUBUS_F32};

enum { PROBE_ROOM = 4096 };
typedef struct probe_numbers {
    _Alignas(16) char data[PROBE_ROOM * 8];
} probe_numbers;

/* n ints as indices of a type. */
static inline const void *probe_indices(probe_numbers *out, int32_t index, int n,
                                        const int *from)
{
    ck_assert_int_le(n, PROBE_ROOM);
    for (int k = 0; k < n; k++) {
        rubus__index_set(out->data, index, k, from[k]);
    }
    return out->data;
}

/* n doubles as values of a type. */
static inline const void *probe_values(probe_numbers *out, int32_t real, int n,
                                       const double *from)
{
    ck_assert_int_le(n, PROBE_ROOM);
    for (int k = 0; k < n; k++) {
        if (real == RUBUS_F32) {
            ((float *)out->data)[k] = (float)from[k];
        } else {
            ((double *)out->data)[k] = from[k];
        }
    }
    return out->data;
}

static inline double probe_value(const void *from, int32_t real, int64_t k)
{
    return real == RUBUS_F32 ? (double)((const float *)from)[k]
                             : ((const double *)from)[k];
}

/* The mirror, and the arrays on the device, are those of these numbers. */
static inline void probe_csr_is(rubus_csr *csr, int nrow, int ncol, const int *rowptr,
                                const int *colval, const double *nzval)
{
    rubus_csr_info info = {.struct_size = sizeof info};
    rubus_csr_mirror mirror = {.struct_size = sizeof mirror};
    ok(rubus_csr_info_get(csr, &info));
    ok(rubus_csr_mirror_get(csr, &mirror));
    ck_assert_int_eq(info.nrow, nrow);
    ck_assert_int_eq(info.ncol, ncol);
    const int nnz = nrow > 0 ? rowptr[nrow] : 0;
    ck_assert_int_eq(info.nnz, nnz);
    ck_assert_int_eq(rubus_array_type(rubus_csr_rowptr(csr)), info.index);
    ck_assert_int_eq(rubus_array_type(rubus_csr_colval(csr)), info.index);
    ck_assert_int_eq(rubus_array_type(rubus_csr_nzval(csr)), info.real);
    static probe_numbers pointers;
    static probe_numbers columns;
    static probe_numbers values;
    ok(rubus_array_read(rubus_csr_rowptr(csr), pointers.data,
                        rubus_array_nbyte(rubus_csr_rowptr(csr))));
    ok(rubus_array_read(rubus_csr_colval(csr), columns.data,
                        rubus_array_nbyte(rubus_csr_colval(csr))));
    ok(rubus_array_read(rubus_csr_nzval(csr), values.data,
                        rubus_array_nbyte(rubus_csr_nzval(csr))));
    for (int i = 0; i <= nrow; i++) {
        ck_assert_int_eq(rubus__index_get(mirror.rowptr, info.index, i), rowptr[i]);
        ck_assert_int_eq(rubus__index_get(pointers.data, info.index, i), rowptr[i]);
    }
    for (int k = 0; k < nnz; k++) {
        ck_assert_int_eq(rubus__index_get(mirror.colval, info.index, k), colval[k]);
        ck_assert_int_eq(rubus__index_get(columns.data, info.index, k), colval[k]);
        ck_assert_double_eq(probe_value(mirror.nzval, info.real, k), nzval[k]);
        ck_assert_double_eq(probe_value(values.data, info.real, k), nzval[k]);
    }
}

/* --- products computed here, in the order that rubus_spmv promises -------------- */

static inline double probe_round(int32_t real, double x)
{
    return real == RUBUS_F32 ? (double)(float)x : x;
}

/* Sum of row i of the mirror times column j of X, element (i, j) being x[i * k + j].
 * Every step is rounded to the type; products of floats are exact in double. */
static inline double probe_row_sum(rubus_csr *csr, int64_t i, const double *x, int64_t k,
                                   int64_t j)
{
    const rubus__host_csr *m = &csr->mirror;
    const int64_t first = rubus__index_get(m->rowptr, m->index, i);
    const int64_t end = rubus__index_get(m->rowptr, m->index, i + 1);
    double total = 0;
    for (int64_t s = first; s < end; s += 4096) {
        const int64_t stop = s + 4096 < end ? s + 4096 : end;
        const int nlane = end - first > 256 ? 32 : 1;
        double lane[32] = {0};
        for (int64_t e = s; e < (nlane == 1 ? end : stop); e++) {
            const int64_t c = rubus__index_get(m->colval, m->index, e);
            const double term =
                probe_round(m->real, probe_value(m->nzval, m->real, e) * x[c * k + j]);
            double *to = &lane[(e - s) % nlane];
            *to = probe_round(m->real, *to + term);
        }
        for (int half = nlane / 2; half > 0; half /= 2) {
            for (int l = 0; l < half; l++) {
                lane[l] = probe_round(m->real, lane[l] + lane[l + half]);
            }
        }
        total = nlane == 1 ? lane[0] : probe_round(m->real, total + lane[0]);
    }
    return total;
}

/* y = alpha A X + beta y of k columns, element (i, j) of all being number i * k + j. */
static inline void probe_multiply(rubus_csr *csr, int64_t k, double alpha,
                                  const double *x, double beta, double *y)
{
    const int32_t real = csr->mirror.real;
    const double a = probe_round(real, alpha);
    const double b = probe_round(real, beta);
    for (int64_t i = 0; i < csr->mirror.nrow; i++) {
        for (int64_t j = 0; j < k; j++) {
            double *to = &y[i * k + j];
            const double sum =
                alpha == 0 ? 0 : probe_round(real, a * probe_row_sum(csr, i, x, k, j));
            *to = beta == 0 ? sum : probe_round(real, sum + probe_round(real, b * *to));
        }
    }
}

/* A vector of numbers on the device. */
static inline rubus_array *probe_vector(rubus_context *context, int32_t real, int64_t n,
                                        const double *from)
{
    rubus_array *array = NULL;
    char *host = malloc((size_t)n * 8 + 8);
    for (int64_t k = 0; k < n; k++) {
        if (real == RUBUS_F32) {
            ((float *)(void *)host)[k] = (float)from[k];
        } else {
            ((double *)(void *)host)[k] = from[k];
        }
    }
    ok(rubus_array_from(context, real, RUBUS_SHAPE(n), host, &array));
    free(host);
    return array;
}

static inline void probe_read(rubus_array *array, double *out)
{
    const int64_t n = rubus_array_count(array);
    const int32_t real = rubus_array_type(array);
    char *host = malloc((size_t)n * 8 + 8);
    ok(rubus_array_read(array, host, rubus_array_nbyte(array)));
    for (int64_t k = 0; k < n; k++) {
        out[k] = probe_value(host, real, k);
    }
    free(host);
}

/* The same numbers; NaN is NaN. */
static inline void probe_same(const double *got, const double *want, int64_t n,
                              const char *what)
{
    for (int64_t k = 0; k < n; k++) {
        ck_assert_msg(got[k] == want[k] || (got[k] != got[k] && want[k] != want[k]),
                      "%s: element %lld is %.17g, not %.17g", what, (long long)k, got[k],
                      want[k]);
    }
}

/* Repeatable numbers of [-1, 1) with few digits, so that f32 holds them. */
static inline double probe_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*state >> 44u) / 524288.0 - 1.0;
}

/* A matrix whose row i has lengths[i] entries at random columns. */
static inline rubus_csr *probe_rows(rubus_context *context, int32_t index, int32_t real,
                                    int64_t nrow, int64_t ncol, const int64_t *lengths,
                                    uint64_t seed)
{
    int64_t nnz = 0;
    for (int64_t i = 0; i < nrow; i++) {
        nnz += lengths[i];
    }
    char *rowptr = malloc((size_t)(nrow + 1) * 8);
    char *colval = malloc((size_t)nnz * 8 + 8);
    char *nzval = malloc((size_t)nnz * 8 + 8);
    int64_t at = 0;
    rubus__index_set(rowptr, index, 0, 0);
    for (int64_t i = 0; i < nrow; i++) {
        // every ncol / length-th column, from a random one on
        const int64_t step = lengths[i] > 0 ? ncol / lengths[i] : 1;
        const int64_t first = (int64_t)((probe_random(&seed) + 1) * 0.5 * (double)step);
        for (int64_t k = 0; k < lengths[i]; k++, at++) {
            rubus__index_set(colval, index, at, first + k * step);
            const double value = probe_random(&seed);
            if (real == RUBUS_F32) {
                ((float *)(void *)nzval)[at] = (float)value;
            } else {
                ((double *)(void *)nzval)[at] = value;
            }
        }
        rubus__index_set(rowptr, index, i + 1, at);
    }
    rubus_csr *csr = NULL;
    ok(rubus_csr_create(context, index, real, nrow, ncol, nnz, rowptr, colval, nzval,
                        &csr));
    free(rowptr);
    free(colval);
    free(nzval);
    return csr;
}

static inline rubus_context_counters probe_counters(rubus_context *context)
{
    rubus_context_counters counters = {.struct_size = sizeof counters};
    ok(rubus_context_counters_get(context, &counters));
    return counters;
}

/* Pattern of a tridiagonal matrix, as a list; its length. */
static inline int probe_tridiagonal_list(int n, int32_t *row, int32_t *col)
{
    int k = 0;
    for (int i = 0; i < n; i++) {
        for (int j = i - 1; j <= i + 1; j++) {
            if (j >= 0 && j < n) {
                row[k] = i;
                col[k++] = j;
            }
        }
    }
    return k;
}

static inline rubus_csr *probe_tridiagonal(rubus_context *context, int n)
{
    int32_t *row = malloc((size_t)n * 3 * sizeof(int32_t));
    int32_t *col = malloc((size_t)n * 3 * sizeof(int32_t));
    const int nnz = probe_tridiagonal_list(n, row, col);
    rubus_csr *csr = NULL;
    ok(rubus_csr_create_coo(context, RUBUS_I32, RUBUS_F64, n, n, nnz, row, col, NULL,
                            &csr));
    free(row);
    free(col);
    return csr;
}

#endif
