/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend "mutant": the backend threads with one rule broken, or none. Who tests the
 * conformance suite? `make check-mutants` demands that the check named for a rule
 * (mutants.tsv) finds it broken, and finds nothing where none is.
 *
 * RUBUS_TEST_MUTANT is a name of MUTANT_LIST. Those about order stand on the queue of the
 * backend chaos, whose rules can be broken one by one; those about sparse products fill
 * slots that the inner backend may leave empty.
 */
#include "config.h"

#include "tests/plugins/chaos_queue.h"
#include "tests/plugins/mutant.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_CAP = 64 }; /* MiB, that buffer_lies declares */

#define MUTANT_NAME(name, rule) #name,
static const char *const names[MUTANT_COUNT] = {MUTANT_LIST(MUTANT_NAME)};

static int chosen(void)
{
    const char *text = getenv("RUBUS_TEST_MUTANT");
    for (int i = 0; text != NULL && i < MUTANT_COUNT; i++) {
        if (strcmp(text, names[i]) == 0) {
            return i;
        }
    }
    return text == NULL ? MUTANT_none : -1;
}

/* --- device slots ----------------------------------------------------------------- */

static rubus_status device_caps(void *be_, uint32_t device, rubus_caps *out_caps)
{
    wrap_backend *be = be_;
    mutant_state *m = be->user;
    rubus_caps caps;
    memset(&caps, 0, sizeof caps);
    caps.struct_size = sizeof caps;
    const rubus_status st = wrap_forward.device_caps(be, device, &caps);
    if (st != RUBUS_OK) {
        return st;
    }
    m->ncaps++;
    caps.mem_total += m->mutant == MUTANT_caps_change ? (uint64_t)m->ncaps << 20 : 0;
    caps.uuid[3] = m->mutant == MUTANT_uuid_changes ? (uint8_t)m->ncaps : caps.uuid[3];
    if (m->mutant == MUTANT_buffer_lies) {
        caps.max_buffer = caps.max_alloc = (uint64_t)m->buffer_cap << 20;
    }
    const uint32_t size = out_caps->struct_size;
    const bool whole = m->mutant == MUTANT_caps_overrun || size > sizeof caps;
    caps.struct_size = size;
    memcpy(out_caps, &caps, whole ? sizeof caps : size);
    return RUBUS_OK;
}

static void *sleep_for_ever(void *argument)
{
    for (;;) {
        (void)pause();
    }
    return argument;
}

/* What a context leaves behind in the process. */
static void spoil_process(mutant_state *m)
{
    pthread_t thread;
    switch (m->mutant) {
    case MUTANT_changes_folder:
        (void)!chdir("/");
        break;
    case MUTANT_changes_signal:
        (void)signal(SIGPIPE, SIG_IGN);
        break;
    case MUTANT_changes_environment:
        (void)setenv("PATH", "/bin:/usr/bin:/nowhere", 1);
        break;
    case MUTANT_leaks_file:
        (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
        break;
    case MUTANT_leaks_thread:
        if (pthread_create(&thread, NULL, sleep_for_ever, NULL) == 0) {
            (void)pthread_detach(thread);
        }
        break;
    case MUTANT_table_scribble:
        memset((char *)m->room + sizeof(uint32_t), 0x55, sizeof *m->room / 2);
        break;
    default:
        break;
    }
}

static rubus_status context_create(void *be_, uint32_t device, void **out_ctx)
{
    wrap_backend *be = be_;
    mutant_state *m = be->user;
    if (m->mutant == MUTANT_one_context && m->ncontext > 0) {
        return be->host->fail(be->host->ctx, RUBUS_EDEVMEM, "the device is in use");
    }
    const rubus_status st = wrap_forward.context_create(be, device, out_ctx);
    if (st == RUBUS_OK) {
        m->ncontext++;
        spoil_process(m);
    }
    return st;
}

static void context_destroy(void *ctx)
{
    mutant_of(ctx)->ncontext--;
    wrap_forward.context_destroy(ctx);
}

/* --- services --------------------------------------------------------------------- */

static rubus_status fail_mute(void *ctx, rubus_status st, const char *fmt, ...)
{
    (void)ctx;
    (void)fmt;
    return st;
}

static rubus_status fail_positive(void *ctx, rubus_status st, const char *fmt, ...)
{
    const wrap_backend *be = ctx;
    return be->host->fail(be->host->ctx, -st, "%s", fmt);
}

static rubus_status fail_and_exit(void *ctx, rubus_status st, const char *fmt, ...)
{
    (void)ctx;
    (void)fmt;
    exit(st != RUBUS_OK ? 3 : 4);
}

/* --- opening ---------------------------------------------------------------------- */

static rubus_status open_mutant(wrap_backend *be)
{
    const int mutant = chosen();
    if (mutant < 0) {
        return be->host->fail(be->host->ctx, RUBUS_EINVAL,
                              "RUBUS_TEST_MUTANT='%s' is none of the list",
                              getenv("RUBUS_TEST_MUTANT"));
    }
    mutant_state *m = be->host->alloc(be->host->ctx, sizeof *m, 16);
    if (m == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(m, 0, sizeof *m);
    m->mutant = mutant;
    m->buffer_cap = BUFFER_CAP;
    be->user = m;
    if (mutant == MUTANT_error_mute) {
        be->services.fail = fail_mute;
    } else if (mutant == MUTANT_error_positive) {
        be->services.fail = fail_positive;
    } else if (mutant == MUTANT_error_exits) {
        be->services.fail = fail_and_exit;
    }
    return RUBUS_OK;
}

static void close_mutant(wrap_backend *be)
{
    mutant_state *m = be->user;
    free(m->name);
    free(m->text);
    be->host->free(be->host->ctx, m);
}

static rubus_status open_queue(wrap_backend *be)
{
    static chaos_rules rules;
    const int mutant = chosen();
    rules.lazy = true;
    rules.write_late = mutant == MUTANT_write_late;
    rules.fill_late = mutant == MUTANT_fill_late;
    rules.write_borrows = mutant == MUTANT_write_borrows;
    rules.launch_borrows = mutant == MUTANT_launch_borrows;
    rules.read_early = mutant == MUTANT_read_early;
    rules.map_early = mutant == MUTANT_map_early;
    rules.synchronize_early = mutant == MUTANT_synchronize_early;
    rules.destroy_early = mutant == MUTANT_destroy_early;
    return chaos_open(be, &rules);
}

static const wrap_hooks queue_hooks = {
    .slots = &chaos_slots, .open = open_queue, .close = chaos_close};

/* All slots that some mutant breaks. */
static wrap_hooks own_hooks(rubus_ops *slots)
{
    *slots = mutant_memory;
    slots->module_create = mutant_launches.module_create;
    slots->module_destroy = mutant_launches.module_destroy;
    slots->launch = mutant_launches.launch;
    slots->device_caps = device_caps;
    slots->context_create = context_create;
    slots->context_destroy = context_destroy;
    return (wrap_hooks){.slots = slots,
                        .fills = chosen() >= MUTANT_sparse ? &mutant_sparse : NULL,
                        .open = open_mutant,
                        .close = close_mutant};
}

static rubus_status open_backend(const rubus_host *host, rubus_ops *room, void **out_be)
{
    static rubus_ops slots;
    static wrap_hooks hooks;
    const int mutant = chosen();
    const bool queued = mutant >= MUTANT_queue && mutant < MUTANT_sparse;
    hooks = own_hooks(&slots);
    const rubus_status st = wrap_open(queued ? &queue_hooks : &hooks, host, room, out_be);
    if (st == RUBUS_OK && mutant == MUTANT_open_overrun) {
        memset((char *)room + room->struct_size, 0, sizeof(void *));
    }
    if (st == RUBUS_OK && !queued) {
        ((mutant_state *)((wrap_backend *)*out_be)->user)->room = room;
    }
    return st;
}

WRAP_DESCRIPTOR("mutant", open_backend);
