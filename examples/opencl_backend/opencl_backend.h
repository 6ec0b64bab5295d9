/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OPENCL_BACKEND_H
#define OPENCL_BACKEND_H
/*
 * What the files of the backend share. A context has one in-order command queue, so every
 * slot is one enqueued command and the order of the calls is the order of their effects.
 * A buffer is a cl_mem.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <pthread.h>
#include <stdbool.h>

#include <rubus/backend.h>

enum { DEVICES_MOST = 64, SUFFIX_ROOM = 32 };

/* One device that can run what the library emits. */
typedef struct ocl_device {
    cl_platform_id platform;
    cl_device_id id;
    char name[256];
    bool cpu;
    bool blocks;  /* few work-items with many points each, not the other way round */
    bool exact32; /* divides and takes roots of floats with correct rounding */
    cl_uint units;
    uint64_t max_alloc;
    char options[128];        /* of the compiler */
    char suffix[SUFFIX_ROOM]; /* of cached programs: what built them */
} ocl_device;

typedef struct ocl_backend {
    const rubus_host *host;
    pthread_mutex_t lock; /* guards the search for devices */
    bool searched;
    uint32_t ndevice;
    ocl_device device[DEVICES_MOST];
} ocl_backend;

typedef struct ocl_context {
    const rubus_host *host;
    const ocl_device *device;
    cl_context handle;
    cl_command_queue queue;
    bool lost;
} ocl_context;

typedef struct ocl_argument {
    uint32_t is_buffer;
    uint32_t place; /* buffers: number in the launch; scalars: offset in the block */
    uint32_t size;
} ocl_argument;

typedef struct ocl_entry {
    cl_kernel kernel;
    char label[96];
    uint32_t flags;
    uint32_t nargument;
    size_t group; /* most work-items of a group; of RUBUS_ENTRY_GROUPS: exactly */
    ocl_argument *argument;
} ocl_entry;

typedef struct ocl_module {
    cl_program program;
    uint32_t nentry;
    ocl_entry entry[];
} ocl_module;

/* opencl_device.c */
rubus_status ocl_device_count(void *be, uint32_t *out_n);
rubus_status ocl_device_caps(void *be, uint32_t device, rubus_caps *out_caps);

/* opencl_error.c: writes the text of a failed call, with what was done to what; waiting:
 * the call waited for earlier work. NULL context: no device is lost by it. */
rubus_status ocl_fail(const rubus_host *host, ocl_context *ctx, cl_int error,
                      bool waiting, const char *what, const char *name);
rubus_status ocl_check_lost(const ocl_context *ctx); /* RUBUS_OK while it is not */

/* opencl_module.c, opencl_launch.c */
rubus_status ocl_module_create(void *ctx, const rubus_module_desc *desc, void **out);
void ocl_module_destroy(void *ctx, void *module);
rubus_status ocl_launch(void *ctx, void *module, const rubus_launch_info *info);

#endif
