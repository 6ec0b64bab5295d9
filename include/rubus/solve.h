/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_SOLVE_H
#define RUBUS_SOLVE_H
/** Solvers: accelerated dynamic relaxation for div(lambda grad u) = 0. */
#include <rubus/array.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RUBUS_KERNELS_MATH 1  /**< whole-array kernels, one statement a step */
#define RUBUS_KERNELS_INDEX 2 /**< per-point kernels */
#define RUBUS_KERNELS_FUSED 3 /**< the whole step in one pass */

#define RUBUS_MEAN_ARITHMETIC 1
#define RUBUS_MEAN_HARMONIC 2

#define RUBUS_OUTCOME_RUNNING 0   /**< neither converged nor failed so far */
#define RUBUS_OUTCOME_CONVERGED 1 /**< max|r| is below the tolerance in force */
#define RUBUS_OUTCOME_LIMIT 2     /**< the iteration limit was reached */
#define RUBUS_OUTCOME_STAGNATED 3 /**< max|r| stopped falling at rounding level */
#define RUBUS_OUTCOME_DIVERGED 4  /**< NaN, inf, or 1e6 times the first residual */

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

/** "converged", "limit", "stagnated", "diverged", "running". @return a constant string
 *  @threads Any thread. */
RUBUS_API const char *rubus_outcome_name(int32_t outcome);

#ifdef __cplusplus
}
#endif
#endif
