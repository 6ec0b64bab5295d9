/* SPDX-License-Identifier: Apache-2.0 */
/* What checks share: random numbers, contexts, modules, arrays between guard zones. */
#include "config.h"

#include "conform.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ZONE = 1024 }; // elements of a guard zone, at least

/* --- numbers ---------------------------------------------------------------------- */

uint64_t conform_roll(conform_dice *dice)
{
    // SplitMix64; see rubus_array_random
    uint64_t x = dice->state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

int64_t conform_below(conform_dice *dice, int64_t n)
{
    return (int64_t)(conform_roll(dice) % (uint64_t)n);
}

double conform_unit(conform_dice *dice)
{
    return (double)(conform_roll(dice) >> 11) * 0x1p-53;
}

void *conform_memory(size_t nbyte)
{
    void *p = calloc(nbyte + 1, 1);
    conform_true(p != NULL, "no memory for %zu bytes of the check itself", nbyte);
    return p;
}

size_t conform_type_size(int32_t type)
{
    return type == RUBUS_BOOL ? 1 : type == RUBUS_F64 || type == RUBUS_I64 ? 8 : 4;
}

const char *conform_type_name(int32_t type)
{
    static const char *const names[] = {"?", "f32", "f64", "i32", "i64", "bool"};
    return names[type >= RUBUS_F32 && type <= RUBUS_BOOL ? type : 0];
}

/* --- contexts and modules --------------------------------------------------------- */

rubus_context *conform_open_with(const char *more)
{
    char spec[600];
    snprintf(spec, sizeof spec, "%s%s", conform_facts_now()->spec, more);
    rubus_context *context = NULL;
    const rubus_status st = rubus_context_create(spec, &context);
    conform_true(st == RUBUS_OK, "no context of %s could be opened: %s: %s", spec,
                 rubus_status_name(st), rubus_error_text());
    return context;
}

rubus_context *conform_open(void)
{
    return conform_open_with("");
}

rubus_context *conform_oracle(void)
{
    rubus_context *context = NULL;
    conform_ok(rubus_context_create("reference", &context));
    return context;
}

rubus_module *conform_module(rubus_context *context, const char *text, int32_t real)
{
    const rubus_module_options options = {.struct_size = sizeof options, .real = real};
    rubus_module *module = NULL;
    conform_ok(rubus_module_create(context, "conformance.rk", text, &options, &module));
    return module;
}

const rubus_kernel *conform_kernel(rubus_module *module, const char *name)
{
    const rubus_kernel *kernel = rubus_module_kernel(module, name);
    conform_true(kernel != NULL, "%s", rubus_error_text());
    return kernel;
}

bool conform_interprets(void)
{
    return strcmp(conform_facts_now()->caps.dialect, "rk") == 0;
}

int32_t conform_real(void)
{
    return conform_facts_now()->caps.fp64 != 0 ? RUBUS_F64 : RUBUS_F32;
}

/* --- windows ---------------------------------------------------------------------- */

/* No plausible number of any type; as reals, NaN. */
static void poison(unsigned char *bytes, size_t nbyte)
{
    for (size_t i = 0; i < nbyte; i++) {
        static const unsigned char word[8] = {0xA5, 0xA5, 0xF5, 0x7F,
                                              0xA5, 0xA5, 0xF5, 0x7F};
        bytes[i] = word[i % 8];
    }
}

/* In a zone each byte tells its place, so that a shifted copy of it is found too. */
static unsigned char zone_byte(size_t at)
{
    return (unsigned char)(0x5A ^ (at * 37 >> 3) ^ at);
}

conform_window conform_window_make(rubus_context *context, int32_t type,
                                   rubus_shape shape, int shift)
{
    const size_t size = conform_type_size(type);
    const uint32_t align = conform_facts_now()->caps.offset_align;
    const size_t step = align > size ? align / size : 1;
    conform_window w = {.type = type, .count = 1};
    for (int32_t d = 0; d < shape.rank; d++) {
        w.count *= shape.n[d];
    }
    w.before = (int64_t)((ZONE + step - 1) / step * step + (size_t)shift * step);
    w.after = ZONE + 3;
    const int64_t all = w.before + w.count + w.after;
    const size_t nbyte = (size_t)all * size;
    unsigned char *bytes = conform_memory(nbyte);
    for (size_t i = 0; i < nbyte; i++) {
        bytes[i] = zone_byte(i);
    }
    poison(bytes + (size_t)w.before * size, (size_t)w.count * size);
    conform_ok(rubus_array_create(context, type, RUBUS_SHAPE(all), &w.whole));
    conform_ok(rubus_array_write(w.whole, bytes, nbyte));
    conform_ok(rubus_array_view(w.whole, w.before, shape, &w.array));
    free(bytes);
    return w;
}

void conform_window_check(const conform_window *w, const char *what)
{
    const size_t size = conform_type_size(w->type);
    const size_t nbyte = rubus_array_nbyte(w->whole);
    unsigned char *bytes = conform_contents(w->whole);
    for (size_t i = 0; i < nbyte; i++) {
        if (i == (size_t)w->before * size) {
            i += (size_t)w->count * size;
        }
        if (bytes[i] != zone_byte(i)) {
            const bool front = i < (size_t)w->before * size;
            const size_t away = front ? (size_t)w->before * size - i
                                      : i - (size_t)(w->before + w->count) * size + 1;
            conform_fail("%s wrote %s an array of %lld %s elements, %zu bytes from its "
                         "edge",
                         what, front ? "before" : "behind", (long long)w->count,
                         conform_type_name(w->type), away);
        }
    }
    free(bytes);
}

void conform_window_destroy(conform_window *w)
{
    rubus_array_destroy(w->array);
    rubus_array_destroy(w->whole);
}

void *conform_contents(rubus_array *array)
{
    enum { AROUND = 64 }; // bytes before and behind, which a read must leave alone
    const size_t nbyte = rubus_array_nbyte(array);
    unsigned char *room = conform_memory(nbyte + 2 * AROUND);
    memset(room, 0xC3, nbyte + 2 * AROUND);
    conform_ok(rubus_array_read(array, room + AROUND, nbyte));
    for (size_t i = 0; i < AROUND; i++) {
        conform_true(room[i] == 0xC3 && room[AROUND + nbyte + i] == 0xC3,
                     "a read of %zu bytes wrote %s its destination in the host", nbyte,
                     room[i] == 0xC3 ? "behind" : "before");
    }
    void *data = conform_memory(nbyte);
    memcpy(data, room + AROUND, nbyte);
    free(room);
    return data;
}

double conform_real_at(const void *data, int32_t real, int64_t i)
{
    return real == RUBUS_F64 ? ((const double *)data)[i]
                             : (double)((const float *)data)[i];
}

static void print_element(const unsigned char *at, int32_t type, char out[48])
{
    double f64 = 0;
    float f32 = 0;
    int64_t i64 = 0;
    int32_t i32 = 0;
    switch (type) {
    case RUBUS_F64:
        memcpy(&f64, at, sizeof f64);
        snprintf(out, 48, "%.17g (%a)", f64, f64);
        break;
    case RUBUS_F32:
        memcpy(&f32, at, sizeof f32);
        snprintf(out, 48, "%.9g (%a)", (double)f32, (double)f32);
        break;
    case RUBUS_I32:
        memcpy(&i32, at, sizeof i32);
        snprintf(out, 48, "%d", i32);
        break;
    case RUBUS_I64:
        memcpy(&i64, at, sizeof i64);
        snprintf(out, 48, "%lld", (long long)i64);
        break;
    default:
        snprintf(out, 48, "%u", *at);
        break;
    }
}

void conform_same(const void *got, const void *want, int64_t count, int32_t type,
                  const char *what)
{
    const size_t size = conform_type_size(type);
    const unsigned char *a = got;
    const unsigned char *b = want;
    int64_t differ = 0;
    int64_t first = -1;
    for (int64_t i = 0; i < count; i++) {
        if (memcmp(a + (size_t)i * size, b + (size_t)i * size, size) != 0) {
            first = first < 0 ? i : first;
            differ++;
        }
    }
    if (first >= 0) {
        char text[2][48];
        print_element(a + (size_t)first * size, type, text[0]);
        print_element(b + (size_t)first * size, type, text[1]);
        conform_fail("%s: element %lld of %lld is %s, should be %s; %lld elements differ",
                     what, (long long)first, (long long)count, text[0], text[1],
                     (long long)differ);
    }
}

/* --- bytes ------------------------------------------------------------------------ */

unsigned char conform_bit_at(uint64_t at, unsigned salt)
{
    const uint64_t x = (at + 1 + ((uint64_t)salt << 32)) * 0x9E3779B97F4A7C15u;
    return (unsigned char)((x ^ (x >> 29)) * 0xBF58476D1CE4E5B9u >> 63);
}

unsigned char *conform_bits(size_t n, unsigned salt)
{
    unsigned char *bytes = conform_memory(n);
    for (size_t i = 0; i < n; i++) {
        bytes[i] = conform_bit_at(i, salt);
    }
    return bytes;
}

rubus_array *conform_bytes(rubus_context *context, int64_t n)
{
    rubus_array *array = NULL;
    conform_ok(rubus_array_create(context, RUBUS_BOOL, RUBUS_SHAPE(n), &array));
    return array;
}

void conform_check_size(rubus_context *context, int64_t n)
{
    conform_say("%lld bytes: ", (long long)n);
    rubus_array *array = conform_bytes(context, n);
    unsigned char *zero = conform_memory((size_t)n);
    unsigned char *got = conform_contents(array);
    conform_same(got, zero, n, RUBUS_BOOL, "a new array is all zero");
    free(got);
    unsigned char *in = conform_bits((size_t)n, 11);
    conform_ok(rubus_array_write(array, in, (size_t)n));
    got = conform_contents(array);
    conform_same(got, in, n, RUBUS_BOOL, "read after write");
    free(got);
    free(in);
    free(zero);
    rubus_array_destroy(array);
    conform_say(NULL);
}
