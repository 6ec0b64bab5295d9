/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_DEVICE_PROBE_H
#define RUBUS_TESTS_DEVICE_PROBE_H
/*
 * The backend vulkan for the tests of its devices and memory: opened through the
 * descriptor with a fake host, inside each test, since Vulkan does not survive a fork.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/vulkan/vulkan.h"
#include "tests/support/fake_host.h"
#include "tests/support/suite.h"

extern const rubus_plugin_desc rubus_backend_plugin;

static fake_host fake;
static rubus_ops ops;
static vk_backend *be;
static vk_context *ctx;
static bool layer_message_expected; /* by the test at hand */

#define OK(call)                                                                         \
    do {                                                                                 \
        const rubus_status ok_st_ = (call);                                              \
        ck_assert_msg(ok_st_ == RUBUS_OK, "%s gives %d: %s", #call, ok_st_, fake.text);  \
    } while (0)
/* The call fails so, and the text has the words. */
#define FAILS(call, status, words)                                                       \
    do {                                                                                 \
        fake.text[0] = '\0';                                                             \
        const rubus_status fails_st_ = (call);                                           \
        ck_assert_msg(fails_st_ == (status), "%s gives %d: %s", #call, fails_st_,        \
                      fake.text);                                                        \
        ck_assert_msg(strstr(fake.text, (words)) != NULL, "'%s' is not in '%s'",         \
                      (words), fake.text);                                               \
    } while (0)

/* A host without options; set them before open_backend. */
static inline void start(void)
{
    fake_host_init(&fake);
    memset(&ops, 0, sizeof ops);
    ops.struct_size = sizeof ops;
    be = NULL;
    ctx = NULL;
    layer_message_expected = false;
}

static inline void open_backend(void)
{
    void *backend = NULL;
    OK(rubus_backend_plugin.open(&fake.host, &ops, &backend));
    be = backend;
}

static inline void open_context(void)
{
    open_backend();
    void *context = NULL;
    OK(ops.context_create(be, 0, &context));
    ctx = context;
}

/* Everything is given back. */
static inline void finish(void)
{
    if (ctx != NULL) {
        ops.context_destroy(ctx);
    }
    ck_assert_msg(be == NULL || be->messages == 0 || layer_message_expected,
                  "a layer says: %s", be != NULL ? be->message : "");
    rubus_backend_plugin.close(be);
    ck_assert_int_eq(fake.live, 0);
}

/* Whether there is a device, found out in a child. */
static inline bool device_there(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        start();
        uint32_t n = 0;
        void *backend = NULL;
        const bool there =
            rubus_backend_plugin.open(&fake.host, &ops, &backend) == RUBUS_OK &&
            ops.device_count(backend, &n) == RUBUS_OK && n > 0;
        _exit(there ? 0 : 1);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* Main function of programs that need a device in every test: skipped without one, and
 * under the validation layer where it is installed, with its checks between submits. */
static inline int vulkan_test_run(const char *name, Suite *(*make)(void))
{
    if (getenv("VK_INSTANCE_LAYERS") == NULL &&
        access("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json",
               R_OK) == 0) {
        setenv("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation", 1);
        setenv("VK_LAYER_ENABLES",
               "VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT:"
               "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT",
               1);
    }
    if (!device_there()) {
        printf("%s: there is no Vulkan device\n", name);
        return RUBUS_TEST_SKIPPED;
    }
    return rubus_test_run(name, make);
}

#endif
