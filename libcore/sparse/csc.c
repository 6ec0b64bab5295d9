/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Storage by columns: the arrays of the transpose, kept as rows. It has no products, so
 * that nobody meets a slow one unawares; the refusal names the conversion.
 */
#include "config.h"

#include "libcore/sparse/csr.h"

struct rubus_csc {
    rubus__object object;
    int64_t nrow;
    int64_t ncol;
    rubus_csr *turned; /* its rows are our columns */
};

static void destroy_object(void *self)
{
    rubus_csc_destroy(self);
}

rubus_status rubus_csc_create(rubus_context *context, int32_t index, int32_t real,
                              int64_t nrow, int64_t ncol, int64_t nnz, const void *colptr,
                              const void *rowval, const void *nzval, rubus_csc **out_csc)
{
    static const char what[] = "rubus_csc_create";
    const rubus__host_csr sizes = {index, real, nrow, ncol, nnz, NULL, NULL, NULL};
    rubus__host_csr turned = {index, real, ncol, nrow, nnz, NULL, NULL, NULL};
    rubus__host_csr given = sizes;
    given.rowptr = (void *)(uintptr_t)colptr;
    given.colval = (void *)(uintptr_t)rowval;
    rubus_status st = rubus__csr_check_sizes(what, context, &sizes, out_csc);
    if (st == RUBUS_OK) {
        st = rubus__csr_check_rows(what, &given, ncol, nrow, "column", "row");
    }
    if (st == RUBUS_OK) {
        st = rubus__host_from_rows(&turned, colptr, rowval, nzval);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_csc *csc = rubus__alloc(sizeof(*csc));
    if (csc == NULL) {
        rubus__host_csr_fini(&turned);
        return RUBUS_ENOMEM;
    }
    csc->nrow = nrow;
    csc->ncol = ncol;
    st = rubus__csr_take(context, &turned, &csc->turned);
    if (st != RUBUS_OK) {
        rubus__free(csc);
        return st;
    }
    rubus__object_add(context, &csc->object, RUBUS__RANK_OPERATOR, destroy_object, csc);
    *out_csc = csc;
    return RUBUS_OK;
}

void rubus_csc_destroy(rubus_csc *csc)
{
    if (csc != NULL) {
        rubus__object_remove(csc->turned->context, &csc->object);
        rubus_csr_destroy(csc->turned);
        rubus__free(csc);
    }
}

rubus_array *rubus_csc_colptr(const rubus_csc *csc)
{
    return csc == NULL ? NULL : csc->turned->rowptr;
}

rubus_array *rubus_csc_rowval(const rubus_csc *csc)
{
    return csc == NULL ? NULL : csc->turned->colval;
}

rubus_array *rubus_csc_nzval(const rubus_csc *csc)
{
    return csc == NULL ? NULL : csc->turned->nzval;
}

rubus_status rubus_csc_to_csr(rubus_csc *csc, rubus_csr **out_csr)
{
    if (csc == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_csc_to_csr: the matrix is NULL");
    }
    const rubus_status st = rubus_csr_pull(csc->turned);
    return st != RUBUS_OK ? st : rubus_csr_create_transpose(csc->turned, out_csr);
}

static rubus_status refuse(const char *what, const rubus_csc *a)
{
    if (a == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the matrix is NULL", what);
    }
    return rubus__fail(
        RUBUS_EUNSUPPORTED,
        "%s: the matrix of %lld rows and %lld columns is stored by columns "
        "(CSC), which has no products; convert it once with "
        "rubus_csc_to_csr",
        what, (long long)a->nrow, (long long)a->ncol);
}

rubus_status rubus_csc_spmv(double alpha, rubus_csc *a, rubus_array *x, double beta,
                            rubus_array *y)
{
    (void)alpha;
    (void)x;
    (void)beta;
    (void)y;
    return refuse("rubus_csc_spmv", a);
}

rubus_status rubus_csc_spmm(double alpha, rubus_csc *a, rubus_dense x, double beta,
                            rubus_dense y)
{
    (void)alpha;
    (void)x;
    (void)beta;
    (void)y;
    return refuse("rubus_csc_spmm", a);
}
