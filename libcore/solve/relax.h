/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_RELAX_H
#define RUBUS_RELAX_H
/*
 * The dynamic-relaxation solver from inside. relax_setup.c makes its arrays, relax_step.c
 * knows the three kernel sets, relax.c runs the iteration, relax_file.c its checkpoints.
 */
#include <rubus/kernel.h>
#include <rubus/solve.h>

#include "libcore/runtime/runtime.h"

#define RELAX_BETA_EVERY 10 /* iterations between changes of the damping */
/* Checks at rounding level without progress that make a run stagnated: 3 nx iterations. A
 * healthy run may stand still for 1.3 nx while its damping settles. */
#define RELAX_QUIET_CHECKS 30

struct rubus_relax {
    rubus__object object;
    rubus_context *context;
    rubus_relax_desc desc; /* defaults filled in; lambda is NULL */
    rubus_module *module;
    double spacing[3];
    double lambda_max;
    double tolerance;
    int64_t check_every;
    /* fields */
    rubus_array *u;
    rubus_array *u_next; /* fused */
    rubus_array *lambda; /* 1D: faces; else cells */
    rubus_array *d;
    rubus_array *d_next; /* fused; holds z in a beta iteration */
    rubus_array *Q;
    rubus_array *z; /* math, index */
    rubus_array *z0;
    rubus_array *r;    /* math, index */
    rubus_array *q[3]; /* math */
    /* state */
    int64_t iteration;
    double beta;
    int32_t outcome;
    double residual;       /* last checked; NaN */
    double first_residual; /* first checked; NaN */
    double least_residual;
    int32_t quiet_checks; /* since least_residual fell */
    double seconds;
    bool started; /* the start residual was looked at */
    bool half;    /* the last iteration ended at its check: u is new, d is old */
    bool again;   /* that iteration is being finished: u stays */
    bool broken;  /* a launch failed inside an iteration */
    /* history */
    double *history_iteration;
    double *history_residual;
    size_t nhistory;
    size_t history_room;
};

/* --- relax_setup.c ---------------------------------------------------------------- */

/* Checks and completes a desc (without lambda). */
rubus_status rubus__relax_complete(const rubus_relax_desc *given, rubus_relax_desc *out);
/* Refuses what no problem can have; after rubus__relax_complete for changed descs. */
rubus_status rubus__relax_check(const rubus_relax_desc *desc);
/* The tolerance in force: no more than the problem's own residual scale allows. */
double rubus__relax_tolerance(const rubus_relax *relax);
double rubus__relax_least_spacing(const rubus_relax *relax);
/* Solver without values in lambda, Q and u. */
rubus_status rubus__relax_allocate(rubus_context *context, const rubus_relax_desc *desc,
                                   rubus_relax **out_relax);
rubus_shape rubus__relax_shape(const rubus_relax *relax, int64_t less);

/* --- relax_step.c ----------------------------------------------------------------- */

/* One iteration, number relax->iteration + 1. check: *out_residual is max|r|; if it is
 * below the tolerance the iteration ends there, with u new and the rest old. */
rubus_status rubus__relax_step(rubus_relax *relax, bool check, double *out_residual,
                               bool *out_converged);
/* The rest of an iteration that ended at its check. */
rubus_status rubus__relax_finish(rubus_relax *relax);
rubus_status rubus__relax_start_residual(rubus_relax *relax, double *out_residual);
int32_t rubus__relax_passes(const rubus_relax *relax);

#endif
