/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of y = alpha A x + beta y, for one pair of types: REAL, INDEX, and NAME(x) for
 * names. Included by spmv_f64_i32.c and its like, which also include spmv_pack.h and
 * spmm_kernel.h. Vectors are GCC's, 32 bytes wide whatever the processor has.
 */

#define INLINE static inline __attribute__((always_inline))
#define LANES ((int)(32 / sizeof(REAL)))
#define GROUP (2 * LANES) /* rows of a tile whose diagonals stand side by side */
typedef REAL vec __attribute__((vector_size(32), aligned(sizeof(REAL)), may_alias));
#define VEC(p) (*(vec *)(p))
#define CVEC(p) (*(const vec *)(p))

/* --- writing y ---------------------------------------------------------------------- */

/* Past the caches; y is aligned to 16 bytes. */
INLINE void stream_vec(REAL *y, const vec *from)
{
#if defined(__SSE2__)
    __m128i half[2];
    memcpy(half, from, sizeof half);
    _mm_stream_si128((__m128i *)(void *)y, half[0]);
    _mm_stream_si128((__m128i *)(void *)y + 1, half[1]);
#else
    VEC(y) = *from;
#endif
}

/* Before other threads may read what was streamed. */
INLINE void stream_end(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

/* y = alpha sum + beta y for n rows. */
INLINE void put_rows(const spmv_product *p, REAL *y, REAL *sum, int n)
{
    const REAL alpha = (REAL)p->alpha;
    const REAL beta = (REAL)p->beta;
    if (p->beta != 0) {
        for (int i = 0; i < n; i++) {
            y[i] = alpha * sum[i] + beta * y[i];
        }
    } else if (p->stream && n % LANES == 0 && (uintptr_t)y % 16 == 0) {
        for (int i = 0; i < n; i += LANES) {
            const vec scaled = alpha * CVEC(sum + i);
            stream_vec(y + i, &scaled);
        }
    } else {
        for (int i = 0; i < n; i++) {
            y[i] = alpha * sum[i];
        }
    }
}

INLINE void put_row(const spmv_product *p, REAL *y, REAL sum)
{
    const REAL scaled = (REAL)p->alpha * sum;
    *y = p->beta == 0 ? scaled : scaled + (REAL)p->beta * *y;
}

INLINE bool any_nan(const REAL *sum, int n)
{
    int bad = 0;
    for (int i = 0; i < n; i++) {
        bad |= sum[i] != sum[i];
    }
    return bad != 0;
}

/* --- the arrays of the matrix ------------------------------------------------------- */

static THREADS_CLONES void NAME(rows)(const spmv_product *p, int64_t first, int64_t end)
{
    const INDEX *const rowptr = p->rowptr;
    const INDEX *const colval = p->colval;
    const REAL *const nzval = p->nzval;
    const REAL *const x = p->x;
    REAL *const y = p->y;
    for (int64_t i = first; i < end; i++) {
        const int64_t begin = rowptr[i];
        const int64_t stop = rowptr[i + 1];
        if (stop - begin > SPMV_LONG_ROW) {
            continue;
        }
        REAL sum = 0;
        for (int64_t e = begin; e < stop; e++) {
            sum += nzval[e] * x[colval[e]];
        }
        put_row(p, y + i, sum);
    }
}

/* --- slices ------------------------------------------------------------------------- */

#define SLICE_VECS (SPMV_SLICE / LANES)

/* Sums of the rows of a slice of `width` slots. */
INLINE void sum_slice(const REAL *v, const int32_t *column, int64_t width, bool uniform,
                      const REAL *x, REAL sum[SPMV_SLICE])
{
    vec a[SLICE_VECS] = {{0}};
    for (int64_t c = 0; c < width; c++) {
#pragma GCC unroll 4
        for (int q = 0; q < SLICE_VECS; q++) {
            const vec value = CVEC(v + c * SPMV_SLICE + q * LANES);
            if (uniform) {
                a[q] += value * CVEC(x + column[c] + q * LANES);
            } else {
                const int32_t *const at = column + c * SPMV_SLICE + q * LANES;
                vec xq = {0};
#pragma GCC unroll 8
                for (int l = 0; l < LANES; l++) {
                    __builtin_prefetch(x + at[SPMV_AHEAD + l]);
                }
#pragma GCC unroll 8
                for (int l = 0; l < LANES; l++) {
                    xq[l] = x[at[l]];
                }
                a[q] += value * xq;
            }
        }
    }
#pragma GCC unroll 4
    for (int q = 0; q < SLICE_VECS; q++) {
        VEC(sum + q * LANES) = a[q];
    }
}

/* Writes n rows from `row` on, or those that `list` names. */
INLINE void put_slice(const spmv_product *p, REAL sum[SPMV_SLICE], int64_t row, int n,
                      const int32_t *list)
{
    REAL *const y = p->y;
    const bool bad = any_nan(sum, SPMV_SLICE);
    if (list == NULL && !bad) {
        put_rows(p, y + row, sum, n);
        return;
    }
    for (int l = 0; l < n; l++) {
        const int64_t i = list == NULL ? row + l : list[l];
        if (i >= 0 && bad) {
            NAME(rows)(p, i, i + 1);
        } else if (i >= 0) {
            put_row(p, y + i, sum[l]);
        }
    }
}

static THREADS_CLONES void NAME(slices)(const spmv_product *p, int64_t first, int64_t end)
{
    const spmv_plan *const plan = p->plan;
    const REAL *const value = (const REAL *)(const void *)plan->value->data;
    const spmv_slice *const slice = (const spmv_slice *)(const void *)plan->slice->data;
    const int32_t *const column = (const int32_t *)(const void *)plan->column->data;
    const int32_t *const list =
        plan->row == NULL ? NULL : (const int32_t *)(const void *)plan->row->data;
    const REAL *const x = p->x;
    for (int64_t s = first; s < end; s++) {
        const int64_t width = slice[s + 1].slot - slice[s].slot;
        const bool uniform = slice[s + 1].column - slice[s].column == width;
        const REAL *const v = value + slice[s].slot * SPMV_SLICE;
        const int32_t *const c = column + slice[s].column;
        REAL sum[SPMV_SLICE];
        if (uniform) {
            sum_slice(v, c, width, true, x, sum);
        } else {
            sum_slice(v, c, width, false, x, sum);
        }
        const int64_t row = s * SPMV_SLICE;
        const int64_t left = p->nrow - row;
        const int n = list != NULL || left >= SPMV_SLICE ? SPMV_SLICE : (int)left;
        put_slice(p, sum, row, n, list == NULL ? NULL : list + row);
    }
    stream_end();
}

/* --- long rows ---------------------------------------------------------------------- */

/* Joins the lanes of a segment, as shaders/sparse.rk does. */
INLINE REAL join_lanes(REAL lane[SPMV_LANES])
{
    for (int half = SPMV_LANES / 2; half > 0; half /= 2) {
        for (int l = 0; l < half; l++) {
            lane[l] += lane[l + half];
        }
    }
    return lane[0];
}

INLINE REAL sum_segment(const REAL *v, const INDEX *column, int64_t n, const REAL *x)
{
    enum { VECS = SPMV_LANES * sizeof(REAL) / 32 };
    vec a[VECS] = {{0}};
    int64_t e = 0;
    for (; e + SPMV_LANES <= n; e += SPMV_LANES) {
        // columns ascend, so these 32 are neighbours if the ends are 31 apart
        const bool near = column[e + SPMV_LANES - 1] - column[e] == SPMV_LANES - 1;
#pragma GCC unroll 8
        for (int q = 0; q < VECS; q++) {
            const REAL *const vq = v + e + q * LANES;
            if (near) {
                a[q] += CVEC(vq) * CVEC(x + column[e] + q * LANES);
            } else {
                vec xq = {0};
#pragma GCC unroll 8
                for (int l = 0; l < LANES; l++) {
                    xq[l] = x[column[e + q * LANES + l]];
                }
                a[q] += CVEC(vq) * xq;
            }
        }
    }
    REAL lane[SPMV_LANES];
    memcpy(lane, a, sizeof lane);
    for (int l = 0; e + l < n; l++) {
        lane[l] += v[e + l] * x[column[e + l]];
    }
    return join_lanes(lane);
}

static THREADS_CLONES void NAME(segments)(const spmv_product *p, int64_t first,
                                          int64_t end)
{
    const spmv_segment *const segment = p->plan->segment;
    REAL *const part = p->plan->part;
    for (int64_t s = first; s < end; s++) {
        const int64_t e = segment[s].first;
        part[s] = sum_segment((const REAL *)p->nzval + e, (const INDEX *)p->colval + e,
                              segment[s].end - e, p->x);
    }
}

/* Also for dense matrices: plan->part has p->k sums for each segment. */
static void NAME(join)(const spmv_product *p)
{
    const spmv_plan *const plan = p->plan;
    const REAL *const part = plan->part;
    REAL *const y = p->y;
    for (int64_t l = 0; l < plan->nlong; l++) {
        for (int64_t j = 0; j < p->k; j++) {
            REAL sum = 0;
            for (int64_t s = plan->long_start[l]; s < plan->long_start[l + 1]; s++) {
                sum += part[s * p->k + j];
            }
            put_row(p, y + plan->long_row[l] * p->y_row + j * p->y_col, sum);
        }
    }
}

static void NAME(save)(const spmv_product *p)
{
    for (int64_t l = 0; l < p->plan->nlong; l++) {
        ((REAL *)p->plan->long_y)[l] = ((const REAL *)p->y)[p->plan->long_row[l]];
    }
}

static void NAME(restore)(const spmv_product *p)
{
    for (int64_t l = 0; l < p->plan->nlong; l++) {
        ((REAL *)p->y)[p->plan->long_row[l]] = ((const REAL *)p->plan->long_y)[l];
    }
}
