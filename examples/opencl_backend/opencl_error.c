/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an error of OpenCL to a status and a text. OpenCL has no error that says "the
 * device is lost": the errors that only earlier work can have caused stand for it.
 */
#include "opencl_backend.h"

typedef struct meaning {
    cl_int error;
    rubus_status status;
    const char *name;
    const char *hint;
} meaning;

#define LESS "use smaller arrays or f32, or free arrays first"
#define ROW(error, status, hint)                                                         \
    {                                                                                    \
        error, status, #error, hint                                                      \
    }
static const meaning meanings[] = {
    ROW(CL_DEVICE_NOT_FOUND, RUBUS_ENODEV, "see clinfo"),
    ROW(CL_DEVICE_NOT_AVAILABLE, RUBUS_ELOST, "see clinfo"),
    ROW(CL_COMPILER_NOT_AVAILABLE, RUBUS_EUNSUPPORTED, "install the driver's compiler"),
    ROW(CL_MEM_OBJECT_ALLOCATION_FAILURE, RUBUS_EDEVMEM, LESS),
    ROW(CL_OUT_OF_RESOURCES, RUBUS_EDEVMEM, LESS),
    ROW(CL_OUT_OF_HOST_MEMORY, RUBUS_ENOMEM, "the driver found no host memory"),
    ROW(CL_BUILD_PROGRAM_FAILURE, RUBUS_ECOMPILE, "report this with the kernel"),
    ROW(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, RUBUS_ELOST,
        "see the system's log"),
    ROW(CL_INVALID_COMMAND_QUEUE, RUBUS_ELOST, "see the system's log"),
    ROW(CL_INVALID_BUFFER_SIZE, RUBUS_ELIMIT, LESS),
    ROW(CL_INVALID_ARG_SIZE, RUBUS_EINTERNAL, "report this"),
    ROW(CL_INVALID_KERNEL_NAME, RUBUS_EINTERNAL, "report this"),
    ROW(CL_INVALID_KERNEL_ARGS, RUBUS_EINTERNAL, "report this"),
    ROW(CL_INVALID_WORK_GROUP_SIZE, RUBUS_EUNSUPPORTED,
        "the device's work-groups are too small"),
};

static const meaning *find(cl_int error)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (meanings[i].error == error) {
            return &meanings[i];
        }
    }
    return NULL;
}

rubus_status ocl_check_lost(const ocl_context *ctx)
{
    if (!ctx->lost) {
        return RUBUS_OK;
    }
    return ctx->host->fail(ctx->host->ctx, RUBUS_ELOST,
                           "the device '%s' is lost; destroy the context and open a new "
                           "one: what its arrays held is gone",
                           ctx->device->name);
}

rubus_status ocl_fail(const rubus_host *host, ocl_context *ctx, cl_int error,
                      bool waiting, const char *what, const char *name)
{
    const meaning *m = find(error);
    rubus_status st = m != NULL ? m->status : RUBUS_EINTERNAL;
    if (ctx != NULL && (st == RUBUS_ELOST || (waiting && error == CL_OUT_OF_RESOURCES))) {
        // no memory is asked for where work is waited for: a kernel has failed
        ctx->lost = true;
        st = RUBUS_ELOST;
    }
    return host->fail(host->ctx, st, "%s %s: %s (OpenCL error %d); %s", what, name,
                      m != NULL ? m->name : "the call failed", (int)error,
                      st == RUBUS_ELOST ? "the device is lost, open a new context"
                      : m != NULL       ? m->hint
                                        : "report this");
}
