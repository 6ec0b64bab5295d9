/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Krylov solve refuses before anything runs, and the defaults of its desc.
 */
#include "config.h"

#include "libcore/solve/krylov.h"

#include <math.h>
#include <string.h>

enum { NITER_LEAST = 100, NITER_MOST = 100000 };

static int64_t default_niter(int64_t n)
{
    return n < NITER_LEAST / 10 ? NITER_LEAST : n > NITER_MOST / 10 ? NITER_MOST : 10 * n;
}

static rubus_status check_numbers(const char *what, const rubus_krylov_desc *d)
{
    if (!isfinite(d->rtol) || !isfinite(d->atol) || d->atol < 0) {
        const bool rtol = !isfinite(d->rtol);
        return rubus__fail(RUBUS_EINVAL, "%s: %s is %g; give a finite number%s", what,
                           rtol ? "rtol" : "atol", rtol ? d->rtol : d->atol,
                           rtol ? "" : " that is not negative");
    }
    if (d->precondition < RUBUS_PRECONDITION_DEFAULT ||
        d->precondition > RUBUS_PRECONDITION_JACOBI) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: precondition is %d; give RUBUS_PRECONDITION_DEFAULT, "
                           "_NONE or _JACOBI",
                           what, (int)d->precondition);
    }
    if (d->history == NULL && d->history_room > 0) {
        return rubus__fail(RUBUS_EINVAL, "%s: history is NULL, its room is %llu", what,
                           (unsigned long long)d->history_room);
    }
    return RUBUS_OK;
}

static rubus_status complete(rubus__krylov *k, const rubus_krylov_desc *given)
{
    const char *what = k->method->what;
    rubus_krylov_desc *d = &k->desc;
    if (given != NULL && given->struct_size < sizeof(given->struct_size)) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: struct_size of the desc is %zu; set it to "
                           "sizeof(rubus_krylov_desc)",
                           what, given->struct_size);
    }
    if (given != NULL) {
        memcpy(d, given,
               given->struct_size < sizeof(*d) ? given->struct_size : sizeof(*d));
    }
    const rubus_status st = check_numbers(what, d);
    if (st != RUBUS_OK) {
        return st;
    }
    if (d->rtol == 0) {
        d->rtol = k->op->ops.real == RUBUS_F64 ? 1e-10 : 1e-5;
    }
    d->rtol = d->rtol < 0 ? 0 : d->rtol;
    if (d->niter == 0) {
        d->niter = default_niter(k->op->n);
    }
    d->niter = d->niter < 0 ? 0 : d->niter;
    k->jacobi =
        d->precondition != RUBUS_PRECONDITION_NONE && rubus__operator_has_diagonal(k->op);
    if (d->precondition == RUBUS_PRECONDITION_JACOBI && !k->jacobi) {
        return rubus__fail(RUBUS_EUNSUPPORTED,
                           "%s: Jacobi preconditioning needs the diagonal, for which the "
                           "operator has no function; fill `diagonal` of its ops, or set "
                           "precondition to RUBUS_PRECONDITION_NONE",
                           what);
    }
    return RUBUS_OK;
}

static rubus_status check_operands(rubus__krylov *k)
{
    const char *what = k->method->what;
    if (k->op == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the operator is NULL", what);
    }
    const int32_t real = k->op->ops.real;
    rubus_status st = rubus__operator_check(what, k->op, k->F, real, "F");
    if (st == RUBUS_OK) {
        st = rubus__operator_check(what, k->op, k->u, real, "u");
    }
    if (st == RUBUS_OK && rubus__array_overlap(k->F, k->u)) {
        st = rubus__fail(RUBUS_EALIAS,
                         "%s: F and u share memory; pass two different arrays", what);
    }
    if (st == RUBUS_OK && k->method->symmetric &&
        k->op->ops.symmetric == RUBUS_SYMMETRIC_NO) {
        st = rubus__fail(RUBUS_EINVAL,
                         "%s: the operator is not symmetric; use rubus_solve_bicgstab",
                         what);
    }
    return st;
}

rubus_status rubus__krylov_check(rubus__krylov *k, const rubus_krylov_desc *desc,
                                 const rubus_krylov_report *report)
{
    rubus_status st = check_operands(k);
    if (st == RUBUS_OK) {
        st = complete(k, desc);
    }
    if (st == RUBUS_OK && report != NULL &&
        report->struct_size < sizeof(report->struct_size)) {
        st = rubus__fail(RUBUS_EINVAL,
                         "%s: struct_size of the report is %zu; set it to "
                         "sizeof(rubus_krylov_report)",
                         k->method->what, report->struct_size);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    st = rubus_operator_constraint(k->op, &k->mask);
    return st == RUBUS_OK ? st : rubus__fail_prefix(st, "%s", k->method->what);
}
