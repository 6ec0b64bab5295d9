/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling a matrix of a form anew, with what its fields and numbers are now. A matrix is
 * filled by the form that made it only: another one may have other entries.
 */
#include "config.h"

#include "libcore/form/form_matrix.h"

#include <string.h>

/* --- another form ----------------------------------------------------------------- */

/* Whether some pair of taps of a form adds to that entry. */
static bool adds_there(const rk_form *form, const rk_form_entry *entry)
{
    for (int32_t t = 0; t < form->nterm; t++) {
        const rk_form_term *term = &form->term[t];
        for (int32_t k = 0; k < term->ntest * term->ntrial; k++) {
            const rk_form_entry own = rk_form_entry_of(&term->test[k / term->ntrial],
                                                       &term->trial[k % term->ntrial]);
            if (rk_form_entry_order(&own, entry) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* The first term that adds to entries which the other form has not; NULL: none. */
static const rk_form_term *wider_term(const rk_form *form, const rk_form *other)
{
    for (int32_t t = 0; t < form->nterm; t++) {
        const rk_form_term *term = &form->term[t];
        for (int32_t k = 0; k < term->ntest * term->ntrial; k++) {
            const rk_form_entry own = rk_form_entry_of(&term->test[k / term->ntrial],
                                                       &term->trial[k % term->ntrial]);
            if (!adds_there(other, &own)) {
                return term;
            }
        }
    }
    return NULL;
}

static rubus_status refuse_form(const char *what, const rubus_form *form,
                                const rubus_form *owner)
{
    const rk_form_term *term = wider_term(form->form, owner->form);
    if (term == NULL) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: the matrix was made by another form, `%s`; make one for "
                           "form `%s` with rubus_form_matrix",
                           what, rubus_form_name(owner), rubus_form_name(form));
    }
    int32_t line = 0;
    int32_t column = 0;
    rk_line_column(term->at, &line, &column);
    return rubus__fail(RUBUS_EINVAL,
                       "%s: the matrix was made by form `%s`; the term of form `%s` at "
                       "%s:%d:%d adds to entries that it has not: make a matrix with "
                       "rubus_form_matrix",
                       what, rubus_form_name(owner), rubus_form_name(form),
                       term->at.source->name, (int)line, (int)column);
}

/* --- filling ---------------------------------------------------------------------- */

static rubus_status fill_rows(const char *what, rubus__form_matrix *m, rubus_csr *csr)
{
    const rubus__form_arrays arrays = {.rowptr = csr->rowptr, .nzval = csr->nzval};
    return rubus__form_run(m->form, what, RK_JOB_FILL, &m->fix, &arrays);
}

static rubus_status fill(const char *what, rubus__form_matrix *m, rubus_csr *csr,
                         int32_t how)
{
    switch (how) {
    case RUBUS_FILL_ROWS:
        return fill_rows(what, m, csr);
    case RUBUS_FILL_SCATTER:
        return rubus__form_fill_scatter(what, m, csr);
    case RUBUS_FILL_GATHER:
        return rubus__form_fill_gather(what, m, csr);
    default:
        return rubus__form_fill_host(what, m, csr, how == RUBUS_FILL_SEARCH);
    }
}

rubus_status rubus__form_assemble(const char *what, rubus_form *form, rubus_csr *matrix,
                                  int32_t how)
{
    rubus_status st = rubus__form_enter(form, what);
    if (st != RUBUS_OK) {
        return st;
    }
    if (matrix == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the matrix is NULL", what);
    }
    if (matrix->context != form->state->context) {
        return rubus__foreign(what, "the matrix", matrix->context, "the form",
                              form->state->context, "make one with rubus_form_matrix");
    }
    rubus__form_matrix *m = rubus__form_matrix_of(matrix);
    if (m == NULL) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: the matrix is not of a form; make one with "
                           "rubus_form_matrix",
                           what);
    }
    if (m->form != form) {
        return refuse_form(what, form, m->form);
    }
    pthread_mutex_lock(&m->lock);
    st = fill(what, m, matrix, how);
    pthread_mutex_unlock(&m->lock);
    return st;
}

rubus_status rubus_form_assemble(rubus_form *form, rubus_csr *matrix)
{
    return rubus__form_assemble("rubus_form_assemble", form, matrix, RUBUS_FILL_ROWS);
}

rubus_status rubus_form_assemble_how(rubus_form *form, rubus_csr *matrix, int32_t how)
{
    static const char what[] = "rubus_form_assemble_how";
    if (how < RUBUS_FILL_ROWS || how > RUBUS_FILL_SEARCH) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: how is %d; give RUBUS_FILL_ROWS, _SCATTER, _GATHER, "
                           "_HOST or _SEARCH",
                           what, (int)how);
    }
    return rubus__form_assemble(what, form, matrix, how);
}
