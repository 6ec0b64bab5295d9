/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in backend `reference`: runs kernels in the interpreter of the kernel
 * compiler, slowly and exactly as the language means them. It is a plugin like any other,
 * seen by the core through its table only, and fills the required slots alone, so the
 * stubs of all optional slots are at work in it.
 *
 * A launch runs before it returns. What goes wrong in it is kept and reported by the next
 * call that waits, as on a device.
 */
#include "config.h"

#include <rubus/backend.h>
#include <rubus/context.h>

#include "libcore/kernel/program.h"
#include "libcore/runtime/registry.h"

#include <string.h>
#include <unistd.h>

#define ALIGNMENT 64u

typedef struct ref_backend {
    const rubus_host *host;
} ref_backend;

typedef struct ref_context {
    const rubus_host *host;
    rubus_status pending; /* first failure of a launch that nobody has been told of */
    char *text;           /* of it; NULL if there was no memory for it */
} ref_context;

typedef struct ref_buffer {
    uint64_t nbyte;
    unsigned char *data;
} ref_buffer;

typedef struct ref_module {
    rk_program *program;
} ref_module;

/* --- devices ---------------------------------------------------------------------- */

static rubus_status device_count(void *be, uint32_t *out_n)
{
    (void)be;
    *out_n = 1;
    return RUBUS_OK;
}

static uint64_t memory_size(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

static rubus_status device_caps(void *be, uint32_t device, rubus_caps *out_caps)
{
    const ref_backend *backend = be;
    if (device != 0) {
        return backend->host->fail(backend->host->ctx, RUBUS_ENODEV,
                                   "the interpreter is device 0; there is no device %u",
                                   device);
    }
    rubus_caps caps;
    memset(&caps, 0, sizeof(caps));
    caps.kind = RUBUS_KIND_CPU;
    (void)rubus__snprintf(caps.name, sizeof(caps.name), "interpreter");
    (void)rubus__snprintf(caps.driver, sizeof(caps.driver), "rubus %d.%d.%d",
                          RUBUS_VERSION_MAJOR, RUBUS_VERSION_MINOR, RUBUS_VERSION_PATCH);
    (void)rubus__snprintf(caps.dialect, sizeof(caps.dialect), "rk");
    caps.fp64 = 2;
    caps.int64 = 2;
    caps.bool8 = 2;
    caps.atomic_f32_add = 1;
    caps.atomic_f64_add = 1;
    caps.lane_width = 1;
    caps.memory = RUBUS_AT_HOST;
    caps.mem_total = memory_size();
    caps.struct_size = out_caps->struct_size;
    size_t room = out_caps->struct_size;
    memcpy(out_caps, &caps, room < sizeof(caps) ? room : sizeof(caps));
    return RUBUS_OK;
}

/* --- contexts --------------------------------------------------------------------- */

static rubus_status context_create(void *be, uint32_t device, void **out_ctx)
{
    const ref_backend *backend = be;
    if (device != 0) {
        return backend->host->fail(backend->host->ctx, RUBUS_ENODEV,
                                   "the interpreter is device 0; there is no device %u",
                                   device);
    }
    ref_context *c = backend->host->alloc(backend->host->ctx, sizeof(*c), ALIGNMENT);
    if (c == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(c, 0, sizeof(*c));
    c->host = backend->host;
    *out_ctx = c;
    return RUBUS_OK;
}

static void context_destroy(void *ctx)
{
    ref_context *c = ctx;
    rubus__free(c->text);
    c->host->free(c->host->ctx, c);
}

/* Reports what a launch left, once. */
static rubus_status report(ref_context *c)
{
    rubus_status st = c->pending;
    if (st != RUBUS_OK) {
        if (c->text != NULL) {
            rubus__error_restore(c->text);
        } else {
            (void)c->host->fail(
                c->host->ctx, st,
                "an earlier launch failed: %s; there was no memory to keep "
                "the details",
                rubus_status_text(st));
        }
        rubus__free(c->text);
        c->text = NULL;
        c->pending = RUBUS_OK;
    }
    return st;
}

static rubus_status synchronize(void *ctx)
{
    return report(ctx);
}

/* --- buffers ---------------------------------------------------------------------- */

static rubus_status buffer_create(void *ctx, uint64_t nbyte, void **out_buffer)
{
    const ref_context *c = ctx;
    ref_buffer *buffer = c->host->alloc(c->host->ctx, sizeof(*buffer), ALIGNMENT);
    if (buffer == NULL) {
        return RUBUS_ENOMEM;
    }
    buffer->nbyte = nbyte;
    buffer->data = c->host->alloc(c->host->ctx, nbyte, ALIGNMENT);
    if (buffer->data == NULL) {
        c->host->free(c->host->ctx, buffer);
        return c->host->fail(c->host->ctx, RUBUS_EDEVMEM,
                             "no memory for a buffer of %llu bytes; free arrays, or use "
                             "smaller ones",
                             (unsigned long long)nbyte);
    }
    *out_buffer = buffer;
    return RUBUS_OK;
}

static void buffer_destroy(void *ctx, void *buffer)
{
    const ref_context *c = ctx;
    ref_buffer *b = buffer;
    if (b != NULL) {
        c->host->free(c->host->ctx, b->data);
        c->host->free(c->host->ctx, b);
    }
}

static rubus_status locality(void *ctx, const void *buffer, uint32_t *out_where)
{
    (void)ctx;
    (void)buffer;
    *out_where = RUBUS_AT_HOST;
    return RUBUS_OK;
}

/* The core keeps ranges inside; a fault there must not become a stray write. */
static rubus_status range_fits(const ref_context *c, const ref_buffer *b, uint64_t first,
                               uint64_t n)
{
    if (first > b->nbyte || n > b->nbyte - first) {
        return c->host->fail(c->host->ctx, RUBUS_EINTERNAL,
                             "bytes %llu to %llu leave a buffer of %llu bytes",
                             (unsigned long long)first, (unsigned long long)(first + n),
                             (unsigned long long)b->nbyte);
    }
    return RUBUS_OK;
}

static rubus_status buffer_write(void *ctx, void *buffer, uint64_t first, const void *src,
                                 uint64_t n)
{
    ref_buffer *b = buffer;
    rubus_status st = range_fits(ctx, b, first, n);
    if (st == RUBUS_OK && n > 0) {
        memcpy(b->data + first, src, n);
    }
    return st;
}

static rubus_status buffer_read(void *ctx, const void *buffer, uint64_t first, void *dst,
                                uint64_t n)
{
    const ref_buffer *b = buffer;
    rubus_status st = range_fits(ctx, b, first, n);
    if (st == RUBUS_OK && n > 0) {
        memcpy(dst, b->data + first, n);
    }
    return st == RUBUS_OK ? report(ctx) : st;
}

/* --- modules ---------------------------------------------------------------------- */

/* The core laid out the blocks; the program made of the text must read them the same. */
static bool entry_agrees(const rubus_entry *given, const rk_entry *own)
{
    if (given->nparam != (uint32_t)own->nslot || given->block_size != own->block_size ||
        strcmp(given->symbol, own->symbol) != 0) {
        return false;
    }
    uint32_t nbuffer = 0;
    for (uint32_t k = 0; k < given->nparam; k++) {
        const rubus_param *p = &given->param[k];
        const rk_slot *slot = &own->slot[k];
        bool is_buffer = slot->access != 0;
        if (p->offset != slot->offset || p->type != (uint32_t)slot->type ||
            (p->is_buffer != 0) != is_buffer || (is_buffer && p->index != nbuffer)) {
            return false;
        }
        nbuffer += is_buffer ? 1 : 0;
    }
    return true;
}

static rubus_status module_create(void *ctx, const rubus_module_desc *desc,
                                  void **out_module)
{
    const ref_context *c = ctx;
    if (strcmp(desc->dialect, "rk") != 0) {
        return c->host->fail(c->host->ctx, RUBUS_EUNSUPPORTED,
                             "the interpreter takes text of dialect rk, not %s",
                             desc->dialect);
    }
    ref_module *module = c->host->alloc(c->host->ctx, sizeof(*module), ALIGNMENT);
    if (module == NULL) {
        return RUBUS_ENOMEM;
    }
    rk_program *program;
    rubus_status st =
        rk_program_from_text(desc->name, desc->text, desc->text_size, &program);
    if (st != RUBUS_OK) {
        c->host->free(c->host->ctx, module);
        return st;
    }
    bool agrees = desc->nentry == (uint32_t)program->nentry;
    for (uint32_t k = 0; agrees && k < desc->nentry; k++) {
        agrees = entry_agrees(&desc->entry[k], &program->entry[k]);
    }
    if (!agrees) {
        rk_program_destroy(program);
        c->host->free(c->host->ctx, module);
        return c->host->fail(c->host->ctx, RUBUS_EINTERNAL,
                             "the entries of module `%s` do not fit its text",
                             desc->name);
    }
    module->program = program;
    *out_module = module;
    return RUBUS_OK;
}

static void module_destroy(void *ctx, void *module)
{
    const ref_context *c = ctx;
    ref_module *m = module;
    if (m != NULL) {
        rk_program_destroy(m->program);
        c->host->free(c->host->ctx, m);
    }
}

/* --- launches --------------------------------------------------------------------- */

/* The block with the range and the addresses of this launch. */
static void fill_block(unsigned char *block, const rk_entry *entry,
                       const rubus_launch_info *info)
{
    memcpy(block, info->block, entry->block_size);
    memcpy(block, info->lo, sizeof(info->lo));
    memcpy(block + sizeof(info->lo), info->hi, sizeof(info->hi));
    uint32_t number = 0;
    for (int32_t k = 0; k < entry->nslot; k++) {
        if (entry->slot[k].access != 0) {
            const ref_buffer *b = info->buffer[number];
            unsigned char *address =
                b == NULL ? NULL : b->data + info->first_byte[number];
            memcpy(block + entry->slot[k].offset, &address, sizeof(address));
            number++;
        }
    }
}

static rubus_status launch(void *ctx, void *module, const rubus_launch_info *info)
{
    ref_context *c = ctx;
    const ref_module *m = module;
    const rk_entry *entry = &m->program->entry[info->entry];
    unsigned char *block = c->host->alloc(c->host->ctx, entry->block_size, ALIGNMENT);
    if (block == NULL) {
        return RUBUS_ENOMEM;
    }
    fill_block(block, entry, info);
    rubus_status st = rk_interpret(m->program, (int32_t)info->entry, block);
    c->host->free(c->host->ctx, block);
    if (st == RUBUS_EBOUNDS) { /* found on the way, not by the call */
        if (c->pending == RUBUS_OK) {
            c->pending = st;
            c->text = rubus__error_take();
        }
        return RUBUS_OK;
    }
    return st;
}

/* --- the plugin ------------------------------------------------------------------- */

static const rubus_ops table = {
    .struct_size = sizeof(rubus_ops),
    .device_count = device_count,
    .device_caps = device_caps,
    .context_create = context_create,
    .context_destroy = context_destroy,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .locality = locality,
    .write = buffer_write,
    .read = buffer_read,
    .module_create = module_create,
    .module_destroy = module_destroy,
    .launch = launch,
    .synchronize = synchronize,
};

static rubus_status plugin_open(const rubus_host *host, rubus_ops *room, void **out_be)
{
    ref_backend *backend = host->alloc(host->ctx, sizeof(*backend), ALIGNMENT);
    if (backend == NULL) {
        return RUBUS_ENOMEM;
    }
    backend->host = host;
    uint32_t size = room->struct_size;
    memcpy(room, &table, size < sizeof(table) ? size : sizeof(table));
    room->struct_size = size < sizeof(table) ? size : (uint32_t)sizeof(table);
    *out_be = backend;
    return RUBUS_OK;
}

static void plugin_close(void *be)
{
    ref_backend *backend = be;
    backend->host->free(backend->host->ctx, backend);
}

const rubus_plugin_desc rubus__reference_plugin = {
    .magic = RUBUS_PLUGIN_MAGIC,
    .struct_size = sizeof(rubus_plugin_desc),
    .abi_major = RUBUS_ABI_MAJOR,
    .abi_minor = RUBUS_ABI_MINOR,
    .abi_minor_min = 0,
    .flags = 0,
    .name = "reference",
    .version = "0.1.0",
    .vendor = "the Rubus authors",
    .licence = "Apache-2.0",
    .open = plugin_open,
    .close = plugin_close,
};
