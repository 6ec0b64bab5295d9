/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_FAULTY_OPS_H
#define RUBUS_TESTS_FAULTY_OPS_H
/*
 * A device that goes wrong: required slots of one context are replaced by functions that
 * fail as `faulty_status` says while it is not RUBUS_OK, and else call the backend's own.
 * Include after check.h and config.h.
 */
#include "libcore/runtime/runtime.h"

static rubus_status faulty_status;
static int faulty_calls; /* of replaced slots */
static rubus_ops faulty_table;
static const rubus_ops *faulty_own;

static inline rubus_status faulty_answer(const char *slot)
{
    faulty_calls++;
    return faulty_status == RUBUS_OK
               ? RUBUS_OK
               : rubus__fail(faulty_status, "slot %s: the cable was pulled", slot);
}

static inline rubus_status faulty_write(void *ctx, void *buffer, uint64_t first,
                                        const void *src, uint64_t n)
{
    const rubus_status st = faulty_answer("write");
    return st != RUBUS_OK ? st : faulty_own->write(ctx, buffer, first, src, n);
}

static inline rubus_status faulty_read(void *ctx, const void *buffer, uint64_t first,
                                       void *dst, uint64_t n)
{
    const rubus_status st = faulty_answer("read");
    return st != RUBUS_OK ? st : faulty_own->read(ctx, buffer, first, dst, n);
}

static inline rubus_status faulty_launch(void *ctx, void *module,
                                         const rubus_launch_info *info)
{
    const rubus_status st = faulty_answer("launch");
    return st != RUBUS_OK ? st : faulty_own->launch(ctx, module, info);
}

static inline rubus_status faulty_synchronize(void *ctx)
{
    const rubus_status st = faulty_answer("synchronize");
    return st != RUBUS_OK ? st : faulty_own->synchronize(ctx);
}

static inline rubus_status faulty_buffer_create(void *ctx, uint64_t nbyte,
                                                void **out_buffer)
{
    const rubus_status st = faulty_answer("buffer_create");
    return st != RUBUS_OK ? st : faulty_own->buffer_create(ctx, nbyte, out_buffer);
}

static inline rubus_status faulty_module_create(void *ctx, const rubus_module_desc *desc,
                                                void **out_module)
{
    const rubus_status st = faulty_answer("module_create");
    return st != RUBUS_OK ? st : faulty_own->module_create(ctx, desc, out_module);
}

/* One context of a program at a time. */
static inline void faulty_install(rubus_context *context)
{
    faulty_own = context->dev->ops;
    faulty_table = *faulty_own;
    faulty_table.write = faulty_write;
    faulty_table.read = faulty_read;
    faulty_table.launch = faulty_launch;
    faulty_table.synchronize = faulty_synchronize;
    faulty_table.buffer_create = faulty_buffer_create;
    faulty_table.module_create = faulty_module_create;
    context->dev->ops = &faulty_table;
    faulty_status = RUBUS_OK;
    faulty_calls = 0;
}

#endif
