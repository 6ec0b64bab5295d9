/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_OPERATOR_H
#define RUBUS_OPERATOR_H
/**
 * Linear operators, as the solvers of solve.h see them: something square that can be
 * applied to an array. One can be made of a matrix, or of functions of your own that
 * store no matrix at all.
 */
#include <rubus/sparse.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rubus_operator rubus_operator;

/* Is the operator equal to its transpose, between points that are not constrained? */
#define RUBUS_SYMMETRIC_UNKNOWN 0
#define RUBUS_SYMMETRIC_YES 1
#define RUBUS_SYMMETRIC_NO 2

/**
 * What an operator is made of. x, y and d are arrays of the operator's context, its
 * element type and as many elements as it has unknowns; x and y do not overlap. They
 * have the shape in which they were given to rubus_operator_apply; those that a solver
 * makes have the shape of its F. A function that fails returns its status, which ends
 * the solver with it.
 */
typedef struct rubus_operator_ops {
    size_t struct_size; /**< set by the caller */
    int32_t real;       /**< type of elements: RUBUS_F64 (default) or RUBUS_F32 */
    int32_t symmetric;  /**< RUBUS_SYMMETRIC_*; default UNKNOWN */
    /** Required: y = alpha*A*x + beta*y, enqueued. beta == 0: y is not read. */
    rubus_status (*apply)(void *self, double alpha, rubus_array *x, double beta,
                          rubus_array *y);
    /** Optional: d = the diagonal of A, enqueued. NULL: nothing is preconditioned. */
    rubus_status (*diagonal)(void *self, rubus_array *d);
    /** Optional: a bool array that is true at the constrained points, or NULL; it lives
     *  as long as the operator. There the rows of A are those of the identity. NULL: no
     *  point is constrained. */
    rubus_status (*constraint)(void *self, rubus_array **out_mask);
    /** Optional: called once, by rubus_operator_destroy. */
    void (*destroy)(void *self);
} rubus_operator_ops;

/**
 * An operator of your own functions.
 *
 * @param n     Unknowns: A is [n, n].
 * @param ops   Copied.
 * @param self  First argument of every function; may be NULL.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL  NULL, apply missing, a negative n, an unknown real or symmetric
 * @return RUBUS_ENOMEM, RUBUS_ELOST, RUBUS_EFORKED
 * @threads Any thread.
 * @owner   Holds the context. self passes to the operator on success only. Destroy with
 *          rubus_operator_destroy.
 */
RUBUS_API rubus_status rubus_operator_create(rubus_context *context, int64_t n,
                                             const rubus_operator_ops *ops, void *self,
                                             rubus_operator **out_operator) RUBUS_CHECKED;

/**
 * A square matrix as an operator. Its values may change afterwards.
 *
 * @param csr        [n, n]
 * @param symmetric  RUBUS_SYMMETRIC_*
 * @param mask       [n] bool: rows that are those of the identity (see
 *                   rubus_csr_set_identity_rows) and whose solution is known; NULL: none.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL    NULL, an unknown symmetric
 * @return RUBUS_ESHAPE    the matrix is not square, or mask has another length
 * @return RUBUS_ETYPE     mask is not bool
 * @return RUBUS_EFOREIGN  mask is of another context
 * @return RUBUS_ENOMEM, RUBUS_ELOST, RUBUS_EFORKED
 * @threads Any thread.
 * @owner   Holds the matrix and the mask.
 */
RUBUS_API rubus_status
rubus_operator_create_csr(rubus_csr *csr, int32_t symmetric, rubus_array *mask,
                          rubus_operator **out_operator) RUBUS_CHECKED;

/** Gives the operator back; legal right after it was applied. NULL allowed.
 *  @threads Any thread. */
RUBUS_API void rubus_operator_destroy(rubus_operator *op);

/**
 * y = alpha*A*x + beta*y, enqueued in order on the context of A.
 *
 * @param[in]     x     n elements of A's type, of any rank.
 * @param[in]     beta  0: y is not read.
 * @param[in,out] y     n elements of A's type, of any rank.
 * @return RUBUS_OK, RUBUS_EINVAL (NULL), RUBUS_ESHAPE, RUBUS_ETYPE, RUBUS_EFOREIGN,
 *         RUBUS_EALIAS (x overlaps y), or what the operator's own function returns
 * @threads Any thread; one thread at a time per operator, unless its functions allow
 * more.
 */
RUBUS_API rubus_status rubus_operator_apply(rubus_operator *op, double alpha,
                                            rubus_array *x, double beta,
                                            rubus_array *y) RUBUS_CHECKED;

/** d = the diagonal of A, enqueued.
 *  @param d  n elements of A's type, of any rank.
 *  @return as rubus_operator_apply; RUBUS_EUNSUPPORTED if the operator cannot tell
 *  @threads As rubus_operator_apply. */
RUBUS_API rubus_status rubus_operator_diagonal(rubus_operator *op,
                                               rubus_array *d) RUBUS_CHECKED;

/** The mask of the constrained points, or NULL where none is.
 *  @return RUBUS_OK, RUBUS_EINVAL; RUBUS_ETYPE, RUBUS_ESHAPE, RUBUS_EFOREIGN if what the
 *          operator gives is no mask; or what its own function returns
 *  @threads As rubus_operator_apply.
 *  @owner   The mask lives as long as the operator. */
RUBUS_API rubus_status rubus_operator_constraint(rubus_operator *op,
                                                 rubus_array **out_mask) RUBUS_CHECKED;

/** Number of unknowns; 0 for NULL. @return as said @threads Any thread. */
RUBUS_API int64_t rubus_operator_size(const rubus_operator *op);
/** RUBUS_F64 or RUBUS_F32; 0 for NULL. @return as said @threads Any thread. */
RUBUS_API int32_t rubus_operator_real(const rubus_operator *op);
/** RUBUS_SYMMETRIC_*; UNKNOWN for NULL. @return as said @threads Any thread. */
RUBUS_API int32_t rubus_operator_symmetric(const rubus_operator *op);
/** The context of the operator. @return NULL for NULL @threads Any thread. */
RUBUS_API rubus_context *rubus_operator_context(const rubus_operator *op);

#ifdef __cplusplus
}
#endif
#endif
