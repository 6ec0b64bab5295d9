/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The diagonal on the device, and rows that become those of the identity (as constraints
 * need): in the mirror and on the device alike, by one kernel.
 */
#include "config.h"

#include "libcore/sparse/csr.h"

#include <string.h>

/* --- reading it ------------------------------------------------------------------- */

static rubus_status check_target(const rubus_csr *csr, const rubus_array *d)
{
    static const char what[] = "rubus_csr_diagonal";
    if (csr == NULL || d == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what,
                           csr == NULL ? "the matrix" : "the array");
    }
    const rubus__host_csr *m = &csr->mirror;
    const int64_t n = m->nrow < m->ncol ? m->nrow : m->ncol;
    if (d->count != n) {
        return rubus__fail(RUBUS_ESHAPE,
                           "%s: the diagonal has %lld elements, the array has %lld", what,
                           (long long)n, (long long)d->count);
    }
    return RUBUS_OK;
}

rubus_status rubus_csr_diagonal(rubus_csr *csr, rubus_array *d)
{
    rubus_status st = check_target(csr, d);
    const rubus_kernel *kernel = NULL;
    if (st == RUBUS_OK) {
        st = rubus__csr_kernel(csr, "diagonal", &kernel);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_array line = rubus__array_line(d, 0, d->count);
    const rubus_arg args[4] = {rubus_arg_array(&line), rubus_arg_array(csr->rowptr),
                               rubus_arg_array(csr->colval), rubus_arg_array(csr->nzval)};
    return rubus_launch_args(kernel, args, 4);
}

/* --- identity rows ---------------------------------------------------------------- */

/* The rows without repetition, ascending, and the positions of their diagonals. */
typedef struct identity {
    int64_t n;
    void *row;
    void *middle;
} identity;

/* One bit for each row. */
static bool take_bit(uint64_t *bits, int64_t i)
{
    const uint64_t bit = (uint64_t)1 << ((uint64_t)i & 63u);
    const bool fresh = (bits[i >> 6] & bit) == 0;
    bits[i >> 6] |= bit;
    return fresh;
}

static rubus_status collect(const rubus_csr *csr, int64_t n, const void *row,
                            uint64_t *bits, identity *out)
{
    static const char what[] = "rubus_csr_set_identity_rows";
    const rubus__host_csr *m = &csr->mirror;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = rubus__index_get(row, m->index, k);
        if (i < 0 || i >= m->nrow) {
            return rubus__fail(RUBUS_EINVAL, "%s: row %lld is not in 0..%lld", what,
                               (long long)i, (long long)m->nrow - 1);
        }
        const int64_t at = rubus_csr_position(csr, i, i);
        if (at < 0) {
            return rubus__fail(RUBUS_ENOTFOUND,
                               "%s: row %lld stores no diagonal entry; put (%lld, %lld) "
                               "into the pattern",
                               what, (long long)i, (long long)i, (long long)i);
        }
        if (take_bit(bits, i)) {
            rubus__index_set(out->row, m->index, out->n, i);
            rubus__index_set(out->middle, m->index, out->n, at);
            out->n++;
        }
    }
    return RUBUS_OK;
}

static void set_mirror(const rubus__host_csr *m, const identity *rows)
{
    for (int64_t k = 0; k < rows->n; k++) {
        const int64_t i = rubus__index_get(rows->row, m->index, k);
        const int64_t middle = rubus__index_get(rows->middle, m->index, k);
        const int64_t end = rubus__index_get(m->rowptr, m->index, i + 1);
        for (int64_t e = rubus__index_get(m->rowptr, m->index, i); e < end; e++) {
            if (m->real == RUBUS_F32) {
                ((float *)m->nzval)[e] = e == middle ? 1 : 0;
            } else {
                ((double *)m->nzval)[e] = e == middle ? 1 : 0;
            }
        }
    }
}

static rubus_status set_device(rubus_csr *csr, const identity *rows)
{
    const int32_t index = csr->mirror.index;
    const rubus_kernel *kernel = NULL;
    rubus_array *row = NULL;
    rubus_array *middle = NULL;
    rubus_status st = rubus__csr_kernel(csr, "identity_rows", &kernel);
    if (st == RUBUS_OK) {
        st = rubus_array_from(csr->context, index, RUBUS_SHAPE(rows->n), rows->row, &row);
    }
    if (st == RUBUS_OK) {
        st = rubus_array_from(csr->context, index, RUBUS_SHAPE(rows->n), rows->middle,
                              &middle);
    }
    if (st == RUBUS_OK) {
        const rubus_arg args[4] = {rubus_arg_array(csr->nzval),
                                   rubus_arg_array(csr->rowptr), rubus_arg_array(row),
                                   rubus_arg_array(middle)};
        st = rubus_launch_args(kernel, args, 4);
    }
    rubus_array_destroy(row);
    rubus_array_destroy(middle);
    return st;
}

rubus_status rubus_csr_set_identity_rows(rubus_csr *csr, int64_t n, const void *row)
{
    if (csr == NULL || n < 0 || (n > 0 && row == NULL)) {
        return rubus__fail(RUBUS_EINVAL, "rubus_csr_set_identity_rows: %s",
                           csr == NULL ? "the matrix is NULL"
                           : n < 0     ? "n is negative"
                                       : "the array of rows is NULL");
    }
    if (n == 0) {
        return RUBUS_OK;
    }
    const size_t size = rubus__type_size(csr->mirror.index);
    uint64_t *bits =
        rubus__alloc_array((size_t)csr->mirror.nrow / 64 + 1, sizeof(uint64_t));
    identity rows = {0, rubus__alloc_array((size_t)n, size),
                     rubus__alloc_array((size_t)n, size)};
    rubus_status st = bits == NULL || rows.row == NULL || rows.middle == NULL
                          ? RUBUS_ENOMEM
                          : collect(csr, n, row, bits, &rows);
    if (st == RUBUS_OK) {
        st = set_device(csr, &rows);
    }
    if (st == RUBUS_OK) {
        set_mirror(&csr->mirror, &rows);
    }
    rubus__free(bits);
    rubus__free(rows.row);
    rubus__free(rows.middle);
    return st;
}
