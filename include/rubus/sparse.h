/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_SPARSE_H
#define RUBUS_SPARSE_H
/**
 * Sparse matrices: compressed rows (CSR) on a device, with a mirror on the host.
 *
 * A matrix has the index type RUBUS_I32 or RUBUS_I64 and values of RUBUS_F32 or
 * RUBUS_F64; "an index" and "a value" below are numbers of these types, which are never
 * widened. All indices count from 0. The structure (which entries are stored) is fixed
 * when the matrix is made: columns ascend in every row, and no entry is stored twice. The
 * values may change as often as you like:
 *
 *   on the host    rubus_csr_mirror_zero, rubus_csr_add..., or writing mirror.nzval, then
 *                  rubus_csr_flush: one copy that overwrites all values of the device
 *   on the device  rubus_scatter_..., or any kernel that writes rubus_csr_nzval
 *
 * The mirror does not follow the device by itself: rubus_csr_pull fetches the values.
 */
#include <rubus/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rubus_csr rubus_csr;

/* --- making ----------------------------------------------------------------------- */

/**
 * A matrix from compressed rows: row i has the entries rowptr[i] to rowptr[i+1] - 1.
 *
 * Columns of a row may stand in any order and more than once: they are sorted, and values
 * of equal places are added, in the order given. Entries of value 0 stay stored.
 *
 * @param index   RUBUS_I32 or RUBUS_I64: type of the elements of rowptr and colval.
 * @param real    RUBUS_F32 or RUBUS_F64: type of the elements of nzval.
 * @param nnz     Entries in colval and nzval.
 * @param rowptr  [nrow + 1] Ascending from 0 to nnz. May be NULL if nrow is 0.
 * @param colval  [nnz] Each 0 to ncol - 1. May be NULL if nnz is 0.
 * @param nzval   [nnz] NULL: all values are 0.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL  NULL, an unknown type, a negative size, or a structure that is
 *                       none; the text names row and entry
 * @return RUBUS_ELIMIT  nrow, ncol or nnz is larger than the index type can count, or
 *                       an array larger than the device's largest buffer
 * @return RUBUS_EUNSUPPORTED  the device has no f64
 * @return RUBUS_EDEVMEM, RUBUS_ENOMEM, RUBUS_ELOST, RUBUS_EFORKED
 * @threads Any thread.
 * @owner   Copies the arrays; holds the context. Destroy with rubus_csr_destroy.
 */
RUBUS_API rubus_status rubus_csr_create(rubus_context *context, int32_t index,
                                        int32_t real, int64_t nrow, int64_t ncol,
                                        int64_t nnz, const void *rowptr,
                                        const void *colval, const void *nzval,
                                        rubus_csr **out_csr) RUBUS_CHECKED;

/**
 * A matrix from a list of entries in any order: entry k is value[k] at (row[k], col[k]).
 * Values of equal places are added, in the order of the list.
 *
 * @param n      Entries in the list.
 * @param row    [n] Indices. May be NULL if n is 0; col too.
 * @param value  [n] NULL: all values are 0, only the pattern counts.
 * @return as rubus_csr_create; the text names the entry
 * @threads Any thread.
 * @owner   Copies the arrays; holds the context.
 */
RUBUS_API rubus_status rubus_csr_create_coo(rubus_context *context, int32_t index,
                                            int32_t real, int64_t nrow, int64_t ncol,
                                            int64_t n, const void *row, const void *col,
                                            const void *value,
                                            rubus_csr **out_csr) RUBUS_CHECKED;

/** A matrix from compressed columns: column j has the entries colptr[j] to
 *  colptr[j+1] - 1, of rows rowval. Converted to rows on the host, uploaded once.
 *  @return as rubus_csr_create; the text names column and entry
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_csr_create_csc(rubus_context *context, int32_t index,
                                            int32_t real, int64_t nrow, int64_t ncol,
                                            int64_t nnz, const void *colptr,
                                            const void *rowval, const void *nzval,
                                            rubus_csr **out_csr) RUBUS_CHECKED;

/** The n x n matrix with ones on its diagonal.
 *  @return as rubus_csr_create
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_csr_create_identity(rubus_context *context, int32_t index,
                                                 int32_t real, int64_t n,
                                                 rubus_csr **out_csr) RUBUS_CHECKED;

/** A matrix that stores no entry.
 *  @return as rubus_csr_create
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_csr_create_zeros(rubus_context *context, int32_t index,
                                              int32_t real, int64_t nrow, int64_t ncol,
                                              rubus_csr **out_csr) RUBUS_CHECKED;

/** The transpose of the mirror of `csr`, as a matrix of its own. (A product with the
 *  transpose needs none: rubus_spmv_transposed.)
 *  @return as rubus_csr_create
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_csr_create_transpose(rubus_csr *csr,
                                                  rubus_csr **out_csr) RUBUS_CHECKED;

/** The n x n matrix with these values on its diagonal.
 *  @param value  [n]
 *  @return as rubus_csr_create
 *  @threads Any thread.
 *  @owner   Copies the values; holds the context. */
RUBUS_API rubus_status rubus_csr_create_diagonal(rubus_context *context, int32_t index,
                                                 int32_t real, int64_t n,
                                                 const void *value,
                                                 rubus_csr **out_csr) RUBUS_CHECKED;

/**
 * A*B of two mirrors as a matrix of its own, on the host. All entries that the patterns
 * allow are stored, whatever their values; sums are in double, in the order of A's row.
 *
 * @param a  [m, k]
 * @param b  [k, n], of the context and the types of a; may be a itself.
 * @return as rubus_csr_create; RUBUS_ESHAPE, RUBUS_ETYPE, RUBUS_EFOREIGN if the matrices
 *         do not fit together
 * @threads One thread at a time uses the mirrors' values.
 */
RUBUS_API rubus_status rubus_csr_create_product(rubus_csr *a, rubus_csr *b,
                                                rubus_csr **out_csr) RUBUS_CHECKED;

/** alpha*A + beta*B of two mirrors of one size as a matrix of its own, on the host. What
 *  either stores is stored, also with a factor of 0.
 *  @return as rubus_csr_create_product
 *  @threads One thread at a time uses the mirrors' values. */
RUBUS_API rubus_status rubus_csr_create_sum(double alpha, rubus_csr *a, double beta,
                                            rubus_csr *b,
                                            rubus_csr **out_csr) RUBUS_CHECKED;

/** Gives the matrix back; legal right after a product. NULL allowed.
 *  @threads Any thread. */
RUBUS_API void rubus_csr_destroy(rubus_csr *csr);

/* --- looking ---------------------------------------------------------------------- */

/** Sizes and types of a matrix, and how its products run. */
typedef struct rubus_csr_info {
    size_t struct_size; /**< set by the caller */
    int64_t nrow;
    int64_t ncol;
    int64_t nnz;
    int32_t index;    /**< RUBUS_I32 or RUBUS_I64 */
    int32_t real;     /**< RUBUS_F32 or RUBUS_F64 */
    const char *path; /**< what a product runs on, for example "stencil, 5 diagonals"; ""
                           before the first product. Lives as long as the matrix */
    uint64_t path_bytes;    /**< memory that this takes beside the CSR arrays; 0: none */
    uint64_t product_bytes; /**< what y = A x reads and writes at least; 0: not known */
} rubus_csr_info;

/** Fills *info, up to info->struct_size bytes.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, struct_size 0)
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_csr_info_get(rubus_csr *csr,
                                          rubus_csr_info *info) RUBUS_CHECKED;

/** The host's copy of a matrix, made from what it was made of, without a transfer. */
typedef struct rubus_csr_mirror {
    size_t struct_size; /**< set by the caller */
    const void *rowptr; /**< [nrow + 1] indices */
    const void *colval; /**< [nnz] indices, ascending in every row */
    void *nzval;        /**< [nnz] values; write them, then rubus_csr_flush */
} rubus_csr_mirror;

/** Fills *mirror, up to mirror->struct_size bytes. The arrays live as long as the matrix.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, struct_size 0)
 *  @threads Any thread; one thread at a time uses the values. */
RUBUS_API rubus_status rubus_csr_mirror_get(rubus_csr *csr,
                                            rubus_csr_mirror *mirror) RUBUS_CHECKED;

/** [nrow + 1] indices on the device, for kernels to read. Lives as long as the matrix.
 *  @return NULL for NULL @threads Any thread. */
RUBUS_API rubus_array *rubus_csr_rowptr(const rubus_csr *csr);
/** [nnz] indices on the device, for kernels to read. Lives as long as the matrix.
 *  @return NULL for NULL @threads Any thread. */
RUBUS_API rubus_array *rubus_csr_colval(const rubus_csr *csr);
/** [nnz] values on the device, which kernels may write. Lives as long as the matrix.
 *  @return NULL for NULL @threads Any thread. */
RUBUS_API rubus_array *rubus_csr_nzval(const rubus_csr *csr);

/** The context of the matrix. @return NULL for NULL @threads Any thread. */
RUBUS_API rubus_context *rubus_csr_context(const rubus_csr *csr);

/** d = the diagonal of A on the device; 0 where no entry is stored.
 *  @param d  min(nrow, ncol) elements of the real type of A
 *  @return RUBUS_OK, RUBUS_EINVAL, RUBUS_ESHAPE, RUBUS_ETYPE, RUBUS_EFOREIGN,
 *          RUBUS_EALIAS, RUBUS_ESTATE, RUBUS_EUNSUPPORTED, RUBUS_ENOMEM, RUBUS_ELOST,
 *          RUBUS_EFORKED
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_csr_diagonal(rubus_csr *csr, rubus_array *d) RUBUS_CHECKED;

/* --- filling on the host ---------------------------------------------------------- */

/** Sets all values of the mirror to 0. The device is not touched: the next flush
 *  overwrites everything there.
 *  @return RUBUS_OK, RUBUS_EINVAL
 *  @threads One thread at a time uses the mirror's values. */
RUBUS_API rubus_status rubus_csr_mirror_zero(rubus_csr *csr) RUBUS_CHECKED;

/** Position of the entry (row, col) in colval and nzval; -1 if it is not stored, or
 *  outside the matrix, or csr is NULL. Short rows are searched in order, long ones by
 *  halving.
 *  @return as said
 *  @threads Any thread. */
RUBUS_API int64_t rubus_csr_position(const rubus_csr *csr, int64_t row, int64_t col);

/**
 * Adds value[k] to the entry (row[k], col[k]) of the mirror, for each k, by search.
 *
 * @param row, col  [n] Indices.
 * @param value     [n] Values.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL     NULL, negative n
 * @return RUBUS_ENOTFOUND  an entry that the pattern has not; the text names it. Nothing
 *                          was added
 * @threads One thread at a time uses the mirror's values.
 */
RUBUS_API rubus_status rubus_csr_add(rubus_csr *csr, int64_t n, const void *row,
                                     const void *col, const void *value) RUBUS_CHECKED;

/**
 * Adds value[k] to the mirror's nzval[position[k]], for each k; negative positions are
 * skipped. Nothing is searched.
 *
 * @param position  [n] Indices.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL   NULL, negative n
 * @return RUBUS_EBOUNDS  a position past the last entry; nothing was added
 * @threads One thread at a time uses the mirror's values.
 */
RUBUS_API rubus_status rubus_csr_add_at(rubus_csr *csr, int64_t n, const void *position,
                                        const void *value) RUBUS_CHECKED;

/** Overwrites all values on the device by those of the mirror: one copy, in order with
 *  everything else. The mirror may change as soon as the call returns.
 *  @return RUBUS_OK, RUBUS_EINVAL, RUBUS_ESTATE (nzval is mapped), RUBUS_ELOST,
 *          RUBUS_EFORKED
 *  @threads One thread at a time uses the mirror's values. */
RUBUS_API rubus_status rubus_csr_flush(rubus_csr *csr) RUBUS_CHECKED;

/** Fetches all values from the device into the mirror: one copy; waits.
 *  @return as rubus_csr_flush; RUBUS_EBOUNDS if a checked kernel left an array
 *  @threads One thread at a time uses the mirror's values. */
RUBUS_API rubus_status rubus_csr_pull(rubus_csr *csr) RUBUS_CHECKED;

/**
 * Makes rows those of the identity, in the mirror and on the device: 1 on the diagonal, 0
 * elsewhere. One kernel; no value moves between host and device.
 *
 * @param row  [n] Indices, in any order.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL     NULL, negative n, a row outside the matrix
 * @return RUBUS_ENOTFOUND  a row whose diagonal entry is not stored; nothing has changed
 * @return RUBUS_ESTATE, RUBUS_EUNSUPPORTED, RUBUS_EDEVMEM, RUBUS_ENOMEM, RUBUS_ELOST,
 *         RUBUS_EFORKED
 * @threads One thread at a time uses the mirror's values.
 */
RUBUS_API rubus_status rubus_csr_set_identity_rows(rubus_csr *csr, int64_t n,
                                                   const void *row) RUBUS_CHECKED;

/* --- filling on the device -------------------------------------------------------- */

/** A table that says where each of many values goes in the values of a matrix. */
typedef struct rubus_scatter rubus_scatter;

#define RUBUS_SCATTER_AUTO 0 /**< ATOMIC where it works, else GATHER */
#define RUBUS_SCATTER_ATOMIC                                                             \
    1 /**< one point a value, atomic additions: order not fixed */
#define RUBUS_SCATTER_GATHER 2 /**< one point an entry: repeats to the bit */

/**
 * Prepares nzval[position[k]] += value[k] on the device.
 *
 * Whether a device adds atomically is tried once in a context by running a kernel, and
 * not taken from what the driver says.
 *
 * @param n         Entries of the table.
 * @param position  [n] Indices, on the host. Negative: value k goes nowhere.
 * @param mode      RUBUS_SCATTER_*
 * @return RUBUS_OK
 * @return RUBUS_EINVAL       NULL, negative n, an unknown mode
 * @return RUBUS_EBOUNDS      a position past the last entry of the matrix
 * @return RUBUS_ELIMIT       n is larger than the index type can count
 * @return RUBUS_EUNSUPPORTED mode is ATOMIC, and atomic additions do not work here
 * @return RUBUS_EDEVMEM, RUBUS_ENOMEM, RUBUS_ELOST, RUBUS_EFORKED
 * @threads Any thread.
 * @owner   Holds the matrix. Destroy with rubus_scatter_destroy.
 */
RUBUS_API rubus_status rubus_scatter_create(rubus_csr *csr, int64_t n,
                                            const void *position, int32_t mode,
                                            rubus_scatter **out_scatter) RUBUS_CHECKED;

/** NULL allowed. @threads Any thread. */
RUBUS_API void rubus_scatter_destroy(rubus_scatter *scatter);

/** RUBUS_SCATTER_ATOMIC or _GATHER: what runs; 0 for NULL. @return as said
 *  @threads Any thread. */
RUBUS_API int32_t rubus_scatter_mode(const rubus_scatter *scatter);

/** All values of the matrix = what the table brings there; 0 where it brings nothing.
 *  @param value  n elements of the real type of the matrix
 *  @return RUBUS_OK, RUBUS_EINVAL, RUBUS_ESHAPE, RUBUS_ETYPE, RUBUS_EFOREIGN,
 *          RUBUS_EALIAS, RUBUS_ESTATE, RUBUS_ELOST, RUBUS_EFORKED
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_scatter_set(rubus_scatter *scatter,
                                         rubus_array *value) RUBUS_CHECKED;

/** As rubus_scatter_set, but added to what the values are.
 *  @return as rubus_scatter_set
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_scatter_add(rubus_scatter *scatter,
                                         rubus_array *value) RUBUS_CHECKED;

/* --- products --------------------------------------------------------------------- */

/**
 * y = alpha*A*x + beta*y, enqueued in order on the context of A.
 *
 * @param[in]     alpha  0: neither A nor x is read.
 * @param[in]     a      [nrow, ncol]
 * @param[in]     x      ncol elements of the real type of A, of any rank.
 * @param[in]     beta   0: y is not read.
 * @param[in,out] y      nrow elements of the real type of A, of any rank.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL    a NULL handle
 * @return RUBUS_ESHAPE    x or y has the wrong length
 * @return RUBUS_ETYPE     x or y has another real type than A
 * @return RUBUS_EALIAS    x or the values of A overlap y
 * @return RUBUS_EFOREIGN  operands of different contexts
 * @return RUBUS_ESTATE    an operand is mapped
 * @return RUBUS_EUNSUPPORTED, RUBUS_EDEVMEM, RUBUS_ENOMEM, RUBUS_ELOST, RUBUS_EFORKED
 * @error   The sum of a row depends on the row alone, and is the same to the bit on any
 *          number of threads. Rows of up to 256 entries are summed in order; longer ones
 *          in segments of 4096 entries, each in 32 interleaved lanes that are joined as a
 *          tree, the segments in order.
 * @threads Any thread.
 * @owner   Keeps A, x, y alive until the product is done.
 * @source  Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., 3.4-3.5
 */
RUBUS_API rubus_status rubus_spmv(double alpha, rubus_csr *a, rubus_array *x, double beta,
                                  rubus_array *y) RUBUS_CHECKED;

/** y = alpha*A'*x + beta*y: x has nrow elements, y has ncol. The transpose is made at the
 *  first such product, and its values again after those of A changed.
 *  @return as rubus_spmv
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_spmv_transposed(double alpha, rubus_csr *a, rubus_array *x,
                                             double beta, rubus_array *y) RUBUS_CHECKED;

/** A dense matrix in an array of any rank: element (i, j) is element number i + j*ld
 *  (by columns) or i*ld + j (by rows) of the array. */
typedef struct rubus_dense {
    rubus_array *array;
    int64_t nrow;
    int64_t ncol;
    int64_t ld;     /**< leading dimension; 0: nrow by columns, ncol by rows */
    int32_t layout; /**< RUBUS_COLUMN_MAJOR or RUBUS_ROW_MAJOR */
    int32_t reserved0;
} rubus_dense;

static inline rubus_dense rubus_dense_columns(rubus_array *array, int64_t nrow,
                                              int64_t ncol, int64_t ld)
{
    rubus_dense dense = {array, nrow, ncol, ld, RUBUS_COLUMN_MAJOR, 0};
    return dense;
}

static inline rubus_dense rubus_dense_rows(rubus_array *array, int64_t nrow, int64_t ncol,
                                           int64_t ld)
{
    rubus_dense dense = {array, nrow, ncol, ld, RUBUS_ROW_MAJOR, 0};
    return dense;
}

/**
 * Y = alpha*A*X + beta*Y. Each column of Y is what rubus_spmv gives of that column of X,
 * to the bit. Elements between the columns (or rows) of Y keep their values.
 *
 * @param[in]     x  [ncol, k] by columns or by rows
 * @param[in,out] y  [nrow, k] by columns or by rows, whatever x is
 * @return as rubus_spmv; RUBUS_ESHAPE also for a leading dimension that is too small, and
 *         an array that is too short
 * @threads Any thread.
 */
RUBUS_API rubus_status rubus_spmm(double alpha, rubus_csr *a, rubus_dense x, double beta,
                                  rubus_dense y) RUBUS_CHECKED;

/** Y = alpha*A'*X + beta*Y: X is [nrow, k], Y is [ncol, k].
 *  @return as rubus_spmm
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_spmm_transposed(double alpha, rubus_csr *a, rubus_dense x,
                                             double beta, rubus_dense y) RUBUS_CHECKED;

/** Inspects the matrix now and not at its first product, which takes the time of a few
 *  products. rubus_csr_info then says what was chosen.
 *  @return RUBUS_OK, RUBUS_EINVAL, RUBUS_EDEVMEM, RUBUS_ENOMEM, RUBUS_ELOST,
 *          RUBUS_EFORKED
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_csr_optimize(rubus_csr *csr) RUBUS_CHECKED;

/* --- compressed columns ----------------------------------------------------------- */

/** Storage by columns. It has no products: convert it with rubus_csc_to_csr. */
typedef struct rubus_csc rubus_csc;

/** As rubus_csr_create_csc, but the matrix stays stored by columns, rows sorted.
 *  @return as rubus_csr_create_csc
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_csc_create(rubus_context *context, int32_t index,
                                        int32_t real, int64_t nrow, int64_t ncol,
                                        int64_t nnz, const void *colptr,
                                        const void *rowval, const void *nzval,
                                        rubus_csc **out_csc) RUBUS_CHECKED;

/** NULL allowed. @threads Any thread. */
RUBUS_API void rubus_csc_destroy(rubus_csc *csc);

/** [ncol + 1] indices on the device. Lives as long as the matrix.
 *  @return NULL for NULL @threads Any thread. */
RUBUS_API rubus_array *rubus_csc_colptr(const rubus_csc *csc);
/** [nnz] indices on the device. Lives as long as the matrix.
 *  @return NULL for NULL @threads Any thread. */
RUBUS_API rubus_array *rubus_csc_rowval(const rubus_csc *csc);
/** [nnz] values on the device, which kernels may write. Lives as long as the matrix.
 *  @return NULL for NULL @threads Any thread. */
RUBUS_API rubus_array *rubus_csc_nzval(const rubus_csc *csc);

/** The same matrix by rows, with the values that the device has now; waits.
 *  @return as rubus_csr_create
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_csc_to_csr(rubus_csc *csc,
                                        rubus_csr **out_csr) RUBUS_CHECKED;

/** Always refused: names the conversion.
 *  @return RUBUS_EUNSUPPORTED
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_csc_spmv(double alpha, rubus_csc *a, rubus_array *x,
                                      double beta, rubus_array *y) RUBUS_CHECKED;
/** Always refused: names the conversion.
 *  @return RUBUS_EUNSUPPORTED
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_csc_spmm(double alpha, rubus_csc *a, rubus_dense x,
                                      double beta, rubus_dense y) RUBUS_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
