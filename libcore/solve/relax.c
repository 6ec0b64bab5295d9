/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The iteration of dynamic relaxation: when to look at the residual, when to stop and
 * with which outcome, and what a caller can see of it.
 */
#include "config.h"

#include "libcore/solve/relax.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Room for one more check. */
static rubus_status make_room(rubus_relax *relax)
{
    if (relax->nhistory == relax->history_room) {
        const size_t room = relax->history_room == 0 ? 64 : 2 * relax->history_room;
        double *x = rubus__realloc(relax->history_iteration, room * sizeof(double));
        if (x == NULL) {
            return RUBUS_ENOMEM;
        }
        relax->history_iteration = x;
        double *y = rubus__realloc(relax->history_residual, room * sizeof(double));
        if (y == NULL) {
            return RUBUS_ENOMEM;
        }
        relax->history_residual = y;
        relax->history_room = room;
    }
    return RUBUS_OK;
}

static void remember(rubus_relax *relax, double residual)
{
    relax->history_iteration[relax->nhistory] =
        (double)relax->iteration / (double)relax->desc.n[0];
    relax->history_residual[relax->nhistory] = residual;
    relax->nhistory++;
}

/* Below this a residual that does not fall any more is rounding. */
static double rounding_level(const rubus_relax *relax)
{
    const double dx = rubus__relax_least_spacing(relax);
    const double eps = relax->desc.real == RUBUS_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
    return 200 * eps * relax->lambda_max / (dx * dx);
}

/* What a checked residual says of the run. */
static void judge(rubus_relax *relax, double residual)
{
    relax->residual = residual;
    if (isnan(relax->first_residual)) {
        relax->first_residual = residual;
        relax->least_residual = residual;
    }
    if (!isfinite(residual) || residual > 1e6 * relax->first_residual) {
        relax->outcome = RUBUS_OUTCOME_DIVERGED;
        return;
    }
    if (residual < 0.9 * relax->least_residual) {
        relax->least_residual = residual;
        relax->quiet_checks = 0;
    } else if (residual < rounding_level(relax)) {
        relax->quiet_checks++;
    } else {
        relax->quiet_checks = 0;
    }
    if (relax->quiet_checks >= RELAX_QUIET_CHECKS) {
        relax->outcome = RUBUS_OUTCOME_STAGNATED;
    }
}

/* The start value may solve the problem already. */
static rubus_status look_at_start(rubus_relax *relax)
{
    if (relax->started || relax->desc.no_checks != 0) {
        return RUBUS_OK;
    }
    const rubus_status st = rubus__relax_start_residual(relax, &relax->residual);
    if (st == RUBUS_OK) {
        relax->started = true;
        if (relax->residual < relax->tolerance) {
            relax->outcome = RUBUS_OUTCOME_CONVERGED;
        } else if (!isfinite(relax->residual)) {
            relax->outcome = RUBUS_OUTCOME_DIVERGED;
        }
    }
    return st;
}

static rubus_status advance(rubus_relax *relax)
{
    const bool check =
        relax->desc.no_checks == 0 && (relax->iteration + 1) % relax->check_every == 0;
    double residual = NAN;
    bool converged = false;
    rubus_status st = check ? make_room(relax) : RUBUS_OK;
    if (st == RUBUS_OK) {
        st = rubus__relax_step(relax, check, &residual, &converged);
    }
    if (st != RUBUS_OK || !check) {
        return st;
    }
    remember(relax, residual);
    if (converged) {
        relax->residual = residual;
        relax->outcome = RUBUS_OUTCOME_CONVERGED;
    } else {
        judge(relax, residual);
    }
    return RUBUS_OK;
}

rubus_status rubus_relax_run(rubus_relax *relax, int64_t limit,
                             rubus_relax_progress progress, void *user)
{
    if (relax == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_relax_run: the solver is NULL");
    }
    if (relax->broken) {
        return rubus__fail(RUBUS_ESTATE,
                           "rubus_relax_run: an iteration failed before it was "
                           "whole; make a new solver, or load a checkpoint");
    }
    if (relax->outcome == RUBUS_OUTCOME_LIMIT && relax->iteration < relax->desc.niter) {
        relax->outcome = RUBUS_OUTCOME_RUNNING;
    }
    const double start = now();
    rubus_status st = look_at_start(relax);
    int64_t left = limit;
    while (st == RUBUS_OK && relax->outcome == RUBUS_OUTCOME_RUNNING) {
        if (relax->iteration >= relax->desc.niter) {
            relax->outcome = RUBUS_OUTCOME_LIMIT;
            break;
        }
        if (limit >= 0 && left-- == 0) {
            break;
        }
        const size_t before = relax->nhistory;
        st = relax->half ? rubus__relax_finish(relax) : RUBUS_OK;
        st = st == RUBUS_OK ? advance(relax) : st;
        if (st == RUBUS_OK && progress != NULL && relax->nhistory > before &&
            progress(user, relax->iteration, relax->residual) != 0) {
            break;
        }
    }
    if (st == RUBUS_OK) {
        st = rubus_context_synchronize(relax->context);
    }
    relax->seconds += now() - start;
    return st;
}

rubus_status rubus_relax_report_get(rubus_relax *relax, rubus_relax_report *report)
{
    if (relax == NULL || report == NULL ||
        report->struct_size < sizeof(report->struct_size)) {
        return rubus__fail(RUBUS_EINVAL, "rubus_relax_report_get: pass a solver and a "
                                         "report with struct_size set");
    }
    double cells = 1;
    for (int32_t k = 0; k < relax->desc.dim; k++) {
        cells *= (double)relax->desc.n[k];
    }
    rubus_relax_report all;
    memset(&all, 0, sizeof(all));
    all.struct_size = report->struct_size;
    all.outcome = relax->outcome;
    all.passes = rubus__relax_passes(relax);
    all.iterations = relax->iteration;
    all.residual = relax->residual;
    all.tolerance = relax->tolerance;
    all.beta = relax->beta;
    all.seconds = relax->seconds;
    all.bytes_effective = 6 * cells * (double)rubus__type_size(relax->desc.real);
    all.nhistory = relax->nhistory;
    all.history_iteration = relax->history_iteration;
    all.history_residual = relax->history_residual;
    memcpy(report, &all,
           report->struct_size < sizeof(all) ? report->struct_size : sizeof(all));
    return RUBUS_OK;
}

rubus_array *rubus_relax_field(rubus_relax *relax)
{
    return relax == NULL ? NULL : relax->u;
}

const rubus_relax_desc *rubus_relax_desc_get(const rubus_relax *relax)
{
    return relax == NULL ? NULL : &relax->desc;
}

const char *rubus_outcome_name(int32_t outcome)
{
    static const char *const name[6] = {"running",   "converged", "limit",
                                        "stagnated", "diverged",  "breakdown"};
    return outcome >= 0 && outcome < 6 ? name[outcome] : "?";
}
