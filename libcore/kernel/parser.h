/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_PARSER_H
#define RK_PARSER_H
/*
 * What the four files of the parser share.
 *
 * After an error the parser is in panic: every look at the next token shows the end of
 * the file, so all rules unwind by themselves, without an error, to the nearest one that
 * can go on (a block, a header, a declaration), which skips to a place it knows and ends
 * the panic.
 */
#include "libcore/kernel/tree.h"

enum { RK_DEPTH_MAX = 5000 };

/* Keeps the frame of a function out of its caller's, which recurses: a nested source
 * should parse on a small stack too. */
#if defined(__GNUC__)
#define RK_OWN_FRAME __attribute__((noinline))
#else
#define RK_OWN_FRAME
#endif

struct rk_binary_op;
typedef struct rk_waiting { /* a left operand whose right one is not complete */
    const struct rk_binary_op *op;
    rk_expr *left;
    int32_t depth;
} rk_waiting;

typedef struct rk_parser {
    rk_unit *unit;
    const rk_source *source;
    const rk_token *token;
    rk_token end;     /* what is seen while in panic */
    int32_t at;       /* number of the next token */
    int32_t error_at; /* number of the token of the last error */
    bool panic;
    bool fields; /* in a whole-array kernel or an op: subscripts may count from the end */
    bool form;   /* in a form: tuples and labels may stand */
    int32_t nest;   /* rules open now that nest: brackets, signs, blocks ... */
    int32_t depth;  /* height of the expression that was returned last */
    int32_t nlocal; /* locals declared so far in the kernel or func */
    int32_t nwait;  /* left operands of the expressions that are open now */
    int32_t wait_room;
    rk_waiting *wait;
} rk_parser;

/* --- parser_token.c ----------------------------------------------------------------- */

const rk_token *rk_parser_peek(const rk_parser *p);
const rk_token *rk_parser_ahead(const rk_parser *p, int32_t n); /* END past the end */
bool rk_parser_is(const rk_parser *p, const char *text); /* punctuation or keyword */
bool rk_token_is(const rk_token *token, const char *text);
const rk_token *rk_parser_next(rk_parser *p);
bool rk_parser_accept(rk_parser *p, const char *text);
/* Takes the token, or reports that it is missing. */
void rk_parser_expect(rk_parser *p, const char *text);
/* The `;` behind a statement: one that is missing at the end of a line is no panic. */
void rk_parser_expect_semicolon(rk_parser *p, const char *cure);
/* "expected WHAT, found ..." at the next token, then panic. */
void rk_parser_expected(rk_parser *p, const char *what, const char *cure);
/* A name; a word of the language is reported and taken as one. */
const rk_token *rk_parser_name(rk_parser *p, const char *what);
bool rk_parser_is_name(const rk_token *token);
bool rk_parser_is_scalar(const rk_token *token); /* real, int, bool */
rk_type rk_parser_scalar(rk_parser *p);
/* Whether a declaration begins here, so that what is open was left unfinished. */
bool rk_parser_at_declaration(const rk_parser *p);
rk_span rk_span_join(rk_span a, rk_span b);
rk_decl *rk_parser_decl(rk_parser *p, rk_decl_kind kind, const rk_token *name);
/* Opens a rule that nests; K141 if too many are open. Close with p->nest--. */
void rk_parser_enter(rk_parser *p);
void rk_parser_limit(rk_parser *p, rk_span at);
/* Room behind `count` items for one more; a list grows when its count is a power of two.
 * */
void *rk_grow(rk_unit *unit, const void *items, int32_t count, size_t size);

/* --- parser_expr.c ------------------------------------------------------------------ */

rk_expr *rk_parse_expr(rk_parser *p);
rk_expr *rk_parse_postfix(rk_parser *p); /* left sides of assignments */
rk_expr *rk_new_expr(rk_parser *p, rk_expr_kind kind, rk_span at);

/* --- parser_form.c ------------------------------------------------------------------ */

/* Whether a form begins here; its words are names anywhere else. */
bool rk_parser_at_form(const rk_parser *p);
/* Reads a form up to the end of its body; NULL in panic. */
rk_decl *rk_parse_form(rk_parser *p);

/* --- parser.c, for it --------------------------------------------------------------- */

rk_decl *rk_parser_begin(rk_parser *p, rk_decl_kind kind, const rk_token *name,
                         bool fields);
void rk_parse_params(rk_parser *p, rk_decl *owner, rk_decl *(*parse_one)(rk_parser *));
/* The body of an op or a form: `= value;` or a block of lets and a return. */
void rk_parse_value_body(rk_parser *p, rk_decl *decl);

/* --- parser_stmt.c ------------------------------------------------------------------ */

rk_stmt *rk_parse_block(rk_parser *p); /* by p->fields: array or block of the grammar */
rk_stmt *rk_parse_op_body(rk_parser *p);
rk_stmt *rk_new_stmt(rk_parser *p, rk_stmt_kind kind, rk_span at);
void rk_block_add(rk_parser *p, rk_stmt *block, rk_stmt *stmt);
/* Ends a panic: skips to after the next `;`, or to before `}` or a declaration. */
void rk_parser_recover(rk_parser *p);

#endif
