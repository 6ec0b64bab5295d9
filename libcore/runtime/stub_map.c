/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stubs of map and unmap: a shadow of the window in host memory. It is read when mapped
 * for reading, and written back by unmap when mapped for writing.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

typedef struct rubus__shadow {
    struct rubus__shadow *next;
    void *buffer;
    uint64_t first;
    uint64_t n;
    uint32_t access;
    void *data;
} shadow;

static void shadow_free(shadow *s)
{
    rubus__free(s->data);
    rubus__free(s);
}

rubus_status rubus__stub_map(rubus__device *dev, void *buffer, uint64_t first, uint64_t n,
                             uint32_t access, void **out_host)
{
    for (const shadow *at = dev->shadow; at != NULL; at = at->next) {
        if (at->buffer == buffer) {
            return rubus__fail(RUBUS_ESTATE, "the buffer is mapped already");
        }
    }
    shadow *s = rubus__alloc(sizeof *s);
    if (s == NULL) {
        return RUBUS_ENOMEM;
    }
    // zeroed: what was not promised to be read must not show other data of the process
    s->data = rubus__alloc((size_t)n);
    rubus_status st = s->data == NULL ? RUBUS_ENOMEM : RUBUS_OK;
    if (st == RUBUS_OK && n > 0 && (access & RUBUS_READ) != 0) {
        st = RUBUS__SLOT_OF(dev, "read",
                            dev->ops->read(dev->ctx, buffer, first, s->data, n));
    }
    if (st != RUBUS_OK) {
        shadow_free(s);
        return st;
    }
    s->buffer = buffer;
    s->first = first;
    s->n = n;
    s->access = access;
    s->next = dev->shadow;
    dev->shadow = s;
    *out_host = s->data;
    return RUBUS_OK;
}

rubus_status rubus__stub_unmap(rubus__device *dev, void *buffer)
{
    shadow **at = &dev->shadow;
    while (*at != NULL && (*at)->buffer != buffer) {
        at = &(*at)->next;
    }
    shadow *s = *at;
    if (s == NULL) {
        return rubus__fail(RUBUS_ESTATE, "the buffer is not mapped");
    }
    *at = s->next;
    rubus_status st = RUBUS_OK;
    if (s->n > 0 && (s->access & RUBUS_WRITE) != 0) {
        st = RUBUS__SLOT_OF(dev, "write",
                            dev->ops->write(dev->ctx, buffer, s->first, s->data, s->n));
    }
    shadow_free(s);
    return st;
}

void rubus__stub_map_fini(rubus__device *dev)
{
    while (dev->shadow != NULL) {
        shadow *s = dev->shadow;
        dev->shadow = s->next;
        shadow_free(s);
    }
}
