/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubus spmv: y = alpha A x + beta y of Matrix Market files. What does not fit is told
 * before anything is computed; the result goes to a file, or to stdout by rows.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

enum { SPMV_ALPHA = CLI_OWN, SPMV_BETA, SPMV_TRANSPOSE };

static const struct option options[] = {
    {"x", required_argument, NULL, 'x'},
    {"y", required_argument, NULL, 'y'},
    {"output", required_argument, NULL, 'o'},
    {"alpha", required_argument, NULL, SPMV_ALPHA},
    {"beta", required_argument, NULL, SPMV_BETA},
    {"transpose", no_argument, NULL, SPMV_TRANSPOSE},
    CLI_OPTION_BACKEND,
    CLI_OPTION_REAL,
    CLI_OPTION_INDEX,
    CLI_OPTION_JSON,
    CLI_OPTION_LAST,
};

typedef struct spmv_options {
    cli_common common;
    const char *matrix;
    const char *x;
    const char *y;
    const char *output;
    double alpha;
    double beta;
    bool transpose;
} spmv_options;

/* A dense matrix by columns, without padding. */
typedef struct spmv_dense {
    int64_t nrow;
    int64_t ncol;
    void *data;         // on the host
    rubus_array *array; // on the device
} spmv_dense;

typedef struct spmv_state {
    const spmv_options *o;
    int32_t real;
    rubus_context *context;
    rubus_csr *csr;
    double inspect_s; // the time of rubus_csr_optimize
    int64_t nrow;     // of the matrix as it is multiplied
    int64_t ncol;
    spmv_dense x;
    spmv_dense y;
} spmv_state;

static size_t real_size(const spmv_state *s)
{
    return s->real == RUBUS_F32 ? sizeof(float) : sizeof(double);
}

static double number_at(const spmv_state *s, const void *data, int64_t k)
{
    return s->real == RUBUS_F32 ? (double)((const float *)data)[k]
                                : ((const double *)data)[k];
}

static void warn_infinite(const rubus_mm *mm, const char *path)
{
    if (mm->noverflow > 0) {
        fprintf(stderr, "rubus: %s: %lld value%s too large for %s, read as infinite\n",
                path, (long long)mm->noverflow, mm->noverflow == 1 ? " is" : "s are",
                mm->real == RUBUS_F32 ? "f32" : "f64");
    }
}

static int allocate(const spmv_state *s, spmv_dense *d)
{
    size_t size = 0;
    if (__builtin_mul_overflow((size_t)d->nrow, (size_t)d->ncol, &size) ||
        __builtin_mul_overflow(size, real_size(s), &size)) {
        return cli_out_of_memory();
    }
    d->data = malloc(size == 0 ? 1 : size);
    return d->data == NULL ? cli_out_of_memory() : CLI_DONE;
}

/* A dense matrix from a file. */
static int take_dense(const spmv_state *s, const rubus_mm *mm, const char *path,
                      spmv_dense *d)
{
    d->nrow = mm->nrow;
    d->ncol = mm->ncol;
    // a list of entries says nothing about how many columns are meant seriously
    if (mm->format == RUBUS_MM_COORDINATE && mm->ncol > 1 && mm->ncol > mm->n) {
        return cli_fail(
            CLI_INPUT, "%s: %lld columns, but only %lld entries: is this the right file?",
            path, (long long)mm->ncol, (long long)mm->n);
    }
    const int status = allocate(s, d);
    if (status != CLI_DONE) {
        return status;
    }
    const rubus_status st = rubus_mm_dense(mm, mm->nrow, d->data);
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, path);
}

static int read_dense(const spmv_state *s, const char *path, int64_t nrow,
                      const char *what, spmv_dense *d)
{
    const rubus_mm_options mm_options = {.struct_size = sizeof(mm_options),
                                         .real = s->real,
                                         .index = RUBUS_I64,
                                         .dense = 1};
    rubus_mm *mm = NULL;
    const rubus_status st = rubus_mm_read(path, &mm_options, &mm);
    if (st != RUBUS_OK) {
        return cli_fail_status(st, NULL);
    }
    int status;
    if (mm->nrow != nrow) {
        status = cli_fail(
            CLI_INPUT, "%s has %lld row%s, %lld needed: as many as the matrix%s has %s",
            path, (long long)mm->nrow, mm->nrow == 1 ? "" : "s", (long long)nrow,
            s->o->transpose ? ", transposed," : "", what);
    } else {
        warn_infinite(mm, path);
        status = take_dense(s, mm, path, d);
    }
    rubus_mm_destroy(mm);
    return status;
}

static int make_ones(const spmv_state *s, spmv_dense *d)
{
    d->nrow = s->ncol;
    d->ncol = 1;
    const int status = allocate(s, d);
    for (int64_t k = 0; status == CLI_DONE && k < d->nrow; k++) {
        if (s->real == RUBUS_F32) {
            ((float *)d->data)[k] = 1;
        } else {
            ((double *)d->data)[k] = 1;
        }
    }
    return status;
}

static int make_y(const spmv_state *s, spmv_dense *d)
{
    d->nrow = s->nrow;
    d->ncol = s->x.ncol;
    const int status = allocate(s, d);
    if (status == CLI_DONE) {
        memset(d->data, 0, (size_t)d->nrow * (size_t)d->ncol * real_size(s));
    }
    return status;
}

static int read_vectors(spmv_state *s)
{
    const spmv_options *o = s->o;
    int status = o->x != NULL ? read_dense(s, o->x, s->ncol, "columns", &s->x)
                              : make_ones(s, &s->x);
    if (status != CLI_DONE) {
        return status;
    }
    status =
        o->y != NULL ? read_dense(s, o->y, s->nrow, "rows", &s->y) : make_y(s, &s->y);
    if (status == CLI_DONE && s->y.ncol != s->x.ncol) {
        return cli_fail(CLI_INPUT, "%s has %lld column%s, %lld needed: as many as %s",
                        o->y, (long long)s->y.ncol, s->y.ncol == 1 ? "" : "s",
                        (long long)s->x.ncol, o->x != NULL ? o->x : "x has");
    }
    return status;
}

/* The matrix of the file, on the device. */
static int read_matrix(spmv_state *s)
{
    const spmv_options *o = s->o;
    const rubus_mm_options mm_options = {
        .struct_size = sizeof(mm_options), .real = s->real, .index = o->common.index};
    rubus_mm *mm = NULL;
    rubus_status st = rubus_mm_read(o->matrix, &mm_options, &mm);
    if (st != RUBUS_OK) {
        return cli_fail_status(st, NULL);
    }
    warn_infinite(mm, o->matrix);
    s->nrow = o->transpose ? mm->ncol : mm->nrow;
    s->ncol = o->transpose ? mm->nrow : mm->ncol;
    st = rubus_csr_create_coo(s->context, mm->index, mm->real, mm->nrow, mm->ncol, mm->n,
                              mm->row, mm->col, mm->value, &s->csr);
    rubus_mm_destroy(mm);
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, o->matrix);
}

static rubus_status upload(const spmv_state *s, spmv_dense *d)
{
    rubus_array *array = NULL;
    const rubus_status st = rubus_array_from(
        s->context, s->real, RUBUS_SHAPE(d->nrow * d->ncol), d->data, &array);
    d->array = array;
    return st;
}

static rubus_status product(spmv_state *s)
{
    const spmv_options *o = s->o;
    rubus_status st = upload(s, &s->x);
    if (st == RUBUS_OK) {
        st = upload(s, &s->y);
    }
    if (st == RUBUS_OK && !o->transpose) {
        const double start = measure_seconds();
        st = rubus_csr_optimize(s->csr);
        s->inspect_s = measure_seconds() - start;
    }
    if (st != RUBUS_OK) {
        return st;
    }
    if (s->x.ncol == 1) {
        st = (o->transpose ? rubus_spmv_transposed : rubus_spmv)(
            o->alpha, s->csr, s->x.array, o->beta, s->y.array);
    } else {
        st = (o->transpose ? rubus_spmm_transposed : rubus_spmm)(
            o->alpha, s->csr, rubus_dense_columns(s->x.array, s->x.nrow, s->x.ncol, 0),
            o->beta, rubus_dense_columns(s->y.array, s->y.nrow, s->y.ncol, 0));
    }
    if (st != RUBUS_OK) {
        return st;
    }
    return rubus_array_read(s->y.array, s->y.data, rubus_array_nbyte(s->y.array));
}

/* --- results ------------------------------------------------------------------------ */

static void print_rows(const spmv_state *s)
{
    const int digits = s->real == RUBUS_F32 ? 9 : 17;
    for (int64_t i = 0; i < s->y.nrow; i++) {
        for (int64_t j = 0; j < s->y.ncol; j++) {
            printf("%s%.*g", j > 0 ? "\t" : "", digits,
                   number_at(s, s->y.data, i + j * s->y.nrow));
        }
        putchar('\n');
    }
}

static json_t *columns_json(const spmv_state *s)
{
    json_t *columns = json_array();
    for (int64_t j = 0; columns != NULL && j < s->y.ncol; j++) {
        json_t *column = json_array();
        bool good = column != NULL;
        for (int64_t i = 0; good && i < s->y.nrow; i++) {
            const double value = number_at(s, s->y.data, i + j * s->y.nrow);
            good = json_array_append_new(column, cli_json_number(value)) == 0;
        }
        if (!good || json_array_append(columns, column) != 0) {
            json_decref(columns);
            columns = NULL;
        }
        json_decref(column);
    }
    return columns;
}

static json_t *result_json(const spmv_state *s, const rubus_csr_info *info)
{
    json_t *object = json_object();
    const bool good =
        cli_json_add(object, "rows", json_integer(info->nrow)) &&
        cli_json_add(object, "columns", json_integer(info->ncol)) &&
        cli_json_add(object, "entries", json_integer(info->nnz)) &&
        cli_json_add(object, "real",
                     json_string(info->real == RUBUS_F32 ? "f32" : "f64")) &&
        cli_json_add(object, "index",
                     json_string(info->index == RUBUS_I32 ? "i32" : "i64")) &&
        cli_json_add(object, "path", cli_json_string(info->path)) &&
        (s->o->transpose ||
         (cli_json_add(object, "product_bytes",
                       json_integer((json_int_t)info->product_bytes)) &&
          cli_json_add(object, "path_bytes",
                       json_integer((json_int_t)info->path_bytes)) &&
          cli_json_add(object, "inspect_ms", json_real(1e3 * s->inspect_s)))) &&
        (s->o->output != NULL || cli_json_add(object, "y", columns_json(s)));
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int write_results(const spmv_state *s)
{
    const spmv_options *o = s->o;
    rubus_csr_info info = {.struct_size = sizeof(info)};
    rubus_status st = rubus_csr_info_get(s->csr, &info);
    if (st == RUBUS_OK && o->output != NULL) {
        st = rubus_mm_write_array(o->output, s->real, s->y.nrow, s->y.ncol, 0, s->y.data,
                                  NULL);
    }
    if (st != RUBUS_OK) {
        return cli_fail_status(st, NULL);
    }
    if (o->common.verbose) {
        fprintf(stderr, "rubus: %s: %lld x %lld, %lld entries, %s %s%s%s\n", o->matrix,
                (long long)info.nrow, (long long)info.ncol, (long long)info.nnz,
                info.real == RUBUS_F32 ? "f32" : "f64",
                info.index == RUBUS_I32 ? "i32" : "i64",
                info.path[0] != '\0' ? ", by " : "", info.path);
        if (!o->transpose) {
            fprintf(stderr,
                    "rubus: %llu bytes a product, %llu beside the matrix, inspected in "
                    "%.3f ms\n",
                    (unsigned long long)info.product_bytes,
                    (unsigned long long)info.path_bytes, 1e3 * s->inspect_s);
        }
    }
    if (o->common.json) {
        return cli_json_finish(result_json(s, &info), CLI_DONE);
    }
    if (o->output == NULL) {
        print_rows(s);
    }
    return cli_finish(CLI_DONE);
}

/* --- the command -------------------------------------------------------------------- */

static int multiply(const spmv_options *o)
{
    spmv_state s = {.o = o};
    s.real = o->common.real == 0 ? RUBUS_F64 : o->common.real;
    int status = cli_open(&o->common, &s.context);
    if (status == CLI_DONE) {
        status = read_matrix(&s);
    }
    if (status == CLI_DONE) {
        status = read_vectors(&s);
    }
    if (status == CLI_DONE) {
        const rubus_status st = product(&s);
        status = st == RUBUS_OK ? write_results(&s) : cli_fail_status(st, NULL);
    }
    free(s.x.data);
    free(s.y.data);
    rubus_array_destroy(s.x.array);
    rubus_array_destroy(s.y.array);
    rubus_csr_destroy(s.csr);
    rubus_context_destroy(s.context);
    return status;
}

/* CLI_DONE, or the exit status after a message. */
static int take_option(int code, spmv_options *o)
{
    switch (code) {
    case 'x':
        o->x = optarg;
        return CLI_DONE;
    case 'y':
        o->y = optarg;
        return CLI_DONE;
    case 'o':
        o->output = optarg;
        return CLI_DONE;
    case SPMV_ALPHA:
        return cli_real(&cli_spmv, "alpha", optarg, &o->alpha) ? CLI_DONE : CLI_USAGE;
    case SPMV_BETA:
        return cli_real(&cli_spmv, "beta", optarg, &o->beta) ? CLI_DONE : CLI_USAGE;
    default:
        o->transpose = true;
        return CLI_DONE;
    }
}

static int run_spmv(int argc, char **argv)
{
    spmv_options o = {.alpha = 1};
    int status = CLI_DONE;
    for (;;) {
        const int code =
            cli_next(&cli_spmv, argc, argv, ":b:x:y:o:vh", options, &o.common, &status);
        if (code == CLI_STOP) {
            return status;
        }
        if (code == CLI_END) {
            break;
        }
        status = take_option(code, &o);
        if (status != CLI_DONE) {
            return status;
        }
    }
    if (argc - optind != 1) {
        return cli_usage("spmv", "expected one matrix file, got %d", argc - optind);
    }
    if (o.beta != 0 && o.y == NULL) {
        return cli_usage("spmv", "--beta needs y: give it with -y FILE");
    }
    if (o.output != NULL && !cli_has_ending(o.output, ".mtx") &&
        !cli_has_ending(o.output, ".mtx.gz")) {
        return cli_usage("spmv", "-o %s: the name must end in .mtx or .mtx.gz", o.output);
    }
    o.matrix = argv[optind];
    return multiply(&o);
}

const cli_command cli_spmv = {
    .name = "spmv",
    .summary = "multiply a sparse matrix of a file by vectors",
    .help =
        "Usage: rubus spmv A.mtx [-x X.mtx] [-y Y.mtx] [-o OUT.mtx]\n\n"
        "y = alpha A x + beta y. Files are in the Matrix Market format, plain or\n"
        "compressed by gzip. Several columns in X give a sparse-dense product.\n\n"
        "  -x, --x FILE           x, one column a vector; default: all ones\n"
        "  -y, --y FILE           y before the product, which --beta needs\n"
        "  -o, --output FILE      the result, .mtx or .mtx.gz; default: printed, one\n"
        "                         row a line\n"
        "      --alpha A          (1)\n"
        "      --beta B           (0, and then y is not read for numbers)\n"
        "      --transpose        multiply by A transposed\n"
        "  -b, --backend SPEC     where to run; default $RUBUS_BACKEND, else threads\n"
        "      --real f32|f64     type of the values (f64)\n"
        "      --index i32|i64    type of the indices (i32)\n"
        "      --json             one JSON object on stdout\n"
        "  -v, --verbose          say which backend, device and plugin are used, how "
        "the\n"
        "                         product runs, and what it moves\n"
        "  -h, --help             this text\n",
    .run = run_spmv,
};
