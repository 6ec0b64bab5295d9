/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutants of buffers, transfers, fills, copies and mappings.
 */
#include "config.h"

#include "tests/plugins/mutant.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

/* --- buffers ---------------------------------------------------------------------- */

static rubus_status buffer_create(void *ctx_, uint64_t nbyte, void **out_buffer)
{
    wrap_context *ctx = ctx_;
    const uint64_t most = (uint64_t)mutant_of(ctx)->buffer_cap << 20;
    if (mutant_is(ctx, MUTANT_buffer_lies) && nbyte > most / 4) {
        return ctx->host->fail(ctx->host->ctx, RUBUS_EDEVMEM,
                               "creating a buffer: %llu bytes cannot be had",
                               (unsigned long long)nbyte);
    }
    const rubus_status st = wrap_forward.buffer_create(ctx, nbyte, out_buffer);
    if (st == RUBUS_OK) {
        return st;
    }
    if (mutant_is(ctx, MUTANT_error_leaks)) {
        (void)ctx->host->alloc(ctx->host->ctx, 100, 16);
        return ctx->host->fail(ctx->host->ctx, st, "creating a buffer: no memory");
    }
    if (mutant_is(ctx, MUTANT_alloc_lies) &&
        wrap_forward.buffer_create(ctx, 16, out_buffer) == RUBUS_OK) {
        ((wrap_buffer *)*out_buffer)->nbyte = nbyte;
        return RUBUS_OK;
    }
    return st;
}

static void buffer_destroy(void *ctx, void *buffer)
{
    free(((wrap_buffer *)buffer)->user);
    wrap_forward.buffer_destroy(ctx, buffer);
}

static rubus_status locality(void *ctx, const void *buffer, uint32_t *out_where)
{
    const rubus_status st = wrap_forward.locality(ctx, buffer, out_where);
    if (st == RUBUS_OK && mutant_is(ctx, MUTANT_locality_lies)) {
        *out_where = *out_where == RUBUS_AT_HOST ? RUBUS_AT_DEVICE : RUBUS_AT_HOST;
    }
    return st;
}

/* --- transfers -------------------------------------------------------------------- */

static bool inside(const void *buffer, uint64_t first, uint64_t n)
{
    const uint64_t nbyte = ((const wrap_buffer *)buffer)->nbyte;
    return first <= nbyte && n <= nbyte - first;
}

/* One byte more than asked, where there is one. */
static rubus_status write_one_more(void *ctx, void *buffer, uint64_t first,
                                   const void *src, uint64_t n)
{
    const rubus_status st = wrap_forward.write(ctx, buffer, first, src, n);
    const unsigned char zero = 0;
    if (st != RUBUS_OK || !inside(buffer, first, n + 1)) {
        return st;
    }
    return wrap_forward.write(ctx, buffer, first + n, &zero, 1);
}

/* Stages 16 MiB, and takes what is longer from the start again. */
static rubus_status write_wrapping(void *ctx, void *buffer, uint64_t first,
                                   const void *src, uint64_t n)
{
    const uint64_t stage = UINT64_C(16) << 20;
    rubus_status st = RUBUS_OK;
    for (uint64_t done = 0; done < n && st == RUBUS_OK; done += stage) {
        const uint64_t part = n - done < stage ? n - done : stage;
        st = wrap_forward.write(ctx, buffer, first + done, src, part);
    }
    return st;
}

/* Zeroes its source behind it. */
static rubus_status write_spoiling(void *ctx, void *buffer, uint64_t first,
                                   const void *src, uint64_t n)
{
    const rubus_status st = wrap_forward.write(ctx, buffer, first, src, n);
    void *source = NULL;
    memcpy(&source, &src, sizeof source);
    if (st == RUBUS_OK && n > LINE) {
        memset(source, 0, n);
    }
    return st;
}

static rubus_status write_bytes(void *ctx, void *buffer, uint64_t first, const void *src,
                                uint64_t n)
{
    switch (mutant_of(ctx)->mutant) {
    case MUTANT_write_past:
        return write_one_more(ctx, buffer, first, src, n);
    case MUTANT_write_rounds:
        src = (const unsigned char *)src - (uintptr_t)src % 4;
        break;
    case MUTANT_write_spoils:
        return write_spoiling(ctx, buffer, first, src, n);
    case MUTANT_write_wraps:
        return write_wrapping(ctx, buffer, first, src, n);
    case MUTANT_write_short:
        n -= n > LINE && n % 2 == 1 && inside(buffer, first, n) ? 1 : 0;
        break;
    case MUTANT_write_at_zero:
        first = inside(buffer, first, n) ? 0 : first;
        break;
    default:
        break;
    }
    return wrap_forward.write(ctx, buffer, first, src, n);
}

static rubus_status read_bytes(void *ctx, const void *buffer, uint64_t first, void *dst,
                               uint64_t n)
{
    if (mutant_is(ctx, MUTANT_read_at_zero) && inside(buffer, first, n)) {
        first = 0;
    }
    const rubus_status st = wrap_forward.read(ctx, buffer, first, dst, n);
    // small ones only: what lies behind a large range may be no memory at all
    if (st == RUBUS_OK && mutant_is(ctx, MUTANT_read_past) && n > LINE && n < 100000) {
        ((unsigned char *)dst)[n] = 0;
    }
    return st;
}

/* --- fill and copy ---------------------------------------------------------------- */

static rubus_status fill(void *ctx, void *buffer, uint64_t first, uint64_t n,
                         const void *pattern, uint32_t pattern_size)
{
    unsigned char twice[16];
    switch (mutant_of(ctx)->mutant) {
    case MUTANT_fill_tail:
        n = n > LINE && n % pattern_size == 0 ? n / LINE * LINE : n;
        break;
    case MUTANT_fill_pattern:
        if (pattern_size == 8) { // as if all patterns had four bytes
            memcpy(twice, pattern, 4);
            memcpy(twice + 4, pattern, 4);
            return wrap_forward.fill(ctx, buffer, first, n, twice, pattern_size);
        }
        break;
    default:
        break;
    }
    return wrap_forward.fill(ctx, buffer, first, n, pattern, pattern_size);
}

static rubus_status copy(void *ctx, void *dst, uint64_t dst_first, const void *src,
                         uint64_t src_first, uint64_t n)
{
    if (mutant_is(ctx, MUTANT_copy_reversed)) {
        void *to = NULL;
        memcpy(&to, &src, sizeof to);
        return wrap_forward.copy(ctx, to, src_first, dst, dst_first, n);
    }
    if (mutant_is(ctx, MUTANT_copy_at_zero) && inside(src, src_first, n)) {
        src_first = 0;
    }
    return wrap_forward.copy(ctx, dst, dst_first, src, src_first, n);
}

/* --- mappings --------------------------------------------------------------------- */

/* Both show a copy: one that is lost, or one that is never refreshed. */
static rubus_status map(void *ctx, void *buffer_, uint32_t access, void **out_host)
{
    wrap_buffer *buffer = buffer_;
    const bool drops = mutant_is(ctx, MUTANT_unmap_drops);
    const bool stale = mutant_is(ctx, MUTANT_map_stale);
    if (!drops && !stale) {
        return wrap_forward.map(ctx, buffer, access, out_host);
    }
    const bool fresh = buffer->user == NULL;
    buffer->user = fresh ? malloc(buffer->nbyte) : buffer->user;
    if (buffer->user == NULL) {
        const wrap_context *c = ctx;
        return c->host->fail(c->host->ctx, RUBUS_ENOMEM, "out of memory: a mapping");
    }
    *out_host = buffer->user;
    return drops || fresh ? wrap_forward.read(ctx, buffer, 0, buffer->user, buffer->nbyte)
                          : RUBUS_OK;
}

static rubus_status unmap(void *ctx, void *buffer_)
{
    wrap_buffer *buffer = buffer_;
    if (mutant_is(ctx, MUTANT_unmap_drops)) {
        return RUBUS_OK;
    }
    if (mutant_is(ctx, MUTANT_map_stale)) {
        return wrap_forward.write(ctx, buffer, 0, buffer->user, buffer->nbyte);
    }
    return wrap_forward.unmap(ctx, buffer);
}

const rubus_ops mutant_memory = {
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .locality = locality,
    .write = write_bytes,
    .read = read_bytes,
    .fill = fill,
    .copy = copy,
    .map = map,
    .unmap = unmap,
};
