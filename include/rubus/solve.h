/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_SOLVE_H
#define RUBUS_SOLVE_H
/** Solvers: accelerated dynamic relaxation for div(lambda grad u) = 0, and Krylov methods
 *  for A u = F with any operator. */
#include <rubus/operator.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RUBUS_KERNELS_MATH 1  /**< whole-array kernels, one statement a step */
#define RUBUS_KERNELS_INDEX 2 /**< per-point kernels */
#define RUBUS_KERNELS_FUSED 3 /**< the whole step in one pass */

#define RUBUS_MEAN_ARITHMETIC 1
#define RUBUS_MEAN_HARMONIC 2

#define RUBUS_OUTCOME_RUNNING 0   /**< neither converged nor failed so far */
#define RUBUS_OUTCOME_CONVERGED 1 /**< the residual is below the tolerance in force */
#define RUBUS_OUTCOME_LIMIT 2     /**< the iteration limit was reached */
#define RUBUS_OUTCOME_STAGNATED 3 /**< the residual stopped falling at rounding level */
#define RUBUS_OUTCOME_DIVERGED 4  /**< NaN, inf, or 1e6 times the first residual */
#define RUBUS_OUTCOME_BREAKDOWN 5 /**< the method cannot go on with this operator */

/**
 * Steady diffusion in a box of 1, 2 or 3 dimensions, cell-centred, with Dirichlet values.
 * In 1D u[0] = left and u[nx-1] = right; in 2D and 3D the whole rim has the linear
 * profile from left to right along `profile`. Zero means the default everywhere but in
 * left, right, init.
 */
typedef struct rubus_relax_desc {
    size_t struct_size;   /**< set by the caller */
    int32_t dim;          /**< 1, 2 or 3 */
    int32_t real;         /**< RUBUS_F64 (default) or RUBUS_F32 */
    int32_t kernels;      /**< RUBUS_KERNELS_*; default FUSED */
    int32_t profile;      /**< axis of the boundary profile: 0 x, 1 y, 2 z */
    int64_t n[3];         /**< cells, each >= 3 in the dimensions used */
    double length[3];     /**< of the box, in units of x; default 20 */
    double left;          /**< value at the low end of the profile axis */
    double right;         /**< value at its high end */
    double init;          /**< start value of the inner cells */
    double tol;           /**< absolute, on max|r|; default 1e-6; negative: 0 */
    int64_t niter;        /**< iteration limit; default 15 max n; negative: 0 */
    const double *lambda; /**< host coefficient: n cells (first index fastest), or in 1D
                              n[0]-1 faces; NULL: the Gaussian anomaly */
    int64_t nlambda;      /**< how many numbers lambda holds */
    double lambda_const;  /**< used if lambda is NULL and this is not 0 */
    int32_t mean;         /**< RUBUS_MEAN_*, from cells to faces; default arithmetic */
    int32_t no_checks;    /**< 1: fixed iterations without residual checks (benchmarks) */
} rubus_relax_desc;

/** State and figures of a solver. */
typedef struct rubus_relax_report {
    size_t struct_size; /**< set by the caller */
    int32_t outcome;    /**< RUBUS_OUTCOME_* */
    int32_t passes;     /**< passes (sweeps over memory) of one plain iteration */
    int64_t iterations;
    double residual;  /**< last checked max|r|; NaN if none was checked */
    double tolerance; /**< in force: min(tol, 1e-6 lambda_max dU / min(dx)^2) */
    double beta;
    double seconds;         /**< spent in rubus_relax_run so far */
    double bytes_effective; /**< per iteration: (2 unknown * 2 + 2 known) arrays */
    uint64_t nhistory;      /**< checks so far */
    const double *history_iteration; /**< per check; iteration / n[0]; lives until run */
    const double *history_residual;
} rubus_relax_report;

typedef struct rubus_relax rubus_relax;

/**
 * A solver at iteration 0.
 *
 * @return RUBUS_OK
 * @return RUBUS_EINVAL  a wrong field of the desc, or a coefficient that is not positive
 *                       and finite; the text names it
 * @return RUBUS_ESHAPE  nlambda does not fit the grid
 * @return RUBUS_EUNSUPPORTED, RUBUS_EDEVMEM, RUBUS_ENOMEM, RUBUS_ELOST, RUBUS_EFORKED
 * @threads Any thread; one thread at a time per solver.
 * @owner   Holds the context. Destroy with rubus_relax_destroy.
 * @source  Frankel 1950; Papadrakakis 1981; adaptive damping of Duretz et al. 2023
 */
RUBUS_API rubus_status rubus_relax_create(rubus_context *context,
                                          const rubus_relax_desc *desc,
                                          rubus_relax **out_relax) RUBUS_CHECKED;

/** NULL allowed. @threads Any thread. */
RUBUS_API void rubus_relax_destroy(rubus_relax *relax);

/** Called after every check; a non-zero return stops the run (outcome RUNNING). */
typedef int (*rubus_relax_progress)(void *user, int64_t iteration, double residual);

/** Iterates until an outcome is known, or `limit` more iterations are done (negative: no
 *  such limit). progress may be NULL.
 *  @return RUBUS_OK whatever the outcome; RUBUS_ESTATE after a run that failed inside an
 *          iteration; else what a launch or read returns
 *  @threads One thread at a time per solver. */
RUBUS_API rubus_status rubus_relax_run(rubus_relax *relax, int64_t limit,
                                       rubus_relax_progress progress,
                                       void *user) RUBUS_CHECKED;

/** Fills *report, up to report->struct_size bytes.
 *  @return RUBUS_OK, RUBUS_EINVAL
 *  @threads One thread at a time per solver. */
RUBUS_API rubus_status rubus_relax_report_get(rubus_relax *relax,
                                              rubus_relax_report *report) RUBUS_CHECKED;

/** The field u, of shape n. Lives as long as the solver; another array may hold u after
 *  the next run. @return NULL for NULL. @threads One thread at a time per solver. */
RUBUS_API rubus_array *rubus_relax_field(rubus_relax *relax);

/** The desc in force, defaults filled in. @return NULL for NULL. @threads Any thread. */
RUBUS_API const rubus_relax_desc *rubus_relax_desc_get(const rubus_relax *relax);

/** Writes everything that a bitwise equal continuation needs.
 *  @return RUBUS_OK, RUBUS_EINVAL, RUBUS_ESTATE (as rubus_relax_run), RUBUS_EIO, or what
 *          a read returns
 *  @threads One thread at a time per solver. */
RUBUS_API rubus_status rubus_relax_save(rubus_relax *relax,
                                        const char *path) RUBUS_CHECKED;

/** A solver that goes on from a checkpoint; also on another backend. `changes` may give a
 *  new niter and tol (other fields must be 0 or equal); NULL: none.
 *  @return as rubus_relax_create; RUBUS_EIO; RUBUS_EFORMAT: the file is no checkpoint, is
 *          cut short, damaged, or of another version; RUBUS_EINVAL: of another problem
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_relax_load(rubus_context *context, const char *path,
                                        const rubus_relax_desc *changes,
                                        rubus_relax **out_relax) RUBUS_CHECKED;

/* --- Krylov methods ----------------------------------------------------------------- */

#define RUBUS_PRECONDITION_DEFAULT 0 /**< JACOBI where the operator has a diagonal */
#define RUBUS_PRECONDITION_NONE 1
#define RUBUS_PRECONDITION_JACOBI 2 /**< division by the diagonal */

/** Called after every iteration with |r|; a non-zero return stops the run (outcome
 *  RUNNING). */
typedef int (*rubus_krylov_progress)(void *user, int64_t iteration, double residual);

/** How a linear system is solved. Zero means the default everywhere. */
typedef struct rubus_krylov_desc {
    size_t struct_size;   /**< set by the caller */
    double rtol;          /**< default 1e-10, in f32 1e-5; negative: 0 */
    double atol;          /**< in units of F; default 0 */
    int64_t niter;        /**< iteration limit; default 10 n, between 100 and 100000;
                             negative: 0 */
    int32_t precondition; /**< RUBUS_PRECONDITION_* */
    int32_t reserved0;
    rubus_krylov_progress progress; /**< may be NULL */
    void *user;                     /**< its first argument */
    double *history;       /**< [history_room] or NULL: |r| after iteration 0, 1, ... */
    uint64_t history_room; /**< what has no room is left out */
} rubus_krylov_desc;

/** How a solve ended. */
typedef struct rubus_krylov_report {
    size_t struct_size; /**< set by the caller */
    int32_t outcome;    /**< RUBUS_OUTCOME_* */
    int32_t restarts;   /**< times that r was computed anew from u, and the method begun
                             again */
    int64_t iterations;
    double residual;  /**< |r|, r = F - A u; of the method's own recurrence if the outcome
                            is LIMIT, RUNNING or DIVERGED, else computed from u; NaN
                            where it was not computed */
    double norm;      /**< |F| */
    double tolerance; /**< in force: max(rtol |F|, atol) */
    uint64_t nhistory;      /**< numbers in desc->history */
    int32_t preconditioned; /**< 1: by Jacobi */
    int32_t reserved0;
    char why[128]; /**< what kept it from converging, in words; "" if it did */
} rubus_krylov_report;

/**
 * Solves A u = F by conjugate gradients, from the u given, until |r| <= max(rtol |F|,
 * atol), |.| being the root of the sum of squares. For symmetric positive definite A.
 *
 * At constrained points (rubus_operator_constraint) u is set to F first; then r is 0
 * there and stays so, and A needs to be symmetric between the other points only. F = 0
 * gives u = 0 at once. Where the recurrence says that r is small enough, it is computed
 * anew from u; if that is larger, the method begins again, at most three times.
 *
 * @param[in]     op      [n, n] Not known to be unsymmetric.
 * @param[in]     F       n elements of A's type, of any rank.
 * @param[in,out] u       n elements of A's type, of any rank; the start value.
 * @param[in]     desc    NULL: the defaults.
 * @param[out]    report  NULL: not wanted.
 * @return RUBUS_OK whatever the outcome
 * @return RUBUS_EINVAL    NULL; a wrong field of the desc; an unsymmetric operator; the
 *                         text names it
 * @return RUBUS_ESHAPE, RUBUS_ETYPE, RUBUS_EFOREIGN  F, u or the mask do not fit A
 * @return RUBUS_EALIAS    F overlaps u
 * @return RUBUS_EUNSUPPORTED  JACOBI is asked for, and A has no diagonal to give
 * @return RUBUS_ESTATE, RUBUS_EDEVMEM, RUBUS_ENOMEM, RUBUS_ELOST, RUBUS_EFORKED, or what
 *         a function of the operator returns; u then holds what was reached
 * @error   With rounding, |r| ends at about eps |A| |u| at best: STAGNATED tells.
 * @threads As the operator's functions.
 * @source  Hestenes and Stiefel 1952; Saad, Iterative Methods for Sparse Linear Systems,
 *          2nd ed., 6.7 and 9.2
 */
RUBUS_API rubus_status rubus_solve_cg(rubus_operator *op, rubus_array *F, rubus_array *u,
                                      const rubus_krylov_desc *desc,
                                      rubus_krylov_report *report) RUBUS_CHECKED;

/**
 * As rubus_solve_cg, by the stabilised method of bi-conjugate gradients, for any A that
 * is not singular. Two products an iteration. Where it breaks down, it begins again from
 * u.
 *
 * @return as rubus_solve_cg; any operator is taken
 * @threads As the operator's functions.
 * @source  van der Vorst 1992, preconditioned from the right
 */
RUBUS_API rubus_status rubus_solve_bicgstab(rubus_operator *op, rubus_array *F,
                                            rubus_array *u, const rubus_krylov_desc *desc,
                                            rubus_krylov_report *report) RUBUS_CHECKED;

/** "converged", "limit", "stagnated", "diverged", "breakdown", "running". @return a
 *  constant string
 *  @threads Any thread. */
RUBUS_API const char *rubus_outcome_name(int32_t outcome);

#ifdef __cplusplus
}
#endif
#endif
