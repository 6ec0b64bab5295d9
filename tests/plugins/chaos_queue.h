/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_CHAOS_QUEUE_H
#define RUBUS_TESTS_CHAOS_QUEUE_H
/*
 * Slots that put their work into a queue of the context, which a thread of its own
 * empties with random pauses. Calls return at once but for those that wait: read, map,
 * synchronize, context_destroy. What the caller may change after its call is copied;
 * failures of queued work are told by the next call that waits, once.
 *
 * RUBUS_TEST_SEED (a number, else 1) starts the random numbers. The rules below are kept;
 * a mutant breaks one (mutant_plugin.c).
 */
#include "tests/plugins/wrap_plugin.h"

typedef struct chaos_rules {
    bool lazy;              /* as late as can be, always; breaks no rule */
    bool write_late;        /* a write comes after the command that follows it */
    bool fill_late;         /* so does a fill */
    bool write_borrows;     /* the source of a write is read when its turn comes */
    bool launch_borrows;    /* so is the argument block of a launch */
    bool read_early;        /* read does not wait for the commands before it */
    bool map_early;         /* nor does map */
    bool synchronize_early; /* nor does synchronize */
    bool destroy_early;     /* memory is freed at once, with work pending */
} chaos_rules;

/* All slots that are queued, and the few that must wait for the queue. */
extern const rubus_ops chaos_slots;

/* For wrap_hooks: keeps the rules in be->user. */
rubus_status chaos_open(wrap_backend *be, const chaos_rules *rules);
void chaos_close(wrap_backend *be);

#endif
