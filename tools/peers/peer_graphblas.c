/* SPDX-License-Identifier: Apache-2.0 */
/* SuiteSparse:GraphBLAS: the product over plus and times, all vectors full. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <GraphBLAS.h>

#include "peer.h"

static GrB_Matrix matrix;
static GrB_Matrix x;
static GrB_Matrix y;
static GrB_Vector xv;
static GrB_Vector yv;
static GrB_Index nrow;
static GrB_Index ncol;
static int width;
static int rows_first;

static int failed(GrB_Info info)
{
    if (info != GrB_SUCCESS) {
        fprintf(stderr, "GraphBLAS: error %d\n", (int)info);
    }
    return info != GrB_SUCCESS;
}

int peer_begin(int *argc, char ***argv, int threads)
{
    (void)argc;
    (void)argv;
    return failed(GrB_init(GrB_NONBLOCKING)) ||
           failed(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, threads));
}

int peer_create(const peer_csr *a)
{
    nrow = (GrB_Index)a->nrow;
    ncol = (GrB_Index)a->ncol;
    GrB_Index *pointer = malloc((nrow + 1) * sizeof *pointer);
    GrB_Index *index = malloc((GrB_Index)a->nnz * sizeof *index);
    if (pointer == NULL || index == NULL) {
        return 1;
    }
    for (GrB_Index i = 0; i <= nrow; i++) {
        pointer[i] = (GrB_Index)a->rowptr[i];
    }
    for (GrB_Index k = 0; k < (GrB_Index)a->nnz; k++) {
        index[k] = (GrB_Index)a->colval[k];
    }
    const int bad = failed(GrB_Matrix_import_FP64(
        &matrix, GrB_FP64, nrow, ncol, pointer, index, a->nzval, nrow + 1,
        (GrB_Index)a->nnz, (GrB_Index)a->nnz, GrB_CSR_FORMAT));
    free(pointer);
    free(index);
    return bad;
}

/* Full vectors and matrices take memory of malloc over. */
static void *copy_of(const double *from, GrB_Index n)
{
    void *copy = malloc(n * sizeof *from + 1);
    if (copy != NULL) {
        memcpy(copy, from, n * sizeof *from);
    }
    return copy;
}

int peer_load(const double *from, int k, int by_rows)
{
    width = k;
    rows_first = by_rows;
    const GrB_Index size = ncol * (GrB_Index)k * sizeof *from;
    void *copy = copy_of(from, ncol * (GrB_Index)k);
    if (copy == NULL) {
        return 1;
    }
    if (k == 1) {
        return failed(GxB_Vector_import_Full(&xv, GrB_FP64, ncol, &copy, size, false,
                                             NULL)) ||
               failed(GrB_Vector_new(&yv, GrB_FP64, nrow));
    }
    const GrB_Info info = by_rows
                              ? GxB_Matrix_import_FullR(&x, GrB_FP64, ncol, (GrB_Index)k,
                                                        &copy, size, false, NULL)
                              : GxB_Matrix_import_FullC(&x, GrB_FP64, ncol, (GrB_Index)k,
                                                        &copy, size, false, NULL);
    return failed(info) || failed(GrB_Matrix_new(&y, GrB_FP64, nrow, (GrB_Index)k)) ||
           (!by_rows && failed(GxB_Matrix_Option_set(y, GxB_FORMAT, GxB_BY_COL)));
}

int peer_run(int repeat)
{
    for (int r = 0; r < repeat; r++) {
        if (width == 1) {
            if (failed(GrB_mxv(yv, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP64, matrix, xv,
                               NULL)) ||
                failed(GrB_wait(yv, GrB_MATERIALIZE))) {
                return 1;
            }
        } else if (failed(GrB_mxm(y, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP64, matrix, x,
                                  NULL)) ||
                   failed(GrB_wait(y, GrB_MATERIALIZE))) {
            return 1;
        }
    }
    return 0;
}

int peer_store(double *to, int32_t *low, int32_t *high)
{
    *low = 0;
    *high = (int32_t)nrow;
    for (GrB_Index i = 0; i < nrow; i++) {
        for (GrB_Index j = 0; j < (GrB_Index)width; j++) {
            double value = 0; // also where a row without entries gives none
            const GrB_Info info = width == 1
                                      ? GrB_Vector_extractElement_FP64(&value, yv, i)
                                      : GrB_Matrix_extractElement_FP64(&value, y, i, j);
            if (info != GrB_NO_VALUE && failed(info)) {
                return 1;
            }
            to[rows_first ? i * (GrB_Index)width + j : i + j * nrow] = value;
        }
    }
    return 0;
}

int peer_speaks(void)
{
    return 1;
}

void peer_end(void)
{
    GrB_free(&matrix);
    GrB_free(&x);
    GrB_free(&y);
    GrB_free(&xv);
    GrB_free(&yv);
    GrB_finalize();
}
