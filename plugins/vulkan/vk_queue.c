/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of a context. Commands are recorded one after the other into a batch; a batch
 * is submitted when it is full, when it would take too long, when the device has nothing
 * to do, or when somebody waits. The timeline semaphore counts batches, and what is
 * destroyed while work is pending waits in a list for its batch.
 *
 * Order: a batch begins with a barrier against everything before it and a command that
 * depends on another one of its batch (vk_order.c) gets a barrier before it. So every
 * command sees what earlier ones did, in the same batch or not. The barrier at the end of
 * a batch lets the host read what it wrote as soon as the semaphore has the value.
 *
 * A device may be lost at any time. All waiting is done in slices of finite length, and
 * a batch that cannot be submitted loses the context for good: its commands are gone.
 */
#include "config.h"

#include "plugins/vulkan/vk_stream.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SLICE_NS UINT64_C(500000000) /* of waiting */
#define SPIN_NS UINT64_C(30000)      /* of asking, before waiting */
#define LONG_NS UINT64_C(10000000000)
#define COST_MOST (UINT64_C(1) << 50)
#define COMMAND_COST (16u << 10) /* of a command that moves nothing */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* --- barriers ------------------------------------------------------------------- */

void vk_queue_barrier(vk_context *ctx, VkCommandBuffer cmd, vk_barrier kind)
{
    const VkPipelineStageFlags work =
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkAccessFlags writes =
        VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    const VkAccessFlags reads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
    VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    VkPipelineStageFlags from = work;
    VkPipelineStageFlags to = work;
    switch (kind) {
    case VK_BARRIER_FIRST:
        from = to = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
        memory.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
        memory.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
        break;
    case VK_BARRIER_ORDER:
        memory.srcAccessMask = writes;
        memory.dstAccessMask = reads | writes;
        break;
    case VK_BARRIER_HOST:
        to = VK_PIPELINE_STAGE_HOST_BIT;
        memory.srcAccessMask = writes;
        memory.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
        break;
    }
    vk_recorder_barrier(ctx, from, to, &memory);
    ctx->api.CmdPipelineBarrier(cmd, from, to, 0, 1, &memory, 0, NULL, 0, NULL);
}

/* --- things to be freed later --------------------------------------------------- */

static void sweep(vk_context *ctx, uint64_t done)
{
    struct vk_stream *stream = ctx->stream;
    if (stream->sweeping || stream->nretired == 0) {
        return;
    }
    stream->sweeping = true;
    // What frees may retire more; that comes behind and is kept.
    uint64_t kept = 0;
    for (uint64_t i = 0; i < stream->nretired; i++) {
        vk_retired item = stream->retired[i];
        if (item.value <= done) {
            item.free(ctx, item.thing);
        } else {
            stream->retired[kept++] = item;
        }
    }
    stream->nretired = kept;
    stream->sweeping = false;
}

static bool grow_retired(vk_context *ctx)
{
    struct vk_stream *stream = ctx->stream;
    uint64_t room = stream->room == 0 ? 64 : 2 * stream->room;
    vk_retired *list = vk_new(ctx->host, room * sizeof *list);
    if (list == NULL) {
        return false;
    }
    if (stream->retired != NULL) {
        memcpy(list, stream->retired, stream->nretired * sizeof *list);
        ctx->host->free(ctx->host->ctx, stream->retired);
    }
    stream->retired = list;
    stream->room = room;
    return true;
}

void vk_queue_retire(vk_context *ctx, uint64_t value, void (*free)(vk_context *, void *),
                     void *thing)
{
    struct vk_stream *stream = ctx->stream;
    if (stream == NULL || value <= stream->done) {
        free(ctx, thing);
        return;
    }
    if (stream->nretired == stream->room && !grow_retired(ctx)) {
        // No memory for the list: then the thing waits here. A device that does not
        // answer is lost, and its things may go at once.
        rubus_status st = vk_queue_wait(ctx, value);
        (void)st;
        free(ctx, thing);
        return;
    }
    stream->retired[stream->nretired++] =
        (vk_retired){.value = value, .free = free, .thing = thing};
}

/* --- how far the device is ------------------------------------------------------ */

rubus_status vk_queue_poll(vk_context *ctx)
{
    struct vk_stream *stream = ctx->stream;
    if (stream->done + 1 == stream->value) {
        return RUBUS_OK;
    }
    uint64_t done = 0;
    VkResult result =
        ctx->api.GetSemaphoreCounterValue(ctx->device, stream->timeline, &done);
    if (result == VK_SUCCESS && done >= stream->value) {
        result = VK_ERROR_DEVICE_LOST; // so some drivers say it
    }
    if (result != VK_SUCCESS) {
        return vk_check(ctx, result, "asking the device how far it is");
    }
    if (done > stream->done) {
        stream->done = done;
        vk_pace_learn(ctx);
        sweep(ctx, done);
    }
    return RUBUS_OK;
}

/* A real GPU answers most waits soon; a software one needs the processor itself. */
static rubus_status spin(vk_context *ctx, uint64_t value)
{
    rubus_status st = vk_queue_poll(ctx);
    if (vk_is_software(ctx->physical)) {
        return st;
    }
    uint64_t begin = now_ns();
    while (st == RUBUS_OK && ctx->stream->done < value && now_ns() - begin < SPIN_NS) {
        st = vk_queue_poll(ctx);
    }
    return st;
}

static void log_long_wait(vk_context *ctx, uint64_t elapsed_ns)
{
    char text[384 + VK_LABEL];
    snprintf(text, sizeof text,
             "vulkan: waiting for the device %s for %" PRIu64 " s; last command: %s",
             ctx->physical->properties.deviceName, elapsed_ns / UINT64_C(1000000000),
             ctx->stream->label);
    ctx->host->log(ctx->host->ctx, 2, text);
}

/* Until the device has reached a value that was submitted. */
static rubus_status wait_value(vk_context *ctx, uint64_t value)
{
    struct vk_stream *stream = ctx->stream;
    rubus_status st = stream->done < value ? spin(ctx, value) : RUBUS_OK;
    uint64_t begin = now_ns();
    uint64_t told = LONG_NS;
    while (st == RUBUS_OK && stream->done < value) {
        if (atomic_load_explicit(&ctx->lost, memory_order_relaxed)) {
            return vk_usable(ctx);
        }
        VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                    .semaphoreCount = 1,
                                    .pSemaphores = &stream->timeline,
                                    .pValues = &value};
        VkResult result = ctx->api.WaitSemaphores(ctx->device, &info, SLICE_NS);
        if (result != VK_SUCCESS && result != VK_TIMEOUT) {
            return vk_check(ctx, result, "waiting for the device");
        }
        st = vk_queue_poll(ctx);
        uint64_t elapsed = now_ns() - begin;
        if (st == RUBUS_OK && stream->done < value && elapsed >= told) {
            log_long_wait(ctx, elapsed);
            told *= 2;
        }
    }
    return st;
}

/* --- batches -------------------------------------------------------------------- */

static vk_slot *current_slot(struct vk_stream *stream)
{
    return &stream->slot[stream->value % VK_SLOTS];
}

static rubus_status open_batch(vk_context *ctx)
{
    struct vk_stream *stream = ctx->stream;
    vk_slot *slot = current_slot(stream);
    rubus_status st = wait_value(ctx, slot->value);
    if (st != RUBUS_OK) {
        return st;
    }
    st = vk_check(ctx, ctx->api.ResetCommandPool(ctx->device, slot->pool, 0),
                  "resetting a command pool");
    if (st != RUBUS_OK) {
        return st;
    }
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags =
                                         VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    st = vk_check(ctx, ctx->api.BeginCommandBuffer(slot->cmd, &info),
                  "beginning a command buffer");
    if (st != RUBUS_OK) {
        return st;
    }
    stream->open = true;
    stream->ncommand = 0;
    stream->cost = 0;
    stream->moved = 0;
    vk_pace_begin(ctx, slot);
    stream->barrier(ctx, slot->cmd, VK_BARRIER_FIRST);
    vk_order_reset(ctx);
    return RUBUS_OK;
}

static rubus_status submit(vk_context *ctx, VkCommandBuffer cmd)
{
    struct vk_stream *stream = ctx->stream;
    VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &stream->value};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &timeline,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &cmd,
                         .signalSemaphoreCount = 1,
                         .pSignalSemaphores = &stream->timeline};
    return vk_check(ctx, ctx->api.QueueSubmit(ctx->queue, 1, &info, VK_NULL_HANDLE),
                    "submitting work");
}

/* The commands of a batch are gone, so no later result can be trusted. */
static rubus_status lose_batch(vk_context *ctx, rubus_status st)
{
    if (!atomic_load_explicit(&ctx->lost, memory_order_acquire)) {
        snprintf(ctx->lost_text, sizeof ctx->lost_text,
                 "a batch of work could not be submitted; its last command: %s",
                 ctx->stream->label);
        // pairs with the load in vk_usable: the text is there
        atomic_store_explicit(&ctx->lost, true, memory_order_release);
    }
    return st;
}

rubus_status vk_queue_flush(vk_context *ctx)
{
    struct vk_stream *stream = ctx->stream;
    if (!stream->open || stream->ncommand == 0) {
        return RUBUS_OK;
    }
    if (atomic_load_explicit(&ctx->lost, memory_order_relaxed)) {
        return vk_usable(ctx);
    }
    vk_slot *slot = current_slot(stream);
    stream->barrier(ctx, slot->cmd, VK_BARRIER_HOST);
    vk_pace_end(ctx, slot);
    stream->open = false;
    rubus_status st =
        vk_check(ctx, ctx->api.EndCommandBuffer(slot->cmd), "ending a command buffer");
    if (st == RUBUS_OK) {
        st = vk_ring_publish(ctx);
    }
    if (st == RUBUS_OK) {
        st = submit(ctx, slot->cmd);
    }
    if (st != RUBUS_OK) {
        slot->timed = false;
        return lose_batch(ctx, st);
    }
    slot->cost = stream->cost;
    slot->value = stream->value++;
    stream->nsubmit++;
    return RUBUS_OK;
}

/* --- commands ------------------------------------------------------------------- */

static void keep_label(struct vk_stream *stream, const char *label)
{
    size_t n = strnlen(label, sizeof stream->label - 1);
    memcpy(stream->label, label, n);
    stream->label[n] = '\0';
}

rubus_status vk_queue_command(vk_context *ctx, const char *label, const vk_access *access,
                              uint32_t naccess, uint64_t cost, VkCommandBuffer *out_cmd)
{
    struct vk_stream *stream = ctx->stream;
    if (!stream->open) {
        rubus_status st = open_batch(ctx);
        if (st != RUBUS_OK) {
            return st;
        }
    }
    VkCommandBuffer cmd = current_slot(stream)->cmd;
    if (vk_order_dependent(ctx, access, naccess)) {
        stream->barrier(ctx, cmd, VK_BARRIER_ORDER);
        stream->nbarrier++;
        vk_order_reset(ctx);
    }
    rubus_status st = vk_recorder_command(ctx, label, access, naccess);
    if (st != RUBUS_OK) {
        return st;
    }
    vk_order_add(ctx, access, naccess);
    for (uint32_t i = 0; i < naccess; i++) {
        access[i].buffer->last = stream->value;
    }
    keep_label(stream, label);
    if (ctx->recorder != NULL && ctx->api.CmdInsertDebugUtilsLabelEXT != NULL) {
        VkDebugUtilsLabelEXT mark = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                     .pLabelName = stream->label};
        ctx->api.CmdInsertDebugUtilsLabelEXT(cmd, &mark);
    }
    stream->ncommand++;
    stream->ntotal++;
    cost = cost < COST_MOST ? cost : COST_MOST; // no sum of a batch overflows
    stream->moved += cost;
    stream->cost += cost + COMMAND_COST;
    *out_cmd = cmd;
    return RUBUS_OK;
}

rubus_status vk_queue_commit(vk_context *ctx)
{
    struct vk_stream *stream = ctx->stream;
    vk_ring_commit(ctx);
    if (stream->ncommand >= VK_BATCH_MOST || stream->cost >= stream->pace.bound) {
        return vk_queue_flush(ctx);
    }
    // A device without work gets what there is. The number of commands that this takes
    // doubles each time: many small commands make few submits, and the first come early.
    bool many =
        stream->ncommand >= stream->eager && stream->ncommand % VK_BATCH_EAGER == 0;
    if (!many && stream->moved < stream->pace.bound / 8) {
        return RUBUS_OK;
    }
    rubus_status st = vk_queue_poll(ctx);
    if (st != RUBUS_OK || stream->done + 1 != stream->value) {
        return st;
    }
    if (many && stream->eager < VK_BATCH_MOST) {
        stream->eager *= 2;
    }
    return vk_queue_flush(ctx);
}

uint64_t vk_queue_value(const vk_context *ctx)
{
    return ctx->stream->value;
}

rubus_status vk_queue_wait(vk_context *ctx, uint64_t value)
{
    struct vk_stream *stream = ctx->stream;
    if (value <= stream->done) {
        return RUBUS_OK;
    }
    stream->eager = VK_BATCH_EAGER;
    if (value >= stream->value) {
        rubus_status st = vk_queue_flush(ctx);
        if (st != RUBUS_OK) {
            return st;
        }
        value = stream->value - 1; // what nothing was recorded for is reached
    }
    return wait_value(ctx, value);
}

rubus_status vk_queue_finish(vk_context *ctx)
{
    return vk_queue_wait(ctx, ctx->stream->value);
}

rubus_status vk_synchronize(void *context)
{
    vk_context *ctx = context;
    rubus_status st = vk_usable(ctx);
    if (st == RUBUS_OK) {
        st = vk_queue_finish(ctx);
    }
    return st == RUBUS_OK ? vk_messages_check(ctx->be) : st;
}

const char *vk_queue_last_label(const vk_context *ctx)
{
    return ctx->stream != NULL ? ctx->stream->label : "";
}

/* --- begin and end -------------------------------------------------------------- */

static rubus_status make_slot(vk_context *ctx, vk_slot *slot)
{
    VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                    .queueFamilyIndex = ctx->physical->family};
    VkResult result = ctx->api.CreateCommandPool(ctx->device, &info, NULL, &slot->pool);
    if (result != VK_SUCCESS) {
        slot->pool = VK_NULL_HANDLE;
        return vk_check(ctx, result, "making a command pool");
    }
    VkCommandBufferAllocateInfo need = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = slot->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1};
    return vk_check(ctx, ctx->api.AllocateCommandBuffers(ctx->device, &need, &slot->cmd),
                    "making a command buffer");
}

static rubus_status make_timeline(vk_context *ctx)
{
    VkSemaphoreTypeCreateInfo type = {.sType =
                                          VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                  .pNext = &type};
    VkResult result =
        ctx->api.CreateSemaphore(ctx->device, &info, NULL, &ctx->stream->timeline);
    if (result != VK_SUCCESS) {
        ctx->stream->timeline = VK_NULL_HANDLE;
    }
    return vk_check(ctx, result, "making a timeline semaphore");
}

rubus_status vk_queue_init(vk_context *ctx)
{
    struct vk_stream *stream = vk_new(ctx->host, sizeof *stream);
    if (stream == NULL) {
        return RUBUS_ENOMEM;
    }
    ctx->stream = stream;
    stream->value = 1;
    stream->eager = VK_BATCH_EAGER;
    stream->in_place = true;
    stream->barrier = vk_queue_barrier;
    rubus_status st = make_timeline(ctx);
    for (uint32_t i = 0; i < VK_SLOTS && st == RUBUS_OK; i++) {
        st = make_slot(ctx, &stream->slot[i]);
    }
    if (st == RUBUS_OK) {
        vk_pace_init(ctx);
        st = vk_order_init(ctx);
    }
    if (st == RUBUS_OK) {
        st = vk_ring_init(ctx);
    }
    if (st == RUBUS_OK && ctx->be->validate) {
        st = vk_recorder_init(ctx);
    }
    if (st != RUBUS_OK) {
        vk_queue_fini(ctx);
    }
    return st;
}

/* Until the device is done with all that was submitted. */
static void wait_for_end(vk_context *ctx)
{
    rubus_status st = RUBUS_ELOST;
    if (ctx->stream->timeline != VK_NULL_HANDLE && !atomic_load(&ctx->lost)) {
        st = vk_queue_finish(ctx);
    }
    if (st != RUBUS_OK) {
        // Earlier batches may still run; a device that is really lost answers at once.
        ctx->api.DeviceWaitIdle(ctx->device);
    }
}

/* In a child process only host memory is freed. */
void vk_queue_fini(vk_context *ctx)
{
    struct vk_stream *stream = ctx->stream;
    if (stream == NULL) {
        return;
    }
    const bool ours = !vk_backend_forked(ctx->be);
    if (ours) {
        wait_for_end(ctx);
    }
    vk_ring_fini(ctx);
    sweep(ctx, UINT64_MAX);
    if (ours) {
        vk_pace_fini(ctx);
        for (uint32_t i = 0; i < VK_SLOTS; i++) {
            if (stream->slot[i].pool != VK_NULL_HANDLE) {
                ctx->api.DestroyCommandPool(ctx->device, stream->slot[i].pool, NULL);
            }
        }
        if (stream->timeline != VK_NULL_HANDLE) {
            ctx->api.DestroySemaphore(ctx->device, stream->timeline, NULL);
        }
    }
    vk_recorder_fini(ctx);
    vk_order_fini(ctx);
    if (stream->retired != NULL) {
        ctx->host->free(ctx->host->ctx, stream->retired);
    }
    ctx->host->free(ctx->host->ctx, stream);
    ctx->stream = NULL;
}
