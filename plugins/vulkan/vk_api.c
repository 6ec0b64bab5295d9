/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the Vulkan loader and fills the tables of functions. Nothing here is linked
 * against libvulkan, so where it is absent the plugin loads all the same and says so.
 */
#include "config.h"

#include "plugins/vulkan/vk_api.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

_Bool vk_api_open(vk_loader *loader, const char *file, char *why, size_t room)
{
    memset(loader, 0, sizeof *loader);
    loader->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (loader->library == NULL) {
        const char *text = dlerror();
        snprintf(why, room, "%s", text != NULL ? text : "it cannot be opened");
        return false;
    }
    // POSIX promises that the address of a function fits; ISO C has no cast for it.
    void *symbol = dlsym(loader->library, "vkGetInstanceProcAddr");
    memcpy(&loader->GetInstanceProcAddr, &symbol, sizeof symbol);
    const char *missing = symbol == NULL ? "vkGetInstanceProcAddr" : NULL;
#define GET(name)                                                                        \
    if (missing == NULL) {                                                               \
        loader->name = (PFN_vk##name)loader->GetInstanceProcAddr(NULL, "vk" #name);      \
        missing = loader->name == NULL ? "vk" #name : NULL;                              \
    }
    VK_LOADER_LIST(GET)
#undef GET
    if (missing != NULL) {
        snprintf(why, room, "%s has no function %s, so it is older than Vulkan 1.1", file,
                 missing);
        vk_api_close(loader);
        return false;
    }
    return true;
}

void vk_api_close(vk_loader *loader)
{
    if (loader->library != NULL) {
        dlclose(loader->library);
    }
    memset(loader, 0, sizeof *loader);
}

_Bool vk_api_instance(const vk_loader *loader, VkInstance instance, vk_instance_api *api,
                      char *why, size_t room)
{
    const char *missing = NULL;
    memset(api, 0, sizeof *api);
#define GET(name)                                                                        \
    api->name = (PFN_vk##name)loader->GetInstanceProcAddr(instance, "vk" #name);
#define NEED(name)                                                                       \
    GET(name)                                                                            \
    missing = missing == NULL && api->name == NULL ? "vk" #name : missing;
    VK_INSTANCE_LIST(NEED)
    VK_INSTANCE_OPTIONAL(GET)
#undef NEED
#undef GET
    if (missing != NULL) {
        snprintf(why, room, "the instance has no function %s", missing);
        return false;
    }
    return true;
}

_Bool vk_api_device(const vk_instance_api *instance, VkDevice device, vk_device_api *api,
                    char *why, size_t room)
{
    const char *missing = NULL;
    memset(api, 0, sizeof *api);
#define GET(name)                                                                        \
    api->name = (PFN_vk##name)instance->GetDeviceProcAddr(device, "vk" #name);
#define NEED(name)                                                                       \
    GET(name)                                                                            \
    missing = missing == NULL && api->name == NULL ? "vk" #name : missing;
    VK_DEVICE_LIST(NEED)
    VK_DEVICE_OPTIONAL(GET)
#undef NEED
#undef GET
    if (missing != NULL) {
        snprintf(why, room, "the driver has no function %s", missing);
        return false;
    }
    return true;
}
