/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How contexts of the backend vulkan come to an end, through the public interface: a
 * device that is lost, a process that forks, contexts and arrays destroyed with work
 * pending. The device is lost by functions of the driver replaced in the backend's own
 * table, one context at a time. By addresses and by descriptors.
 */
#include "config.h"

#include <stdlib.h>

#include "libcore/runtime/runtime.h"
#include "plugins/vulkan/vulkan.h"
#include "tests/runtime/vulkan_probe.h"

enum { N = 3000 };

static const char text[] =
    "kernel step(inout real a[n], real f) { a = f * a + 1; }\n"
    "kernel total(in real a[n], out real s) { s = sum(a); }\n"
    "kernel far(inout real a[n], real f00, real f01, real f02, real f03, real f04,\n"
    "           real f05, real f06, real f07, real f08, real f09, real f10, real f11)\n"
    "{ a = a + f00 * f01 + f02 * f03 + f04 * f05 + f06 * f07 + f08 * f09 + f10 * f11; "
    "}\n";

typedef struct objects {
    rubus_context *context;
    rubus_module *module;
    rubus_array *a;
    rubus_array *b;
} objects;

static objects make(const char *spec)
{
    objects o = {0};
    o.context = open_spec(spec);
    o.module = backends_module(o.context, text, RUBUS_F64, 0);
    o.a = backends_ramp(o.context, N, 0);
    o.b = backends_ramp(o.context, N, 0);
    return o;
}

static void unmake(objects *o)
{
    rubus_array_destroy(o->a);
    rubus_module_destroy(o->module);
    rubus_array_destroy(o->b);
    rubus_context_destroy(o->context);
}

/* Launches with short and with long argument blocks, a fill, a copy; nobody waits. */
static rubus_status work(objects *o, int rounds)
{
    rubus_status st = RUBUS_OK;
    for (int k = 0; k < rounds && st == RUBUS_OK; k++) {
        st = rubus_launch(rubus_module_kernel(o->module, "step"), o->a, 1.0);
        if (st == RUBUS_OK) {
            st = rubus_launch(rubus_module_kernel(o->module, "far"), o->a, 1.0, 1.0, 0.0,
                              2.0, 0.0, 3.0, 0.0, 4.0, 0.0, 5.0, 0.0, 6.0);
        }
        if (st == RUBUS_OK) {
            st = rubus_array_fill(o->b, k);
        }
        if (st == RUBUS_OK) {
            st = rubus_array_copy(o->b, o->a);
        }
    }
    return st;
}

static void works(objects *o, double before)
{
    ok(work(o, 3));
    double s = 0;
    ok(rubus_launch(backends_kernel(o->module, "total"), o->b, &s));
    const double want = N * (N - 1) / 2.0 + N * (before + 6);
    ck_assert_msg(s == want, "%.17g, not %.17g", s, want);
}

/* --- a lost device ---------------------------------------------------------------- */

static int left; /* calls of a replaced function that still succeed */
static vk_device_api own;

static VkResult lost_submit(VkQueue queue, uint32_t n, const VkSubmitInfo *info,
                            VkFence fence)
{
    return left-- > 0 ? own.QueueSubmit(queue, n, info, fence) : VK_ERROR_DEVICE_LOST;
}

static VkResult lost_wait(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t ns)
{
    return left-- > 0 ? own.WaitSemaphores(device, info, ns) : VK_ERROR_DEVICE_LOST;
}

static VkResult lost_counter(VkDevice device, VkSemaphore semaphore, uint64_t *out)
{
    return left-- > 0 ? own.GetSemaphoreCounterValue(device, semaphore, out)
                      : VK_ERROR_DEVICE_LOST;
}

enum { LOST_WAYS = 3 };

static void lose_after(rubus_context *context, int way, int calls)
{
    vk_context *ctx = context->dev->ctx;
    own = ctx->api;
    left = calls;
    switch (way) {
    case 0:
        ctx->api.QueueSubmit = lost_submit;
        break;
    case 1:
        ctx->api.WaitSemaphores = lost_wait;
        // or asking would find out that the work is done
        ctx->api.GetSemaphoreCounterValue = lost_counter;
        break;
    default:
        ctx->api.GetSemaphoreCounterValue = lost_counter;
    }
}

static void all_calls_tell(objects *o)
{
    static const char words[] = "lost|llvmpipe";
    double x[N];
    rubus_array *array = NULL;
    rubus_module *module = NULL;
    const rubus_kernel *step = rubus_module_kernel(o->module, "step");
    for (int again = 0; again < 2; again++) {
        fails(rubus_context_synchronize(o->context), RUBUS_ELOST, words);
        fails(rubus_launch(step, o->a, 1.0), RUBUS_ELOST, words);
        fails(rubus_array_read(o->a, x, sizeof x), RUBUS_ELOST, words);
        fails(rubus_array_write(o->a, x, sizeof x), RUBUS_ELOST, words);
        fails(rubus_array_fill(o->a, 1), RUBUS_ELOST, words);
        fails(rubus_array_copy(o->a, o->b), RUBUS_ELOST, words);
        fails(rubus_array_create(o->context, RUBUS_F64, RUBUS_SHAPE(5), &array),
              RUBUS_ELOST, words);
        fails(rubus_module_create(o->context, "m", text, NULL, &module), RUBUS_ELOST,
              words);
    }
    ck_assert(array == NULL && module == NULL);
}

/* Way of losing, number of calls before it, mode. */
START_TEST(lost_device_stays_lost)
{
    const char *spec = vulkan_modes[_i % VULKAN_MODES];
    objects o = make(spec);
    objects witness = make(spec);
    works(&o, 0);
    lose_after(o.context, _i / VULKAN_MODES % LOST_WAYS, _i / VULKAN_MODES / LOST_WAYS);
    rubus_status st = RUBUS_OK;
    for (int k = 0; k < 50 && st == RUBUS_OK; k++) {
        st = work(&o, 20);
        if (st == RUBUS_OK) {
            st = rubus_context_synchronize(o.context);
        }
    }
    backends_fails(st, RUBUS_ELOST, "lost|llvmpipe", "the call that saw it", __LINE__);
    all_calls_tell(&o);
    // not its neighbour, and not a new one
    works(&witness, 0);
    unmake(&o);
    objects next = make(spec);
    works(&next, 0);
    unmake(&next);
    ok(rubus_context_synchronize(witness.context)); // and no message of the layer
    rubus_array_destroy(witness.a);
    rubus_array_destroy(witness.b);
    rubus_module_destroy(witness.module);
    backends_finish(witness.context);
}
END_TEST

/* --- destroyed with work pending -------------------------------------------------- */

START_TEST(destroyed_with_work_pending)
{
    const char *spec = vulkan_modes[_i % VULKAN_MODES];
    // shares the instance, and so the layer's messages
    rubus_context *witness = open_spec(spec);
    for (int rounds = 1; rounds < 300; rounds *= 3) {
        objects o = make(spec);
        ok(work(&o, rounds));
        switch (_i / VULKAN_MODES) {
        case 0: // the context first
            rubus_context_destroy(o.context);
            o.context = NULL;
            break;
        case 1: // what the launches use
            rubus_array_destroy(o.a);
            rubus_module_destroy(o.module);
            o.a = NULL;
            o.module = NULL;
            ck_assert(backends_get(o.b, N - 1) == N - 1 + 2.0 * rounds);
            break;
        default: // and made anew meanwhile
            rubus_module_destroy(o.module);
            o.module = backends_module(o.context, text, RUBUS_F64, 0);
            rubus_array_destroy(o.b);
            o.b = backends_ramp(o.context, N, 0);
            ok(rubus_array_copy(o.b, o.a));
            rubus_array_destroy(o.a);
            o.a = backends_ramp(o.context, N, 7);
            ck_assert(backends_get(o.b, 5) == 5 + 2.0 * rounds);
            ck_assert(backends_get(o.a, 5) == 12);
        }
        unmake(&o);
        ok(rubus_context_synchronize(witness));
    }
    backends_finish(witness);
}
END_TEST

/* --- fork ------------------------------------------------------------------------- */

/* In the child: 0, or the number of what went wrong. */
static int child(objects *o)
{
    double x[N];
    if (rubus_context_synchronize(o->context) != RUBUS_EFORKED) {
        return 1;
    }
    if (rubus_array_read(o->a, x, sizeof x) != RUBUS_EFORKED) {
        return 2;
    }
    if (work(o, 1) != RUBUS_EFORKED || strstr(rubus_error_text(), "fork") == NULL) {
        return 3;
    }
    unmake(o);
    rubus_shutdown();
    return 0;
}

START_TEST(fork_leaves_the_parent_alone)
{
    const char *spec = vulkan_modes[_i % VULKAN_MODES];
    objects o = make(spec);
    works(&o, 0);
    // freed later, and not yet: a module, an array, sets of descriptors, upload memory
    rubus_module *old = o.module;
    rubus_array *gone = backends_ramp(o.context, N, 0);
    ok(rubus_array_copy(gone, o.a));
    o.module = backends_module(o.context, text, RUBUS_F64, 0);
    ok(rubus_launch(backends_kernel(old, "step"), gone, 1.0));
    rubus_array_destroy(gone);
    rubus_module_destroy(old);
    if (_i / VULKAN_MODES == 1) {
        ok(work(&o, 40));
    }
    const pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        alarm(20);
        _exit(child(&o));
    }
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child: %x", status);
    works(&o, _i / VULKAN_MODES == 1 ? 6 + 80 : 6);
    rubus_array_destroy(o.a);
    rubus_array_destroy(o.b);
    rubus_module_destroy(o.module);
    backends_finish(o.context);
}
END_TEST

static Suite *end_suite(void)
{
    TCase *tc = tcase_create("end");
    tcase_add_loop_test(tc, lost_device_stays_lost, 0, 3 * LOST_WAYS * VULKAN_MODES);
    tcase_add_loop_test(tc, destroyed_with_work_pending, 0, 3 * VULKAN_MODES);
    tcase_add_loop_test(tc, fork_leaves_the_parent_alone, 0, 2 * VULKAN_MODES);
    Suite *suite = suite_create("runtime: vulkan end");
    suite_add_tcase(suite, tc);
    return suite;
}

VULKAN_TEST_MAIN("runtime: vulkan end", end_suite)
