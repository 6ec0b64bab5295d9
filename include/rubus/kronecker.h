/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_KRONECKER_H
#define RUBUS_KRONECKER_H
/**
 * Separable operators: sums of products of one small matrix for each axis, applied
 * without storing any of them, and their inverses.
 *
 * With H the lengths of the cells on a diagonal and K the stiffness matrix of an axis,
 * the form inner_h(u, v) is H x H x H (a product over the axes), and the part of
 * inner_plus(grad(u), grad(v)) along x is K for x, and H for the other axes. Such forms,
 * with a factor each, add up to a Kronecker sum; a factor may also vary along one axis.
 */
#include <rubus/operator.h>
#include <rubus/space.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RUBUS_KRONECKER_MASS 0 /**< inner_h(u, v) */
#define RUBUS_KRONECKER_X 1    /**< the difference quotients of u and v along x */
#define RUBUS_KRONECKER_Y 2
#define RUBUS_KRONECKER_Z 3

/** One term: alpha * c * what `kind` says. */
typedef struct rubus_kronecker_term {
    int32_t kind;  /**< RUBUS_KRONECKER_* */
    int32_t along; /**< the axis along which c varies: 0, 1, 2; 0 without c */
    double alpha;
    /** c at the points of that axis, read at every use; NULL: 1. A term of differences
     *  along the same axis takes c[i] between the points i - 1 and i. */
    rubus_array *coefficient;
} rubus_kronecker_term;

/**
 * A Kronecker sum as an operator on grid functions of a space; each component gets the
 * same. It is symmetric, and tells its diagonal.
 *
 * @param term    [nterm] Copied.
 * @param labels  Points that are constrained: there the rows are those of the identity.
 *                NULL: none.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL    NULL, no terms, an unknown kind or an axis that the mesh has
 *                         not; the text names the term
 * @return RUBUS_ENOTFOUND no such label
 * @return RUBUS_EFOREIGN, RUBUS_ETYPE, RUBUS_ESHAPE  a coefficient is of another context,
 *                         or not of the type of the mesh, or not as long as its axis
 * @return RUBUS_ESTALE    the space is older than its mesh
 * @return RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_ELOST, RUBUS_EFORKED
 * @threads Any thread.
 * @owner   Holds the space and the memory of the coefficients. Destroy with
 *          rubus_operator_destroy. After a change of the mesh its use is RUBUS_ESTALE.
 */
RUBUS_API rubus_status rubus_kronecker_create(rubus_space *space,
                                              const rubus_kronecker_term *term,
                                              int32_t nterm, const char *labels,
                                              rubus_operator **out_op) RUBUS_CHECKED;

/** Changes the factor of a term from now on.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, an operator of another kind, no such term, a
 *          factor that is not finite)
 *  @threads As rubus_operator_apply. */
RUBUS_API rubus_status rubus_kronecker_set(rubus_operator *op, int32_t term,
                                           double alpha) RUBUS_CHECKED;

/** The inverse of a Kronecker sum, by the eigenvectors of each axis. */
typedef struct rubus_fdm rubus_fdm;

/**
 * Prepares the solution of systems with a Kronecker sum, whose terms have no coefficients
 * and whose constrained points are whole faces. The eigenvalues and eigenvectors of each
 * axis are found on the host, in a time that grows with the third power of its points.
 *
 * @param op  A Kronecker sum. Its factors may change later, and count as they are then.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL    NULL, an operator of another kind, a term with a coefficient
 *                         that varies, constrained points that are no union of faces
 * @return RUBUS_ESTALE    the operator is older than its mesh
 * @return RUBUS_ELIMIT    an axis whose spacings are too far apart for its eigenvalues
 * @return RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_ELOST, RUBUS_EFORKED
 * @threads As rubus_operator_apply.
 * @owner   Destroy with rubus_fdm_destroy; the operator may go before.
 */
RUBUS_API rubus_status rubus_fdm_create(rubus_operator *op,
                                        rubus_fdm **out_fdm) RUBUS_CHECKED;

/**
 * Solves A u = F, enqueued; u is F at constrained points.
 *
 * @param F  grid function of the operator's space; u too, in other memory
 * @return RUBUS_OK
 * @return RUBUS_EINVAL    NULL, or A is singular: with these factors some eigenvalue is
 *                         0, as that of the constants without mass and constraints
 * @return RUBUS_ESHAPE, RUBUS_ETYPE, RUBUS_EFOREIGN  F or u is no grid function of the
 *                         space
 * @return RUBUS_EALIAS    F overlaps u
 * @return RUBUS_ESTALE, RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_ELOST, RUBUS_EFORKED
 * @error   About the condition of A times eps.
 * @threads One thread at a time for an fdm.
 * @source  Lynch, Rice, Thomas, Direct solution of partial difference equations by tensor
 *          product methods, Numerische Mathematik 6 (1964)
 */
RUBUS_API rubus_status rubus_fdm_solve(rubus_fdm *fdm, rubus_array *F,
                                       rubus_array *u) RUBUS_CHECKED;

/** NULL allowed. @threads Any thread. */
RUBUS_API void rubus_fdm_destroy(rubus_fdm *fdm);

#ifdef __cplusplus
}
#endif
#endif
