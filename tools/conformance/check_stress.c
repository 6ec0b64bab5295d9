/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks X: poorer devices, the library's own validation, and a long mix of everything.
 */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "conform_process.h"

/* --- a mix of everything ---------------------------------------------------------- */

static const char mix_text[] =
    "kernel mix(inout real u[nx,ny], in real a[nx,ny], out int k[nx,ny], real s)\n"
    "{ inn(u) += s * inn(a); u[0, :] = a[-1, :]; k = ix(u) + nx * iy(u); }\n"
    "kernel each(inout real u[nx,ny], in index p[nx], inout int c[7]) over (i, j)\n"
    "{ u[i,j] = u[i,j] * 0.5 + p[i]; atomic_add(c[mod(i + j, 7)], 1); }\n"
    "reduce sum total(in real u[nx,ny]) = u;\n";

/* The same work here and in the interpreter; `seed` chooses sizes and values. */
static void mix_side(rubus_context *context, uint64_t seed, void **out, int64_t n[2],
                     double *out_sum)
{
    conform_dice dice = {seed};
    n[0] = 3 + conform_below(&dice, 60);
    n[1] = 3 + conform_below(&dice, 40);
    const int32_t real = conform_real();
    rubus_module *module = conform_module(context, mix_text, real);
    conform_window u = conform_window_make(context, real, RUBUS_SHAPE(n[0], n[1]), 1);
    conform_window a = conform_window_make(context, real, RUBUS_SHAPE(n[0], n[1]), 2);
    conform_window k =
        conform_window_make(context, RUBUS_I32, RUBUS_SHAPE(n[0], n[1]), 3);
    conform_window p = conform_window_make(context, RUBUS_I32, RUBUS_SHAPE(n[0]), 0);
    conform_window c = conform_window_make(context, RUBUS_I32, RUBUS_SHAPE(7), 0);
    conform_ok(rubus_array_random(a.array, seed >> 1, -2, 2));
    conform_ok(rubus_array_copy(u.array, a.array));
    conform_ok(rubus_array_random(p.array, seed >> 2, 0, 50));
    conform_ok(rubus_array_fill(c.array, 0));
    for (int step = 0; step < 6; step++) {
        conform_ok(rubus_launch(conform_kernel(module, "mix"), u.array, a.array, k.array,
                                0.25 * step));
        conform_ok(
            rubus_launch(conform_kernel(module, "each"), u.array, p.array, c.array));
    }
    conform_ok(rubus_launch(conform_kernel(module, "total"), u.array, out_sum));
    out[0] = conform_contents(u.array);
    out[1] = conform_contents(k.array);
    out[2] = conform_contents(c.array);
    conform_window *all[] = {&u, &a, &k, &p, &c};
    for (int i = 0; i < 5; i++) {
        conform_window_check(all[i], "the mix");
        conform_window_destroy(all[i]);
    }
    rubus_module_destroy(module);
}

static void mix(rubus_context *context, rubus_context *oracle, uint64_t seed)
{
    void *got[3];
    void *want[3];
    int64_t n[2];
    double sum[2];
    mix_side(context, seed, got, n, &sum[0]);
    mix_side(oracle, seed, want, n, &sum[1]);
    const int32_t types[3] = {conform_real(), RUBUS_I32, RUBUS_I32};
    static const char *const names[3] = {"u", "k", "c"};
    for (int i = 0; i < 3; i++) {
        conform_same(got[i], want[i], i == 2 ? 7 : n[0] * n[1], types[i], names[i]);
        free(got[i]);
        free(want[i]);
    }
    conform_true(sum[0] == sum[1], "the sum is %.17g, should be %.17g", sum[0], sum[1]);
}

/* --- poorer devices --------------------------------------------------------------- */

static void mix_with(const char *more)
{
    conform_say("%s: ", more);
    rubus_context *context = conform_open_with(more);
    rubus_context *oracle = conform_oracle();
    for (uint64_t round = 0; round < 5; round++) {
        mix(context, oracle, conform_seed() + round);
    }
    rubus_context_destroy(context);
    rubus_context_destroy(oracle);
}

/* An array larger than the lowered limit is refused, one of its size is not. */
static void small_buffers(void)
{
    rubus_context *context = conform_open_with(":cap.max_buffer=65536");
    rubus_array *array = NULL;
    const rubus_status st =
        rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(16385), &array);
    conform_true(st == RUBUS_ELIMIT, "65540 bytes with cap.max_buffer=65536 give %s",
                 rubus_status_name(st));
    conform_ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(16384), &array));
    rubus_array_destroy(array);
    rubus_context_destroy(context);
}

static void lowered_limits(void)
{
    const rubus_caps *caps = &conform_facts_now()->caps;
    if (strchr(conform_facts_now()->spec, '=') != NULL) {
        mix_with(""); // lowered already, by the spec
        return;
    }
    small_buffers();
    mix_with(":cap.max_buffer=1048576");
    if (caps->atomic_f32_add != 0) {
        mix_with(":cap.atomic_f32_add=0");
    }
    if (strcmp(caps->dialect, "glsl") == 0) {
        mix_with(":cap.groups=8");
        mix_with(":cap.groups=64:cap.max_buffer=1048576");
    }
}

/* --- validation ------------------------------------------------------------------- */

/* Poison, guard zones, and whatever the plugin itself looks at with validate=1. */
static void validate_clean(void)
{
    const bool already = strstr(conform_facts_now()->spec, "validate=") != NULL;
    rubus_context *context = conform_open_with(already ? "" : ":validate=1");
    rubus_context *oracle = conform_oracle();
    for (uint64_t round = 0; round < 12; round++) {
        mix(context, oracle, conform_seed() + 100 + round);
        conform_ok(rubus_context_synchronize(context));
    }
    rubus_context_destroy(context);
    rubus_context_destroy(oracle);
}

/* --- atomics ---------------------------------------------------------------------- */

static void add_to_cells(rubus_context *context, int32_t type, bool declared)
{
    static const char int_text[] =
        "kernel adds(inout int c[m], in int z[n]) over (i in 0:n)\n"
        "{ atomic_add(c[mod(i, m)], 1 + z[i]); }\n";
    static const char real_text[] =
        "kernel adds(inout real c[m], in int z[n]) over (i in 0:n)\n"
        "{ atomic_add(c[mod(i, m)], 1.0 + z[i]); }\n";
    const int64_t n = conform_interprets() ? 1 << 14 : 1 << 20;
    const bool is_int = type == RUBUS_I32;
    const rubus_module_options options = {.struct_size = sizeof options,
                                          .real = is_int ? RUBUS_F32 : type};
    rubus_module *module = NULL;
    const rubus_status st = rubus_module_create(
        context, "adds.rk", is_int ? int_text : real_text, &options, &module);
    if (st != RUBUS_OK && !declared) {
        conform_true(st == RUBUS_EUNSUPPORTED && rubus_error_text()[0] != '\0',
                     "atomic adds of %s, declared missing, give %s without a text",
                     conform_type_name(type), rubus_status_name(st));
        return;
    }
    conform_ok(st);
    rubus_array *zeros = NULL;
    conform_ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(n), &zeros));
    for (int64_t cells = 1; cells <= 64; cells *= 64) {
        conform_window c = conform_window_make(context, type, RUBUS_SHAPE(cells), 1);
        conform_ok(rubus_array_fill(c.array, 0));
        conform_ok(rubus_launch(conform_kernel(module, "adds"), c.array, zeros));
        void *got = conform_contents(c.array);
        for (int64_t i = 0; i < cells; i++) {
            const double is =
                is_int ? ((int32_t *)got)[i] : conform_real_at(got, type, i);
            conform_true(is == (double)(n / cells),
                         "%lld atomic adds of 1 in %s to %lld cells: cell %lld is %.17g",
                         (long long)n, conform_type_name(type), (long long)cells,
                         (long long)i, is);
        }
        free(got);
        conform_window_check(&c, "an atomic add");
        conform_window_destroy(&c);
    }
    rubus_array_destroy(zeros);
    rubus_module_destroy(module);
}

static void atomics_sum(void)
{
    const rubus_caps *caps = &conform_facts_now()->caps;
    rubus_context *context = conform_open();
    for (int round = 0; round < 3; round++) {
        add_to_cells(context, RUBUS_I32, true);
        add_to_cells(context, RUBUS_F32, caps->atomic_f32_add != 0);
        if (caps->fp64 != 0) {
            add_to_cells(context, RUBUS_F64, caps->atomic_f64_add != 0);
        }
    }
    rubus_context_destroy(context);
}

/* --- a long time ------------------------------------------------------------------ */

static void soak_for(double seconds)
{
    const size_t room = (size_t)64 << 20;
    const double end = conform_clock() + seconds;
    rubus_context *oracle = conform_oracle();
    size_t before = 0;
    uint64_t round = 0;
    int fds = 0;
    while (conform_clock() < end || round < 40) {
        rubus_context *context = conform_open();
        for (int i = 0; i < 5; i++, round++) {
            conform_say("round %llu: ", (unsigned long long)round);
            mix(context, oracle, conform_seed() + round);
        }
        rubus_context_destroy(context);
        if (round == 20) {
            before = conform_resident_bytes();
            fds = conform_count_fds();
        }
    }
    conform_say(NULL);
    const size_t after = conform_resident_bytes();
    conform_true(after < before + room,
                 "after %llu rounds the process grew from %zu to "
                 "%zu bytes",
                 (unsigned long long)round, before, after);
    conform_true(conform_count_fds() <= fds,
                 "%d file descriptors at first, %d after "
                 "%llu rounds",
                 fds, conform_count_fds(), (unsigned long long)round);
    rubus_context_destroy(oracle);
}

/* --- others want the processors --------------------------------------------------- */

static void *spin(void *stop)
{
    while (!atomic_load((atomic_bool *)stop)) {
    }
    return NULL;
}

/* A plugin whose threads wait for each other without giving way stands still here. */
static void low_priority_starvation(void)
{
    enum { MOST = 64, ROUNDS = 10 };
    pthread_t thread[MOST];
    atomic_bool stop = false;
    const long ncpu = sysconf(_SC_NPROCESSORS_ONLN);
    const int n = ncpu < 1 ? 2 : ncpu > MOST / 2 ? MOST : 2 * (int)ncpu;
    for (int i = 0; i < n; i++) {
        conform_true(pthread_create(&thread[i], NULL, spin, &stop) == 0, "no thread");
    }
    // On Linux that is the calling thread, and those that it starts.
    conform_true(setpriority(PRIO_PROCESS, 0, 10) == 0, "setpriority");
    rubus_context *context = conform_open();
    rubus_context *oracle = conform_oracle();
    for (uint64_t round = 0; round < ROUNDS; round++) {
        conform_say("round %llu: ", (unsigned long long)round);
        mix(context, oracle, conform_seed() + 500 + round);
    }
    conform_say(NULL);
    rubus_context_destroy(context);
    rubus_context_destroy(oracle);
    atomic_store(&stop, true);
    for (int i = 0; i < n; i++) {
        pthread_join(thread[i], NULL);
    }
}

static void soak(void)
{
    soak_for(600);
}

static void soak_short(void)
{
    soak_for(5);
}

const conform_check conform_stress_checks[] = {
    {"C05_atomics_sum", CONFORM_BASIC, 120, 0,
     "a million atomic adds to one cell and to 64; what is not declared is refused",
     atomics_sum},
    {"X02_low_priority_starvation", CONFORM_STRESS, 300, 0,
     "it computes while threads of higher priority take all processors",
     low_priority_starvation},
    {"X05_lowered_limits", CONFORM_FULL, 180, 0,
     "the same results where options make the device poorer", lowered_limits},
    {"X06_validate_clean", CONFORM_FULL, 180, 0, "with validate=1 nothing is found",
     validate_clean},
    {"X07_soak_short", CONFORM_FULL, 180, 0,
     "contexts opened and used for 5 seconds, with bounded memory", soak_short},
    {"X01_soak", CONFORM_STRESS, 1800, 0,
     "contexts opened and used for 10 minutes, with bounded memory", soak},
    {.name = NULL},
};
