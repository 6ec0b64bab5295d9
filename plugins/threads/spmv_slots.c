/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots for sparse matrices. A plan belongs to the structure of a matrix; its copy of
 * the values is made again when they have changed, but not at once if they seem to change
 * at every product: then products run on the arrays of the matrix.
 */
#include "config.h"

#include "plugins/threads/spmv.h"

#include <stddef.h>
#include <string.h>

#define SMALL_WORK 16384 /* entries times columns: done by the calling thread */
#define TURNED 16        /* columns of X that are brought into rows at a time */
/* Products on the arrays of the matrix before changed values are packed, unless those
 * before them served as many as MANY. */
#define WAIT 2
#define MANY 8

static const spmv_kernels *kernels_of(const rubus_csr_desc *a)
{
    if (a->value_type == RUBUS_F32) {
        return a->index_type == RUBUS_I32 ? &spmv_f32_i32 : &spmv_f32_i64;
    }
    return a->index_type == RUBUS_I32 ? &spmv_f64_i32 : &spmv_f64_i64;
}

static void *data_of(const rubus_vec *vec)
{
    return ((threads_buffer *)vec->buffer)->data + vec->first_byte;
}

static spmv_product product_of(const rubus_csr_desc *a)
{
    return (spmv_product){.plan = (const spmv_plan *)(const void *)a->plan,
                          .nrow = a->nrow,
                          .ncol = a->ncol,
                          .nnz = a->nnz,
                          .rowptr = data_of(&a->rowptr),
                          .colval = data_of(&a->colval),
                          .nzval = data_of(&a->nzval),
                          .alpha = 1,
                          .k = 1,
                          .x_row = 1,
                          .x_col = 1,
                          .y_row = 1,
                          .y_col = 1};
}

/* --- plans ------------------------------------------------------------------------ */

static void plan_destroy(spmv_plan *plan)
{
    threads_context *ctx = plan->ctx;
    const rubus_host *host = ctx->host;
    threads_buffer *const buffer[] = {plan->value, plan->slice, plan->column, plan->row,
                                      plan->turned};
    void *const memory[] = {plan->long_row, plan->long_start, plan->long_y, plan->segment,
                            plan->part};
    for (int i = 0; i < 5; i++) {
        threads_buffer_destroy(ctx, buffer[i]);
    }
    for (int i = 0; i < 5; i++) {
        if (memory[i] != NULL) {
            host->free(host->ctx, memory[i]);
        }
    }
    host->free(host->ctx, plan);
}

void threads_csr_release(void *ctx, rubus_csr_plan *plan)
{
    (void)ctx;
    if (plan != NULL) {
        plan_destroy((spmv_plan *)(void *)plan);
    }
}

typedef struct pack_task {
    const spmv_product *p;
    const spmv_kernels *k;
} pack_task;

static int64_t tile_count(const spmv_plan *plan)
{
    return (plan->end_row - plan->first_row + SPMV_TILE - 1) / SPMV_TILE;
}

static void pack_share(void *arg, int thread, int nthread)
{
    const pack_task *task = arg;
    const spmv_plan *plan = task->p->plan;
    int64_t first;
    int64_t end;
    if (plan->kind == SPMV_STENCIL) {
        spmv_part(tile_count(plan), thread, nthread, &first, &end);
        task->k->pack_tiles(task->p, first, end);
    } else {
        spmv_part(plan->nslice, thread, nthread, &first, &end);
        task->k->pack_slices(task->p, first, end);
    }
}

static rubus_status pack(spmv_plan *plan, const spmv_product *p, const spmv_kernels *k,
                         uint64_t version)
{
    pack_task task = {p, k};
    const rubus_status st =
        plan->kind == SPMV_ROWS
            ? RUBUS_OK
            : spmv_run(plan->ctx, p->nnz < SMALL_WORK, pack_share, &task);
    plan->packed = st == RUBUS_OK;
    plan->version = version;
    plan->products = 0;
    return st;
}

rubus_status threads_csr_prepare(void *context, const rubus_csr_desc *a,
                                 rubus_csr_plan **out_plan)
{
    threads_context *ctx = context;
    const rubus_host *host = ctx->host;
    spmv_plan *plan = host->alloc(host->ctx, sizeof *plan, _Alignof(max_align_t));
    if (plan == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(plan, 0, sizeof *plan);
    plan->head.struct_size = sizeof plan->head;
    plan->ctx = ctx;
    plan->before = MANY;
    const spmv_kernels *k = kernels_of(a);
    spmv_product p = product_of(a);
    p.plan = plan;
    rubus_status st = spmv_inspect(plan, &p, k);
    if (st == RUBUS_OK) {
        st = pack(plan, &p, k, a->version);
    }
    if (st != RUBUS_OK) {
        plan_destroy(plan);
        return st;
    }
    *out_plan = &plan->head;
    return RUBUS_OK;
}

/* Whether the plan's copy of the values can be used, which may be made now. */
static rubus_status use_packed(spmv_plan *plan, const spmv_product *p,
                               const spmv_kernels *k, uint64_t version, bool *out_use)
{
    if (plan->version != version) {
        plan->version = version;
        plan->packed = false;
        plan->before = plan->products;
        plan->products = 0;
    }
    rubus_status st = RUBUS_OK;
    if (!plan->packed && (plan->before >= MANY || plan->products >= WAIT)) {
        const uint32_t products = plan->products;
        st = pack(plan, p, k, version);
        plan->products = products;
    }
    if (plan->products < MANY) {
        plan->products++;
    }
    *out_use = plan->packed && plan->kind != SPMV_ROWS;
    return st;
}

/* --- vectors ---------------------------------------------------------------------- */

typedef struct product_task {
    spmv_product p;
    const spmv_kernels *k;
    bool packed;
} product_task;

static void stencil_share(const product_task *task, int thread, int nthread,
                          spmv_kernel tiles, spmv_kernel rows)
{
    const spmv_plan *plan = task->p.plan;
    int64_t first;
    int64_t end;
    spmv_part(tile_count(plan), thread, nthread, &first, &end);
    tiles(&task->p, first, end);
    if (thread == 0) {
        rows(&task->p, 0, plan->first_row);
    }
    if (thread + 1 == nthread) {
        rows(&task->p, plan->end_row, task->p.nrow);
    }
}

/* Slices of equal numbers of slots. */
static void slices_share(const product_task *task, int thread, int nthread)
{
    const spmv_plan *plan = task->p.plan;
    const spmv_slice *slice = (const spmv_slice *)(const void *)plan->slice->data;
    int64_t bound[2];
    for (int side = 0; side < 2; side++) {
        const int64_t goal = slice[plan->nslice].slot / nthread * (thread + side);
        int64_t lo = 0;
        int64_t hi = plan->nslice;
        while (lo < hi) {
            const int64_t middle = lo + (hi - lo) / 2;
            if (slice[middle].slot < goal) {
                lo = middle + 1;
            } else {
                hi = middle;
            }
        }
        bound[side] = thread + side == 0         ? 0
                      : thread + side == nthread ? plan->nslice
                                                 : lo;
    }
    task->k->slices(&task->p, bound[0], bound[1]);
}

static void spmv_share(void *arg, int thread, int nthread)
{
    const product_task *task = arg;
    const spmv_plan *plan = task->p.plan;
    int64_t first;
    int64_t end;
    if (task->packed && plan->kind == SPMV_STENCIL) {
        stencil_share(task, thread, nthread, task->k->tiles, task->k->rows);
    } else if (task->packed) {
        slices_share(task, thread, nthread);
    } else {
        spmv_part_rows(&task->p, task->k, thread, nthread, &first, &end);
        task->k->rows(&task->p, first, end);
    }
    spmv_part(plan->nsegment, thread, nthread, &first, &end);
    task->k->segments(&task->p, first, end);
}

static rubus_status check_plan(const threads_context *ctx, const rubus_csr_desc *a)
{
    return a->plan != NULL
               ? RUBUS_OK
               : ctx->host->fail(
                     ctx->host->ctx, RUBUS_EINVAL,
                     "product of a sparse matrix: csr_prepare was not called");
}

/* In the floating-point mode of kernels. */
static rubus_status run_vector(threads_context *ctx, const rubus_csr_desc *a,
                               product_task *task)
{
    spmv_plan *plan = (spmv_plan *)(void *)a->plan;
    task->p.stream = (uint64_t)a->nrow * task->k->real_size >= ctx->be->stream_size;
    rubus_status st = use_packed(plan, &task->p, task->k, a->version, &task->packed);
    const bool covers = plan->kind == SPMV_SLICES && task->packed && plan->row == NULL;
    if (st == RUBUS_OK && covers && task->p.beta != 0) {
        task->k->save(&task->p);
    }
    if (st == RUBUS_OK) {
        st = spmv_run(ctx, a->nnz < SMALL_WORK, spmv_share, task);
    }
    if (st == RUBUS_OK && covers && task->p.beta != 0) {
        task->k->restore(&task->p);
    }
    if (st == RUBUS_OK && plan->nlong > 0) {
        task->k->join(&task->p);
    }
    return st;
}

rubus_status threads_spmv(void *context, const rubus_csr_desc *a, const rubus_vec *x,
                          const rubus_vec *y, double alpha, double beta)
{
    threads_context *ctx = context;
    rubus_status st = check_plan(ctx, a);
    if (st != RUBUS_OK) {
        return st;
    }
    product_task task = {.p = product_of(a), .k = kernels_of(a)};
    task.p.x = data_of(x);
    task.p.y = data_of(y);
    task.p.alpha = alpha;
    task.p.beta = beta;
    threads_float_mode mode;
    threads_float_enter(&mode);
    st = run_vector(ctx, a, &task);
    threads_float_leave(&mode);
    return st;
}

/* --- dense matrices --------------------------------------------------------------- */

typedef struct turn_task {
    const product_task *task;
    void *to;
} turn_task;

static void turn_share(void *arg, int thread, int nthread)
{
    const turn_task *turn = arg;
    int64_t first;
    int64_t end;
    spmv_part(turn->task->p.ncol, thread, nthread, &first, &end);
    turn->task->k->turn(&turn->task->p, turn->to, first, end);
}

static void near_share(void *arg, int thread, int nthread)
{
    const product_task *task = arg;
    int64_t first;
    int64_t end;
    spmv_part_rows(&task->p, task->k, thread, nthread, &first, &end);
    task->k->rows_near(&task->p, first, end);
    spmv_part(task->p.plan->nsegment, thread, nthread, &first, &end);
    task->k->segments_near(&task->p, first, end);
}

static void columns_share(void *arg, int thread, int nthread)
{
    const product_task *task = arg;
    stencil_share(task, thread, nthread, task->k->tiles_columns, task->k->rows_dense);
}

static void near_tiles_share(void *arg, int thread, int nthread)
{
    const product_task *task = arg;
    stencil_share(task, thread, nthread, task->k->tiles_near, task->k->rows_near);
}

/* Room for the sums of segments of k columns. */
static rubus_status reserve_part(spmv_plan *plan, const spmv_kernels *k, int64_t width)
{
    if (plan->nsegment == 0 || width <= plan->part_width) {
        return RUBUS_OK;
    }
    const rubus_host *host = plan->ctx->host;
    void *part = host->alloc(
        host->ctx, (uint64_t)plan->nsegment * (uint64_t)width * k->real_size, 64);
    if (part == NULL) {
        return RUBUS_ENOMEM;
    }
    host->free(host->ctx, plan->part);
    plan->part = part;
    plan->part_width = width;
    return RUBUS_OK;
}

/* X by rows. */
static rubus_status run_near(threads_context *ctx, product_task *task)
{
    spmv_plan *plan = (spmv_plan *)(uintptr_t)task->p.plan;
    rubus_status st = reserve_part(plan, task->k, task->p.k);
    if (st == RUBUS_OK) {
        const bool tiles =
            task->packed && plan->kind == SPMV_STENCIL && task->p.y_col == 1;
        st = spmv_run(ctx, task->p.nnz * task->p.k < SMALL_WORK,
                      tiles ? near_tiles_share : near_share, task);
    }
    if (st == RUBUS_OK && plan->nlong > 0) {
        task->k->join(&task->p);
    }
    return st;
}

/* Memory for columns of X in rows, kept for the next product: fresh pages would cost more
 * than the product. */
static rubus_status reserve_turned(threads_context *ctx, spmv_plan *plan, uint64_t nbyte)
{
    if (plan->turned != NULL && plan->turned->nbyte >= nbyte) {
        return RUBUS_OK;
    }
    threads_buffer_destroy(ctx, plan->turned);
    plan->turned = NULL;
    void *buffer = NULL;
    const rubus_status st = threads_buffer_create(ctx, nbyte, &buffer);
    plan->turned = buffer;
    return st;
}

/* X by columns: a few of them at a time are brought into rows. */
static rubus_status run_turned(threads_context *ctx, const product_task *task)
{
    spmv_plan *plan = (spmv_plan *)(uintptr_t)task->p.plan;
    const int64_t width = task->p.k < TURNED ? task->p.k : TURNED;
    const size_t real = task->k->real_size;
    rubus_status st =
        reserve_turned(ctx, plan, (uint64_t)task->p.ncol * (uint64_t)width * real);
    for (int64_t j = 0; st == RUBUS_OK && j < task->p.k; j += width) {
        product_task part = *task;
        part.p.k = task->p.k - j < width ? task->p.k - j : width;
        part.p.x = (const char *)task->p.x + (size_t)(j * task->p.x_col) * real;
        part.p.y = (char *)task->p.y + (size_t)(j * task->p.y_col) * real;
        turn_task turn = {&part, plan->turned->data};
        const bool alone = task->p.ncol * part.p.k < SMALL_WORK;
        st = spmv_run(ctx, alone, turn_share, &turn);
        part.p.x = turn.to;
        part.p.x_row = part.p.k;
        part.p.x_col = 1;
        if (st == RUBUS_OK) {
            st = run_near(ctx, &part);
        }
    }
    return st;
}

static rubus_status run_dense(threads_context *ctx, const rubus_csr_desc *a,
                              product_task *task)
{
    spmv_plan *plan = (spmv_plan *)(void *)a->plan;
    if (task->p.k == 1 && task->p.x_row == 1 && task->p.y_row == 1) {
        return run_vector(ctx, a, task);
    }
    rubus_status st = RUBUS_OK;
    if (plan->kind == SPMV_STENCIL) {
        st = use_packed(plan, &task->p, task->k, a->version, &task->packed);
    }
    if (st != RUBUS_OK || task->p.x_col == 1) {
        return st != RUBUS_OK ? st : run_near(ctx, task);
    }
    if (task->packed && plan->kind == SPMV_STENCIL && task->p.y_row == 1) {
        return spmv_run(ctx, a->nnz * task->p.k < SMALL_WORK, columns_share, task);
    }
    return run_turned(ctx, task);
}

rubus_status threads_spmm(void *context, const rubus_csr_desc *a, const rubus_mat *x,
                          const rubus_mat *y, double alpha, double beta)
{
    threads_context *ctx = context;
    rubus_status st = check_plan(ctx, a);
    if (st != RUBUS_OK) {
        return st;
    }
    const bool x_rows = x->layout == RUBUS_ROW_MAJOR;
    const bool y_rows = y->layout == RUBUS_ROW_MAJOR;
    product_task task = {.p = product_of(a), .k = kernels_of(a)};
    task.p.x = ((threads_buffer *)x->buffer)->data + x->first_byte;
    task.p.y = ((threads_buffer *)y->buffer)->data + y->first_byte;
    task.p.alpha = alpha;
    task.p.beta = beta;
    task.p.k = x->ncol;
    task.p.x_row = x_rows ? x->ld : 1;
    task.p.x_col = x_rows ? 1 : x->ld;
    task.p.y_row = y_rows ? y->ld : 1;
    task.p.y_col = y_rows ? 1 : y->ld;
    task.p.stream =
        (uint64_t)a->nrow * (uint64_t)x->ncol * task.k->real_size >= ctx->be->stream_size;
    threads_float_mode mode;
    threads_float_enter(&mode);
    st = run_dense(ctx, a, &task);
    threads_float_leave(&mode);
    return st;
}
