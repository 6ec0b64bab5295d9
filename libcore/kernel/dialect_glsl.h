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
/* dialect_glsl_fma.c: rk_fma, rounded once, in integer operations */
extern const char rk_glsl_fma_f32[];
extern const char rk_glsl_fma_f64[];

#endif
