/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of Y = alpha A X + beta Y for one pair of types, after spmv_kernel.h. Each
 * column of Y is summed as a vector would be. Where the elements of a row of X lie side
 * by side, whole groups of columns are summed in registers; tiles of a stencil are swept
 * once for each column while they are in the cache.
 */

#define AHEAD 20 /* entries between fetching a row of X and using it */

/* --- any strides -------------------------------------------------------------------- */

static void NAME(rows_dense)(const spmv_product *p, int64_t first, int64_t end)
{
    const INDEX *const rowptr = p->rowptr;
    const INDEX *const colval = p->colval;
    const REAL *const nzval = p->nzval;
    for (int64_t i = first; i < end; i++) {
        const int64_t begin = rowptr[i];
        const int64_t stop = rowptr[i + 1];
        for (int64_t j = 0; j < p->k && stop - begin <= SPMV_LONG_ROW; j++) {
            const REAL *const x = (const REAL *)p->x + j * p->x_col;
            REAL sum = 0;
            for (int64_t e = begin; e < stop; e++) {
                sum += nzval[e] * x[colval[e] * p->x_row];
            }
            put_row(p, (REAL *)p->y + i * p->y_row + j * p->y_col, sum);
        }
    }
}

/* --- X by rows ---------------------------------------------------------------------- */

/* A vector of neighbouring columns of one row. */
INLINE void put_vec(const spmv_product *p, REAL *y, const vec *sum)
{
    const REAL alpha = (REAL)p->alpha;
    const REAL beta = (REAL)p->beta;
    const vec scaled = alpha * *sum;
    if (p->y_col != 1) {
        for (int l = 0; l < LANES; l++) {
            REAL *const to = y + l * p->y_col;
            *to = p->beta == 0 ? scaled[l] : scaled[l] + beta * *to;
        }
    } else if (p->beta == 0) {
        VEC(y) = scaled;
    } else {
        VEC(y) = scaled + beta * CVEC(y);
    }
}

/* `many` vectors of columns of row i, from column j on; many is a constant. */
INLINE void row_group(const spmv_product *p, int64_t i, int64_t j, int many)
{
    const INDEX *const colval = p->colval;
    const REAL *const nzval = p->nzval;
    const REAL *const x = (const REAL *)p->x + j;
    const int64_t begin = ((const INDEX *)p->rowptr)[i];
    const int64_t stop = ((const INDEX *)p->rowptr)[i + 1];
    vec sum[4] = {{0}};
    for (int64_t e = begin; e < stop; e++) {
        const REAL *const row = x + colval[e] * p->x_row;
        const REAL v = nzval[e];
        const int64_t next = e + AHEAD < p->nnz ? e + AHEAD : e;
        __builtin_prefetch(x + colval[next] * p->x_row);
#pragma GCC unroll 4
        for (int q = 0; q < many; q++) {
            sum[q] += v * CVEC(row + q * LANES);
        }
    }
#pragma GCC unroll 4
    for (int q = 0; q < many; q++) {
        put_vec(p, (REAL *)p->y + i * p->y_row + (j + q * LANES) * p->y_col, &sum[q]);
    }
}

INLINE void row_rest(const spmv_product *p, int64_t i, int64_t j)
{
    const INDEX *const colval = p->colval;
    const REAL *const nzval = p->nzval;
    const int64_t stop = ((const INDEX *)p->rowptr)[i + 1];
    REAL sum = 0;
    for (int64_t e = ((const INDEX *)p->rowptr)[i]; e < stop; e++) {
        sum += nzval[e] * ((const REAL *)p->x)[colval[e] * p->x_row + j];
    }
    put_row(p, (REAL *)p->y + i * p->y_row + j * p->y_col, sum);
}

static THREADS_CLONES void NAME(rows_near)(const spmv_product *p, int64_t first,
                                           int64_t end)
{
    const INDEX *const rowptr = p->rowptr;
    for (int64_t i = first; i < end; i++) {
        if (rowptr[i + 1] - rowptr[i] > SPMV_LONG_ROW) {
            continue;
        }
        int64_t j = 0;
        for (; j + 4 * LANES <= p->k; j += 4 * LANES) {
            row_group(p, i, j, 4);
        }
        if (j + 2 * LANES <= p->k) {
            row_group(p, i, j, 2);
            j += 2 * LANES;
        }
        if (j + LANES <= p->k) {
            row_group(p, i, j, 1);
            j += LANES;
        }
        for (; j < p->k; j++) {
            row_rest(p, i, j);
        }
    }
}

static THREADS_CLONES void NAME(segments_near)(const spmv_product *p, int64_t first,
                                               int64_t end)
{
    const INDEX *const colval = p->colval;
    const REAL *const nzval = p->nzval;
    for (int64_t s = first; s < end; s++) {
        const spmv_segment segment = p->plan->segment[s];
        REAL *const part = (REAL *)p->plan->part + s * p->k;
        for (int64_t j = 0; j < p->k; j += LANES) {
            const int n = p->k - j < LANES ? (int)(p->k - j) : LANES;
            REAL lane[SPMV_LANES][LANES];
            memset(lane, 0, sizeof lane);
            for (int64_t e = segment.first; e < segment.end; e++) {
                const REAL *const row = (const REAL *)p->x + colval[e] * p->x_row + j;
                REAL *const to = lane[(e - segment.first) % SPMV_LANES];
                for (int l = 0; l < n; l++) {
                    to[l] += nzval[e] * row[l];
                }
            }
            for (int half = SPMV_LANES / 2; half > 0; half /= 2) {
                for (int h = 0; h < half; h++) {
                    for (int l = 0; l < LANES; l++) {
                        lane[h][l] += lane[h + half][l];
                    }
                }
            }
            memcpy(part + j, lane[0], (size_t)n * sizeof(REAL));
        }
    }
}

/* Rows [first, end) of X by rows; x_row is 1. */
static THREADS_CLONES void NAME(turn)(const spmv_product *p, void *to, int64_t first,
                                      int64_t end)
{
    REAL *const out = to;
    for (int64_t i = first; i < end; i++) {
        for (int64_t j = 0; j < p->k; j++) {
            out[i * p->k + j] = ((const REAL *)p->x)[i + j * p->x_col];
        }
    }
}
