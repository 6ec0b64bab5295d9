/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eight threads of the program on one context and on several: any public function from
 * any thread at any time. Under the thread sanitizer this also shows locks that are
 * missing.
 */
#include "config.h"

#include <check.h>
#include <pthread.h>

#include "libcore/runtime/runtime.h"
#include "tests/support/backends.h"
#include "tests/support/suite.h"

enum { NTHREAD = 8, ROUNDS = 20, N = 300 };

static const char source[] =
    "kernel step(inout real a[n], real f, out real s) { a = f * a + 1; s = sum(a); }\n"
    "kernel bump(inout real a[n], in index at[m]) over (i in 0:m) { atomic_add(a[at[i]], "
    "1.0); }\n";

typedef struct worker {
    pthread_t thread;
    rubus_context *context; /* shared */
    rubus_module *module;
    rubus_array *shared;
    int at; /* backend, where the thread opens its own */
    int number;
    char wrong[512]; /* "" or what went wrong: check's asserts are of the main thread */
} worker;

static bool good(worker *w, rubus_status st, const char *what)
{
    if (st != RUBUS_OK && w->wrong[0] == '\0') {
        snprintf(w->wrong, sizeof w->wrong, "thread %d: %s: %s: %.300s", w->number, what,
                 rubus_status_name(st), rubus_error_text());
    }
    return st == RUBUS_OK;
}

static void expect(worker *w, double got, double want, const char *what)
{
    if (got != want && w->wrong[0] == '\0') {
        snprintf(w->wrong, sizeof w->wrong, "thread %d: %s: %.17g, not %.17g", w->number,
                 what, got, want);
    }
}

/* One round of everything on an array of the thread's own. */
static void round_own(worker *w, rubus_context *context, rubus_module *module)
{
    rubus_array *a = NULL;
    rubus_array *b = NULL;
    rubus_array *view = NULL;
    double *p = NULL;
    double s = 0;
    double host[N];
    const rubus_kernel *step = rubus_module_kernel(module, "step");
    if (good(w, rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(N), &a), "create") &&
        good(w, rubus_array_fill(a, w->number), "fill") &&
        good(w, rubus_launch(step, a, 2.0, &s), "launch")) {
        expect(w, s, N * (2.0 * w->number + 1), "sum");
    }
    if (good(w, rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(N), &b), "create") &&
        good(w, rubus_array_copy(b, a), "copy") &&
        good(w, rubus_array_view(b, 5, RUBUS_SHAPE(10), &view), "view") &&
        good(w, rubus_array_map(view, RUBUS_READ | RUBUS_WRITE, (void **)&p), "map")) {
        expect(w, p[0], 2.0 * w->number + 1, "mapped");
        p[0] = -1;
        good(w, rubus_array_unmap(view), "unmap");
    }
    if (good(w, rubus_array_read(b, host, sizeof host), "read")) {
        expect(w, host[5], -1, "written through the map");
        expect(w, host[4], 2.0 * w->number + 1, "copied");
    }
    // failures of one thread are not seen by others
    char mine[32];
    snprintf(mine, sizeof mine, "%d is no element type", 1000 + w->number);
    rubus_array *none = NULL;
    if (rubus_array_create(context, 1000 + w->number, RUBUS_SHAPE(1), &none) !=
            RUBUS_EINVAL ||
        strstr(rubus_error_text(), mine) == NULL) {
        good(w, RUBUS_EINTERNAL, "error text of another thread");
    }
    rubus_array_destroy(a);
    rubus_array_destroy(b);
    rubus_array_destroy(view);
}

static void *run_shared(void *arg)
{
    worker *w = arg;
    for (int k = 0; k < ROUNDS; k++) {
        round_own(w, w->context, w->module);
        const int32_t at[4] = {0, 1, 1, 2};
        rubus_array *index = NULL;
        rubus_context_counters counters = {.struct_size = sizeof counters};
        if (good(w, rubus_array_from(w->context, RUBUS_I32, RUBUS_SHAPE(4), at, &index),
                 "from") &&
            good(w,
                 rubus_launch(rubus_module_kernel(w->module, "bump"), w->shared, index),
                 "bump")) {
            good(w, rubus_context_synchronize(w->context), "synchronize");
            good(w, rubus_context_counters_get(w->context, &counters), "counters");
        }
        rubus_array_destroy(index);
    }
    return NULL;
}

static void *run_apart(void *arg)
{
    worker *w = arg;
    for (int k = 0; k < ROUNDS / 5; k++) {
        rubus_context *context = NULL;
        rubus_module *module = NULL;
        if (good(w, rubus_context_create(backends_spec[(w->at + k) % BACKENDS], &context),
                 "open") &&
            good(w, rubus_module_create(context, "t.rk", source, NULL, &module),
                 "module")) {
            round_own(w, context, module);
            round_own(w, context, module);
        }
        rubus_context_destroy(context);
        rubus_module_destroy(module);
    }
    return NULL;
}

static void run_all(worker *w, void *(*run)(void *))
{
    for (int t = 0; t < NTHREAD; t++) {
        w[t].number = t;
        ck_assert_int_eq(pthread_create(&w[t].thread, NULL, run, &w[t]), 0);
    }
    for (int t = 0; t < NTHREAD; t++) {
        pthread_join(w[t].thread, NULL);
    }
    for (int t = 0; t < NTHREAD; t++) {
        ck_assert_msg(w[t].wrong[0] == '\0', "%s", w[t].wrong);
    }
}

START_TEST(one_context_serves_eight_threads)
{
    static worker w[NTHREAD];
    rubus_context *context = backends_open(_i);
    rubus_module *module = backends_module(context, source, RUBUS_F64, 0);
    rubus_array *shared = NULL;
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(3), &shared));
    memset(w, 0, sizeof w);
    for (int t = 0; t < NTHREAD; t++) {
        w[t].context = context;
        w[t].module = module;
        w[t].shared = shared;
    }
    run_all(w, run_shared);
    ck_assert(backends_get(shared, 0) == NTHREAD * ROUNDS);
    ck_assert(backends_get(shared, 1) == 2 * NTHREAD * ROUNDS);
    ck_assert(backends_get(shared, 2) == NTHREAD * ROUNDS);
    rubus_context_counters counters = {.struct_size = sizeof counters};
    ok(rubus_context_counters_get(context, &counters));
    ck_assert_uint_eq(counters.live_buffers, 1);
    rubus_array_destroy(shared);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

START_TEST(contexts_of_eight_threads_are_apart)
{
    static worker w[NTHREAD];
    memset(w, 0, sizeof w);
    for (int t = 0; t < NTHREAD; t++) {
        w[t].at = _i + t;
    }
    run_all(w, run_apart);
    rubus_shutdown();
    ck_assert_int_eq(rubus__alloc_live(), 0);
}
END_TEST

/* --- compiling holds nobody up ---------------------------------------------------- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_moved = PTHREAD_COND_INITIALIZER;
static int gate_state; /* 1: a module is being built; 2: it may go on */
static const rubus_ops *own_ops;

static rubus_status slow_module_create(void *ctx, const rubus_module_desc *desc,
                                       void **out_module)
{
    pthread_mutex_lock(&gate);
    gate_state = 1;
    pthread_cond_broadcast(&gate_moved);
    while (gate_state != 2) {
        pthread_cond_wait(&gate_moved, &gate);
    }
    pthread_mutex_unlock(&gate);
    return own_ops->module_create(ctx, desc, out_module);
}

static void *run_build(void *arg)
{
    worker *w = arg;
    good(w, rubus_module_create(w->context, "t.rk", source, NULL, &w->module), "module");
    return NULL;
}

START_TEST(building_a_module_does_not_hold_up_other_calls)
{
    static worker w;
    static rubus_ops slow;
    rubus_context *context = backends_open(_i);
    rubus_module *module = backends_module(context, source, RUBUS_F64, 0);
    rubus_array *a = backends_ramp(context, N, 0);
    ok(rubus_array_fill(a, 1)); // the kernels for it are built by now
    own_ops = context->dev->ops;
    slow = *own_ops;
    slow.module_create = slow_module_create;
    context->dev->ops = &slow;
    gate_state = 0;
    memset(&w, 0, sizeof w);
    w.context = context;
    ck_assert_int_eq(pthread_create(&w.thread, NULL, run_build, &w), 0);
    pthread_mutex_lock(&gate);
    while (gate_state != 1) {
        pthread_cond_wait(&gate_moved, &gate);
    }
    pthread_mutex_unlock(&gate);
    // would wait for ever, until the test's time is up, if it had to wait
    worker me = {.number = 3};
    round_own(&me, context, module);
    ck_assert_msg(me.wrong[0] == '\0', "%s", me.wrong);
    ck_assert(backends_get(a, 3) == 1);
    pthread_mutex_lock(&gate);
    gate_state = 2;
    pthread_cond_broadcast(&gate_moved);
    pthread_mutex_unlock(&gate);
    pthread_join(w.thread, NULL);
    ck_assert_msg(w.wrong[0] == '\0', "%s", w.wrong);
    context->dev->ops = own_ops;
    rubus_module_destroy(w.module);
    rubus_module_destroy(module);
    rubus_array_destroy(a);
    backends_finish(context);
}
END_TEST

static void *run_launches(void *arg)
{
    worker *w = arg;
    for (int k = 0; k < 10 * ROUNDS; k++) {
        round_own(w, w->context, w->module);
    }
    return NULL;
}

START_TEST(modules_are_built_beside_launches)
{
    // blocks of arguments of many sizes, so that the backend's memory for them grows
    static worker w;
    memset(&w, 0, sizeof w);
    w.context = backends_open(_i);
    w.module = backends_module(w.context, source, RUBUS_F64, 0);
    ck_assert_int_eq(pthread_create(&w.thread, NULL, run_launches, &w), 0);
    for (int n = 1; n <= 64; n *= 4) {
        rubus__text text;
        rubus__text_init(&text);
        rubus__text_add(&text, "kernel wide(out real a[n]");
        for (int k = 0; k < n; k++) {
            rubus__text_format(&text, ", real f%d", k);
        }
        rubus__text_add(&text, ") { a = f0; }\n");
        rubus_module *module = backends_module(w.context, text.data, RUBUS_F64, 0);
        rubus_module_destroy(module);
        rubus__text_fini(&text);
    }
    pthread_join(w.thread, NULL);
    ck_assert_msg(w.wrong[0] == '\0', "%s", w.wrong);
    rubus_module_destroy(w.module);
    backends_finish(w.context);
}
END_TEST

static Suite *threads_suite(void)
{
    TCase *tc = tcase_create("threads");
    backends_add(tc, one_context_serves_eight_threads);
    backends_add(tc, contexts_of_eight_threads_are_apart);
    backends_add(tc, building_a_module_does_not_hold_up_other_calls);
    backends_add(tc, modules_are_built_beside_launches);
    Suite *suite = suite_create("runtime: threads of the program");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: threads of the program", threads_suite)
