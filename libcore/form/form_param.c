/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of forms: set by name, held by reference, read at every use. */
#include "config.h"

#include "libcore/form/forms.h"

#include <math.h>
#include <string.h>

static bool is_space(const rk_decl *param)
{
    return param->role == RK_ROLE_TRIAL || param->role == RK_ROLE_TEST;
}

static rubus_status no_param(const char *what, const rubus_form *form, const char *name)
{
    const rk_decl *decl = form->form->decl;
    rubus__text list;
    rubus__text_init(&list);
    for (int32_t i = 0; i < decl->nparam; i++) {
        if (!is_space(decl->param[i])) {
            rubus__text_format(&list, "%s%s", list.size > 0 ? ", " : "",
                               decl->param[i]->name);
        }
    }
    (void)rubus__fail(RUBUS_EINVAL, "%s: form `%s` has no parameter `%s`; it has %s",
                      what, decl->name, name,
                      list.failed      ? "others"
                      : list.size == 0 ? "none"
                                       : list.data);
    rubus__text_fini(&list);
    return RUBUS_EINVAL;
}

static rubus_status find(const char *what, const rubus_form *form, const char *name,
                         bool number, int32_t *out_at)
{
    if (form == NULL || name == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what,
                           form == NULL ? "the form" : "the name");
    }
    const rk_decl *decl = form->form->decl;
    for (int32_t i = 0; i < decl->nparam; i++) {
        const rk_decl *param = decl->param[i];
        if (is_space(param) || strcmp(param->name, name) != 0) {
            continue;
        }
        if ((param->role == RK_ROLE_NUMBER) != number) {
            return rubus__fail(RUBUS_EINVAL,
                               "%s: `%s` of form `%s` is a %s; set it to %s", what, name,
                               decl->name, number ? "field" : "number",
                               number ? "an array" : "a number");
        }
        *out_at = i;
        return RUBUS_OK;
    }
    return no_param(what, form, name);
}

/* --- fields ----------------------------------------------------------------------- */

static rubus_status check_array(const char *what, const rubus_form *form, int32_t at,
                                const rubus_array *array)
{
    const rk_decl *param = form->form->decl->param[at];
    const rubus__state *state = form->state;
    if (array == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what, param->name);
    }
    if (param->axis < 0 || array->storage->context != state->context ||
        array->type != state->type) {
        // a field of the mesh, or what is wrong in the same way for both
        const rubus_status st =
            rubus__space_check(form->test, what, param->name, array, true);
        if (st == RUBUS_OK && array->shape.rank != state->ndim) {
            return rubus__fail(RUBUS_ESHAPE,
                               "%s: `%s` is a grid function of several components, a "
                               "field has one; take it with rubus_space_component",
                               what, param->name);
        }
        return st;
    }
    const int64_t n = state->shape.n[param->axis];
    const int rank = array->shape.rank;
    const long long count = array->count;
    if (rank != 1 || count != n) {
        return rubus__fail(
            RUBUS_ESHAPE,
            "%s: `%s` stands for the %lld point%s of axis %c; the array has rank %d and "
            "%lld element%s",
            what, param->name, (long long)n, RUBUS__S(n), "xyz"[param->axis], rank, count,
            RUBUS__S(count));
    }
    return RUBUS_OK;
}

rubus_status rubus_form_set_array(rubus_form *form, const char *name, rubus_array *array)
{
    static const char what[] = "rubus_form_set_array";
    int32_t at = 0;
    rubus_array *view = NULL;
    rubus_status st = find(what, form, name, false, &at);
    if (st == RUBUS_OK) {
        st = rubus__form_enter(form, what);
    }
    if (st == RUBUS_OK) {
        st = check_array(what, form, at, array);
    }
    if (st == RUBUS_OK) {
        st = rubus_array_view(array, 0, array->shape, &view);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    pthread_mutex_lock(&form->lock);
    rubus_array *old = form->param[at].array;
    form->param[at] = (rubus__form_param){.set = true, .array = view};
    pthread_mutex_unlock(&form->lock);
    rubus_array_destroy(old);
    return RUBUS_OK;
}

/* --- numbers ---------------------------------------------------------------------- */

rubus_status rubus_form_set_number(rubus_form *form, const char *name, double value)
{
    static const char what[] = "rubus_form_set_number";
    int32_t at = 0;
    rubus_status st = find(what, form, name, true, &at);
    if (st == RUBUS_OK) {
        st = rubus__form_enter(form, what);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    const double most = form->module->program->unit->numbers.int64 ? 0x1p53 : 0x1p31;
    if (form->form->decl->param[at]->type == RK_INT &&
        (!(fabs(value) < most) || value < floor(value) || value > floor(value))) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: `%s` of form `%s` is an int, %.17g is no whole number of "
                           "%s bits",
                           what, name, form->form->decl->name, value,
                           most > 0x1p31 ? "53" : "32");
    }
    pthread_mutex_lock(&form->lock);
    form->param[at] = (rubus__form_param){.set = true, .number = value};
    pthread_mutex_unlock(&form->lock);
    return RUBUS_OK;
}

/* --- reading ---------------------------------------------------------------------- */

rubus_status rubus__form_param_arg(const rubus_form *form, const char *what,
                                   int32_t number, rubus_arg *out_arg)
{
    const rk_decl *decl = form->form->decl;
    const rubus__form_param *param = &form->param[number];
    if (!param->set) {
        return rubus__fail(RUBUS_ESTATE,
                           "%s: parameter `%s` of form `%s` is not set; call "
                           "rubus_form_set(form, \"%s\", ...) first",
                           what, decl->param[number]->name, decl->name,
                           decl->param[number]->name);
    }
    *out_arg = param->array != NULL ? rubus_arg_array(param->array)
               : decl->param[number]->type == RK_INT
                   ? rubus_arg_integer((int64_t)param->number)
                   : rubus_arg_real(param->number);
    return RUBUS_OK;
}

/* --- looking ---------------------------------------------------------------------- */

uint32_t rubus_form_param_count(const rubus_form *form)
{
    uint32_t n = 0;
    for (int32_t i = 0; form != NULL && i < form->form->decl->nparam; i++) {
        n += is_space(form->form->decl->param[i]) ? 0 : 1;
    }
    return n;
}

/* Parameter `at` < rubus_form_param_count. */
static const rk_decl *param_at(const rubus_form *form, uint32_t at)
{
    rk_decl *const *param = form->form->decl->param;
    for (;; param++) {
        if (!is_space(*param) && at-- == 0) {
            return *param;
        }
    }
}

rubus_status rubus_form_param_get(const rubus_form *form, uint32_t at,
                                  rubus_form_param *param)
{
    static const char what[] = "rubus_form_param_get";
    rubus_status st = rubus__need(what, "the form", form, NULL);
    if (st == RUBUS_OK) {
        st = rubus__need_param(what, param, at, rubus_form_param_count(form));
    }
    if (st != RUBUS_OK) {
        return st;
    }
    const rk_decl *decl = param_at(form, at);
    const bool number = decl->role == RK_ROLE_NUMBER;
    const rubus_form_param all = {
        .struct_size = param->struct_size,
        .name = decl->name,
        .kind = !number                ? RUBUS_FORM_FIELD
                : decl->type == RK_INT ? RUBUS_FORM_INT
                                       : RUBUS_FORM_REAL,
        .axis = number ? -1 : decl->axis,
    };
    memcpy(param, &all,
           param->struct_size < sizeof(all) ? param->struct_size : sizeof(all));
    return RUBUS_OK;
}
