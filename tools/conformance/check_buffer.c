/* SPDX-License-Identifier: Apache-2.0 */
/* Checks B, through the library: transfers, fills, copies, mappings. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform.h"

/* --- sizes and offsets ------------------------------------------------------------ */

static void create_sizes(void)
{
    static const int64_t sizes[] = {
        0,   1,   2,   3,    4,    5,    7,     8,     9,     63,      64,      65,
        255, 256, 257, 4095, 4096, 4097, 65535, 65536, 65537, 1000003, 1048576, 16777221};
    const size_t nsize = sizeof sizes / sizeof sizes[0] - (conform_interprets() ? 1 : 0);
    rubus_context *context = conform_open();
    for (size_t i = 0; i < nsize; i++) {
        conform_check_size(context, sizes[i]);
    }
    rubus_context_destroy(context);
}

static void alignment_of_offsets(void)
{
    enum { N = 40 };
    static const char text[] = "kernel add(inout int u[n], int a) { u += a + ix(u); }";
    const int64_t align = conform_facts_now()->caps.offset_align;
    const int64_t step = align > 4 ? align / 4 : 1;
    rubus_context *context = conform_open();
    rubus_module *module = conform_module(context, text, RUBUS_F32);
    rubus_array *whole = NULL;
    const int64_t all = 64 * step + N;
    int32_t *model = conform_memory((size_t)all * 4);
    conform_ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(all), &whole));
    for (int64_t at = 0; at < 64; at++) {
        rubus_array *view = NULL;
        int32_t in[5] = {(int32_t)at, -1, 77, (int32_t)(at * at), 5};
        conform_ok(rubus_array_view(whole, at * step, RUBUS_SHAPE(N), &view));
        conform_ok(rubus_array_write_range(view, 3, 5, in));
        memcpy(model + at * step + 3, in, sizeof in);
        conform_ok(rubus_launch(conform_kernel(module, "add"), view, 1000 + at));
        for (int64_t i = 0; i < N; i++) {
            model[at * step + i] += (int32_t)(1000 + at + i);
        }
        rubus_array_destroy(view);
    }
    int32_t *got = conform_contents(whole);
    conform_same(got, model, all, RUBUS_I32,
                 "writes and kernels in windows at all offsets");
    free(got);
    if (step > 1) {
        rubus_array *view = NULL;
        conform_true(rubus_array_view(whole, step - 1, RUBUS_SHAPE(N), &view) ==
                         RUBUS_EUNSUPPORTED,
                     "a window at an offset that the device does not allow");
    }
    free(model);
    rubus_array_destroy(whole);
    rubus_module_destroy(module);
    rubus_context_destroy(context);
}

/* --- a model of bytes ------------------------------------------------------------- */

enum { MODEL_BYTES = 100003, MODEL_ARRAYS = 3 };

typedef struct byte_model {
    conform_dice dice;
    rubus_array *array[MODEL_ARRAYS];
    unsigned char *model[MODEL_ARRAYS];
} byte_model;

/* A range: short ones, long ones, and those that touch an end. */
static int64_t pick_range(byte_model *m, int64_t *out_first)
{
    static const int64_t most[] = {1, 3, 17, 300, 5000, MODEL_BYTES};
    const int64_t n = 1 + conform_below(&m->dice, most[conform_below(&m->dice, 6)]);
    const int64_t room = MODEL_BYTES - n;
    const int64_t how = conform_below(&m->dice, 8);
    *out_first = how == 0 ? 0 : how == 1 ? room : conform_below(&m->dice, room + 1);
    return n;
}

static rubus_array *window_of(const byte_model *m, int which, int64_t *first, int64_t n)
{
    const int64_t align = conform_facts_now()->caps.offset_align;
    rubus_array *view = NULL;
    *first = *first / align * align;
    conform_ok(rubus_array_view(m->array[which], *first, RUBUS_SHAPE(n), &view));
    return view;
}

static void model_read(byte_model *m, int which)
{
    int64_t first = 0;
    const int64_t n = pick_range(m, &first);
    unsigned char *got = conform_memory((size_t)n);
    conform_ok(rubus_array_read_range(m->array[which], first, n, got));
    conform_same(got, m->model[which] + first, n, RUBUS_BOOL, "a read of a range");
    free(got);
}

static void model_step(byte_model *m)
{
    const int which = (int)conform_below(&m->dice, MODEL_ARRAYS);
    const int other = (which + 1) % MODEL_ARRAYS;
    int64_t first = 0;
    int64_t from = 0;
    int64_t n = pick_range(m, &first);
    unsigned char *bytes = NULL;
    rubus_array *dst = NULL;
    rubus_array *src = NULL;
    switch (conform_below(&m->dice, 5)) {
    case 0:
    case 1:
        bytes = conform_bits((size_t)n, (unsigned)conform_roll(&m->dice));
        conform_ok(rubus_array_write_range(m->array[which], first, n, bytes));
        memcpy(m->model[which] + first, bytes, (size_t)n);
        free(bytes);
        break;
    case 2:
        dst = window_of(m, which, &first, n);
        conform_ok(rubus_array_fill(dst, n % 2 == 0));
        memset(m->model[which] + first, n % 2 == 0, (size_t)n);
        break;
    case 3:
        from = MODEL_BYTES - n;
        dst = window_of(m, which, &first, n);
        src = window_of(m, other, &from, n);
        conform_ok(rubus_array_copy(dst, src));
        memcpy(m->model[which] + first, m->model[other] + from, (size_t)n);
        break;
    default:
        model_read(m, which);
        break;
    }
    rubus_array_destroy(dst);
    rubus_array_destroy(src);
}

static void write_read_roundtrip(void)
{
    const int steps = conform_interprets() ? 1000 : 10000;
    rubus_context *context = conform_open();
    byte_model m = {.dice = {conform_seed()}};
    for (int i = 0; i < MODEL_ARRAYS; i++) {
        m.array[i] = conform_bytes(context, MODEL_BYTES);
        m.model[i] = conform_memory(MODEL_BYTES);
    }
    for (int step = 0; step < steps; step++) {
        conform_say("seed %llu, step %d: ", (unsigned long long)conform_seed(), step);
        model_step(&m);
    }
    for (int i = 0; i < MODEL_ARRAYS; i++) {
        unsigned char *got = conform_contents(m.array[i]);
        conform_same(got, m.model[i], MODEL_BYTES, RUBUS_BOOL, "after all steps");
        free(got);
        free(m.model[i]);
        rubus_array_destroy(m.array[i]);
    }
    rubus_context_destroy(context);
}

/* --- guard zones ------------------------------------------------------------------ */

static const int64_t odd_sizes[] = {1,   2,   3,   4,    5,    7,    8,    9,    15,
                                    16,  17,  31,  32,   33,   63,   64,   65,   127,
                                    255, 256, 257, 1023, 1024, 1025, 4099, 20011};
enum { NODD = sizeof odd_sizes / sizeof odd_sizes[0] };

static void zones_of(rubus_context *context, int32_t type, int64_t n, int shift)
{
    conform_say("%lld elements of %s: ", (long long)n, conform_type_name(type));
    const size_t nbyte = (size_t)n * conform_type_size(type);
    conform_window a = conform_window_make(context, type, RUBUS_SHAPE(n), shift);
    conform_window b = conform_window_make(context, type, RUBUS_SHAPE(n), shift + 3);
    unsigned char *bytes = conform_bits(nbyte, (unsigned)n);
    conform_ok(rubus_array_write(a.array, bytes, nbyte));
    conform_window_check(&a, "a write");
    conform_ok(rubus_array_copy(b.array, a.array));
    conform_window_check(&a, "a copy, of its source,");
    conform_window_check(&b, "a copy");
    unsigned char *got = conform_contents(b.array);
    conform_same(got, bytes, (int64_t)nbyte, RUBUS_BOOL, "the bytes of a copy");
    free(got);
    conform_ok(rubus_array_fill(b.array, 1));
    conform_window_check(&b, "a fill");
    void *host = NULL;
    conform_ok(rubus_array_map(b.array, RUBUS_WRITE, &host));
    memcpy(host, bytes, nbyte);
    conform_ok(rubus_array_unmap(b.array));
    conform_window_check(&b, "a mapping for writing");
    got = conform_contents(b.array);
    conform_same(got, bytes, (int64_t)nbyte, RUBUS_BOOL, "the bytes of a mapping");
    free(got);
    free(bytes);
    conform_window_destroy(&a);
    conform_window_destroy(&b);
    conform_say(NULL);
}

static const char fill_kernel[] =
    "kernel put(out real u[n], real a) { u = a + ix(u); }\n"
    "kernel each(out real u[n], real a) over (i) { u[i] = a - i; }\n"
    "kernel whole(out int k[n], int a) { k = a + ix(k); }\n";

static void kernels_in_zones(rubus_context *context, int64_t n, int shift)
{
    const int32_t real = conform_real();
    conform_say("%lld elements: ", (long long)n);
    rubus_module *module = conform_module(context, fill_kernel, real);
    conform_window u = conform_window_make(context, real, RUBUS_SHAPE(n), shift);
    conform_window k = conform_window_make(context, RUBUS_I32, RUBUS_SHAPE(n), shift);
    conform_ok(rubus_launch(conform_kernel(module, "put"), u.array, 0.5));
    conform_window_check(&u, "a whole-array kernel");
    conform_ok(rubus_launch(conform_kernel(module, "each"), u.array, 0.5));
    conform_window_check(&u, "a per-point kernel");
    conform_ok(rubus_launch(conform_kernel(module, "whole"), k.array, 7));
    conform_window_check(&k, "a kernel of ints");
    unsigned char *got = conform_contents(u.array);
    int32_t *ints = conform_contents(k.array);
    for (int64_t i = 0; i < n; i++) {
        const double value = conform_real_at(got, real, i);
        conform_true(value == 0.5 - (double)i, "element %lld is %g, should be %g",
                     (long long)i, value, 0.5 - (double)i);
        conform_true(ints[i] == 7 + i, "int %lld is %d", (long long)i, ints[i]);
    }
    free(got);
    free(ints);
    conform_window_destroy(&u);
    conform_window_destroy(&k);
    rubus_module_destroy(module);
    conform_say(NULL);
}

static void guard_zones(void)
{
    static const int32_t types[] = {RUBUS_F32, RUBUS_F64, RUBUS_I32, RUBUS_I64,
                                    RUBUS_BOOL};
    rubus_context *context = conform_open();
    for (int i = 0; i < NODD; i++) {
        for (int t = 0; t < 5; t++) {
            zones_of(context, types[t], odd_sizes[i], i % 4);
        }
    }
    for (int i = 0; i < NODD; i += 1) {
        kernels_in_zones(context, odd_sizes[i], i % 4);
    }
    rubus_context_destroy(context);
}

/* --- fill and copy ---------------------------------------------------------------- */

static void want_fill(int32_t type, double value, int64_t n, unsigned char *out)
{
    const float f32 = (float)value;
    const int32_t i32 = (int32_t)value;
    const int64_t i64 = (int64_t)value;
    const unsigned char truth = value != 0;
    const void *from = type == RUBUS_F64   ? (const void *)&value
                       : type == RUBUS_F32 ? (const void *)&f32
                       : type == RUBUS_I32 ? (const void *)&i32
                       : type == RUBUS_I64 ? (const void *)&i64
                                           : (const void *)&truth;
    const size_t size = conform_type_size(type);
    for (int64_t i = 0; i < n; i++) {
        memcpy(out + (size_t)i * size, from, size);
    }
}

static void fill_patterns(void)
{
    static const int32_t types[] = {RUBUS_F32, RUBUS_F64, RUBUS_I32, RUBUS_I64,
                                    RUBUS_BOOL};
    static const double values[] = {0, 1, -1, 3.75, 123456789, -2147483648.0};
    enum { BIG = 300007 };
    rubus_context *context = conform_open();
    unsigned char *want = conform_memory((size_t)BIG * 8);
    int turn = 0;
    for (int t = 0; t < 5; t++) {
        for (int s = 0; s <= 72; s++) {
            const int64_t n = s < 70 ? s + 1 : s == 70 ? 65536 : s == 71 ? 65537 : BIG;
            const double value = values[turn++ % 6];
            conform_say("fill of %lld %s with %g: ", (long long)n,
                        conform_type_name(types[t]), value);
            conform_window w =
                conform_window_make(context, types[t], RUBUS_SHAPE(n), turn % 5);
            conform_ok(rubus_array_fill(w.array, value));
            want_fill(types[t], value, n, want);
            unsigned char *got = conform_contents(w.array);
            conform_same(got, want, n, types[t], "the filled elements");
            conform_window_check(&w, "it");
            free(got);
            conform_window_destroy(&w);
        }
    }
    free(want);
    rubus_context_destroy(context);
}

static void copy_overlap(void)
{
    enum { N = 60000 };
    rubus_context *context = conform_open();
    const int64_t align = conform_facts_now()->caps.offset_align;
    const int64_t half = N / 2 / align * align;
    rubus_array *whole = conform_bytes(context, N);
    rubus_array *low = NULL;
    rubus_array *high = NULL;
    rubus_array *shifted = NULL;
    unsigned char *model = conform_bits(N, 5);
    conform_ok(rubus_array_write(whole, model, N));
    conform_ok(rubus_array_view(whole, 0, RUBUS_SHAPE(half), &low));
    conform_ok(rubus_array_view(whole, half, RUBUS_SHAPE(half), &high));
    conform_ok(rubus_array_view(whole, align, RUBUS_SHAPE(half), &shifted));
    conform_ok(rubus_array_copy(low, high));
    memcpy(model, model + half, (size_t)half);
    unsigned char *got = conform_contents(whole);
    conform_same(got, model, N, RUBUS_BOOL, "upper half copied to the lower");
    free(got);
    for (int64_t i = 0; i < half; i++) {
        model[i] = conform_bit_at((uint64_t)i, 99);
    }
    conform_ok(rubus_array_write(low, model, (size_t)half));
    conform_ok(rubus_array_copy(high, low));
    memcpy(model + half, model, (size_t)half);
    conform_true(rubus_array_copy(low, shifted) == RUBUS_EALIAS &&
                     rubus_array_copy(shifted, low) == RUBUS_EALIAS,
                 "windows that overlap are copied");
    got = conform_contents(whole);
    conform_same(got, model, N, RUBUS_BOOL, "lower half copied to the upper");
    free(got);
    free(model);
    rubus_array_destroy(low);
    rubus_array_destroy(high);
    rubus_array_destroy(shifted);
    rubus_array_destroy(whole);
    rubus_context_destroy(context);
}

/* --- mapping ---------------------------------------------------------------------- */

static void map_for(rubus_array *array, uint32_t access, int32_t *model, int64_t n,
                    int32_t salt)
{
    void *host = NULL;
    conform_ok(rubus_array_map(array, access, &host));
    int32_t *data = host;
    if ((access & RUBUS_READ) != 0) {
        conform_same(data, model, n, RUBUS_I32, "what a mapping shows");
    }
    if ((access & RUBUS_WRITE) != 0) {
        for (int64_t i = 0; i < n; i++) {
            // without READ every element has to be written; with it, only some are
            if ((access & RUBUS_READ) == 0 || i % 3 == 0) {
                data[i] = (int32_t)i * 7 + salt;
                model[i] = data[i];
            }
        }
    }
    conform_ok(rubus_array_unmap(array));
}

static void map_rw_semantics(void)
{
    static const char text[] = "kernel twice(inout int u[n]) { u = 2 * u + 1; }";
    static const uint32_t accesses[] = {RUBUS_READ, RUBUS_WRITE,
                                        RUBUS_READ | RUBUS_WRITE};
    static const int64_t sizes[] = {1, 5, 1000, 70001};
    rubus_context *context = conform_open();
    rubus_module *module = conform_module(context, text, RUBUS_F32);
    conform_dice dice = {conform_seed()};
    for (int s = 0; s < 4; s++) {
        const int64_t n = sizes[s];
        int32_t *model = conform_memory((size_t)n * 4);
        conform_window w = conform_window_make(context, RUBUS_I32, RUBUS_SHAPE(n), s);
        conform_ok(rubus_array_fill(w.array, 0));
        for (int round = 0; round < 30; round++) {
            const uint32_t access = accesses[conform_below(&dice, 3)];
            conform_say("%lld ints, round %d, mapped for %s: ", (long long)n, round,
                        access == RUBUS_READ    ? "reading"
                        : access == RUBUS_WRITE ? "writing"
                                                : "both");
            if (conform_below(&dice, 2) == 0) {
                conform_ok(rubus_launch(conform_kernel(module, "twice"), w.array));
                for (int64_t i = 0; i < n; i++) {
                    model[i] = (int32_t)(2u * (uint32_t)model[i] + 1u);
                }
            }
            map_for(w.array, access, model, n, round);
            int32_t *got = conform_contents(w.array);
            conform_same(got, model, n, RUBUS_I32, "after unmap");
            free(got);
        }
        conform_window_check(&w, "a mapping");
        conform_window_destroy(&w);
        free(model);
    }
    conform_say(NULL);
    rubus_module_destroy(module);
    rubus_context_destroy(context);
}

const conform_check conform_buffer_checks[] = {
    {"B01_create_sizes", CONFORM_BASIC, 60, 0,
     "arrays of 0 bytes to 16 MiB are zero at first and hold what is written",
     create_sizes},
    {"B02_alignment_of_offsets", CONFORM_BASIC, 60, 0,
     "windows at every allowed offset, for writes and kernels", alignment_of_offsets},
    {"B03_write_read_roundtrip", CONFORM_BASIC, 120, 0,
     "10000 random writes, fills, copies and reads against a model of bytes",
     write_read_roundtrip},
    {"B04_guard_zones", CONFORM_BASIC, 240, 0,
     "nothing is written beside an array, by any way of writing", guard_zones},
    {"B05_fill_patterns", CONFORM_BASIC, 120, 0,
     "fills of every type, with every length of tail", fill_patterns},
    {"B06_copy_overlap", CONFORM_BASIC, 60, 0,
     "copies inside one buffer, both ways; overlapping ones are refused", copy_overlap},
    {"B07_map_rw_semantics", CONFORM_BASIC, 60, 0,
     "mappings for reading, for writing, for both, between kernels", map_rw_semantics},
    {.name = NULL},
};
