/* SPDX-License-Identifier: Apache-2.0 */
/* Checks B of the host's side of transfers, straight through the table. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "conform_direct.h"

static void *buffer_of(const conform_direct *d, uint64_t nbyte)
{
    void *buffer = NULL;
    conform_slot_ok(d->ops.buffer_create(d->ctx, nbyte, &buffer));
    return buffer;
}

/* Bytes without a period. */
static void scramble(unsigned char *data, size_t n, uint64_t salt)
{
    conform_dice dice = {conform_seed() + salt};
    size_t at = 0;
    while (at < n) {
        const uint64_t word = conform_roll(&dice);
        const size_t part = n - at < sizeof word ? n - at : sizeof word;
        memcpy(data + at, &word, part);
        at += part;
    }
}

static void want_bytes(const unsigned char *got, const unsigned char *want, size_t n,
                       const char *what)
{
    if (memcmp(got, want, n) != 0) {
        size_t at = 0;
        while (got[at] == want[at]) {
            at++;
        }
        conform_fail("%s: byte %zu of %zu is %u, should be %u", what, at, n, got[at],
                     want[at]);
    }
}

/* --- alignment -------------------------------------------------------------------- */

static void host_pointers_of_any_alignment(void)
{
    enum { N = 4200, SHIFTS = 17, FIRSTS = 9 };
    static const size_t lengths[] = {1,  2,  3,  7,  8,  9,    15,
                                     16, 17, 33, 63, 65, 1000, 4097};
    static unsigned char source[N + SHIFTS];
    static unsigned char target[N + SHIFTS];
    static unsigned char model[N];
    conform_direct d;
    conform_direct_start(&d);
    void *buffer = buffer_of(&d, N);
    conform_slot_ok(d.ops.write(d.ctx, buffer, 0, model, N));
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
        for (size_t shift = 0; shift < SHIFTS; shift++) {
            const size_t n = lengths[l];
            const size_t first = (shift * 7 + l) % FIRSTS;
            conform_say("%zu bytes from byte %zu, host address 64 k + %zu: ", n, first,
                        ((uintptr_t)source + shift) % 64);
            scramble(source + shift, n, l * SHIFTS + shift);
            memcpy(model + first, source + shift, n);
            conform_slot_ok(d.ops.write(d.ctx, buffer, first, source + shift, n));
            conform_slot_ok(d.ops.read(d.ctx, buffer, 0, target, N));
            want_bytes(target, model, N, "the buffer after a write");
            conform_slot_ok(d.ops.read(d.ctx, buffer, first, target + shift, n));
            want_bytes(target + shift, model + first, n, "a read");
        }
    }
    conform_say(NULL);
    d.ops.buffer_destroy(d.ctx, buffer);
    conform_direct_close(&d);
}

/* --- guard zones ------------------------------------------------------------------ */

static void host_guard_zones(void)
{
    enum { ZONE = 256, MARK = 0x5C };
    static const size_t lengths[] = {1, 5, 64, 100, 1000, 4096, 65537, 3000001};
    conform_direct d;
    conform_direct_start(&d);
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
        const size_t n = lengths[l];
        unsigned char *source = conform_memory(n + 2 * ZONE);
        unsigned char *copy = conform_memory(n + 2 * ZONE);
        unsigned char *target = conform_memory(n + 2 * ZONE);
        conform_say("%zu bytes: ", n);
        scramble(source, n + 2 * ZONE, l);
        memcpy(copy, source, n + 2 * ZONE);
        void *buffer = buffer_of(&d, n + 2 * ZONE);
        conform_slot_ok(d.ops.write(d.ctx, buffer, 0, source, n + 2 * ZONE));
        conform_slot_ok(d.ops.write(d.ctx, buffer, ZONE, source + ZONE, n));
        conform_slot_ok(d.ops.synchronize(d.ctx));
        want_bytes(source, copy, n + 2 * ZONE, "the source of a write");
        memset(target, MARK, n + 2 * ZONE);
        conform_slot_ok(d.ops.read(d.ctx, buffer, ZONE, target + ZONE, n));
        conform_slot_ok(d.ops.synchronize(d.ctx));
        memset(copy, MARK, ZONE);
        memset(copy + ZONE + n, MARK, ZONE);
        want_bytes(target, copy, n + 2 * ZONE,
                   "the destination of a read, with 256 bytes on both sides");
        d.ops.buffer_destroy(d.ctx, buffer);
        free(source);
        free(copy);
        free(target);
    }
    conform_say(NULL);
    conform_direct_close(&d);
}

/* --- long transfers --------------------------------------------------------------- */

/* Longer than what plugins stage at a time. */
static void large_transfers(void)
{
    const uint64_t cap = conform_facts_now()->caps.max_buffer;
    const size_t most = ((size_t)72 << 20) + 13;
    const size_t n = cap != 0 && cap < most ? (size_t)cap : most;
    const size_t inner = n / 3 * 2 + 1;
    conform_direct d;
    conform_direct_start(&d);
    unsigned char *model[2];
    void *buffer[2];
    for (int i = 0; i < 2; i++) {
        model[i] = conform_memory(n);
        scramble(model[i], n, (uint64_t)i + 1);
        buffer[i] = buffer_of(&d, n);
        conform_slot_ok(d.ops.write(d.ctx, buffer[i], 0, model[i], n));
    }
    unsigned char *got = conform_memory(n);
    for (int i = 0; i < 2; i++) {
        conform_slot_ok(d.ops.read(d.ctx, buffer[i], 0, got, n));
        want_bytes(got, model[i], n, "one write of all");
    }
    conform_slot_ok(d.ops.write(d.ctx, buffer[0], 7, model[1] + 3, inner));
    memcpy(model[0] + 7, model[1] + 3, inner);
    conform_slot_ok(d.ops.read(d.ctx, buffer[0], 5, got, n - 5));
    want_bytes(got, model[0] + 5, n - 5, "a write into the middle");
    for (int i = 0; i < 2; i++) {
        d.ops.buffer_destroy(d.ctx, buffer[i]);
        free(model[i]);
    }
    free(got);
    conform_direct_close(&d);
}

const conform_check conform_host_memory_checks[] = {
    {"B13_host_pointers_of_any_alignment", CONFORM_BASIC, 120, CONFORM_NEEDS_FILE,
     "writes from and reads to host memory at any address",
     host_pointers_of_any_alignment},
    {"B14_large_transfers", CONFORM_FULL, 180, CONFORM_NEEDS_FILE,
     "writes and reads of 72 MiB, more than plugins stage at a time", large_transfers},
    {"B17_host_guard_zones", CONFORM_BASIC, 120, CONFORM_NEEDS_FILE,
     "a write leaves its source alone, a read what lies beside its destination",
     host_guard_zones},
    {.name = NULL},
};
