/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots write, read, fill and copy of the backend vulkan against a model in host
 * memory, with the memory seen by the host and as if it were not: all offsets and sizes,
 * all patterns, transfers larger than the upload ring, the ring itself, and the trap of
 * asynchronous writes: a fill, a scatter and a copy into one buffer.
 */
#include "config.h"

#include "tests/plugins/queue_probe.h"

#define SMALL 4999u /* no multiple of 4: the last word is not whole */
#define MIB (UINT64_C(1) << 20)

typedef struct mirrored { /* a buffer and what must be in it */
    vk_buffer *buffer;
    unsigned char *model;
    uint64_t n;
} mirrored;

static mirrored make_mirrored(uint64_t n)
{
    mirrored m = {.buffer = make_buffer(n), .model = malloc(n), .n = n};
    ck_assert_ptr_nonnull(m.model);
    random_bytes(m.model, n);
    OK(ops.write(ctx, m.buffer, 0, m.model, n));
    return m;
}

static void check_mirrored(const mirrored *m, const char *what)
{
    unsigned char *got = malloc(m->n);
    ck_assert_ptr_nonnull(got);
    OK(ops.read(ctx, m->buffer, 0, got, m->n));
    SAME(got, m->model, m->n, what);
    free(got);
}

static void free_mirrored(mirrored *m)
{
    ops.buffer_destroy(ctx, m->buffer);
    free(m->model);
}

static void fill_model(mirrored *m, uint64_t first, uint64_t n,
                       const unsigned char *pattern, uint32_t size)
{
    for (uint64_t i = 0; i < n; i++) {
        m->model[first + i] = pattern[i % size];
    }
}

/* --- any offset and size -------------------------------------------------------- */

static void random_write(mirrored *m, uint64_t longest)
{
    uint64_t first = random_below(m->n);
    uint64_t n = random_below((longest < m->n - first ? longest : m->n - first) + 1);
    unsigned char *src = malloc(n + 1);
    random_bytes(src, n);
    memcpy(m->model + first, src, n);
    OK(ops.write(ctx, m->buffer, first, src, n));
    memset(src, 0xee, n); // the caller may change it after the call
    free(src);
}

static void random_fill(mirrored *m)
{
    uint32_t size = 1u << random_below(5);
    uint64_t first = random_below(m->n / size) * size;
    uint64_t n = random_below((m->n - first) / size + 1) * size;
    if (random_below(4) == 0) {
        n = (m->n - first) / size * size; // to the end
    }
    unsigned char pattern[16];
    random_bytes(pattern, sizeof pattern);
    if (random_below(3) == 0) {
        memset(pattern, 0, sizeof pattern);
    }
    fill_model(m, first, n, pattern, size);
    OK(ops.fill(ctx, m->buffer, first, n, pattern, size));
}

static void random_copy(mirrored *dst, const mirrored *src)
{
    uint64_t from = random_below(src->n);
    uint64_t to = random_below(dst->n);
    uint64_t most = src->n - from < dst->n - to ? src->n - from : dst->n - to;
    if (dst->buffer == src->buffer) {
        uint64_t apart = from < to ? to - from : from - to;
        most = apart < most ? apart : most;
    }
    uint64_t n = random_below(most + 1);
    memmove(dst->model + to, src->model + from, n);
    OK(ops.copy(ctx, dst->buffer, to, src->buffer, from, n));
}

static void random_read(const mirrored *m)
{
    unsigned char got[SMALL + 2];
    uint64_t first = random_below(m->n);
    uint64_t n = random_below((SMALL < m->n - first ? SMALL : m->n - first) + 1);
    got[n + 1] = 0x5a; // behind what is asked
    OK(ops.read(ctx, m->buffer, first, got + 1, n));
    SAME(got + 1, m->model + first, n, "random read");
    ck_assert_uint_eq(got[n + 1], 0x5a);
}

static void random_walk(uint64_t nbyte, int nstep, bool in_place)
{
    ctx->stream->in_place = in_place;
    mirrored m[2] = {make_mirrored(nbyte), make_mirrored(nbyte + 3)};
    for (int i = 0; i < nstep; i++) {
        uint64_t a = random_below(2);
        uint64_t b = random_below(2);
        switch (random_below(8)) {
        case 0:
        case 1:
            random_write(&m[a], nbyte);
            break;
        case 2:
            random_write(&m[a], 17);
            break;
        case 3:
        case 4:
            random_fill(&m[a]);
            break;
        case 5:
        case 6:
            random_copy(&m[a], &m[b]);
            break;
        default:
            random_read(&m[a]);
        }
    }
    for (int i = 0; i < 2; i++) {
        check_mirrored(&m[i], "after a random walk");
        free_mirrored(&m[i]);
    }
    OK(ops.synchronize(ctx));
}

START_TEST(transfer_random_matches_model)
{
    random_walk(SMALL, 2500, _i == 0);
    random_walk(61, 1500, _i == 0);
}
END_TEST

START_TEST(transfer_random_large_matches_model)
{
    random_walk(3 * MIB + 13, 60, _i == 0);
}
END_TEST

START_TEST(fill_every_pattern_and_offset_is_exact)
{
    static const unsigned char patterns[2][16] = {
        {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
        {7, 7, 7, 7, 7, 7, 7, 7}};
    ctx->stream->in_place = _i == 0;
    mirrored m = make_mirrored(67);
    for (int kind = 0; kind < 2; kind++) {
        for (uint32_t size = 1; size <= (kind == 0 ? 16 : 8); size *= 2) {
            for (uint64_t first = 0; first <= 24; first += size) {
                for (uint64_t n = 0; n <= 67 - first; n += size) {
                    fill_model(&m, first, n, patterns[kind], size);
                    OK(ops.fill(ctx, m.buffer, first, n, patterns[kind], size));
                    if (n % 5 == 0) {
                        check_mirrored(&m, "fill");
                    }
                }
            }
        }
    }
    check_mirrored(&m, "fill");
    free_mirrored(&m);
}
END_TEST

START_TEST(transfer_wrong_arguments_are_named)
{
    vk_buffer *b = make_buffer(100);
    unsigned char bytes[100] = {0};
    ck_assert_int_eq(ops.write(ctx, b, 90, bytes, 11), RUBUS_EINVAL);
    ck_assert_ptr_nonnull(strstr(fake.text, "bytes 90 to 101"));
    ck_assert_int_eq(ops.write(ctx, b, UINT64_MAX, bytes, 2), RUBUS_EINVAL);
    ck_assert_int_eq(ops.read(ctx, b, 101, bytes, 0), RUBUS_EINVAL);
    ck_assert_int_eq(ops.fill(ctx, b, 2, 8, bytes, 4), RUBUS_EINVAL);
    ck_assert_int_eq(ops.fill(ctx, b, 0, 9, bytes, 3), RUBUS_EINVAL);
    ck_assert_int_eq(ops.copy(ctx, b, 10, b, 0, 11), RUBUS_EALIAS);
    OK(ops.copy(ctx, b, 10, b, 0, 10));
    OK(ops.write(ctx, b, 100, bytes, 0));
    OK(ops.read(ctx, b, 100, bytes, 0));
    ops.buffer_destroy(ctx, b);
}
END_TEST

/* --- more than the ring holds --------------------------------------------------- */

START_TEST(write_beyond_ring_is_exact)
{
    ctx->stream->in_place = false;
    mirrored m = make_mirrored(100 * MIB + 3);
    check_mirrored(&m, "100 MiB");
    // Odd pieces without a wait between them, so that the ring goes round.
    for (uint64_t at = 1; at + 400000 < m.n; at += 400001) {
        random_bytes(m.model + at, 64);
        OK(ops.write(ctx, m.buffer, at, m.model + at, 399999));
    }
    check_mirrored(&m, "100 MiB in odd pieces");
    free_mirrored(&m);
}
END_TEST

START_TEST(fill_large_pattern_is_exact)
{
    mirrored m = make_mirrored(40 * MIB + 8);
    double value = 0.1;
    unsigned char pattern[8];
    memcpy(pattern, &value, sizeof value);
    fill_model(&m, 8, m.n - 8, pattern, 8);
    OK(ops.fill(ctx, m.buffer, 8, m.n - 8, pattern, 8));
    check_mirrored(&m, "40 MiB of doubles");
    free_mirrored(&m);
}
END_TEST

/* --- upload memory ------------------------------------------------------------------ */

START_TEST(ring_pieces_belong_to_their_command)
{
    // Two large pieces and a command: the ring may not give the first away while the
    // second is taken, though the device has nothing to do.
    vk_buffer *b = make_buffer(1 << 20);
    vk_piece piece[VK_CHUNKS + 1];
    for (uint32_t i = 0; i < VK_CHUNKS; i++) {
        OK(vk_ring_take(ctx, VK_CHUNK - 100, 16, &piece[i]));
        for (uint32_t k = 0; k < i; k++) {
            ck_assert_ptr_ne(piece[k].host, piece[i].host);
        }
        ck_assert_ptr_nonnull(piece[i].host);
        ck_assert_uint_eq(piece[i].address, piece[i].buffer->address + piece[i].first);
        piece[i].host[0] = (unsigned char)i;
    }
    ck_assert_int_eq(vk_ring_take(ctx, VK_CHUNK, 1, &piece[VK_CHUNKS]), RUBUS_ELIMIT);
    ck_assert_int_eq(vk_ring_take(ctx, VK_CHUNK + 1, 1, &piece[VK_CHUNKS]), RUBUS_ELIMIT);
    unsigned char byte = 3;
    OK(ops.fill(ctx, b, 0, 64, &byte, 1)); // a command: now they are its own
    OK(vk_ring_take(ctx, VK_CHUNK, 1, &piece[VK_CHUNKS]));
    ck_assert_uint_ge(ctx->stream->done, b->last);
    ops.buffer_destroy(ctx, b);
}
END_TEST

START_TEST(ring_aligns_its_pieces)
{
    vk_piece piece;
    for (uint64_t align = 1; align <= 4096; align *= 2) {
        OK(vk_ring_take(ctx, 5, align, &piece));
        ck_assert_uint_eq(piece.first % align, 0);
        OK(vk_ring_take(ctx, 3, 1, &piece));
    }
}
END_TEST

static uint64_t flushed_first;
static uint64_t flushed_end;

static VkResult note_flush(VkDevice device, uint32_t n, const VkMappedMemoryRange *range)
{
    (void)device, (void)n;
    flushed_first = range->offset;
    flushed_end = range->offset + range->size;
    return VK_SUCCESS;
}

/* Memory that is not coherent: what the host writes is flushed before the submit of its
 * command, also if another submit came between taking the piece and writing to it. */
START_TEST(ring_flushes_what_is_not_coherent)
{
    vk_buffer *b = make_buffer(64);
    unsigned char byte = 3;
    vk_piece piece;
    OK(vk_ring_take(ctx, 16, 16, &piece));
    OK(ops.fill(ctx, b, 0, 64, &byte, 1));
    piece.buffer->memory.coherent = false;
    ctx->api.FlushMappedMemoryRanges = note_flush;
    OK(vk_queue_flush(ctx));
    OK(ops.fill(ctx, b, 0, 64, &byte, 1));
    OK(vk_ring_take(ctx, 1000, 16, &piece));
    const uint64_t first = piece.buffer->memory.first + piece.first;
    OK(vk_queue_flush(ctx)); // of the fill; the piece is not written yet
    flushed_first = flushed_end = 0;
    OK(ops.fill(ctx, b, 0, 64, &byte, 1)); // the command of the piece
    OK(ops.synchronize(ctx));
    ck_assert_uint_le(flushed_first, first);
    ck_assert_uint_ge(flushed_end, first + 1000);
    piece.buffer->memory.coherent = true;
    ops.buffer_destroy(ctx, b);
}
END_TEST

/* Fails the n-th and all later allocations of the host, for each n: the call fails with
 * RUBUS_ENOMEM or works, and everything works again afterwards. */
START_TEST(transfer_without_host_memory_fails_cleanly)
{
    unsigned char bytes[300];
    unsigned char got[300];
    for (int64_t n = 1; n < 12; n++) {
        vk_buffer *b = make_buffer(300);
        ctx->stream->in_place = false;
        memset(bytes, (int)n, sizeof bytes);
        fake.fail_at = fake.count + n;
        rubus_status st = ops.write(ctx, b, 1, bytes, 299);
        ck_assert(st == RUBUS_OK || st == RUBUS_ENOMEM);
        st = ops.read(ctx, b, 0, got, 300);
        ck_assert(st == RUBUS_OK || st == RUBUS_ENOMEM);
        fake.fail_at = 0;
        OK(ops.write(ctx, b, 0, bytes, 300));
        OK(ops.read(ctx, b, 0, got, 300));
        SAME(got, bytes, sizeof got, "after a failure");
        vk_ring_fini(ctx);
        OK(vk_ring_init(ctx));
        ops.buffer_destroy(ctx, b);
    }
}
END_TEST

/* --- the trap ------------------------------------------------------------------- */

/* A fill of the values, a scatter of pieces into them and a copy of all over them: three
 * writers of one buffer, and nobody waits before the end. */
static void trap_round(mirrored *value, mirrored *piece, mirrored *whole, uint64_t round)
{
    unsigned char zero[8] = {(unsigned char)round};
    OK(ops.fill(ctx, value->buffer, 0, value->n, zero, 8));
    fill_model(value, 0, value->n, zero, 8);
    for (uint64_t i = 0; i < 40; i++) {
        uint64_t to = random_below(value->n / 8) * 8;
        uint64_t from = random_below(piece->n / 8) * 8;
        memcpy(value->model + to, piece->model + from, 8);
        OK(ops.copy(ctx, value->buffer, to, piece->buffer, from, 8));
    }
    uint64_t half = value->n / 16 * 8;
    uint64_t first = round % 3 == 0 ? 0 : half;
    memcpy(value->model + first, whole->model, half);
    OK(ops.copy(ctx, value->buffer, first, whole->buffer, 0, half));
    uint64_t note[2] = {round, ~round};
    memcpy(value->model + first + 8, note, sizeof note);
    OK(ops.write(ctx, value->buffer, first + 8, note, sizeof note));
}

static void trap(uint64_t nbyte, uint64_t rounds)
{
    mirrored value = make_mirrored(nbyte);
    mirrored piece = make_mirrored(4096);
    mirrored whole = make_mirrored(nbyte);
    for (uint64_t i = 0; i < rounds; i++) {
        ctx->stream->in_place = i % 2 == 0;
        trap_round(&value, &piece, &whole, i);
        if (nbyte < MIB || i % 4 == 3) {
            check_mirrored(&value, "fill, scatter, copy");
        }
    }
    check_mirrored(&value, "fill, scatter, copy");
    free_mirrored(&value);
    free_mirrored(&piece);
    free_mirrored(&whole);
}

START_TEST(trap_writers_of_one_buffer_stay_in_order)
{
    static const uint64_t sizes[] = {513, 1025, 2049};
    trap(sizes[_i] * 8 * 5, 200);
}
END_TEST

START_TEST(trap_large_writers_stay_in_order)
{
    trap(64 * MIB, rubus_test_long() ? 200 : 8);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("vulkan transfers");
    TCase *model = tcase_create("model");
    tcase_add_checked_fixture(model, open_queue, finish);
    tcase_add_loop_test(model, transfer_random_matches_model, 0, 2);
    tcase_add_loop_test(model, transfer_random_large_matches_model, 0, 2);
    tcase_add_loop_test(model, fill_every_pattern_and_offset_is_exact, 0, 2);
    tcase_add_test(model, transfer_wrong_arguments_are_named);
    tcase_add_test(model, ring_pieces_belong_to_their_command);
    tcase_add_test(model, ring_aligns_its_pieces);
    tcase_add_test(model, ring_flushes_what_is_not_coherent);
    tcase_add_test(model, transfer_without_host_memory_fails_cleanly);
    suite_add_tcase(suite, model);
    TCase *large = tcase_create("large");
    tcase_set_timeout(large, rubus_test_long() ? 600 : 300);
    tcase_add_checked_fixture(large, open_queue, finish);
    tcase_add_test(large, write_beyond_ring_is_exact);
    tcase_add_test(large, fill_large_pattern_is_exact);
    tcase_add_loop_test(large, trap_writers_of_one_buffer_stay_in_order, 0, 3);
    tcase_add_test(large, trap_large_writers_stay_in_order);
    suite_add_tcase(suite, large);
    return suite;
}

int main(void)
{
    return vulkan_test_run("vulkan transfers", make_suite);
}
