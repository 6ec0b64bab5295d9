/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a matrix is made of, before anything is allocated for it: sizes against the index
 * type and the device, then every index against its range, so that no later loop can
 * leave an array. Messages name the row and the entry.
 */
#include "config.h"

#include "libcore/sparse/csr.h"

static rubus_status check_types(const char *what, rubus_context *context,
                                const rubus__host_csr *sizes)
{
    if (sizes->index != RUBUS_I32 && sizes->index != RUBUS_I64) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: %d is no index type; give RUBUS_I32 or RUBUS_I64", what,
                           (int)sizes->index);
    }
    if (sizes->real != RUBUS_F32 && sizes->real != RUBUS_F64) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: %d is no type of values; give RUBUS_F32 or RUBUS_F64",
                           what, (int)sizes->real);
    }
    if (sizes->real == RUBUS_F64 && context->dev->caps.fp64 == 0) {
        return rubus__fail(RUBUS_EUNSUPPORTED,
                           "%s: device \"%s\" of backend %s has no f64; make the matrix "
                           "of f32 values",
                           what, context->dev->caps.name, context->dev->name);
    }
    return RUBUS_OK;
}

static rubus_status check_size(const char *what, rubus_context *context,
                               const rubus__host_csr *sizes, const char *name,
                               int64_t size, uint64_t unit)
{
    if (size < 0) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is %lld; sizes are >= 0", what, name,
                           (long long)size);
    }
    // one less than the type holds: rowptr has nrow + 1 elements, which kernels count
    if (sizes->index == RUBUS_I32 && size > INT32_MAX - 1) {
        return rubus__fail(RUBUS_ELIMIT,
                           "%s: %s is %lld, more than 32-bit indices can count; make the "
                           "matrix with RUBUS_I64",
                           what, name, (long long)size);
    }
    const uint64_t most = context->dev->caps.max_buffer;
    const uint64_t room = most > 0 && most < INT64_MAX / 2 ? most : INT64_MAX / 2;
    if (unit > 0 && (uint64_t)size > room / unit - 1) {
        return rubus__fail(RUBUS_ELIMIT,
                           "%s: %s is %lld, whose array of %llu bytes an element is "
                           "larger than the largest buffer of device \"%s\" (%llu bytes)",
                           what, name, (long long)size, (unsigned long long)unit,
                           context->dev->caps.name, (unsigned long long)room);
    }
    return RUBUS_OK;
}

rubus_status rubus__csr_check_sizes(const char *what, rubus_context *context,
                                    const rubus__host_csr *sizes, const void *out)
{
    if (context == NULL || out == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what,
                           context == NULL ? "the context" : "the output argument");
    }
    const uint64_t index = rubus__type_size(sizes->index);
    const uint64_t real = rubus__type_size(sizes->real);
    rubus_status st = check_types(what, context, sizes);
    if (st == RUBUS_OK) {
        st = check_size(what, context, sizes, "nrow", sizes->nrow, index);
    }
    if (st == RUBUS_OK) {
        st = check_size(what, context, sizes, "ncol", sizes->ncol, 0);
    }
    if (st == RUBUS_OK) {
        st = check_size(what, context, sizes, "nnz", sizes->nnz,
                        index > real ? index : real);
    }
    return st;
}

static rubus_status check_pointers(const char *what, const rubus__host_csr *given,
                                   int64_t n, const char *major)
{
    const int64_t first = n > 0 ? rubus__index_get(given->rowptr, given->index, 0) : 0;
    int64_t before = first;
    if (first != 0) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: %s 0 begins at entry %lld; the first pointer must be 0 "
                           "(indices count from 0)",
                           what, major, (long long)first);
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t end = rubus__index_get(given->rowptr, given->index, i + 1);
        if (end < before || end > given->nnz) {
            return rubus__fail(RUBUS_EINVAL,
                               "%s: %s %lld has entries %lld to %lld (its two pointers); "
                               "pointers must ascend from 0 to nnz = %lld",
                               what, major, (long long)i, (long long)before,
                               (long long)end, (long long)given->nnz);
        }
        before = end;
    }
    if (before != given->nnz) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: the last %s ends at entry %lld, but nnz is %lld", what,
                           major, (long long)before, (long long)given->nnz);
    }
    return RUBUS_OK;
}

/* First k of [k, end) whose index is not in 0..limit-1; end if there is none. */
RUBUS__INLINE int64_t find_outside(const void *val, int32_t type, int64_t k, int64_t end,
                                   int64_t limit)
{
    while (k < end && (uint64_t)rubus__index_get(val, type, k) < (uint64_t)limit) {
        k++;
    }
    return k;
}

static int64_t first_outside(const void *val, int32_t type, int64_t n, int64_t limit)
{
    return type == RUBUS_I32 ? find_outside(val, RUBUS_I32, 0, n, limit)
                             : find_outside(val, RUBUS_I64, 0, n, limit);
}

rubus_status rubus__csr_check_rows(const char *what, const rubus__host_csr *given,
                                   int64_t n, int64_t limit, const char *major,
                                   const char *minor)
{
    if ((given->rowptr == NULL && n > 0) || (given->colval == NULL && given->nnz > 0)) {
        return rubus__fail(RUBUS_EINVAL, "%s: the array of %s is NULL", what,
                           given->rowptr == NULL && n > 0 ? "pointers" : "indices");
    }
    const rubus_status st = check_pointers(what, given, n, major);
    if (st != RUBUS_OK) {
        return st;
    }
    const int64_t bad = first_outside(given->colval, given->index, given->nnz, limit);
    if (bad == given->nnz) {
        return RUBUS_OK;
    }
    int64_t i = 0;
    while (rubus__index_get(given->rowptr, given->index, i + 1) <= bad) {
        i++;
    }
    return rubus__fail(RUBUS_EINVAL, "%s: %s %lld, entry %lld: %s %lld is not in 0..%lld",
                       what, major, (long long)i, (long long)bad, minor,
                       (long long)rubus__index_get(given->colval, given->index, bad),
                       (long long)limit - 1);
}

rubus_status rubus__csr_check_list(const char *what, const rubus__host_csr *sizes,
                                   const void *row, const void *col)
{
    if (sizes->nnz > 0 && (row == NULL || col == NULL)) {
        return rubus__fail(RUBUS_EINVAL, "%s: the array of %s is NULL", what,
                           row == NULL ? "rows" : "columns");
    }
    const int64_t bad_row = first_outside(row, sizes->index, sizes->nnz, sizes->nrow);
    const int64_t bad_col = first_outside(col, sizes->index, sizes->nnz, sizes->ncol);
    const int64_t bad = bad_row < bad_col ? bad_row : bad_col;
    if (bad == sizes->nnz) {
        return RUBUS_OK;
    }
    return rubus__fail(RUBUS_EINVAL,
                       "%s: entry %lld at row %lld, column %lld lies outside the matrix "
                       "of %lld rows and %lld columns",
                       what, (long long)bad,
                       (long long)rubus__index_get(row, sizes->index, bad),
                       (long long)rubus__index_get(col, sizes->index, bad),
                       (long long)sizes->nrow, (long long)sizes->ncol);
}
