/* SPDX-License-Identifier: Apache-2.0 */
/* rubus bench stream: copy and triad as kernels, beside the same loops by hand. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const char source[] =
    "kernel copy(out real a[nx,ny], in real b[nx,ny]) { a = b; }\n"
    "kernel triad(out real a[nx,ny], in real b[nx,ny], in real c[nx,ny], real s)\n"
    "{\n"
    "    a = b + s * c;\n"
    "}\n";

typedef struct stream {
    rubus_context *context;
    const bench_options *o;
    bool f64;
    int64_t nbyte; // of one array
    rubus_module *module;
    rubus_array *array[3];
    handwritten_team *team;
    void *memory[3];
    double *copy_s; // per round
    double *triad_s;
    double *hand_s; // triad by hand
} stream;

static rubus_status make_arrays(stream *s)
{
    const int32_t real = s->f64 ? RUBUS_F64 : RUBUS_F32;
    const rubus_module_options module_options = {.struct_size = sizeof(module_options),
                                                 .real = real};
    rubus_status st =
        rubus_module_create(s->context, "stream.rk", source, &module_options, &s->module);
    for (int i = 0; st == RUBUS_OK && i < 3; i++) {
        st = rubus_array_create(s->context, real, RUBUS_SHAPE(s->o->n, s->o->n),
                                &s->array[i]);
        if (st == RUBUS_OK) {
            st = rubus_array_fill(s->array[i], i);
        }
    }
    return st;
}

static int set_up(stream *s)
{
    rubus_status st = make_arrays(s);
    if (st != RUBUS_OK) {
        return cli_fail_status(st, NULL);
    }
    s->team = handwritten_team_create(measure_threads(s->context));
    s->copy_s = calloc(3 * s->o->rounds, sizeof(double));
    if (s->team == NULL || s->copy_s == NULL) {
        return cli_out_of_memory();
    }
    s->triad_s = s->copy_s + s->o->rounds;
    s->hand_s = s->triad_s + s->o->rounds;
    for (int i = 0; i < 3; i++) {
        s->memory[i] = measure_memory(s->team, s->nbyte);
        if (s->memory[i] == NULL) {
            return cli_out_of_memory();
        }
    }
    return CLI_DONE;
}

static void tear_down(stream *s)
{
    for (int i = 0; i < 3; i++) {
        rubus_array_destroy(s->array[i]);
        free(s->memory[i]);
    }
    rubus_module_destroy(s->module);
    handwritten_team_destroy(s->team);
    free(s->copy_s);
}

// Everything once; at < 0 warms up.
static int run_round(stream *s, int64_t at)
{
    const rubus_kernel *copy = rubus_module_kernel(s->module, "copy");
    const rubus_kernel *triad = rubus_module_kernel(s->module, "triad");
    const double t0 = measure_seconds();
    rubus_status st = rubus_launch(copy, s->array[0], s->array[1]);
    if (st == RUBUS_OK) {
        st = rubus_context_synchronize(s->context);
    }
    const double t1 = measure_seconds();
    if (st == RUBUS_OK) {
        st = rubus_launch(triad, s->array[0], s->array[1], s->array[2], 0.5);
    }
    if (st == RUBUS_OK) {
        st = rubus_context_synchronize(s->context);
    }
    const double t2 = measure_seconds();
    handwritten_triad(s->team, s->f64, s->o->n * s->o->n, s->memory[0], s->memory[1],
                      s->memory[2], 0.5);
    const double t3 = measure_seconds();
    if (at >= 0) {
        s->copy_s[at] = t1 - t0;
        s->triad_s[at] = t2 - t1;
        s->hand_s[at] = t3 - t2;
    }
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, NULL);
}

static json_t *result(const stream *s, const char *kernel, double gbs, double peak,
                      double hand_gbs)
{
    if (!s->o->common.json) {
        printf("%-6s %s %8.2f GB/s  %5.2f of T_peak", kernel, s->f64 ? "f64" : "f32", gbs,
               gbs / peak);
        if (hand_gbs > 0) {
            printf("  %5.2f of the speed by hand", gbs / hand_gbs);
        }
        putchar('\n');
    }
    json_t *object = json_pack("{s:s, s:s, s:I, s:f, s:f}", "kernel", kernel, "real",
                               s->f64 ? "f64" : "f32", "n", (json_int_t)s->o->n, "gbs",
                               gbs, "over_t_peak", gbs / peak);
    if (object != NULL && hand_gbs > 0) {
        cli_json_add(object, "handwritten_ratio", json_real(gbs / hand_gbs));
    }
    return object;
}

static int run_real(rubus_context *context, const bench_options *o, bool f64,
                    json_t *results, double *peak)
{
    stream s = {
        .context = context, .o = o, .f64 = f64, .nbyte = o->n * o->n * (f64 ? 8 : 4)};
    measure_copy *copy = NULL;
    double *peaks = calloc(o->rounds, sizeof(peaks[0]));
    int status = peaks != NULL ? set_up(&s) : cli_out_of_memory();
    if (status == CLI_DONE) {
        status = measure_copy_create(context, s.nbyte, &copy);
    }
    if (status == CLI_DONE) {
        status = run_round(&s, -1);
    }
    for (size_t i = 0; status == CLI_DONE && i < o->rounds; i++) {
        status = measure_copy_run(copy, &peaks[i]);
        if (status == CLI_DONE) {
            status = run_round(&s, (int64_t)i);
        }
    }
    if (status == CLI_DONE) {
        const double size = (double)s.nbyte / 1e9;
        *peak = measure_median(peaks, o->rounds);
        const double by_hand = 3 * size / measure_median(s.hand_s, o->rounds);
        json_t *first =
            result(&s, "copy", 2 * size / measure_median(s.copy_s, o->rounds), *peak, 0);
        json_t *second = result(
            &s, "triad", 3 * size / measure_median(s.triad_s, o->rounds), *peak, by_hand);
        if (json_array_append_new(results, first) != 0 ||
            json_array_append_new(results, second) != 0) {
            status = cli_out_of_memory();
        }
    }
    measure_copy_destroy(copy);
    free(peaks);
    tear_down(&s);
    return status;
}

int bench_stream(rubus_context *context, const bench_options *o, json_t **out_object)
{
    json_t *results = json_array();
    double peak = 0;
    int status = results != NULL ? CLI_DONE : cli_out_of_memory();
    for (int f64 = 1; status == CLI_DONE && f64 >= 0; f64--) {
        if (bench_wants(o, f64 ? RUBUS_F64 : RUBUS_F32)) {
            status = run_real(context, o, f64, results, &peak);
        }
    }
    if (status != CLI_DONE) {
        json_decref(results);
        return status;
    }
    if (!o->common.json) {
        printf("T_peak %.2f GB/s\n", peak);
    }
    *out_object = json_pack("{s:f, s:o}", "t_peak_gbs", peak, "results", results);
    return *out_object != NULL ? CLI_DONE : cli_out_of_memory();
}
