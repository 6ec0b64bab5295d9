/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_VK_RANGE_H
#define RUBUS_VK_RANGE_H
/*
 * Which bytes of a block of memory are free: a two-level segregated fit. Taking and
 * giving back cost the same however many pieces there are; neighbours that are both free
 * are one.
 * Knows nothing of Vulkan.
 */
#include <stdbool.h>
#include <stdint.h>

#include <rubus/backend.h>

typedef struct vk_ranges vk_ranges;

/* Of [0, nbyte), in steps of `granule` (a power of two): each piece begins at a multiple
 * and has a multiple's length, so no two pieces share one. nbyte is rounded down. */
rubus_status vk_ranges_create(const rubus_host *host, uint64_t nbyte, uint32_t granule,
                              vk_ranges **out_ranges);
void vk_ranges_destroy(vk_ranges *ranges);
/* False if no place is large enough; *out_st is RUBUS_ENOMEM if host memory ran out.
 * align: a power of two. The piece is told by its first byte from then on. */
bool vk_ranges_take(vk_ranges *ranges, uint64_t nbyte, uint64_t align,
                    uint64_t *out_first, void **out_piece, rubus_status *out_st);
void vk_ranges_give(vk_ranges *ranges, void *piece);
bool vk_ranges_empty(const vk_ranges *ranges);
uint64_t vk_ranges_free(const vk_ranges *ranges);    /* bytes, in all */
uint64_t vk_ranges_largest(const vk_ranges *ranges); /* bytes in one piece, at least */
/* For tests: whether the structure is sound. */
bool vk_ranges_sound(const vk_ranges *ranges);

#endif
