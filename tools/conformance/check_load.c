/* SPDX-License-Identifier: Apache-2.0 */
/* Checks L: the file, its descriptor, opening and closing, the table of functions. */
#include "config.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conform_direct.h"
#include "conform_elf.h"
#include "conform_process.h"

/* --- the file --------------------------------------------------------------------- */

static void exports_exactly_one_symbol(void)
{
    conform_elf elf;
    conform_elf_read(conform_facts_now()->file, &elf);
    conform_true(elf.exports_data,
                 "it does not export the data object rubus_backend_plugin");
    conform_true(elf.nexported == 1,
                 "it exports %u symbols (%s); only rubus_backend_plugin may be visible: "
                 "compile with -fvisibility=hidden",
                 elf.nexported, elf.exported);
    // One is the start-up code of the C compiler itself, one looks at the CPU.
    const unsigned usual = elf.has_resolvers ? 2 : 1;
    conform_true(elf.nconstructor <= usual || elf.has_instrumentation,
                 "it has %llu constructors, which run when it is only looked at",
                 (unsigned long long)elf.nconstructor - usual);
}

static void check_text(const char *what, const char *text, const void *base)
{
    Dl_info where;
    conform_true(text != NULL, "its %s is NULL", what);
    conform_true(dladdr(text, &where) != 0 && where.dli_fbase == base,
                 "its %s does not lie in the plugin", what);
    conform_true(text[0] != '\0' && strlen(text) < 256, "its %s is empty or too long",
                 what);
    for (const char *c = text; *c != '\0'; c++) {
        conform_true((unsigned char)*c >= ' ', "its %s has a control character", what);
    }
}

static void descriptor_valid(void)
{
    conform_direct d;
    conform_direct_load(&d);
    const rubus_plugin_desc *desc = d.desc;
    Dl_info where;
    conform_true(dladdr(desc, &where) != 0, "the descriptor lies in no module");
    const void *base = where.dli_fbase;
    conform_true(
        desc->struct_size >= offsetof(rubus_plugin_desc, close) + sizeof desc->close,
        "struct_size is %u, less than an ABI 1.0 descriptor has", desc->struct_size);
    conform_true(desc->abi_minor_min <= desc->abi_minor,
                 "abi_minor_min %u is above abi_minor %u", desc->abi_minor_min,
                 desc->abi_minor);
    conform_true(desc->flags == 0, "flags is %u; none exist", desc->flags);
    check_text("name", desc->name, base);
    check_text("version", desc->version, base);
    check_text("vendor", desc->vendor, base);
    check_text("licence", desc->licence, base);
    conform_true(strcmp(desc->name, conform_facts_now()->name) == 0,
                 "it calls itself '%s', its file '%s'", desc->name,
                 conform_facts_now()->name);
    rubus_status (*open)(const rubus_host *, rubus_ops *, void **) = desc->open;
    void *address = NULL;
    memcpy(&address, &open, sizeof address);
    conform_true(dladdr(address, &where) != 0 && where.dli_fbase == base,
                 "open does not lie in the plugin");
}

static void the_library_takes_it(void)
{
    const conform_facts *facts = conform_facts_now();
    conform_true(facts->listed, "the library does not list it: %s", facts->reason);
    conform_true(!facts->refused, "the library refuses it: %s", facts->reason);
    conform_true(facts->opened, "no context can be opened: %s", facts->reason);
    rubus_context *context = conform_open();
    rubus_context_info info = {.struct_size = sizeof info};
    conform_ok(rubus_context_info_get(context, &info));
    conform_true(strcmp(info.backend, facts->name) == 0, "the context is of '%s'",
                 info.backend);
    conform_true(facts->file[0] == '\0' || strcmp(info.plugin, facts->file) == 0,
                 "the context is of %s, not of %s", info.plugin, facts->file);
    rubus_context_destroy(context);
}

/* --- open and close --------------------------------------------------------------- */

typedef struct use {
    int fds;
    int threads;
    int maps;
    size_t heap;
} use;

static use use_now(void)
{
    return (use){conform_count_fds(), conform_count_threads(), conform_count_maps(),
                 mallinfo2().uordblks};
}

static void one_cycle(conform_direct *d)
{
    void *buffer = NULL;
    unsigned char out = 0;
    const unsigned char in = 0x6B;
    conform_slot_ok(conform_direct_open(d));
    conform_slot_ok(conform_direct_context(d));
    conform_slot_ok(d->ops.buffer_create(d->ctx, 100, &buffer));
    conform_slot_ok(d->ops.write(d->ctx, buffer, 99, &in, 1));
    conform_slot_ok(d->ops.read(d->ctx, buffer, 99, &out, 1));
    conform_true(out == in, "byte 99 is %u, %u was written", out, in);
    d->ops.buffer_destroy(d->ctx, buffer);
    conform_direct_close(d);
}

static void open_close_open(void)
{
    enum { CYCLES = 50, WARM = 10, HEAP_MOST = 256 * 1024 };
    // Layers between driver and plugin, which the user may have asked for, are neither:
    // the validation layer of Vulkan keeps some 25 KB of each instance.
    static const char *const layers[] = {"VK_INSTANCE_LAYERS", "VK_LOADER_LAYERS_ENABLE"};
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        unsetenv(layers[i]);
    }
    conform_direct d;
    conform_direct_load(&d);
    use before = use_now();
    for (int i = 0; i < CYCLES; i++) {
        conform_say("cycle %d: ", i);
        one_cycle(&d);
        before = i == WARM ? use_now() : before;
    }
    conform_say(NULL);
    const use after = use_now();
    conform_true(after.fds <= before.fds,
                 "%d file descriptors after %d cycles, %d after "
                 "%d",
                 before.fds, WARM, after.fds, CYCLES);
    conform_threads_at_most(before.threads, "after 50 cycles of opening and closing");
    conform_true(after.maps <= before.maps + 8,
                 "%d mappings after %d cycles, %d after %d", before.maps, WARM,
                 after.maps, CYCLES);
    conform_true(after.heap <= before.heap + HEAP_MOST,
                 "%zu bytes of heap after %d cycles, %zu after %d", before.heap, WARM,
                 after.heap, CYCLES);
}

static void open_without_device(void)
{
    static const char *const hide[] = {"VK_DRIVER_FILES", "VK_ICD_FILENAMES",
                                       "OCL_ICD_VENDORS", "OCL_ICD_FILENAMES"};
    for (size_t i = 0; i < sizeof hide / sizeof hide[0]; i++) {
        setenv(hide[i], "/nonexistent.icd", 1);
    }
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    setenv("HIP_VISIBLE_DEVICES", "", 1);
    setenv("ROCR_VISIBLE_DEVICES", "", 1);
    conform_direct d;
    conform_direct_load(&d);
    conform_direct_forget();
    rubus_status st = conform_direct_open(&d);
    if (st != RUBUS_OK) {
        conform_slot_fails(st, "open where no device can be seen");
        return;
    }
    uint32_t n = 0xdead;
    conform_direct_forget();
    st = d.ops.device_count(d.be, &n);
    if (st != RUBUS_OK) {
        conform_slot_fails(st, "device_count where no device can be seen");
        n = 0;
    }
    conform_true(n < 1024, "device_count says %u", n);
    void *none = NULL;
    conform_direct_forget();
    conform_slot_fails(d.ops.context_create(d.be, n, &none),
                       "context_create on the device after the last");
    conform_direct_close(&d);
    rubus_context *context = NULL;
    st = rubus_context_create(conform_facts_now()->spec, &context);
    if (n == 0) {
        conform_true(st != RUBUS_OK, "a context was opened without a device");
        conform_true(rubus_error_text()[0] != '\0', "no text says what is missing");
    } else if (st == RUBUS_OK) {
        rubus_context_destroy(context);
    }
}

/* --- failing allocations ---------------------------------------------------------- */

/* Fails unless the result is good, or an error of memory with a text. */
static bool went_well(const conform_direct *d, rubus_status st, const char *slot,
                      const void *handle)
{
    if (st == RUBUS_OK) {
        conform_true(handle != NULL, "%s gave RUBUS_OK and no handle", slot);
        return true;
    }
    conform_true(atomic_load(&d->host.failed) > 0,
                 "%s failed with %s (%s) although it "
                 "got all memory it asked for",
                 slot, rubus_status_name(st), conform_direct_text());
    conform_true(st == RUBUS_ENOMEM || st == RUBUS_EDEVMEM,
                 "%s gave %s where an allocation failed", slot, rubus_status_name(st));
    conform_slot_fails(st, slot);
    return false;
}

static void use_buffer(conform_direct *d)
{
    enum { N = 5000 };
    void *buffer = NULL;
    static unsigned char in[N];
    static unsigned char out[N];
    memset(in, 0x39, N);
    conform_direct_forget();
    if (!went_well(d, d->ops.buffer_create(d->ctx, N, &buffer), "buffer_create",
                   &buffer)) {
        return;
    }
    conform_true(buffer != NULL, "buffer_create gave RUBUS_OK and no buffer");
    conform_direct_forget();
    if (went_well(d, d->ops.write(d->ctx, buffer, 0, in, N), "write", in) &&
        went_well(d, d->ops.read(d->ctx, buffer, 0, out, N), "read", out)) {
        conform_true(memcmp(in, out, N) == 0, "a buffer made while an allocation failed "
                                              "does not hold what was written");
    }
    d->ops.buffer_destroy(d->ctx, buffer);
}

static void cycle_with_failures(conform_direct *d)
{
    conform_direct_forget();
    rubus_status st = d->desc->open(&d->host.host, &d->ops, &d->be);
    if (went_well(d, st, "open", &d->be)) {
        uint32_t n = 0;
        conform_direct_forget();
        st = d->ops.device_count(d->be, &n);
        if (went_well(d, st, "device_count", &n)) {
            rubus_caps caps = {.struct_size = sizeof caps};
            st = d->ops.device_caps(d->be, conform_facts_now()->device, &caps);
            went_well(d, st, "device_caps", &caps);
        }
        conform_direct_forget();
        d->ctx = NULL;
        st = d->ops.context_create(d->be, conform_facts_now()->device, &d->ctx);
        if (went_well(d, st, "context_create", &d->ctx)) {
            use_buffer(d);
            conform_direct_forget();
            went_well(d, d->ops.synchronize(d->ctx), "synchronize", d);
        } else {
            d->ctx = NULL;
        }
        conform_direct_close(d);
    }
    const long long live = atomic_load(&d->host.live);
    conform_true(live == 0, "%lld blocks of host->alloc are left after the failure",
                 live);
}

static void open_fails_cleanly_at_every_allocation(void)
{
    enum { MOST = 5000 };
    for (int after = 0; after < 2; after++) {
        for (long long n = 1; n <= MOST; n++) {
            conform_direct d;
            conform_direct_load(&d);
            atomic_store(&d.host.fail_at, n);
            atomic_store(&d.host.fail_after, after != 0);
            d.ops.struct_size = sizeof d.ops;
            conform_say("allocation %lld%s fails: ", n, after ? " and all after it" : "");
            cycle_with_failures(&d);
            if (atomic_load(&d.host.failed) == 0) {
                break;
            }
        }
    }
}

/* --- what it may not do ----------------------------------------------------------- */

static void no_environment_dependence(void)
{
    rubus_caps plain;
    rubus_caps odd;
    conform_direct_caps(conform_facts_now(), conform_facts_now()->device, &plain);
    static const char *const names[] = {"RUBUS_BACKEND", "RUBUS_VALIDATE", "RUBUS_LOG",
                                        "RUBUS_PLUGIN_DENY", "RUBUS_PLUGIN_PATH"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        setenv(names[i], "no such thing:1=2", 1);
    }
    conform_direct_caps(conform_facts_now(), conform_facts_now()->device, &odd);
    conform_true(memcmp(&plain, &odd, offsetof(rubus_caps, mem_total)) == 0,
                 "its capabilities depend on variables of the library: a plugin asks "
                 "host->option");
    conform_direct d;
    conform_direct_load(&d);
    one_cycle(&d);
}

static const char ramp_text[] =
    "kernel ramp(out real u[n], real a) { u = a * ix(u) + 1e-3; }\n"
    "reduce sum total(in real u[n]) = u;\n";

static void work_once(rubus_context *context)
{
    enum { N = 1000 };
    rubus_module *module = conform_module(context, ramp_text, conform_real());
    rubus_array *u = NULL;
    double sum = 0;
    conform_ok(rubus_array_create(context, conform_real(), RUBUS_SHAPE(N), &u));
    conform_ok(rubus_launch(conform_kernel(module, "ramp"), u, 2.0));
    conform_ok(rubus_launch(conform_kernel(module, "total"), u, &sum));
    conform_true(sum > 998999 && sum < 999003, "the sum is %.17g, should be 999001", sum);
    rubus_array_destroy(u);
    rubus_module_destroy(module);
}

static void no_side_effects(void)
{
    conform_process before;
    conform_process after;
    conform_process_look(&before);
    for (int i = 0; i < 2; i++) {
        rubus_context *context = conform_open();
        conform_process_look(&after);
        conform_process_same(&before, &after, "opening a context");
        work_once(context);
        conform_process_look(&after);
        conform_process_same(&before, &after, "running kernels");
        rubus_context_destroy(context);
    }
    rubus_shutdown();
    conform_process_look(&after);
    conform_process_same(&before, &after, "closing");
}

static void time_to_list(void)
{
    // Ample limits: they find a plugin that waits for a network or compiles at the start.
    enum { LIST_SECONDS = 5, OPEN_SECONDS = 30 };
    uint32_t n = 0;
    double start = conform_clock();
    conform_ok(rubus_plugin_count(&n));
    for (uint32_t at = 0; at < n; at++) {
        rubus_plugin_info info = {.struct_size = sizeof info};
        conform_ok(rubus_plugin_info_get(at, &info));
    }
    const double listed = conform_clock() - start;
    conform_true(listed < LIST_SECONDS, "listing plugins took %.1f s", listed);
    start = conform_clock();
    rubus_context_destroy(conform_open());
    const double opened = conform_clock() - start;
    conform_true(opened < OPEN_SECONDS, "the first context took %.1f s", opened);
}

static void threads_start_late(void)
{
    conform_direct d;
    conform_direct_load(&d);
    const int before = conform_count_threads();
    conform_slot_ok(conform_direct_open(&d));
    const int after = conform_count_threads();
    conform_true(after == before, "open started %d threads; they wait for context_create",
                 after - before);
    conform_direct_close(&d);
}

/* --- the table -------------------------------------------------------------------- */

static void required_slots_filled(void)
{
    conform_direct d;
    conform_direct_load(&d);
    conform_slot_ok(conform_direct_open(&d));
#define MUST_BE_THERE(slot, required, since, summary)                                    \
    conform_true(!(required) || d.ops.slot != NULL, "the slot %s is empty", #slot);
    RUBUS_SLOT_LIST(MUST_BE_THERE)
#undef MUST_BE_THERE
    conform_true((d.ops.map == NULL) == (d.ops.unmap == NULL),
                 "one of map and unmap is empty: fill both or none");
    conform_direct_close(&d);
}

/* A library that knows fewer slots than the plugin, or more. */
static void table_of_other_sizes(void)
{
    union {
        rubus_ops ops;
        unsigned char bytes[sizeof(rubus_ops) + 256];
    } room;
    const size_t sizes[] = {offsetof(rubus_ops, fill), sizeof(rubus_ops) - sizeof(void *),
                            sizeof(rubus_ops), sizeof(rubus_ops) + 256};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        conform_direct d;
        conform_direct_load(&d);
        memset(&room, 0, sizeof room);
        memset(room.bytes + sizes[i], 0xEE, sizeof room - sizes[i]);
        room.ops.struct_size = (uint32_t)sizes[i];
        conform_slot_ok(d.desc->open(&d.host.host, &room.ops, &d.be));
        for (size_t k = sizes[i]; k < sizeof room; k++) {
            conform_true(room.bytes[k] == 0xEE,
                         "open wrote byte %zu of a table of %zu bytes", k, sizes[i]);
        }
        conform_true(room.ops.synchronize != NULL, "a table of %zu bytes is not filled",
                     sizes[i]);
        conform_direct_close(&d);
    }
}

/* A caller whose rubus_caps is shorter. */
static void caps_of_other_sizes(void)
{
    conform_direct d;
    conform_direct_load(&d);
    conform_slot_ok(conform_direct_open(&d));
    union {
        rubus_caps caps;
        unsigned char bytes[sizeof(rubus_caps) + 64];
    } room;
    const size_t sizes[] = {offsetof(rubus_caps, mem_total), sizeof(rubus_caps),
                            sizeof(rubus_caps) + 64};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memset(&room, 0, sizeof room);
        memset(room.bytes + sizes[i], 0xEE, sizeof room - sizes[i]);
        room.caps.struct_size = (uint32_t)sizes[i];
        conform_slot_ok(d.ops.device_caps(d.be, conform_facts_now()->device, &room.caps));
        for (size_t k = sizes[i]; k < sizeof room; k++) {
            conform_true(room.bytes[k] == 0xEE,
                         "device_caps wrote byte %zu of a struct of %zu bytes", k,
                         sizes[i]);
        }
        conform_true(room.caps.dialect[0] != '\0', "a struct of %zu bytes has no dialect",
                     sizes[i]);
    }
    conform_direct_close(&d);
}

/* Two backends and two contexts of each: nothing of one is seen in another. */
static void two_at_once(void)
{
    conform_direct d[2];
    void *second[2];
    void *buffer[2][2];
    for (int i = 0; i < 2; i++) {
        conform_direct_start(&d[i]);
        conform_slot_ok(
            d[i].ops.context_create(d[i].be, conform_facts_now()->device, &second[i]));
        for (int k = 0; k < 2; k++) {
            void *ctx = k == 0 ? d[i].ctx : second[i];
            const unsigned char in = (unsigned char)(16 * i + k + 1);
            conform_slot_ok(d[i].ops.buffer_create(ctx, 64, &buffer[i][k]));
            conform_slot_ok(d[i].ops.write(ctx, buffer[i][k], 7, &in, 1));
        }
    }
    conform_true(d[0].ctx != d[1].ctx && d[0].ctx != second[0] && d[1].ctx != second[1],
                 "two contexts are the same");
    d[0].ops.buffer_destroy(d[0].ctx, buffer[0][0]);
    d[0].ops.context_destroy(d[0].ctx);
    d[0].ctx = NULL;
    for (int i = 0; i < 2; i++) {
        for (int k = i == 0 ? 1 : 0; k < 2; k++) {
            void *ctx = k == 0 ? d[i].ctx : second[i];
            unsigned char out = 0;
            conform_slot_ok(d[i].ops.read(ctx, buffer[i][k], 7, &out, 1));
            conform_true(out == 16 * i + k + 1,
                         "context %d of backend %d reads %u, wrote %d", k, i, out,
                         16 * i + k + 1);
            d[i].ops.buffer_destroy(ctx, buffer[i][k]);
        }
        d[i].ops.context_destroy(second[i]);
        conform_direct_close(&d[i]);
    }
}

#define FILE_ONLY CONFORM_NEEDS_FILE
const conform_check conform_load_checks[] = {
    {"L01_exports_exactly_one_symbol", CONFORM_LOAD, 20, FILE_ONLY,
     "the file exports the descriptor alone, and has no constructors",
     exports_exactly_one_symbol},
    {"L02_descriptor_valid", CONFORM_LOAD, 20, FILE_ONLY,
     "magic, sizes and texts of the descriptor, and its name that of the file",
     descriptor_valid},
    {"L03_open_close_open", CONFORM_BASIC, 240, FILE_ONLY,
     "opened and closed 50 times, no descriptors, threads or memory are left",
     open_close_open},
    {"L04_open_without_device", CONFORM_BASIC, 60, FILE_ONLY,
     "with all drivers hidden it says that there is no device, and no more",
     open_without_device},
    {"L05_open_fails_cleanly_at_every_allocation", CONFORM_BASIC, 300, FILE_ONLY,
     "each allocation through the host fails in turn: an error, a text, no leak",
     open_fails_cleanly_at_every_allocation},
    {"L06_no_environment_dependence", CONFORM_BASIC, 60, FILE_ONLY,
     "options come from the host, not from variables of the library",
     no_environment_dependence},
    {"L07_no_side_effects", CONFORM_BASIC, 60, 0,
     "locale, folder, signals, floating-point mode and the like stay as they were",
     no_side_effects},
    {"L08_time_to_list", CONFORM_LOAD, 60, 0, "listing and opening take no long time",
     time_to_list},
    {"L09_the_library_takes_it", CONFORM_LOAD, 60, 0,
     "the library accepts the plugin and opens a context", the_library_takes_it},
    {"L10_threads_start_late", CONFORM_LOAD, 60, FILE_ONLY, "open starts no thread",
     threads_start_late},
    {"L11_required_slots_filled", CONFORM_LOAD, 60, FILE_ONLY,
     "no required slot is empty", required_slots_filled},
    {"L12_table_of_other_sizes", CONFORM_LOAD, 60, FILE_ONLY,
     "open fills the table up to the size it was offered", table_of_other_sizes},
    {"L13_caps_of_other_sizes", CONFORM_LOAD, 60, FILE_ONLY,
     "device_caps fills the struct up to the size it was offered", caps_of_other_sizes},
    {"L14_two_at_once", CONFORM_BASIC, 60, FILE_ONLY,
     "two backends with two contexts each do not share state", two_at_once},
    {.name = NULL},
};
