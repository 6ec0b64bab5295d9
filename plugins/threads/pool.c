/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A persistent team of threads. Between two tasks a thread watches a counter for a while
 * and then sleeps on it (futex), so that launches close together cost a fraction of a
 * microsecond and an idle program costs nothing. The caller works as thread 0.
 *
 * Pairs of atomics: `epoch` is raised with release by the caller after task and arg are
 * written, and read with acquire by the threads; `pending` is lowered with release by the
 * threads after their work, and read with acquire by the caller. `sleeping` and `waiting`
 * are each written before a thread sleeps and read after the value it sleeps on changed,
 * all sequentially consistent, so that a wake-up cannot be missed.
 */
#include "config.h"

#include "plugins/threads/pool.h"

#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#else
#include <time.h>
#endif

/* About 100 microseconds: less than the time it takes to wake a sleeping thread twice. */
#define SPIN_PAUSES 4000
/* Pauses between two looks at what the other pools do. */
#define SPIN_LOOK 64
#define CACHE_LINE 64

typedef struct worker {
    threads_pool *pool;
    int number;
    pthread_t thread;
} worker;

struct threads_pool {
    alignas(CACHE_LINE) _Atomic uint32_t epoch; // raised for every task
    _Atomic uint32_t sleeping;                  // threads asleep on epoch, or about to be
    threads_task task;
    void *arg;
    bool stop;
    alignas(CACHE_LINE) _Atomic uint32_t pending; // threads still at work
    _Atomic uint32_t waiting;                     // 1: the caller sleeps on pending
    _Atomic int own;                              // what this pool adds to *busy now
    alignas(CACHE_LINE) const rubus_host *host;
    _Atomic int *busy;
    int nthread;
    int ncpu;
    int started;
    pid_t owner; // process that has the threads
    worker worker[];
};

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#elif defined(__powerpc64__)
    __asm__ volatile("or 27,27,27" ::: "memory");
#endif
}

/* Sleeps while *word is value; may return early. */
static void sleep_on(_Atomic uint32_t *word, uint32_t value)
{
#if defined(__linux__)
    syscall(SYS_futex, (void *)word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
#else
    if (atomic_load(word) == value) {
        const struct timespec moment = {0, 50000};
        nanosleep(&moment, NULL);
    }
#endif
}

static void wake(_Atomic uint32_t *word, int count)
{
#if defined(__linux__)
    syscall(SYS_futex, (void *)word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
#else
    (void)word;
    (void)count;
#endif
}

/* Whether spinning takes a processor from somebody who works: there are fewer processors
 * than threads in this pool, or fewer than threads at work in others, and `own`. */
static bool crowded(threads_pool *pool, int own)
{
    if (pool->nthread > pool->ncpu) {
        return true;
    }
    if (pool->busy == NULL) {
        return false;
    }
    int others = atomic_load_explicit(pool->busy, memory_order_relaxed) -
                 atomic_load_explicit(&pool->own, memory_order_relaxed);
    return others + own > pool->ncpu;
}

/* Tells the other pools that this one works with so many threads. */
static void set_busy(threads_pool *pool, int nthread)
{
    if (pool->busy != NULL) {
        int before = atomic_load_explicit(&pool->own, memory_order_relaxed);
        atomic_store_explicit(&pool->own, nthread, memory_order_relaxed);
        atomic_fetch_add_explicit(pool->busy, nthread - before, memory_order_relaxed);
    }
}

/* Waits until the epoch is not `seen`, and returns it. */
static uint32_t wait_for_task(threads_pool *pool, uint32_t seen)
{
    for (int i = 0; i < SPIN_PAUSES; i++) {
        uint32_t now = atomic_load_explicit(&pool->epoch, memory_order_acquire);
        if (now != seen) {
            return now;
        }
        if (i % SPIN_LOOK == 0 && crowded(pool, 1)) {
            break;
        }
        pause_cpu();
    }
    atomic_fetch_add(&pool->sleeping, 1);
    uint32_t now;
    while ((now = atomic_load(&pool->epoch)) == seen) {
        sleep_on(&pool->epoch, seen);
    }
    atomic_fetch_sub(&pool->sleeping, 1);
    return now;
}

/* Waits until all threads have finished the task. */
static void wait_for_threads(threads_pool *pool)
{
    for (int i = 0; i < SPIN_PAUSES; i++) {
        if (atomic_load_explicit(&pool->pending, memory_order_acquire) == 0) {
            return;
        }
        if (i % SPIN_LOOK == 0 && crowded(pool, pool->nthread)) {
            break;
        }
        pause_cpu();
    }
    atomic_store(&pool->waiting, 1);
    uint32_t left;
    while ((left = atomic_load(&pool->pending)) != 0) {
        sleep_on(&pool->pending, left);
    }
    atomic_store(&pool->waiting, 0);
}

static void *worker_main(void *arg)
{
    worker *self = arg;
    threads_pool *pool = self->pool;
    // A new thread has the floating-point mode of the one that started it.
    fesetenv(FE_DFL_ENV);
    uint32_t seen = 0;
    for (;;) {
        seen = wait_for_task(pool, seen);
        if (pool->stop) {
            return NULL;
        }
        pool->task(pool->arg, self->number);
        if (atomic_fetch_sub(&pool->pending, 1) == 1 &&
            atomic_load(&pool->waiting) != 0) {
            wake(&pool->pending, 1);
        }
    }
}

/* Starts the threads with all signals blocked: handlers of the program stay on its own.
 * */
static int start_workers(threads_pool *pool)
{
    sigset_t all;
    sigset_t saved;
    sigfillset(&all);
    int err = pthread_sigmask(SIG_SETMASK, &all, &saved);
    if (err != 0) {
        return err;
    }
    for (int t = 1; t < pool->nthread && err == 0; t++) {
        worker *self = &pool->worker[t - 1];
        self->pool = pool;
        self->number = t;
        err = pthread_create(&self->thread, NULL, worker_main, self);
        if (err == 0) {
            pool->started = t;
#if defined(__linux__)
            char name[24]; // at most 15 letters: there are fewer than 10000 threads
            snprintf(name, sizeof name, "rubus %d", t);
            pthread_setname_np(self->thread, name);
#endif
        }
    }
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    return err;
}

rubus_status threads_pool_create(const rubus_host *host, int nthread, int ncpu,
                                 _Atomic int *busy, threads_pool **out_pool)
{
    size_t size = sizeof(threads_pool) + (size_t)nthread * sizeof(worker);
    threads_pool *pool = host->alloc(host->ctx, size, CACHE_LINE);
    if (pool == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(pool, 0, size);
    atomic_init(&pool->epoch, 0);
    atomic_init(&pool->sleeping, 0);
    atomic_init(&pool->pending, 0);
    atomic_init(&pool->waiting, 0);
    atomic_init(&pool->own, 0);
    pool->host = host;
    pool->busy = busy;
    pool->nthread = nthread;
    pool->ncpu = ncpu;
    pool->owner = getpid();
    int err = start_workers(pool);
    if (err != 0) {
        int started = pool->started;
        threads_pool_destroy(pool);
        return host->fail(host->ctx, RUBUS_ELIMIT,
                          "starting threads: number %d of %d could not be started: %s; "
                          "choose fewer with RUBUS_NUM_THREADS",
                          started + 2, nthread, strerror(err));
    }
    *out_pool = pool;
    return RUBUS_OK;
}

void threads_pool_destroy(threads_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    const rubus_host *host = pool->host;
    if (pool->owner == getpid()) {
        pool->stop = true;
        atomic_fetch_add(&pool->epoch, 1);
        wake(&pool->epoch, INT_MAX);
        for (int t = 0; t < pool->started; t++) {
            pthread_join(pool->worker[t].thread, NULL);
        }
    }
    host->free(host->ctx, pool);
}

void threads_pool_run(threads_pool *pool, threads_task task, void *arg)
{
    if (pool->nthread == 1) {
        task(arg, 0);
        return;
    }
    pool->task = task;
    pool->arg = arg;
    atomic_store_explicit(&pool->pending, (uint32_t)pool->nthread - 1,
                          memory_order_relaxed);
    set_busy(pool, pool->nthread);
    atomic_fetch_add(&pool->epoch, 1);
    if (atomic_load(&pool->sleeping) != 0) {
        wake(&pool->epoch, INT_MAX);
    }
    task(arg, 0);
    wait_for_threads(pool);
    set_busy(pool, 0);
}
