/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_KRYLOV_H
#define RUBUS_KRYLOV_H
/*
 * Krylov methods from inside. krylov_check.c refuses what cannot be solved before
 * anything runs; krylov.c has what all methods share: the start, when to stop and with
 * which outcome, when to begin again; cg.c and bicgstab.c have one iteration each.
 */
#include <rubus/solve.h>

#include "libcore/sparse/operator_inner.h"

enum { KRYLOV_VECTORS = 8, KRYLOV_NUMBERS = 3, KRYLOV_RESTARTS = 3 };

typedef struct rubus__krylov rubus__krylov;

/* One method. In both calls *rr is |r|^2 in the units of the cycle. */
typedef struct rubus__krylov_method {
    const char *what;  /* "rubus_solve_cg" */
    bool symmetric;    /* needs a symmetric operator */
    bool begins_again; /* a breakdown may go away by beginning again */
    int32_t nvector;
    int32_t nnumber;
    /* r holds F - A u; makes the first directions. */
    rubus_status (*start)(rubus__krylov *k, double *rr);
    /* One iteration; negative *rr: a breakdown, of which k->why is written. */
    rubus_status (*step)(rubus__krylov *k, double *rr);
} rubus__krylov_method;

struct rubus__krylov {
    const rubus__krylov_method *method;
    rubus_operator *op;
    rubus_array *F;
    rubus_array *u;
    rubus_array *mask;      /* of the constrained points, or NULL */
    rubus_krylov_desc desc; /* complete */
    rubus_krylov_report report;
    bool jacobi;
    rubus_module *module;
    /* vector[0] is r, vector[1] the inverse of the diagonal; the rest is the method's */
    rubus_array *vector[KRYLOV_VECTORS];
    rubus_array *number[KRYLOV_NUMBERS]; /* one element each */
    /* the same memory as arrays of rank 1, for the kernels */
    rubus_array line[KRYLOV_VECTORS];
    rubus_array F_line;
    rubus_array u_line;
    rubus_array mask_line;
    double scale;     /* r and the directions are the true ones times this power of 2 */
    double largest;   /* where |r| counts as diverged */
    int64_t in_cycle; /* iterations since the method was begun */
    double rho;       /* sums that the method carries from one iteration to the next */
    double rho_before;
};

enum { KRYLOV_R, KRYLOV_W };

/* --- krylov_check.c ----------------------------------------------------------------- */

/* Everything that can be refused; completes k->desc, finds the mask. */
rubus_status rubus__krylov_check(rubus__krylov *k, const rubus_krylov_desc *desc,
                                 const rubus_krylov_report *report);

/* --- krylov.c ----------------------------------------------------------------------- */

rubus_status rubus__krylov_solve(const rubus__krylov_method *method, rubus_operator *op,
                                 rubus_array *F, rubus_array *u,
                                 const rubus_krylov_desc *desc,
                                 rubus_krylov_report *report);
/* Kernel `name` of shaders/krylov.rk. */
rubus_status rubus__krylov_run(rubus__krylov *k, const char *name, const rubus_arg *args,
                               size_t nargs);
#define KRYLOV_RUN(k, name, ...)                                                         \
    rubus__krylov_run((k), (name), (const rubus_arg[]){__VA_ARGS__},                     \
                      sizeof((const rubus_arg[]){__VA_ARGS__}) / sizeof(rubus_arg))
/* Argument: vector or number `at`. */
rubus_arg rubus__krylov_vector(rubus__krylov *k, int32_t at);
rubus_arg rubus__krylov_number(const rubus__krylov *k, int32_t at);
/* Says in the report why the run ends. */
void rubus__krylov_why(rubus__krylov *k, const char *fmt, ...) RUBUS_PRINTF(2, 3);

#endif
