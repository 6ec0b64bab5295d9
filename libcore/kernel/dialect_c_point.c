/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialect c: per-point code. Statements keep their shape; blocks open no braces, since
 * every local has a name of its own. `return` ends the point by a jump to its end, and
 * the step of a `for` stands at the end of its loop, where `continue` jumps to.
 */
#include "config.h"

#include "libcore/kernel/dialect_c.h"

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
        rk_c_add(c, "%s v%d = ", rk_c_type(decl->type), number);
        if (s->value != NULL) {
            rk_c_expr_as(c, s->value, decl->type);
        } else {
            rk_c_add(c, "0");
        }
        rk_c_add(c, ";\n");
        return;
    }
    const long long length = decl->length_value;
    rk_c_line(c, "%s v%d[%lld] = {0};", rk_c_element(decl->type), number, length);
    if (s->value != NULL) {
        const int temp = c->next_temp++;
        rk_c_begin(c);
        rk_c_add(c, "const %s t%d = ", rk_c_type(decl->type), temp);
        rk_c_expr_as(c, s->value, decl->type);
        rk_c_add(c, ";\n");
        rk_c_line(c, "for (rk_i64 k = 0; k < %lld; k++) { v%d[k] = t%d; }", length,
                  number, temp);
    }
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

static void write_store(rk_c *c, const rk_stmt *s, const char *offset)
{
    rk_c_begin(c);
    if (s->kind == RK_STMT_ATOMIC) {
        rk_c_add(c, s->target->type == RK_REAL ? "rk_atomic_real(&" : "rk_atomic_int(&");
        rk_c_element_of(c, s->target, offset);
        rk_c_add(c, ", ");
        rk_c_expr_as(c, s->value, s->target->type);
        rk_c_add(c, ");\n");
        return;
    }
    if (s->target->kind == RK_EXPR_INDEX) {
        rk_c_element_of(c, s->target, offset);
    } else {
        rk_c_expr(c, s->target);
    }
    rk_c_add(c, " = ");
    write_new_value(c, s);
    rk_c_add(c, ";\n");
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
    rk_c_open(c, "for (;;)");
    if (cond != NULL) {
        rk_c_settle(c, cond);
        write_cond(c, "if (!", cond, ") { break; }");
    }
}

static void write_loop(rk_c *c, const rk_stmt *s)
{
    const int32_t outer = c->loop_label;
    const bool jumps = s->step != NULL && rk_stmt_has(s->then, RK_STMT_CONTINUE);
    c->loop_label = jumps ? c->next_label++ : -1;
    const int32_t label = c->loop_label;
    if (s->init != NULL) {
        write_stmt(c, s->init);
    }
    open_loop(c, s->cond);
    write_stmt(c, s->then);
    if (jumps) {
        rk_c_line(c, "step%d:;", (int)label);
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
        rk_c_line(c, "goto done;");
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
    const bool expand = c->inline_room >= 0 && rk_func_is_straight(func);
    rk_c_add(c, "static inline __attribute__((unused%s)) %s ",
             expand ? ", always_inline" : "", rk_c_type(func->type));
    rk_c_func_name(c, func);
    rk_c_add(c, c->unit->check ? "(rk_i64 *err" : "(");
    for (int32_t i = 0; i < func->nparam; i++) {
        rk_c_add(c, "%s%s p%d", i > 0 || c->unit->check ? ", " : "",
                 rk_c_type(func->param[i]->type), (int)i);
    }
    rk_c_add(c, func->nparam == 0 && !c->unit->check ? "void)\n{\n" : ")\n{\n");
    c->indent++;
    write_stmt(c, func->body);
    rk_c_line(c, "return 0;");
    rk_c_close(c);
}

void rk_c_point(rk_c *c)
{
    const rk_decl *decl = c->kernel->decl;
    c->body_of = decl;
    c->loop_label = -1;
    if (decl->nindex > 2) {
        rk_c_open(c, "for (rk_i64 z = range[2]; z < range[5]; z++)");
    }
    if (decl->nindex > 1) {
        rk_c_open(c, "for (rk_i64 y = range[1]; y < range[4]; y++)");
    }
    rk_c_line(c, "const rk_i64 xlo = range[0], xhi = range[3];");
    if (!rk_stmt_has(decl->body, RK_STMT_ATOMIC)) {
        rk_c_line(c, "RK_LOOP");
    }
    rk_c_open(c, "for (rk_i64 x = xlo; x < xhi; x++)");
    write_stmt(c, decl->body);
    if (rk_stmt_has(decl->body, RK_STMT_RETURN)) {
        rk_c_line(c, "done:;");
    }
    rk_c_close(c);
    for (int32_t i = 1; i < decl->nindex; i++) {
        rk_c_close(c);
    }
}
