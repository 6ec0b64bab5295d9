/* SPDX-License-Identifier: Apache-2.0 */
/* Checks C: what the plugin says it can do, and whether that is so. */
#include "config.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform_direct.h"

/* --- answers ---------------------------------------------------------------------- */

static void ask(conform_direct *d, uint32_t device, rubus_caps *out)
{
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    conform_slot_ok(d->ops.device_caps(d->be, device, out));
}

static void *ask_often(void *argument)
{
    conform_direct *d = argument;
    rubus_caps *caps = conform_memory(2 * sizeof *caps);
    ask(d, conform_facts_now()->device, &caps[0]);
    for (int i = 0; i < 20; i++) {
        ask(d, conform_facts_now()->device, &caps[1]);
        conform_true(memcmp(&caps[0], &caps[1], sizeof *caps) == 0,
                     "asked twice by one thread, it gives other capabilities");
    }
    return caps;
}

static void caps_stable(void)
{
    conform_direct d;
    conform_direct_start(&d);
    rubus_caps before;
    rubus_caps after;
    uint32_t n[2] = {0, 0};
    conform_slot_ok(d.ops.device_count(d.be, &n[0]));
    ask(&d, conform_facts_now()->device, &before);
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        conform_true(pthread_create(&thread[i], NULL, ask_often, &d) == 0, "no thread");
    }
    for (int i = 0; i < 2; i++) {
        void *caps = NULL;
        pthread_join(thread[i], &caps);
        conform_true(memcmp(&before, caps, sizeof before) == 0,
                     "another thread gets other capabilities");
        free(caps);
    }
    void *buffer = NULL;
    conform_slot_ok(d.ops.buffer_create(d.ctx, 1 << 20, &buffer));
    ask(&d, conform_facts_now()->device, &after);
    conform_true(memcmp(&before, &after, sizeof before) == 0,
                 "with a buffer alive, it gives other capabilities");
    d.ops.buffer_destroy(d.ctx, buffer);
    conform_slot_ok(d.ops.device_count(d.be, &n[1]));
    conform_true(n[0] == n[1], "first there are %u devices, then %u", n[0], n[1]);
    conform_direct_close(&d);
}

static bool power_of_two(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

static void check_plausible(const rubus_caps *c)
{
    static const char *const dialects[] = {"c", "glsl", "opencl", "rk"};
    bool known = false;
    for (int i = 0; i < 4; i++) {
        known = known || strcmp(c->dialect, dialects[i]) == 0;
    }
    conform_true(known, "dialect '%.16s' is none", c->dialect);
    conform_true(memchr(c->name, '\0', sizeof c->name) != NULL && c->name[0] != '\0',
                 "the name of the device is empty or without end");
    conform_true(memchr(c->driver, '\0', sizeof c->driver) != NULL,
                 "the name of the driver is without end");
    conform_true(c->kind <= RUBUS_KIND_SOFTWARE, "kind %u is none", c->kind);
    conform_true(c->memory >= RUBUS_AT_HOST && c->memory <= RUBUS_AT_SHARED,
                 "memory %u is none", c->memory);
    conform_true(c->fp64 <= 2 && c->int64 <= 2 && c->bool8 <= 2 &&
                     c->atomic_f32_add <= 2 && c->atomic_f64_add <= 2,
                 "an ability is neither 0, 1 nor 2: fp64 %u, int64 %u, bool8 %u, "
                 "atomic_f32_add %u, atomic_f64_add %u",
                 c->fp64, c->int64, c->bool8, c->atomic_f32_add, c->atomic_f64_add);
    conform_true(c->fp64 != 0 || c->atomic_f64_add == 0,
                 "atomic adds of double without double");
    conform_true(c->offset_align == 0 || power_of_two(c->offset_align),
                 "offset_align %u is no power of two", c->offset_align);
    conform_true(c->lane_width <= 1024, "lane_width %u", c->lane_width);
    const unsigned long long limits[3] = {c->mem_total, c->max_alloc, c->max_buffer};
    conform_true(limits[0] == 0 || limits[2] == 0 || limits[2] <= limits[0],
                 "max_buffer %llu is more than mem_total %llu", limits[2], limits[0]);
    conform_true(limits[1] == 0 || limits[2] == 0 || limits[2] <= limits[1],
                 "max_buffer %llu is more than max_alloc %llu", limits[2], limits[1]);
}

static void caps_plausible(void)
{
    const conform_facts *facts = conform_facts_now();
    conform_true(facts->opened, "no context could be opened: %s", facts->reason);
    if (facts->file[0] == '\0') {
        check_plausible(&facts->caps);
        return;
    }
    conform_direct d;
    conform_direct_load(&d);
    conform_slot_ok(conform_direct_open(&d));
    uint32_t n = 0;
    conform_slot_ok(d.ops.device_count(d.be, &n));
    conform_true(n > 0, "there is a context and no device");
    for (uint32_t i = 0; i < n; i++) {
        rubus_caps caps;
        ask(&d, i, &caps);
        conform_say("device %u: ", i);
        check_plausible(&caps);
    }
    conform_direct_close(&d);
}

static void uuid_unique_and_stable(void)
{
    enum { MOST = 64 };
    static const uint8_t none[16];
    uint8_t first[MOST][16];
    uint32_t n = 0;
    for (int round = 0; round < 2; round++) {
        conform_direct d;
        conform_direct_load(&d);
        conform_slot_ok(conform_direct_open(&d));
        conform_slot_ok(d.ops.device_count(d.be, &n));
        for (uint32_t i = 0; i < n && i < MOST; i++) {
            rubus_caps caps;
            ask(&d, i, &caps);
            if (round == 0) {
                memcpy(first[i], caps.uuid, 16);
            }
            conform_true(memcmp(first[i], caps.uuid, 16) == 0,
                         "device %u has another uuid when opened again", i);
            for (uint32_t k = 0; k < i; k++) {
                conform_true(memcmp(caps.uuid, none, 16) == 0 ||
                                 memcmp(first[k], caps.uuid, 16) != 0,
                             "devices %u and %u have one uuid", k, i);
            }
        }
        conform_direct_close(&d);
    }
}

static void device_out_of_range(void)
{
    conform_direct d;
    conform_direct_load(&d);
    conform_slot_ok(conform_direct_open(&d));
    uint32_t n = 0;
    conform_slot_ok(d.ops.device_count(d.be, &n));
    const uint32_t wrong[] = {n, n + 1, UINT32_MAX};
    for (int i = 0; i < 3; i++) {
        rubus_caps caps = {.struct_size = sizeof caps};
        void *ctx = NULL;
        conform_say("device %u of %u: ", wrong[i], n);
        conform_direct_forget();
        conform_slot_fails(d.ops.device_caps(d.be, wrong[i], &caps), "device_caps");
        conform_direct_forget();
        conform_slot_fails(d.ops.context_create(d.be, wrong[i], &ctx), "context_create");
    }
    conform_direct_close(&d);
}

/* --- memory ----------------------------------------------------------------------- */

static void locality_agrees(void)
{
    static const uint64_t sizes[] = {1, 64, 4096, 1 << 20, 32 << 20};
    conform_direct d;
    conform_direct_start(&d);
    rubus_caps caps;
    ask(&d, conform_facts_now()->device, &caps);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        void *buffer = NULL;
        uint32_t where = 0;
        conform_slot_ok(d.ops.buffer_create(d.ctx, sizes[i], &buffer));
        for (int round = 0; round < 2; round++) {
            conform_slot_ok(d.ops.locality(d.ctx, buffer, &where));
            conform_true(where == caps.memory,
                         "locality says %u of a buffer of %llu bytes, the capabilities "
                         "%u (1 host, 2 device, 3 shared)",
                         where, (unsigned long long)sizes[i], caps.memory);
            conform_slot_ok(d.ops.write(d.ctx, buffer, 0, &where, 1));
        }
        d.ops.buffer_destroy(d.ctx, buffer);
    }
    conform_direct_close(&d);
}

static uint64_t memory_available(void)
{
    FILE *info = fopen("/proc/meminfo", "re");
    char line[128];
    unsigned long long kib = 0;
    while (info != NULL && fgets(line, sizeof line, info) != NULL) {
        if (sscanf(line, "MemAvailable: %llu", &kib) == 1) {
            break;
        }
    }
    if (info != NULL) {
        fclose(info);
    }
    return kib * 1024;
}

static void touch_buffer(conform_direct *d, uint64_t size)
{
    void *buffer = NULL;
    const rubus_status st = d->ops.buffer_create(d->ctx, size, &buffer);
    conform_true(st == RUBUS_OK,
                 "max_buffer and max_alloc allow %llu bytes, buffer_create gives %s: %s",
                 (unsigned long long)size, rubus_status_name(st), conform_direct_text());
    const uint64_t places[] = {0, size / 2 / 8 * 8, size - 8};
    for (uint64_t i = 0; i < 3; i++) {
        const uint64_t word = 0x0123456789ABCDEFu * (i + 1);
        conform_slot_ok(d->ops.write(d->ctx, buffer, places[i], &word, 8));
    }
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t word = 0;
        conform_slot_ok(d->ops.read(d->ctx, buffer, places[i], &word, 8));
        conform_true(word == 0x0123456789ABCDEFu * (i + 1),
                     "byte %llu of a buffer of %llu bytes does not hold what was written",
                     (unsigned long long)places[i], (unsigned long long)size);
    }
    d->ops.buffer_destroy(d->ctx, buffer);
}

static uint64_t least_nonzero(uint64_t a, uint64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static void max_alloc_is_real(void)
{
    const uint64_t most = UINT64_C(256) << 20; // as much as a check may ask of a machine
    conform_direct d;
    conform_direct_start(&d);
    rubus_caps caps;
    ask(&d, conform_facts_now()->device, &caps);
    const uint64_t limit = least_nonzero(caps.max_buffer, caps.max_alloc);
    uint64_t size = least_nonzero(limit, most);
    size = least_nonzero(size, memory_available() / 4);
    size = least_nonzero(size, caps.mem_total / 4) / 16 * 16;
    if (limit != 0 && limit <= size) {
        size = limit;
    }
    conform_true(size >= 1024, "a buffer may have %llu bytes only",
                 (unsigned long long)size);
    touch_buffer(&d, size);
    const uint64_t beyond[] = {limit != 0 ? limit + 1 : UINT64_C(1) << 50,
                               UINT64_C(1) << 50, UINT64_MAX - 7};
    for (int i = 0; i < 3; i++) {
        void *buffer = NULL;
        char what[64];
        snprintf(what, sizeof what, "buffer_create of %llu bytes",
                 (unsigned long long)beyond[i]);
        conform_direct_forget();
        const rubus_status st = d.ops.buffer_create(d.ctx, beyond[i], &buffer);
        conform_slot_fails(st, what);
        conform_true(st == RUBUS_ELIMIT || st == RUBUS_EDEVMEM || st == RUBUS_ENOMEM,
                     "%s gives %s, not RUBUS_ELIMIT or RUBUS_EDEVMEM", what,
                     rubus_status_name(st));
    }
    touch_buffer(&d, 4096);
    conform_direct_close(&d);
}

static void unified_memory_claim(void)
{
    enum { N = 3001, ROUNDS = 50 };
    const int32_t real = conform_real();
    rubus_context *context = conform_open();
    rubus_module *module =
        conform_module(context, "kernel more(inout real u[n]) { u += 1; }", real);
    rubus_array *u = NULL;
    conform_ok(rubus_array_create(context, real, RUBUS_SHAPE(N), &u));
    for (int round = 0; round < ROUNDS; round++) {
        void *host = NULL;
        conform_ok(rubus_array_map(u, RUBUS_READ | RUBUS_WRITE, &host));
        for (int i = 0; i < N; i++) {
            const double was =
                real == RUBUS_F64 ? ((double *)host)[i] : (double)((float *)host)[i];
            const double want = round == 0 ? 0 : 1000.0 * (round - 1) + i % 100 + 1;
            conform_true(was == want,
                         "round %d: element %d is %g through the mapping, "
                         "should be %g",
                         round, i, was, want);
            if (real == RUBUS_F64) {
                ((double *)host)[i] = 1000.0 * round + i % 100;
            } else {
                ((float *)host)[i] = 1000.0F * (float)round + (float)(i % 100);
            }
        }
        conform_ok(rubus_array_unmap(u));
        conform_ok(rubus_launch(conform_kernel(module, "more"), u));
    }
    rubus_array_destroy(u);
    rubus_module_destroy(module);
    rubus_context_destroy(context);
}

/* --- numbers ---------------------------------------------------------------------- */

static const char digits_text[] =
    "kernel digits(out real r[n], in real a[n], in real b[n]) over (i in 0:n)\n"
    "{\n"
    "    real x = a[i];\n"
    "    real y = b[i];\n"
    "    int k = mod(i, 8);\n"
    "    if (k == 0) { r[i] = x + y; }\n"
    "    if (k == 1) { r[i] = x - y; }\n"
    "    if (k == 2) { r[i] = x * y; }\n"
    "    if (k == 3) { r[i] = x / y; }\n"
    "    if (k == 4) { r[i] = sqrt(x); }\n"
    "    if (k == 5) { r[i] = fma(x, y, -1.0); }\n"
    "    if (k == 6) { r[i] = x * y + 0.1; }\n"
    "    if (k == 7) { r[i] = (x + y) - x; }\n"
    "}\n";

static double digits64(int k, double x, double y)
{
    // volatile: no product may be kept for a fused multiply-add
    volatile double product = x * y;
    volatile double sum = x + y;
    const double results[8] = {sum,     x - y,           product,       x / y,
                               sqrt(x), fma(x, y, -1.0), product + 0.1, sum - x};
    return results[k];
}

static float digits32(int k, float x, float y)
{
    volatile float product = x * y;
    volatile float sum = x + y;
    const float results[8] = {
        sum, x - y, product, x / y, sqrtf(x), fmaf(x, y, -1.0F), product + 0.1F, sum - x};
    return results[k];
}

/* 1 + 2^-40 needs a double; 1 + 2^-20 a float, and no more than that. */
static void check_digits(rubus_context *context, int32_t real)
{
    enum { N = 256 };
    const bool f64 = real == RUBUS_F64;
    double a64[N];
    double b64[N];
    double want64[N];
    float a32[N];
    float b32[N];
    float want32[N];
    for (int i = 0; i < N; i++) {
        a64[i] = 1 + (i + 1) * (f64 ? 0x1p-40 : 0x1p-20);
        b64[i] = i % 3 == 0 ? a64[i] : (i % 3 == 1 ? 1.0 / 3 : 0x1p-41 * (i + 1));
        a32[i] = (float)a64[i];
        b32[i] = (float)b64[i];
        want64[i] = digits64(i % 8, a64[i], b64[i]);
        want32[i] = digits32(i % 8, a32[i], b32[i]);
    }
    rubus_module *module = conform_module(context, digits_text, real);
    rubus_array *array[3];
    conform_ok(rubus_array_create(context, real, RUBUS_SHAPE(N), &array[0]));
    conform_ok(rubus_array_from(context, real, RUBUS_SHAPE(N),
                                f64 ? (void *)a64 : (void *)a32, &array[1]));
    conform_ok(rubus_array_from(context, real, RUBUS_SHAPE(N),
                                f64 ? (void *)b64 : (void *)b32, &array[2]));
    conform_ok(
        rubus_launch(conform_kernel(module, "digits"), array[0], array[1], array[2]));
    void *got = conform_contents(array[0]);
    conform_same(
        got, f64 ? (void *)want64 : (void *)want32, N, real,
        f64 ? "arithmetic in f64 (element number mod 8: + - * / sqrt fma a*b+0.1 "
              "a+b-a)"
            : "arithmetic in f32 (element number mod 8: + - * / sqrt fma a*b+0.1 "
              "a+b-a)");
    free(got);
    for (int i = 0; i < 3; i++) {
        rubus_array_destroy(array[i]);
    }
    rubus_module_destroy(module);
}

static void fp64_is_double(void)
{
    rubus_context *context = conform_open();
    if (conform_facts_now()->caps.fp64 != 0) {
        check_digits(context, RUBUS_F64);
    } else {
        const rubus_module_options options = {.struct_size = sizeof options,
                                              .real = RUBUS_F64};
        rubus_module *module = NULL;
        const rubus_status st =
            rubus_module_create(context, "digits.rk", digits_text, &options, &module);
        conform_true(st == RUBUS_EUNSUPPORTED,
                     "fp64 is declared as 0, and a module in f64 gives %s",
                     rubus_status_name(st));
        conform_true(rubus_error_text()[0] != '\0', "no text says that f64 is missing");
    }
    check_digits(context, RUBUS_F32);
    rubus_context_destroy(context);
}

static void int64_is_wide(void)
{
    static const char text[] = "kernel wide(out int r[n], in int a[n]) over (i in 0:n)\n"
                               "{ r[i] = a[i] * 4294967299 + div(a[i], 3) - i; }\n";
    enum { N = 100 };
    int64_t in[N];
    int64_t want[N];
    for (int64_t i = 0; i < N; i++) {
        in[i] = (i - 50) * INT64_C(30000000001);
        want[i] =
            (int64_t)((uint64_t)in[i] * UINT64_C(4294967299) + (uint64_t)(in[i] / 3 - i));
    }
    rubus_context *context = conform_open();
    const rubus_module_options options = {
        .struct_size = sizeof options, .real = RUBUS_F32, .index = RUBUS_I64};
    rubus_module *module = NULL;
    rubus_array *a = NULL;
    rubus_array *r = NULL;
    conform_ok(rubus_module_create(context, "wide.rk", text, &options, &module));
    conform_ok(rubus_array_from(context, RUBUS_I64, RUBUS_SHAPE(N), in, &a));
    conform_ok(rubus_array_create(context, RUBUS_I64, RUBUS_SHAPE(N), &r));
    conform_ok(rubus_launch(conform_kernel(module, "wide"), r, a));
    void *got = conform_contents(r);
    conform_same(got, want, N, RUBUS_I64, "arithmetic of 64-bit ints");
    free(got);
    rubus_array_destroy(a);
    rubus_array_destroy(r);
    rubus_module_destroy(module);
    rubus_context_destroy(context);
}

/* Bools that lie side by side in a word are written by different points. */
static void bool_is_one_byte(void)
{
    static const char text[] =
        "kernel odd(inout bool r[n], in bool a[n]) over (i in 0:n)\n"
        "{ if (mod(i, 3) != 1) { r[i] = !a[i]; } }\n";
    enum { N = 4099 };
    unsigned char in[N];
    unsigned char want[N];
    rubus_context *context = conform_open();
    rubus_module *module = conform_module(context, text, RUBUS_F32);
    conform_window a = conform_window_make(context, RUBUS_BOOL, RUBUS_SHAPE(N), 1);
    conform_window r = conform_window_make(context, RUBUS_BOOL, RUBUS_SHAPE(N), 2);
    for (int i = 0; i < N; i++) {
        in[i] = (unsigned char)(i / 7 % 2);
        want[i] = (unsigned char)(i % 3 != 1 ? !in[i] : 1);
    }
    conform_ok(rubus_array_write(a.array, in, N));
    conform_ok(rubus_array_fill(r.array, 1));
    conform_ok(rubus_launch(conform_kernel(module, "odd"), r.array, a.array));
    void *got = conform_contents(r.array);
    conform_same(got, want, N, RUBUS_BOOL, "bools written by every third point");
    free(got);
    conform_window_check(&a, "a kernel that reads bools");
    conform_window_check(&r, "a kernel that writes bools");
    conform_window_destroy(&a);
    conform_window_destroy(&r);
    rubus_module_destroy(module);
    rubus_context_destroy(context);
}

const conform_check conform_caps_checks[] = {
    {"C01_caps_stable", CONFORM_BASIC, 60, CONFORM_NEEDS_FILE,
     "capabilities are the same whenever and by whomever they are asked", caps_stable},
    {"C02_caps_plausible", CONFORM_LOAD, 60, 0,
     "capabilities make sense, alone and together", caps_plausible},
    {"C03_max_alloc_is_real", CONFORM_BASIC, 120, CONFORM_NEEDS_FILE,
     "buffers up to the declared limit can be had and used, larger ones are refused",
     max_alloc_is_real},
    {"C04_fp64_is_double", CONFORM_BASIC, 60, 0,
     "f64 has 53 bits, f32 has 24; without fp64 a module in f64 is refused",
     fp64_is_double},
    {"C08_unified_memory_claim", CONFORM_BASIC, 60, CONFORM_NEEDS_MAP,
     "what the host stores through a mapping a kernel sees, and back",
     unified_memory_claim},
    {"C09_uuid_unique_and_stable", CONFORM_BASIC, 60, CONFORM_NEEDS_FILE,
     "no two devices have one uuid, and none changes it", uuid_unique_and_stable},
    {"C10_locality_agrees", CONFORM_LOAD, 60, CONFORM_NEEDS_FILE,
     "the locality slot says what the capabilities say", locality_agrees},
    {"C11_device_out_of_range", CONFORM_BASIC, 60, CONFORM_NEEDS_FILE,
     "a device that is not there is an error with a text", device_out_of_range},
    {"C12_bool_is_one_byte", CONFORM_BASIC, 60, CONFORM_NEEDS_BOOL,
     "neighbouring bools can be written by different points", bool_is_one_byte},
    {"C13_int64_is_wide", CONFORM_BASIC, 60, CONFORM_NEEDS_INT64,
     "ints of 64 bits multiply, divide and wrap as such", int64_is_wide},
    {.name = NULL},
};
