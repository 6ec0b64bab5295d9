/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubus bench launch: what a launch costs beside its work, alone and among many, and what
 * a module of 40 lines costs, compiled and found in the cache. The source of every round
 * differs in a constant, so that it is compiled once and found once.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { BATCH = 1000, STATEMENTS = 34 };

typedef struct launch_times {
    double *empty_us;
    double *batched_us;
    double *cold_ms;
    double *warm_ms;
} launch_times;

static rubus_status time_launches(rubus_context *context, const rubus_kernel *kernel,
                                  rubus_array *array, double *empty_us,
                                  double *batched_us)
{
    rubus_status st = RUBUS_OK;
    double start = measure_seconds();
    for (int i = 0; st == RUBUS_OK && i < BATCH; i++) {
        st = rubus_launch(kernel, array);
        if (st == RUBUS_OK) {
            st = rubus_context_synchronize(context);
        }
    }
    *empty_us = (measure_seconds() - start) * 1e6 / BATCH;
    start = measure_seconds();
    for (int i = 0; st == RUBUS_OK && i < BATCH; i++) {
        st = rubus_launch(kernel, array);
    }
    if (st == RUBUS_OK) {
        st = rubus_context_synchronize(context);
    }
    *batched_us = (measure_seconds() - start) * 1e6 / BATCH;
    return st;
}

// 40 lines whose constants are those of this round alone.
static char *make_source(size_t round)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return NULL;
    }
    fputs(
        "// A kernel of 40 lines.\nkernel forty(inout real u[nx,ny], in real v[nx,ny])\n"
        "    over (i, j)\n{\n    real x = v[i, j];\n",
        to);
    for (int i = 0; i < STATEMENTS; i++) {
        fprintf(to, "    x = x * %.17g + u[i, j];\n",
                1 + (double)(round * STATEMENTS + (size_t)i) / 1048576);
    }
    fputs("    u[i, j] = x;\n}\n", to);
    if (fclose(to) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static rubus_status time_module(rubus_context *context, const char *text, double *out_ms)
{
    rubus_module *module = NULL;
    const double start = measure_seconds();
    rubus_status st = rubus_module_create(context, "forty.rk", text, NULL, &module);
    *out_ms = (measure_seconds() - start) * 1e3;
    rubus_module_destroy(module);
    return st;
}

static int run_rounds(rubus_context *context, const bench_options *o, launch_times *t)
{
    rubus_module *module = NULL;
    rubus_array *array = NULL;
    rubus_status st = rubus_module_create(context, "empty.rk",
                                          "kernel empty(inout real u[n]) { u[0:1] = 0; }",
                                          NULL, &module);
    if (st == RUBUS_OK) {
        st = rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(8), &array);
    }
    if (st == RUBUS_OK) { // warms up
        st = time_launches(context, rubus_module_kernel(module, "empty"), array,
                           t->empty_us, t->batched_us);
    }
    int status = CLI_DONE;
    for (size_t i = 0; st == RUBUS_OK && status == CLI_DONE && i < o->rounds; i++) {
        st = time_launches(context, rubus_module_kernel(module, "empty"), array,
                           &t->empty_us[i], &t->batched_us[i]);
        char *text = make_source(i);
        if (text == NULL) {
            status = cli_out_of_memory();
            break;
        }
        if (st == RUBUS_OK) {
            st = time_module(context, text, &t->cold_ms[i]);
        }
        if (st == RUBUS_OK) {
            st = time_module(context, text, &t->warm_ms[i]);
        }
        free(text);
    }
    rubus_array_destroy(array);
    rubus_module_destroy(module);
    return st == RUBUS_OK ? status : cli_fail_status(st, NULL);
}

int bench_launch(rubus_context *context, const bench_options *o, json_t **out_object)
{
    const size_t n = o->rounds;
    double *memory = calloc(4 * n, sizeof(memory[0]));
    if (memory == NULL) {
        return cli_out_of_memory();
    }
    launch_times t = {memory, memory + n, memory + 2 * n, memory + 3 * n};
    const int status = run_rounds(context, o, &t);
    if (status == CLI_DONE) {
        const double empty = measure_median(t.empty_us, n);
        const double batched = measure_median(t.batched_us, n);
        const double cold = measure_median(t.cold_ms, n);
        const double warm = measure_median(t.warm_ms, n);
        if (!o->common.json) {
            printf("empty launch, waited for    %8.2f us\n"
                   "empty launch, one of %d   %8.2f us\n"
                   "40 lines, compiled          %8.2f ms\n"
                   "40 lines, from the cache    %8.2f ms\n",
                   empty, BATCH, batched, cold, warm);
        }
        *out_object = json_pack("{s:f, s:f, s:f, s:f}", "empty_us", empty, "batched_us",
                                batched, "cold_compile_ms", cold, "warm_ms", warm);
    }
    free(memory);
    return status != CLI_DONE || *out_object != NULL ? status : cli_out_of_memory();
}
