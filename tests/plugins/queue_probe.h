/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_QUEUE_PROBE_H
#define RUBUS_TESTS_QUEUE_PROBE_H
/*
 * What the tests of the queue of the backend vulkan share, beside device_probe.h: a
 * context with validate=1, buffers, and random bytes.
 */
#include "plugins/vulkan/vk_stream.h"
#include "tests/plugins/device_probe.h"

static inline void open_queue(void)
{
    start();
    fake_set(&fake, "validate", "1");
    open_context();
}

static inline vk_buffer *make_buffer(uint64_t nbyte)
{
    void *buffer = NULL;
    OK(ops.buffer_create(ctx, nbyte, &buffer));
    return buffer;
}

/* --- random numbers, the same in each run --------------------------------------- */

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static inline uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static inline uint64_t random_below(uint64_t n)
{
    return (random_next() >> 11) % n;
}

static inline void random_bytes(unsigned char *to, uint64_t n)
{
    for (uint64_t i = 0; i < n; i += 8) {
        uint64_t word = random_next();
        memcpy(to + i, &word, n - i < 8 ? n - i : 8);
    }
}

/* The first byte that differs, for a message; n if none does. */
static inline uint64_t first_difference(const unsigned char *a, const unsigned char *b,
                                        uint64_t n)
{
    if (memcmp(a, b, n) == 0) {
        return n;
    }
    uint64_t i = 0;
    while (a[i] == b[i]) {
        i++;
    }
    return i;
}

#define SAME(a, b, n, what)                                                              \
    do {                                                                                 \
        uint64_t at_ = first_difference((a), (b), (n));                                  \
        ck_assert_msg(at_ == (n), "%s: byte %llu of %llu is %u, not %u", (what),         \
                      (unsigned long long)at_, (unsigned long long)(n),                  \
                      at_ < (n) ? (a)[at_] : 0u, at_ < (n) ? (b)[at_] : 0u);             \
    } while (0)

#endif
