/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressed rows on the host from rows, columns, or a list of entries that were checked:
 * count the entries of each row, sum up to pointers, put each entry in its row in the
 * order given. csr_row.c sorts the rows then.
 */
#include "config.h"

#include "libcore/sparse/csr.h"

#include <string.h>

void rubus__host_csr_fini(rubus__host_csr *host)
{
    rubus__free(host->rowptr);
    rubus__free(host->colval);
    rubus__free(host->nzval);
    host->rowptr = NULL;
    host->colval = NULL;
    host->nzval = NULL;
}

static rubus_status allocate(rubus__host_csr *out)
{
    const size_t index = rubus__type_size(out->index);
    const size_t real = rubus__type_size(out->real);
    out->rowptr = rubus__alloc_array((size_t)out->nrow + 1, index);
    out->colval = rubus__alloc_array((size_t)out->nnz, index);
    out->nzval = rubus__alloc_array((size_t)out->nnz, real);
    if (out->rowptr == NULL || out->colval == NULL || out->nzval == NULL) {
        rubus__host_csr_fini(out);
        return RUBUS_ENOMEM;
    }
    return RUBUS_OK;
}

static rubus_status finish(rubus__host_csr *out)
{
    const rubus_status st = rubus__host_sort_rows(out);
    if (st != RUBUS_OK) {
        rubus__host_csr_fini(out);
    }
    return st;
}

rubus_status rubus__host_from_rows(rubus__host_csr *out, const void *rowptr,
                                   const void *colval, const void *value)
{
    const rubus_status st = allocate(out);
    if (st != RUBUS_OK) {
        return st;
    }
    const size_t index = rubus__type_size(out->index);
    if (out->nrow > 0) {
        memcpy(out->rowptr, rowptr, ((size_t)out->nrow + 1) * index);
    }
    if (out->nnz > 0) {
        memcpy(out->colval, colval, (size_t)out->nnz * index);
    }
    if (out->nnz > 0 && value != NULL) {
        memcpy(out->nzval, value, (size_t)out->nnz * rubus__type_size(out->real));
    }
    return finish(out);
}

/* rowptr[i + 1] = entries of row i, then their sums. */
RUBUS__INLINE void count_rows(rubus__host_csr *out, const void *row, int32_t type)
{
    for (int64_t k = 0; k < out->nnz; k++) {
        const int64_t i = rubus__index_get(row, type, k);
        const int64_t n = rubus__index_get(out->rowptr, type, i + 1);
        rubus__index_set(out->rowptr, type, i + 1, n + 1);
    }
    int64_t sum = 0;
    for (int64_t i = 1; i <= out->nrow; i++) {
        sum += rubus__index_get(out->rowptr, type, i);
        rubus__index_set(out->rowptr, type, i, sum);
    }
}

/* Puts entry k (its column is col[k], or `fixed` if col is NULL) at the next free place
 * of its row; rowptr[i] is that place for the time being. */
RUBUS__INLINE void put(rubus__host_csr *out, const void *row, const void *col,
                       int64_t fixed, const void *value, int64_t k, int32_t type)
{
    const int64_t i = rubus__index_get(row, type, k);
    const int64_t at = rubus__index_get(out->rowptr, type, i);
    rubus__index_set(out->rowptr, type, i, at + 1);
    rubus__index_set(out->colval, type, at,
                     col == NULL ? fixed : rubus__index_get(col, type, k));
    if (value != NULL) {
        rubus__value_copy(out->nzval, at, value, k, out->real);
    }
}

/* rowptr[i] is where row i ends: moves all up by one. */
RUBUS__INLINE void shift_pointers(rubus__host_csr *out)
{
    const size_t index = rubus__type_size(out->index);
    memmove((char *)out->rowptr + index, out->rowptr, (size_t)out->nrow * index);
    memset(out->rowptr, 0, index);
}

RUBUS__INLINE void fill_from_list(rubus__host_csr *out, const void *row, const void *col,
                                  const void *value, int32_t type)
{
    count_rows(out, row, type);
    for (int64_t k = 0; k < out->nnz; k++) {
        put(out, row, col, 0, value, k, type);
    }
    shift_pointers(out);
}

rubus_status rubus__host_from_list(rubus__host_csr *out, const void *row, const void *col,
                                   const void *value)
{
    const rubus_status st = allocate(out);
    if (st != RUBUS_OK) {
        return st;
    }
    if (out->index == RUBUS_I32) {
        fill_from_list(out, row, col, value, RUBUS_I32);
    } else {
        fill_from_list(out, row, col, value, RUBUS_I64);
    }
    return finish(out);
}

RUBUS__INLINE void fill_from_columns(rubus__host_csr *out, const void *colptr,
                                     const void *rowval, const void *value, int32_t type)
{
    count_rows(out, rowval, type);
    for (int64_t j = 0; j < out->ncol; j++) {
        const int64_t end = rubus__index_get(colptr, type, j + 1);
        for (int64_t k = rubus__index_get(colptr, type, j); k < end; k++) {
            put(out, rowval, NULL, j, value, k, type);
        }
    }
    shift_pointers(out);
}

rubus_status rubus__host_from_columns(rubus__host_csr *out, const void *colptr,
                                      const void *rowval, const void *value)
{
    const rubus_status st = allocate(out);
    if (st != RUBUS_OK) {
        return st;
    }
    if (out->index == RUBUS_I32) {
        fill_from_columns(out, colptr, rowval, value, RUBUS_I32);
    } else {
        fill_from_columns(out, colptr, rowval, value, RUBUS_I64);
    }
    return finish(out);
}

rubus_status rubus__host_identity(rubus__host_csr *out)
{
    const rubus_status st = allocate(out);
    if (st != RUBUS_OK) {
        return st;
    }
    for (int64_t i = 0; i < out->nrow; i++) {
        rubus__index_set(out->rowptr, out->index, i + 1, i + 1);
        rubus__index_set(out->colval, out->index, i, i);
        if (out->real == RUBUS_F32) {
            ((float *)out->nzval)[i] = 1;
        } else {
            ((double *)out->nzval)[i] = 1;
        }
    }
    return RUBUS_OK;
}
