/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubus bench assemble: the matrix of a stiffness with a variable coefficient on uneven
 * meshes in 2D and 3D, filled in every way, and its products in every storage, beside a
 * copy, in the same rounds. Bytes are those that a path reads and writes at least.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_matrix.h"

// Paths that take less are repeated until they take so long.
#define LEAST_SECONDS 2e-3
enum { REPEATS_MOST = 1000, COPY_LEAST = 1 << 20 };

static const char source[] =
    "func real coefficient(real x, real y) { return 1 + x * y; }\n"
    "func real coefficient_3d(real x, real y, real z) { return 1 + x * y * z; }\n"
    "form stiffness(trial u, test v, field kappa) =\n"
    "    inner_plus(Mm(kappa) * grad(u), grad(v));\n";

// What is measured: fillings as RUBUS_FILL_* counts them, then the others.
enum { STENCIL_FILL = RUBUS_FILL_SEARCH + 1, APPLY, STENCIL_PRODUCT, CSR_PRODUCT, PATHS };
static const char *const path_names[PATHS] = {
    "fill rows",    "fill scatter", "fill gather",     "fill host",   "fill search",
    "fill stencil", "apply",        "stencil product", "CSR product",
};

typedef struct assemble_bench {
    rubus_context *context;
    const bench_options *o;
    int32_t real;
    int32_t ndim;
    rubus_module *module;
    rubus_mesh *mesh;
    rubus_space *space;
    rubus_array *kappa;
    rubus_array *x;
    rubus_array *y;
    rubus_form *form;
    rubus_csr *csr;
    rubus_operator *op[3]; // free, stencil, CSR
    measure_copy *copy;
    int64_t points;
    int64_t nnz;
    int64_t repeats[PATHS];
    double *seconds[PATHS]; // [rounds]
    double *copy_gbs;       // [rounds]
    double copy_median;
} assemble_bench;

// --- the problem -----------------------------------------------------------------------

// Points along an axis: 1000 and 96 at the usual size.
static int64_t side_of(const assemble_bench *b)
{
    const int64_t n = b->ndim == 2 ? b->o->n * 125 / 512 : b->o->n * 3 / 128;
    return n < 4 ? 4 : n;
}

static rubus_status make_mesh(assemble_bench *b)
{
    rubus_mesh_desc desc = {
        .struct_size = sizeof(desc), .ndim = b->ndim, .type = b->real};
    for (int32_t d = 0; d < b->ndim; d++) {
        desc.axis[d] =
            (rubus_axis_desc){.upper = 1, .n = side_of(b), .seed = (uint64_t)d + 1};
    }
    rubus_status st = rubus_mesh_create(b->context, &desc, &b->mesh);
    if (st == RUBUS_OK) {
        st = rubus_space_create(b->mesh, 1, &b->space);
    }
    if (st == RUBUS_OK) {
        st = RUBUS_ARRAYS(b->space, &b->kappa, &b->x, &b->y);
    }
    if (st == RUBUS_OK) {
        const char *name = b->ndim == 2 ? "coefficient" : "coefficient_3d";
        st = rubus_project(b->space, rubus_module_func(b->module, name), RUBUS_POINT,
                           NULL, 0, b->kappa);
    }
    return st == RUBUS_OK ? rubus_array_fill(b->x, 1) : st;
}

static rubus_status make_operators(assemble_bench *b)
{
    rubus_status st =
        rubus_form_create(b->module, "stiffness", b->space, b->space, &b->form);
    if (st == RUBUS_OK) {
        st = rubus_form_set(b->form, "kappa", b->kappa);
    }
    if (st == RUBUS_OK) {
        st = rubus_form_matrix(b->form, NULL, RUBUS_ROWS, &b->csr);
    }
    if (st == RUBUS_OK) {
        st = rubus_form_operator(b->form, NULL, &b->op[0]);
    }
    if (st == RUBUS_OK) {
        st = rubus_form_operator_stored(b->form, NULL, RUBUS_STENCIL, &b->op[1]);
    }
    if (st == RUBUS_OK) {
        st = rubus_operator_create_csr(b->csr, RUBUS_SYMMETRIC_YES, NULL, &b->op[2]);
    }
    return st;
}

static int set_up(assemble_bench *b)
{
    const rubus_module_options module_options = {.struct_size = sizeof(module_options),
                                                 .real = b->real};
    const size_t rounds = b->o->rounds;
    b->copy_gbs = calloc((PATHS + 1) * rounds, sizeof(double));
    if (b->copy_gbs == NULL) {
        return cli_out_of_memory();
    }
    for (size_t i = 0; i < PATHS; i++) {
        b->seconds[i] = b->copy_gbs + (i + 1) * rounds;
    }
    rubus_status st = rubus_module_create(b->context, "assemble.rk", source,
                                          &module_options, &b->module);
    if (st == RUBUS_OK) {
        st = make_mesh(b);
    }
    if (st == RUBUS_OK) {
        st = make_operators(b);
    }
    rubus_csr_info info = {.struct_size = sizeof(info)};
    if (st == RUBUS_OK) {
        st = rubus_csr_info_get(b->csr, &info);
    }
    if (st != RUBUS_OK) {
        return cli_fail_status(st, b->ndim == 2 ? "2D" : "3D");
    }
    b->points = info.nrow;
    b->nnz = info.nnz;
    const int64_t nbyte = (int64_t)rubus_array_nbyte(rubus_csr_nzval(b->csr));
    return measure_copy_create(b->context, nbyte > COPY_LEAST ? nbyte : COPY_LEAST,
                               &b->copy);
}

static void tear_down(assemble_bench *b)
{
    for (int i = 0; i < 3; i++) {
        rubus_operator_destroy(b->op[i]);
    }
    measure_copy_destroy(b->copy);
    rubus_csr_destroy(b->csr);
    rubus_form_destroy(b->form);
    rubus_array_destroy(b->kappa);
    rubus_array_destroy(b->x);
    rubus_array_destroy(b->y);
    rubus_space_destroy(b->space);
    rubus_mesh_destroy(b->mesh);
    rubus_module_destroy(b->module);
    free(b->copy_gbs);
}

// --- rounds ----------------------------------------------------------------------------

static rubus_status run_path(const assemble_bench *b, int path)
{
    if (path < STENCIL_FILL) {
        return rubus_form_assemble_how(b->form, b->csr, path);
    }
    return path == STENCIL_FILL
               ? rubus_form_operator_refill(b->op[1])
               : rubus_operator_apply(b->op[path - APPLY], 1, b->x, 0, b->y);
}

// Some runs that are waited for together; seconds of one.
static int time_path(const assemble_bench *b, int path, double *out_seconds)
{
    const double start = measure_seconds();
    rubus_status st = RUBUS_OK;
    for (int64_t i = 0; st == RUBUS_OK && i < b->repeats[path]; i++) {
        st = run_path(b, path);
    }
    if (st == RUBUS_OK) {
        st = rubus_context_synchronize(b->context);
    }
    *out_seconds = (measure_seconds() - start) / (double)b->repeats[path];
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, path_names[path]);
}

// Everything takes its turn in a round; the first runs build kernels and tables.
static int run_rounds(assemble_bench *b)
{
    int status = CLI_DONE;
    for (int path = 0; status == CLI_DONE && path < PATHS; path++) {
        double first = 0;
        b->repeats[path] = 1;
        status = time_path(b, path, &first);
        if (status == CLI_DONE) {
            status = time_path(b, path, &first);
        }
        const double repeats = first > 0 ? LEAST_SECONDS / first : 1;
        b->repeats[path] = repeats < 1              ? 1
                           : repeats > REPEATS_MOST ? REPEATS_MOST
                                                    : (int64_t)repeats;
    }
    for (size_t i = 0; status == CLI_DONE && i < b->o->rounds; i++) {
        for (int path = 0; status == CLI_DONE && path < PATHS; path++) {
            status = time_path(b, path, &b->seconds[path][i]);
        }
        if (status == CLI_DONE) {
            status = measure_copy_run(b->copy, &b->copy_gbs[i]);
        }
    }
    return status;
}

// --- results ---------------------------------------------------------------------------

// Bytes that a path reads and writes at least, an index being of 32 bits.
static double bytes_of(const assemble_bench *b, int path)
{
    const double real = b->real == RUBUS_F64 ? sizeof(double) : sizeof(float);
    const double index = sizeof(int32_t);
    const double points = (double)b->points;
    const double values = (double)b->nnz * real;
    const double parts = points * 4 * b->ndim; // contributions
    const double field = points * real;
    // computed by a device, read by the host, zeroed, added up, copied
    const double mirror = parts * 2 * (real + index) + 5 * values + field;
    switch (path) {
    case RUBUS_FILL_ROWS:
        return field + points * index + values;
    case RUBUS_FILL_SCATTER:
        return field + parts * index + 3 * values;
    case RUBUS_FILL_GATHER:
        return field + (points + parts) * index + values;
    case RUBUS_FILL_HOST:
        return mirror;
    case RUBUS_FILL_SEARCH:
        return mirror + (points + (double)b->nnz) * index;
    case STENCIL_FILL:
        return field + points * (2 * b->ndim + 1) * real;
    case APPLY:
        return 3 * field;
    case STENCIL_PRODUCT:
        return 2 * field + points * (2 * b->ndim + 1) * real;
    default:
        return 2 * field + points * index + (double)b->nnz * (real + index);
    }
}

static int add_results(assemble_bench *b, json_t *results)
{
    const size_t rounds = b->o->rounds;
    const double copy = measure_median(b->copy_gbs, rounds);
    const char *problem = b->ndim == 2 ? "2d" : "3d";
    const char *real = b->real == RUBUS_F64 ? "f64" : "f32";
    double median[PATHS];
    b->copy_median = copy;
    for (int path = 0; path < PATHS; path++) {
        median[path] = measure_median(b->seconds[path], rounds);
        const bool fill = path < APPLY;
        const double ratio = median[path] / median[fill ? RUBUS_FILL_ROWS : APPLY];
        const double gbs = bytes_of(b, path) / median[path] / 1e9;
        if (!b->o->common.json) {
            printf("%s %s  %-15s %9.3f ms %7.2f GB/s  %5.2f of copy  %6.2f times %s\n",
                   problem, real, path_names[path], 1e3 * median[path], gbs, gbs / copy,
                   ratio, fill ? "rows" : "apply");
        }
        json_t *one = json_pack(
            "{s:s, s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:f}", "problem", problem, "real",
            real, "path", path_names[path], "points", (json_int_t)b->points, "nnz",
            (json_int_t)b->nnz, "ms", 1e3 * median[path], "gbs", gbs, "over_copy",
            gbs / copy, fill ? "vs_rows" : "vs_apply", ratio);
        if (json_array_append_new(results, one) != 0) {
            return cli_out_of_memory();
        }
    }
    return CLI_DONE;
}

static int run_problem(assemble_bench *b, json_t *results)
{
    int status = set_up(b);
    if (status == CLI_DONE) {
        status = run_rounds(b);
    }
    if (status == CLI_DONE) {
        status = add_results(b, results);
    }
    tear_down(b);
    return status;
}

int bench_assemble(rubus_context *context, const bench_options *o, json_t **out_object)
{
    if (o->n > BENCH_MATRIX_MOST) {
        return cli_usage("bench",
                         "--n: %lld is too large: indices of 32 bits count the "
                         "entries of sparse matrices up to %d",
                         (long long)o->n, (int)BENCH_MATRIX_MOST);
    }
    json_t *results = json_array();
    int status = results != NULL ? CLI_DONE : cli_out_of_memory();
    double copy = 0;
    for (int k = 0; status == CLI_DONE && k < 4; k++) {
        const int32_t real = k < 2 ? RUBUS_F64 : RUBUS_F32;
        if (bench_wants(o, real)) {
            assemble_bench b = {
                .context = context, .o = o, .real = real, .ndim = 2 + k % 2};
            status = run_problem(&b, results);
            copy = b.copy_median;
        }
    }
    if (status != CLI_DONE) {
        json_decref(results);
        return status;
    }
    if (!o->common.json) {
        printf("copy %.2f GB/s\n", copy);
    }
    *out_object = json_pack("{s:f, s:o}", "copy_gbs", copy, "results", results);
    return *out_object != NULL ? CLI_DONE : cli_out_of_memory();
}
