/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before the first product: the backend inspects the matrix, if it has slots for that;
 * for the kernels of the library the long rows are cut into segments here.
 */
#include "config.h"

#include "libcore/sparse/csr.h"

#include <string.h>

rubus_status rubus__csr_kernel(const rubus_csr *csr, const char *name,
                               const rubus_kernel **out_kernel)
{
    const rubus_module_options options = {sizeof(options), csr->mirror.real,
                                          csr->mirror.index, 0, 0};
    return rubus__kept_kernel(csr->context, "sparse.rk", &options, name, out_kernel);
}

rubus_status rubus__csr_enter(rubus_csr *csr, const char *what)
{
    if (csr == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the matrix is NULL", what);
    }
    if (rubus__context_forked(csr->context)) {
        return rubus__enter(csr->context, what); // says so
    }
    pthread_mutex_lock(&csr->lock);
    return RUBUS_OK;
}

/* --- long rows -------------------------------------------------------------------- */

static int64_t row_length(const rubus__host_csr *m, int64_t i)
{
    return rubus__index_get(m->rowptr, m->index, i + 1) -
           rubus__index_get(m->rowptr, m->index, i);
}

static void count_long(const rubus__host_csr *m, rubus__long_rows *out)
{
    for (int64_t i = 0; i < m->nrow; i++) {
        const int64_t n = row_length(m, i);
        if (n > RUBUS__LONG_ROW) {
            out->nrow++;
            out->nsegment += (n + RUBUS__SEGMENT - 1) / RUBUS__SEGMENT;
        }
    }
}

/* The four tables on the host, one behind the other, and where each begins. */
typedef struct long_tables {
    void *row;
    void *start;
    void *first;
    void *size;
} long_tables;

static void fill_tables(const rubus__host_csr *m, const long_tables *t)
{
    int64_t l = 0;
    int64_t s = 0;
    for (int64_t i = 0; i < m->nrow; i++) {
        if (row_length(m, i) <= RUBUS__LONG_ROW) {
            continue;
        }
        rubus__index_set(t->row, m->index, l, i);
        rubus__index_set(t->start, m->index, l, s);
        const int64_t end = rubus__index_get(m->rowptr, m->index, i + 1);
        int64_t k = rubus__index_get(m->rowptr, m->index, i);
        for (; k < end; k += RUBUS__SEGMENT) {
            rubus__index_set(t->first, m->index, s, k);
            rubus__index_set(t->size, m->index, s,
                             end - k < RUBUS__SEGMENT ? end - k : RUBUS__SEGMENT);
            s++;
        }
        l++;
    }
    rubus__index_set(t->start, m->index, l, s);
}

static rubus_status upload_tables(rubus_csr *csr, const long_tables *t)
{
    rubus__long_rows *lr = &csr->long_rows;
    const int32_t index = csr->mirror.index;
    rubus_context *context = csr->context;
    rubus_status st =
        rubus_array_from(context, index, RUBUS_SHAPE(lr->nrow), t->row, &lr->row);
    if (st == RUBUS_OK) {
        st = rubus_array_from(context, index, RUBUS_SHAPE(lr->nrow + 1), t->start,
                              &lr->start);
    }
    if (st == RUBUS_OK) {
        st = rubus_array_from(context, index, RUBUS_SHAPE(lr->nsegment), t->first,
                              &lr->first);
    }
    if (st == RUBUS_OK) {
        st = rubus_array_from(context, index, RUBUS_SHAPE(lr->nsegment), t->size,
                              &lr->size);
    }
    return st;
}

static void long_rows_fini(rubus__long_rows *lr)
{
    rubus_array_destroy(lr->row);
    rubus_array_destroy(lr->start);
    rubus_array_destroy(lr->first);
    rubus_array_destroy(lr->size);
    rubus_array_destroy(lr->part);
    memset(lr, 0, sizeof(*lr));
}

static rubus_status make_long_rows(rubus_csr *csr)
{
    rubus__long_rows *lr = &csr->long_rows;
    count_long(&csr->mirror, lr);
    if (lr->nrow == 0) {
        return RUBUS_OK;
    }
    const size_t size = rubus__type_size(csr->mirror.index);
    const size_t nrow = (size_t)lr->nrow;
    const size_t nsegment = (size_t)lr->nsegment;
    char *memory = rubus__alloc_array(2 * nrow + 1 + 2 * nsegment, size);
    rubus_status st = memory == NULL ? RUBUS_ENOMEM : RUBUS_OK;
    if (st == RUBUS_OK) {
        const long_tables tables = {memory, memory + nrow * size,
                                    memory + (2 * nrow + 1) * size,
                                    memory + (2 * nrow + 1 + nsegment) * size};
        fill_tables(&csr->mirror, &tables);
        st = upload_tables(csr, &tables);
    }
    rubus__free(memory);
    if (st != RUBUS_OK) {
        long_rows_fini(lr);
    }
    return st;
}

rubus_status rubus__csr_part(rubus_csr *csr, int64_t k)
{
    rubus__long_rows *lr = &csr->long_rows;
    if (lr->nrow == 0 ||
        (lr->part != NULL && rubus_array_count(lr->part) / lr->nsegment >= k)) {
        return RUBUS_OK;
    }
    rubus_array *part = NULL;
    const rubus_status st = rubus_array_create(csr->context, csr->mirror.real,
                                               RUBUS_SHAPE(k, lr->nsegment), &part);
    if (st == RUBUS_OK) {
        rubus_array_destroy(lr->part);
        lr->part = part;
    }
    return st;
}

/* --- plans ------------------------------------------------------------------------ */

static rubus_vec vec_of(const rubus_array *array)
{
    return (rubus_vec){array->storage->buffer, rubus__array_first_byte(array),
                       array->count};
}

rubus_csr_desc rubus__csr_describe(const rubus_csr *csr)
{
    const rubus__host_csr *m = &csr->mirror;
    return (rubus_csr_desc){.struct_size = sizeof(rubus_csr_desc),
                            .index_type = (uint32_t)m->index,
                            .value_type = (uint32_t)m->real,
                            .nrow = m->nrow,
                            .ncol = m->ncol,
                            .nnz = m->nnz,
                            .rowptr = vec_of(csr->rowptr),
                            .colval = vec_of(csr->colval),
                            .nzval = vec_of(csr->nzval),
                            .mirror_rowptr = m->rowptr,
                            .mirror_colval = m->colval,
                            .mirror_nzval = m->nzval};
}

static rubus_status inspect(rubus_csr *csr)
{
    rubus_context *context = csr->context;
    const rubus_ops *ops = context->dev->ops;
    rubus_csr_plan *plan = NULL;
    rubus_status st = rubus__enter(context, "rubus_csr_optimize");
    if (st != RUBUS_OK) {
        return st;
    }
    csr->desc.version = csr->nzval->storage->version;
    st = RUBUS__SLOT(context, "csr_prepare",
                     ops->csr_prepare(context->dev->ctx, &csr->desc, &plan));
    if (st == RUBUS_OK && plan != NULL) {
        csr->desc.plan = plan;
        rubus__snprintf(csr->path, sizeof(csr->path), "%.*s", (int)sizeof(csr->path) - 1,
                        plan->path);
        csr->path_bytes = plan->nbyte;
        csr->product_bytes = plan->product_bytes;
    }
    return rubus__leave(context, st);
}

rubus_status rubus__csr_prepare(rubus_csr *csr)
{
    if (csr->prepared) {
        return RUBUS_OK;
    }
    const rubus__host_csr *m = &csr->mirror;
    const rubus_ops *ops = csr->context->dev->ops;
    rubus_status st = RUBUS_OK;
    if (csr->desc.plan == NULL) { // else of a try whose second half failed
        csr->desc = rubus__csr_describe(csr);
        st = ops->csr_prepare != NULL && m->nnz > 0 ? inspect(csr) : RUBUS_OK;
    }
    if (st == RUBUS_OK && (ops->spmv == NULL || ops->spmm == NULL)) {
        st = make_long_rows(csr);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    if (csr->path[0] == '\0') {
        const uint64_t index = rubus__type_size(m->index);
        const uint64_t real = rubus__type_size(m->real);
        rubus__snprintf(csr->path, sizeof(csr->path), "rows, %s",
                        ops->spmv != NULL ? "by the backend" : "kernel of the library");
        csr->product_bytes = (uint64_t)m->nnz * (index + real) +
                             ((uint64_t)m->nrow + 1) * index +
                             ((uint64_t)m->nrow + (uint64_t)m->ncol) * real;
    }
    csr->prepared = true;
    return RUBUS_OK;
}

void rubus__csr_plan_fini(rubus_csr *csr)
{
    rubus_context *context = csr->context;
    if (csr->desc.plan != NULL && !rubus__context_forked(context)) {
        pthread_mutex_lock(&context->lock);
        rubus__error_hold(true);
        context->dev->ops->csr_release(context->dev->ctx, csr->desc.plan);
        rubus__error_hold(false);
        pthread_mutex_unlock(&context->lock);
    }
    csr->desc.plan = NULL;
    long_rows_fini(&csr->long_rows);
    rubus_csr_destroy(csr->turned);
    rubus_array_destroy(csr->turned_at);
    csr->turned = NULL;
    csr->turned_at = NULL;
}

rubus_status rubus_csr_optimize(rubus_csr *csr)
{
    rubus_status st = rubus__csr_enter(csr, "rubus_csr_optimize");
    if (st == RUBUS_OK) {
        st = rubus__csr_prepare(csr);
        pthread_mutex_unlock(&csr->lock);
    }
    return st;
}
