/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A form in words, or as JSON: its terms as they are understood, the taps of both sides,
 * and what its kernels cost: passes, bytes and operations a point.
 */
#include "config.h"

#include "libcore/kernel/form_write.h"

#include <setjmp.h>
#include <string.h>

typedef struct explain_call {
    rk_form *form;
    bool json;
    rubus__text *out;
} explain_call;

static void add_string(rubus__text *out, const char *s)
{
    rubus__text_add(out, "\"");
    for (; *s != '\0'; s++) {
        if (*s == '"' || *s == '\\') {
            rubus__text_format(out, "\\%c", *s);
        } else {
            rubus__text_add_n(out, s, 1);
        }
    }
    rubus__text_add(out, "\"");
}

/* An expression as text, without its outer brackets. */
static const char *expr_text(rk_writer *w, const rk_expr *e)
{
    const char *text = e == NULL ? "(1)" : rk_write_expr(w, e);
    return rk_write(w, "%.*s", (int)strlen(text) - 2, text + 1);
}

static const char *weight_text(rk_writer *w, const rk_form_term *term)
{
    const char *weight = rk_write_weight(w, term);
    weight =
        weight == NULL ? "1" : rk_write(w, "%.*s", (int)strlen(weight) - 2, weight + 1);
    if (term->face < 0) {
        return weight;
    }
    return rk_write(w, "%s on the %s face of %c", weight,
                    term->face % 2 == 0 ? "lower" : "upper", "xyz"[term->face / 2]);
}

/* --- words ------------------------------------------------------------------------- */

static void add_taps(rk_writer *w, const char *name, const rk_tap *tap, int32_t n,
                     rubus__text *out)
{
    rubus__text_format(out, "    taps of the %s side:", name);
    for (int32_t i = 0; i < n; i++) {
        uint32_t axes = 0;
        const char *offset = "";
        for (int32_t d = 0; d < w->form->desc.ndim; d++) {
            offset =
                rk_write(w, "%s%s%d", offset, d > 0 ? "," : "", (int)tap[i].offset[d]);
        }
        rubus__text_format(out, "\n      component %d at (%s): %s", (int)tap[i].component,
                           offset, rk_write_field(w, tap[i].coef, &axes));
    }
    rubus__text_add(out, "\n");
}

static void add_offsets(const rk_form *form, const int32_t offset[3], rubus__text *out)
{
    for (int32_t d = 0; d < form->desc.ndim; d++) {
        rubus__text_format(out, "%s%d", d > 0 ? ", " : "", (int)offset[d]);
    }
}

static void add_json_taps(const rk_form *form, const char *name, const rk_tap *tap,
                          int32_t n, rubus__text *out)
{
    rubus__text_format(out, ", \"%s\": [", name);
    for (int32_t i = 0; i < n; i++) {
        rubus__text_format(out, "%s{\"component\": %d, \"offset\": [", i > 0 ? ", " : "",
                           (int)tap[i].component);
        add_offsets(form, tap[i].offset, out);
        rubus__text_add(out, "]}");
    }
    rubus__text_add(out, "]");
}

static void explain_term(rk_writer *w, int32_t number, bool json, rubus__text *out)
{
    const rk_form *form = w->form;
    const rk_form_term *term = &form->term[number];
    const char *factor = expr_text(w, term->number);
    const char *weight = weight_text(w, term);
    const char *a = expr_text(w, term->a);
    const char *b = expr_text(w, term->b);
    if (json) {
        const char *const part[4] = {factor, weight, a, b};
        static const char *const name[4] = {"factor", "weight", "first", "last"};
        rubus__text_add(out, number > 0 ? ", {" : "{");
        for (int i = 0; i < 4; i++) {
            rubus__text_format(out, "%s\"%s\": ", i > 0 ? ", " : "", name[i]);
            add_string(out, part[i]);
        }
        add_json_taps(form, "trial_taps", term->trial, term->ntrial, out);
        add_json_taps(form, "test_taps", term->test, term->ntest, out);
        rubus__text_add(out, "}");
        return;
    }
    int32_t line = 0;
    int32_t column = 0;
    rk_line_column(term->at, &line, &column);
    rubus__text_format(out,
                       "  term %d (%s:%d)\n    factor %s\n    weight %s\n    %s %s\n    "
                       "test   %s\n",
                       (int)number, term->at.source->name, (int)line, factor, weight,
                       form->bilinear ? "trial " : "source", a, b);
    if (form->bilinear) {
        add_taps(w, "trial", term->trial, term->ntrial, out);
    }
    add_taps(w, "test", term->test, term->ntest, out);
}

static void explain_table(rk_writer *w, int32_t number, bool json, rubus__text *out)
{
    const rk_table *table = &w->form->table[number];
    const char *value = rk_write_table(w, table);
    if (json) {
        rubus__text_format(out, "%s{\"name\": \"%s\", \"axis\": \"%c\", \"value\": ",
                           number > 0 ? ", " : "", table->leaf->name,
                           "xyz"[table->leaf->axis]);
        add_string(out, value);
        rubus__text_add(out, "}");
        return;
    }
    rubus__text_format(out, "  %s along %c: %s\n", table->leaf->name,
                       "xyz"[table->leaf->axis], value);
}

static void explain_terms(rk_form *form, bool json, rubus__text *out)
{
    static const rk_form_fix none = {RK_FIX_NONE, NULL, NULL};
    rk_writer w;
    memset(&w, 0, sizeof(w));
    w.form = form;
    w.unit = form->unit;
    w.ndim = form->desc.ndim;
    w.fix = &none;
    w.mesh = form->decl->name;
    int32_t nentry = 0;
    (void)rk_form_entries(form, &nentry);
    if (json) {
        rubus__text_add(out, "{\"form\": ");
        add_string(out, form->decl->name);
        rubus__text_format(out, ", \"dim\": %d, \"components\": %d, \"entries\": %d",
                           (int)form->desc.ndim, (int)form->desc.ntest, (int)nentry);
        rubus__text_add(out, ", \"terms\": [");
    } else {
        rubus__text_format(
            out, "form %s in %d dimension%s: %s, %d component%s, %d term%s",
            form->decl->name, (int)form->desc.ndim, form->desc.ndim == 1 ? "" : "s",
            form->bilinear ? "bilinear" : "linear", (int)form->desc.ntest,
            form->desc.ntest == 1 ? "" : "s", (int)form->nterm,
            form->nterm == 1 ? "" : "s");
        rubus__text_add(out, form->bilinear ? "" : "\n");
        if (form->bilinear) {
            rubus__text_format(out, ", %d arrays of entries\n", (int)nentry);
        }
    }
    for (int32_t i = 0; i < form->nterm; i++) {
        explain_term(&w, i, json, out);
    }
    rubus__text_add(out, json ? "], \"tables\": [" : "");
    for (int32_t i = 0; i < form->ntable; i++) {
        explain_table(&w, i, json, out);
    }
    rubus__text_add(out, json ? "], \"kernels\": [" : "");
}

static rubus_status terms_here(void *user)
{
    const explain_call *call = user;
    rk_unit *unit = call->form->unit;
    void *const before = unit->leave;
    jmp_buf leave;
    unit->leave = &leave;
    if (setjmp(leave) == 0) {
        explain_terms(call->form, call->json, call->out);
    } else {
        call->out->failed = true;
    }
    unit->leave = before;
    return RUBUS_OK;
}

/* --- kernels ----------------------------------------------------------------------- */

static rubus_status explain_kernel(rk_form *form, rk_form_job job, const char *name,
                                   bool json, bool first, rubus__text *out)
{
    rk_form_kernel kernel;
    rubus_status st = rk_form_kernel_text(form, job, NULL, &kernel);
    if (st != RUBUS_OK) {
        return st;
    }
    const rk_unit *unit = form->unit;
    const rk_options options = {.real = unit->numbers.f64 ? RUBUS_F64 : RUBUS_F32,
                                .index = unit->numbers.int64 ? RUBUS_I64 : RUBUS_I32};
    rk_program *program = NULL;
    st = rk_compile(&options, name, kernel.text, strlen(kernel.text), &program);
    rubus__free(kernel.text);
    if (st != RUBUS_OK) {
        return st;
    }
    const rk_plan *plan = program->kernel[0].plan;
    const rk_pass *pass = &plan->pass[0];
    if (json) {
        rubus__text_format(out,
                           "%s{\"name\": \"%s\", \"passes\": %d, \"bytes_per_point\": "
                           "%d, \"ops_per_point\": %d}",
                           first ? "" : ", ", name, (int)plan->npass,
                           (int)pass->bytes_per_point, (int)pass->ops_per_point);
    } else {
        rubus__text_format(out, "  %-9s %d pass%s", name, (int)plan->npass,
                           plan->npass == 1 ? "" : "es");
        if (program->kernel[0].decl->nindex == 0) {
            rubus__text_format(out, ", %d bytes and %d operations a point",
                               (int)pass->bytes_per_point, (int)pass->ops_per_point);
        }
        rubus__text_add(out, "\n");
    }
    rk_program_destroy(program);
    return RUBUS_OK;
}

rubus_status rk_form_explain(rk_form *form, bool json, rubus__text *out)
{
    static const struct {
        rk_form_job job;
        const char *name;
        bool bilinear;
    } list[] = {{RK_JOB_APPLY, "apply", true},     {RK_JOB_DIAGONAL, "diagonal", true},
                {RK_JOB_STENCIL, "stencil", true}, {RK_JOB_PRODUCT, "product", true},
                {RK_JOB_COUNT, "count", true},     {RK_JOB_COLUMNS, "columns", true},
                {RK_JOB_FILL, "fill", true},       {RK_JOB_POSITIONS, "positions", true},
                {RK_JOB_PAIRS, "pairs", true},     {RK_JOB_PARTS, "parts", true},
                {RK_JOB_CLEAR, "clear", true},     {RK_JOB_SCATTER, "scatter", true},
                {RK_JOB_GATHER, "gather", true},   {RK_JOB_VECTOR, "vector", false},
                {RK_JOB_VALUE, "value", true},     {RK_JOB_VALUE, "value", false}};
    explain_call call = {form, json, out};
    form->unit->budget = RK_FORM_BUDGET;
    rubus_status st = rubus__with_stack(RK_FORM_STACK, terms_here, &call);
    bool first = true;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]) && st == RUBUS_OK; i++) {
        if (list[i].bilinear == form->bilinear) {
            st = explain_kernel(form, list[i].job, list[i].name, json, first, out);
            first = false;
        }
    }
    if (st == RUBUS_OK) {
        rubus__text_add(out, json ? "]}\n" : "");
        st = out->failed
                 ? rubus__fail(RUBUS_ENOMEM, "form `%s`: out of memory", form->decl->name)
                 : RUBUS_OK;
    }
    return st;
}
