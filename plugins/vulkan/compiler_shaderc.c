/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler module of the Vulkan backend: GLSL to SPIR-V by shaderc, which is linked
 * in statically, behind the table of glsl_compiler.h. The only file that knows shaderc.
 * Making a compiler takes 85 ms, so the first one is kept for the life of the process.
 */
#include "config.h"

#include "plugins/vulkan/glsl_compiler.h"

#include <pthread.h>
#include <shaderc/shaderc.h>
#include <string.h>

#include <rubus/backend.h>

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* guards compiler, and its use */
static shaderc_compiler_t compiler;

static shaderc_compile_options_t make_options(const rubus_glsl_source *source)
{
    shaderc_compile_options_t options = shaderc_compile_options_initialize();
    if (options == NULL) {
        return NULL;
    }
    shaderc_compile_options_set_target_env(options, shaderc_target_env_vulkan,
                                           shaderc_env_version_vulkan_1_2);
    shaderc_compile_options_set_target_spirv(options, shaderc_spirv_version_1_5);
    // an optimiser may only see what vk_exact.c made of it: the driver's does
    shaderc_compile_options_set_optimization_level(options,
                                                   shaderc_optimization_level_zero);
    for (uint32_t i = 0; i < source->nmacro; i++) {
        const rubus_glsl_macro *macro = &source->macro[i];
        shaderc_compile_options_add_macro_definition(options, macro->name,
                                                     strlen(macro->name), macro->value,
                                                     strlen(macro->value));
    }
    return options;
}

static void compile(const rubus_glsl_source *source, rubus_glsl_result *out_result)
{
    *out_result = (rubus_glsl_result){.log = "out of memory"};
    shaderc_compile_options_t options = make_options(source);
    if (options == NULL) {
        return;
    }
    shaderc_compilation_result_t result = NULL;
    pthread_mutex_lock(&lock);
    if (compiler == NULL) {
        compiler = shaderc_compiler_initialize();
    }
    if (compiler != NULL) {
        result = shaderc_compile_into_spv(compiler, source->text, source->size,
                                          shaderc_compute_shader, source->name, "main",
                                          options);
    }
    pthread_mutex_unlock(&lock);
    shaderc_compile_options_release(options);
    if (result == NULL) {
        return;
    }
    out_result->handle = result;
    out_result->log = shaderc_result_get_error_message(result);
    if (shaderc_result_get_compilation_status(result) ==
        shaderc_compilation_status_success) {
        // shaderc gives bytes, and keeps them aligned for words
        out_result->word =
            (const uint32_t *)(const void *)shaderc_result_get_bytes(result);
        out_result->nbyte = shaderc_result_get_length(result);
    }
}

static void release(rubus_glsl_result *result)
{
    if (result->handle != NULL) {
        shaderc_result_release(result->handle);
    }
    *result = (rubus_glsl_result){.log = ""};
}

extern const rubus_glsl_table rubus_glsl_compiler;
RUBUS_PLUGIN_EXPORT const rubus_glsl_table rubus_glsl_compiler = {
    .abi = RUBUS_GLSL_ABI,
    .struct_size = sizeof(rubus_glsl_table),
    .compile = compile,
    .release = release};
