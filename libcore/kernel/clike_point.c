/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialects like C: per-point code. Statements keep their shape; blocks open no braces,
 * since every local has a name of its own. `return` ends the point by a jump to its end,
 * and the step of a `for` stands at the end of its loop, where `continue` jumps to.
 */
#include "config.h"

#include "libcore/kernel/clike.h"

static void write_stmt(rk_c *c, const rk_stmt *s);

/* "rk_real v3 = " and so on: a line up to its value */
static void begin_value(rk_c *c, const char *before)
{
    rk_c_begin(c);
    rubus__text_add(c->out, before);
}

static void write_decl(rk_c *c, const rk_stmt *s)
{
    const rk_decl *decl = s->decl;
    const int number = decl->number;
    rk_c_settle(c, s->value);
    if (decl->length == NULL) {
        rk_c_begin(c);
        rk_c_add(c, "%s v%d = ", rk_c_type(c, decl->type), number);
        if (s->value != NULL) {
            rk_c_expr_as(c, s->value, decl->type);
        } else {
            rk_c_add(c, "%s", rk_c_zero(c, decl->type));
        }
        rk_c_add(c, ";\n");
        return;
    }
    const long long length = decl->length_value;
    const int temp = c->next_temp++;
    rk_c_begin(c);
    rk_c_add(c, "const %s t%d = ", rk_c_type(c, decl->type), temp);
    if (s->value != NULL) {
        rk_c_expr_as(c, s->value, decl->type);
    } else {
        rk_c_add(c, "%s", rk_c_zero(c, decl->type));
    }
    rk_c_add(c, ";\n");
    rk_c_line(c, "%s v%d[%lld];", rk_c_element(c, decl->type, true), number, length);
    rk_c_line(c,
              rk_c_is_byte(c, decl->type, true)
                  ? "for (int k = 0; k < %lld; k++) { v%d[k] = RK_BYTE(t%d); }"
                  : "for (int k = 0; k < %lld; k++) { v%d[k] = t%d; }",
              length, number, temp);
}

/* The value that an assignment stores: target op value. */
static void write_new_value(rk_c *c, const rk_stmt *s)
{
    if (s->op == RK_OP_NONE) {
        rk_c_expr_as(c, s->value, s->target->type);
        return;
    }
    const rk_type type = rk_op_type(s->op, s->target->type, s->value->type, RK_VOID);
    const rk_c_part part[3] = {{NULL, s->target, s->target->type, RK_VOID},
                               {NULL, s->value, s->value->type, RK_VOID},
                               {NULL, NULL, RK_VOID, RK_VOID}};
    rk_c_apply(c, s->op, type, part, true);
}

/* Pointers: the address of the element; else a macro of the array with the offset. */
static void write_atomic(rk_c *c, const rk_stmt *s, const char *offset)
{
    const bool real = s->target->type == RK_REAL;
    if (c->target->pointers) {
        rk_c_add(c, real ? "rk_atomic_real(&" : "rk_atomic_int(&");
        rk_c_element_of(c, s->target, offset);
    } else {
        rk_c_add(c, real ? "RK_ATOMIC_REAL(B" : "atomicAdd("); /* BA0(i): its bits */
        rk_c_element_of(c, s->target, offset);
    }
    rk_c_add(c, ", ");
    rk_c_expr_as(c, s->value, s->target->type);
    rk_c_add(c, ");\n");
}

static void write_store(rk_c *c, const rk_stmt *s, const char *offset)
{
    rk_c_begin(c);
    if (s->kind == RK_STMT_ATOMIC) {
        write_atomic(c, s, offset);
        return;
    }
    const bool element = s->target->kind == RK_EXPR_INDEX;
    if (element) {
        rk_c_element_of(c, s->target, offset);
    } else {
        rk_c_expr(c, s->target);
    }
    const bool byte = element && rk_c_is_byte(c, s->target->type,
                                              s->target->a->decl->kind == RK_DECL_LOCAL);
    rk_c_add(c, byte ? " = RK_BYTE(" : " = ");
    write_new_value(c, s);
    rk_c_add(c, byte ? ");\n" : ";\n");
}

static void write_assign(rk_c *c, const rk_stmt *s)
{
    rk_c_settle(c, s->target);
    rk_c_settle(c, s->value);
    if (s->target->kind != RK_EXPR_INDEX || !rk_c_is_tested(c, s->target)) {
        write_store(c, s, NULL);
        return;
    }
    char offset[32];
    rubus__snprintf(offset, sizeof(offset), "o%d", (int)c->next_temp++);
    rk_c_begin(c);
    rk_c_add(c, "const rk_i64 %s = ", offset);
    rk_c_offset(c, s->target);
    rk_c_add(c, ";\n");
    rk_c_open(c, "if (%s >= 0)", offset);
    write_store(c, s, offset);
    rk_c_close(c);
}

static void write_cond(rk_c *c, const char *before, const rk_expr *cond,
                       const char *after)
{
    begin_value(c, before);
    rk_c_expr(c, cond);
    rk_c_add(c, "%s\n", after);
}

static void write_body(rk_c *c, const rk_stmt *s)
{
    c->indent++;
    write_stmt(c, s);
    c->indent--;
}

static void write_if(rk_c *c, const rk_stmt *s)
{
    rk_c_settle(c, s->cond);
    write_cond(c, "if (", s->cond, ") {");
    write_body(c, s->then);
    while (s->other != NULL) {
        s = s->other;
        if (s->kind != RK_STMT_IF || rk_c_is_deep(s->cond)) {
            rk_c_line(c, "} else {");
            write_body(c, s);
            break;
        }
        write_cond(c, "} else if (", s->cond, ") {");
        write_body(c, s->then);
    }
    rk_c_line(c, "}");
}

/* Opens a loop that runs while cond holds. */
static void open_loop(rk_c *c, const rk_expr *cond)
{
    if (cond != NULL && !rk_c_is_deep(cond)) {
        write_cond(c, "while (", cond, ") {");
        c->indent++;
        return;
    }
    rk_c_open(c, "while (%s)", c->target->yes);
    if (cond != NULL) {
        rk_c_settle(c, cond);
        write_cond(c, "if (!(", cond, ")) { break; }");
    }
}

/* Where there is no goto, the step begins all rounds but the first. */
static void write_stepped_loop(rk_c *c, const rk_stmt *s)
{
    const int first = c->next_temp++;
    rk_c_line(c, "%s t%d = %s;", c->target->boolean, first, c->target->yes);
    rk_c_open(c, "while (%s)", c->target->yes);
    rk_c_open(c, "if (!t%d)", first);
    write_stmt(c, s->step);
    rk_c_close(c);
    rk_c_line(c, "t%d = %s;", first, c->target->no);
    if (s->cond != NULL) {
        c->ntemp = 0;
        rk_c_settle(c, s->cond);
        write_cond(c, "if (!(", s->cond, ")) { break; }");
    }
    write_stmt(c, s->then);
    rk_c_close(c);
}

static void write_loop(rk_c *c, const rk_stmt *s)
{
    const int32_t outer = c->loop_label;
    const bool jumps = s->step != NULL && rk_stmt_has(s->then, RK_STMT_CONTINUE);
    const bool label = jumps && c->target->pointers;
    c->loop_label = label ? c->next_label++ : -1;
    const int32_t number = c->loop_label;
    if (s->init != NULL) {
        write_stmt(c, s->init);
    }
    if (jumps && !label) {
        write_stepped_loop(c, s);
        c->loop_label = outer;
        return;
    }
    open_loop(c, s->cond);
    write_stmt(c, s->then);
    if (label) {
        rk_c_line(c, "step%d:;", (int)number);
    }
    if (s->step != NULL) {
        write_stmt(c, s->step);
    }
    rk_c_close(c);
    c->loop_label = outer;
}

static void write_return(rk_c *c, const rk_stmt *s)
{
    if (c->body_of->kind != RK_DECL_FUNC) {
        rk_c_line(c, c->target->pointers ? "goto done;" : "return;");
        return;
    }
    rk_c_settle(c, s->value);
    rk_c_begin(c);
    rk_c_add(c, "return ");
    rk_c_expr_as(c, s->value, c->body_of->type);
    rk_c_add(c, ";\n");
}

static void write_stmt(rk_c *c, const rk_stmt *s)
{
    c->ntemp = 0;
    switch (s->kind) {
    case RK_STMT_BLOCK:
        for (int32_t i = 0; i < s->nbody; i++) {
            write_stmt(c, s->body[i]);
        }
        break;
    case RK_STMT_DECL:
        write_decl(c, s);
        break;
    case RK_STMT_ASSIGN:
    case RK_STMT_ATOMIC:
        write_assign(c, s);
        break;
    case RK_STMT_IF:
        write_if(c, s);
        break;
    case RK_STMT_WHILE:
    case RK_STMT_FOR:
        write_loop(c, s);
        break;
    case RK_STMT_BREAK:
        rk_c_line(c, "break;");
        break;
    case RK_STMT_CONTINUE:
        if (c->loop_label >= 0) {
            rk_c_line(c, "goto step%d;", (int)c->loop_label);
        } else {
            rk_c_line(c, "continue;");
        }
        break;
    case RK_STMT_RETURN:
        write_return(c, s);
        break;
    case RK_STMT_LET:
        break; /* whole-array kernels only */
    }
}

void rk_c_func(rk_c *c, const rk_decl *func)
{
    c->body_of = func;
    c->error = c->unit->check ? "err" : "0";
    c->next_temp = 0;
    c->next_label = 0;
    c->loop_label = -1;
    const bool record = c->unit->check && c->target->record != NULL;
    const bool expand = c->inline_room >= 0 && rk_func_is_straight(func);
    rk_c_add(c, "%s%s ", expand ? c->target->straight : c->target->func,
             rk_c_type(c, func->type));
    rk_c_func_name(c, func);
    rk_c_add(c, record ? "(%s" : "(", c->target->record);
    for (int32_t i = 0; i < func->nparam; i++) {
        rk_c_add(c, "%s%s p%d", i > 0 || record ? ", " : "",
                 rk_c_type(c, func->param[i]->type), (int)i);
    }
    rk_c_add(c, func->nparam == 0 && !record ? "void)\n{\n" : ")\n{\n");
    c->indent++;
    write_stmt(c, func->body);
    rk_c_line(c, "return %s;", rk_c_zero(c, func->type));
    rk_c_close(c);
}

void rk_c_point_body(rk_c *c)
{
    c->body_of = c->kernel->decl;
    c->loop_label = -1;
    write_stmt(c, c->body_of->body);
}
