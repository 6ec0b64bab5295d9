/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of the backend vulkan: how commands are batched, which barriers the tracker
 * asks for, that the recorder finds one that is lost, what is freed when, and that a lost
 * device is an error and no hang.
 */
#include "config.h"

#include "tests/plugins/queue_probe.h"

/* --- batches -------------------------------------------------------------------- */

START_TEST(queue_many_commands_make_few_submits)
{
    vk_buffer *b = make_buffer(4096);
    unsigned char byte = 3;
    uint64_t before = ctx->stream->nsubmit;
    for (int i = 0; i < 1000; i++) {
        OK(ops.fill(ctx, b, (uint64_t)(i % 16) * 256, 256, &byte, 1));
    }
    OK(ops.synchronize(ctx));
    uint64_t n = ctx->stream->nsubmit - before;
    ck_assert_uint_ge(n, 2);
    ck_assert_uint_le(n, 8);
    // 16 windows apart from each other: one barrier for each time round at most.
    ck_assert_uint_le(ctx->stream->nbarrier, 1000 / 16);
    ops.buffer_destroy(ctx, b);
}
END_TEST

START_TEST(queue_batch_is_bounded_by_count_and_cost)
{
    vk_buffer *b = make_buffer(4096);
    unsigned char byte = 3;
    uint64_t before = ctx->stream->nsubmit;
    for (uint32_t i = 0; i < 4 * VK_BATCH_MOST; i++) {
        OK(ops.fill(ctx, b, 0, 256, &byte, 1));
        ck_assert_uint_lt(ctx->stream->ncommand, VK_BATCH_MOST + 1);
    }
    OK(ops.synchronize(ctx));
    ck_assert_uint_ge(ctx->stream->nsubmit - before, 4);
    before = ctx->stream->nsubmit;
    ctx->stream->pace.bound = 4096;
    for (int i = 0; i < 20; i++) {
        OK(ops.fill(ctx, b, 0, 4096, &byte, 1));
    }
    ck_assert_uint_ge(ctx->stream->nsubmit - before, 1);
    OK(ops.synchronize(ctx));
    ops.buffer_destroy(ctx, b);
}
END_TEST

START_TEST(queue_values_count_batches)
{
    vk_buffer *b = make_buffer(64);
    unsigned char byte = 3;
    uint64_t value = vk_queue_value(ctx);
    OK(vk_queue_flush(ctx)); // nothing recorded: no submit
    OK(vk_queue_finish(ctx));
    ck_assert_uint_eq(vk_queue_value(ctx), value);
    OK(ops.fill(ctx, b, 0, 64, &byte, 1));
    ck_assert_uint_eq(b->last, value);
    OK(vk_queue_wait(ctx, value));
    ck_assert_uint_eq(ctx->stream->done, value);
    ck_assert_uint_eq(vk_queue_value(ctx), value + 1);
    OK(vk_queue_wait(ctx, value + 1)); // nothing was recorded for it
    ck_assert_str_eq(vk_queue_last_label(ctx), "fill");
    ops.buffer_destroy(ctx, b);
}
END_TEST

START_TEST(pace_follows_the_device)
{
    const uint64_t mib = 1 << 20;
    // 64 MiB in 100 ms is four times too much; else steps of two at most; short batches
    // say nothing unless they were full.
    ck_assert_uint_eq(vk_pace_bound(64 * mib, 64 * mib, 100e6), 16 * mib);
    ck_assert_uint_eq(vk_pace_bound(64 * mib, 64 * mib, 5e6), 128 * mib);
    ck_assert_uint_eq(vk_pace_bound(64 * mib, mib, 1e6), 64 * mib);
    ck_assert_uint_eq(vk_pace_bound(64 * mib, 64 * mib, 0.0), 128 * mib);
    ck_assert_uint_eq(vk_pace_bound(64 * mib, mib, 10e6), 32 * mib);
    ck_assert_uint_eq(vk_pace_bound(64 * mib, 1, 1e12), 8 * mib);
    ck_assert_uint_eq(vk_pace_bound(UINT64_C(1) << 40, UINT64_C(1) << 41, 1.0),
                      UINT64_C(1) << 40);
}
END_TEST

START_TEST(pace_learns_from_timestamps)
{
    if (ctx->stream->pace.pool == VK_NULL_HANDLE) {
        return; // the device has no timestamps
    }
    vk_buffer *b = make_buffer(64 << 20);
    unsigned char byte = 3;
    ctx->stream->pace.bound = UINT64_C(1) << 40;
    for (int i = 0; i < 20; i++) {
        OK(ops.fill(ctx, b, 0, b->nbyte, &byte, 1));
    }
    OK(ops.synchronize(ctx));
    ck_assert_uint_lt(ctx->stream->pace.bound, UINT64_C(1) << 40);
    ops.buffer_destroy(ctx, b);
}
END_TEST

/* --- order ---------------------------------------------------------------------- */

#define PASTS 40
#define OBJECTS 3

/* What the tracker should know, without its economies. */
typedef struct exact {
    vk_access list[PASTS * 2];
    uint32_t n;
} exact;

static bool exact_dependent(const exact *all, const vk_access *a)
{
    for (uint32_t i = 0; i < all->n; i++) {
        const vk_access *p = &all->list[i];
        if (p->nbyte > 0 && a->nbyte > 0 && p->buffer == a->buffer &&
            p->first < a->first + a->nbyte && a->first < p->first + p->nbyte &&
            ((p->access | a->access) & RUBUS_WRITE) != 0) {
            return true;
        }
    }
    return false;
}

START_TEST(order_never_misses_a_dependency)
{
    static vk_buffer object[OBJECTS];
    int nextra = 0;
    int nround = 0;
    for (int round = 0; round < 3000; round++) {
        exact all = {.n = 0};
        vk_order_reset(ctx);
        uint64_t size = round % 2 == 0 ? 400 : 40000;
        for (int i = 0; i < PASTS; i++) {
            vk_access a[2];
            for (int k = 0; k < 2; k++) {
                a[k] = (vk_access){.buffer = &object[random_below(OBJECTS)],
                                   .first = random_below(size) * 4,
                                   .nbyte = (random_below(20) + (k == 0)) * 4,
                                   .access = (uint32_t)random_below(3) + 1};
            }
            bool need = exact_dependent(&all, &a[0]) || exact_dependent(&all, &a[1]);
            bool said = vk_order_dependent(ctx, a, 2);
            ck_assert_msg(said || !need, "round %d, command %d", round, i);
            nextra += said && !need;
            nround++;
            if (said) {
                vk_order_reset(ctx);
                all.n = 0;
            }
            vk_order_add(ctx, a, 2);
            memcpy(all.list + all.n, a, sizeof a);
            all.n += 2;
        }
    }
    ck_assert_int_lt(nextra, nround / 10);
    vk_order_reset(ctx);
}
END_TEST

START_TEST(order_is_exact_for_few_windows)
{
    static vk_buffer b;
    vk_access w = {.buffer = &b, .first = 100, .nbyte = 100, .access = RUBUS_WRITE};
    vk_access r = {.buffer = &b, .first = 300, .nbyte = 100, .access = RUBUS_READ};
    vk_order_reset(ctx);
    vk_order_add(ctx, &w, 1);
    vk_order_add(ctx, &r, 1);
    vk_access a = {.buffer = &b, .first = 200, .nbyte = 100, .access = RUBUS_WRITE};
    ck_assert(!vk_order_dependent(ctx, &a, 1)); // between the two
    a.access = RUBUS_READ;
    a.first = 350;
    ck_assert(!vk_order_dependent(ctx, &a, 1)); // both read
    a.access = RUBUS_WRITE;
    ck_assert(vk_order_dependent(ctx, &a, 1)); // writes what is read
    a.access = RUBUS_READ;
    a.first = 50;
    a.nbyte = 51;
    ck_assert(vk_order_dependent(ctx, &a, 1)); // reads what is written
    a.nbyte = 0;
    ck_assert(!vk_order_dependent(ctx, &a, 1));
    vk_order_reset(ctx);
}
END_TEST

START_TEST(order_with_many_buffers_stays_right)
{
    static vk_buffer many[1000];
    vk_order_reset(ctx);
    for (int i = 0; i < 1000; i++) {
        vk_access a = {.buffer = &many[i], .nbyte = 8, .access = RUBUS_WRITE};
        if (vk_order_dependent(ctx, &a, 1)) {
            vk_order_reset(ctx); // the table was full
        }
        vk_order_add(ctx, &a, 1);
        ck_assert(vk_order_dependent(ctx, &a, 1));
    }
    vk_order_reset(ctx);
}
END_TEST

/* --- the recorder --------------------------------------------------------------- */

static vk_barrier lost_kind;

static void lose_one_kind(vk_context *context, VkCommandBuffer cmd, vk_barrier kind)
{
    if (kind != lost_kind) {
        vk_queue_barrier(context, cmd, kind);
    }
}

static void lose_kind(vk_barrier kind)
{
    lost_kind = kind;
    ctx->stream->barrier = lose_one_kind;
}

static void expect_text(const char *part)
{
    ck_assert_msg(strstr(fake.text, part) != NULL, "'%s' is not in: %s", part, fake.text);
}

START_TEST(recorder_finds_lost_barrier_in_batch)
{
    vk_buffer *a = make_buffer(4096);
    vk_buffer *b = make_buffer(4096);
    unsigned char byte = 3;
    lose_kind(VK_BARRIER_ORDER);
    OK(ops.fill(ctx, a, 0, 2048, &byte, 1));
    OK(ops.fill(ctx, a, 2048, 2048, &byte, 1));
    ck_assert_int_eq(ops.copy(ctx, b, 16, a, 2044, 100), RUBUS_EINTERNAL);
    expect_text("no barrier between 'fill' (command 1, batch 1), which writes bytes 0 to "
                "2048 of buffer ");
    expect_text("'copy' (command 3, batch 1), which reads bytes 2044 to 2144");
    OK(ops.copy(ctx, b, 16, b, 2044, 100)); // others are not affected
    // Write after read.
    ck_assert_int_eq(ops.fill(ctx, b, 2100, 4, &byte, 1), RUBUS_EINTERNAL);
    expect_text("'copy' (command 4, batch 1), which reads bytes 2044 to 2144");
    ops.buffer_destroy(ctx, a);
    ops.buffer_destroy(ctx, b);
}
END_TEST

START_TEST(recorder_finds_lost_barrier_across_submits)
{
    vk_buffer *a = make_buffer(4096);
    unsigned char byte = 3;
    lose_kind(VK_BARRIER_FIRST);
    OK(ops.fill(ctx, a, 0, 2048, &byte, 1));
    OK(vk_queue_flush(ctx));
    OK(ops.fill(ctx, a, 2048, 2048, &byte, 1));
    ck_assert_int_eq(ops.fill(ctx, a, 0, 4, &byte, 1), RUBUS_EINTERNAL);
    expect_text("'fill' (command 1, batch 1), which writes bytes 0 to 2048");
    expect_text("'fill' (command 3, batch 2), which writes bytes 0 to 4 of it");
    ops.buffer_destroy(ctx, a);
}
END_TEST

START_TEST(recorder_finds_lost_barrier_to_host)
{
    vk_buffer *a = make_buffer(4096);
    unsigned char byte = 3;
    unsigned char got[16];
    ctx->stream->in_place = _i == 0;
    lose_kind(VK_BARRIER_HOST);
    OK(ops.fill(ctx, a, 0, 2048, &byte, 1));
    if (a->memory.host == NULL && _i == 0) {
        ctx->stream->in_place = false;
    }
    ck_assert_int_eq(ops.read(ctx, a, 0, got, sizeof got), RUBUS_EINTERNAL);
    expect_text("has not been made visible to the host");
    ops.buffer_destroy(ctx, a);
}
END_TEST

static VkResult counter_stands(VkDevice device, VkSemaphore semaphore, uint64_t *value)
{
    (void)device, (void)semaphore;
    *value = 0;
    return VK_SUCCESS;
}

START_TEST(recorder_forgets_nothing_that_matters)
{
    vk_buffer *a = make_buffer(16384);
    unsigned char byte = 3;
    PFN_vkGetSemaphoreCounterValue kept = ctx->api.GetSemaphoreCounterValue;
    ctx->api.GetSemaphoreCounterValue = counter_stands;
    for (uint64_t i = 0; i < 3000; i++) {
        OK(ops.fill(ctx, a, 4 * i, 4, &byte, 1));
    }
    ck_assert_int_eq(vk_recorder_host(ctx, "write", a, 0, 4, RUBUS_WRITE),
                     RUBUS_EINTERNAL);
    expect_text("'fill' (command 1, batch 1)");
    ctx->api.GetSemaphoreCounterValue = kept;
    ops.buffer_destroy(ctx, a);
}
END_TEST

START_TEST(recorder_finds_host_that_does_not_wait)
{
    vk_buffer *a = make_buffer(4096);
    unsigned char byte = 3;
    OK(ops.fill(ctx, a, 0, 2048, &byte, 1));
    ck_assert_int_eq(vk_recorder_host(ctx, "write", a, 0, 8, RUBUS_WRITE),
                     RUBUS_EINTERNAL);
    expect_text("is not done yet");
    OK(vk_recorder_host(ctx, "write", a, 2048, 8, RUBUS_WRITE));
    OK(ops.synchronize(ctx));
    OK(vk_recorder_host(ctx, "write", a, 0, 8, RUBUS_READ | RUBUS_WRITE));
    ops.buffer_destroy(ctx, a);
}
END_TEST

/* That the layer is silent elsewhere means something: it speaks here. */
START_TEST(layer_sees_lost_barriers_of_transfers)
{
    const vk_backend *backend = be;
    if (getenv("VK_INSTANCE_LAYERS") == NULL) {
        return; // not installed here
    }
    vk_buffer *a = make_buffer(4096);
    unsigned char byte = 3;
    struct vk_recorder *kept = ctx->recorder;
    ctx->recorder = NULL;
    lose_kind(_i == 0 ? VK_BARRIER_ORDER : VK_BARRIER_FIRST);
    OK(ops.fill(ctx, a, 0, 2048, &byte, 1));
    if (_i == 1) {
        OK(vk_queue_flush(ctx));
    }
    OK(ops.fill(ctx, a, 0, 2048, &byte, 1));
    OK(vk_queue_finish(ctx));
    ctx->recorder = kept;
    ck_assert_uint_gt(backend->messages, 0);
    ck_assert_ptr_nonnull(strstr(backend->message, "HAZARD"));
    ck_assert_int_eq(ops.synchronize(ctx), RUBUS_EINTERNAL);
    expect_text("HAZARD");
    layer_message_expected = true;
    ops.buffer_destroy(ctx, a);
}
END_TEST

START_TEST(recorder_knows_which_barrier_suffices)
{
    vk_buffer *b = make_buffer(64);
    const VkFlags compute = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    const VkFlags transfer = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkFlags all = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    static const VkFlags writes =
        VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    static const VkFlags reads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
    const struct {
        VkFlags from, to, src, dst;
        rubus_status st;
    } cases[] = {
        {compute, compute | transfer, all, all, RUBUS_EINTERNAL},
        {compute | transfer, transfer, all, all, RUBUS_EINTERNAL},
        {compute | transfer, compute | transfer, 0, all, RUBUS_EINTERNAL},
        {compute | transfer, compute | transfer, writes, reads, RUBUS_EINTERNAL},
        {compute | transfer, compute | transfer, writes, writes, RUBUS_EINTERNAL},
        {compute | transfer, compute | transfer, writes, writes | reads, RUBUS_OK},
        {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, all, all,
         RUBUS_OK},
        {compute | transfer, VK_PIPELINE_STAGE_HOST_BIT, writes, VK_ACCESS_HOST_READ_BIT,
         RUBUS_EINTERNAL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const vk_access write = {.buffer = b, .nbyte = 64, .access = RUBUS_WRITE};
        VkMemoryBarrier full = {.srcAccessMask = all, .dstAccessMask = all};
        vk_recorder_barrier(ctx, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, &full);
        OK(vk_recorder_command(ctx, "first", &write, 1));
        VkMemoryBarrier memory = {.srcAccessMask = cases[i].src,
                                  .dstAccessMask = cases[i].dst};
        vk_recorder_barrier(ctx, cases[i].from, cases[i].to, &memory);
        ck_assert_msg(vk_recorder_command(ctx, "second", &write, 1) == cases[i].st,
                      "case %zu", i);
    }
    ops.buffer_destroy(ctx, b);
}
END_TEST

/* --- freeing -------------------------------------------------------------------- */

static uint64_t freed[8];
static uint32_t nfreed;

static void note_free(vk_context *context, void *thing)
{
    const uint64_t *value = thing;
    ck_assert_uint_le(*value, context->stream->done);
    freed[nfreed++] = *value;
}

START_TEST(retire_waits_for_the_batch_and_keeps_order)
{
    static uint64_t values[4];
    vk_buffer *b = make_buffer(64);
    unsigned char byte = 3;
    nfreed = 0;
    for (int i = 0; i < 3; i++) {
        OK(ops.fill(ctx, b, 0, 64, &byte, 1));
        values[i] = vk_queue_value(ctx);
        vk_queue_retire(ctx, values[i], note_free, &values[i]);
        OK(vk_queue_flush(ctx));
    }
    OK(ops.fill(ctx, b, 0, 64, &byte, 1));
    values[3] = vk_queue_value(ctx);
    vk_queue_retire(ctx, values[3], note_free, &values[3]);
    OK(vk_queue_wait(ctx, values[2]));
    ck_assert_uint_eq(nfreed, 3);
    OK(ops.synchronize(ctx));
    ck_assert_uint_eq(nfreed, 4);
    for (int i = 0; i < 4; i++) {
        ck_assert_uint_eq(freed[i], values[i]);
    }
    vk_queue_retire(ctx, values[3], note_free, &values[0]); // nothing pending: at once
    ck_assert_uint_eq(nfreed, 5);
    ops.buffer_destroy(ctx, b);
}
END_TEST

START_TEST(retire_without_memory_waits)
{
    static uint64_t value;
    vk_buffer *b = make_buffer(64);
    unsigned char byte = 3;
    nfreed = 0;
    OK(ops.fill(ctx, b, 0, 64, &byte, 1));
    value = vk_queue_value(ctx);
    fake.fail_at = fake.count + 1;
    vk_queue_retire(ctx, value, note_free, &value);
    fake.fail_at = 0;
    ck_assert_uint_eq(nfreed, 1);
    ops.buffer_destroy(ctx, b);
}
END_TEST

START_TEST(destroy_with_pending_work_is_legal)
{
    unsigned char byte = 3;
    unsigned char got[4096];
    for (int i = 0; i < 300; i++) {
        vk_buffer *a = make_buffer(4096 + (uint64_t)i);
        vk_buffer *b = make_buffer(4096);
        OK(ops.fill(ctx, a, 0, 4096, &byte, 1));
        OK(ops.copy(ctx, b, 0, a, 0, 4096));
        ops.buffer_destroy(ctx, a);
        if (i % 50 == 0) {
            OK(ops.read(ctx, b, 0, got, 4096));
            ck_assert_uint_eq(got[4095], 3);
        }
        ops.buffer_destroy(ctx, b);
    }
    OK(ops.synchronize(ctx));
    ck_assert_uint_eq(ctx->stream->nretired, 0);
}
END_TEST

/* --- a lost device -------------------------------------------------------------- */

static int nslice;

static VkResult lost_submit(VkQueue queue, uint32_t n, const VkSubmitInfo *info,
                            VkFence fence)
{
    (void)queue, (void)n, (void)info, (void)fence;
    return VK_ERROR_DEVICE_LOST;
}

static VkResult no_memory_submit(VkQueue queue, uint32_t n, const VkSubmitInfo *info,
                                 VkFence fence)
{
    (void)queue, (void)n, (void)info, (void)fence;
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static VkResult late_loss(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t time)
{
    (void)device, (void)info;
    ck_assert_uint_lt(time, UINT64_C(2000000000)); // never without end
    return ++nslice < 3 ? VK_TIMEOUT : VK_ERROR_DEVICE_LOST;
}

static VkResult counter_mad(VkDevice device, VkSemaphore semaphore, uint64_t *value)
{
    (void)device, (void)semaphore;
    *value = UINT64_MAX;
    return VK_SUCCESS;
}

/* All slots say that the device is lost, and destroying works. */
static void expect_lost(vk_buffer *b)
{
    unsigned char bytes[64] = {0};
    ck_assert_int_eq(ops.synchronize(ctx), RUBUS_ELOST);
    ck_assert_int_eq(ops.write(ctx, b, 0, bytes, 64), RUBUS_ELOST);
    ck_assert_int_eq(ops.read(ctx, b, 0, bytes, 64), RUBUS_ELOST);
    ck_assert_int_eq(ops.fill(ctx, b, 0, 64, bytes, 1), RUBUS_ELOST);
    ck_assert_int_eq(ops.copy(ctx, b, 0, b, 32, 16), RUBUS_ELOST);
    expect_text("lost");
    ops.buffer_destroy(ctx, b);
    layer_message_expected = true; // objects of work that never ran
}

START_TEST(lost_device_is_sticky_and_does_not_hang)
{
    vk_buffer *b = make_buffer(64);
    unsigned char byte = 3;
    OK(ops.fill(ctx, b, 0, 64, &byte, 1));
    rubus_status want = RUBUS_ELOST;
    switch (_i) {
    case 0:
        ctx->api.QueueSubmit = lost_submit;
        break;
    case 1:
        nslice = 0;
        ctx->api.WaitSemaphores = late_loss;
        ctx->api.GetSemaphoreCounterValue = counter_stands;
        break;
    case 2:
        ctx->api.GetSemaphoreCounterValue = counter_mad;
        break;
    default:
        ctx->api.QueueSubmit = no_memory_submit;
        want = RUBUS_EDEVMEM; // named as what it is first; then the work is missing
    }
    ck_assert_int_eq(ops.synchronize(ctx), want);
    expect_lost(b);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("vulkan queue");
    TCase *batch = tcase_create("batches");
    tcase_add_checked_fixture(batch, open_queue, finish);
    tcase_add_test(batch, queue_many_commands_make_few_submits);
    tcase_add_test(batch, queue_batch_is_bounded_by_count_and_cost);
    tcase_add_test(batch, queue_values_count_batches);
    tcase_add_test(batch, pace_follows_the_device);
    tcase_add_test(batch, pace_learns_from_timestamps);
    suite_add_tcase(suite, batch);
    TCase *order = tcase_create("order");
    tcase_add_checked_fixture(order, open_queue, finish);
    tcase_add_test(order, order_never_misses_a_dependency);
    tcase_add_test(order, order_is_exact_for_few_windows);
    tcase_add_test(order, order_with_many_buffers_stays_right);
    tcase_add_test(order, recorder_finds_lost_barrier_in_batch);
    tcase_add_test(order, recorder_finds_lost_barrier_across_submits);
    tcase_add_loop_test(order, recorder_finds_lost_barrier_to_host, 0, 2);
    tcase_add_test(order, recorder_finds_host_that_does_not_wait);
    tcase_add_test(order, recorder_forgets_nothing_that_matters);
    tcase_add_test(order, recorder_knows_which_barrier_suffices);
    tcase_add_loop_test(order, layer_sees_lost_barriers_of_transfers, 0, 2);
    suite_add_tcase(suite, order);
    TCase *end = tcase_create("end");
    tcase_add_checked_fixture(end, open_queue, finish);
    tcase_add_test(end, retire_waits_for_the_batch_and_keeps_order);
    tcase_add_test(end, retire_without_memory_waits);
    tcase_add_test(end, destroy_with_pending_work_is_legal);
    tcase_add_loop_test(end, lost_device_is_sticky_and_does_not_hang, 0, 4);
    suite_add_tcase(suite, end);
    return suite;
}

int main(void)
{
    return vulkan_test_run("vulkan queue", make_suite);
}
