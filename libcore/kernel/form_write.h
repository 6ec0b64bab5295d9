/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_FORM_WRITE_H
#define RK_FORM_WRITE_H
/*
 * Writing a kernel of a form: expressions as text in the arena, statements one after the
 * other, and the parameters that they turn out to need.
 */
#include "libcore/kernel/check.h"
#include "libcore/kernel/form_tree.h"

typedef struct rk_writer {
    rk_form *form;
    rk_unit *unit;
    const rk_form_fix *fix;
    rubus__text *body;
    int32_t ndim;     /* of the points; 1 for tables */
    bool line;        /* tables are written */
    const char *mesh; /* an array on the mesh, for its points; whole-array kernels */
    int32_t nparam;
    rk_leaf *param;
    const char **mode;    /* [nparam] "in", "out", "inout"; "" for scalars */
    const char *index[3]; /* of per-point kernels */
    const char *over;     /* their range; NULL: the points of the mesh */
    /* The text is for points away from the ends of the axes: what asks for that alone is
     * not written, but `index >= low` and `index < points - high` is noted. */
    bool inside;
    int64_t low[3];
    int64_t high[3];
    rubus__text *inner; /* for such text */
    int32_t nlet;       /* leaves that are lets in this kernel and no parameters */
    const char **let_name;
} rk_writer;

/* --- form_text.c ------------------------------------------------------------------- */

const char *rk_write(rk_writer *w, const char *format, ...) RUBUS_PRINTF(2, 3);
/* The name of a parameter, which the kernel has from now on. */
const char *rk_write_leaf(rk_writer *w, const rk_leaf *leaf, const char *mode);
const char *rk_write_own(rk_writer *w, rk_leaf_kind kind, int32_t number, int32_t axis,
                         const char *mode);
/* A tree as a field on the mesh, 0 where it reads nothing. axes: those along which the
 * text has a size. */
const char *rk_write_field(rk_writer *w, const rk_ir *node, uint32_t *axes);
/* A tree at the point `index` less `offset`, in per-point code. */
const char *rk_write_point(rk_writer *w, const rk_ir *node, const char *const index[3],
                           const int32_t offset[3]);
/* Notes how far away from the ends of an axis the text must stand. */
void rk_write_away(rk_writer *w, int32_t axis, int64_t low, int64_t high);
/* Whether masks are read in a coefficient, and when it is there, in per-point code. */
bool rk_write_masked(const rk_form *form, const rk_ir *node);
const char *rk_write_present(rk_writer *w, const rk_ir *node, const char *const index[3],
                             const int32_t offset[3]);
/* An expression of the form as it is written. */
const char *rk_write_expr(rk_writer *w, const rk_expr *e);
/* A field on the mesh (a name or a text in brackets) at the point less `offset`;
 * `outside` where that is off the grid. */
const char *rk_write_moved(rk_writer *w, const char *field, const int32_t offset[3],
                           const char *outside);
/* An array of an axis as a field. */
const char *rk_write_line(rk_writer *w, const rk_leaf *leaf);
/* The weight of a term. */
const char *rk_write_weight(rk_writer *w, const rk_form_term *term);
uint32_t rk_fix_faces(const rk_writer *w, int32_t component); /* 0: none, or a mask */
bool rk_fix_masked(const rk_writer *w, int32_t component);

/* --- form_array.c, form_fill.c, form_scatter.c: bodies of kernels ------------------ */

void rk_write_apply(rk_writer *w);
void rk_write_product(rk_writer *w, rk_form_kernel *out);
void rk_write_vector(rk_writer *w);
void rk_write_value(rk_writer *w);
void rk_write_entries(rk_writer *w, rk_form_job job, rk_form_kernel *out);
void rk_write_rows(rk_writer *w, rk_form_job job);
void rk_write_scatter(rk_writer *w, rk_form_job job, rk_form_kernel *out);
/* A table as a statement writes it. */
const char *rk_write_table(rk_writer *w, const rk_table *table);
void rk_write_tables(rk_writer *w);
/* sum + one, or - one; sum NULL: none yet. */
const char *rk_write_sum(rk_writer *w, const char *sum, bool negative, const char *one);

#endif
