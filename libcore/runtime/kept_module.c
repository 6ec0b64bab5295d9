/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules of the library's own kernels, built when a context first needs them and kept in
 * it, for all objects that use them. The context owns them, so they do not hold it.
 */
#include "config.h"

#include "libcore/runtime/runtime.h"

#include <string.h>

typedef struct rubus__kept {
    struct rubus__kept *next;
    const char *name; /* of the embedded source */
    int32_t real;
    int32_t index;
    rubus_module *module;
} rubus__kept;

void rubus__module_end(rubus_module *module, bool alive)
{
    if (module == NULL) {
        return;
    }
    if (alive) {
        rubus__impl_destroy(module->context->dev, module->impl);
    }
    pthread_mutex_destroy(&module->form_lock);
    rubus__free(module->func);
    rk_program_destroy(module->program);
    rubus__free(module->entry);
    rubus__free(module->param);
    rubus__free(module->kernel);
    rubus__free(module);
}

void rubus__kept_fini(rubus_context *context, bool alive)
{
    while (context->kept != NULL) {
        rubus__kept *kept = context->kept;
        context->kept = kept->next;
        rubus__module_end(kept->module, alive);
        rubus__free(kept);
    }
}

/* Locked. */
static rubus_module *find(const rubus_context *context, const char *name,
                          const rubus_module_options *options)
{
    const rubus__kept *kept = context->kept;
    while (kept != NULL &&
           (kept->real != options->real || kept->index != options->index ||
            strcmp(kept->name, name) != 0)) {
        kept = kept->next;
    }
    return kept == NULL ? NULL : kept->module;
}

/* Keeps a fresh module, unless another thread was faster. */
static rubus_module *keep(rubus_context *context, rubus__kept *fresh,
                          const rubus_module_options *options)
{
    pthread_mutex_lock(&context->lock);
    rubus_module *other = find(context, fresh->name, options);
    if (other == NULL) {
        fresh->next = context->kept;
        context->kept = fresh;
    }
    pthread_mutex_unlock(&context->lock);
    if (other == NULL) {
        (void)atomic_fetch_sub(&context->references, 1);
        return fresh->module;
    }
    rubus_module_destroy(fresh->module);
    rubus__free(fresh);
    return other;
}

rubus_status rubus__kept_module(rubus_context *context, const char *name,
                                const rubus_module_options *options,
                                rubus_module **out_module)
{
    rubus_status st = rubus__enter(context, name);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_module *module = find(context, name, options);
    (void)rubus__leave(context, RUBUS_OK);
    if (module != NULL) {
        *out_module = module;
        return RUBUS_OK;
    }
    rubus__kept *fresh = rubus__alloc(sizeof(*fresh));
    if (fresh == NULL) {
        return RUBUS_ENOMEM;
    }
    st = rubus__module_embedded(context, name, options, &fresh->module);
    if (st != RUBUS_OK) {
        rubus__free(fresh);
        return st;
    }
    fresh->name = name;
    fresh->real = options->real;
    fresh->index = options->index;
    *out_module = keep(context, fresh, options);
    return RUBUS_OK;
}

rubus_status rubus__kept_kernel(rubus_context *context, const char *name,
                                const rubus_module_options *options, const char *kernel,
                                const rubus_kernel **out_kernel)
{
    rubus_module *module = NULL;
    const rubus_status st = rubus__kept_module(context, name, options, &module);
    if (st == RUBUS_OK) {
        *out_kernel = rubus_module_kernel(module, kernel);
    }
    return st == RUBUS_OK && *out_kernel == NULL ? RUBUS_EINTERNAL : st;
}
