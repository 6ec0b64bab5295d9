/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TOOLS_HANDWRITTEN_CODE_H
#define RUBUS_TOOLS_HANDWRITTEN_CODE_H
/* The kernels of handwritten.comp as SPIR-V, compiled while Rubus is built. */
#include <stddef.h>
#include <stdint.h>

enum { HANDWRITTEN_KERNELS = 7 };

typedef struct handwritten_code {
    const uint32_t *word;
    size_t nbyte;
} handwritten_code;

/* f64, then f32; kernel 1 comes first. */
extern const handwritten_code handwritten_codes[2][HANDWRITTEN_KERNELS];

#endif
