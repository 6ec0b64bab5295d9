/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at the structure of a matrix once, in the mirror: how far its entries are from
 * the diagonal, which rows are long, how the lengths of its rows differ. Few distances
 * make a stencil; else slices are tried, in the order of the rows or sorted by length
 * within windows; else the arrays stay as they are. The values are brought into their
 * places by the device (vk_sparse.c).
 */
#include "config.h"

#include "plugins/vulkan/vk_sparse.h"

#include "plugins/vulkan/vk_module.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define SMALL 512        /* entries: not worth a second look */
#define PADDING 1.25     /* most values of a stencil for each entry */
#define WINDOW 65536     /* rows that are sorted */
#define WELL_PADDED 1.10 /* slots for each entry: no need to sort */
#define PADDED 1.5       /* most of them after sorting */

static int64_t index_at(const void *array, uint32_t type, int64_t i)
{
    return type == RUBUS_I64 ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

static int64_t row_begin(const rubus_csr_desc *a, int64_t row)
{
    return index_at(a->mirror_rowptr, a->index_type, row);
}

static int64_t row_length(const rubus_csr_desc *a, int64_t row)
{
    return row_begin(a, row + 1) - row_begin(a, row);
}

/* --- memory of a plan ------------------------------------------------------------- */

rubus_status vk_sparse_buffer(vk_context *ctx, uint64_t nbyte, vk_buffer **out_buffer)
{
    const rubus_host *host = ctx->host;
    if (ctx->be->descriptors && nbyte > ctx->limits.binding) {
        return host->fail(host->ctx, RUBUS_ELIMIT,
                          "product of a sparse matrix: it takes an array of %llu bytes, "
                          "and a descriptor of the device %s reaches %llu: leave "
                          "descriptors=on away",
                          (unsigned long long)nbyte, ctx->physical->properties.deviceName,
                          (unsigned long long)ctx->limits.binding);
    }
    void *buffer = NULL;
    const rubus_status st = vk_buffer_create(ctx, nbyte, &buffer);
    if (st == RUBUS_OK) {
        *out_buffer = buffer;
    }
    return st;
}

/* A table that the host has made, on the device. */
static rubus_status upload(vk_context *ctx, const void *from, uint64_t nbyte,
                           vk_buffer **out_buffer)
{
    const rubus_status st = vk_sparse_buffer(ctx, nbyte, out_buffer);
    return st == RUBUS_OK ? vk_write(ctx, *out_buffer, 0, from, nbyte) : st;
}

/* Memory of the host for n things, at least one. */
static void *table_of(const vk_context *ctx, int64_t n, size_t size)
{
    const rubus_host *host = ctx->host;
    return host->alloc(host->ctx, (uint64_t)(n > 0 ? n : 1) * size, 16);
}

static void table_free(const vk_context *ctx, void *table)
{
    if (table != NULL) {
        ctx->host->free(ctx->host->ctx, table);
    }
}

/* --- long rows -------------------------------------------------------------------- */

static void count_long(vk_sparse_plan *plan, const rubus_csr_desc *a)
{
    for (int64_t i = 0; i < a->nrow; i++) {
        const int64_t n = row_length(a, i);
        if (n > VK_LONG_ROW) {
            plan->nlong++;
            plan->nsegment += (n + VK_SEGMENT - 1) / VK_SEGMENT;
        }
    }
}

/* An element of a table of indices of the matrix's type. */
static void put_index(void *table, uint32_t type, int64_t i, int64_t value)
{
    if (type == RUBUS_I64) {
        ((int64_t *)table)[i] = value;
    } else {
        ((int32_t *)table)[i] = (int32_t)value;
    }
}

static void list_long(const rubus_csr_desc *a, void *row, void *segment)
{
    const uint32_t type = a->index_type;
    int64_t l = 0;
    int64_t s = 0;
    for (int64_t i = 0; i < a->nrow; i++) {
        int64_t e = row_begin(a, i);
        const int64_t end = row_begin(a, i + 1);
        if (end - e <= VK_LONG_ROW) {
            continue;
        }
        put_index(row, type, 2 * l, i);
        put_index(row, type, 2 * l + 1, s);
        l++;
        for (; e < end; e += VK_SEGMENT, s++) {
            put_index(segment, type, 2 * s, e);
            put_index(segment, type, 2 * s + 1,
                      end - e < VK_SEGMENT ? end - e : VK_SEGMENT);
        }
    }
    put_index(row, type, 2 * l, a->nrow);
    put_index(row, type, 2 * l + 1, s);
}

static rubus_status make_long(vk_sparse_plan *plan, const rubus_csr_desc *a)
{
    count_long(plan, a);
    if (plan->nlong == 0) {
        return RUBUS_OK;
    }
    vk_context *ctx = plan->ctx;
    const size_t size = vk_type_size(a->index_type);
    void *row = table_of(ctx, 2 * (plan->nlong + 1), size);
    void *segment = table_of(ctx, 2 * plan->nsegment, size);
    rubus_status st = row != NULL && segment != NULL ? RUBUS_OK : RUBUS_ENOMEM;
    if (st == RUBUS_OK) {
        list_long(a, row, segment);
        st = upload(ctx, row, 2 * ((uint64_t)plan->nlong + 1) * size, &plan->long_row);
    }
    if (st == RUBUS_OK) {
        st = upload(ctx, segment, 2 * (uint64_t)plan->nsegment * size, &plan->segment);
    }
    table_free(ctx, row);
    table_free(ctx, segment);
    return st;
}

/* --- stencils --------------------------------------------------------------------- */

typedef struct diagonals {
    int32_t most; /* more would make tiles too sparse */
    int32_t n;
    int32_t offset[VK_DIAGONALS];
} diagonals;

/* Puts `o` at place `at` of the ascending list; false if that is full. */
static bool insert(diagonals *d, int at, int64_t o)
{
    if (d->n >= d->most) {
        return false;
    }
    memmove(d->offset + at + 1, d->offset + at, (size_t)(d->n - at) * sizeof(int32_t));
    d->offset[at] = (int32_t)o;
    d->n++;
    return true;
}

/* False if the matrix has too many. */
static bool find_diagonals(const rubus_csr_desc *a, diagonals *d)
{
    for (int64_t i = 0; i < a->nrow; i++) {
        const int64_t end = row_begin(a, i + 1);
        int at = 0;
        for (int64_t e = row_begin(a, i); e < end; e++, at++) {
            const int64_t o = index_at(a->mirror_colval, a->index_type, e) - i;
            while (at < d->n && d->offset[at] < o) {
                at++;
            }
            if ((at == d->n || d->offset[at] != o) && !insert(d, at, o)) {
                return false;
            }
        }
    }
    return true;
}

/* A whole vector of x can be read somewhere, and every offset is an int. */
static bool is_stencil(const vk_sparse_plan *plan, const rubus_csr_desc *a, diagonals *d)
{
    const double most = PADDING * (double)a->nnz / (double)a->nrow;
    *d = (diagonals){.most = most < VK_DIAGONALS ? (int32_t)most : VK_DIAGONALS};
    return plan->nlong == 0 && a->nrow >= VK_TILE && a->ncol >= VK_TILE &&
           a->nrow <= INT32_MAX - VK_TILE && a->ncol <= INT32_MAX - VK_TILE &&
           find_diagonals(a, d);
}

static rubus_status make_stencil(vk_sparse_plan *plan, const rubus_csr_desc *a,
                                 const diagonals *d)
{
    vk_context *ctx = plan->ctx;
    const uint64_t words = ((uint64_t)d->n + 31) / 32;
    plan->ndiag = d->n;
    plan->ntile = (a->nrow + VK_TILE - 1) / VK_TILE;
    const uint64_t rows = (uint64_t)plan->ntile * VK_TILE;
    rubus_status st =
        upload(ctx, d->offset, (uint64_t)d->n * sizeof(int32_t), &plan->offset);
    if (st == RUBUS_OK) {
        st = vk_sparse_buffer(ctx, rows * words * sizeof(uint32_t), &plan->mask);
    }
    if (st == RUBUS_OK) {
        st = vk_sparse_buffer(ctx, rows * (uint64_t)d->n * vk_type_size(a->value_type),
                              &plan->value);
    }
    if (st == RUBUS_OK) {
        plan->kind = VK_KIND_STENCIL;
        snprintf(plan->head.path, sizeof plan->head.path, "stencil, %d diagonals", d->n);
    }
    return st;
}

/* --- slices ----------------------------------------------------------------------- */

typedef struct slices {
    const rubus_csr_desc *a;
    int64_t nslice;
    int64_t nslot;
    int32_t *length; /* [nslice][VK_SLICE]; -1: no row, or a long one */
    int32_t *row;    /* the same, behind it; used where sorted */
    int32_t *start;  /* [nslice + 1] */
} slices;

/* Lengths of the rows that the lanes have; in order, or as listed. */
static void fill_lengths(slices *s, bool sorted)
{
    for (int64_t i = 0; i < s->nslice * VK_SLICE; i++) {
        const int64_t row = sorted ? s->row[i] : i < s->a->nrow ? i : -1;
        const int64_t n = row < 0 ? -1 : row_length(s->a, row);
        s->length[i] = n > VK_LONG_ROW ? -1 : (int32_t)n;
    }
}

/* Slots of the slices; false if they are too many to be counted. */
static bool count_slots(slices *s)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s->nslice; i++) {
        int32_t width = 0;
        for (int l = 0; l < VK_SLICE; l++) {
            const int32_t length = s->length[i * VK_SLICE + l];
            width = length > width ? length : width;
        }
        s->start[i] = (int32_t)n;
        n += width;
        if (n > INT32_MAX) {
            return false;
        }
    }
    s->start[s->nslice] = (int32_t)n;
    s->nslot = n;
    return true;
}

/* Rows of a window by length, longest first; rows of the same length stay in order. */
static void sort_window(slices *s, int64_t first, int64_t end)
{
    int64_t place[VK_LONG_ROW + 2] = {0}; // lengths -1 to VK_LONG_ROW
    for (int64_t i = first; i < end; i++) {
        place[s->length[i] + 1]++;
    }
    int64_t at = first;
    for (int n = VK_LONG_ROW + 1; n >= 0; n--) {
        const int64_t many = place[n];
        place[n] = at;
        at += many;
    }
    for (int64_t i = first; i < end; i++) {
        s->row[place[s->length[i] + 1]++] = i < s->a->nrow ? (int32_t)i : -1;
    }
}

/* Whether slices have few enough slots beside entries; sorted if that helps. */
static bool choose_slices(slices *s, int64_t nentry, bool *out_sorted)
{
    fill_lengths(s, false);
    *out_sorted = false;
    if (!count_slots(s)) {
        return false;
    }
    if ((double)(s->nslot * VK_SLICE) <= WELL_PADDED * (double)nentry) {
        return true;
    }
    const int64_t n = s->nslice * VK_SLICE;
    for (int64_t first = 0; first < n; first += WINDOW) {
        sort_window(s, first, n - first < WINDOW ? n : first + WINDOW);
    }
    fill_lengths(s, true);
    *out_sorted = true;
    return count_slots(s) && (double)(s->nslot * VK_SLICE) <= PADDED * (double)nentry;
}

static rubus_status upload_slices(vk_sparse_plan *plan, const slices *s)
{
    vk_context *ctx = plan->ctx;
    const uint64_t lanes = (uint64_t)s->nslice * VK_SLICE;
    const uint64_t slots = (uint64_t)s->nslot * VK_SLICE;
    plan->nslice = s->nslice;
    plan->nslot = s->nslot;
    rubus_status st =
        upload(ctx, s->length, (plan->sorted ? 2 : 1) * lanes * 4, &plan->lane);
    if (st == RUBUS_OK) {
        st = upload(ctx, s->start, ((uint64_t)s->nslice + 1) * 4, &plan->start);
    }
    if (st == RUBUS_OK) {
        st = vk_sparse_buffer(ctx, slots * 4, &plan->column);
    }
    if (st == RUBUS_OK) {
        st = vk_sparse_buffer(ctx, slots * vk_type_size(s->a->value_type), &plan->value);
    }
    if (st == RUBUS_OK) {
        plan->kind = VK_KIND_SLICES;
        snprintf(plan->head.path, sizeof plan->head.path, "%sslices of %d rows",
                 plan->sorted ? "sorted " : "", VK_SLICE);
    }
    return st;
}

/* Entries of all rows that are not long. */
static int64_t short_entries(const rubus_csr_desc *a)
{
    int64_t n = 0;
    for (int64_t i = 0; i < a->nrow; i++) {
        const int64_t length = row_length(a, i);
        n += length <= VK_LONG_ROW ? length : 0;
    }
    return n;
}

static rubus_status make_slices(vk_sparse_plan *plan, const rubus_csr_desc *a)
{
    vk_context *ctx = plan->ctx;
    const int64_t nentry = short_entries(a);
    if (nentry == 0 || a->nrow > INT32_MAX - WINDOW || a->ncol > INT32_MAX) {
        return RUBUS_OK;
    }
    slices s = {.a = a, .nslice = (a->nrow + VK_SLICE - 1) / VK_SLICE};
    s.length = table_of(ctx, 2 * s.nslice * VK_SLICE, sizeof(int32_t));
    s.start = table_of(ctx, s.nslice + 1, sizeof(int32_t));
    rubus_status st = s.length != NULL && s.start != NULL ? RUBUS_OK : RUBUS_ENOMEM;
    if (st == RUBUS_OK) {
        s.row = s.length + s.nslice * VK_SLICE;
        if (choose_slices(&s, nentry, &plan->sorted)) {
            st = upload_slices(plan, &s);
        }
    }
    table_free(ctx, s.length);
    table_free(ctx, s.start);
    return st;
}

/* --- choosing --------------------------------------------------------------------- */

static uint64_t size_of(const vk_buffer *buffer)
{
    return buffer == NULL ? 0 : buffer->nbyte;
}

static void count_bytes(vk_sparse_plan *plan, const rubus_csr_desc *a)
{
    const uint64_t entry = vk_type_size(a->value_type) + vk_type_size(a->index_type);
    const uint64_t inside = (uint64_t)short_entries(a);
    const uint64_t vectors = (uint64_t)(a->nrow + a->ncol) * vk_type_size(a->value_type);
    const uint64_t read = size_of(plan->value) + size_of(plan->offset) +
                          size_of(plan->column) + size_of(plan->lane) +
                          size_of(plan->start);
    plan->head.nbyte =
        read + size_of(plan->mask) + size_of(plan->long_row) + size_of(plan->segment);
    plan->head.product_bytes = read + ((uint64_t)a->nnz - inside) * entry + vectors;
    if (plan->kind == VK_KIND_ROWS) {
        plan->head.product_bytes +=
            inside * entry + ((uint64_t)a->nrow + 1) * vk_type_size(a->index_type);
    }
}

void vk_sparse_drop(vk_sparse_plan *plan)
{
    vk_buffer **const buffer[] = {&plan->value,  &plan->offset, &plan->mask,
                                  &plan->column, &plan->lane,   &plan->start};
    for (size_t i = 0; i < sizeof buffer / sizeof buffer[0]; i++) {
        vk_buffer_destroy(plan->ctx, *buffer[i]);
        *buffer[i] = NULL;
    }
    plan->kind = VK_KIND_ROWS;
}

rubus_status vk_sparse_inspect(vk_sparse_plan *plan, const rubus_csr_desc *a)
{
    rubus_status st = make_long(plan, a);
    if (st != RUBUS_OK) {
        return st;
    }
    diagonals d;
    if (a->nnz >= SMALL) {
        st = is_stencil(plan, a, &d) ? make_stencil(plan, a, &d) : make_slices(plan, a);
    }
    if (st != RUBUS_OK && st != RUBUS_ENOMEM && st != RUBUS_EDEVMEM &&
        st != RUBUS_ELIMIT) {
        return st;
    }
    if (plan->kind == VK_KIND_ROWS) {
        // also where there is no memory to store the values twice
        vk_sparse_drop(plan);
        snprintf(plan->head.path, sizeof plan->head.path, "rows%s",
                 st != RUBUS_OK ? ", for want of memory" : "");
    }
    if (plan->nlong > 0) {
        const size_t used = strlen(plan->head.path);
        snprintf(plan->head.path + used, sizeof plan->head.path - used, ", %lld long",
                 (long long)plan->nlong);
    }
    count_bytes(plan, a);
    return RUBUS_OK;
}
