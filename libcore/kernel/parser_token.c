/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all rules of the parser use: looking at tokens, taking them, reporting those that
 * are missing, and counting how deep the source nests. The rules are in the files beside
 * this one; parser.h tells how an error is passed up.
 */
#include "config.h"

#include "libcore/kernel/parser.h"

#include <string.h>

const rk_token *rk_parser_peek(const rk_parser *p)
{
    return p->panic ? &p->end : &p->token[p->at];
}

const rk_token *rk_parser_ahead(const rk_parser *p, int32_t n)
{
    const rk_token *token = rk_parser_peek(p);
    for (int32_t i = 0; i < n && token->kind != RK_TOKEN_END; i++) {
        token++;
    }
    return token;
}

bool rk_token_is(const rk_token *token, const char *text)
{
    return (token->kind == RK_TOKEN_PUNCT || token->kind == RK_TOKEN_KEYWORD) &&
           token->name[0] == text[0] && strcmp(token->name, text) == 0;
}

bool rk_parser_is(const rk_parser *p, const char *text)
{
    return rk_token_is(rk_parser_peek(p), text);
}

const rk_token *rk_parser_next(rk_parser *p)
{
    const rk_token *token = rk_parser_peek(p);
    if (token->kind != RK_TOKEN_END) {
        p->at++;
    }
    return token;
}

bool rk_parser_accept(rk_parser *p, const char *text)
{
    const bool found = rk_parser_is(p, text);
    if (found) {
        rk_parser_next(p);
    }
    return found;
}

/* What to write for a name that begins with a sign from a word processor. */
static const char *cure_of_token(const rk_token *token)
{
    static const char *const list[][2] = {
        {"\u2212", "write `-` for minus"}, {"\u2013", "write `-` for minus"},
        {"\u00D7", "write `*` for times"}, {"\u00B7", "write `*` for times"},
        {"\u22C5", "write `*` for times"}, {"\u00F7", "write `/` for division"},
        {"\u2264", "write `<=`"},          {"\u2265", "write `>=`"},
        {"\u2260", "write `!=`"},          {"\u201C", "write `\"` around a file name"},
    };
    if (rk_token_is(token, "++") || rk_token_is(token, "--")) {
        return "`++` and `--` are statements, not values: write `k++;` on its own";
    }
    for (size_t i = 0; token->kind == RK_TOKEN_NAME && i < sizeof list / sizeof *list;
         i++) {
        if (strncmp(token->name, list[i][0], strlen(list[i][0])) == 0) {
            return list[i][1];
        }
    }
    return NULL;
}

static const char *describe(const rk_parser *p, const rk_token *token)
{
    if (token->kind == RK_TOKEN_END) {
        return "the end of the file";
    }
    const int32_t size = token->at.last - token->at.first;
    return rubus__arena_format(p->unit->arena, "`%.*s`%s", (int)(size > 40 ? 40 : size),
                               p->source->text + token->at.first, size > 40 ? "..." : "");
}

/* Just behind the token before the next one, where a missing `;` belongs. */
static rk_span behind_last(const rk_parser *p)
{
    rk_span at = p->token[p->at].at;
    if (p->at > 0) {
        at.first = p->token[p->at - 1].at.last;
        at.last = at.first;
    }
    return at;
}

/* Whether a line ends behind the last token. */
static bool at_line_begin(const rk_parser *p)
{
    const rk_span gap = {p->source, behind_last(p).last, p->token[p->at].at.first};
    return gap.last > gap.first && memchr(p->source->text + gap.first, '\n',
                                          (size_t)(gap.last - gap.first)) != NULL;
}

static void report_expected(rk_parser *p, rk_span at, const char *what, const char *cure)
{
    if (p->error_at != p->at) {
        const rk_token *token = rk_parser_peek(p);
        const char *better = cure_of_token(token);
        rk_error(p->unit, RK_EXPECTED, at, better != NULL ? better : cure,
                 "expected %s, found %s", what, describe(p, token));
    }
    p->error_at = p->at;
}

void rk_parser_expected(rk_parser *p, const char *what, const char *cure)
{
    if (!p->panic) {
        report_expected(p, rk_parser_peek(p)->at, what, cure);
    }
    p->panic = true;
}

void rk_parser_expect(rk_parser *p, const char *text)
{
    if (!rk_parser_accept(p, text)) {
        rk_parser_expected(p, rubus__arena_format(p->unit->arena, "`%s`", text), NULL);
    }
}

void rk_parser_expect_semicolon(rk_parser *p, const char *cure)
{
    if (p->panic || rk_parser_accept(p, ";")) {
        return;
    }
    report_expected(p, behind_last(p), "`;`", cure);
    // a line that ends without one is complete all the same
    p->panic = !at_line_begin(p) && !rk_parser_is(p, "}");
}

/* Words that only begin declarations may be names as well. */
bool rk_parser_is_name(const rk_token *token)
{
    return token->kind == RK_TOKEN_NAME || rk_token_is(token, "kernel") ||
           rk_token_is(token, "reduce") || rk_token_is(token, "op") ||
           rk_token_is(token, "func") || rk_token_is(token, "import");
}

const rk_token *rk_parser_name(rk_parser *p, const char *what)
{
    const rk_token *token = rk_parser_peek(p);
    if (rk_parser_is_name(token)) {
        return rk_parser_next(p);
    }
    if (token->kind != RK_TOKEN_KEYWORD) {
        rk_parser_expected(p, what, NULL);
        return token;
    }
    if (p->error_at != p->at) {
        rk_error(p->unit, RK_WORD_AS_NAME, token->at, "choose another name",
                 "`%s` is a word of the language and cannot be a name", token->name);
    }
    p->error_at = p->at;
    return rk_parser_next(p);
}

bool rk_parser_is_scalar(const rk_token *token)
{
    return rk_token_is(token, "real") || rk_token_is(token, "int") ||
           rk_token_is(token, "bool");
}

rk_type rk_parser_scalar(rk_parser *p)
{
    if (rk_parser_accept(p, "real")) {
        return RK_REAL;
    }
    if (rk_parser_accept(p, "int")) {
        return RK_INT;
    }
    if (rk_parser_accept(p, "bool")) {
        return RK_BOOL;
    }
    const char *cure = NULL;
    const rk_token *token = rk_parser_peek(p);
    if (token->kind == RK_TOKEN_NAME &&
        (strcmp(token->name, "double") == 0 || strcmp(token->name, "float") == 0)) {
        cure = "write `real`: float or double is chosen when the module is built";
    }
    rk_parser_expected(p, "`real`, `int` or `bool`", cure);
    return RK_VOID;
}

bool rk_parser_at_declaration(const rk_parser *p)
{
    const rk_token *token = rk_parser_peek(p);
    if (token->kind != RK_TOKEN_KEYWORD) {
        return false;
    }
    const rk_token *second = rk_parser_ahead(p, 1);
    const rk_token *third = rk_parser_ahead(p, 2);
    if (rk_token_is(token, "kernel") || rk_token_is(token, "op")) {
        return rk_parser_is_name(second) && rk_token_is(third, "(");
    }
    if (rk_token_is(token, "reduce")) {
        return rk_parser_is_name(second) && rk_parser_is_name(third);
    }
    if (rk_token_is(token, "func")) {
        return rk_parser_is_scalar(second) && rk_parser_is_name(third);
    }
    return (rk_token_is(token, "import") && second->kind == RK_TOKEN_STRING) ||
           rk_parser_at_form(p);
}

rk_span rk_span_join(rk_span a, rk_span b)
{
    if (b.last > a.last) {
        a.last = b.last;
    }
    return a;
}

void *rk_grow(rk_unit *unit, const void *items, int32_t count, size_t size)
{
    const bool full = (count & (count - 1)) == 0;
    if (!full) {
        return (void *)(uintptr_t)items;
    }
    void *fresh = rk_new(unit, (size_t)(count == 0 ? 1 : 2 * count) * size);
    if (count > 0) {
        memcpy(fresh, items, (size_t)count * size);
    }
    return fresh;
}

rk_decl *rk_parser_decl(rk_parser *p, rk_decl_kind kind, const rk_token *name)
{
    rk_decl *decl = RK_NEW(p->unit, rk_decl);
    decl->kind = kind;
    decl->at = name->at;
    decl->name = name->name;
    return decl;
}

void rk_parser_limit(rk_parser *p, rk_span at)
{
    if (p->nest + p->depth > p->unit->deepest) {
        p->unit->deepest = p->nest + p->depth;
    }
    if (p->nest + p->depth > RK_DEPTH_MAX) {
        rk_error(p->unit, RK_TOO_DEEP, at, "name parts of it, by `let` or a local",
                 "this is nested deeper than %d", (int)RK_DEPTH_MAX);
        rk_give_up(p->unit);
    }
}

void rk_parser_enter(rk_parser *p)
{
    p->nest++;
    p->depth = 0;
    rk_parser_limit(p, rk_parser_peek(p)->at);
}
