/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: functions for the entries of a text. In this order they come from the kernels
 * built into the plugin, from the kernel cache, or from the C compiler (and then go into
 * the cache). Trouble with the cache only costs time.
 */
#include "config.h"

#include "plugins/threads/threads_plugin.h"

#include "plugins/threads/object.h"
#include "plugins/threads/prebuilt.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WHY_ROOM 512
#define SUFFIX_ROOM (THREADS_HASH_HEX + 8)

/* --- entries ---------------------------------------------------------------------- */

/* One allocation holds the module, its entries, and the offsets of their buffers. */
static threads_module *create_module(threads_context *ctx, const rubus_module_desc *desc)
{
    const rubus_host *host = ctx->host;
    size_t noffset = 0;
    for (uint32_t e = 0; e < desc->nentry; e++) {
        noffset += desc->entry[e].nbuffer;
    }
    size_t entries = desc->nentry * sizeof(threads_entry);
    size_t size = sizeof(threads_module) + entries + noffset * sizeof(uint32_t);
    threads_module *module = host->alloc(host->ctx, size, _Alignof(max_align_t));
    if (module == NULL) {
        return NULL;
    }
    memset(module, 0, size);
    module->ctx = ctx;
    module->nentry = desc->nentry;
    module->entry = (threads_entry *)(void *)(module + 1);
    uint32_t *offset = (uint32_t *)(void *)(module->entry + desc->nentry);
    for (uint32_t e = 0; e < desc->nentry; e++) {
        const rubus_entry *from = &desc->entry[e];
        threads_entry *to = &module->entry[e];
        to->block_size = from->block_size;
        to->nbuffer = from->nbuffer;
        to->flags = from->flags;
        to->point_bytes = from->bytes_per_point;
        to->point_ops = from->ops_per_point;
        to->offset = offset;
        for (uint32_t p = 0; p < from->nparam; p++) {
            if (from->param[p].is_buffer != 0 && from->param[p].index < from->nbuffer) {
                offset[from->param[p].index] = from->param[p].offset;
            }
        }
        offset += from->nbuffer;
    }
    return module;
}

static bool take_prebuilt(threads_module *module, const rubus_module_desc *desc)
{
    for (unsigned i = 0; i < threads_prebuilt_count; i++) {
        const threads_prebuilt *known = threads_prebuilt_list[i];
        if (memcmp(known->key, desc->key, sizeof known->key) != 0) {
            continue;
        }
        uint32_t found = 0;
        for (uint32_t e = 0; e < desc->nentry; e++) {
            for (uint32_t k = 0; k < known->nentry; k++) {
                if (strcmp(known->symbol[k], desc->entry[e].symbol) == 0) {
                    module->entry[e].function = known->function[k];
                    found++;
                    break;
                }
            }
        }
        return found == desc->nentry;
    }
    return false;
}

/* Loads an object and looks up its functions; false with the reason in why. */
static bool take_object(threads_module *module, const rubus_module_desc *desc,
                        const threads_stamp *stamp, int fd, char why[WHY_ROOM])
{
    void *library = threads_object_load(fd, stamp, module, why, WHY_ROOM);
    if (library == NULL) {
        return false;
    }
    for (uint32_t e = 0; e < desc->nentry; e++) {
        // ISO C has no cast from an object pointer to a function pointer.
        union {
            void *object;
            threads_function function;
        } symbol = {.object = dlsym(library, desc->entry[e].symbol)};
        if (symbol.object == NULL) {
            snprintf(why, WHY_ROOM, "it has no function %s", desc->entry[e].symbol);
            dlclose(library);
            return false;
        }
        module->entry[e].function = symbol.function;
    }
    module->library = library;
    return true;
}

/* --- cache and compiler ----------------------------------------------------------- */

/* The compiler, found and identified by the first module that needs it. Its words are not
 * touched again before close, so the copy may be used without the lock. */
static rubus_status get_compiler(threads_backend *be, threads_compiler *out_compiler)
{
    rubus_status st = RUBUS_OK;
    pthread_mutex_lock(&be->lock);
    if (be->compiler.words == NULL) {
        threads_compiler found;
        st = threads_compiler_find(be->host, &found);
        if (st == RUBUS_OK) {
            st = threads_compiler_identify(be->host, &found);
            if (st == RUBUS_OK) {
                be->compiler = found;
            } else {
                threads_compiler_fini(be->host, &found);
            }
        }
    }
    *out_compiler = be->compiler;
    pthread_mutex_unlock(&be->lock);
    return st;
}

static bool take_cached(threads_module *module, const rubus_module_desc *desc,
                        const threads_stamp *stamp, const char *suffix)
{
    const rubus_host *host = module->ctx->host;
    char why[WHY_ROOM];
    int32_t fd = -1;
    if (host->cache_get(host->ctx, desc->key, suffix, &fd) != RUBUS_OK || fd < 0) {
        return false;
    }
    int copy = threads_object_unseal(host, fd, stamp);
    if (copy < 0) {
        host->log(host->ctx, 2, "a damaged entry of the kernel cache is made anew");
        return false;
    }
    bool taken = take_object(module, desc, stamp, copy, why);
    close(copy);
    if (!taken) {
        host->log(host->ctx, 2, why);
    }
    return taken;
}

/* The text with the stamp behind it. */
static char *stamped_text(const rubus_host *host, const rubus_module_desc *desc,
                          const threads_stamp *stamp, uint64_t *out_size)
{
    char tail[THREADS_STAMP_ROOM];
    threads_stamp_text(stamp, tail);
    size_t tail_size = strlen(tail);
    char *text = host->alloc(host->ctx, desc->text_size + tail_size + 1, 1);
    if (text != NULL) {
        memcpy(text, desc->text, desc->text_size);
        memcpy(text + desc->text_size, tail, tail_size + 1);
        *out_size = desc->text_size + tail_size;
    }
    return text;
}

static rubus_status compile(threads_module *module, const rubus_module_desc *desc,
                            const threads_compiler *compiler, const threads_stamp *stamp,
                            const char *suffix)
{
    const rubus_host *host = module->ctx->host;
    uint64_t size = 0;
    char *text = stamped_text(host, desc, stamp, &size);
    if (text == NULL) {
        return RUBUS_ENOMEM;
    }
    int fd = -1;
    rubus_status st = threads_compiler_run(host, compiler, desc->name, text, size,
                                           (desc->flags & RUBUS_MODULE_FAST) != 0, &fd);
    host->free(host->ctx, text);
    if (st != RUBUS_OK) {
        return st;
    }
    char why[WHY_ROOM] = "it is no whole shared object";
    bool sealed = threads_object_seal(host, fd, stamp);
    if (!sealed || !take_object(module, desc, stamp, fd, why)) {
        close(fd);
        return host->fail(
            host->ctx, RUBUS_ECOMPILE,
            "module %s: what the C compiler '%s' (%s) made cannot be used: %s; "
            "RUBUS_CC chooses another one",
            desc->name, compiler->path, compiler->origin, why);
    }
    if (host->cache_put(host->ctx, desc->key, suffix, fd) != RUBUS_OK) {
        host->log(host->ctx, 3,
                  "a compiled module could not be kept in the kernel cache");
    }
    close(fd);
    return RUBUS_OK;
}

/* --- slots ------------------------------------------------------------------------ */

static rubus_status check_module(const rubus_host *host, const rubus_module_desc *desc)
{
    if (strcmp(desc->dialect, "c") != 0) {
        return host->fail(
            host->ctx, RUBUS_EUNSUPPORTED,
            "module %s: dialect '%s' was given to the backend threads, which "
            "takes c",
            desc->name, desc->dialect);
    }
    return RUBUS_OK;
}

static rubus_status build(threads_module *module, const rubus_module_desc *desc)
{
    if (take_prebuilt(module, desc)) {
        return RUBUS_OK;
    }
    threads_compiler compiler;
    rubus_status st = get_compiler(module->ctx->be, &compiler);
    if (st != RUBUS_OK) {
        return st;
    }
    threads_stamp stamp = {.made_by = compiler.id};
    memcpy(stamp.key, desc->key, sizeof stamp.key);
    char hex[THREADS_HASH_HEX];
    char suffix[SUFFIX_ROOM];
    threads_hash_hex(&stamp.made_by, hex);
    snprintf(suffix, sizeof suffix, "c-%s", hex);
    if (take_cached(module, desc, &stamp, suffix)) {
        return RUBUS_OK;
    }
    return compile(module, desc, &compiler, &stamp, suffix);
}

rubus_status threads_module_create(void *context, const rubus_module_desc *desc,
                                   void **out_module)
{
    threads_context *ctx = context;
    rubus_status st = check_module(ctx->host, desc);
    if (st != RUBUS_OK) {
        return st;
    }
    threads_module *module = create_module(ctx, desc);
    if (module == NULL) {
        return RUBUS_ENOMEM;
    }
    st = build(module, desc);
    if (st != RUBUS_OK) {
        threads_module_destroy(ctx, module);
        return st;
    }
    *out_module = module;
    return RUBUS_OK;
}

void threads_module_destroy(void *context, void *pointer)
{
    threads_context *ctx = context;
    threads_module *module = pointer;
    if (module == NULL) {
        return;
    }
    if (module->library != NULL) {
        dlclose(module->library);
    }
    ctx->host->free(ctx->host->ctx, module);
}
