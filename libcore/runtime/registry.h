/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_REGISTRY_H
#define RUBUS_REGISTRY_H
/*
 * What the runtime knows of backends: plugins found and refused, backends started from
 * them (one for each distinct list of options), devices opened for contexts.
 *
 *   plugin (file or built-in)  ->  backend (plugin + options, `be`)  ->  device (`ctx`)
 *
 * A context needs only the last part: rubus__device_open does the whole way from a spec
 * to an opened and checked device, rubus__device_close gives it back.
 *
 * Lock order: the registry's mutex is taken alone, before any lock of a context; it is
 * held while a plugin is opened, never while a slot of a device runs.
 */
#include <rubus/backend.h>
#include <rubus/context.h>

#include "libcore/base/base.h"

typedef struct rubus__backend rubus__backend;
typedef struct rubus__device rubus__device;

/*
 * The optional slots, complete: each is either the plugin's own or a stub of the core, so
 * callers never look for holes. The stubs of fill and copy go through the host; the
 * runtime may put functions that launch kernels in their place (only where
 * rubus__device_owns says no), as soon as rubus__device_open has returned. The products
 * of sparse matrices are not among them: what stands in for these slots are kernels,
 * which the sparse layer launches.
 */
typedef struct rubus__optional {
    rubus_status (*fill)(rubus__device *dev, void *buffer, uint64_t first, uint64_t n,
                         const void *pattern, uint32_t pattern_size);
    rubus_status (*copy)(rubus__device *dev, void *dst, uint64_t dst_first,
                         const void *src, uint64_t src_first, uint64_t n);
    /* first and n: the window that is wanted; the pointer is that of byte `first`. */
    rubus_status (*map)(rubus__device *dev, void *buffer, uint64_t first, uint64_t n,
                        uint32_t access, void **out_host);
    rubus_status (*unmap)(rubus__device *dev, void *buffer);
    rubus_status (*scatter_flush)(rubus__device *dev, const rubus_csr_desc *a);
} rubus__optional;

/* A device opened for one context. Called by one thread at a time, as slots are. */
struct rubus__device {
    const rubus_ops
        *ops;  /* the core's copy; required slots: dev->ops->write(dev->ctx, ...) */
    void *ctx; /* of the plugin */
    rubus__optional optional; /* optional slots: dev->optional.copy(dev, ...) */
    rubus_caps caps;          /* checked, strings terminated, lowered as the spec asks */
    uint32_t index;           /* number of the device in its plugin */
    const char *name;         /* of the backend, "threads"; lives as long as the device */
    const char *path;         /* of the plugin file, or "(built in)" */
    const char *version;      /* of the plugin */
    const char *why;          /* "argument", "RUBUS_BACKEND" or "default" */
    rubus__backend *backend;
    void *user; /* of the runtime: NULL at first, never touched by the registry */
    struct rubus__shadow *shadow; /* buffers mapped by the stub of map */
};

/* --- selection.c -------------------------------------------------------------------- */

/*
 * Opens the device that `spec` (NULL or blank: $RUBUS_BACKEND, or "threads") asks for:
 * parses, starts the backend, picks the device, lowers its capabilities, opens it, and
 * checks that the locality slot agrees with the capabilities. In a list the first item
 * that works is taken; the text of a failure names every item with its reason.
 *
 * EINVAL (malformed; gives the position), ENODEV, EPLUGIN, ENOMEM, or what the plugin
 * says.
 */
rubus_status rubus__device_open(const char *spec, rubus__device **out_device);
/* Destroys the plugin's context (which waits for its work); all buffers and modules must
 * be gone. NULL allowed. */
void rubus__device_close(rubus__device *dev);

/* Value in force of "threads", "cc", "validate", "fp64", "descriptors", "cap.NAME", from
 * the spec or its variable; NULL if unset. validate: "0" or "1"; fp64, descriptors: "on"
 * or "off"; threads: a number >= 1. Lives as long as the device. */
const char *rubus__device_option(const rubus__device *dev, const char *key);
/* Whether the plugin fills the slot itself; slot: "fill", "copy", "map", ... */
bool rubus__device_owns(const rubus__device *dev, const char *slot);

/*
 * Passes on the status of a slot: RUBUS_OK and the codes of status.h as they are.
 * Anything else, and an error for which the plugin wrote no text since
 * rubus__error_expect(), gets a text that names backend and slot.
 */
rubus_status rubus__slot_result(const rubus__device *dev, const char *slot,
                                rubus_status st);
/* The call of a slot, and its result so. */
#define RUBUS__SLOT_OF(dev, slot, call)                                                  \
    (rubus__error_expect(), rubus__slot_result((dev), (slot), (call)))

/* buffer_create; EPLUGIN too if the slot gives no buffer. */
rubus_status rubus__buffer_create(rubus__device *dev, uint64_t nbyte, void **out_buffer);
/* Slots that cannot fail; what they say goes to the log. NULL allowed. */
void rubus__buffer_destroy(rubus__device *dev, void *buffer);
void rubus__impl_destroy(rubus__device *dev, void *module);

/* --- plugin_loader.c ---------------------------------------------------------------- */

/* rubus_shutdown: closes backends that no device uses; once none is left, forgets what
 * was found, so that the next use looks again. Plugins stay mapped. */
void rubus__registry_shutdown(void);
/* Call from the runtime's pthread_atfork handlers. A child never uses a backend that its
 * parent started: it starts its own. */
void rubus__registry_fork_prepare(void);
void rubus__registry_fork_parent(void);
void rubus__registry_fork_child(void);

/* The interpreter, listed like any plugin file. */
extern const rubus_plugin_desc rubus__reference_plugin;

#endif
