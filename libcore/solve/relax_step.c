/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One iteration of dynamic relaxation with each of the three kernel sets:
 *
 *   u += alpha d;  r = -div(-lambda grad u);  z = Q r;  d = beta d + z
 *
 * and, every tenth iteration, beta = (1 - sqrt(gamma))^2 with
 * gamma = |sum d (z - z_before)| / sum d d before d changes. The sets differ in how many
 * sweeps over memory that takes, not in any bit of the result.
 */
#include "config.h"

#include "libcore/solve/relax.h"

#include <math.h>

/* Arguments of a launch, collected one by one. */
typedef struct arguments {
    rubus_arg arg[24];
    size_t n;
} arguments;

static void add_array(arguments *a, rubus_array *array)
{
    a->arg[a->n++] = rubus_arg_array(array);
}

static void add_real(arguments *a, double value)
{
    a->arg[a->n++] = rubus_arg_real(value);
}

static void add_result(arguments *a, double *result)
{
    a->arg[a->n++] = rubus_arg_result_f64(result);
}

/* The spacings as the kernels want them: dx itself in 1D, else 1/dx, 1/dy, 1/dz. */
static void add_spacing(arguments *a, const rubus_relax *relax)
{
    for (int32_t k = 0; k < relax->desc.dim; k++) {
        add_real(a, relax->desc.dim == 1 ? relax->spacing[k] : 1 / relax->spacing[k]);
    }
}

static rubus_status run(const rubus_relax *relax, const char *kernel, const arguments *a)
{
    return rubus_launch_args(rubus_module_kernel(relax->module, kernel), a->arg, a->n);
}

static void swap(rubus_array **a, rubus_array **b)
{
    rubus_array *c = *a;
    *a = *b;
    *b = c;
}

static double alpha_of(const rubus_relax *relax)
{
    return relax->again ? 0 : 0.99 * (1 + relax->beta);
}

/* The damping from its two sums; unchanged where nothing moves (den is 0). */
static void set_beta(rubus_relax *relax, double num, double den)
{
    if (den > 0) {
        const double root = sqrt(fabs(num) / den);
        relax->beta = (1 - root) * (1 - root);
    }
}

rubus_status rubus__relax_start_residual(rubus_relax *relax, double *out_residual)
{
    arguments a = {.n = 0};
    add_result(&a, out_residual);
    add_array(&a, relax->u);
    add_array(&a, relax->lambda);
    add_spacing(&a, relax);
    return run(relax, "start_residual", &a);
}

/* --- math and index ----------------------------------------------------------------- */

static rubus_status update_u(rubus_relax *relax, const char *kernel)
{
    arguments a = {.n = 0};
    add_array(&a, relax->u);
    add_array(&a, relax->d);
    add_real(&a, alpha_of(relax));
    return run(relax, kernel, &a);
}

static rubus_status residual_math(rubus_relax *relax)
{
    arguments q = {.n = 0};
    arguments r = {.n = 0};
    add_array(&r, relax->r);
    for (int32_t k = 0; k < relax->desc.dim; k++) {
        add_array(&q, relax->q[k]);
        add_array(&r, relax->q[k]);
    }
    add_array(&q, relax->u);
    add_array(&q, relax->lambda);
    add_spacing(&q, relax);
    add_spacing(&r, relax);
    const rubus_status st = run(relax, "compute_q", &q);
    return st != RUBUS_OK ? st : run(relax, "compute_r", &r);
}

static rubus_status residual_index(rubus_relax *relax)
{
    arguments a = {.n = 0};
    add_array(&a, relax->r);
    add_array(&a, relax->u);
    add_array(&a, relax->lambda);
    add_spacing(&a, relax);
    return run(relax, "compute_r_at", &a);
}

static rubus_status precondition(rubus_relax *relax, const char *kernel)
{
    arguments a = {.n = 0};
    add_array(&a, relax->z);
    add_array(&a, relax->Q);
    add_array(&a, relax->r);
    return run(relax, kernel, &a);
}

static rubus_status update_d(rubus_relax *relax, const char *kernel, rubus_array *z)
{
    arguments a = {.n = 0};
    add_array(&a, relax->d);
    add_array(&a, z);
    add_real(&a, relax->beta);
    return run(relax, kernel, &a);
}

static rubus_status check_residual(rubus_relax *relax, double *out_residual)
{
    arguments a = {.n = 0};
    add_result(&a, out_residual);
    add_array(&a, relax->r);
    return run(relax, "max_abs", &a);
}

static rubus_status change_beta(rubus_relax *relax)
{
    double num = 0;
    double den = 0;
    arguments a = {.n = 0};
    add_result(&a, &num);
    add_result(&a, &den);
    add_array(&a, relax->d);
    add_array(&a, relax->z);
    add_array(&a, relax->z0);
    const rubus_status st = run(relax, "beta_sums", &a);
    if (st == RUBUS_OK) {
        set_beta(relax, num, den);
    }
    return st;
}

static rubus_status step_unfused(rubus_relax *relax, bool check, double *out_residual,
                                 bool *out_converged)
{
    const bool math = relax->desc.kernels == RUBUS_KERNELS_MATH;
    const bool beta = (relax->iteration + 1) % RELAX_BETA_EVERY == 0;
    rubus_status st = update_u(relax, math ? "update_u" : "update_u_at");
    if (st == RUBUS_OK) {
        st = math ? residual_math(relax) : residual_index(relax);
    }
    if (st == RUBUS_OK && check) {
        st = check_residual(relax, out_residual);
        *out_converged = st == RUBUS_OK && *out_residual < relax->tolerance;
        if (*out_converged) {
            return st;
        }
    }
    if (st == RUBUS_OK && beta) {
        st = rubus_array_copy(relax->z0, relax->z);
    }
    if (st == RUBUS_OK) {
        st = precondition(relax, math ? "precondition" : "precondition_at");
    }
    if (st == RUBUS_OK && beta) {
        st = change_beta(relax);
    }
    return st != RUBUS_OK ? st
                          : update_d(relax, math ? "update_d" : "update_d_at", relax->z);
}

/* --- fused -------------------------------------------------------------------------- */

static void add_fields(arguments *a, const rubus_relax *relax)
{
    add_array(a, relax->u);
    add_array(a, relax->d);
    add_array(a, relax->lambda);
    add_array(a, relax->Q);
}

/* A plain iteration; in the one before the damping changes z is kept in z0. */
static rubus_status step_plain(rubus_relax *relax, bool check, double *out_residual)
{
    const bool keep = (relax->iteration + 2) % RELAX_BETA_EVERY == 0;
    static const char *const name[2][2] = {{"step", "step_err"},
                                           {"step_keep", "step_keep_err"}};
    arguments a = {.n = 0};
    add_array(&a, relax->u_next);
    add_array(&a, relax->d_next);
    if (keep) {
        add_array(&a, relax->z0);
    }
    if (check) {
        add_result(&a, out_residual);
    }
    add_fields(&a, relax);
    add_real(&a, alpha_of(relax));
    add_real(&a, relax->beta);
    add_spacing(&a, relax);
    return run(relax, name[keep ? 1 : 0][check ? 1 : 0], &a);
}

/* The iteration in which the damping changes: a sweep up to z and the sums, then d. */
static rubus_status step_beta(rubus_relax *relax, bool check, double *out_residual,
                              double *num, double *den)
{
    arguments a = {.n = 0};
    add_array(&a, relax->u_next);
    add_array(&a, relax->d_next);
    add_result(&a, num);
    add_result(&a, den);
    if (check) {
        add_result(&a, out_residual);
    }
    add_fields(&a, relax);
    add_array(&a, relax->z0);
    add_real(&a, alpha_of(relax));
    add_spacing(&a, relax);
    return run(relax, check ? "sweep_err" : "sweep", &a);
}

static rubus_status step_fused(rubus_relax *relax, bool check, double *out_residual,
                               bool *out_converged)
{
    const bool beta = (relax->iteration + 1) % RELAX_BETA_EVERY == 0;
    double num = 0;
    double den = 0;
    rubus_status st = beta ? step_beta(relax, check, out_residual, &num, &den)
                           : step_plain(relax, check, out_residual);
    if (st != RUBUS_OK) {
        return st;
    }
    swap(&relax->u, &relax->u_next);
    *out_converged = check && *out_residual < relax->tolerance;
    if (*out_converged) {
        return RUBUS_OK;
    }
    if (!beta) {
        swap(&relax->d, &relax->d_next);
        return RUBUS_OK;
    }
    set_beta(relax, num, den);
    return update_d(relax, "update_d", relax->d_next); /* d_next holds z */
}

rubus_status rubus__relax_step(rubus_relax *relax, bool check, double *out_residual,
                               bool *out_converged)
{
    *out_converged = false;
    const rubus_status st = relax->desc.kernels == RUBUS_KERNELS_FUSED
                                ? step_fused(relax, check, out_residual, out_converged)
                                : step_unfused(relax, check, out_residual, out_converged);
    if (st == RUBUS_OK) {
        relax->iteration++;
        relax->half = *out_converged;
    } else {
        relax->broken = true;
    }
    return st;
}

rubus_status rubus__relax_finish(rubus_relax *relax)
{
    double residual = 0;
    bool converged = false;
    relax->again = true;
    relax->iteration--;
    const rubus_status st = rubus__relax_step(relax, false, &residual, &converged);
    relax->again = false;
    return st;
}

int32_t rubus__relax_passes(const rubus_relax *relax)
{
    const int32_t dim = relax->desc.dim;
    switch (relax->desc.kernels) {
    case RUBUS_KERNELS_MATH: /* 3 + (2 + q) + (q + 1) + 3 + 3 */
        return 12 + 2 * dim;
    case RUBUS_KERNELS_INDEX:
        return 12;
    default:
        return 6;
    }
}
