/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees back to text: the module as the reference dialect gets it, in one fixed style,
 * such that parsing the text again gives an equal tree.
 *
 * Parentheses are written only where the grammar needs them. Before each statement and
 * declaration a comment may tell where it came from (origin.c). Of the library those ops
 * and funcs are printed that the user's declarations reach, which print_reach.c finds
 * out.
 */
#include "config.h"

#include "libcore/kernel/print.h"

#include <string.h>

/* --- expressions -------------------------------------------------------------------- */

typedef struct printer {
    rubus__text *out;
    const rk_reach *reach; /* NULL: expressions alone */
    bool library;          /* in code of the library */
    rk_cursor *marks; /* with comments that tell where statements came from; or NULL */
} printer;

enum { /* how tight an expression holds together, by the rules of the grammar */
       LEVEL_SELECT,
       LEVEL_OR,
       LEVEL_AND,
       LEVEL_COMPARE,
       LEVEL_SUM,
       LEVEL_PRODUCT,
       LEVEL_UNARY,
       LEVEL_POWER,
       LEVEL_POSTFIX
};

static int level_of_op(rk_op op)
{
    switch (op) {
    case RK_OP_OR:
        return LEVEL_OR;
    case RK_OP_AND:
        return LEVEL_AND;
    case RK_OP_ADD:
    case RK_OP_SUB:
        return LEVEL_SUM;
    case RK_OP_MUL:
    case RK_OP_DIV:
    case RK_OP_REM:
        return LEVEL_PRODUCT;
    default:
        return LEVEL_COMPARE;
    }
}

static int level_of(const rk_expr *expr)
{
    switch (expr->kind) {
    case RK_EXPR_SELECT:
        return LEVEL_SELECT;
    case RK_EXPR_BINARY:
        return level_of_op(expr->op);
    case RK_EXPR_UNARY:
        return LEVEL_UNARY;
    case RK_EXPR_POWER:
        return LEVEL_POWER;
    default:
        return LEVEL_POSTFIX;
    }
}

/* What the left operand must be at least to stand without parentheses. */
static int left_level(const rk_expr *binary)
{
    const int level = level_of_op(binary->op);
    return level == LEVEL_COMPARE ? level + 1 : level;
}

static bool is_negative(const rk_expr *expr)
{
    return expr->kind == RK_EXPR_UNARY && expr->op == RK_OP_NEG;
}

/* Whether the text of an expression begins with a minus. */
static bool begins_with_minus(const rk_expr *expr)
{
    for (;;) {
        int least = LEVEL_OR;
        if (expr->kind == RK_EXPR_BINARY) {
            least = left_level(expr);
        } else if (expr->kind != RK_EXPR_SELECT) {
            return is_negative(expr);
        }
        if (level_of(expr->a) < least) {
            return false; // it begins with a parenthesis
        }
        expr = expr->a;
    }
}

static void print_expr(const printer *p, const rk_expr *expr, int least);

/* A bound or index. One that counts from the start must not begin with a minus. */
static void print_bound(const printer *p, const rk_expr *bound, bool from_end)
{
    if (bound == NULL) {
        return;
    }
    if (from_end) {
        rubus__text_add(p->out, is_negative(bound) ? "- " : "-");
        print_expr(p, bound, LEVEL_UNARY);
    } else if (begins_with_minus(bound)) {
        rubus__text_add(p->out, "(");
        print_expr(p, bound, LEVEL_SELECT);
        rubus__text_add(p->out, ")");
    } else {
        print_expr(p, bound, LEVEL_SELECT);
    }
}

static void print_sub(const printer *p, const rk_sub *sub)
{
    if (sub->kind == RK_SUB_LIFT) {
        rubus__text_add(p->out, "*");
        return;
    }
    print_bound(p, sub->lo, sub->lo_end);
    if (sub->kind == RK_SUB_SLICE) {
        rubus__text_add(p->out, ":");
        print_bound(p, sub->hi, sub->hi_end);
    }
}

static void print_list(const printer *p, const rk_expr *expr)
{
    const bool call = expr->kind == RK_EXPR_CALL || expr->kind == RK_EXPR_TUPLE;
    const int32_t count = call ? expr->narg : expr->nsub;
    rubus__text_add(p->out, call ? "(" : "[");
    for (int32_t i = 0; i < count; i++) {
        rubus__text_add(p->out, i > 0 ? ", " : "");
        if (call) {
            print_expr(p, expr->arg[i], LEVEL_SELECT);
        } else {
            print_sub(p, &expr->sub[i]);
        }
    }
    rubus__text_add(p->out, call ? ")" : "]");
}

/* Code of the library calls its own even if the user has others of that name. */
static const char *called_name(const printer *p, const char *name)
{
    const char *alias = p->library ? rk_reach_alias(p->reach, name) : NULL;
    return alias != NULL ? alias : name;
}

static void print_compound(const printer *p, const rk_expr *expr)
{
    switch (expr->kind) {
    case RK_EXPR_UNARY:
        rubus__text_add(p->out, rk_op_spelling(expr->op));
        if (expr->op == RK_OP_NEG && is_negative(expr->a)) {
            rubus__text_add(p->out, " "); // two signs must not become `--`
        }
        print_expr(p, expr->a, LEVEL_UNARY);
        break;
    case RK_EXPR_BINARY:
        print_expr(p, expr->a, left_level(expr));
        rubus__text_format(p->out, " %s ",
                           expr->op == RK_OP_REM ? "%" : rk_op_spelling(expr->op));
        print_expr(p, expr->b, level_of_op(expr->op) + 1);
        break;
    case RK_EXPR_POWER:
        print_expr(p, expr->a, LEVEL_POSTFIX);
        rubus__text_add(p->out, "^");
        print_expr(p, expr->b, LEVEL_UNARY);
        break;
    case RK_EXPR_SELECT:
        print_expr(p, expr->a, LEVEL_OR);
        rubus__text_add(p->out, " ? ");
        print_expr(p, expr->b, LEVEL_SELECT);
        rubus__text_add(p->out, " : ");
        print_expr(p, expr->c, LEVEL_SELECT);
        break;
    default: // an index
        print_expr(p, expr->a, LEVEL_POSTFIX);
        print_list(p, expr);
        break;
    }
}

static void print_expr(const printer *p, const rk_expr *expr, int least)
{
    const bool parentheses = level_of(expr) < least;
    rubus__text_add(p->out, parentheses ? "(" : "");
    switch (expr->kind) {
    case RK_EXPR_REAL:
        rubus__text_add(p->out, expr->text);
        break;
    case RK_EXPR_INT:
        rubus__text_format(p->out, "%lld", (long long)expr->value.i);
        break;
    case RK_EXPR_BOOL:
        rubus__text_add(p->out, expr->value.b ? "true" : "false");
        break;
    case RK_EXPR_NAME:
        rubus__text_add(p->out, expr->name);
        break;
    case RK_EXPR_CALL:
        rubus__text_add(p->out, called_name(p, expr->name));
        print_list(p, expr);
        break;
    case RK_EXPR_TUPLE:
        print_list(p, expr);
        break;
    case RK_EXPR_LABEL:
        rubus__text_format(p->out, "\"%s\"", expr->name);
        break;
    case RK_EXPR_RANGE:
        rubus__text_format(p->out, "%lld:%lld", (long long)expr->value.range[0],
                           (long long)expr->value.range[1]);
        break;
    default:
        print_compound(p, expr);
        break;
    }
    rubus__text_add(p->out, parentheses ? ")" : "");
}

void rk_print_expr(rk_unit *unit, const rk_expr *expr, rubus__text *out)
{
    (void)unit;
    const printer p = {.out = out};
    print_expr(&p, expr, LEVEL_SELECT);
}

/* --- statements --------------------------------------------------------------------- */

static void print_stmt(const printer *p, const rk_stmt *stmt, int indent);

static void print_indent(const printer *p, int indent)
{
    for (int i = 0; i < indent && i < 16; i++) { // deeper code stays readable by machines
        rubus__text_add(p->out, "    ");
    }
}

static const char *type_name(const rk_decl *decl)
{
    if (decl->is_index) {
        return "index";
    }
    return decl->type == RK_REAL ? "real" : decl->type == RK_INT ? "int" : "bool";
}

/* A comment line with the place, so that messages name the source and not this text. */
static void print_mark(const printer *p, rk_span at, int indent)
{
    if (p->marks != NULL) {
        print_indent(p, indent);
        rk_origin_write(p->out, at, p->marks);
    }
}

/* Declaration or assignment, without the semicolon: also in the header of a `for`. */
static void print_simple(const printer *p, const rk_stmt *stmt)
{
    if (stmt == NULL) {
        return;
    }
    if (stmt->kind == RK_STMT_DECL) {
        rubus__text_format(p->out, "%s %s", type_name(stmt->decl), stmt->decl->name);
        if (stmt->decl->length != NULL) {
            rubus__text_add(p->out, "[");
            print_expr(p, stmt->decl->length, LEVEL_SELECT);
            rubus__text_add(p->out, "]");
        }
        if (stmt->value != NULL) {
            rubus__text_add(p->out, " = ");
            print_expr(p, stmt->value, LEVEL_SELECT);
        }
        return;
    }
    print_expr(p, stmt->target, LEVEL_POSTFIX);
    rubus__text_format(p->out,
                       " %s= ", stmt->op == RK_OP_REM ? "%" : rk_op_spelling(stmt->op));
    print_expr(p, stmt->value, LEVEL_SELECT);
}

static void print_block(const printer *p, const rk_stmt *block, int indent)
{
    rubus__text_add(p->out, "{\n");
    for (int32_t i = 0; i < block->nbody; i++) {
        print_stmt(p, block->body[i], indent + 1);
    }
    print_indent(p, indent);
    rubus__text_add(p->out, "}\n");
}

/* The body of an `if` or a loop, after its header. */
static void print_body(const printer *p, const rk_stmt *body, int indent)
{
    if (body->kind == RK_STMT_BLOCK) {
        rubus__text_add(p->out, " ");
        print_block(p, body, indent);
    } else {
        rubus__text_add(p->out, "\n");
        print_stmt(p, body, indent + 1);
    }
}

static void print_for(const printer *p, const rk_stmt *stmt, int indent)
{
    rubus__text_add(p->out, "for (");
    print_simple(p, stmt->init);
    rubus__text_add(p->out, "; ");
    if (stmt->cond != NULL) {
        print_expr(p, stmt->cond, LEVEL_SELECT);
    }
    rubus__text_add(p->out, "; ");
    print_simple(p, stmt->step);
    rubus__text_add(p->out, ")");
    print_body(p, stmt->then, indent);
}

static void print_condition(const printer *p, const char *word, const rk_stmt *stmt,
                            int indent)
{
    rubus__text_format(p->out, "%s (", word);
    print_expr(p, stmt->cond, LEVEL_SELECT);
    rubus__text_add(p->out, ")");
    print_body(p, stmt->then, indent);
    if (stmt->other != NULL) {
        print_indent(p, indent);
        rubus__text_add(p->out, "else");
        print_body(p, stmt->other, indent);
    }
}

static void print_line(const printer *p, const rk_stmt *stmt)
{
    switch (stmt->kind) {
    case RK_STMT_LET:
        rubus__text_format(p->out, "let %s = ", stmt->name);
        print_expr(p, stmt->value, LEVEL_SELECT);
        break;
    case RK_STMT_BREAK:
        rubus__text_add(p->out, "break");
        break;
    case RK_STMT_CONTINUE:
        rubus__text_add(p->out, "continue");
        break;
    case RK_STMT_RETURN:
        rubus__text_add(p->out, stmt->value != NULL ? "return " : "return");
        if (stmt->value != NULL) {
            print_expr(p, stmt->value, LEVEL_SELECT);
        }
        break;
    case RK_STMT_ATOMIC:
        rubus__text_add(p->out, "atomic_add(");
        print_expr(p, stmt->target, LEVEL_SELECT);
        rubus__text_add(p->out, ", ");
        print_expr(p, stmt->value, LEVEL_SELECT);
        rubus__text_add(p->out, ")");
        break;
    default:
        print_simple(p, stmt);
        break;
    }
    rubus__text_add(p->out, ";\n");
}

static void print_stmt(const printer *p, const rk_stmt *stmt, int indent)
{
    if (stmt->kind != RK_STMT_BLOCK) {
        print_mark(p, stmt->at, indent);
    }
    print_indent(p, indent);
    switch (stmt->kind) {
    case RK_STMT_BLOCK:
        print_block(p, stmt, indent);
        break;
    case RK_STMT_IF:
        print_condition(p, "if", stmt, indent);
        break;
    case RK_STMT_WHILE:
        print_condition(p, "while", stmt, indent);
        break;
    case RK_STMT_FOR:
        print_for(p, stmt, indent);
        break;
    default:
        print_line(p, stmt);
        break;
    }
}

/* --- declarations ------------------------------------------------------------------- */

static void print_param(const printer *p, const rk_decl *param)
{
    static const char *const mode[] = {"", "in ", "out ", "inout "};
    if (param->kind == RK_DECL_PARAM) {
        rubus__text_format(p->out, "%s%s ", mode[param->mode], type_name(param));
    }
    if (param->kind == RK_DECL_FORMPARAM) {
        static const char *const role[] = {"trial", "test", "field"};
        rubus__text_format(p->out, "%s ",
                           param->role == RK_ROLE_NUMBER ? type_name(param)
                                                         : role[param->role]);
    }
    rubus__text_add(p->out, param->name);
    if (param->kind == RK_DECL_FORMPARAM && param->axis >= 0) {
        rubus__text_format(p->out, "[%c]", "xyz"[param->axis]);
    }
    if (!param->has_brackets) {
        return;
    }
    rubus__text_add(p->out, "[");
    for (int32_t i = 0; i < param->rank; i++) {
        rubus__text_add(p->out, i > 0 ? "," : "");
        if (param->extent[i] != NULL) {
            print_expr(p, param->extent[i], LEVEL_SELECT);
        }
    }
    rubus__text_add(p->out, "]");
}

static void print_params(const printer *p, const char *name, const rk_decl *decl)
{
    const int32_t count = decl->from_reduce ? decl->nparam - 1 : decl->nparam;
    rubus__text_format(p->out, "%s(", name);
    for (int32_t i = 0; i < count; i++) {
        rubus__text_add(p->out, i > 0 ? ", " : "");
        print_param(p, decl->param[i]);
    }
    rubus__text_add(p->out, ")");
}

static void print_over(const printer *p, const rk_decl *kernel)
{
    rubus__text_add(p->out, " over (");
    for (int32_t i = 0; i < kernel->nindex; i++) {
        const rk_decl *index = kernel->index[i];
        rubus__text_format(p->out, "%s%s", i > 0 ? ", " : "", index->name);
        if (index->lo != NULL) {
            rubus__text_add(p->out, " in ");
            print_expr(p, index->lo, LEVEL_SELECT);
            rubus__text_add(p->out, ":");
            print_expr(p, index->hi, LEVEL_SELECT);
        }
    }
    rubus__text_add(p->out, ")");
}

static void print_kernel(const printer *p, const rk_decl *kernel)
{
    rubus__text_add(p->out, "\n");
    print_mark(p, kernel->at, 0);
    if (kernel->from_reduce) {
        const rk_expr *fold = kernel->body->body[0]->value;
        rubus__text_format(p->out, "reduce %s ", fold->name);
        print_params(p, kernel->name, kernel);
        rubus__text_add(p->out, " = ");
        print_expr(p, fold->arg[0], LEVEL_SELECT);
        rubus__text_add(p->out, ";\n");
        return;
    }
    rubus__text_add(p->out, "kernel ");
    print_params(p, kernel->name, kernel);
    if (kernel->nindex > 0) {
        print_over(p, kernel);
    }
    rubus__text_add(p->out, "\n");
    print_block(p, kernel->body, 0);
}

/* An op or a form. */
static void print_op(const printer *p, const char *name, const rk_decl *op)
{
    rubus__text_add(p->out, "\n");
    print_mark(p, op->at, 0);
    rubus__text_add(p->out, op->kind == RK_DECL_FORM ? "form " : "op ");
    print_params(p, name, op);
    if (op->body->nbody == 1) {
        rubus__text_add(p->out, " = ");
        print_expr(p, op->body->body[0]->value, LEVEL_SELECT);
        rubus__text_add(p->out, ";\n");
        return;
    }
    rubus__text_add(p->out, "\n");
    print_block(p, op->body, 0);
}

static void print_func(const printer *p, const char *name, const rk_decl *func)
{
    rubus__text_add(p->out, "\n");
    print_mark(p, func->at, 0);
    rubus__text_format(p->out, "func %s ", type_name(func));
    print_params(p, name, func);
    rubus__text_add(p->out, "\n");
    print_block(p, func->body, 0);
}

/* Those of a list that are reached: under their names, and as the library calls them. */
static void print_reached(printer *p, rk_decl *const *list, int32_t count,
                          const rk_reached *reached)
{
    for (int32_t i = 0; i < count; i++) {
        const rk_decl *decl = list[i];
        p->library = decl->at.source->library;
        void (*print)(const printer *, const char *, const rk_decl *) =
            decl->kind == RK_DECL_OP ? print_op : print_func;
        if (reached->named[i]) {
            print(p, decl->name, decl);
        }
        if (reached->aliased[i]) {
            print(p, rk_reach_alias(p->reach, decl->name), decl);
        }
    }
    p->library = false;
}

static void print_lists(printer *p, const rk_module *module)
{
    print_reached(p, module->op, module->nop, &p->reach->op);
    print_reached(p, module->func, module->nfunc, &p->reach->func);
}

void rk_print_called(rk_unit *unit, rubus__text *out)
{
    rk_reach reach;
    rk_reach_find(unit, &reach);
    printer p = {.out = out, .reach = &reach};
    print_lists(&p, &unit->module);
}

void rk_print(rk_unit *unit, bool marks, rubus__text *out)
{
    const rk_module *module = &unit->module;
    rk_reach reach;
    rk_reach_find(unit, &reach);
    rubus__text_format(out, "// rk real=%s index=%s check=%d fast=%d\n",
                       unit->numbers.f64 ? "f64" : "f32",
                       unit->numbers.int64 ? "i64" : "i32", unit->check, unit->fast);
    rk_cursor cursor = {NULL, 0, 0};
    printer p = {.out = out, .reach = &reach, .marks = marks ? &cursor : NULL};
    print_lists(&p, module);
    for (int32_t i = 0; i < module->nkernel; i++) {
        if (!module->kernel[i]->at.source->library) {
            print_kernel(&p, module->kernel[i]);
        }
    }
    for (int32_t i = 0; i < module->nform; i++) {
        print_op(&p, module->form[i]->name, module->form[i]);
    }
}

void rk_print_own(rk_unit *unit, rubus__text *out)
{
    const rk_module *module = &unit->module;
    const printer p = {.out = out};
    for (int32_t i = 0; i < module->nop; i++) {
        if (!module->op[i]->at.source->library) {
            print_op(&p, module->op[i]->name, module->op[i]);
        }
    }
    for (int32_t i = 0; i < module->nfunc; i++) {
        if (!module->func[i]->at.source->library) {
            print_func(&p, module->func[i]->name, module->func[i]);
        }
    }
}
