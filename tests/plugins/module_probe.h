/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_MODULE_PROBE_H
#define RUBUS_TESTS_MODULE_PROBE_H
/*
 * What the tests of the Vulkan backend's modules share, beside device_probe.h: the module
 * of vulkan_texts.h in both real types, arrays of reals, and launches.
 */
#include <dirent.h>
#include <stddef.h>

#include "plugins/vulkan/vk_module.h"
#include "tests/plugins/device_probe.h"
#include "tests/plugins/vulkan_texts.h"

static bool doubles; /* the real of the module at hand */
static char text[16384];

/* --- the module ------------------------------------------------------------------- */

static rubus_param param[VULKAN_ENTRIES][25];
static rubus_entry entry[VULKAN_ENTRIES];
static rubus_module_desc desc;

static inline void add(uint32_t e, rubus_param p, const char *name)
{
    rubus_entry *to = &entry[e];
    p.name = name;
    p.size = p.is_buffer || p.type == RUBUS_I64 || p.type == RUBUS_F64 ? 8 : 4;
    p.offset = (to->block_size + p.size - 1) / p.size * p.size;
    p.index = p.is_buffer ? to->nbuffer++ : 0;
    to->block_size = p.offset + p.size;
    param[e][to->nparam++] = p;
}

/* The description of vulkan_text for the real type; key: its first byte. */
static inline void describe(bool is_double, uint8_t key)
{
    static const char *const names[] = {"axpy", "box", "groups", "long"};
    const uint32_t real = is_double ? RUBUS_F64 : RUBUS_F32;
    const rubus_param out = {.is_buffer = 1, .type = real, .access = 3};
    const rubus_param in = {.is_buffer = 1, .type = real, .access = RUBUS_READ};
    const rubus_param extent = {.type = RUBUS_I64};
    const rubus_param scalar = {.type = real};
    doubles = is_double;
    for (uint32_t e = 0; e < VULKAN_ENTRIES; e++) {
        entry[e] = (rubus_entry){.struct_size = sizeof(rubus_entry),
                                 .ndim = e == VULKAN_BOX ? 3 : 1,
                                 .block_size = 48,
                                 .flags = (is_double ? RUBUS_ENTRY_NEEDS_F64 : 0) |
                                          (e == VULKAN_GROUPS ? RUBUS_ENTRY_GROUPS : 0),
                                 .bytes_per_point = 24,
                                 .symbol = names[e],
                                 .label = names[e],
                                 .param = param[e]};
        add(e, out, "y");
    }
    add(VULKAN_AXPY, in, "x");
    add(VULKAN_AXPY, extent, "n");
    add(VULKAN_AXPY, scalar, "a");
    add(VULKAN_BOX, extent, "nx");
    add(VULKAN_BOX, extent, "ny");
    add(VULKAN_GROUPS, in, "x");
    for (int i = 0; i < 24; i++) {
        add(VULKAN_LONG, scalar, "c");
    }
    size_t n = vulkan_text(is_double ? "double" : "float", text, sizeof text);
    ck_assert_uint_lt(n, sizeof text);
    desc = (rubus_module_desc){.struct_size = sizeof desc,
                               .nentry = VULKAN_ENTRIES,
                               .flags = is_double ? RUBUS_MODULE_F64 : 0,
                               .dialect = "glsl",
                               .name = "by hand",
                               .text = text,
                               .text_size = n,
                               .key = {key, is_double},
                               .entry = entry};
}

/* --- arrays ----------------------------------------------------------------------- */

static inline size_t real_size(void)
{
    return doubles ? 8 : 4;
}

static inline void *make_array(uint64_t n)
{
    void *buffer = NULL;
    OK(ops.buffer_create(ctx, n * real_size(), &buffer));
    return buffer;
}

static inline void put_real(unsigned char *to, double value)
{
    const float narrow = (float)value;
    memcpy(to, doubles ? (const void *)&value : (const void *)&narrow, real_size());
}

static inline double get_real(const unsigned char *from)
{
    double value = 0;
    float narrow = 0;
    memcpy(doubles ? (void *)&value : (void *)&narrow, from, real_size());
    return doubles ? value : (double)narrow;
}

/* a[i] = first + step * i for all of the array. */
static inline void write_line(void *buffer, uint64_t n, double first, double step)
{
    unsigned char *bytes = malloc(n * real_size());
    for (uint64_t i = 0; i < n; i++) {
        put_real(bytes + i * real_size(), first + step * (double)i);
    }
    OK(ops.write(ctx, buffer, 0, bytes, n * real_size()));
    free(bytes);
}

static inline void *make_line(uint64_t n, double first, double step)
{
    void *buffer = make_array(n);
    write_line(buffer, n, first, step);
    return buffer;
}

/* Fresh memory with the array as doubles. */
static inline double *read_array(void *buffer, uint64_t n)
{
    unsigned char *bytes = malloc(n * real_size());
    double *values = malloc(n * sizeof *values);
    OK(ops.read(ctx, buffer, 0, bytes, n * real_size()));
    for (uint64_t i = 0; i < n; i++) {
        values[i] = get_real(bytes + i * real_size());
    }
    free(bytes);
    return values;
}

/* --- launches --------------------------------------------------------------------- */

/* first: element where the window of each buffer begins. */
static inline rubus_status launch(void *module, uint32_t e, unsigned char *block,
                                  void *const *buffer, const uint64_t *first,
                                  const uint64_t *count, const int64_t *lo,
                                  const int64_t *hi)
{
    uint64_t first_byte[2] = {0, 0};
    uint64_t nbyte[2] = {0, 0};
    for (uint32_t b = 0; b < entry[e].nbuffer; b++) {
        first_byte[b] = first[b] * real_size();
        nbyte[b] = count[b] * real_size();
    }
    rubus_launch_info info = {.struct_size = sizeof info,
                              .entry = e,
                              .nbuffer = entry[e].nbuffer,
                              .block = block,
                              .buffer = buffer,
                              .first_byte = first_byte,
                              .nbyte = nbyte};
    memcpy(info.lo, lo, sizeof info.lo);
    memcpy(info.hi, hi, sizeof info.hi);
    memcpy(block, lo, sizeof info.lo);
    memcpy(block + 24, hi, sizeof info.hi);
    return ops.launch(ctx, module, &info);
}

static inline void put_long(unsigned char *block, uint32_t e, uint32_t p, int64_t value)
{
    memcpy(block + param[e][p].offset, &value, sizeof value);
}

/* y[first + i] += a * x[i] for i in [lo, hi). n: the extent that is told. */
static inline rubus_status axpy(void *module, void *y, uint64_t first, void *x,
                                uint64_t count, double a, int64_t n, int64_t lo,
                                int64_t hi)
{
    unsigned char block[80] = {0};
    put_long(block, VULKAN_AXPY, 2, n);
    put_real(block + param[VULKAN_AXPY][3].offset, a);
    void *const buffer[2] = {y, x};
    const uint64_t firsts[2] = {first, 0};
    const uint64_t counts[2] = {count, count};
    const int64_t los[3] = {lo, 0, 0};
    const int64_t his[3] = {hi, 1, 1};
    return launch(module, VULKAN_AXPY, block, buffer, firsts, counts, los, his);
}

/* The last lines of a test with two operands. */
static inline void finish_axpy(void *module, void *y, void *x)
{
    ops.buffer_destroy(ctx, y);
    ops.buffer_destroy(ctx, x);
    ops.module_destroy(ctx, module);
    finish();
}

#endif
