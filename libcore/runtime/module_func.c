/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Funcs of a module, for layers that evaluate them: at the points of a mesh, in a form.
 * Such a layer writes a kernel that calls the func, and the runtime builds it together
 * with the ops and funcs of the module into another module, once.
 */
#include "config.h"

#include "libcore/runtime/runtime.h"

#include <string.h>

typedef struct rubus__derived {
    struct rubus__derived *next;
    int32_t real;
    char *text;
    rubus_module *module;
} rubus__derived;

void rubus__module_hold(rubus_module *module)
{
    atomic_fetch_add(&module->references, 1);
}

/* --- funcs by name ---------------------------------------------------------------- */

rubus_status rubus__funcs_make(rubus_module *module)
{
    const rk_module *all = &module->program->unit->module;
    module->func = rubus__alloc_array((size_t)all->nfunc + 1, sizeof(*module->func));
    if (module->func == NULL) {
        return RUBUS_ENOMEM;
    }
    for (int32_t i = 0; i < all->nfunc; i++) {
        if (!all->func[i]->at.source->library) {
            module->func[module->nfunc++] = (rubus_func){module, all->func[i]};
        }
    }
    return RUBUS_OK;
}

static const char *nearest_func(const rubus_module *module, const char *name)
{
    const char **names = rubus__alloc_array((size_t)module->nfunc + 1, sizeof(*names));
    if (names == NULL) {
        return NULL;
    }
    for (int32_t i = 0; i < module->nfunc; i++) {
        names[i] = module->func[i].decl->name;
    }
    const char *near = rubus__nearest(name, names, (size_t)module->nfunc);
    rubus__free(names);
    return near;
}

const rubus_func *rubus_module_func(rubus_module *module, const char *name)
{
    if (module == NULL || name == NULL) {
        (void)rubus__fail(RUBUS_EINVAL, "rubus_module_func: %s is NULL",
                          module == NULL ? "the module" : "the name");
        return NULL;
    }
    for (int32_t i = 0; i < module->nfunc; i++) {
        if (strcmp(module->func[i].decl->name, name) == 0) {
            return &module->func[i];
        }
    }
    const char *near = nearest_func(module, name);
    (void)rubus__fail(RUBUS_ENOTFOUND, "%s has no func `%s`%s%s%s", module->program->name,
                      name, near == NULL ? "" : "; did you mean `",
                      near == NULL ? "" : near, near == NULL ? "" : "`?");
    return NULL;
}

const char *rubus_func_name(const rubus_func *func)
{
    return func == NULL ? "" : func->decl->name;
}

rubus_status rubus__no_func(const char *what)
{
    static const char asked[] = "rubus_module_func:";
    const char *text = rubus_error_text();
    if (strstr(text, " has no func `") != NULL ||
        strncmp(text, asked, strlen(asked)) == 0) {
        return RUBUS_ENOTFOUND;
    }
    return rubus__fail(RUBUS_ENOTFOUND,
                       "%s: the func is NULL; take it from rubus_module_func", what);
}

/* --- modules made of funcs -------------------------------------------------------- */

void rubus__funcs_fini(rubus_module *module)
{
    while (module->derived != NULL) {
        rubus__derived *derived = module->derived;
        module->derived = derived->next;
        rubus_module_destroy(derived->module);
        rubus__free(derived->text);
        rubus__free(derived);
    }
    rubus__free(module->func);
    module->func = NULL;
}

/* Locked. */
static rubus_module *find(const rubus_module *module, int32_t real, const char *text)
{
    const rubus__derived *derived = module->derived;
    while (derived != NULL &&
           (derived->real != real || strcmp(derived->text, text) != 0)) {
        derived = derived->next;
    }
    return derived == NULL ? NULL : derived->module;
}

static rubus_status build(rubus_module *module, int32_t real, const char *text,
                          bool complete, rubus_module **out_module)
{
    const rk_program *program = module->program;
    const rk_unit *unit = program->unit;
    const rubus_module_options options = {
        .struct_size = sizeof(options),
        .real = real,
        .index = unit->numbers.int64 ? RUBUS_I64 : RUBUS_I32,
        .check = unit->check ? 1 : 0,
        .fast = unit->fast ? 1 : 0,
    };
    const bool add = !complete && program->called != NULL;
    char *whole = rubus__format("%s\n%s", add ? program->called : "", text);
    if (whole == NULL) {
        return RUBUS_ENOMEM;
    }
    const rubus_status st =
        rubus__module_text(module->context, program->name, whole, &options, out_module);
    rubus__free(whole);
    return st;
}

/* Keeps a fresh module, unless another thread was faster. */
static rubus_module *keep(rubus_module *module, rubus__derived *fresh)
{
    rubus_context *context = module->context;
    pthread_mutex_lock(&context->lock);
    rubus_module *other = find(module, fresh->real, fresh->text);
    if (other == NULL) {
        fresh->next = module->derived;
        module->derived = fresh;
    }
    pthread_mutex_unlock(&context->lock);
    if (other == NULL) {
        return fresh->module;
    }
    rubus_module_destroy(fresh->module);
    rubus__free(fresh->text);
    rubus__free(fresh);
    return other;
}

rubus_status rubus__module_derive(rubus_module *module, int32_t real, const char *text,
                                  bool complete, rubus_module **out_module)
{
    rubus_status st = rubus__enter(module->context, "a func");
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_module *found = find(module, real, text);
    (void)rubus__leave(module->context, RUBUS_OK);
    if (found != NULL) {
        *out_module = found;
        return RUBUS_OK;
    }
    rubus__derived *fresh = rubus__alloc(sizeof(*fresh));
    if (fresh == NULL) {
        return RUBUS_ENOMEM;
    }
    fresh->real = real;
    fresh->text = rubus__strdup(text);
    st = fresh->text == NULL ? RUBUS_ENOMEM
                             : build(module, real, text, complete, &fresh->module);
    if (st != RUBUS_OK) {
        rubus__free(fresh->text);
        rubus__free(fresh);
        return st;
    }
    *out_module = keep(module, fresh);
    return RUBUS_OK;
}
