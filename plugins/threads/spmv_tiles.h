/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of a stencil for one pair of types, after spmv_kernel.h. In a tile, 64 bytes of
 * one diagonal (a group of rows) are followed by those of the next, so that the values
 * are one stream; x is read through a pointer for each diagonal. Groups whose sums hold a
 * NaN are summed again from the arrays of the matrix.
 */

#define AHEAD_BYTES 4096 /* between fetching values and using them */
#define AHEAD_VALUES ((int)(AHEAD_BYTES / sizeof(REAL)))

/* What a comparison of vectors gives, for any type of elements. */
typedef int64_t vec_mask __attribute__((vector_size(32)));

INLINE bool any_set(const vec_mask *mask)
{
    return ((*mask)[0] | (*mask)[1] | (*mask)[2] | (*mask)[3]) != 0;
}

/* --- a vector ----------------------------------------------------------------------- */

typedef enum tile_put { PUT_SCALED, PUT_STREAM, PUT_ADDED } tile_put;

INLINE tile_put put_of(const spmv_product *p, const REAL *y)
{
    return p->beta != 0                          ? PUT_ADDED
           : p->stream && (uintptr_t)y % 16 == 0 ? PUT_STREAM
                                                 : PUT_SCALED;
}

INLINE void put_vec_at(REAL *y, const vec *sum, tile_put how, REAL alpha, REAL beta)
{
    const vec scaled = alpha * *sum;
    if (how == PUT_ADDED) {
        VEC(y) = scaled + beta * CVEC(y);
    } else if (how == PUT_STREAM) {
        stream_vec(y, &scaled);
    } else {
        VEC(y) = scaled;
    }
}

/* Rows from `row` on, in whole groups; nd is a constant where it can be. */
INLINE void tile_groups(const spmv_product *p, const REAL *v, int64_t row, int n, int nd)
{
    const int64_t *const offset = p->plan->offset;
    const REAL *const x = (const REAL *)p->x + row;
    REAL *const y = (REAL *)p->y + row;
    const tile_put how = put_of(p, y);
    const REAL alpha = (REAL)p->alpha;
    const REAL beta = (REAL)p->beta;
    for (int i = 0; i + GROUP <= n; i += GROUP) {
        vec a = {0};
        vec b = {0};
#pragma GCC unroll 9
        for (int d = 0; d < nd; d++) {
            const REAL *const xd = x + offset[d] + i;
            __builtin_prefetch(v + AHEAD_VALUES);
            a += CVEC(v) * CVEC(xd);
            b += CVEC(v + LANES) * CVEC(xd + LANES);
            v += GROUP;
        }
        const vec_mask bad = (vec_mask)(a != a) | (vec_mask)(b != b);
        if (any_set(&bad)) {
            NAME(rows)(p, row + i, row + i + GROUP);
        } else {
            put_vec_at(y + i, &a, how, alpha, beta);
            put_vec_at(y + i + LANES, &b, how, alpha, beta);
        }
    }
}

static THREADS_CLONES void NAME(tile)(const spmv_product *p, int64_t t)
{
    const spmv_plan *const plan = p->plan;
    const int64_t row = plan->first_row + t * SPMV_TILE;
    const int64_t left = plan->end_row - row;
    const int n = left < SPMV_TILE ? (int)left : SPMV_TILE;
    const REAL *const v =
        (const REAL *)(const void *)plan->value->data + t * plan->ndiag * SPMV_TILE;
    switch (plan->ndiag) {
    case 3:
        tile_groups(p, v, row, n, 3);
        break;
    case 5:
        tile_groups(p, v, row, n, 5);
        break;
    case 7:
        tile_groups(p, v, row, n, 7);
        break;
    case 9:
        tile_groups(p, v, row, n, 9);
        break;
    case 27:
        tile_groups(p, v, row, n, 27);
        break;
    default:
        tile_groups(p, v, row, n, plan->ndiag);
        break;
    }
    if (n % GROUP != 0) {
        NAME(rows)(p, row + n / GROUP * GROUP, row + n);
    }
}

static void NAME(tiles)(const spmv_product *p, int64_t first, int64_t end)
{
    for (int64_t t = first; t < end; t++) {
        NAME(tile)(p, t);
    }
    stream_end();
}

/* --- X and Y by columns: each tile is swept for all columns while in the cache ------ */

static void NAME(tiles_columns)(const spmv_product *p, int64_t first, int64_t end)
{
    spmv_product one = *p;
    for (int64_t t = first; t < end; t++) {
        for (int64_t j = 0; j < p->k; j++) {
            one.x = (const REAL *)p->x + j * p->x_col;
            one.y = (REAL *)p->y + j * p->y_col;
            NAME(tile)(&one, t);
        }
    }
    stream_end();
}

/* --- X and Y by rows ---------------------------------------------------------------- */

/* A group of rows, and a place in them. x and y: at its first row and column; step: from
 * a row of X to the one that each diagonal meets. */
typedef struct near_group {
    const spmv_product *p;
    const REAL *v;
    const REAL *x;
    REAL *y;
    const int64_t *step;
} near_group;

/* `many` vectors of columns; false, and nothing written, if there is a NaN. */
INLINE bool near_vecs(const near_group *g, int nd, int many)
{
    const spmv_product *const p = g->p;
    vec sum[GROUP][4];
    vec_mask bad = {0};
    for (int r = 0; r < GROUP; r++) {
        const REAL *const x = g->x + r * p->x_row;
        vec s[4] = {{0}};
#pragma GCC unroll 9
        for (int d = 0; d < nd; d++) {
            const REAL value = g->v[d * GROUP + r];
#pragma GCC unroll 4
            for (int q = 0; q < many; q++) {
                s[q] += value * CVEC(x + g->step[d] + q * LANES);
            }
        }
#pragma GCC unroll 4
        for (int q = 0; q < many; q++) {
            bad |= (vec_mask)(s[q] != s[q]);
            sum[r][q] = s[q];
        }
    }
    if (any_set(&bad)) {
        return false;
    }
    const bool aligned = ((uintptr_t)g->y | (uintptr_t)p->y_row * sizeof(REAL)) % 16 == 0;
    const tile_put how = p->beta != 0           ? PUT_ADDED
                         : p->stream && aligned ? PUT_STREAM
                                                : PUT_SCALED;
    for (int r = 0; r < GROUP; r++) {
#pragma GCC unroll 4
        for (int q = 0; q < many; q++) {
            put_vec_at(g->y + r * p->y_row + q * LANES, &sum[r][q], how, (REAL)p->alpha,
                       (REAL)p->beta);
        }
    }
    return true;
}

/* One column. */
INLINE bool near_one(const near_group *g, int nd)
{
    const spmv_product *const p = g->p;
    REAL sum[GROUP];
    for (int r = 0; r < GROUP; r++) {
        sum[r] = 0;
    }
    for (int d = 0; d < nd; d++) {
        for (int r = 0; r < GROUP; r++) {
            sum[r] += g->v[d * GROUP + r] * g->x[r * p->x_row + g->step[d]];
        }
    }
    if (any_nan(sum, GROUP)) {
        return false;
    }
    for (int r = 0; r < GROUP; r++) {
        put_row(p, g->y + r * p->y_row, sum[r]);
    }
    return true;
}

/* All columns of a group of rows. */
INLINE void near_columns(near_group g, int64_t row, int nd)
{
    const spmv_product *const p = g.p;
    int64_t j = 0;
    while (j < p->k) {
        const int64_t left = p->k - j;
        const int many = left >= 4 * LANES   ? 4
                         : left >= 2 * LANES ? 2
                         : left >= LANES     ? 1
                                             : 0;
        const bool good = many == 4   ? near_vecs(&g, nd, 4)
                          : many == 2 ? near_vecs(&g, nd, 2)
                          : many == 1 ? near_vecs(&g, nd, 1)
                                      : near_one(&g, nd);
        const int64_t width = many > 0 ? many * LANES : 1;
        if (!good) {
            spmv_product part = *p;
            part.x = (const REAL *)p->x + j;
            part.y = (REAL *)p->y + j;
            part.k = width;
            NAME(rows_near)(&part, row, row + GROUP);
        }
        g.x += width;
        g.y += width;
        j += width;
    }
}

INLINE void near_tile(const spmv_product *p, int64_t t, int nd)
{
    const spmv_plan *const plan = p->plan;
    const int64_t row = plan->first_row + t * SPMV_TILE;
    const int64_t left = plan->end_row - row;
    const int n = left < SPMV_TILE ? (int)left : SPMV_TILE;
    const REAL *const v =
        (const REAL *)(const void *)plan->value->data + t * plan->ndiag * SPMV_TILE;
    int64_t step[SPMV_DIAGONALS];
    for (int d = 0; d < nd; d++) {
        step[d] = plan->offset[d] * p->x_row;
    }
    for (int i = 0; i + GROUP <= n; i += GROUP) {
        const near_group g = {p, v + (int64_t)i * nd,
                              (const REAL *)p->x + (row + i) * p->x_row,
                              (REAL *)p->y + (row + i) * p->y_row, step};
        near_columns(g, row + i, nd);
    }
    if (n % GROUP != 0) {
        NAME(rows_near)(p, row + n / GROUP * GROUP, row + n);
    }
}

static THREADS_CLONES void NAME(tiles_near)(const spmv_product *p, int64_t first,
                                            int64_t end)
{
    for (int64_t t = first; t < end; t++) {
        switch (p->plan->ndiag) {
        case 5:
            near_tile(p, t, 5);
            break;
        case 7:
            near_tile(p, t, 7);
            break;
        default:
            near_tile(p, t, p->plan->ndiag);
            break;
        }
    }
    stream_end();
}

const spmv_kernels NAME(spmv) = {
    .real_size = sizeof(REAL),
    .index_size = sizeof(INDEX),
    .pack_tiles = NAME(pack_tiles),
    .pack_slices = NAME(pack_slices),
    .steady = NAME(steady),
    .rows = NAME(rows),
    .tiles = NAME(tiles),
    .slices = NAME(slices),
    .segments = NAME(segments),
    .join = NAME(join),
    .save = NAME(save),
    .restore = NAME(restore),
    .rows_dense = NAME(rows_dense),
    .rows_near = NAME(rows_near),
    .tiles_columns = NAME(tiles_columns),
    .tiles_near = NAME(tiles_near),
    .segments_near = NAME(segments_near),
    .turn = NAME(turn),
};
