/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_CHAOS_COMMAND_H
#define RUBUS_TESTS_CHAOS_COMMAND_H
/*
 * What chaos_queue.c and chaos_command.c share: the queue of a context, and commands that
 * own a copy of everything their caller may change. A maker of a command gives NULL where
 * memory is out, and where the arguments look wrong, so that the call goes straight to
 * the inner plugin and its words come back at once.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/plugins/chaos_queue.h"

typedef enum chaos_kind {
    CHAOS_WRITE,
    CHAOS_FILL,
    CHAOS_COPY,
    CHAOS_UNMAP,
    CHAOS_LAUNCH,
    CHAOS_SPMV,
    CHAOS_SPMM,
    CHAOS_FLUSH,
    CHAOS_BUFFER_DESTROY,
    CHAOS_MODULE_DESTROY
} chaos_kind;

typedef struct chaos_command {
    struct chaos_command *next;
    chaos_kind kind;
    uint64_t nbyte; /* of `data` */
    void *data;     /* owned, but where a write borrows */
    bool borrowed;
    bool gone;    /* destroyed with work pending, where that rule is broken */
    void *buffer; /* written to, or destroyed */
    const void *from;
    uint64_t first;
    uint64_t from_first;
    uint64_t n;
    unsigned char pattern[16];
    uint32_t pattern_size;
    wrap_module *module;
    rubus_launch_info info; /* its arrays lie in data */
    rubus_csr_desc csr;     /* its mirrors lie in data */
    rubus_vec vec[2];
    rubus_mat mat[2];
    double alpha;
    double beta;
} chaos_command;

typedef struct chaos_queue {
    pthread_mutex_t lock; /* guards what follows, up to late_text */
    pthread_cond_t work;  /* a command came, somebody waits, or stop */
    pthread_cond_t idle;  /* a command is done */
    chaos_command *first;
    chaos_command *last;
    int npending; /* the one under way counts */
    uint64_t nbyte;
    int nwaiting;
    bool stop;
    uint64_t random;
    rubus_status late; /* first failure that nobody was told of */
    char *late_text;
    pthread_mutex_t inner; /* held around calls of the inner plugin; taken alone */
    pthread_t thread;
    const chaos_rules *rules;
} chaos_queue;

typedef struct chaos_backend {
    const chaos_rules *rules;
    uint64_t seed;
    atomic_uint ncontext;
} chaos_backend;

chaos_command *chaos_command_new(chaos_kind kind);
chaos_command *chaos_command_write(wrap_buffer *buffer, uint64_t first, const void *src,
                                   uint64_t n, bool borrow);
chaos_command *chaos_command_fill(wrap_buffer *buffer, uint64_t first, uint64_t n,
                                  const void *pattern, uint32_t pattern_size);
chaos_command *chaos_command_copy(wrap_buffer *dst, uint64_t dst_first,
                                  const wrap_buffer *src, uint64_t src_first, uint64_t n);
chaos_command *chaos_command_launch(wrap_module *module, const rubus_launch_info *info,
                                    bool borrow);
chaos_command *chaos_command_sparse(chaos_kind kind, const rubus_csr_desc *a,
                                    double alpha, double beta);
/* Through wrap_forward. */
rubus_status chaos_command_run(wrap_context *ctx, const chaos_command *c);
void chaos_command_free(chaos_command *c);
/* Writes nonsense over all of the buffer. */
void chaos_spoil(wrap_context *ctx, wrap_buffer *buffer);

#endif
