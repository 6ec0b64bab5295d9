/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots for sparse matrices. A plan belongs to the structure of a matrix; its copy of
 * the values is made again when they have changed, but not at once if they seem to change
 * at every product: then products run on the arrays of the matrix.
 */
#include "config.h"

#include "plugins/vulkan/vk_sparse.h"

#include "plugins/vulkan/vk_module.h"

#include <stddef.h>

/* Products on the arrays of the matrix before changed values are packed, unless those
 * before them served as many as MANY. */
#define WAIT 2
#define MANY 8
#define WIDE 8                 /* columns that are worth a lane each */
#define COLUMNS_MOST (1 << 20) /* of X that one launch takes */

/* --- plans ------------------------------------------------------------------------ */

static rubus_vec vec_of(vk_buffer *buffer, uint64_t size)
{
    return (rubus_vec){.buffer = buffer, .n = (int64_t)(buffer->nbyte / size)};
}

static void plan_destroy(vk_sparse_plan *plan)
{
    vk_context *ctx = plan->ctx;
    vk_sparse_drop(plan);
    vk_buffer_destroy(ctx, plan->long_row);
    vk_buffer_destroy(ctx, plan->segment);
    vk_buffer_destroy(ctx, plan->part);
    ctx->host->free(ctx->host->ctx, plan);
}

void vk_csr_release(void *ctx, rubus_csr_plan *plan)
{
    (void)ctx;
    if (plan != NULL) {
        plan_destroy((vk_sparse_plan *)(void *)plan);
    }
}

static rubus_status pack_stencil(vk_sparse_plan *plan, const rubus_csr_desc *a)
{
    const uint64_t real = vk_type_size(a->value_type);
    const vk_sparse_call call = {.entry = VK_PACK_STENCIL,
                                 .points = {plan->ntile * VK_TILE},
                                 .array = {vec_of(plan->value, real),
                                           vec_of(plan->mask, 4), vec_of(plan->offset, 4),
                                           a->rowptr, a->colval, a->nzval},
                                 .number = {a->nrow, plan->ndiag},
                                 .cost = 2 * plan->head.product_bytes};
    return vk_sparse_run(plan->ctx, a, &call);
}

/* Where the list of rows begins that lanes have; 0: none, they are in order. */
static int64_t list_of(const vk_sparse_plan *plan)
{
    return plan->sorted ? plan->nslice * VK_SLICE : 0;
}

static rubus_status pack_slices(vk_sparse_plan *plan, const rubus_csr_desc *a)
{
    const uint64_t real = vk_type_size(a->value_type);
    const vk_sparse_call call = {.entry = VK_PACK_SLICES,
                                 .points = {plan->nslice * VK_SLICE},
                                 .array = {vec_of(plan->value, real),
                                           vec_of(plan->column, 4), vec_of(plan->lane, 4),
                                           vec_of(plan->start, 4), a->rowptr, a->colval,
                                           a->nzval},
                                 .number = {list_of(plan)},
                                 .cost = 2 * plan->head.product_bytes};
    return vk_sparse_run(plan->ctx, a, &call);
}

static rubus_status pack(vk_sparse_plan *plan, const rubus_csr_desc *a)
{
    const rubus_status st = plan->kind == VK_KIND_STENCIL  ? pack_stencil(plan, a)
                            : plan->kind == VK_KIND_SLICES ? pack_slices(plan, a)
                                                           : RUBUS_OK;
    plan->packed = st == RUBUS_OK;
    plan->version = a->version;
    return st;
}

rubus_status vk_csr_prepare(void *context, const rubus_csr_desc *a,
                            rubus_csr_plan **out_plan)
{
    vk_context *ctx = context;
    rubus_status st = vk_usable(ctx);
    if (st == RUBUS_OK) {
        st = vk_sparse_check(ctx, a);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    vk_sparse_plan *plan = vk_new(ctx->host, sizeof *plan);
    if (plan == NULL) {
        return RUBUS_ENOMEM;
    }
    plan->head.struct_size = sizeof plan->head;
    plan->ctx = ctx;
    plan->before = MANY;
    st = vk_sparse_inspect(plan, a);
    if (st == RUBUS_OK) {
        st = pack(plan, a);
    }
    if (st != RUBUS_OK) {
        plan_destroy(plan);
        return st;
    }
    *out_plan = &plan->head;
    return RUBUS_OK;
}

/* Whether the plan's copy of the values can be used, which may be made now. */
static rubus_status use_packed(vk_sparse_plan *plan, const rubus_csr_desc *a,
                               bool *out_use)
{
    if (plan->version != a->version) {
        plan->version = a->version;
        plan->packed = false;
        plan->before = plan->products;
        plan->products = 0;
    }
    rubus_status st = RUBUS_OK;
    if (!plan->packed && (plan->before >= MANY || plan->products >= WAIT)) {
        st = pack(plan, a);
    }
    if (plan->products < MANY) {
        plan->products++;
    }
    *out_use = plan->packed && plan->kind != VK_KIND_ROWS;
    return st;
}

/* --- operands --------------------------------------------------------------------- */

/* A product. Element (i, j) of X is x[i * x_row + j * x_col]; likewise Y. */
typedef struct product {
    const rubus_csr_desc *a;
    vk_sparse_plan *plan;
    rubus_vec x;
    rubus_vec y;
    int64_t k;
    int64_t x_row;
    int64_t x_col;
    int64_t y_row;
    int64_t y_col;
    double alpha;
    double beta;
    bool packed;
} product;

static rubus_status begin(vk_context *ctx, const rubus_csr_desc *a, product *out)
{
    const rubus_status st = vk_usable(ctx);
    if (st != RUBUS_OK) {
        return st;
    }
    if (a->plan == NULL) {
        ctx->host->fail(ctx->host->ctx, RUBUS_EINVAL,
                        "product of a sparse matrix: csr_prepare was not called");
        return RUBUS_EINVAL;
    }
    out->a = a;
    out->plan = (vk_sparse_plan *)(void *)a->plan;
    return use_packed(out->plan, a, &out->packed);
}

static uint64_t cost_of(const product *p)
{
    const uint64_t real = vk_type_size(p->a->value_type);
    return p->plan->head.product_bytes +
           (uint64_t)(p->k - 1) * (uint64_t)(p->a->nrow + p->a->ncol) * real;
}

/* --- long rows -------------------------------------------------------------------- */

/* Room for the sums of segments of k columns. */
static rubus_status reserve_part(const product *p)
{
    vk_sparse_plan *plan = p->plan;
    if (p->k <= plan->part_width) {
        return RUBUS_OK;
    }
    vk_buffer *part = NULL;
    const rubus_status st = vk_sparse_buffer(plan->ctx,
                                             (uint64_t)plan->nsegment * (uint64_t)p->k *
                                                 vk_type_size(p->a->value_type),
                                             &part);
    if (st == RUBUS_OK) {
        vk_buffer_destroy(plan->ctx, plan->part);
        plan->part = part;
        plan->part_width = p->k;
    }
    return st;
}

static rubus_status run_segments(const product *p)
{
    vk_sparse_plan *plan = p->plan;
    const rubus_csr_desc *a = p->a;
    if (plan->nlong == 0) {
        return RUBUS_OK;
    }
    const rubus_status st = reserve_part(p);
    if (st != RUBUS_OK) {
        return st;
    }
    const vk_sparse_call call = {
        .entry = VK_SEGMENTS,
        .points = {plan->nsegment, p->k},
        .array = {vec_of(plan->part, vk_type_size(a->value_type)), p->x,
                  vec_of(plan->segment, vk_type_size(a->index_type)), a->colval,
                  a->nzval},
        .number = {p->x_row, p->x_col, plan->nsegment},
        .cost = cost_of(p)};
    return vk_sparse_run(plan->ctx, a, &call);
}

static rubus_status run_long_rows(const product *p)
{
    const vk_sparse_plan *plan = p->plan;
    const rubus_csr_desc *a = p->a;
    if (plan->nlong == 0) {
        return RUBUS_OK;
    }
    const vk_sparse_call call = {
        .entry = VK_LONG_ROWS,
        .points = {plan->nlong, p->k},
        .array = {p->y, vec_of(plan->part, vk_type_size(a->value_type)),
                  vec_of(plan->long_row, vk_type_size(a->index_type))},
        .number = {p->y_row, p->y_col, plan->nsegment},
        .alpha = p->alpha,
        .beta = p->beta,
        .cost = (uint64_t)plan->nsegment * (uint64_t)p->k * 8};
    return vk_sparse_run(plan->ctx, a, &call);
}

/* --- vectors ---------------------------------------------------------------------- */

/* On a CPU an invocation takes four rows: shaders/spmv.comp. */
static int64_t points_of(const vk_context *ctx, int64_t nrow)
{
    return vk_is_software(ctx->physical) ? (nrow + 3) / 4 : nrow;
}

static rubus_status run_rows(const product *p)
{
    vk_sparse_plan *plan = p->plan;
    const rubus_csr_desc *a = p->a;
    const uint64_t real = vk_type_size(a->value_type);
    vk_sparse_call call = {
        .alpha = p->alpha, .beta = p->beta, .cost = cost_of(p), .array = {p->y, p->x}};
    if (!p->packed) {
        call.entry = VK_ROWS;
        call.points[0] = a->nrow;
        call.array[2] = a->rowptr;
        call.array[3] = a->colval;
        call.array[4] = a->nzval;
    } else if (plan->kind == VK_KIND_STENCIL) {
        call.entry = VK_STENCIL;
        call.points[0] = points_of(plan->ctx, a->nrow);
        call.array[2] = vec_of(plan->value, real);
        call.array[3] = vec_of(plan->offset, 4);
        call.array[4] = vec_of(plan->mask, 4);
        call.number[0] = a->nrow;
        call.number[1] = a->ncol;
        call.number[2] = plan->ndiag;
    } else {
        call.entry = VK_SLICES;
        call.points[0] = points_of(plan->ctx, plan->nslice * VK_SLICE);
        call.array[2] = vec_of(plan->value, real);
        call.array[3] = vec_of(plan->column, 4);
        call.array[4] = vec_of(plan->lane, 4);
        call.array[5] = vec_of(plan->start, 4);
        call.number[0] = list_of(plan);
    }
    return vk_sparse_run(plan->ctx, a, &call);
}

static rubus_status run_vector(const product *p)
{
    rubus_status st = run_segments(p);
    if (st == RUBUS_OK) {
        st = run_rows(p);
    }
    return st == RUBUS_OK ? run_long_rows(p) : st;
}

rubus_status vk_spmv(void *context, const rubus_csr_desc *a, const rubus_vec *x,
                     const rubus_vec *y, double alpha, double beta)
{
    product p = {.x = *x,
                 .y = *y,
                 .k = 1,
                 .x_row = 1,
                 .x_col = 1,
                 .y_row = 1,
                 .y_col = 1,
                 .alpha = alpha,
                 .beta = beta};
    const rubus_status st = begin(context, a, &p);
    return st == RUBUS_OK ? run_vector(&p) : st;
}

/* --- dense matrices --------------------------------------------------------------- */

/* Elements from the first to the last. */
static rubus_vec span_of(const rubus_mat *m)
{
    const bool rows = m->layout == RUBUS_ROW_MAJOR;
    const int64_t outer = rows ? m->nrow : m->ncol;
    const int64_t inner = rows ? m->ncol : m->nrow;
    return (rubus_vec){m->buffer, m->first_byte, (outer - 1) * m->ld + inner};
}

/* Where neighbours have very different lengths, the lanes of a CPU's vector had better
 * share a row, with a column for each. */
static bool one_by_one(const product *p)
{
    return vk_is_software(p->plan->ctx->physical) && p->plan->kind == VK_KIND_ROWS &&
           p->k >= WIDE;
}

static rubus_status run_rows_dense(const product *p, bool x_rows, bool y_rows)
{
    vk_sparse_plan *plan = p->plan;
    const rubus_csr_desc *a = p->a;
    const bool one = one_by_one(p);
    const int64_t ngroup = one ? p->k : (p->k + VK_COLUMNS - 1) / VK_COLUMNS;
    const bool line = x_rows || one; // all points in one dimension
    vk_sparse_call call = {
        .points = {line ? a->nrow * ngroup : a->nrow, line ? 1 : ngroup},
        .array = {p->y, p->x},
        .number = {x_rows ? -p->x_row : p->x_col, y_rows ? -p->y_row : p->y_col, p->k,
                   plan->ndiag},
        .alpha = p->alpha,
        .beta = p->beta,
        .cost = cost_of(p)};
    if (p->packed && plan->kind == VK_KIND_STENCIL) {
        call.entry = VK_STENCIL_DENSE;
        call.array[2] = vec_of(plan->value, vk_type_size(a->value_type));
        call.array[3] = vec_of(plan->offset, 4);
        call.array[4] = vec_of(plan->mask, 4);
    } else {
        call.entry = VK_ROWS_DENSE;
        call.number[3] = one;
        call.array[2] = a->rowptr;
        call.array[3] = a->colval;
        call.array[4] = a->nzval;
    }
    return vk_sparse_run(plan->ctx, a, &call);
}

/* Columns from `first` on, of which a launch can take so many. */
static rubus_status run_columns(const product *all, int64_t first, bool x_rows,
                                bool y_rows)
{
    const uint64_t real = vk_type_size(all->a->value_type);
    product p = *all;
    p.k = all->k - first < COLUMNS_MOST ? all->k - first : COLUMNS_MOST;
    p.x.first_byte += (uint64_t)(first * p.x_col) * real;
    p.x.n -= first * p.x_col;
    p.y.first_byte += (uint64_t)(first * p.y_col) * real;
    p.y.n -= first * p.y_col;
    rubus_status st = run_segments(&p);
    if (st == RUBUS_OK) {
        st = run_rows_dense(&p, x_rows, y_rows);
    }
    return st == RUBUS_OK ? run_long_rows(&p) : st;
}

rubus_status vk_spmm(void *context, const rubus_csr_desc *a, const rubus_mat *x,
                     const rubus_mat *y, double alpha, double beta)
{
    const bool x_rows = x->layout == RUBUS_ROW_MAJOR;
    const bool y_rows = y->layout == RUBUS_ROW_MAJOR;
    product p = {.x = span_of(x),
                 .y = span_of(y),
                 .k = x->ncol,
                 .x_row = x_rows ? x->ld : 1,
                 .x_col = x_rows ? 1 : x->ld,
                 .y_row = y_rows ? y->ld : 1,
                 .y_col = y_rows ? 1 : y->ld,
                 .alpha = alpha,
                 .beta = beta};
    rubus_status st = begin(context, a, &p);
    if (st == RUBUS_OK && p.k == 1 && p.x_row == 1 && p.y_row == 1) {
        return run_vector(&p);
    }
    for (int64_t first = 0; st == RUBUS_OK && first < p.k; first += COLUMNS_MOST) {
        st = run_columns(&p, first, x_rows, y_rows);
    }
    return st;
}
