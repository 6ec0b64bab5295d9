/* SPDX-License-Identifier: Apache-2.0 */
/* The library's part, played for a plugin. */
#include "config.h"

#include "conform_direct.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MAGIC 0x52424C4B52424C4Bu
#define GUARD 64u
#define GUARD_BYTE 0xD7
#define FRESH_BYTE 0xA5
#define DEAD_BYTE 0xDE

static _Thread_local char last_text[CONFORM_TEXT];

/* Stands in front of every block. */
typedef struct block_head {
    uint64_t magic;
    uint64_t size;
    void *base;
    uint64_t reserved0;
} block_head;

/* --- services --------------------------------------------------------------------- */

RUBUS_PRINTF(3, 4)
static rubus_status host_fail(void *ctx, rubus_status st, const char *fmt, ...)
{
    conform_host *h = ctx;
    va_list args;
    va_start(args, fmt);
    vsnprintf(last_text, sizeof last_text, fmt, args);
    va_end(args);
    atomic_fetch_add(&h->nfail, 1);
    return st;
}

static void host_log(void *ctx, int32_t level, const char *text)
{
    (void)ctx;
    conform_true(level >= 1 && level <= 4, "host->log got level %d; 1 to 4 exist", level);
    conform_true(text != NULL, "host->log got no text");
}

static void *host_alloc(void *ctx, uint64_t size, uint64_t align)
{
    conform_host *h = ctx;
    conform_true(align != 0 && (align & (align - 1)) == 0,
                 "host->alloc got the alignment %llu, no power of two",
                 (unsigned long long)align);
    const long long number = atomic_fetch_add(&h->count, 1) + 1;
    const long long fail_at = atomic_load(&h->fail_at);
    const bool fails =
        fail_at != 0 &&
        (number == fail_at || (number > fail_at && atomic_load(&h->fail_after)));
    const uint64_t step = align < 64 ? 64 : align;
    const uint64_t room = sizeof(block_head) > step ? sizeof(block_head) : step;
    void *base = NULL;
    if (fails || size > UINT64_MAX / 2 || align > UINT64_C(1) << 30 ||
        posix_memalign(&base, step, room + size + GUARD) != 0) {
        atomic_fetch_add(&h->failed, fails);
        host_fail(ctx, RUBUS_ENOMEM, "out of host memory: %llu bytes",
                  (unsigned long long)size);
        return NULL;
    }
    unsigned char *data = (unsigned char *)base + room;
    const block_head head = {BLOCK_MAGIC, size, base, 0};
    memcpy(data - sizeof head, &head, sizeof head);
    if (size <= UINT64_C(1) << 26) {
        memset(data, FRESH_BYTE, size);
    }
    memset(data + size, GUARD_BYTE, GUARD);
    atomic_fetch_add(&h->live, 1);
    return data;
}

static void host_free(void *ctx, void *p)
{
    conform_host *h = ctx;
    if (p == NULL) {
        return;
    }
    block_head head;
    memcpy(&head, (unsigned char *)p - sizeof head, sizeof head);
    conform_true(head.magic == BLOCK_MAGIC,
                 "host->free got memory that is not from host->alloc, or was given back "
                 "before");
    const unsigned char *guard = (const unsigned char *)p + head.size;
    for (unsigned i = 0; i < GUARD; i++) {
        conform_true(guard[i] == GUARD_BYTE,
                     "byte %u behind a block of %llu bytes from host->alloc was written",
                     i, (unsigned long long)head.size);
    }
    memset((unsigned char *)p - sizeof head, DEAD_BYTE, sizeof head);
    if (head.size <= UINT64_C(1) << 26) {
        memset(p, DEAD_BYTE, head.size);
    }
    atomic_fetch_sub(&h->live, 1);
    free(head.base);
}

static const char *host_option(void *ctx, const char *key)
{
    // One text a key for the life of the process, as the header promises.
    static _Thread_local struct {
        char key[64];
        char value[256];
    } seen[16];
    (void)ctx;
    char value[256];
    if (conform_option(conform_facts_now(), key, value) == NULL) {
        return NULL;
    }
    for (int i = 0; i < 16; i++) {
        if (seen[i].key[0] == '\0') {
            snprintf(seen[i].key, sizeof seen[i].key, "%s", key);
            snprintf(seen[i].value, sizeof seen[i].value, "%s", value);
        }
        if (strcmp(seen[i].key, key) == 0) {
            return seen[i].value;
        }
    }
    return NULL;
}

// No cache: whatever is needed is built.
static rubus_status host_cache_get(void *ctx, const uint8_t key[32], const char *suffix,
                                   int32_t *out_fd)
{
    (void)ctx;
    (void)key;
    conform_true(suffix != NULL && suffix[0] != '\0', "cache_get got no suffix");
    *out_fd = -1;
    return RUBUS_OK;
}

static rubus_status host_cache_put(void *ctx, const uint8_t key[32], const char *suffix,
                                   int32_t fd)
{
    (void)ctx;
    (void)key;
    conform_true(suffix != NULL && suffix[0] != '\0', "cache_put got no suffix");
    conform_true(fd >= 0, "cache_put got no file");
    return RUBUS_OK;
}

static void host_init(conform_host *h)
{
    memset(h, 0, sizeof *h);
    h->host = (rubus_host){.struct_size = sizeof(rubus_host),
                           .abi_major = RUBUS_ABI_MAJOR,
                           .abi_minor = RUBUS_ABI_MINOR,
                           .ctx = h,
                           .fail = host_fail,
                           .log = host_log,
                           .alloc = host_alloc,
                           .free = host_free,
                           .option = host_option,
                           .cache_get = host_cache_get,
                           .cache_put = host_cache_put};
}

const char *conform_direct_text(void)
{
    return last_text;
}

void conform_direct_forget(void)
{
    last_text[0] = '\0';
}

/* --- the table -------------------------------------------------------------------- */

void conform_direct_load(conform_direct *d)
{
    memset(d, 0, sizeof *d);
    host_init(&d->host);
    d->handle = dlopen(conform_facts_now()->file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    conform_true(d->handle != NULL, "the system cannot load it: %s", dlerror());
    void *symbol = dlsym(d->handle, "rubus_backend_plugin");
    conform_true(symbol != NULL, "it has no symbol rubus_backend_plugin");
    d->desc = symbol;
    conform_true(d->desc->magic == RUBUS_PLUGIN_MAGIC &&
                     d->desc->abi_major == RUBUS_ABI_MAJOR && d->desc->open != NULL,
                 "rubus_backend_plugin is no descriptor of ABI %u", RUBUS_ABI_MAJOR);
}

rubus_status conform_direct_open(conform_direct *d)
{
    memset(&d->ops, 0, sizeof d->ops);
    d->ops.struct_size = sizeof d->ops;
    d->be = NULL;
    const rubus_status st = d->desc->open(&d->host.host, &d->ops, &d->be);
    conform_true(st != RUBUS_OK || d->be != NULL || d->desc->close == NULL,
                 "open gave RUBUS_OK and no handle");
    return st;
}

rubus_status conform_direct_context(conform_direct *d)
{
    d->ctx = NULL;
    const rubus_status st =
        d->ops.context_create(d->be, conform_facts_now()->device, &d->ctx);
    conform_true(st != RUBUS_OK || d->ctx != NULL,
                 "context_create gave RUBUS_OK and no context");
    if (st != RUBUS_OK) {
        d->ctx = NULL;
    }
    return st;
}

void conform_direct_start(conform_direct *d)
{
    conform_direct_load(d);
    conform_slot_ok(conform_direct_open(d));
    conform_slot_ok(conform_direct_context(d));
}

void conform_direct_close(conform_direct *d)
{
    if (d->ctx != NULL) {
        d->ops.context_destroy(d->ctx);
        d->ctx = NULL;
    }
    if (d->desc->close != NULL) {
        d->desc->close(d->be);
    }
    d->be = NULL;
    const long long live = atomic_load(&d->host.live);
    conform_true(live == 0, "%lld blocks of host->alloc were not given back", live);
}

void conform_slot_ok_(rubus_status st, const char *call)
{
    if (st != RUBUS_OK) {
        conform_fail("%.200s: %s: %s", call, rubus_status_name(st), last_text);
    }
}

void conform_slot_fails(rubus_status st, const char *what)
{
    conform_true(st != RUBUS_OK, "%s: it gave RUBUS_OK", what);
    conform_true(st < 0 && strcmp(rubus_status_name(st), "RUBUS_?") != 0,
                 "%s: %d is no status", what, st);
    conform_true(last_text[0] != '\0', "%s: %s, without a text", what,
                 rubus_status_name(st));
}

void conform_direct_caps(const conform_facts *facts, uint32_t device, rubus_caps *out)
{
    (void)facts;
    conform_direct d;
    conform_direct_load(&d);
    conform_slot_ok(conform_direct_open(&d));
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    conform_slot_ok(d.ops.device_caps(d.be, device, out));
    out->struct_size = sizeof *out;
    out->name[sizeof out->name - 1] = '\0';
    out->driver[sizeof out->driver - 1] = '\0';
    out->dialect[sizeof out->dialect - 1] = '\0';
    out->lane_width = out->lane_width == 0 ? 1 : out->lane_width;
    out->offset_align = out->offset_align == 0 ? 1 : out->offset_align;
    conform_direct_close(&d);
}
