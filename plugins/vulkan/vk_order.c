/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which commands need a barrier before them. For each buffer that was touched since the
 * last barrier two short lists of byte windows are kept, those read and those written. A
 * command depends on earlier ones if it writes a window that was read or written, or
 * reads one that was written.
 *
 * Memory is bounded: windows that touch are merged; in a full list the two that lie
 * nearest become one, gap included; with more buffers than the table holds everything
 * depends on everything. Each of these only puts a barrier too many. Windows are widened
 * to words of four bytes, since fills write whole words.
 */
#include "config.h"

#include "plugins/vulkan/vk_stream.h"

#include <stddef.h>

#define WINDOWS 8
#define BUFFERS 128

typedef struct window {
    uint64_t first;
    uint64_t end;
} window;

typedef struct windows {
    uint32_t n;
    window at[WINDOWS]; /* ascending, apart from each other */
} windows;

typedef struct touched {
    const vk_buffer *buffer; /* its .order points here, if that still holds */
    windows read;
    windows write;
} touched;

struct vk_orders {
    uint32_t n;
    bool full; /* a buffer found no place: all commands depend */
    touched list[BUFFERS];
};

rubus_status vk_order_init(vk_context *ctx)
{
    ctx->orders = vk_new(ctx->host, sizeof *ctx->orders);
    if (ctx->orders == NULL) {
        return RUBUS_ENOMEM;
    }
    return RUBUS_OK;
}

void vk_order_fini(vk_context *ctx)
{
    if (ctx->orders != NULL) {
        ctx->host->free(ctx->host->ctx, ctx->orders);
        ctx->orders = NULL;
    }
}

void vk_order_reset(vk_context *ctx)
{
    ctx->orders->n = 0;
    ctx->orders->full = false;
}

/* What is known of a buffer; NULL if it was not touched. */
static touched *find(struct vk_orders *orders, const vk_buffer *buffer)
{
    touched *t = buffer->order;
    return t != NULL && t < orders->list + orders->n && t->buffer == buffer ? t : NULL;
}

static window widen(const vk_access *access)
{
    window w = {.first = access->first & ~UINT64_C(3),
                .end = (access->first + access->nbyte + 3) & ~UINT64_C(3)};
    return w;
}

static bool overlaps(const windows *list, window w)
{
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->at[i].first < w.end && w.first < list->at[i].end) {
            return true;
        }
    }
    return false;
}

bool vk_order_dependent(const vk_context *ctx, const vk_access *access, uint32_t naccess)
{
    struct vk_orders *orders = ctx->orders;
    if (orders->full) {
        return true;
    }
    for (uint32_t i = 0; i < naccess; i++) {
        const touched *t = find(orders, access[i].buffer);
        if (t == NULL || access[i].nbyte == 0) {
            continue;
        }
        window w = widen(&access[i]);
        if (overlaps(&t->write, w) ||
            ((access[i].access & RUBUS_WRITE) != 0 && overlaps(&t->read, w))) {
            return true;
        }
    }
    return false;
}

static void remove_window(windows *list, uint32_t i)
{
    memmove(list->at + i, list->at + i + 1, (list->n - i - 1) * sizeof list->at[0]);
    list->n--;
}

/* Makes one window of the two neighbours with the smallest gap. */
static void join_nearest(windows *list)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i + 1 < list->n; i++) {
        if (list->at[i + 1].first - list->at[i].end <
            list->at[best + 1].first - list->at[best].end) {
            best = i;
        }
    }
    list->at[best].end = list->at[best + 1].end;
    remove_window(list, best + 1);
}

static void add_window(windows *list, window w)
{
    uint32_t at = 0;
    while (at < list->n && list->at[at].end < w.first) {
        at++;
    }
    while (at < list->n && list->at[at].first <= w.end) { // touches: swallow it
        w.first = w.first < list->at[at].first ? w.first : list->at[at].first;
        w.end = w.end > list->at[at].end ? w.end : list->at[at].end;
        remove_window(list, at);
    }
    if (list->n == WINDOWS) {
        join_nearest(list);
        add_window(list, w); // there is room now: no deeper than this
        return;
    }
    memmove(list->at + at + 1, list->at + at, (list->n - at) * sizeof list->at[0]);
    list->at[at] = w;
    list->n++;
}

void vk_order_add(vk_context *ctx, const vk_access *access, uint32_t naccess)
{
    struct vk_orders *orders = ctx->orders;
    for (uint32_t i = 0; i < naccess; i++) {
        if (access[i].nbyte == 0) {
            continue;
        }
        touched *t = find(orders, access[i].buffer);
        if (t == NULL && orders->n == BUFFERS) {
            orders->full = true;
            return;
        }
        if (t == NULL) {
            t = &orders->list[orders->n++];
            t->buffer = access[i].buffer;
            t->read.n = 0;
            t->write.n = 0;
            access[i].buffer->order = t;
        }
        // What is both read and written conflicts with everything through its write.
        bool write = (access[i].access & RUBUS_WRITE) != 0;
        add_window(write ? &t->write : &t->read, widen(&access[i]));
    }
}
