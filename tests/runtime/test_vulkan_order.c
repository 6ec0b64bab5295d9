/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of commands on the backend vulkan, through the public interface: fills,
 * scattered writes and copies into one array, one after the other and nobody waiting, on
 * one context, on two, from eight threads; more groups than a dispatch may have; arrays
 * that travel between backends. Everything by addresses and by descriptors.
 */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>

#include "tests/runtime/vulkan_probe.h"

/* --- the trap --------------------------------------------------------------------- */

enum { STRIDE = 7 }; // has no factor in common with any size below

static const char scatter_text[] =
    "kernel scatter(inout real a[n], int m, int first, real v) over (i in 0:m)\n"
    "{ a[(i * 7 + first) % n] = v + i; }\n";

/* Three writers of one array `a`. What it should hold is worked out on the host; what it
 * held after each round is copied, by the device, into a row of `log`. */
typedef struct trap {
    int64_t n;
    int32_t real;
    int rounds;
    rubus_module *module;
    rubus_array *a;
    rubus_array *other;
    rubus_array *log; // NULL: the host reads after each round
    double *model;
    double *want;    // [rounds][n], if there is a log
    char wrong[400]; // first failure; asserts are of the main thread
} trap;

static bool good(trap *t, rubus_status st, const char *what)
{
    if (st != RUBUS_OK && t->wrong[0] == '\0') {
        snprintf(t->wrong, sizeof t->wrong, "%s: %s: %.300s", what, rubus_status_name(st),
                 rubus_error_text());
    }
    return st == RUBUS_OK;
}

/* The numbers 5, 6, 7, ... are in `other`. */
static void trap_make(trap *t, rubus_context *context, rubus_module *module, int64_t n,
                      int32_t real, int rounds, bool log)
{
    *t = (trap){.n = n, .real = real, .rounds = rounds, .module = module};
    t->model = calloc((size_t)n, sizeof *t->model);
    double *ramp = malloc((size_t)n * sizeof *ramp);
    float *narrow = (float *)ramp;
    for (int64_t i = 0; i < n; i++) {
        if (real == RUBUS_F32) {
            narrow[i] = (float)(5 + i);
        } else {
            ramp[i] = (double)(5 + i);
        }
    }
    good(t, rubus_array_create(context, real, RUBUS_SHAPE(n), &t->a), "create");
    good(t, rubus_array_from(context, real, RUBUS_SHAPE(n), ramp, &t->other), "from");
    if (log) {
        t->want = malloc((size_t)(n * rounds) * sizeof *t->want);
        good(t, rubus_array_create(context, real, RUBUS_SHAPE(n, rounds), &t->log),
             "create");
    }
    free(ramp);
}

static void trap_free(trap *t)
{
    rubus_array_destroy(t->a);
    rubus_array_destroy(t->other);
    rubus_array_destroy(t->log);
    free(t->model);
    free(t->want);
}

/* A part that begins and ends at odd places; every fourth round all of it. */
static void part_of(const trap *t, int round, int64_t *first, int64_t *count)
{
    *first = round % 4 == 0 ? 0 : (round * 13) % (t->n / 3);
    *count = round % 4 == 0 ? t->n : t->n / 2 + round % 5;
}

static void write_fill(trap *t, int round)
{
    int64_t first = 0;
    int64_t count = 0;
    part_of(t, round, &first, &count);
    // -round has four equal bytes only for 0: both ways of filling
    rubus_array *part = NULL;
    if (good(t, rubus_array_view(t->a, first, RUBUS_SHAPE(count), &part), "view")) {
        good(t, rubus_array_fill(part, -round), "fill");
    }
    rubus_array_destroy(part);
    for (int64_t i = first; i < first + count; i++) {
        t->model[i] = -round;
    }
}

static void write_scatter(trap *t, int round)
{
    const int64_t m = t->n / 2 + round % 3;
    const rubus_kernel *kernel = rubus_module_kernel(t->module, "scatter");
    good(t, rubus_launch(kernel, t->a, m, round, (double)(100 * round)), "launch");
    for (int64_t i = 0; i < m; i++) {
        t->model[(i * STRIDE + round) % t->n] = (double)(100 * round + i);
    }
}

static void write_copy(trap *t, int round)
{
    int64_t first = 0;
    int64_t count = 0;
    part_of(t, round + 1, &first, &count);
    const int64_t from = (t->n - count) / 2;
    rubus_array *to_part = NULL;
    rubus_array *from_part = NULL;
    if (good(t, rubus_array_view(t->a, first, RUBUS_SHAPE(count), &to_part), "view") &&
        good(t, rubus_array_view(t->other, from, RUBUS_SHAPE(count), &from_part),
             "view")) {
        good(t, rubus_array_copy(to_part, from_part), "copy");
    }
    rubus_array_destroy(to_part);
    rubus_array_destroy(from_part);
    for (int64_t i = 0; i < count; i++) {
        t->model[first + i] = (double)(5 + from + i);
    }
}

static void compare(trap *t, const void *got, const double *want, int64_t count,
                    const char *what)
{
    const double *wide = got;
    const float *narrow = got;
    for (int64_t i = 0; i < count && t->wrong[0] == '\0'; i++) {
        const double x = t->real == RUBUS_F32 ? (double)narrow[i] : wide[i];
        if (x != want[i]) {
            snprintf(t->wrong, sizeof t->wrong,
                     "%s: round %lld, element %lld: %g, not %g", what,
                     (long long)(i / t->n), (long long)(i % t->n), x, want[i]);
        }
    }
}

static void trap_round(trap *t, int round)
{
    static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static void (*const writer[3])(trap *, int) = {write_fill, write_scatter, write_copy};
    for (int k = 0; k < 3; k++) {
        writer[order[round % 6][k]](t, round);
    }
    if (t->log == NULL) {
        double *got = malloc((size_t)t->n * sizeof *got);
        if (good(t, rubus_array_read(t->a, got, rubus_array_nbyte(t->a)), "read")) {
            compare(t, got, t->model, t->n, "read at once");
        }
        free(got);
        return;
    }
    rubus_array *row = NULL;
    if (good(t, rubus_array_view(t->log, round * t->n, RUBUS_SHAPE(t->n), &row),
             "view")) {
        good(t, rubus_array_copy(row, t->a), "copy");
    }
    rubus_array_destroy(row);
    memcpy(t->want + round * t->n, t->model, (size_t)t->n * sizeof *t->model);
}

static void trap_check(trap *t)
{
    if (t->log == NULL || t->wrong[0] != '\0') {
        return;
    }
    const int64_t count = t->n * t->rounds;
    double *got = malloc((size_t)count * sizeof *got);
    if (good(t, rubus_array_read(t->log, got, rubus_array_nbyte(t->log)), "read")) {
        compare(t, got, t->want, count, "log");
    }
    free(got);
}

/* --- one context ------------------------------------------------------------------ */

static const int64_t sizes[] = {513, 1025, 2049};
enum { SIZES = 3, ROUNDS = 200 };

/* Bit 0 the mode, bit 1 the real type, bit 2 whether the host reads each round; then the
 * size. */
START_TEST(writers_of_one_array_take_turns)
{
    const int32_t real = (_i & 2) != 0 ? RUBUS_F32 : RUBUS_F64;
    rubus_context *context = open_spec(vulkan_modes[_i & 1]);
    rubus_module *module = backends_module(context, scatter_text, real, 0);
    trap t;
    trap_make(&t, context, module, sizes[_i / 8], real, ROUNDS, (_i & 4) == 0);
    for (int round = 0; round < ROUNDS && t.wrong[0] == '\0'; round++) {
        trap_round(&t, round);
    }
    trap_check(&t);
    ck_assert_msg(t.wrong[0] == '\0', "%s: %s", vulkan_modes[_i & 1], t.wrong);
    trap_free(&t);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

START_TEST(writers_of_64_mib_take_turns)
{
    enum { MIB = 1 << 20 };
    rubus_context *context = open_spec(vulkan_modes[_i]);
    rubus_module *module = backends_module(context, scatter_text, RUBUS_F64, 0);
    trap t;
    trap_make(&t, context, module, 64 * MIB / 8, RUBUS_F64, 6, false);
    for (int round = 0; round < 6 && t.wrong[0] == '\0'; round++) {
        trap_round(&t, round);
    }
    ck_assert_msg(t.wrong[0] == '\0', "%s: %s", vulkan_modes[_i], t.wrong);
    trap_free(&t);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

/* --- several contexts, several threads --------------------------------------------- */

/* Two of one spec share an instance and nothing else; the third has another. */
START_TEST(contexts_do_not_disturb_each_other)
{
    enum { CONTEXTS = 3, TURNS = 60 };
    rubus_context *context[CONTEXTS] = {open_spec(vulkan_modes[0]),
                                        open_spec(vulkan_modes[0]),
                                        open_spec(vulkan_modes[1])};
    rubus_module *module[CONTEXTS];
    trap t[CONTEXTS];
    for (int k = 0; k < CONTEXTS; k++) {
        module[k] = backends_module(context[k], scatter_text, RUBUS_F64, 0);
        trap_make(&t[k], context[k], module[k], sizes[k], RUBUS_F64, TURNS, k != 1);
    }
    for (int round = 0; round < TURNS; round++) {
        for (int k = 0; k < CONTEXTS; k++) {
            trap_round(&t[k], round);
        }
    }
    for (int k = 0; k < CONTEXTS; k++) {
        trap_check(&t[k]);
        ck_assert_msg(t[k].wrong[0] == '\0', "context %d: %s", k, t[k].wrong);
        trap_free(&t[k]);
        rubus_module_destroy(module[k]);
        if (k + 1 < CONTEXTS) {
            rubus_context_destroy(context[k]);
        }
    }
    backends_finish(context[CONTEXTS - 1]);
}
END_TEST

enum { NTHREAD = 8, TURNS = 25 };

static void *rounds_of_a_thread(void *argument)
{
    trap *t = argument;
    for (int round = 0; round < TURNS && t->wrong[0] == '\0'; round++) {
        trap_round(t, round);
    }
    trap_check(t);
    return NULL;
}

START_TEST(threads_share_a_context)
{
    rubus_context *context = open_spec(vulkan_modes[_i]);
    rubus_module *module = backends_module(context, scatter_text, RUBUS_F64, 0);
    static trap t[NTHREAD];
    pthread_t thread[NTHREAD];
    for (int k = 0; k < NTHREAD; k++) {
        trap_make(&t[k], context, module, sizes[k % SIZES], RUBUS_F64, TURNS, k % 3 != 0);
    }
    for (int k = 0; k < NTHREAD; k++) {
        ck_assert_int_eq(pthread_create(&thread[k], NULL, rounds_of_a_thread, &t[k]), 0);
    }
    for (int k = 0; k < NTHREAD; k++) {
        pthread_join(thread[k], NULL);
    }
    for (int k = 0; k < NTHREAD; k++) {
        ck_assert_msg(t[k].wrong[0] == '\0', "thread %d: %s", k, t[k].wrong);
        trap_free(&t[k]);
    }
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

/* --- two backends ----------------------------------------------------------------- */

START_TEST(arrays_travel_between_backends)
{
    static const char text[] =
        "kernel step(inout real a[n]) { a = 2 * a + ix(a) % 3; }\n";
    enum { LEGS = 20 };
    static const int64_t lengths[] = {1, 1025, 300001};
    rubus_context *context[2] = {open_spec(vulkan_modes[_i]),
                                 open_spec("threads:threads=2")};
    const rubus_kernel *step[2];
    rubus_module *module[2];
    for (int k = 0; k < 2; k++) {
        module[k] = backends_module(context[k], text, RUBUS_F64, 0);
        step[k] = backends_kernel(module[k], "step");
    }
    for (int l = 0; l < 3; l++) {
        const int64_t n = lengths[l];
        rubus_array *a[2] = {backends_ramp(context[0], n, 1),
                             backends_ramp(context[1], n, 1)};
        for (int leg = 0; leg < LEGS; leg++) {
            ok(rubus_launch(step[leg % 2], a[leg % 2]));
            ok(rubus_array_copy(a[(leg + 1) % 2], a[leg % 2]));
        }
        double *got = malloc((size_t)n * sizeof *got);
        ok(rubus_array_read(a[0], got, (size_t)n * sizeof *got));
        for (int64_t i = 0; i < n; i++) {
            // f(f(...)) of x -> 2 x + c is 2^k x + (2^k - 1) c
            const double twos = 1 << LEGS;
            const double want = twos * (double)(1 + i) + (twos - 1) * (double)(i % 3);
            ck_assert_msg(got[i] == want, "%lld of %lld: %.17g, not %.17g", (long long)i,
                          (long long)n, got[i], want);
        }
        free(got);
        fails(rubus_launch(step[0], a[1]), RUBUS_EFOREIGN, "vulkan|threads");
        rubus_array_destroy(a[0]);
        rubus_array_destroy(a[1]);
    }
    rubus_module_destroy(module[0]);
    rubus_module_destroy(module[1]);
    rubus_context_destroy(context[1]);
    backends_finish(context[0]);
}
END_TEST

/* --- more groups than a dispatch may have ------------------------------------------ */

static const char *const group_options[] = {"", ":cap.groups=64", ":cap.groups=1"};

static rubus_context *open_groups(int i)
{
    char spec[100];
    snprintf(spec, sizeof spec, "%s%s", vulkan_modes[i % 2], group_options[i / 2]);
    return open_spec(spec);
}

START_TEST(range_of_2_to_the_25_points)
{
    enum { N = 1 << 25 };
    rubus_context *context = open_groups(_i);
    rubus_module *module = backends_module(
        context, "kernel put(out real a[n]) over (i) { a[i] = i % 4099; }", RUBUS_F32, 0);
    rubus_array *a = NULL;
    ok(rubus_array_create(context, RUBUS_F32, RUBUS_SHAPE(N), &a));
    ok(rubus_launch(backends_kernel(module, "put"), a));
    float *got = malloc(sizeof(float) * N);
    ok(rubus_array_read(a, got, sizeof(float) * N));
    for (int i = 0; i < N; i++) {
        if (got[i] != (float)(i % 4099)) {
            ck_abort_msg("%d: %g", i, (double)got[i]);
        }
    }
    free(got);
    rubus_array_destroy(a);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

/* Each line of a fold is a group of its own; and a range that is long along z. */
START_TEST(more_than_65535_lines)
{
    enum { LINES = 70001 };
    rubus_context *context = open_groups(_i);
    rubus_module *module =
        backends_module(context,
                        "kernel put(out real a[nx,ny,nz]) over (i, j, k)\n"
                        "{ a[i, j, k] = i + 3 * j + 6 * (k % 1000); }\n"
                        "kernel all(in real a[nx,ny,nz], out real s, out real most)\n"
                        "{ s = sum(a); most = max(a - 2 * iy(a)); }\n",
                        RUBUS_F64, 0);
    rubus_array *a = NULL;
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(3, 2, LINES), &a));
    ok(rubus_launch(backends_kernel(module, "put"), a));
    double s = 0;
    double most = 0;
    ok(rubus_launch(backends_kernel(module, "all"), a, &s, &most));
    // of the six points of a k: 0 1 2 3 4 5, and six times the rest of k by 1000
    double want = 15.0 * LINES;
    for (int k = 0; k < LINES; k++) {
        want += 36.0 * (k % 1000);
    }
    ck_assert_msg(s == want && most == 5999 - 2, "%.17g and %g, not %.17g", s, most,
                  want);
    ck_assert(backends_get(a, 6 * (LINES - 1) + 5) == 5 + 6 * ((LINES - 1) % 1000));
    rubus_array_destroy(a);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

/* llvmpipe leaves loops silently after 65535 turns of an invocation, whatever number of
 * points that was. */
START_TEST(loops_of_many_points_are_whole)
{
    enum { N = 300000, LOOPS = 500 };
    rubus_context *context = open_groups(_i);
    rubus_module *module = backends_module(
        context,
        "func real hops(int n) { real s; for (int k = 0; k < n; k++) {\n"
        "    if (k % 5 != 2) { s += 1; } } return s; }\n"
        "kernel own(out real a[n], int t) over (i)\n"
        "{ real s; for (int k = 0; k < t; k++) { if (k % 5 != 2) { s += 1; } } a[i] = s; "
        "}\n"
        "kernel called(out real a[n], int t) { a = hops(t + ix(a) % 2); }\n",
        RUBUS_F32, 0);
    static const char *const names[] = {"own", "called"};
    rubus_array *a = NULL;
    ok(rubus_array_create(context, RUBUS_F32, RUBUS_SHAPE(N), &a));
    float *got = malloc(sizeof(float) * N);
    for (int k = 0; k < 2; k++) {
        ok(rubus_launch(backends_kernel(module, names[k]), a, LOOPS));
        ok(rubus_array_read(a, got, sizeof(float) * N));
        for (int i = 0; i < N; i++) {
            const float want = (float)(LOOPS / 5 * 4 + (k == 1 ? i % 2 : 0));
            ck_assert_msg(got[i] == want, "%s, %d: %g, not %g", names[k], i,
                          (double)got[i], (double)want);
        }
    }
    free(got);
    rubus_array_destroy(a);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

static Suite *order_suite(void)
{
    TCase *one = tcase_create("one");
    tcase_add_loop_test(one, writers_of_one_array_take_turns, 0, 8 * SIZES);
    tcase_add_loop_test(one, writers_of_64_mib_take_turns, 0, VULKAN_MODES);
    TCase *several = tcase_create("several");
    tcase_add_test(several, contexts_do_not_disturb_each_other);
    tcase_add_loop_test(several, threads_share_a_context, 0, VULKAN_MODES);
    tcase_add_loop_test(several, arrays_travel_between_backends, 0, VULKAN_MODES);
    TCase *groups = tcase_create("groups");
    tcase_add_loop_test(groups, range_of_2_to_the_25_points, 0, 3 * VULKAN_MODES);
    tcase_add_loop_test(groups, more_than_65535_lines, 0, 3 * VULKAN_MODES);
    tcase_add_loop_test(groups, loops_of_many_points_are_whole, 0, 2 * VULKAN_MODES);
    Suite *suite = suite_create("runtime: vulkan order");
    suite_add_tcase(suite, one);
    suite_add_tcase(suite, several);
    suite_add_tcase(suite, groups);
    return suite;
}

VULKAN_TEST_MAIN("runtime: vulkan order", order_suite)
