/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of wrapping plugins: the inner file, the services that it gets, and slots
 * that take the wrapping off their handles and call the inner ones.
 */
#include "config.h"

#include "tests/plugins/wrap_plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_ROOM = 16384, BUFFERS_AT_ONCE = 64 };

/* --- services --------------------------------------------------------------------- */

static _Thread_local char last_text[TEXT_ROOM];

const char *wrap_last_text(void)
{
    return last_text;
}

void wrap_clear_text(void)
{
    last_text[0] = '\0';
}

RUBUS_PRINTF(3, 4)
static rubus_status service_fail(void *ctx, rubus_status st, const char *fmt, ...)
{
    const wrap_backend *be = ctx;
    va_list args;
    va_start(args, fmt);
    vsnprintf(last_text, sizeof last_text, fmt, args);
    va_end(args);
    return be->host->fail(be->host->ctx, st, "%s", last_text);
}

static void service_log(void *ctx, int32_t level, const char *text)
{
    const wrap_backend *be = ctx;
    be->host->log(be->host->ctx, level, text);
}

static void *service_alloc(void *ctx, uint64_t size, uint64_t align)
{
    const wrap_backend *be = ctx;
    void *p = be->host->alloc(be->host->ctx, size, align);
    if (p == NULL) {
        snprintf(last_text, sizeof last_text, "out of memory: %llu bytes asked",
                 (unsigned long long)size);
    }
    return p;
}

static void service_free(void *ctx, void *p)
{
    const wrap_backend *be = ctx;
    be->host->free(be->host->ctx, p);
}

static const char *service_option(void *ctx, const char *key)
{
    const wrap_backend *be = ctx;
    return be->host->option(be->host->ctx, key);
}

static rubus_status service_cache_get(void *ctx, const uint8_t key[32],
                                      const char *suffix, int32_t *out_fd)
{
    const wrap_backend *be = ctx;
    return be->host->cache_get(be->host->ctx, key, suffix, out_fd);
}

static rubus_status service_cache_put(void *ctx, const uint8_t key[32],
                                      const char *suffix, int32_t fd)
{
    const wrap_backend *be = ctx;
    return be->host->cache_put(be->host->ctx, key, suffix, fd);
}

/* --- device slots ----------------------------------------------------------------- */

static rubus_status device_count(void *be_, uint32_t *out_n)
{
    wrap_backend *be = be_;
    return be->inner_ops.device_count(be->inner, out_n);
}

static rubus_status device_caps(void *be_, uint32_t device, rubus_caps *out_caps)
{
    wrap_backend *be = be_;
    return be->inner_ops.device_caps(be->inner, device, out_caps);
}

static rubus_status context_create(void *be_, uint32_t device, void **out_ctx)
{
    wrap_backend *be = be_;
    wrap_context *ctx = be->host->alloc(be->host->ctx, sizeof *ctx, 16);
    if (ctx == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(ctx, 0, sizeof *ctx);
    ctx->be = be;
    ctx->host = be->host;
    ctx->ops = &be->inner_ops;
    const rubus_status st = ctx->ops->context_create(be->inner, device, &ctx->inner);
    if (st != RUBUS_OK) {
        be->host->free(be->host->ctx, ctx);
        return st;
    }
    *out_ctx = ctx;
    return RUBUS_OK;
}

static void context_destroy(void *ctx_)
{
    wrap_context *ctx = ctx_;
    ctx->ops->context_destroy(ctx->inner);
    ctx->host->free(ctx->host->ctx, ctx);
}

/* --- memory slots ----------------------------------------------------------------- */

static rubus_status buffer_create(void *ctx_, uint64_t nbyte, void **out_buffer)
{
    wrap_context *ctx = ctx_;
    wrap_buffer *buffer = ctx->host->alloc(ctx->host->ctx, sizeof *buffer, 16);
    if (buffer == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(buffer, 0, sizeof *buffer);
    buffer->nbyte = nbyte;
    const rubus_status st = ctx->ops->buffer_create(ctx->inner, nbyte, &buffer->inner);
    if (st != RUBUS_OK) {
        ctx->host->free(ctx->host->ctx, buffer);
        return st;
    }
    *out_buffer = buffer;
    return RUBUS_OK;
}

static void *bare(const void *buffer)
{
    return buffer == NULL ? NULL : ((const wrap_buffer *)buffer)->inner;
}

static void buffer_destroy(void *ctx_, void *buffer)
{
    wrap_context *ctx = ctx_;
    ctx->ops->buffer_destroy(ctx->inner, bare(buffer));
    ctx->host->free(ctx->host->ctx, buffer);
}

static rubus_status locality(void *ctx_, const void *buffer, uint32_t *out_where)
{
    wrap_context *ctx = ctx_;
    return ctx->ops->locality(ctx->inner, bare(buffer), out_where);
}

static rubus_status write_bytes(void *ctx_, void *buffer, uint64_t first, const void *src,
                                uint64_t n)
{
    wrap_context *ctx = ctx_;
    return ctx->ops->write(ctx->inner, bare(buffer), first, src, n);
}

static rubus_status read_bytes(void *ctx_, const void *buffer, uint64_t first, void *dst,
                               uint64_t n)
{
    wrap_context *ctx = ctx_;
    return ctx->ops->read(ctx->inner, bare(buffer), first, dst, n);
}

static rubus_status fill(void *ctx_, void *buffer, uint64_t first, uint64_t n,
                         const void *pattern, uint32_t pattern_size)
{
    wrap_context *ctx = ctx_;
    return ctx->ops->fill(ctx->inner, bare(buffer), first, n, pattern, pattern_size);
}

static rubus_status copy(void *ctx_, void *dst, uint64_t dst_first, const void *src,
                         uint64_t src_first, uint64_t n)
{
    wrap_context *ctx = ctx_;
    return ctx->ops->copy(ctx->inner, bare(dst), dst_first, bare(src), src_first, n);
}

static rubus_status map(void *ctx_, void *buffer, uint32_t access, void **out_host)
{
    wrap_context *ctx = ctx_;
    return ctx->ops->map(ctx->inner, bare(buffer), access, out_host);
}

static rubus_status unmap(void *ctx_, void *buffer)
{
    wrap_context *ctx = ctx_;
    return ctx->ops->unmap(ctx->inner, bare(buffer));
}

/* --- modules ---------------------------------------------------------------------- */

static rubus_status module_create(void *ctx_, const rubus_module_desc *desc,
                                  void **out_module)
{
    wrap_context *ctx = ctx_;
    const size_t table = (desc->nentry + 1) * sizeof(uint32_t);
    wrap_module *module =
        ctx->host->alloc(ctx->host->ctx, sizeof *module + 2 * table, 16);
    if (module == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(module, 0, sizeof *module);
    module->nentry = desc->nentry;
    module->block_size = (uint32_t *)(void *)(module + 1);
    module->nbuffer = module->block_size + desc->nentry + 1;
    for (uint32_t i = 0; i < desc->nentry; i++) {
        module->block_size[i] = desc->entry[i].block_size;
        module->nbuffer[i] = desc->entry[i].nbuffer;
    }
    const rubus_status st = ctx->ops->module_create(ctx->inner, desc, &module->inner);
    if (st != RUBUS_OK) {
        ctx->host->free(ctx->host->ctx, module);
        return st;
    }
    *out_module = module;
    return RUBUS_OK;
}

static void module_destroy(void *ctx_, void *module_)
{
    wrap_context *ctx = ctx_;
    wrap_module *module = module_;
    ctx->ops->module_destroy(ctx->inner, module->inner);
    ctx->host->free(ctx->host->ctx, module);
}

static rubus_status launch(void *ctx_, void *module, const rubus_launch_info *info)
{
    wrap_context *ctx = ctx_;
    void *few[BUFFERS_AT_ONCE];
    void **buffer = few;
    if (info->nbuffer > BUFFERS_AT_ONCE) {
        buffer = ctx->host->alloc(ctx->host->ctx, info->nbuffer * sizeof(void *), 16);
        if (buffer == NULL) {
            return RUBUS_ENOMEM;
        }
    }
    for (uint32_t i = 0; i < info->nbuffer; i++) {
        buffer[i] = bare(info->buffer[i]);
    }
    rubus_launch_info inner = *info;
    inner.buffer = buffer;
    const rubus_status st =
        ctx->ops->launch(ctx->inner, ((wrap_module *)module)->inner, &inner);
    if (buffer != few) {
        ctx->host->free(ctx->host->ctx, buffer);
    }
    return st;
}

static rubus_status synchronize(void *ctx_)
{
    wrap_context *ctx = ctx_;
    return ctx->ops->synchronize(ctx->inner);
}

/* --- sparse slots ----------------------------------------------------------------- */

static rubus_csr_desc bare_csr(const rubus_csr_desc *a)
{
    rubus_csr_desc inner = *a;
    inner.rowptr.buffer = bare(a->rowptr.buffer);
    inner.colval.buffer = bare(a->colval.buffer);
    inner.nzval.buffer = bare(a->nzval.buffer);
    inner.plan = a->plan == NULL ? NULL : ((wrap_plan *)(void *)a->plan)->inner;
    return inner;
}

static rubus_status csr_prepare(void *ctx_, const rubus_csr_desc *a,
                                rubus_csr_plan **out_plan)
{
    wrap_context *ctx = ctx_;
    wrap_plan *plan = ctx->host->alloc(ctx->host->ctx, sizeof *plan, 16);
    if (plan == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(plan, 0, sizeof *plan);
    plan->matrix = bare_csr(a);
    const rubus_status st =
        ctx->ops->csr_prepare(ctx->inner, &plan->matrix, &plan->inner);
    if (st != RUBUS_OK || plan->inner == NULL) {
        ctx->host->free(ctx->host->ctx, plan);
        return st;
    }
    plan->head = *plan->inner;
    *out_plan = &plan->head;
    return RUBUS_OK;
}

static void csr_release(void *ctx_, rubus_csr_plan *plan_)
{
    wrap_context *ctx = ctx_;
    wrap_plan *plan = (wrap_plan *)(void *)plan_;
    ctx->ops->csr_release(ctx->inner, plan->inner);
    ctx->host->free(ctx->host->ctx, plan);
}

static rubus_status spmv(void *ctx_, const rubus_csr_desc *a, const rubus_vec *x,
                         const rubus_vec *y, double alpha, double beta)
{
    wrap_context *ctx = ctx_;
    const rubus_csr_desc matrix = bare_csr(a);
    rubus_vec from = *x;
    rubus_vec to = *y;
    from.buffer = bare(x->buffer);
    to.buffer = bare(y->buffer);
    return ctx->ops->spmv(ctx->inner, &matrix, &from, &to, alpha, beta);
}

static rubus_status spmm(void *ctx_, const rubus_csr_desc *a, const rubus_mat *x,
                         const rubus_mat *y, double alpha, double beta)
{
    wrap_context *ctx = ctx_;
    const rubus_csr_desc matrix = bare_csr(a);
    rubus_mat from = *x;
    rubus_mat to = *y;
    from.buffer = bare(x->buffer);
    to.buffer = bare(y->buffer);
    return ctx->ops->spmm(ctx->inner, &matrix, &from, &to, alpha, beta);
}

static rubus_status scatter_flush(void *ctx_, const rubus_csr_desc *a)
{
    wrap_context *ctx = ctx_;
    const rubus_csr_desc matrix = bare_csr(a);
    return ctx->ops->scatter_flush(ctx->inner, &matrix);
}

const rubus_ops wrap_forward = {
    .struct_size = sizeof(rubus_ops),
    .device_count = device_count,
    .device_caps = device_caps,
    .context_create = context_create,
    .context_destroy = context_destroy,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .locality = locality,
    .write = write_bytes,
    .read = read_bytes,
    .module_create = module_create,
    .module_destroy = module_destroy,
    .launch = launch,
    .synchronize = synchronize,
    .fill = fill,
    .copy = copy,
    .map = map,
    .unmap = unmap,
    .csr_prepare = csr_prepare,
    .csr_release = csr_release,
    .spmv = spmv,
    .spmm = spmm,
    .scatter_flush = scatter_flush,
};

/* --- opening ---------------------------------------------------------------------- */

static rubus_status refuse(const wrap_backend *be, const char *path, const char *why)
{
    return be->host->fail(be->host->ctx, RUBUS_ENODEV,
                          "the inner plugin %s cannot be used: %s; RUBUS_TEST_INNER is "
                          "the path of another",
                          path, why);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* RUBUS_TEST_INNER, but not where it is this very file, wrapped by another one. */
static const char *named_inner(void)
{
    const char *named = getenv("RUBUS_TEST_INNER");
    Dl_info here;
    if (named == NULL || dladdr(&wrap_forward, &here) == 0) {
        return named;
    }
    return strcmp(base_name(named), base_name(here.dli_fname)) == 0 ? NULL : named;
}

/* Finds the file and its descriptor. It stays open, as plugins do. */
static rubus_status find_inner(wrap_backend *be)
{
    char path[4096];
    const char *named = named_inner();
    const char *build = getenv("RUBUS_TEST_BUILDDIR");
    if (named == NULL && build == NULL) {
        return refuse(be, "(none)", "no variable of the tests names it");
    }
    if (named != NULL) {
        snprintf(path, sizeof path, "%s", named);
    } else {
        snprintf(path, sizeof path, "%s/.libs/rubus/plugins-1/rubus-%s.so", build,
                 be->hooks->inner != NULL ? be->hooks->inner : "threads");
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        return refuse(be, path, dlerror());
    }
    be->desc = dlsym(library, "rubus_backend_plugin");
    (void)dlclose(library); // NODELETE keeps it
    if (be->desc == NULL || be->desc->magic != RUBUS_PLUGIN_MAGIC ||
        be->desc->abi_major != RUBUS_ABI_MAJOR || be->desc->open == NULL) {
        return refuse(be, path, "it exports no plugin of this ABI");
    }
    return RUBUS_OK;
}

/* Whether the word stands in RUBUS_TEST_HIDE. */
static bool is_hidden(const char *slot)
{
    const char *list = getenv("RUBUS_TEST_HIDE");
    const size_t n = strlen(slot);
    while (list != NULL && *list != '\0') {
        list += strspn(list, " ");
        const size_t word = strcspn(list, " ");
        if (word == n && memcmp(list, slot, n) == 0) {
            return true;
        }
        list += word;
    }
    return false;
}

/* Own slots before forwarded ones; a hole of the inner plugin stays one, but where the
 * hooks fill it on their own (`fills`). */
static bool fill_room(const wrap_backend *be, rubus_ops *room)
{
    const rubus_ops *own = be->hooks->slots;
    const rubus_ops *fills = be->hooks->fills;
    rubus_ops ops = wrap_forward;
    bool whole = true;
#define TAKE_SLOT(slot, required, since, summary)                                        \
    if (own->slot != NULL) {                                                             \
        ops.slot = own->slot;                                                            \
    }                                                                                    \
    if (fills != NULL && fills->slot != NULL) {                                          \
        ops.slot = fills->slot;                                                          \
    }                                                                                    \
    if ((be->inner_ops.slot == NULL && (fills == NULL || fills->slot == NULL)) ||        \
        is_hidden(#slot)) {                                                              \
        ops.slot = NULL;                                                                 \
        whole = whole && !(required);                                                    \
    }
    RUBUS_SLOT_LIST(TAKE_SLOT)
#undef TAKE_SLOT
    const uint32_t offered = room->struct_size;
    memcpy(room, &ops, offered < sizeof ops ? offered : sizeof ops);
    room->struct_size = offered;
    return whole;
}

rubus_status wrap_open(const wrap_hooks *hooks, const rubus_host *host, rubus_ops *room,
                       void **out_be)
{
    wrap_backend *be = host->alloc(host->ctx, sizeof *be, 16);
    if (be == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(be, 0, sizeof *be);
    be->host = host;
    be->hooks = hooks;
    be->services = (rubus_host){.struct_size = sizeof(rubus_host),
                                .abi_major = host->abi_major,
                                .abi_minor = host->abi_minor,
                                .ctx = be,
                                .fail = service_fail,
                                .log = service_log,
                                .alloc = service_alloc,
                                .free = service_free,
                                .option = service_option,
                                .cache_get = service_cache_get,
                                .cache_put = service_cache_put};
    be->inner_ops.struct_size = sizeof be->inner_ops;
    rubus_status st = find_inner(be);
    bool opened = false;
    if (st == RUBUS_OK) {
        st = be->desc->open(&be->services, &be->inner_ops, &be->inner);
        opened = st == RUBUS_OK;
    }
    if (st == RUBUS_OK && !fill_room(be, room)) {
        st = refuse(be, be->desc->name, "it leaves a required slot empty");
    }
    if (st == RUBUS_OK && hooks->open != NULL) {
        st = hooks->open(be);
    }
    if (st != RUBUS_OK) {
        if (opened && be->desc->close != NULL) {
            be->desc->close(be->inner);
        }
        host->free(host->ctx, be);
        return st;
    }
    *out_be = be;
    return RUBUS_OK;
}

void wrap_close(void *be_)
{
    wrap_backend *be = be_;
    if (be->hooks->close != NULL) {
        be->hooks->close(be);
    }
    if (be->desc->close != NULL) {
        be->desc->close(be->inner);
    }
    be->host->free(be->host->ctx, be);
}
