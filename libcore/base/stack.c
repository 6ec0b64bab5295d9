/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that need more stack than the caller's thread may have left. What is left is
 * measured; where it does not do, the call runs on a thread of its own, with signals
 * blocked, and the caller waits. To the caller this looks like a plain call: the error
 * text comes back with it.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#define LITTLE ((size_t)96 << 10u) /* that much every thread has */
#define SPARE ((size_t)1 << 20u)   /* for what the call itself calls */

typedef struct stacked_call {
    rubus__stack_call *call;
    void *user;
    rubus_status st;
    char *text;
    int64_t countdown; /* of injected failures */
} stacked_call;

/* Bytes below the caller's frame; 0 if that cannot be known. */
static size_t stack_left(void)
{
    pthread_attr_t attr;
    if (pthread_getattr_np(pthread_self(), &attr) != 0) {
        return 0;
    }
    void *lowest = NULL;
    size_t size = 0;
    const bool known = pthread_attr_getstack(&attr, &lowest, &size) == 0;
    (void)pthread_attr_destroy(&attr);
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t low = (uintptr_t)lowest;
    return known && here > low && here - low <= size ? here - low : 0;
}

static void *run(void *user)
{
    stacked_call *c = user;
    rubus__error_clear();
    (void)rubus__alloc_fail_swap(c->countdown);
    c->st = c->call(c->user);
    c->countdown = rubus__alloc_fail_swap(0);
    if (rubus_error_text()[0] != '\0') {
        c->text = rubus__error_take();
    }
    return NULL;
}

static int start(size_t nbyte, stacked_call *c, pthread_t *out_thread)
{
    pthread_attr_t attr;
    sigset_t all;
    sigset_t before;
    int failed = pthread_attr_init(&attr);
    if (failed != 0) {
        return failed;
    }
    sigfillset(&all);
    failed = pthread_attr_setstacksize(&attr, nbyte);
    if (failed == 0) {
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        failed = pthread_create(out_thread, &attr, run, c);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    (void)pthread_attr_destroy(&attr);
    return failed;
}

rubus_status rubus__with_stack(size_t need, rubus__stack_call *call, void *user)
{
    if (need <= LITTLE || stack_left() >= need) {
        return call(user);
    }
    stacked_call c = {.call = call, .user = user, .countdown = rubus__alloc_fail_swap(0)};
    pthread_t thread;
    int cancel = 0;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    const int failed = start(need + SPARE, &c, &thread);
    if (failed == 0) {
        (void)pthread_join(thread, NULL);
        (void)rubus__alloc_fail_swap(c.countdown);
    }
    (void)pthread_setcancelstate(cancel, NULL);
    if (failed != 0) {
        (void)rubus__alloc_fail_swap(c.countdown);
        return rubus__fail(
            RUBUS_ENOMEM,
            "this thread has less than %zu bytes of stack left, and a "
            "thread with more cannot be started: give it more stack, or "
            "raise the limits on memory and threads (ulimit -v, ulimit -u)",
            need);
    }
    rubus__error_restore(c.text);
    rubus__free(c.text);
    return c.st;
}
