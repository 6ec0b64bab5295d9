/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKELETON_BACKEND_H
#define SKELETON_BACKEND_H
/*
 * What the files of the backend share. As it stands, a backend that computes in the
 * calling thread: a slot has done its work when it returns, so the order of the calls is
 * the order of their effects by itself.
 */
#include <rubus/backend.h>

/* What `open` makes; the device slots get it. */
typedef struct skeleton_backend {
    const rubus_host *host;
} skeleton_backend;

/* What context_create makes; all other slots get it. */
typedef struct skeleton_context {
    const rubus_host *host;
} skeleton_context;

typedef struct skeleton_buffer {
    unsigned char *data;
    uint64_t nbyte;
} skeleton_buffer;

/* One function of a compiled text. */
typedef struct skeleton_entry {
    void (*run)(void *block); /* dialect c: every point from lo to hi of the block */
    uint32_t block_size;
    uint32_t nbuffer;
    uint32_t *slot; /* by number of the buffer: where in the block its address goes */
} skeleton_entry;

typedef struct skeleton_module {
    void *library; /* of dlopen */
    uint32_t nentry;
    skeleton_entry entry[];
} skeleton_module;

/* skeleton_plugin.c: what a slot returns that is still to be written. */
rubus_status skeleton_not_written(const rubus_host *host, const char *slot);

/* skeleton_device.c; check_device is complete: an error unless there is that device. */
rubus_status skeleton_check_device(const skeleton_backend *be, uint32_t device);
rubus_status skeleton_device_count(void *backend, uint32_t *out_n);
rubus_status skeleton_device_caps(void *backend, uint32_t device, rubus_caps *out_caps);
rubus_status skeleton_context_create(void *backend, uint32_t device, void **out_ctx);
void skeleton_context_destroy(void *context);
rubus_status skeleton_synchronize(void *context);

/* skeleton_memory.c */
rubus_status skeleton_buffer_create(void *context, uint64_t nbyte, void **out_buffer);
void skeleton_buffer_destroy(void *context, void *buffer);
rubus_status skeleton_locality(void *context, const void *buffer, uint32_t *out_where);
rubus_status skeleton_write(void *context, void *buffer, uint64_t first, const void *src,
                            uint64_t n);
rubus_status skeleton_read(void *context, const void *buffer, uint64_t first, void *dst,
                           uint64_t n);

/* skeleton_module.c */
rubus_status skeleton_module_create(void *context, const rubus_module_desc *desc,
                                    void **out_module);
void skeleton_module_destroy(void *context, void *module);
rubus_status skeleton_launch(void *context, void *module, const rubus_launch_info *info);

/*
 * skeleton_compile.c, complete: text of the dialect c becomes functions of this process.
 * The library is closed with dlclose, the slots of an entry are freed with host->free.
 */
rubus_status skeleton_compile(const rubus_host *host, const rubus_module_desc *desc,
                              void **out_library);
rubus_status skeleton_entry_find(const rubus_host *host, void *library,
                                 const rubus_entry *from, skeleton_entry *out_entry);

#endif
