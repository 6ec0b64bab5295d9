/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_VK_API_H
#define RUBUS_VK_API_H
/*
 * The functions of Vulkan that the backend calls, as three tables filled at run time:
 * libvulkan is opened with dlopen, so the plugin needs no Vulkan to be loaded, and the
 * functions of a device come from the driver itself, without the loader's dispatch.
 *
 * Members are named without the prefix vk: `ctx->api.CmdDispatch(cmd, x, y, z)`. The
 * prototypes of the header are off: a function that is missing here does not compile.
 * To add one, add its name to a list. Functions of the lists VK_INSTANCE_OPTIONAL and
 * VK_DEVICE_OPTIONAL belong to extensions and may be NULL; all others are never NULL in a
 * table that vk_api_open, vk_api_instance or vk_api_device filled.
 */
#define VK_NO_PROTOTYPES 1
#include <vulkan/vulkan_core.h>

#include <stddef.h>

#define VK_LOADER_LIST(X)                                                                \
    X(EnumerateInstanceVersion)                                                          \
    X(EnumerateInstanceExtensionProperties)                                              \
    X(EnumerateInstanceLayerProperties)                                                  \
    X(CreateInstance)

#define VK_INSTANCE_LIST(X)                                                              \
    X(EnumeratePhysicalDevices)                                                          \
    X(EnumerateDeviceExtensionProperties)                                                \
    X(GetPhysicalDeviceProperties)                                                       \
    X(GetPhysicalDeviceProperties2)                                                      \
    X(GetPhysicalDeviceFeatures2)                                                        \
    X(GetPhysicalDeviceMemoryProperties)                                                 \
    X(GetPhysicalDeviceMemoryProperties2)                                                \
    X(GetPhysicalDeviceQueueFamilyProperties)                                            \
    X(CreateDevice)                                                                      \
    X(GetDeviceProcAddr)

#define VK_INSTANCE_OPTIONAL(X)                                                          \
    X(CreateDebugUtilsMessengerEXT)                                                      \
    X(DestroyDebugUtilsMessengerEXT)                                                     \
    X(SubmitDebugUtilsMessageEXT)

#define VK_DEVICE_LIST(X)                                                                \
    X(DestroyDevice)                                                                     \
    X(DeviceWaitIdle)                                                                    \
    X(GetDeviceQueue)                                                                    \
    X(QueueSubmit)                                                                       \
    X(AllocateMemory)                                                                    \
    X(FreeMemory)                                                                        \
    X(MapMemory)                                                                         \
    X(UnmapMemory)                                                                       \
    X(FlushMappedMemoryRanges)                                                           \
    X(InvalidateMappedMemoryRanges)                                                      \
    X(CreateBuffer)                                                                      \
    X(DestroyBuffer)                                                                     \
    X(GetBufferMemoryRequirements2)                                                      \
    X(BindBufferMemory)                                                                  \
    X(GetBufferDeviceAddress)                                                            \
    X(CreateSemaphore)                                                                   \
    X(DestroySemaphore)                                                                  \
    X(WaitSemaphores)                                                                    \
    X(GetSemaphoreCounterValue)                                                          \
    X(CreateCommandPool)                                                                 \
    X(DestroyCommandPool)                                                                \
    X(ResetCommandPool)                                                                  \
    X(AllocateCommandBuffers)                                                            \
    X(BeginCommandBuffer)                                                                \
    X(EndCommandBuffer)                                                                  \
    X(CreateQueryPool)                                                                   \
    X(DestroyQueryPool)                                                                  \
    X(GetQueryPoolResults)                                                               \
    X(CmdResetQueryPool)                                                                 \
    X(CmdWriteTimestamp)                                                                 \
    X(CmdPipelineBarrier)                                                                \
    X(CmdCopyBuffer)                                                                     \
    X(CmdFillBuffer)                                                                     \
    X(CmdUpdateBuffer)                                                                   \
    X(CmdBindPipeline)                                                                   \
    X(CmdBindDescriptorSets)                                                             \
    X(CmdPushConstants)                                                                  \
    X(CmdDispatch)                                                                       \
    X(CreateShaderModule)                                                                \
    X(DestroyShaderModule)                                                               \
    X(CreatePipelineCache)                                                               \
    X(DestroyPipelineCache)                                                              \
    X(GetPipelineCacheData)                                                              \
    X(MergePipelineCaches)                                                               \
    X(CreateComputePipelines)                                                            \
    X(DestroyPipeline)                                                                   \
    X(CreatePipelineLayout)                                                              \
    X(DestroyPipelineLayout)                                                             \
    X(CreateDescriptorSetLayout)                                                         \
    X(DestroyDescriptorSetLayout)                                                        \
    X(CreateDescriptorPool)                                                              \
    X(DestroyDescriptorPool)                                                             \
    X(ResetDescriptorPool)                                                               \
    X(AllocateDescriptorSets)                                                            \
    X(UpdateDescriptorSets)

#define VK_DEVICE_OPTIONAL(X)                                                            \
    X(SetDebugUtilsObjectNameEXT)                                                        \
    X(CmdInsertDebugUtilsLabelEXT)                                                       \
    X(GetDeviceFaultInfoEXT)

#define VK_API_MEMBER(name) PFN_vk##name name;

/* VK_EXT_device_fault is younger than the oldest header that the backend builds with. */
#if !defined(VK_EXT_device_fault)
typedef PFN_vkVoidFunction PFN_vkGetDeviceFaultInfoEXT;
#endif

typedef struct vk_loader {
    void *library; /* of dlopen */
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
    VK_LOADER_LIST(VK_API_MEMBER)
} vk_loader;

typedef struct vk_instance_api {
    VK_INSTANCE_LIST(VK_API_MEMBER)
    VK_INSTANCE_OPTIONAL(VK_API_MEMBER)
} vk_instance_api;

typedef struct vk_device_api {
    VK_DEVICE_LIST(VK_API_MEMBER)
    VK_DEVICE_OPTIONAL(VK_API_MEMBER)
} vk_device_api;

/* The library of the Vulkan loader, as the dynamic linker finds it. */
#define VK_LOADER_FILE "libvulkan.so.1"

/* Each writes what went wrong to `why` and returns false; nothing is left open then. */
_Bool vk_api_open(vk_loader *loader, const char *file, char *why, size_t room);
void vk_api_close(vk_loader *loader);
_Bool vk_api_instance(const vk_loader *loader, VkInstance instance, vk_instance_api *api,
                      char *why, size_t room);
_Bool vk_api_device(const vk_instance_api *instance, VkDevice device, vk_device_api *api,
                    char *why, size_t room);

#endif
