/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts: lifetime, the lock that serialises a device, what becomes of a context after
 * fork or when its device is lost, information and counters.
 */
#include "config.h"

#include "libcore/runtime/runtime.h"

#include <string.h>

/* Counts forks: a context of an older generation belongs to a parent process. */
static atomic_uint generation;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void fork_child(void)
{
    atomic_fetch_add(&generation, 1u);
    rubus__registry_fork_child();
}

static void fork_watch(void)
{
    (void)pthread_atfork(rubus__registry_fork_prepare, rubus__registry_fork_parent,
                         fork_child);
}

const char *rubus_version(void)
{
    return "0.1.0";
}

bool rubus__context_forked(const rubus_context *context)
{
    return context->fork_generation != atomic_load(&generation);
}

rubus_status rubus_context_create(const char *spec, rubus_context **out_context)
{
    if (out_context == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_context_create: out_context is NULL");
    }
    (void)pthread_once(&fork_once, fork_watch);
    rubus_context *context = rubus__alloc(sizeof(*context));
    if (context == NULL) {
        return RUBUS_ENOMEM;
    }
    atomic_init(&context->references, 1);
    context->fork_generation = atomic_load(&generation);
    const rubus_status st = rubus__device_open(spec, &context->dev);
    if (st != RUBUS_OK) {
        rubus__free(context);
        return st;
    }
    pthread_mutex_init(&context->lock, NULL);
    pthread_mutex_init(&context->build_lock, NULL);
    pthread_mutex_init(&context->object_lock, NULL);
    const char *validate = rubus__device_option(context->dev, "validate");
    context->validate = validate != NULL && strcmp(validate, "1") == 0;
    context->result_stride = 256;
    if (context->dev->caps.offset_align > context->result_stride) {
        context->result_stride = context->dev->caps.offset_align;
    }
    rubus__log(RUBUS__LOG_INFO, "context", "backend %s, device %u \"%s\", because %s",
               context->dev->name, (unsigned)context->dev->index, context->dev->caps.name,
               context->dev->why);
    *out_context = context;
    return RUBUS_OK;
}

void rubus__context_hold(rubus_context *context)
{
    atomic_fetch_add(&context->references, 1);
}

static void free_buffers(rubus_context *context)
{
    for (int32_t i = 0; i < context->nscratch; i++) {
        rubus__buffer_destroy(context->dev, context->scratch[i].buffer);
    }
    rubus__buffer_destroy(context->dev, context->results.buffer);
}

void rubus_context_destroy(rubus_context *context)
{
    if (context == NULL || atomic_fetch_sub(&context->references, 1) != 1) {
        return;
    }
    const bool alive = !rubus__context_forked(context);
    rubus__module_end(context->blas, alive);
    rubus__kept_fini(context, alive);
    if (alive) {
        free_buffers(context);
        rubus__device_close(context->dev);
        pthread_mutex_destroy(&context->lock);
        pthread_mutex_destroy(&context->build_lock);
        pthread_mutex_destroy(&context->object_lock);
    }
    rubus__free(context->late_error);
    rubus__free(context->scratch);
    rubus__free(context);
}

rubus_status rubus__foreign(const char *what, const char *name,
                            const rubus_context *context, const char *other_name,
                            const rubus_context *other, const char *cure)
{
    return rubus__fail(RUBUS_EFOREIGN,
                       "%s: %s lives on %s (device \"%s\"), %s on %s (device \"%s\") in "
                       "another context%s%s",
                       what, name, context->dev->name, context->dev->caps.name,
                       other_name, other->dev->name, other->dev->caps.name,
                       cure == NULL ? "" : "; ", cure == NULL ? "" : cure);
}

rubus_status rubus__enter(rubus_context *context, const char *what)
{
    if (context == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the context is NULL", what);
    }
    if (rubus__context_forked(context)) {
        return rubus__fail(
            RUBUS_EFORKED,
            "%s: this context was made before fork; open one of its own in "
            "the child process (where a driver refuses that, fork before "
            "the first is opened)",
            what);
    }
    pthread_mutex_lock(&context->lock);
    if (context->lost) {
        pthread_mutex_unlock(&context->lock);
        return rubus__fail(RUBUS_ELOST,
                           "%s: the device \"%s\" is lost; destroy the context and open "
                           "a new one",
                           what, context->dev->caps.name);
    }
    return RUBUS_OK;
}

rubus_status rubus__leave(rubus_context *context, rubus_status st)
{
    if (st == RUBUS_ELOST) {
        context->lost = true;
    }
    pthread_mutex_unlock(&context->lock);
    return st;
}

rubus_status rubus_context_synchronize(rubus_context *context)
{
    rubus_status st = rubus__enter(context, "rubus_context_synchronize");
    if (st != RUBUS_OK) {
        return st;
    }
    st = RUBUS__SLOT(context, "synchronize",
                     context->dev->ops->synchronize(context->dev->ctx));
    if (st == RUBUS_OK) {
        st = rubus__report_checked(context);
    }
    if (st == RUBUS_OK && context->validate) {
        st = rubus__guards_check_all(context);
    }
    return rubus__leave(context, st);
}

/* Copies as many bytes of *from as the caller's struct has. */
static rubus_status give(const char *what, void *to, const void *from, size_t size)
{
    size_t asked = 0;
    if (to != NULL) {
        memcpy(&asked, to, sizeof(asked));
    }
    if (asked < sizeof(asked)) {
        return rubus__fail(RUBUS_EINVAL, "%s: pass a struct with struct_size set", what);
    }
    const size_t n = asked < size ? asked : size;
    memcpy((char *)to + sizeof(asked), (const char *)from + sizeof(asked),
           n - sizeof(asked));
    return RUBUS_OK;
}

rubus_status rubus_context_info_get(rubus_context *context, rubus_context_info *info)
{
    if (context == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_context_info_get: the context is NULL");
    }
    const rubus__device *dev = context->dev;
    const char *threads = rubus__device_option(dev, "threads");
    int64_t nthreads = 0;
    if (threads == NULL || !rubus__parse_i64(threads, &nthreads)) {
        nthreads = 0;
    }
    rubus_context_info all;
    memset(&all, 0, sizeof(all));
    all.backend = dev->name;
    all.device = dev->caps.name;
    all.driver = dev->caps.driver;
    all.plugin = dev->path;
    all.version = dev->version;
    all.dialect = dev->caps.dialect;
    all.why = dev->why;
    all.device_index = dev->index;
    all.kind = dev->caps.kind;
    all.fp64 = dev->caps.fp64;
    all.memory = dev->caps.memory;
    all.threads = (uint32_t)nthreads;
    all.mem_total = dev->caps.mem_total;
    return give("rubus_context_info_get", info, &all, sizeof(all));
}

rubus_status rubus_context_counters_get(rubus_context *context,
                                        rubus_context_counters *counters)
{
    rubus_status st = rubus__enter(context, "rubus_context_counters_get");
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus_context_counters all = context->counters;
    (void)rubus__leave(context, RUBUS_OK);
    return give("rubus_context_counters_get", counters, &all, sizeof(all));
}

void rubus_shutdown(void)
{
    rubus__registry_shutdown();
}
