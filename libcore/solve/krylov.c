/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all Krylov methods share. A solve is a sequence of cycles: r = F - A u is
 * computed from u, the method iterates on its own r until that is small enough (or too
 * small to be believed), and the next look at the true r decides whether the run has
 * converged, begins again, or has reached the level of rounding. All vectors stay on the
 * device.
 */
#include "config.h"

#include "libcore/solve/krylov.h"

#include <float.h>
#include <math.h>
#include <string.h>

void rubus__krylov_why(rubus__krylov *k, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)rubus__vsnprintf(k->report.why, sizeof(k->report.why), fmt, args);
    va_end(args);
}

rubus_status rubus__krylov_run(rubus__krylov *k, const char *name, const rubus_arg *args,
                               size_t nargs)
{
    return rubus_launch_args(rubus_module_kernel(k->module, name), args, nargs);
}

rubus_arg rubus__krylov_vector(rubus__krylov *k, int32_t at)
{
    return rubus_arg_array(&k->line[at]);
}

rubus_arg rubus__krylov_number(const rubus__krylov *k, int32_t at)
{
    return rubus_arg_array(k->number[at]);
}

/* --- memory ----------------------------------------------------------------------- */

static rubus_array line_of(const rubus_array *array)
{
    return rubus__array_line(array, 0, array->count);
}

/* Every vector has the shape of F, so that functions of the operator find the shape that
 * they were made for. */
static rubus_status allocate(rubus__krylov *k)
{
    rubus_context *context = k->op->context;
    const int32_t real = k->op->ops.real;
    const rubus_module_options options = {.struct_size = sizeof(options),
                                          .real = real,
                                          .index = k->op->n > INT32_MAX ? RUBUS_I64
                                                                        : RUBUS_I32};
    rubus_status st = rubus__kept_module(context, "krylov.rk", &options, &k->module);
    for (int32_t i = 0; i < k->method->nvector && st == RUBUS_OK; i++) {
        st = rubus_array_create(context, real, k->F->shape, &k->vector[i]);
        if (st == RUBUS_OK) {
            k->line[i] = line_of(k->vector[i]);
        }
    }
    for (int32_t i = 0; i < k->method->nnumber && st == RUBUS_OK; i++) {
        st = rubus_array_create(context, real, RUBUS_SHAPE(1), &k->number[i]);
    }
    k->F_line = line_of(k->F);
    k->u_line = line_of(k->u);
    if (k->mask != NULL) {
        k->mask_line = line_of(k->mask);
    }
    return st;
}

static void release(rubus__krylov *k)
{
    for (int32_t i = 0; i < KRYLOV_VECTORS; i++) {
        rubus_array_destroy(k->vector[i]);
    }
    for (int32_t i = 0; i < KRYLOV_NUMBERS; i++) {
        rubus_array_destroy(k->number[i]);
    }
}

/* --- norms ------------------------------------------------------------------------ */

/* A power of two that brings `largest` near 1, and whose inverse is no subnormal. */
static double scale_for(const rubus__krylov *k, double largest)
{
    const int most = k->op->ops.real == RUBUS_F32 ? 120 : 1000;
    int exponent = 0;
    (void)frexp(largest, &exponent);
    exponent = exponent > most ? most : exponent < -most ? -most : exponent;
    return ldexp(1, -exponent);
}

/* |x|, and the scale that its squares were summed in; NaN or infinite as x is. */
static rubus_status norm_of(rubus__krylov *k, rubus_array *x, double *out_norm,
                            double *out_scale)
{
    double largest = 0;
    rubus_status st =
        KRYLOV_RUN(k, "largest", rubus_arg_result_f64(&largest), rubus_arg_array(x));
    *out_scale = 1;
    *out_norm = largest;
    if (st != RUBUS_OK || largest == 0 || !isfinite(largest)) {
        return st;
    }
    double sum = 0;
    *out_scale = scale_for(k, largest);
    st = KRYLOV_RUN(k, "square_sum", rubus_arg_result_f64(&sum), rubus_arg_array(x),
                    rubus_arg_real(*out_scale));
    *out_norm = sqrt(sum) / *out_scale;
    return st;
}

/* r = F - A u, and its norm. */
static rubus_status true_residual(rubus__krylov *k, double *out_norm)
{
    rubus_array *r = k->vector[KRYLOV_R];
    rubus_status st = rubus_array_copy(r, k->F);
    if (st == RUBUS_OK) {
        st = rubus_operator_apply(k->op, -1, k->u, 1, r);
    }
    if (st == RUBUS_OK && k->mask != NULL) {
        st = KRYLOV_RUN(k, "release", rubus__krylov_vector(k, KRYLOV_R),
                        rubus_arg_array(&k->mask_line));
    }
    return st == RUBUS_OK ? norm_of(k, &k->line[KRYLOV_R], out_norm, &k->scale) : st;
}

/* --- the inverse of the diagonal -------------------------------------------------- */

/* Says which entry of the diagonal has no inverse. */
static rubus_status name_entry(rubus__krylov *k)
{
    const size_t n = (size_t)k->op->n;
    const bool f32 = k->op->ops.real == RUBUS_F32;
    char *d = rubus__alloc_array(n, f32 ? sizeof(float) : sizeof(double));
    bool *mask = rubus__alloc_array(n, sizeof(bool));
    rubus_array *w = k->vector[KRYLOV_W];
    rubus_status st = d == NULL || mask == NULL ? RUBUS_ENOMEM : RUBUS_OK;
    if (st == RUBUS_OK && k->mask != NULL) {
        st = rubus_array_read(k->mask, mask, n * sizeof(bool));
    }
    if (st == RUBUS_OK) {
        st = rubus_operator_diagonal(k->op, w);
    }
    if (st == RUBUS_OK) {
        st = rubus_array_read(w, d, rubus_array_nbyte(w));
    }
    for (size_t i = 0; i < n && st == RUBUS_OK && k->report.why[0] == '\0'; i++) {
        const double x =
            f32 ? (double)((const float *)(void *)d)[i] : ((const double *)(void *)d)[i];
        const double inverse = f32 ? (double)(float)(1 / x) : 1 / x;
        if (!mask[i] && !(isfinite(x) && isfinite(inverse))) {
            rubus__krylov_why(k,
                              "element %zu of the diagonal is %g, by which Jacobi "
                              "preconditioning cannot divide",
                              i, x);
        }
    }
    rubus__free(d);
    rubus__free(mask);
    return st;
}

static rubus_status make_inverse(rubus__krylov *k)
{
    rubus_array *w = k->vector[KRYLOV_W];
    if (!k->jacobi) {
        return rubus_array_fill(w, 1);
    }
    double bad = 0;
    rubus_status st = rubus_operator_diagonal(k->op, w);
    if (st == RUBUS_OK && k->mask == NULL) {
        st = KRYLOV_RUN(k, "invert", rubus__krylov_vector(k, KRYLOV_W),
                        rubus_arg_result_f64(&bad));
    } else if (st == RUBUS_OK) {
        st = KRYLOV_RUN(k, "invert_free", rubus__krylov_vector(k, KRYLOV_W),
                        rubus_arg_result_f64(&bad), rubus_arg_array(&k->mask_line));
    }
    if (st == RUBUS_OK && bad > 0) {
        k->report.outcome = RUBUS_OUTCOME_BREAKDOWN;
        st = name_entry(k);
    }
    return st;
}

/* --- cycles ----------------------------------------------------------------------- */

static void remember(rubus__krylov *k, double residual)
{
    k->report.residual = residual;
    if (k->report.nhistory < k->desc.history_room) {
        k->desc.history[k->report.nhistory++] = residual;
    }
}

/* After an iteration: true if the cycle is over. */
static bool cycle_ends(rubus__krylov *k, double rr, double claim)
{
    const double residual = sqrt(rr) / k->scale;
    k->report.iterations++;
    k->in_cycle++;
    remember(k, residual);
    if (!(residual <= k->largest)) {
        k->report.outcome = RUBUS_OUTCOME_DIVERGED;
        if (isfinite(residual)) {
            rubus__krylov_why(k, "|r| has grown to %g", residual);
        } else {
            rubus__krylov_why(k, "|r| is not finite");
        }
        return true;
    }
    const bool stop = k->desc.progress != NULL &&
                      k->desc.progress(k->desc.user, k->report.iterations, residual) != 0;
    if (residual <= claim) {
        k->report.outcome = RUBUS_OUTCOME_CONVERGED;
    } else if (stop) {
        rubus__krylov_why(k, "the caller's function stopped it");
    }
    return stop || residual <= claim;
}

/* Iterates until the recurrence claims that r is small enough (outcome CONVERGED), or
 * there is another reason to stop. A recurrence that has fallen by the precision of the
 * type has no connection with u any more. */
static rubus_status run_cycle(rubus__krylov *k, double start)
{
    const double eps = k->op->ops.real == RUBUS_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
    const double floor = eps / 16 * start;
    const double claim = k->report.tolerance > floor ? k->report.tolerance : floor;
    double rr = 0;
    k->in_cycle = 0;
    k->report.outcome = RUBUS_OUTCOME_RUNNING;
    rubus_status st = k->method->start(k, &rr);
    while (st == RUBUS_OK) {
        if (k->report.iterations >= k->desc.niter) {
            k->report.outcome = RUBUS_OUTCOME_LIMIT;
            rubus__krylov_why(k, "the limit of %lld iterations was reached",
                              (long long)k->desc.niter);
            break;
        }
        st = k->method->step(k, &rr);
        if (st == RUBUS_OK && rr < 0) {
            k->report.outcome = RUBUS_OUTCOME_BREAKDOWN;
            break;
        }
        if (st == RUBUS_OK && cycle_ends(k, rr, claim)) {
            break;
        }
    }
    return st;
}

/* The true r after a cycle is `residual`; it was `before`. True: another cycle. Else the
 * outcome is final. */
static bool begin_again(rubus__krylov *k, double residual, double before)
{
    const bool broken = k->report.outcome == RUBUS_OUTCOME_BREAKDOWN;
    const bool hope =
        broken ? k->method->begins_again && k->in_cycle > 0 : residual <= 0.5 * before;
    if (hope && k->report.restarts < KRYLOV_RESTARTS) {
        k->report.restarts++;
        k->report.why[0] = '\0';
        return true;
    }
    if (!broken) {
        k->report.outcome = RUBUS_OUTCOME_STAGNATED;
        rubus__krylov_why(k, "|r| computed from u is %g and falls no more: rounding",
                          residual);
    }
    return false;
}

static rubus_status run_cycles(rubus__krylov *k)
{
    double before = INFINITY;
    for (;;) {
        double residual = 0;
        rubus_status st = true_residual(k, &residual);
        if (st != RUBUS_OK) {
            return st;
        }
        if (isinf(before)) {
            remember(k, residual);
            k->largest = 1e6 * (residual > k->report.norm ? residual : k->report.norm);
        }
        k->report.residual = residual;
        if (!isfinite(residual)) {
            k->report.outcome = RUBUS_OUTCOME_DIVERGED;
            rubus__krylov_why(k, "F - A u is not finite");
            return RUBUS_OK;
        }
        if (residual <= k->report.tolerance) {
            k->report.outcome = RUBUS_OUTCOME_CONVERGED;
            k->report.why[0] = '\0';
            return RUBUS_OK;
        }
        if (!isinf(before) && !begin_again(k, residual, before)) {
            return RUBUS_OK;
        }
        before = residual;
        st = run_cycle(k, residual);
        if (st != RUBUS_OK || (k->report.outcome != RUBUS_OUTCOME_CONVERGED &&
                               k->report.outcome != RUBUS_OUTCOME_BREAKDOWN)) {
            return st;
        }
    }
}

/* --- the whole solve -------------------------------------------------------------- */

static rubus_status solve(rubus__krylov *k)
{
    double unused = 1;
    rubus_status st = norm_of(k, &k->F_line, &k->report.norm, &unused);
    if (st != RUBUS_OK) {
        return st;
    }
    k->report.residual = NAN;
    if (!isfinite(k->report.norm)) {
        k->report.outcome = RUBUS_OUTCOME_DIVERGED;
        rubus__krylov_why(k, "|F| is not finite");
        return RUBUS_OK;
    }
    const double relative = k->desc.rtol * k->report.norm;
    k->report.tolerance = relative > k->desc.atol ? relative : k->desc.atol;
    if (k->report.norm == 0) {
        k->report.residual = 0;
        k->report.outcome = RUBUS_OUTCOME_CONVERGED;
        return rubus_array_fill(k->u, 0);
    }
    if (k->mask != NULL) {
        st = KRYLOV_RUN(k, "hold", rubus_arg_array(&k->u_line),
                        rubus_arg_array(&k->F_line), rubus_arg_array(&k->mask_line));
    }
    if (st == RUBUS_OK) {
        st = make_inverse(k);
    }
    return st != RUBUS_OK || k->report.outcome == RUBUS_OUTCOME_BREAKDOWN ? st
                                                                          : run_cycles(k);
}

rubus_status rubus__krylov_solve(const rubus__krylov_method *method, rubus_operator *op,
                                 rubus_array *F, rubus_array *u,
                                 const rubus_krylov_desc *desc,
                                 rubus_krylov_report *report)
{
    rubus__krylov k = {.method = method, .op = op, .F = F, .u = u};
    rubus_status st = rubus__krylov_check(&k, desc, report);
    if (st != RUBUS_OK) {
        return st;
    }
    if (op->n > 0) {
        st = allocate(&k);
        if (st == RUBUS_OK) {
            st = solve(&k);
        }
        if (st != RUBUS_OK) {
            (void)rubus__fail_prefix(st, "%s", method->what);
        }
        release(&k);
    } else {
        k.report.outcome = RUBUS_OUTCOME_CONVERGED;
    }
    if (st == RUBUS_OK && report != NULL) {
        const size_t size = report->struct_size;
        k.report.struct_size = size;
        k.report.preconditioned = k.jacobi ? 1 : 0;
        memcpy(report, &k.report, size < sizeof(k.report) ? size : sizeof(k.report));
    }
    return st;
}
