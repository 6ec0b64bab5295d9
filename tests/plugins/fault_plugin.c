/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend "fault": another one (wrap_plugin.h) of which one call of one slot goes
 * wrong. RUBUS_TEST_FAULT in the environment, read by `open`, says which and how:
 *
 *   SLOT CALL fail STATUS   returns that status (a number) with a text, does nothing else
 *   SLOT CALL silent STATUS likewise, without a text
 *   SLOT CALL lost          the device is lost: every later call of that context fails
 *                           with RUBUS_ELOST; slots that destroy still do
 *   SLOT CALL hang          takes 100 ms longer
 *
 * CALL counts the calls of SLOT from 1 since `open`. The log tells when the fault comes
 * ("fired ...") and, at close, what was left over and how often each slot was called.
 */
#include "config.h"

#include "tests/plugins/wrap_plugin.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLOT_NUMBER(slot, required, since, summary) SLOT_##slot,
enum { RUBUS_SLOT_LIST(SLOT_NUMBER) NSLOT };

#define SLOT_NAME(slot, required, since, summary) #slot,
static const char *const slot_names[NSLOT] = {RUBUS_SLOT_LIST(SLOT_NAME)};

enum { NOTHING, FAIL, SILENT, LOST, HANG };
static const char *const kind_names[] = {"", "fail", "silent", "lost", "hang"};

typedef struct fault {
    int slot;
    int kind;
    long call;
    rubus_status status;
    atomic_long calls[NSLOT];
    atomic_int contexts; /* alive */
    atomic_int buffers;
    atomic_int modules;
} fault;

/* One byte for each context, of its own: module_create runs beside other slots. */
typedef struct loss {
    atomic_bool lost;
} loss;

/* Counts the call; the status that it must return, or RUBUS_OK where it goes on. */
static rubus_status step(const wrap_backend *be, loss *context, int slot)
{
    fault *f = be->user;
    const rubus_host *host = be->host;
    const long call = atomic_fetch_add(&f->calls[slot], 1) + 1;
    if (context != NULL && atomic_load(&context->lost)) {
        return host->fail(host->ctx, RUBUS_ELOST,
                          "slot %s, call %ld: the device is lost since slot %s, call %ld",
                          slot_names[slot], call, slot_names[f->slot], f->call);
    }
    if (f->kind == NOTHING || slot != f->slot || call != f->call) {
        return RUBUS_OK;
    }
    char line[100];
    snprintf(line, sizeof line, "fired: slot %s, call %ld, %s", slot_names[slot], call,
             kind_names[f->kind]);
    host->log(host->ctx, 3, line);
    if (f->kind == HANG) {
        const struct timespec pause = {0, 100000000};
        (void)nanosleep(&pause, NULL);
        return RUBUS_OK;
    }
    if (f->kind == SILENT) {
        return f->status;
    }
    if (f->kind == LOST) {
        if (context != NULL) {
            atomic_store(&context->lost, true);
        }
        return host->fail(host->ctx, RUBUS_ELOST, "slot %s, call %ld: the device is lost",
                          slot_names[slot], call);
    }
    return host->fail(host->ctx, f->status, "slot %s, call %ld: the fault that was asked",
                      slot_names[slot], call);
}

static rubus_status context_step(void *ctx_, int slot)
{
    const wrap_context *ctx = ctx_;
    return step(ctx->be, ctx->user, slot);
}

static fault *fault_of(void *ctx)
{
    return ((wrap_context *)ctx)->be->user;
}

/* --- device slots ----------------------------------------------------------------- */

static rubus_status device_count(void *be, uint32_t *out_n)
{
    const rubus_status st = step(be, NULL, SLOT_device_count);
    return st != RUBUS_OK ? st : wrap_forward.device_count(be, out_n);
}

static rubus_status device_caps(void *be, uint32_t device, rubus_caps *out_caps)
{
    const rubus_status st = step(be, NULL, SLOT_device_caps);
    return st != RUBUS_OK ? st : wrap_forward.device_caps(be, device, out_caps);
}

static rubus_status context_create(void *be_, uint32_t device, void **out_ctx)
{
    const wrap_backend *be = be_;
    rubus_status st = step(be, NULL, SLOT_context_create);
    if (st != RUBUS_OK) {
        return st;
    }
    loss *l = be->host->alloc(be->host->ctx, sizeof *l, 16);
    if (l == NULL) {
        return RUBUS_ENOMEM;
    }
    atomic_init(&l->lost, false);
    void *made = NULL;
    st = wrap_forward.context_create(be_, device, &made);
    if (st != RUBUS_OK) {
        be->host->free(be->host->ctx, l);
        return st;
    }
    ((wrap_context *)made)->user = l;
    atomic_fetch_add(&fault_of(made)->contexts, 1);
    *out_ctx = made;
    return RUBUS_OK;
}

static void context_destroy(void *ctx_)
{
    wrap_context *ctx = ctx_;
    (void)context_step(ctx, SLOT_context_destroy);
    atomic_fetch_sub(&fault_of(ctx)->contexts, 1);
    ctx->host->free(ctx->host->ctx, ctx->user);
    wrap_forward.context_destroy(ctx);
}

/* --- memory slots ----------------------------------------------------------------- */

static rubus_status buffer_create(void *ctx, uint64_t nbyte, void **out_buffer)
{
    rubus_status st = context_step(ctx, SLOT_buffer_create);
    if (st == RUBUS_OK) {
        st = wrap_forward.buffer_create(ctx, nbyte, out_buffer);
        atomic_fetch_add(&fault_of(ctx)->buffers, st == RUBUS_OK ? 1 : 0);
    }
    return st;
}

static void buffer_destroy(void *ctx, void *buffer)
{
    (void)context_step(ctx, SLOT_buffer_destroy);
    atomic_fetch_sub(&fault_of(ctx)->buffers, 1);
    wrap_forward.buffer_destroy(ctx, buffer);
}

static rubus_status locality(void *ctx, const void *buffer, uint32_t *out_where)
{
    const rubus_status st = context_step(ctx, SLOT_locality);
    return st != RUBUS_OK ? st : wrap_forward.locality(ctx, buffer, out_where);
}

static rubus_status write_bytes(void *ctx, void *buffer, uint64_t first, const void *src,
                                uint64_t n)
{
    const rubus_status st = context_step(ctx, SLOT_write);
    return st != RUBUS_OK ? st : wrap_forward.write(ctx, buffer, first, src, n);
}

static rubus_status read_bytes(void *ctx, const void *buffer, uint64_t first, void *dst,
                               uint64_t n)
{
    const rubus_status st = context_step(ctx, SLOT_read);
    return st != RUBUS_OK ? st : wrap_forward.read(ctx, buffer, first, dst, n);
}

static rubus_status fill(void *ctx, void *buffer, uint64_t first, uint64_t n,
                         const void *pattern, uint32_t pattern_size)
{
    const rubus_status st = context_step(ctx, SLOT_fill);
    return st != RUBUS_OK
               ? st
               : wrap_forward.fill(ctx, buffer, first, n, pattern, pattern_size);
}

static rubus_status copy(void *ctx, void *dst, uint64_t dst_first, const void *src,
                         uint64_t src_first, uint64_t n)
{
    const rubus_status st = context_step(ctx, SLOT_copy);
    return st != RUBUS_OK ? st
                          : wrap_forward.copy(ctx, dst, dst_first, src, src_first, n);
}

static rubus_status map(void *ctx, void *buffer, uint32_t access, void **out_host)
{
    const rubus_status st = context_step(ctx, SLOT_map);
    return st != RUBUS_OK ? st : wrap_forward.map(ctx, buffer, access, out_host);
}

static rubus_status unmap(void *ctx, void *buffer)
{
    const rubus_status st = context_step(ctx, SLOT_unmap);
    const rubus_status ended = wrap_forward.unmap(ctx, buffer); // whatever is told
    return st != RUBUS_OK ? st : ended;
}

/* --- modules ---------------------------------------------------------------------- */

static rubus_status module_create(void *ctx, const rubus_module_desc *desc,
                                  void **out_module)
{
    rubus_status st = context_step(ctx, SLOT_module_create);
    if (st == RUBUS_OK) {
        st = wrap_forward.module_create(ctx, desc, out_module);
        atomic_fetch_add(&fault_of(ctx)->modules, st == RUBUS_OK ? 1 : 0);
    }
    return st;
}

static void module_destroy(void *ctx, void *module)
{
    (void)context_step(ctx, SLOT_module_destroy);
    atomic_fetch_sub(&fault_of(ctx)->modules, 1);
    wrap_forward.module_destroy(ctx, module);
}

static rubus_status launch(void *ctx, void *module, const rubus_launch_info *info)
{
    const rubus_status st = context_step(ctx, SLOT_launch);
    return st != RUBUS_OK ? st : wrap_forward.launch(ctx, module, info);
}

static rubus_status synchronize(void *ctx)
{
    const rubus_status st = context_step(ctx, SLOT_synchronize);
    return st != RUBUS_OK ? st : wrap_forward.synchronize(ctx);
}

/* --- sparse slots ----------------------------------------------------------------- */

static rubus_status csr_prepare(void *ctx, const rubus_csr_desc *a,
                                rubus_csr_plan **out_plan)
{
    const rubus_status st = context_step(ctx, SLOT_csr_prepare);
    return st != RUBUS_OK ? st : wrap_forward.csr_prepare(ctx, a, out_plan);
}

static void csr_release(void *ctx, rubus_csr_plan *plan)
{
    (void)context_step(ctx, SLOT_csr_release);
    wrap_forward.csr_release(ctx, plan);
}

static rubus_status spmv(void *ctx, const rubus_csr_desc *a, const rubus_vec *x,
                         const rubus_vec *y, double alpha, double beta)
{
    const rubus_status st = context_step(ctx, SLOT_spmv);
    return st != RUBUS_OK ? st : wrap_forward.spmv(ctx, a, x, y, alpha, beta);
}

static rubus_status spmm(void *ctx, const rubus_csr_desc *a, const rubus_mat *x,
                         const rubus_mat *y, double alpha, double beta)
{
    const rubus_status st = context_step(ctx, SLOT_spmm);
    return st != RUBUS_OK ? st : wrap_forward.spmm(ctx, a, x, y, alpha, beta);
}

static rubus_status scatter_flush(void *ctx, const rubus_csr_desc *a)
{
    const rubus_status st = context_step(ctx, SLOT_scatter_flush);
    return st != RUBUS_OK ? st : wrap_forward.scatter_flush(ctx, a);
}

/* --- opening ---------------------------------------------------------------------- */

static rubus_status parse(const wrap_backend *be, const char *text, fault *f)
{
    char slot[32] = "";
    char kind[32] = "";
    int status = 0;
    const int n = text == NULL
                      ? 0
                      : sscanf(text, "%31s %ld %31s %d", slot, &f->call, kind, &status);
    f->status = status;
    f->slot = -1;
    for (int i = 0; i < NSLOT; i++) {
        f->slot = strcmp(slot, slot_names[i]) == 0 ? i : f->slot;
    }
    for (int i = 1; i <= HANG; i++) {
        f->kind = strcmp(kind, kind_names[i]) == 0 ? i : f->kind;
    }
    const bool with_status = f->kind == FAIL || f->kind == SILENT;
    if (text != NULL && (f->slot < 0 || f->kind == NOTHING || (with_status && n < 4))) {
        return be->host->fail(be->host->ctx, RUBUS_EINVAL,
                              "RUBUS_TEST_FAULT='%s': write SLOT CALL and 'fail STATUS', "
                              "'silent STATUS', 'lost' or 'hang'",
                              text);
    }
    return RUBUS_OK;
}

static rubus_status open_fault(wrap_backend *be)
{
    fault *f = be->host->alloc(be->host->ctx, sizeof *f, 16);
    if (f == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(f, 0, sizeof *f);
    const rubus_status st = parse(be, getenv("RUBUS_TEST_FAULT"), f);
    if (st != RUBUS_OK) {
        be->host->free(be->host->ctx, f);
        return st;
    }
    be->user = f;
    return RUBUS_OK;
}

static void close_fault(wrap_backend *be)
{
    fault *f = be->user;
    char line[1000];
    int n = snprintf(
        line, sizeof line,
        "left: %d contexts, %d buffers, %d modules; calls:", atomic_load(&f->contexts),
        atomic_load(&f->buffers), atomic_load(&f->modules));
    for (int i = 0; i < NSLOT; i++) {
        n += snprintf(line + n, sizeof line - (size_t)n, " %s=%ld", slot_names[i],
                      atomic_load(&f->calls[i]));
    }
    be->host->log(be->host->ctx, 3, line);
    be->host->free(be->host->ctx, f);
}

static const rubus_ops slots = {
    .device_count = device_count,
    .device_caps = device_caps,
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

static const wrap_hooks hooks = {
    .slots = &slots, .open = open_fault, .close = close_fault};

WRAP_PLUGIN("fault", &hooks);
