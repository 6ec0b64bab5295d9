/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_GLSL_COMPILER_H
#define RUBUS_GLSL_COMPILER_H
/*
 * Between the Vulkan backend and its compiler module (rubus-glsl.so), which is opened
 * when the first text has to be compiled: a compiler of 9 MB with 161 constructors stays
 * out of programs that run built-in or cached kernels only.
 */
#include <stddef.h>
#include <stdint.h>

#define RUBUS_GLSL_ABI 1u
#define RUBUS_GLSL_SYMBOL "rubus_glsl_compiler"

typedef struct rubus_glsl_macro {
    const char *name;
    const char *value;
} rubus_glsl_macro;

typedef struct rubus_glsl_source { /* one compute shader for Vulkan 1.2 */
    const char *text;
    size_t size;
    const char *name; /* for messages */
    const rubus_glsl_macro *macro;
    uint32_t nmacro;
    uint32_t reserved0;
} rubus_glsl_source;

typedef struct rubus_glsl_result {
    void *handle;         /* what release frees; NULL when memory ran out */
    const uint32_t *word; /* SPIR-V; NULL: the text has errors, or memory ran out */
    size_t nbyte;
    const char *log; /* the compiler's words; never NULL */
} rubus_glsl_result;

/* The one exported object of the module: `const rubus_glsl_table rubus_glsl_compiler`. */
typedef struct rubus_glsl_table {
    uint32_t abi;
    uint32_t struct_size;
    /* Any thread; one text at a time is compiled. The result is the caller's until it is
     * released, also after a failure. */
    void (*compile)(const rubus_glsl_source *source, rubus_glsl_result *out_result);
    void (*release)(rubus_glsl_result *result);
} rubus_glsl_table;

#endif
