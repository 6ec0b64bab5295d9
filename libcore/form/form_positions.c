/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of a matrix of a form, and the fillings that go by them. A table is made on the
 * device when it is first needed and serves as long as the matrix, since neither pattern
 * nor constrained points change; form_table.c of the compiler tells its layout. How many
 * points stand side by side in it is what the device says of its lanes.
 *
 * On the host contributions are added in the order of the table to the mirror, which goes
 * to the device at once.
 */
#include "config.h"

#include "libcore/form/form_matrix.h"

#include <string.h>

/* --- tables ----------------------------------------------------------------------- */

rubus_status rubus__form_count_slots(const char *what, int32_t index, int64_t padded,
                                     const rk_form_kernel *kernel, int64_t *out_slots)
{
    int64_t slots = 0;
    for (int32_t t = 0; t < kernel->nterm; t++) {
        slots += padded * kernel->width[t];
    }
    if (index == RUBUS_I32 && slots > INT32_MAX) {
        return rubus__fail(
            RUBUS_ELIMIT,
            "%s: a table of %lld positions is more than 32-bit indices can "
            "count; create the module with index RUBUS_I64, or fill with "
            "RUBUS_FILL_ROWS",
            what, (long long)slots);
    }
    *out_slots = slots;
    return RUBUS_OK;
}

/* Sizes of tables, from the kernel that writes one. */
static rubus_status measure(const char *what, rubus__form_matrix *m, const rubus_csr *csr)
{
    const rubus__form_kernel *kernel = NULL;
    if (m->slots > 0) {
        return RUBUS_OK;
    }
    const rubus_status st =
        rubus__form_kernel_get(m->form, RK_JOB_POSITIONS, &m->fix, &kernel);
    if (st != RUBUS_OK) {
        return st;
    }
    const int64_t count = m->form->state->count;
    const uint32_t lanes = csr->context->dev->caps.lane_width;
    m->stride = lanes == 0 ? 1 : lanes;
    m->padded = (count + m->stride - 1) / m->stride * m->stride;
    return rubus__form_count_slots(what, csr->mirror.index, m->padded, &kernel->made,
                                   &m->slots);
}

static rubus__form_arrays arrays_of(const rubus__form_matrix *m, const rubus_csr *csr)
{
    const rubus__form_arrays arrays = {.rowptr = csr->rowptr,
                                       .colval = csr->colval,
                                       .nzval = csr->nzval,
                                       .table = {m->table, NULL},
                                       .part = m->part,
                                       .stride = m->stride,
                                       .padded = m->padded};
    return arrays;
}

/* Runs a job that writes tables into new arrays; one of them, or two. */
static rubus_status write_tables(const char *what, rubus__form_matrix *m,
                                 const rubus_csr *csr, rk_form_job job, int n,
                                 rubus_array *out_table[2])
{
    rubus__form_arrays arrays = arrays_of(m, csr);
    rubus_status st = RUBUS_OK;
    for (int i = 0; st == RUBUS_OK && i < n; i++) {
        st = rubus_array_create(csr->context, csr->mirror.index, RUBUS_SHAPE(m->slots),
                                &arrays.table[i]);
    }
    if (st == RUBUS_OK) {
        st = rubus__form_run(m->form, what, job, &m->fix, &arrays);
    }
    for (int i = 0; i < n; i++) {
        if (st == RUBUS_OK) {
            out_table[i] = arrays.table[i];
        } else {
            rubus_array_destroy(arrays.table[i]);
        }
    }
    return st;
}

static rubus_status need_table(const char *what, rubus__form_matrix *m,
                               const rubus_csr *csr)
{
    rubus_status st = measure(what, m, csr);
    if (st != RUBUS_OK || m->table != NULL) {
        return st;
    }
    rubus_array *table[2] = {NULL, NULL};
    st = write_tables(what, m, csr, RK_JOB_POSITIONS, 1, table);
    m->table = table[0];
    return st;
}

/* --- on the device ---------------------------------------------------------------- */

rubus_status rubus__form_fill_gather(const char *what, rubus__form_matrix *m,
                                     rubus_csr *csr)
{
    const rubus_status st = need_table(what, m, csr);
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus__form_arrays arrays = arrays_of(m, csr);
    return rubus__form_run(m->form, what, RK_JOB_GATHER, &m->fix, &arrays);
}

rubus_status rubus__form_fill_scatter(const char *what, rubus__form_matrix *m,
                                      rubus_csr *csr)
{
    bool works = false;
    rubus_status st = rubus__csr_atomics(csr, &works);
    if (st == RUBUS_OK && !works) {
        return rubus__form_fill_gather(what, m, csr);
    }
    const rubus__form_kernel *kernel = NULL;
    if (st == RUBUS_OK) { // what may fail does so before anything is written
        st = rubus__form_kernel_get(m->form, RK_JOB_SCATTER, &m->fix, &kernel);
    }
    if (st == RUBUS_OK) {
        st = need_table(what, m, csr);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus__form_arrays arrays = arrays_of(m, csr);
    st = rubus__form_run(m->form, what, RK_JOB_CLEAR, &m->fix, &arrays);
    return st == RUBUS_OK
               ? rubus__form_run(m->form, what, RK_JOB_SCATTER, &m->fix, &arrays)
               : st;
}

/* --- on the host: what is made once ----------------------------------------------- */

/* Positions of the diagonals of constrained rows: where a cleared matrix is not 0. */
static rubus_status need_diagonal(const char *what, rubus__form_matrix *m,
                                  const rubus_csr *csr)
{
    if (m->diagonal_known || m->fix.mode == RK_FIX_NONE) {
        return RUBUS_OK;
    }
    rubus__form_arrays arrays = arrays_of(m, csr);
    void *value = NULL;
    rubus_status st = rubus_array_create(csr->context, csr->mirror.real,
                                         RUBUS_SHAPE(csr->mirror.nnz), &arrays.nzval);
    if (st == RUBUS_OK) {
        st = rubus__form_run(m->form, what, RK_JOB_CLEAR, &m->fix, &arrays);
    }
    if (st == RUBUS_OK) {
        st = rubus_array_map(arrays.nzval, RUBUS_READ, &value);
    }
    if (st == RUBUS_OK) {
        const bool f32 = csr->mirror.real == RUBUS_F32;
        int64_t *diagonal =
            rubus__alloc_array((size_t)csr->mirror.nrow, sizeof(*diagonal));
        for (int64_t k = 0; diagonal != NULL && k < csr->mirror.nnz; k++) {
            if (f32 ? ((float *)value)[k] > 0 : ((double *)value)[k] > 0) {
                diagonal[m->ndiagonal++] = k;
            }
        }
        m->diagonal = diagonal;
        m->diagonal_known = diagonal != NULL;
        st = rubus_array_unmap(arrays.nzval);
        st = diagonal == NULL ? RUBUS_ENOMEM : st;
    }
    rubus_array_destroy(arrays.nzval);
    return st;
}

static rubus_status need_positions(const char *what, rubus__form_matrix *m,
                                   const rubus_csr *csr)
{
    rubus_status st = need_table(what, m, csr);
    if (st != RUBUS_OK || m->position != NULL) {
        return st;
    }
    const size_t size = rubus__type_size(csr->mirror.index);
    void *position = rubus__alloc_array((size_t)m->slots, size);
    if (position == NULL) {
        return RUBUS_ENOMEM;
    }
    st = rubus_array_read(m->table, position, (size_t)m->slots * size);
    if (st != RUBUS_OK) {
        rubus__free(position);
        return st;
    }
    m->position = position;
    return RUBUS_OK;
}

static void pairs_fini(rubus__form_pairs *pairs)
{
    rubus_array_destroy(pairs->row);
    rubus__free(pairs->row_of);
    rubus__free(pairs->column_of);
    rubus__free(pairs->slot);
    rubus__free(pairs->value);
    memset(pairs, 0, sizeof(*pairs));
}

/* Those that are there, one after the other. row, column: [slots] */
static rubus_status list_pairs(const rubus__form_matrix *m, const rubus__host_csr *host,
                               const void *row, const void *column,
                               rubus__form_pairs *pairs)
{
    int64_t n = 0;
    for (int64_t i = 0; i < m->slots; i++) {
        n += rubus__index_get(row, host->index, i) >= 0;
    }
    const size_t size = rubus__type_size(host->index);
    pairs->row_of = rubus__alloc_array((size_t)n, size);
    pairs->column_of = rubus__alloc_array((size_t)n, size);
    pairs->slot = rubus__alloc_array((size_t)n, sizeof(*pairs->slot));
    pairs->value = rubus__alloc_array((size_t)n, rubus__type_size(host->real));
    if (pairs->row_of == NULL || pairs->column_of == NULL || pairs->slot == NULL ||
        pairs->value == NULL) {
        return RUBUS_ENOMEM;
    }
    for (int64_t i = 0; i < m->slots; i++) {
        const int64_t r = rubus__index_get(row, host->index, i);
        if (r >= 0) {
            rubus__index_set(pairs->row_of, host->index, pairs->n, r);
            rubus__index_set(pairs->column_of, host->index, pairs->n,
                             rubus__index_get(column, host->index, i));
            pairs->slot[pairs->n++] = i;
        }
    }
    return RUBUS_OK;
}

static rubus_status need_pairs(const char *what, rubus__form_matrix *m,
                               const rubus_csr *csr)
{
    rubus_status st = measure(what, m, csr);
    if (st != RUBUS_OK || m->pairs.row != NULL) {
        return st;
    }
    rubus_array *table[2] = {NULL, NULL};
    rubus__form_pairs pairs = {.n = 0};
    void *row = NULL;
    void *column = NULL;
    st = write_tables(what, m, csr, RK_JOB_PAIRS, 2, table);
    pairs.row = table[0];
    if (st == RUBUS_OK) {
        st = rubus_array_map(table[0], RUBUS_READ, &row);
    }
    if (st == RUBUS_OK) {
        st = rubus_array_map(table[1], RUBUS_READ, &column);
    }
    if (st == RUBUS_OK) {
        st = list_pairs(m, &csr->mirror, row, column, &pairs);
    }
    const void *mapped[2] = {row, column};
    for (int i = 0; i < 2; i++) {
        const rubus_status end = mapped[i] == NULL ? st : rubus_array_unmap(table[i]);
        st = st == RUBUS_OK ? end : st;
    }
    rubus_array_destroy(table[1]);
    if (st != RUBUS_OK) {
        pairs_fini(&pairs);
        return st;
    }
    m->pairs = pairs;
    return RUBUS_OK;
}

void rubus__form_tables_fini(rubus__form_matrix *m)
{
    pairs_fini(&m->pairs);
    rubus_array_destroy(m->table);
    rubus_array_destroy(m->part);
    rubus__free(m->position);
    rubus__free(m->diagonal);
}

/* --- on the host: filling --------------------------------------------------------- */

/* The contributions, where the table or the list of rows has something. */
static rubus_status compute_parts(const char *what, rubus__form_matrix *m,
                                  const rubus_csr *csr, rubus_array *where)
{
    rubus_status st = RUBUS_OK;
    if (m->part == NULL) {
        st = rubus_array_create(csr->context, csr->mirror.real, RUBUS_SHAPE(m->slots),
                                &m->part);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__form_arrays arrays = arrays_of(m, csr);
    arrays.table[0] = where;
    return rubus__form_run(m->form, what, RK_JOB_PARTS, &m->fix, &arrays);
}

static rubus_status add_found(rubus__form_matrix *m, rubus_csr *csr, const void *part)
{
    rubus__form_pairs *p = &m->pairs;
    for (int64_t i = 0; i < p->n; i++) {
        rubus__value_copy(p->value, i, part, p->slot[i], csr->mirror.real);
    }
    return rubus_csr_add(csr, p->n, p->row_of, p->column_of, p->value);
}

static void set_diagonal(const rubus__form_matrix *m, const rubus__host_csr *host)
{
    for (int64_t i = 0; i < m->ndiagonal; i++) {
        if (host->real == RUBUS_F32) {
            ((float *)host->nzval)[m->diagonal[i]] = 1;
        } else {
            ((double *)host->nzval)[m->diagonal[i]] = 1;
        }
    }
}

rubus_status rubus__form_fill_host(const char *what, rubus__form_matrix *m,
                                   rubus_csr *csr, bool search)
{
    rubus_status st = search ? need_pairs(what, m, csr) : need_positions(what, m, csr);
    if (st == RUBUS_OK) {
        st = need_diagonal(what, m, csr);
    }
    if (st == RUBUS_OK) {
        st = compute_parts(what, m, csr, search ? m->pairs.row : m->table);
    }
    void *part = NULL;
    if (st == RUBUS_OK) {
        st = rubus_array_map(m->part, RUBUS_READ, &part);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    st = rubus_csr_mirror_zero(csr);
    if (st == RUBUS_OK) {
        st = search ? add_found(m, csr, part)
                    : rubus_csr_add_at(csr, m->slots, m->position, part);
    }
    const rubus_status end = rubus_array_unmap(m->part);
    st = st == RUBUS_OK ? end : st;
    if (st != RUBUS_OK) {
        return st;
    }
    set_diagonal(m, &csr->mirror);
    return rubus_csr_flush(csr);
}
