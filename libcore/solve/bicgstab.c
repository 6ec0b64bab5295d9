/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One iteration of BiCGStab, preconditioned from the right by W, the inverse of the
 * diagonal; r0 is the first r of the cycle:
 *
 *   v = A W p;  alpha = rho / r0'v;  s = r - alpha v
 *   t = A W s;  omega = t's / t't;   u += W (alpha p + omega s);  r = s - omega t
 *   p = r + (rho new/old) (alpha / omega) (p - omega v),   rho = r0'r
 *
 * s is kept in r. r0'v, t's and t't stay on the device; |r|^2 and rho come to the host.
 */
#include "config.h"

#include "libcore/solve/krylov.h"

enum { R = KRYLOV_R, W = KRYLOV_W, R0, P, WP, V, WS, T, NVECTOR };
enum { R0_V, T_S, T_T, NNUMBER };
_Static_assert((int)NVECTOR <= (int)KRYLOV_VECTORS, "room for the vectors");
_Static_assert((int)NNUMBER <= (int)KRYLOV_NUMBERS, "room for the numbers");

static rubus_status start(rubus__krylov *k, double *rr)
{
    const rubus_status st = KRYLOV_RUN(
        k, "bicgstab_start", rubus__krylov_vector(k, R), rubus__krylov_vector(k, R0),
        rubus__krylov_vector(k, P), rubus__krylov_vector(k, WP), rubus_arg_result_f64(rr),
        rubus__krylov_vector(k, W), rubus_arg_real(k->scale));
    k->rho = *rr;
    return st;
}

static rubus_status renew_direction(rubus__krylov *k)
{
    return KRYLOV_RUN(k, "bicgstab_direction", rubus__krylov_vector(k, P),
                      rubus__krylov_vector(k, WP), rubus__krylov_vector(k, R),
                      rubus__krylov_vector(k, V), rubus__krylov_vector(k, W),
                      rubus__krylov_number(k, R0_V), rubus__krylov_number(k, T_S),
                      rubus__krylov_number(k, T_T), rubus_arg_real(k->rho_before),
                      rubus_arg_real(k->rho / k->rho_before));
}

static rubus_status first_half(rubus__krylov *k)
{
    rubus_status st = rubus_operator_apply(k->op, 1, k->vector[WP], 0, k->vector[V]);
    if (st == RUBUS_OK) {
        st = KRYLOV_RUN(k, "dot", rubus__krylov_number(k, R0_V),
                        rubus__krylov_vector(k, R0), rubus__krylov_vector(k, V));
    }
    if (st == RUBUS_OK) {
        st = KRYLOV_RUN(k, "bicgstab_half", rubus__krylov_vector(k, R),
                        rubus__krylov_vector(k, WS), rubus__krylov_vector(k, V),
                        rubus__krylov_vector(k, W), rubus__krylov_number(k, R0_V),
                        rubus_arg_real(k->rho));
    }
    return st;
}

static rubus_status second_half(rubus__krylov *k, double *rr)
{
    rubus_status st = rubus_operator_apply(k->op, 1, k->vector[WS], 0, k->vector[T]);
    if (st == RUBUS_OK) {
        st = KRYLOV_RUN(k, "bicgstab_dots", rubus__krylov_number(k, T_S),
                        rubus__krylov_number(k, T_T), rubus__krylov_vector(k, T),
                        rubus__krylov_vector(k, R));
    }
    k->rho_before = k->rho;
    if (st == RUBUS_OK) {
        st = KRYLOV_RUN(k, "bicgstab_update", rubus_arg_array(&k->u_line),
                        rubus__krylov_vector(k, R), rubus_arg_result_f64(rr),
                        rubus_arg_result_f64(&k->rho), rubus__krylov_vector(k, WP),
                        rubus__krylov_vector(k, WS), rubus__krylov_vector(k, T),
                        rubus__krylov_vector(k, R0), rubus__krylov_number(k, R0_V),
                        rubus__krylov_number(k, T_S), rubus__krylov_number(k, T_T),
                        rubus_arg_real(k->rho_before), rubus_arg_real(1 / k->scale));
    }
    return st;
}

static rubus_status step(rubus__krylov *k, double *rr)
{
    if (k->rho == 0) {
        *rr = -1;
        rubus__krylov_why(k, "r has become orthogonal to the first r of the cycle");
        return RUBUS_OK;
    }
    rubus_status st = k->in_cycle > 0 ? renew_direction(k) : RUBUS_OK;
    if (st == RUBUS_OK) {
        st = first_half(k);
    }
    if (st == RUBUS_OK) {
        st = second_half(k, rr);
    }
    if (st == RUBUS_OK && *rr < 0) {
        rubus__krylov_why(k, "A p is orthogonal to the first r of the cycle, or not a "
                             "number");
    }
    return st;
}

rubus_status rubus_solve_bicgstab(rubus_operator *op, rubus_array *F, rubus_array *u,
                                  const rubus_krylov_desc *desc,
                                  rubus_krylov_report *report)
{
    static const rubus__krylov_method method = {.what = "rubus_solve_bicgstab",
                                                .begins_again = true,
                                                .nvector = NVECTOR,
                                                .nnumber = NNUMBER,
                                                .start = start,
                                                .step = step};
    return rubus__krylov_solve(&method, op, F, u, desc, report);
}
