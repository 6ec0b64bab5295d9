/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at the structure of a matrix once: how far its entries are from the diagonal, and
 * which rows are long. Few distances make a stencil; else slices are tried; else the
 * arrays stay as they are. The look costs about as much as a product or two, since every
 * thread looks at its own rows.
 */
#include "config.h"

#include "plugins/threads/spmv.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define SMALL 512    /* entries: not worth a second look */
#define PADDING 1.25 /* most slots of a stencil for each entry */

/* What one thread saw. */
typedef struct survey {
    int32_t most;    /* offsets that a stencil may have */
    int32_t noffset; /* most + 1: too many */
    int64_t offset[SPMV_DIAGONALS];
    int64_t nlong;
    int64_t nsegment;
} survey;

/* --- distances from the diagonal -------------------------------------------------- */

/* Puts `o` at place `at` of the ascending list; false if that is full. */
static bool insert_offset(survey *s, int at, int64_t o)
{
    if (s->noffset >= s->most) {
        s->noffset = s->most + 1;
        return false;
    }
    memmove(s->offset + at + 1, s->offset + at,
            (size_t)(s->noffset - at) * sizeof(int64_t));
    s->offset[at] = o;
    s->noffset++;
    return true;
}

/* Offsets of an ascending list of columns of row i. */
INLINE void see_row(survey *s, const void *colval, size_t size, int64_t i, int64_t first,
                    int64_t end)
{
    int at = 0;
    for (int64_t e = first; e < end; e++, at++) {
        const int64_t o = spmv_index(colval, size, e) - i;
        while (at < s->noffset && s->offset[at] < o) {
            at++;
        }
        if ((at == s->noffset || s->offset[at] != o) && !insert_offset(s, at, o)) {
            return;
        }
    }
}

/* Rows like the one before are not looked at one by one. */
INLINE void see_rows(survey *s, const spmv_product *p, const spmv_kernels *k, size_t size,
                     int64_t first, int64_t end)
{
    for (int64_t i = first; i < end;) {
        const int64_t begin = spmv_index(p->rowptr, size, i);
        const int64_t stop = spmv_index(p->rowptr, size, i + 1);
        int64_t same = 1;
        if (stop - begin > SPMV_LONG_ROW) {
            s->nlong++;
            s->nsegment += (stop - begin + SPMV_SEGMENT - 1) / SPMV_SEGMENT;
            s->noffset = s->most + 1;
        } else if (s->noffset <= s->most) {
            see_row(s, p->colval, size, i, begin, stop);
            same = s->noffset <= s->most ? k->steady(p, i, end) : 1;
        }
        i += same;
    }
}

typedef struct survey_work {
    const spmv_product *p;
    const spmv_kernels *k;
    survey *of; /* a thread */
} survey_work;

/* More would make tiles too sparse. */
static int32_t most_offsets(const spmv_product *p)
{
    const double most = PADDING * (double)p->nnz / (double)p->nrow;
    return most < SPMV_DIAGONALS ? (int32_t)most : SPMV_DIAGONALS;
}

static void survey_thread(void *arg, int thread, int nthread)
{
    const survey_work *work = arg;
    survey *s = &work->of[thread];
    int64_t first;
    int64_t end;
    memset(s, 0, sizeof *s);
    s->most = most_offsets(work->p);
    spmv_part_rows(work->p, work->k, thread, nthread, &first, &end);
    if (work->k->index_size == 4) {
        see_rows(s, work->p, work->k, 4, first, end);
    } else {
        see_rows(s, work->p, work->k, 8, first, end);
    }
}

/* Adds what another thread saw. */
static void survey_add(survey *s, const survey *more)
{
    s->nlong += more->nlong;
    s->nsegment += more->nsegment;
    if (s->noffset > s->most || more->noffset > s->most) {
        s->noffset = s->most + 1;
        return;
    }
    int at = 0;
    for (int d = 0; d < more->noffset; d++) {
        while (at < s->noffset && s->offset[at] < more->offset[d]) {
            at++;
        }
        if ((at == s->noffset || s->offset[at] != more->offset[d]) &&
            !insert_offset(s, at, more->offset[d])) {
            return;
        }
    }
}

static rubus_status take_survey(threads_context *ctx, const spmv_product *p,
                                const spmv_kernels *k, survey *out)
{
    const rubus_host *host = ctx->host;
    const int nthread = ctx->be->nthread;
    survey *of =
        host->alloc(host->ctx, sizeof(survey) * (size_t)nthread, _Alignof(max_align_t));
    if (of == NULL) {
        return RUBUS_ENOMEM;
    }
    survey_work work = {p, k, of};
    const bool alone = p->nnz < SMALL || nthread == 1;
    const rubus_status st = spmv_run(ctx, alone, survey_thread, &work);
    *out = of[0];
    for (int t = 1; st == RUBUS_OK && !alone && t < nthread; t++) {
        survey_add(out, &of[t]);
    }
    host->free(host->ctx, of);
    return st;
}

/* --- long rows -------------------------------------------------------------------- */

static void list_long(spmv_plan *plan, const spmv_product *p, size_t size)
{
    int64_t l = 0;
    int64_t s = 0;
    for (int64_t i = 0; i < p->nrow && l < plan->nlong; i++) {
        int64_t e = spmv_index(p->rowptr, size, i);
        const int64_t end = spmv_index(p->rowptr, size, i + 1);
        if (end - e <= SPMV_LONG_ROW) {
            continue;
        }
        plan->long_row[l] = i;
        plan->long_start[l] = s;
        l++;
        for (; e < end; e += SPMV_SEGMENT, s++) {
            plan->segment[s] =
                (spmv_segment){e, end - e < SPMV_SEGMENT ? end : e + SPMV_SEGMENT};
        }
    }
    plan->long_start[l] = s;
}

static rubus_status make_long(spmv_plan *plan, const spmv_product *p,
                              const spmv_kernels *k, const survey *s)
{
    if (s->nlong == 0) {
        return RUBUS_OK;
    }
    const rubus_host *host = plan->ctx->host;
    const size_t nlong = (size_t)s->nlong;
    const size_t nsegment = (size_t)s->nsegment;
    plan->long_row = host->alloc(host->ctx, nlong * sizeof(int64_t), 8);
    plan->long_start = host->alloc(host->ctx, (nlong + 1) * sizeof(int64_t), 8);
    plan->long_y = host->alloc(host->ctx, nlong * k->real_size, 64);
    plan->segment = host->alloc(host->ctx, nsegment * sizeof(spmv_segment), 8);
    plan->part = host->alloc(host->ctx, nsegment * k->real_size, 64);
    if (plan->long_row == NULL || plan->long_start == NULL || plan->segment == NULL ||
        plan->part == NULL || plan->long_y == NULL) {
        return RUBUS_ENOMEM;
    }
    plan->nlong = s->nlong;
    plan->nsegment = s->nsegment;
    plan->part_width = 1;
    list_long(plan, p, k->index_size);
    return RUBUS_OK;
}

/* --- choosing --------------------------------------------------------------------- */

/* Rows that reach no column outside the matrix through any of the offsets. */
static bool is_stencil(spmv_plan *plan, const spmv_product *p, const survey *s)
{
    if (s->noffset > s->most || s->noffset == 0) {
        return false;
    }
    const int64_t low = s->offset[0];
    const int64_t high = s->offset[s->noffset - 1];
    int64_t first = low < 0 ? -low : 0;
    int64_t end = high > p->ncol - p->nrow ? p->ncol - high : p->nrow;
    first = (first + 15) / 16 * 16; // so that y is stored in whole vectors
    if (end - first < p->nrow / 2 || end <= first) {
        return false;
    }
    plan->ndiag = s->noffset;
    memcpy(plan->offset, s->offset, sizeof plan->offset);
    plan->first_row = first;
    plan->end_row = end;
    return true;
}

static rubus_status make_stencil(spmv_plan *plan, const spmv_kernels *k)
{
    const int64_t ntile = (plan->end_row - plan->first_row + SPMV_TILE - 1) / SPMV_TILE;
    const uint64_t nbyte =
        (uint64_t)ntile * SPMV_TILE * (uint64_t)plan->ndiag * k->real_size;
    const rubus_status st = threads_buffer_reserve(plan->ctx, nbyte, &plan->value);
    if (st == RUBUS_OK) {
        plan->kind = SPMV_STENCIL;
        snprintf(plan->head.path, sizeof plan->head.path, "stencil, %d diagonals",
                 plan->ndiag);
    }
    return st;
}

static uint64_t size_of(const threads_buffer *buffer)
{
    return buffer == NULL ? 0 : buffer->nbyte;
}

static void count_bytes(spmv_plan *plan, const spmv_product *p, const spmv_kernels *k)
{
    uint64_t segments = 0; // entries of long rows
    for (int64_t s = 0; s < plan->nsegment; s++) {
        segments += (uint64_t)(plan->segment[s].end - plan->segment[s].first);
    }
    const uint64_t entry = k->real_size + k->index_size;
    const uint64_t held = size_of(plan->value) + size_of(plan->slice) +
                          size_of(plan->column) + size_of(plan->row);
    uint64_t outside = 0; // rows that are summed from the matrix
    if (plan->kind == SPMV_STENCIL) {
        outside = (uint64_t)(p->nrow - (plan->end_row - plan->first_row)) *
                  ((uint64_t)plan->ndiag * entry + k->index_size);
    } else if (plan->kind == SPMV_ROWS) {
        outside = ((uint64_t)p->nnz - segments) * entry +
                  ((uint64_t)p->nrow + 1) * k->index_size;
    }
    plan->head.nbyte = held;
    plan->head.product_bytes =
        held + segments * entry + outside + (uint64_t)(p->nrow + p->ncol) * k->real_size;
}

rubus_status spmv_inspect(spmv_plan *plan, const spmv_product *p, const spmv_kernels *k)
{
    survey s;
    rubus_status st = take_survey(plan->ctx, p, k, &s);
    if (st == RUBUS_OK) {
        st = make_long(plan, p, k, &s);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    bool made = false;
    if (p->nnz >= SMALL && is_stencil(plan, p, &s)) {
        st = make_stencil(plan, k);
    } else if (p->nnz >= SMALL) {
        st = spmv_slices_make(plan, p, k, &made);
    }
    if (plan->kind == SPMV_ROWS) {
        // also where there is no memory to store the values twice
        snprintf(plan->head.path, sizeof plan->head.path, "rows%s",
                 st != RUBUS_OK ? ", for want of memory" : "");
    }
    if (plan->nlong > 0) {
        const size_t used = strlen(plan->head.path);
        snprintf(plan->head.path + used, sizeof plan->head.path - used, ", %lld long",
                 (long long)plan->nlong);
    }
    count_bytes(plan, p, k);
    return RUBUS_OK;
}
