/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_DIALECT_GLSL_H
#define RK_DIALECT_GLSL_H
/*
 * What the files of dialect glsl share.
 *
 * The text holds all entries; who compiles it defines RK_ENTRY as the number of the one
 * that becomes `main`, RK_WIDE as 1 where offsets need 64 bits (else 0), and
 * RK_DESCRIPTORS as 1 where arrays come as descriptors, 0 where they come as addresses.
 * Array a0 is reached through the macro A0(offset) alone. Parameters are globals, read
 * out of the argument block at the beginning of main.
 */
#include "libcore/kernel/clike.h"

void rk_glsl_prelude(rk_c *c, bool fma);
void rk_glsl_pass(rk_c *c);   /* sweep of a pass without folds */
void rk_glsl_points(rk_c *c); /* sweep of a per-point kernel */
void rk_glsl_fold_take(rk_c *c, const rk_action *fold, const char *lane);
void rk_glsl_fold_pass(rk_c *c);
void rk_glsl_tree(rk_c *c);
/* The points x, x + stride, ... of a row, below xhi; xa to xb is its interior. rows: that
 * has been done already for rows below `done`. */
void rk_glsl_row(rk_c *c, bool rows);
/* Loops over the rows of an entry of this rank, by workgroups or by invocations. */
void rk_glsl_rows_open(rk_c *c, int32_t rank, const char *id, const char *count);
void rk_glsl_rows_close(rk_c *c, int32_t rank);

/* dialect_glsl_fma.c: rk_fma, rounded once, in integer operations */
extern const char rk_glsl_fma_f32[];
extern const char rk_glsl_fma_f64[];

#endif
