/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with vectors and dense matrices. Everything is checked first. Then the slot of
 * the backend does the work, or the kernels of shaders/sparse.rk where it has none. What
 * needs no product at all (alpha is 0, nothing stored) never reaches either.
 */
#include "config.h"

#include "libcore/sparse/csr.h"

/* One product: the operands as dense matrices; a vector is one of one column. */
typedef struct product {
    const char *what;
    double alpha;
    double beta;
    rubus_csr *a;
    rubus_dense x;
    rubus_dense y;
    bool vectors; /* of any rank, so there is no leading dimension to speak of */
    bool turned;  /* with the transpose of a */
} product;

/* --- checks ----------------------------------------------------------------------- */

static rubus_status check_operand(const product *p, const rubus_array *array,
                                  const char *name)
{
    if (array == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", p->what, name);
    }
    const rubus_context *context = p->a->context;
    if (array->storage->context != context) {
        return rubus__fail(
            RUBUS_EFOREIGN,
            "%s: A lives on backend %s (device \"%s\"), but %s on %s (device \"%s\") in "
            "another context; copy it with rubus_array_copy",
            p->what, context->dev->name, context->dev->caps.name, name,
            array->storage->context->dev->name, array->storage->context->dev->caps.name);
    }
    if (array->type != p->a->mirror.real) {
        return rubus__fail(RUBUS_ETYPE, "%s: A has values of %s, %s has elements of %s",
                           p->what, rubus__type_name(p->a->mirror.real), name,
                           rubus__type_name(array->type));
    }
    return RUBUS_OK;
}

static rubus_status check_vector(const product *p, const rubus_array *array,
                                 const char *name, int64_t n)
{
    if (array->count == n) {
        return RUBUS_OK;
    }
    return rubus__fail(RUBUS_ESHAPE,
                       "%s: A%s has %lld rows and %lld columns, so %s needs %lld "
                       "elements; it has %lld",
                       p->what, p->turned ? "'" : "",
                       (long long)(p->turned ? p->a->mirror.ncol : p->a->mirror.nrow),
                       (long long)(p->turned ? p->a->mirror.nrow : p->a->mirror.ncol),
                       name, (long long)n, (long long)array->count);
}

/* Fills the leading dimension in; k columns are needed, -1: any number. */
static rubus_status check_dense(const product *p, rubus_dense *d, const char *name,
                                int64_t nrow, int64_t k)
{
    if (d->layout != RUBUS_COLUMN_MAJOR && d->layout != RUBUS_ROW_MAJOR) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: the layout of %s is %d; give RUBUS_COLUMN_MAJOR or "
                           "RUBUS_ROW_MAJOR",
                           p->what, name, (int)d->layout);
    }
    if (d->nrow != nrow || d->ncol < 0 || (k >= 0 && d->ncol != k)) {
        return rubus__fail(
            RUBUS_ESHAPE, "%s: %s is %lld x %lld; the product needs %lld x %lld", p->what,
            name, (long long)d->nrow, (long long)d->ncol, (long long)nrow,
            (long long)(k >= 0        ? k
                        : d->ncol < 0 ? 0
                                      : d->ncol));
    }
    const bool by_rows = d->layout == RUBUS_ROW_MAJOR;
    const int64_t inner = by_rows ? d->ncol : d->nrow;
    const int64_t outer = by_rows ? d->nrow : d->ncol;
    if (d->ld == 0) {
        d->ld = inner;
    }
    if (d->ld < inner) {
        return rubus__fail(RUBUS_ESHAPE,
                           "%s: the leading dimension of %s is %lld, less than its %lld "
                           "%s",
                           p->what, name, (long long)d->ld, (long long)inner,
                           by_rows ? "columns" : "rows");
    }
    int64_t last = 0; // elements that the array must have
    if (inner > 0 && outer > 0 &&
        (__builtin_mul_overflow(outer - 1, d->ld, &last) ||
         __builtin_add_overflow(last, inner, &last) || last > d->array->count)) {
        return rubus__fail(RUBUS_ESHAPE,
                           "%s: the array of %s has %lld elements, too few for %lld x "
                           "%lld with leading dimension %lld",
                           p->what, name, (long long)d->array->count, (long long)d->nrow,
                           (long long)d->ncol, (long long)d->ld);
    }
    return RUBUS_OK;
}

static rubus_status check_alias(const product *p)
{
    const rubus_array *y = p->y.array;
    if (rubus__array_overlap(p->x.array, y)) {
        return rubus__fail(
            RUBUS_EALIAS, "%s: x and y share memory; pass two different arrays", p->what);
    }
    if (rubus__array_overlap(p->a->nzval, y) || rubus__array_overlap(p->a->colval, y) ||
        rubus__array_overlap(p->a->rowptr, y)) {
        return rubus__fail(RUBUS_EALIAS,
                           "%s: y shares memory with A; pass an array of its own",
                           p->what);
    }
    return RUBUS_OK;
}

static rubus_status check(product *p)
{
    const int64_t nrow = p->turned ? p->a->mirror.ncol : p->a->mirror.nrow;
    const int64_t ncol = p->turned ? p->a->mirror.nrow : p->a->mirror.ncol;
    rubus_status st = check_operand(p, p->x.array, p->vectors ? "x" : "X");
    if (st == RUBUS_OK) {
        st = check_operand(p, p->y.array, p->vectors ? "y" : "Y");
    }
    if (st != RUBUS_OK) {
        return st;
    }
    if (p->vectors) {
        st = check_vector(p, p->x.array, "x", ncol);
        if (st == RUBUS_OK) {
            st = check_vector(p, p->y.array, "y", nrow);
        }
        p->x = rubus_dense_columns(p->x.array, ncol, 1, ncol);
        p->y = rubus_dense_columns(p->y.array, nrow, 1, nrow);
    } else {
        st = check_dense(p, &p->x, "X", ncol, -1);
        if (st == RUBUS_OK) {
            st = check_dense(p, &p->y, "Y", nrow, p->x.ncol);
        }
    }
    return st == RUBUS_OK ? check_alias(p) : st;
}

/* --- kernels of the library ------------------------------------------------------- */

/* The array of a vector as one of rank 1. */
static rubus_array as_vector(const rubus_array *array)
{
    return rubus__array_line(array, 0, array->count);
}

/* The array of a dense matrix as one of rank 2, its first extent being the leading
 * dimension. What is missing at its end is never touched. */
static rubus_array as_matrix(const rubus_dense *d)
{
    rubus_array array = as_vector(d->array);
    array.shape.rank = 2;
    array.shape.n[0] = d->ld;
    array.shape.n[1] = d->layout == RUBUS_ROW_MAJOR ? d->nrow : d->ncol;
    return array;
}

static rubus_status scale(const product *p)
{
    const rubus_kernel *kernel = NULL;
    const rubus_status st = rubus__csr_kernel(p->a, "scale", &kernel);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_array y = as_matrix(&p->y);
    const bool by_rows = p->y.layout == RUBUS_ROW_MAJOR;
    const rubus_arg args[4] = {
        rubus_arg_array(&y), rubus_arg_integer(by_rows ? p->y.ncol : p->y.nrow),
        rubus_arg_integer(by_rows ? p->y.nrow : p->y.ncol), rubus_arg_real(p->beta)};
    return rubus_launch_args(kernel, args, 4);
}

/* Kernels `name`, and, where there are long rows, those that sum them. */
static rubus_status find_kernels(const rubus_csr *a, const char *const name[3],
                                 const rubus_kernel *out[3], size_t *out_count)
{
    *out_count = a->long_rows.nrow > 0 ? 3 : 1;
    rubus_status st = RUBUS_OK;
    for (size_t i = 0; i < *out_count && st == RUBUS_OK; i++) {
        st = rubus__csr_kernel(a, name[i], &out[i]);
    }
    return st;
}

static rubus_status run_spmv(const product *p)
{
    static const char *const name[3] = {"spmv", "spmv_segments", "spmv_long"};
    rubus_csr *a = p->a;
    rubus__long_rows *lr = &a->long_rows;
    const rubus_kernel *kernel[3];
    size_t count = 0;
    rubus_status st = find_kernels(a, name, kernel, &count);
    if (st == RUBUS_OK) {
        st = rubus__csr_part(a, 1);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_array x = as_vector(p->x.array);
    rubus_array y = as_vector(p->y.array);
    rubus_array part = {0};
    if (count > 1) {
        part = rubus__array_line(lr->part, 0, lr->nsegment);
    }
    const rubus_arg rows[7] = {rubus_arg_array(&y),        rubus_arg_array(a->rowptr),
                               rubus_arg_array(a->colval), rubus_arg_array(a->nzval),
                               rubus_arg_array(&x),        rubus_arg_real(p->alpha),
                               rubus_arg_real(p->beta)};
    const rubus_arg segments[6] = {rubus_arg_array(&part),    rubus_arg_array(lr->first),
                                   rubus_arg_array(lr->size), rubus_arg_array(a->colval),
                                   rubus_arg_array(a->nzval), rubus_arg_array(&x)};
    const rubus_arg longs[6] = {rubus_arg_array(&y),        rubus_arg_array(lr->row),
                                rubus_arg_array(lr->start), rubus_arg_array(&part),
                                rubus_arg_real(p->alpha),   rubus_arg_real(p->beta)};
    const rubus__call call[3] = {{kernel[0], NULL, NULL, rows, 7},
                                 {count > 1 ? kernel[1] : NULL, NULL, NULL, segments, 6},
                                 {count > 1 ? kernel[2] : NULL, NULL, NULL, longs, 6}};
    return rubus__launch_list(call, count);
}

static rubus_status run_spmm(const product *p)
{
    static const char *const name[3] = {"spmm", "spmm_segments", "spmm_long"};
    rubus_csr *a = p->a;
    rubus__long_rows *lr = &a->long_rows;
    const int64_t k = p->x.ncol;
    const rubus_kernel *kernel[3];
    size_t count = 0;
    rubus_status st = find_kernels(a, name, kernel, &count);
    if (st == RUBUS_OK) {
        st = rubus__csr_part(a, k);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_array x = as_matrix(&p->x);
    rubus_array y = as_matrix(&p->y);
    rubus_array part = {0};
    if (count > 1) {
        part = rubus__array_line(lr->part, 0, k * lr->nsegment);
        part.shape.rank = 2;
        part.shape.n[0] = k;
        part.shape.n[1] = lr->nsegment;
    }
    const rubus_arg y_rows = rubus_arg_integer(p->y.layout == RUBUS_ROW_MAJOR);
    const rubus_arg x_rows = rubus_arg_integer(p->x.layout == RUBUS_ROW_MAJOR);
    const rubus_arg alpha = rubus_arg_real(p->alpha);
    const rubus_arg beta = rubus_arg_real(p->beta);
    const rubus_arg rows[10] = {rubus_arg_array(&y),
                                rubus_arg_array(a->rowptr),
                                rubus_arg_array(a->colval),
                                rubus_arg_array(a->nzval),
                                rubus_arg_array(&x),
                                y_rows,
                                x_rows,
                                rubus_arg_integer(k),
                                alpha,
                                beta};
    const rubus_arg segments[7] = {rubus_arg_array(&part),
                                   rubus_arg_array(lr->first),
                                   rubus_arg_array(lr->size),
                                   rubus_arg_array(a->colval),
                                   rubus_arg_array(a->nzval),
                                   rubus_arg_array(&x),
                                   x_rows};
    const rubus_arg longs[7] = {rubus_arg_array(&y),
                                rubus_arg_array(lr->row),
                                rubus_arg_array(lr->start),
                                rubus_arg_array(&part),
                                y_rows,
                                alpha,
                                beta};
    const rubus__call call[3] = {{kernel[0], NULL, NULL, rows, 10},
                                 {count > 1 ? kernel[1] : NULL, NULL, NULL, segments, 7},
                                 {count > 1 ? kernel[2] : NULL, NULL, NULL, longs, 7}};
    return rubus__launch_list(call, count);
}

/* --- slots of the backend --------------------------------------------------------- */

static rubus_mat mat_of(const rubus_dense *d)
{
    return (rubus_mat){.buffer = d->array->storage->buffer,
                       .first_byte = rubus__array_first_byte(d->array),
                       .nrow = d->nrow,
                       .ncol = d->ncol,
                       .ld = d->ld,
                       .layout = (uint32_t)d->layout};
}

static rubus_vec vec_of(const rubus_dense *d)
{
    return (rubus_vec){d->array->storage->buffer, rubus__array_first_byte(d->array),
                       d->nrow};
}

/* Locked. */
static rubus_status check_mapped(const product *p)
{
    const rubus_array *const operand[5] = {p->x.array, p->y.array, p->a->nzval,
                                           p->a->colval, p->a->rowptr};
    static const char *const name[5] = {"x", "y", "array of values", "array of columns",
                                        "array of row pointers"};
    for (int i = 0; i < 5; i++) {
        if (rubus__array_mapped(operand[i])) {
            return rubus__fail(RUBUS_ESTATE, "%s: the %s is mapped; unmap it first",
                               p->what, name[i]);
        }
    }
    return RUBUS_OK;
}

static rubus_status run_slot(const product *p)
{
    rubus_context *context = p->a->context;
    rubus_status st = rubus__enter(context, p->what);
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus_ops *ops = context->dev->ops;
    void *ctx = context->dev->ctx;
    const rubus_csr_desc *desc = &p->a->desc;
    st = check_mapped(p);
    if (st == RUBUS_OK) {
        p->a->desc.version = p->a->nzval->storage->version;
        p->y.array->storage->version++;
    }
    if (st == RUBUS_OK && p->vectors) {
        const rubus_vec x = vec_of(&p->x);
        const rubus_vec y = vec_of(&p->y);
        st =
            RUBUS__SLOT(context, "spmv", ops->spmv(ctx, desc, &x, &y, p->alpha, p->beta));
    } else if (st == RUBUS_OK) {
        const rubus_mat x = mat_of(&p->x);
        const rubus_mat y = mat_of(&p->y);
        st =
            RUBUS__SLOT(context, "spmm", ops->spmm(ctx, desc, &x, &y, p->alpha, p->beta));
    }
    return rubus__leave(context, st);
}

/* --- the calls -------------------------------------------------------------------- */

/* With a->lock held, and for a transpose that of its own. */
static rubus_status run(product *p)
{
    rubus_status st = rubus__csr_prepare(p->a);
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus_ops *ops = p->a->context->dev->ops;
    if (p->vectors ? ops->spmv != NULL : ops->spmm != NULL) {
        return run_slot(p);
    }
    return p->vectors ? run_spmv(p) : run_spmm(p);
}

static rubus_status run_turned(const product *p)
{
    rubus_status st = rubus__csr_turn(p->a);
    if (st != RUBUS_OK) {
        return st;
    }
    product q = *p;
    q.a = p->a->turned;
    q.turned = false;
    pthread_mutex_lock(&q.a->lock);
    st = run(&q);
    pthread_mutex_unlock(&q.a->lock);
    return st;
}

static rubus_status multiply(product *p)
{
    rubus_status st =
        p->a == NULL ? rubus__fail(RUBUS_EINVAL, "%s: A is NULL", p->what) : check(p);
    if (st == RUBUS_OK) {
        st = rubus__csr_enter(p->a, p->what);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    if (p->y.nrow == 0 || p->y.ncol == 0) {
        st = RUBUS_OK;
    } else if (p->alpha == 0 || p->a->mirror.nnz == 0) {
        st = scale(p);
    } else {
        st = p->turned ? run_turned(p) : run(p);
    }
    pthread_mutex_unlock(&p->a->lock);
    return st;
}

static rubus_status multiply_vectors(const char *what, double alpha, rubus_csr *a,
                                     rubus_array *x, double beta, rubus_array *y,
                                     bool turned)
{
    product p = {.what = what,
                 .alpha = alpha,
                 .beta = beta,
                 .a = a,
                 .x = {.array = x},
                 .y = {.array = y},
                 .vectors = true,
                 .turned = turned};
    return multiply(&p);
}

rubus_status rubus_spmv(double alpha, rubus_csr *a, rubus_array *x, double beta,
                        rubus_array *y)
{
    return multiply_vectors("rubus_spmv", alpha, a, x, beta, y, false);
}

rubus_status rubus_spmv_transposed(double alpha, rubus_csr *a, rubus_array *x,
                                   double beta, rubus_array *y)
{
    return multiply_vectors("rubus_spmv_transposed", alpha, a, x, beta, y, true);
}

rubus_status rubus_spmm(double alpha, rubus_csr *a, rubus_dense x, double beta,
                        rubus_dense y)
{
    product p = {
        .what = "rubus_spmm", .alpha = alpha, .beta = beta, .a = a, .x = x, .y = y};
    return multiply(&p);
}

rubus_status rubus_spmm_transposed(double alpha, rubus_csr *a, rubus_dense x, double beta,
                                   rubus_dense y)
{
    product p = {.what = "rubus_spmm_transposed",
                 .alpha = alpha,
                 .beta = beta,
                 .a = a,
                 .x = x,
                 .y = y,
                 .turned = true};
    return multiply(&p);
}
