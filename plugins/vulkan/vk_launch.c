/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One launch: the argument block with addresses in it becomes push constants, or a piece
 * of the upload ring whose address is pushed; then one dispatch. The loops of the text go
 * over all of [lo, hi) whatever the number of groups, so that is only cut to the limits
 * of the device. Nothing is allocated here, and what is bound already is not bound again.
 */
#include "config.h"

#include "plugins/vulkan/vk_module.h"

#include <string.h>

/* Places of the bounds in the argument block. */
#define BLOCK_LO 0
#define BLOCK_HI 24
/* A dispatch that costs more bytes than this is cut in several: drivers end programs that
 * keep a device busy for seconds. */
#define DISPATCH_MOST (UINT64_C(16) << 30)
/* Invocations along a dimension, and so the most that an index grows at once. Indices of
 * 32 bits serve up to an end that leaves room for it. */
#define STEP_MOST (1 << 24)
#define NARROW_MOST (INT32_MAX - STEP_MOST)

typedef struct launch {
    vk_context *ctx;
    vk_module *module;
    vk_entry *entry;
    const rubus_launch_info *info;
    VkPipeline pipeline;
    int64_t lo[3];
    int64_t hi[3];
    uint64_t cost;
} launch;

static uint64_t product(uint64_t a, uint64_t b)
{
    uint64_t c = 0;
    return __builtin_mul_overflow(a, b, &c) ? UINT64_MAX : c;
}

static uint64_t box_points(const launch *l)
{
    uint64_t points = 1;
    for (int d = 0; d < 3; d++) {
        points = product(points, (uint64_t)(l->hi[d] - l->lo[d]));
    }
    return points;
}

/* --- which code ------------------------------------------------------------------- */

/* Whether a subscript, an extent or a bound may exceed 32 bits. */
static bool is_wide(const vk_entry *entry, const rubus_launch_info *info)
{
    for (int d = 0; d < 3; d++) {
        if (info->lo[d] < INT32_MIN || info->hi[d] > NARROW_MOST) {
            return true;
        }
    }
    for (uint32_t b = 0; b < entry->nbuffer; b++) {
        if (info->nbyte[b] > entry->operand[b].narrow) {
            return true;
        }
    }
    for (uint32_t i = 0; i < entry->nlong; i++) {
        int64_t value;
        memcpy(&value, (const unsigned char *)info->block + entry->long_place[i], 8);
        if (value < INT32_MIN || value > NARROW_MOST) {
            return true;
        }
    }
    return false;
}

static rubus_status choose_pipeline(launch *l)
{
    const rubus_host *host = l->ctx->host;
    const bool wide = is_wide(l->entry, l->info);
    if (l->entry->pipeline[wide] == VK_NULL_HANDLE) {
        if (wide && !l->ctx->limits.int64) {
            return host->fail(host->ctx, RUBUS_ELIMIT,
                              "%s: an array or a range has more than %d elements, "
                              "and the device %s has only 32-bit integers",
                              l->entry->label, NARROW_MOST,
                              l->ctx->physical->properties.deviceName);
        }
        const rubus_status st = vk_pipeline_make(l->module, l->entry, wide);
        if (st != RUBUS_OK) {
            return st;
        }
    }
    l->pipeline = l->entry->pipeline[wide];
    return RUBUS_OK;
}

/* --- arguments -------------------------------------------------------------------- */

static void put_addresses(const launch *l, unsigned char *block)
{
    const rubus_launch_info *info = l->info;
    const vk_entry *entry = l->entry;
    for (uint32_t b = 0; b < entry->nbuffer; b++) {
        const vk_buffer *buffer = info->buffer[b];
        const uint64_t address = buffer->address + info->first_byte[b];
        memcpy(block + entry->operand[b].offset, &address, sizeof address);
    }
}

/* Bindings begin at a multiple of the device's alignment; the block has the rest. */
static rubus_status put_bindings(const launch *l, unsigned char *block)
{
    const rubus_host *host = l->ctx->host;
    const rubus_launch_info *info = l->info;
    const vk_entry *entry = l->entry;
    const uint64_t align =
        l->ctx->limits.offset_align > 0 ? l->ctx->limits.offset_align : 1;
    for (uint32_t b = 0; b < entry->nbuffer; b++) {
        const vk_buffer *buffer = info->buffer[b];
        const uint64_t rest = info->first_byte[b] % align;
        const uint64_t first = info->first_byte[b] - rest;
        uint64_t size = rest + info->nbyte[b];
        if (size > l->ctx->limits.binding) {
            return host->fail(
                host->ctx, RUBUS_ELIMIT,
                "%s: array %s has %llu bytes, and a descriptor of the device "
                "%s reaches %llu: leave descriptors=on away",
                entry->label, entry->operand[b].name, (unsigned long long)size,
                l->ctx->physical->properties.deviceName,
                (unsigned long long)l->ctx->limits.binding);
        }
        // elements are read as words: the last one whole
        size = (size + 3) / 4 * 4;
        size = size > buffer->room - first ? buffer->room - first : size;
        entry->bound[1 + b] = (VkDescriptorBufferInfo){
            .buffer = buffer->handle, .offset = first, .range = size};
        memcpy(block + entry->operand[b].offset, &rest, sizeof rest);
    }
    return RUBUS_OK;
}

static rubus_status fill_block(const launch *l, unsigned char *block)
{
    memcpy(block, l->info->block, l->entry->block_size);
    memcpy(block + BLOCK_LO, l->lo, sizeof l->lo);
    memcpy(block + BLOCK_HI, l->hi, sizeof l->hi);
    if (l->ctx->be->descriptors) {
        return put_bindings(l, block);
    }
    put_addresses(l, block);
    return RUBUS_OK;
}

/* The bytes to push. A block that is too long goes into the upload ring. */
static rubus_status make_arguments(const launch *l, unsigned char push[RUBUS_GLSL_PUSH])
{
    if (l->entry->pushed) {
        return fill_block(l, push);
    }
    vk_context *ctx = l->ctx;
    vk_piece piece;
    const uint32_t align = ctx->limits.offset_align > 16 ? ctx->limits.offset_align : 16;
    rubus_status st = vk_ring_take(ctx, l->entry->block_size, align, &piece);
    if (st == RUBUS_OK) {
        st = fill_block(l, piece.host);
    }
    if (st == RUBUS_OK) {
        memcpy(push, &piece.address, sizeof piece.address);
        l->entry->bound[0] = (VkDescriptorBufferInfo){.buffer = piece.buffer->handle,
                                                      .offset = piece.first,
                                                      .range = l->entry->block_size};
    }
    return st;
}

/* --- recording -------------------------------------------------------------------- */

/* On a CPU every group reads the parameters, lane by lane, and neighbouring groups share
 * no cache: few groups, each with many points and, where there are rows enough, whole
 * ones. */
#define SOFTWARE_GROUPS 64
#define SOFTWARE_POINTS 1024 /* of a group before there is another */
/* llvmpipe leaves all loops of an invocation after 65535 turns, those of nested loops
 * counted together, and says nothing: no invocation gets more points (or, where the text
 * loops for a group, more work of groups) than take so many (vk_entry.turns); where the
 * kernel itself loops, one if it can be. A larger box is run in pieces. A row takes about
 * ten turns beside those for its points. */
#define SOFTWARE_TURNS 50000
#define SOFTWARE_ROW_TURNS 12

/* Points that an invocation may get. */
static uint64_t turns_allowed(const launch *l)
{
    const uint64_t width = (uint64_t)(l->hi[0] - l->lo[0]);
    const uint64_t row = (width - 1) / l->entry->local[0] + 1;
    return l->entry->turns > 0    ? l->entry->turns
           : row < SOFTWARE_TURNS ? SOFTWARE_TURNS * row / (row + SOFTWARE_ROW_TURNS)
                                  : SOFTWARE_TURNS - SOFTWARE_ROW_TURNS;
}

/* Dispatches that the box needs for that. */
static uint64_t pieces_on_cpu(const launch *l)
{
    uint64_t turns = 1;
    for (int d = 0; d < 3; d++) {
        const uint64_t points = (uint64_t)(l->hi[d] - l->lo[d]);
        const uint64_t need = (points - 1) / l->entry->local[d] + 1;
        turns = product(turns, (need - 1) / l->ctx->limits.groups[d] + 1);
    }
    return (turns - 1) / turns_allowed(l) + 1;
}

static void count_on_cpu(const launch *l, uint32_t n[3])
{
    const uint64_t points = box_points(l);
    const uint64_t wanted = (points - 1) / SOFTWARE_POINTS + 1;
    uint32_t left = wanted < SOFTWARE_GROUPS ? (uint32_t)wanted : SOFTWARE_GROUPS;
    uint64_t turn = l->entry->loops ? 1 : turns_allowed(l);
    for (int d = 0; d < 3; d++) {
        const uint64_t extent = (uint64_t)(l->hi[d] - l->lo[d]);
        const uint32_t local = l->entry->local[d];
        turn = product(turn, extent < local ? extent : local);
    }
    const uint64_t least = (points - 1) / turn + 1;
    if (left < least) {
        left = least < UINT32_MAX ? (uint32_t)least : UINT32_MAX;
    }
    for (int d = 2; d >= 0; d--) {
        n[d] = n[d] < left ? n[d] : left;
        left = (left - 1) / (n[d] > 0 ? n[d] : 1) + 1;
    }
}

/* An index of 32 bits must not pass its end by more than it can hold. */
static void count_groups(const launch *l, uint32_t n[3])
{
    const vk_context *ctx = l->ctx;
    const vk_entry *entry = l->entry;
    for (int d = 0; d < 3; d++) {
        const uint64_t points = (uint64_t)(l->hi[d] - l->lo[d]);
        const uint64_t most = STEP_MOST / entry->local[d];
        uint64_t need = (points - 1) / entry->local[d] + 1;
        need = need < most ? need : most;
        n[d] = need < ctx->limits.groups[d] ? (uint32_t)need : ctx->limits.groups[d];
    }
    if (vk_is_software(ctx->physical)) {
        count_on_cpu(l, n);
    }
}

static void dispatch(const launch *l, VkCommandBuffer cmd, VkDescriptorSet set,
                     const unsigned char *push)
{
    const vk_context *ctx = l->ctx;
    const vk_entry *entry = l->entry;
    vk_pipelines *p = ctx->pipelines;
    if (p->bound != l->pipeline || p->command != cmd || p->batch != l->module->last) {
        ctx->api.CmdBindPipeline(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, l->pipeline);
        p->bound = l->pipeline;
        p->command = cmd;
        p->batch = l->module->last;
    }
    if (set != VK_NULL_HANDLE) {
        ctx->api.CmdBindDescriptorSets(cmd, VK_PIPELINE_BIND_POINT_COMPUTE, entry->layout,
                                       0, 1, &set, 0, NULL);
    }
    if (entry->pushed || set == VK_NULL_HANDLE) {
        ctx->api.CmdPushConstants(cmd, entry->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                  entry->push_size, push);
    }
    uint32_t n[3];
    count_groups(l, n);
    ctx->api.CmdDispatch(cmd, n[0], n[1], n[2]);
}

static rubus_status run_piece(const launch *l)
{
    vk_context *ctx = l->ctx;
    vk_entry *entry = l->entry;
    unsigned char push[RUBUS_GLSL_PUSH];
    rubus_status st = make_arguments(l, push);
    if (st != RUBUS_OK) {
        return st;
    }
    for (uint32_t b = 0; b < entry->nbuffer; b++) {
        vk_access *access = &entry->access[b];
        access->buffer = l->info->buffer[b];
        access->first = l->info->first_byte[b];
        access->nbyte = l->info->nbyte[b];
    }
    VkDescriptorSet set = VK_NULL_HANDLE;
    if (ctx->be->descriptors) {
        st = vk_set_make(ctx, entry, &set);
    }
    VkCommandBuffer cmd = VK_NULL_HANDLE;
    if (st == RUBUS_OK) {
        st = vk_queue_command(ctx, entry->label, entry->access, entry->nbuffer, l->cost,
                              &cmd);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    l->module->last = vk_queue_value(ctx);
    dispatch(l, cmd, set, push);
    return vk_queue_commit(ctx);
}

/* Runs the box, in pieces along its slowest dimensions if it is very large. */
static rubus_status run(launch *l)
{
    int cut = 0;
    for (int d = 0; d < 3; d++) {
        cut = l->hi[d] - l->lo[d] > 1 ? d : cut;
    }
    l->cost = product(box_points(l), l->entry->point_cost);
    const int64_t lo = l->lo[cut];
    const int64_t hi = l->hi[cut];
    const uint64_t n = (uint64_t)(hi - lo);
    uint64_t pieces = l->cost <= DISPATCH_MOST ? 1 : l->cost / DISPATCH_MOST + 1;
    if (vk_is_software(l->ctx->physical)) {
        const uint64_t least = pieces_on_cpu(l);
        pieces = pieces > least ? pieces : least;
    }
    if (pieces <= 1 || n <= 1) {
        return run_piece(l);
    }
    pieces = pieces < n ? pieces : n;
    const int64_t step = (int64_t)((n - 1) / pieces + 1);
    rubus_status st = RUBUS_OK;
    for (int64_t at = lo; at < hi && st == RUBUS_OK; at += step) {
        l->lo[cut] = at;
        l->hi[cut] = hi - at < step ? hi : at + step;
        st = run(l);
    }
    l->lo[cut] = lo;
    l->hi[cut] = hi;
    return st;
}

static rubus_status check_launch(const vk_context *ctx, const vk_module *module,
                                 const rubus_launch_info *info)
{
    const rubus_host *host = ctx->host;
    if (info->entry >= module->nentry) {
        return host->fail(host->ctx, RUBUS_EINVAL,
                          "launch: entry %u of a module that has %u",
                          (unsigned)info->entry, (unsigned)module->nentry);
    }
    if (info->nbuffer != module->entry[info->entry].nbuffer) {
        return host->fail(host->ctx, RUBUS_EINVAL,
                          "launch: %u buffers given to %s, which takes %u",
                          (unsigned)info->nbuffer, module->entry[info->entry].label,
                          (unsigned)module->entry[info->entry].nbuffer);
    }
    return RUBUS_OK;
}

rubus_status vk_launch(void *context, void *pointer, const rubus_launch_info *info)
{
    vk_context *ctx = context;
    vk_module *module = pointer;
    rubus_status st = vk_usable(ctx);
    if (st == RUBUS_OK) {
        st = check_launch(ctx, module, info);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    launch l = {
        .ctx = ctx, .module = module, .entry = &module->entry[info->entry], .info = info};
    for (int d = 0; d < 3; d++) {
        if (info->hi[d] <= info->lo[d]) {
            return RUBUS_OK;
        }
        l.lo[d] = info->lo[d];
        l.hi[d] = info->hi[d];
    }
    st = choose_pipeline(&l);
    return st == RUBUS_OK ? run(&l) : st;
}
