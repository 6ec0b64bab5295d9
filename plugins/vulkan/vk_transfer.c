/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots write, read, fill and copy. All of them are exact to the byte at any offset.
 *
 * Where the host sees a buffer's memory, a write goes there at once if no pending work
 * touches the buffer, and a read comes from there (vk_memory.c shows only memory that is
 * fast to read). Otherwise bytes travel as commands of the queue: writes through the
 * command buffer itself or the upload ring, reads through readback memory, in pieces. A
 * large write to a visible buffer waits for the pending work, since that costs less than
 * moving the bytes twice.
 *
 * vkCmdFillBuffer and vkCmdUpdateBuffer know words of four bytes only; the up to three
 * bytes before and behind whole words are copied, because vkCmdCopyBuffer knows bytes.
 */
#include "config.h"

#include "plugins/vulkan/vk_stream.h"

#include <inttypes.h>
#include <string.h>

#define UPDATE_MOST (16u << 10)          /* bytes that go through the command buffer */
#define WAIT_LEAST (256u << 10)          /* from here on a visible buffer is waited for */
#define WRITE_PIECE (4u << 20)           /* of a staged write */
#define SEED_SIZE (64u << 10)            /* of a pattern that copies itself onwards */
#define MOVE_PIECE (UINT64_C(256) << 20) /* that one command fills or copies */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static rubus_status check_range(vk_context *ctx, const char *what,
                                const vk_buffer *buffer, uint64_t first, uint64_t n)
{
    if (first > buffer->nbyte || n > buffer->nbyte - first) {
        return ctx->host->fail(ctx->host->ctx, RUBUS_EINVAL,
                               "%s: bytes %" PRIu64 " to %" PRIu64
                               " asked of a buffer of %" PRIu64,
                               what, first, first + n, buffer->nbyte);
    }
    return RUBUS_OK;
}

/* One vkCmdCopyBuffer as a command of the queue. The source of an upload is not
 * announced: no command writes it. */
static rubus_status copy_piece(vk_context *ctx, const char *label, vk_buffer *dst,
                               uint64_t dst_first, vk_buffer *src, uint64_t src_first,
                               uint64_t n, bool upload)
{
    const vk_access access[2] = {
        {.buffer = dst, .first = dst_first, .nbyte = n, .access = RUBUS_WRITE},
        {.buffer = src, .first = src_first, .nbyte = n, .access = RUBUS_READ}};
    VkCommandBuffer cmd = NULL;
    rubus_status st = vk_queue_command(ctx, label, access, upload ? 1 : 2, 2 * n, &cmd);
    if (st != RUBUS_OK) {
        return st;
    }
    VkBufferCopy region = {.srcOffset = src_first, .dstOffset = dst_first, .size = n};
    ctx->api.CmdCopyBuffer(cmd, src->handle, dst->handle, 1, &region);
    return vk_queue_commit(ctx);
}

/* --- write ---------------------------------------------------------------------- */

static rubus_status write_in_place(vk_context *ctx, vk_buffer *buffer, uint64_t first,
                                   const void *src, uint64_t n)
{
    rubus_status st = vk_recorder_host(ctx, "write", buffer, first, n, RUBUS_WRITE);
    // The flush writes back whole atoms: what else is in them must be up to date.
    if (st == RUBUS_OK) {
        st = vk_memory_invalidate(ctx, &buffer->memory, first, n);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    memcpy(buffer->memory.host + first, src, n);
    return vk_memory_flush(ctx, &buffer->memory, first, n);
}

static rubus_status write_update(vk_context *ctx, vk_buffer *buffer, uint64_t first,
                                 const void *src, uint64_t n)
{
    const vk_access access = {
        .buffer = buffer, .first = first, .nbyte = n, .access = RUBUS_WRITE};
    VkCommandBuffer cmd = NULL;
    rubus_status st = vk_queue_command(ctx, "write", &access, 1, n, &cmd);
    if (st != RUBUS_OK) {
        return st;
    }
    ctx->api.CmdUpdateBuffer(cmd, buffer->handle, first, n, src);
    return vk_queue_commit(ctx);
}

static rubus_status write_staged(vk_context *ctx, vk_buffer *buffer, uint64_t first,
                                 const unsigned char *src, uint64_t n)
{
    rubus_status st = RUBUS_OK;
    for (uint64_t at = 0; at < n && st == RUBUS_OK; at += WRITE_PIECE) {
        uint64_t m = least(n - at, WRITE_PIECE);
        vk_piece piece;
        st = vk_ring_take(ctx, m, 16, &piece);
        if (st != RUBUS_OK) {
            return st;
        }
        memcpy(piece.host, src + at, m);
        st = copy_piece(ctx, "write", buffer, first + at, piece.buffer, piece.first, m,
                        true);
        if (st == RUBUS_OK && m == WRITE_PIECE) {
            st = vk_queue_flush(ctx); // the device copies while the host fills the next
        }
    }
    return st;
}

rubus_status vk_write(void *context, void *pointer, uint64_t first, const void *src,
                      uint64_t n)
{
    vk_context *ctx = context;
    vk_buffer *buffer = pointer;
    rubus_status st = vk_usable(ctx);
    if (st == RUBUS_OK) {
        st = check_range(ctx, "writing to a buffer", buffer, first, n);
    }
    if (st != RUBUS_OK || n == 0) {
        return st;
    }
    if (buffer->memory.host != NULL && ctx->stream->in_place) {
        if (n >= WAIT_LEAST) {
            st = vk_queue_wait(ctx, buffer->last);
        } else if (buffer->last > ctx->stream->done) {
            st = vk_queue_poll(ctx);
        }
        if (st != RUBUS_OK) {
            return st;
        }
        if (buffer->last <= ctx->stream->done) {
            return write_in_place(ctx, buffer, first, src, n);
        }
    }
    if (n <= UPDATE_MOST && first % 4 == 0 && n % 4 == 0) {
        return write_update(ctx, buffer, first, src, n);
    }
    return write_staged(ctx, buffer, first, src, n);
}

/* --- read ----------------------------------------------------------------------- */

static rubus_status read_in_place(vk_context *ctx, const vk_buffer *buffer,
                                  uint64_t first, void *dst, uint64_t n)
{
    rubus_status st = vk_queue_wait(ctx, buffer->last);
    if (st == RUBUS_OK) {
        st = vk_recorder_host(ctx, "read", buffer, first, n, RUBUS_READ);
    }
    if (st == RUBUS_OK) {
        st = vk_memory_invalidate(ctx, &buffer->memory, first, n);
    }
    if (st == RUBUS_OK) {
        memcpy(dst, buffer->memory.host + first, n);
    }
    return st;
}

typedef struct read_piece { /* on its way to the host */
    vk_buffer *stage;
    uint64_t value;
    unsigned char *dst;
    uint64_t n; /* 0: nothing */
} read_piece;

static rubus_status land(vk_context *ctx, read_piece *piece)
{
    if (piece->n == 0) {
        return RUBUS_OK;
    }
    rubus_status st = vk_queue_wait(ctx, piece->value);
    if (st == RUBUS_OK) {
        st = vk_recorder_host(ctx, "read", piece->stage, 0, piece->n, RUBUS_READ);
    }
    if (st == RUBUS_OK) {
        st = vk_memory_invalidate(ctx, &piece->stage->memory, 0, piece->n);
    }
    if (st == RUBUS_OK) {
        memcpy(piece->dst, piece->stage->memory.host, piece->n);
    }
    piece->n = 0;
    return st;
}

/* The device copies one piece while the host takes the one before it. */
static rubus_status read_staged(vk_context *ctx, vk_buffer *buffer, uint64_t first,
                                unsigned char *dst, uint64_t n)
{
    read_piece piece[2] = {{.n = 0}, {.n = 0}};
    uint32_t which = n <= VK_STAGE_SMALL ? 0 : 1;
    uint32_t turn = 0;
    for (uint64_t at = 0; at < n; at += VK_STAGE_LARGE) {
        uint64_t m = least(n - at, VK_STAGE_LARGE);
        read_piece *p = &piece[turn];
        rubus_status st = land(ctx, p);
        if (st == RUBUS_OK) {
            st = vk_ring_stage(ctx, which + turn, &p->stage);
        }
        if (st == RUBUS_OK) {
            st = copy_piece(ctx, "read", p->stage, 0, buffer, first + at, m, false);
        }
        if (st == RUBUS_OK) {
            st = vk_queue_flush(ctx);
        }
        if (st != RUBUS_OK) {
            return st;
        }
        p->value = p->stage->last;
        p->dst = dst + at;
        p->n = m;
        turn = 1 - turn;
    }
    rubus_status st = land(ctx, &piece[turn]);
    return st == RUBUS_OK ? land(ctx, &piece[1 - turn]) : st;
}

rubus_status vk_read(void *context, const void *pointer, uint64_t first, void *dst,
                     uint64_t n)
{
    vk_context *ctx = context;
    // The contents stay as they are; that they are read is noted in the buffer.
    vk_buffer *buffer = (vk_buffer *)(uintptr_t)pointer;
    rubus_status st = vk_usable(ctx);
    if (st == RUBUS_OK) {
        st = check_range(ctx, "reading a buffer", buffer, first, n);
    }
    if (st != RUBUS_OK || n == 0) {
        return st;
    }
    const vk_memory *memory = &buffer->memory;
    if (memory->host != NULL && ctx->stream->in_place) {
        return read_in_place(ctx, buffer, first, dst, n);
    }
    return read_staged(ctx, buffer, first, dst, n);
}

/* --- copy ----------------------------------------------------------------------- */

static rubus_status copy_pieces(vk_context *ctx, const char *label, vk_buffer *dst,
                                uint64_t dst_first, vk_buffer *src, uint64_t src_first,
                                uint64_t n)
{
    rubus_status st = RUBUS_OK;
    for (uint64_t at = 0; at < n && st == RUBUS_OK; at += MOVE_PIECE) {
        st = copy_piece(ctx, label, dst, dst_first + at, src, src_first + at,
                        least(n - at, MOVE_PIECE), false);
    }
    return st;
}

rubus_status vk_copy(void *context, void *dst_pointer, uint64_t dst_first,
                     const void *src_pointer, uint64_t src_first, uint64_t n)
{
    vk_context *ctx = context;
    vk_buffer *dst = dst_pointer;
    vk_buffer *src = (vk_buffer *)(uintptr_t)src_pointer;
    rubus_status st = vk_usable(ctx);
    if (st == RUBUS_OK) {
        st = check_range(ctx, "copying to a buffer", dst, dst_first, n);
    }
    if (st == RUBUS_OK) {
        st = check_range(ctx, "copying from a buffer", src, src_first, n);
    }
    if (st != RUBUS_OK || n == 0) {
        return st;
    }
    if (dst == src && dst_first < src_first + n && src_first < dst_first + n) {
        return ctx->host->fail(ctx->host->ctx, RUBUS_EALIAS,
                               "copying bytes %" PRIu64 " to %" PRIu64
                               " of a buffer to byte %" PRIu64
                               " of the same: the ranges overlap",
                               src_first, src_first + n, dst_first);
    }
    return copy_pieces(ctx, "copy", dst, dst_first, src, src_first, n);
}

/* --- fill ----------------------------------------------------------------------- */

/* Whole words. */
static rubus_status fill_words(vk_context *ctx, vk_buffer *buffer, uint64_t first,
                               uint64_t n, uint32_t word)
{
    rubus_status st = RUBUS_OK;
    for (uint64_t at = 0; at < n && st == RUBUS_OK; at += MOVE_PIECE) {
        uint64_t m = least(n - at, MOVE_PIECE);
        const vk_access access = {
            .buffer = buffer, .first = first + at, .nbyte = m, .access = RUBUS_WRITE};
        VkCommandBuffer cmd = NULL;
        st = vk_queue_command(ctx, "fill", &access, 1, m, &cmd);
        if (st == RUBUS_OK) {
            ctx->api.CmdFillBuffer(cmd, buffer->handle, first + at, m, word);
            st = vk_queue_commit(ctx);
        }
    }
    return st;
}

/* Bytes from the ring, at most SEED_SIZE. The pattern begins anew at `first`. */
static rubus_status fill_bytes(vk_context *ctx, vk_buffer *buffer, uint64_t first,
                               uint64_t n, const unsigned char tile[16])
{
    vk_piece piece;
    rubus_status st = vk_ring_take(ctx, n + 16, 16, &piece);
    if (st != RUBUS_OK) {
        return st;
    }
    for (uint64_t at = 0; at < n; at += 16) {
        memcpy(piece.host + at, tile, 16);
    }
    return copy_piece(ctx, "fill", buffer, first, piece.buffer, piece.first, n, true);
}

/* Whole words of one value, and single bytes around them. */
static rubus_status fill_uniform(vk_context *ctx, vk_buffer *buffer, uint64_t first,
                                 uint64_t n, const unsigned char tile[16])
{
    uint64_t end = first + n;
    uint64_t begin = (first + 3) & ~UINT64_C(3);
    // Behind the last byte of the buffer lies nothing that is ours or others'.
    uint64_t stop = end == buffer->nbyte ? buffer->room : end & ~UINT64_C(3);
    uint32_t word;
    memcpy(&word, tile, sizeof word);
    rubus_status st = RUBUS_OK;
    if (begin >= stop) {
        return fill_bytes(ctx, buffer, first, n, tile);
    }
    if (begin > first) {
        st = fill_bytes(ctx, buffer, first, begin - first, tile);
    }
    if (st == RUBUS_OK) {
        st = fill_words(ctx, buffer, begin, stop - begin, word);
    }
    if (st == RUBUS_OK && end > stop) {
        st = fill_bytes(ctx, buffer, stop, end - stop, tile);
    }
    return st;
}

/* A seed from the ring that doubles itself inside the buffer; each copy reads what the
 * one before wrote, so the queue puts barriers between them. */
static rubus_status fill_doubling(vk_context *ctx, vk_buffer *buffer, uint64_t first,
                                  uint64_t n, const unsigned char tile[16])
{
    uint64_t done = least(n, SEED_SIZE);
    rubus_status st = fill_bytes(ctx, buffer, first, done, tile);
    while (st == RUBUS_OK && done < n) {
        uint64_t m = least(least(done, n - done), MOVE_PIECE);
        st = copy_piece(ctx, "fill", buffer, first + done, buffer, first, m, false);
        done += m;
    }
    return st;
}

rubus_status vk_fill(void *context, void *pointer, uint64_t first, uint64_t n,
                     const void *pattern, uint32_t pattern_size)
{
    vk_context *ctx = context;
    vk_buffer *buffer = pointer;
    rubus_status st = vk_usable(ctx);
    if (st == RUBUS_OK) {
        st = check_range(ctx, "filling a buffer", buffer, first, n);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    if (pattern_size == 0 || pattern_size > 16 ||
        (pattern_size & (pattern_size - 1)) != 0 || first % pattern_size != 0 ||
        n % pattern_size != 0) {
        return ctx->host->fail(ctx->host->ctx, RUBUS_EINVAL,
                               "filling a buffer: a pattern of %" PRIu32
                               " bytes does not fit bytes %" PRIu64 " to %" PRIu64,
                               pattern_size, first, first + n);
    }
    if (n == 0) {
        return RUBUS_OK;
    }
    // All pieces of the range begin at multiples of the pattern, and so with its begin.
    unsigned char tile[16];
    for (uint32_t i = 0; i < sizeof tile; i += pattern_size) {
        memcpy(tile + i, pattern, pattern_size);
    }
    bool uniform = memcmp(tile, tile + 4, sizeof tile - 4) == 0;
    return uniform ? fill_uniform(ctx, buffer, first, n, tile)
                   : fill_doubling(ctx, buffer, first, n, tile);
}
