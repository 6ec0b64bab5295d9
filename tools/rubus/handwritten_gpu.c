/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relaxation by hand on a GPU: as little Vulkan as it takes. The device fills all arrays
 * with one small number, which keeps the problem tame.
 */
#include "config.h"

#include "gpu_api.h"
#include "handwritten_code.h"
#include "handwritten_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NARRAY = 8, LOCAL_X = 64, LOCAL_Y = 4, PUSH_MOST = 128 };
#define SMALL 0x3f000000u /* 0.5 as a float, two of them 3e-5 as a double */
enum { ARRAY_U, ARRAY_D, ARRAY_LAM, ARRAY_Q, ARRAY_A, ARRAY_B, ARRAY_R, ARRAY_Z };

struct handwritten_gpu {
    gpu_api api;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkBuffer buffer[NARRAY];
    VkDeviceMemory memory[NARRAY];
    uint64_t address[NARRAY];
    VkPipelineLayout layout;
    VkPipeline pipeline[HANDWRITTEN_KERNELS];
    VkCommandPool pool;
    VkCommandBuffer command;
    handwritten_gpu_problem problem;
    const char *failed; /* what was done when it failed */
};

typedef struct push_block { /* `problem` of handwritten.comp; then four reals, two ints */
    uint64_t array[6];
    unsigned char rest[4 * 8 + 2 * 4];
} push_block;

/* --- device ------------------------------------------------------------------------ */

static bool good(handwritten_gpu *g, VkResult result, const char *what)
{
    if (result != VK_SUCCESS && g->failed == NULL) {
        g->failed = what;
    }
    return result == VK_SUCCESS;
}

static bool find_device(handwritten_gpu *g)
{
    VkPhysicalDevice list[64];
    uint32_t n = 64;
    VkResult result = g->api.EnumeratePhysicalDevices(g->instance, &n, list);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE) {
        return good(g, result, "listing devices");
    }
    for (uint32_t i = 0; i < n; i++) {
        VkPhysicalDeviceProperties is;
        g->api.GetPhysicalDeviceProperties(list[i], &is);
        if (strcmp(is.deviceName, g->problem.device) == 0) {
            g->physical = list[i];
            return true;
        }
    }
    g->failed = "finding the device by its name";
    return false;
}

static bool find_family(handwritten_gpu *g)
{
    VkQueueFamilyProperties list[32];
    uint32_t n = 32;
    g->api.GetPhysicalDeviceQueueFamilyProperties(g->physical, &n, list);
    for (uint32_t i = 0; i < n; i++) {
        if ((list[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0) {
            g->family = i;
            return true;
        }
    }
    g->failed = "finding a queue for compute";
    return false;
}

static bool open_device(handwritten_gpu *g)
{
    g->failed = gpu_api_open(&g->api, &g->instance);
    if (g->failed != NULL || !find_device(g) || !find_family(g)) {
        return false;
    }
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType =
                                               VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = g->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    VkPhysicalDeviceVulkan12Features has12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .bufferDeviceAddress = VK_TRUE,
        .scalarBlockLayout = VK_TRUE};
    const VkPhysicalDeviceFeatures2 features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = &has12,
        .features = {.shaderFloat64 = g->problem.f64, .shaderInt64 = VK_TRUE}};
    const VkDeviceCreateInfo device = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                       .pNext = &features,
                                       .queueCreateInfoCount = 1,
                                       .pQueueCreateInfos = &queue};
    if (!good(g, g->api.CreateDevice(g->physical, &device, NULL, &g->device),
              "making a device")) {
        return false;
    }
    g->api.GetDeviceQueue(g->device, g->family, 0, &g->queue);
    return true;
}

/* --- arrays ------------------------------------------------------------------------ */

static uint32_t find_memory(const handwritten_gpu *g, uint32_t bits)
{
    VkPhysicalDeviceMemoryProperties has;
    g->api.GetPhysicalDeviceMemoryProperties(g->physical, &has);
    uint32_t best = UINT32_MAX; // none: an allocation fails
    for (uint32_t i = 0; i < has.memoryTypeCount; i++) {
        const bool local =
            (has.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
        if ((bits >> i & 1u) != 0 && (best == UINT32_MAX || local)) {
            best = i;
            if (local) {
                break;
            }
        }
    }
    return best;
}

static bool make_array(handwritten_gpu *g, int i)
{
    const uint64_t n = (uint64_t)g->problem.n;
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = n * n * (g->problem.f64 ? 8 : 4),
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                              VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    if (!good(g, g->api.CreateBuffer(g->device, &info, NULL, &g->buffer[i]),
              "making an array")) {
        return false;
    }
    VkMemoryRequirements needs;
    g->api.GetBufferMemoryRequirements(g->device, g->buffer[i], &needs);
    const VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .pNext = &flags,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex =
                                             find_memory(g, needs.memoryTypeBits)};
    if (!good(g, g->api.AllocateMemory(g->device, &memory, NULL, &g->memory[i]),
              "taking memory") ||
        !good(g, g->api.BindBufferMemory(g->device, g->buffer[i], g->memory[i], 0),
              "binding memory")) {
        return false;
    }
    const VkBufferDeviceAddressInfo at = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = g->buffer[i]};
    g->address[i] = g->api.GetBufferDeviceAddress(g->device, &at);
    return true;
}

/* --- kernels ----------------------------------------------------------------------- */

static bool make_pipeline(handwritten_gpu *g, int kernel)
{
    const handwritten_code *code = &handwritten_codes[g->problem.f64 ? 0 : 1][kernel];
    const VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = code->nbyte,
        .pCode = code->word};
    VkShaderModule shader = VK_NULL_HANDLE;
    if (!good(g, g->api.CreateShaderModule(g->device, &module, NULL, &shader),
              "loading a kernel")) {
        return false;
    }
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = shader,
                  .pName = "main"},
        .layout = g->layout};
    const bool made =
        good(g,
             g->api.CreateComputePipelines(g->device, VK_NULL_HANDLE, 1, &info, NULL,
                                           &g->pipeline[kernel]),
             "compiling a kernel");
    g->api.DestroyShaderModule(g->device, shader, NULL);
    return made;
}

static bool make_kernels(handwritten_gpu *g)
{
    const VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                       .size = PUSH_MOST};
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range};
    if (!good(g, g->api.CreatePipelineLayout(g->device, &layout, NULL, &g->layout),
              "making a layout")) {
        return false;
    }
    for (int k = 0; k < HANDWRITTEN_KERNELS; k++) {
        if (!make_pipeline(g, k)) {
            return false;
        }
    }
    return true;
}

/* --- recording --------------------------------------------------------------------- */

static void wait_for_all(handwritten_gpu *g)
{
    const VkMemoryBarrier all = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
    const VkPipelineStageFlags stages =
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    g->api.CmdPipelineBarrier(g->command, stages, stages, 0, 1, &all, 0, NULL, 0, NULL);
}

/* Kernel number `kernel` of handwritten.comp over n by n points. */
static void sweep(handwritten_gpu *g, int kernel, int u, int d, int a, int b, int q)
{
    push_block push = {{g->address[u], g->address[d], g->address[a], g->address[b],
                        g->address[ARRAY_LAM], g->address[q]},
                       {0}};
    const double real[4] = {0.99 * 1.9, 0.9, 1, 1};
    unsigned char *at = push.rest;
    for (int i = 0; i < 4; i++) {
        const float narrow = (float)real[i];
        const size_t size = g->problem.f64 ? 8 : 4;
        memcpy(at, g->problem.f64 ? (const void *)&real[i] : (const void *)&narrow, size);
        at += size;
    }
    const int32_t extent[2] = {g->problem.n, g->problem.n};
    memcpy(at, extent, sizeof(extent));
    g->api.CmdBindPipeline(g->command, VK_PIPELINE_BIND_POINT_COMPUTE,
                           g->pipeline[kernel - 1]);
    g->api.CmdPushConstants(g->command, g->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                            sizeof(push), &push);
    g->api.CmdDispatch(g->command, ((uint32_t)g->problem.n + LOCAL_X - 1) / LOCAL_X,
                       ((uint32_t)g->problem.n + LOCAL_Y - 1) / LOCAL_Y, 1);
    wait_for_all(g);
}

static void record_iteration(handwritten_gpu *g, int number)
{
    const bool odd = number % 2 != 0;
    switch (g->problem.set) {
    case HANDWRITTEN_FUSED:
        sweep(g, 7, odd ? ARRAY_A : ARRAY_U, odd ? ARRAY_B : ARRAY_D,
              odd ? ARRAY_U : ARRAY_A, odd ? ARRAY_D : ARRAY_B, ARRAY_Q);
        return;
    case HANDWRITTEN_MATH:
        sweep(g, 1, ARRAY_U, ARRAY_D, ARRAY_R, ARRAY_Z, ARRAY_Q);
        sweep(g, 2, ARRAY_U, ARRAY_D, ARRAY_A, ARRAY_B, ARRAY_Q);
        sweep(g, 3, ARRAY_U, ARRAY_A, ARRAY_R, ARRAY_Z, ARRAY_B);
        break;
    case HANDWRITTEN_INDEX:
        sweep(g, 1, ARRAY_U, ARRAY_D, ARRAY_R, ARRAY_Z, ARRAY_Q);
        sweep(g, 4, ARRAY_U, ARRAY_D, ARRAY_R, ARRAY_Z, ARRAY_Q);
        break;
    }
    sweep(g, 5, ARRAY_U, ARRAY_D, ARRAY_R, ARRAY_Z, ARRAY_Q);
    sweep(g, 6, ARRAY_U, ARRAY_D, ARRAY_R, ARRAY_Z, ARRAY_Q);
}

/* The first recording fills the arrays, the second is what runs. */
static bool record(handwritten_gpu *g, bool first)
{
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    if (!good(g, g->api.BeginCommandBuffer(g->command, &begin), "recording")) {
        return false;
    }
    for (int i = 0; first && i < NARRAY && g->buffer[i] != VK_NULL_HANDLE; i++) {
        g->api.CmdFillBuffer(g->command, g->buffer[i], 0, VK_WHOLE_SIZE, SMALL);
    }
    wait_for_all(g);
    for (int i = 0; !first && i < g->problem.iterations; i++) {
        record_iteration(g, i);
    }
    return good(g, g->api.EndCommandBuffer(g->command), "recording");
}

static bool make_commands(handwritten_gpu *g)
{
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = g->family};
    if (!good(g, g->api.CreateCommandPool(g->device, &pool, NULL, &g->pool),
              "making commands")) {
        return false;
    }
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = g->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1};
    return good(g, g->api.AllocateCommandBuffers(g->device, &commands, &g->command),
                "making commands") &&
           record(g, true) && handwritten_gpu_run(g) && record(g, false);
}

/* --- public ------------------------------------------------------------------------ */

handwritten_gpu *handwritten_gpu_create(const handwritten_gpu_problem *problem, char *why,
                                        size_t room)
{
    handwritten_gpu *g = calloc(1, sizeof(*g));
    if (g == NULL) {
        snprintf(why, room, "out of memory");
        return NULL;
    }
    g->problem = *problem;
    bool made = open_device(g);
    for (int i = 0; made && i < NARRAY; i++) {
        const bool used = problem->set != HANDWRITTEN_FUSED || i < ARRAY_R;
        made = !used || make_array(g, i);
    }
    made = made && make_kernels(g) && make_commands(g);
    if (!made) {
        snprintf(why, room, "%s failed", g->failed);
        handwritten_gpu_destroy(g);
        return NULL;
    }
    return g;
}

bool handwritten_gpu_run(handwritten_gpu *g)
{
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &g->command};
    return good(g, g->api.QueueSubmit(g->queue, 1, &submit, VK_NULL_HANDLE),
                "submitting") &&
           good(g, g->api.QueueWaitIdle(g->queue), "running");
}

void handwritten_gpu_destroy(handwritten_gpu *g)
{
    if (g == NULL) {
        return;
    }
    if (g->device != VK_NULL_HANDLE) {
        for (int i = 0; i < NARRAY; i++) {
            g->api.DestroyBuffer(g->device, g->buffer[i], NULL);
            g->api.FreeMemory(g->device, g->memory[i], NULL);
        }
        for (int k = 0; k < HANDWRITTEN_KERNELS; k++) {
            g->api.DestroyPipeline(g->device, g->pipeline[k], NULL);
        }
        g->api.DestroyPipelineLayout(g->device, g->layout, NULL);
        g->api.DestroyCommandPool(g->device, g->pool, NULL);
        g->api.DestroyDevice(g->device, NULL);
    }
    if (g->instance != VK_NULL_HANDLE && g->api.DestroyInstance != NULL) {
        g->api.DestroyInstance(g->instance, NULL);
    }
    free(g);
}
