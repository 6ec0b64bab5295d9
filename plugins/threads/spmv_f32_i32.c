/* SPDX-License-Identifier: Apache-2.0 */
/* Products of sparse matrices with values of f32 and indices of i32. */
#include "config.h"

#include "plugins/threads/spmv.h"

#include "plugins/threads/prebuilt.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define REAL float
#define INDEX int32_t
#define NAME(x) x##_f32_i32
#include "plugins/threads/spmv_kernel.h"
#include "plugins/threads/spmv_pack.h"
#include "plugins/threads/spmm_kernel.h"
#include "plugins/threads/spmv_tiles.h"
