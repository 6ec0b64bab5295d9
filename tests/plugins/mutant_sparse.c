/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse slots for a backend whose buffers are memory of the host: plain loops, through
 * map of the inner backend. The mutants break them.
 */
#include "config.h"

#include "tests/plugins/mutant.h"

#include <string.h>

typedef struct sparse_view {
    const void *rowptr;
    const void *colval;
    const void *nzval;
    bool wide_index;
    bool wide_value;
} sparse_view;

static void *memory_of(void *ctx, void *buffer, rubus_status *st)
{
    void *p = NULL;
    if (*st == RUBUS_OK && buffer != NULL) {
        *st = wrap_forward.map(ctx, buffer, RUBUS_READ | RUBUS_WRITE, &p);
    }
    return p;
}

static void give_back(void *ctx, void *buffer)
{
    if (buffer != NULL) {
        (void)wrap_forward.unmap(ctx, buffer);
    }
}

static int64_t index_at(const sparse_view *v, const void *list, int64_t at)
{
    return v->wide_index ? ((const int64_t *)list)[at] : ((const int32_t *)list)[at];
}

static double value_at(bool wide, const void *list, int64_t at)
{
    return wide ? ((const double *)list)[at] : (double)((const float *)list)[at];
}

static void value_put(bool wide, void *list, int64_t at, double value)
{
    if (wide) {
        ((double *)list)[at] = value;
    } else {
        ((float *)list)[at] = (float)value;
    }
}

static rubus_status view_of(void *ctx, const rubus_csr *a, sparse_view *v)
{
    rubus_status st = RUBUS_OK;
    v->rowptr = memory_of(ctx, a->rowptr, &st);
    v->colval = memory_of(ctx, a->colval, &st);
    v->nzval = memory_of(ctx, a->nzval, &st);
    v->wide_index = a->index_type == RUBUS_I64;
    v->wide_value = a->value_type == RUBUS_F64;
    return st;
}

static void view_end(void *ctx, const rubus_csr *a)
{
    give_back(ctx, a->rowptr);
    give_back(ctx, a->colval);
    give_back(ctx, a->nzval);
}

/* y = alpha A x + beta y for one column. */
static void product(int mutant, const rubus_csr *a, const sparse_view *v, const void *x,
                    void *y, double alpha, double beta)
{
    const int64_t nrow =
        mutant == MUTANT_spmv_last_row && a->nrow > 1 ? a->nrow - 1 : a->nrow;
    for (int64_t i = 0; i < nrow; i++) {
        double sum = 0;
        if (alpha != 0) {
            const int64_t end = index_at(v, v->rowptr, i + 1);
            for (int64_t k = index_at(v, v->rowptr, i); k < end; k++) {
                sum += value_at(v->wide_value, v->nzval, k) *
                       value_at(v->wide_value, x, index_at(v, v->colval, k));
            }
            sum *= alpha;
        }
        if (beta != 0 || mutant == MUTANT_spmv_reads_y) {
            const double factor = mutant == MUTANT_spmv_beta ? 1 : beta;
            sum += factor * value_at(v->wide_value, y, i);
        }
        value_put(v->wide_value, y, i, sum);
    }
}

static rubus_status spmv(void *ctx, const rubus_csr *a, const rubus_vec *x,
                         const rubus_vec *y, double alpha, double beta)
{
    sparse_view v;
    rubus_status st = view_of(ctx, a, &v);
    const char *from = memory_of(ctx, x->buffer, &st);
    char *to = memory_of(ctx, y->buffer, &st);
    if (st == RUBUS_OK) {
        product(mutant_of(ctx)->mutant, a, &v, from + x->first_byte, to + y->first_byte,
                alpha, beta);
    }
    give_back(ctx, x->buffer);
    give_back(ctx, y->buffer);
    view_end(ctx, a);
    return st;
}

static rubus_status spmm(void *ctx, const rubus_csr *a, const rubus_mat *x,
                         const rubus_mat *y, double alpha, double beta)
{
    sparse_view v;
    rubus_status st = view_of(ctx, a, &v);
    const char *from = memory_of(ctx, x->buffer, &st);
    char *to = memory_of(ctx, y->buffer, &st);
    const int mutant = mutant_of(ctx)->mutant;
    const int64_t size = v.wide_value ? 8 : 4;
    const int64_t ldx = mutant == MUTANT_spmm_stride ? x->nrow : x->ld;
    for (int64_t j = 0; st == RUBUS_OK && j < x->ncol; j++) {
        const int64_t source =
            mutant == MUTANT_spmm_columns && (j ^ 1) < x->ncol ? j ^ 1 : j;
        product(mutant, a, &v, from + x->first_byte + source * ldx * size,
                to + y->first_byte + j * y->ld * size, alpha, beta);
    }
    give_back(ctx, x->buffer);
    give_back(ctx, y->buffer);
    view_end(ctx, a);
    return st;
}

static rubus_status scatter_flush(void *ctx, const rubus_csr *a)
{
    rubus_status st = RUBUS_OK;
    char *to = memory_of(ctx, a->nzval, &st);
    const int mutant = mutant_of(ctx)->mutant;
    const bool wide = a->value_type == RUBUS_F64;
    const int64_t n = mutant == MUTANT_flush_partly && a->nnz > 1 ? a->nnz - 1 : a->nnz;
    for (int64_t k = 0; st == RUBUS_OK && k < n; k++) {
        const double before = mutant == MUTANT_flush_adds ? value_at(wide, to, k) : 0;
        value_put(wide, to, k, before + value_at(wide, a->mirror_nzval, k));
    }
    give_back(ctx, a->nzval);
    return st;
}

const rubus_ops mutant_sparse = {
    .spmv = spmv, .spmm = spmm, .scatter_flush = scatter_flush};
