/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the device: blocks from the driver, cut into pieces (vk_range.c). Drivers
 * allow few allocations and are slow to make them, so small buffers share a block; large
 * ones have one of their own. A block keeps its mapping for life.
 *
 * Types of memory are chosen by their properties and the size of their heaps, never by
 * the kind of device. What is meant for the device is never put into the host's memory
 * behind the user's back: that computes ten times slower without a word.
 */
#include "config.h"

#include "plugins/vulkan/vulkan.h"

#include "plugins/vulkan/vk_range.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The first block of a type; each further one is twice as large, up to the most. */
#define BLOCK_FIRST (UINT64_C(4) << 20)
#define BLOCK_MOST (UINT64_C(64) << 20)
/* A piece larger than that is a block of its own. */
#define PIECE_MOST (BLOCK_MOST / 4)
#define GRANULE 256u

#define DEVICE VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define VISIBLE VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
#define COHERENT VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
#define CACHED VK_MEMORY_PROPERTY_HOST_CACHED_BIT
#define KNOWN (DEVICE | VISIBLE | COHERENT | CACHED)

struct vk_block {
    struct vk_block *next;
    VkDeviceMemory handle;
    uint64_t nbyte;
    uint32_t type;
    bool own; /* for one piece only */
    bool coherent;
    unsigned char *host;
    vk_ranges *ranges;
};

struct vk_heap {
    struct vk_block *block[VK_MAX_MEMORY_TYPES];
    uint64_t next_size[VK_MAX_MEMORY_TYPES];
    uint64_t used[VK_MAX_MEMORY_HEAPS];
    uint32_t nblock;
};

/* --- choosing a type ---------------------------------------------------------------- */

static uint64_t heap_size(const VkPhysicalDeviceMemoryProperties *m, uint32_t type)
{
    return m->memoryHeaps[m->memoryTypes[type].heapIndex].size;
}

uint64_t vk_memory_total(const VkPhysicalDeviceMemoryProperties *m)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < m->memoryTypeCount; i++) {
        const bool plain = (m->memoryTypes[i].propertyFlags & ~(uint32_t)KNOWN) == 0;
        if (plain && (m->memoryTypes[i].propertyFlags & DEVICE) != 0 &&
            heap_size(m, i) > most) {
            most = heap_size(m, i);
        }
    }
    return most;
}

/* The device's own memory that the host reaches through its caches: integrated and
 * software devices. Through a window on the bus there are no caches, and reading in place
 * would be far slower than a copy by the device. */
static bool type_unified(const VkPhysicalDeviceMemoryProperties *m, uint32_t type)
{
    const uint32_t all = DEVICE | VISIBLE | COHERENT | CACHED;
    return m->memoryTypes[type].propertyFlags == all &&
           heap_size(m, type) >= vk_memory_total(m) / 2;
}

bool vk_memory_unified(const VkPhysicalDeviceMemoryProperties *m)
{
    for (uint32_t i = 0; i < m->memoryTypeCount; i++) {
        if (type_unified(m, i)) {
            return true;
        }
    }
    return false;
}

/* A rule: what a type must have and must not have. */
typedef struct rule {
    uint32_t with;
    uint32_t without;
} rule;

/* Types with other properties (protected, lazy, uncached for the device) fit no rule. */
static bool obeys(uint32_t flags, const rule *r)
{
    return (flags & ~(uint32_t)KNOWN) == 0 && (flags & r->with) == r->with &&
           (flags & r->without) == 0;
}

uint32_t vk_memory_order(const VkPhysicalDeviceMemoryProperties *m, uint32_t bits,
                         vk_purpose purpose, uint32_t out_type[VK_MAX_MEMORY_TYPES])
{
    // A small window of the device's memory is scarce: uploads take it last.
    static const rule rules[3][4] = {
        [VK_FOR_DEVICE] = {{DEVICE, VISIBLE}, {DEVICE, 0}},
        [VK_FOR_UPLOAD] = {{VISIBLE | COHERENT, CACHED | DEVICE},
                           {VISIBLE | COHERENT, DEVICE},
                           {VISIBLE | COHERENT, 0},
                           {VISIBLE, 0}},
        [VK_FOR_READBACK] = {{VISIBLE | COHERENT | CACHED, 0},
                             {VISIBLE | CACHED, 0},
                             {VISIBLE | COHERENT, DEVICE},
                             {VISIBLE, 0}},
    };
    const bool in_place = purpose == VK_FOR_DEVICE && vk_memory_unified(m);
    uint32_t n = 0;
    uint32_t taken = 0;
    for (size_t i = 0; i < 4; i++) {
        const rule *r = &rules[purpose][i];
        for (uint32_t type = 0; type < m->memoryTypeCount; type++) {
            const uint32_t bit = UINT32_C(1) << type;
            const bool fits =
                in_place ? type_unified(m, type)
                         : r->with != 0 && obeys(m->memoryTypes[type].propertyFlags, r);
            // Half of the largest heap, or it is a window on the real one.
            const bool large =
                purpose != VK_FOR_DEVICE || heap_size(m, type) >= vk_memory_total(m) / 2;
            if ((bits & bit) != 0 && (taken & bit) == 0 && fits && large) {
                taken |= bit;
                out_type[n++] = type;
            }
        }
    }
    return n;
}

/* --- blocks ------------------------------------------------------------------------- */

static rubus_status too_little(vk_context *ctx, uint64_t nbyte, const char *why)
{
    return ctx->host->fail(ctx->host->ctx, RUBUS_EDEVMEM,
                           "memory of '%s': %" PRIu64 " bytes (%.2f GiB) asked: %s; use "
                           "smaller arrays, f32, or free arrays first",
                           ctx->physical->properties.deviceName, nbyte,
                           (double)nbyte / (1 << 30), why);
}

/* Bytes of a heap that the driver thinks this process can still have. */
static uint64_t heap_room(vk_context *ctx, uint32_t heap)
{
    const vk_physical *p = ctx->physical;
    const uint64_t size = p->memory.memoryHeaps[heap].size;
    const uint64_t used = ctx->heap->used[heap];
    uint64_t room = used < size ? size - used : 0;
    if (p->have.budget) {
        VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
        VkPhysicalDeviceMemoryProperties2 all = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
            .pNext = &budget};
        ctx->be->api.GetPhysicalDeviceMemoryProperties2(p->handle, &all);
        const uint64_t most = budget.heapBudget[heap];
        const uint64_t now = budget.heapUsage[heap];
        const uint64_t left = now < most ? most - now : 0;
        room = left < room ? left : room;
    }
    return room;
}

static void block_free(vk_context *ctx, struct vk_block *block)
{
    const rubus_host *host = ctx->host;
    const uint32_t heap = ctx->physical->memory.memoryTypes[block->type].heapIndex;
    if (block->handle != VK_NULL_HANDLE) {
        if (block->host != NULL) {
            ctx->api.UnmapMemory(ctx->device, block->handle);
        }
        ctx->api.FreeMemory(ctx->device, block->handle, NULL);
        ctx->heap->used[heap] -= block->nbyte;
        ctx->heap->nblock--;
    }
    vk_ranges_destroy(block->ranges);
    host->free(host->ctx, block);
}

/* The driver's part. RUBUS_EDEVMEM without text if the device is full, which is worth a
 * try elsewhere; other failures have their text. */
static rubus_status block_allocate(vk_context *ctx, struct vk_block *block, bool map)
{
    const uint32_t heap = ctx->physical->memory.memoryTypes[block->type].heapIndex;
    const VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = &flags,
                                       .allocationSize = block->nbyte,
                                       .memoryTypeIndex = block->type};
    VkResult result = ctx->api.AllocateMemory(ctx->device, &info, NULL, &block->handle);
    if (result != VK_SUCCESS) {
        block->handle = VK_NULL_HANDLE;
        return result == VK_ERROR_OUT_OF_DEVICE_MEMORY
                   ? RUBUS_EDEVMEM
                   : vk_check(ctx, result, "allocating memory of the device");
    }
    ctx->heap->used[heap] += block->nbyte;
    ctx->heap->nblock++;
    if (map) {
        void *host = NULL;
        result =
            ctx->api.MapMemory(ctx->device, block->handle, 0, VK_WHOLE_SIZE, 0, &host);
        if (result != VK_SUCCESS) {
            return vk_check(ctx, result, "mapping memory of the device");
        }
        block->host = host;
    }
    return RUBUS_OK;
}

/* RUBUS_EDEVMEM without text if this type has no room. */
static rubus_status block_create(vk_context *ctx, uint32_t type, uint64_t nbyte, bool map,
                                 bool own, struct vk_block **out_block)
{
    const rubus_host *host = ctx->host;
    const VkMemoryType *about = &ctx->physical->memory.memoryTypes[type];
    if (ctx->heap->nblock >= ctx->limits.allocations) {
        host->fail(host->ctx, RUBUS_ELIMIT,
                   "memory of '%s': it allows %u allocations, and all are in use; "
                   "free arrays first",
                   ctx->physical->properties.deviceName, ctx->limits.allocations);
        return RUBUS_ELIMIT;
    }
    if (nbyte > heap_room(ctx, about->heapIndex)) {
        return RUBUS_EDEVMEM;
    }
    struct vk_block *block = vk_new(host, sizeof *block);
    if (block == NULL) {
        return RUBUS_ENOMEM;
    }
    block->nbyte = nbyte;
    block->type = type;
    block->own = own;
    block->coherent = (about->propertyFlags & COHERENT) != 0;
    // No two pieces share what a flush writes back as a whole.
    const uint32_t atom = ctx->limits.atom;
    rubus_status st =
        vk_ranges_create(host, nbyte, atom > GRANULE ? atom : GRANULE, &block->ranges);
    if (st == RUBUS_OK) {
        st = block_allocate(ctx, block, map);
    }
    if (st != RUBUS_OK) {
        block_free(ctx, block);
        return st;
    }
    block->next = ctx->heap->block[type];
    ctx->heap->block[type] = block;
    *out_block = block;
    return RUBUS_OK;
}

/* Blocks that nothing lies in. keep: leave one of each type for what comes next. */
static void drop_empty(vk_context *ctx, bool keep)
{
    for (uint32_t type = 0; type < VK_MAX_MEMORY_TYPES; type++) {
        struct vk_block **at = &ctx->heap->block[type];
        bool kept = !keep;
        while (*at != NULL) {
            struct vk_block *block = *at;
            const bool empty = vk_ranges_empty(block->ranges);
            if (!empty || (!kept && !block->own)) {
                kept = kept || empty;
                at = &block->next;
                continue;
            }
            *at = block->next;
            block_free(ctx, block);
        }
    }
}

/* --- pieces ----------------------------------------------------------------------- */

static bool take_from(struct vk_block *block, const VkMemoryRequirements *need,
                      vk_memory *out, rubus_status *out_st)
{
    uint64_t first = 0;
    void *piece = NULL;
    if (!vk_ranges_take(block->ranges, need->size, need->alignment, &first, &piece,
                        out_st)) {
        return false;
    }
    *out = (vk_memory){.block = block,
                       .handle = block->handle,
                       .piece = piece,
                       .first = first,
                       .nbyte = need->size,
                       .host = block->host != NULL ? block->host + first : NULL,
                       .coherent = block->coherent};
    return true;
}

/* A lowered limit is for the user's buffers, not for the backend's own. */
static uint64_t allocation_most(const vk_context *ctx, vk_purpose purpose)
{
    return purpose == VK_FOR_DEVICE ? ctx->limits.allocation
                                    : ctx->physical->limits.allocation;
}

/* The size of the next shared block of a type, for a piece of nbyte. */
static uint64_t next_size(const vk_context *ctx, uint32_t type, uint64_t nbyte,
                          uint64_t most)
{
    uint64_t size = ctx->heap->next_size[type];
    size = size == 0 ? BLOCK_FIRST : size;
    while (size < BLOCK_MOST && size < 2 * nbyte) {
        size *= 2;
    }
    while (size > BLOCK_FIRST &&
           (size > heap_size(&ctx->physical->memory, type) / 8 || size > most)) {
        size /= 2;
    }
    return size <= most ? size : most;
}

/* RUBUS_EDEVMEM without text if this type has no room. */
static rubus_status take_of_type(vk_context *ctx, uint32_t type,
                                 const VkMemoryRequirements *need, vk_purpose purpose,
                                 vk_memory *out)
{
    const uint64_t most = allocation_most(ctx, purpose);
    const bool map = purpose != VK_FOR_DEVICE || ctx->physical->unified;
    const uint32_t step = ctx->limits.atom > GRANULE ? ctx->limits.atom : GRANULE;
    const uint64_t whole = (need->size + step - 1) / step * step;
    struct vk_block *block = NULL;
    rubus_status st = RUBUS_OK;
    if (need->size <= PIECE_MOST) {
        for (block = ctx->heap->block[type]; block != NULL; block = block->next) {
            if (!block->own && take_from(block, need, out, &st)) {
                return RUBUS_OK;
            }
            if (st != RUBUS_OK) {
                return st;
            }
        }
        const uint64_t size = next_size(ctx, type, whole, most);
        st = size >= whole ? block_create(ctx, type, size, map, false, &block)
                           : RUBUS_EDEVMEM;
        if (st == RUBUS_OK) {
            ctx->heap->next_size[type] = size < BLOCK_MOST ? size * 2 : size;
        }
    }
    // Large, or no room for a shared block: exactly what is needed.
    if (need->size > PIECE_MOST || st == RUBUS_EDEVMEM) {
        const uint64_t own = whole <= most ? whole : need->size;
        st = block_create(ctx, type, own < step ? step : own, map, true, &block);
    }
    if (st == RUBUS_OK && !take_from(block, need, out, &st)) {
        st = st != RUBUS_OK
                 ? st
                 : ctx->host->fail(ctx->host->ctx, RUBUS_EINTERNAL,
                                   "memory: %" PRIu64 " bytes at a multiple of %" PRIu64
                                   " do not fit a new block",
                                   need->size, need->alignment);
        ctx->heap->block[type] = block->next; // the new one is the first
        block_free(ctx, block);
    }
    return st;
}

static rubus_status no_room(vk_context *ctx, uint64_t nbyte, const uint32_t *type,
                            uint32_t ntype)
{
    char why[300];
    if (ntype == 0) {
        snprintf(why, sizeof why, "the driver has no type of memory for this purpose");
        return too_little(ctx, nbyte, why);
    }
    const uint32_t heap = ctx->physical->memory.memoryTypes[type[0]].heapIndex;
    const uint64_t size = ctx->physical->memory.memoryHeaps[heap].size;
    const uint64_t used = ctx->heap->used[heap];
    const uint64_t room = heap_room(ctx, heap);
    snprintf(why, sizeof why,
             "the memory has %" PRIu64 " bytes (%.2f GiB), this context uses %" PRIu64
             " (%.2f GiB), and the driver gives no more (%.2f GiB are said to be free)",
             size, (double)size / (1 << 30), used, (double)used / (1 << 30),
             (double)room / (1 << 30));
    return too_little(ctx, nbyte, why);
}

rubus_status vk_memory_take(vk_context *ctx, const VkMemoryRequirements *need,
                            vk_purpose purpose, vk_memory *out_memory)
{
    const rubus_host *host = ctx->host;
    const uint64_t most = allocation_most(ctx, purpose);
    if (need->size > most) {
        return host->fail(
            host->ctx, RUBUS_ELIMIT,
            "memory of '%s': %" PRIu64 " bytes (%.2f GiB) asked of the device in one "
            "piece, which allows %" PRIu64 " (%.2f GiB); use smaller arrays or f32",
            ctx->physical->properties.deviceName, need->size,
            (double)need->size / (1 << 30), most, (double)most / (1 << 30));
    }
    uint32_t type[VK_MAX_MEMORY_TYPES];
    const uint32_t ntype =
        vk_memory_order(&ctx->physical->memory, need->memoryTypeBits, purpose, type);
    for (int attempt = 0; attempt < 2; attempt++) {
        for (uint32_t i = 0; i < ntype; i++) {
            const rubus_status st = take_of_type(ctx, type[i], need, purpose, out_memory);
            if (st != RUBUS_EDEVMEM) {
                return st;
            }
        }
        drop_empty(ctx, false); // what was kept in reserve may be what is missing
    }
    return no_room(ctx, need->size, type, ntype);
}

void vk_memory_give(vk_context *ctx, vk_memory *memory)
{
    struct vk_block *block = memory->block;
    if (block == NULL) {
        return;
    }
    vk_ranges_give(block->ranges, memory->piece);
    memset(memory, 0, sizeof *memory);
    if (vk_ranges_empty(block->ranges)) {
        drop_empty(ctx, true);
    }
}

/* --- memory that the host must flush ---------------------------------------------- */

typedef VkResult (*range_function)(VkDevice, uint32_t, const VkMappedMemoryRange *);

static rubus_status sync_range(vk_context *ctx, const vk_memory *memory, uint64_t first,
                               uint64_t nbyte, range_function function, const char *what)
{
    if (memory->coherent || memory->host == NULL || nbyte == 0) {
        return RUBUS_OK;
    }
    // Pieces begin and end at multiples of the atom, so no neighbour is touched.
    const uint64_t atom = ctx->limits.atom > 0 ? ctx->limits.atom : 1;
    const uint64_t begin = (memory->first + first) / atom * atom;
    const uint64_t end = (memory->first + first + nbyte + atom - 1) / atom * atom;
    const VkMappedMemoryRange range = {
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
        .memory = memory->handle,
        .offset = begin,
        .size = end < memory->block->nbyte ? end - begin : VK_WHOLE_SIZE};
    return vk_check(ctx, function(ctx->device, 1, &range), what);
}

rubus_status vk_memory_flush(vk_context *ctx, const vk_memory *memory, uint64_t first,
                             uint64_t nbyte)
{
    return sync_range(ctx, memory, first, nbyte, ctx->api.FlushMappedMemoryRanges,
                      "flushing mapped memory");
}

rubus_status vk_memory_invalidate(vk_context *ctx, const vk_memory *memory,
                                  uint64_t first, uint64_t nbyte)
{
    return sync_range(ctx, memory, first, nbyte, ctx->api.InvalidateMappedMemoryRanges,
                      "reading mapped memory");
}

/* --- the heap of a context -------------------------------------------------------- */

rubus_status vk_memory_init(vk_context *ctx)
{
    const rubus_host *host = ctx->host;
    ctx->heap = vk_new(host, sizeof *ctx->heap);
    if (ctx->heap == NULL) {
        return RUBUS_ENOMEM;
    }
    return RUBUS_OK;
}

uint64_t vk_memory_used(const vk_context *ctx)
{
    uint64_t used = 0;
    for (uint32_t i = 0; i < VK_MAX_MEMORY_HEAPS; i++) {
        used += ctx->heap->used[i];
    }
    return used;
}

void vk_memory_fini(vk_context *ctx)
{
    if (ctx->heap == NULL) {
        return;
    }
    for (uint32_t type = 0; type < VK_MAX_MEMORY_TYPES; type++) {
        for (struct vk_block *block = ctx->heap->block[type]; block != NULL;) {
            struct vk_block *next = block->next;
            if (vk_backend_forked(ctx->be)) {
                vk_ranges_destroy(block->ranges);
                ctx->host->free(ctx->host->ctx, block);
            } else {
                block_free(ctx, block);
            }
            block = next;
        }
    }
    ctx->host->free(ctx->host->ctx, ctx->heap);
    ctx->heap = NULL;
}
