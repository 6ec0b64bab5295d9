/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that fork: what the parent made says so in the child and can be given back
 * there, the child opens contexts of its own, and the parent goes on.
 */
#include "config.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/backends.h"
#include "tests/support/suite.h"

static const char source[] = "kernel twice(inout real a[n]) { a = 2 * a; }\n";

typedef struct objects {
    rubus_context *context;
    rubus_module *module;
    rubus_array *array;
    rubus_array *view;
    rubus_array *mapped;
} objects;

static objects make(int at)
{
    objects o;
    void *p = NULL;
    o.context = backends_open(at);
    o.module = backends_module(o.context, source, RUBUS_F64, 0);
    o.array = backends_ramp(o.context, 100000, 1);
    ok(rubus_array_view(o.array, 5, RUBUS_SHAPE(4), &o.view));
    ok(rubus_array_create(o.context, RUBUS_F64, RUBUS_SHAPE(3), &o.mapped));
    ok(rubus_array_map(o.mapped, RUBUS_WRITE, &p));
    ok(rubus_launch(backends_kernel(o.module, "twice"), o.array));
    return o;
}

static void unmake(objects *o)
{
    rubus_array_destroy(o->mapped);
    rubus_array_destroy(o->view);
    rubus_context_destroy(o->context);
    rubus_module_destroy(o->module);
    rubus_array_destroy(o->array);
}

static bool forked(rubus_status st)
{
    return st == RUBUS_EFORKED && strstr(rubus_error_text(), "before fork") != NULL &&
           strstr(rubus_error_text(), "open one of its own") != NULL;
}

/* In the child: 0, or the number of what went wrong. check's asserts are of the parent.
 * */
static int child_refused(objects *o)
{
    rubus_array *array = NULL;
    rubus_module *module = NULL;
    double x[3] = {0};
    void *p = NULL;
    rubus_context_counters counters = {.struct_size = sizeof counters};
    rubus_context_info info = {.struct_size = sizeof info};
    const bool all[] = {
        forked(rubus_array_read_range(o->array, 0, 1, x)),
        forked(rubus_array_write_range(o->array, 0, 1, x)),
        forked(rubus_array_fill(o->array, 0)),
        forked(rubus_array_random(o->array, 1, 0, 1)),
        forked(rubus_array_map(o->array, RUBUS_READ, &p)),
        forked(rubus_array_unmap(o->mapped)),
        forked(rubus_array_create(o->context, RUBUS_F64, RUBUS_SHAPE(3), &array)),
        forked(rubus_array_from(o->context, RUBUS_F64, RUBUS_SHAPE(3), x, &array)),
        forked(rubus_launch(rubus_module_kernel(o->module, "twice"), o->array)),
        forked(rubus_module_create(o->context, "m", source, NULL, &module)),
        forked(rubus_context_synchronize(o->context)),
        forked(rubus_context_counters_get(o->context, &counters)),
        rubus_context_info_get(o->context, &info) == RUBUS_OK,
        array == NULL && module == NULL,
    };
    for (size_t k = 0; k < sizeof all; k++) {
        if (!all[k]) {
            return (int)k + 1;
        }
    }
    unmake(o);
    return 0;
}

static bool is_vulkan(int at)
{
    return strncmp(backends_spec[at], "vulkan", 6) == 0;
}

/* Drivers of GPUs do not survive a fork: the child is told so, and what to do. */
static int child_is_refused_vulkan(int at)
{
    rubus_context *context = NULL;
    if (rubus_context_create(backends_spec[at], &context) != RUBUS_EFORKED) {
        return 53;
    }
    return strstr(rubus_error_text(), "fork first") != NULL && context == NULL ? 0 : 54;
}

/* A context of the child's own works. */
static int child_works(int at)
{
    if (is_vulkan(at)) {
        return child_is_refused_vulkan(at);
    }
    rubus_context *context = NULL;
    rubus_module *module = NULL;
    rubus_array *a = NULL;
    const double host[3] = {1, 2, 3};
    double got[3] = {0};
    if (rubus_context_create(backends_spec[at], &context) != RUBUS_OK) {
        return 50;
    }
    if (rubus_module_create(context, "m", source, NULL, &module) != RUBUS_OK ||
        rubus_array_from(context, RUBUS_F64, RUBUS_SHAPE(3), host, &a) != RUBUS_OK ||
        rubus_launch(rubus_module_kernel(module, "twice"), a) != RUBUS_OK ||
        rubus_array_read(a, got, sizeof got) != RUBUS_OK) {
        return 51;
    }
    rubus_array_destroy(a);
    rubus_module_destroy(module);
    rubus_context_destroy(context);
    return got[2] == 6 ? 0 : 52;
}

static int status_of(pid_t child)
{
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status), "the child was ended by signal %d",
                  WTERMSIG(status));
    return WEXITSTATUS(status);
}

START_TEST(child_is_told_and_opens_its_own)
{
    objects o = make(_i);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        const int wrong = child_refused(&o);
        _exit(wrong != 0 ? wrong : child_works(_i));
    }
    ck_assert_int_eq(status_of(child), 0);
    ck_assert(backends_get(o.view, 0) == 12); // the parent goes on
    ok(rubus_launch(backends_kernel(o.module, "twice"), o.array));
    ck_assert(backends_get(o.view, 0) == 24);
    unmake(&o);
    rubus_shutdown();
    ck_assert_int_eq(rubus__alloc_live(), 0);
}
END_TEST

static atomic_bool stop;

static void *keep_busy(void *arg)
{
    objects *o = arg;
    double x = 0;
    while (!atomic_load(&stop)) {
        if (rubus_launch(rubus_module_kernel(o->module, "twice"), o->array) != RUBUS_OK ||
            rubus_array_read_range(o->array, 0, 1, &x) != RUBUS_OK) {
            return o;
        }
    }
    return NULL;
}

START_TEST(child_of_a_busy_program_does_not_hang)
{
    objects o = make(_i);
    pthread_t thread;
    atomic_store(&stop, false);
    ck_assert_int_eq(pthread_create(&thread, NULL, keep_busy, &o), 0);
    for (int k = 0; k < 10; k++) {
        const pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            // the other thread may have held any lock of the context
            const int wrong = child_refused(&o);
            _exit(wrong != 0 ? wrong : child_works(_i));
        }
        ck_assert_int_eq(status_of(child), 0);
    }
    atomic_store(&stop, true);
    void *failed = NULL;
    pthread_join(thread, &failed);
    ck_assert_ptr_null(failed);
    unmake(&o);
    rubus_shutdown();
    ck_assert_int_eq(rubus__alloc_live(), 0);
}
END_TEST

START_TEST(grandchild_tells_its_parents_contexts_from_its_own)
{
    objects o = make(_i);
    const char *own_spec = is_vulkan(_i) ? "threads" : backends_spec[_i];
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        rubus_context *own = NULL;
        if (rubus_context_create(own_spec, &own) != RUBUS_OK) {
            _exit(60);
        }
        const pid_t grandchild = fork();
        if (grandchild == 0) {
            _exit(forked(rubus_context_synchronize(own)) &&
                          forked(rubus_context_synchronize(o.context))
                      ? 0
                      : 61);
        }
        int status = 0;
        waitpid(grandchild, &status, 0);
        if (rubus_context_synchronize(own) != RUBUS_OK) {
            _exit(62);
        }
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 63);
    }
    ck_assert_int_eq(status_of(child), 0);
    unmake(&o);
    rubus_shutdown();
}
END_TEST

#if defined(__SANITIZE_THREAD__)
// the sanitizer lets the child of a program with threads start none, and the driver does
enum { FORKED = BACKENDS - VULKAN_SPEC_COUNT };
#else
enum { FORKED = BACKENDS };
#endif

static Suite *fork_suite(void)
{
    TCase *tc = tcase_create("fork");
    tcase_add_loop_test(tc, child_is_told_and_opens_its_own, 0, FORKED);
#if !defined(__SANITIZE_ADDRESS__)
    // the sanitizer's own allocator is not safe in the child of a program with threads
    tcase_add_loop_test(tc, child_of_a_busy_program_does_not_hang, 0, FORKED);
#endif
    tcase_add_loop_test(tc, grandchild_tells_its_parents_contexts_from_its_own, 0,
                        FORKED);
    Suite *suite = suite_create("runtime: fork");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: fork", fork_suite)
