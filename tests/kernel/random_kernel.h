/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_RANDOM_KERNEL_H
#define RUBUS_TESTS_RANDOM_KERNEL_H
/*
 * Random kernels that are valid by construction: the same seed gives the same kernel. A
 * kernel is a list of parameters and a tree of statements; statements can be dropped, so
 * that a failing kernel can be made smaller. random_kernel.c holds the frame, and
 * random_field.c and random_point.c write whole-array and per-point kernels.
 */
#include "libcore/kernel/tree.h"

// clang-format off
/* What a kernel may contain beside the operations of RK_OP_LIST. */
#define RANDOM_FEATURE_LIST(X) \
    X(LET) X(OLD_VALUE) X(SET) X(SET_ADD) X(SET_SUB) X(SET_MUL) X(SET_DIV) \
    X(SET_REM) X(SET_SLICE) X(SET_OP) X(SET_THIN) X(SLICE) X(SLICE_TO_EXTENT) \
    X(SLICE_OF_VALUE) X(FIXED) X(FIXED_BY_SCALAR) X(LIFT) X(PAD) X(PAD_SOME) \
    X(COORDINATE) X(IF) X(ELSE) X(LIBRARY_OP) X(USER_OP) X(FUNC) X(MATH) \
    X(REAL_POWER) X(FOLD_SUM) X(FOLD_MAX) X(FOLD_MIN) X(INT_ARRAY) X(BOOL_ARRAY) \
    X(BLANK) X(EXTENT_NAME) X(INT_MEETS_REAL) X(NESTED_OP) X(DIM_1) X(DIM_2) \
    X(DIM_3) X(SMALL_SIZE) X(LONG_LINE) X(POINT_SET) X(POINT_DECL) X(POINT_ARRAY) \
    X(POINT_IF) X(POINT_ELSE) X(POINT_FOR) X(POINT_WHILE) X(POINT_BREAK) \
    X(POINT_CONTINUE) X(POINT_RETURN) X(POINT_STEP) X(POINT_ATOMIC) X(POINT_GATHER) \
    X(POINT_GUARD) X(POINT_HIDE) X(POINT_EXTENT) X(POINT_RANGE) \
    X(POINT_DEFAULT_RANGE) X(POINT_OFFSET)
// clang-format on
#define RANDOM_FEATURE_ENUM_(name) RANDOM_##name,
typedef enum {
    RANDOM_FEATURE_LIST(RANDOM_FEATURE_ENUM_) RANDOM_FEATURE_COUNT
} random_feature;
#undef RANDOM_FEATURE_ENUM_
const char *random_feature_name(int feature);

enum { RANDOM_MAX_PARAM = 20 };

typedef enum { RANDOM_ARRAY, RANDOM_SCALAR, RANDOM_RESULT } random_param_kind;

typedef struct random_param {
    const char *name;
    random_param_kind kind;
    rk_type type;
    rk_mode mode;
    bool is_index; /* ints of [0, n[axis[0]]) of the kernel */
    bool blank;    /* extents are written as blanks */
    int rank;
    int axis[3]; /* extent d is n[axis[d]] + off[d] of the kernel */
    int off[3];
    int64_t integer; /* int and bool scalars */
    double real;     /* real scalars */
} random_param;

typedef struct random_statement random_statement;
struct random_statement {
    const char *text; /* whole statement, or what stands before a body */
    bool has_body;
    bool has_other;
    bool pinned; /* must stay: a loop would not end without it */
    bool dropped;
    random_statement *next;
    random_statement *body;
    random_statement *other;
};

typedef struct random_kernel {
    rubus__arena *arena;
    uint64_t seed;
    const char *name;
    const char *over; /* "" or " over (...)" */
    int ndim;
    int64_t n[3];
    int nparam;
    random_param param[RANDOM_MAX_PARAM];
    random_statement *body;
    int feature[RANDOM_FEATURE_COUNT]; /* times used */
    int op[RK_OP_COUNT];
} random_kernel;

random_kernel *random_kernel_create(uint64_t seed);
void random_kernel_destroy(random_kernel *kernel);
/* The kernel alone, as text from rubus__alloc; the prelude must stand before it. */
char *random_kernel_print(const random_kernel *kernel);
/* Ops and funcs that random kernels use. */
const char *random_prelude(void);
int64_t random_extent(const random_kernel *kernel, int param, int dim);
/* Statements in order, those in bodies included; NULL past the last. */
random_statement *random_statement_at(const random_kernel *kernel, int number);

/* --- for the writers of kernels --------------------------------------------------- */

typedef struct random_state {
    uint64_t state;
    random_kernel *kernel;
} random_state;

uint64_t random_next(random_state *r);
/* Uniform in [0, n). */
int random_below(random_state *r, int n);
/* True once in n. */
bool random_once_in(random_state *r, int n);
void random_use(random_state *r, random_feature feature);
const char *random_op(random_state *r, rk_op op); /* its spelling, counted as used */
/* A real literal without sign, and an int one. */
const char *random_real(random_state *r);
const char *random_int(random_state *r);
random_param *random_add_param(random_state *r, random_param_kind kind, rk_type type,
                               rk_mode mode);
random_statement *random_add_statement(random_state *r, random_statement ***at,
                                       const char *text);

/* A piece of text that is an expression, and how tightly it binds. */
enum {
    RANDOM_SELECT = 1,
    RANDOM_OR,
    RANDOM_AND,
    RANDOM_COMPARE,
    RANDOM_SUM,
    RANDOM_PRODUCT,
    RANDOM_UNARY,
    RANDOM_POWER,
    RANDOM_POSTFIX
};
/* The text, in parentheses if it binds looser than `level`, and sometimes without need.
 * */
const char *random_wrap(random_state *r, const char *text, int has, int level);

/* One choice of operation for a type, as text over operands that are made by a callback.
 * Fills *out_level. Returns NULL if the choice is none that works point by point. */
typedef const char *(*random_operand)(void *user, rk_type type, int *out_level);
const char *random_pointwise(random_state *r, rk_type type, random_operand operand,
                             void *user, int *out_level);

void random_write_field_kernel(random_state *r);
void random_write_point_kernel(random_state *r);

#endif
