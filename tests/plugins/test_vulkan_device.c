/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices of the backend vulkan: descriptor, options, capabilities, limits lowered by
 * options, devices that do not do, machines without loader, driver or layer, forks, lost
 * devices, and messages of layers. What needs no device runs everywhere.
 */
#include "config.h"

#include "tests/plugins/device_probe.h"

/* --- without a device ------------------------------------------------------------- */

START_TEST(the_descriptor_is_complete)
{
    start();
    const rubus_plugin_desc *desc = &rubus_backend_plugin;
    ck_assert_uint_eq(desc->magic, RUBUS_PLUGIN_MAGIC);
    ck_assert_str_eq(desc->name, "vulkan");
    open_backend();
#define REQUIRED(slot, required, since, summary)                                         \
    ck_assert_msg(!(required) || ops.slot != NULL, "slot " #slot " is empty");
    RUBUS_SLOT_LIST(REQUIRED)
    ck_assert(ops.fill != NULL && ops.copy != NULL && ops.map != NULL);
    ck_assert_ptr_null(be->instance); // nothing of Vulkan before it is needed
    finish();
}
END_TEST

START_TEST(an_older_table_is_filled_as_far_as_it_goes)
{
    start();
    rubus_ops small;
    memset(&small, 0xee, sizeof small);
    small.struct_size = offsetof(rubus_ops, fill);
    void *backend = NULL;
    OK(rubus_backend_plugin.open(&fake.host, &small, &backend));
    ck_assert_uint_eq(small.struct_size, offsetof(rubus_ops, fill));
    ck_assert_int_eq(((const unsigned char *)&small)[offsetof(rubus_ops, fill)], 0xee);
    rubus_backend_plugin.close(backend);
    ck_assert_int_eq(fake.live, 0);
}
END_TEST

START_TEST(options_that_are_none_fail_at_open)
{
    static const char *const wrong[][2] = {{"validate", "yes!"},
                                           {"descriptors", "2"},
                                           {"cap.groups", "-1"},
                                           {"cap.groups", "many"},
                                           {"cap.push", "12x"},
                                           {"cap.max_binding", ""},
                                           {"cap.subgroup", "1e1"},
                                           {"cap.fp64", "0x1"},
                                           {"cap.max_alloc", " 4"},
                                           {"cap.int64", "-0"},
                                           {"cap.max_buffer", "+1"},
                                           {"cap.atomics", "off"},
                                           {"cap.groups", "18446744073709551616"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        start();
        fake_set(&fake, wrong[i][0], wrong[i][1]);
        void *backend = NULL;
        FAILS(rubus_backend_plugin.open(&fake.host, &ops, &backend), RUBUS_EINVAL,
              wrong[i][0]);
        ck_assert_ptr_null(backend);
        ck_assert_int_eq(fake.live, 0);
    }
}
END_TEST

START_TEST(no_driver_is_a_named_error_each_time)
{
    setenv("VK_DRIVER_FILES", "/nonexistent/driver.json", 1);
    setenv("VK_ICD_FILENAMES", "/nonexistent/driver.json", 1);
    start();
    open_backend();
    for (int i = 0; i < 2; i++) {
        uint32_t n = 7;
        FAILS(ops.device_count(be, &n), RUBUS_ENODEV, "no Vulkan device was found");
        ck_assert_ptr_nonnull(strstr(fake.text, "mesa-vulkan-drivers"));
        ck_assert_ptr_nonnull(strstr(fake.text, "/nonexistent/driver.json"));
        ck_assert_uint_eq(n, 7);
        rubus_caps caps = {.struct_size = sizeof caps};
        FAILS(ops.device_caps(be, 0, &caps), RUBUS_ENODEV, "no Vulkan device");
        void *context = NULL;
        FAILS(ops.context_create(be, 0, &context), RUBUS_ENODEV, "no Vulkan device");
    }
    ck_assert_int_eq(fake.live, 1);
    finish();
}
END_TEST

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(a_broken_driver_file_is_a_named_error)
{
    static const char *const text[] = {
        "", "{ this is no JSON",
        "{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": "
        "\"/nonexistent/libnone.so\", \"api_version\": \"1.3.0\"}}"};
    char path[64];
    snprintf(path, sizeof path, "/tmp/rubus-driver-%ld.json", (long)getpid());
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        write_file(path, text[i]);
        setenv("VK_DRIVER_FILES", path, 1);
        setenv("VK_ICD_FILENAMES", path, 1);
        start();
        open_backend();
        uint32_t n = 0;
        FAILS(ops.device_count(be, &n), RUBUS_ENODEV, "no Vulkan device was found");
        ck_assert_ptr_nonnull(strstr(fake.text, path));
        finish();
    }
    unlink(path);
}
END_TEST

START_TEST(a_layer_that_is_not_there_is_a_named_error)
{
    setenv("VK_INSTANCE_LAYERS", "VK_LAYER_RUBUS_none", 1);
    start();
    open_backend();
    uint32_t n = 0;
    FAILS(ops.device_count(be, &n), RUBUS_ENODEV, "'VK_LAYER_RUBUS_none'");
    finish();
}
END_TEST

START_TEST(a_missing_loader_says_why)
{
    vk_loader loader;
    char why[400] = "";
    ck_assert(!vk_api_open(&loader, "librubus-no-such-loader.so.1", why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "librubus-no-such-loader.so.1"));
    ck_assert(!vk_api_open(&loader, "libm.so.6", why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "vkGetInstanceProcAddr"));
    ck_assert_ptr_null(loader.library);
}
END_TEST

/* A device that does, to be made worse. */
static vk_physical good_device(void)
{
    vk_physical p;
    memset(&p, 0, sizeof p);
    p.properties.apiVersion = VK_API_VERSION_1_3;
    p.properties.vendorID = 0x1002;
    p.properties.deviceID = 7;
    snprintf(p.properties.deviceName, sizeof p.properties.deviceName, "Test GPU");
    p.have.address = true;
    p.have.timeline = true;
    p.subgroup_size = 32;
    p.limits = (vk_limits){.binding = 1 << 27,
                           .allocation = UINT64_C(1) << 32,
                           .buffer = UINT64_C(1) << 32,
                           .push = 256,
                           .groups = {1u << 31, 65535, 65535},
                           .offset_align = 64,
                           .subgroup_least = 8,
                           .subgroup_most = 32,
                           .float64 = true,
                           .int64 = false,
                           .bytes = true,
                           .atomic_f32 = true,
                           .atomic_f64 = true,
                           .atomic_i64 = false};
    p.uuid[3] = 5;
    return p;
}

START_TEST(a_device_that_does_not_do_says_why)
{
    vk_physical p = good_device();
    vk_physical_judge(&p);
    ck_assert_str_eq(p.unfit, "");
    p.have.timeline = false;
    vk_physical_judge(&p);
    ck_assert_ptr_nonnull(strstr(p.unfit, "timelineSemaphore"));
    p.have.address = false;
    vk_physical_judge(&p);
    ck_assert_ptr_nonnull(strstr(p.unfit, "bufferDeviceAddress"));
    p.family = UINT32_MAX;
    vk_physical_judge(&p);
    ck_assert_ptr_nonnull(strstr(p.unfit, "no queue"));
    p.properties.apiVersion = VK_API_VERSION_1_1;
    vk_physical_judge(&p);
    ck_assert_ptr_nonnull(strstr(p.unfit, "Vulkan 1.1"));
}
END_TEST

START_TEST(one_gpu_under_two_drivers_is_one)
{
    vk_physical a = good_device();
    vk_physical b = good_device();
    a.vulkan12.driverID = VK_DRIVER_ID_MESA_RADV;
    b.vulkan12.driverID = VK_DRIVER_ID_AMD_OPEN_SOURCE;
    ck_assert(vk_physical_same(&a, &b));
    b.properties.deviceID++;
    ck_assert(!vk_physical_same(&a, &b));
    b = a;
    b.uuid[15] = 1;
    ck_assert(!vk_physical_same(&a, &b));
    memset(a.uuid, 0, sizeof a.uuid);
    ck_assert(!vk_physical_same(&a, &a)); // a device without a number is like no other
    a = good_device();
    a.vulkan12.driverID = VK_DRIVER_ID_MOLTENVK;
    ck_assert(!vk_physical_same(&a, &a));
}
END_TEST

/* Lowers the good device by one option. */
static bool lower(const char *key, const char *value, vk_limits *out, char why[300])
{
    const vk_physical p = good_device();
    start();
    fake_set(&fake, key, value);
    open_backend();
    why[0] = '\0';
    const bool done = vk_limits_lower(be, &p, out, why, 300);
    finish();
    return done;
}

START_TEST(limits_are_lowered)
{
    vk_limits l;
    char why[300];
    ck_assert(lower("cap.fp64", "0", &l, why) && !l.float64 && !l.atomic_f64);
    ck_assert(lower("fp64", "off", &l, why) && !l.float64 && l.atomic_f32);
    ck_assert(lower("cap.fp64", "2", &l, why) && l.float64);
    ck_assert(lower("cap.int64", "0", &l, why) && !l.int64);
    ck_assert(lower("cap.bool8", "0", &l, why) && !l.bytes);
    ck_assert(lower("cap.atomics", "0", &l, why) && !l.atomic_f32 && !l.atomic_f64);
    ck_assert(lower("cap.groups", "64", &l, why));
    ck_assert_uint_eq(l.groups[0], 64);
    ck_assert_uint_eq(l.groups[2], 64);
    ck_assert(lower("cap.groups", "70000", &l, why));
    ck_assert_uint_eq(l.groups[0], 70000);
    ck_assert_uint_eq(l.groups[1], 65535);
    ck_assert(lower("cap.push", "128", &l, why));
    ck_assert_uint_eq(l.push, 128);
    ck_assert(lower("cap.max_binding", "4096", &l, why));
    ck_assert_uint_eq(l.binding, 4096);
    ck_assert(lower("cap.max_alloc", "1000000", &l, why));
    ck_assert_uint_eq(l.allocation, 1000000);
    ck_assert_uint_eq(l.buffer, 1000000); // a buffer lies in one allocation
    ck_assert(lower("cap.max_buffer", "5", &l, why));
    ck_assert_uint_eq(l.buffer, 5);
    static const char *const size[] = {"1", "4", "64", "128"};
    for (int i = 0; i < 4; i++) {
        ck_assert(lower("cap.subgroup", size[i], &l, why));
        ck_assert_uint_eq(l.subgroup_least, (uint32_t)atoi(size[i]));
        const vk_physical p = good_device();
        ck_assert_uint_eq(vk_lane_width(&p, &l), l.subgroup_most);
    }
    ck_assert(lower("cap.none", "1", &l, why)); // the library's business
    const vk_physical p = good_device();
    ck_assert_uint_eq(vk_lane_width(&p, &l), 32);
}
END_TEST

START_TEST(values_that_cannot_be_are_refused)
{
    static const char *const wrong[][3] = {{"cap.fp64", "3", "0, 1 or 2"},
                                           {"cap.int64", "1", "only 0"},
                                           {"cap.groups", "0", "1 to 2147483648"},
                                           {"cap.groups", "2147483649", "1 to"},
                                           {"cap.push", "64", "128 to 256"},
                                           {"cap.push", "257", "128 to 256"},
                                           {"cap.max_binding", "127", "128 to"},
                                           {"cap.max_binding", "134217729", "to 134"},
                                           {"cap.max_alloc", "0", "1 to"},
                                           {"cap.max_buffer", "4294967297", "1 to"},
                                           {"cap.subgroup", "0", "power of two"},
                                           {"cap.subgroup", "3", "power of two"},
                                           {"cap.subgroup", "256", "power of two"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        vk_limits l;
        char why[300];
        ck_assert_msg(!lower(wrong[i][0], wrong[i][1], &l, why), "%s=%s", wrong[i][0],
                      wrong[i][1]);
        ck_assert_msg(strstr(why, wrong[i][0]) && strstr(why, wrong[i][2]) &&
                          strstr(why, "Test GPU"),
                      "%s", why);
    }
}
END_TEST

/* --- with one --------------------------------------------------------------------- */

START_TEST(capabilities_are_the_devices)
{
    start();
    open_context();
    uint32_t n = 0;
    OK(ops.device_count(be, &n));
    ck_assert_uint_ge(n, 1);
    for (uint32_t i = 0; i < n; i++) {
        const vk_physical *p = &be->device[i];
        rubus_caps caps = {.struct_size = sizeof caps};
        OK(ops.device_caps(be, i, &caps));
        const bool cpu = p->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
        ck_assert(!cpu || caps.kind == RUBUS_KIND_SOFTWARE);
        ck_assert(cpu || caps.kind != RUBUS_KIND_SOFTWARE);
        ck_assert(i == 0 || !cpu || caps.kind == RUBUS_KIND_SOFTWARE);
        ck_assert_str_eq(caps.dialect, "glsl");
        ck_assert_str_eq(caps.name, p->properties.deviceName);
        ck_assert_uint_gt(strlen(caps.driver), 0);
        ck_assert_uint_eq(caps.fp64, p->limits.float64 ? 2 : 0);
        ck_assert_uint_ge(caps.lane_width, 1);
        ck_assert_uint_gt(caps.mem_total, 1 << 20);
        ck_assert_uint_le(caps.max_buffer, caps.max_alloc);
        ck_assert_uint_le(caps.max_alloc, caps.mem_total);
    }
    rubus_caps caps = {.struct_size = sizeof caps};
    OK(ops.device_caps(be, 0, &caps));
    void *buffer = NULL;
    uint32_t where = 0;
    OK(ops.buffer_create(ctx, 100, &buffer));
    OK(ops.locality(ctx, buffer, &where));
    ck_assert_uint_eq(where, caps.memory);
    ck_assert(where == RUBUS_AT_SHARED || where == RUBUS_AT_DEVICE);
    ck_assert((((vk_buffer *)buffer)->memory.host != NULL) == (where == RUBUS_AT_SHARED));
    ops.buffer_destroy(ctx, buffer);
    FAILS(ops.device_caps(be, n, &caps), RUBUS_ENODEV, "the first is number 0");
    void *context = NULL;
    FAILS(ops.context_create(be, n, &context), RUBUS_ENODEV, "was asked");
    finish();
}
END_TEST

START_TEST(older_capabilities_are_filled_as_far_as_they_go)
{
    start();
    open_backend();
    rubus_caps caps;
    memset(&caps, 0xee, sizeof caps);
    caps.struct_size = offsetof(rubus_caps, mem_total);
    OK(ops.device_caps(be, 0, &caps));
    ck_assert_uint_eq(caps.struct_size, offsetof(rubus_caps, mem_total));
    ck_assert_str_eq(caps.dialect, "glsl");
    ck_assert_uint_eq(caps.mem_total, UINT64_C(0xeeeeeeeeeeeeeeee));
    finish();
}
END_TEST

START_TEST(lowered_limits_reach_the_context)
{
    start();
    fake_set(&fake, "fp64", "off");
    fake_set(&fake, "cap.groups", "64");
    fake_set(&fake, "cap.subgroup", "4");
    fake_set(&fake, "cap.atomics", "0");
    open_context();
    ck_assert(!ctx->limits.float64 && !ctx->limits.atomic_f32);
    ck_assert_uint_eq(ctx->limits.groups[1], 64);
    rubus_caps caps = {.struct_size = sizeof caps};
    OK(ops.device_caps(be, 0, &caps));
    ck_assert_uint_eq(caps.fp64, 0);
    ck_assert_uint_eq(caps.lane_width, 4);
    ck_assert_uint_eq(caps.atomic_f32_add, 1);
    finish();
    start();
    fake_set(&fake, "cap.push", "1000000");
    open_backend();
    OK(ops.device_caps(be, 0, &caps));
    void *context = NULL;
    FAILS(ops.context_create(be, 0, &context), RUBUS_EINVAL, "cap.push=1000000");
    finish();
}
END_TEST

START_TEST(an_unfit_device_is_refused_with_its_reason)
{
    start();
    open_backend();
    uint32_t n = 0;
    OK(ops.device_count(be, &n));
    be->device[0].have.timeline = false;
    vk_physical_judge(&be->device[0]);
    rubus_caps caps = {.struct_size = sizeof caps};
    OK(ops.device_caps(be, 0, &caps));
    ck_assert_uint_eq(caps.kind, 0);
    void *context = NULL;
    FAILS(ops.context_create(be, 0, &context), RUBUS_EUNSUPPORTED, "timelineSemaphore");
    finish();
}
END_TEST

START_TEST(contexts_are_independent)
{
    start();
    open_context();
    void *second = NULL;
    OK(ops.context_create(be, 0, &second));
    void *a = NULL;
    void *b = NULL;
    OK(ops.buffer_create(ctx, 1000, &a));
    OK(ops.buffer_create(second, 1000, &b));
    ops.buffer_destroy(second, b);
    ops.context_destroy(second);
    uint32_t word = 0x12345678;
    uint32_t back = 0;
    OK(ops.write(ctx, a, 4, &word, 4));
    OK(ops.read(ctx, a, 4, &back, 4));
    ck_assert_uint_eq(back, word);
    ops.buffer_destroy(ctx, a);
    finish();
}
END_TEST

START_TEST(a_failing_allocation_leaves_nothing)
{
    for (int64_t at = 1; at < 200; at++) {
        start();
        open_backend();
        fake.fail_at = fake.count + at;
        void *context = NULL;
        const rubus_status st = ops.context_create(be, 0, &context);
        if (st == RUBUS_OK) {
            void *buffer = NULL;
            const rubus_status made = ops.buffer_create(context, 1000, &buffer);
            fake.fail_at = 0;
            if (made == RUBUS_OK) {
                ops.buffer_destroy(context, buffer);
            }
            ops.context_destroy(context);
            finish();
            ck_assert(made == RUBUS_OK || made == RUBUS_ENOMEM);
            if (made == RUBUS_OK) {
                return;
            }
            continue;
        }
        ck_assert_msg(st == RUBUS_ENOMEM, "%lld: %d: %s", (long long)at, st, fake.text);
        finish();
    }
    ck_abort_msg("it never succeeded");
}
END_TEST

START_TEST(a_lost_device_stays_lost)
{
    start();
    open_context();
    void *buffer = NULL;
    OK(ops.buffer_create(ctx, 64, &buffer));
    FAILS(vk_check(ctx, VK_ERROR_DEVICE_LOST, "submitting work"), RUBUS_ELOST,
          "submitting work");
    char bytes[64] = {0};
    FAILS(ops.write(ctx, buffer, 0, bytes, 64), RUBUS_ELOST, "submitting work");
    FAILS(ops.synchronize(ctx), RUBUS_ELOST, "open a new one");
    void *other = NULL;
    FAILS(ops.buffer_create(ctx, 64, &other), RUBUS_ELOST, "is lost");
    FAILS(ops.map(ctx, buffer, RUBUS_READ, &other), RUBUS_ELOST, "is lost");
    ops.buffer_destroy(ctx, buffer);
    ops.context_destroy(ctx);
    void *context = NULL;
    OK(ops.context_create(be, 0, &context)); // the others and new ones work
    ctx = context;
    OK(ops.synchronize(ctx));
    finish();
}
END_TEST

/* In the child of a process with an open context; the number of the check that failed. */
static int forked_child(void *buffer)
{
    uint32_t n = 0;
    void *other = NULL;
    char bytes[8] = {0};
    if (ops.device_count(be, &n) != RUBUS_EFORKED ||
        strstr(fake.text, "child process") == NULL) {
        return 1;
    }
    if (ops.context_create(be, 0, &other) != RUBUS_EFORKED) {
        return 2;
    }
    if (ops.buffer_create(ctx, 8, &other) != RUBUS_EFORKED) {
        return 3;
    }
    if (ops.write(ctx, buffer, 0, bytes, 8) != RUBUS_EFORKED ||
        ops.read(ctx, buffer, 0, bytes, 8) != RUBUS_EFORKED) {
        return 4;
    }
    if (ops.synchronize(ctx) != RUBUS_EFORKED) {
        return 5;
    }
    if (ops.map(ctx, buffer, RUBUS_READ, &other) != RUBUS_EFORKED) {
        return 6;
    }
    ops.buffer_destroy(ctx, buffer); // these return, and call no driver
    ops.context_destroy(ctx);
    rubus_backend_plugin.close(be);
    return 0;
}

START_TEST(a_child_is_refused_and_the_parent_goes_on)
{
    start();
    open_context();
    void *buffer = NULL;
    OK(ops.buffer_create(ctx, 8, &buffer));
    ck_assert_ptr_nonnull(be->mine);
    pid_t child = fork();
    if (child == 0) {
        alarm(20); // a driver that was called may hang
        _exit(forked_child(buffer));
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ends with %x",
                  (unsigned int)status);
    uint64_t word = 42;
    uint64_t back = 0;
    OK(ops.write(ctx, buffer, 0, &word, 8));
    OK(ops.read(ctx, buffer, 0, &back, 8));
    ck_assert_uint_eq(back, 42);
    ops.buffer_destroy(ctx, buffer);
    finish();
}
END_TEST

/* Says something as a layer would. */
static void say(VkDebugUtilsMessageSeverityFlagBitsEXT severity, const char *text)
{
    const VkDebugUtilsMessengerCallbackDataEXT data = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT,
        .pMessageIdName = "test",
        .pMessage = text};
    be->api.SubmitDebugUtilsMessageEXT(
        be->instance, severity, VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT, &data);
}

START_TEST(messages_of_layers_fail_synchronize_when_validating)
{
    start();
    fake_set(&fake, "validate", "1");
    open_context();
    if (be->messenger == VK_NULL_HANDLE) {
        finish();
        return; // a loader without VK_EXT_debug_utils
    }
    OK(ops.synchronize(ctx));
    say(VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT, "chatter");
    OK(ops.synchronize(ctx));
    say(VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT, "the first");
    say(VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT, "the second");
    FAILS(ops.synchronize(ctx), RUBUS_EINTERNAL, "2 messages");
    ck_assert_ptr_nonnull(strstr(fake.text, "the first"));
    ck_assert_int_ge(fake.nwarning, 2);
    be->messages = 0;
    finish();
}
END_TEST

static Suite *device_suite(void)
{
    const bool there = device_there();
    Suite *s = suite_create("vulkan device");
    TCase *bare = tcase_create("without a device");
    tcase_add_test(bare, the_descriptor_is_complete);
    tcase_add_test(bare, an_older_table_is_filled_as_far_as_it_goes);
    tcase_add_test(bare, options_that_are_none_fail_at_open);
    tcase_add_test(bare, no_driver_is_a_named_error_each_time);
    tcase_add_test(bare, a_broken_driver_file_is_a_named_error);
    tcase_add_test(bare, a_layer_that_is_not_there_is_a_named_error);
    tcase_add_test(bare, a_missing_loader_says_why);
    tcase_add_test(bare, a_device_that_does_not_do_says_why);
    tcase_add_test(bare, one_gpu_under_two_drivers_is_one);
    tcase_add_test(bare, limits_are_lowered);
    tcase_add_test(bare, values_that_cannot_be_are_refused);
    suite_add_tcase(s, bare);
    if (!there) {
        printf("no Vulkan device: the tests that need one are left out\n");
        return s;
    }
    TCase *device = tcase_create("with a device");
    tcase_add_test(device, capabilities_are_the_devices);
    tcase_add_test(device, older_capabilities_are_filled_as_far_as_they_go);
    tcase_add_test(device, lowered_limits_reach_the_context);
    tcase_add_test(device, an_unfit_device_is_refused_with_its_reason);
    tcase_add_test(device, contexts_are_independent);
    tcase_add_test(device, a_failing_allocation_leaves_nothing);
    tcase_add_test(device, a_lost_device_stays_lost);
    tcase_add_test(device, a_child_is_refused_and_the_parent_goes_on);
    tcase_add_test(device, messages_of_layers_fail_synchronize_when_validating);
    suite_add_tcase(s, device);
    return s;
}

RUBUS_TEST_MAIN("vulkan device", device_suite)
