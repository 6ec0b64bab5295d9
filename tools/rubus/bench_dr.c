/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubus bench dr: the 2D solver in its three forms, and the same sweeps by hand: in C on
 * the threads of a CPU, in GLSL on a GPU.
 *
 * A round is ten iterations of the solver. Nine of them are plain and are compared with
 * the hand-written sweeps; the tenth also updates beta and counts into T_eff. T_eff is
 * the lecture's: the six arrays an iteration must touch, over its time.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "handwritten_gpu.h"

enum { PLAIN = 9, ITERATIONS = 10, NARRAY = 10 };

typedef void (*hand_sweep)(handwritten_team *team, const handwritten_dr *dr);

typedef struct contest {
    rubus_context *context;
    const bench_options *o;
    int32_t kernels;
    bool f64;
    rubus_relax *relax;
    handwritten_team *team;
    handwritten_dr dr;
    handwritten_gpu *gpu; // instead of team and dr
    void *memory[NARRAY];
    size_t nmemory;
    double *peak_gbs; // per round, as the others
    double *plain_s;
    double *all_s;
    double *hand_s[2];
    int nhand;
} contest;

static const char *kernels_name(int32_t kernels)
{
    return kernels == RUBUS_KERNELS_MATH    ? "math"
           : kernels == RUBUS_KERNELS_INDEX ? "index"
                                            : "fused";
}

// --- the hand-written side ----------------------------------------------------------

static void *take_array(contest *c, int64_t nx, int64_t ny)
{
    void *p = measure_memory(c->team, nx * ny * (c->f64 ? 8 : 4));
    if (p != NULL) {
        c->memory[c->nmemory++] = p;
    }
    return p;
}

static void fill(void *array, bool f64, int64_t count, double first, double step)
{
    for (int64_t i = 0; array != NULL && i < count; i++) {
        if (f64) {
            ((double *)array)[i] = first + step * (double)(i % 1024);
        } else {
            ((float *)array)[i] = (float)(first + step * (double)(i % 1024));
        }
    }
}

// A problem that stays tame: constant coefficient, its own preconditioner.
static int make_on_cpu(contest *c)
{
    const int64_t n = c->o->n;
    c->team = handwritten_team_create(measure_threads(c->context));
    if (c->team == NULL) {
        return cli_out_of_memory();
    }
    void *u = take_array(c, n, n);
    void *lam = take_array(c, n, n);
    void *d = take_array(c, n - 2, n - 2);
    void *q = take_array(c, n - 2, n - 2);
    fill(u, c->f64, n * n, 0, 1.0 / 1024);
    fill(lam, c->f64, n * n, 1, 0);
    fill(q, c->f64, (n - 2) * (n - 2), 0.25, 0);
    c->dr = (handwritten_dr){.f64 = c->f64,
                             .nx = n,
                             .ny = n,
                             .u = u,
                             .d = d,
                             .lam = lam,
                             .Q = q,
                             .alpha = 0.99 * 1.9,
                             .beta = 0.9,
                             .dx_inverse = 1,
                             .dy_inverse = 1};
    bool good = u != NULL && lam != NULL && d != NULL && q != NULL;
    if (c->kernels == RUBUS_KERNELS_FUSED) {
        c->dr.un = take_array(c, n, n);
        c->dr.dn = take_array(c, n - 2, n - 2);
        fill(c->dr.un, c->f64, n * n, 0, 1.0 / 1024);
        good = good && c->dr.un != NULL && c->dr.dn != NULL;
        return good ? CLI_DONE : cli_out_of_memory();
    }
    c->dr.r = take_array(c, n - 2, n - 2);
    c->dr.z = take_array(c, n - 2, n - 2);
    good = good && c->dr.r != NULL && c->dr.z != NULL;
    if (c->kernels == RUBUS_KERNELS_MATH) {
        c->dr.qx = take_array(c, n - 1, n - 2);
        c->dr.qy = take_array(c, n - 2, n - 1);
        good = good && c->dr.qx != NULL && c->dr.qy != NULL;
    }
    return good ? CLI_DONE : cli_out_of_memory();
}

/* Where there is no device for it, or no compiler was at hand when Rubus was built, the
 * benchmark goes on without this side. */
static int make_on_gpu(contest *c, const char *device)
{
    char why[256] = "built without glslc or the headers of Vulkan";
#if defined(HANDWRITTEN_GPU)
    const handwritten_gpu_problem problem = {
        .device = device,
        .set = c->kernels == RUBUS_KERNELS_MATH    ? HANDWRITTEN_MATH
               : c->kernels == RUBUS_KERNELS_INDEX ? HANDWRITTEN_INDEX
                                                   : HANDWRITTEN_FUSED,
        .f64 = c->f64,
        .n = (int32_t)c->o->n,
        .iterations = PLAIN,
    };
    c->gpu = handwritten_gpu_create(&problem, why, sizeof(why));
#endif
    c->nhand = 1;
    if (c->gpu == NULL) {
        c->nhand = 0;
        fprintf(stderr, "rubus: bench: nothing written by hand on %s: %s\n", device, why);
    }
    return CLI_DONE;
}

static int make_by_hand(contest *c)
{
    rubus_context_info info = {.struct_size = sizeof(info)};
    const rubus_status st = rubus_context_info_get(c->context, &info);
    if (st != RUBUS_OK) {
        return cli_fail_status(st, NULL);
    }
    if (info.kind != RUBUS_KIND_CPU) {
        return make_on_gpu(c, info.device);
    }
    c->nhand = c->kernels == RUBUS_KERNELS_FUSED ? 2 : 1;
    return make_on_cpu(c);
}

static void run_by_hand(contest *c, hand_sweep sweep)
{
    for (int i = 0; i < PLAIN; i++) {
        sweep(c->team, &c->dr);
        if (c->kernels == RUBUS_KERNELS_FUSED) {
            void *swap = c->dr.u;
            c->dr.u = c->dr.un;
            c->dr.un = swap;
            swap = c->dr.d;
            c->dr.d = c->dr.dn;
            c->dr.dn = swap;
        }
    }
}

static void time_on_gpu(contest *c, int64_t at)
{
#if defined(HANDWRITTEN_GPU)
    if (c->gpu == NULL || c->nhand == 0) {
        return;
    }
    const double start = measure_seconds();
    if (!handwritten_gpu_run(c->gpu)) {
        c->nhand = 0;
        fputs("rubus: bench: the kernels written by hand failed\n", stderr);
    } else if (at >= 0) {
        c->hand_s[0][at] = (measure_seconds() - start) / PLAIN;
    }
#else
    (void)c;
    (void)at;
#endif
}

static void time_by_hand(contest *c, int64_t at)
{
    if (c->team == NULL) {
        time_on_gpu(c, at);
        return;
    }
    const hand_sweep sweeps[2] = {
        c->kernels == RUBUS_KERNELS_MATH    ? handwritten_math
        : c->kernels == RUBUS_KERNELS_INDEX ? handwritten_index
                                            : handwritten_fused,
        handwritten_fused_prefetch,
    };
    for (int i = 0; i < 2 && i < c->nhand; i++) {
        const double start = measure_seconds();
        run_by_hand(c, sweeps[i]);
        if (at >= 0) {
            c->hand_s[i][at] = (measure_seconds() - start) / PLAIN;
        }
    }
}

// --- the library's side -------------------------------------------------------------

static rubus_status run_relax(contest *c, int64_t iterations, double *out_s)
{
    const double start = measure_seconds();
    rubus_status st = rubus_relax_run(c->relax, iterations, NULL, NULL);
    if (st == RUBUS_OK) {
        st = rubus_context_synchronize(c->context);
    }
    *out_s = measure_seconds() - start;
    return st;
}

static int run_round(contest *c, measure_copy *copy, int64_t at)
{
    double gbs;
    int status = measure_copy_run(copy, &gbs);
    if (status != CLI_DONE) {
        return status;
    }
    double plain_s;
    double last_s = 0;
    rubus_status st = run_relax(c, PLAIN, &plain_s);
    if (st == RUBUS_OK) {
        st = run_relax(c, ITERATIONS - PLAIN, &last_s);
    }
    if (st != RUBUS_OK) {
        return cli_fail_status(st, NULL);
    }
    time_by_hand(c, at);
    if (at >= 0) {
        c->peak_gbs[at] = gbs;
        c->plain_s[at] = plain_s / PLAIN;
        c->all_s[at] = (plain_s + last_s) / ITERATIONS;
    }
    return CLI_DONE;
}

static int set_up(contest *c)
{
    const size_t rounds = c->o->rounds;
    c->peak_gbs = calloc(5 * rounds, sizeof(double));
    if (c->peak_gbs == NULL) {
        return cli_out_of_memory();
    }
    c->plain_s = c->peak_gbs + rounds;
    c->all_s = c->plain_s + rounds;
    c->hand_s[0] = c->all_s + rounds;
    c->hand_s[1] = c->hand_s[0] + rounds;
    const rubus_relax_desc desc = {
        .struct_size = sizeof(desc),
        .dim = 2,
        .real = c->f64 ? RUBUS_F64 : RUBUS_F32,
        .kernels = c->kernels,
        .n = {c->o->n, c->o->n},
        .right = 1,
        .niter = ITERATIONS * ((int64_t)rounds + 1),
        .no_checks = 1,
    };
    rubus_status st = rubus_relax_create(c->context, &desc, &c->relax);
    if (st != RUBUS_OK) {
        return cli_fail_status(st, NULL);
    }
    return make_by_hand(c);
}

static void tear_down(contest *c)
{
    rubus_relax_destroy(c->relax);
    for (size_t i = 0; i < c->nmemory; i++) {
        free(c->memory[i]);
    }
    handwritten_team_destroy(c->team);
#if defined(HANDWRITTEN_GPU)
    handwritten_gpu_destroy(c->gpu);
#endif
    free(c->peak_gbs);
}

// --- results ------------------------------------------------------------------------

/* Ratios are taken round by round, between neighbours in time, and then their median:
 * other work on the machine slows both sides of a round. */
static double ratio_median(const contest *c, double *ratio, double *out_hand)
{
    const size_t rounds = c->o->rounds;
    rubus_relax_report report = {.struct_size = sizeof(report)};
    if (rubus_relax_report_get(c->relax, &report) != RUBUS_OK) {
        return 0;
    }
    for (size_t i = 0; i < rounds; i++) {
        double by_hand = c->hand_s[0][i];
        if (c->nhand == 2 && c->hand_s[1][i] < by_hand) {
            by_hand = c->hand_s[1][i];
        }
        ratio[i] = by_hand / c->plain_s[i];
    }
    *out_hand = measure_median(ratio, rounds);
    for (size_t i = 0; i < rounds; i++) {
        ratio[i] = report.bytes_effective / c->all_s[i] / 1e9 / c->peak_gbs[i];
    }
    return measure_median(ratio, rounds);
}

static json_t *result(contest *c, double *peak)
{
    rubus_relax_report report = {.struct_size = sizeof(report)};
    double *room = calloc(c->o->rounds, sizeof(double));
    if (room == NULL || rubus_relax_report_get(c->relax, &report) != RUBUS_OK) {
        free(room);
        return NULL;
    }
    double ratio = 0;
    const double over_peak = ratio_median(c, room, &ratio);
    free(room);
    const size_t rounds = c->o->rounds;
    *peak = measure_median(c->peak_gbs, rounds);
    const double t_eff = report.bytes_effective / measure_median(c->all_s, rounds) / 1e9;
    if (!c->o->common.json) {
        printf("%-6s %s %6lld %10.2f %10.2f %7d", kernels_name(c->kernels),
               c->f64 ? "f64" : "f32", (long long)c->o->n, t_eff, over_peak,
               report.passes);
        printf(c->nhand > 0 ? " %10.2f\n" : "          -\n", ratio);
        fflush(stdout);
    }
    return json_pack("{s:s, s:s, s:I, s:f, s:f, s:i, s:o}", "kernels",
                     kernels_name(c->kernels), "real", c->f64 ? "f64" : "f32", "n",
                     (json_int_t)c->o->n, "t_eff_gbs", t_eff, "t_eff_over_t_peak",
                     over_peak, "passes", (int)report.passes, "handwritten_ratio",
                     c->nhand > 0 ? json_real(ratio) : json_null());
}

static int run_contest(contest *c, json_t *results, double *peak)
{
    measure_copy *copy = NULL;
    int status = set_up(c);
    if (status == CLI_DONE) {
        status =
            measure_copy_create(c->context, c->o->n * c->o->n * (c->f64 ? 8 : 4), &copy);
    }
    for (int64_t i = -1; status == CLI_DONE && i < (int64_t)c->o->rounds; i++) {
        status = run_round(c, copy, i);
    }
    if (status == CLI_DONE && json_array_append_new(results, result(c, peak)) != 0) {
        status = cli_out_of_memory();
    }
    measure_copy_destroy(copy);
    tear_down(c);
    return status;
}

int bench_dr(rubus_context *context, const bench_options *o, json_t **out_object)
{
    json_t *results = json_array();
    if (results == NULL) {
        return cli_out_of_memory();
    }
    if (!o->common.json) {
        puts("kernels real    n  T_eff GB/s  /T_peak  passes  speed/by hand");
    }
    double peak_sum = 0;
    int npeak = 0;
    int status = CLI_DONE;
    for (int f64 = 1; f64 >= 0; f64--) {
        for (int32_t k = RUBUS_KERNELS_MATH; k <= RUBUS_KERNELS_FUSED; k++) {
            if (status != CLI_DONE || !bench_wants(o, f64 ? RUBUS_F64 : RUBUS_F32) ||
                (o->kernels != 0 && o->kernels != k)) {
                continue;
            }
            contest c = {.context = context, .o = o, .kernels = k, .f64 = f64};
            double peak = 0;
            status = run_contest(&c, results, &peak);
            peak_sum += peak;
            npeak++;
        }
    }
    if (status != CLI_DONE) {
        json_decref(results);
        return status;
    }
    if (!o->common.json) {
        printf("T_peak %.2f GB/s\n", peak_sum / npeak);
    }
    *out_object =
        json_pack("{s:f, s:o}", "t_peak_gbs", peak_sum / npeak, "results", results);
    return *out_object != NULL ? CLI_DONE : cli_out_of_memory();
}
