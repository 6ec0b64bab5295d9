/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A form for a mesh: its body is read to terms, then each side of each term is lowered as
 * a statement of a whole-array kernel would be. The kernel is one that is never run: its
 * parameters are the leaves of the form, its points those of the mesh.
 */
#include "config.h"

#include "libcore/kernel/field_build.h"
#include "libcore/kernel/form_value.h"

#include <setjmp.h>
#include <string.h>

/* --- names and leaves -------------------------------------------------------------- */

static bool is_taken(const rk_form *form, const char *name)
{
    for (int32_t i = 0; i < form->decl->nparam; i++) {
        if (strcmp(form->decl->param[i]->name, name) == 0) {
            return true;
        }
    }
    for (int32_t i = 0; i < form->ntaken; i++) {
        if (strcmp(form->taken[i], name) == 0) {
            return true;
        }
    }
    return false;
}

const char *rk_form_name(rk_form *form, const char *want)
{
    const char *name = want;
    while (is_taken(form, name)) {
        name = rubus__arena_format(form->unit->arena, "%s_", name);
    }
    name = rk_intern(form->unit, name, (int32_t)strlen(name));
    form->taken = rk_extend(form->unit, (void *)(uintptr_t)form->taken, form->ntaken,
                            sizeof(*form->taken));
    form->taken[form->ntaken++] = name;
    return name;
}

static const rk_decl *param_of_role(const rk_form *form, rk_role role)
{
    for (int32_t i = 0; i < form->decl->nparam; i++) {
        if (form->decl->param[i]->role == role) {
            return form->decl->param[i];
        }
    }
    return NULL;
}

/* Parameters keep their names; components of spaces are numbered. */
static const char *leaf_name(rk_form *form, rk_leaf_kind kind, int32_t number,
                             int32_t axis)
{
    static const char *const names[] = {
        [RK_LEAF_H] = "h",           [RK_LEAF_F] = "f",
        [RK_LEAF_S] = "s",           [RK_LEAF_W] = "w",
        [RK_LEAF_A] = "a",           [RK_LEAF_ALPHA] = "alpha",
        [RK_LEAF_BETA] = "beta",     [RK_LEAF_ROWPTR] = "rowptr",
        [RK_LEAF_COLVAL] = "colval", [RK_LEAF_NZVAL] = "nzval",
        [RK_LEAF_MASK] = "mask",     [RK_LEAF_FIXED] = "fixed",
        [RK_LEAF_OUT] = "y",         [RK_LEAF_RESULT] = "value",
        [RK_LEAF_ENTRY] = "entry",   [RK_LEAF_EXTENT] = "n",
        [RK_LEAF_TABLE] = "table",
    };
    rubus__arena *arena = form->unit->arena;
    const char letter = "xyz"[axis];
    switch (kind) {
    case RK_LEAF_FIELD:
    case RK_LEAF_LINE:
    case RK_LEAF_NUMBER:
        return form->decl->param[number]->name;
    case RK_LEAF_TRIAL:
    case RK_LEAF_TEST: {
        const bool trial = kind == RK_LEAF_TRIAL;
        const rk_decl *param = param_of_role(form, trial ? RK_ROLE_TRIAL : RK_ROLE_TEST);
        const int32_t n = trial ? form->desc.ntrial : form->desc.ntest;
        return n == 1 ? param->name
                      : rk_form_name(form, rubus__arena_format(arena, "%s_%d",
                                                               param->name, (int)number));
    }
    case RK_LEAF_POINT:
        return rk_form_name(form, rubus__arena_format(arena, "%c", letter));
    case RK_LEAF_H:
    case RK_LEAF_F:
    case RK_LEAF_S:
    case RK_LEAF_W:
    case RK_LEAF_A:
        return rk_form_name(form,
                            rubus__arena_format(arena, "%s_%c", names[kind], letter));
    case RK_LEAF_EXTENT: // the arrays of the mesh have it too
        return form->extent[axis] != NULL
                   ? form->extent[axis]
                   : rk_form_name(form, rubus__arena_format(arena, "n%c", letter));
    case RK_LEAF_ALPHA:
    case RK_LEAF_BETA:
    case RK_LEAF_RESULT:
    case RK_LEAF_ROWPTR:
    case RK_LEAF_COLVAL:
    case RK_LEAF_NZVAL:
        return rk_form_name(form, names[kind]);
    default:
        return rk_form_name(
            form, rubus__arena_format(arena, "%s_%d", names[kind], (int)number));
    }
}

const rk_leaf *rk_form_leaf(rk_form *form, rk_leaf_kind kind, int32_t number,
                            int32_t axis)
{
    for (int32_t i = 0; i < form->nleaf; i++) {
        const rk_leaf *leaf = form->leaf[i];
        if (leaf->kind == kind && leaf->number == number && leaf->axis == axis) {
            return leaf;
        }
    }
    rk_leaf *leaf = RK_NEW(form->unit, rk_leaf);
    *leaf = (rk_leaf){kind, number, axis, leaf_name(form, kind, number, axis)};
    form->leaf = rk_extend(form->unit, form->leaf, form->nleaf, sizeof(*form->leaf));
    form->leaf[form->nleaf++] = leaf;
    return leaf;
}

/* --- reading ----------------------------------------------------------------------- */

/* What a parameter of the form itself stands for. */
static rk_form_value *param_value(rk_form_reader *r, int32_t number)
{
    rk_form *form = r->form;
    const rk_decl *param = form->decl->param[number];
    rk_form_value *value = rk_form_value_new(r, RK_VALUE_EXPR, param->at);
    const bool space = param->role == RK_ROLE_TRIAL || param->role == RK_ROLE_TEST;
    const bool trial = param->role == RK_ROLE_TRIAL;
    value->rank = RK_KIND_FIELD;
    value->full = true;
    if (space) {
        value->all = param;
        value->uses = trial ? RK_USES_TRIAL : RK_USES_TEST;
        if ((trial ? form->desc.ntrial : form->desc.ntest) > 1) {
            value->uses |= trial ? RK_WHOLE_TRIAL : RK_WHOLE_TEST;
            value->expr = rk_expr_node(r->unit, RK_EXPR_NAME, RK_OP_NONE, param->at, NULL,
                                       NULL, NULL);
            value->expr->name = param->name;
            value->expr->decl = form->decl->param[number];
            return value;
        }
    }
    const rk_leaf_kind kind = space ? (trial ? RK_LEAF_TRIAL : RK_LEAF_TEST)
                              : param->role == RK_ROLE_NUMBER ? RK_LEAF_NUMBER
                              : param->axis < 0               ? RK_LEAF_FIELD
                                                              : RK_LEAF_LINE;
    const int32_t axis = param->axis < 0 ? 0 : param->axis;
    if (axis >= form->desc.ndim) {
        return rk_form_no_axis(r, param->at, axis);
    }
    const rk_leaf *leaf = rk_form_leaf(form, kind, space ? 0 : number, axis);
    value->expr = rk_leaf_expr(r, leaf, param->at);
    if (kind == RK_LEAF_LINE) {
        value->expr = rk_line_expr(r, value->expr, axis);
        value->full = form->desc.ndim == 1;
    } else if (kind == RK_LEAF_NUMBER) {
        value->rank = RK_KIND_NUMBER;
        value->full = false;
    }
    return value;
}

static bool read_terms(rk_form *form)
{
    rk_form_reader reader;
    memset(&reader, 0, sizeof(reader));
    reader.form = form;
    reader.unit = form->unit;
    for (int32_t i = 0; i < form->decl->nparam; i++) {
        rk_form_value *value = param_value(&reader, i);
        if (value == NULL) {
            return false;
        }
        rk_form_bind(&reader, form->decl->param[i]->name, value);
    }
    const rk_form_value *value = rk_form_read_body(&reader, form->decl);
    if (value == NULL) {
        return false;
    }
    form->nterm = value->n;
    form->term = value->term;
    return true;
}

/* --- the kernel that is never run -------------------------------------------------- */

rk_type rk_leaf_type(const rk_form *form, const rk_leaf *leaf)
{
    switch (leaf->kind) {
    case RK_LEAF_NUMBER:
        return form->decl->param[leaf->number]->type;
    case RK_LEAF_MASK:
    case RK_LEAF_FIXED:
        return RK_BOOL;
    case RK_LEAF_EXTENT:
    case RK_LEAF_ROWPTR:
    case RK_LEAF_COLVAL:
        return RK_INT;
    default:
        return RK_REAL;
    }
}

int32_t rk_leaf_rank(const rk_form *form, const rk_leaf *leaf)
{
    switch (leaf->kind) {
    case RK_LEAF_NUMBER:
    case RK_LEAF_RESULT:
    case RK_LEAF_ALPHA:
    case RK_LEAF_BETA:
    case RK_LEAF_EXTENT:
        return 0;
    case RK_LEAF_LINE:
    case RK_LEAF_POINT:
    case RK_LEAF_H:
    case RK_LEAF_F:
    case RK_LEAF_S:
    case RK_LEAF_W:
    case RK_LEAF_A:
    case RK_LEAF_ROWPTR:
    case RK_LEAF_COLVAL:
    case RK_LEAF_NZVAL:
    case RK_LEAF_TABLE:
        return 1;
    default:
        return form->desc.ndim;
    }
}

static rk_expr *extent_expr(rk_form *form, int32_t axis, bool less)
{
    rk_unit *unit = form->unit;
    rk_expr *name =
        rk_expr_node(unit, RK_EXPR_NAME, RK_OP_NONE, form->decl->at, NULL, NULL, NULL);
    name->name = form->extent[axis];
    return !less ? name
                 : rk_expr_node(unit, RK_EXPR_BINARY, RK_OP_SUB, form->decl->at, name,
                                rk_expr_int(unit, 1, form->decl->at), NULL);
}

static rk_decl *leaf_param(rk_form *form, const rk_leaf *leaf, int32_t number)
{
    rk_decl *param = RK_NEW(form->unit, rk_decl);
    param->kind = RK_DECL_PARAM;
    param->at = form->decl->at;
    param->name = leaf->name;
    param->number = number;
    param->type = rk_leaf_type(form, leaf);
    param->rank = rk_leaf_rank(form, leaf);
    param->has_brackets = param->rank > 0;
    param->mode = param->rank > 0 ? RK_MODE_IN : RK_MODE_NONE;
    for (int32_t d = 0; d < param->rank; d++) {
        const bool line = param->rank < form->desc.ndim || leaf->kind == RK_LEAF_S;
        param->extent[d] =
            extent_expr(form, line ? leaf->axis : d, leaf->kind == RK_LEAF_S);
    }
    return param;
}

static rk_builder *make_builder(rk_form *form)
{
    rk_unit *unit = form->unit;
    rk_decl *kernel = RK_NEW(unit, rk_decl);
    kernel->kind = RK_DECL_KERNEL;
    kernel->at = form->decl->at;
    kernel->name = form->decl->name;
    kernel->nparam = form->nleaf;
    kernel->param = rk_new(unit, ((size_t)form->nleaf + 1) * sizeof(rk_decl *));
    for (int32_t i = 0; i < form->nleaf; i++) {
        kernel->param[i] = leaf_param(form, form->leaf[i], i);
    }
    return rk_builder_new(unit, kernel);
}

rk_affine rk_form_extent(const rk_form *form, int32_t axis)
{
    const rk_decl *kernel = form->work->decl;
    for (int32_t i = 0; i < kernel->nextent; i++) {
        if (kernel->extent_decl[i]->name == form->extent[axis]) {
            return rk_affine_symbol(form->unit, kernel->extent_decl[i]->number);
        }
    }
    return rk_affine_int(0);
}

/* Whether a side has a value at each point of the mesh; reports. */
static bool keeps_mesh(rk_form *form, rk_builder *b, const rk_field *field, rk_span at)
{
    bool good = field->rank == 0 || field->rank == form->desc.ndim;
    for (int32_t d = 0; d < field->rank && good; d++) {
        good = field->any[d] || rk_affine_equal(field->size[d], rk_form_extent(form, d));
    }
    if (!good) {
        rk_error(form->unit, RK_FORM_SLICE, at,
                 "operators keep the mesh; a slice is filled up by `pad`",
                 "a side of a product is %s, and not one value at each point of the mesh",
                 rk_shape_text(b, field));
    }
    return good;
}

/* A side, or a factor, at the point of the mesh as a tree; NULL: reported. */
static rk_ir *lower_side(rk_form *form, rk_builder *b, const rk_expr *e)
{
    rk_field *field = rk_build_expr(b, e);
    field = field == NULL || !keeps_mesh(form, b, field, e->at)
                ? NULL
                : rk_make_store(b, field, RK_REAL, e->at, "a side of a product");
    if (field == NULL) {
        return NULL;
    }
    rk_box box;
    memset(&box, 0, sizeof(box));
    rk_at at[3];
    memset(at, 0, sizeof(at));
    for (int32_t d = 0; d < form->desc.ndim; d++) {
        box.bounded[d] = true;
        box.lo[d] = rk_affine_int(0);
        box.hi[d] = rk_form_extent(form, d);
        at[d].axis = d;
        at[d].off = rk_affine_int(0);
    }
    const rk_chain *chain = rk_lower_chain(form->lower, NULL, &box);
    return rk_lower_field(form->lower, field, at, chain);
}

static bool lower_terms(rk_form *form)
{
    rk_builder *b = make_builder(form);
    if (b == NULL) {
        return false;
    }
    form->work = &b->work;
    form->lower = RK_NEW(form->unit, rk_lower);
    rk_lower_init(form->lower, form->work, NULL);
    bool good = true;
    for (int32_t i = 0; i < form->nterm; i++) {
        rk_form_term *term = &form->term[i];
        term->lowered_a = lower_side(form, b, term->a);
        term->lowered_b = lower_side(form, b, term->b);
        good = good && term->lowered_a != NULL && term->lowered_b != NULL;
        if (term->number != NULL) {
            term->scale = lower_side(form, b, term->number);
            good = good && term->scale != NULL;
        }
    }
    return good;
}

/* --- making it --------------------------------------------------------------------- */

rk_form *rk_form_make(rk_unit *unit, rk_decl *decl, const rk_form_desc *desc)
{
    if (!decl->checked) {
        return NULL; // its errors were reported
    }
    const int64_t errors = rk_errors(unit);
    rk_form *form = RK_NEW(unit, rk_form);
    form->unit = unit;
    form->decl = decl;
    form->desc = *desc;
    form->bilinear = param_of_role(form, RK_ROLE_TRIAL) != NULL;
    for (int32_t d = 0; d < desc->ndim; d++) {
        form->extent[d] = rk_form_leaf(form, RK_LEAF_EXTENT, 0, d)->name;
    }
    form->nleaf = 0; // sizes are extents here, not parameters
    form->leaf = NULL;
    const bool good = read_terms(form) && lower_terms(form) && rk_form_taps(form);
    if (!good || rk_errors(unit) != errors) {
        return NULL;
    }
    rk_form_tables(form);
    return form;
}

static int32_t components_in(const rk_expr *e)
{
    if (e == NULL) {
        return 1;
    }
    const rk_expr *part[3] = {e->a, e->b, e->c};
    int32_t most = 1;
    if (e->kind == RK_EXPR_INDEX && e->nsub == 1 && e->sub[0].kind == RK_SUB_INDEX &&
        e->sub[0].lo->kind == RK_EXPR_INT && e->sub[0].lo->value.i < 64) {
        most = (int32_t)e->sub[0].lo->value.i + 1;
    }
    for (int i = 0; i < 3; i++) {
        const int32_t n = components_in(part[i]);
        most = n > most ? n : most;
    }
    for (int32_t i = 0; i < e->narg; i++) {
        const int32_t n = components_in(e->arg[i]);
        most = n > most ? n : most;
    }
    return most;
}

int32_t rk_form_components(const rk_program *program, const char *name)
{
    const rk_module *module = &program->unit->module;
    int32_t most = 1;
    for (int32_t i = 0; i < module->nform; i++) {
        const rk_stmt *body = module->form[i]->body;
        for (int32_t k = 0; k < body->nbody && strcmp(module->form[i]->name, name) == 0;
             k++) {
            const int32_t n = components_in(body->body[k]->value);
            most = n > most ? n : most;
        }
    }
    return most;
}

typedef struct build_call {
    rk_program *program;
    rk_decl *decl;
    const rk_form_desc *desc;
    rk_form *form;
} build_call;

static void build_here(void *user)
{
    build_call *call = user;
    call->form = rk_form_make(call->program->unit, call->decl, call->desc);
}

typedef struct again_call {
    rk_unit *unit;
    void (*body)(void *user);
    void *user;
    bool done;
} again_call;

static rubus_status run_here(void *user)
{
    again_call *call = user;
    void *const before = call->unit->leave;
    jmp_buf leave;
    call->unit->leave = &leave;
    if (setjmp(leave) == 0) {
        call->body(call->user);
        call->done = true;
    }
    call->unit->leave = before;
    return RUBUS_OK;
}

rubus_status rk_form_run(rk_unit *unit, void (*body)(void *user), void *user,
                         bool *out_done)
{
    rubus__text_fini(&unit->messages);
    rubus__text_fini(&unit->draft); // of a run that gave up
    unit->nerror = 0;
    unit->nerror_dropped = 0;
    unit->status = RUBUS_OK;
    unit->budget = RK_FORM_BUDGET;
    again_call call = {unit, body, user, false};
    const rubus_status st = rubus__with_stack(RK_FORM_STACK, run_here, &call);
    *out_done = call.done;
    return st;
}

static rubus_status no_form(const rk_program *program, const char *name)
{
    const rk_module *module = &program->unit->module;
    rubus__text list;
    rubus__text_init(&list);
    for (int32_t i = 0; i < module->nform && i < 32; i++) {
        rubus__text_format(&list, "%s%s", i > 0 ? ", " : "", module->form[i]->name);
    }
    const rubus_status st =
        rubus__fail(RUBUS_EINVAL, "%s has no form `%s`; %s%s", program->name, name,
                    module->nform == 0 ? "it has none" : "there are ",
                    list.failed || list.data == NULL ? "" : list.data);
    rubus__text_fini(&list);
    return st;
}

rubus_status rk_form_build(rk_program *program, const char *name,
                           const rk_form_desc *desc, rk_form **out_form)
{
    rk_unit *unit = program->unit;
    build_call call = {program, NULL, desc, NULL};
    for (int32_t i = 0; i < unit->module.nform; i++) {
        if (strcmp(unit->module.form[i]->name, name) == 0) {
            call.decl = unit->module.form[i];
        }
    }
    if (call.decl == NULL) {
        return no_form(program, name);
    }
    bool done = false;
    const rubus_status st = rk_form_run(unit, build_here, &call, &done);
    if (st != RUBUS_OK) {
        return st;
    }
    if (done && call.form != NULL) {
        *out_form = call.form;
        return RUBUS_OK;
    }
    if (unit->status == RUBUS_ENOMEM || unit->messages.failed) {
        return rubus__fail(RUBUS_ENOMEM, "%s: out of memory in form `%s`", program->name,
                           name);
    }
    return rubus__fail(RUBUS_ECOMPILE, "%s", unit->messages.data);
}
