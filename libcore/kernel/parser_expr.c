/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions: one function a rule of the grammar, the rule above it; the five levels of
 * binary operators share one loop.
 *
 * Nothing but brackets, signs, powers and `?:` recurses, and each of these is counted, so
 * the stack needed is bounded; so is the height of the tree, on which later stages
 * recurse.
 */
#include "config.h"

#include "libcore/kernel/parser.h"

#include <string.h>

rk_expr *rk_new_expr(rk_parser *p, rk_expr_kind kind, rk_span at)
{
    rk_expr *expr = RK_NEW(p->unit, rk_expr);
    expr->kind = kind;
    expr->at = at;
    p->depth = 1;
    return expr;
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* A node over parts the highest of which has height `depth`. */
static rk_expr *new_parent(rk_parser *p, rk_expr_kind kind, rk_op op, rk_span at,
                           int32_t depth)
{
    rk_expr *expr = rk_new_expr(p, kind, at);
    expr->op = op;
    p->depth = depth + 1;
    rk_parser_limit(p, at);
    return expr;
}

/* STRING, in a form */
RK_OWN_FRAME static rk_expr *parse_label(rk_parser *p)
{
    const rk_token *token = rk_parser_next(p);
    rk_expr *label = rk_new_expr(p, RK_EXPR_LABEL, token->at);
    label->name = token->name;
    return label;
}

/* arg = expr | INTEGER ":" INTEGER | STRING */
static rk_expr *parse_arg(rk_parser *p)
{
    const rk_token *first = rk_parser_peek(p);
    if (p->form && first->kind == RK_TOKEN_STRING) {
        return parse_label(p);
    }
    if (first->kind != RK_TOKEN_INT || !rk_token_is(rk_parser_ahead(p, 1), ":")) {
        return rk_parse_expr(p);
    }
    rk_parser_next(p);
    rk_parser_next(p);
    rk_expr *range = rk_new_expr(p, RK_EXPR_RANGE, first->at);
    range->value.range[0] = first->i;
    if (rk_parser_peek(p)->kind == RK_TOKEN_INT) {
        const rk_token *last = rk_parser_next(p);
        range->value.range[1] = last->i;
        range->at = rk_span_join(first->at, last->at);
    } else {
        rk_parser_expected(p, "an int literal", "a range argument is two ints: 1:0");
    }
    return range;
}

/* call = ( NAME | "int" | "real" ) "(" [ arg { "," arg } ] ")" */
RK_OWN_FRAME static rk_expr *parse_call(rk_parser *p)
{
    const rk_token *name = rk_parser_next(p);
    rk_parser_enter(p);
    rk_parser_expect(p, "(");
    int32_t narg = 0;
    rk_expr **arg = NULL;
    int32_t depth = 0;
    while (!rk_parser_is(p, ")")) {
        arg = rk_grow(p->unit, arg, narg, sizeof *arg);
        arg[narg++] = parse_arg(p);
        depth = larger(depth, p->depth);
        if (!rk_parser_accept(p, ",")) {
            break;
        }
        if (rk_parser_is(p, ")")) {
            rk_parser_expected(p, "another argument", NULL);
        }
    }
    const rk_span end = rk_parser_peek(p)->at;
    rk_parser_expect(p, ")");
    p->nest--;
    rk_expr *call =
        new_parent(p, RK_EXPR_CALL, RK_OP_NONE, rk_span_join(name->at, end), depth);
    call->name = name->name;
    call->narg = narg;
    call->arg = arg;
    return call;
}

RK_OWN_FRAME static rk_expr *parse_number(rk_parser *p)
{
    const rk_token *token = rk_parser_next(p);
    const bool real = token->kind == RK_TOKEN_REAL;
    rk_expr *expr = rk_new_expr(p, real ? RK_EXPR_REAL : RK_EXPR_INT, token->at);
    if (real) {
        expr->value.real = token->real;
        expr->real32 = token->real32;
        expr->text = token->name;
    } else {
        expr->value.i = token->i;
    }
    return expr;
}

RK_OWN_FRAME static void no_expression(rk_parser *p)
{
    static const char *const words[] = {"in", "out", "inout", "over", "index"};
    const rk_token *token = rk_parser_peek(p);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (rk_token_is(token, words[i])) {
            rk_parser_name(p, "a value");
            return;
        }
    }
    const char *cure = NULL;
    if (rk_token_is(token, "bool")) {
        cure = "numbers become bools by comparison: x != 0";
    } else if (rk_token_is(token, "*")) {
        cure =
            "a `*` that makes a new dimension stands alone between `[` or `,` and `,` or "
            "`]`";
    } else if (rk_token_is(token, "++") || rk_token_is(token, "--")) {
        cure =
            "`++` and `--` are statements, written behind their variable; two signs need "
            "a blank between them";
    }
    rk_parser_expected(p, "an expression", cure);
}

/* { "," expr } ")" of a tuple, in a form */
RK_OWN_FRAME static rk_expr *parse_tuple(rk_parser *p, rk_span open, rk_expr *first)
{
    int32_t depth = p->depth;
    int32_t narg = 0;
    rk_expr **arg = rk_grow(p->unit, NULL, narg, sizeof *arg);
    arg[narg++] = first;
    while (rk_parser_accept(p, ",")) {
        rk_expr *next = rk_parse_expr(p);
        arg = rk_grow(p->unit, arg, narg, sizeof *arg);
        arg[narg++] = next;
        depth = larger(depth, p->depth);
    }
    const rk_span end = rk_parser_peek(p)->at;
    rk_parser_expect(p, ")");
    rk_expr *tuple =
        new_parent(p, RK_EXPR_TUPLE, RK_OP_NONE, rk_span_join(open, end), depth);
    tuple->narg = narg;
    tuple->arg = arg;
    return tuple;
}

/* primary = NUMBER | "true" | "false" | NAME | call | "(" expr ")"
 *         | "(" expr "," expr { "," expr } ")"        a tuple: in a form only */
static rk_expr *parse_primary(rk_parser *p)
{
    const rk_token *token = rk_parser_peek(p);
    if (token->kind == RK_TOKEN_INT || token->kind == RK_TOKEN_REAL) {
        return parse_number(p);
    }
    if (rk_parser_is(p, "(")) {
        rk_parser_enter(p);
        rk_parser_next(p);
        rk_expr *inner = rk_parse_expr(p);
        if (p->form && rk_parser_is(p, ",")) {
            inner = parse_tuple(p, token->at, inner);
        } else {
            rk_parser_expect(p, ")");
        }
        p->nest--;
        return inner;
    }
    const bool conversion = rk_token_is(token, "int") || rk_token_is(token, "real");
    if ((conversion || rk_parser_is_name(token)) &&
        rk_token_is(rk_parser_ahead(p, 1), "(")) {
        return parse_call(p);
    }
    if (rk_parser_is_name(token)) {
        rk_parser_next(p);
        rk_expr *name = rk_new_expr(p, RK_EXPR_NAME, token->at);
        name->name = token->name;
        return name;
    }
    if (rk_token_is(token, "true") || rk_token_is(token, "false")) {
        rk_parser_next(p);
        rk_expr *truth = rk_new_expr(p, RK_EXPR_BOOL, token->at);
        truth->value.b = rk_token_is(token, "true");
        return truth;
    }
    no_expression(p);
    return rk_new_expr(p, RK_EXPR_INT, token->at); // stands in for what is missing
}

/* Takes the leading minus off a bound; of `-n + 1` what is left is `-(-n + 1)`. */
static rk_expr *without_minus(rk_parser *p, rk_expr *bound)
{
    if (bound->kind == RK_EXPR_UNARY && bound->op == RK_OP_NEG) {
        p->depth--;
        return bound->a;
    }
    rk_expr *negated = new_parent(p, RK_EXPR_UNARY, RK_OP_NEG, bound->at, p->depth);
    negated->a = bound;
    return negated;
}

/* sub = [ expr ] ":" [ expr ] | expr | "*"       "*" only before "," or "]" */
RK_OWN_FRAME static rk_sub parse_sub(rk_parser *p)
{
    rk_sub sub = {.kind = RK_SUB_INDEX, .at = rk_parser_peek(p)->at};
    int32_t depth = 0;
    const rk_token *next = rk_parser_ahead(p, 1);
    if (rk_parser_is(p, "*") && (rk_token_is(next, ",") || rk_token_is(next, "]"))) {
        rk_parser_next(p);
        sub.kind = RK_SUB_LIFT;
        p->depth = 0;
        return sub;
    }
    if (!rk_parser_is(p, ":")) {
        const bool minus = rk_parser_is(p, "-");
        sub.lo = rk_parse_expr(p);
        sub.at = rk_span_join(sub.at, sub.lo->at);
        sub.lo_end = minus && (p->fields || rk_parser_is(p, ":"));
        sub.lo = sub.lo_end ? without_minus(p, sub.lo) : sub.lo;
        depth = p->depth;
    }
    const rk_span colon = rk_parser_peek(p)->at;
    if (rk_parser_accept(p, ":")) {
        sub.kind = RK_SUB_SLICE;
        sub.at = rk_span_join(sub.at, colon);
        if (!rk_parser_is(p, ",") && !rk_parser_is(p, "]")) {
            sub.hi_end = rk_parser_is(p, "-");
            sub.hi = rk_parse_expr(p);
            sub.at = rk_span_join(sub.at, sub.hi->at);
            sub.hi = sub.hi_end ? without_minus(p, sub.hi) : sub.hi;
            depth = larger(depth, p->depth);
        }
    }
    p->depth = depth;
    return sub;
}

/* "[" sub { "," sub } "]" */
RK_OWN_FRAME static rk_expr *parse_index(rk_parser *p, rk_expr *base)
{
    int32_t depth = p->depth;
    rk_parser_enter(p);
    rk_parser_next(p);
    int32_t nsub = 0;
    rk_sub *sub = NULL;
    do {
        sub = rk_grow(p->unit, sub, nsub, sizeof *sub);
        sub[nsub++] = parse_sub(p);
        depth = larger(depth, p->depth);
    } while (rk_parser_accept(p, ","));
    const rk_span end = rk_parser_peek(p)->at;
    rk_parser_expect(p, "]");
    p->nest--;
    rk_expr *index =
        new_parent(p, RK_EXPR_INDEX, RK_OP_NONE, rk_span_join(base->at, end), depth);
    index->a = base;
    index->nsub = nsub;
    index->sub = sub;
    return index;
}

/* postfix = primary { "[" sub { "," sub } "]" } */
rk_expr *rk_parse_postfix(rk_parser *p)
{
    rk_expr *base = parse_primary(p);
    while (rk_parser_is(p, "[")) {
        base = parse_index(p, base);
    }
    return base;
}

static rk_expr *parse_unary(rk_parser *p);

/* ( "-" | "+" | "!" ) unary */
RK_OWN_FRAME static rk_expr *parse_sign(rk_parser *p)
{
    rk_parser_enter(p);
    const rk_token *sign = rk_parser_next(p);
    rk_expr *operand = parse_unary(p);
    p->nest--;
    if (rk_token_is(sign, "+")) {
        return operand;
    }
    const rk_op op = rk_token_is(sign, "-") ? RK_OP_NEG : RK_OP_NOT;
    rk_expr *unary =
        new_parent(p, RK_EXPR_UNARY, op, rk_span_join(sign->at, operand->at), p->depth);
    unary->a = operand;
    return unary;
}

/* "^" unary */
RK_OWN_FRAME static rk_expr *parse_exponent(rk_parser *p, rk_expr *base)
{
    const int32_t depth = p->depth;
    rk_parser_enter(p);
    rk_parser_next(p);
    rk_expr *exponent = parse_unary(p);
    p->nest--;
    rk_expr *power =
        new_parent(p, RK_EXPR_POWER, RK_OP_NONE, rk_span_join(base->at, exponent->at),
                   larger(depth, p->depth));
    power->a = base;
    power->b = exponent;
    return power;
}

/* unary = ( "-" | "+" | "!" ) unary | power
 * power = postfix [ "^" unary ]        so -x^2 is -(x^2), and 2^3^2 is 2^(3^2) */
static rk_expr *parse_unary(rk_parser *p)
{
    if (rk_parser_is(p, "-") || rk_parser_is(p, "+") || rk_parser_is(p, "!")) {
        return parse_sign(p);
    }
    rk_expr *base = rk_parse_postfix(p);
    return rk_parser_is(p, "^") ? parse_exponent(p, base) : base;
}

enum { LEVEL_OR, LEVEL_AND, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT };

typedef struct rk_binary_op {
    char text[3];
    int level; /* the higher, the tighter */
    rk_op op;
} rk_binary_op;

static const rk_binary_op *find_binary(const rk_parser *p)
{
    static const rk_binary_op list[] = {
        {"||", LEVEL_OR, RK_OP_OR},      {"&&", LEVEL_AND, RK_OP_AND},
        {"==", LEVEL_COMPARE, RK_OP_EQ}, {"!=", LEVEL_COMPARE, RK_OP_NE},
        {"<", LEVEL_COMPARE, RK_OP_LT},  {"<=", LEVEL_COMPARE, RK_OP_LE},
        {">", LEVEL_COMPARE, RK_OP_GT},  {">=", LEVEL_COMPARE, RK_OP_GE},
        {"+", LEVEL_SUM, RK_OP_ADD},     {"-", LEVEL_SUM, RK_OP_SUB},
        {"*", LEVEL_PRODUCT, RK_OP_MUL}, {"/", LEVEL_PRODUCT, RK_OP_DIV},
        {"%", LEVEL_PRODUCT, RK_OP_REM},
    };
    const rk_token *token = rk_parser_peek(p);
    if (token->kind != RK_TOKEN_PUNCT) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (token->name[0] == list[i].text[0] && strcmp(token->name, list[i].text) == 0) {
            return &list[i];
        }
    }
    return NULL;
}

RK_OWN_FRAME static void refuse_chain(rk_parser *p)
{
    if (p->error_at != p->at) {
        rk_error(p->unit, RK_COMPARISON_CHAIN, rk_parser_peek(p)->at,
                 "write `a < b && b < c`", "comparisons do not chain");
        p->error_at = p->at;
    }
}

RK_OWN_FRAME static void wait_for_right(rk_parser *p, const rk_binary_op *op,
                                        rk_expr *left)
{
    if (p->nwait == p->wait_room) {
        const int32_t room = p->wait_room == 0 ? 64 : 2 * p->wait_room;
        rk_waiting *wait = rk_new(p->unit, (size_t)room * sizeof *wait);
        if (p->nwait > 0) {
            memcpy(wait, p->wait, (size_t)p->nwait * sizeof *wait);
        }
        p->wait = wait;
        p->wait_room = room;
    }
    p->wait[p->nwait++] = (rk_waiting){op, left, p->depth};
}

/* The node of the last one that waits; next: the operator that follows, or NULL. */
RK_OWN_FRAME static rk_expr *join_last(rk_parser *p, rk_expr *right,
                                       const rk_binary_op *next)
{
    const rk_waiting *last = &p->wait[--p->nwait];
    rk_expr *joined = new_parent(p, RK_EXPR_BINARY, last->op->op,
                                 rk_span_join(last->left->at, right->at),
                                 larger(last->depth, p->depth));
    joined->a = last->left;
    joined->b = right;
    if (next != NULL && next->level == LEVEL_COMPARE &&
        last->op->level == LEVEL_COMPARE) {
        refuse_chain(p);
    }
    return joined;
}

/* or   = and { "||" and }          and  = cmp { "&&" cmp }
 * cmp  = sum [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) sum ]
 * sum  = prod { ( "+" | "-" ) prod }
 * prod = unary { ( "*" | "/" | "%" ) unary }
 * Left operands wait, each with its operator, until one that binds no tighter follows; so
 * the levels of those that wait for one expression rise. */
static rk_expr *parse_binary(rk_parser *p)
{
    const int32_t first = p->nwait;
    for (;;) {
        rk_expr *right = parse_unary(p);
        const rk_binary_op *op = find_binary(p);
        while (p->nwait > first &&
               (op == NULL || p->wait[p->nwait - 1].op->level >= op->level)) {
            right = join_last(p, right, op);
        }
        if (op == NULL) {
            return right;
        }
        wait_for_right(p, op, right);
        rk_parser_next(p);
    }
}

/* "?" expr ":" expr */
RK_OWN_FRAME static rk_expr *parse_select(rk_parser *p, rk_expr *cond)
{
    int32_t depth = p->depth;
    rk_parser_enter(p);
    rk_parser_next(p);
    rk_expr *yes = rk_parse_expr(p);
    depth = larger(depth, p->depth);
    rk_parser_expect(p, ":");
    rk_expr *no = rk_parse_expr(p);
    p->nest--;
    rk_expr *select = new_parent(p, RK_EXPR_SELECT, RK_OP_SELECT,
                                 rk_span_join(cond->at, no->at), larger(depth, p->depth));
    select->a = cond;
    select->b = yes;
    select->c = no;
    return select;
}

/* expr = or [ "?" expr ":" expr ] */
rk_expr *rk_parse_expr(rk_parser *p)
{
    rk_expr *cond = parse_binary(p);
    return rk_parser_is(p, "?") ? parse_select(p, cond) : cond;
}
