/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements: one function a rule of the grammar, the rule above it.
 *
 * Whole-array kernels and per-point code have their own statements; one that stands in
 * the wrong sort of kernel is read to its end and refused with what to write instead.
 * After another error the nearest block skips to the next statement, and a broken header
 * of `if`, `while` or `for` is skipped as far as its body, so that one mistake is one
 * message.
 */
#include "config.h"

#include "libcore/kernel/parser.h"

#include <string.h>

static rk_stmt *parse_stmt(rk_parser *p);

rk_stmt *rk_new_stmt(rk_parser *p, rk_stmt_kind kind, rk_span at)
{
    rk_stmt *stmt = RK_NEW(p->unit, rk_stmt);
    stmt->kind = kind;
    stmt->at = at;
    return stmt;
}

void rk_block_add(rk_parser *p, rk_stmt *block, rk_stmt *stmt)
{
    block->body = rk_grow(p->unit, block->body, block->nbody, sizeof *block->body);
    block->body[block->nbody++] = stmt;
}

/* --- going on after an error -------------------------------------------------------- */

void rk_parser_recover(rk_parser *p)
{
    p->panic = false;
    int32_t open = 0; // braces opened while skipping
    while (rk_parser_peek(p)->kind != RK_TOKEN_END && !rk_parser_at_declaration(p)) {
        if (rk_parser_is(p, "}") && open == 0) {
            return;
        }
        const rk_token *token = rk_parser_next(p);
        open += rk_token_is(token, "{") ? 1 : rk_token_is(token, "}") ? -1 : 0;
        if (open == 0 && (rk_token_is(token, ";") || rk_token_is(token, "}"))) {
            if (rk_token_is(token, "}")) {
                rk_parser_accept(p, ";"); // as in a = {1, 2};
            }
            return;
        }
    }
}

/* Ends a panic in a header: skips its closing parenthesis, or to a brace. */
static void recover_header(rk_parser *p)
{
    if (!p->panic) {
        return;
    }
    p->panic = false;
    int32_t open = 0;
    while (rk_parser_peek(p)->kind != RK_TOKEN_END && !rk_parser_is(p, "{") &&
           !rk_parser_is(p, "}") && !rk_parser_at_declaration(p)) {
        const rk_token *token = rk_parser_next(p);
        open += rk_token_is(token, "(") ? 1 : rk_token_is(token, ")") ? -1 : 0;
        if (open < 0 && !rk_parser_is(p, ")") && !rk_parser_is(p, ";")) {
            return;
        }
    }
}

/* Reports a statement of the other sort of kernel, once a place. */
static void refuse(rk_parser *p, rk_code code, const rk_token *token, const char *cure)
{
    if (p->panic || p->error_at == p->at) {
        return;
    }
    p->error_at = p->at;
    const char *where = code == RK_NOT_WHOLE_ARRAY ? "whole-array" : "per-point";
    rk_error(p->unit, code, token->at, cure, "`%s` cannot stand in %s code", token->name,
             where);
}

/* --- assignments -------------------------------------------------------------------- */

typedef struct assign_op {
    char text[3];
    rk_op op;
} assign_op;

static const assign_op *find_assign(const rk_token *token)
{
    static const assign_op list[] = {
        {"=", RK_OP_NONE}, {"+=", RK_OP_ADD}, {"-=", RK_OP_SUB}, {"*=", RK_OP_MUL},
        {"/=", RK_OP_DIV}, {"%=", RK_OP_REM}, {"++", RK_OP_ADD}, {"--", RK_OP_SUB},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (rk_token_is(token, list[i].text)) {
            return &list[i];
        }
    }
    return NULL;
}

static const char *cure_of_target(const rk_expr *target)
{
    return target->kind == RK_EXPR_NAME
               ? "a statement begins with a word of the language "
                 "or assigns: name = value;"
               : NULL;
}

/* assign = postfix ( "=" | "+=" | "-=" | "*=" | "/=" ) expr
 * step   = assign | postfix "%=" expr | postfix ( "++" | "--" )
 * The target was read. */
static rk_stmt *parse_assign(rk_parser *p, rk_expr *target)
{
    rk_stmt *stmt = rk_new_stmt(p, RK_STMT_ASSIGN, target->at);
    stmt->target = target;
    const rk_token *token = rk_parser_peek(p);
    const assign_op *op = find_assign(token);
    if (op == NULL) {
        rk_parser_expected(p, "`=` or another assignment", cure_of_target(target));
        return stmt;
    }
    if (p->fields && (op->op == RK_OP_REM || token->name[0] == token->name[1])) {
        refuse(p, RK_NOT_WHOLE_ARRAY, token,
               op->op == RK_OP_REM ? "write `a = a % b;`"
                                   : "write `a += 1;` or `a -= 1;`");
    }
    rk_parser_next(p);
    stmt->op = op->op;
    if (rk_token_is(token, "++") || rk_token_is(token, "--")) {
        stmt->value = rk_new_expr(p, RK_EXPR_INT, token->at);
        stmt->value->value.i = 1;
    } else {
        stmt->value = rk_parse_expr(p);
    }
    stmt->at = rk_span_join(target->at, stmt->value->at);
    return stmt;
}

static rk_stmt *parse_step(rk_parser *p)
{
    return parse_assign(p, rk_parse_postfix(p));
}

/* "atomic_add" "(" postfix "," expr ")" */
static rk_stmt *atomic_add(rk_parser *p, const rk_expr *call)
{
    rk_stmt *stmt = rk_new_stmt(p, RK_STMT_ATOMIC, call->at);
    if (call->narg == 2) {
        stmt->target = call->arg[0];
        stmt->value = call->arg[1];
    }
    if (!p->panic && (call->narg != 2 || stmt->target->kind != RK_EXPR_INDEX ||
                      stmt->value->kind == RK_EXPR_RANGE)) {
        rk_error(p->unit, RK_ATOMIC_ADD_FORM, call->at,
                 "write `atomic_add(A[i], value);`",
                 "`atomic_add` takes an element of an array and a value");
    }
    return stmt;
}

/* step | call */
static rk_stmt *parse_simple(rk_parser *p)
{
    rk_expr *target = rk_parse_postfix(p);
    if (p->panic || target->kind != RK_EXPR_CALL ||
        find_assign(rk_parser_peek(p)) != NULL) {
        return parse_assign(p, target);
    }
    if (strcmp(target->name, "atomic_add") != 0) {
        rk_error(p->unit, RK_VALUE_UNUSED, target->at, "assign it: name = ...;",
                 "the value of `%s` is not used", target->name);
    } else if (p->fields) {
        rk_error(p->unit, RK_NOT_WHOLE_ARRAY, target->at,
                 "write the kernel with `over (...)` to use it",
                 "`atomic_add` cannot stand in whole-array code");
    } else {
        return atomic_add(p, target);
    }
    return rk_new_stmt(p, RK_STMT_BLOCK, target->at);
}

/* --- statements with bodies --------------------------------------------------------- */

/* body = block | stmt        abody = array | astmt */
static rk_stmt *parse_body(rk_parser *p)
{
    rk_parser_enter(p);
    rk_stmt *body = rk_parser_is(p, "{") ? rk_parse_block(p) : parse_stmt(p);
    p->nest--;
    return body;
}

static rk_expr *parse_condition(rk_parser *p)
{
    rk_parser_expect(p, "(");
    rk_expr *cond = rk_parse_expr(p);
    rk_parser_expect(p, ")");
    recover_header(p);
    return cond;
}

/* "if" "(" expr ")" body [ "else" body ]         an `else` belongs to the nearest `if` */
static rk_stmt *parse_if(rk_parser *p)
{
    rk_stmt *stmt = rk_new_stmt(p, RK_STMT_IF, rk_parser_next(p)->at);
    stmt->cond = parse_condition(p);
    stmt->then = parse_body(p);
    if (rk_parser_accept(p, "else")) {
        stmt->other = parse_body(p);
    }
    return stmt;
}

/* "while" "(" expr ")" body */
static rk_stmt *parse_while(rk_parser *p)
{
    rk_stmt *stmt = rk_new_stmt(p, RK_STMT_WHILE, rk_parser_next(p)->at);
    stmt->cond = parse_condition(p);
    stmt->then = parse_body(p);
    return stmt;
}

/* scalar NAME [ "[" expr "]" ] [ "=" expr ]
 * In the header of a `for`: scalar NAME "=" expr */
static rk_stmt *parse_local(rk_parser *p, bool header)
{
    rk_stmt *stmt = rk_new_stmt(p, RK_STMT_DECL, rk_parser_peek(p)->at);
    const rk_type type = rk_parser_scalar(p);
    const rk_token *name = rk_parser_name(p, "the name of a local");
    rk_decl *decl = rk_parser_decl(p, RK_DECL_LOCAL, name);
    decl->type = type;
    decl->number = p->nlocal++;
    stmt->decl = decl;
    stmt->name = decl->name;
    if (!header && rk_parser_accept(p, "[")) {
        decl->has_brackets = true;
        decl->rank = 1;
        if (rk_parser_is(p, "]")) {
            rk_parser_expected(p, "a length",
                               "local arrays have a fixed length: real q[9];");
        }
        decl->length = rk_parse_expr(p);
        rk_parser_expect(p, "]");
    }
    if (header) {
        rk_parser_expect(p, "=");
        stmt->value = rk_parse_expr(p);
    } else if (rk_parser_accept(p, "=")) {
        stmt->value = rk_parse_expr(p);
    }
    if (rk_parser_is(p, ",")) {
        rk_parser_expect_semicolon(p, "declare one name a statement");
    }
    return stmt;
}

/* "for" "(" [ scalar NAME "=" expr | step ] ";" [ expr ] ";" [ step ] ")" body */
static rk_stmt *parse_for(rk_parser *p)
{
    rk_stmt *stmt = rk_new_stmt(p, RK_STMT_FOR, rk_parser_next(p)->at);
    rk_parser_expect(p, "(");
    if (rk_parser_is_scalar(rk_parser_peek(p))) {
        stmt->init = parse_local(p, true);
    } else if (!rk_parser_is(p, ";")) {
        stmt->init = parse_step(p);
    }
    rk_parser_expect_semicolon(p, NULL);
    if (!rk_parser_is(p, ";")) {
        stmt->cond = rk_parse_expr(p);
    }
    rk_parser_expect_semicolon(p, NULL);
    if (!rk_parser_is(p, ")")) {
        stmt->step = parse_step(p);
    }
    rk_parser_expect(p, ")");
    recover_header(p);
    stmt->then = parse_body(p);
    return stmt;
}

/* let = "let" NAME "=" expr ";" */
static rk_stmt *parse_let(rk_parser *p)
{
    rk_parser_next(p);
    const rk_token *name = rk_parser_name(p, "the name of a value");
    rk_stmt *stmt = rk_new_stmt(p, RK_STMT_LET, name->at);
    stmt->name = name->name;
    rk_parser_expect(p, "=");
    stmt->value = rk_parse_expr(p);
    rk_parser_expect_semicolon(p, NULL);
    return stmt;
}

/* ( "break" | "continue" | "return" [ expr ] ) ";" */
static rk_stmt *parse_jump(rk_parser *p)
{
    const rk_token *token = rk_parser_next(p);
    const rk_stmt_kind kind = rk_token_is(token, "break")      ? RK_STMT_BREAK
                              : rk_token_is(token, "continue") ? RK_STMT_CONTINUE
                                                               : RK_STMT_RETURN;
    rk_stmt *stmt = rk_new_stmt(p, kind, token->at);
    if (kind == RK_STMT_RETURN && !rk_parser_is(p, ";")) {
        stmt->value = rk_parse_expr(p);
    }
    rk_parser_expect_semicolon(p, NULL);
    return stmt;
}

/* --- dispatch ----------------------------------------------------------------------- */

/* A statement of the other sort of kernel is an error, and is read all the same. */
static void check_sort(rk_parser *p)
{
    const rk_token *token = rk_parser_peek(p);
    if (!p->fields && rk_token_is(token, "let")) {
        refuse(p, RK_NOT_PER_POINT, token, "declare a local: real NAME = ...;");
    } else if (p->fields && rk_parser_is_scalar(token)) {
        refuse(p, RK_NOT_WHOLE_ARRAY, token, "write `let NAME = ...;`");
    } else if (p->fields && (rk_token_is(token, "for") || rk_token_is(token, "while"))) {
        refuse(p, RK_NOT_WHOLE_ARRAY, token,
               "use slices, or write the kernel with `over (...)`");
    } else if (p->fields &&
               (rk_token_is(token, "return") || rk_token_is(token, "break") ||
                rk_token_is(token, "continue"))) {
        refuse(p, RK_NOT_WHOLE_ARRAY, token,
               "remove it, or write the kernel with `over (...)`");
    }
}

static void no_statement(rk_parser *p)
{
    const char *cure = NULL;
    if (rk_parser_is(p, ";")) {
        cure = "there is no empty statement: remove the `;`, or write `{}`";
    } else if (rk_parser_is(p, "else")) {
        cure = "an `else` follows the body of its `if`";
    } else if (rk_parser_is(p, "{")) {
        cure = "blocks in a whole-array kernel are bodies of `if` and `else`";
    } else if (rk_parser_is(p, "index")) {
        cure = "locals are `real`, `int` or `bool`";
    }
    rk_parser_expected(p, "a statement", cure);
}

/* A loop; in a whole-array kernel, where it was refused, without more errors about it. */
static rk_stmt *parse_loop(rk_parser *p)
{
    const bool fields = p->fields;
    p->fields = false;
    rk_stmt *stmt = rk_parser_is(p, "while") ? parse_while(p) : parse_for(p);
    p->fields = fields;
    return stmt;
}

static rk_stmt *parse_keyword(rk_parser *p)
{
    if (rk_parser_is(p, "if")) {
        return parse_if(p);
    }
    if (rk_parser_is(p, "while") || rk_parser_is(p, "for")) {
        return parse_loop(p);
    }
    if (rk_parser_is(p, "let")) {
        return parse_let(p);
    }
    if (rk_parser_is(p, "break") || rk_parser_is(p, "continue") ||
        rk_parser_is(p, "return")) {
        return parse_jump(p);
    }
    return NULL;
}

/* stmt  = block | scalar NAME [ "[" expr "]" ] [ "=" expr ] ";" | step ";" | call ";"
 *       | "if" ... | "while" ... | "for" ...
 *       | ( "break" | "continue" | "return" [ expr ] ) ";"
 * astmt = let | assign ";" | "if" ... */
static rk_stmt *parse_stmt(rk_parser *p)
{
    check_sort(p);
    const rk_token *token = rk_parser_peek(p);
    if (!p->fields && rk_parser_is(p, "{")) {
        return parse_body(p);
    }
    rk_stmt *stmt = parse_keyword(p);
    if (stmt != NULL) {
        return stmt;
    }
    if (rk_parser_is_scalar(token) && !rk_token_is(rk_parser_ahead(p, 1), "(")) {
        stmt = parse_local(p, false);
    } else if (token->kind == RK_TOKEN_KEYWORD
                   ? !rk_parser_is_name(token)
                   : token->kind == RK_TOKEN_END || rk_parser_is(p, ";") ||
                         rk_parser_is(p, "{")) {
        no_statement(p);
        return rk_new_stmt(p, RK_STMT_BLOCK, token->at);
    } else {
        stmt = parse_simple(p);
    }
    rk_parser_expect_semicolon(p, NULL);
    return stmt;
}

/* block = "{" { stmt } "}"       array = "{" { astmt } "}" */
rk_stmt *rk_parse_block(rk_parser *p)
{
    const rk_token *open = rk_parser_peek(p);
    rk_stmt *block = rk_new_stmt(p, RK_STMT_BLOCK, open->at);
    rk_parser_expect(p, "{");
    while (!rk_parser_is(p, "}") && rk_parser_peek(p)->kind != RK_TOKEN_END &&
           !rk_parser_at_declaration(p)) {
        const int32_t errors = p->unit->nerror + p->unit->nerror_dropped;
        rk_stmt *stmt = parse_stmt(p);
        if (p->panic) {
            rk_parser_recover(p);
        }
        if (p->unit->nerror + p->unit->nerror_dropped == errors) {
            rk_block_add(p, block, stmt); // later stages get whole statements only
        }
        rk_stop_if_many(p->unit);
    }
    if (!rk_parser_accept(p, "}")) {
        const int32_t errors = p->unit->nerror;
        rk_parser_expected(p, "`}`", NULL);
        if (p->unit->nerror > errors) {
            rk_note(p->unit, open->at, "the block begins here");
        }
    }
    return block;
}

/* "{" { let } "return" expr ";" "}" */
rk_stmt *rk_parse_op_body(rk_parser *p)
{
    rk_stmt *block = rk_new_stmt(p, RK_STMT_BLOCK, rk_parser_peek(p)->at);
    rk_parser_expect(p, "{");
    while (rk_parser_is(p, "let")) {
        rk_stmt *let = parse_let(p);
        if (p->panic) {
            rk_parser_recover(p);
        }
        rk_block_add(p, block, let);
        rk_stop_if_many(p->unit);
    }
    if (!rk_parser_is(p, "return")) {
        rk_parser_expected(p, "`let` or `return`",
                           p->form ? "the body of a form is lets, then `return VALUE;`"
                                   : "the body of an op is lets, then `return VALUE;`");
        return block;
    }
    rk_stmt *result = rk_new_stmt(p, RK_STMT_RETURN, rk_parser_next(p)->at);
    result->value = rk_parse_expr(p);
    rk_parser_expect_semicolon(p, NULL);
    rk_block_add(p, block, result);
    if (p->panic) {
        rk_parser_recover(p);
    }
    if (!rk_parser_accept(p, "}")) {
        rk_parser_expected(p, "`}` after `return`",
                           p->form ? "nothing follows the `return` of a form"
                                   : "nothing follows the `return` of an op");
    }
    return block;
}
