/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_QUEUE_PROBE_H
#define RUBUS_TESTS_QUEUE_PROBE_H
/*
 * A context of the backend vulkan for the tests of its queue: opened through the
 * descriptor with a fake host, validate=1, and the validation layer with both
 * synchronisation checks where it is installed. Everything is opened inside a test, since
 * Vulkan does not survive a fork; a child finds out first whether there is a device.
 */
#include <string.h>
#include <sys/wait.h>

#include "plugins/vulkan/vk_stream.h"
#include "tests/support/fake_host.h"
#include "tests/support/suite.h"

extern const rubus_plugin_desc rubus_backend_plugin;

static fake_host fake;
static rubus_ops ops;
static void *be;
static vk_context *ctx;
static bool layer_message_expected;

#define OK(call) ck_assert_msg((call) == RUBUS_OK, "%s: %s", #call, fake.text)

static inline void open_context(void)
{
    fake_host_init(&fake);
    fake_set(&fake, "validate", "1");
    layer_message_expected = false;
    memset(&ops, 0, sizeof ops);
    ops.struct_size = sizeof ops;
    OK(rubus_backend_plugin.open(&fake.host, &ops, &be));
    void *context = NULL;
    OK(ops.context_create(be, 0, &context));
    ctx = context;
}

static inline void close_context(void)
{
    const vk_backend *backend = be;
    ops.context_destroy(ctx);
    ctx = NULL;
    if (!layer_message_expected) {
        ck_assert_msg(backend->messages == 0, "validation: %s", backend->message);
    }
    rubus_backend_plugin.close(be);
    ck_assert_int_eq(fake.live, 0);
}

static inline vk_buffer *make_buffer(uint64_t nbyte)
{
    void *buffer = NULL;
    OK(ops.buffer_create(ctx, nbyte, &buffer));
    return buffer;
}

/* --- random numbers, the same in each run --------------------------------------- */

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static inline uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static inline uint64_t random_below(uint64_t n)
{
    return (random_next() >> 11) % n;
}

static inline void random_bytes(unsigned char *to, uint64_t n)
{
    for (uint64_t i = 0; i < n; i += 8) {
        uint64_t word = random_next();
        memcpy(to + i, &word, n - i < 8 ? n - i : 8);
    }
}

/* The first byte that differs, for a message; n if none does. */
static inline uint64_t first_difference(const unsigned char *a, const unsigned char *b,
                                        uint64_t n)
{
    if (memcmp(a, b, n) == 0) {
        return n;
    }
    uint64_t i = 0;
    while (a[i] == b[i]) {
        i++;
    }
    return i;
}

#define SAME(a, b, n, what)                                                              \
    do {                                                                                 \
        uint64_t at_ = first_difference((a), (b), (n));                                  \
        ck_assert_msg(at_ == (n), "%s: byte %llu of %llu is %u, not %u", (what),         \
                      (unsigned long long)at_, (unsigned long long)(n),                  \
                      at_ < (n) ? (a)[at_] : 0u, at_ < (n) ? (b)[at_] : 0u);             \
    } while (0)

/* --- is there a device? --------------------------------------------------------- */

static inline int probe_child(void)
{
    fake_host_init(&fake);
    ops.struct_size = sizeof ops;
    uint32_t n = 0;
    if (rubus_backend_plugin.open(&fake.host, &ops, &be) != RUBUS_OK ||
        ops.device_count(be, &n) != RUBUS_OK || n == 0) {
        printf("no Vulkan device: %s\n", fake.text);
        fflush(stdout);
        return RUBUS_TEST_SKIPPED;
    }
    return 0;
}

/* Main function of the programs: their whole suite is skipped without a device. */
static inline int queue_test_run(const char *name, Suite *(*make)(void))
{
    const char *layer =
        "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json";
    if (getenv("VK_INSTANCE_LAYERS") == NULL && access(layer, R_OK) == 0) {
        setenv("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation", 1);
        setenv("VK_LAYER_ENABLES",
               "VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT:"
               "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT",
               1);
    }
    pid_t child = fork();
    if (child == 0) {
        _exit(probe_child());
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        fprintf(stderr, "%s: looking for a device failed\n", name);
        return EXIT_FAILURE;
    }
    return WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : rubus_test_run(name, make);
}

#endif
