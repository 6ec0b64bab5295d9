/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Free space of a block, as pieces in address order, each free or taken. Free pieces also
 * hang in one of many lists by size: a list for each power of two and each sixteenth of
 * it. Bit masks find a list whose every piece is large enough, so nothing is searched.
 * Sizes count in granules.
 */
#include "config.h"

#include "plugins/vulkan/vk_range.h"

#include <stddef.h>
#include <string.h>

#define FINE_BITS 4u
#define FINE (1u << FINE_BITS)
#define COARSE 60u

typedef struct piece {
    struct piece *before; /* neighbours in the block */
    struct piece *after;
    struct piece *previous; /* in the list of its size, while free */
    struct piece *next;
    uint64_t first; /* granules */
    uint64_t n;
    bool free;
} piece;

struct vk_ranges {
    const rubus_host *host;
    uint32_t shift; /* of the granule */
    uint64_t free;  /* granules */
    uint64_t n;
    piece *head; /* the first in the block */
    uint64_t coarse;
    uint32_t fine[COARSE];
    piece *list[COARSE][FINE];
};

static unsigned int log2_floor(uint64_t n)
{
    return 63u - (unsigned int)__builtin_clzll(n);
}

/* The list of a piece of n granules: pieces of a list differ by less than a sixteenth. */
static void list_of(uint64_t n, unsigned int *coarse, unsigned int *fine)
{
    unsigned int high = log2_floor(n);
    if (high < FINE_BITS) {
        *coarse = 0;
        *fine = (unsigned int)n;
        return;
    }
    *coarse = high - FINE_BITS + 1;
    *fine = (unsigned int)(n >> (high - FINE_BITS)) & (FINE - 1);
}

static void list_add(vk_ranges *r, piece *p)
{
    unsigned int coarse;
    unsigned int fine;
    list_of(p->n, &coarse, &fine);
    piece *head = r->list[coarse][fine];
    p->free = true;
    p->previous = NULL;
    p->next = head;
    if (head != NULL) {
        head->previous = p;
    }
    r->list[coarse][fine] = p;
    r->fine[coarse] |= 1u << fine;
    r->coarse |= UINT64_C(1) << coarse;
    r->free += p->n;
}

static void list_remove(vk_ranges *r, piece *p)
{
    unsigned int coarse;
    unsigned int fine;
    list_of(p->n, &coarse, &fine);
    if (p->previous != NULL) {
        p->previous->next = p->next;
    } else {
        r->list[coarse][fine] = p->next;
    }
    if (p->next != NULL) {
        p->next->previous = p->previous;
    }
    if (r->list[coarse][fine] == NULL) {
        r->fine[coarse] &= ~(1u << fine);
        if (r->fine[coarse] == 0) {
            r->coarse &= ~(UINT64_C(1) << coarse);
        }
    }
    p->free = false;
    r->free -= p->n;
}

/* A free piece of at least n granules: the first of the list of n if it fits, else one of
 * the next list that has any. */
static piece *find(const vk_ranges *r, uint64_t n)
{
    unsigned int coarse;
    unsigned int fine;
    list_of(n, &coarse, &fine);
    piece *own = r->list[coarse][fine];
    if (own != NULL && own->n >= n) {
        return own;
    }
    uint32_t fines = fine + 1 < FINE ? r->fine[coarse] & (~0u << (fine + 1)) : 0;
    if (fines == 0) {
        uint64_t coarses = r->coarse & (~UINT64_C(0) << (coarse + 1));
        if (coarses == 0) {
            // Only the list of n itself may still have one, behind its first.
            while (own != NULL && own->n < n) {
                own = own->next;
            }
            return own;
        }
        coarse = (unsigned int)__builtin_ctzll(coarses);
        fines = r->fine[coarse];
    }
    return r->list[coarse][__builtin_ctz(fines)];
}

static piece *make_piece(vk_ranges *r, uint64_t first, uint64_t n)
{
    const rubus_host *host = r->host;
    piece *p = host->alloc(host->ctx, sizeof *p, _Alignof(max_align_t));
    if (p != NULL) {
        memset(p, 0, sizeof *p);
        p->first = first;
        p->n = n;
    }
    return p;
}

rubus_status vk_ranges_create(const rubus_host *host, uint64_t nbyte, uint32_t granule,
                              vk_ranges **out_ranges)
{
    vk_ranges *r = host->alloc(host->ctx, sizeof *r, _Alignof(max_align_t));
    if (r == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(r, 0, sizeof *r);
    r->host = host;
    r->shift = log2_floor(granule);
    r->n = nbyte >> r->shift;
    if (r->n > 0) {
        r->head = make_piece(r, 0, r->n);
        if (r->head == NULL) {
            host->free(host->ctx, r);
            return RUBUS_ENOMEM;
        }
        list_add(r, r->head);
    }
    *out_ranges = r;
    return RUBUS_OK;
}

void vk_ranges_destroy(vk_ranges *r)
{
    if (r == NULL) {
        return;
    }
    const rubus_host *host = r->host;
    for (piece *p = r->head; p != NULL;) {
        piece *after = p->after;
        host->free(host->ctx, p);
        p = after;
    }
    host->free(host->ctx, r);
}

static void link_after(piece *p, piece *fresh)
{
    fresh->before = p;
    fresh->after = p->after;
    if (p->after != NULL) {
        p->after->before = fresh;
    }
    p->after = fresh;
}

static void piece_remove(vk_ranges *r, piece *p)
{
    if (p->before != NULL) {
        p->before->after = p->after;
    } else {
        r->head = p->after;
    }
    if (p->after != NULL) {
        p->after->before = p->before;
    }
    r->host->free(r->host->ctx, p);
}

bool vk_ranges_take(vk_ranges *r, uint64_t nbyte, uint64_t align, uint64_t *out_first,
                    void **out_piece, rubus_status *out_st)
{
    const uint64_t granule = UINT64_C(1) << r->shift;
    *out_st = RUBUS_OK;
    if (nbyte == 0 || nbyte > r->n << r->shift) {
        return false;
    }
    const uint64_t n = (nbyte + granule - 1) >> r->shift;
    const uint64_t step = align > granule ? align >> r->shift : 1;
    piece *p = step > r->n ? NULL : find(r, n + step - 1);
    if (p == NULL) {
        return false;
    }
    const uint64_t lead = (step - p->first % step) % step;
    piece *front = NULL;
    piece *back = NULL;
    if (lead > 0) {
        front = make_piece(r, p->first, lead);
    }
    if (p->n - lead > n) {
        back = make_piece(r, p->first + lead + n, p->n - lead - n);
    }
    if ((lead > 0 && front == NULL) || (p->n - lead > n && back == NULL)) {
        if (front != NULL) {
            r->host->free(r->host->ctx, front);
        }
        if (back != NULL) {
            r->host->free(r->host->ctx, back);
        }
        *out_st = RUBUS_ENOMEM;
        return false;
    }
    list_remove(r, p);
    if (front != NULL) {
        front->before = p->before;
        front->after = p;
        if (p->before != NULL) {
            p->before->after = front;
        } else {
            r->head = front;
        }
        p->before = front;
        list_add(r, front);
    }
    if (back != NULL) {
        link_after(p, back);
        list_add(r, back);
    }
    p->first += lead;
    p->n = n;
    *out_first = p->first << r->shift;
    *out_piece = p;
    return true;
}

void vk_ranges_give(vk_ranges *r, void *pointer)
{
    piece *p = pointer;
    piece *before = p->before;
    piece *after = p->after;
    if (before != NULL && before->free) {
        list_remove(r, before);
        p->first = before->first;
        p->n += before->n;
        piece_remove(r, before);
    }
    if (after != NULL && after->free) {
        list_remove(r, after);
        p->n += after->n;
        piece_remove(r, after);
    }
    list_add(r, p);
}

bool vk_ranges_empty(const vk_ranges *r)
{
    return r->free == r->n;
}

uint64_t vk_ranges_free(const vk_ranges *r)
{
    return r->free << r->shift;
}

uint64_t vk_ranges_largest(const vk_ranges *r)
{
    if (r->coarse == 0) {
        return 0;
    }
    unsigned int coarse = log2_floor(r->coarse);
    unsigned int fine = log2_floor(r->fine[coarse]);
    return r->list[coarse][fine]->n << r->shift;
}

bool vk_ranges_sound(const vk_ranges *r)
{
    uint64_t at = 0;
    uint64_t free = 0;
    bool was_free = false;
    const piece *before = NULL;
    for (const piece *p = r->head; p != NULL; p = p->after) {
        if (p->before != before || p->first != at || p->n == 0 || (was_free && p->free)) {
            return false;
        }
        at += p->n;
        free += p->free ? p->n : 0;
        was_free = p->free;
        before = p;
    }
    uint64_t listed = 0;
    for (unsigned int i = 0; i < COARSE; i++) {
        if (((r->coarse >> i) & 1) != (r->fine[i] != 0)) {
            return false;
        }
        for (unsigned int j = 0; j < FINE; j++) {
            if (((r->fine[i] >> j) & 1) != (r->list[i][j] != NULL)) {
                return false;
            }
            for (const piece *p = r->list[i][j]; p != NULL; p = p->next) {
                unsigned int coarse;
                unsigned int fine;
                list_of(p->n, &coarse, &fine);
                if (!p->free || coarse != i || fine != j) {
                    return false;
                }
                listed += p->n;
            }
        }
    }
    return at == r->n && free == r->free && listed == r->free;
}
