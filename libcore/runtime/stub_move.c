/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stubs of the slots that move bytes: fill and copy through the host, and scatter_flush
 * as one write of all values. They use read and write alone, which take effect in order,
 * so the stubs do too. The runtime replaces the first two by kernels where it can build
 * them.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

#include <string.h>

enum { BOUNCE_MOST = 1 << 20 };

rubus_status rubus__stub_fill(rubus__device *dev, void *buffer, uint64_t first,
                              uint64_t n, const void *pattern, uint32_t pattern_size)
{
    if (n == 0) {
        return RUBUS_OK;
    }
    // the largest pattern is 16 bytes, so a full block holds whole patterns of every size
    const size_t room = n < BOUNCE_MOST ? (size_t)n : BOUNCE_MOST;
    char *block = rubus__alloc(room);
    if (block == NULL) {
        return RUBUS_ENOMEM;
    }
    for (size_t i = 0; i < room; i += pattern_size) {
        memcpy(block + i, pattern, pattern_size);
    }
    rubus_status st = RUBUS_OK;
    for (uint64_t done = 0; done < n && st == RUBUS_OK; done += room) {
        const uint64_t left = n - done;
        st = RUBUS__SLOT_OF(dev, "write",
                            dev->ops->write(dev->ctx, buffer, first + done, block,
                                            left < room ? left : room));
    }
    rubus__free(block);
    return st;
}

rubus_status rubus__stub_copy(rubus__device *dev, void *dst, uint64_t dst_first,
                              const void *src, uint64_t src_first, uint64_t n)
{
    if (n == 0) {
        return RUBUS_OK;
    }
    const size_t room = n < BOUNCE_MOST ? (size_t)n : BOUNCE_MOST;
    char *block = rubus__alloc(room);
    if (block == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus_status st = RUBUS_OK;
    for (uint64_t done = 0; done < n && st == RUBUS_OK; done += room) {
        const uint64_t part = n - done < room ? n - done : room;
        st = RUBUS__SLOT_OF(dev, "read",
                            dev->ops->read(dev->ctx, src, src_first + done, block, part));
        if (st == RUBUS_OK) {
            st = RUBUS__SLOT_OF(
                dev, "write",
                dev->ops->write(dev->ctx, dst, dst_first + done, block, part));
        }
    }
    rubus__free(block);
    return st;
}

rubus_status rubus__stub_scatter_flush(rubus__device *dev, const rubus_csr_desc *a)
{
    const uint64_t nbyte = (uint64_t)a->nnz * rubus__type_size((int32_t)a->value_type);
    if (nbyte == 0) {
        return RUBUS_OK;
    }
    return RUBUS__SLOT_OF(dev, "write",
                          dev->ops->write(dev->ctx, a->nzval.buffer, a->nzval.first_byte,
                                          a->mirror_nzval, nbyte));
}
