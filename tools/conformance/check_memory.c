/* SPDX-License-Identifier: Apache-2.0 */
/* Checks B, through the library: how long memory lives, and how much of it there is. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform_process.h"

static const char slow_text[] =
    "kernel slow(out real b[n], in real a[n], int turns) over (i)\n"
    "{\n"
    "    real x = a[i];\n"
    "    for (int k = 0; k < turns; k++) { x = 0.5 * x + a[mod(i + k, n)] * 0.5; }\n"
    "    b[i] = a[i] + 0 * x;\n"
    "}\n";

/* The source of a pending kernel is destroyed, and its memory asked for at once. */
static void free_with_work_pending(void)
{
    enum { ROUNDS = 30 };
    const int32_t real = conform_real();
    const bool fast = !conform_interprets();
    const int64_t n = fast ? 50000 : 5000;
    rubus_context *context = conform_open();
    for (int round = 0; round < ROUNDS; round++) {
        conform_say("round %d: ", round);
        rubus_module *module = conform_module(context, slow_text, real);
        rubus_array *a = NULL;
        rubus_array *b = NULL;
        rubus_array *c[4];
        conform_ok(rubus_array_create(context, real, RUBUS_SHAPE(n), &a));
        conform_ok(rubus_array_create(context, real, RUBUS_SHAPE(n), &b));
        conform_ok(rubus_array_fill(a, round + 1));
        conform_ok(rubus_launch(conform_kernel(module, "slow"), b, a, fast ? 200 : 2));
        rubus_array_destroy(a);
        rubus_module_destroy(module);
        for (int i = 0; i < 4; i++) {
            conform_ok(rubus_array_create(context, real, RUBUS_SHAPE(n), &c[i]));
            conform_ok(rubus_array_fill(c[i], -777));
        }
        unsigned char *got = conform_contents(b);
        for (int64_t i = 0; i < n; i++) {
            const double x = conform_real_at(got, real, i);
            conform_true(x == round + 1,
                         "element %lld is %g, should be %d: memory was given "
                         "back while a kernel worked on it",
                         (long long)i, x, round + 1);
        }
        free(got);
        for (int i = 0; i < 4; i++) {
            rubus_array_destroy(c[i]);
        }
        rubus_array_destroy(b);
    }
    rubus_context_destroy(context);
}

static void out_of_memory_recovers(void)
{
    enum { N = 10007 };
    rubus_context *context = conform_open();
    rubus_array *kept = conform_bytes(context, N);
    unsigned char *in = conform_bits(N, 3);
    conform_ok(rubus_array_write(kept, in, N));
    static const int64_t huge[] = {INT64_C(1) << 44, INT64_C(1) << 50, INT64_C(1) << 60};
    for (int i = 0; i < 9; i++) {
        rubus_array *none = NULL;
        const rubus_status st =
            rubus_array_create(context, RUBUS_F32, RUBUS_SHAPE(huge[i % 3]), &none);
        conform_true(st == RUBUS_ELIMIT || st == RUBUS_EDEVMEM || st == RUBUS_ENOMEM,
                     "an array of %lld floats gives %s", (long long)huge[i % 3],
                     rubus_status_name(st));
        conform_true(rubus_error_text()[0] != '\0', "and no text");
        conform_true(none == NULL, "and an array");
        conform_check_size(context, 5000);
    }
    unsigned char *got = conform_contents(kept);
    conform_same(got, in, N, RUBUS_BOOL, "an earlier array, after failures");
    free(got);
    free(in);
    rubus_array_destroy(kept);
    rubus_context_destroy(context);
}

static void many_small(void)
{
    enum { MANY = 20000 };
    rubus_context *context = conform_open();
    rubus_array **array = conform_memory(MANY * sizeof(rubus_array *));
    for (int32_t i = 0; i < MANY; i++) {
        const int32_t in[3] = {i, -i, 7 * i};
        conform_say("array %d: ", i);
        conform_ok(rubus_array_from(context, RUBUS_I32, RUBUS_SHAPE(3), in, &array[i]));
    }
    for (int32_t i = MANY - 1; i >= 0; i--) {
        int32_t out[3] = {0, 0, 0};
        conform_say("array %d of %d alive: ", i, MANY);
        conform_ok(rubus_array_read(array[i], out, sizeof out));
        conform_true(out[0] == i && out[1] == -i && out[2] == 7 * i,
                     "it holds %d %d %d, not %d %d %d", out[0], out[1], out[2], i, -i,
                     7 * i);
    }
    for (int i = 0; i < MANY; i++) {
        rubus_array_destroy(array[(i * 7919) % MANY]);
    }
    free(array);
    rubus_context_destroy(context);
}

static void fragmentation_of(int turns)
{
    enum { LIVE = 200, MOST = 1 << 14 };
    const size_t room = (size_t)150 << 20; // far more than can be alive
    rubus_context *context = conform_open();
    rubus_array *array[LIVE] = {NULL};
    int32_t mark[LIVE] = {0};
    conform_dice dice = {conform_seed()};
    const size_t before = conform_resident_bytes();
    for (int turn = 0; turn < turns; turn++) {
        conform_say("seed %llu, turn %d: ", (unsigned long long)conform_seed(), turn);
        const int64_t at = conform_below(&dice, LIVE);
        if (array[at] != NULL) {
            const int64_t n = rubus_array_count(array[at]);
            int32_t ends[2];
            conform_ok(rubus_array_read_range(array[at], 0, 1, &ends[0]));
            conform_ok(rubus_array_read_range(array[at], n - 1, 1, &ends[1]));
            conform_true(ends[0] == mark[at] && ends[1] == ~mark[at],
                         "the ends of an array of %lld ints changed", (long long)n);
            rubus_array_destroy(array[at]);
        }
        static const int64_t most[] = {MOST, 1200, 15};
        const int64_t n = 2 + conform_below(&dice, most[turn % 3]);
        mark[at] = (int32_t)conform_roll(&dice);
        const int32_t ends[2] = {mark[at], ~mark[at]};
        conform_ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(n), &array[at]));
        conform_ok(rubus_array_write_range(array[at], 0, 1, &ends[0]));
        conform_ok(rubus_array_write_range(array[at], n - 1, 1, &ends[1]));
    }
    const size_t after = conform_resident_bytes();
    conform_true(after < before + room,
                 "the process grew from %zu to %zu bytes; 13 MB are alive at most",
                 before, after);
    for (int i = 0; i < LIVE; i++) {
        rubus_array_destroy(array[i]);
    }
    rubus_context_destroy(context);
}

static void fragmentation(void)
{
    fragmentation_of(conform_interprets() ? 1000 : 10000);
}

static void fragmentation_long(void)
{
    fragmentation_of(100000);
}

static void create_large(void)
{
    const uint64_t limit = conform_facts_now()->caps.max_buffer;
    const int64_t n = (INT64_C(1) << 30) + 5;
    rubus_context *context = conform_open();
    conform_check_size(context, limit != 0 && limit < (uint64_t)n ? (int64_t)limit : n);
    rubus_context_destroy(context);
}

const conform_check conform_memory_checks[] = {
    {"B08_free_with_work_pending", CONFORM_BASIC, 120, 0,
     "arrays and modules destroyed right after a launch that uses them",
     free_with_work_pending},
    {"B10_out_of_memory_recovers", CONFORM_BASIC, 60, 0,
     "arrays too large are refused, and harm nothing", out_of_memory_recovers},
    {"B11_many_small", CONFORM_FULL, 180, 0, "20000 arrays alive together", many_small},
    {"B12_fragmentation", CONFORM_FULL, 180, 0,
     "10000 random creations and destructions, with bounded memory", fragmentation},
    {"B15_fragmentation_long", CONFORM_STRESS, 1200, 0, "B12 with 100000 turns",
     fragmentation_long},
    {"B16_create_large", CONFORM_STRESS, 300, 0,
     "an array of 1 GiB, or of the largest size declared", create_large},
    {.name = NULL},
};
