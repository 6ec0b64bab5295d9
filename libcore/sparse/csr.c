/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices of compressed rows: creation from all that they can be made of, one upload,
 * the mirror, what can be asked of them.
 */
#include "config.h"

#include "libcore/sparse/csr.h"

#include <string.h>

static void destroy(rubus_csr *csr)
{
    rubus__object_remove(csr->context, &csr->object);
    if (csr->owner != NULL) {
        csr->owner_destroy(csr->owner);
    }
    rubus__csr_plan_fini(csr);
    rubus_array_destroy(csr->rowptr);
    rubus_array_destroy(csr->colval);
    rubus_array_destroy(csr->nzval);
    rubus__host_csr_fini(&csr->mirror);
    rubus_context *context = csr->context;
    if (!rubus__context_forked(context)) {
        pthread_mutex_destroy(&csr->lock);
    }
    rubus__free(csr);
    rubus_context_destroy(context);
}

void rubus__csr_hold(rubus_csr *csr)
{
    atomic_fetch_add(&csr->references, 1);
}

void rubus__csr_own(rubus_csr *csr, void *owner, void (*end)(void *owner))
{
    csr->owner = owner;
    csr->owner_destroy = end;
}

void *rubus__csr_owner(const rubus_csr *csr, void (*end)(void *owner))
{
    return csr->owner_destroy == end ? csr->owner : NULL;
}

void rubus_csr_destroy(rubus_csr *csr)
{
    if (csr != NULL && atomic_fetch_sub(&csr->references, 1) == 1) {
        destroy(csr);
    }
}

static void destroy_object(void *self)
{
    rubus_csr_destroy(self);
}

static rubus_status upload(rubus_csr *csr)
{
    const rubus__host_csr *m = &csr->mirror;
    rubus_context *context = csr->context;
    rubus_status st = rubus_array_from(context, m->index, RUBUS_SHAPE(m->nrow + 1),
                                       m->rowptr, &csr->rowptr);
    if (st == RUBUS_OK) {
        st = rubus_array_from(context, m->index, RUBUS_SHAPE(m->nnz), m->colval,
                              &csr->colval);
    }
    if (st == RUBUS_OK) {
        st = m->nzval == NULL
                 ? rubus_array_create(context, m->real, RUBUS_SHAPE(m->nnz), &csr->nzval)
                 : rubus_array_from(context, m->real, RUBUS_SHAPE(m->nnz), m->nzval,
                                    &csr->nzval);
    }
    return st;
}

rubus_status rubus__csr_take(rubus_context *context, rubus__host_csr *host,
                             rubus_csr **out_csr)
{
    rubus_csr *csr = rubus__alloc(sizeof(*csr));
    if (csr == NULL) {
        rubus__host_csr_fini(host);
        return RUBUS_ENOMEM;
    }
    atomic_init(&csr->references, 1);
    rubus__context_hold(context);
    csr->context = context;
    csr->mirror = *host;
    pthread_mutex_init(&csr->lock, NULL);
    const rubus_status st = upload(csr);
    if (st != RUBUS_OK) {
        rubus_csr_destroy(csr);
        return st;
    }
    rubus__object_add(context, &csr->object, RUBUS__RANK_CSR, destroy_object, csr);
    *out_csr = csr;
    return RUBUS_OK;
}

/* --- creation --------------------------------------------------------------------- */

rubus_status rubus_csr_create(rubus_context *context, int32_t index, int32_t real,
                              int64_t nrow, int64_t ncol, int64_t nnz, const void *rowptr,
                              const void *colval, const void *nzval, rubus_csr **out_csr)
{
    static const char what[] = "rubus_csr_create";
    rubus__host_csr host = {index, real, nrow, ncol, nnz, NULL, NULL, NULL};
    rubus__host_csr given = host;
    given.rowptr = (void *)(uintptr_t)rowptr;
    given.colval = (void *)(uintptr_t)colval;
    rubus_status st = rubus__csr_check_sizes(what, context, &host, out_csr);
    if (st == RUBUS_OK) {
        st = rubus__csr_check_rows(what, &given, nrow, ncol, "row", "column");
    }
    if (st == RUBUS_OK) {
        st = rubus__host_from_rows(&host, rowptr, colval, nzval);
    }
    return st != RUBUS_OK ? st : rubus__csr_take(context, &host, out_csr);
}

rubus_status rubus_csr_create_coo(rubus_context *context, int32_t index, int32_t real,
                                  int64_t nrow, int64_t ncol, int64_t n, const void *row,
                                  const void *col, const void *value, rubus_csr **out_csr)
{
    static const char what[] = "rubus_csr_create_coo";
    rubus__host_csr host = {index, real, nrow, ncol, n, NULL, NULL, NULL};
    rubus_status st = rubus__csr_check_sizes(what, context, &host, out_csr);
    if (st == RUBUS_OK) {
        st = rubus__csr_check_list(what, &host, row, col);
    }
    if (st == RUBUS_OK) {
        st = rubus__host_from_list(&host, row, col, value);
    }
    return st != RUBUS_OK ? st : rubus__csr_take(context, &host, out_csr);
}

rubus_status rubus_csr_create_csc(rubus_context *context, int32_t index, int32_t real,
                                  int64_t nrow, int64_t ncol, int64_t nnz,
                                  const void *colptr, const void *rowval,
                                  const void *nzval, rubus_csr **out_csr)
{
    static const char what[] = "rubus_csr_create_csc";
    rubus__host_csr host = {index, real, nrow, ncol, nnz, NULL, NULL, NULL};
    rubus__host_csr given = host;
    given.rowptr = (void *)(uintptr_t)colptr;
    given.colval = (void *)(uintptr_t)rowval;
    rubus_status st = rubus__csr_check_sizes(what, context, &host, out_csr);
    if (st == RUBUS_OK) {
        st = rubus__csr_check_rows(what, &given, ncol, nrow, "column", "row");
    }
    if (st == RUBUS_OK) {
        st = rubus__host_from_columns(&host, colptr, rowval, nzval);
    }
    return st != RUBUS_OK ? st : rubus__csr_take(context, &host, out_csr);
}

rubus_status rubus_csr_create_identity(rubus_context *context, int32_t index,
                                       int32_t real, int64_t n, rubus_csr **out_csr)
{
    rubus__host_csr host = {index, real, n, n, n, NULL, NULL, NULL};
    rubus_status st =
        rubus__csr_check_sizes("rubus_csr_create_identity", context, &host, out_csr);
    if (st == RUBUS_OK) {
        st = rubus__host_identity(&host);
    }
    return st != RUBUS_OK ? st : rubus__csr_take(context, &host, out_csr);
}

rubus_status rubus_csr_create_zeros(rubus_context *context, int32_t index, int32_t real,
                                    int64_t nrow, int64_t ncol, rubus_csr **out_csr)
{
    rubus__host_csr host = {index, real, nrow, ncol, 0, NULL, NULL, NULL};
    rubus_status st =
        rubus__csr_check_sizes("rubus_csr_create_zeros", context, &host, out_csr);
    if (st == RUBUS_OK) {
        st = rubus__host_from_list(&host, NULL, NULL, NULL);
    }
    return st != RUBUS_OK ? st : rubus__csr_take(context, &host, out_csr);
}

rubus_status rubus_csr_create_transpose(rubus_csr *csr, rubus_csr **out_csr)
{
    static const char what[] = "rubus_csr_create_transpose";
    if (csr == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the matrix is NULL", what);
    }
    const rubus__host_csr *m = &csr->mirror;
    rubus__host_csr host = {m->index, m->real, m->ncol, m->nrow,
                            m->nnz,   NULL,    NULL,    NULL};
    rubus_status st = rubus__csr_check_sizes(what, csr->context, &host, out_csr);
    if (st == RUBUS_OK) {
        st = rubus__host_from_columns(&host, m->rowptr, m->colval, m->nzval);
    }
    return st != RUBUS_OK ? st : rubus__csr_take(csr->context, &host, out_csr);
}

/* --- looking ---------------------------------------------------------------------- */

rubus_status rubus_csr_info_get(rubus_csr *csr, rubus_csr_info *info)
{
    if (csr == NULL || info == NULL || info->struct_size == 0) {
        return rubus__fail(RUBUS_EINVAL, "rubus_csr_info_get: %s",
                           csr == NULL    ? "the matrix is NULL"
                           : info == NULL ? "info is NULL"
                                          : "info->struct_size is 0");
    }
    const size_t given = info->struct_size;
    rubus_csr_info full = {.struct_size = given,
                           .nrow = csr->mirror.nrow,
                           .ncol = csr->mirror.ncol,
                           .nnz = csr->mirror.nnz,
                           .index = csr->mirror.index,
                           .real = csr->mirror.real,
                           .path = csr->path};
    const rubus_status st = rubus__csr_enter(csr, "rubus_csr_info_get");
    if (st != RUBUS_OK) {
        return st;
    }
    full.path_bytes = csr->path_bytes;
    full.product_bytes = csr->product_bytes;
    pthread_mutex_unlock(&csr->lock);
    memcpy(info, &full, given < sizeof(full) ? given : sizeof(full));
    return RUBUS_OK;
}

rubus_status rubus_csr_mirror_get(rubus_csr *csr, rubus_csr_mirror *mirror)
{
    if (csr == NULL || mirror == NULL || mirror->struct_size == 0) {
        return rubus__fail(RUBUS_EINVAL, "rubus_csr_mirror_get: %s",
                           csr == NULL      ? "the matrix is NULL"
                           : mirror == NULL ? "mirror is NULL"
                                            : "mirror->struct_size is 0");
    }
    const size_t given = mirror->struct_size;
    const rubus_csr_mirror full = {given, csr->mirror.rowptr, csr->mirror.colval,
                                   csr->mirror.nzval};
    memcpy(mirror, &full, given < sizeof(full) ? given : sizeof(full));
    return RUBUS_OK;
}

rubus_array *rubus_csr_rowptr(const rubus_csr *csr)
{
    return csr == NULL ? NULL : csr->rowptr;
}

rubus_array *rubus_csr_colval(const rubus_csr *csr)
{
    return csr == NULL ? NULL : csr->colval;
}

rubus_array *rubus_csr_nzval(const rubus_csr *csr)
{
    return csr == NULL ? NULL : csr->nzval;
}

rubus_context *rubus_csr_context(const rubus_csr *csr)
{
    return csr == NULL ? NULL : csr->context;
}
