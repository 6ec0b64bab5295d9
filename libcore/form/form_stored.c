/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bilinear form as an operator that stores its entries: a matrix in rows, or an array
 * of the mesh's shape for each offset from a row's point to a column's. A product of the
 * second kind reads no index, and its entries are computed by one kernel without rows.
 */
#include "config.h"

#include "libcore/form/form_matrix.h"
#include "libcore/sparse/operator_inner.h"

typedef struct stored_operator {
    rubus_form *form; /* held */
    rubus__form_fix fix;
    rubus_array *mask; /* of all components; NULL: nothing is constrained */
    rubus_csr *csr;    /* NULL: entries by offset */
    int32_t nentry;
    rubus_array **entry;   /* [nentry] */
    rubus_array *diagonal; /* beside the entries, which may have none */
} stored_operator;

/* --- what the operator does --------------------------------------------------------- */

static rubus_status apply(void *self, double alpha, rubus_array *x, double beta,
                          rubus_array *y)
{
    static const char what[] = "rubus_operator_apply";
    const stored_operator *s = self;
    const rubus_status st = rubus__form_enter(s->form, what);
    if (st != RUBUS_OK || s->csr != NULL) {
        return st != RUBUS_OK ? st : rubus_spmv(alpha, s->csr, x, beta, y);
    }
    const rubus__form_arrays arrays = {.trial = x,
                                       .out = y,
                                       .out_name = "y",
                                       .entry = s->entry,
                                       .alpha = alpha,
                                       .beta = beta};
    return rubus__form_run(s->form, what, RK_JOB_PRODUCT, &s->fix, &arrays);
}

static rubus_status diagonal(void *self, rubus_array *d)
{
    const stored_operator *s = self;
    rubus_array *same = NULL;
    rubus_status st = rubus__form_enter(s->form, "rubus_operator_diagonal");
    if (st != RUBUS_OK || s->csr != NULL) {
        return st != RUBUS_OK ? st : rubus_csr_diagonal(s->csr, d);
    }
    st = rubus_array_view(s->diagonal, 0, rubus_array_shape(d), &same);
    if (st == RUBUS_OK) {
        st = rubus_array_copy(d, same);
    }
    rubus_array_destroy(same);
    return st;
}

static rubus_status constraint_of(void *self, rubus_array **out_mask)
{
    const stored_operator *s = self;
    *out_mask = s->mask;
    return rubus__form_enter(s->form, "rubus_operator_constraint");
}

static void destroy(void *self)
{
    stored_operator *s = self;
    for (int32_t i = 0; s->entry != NULL && i < s->nentry; i++) {
        rubus_array_destroy(s->entry[i]);
    }
    rubus__free(s->entry);
    rubus_array_destroy(s->diagonal);
    rubus_csr_destroy(s->csr);
    rubus_array_destroy(s->mask);
    rubus__form_fix_fini(&s->fix);
    rubus_form_destroy(s->form);
    rubus__free(s);
}

/* --- entries ------------------------------------------------------------------------ */

static rubus_status compute(const char *what, const stored_operator *s)
{
    if (s->csr != NULL) {
        return rubus__form_assemble(what, s->form, s->csr, RUBUS_FILL_ROWS);
    }
    const rubus__form_arrays arrays = {.entry = s->entry, .out = s->diagonal};
    const rubus_status st =
        rubus__form_run(s->form, what, RK_JOB_STENCIL, &s->fix, &arrays);
    return st == RUBUS_OK
               ? rubus__form_run(s->form, what, RK_JOB_DIAGONAL, &s->fix, &arrays)
               : st;
}

static rubus_status make_entries(const char *what, stored_operator *s)
{
    const rubus__state *state = s->form->state;
    const rubus__form_kernel *kernel = NULL;
    rubus_status st = rubus__form_kernel_get(s->form, RK_JOB_STENCIL, &s->fix, &kernel);
    if (st == RUBUS_OK) {
        s->entry = rubus__alloc_array((size_t)kernel->made.nentry, sizeof(*s->entry));
        st = s->entry == NULL ? RUBUS_ENOMEM
                              : rubus_space_array(s->form->test, 0, &s->diagonal);
    }
    for (int32_t i = 0; st == RUBUS_OK && i < kernel->made.nentry; i++) {
        st = rubus_array_create(state->context, state->type, state->shape, &s->entry[i]);
        s->nentry = i + 1;
    }
    return st == RUBUS_OK ? compute(what, s) : st;
}

static rubus_status fill(const char *what, stored_operator *s,
                         rubus_constraint *constraint, int32_t storage)
{
    rubus_form *form = s->form;
    rubus_status st =
        rubus__form_fix_init(what, constraint, form->test, RK_FIX_ROWS, &s->fix);
    if (st == RUBUS_OK) {
        st = rubus__form_fix_mask(&s->fix, form->test, form->state, &s->mask);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    return storage == RUBUS_CSR
               ? rubus__form_matrix_make(what, form, constraint, RUBUS_ROWS, &s->csr)
               : make_entries(what, s);
}

/* --- making ------------------------------------------------------------------------- */

static rubus_status check(const char *what, const rubus_form *form, int32_t storage,
                          rubus_operator *const *out_operator)
{
    if (out_operator == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: out_operator is NULL", what);
    }
    if (storage != RUBUS_STENCIL && storage != RUBUS_CSR) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: storage %d; give RUBUS_STENCIL or RUBUS_CSR", what,
                           (int)storage);
    }
    const rubus_status st = rubus__form_enter(form, what);
    return st == RUBUS_OK ? rubus__form_square(form, what) : st;
}

rubus_status rubus_form_operator_stored(rubus_form *form, rubus_constraint *constraint,
                                        int32_t storage, rubus_operator **out_operator)
{
    static const char what[] = "rubus_form_operator_stored";
    rubus_status st = check(what, form, storage, out_operator);
    if (st != RUBUS_OK) {
        return st;
    }
    stored_operator *s = rubus__alloc(sizeof(*s));
    if (s == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus__form_hold(form);
    s->form = form;
    const rubus_operator_ops ops = {.apply = apply,
                                    .diagonal = diagonal,
                                    .constraint = constraint_of,
                                    .destroy = destroy};
    st = fill(what, s, constraint, storage);
    if (st == RUBUS_OK) {
        st = rubus__form_operator_create(form, &ops, s, out_operator);
    }
    if (st != RUBUS_OK) {
        destroy(s);
    }
    return st;
}

rubus_status rubus_form_operator_refill(rubus_operator *op)
{
    static const char what[] = "rubus_form_operator_refill";
    if (op == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the operator is NULL", what);
    }
    if (op->ops.apply != apply) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: the operator stores no entries of a form; it is none of "
                           "rubus_form_operator_stored",
                           what);
    }
    const stored_operator *s = op->self;
    const rubus_status st = rubus__form_enter(s->form, what);
    return st == RUBUS_OK ? compute(what, s) : st;
}
