/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One iteration of preconditioned conjugate gradients, W being the inverse of the
 * diagonal:
 *
 *   q = A p;  step = r'Wr / p'q;  u += step p;  r -= step q;  p = W r + (r'Wr new/old) p
 *
 * p'q stays on the device; |r|^2 and r'Wr come to the host. p is renewed only when the
 * next iteration is wanted.
 */
#include "config.h"

#include "libcore/solve/krylov.h"

#include <math.h>

enum { R = KRYLOV_R, W = KRYLOV_W, P, Q, NVECTOR };
enum { PQ, NNUMBER };

static rubus_status start(rubus__krylov *k, double *rr)
{
    return KRYLOV_RUN(k, "cg_start", rubus__krylov_vector(k, R),
                      rubus__krylov_vector(k, P), rubus_arg_result_f64(rr),
                      rubus_arg_result_f64(&k->rho), rubus__krylov_vector(k, W),
                      rubus_arg_real(k->scale));
}

/* p'Ap was not positive. */
static rubus_status explain(rubus__krylov *k)
{
    float narrow = 0;
    double pq = 0;
    const bool f32 = k->op->ops.real == RUBUS_F32;
    const rubus_status st = rubus_array_read(k->number[PQ], f32 ? (void *)&narrow : &pq,
                                             f32 ? sizeof(narrow) : sizeof(pq));
    pq = f32 ? (double)narrow : pq;
    rubus__krylov_why(k,
                      "p'Ap is %s: the operator is not positive definite; "
                      "rubus_solve_bicgstab takes others",
                      isnan(pq) ? "not a number"
                      : pq < 0  ? "negative"
                                : "0");
    return st;
}

static rubus_status step(rubus__krylov *k, double *rr)
{
    rubus_status st = RUBUS_OK;
    if (!(k->rho > 0)) {
        *rr = -1;
        rubus__krylov_why(k,
                          "the diagonal has entries of both signs: the operator is not "
                          "positive definite; rubus_solve_bicgstab takes others");
        return RUBUS_OK;
    }
    if (k->in_cycle > 0) {
        st = KRYLOV_RUN(k, "cg_direction", rubus__krylov_vector(k, P),
                        rubus__krylov_vector(k, R), rubus__krylov_vector(k, W),
                        rubus_arg_real(k->rho / k->rho_before));
    }
    if (st == RUBUS_OK) {
        st = rubus_operator_apply(k->op, 1, k->vector[P], 0, k->vector[Q]);
    }
    if (st == RUBUS_OK) {
        st = KRYLOV_RUN(k, "dot", rubus__krylov_number(k, PQ), rubus__krylov_vector(k, P),
                        rubus__krylov_vector(k, Q));
    }
    k->rho_before = k->rho;
    if (st == RUBUS_OK) {
        st = KRYLOV_RUN(k, "cg_update", rubus_arg_array(&k->u_line),
                        rubus__krylov_vector(k, R), rubus_arg_result_f64(rr),
                        rubus_arg_result_f64(&k->rho), rubus__krylov_vector(k, P),
                        rubus__krylov_vector(k, Q), rubus__krylov_vector(k, W),
                        rubus__krylov_number(k, PQ), rubus_arg_real(k->rho_before),
                        rubus_arg_real(1 / k->scale));
    }
    return st == RUBUS_OK && *rr < 0 ? explain(k) : st;
}

rubus_status rubus_solve_cg(rubus_operator *op, rubus_array *F, rubus_array *u,
                            const rubus_krylov_desc *desc, rubus_krylov_report *report)
{
    static const rubus__krylov_method method = {.what = "rubus_solve_cg",
                                                .symmetric = true,
                                                .nvector = NVECTOR,
                                                .nnumber = NNUMBER,
                                                .start = start,
                                                .step = step};
    return rubus__krylov_solve(&method, op, F, u, desc, report);
}
