/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module of a form's kernel: the ops and funcs of the user, then the kernel "run",
 * whose parameters are those that its body turned out to need.
 */
#include "config.h"

#include "libcore/kernel/form_write.h"

#include <string.h>

typedef struct text_call {
    rk_form *form;
    rk_form_job job;
    const rk_form_fix *fix;
    rubus__text body;
    rubus__text out;
    rk_form_kernel *kernel;
} text_call;

static bool per_point(rk_form_job job)
{
    return job == RK_JOB_FILL || job == RK_JOB_COLUMNS || job == RK_JOB_COUNT;
}

static void write_body(rk_writer *w, rk_form_job job, rk_form_kernel *out)
{
    switch (job) {
    case RK_JOB_APPLY:
        rk_write_apply(w);
        break;
    case RK_JOB_DIAGONAL:
    case RK_JOB_STENCIL:
        rk_write_entries(w, job, out);
        break;
    case RK_JOB_VECTOR:
        rk_write_vector(w);
        break;
    case RK_JOB_VALUE:
        rk_write_value(w);
        break;
    case RK_JOB_TABLES:
        rk_write_tables(w);
        break;
    default:
        rk_write_rows(w, job);
        break;
    }
}

static void write_param(const rk_writer *w, int32_t number, rubus__text *out)
{
    static const char *const types[] = {"", "real", "int", "bool"};
    const rk_form *form = w->form;
    const rk_leaf *leaf = &w->param[number];
    const int32_t rank = rk_leaf_rank(form, leaf);
    const bool index = leaf->kind == RK_LEAF_ROWPTR || leaf->kind == RK_LEAF_COLVAL;
    rubus__text_format(out, "%s%s%s %s", w->mode[number],
                       w->mode[number][0] == '\0' ? "" : " ",
                       index ? "index" : types[rk_leaf_type(form, leaf)], leaf->name);
    for (int32_t d = 0; d < rank; d++) {
        const bool line = rank < form->desc.ndim || leaf->kind == RK_LEAF_S;
        rubus__text_add(out, d == 0 ? "[" : ",");
        if (!index && leaf->kind != RK_LEAF_NZVAL) {
            rubus__text_add(out, form->extent[line || rank == 1 ? leaf->axis : d]);
            rubus__text_add(out, leaf->kind == RK_LEAF_S ? "-1" : "");
        }
    }
    rubus__text_add(out, rank > 0 ? "]" : "");
}

/* Whether an op or func of the user has the name. */
static bool is_own(rk_unit *unit, const char *name)
{
    const rk_decl *decl = rk_module_named(unit, name);
    while (decl != NULL && (decl->at.source->library || strcmp(decl->name, name) != 0)) {
        decl = decl->next_named;
    }
    return decl != NULL;
}

static void write_module(const rk_writer *w, rk_form_job job, const char *body,
                         rubus__text *out)
{
    const char *name = "run";
    while (is_own(w->unit, name)) {
        name = rubus__arena_format(w->unit->arena, "%s_", name);
    }
    rk_print_own(w->unit, out);
    rubus__text_format(out, "\nkernel %s(", name);
    for (int32_t i = 0; i < w->nparam; i++) {
        rubus__text_add(out, i == 0 ? "" : ",\n           ");
        write_param(w, i, out);
    }
    rubus__text_add(out, ")");
    for (int32_t d = 0; d < w->form->desc.ndim && per_point(job); d++) {
        rubus__text_format(out, "%s%s in 0:%s%s", d == 0 ? " over (" : ", ", w->index[d],
                           w->form->extent[d], d == w->form->desc.ndim - 1 ? ")" : "");
    }
    rubus__text_add(out, "\n{\n");
    rubus__text_add(out, body);
    rubus__text_add(out, "}\n");
}

static void write_all(void *user)
{
    text_call *call = user;
    rk_form *form = call->form;
    rk_writer w;
    memset(&w, 0, sizeof(w));
    w.form = form;
    w.unit = form->unit;
    w.ndim = form->desc.ndim;
    w.fix = call->fix;
    w.body = &call->body;
    write_body(&w, call->job, call->kernel);
    write_module(&w, call->job, call->body.data == NULL ? "" : call->body.data,
                 &call->out);
    call->kernel->nparam = w.nparam;
    call->kernel->param = w.param;
}

static rubus_status refuse_job(const rk_form *form, rk_form_job job)
{
    const bool linear = job == RK_JOB_VECTOR;
    if (job == RK_JOB_TABLES) {
        return form->ntable > 0
                   ? RUBUS_OK
                   : rubus__fail(RUBUS_EINVAL, "form `%s` has no line tables",
                                 form->decl->name);
    }
    if (job == RK_JOB_VALUE || linear != form->bilinear) {
        return RUBUS_OK;
    }
    return rubus__fail(RUBUS_EINVAL,
                       linear ? "form `%s` is bilinear: it has an operator, no vector"
                              : "form `%s` is linear: it has a vector, no operator",
                       form->decl->name);
}

rubus_status rk_form_kernel_text(rk_form *form, rk_form_job job, const rk_form_fix *fix,
                                 rk_form_kernel *out_kernel)
{
    static const rk_form_fix no_fix = {RK_FIX_NONE, NULL, NULL};
    rubus_status st = refuse_job(form, job);
    if (st != RUBUS_OK) {
        return st;
    }
    rk_unit *unit = form->unit;
    rk_form_kernel kernel;
    memset(&kernel, 0, sizeof(kernel));
    text_call call = {
        .form = form, .job = job, .fix = fix != NULL ? fix : &no_fix, .kernel = &kernel};
    rubus__text_init(&call.body);
    rubus__text_init(&call.out);
    // names are given anew for each kernel, after those of the leaves
    const int32_t ntaken = form->ntaken;
    const int32_t nleaf = form->nleaf;
    bool done = false;
    st = rk_form_run(unit, write_all, &call, &done);
    form->ntaken = ntaken;
    form->nleaf = nleaf;
    const bool failed = unit->messages.failed || call.out.failed || call.body.failed;
    if (st == RUBUS_OK && unit->nerror > 0 && !failed) {
        st = rubus__fail(RUBUS_ECOMPILE, "%s", unit->messages.data);
    } else if (st == RUBUS_OK && (!done || failed)) {
        st = rubus__fail(RUBUS_ENOMEM, "form `%s`: out of memory", form->decl->name);
    }
    if (st == RUBUS_OK) {
        kernel.text = rubus__text_take(&call.out);
        *out_kernel = kernel;
    }
    rubus__text_fini(&call.body);
    rubus__text_fini(&call.out);
    return st;
}
