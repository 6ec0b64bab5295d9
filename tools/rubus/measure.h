/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TOOLS_MEASURE_H
#define RUBUS_TOOLS_MEASURE_H
/* Time, progress, medians, and the speed of memory. */
#include "command.h"
#include "handwritten.h"

double measure_seconds(void); // of a clock that only goes forward
/* The progress of a solver: a line on the terminal, at most five a second. */
typedef struct measure_progress {
    const char *what; // is shown: "max|r|"
    bool terminal;    // stderr is one: else nothing is to be shown
    double last;      // seconds
} measure_progress;
measure_progress measure_progress_begin(const char *what);
int measure_progress_show(void *progress, int64_t iteration, double residual);
void measure_progress_end(const measure_progress *progress);
/* Sorts the values and returns the middle one (of two, their mean); n > 0. */
double measure_median(double *values, size_t n);
/* Threads of the context's backend, or CPUs where it tells none. */
int measure_threads(rubus_context *context);
/* Large memory, touched by the team that will work on it; for free(). NULL: none left. */
void *measure_memory(handwritten_team *team, int64_t nbyte);

/* A copy that is repeated in the rounds of a benchmark. GB/s counts bytes read and bytes
 * written. The functions return an exit status after its message. */
typedef struct measure_copy measure_copy;
int measure_copy_create(rubus_context *context, int64_t nbyte, measure_copy **out_copy);
void measure_copy_destroy(measure_copy *copy); // NULL allowed
int measure_copy_run(measure_copy *copy, double *out_gbs);

/* The median of some rounds of such a copy. */
int measure_peak(rubus_context *context, double *out_gbs);

#endif
