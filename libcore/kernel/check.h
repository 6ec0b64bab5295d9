/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_CHECK_H
#define RK_CHECK_H
/*
 * What check.c, its neighbours and field.c share: names in sight, messages about names
 * and types, and the symbols that a kernel's header gives.
 *
 * A type RK_VOID (or a NULL field) stands for a value whose error was reported already;
 * whatever meets one says nothing more.
 */
#include "libcore/kernel/field.h"

/* --- check_names.c: names in sight -------------------------------------------------- */

typedef struct rk_bound { /* a name and what it stands for */
    rk_decl *decl;
    rk_field *field; /* of a let or an op's parameter; NULL if it has an error */
    int32_t older;   /* the one bound before it in the same bucket, or -1 */
} rk_bound;

typedef struct rk_scope {
    rk_unit *unit;
    rk_bound *bound;
    int32_t nbound;
    int32_t room;
    int32_t floor;   /* names bound before this one are out of sight (ops, funcs) */
    int32_t nbucket; /* a power of two, grows with the names */
    int32_t *bucket;
} rk_scope;

void rk_scope_init(rk_scope *scope, rk_unit *unit);
/* The innermost meaning of a name, or NULL. */
const rk_bound *rk_scope_find(const rk_scope *scope, const char *name);
/* Binds without looking. */
void rk_scope_bind(rk_scope *scope, rk_decl *decl, rk_field *field);
/* Binds; a name that was bound since `block` already is reported (the new one counts). */
void rk_scope_declare(rk_scope *scope, rk_decl *decl, int32_t block);
/* Binds the name of a let; one that means something already is reported. */
void rk_scope_let(rk_scope *scope, const rk_stmt *s, rk_field *value, const char *cure);
void rk_scope_close(rk_scope *scope, int32_t block);
/* Reports a name that means nothing here, once: it is bound to a decl without type. */
void rk_unknown_name(rk_scope *scope, const char *name, rk_span at);
bool rk_decl_is_unknown(const rk_decl *decl);
/* Reports a call of what is no op, func or built-in, or takes other arguments. */
void rk_unknown_call(rk_scope *scope, const rk_expr *call);
/* Reports "NAME is already ..." with a note at the first. */
void rk_duplicate(rk_unit *unit, rk_code code, const rk_decl *decl, const rk_decl *first,
                  const char *cure);

/* Func by name as seen from `from` (a kernel, op or func): code of the library sees the
 * library's own ones. */
rk_decl *rk_find_func_from(rk_unit *unit, const rk_decl *from, const char *name);
/* func real pow(real, real) of the library; reports its absence. */
rk_decl *rk_find_pow(rk_unit *unit, rk_span at);
/* Number of arguments of the built-in of that name; -1 if there is none. */
int32_t rk_builtin_operands(const char *name);
/* pad, ix, iy, iz, sum, extent, atomic_add, int, real and the built-ins. */
bool rk_name_is_taken(const char *name);
/* sum, max or min; false for other names */
bool rk_fold_by_name(const char *name, rk_fold_op *out);
bool rk_op_exists(rk_unit *unit, const char *name);
/* "a PARAM", "an op" ... for messages */
const char *rk_decl_text(const rk_decl *decl);
/* A list of n entries with room for one more; it only ever grows, by one at a time. */
void *rk_extend(rk_unit *unit, void *array, int32_t n, size_t size);
int64_t rk_errors(const rk_unit *unit); /* those that are not shown included */

/* --- check_type.c: messages about types --------------------------------------------- */

const char *rk_type_text(rk_type type); /* "real" ... */
/* "x is bool" and so on: op has no meaning for these operand types. */
void rk_bad_operands(rk_unit *unit, rk_span at, rk_op op, rk_type a, rk_type b,
                     rk_type c);
/* A value of type `from` where `to` is wanted; what: "`k`", "argument 2 of `f`" ... */
void rk_bad_store(rk_unit *unit, rk_span at, rk_type from, rk_type to, const char *what);
/* `k /= 2` for an int k. */
void rk_bad_int_division(rk_unit *unit, rk_span at, const char *target);
/* Reports a literal that the module's int cannot hold; negated: it stands after '-'. */
bool rk_literal_fits(rk_unit *unit, const rk_expr *literal, bool negated);
/* Source text of an expression if it is short, else "this". */
const char *rk_source_text(rk_unit *unit, rk_span at);

/* --- check_expr.c, check_stmt.c: per-point code ------------------------------------- */

typedef struct rk_checker {
    rk_unit *unit;
    rk_scope scope;
    rk_decl *decl; /* kernel or func being checked */
    int32_t nlocal;
    int32_t loop;  /* loops around */
    bool in_range; /* in `over (...)`: no array, no index */
} rk_checker;

/* Types an expression; RK_VOID: reported. */
rk_type rk_check_expr(rk_checker *c, rk_expr *expr);
/* The same for an element that is written: its mode and subscripts. */
rk_type rk_check_element(rk_checker *c, rk_expr *expr, bool read, bool write);
/* Checks a value that is stored as type `to`; puts in the conversion. */
void rk_check_value(rk_checker *c, rk_expr **value, rk_type to, const char *what);
void rk_check_body(rk_checker *c, rk_stmt *body);
/* First array that a per-point kernel writes, in the order of the text; NULL: none. */
rk_decl *rk_first_written(const rk_stmt *body);

/* --- check_func.c ------------------------------------------------------------------- */

/* Notes that decl (a kernel or func) calls func. */
void rk_note_call(rk_unit *unit, rk_decl *decl, rk_decl *func);
void rk_check_func(rk_unit *unit, rk_decl *func);
/* Reports funcs that call themselves, starting at func. */
void rk_find_recursion(rk_unit *unit, rk_decl *func);

/* --- check_op.c --------------------------------------------------------------------- */

void rk_check_op(rk_unit *unit, rk_decl *op);

/* --- symbol.c ----------------------------------------------------------------------- */

/* Symbols and extents of a kernel's header into *work (symbol, nsymbol, extent); finds
 * the names used in extents the first time. False if there were errors (reported). */
bool rk_symbols_build(rk_unit *unit, rk_decl *kernel, rk_work *work);

#endif
