/* SPDX-License-Identifier: Apache-2.0 */
/* Checks T: several threads, with contexts of their own or on one. */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform.h"

static const char work_text[] = "kernel start(out int u[n], int k) { u = ix(u) + k; }\n"
                                "kernel more(inout int u[n], int k) { u += k; }\n"
                                "reduce sum total(in real a[n]) = a;\n";

static void run_threads(int n, void *(*body)(void *), void *argument, size_t size)
{
    pthread_t thread[32];
    for (int i = 0; i < n; i++) {
        conform_true(pthread_create(&thread[i], NULL, body,
                                    (char *)argument + (size_t)i * size) == 0,
                     "no thread");
    }
    for (int i = 0; i < n; i++) {
        pthread_join(thread[i], NULL);
    }
}

/* A little of everything in a context, with results that tell the caller. */
static void work(rubus_context *context, int32_t salt)
{
    enum { N = 2000 };
    rubus_module *module = conform_module(context, work_text, RUBUS_F32);
    rubus_array *u = NULL;
    rubus_array *a = NULL;
    float sum = 0;
    conform_ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(N), &u));
    conform_ok(rubus_array_create(context, RUBUS_F32, RUBUS_SHAPE(N), &a));
    conform_ok(rubus_launch(conform_kernel(module, "start"), u, salt));
    conform_ok(rubus_array_fill(a, 0.25));
    conform_ok(rubus_launch(conform_kernel(module, "more"), u, 3));
    conform_ok(rubus_launch(conform_kernel(module, "total"), a, &sum));
    conform_true(sum == 0.25F * N, "thread %d: the sum is %g, should be %g", salt,
                 (double)sum, 0.25 * N);
    int32_t *got = conform_contents(u);
    for (int i = 0; i < N; i++) {
        conform_true(got[i] == i + salt + 3, "thread %d: element %d is %d, should be %d",
                     salt, i, got[i], i + salt + 3);
    }
    free(got);
    rubus_array_destroy(u);
    rubus_array_destroy(a);
    rubus_module_destroy(module);
}

/* --- contexts of their own -------------------------------------------------------- */

static void *open_work_close(void *argument)
{
    const int32_t salt = *(const int32_t *)argument;
    for (int round = 0; round < 10; round++) {
        rubus_context *context = conform_open();
        work(context, salt + round);
        rubus_context_destroy(context);
    }
    return NULL;
}

static void contexts_in_parallel(void)
{
    int32_t salt[8];
    for (int i = 0; i < 8; i++) {
        salt[i] = 1000 * (i + 1);
    }
    run_threads(8, open_work_close, salt, sizeof salt[0]);
}

static pthread_barrier_t start_line;

static void *first_call(void *argument)
{
    const int32_t salt = *(const int32_t *)argument;
    pthread_barrier_wait(&start_line);
    rubus_context *context = conform_open();
    work(context, salt);
    rubus_context_destroy(context);
    return NULL;
}

static void first_use_race(void)
{
    enum { THREADS = 16 };
    int32_t salt[THREADS];
    pthread_barrier_init(&start_line, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        salt[i] = 7777 * i;
    }
    run_threads(THREADS, first_call, salt, sizeof salt[0]);
    pthread_barrier_destroy(&start_line);
}

/* --- one context ------------------------------------------------------------------ */

typedef struct shared {
    rubus_context *context;
    rubus_module *module;
    rubus_array *array;
    int32_t salt;
    volatile bool stop;
} shared;

static void *alloc_and_free(void *argument)
{
    const shared *s = argument;
    conform_dice dice = {conform_seed() + (uint64_t)s->salt};
    for (int round = 0; round < 300; round++) {
        const int64_t n = 1 + conform_below(&dice, 3000);
        const int32_t last = s->salt + round;
        int32_t got = 0;
        rubus_array *u = NULL;
        conform_ok(rubus_array_create(s->context, RUBUS_I32, RUBUS_SHAPE(n), &u));
        conform_ok(rubus_array_write_range(u, n - 1, 1, &last));
        conform_ok(rubus_launch(conform_kernel(s->module, "more"), u, 5));
        conform_ok(rubus_array_read_range(u, n - 1, 1, &got));
        conform_true(got == last + 5, "thread %d, round %d: %d, should be %d", s->salt,
                     round, got, last + 5);
        rubus_array_destroy(u);
    }
    return NULL;
}

static void alloc_free_storm(void)
{
    enum { THREADS = 8 };
    shared s[THREADS];
    rubus_context *context[2] = {conform_open(), conform_open()};
    rubus_module *module[2];
    for (int i = 0; i < 2; i++) {
        module[i] = conform_module(context[i], work_text, RUBUS_F32);
    }
    for (int i = 0; i < THREADS; i++) { // four threads on each of two contexts
        s[i] = (shared){
            .context = context[i % 2], .module = module[i % 2], .salt = 10000 * i};
    }
    run_threads(THREADS, alloc_and_free, s, sizeof s[0]);
    for (int i = 0; i < 2; i++) {
        rubus_module_destroy(module[i]);
        rubus_context_destroy(context[i]);
    }
}

static void *wait_and_read(void *argument)
{
    const shared *s = argument;
    conform_ok(rubus_context_synchronize(s->context));
    int32_t *got = conform_contents(s->array);
    for (int64_t i = 0; i < rubus_array_count(s->array); i++) {
        conform_true(got[i] == i + s->salt, "element %lld is %d, should be %lld",
                     (long long)i, got[i], (long long)(i + s->salt));
    }
    free(got);
    return NULL;
}

static void sync_from_other_thread(void)
{
    enum { N = 30000, ROUNDS = 30 };
    shared s = {.context = conform_open()};
    s.module = conform_module(s.context, work_text, RUBUS_F32);
    conform_ok(rubus_array_create(s.context, RUBUS_I32, RUBUS_SHAPE(N), &s.array));
    for (int round = 0; round < ROUNDS; round++) {
        conform_say("round %d: ", round);
        conform_ok(rubus_launch(conform_kernel(s.module, "start"), s.array, round));
        for (int i = 0; i < 10; i++) {
            conform_ok(rubus_launch(conform_kernel(s.module, "more"), s.array, 1));
        }
        s.salt = round + 10;
        run_threads(1, wait_and_read, &s, sizeof s);
    }
    rubus_array_destroy(s.array);
    rubus_module_destroy(s.module);
    rubus_context_destroy(s.context);
}

static void *enqueue_and_end(void *argument)
{
    const shared *s = argument;
    conform_ok(rubus_launch(conform_kernel(s->module, "start"), s->array, s->salt));
    conform_ok(rubus_launch(conform_kernel(s->module, "more"), s->array, 1));
    return NULL;
}

static void cancel_safe(void)
{
    enum { N = 100000, ROUNDS = 40 };
    shared s = {.context = conform_open()};
    s.module = conform_module(s.context, work_text, RUBUS_F32);
    conform_ok(rubus_array_create(s.context, RUBUS_I32, RUBUS_SHAPE(N), &s.array));
    const int rounds = conform_interprets() ? 5 : ROUNDS;
    for (int round = 0; round < rounds; round++) {
        s.salt = 50 * round;
        run_threads(1, enqueue_and_end, &s, sizeof s);
        s.salt++;
        wait_and_read(&s);
    }
    rubus_array_destroy(s.array);
    rubus_module_destroy(s.module);
    rubus_context_destroy(s.context);
}

static void *build_modules(void *argument)
{
    shared *s = argument;
    for (int round = 0; round < 12; round++) {
        char text[200];
        snprintf(text, sizeof text, "kernel k(out int u[n]) { u = %d * ix(u); }", round);
        rubus_module *module = conform_module(s->context, text, RUBUS_F32);
        rubus_array *u = NULL;
        int32_t last = 0;
        conform_ok(rubus_array_create(s->context, RUBUS_I32, RUBUS_SHAPE(50), &u));
        conform_ok(rubus_launch(conform_kernel(module, "k"), u));
        conform_ok(rubus_array_read_range(u, 49, 1, &last));
        conform_true(last == 49 * round, "module %d gives %d", round, last);
        rubus_array_destroy(u);
        rubus_module_destroy(module);
    }
    s->stop = true;
    return NULL;
}

/* A module is built while other calls of the same context come. */
static void build_beside_launches(void)
{
    enum { N = 3000 };
    shared s = {.context = conform_open()};
    s.module = conform_module(s.context, work_text, RUBUS_F32);
    conform_ok(rubus_array_create(s.context, RUBUS_I32, RUBUS_SHAPE(N), &s.array));
    pthread_t thread;
    conform_true(pthread_create(&thread, NULL, build_modules, &s) == 0, "no thread");
    int32_t launches = 0;
    conform_ok(rubus_launch(conform_kernel(s.module, "start"), s.array, 0));
    while (!s.stop) {
        conform_ok(rubus_launch(conform_kernel(s.module, "more"), s.array, 1));
        launches++;
        if (launches % 64 == 0) {
            int32_t last = 0;
            conform_ok(rubus_array_read_range(s.array, N - 1, 1, &last));
            conform_true(last == N - 1 + launches, "after %d launches %d", launches,
                         last);
        }
    }
    pthread_join(thread, NULL);
    s.salt = launches;
    wait_and_read(&s);
    rubus_array_destroy(s.array);
    rubus_module_destroy(s.module);
    rubus_context_destroy(s.context);
}

const conform_check conform_thread_checks[] = {
    {"T01_contexts_in_parallel", CONFORM_FULL, 240, 0,
     "8 threads open contexts, compute and close them", contexts_in_parallel},
    {"T03_alloc_free_storm", CONFORM_FULL, 240, 0,
     "8 threads make, use and destroy arrays in two contexts", alloc_free_storm},
    {"T04_first_use_race", CONFORM_FULL, 120, 0,
     "16 threads make the very first call together", first_use_race},
    {"T05_sync_from_other_thread", CONFORM_FULL, 120, 0,
     "one thread enqueues, another synchronizes and reads", sync_from_other_thread},
    {"T06_cancel_safe", CONFORM_FULL, 120, 0, "a thread ends right after it enqueued",
     cancel_safe},
    {"T07_build_beside_launches", CONFORM_FULL, 120, 0,
     "modules are built while another thread launches in the same context",
     build_beside_launches},
    {.name = NULL},
};
