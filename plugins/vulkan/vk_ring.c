/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upload memory: up to four chunks of 16 MiB, mapped for life. Pieces are cut from the
 * current chunk; a chunk is used again when the batch of its last piece is done. A piece
 * is taken before its command begins and belongs to the batch of that command. The device
 * only reads here and the host writes before the submit, so no barriers are needed.
 *
 * Beside it, memory for the way back: one small buffer and two large ones, of which the
 * host reads one while the device writes the other.
 */
#include "config.h"

#include "plugins/vulkan/vk_stream.h"

#include <inttypes.h>
#include <stddef.h>

typedef struct chunk {
    vk_buffer *buffer; /* NULL: not made yet */
    uint64_t head;     /* bytes in use */
    uint64_t sent;     /* bytes whose contents the device may see */
    uint64_t value;    /* of the last batch that reads it */
    bool open;         /* pieces of a command that is not recorded yet */
} chunk;

struct vk_ring {
    chunk chunk[VK_CHUNKS]; /* the first `n` exist */
    uint32_t n;
    uint32_t at;
    bool open; /* some chunk is */
    vk_buffer *stage[3];
};

rubus_status vk_ring_init(vk_context *ctx)
{
    struct vk_ring *ring = vk_new(ctx->host, sizeof *ring);
    if (ring == NULL) {
        return RUBUS_ENOMEM;
    }
    ctx->ring = ring;
    return RUBUS_OK;
}

void vk_ring_fini(vk_context *ctx)
{
    struct vk_ring *ring = ctx->ring;
    if (ring == NULL) {
        return;
    }
    for (uint32_t i = 0; i < ring->n; i++) {
        vk_buffer_free(ctx, ring->chunk[i].buffer);
    }
    for (uint32_t i = 0; i < 3; i++) {
        if (ring->stage[i] != NULL) {
            vk_buffer_free(ctx, ring->stage[i]);
        }
    }
    ctx->host->free(ctx->host->ctx, ring);
    ctx->ring = NULL;
}

/* --- upload --------------------------------------------------------------------- */

/* Makes `at` a chunk with nothing in it: the oldest if the device is done with it, else a
 * new one, else the oldest after waiting. */
static rubus_status next_chunk(vk_context *ctx, struct vk_ring *ring)
{
    uint32_t oldest = ring->n == 0 ? 0 : (ring->at + 1) % ring->n;
    chunk *c = &ring->chunk[oldest];
    rubus_status st = vk_queue_poll(ctx);
    if (st != RUBUS_OK) {
        return st;
    }
    bool ready = ring->n > 0 && !c->open && c->value <= ctx->stream->done;
    if (!ready && ring->n < VK_CHUNKS) {
        vk_buffer *buffer = NULL;
        st = vk_buffer_make(ctx, VK_CHUNK, VK_FOR_UPLOAD, &buffer);
        if (st == RUBUS_OK) {
            ring->at = ring->n++;
            ring->chunk[ring->at] = (chunk){.buffer = buffer};
            return RUBUS_OK;
        }
        if (ring->n == 0) {
            return st;
        } // else there are some to wait for
    }
    if (c->open) {
        return ctx->host->fail(ctx->host->ctx, RUBUS_ELIMIT,
                               "one command needs more than the %" PRIu32
                               " x %u bytes of upload memory of the backend vulkan",
                               ring->n, VK_CHUNK);
    }
    st = vk_queue_wait(ctx, c->value);
    if (st == RUBUS_OK) {
        c->head = 0;
        c->sent = 0;
        ring->at = oldest;
    }
    return st;
}

rubus_status vk_ring_take(vk_context *ctx, uint64_t nbyte, uint64_t align,
                          vk_piece *out_piece)
{
    if (nbyte > VK_CHUNK) {
        return ctx->host->fail(ctx->host->ctx, RUBUS_ELIMIT,
                               "%" PRIu64 " bytes of upload memory asked in one piece; "
                               "the backend vulkan has pieces up to %u",
                               nbyte, VK_CHUNK);
    }
    struct vk_ring *ring = ctx->ring;
    align = align > 1 ? align : 1;
    chunk *c = &ring->chunk[ring->at];
    uint64_t first = (c->head + align - 1) / align * align;
    if (c->buffer == NULL || first > VK_CHUNK || nbyte > VK_CHUNK - first) {
        rubus_status st = next_chunk(ctx, ring);
        if (st != RUBUS_OK) {
            return st;
        }
        c = &ring->chunk[ring->at];
        first = 0;
    }
    c->head = first + nbyte;
    c->open = true;
    ring->open = true;
    out_piece->host = c->buffer->memory.host + first;
    out_piece->buffer = c->buffer;
    out_piece->first = first;
    out_piece->address = c->buffer->address + first;
    return RUBUS_OK;
}

void vk_ring_commit(vk_context *ctx)
{
    struct vk_ring *ring = ctx->ring;
    if (!ring->open) {
        return;
    }
    for (uint32_t i = 0; i < ring->n; i++) {
        if (ring->chunk[i].open) {
            ring->chunk[i].open = false;
            ring->chunk[i].value = ctx->stream->value;
        }
    }
    ring->open = false;
}

rubus_status vk_ring_publish(vk_context *ctx)
{
    struct vk_ring *ring = ctx->ring;
    for (uint32_t i = 0; i < ring->n; i++) {
        chunk *c = &ring->chunk[i];
        if (c->head > c->sent) {
            rubus_status st =
                vk_memory_flush(ctx, &c->buffer->memory, c->sent, c->head - c->sent);
            if (st != RUBUS_OK) {
                return st;
            }
            // Of an open piece the contents may still change.
            c->sent = c->open ? c->sent : c->head;
        }
    }
    return RUBUS_OK;
}

/* --- the way back --------------------------------------------------------------- */

rubus_status vk_ring_stage(vk_context *ctx, uint32_t which, vk_buffer **out_buffer)
{
    struct vk_ring *ring = ctx->ring;
    rubus_status st = RUBUS_OK;
    if (ring->stage[which] == NULL) {
        st = vk_buffer_make(ctx, which == 0 ? VK_STAGE_SMALL : VK_STAGE_LARGE,
                            VK_FOR_READBACK, &ring->stage[which]);
    }
    if (st == RUBUS_OK) {
        *out_buffer = ring->stage[which];
    }
    return st;
}
