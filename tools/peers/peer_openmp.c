/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain compressed rows, shared out evenly among threads of OpenMP: what everything else
 * is compared with. Built by the same compiler as the others, with -O3.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <omp.h>

#include "peer.h"

static const peer_csr *matrix;
static double *x;
static double *y;
static int width;
static int rows_first;

int peer_begin(int *argc, char ***argv, int threads)
{
    (void)argc;
    (void)argv;
    omp_set_num_threads(threads);
    return 0;
}

int peer_create(const peer_csr *a)
{
    matrix = a;
    return 0;
}

int peer_load(const double *from, int k, int by_rows)
{
    const size_t nx = (size_t)matrix->ncol * (size_t)k;
    x = malloc(nx * sizeof *x);
    y = malloc((size_t)matrix->nrow * (size_t)k * sizeof *y);
    if (x == NULL || y == NULL) {
        return 1;
    }
    memcpy(x, from, nx * sizeof *x);
    width = k;
    rows_first = by_rows;
    return 0;
}

static void one_vector(const peer_csr *a, const double *from, double *to)
{
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < a->nrow; i++) {
        double sum = 0;
        for (int32_t e = a->rowptr[i]; e < a->rowptr[i + 1]; e++) {
            sum += a->nzval[e] * from[a->colval[e]];
        }
        to[i] = sum;
    }
}

static void many_by_rows(const peer_csr *a, int k)
{
#pragma omp parallel for schedule(static)
    for (int32_t i = 0; i < a->nrow; i++) {
        double *to = y + (size_t)i * (size_t)k;
        for (int j = 0; j < k; j++) {
            to[j] = 0;
        }
        for (int32_t e = a->rowptr[i]; e < a->rowptr[i + 1]; e++) {
            const double value = a->nzval[e];
            const double *from = x + (size_t)a->colval[e] * (size_t)k;
            for (int j = 0; j < k; j++) {
                to[j] += value * from[j];
            }
        }
    }
}

int peer_run(int repeat)
{
    for (int r = 0; r < repeat; r++) {
        if (width > 1 && rows_first) {
            many_by_rows(matrix, width);
            continue;
        }
        for (int j = 0; j < width; j++) {
            one_vector(matrix, x + (size_t)j * (size_t)matrix->ncol,
                       y + (size_t)j * (size_t)matrix->nrow);
        }
    }
    return 0;
}

int peer_store(double *to, int32_t *low, int32_t *high)
{
    memcpy(to, y, (size_t)matrix->nrow * (size_t)width * sizeof *y);
    *low = 0;
    *high = matrix->nrow;
    return 0;
}

int peer_speaks(void)
{
    return 1;
}

void peer_end(void)
{
    free(x);
    free(y);
}
