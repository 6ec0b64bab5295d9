/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fill and copy as kernels of the library, for backends that fill only the required
 * slots: they compute on their own device then, and no data pass through the host.
 * Buffers are seen as ints of four bytes (see shaders/blas.rk), in pieces that a 32-bit
 * int can count.
 */
#include "config.h"

#include "libcore/runtime/runtime.h"

#include <string.h>

#define PIECE ((uint64_t)1 << 30u) /* elements of one launch; even */

rubus_status rubus__blas_prepare(rubus_context *context)
{
    if (context == NULL || rubus__context_forked(context)) {
        return RUBUS_OK; /* the call that follows says so */
    }
    pthread_mutex_lock(&context->lock);
    const bool needed =
        !context->blas_tried && (!rubus__device_owns(context->dev, "fill") ||
                                 !rubus__device_owns(context->dev, "copy"));
    context->blas_tried = true;
    pthread_mutex_unlock(&context->lock);
    if (!needed) {
        return RUBUS_OK;
    }
    const rubus_module_options options = {sizeof(options), RUBUS_F32, RUBUS_I32, 0, 0};
    rubus_module *module = NULL;
    const rubus_status st = rubus__module_embedded(context, "blas.rk", &options, &module);
    if (st == RUBUS_ENOMEM || st == RUBUS_ELOST) {
        pthread_mutex_lock(&context->lock);
        context->blas_tried = false;
        pthread_mutex_unlock(&context->lock);
        return st;
    }
    if (st != RUBUS_OK) {
        rubus__log(
            RUBUS__LOG_WARNING, "context",
            "fill and copy go through the host, because their kernels could not be "
            "built: %s",
            rubus_error_text());
        return RUBUS_OK;
    }
    pthread_mutex_lock(&context->lock);
    context->blas = module;
    pthread_mutex_unlock(&context->lock);
    /* The context owns this module, so the module must not hold the context. */
    (void)atomic_fetch_sub(&context->references, 1);
    return RUBUS_OK;
}

static rubus__storage bare_storage(rubus_context *context, void *buffer)
{
    rubus__storage storage;
    memset(&storage, 0, sizeof(storage));
    storage.context = context;
    storage.buffer = buffer;
    return storage;
}

/* Launches kernel `name` of the module; the context is locked already. */
static rubus_status run(rubus_context *context, const char *name, const rubus_arg *args,
                        size_t nargs)
{
    const rubus_kernel *kernel = rubus_module_kernel(context->blas, name);
    if (kernel == NULL) {
        return RUBUS_EINTERNAL;
    }
    rk_argument argument[4];
    rubus__operand operand[4];
    memset(argument, 0, sizeof(argument));
    memset(operand, 0, sizeof(operand));
    for (size_t i = 0; i < nargs; i++) {
        if (args[i].kind != RUBUS_ARG_ARRAY) {
            argument[i].integer = args[i].u.integer;
            continue;
        }
        const rubus_array *array = args[i].u.array;
        argument[i].n[0] = array->count;
        operand[i].buffer = array->storage->buffer;
        operand[i].first_byte = array->first;
        operand[i].nbyte = array->nbyte;
    }
    uint64_t memory[32];
    uint64_t block[32];
    void *buffer[4];
    uint64_t first[4];
    uint64_t nbyte[4];
    rubus__bound bound = {kernel, args,   operand, {NULL, NULL},
                          block,  buffer, first,   nbyte};
    const rubus_status st = rk_bind(context->blas->program, kernel->k, argument, NULL,
                                    NULL, memory, &bound.binding);
    return st != RUBUS_OK ? st : rubus__launch_bound(&bound);
}

rubus_status rubus__blas_fill(rubus_context *context, void *buffer, uint64_t first,
                              uint64_t n, const void *pattern, uint32_t pattern_size)
{
    rubus__storage storage = bare_storage(context, buffer);
    uint8_t twice[8];
    const uint32_t period = pattern_size < 8 ? pattern_size : 8;
    for (uint32_t i = 0; i < 8; i++) {
        twice[i] = ((const uint8_t *)pattern)[i % period];
    }
    const bool bytes = pattern_size < 4;
    const uint64_t unit = bytes ? 1 : 4;
    int32_t half[2];
    memcpy(half, twice, sizeof(half));
    rubus_status st = RUBUS_OK;
    for (uint64_t done = 0; st == RUBUS_OK && done < n / unit; done += PIECE) {
        const uint64_t left = n / unit - done;
        rubus_array array =
            rubus__array_window(&storage, bytes ? RUBUS_BOOL : RUBUS_I32,
                                first + done * unit, left < PIECE ? left : PIECE);
        rubus_arg args[3] = {rubus_arg_array(&array), rubus_arg_integer(half[0]),
                             rubus_arg_integer(half[1])};
        if (bytes) {
            args[1] = rubus_arg_integer(twice[0]);
        }
        st = run(context, bytes ? "fill1" : "fill4", args, bytes ? 2 : 3);
    }
    return st;
}

rubus_status rubus__blas_copy(rubus_context *context, void *dst, uint64_t dst_first,
                              void *src, uint64_t src_first, uint64_t n)
{
    rubus__storage to = bare_storage(context, dst);
    rubus__storage from = bare_storage(context, src);
    const bool bytes = (dst_first | src_first | n) % 4 != 0;
    const uint64_t unit = bytes ? 1 : 4;
    const int32_t type = bytes ? RUBUS_BOOL : RUBUS_I32;
    rubus_status st = RUBUS_OK;
    for (uint64_t done = 0; st == RUBUS_OK && done < n / unit; done += PIECE) {
        const uint64_t left = n / unit - done;
        const uint64_t count = left < PIECE ? left : PIECE;
        rubus_array a = rubus__array_window(&to, type, dst_first + done * unit, count);
        rubus_array b = rubus__array_window(&from, type, src_first + done * unit, count);
        const rubus_arg args[2] = {rubus_arg_array(&a), rubus_arg_array(&b)};
        st = run(context, bytes ? "copy1" : "copy4", args, 2);
    }
    return st;
}
