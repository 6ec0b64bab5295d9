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

static rubus_status view_of(void *ctx, const rubus_csr_desc *a, sparse_view *v)
{
    rubus_status st = RUBUS_OK;
    v->rowptr = memory_of(ctx, a->rowptr.buffer, &st);
    v->colval = memory_of(ctx, a->colval.buffer, &st);
    v->nzval = memory_of(ctx, a->nzval.buffer, &st);
    if (st == RUBUS_OK) {
        v->rowptr = (const char *)v->rowptr + a->rowptr.first_byte;
        v->colval = (const char *)v->colval + a->colval.first_byte;
        v->nzval = (const char *)v->nzval + a->nzval.first_byte;
    }
    v->wide_index = a->index_type == RUBUS_I64;
    v->wide_value = a->value_type == RUBUS_F64;
    return st;
}

static void view_end(void *ctx, const rubus_csr_desc *a)
{
    give_back(ctx, a->rowptr.buffer);
    give_back(ctx, a->colval.buffer);
    give_back(ctx, a->nzval.buffer);
}

/* y = alpha A x + beta y for one column, whose elements lie so many apart. */
static void product(int mutant, const rubus_csr_desc *a, const sparse_view *v,
                    const void *x, int64_t step_x, void *y, int64_t step_y, double alpha,
                    double beta)
{
    const int64_t nrow =
        mutant == MUTANT_spmv_last_row && a->nrow > 1 ? a->nrow - 1 : a->nrow;
    for (int64_t i = 0; i < nrow; i++) {
        double sum = 0;
        if (alpha != 0) {
            const int64_t end = index_at(v, v->rowptr, i + 1);
            for (int64_t k = index_at(v, v->rowptr, i); k < end; k++) {
                sum += value_at(v->wide_value, v->nzval, k) *
                       value_at(v->wide_value, x, step_x * index_at(v, v->colval, k));
            }
            sum *= alpha;
        }
        if (beta != 0 || mutant == MUTANT_spmv_reads_y) {
            const double factor = mutant == MUTANT_spmv_beta ? 1 : beta;
            sum += factor * value_at(v->wide_value, y, step_y * i);
        }
        value_put(v->wide_value, y, step_y * i, sum);
    }
}

static rubus_status spmv(void *ctx, const rubus_csr_desc *a, const rubus_vec *x,
                         const rubus_vec *y, double alpha, double beta)
{
    sparse_view v;
    rubus_status st = view_of(ctx, a, &v);
    const char *from = memory_of(ctx, x->buffer, &st);
    char *to = memory_of(ctx, y->buffer, &st);
    if (st == RUBUS_OK) {
        product(mutant_of(ctx)->mutant, a, &v, from + x->first_byte, 1,
                to + y->first_byte, 1, alpha, beta);
    }
    give_back(ctx, x->buffer);
    give_back(ctx, y->buffer);
    view_end(ctx, a);
    return st;
}

static rubus_status spmm(void *ctx, const rubus_csr_desc *a, const rubus_mat *x,
                         const rubus_mat *y, double alpha, double beta)
{
    sparse_view v;
    rubus_status st = view_of(ctx, a, &v);
    const char *from = memory_of(ctx, x->buffer, &st);
    char *to = memory_of(ctx, y->buffer, &st);
    const int mutant = mutant_of(ctx)->mutant;
    const int64_t size = v.wide_value ? 8 : 4;
    const int64_t ldx = mutant == MUTANT_spmm_stride ? x->nrow : x->ld;
    const bool x_rows = x->layout == RUBUS_ROW_MAJOR;
    const bool y_rows = y->layout == RUBUS_ROW_MAJOR;
    for (int64_t j = 0; st == RUBUS_OK && j < x->ncol; j++) {
        const int64_t source =
            mutant == MUTANT_spmm_columns && (j ^ 1) < x->ncol ? j ^ 1 : j;
        product(mutant, a, &v, from + x->first_byte + source * (x_rows ? 1 : ldx) * size,
                x_rows ? x->ld : 1, to + y->first_byte + j * (y_rows ? 1 : y->ld) * size,
                y_rows ? y->ld : 1, alpha, beta);
    }
    give_back(ctx, x->buffer);
    give_back(ctx, y->buffer);
    view_end(ctx, a);
    return st;
}

static rubus_status scatter_flush(void *ctx, const rubus_csr_desc *a)
{
    rubus_status st = RUBUS_OK;
    char *to = memory_of(ctx, a->nzval.buffer, &st);
    to += st == RUBUS_OK ? a->nzval.first_byte : 0;
    const int mutant = mutant_of(ctx)->mutant;
    const bool wide = a->value_type == RUBUS_F64;
    const int64_t n = mutant == MUTANT_flush_partly && a->nnz > 1 ? a->nnz - 1 : a->nnz;
    for (int64_t k = 0; st == RUBUS_OK && k < n; k++) {
        const double before = mutant == MUTANT_flush_adds ? value_at(wide, to, k) : 0;
        value_put(wide, to, k, before + value_at(wide, a->mirror_nzval, k));
    }
    give_back(ctx, a->nzval.buffer);
    return st;
}

/* Nothing needs to be known beforehand; the plan shows that it is kept and given back. */
static rubus_status csr_prepare(void *ctx_, const rubus_csr_desc *a,
                                rubus_csr_plan **out_plan)
{
    wrap_context *ctx = ctx_;
    rubus_csr_plan *plan = ctx->host->alloc(ctx->host->ctx, sizeof *plan, 16);
    if (plan == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(plan, 0, sizeof *plan);
    plan->struct_size = sizeof *plan;
    memcpy(plan->path, "rows", sizeof "rows");
    plan->product_bytes = (uint64_t)a->nnz;
    *out_plan = plan;
    return RUBUS_OK;
}

static void csr_release(void *ctx_, rubus_csr_plan *plan)
{
    wrap_context *ctx = ctx_;
    ctx->host->free(ctx->host->ctx, plan);
}

const rubus_ops mutant_sparse = {.csr_prepare = csr_prepare,
                                 .csr_release = csr_release,
                                 .spmv = spmv,
                                 .spmm = spmm,
                                 .scatter_flush = scatter_flush};
