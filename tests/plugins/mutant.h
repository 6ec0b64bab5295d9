/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_MUTANT_H
#define RUBUS_TESTS_MUTANT_H
/*
 * What the files of the backend "mutant" share: the list of its mutants, each of which
 * breaks one rule of rubus/backend.h. RUBUS_TEST_MUTANT names one; without it, or with
 * "none", "queue" or "sparse", no rule is broken (see mutant_plugin.c).
 */
#include "tests/plugins/wrap_plugin.h"

/* X(name, rule that it breaks) */
#define MUTANT_LIST(X)                                                                   \
    X(none, "no rule")                                                                   \
    /* what it says of itself */                                                         \
    X(locality_lies, "locality agrees with the capabilities")                            \
    X(caps_change, "capabilities stay as they are")                                      \
    X(uuid_changes, "a device keeps its uuid")                                           \
    X(caps_overrun, "a struct is written up to its struct_size")                         \
    X(fp64_lies, "capability fp64: doubles are kept whole")                              \
    X(int64_lies, "capability int64: wide ints are kept whole")                          \
    X(buffer_lies, "capability max_buffer: so much can be had")                          \
    X(atomics_lie, "capability atomic_*_add: no update is lost")                         \
    X(open_overrun, "open writes no further than the room offered")                      \
    X(table_scribble, "the table is left alone after open")                              \
    /* memory */                                                                         \
    X(write_past, "a write ends where it ends")                                          \
    X(write_short, "a write is whole")                                                   \
    X(write_rounds, "the source of a write begins where it begins")                      \
    X(write_spoils, "the source of a write is left alone")                               \
    X(write_wraps, "a long write is whole")                                              \
    X(write_at_zero, "a write begins at its offset")                                     \
    X(read_at_zero, "a read begins at its offset")                                       \
    X(read_past, "a read ends where it ends")                                            \
    X(copy_reversed, "copy goes from src to dst")                                        \
    X(copy_at_zero, "copy begins at the offset of its source")                           \
    X(fill_tail, "fill reaches its end")                                                 \
    X(fill_pattern, "fill repeats the whole pattern")                                    \
    X(unmap_drops, "what was stored through map is in the buffer")                       \
    X(map_stale, "map for reading shows what is in the buffer")                          \
    X(alloc_lies, "an allocation that failed is a failure")                              \
    X(error_leaks, "a failed call leaves nothing behind")                                \
    /* launches */                                                                       \
    X(launch_tail, "a launch runs to hi")                                                \
    X(launch_past, "a launch stops at hi")                                               \
    X(launch_from_zero, "a launch begins at lo")                                         \
    X(launch_window, "an array begins at first_byte")                                    \
    X(launch_twice, "a launch runs once")                                                \
    X(launch_plane, "a launch runs along all of its dimensions")                         \
    X(launch_global, "contexts share nothing")                                           \
    X(module_fast, "no contraction without RUBUS_MODULE_FAST")                           \
    X(module_by_name, "modules of one name may differ")                                  \
    X(negative_positions, "a scatter skips negative positions")                          \
    X(collisions_lost, "a scatter adds what goes to one place")                          \
    /* errors, process */                                                                \
    X(error_mute, "a failure has a text")                                                \
    X(error_positive, "a failure is a negative status")                                  \
    X(error_exits, "a plugin never ends the process")                                    \
    X(prints, "a plugin never prints")                                                   \
    X(float_mode, "the floating-point mode stays")                                       \
    X(changes_folder, "the working folder stays")                                        \
    X(changes_signal, "signals stay")                                                    \
    X(changes_environment, "the environment stays")                                      \
    X(leaks_file, "closing gives back file descriptors")                                 \
    X(leaks_thread, "closing joins threads")                                             \
    X(one_context, "a device can be opened more than once")                              \
    /* order: over a queue of its own */                                                 \
    X(queue, "no rule")                                                                  \
    X(write_late, "a write takes effect before what follows")                            \
    X(fill_late, "a fill takes effect before what follows")                              \
    X(write_borrows, "the source of a write may change after it")                        \
    X(launch_borrows, "the block of a launch may change after it")                       \
    X(read_early, "a read waits for what came before")                                   \
    X(map_early, "map waits for what came before")                                       \
    X(synchronize_early, "synchronize waits for everything")                             \
    X(destroy_early, "memory lives until its pending work is done")                      \
    /* sparse slots of its own, on memory of the host */                                 \
    X(sparse, "no rule")                                                                 \
    X(spmv_reads_y, "beta = 0: y is not read")                                           \
    X(spmv_beta, "y = alpha A x + beta y")                                               \
    X(spmv_last_row, "all rows are computed")                                            \
    X(spmm_columns, "column j of y belongs to column j of x")                            \
    X(spmm_stride, "columns lie ld apart")                                               \
    X(flush_partly, "flush overwrites all values")                                       \
    X(flush_adds, "flush overwrites, and does not add")

#define MUTANT_ENUM(name, rule) MUTANT_##name,
enum { MUTANT_LIST(MUTANT_ENUM) MUTANT_COUNT };

/* State of a backend; be->user of all but those over the queue. */
typedef struct mutant_state {
    int mutant;
    _Atomic int ncaps;    /* calls of device_caps */
    _Atomic int ncontext; /* alive */
    int buffer_cap;       /* MiB; of buffer_lies */
    rubus_ops *room;
    char *text; /* of the first module; of module_by_name */
    char *name;
    uint32_t nentry;
} mutant_state;

static inline mutant_state *mutant_of(const void *ctx)
{
    return ((const wrap_context *)ctx)->be->user;
}

static inline bool mutant_is(const void *ctx, int mutant)
{
    return mutant_of(ctx)->mutant == mutant;
}

/* Slots of the mutants that break rules of memory, of launches, of sparse products. */
extern const rubus_ops mutant_memory;
extern const rubus_ops mutant_launches;
extern const rubus_ops mutant_sparse;

#endif
