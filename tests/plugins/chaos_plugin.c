/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend "chaos": another one behind a queue with random pauses (chaos_queue.h). It
 * keeps the contract to the letter and is as late as the contract allows, so whatever
 * builds on more than that breaks over it.
 *
 * Built once more as rubus-threads.so and rubus-vulkan.so (CHAOS_OVER), each over the
 * backend of that name: a folder of these in RUBUS_PLUGIN_PATH puts any program and any
 * test over chaos.
 */
#include "config.h"

#include "tests/plugins/chaos_queue.h"

static rubus_status open_chaos(wrap_backend *be)
{
    static const chaos_rules all_kept;
    return chaos_open(be, &all_kept);
}

#if defined(CHAOS_OVER)
#define INNER CHAOS_OVER
#define NAME CHAOS_OVER
#else
#define INNER "threads"
#define NAME "chaos"
#endif

static const wrap_hooks hooks = {
    .inner = INNER, .slots = &chaos_slots, .open = open_chaos, .close = chaos_close};

WRAP_PLUGIN(NAME, &hooks);
