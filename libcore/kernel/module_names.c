/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops and funcs by name. The table is made at the first question after a declaration was
 * added, so it costs nothing while a source is read; a name's declarations stand in the
 * order in which they were read, ops first.
 */
#include "config.h"

#include "libcore/kernel/parser.h"

static uint32_t bucket_of(const rk_module *module, const char *name)
{
    const uint64_t p = (uint64_t)(uintptr_t)name;
    return (uint32_t)((p >> 4u) * 0x9E3779B97F4A7C15u >> 40u) &
           (uint32_t)(module->nnamed - 1);
}

/* From the last to the first, each put before those of its list. */
static void add_all(rk_module *module, rk_decl *const *decl, int32_t n)
{
    for (int32_t i = n - 1; i >= 0; i--) {
        rk_decl **list = &module->named[bucket_of(module, decl[i]->name)];
        decl[i]->next_named = *list;
        *list = decl[i];
    }
}

rk_decl *rk_module_named(rk_unit *unit, const char *name)
{
    rk_module *module = &unit->module;
    const int32_t n = module->nop + module->nfunc;
    if (module->named == NULL || module->named_of != n) {
        module->nnamed = 64;
        while (module->nnamed < n) {
            module->nnamed *= 2;
        }
        module->named = rk_new(unit, (size_t)module->nnamed * sizeof(rk_decl *));
        add_all(module, module->func, module->nfunc);
        add_all(module, module->op, module->nop);
        module->named_of = n;
    }
    return module->named[bucket_of(module, name)];
}
