/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backends started from plugins: slots, services, failures of open, shutdown, threads,
 * fork, and every allocation failing in turn.
 */
#include "config.h"

#include <check.h>
#include <pthread.h>
#include <sys/wait.h>

#include "libcore/runtime/plugin.h"
#include "tests/runtime/probe_list.h"
#include "tests/support/probe_files.h"
#include "tests/support/suite.h"

START_TEST(slot_required_but_empty_is_refused)
{
    // each in turn; file names carry small letters and _
    for (int i = 0; i < RUBUS__SLOT_COUNT; i++) {
        char name[30];
        char manner[40];
        snprintf(name, sizeof name, "h%d", i);
        snprintf(manner, sizeof manner, "hole:%s", rubus__slots[i].name);
        probe_add(folder, name, manner);
    }
    for (int i = 0; i < RUBUS__SLOT_COUNT; i++) {
        char ending[40];
        snprintf(ending, sizeof ending, "/rubus-h%d.so", i);
        const char *name = NULL;
        int32_t own = 7;
        usable(ending);
        const rubus_status st =
            rubus_plugin_slot((uint32_t)plugin_at(ending), (uint32_t)i, &name, &own);
        if (rubus__slots[i].required) {
            ck_assert_int_eq(st, RUBUS_EPLUGIN);
            ck_assert_ptr_nonnull(strstr(rubus_error_text(), rubus__slots[i].name));
            refused(ending, "slots", rubus__slots[i].name);
        } else {
            ck_assert_int_eq(st, RUBUS_OK);
            ck_assert_str_eq(name, rubus__slots[i].name);
            ck_assert_int_eq(own, 0);
        }
    }
}
END_TEST

START_TEST(slot_states_are_told)
{
    probe_add(folder, "probe", "native");
    probe_add(folder, "half", "map-only");
    probe_add(folder, "keeper", "prepare-only");
    const uint32_t at = (uint32_t)plugin_at("/rubus-probe.so");
    for (uint32_t i = 0; i < RUBUS__SLOT_COUNT; i++) {
        const char *name = NULL;
        int32_t own = 7;
        ck_assert_int_eq(rubus_plugin_slot(at, i, &name, &own), RUBUS_OK);
        const bool expected = rubus__slots[i].required || strcmp(name, "map") == 0 ||
                              strcmp(name, "unmap") == 0 || strcmp(name, "spmv") == 0;
        ck_assert_msg(own == (expected ? 1 : 0), "%s", name);
    }
    uint32_t n = 0;
    const uint32_t half = (uint32_t)plugin_at("/rubus-half.so");
    ck_assert_int_eq(rubus_plugin_device_count(half, &n), RUBUS_EPLUGIN);
    refused("/rubus-half.so", "slots", "only one of the slots 'map' and 'unmap'");
    ck_assert_int_eq(rubus_plugin_device_count(half, &n), RUBUS_EPLUGIN);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "only one"));
    const uint32_t keeper = (uint32_t)plugin_at("/rubus-keeper.so");
    ck_assert_int_eq(rubus_plugin_device_count(keeper, &n), RUBUS_EPLUGIN);
    refused("/rubus-keeper.so", "slots",
            "only one of the slots 'csr_prepare' and 'csr_release'");
}
END_TEST

START_TEST(open_failure_keeps_the_plugins_words_and_is_tried_again)
{
    static const struct {
        const char *manner;
        rubus_status status;
        const char *word;
    } cases[] = {
        {"open-fails", RUBUS_ENODEV, "libprobe.so.1 is missing; install probe-drivers"},
        {"open-silent", RUBUS_ENODEV, "without a reason"},
        {"open-positive", RUBUS_EPLUGIN, "returned 3"}};
    for (int i = 0; i < 3; i++) {
        char name[20];
        char ending[40];
        snprintf(name, sizeof name, "p%d", i);
        snprintf(ending, sizeof ending, "/rubus-p%d.so", i);
        probe_add(folder, name, cases[i].manner);
        rubus__registry_shutdown();
        for (int time = 0; time < 2; time++) {
            uint32_t n = 0;
            rubus__fail(RUBUS_EIO, "an older text");
            ck_assert_int_eq(rubus_plugin_device_count((uint32_t)plugin_at(ending), &n),
                             cases[i].status);
            ck_assert_msg(strstr(rubus_error_text(), cases[i].word) != NULL, "%s",
                          rubus_error_text());
            ck_assert_msg(strstr(rubus_error_text(), ending) != NULL, "%s",
                          rubus_error_text());
        }
        usable(ending);
    }
}
END_TEST

START_TEST(buffer_that_is_none_is_a_fault_of_the_plugin)
{
    probe_add(folder, "probe", "no-buffer");
    rubus__device *dev = NULL;
    ck_assert_int_eq(rubus__device_open("probe", &dev), RUBUS_EPLUGIN);
    ck_assert_msg(strstr(rubus_error_text(), "'buffer_create' gives no buffer for 64") !=
                      NULL,
                  "%s", rubus_error_text());
    ck_assert_ptr_null(dev);
}
END_TEST

static char log_text[4096];

static void keep_log(void *user, int32_t level, const char *topic, const char *text)
{
    (void)user;
    const size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "%d %s %s\n", (int)level, topic,
             text);
}

START_TEST(host_services_work_inside_open)
{
    probe_add(folder, "probe", "host-check");
    rubus_log_set(keep_log, NULL);
    const int at = plugin_at("/rubus-probe.so");
    uint32_t n = 0;
    ck_assert_msg(rubus_plugin_device_count((uint32_t)at, &n) == RUBUS_OK, "%s",
                  rubus_error_text());
    ck_assert_uint_eq(n, 3);
    rubus_log_set(NULL, NULL);
    ck_assert_msg(strstr(log_text, "3 probe line of the probe\n") != NULL, "%s",
                  log_text);
    ck_assert_msg(strstr(log_text, "rubus-probe.so: probe 7.1, ABI 1.0") != NULL, "%s",
                  log_text);
}
END_TEST

static rubus_status status_inside;

static void call_back(void *user, int32_t level, const char *topic, const char *text)
{
    (void)user;
    (void)level;
    (void)text;
    uint32_t n = 0;
    if (strcmp(topic, "probe") == 0) {
        status_inside = rubus_plugin_count(&n);
    }
}

START_TEST(call_from_inside_open_fails_instead_of_waiting)
{
    probe_add(folder, "probe", "host-check");
    const int at = plugin_at("/rubus-probe.so");
    uint32_t n = 0;
    rubus_log_set(call_back, NULL);
    ck_assert_int_eq(rubus_plugin_device_count((uint32_t)at, &n), RUBUS_OK);
    rubus_log_set(NULL, NULL);
    ck_assert_int_eq(status_inside, RUBUS_ESTATE);
}
END_TEST

START_TEST(device_info_shows_what_the_backend_was_told)
{
    probe_add(folder, "probe", "good");
    probe_variable("RUBUS_NUM_THREADS", "6");
    probe_variable("RUBUS_CC", "gcc -O1");
    probe_variable("RUBUS_VALIDATE", "on");
    const uint32_t at = (uint32_t)plugin_at("/rubus-probe.so");
    rubus_device_info info = {.struct_size = sizeof info};
    ck_assert_int_eq(rubus_plugin_device_info(at, 1, &info), RUBUS_OK);
    ck_assert_str_eq(info.name, "Probe GPU A7");
    ck_assert_str_eq(info.driver,
                     "open=1 threads=6 validate=1 cc=gcc -O1 fp64=- descriptors=- cap=-");
    ck_assert_uint_eq(info.kind, RUBUS_KIND_DISCRETE);
    ck_assert_uint_eq(info.lane_width, 8);
    ck_assert_uint_eq(info.max_buffer, 1u << 30);
    ck_assert_int_eq(rubus_plugin_device_info(at, 3, &info), RUBUS_EINVAL);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "no device 3, only 3"));
}
END_TEST

START_TEST(info_writes_no_more_than_the_caller_has)
{
    probe_add(folder, "probe", "good");
    const uint32_t at = (uint32_t)plugin_at("/rubus-probe.so");
    rubus_plugin_info info;
    memset(&info, 0x5a, sizeof info);
    info.struct_size = offsetof(rubus_plugin_info, version);
    ck_assert_int_eq(rubus_plugin_info_get(at, &info), RUBUS_OK);
    ck_assert_str_eq(info.name, "probe");
    ck_assert_uint_eq((uintptr_t)info.version, (uintptr_t)0x5a5a5a5a5a5a5a5aull);
    ck_assert_uint_eq(info.struct_size, offsetof(rubus_plugin_info, version));
}
END_TEST

START_TEST(public_calls_check_their_arguments)
{
    uint32_t n = 0;
    const char *name = NULL;
    int32_t own = 0;
    rubus_plugin_info info = {.struct_size = 0};
    rubus_device_info device = {.struct_size = 0};
    ck_assert_int_eq(rubus_plugin_count(NULL), RUBUS_EINVAL);
    ck_assert_int_eq(rubus_plugin_info_get(0, NULL), RUBUS_EINVAL);
    ck_assert_int_eq(rubus_plugin_info_get(0, &info), RUBUS_EINVAL);
    info.struct_size = sizeof info;
    ck_assert_int_eq(rubus_plugin_info_get(999, &info), RUBUS_EINVAL);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "no plugin 999"));
    ck_assert_int_eq(rubus_plugin_device_count(999, &n), RUBUS_EINVAL);
    ck_assert_int_eq(rubus_plugin_device_count(0, NULL), RUBUS_EINVAL);
    ck_assert_int_eq(rubus_plugin_device_info(0, 0, &device), RUBUS_EINVAL);
    ck_assert_int_eq(rubus_plugin_slot(0, 99, &name, &own), RUBUS_EINVAL);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "no slot 99"));
    ck_assert_int_eq(rubus_plugin_slot(0, 0, NULL, &own), RUBUS_EINVAL);
    const char *value = NULL;
    ck_assert_int_eq(rubus_environment_get(0, NULL, &value), RUBUS_EINVAL);
    ck_assert_int_eq(rubus_environment_get(99, &name, &value), RUBUS_EINVAL);
    ck_assert_int_eq(rubus_environment_get(0, &name, &value), RUBUS_OK);
    ck_assert_str_eq(name, "RUBUS_BACKEND");
    ck_assert_str_eq(value, "threads");
    ck_assert_int_eq(rubus_environment_get(1, &name, &value), RUBUS_OK);
    ck_assert_str_eq(value, folder);
}
END_TEST

START_TEST(shutdown_closes_what_nobody_uses)
{
    probe_add(folder, "probe", "good");
    rubus__device *dev = NULL;
    rubus__device *other = NULL;
    ck_assert_int_eq(rubus__device_open("probe", &dev), RUBUS_OK);
    ck_assert_int_eq(rubus__device_open("probe:threads=2", &other), RUBUS_OK);
    rubus__device_close(other);
    rubus_log_set(keep_log, NULL);
    rubus__registry_shutdown();
    ck_assert_msg(strstr(log_text, "3 probe closed\n") != NULL, "%s", log_text);
    log_text[0] = '\0';
    // the one in use is whole
    uint32_t n = 0;
    ck_assert_int_eq(dev->ops->device_count(dev->backend->be, &n), RUBUS_OK);
    ck_assert_str_eq(dev->name, "probe");
    rubus__device_close(dev);
    rubus__registry_shutdown();
    rubus__registry_shutdown();
    ck_assert_msg(strstr(log_text, "3 probe closed\n") != NULL, "%s", log_text);
    rubus_log_set(NULL, NULL);
    ck_assert_int_eq(rubus__alloc_live(), 0);
    ck_assert_int_eq(rubus__device_open("probe", &dev), RUBUS_OK);
    rubus__device_close(dev);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    probe_add(folder, "probe", "good");
    probe_add(folder, "second", "hole:launch");
    ck_assert_int_eq(rubus__file_write(path_of("rubus-bad.so"), "junk", 4), RUBUS_OK);
    probe_variable("RUBUS_NUM_THREADS", "3");
    ck_assert_int_eq(rubus__alloc_live(), 0);
    int failures = 0;
    for (int64_t n = 1;; n++) {
        rubus__device *dev = NULL;
        uint32_t count = 0;
        rubus__alloc_fail_after(n, false);
        rubus_status st = rubus_plugin_count(&count);
        if (st == RUBUS_OK) {
            st = rubus__device_open("second ; probe:A70:cap.max_buffer=5", &dev);
        }
        rubus__alloc_fail_after(0, false);
        rubus__device_close(dev);
        rubus__registry_shutdown();
        ck_assert_msg(rubus__alloc_live() == 0,
                      "%lld blocks left over at allocation %lld",
                      (long long)rubus__alloc_live(), (long long)n);
        if (st == RUBUS_OK) {
            break;
        }
        ck_assert_msg(st == RUBUS_ENOMEM, "allocation %lld: %d, %s", (long long)n, st,
                      rubus_error_text());
        failures++;
        ck_assert_int_lt(failures, 500);
    }
    ck_assert_int_gt(failures, 20);
}
END_TEST

static void *open_and_close(void *out_status)
{
    rubus__device *dev = NULL;
    *(rubus_status *)out_status = rubus__device_open("probe", &dev);
    rubus__device_close(dev);
    return NULL;
}

START_TEST(first_use_by_many_threads_starts_one_backend)
{
    enum { NTHREAD = 16 };
    probe_add(folder, "probe", "good");
    pthread_t threads[NTHREAD];
    rubus_status status[NTHREAD];
    for (int i = 0; i < NTHREAD; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, open_and_close, &status[i]),
                         0);
    }
    for (int i = 0; i < NTHREAD; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(status[i], RUBUS_OK);
    }
    rubus__device *dev = NULL;
    ck_assert_int_eq(rubus__device_open("probe", &dev), RUBUS_OK);
    ck_assert_int_eq(strncmp(dev->caps.driver, "open=1 ", 7), 0);
    rubus__device_close(dev);
}
END_TEST

START_TEST(child_of_fork_starts_its_own_backend)
{
    probe_add(folder, "probe", "good");
    rubus__device *dev = NULL;
    ck_assert_int_eq(rubus__device_open("probe", &dev), RUBUS_OK);
    ck_assert_int_eq(strncmp(dev->caps.driver, "open=1 ", 7), 0);
    rubus__registry_fork_prepare();
    const pid_t child = fork();
    if (child == 0) {
        rubus__registry_fork_child();
        rubus__device *own = NULL;
        const bool good = rubus__device_open("probe", &own) == RUBUS_OK &&
                          own->backend != dev->backend &&
                          strncmp(own->caps.driver, "open=2 ", 7) == 0;
        rubus__device_close(own);
        rubus__registry_shutdown();
        _exit(good ? 0 : 1);
    }
    rubus__registry_fork_parent();
    ck_assert_int_gt(child, 0);
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    rubus__device_close(dev);
}
END_TEST

static Suite *start_suite(void)
{
    TCase *tc = tcase_create("start");
    tcase_add_checked_fixture(tc, folder_setup, folder_teardown);
    tcase_add_test(tc, slot_required_but_empty_is_refused);
    tcase_add_test(tc, slot_states_are_told);
    tcase_add_test(tc, open_failure_keeps_the_plugins_words_and_is_tried_again);
    tcase_add_test(tc, buffer_that_is_none_is_a_fault_of_the_plugin);
    tcase_add_test(tc, host_services_work_inside_open);
    tcase_add_test(tc, call_from_inside_open_fails_instead_of_waiting);
    tcase_add_test(tc, device_info_shows_what_the_backend_was_told);
    tcase_add_test(tc, info_writes_no_more_than_the_caller_has);
    tcase_add_test(tc, public_calls_check_their_arguments);
    tcase_add_test(tc, shutdown_closes_what_nobody_uses);
    tcase_add_test(tc, every_allocation_may_fail);
    tcase_add_test(tc, first_use_by_many_threads_starts_one_backend);
    tcase_add_test(tc, child_of_fork_starts_its_own_backend);
    Suite *suite = suite_create("runtime: started backends");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: started backends", start_suite)
