/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TOOLS_SOLVE_OPTIONS_H
#define RUBUS_TOOLS_SOLVE_OPTIONS_H
/* The command line of `rubus solve`. */
#include "command.h"

enum { SOLVE_BENCH_WARM_UP = 10, SOLVE_BENCH_CHUNK = 10, SOLVE_BENCH_ITERATIONS = 100 };

typedef struct solve_options {
    cli_common common;
    rubus_relax_desc desc; // lambda points into this struct's own memory
    uint64_t given;        // bit i: option number i of the table was on the command line
    const char *lambda_path;
    const char *output;
    const char *plot;
    const char *history;
    const char *checkpoint;
    const char *restart;
    bool bench;
    int64_t bench_chunks;
} solve_options;

/* Reads the command line and the file of --lambda. CLI_DONE; or CLI_STOP with the exit
 * status in *exit_status after a message or the help. Free the options either way. */
int solve_options_read(int argc, char **argv, solve_options *out, int *exit_status);
void solve_options_free(solve_options *o);

#endif
