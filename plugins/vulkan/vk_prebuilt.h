/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_VK_PREBUILT_H
#define RUBUS_VK_PREBUILT_H
/*
 * The library's own kernels as SPIR-V, made and checked when Rubus is built. tools/rkc
 * writes a C file for each module, which includes this, and one with the list. A module
 * is found by its key, which covers its text, so a stale one is never taken. They take
 * device addresses and use 32-bit index arithmetic; what else is needed is compiled when
 * it is.
 */
#include <stdint.h>

typedef struct vk_prebuilt_code {
    const uint32_t *word;
    uint32_t nbyte;
} vk_prebuilt_code;

typedef struct vk_prebuilt {
    unsigned char key[32];
    uint32_t nentry;
    const vk_prebuilt_code *code; /* [nentry] */
} vk_prebuilt;

/* A text written by hand, and the key of the module that is made of it. */
typedef struct vk_written {
    unsigned char key[32];
    const char *text;
    uint64_t text_size;
} vk_written;

/* shaders/spmv.comp for the types of a matrix. */
extern const vk_written vk_written_spmv_f32_i32;
extern const vk_written vk_written_spmv_f32_i64;
extern const vk_written vk_written_spmv_f64_i32;
extern const vk_written vk_written_spmv_f64_i64;

extern const vk_prebuilt *const vk_prebuilt_list[]; /* ends with NULL */

#endif
