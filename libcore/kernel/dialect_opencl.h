/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_DIALECT_OPENCL_H
#define RK_DIALECT_OPENCL_H
/*
 * What the files of dialect opencl share.
 *
 * Who compiles the text may define RK_BLOCKS as 1: each work-item then takes neighbouring
 * points of a row, which suits CPUs; else neighbours go to neighbouring work-items.
 */
#include "libcore/kernel/clike.h"

void rk_opencl_prelude(rk_c *c);

#endif
