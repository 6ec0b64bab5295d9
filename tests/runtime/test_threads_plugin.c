/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads backend through its descriptor, with a fake host and a module written by
 * hand in C: options, buffers, fills, copies, launches cut into pieces, several contexts
 * at once, and failing allocations.
 */
#include "config.h"

#include <pthread.h>

#include "tests/runtime/threads_probe.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

/* --- descriptor and options ------------------------------------------------------- */

START_TEST(plugin_descriptor_is_complete)
{
    const rubus_plugin_desc *desc = &rubus_backend_plugin;
    ck_assert_uint_eq(desc->magic, RUBUS_PLUGIN_MAGIC);
    ck_assert_uint_eq(desc->abi_major, RUBUS_ABI_MAJOR);
    ck_assert_str_eq(desc->name, "threads");
#define REQUIRED(slot, required, since, summary)                                         \
    ck_assert_msg(!(required) || ops.slot != NULL, "slot " #slot " is empty");
    RUBUS_SLOT_LIST(REQUIRED)
    ck_assert(ops.fill != NULL && ops.copy != NULL && ops.map != NULL &&
              ops.unmap != NULL);
    uint32_t n = 0;
    ck_assert_int_eq(ops.device_count(be, &n), RUBUS_OK);
    ck_assert_uint_eq(n, 1);
}
END_TEST

START_TEST(plugin_caps_name_the_threads)
{
    rubus_caps caps = {.struct_size = sizeof caps};
    ck_assert_int_eq(ops.device_caps(be, 0, &caps), RUBUS_OK);
    ck_assert_uint_eq(caps.kind, RUBUS_KIND_CPU);
    ck_assert_str_eq(caps.dialect, "c");
    ck_assert_uint_eq(caps.memory, RUBUS_AT_HOST);
    ck_assert_uint_eq(caps.fp64, 2);
    ck_assert_uint_eq(caps.lane_width, 1);
    ck_assert_uint_gt(caps.mem_total, 1 << 20);
    ck_assert_ptr_nonnull(strstr(caps.name, "2 threads"));
    ck_assert_uint_gt(strlen(caps.driver), 0);
    ck_assert_int_eq(ops.device_caps(be, 1, &caps), RUBUS_ENODEV);
    ck_assert(text_has("one device"));
    void *other = NULL;
    ck_assert_int_eq(ops.context_create(be, 3, &other), RUBUS_ENODEV);
    ck_assert_ptr_null(other);
}
END_TEST

START_TEST(plugin_older_table_is_filled_as_far_as_it_goes)
{
    rubus_ops small;
    memset(&small, 0xee, sizeof small);
    small.struct_size = offsetof(rubus_ops, fill);
    void *second = NULL;
    ck_assert_int_eq(rubus_backend_plugin.open(&fake.host, &small, &second), RUBUS_OK);
    ck_assert_uint_eq(small.struct_size, offsetof(rubus_ops, fill));
    ck_assert(small.synchronize == ops.synchronize);
    ck_assert_int_eq(((const unsigned char *)&small)[offsetof(rubus_ops, fill)], 0xee);
    rubus_backend_plugin.close(second);
}
END_TEST

START_TEST(threads_option_that_is_no_count_fails)
{
    static const char *const wrong[] = {
        "0",  "",    "two", "-1",  "4097", "99999999999999999",
        "2x", "2 3", "0x2", "1e1", "+2",   " "};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        rubus_ops room = {.struct_size = sizeof room};
        void *second = NULL;
        fake_set(&fake, "threads", wrong[i]);
        fake.text[0] = '\0';
        ck_assert_msg(rubus_backend_plugin.open(&fake.host, &room, &second) ==
                          RUBUS_EINVAL,
                      "'%s'", wrong[i]);
        ck_assert(text_has("RUBUS_NUM_THREADS") && text_has("4096") &&
                  text_has(wrong[i]));
        ck_assert_ptr_null(second);
        ck_assert(room.launch == NULL);
    }
}
END_TEST

START_TEST(threads_option_is_obeyed)
{
    static const char *const counts[] = {"1", "3", " 5 ", "16"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        fake_set(&fake, "threads", counts[i]);
        reopen();
        void *module = build(0);
        int count = atoi(counts[i]);
        int64_t calls = check_launch(module, zeros, whole);
        // 4 planes of 8 rows of 64: 3 and 5 threads cut x or y, 16 cut z by 4, y by 4
        ck_assert_int_eq(calls, count);
        ops.module_destroy(ctx, module);
    }
}
END_TEST

START_TEST(threads_default_count_is_that_of_the_machine)
{
    fake_set(&fake, "threads", NULL);
    reopen();
    rubus_caps caps = {.struct_size = sizeof caps};
    ck_assert_int_eq(ops.device_caps(be, 0, &caps), RUBUS_OK);
    ck_assert_ptr_nonnull(strstr(caps.name, " thread"));
    check_module(build(0));
}
END_TEST

/* --- buffers ---------------------------------------------------------------------- */

START_TEST(buffer_round_trip_at_any_size)
{
    static const uint64_t sizes[] = {1,      64,      4095,          4096,
                                     300000, 4 << 20, (5 << 20) + 7, (20 << 20) + 4097};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint64_t n = sizes[s];
        unsigned char *in = malloc(n);
        unsigned char *out = malloc(n);
        for (uint64_t i = 0; i < n; i++) {
            in[i] = (unsigned char)(i * 31 + i / 255);
        }
        void *a;
        void *b;
        void *host;
        uint32_t where = 0;
        ck_assert_int_eq(ops.buffer_create(ctx, n, &a), RUBUS_OK);
        ck_assert_int_eq(ops.buffer_create(ctx, n, &b), RUBUS_OK);
        ck_assert_int_eq(ops.locality(ctx, a, &where), RUBUS_OK);
        ck_assert_uint_eq(where, RUBUS_AT_HOST);
        ck_assert_int_eq(ops.write(ctx, a, 0, in, n), RUBUS_OK);
        ck_assert_int_eq(ops.copy(ctx, b, 0, a, 0, n), RUBUS_OK);
        ck_assert_int_eq(ops.read(ctx, b, 0, out, n), RUBUS_OK);
        ck_assert_mem_eq(in, out, n);
        if (n > 10) { // odd places
            ck_assert_int_eq(ops.copy(ctx, b, 3, a, 1, n - 5), RUBUS_OK);
            ck_assert_int_eq(ops.read(ctx, b, 3, out, n - 5), RUBUS_OK);
            ck_assert_mem_eq(in + 1, out, n - 5);
            ck_assert_int_eq(ops.read(ctx, b, n - 2, out, 2), RUBUS_OK);
            ck_assert_mem_eq(in + n - 2, out, 2);
        }
        ck_assert_int_eq(ops.map(ctx, a, RUBUS_READ | RUBUS_WRITE, &host), RUBUS_OK);
        ck_assert_uint_eq((uintptr_t)host % 64, 0);
        ck_assert_mem_eq(host, in, n);
        ((unsigned char *)host)[n - 1] ^= 0xff;
        ck_assert_int_eq(ops.unmap(ctx, a), RUBUS_OK);
        ck_assert_int_eq(ops.read(ctx, a, n - 1, out, 1), RUBUS_OK);
        ck_assert_int_eq(out[0], in[n - 1] ^ 0xff);
        ops.buffer_destroy(ctx, a);
        ops.buffer_destroy(ctx, b);
        free(in);
        free(out);
    }
}
END_TEST

START_TEST(buffer_fill_repeats_the_pattern)
{
    unsigned char pattern[16];
    for (int i = 0; i < 16; i++) {
        pattern[i] = (unsigned char)(17 * i + 1);
    }
    static const uint64_t sizes[] = {1 << 12, (1 << 20) + 48, 40 << 20};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint64_t n = sizes[s];
        void *a;
        void *host;
        ck_assert_int_eq(ops.buffer_create(ctx, n, &a), RUBUS_OK);
        ck_assert_int_eq(ops.map(ctx, a, RUBUS_READ, &host), RUBUS_OK);
        const unsigned char *bytes = host;
        for (uint32_t p = 1; p <= 16; p *= 2) {
            const unsigned char mark = 0xd7;
            ck_assert_int_eq(ops.fill(ctx, a, 0, n, &mark, 1), RUBUS_OK);
            uint64_t first = 3 * p;
            uint64_t size = n - 7 * p;
            ck_assert_int_eq(ops.fill(ctx, a, first, size, pattern, p), RUBUS_OK);
            for (uint64_t i = 0; i < n; i++) {
                bool in = i >= first && i < first + size;
                if (bytes[i] != (in ? pattern[i % p] : mark)) {
                    ck_abort_msg("pattern of %u, byte %" PRIu64 " of %" PRIu64 " is %u",
                                 p, i, n, bytes[i]);
                }
            }
        }
        ck_assert_int_eq(ops.unmap(ctx, a), RUBUS_OK);
        ops.buffer_destroy(ctx, a);
    }
}
END_TEST

START_TEST(buffer_past_its_end_fails)
{
    void *a;
    char bytes[64] = {0};
    ck_assert_int_eq(ops.buffer_create(ctx, 32, &a), RUBUS_OK);
    ck_assert_int_eq(ops.write(ctx, a, 0, bytes, 33), RUBUS_EINVAL);
    ck_assert(text_has("33") && text_has("32"));
    ck_assert_int_eq(ops.read(ctx, a, 33, bytes, 0), RUBUS_EINVAL);
    ck_assert_int_eq(ops.read(ctx, a, 8, bytes, UINT64_MAX), RUBUS_EINVAL);
    ck_assert_int_eq(ops.fill(ctx, a, 16, 32, bytes, 1), RUBUS_EINVAL);
    ck_assert_int_eq(ops.fill(ctx, a, 0, 32, bytes, 3), RUBUS_EINVAL);
    ck_assert_int_eq(ops.fill(ctx, a, 4, 8, bytes, 8), RUBUS_EINVAL);
    ck_assert_int_eq(ops.fill(ctx, a, 0, 32, bytes, 0), RUBUS_EINVAL);
    ck_assert_int_eq(ops.copy(ctx, a, 0, a, 16, 17), RUBUS_EINVAL);
    ck_assert_int_eq(ops.copy(ctx, a, 16, a, 0, 17), RUBUS_EINVAL);
    ck_assert_int_eq(ops.copy(ctx, a, 16, a, 0, 16), RUBUS_OK);
    ops.buffer_destroy(ctx, a);
}
END_TEST

START_TEST(buffer_too_large_is_refused)
{
    static const uint64_t sizes[] = {UINT64_C(1) << 50, UINT64_MAX, UINT64_MAX / 2};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char number[32];
        void *a = NULL;
        ck_assert_int_eq(ops.buffer_create(ctx, sizes[i], &a), RUBUS_EDEVMEM);
        snprintf(number, sizeof number, "%" PRIu64, sizes[i]);
        ck_assert_msg(text_has(number), "%s", fake.text);
        ck_assert_ptr_null(a);
    }
    void *small;
    ck_assert_int_eq(ops.buffer_create(ctx, 32, &small), RUBUS_OK);
    ops.buffer_destroy(ctx, small);
}
END_TEST

START_TEST(buffers_are_staggered)
{
    void *a[4];
    void *host;
    uintptr_t place[4];
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(ops.buffer_create(ctx, 8 << 20, &a[i]), RUBUS_OK);
        ck_assert_int_eq(ops.map(ctx, a[i], RUBUS_READ, &host), RUBUS_OK);
        place[i] = (uintptr_t)host % 4096;
        for (int k = 0; k < i; k++) {
            ck_assert_uint_ne(place[i], place[k]);
        }
    }
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(ops.unmap(ctx, a[i]), RUBUS_OK);
        ops.buffer_destroy(ctx, a[i]);
    }
}
END_TEST

/* --- launches --------------------------------------------------------------------- */

START_TEST(launch_covers_any_box_once)
{
    static const int64_t boxes[][6] = {{0, 0, 0, 64, 8, 4}, {1, 2, 1, 63, 7, 3},
                                       {5, 3, 2, 6, 4, 3},  {0, 0, 3, 64, 1, 4},
                                       {7, 0, 0, 8, 8, 4},  {0, 4, 0, 64, 5, 1},
                                       {63, 7, 3, 64, 8, 4}};
    static const char *const counts[] = {"1", "2", "3", "4", "7"};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        fake_set(&fake, "threads", counts[c]);
        reopen();
        for (uint32_t uneven = 0; uneven < 2; uneven++) {
            void *module = build(uneven * RUBUS_ENTRY_UNEVEN);
            for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++) {
                check_launch(module, boxes[b], boxes[b] + 3);
            }
            ops.module_destroy(ctx, module);
        }
    }
}
END_TEST

START_TEST(launch_small_work_stays_in_the_caller)
{
    describe(mark_text, 0, 7);
    mark_entry.bytes_per_point = 16;
    mark_entry.ops_per_point = 4;
    void *module = NULL;
    ck_assert_int_eq(ops.module_create(ctx, &mark_desc, &module), RUBUS_OK);
    ck_assert_int_eq(check_launch(module, zeros, whole), 1); // 2048 points of 20
    ops.module_destroy(ctx, module);
    mark_entry.bytes_per_point = 4096; // a segment of a reduction, say
    ck_assert_int_eq(ops.module_create(ctx, &mark_desc, &module), RUBUS_OK);
    ck_assert_int_eq(check_launch(module, zeros, whole), 2);
    ops.module_destroy(ctx, module);
}
END_TEST

START_TEST(launch_uneven_work_is_cut_finely)
{
    void *module = build(RUBUS_ENTRY_UNEVEN);
    ck_assert_int_eq(check_launch(module, zeros, whole), 64); // 32 pieces for each thread
    ops.module_destroy(ctx, module);
}
END_TEST

START_TEST(launch_wrong_entry_or_count_fails)
{
    void *module = build(0);
    const mark_block block = {.c = 1};
    rubus_launch_info info = {
        .struct_size = sizeof info, .entry = 1, .nbuffer = 2, .block = &block};
    ck_assert_int_eq(ops.launch(ctx, module, &info), RUBUS_EINVAL);
    ck_assert(text_has("entry 1"));
    info.entry = 0;
    info.nbuffer = 1;
    ck_assert_int_eq(ops.launch(ctx, module, &info), RUBUS_EINVAL);
    ck_assert(text_has("takes 2"));
    ops.module_destroy(ctx, module);
}
END_TEST

#if defined(__SSE2__)
START_TEST(launch_keeps_the_callers_rounding)
{
    // 1/3 rounded upwards differs in the last bit: no thread may be in that mode.
    static const char text[] =
        "struct block { long long lo[3], hi[3]; double *dst, c; long long *calls; };\n"
        "void mark(void *block)\n"
        "{ struct block *b = block;\n"
        "  for (long long z = b->lo[2]; z < b->hi[2]; z++)\n"
        "    for (long long y = b->lo[1]; y < b->hi[1]; y++)\n"
        "      for (long long x = b->lo[0]; x < b->hi[0]; x++)\n"
        "        b->dst[(z * 8 + y) * 64 + x] = b->c / 3;\n"
        "  __atomic_fetch_add(b->calls, 1, __ATOMIC_RELAXED); }\n";
    static double out[POINTS];
    const volatile double three = 3;
    void *module = NULL;
    ck_assert_int_eq(ops.module_create(ctx, describe(text, 0, 8), &module), RUBUS_OK);
    unsigned before = _mm_getcsr();
    _mm_setcsr((before & ~0x6000u) | 0x4000u);
    unsigned set = _mm_getcsr();
    ck_assert_int_eq(launch(module, zeros, whole, 1.0, out), 2);
    unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    ck_assert_uint_eq(after & ~0x3fu, set & ~0x3fu);
    for (int i = 0; i < POINTS; i++) {
        ck_assert_double_eq(out[i], 1.0 / three);
    }
    ops.module_destroy(ctx, module);
}
END_TEST
#endif

/* --- several contexts, failing memory --------------------------------------------- */

static void *run_context(void *arg)
{
    (void)arg;
    void *own = NULL;
    void *module = NULL;
    void *buffer[2] = {NULL, NULL};
    if (ops.context_create(be, 0, &own) != RUBUS_OK ||
        ops.module_create(own, &mark_desc, &module) != RUBUS_OK ||
        ops.buffer_create(own, POINTS * 8, &buffer[0]) != RUBUS_OK ||
        ops.buffer_create(own, 8, &buffer[1]) != RUBUS_OK) {
        return "could not be made";
    }
    const double zero = 0;
    (void)!ops.fill(own, buffer[0], 0, POINTS * 8, &zero, 8);
    (void)!ops.fill(own, buffer[1], 0, 8, &zero, 8);
    const mark_block block = {.c = 0};
    rubus_launch_info info = {.struct_size = sizeof info,
                              .nbuffer = 2,
                              .hi = {NX, NY, NZ},
                              .block = &block,
                              .buffer = buffer,
                              .first_byte = (const uint64_t[]){0, 0},
                              .nbyte = (const uint64_t[]){POINTS * 8, 8}};
    int bad = 0;
    for (int i = 0; i < 200; i++) {
        bad += ops.launch(own, module, &info) != RUBUS_OK;
    }
    double last = 0;
    (void)!ops.read(own, buffer[0], (POINTS - 1) * 8, &last, 8);
    bad += last != 200 * (1000.0 * 63 + 100 * 7 + 3);
    ops.module_destroy(own, module);
    ops.buffer_destroy(own, buffer[0]);
    ops.buffer_destroy(own, buffer[1]);
    ops.context_destroy(own);
    return bad == 0 ? NULL : "wrong result";
}

START_TEST(contexts_run_at_the_same_time)
{
    describe(mark_text, 0, 7);
    pthread_t thread[4];
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(pthread_create(&thread[i], NULL, run_context, NULL), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *wrong;
        ck_assert_int_eq(pthread_join(thread[i], &wrong), 0);
        ck_assert_msg(wrong == NULL, "%s: %s", (const char *)wrong, fake.text);
    }
}
END_TEST

/* A whole life; false as soon as something failed (then all is given back). */
static bool live_once(void)
{
    rubus_ops own = {.struct_size = sizeof own};
    void *backend = NULL;
    void *context = NULL;
    void *buffer[2] = {NULL, NULL};
    void *module = NULL;
    bool good = rubus_backend_plugin.open(&fake.host, &own, &backend) == RUBUS_OK;
    if (good) {
        good = own.context_create(backend, 0, &context) == RUBUS_OK &&
               own.buffer_create(context, POINTS * 8, &buffer[0]) == RUBUS_OK &&
               own.buffer_create(context, 5 << 20, &buffer[1]) == RUBUS_OK &&
               own.module_create(context, describe(mark_text, 0, 7), &module) == RUBUS_OK;
        if (good) {
            const mark_block block = {.c = 0};
            rubus_launch_info info = {.struct_size = sizeof info,
                                      .nbuffer = 2,
                                      .hi = {NX, NY, NZ},
                                      .block = &block,
                                      .buffer = buffer,
                                      .first_byte = (const uint64_t[]){0, 0},
                                      .nbyte = (const uint64_t[]){POINTS * 8, 8}};
            good = own.launch(context, module, &info) == RUBUS_OK;
        }
        if (context != NULL) {
            own.module_destroy(context, module);
            own.buffer_destroy(context, buffer[0]);
            own.buffer_destroy(context, buffer[1]);
            own.context_destroy(context);
        }
        rubus_backend_plugin.close(backend);
    }
    return good;
}

START_TEST(every_allocation_may_fail)
{
    int64_t live = fake.live;
    int nfailed = 0;
    for (int cached = 0; cached < 2; cached++) {
        bool good = false;
        for (int64_t n = 1; !good; n++) {
            ck_assert_int_lt(n, 100);
            fake.fail_at = fake.count + n;
            fake.text[0] = '\0';
            good = live_once();
            nfailed += !good;
            ck_assert(good || fake.text[0] != '\0');
            ck_assert_int_eq(fake.live, live);
        }
        fake.fail_at = 0;
    }
    ck_assert_int_ge(nfailed, 8);
}
END_TEST

static Suite *plugin_suite(void)
{
    Suite *suite = suite_create("threads");
    TCase *options = tcase_create("options");
    tcase_add_checked_fixture(options, setup, teardown);
    tcase_add_test(options, plugin_descriptor_is_complete);
    tcase_add_test(options, plugin_caps_name_the_threads);
    tcase_add_test(options, plugin_older_table_is_filled_as_far_as_it_goes);
    tcase_add_test(options, threads_option_that_is_no_count_fails);
    tcase_add_test(options, threads_option_is_obeyed);
    tcase_add_test(options, threads_default_count_is_that_of_the_machine);
    suite_add_tcase(suite, options);
    TCase *buffers = tcase_create("buffers");
    tcase_add_checked_fixture(buffers, setup, teardown);
    tcase_add_test(buffers, buffer_round_trip_at_any_size);
    tcase_add_test(buffers, buffer_fill_repeats_the_pattern);
    tcase_add_test(buffers, buffer_past_its_end_fails);
    tcase_add_test(buffers, buffer_too_large_is_refused);
    tcase_add_test(buffers, buffers_are_staggered);
    suite_add_tcase(suite, buffers);
    TCase *launches = tcase_create("launches");
    tcase_add_checked_fixture(launches, setup, teardown);
    tcase_add_test(launches, launch_covers_any_box_once);
    tcase_add_test(launches, launch_small_work_stays_in_the_caller);
    tcase_add_test(launches, launch_uneven_work_is_cut_finely);
    tcase_add_test(launches, launch_wrong_entry_or_count_fails);
#if defined(__SSE2__)
    tcase_add_test(launches, launch_keeps_the_callers_rounding);
#endif
    tcase_add_test(launches, contexts_run_at_the_same_time);
    tcase_add_test(launches, every_allocation_may_fail);
    suite_add_tcase(suite, launches);
    return suite;
}

RUBUS_TEST_MAIN("plugin threads", plugin_suite)
