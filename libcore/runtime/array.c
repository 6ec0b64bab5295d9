/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays: shapes and sizes, storage shared with views, creation and destruction, mapping.
 * Moving elements is array_transfer.c.
 */
#include "config.h"

#include "libcore/runtime/runtime.h"

#include <string.h>

/* --- storage ---------------------------------------------------------------------- */

static void storage_link(rubus__storage *s)
{
    rubus_context *context = s->context;
    s->next = context->storages;
    if (s->next != NULL) {
        s->next->before = s;
    }
    context->storages = s;
    context->counters.live_buffers++;
    context->counters.live_bytes += s->nbyte;
}

static void storage_unlink(rubus__storage *s)
{
    rubus_context *context = s->context;
    if (s->before != NULL) {
        s->before->next = s->next;
    } else {
        context->storages = s->next;
    }
    if (s->next != NULL) {
        s->next->before = s->before;
    }
    context->counters.live_buffers--;
    context->counters.live_bytes -= s->nbyte;
}

static uint64_t guard_of(const rubus_context *context)
{
    if (!context->validate) {
        return 0;
    }
    const uint64_t align = context->dev->caps.offset_align;
    return align > RUBUS__GUARD ? align : RUBUS__GUARD;
}

rubus_status rubus__storage_create(rubus_context *context, uint64_t nbyte,
                                   rubus__storage **out_storage)
{
    rubus__storage *s = rubus__alloc(sizeof(*s));
    if (s == NULL) {
        return RUBUS_ENOMEM;
    }
    atomic_init(&s->references, 1);
    s->context = context;
    s->nbyte = nbyte;
    s->base = guard_of(context);
    const uint64_t most = context->dev->caps.max_buffer;
    rubus_status st = RUBUS_OK;
    if (most > 0 && nbyte > most) {
        st = rubus__fail(RUBUS_ELIMIT,
                         "an array of %llu bytes is larger than the largest buffer of "
                         "device \"%s\" (%llu bytes)",
                         (unsigned long long)nbyte, context->dev->caps.name,
                         (unsigned long long)most);
    } else {
        // an empty array has a buffer too: no plugin is ever given a NULL one in a launch
        const uint64_t room = (nbyte > 0 ? nbyte : 8) + 2 * s->base;
        st = rubus__buffer_create(context->dev, room, &s->buffer);
    }
    if (st != RUBUS_OK) {
        rubus__free(s);
        return st;
    }
    rubus__context_hold(context);
    storage_link(s);
    *out_storage = s;
    return RUBUS_OK;
}

/* The last look at the guards, which nobody waits for. The caller's error text stays. */
static void guards_check_last(rubus__storage *storage)
{
    if (!storage->guarded || storage->context->lost) {
        return;
    }
    char *before =
        rubus_error_text()[0] != '\0' ? rubus__strdup(rubus_error_text()) : NULL;
    if (rubus__guards_check(storage) != RUBUS_OK) {
        rubus__log(RUBUS__LOG_ERROR, "validate", "%s", rubus_error_text());
        rubus__error_restore(before);
    }
    rubus__free(before);
}

void rubus__storage_release(rubus__storage *storage)
{
    if (storage == NULL || atomic_fetch_sub(&storage->references, 1) != 1) {
        return;
    }
    rubus_context *context = storage->context;
    if (!rubus__context_forked(context)) {
        pthread_mutex_lock(&context->lock);
        guards_check_last(storage);
        storage_unlink(storage);
        rubus__buffer_destroy(context->dev, storage->buffer);
        pthread_mutex_unlock(&context->lock);
    }
    rubus__free(storage);
    rubus_context_destroy(context);
}

rubus_array rubus__array_window(rubus__storage *storage, int32_t type, uint64_t first,
                                uint64_t n)
{
    rubus_array array;
    memset(&array, 0, sizeof(array));
    array.storage = storage;
    array.type = type;
    array.shape.rank = 1;
    array.shape.n[0] = (int64_t)n;
    array.count = (int64_t)n;
    array.first = first;
    array.nbyte = n * rubus__type_size(type);
    return array;
}

rubus_array rubus__array_line(const rubus_array *array, int64_t first, int64_t n)
{
    const uint64_t at = (uint64_t)first * rubus__type_size(array->type);
    return rubus__array_window(array->storage, array->type, array->first + at,
                               (uint64_t)n);
}

/* --- shapes ----------------------------------------------------------------------- */

static rubus_status shape_measure(const char *what, int32_t type, rubus_shape shape,
                                  int64_t *out_count, uint64_t *out_nbyte)
{
    const size_t size = rubus__type_size(type);
    if (size == 0) {
        return rubus__fail(RUBUS_EINVAL, "%s: %d is no element type", what, (int)type);
    }
    if (shape.rank < 1 || shape.rank > 4) {
        return rubus__fail(RUBUS_EINVAL, "%s: rank %d; an array has rank 1 to 4", what,
                           (int)shape.rank);
    }
    bool empty = false;
    for (int32_t d = 0; d < shape.rank; d++) {
        if (shape.n[d] < 0) {
            return rubus__fail(RUBUS_EINVAL, "%s: extent %d is %lld; extents are >= 0",
                               what, (int)d, (long long)shape.n[d]);
        }
        empty = empty || shape.n[d] == 0;
    }
    int64_t bytes = (int64_t)size;
    for (int32_t d = 0; d < shape.rank && !empty; d++) {
        if (__builtin_mul_overflow(bytes, shape.n[d], &bytes)) {
            return rubus__fail(RUBUS_ELIMIT, "%s: the array has more than 2^63 bytes",
                               what);
        }
    }
    *out_nbyte = empty ? 0 : (uint64_t)bytes;
    *out_count = empty ? 0 : bytes / (int64_t)size;
    return RUBUS_OK;
}

static rubus_shape shape_clean(rubus_shape shape)
{
    for (int32_t d = shape.rank; d < 4; d++) {
        shape.n[d] = 1;
    }
    shape.reserved0 = 0;
    return shape;
}

/* --- creation --------------------------------------------------------------------- */

static void destroy_object(void *self)
{
    rubus_array_destroy(self);
}

/* For rubus_context_destroy_all. */
static void add_object(rubus_array *array)
{
    rubus__object_add(array->storage->context, &array->object, RUBUS__RANK_ARRAY,
                      destroy_object, array);
}

/* A new array whose elements are undefined, or poisoned. */
static rubus_status array_new(const char *what, rubus_context *context, int32_t type,
                              rubus_shape shape, bool zero, rubus_array **out_array)
{
    if (out_array == NULL || context == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what,
                           context == NULL ? "the context" : "out_array");
    }
    int64_t count = 0;
    uint64_t nbyte = 0;
    rubus_status st = shape_measure(what, type, shape, &count, &nbyte);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_array *array = rubus__alloc(sizeof(*array));
    if (array == NULL) {
        return RUBUS_ENOMEM;
    }
    st = zero ? rubus__blas_prepare(context) : RUBUS_OK;
    if (st == RUBUS_OK) {
        st = rubus__enter(context, what);
    }
    if (st != RUBUS_OK) {
        rubus__free(array);
        return st;
    }
    st = rubus__storage_create(context, nbyte, &array->storage);
    if (st == RUBUS_OK && context->validate) {
        st = rubus__poison(array->storage);
    }
    if (st == RUBUS_OK && zero) {
        const uint64_t nothing = 0;
        st = rubus__fill_bytes(context, array->storage->buffer, array->storage->base,
                               nbyte, &nothing, (uint32_t)rubus__type_size(type));
    }
    st = rubus__leave(context, st);
    array->type = type;
    array->shape = shape_clean(shape);
    array->count = count;
    array->nbyte = nbyte;
    if (st != RUBUS_OK) {
        rubus_array_destroy(array);
        return st;
    }
    add_object(array);
    *out_array = array;
    return RUBUS_OK;
}

rubus_status rubus_array_create(rubus_context *context, int32_t type, rubus_shape shape,
                                rubus_array **out_array)
{
    return array_new("rubus_array_create", context, type, shape, true, out_array);
}

rubus_status rubus_array_from(rubus_context *context, int32_t type, rubus_shape shape,
                              const void *data, rubus_array **out_array)
{
    rubus_array *array = NULL;
    rubus_status st = array_new("rubus_array_from", context, type, shape, false, &array);
    if (st != RUBUS_OK) {
        return st;
    }
    if (data == NULL && array->count > 0) {
        st = rubus__fail(RUBUS_EINVAL, "rubus_array_from: data is NULL");
    } else if (out_array == NULL) {
        st = rubus__fail(RUBUS_EINVAL, "rubus_array_from: out_array is NULL");
    } else {
        st = rubus_array_write(array, data, array->nbyte);
    }
    if (st != RUBUS_OK) {
        rubus_array_destroy(array);
        return st;
    }
    *out_array = array;
    return RUBUS_OK;
}

/* Locked: an array is destroyed while it is mapped. */
static void unmap_late(const rubus_array *array)
{
    rubus__device *dev = array->storage->context->dev;
    array->storage->mapped = NULL;
    array->storage->version++;
    if (array->nbyte > 0 && !array->storage->context->lost &&
        dev->optional.unmap(dev, array->storage->buffer) != RUBUS_OK) {
        rubus__log(RUBUS__LOG_WARNING, "memory",
                   "an array was destroyed while mapped: %s", rubus_error_text());
    }
}

void rubus_array_destroy(rubus_array *array)
{
    if (array == NULL) {
        return;
    }
    rubus__storage *storage = array->storage;
    if (storage != NULL && !rubus__context_forked(storage->context)) {
        rubus__object_remove(storage->context, &array->object);
        pthread_mutex_lock(&storage->context->lock);
        if (storage->mapped == array) {
            unmap_late(array);
        }
        pthread_mutex_unlock(&storage->context->lock);
    }
    rubus__storage_release(storage);
    rubus__free(array);
}

rubus_status rubus__array_cut(const rubus_array *parent, int64_t first, rubus_shape shape,
                              rubus_array *out_window)
{
    int64_t count = 0;
    uint64_t nbyte = 0;
    const rubus_status st =
        shape_measure("rubus_array_view", parent->type, shape, &count, &nbyte);
    if (st != RUBUS_OK) {
        return st;
    }
    if (first < 0 || count > parent->count || first > parent->count - count) {
        return rubus__fail(RUBUS_ESHAPE,
                           "rubus_array_view: %lld elements from number %lld on are not "
                           "all in the parent, which has %lld",
                           (long long)count, (long long)first, (long long)parent->count);
    }
    const uint64_t at = (uint64_t)first * rubus__type_size(parent->type);
    const uint32_t align = parent->storage->context->dev->caps.offset_align;
    if (align > 1 && (parent->first + at) % align != 0) {
        return rubus__fail(RUBUS_EUNSUPPORTED,
                           "rubus_array_view: the device wants windows to begin at a "
                           "multiple of %u bytes, this one begins at %llu",
                           (unsigned)align, (unsigned long long)(parent->first + at));
    }
    *out_window = (rubus_array){.storage = parent->storage,
                                .type = parent->type,
                                .shape = shape_clean(shape),
                                .count = count,
                                .first = parent->first + at,
                                .nbyte = nbyte};
    return RUBUS_OK;
}

rubus_status rubus_array_view(rubus_array *parent, int64_t first, rubus_shape shape,
                              rubus_array **out_array)
{
    if (parent == NULL || out_array == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_array_view: %s is NULL",
                           parent == NULL ? "the parent" : "out_array");
    }
    rubus_array window;
    const rubus_status st = rubus__array_cut(parent, first, shape, &window);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_array *array = rubus__alloc(sizeof(*array));
    if (array == NULL) {
        return RUBUS_ENOMEM;
    }
    atomic_fetch_add(&parent->storage->references, 1);
    *array = window;
    add_object(array);
    *out_array = array;
    return RUBUS_OK;
}

/* --- state ------------------------------------------------------------------------ */

bool rubus__array_overlap(const rubus_array *a, const rubus_array *b)
{
    return a->storage == b->storage && a->nbyte > 0 && b->nbyte > 0 &&
           a->first < b->first + b->nbyte && b->first < a->first + a->nbyte;
}

bool rubus__array_mapped(const rubus_array *array)
{
    const rubus_array *mapped = array->storage->mapped;
    return mapped != NULL && (mapped == array || rubus__array_overlap(mapped, array));
}

rubus_status rubus__array_enter(const rubus_array *array, const char *what)
{
    if (array == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the array is NULL", what);
    }
    rubus_context *context = array->storage->context;
    const rubus_status st = rubus__enter(context, what);
    if (st == RUBUS_OK && rubus__array_mapped(array)) {
        return rubus__leave(context, rubus__fail(RUBUS_ESTATE,
                                                 "%s: the array, or a window on its "
                                                 "memory, is mapped; unmap it first",
                                                 what));
    }
    return st;
}

uint64_t rubus__array_first_byte(const rubus_array *array)
{
    return array->storage->base + array->first;
}

rubus_status rubus_array_map(rubus_array *array, uint32_t access, void **out_data)
{
    static const char what[] = "rubus_array_map";
    const uint32_t both = RUBUS_READ | RUBUS_WRITE;
    if (out_data == NULL || access == 0 || (access & ~both) != 0) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: access must be RUBUS_READ, RUBUS_WRITE or both, and "
                           "out_data not NULL",
                           what);
    }
    rubus_status st = rubus__array_enter(array, what);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_context *context = array->storage->context;
    if (array->storage->mapped != NULL) {
        return rubus__leave(
            context, rubus__fail(RUBUS_ESTATE,
                                 "%s: another window on the same memory is mapped; "
                                 "unmap it first",
                                 what));
    }
    void *data = NULL;
    st = rubus__report_checked(context);
    if (st == RUBUS_OK && array->nbyte > 0) {
        rubus__device *dev = context->dev;
        st = RUBUS__SLOT_OF(dev, "map",
                            dev->optional.map(dev, array->storage->buffer,
                                              rubus__array_first_byte(array),
                                              array->nbyte, access, &data));
    }
    if (st == RUBUS_OK) {
        array->storage->mapped = array;
        *out_data = data;
    }
    return rubus__leave(context, st);
}

rubus_status rubus_array_unmap(rubus_array *array)
{
    static const char what[] = "rubus_array_unmap";
    if (array == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the array is NULL", what);
    }
    rubus_context *context = array->storage->context;
    rubus_status st = rubus__enter(context, what);
    if (st != RUBUS_OK) {
        return st;
    }
    if (array->storage->mapped != array) {
        return rubus__leave(
            context, rubus__fail(RUBUS_ESTATE, "%s: the array is not mapped", what));
    }
    array->storage->mapped = NULL; /* also where the bytes could not be written back */
    array->storage->version++;
    if (array->nbyte > 0) {
        rubus__device *dev = context->dev;
        st = RUBUS__SLOT_OF(dev, "unmap",
                            dev->optional.unmap(dev, array->storage->buffer));
    }
    return rubus__leave(context, st);
}

int32_t rubus_array_type(const rubus_array *array)
{
    return array == NULL ? 0 : array->type;
}

rubus_shape rubus_array_shape(const rubus_array *array)
{
    const rubus_shape none = {0, 0, {0, 0, 0, 0}};
    return array == NULL ? none : array->shape;
}

int64_t rubus_array_count(const rubus_array *array)
{
    return array == NULL ? 0 : array->count;
}

size_t rubus_array_nbyte(const rubus_array *array)
{
    return array == NULL ? 0 : (size_t)array->nbyte;
}

rubus_context *rubus_array_context(const rubus_array *array)
{
    return array == NULL ? NULL : array->storage->context;
}
