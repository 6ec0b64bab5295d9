/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_RKC_H
#define RUBUS_RKC_H
/*
 * Between rkc, which compiles the library's own sources, and what it writes for each
 * backend (rkc_threads.c, rkc_vulkan.c).
 */
#include "libcore/base/base.h"
#include "libcore/kernel/program.h"

/* Prints to stderr and returns 1. */
int rkc_complain(const char *what, const char *why);
/* Writes a file unless it has these contents already; complains. 0 or 1. name: NULL if
 * there was no memory for it. */
int rkc_write(const char *folder, const char *name, rubus__text *text);
/* "relax_2d.rk" as part of a C name, "relax_2d"; "sparse.rk@i64" (64-bit indices) is
 * "sparse_i64". False if it is no such file name. */
bool rkc_stem(const char *name, char out[64]);
/* The bytes of a program's key, for an initialiser. */
void rkc_add_key(rubus__text *out, const rk_program *program);
/* Declares TYPE_STEM_REAL of every source and real type and begins TYPE_list with their
 * addresses. */
void rkc_add_list(rubus__text *out, const char *type, char **names, int count);
typedef int (*rkc_make)(const char *folder, const rk_program *program, const char *stem,
                        const char *real);
/* Compiles each embedded source for each real type and makes something of it; stops at
 * the first failure, which is told. 0 or 1. */
int rkc_each(const char *folder, char **names, int count, const char *dialect,
             rkc_make make);

/* Number of the first name of a text written by hand, NAME.comp; count: there is none. */
int rkc_first_written(char **names, int count);
/* rkc_each for texts written by hand: the program has text, key and nentry. What is told
 * of the real type tells that of indices too, "f64_i32". */
int rkc_each_written(const char *folder, char **names, int count, rkc_make make);
/* The format with stem and kind, for every module of theirs. */
void rkc_add_written(rubus__text *out, const char *format, char **names, int count);

/* FOLDER NAME.rk...: C files. */
int rkc_threads_modules(const char *folder, char **names, int count);
/* FOLDER --text NAME.comp...: C files with texts written by hand. */
int rkc_vulkan_texts(const char *folder, char **names, int count);
/* FOLDER --glsl NAME.rk... NAME.comp...: a shader for each entry, as a file
 * STEM_REAL_ENTRY.comp. */
int rkc_vulkan_shaders(const char *folder, char **names, int count);
/* FOLDER --spirv with the same names: C files from FOLDER/STEM_REAL_ENTRY.comp.spv. */
int rkc_vulkan_modules(const char *folder, char **names, int count);

#endif
