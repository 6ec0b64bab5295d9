/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SPIR-V for an entry: built into the plugin, else from the kernel cache, else from the
 * compiler module (and then into the cache). The module lies beside the plugin, in the
 * folder above it, or where it was installed; it is opened when the first text has to be
 * compiled and never closed.
 */
#include "config.h"

#include "plugins/vulkan/glsl_compiler.h"
#include "plugins/vulkan/vk_module.h"
#include "plugins/vulkan/vk_prebuilt.h"
#include "plugins/vulkan/vk_seal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Raised with every change of how texts are compiled. */
#define CODE_VERSION "2"
/* Of the compiler that the module was built with: SPIR-V of another one is not taken. */
#ifndef RUBUS_SHADERC_VERSION
#define RUBUS_SHADERC_VERSION "0"
#endif
#ifndef RUBUS_MODULE_DIR
#define RUBUS_MODULE_DIR "/usr/local/lib/rubus"
#endif
#define MODULE_FILE "rubus-glsl.so"
#define MOST_CODE ((size_t)64 << 20)
#define SUFFIX_ROOM 96
#define PATH_ROOM 4096
#define WHY_ROOM 1024

const vk_prebuilt *vk_prebuilt_find(const uint8_t key[32])
{
    for (const vk_prebuilt *const *at = vk_prebuilt_list; *at != NULL; at++) {
        if (memcmp((*at)->key, key, 32) == 0) {
            return *at;
        }
    }
    return NULL;
}

static bool take_prebuilt(const vk_module *module, const vk_entry *entry, bool wide,
                          vk_code *out_code)
{
    const vk_prebuilt *known = module->prebuilt;
    if (known == NULL || wide || module->ctx->be->descriptors ||
        entry->number >= known->nentry) {
        return false;
    }
    const vk_prebuilt_code *code = &known->code[entry->number];
    *out_code = (vk_code){.word = code->word, .nbyte = code->nbyte};
    return true;
}

static void make_suffix(const vk_module *module, const vk_entry *entry, bool wide,
                        char out[SUFFIX_ROOM])
{
    snprintf(out, SUFFIX_ROOM, "spv-%s-%s-%u-w%d-d%d", CODE_VERSION,
             RUBUS_SHADERC_VERSION, (unsigned)entry->number, wide,
             module->ctx->be->descriptors);
}

static bool take_cached(const vk_module *module, const char *suffix, vk_code *out_code)
{
    const rubus_host *host = module->ctx->host;
    size_t size = 0;
    unsigned char *file = vk_seal_load(host, module->key, suffix, MOST_CODE, &size);
    if (file == NULL) {
        return false;
    }
    const unsigned char *data = file + VK_SEAL_SIZE;
    if (!vk_spirv_plausible(data, size - VK_SEAL_SIZE)) {
        host->free(host->ctx, file);
        return false;
    }
    *out_code = (vk_code){.word = (const uint32_t *)(const void *)data,
                          .nbyte = size - VK_SEAL_SIZE,
                          .owned = file};
    return true;
}

/* --- the compiler module ---------------------------------------------------------- */

static const rubus_glsl_table *module_open(const char *path, char why[WHY_ROOM])
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        const char *reason = dlerror();
        snprintf(why, WHY_ROOM, "%s", reason != NULL ? reason : "it could not be opened");
        return NULL;
    }
    const rubus_glsl_table *table = dlsym(library, RUBUS_GLSL_SYMBOL);
    dlclose(library); // RTLD_NODELETE: it stays
    if (table == NULL || table->abi != RUBUS_GLSL_ABI ||
        table->struct_size < sizeof *table) {
        snprintf(why, WHY_ROOM, "%s is of another version of Rubus", path);
        return NULL;
    }
    return table;
}

static const rubus_glsl_table *module_find(char why[WHY_ROOM])
{
    // data of this file: in the plugin, or in a test that is linked with it
    static const char here;
    char path[PATH_ROOM];
    char ignored[WHY_ROOM];
    const char *folder = ".";
    int n = 1;
    Dl_info info;
    if (dladdr(&here, &info) != 0 && info.dli_fname != NULL &&
        strrchr(info.dli_fname, '/') != NULL) {
        folder = info.dli_fname;
        n = (int)(strrchr(folder, '/') - folder);
    }
    // installed the plugin is in the folder plugins-1, and the module above it
    snprintf(path, sizeof path, "%.*s/../%s", n, folder, MODULE_FILE);
    const rubus_glsl_table *table = module_open(path, why);
    if (table == NULL) {
        snprintf(path, sizeof path, "%.*s/%s", n, folder, MODULE_FILE);
        table = module_open(path, ignored);
    }
    if (table == NULL) {
        table = module_open(RUBUS_MODULE_DIR "/" MODULE_FILE, ignored);
    }
    return table;
}

static rubus_status get_compiler(const vk_module *module, const vk_entry *entry,
                                 const rubus_glsl_table **out_compiler)
{
    vk_backend *be = module->ctx->be;
    char why[WHY_ROOM] = "";
    pthread_mutex_lock(&be->lock);
    if (be->compiler == NULL) {
        be->compiler = module_find(why);
    }
    *out_compiler = be->compiler;
    pthread_mutex_unlock(&be->lock);
    if (*out_compiler != NULL) {
        return RUBUS_OK;
    }
    return be->host->fail(
        be->host->ctx, RUBUS_EUNSUPPORTED,
        "module %s, %s: it has to be compiled for Vulkan, and the compiler module cannot "
        "be opened: %s. Install %s beside the library (Rubus built with libshaderc-dev "
        "and glslang-dev has it). The library's own kernels are built in and still run",
        module->name, entry->label, why, MODULE_FILE);
}

/* --- compiling -------------------------------------------------------------------- */

/* A copy of the words, since the result is the compiler's. */
static rubus_status keep(const vk_module *module, const rubus_glsl_result *result,
                         vk_code *out_code)
{
    const rubus_host *host = module->ctx->host;
    unsigned char *copy = host->alloc(host->ctx, result->nbyte, 16);
    if (copy == NULL) {
        return RUBUS_ENOMEM;
    }
    memcpy(copy, result->word, result->nbyte);
    *out_code = (vk_code){.word = (const uint32_t *)(const void *)copy,
                          .nbyte = result->nbyte,
                          .owned = copy};
    return RUBUS_OK;
}

/* The front end of the compiler prints what it thinks of a text without a version. */
static rubus_status check_version(const vk_module *module, const vk_entry *entry)
{
    static const char version[] = "#version ";
    const rubus_host *host = module->ctx->host;
    if (strncmp(module->text, version, sizeof version - 1) == 0) {
        return RUBUS_OK;
    }
    return host->fail(
        host->ctx, RUBUS_ECOMPILE,
        "module %s, %s: the text does not begin with a line '#version 460', "
        "so it is no GLSL as the library writes it",
        module->name, entry->label);
}

static rubus_status compile(const vk_module *module, const vk_entry *entry, bool wide,
                            const char *suffix, vk_code *out_code)
{
    const rubus_host *host = module->ctx->host;
    const rubus_glsl_table *compiler = NULL;
    rubus_status st = check_version(module, entry);
    if (st == RUBUS_OK) {
        st = get_compiler(module, entry, &compiler);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    char number[16];
    snprintf(number, sizeof number, "%u", (unsigned)entry->number);
    const rubus_glsl_macro macros[] = {
        {"RK_ENTRY", number},
        {"RK_WIDE", wide ? "1" : "0"},
        {"RK_DESCRIPTORS", module->ctx->be->descriptors ? "1" : "0"}};
    const rubus_glsl_source source = {.text = module->text,
                                      .size = module->text_size,
                                      .name = module->name,
                                      .macro = macros,
                                      .nmacro = sizeof macros / sizeof macros[0]};
    rubus_glsl_result result;
    compiler->compile(&source, &result);
    if (result.handle == NULL) {
        st = host->fail(host->ctx, RUBUS_ENOMEM,
                        "module %s, %s: out of memory while it was compiled for Vulkan",
                        module->name, entry->label);
    } else if (result.word == NULL) {
        st = host->fail(host->ctx, RUBUS_ECOMPILE,
                        "module %s, %s: the GLSL text has errors:\n%s", module->name,
                        entry->label, result.log);
    } else if (!vk_spirv_plausible(result.word, result.nbyte)) {
        st = host->fail(host->ctx, RUBUS_ECOMPILE,
                        "module %s, %s: what the compiler module made is no SPIR-V",
                        module->name, entry->label);
    } else {
        st = keep(module, &result, out_code);
    }
    compiler->release(&result);
    if (st == RUBUS_OK) {
        vk_seal_store(host, module->key, suffix, out_code->word, out_code->nbyte);
    }
    return st;
}

static rubus_status find_code(const vk_module *module, const vk_entry *entry, bool wide,
                              vk_code *out_code)
{
    if (take_prebuilt(module, entry, wide, out_code)) {
        return RUBUS_OK;
    }
    char suffix[SUFFIX_ROOM];
    make_suffix(module, entry, wide, suffix);
    if (take_cached(module, suffix, out_code)) {
        return RUBUS_OK;
    }
    return compile(module, entry, wide, suffix, out_code);
}

rubus_status vk_code_get(const vk_module *module, const vk_entry *entry, bool wide,
                         vk_code *out_code)
{
    rubus_status st = find_code(module, entry, wide, out_code);
    if (st == RUBUS_OK) {
        st = vk_code_exact(module, out_code);
        if (st != RUBUS_OK) {
            vk_code_free(module->ctx, out_code);
        }
    }
    return st;
}

void vk_code_free(const vk_context *ctx, vk_code *code)
{
    if (code->owned != NULL) {
        ctx->host->free(ctx->host->ctx, code->owned);
    }
    *code = (vk_code){0};
}
