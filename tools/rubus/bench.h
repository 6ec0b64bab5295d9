/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TOOLS_BENCH_H
#define RUBUS_TOOLS_BENCH_H
/* The parts of `rubus bench`. Each prints its table unless json is asked for, puts its
 * JSON object into *out_object, and returns an exit status after its message. */
#include "measure.h"

typedef struct bench_options {
    cli_common common;
    int64_t n;       // size along an axis
    size_t rounds;   // medians are over so many
    int32_t kernels; // dr: only this set; 0: all
} bench_options;

int bench_stream(rubus_context *context, const bench_options *o, json_t **out_object);
int bench_dr(rubus_context *context, const bench_options *o, json_t **out_object);
int bench_spmv(rubus_context *context, const bench_options *o, json_t **out_object);
int bench_spmm(rubus_context *context, const bench_options *o, json_t **out_object);
int bench_assemble(rubus_context *context, const bench_options *o, json_t **out_object);
int bench_launch(rubus_context *context, const bench_options *o, json_t **out_object);

/* Whether the types of real that were asked for hold this one. */
bool bench_wants(const bench_options *o, int32_t real);

#endif
