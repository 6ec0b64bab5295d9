/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices of forms: the entries of each row are counted on the device, added up on the
 * host, and their columns written on the device, by the same walk that fills the values.
 * The pattern depends on the form, the mesh and the constrained points only; values that
 * happen to be 0 have their entry.
 */
#include "config.h"

#include "libcore/form/form_matrix.h"

/* --- the owner -------------------------------------------------------------------- */

static void owner_end(void *owner)
{
    rubus__form_matrix *m = owner;
    rubus__form_tables_fini(m);
    rubus__form_fix_fini(&m->fix);
    if (!rubus__context_forked(m->form->state->context)) {
        pthread_mutex_destroy(&m->lock);
    }
    rubus_form_destroy(m->form);
    rubus__free(m);
}

rubus__form_matrix *rubus__form_matrix_of(const rubus_csr *csr)
{
    return rubus__csr_owner(csr, owner_end);
}

static rubus_status owner_new(const char *what, rubus_form *form,
                              rubus_constraint *constraint, rk_fix_mode mode,
                              rubus__form_matrix **out_m)
{
    rubus__form_matrix *m = rubus__alloc(sizeof(*m));
    if (m == NULL) {
        return RUBUS_ENOMEM;
    }
    pthread_mutex_init(&m->lock, NULL);
    rubus__form_hold(form);
    m->form = form;
    const rubus_status st =
        rubus__form_fix_init(what, constraint, form->test, mode, &m->fix);
    if (st != RUBUS_OK) {
        owner_end(m);
        return st;
    }
    *out_m = m;
    return RUBUS_OK;
}

/* --- rows and columns ------------------------------------------------------------- */

rubus_status rubus__form_sum_rows(const char *what, const char *name, int32_t index,
                                  int64_t nrow, void *rowptr, int64_t *out_nnz)
{
    int64_t nnz = 0;
    rubus__index_set(rowptr, index, 0, 0);
    for (int64_t i = 0; i < nrow; i++) {
        nnz += rubus__index_get(rowptr, index, i + 1);
        if (index == RUBUS_I32 && nnz > INT32_MAX) {
            return rubus__fail(RUBUS_ELIMIT,
                               "%s: form `%s` has more entries than 32-bit indices can "
                               "count, %lld in the first %lld of %lld rows; create its "
                               "module with index RUBUS_I64",
                               what, name, (long long)nnz, (long long)(i + 1),
                               (long long)nrow);
        }
        rubus__index_set(rowptr, index, i + 1, nnz);
    }
    *out_nnz = nnz;
    return RUBUS_OK;
}

static rubus_status count(const char *what, const rubus__form_matrix *m,
                          rubus__host_csr *r)
{
    const size_t size = rubus__type_size(r->index);
    rubus_array *counted = NULL;
    r->rowptr = rubus__alloc_array((size_t)r->nrow + 1, size);
    rubus_status st = r->rowptr == NULL ? RUBUS_ENOMEM : RUBUS_OK;
    if (st == RUBUS_OK) {
        st = rubus_array_create(m->form->state->context, r->index, RUBUS_SHAPE(r->nrow),
                                &counted);
    }
    if (st == RUBUS_OK) {
        const rubus__form_arrays arrays = {.rowptr = counted};
        st = rubus__form_run(m->form, what, RK_JOB_COUNT, &m->fix, &arrays);
    }
    if (st == RUBUS_OK) {
        st = rubus_array_read(counted, (char *)r->rowptr + size, (size_t)r->nrow * size);
    }
    rubus_array_destroy(counted);
    return st == RUBUS_OK ? rubus__form_sum_rows(what, rubus_form_name(m->form), r->index,
                                                 r->nrow, r->rowptr, &r->nnz)
                          : st;
}

static rubus_status list_columns(const char *what, const rubus__form_matrix *m,
                                 rubus__host_csr *r)
{
    const size_t size = rubus__type_size(r->index);
    rubus_context *context = m->form->state->context;
    rubus__form_arrays arrays = {.nzval = NULL};
    r->colval = rubus__alloc_array((size_t)r->nnz, size);
    rubus_status st = r->colval == NULL ? RUBUS_ENOMEM : RUBUS_OK;
    if (st == RUBUS_OK) {
        st = rubus_array_from(context, r->index, RUBUS_SHAPE(r->nrow + 1), r->rowptr,
                              &arrays.rowptr);
    }
    if (st == RUBUS_OK) {
        st = rubus_array_create(context, r->index, RUBUS_SHAPE(r->nnz), &arrays.colval);
    }
    if (st == RUBUS_OK) {
        st = rubus__form_run(m->form, what, RK_JOB_COLUMNS, &m->fix, &arrays);
    }
    if (st == RUBUS_OK) {
        st = rubus_array_read(arrays.colval, r->colval, (size_t)r->nnz * size);
    }
    rubus_array_destroy(arrays.rowptr);
    rubus_array_destroy(arrays.colval);
    return st;
}

/* --- the matrix ------------------------------------------------------------------- */

static rubus_status check(const char *what, const rubus_form *form,
                          const rubus_constraint *constraint, int32_t mode,
                          rubus_csr *const *out_matrix)
{
    rubus_status st = rubus__form_enter(form, what);
    if (st != RUBUS_OK) {
        return st;
    }
    if (out_matrix == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: out_matrix is NULL", what);
    }
    if (mode != RUBUS_ROWS && mode != RUBUS_SYM) {
        return rubus__fail(RUBUS_EINVAL, "%s: mode %d; give RUBUS_ROWS or RUBUS_SYM",
                           what, (int)mode);
    }
    if (!form->form->bilinear || constraint != NULL) {
        return rubus__form_square(form, what); // a linear one is none
    }
    return RUBUS_OK;
}

/* The matrix with all its values 0; the owner is taken over, also on failure. */
static rubus_status make(const char *what, rubus__form_matrix *m, rubus_csr **out_csr)
{
    const rubus_form *form = m->form;
    rubus_context *context = form->state->context;
    const int64_t points = form->state->count;
    const bool wide = form->module->program->unit->numbers.int64;
    rubus__host_csr r = {.index = wide ? RUBUS_I64 : RUBUS_I32,
                         .real = form->state->type,
                         .nrow = points * form->test->ncomponent,
                         .ncol = points * form->trial->ncomponent};
    rubus_csr *csr = NULL;
    rubus_status st = rubus__csr_check_sizes(what, context, &r, out_csr);
    if (st == RUBUS_OK) {
        st = count(what, m, &r);
    }
    if (st == RUBUS_OK) {
        st = list_columns(what, m, &r);
    }
    if (st == RUBUS_OK) {
        st = rubus_csr_create(context, r.index, r.real, r.nrow, r.ncol, r.nnz, r.rowptr,
                              r.colval, NULL, &csr);
    }
    rubus__host_csr_fini(&r);
    if (st != RUBUS_OK) {
        owner_end(m);
        return st;
    }
    rubus__csr_own(csr, m, owner_end);
    *out_csr = csr;
    return RUBUS_OK;
}

rubus_status rubus__form_matrix_make(const char *what, rubus_form *form,
                                     rubus_constraint *constraint, int32_t mode,
                                     rubus_csr **out_matrix)
{
    rubus__form_matrix *m = NULL;
    rubus_csr *csr = NULL;
    rubus_status st = check(what, form, constraint, mode, out_matrix);
    if (st == RUBUS_OK) {
        st = owner_new(what, form, constraint,
                       mode == RUBUS_SYM ? RK_FIX_SYM : RK_FIX_ROWS, &m);
    }
    if (st == RUBUS_OK) {
        st = make(what, m, &csr);
    }
    if (st == RUBUS_OK) {
        st = rubus__form_assemble(what, form, csr, RUBUS_FILL_ROWS);
    }
    if (st != RUBUS_OK) {
        rubus_csr_destroy(csr);
        return st;
    }
    *out_matrix = csr;
    return RUBUS_OK;
}

rubus_status rubus_form_matrix(rubus_form *form, rubus_constraint *constraint,
                               int32_t mode, rubus_csr **out_matrix)
{
    return rubus__form_matrix_make("rubus_form_matrix", form, constraint, mode,
                                   out_matrix);
}
