/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend for CPU threads: its descriptor, its one device, and contexts. The work is
 * in the files beside this one; what they share is in threads_plugin.h. Nothing here
 * knows librubus: all services come through the host table.
 */
#include "config.h"

#include "plugins/threads/threads_plugin.h"

#include "plugins/threads/cpu_count.h"
#include "plugins/threads/spmv.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if !defined(PACKAGE_VERSION)
#define PACKAGE_VERSION "0"
#endif

/* Without knowledge of the caches, 8 MiB are held to leave them. */
#define STREAM_SIZE (UINT64_C(8) << 20)

/* --- backend ---------------------------------------------------------------------- */

/* The option "threads" as a number; -1 if it is none that can be used. */
static int parse_count(const char *text)
{
    int64_t n = 0;
    text += strspn(text, " \t");
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || text[digits + strspn(text + digits, " \t")] != '\0') {
        return -1;
    }
    for (size_t i = 0; i < digits && n <= THREADS_MAX; i++) {
        n = n * 10 + (text[i] - '0');
    }
    return n >= 1 && n <= THREADS_MAX ? (int)n : -1;
}

/* Copies larger than half the last cache would only push other data out of it. */
static uint64_t find_stream_size(void)
{
    long cache = -1;
#if defined(_SC_LEVEL3_CACHE_SIZE)
    cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    uint64_t half = cache > 0 ? (uint64_t)cache / 2 : 0;
    return half > STREAM_SIZE / 2 ? half : STREAM_SIZE;
}

static rubus_status open_backend(const rubus_host *host, rubus_ops *room, void **out_be);

static void close_backend(void *pointer)
{
    threads_backend *be = pointer;
    if (be != NULL) {
        const rubus_host *host = be->host;
        threads_compiler_fini(host, &be->compiler);
        pthread_mutex_destroy(&be->lock);
        host->free(host->ctx, be);
    }
}

/* --- device ----------------------------------------------------------------------- */

static rubus_status device_count(void *be, uint32_t *out_n)
{
    (void)be;
    *out_n = 1;
    return RUBUS_OK;
}

static rubus_status check_device(const threads_backend *be, uint32_t device)
{
    if (device != 0) {
        return be->host->fail(be->host->ctx, RUBUS_ENODEV,
                              "the backend threads has one device, number 0; %" PRIu32
                              " was asked",
                              device);
    }
    return RUBUS_OK;
}

static rubus_status device_caps(void *pointer, uint32_t device, rubus_caps *out_caps)
{
    const threads_backend *be = pointer;
    rubus_status st = check_device(be, device);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_caps caps = {.kind = RUBUS_KIND_CPU,
                       .dialect = "c",
                       .fp64 = 2,
                       .int64 = 2,
                       .bool8 = 2,
                       .atomic_f32_add = 1,
                       .atomic_f64_add = 1,
                       .lane_width = 1,
                       .memory = RUBUS_AT_HOST,
                       .offset_align = 1,
                       .mem_total = be->mem_total,
                       .max_alloc = be->mem_total,
                       .max_buffer = be->mem_total};
    char cpu[200];
    threads_cpu_name(cpu, sizeof cpu);
    snprintf(caps.name, sizeof caps.name, "%s, %d thread%s", cpu, be->nthread,
             be->nthread == 1 ? "" : "s");
    threads_compiler_describe(be->host, caps.driver, sizeof caps.driver);
    // The library may know fewer fields than this plugin.
    size_t size =
        out_caps->struct_size < sizeof caps ? out_caps->struct_size : sizeof caps;
    caps.struct_size = out_caps->struct_size;
    memcpy(out_caps, &caps, size);
    return RUBUS_OK;
}

/* --- contexts --------------------------------------------------------------------- */

static void context_destroy(void *pointer)
{
    threads_context *ctx = pointer;
    if (ctx == NULL) {
        return;
    }
    const rubus_host *host = ctx->host;
    threads_pool_destroy(ctx->pool);
    if (ctx->scratch != NULL) {
        host->free(host->ctx, ctx->scratch);
    }
    host->free(host->ctx, ctx);
}

static rubus_status context_create(void *pointer, uint32_t device, void **out_ctx)
{
    threads_backend *be = pointer;
    const rubus_host *host = be->host;
    rubus_status st = check_device(be, device);
    if (st != RUBUS_OK) {
        return st;
    }
    threads_context *ctx = host->alloc(host->ctx, sizeof *ctx, _Alignof(max_align_t));
    if (ctx == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(ctx, 0, sizeof *ctx);
    ctx->be = be;
    ctx->host = host;
    *out_ctx = ctx;
    return RUBUS_OK;
}

rubus_status threads_context_pool(threads_context *ctx)
{
    if (ctx->pool != NULL) {
        return RUBUS_OK;
    }
    threads_backend *be = ctx->be;
    return threads_pool_create(ctx->host, be->nthread, be->ncpu, &be->busy, &ctx->pool);
}

static rubus_status synchronize(void *ctx)
{
    (void)ctx; // every slot has waited for its own work
    return RUBUS_OK;
}

/* --- descriptor ------------------------------------------------------------------- */

static const rubus_ops own_ops = {
    .struct_size = sizeof(rubus_ops),
    .device_count = device_count,
    .device_caps = device_caps,
    .context_create = context_create,
    .context_destroy = context_destroy,
    .buffer_create = threads_buffer_create,
    .buffer_destroy = threads_buffer_destroy,
    .locality = threads_locality,
    .write = threads_write,
    .read = threads_read,
    .module_create = threads_module_create,
    .module_destroy = threads_module_destroy,
    .launch = threads_launch,
    .synchronize = synchronize,
    .fill = threads_fill,
    .copy = threads_copy,
    .map = threads_map,
    .unmap = threads_unmap,
    .csr_prepare = threads_csr_prepare,
    .csr_release = threads_csr_release,
    .spmv = threads_spmv,
    .spmm = threads_spmm,
};

static rubus_status open_backend(const rubus_host *host, rubus_ops *room, void **out_be)
{
    const char *option = host->option(host->ctx, "threads");
    int ncpu = threads_cpu_count();
    int nthread = option != NULL ? parse_count(option) : ncpu;
    if (nthread < 1) {
        return host->fail(host->ctx, RUBUS_EINVAL,
                          "the number of threads is '%s' (RUBUS_NUM_THREADS, or threads= "
                          "after the backend's name); it must be 1 to %d",
                          option, THREADS_MAX);
    }
    threads_backend *be = host->alloc(host->ctx, sizeof *be, _Alignof(max_align_t));
    if (be == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(be, 0, sizeof *be);
    be->host = host;
    be->ncpu = ncpu;
    be->nthread = nthread < THREADS_MAX ? nthread : THREADS_MAX;
    be->mem_total = threads_memory_total();
    be->stream_size = find_stream_size();
    atomic_init(&be->busy, 0);
    int err = pthread_mutex_init(&be->lock, NULL);
    if (err != 0) {
        host->free(host->ctx, be);
        return host->fail(host->ctx, RUBUS_ENOMEM, "opening the backend threads: %s",
                          strerror(err));
    }
    size_t size = room->struct_size < sizeof own_ops ? room->struct_size : sizeof own_ops;
    uint32_t offered = room->struct_size;
    memcpy(room, &own_ops, size);
    room->struct_size = offered;
    *out_be = be;
    return RUBUS_OK;
}

RUBUS_PLUGIN_EXPORT const rubus_plugin_desc rubus_backend_plugin = {
    .magic = RUBUS_PLUGIN_MAGIC,
    .struct_size = sizeof(rubus_plugin_desc),
    .abi_major = RUBUS_ABI_MAJOR,
    .abi_minor = RUBUS_ABI_MINOR,
    .abi_minor_min = 0,
    .name = "threads",
    .version = PACKAGE_VERSION,
    .vendor = "Rubus",
    .licence = "Apache-2.0",
    .open = open_backend,
    .close = close_backend,
};
