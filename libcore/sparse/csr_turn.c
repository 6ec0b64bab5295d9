/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with the transpose: it is made once, as a matrix of its own beside the one it
 * belongs to, so that every fast path serves it too. Its values are taken from the device
 * by a kernel, each time those of the matrix changed.
 */
#include "config.h"

#include "libcore/sparse/csr.h"

/* Rows of the transpose, in the order of the columns of m; at[k]: entry of m. */
RUBUS__INLINE void turn(const rubus__host_csr *m, rubus__host_csr *t, void *at,
                        int32_t type)
{
    for (int64_t k = 0; k < m->nnz; k++) {
        const int64_t j = rubus__index_get(m->colval, type, k) + 1;
        rubus__index_set(t->rowptr, type, j, rubus__index_get(t->rowptr, type, j) + 1);
    }
    for (int64_t j = 0; j < m->ncol; j++) {
        rubus__index_set(t->rowptr, type, j + 1,
                         rubus__index_get(t->rowptr, type, j) +
                             rubus__index_get(t->rowptr, type, j + 1));
    }
    for (int64_t i = 0; i < m->nrow; i++) {
        const int64_t end = rubus__index_get(m->rowptr, type, i + 1);
        for (int64_t k = rubus__index_get(m->rowptr, type, i); k < end; k++) {
            const int64_t j = rubus__index_get(m->colval, type, k);
            const int64_t to = rubus__index_get(t->rowptr, type, j);
            rubus__index_set(t->rowptr, type, j, to + 1);
            rubus__index_set(t->colval, type, to, i);
            rubus__index_set(at, type, to, k);
        }
    }
    for (int64_t j = m->ncol; j > 0; j--) {
        rubus__index_set(t->rowptr, type, j, rubus__index_get(t->rowptr, type, j - 1));
    }
    rubus__index_set(t->rowptr, type, 0, 0);
}

static rubus_status make(rubus_csr *csr)
{
    const rubus__host_csr *m = &csr->mirror;
    const size_t size = rubus__type_size(m->index);
    rubus__host_csr t = {m->index, m->real, m->ncol, m->nrow, m->nnz, NULL, NULL, NULL};
    t.rowptr = rubus__alloc_array((size_t)m->ncol + 1, size);
    t.colval = rubus__alloc_array((size_t)m->nnz, size);
    void *at = rubus__alloc_array((size_t)m->nnz, size);
    if (t.rowptr == NULL || t.colval == NULL || at == NULL) {
        rubus__host_csr_fini(&t);
        rubus__free(at);
        return RUBUS_ENOMEM;
    }
    if (m->index == RUBUS_I32) {
        turn(m, &t, at, RUBUS_I32);
    } else {
        turn(m, &t, at, RUBUS_I64);
    }
    rubus_status st = rubus_array_from(csr->context, m->index, RUBUS_SHAPE(m->nnz), at,
                                       &csr->turned_at);
    rubus__free(at);
    if (st == RUBUS_OK) {
        st = rubus__csr_take(csr->context, &t, &csr->turned);
    } else {
        rubus__host_csr_fini(&t);
    }
    if (st != RUBUS_OK) {
        rubus_array_destroy(csr->turned_at);
        csr->turned_at = NULL;
    }
    return st;
}

rubus_status rubus__csr_turn(rubus_csr *csr)
{
    rubus_status st = csr->turned == NULL ? make(csr) : RUBUS_OK;
    if (st == RUBUS_OK) {
        st = rubus__enter(csr->context, "rubus_spmv_transposed");
    }
    if (st != RUBUS_OK) {
        return st;
    }
    // a write between this look and the launch only makes the next product look again
    const uint64_t version = csr->nzval->storage->version;
    (void)rubus__leave(csr->context, RUBUS_OK);
    if (csr->turned_fresh && csr->turned_version == version) {
        return RUBUS_OK;
    }
    const rubus_kernel *permute = NULL;
    st = rubus__csr_kernel(csr, "permute", &permute);
    if (st == RUBUS_OK) {
        const rubus_arg args[3] = {rubus_arg_array(csr->turned->nzval),
                                   rubus_arg_array(csr->nzval),
                                   rubus_arg_array(csr->turned_at)};
        st = rubus_launch_args(permute, args, 3);
    }
    if (st == RUBUS_OK) {
        csr->turned_version = version;
        csr->turned_fresh = true;
    }
    return st;
}
