/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of slots: what a plugin filled is copied into the library's own memory and
 * never read from the plugin again. Required slots must be there; every hole among the
 * optional ones is filled by a stub, so callers need not know which is which.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

#include <string.h>

#define SLOT_ENTRY(slot, needed, since, summary)                                         \
    {#slot, offsetof(rubus_ops, slot), needed, since},
const rubus__slot rubus__slots[RUBUS__SLOT_COUNT] = {RUBUS_SLOT_LIST(SLOT_ENTRY)};

#define SLOT_ONE(slot, needed, since, summary) +1
_Static_assert(0 RUBUS_SLOT_LIST(SLOT_ONE) == RUBUS__SLOT_COUNT, "slots are counted");
_Static_assert(sizeof(rubus_ops) ==
                   offsetof(rubus_ops, device_count) + RUBUS__SLOT_COUNT * sizeof(void *),
               "the list has every slot of the table");

bool rubus__slot_filled(const rubus_ops *ops, size_t slot)
{
    static const char hole[sizeof(void *)];
    return memcmp((const char *)ops + rubus__slots[slot].offset, hole, sizeof hole) != 0;
}

/* Slots that come in pairs. */
static bool fills_both(bool first, bool second, const char *name, const char *other,
                       char reason[RUBUS__REASON_ROOM])
{
    if (first != second) {
        rubus__snprintf(reason, RUBUS__REASON_ROOM,
                        "it fills only one of the slots '%s' and '%s'", name, other);
    }
    return first == second;
}

bool rubus__table_take(rubus__backend *backend, char reason[RUBUS__REASON_ROOM])
{
    // bytes that a plugin of a later ABI wrote beyond our table do not exist: it was told
    // the size
    memcpy(&backend->ops, &backend->room, sizeof backend->ops);
    backend->ops.struct_size = sizeof backend->ops;
    for (size_t i = 0; i < RUBUS__SLOT_COUNT; i++) {
        if (rubus__slots[i].required && !rubus__slot_filled(&backend->ops, i)) {
            rubus__snprintf(reason, RUBUS__REASON_ROOM,
                            "its required slot '%s' (since ABI 1.%u) is empty",
                            rubus__slots[i].name, rubus__slots[i].since_minor);
            return false;
        }
    }
    const rubus_ops *ops = &backend->ops;
    return fills_both(ops->map != NULL, ops->unmap != NULL, "map", "unmap", reason) &&
           fills_both(ops->csr_prepare != NULL, ops->csr_release != NULL, "csr_prepare",
                      "csr_release", reason);
}

static rubus_status own_fill(rubus__device *dev, void *buffer, uint64_t first, uint64_t n,
                             const void *pattern, uint32_t pattern_size)
{
    return dev->ops->fill(dev->ctx, buffer, first, n, pattern, pattern_size);
}

static rubus_status own_copy(rubus__device *dev, void *dst, uint64_t dst_first,
                             const void *src, uint64_t src_first, uint64_t n)
{
    return dev->ops->copy(dev->ctx, dst, dst_first, src, src_first, n);
}

static rubus_status own_map(rubus__device *dev, void *buffer, uint64_t first, uint64_t n,
                            uint32_t access, void **out_host)
{
    (void)n;
    void *host = NULL;
    const rubus_status st = dev->ops->map(dev->ctx, buffer, access, &host);
    if (st == RUBUS_OK && host == NULL) {
        return rubus__fail(RUBUS_EPLUGIN, "backend '%s': slot 'map' gives no pointer",
                           dev->name);
    }
    if (st == RUBUS_OK) {
        *out_host = (char *)host + first;
    }
    return st;
}

static rubus_status own_unmap(rubus__device *dev, void *buffer)
{
    return dev->ops->unmap(dev->ctx, buffer);
}

static rubus_status own_scatter_flush(rubus__device *dev, const rubus_csr_desc *a)
{
    return dev->ops->scatter_flush(dev->ctx, a);
}

void rubus__table_complete(rubus__device *dev)
{
    const rubus_ops *ops = dev->ops;
    dev->optional = (rubus__optional){
        .fill = ops->fill != NULL ? own_fill : rubus__stub_fill,
        .copy = ops->copy != NULL ? own_copy : rubus__stub_copy,
        .map = ops->map != NULL ? own_map : rubus__stub_map,
        .unmap = ops->unmap != NULL ? own_unmap : rubus__stub_unmap,
        .scatter_flush =
            ops->scatter_flush != NULL ? own_scatter_flush : rubus__stub_scatter_flush,
    };
}

bool rubus__device_owns(const rubus__device *dev, const char *slot)
{
    for (size_t i = 0; i < RUBUS__SLOT_COUNT; i++) {
        if (strcmp(rubus__slots[i].name, slot) == 0) {
            return rubus__slot_filled(dev->ops, i);
        }
    }
    return false;
}

rubus_status rubus__backend_result(const rubus__backend *backend, const char *slot,
                                   rubus_status st)
{
    if (st == RUBUS_OK) {
        return st;
    }
    const char *name = backend->plugin->name;
    if (st > 0 || strcmp(rubus_status_name(st), "RUBUS_?") == 0) {
        return rubus__fail(RUBUS_EPLUGIN,
                           "backend '%s': slot '%s' returned %d, which is no status",
                           name, slot, st);
    }
    if (rubus__error_missing()) {
        rubus__fail(st, "backend '%s': slot '%s' failed without a reason: %s", name, slot,
                    rubus_status_text(st));
    }
    return st;
}

rubus_status rubus__slot_result(const rubus__device *dev, const char *slot,
                                rubus_status st)
{
    return rubus__backend_result(dev->backend, slot, st);
}

rubus_status rubus__buffer_create(rubus__device *dev, uint64_t nbyte, void **out_buffer)
{
    void *buffer = NULL;
    const rubus_status st = RUBUS__SLOT_OF(
        dev, "buffer_create", dev->ops->buffer_create(dev->ctx, nbyte, &buffer));
    if (st == RUBUS_OK && buffer == NULL) {
        return rubus__fail(RUBUS_EPLUGIN,
                           "backend '%s': slot 'buffer_create' gives no buffer for %llu "
                           "bytes, and no failure",
                           dev->name, (unsigned long long)nbyte);
    }
    if (st == RUBUS_OK) {
        *out_buffer = buffer;
    }
    return st;
}

void rubus__buffer_destroy(rubus__device *dev, void *buffer)
{
    if (buffer != NULL) {
        rubus__error_hold(true);
        dev->ops->buffer_destroy(dev->ctx, buffer);
        rubus__error_hold(false);
    }
}

void rubus__impl_destroy(rubus__device *dev, void *module)
{
    if (module != NULL) {
        rubus__error_hold(true);
        dev->ops->module_destroy(dev->ctx, module);
        rubus__error_hold(false);
    }
}
