/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_FORM_VALUE_H
#define RK_FORM_VALUE_H
/*
 * What an expression of a form stands for, once the mesh is known: plain expressions of
 * the language over the leaves of the form, tuples of them, and sums of terms.
 */
#include "libcore/kernel/check.h"
#include "libcore/kernel/form_tree.h"

typedef enum { RK_VALUE_EXPR, RK_VALUE_TUPLE, RK_VALUE_TERMS } rk_value_kind;
typedef enum { RK_KIND_NUMBER, RK_KIND_LINE, RK_KIND_FIELD } rk_rank_kind;

enum { /* what an expression uses */
       RK_USES_TRIAL = 1,
       RK_USES_TEST = 2,
       RK_WHOLE_TRIAL = 4, /* without a component, of a space that has several */
       RK_WHOLE_TEST = 8,
       RK_PART_TRIAL = 16, /* by component, of such a space */
       RK_PART_TEST = 32
};

typedef struct rk_form_value {
    rk_value_kind kind;
    rk_span at;
    rk_expr *expr;      /* EXPR */
    uint32_t uses;      /* EXPR; TUPLE: of its entries */
    rk_rank_kind rank;  /* EXPR; LINE: an array of one axis among several */
    bool full;          /* EXPR: has a size along all axes */
    const rk_decl *all; /* the trial or test function itself: its parameter */
    int32_t n;          /* TUPLE: entries; TERMS: terms */
    struct rk_form_value **item;
    rk_form_term *term;
} rk_form_value;

typedef struct rk_form_bound {
    const char *name;
    rk_form_value *value;
} rk_form_bound;

typedef struct rk_form_reader {
    rk_form *form;
    rk_unit *unit;
    rk_form_bound *bound;
    int32_t nbound;
    int32_t bound_room;
    int32_t floor; /* names before it are out of sight */
    rk_decl **active;
    int32_t nactive;
    int32_t active_room;
    int32_t depth;
} rk_form_reader;

/* --- form_value.c: NULL values were reported --------------------------------------- */

rk_form_value *rk_form_read(rk_form_reader *r, const rk_expr *e);
/* The value of a form whose parameters are bound. */
rk_form_value *rk_form_read_body(rk_form_reader *r, rk_decl *form);
void rk_form_bind(rk_form_reader *r, const char *name, rk_form_value *value);
rk_form_value *rk_form_value_new(rk_form_reader *r, rk_value_kind kind, rk_span at);
/* An expression node like `model` over operands, entry by entry over tuples. */
rk_form_value *rk_form_map(rk_form_reader *r, const rk_expr *model,
                           rk_form_value **operand, int32_t n);

/* --- form_operator.c, form_product.c ----------------------------------------------- */

/* Calls of operators, their arguments read. */
rk_form_value *rk_form_operator(rk_form_reader *r, const rk_expr *e, const rk_word *word,
                                rk_form_value **arg);
/* Restrictions and inner products: they may end with labels. */
rk_form_value *rk_form_product(rk_form_reader *r, const rk_expr *e, const rk_word *word);
rk_form_value *rk_form_no_axis(rk_form_reader *r, rk_span at, int32_t axis);
/* + - * / and unary minus where an operand is a sum of terms. */
rk_form_value *rk_form_sum(rk_form_reader *r, const rk_expr *e, rk_form_value **operand,
                           int32_t n);
/* Expressions for leaves. */
rk_expr *rk_leaf_expr(rk_form_reader *r, const rk_leaf *leaf, rk_span at);
/* A rank-1 array of an axis as a field of any size along the others. */
rk_expr *rk_line_expr(rk_form_reader *r, rk_expr *array, int32_t axis);
rk_expr *rk_expr_node(rk_unit *unit, rk_expr_kind kind, rk_op op, rk_span at, rk_expr *a,
                      rk_expr *b, rk_expr *c);
rk_expr *rk_expr_int(rk_unit *unit, int64_t value, rk_span at);
rk_expr *rk_expr_call(rk_unit *unit, const char *name, rk_span at, int32_t narg,
                      rk_expr **arg);

#endif
