/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_INTERPRET_H
#define RK_INTERPRET_H
/*
 * Inside of the interpreter: what its files share. interpret.c takes a launch apart and
 * runs whole-array statements one by one, interpret_grids.c orders their fields,
 * interpret_array.c evaluates one field to an array, interpret_fold.c folds arrays to
 * results, interpret_point.c walks per-point code, interpret_race.c watches which points
 * touch which elements.
 */
#include "libcore/kernel/program.h"

typedef struct rk_machine rk_machine;
typedef struct rk_operand rk_operand;

/* --- elements: interpret.c -------------------------------------------------------- */

/* Elements lie in memory as in arrays: RUBUS_F32 ... RUBUS_BOOL. */
rk_value rk_element_get(int32_t type, const void *from);
/* v has the language's type of `type` already */
void rk_element_set(int32_t type, void *to, rk_value v);
rk_type rk_element_type(int32_t type);
int32_t rk_storage_type(const rk_numbers *numbers, rk_type type);
rk_value rk_zero(rk_type type);
/* op with its operands converted as the language says, the result as `type` */
rk_value rk_operate(const rk_numbers *numbers, rk_op op, rk_type type, rk_value a,
                    rk_value b, rk_value c);

/* --- fields as arrays: interpret_grids.c, interpret_array.c ----------------------- */

typedef struct rk_store { /* memory of a temporary, shared by views on it */
    int64_t nuse;
    double data[]; /* as strictly aligned as any element */
} rk_store;

/* A strided view on elements: of a temporary (store), of an array argument, or of `own`.
 * */
typedef struct rk_grid {
    int32_t type; /* RUBUS_* */
    int32_t rank;
    const char *base;
    int64_t stride[3];   /* bytes; 0 along dimensions that fit every size */
    int64_t n[3];        /* 1 along those */
    int64_t count;       /* product of n over rank; 1 for rank 0 */
    rk_store *store;     /* NULL: not ours */
    const rk_field *bad; /* the slice that left its field: the elements cannot be had */
    int32_t param;       /* array argument that base points into, or -1 */
    double own;          /* element of a rank-0 value */
} rk_grid;

typedef struct rk_grids
    rk_grids; /* all fields of a kernel, and the order to evaluate them */

rubus_status rk_grids_create(rk_machine *machine, rk_grids **out_grids);
void rk_grids_destroy(rk_grids *grids);
/* Copies the arrays that later statements take as they are before statement `item`. */
rubus_status rk_grids_snapshot(rk_grids *grids, int32_t item);
/* The value of `root`, the item's value or cond. Valid until the next call. */
rubus_status rk_grids_evaluate(rk_grids *grids, int32_t item, bool cond,
                               const rk_grid **out_grid);
/* Evaluates the value of a LET and keeps it, if any later statement uses it. */
rubus_status rk_grids_keep(rk_grids *grids, int32_t item);
/* Gives back what evaluating `item` left. */
void rk_grids_release(rk_grids *grids, int32_t item, bool cond);
/* A fresh array with the values of `from`. */
rubus_status rk_grid_copy(const rk_grid *from, rk_grid *out_grid);
void rk_grid_drop(rk_grid *grid);

/* --- results: interpret_fold.c ---------------------------------------------------- */

rubus_status rk_fold_grid(const rk_numbers *numbers, rk_fold_op op, const rk_grid *grid,
                          double *out_result);

/* --- races: interpret_race.c ------------------------------------------------------ */

typedef enum { RK_TOUCH_READ, RK_TOUCH_WRITE, RK_TOUCH_ADD } rk_touch;
typedef struct rk_shadow rk_shadow;

rubus_status rk_shadow_create(int64_t count, rk_shadow **out_shadow);
void rk_shadow_destroy(rk_shadow *shadow);
/* Notes that point number `point` (from 1) touches an element. 0, or the number of
 * another point that must not have touched it, and how that did. */
int64_t rk_shadow_touch(rk_shadow *shadow, int64_t element, int64_t point, rk_touch touch,
                        rk_touch *out_other);

/* --- per-point code: interpret_point.c, interpret_expr.c -------------------------- */

typedef struct rk_body { /* of a kernel or func: where its locals lie in a frame */
    const rk_decl *decl;
    int64_t ncell;
    int32_t nlocal;
    int64_t *offset; /* [nlocal], by rk_decl.number of the local; after the params */
} rk_body;

typedef struct rk_points {
    int32_t nbody;
    int32_t body_room;
    rk_body **body;
    const rk_body *frame; /* body that runs */
    rk_value *cell;       /* frames of the body that runs and of its callers */
    int64_t base;         /* of the running frame */
    int64_t top;
    int64_t room;
    int64_t at[3];   /* the point */
    int64_t number;  /* of the point, from 1; 0: none runs */
    rk_value result; /* of `return` */
} rk_points;

rubus_status rk_points_run(rk_machine *machine);
/* Value of a func; on failure machine->status is set and the value is 0. */
rk_value rk_points_call(rk_machine *machine, const rk_decl *func, const rk_value *arg);
void rk_points_fini(rk_points *points);

/* In two steps: opens a frame above all others for the arguments, then runs it. */
bool rk_frame_open(rk_machine *machine, const rk_decl *func, const rk_body **out_body,
                   int64_t *out_base);
rk_value rk_frame_run(rk_machine *machine, const rk_body *body, int64_t base);

/* An element or variable that an expression names. */
typedef struct rk_spot {
    rk_operand *array; /* NULL: a local */
    rk_decl *decl;
    int64_t element; /* of the array; or cell of the frames */
    rk_type type;
} rk_spot;

/* These set machine->status where they fail, and give false or 0 then. */
rk_value rk_evaluate(rk_machine *machine, const rk_expr *expr);
bool rk_locate(rk_machine *machine, const rk_expr *target, rk_spot *out_place);
rk_value rk_spot_read(rk_machine *machine, const rk_spot *place, rk_span at,
                      rk_touch touch);
void rk_spot_write(rk_machine *machine, const rk_spot *place, rk_span at, rk_touch touch,
                   rk_value v);

/* --- one launch ------------------------------------------------------------------- */

struct rk_operand { /* a parameter as the launch gives it */
    char *base;     /* arrays and results */
    int32_t type;   /* RUBUS_* of element or scalar */
    int32_t rank;
    int64_t n[3];
    int64_t count;
    rk_value value;    /* scalars */
    rk_shadow *shadow; /* arrays that a checked per-point kernel writes */
};

struct rk_machine {
    const rk_program *program;
    const rk_kernel *kernel;
    const rk_numbers *numbers;
    const char *block;
    int64_t *symbol;     /* [nsymbol] */
    rk_operand *operand; /* [nparam] */
    int64_t lo[3];
    int64_t hi[3];
    rubus_status status; /* first failure of per-point code */
    rk_points points;
};

/* Value of an affine expression of symbols, wrapped to the program's int. */
int64_t rk_machine_affine(const rk_machine *machine, rk_affine a);
/* "kernel.rk:3: kernel `k`: " + text as the error text */
rubus_status rk_machine_fail(const rk_machine *machine, rubus_status st, rk_span at,
                             const char *fmt, ...) RUBUS_PRINTF(4, 5);

#endif
