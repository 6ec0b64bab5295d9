/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend for tests of the loader and of the stubs: three pretended devices whose
 * buffers are host memory. It computes nothing, so module_create refuses.
 *
 * Its name and its manners stand in two texts that a test finds in the built file by
 * their marks and overwrites in a copy (tests/support/probe_files.h). One module so gives
 * every kind of faulty plugin; the numbers of the descriptor are changed in the same way.
 */
#include "config.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <string.h>

#include <rubus/backend.h>

enum { NDEVICE = 3 };

static const char name_mark[] = "RUBUS-TEST-NAME:probe\0..............................";
/* Read through a volatile pointer, or the compiler would take it for a constant. */
static const char manner_mark[] = "RUBUS-TEST-MANNER:good\0.............................";
static const char *const volatile manner_at =
    manner_mark + sizeof "RUBUS-TEST-MANNER:" - 1;

typedef struct backend {
    const rubus_host *host;
    rubus_ops *room;
    char library[32];
    const char *program;
} backend;

typedef struct buffer {
    uint64_t nbyte;
    char *data;
} buffer;

typedef struct context {
    backend *be;
    uint32_t device;
} context;

static int nopen; /* of this copy of the file, in this process */

static int manner(const char *wanted)
{
    return strcmp(manner_at, wanted) == 0;
}

static rubus_status device_count(void *be, uint32_t *out_n)
{
    (void)be;
    *out_n = manner("no-device") ? 0 : NDEVICE;
    return manner("count-silent") ? RUBUS_ELOST : RUBUS_OK;
}

static const char *shown(const char *value)
{
    return value == NULL ? "-" : value;
}

static rubus_status device_caps(void *be_, uint32_t device, rubus_caps *caps)
{
    backend *be = be_;
    static const struct {
        const char *name;
        uint32_t kind;
    } devices[NDEVICE] = {{"Soft Pipe 9", RUBUS_KIND_SOFTWARE},
                          {"Probe GPU A7", RUBUS_KIND_DISCRETE},
                          {"Probe GPU A70", RUBUS_KIND_INTEGRATED}};
    if (device >= NDEVICE) {
        return be->host->fail(be->host->ctx, RUBUS_ENODEV, "no device %u", device);
    }
    strcpy(caps->name, devices[device].name);
    caps->kind = manner("soft") ? RUBUS_KIND_SOFTWARE : devices[device].kind;
    // what the library told this backend, for the test to read
    const rubus_host *host = be->host;
    snprintf(caps->driver, sizeof caps->driver,
             "open=%d threads=%s validate=%s cc=%s fp64=%s "
             "descriptors=%s cap=%s",
             nopen, shown(host->option(host->ctx, "threads")),
             shown(host->option(host->ctx, "validate")),
             shown(host->option(host->ctx, "cc")), shown(host->option(host->ctx, "fp64")),
             shown(host->option(host->ctx, "descriptors")),
             shown(host->option(host->ctx, "cap.max_buffer")));
    strcpy(caps->dialect, manner("bad-dialect") ? "latin" : "c");
    memset(caps->uuid, (int)(0x11 * (device + 1)), sizeof caps->uuid);
    caps->fp64 = 2;
    caps->int64 = manner("bad-ability") ? 7 : 2;
    caps->bool8 = 2;
    caps->atomic_f64_add = 1;
    caps->lane_width = 8;
    caps->offset_align = manner("bad-align") ? 24 : 16;
    caps->memory = manner("bad-memory") ? 9 : RUBUS_AT_HOST;
    caps->max_buffer = 1u << 30;
    return RUBUS_OK;
}

static rubus_status context_create(void *be_, uint32_t device, void **out_ctx)
{
    backend *be = be_;
    const rubus_host *host = be->host;
    if (manner("context-fails")) {
        return host->fail(host->ctx, RUBUS_EDEVMEM, "device %u has no memory left",
                          device);
    }
    if (manner("context-silent")) {
        return RUBUS_EDEVMEM;
    }
    if (manner("context-positive")) {
        return 5;
    }
    if (manner("scribble")) {
        memset((char *)be->room, 0x55, sizeof *be->room);
    }
    context *ctx = host->alloc(host->ctx, sizeof *ctx, 16);
    if (ctx == NULL) {
        return RUBUS_ENOMEM;
    }
    ctx->be = be;
    ctx->device = device;
    *out_ctx = ctx;
    return RUBUS_OK;
}

static void context_destroy(void *ctx_)
{
    context *ctx = ctx_;
    ctx->be->host->free(ctx->be->host->ctx, ctx);
}

static rubus_status buffer_create(void *ctx_, uint64_t nbyte, void **out_buffer)
{
    const rubus_host *host = ((context *)ctx_)->be->host;
    if (manner("no-buffer")) {
        return RUBUS_OK;
    }
    buffer *b = host->alloc(host->ctx, sizeof *b, 16);
    if (b == NULL) {
        return RUBUS_ENOMEM;
    }
    b->nbyte = nbyte;
    b->data = host->alloc(host->ctx, nbyte, 64);
    if (b->data == NULL) {
        host->free(host->ctx, b);
        return RUBUS_ENOMEM;
    }
    memset(b->data, 0xa5, nbyte);
    *out_buffer = b;
    return RUBUS_OK;
}

static void buffer_destroy(void *ctx_, void *buffer_)
{
    const rubus_host *host = ((context *)ctx_)->be->host;
    buffer *b = buffer_;
    host->free(host->ctx, b->data);
    host->free(host->ctx, b);
}

static rubus_status locality(void *ctx, const void *b, uint32_t *out_where)
{
    (void)ctx;
    (void)b;
    *out_where = manner("lies") ? RUBUS_AT_DEVICE : RUBUS_AT_HOST;
    return RUBUS_OK;
}

static rubus_status check_range(void *ctx_, const buffer *b, uint64_t first, uint64_t n)
{
    const rubus_host *host = ((context *)ctx_)->be->host;
    if (first > b->nbyte || n > b->nbyte - first) {
        return host->fail(host->ctx, RUBUS_EINVAL, "range %llu + %llu leaves %llu bytes",
                          (unsigned long long)first, (unsigned long long)n,
                          (unsigned long long)b->nbyte);
    }
    return RUBUS_OK;
}

static rubus_status write_bytes(void *ctx, void *buffer_, uint64_t first, const void *src,
                                uint64_t n)
{
    buffer *b = buffer_;
    const rubus_status st = check_range(ctx, b, first, n);
    if (st == RUBUS_OK) {
        memcpy(b->data + first, src, n);
    }
    return st;
}

static rubus_status read_bytes(void *ctx, const void *buffer_, uint64_t first, void *dst,
                               uint64_t n)
{
    const buffer *b = buffer_;
    const rubus_status st = check_range(ctx, b, first, n);
    if (st == RUBUS_OK) {
        memcpy(dst, b->data + first, n);
    }
    return st;
}

static rubus_status module_create(void *ctx_, const rubus_module_desc *desc,
                                  void **out_module)
{
    (void)out_module;
    const rubus_host *host = ((context *)ctx_)->be->host;
    return host->fail(host->ctx, RUBUS_EUNSUPPORTED, "%s: the probe computes nothing",
                      desc->name);
}

static void module_destroy(void *ctx, void *module)
{
    (void)ctx;
    (void)module;
}

static rubus_status launch(void *ctx_, void *module, const rubus_launch_info *info)
{
    (void)module;
    (void)info;
    const rubus_host *host = ((context *)ctx_)->be->host;
    return host->fail(host->ctx, RUBUS_EUNSUPPORTED, "the probe computes nothing");
}

static rubus_status synchronize(void *ctx)
{
    (void)ctx;
    return RUBUS_OK;
}

static rubus_status own_map(void *ctx, void *buffer_, uint32_t access, void **out_host)
{
    (void)ctx;
    (void)access;
    *out_host = manner("map-nothing") ? NULL : ((buffer *)buffer_)->data;
    return RUBUS_OK;
}

static rubus_status own_unmap(void *ctx, void *b)
{
    (void)ctx;
    (void)b;
    return RUBUS_OK;
}

static rubus_status own_spmv(void *ctx, const rubus_csr_desc *a, const rubus_vec *x,
                             const rubus_vec *y, double alpha, double beta)
{
    (void)ctx;
    (void)a;
    (void)x;
    (void)y;
    (void)alpha;
    (void)beta;
    return RUBUS_OK;
}

static rubus_status own_prepare(void *ctx, const rubus_csr_desc *a,
                                rubus_csr_plan **out_plan)
{
    (void)ctx;
    (void)a;
    *out_plan = NULL;
    return RUBUS_OK;
}

/* Every service once; NULL, or the name of the one that is wrong. */
static const char *host_is_wrong(const rubus_host *host)
{
    if (host->struct_size < sizeof *host || host->abi_major != RUBUS_ABI_MAJOR) {
        return "sizes";
    }
    void *p = host->alloc(host->ctx, 100, 4096);
    if (p == NULL || (uintptr_t)p % 4096 != 0) {
        return "alloc";
    }
    memset(p, 1, 100);
    host->free(host->ctx, p);
    if (host->alloc(host->ctx, 8, 24) != NULL) {
        return "alloc of a bad alignment";
    }
    host->log(host->ctx, 3, "line of the probe");
    if (host->option(host->ctx, "no-such-key") != NULL) {
        return "option";
    }
    int32_t fd = -1;
    const uint8_t key[32] = {0};
    if (host->cache_get(host->ctx, key, "../x", &fd) != RUBUS_EINVAL ||
        host->cache_put(host->ctx, key, "UPPER", 0) != RUBUS_EINVAL) {
        return "cache suffix";
    }
    return NULL;
}

static void fill_room(rubus_ops *room)
{
    rubus_ops ops = {
        .struct_size = sizeof ops,
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
    };
    if (manner("native") || manner("map-nothing")) {
        ops.map = own_map;
        ops.unmap = own_unmap;
        ops.spmv = own_spmv;
    }
    if (manner("map-only")) {
        ops.map = own_map;
    }
    if (manner("prepare-only")) {
        ops.csr_prepare = own_prepare;
    }
#define CLEAR_SLOT(slot, required, since, summary)                                       \
    if (manner("hole:" #slot)) {                                                         \
        ops.slot = NULL;                                                                 \
    }
    RUBUS_SLOT_LIST(CLEAR_SLOT)
    const uint32_t size = room->struct_size < sizeof ops ? room->struct_size : sizeof ops;
    memcpy(room, &ops, size);
}

static rubus_status open_backend(const rubus_host *host, rubus_ops *room, void **out_be)
{
    if (manner("open-fails")) {
        return host->fail(host->ctx, RUBUS_ENODEV, "libprobe.so.1 is missing; install %s",
                          "probe-drivers");
    }
    if (manner("open-silent")) {
        return RUBUS_ENODEV;
    }
    if (manner("open-positive")) {
        return 3;
    }
    const char *wrong = manner("host-check") ? host_is_wrong(host) : NULL;
    if (wrong != NULL) {
        return host->fail(host->ctx, RUBUS_EINTERNAL, "service %s", wrong);
    }
    backend *be = host->alloc(host->ctx, sizeof *be, 16);
    if (be == NULL) {
        return RUBUS_ENOMEM;
    }
    be->host = host;
    be->room = room;
    // a function and an object of another library, whose absence a test brings about
    snprintf(be->library, sizeof be->library, "%s", gnu_get_libc_version());
    be->program = program_invocation_short_name;
    nopen++;
    fill_room(room);
    *out_be = be;
    return RUBUS_OK;
}

static void close_backend(void *be_)
{
    backend *be = be_;
    nopen--;
    be->host->log(be->host->ctx, 3, "closed");
    be->host->free(be->host->ctx, be);
}

RUBUS_PLUGIN_EXPORT extern const rubus_plugin_desc rubus_backend_plugin;

RUBUS_PLUGIN_EXPORT const rubus_plugin_desc rubus_backend_plugin = {
    .magic = RUBUS_PLUGIN_MAGIC,
    .struct_size = sizeof(rubus_plugin_desc),
    .abi_major = RUBUS_ABI_MAJOR,
    .abi_minor = RUBUS_ABI_MINOR,
    .abi_minor_min = 0,
    .name = name_mark + sizeof "RUBUS-TEST-NAME:" - 1,
    .version = "7.1",
    .vendor = "tests",
    .licence = "Apache-2.0",
    .open = open_backend,
    .close = close_backend,
};
