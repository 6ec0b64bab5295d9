/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptor sets, for descriptors=on. A pool serves one batch, and is emptied as a whole
 * when the batch is done; sets are never freed one by one.
 */
#include "config.h"

#include "plugins/vulkan/vk_module.h"

#define POOL_SETS 256u
#define POOL_BUFFERS 2048u

typedef struct pool {
    VkDescriptorPool handle;
    uint32_t sets;    // that may still be made
    uint32_t buffers; // likewise
    uint32_t room;    // buffers of an empty pool
    struct pool *next_spare;
    struct pool *next;
} pool;

struct vk_pools {
    pool *all;
    pool *spare;
    pool *current;
    uint64_t batch; // of the current one
};

static void pool_back(vk_context *ctx, void *thing)
{
    pool *p = thing;
    struct vk_pools *pools = ctx->pipelines->pools;
    if (vk_backend_forked(ctx->be)) {
        return; // vk_pools_fini frees it
    }
    (void)ctx->api.ResetDescriptorPool(ctx->device, p->handle, 0);
    p->sets = POOL_SETS;
    p->buffers = p->room;
    p->next_spare = pools->spare;
    pools->spare = p;
    if (pools->current == p) {
        pools->current = NULL;
    }
}

static rubus_status pool_make(vk_context *ctx, uint32_t need, pool **out_pool)
{
    const rubus_host *host = ctx->host;
    pool *p = vk_new(host, sizeof *p);
    if (p == NULL) {
        return RUBUS_ENOMEM;
    }
    *p = (pool){.sets = POOL_SETS, .room = need > POOL_BUFFERS ? need : POOL_BUFFERS};
    p->buffers = p->room;
    const VkDescriptorPoolSize size = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                       .descriptorCount = p->room};
    const VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = POOL_SETS,
        .poolSizeCount = 1,
        .pPoolSizes = &size};
    const rubus_status st =
        vk_check(ctx, ctx->api.CreateDescriptorPool(ctx->device, &info, NULL, &p->handle),
                 "a descriptor pool");
    if (st != RUBUS_OK) {
        host->free(host->ctx, p);
        return st;
    }
    p->next = ctx->pipelines->pools->all;
    ctx->pipelines->pools->all = p;
    *out_pool = p;
    return RUBUS_OK;
}

/* A pool of the batch being recorded with room for a set of `need` buffers. */
static rubus_status pool_for(vk_context *ctx, uint32_t need, pool **out_pool)
{
    struct vk_pools *pools = ctx->pipelines->pools;
    const uint64_t batch = vk_queue_value(ctx);
    pool *p = pools->current;
    if (p == NULL || pools->batch != batch || p->sets == 0 || p->buffers < need) {
        p = NULL;
        for (pool **at = &pools->spare; *at != NULL; at = &(*at)->next_spare) {
            if ((*at)->room >= need) {
                p = *at;
                *at = p->next_spare;
                break;
            }
        }
        if (p == NULL) {
            const rubus_status st = pool_make(ctx, need, &p);
            if (st != RUBUS_OK) {
                return st;
            }
        }
        pools->current = p;
        pools->batch = batch;
        vk_queue_retire(ctx, batch, pool_back, p);
    }
    *out_pool = p;
    return RUBUS_OK;
}

rubus_status vk_set_make(vk_context *ctx, const vk_entry *entry, VkDescriptorSet *out_set)
{
    const rubus_host *host = ctx->host;
    if (ctx->pipelines->pools == NULL) {
        ctx->pipelines->pools = vk_new(host, sizeof *ctx->pipelines->pools);
        if (ctx->pipelines->pools == NULL) {
            return RUBUS_ENOMEM;
        }
    }
    const uint32_t n = entry->nbuffer + (entry->pushed ? 0 : 1);
    pool *p = NULL;
    rubus_status st = pool_for(ctx, n, &p);
    if (st != RUBUS_OK) {
        return st;
    }
    const VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = p->handle,
        .descriptorSetCount = 1,
        .pSetLayouts = &entry->sets};
    st = vk_check(ctx, ctx->api.AllocateDescriptorSets(ctx->device, &info, out_set),
                  entry->label);
    if (st != RUBUS_OK) {
        return st;
    }
    p->sets--;
    p->buffers -= n;
    // bindings follow one another, so one write fills them all
    const VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = *out_set,
        .dstBinding = entry->pushed ? 1 : 0,
        .descriptorCount = n,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = entry->bound + (entry->pushed ? 1 : 0)};
    if (n > 0) {
        ctx->api.UpdateDescriptorSets(ctx->device, 1, &write, 0, NULL);
    }
    return RUBUS_OK;
}

void vk_pools_fini(vk_context *ctx)
{
    struct vk_pools *pools = ctx->pipelines->pools;
    if (pools == NULL) {
        return;
    }
    const bool mine = !vk_backend_forked(ctx->be);
    for (pool *p = pools->all; p != NULL;) {
        pool *next = p->next;
        if (mine) {
            ctx->api.DestroyDescriptorPool(ctx->device, p->handle, NULL);
        }
        ctx->host->free(ctx->host->ctx, p);
        p = next;
    }
    ctx->host->free(ctx->host->ctx, pools);
    ctx->pipelines->pools = NULL;
}
