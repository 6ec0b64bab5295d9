/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices of 8 rows. A slice is uniform if its rows have common distances from the
 * diagonal, up to few that are missing; then a slot needs one column only, and x is read
 * in whole vectors. Otherwise a slot has a column for each row. Where the lengths of
 * neighbours differ much, rows are sorted by length within windows of 4096 first.
 */
#include "config.h"

#include "plugins/threads/spmv.h"

#include <stdio.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define WINDOW 4096
#define WELL_PADDED 1.10 /* slots for each entry: no need to sort */
#define PADDED 1.35      /* most of them after sorting */
#define LOOSE 3          /* a uniform slice has at most 3/2 slots for each entry */
#define SAMPLE 64        /* slices that tell whether uniform ones are worth looking for */

typedef struct builder {
    spmv_plan *plan;
    const spmv_product *p;
    const spmv_kernels *k;
    int32_t *row;      /* [SPMV_SLICE * nslice]; NULL: in order */
    spmv_slice *slice; /* [nslice + 1]: lengths, then their sums */
    int32_t *column;   /* NULL while lengths are counted */
    bool merge;        /* look for uniform slices */
    _Atomic int64_t nuniform;
} builder;

/* --- one slice -------------------------------------------------------------------- */

typedef struct lane_list {
    int64_t row[SPMV_SLICE]; /* -1: none */
    int64_t at[SPMV_SLICE];  /* entries */
    int64_t end[SPMV_SLICE];
    int64_t longest;
    int64_t nentry;
} lane_list;

INLINE void open_slice(const builder *b, int64_t s, size_t size, lane_list *out)
{
    out->longest = 0;
    out->nentry = 0;
    for (int l = 0; l < SPMV_SLICE; l++) {
        const int64_t i = s * SPMV_SLICE + l;
        const int64_t row = b->row != NULL ? b->row[i] : i < b->p->nrow ? i : -1;
        out->row[l] = row;
        out->at[l] = row < 0 ? 0 : spmv_index(b->p->rowptr, size, row);
        out->end[l] = row < 0 ? 0 : spmv_index(b->p->rowptr, size, row + 1);
        int64_t n = out->end[l] - out->at[l];
        if (n > SPMV_LONG_ROW) {
            out->end[l] = out->at[l]; // empty here
            n = 0;
        }
        out->longest = n > out->longest ? n : out->longest;
        out->nentry += n;
    }
}

/* The same for rows that have the distances of the first. */
INLINE int64_t merge_steady(const builder *b, const lane_list *lanes, size_t size,
                            int64_t first, int32_t *column)
{
    for (int64_t n = 0; n < lanes->longest; n++) {
        const int64_t c = spmv_index(b->p->colval, size, lanes->at[0] + n);
        if (c + SPMV_SLICE > b->p->ncol) {
            return -1;
        }
        if (column != NULL) {
            column[first + n] = (int32_t)c;
        }
    }
    return lanes->longest;
}

/* Merges the rows by distance from the diagonal; the number of distances, or -1 if there
 * are too many or a vector would leave x. column[c]: that of lane 0; may be NULL. */
INLINE int64_t merge_uniform(const builder *b, const lane_list *lanes, size_t size,
                             int64_t first, int32_t *column)
{
    if (lanes->nentry == lanes->longest * SPMV_SLICE && lanes->row[SPMV_SLICE - 1] >= 0 &&
        b->k->steady(b->p, lanes->row[0], lanes->row[0] + SPMV_SLICE) == SPMV_SLICE) {
        return merge_steady(b, lanes, size, first, column);
    }
    lane_list w = *lanes;
    int64_t n = 0;
    for (int64_t done = 0; done < w.nentry; n++) {
        int64_t least = INT64_MAX;
        for (int l = 0; l < SPMV_SLICE; l++) {
            if (w.at[l] < w.end[l]) {
                const int64_t c = spmv_index(b->p->colval, size, w.at[l]) - l;
                least = c < least ? c : least;
            }
        }
        if (2 * SPMV_SLICE * (n + 1) > LOOSE * w.nentry + 2 * SPMV_SLICE || least < 0 ||
            least + SPMV_SLICE > b->p->ncol) {
            return -1;
        }
        for (int l = 0; l < SPMV_SLICE; l++) {
            if (w.at[l] < w.end[l] &&
                spmv_index(b->p->colval, size, w.at[l]) - l == least) {
                w.at[l]++;
                done++;
            }
        }
        if (column != NULL) {
            column[first + n] = (int32_t)least;
        }
    }
    return n;
}

/* A column for each row and slot; those of missing entries repeat one that is there. */
INLINE void list_columns(const builder *b, const lane_list *lanes, size_t size,
                         int64_t first, int32_t *column)
{
    for (int l = 0; l < SPMV_SLICE; l++) {
        int32_t c = 0;
        for (int64_t slot = 0; slot < lanes->longest; slot++) {
            if (lanes->at[l] + slot < lanes->end[l]) {
                c = (int32_t)spmv_index(b->p->colval, size, lanes->at[l] + slot);
            }
            column[first + slot * SPMV_SLICE + l] = c;
        }
    }
}

/* Lengths of slice s while there are no columns, else its columns. */
INLINE void do_slice(builder *b, int64_t s, size_t size)
{
    lane_list lanes;
    open_slice(b, s, size, &lanes);
    spmv_slice *slice = &b->slice[s];
    if (b->column != NULL) {
        const int64_t width = slice[1].slot - slice[0].slot;
        if (slice[1].column - slice[0].column == width) {
            (void)merge_uniform(b, &lanes, size, slice->column, b->column);
        } else {
            list_columns(b, &lanes, size, slice->column, b->column);
        }
        return;
    }
    const int64_t uniform = b->merge ? merge_uniform(b, &lanes, size, 0, NULL) : -1;
    slice[1].slot = uniform >= 0 ? uniform : lanes.longest;
    slice[1].column = uniform >= 0 ? uniform : lanes.longest * SPMV_SLICE;
    if (uniform >= 0) {
        atomic_fetch_add_explicit(&b->nuniform, 1, memory_order_relaxed);
    }
}

static void do_share(void *arg, int thread, int nthread)
{
    builder *b = arg;
    int64_t first;
    int64_t end;
    spmv_part(b->plan->nslice, thread, nthread, &first, &end);
    for (int64_t s = first; s < end; s++) {
        if (b->k->index_size == 4) {
            do_slice(b, s, 4);
        } else {
            do_slice(b, s, 8);
        }
    }
}

/* Whether some of a few slices from all over the matrix are uniform. */
static bool sample_uniform(const builder *b)
{
    for (int64_t n = 0; n < SAMPLE; n++) {
        const int64_t s =
            b->plan->nslice / SAMPLE * n + b->plan->nslice % SAMPLE * n / SAMPLE;
        lane_list lanes;
        open_slice(b, s, b->k->index_size, &lanes);
        if (lanes.nentry > 0 &&
            merge_uniform(b, &lanes, b->k->index_size, 0, NULL) >= 0) {
            return true;
        }
    }
    return false;
}

/* --- sorting ---------------------------------------------------------------------- */

static int64_t length_of(const builder *b, int64_t row)
{
    const size_t size = b->k->index_size;
    const int64_t n =
        spmv_index(b->p->rowptr, size, row + 1) - spmv_index(b->p->rowptr, size, row);
    return n > SPMV_LONG_ROW ? -1 : n;
}

/* Rows of a window, longest first, long ones left out. */
static void sort_window(builder *b, int64_t window)
{
    int32_t count[SPMV_LONG_ROW + 2] = {0};
    const int64_t first = window * WINDOW;
    const int64_t end = first + WINDOW < b->p->nrow ? first + WINDOW : b->p->nrow;
    const int64_t room = b->plan->nslice * SPMV_SLICE;
    int64_t stop = first + WINDOW < room ? first + WINDOW : room;
    for (int64_t i = first; i < stop; i++) {
        b->row[i] = -1;
    }
    for (int64_t i = first; i < end; i++) {
        const int64_t n = length_of(b, i);
        if (n >= 0) {
            count[SPMV_LONG_ROW - n + 1]++;
        }
    }
    for (int n = 0; n <= SPMV_LONG_ROW; n++) {
        count[n + 1] += count[n];
    }
    for (int64_t i = first; i < end; i++) {
        const int64_t n = length_of(b, i);
        if (n >= 0) {
            b->row[first + count[SPMV_LONG_ROW - n]++] = (int32_t)i;
        }
    }
}

static void sort_share(void *arg, int thread, int nthread)
{
    builder *b = arg;
    int64_t first;
    int64_t end;
    spmv_part((b->p->nrow + WINDOW - 1) / WINDOW, thread, nthread, &first, &end);
    for (int64_t w = first; w < end; w++) {
        sort_window(b, w);
    }
}

/* --- the whole -------------------------------------------------------------------- */

/* Counts, and sums up; slots for each entry that is not of a long row. */
static rubus_status count_slices(builder *b, double *out_padding)
{
    atomic_store(&b->nuniform, 0);
    b->slice[0] = (spmv_slice){0, 0};
    const rubus_status st = spmv_run(b->plan->ctx, false, do_share, b);
    int64_t kept = b->p->nnz;
    for (int64_t s = 0; s < b->plan->nsegment; s++) {
        kept -= b->plan->segment[s].end - b->plan->segment[s].first;
    }
    for (int64_t s = 0; s < b->plan->nslice; s++) {
        b->slice[s + 1].slot += b->slice[s].slot;
        b->slice[s + 1].column += b->slice[s].column;
    }
    const double slots = (double)b->slice[b->plan->nslice].slot * SPMV_SLICE;
    *out_padding = kept > 0 ? slots / (double)kept : 1;
    return st;
}

static rubus_status make_buffer(spmv_plan *plan, uint64_t nbyte, threads_buffer **out)
{
    return threads_buffer_reserve(plan->ctx, nbyte > 0 ? nbyte : 8, out);
}

/* Tries rows in order, then sorted ones; whether either is good enough. */
static rubus_status arrange(builder *b, bool *out_good)
{
    spmv_plan *plan = b->plan;
    double padding = 0;
    b->merge = sample_uniform(b);
    rubus_status st = count_slices(b, &padding);
    *out_good = padding <= WELL_PADDED || 2 * b->nuniform > plan->nslice;
    if (st != RUBUS_OK || *out_good) {
        return st;
    }
    st = make_buffer(plan, (uint64_t)plan->nslice * SPMV_SLICE * sizeof(int32_t),
                     &plan->row);
    if (st == RUBUS_OK) {
        b->row = (int32_t *)(void *)plan->row->data;
        b->merge = false;
        st = spmv_run(plan->ctx, false, sort_share, b);
    }
    if (st == RUBUS_OK) {
        st = count_slices(b, &padding);
    }
    *out_good = padding <= PADDED;
    return st;
}

static void drop(spmv_plan *plan, threads_buffer **buffer)
{
    threads_buffer_destroy(plan->ctx, *buffer);
    *buffer = NULL;
}

rubus_status spmv_slices_make(spmv_plan *plan, const spmv_product *p,
                              const spmv_kernels *k, bool *out_made)
{
    *out_made = false;
    if (p->ncol > INT32_MAX || p->nrow > INT32_MAX - SPMV_SLICE) {
        return RUBUS_OK; // columns and rows would not fit
    }
    builder b = {.plan = plan, .p = p, .k = k};
    plan->nslice = (p->nrow + SPMV_SLICE - 1) / SPMV_SLICE;
    rubus_status st = make_buffer(plan, ((uint64_t)plan->nslice + 1) * sizeof(spmv_slice),
                                  &plan->slice);
    bool good = false;
    if (st == RUBUS_OK) {
        b.slice = (spmv_slice *)(void *)plan->slice->data;
        st = arrange(&b, &good);
    }
    if (st == RUBUS_OK && good) {
        const spmv_slice end = b.slice[plan->nslice];
        // the kernel reads columns ahead of its own
        st = make_buffer(plan, (uint64_t)(end.column + SPMV_AHEAD) * sizeof(int32_t),
                         &plan->column);
        if (st == RUBUS_OK) {
            st = make_buffer(plan, (uint64_t)end.slot * SPMV_SLICE * k->real_size,
                             &plan->value);
        }
        if (st == RUBUS_OK) {
            b.column = (int32_t *)(void *)plan->column->data;
            memset(b.column + end.column, 0, SPMV_AHEAD * sizeof(int32_t));
            st = spmv_run(plan->ctx, false, do_share, &b);
        }
    }
    if (st != RUBUS_OK || !good) {
        drop(plan, &plan->slice);
        drop(plan, &plan->row);
        drop(plan, &plan->column);
        drop(plan, &plan->value);
        return st;
    }
    plan->nuniform = b.nuniform;
    plan->kind = SPMV_SLICES;
    snprintf(plan->head.path, sizeof plan->head.path, "%s of 8 rows, %.0f%% uniform",
             plan->row != NULL ? "sorted slices" : "slices",
             100.0 * (double)plan->nuniform / (double)plan->nslice);
    *out_made = true;
    return RUBUS_OK;
}
