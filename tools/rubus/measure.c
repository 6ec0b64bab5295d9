/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time, progress, medians, and the speed of memory (T_peak): what a copy of large arrays
 * reaches. On a CPU that is a hand-written copy whose stores pass the caches by, on as
 * many threads as the backend has; elsewhere the backend's own copy of an array.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "handwritten.h"
#include "measure.h"

enum { PEAK_ROUNDS = 7, REPEATS_MOST = 50 };
#define REPEATS_SECONDS 5e-3
#define PEAK_BYTES ((int64_t)64 << 20)
#define PEAK_BYTES_LEAST ((int64_t)64 << 10)

double measure_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

measure_progress measure_progress_begin(const char *what)
{
    return (measure_progress){
        .what = what, .terminal = isatty(STDERR_FILENO), .last = measure_seconds()};
}

int measure_progress_show(void *progress, int64_t iteration, double residual)
{
    measure_progress *p = progress;
    const double now = measure_seconds();
    if (now - p->last > 0.2) {
        p->last = now;
        fprintf(stderr, "\rrubus: iteration %lld, %s %.3e ", (long long)iteration,
                p->what, residual);
        fflush(stderr);
    }
    return 0;
}

void measure_progress_end(const measure_progress *progress)
{
    if (progress->terminal) {
        fputs("\r\033[K", stderr);
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

double measure_median(double *values, size_t n)
{
    qsort(values, n, sizeof(values[0]), compare);
    return n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

int measure_threads(rubus_context *context)
{
    rubus_context_info info = {.struct_size = sizeof(info)};
    if (rubus_context_info_get(context, &info) == RUBUS_OK && info.threads > 0) {
        return (int)info.threads;
    }
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

struct measure_copy {
    handwritten_team *team; // NULL: by arrays of the context
    int64_t nbyte;
    void *src;
    void *dst;
    rubus_array *src_array;
    rubus_array *dst_array;
    int repeats; // that are waited for together: a device copies faster than one waits
};

void *measure_memory(handwritten_team *team, int64_t nbyte)
{
    void *p = NULL;
    if (posix_memalign(&p, (size_t)2 << 20, (size_t)nbyte) != 0) {
        return NULL;
    }
    handwritten_touch(team, p, nbyte);
    return p;
}

static int copy_by_hand(measure_copy *copy, int threads)
{
    copy->team = handwritten_team_create(threads);
    if (copy->team == NULL) {
        return cli_fail(CLI_DEVICE, "%d threads cannot be had", threads);
    }
    copy->src = measure_memory(copy->team, copy->nbyte);
    copy->dst = measure_memory(copy->team, copy->nbyte);
    return copy->src != NULL && copy->dst != NULL ? CLI_DONE : cli_out_of_memory();
}

static rubus_status make_arrays(measure_copy *copy, rubus_context *context)
{
    const rubus_shape shape = RUBUS_SHAPE(copy->nbyte / 4);
    rubus_status st = rubus_array_create(context, RUBUS_F32, shape, &copy->src_array);
    if (st == RUBUS_OK) {
        st = rubus_array_create(context, RUBUS_F32, shape, &copy->dst_array);
    }
    if (st != RUBUS_OK) {
        rubus_array_destroy(copy->src_array);
        copy->src_array = NULL;
    }
    return st;
}

// A device that has no room for them copies smaller ones.
static int copy_by_arrays(measure_copy *copy, rubus_context *context)
{
    rubus_status st = make_arrays(copy, context);
    while ((st == RUBUS_ELIMIT || st == RUBUS_EDEVMEM) &&
           copy->nbyte / 2 >= PEAK_BYTES_LEAST) {
        copy->nbyte = copy->nbyte / 8 * 4;
        st = make_arrays(copy, context);
    }
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, NULL);
}

int measure_copy_create(rubus_context *context, int64_t nbyte, measure_copy **out_copy)
{
    measure_copy *copy = calloc(1, sizeof(*copy));
    if (copy == NULL) {
        return cli_out_of_memory();
    }
    copy->nbyte = nbyte > PEAK_BYTES ? nbyte : PEAK_BYTES;
    copy->repeats = 1;
    rubus_context_info info = {.struct_size = sizeof(info)};
    rubus_status st = rubus_context_info_get(context, &info);
    int status = st != RUBUS_OK ? cli_fail_status(st, NULL)
                 : info.kind == RUBUS_KIND_CPU
                     ? copy_by_hand(copy, measure_threads(context))
                     : copy_by_arrays(copy, context);
    double warm_up;
    for (int i = 0; status == CLI_DONE && i < 2; i++) {
        status = measure_copy_run(copy, &warm_up);
    }
    if (status != CLI_DONE) {
        measure_copy_destroy(copy);
        return status;
    }
    if (copy->team == NULL) {
        const double seconds = 2 * (double)copy->nbyte / 1e9 / warm_up;
        const double repeats = REPEATS_SECONDS / seconds;
        copy->repeats = repeats < 1              ? 1
                        : repeats > REPEATS_MOST ? REPEATS_MOST
                                                 : (int)repeats;
    }
    *out_copy = copy;
    return CLI_DONE;
}

void measure_copy_destroy(measure_copy *copy)
{
    if (copy == NULL) {
        return;
    }
    handwritten_team_destroy(copy->team);
    free(copy->src);
    free(copy->dst);
    rubus_array_destroy(copy->src_array);
    rubus_array_destroy(copy->dst_array);
    free(copy);
}

int measure_copy_run(measure_copy *copy, double *out_gbs)
{
    const double start = measure_seconds();
    if (copy->team != NULL) {
        handwritten_copy(copy->team, copy->dst, copy->src, copy->nbyte);
    } else {
        rubus_status st = RUBUS_OK;
        for (int i = 0; st == RUBUS_OK && i < copy->repeats; i++) {
            st = rubus_array_copy(copy->dst_array, copy->src_array);
        }
        if (st == RUBUS_OK) {
            st = rubus_context_synchronize(rubus_array_context(copy->dst_array));
        }
        if (st != RUBUS_OK) {
            return cli_fail_status(st, NULL);
        }
    }
    *out_gbs =
        2 * (double)copy->nbyte * copy->repeats / (measure_seconds() - start) / 1e9;
    return CLI_DONE;
}

int measure_peak(rubus_context *context, double *out_gbs)
{
    measure_copy *copy;
    int status = measure_copy_create(context, PEAK_BYTES, &copy);
    if (status != CLI_DONE) {
        return status;
    }
    double rounds[PEAK_ROUNDS];
    for (int i = 0; status == CLI_DONE && i < PEAK_ROUNDS; i++) {
        status = measure_copy_run(copy, &rounds[i]);
    }
    if (status == CLI_DONE) {
        *out_gbs = measure_median(rounds, PEAK_ROUNDS);
    }
    measure_copy_destroy(copy);
    return status;
}
