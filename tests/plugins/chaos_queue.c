/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue behind chaos_slots: commands in a list, a thread that runs them one by one
 * through wrap_forward. `inner` is held around every call of the inner plugin but
 * module_create, so that it sees one call at a time, as it may expect.
 */
#include "config.h"

#include "tests/plugins/chaos_queue.h"

#include "tests/plugins/chaos_command.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PENDING_MOST = 64, PAUSE_US = 300, BURST_US = 1500 };
#define PENDING_BYTES (UINT64_C(64) << 20)

/* --- random pauses ---------------------------------------------------------------- */

/* xorshift64*: Marsaglia 2003, Vigna 2016. */
static uint32_t random_next(chaos_queue *q)
{
    q->random ^= q->random >> 12;
    q->random ^= q->random << 25;
    q->random ^= q->random >> 27;
    return (uint32_t)((q->random * 0x2545F4914F6CDD1Du) >> 32);
}

static void pause_us(uint32_t us)
{
    const struct timespec pause = {0, (long)us * 1000};
    (void)nanosleep(&pause, NULL);
}

static struct timespec in_us(uint32_t us)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += (long)us * 1000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* Locked: until so many commands are there, or somebody waits, or for the time given. */
static void gather(chaos_queue *q, int count, uint32_t us)
{
    const struct timespec end = in_us(us);
    while (q->npending < count && q->nwaiting == 0 && !q->stop) {
        if (pthread_cond_timedwait(&q->work, &q->lock, &end) == ETIMEDOUT) {
            return;
        }
    }
}

/* --- the thread ------------------------------------------------------------------- */

static void keep_failure(chaos_queue *q, rubus_status st)
{
    if (q->late == RUBUS_OK) {
        q->late = st;
        q->late_text = strdup(wrap_last_text());
    }
}

/* Locked: takes the first command, or, where the rule is broken, the one behind it. */
static chaos_command *take(chaos_queue *q)
{
    chaos_command *first = q->first;
    if ((q->rules->write_late && first->kind == CHAOS_WRITE) ||
        (q->rules->fill_late && first->kind == CHAOS_FILL)) {
        gather(q, 2, 20000);
        chaos_command *second = first->next;
        if (second != NULL && second->kind != CHAOS_BUFFER_DESTROY) {
            first->next = second->next;
            q->last = second->next == NULL ? first : q->last;
            return second;
        }
    }
    q->first = first->next;
    q->last = q->first == NULL ? NULL : q->last;
    return first;
}

/* A launch finds nonsense in memory that was given back: it has another owner now. */
static void spoil_gone(wrap_context *ctx, const chaos_command *c)
{
    for (uint32_t i = 0; c->kind == CHAOS_LAUNCH && i < c->info.nbuffer; i++) {
        wrap_buffer *buffer = c->info.buffer[i];
        if (((const chaos_command *)buffer->user)->gone) {
            chaos_spoil(ctx, buffer);
        }
    }
}

static void *run_queue(void *context)
{
    wrap_context *ctx = context;
    chaos_queue *q = ctx->user;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        while (q->first == NULL && !q->stop) {
            pthread_cond_wait(&q->work, &q->lock);
        }
        if (q->first == NULL) {
            break;
        }
        const uint32_t dice = random_next(q) % 16;
        if (dice == 0 || q->rules->lazy) {
            gather(q, 6, BURST_US);
        }
        chaos_command *c = take(q);
        pthread_mutex_unlock(&q->lock);
        if (dice == 1) {
            pause_us(random_next(q) % PAUSE_US);
        } else if (dice <= 4) {
            sched_yield();
        }
        pthread_mutex_lock(&q->inner);
        wrap_clear_text();
        spoil_gone(ctx, c);
        const rubus_status st = chaos_command_run(ctx, c);
        pthread_mutex_unlock(&q->inner);
        pthread_mutex_lock(&q->lock);
        q->npending--;
        q->nbyte -= c->nbyte;
        if (st != RUBUS_OK) {
            keep_failure(q, st);
        }
        chaos_command_free(c);
        pthread_cond_broadcast(&q->idle);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* --- for callers ------------------------------------------------------------------ */

static void push(chaos_queue *q, chaos_command *c)
{
    pthread_mutex_lock(&q->lock);
    while (q->npending >= PENDING_MOST || (q->npending > 0 && q->nbyte > PENDING_BYTES)) {
        q->nwaiting++;
        pthread_cond_broadcast(&q->work);
        pthread_cond_wait(&q->idle, &q->lock);
        q->nwaiting--;
    }
    if (q->last == NULL) {
        q->first = c;
    } else {
        q->last->next = c;
    }
    q->last = c;
    q->npending++;
    q->nbyte += c->nbyte;
    pthread_cond_broadcast(&q->work);
    pthread_mutex_unlock(&q->lock);
}

/* Until nothing is left. */
static void wait_empty(chaos_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->nwaiting++;
    pthread_cond_broadcast(&q->work);
    while (q->npending > 0) {
        pthread_cond_wait(&q->idle, &q->lock);
    }
    q->nwaiting--;
    pthread_mutex_unlock(&q->lock);
}

/* What went wrong in queued work, once. */
static rubus_status take_late(const wrap_context *ctx)
{
    chaos_queue *q = ctx->user;
    pthread_mutex_lock(&q->lock);
    const rubus_status st = q->late;
    char *text = q->late_text;
    q->late = RUBUS_OK;
    q->late_text = NULL;
    pthread_mutex_unlock(&q->lock);
    if (st != RUBUS_OK && text != NULL && text[0] != '\0') {
        ctx->host->fail(ctx->host->ctx, st, "%s", text);
    }
    free(text);
    return st;
}

/* A command on its way; where there is no memory for it, the queue is emptied and the
 * call goes straight on. */
#define ENQUEUE(ctx, command, call)                                                      \
    do {                                                                                 \
        chaos_queue *const q_ = ((wrap_context *)(ctx))->user;                           \
        chaos_command *const c_ = (command);                                             \
        if (c_ == NULL) {                                                                \
            wait_empty(q_);                                                              \
            pthread_mutex_lock(&q_->inner);                                              \
            const rubus_status st_ = (call);                                             \
            pthread_mutex_unlock(&q_->inner);                                            \
            return st_;                                                                  \
        }                                                                                \
        push(q_, c_);                                                                    \
        return RUBUS_OK;                                                                 \
    } while (0)

/* --- contexts --------------------------------------------------------------------- */

static rubus_status start(wrap_context *ctx, uint64_t seed)
{
    chaos_queue *q = calloc(1, sizeof *q);
    if (q == NULL) {
        return ctx->host->fail(ctx->host->ctx, RUBUS_ENOMEM, "out of memory: a queue");
    }
    pthread_mutex_init(&q->lock, NULL);
    pthread_mutex_init(&q->inner, NULL);
    pthread_cond_init(&q->work, NULL);
    pthread_cond_init(&q->idle, NULL);
    q->rules = ((chaos_backend *)ctx->be->user)->rules;
    q->random = (seed + 1) * 0x9E3779B97F4A7C15u;
    ctx->user = q;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals are the callers'
    const int err = pthread_create(&q->thread, NULL, run_queue, ctx);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (err != 0) {
        free(q);
        ctx->user = NULL;
        return ctx->host->fail(ctx->host->ctx, RUBUS_ENOMEM, "starting a queue: %s",
                               strerror(err));
    }
    return RUBUS_OK;
}

static rubus_status context_create(void *be_, uint32_t device, void **out_ctx)
{
    wrap_backend *be = be_;
    chaos_backend *chaos = be->user;
    void *ctx = NULL;
    rubus_status st = wrap_forward.context_create(be, device, &ctx);
    if (st == RUBUS_OK) {
        st = start(ctx, chaos->seed + atomic_fetch_add(&chaos->ncontext, 1u));
        if (st != RUBUS_OK) {
            wrap_forward.context_destroy(ctx);
        }
    }
    if (st == RUBUS_OK) {
        *out_ctx = ctx;
    }
    return st;
}

static void context_destroy(void *ctx_)
{
    wrap_context *ctx = ctx_;
    chaos_queue *q = ctx->user;
    pthread_mutex_lock(&q->lock);
    q->stop = true;
    pthread_cond_broadcast(&q->work);
    pthread_mutex_unlock(&q->lock);
    pthread_join(q->thread, NULL);
    pthread_mutex_destroy(&q->lock);
    pthread_mutex_destroy(&q->inner);
    pthread_cond_destroy(&q->work);
    pthread_cond_destroy(&q->idle);
    free(q->late_text);
    free(q);
    wrap_forward.context_destroy(ctx);
}

static rubus_status synchronize(void *ctx_)
{
    wrap_context *ctx = ctx_;
    chaos_queue *q = ctx->user;
    if (q->rules->synchronize_early) {
        return RUBUS_OK;
    }
    wait_empty(q);
    rubus_status st = take_late(ctx);
    if (st == RUBUS_OK) {
        pthread_mutex_lock(&q->inner);
        st = wrap_forward.synchronize(ctx);
        pthread_mutex_unlock(&q->inner);
    }
    return st;
}

/* --- memory ----------------------------------------------------------------------- */

static rubus_status buffer_create(void *ctx_, uint64_t nbyte, void **out_buffer)
{
    wrap_context *ctx = ctx_;
    chaos_queue *q = ctx->user;
    chaos_command *end = chaos_command_new(CHAOS_BUFFER_DESTROY);
    if (end == NULL) {
        return ctx->host->fail(ctx->host->ctx, RUBUS_ENOMEM, "out of memory: a buffer");
    }
    void *made = NULL;
    pthread_mutex_lock(&q->inner);
    rubus_status st = wrap_forward.buffer_create(ctx, nbyte, &made);
    pthread_mutex_unlock(&q->inner);
    if (st == RUBUS_EDEVMEM || st == RUBUS_ENOMEM) {
        wait_empty(q); // memory that was given back may still wait for its turn
        pthread_mutex_lock(&q->inner);
        st = wrap_forward.buffer_create(ctx, nbyte, &made);
        pthread_mutex_unlock(&q->inner);
    }
    if (st != RUBUS_OK) {
        chaos_command_free(end);
        return st;
    }
    end->buffer = made;
    ((wrap_buffer *)made)->user = end;
    *out_buffer = made;
    return RUBUS_OK;
}

static void buffer_destroy(void *ctx_, void *buffer)
{
    wrap_context *ctx = ctx_;
    chaos_queue *q = ctx->user;
    chaos_command *end = ((wrap_buffer *)buffer)->user;
    pthread_mutex_lock(&q->inner);
    end->gone = q->rules->destroy_early;
    pthread_mutex_unlock(&q->inner);
    push(q, end);
}

static rubus_status locality(void *ctx_, const void *buffer, uint32_t *out_where)
{
    wrap_context *ctx = ctx_;
    chaos_queue *q = ctx->user;
    pthread_mutex_lock(&q->inner);
    const rubus_status st = wrap_forward.locality(ctx, buffer, out_where);
    pthread_mutex_unlock(&q->inner);
    return st;
}

static rubus_status write_bytes(void *ctx, void *buffer, uint64_t first, const void *src,
                                uint64_t n)
{
    const chaos_queue *q = ((wrap_context *)ctx)->user;
    ENQUEUE(ctx, chaos_command_write(buffer, first, src, n, q->rules->write_borrows),
            wrap_forward.write(ctx, buffer, first, src, n));
}

static rubus_status read_bytes(void *ctx_, const void *buffer, uint64_t first, void *dst,
                               uint64_t n)
{
    wrap_context *ctx = ctx_;
    chaos_queue *q = ctx->user;
    rubus_status st = RUBUS_OK;
    if (!q->rules->read_early) {
        wait_empty(q);
        st = take_late(ctx);
    }
    if (st == RUBUS_OK) {
        pthread_mutex_lock(&q->inner);
        st = wrap_forward.read(ctx, buffer, first, dst, n);
        pthread_mutex_unlock(&q->inner);
    }
    return st;
}

static rubus_status fill(void *ctx, void *buffer, uint64_t first, uint64_t n,
                         const void *pattern, uint32_t pattern_size)
{
    ENQUEUE(ctx, chaos_command_fill(buffer, first, n, pattern, pattern_size),
            wrap_forward.fill(ctx, buffer, first, n, pattern, pattern_size));
}

static rubus_status copy(void *ctx, void *dst, uint64_t dst_first, const void *src,
                         uint64_t src_first, uint64_t n)
{
    ENQUEUE(ctx, chaos_command_copy(dst, dst_first, src, src_first, n),
            wrap_forward.copy(ctx, dst, dst_first, src, src_first, n));
}

static rubus_status map(void *ctx_, void *buffer, uint32_t access, void **out_host)
{
    wrap_context *ctx = ctx_;
    chaos_queue *q = ctx->user;
    rubus_status st = RUBUS_OK;
    if (!q->rules->map_early) {
        wait_empty(q);
        st = take_late(ctx);
    }
    if (st == RUBUS_OK) {
        pthread_mutex_lock(&q->inner);
        st = wrap_forward.map(ctx, buffer, access, out_host);
        pthread_mutex_unlock(&q->inner);
    }
    return st;
}

static rubus_status unmap(void *ctx, void *buffer)
{
    chaos_command *c = chaos_command_new(CHAOS_UNMAP);
    if (c != NULL) {
        c->buffer = buffer;
    }
    ENQUEUE(ctx, c, wrap_forward.unmap(ctx, buffer));
}

/* --- modules ---------------------------------------------------------------------- */

static rubus_status module_create(void *ctx_, const rubus_module_desc *desc,
                                  void **out_module)
{
    wrap_context *ctx = ctx_;
    chaos_command *end = chaos_command_new(CHAOS_MODULE_DESTROY);
    if (end == NULL) {
        return ctx->host->fail(ctx->host->ctx, RUBUS_ENOMEM, "out of memory: a module");
    }
    void *made = NULL;
    const rubus_status st = wrap_forward.module_create(ctx, desc, &made);
    if (st != RUBUS_OK) {
        chaos_command_free(end);
        return st;
    }
    end->module = made;
    ((wrap_module *)made)->user = end;
    *out_module = made;
    return RUBUS_OK;
}

static void module_destroy(void *ctx, void *module)
{
    push(((wrap_context *)ctx)->user, ((wrap_module *)module)->user);
}

static rubus_status launch(void *ctx, void *module, const rubus_launch_info *info)
{
    const chaos_queue *q = ((wrap_context *)ctx)->user;
    ENQUEUE(ctx, chaos_command_launch(module, info, q->rules->launch_borrows),
            wrap_forward.launch(ctx, module, info));
}

/* --- sparse products -------------------------------------------------------------- */

static rubus_status csr_prepare(void *ctx_, const rubus_csr_desc *a,
                                rubus_csr_plan **out_plan)
{
    wrap_context *ctx = ctx_;
    chaos_queue *q = ctx->user;
    wait_empty(q); // it may read the arrays of the matrix
    pthread_mutex_lock(&q->inner);
    const rubus_status st = wrap_forward.csr_prepare(ctx, a, out_plan);
    pthread_mutex_unlock(&q->inner);
    return st;
}

/* Waits: what the plan was made of may be gone as soon as this returns. */
static void csr_release(void *ctx, rubus_csr_plan *plan)
{
    chaos_queue *q = ((wrap_context *)ctx)->user;
    wait_empty(q);
    pthread_mutex_lock(&q->inner);
    wrap_forward.csr_release(ctx, plan);
    pthread_mutex_unlock(&q->inner);
}

static rubus_status spmv(void *ctx, const rubus_csr_desc *a, const rubus_vec *x,
                         const rubus_vec *y, double alpha, double beta)
{
    chaos_command *c = chaos_command_sparse(CHAOS_SPMV, a, alpha, beta);
    if (c != NULL) {
        c->vec[0] = *x;
        c->vec[1] = *y;
    }
    ENQUEUE(ctx, c, wrap_forward.spmv(ctx, a, x, y, alpha, beta));
}

static rubus_status spmm(void *ctx, const rubus_csr_desc *a, const rubus_mat *x,
                         const rubus_mat *y, double alpha, double beta)
{
    chaos_command *c = chaos_command_sparse(CHAOS_SPMM, a, alpha, beta);
    if (c != NULL) {
        c->mat[0] = *x;
        c->mat[1] = *y;
    }
    ENQUEUE(ctx, c, wrap_forward.spmm(ctx, a, x, y, alpha, beta));
}

static rubus_status scatter_flush(void *ctx, const rubus_csr_desc *a)
{
    ENQUEUE(ctx, chaos_command_sparse(CHAOS_FLUSH, a, 0, 0),
            wrap_forward.scatter_flush(ctx, a));
}

const rubus_ops chaos_slots = {
    .context_create = context_create,
    .context_destroy = context_destroy,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .locality = locality,
    .write = write_bytes,
    .read = read_bytes,
    .module_create = module_create,
    .module_destroy = module_destroy,
    .launch = launch,
    .synchronize = synchronize,
    .fill = fill,
    .copy = copy,
    .map = map,
    .unmap = unmap,
    .csr_prepare = csr_prepare,
    .csr_release = csr_release,
    .spmv = spmv,
    .spmm = spmm,
    .scatter_flush = scatter_flush,
};

/* --- opening ---------------------------------------------------------------------- */

rubus_status chaos_open(wrap_backend *be, const chaos_rules *rules)
{
    chaos_backend *chaos = calloc(1, sizeof *chaos);
    if (chaos == NULL) {
        return be->host->fail(be->host->ctx, RUBUS_ENOMEM, "out of memory: chaos");
    }
    const char *seed = getenv("RUBUS_TEST_SEED");
    chaos->seed = seed == NULL ? 1 : strtoull(seed, NULL, 10);
    chaos->seed *= 1000003u;
    chaos->rules = rules;
    be->user = chaos;
    return RUBUS_OK;
}

void chaos_close(wrap_backend *be)
{
    free(be->user);
}
