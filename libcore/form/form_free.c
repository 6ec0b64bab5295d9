/* SPDX-License-Identifier: Apache-2.0 */
/* A bilinear form as an operator without a matrix. */
#include "config.h"

#include "libcore/form/forms.h"

typedef struct free_operator {
    rubus_form *form; /* held */
    rubus__form_fix fix;
    rubus_array *mask; /* of all components; NULL: nothing is constrained */
} free_operator;

static rubus_status apply(void *self, double alpha, rubus_array *x, double beta,
                          rubus_array *y)
{
    static const char what[] = "rubus_operator_apply";
    const free_operator *f = self;
    const rubus_status st = rubus__form_enter(f->form, what);
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus__form_arrays arrays = {
        .trial = x, .out = y, .out_name = "y", .alpha = alpha, .beta = beta};
    return rubus__form_run(f->form, what, RK_JOB_APPLY, &f->fix, &arrays);
}

static rubus_status diagonal(void *self, rubus_array *d)
{
    static const char what[] = "rubus_operator_diagonal";
    const free_operator *f = self;
    const rubus_status st = rubus__form_enter(f->form, what);
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus__form_arrays arrays = {.out = d, .out_name = "d"};
    return rubus__form_run(f->form, what, RK_JOB_DIAGONAL, &f->fix, &arrays);
}

static rubus_status constraint_of(void *self, rubus_array **out_mask)
{
    const free_operator *f = self;
    *out_mask = f->mask;
    return rubus__form_enter(f->form, "rubus_operator_constraint");
}

static void destroy(void *self)
{
    free_operator *f = self;
    rubus__form_fix_fini(&f->fix);
    rubus_array_destroy(f->mask);
    rubus_form_destroy(f->form);
    rubus__free(f);
}

/* The form passes on with the operator. */
static rubus_status fill(const char *what, free_operator *f, rubus_constraint *constraint)
{
    const rubus_space *space = f->form->test;
    const rubus_status st =
        rubus__form_fix_init(what, constraint, space, RK_FIX_ROWS, &f->fix);
    return st == RUBUS_OK ? rubus__form_fix_mask(&f->fix, space, f->form->state, &f->mask)
                          : st;
}

rubus_status rubus_form_operator(rubus_form *form, rubus_constraint *constraint,
                                 rubus_operator **out_operator)
{
    static const char what[] = "rubus_form_operator";
    if (out_operator == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: out_operator is NULL", what);
    }
    rubus_status st = rubus__form_enter(form, what);
    if (st == RUBUS_OK) {
        st = rubus__form_square(form, what);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    free_operator *f = rubus__alloc(sizeof(*f));
    if (f == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus__form_hold(form);
    f->form = form;
    const rubus_operator_ops ops = {.apply = apply,
                                    .diagonal = diagonal,
                                    .constraint = constraint_of,
                                    .destroy = destroy};
    st = fill(what, f, constraint);
    if (st == RUBUS_OK) {
        st = rubus__form_operator_create(form, &ops, f, out_operator);
    }
    if (st != RUBUS_OK) {
        destroy(f);
    }
    return st;
}
