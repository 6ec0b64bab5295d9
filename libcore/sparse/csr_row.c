/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts the rows of a matrix on the host by column, and adds up what stands twice. Rows
 * that are in order already, which is the usual case, cost one look. Short rows are
 * sorted by insertion, long ones by merging runs from the bottom up; both keep the order
 * of equal columns, so that their values are added in the order given.
 */
#include "config.h"

#include "libcore/sparse/csr.h"

#include <string.h>

#define SHORT_ROW 24

/* Room for merging: as much as the longest row that needs it. */
typedef struct spare {
    void *col;
    void *value;
    int64_t room;
} spare;

RUBUS__INLINE bool is_sorted(const void *col, int64_t first, int64_t end, int32_t type)
{
    for (int64_t k = first + 1; k < end; k++) {
        if (rubus__index_get(col, type, k) < rubus__index_get(col, type, k - 1)) {
            return false;
        }
    }
    return true;
}

RUBUS__INLINE double value_get(const void *value, int64_t k, int32_t real)
{
    return real == RUBUS_F32 ? (double)((const float *)value)[k]
                             : ((const double *)value)[k];
}

RUBUS__INLINE void value_set(void *value, int64_t k, int32_t real, double x)
{
    if (real == RUBUS_F32) {
        ((float *)value)[k] = (float)x;
    } else {
        ((double *)value)[k] = x;
    }
}

RUBUS__INLINE void insertion_sort(rubus__host_csr *host, int64_t first, int64_t end,
                                  int32_t type)
{
    for (int64_t k = first + 1; k < end; k++) {
        const int64_t col = rubus__index_get(host->colval, type, k);
        const double value = value_get(host->nzval, k, host->real);
        int64_t at = k;
        while (at > first && rubus__index_get(host->colval, type, at - 1) > col) {
            rubus__index_set(host->colval, type, at,
                             rubus__index_get(host->colval, type, at - 1));
            rubus__value_copy(host->nzval, at, host->nzval, at - 1, host->real);
            at--;
        }
        rubus__index_set(host->colval, type, at, col);
        value_set(host->nzval, at, host->real, value);
    }
}

/* Merges the runs [first, middle) and [middle, end) through the spare room. */
RUBUS__INLINE void merge(rubus__host_csr *host, const spare *room, int64_t first,
                         int64_t middle, int64_t end, int32_t type)
{
    const size_t index = rubus__type_size(type);
    const size_t real = rubus__type_size(host->real);
    const int64_t n = middle - first;
    memcpy(room->col, (char *)host->colval + (size_t)first * index, (size_t)n * index);
    memcpy(room->value, (char *)host->nzval + (size_t)first * real, (size_t)n * real);
    int64_t left = 0;
    int64_t right = middle;
    for (int64_t at = first; left < n; at++) {
        const int64_t a = rubus__index_get(room->col, type, left);
        if (right < end && rubus__index_get(host->colval, type, right) < a) {
            rubus__index_set(host->colval, type, at,
                             rubus__index_get(host->colval, type, right));
            rubus__value_copy(host->nzval, at, host->nzval, right, host->real);
            right++;
        } else {
            rubus__index_set(host->colval, type, at, a);
            rubus__value_copy(host->nzval, at, room->value, left, host->real);
            left++;
        }
    }
}

static rubus_status spare_reserve(spare *room, const rubus__host_csr *host, int64_t n)
{
    if (n <= room->room) {
        return RUBUS_OK;
    }
    rubus__free(room->col);
    rubus__free(room->value);
    room->col = rubus__alloc_array((size_t)n, rubus__type_size(host->index));
    room->value = rubus__alloc_array((size_t)n, rubus__type_size(host->real));
    room->room = n;
    return room->col == NULL || room->value == NULL ? RUBUS_ENOMEM : RUBUS_OK;
}

RUBUS__INLINE rubus_status sort_row(rubus__host_csr *host, spare *room, int64_t first,
                                    int64_t end, int32_t type)
{
    if (end - first <= SHORT_ROW) {
        insertion_sort(host, first, end, type);
        return RUBUS_OK;
    }
    const rubus_status st = spare_reserve(room, host, end - first);
    if (st != RUBUS_OK) {
        return st;
    }
    for (int64_t k = first; k < end; k += SHORT_ROW) {
        insertion_sort(host, k, k + SHORT_ROW < end ? k + SHORT_ROW : end, type);
    }
    for (int64_t run = SHORT_ROW; run < end - first; run *= 2) {
        for (int64_t k = first; k + run < end; k += 2 * run) {
            merge(host, room, k, k + run, k + 2 * run < end ? k + 2 * run : end, type);
        }
    }
    return RUBUS_OK;
}

/* Moves the row down to `at`, adding up equal columns; where it ends then. */
RUBUS__INLINE int64_t compact_row(rubus__host_csr *host, int64_t at, int64_t first,
                                  int64_t end, int32_t type)
{
    const int64_t begin = at;
    for (int64_t k = first; k < end; k++) {
        const int64_t col = rubus__index_get(host->colval, type, k);
        if (at > begin && rubus__index_get(host->colval, type, at - 1) == col) {
            rubus__value_add(host->nzval, at - 1, host->nzval, k, host->real);
            continue;
        }
        if (at != k) {
            rubus__index_set(host->colval, type, at, col);
            rubus__value_copy(host->nzval, at, host->nzval, k, host->real);
        }
        at++;
    }
    return at;
}

RUBUS__INLINE rubus_status sort_rows(rubus__host_csr *host, spare *room, int32_t type)
{
    int64_t at = 0;
    int64_t first = 0;
    for (int64_t i = 0; i < host->nrow; i++) {
        const int64_t end = rubus__index_get(host->rowptr, type, i + 1);
        if (!is_sorted(host->colval, first, end, type)) {
            const rubus_status st = sort_row(host, room, first, end, type);
            if (st != RUBUS_OK) {
                return st;
            }
        }
        at = compact_row(host, at, first, end, type);
        rubus__index_set(host->rowptr, type, i + 1, at);
        first = end;
    }
    host->nnz = at;
    return RUBUS_OK;
}

/* Gives back what duplicates left over; keeping it would do no harm. */
static void shrink(void **array, int64_t n, size_t size)
{
    void *p = rubus__realloc(*array, n > 0 ? (size_t)n * size : 1);
    if (p != NULL) {
        *array = p;
    }
}

rubus_status rubus__host_sort_rows(rubus__host_csr *host)
{
    spare room = {NULL, NULL, 0};
    const int64_t nnz = host->nnz;
    const rubus_status st = host->index == RUBUS_I32 ? sort_rows(host, &room, RUBUS_I32)
                                                     : sort_rows(host, &room, RUBUS_I64);
    rubus__free(room.col);
    rubus__free(room.value);
    if (st == RUBUS_OK && host->nnz < nnz) {
        shrink(&host->colval, host->nnz, rubus__type_size(host->index));
        shrink(&host->nzval, host->nnz, rubus__type_size(host->real));
    }
    return st;
}
