/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the values of a matrix where the kernels of spmv_kernel.h want them, for one pair
 * of types. What lies between entries is 0.
 */

static THREADS_CLONES int64_t NAME(steady)(const spmv_product *p, int64_t row,
                                           int64_t end)
{
    const INDEX *const rowptr = p->rowptr;
    const int64_t n = rowptr[row + 1] - rowptr[row];
    int64_t at = row + 1;
    // blocks that grow, so that little is looked at in vain
    for (int64_t block = 2; at < end; block = block < 64 ? 2 * block : block) {
        const int64_t rows = end - at < block ? end - at : block;
        INDEX other = 0;
        for (int64_t i = at; i < at + rows; i++) {
            other |= rowptr[i + 1] - rowptr[i] - (INDEX)n;
        }
        const INDEX *const column = (const INDEX *)p->colval + rowptr[at];
        const int64_t nentry = other == 0 ? rows * n : 0;
        for (int64_t e = 0; e < nentry; e++) {
            other |= column[e] - column[e - n] - 1;
        }
        if (other != 0) {
            break;
        }
        at += rows;
    }
    return at - row;
}

/* Entries of rows [row, row + n) of a stencil to the tile v. */
INLINE void pack_tile(const spmv_product *p, int64_t row, int64_t n, REAL *v)
{
    const spmv_plan *const plan = p->plan;
    const INDEX *const rowptr = p->rowptr;
    const INDEX *const colval = p->colval;
    const REAL *const nzval = p->nzval;
    const int nd = plan->ndiag;
    if ((int64_t)rowptr[row + n] - (int64_t)rowptr[row] != (int64_t)SPMV_TILE * nd) {
        memset(v, 0, sizeof(REAL) * SPMV_TILE * (size_t)nd);
    }
    for (int64_t i = 0; i < n; i++) {
        REAL *const to = v + i / GROUP * nd * GROUP + i % GROUP;
        const int64_t begin = rowptr[row + i];
        const int64_t length = (int64_t)rowptr[row + i + 1] - begin;
        int d = 0;
        for (int64_t e = 0; e < length; e++, d++) {
            while (length != nd && plan->offset[d] != colval[begin + e] - (row + i)) {
                d++;
            }
            to[d * GROUP] = nzval[begin + e];
        }
    }
}

static void NAME(pack_tiles)(const spmv_product *p, int64_t first, int64_t end)
{
    const spmv_plan *const plan = p->plan;
    REAL *const value = (REAL *)(void *)plan->value->data;
    for (int64_t t = first; t < end; t++) {
        const int64_t row = plan->first_row + t * SPMV_TILE;
        const int64_t left = plan->end_row - row;
        pack_tile(p, row, left < SPMV_TILE ? left : SPMV_TILE,
                  value + t * plan->ndiag * SPMV_TILE);
    }
}

/* Entries of a row to lane l of its slice, whose columns say in which slot each goes. */
INLINE void pack_lane(const spmv_product *p, int64_t row, int l, const int32_t *column,
                      bool uniform, REAL *v)
{
    const INDEX *const rowptr = p->rowptr;
    const INDEX *const colval = p->colval;
    const REAL *const nzval = p->nzval;
    int64_t c = 0;
    const int64_t end = rowptr[row + 1];
    if (end - (int64_t)rowptr[row] > SPMV_LONG_ROW) {
        return;
    }
    for (int64_t e = rowptr[row]; e < end; e++, c++) {
        while (uniform && column[c] + l != (int64_t)colval[e]) {
            c++;
        }
        v[c * SPMV_SLICE + l] = nzval[e];
    }
}

static void NAME(pack_slices)(const spmv_product *p, int64_t first, int64_t end)
{
    const spmv_plan *const plan = p->plan;
    REAL *const value = (REAL *)(void *)plan->value->data;
    const spmv_slice *const slice = (const spmv_slice *)(const void *)plan->slice->data;
    const int32_t *const column = (const int32_t *)(const void *)plan->column->data;
    const int32_t *const list =
        plan->row == NULL ? NULL : (const int32_t *)(const void *)plan->row->data;
    for (int64_t s = first; s < end; s++) {
        const int64_t width = slice[s + 1].slot - slice[s].slot;
        const bool uniform = slice[s + 1].column - slice[s].column == width;
        REAL *const v = value + slice[s].slot * SPMV_SLICE;
        memset(v, 0, sizeof(REAL) * SPMV_SLICE * (size_t)width);
        for (int l = 0; l < SPMV_SLICE; l++) {
            const int64_t at = s * SPMV_SLICE + l;
            const int64_t row = list != NULL ? list[at] : at < p->nrow ? at : -1;
            if (row >= 0) {
                pack_lane(p, row, l, column + slice[s].column, uniform, v);
            }
        }
    }
}
