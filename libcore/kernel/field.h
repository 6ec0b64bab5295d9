/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_FIELD_H
#define RK_FIELD_H
/*
 * Affine integer expressions over the symbols of a kernel, and whole-array statements as
 * fields: typed values with shapes, ops expanded, still without any order of execution.
 */
#include "libcore/kernel/tree.h"

/* --- affine.c --------------------------------------------------------------------- */

typedef enum {
    RK_SYMBOL_EXTENT, /* a name of extents */
    RK_SYMBOL_BLANK,  /* extent `dim` of array parameter `param`, written as a blank */
    RK_SYMBOL_SCALAR, /* int scalar parameter `param` */
    RK_SYMBOL_OPAQUE  /* an int expression of the others, not affine (div, min ...) */
} rk_symbol_kind;

typedef struct rk_symbol {
    rk_symbol_kind kind;
    const char *name; /* for messages: "nx", "u.x", "k", "div(nx, 2)" */
    int32_t param;    /* EXTENT: the array and dimension it is solved from */
    int32_t dim;
    const struct rk_field *expr; /* OPAQUE: rank-0 int field of lower-numbered symbols */
} rk_symbol;

typedef struct rk_term {
    int32_t symbol;
    int32_t reserved0;
    int64_t coef; /* not 0 */
} rk_term;
/* constant + sum of coef * symbol; terms by ascending symbol. Immutable; arena memory. */
typedef struct rk_affine {
    int64_t constant;
    int32_t nterm;
    int32_t reserved0;
    const rk_term *term;
} rk_affine;

rk_affine rk_affine_int(int64_t constant);
rk_affine rk_affine_symbol(rk_unit *unit, int32_t symbol);
/* a + k * b; saturates and spends K140 on overflow */
rk_affine rk_affine_add(rk_unit *unit, rk_affine a, int64_t k, rk_affine b);
rk_affine rk_affine_scale(rk_unit *unit, rk_affine a, int64_t k);
bool rk_affine_equal(rk_affine a, rk_affine b);
bool rk_affine_is_const(rk_affine a, int64_t *out); /* out may be NULL */
/* Sign when extents are >= 0 and anything else is unknown: 1 if always > 0, 0 if always
 * >= 0, -1 if not known to be >= 0. Only EXTENT and BLANK symbols count as >= 0. */
int rk_affine_sign(const rk_symbol *symbols, rk_affine a);
/* "nx-2", "2*n+1", "0" */
const char *rk_affine_text(rk_unit *unit, const rk_symbol *symbols, rk_affine a);
/* Value; false if it does not fit 64 bits. */
bool rk_affine_eval(rk_affine a, const int64_t *values, int64_t *out);

/* --- field.c ---------------------------------------------------------------------- */

typedef enum {
    RK_FIELD_CONST,  /* value */
    RK_FIELD_SCALAR, /* scalar parameter `param` */
    RK_FIELD_SYMBOL, /* int value of an affine expression of symbols: `affine` */
    RK_FIELD_ARRAY,  /* whole array parameter `param`, as it is before statement `when` */
    RK_FIELD_SLICE,  /* a, with `sub` per dimension of a */
    RK_FIELD_LIFT,   /* a, with dimensions inserted where lift[d] is set */
    RK_FIELD_PAD,    /* a extended by before[d], after[d] cells of value b (rank 0) */
    RK_FIELD_COORD,  /* int position along `axis` */
    RK_FIELD_APPLY,  /* op on a, b, c, point by point; rank-0 operands spread */
    RK_FIELD_CALL    /* func on arg[], point by point; rank-0 operands spread */
} rk_field_kind;

typedef struct rk_field_sub {
    bool keep; /* slice: element i of the result is element i + lo; else index: lo */
    rk_affine lo;
} rk_field_sub;

typedef struct rk_field rk_field;
struct rk_field {
    rk_field_kind kind;
    int32_t id; /* unique in the unit: memo key */
    rk_span at;
    rk_type type;
    int32_t rank;
    rk_affine size[3]; /* per dimension; not meaningful where any[d] */
    bool any[3];       /* a lifted dimension: fits every size */
    rk_op op;
    rk_decl *func;
    rk_value value;
    rk_affine affine;
    int32_t param;
    int32_t when; /* ARRAY: number of the statement (0-based) that takes the value */
    int32_t axis;
    bool lift[3];
    int64_t before[3];
    int64_t after[3];
    rk_field_sub sub[3];
    rk_field *a;
    rk_field *b;
    rk_field *c;
    int32_t narg;
    rk_field **arg;
};

typedef enum { RK_FOLD_SUM, RK_FOLD_MAX, RK_FOLD_MIN } rk_fold_op;

typedef enum { RK_ITEM_LET, RK_ITEM_ASSIGN, RK_ITEM_RESULT } rk_item_kind;
/* One statement of a whole-array kernel. */
typedef struct rk_item {
    rk_item_kind kind;
    rk_span at;
    const char *name; /* LET */
    rk_field *cond;   /* rank-0 bool of scalars, or NULL; nested ifs are joined by && */
    rk_field *value;  /* ASSIGN: the new value, += and so on already applied */
    int32_t param;    /* ASSIGN: array written; RESULT: result parameter */
    rk_fold_op fold;  /* RESULT */
    /* ASSIGN: target[d] says which element of the array statement point p writes: keep:
     * the next axis of the statement plus lo; else the fixed index lo. */
    rk_field_sub target[3];
    int32_t rank;      /* of the statement */
    rk_affine size[3]; /* its box is [0, size) */
} rk_item;

/* A condition that a launch must fulfil. */
typedef enum { RK_CHECK_EQUAL, RK_CHECK_LARGE } rk_check_kind;
typedef struct rk_check {
    rk_check_kind kind;
    rk_span at;
    rk_affine a; /* EQUAL: a == b (shapes of blanks); LARGE: a >= 0, rule 6 */
    rk_affine b;
    const char *message; /* "extents of `u` and `v` along x must be equal" */
} rk_check;

/* A kernel after check and field: what plan.c, layout and interpret.c start from. */
typedef struct rk_work {
    rk_unit *unit;
    rk_decl *decl;
    int32_t nsymbol;
    rk_symbol *symbol;
    int32_t nitem; /* whole-array kernels */
    rk_item *item;
    int32_t ncheck;
    rk_check *check;
    /* declared extents of the array parameters; blanks are symbols */
    rk_affine (*extent)[3]; /* [nparam] */
    rk_affine range_lo[3];  /* per-point kernels: the default range */
    rk_affine range_hi[3];
} rk_work;

/* Builds the work of a kernel of the module. NULL if it has errors (reported). The
 * kernel's symbols: all extents names (solvable from some array dimension, else an
 * error), blanks, int scalars, opaque expressions, in an order in which each depends on
 * earlier ones. */
rk_work *rk_work_build(rk_unit *unit, rk_decl *kernel);
int32_t rk_work_add_check(rk_work *work, rk_check check);
/* Int expression over extents and int scalars (per-point ranges, slice bounds) as affine;
 * makes OPAQUE symbols where needed; reports errors and returns 0. */
rk_affine rk_work_affine(rk_work *work, const rk_expr *expr);

#endif
