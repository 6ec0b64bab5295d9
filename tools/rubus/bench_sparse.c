/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubus bench spmv and spmm: products of sparse matrices that are made here, beside a
 * plain loop over compressed rows on as many threads, and a triad kernel, in the same
 * rounds. Bytes are those that the path of the backend moves at least.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_matrix.h"

// Products that take less are repeated until they take so long.
#define LEAST_SECONDS 2e-3
enum { REPEATS_MOST = 1000, TRIAD_LEAST = 65536 };

static const char source[] =
    "kernel triad(out real a[n], in real b[n], in real c[n], real s) { a = b + s * c; "
    "}\n";

// One case: a matrix, k columns, a layout.
typedef struct sparse_case {
    bench_kind kind;
    bool f64;
    int64_t k;
    bool by_rows;
} sparse_case;

// What all cases of one type share.
typedef struct sparse_bench {
    rubus_context *context;
    const bench_options *o;
    bool f64;
    handwritten_team *team;
    rubus_module *module;
    rubus_array *array[3]; // of the triad
    double *triad_s;       // per round
    double *product_s;
    double *plain_s;
    double triad_gbs; // median of the last case
} sparse_bench;

// --- products of one case --------------------------------------------------------------

typedef struct operands {
    bench_matrix m;
    rubus_csr *csr;
    rubus_array *x;
    rubus_array *y;
    void *host_x;
    void *host_y;
    int64_t repeats;
    rubus_csr_info info;
} operands;

static int64_t real_size(bool f64)
{
    return f64 ? (int64_t)sizeof(double) : (int64_t)sizeof(float);
}

static int make_operands(const sparse_bench *b, const sparse_case *c, int64_t size,
                         operands *p)
{
    if (!bench_matrix_make(c->kind, size, c->f64, &p->m)) {
        return cli_out_of_memory();
    }
    const int64_t n = p->m.n * c->k;
    const int32_t real = c->f64 ? RUBUS_F64 : RUBUS_F32;
    p->host_x = measure_memory(b->team, n * real_size(c->f64));
    p->host_y = measure_memory(b->team, n * real_size(c->f64));
    if (p->host_x == NULL || p->host_y == NULL) {
        return cli_out_of_memory();
    }
    for (int64_t i = 0; i < n; i++) {
        const double value = (double)(i % 17) / 16 - 0.5;
        if (c->f64) {
            ((double *)p->host_x)[i] = value;
        } else {
            ((float *)p->host_x)[i] = (float)value;
        }
    }
    rubus_status st =
        rubus_csr_create(b->context, RUBUS_I32, real, p->m.n, p->m.n, p->m.nnz,
                         p->m.rowptr, p->m.colval, p->m.nzval, &p->csr);
    if (st == RUBUS_OK) {
        st = rubus_array_from(b->context, real, RUBUS_SHAPE(n), p->host_x, &p->x);
    }
    if (st == RUBUS_OK) {
        st = rubus_array_create(b->context, real, RUBUS_SHAPE(n), &p->y);
    }
    if (st == RUBUS_OK) {
        st = rubus_csr_optimize(p->csr);
    }
    p->info.struct_size = sizeof(p->info);
    if (st == RUBUS_OK) {
        st = rubus_csr_info_get(p->csr, &p->info);
    }
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, bench_matrix_name(c->kind));
}

static void free_operands(operands *p)
{
    rubus_array_destroy(p->x);
    rubus_array_destroy(p->y);
    rubus_csr_destroy(p->csr);
    free(p->host_x);
    free(p->host_y);
    bench_matrix_free(&p->m);
}

static rubus_status product(const sparse_case *c, const operands *p)
{
    const int64_t n = p->m.n;
    if (c->k == 1) {
        return rubus_spmv(1, p->csr, p->x, 0, p->y);
    }
    return c->by_rows ? rubus_spmm(1, p->csr, rubus_dense_rows(p->x, n, c->k, 0), 0,
                                   rubus_dense_rows(p->y, n, c->k, 0))
                      : rubus_spmm(1, p->csr, rubus_dense_columns(p->x, n, c->k, 0), 0,
                                   rubus_dense_columns(p->y, n, c->k, 0));
}

// Some products that are waited for together; seconds of one.
static int time_product(const sparse_bench *b, const sparse_case *c, const operands *p,
                        double *out_seconds)
{
    const double start = measure_seconds();
    rubus_status st = RUBUS_OK;
    for (int64_t i = 0; st == RUBUS_OK && i < p->repeats; i++) {
        st = product(c, p);
    }
    if (st == RUBUS_OK) {
        st = rubus_context_synchronize(b->context);
    }
    *out_seconds = (measure_seconds() - start) / (double)p->repeats;
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, NULL);
}

static double time_plain(const sparse_bench *b, const sparse_case *c, const operands *p)
{
    const handwritten_csr plain = {.f64 = c->f64,
                                   .n = p->m.n,
                                   .rowptr = p->m.rowptr,
                                   .colval = p->m.colval,
                                   .nzval = p->m.nzval,
                                   .k = c->k,
                                   .by_rows = c->by_rows,
                                   .x = p->host_x,
                                   .y = p->host_y};
    const double start = measure_seconds();
    for (int64_t i = 0; i < p->repeats; i++) {
        handwritten_product(b->team, &plain);
    }
    return (measure_seconds() - start) / (double)p->repeats;
}

static int time_triad(const sparse_bench *b, double *out_seconds)
{
    const double start = measure_seconds();
    rubus_status st = rubus_launch(rubus_module_kernel(b->module, "triad"), b->array[0],
                                   b->array[1], b->array[2], 0.5);
    if (st == RUBUS_OK) {
        st = rubus_context_synchronize(b->context);
    }
    *out_seconds = measure_seconds() - start;
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, NULL);
}

// Everything takes its turn in a round; the first one warms up.
static int run_rounds(const sparse_bench *b, const sparse_case *c, operands *p)
{
    p->repeats = 1;
    double first = 0;
    int status = time_product(b, c, p, &first);
    if (status == CLI_DONE) {
        status = time_product(b, c, p, &first);
    }
    if (status == CLI_DONE) {
        status = time_triad(b, &b->triad_s[0]);
    }
    const double repeats = first > 0 ? LEAST_SECONDS / first : 1;
    p->repeats = repeats < 1              ? 1
                 : repeats > REPEATS_MOST ? REPEATS_MOST
                                          : (int64_t)repeats;
    (void)time_plain(b, c, p);
    for (size_t i = 0; status == CLI_DONE && i < b->o->rounds; i++) {
        status = time_product(b, c, p, &b->product_s[i]);
        if (status == CLI_DONE) {
            b->plain_s[i] = time_plain(b, c, p);
            status = time_triad(b, &b->triad_s[i]);
        }
    }
    return status;
}

// --- results ---------------------------------------------------------------------------

static json_t *result(sparse_bench *b, const sparse_case *c, const operands *p)
{
    const size_t rounds = b->o->rounds;
    const double triad_bytes =
        3 * (double)rubus_array_count(b->array[0]) * (double)real_size(c->f64);
    const double seconds = measure_median(b->product_s, rounds);
    const double plain = measure_median(b->plain_s, rounds) / seconds;
    // x and y are part of product_bytes once
    const double bytes = (double)p->info.product_bytes + (double)(c->k - 1) * 2 *
                                                             (double)p->m.n *
                                                             (double)real_size(c->f64);
    const double gbs = bytes / seconds / 1e9;
    b->triad_gbs = triad_bytes / measure_median(b->triad_s, rounds) / 1e9;
    const char *layout = c->k == 1 ? "vector" : c->by_rows ? "rows" : "columns";
    if (!b->o->common.json) {
        printf("%-9s %s  %2lld %-7s %9.3f ms %7.2f GB/s  %5.2f of triad  %5.2f times "
               "plain CSR  %s\n",
               bench_matrix_name(c->kind), c->f64 ? "f64" : "f32", (long long)c->k,
               layout, 1e3 * seconds, gbs, gbs / b->triad_gbs, plain, p->info.path);
    }
    return json_pack("{s:s, s:s, s:s, s:I, s:s, s:s, s:f, s:f, s:f, s:f}", "matrix",
                     bench_matrix_name(c->kind), "real", c->f64 ? "f64" : "f32", "index",
                     "i32", "k", (json_int_t)c->k, "layout", layout, "path", p->info.path,
                     "ms", 1e3 * seconds, "gbs", gbs, "over_triad", gbs / b->triad_gbs,
                     "vs_csr", plain);
}

static int run_case(sparse_bench *b, const sparse_case *c, json_t *results)
{
    operands p = {0};
    // several vectors take as much memory as one of a larger matrix
    const int64_t size = c->k == 1 || b->o->n < 32 ? b->o->n : b->o->n / 2;
    int status = make_operands(b, c, size, &p);
    if (status == CLI_DONE) {
        status = run_rounds(b, c, &p);
    }
    if (status == CLI_DONE && json_array_append_new(results, result(b, c, &p)) != 0) {
        status = cli_out_of_memory();
    }
    free_operands(&p);
    return status;
}

static int set_up(sparse_bench *b)
{
    const int32_t real = b->f64 ? RUBUS_F64 : RUBUS_F32;
    const rubus_module_options module_options = {.struct_size = sizeof(module_options),
                                                 .real = real};
    const int64_t half = b->o->n * b->o->n / 2;
    const int64_t n = half > TRIAD_LEAST ? half : TRIAD_LEAST;
    b->team = handwritten_team_create(measure_threads(b->context));
    b->triad_s = calloc(3 * b->o->rounds, sizeof(double));
    if (b->team == NULL || b->triad_s == NULL) {
        return cli_out_of_memory();
    }
    b->product_s = b->triad_s + b->o->rounds;
    b->plain_s = b->product_s + b->o->rounds;
    rubus_status st =
        rubus_module_create(b->context, "triad.rk", source, &module_options, &b->module);
    for (int i = 0; st == RUBUS_OK && i < 3; i++) {
        st = rubus_array_create(b->context, real, RUBUS_SHAPE(n), &b->array[i]);
        if (st == RUBUS_OK) {
            st = rubus_array_fill(b->array[i], i);
        }
    }
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, NULL);
}

static void tear_down(sparse_bench *b)
{
    for (int i = 0; i < 3; i++) {
        rubus_array_destroy(b->array[i]);
    }
    rubus_module_destroy(b->module);
    handwritten_team_destroy(b->team);
    free(b->triad_s);
}

static int run_real(sparse_bench *b, bool dense, json_t *results)
{
    int status = set_up(b);
    for (int kind = 0; kind < BENCH_KINDS; kind++) {
        for (int part = 0; status == CLI_DONE && part < (dense ? 4 : 1); part++) {
            const sparse_case c = {.kind = (bench_kind)kind,
                                   .f64 = b->f64,
                                   .k = !dense          ? 1
                                        : part % 2 == 0 ? 4
                                                        : 8,
                                   .by_rows = part < 2};
            status = run_case(b, &c, results);
        }
    }
    tear_down(b);
    return status;
}

static int run_all(rubus_context *context, const bench_options *o, bool dense,
                   json_t **out_object)
{
    if (o->n > BENCH_MATRIX_MOST) {
        return cli_usage("bench",
                         "--n: %lld is too large: indices of 32 bits count the "
                         "entries of sparse matrices up to %d",
                         (long long)o->n, (int)BENCH_MATRIX_MOST);
    }
    json_t *results = json_array();
    int status = results != NULL ? CLI_DONE : cli_out_of_memory();
    double triad = 0;
    for (int f64 = 1; status == CLI_DONE && f64 >= 0; f64--) {
        if (bench_wants(o, f64 ? RUBUS_F64 : RUBUS_F32)) {
            sparse_bench b = {.context = context, .o = o, .f64 = f64};
            status = run_real(&b, dense, results);
            triad = b.triad_gbs;
        }
    }
    if (status != CLI_DONE) {
        json_decref(results);
        return status;
    }
    if (!o->common.json) {
        printf("triad %.2f GB/s\n", triad);
    }
    *out_object = json_pack("{s:f, s:o}", "triad_gbs", triad, "results", results);
    return *out_object != NULL ? CLI_DONE : cli_out_of_memory();
}

int bench_spmv(rubus_context *context, const bench_options *o, json_t **out_object)
{
    return run_all(context, o, false, out_object);
}

int bench_spmm(rubus_context *context, const bench_options *o, json_t **out_object)
{
    return run_all(context, o, true, out_object);
}
