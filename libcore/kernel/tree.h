/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_TREE_H
#define RK_TREE_H
/*
 * The kernel compiler's tree: source, diagnostics, types, expressions, statements,
 * declarations. All memory is the arena's of one compilation (rk_unit); running out of
 * memory or hitting a limit leaves by longjmp to rk_compile, so no function here fails.
 *
 * Pipeline: lexer.c -> parser.c (tree) -> check.c (names and types of per-point code) and
 * field.c (whole-array statements as fields with shapes) -> lower.c, plan.c (passes) ->
 * dialect_*.c (text) ; interpret.c runs checked trees and fields directly.
 */
#include "libcore/base/base.h"

/* --- source and diagnostics: diagnostic.c ------------------------------------------ */

typedef struct rk_source {
    const char *name; /* as messages show it */
    const char *text; /* NUL-terminated copy */
    int32_t size;     /* bytes; sources over 16 MiB are refused */
    bool library;     /* fd.rk ...: its kernels do not count as the user's */
} rk_source;

/* A place: byte range [first, last) of a source. */
typedef struct rk_span {
    const rk_source *source;
    int32_t first;
    int32_t last;
} rk_span;

typedef enum {
#define RK_CODE(number, name, example) RK_##name = number,
#include "libcore/kernel/codes.def"
#undef RK_CODE
} rk_code;

typedef struct rk_unit rk_unit; /* one compilation */

/* Adds an error. message: what is wrong; cure: what to do (may be NULL). Errors beyond 20
 * are dropped and end the compilation at the next rk_stop_if_many. */
void rk_error(rk_unit *unit, rk_code code, rk_span at, const char *cure,
              const char *message, ...) RUBUS_PRINTF(5, 6);
/* Gives up when errors were dropped; long loops over a source call it. */
void rk_stop_if_many(rk_unit *unit);
/* Adds "FILE:L:C: note: ..." with its line and caret to the last error. */
void rk_note(rk_unit *unit, rk_span at, const char *message, ...) RUBUS_PRINTF(3, 4);
int32_t rk_error_count(const rk_unit *unit);
/* Leaves the compilation (longjmp) with what was collected. */
_Noreturn void rk_give_up(rk_unit *unit);
void rk_line_column(rk_span at, int32_t *out_line, int32_t *out_column); /* from 1, in
    code points */
/* "kernel.rk:3" for messages */
const char *rk_place(rk_unit *unit, rk_span at);
void *rk_new(rk_unit *unit, size_t nbyte); /* zeroed arena memory */
#define RK_NEW(unit, type) ((type *)rk_new((unit), sizeof(type)))
const char *rk_intern(rk_unit *unit, const char *s, int32_t n); /* equal names: equal
    pointers */
bool rk_is_interned(const rk_unit *unit, const char *s, int32_t n);

/* --- types and operations ---------------------------------------------------------- */

typedef enum { RK_VOID, RK_REAL, RK_INT, RK_BOOL } rk_type;

/* Operations of the language: operators and built-in functions, one list for the tree,
 * the passes, the emitters and the interpreter. X(name, spelling, operands). Operand
 * types are given by rk_apply in value.c. */
// clang-format off
#define RK_OP_LIST(X)                                                                    \
    X(NONE, "", 0)                                                                       \
    X(ADD, "+", 2)                                                                       \
    X(SUB, "-", 2)                                                                       \
    X(MUL, "*", 2) /* int or real */                                                     \
    X(DIV, "/", 2) /* real */                                                            \
    X(IDIV, "div", 2)                                                                    \
    X(FLD, "fld", 2)                                                                     \
    X(REM, "rem", 2)                                                                     \
    X(MOD, "mod", 2) /* int */                                                           \
    X(NEG, "-", 1)                                                                       \
    X(NOT, "!", 1) X(AND, "&&", 2) X(OR, "||", 2) X(EQ, "==", 2) X(NE, "!=", 2)          \
        X(LT, "<", 2) X(LE, "<=", 2) X(GT, ">", 2) X(GE, ">=", 2) X(SELECT, "?:", 3)     \
            X(MIN, "min", 2) X(MAX, "max", 2) /* ignore a NaN operand */                 \
        X(ABS, "abs", 1) X(SIGN, "sign", 1)   /* int or real; sign: x>0?1:x<0?-1:x */    \
        X(SQRT, "sqrt", 1) X(FLOOR, "floor", 1) X(CEIL, "ceil", 1)                       \
            X(ROUND, "round", 1) /* half away from zero */ X(TRUNC, "trunc", 1)          \
                X(FMA, "fma", 3) X(ISNAN, "isnan", 1) X(ISFINITE, "isfinite", 1)         \
                    X(LDEXP, "ldexp", 2) /* (real, int): x * 2^n, rounded once */        \
        X(FREXP, "frexp", 1) /* fraction in [0.5, 1) with x's sign; 0, inf, nan stay */  \
        X(EXPONENT, "exponent",                                                          \
          1) /* int e with x = frexp(x) * 2^e; 0 for 0, inf, nan */                      \
        X(TO_REAL, "real", 1) X(TO_INT, "int", 1) /* saturates, NaN is 0 */              \
        X(POWI, "^", 2)        /* real or int base, int exponent: by squaring */         \
        X(EXTENT, "extent", 2) /* per-point: extent(A, literal) */
// clang-format on
typedef enum {
#define RK_OP_ENUM_(name, spelling, operands) RK_OP_##name,
    RK_OP_LIST(RK_OP_ENUM_)
#undef RK_OP_ENUM_
        RK_OP_COUNT
} rk_op;
const char *rk_op_spelling(rk_op op);
int rk_op_operands(rk_op op);

/* --- value.c: the arithmetic of the language on constants, exact ------------------- */

typedef struct rk_numbers { /* how a module computes */
    bool f64;               /* real is double */
    bool int64;             /* int and index are 64 bits */
} rk_numbers;
typedef struct rk_value {
    rk_type type;
    union {
        double real; /* f32 modules: always a float's value */
        int64_t i;   /* wrapped to the module's width */
        bool b;
    } u;
} rk_value;
/* Result type of an operation on operand types, RK_VOID if the language has none. Int
 * operands become real where the language says so. RK_OP_EXTENT is not handled here. */
rk_type rk_op_type(rk_op op, rk_type a, rk_type b, rk_type c);
/* Type that the operands are converted to before the operation (RK_VOID: as they are). */
rk_type rk_op_operand_type(rk_op op, int operand, rk_type a, rk_type b, rk_type c);
rk_value rk_apply(const rk_numbers *numbers, rk_op op, rk_value a, rk_value b,
                  rk_value c);
rk_value rk_convert(const rk_numbers *numbers, rk_value v, rk_type to);

/* --- expressions ------------------------------------------------------------------- */

typedef struct rk_expr rk_expr;
typedef struct rk_decl rk_decl;

typedef enum {
    RK_EXPR_REAL, /* literal; text and value */
    RK_EXPR_INT,  /* literal; value (over 2^63-1 is an error of the lexer) */
    RK_EXPR_BOOL,
    RK_EXPR_NAME,   /* name; check sets decl */
    RK_EXPR_CALL,   /* name, arg[]; check sets op, or decl (func; op stays NONE) */
    RK_EXPR_INDEX,  /* a = base, sub[] */
    RK_EXPR_UNARY,  /* op (NEG, NOT; unary + leaves no node), a */
    RK_EXPR_BINARY, /* op, a, b; REM for '%'. '^' is POWER */
    RK_EXPR_POWER,  /* a ^ b; check sets op = POWI, or decl = func pow */
    RK_EXPR_SELECT, /* a ? b : c */
    RK_EXPR_RANGE,  /* only as argument of pad: first and last in value */
    RK_EXPR_TUPLE,  /* in a form: arg[], two or more */
    RK_EXPR_LABEL   /* in a form, as argument: name is the text of the string */
} rk_expr_kind;

typedef enum { RK_SUB_INDEX, RK_SUB_SLICE, RK_SUB_LIFT } rk_sub_kind;
typedef struct rk_sub {
    rk_sub_kind kind;
    rk_span at;
    rk_expr
        *lo; /* INDEX: the index; SLICE: bound or NULL. One that begins with a minus has
                    lo_end set and counts from the end: extent - lo. -(n+1) has n+1 as lo;
                    -n+1 has -(-n+1). Single indices of per-point code never have it */
    rk_expr *hi;
    bool lo_end;
    bool hi_end;
} rk_sub;

struct rk_expr {
    rk_expr_kind kind;
    rk_span at;
    rk_type type; /* set by check in per-point code */
    rk_op op;
    const char *name;
    rk_decl *decl;
    rk_expr *a;
    rk_expr *b;
    rk_expr *c;
    int32_t narg;
    int32_t nsub;
    rk_expr **arg;
    rk_sub *sub;
    union {
        double real; /* as double; rounded to the module's real by whoever uses it */
        int64_t i;
        bool b;
        int64_t range[2];
    } value;
    bool proven;      /* INDEX in per-point code: a launch proves that it stays inside */
    float real32;     /* REAL literals: the text rounded once to float */
    const char *text; /* REAL literals: as written */
};

/* --- statements -------------------------------------------------------------------- */

typedef enum {
    RK_STMT_BLOCK,  /* body[] */
    RK_STMT_LET,    /* name, value (whole-array kernels and ops) */
    RK_STMT_ASSIGN, /* target op= value; op NONE for '='; ++ is += 1, -- is -= 1 */
    RK_STMT_DECL,   /* decl (LOCAL), value or NULL */
    RK_STMT_IF,     /* cond, then, other */
    RK_STMT_WHILE,  /* cond, then */
    RK_STMT_FOR,    /* init (DECL or ASSIGN or NULL), cond or NULL, step or NULL, then */
    RK_STMT_BREAK,
    RK_STMT_CONTINUE,
    RK_STMT_RETURN, /* value or NULL */
    RK_STMT_ATOMIC  /* atomic_add(target, value) */
} rk_stmt_kind;

typedef struct rk_stmt rk_stmt;
struct rk_stmt {
    rk_stmt_kind kind;
    rk_span at;
    rk_op op;
    const char *name;
    rk_decl *decl;
    rk_expr *target;
    rk_expr *value;
    rk_expr *cond;
    rk_stmt *init;
    rk_stmt *step;
    rk_stmt *then;
    rk_stmt *other;
    int32_t nbody;
    rk_stmt **body;
};

/* --- declarations ------------------------------------------------------------------ */

typedef enum {
    RK_DECL_KERNEL,
    RK_DECL_OP,
    RK_DECL_FUNC,
    RK_DECL_PARAM,   /* of a kernel or func; arrays, scalars, results */
    RK_DECL_OPPARAM, /* of an op: rank only */
    RK_DECL_EXTENT,  /* a name used in extents */
    RK_DECL_INDEX,   /* an index of over (...) */
    RK_DECL_LOCAL,   /* scalar, or local array if length is set */
    RK_DECL_LET,
    RK_DECL_FORM,
    RK_DECL_FORMPARAM /* of a form: role */
} rk_decl_kind;

typedef enum {
    RK_ROLE_TRIAL,
    RK_ROLE_TEST,
    RK_ROLE_FIELD, /* a value at each point; axis >= 0: at each point of that axis */
    RK_ROLE_NUMBER /* real or int, as type says */
} rk_role;

typedef enum { RK_MODE_NONE, RK_MODE_IN, RK_MODE_OUT, RK_MODE_INOUT } rk_mode;

struct rk_decl {
    rk_decl_kind kind;
    rk_span at;       /* the name */
    const char *name; /* interned */
    int32_t number; /* PARAM: position; INDEX: 0..2; LOCAL: unique in its kernel or func;
                        EXTENT: its symbol in rk_work;
                        KERNEL, FUNC: unique in the unit */
    /* PARAM, LOCAL, func result */
    rk_type type;
    bool is_index; /* written `index`: an array of ints used as positions */
    rk_mode mode;
    int32_t rank; /* arrays 1..3; 0 scalar */
    bool has_brackets;
    rk_expr *extent[3]; /* NULL: blank */
    rk_expr *length;    /* LOCAL array: its length, a literal after check */
    int64_t length_value;
    bool is_result; /* `out real NAME` */
    rk_role role;   /* FORMPARAM */
    int32_t axis;   /* FORMPARAM: of `field NAME[x]`; -1: none */
    /* INDEX: its range, NULL: extent of the first array written */
    rk_expr *lo;
    rk_expr *hi;
    /* KERNEL, OP, FUNC, FORM */
    int32_t nparam;
    rk_decl **param;
    int32_t nindex; /* KERNEL: 0 whole-array; else per-point */
    rk_decl *index[3];
    int32_t nextent; /* KERNEL: names used in extents, filled by check */
    rk_decl **extent_decl;
    rk_stmt *body; /* KERNEL, FUNC, OP, FORM: a block; `op f(A) = e` is {return e;} */
    bool
        from_reduce; /* written as `reduce`: params plus a result named like the kernel */
    bool checked;    /* FUNC: body was checked; KERNEL, OP: by check, without error */
    bool checking;   /* FUNC: for finding recursion */
    bool acyclic;    /* FUNC: neither it nor what it calls calls itself */
    bool used;       /* FUNC: reached from a kernel of the user */
    int32_t ncall;   /* KERNEL (per-point), FUNC: the funcs that its body calls */
    rk_decl **call;
    /* FUNC, by func_measure.c when a plan meets it: expressions and operations in it and
     * in all it calls, levels of calls, no loops */
    bool measured;
    bool measuring; /* now; met again it calls itself, which was reported */
    bool straight;
    int32_t height;
    int64_t weight;
    int64_t nop;
    int32_t listed; /* number of the last rk_func_list that it was put into */
    /* OP, FUNC: the next of its bucket in rk_module.named, as declared */
    rk_decl *next_named;
};

typedef struct rk_module {
    const rk_source *source;
    int32_t nkernel;
    rk_decl **kernel; /* in source order, imports first */
    int32_t nop;
    rk_decl **op;
    int32_t nfunc;
    rk_decl **func;
    int32_t nform;
    rk_decl **form; /* the user's */
    /* module_names.c: ops and funcs by name, a table of nnamed lists (a power of two)
     * that was made when there were named_of declarations */
    int32_t nnamed;
    int32_t named_of;
    rk_decl **named;
} rk_module;

/* --- lexer.c ----------------------------------------------------------------------- */

typedef enum {
    RK_TOKEN_END,
    RK_TOKEN_NAME,
    RK_TOKEN_INT,
    RK_TOKEN_REAL,
    RK_TOKEN_STRING,
    RK_TOKEN_PUNCT,  /* op text in name, interned: "+=", "&&", "(" ... */
    RK_TOKEN_KEYWORD /* interned in name */
} rk_token_kind;
typedef struct rk_token {
    rk_token_kind kind;
    rk_span at;
    const char *name; /* NAME, PUNCT, KEYWORD; STRING: its contents */
    double real;
    float real32;
    int64_t i;
} rk_token;
/* The bytes from `first` to before `last` of a source as tokens (the last is END). Bad
 * bytes are errors and skipped. */
rk_token *rk_lex(rk_unit *unit, const rk_source *source, int32_t first, int32_t last,
                 int32_t *out_count);

/* --- parser.c ---------------------------------------------------------------------- */

/* Adds the declarations of a source to the unit's module, following imports. */
void rk_parse(rk_unit *unit, const rk_source *source);
/* Adds the declarations of a part of a source that stays. */
void rk_parse_part(rk_unit *unit, const rk_source *source, int32_t first, int32_t last);

/* --- library.c --------------------------------------------------------------------- */

/* Parses what the sources read so far can reach of the library's ops and funcs, and puts
 * it before their declarations in the unit's module. */
void rk_library_parse(rk_unit *unit);
typedef struct rk_library_name {
    const char *text; /* not ended by NUL */
    int32_t size;
    bool is_op;
} rk_library_name;
/* Names of all declarations of the library, in the order of its files. */
const rk_library_name *rk_library_names(rk_unit *unit, int32_t *out_count);

/* --- module_names.c ---------------------------------------------------------------- */

/* The first op or func with this (interned) name, whose list may hold other names too: go
 * on by next_named. */
rk_decl *rk_module_named(rk_unit *unit, const char *name);

/* --- print.c ----------------------------------------------------------------------- */

/* The module of the unit as canonical text (imports inlined; library ops and funcs that
 * the user's kernels reach included), such that parsing it again gives an equal tree.
 * First line: "// rk real=f64 index=i32 check=0 fast=0". marks: with comments that keep
 * the places of statements in the source they came from. */
void rk_print(rk_unit *unit, bool marks, rubus__text *out);
/* Its ops and funcs alone, without that line: what stands before kernels that call
 * them. */
void rk_print_called(rk_unit *unit, rubus__text *out);
void rk_print_expr(rk_unit *unit, const rk_expr *expr, rubus__text *out);
/* The ops and funcs of the user. */
void rk_print_own(rk_unit *unit, rubus__text *out);

/* --- origin.c ---------------------------------------------------------------------- */

typedef struct rk_cursor { /* a place whose line is known; zeroed at first */
    const rk_source *source;
    int32_t at;
    int32_t line;
} rk_cursor;
/* The comment line for a statement or declaration at that place of its source. The cursor
 * saves counting lines from the start each time. */
void rk_origin_write(rubus__text *out, rk_span at, rk_cursor *cursor);
/* Where a place comes from: by the last such comment before it in canonical text, else it
 * is the place itself. The name is cut to the room. */
void rk_origin(rk_span at, char *out_name, size_t room, int32_t *out_line);

/* --- check.c ----------------------------------------------------------------------- */

/* Checks all declarations of the user's sources: duplicate names, per-point kernels and
 * funcs completely (types, names, ranges), ops for unknown names. Whole-array kernel
 * bodies are checked by field.c. */
/* (named so because rk_check is a type of field.h) */
void rk_check_module(rk_unit *unit);
/* Looks up a func or built-in by name and argument types; reports errors itself. */
rk_decl *rk_find_func(rk_unit *unit, const char *name); /* user's first, then library */
rk_op rk_find_builtin(const char *name, int narg);      /* RK_OP_NONE if there is none */
/* Marks a func (and what it calls) as used and checks its body if that was not done. */
void rk_use_func(rk_unit *unit, rk_decl *func);

/* --- the unit ---------------------------------------------------------------------- */

/* Reads an imported file; path is relative to the importing source's folder. Fresh string
 * from rubus__alloc, or NULL with *out_reason a constant text. */
typedef char *(*rk_read_function)(void *user, const char *importer, const char *name,
                                  char **out_name, size_t *out_size,
                                  const char **out_reason);

struct rk_unit {
    rubus__arena *arena;
    rk_numbers numbers;
    bool check;
    bool fast;
    const struct rk_dialect *dialect; /* program.h; NULL: no text */
    rk_read_function read;
    void *read_user;
    rk_module module;
    int32_t nsource; /* all read so far, for "import once" */
    rk_source **source;
    int32_t nerror;
    int32_t nerror_dropped;
    rubus__text messages; /* freed by rk_compile */
    rubus__text draft;    /* being written: these outlive a longjmp from below */
    rubus__text body;
    void *leave;          /* jmp_buf of rk_compile */
    rubus_status status;  /* why it was left */
    int32_t import_depth; /* imports open now */
    int64_t budget;       /* steps left before K140 "too large"; guards all expansions */
    int32_t next_id;
    int32_t deepest;     /* nesting met so far, by parser and fields */
    int32_t call_height; /* levels of calls of funcs */
    int32_t func_list;   /* rk_func_lists made so far */
    void *names;         /* intern table */
    void *scratch;       /* of field.c / lower.c: see there */
};
/* Takes n steps from the budget; gives up with K140 at `at` when it is used up. */
void rk_spend(rk_unit *unit, int64_t n, rk_span at);
/* Steps that so many bytes cost: the budget bounds memory as well as time. */
#define RK_STEPS_OF(nbyte) (1 + (int64_t)(nbyte) / 12)

#endif
