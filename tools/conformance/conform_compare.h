/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_CONFORM_COMPARE_H
#define RUBUS_CONFORM_COMPARE_H
/*
 * Runs kernels on the backend under test and on the interpreter, with the same arguments,
 * and compares everything that they may have written, to the bit (a NaN is a NaN).
 *
 * Arguments are made from the declarations in the text: extents are affine in nx, ny, nz
 * (also n, m for the first two); reals and ints are random; an int array whose name
 * begins with `p` holds positions of [0, nx).
 */
#include "conform.h"

typedef struct conform_pair {
    const char *text;
    int32_t real;
    int32_t index;
    rubus_context *context[2]; // under test, interpreter
    rubus_module *module[2];
} conform_pair;

/* Shapes and values of a run. */
typedef struct conform_case {
    int64_t n[3];
    uint64_t seed;
    bool special; // NaN, infinities, smallest and largest numbers among the reals
} conform_case;

enum { CONFORM_CHECKED = 1 }; // modules are built with bounds checks

/* Opens both contexts. */
void conform_pair_open(conform_pair *pair);
void conform_pair_close(conform_pair *pair);
/* Builds the text in both; what was built before goes. */
void conform_pair_build(conform_pair *pair, const char *text, int32_t real, int32_t index,
                        unsigned flags);
/* Runs the kernel in both. False, and what differs, where results or statuses do. */
bool conform_pair_same(conform_pair *pair, const char *kernel, const conform_case *c,
                       char *wrong, size_t room);
/* All kernels of the text, at several shapes, in f32 and (if the device has it) in f64;
 * fails at the first difference. */
void conform_compare(const char *text, int32_t index, unsigned flags);

#endif
