/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TOOLS_GPU_API_H
#define RUBUS_TOOLS_GPU_API_H
/*
 * The functions of Vulkan that handwritten_gpu.c calls, found at run time: where there is
 * no Vulkan the command works all the same.
 */
#define VK_NO_PROTOTYPES 1
#include <vulkan/vulkan_core.h>

#define GPU_INSTANCE_LIST(X)                                                             \
    X(DestroyInstance)                                                                   \
    X(EnumeratePhysicalDevices)                                                          \
    X(GetPhysicalDeviceProperties)                                                       \
    X(GetPhysicalDeviceMemoryProperties)                                                 \
    X(GetPhysicalDeviceQueueFamilyProperties)                                            \
    X(CreateDevice)                                                                      \
    X(DestroyDevice)                                                                     \
    X(GetDeviceQueue)                                                                    \
    X(QueueSubmit)                                                                       \
    X(QueueWaitIdle)                                                                     \
    X(AllocateMemory)                                                                    \
    X(FreeMemory)                                                                        \
    X(CreateBuffer)                                                                      \
    X(DestroyBuffer)                                                                     \
    X(GetBufferMemoryRequirements)                                                       \
    X(BindBufferMemory)                                                                  \
    X(GetBufferDeviceAddress)                                                            \
    X(CreateCommandPool)                                                                 \
    X(DestroyCommandPool)                                                                \
    X(AllocateCommandBuffers)                                                            \
    X(BeginCommandBuffer)                                                                \
    X(EndCommandBuffer)                                                                  \
    X(CmdPipelineBarrier)                                                                \
    X(CmdFillBuffer)                                                                     \
    X(CmdBindPipeline)                                                                   \
    X(CmdPushConstants)                                                                  \
    X(CmdDispatch)                                                                       \
    X(CreateShaderModule)                                                                \
    X(DestroyShaderModule)                                                               \
    X(CreateComputePipelines)                                                            \
    X(DestroyPipeline)                                                                   \
    X(CreatePipelineLayout)                                                              \
    X(DestroyPipelineLayout)

#define GPU_API_MEMBER(name) PFN_vk##name name;

typedef struct gpu_api {
    GPU_INSTANCE_LIST(GPU_API_MEMBER)
} gpu_api;

/* Opens the loader, makes an instance of Vulkan 1.2 and fills the table. Returns NULL, or
 * what failed; *out_instance may be set even then. The loader stays open: drivers leave
 * threads and handlers behind. */
const char *gpu_api_open(gpu_api *api, VkInstance *out_instance);

#endif
