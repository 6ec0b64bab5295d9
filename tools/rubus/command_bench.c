/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubus bench: measured figures, medians over alternating rounds, each beside the speed
 * of the memory in the same rounds. Kernels that it compiles go to a cache of its own,
 * which is removed at the end.
 */
#include "config.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

enum { OPTION_N = CLI_OWN, OPTION_ROUNDS, OPTION_KERNELS };

static const struct option options[] = {
    {"n", required_argument, NULL, OPTION_N},
    {"rounds", required_argument, NULL, OPTION_ROUNDS},
    {"kernels", required_argument, NULL, OPTION_KERNELS},
    CLI_OPTION_BACKEND,
    CLI_OPTION_REAL,
    CLI_OPTION_JSON,
    CLI_OPTION_LAST,
};

typedef int (*bench_function)(rubus_context *context, const bench_options *o,
                              json_t **out_object);
static const char *const names[] = {"stream",   "dr",     "spmv", "spmm",
                                    "assemble", "launch", NULL};
static const bench_function functions[] = {bench_stream, bench_dr,       bench_spmv,
                                           bench_spmm,   bench_assemble, bench_launch};
enum { NBENCH = 6 };

bool bench_wants(const bench_options *o, int32_t real)
{
    return o->common.real == 0 || o->common.real == real;
}

// --- a cache of its own ----------------------------------------------------------------

static int remove_entry(const char *path, const struct stat *info, int type,
                        struct FTW *place)
{
    (void)info;
    (void)type;
    (void)place;
    return remove(path);
}

// Before the library reads its variables.
static int use_own_cache(char *folder, size_t room)
{
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || access(parent, W_OK) != 0) {
        parent = "/tmp";
    }
    if (snprintf(folder, room, "%s/rubus-bench.XXXXXX", parent) >= (int)room) {
        return cli_fail(CLI_INPUT, "TMPDIR is too long");
    }
    if (mkdtemp(folder) == NULL) {
        const int reason = errno;
        return cli_fail(CLI_INPUT, "cannot make a folder for kernels in %s: %s", parent,
                        strerror(reason));
    }
    if (setenv("RUBUS_CACHE_DIR", folder, 1) != 0) {
        return cli_out_of_memory();
    }
    return CLI_DONE;
}

// --- the command -----------------------------------------------------------------------

static int run_some(const bench_options *o, int32_t only)
{
    rubus_context *context = NULL;
    json_t *all = json_object();
    int status = cli_open(&o->common, &context);
    for (int32_t i = 0; status == CLI_DONE && i < NBENCH; i++) {
        if (only >= 0 && only != i) {
            continue;
        }
        json_t *one = NULL;
        status = functions[i](context, o, &one);
        if (status != CLI_DONE) {
            break;
        }
        if (only >= 0) {
            json_decref(all);
            all = one;
        } else if (!cli_json_add(all, names[i], one)) {
            status = cli_out_of_memory();
        }
    }
    rubus_context_destroy(context);
    if (status != CLI_DONE || !o->common.json) {
        json_decref(all);
        return status != CLI_DONE ? status : cli_finish(CLI_DONE);
    }
    return cli_json_finish(all, CLI_DONE);
}

static int run_bench(int argc, char **argv)
{
    bench_options o = {.n = 4096, .rounds = 7};
    int status;
    for (;;) {
        const int code =
            cli_next(&cli_bench, argc, argv, ":b:vh", options, &o.common, &status);
        if (code == CLI_STOP) {
            return status;
        }
        if (code == CLI_END) {
            break;
        }
        if (code == OPTION_KERNELS) {
            static const char *const sets[] = {"math", "index", "fused", NULL};
            if (!cli_word(&cli_bench, "kernels", optarg, sets, &o.kernels)) {
                return CLI_USAGE;
            }
            o.kernels += RUBUS_KERNELS_MATH;
            continue;
        }
        int64_t number = 0;
        const bool good = code == OPTION_N
                              ? cli_integer(&cli_bench, "n", optarg, 16, &number)
                              : cli_integer(&cli_bench, "rounds", optarg, 1, &number);
        if (!good) {
            return CLI_USAGE;
        }
        if (number > 1000000) {
            return cli_usage("bench", "--%s: %s is too large",
                             code == OPTION_N ? "n" : "rounds", optarg);
        }
        if (code == OPTION_N) {
            o.n = number;
        } else {
            o.rounds = (size_t)number;
        }
    }
    if (argc - optind > 1) {
        return cli_usage("bench", "unexpected argument '%s'", argv[optind + 1]);
    }
    int32_t only = -1;
    for (int32_t i = 0; optind < argc && i < NBENCH; i++) {
        only = strcmp(argv[optind], names[i]) == 0 ? i : only;
    }
    if (optind < argc && only < 0) {
        return cli_usage("bench",
                         "'%s' is none of stream, dr, spmv, spmm, assemble, launch",
                         argv[optind]);
    }
    char folder[4096];
    status = use_own_cache(folder, sizeof(folder));
    if (status == CLI_DONE) {
        status = run_some(&o, only);
        nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
    return status;
}

const cli_command cli_bench = {
    .name = "bench",
    .summary = "measure speed",
    .help =
        "Usage: rubus bench [stream|dr|spmv|spmm|assemble|launch] [options]\n\n"
        "stream  copy and triad as kernels\n"
        "dr      the solver of `rubus solve` in 2D, in its three forms, and the same\n"
        "        sweeps written by hand, in C on a CPU, in GLSL on a GPU\n"
        "spmv    products of sparse matrices, and the same by a plain loop in C\n"
        "spmm    the same with 4 and 8 vectors at once\n"
        "assemble  the matrix of a form in 2D and 3D, filled in every way, and its\n"
        "        products in every storage\n"
        "launch  launches, a cold compile, a warm start\n\n"
        "Figures are medians over rounds in which everything takes its turn. T_peak is "
        "a\n"
        "copy past the caches in the same rounds.\n\n"
        "      --n N           size along an axis (4096)\n"
        "      --rounds N      (7)\n"
        "      --real f32|f64  only this type (both)\n"
        "      --kernels SET   dr: only math, index or fused (all)\n"
        "  -b, --backend SPEC  where to run; default $RUBUS_BACKEND, else threads\n"
        "      --json          one JSON object on stdout\n"
        "  -v, --verbose       say which backend, device and plugin are used\n"
        "  -h, --help          this text\n",
    .run = run_bench,
};
