/* SPDX-License-Identifier: Apache-2.0 */
/* Rubus, backend threads. */
#include "config.h"

#include <stdio.h>

#include <rubus/rubus.h>

#include "peer.h"

static rubus_context *context;
static rubus_csr *csr;
static rubus_array *x;
static rubus_array *y;
static int32_t nrow;
static int32_t ncol;
static int width;
static int rows_first;

static int failed(rubus_status st)
{
    if (st != RUBUS_OK) {
        fprintf(stderr, "%s\n", rubus_error_text());
    }
    return st != RUBUS_OK;
}

int peer_begin(int *argc, char ***argv, int threads)
{
    (void)argc;
    (void)argv;
    char spec[40];
    snprintf(spec, sizeof spec, "threads:threads=%d", threads);
    return failed(rubus_context_create(spec, &context));
}

int peer_create(const peer_csr *a)
{
    nrow = a->nrow;
    ncol = a->ncol;
    return failed(rubus_csr_create(context, RUBUS_I32, RUBUS_F64, a->nrow, a->ncol,
                                   a->nnz, a->rowptr, a->colval, a->nzval, &csr));
}

int peer_load(const double *from, int k, int by_rows)
{
    width = k;
    rows_first = by_rows;
    return failed(rubus_array_from(context, RUBUS_F64, RUBUS_SHAPE((int64_t)ncol * k),
                                   from, &x)) ||
           failed(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE((int64_t)nrow * k),
                                     &y));
}

static rubus_status product(void)
{
    if (width == 1) {
        return rubus_spmv(1, csr, x, 0, y);
    }
    if (rows_first) {
        return rubus_spmm(1, csr, rubus_dense_rows(x, ncol, width, 0), 0,
                          rubus_dense_rows(y, nrow, width, 0));
    }
    return rubus_spmm(1, csr, rubus_dense_columns(x, ncol, width, 0), 0,
                      rubus_dense_columns(y, nrow, width, 0));
}

int peer_run(int repeat)
{
    for (int r = 0; r < repeat; r++) {
        if (failed(product())) {
            return 1;
        }
    }
    return failed(rubus_context_synchronize(context));
}

int peer_store(double *to, int32_t *low, int32_t *high)
{
    *low = 0;
    *high = nrow;
    return failed(rubus_array_read(y, to, rubus_array_nbyte(y)));
}

int peer_speaks(void)
{
    return 1;
}

void peer_end(void)
{
    rubus_array_destroy(x);
    rubus_array_destroy(y);
    rubus_csr_destroy(csr);
    rubus_context_destroy(context);
}
