/* SPDX-License-Identifier: Apache-2.0 */
/* Forms: made for a mesh and its labels, held, given back. */
#include "config.h"

#include "libcore/form/forms.h"

#include <string.h>

/* --- labels ----------------------------------------------------------------------- */

/* The labels of a mesh for the compiler: markers first, as they take the place of
 * others. */
static rubus_status list_labels(rubus_form *form, int32_t *out_n)
{
    rubus__state *state = form->state;
    rubus__text names;
    rubus__text_init(&names);
    rubus__faces_list(state->ndim, &names);
    form->names = names.failed ? NULL : rubus__text_take(&names);
    rubus__text_fini(&names);
    form->label = rubus__alloc_array(RUBUS__MARKERS_MOST + 2 + 12, sizeof(*form->label));
    if (form->names == NULL || form->label == NULL) {
        return rubus__fail(RUBUS_ENOMEM, "rubus_form_create: out of memory");
    }
    int32_t n = 0;
    pthread_mutex_lock(&state->lock);
    for (int32_t k = 0; k < state->nmarker; k++) {
        const rubus__marker *marker = state->marker[k];
        const bool faces = marker->kind == RUBUS__MARKER_FACES;
        form->label[n++] = (rk_form_label){marker->label, faces ? marker->faces : 0};
    }
    pthread_mutex_unlock(&state->lock);
    form->label[n++] = (rk_form_label){"boundary", rubus__state_boundary(state)};
    form->label[n++] = (rk_form_label){"interior", 0};
    const char *rest = form->names;
    const char *name = NULL;
    size_t size = 0;
    while (rubus__list_next(&rest, &name, &size)) {
        form->names[name - form->names + (ptrdiff_t)size] = '\0';
        form->label[n++] =
            (rk_form_label){name, rubus__face_find(state->ndim, name, size)};
    }
    *out_n = n;
    return RUBUS_OK;
}

/* The mask of each set of labels that the form restricts to. */
static rubus_status find_masks(const char *what, rubus_form *form)
{
    form->mask = rubus__alloc_array((size_t)form->form->nmask + 1, sizeof(*form->mask));
    rubus_status st = form->mask == NULL ? RUBUS_ENOMEM : RUBUS_OK;
    for (int32_t k = 0; st == RUBUS_OK && k < form->form->nmask; k++) {
        const rk_label_set *set = &form->form->mask[k];
        rubus__labels labels;
        rubus__text text;
        rubus__text_init(&text);
        for (int32_t i = 0; i < set->nlabel; i++) {
            rubus__text_format(&text, "%s%s", i > 0 ? "," : "", set->label[i]);
        }
        st = text.failed ? rubus__fail(RUBUS_ENOMEM, "%s: out of memory", what)
                         : rubus__labels_parse(what, form->state, text.data, &labels);
        rubus__text_fini(&text);
        if (st == RUBUS_OK) {
            st = rubus__state_mask(form->state, &labels, &form->mask[k]);
        }
    }
    return st;
}

/* --- checks ----------------------------------------------------------------------- */

static rubus_status check_places(const char *what, const rubus_module *module,
                                 const rubus_space *trial, const rubus_space *test)
{
    const rubus_context *context = test->mesh->context;
    const rubus_context *other = module->context != context ? module->context
                                 : trial != NULL            ? trial->mesh->context
                                                            : context;
    if (other != context) {
        return rubus__foreign(
            what, module->context != context ? "the module" : "the trial space", other,
            "the test space", context, "create all in one");
    }
    if (trial != NULL && trial->mesh != test->mesh) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: the trial space is on another mesh than the test space; "
                           "a form stands on one",
                           what);
    }
    if (!module->program->unit->numbers.f64 && rubus_mesh_type(test->mesh) == RUBUS_F64) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: the module %s is built for f32, the mesh is of f64; "
                           "create the module with real f64, or the mesh with f32",
                           what, module->program->name);
    }
    return RUBUS_OK;
}

/* One product over both faces of an axis whose points they share. */
static rubus_status check_faces(const char *what, const rubus_form *form)
{
    const rk_form *f = form->form;
    for (int32_t i = 0; i < f->nterm; i++) {
        const rk_form_term *a = &f->term[i];
        const bool lower = a->face >= 0 && a->face % 2 == 0;
        const int64_t n = lower ? form->state->shape.n[a->face / 2] : 3;
        for (int32_t k = 0; n < 3 && k < f->nterm; k++) {
            const rk_form_term *b = &f->term[k];
            if (b->face == a->face + 1 && b->at.source == a->at.source &&
                b->at.first == a->at.first) {
                return rubus__fail(RUBUS_EINVAL,
                                   "%s: form `%s` integrates over both faces of axis %c, "
                                   "which has %lld point%s; 3 are needed",
                                   what, f->decl->name, "xyz"[a->face / 2], (long long)n,
                                   n == 1 ? "" : "s");
            }
        }
    }
    return RUBUS_OK;
}

static rubus_status check_kind(const char *what, const rubus_form *form)
{
    const rk_form *f = form->form;
    if (f->bilinear == (form->trial != NULL)) {
        return RUBUS_OK;
    }
    return rubus__fail(RUBUS_EINVAL,
                       f->bilinear ? "%s: form `%s` is bilinear; give a trial space"
                                   : "%s: form `%s` is linear; the trial space is NULL "
                                     "then",
                       what, f->decl->name);
}

rubus_status rubus__form_square(const rubus_form *form, const char *what)
{
    if (form->trial == NULL) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: form `%s` is linear: it has a vector, no operator", what,
                           form->form->decl->name);
    }
    if (form->trial->ncomponent != form->test->ncomponent) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: form `%s` takes %d components to %d; an operator is "
                           "square",
                           what, form->form->decl->name, (int)form->trial->ncomponent,
                           (int)form->test->ncomponent);
    }
    return RUBUS_OK;
}

rubus_status rubus__form_operator_create(const rubus_form *form,
                                         const rubus_operator_ops *ops, void *self,
                                         rubus_operator **out_operator)
{
    rubus_operator_ops all = *ops;
    all.struct_size = sizeof(all);
    all.real = form->state->type;
    all.symmetric = form->symmetric ? RUBUS_SYMMETRIC_YES : RUBUS_SYMMETRIC_NO;
    return rubus_operator_create(form->state->context,
                                 form->test->count * form->test->ncomponent, &all, self,
                                 out_operator);
}

/* --- life ------------------------------------------------------------------------- */

void rubus__form_hold(rubus_form *form)
{
    atomic_fetch_add(&form->references, 1);
}

rubus_status rubus__form_enter(const rubus_form *form, const char *what)
{
    if (form == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the form is NULL", what);
    }
    return rubus__space_fresh(form->test, what);
}

/* The compiler reads the form for the components of the spaces; without a trial space,
 * for one. */
static rubus_status read_form(const char *what, const char *name, rubus_form *form)
{
    rk_form_desc desc = {.ndim = form->state->ndim,
                         .ntrial = form->trial == NULL ? 1 : form->trial->ncomponent,
                         .ntest = form->test->ncomponent};
    rubus_status st = list_labels(form, &desc.nlabel);
    if (st != RUBUS_OK) {
        return st;
    }
    desc.label = form->label;
    pthread_mutex_lock(&form->module->form_lock);
    st = rk_form_build(form->module->program, name, &desc, &form->form);
    if (st == RUBUS_OK) {
        st = rk_form_is_symmetric(form->form, &form->symmetric);
    }
    pthread_mutex_unlock(&form->module->form_lock);
    if (st == RUBUS_OK) {
        st = check_kind(what, form);
    }
    if (st == RUBUS_OK) {
        st = check_faces(what, form);
    }
    if (st == RUBUS_OK) {
        st = find_masks(what, form);
    }
    if (st == RUBUS_OK) {
        form->param =
            rubus__alloc_array((size_t)form->form->decl->nparam, sizeof(*form->param));
        st = form->param == NULL ? RUBUS_ENOMEM : RUBUS_OK;
    }
    return st;
}

/* Both spaces are of the mesh's present version. */
static rubus_status enter_spaces(const char *what, const rubus_space *trial,
                                 const rubus_space *test, rubus__state **out_state)
{
    rubus_status st = rubus__space_enter(test, what, out_state);
    rubus__state *other = NULL;
    if (st == RUBUS_OK && trial != NULL) {
        st = rubus__space_enter(trial, what, &other);
        rubus__state_release(other);
        if (st != RUBUS_OK) {
            rubus__state_release(*out_state);
        }
    }
    return st;
}

static void destroy_object(void *self)
{
    rubus_form_destroy(self);
}

rubus_status rubus_form_create(rubus_module *module, const char *name, rubus_space *trial,
                               rubus_space *test, rubus_form **out_form)
{
    static const char what[] = "rubus_form_create";
    if (module == NULL || name == NULL || test == NULL || out_form == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what,
                           module == NULL ? "the module"
                           : name == NULL ? "the name"
                           : test == NULL ? "the test space"
                                          : "out_form");
    }
    rubus__state *state = NULL;
    rubus_status st = check_places(what, module, trial, test);
    if (st == RUBUS_OK) {
        st = enter_spaces(what, trial, test, &state);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_form *form = rubus__alloc(sizeof(*form));
    if (form == NULL) {
        rubus__state_release(state);
        return RUBUS_ENOMEM;
    }
    atomic_init(&form->references, 1);
    pthread_mutex_init(&form->lock, NULL);
    rubus__module_hold(module);
    form->module = module;
    form->state = state;
    rubus__space_hold(test);
    form->test = test;
    if (trial != NULL) {
        rubus__space_hold(trial);
        form->trial = trial;
    }
    st = read_form(what, name, form);
    if (st != RUBUS_OK) {
        rubus_form_destroy(form);
        return st;
    }
    rubus__object_add(state->context, &form->object, RUBUS__RANK_FORM, destroy_object,
                      form);
    *out_form = form;
    return RUBUS_OK;
}

void rubus_form_destroy(rubus_form *form)
{
    if (form == NULL || atomic_fetch_sub(&form->references, 1) != 1) {
        return;
    }
    rubus__object_remove(form->state->context, &form->object);
    rubus__form_kernels_fini(form);
    for (int32_t i = 0; form->param != NULL && i < form->form->decl->nparam; i++) {
        rubus_array_destroy(form->param[i].array);
    }
    if (!rubus__context_forked(form->state->context)) {
        pthread_mutex_destroy(&form->lock);
    }
    rubus__free(form->param);
    rubus__free(form->mask);
    rubus__free(form->label);
    rubus__free(form->names);
    rubus_space_destroy(form->trial);
    rubus_space_destroy(form->test);
    rubus__module_release(form->module);
    rubus__state_release(form->state);
    rubus__free(form);
}

const char *rubus_form_name(const rubus_form *form)
{
    return form == NULL ? "" : form->form->decl->name;
}

bool rubus_form_is_symmetric(const rubus_form *form)
{
    return form != NULL && form->symmetric;
}
