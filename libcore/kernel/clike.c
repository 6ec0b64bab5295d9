/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialects like C: lines of text, and the funcs that a text needs.
 */
#include "config.h"

#include <stdarg.h>

#include "libcore/kernel/clike.h"

/* Expressions that funcs without loops may grow to when every call of theirs is expanded:
 * a loop that calls vectorises only then. Thirty calls of `exp` fit. */
#define INLINE_MOST 6000

/* --- lines ------------------------------------------------------------------------- */

static void add_list(rk_c *c, const char *fmt, va_list args)
{
    char text[512];
    rubus__vsnprintf(text, sizeof(text), fmt, args);
    rubus__text_add(c->out, text);
}

void rk_c_begin(rk_c *c)
{
    static const char blanks[] = "                                        ";
    const size_t most = sizeof(blanks) - 1u;
    const size_t n = (size_t)c->indent * 2u;
    rubus__text_add_n(c->out, blanks, n < most ? n : most);
}

void rk_c_add(rk_c *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_list(c, fmt, args);
    va_end(args);
}

void rk_c_line(rk_c *c, const char *fmt, ...)
{
    rk_c_begin(c);
    va_list args;
    va_start(args, fmt);
    add_list(c, fmt, args);
    va_end(args);
    rubus__text_add(c->out, "\n");
}

void rk_c_open(rk_c *c, const char *fmt, ...)
{
    rk_c_begin(c);
    va_list args;
    va_start(args, fmt);
    add_list(c, fmt, args);
    va_end(args);
    rubus__text_add(c->out, " {\n");
    c->indent++;
}

void rk_c_close(rk_c *c)
{
    c->indent--;
    rk_c_line(c, "}");
}

/* --- funcs ------------------------------------------------------------------------- */

void rk_c_func_name(rk_c *c, const rk_decl *func)
{
    rk_c_add(c, "f%d_%s", (int)func->number, rk_emit_letters(c->unit, func->name));
}

void rk_c_call_open(rk_c *c, const rk_decl *func)
{
    rk_c_func_name(c, func);
    rk_c_add(c, "(");
    if (c->unit->check && c->target->record != NULL) {
        rk_c_add(c, func->nparam > 0 ? "%s, " : "%s", c->error);
    }
}

static void weigh_call(void *user, rk_expr *expr)
{
    rk_c *c = user;
    if (expr->decl != NULL && expr->decl->kind == RK_DECL_FUNC) {
        c->inline_room -= rk_func_weight(expr->decl, INLINE_MOST);
    }
}

/* All funcs that the program calls, each after those it calls itself. */
rk_func_list rk_c_find_funcs(rk_c *c)
{
    c->inline_room = INLINE_MOST;
    rk_func_list list = {c->unit, 0, 0, NULL};
    for (int32_t k = 0; k < c->program->nkernel; k++) {
        const rk_kernel *kernel = &c->program->kernel[k];
        if (kernel->decl->nindex > 0) {
            rk_func_list_add_stmt(&list, kernel->decl->body);
            rk_visit_stmt(kernel->decl->body, weigh_call, c);
            continue;
        }
        for (int32_t p = 0; p < kernel->plan->npass; p++) {
            const rk_pass *pass = &kernel->plan->pass[p];
            for (int32_t i = 0; i < pass->nnode; i++) {
                if (pass->node[i]->kind == RK_IR_CALL) {
                    rk_func_list_add(&list, pass->node[i]->func);
                    c->inline_room -= rk_func_weight(pass->node[i]->func, INLINE_MOST);
                }
            }
        }
    }
    return list;
}

/* --- entries ----------------------------------------------------------------------- */

void rk_c_write_strides(rk_c *c, const rk_slot *slot, const char *before)
{
    if (slot->kind != RK_SLOT_PARAM || slot->access == 0u) {
        return;
    }
    const int p = slot->index;
    const rk_affine *extent = c->kernel->work->extent[p];
    for (int d = 1; d < c->kernel->decl->param[p]->rank; d++) {
        rk_c_begin(c);
        rk_c_add(c, "%sd%d_%d = ", before, p, d);
        rk_c_affine(c, extent[d - 1]);
        if (d > 1) {
            rk_c_add(c, " * d%d_%d", p, d - 1);
        }
        rk_c_add(c, ";\n");
    }
}

void rk_c_write_body(rk_c *c, const rk_func_list *funcs,
                     void (*write_entry)(rk_c *c, int number))
{
    for (int32_t i = 0; i < funcs->n; i++) {
        rk_c_func(c, funcs->func[i]);
    }
    for (int32_t i = 0; i < c->program->nentry; i++) {
        c->entry = &c->program->entry[i];
        c->kernel = &c->program->kernel[c->entry->kernel];
        c->pass = &c->kernel->plan->pass[c->entry->pass];
        write_entry(c, (int)i);
    }
}
