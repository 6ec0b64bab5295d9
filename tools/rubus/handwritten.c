/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relaxation by hand: a small team of threads with a barrier that spins, rows dealt out
 * evenly, and loops as in a lecture. Compiled with -O3 for several generations of
 * processors whatever the flags of the build, and without contraction, like the kernels
 * it is compared with.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "fp-contract=off")
#endif
#include "config.h"

#include "handwritten.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__gnu_linux__) && defined(__x86_64__) && defined(__GNUC__) &&                \
    !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&                             \
    !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

#define SPIN_PAUSES 4000
#define LINE 64
#define PAGE 4096

typedef struct handwritten_stream {
    void *a;
    const void *b;
    const void *c;
    int64_t n;
    double factor;
} handwritten_stream;

#define REAL double
#define NAME(x) x##_f64
#include "handwritten_rows.h"
#undef REAL
#undef NAME
#define REAL float
#define NAME(x) x##_f32
#include "handwritten_rows.h"
#undef REAL
#undef NAME

/* --- team ------------------------------------------------------------------------- */

typedef void (*team_task)(handwritten_team *team, int thread, const void *arg);

struct handwritten_team {
    int count;
    int started;
    pthread_t *thread;
    pthread_mutex_t lock; // guards round, for those who sleep
    pthread_cond_t woken;
    _Atomic unsigned round; // raised for every task; pairs with the load in wait_round
    team_task task;
    const void *arg;
    _Atomic int arrived; // at the barrier
    _Atomic unsigned phase;
    _Atomic int next_number;
};

static void pause_cpu(void)
{
#if defined(__SSE2__)
    _mm_pause();
#endif
}

/* All threads of the team come here before one goes on. */
static void meet(handwritten_team *team)
{
    unsigned phase = atomic_load(&team->phase);
    if (atomic_fetch_add(&team->arrived, 1) == team->count - 1) {
        atomic_store(&team->arrived, 0);
        atomic_fetch_add(&team->phase, 1);
        return;
    }
    for (int i = 0; atomic_load(&team->phase) == phase; i++) {
        if (i < SPIN_PAUSES) {
            pause_cpu();
        } else {
            sched_yield();
        }
    }
}

static unsigned wait_round(handwritten_team *team, unsigned seen)
{
    for (int i = 0; i < SPIN_PAUSES; i++) {
        unsigned now = atomic_load(&team->round);
        if (now != seen) {
            return now;
        }
        pause_cpu();
    }
    pthread_mutex_lock(&team->lock);
    while (atomic_load(&team->round) == seen) {
        pthread_cond_wait(&team->woken, &team->lock);
    }
    unsigned now = atomic_load(&team->round);
    pthread_mutex_unlock(&team->lock);
    return now;
}

static void begin_round(handwritten_team *team, team_task task, const void *arg)
{
    team->task = task;
    team->arg = arg;
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->round, 1);
    pthread_cond_broadcast(&team->woken);
    pthread_mutex_unlock(&team->lock);
}

/* Ties the calling thread to the number-th processor it may use: a barrier that spins is
 * slow for a whole time slice when two of the team are woken on one processor. */
static void settle(int number)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return;
    }
    for (int cpu = 0, k = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && k++ == number) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            (void)sched_setaffinity(0, sizeof one, &one);
            return;
        }
    }
}

static void *member(void *arg)
{
    handwritten_team *team = arg;
    int number = atomic_fetch_add(&team->next_number, 1);
    settle(number);
    unsigned seen = 0;
    for (;;) {
        seen = wait_round(team, seen);
        if (team->task == NULL) {
            return NULL;
        }
        team->task(team, number, team->arg);
        meet(team);
    }
}

static void run(handwritten_team *team, team_task task, const void *arg)
{
    if (team->count > 1) {
        begin_round(team, task, arg);
    }
    task(team, 0, arg);
    meet(team);
}

handwritten_team *handwritten_team_create(int threads)
{
    handwritten_team *team = calloc(1, sizeof *team);
    if (team == NULL) {
        return NULL;
    }
    team->count = threads;
    team->thread = calloc((size_t)threads, sizeof *team->thread);
    if (team->thread == NULL || pthread_mutex_init(&team->lock, NULL) != 0) {
        free(team->thread);
        free(team);
        return NULL;
    }
    pthread_cond_init(&team->woken, NULL);
    atomic_store(&team->next_number, 1);
    while (team->started < threads - 1) {
        if (pthread_create(&team->thread[team->started], NULL, member, team) != 0) {
            handwritten_team_destroy(team);
            return NULL;
        }
        team->started++;
    }
    return team;
}

void handwritten_team_destroy(handwritten_team *team)
{
    if (team == NULL) {
        return;
    }
    begin_round(team, NULL, NULL);
    for (int i = 0; i < team->started; i++) {
        pthread_join(team->thread[i], NULL);
    }
    pthread_cond_destroy(&team->woken);
    pthread_mutex_destroy(&team->lock);
    free(team->thread);
    free(team);
}

/* --- iterations ------------------------------------------------------------------- */

typedef void (*sweep)(const handwritten_dr *dr, int64_t j0, int64_t j1);

/* One sweep over the thread's share of n rows; then everybody waits. */
static void sweep_rows(handwritten_team *team, int thread, const handwritten_dr *dr,
                       sweep f64, sweep f32, int64_t n)
{
    int64_t j0 = n * thread / team->count;
    int64_t j1 = n * (thread + 1) / team->count;
    (dr->f64 ? f64 : f32)(dr, j0, j1);
    meet(team);
}

static void math_task(handwritten_team *team, int thread, const void *arg)
{
    const handwritten_dr *dr = arg;
    int64_t my = dr->ny - 2;
    sweep_rows(team, thread, dr, update_u_f64, update_u_f32, my);
    sweep_rows(team, thread, dr, compute_q_f64, compute_q_f32, my + 1);
    sweep_rows(team, thread, dr, compute_r_f64, compute_r_f32, my);
    sweep_rows(team, thread, dr, precondition_f64, precondition_f32, my);
    sweep_rows(team, thread, dr, update_d_f64, update_d_f32, my);
}

static void index_task(handwritten_team *team, int thread, const void *arg)
{
    const handwritten_dr *dr = arg;
    int64_t my = dr->ny - 2;
    sweep_rows(team, thread, dr, update_u_f64, update_u_f32, my);
    sweep_rows(team, thread, dr, compute_r_fused_f64, compute_r_fused_f32, my);
    sweep_rows(team, thread, dr, precondition_f64, precondition_f32, my);
    sweep_rows(team, thread, dr, update_d_f64, update_d_f32, my);
}

static void fused_task(handwritten_team *team, int thread, const void *arg)
{
    const handwritten_dr *dr = arg;
    sweep_rows(team, thread, dr, fused_f64, fused_f32, dr->ny);
}

static void fused_ahead_task(handwritten_team *team, int thread, const void *arg)
{
    const handwritten_dr *dr = arg;
    sweep_rows(team, thread, dr, fused_ahead_f64, fused_ahead_f32, dr->ny);
}

void handwritten_math(handwritten_team *team, const handwritten_dr *dr)
{
    run(team, math_task, dr);
}

void handwritten_index(handwritten_team *team, const handwritten_dr *dr)
{
    run(team, index_task, dr);
}

void handwritten_fused(handwritten_team *team, const handwritten_dr *dr)
{
    run(team, fused_task, dr);
}

void handwritten_fused_prefetch(handwritten_team *team, const handwritten_dr *dr)
{
    run(team, fused_ahead_task, dr);
}

/* --- streams ---------------------------------------------------------------------- */

/* The thread's share of n bytes or numbers, in steps of `grain`. */
static void share(const handwritten_team *team, int thread, int64_t n, int64_t grain,
                  int64_t *out_first, int64_t *out_end)
{
    int64_t steps = (n + grain - 1) / grain;
    int64_t first = steps * thread / team->count * grain;
    int64_t end = steps * (thread + 1) / team->count * grain;
    *out_first = first < n ? first : n;
    *out_end = end < n ? end : n;
}

static void copy_past_caches(char *dst, const char *src, int64_t n)
{
#if defined(__SSE2__)
    int64_t head = (LINE - (int64_t)((uintptr_t)dst % LINE)) % LINE;
    head = head < n ? head : n;
    memcpy(dst, src, (size_t)head);
    int64_t i = head;
    for (; i + LINE <= n; i += LINE) {
        for (int k = 0; k < LINE; k += 16) {
            __m128i line = _mm_loadu_si128((const __m128i *)(const void *)(src + i + k));
            _mm_stream_si128((__m128i *)(void *)(dst + i + k), line);
        }
    }
    _mm_sfence();
    memcpy(dst + i, src + i, (size_t)(n - i));
#else
    memcpy(dst, src, (size_t)n);
#endif
}

static void copy_task(handwritten_team *team, int thread, const void *arg)
{
    const handwritten_stream *s = arg;
    int64_t first;
    int64_t end;
    share(team, thread, s->n, PAGE, &first, &end);
    copy_past_caches((char *)s->a + first, (const char *)s->b + first, end - first);
}

static void triad_task_f64(handwritten_team *team, int thread, const void *arg)
{
    const handwritten_stream *s = arg;
    int64_t first;
    int64_t end;
    share(team, thread, s->n, PAGE, &first, &end);
    triad_f64(s, first, end);
}

static void triad_task_f32(handwritten_team *team, int thread, const void *arg)
{
    const handwritten_stream *s = arg;
    int64_t first;
    int64_t end;
    share(team, thread, s->n, PAGE, &first, &end);
    triad_f32(s, first, end);
}

static void touch_task(handwritten_team *team, int thread, const void *arg)
{
    const handwritten_stream *s = arg;
    int64_t first;
    int64_t end;
    share(team, thread, s->n, PAGE, &first, &end);
    memset((char *)s->a + first, 0, (size_t)(end - first));
}

void handwritten_copy(handwritten_team *team, void *dst, const void *src, int64_t nbyte)
{
    const handwritten_stream stream = {.a = dst, .b = src, .n = nbyte};
    run(team, copy_task, &stream);
}

void handwritten_triad(handwritten_team *team, bool f64, int64_t n, void *a,
                       const void *b, const void *c, double factor)
{
    const handwritten_stream stream = {.a = a, .b = b, .c = c, .n = n, .factor = factor};
    run(team, f64 ? triad_task_f64 : triad_task_f32, &stream);
}

void handwritten_touch(handwritten_team *team, void *data, int64_t nbyte)
{
    const handwritten_stream stream = {.a = data, .n = nbyte};
    run(team, touch_task, &stream);
}

/* --- sparse products -------------------------------------------------------------- */

static void product_task(handwritten_team *team, int thread, const void *arg)
{
    const handwritten_csr *a = arg;
    int64_t first;
    int64_t end;
    share(team, thread, a->n, 1, &first, &end);
    (a->f64 ? csr_product_f64 : csr_product_f32)(a, first, end);
}

void handwritten_product(handwritten_team *team, const handwritten_csr *a)
{
    run(team, product_task, a);
}
