/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_FIELD_BUILD_H
#define RK_FIELD_BUILD_H
/*
 * What the files of the field builder share: one builder for each kernel, which lives as
 * long as the kernel's work. A NULL field stands for an error that was reported.
 */
#include "libcore/kernel/check.h"

/* Height of a tree of fields, and rules nested while one is built. */
enum { RK_FIELD_DEPTH_MAX = 5000 };

/* A field with what only its builder needs. Every field of a builder is one. */
typedef struct rk_node {
    rk_field field; /* first */
    int32_t depth;
    bool reads;  /* some array is read below it */
    bool hosted; /* made of constants, extents and int scalars by operations only */
} rk_node;

typedef struct rk_active_op {
    rk_decl *op;
    rk_span at; /* of the call */
} rk_active_op;

typedef struct rk_builder {
    rk_work work; /* first: rk_work_affine finds the builder by it */
    rk_unit *unit;
    rk_scope scope;
    int32_t depth;
    rk_active_op *active; /* ops being expanded, outermost first */
    int32_t nactive;
    int32_t active_room;
    int32_t symbol_room; /* of work.symbol, once it has grown */
    rk_span *result;     /* [nparam] where a result was assigned; source NULL: nowhere */
    rk_field *cond;      /* of the ifs around */
    int32_t nif;
    bool reads_out;   /* some `out` array is read: field_region.c has work */
    int32_t first_id; /* of the builder's fields */
    int32_t *visited; /* of field_region.c, by id - first_id */
} rk_builder;

/* An operand: its value and where it is written. */
typedef struct rk_operand_of {
    rk_field *field;
    rk_span at;
} rk_operand_of;

/* --- field.c ------------------------------------------------------------------------ */

/* With the symbols and names of the kernel's header; NULL: reported. */
rk_builder *rk_builder_new(rk_unit *unit, rk_decl *kernel);

/* --- field_make.c: fields from fields ----------------------------------------------- */

/* Reports an error of a field: at the user's place if the text is an op's. */
void rk_field_error(rk_builder *b, rk_code code, rk_span at, const char *cure,
                    const char *message, ...) RUBUS_PRINTF(5, 6);
/* The outermost call of an op around `at`, or `at`; the ops in between as notes. */
rk_span rk_user_place(const rk_builder *b, rk_span at);
void rk_note_ops(rk_builder *b, rk_span at);
rk_field *rk_field_new(rk_builder *b, rk_field_kind kind, rk_type type, rk_span at);
/* Notes that `child` is below `field`; false if the tree is too high (reported). */
bool rk_field_adopt(rk_builder *b, rk_field *field, const rk_field *child);
bool rk_field_reads(const rk_field *field);
bool rk_field_hosted(const rk_field *field);
void rk_field_shape_as(rk_field *field, const rk_field *shape);
rk_field *rk_make_const(rk_builder *b, rk_value value, rk_span at);
rk_field *rk_make_symbol(rk_builder *b, rk_affine affine, rk_span at);
rk_field *rk_make_array(rk_builder *b, int32_t param, rk_span at);
rk_field *rk_make_real(rk_builder *b, rk_field *field); /* int to real */
/* field as type `to`: only int becomes real; else reported with `what`. */
rk_field *rk_make_store(rk_builder *b, rk_field *field, rk_type to, rk_span at,
                        const char *what);
rk_field *rk_make_apply(rk_builder *b, rk_span at, rk_op op, rk_operand_of x,
                        rk_operand_of y, rk_operand_of z);
rk_field *rk_make_call(rk_builder *b, rk_span at, rk_decl *func, rk_field **arg,
                       const rk_span *arg_at);

/* --- field_shape.c: shapes ---------------------------------------------------------- */

/* "[nx, ny-2]"; "a scalar" */
const char *rk_shape_text(rk_builder *b, const rk_field *field);
/* Joins the shape of `next` into the one that `field` has so far; from: the operand that
 * gave it. False if they differ (reported as operands of `what`). */
bool rk_shape_join(rk_builder *b, rk_field *field, rk_operand_of from, rk_operand_of next,
                   rk_span at, const char *what);
/* Whether a value fits the left side of an assignment; reports what does not. */
bool rk_shape_fits(rk_builder *b, rk_operand_of target, rk_operand_of value, rk_span at);

/* --- field_expr.c: expressions ------------------------------------------------------ */

rk_field *rk_build_expr(rk_builder *b, const rk_expr *e);

/* --- field_sub.c: subscripts -------------------------------------------------------- */

rk_field *rk_build_index(rk_builder *b, const rk_expr *e);
/* A rank-0 int field as affine expression; what is not affine becomes a symbol. */
bool rk_build_affine(rk_builder *b, const rk_expr *e, rk_affine *out);

/* --- field_op.c: calls -------------------------------------------------------------- */

rk_field *rk_build_call(rk_builder *b, const rk_expr *e);
/* pad, ix, iy, iz, extent */
rk_field *rk_build_special(rk_builder *b, const rk_expr *e);
bool rk_is_special(const char *name);

/* --- field_statement.c -------------------------------------------------------------- */

void rk_build_body(rk_builder *b, const rk_stmt *body);
/* Results never assigned, kernels that write nothing. */
void rk_build_end(rk_builder *b);

/* --- field_region.c: elements of `out` arrays that are read ------------------------- */

void rk_check_out_reads(rk_builder *b, const rk_item *item);

#endif
