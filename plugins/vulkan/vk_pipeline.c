/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipelines: SPIR-V specialised to the group size that fits the device, and the driver's
 * pipeline cache, which is kept in the kernel cache: one entry for each vendor, device,
 * driver version and cache UUID, verified before the driver sees it.
 */
#include "config.h"

#include "plugins/vulkan/vk_module.h"
#include "plugins/vulkan/vk_seal.h"

#include <string.h>

#define CACHE_SUFFIX "vk-pipelines-1"
#define CACHE_MOST ((size_t)64 << 20)
#define CACHE_HEAD 32u /* a cache of this size holds nothing */

/* --- the driver's cache ----------------------------------------------------------- */

/* The four things that tell whose data they are: 32 bytes in all. */
static void cache_key(const vk_physical *physical, uint8_t key[32])
{
    const uint32_t ids[4] = {physical->properties.vendorID, physical->properties.deviceID,
                             physical->properties.driverVersion, 0};
    memcpy(key, ids, 16);
    memcpy(key + 16, physical->cache_uuid, 16);
}

/* What is on disk for this device, or NULL. The data begin at VK_SEAL_SIZE. */
static unsigned char *file_load(const vk_context *ctx, const uint8_t key[32],
                                size_t *out_size)
{
    const rubus_host *host = ctx->host;
    const VkPhysicalDeviceProperties *is = &ctx->physical->properties;
    unsigned char *file = vk_seal_load(host, key, CACHE_SUFFIX, CACHE_MOST, out_size);
    if (file != NULL &&
        !vk_pipelines_plausible(file + VK_SEAL_SIZE, *out_size - VK_SEAL_SIZE,
                                is->vendorID, is->deviceID, ctx->physical->cache_uuid)) {
        host->free(host->ctx, file);
        return NULL;
    }
    return file;
}

/* A cache that begins with the file, or empty; VK_NULL_HANDLE if the driver refuses. */
static VkPipelineCache cache_make(vk_context *ctx, const unsigned char *file, size_t size)
{
    VkPipelineCacheCreateInfo info = {.sType =
                                          VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    if (file != NULL) {
        info.pInitialData = file + VK_SEAL_SIZE;
        info.initialDataSize = size - VK_SEAL_SIZE;
    }
    VkPipelineCache cache = VK_NULL_HANDLE;
    const VkResult result =
        ctx->api.CreatePipelineCache(ctx->device, &info, NULL, &cache);
    return result == VK_SUCCESS ? cache : VK_NULL_HANDLE;
}

/* Stores the cache, unless the file has the same already. */
static void cache_write(vk_context *ctx, const vk_pipelines *p, const unsigned char *file,
                        size_t file_size)
{
    const rubus_host *host = ctx->host;
    const VkPhysicalDeviceProperties *is = &ctx->physical->properties;
    size_t size = 0;
    if (ctx->api.GetPipelineCacheData(ctx->device, p->cache, &size, NULL) != VK_SUCCESS ||
        size <= CACHE_HEAD || size > CACHE_MOST - VK_SEAL_SIZE) {
        return;
    }
    void *data = host->alloc(host->ctx, size, 16);
    if (data == NULL) {
        return;
    }
    const VkResult result =
        ctx->api.GetPipelineCacheData(ctx->device, p->cache, &size, data);
    const bool same = file != NULL && size == file_size - VK_SEAL_SIZE &&
                      memcmp(data, file + VK_SEAL_SIZE, size) == 0;
    if (result == VK_SUCCESS && !same &&
        vk_pipelines_plausible(data, size, is->vendorID, is->deviceID,
                               ctx->physical->cache_uuid)) {
        vk_seal_store(host, p->key, CACHE_SUFFIX, data, size);
    }
    host->free(host->ctx, data);
}

/* Stores what was made, together with what other processes stored meanwhile. */
static void cache_store(vk_context *ctx, vk_pipelines *p)
{
    size_t size = 0;
    unsigned char *file = file_load(ctx, p->key, &size);
    if (file != NULL) {
        const VkPipelineCache others = cache_make(ctx, file, size);
        if (others != VK_NULL_HANDLE) {
            (void)ctx->api.MergePipelineCaches(ctx->device, p->cache, 1, &others);
            ctx->api.DestroyPipelineCache(ctx->device, others, NULL);
        }
    }
    cache_write(ctx, p, file, size);
    if (file != NULL) {
        ctx->host->free(ctx->host->ctx, file);
    }
}

rubus_status vk_pipelines_init(vk_context *ctx)
{
    const rubus_host *host = ctx->host;
    vk_pipelines *p = vk_new(host, sizeof *p);
    if (p == NULL) {
        return RUBUS_ENOMEM;
    }
    atomic_init(&p->made, 0);
    ctx->pipelines = p;
    const VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                       .size = RUBUS_GLSL_PUSH};
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range};
    const rubus_status st = vk_check(
        ctx, ctx->api.CreatePipelineLayout(ctx->device, &layout, NULL, &p->layout),
        "the layout of the argument block");
    if (st == RUBUS_OK) {
        cache_key(ctx->physical, p->key);
        size_t size = 0;
        unsigned char *file = file_load(ctx, p->key, &size);
        p->cache = cache_make(ctx, file, size);
        if (file != NULL) {
            host->free(host->ctx, file);
        }
    }
    return st;
}

void vk_pipelines_fini(vk_context *ctx)
{
    vk_pipelines *p = ctx->pipelines;
    if (p == NULL) {
        return;
    }
    const bool mine = !vk_backend_forked(ctx->be);
    if (mine && p->cache != VK_NULL_HANDLE && atomic_load(&p->made) > 0 &&
        !atomic_load(&ctx->lost)) {
        cache_store(ctx, p);
    }
    vk_pools_fini(ctx);
    if (mine) {
        ctx->api.DestroyPipelineCache(ctx->device, p->cache, NULL);
        ctx->api.DestroyPipelineLayout(ctx->device, p->layout, NULL);
    }
    ctx->host->free(ctx->host->ctx, p);
    ctx->pipelines = NULL;
}

/* --- pipelines -------------------------------------------------------------------- */

void vk_local_size(const vk_context *ctx, uint32_t ndim, uint32_t out_local[3])
{
    static const uint32_t wanted[3][3] = {{128, 1, 1}, {64, 4, 1}, {64, 2, 2}};
    const vk_limits *limits = &ctx->limits;
    // on a CPU the lanes of a vector: a larger group is a loop around the whole kernel
    const bool cpu = vk_is_software(ctx->physical);
    const uint32_t vector[3] = {ctx->physical->subgroup_size, 1, 1};
    uint32_t left = limits->invocations;
    for (int d = 0; d < 3; d++) {
        uint32_t n = cpu ? vector[d] : wanted[ndim < 1 || ndim > 3 ? 0 : ndim - 1][d];
        while (n > 1 && (n > limits->group_size[d] || n > left)) {
            n /= 2;
        }
        out_local[d] = n;
        left /= n;
    }
}

rubus_status vk_layouts_make(vk_context *ctx, vk_entry *entry)
{
    if (!ctx->be->descriptors) {
        entry->layout = ctx->pipelines->layout;
        return RUBUS_OK;
    }
    const uint32_t n = entry->nbuffer + (entry->pushed ? 0 : 1);
    const uint32_t first = entry->pushed ? 1 : 0;
    const rubus_host *host = ctx->host;
    const uint32_t most =
        ctx->physical->properties.limits.maxPerStageDescriptorStorageBuffers;
    if (n > most) {
        return host->fail(
            host->ctx, RUBUS_ELIMIT,
            "%s: it takes %u buffers, and the device %s binds at most %u to "
            "a kernel; without descriptors=on there is no such limit",
            entry->label, (unsigned)n, ctx->physical->properties.deviceName,
            (unsigned)most);
    }
    VkDescriptorSetLayoutBinding *binding = vk_new(host, (n + 1) * sizeof *binding);
    if (binding == NULL) {
        return RUBUS_ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        binding[i] = (VkDescriptorSetLayoutBinding){
            .binding = first + i,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    const VkDescriptorSetLayoutCreateInfo sets = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = n,
        .pBindings = binding};
    rubus_status st = vk_check(
        ctx, ctx->api.CreateDescriptorSetLayout(ctx->device, &sets, NULL, &entry->sets),
        entry->label);
    host->free(host->ctx, binding);
    if (st != RUBUS_OK) {
        return st;
    }
    const VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                       .size = RUBUS_GLSL_PUSH};
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &entry->sets,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range};
    return vk_check(
        ctx, ctx->api.CreatePipelineLayout(ctx->device, &layout, NULL, &entry->layout),
        entry->label);
}

/* For the messages of layers and for tools that show what runs. */
static void name_pipeline(vk_context *ctx, VkPipeline pipeline, const char *label)
{
    if (ctx->api.SetDebugUtilsObjectNameEXT == NULL) {
        return;
    }
    const VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = VK_OBJECT_TYPE_PIPELINE,
        .objectHandle = (uint64_t)(uintptr_t)pipeline,
        .pObjectName = label};
    (void)ctx->api.SetDebugUtilsObjectNameEXT(ctx->device, &info);
}

static rubus_status specialise(vk_context *ctx, const vk_entry *entry,
                               VkShaderModule shader, VkPipeline *out_pipeline)
{
    static const VkSpecializationMapEntry map[4] = {
        {.constantID = 0, .offset = 0, .size = sizeof(uint32_t)},
        {.constantID = 1, .offset = 4, .size = sizeof(uint32_t)},
        {.constantID = 2, .offset = 8, .size = sizeof(uint32_t)},
        {.constantID = 3, .offset = 12, .size = sizeof(VkBool32)}};
    // several rows at once: on a CPU, where an invocation has many
    const VkBool32 rows = vk_is_software(ctx->physical);
    const uint32_t data[4] = {entry->local[0], entry->local[1], entry->local[2], rows};
    const VkSpecializationInfo constants = {.mapEntryCount = entry->groups ? 0 : 4,
                                            .pMapEntries = map,
                                            .dataSize = sizeof data,
                                            .pData = data};
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = shader,
                  .pName = "main",
                  .pSpecializationInfo = &constants},
        .layout = entry->layout};
    return vk_check(ctx,
                    ctx->api.CreateComputePipelines(ctx->device, ctx->pipelines->cache, 1,
                                                    &info, NULL, out_pipeline),
                    entry->label);
}

rubus_status vk_pipeline_make(vk_module *module, vk_entry *entry, bool wide)
{
    vk_context *ctx = module->ctx;
    vk_code code;
    rubus_status st = vk_code_get(module, entry, wide, &code);
    if (st != RUBUS_OK) {
        return st;
    }
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = code.nbyte,
        .pCode = code.word};
    VkShaderModule shader = VK_NULL_HANDLE;
    st = vk_check(ctx, ctx->api.CreateShaderModule(ctx->device, &info, NULL, &shader),
                  entry->label);
    vk_code_free(ctx, &code);
    VkPipeline pipeline = VK_NULL_HANDLE;
    if (st == RUBUS_OK) {
        st = specialise(ctx, entry, shader, &pipeline);
        ctx->api.DestroyShaderModule(ctx->device, shader, NULL);
    }
    if (st == RUBUS_OK) {
        name_pipeline(ctx, pipeline, entry->label);
        atomic_fetch_add(&ctx->pipelines->made, 1);
        entry->pipeline[wide] = pipeline;
    }
    return st;
}

void vk_entry_free(vk_context *ctx, vk_entry *entry)
{
    for (int wide = 0; wide < 2; wide++) {
        ctx->api.DestroyPipeline(ctx->device, entry->pipeline[wide], NULL);
    }
    if (ctx->be->descriptors) {
        ctx->api.DestroyPipelineLayout(ctx->device, entry->layout, NULL);
        ctx->api.DestroyDescriptorSetLayout(ctx->device, entry->sets, NULL);
    }
}
