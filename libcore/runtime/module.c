/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: source to program (the kernel compiler), program to what the backend builds
 * (descriptors of entries and the text of its dialect), kernels by name.
 */
#include "config.h"

#include "libcore/runtime/runtime.h"

#include <string.h>

/* --- imports ---------------------------------------------------------------------- */

char *rubus__source_read(void *user, const char *importer, const char *name,
                         char **out_name, size_t *out_size, const char **out_reason)
{
    (void)user;
    const char *slash = strrchr(importer, '/');
    char *path = name[0] == '/' || slash == NULL
                     ? rubus__strdup(name)
                     : rubus__format("%.*s/%s", (int)(slash - importer), importer, name);
    *out_reason = "out of memory";
    if (path == NULL) {
        return NULL;
    }
    char *text = NULL;
    if (rubus__file_read(path, (size_t)16 << 20u, &text, out_size) != RUBUS_OK) {
        *out_reason = rubus_error_text();
        rubus__free(path);
        return NULL;
    }
    *out_name = path;
    return text;
}

/* --- descriptors for the backend -------------------------------------------------- */

static void describe_entry(const rk_entry *e, rubus_entry *out, rubus_param *param)
{
    memset(out, 0, sizeof(*out));
    out->struct_size = sizeof(*out);
    out->nparam = (uint32_t)e->nslot;
    out->ndim = (uint32_t)e->ndim;
    out->block_size = e->block_size;
    out->flags = e->flags;
    out->bytes_per_point = (uint64_t)e->bytes_per_point;
    out->ops_per_point = (uint64_t)e->ops_per_point;
    out->symbol = e->symbol;
    out->label = e->label;
    out->param = param;
    for (int32_t i = 0; i < e->nslot; i++) {
        const rk_slot *s = &e->slot[i];
        param[i].is_buffer = s->access != 0 ? 1 : 0;
        param[i].type = (uint32_t)s->type;
        param[i].access = s->access;
        param[i].offset = s->offset;
        param[i].size = s->size;
        param[i].name = s->name;
        if (s->access != 0) {
            param[i].index = out->nbuffer++;
        }
    }
}

static rubus_status describe(rubus_module *module)
{
    const rk_program *p = module->program;
    size_t nslot = 0;
    for (int32_t i = 0; i < p->nentry; i++) {
        nslot += (size_t)p->entry[i].nslot;
    }
    module->entry = rubus__alloc_array((size_t)p->nentry + 1, sizeof(rubus_entry));
    module->param = rubus__alloc_array(nslot + 1, sizeof(rubus_param));
    if (module->entry == NULL || module->param == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus_param *next = module->param;
    for (int32_t i = 0; i < p->nentry; i++) {
        describe_entry(&p->entry[i], &module->entry[i], next);
        next += p->entry[i].nslot;
    }
    return RUBUS_OK;
}

static rubus_status make_kernels(rubus_module *module)
{
    const rk_program *p = module->program;
    size_t nparam = 0;
    for (int32_t i = 0; i < p->nkernel; i++) {
        nparam += (size_t)p->kernel[i].decl->nparam;
    }
    const size_t head = ((size_t)p->nkernel + 1) * sizeof(rubus_kernel);
    module->kernel = rubus__alloc(head + nparam * sizeof(int64_t[3]));
    if (module->kernel == NULL) {
        return RUBUS_ENOMEM;
    }
    int64_t(*extent)[3] = (int64_t(*)[3])(void *)((char *)module->kernel + head);
    for (int32_t i = 0; i < p->nkernel; i++) {
        rubus_kernel *k = &module->kernel[i];
        k->module = module;
        k->k = &p->kernel[i];
        k->extent = extent;
        extent += k->k->decl->nparam;
        for (int32_t e = 0; e < k->k->nentry; e++) {
            const rubus_entry *entry = &module->entry[k->k->first_entry + e];
            k->block_room =
                entry->block_size > k->block_room ? entry->block_size : k->block_room;
            k->nbuffer_room =
                entry->nbuffer > k->nbuffer_room ? entry->nbuffer : k->nbuffer_room;
        }
    }
    return RUBUS_OK;
}

static rubus_status backend_build(rubus_module *module)
{
    rubus_context *context = module->context;
    const rk_program *p = module->program;
    rubus_module_desc desc;
    memset(&desc, 0, sizeof(desc));
    desc.struct_size = sizeof(desc);
    desc.nentry = (uint32_t)p->nentry;
    desc.flags = (p->unit->check ? RUBUS_MODULE_CHECKED : 0u) |
                 (p->unit->fast ? RUBUS_MODULE_FAST : 0u) |
                 (p->unit->numbers.int64 ? RUBUS_MODULE_INT64 : 0u) |
                 (p->unit->numbers.f64 ? RUBUS_MODULE_F64 : 0u);
    desc.dialect = context->dev->caps.dialect;
    desc.name = p->name;
    desc.text = p->text;
    desc.text_size = p->text_size;
    memcpy(desc.key, p->key, sizeof(desc.key));
    desc.entry = module->entry;
    pthread_mutex_lock(&context->build_lock);
    const rubus_status st = RUBUS__SLOT(
        context, "module_create",
        context->dev->ops->module_create(context->dev->ctx, &desc, &module->impl));
    pthread_mutex_unlock(&context->build_lock);
    if (st == RUBUS_ELOST) {
        pthread_mutex_lock(&context->lock);
        (void)rubus__leave(context, st);
    }
    return st;
}

static rubus_status make_error_buffer(rubus_module *module)
{
    if (module->program->nsite == 0) {
        return RUBUS_OK;
    }
    const int64_t zero[RK_ERROR_WORDS] = {0};
    rubus_context *context = module->context;
    rubus_status st = rubus__enter(context, "rubus_module_create");
    if (st != RUBUS_OK) {
        return st;
    }
    st = rubus__buffer_create(context->dev, sizeof(zero), &module->error_buffer);
    if (st == RUBUS_OK) {
        st = rubus__write_bytes(context, module->error_buffer, 0, zero, sizeof(zero));
    }
    return rubus__leave(context, st);
}

/* --- creation --------------------------------------------------------------------- */

static rubus_status options_read(const rubus_context *context,
                                 const rubus_module_options *given, rk_options *out)
{
    rubus_module_options o;
    memset(&o, 0, sizeof(o));
    if (given != NULL) {
        const rubus_status st =
            rubus__need_struct("rubus_module_create", "the options", given);
        if (st != RUBUS_OK) {
            return st;
        }
        memcpy(&o, given,
               given->struct_size < sizeof(o) ? given->struct_size : sizeof(o));
    }
    memset(out, 0, sizeof(*out));
    out->real = o.real == 0 ? RUBUS_F64 : o.real;
    out->index = o.index == 0 ? RUBUS_I32 : o.index;
    out->check = o.check != 0;
    out->fast = o.fast != 0;
    out->dialect = context->dev->caps.dialect;
    if (out->real == RUBUS_F64 && context->dev->caps.fp64 == 0) {
        return rubus__fail(
            RUBUS_EUNSUPPORTED,
            "device \"%s\" of backend %s has no f64; build the module with "
            "real f32 (`--real f32`), or choose another device",
            context->dev->caps.name, context->dev->name);
    }
    return RUBUS_OK;
}

static rubus_status build(rubus_context *context, const char *name, const char *text,
                          size_t size, const rk_options *options, rubus_module *module)
{
    atomic_init(&module->references, 1);
    module->context = context;
    rubus_status st = rk_compile(options, name, text, size, &module->program);
    if (st == RUBUS_OK) {
        st = describe(module);
    }
    if (st == RUBUS_OK) {
        st = make_kernels(module);
    }
    if (st == RUBUS_OK) {
        st = rubus__funcs_make(module);
    }
    if (st == RUBUS_OK) {
        st = rubus__enter(context, "rubus_module_create");
    }
    if (st == RUBUS_OK) {
        context->counters.modules_built++;
        st = rubus__leave(context, RUBUS_OK);
    }
    if (st == RUBUS_OK) {
        st = backend_build(module);
    }
    return st == RUBUS_OK ? make_error_buffer(module) : st;
}

static rubus_status create(rubus_context *context, const char *name, const char *text,
                           size_t size, rk_read_function read,
                           const rubus_module_options *options, rubus_module **out_module)
{
    if (context == NULL || name == NULL || text == NULL || out_module == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_module_create: %s is NULL",
                           context == NULL ? "the context"
                           : name == NULL  ? "the name (it stands in messages: \"k.rk\")"
                           : text == NULL  ? "the text"
                                           : "out_module");
    }
    rubus_status st = rubus__enter(context, "rubus_module_create");
    if (st != RUBUS_OK) {
        return st;
    }
    (void)rubus__leave(context, RUBUS_OK);
    rk_options o;
    st = options_read(context, options, &o);
    if (st != RUBUS_OK) {
        return st;
    }
    o.read = read;
    rubus_module *module = rubus__alloc(sizeof(*module));
    if (module == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus__context_hold(context);
    pthread_mutex_init(&module->form_lock, NULL);
    st = build(context, name, text, size, &o, module);
    if (st != RUBUS_OK) {
        rubus__module_release(module);
        return st;
    }
    *out_module = module;
    return RUBUS_OK;
}

static void destroy_object(void *self)
{
    rubus_module_destroy(self);
}

/* A module that belongs to the user. */
static rubus_status create_for_user(rubus_context *context, const char *name,
                                    const char *text, size_t size,
                                    const rubus_module_options *options,
                                    rubus_module **out_module)
{
    const rubus_status st =
        create(context, name, text, size, rubus__source_read, options, out_module);
    if (st == RUBUS_OK) {
        rubus__object_add(context, &(*out_module)->object, RUBUS__RANK_MODULE,
                          destroy_object, *out_module);
    }
    return st;
}

rubus_status rubus_module_create(rubus_context *context, const char *name,
                                 const char *text, const rubus_module_options *options,
                                 rubus_module **out_module)
{
    return create_for_user(context, name, text, text == NULL ? 0 : strlen(text), options,
                           out_module);
}

rubus_status rubus_module_create_file(rubus_context *context, const char *path,
                                      const rubus_module_options *options,
                                      rubus_module **out_module)
{
    if (path == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_module_create_file: the path is NULL");
    }
    char *text = NULL;
    size_t size = 0;
    rubus_status st = rubus__file_read(path, (size_t)16 << 20u, &text, &size);
    if (st == RUBUS_OK) {
        st = create_for_user(context, path, text, size, options, out_module);
        rubus__free(text);
    }
    return st;
}

rubus_status rubus__module_embedded(rubus_context *context, const char *name,
                                    const rubus_module_options *options,
                                    rubus_module **out_module)
{
    const rk_embedded *e = rk_embedded_find(name);
    if (e == NULL) {
        return rubus__fail(RUBUS_EINTERNAL, "the library has no source %s inside", name);
    }
    return create(context, name, e->text, e->size, rk_read_embedded, options, out_module);
}

rubus_status rubus__module_text(rubus_context *context, const char *name,
                                const char *text, const rubus_module_options *options,
                                rubus_module **out_module)
{
    return create(context, name, text, strlen(text), rubus__source_read, options,
                  out_module);
}

/* --- destruction ------------------------------------------------------------------ */

void rubus__module_release(rubus_module *module)
{
    if (module == NULL || atomic_fetch_sub(&module->references, 1) != 1) {
        return;
    }
    rubus_context *context = module->context;
    rubus__object_remove(context, &module->object);
    rubus__funcs_fini(module);
    if (!rubus__context_forked(context)) {
        pthread_mutex_lock(&context->lock);
        rubus__pending_remove(module);
        rubus__impl_destroy(context->dev, module->impl);
        rubus__buffer_destroy(context->dev, module->error_buffer);
        pthread_mutex_unlock(&context->lock);
        pthread_mutex_destroy(&module->form_lock);
    }
    rk_program_destroy(module->program);
    rubus__free(module->entry);
    rubus__free(module->param);
    rubus__free(module->kernel);
    rubus__free(module);
    rubus_context_destroy(context);
}

void rubus_module_destroy(rubus_module *module)
{
    rubus__module_release(module);
}

/* --- kernels ---------------------------------------------------------------------- */

const rubus_kernel *rubus_module_kernel(rubus_module *module, const char *name)
{
    if (module == NULL || name == NULL) {
        (void)rubus__fail(RUBUS_EINVAL, "rubus_module_kernel: %s is NULL",
                          module == NULL ? "the module" : "the name");
        return NULL;
    }
    const rk_program *p = module->program;
    for (int32_t i = 0; i < p->nkernel; i++) {
        if (strcmp(p->kernel[i].decl->name, name) == 0) {
            return &module->kernel[i];
        }
    }
    const char **names = rubus__alloc_array((size_t)p->nkernel + 1, sizeof(*names));
    const char *near = NULL;
    if (names != NULL) {
        for (int32_t i = 0; i < p->nkernel; i++) {
            names[i] = p->kernel[i].decl->name;
        }
        near = rubus__nearest(name, names, (size_t)p->nkernel);
    }
    (void)rubus__fail(RUBUS_ENOTFOUND, "%s has no kernel `%s`%s%s%s", p->name, name,
                      near == NULL ? "" : "; did you mean `", near == NULL ? "" : near,
                      near == NULL ? "" : "`?");
    rubus__free(names);
    return NULL;
}

uint32_t rubus_module_kernel_count(const rubus_module *module)
{
    return module == NULL ? 0 : (uint32_t)module->program->nkernel;
}

const rubus_kernel *rubus_module_kernel_at(const rubus_module *module, uint32_t at)
{
    return at < rubus_module_kernel_count(module) ? &module->kernel[at] : NULL;
}

const char *rubus_kernel_name(const rubus_kernel *kernel)
{
    return kernel == NULL ? "" : kernel->k->decl->name;
}

uint32_t rubus_kernel_param_count(const rubus_kernel *kernel)
{
    return kernel == NULL ? 0 : (uint32_t)kernel->k->decl->nparam;
}

uint32_t rubus_kernel_ndim(const rubus_kernel *kernel)
{
    return kernel == NULL ? 0 : (uint32_t)kernel->k->decl->nindex;
}

rubus_status rubus__need_param(const char *what, const void *param, uint32_t at,
                               uint32_t n)
{
    const rubus_status st = rubus__need_struct(what, "param", param);
    return st != RUBUS_OK || at < n
               ? st
               : rubus__fail(RUBUS_EINVAL, "%s: parameter %u of %u; they count from 0",
                             what, (unsigned)at, (unsigned)n);
}

rubus_status rubus_kernel_param_get(const rubus_kernel *kernel, uint32_t at,
                                    rubus_kernel_param *param)
{
    static const char what[] = "rubus_kernel_param_get";
    rubus_status st = rubus__need(what, "the kernel", kernel, NULL);
    if (st == RUBUS_OK) {
        st = rubus__need_param(what, param, at, rubus_kernel_param_count(kernel));
    }
    if (st != RUBUS_OK) {
        return st;
    }
    const rk_decl *decl = kernel->k->decl->param[at];
    rubus_kernel_param all;
    memset(&all, 0, sizeof(all));
    all.struct_size = param->struct_size;
    all.name = decl->name;
    all.kind = decl->rank > 0    ? RUBUS_PARAM_ARRAY
               : decl->is_result ? RUBUS_PARAM_RESULT
                                 : RUBUS_PARAM_SCALAR;
    all.type = rk_param_type(kernel->module->program, decl);
    all.rank = decl->rank;
    if (all.kind == RUBUS_PARAM_ARRAY) {
        all.access = decl->mode == RK_MODE_OUT     ? RUBUS_WRITE
                     : decl->mode == RK_MODE_INOUT ? RUBUS_READ | RUBUS_WRITE
                                                   : RUBUS_READ;
    } else if (all.kind == RUBUS_PARAM_RESULT) {
        all.access = RUBUS_WRITE;
    }
    memcpy(param, &all,
           param->struct_size < sizeof(all) ? param->struct_size : sizeof(all));
    return RUBUS_OK;
}
