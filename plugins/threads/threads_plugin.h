/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_THREADS_PLUGIN_H
#define RUBUS_THREADS_PLUGIN_H
/*
 * The backend for CPU threads: what its files share.
 *
 *   backend  one for each list of options: counts, and the compiler once it is known
 *   context  a pool of threads (started when first needed) and scratch for launches
 *   buffer   memory of the host
 *   module   functions, prebuilt or from a shared object that the compiler made
 *
 * Every slot is done when it returns: the one in-order queue of a context is its caller.
 */
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <rubus/backend.h>

#include "plugins/threads/compiler.h"
#include "plugins/threads/pool.h"

typedef void (*threads_function)(void *block);

typedef struct threads_backend {
    const rubus_host *host;
    int nthread;
    int ncpu;
    uint64_t mem_total;
    uint64_t
        stream_size;  /* copies and fills from this many bytes on pass the caches by */
    _Atomic int busy; /* threads at work in all contexts */
    pthread_mutex_t lock; /* guards compiler */
    threads_compiler compiler;
} threads_backend;

typedef struct threads_context {
    threads_backend *be;
    const rubus_host *host;
    threads_pool *pool;     /* NULL until the first work for more than one thread */
    unsigned char *scratch; /* one argument block for each thread, and the template */
    size_t scratch_stride;
    uint32_t nbuffer; /* made so far: staggers their addresses */
} threads_context;

typedef struct threads_buffer {
    unsigned char *data;
    uint64_t nbyte;
    void *base;      /* what was allocated or mapped */
    uint64_t mapped; /* bytes of the mapping; 0: from the host's allocator */
} threads_buffer;

typedef struct threads_entry {
    threads_function function;
    uint32_t block_size;
    uint32_t nbuffer;
    uint32_t flags;
    uint64_t point_bytes; /* hints: what one point moves and computes; 0 not known */
    uint64_t point_ops;
    uint32_t *offset; /* [nbuffer] of each buffer's slot in the block */
} threads_entry;

typedef struct threads_module {
    threads_context *ctx;
    void *library; /* of dlopen; NULL for a prebuilt module */
    uint32_t nentry;
    threads_entry *entry;
} threads_module;

/* --- threads_plugin.c ------------------------------------------------------------- */

extern const rubus_plugin_desc rubus_backend_plugin;
/* Starts the pool of the context if it has none. */
rubus_status threads_context_pool(threads_context *ctx);

/* --- memory_threads.c ------------------------------------------------------------- */

rubus_status threads_buffer_create(void *ctx, uint64_t nbyte, void **out_buffer);
/* The same, but pages are left to whoever writes first. */
rubus_status threads_buffer_reserve(threads_context *ctx, uint64_t nbyte,
                                    threads_buffer **out_buffer);
void threads_buffer_destroy(void *ctx, void *buffer);
rubus_status threads_locality(void *ctx, const void *buffer, uint32_t *out_where);
rubus_status threads_write(void *ctx, void *buffer, uint64_t first, const void *src,
                           uint64_t n);
rubus_status threads_read(void *ctx, const void *buffer, uint64_t first, void *dst,
                          uint64_t n);
rubus_status threads_fill(void *ctx, void *buffer, uint64_t first, uint64_t n,
                          const void *pattern, uint32_t pattern_size);
rubus_status threads_copy(void *ctx, void *dst, uint64_t dst_first, const void *src,
                          uint64_t src_first, uint64_t n);
rubus_status threads_map(void *ctx, void *buffer, uint32_t access, void **out_host);
rubus_status threads_unmap(void *ctx, void *buffer);

/* --- float_mode.c ----------------------------------------------------------------- */

/*
 * Kernels run in the default mode on every thread, whatever the caller has set: else the
 * part of the calling thread would be rounded otherwise than the rest.
 */
typedef struct threads_float_mode {
#if defined(__SSE2__)
    unsigned mxcsr;
#else
    fenv_t env;
#endif
} threads_float_mode;
void threads_float_enter(threads_float_mode *mode);
void threads_float_leave(const threads_float_mode *mode);

/* --- launch_threads.c ------------------------------------------------------------- */

rubus_status threads_launch(void *ctx, void *module, const rubus_launch_info *info);

/* --- jit.c ------------------------------------------------------------------------ */

rubus_status threads_module_create(void *ctx, const rubus_module_desc *desc,
                                   void **out_module);
void threads_module_destroy(void *ctx, void *module);

#endif
