/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_CLIKE_H
#define RK_CLIKE_H
/*
 * What the dialects that look like C share: c, glsl and opencl. The clike files write
 * values, expressions and statements of every one of them; what a language spells its
 * own way stands in its rk_target, or is a macro or function of its prelude (RK_INT(x),
 * rk_mod). The files of a dialect write entries, loops over points, and folds. Names in
 * the text: a array, s scalar, n symbol, d stride, r row offset, v value, b box, c
 * condition, q partials; each with the number of the thing, so that no name of a user
 * ever reaches the compiler.
 * Every piece of an expression is written closed in itself (a name, a literal, a call,
 * or in brackets), so pieces can be put together without a thought about precedence.
 */
#include "libcore/kernel/emit.h"

/* One version of a pass's text: which values have names, and where they are computed. */
typedef enum { RK_C_UNIFORM, RK_C_ROW, RK_C_POINT } rk_c_level;
typedef struct rk_c_version {
    bool interior;
    bool choice;   /* of region->choice, in the interior */
    int32_t *uses; /* [nnode]; 0: not in this version */
    int8_t *level; /* [nnode] rk_c_level */
    bool *named;   /* [nnode] */
} rk_c_version;

typedef struct rk_c_row { /* offset of one row of an array, for the present y and z */
    int32_t param;
    int32_t xdim; /* the dimension that runs with x, -1: none */
    rk_at at[3];  /* at[xdim]: what its offset adds beside a constant */
} rk_c_row;

typedef struct rk_c_temp { /* an expression that has a name: t + number */
    const rk_expr *expr;
    int32_t number;
} rk_c_temp;

typedef struct rk_c {
    rk_program *program;
    rk_unit *unit;
    const rk_kernel *kernel;
    const rk_entry *entry;
    const rk_pass *pass;
    rubus__text *out;
    int indent;
    const struct rk_target *target;
    const char *error; /* c: the error record as an expression: "err" or "0" */
    bool wide;         /* a literal needs 64 bits */
    uint64_t
        power[2]; /* exponents for which rk_power functions are wanted: 1..64, -1.. */
    int64_t inline_room; /* what is left of the budget for expanding calls; < 0: none */
    /* passes */
    const rk_region *region;
    rk_c_version *version;
    rk_c_row *row;
    int32_t nrow;
    int32_t row_room;
    int32_t *node_row;   /* [nnode] of loads */
    int32_t *action_row; /* [naction] of stores */
    /* per-point code */
    const rk_decl *body_of; /* the kernel or func */
    int32_t next_temp;
    int32_t next_label;
    int32_t loop_label; /* where `continue` goes; -1: it is C's own */
    rk_c_temp *temp;    /* deep expressions of the present statement */
    int32_t ntemp;
    int32_t temp_room;
} rk_c;

typedef struct rk_target {
    const char *boolean; /* type of conditions */
    const char *no;
    const char *yes;
    const char *big;  /* suffix of literals of 64 bits */
    const char *both; /* strict: "($0 & $1)" */
    const char *either;
    const char *func;     /* before a func */
    const char *straight; /* before one without loops, where there is room to expand it */
    const char *record;   /* parameter of funcs of checked programs; NULL: none */
    bool pointers; /* arrays are pointers, there is goto; else arrays are A0(offset), and
                    * the error record is global */
    void (*real)(rk_c *c, double x);
    void (*fold_take)(rk_c *c, const rk_action *fold, const char *lane);
} rk_target;

/* --- clike.c: lines, funcs --------------------------------------------------------- */

void rk_c_begin(rk_c *c); /* indentation */
void rk_c_add(rk_c *c, const char *fmt, ...) RUBUS_PRINTF(2, 3);
void rk_c_line(rk_c *c, const char *fmt, ...) RUBUS_PRINTF(2, 3);
void rk_c_open(rk_c *c, const char *fmt, ...) RUBUS_PRINTF(2, 3); /* line + " {" */
void rk_c_close(rk_c *c);

/* Funcs that the program calls, each after those it calls itself; sets inline_room. */
rk_func_list rk_c_find_funcs(rk_c *c);
/* Name of a func in the text, and the beginning of a call: "f3_exp(" */
void rk_c_func_name(rk_c *c, const rk_decl *func);
void rk_c_call_open(rk_c *c, const rk_decl *func);

/* Elements from one to the next along the second and third dimension of an array. */
void rk_c_write_strides(rk_c *c, const rk_slot *slot, const char *before);
/* The funcs, then each entry as c->entry, with its kernel and pass. */
void rk_c_write_body(rk_c *c, const rk_func_list *funcs,
                     void (*write_entry)(rk_c *c, int number));

/* --- clike_value.c: pieces of expressions -------------------------------------- */

/* One operand of an operation: a node of a pass or an expression of per-point code. */
typedef struct rk_c_part {
    const rk_ir *node;
    const rk_expr *expr;
    rk_type type;
    rk_type want; /* RK_VOID: as it is */
} rk_c_part;

const char *rk_c_type(const rk_c *c, rk_type type); /* of a value */
/* of an array; local: of one inside a kernel */
const char *rk_c_element(const rk_c *c, rk_type type, bool local);
/* Are its elements bytes that stand for conditions? */
bool rk_c_is_byte(const rk_c *c, rk_type type, bool local);
const char *rk_c_zero(const rk_c *c, rk_type type);
void rk_c_value(rk_c *c, rk_value value);
void rk_c_int(rk_c *c, int64_t i); /* of the module's int */
void rk_c_i64(rk_c *c, int64_t i);
/* 64-bit value of an affine expression: "(n0 - 2)" */
void rk_c_affine(rk_c *c, rk_affine a);
/* " + n0 - 2", or nothing where a is 0 */
void rk_c_plus(rk_c *c, rk_affine a);
void rk_c_part_write(rk_c *c, const rk_c_part *part);
/* op on its operands; lazy: && and || stop early. */
void rk_c_apply(rk_c *c, rk_op op, rk_type type, const rk_c_part *part, bool lazy);
/* True where the exponent is a literal: *out is it. */
bool rk_c_literal(const rk_c_part *part, int64_t *out);

/* --- clike_node.c: values of a pass -------------------------------------------- */

/* Numbers the rows that loads and stores of the pass refer to. */
void rk_c_find_rows(rk_c *c);
void rk_c_write_rows(rk_c *c);
/* "a0[r3 + x + 1]" */
void rk_c_write_element(rk_c *c, int32_t param, const rk_at *at, int32_t row);
/* Makes *version the present one. */
void rk_c_version_build(rk_c *c, rk_c_version *version, bool interior, bool choice);
/* The named values of one level, each after what it needs. */
void rk_c_write_values(rk_c *c, rk_c_level level);
void rk_c_write_when(rk_c *c, int32_t number);
void rk_c_node(rk_c *c, const rk_ir *node); /* operand: its name, or its expression */

/* The functions rk_power3 and so on that the text calls. */
void rk_c_powers(rk_c *c, const char *before);

/* --- clike_box.c: the boxes of a pass ---------------------------------------------- */

/* Around the sweep of a pass: makes its region and version the present ones, and writes
 * what is the same for all of its points. */
void rk_c_pass_begin(rk_c *c, rk_region *region, rk_c_version *version);
void rk_c_pass_end(rk_c *c);
/* At the beginning of a row: offsets into arrays, and which boxes it meets. */
void rk_c_write_row_head(rk_c *c);
/* xa and xb: the interior of the row from xlo to xhi; empty where it has none. */
void rk_c_write_interior_ends(rk_c *c);
/* Values and actions of a point; lane: where its folds go. */
void rk_c_write_interior_point(rk_c *c, const char *lane);
void rk_c_write_general_point(rk_c *c, const char *lane);
/* The interior, in two variants where a condition of the whole pass chooses: `write` once
 * for each. */
void rk_c_write_interiors(rk_c *c, void (*write)(rk_c *c, bool choice));

/* --- folds, in clike_fold.c -------------------------------------------------------- */

bool rk_c_is_pair(const rk_c *c, rk_fold_op op); /* sums of floats carry a second float */
const char *rk_c_join_name(rk_fold_op op);
void rk_c_fold_setup(rk_c *c); /* bounds of segments, before all loops */
void rk_c_fold_ends(rk_c *c);  /* xs, xlo, xhi of segment s */
void rk_c_fold_line(rk_c *c);  /* number of the row's line */

/* --- clike_grid.c, clike_grid_fold.c: grids of invocations -------------------------- */

void rk_grid_pass(rk_c *c);   /* sweep of a pass without folds */
void rk_grid_points(rk_c *c); /* sweep of a per-point kernel */
/* The points x, x + stride, ... of a row, below xhi; xa to xb is its interior. rows: that
 * has been done already for rows below `done`. */
void rk_grid_row(rk_c *c, bool rows);
/* Loops over the rows of an entry of this rank; id: "RK_ID" or "RK_GROUP". */
void rk_grid_rows_open(rk_c *c, int32_t rank, const char *id);
void rk_grid_rows_close(rk_c *c, int32_t rank);
void rk_grid_fold_take(rk_c *c, const rk_action *fold, const char *lane);
void rk_grid_tree(rk_c *c);
/* The sweep of a PASS entry: of a whole-array kernel, with folds or without. */
void rk_grid_sweep(rk_c *c);

/* --- dialect_c_pass.c, dialect_c_fold.c -------------------------------------------- */

void rk_c_pass(rk_c *c);
void rk_c_points(rk_c *c);
void rk_c_fold_take(rk_c *c, const rk_action *fold, const char *lane);
/* Lines of the folds of a pass. */
void rk_c_fold_begin(rk_c *c); /* lanes of a segment */
void rk_c_fold_end(rk_c *c);   /* lanes joined, partial stored */
void rk_c_tree(rk_c *c);       /* body of a TREE entry */

/* --- clike_point.c, clike_expr.c ------------------------------------------- */

void rk_c_point_body(rk_c *c); /* of the present x, y and z */
void rk_c_func(rk_c *c, const rk_decl *func);
/* Before the line of a statement: what is too deep in its expressions gets lines of its
   own, and a name that rk_c_expr then writes. */
void rk_c_settle(rk_c *c, const rk_expr *expr);
bool rk_c_is_deep(const rk_expr *expr);
void rk_c_expr(rk_c *c, const rk_expr *expr);
void rk_c_expr_as(rk_c *c, const rk_expr *expr, rk_type type);
/* The element of an INDEX as something to assign to: "a0[x + 1]"; offset: instead of what
 * the subscripts give, or NULL. */
void rk_c_element_of(rk_c *c, const rk_expr *index, const char *offset);
/* Must the subscripts be tested here? Then their offset, or -1, is rk_c_offset. */
bool rk_c_is_tested(const rk_c *c, const rk_expr *index);
void rk_c_offset(rk_c *c, const rk_expr *index);

/* --- dialect_c_prelude.c: the head of the text ------------------------------------- */

void rk_c_prelude(rk_c *c, bool folds, bool points);

#endif
