/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The barrier recorder: proof, in validate mode, that the barriers are there. It knows
 * nothing of how the queue decides. It is told the accesses that each command announces
 * and sees the arguments of every vkCmdPipelineBarrier on its way to the driver, and
 * keeps all accesses with their exact windows. A command that depends on an earlier one
 * without a sufficient barrier between them is refused, and the text names both. A new
 * command buffer orders nothing by itself, so the proof holds across submits too.
 *
 * Before the host touches a buffer in place, all commands on those bytes must be done by
 * the device's own counter, and what they wrote must have been made visible to the host.
 *
 * No validation layer does the same for device addresses, and no software device gives a
 * wrong result when a barrier is missing.
 */
#include "config.h"

#include "plugins/vulkan/vk_stream.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct past { /* one access of one command */
    uint64_t first;
    uint64_t end;
    uint64_t batch;
    uint64_t command; /* number since the context began */
    uint32_t buffer;
    uint32_t access;
    bool shown; /* to the host */
    char label[VK_LABEL];
} past;

struct vk_recorder {
    past *list; /* in the order of commands */
    uint64_t n;
    uint64_t room;
    uint64_t nordered; /* a barrier came after these */
    uint64_t ncommand;
};

rubus_status vk_recorder_init(vk_context *ctx)
{
    ctx->recorder = vk_new(ctx->host, sizeof *ctx->recorder);
    if (ctx->recorder == NULL) {
        return RUBUS_ENOMEM;
    }
    return RUBUS_OK;
}

void vk_recorder_fini(vk_context *ctx)
{
    if (ctx->recorder != NULL) {
        if (ctx->recorder->list != NULL) {
            ctx->host->free(ctx->host->ctx, ctx->recorder->list);
        }
        ctx->host->free(ctx->host->ctx, ctx->recorder);
        ctx->recorder = NULL;
    }
}

static bool conflicts(const past *before, const vk_buffer *buffer, uint64_t first,
                      uint64_t nbyte, uint32_t access)
{
    return before->buffer == buffer->number && before->first < first + nbyte &&
           first < before->end && ((before->access | access) & RUBUS_WRITE) != 0;
}

static const char *verb(uint32_t access)
{
    if ((access & RUBUS_WRITE) == 0) {
        return "reads";
    }
    return (access & RUBUS_READ) == 0 ? "writes" : "reads and writes";
}

/* --- barriers ------------------------------------------------------------------- */

/* Does a mask name all of these, by themselves or through a bit that stands for all? */
static bool covers(VkFlags mask, VkFlags all, VkFlags wanted)
{
    return (mask & all) != 0 || (mask & wanted) == wanted;
}

void vk_recorder_barrier(vk_context *ctx, VkPipelineStageFlags from,
                         VkPipelineStageFlags to, const VkMemoryBarrier *memory)
{
    struct vk_recorder *recorder = ctx->recorder;
    if (recorder == NULL) {
        return;
    }
    const VkFlags stages =
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkFlags writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    const VkFlags reads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
    if (!covers(from, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, stages) ||
        !covers(memory->srcAccessMask, VK_ACCESS_MEMORY_WRITE_BIT, writes)) {
        return;
    }
    if (covers(to, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, stages) &&
        covers(memory->dstAccessMask, VK_ACCESS_MEMORY_WRITE_BIT, writes) &&
        covers(memory->dstAccessMask, VK_ACCESS_MEMORY_READ_BIT, reads)) {
        recorder->nordered = recorder->n;
    }
    // The bits for all commands and all memory do not reach the host.
    if ((to & VK_PIPELINE_STAGE_HOST_BIT) != 0 &&
        (memory->dstAccessMask & VK_ACCESS_HOST_READ_BIT) != 0) {
        for (uint64_t i = 0; i < recorder->n; i++) {
            recorder->list[i].shown = true;
        }
    }
}

/* --- commands ------------------------------------------------------------------- */

/* Value of the device's counter; 0 if it does not say. */
static uint64_t ask_counter(vk_context *ctx)
{
    uint64_t done = 0;
    VkResult result =
        ctx->api.GetSemaphoreCounterValue(ctx->device, ctx->stream->timeline, &done);
    return result == VK_SUCCESS ? done : 0;
}

/* Forgets what can matter no more: ordered, done, and shown to the host. */
static void forget(vk_context *ctx)
{
    struct vk_recorder *recorder = ctx->recorder;
    uint64_t done = ask_counter(ctx);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < recorder->nordered; i++) {
        const past *p = &recorder->list[i];
        if (p->batch > done || (!p->shown && (p->access & RUBUS_WRITE) != 0)) {
            recorder->list[kept++] = *p;
        }
    }
    uint64_t nnew = recorder->n - recorder->nordered;
    if (nnew > 0) {
        memmove(recorder->list + kept, recorder->list + recorder->nordered,
                nnew * sizeof *recorder->list);
    }
    recorder->n = kept + nnew;
    recorder->nordered = kept;
}

static rubus_status make_room(vk_context *ctx, uint32_t naccess)
{
    struct vk_recorder *recorder = ctx->recorder;
    if (recorder->n + naccess <= recorder->room) {
        return RUBUS_OK;
    }
    forget(ctx);
    if (2 * (recorder->n + naccess) <= recorder->room) {
        return RUBUS_OK;
    }
    uint64_t room = 2 * (recorder->n + naccess) + 1024;
    past *list = vk_new(ctx->host, room * sizeof *list);
    if (list == NULL) {
        return RUBUS_ENOMEM;
    }
    if (recorder->list != NULL) {
        memcpy(list, recorder->list, recorder->n * sizeof *list);
        ctx->host->free(ctx->host->ctx, recorder->list);
    }
    recorder->list = list;
    recorder->room = room;
    return RUBUS_OK;
}

static rubus_status refuse(vk_context *ctx, const char *label, const vk_access *access,
                           const past *before)
{
    return ctx->host->fail(
        ctx->host->ctx, RUBUS_EINTERNAL,
        "barrier recorder: no barrier between '%s' (command %" PRIu64 ", batch %" PRIu64
        "), which %s bytes %" PRIu64 " to %" PRIu64 " of buffer %" PRIu32
        ", and '%s' (command %" PRIu64 ", batch %" PRIu64 "), which %s bytes %" PRIu64
        " to %" PRIu64 " of it; this is a fault of the backend vulkan, please report it",
        before->label, before->command, before->batch, verb(before->access),
        before->first, before->end, before->buffer, label, ctx->recorder->ncommand,
        ctx->stream->value, verb(access->access), access->first,
        access->first + access->nbyte);
}

rubus_status vk_recorder_command(vk_context *ctx, const char *label,
                                 const vk_access *access, uint32_t naccess)
{
    struct vk_recorder *recorder = ctx->recorder;
    if (recorder == NULL) {
        return RUBUS_OK;
    }
    rubus_status st = make_room(ctx, naccess);
    if (st != RUBUS_OK) {
        return st;
    }
    recorder->ncommand++;
    for (uint32_t k = 0; k < naccess; k++) {
        const vk_access *a = &access[k];
        for (uint64_t i = recorder->nordered; i < recorder->n && a->nbyte > 0; i++) {
            if (conflicts(&recorder->list[i], a->buffer, a->first, a->nbyte, a->access)) {
                return refuse(ctx, label, a, &recorder->list[i]);
            }
        }
    }
    for (uint32_t k = 0; k < naccess; k++) {
        if (access[k].nbyte == 0) {
            continue;
        }
        past *p = &recorder->list[recorder->n++];
        *p = (past){.first = access[k].first,
                    .end = access[k].first + access[k].nbyte,
                    .batch = ctx->stream->value,
                    .command = recorder->ncommand,
                    .buffer = access[k].buffer->number,
                    .access = access[k].access};
        snprintf(p->label, sizeof p->label, "%s", label);
    }
    return RUBUS_OK;
}

/* --- the host ------------------------------------------------------------------- */

rubus_status vk_recorder_host(vk_context *ctx, const char *label, const vk_buffer *buffer,
                              uint64_t first, uint64_t nbyte, uint32_t access)
{
    struct vk_recorder *recorder = ctx->recorder;
    if (recorder == NULL || nbyte == 0) {
        return RUBUS_OK;
    }
    uint64_t done = ask_counter(ctx);
    for (uint64_t i = 0; i < recorder->n; i++) {
        const past *p = &recorder->list[i];
        if (!conflicts(p, buffer, first, nbyte, access)) {
            continue;
        }
        const char *missing = NULL;
        if (p->batch > done) {
            missing = "is not done yet";
        } else if ((access & RUBUS_READ) != 0 && (p->access & RUBUS_WRITE) != 0 &&
                   !p->shown) {
            missing = "has not been made visible to the host";
        }
        if (missing != NULL) {
            return ctx->host->fail(
                ctx->host->ctx, RUBUS_EINTERNAL,
                "barrier recorder: the host (%s) is about to touch bytes %" PRIu64
                " to %" PRIu64 " of buffer %" PRIu32 ", but '%s' (command %" PRIu64
                ", batch %" PRIu64 "), which %s bytes %" PRIu64 " to %" PRIu64
                " of it, %s; this is a fault of the backend vulkan, please report it",
                label, first, first + nbyte, p->buffer, p->label, p->command, p->batch,
                verb(p->access), p->first, p->end, missing);
        }
    }
    return RUBUS_OK;
}
