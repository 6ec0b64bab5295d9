/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of a form: the compiler writes one for a job and a set of constraints, the
 * runtime builds it, and every parameter, a leaf of the form, is bound to what stands for
 * it on this mesh.
 */
#include "config.h"

#include "libcore/form/forms.h"

#include <string.h>

/* --- making ----------------------------------------------------------------------- */

static void kernel_free(rubus__form_kernel *k)
{
    rubus__form_fix_fini(&k->fix);
    rubus__free(k->arg);
    rubus__free(k->window);
    rubus__free(k->memory);
    rubus__free(k);
}

static void tables_free(const rubus_form *form, rubus_array **table)
{
    for (int32_t i = 0; table != NULL && i < form->form->ntable; i++) {
        rubus_array_destroy(table[i]);
    }
    rubus__free(table);
}

void rubus__form_kernels_fini(rubus_form *form)
{
    tables_free(form, form->table);
    form->table = NULL;
    while (form->kernel != NULL) {
        rubus__form_kernel *k = form->kernel;
        form->kernel = k->next;
        kernel_free(k);
    }
}

/* Whether the text of a kernel would be the same. */
static bool same_fix(const rubus__form_fix *a, const rubus__form_fix *b)
{
    bool same = a->mode == b->mode;
    for (int32_t c = 0; same && a->mode != RK_FIX_NONE && c < a->ncomponent; c++) {
        same =
            a->masked[c] == b->masked[c] && (a->masked[c] || a->faces[c] == b->faces[c]);
    }
    return same;
}

static rubus_status write_text(rubus_form *form, rk_form_job job,
                               const rubus__form_fix *fix, rk_form_kernel *out)
{
    const rk_form_fix f = {fix->mode, fix->faces, fix->masked};
    pthread_mutex_lock(&form->module->form_lock);
    const rubus_status st = rk_form_kernel_text(form->form, job, &f, out);
    pthread_mutex_unlock(&form->module->form_lock);
    return st;
}

static rubus_status build(rubus_form *form, rubus__form_kernel *k)
{
    rubus_module *module = NULL;
    rubus_status st = write_text(form, k->job, &k->fix, &k->made);
    if (st != RUBUS_OK) {
        return st;
    }
    st = rubus__module_derive(form->module, form->state->type, k->made.text, true,
                              &module);
    rubus__free(k->made.text);
    k->made.text = NULL;
    if (st != RUBUS_OK) {
        return st;
    }
    k->kernel = rubus_module_kernel_at(module, 0);
    const size_t n = (size_t)k->made.nparam;
    k->arg = rubus__alloc_array(n, sizeof(*k->arg));
    k->window = rubus__alloc_array(n, sizeof(*k->window));
    k->memory = rubus__alloc(rubus__launch_room(k->kernel));
    return k->arg == NULL || k->window == NULL || k->memory == NULL ? RUBUS_ENOMEM
                                                                    : RUBUS_OK;
}

static const rubus__form_fix no_fix = {.mode = RK_FIX_NONE};

/* Locked. */
static rubus_status get(rubus_form *form, rk_form_job job, const rubus__form_fix *fix,
                        rubus__form_kernel **out)
{
    for (rubus__form_kernel *k = form->kernel; k != NULL; k = k->next) {
        if (k->job == job && same_fix(&k->fix, fix)) {
            *out = k;
            return RUBUS_OK;
        }
    }
    rubus__form_kernel *k = rubus__alloc(sizeof(*k));
    if (k == NULL) {
        return RUBUS_ENOMEM;
    }
    k->job = job;
    rubus_status st = rubus__form_fix_copy(fix, &k->fix);
    if (st == RUBUS_OK) {
        st = build(form, k);
    }
    if (st != RUBUS_OK) {
        kernel_free(k);
        return st;
    }
    k->next = form->kernel;
    form->kernel = k;
    *out = k;
    return RUBUS_OK;
}

rubus_status rubus__form_kernel_get(rubus_form *form, rk_form_job job,
                                    const rubus__form_fix *fix,
                                    const rubus__form_kernel **out_kernel)
{
    rubus__form_kernel *kernel = NULL;
    pthread_mutex_lock(&form->lock);
    const rubus_status st = get(form, job, fix == NULL ? &no_fix : fix, &kernel);
    pthread_mutex_unlock(&form->lock);
    if (st == RUBUS_OK) {
        *out_kernel = kernel;
    }
    return st;
}

/* --- binding ---------------------------------------------------------------------- */

typedef struct binder {
    const char *what;
    const rubus_form *form;
    const rubus__form_fix *fix;
    const rubus__form_arrays *arrays;
} binder;

/* Array of an axis; -1: the leaf is none. */
static int axis_array(rk_leaf_kind kind)
{
    switch (kind) {
    case RK_LEAF_POINT:
        return RUBUS_MESH_POINTS;
    case RK_LEAF_H:
        return RUBUS_MESH_SPACING;
    case RK_LEAF_F:
        return RUBUS_MESH_FORWARD;
    case RK_LEAF_S:
        return RUBUS_MESH_STAR;
    case RK_LEAF_W:
        return RUBUS_MESH_CELLS;
    case RK_LEAF_A:
        return RUBUS_MESH_ALIGNED;
    default:
        return -1;
    }
}

/* Component of a grid function. */
static rubus_status bind_component(const rubus_space *space, const rubus_array *u,
                                   int32_t component, rubus_array *window, rubus_arg *out)
{
    *out = rubus_arg_array(window);
    return rubus__array_cut(u, component * space->count, space->shape, window);
}

/* The launch refuses what is not there. */
static rubus_arg listed(rubus_array *const *list, int32_t at)
{
    return rubus_arg_array(list == NULL ? NULL : list[at]);
}

/* A scalar, or what the caller brings. */
static rubus_status bind_given(const binder *b, const rk_leaf *leaf, rubus_arg *out)
{
    const rubus__form_arrays *a = b->arrays;
    switch (leaf->kind) {
    case RK_LEAF_TABLE:
        *out = rubus_arg_array(b->form->table[leaf->number]);
        return RUBUS_OK;
    case RK_LEAF_MASK:
        *out = rubus_arg_array(b->form->mask[leaf->number]);
        return RUBUS_OK;
    case RK_LEAF_FIXED:
        *out = listed(b->fix->mask, leaf->number);
        return RUBUS_OK;
    case RK_LEAF_ENTRY:
        *out = listed(a->entry, leaf->number);
        return RUBUS_OK;
    case RK_LEAF_RESULT:
        *out = rubus_arg_result_f64(a->result);
        return RUBUS_OK;
    case RK_LEAF_ALPHA:
        *out = rubus_arg_real(a->alpha);
        return RUBUS_OK;
    case RK_LEAF_BETA:
        *out = rubus_arg_real(a->beta);
        return RUBUS_OK;
    case RK_LEAF_EXTENT:
        *out = rubus_arg_integer(b->form->state->shape.n[leaf->axis]);
        return RUBUS_OK;
    case RK_LEAF_ROWPTR:
        *out = rubus_arg_array(a->rowptr);
        return RUBUS_OK;
    case RK_LEAF_COLVAL:
        *out = rubus_arg_array(a->colval);
        return RUBUS_OK;
    case RK_LEAF_NZVAL:
        *out = rubus_arg_array(a->nzval);
        return RUBUS_OK;
    case RK_LEAF_POSITION:
        *out = rubus_arg_array(a->table[leaf->number]);
        return RUBUS_OK;
    case RK_LEAF_PART:
        *out = rubus_arg_array(a->part);
        return RUBUS_OK;
    case RK_LEAF_STRIDE:
        *out = rubus_arg_integer(a->stride);
        return RUBUS_OK;
    case RK_LEAF_PADDED:
        *out = rubus_arg_integer(a->padded);
        return RUBUS_OK;
    default:
        return rubus__fail(RUBUS_EINTERNAL,
                           "%s: parameter `%s` of a kernel of form `%s` "
                           "stands for nothing; report this",
                           b->what, leaf->name, b->form->form->decl->name);
    }
}

static rubus_status bind_leaf(const binder *b, const rk_leaf *leaf, rubus_array *window,
                              rubus_arg *out)
{
    const rubus_form *form = b->form;
    const int which = axis_array(leaf->kind);
    if (which >= 0) {
        *out = rubus_arg_array(form->state->axis[leaf->axis]->array[which]);
        return RUBUS_OK;
    }
    switch (leaf->kind) {
    case RK_LEAF_TRIAL:
        return bind_component(form->trial, b->arrays->trial, leaf->number, window, out);
    case RK_LEAF_TEST:
        return bind_component(form->test, b->arrays->test, leaf->number, window, out);
    case RK_LEAF_OUT:
        return bind_component(form->test, b->arrays->out, leaf->number, window, out);
    case RK_LEAF_FIELD:
    case RK_LEAF_LINE:
    case RK_LEAF_NUMBER:
        return rubus__form_param_arg(form, b->what, leaf->number, out);
    default:
        return bind_given(b, leaf, out);
    }
}

/* EALIAS where what is computed overlaps a field of the form, in the user's words. */
static rubus_status check_overlap(const binder *b, const rubus__form_kernel *k)
{
    const rubus__form_arrays *a = b->arrays;
    for (int32_t i = 0; a->out_name != NULL && i < k->made.nparam; i++) {
        const rk_leaf *leaf = &k->made.param[i];
        const bool field = leaf->kind == RK_LEAF_FIELD || leaf->kind == RK_LEAF_LINE;
        if (field && rubus__array_overlap(a->out, k->arg[i].u.array)) {
            const rk_decl *decl = b->form->form->decl;
            return rubus__fail(RUBUS_EALIAS,
                               "%s: %s overlaps the field `%s` of form `%s`, which is "
                               "read meanwhile; pass another array",
                               b->what, a->out_name, decl->param[leaf->number]->name,
                               decl->name);
        }
    }
    return RUBUS_OK;
}

/* --- running ---------------------------------------------------------------------- */

/* Locked. */
static rubus_status launch(const binder *b, rubus__form_kernel *k)
{
    rubus_status st = RUBUS_OK;
    for (int32_t i = 0; st == RUBUS_OK && i < k->made.nparam; i++) {
        st = bind_leaf(b, &k->made.param[i], &k->window[i], &k->arg[i]);
    }
    if (st == RUBUS_OK) {
        st = check_overlap(b, k);
    }
    return st != RUBUS_OK ? st
                          : rubus__launch_in(k->memory, k->kernel, NULL, NULL, k->arg,
                                             (size_t)k->made.nparam);
}

/* The line tables, once: all depends on the mesh alone. Locked. */
static rubus_status make_tables(const char *what, rubus_form *form)
{
    const int32_t n = form->form->ntable;
    if (n == 0 || form->table != NULL) {
        return RUBUS_OK;
    }
    rubus__form_kernel *k = NULL;
    rubus_status st = get(form, RK_JOB_TABLES, &no_fix, &k);
    rubus_array **table = rubus__alloc_array((size_t)n, sizeof(*table));
    if (st == RUBUS_OK && table == NULL) {
        st = RUBUS_ENOMEM;
    }
    for (int32_t i = 0; st == RUBUS_OK && i < n; i++) {
        const int64_t points = form->state->shape.n[form->form->table[i].leaf->axis];
        st = rubus_array_create(form->state->context, form->state->type,
                                RUBUS_SHAPE(points), &table[i]);
    }
    if (st == RUBUS_OK) {
        form->table = table;
        const rubus__form_arrays arrays = {.trial = NULL};
        const binder b = {what, form, &no_fix, &arrays};
        st = launch(&b, k);
    }
    if (st != RUBUS_OK) {
        tables_free(form, table);
        form->table = NULL;
    }
    return st;
}

rubus_status rubus__form_run(rubus_form *form, const char *what, rk_form_job job,
                             const rubus__form_fix *fix, const rubus__form_arrays *arrays)
{
    const binder b = {what, form, fix == NULL ? &no_fix : fix, arrays};
    rubus__form_kernel *k = NULL;
    pthread_mutex_lock(&form->lock);
    rubus_status st = get(form, job, b.fix, &k);
    if (st == RUBUS_OK) {
        st = make_tables(what, form);
    }
    if (st == RUBUS_OK) {
        st = launch(&b, k);
    }
    pthread_mutex_unlock(&form->lock);
    return st;
}
