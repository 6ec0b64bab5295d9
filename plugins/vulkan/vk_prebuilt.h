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

extern const vk_prebuilt *const vk_prebuilt_list[]; /* ends with NULL */

#endif
