/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a program in words, or as JSON: the passes of each kernel, why each began,
 * what it reads and writes, bytes and operations per point, and what a launch must
 * fulfil.
 */
#include "config.h"

#include "libcore/kernel/program.h"

#include <setjmp.h>
#include <string.h>

static void add_place(rubus__text *out, rk_span at)
{
    int32_t line = 0;
    int32_t column = 0;
    rk_line_column(at, &line, &column);
    rubus__text_format(out, "%s:%d", at.source->name, (int)line);
}

static void add_source_line(rubus__text *out, rk_span at, const char *indent)
{
    int32_t first = at.first;
    while (first > 0 && at.source->text[first - 1] != '\n') {
        first--;
    }
    while (at.source->text[first] == ' ' || at.source->text[first] == '\t') {
        first++;
    }
    int32_t last = first;
    while (last < at.source->size && at.source->text[last] != '\n' &&
           at.source->text[last] != '\r') {
        last++;
    }
    rubus__text_add(out, indent);
    add_place(out, at);
    rubus__text_add(out, ": ");
    rubus__text_add_n(out, at.source->text + first, (size_t)(last - first));
    rubus__text_add(out, "\n");
}

static void add_json_string(rubus__text *out, const char *s)
{
    rubus__text_add(out, "\"");
    for (; *s != '\0'; s++) {
        if (*s == '"' || *s == '\\') {
            rubus__text_format(out, "\\%c", *s);
        } else if ((unsigned char)*s < 0x20u) {
            rubus__text_format(out, "\\u%04x", (unsigned)(unsigned char)*s);
        } else {
            rubus__text_add_n(out, s, 1);
        }
    }
    rubus__text_add(out, "\"");
}

/* Arrays of a pass with the given access: names, as words or as a JSON list. */
static void add_arrays(const rk_kernel *kernel, const rk_pass *pass, uint32_t access,
                       bool json, rubus__text *out)
{
    const char *separator = "";
    for (int32_t i = 0; i < kernel->decl->nparam; i++) {
        if (pass->access != NULL && (pass->access[i] & access) != 0) {
            rubus__text_add(out, separator);
            if (json) {
                add_json_string(out, kernel->decl->param[i]->name);
            } else {
                rubus__text_add(out, kernel->decl->param[i]->name);
            }
            separator = ", ";
        }
    }
    if (separator[0] == '\0' && !json) {
        rubus__text_add(out, "nothing");
    }
}

static int32_t count_arrays(const rk_kernel *kernel, const rk_pass *pass, uint32_t access)
{
    int32_t n = 0;
    for (int32_t i = 0; pass->access != NULL && i < kernel->decl->nparam; i++) {
        n += (pass->access[i] & access) != 0 ? 1 : 0;
    }
    return n;
}

/* --- words ------------------------------------------------------------------------ */

static const char *plural(int32_t n)
{
    return n == 1 ? "" : "s";
}

static void explain_pass(const rk_kernel *kernel, int32_t number, rubus__text *out)
{
    const rk_pass *pass = &kernel->plan->pass[number];
    const int32_t reads = count_arrays(kernel, pass, RUBUS_READ);
    const int32_t writes = count_arrays(kernel, pass, RUBUS_WRITE);
    rubus__text_format(
        out, "  pass %d: %d dimension%s, %d array%s (%d read, %d written), ", (int)number,
        (int)pass->rank, plural(pass->rank), (int)(reads + writes),
        plural(reads + writes), (int)reads, (int)writes);
    rubus__text_format(out, "%d byte%s and %d operation%s a point\n",
                       (int)pass->bytes_per_point, plural(pass->bytes_per_point),
                       (int)pass->ops_per_point, plural(pass->ops_per_point));
    if (pass->why != NULL) {
        rubus__text_format(out, "    a new pass, because this statement %s:\n",
                           pass->why);
        add_source_line(out, pass->why_at, "      ");
        if (pass->why_other.source != NULL) {
            add_source_line(out, pass->why_other, "      ");
        }
    }
    rubus__text_add(out, "    reads  ");
    add_arrays(kernel, pass, RUBUS_READ, false, out);
    rubus__text_add(out, "\n    writes ");
    add_arrays(kernel, pass, RUBUS_WRITE, false, out);
    rubus__text_add(out, "\n");
    for (int32_t i = 0; i < pass->naction; i++) {
        if (pass->action[i].kind == RK_ACTION_FOLD) {
            static const char *const fold[3] = {"sum", "max", "min"};
            rubus__text_format(out, "    folds  %s (%s)\n",
                               kernel->decl->param[pass->action[i].param]->name,
                               fold[pass->action[i].fold]);
        }
    }
}

static void explain_launch(const rk_program *program, const rk_kernel *kernel,
                           rubus__text *out)
{
    const rk_work *work = kernel->work;
    rubus__text_add(out, "  a launch must fulfil\n");
    for (int32_t p = 0; p < kernel->decl->nparam; p++) {
        const rk_decl *decl = kernel->decl->param[p];
        if (decl->rank == 0) {
            continue;
        }
        rubus__text_format(out, "    %s has extents [", decl->name);
        for (int32_t d = 0; d < decl->rank; d++) {
            rubus__text_format(
                out, "%s%s", d == 0 ? "" : ", ",
                rk_affine_text(program->unit, work->symbol, work->extent[p][d]));
        }
        rubus__text_add(out, "]\n");
    }
    for (int32_t i = 0; i < work->ncheck; i++) {
        const rk_check *c = &work->check[i];
        rubus__text_format(out, "    %s",
                           rk_affine_text(program->unit, work->symbol, c->a));
        if (c->kind == RK_CHECK_EQUAL) {
            rubus__text_format(out, " == %s",
                               rk_affine_text(program->unit, work->symbol, c->b));
        } else {
            rubus__text_add(out, " >= 0");
        }
        rubus__text_add(out, " (");
        add_place(out, c->at);
        rubus__text_format(out, ": %s)\n", c->message);
    }
    const int32_t naccess = kernel->plan->naccess;
    rubus__text_format(out, "    %d access%s inside %s (proved at each launch)\n",
                       (int)naccess, naccess == 1 ? "" : "es",
                       naccess == 1 ? "its array" : "their arrays");
}

static void explain_words(const rk_program *program, const rk_kernel *kernel,
                          rubus__text *out)
{
    const int32_t npass = kernel->plan->npass;
    rubus__text_format(out, "kernel %s (", kernel->decl->name);
    add_place(out, kernel->decl->at);
    rubus__text_format(out, "): %d pass%s", (int)npass, npass == 1 ? "" : "es");
    if (kernel->decl->nindex > 0) {
        rubus__text_format(out, ", per point over %d ind%s\n", (int)kernel->decl->nindex,
                           kernel->decl->nindex == 1 ? "ex" : "ices");
    } else {
        int32_t arrays = 0;
        for (int32_t i = 0; i < npass; i++) {
            arrays += count_arrays(kernel, &kernel->plan->pass[i], RUBUS_READ) +
                      count_arrays(kernel, &kernel->plan->pass[i], RUBUS_WRITE);
        }
        rubus__text_format(out, " over %d array%s\n", (int)arrays, plural(arrays));
    }
    for (int32_t i = 0; i < npass; i++) {
        explain_pass(kernel, i, out);
    }
    explain_launch(program, kernel, out);
}

/* --- JSON ------------------------------------------------------------------------- */

static void explain_json(const rk_kernel *kernel, rubus__text *out)
{
    rubus__text_add(out, "{\"name\": ");
    add_json_string(out, kernel->decl->name);
    rubus__text_format(out, ", \"indices\": %d, \"passes\": [",
                       (int)kernel->decl->nindex);
    for (int32_t i = 0; i < kernel->plan->npass; i++) {
        const rk_pass *pass = &kernel->plan->pass[i];
        rubus__text_format(out, "%s{\"reads\": [", i == 0 ? "" : ", ");
        add_arrays(kernel, pass, RUBUS_READ, true, out);
        rubus__text_add(out, "], \"writes\": [");
        add_arrays(kernel, pass, RUBUS_WRITE, true, out);
        rubus__text_format(out, "], \"bytes_per_point\": %d, \"ops_per_point\": %d",
                           (int)pass->bytes_per_point, (int)pass->ops_per_point);
        if (pass->why != NULL) {
            rubus__text_add(out, ", \"why\": ");
            add_json_string(out, pass->why);
        }
        rubus__text_add(out, "}");
    }
    rubus__text_add(out, "]}");
}

static void explain(const rk_program *program, bool json, rubus__text *out)
{
    if (json) {
        rubus__text_add(out, "{\"kernels\": [");
    }
    for (int32_t i = 0; i < program->nkernel; i++) {
        if (json) {
            rubus__text_add(out, i == 0 ? "" : ", ");
            explain_json(&program->kernel[i], out);
        } else {
            rubus__text_add(out, i == 0 ? "" : "\n");
            explain_words(program, &program->kernel[i], out);
        }
    }
    if (json) {
        rubus__text_add(out, "]}\n");
    }
}

typedef struct explain_call {
    const rk_program *program;
    bool json;
    rubus__text *out;
} explain_call;

static rubus_status explain_here(void *user)
{
    const explain_call *call = user;
    const rk_program *program = call->program;
    rk_unit *unit = program->unit;
    void *const before = unit->leave;
    jmp_buf leave;
    unit->leave = &leave;
    if (setjmp(leave) == 0) {
        explain(program, call->json, call->out);
    } else {
        call->out->failed = true; /* the arena could not grow */
    }
    unit->leave = before;
    return RUBUS_OK;
}

void rk_explain(const rk_program *program, bool json, rubus__text *out)
{
    explain_call call = {program, json, out};
    if (rubus__with_stack(rk_stack_need(program), explain_here, &call) != RUBUS_OK) {
        out->failed = true;
    }
}
