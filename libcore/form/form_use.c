/* SPDX-License-Identifier: Apache-2.0 */
/* What a form computes at once: vectors, numbers, and the lift of known values. */
#include "config.h"

#include "libcore/form/forms.h"

/* What may be wrong with it is told before F changes. */
static rubus_status check_constraint(const char *what, const rubus_form *form,
                                     rubus_constraint *constraint, const rubus_array *F)
{
    const rubus_status st = rubus__constraint_fits(what, constraint, form->test);
    return st == RUBUS_OK ? rubus__constraint_check(what, constraint, "F", F) : st;
}

/* --- vectors ---------------------------------------------------------------------- */

rubus_status rubus_form_vector(rubus_form *form, rubus_constraint *constraint,
                               rubus_array *F)
{
    static const char what[] = "rubus_form_vector";
    rubus_status st = rubus__form_enter(form, what);
    if (st == RUBUS_OK) {
        st = rubus__space_check(form->test, what, "F", F, false);
    }
    if (st == RUBUS_OK && constraint != NULL) {
        st = check_constraint(what, form, constraint, F);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus__form_arrays arrays = {.out = F, .out_name = "F"};
    st = rubus__form_run(form, what, RK_JOB_VECTOR, NULL, &arrays);
    return st != RUBUS_OK || constraint == NULL ? st
                                                : rubus_constraint_apply(constraint, F);
}

/* --- numbers ---------------------------------------------------------------------- */

rubus_status rubus_form_value(rubus_form *form, rubus_array *u, rubus_array *v,
                              double *out_value)
{
    static const char what[] = "rubus_form_value";
    if (out_value == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: out_value is NULL", what);
    }
    rubus_status st = rubus__form_enter(form, what);
    if (st == RUBUS_OK && form->trial == NULL && u != NULL) {
        st = rubus__fail(RUBUS_EINVAL, "%s: form `%s` is linear; u is NULL then", what,
                         form->form->decl->name);
    }
    if (st == RUBUS_OK && form->trial != NULL) {
        st = rubus__space_check(form->trial, what, "u", u, false);
    }
    if (st == RUBUS_OK) {
        st = rubus__space_check(form->test, what, "v", v, false);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    double value = 0;
    const rubus__form_arrays arrays = {.trial = u, .test = v, .result = &value};
    st = rubus__form_run(form, what, RK_JOB_VALUE, NULL, &arrays);
    if (st == RUBUS_OK) {
        *out_value = value;
    }
    return st;
}

/* --- lift ------------------------------------------------------------------------- */

/* F = F - A g, then F = g where g is held. */
static rubus_status lift(const char *what, rubus_form *form, rubus_constraint *constraint,
                         rubus_array *F)
{
    rubus_array *g = NULL;
    rubus_status st = rubus_space_array(form->test, 0, &g);
    if (st == RUBUS_OK) {
        st = rubus_constraint_apply(constraint, g);
    }
    if (st == RUBUS_OK) {
        const rubus__form_arrays arrays = {
            .trial = g, .out = F, .out_name = "F", .alpha = -1, .beta = 1};
        st = rubus__form_run(form, what, RK_JOB_APPLY, NULL, &arrays);
    }
    if (st == RUBUS_OK) {
        st = rubus_constraint_apply(constraint, F);
    }
    rubus_array_destroy(g);
    return st;
}

rubus_status rubus_form_lift(rubus_form *form, rubus_constraint *constraint,
                             rubus_array *F)
{
    static const char what[] = "rubus_form_lift";
    if (constraint == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the constraint is NULL", what);
    }
    rubus_status st = rubus__form_enter(form, what);
    if (st == RUBUS_OK) {
        st = rubus__form_square(form, what);
    }
    if (st == RUBUS_OK) {
        st = rubus__space_check(form->test, what, "F", F, false);
    }
    if (st == RUBUS_OK) {
        st = check_constraint(what, form, constraint, F);
    }
    return st == RUBUS_OK ? lift(what, form, constraint, F) : st;
}
