/* SPDX-License-Identifier: Apache-2.0 */
/* librsb, with its recursive blocks as it chooses them; without its tuning. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rsb.h>

#include "peer.h"

static struct rsb_mtx_t *matrix;
static double *x;
static double *y;
static int32_t nrow;
static int32_t ncol;
static int width;
static int rows_first;

static int failed(rsb_err_t error)
{
    if (error != RSB_ERR_NO_ERROR) {
        char text[200] = "";
        rsb_strerror_r(error, text, sizeof text);
        fprintf(stderr, "librsb: %s\n", text);
    }
    return error != RSB_ERR_NO_ERROR;
}

int peer_begin(int *argc, char ***argv, int threads)
{
    (void)argc;
    (void)argv;
    rsb_int_t n = threads;
    return failed(rsb_lib_init(RSB_NULL_INIT_OPTIONS)) ||
           failed(rsb_lib_set_opt(RSB_IO_WANT_EXECUTING_THREADS, &n));
}

int peer_create(const peer_csr *a)
{
    nrow = a->nrow;
    ncol = a->ncol;
    rsb_err_t error = RSB_ERR_NO_ERROR;
    matrix = rsb_mtx_alloc_from_csr_const(
        a->nzval, a->rowptr, a->colval, a->nnz, RSB_NUMERICAL_TYPE_DOUBLE, a->nrow,
        a->ncol, RSB_DEFAULT_ROW_BLOCKING, RSB_DEFAULT_COL_BLOCKING, RSB_FLAG_NOFLAGS,
        &error);
    return failed(error) || matrix == NULL;
}

int peer_load(const double *from, int k, int by_rows)
{
    const size_t nx = (size_t)ncol * (size_t)k;
    width = k;
    rows_first = by_rows;
    x = malloc(nx * sizeof *x);
    y = calloc((size_t)nrow * (size_t)k, sizeof *y);
    if (x == NULL || y == NULL) {
        return 1;
    }
    memcpy(x, from, nx * sizeof *x);
    return 0;
}

int peer_run(int repeat)
{
    const double one = 1;
    const double zero = 0;
    for (int r = 0; r < repeat; r++) {
        rsb_err_t error;
        if (width == 1) {
            error = rsb_spmv(RSB_TRANSPOSITION_N, &one, matrix, x, 1, &zero, y, 1);
        } else {
            error = rsb_spmm(RSB_TRANSPOSITION_N, &one, matrix, width,
                             rows_first ? RSB_FLAG_WANT_ROW_MAJOR_ORDER
                                        : RSB_FLAG_WANT_COLUMN_MAJOR_ORDER,
                             x, rows_first ? width : ncol, &zero, y,
                             rows_first ? width : nrow);
        }
        if (failed(error)) {
            return 1;
        }
    }
    return 0;
}

int peer_store(double *to, int32_t *low, int32_t *high)
{
    memcpy(to, y, (size_t)nrow * (size_t)width * sizeof *y);
    *low = 0;
    *high = nrow;
    return 0;
}

int peer_speaks(void)
{
    return 1;
}

void peer_end(void)
{
    rsb_mtx_free(matrix);
    rsb_lib_exit(RSB_NULL_EXIT_OPTIONS);
    free(x);
    free(y);
}
