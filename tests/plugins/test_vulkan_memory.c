/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the backend vulkan: free space in blocks against a plain model, the choice of
 * memory types on machines of several kinds, limits and lack of memory as named errors,
 * mapping, and that everything goes back to the driver.
 */
#include "config.h"

#include "tests/plugins/device_probe.h"

#include "plugins/vulkan/vk_range.h"

/* --- free space ------------------------------------------------------------------- */

#define BYTES (UINT64_C(1) << 20)
#define STEP 256u
#define PIECES 400

typedef struct taken {
    uint64_t first;
    uint64_t nbyte;
    void *piece;
} taken;

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (random_state >> 33) % n;
}

/* The longest run of free steps, from the taken pieces alone. */
static uint64_t longest_free(const taken *list, int n)
{
    static bool used[BYTES / STEP];
    memset(used, 0, sizeof used);
    for (int i = 0; i < n; i++) {
        for (uint64_t at = list[i].first; at < list[i].first + list[i].nbyte;
             at += STEP) {
            ck_assert(!used[at / STEP]); // no two pieces share a step
            used[at / STEP] = true;
        }
    }
    uint64_t longest = 0;
    uint64_t run = 0;
    for (uint64_t i = 0; i < BYTES / STEP; i++) {
        run = used[i] ? 0 : run + 1;
        longest = run > longest ? run : longest;
    }
    return longest * STEP;
}

START_TEST(pieces_are_apart_aligned_and_come_back)
{
    start();
    static taken list[PIECES];
    int n = 0;
    random_state = (uint64_t)_i + 1;
    vk_ranges *ranges = NULL;
    OK(vk_ranges_create(&fake.host, BYTES + 100, STEP, &ranges));
    for (int round = 0; round < 6000; round++) {
        const bool give = n == PIECES || (n > 0 && random_below(100) < 45);
        if (give) {
            const int at = (int)random_below((uint64_t)n);
            vk_ranges_give(ranges, list[at].piece);
            list[at] = list[--n];
        } else {
            const uint64_t size = 1 + random_below(UINT64_C(1) << random_below(18));
            const uint64_t align = UINT64_C(1) << random_below(14);
            rubus_status st = RUBUS_OK;
            taken *t = &list[n];
            if (vk_ranges_take(ranges, size, align, &t->first, &t->piece, &st)) {
                ck_assert_uint_eq(t->first % align, 0);
                ck_assert_uint_eq(t->first % STEP, 0);
                ck_assert_uint_le(t->first + size, BYTES);
                t->nbyte = size;
                n++;
            } else {
                OK(st);
                // What fits at any place is found.
                ck_assert_uint_lt(longest_free(list, n), size + align + 2 * STEP);
            }
        }
        if (round % 50 == 0) {
            ck_assert(vk_ranges_sound(ranges));
            longest_free(list, n);
        }
    }
    while (n > 0) {
        vk_ranges_give(ranges, list[--n].piece);
    }
    ck_assert(vk_ranges_sound(ranges) && vk_ranges_empty(ranges));
    ck_assert_uint_eq(vk_ranges_free(ranges), BYTES);
    ck_assert_uint_eq(vk_ranges_largest(ranges), BYTES);
    vk_ranges_destroy(ranges);
    ck_assert_int_eq(fake.live, 0);
}
END_TEST

START_TEST(a_block_is_taken_whole_or_not)
{
    start();
    vk_ranges *ranges = NULL;
    OK(vk_ranges_create(&fake.host, 4096, STEP, &ranges));
    uint64_t first = 1;
    void *piece = NULL;
    void *other = NULL;
    rubus_status st = RUBUS_OK;
    ck_assert(!vk_ranges_take(ranges, 4097, 1, &first, &piece, &st));
    ck_assert(!vk_ranges_take(ranges, 0, 1, &first, &piece, &st));
    ck_assert(!vk_ranges_take(ranges, 1, 8192, &first, &piece, &st));
    ck_assert(vk_ranges_take(ranges, 4096, 256, &first, &piece, &st));
    ck_assert_uint_eq(first, 0);
    ck_assert(!vk_ranges_take(ranges, 1, 1, &first, &other, &st));
    ck_assert_uint_eq(vk_ranges_largest(ranges), 0);
    vk_ranges_give(ranges, piece);
    fake.fail_at = fake.count + 1; // splitting needs memory: nothing changes without
    ck_assert(!vk_ranges_take(ranges, 1, 1, &first, &piece, &st));
    ck_assert_int_eq(st, RUBUS_ENOMEM);
    ck_assert(vk_ranges_sound(ranges) && vk_ranges_empty(ranges));
    vk_ranges_destroy(ranges);
    ck_assert_int_eq(fake.live, 0);
}
END_TEST

/* --- memory types ----------------------------------------------------------------- */

#define D VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
#define V VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
#define C VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
#define K VK_MEMORY_PROPERTY_HOST_CACHED_BIT
#define LAZY VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT
#define UNCACHED VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD
#define GIB (UINT64_C(1) << 30)

typedef struct machine {
    const char *name;
    uint64_t heap[3];
    struct {
        uint32_t flags;
        uint32_t heap;
    } type[8]; /* ends with flags 0 at the second */
    uint32_t ntype;
    bool unified;
    uint64_t total;
    const char *order[3]; /* device, upload, readback: numbers of types */
} machine;

static const machine machines[] = {
    {.name = "software",
     .heap = {2 * GIB},
     .type = {{D | V | C | K, 0}},
     .ntype = 1,
     .unified = true,
     .total = 2 * GIB,
     .order = {"0", "0", "0"}},
    {.name = "integrated, one heap",
     .heap = {16 * GIB},
     .type = {{D, 0}, {D | V | C, 0}, {D | V | C | K, 0}},
     .ntype = 3,
     .unified = true,
     .total = 16 * GIB,
     .order = {"2", "12", "21"}},
    {.name = "discrete, small window",
     .heap = {24 * GIB, 32 * GIB, GIB / 4},
     .type = {{0, 1}, {D, 0}, {V | C, 1}, {V | C | K, 1}, {D | V | C, 2}},
     .ntype = 5,
     .unified = false,
     .total = 24 * GIB,
     .order = {"1", "234", "324"}},
    {.name = "discrete, all of it in the window",
     .heap = {24 * GIB, 32 * GIB},
     .type = {{D, 0}, {V | C, 1}, {V | C | K, 1}, {D | V | C, 0}},
     .ntype = 4,
     .unified = false,
     .total = 24 * GIB,
     .order = {"03", "123", "213"}},
    {.name = "integrated, two heaps, not cached",
     .heap = {5 * GIB, 10 * GIB},
     .type = {{V | C, 0}, {D, 1}, {D | V | C, 1}, {V | C | K, 0}, {D | UNCACHED, 1}},
     .ntype = 5,
     .unified = false,
     .total = 10 * GIB,
     .order = {"12", "032", "302"}},
    {.name = "phone, memory that needs flushing",
     .heap = {4 * GIB},
     .type = {{D, 0}, {D | V | K, 0}, {D | V | C, 0}, {D | LAZY, 0}},
     .ntype = 4,
     .unified = false,
     .total = 4 * GIB,
     .order = {"012", "21", "12"}},
};

START_TEST(types_are_chosen_by_what_they_are)
{
    const machine *m = &machines[_i];
    VkPhysicalDeviceMemoryProperties memory;
    memset(&memory, 0, sizeof memory);
    memory.memoryHeapCount = 3;
    memory.memoryTypeCount = m->ntype;
    for (uint32_t i = 0; i < 3; i++) {
        memory.memoryHeaps[i].size = m->heap[i];
    }
    for (uint32_t i = 0; i < m->ntype; i++) {
        memory.memoryTypes[i].propertyFlags = m->type[i].flags;
        memory.memoryTypes[i].heapIndex = m->type[i].heap;
    }
    ck_assert_msg(vk_memory_unified(&memory) == m->unified, "%s", m->name);
    ck_assert_uint_eq(vk_memory_total(&memory), m->total);
    for (int purpose = 0; purpose < 3; purpose++) {
        uint32_t type[VK_MAX_MEMORY_TYPES];
        char got[VK_MAX_MEMORY_TYPES + 1] = "";
        const uint32_t n =
            vk_memory_order(&memory, 0xffffffff, (vk_purpose)purpose, type);
        for (uint32_t i = 0; i < n; i++) {
            got[i] = (char)('0' + type[i]);
        }
        ck_assert_msg(strcmp(got, m->order[purpose]) == 0, "%s, %d: %s, not %s", m->name,
                      purpose, got, m->order[purpose]);
        ck_assert_uint_eq(vk_memory_order(&memory, 0, (vk_purpose)purpose, type), 0);
    }
}
END_TEST

/* --- with a device ---------------------------------------------------------------- */

START_TEST(too_large_a_buffer_is_a_named_error)
{
    start();
    open_context();
    void *buffer = NULL;
    const uint64_t before = vk_memory_used(ctx);
    FAILS(ops.buffer_create(ctx, UINT64_MAX - 1, &buffer), RUBUS_ELIMIT, "bytes");
    FAILS(ops.buffer_create(ctx, ctx->limits.buffer + 1, &buffer), RUBUS_ELIMIT,
          "in one array");
    ck_assert_ptr_null(buffer);
    ck_assert_uint_eq(vk_memory_used(ctx), before);
    OK(ops.buffer_create(ctx, 32, &buffer)); // and it goes on
    ops.buffer_destroy(ctx, buffer);
    finish();
    start();
    fake_set(&fake, "cap.max_buffer", "4096");
    open_context();
    FAILS(ops.buffer_create(ctx, 4097, &buffer), RUBUS_ELIMIT, "4096");
    OK(ops.buffer_create(ctx, 4096, &buffer));
    ops.buffer_destroy(ctx, buffer);
    finish();
}
END_TEST

START_TEST(a_full_heap_is_a_named_error)
{
    start();
    open_backend();
    void *context = NULL;
    OK(ops.context_create(be, 0, &context));
    ctx = context;
    // As if the heap had 64 MiB: what the driver would give is never asked for.
    for (uint32_t i = 0; i < VK_MAX_MEMORY_HEAPS; i++) {
        be->device[0].memory.memoryHeaps[i].size = UINT64_C(64) << 20;
    }
    enum { MOST = 100 };
    void *buffer[MOST] = {NULL};
    int n = 0;
    rubus_status st = RUBUS_OK;
    while (n < MOST && st == RUBUS_OK) {
        st = ops.buffer_create(ctx, UINT64_C(3) << 20, &buffer[n]);
        n += st == RUBUS_OK;
    }
    ck_assert_int_eq(st, RUBUS_EDEVMEM);
    ck_assert_ptr_nonnull(strstr(fake.text, "3145728 bytes"));
    ck_assert_ptr_nonnull(strstr(fake.text, "67108864 bytes"));
    ck_assert_ptr_nonnull(strstr(fake.text, "free arrays first"));
    ck_assert_int_ge(n, 16);
    ck_assert_int_le(n, 21);
    ops.buffer_destroy(ctx, buffer[0]);
    OK(ops.buffer_create(ctx, UINT64_C(3) << 20, &buffer[0]));
    while (n > 0) {
        ops.buffer_destroy(ctx, buffer[--n]);
    }
    void *large = NULL;
    OK(ops.buffer_create(ctx, UINT64_C(50) << 20, &large)); // blocks in reserve went
    ops.buffer_destroy(ctx, large);
    finish();
}
END_TEST

START_TEST(too_many_allocations_is_a_named_error)
{
    start();
    open_context();
    void *buffer = NULL;
    void *second = NULL;
    OK(ops.buffer_create(ctx, UINT64_C(20) << 20, &buffer));
    ctx->limits.allocations = 1;
    FAILS(ops.buffer_create(ctx, UINT64_C(20) << 20, &second), RUBUS_ELIMIT,
          "1 allocations");
    ops.buffer_destroy(ctx, buffer);
    OK(ops.buffer_create(ctx, UINT64_C(20) << 20, &second));
    ops.buffer_destroy(ctx, second);
    finish();
}
END_TEST

START_TEST(small_buffers_share_and_large_ones_go_back)
{
    start();
    open_context();
    enum { MANY = 2000 };
    static void *buffer[MANY];
    for (int i = 0; i < MANY; i++) {
        OK(ops.buffer_create(ctx, 1 + (uint64_t)i % 700, &buffer[i]));
        const vk_buffer *b = buffer[i];
        ck_assert_uint_ne(b->address, 0);
        ck_assert_uint_eq(b->address % 16, 0);
        ck_assert_uint_eq(b->room % 4, 0);
    }
    ck_assert_uint_le(vk_memory_used(ctx), UINT64_C(16) << 20);
    for (int i = 0; i < MANY; i++) {
        ops.buffer_destroy(ctx, buffer[i]);
    }
    const uint64_t idle = vk_memory_used(ctx);
    void *large = NULL;
    for (int i = 0; i < 5; i++) {
        OK(ops.buffer_create(ctx, UINT64_C(100) << 20, &large));
        ck_assert_uint_ge(vk_memory_used(ctx), UINT64_C(100) << 20);
        ops.buffer_destroy(ctx, large);
        OK(ops.synchronize(ctx));
        ck_assert_uint_le(vk_memory_used(ctx), idle);
    }
    finish();
}
END_TEST

/* What map gives is what the slots see, both ways, in place or as a copy. */
static void check_map(bool in_place)
{
    start();
    open_context();
    enum { N = 1000 };
    void *pointer = NULL;
    OK(ops.buffer_create(ctx, N, &pointer));
    vk_buffer *buffer = pointer;
    unsigned char *const host = buffer->memory.host;
    if (!in_place) {
        buffer->memory.host = NULL; // as on a device whose memory the host does not see
    }
    unsigned char bytes[N];
    for (int i = 0; i < N; i++) {
        bytes[i] = (unsigned char)(i * 7);
    }
    OK(ops.write(ctx, buffer, 0, bytes, N));
    void *mapped = NULL;
    void *again = NULL;
    OK(ops.map(ctx, buffer, RUBUS_READ | RUBUS_WRITE, &mapped));
    ck_assert_int_eq(memcmp(mapped, bytes, N), 0);
    FAILS(ops.map(ctx, buffer, RUBUS_READ, &again), RUBUS_ESTATE, "mapped already");
    ((unsigned char *)mapped)[999] = 1;
    OK(ops.unmap(ctx, buffer));
    FAILS(ops.unmap(ctx, buffer), RUBUS_ESTATE, "is not mapped");
    unsigned char back[N];
    OK(ops.read(ctx, buffer, 0, back, N));
    bytes[999] = 1;
    ck_assert_int_eq(memcmp(back, bytes, N), 0);
    OK(ops.map(ctx, buffer, RUBUS_READ, &mapped)); // destroyed while mapped
    buffer->memory.host = host;
    ops.buffer_destroy(ctx, buffer);
    finish();
}

START_TEST(map_shows_the_bytes)
{
    check_map(true);
    check_map(false);
}
END_TEST

START_TEST(a_lack_of_host_memory_leaves_nothing)
{
    start();
    open_context();
    for (int at = 1; at < 20; at++) {
        void *buffer = NULL;
        fake.fail_at = fake.count + at;
        const rubus_status st = ops.buffer_create(ctx, 5000, &buffer);
        fake.fail_at = 0;
        if (st == RUBUS_OK) {
            ops.buffer_destroy(ctx, buffer);
            break;
        }
        ck_assert_int_eq(st, RUBUS_ENOMEM);
    }
    finish(); // a block may stay in reserve until then
}
END_TEST

static Suite *memory_suite(void)
{
    const bool there = device_there();
    Suite *s = suite_create("vulkan memory");
    TCase *bare = tcase_create("without a device");
    tcase_add_loop_test(bare, pieces_are_apart_aligned_and_come_back, 0, 8);
    tcase_add_test(bare, a_block_is_taken_whole_or_not);
    tcase_add_loop_test(bare, types_are_chosen_by_what_they_are, 0,
                        (int)(sizeof machines / sizeof *machines));
    suite_add_tcase(s, bare);
    if (!there) {
        printf("no Vulkan device: the tests that need one are left out\n");
        return s;
    }
    TCase *device = tcase_create("with a device");
    tcase_add_test(device, too_large_a_buffer_is_a_named_error);
    tcase_add_test(device, a_full_heap_is_a_named_error);
    tcase_add_test(device, too_many_allocations_is_a_named_error);
    tcase_add_test(device, small_buffers_share_and_large_ones_go_back);
    tcase_add_test(device, map_shows_the_bytes);
    tcase_add_test(device, a_lack_of_host_memory_leaves_nothing);
    suite_add_tcase(s, device);
    return s;
}

RUBUS_TEST_MAIN("vulkan memory", memory_suite)
