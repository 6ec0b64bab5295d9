/* SPDX-License-Identifier: Apache-2.0 */
/* Checks E: every error has a status and a text, and leaves the rest as it was. */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform_direct.h"

/* --- wrong calls of the table ----------------------------------------------------- */

/* The context still works. */
static void still_good(const conform_direct *d, const char *after)
{
    void *buffer = NULL;
    uint64_t out = 0;
    const uint64_t in = 0x1122334455667788u;
    conform_say("after %s: ", after);
    conform_slot_ok(d->ops.buffer_create(d->ctx, 4096, &buffer));
    conform_slot_ok(d->ops.write(d->ctx, buffer, 4088, &in, 8));
    conform_slot_ok(d->ops.synchronize(d->ctx));
    conform_slot_ok(d->ops.read(d->ctx, buffer, 4088, &out, 8));
    conform_true(in == out, "bytes 4088 to 4095 are %llx", (unsigned long long)out);
    d->ops.buffer_destroy(d->ctx, buffer);
    conform_say(NULL);
}

static rubus_status build(const conform_direct *d, const char *dialect, const char *text,
                          uint32_t entries, void **out)
{
    const rubus_entry entry = {.struct_size = sizeof entry,
                               .ndim = 1,
                               .block_size = 48,
                               .symbol = "nothing",
                               .label = "conformance, pass 0 of 1"};
    rubus_module_desc desc = {.struct_size = sizeof desc,
                              .nentry = entries,
                              .dialect = dialect,
                              .name = "conformance",
                              .text = text,
                              .text_size = strlen(text),
                              .entry = &entry};
    for (size_t i = 0; i < sizeof desc.key; i++) {
        desc.key[i] = (uint8_t)(i * 7 + strlen(text));
    }
    *out = NULL;
    conform_direct_forget();
    return d->ops.module_create(d->ctx, &desc, out);
}

static void wrong_text(const conform_direct *d, const char *dialect, const char *text,
                       const char *what)
{
    void *module = NULL;
    conform_slot_fails(build(d, dialect, text, 1, &module), what);
    still_good(d, what);
}

static void every_error_has_text(void)
{
    const char *dialect = conform_facts_now()->caps.dialect;
    conform_direct d;
    conform_direct_start(&d);
    for (int round = 0; round < 3; round++) {
        wrong_text(&d, dialect, "this is no program {{{ of any language",
                   "a module of nonsense");
        wrong_text(&d, dialect, "", "a module without text");
        wrong_text(&d, dialect, "int unrelated;\n", "a module without its entry");
        wrong_text(&d, "cobol", "MOVE A TO B.", "a module of an unknown dialect");
        void *buffer = NULL;
        conform_direct_forget();
        conform_slot_fails(d.ops.buffer_create(d.ctx, UINT64_C(1) << 55, &buffer),
                           "a buffer of 2^55 bytes");
        still_good(&d, "a buffer of 2^55 bytes");
        void *ctx = NULL;
        conform_direct_forget();
        conform_slot_fails(d.ops.context_create(d.be, 12345, &ctx),
                           "a context on device 12345");
        still_good(&d, "a context on device 12345");
    }
    conform_direct_close(&d);
}

/* Failing calls between good ones, through the library. */
static void error_leaves_object_usable(void)
{
    static const char text[] = "kernel more(inout int u[n], int k) { u += k; }\n";
    enum { N = 1000, ROUNDS = 50 };
    rubus_context *context = conform_open();
    rubus_module *module = conform_module(context, text, RUBUS_F32);
    const rubus_kernel *more = conform_kernel(module, "more");
    rubus_array *u = NULL;
    conform_ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(N), &u));
    for (int round = 0; round < ROUNDS; round++) {
        rubus_array *none = NULL;
        rubus_module *nothing = NULL;
        int32_t word = 0;
        conform_ok(rubus_launch(more, u, 1));
        const rubus_status st = rubus_launch(more, u);
        conform_true(st != RUBUS_OK, "a launch without an argument");
        conform_true(rubus_array_read_range(u, N, 1, &word) == RUBUS_ESHAPE,
                     "a read past the end");
        conform_true(rubus_array_write_range(u, -1, 1, &word) == RUBUS_ESHAPE,
                     "a write before the start");
        conform_true(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(INT64_C(1) << 52),
                                        &none) != RUBUS_OK,
                     "an array of 2^54 bytes");
        conform_true(rubus_module_create(context, "bad.rk", "kernel (", NULL, &nothing) ==
                         RUBUS_ECOMPILE,
                     "a source that is cut off");
        conform_true(rubus_array_unmap(u) == RUBUS_ESTATE, "unmap without map");
    }
    int32_t *got = conform_contents(u);
    for (int i = 0; i < N; i++) {
        conform_true(got[i] == ROUNDS, "element %d is %d, should be %d", i, got[i],
                     ROUNDS);
    }
    free(got);
    rubus_array_destroy(u);
    rubus_module_destroy(module);
    rubus_context_destroy(context);
}

static void unsupported_names_remedy(void)
{
    rubus_context *context = conform_open_with(":fp64=off");
    const rubus_module_options options = {.struct_size = sizeof options,
                                          .real = RUBUS_F64};
    rubus_module *module = NULL;
    for (int round = 0; round < 3; round++) {
        const rubus_status st = rubus_module_create(
            context, "wide.rk", "kernel k(out real u[n]) { u = 1; }", &options, &module);
        conform_true(st == RUBUS_EUNSUPPORTED, "a module in f64 with fp64=off gives %s",
                     rubus_status_name(st));
        const char *words = rubus_error_text();
        conform_true(strstr(words, "f64") != NULL || strstr(words, "double") != NULL ||
                         strstr(words, "fp64") != NULL,
                     "the text does not say what is missing: %s", words);
    }
    rubus_module *narrow =
        conform_module(context, "kernel k(out real u[n]) { u = 1; }", RUBUS_F32);
    rubus_module_destroy(narrow);
    rubus_context_destroy(context);
}

/* What goes wrong on the device is reported by the next waiting call, once. */
static void async_error_reported_once(void)
{
    static const char text[] =
        "kernel past(inout int r[n], in int k[n]) over (i in 0:n)\n"
        "{ if (k[i] != 0) { r[i + k[i]] = 7; } }\n"
        "kernel more(inout int r[n]) { r += 1; }\n";
    enum { N = 300 };
    rubus_context *context = conform_open();
    const rubus_module_options options = {
        .struct_size = sizeof options, .real = RUBUS_F32, .check = 1};
    rubus_module *module = NULL;
    conform_ok(rubus_module_create(context, "async.rk", text, &options, &module));
    rubus_array *r = NULL;
    rubus_array *k = NULL;
    conform_ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(N), &r));
    conform_ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(N), &k));
    conform_ok(rubus_array_fill(k, 2 * N));
    for (int round = 0; round < 6; round++) {
        conform_say("round %d: ", round);
        conform_ok(rubus_array_fill(r, 0));
        conform_ok(rubus_launch(conform_kernel(module, "past"), r, k));
        conform_ok(rubus_launch(conform_kernel(module, "more"), r));
        int32_t *got = conform_memory(N * sizeof *got);
        const rubus_status st = round % 2 == 0
                                    ? rubus_context_synchronize(context)
                                    : rubus_array_read(r, got, N * sizeof *got);
        conform_true(st == RUBUS_EBOUNDS, "the waiting call gives %s",
                     rubus_status_name(st));
        conform_ok(rubus_context_synchronize(context));
        conform_ok(rubus_array_read(r, got, N * sizeof *got));
        for (int i = 0; i < N; i++) {
            conform_true(got[i] == 1, "element %d is %d, should be 1", i, got[i]);
        }
        free(got);
    }
    rubus_array_destroy(r);
    rubus_array_destroy(k);
    rubus_module_destroy(module);
    rubus_context_destroy(context);
}

/* --- texts of threads ------------------------------------------------------------- */

enum { TEXT_ROUNDS = 3000 };

typedef struct text_thread {
    const conform_direct *d;
    uint32_t device;
    char alone[CONFORM_TEXT]; // the text when nobody else fails
    bool differs;
} text_thread;

static void ask_for_device(const conform_direct *d, uint32_t device)
{
    void *ctx = NULL;
    conform_direct_forget();
    conform_slot_fails(d->ops.context_create(d->be, device, &ctx),
                       "a context on a device that is not there");
}

static void *fail_often(void *argument)
{
    text_thread *t = argument;
    for (int i = 0; i < TEXT_ROUNDS && !t->differs; i++) {
        ask_for_device(t->d, t->device);
        t->differs = strcmp(conform_direct_text(), t->alone) != 0;
    }
    return NULL;
}

static void no_text_leaks_between_threads(void)
{
    enum { THREADS = 4 };
    conform_direct d;
    conform_direct_load(&d);
    conform_slot_ok(conform_direct_open(&d));
    text_thread t[THREADS];
    pthread_t thread[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        t[i] = (text_thread){.d = &d, .device = 1000000u + 1111111u * i};
        ask_for_device(&d, t[i].device);
        snprintf(t[i].alone, sizeof t[i].alone, "%s", conform_direct_text());
    }
    for (int i = 0; i < THREADS; i++) {
        conform_true(pthread_create(&thread[i], NULL, fail_often, &t[i]) == 0,
                     "no thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        conform_true(!t[i].differs, "while other threads fail, the text '%s' is another",
                     t[i].alone);
    }
    conform_direct_close(&d);
}

const conform_check conform_error_checks[] = {
    {"E01_every_error_has_text", CONFORM_BASIC, 120,
     CONFORM_NEEDS_FILE | CONFORM_BROKEN_TEXT,
     "wrong calls of the table give a status and a text, and nothing breaks",
     every_error_has_text},
    {"E02_error_leaves_object_usable", CONFORM_BASIC, 60, 0,
     "failing calls between good ones change no result", error_leaves_object_usable},
    {"E03_unsupported_names_remedy", CONFORM_BASIC, 60, 0,
     "with fp64=off a module in f64 is refused with words", unsupported_names_remedy},
    {"E04_async_error_reported_once", CONFORM_BASIC, 60, 0,
     "what goes wrong on the device is reported by the next waiting call, once",
     async_error_reported_once},
    {"E06_no_text_leaks_between_threads", CONFORM_BASIC, 60, CONFORM_NEEDS_FILE,
     "each thread gets the text of its own error", no_text_leaks_between_threads},
    {.name = NULL},
};
