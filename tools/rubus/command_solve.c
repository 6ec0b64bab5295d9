/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubus solve: steady diffusion by accelerated dynamic relaxation. Runs the library's
 * solver, then writes whatever was asked for: the files say in themselves how it ended.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "solve_options.h"

typedef struct solve_result {
    rubus_relax_report report;
    const rubus_relax_desc *desc;
    rubus_context_info info;
    double t_peak;      // GB/s; NaN if it was not measured
    double chunk_min_s; // --bench: seconds of one iteration
    double chunk_median_s;
    int64_t before; // iterations that a checkpoint had done
} solve_result;

static const char *kernels_name(int32_t kernels)
{
    return kernels == RUBUS_KERNELS_MATH    ? "math"
           : kernels == RUBUS_KERNELS_INDEX ? "index"
                                            : "fused";
}

static const char *real_name(int32_t real)
{
    return real == RUBUS_F32 ? "f32" : "f64";
}

static const char *mean_name(int32_t mean)
{
    return mean == RUBUS_MEAN_HARMONIC ? "harmonic" : "arithmetic";
}

static double seconds_per_iteration(const solve_result *r)
{
    if (r->chunk_median_s > 0) {
        return r->chunk_median_s;
    }
    const int64_t done = r->report.iterations - r->before;
    return done > 0 && r->report.seconds > 0 ? r->report.seconds / (double)done
                                             : (double)NAN;
}

static double t_eff_gbs(const solve_result *r)
{
    return r->report.bytes_effective / seconds_per_iteration(r) / 1e9;
}

// --- running ---------------------------------------------------------------------------

static rubus_status run_to_the_end(rubus_relax *relax)
{
    measure_progress progress = measure_progress_begin("max|r|");
    rubus_status st = rubus_relax_run(
        relax, -1, progress.terminal ? measure_progress_show : NULL, &progress);
    measure_progress_end(&progress);
    return st;
}

// Fixed iterations: times chunks of 10, so that each holds one update of beta.
static rubus_status run_bench(rubus_relax *relax, rubus_context *context, int64_t chunks,
                              solve_result *r)
{
    const size_t nchunk = (size_t)chunks;
    double *times = calloc(nchunk + 1, sizeof(times[0]));
    if (times == NULL) {
        cli_out_of_memory();
        return RUBUS_ENOMEM;
    }
    rubus_status st = rubus_relax_run(relax, SOLVE_BENCH_WARM_UP, NULL, NULL);
    if (st == RUBUS_OK) {
        st = rubus_context_synchronize(context);
    }
    for (size_t i = 0; st == RUBUS_OK && i < nchunk; i++) {
        const double start = measure_seconds();
        st = rubus_relax_run(relax, SOLVE_BENCH_CHUNK, NULL, NULL);
        if (st == RUBUS_OK) {
            st = rubus_context_synchronize(context);
        }
        times[i] = (measure_seconds() - start) / SOLVE_BENCH_CHUNK;
    }
    if (st == RUBUS_OK && nchunk > 0) {
        r->chunk_median_s = measure_median(times, nchunk);
        r->chunk_min_s = times[0]; // sorted now
    }
    free(times);
    return st;
}

// --- reporting -------------------------------------------------------------------------

// How it ended, for people and for the titles of files: no times, so that equal runs make
// equal files.
static void describe(const solve_result *r, char *text, size_t room)
{
    const rubus_relax_report *p = &r->report;
    const char *name = rubus_outcome_name(p->outcome);
    if (p->outcome == RUBUS_OUTCOME_CONVERGED) {
        snprintf(text, room, "converged after %lld iterations, max|r| = %.6g < %.6g",
                 (long long)p->iterations, p->residual, p->tolerance);
    } else if (p->outcome == RUBUS_OUTCOME_RUNNING || r->desc->no_checks != 0) {
        snprintf(text, room, "stopped after %lld iterations, without residual checks",
                 (long long)p->iterations);
    } else if (isnan(p->residual) && p->outcome == RUBUS_OUTCOME_LIMIT) {
        snprintf(text, room,
                 "not converged (limit): %lld iterations, residual not checked",
                 (long long)p->iterations);
    } else {
        snprintf(text, room,
                 "not converged (%s): %lld iterations, last checked max|r| = %.6g, "
                 "tolerance %.6g",
                 name, (long long)p->iterations, p->residual, p->tolerance);
    }
}

static void print_report(const solve_result *r, const solve_options *o)
{
    const rubus_relax_desc *d = r->desc;
    char text[256];
    printf("%dD, %lld", d->dim, (long long)d->n[0]);
    for (int axis = 1; axis < d->dim; axis++) {
        printf(" x %lld", (long long)d->n[axis]);
    }
    printf(" cells, %s, kernels %s, lambda ", real_name(d->real),
           kernels_name(d->kernels));
    if (o->restart != NULL) {
        printf("as in %s", o->restart);
    } else if (o->lambda_path != NULL) {
        printf("from %s", o->lambda_path);
    } else if (d->lambda_const != 0) {
        printf("%.6g", d->lambda_const);
    } else {
        printf("1 + 10 exp(-r^2)");
    }
    printf(", %s mean\n", mean_name(d->mean));
    printf("backend %s, %s\n", r->info.backend, r->info.device);
    describe(r, text, sizeof(text));
    puts(text);
    if (r->chunk_median_s > 0) {
        printf("%.6g s an iteration (median), %.6g s (minimum)\n", r->chunk_median_s,
               r->chunk_min_s);
    } else {
        printf("%.2f iterations / nx", (double)r->report.iterations / (double)d->n[0]);
        if (r->before > 0) {
            printf(", %lld of them in this run",
                   (long long)(r->report.iterations - r->before));
        }
        printf(", %.3g s\n", r->report.seconds);
    }
    if (isfinite(t_eff_gbs(r))) {
        printf("T_eff %.2f GB/s", t_eff_gbs(r));
        if (isfinite(r->t_peak)) {
            printf(", T_peak %.2f GB/s, ratio %.2f", r->t_peak, t_eff_gbs(r) / r->t_peak);
        }
        putchar('\n');
    }
}

static json_t *report_json(const solve_result *r)
{
    const rubus_relax_desc *d = r->desc;
    const rubus_relax_report *p = &r->report;
    json_t *sizes = json_array();
    json_t *object = json_object();
    for (int axis = 0; axis < d->dim; axis++) {
        json_array_append_new(sizes, json_integer(d->n[axis]));
    }
    bool good =
        cli_json_add(object, "backend", cli_json_string(r->info.backend)) &&
        cli_json_add(object, "device", cli_json_string(r->info.device)) &&
        cli_json_add(object, "dim", json_integer(d->dim)) &&
        cli_json_add(object, "n", sizes) &&
        cli_json_add(object, "real", json_string(real_name(d->real))) &&
        cli_json_add(object, "kernels", json_string(kernels_name(d->kernels))) &&
        cli_json_add(object, "mean", json_string(mean_name(d->mean))) &&
        cli_json_add(object, "outcome", json_string(rubus_outcome_name(p->outcome))) &&
        cli_json_add(object, "converged",
                     json_boolean(p->outcome == RUBUS_OUTCOME_CONVERGED)) &&
        cli_json_add(object, "iterations", json_integer(p->iterations)) &&
        cli_json_add(object, "iterations_per_n",
                     json_real((double)p->iterations / (double)d->n[0])) &&
        cli_json_add(object, "residual", cli_json_number(p->residual)) &&
        cli_json_add(object, "tolerance", cli_json_number(p->tolerance)) &&
        cli_json_add(object, "time_s", cli_json_number(p->seconds)) &&
        cli_json_add(object, "passes", json_integer(p->passes)) &&
        cli_json_add(object, "t_eff_gbs", cli_json_number(t_eff_gbs(r))) &&
        cli_json_add(object, "t_peak_gbs", cli_json_number(r->t_peak));
    if (good && r->chunk_median_s > 0) {
        good = cli_json_add(object, "iteration_median_s", json_real(r->chunk_median_s)) &&
               cli_json_add(object, "iteration_min_s", json_real(r->chunk_min_s));
    }
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

// --- files -----------------------------------------------------------------------------

static int write_history(const char *path, const solve_result *r)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) {
        return cli_out_of_memory();
    }
    const rubus_relax_report *p = &r->report;
    fputs("iteration,iteration_per_n,residual\n", to);
    for (uint64_t i = 0; i < p->nhistory; i++) {
        const double per_n = p->history_iteration[i];
        fprintf(to, "%lld,%.17g,%.17g\n", llround(per_n * (double)r->desc->n[0]), per_n,
                p->history_residual[i]);
    }
    const int status =
        fclose(to) == 0 ? cli_write_file(path, text, size) : cli_out_of_memory();
    free(text);
    return status;
}

static rubus_output_desc output_desc(const solve_result *r, const char *title)
{
    rubus_output_desc desc = {.struct_size = sizeof(desc), .name = "u", .title = title};
    for (int axis = 0; axis < r->desc->dim; axis++) {
        desc.spacing[axis] = r->desc->length[axis] / (double)r->desc->n[axis];
    }
    return desc;
}

static int write_plot(const char *path, const solve_result *r, rubus_array *field,
                      const char *title)
{
    rubus_output_desc desc = output_desc(r, title);
    // Lines at 0.05, 0.15, ... 0.95 of the way from the left value to the right one.
    const double spread = r->desc->right - r->desc->left;
    const double low = spread >= 0 ? r->desc->left : r->desc->right;
    desc.contour_first = low + 0.05 * fabs(spread);
    desc.contour_step = 0.1 * fabs(spread);
    desc.contour_last = low + 0.95 * fabs(spread);
    // The axis is logarithmic: only positive residuals have a place on it.
    const rubus_relax_report *p = &r->report;
    double *x = calloc(2 * (size_t)p->nhistory + 1, sizeof(x[0]));
    if (x == NULL) {
        return cli_out_of_memory();
    }
    double *y = x + p->nhistory;
    for (uint64_t i = 0; i < p->nhistory; i++) {
        if (isfinite(p->history_residual[i]) && p->history_residual[i] > 0) {
            x[desc.nhistory] = p->history_iteration[i];
            y[desc.nhistory++] = p->history_residual[i];
        }
    }
    desc.history_x = x;
    desc.history_y = y;
    desc.history_label_x = "iteration / nx";
    desc.history_label_y = "max|r|";
    rubus_status st = rubus_field_write(path, field, &desc);
    free(x);
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, NULL);
}

// The first failure of several is the command's.
static int worse(int status, int other)
{
    return status != CLI_DONE ? status : other;
}

// Each file by itself: what one of them fails at must not cost the others.
static int write_files(const solve_options *o, rubus_relax *relax, const solve_result *r)
{
    char title[256];
    describe(r, title, sizeof(title));
    int status = CLI_DONE;
    rubus_array *field = rubus_relax_field(relax);
    if (o->output != NULL) {
        const rubus_output_desc desc = output_desc(r, title);
        const rubus_status st = rubus_field_write(o->output, field, &desc);
        status = st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, NULL);
    }
    if (o->plot != NULL) {
        status = worse(status, write_plot(o->plot, r, field, title));
    }
    if (o->history != NULL) {
        status = worse(status, write_history(o->history, r));
    }
    if (o->checkpoint != NULL) {
        const rubus_status st = rubus_relax_save(relax, o->checkpoint);
        status = worse(status, st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, NULL));
    }
    return status;
}

// --- the command -----------------------------------------------------------------------

static int finish_run(const solve_options *o, rubus_relax *relax, solve_result *r)
{
    rubus_status st = rubus_relax_report_get(relax, &r->report);
    if (st != RUBUS_OK) {
        return cli_fail_status(st, NULL);
    }
    int status = write_files(o, relax, r);
    r->t_peak = NAN;
    if (o->bench || o->common.json) {
        const int measured =
            measure_peak(rubus_array_context(rubus_relax_field(relax)), &r->t_peak);
        if (measured != CLI_DONE) {
            return worse(status, measured);
        }
    }
    const int32_t outcome = r->report.outcome;
    const bool yes = outcome == RUBUS_OUTCOME_CONVERGED || o->bench;
    if (!yes) {
        char text[256];
        describe(r, text, sizeof(text));
        fprintf(stderr, "rubus: %s\n", text);
    }
    status = worse(status, yes ? CLI_DONE : CLI_NO);
    if (o->common.json) {
        return cli_json_finish(report_json(r), status);
    }
    print_report(r, o);
    return cli_finish(status);
}

static int solve_in_context(const solve_options *o, rubus_context *context)
{
    solve_result r = {.report = {.struct_size = sizeof(r.report)},
                      .info = {.struct_size = sizeof(r.info)}};
    rubus_relax *relax = NULL;
    rubus_status st = rubus_context_info_get(context, &r.info);
    if (st == RUBUS_OK) {
        st = o->restart != NULL ? rubus_relax_load(context, o->restart, &o->desc, &relax)
                                : rubus_relax_create(context, &o->desc, &relax);
    }
    if (st != RUBUS_OK) {
        return cli_fail_status(st, st == RUBUS_ESHAPE ? o->lambda_path : NULL);
    }
    r.desc = rubus_relax_desc_get(relax);
    st = rubus_relax_report_get(relax, &r.report);
    r.before = r.report.iterations;
    if (st == RUBUS_OK) {
        st = o->bench ? run_bench(relax, context, o->bench_chunks, &r)
                      : run_to_the_end(relax);
    }
    const int status =
        st != RUBUS_OK ? cli_fail_status(st, NULL) : finish_run(o, relax, &r);
    rubus_relax_destroy(relax);
    return status;
}

static int run_solve(int argc, char **argv)
{
    solve_options o;
    int status;
    if (solve_options_read(argc, argv, &o, &status) == CLI_DONE) {
        rubus_context *context = NULL;
        status = cli_open(&o.common, &context);
        if (status == CLI_DONE) {
            status = solve_in_context(&o, context);
        }
        rubus_context_destroy(context);
    }
    solve_options_free(&o);
    return status;
}

const cli_command cli_solve = {
    .name = "solve",
    .summary = "solve a steady diffusion problem",
    .help =
        "Usage: rubus solve --nx N [options]\n\n"
        "Solves div(lambda grad u) = 0 in a box by accelerated dynamic relaxation.\n"
        "Exit status 0: converged; 1: not converged (the field is written all the "
        "same).\n\n"
        "Problem\n"
        "      --dim 1|2|3           dimensions (2)\n"
        "      --nx N --ny N --nz N  cells (ny, nz: as nx)\n"
        "      --lx L --ly L --lz L  size of the box (20)\n"
        "      --lambda FILE         coefficient, one number a line: nx-1 faces in 1D,\n"
        "                            else cells, first index fastest\n"
        "      --lambda-const C      the same everywhere\n"
        "                            (default: 1 + 10 exp(-r^2), r from the centre)\n"
        "      --mean arithmetic|harmonic   from cells to faces (arithmetic)\n"
        "      --left V --right V    boundary values (0, 1)\n"
        "      --profile x|y|z       axis from left to right (x)\n"
        "      --init V              start value inside (0)\n"
        "Solver\n"
        "      --tol T               on max|r| (1e-6)\n"
        "      --niter N             at most so many iterations (15 nx)\n"
        "      --kernels math|index|fused   which form of the kernels (fused)\n"
        "      --real f32|f64        type of the numbers (f64)\n"
        "  -b, --backend SPEC        where to run; default $RUBUS_BACKEND, else threads\n"
        "      --restart FILE        go on from a checkpoint\n"
        "Results\n"
        "  -o, --output FILE         the field: .vti, .vtk, .tsv, .txt, .bin\n"
        "      --plot FILE.png       picture of the field and of the convergence\n"
        "      --history FILE.csv    max|r| at every check\n"
        "      --checkpoint FILE     state at the end, for --restart\n"
        "      --bench               fixed iterations without checks, timed\n"
        "      --json                one JSON object on stdout\n"
        "  -v, --verbose             say which backend, device and plugin are used\n"
        "  -h, --help                this text\n",
    .run = run_solve,
};
