/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much work one submit may hold. Operating systems end submits that take too long
 * (some after two seconds), and nobody can use the device meanwhile; so a batch should
 * stay below about 50 ms. The queue counts the bytes that the commands of a batch move;
 * timestamps at its begin and end say how long that took, and the bound follows.
 * Timestamps cost a little, so among batches of a few small commands, which are too short
 * to matter, only some are measured. Without timestamps the first guess remains. No
 * result depends on any of this.
 */
#include "config.h"

#include "plugins/vulkan/vk_stream.h"

#define AIM_NS 25e6                      /* that a full batch should take */
#define SHORT_NS 2e6                     /* less says nothing of the speed */
#define BUSY_PART 16                     /* of the bound: batches worth measuring */
#define SAMPLE_EVERY 16                  /* of the others one in so many is measured */
#define BOUND_LEAST (UINT64_C(8) << 20)  /* bytes */
#define BOUND_MOST (UINT64_C(1) << 40)   /* bytes */
#define BOUND_CPU (UINT64_C(64) << 20)   /* first guess for a software device */
#define BOUND_GPU (UINT64_C(1024) << 20) /* and for others */

uint64_t vk_pace_bound(uint64_t bound, uint64_t cost, double elapsed_ns)
{
    double aim = (double)BOUND_MOST;
    if (elapsed_ns >= SHORT_NS) {
        aim = (double)cost / elapsed_ns * AIM_NS;
    } else if (cost < bound / 2) {
        return bound;
    }
    // Down at once if it took too long; else step by step, since short times scatter.
    double bottom = elapsed_ns > AIM_NS ? 0.0 : 0.5 * (double)bound;
    if (aim < bottom) {
        aim = bottom;
    } else if (aim > 2.0 * (double)bound) {
        aim = 2.0 * (double)bound;
    }
    if (aim < (double)BOUND_LEAST) {
        return BOUND_LEAST;
    }
    return aim < (double)BOUND_MOST ? (uint64_t)aim : BOUND_MOST;
}

void vk_pace_init(vk_context *ctx)
{
    vk_pace *pace = &ctx->stream->pace;
    const VkPhysicalDeviceProperties *device = &ctx->physical->properties;
    pace->bound = vk_is_software(ctx->physical) ? BOUND_CPU : BOUND_GPU;
    pace->period_ns = (double)device->limits.timestampPeriod;
    const uint32_t bits = ctx->physical->timestamp_bits;
    if (bits == 0) {
        return;
    }
    pace->mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                  .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                  .queryCount = 2 * VK_SLOTS};
    if (ctx->api.CreateQueryPool(ctx->device, &info, NULL, &pace->pool) != VK_SUCCESS) {
        pace->pool = VK_NULL_HANDLE; // then without
    }
}

void vk_pace_fini(vk_context *ctx)
{
    vk_pace *pace = &ctx->stream->pace;
    if (pace->pool != VK_NULL_HANDLE) {
        ctx->api.DestroyQueryPool(ctx->device, pace->pool, NULL);
        pace->pool = VK_NULL_HANDLE;
    }
}

static uint32_t first_query(const vk_context *ctx, const vk_slot *slot)
{
    return 2 * (uint32_t)(slot - ctx->stream->slot);
}

void vk_pace_begin(vk_context *ctx, vk_slot *slot)
{
    const vk_pace *pace = &ctx->stream->pace;
    VkQueryPool pool = pace->pool;
    slot->timed = false;
    slot->begun =
        pool != VK_NULL_HANDLE && (pace->busy || ctx->stream->value % SAMPLE_EVERY == 1);
    if (slot->begun) {
        uint32_t query = first_query(ctx, slot);
        ctx->api.CmdResetQueryPool(slot->cmd, pool, query, 2);
        ctx->api.CmdWriteTimestamp(slot->cmd, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool,
                                   query);
    }
}

void vk_pace_end(vk_context *ctx, vk_slot *slot)
{
    struct vk_stream *stream = ctx->stream;
    if (slot->begun) {
        ctx->api.CmdWriteTimestamp(slot->cmd, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                   stream->pace.pool, first_query(ctx, slot) + 1);
        slot->timed = true;
    }
    stream->pace.busy = stream->ncommand >= VK_BATCH_EAGER ||
                        stream->cost >= stream->pace.bound / BUSY_PART;
}

void vk_pace_learn(vk_context *ctx)
{
    struct vk_stream *stream = ctx->stream;
    vk_pace *pace = &stream->pace;
    for (uint32_t i = 0; i < VK_SLOTS; i++) {
        vk_slot *slot = &stream->slot[i];
        if (!slot->timed || slot->value == 0 || slot->value > stream->done) {
            continue;
        }
        slot->timed = false;
        uint64_t stamp[2] = {0, 0};
        VkResult result = ctx->api.GetQueryPoolResults(
            ctx->device, pace->pool, first_query(ctx, slot), 2, sizeof stamp, stamp,
            sizeof stamp[0], VK_QUERY_RESULT_64_BIT);
        if (result == VK_SUCCESS) {
            uint64_t ticks = (stamp[1] - stamp[0]) & pace->mask;
            pace->bound =
                vk_pace_bound(pace->bound, slot->cost, (double)ticks * pace->period_ns);
        }
    }
}
