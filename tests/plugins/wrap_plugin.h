/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_WRAP_PLUGIN_H
#define RUBUS_TESTS_WRAP_PLUGIN_H
/*
 * A frame for test plugins that wrap another one: it opens the inner plugin's file,
 * hands it services of its own, wraps contexts, buffers and modules, and forwards every
 * slot. Capabilities pass through unchanged, and a slot that the inner plugin leaves
 * empty stays empty. The wrapping plugin gives a table of the slots that it does
 * otherwise.
 *
 * RUBUS_TEST_INNER in the environment is the path of the inner file; without it, the
 * backend that the hooks name is taken from the build tree (RUBUS_TEST_BUILDDIR). It may
 * be a wrapping plugin too, which then takes what its own hooks name.
 * RUBUS_TEST_HIDE is a list of optional slots to leave empty, apart by blanks, so that
 * the library's stubs run in their place. Options of the spec ("chaos:threads=3") reach
 * the inner plugin. None of this is ever installed.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <rubus/backend.h>

typedef struct wrap_hooks wrap_hooks;

typedef struct wrap_backend {
    const rubus_host *host; /* of the library */
    rubus_host services;    /* what the inner plugin sees */
    const wrap_hooks *hooks;
    const rubus_plugin_desc *desc; /* of the inner plugin */
    rubus_ops inner_ops;
    void *inner;
    void *user; /* of the wrapping plugin; so below */
} wrap_backend;

typedef struct wrap_context {
    wrap_backend *be;
    const rubus_host *host;
    const rubus_ops *ops; /* the inner plugin's */
    void *inner;
    void *user;
} wrap_context;

typedef struct wrap_buffer {
    void *inner;
    uint64_t nbyte;
    void *user;
} wrap_buffer;

typedef struct wrap_module {
    void *inner;
    uint32_t nentry;
    uint32_t *block_size; /* [nentry] */
    uint32_t *nbuffer;    /* [nentry] */
    void *user;
} wrap_module;

typedef struct wrap_plan { /* of a sparse matrix */
    rubus_csr_plan head;   /* as the inner one says */
    rubus_csr_desc matrix; /* as the inner plugin sees it */
    rubus_csr_plan *inner;
    void *user;
} wrap_plan;

struct wrap_hooks {
    const char *inner; /* name of the backend to wrap; NULL: threads */
    /* Slots that the wrapping plugin does itself; NULL: forwarded. Their handles are
     * those above; wrap_forward has the forwarding slots for them to call. */
    const rubus_ops *slots;
    const rubus_ops *fills; /* those that do not need the inner plugin's; may be NULL */
    rubus_status (*open)(wrap_backend *be); /* the inner one is open; may be NULL */
    void (*close)(wrap_backend *be);        /* may be NULL */
};

/* Every slot, forwarded. A slot that the inner plugin leaves empty must not be called. */
extern const rubus_ops wrap_forward;

/* For the descriptor's open and close. */
rubus_status wrap_open(const wrap_hooks *hooks, const rubus_host *host, rubus_ops *room,
                       void **out_be);
void wrap_close(void *be);

/* The text of this thread's last failure in the inner plugin; never NULL. */
const char *wrap_last_text(void);
void wrap_clear_text(void);

/* A descriptor for NAME with these hooks: one exported object, as any plugin has. */
#define WRAP_PLUGIN(text_name, hooks)                                                    \
    static rubus_status wrap_open_own(const rubus_host *host, rubus_ops *room,           \
                                      void **out_be)                                     \
    {                                                                                    \
        return wrap_open((hooks), host, room, out_be);                                   \
    }                                                                                    \
    WRAP_DESCRIPTOR(text_name, wrap_open_own)

/* A descriptor with an open function of its own, which calls wrap_open. */
#define WRAP_DESCRIPTOR(text_name, open_function)                                        \
    RUBUS_PLUGIN_EXPORT extern const rubus_plugin_desc rubus_backend_plugin;             \
    RUBUS_PLUGIN_EXPORT const rubus_plugin_desc rubus_backend_plugin = {                 \
        .magic = RUBUS_PLUGIN_MAGIC,                                                     \
        .struct_size = sizeof(rubus_plugin_desc),                                        \
        .abi_major = RUBUS_ABI_MAJOR,                                                    \
        .abi_minor = RUBUS_ABI_MINOR,                                                    \
        .abi_minor_min = 0,                                                              \
        .name = (text_name),                                                             \
        .version = "1.0",                                                                \
        .vendor = "tests",                                                               \
        .licence = "Apache-2.0",                                                         \
        .open = (open_function),                                                         \
        .close = wrap_close,                                                             \
    }

#endif
