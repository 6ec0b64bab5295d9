/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_RKC_H
#define RUBUS_RKC_H
/*
 * Between rkc, which compiles the library's own sources, and what it writes for the
 * Vulkan backend (rkc_vulkan.c).
 */
#include "libcore/base/base.h"
#include "libcore/kernel/program.h"

/* Prints to stderr and returns 1. */
int rkc_complain(const char *what, const char *why);
/* Writes a file unless it has these contents already; complains. 0 or 1. */
int rkc_write(const char *folder, const char *name, rubus__text *text);
/* "relax_2d.rk" as part of a C name; false if it is no such file name. */
bool rkc_stem(const char *name, char out[64]);
/* Compiles an embedded source; complains. NULL on failure. */
rk_program *rkc_compile(const char *name, int32_t real, const char *dialect);

/* FOLDER --glsl NAME.rk...: a shader for each entry, STEM_REAL_ENTRY.comp. */
int rkc_vulkan_shaders(const char *folder, char **names, int count);
/* FOLDER --spirv NAME.rk...: C files from FOLDER/STEM_REAL_ENTRY.comp.spv. */
int rkc_vulkan_modules(const char *folder, char **names, int count);

#endif
