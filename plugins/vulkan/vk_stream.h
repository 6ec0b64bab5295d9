/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_VK_STREAM_H
#define RUBUS_VK_STREAM_H
/*
 * What the files of the queue share among themselves and with their tests: the batches,
 * the tracker of dependencies, the recorder that proves the barriers, upload memory.
 *
 * A batch is one command buffer and one submit. Batch number v raises the timeline
 * semaphore of the context to v; numbers begin with 1. Every batch begins with a barrier
 * against all that ran before it and ends with one that lets the host see its writes.
 */
#include "plugins/vulkan/vulkan.h"

#define VK_SLOTS 8u        /* batches that may be in flight */
#define VK_BATCH_MOST 512u /* commands of a batch */
#define VK_BATCH_EAGER 16u /* an idle device gets a batch of as many first */
#define VK_LABEL 64u       /* bytes of a label that are kept */
#define VK_CHUNKS 4u       /* of the upload ring */
#define VK_CHUNK (16u << 20)

typedef enum {
    VK_BARRIER_FIRST, /* before the first command of a batch */
    VK_BARRIER_ORDER, /* before a dependent command */
    VK_BARRIER_HOST   /* after the last command of a batch */
} vk_barrier;

/* vk_pace.c: how much work one submit may hold, learnt from device timestamps. */
typedef struct vk_pace {
    VkQueryPool pool; /* two timestamps for each slot, or VK_NULL_HANDLE */
    double period_ns;
    uint64_t mask;  /* bits of a timestamp that mean something */
    bool busy;      /* the last batch was large: measure the next */
    uint64_t bound; /* bytes that take about half of the longest time allowed */
} vk_pace;

typedef struct vk_slot {
    VkCommandPool pool;
    VkCommandBuffer cmd;
    uint64_t value; /* of the batch that uses it; 0: none yet */
    uint64_t cost;
    bool begun; /* has the first timestamp */
    bool timed; /* its timestamps are still to be read */
} vk_slot;

typedef struct vk_retired {
    uint64_t value;
    void (*free)(vk_context *, void *);
    void *thing;
} vk_retired;

struct vk_stream {
    VkSemaphore timeline;
    vk_slot slot[VK_SLOTS];
    uint64_t value; /* that the batch being recorded will reach */
    uint64_t done;  /* largest value known to be reached */
    bool open;      /* a command buffer is being recorded */
    uint32_t ncommand;
    uint32_t eager; /* commands that an idle device gets */
    uint64_t cost;  /* of the batch: what it moves, and something for each command */
    uint64_t moved; /* bytes alone */
    char label[VK_LABEL]; /* of the last command */
    vk_pace pace;
    vk_retired *retired;
    uint64_t nretired;
    uint64_t room;
    bool sweeping;
    bool in_place; /* host-visible buffers are written and read in place */
    /* Puts a barrier and tells the recorder. Tests replace it to lose one. */
    void (*barrier)(vk_context *ctx, VkCommandBuffer cmd, vk_barrier kind);
    uint64_t nsubmit; /* counters since the context began */
    uint64_t nbarrier;
    uint64_t ntotal; /* commands */
};

/* --- vk_queue.c ----------------------------------------------------------------- */

void vk_queue_barrier(vk_context *ctx, VkCommandBuffer cmd, vk_barrier kind);
/* Asks the device how far it is; frees what was waiting for that. */
rubus_status vk_queue_poll(vk_context *ctx);
/* Label of the last command, for the text of a lost device; "" if there was none. */
const char *vk_queue_last_label(const vk_context *ctx);

/* --- vk_pace.c ------------------------------------------------------------------ */

void vk_pace_init(vk_context *ctx);
void vk_pace_fini(vk_context *ctx);
void vk_pace_begin(vk_context *ctx, vk_slot *slot);
void vk_pace_end(vk_context *ctx, vk_slot *slot);
/* Reads the timestamps of batches that are done. */
void vk_pace_learn(vk_context *ctx);
/* A batch of that cost took so long: what may the next one hold? */
uint64_t vk_pace_bound(uint64_t bound, uint64_t cost, double elapsed_ns);

/* --- vk_order.c ----------------------------------------------------------------- */

rubus_status vk_order_init(vk_context *ctx);
void vk_order_fini(vk_context *ctx);
/* Does a command with these accesses depend on one since the last barrier? */
bool vk_order_dependent(const vk_context *ctx, const vk_access *access, uint32_t naccess);
void vk_order_add(vk_context *ctx, const vk_access *access, uint32_t naccess);
void vk_order_reset(vk_context *ctx); /* a barrier was put */

/* --- vk_recorder.c: each call does nothing without a recorder ------------------- */

rubus_status vk_recorder_init(vk_context *ctx);
void vk_recorder_fini(vk_context *ctx);
/* The next command, after its barriers. Fails if one is missing. */
rubus_status vk_recorder_command(vk_context *ctx, const char *label,
                                 const vk_access *access, uint32_t naccess);
/* What is about to be given to vkCmdPipelineBarrier. */
void vk_recorder_barrier(vk_context *ctx, VkPipelineStageFlags from,
                         VkPipelineStageFlags to, const VkMemoryBarrier *memory);
/* The host is about to touch the bytes in place: all work on them must be done, and its
 * writes must have been made visible to the host. */
rubus_status vk_recorder_host(vk_context *ctx, const char *label, const vk_buffer *buffer,
                              uint64_t first, uint64_t nbyte, uint32_t access);

/* --- vk_ring.c ------------------------------------------------------------------ */

/* Pieces taken since the last command belong to the batch being recorded. */
void vk_ring_commit(vk_context *ctx);
/* Makes what the host wrote visible to the batch that is about to be submitted. */
rubus_status vk_ring_publish(vk_context *ctx);
/* Memory of at least nbyte that device writes and host reads; which: 0 for small reads,
 * 1 and 2 for pieces of large ones. Only vk_read uses it. */
#define VK_STAGE_SMALL (64u << 10)
#define VK_STAGE_LARGE (8u << 20)
rubus_status vk_ring_stage(vk_context *ctx, uint32_t which, vk_buffer **out_buffer);

#endif
