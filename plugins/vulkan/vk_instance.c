/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loader and the instance, opened at the first need: that runs every driver and every
 * implicit layer of the machine, so neither loading the plugin nor `open` does it. An
 * instance is never destroyed: that unloads drivers, which leak or crash then. A backend
 * that closes leaves it to the next one.
 *
 * Messages of layers go through our own messenger, so that nothing is printed: they are
 * counted, the first is kept, and with validate=1 synchronize fails with it. The loader's
 * own errors are kept to explain why there is no driver.
 */
#include "config.h"

#include "plugins/vulkan/vulkan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(PACKAGE_VERSION)
#define PACKAGE_VERSION "0"
#endif

#define VERSION_NEEDED VK_API_VERSION_1_2
#define VERSION_MOST VK_API_VERSION_1_3

enum { LAYERS_MOST = 128, EXTENSIONS_MOST = 8 };

/* --- fork -------------------------------------------------------------------------- */

/* A word that the system clears in child processes: one load tells a child, where getpid
 * would be a system call in every slot. */
static void mark_process(vk_backend *be)
{
    be->pid = getpid();
#if defined(MADV_WIPEONFORK)
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint32_t *word =
        mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (word == MAP_FAILED) {
        return;
    }
    if (madvise(word, page, MADV_WIPEONFORK) != 0) {
        munmap(word, page);
        return;
    }
    *word = 1;
    be->mine = word;
#endif
}

static void unmark_process(vk_backend *be)
{
    if (be->mine != NULL) {
        munmap((void *)(uintptr_t)be->mine, (size_t)sysconf(_SC_PAGESIZE));
        be->mine = NULL;
    }
}

/* The process that opened Vulkan's drivers, 0 if none did. They run threads of their own,
 * which a child of fork lacks and waits for when it exits, so a child opens nothing. */
static _Atomic(pid_t) opener;

static bool opened_before_fork(void)
{
    const pid_t pid = atomic_load_explicit(&opener, memory_order_relaxed);
    return pid != 0 && pid != getpid();
}

/* Set when the process ends, before the destructors of drivers and layers run: handlers
 * of exit run latest first, and ours is registered after they were loaded. After that no
 * function of theirs may be called. */
static atomic_bool ending;

static void note_end(void)
{
    atomic_store_explicit(&ending, true, memory_order_release);
}

bool vk_process_ends(void)
{
    // pairs with the store in note_end
    return atomic_load_explicit(&ending, memory_order_acquire);
}

rubus_status vk_fail_end(const rubus_host *host)
{
    return host->fail(host->ctx, RUBUS_ESTATE,
                      "the process is ending, and Vulkan's drivers have gone already: "
                      "use the library before, or in a handler that was registered with "
                      "atexit after the first context was opened");
}

bool vk_backend_forked(const vk_backend *be)
{
    // pairs with the store in vk_backend_start: what says whose process this is, is there
    if (!atomic_load_explicit(&be->started, memory_order_acquire)) {
        return false;
    }
    if (vk_process_ends()) {
        return true;
    }
    return be->mine != NULL ? *(const volatile uint32_t *)be->mine == 0
                            : getpid() != be->pid;
}

/* --- instances that wait for use ---------------------------------------------------- */

/* Outlives backends and their hosts, so it comes from malloc and stays. */
typedef struct vk_kept {
    struct vk_kept *next;
    pid_t pid; /* whose it is: a child has no use for its parent's */
    vk_loader loader;
    vk_instance_api api;
    VkInstance instance;
    uint32_t version;
    bool messages; /* VK_EXT_debug_utils is on */
} vk_kept;

/* With `ending` and `opener` the mutable globals of the plugin. Changed only by exchanges
 * of the whole list, so that no lock can be left behind by a fork. */
static _Atomic(vk_kept *) kept_list;

static void kept_put(vk_kept *list)
{
    while (list != NULL) {
        vk_kept *kept = list;
        list = kept->next;
        kept->next = atomic_load_explicit(&kept_list, memory_order_relaxed);
        // pairs with the exchange in kept_take
        while (!atomic_compare_exchange_weak_explicit(
            &kept_list, &kept->next, kept, memory_order_release, memory_order_relaxed)) {
        }
    }
}

static vk_kept *kept_take(void)
{
    vk_kept *list = atomic_exchange_explicit(&kept_list, NULL, memory_order_acquire);
    vk_kept **at = &list;
    while (*at != NULL && (*at)->pid != getpid()) {
        at = &(*at)->next;
    }
    vk_kept *found = *at;
    if (found != NULL) {
        *at = found->next;
        found->next = NULL;
    }
    kept_put(list);
    return found;
}

/* --- messages ---------------------------------------------------------------------- */

static void keep_first(vk_backend *be, char *text, size_t room, const char *message)
{
    pthread_mutex_lock(&be->message_lock);
    if (text[0] == '\0') {
        snprintf(text, room, "%s", message);
    }
    pthread_mutex_unlock(&be->message_lock);
}

static VKAPI_ATTR VkBool32 VKAPI_CALL
on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
           VkDebugUtilsMessageTypeFlagsEXT types,
           const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    vk_backend *be = user;
    const rubus_host *host = be->host;
    const bool error = (severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) != 0;
    const char *text = data->pMessage != NULL ? data->pMessage : "a message without text";
    const char *name = data->pMessageIdName != NULL ? data->pMessageIdName : "";
    (void)types;
    if (strcmp(name, "Loader Message") == 0) {
        // Of the machine, not of this program: a broken driver beside a good one.
        keep_first(be, be->loader_message, sizeof be->loader_message, text);
        host->log(host->ctx, 3, text);
        return VK_FALSE;
    }
    keep_first(be, be->message, sizeof be->message, text);
    atomic_fetch_add_explicit(&be->messages, 1, memory_order_relaxed);
    host->log(host->ctx, error ? 1 : 2, text);
    return VK_FALSE;
}

rubus_status vk_messages_check(vk_backend *be)
{
    unsigned int n = atomic_load_explicit(&be->messages, memory_order_relaxed);
    if (n == 0 || !be->validate) {
        return RUBUS_OK;
    }
    const rubus_host *host = be->host;
    pthread_mutex_lock(&be->message_lock);
    rubus_status st =
        host->fail(host->ctx, RUBUS_EINTERNAL,
                   "validate: %u message%s of Vulkan's layers, the first: %s", n,
                   n == 1 ? "" : "s", be->message);
    pthread_mutex_unlock(&be->message_lock);
    return st;
}

/* --- layers that the user asks for -------------------------------------------------- */

static const char *user_layers(void)
{
    const char *names = secure_getenv("VK_INSTANCE_LAYERS");
    return names != NULL && names[0] != '\0' ? names : NULL;
}

static bool wants_messenger(const vk_backend *be)
{
    const char *filter = secure_getenv("VK_LOADER_LAYERS_ENABLE");
    return be->validate || user_layers() != NULL || (filter != NULL && filter[0] != '\0');
}

/* The loader passes over a layer that is not there, and a test that relies on it would
 * pass without having tested. */
static rubus_status check_layers(vk_backend *be)
{
    const rubus_host *host = be->host;
    const char *names = user_layers();
    if (names == NULL) {
        return RUBUS_OK;
    }
    VkLayerProperties *layer = vk_new(host, LAYERS_MOST * sizeof *layer);
    if (layer == NULL) {
        return RUBUS_ENOMEM;
    }
    uint32_t n = LAYERS_MOST;
    VkResult result = be->loader.EnumerateInstanceLayerProperties(&n, layer);
    rubus_status st =
        result < 0 ? vk_fail_result(host, result, "listing layers", NULL) : RUBUS_OK;
    while (st == RUBUS_OK && *names != '\0') {
        size_t size = strcspn(names, ":");
        bool there = size == 0;
        for (uint32_t i = 0; i < n && !there; i++) {
            there = strlen(layer[i].layerName) == size &&
                    memcmp(layer[i].layerName, names, size) == 0;
        }
        if (!there) {
            st = host->fail(host->ctx, RUBUS_ENODEV,
                            "the layer '%.*s' of VK_INSTANCE_LAYERS is not installed: "
                            "install it (Debian: vulkan-validationlayers), or unset the "
                            "variable",
                            (int)(size < 100 ? size : 100), names);
        }
        names += size + (names[size] == ':');
    }
    host->free(host->ctx, layer);
    return st;
}

/* --- start -------------------------------------------------------------------------- */

static rubus_status open_loader(vk_backend *be)
{
    const rubus_host *host = be->host;
    char why[400];
    if (!vk_api_open(&be->loader, VK_LOADER_FILE, why, sizeof why)) {
        return host->fail(host->ctx, RUBUS_ENODEV,
                          "the Vulkan loader cannot be used: %s; install it (Debian: "
                          "libvulkan1), and a driver (mesa-vulkan-drivers, or the GPU "
                          "maker's)",
                          why);
    }
    uint32_t version = 0;
    VkResult result = be->loader.EnumerateInstanceVersion(&version);
    if (result != VK_SUCCESS) {
        return vk_fail_result(host, result, "asking the Vulkan loader its version", NULL);
    }
    if (version < VERSION_NEEDED) {
        return host->fail(host->ctx, RUBUS_ENODEV,
                          "the Vulkan loader is of version %u.%u; 1.2 is needed: update "
                          "libvulkan1",
                          VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
    }
    be->version = version < VERSION_MOST ? VERSION_NEEDED : VERSION_MOST;
    return RUBUS_OK;
}

static bool has_extension(vk_backend *be, const char *name)
{
    const rubus_host *host = be->host;
    uint32_t n = 0;
    bool there = false;
    if (be->loader.EnumerateInstanceExtensionProperties(NULL, &n, NULL) < 0 || n == 0) {
        return false;
    }
    VkExtensionProperties *extension = vk_new(host, n * sizeof *extension);
    if (extension == NULL) {
        return false; // without debug_utils there are fewer messages, and nothing is lost
    }
    if (be->loader.EnumerateInstanceExtensionProperties(NULL, &n, extension) >= 0) {
        for (uint32_t i = 0; i < n && !there; i++) {
            there = strcmp(extension[i].extensionName, name) == 0;
        }
    }
    host->free(host->ctx, extension);
    return there;
}

static const char *set_or_not(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value != NULL ? value : "(not set)";
}

static rubus_status no_driver(vk_backend *be, const char *what, VkResult result)
{
    const rubus_host *host = be->host;
    // Out of memory is also what the loader makes of a driver's file that is no JSON.
    if (result != VK_ERROR_INCOMPATIBLE_DRIVER &&
        result != VK_ERROR_INITIALIZATION_FAILED &&
        result != VK_ERROR_OUT_OF_HOST_MEMORY && result != VK_SUCCESS) {
        return vk_fail_result(host, result, what, NULL);
    }
    pthread_mutex_lock(&be->message_lock);
    rubus_status st = host->fail(
        host->ctx, RUBUS_ENODEV,
        "no Vulkan device was found: %s%s%s%s%.400s; install the Vulkan driver of the "
        "GPU "
        "(Debian: mesa-vulkan-drivers, which has a software device too; NVIDIA: "
        "nvidia-vulkan-icd), and see that VK_DRIVER_FILES=%.120s and "
        "VK_ICD_FILENAMES=%.120s name whole files that exist",
        what, result == VK_SUCCESS ? "" : ": ",
        result == VK_SUCCESS ? "" : vk_result_name(result),
        be->loader_message[0] != '\0' ? "; the loader says: " : "", be->loader_message,
        set_or_not("VK_DRIVER_FILES"), set_or_not("VK_ICD_FILENAMES"));
    pthread_mutex_unlock(&be->message_lock);
    return st;
}

static VkDebugUtilsMessengerCreateInfoEXT messenger_info(vk_backend *be)
{
    return (VkDebugUtilsMessengerCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = be};
}

static rubus_status make_instance(vk_backend *be)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "rubus",
                                           .pEngineName = "rubus " PACKAGE_VERSION,
                                           .apiVersion = be->version};
    // Chained to the creation it hears the loader. Destroying would call it again, but
    // that never happens.
    const VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(be);
    const char *extension[EXTENSIONS_MOST];
    uint32_t nextension = 0;
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application,
                                 .ppEnabledExtensionNames = extension};
    be->kept->messages = has_extension(be, VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    if (be->kept->messages) {
        extension[nextension++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
        info.pNext = &messenger;
    }
#if defined(VK_KHR_portability_enumeration)
    if (has_extension(be, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) {
        extension[nextension++] = VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME;
        info.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    }
#endif
    info.enabledExtensionCount = nextension;
    VkResult result = be->loader.CreateInstance(&info, NULL, &be->instance);
    if (result != VK_SUCCESS) {
        be->instance = VK_NULL_HANDLE;
        return no_driver(be, "creating the Vulkan instance", result);
    }
    char why[200];
    if (!vk_api_instance(&be->loader, be->instance, &be->api, why, sizeof why)) {
        return be->host->fail(be->host->ctx, RUBUS_ENODEV,
                              "the Vulkan instance cannot be used: %s; update libvulkan1",
                              why);
    }
    be->kept->pid = getpid();
    be->kept->loader = be->loader;
    be->kept->api = be->api;
    be->kept->instance = be->instance;
    be->kept->version = be->version;
    return RUBUS_OK;
}

static rubus_status listen(vk_backend *be)
{
    if (!be->kept->messages || !wants_messenger(be) ||
        be->api.CreateDebugUtilsMessengerEXT == NULL ||
        be->api.DestroyDebugUtilsMessengerEXT == NULL) {
        return RUBUS_OK;
    }
    const VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(be);
    VkResult result = be->api.CreateDebugUtilsMessengerEXT(be->instance, &messenger, NULL,
                                                           &be->messenger);
    if (result != VK_SUCCESS) {
        be->messenger = VK_NULL_HANDLE;
        return vk_fail_result(be->host, result, "listening to Vulkan's layers", NULL);
    }
    return RUBUS_OK;
}

/* Everything but the locks; legal half started. */
static void close_all(vk_backend *be)
{
    if (be->device != NULL) {
        be->host->free(be->host->ctx, be->device);
    }
    be->device = NULL;
    be->ndevice = 0;
    if (be->messenger != VK_NULL_HANDLE && !vk_backend_forked(be)) {
        be->api.DestroyDebugUtilsMessengerEXT(be->instance, be->messenger, NULL);
    }
    be->messenger = VK_NULL_HANDLE;
    if (be->kept != NULL && be->kept->instance != VK_NULL_HANDLE) {
        kept_put(be->kept);
        memset(&be->loader, 0, sizeof be->loader); // open for whoever takes it
    } else {
        free(be->kept);
        vk_api_close(&be->loader);
    }
    be->kept = NULL;
    be->instance = VK_NULL_HANDLE;
    unmark_process(be);
    atomic_store(&be->started, false);
}

static rubus_status fresh_instance(vk_backend *be)
{
    be->kept = calloc(1, sizeof *be->kept);
    if (be->kept == NULL) {
        return be->host->fail(be->host->ctx, RUBUS_ENOMEM,
                              "opening Vulkan: out of memory");
    }
    rubus_status st = open_loader(be);
    if (st == RUBUS_OK) {
        // before any driver is loaded: another thread may fork at any time
        atomic_store_explicit(&opener, getpid(), memory_order_relaxed);
        st = make_instance(be);
    }
    if (st == RUBUS_OK && atexit(note_end) != 0) {
        // only calls at the very end of the process could suffer
        be->host->log(be->host->ctx, 2, "vulkan: no room for a handler at exit");
    }
    return st;
}

static rubus_status start(vk_backend *be)
{
    be->loader_message[0] = '\0';
    be->kept = kept_take();
    rubus_status st = RUBUS_OK;
    if (be->kept != NULL) {
        be->loader = be->kept->loader;
        be->api = be->kept->api;
        be->instance = be->kept->instance;
        be->version = be->kept->version;
    } else {
        st = fresh_instance(be);
    }
    if (st == RUBUS_OK) {
        st = check_layers(be);
    }
    if (st == RUBUS_OK) {
        st = listen(be);
    }
    if (st == RUBUS_OK) {
        st = vk_physical_list(be);
    }
    if (st == RUBUS_OK && be->ndevice == 0) {
        st = no_driver(be, "the drivers that there are have no device", VK_SUCCESS);
    }
    return st;
}

rubus_status vk_backend_start(vk_backend *be)
{
    const rubus_host *host = be->host;
    if (vk_process_ends()) {
        return vk_fail_end(host);
    }
    // before the lock, which a parent's thread may have held
    if (opened_before_fork() || vk_backend_forked(be)) {
        return host->fail(host->ctx, RUBUS_EFORKED,
                          "Vulkan was opened before fork, and its drivers do not survive "
                          "that: fork first and open Vulkan in the child process, or let "
                          "the child exec a program that opens it");
    }
    pthread_mutex_lock(&be->lock);
    rubus_status st = RUBUS_OK;
    if (!atomic_load(&be->started)) {
        st = start(be);
        if (st == RUBUS_OK) {
            mark_process(be);
            // pairs with the load in vk_backend_forked
            atomic_store_explicit(&be->started, true, memory_order_release);
        } else {
            close_all(be);
        }
    }
    pthread_mutex_unlock(&be->lock);
    return st;
}

void vk_backend_stop(vk_backend *be)
{
    close_all(be);
}
