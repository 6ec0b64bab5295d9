/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling a matrix on the host: entries are found or given by position, added to the
 * mirror, and go to the device in one copy. The device's values have this one writer
 * only: nothing sets them to 0 there first.
 */
#include "config.h"

#include "libcore/sparse/csr.h"

#include <string.h>

#define LINEAR_SEARCH 32 /* rows shorter than this are searched in order */

rubus_status rubus_csr_mirror_zero(rubus_csr *csr)
{
    if (csr == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_csr_mirror_zero: the matrix is NULL");
    }
    if (csr->mirror.nnz > 0) {
        memset(csr->mirror.nzval, 0,
               (size_t)csr->mirror.nnz * rubus__type_size(csr->mirror.real));
    }
    return RUBUS_OK;
}

/* --- searching -------------------------------------------------------------------- */

RUBUS__INLINE int64_t find(const rubus__host_csr *m, int64_t row, int64_t col,
                           int32_t type)
{
    if ((uint64_t)row >= (uint64_t)m->nrow) {
        return -1;
    }
    int64_t lo = rubus__index_get(m->rowptr, type, row);
    const int64_t end = rubus__index_get(m->rowptr, type, row + 1);
    int64_t hi = end;
    while (hi - lo >= LINEAR_SEARCH) {
        const int64_t middle = lo + (hi - lo) / 2;
        if (rubus__index_get(m->colval, type, middle) < col) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    while (lo < hi && rubus__index_get(m->colval, type, lo) < col) {
        lo++;
    }
    return lo < end && rubus__index_get(m->colval, type, lo) == col ? lo : -1;
}

int64_t rubus_csr_position(const rubus_csr *csr, int64_t row, int64_t col)
{
    if (csr == NULL) {
        return -1;
    }
    return csr->mirror.index == RUBUS_I32 ? find(&csr->mirror, row, col, RUBUS_I32)
                                          : find(&csr->mirror, row, col, RUBUS_I64);
}

/* --- adding ----------------------------------------------------------------------- */

static rubus_status check_input(const char *what, const rubus_csr *csr, int64_t n,
                                const void *a, const void *b, const void *c)
{
    if (csr == NULL || n < 0 || (n > 0 && (a == NULL || b == NULL || c == NULL))) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s", what,
                           csr == NULL ? "the matrix is NULL"
                           : n < 0     ? "n is negative"
                                       : "an array is NULL");
    }
    return RUBUS_OK;
}

rubus_status rubus_csr_add(rubus_csr *csr, int64_t n, const void *row, const void *col,
                           const void *value)
{
    static const char what[] = "rubus_csr_add";
    const rubus_status st = check_input(what, csr, n, row, col, value);
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus__host_csr *m = &csr->mirror;
    int64_t few[64]; // positions of the first ones need not be found twice
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = rubus__index_get(row, m->index, k);
        const int64_t j = rubus__index_get(col, m->index, k);
        const int64_t at = rubus_csr_position(csr, i, j);
        if (at < 0) {
            return rubus__fail(RUBUS_ENOTFOUND,
                               "%s: value %lld goes to (%lld, %lld), which is not in the "
                               "pattern of the matrix of %lld rows and %lld columns",
                               what, (long long)k, (long long)i, (long long)j,
                               (long long)m->nrow, (long long)m->ncol);
        }
        if (k < 64) {
            few[k] = at;
        }
    }
    for (int64_t k = 0; k < n; k++) {
        const int64_t at =
            k < 64 ? few[k]
                   : rubus_csr_position(csr, rubus__index_get(row, m->index, k),
                                        rubus__index_get(col, m->index, k));
        rubus__value_add(m->nzval, at, value, k, m->real);
    }
    return RUBUS_OK;
}

/* First k whose position is past the last entry; n if there is none. */
RUBUS__INLINE int64_t find_past(const void *position, int32_t type, int64_t n,
                                int64_t nnz)
{
    int64_t k = 0;
    while (k < n && rubus__index_get(position, type, k) < nnz) {
        k++;
    }
    return k;
}

rubus_status rubus__csr_check_positions(const char *what, const rubus_csr *csr, int64_t n,
                                        const void *position)
{
    const rubus__host_csr *m = &csr->mirror;
    const int64_t bad = m->index == RUBUS_I32 ? find_past(position, RUBUS_I32, n, m->nnz)
                                              : find_past(position, RUBUS_I64, n, m->nnz);
    if (bad == n) {
        return RUBUS_OK;
    }
    return rubus__fail(RUBUS_EBOUNDS,
                       "%s: position %lld of value %lld is past the last of the %lld "
                       "entries",
                       what, (long long)rubus__index_get(position, m->index, bad),
                       (long long)bad, (long long)m->nnz);
}

RUBUS__INLINE void add_at(const rubus__host_csr *m, int64_t n, const void *position,
                          const void *value, int32_t type, int32_t real)
{
    for (int64_t k = 0; k < n; k++) {
        const int64_t at = rubus__index_get(position, type, k);
        if (at >= 0) {
            rubus__value_add(m->nzval, at, value, k, real);
        }
    }
}

rubus_status rubus_csr_add_at(rubus_csr *csr, int64_t n, const void *position,
                              const void *value)
{
    static const char what[] = "rubus_csr_add_at";
    rubus_status st = check_input(what, csr, n, position, value, value);
    if (st == RUBUS_OK) {
        st = rubus__csr_check_positions(what, csr, n, position);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus__host_csr *m = &csr->mirror;
    if (m->index == RUBUS_I32) {
        if (m->real == RUBUS_F32) {
            add_at(m, n, position, value, RUBUS_I32, RUBUS_F32);
        } else {
            add_at(m, n, position, value, RUBUS_I32, RUBUS_F64);
        }
    } else if (m->real == RUBUS_F32) {
        add_at(m, n, position, value, RUBUS_I64, RUBUS_F32);
    } else {
        add_at(m, n, position, value, RUBUS_I64, RUBUS_F64);
    }
    return RUBUS_OK;
}

/* --- to the device and back ------------------------------------------------------- */

static rubus_status enter_values(const rubus_csr *csr, const char *what)
{
    if (csr == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the matrix is NULL", what);
    }
    return rubus__array_enter(csr->nzval, what);
}

rubus_status rubus_csr_flush(rubus_csr *csr)
{
    rubus_status st = enter_values(csr, "rubus_csr_flush");
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_context *context = csr->context;
    if (csr->mirror.nnz > 0) {
        rubus_csr_desc desc = rubus__csr_describe(csr);
        csr->nzval->storage->version++;
        desc.version = csr->nzval->storage->version;
        context->counters.write_calls++;
        context->counters.write_bytes += csr->nzval->nbyte;
        st = RUBUS__SLOT(context, "scatter_flush",
                         context->dev->optional.scatter_flush(context->dev, &desc));
    }
    return rubus__leave(context, st);
}

rubus_status rubus_csr_pull(rubus_csr *csr)
{
    if (csr == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_csr_pull: the matrix is NULL");
    }
    return rubus_array_read(csr->nzval, csr->mirror.nzval, csr->nzval->nbyte);
}
