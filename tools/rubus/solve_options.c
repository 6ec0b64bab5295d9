/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of `rubus solve`, turned into the description that the library takes. There
 * zero means the default, so a zero that was asked for (--tol 0, --niter 0) goes as a
 * negative number. With --restart only what was given on the command line is passed on.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solve_options.h"

enum {
    OPTION_DIM = CLI_OWN,
    OPTION_NX, // the six sizes follow each other
    OPTION_NY,
    OPTION_NZ,
    OPTION_LX,
    OPTION_LY,
    OPTION_LZ,
    OPTION_LAMBDA,
    OPTION_LAMBDA_CONST,
    OPTION_LEFT,
    OPTION_RIGHT,
    OPTION_INIT,
    OPTION_PROFILE,
    OPTION_TOL,
    OPTION_NITER,
    OPTION_KERNELS,
    OPTION_MEAN,
    OPTION_PLOT,
    OPTION_HISTORY,
    OPTION_CHECKPOINT,
    OPTION_RESTART,
    OPTION_BENCH,
};

static const struct option options[] = {
    {"dim", required_argument, NULL, OPTION_DIM},
    {"nx", required_argument, NULL, OPTION_NX},
    {"ny", required_argument, NULL, OPTION_NY},
    {"nz", required_argument, NULL, OPTION_NZ},
    {"lx", required_argument, NULL, OPTION_LX},
    {"ly", required_argument, NULL, OPTION_LY},
    {"lz", required_argument, NULL, OPTION_LZ},
    {"lambda", required_argument, NULL, OPTION_LAMBDA},
    {"lambda-const", required_argument, NULL, OPTION_LAMBDA_CONST},
    {"left", required_argument, NULL, OPTION_LEFT},
    {"right", required_argument, NULL, OPTION_RIGHT},
    {"init", required_argument, NULL, OPTION_INIT},
    {"profile", required_argument, NULL, OPTION_PROFILE},
    {"tol", required_argument, NULL, OPTION_TOL},
    {"niter", required_argument, NULL, OPTION_NITER},
    {"kernels", required_argument, NULL, OPTION_KERNELS},
    {"mean", required_argument, NULL, OPTION_MEAN},
    {"output", required_argument, NULL, 'o'},
    {"plot", required_argument, NULL, OPTION_PLOT},
    {"history", required_argument, NULL, OPTION_HISTORY},
    {"checkpoint", required_argument, NULL, OPTION_CHECKPOINT},
    {"restart", required_argument, NULL, OPTION_RESTART},
    {"bench", no_argument, NULL, OPTION_BENCH},
    CLI_OPTION_BACKEND,
    CLI_OPTION_REAL,
    CLI_OPTION_JSON,
    CLI_OPTION_LAST,
};

static bool given(const solve_options *o, int option)
{
    return (o->given >> (option - CLI_OWN) & 1) != 0;
}

// --nx ... --lz.
static bool take_size(solve_options *o, int code)
{
    static const char *const names[] = {"nx", "ny", "nz", "lx", "ly", "lz"};
    const int at = code - OPTION_NX;
    return at < 3 ? cli_integer(&cli_solve, names[at], optarg, 1, &o->desc.n[at])
                  : cli_positive(&cli_solve, names[at], optarg, &o->desc.length[at - 3]);
}

static bool take_dim(solve_options *o)
{
    int64_t dim;
    if (!cli_integer(&cli_solve, "dim", optarg, 1, &dim)) {
        return false;
    }
    if (dim > 3) {
        cli_usage("solve", "--dim: %s is none of 1, 2, 3", optarg);
        return false;
    }
    o->desc.dim = (int32_t)dim;
    return true;
}

// A zero that was asked for goes as a negative number: zero means the default.
static bool take_tol(solve_options *o)
{
    double tol;
    if (!cli_real(&cli_solve, "tol", optarg, &tol)) {
        return false;
    }
    if (tol < 0) {
        cli_usage("solve", "--tol: %s is negative", optarg);
        return false;
    }
    o->desc.tol = tol == 0 ? -1 : tol;
    return true;
}

static bool take_niter(solve_options *o)
{
    int64_t niter;
    if (!cli_integer(&cli_solve, "niter", optarg, 0, &niter)) {
        return false;
    }
    if (niter > INT64_MAX / 4) {
        cli_usage("solve", "--niter: %s is too large", optarg);
        return false;
    }
    o->desc.niter = niter == 0 ? -1 : niter;
    return true;
}

static bool take_number(solve_options *o, int code)
{
    static const char *const axes[] = {"x", "y", "z", NULL};
    static const char *const kernels[] = {"math", "index", "fused", NULL};
    static const char *const means[] = {"arithmetic", "harmonic", NULL};
    const cli_command *c = &cli_solve;
    rubus_relax_desc *d = &o->desc;
    bool good = true;
    switch (code) {
    case OPTION_DIM:
        return take_dim(o);
    case OPTION_LAMBDA_CONST:
        return cli_positive(c, "lambda-const", optarg, &d->lambda_const);
    case OPTION_LEFT:
        return cli_real(c, "left", optarg, &d->left);
    case OPTION_RIGHT:
        return cli_real(c, "right", optarg, &d->right);
    case OPTION_INIT:
        return cli_real(c, "init", optarg, &d->init);
    case OPTION_PROFILE:
        return cli_word(c, "profile", optarg, axes, &d->profile);
    case OPTION_TOL:
        return take_tol(o);
    case OPTION_NITER:
        return take_niter(o);
    case OPTION_KERNELS:
        good = cli_word(c, "kernels", optarg, kernels, &d->kernels);
        d->kernels += RUBUS_KERNELS_MATH;
        return good;
    case OPTION_MEAN:
        good = cli_word(c, "mean", optarg, means, &d->mean);
        d->mean += RUBUS_MEAN_ARITHMETIC;
        return good;
    default:
        return code < OPTION_NX || code > OPTION_LZ || take_size(o, code);
    }
}

static void take_path(solve_options *o, int code)
{
    switch (code) {
    case 'o':
        o->output = optarg;
        break;
    case OPTION_LAMBDA:
        o->lambda_path = optarg;
        break;
    case OPTION_PLOT:
        o->plot = optarg;
        break;
    case OPTION_HISTORY:
        o->history = optarg;
        break;
    case OPTION_CHECKPOINT:
        o->checkpoint = optarg;
        break;
    case OPTION_RESTART:
        o->restart = optarg;
        break;
    case OPTION_BENCH:
        o->bench = true;
        break;
    default:
        break;
    }
}

// Endings are looked at before hours of solving.
static int check_endings(const solve_options *o)
{
    if (o->output != NULL && !cli_is_field_path(o->output) &&
        !cli_has_ending(o->output, ".txt")) {
        return cli_fail(CLI_INPUT,
                        "%s: the ending of -o must be .vti, .vtk, .tsv, .txt, .bin or "
                        ".png",
                        o->output);
    }
    if (o->plot != NULL && !cli_has_ending(o->plot, ".png")) {
        return cli_fail(CLI_INPUT,
                        "%s: the ending of --plot must be .png (-o writes other formats)",
                        o->plot);
    }
    return CLI_DONE;
}

// Of two results on one file the first would be lost.
static int check_results(const solve_options *o)
{
    const struct {
        const char *option;
        const char *path;
    } result[] = {
        {"-o", o->output},
        {"--plot", o->plot},
        // "-" is stdout there
        {"--history",
         o->history != NULL && strcmp(o->history, "-") != 0 ? o->history : NULL},
        {"--checkpoint", o->checkpoint},
    };
    const size_t n = sizeof(result) / sizeof(result[0]);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            if (result[i].path != NULL && result[j].path != NULL &&
                cli_same_file(result[i].path, result[j].path)) {
                return cli_usage("solve",
                                 "%s and %s would write the same file, %s: give each its "
                                 "own",
                                 result[i].option, result[j].option, result[j].path);
            }
        }
    }
    return CLI_DONE;
}

// --bench checks no residuals, so what is about them has no meaning.
static int check_bench(const solve_options *o)
{
    if (o->bench && (given(o, OPTION_TOL) || o->history != NULL)) {
        return cli_usage("solve",
                         "--%s does not go with --bench, which checks no residuals",
                         o->history != NULL ? "history" : "tol");
    }
    return CLI_DONE;
}

// What does not go together, and what is missing.
static int check_together(const solve_options *o)
{
    const int32_t dim = o->desc.dim != 0 ? o->desc.dim : 2;
    if (o->restart != NULL) {
        for (size_t i = 0; options[i].name != NULL; i++) {
            const int code = options[i].val;
            if (code >= CLI_OWN && code < OPTION_PLOT && code != OPTION_TOL &&
                code != OPTION_NITER && given(o, code)) {
                return cli_usage("solve",
                                 "--%s does not go with --restart: the checkpoint holds "
                                 "it",
                                 options[i].name);
            }
        }
        if (o->common.real != 0 || o->bench) {
            return cli_usage("solve", "--%s does not go with --restart",
                             o->bench ? "bench" : "real");
        }
        return CLI_DONE;
    }
    if (!given(o, OPTION_NX)) {
        return cli_usage("solve", "--nx is missing");
    }
    static const char axes[] = "xyz";
    for (int axis = dim; axis < 3; axis++) {
        if (given(o, OPTION_NX + axis) || given(o, OPTION_LX + axis)) {
            return cli_usage("solve", "--%c%c needs --dim %d or more",
                             given(o, OPTION_NX + axis) ? 'n' : 'l', axes[axis],
                             axis + 1);
        }
    }
    if (o->desc.profile >= dim) {
        return cli_usage("solve", "--profile %c needs --dim %d", axes[o->desc.profile],
                         o->desc.profile + 1);
    }
    if (o->lambda_path != NULL && given(o, OPTION_LAMBDA_CONST)) {
        return cli_usage("solve", "--lambda and --lambda-const exclude each other");
    }
    return check_bench(o);
}

// Adds a number to the list; false if out of memory.
static bool add_number(double **list, size_t *n, size_t *room, double value)
{
    if (*n == *room) {
        const size_t grown_room = *room > 0 ? 2 * *room : 1024;
        double *grown = realloc(*list, grown_room * sizeof(grown[0]));
        if (grown == NULL) {
            return false;
        }
        *list = grown;
        *room = grown_room;
    }
    (*list)[(*n)++] = value;
    return true;
}

// A number of a line without blanks and comment; "" if there is none.
static char *trim_line(char *line)
{
    line[strcspn(line, "#\r\n")] = '\0';
    line += strspn(line, " \t");
    size_t size = strlen(line);
    while (size > 0 && (line[size - 1] == ' ' || line[size - 1] == '\t')) {
        line[--size] = '\0';
    }
    return line;
}

// The number of a line; "%s:%zu" and what is wrong otherwise.
static int read_number(const char *path, size_t number, const char *text, double *out)
{
    errno = 0;
    const bool parsed = cli_parse_real(text, out);
    if (errno == ERANGE && (!parsed || *out == 0)) {
        return cli_fail(CLI_INPUT, "%s:%zu: %.60s is out of the range of f64", path,
                        number, text);
    }
    if (!parsed) {
        return cli_fail(CLI_INPUT, "%s:%zu: '%.60s' is not a number (one a line)", path,
                        number, text);
    }
    if (!isfinite(*out) || *out <= 0) {
        return cli_fail(CLI_INPUT,
                        "%s:%zu: %.60s: a coefficient must be positive and finite", path,
                        number, text);
    }
    return CLI_DONE;
}

static int read_numbers(const char *path, FILE *file, double **list, size_t *n)
{
    static const char mark[] = "\xEF\xBB\xBF"; // some editors begin UTF-8 files with it
    char *line = NULL;
    size_t line_room = 0;
    size_t room = 0;
    int status = CLI_DONE;
    ssize_t size;
    for (size_t number = 1;
         status == CLI_DONE && (size = getline(&line, &line_room, file)) >= 0; number++) {
        if (memchr(line, '\0', (size_t)size) != NULL) {
            status = cli_fail(
                CLI_INPUT, "%s:%zu: a byte of value zero: the file is no text in UTF-8",
                path, number);
            break;
        }
        const bool marked = number == 1 && strncmp(line, mark, strlen(mark)) == 0;
        const char *text = trim_line(marked ? line + strlen(mark) : line);
        if (text[0] == '\0') {
            continue;
        }
        double value = 0;
        status = read_number(path, number, text, &value);
        if (status == CLI_DONE && !add_number(list, n, &room, value)) {
            status = cli_out_of_memory();
        }
    }
    if (status == CLI_DONE && ferror(file)) {
        status = cli_fail(CLI_INPUT, "cannot read %s: %s", path, strerror(errno));
    }
    free(line);
    return status;
}

static int read_lambda(solve_options *o)
{
    if (o->lambda_path == NULL) {
        return CLI_DONE;
    }
    FILE *file = NULL;
    int status = cli_open_input(o->lambda_path, &file);
    if (status != CLI_DONE) {
        return status;
    }
    double *list = NULL;
    size_t n = 0;
    status = read_numbers(o->lambda_path, file, &list, &n);
    fclose(file);
    o->desc.lambda = list;
    o->desc.nlambda = (int64_t)n;
    if (status == CLI_DONE && n == 0) {
        status = cli_fail(CLI_INPUT, "%s holds no numbers", o->lambda_path);
    }
    return status;
}

static void fill_defaults(solve_options *o)
{
    rubus_relax_desc *d = &o->desc;
    if (o->restart != NULL) {
        return;
    }
    d->dim = d->dim != 0 ? d->dim : 2;
    for (int axis = 1; axis < d->dim; axis++) {
        d->n[axis] = d->n[axis] != 0 ? d->n[axis] : d->n[0];
    }
    d->right = given(o, OPTION_RIGHT) ? d->right : 1;
    d->real = o->common.real;
    if (o->bench) {
        // Whole chunks after the warm-up; the solver's own limit must not come before.
        const int64_t wanted = d->niter > 0 ? d->niter : SOLVE_BENCH_ITERATIONS;
        o->bench_chunks = (wanted + SOLVE_BENCH_CHUNK - 1) / SOLVE_BENCH_CHUNK;
        d->niter = SOLVE_BENCH_WARM_UP + o->bench_chunks * SOLVE_BENCH_CHUNK;
        d->no_checks = 1;
    }
}

int solve_options_read(int argc, char **argv, solve_options *out, int *exit_status)
{
    *out = (solve_options){.desc = {.struct_size = sizeof(out->desc)}};
    for (;;) {
        const int code = cli_next(&cli_solve, argc, argv, ":b:o:vh", options,
                                  &out->common, exit_status);
        if (code == CLI_STOP) {
            return CLI_STOP;
        }
        if (code == CLI_END) {
            break;
        }
        if (code >= CLI_OWN) {
            out->given |= (uint64_t)1 << (code - CLI_OWN);
        }
        if (!take_number(out, code)) {
            *exit_status = CLI_USAGE;
            return CLI_STOP;
        }
        take_path(out, code);
    }
    if (optind < argc) {
        *exit_status = cli_usage("solve", "unexpected argument '%s'", argv[optind]);
        return CLI_STOP;
    }
    *exit_status = check_together(out);
    if (*exit_status == CLI_DONE) {
        *exit_status = check_endings(out);
    }
    if (*exit_status == CLI_DONE) {
        *exit_status = check_results(out);
    }
    if (*exit_status == CLI_DONE) {
        fill_defaults(out);
        *exit_status = read_lambda(out);
    }
    return *exit_status == CLI_DONE ? CLI_DONE : CLI_STOP;
}

void solve_options_free(solve_options *o)
{
    free((double *)(uintptr_t)o->desc.lambda);
    o->desc.lambda = NULL;
}
