/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the Vulkan loader for the hand-written kernels of the benchmark.
 */
#include "config.h"

#include "gpu_api.h"

#include <dlfcn.h>
#include <string.h>

const char *gpu_api_open(gpu_api *api, VkInstance *out_instance)
{
    memset(api, 0, sizeof(*api));
    *out_instance = VK_NULL_HANDLE;
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        return "opening libvulkan.so.1";
    }
    void *symbol = dlsym(library, "vkGetInstanceProcAddr");
    dlclose(library); // RTLD_NODELETE: it stays
    if (symbol == NULL) {
        return "opening libvulkan.so.1";
    }
    // POSIX promises that the address of a function fits; ISO C has no cast for it.
    PFN_vkGetInstanceProcAddr find;
    memcpy(&find, &symbol, sizeof(find));
    const PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)find(VK_NULL_HANDLE, "vkCreateInstance");
    const VkApplicationInfo program = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                       .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &program};
    if (create == NULL || create(&info, NULL, out_instance) != VK_SUCCESS) {
        return "making an instance of Vulkan";
    }
    const char *missing = NULL;
#define GET(name)                                                                        \
    api->name = (PFN_vk##name)find(*out_instance, "vk" #name);                           \
    missing = missing == NULL && api->name == NULL ? "finding vk" #name : missing;
    GPU_INSTANCE_LIST(GET)
#undef GET
    return missing;
}
