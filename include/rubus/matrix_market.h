/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_MATRIX_MARKET_H
#define RUBUS_MATRIX_MARKET_H
/**
 * Matrix Market files (.mtx, also compressed by gzip).
 *
 * rubus_csr_create_file and rubus_csr_write are for matrices of a context. The other
 * calls work on the host alone and need no context. Numbers are read and written in the C
 * locale whatever the process's locale is. Reading is correctly rounded, writing gives
 * the shortest decimal that reads back as the same number.
 */
#include <rubus/sparse.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The matrix of a Matrix Market file: rubus_mm_read, then rubus_csr_create_coo.
 *
 * @param index  RUBUS_I32 or RUBUS_I64; 0: RUBUS_I32.
 * @param real   RUBUS_F32 or RUBUS_F64; 0: RUBUS_F64.
 * @param path   A regular file.
 * @return as rubus_mm_read without options.complex, and as rubus_csr_create_coo
 * @threads Any thread.
 * @owner   Holds the context. Destroy with rubus_csr_destroy.
 */
RUBUS_API rubus_status rubus_csr_create_file(rubus_context *context, int32_t index,
                                             int32_t real, const char *path,
                                             rubus_csr **out_csr) RUBUS_CHECKED;

/**
 * Writes the mirror of a matrix as rubus_mm_write does. (Values that the device changed:
 * rubus_csr_pull first.)
 *
 * @param symmetry  RUBUS_MM_GENERAL or RUBUS_MM_SYMMETRIC; 0: RUBUS_MM_GENERAL.
 * @param comment   As in rubus_mm_csr; may be NULL.
 * @return as rubus_mm_write
 * @threads One thread at a time uses the mirror's values.
 */
RUBUS_API rubus_status rubus_csr_write(const char *path, rubus_csr *csr, int32_t symmetry,
                                       const char *comment) RUBUS_CHECKED;

/* --- files and the host ------------------------------------------------------------- */

/** Format of a file. */
#define RUBUS_MM_COORDINATE 1 /**< the stored entries, one a line, in any order */
#define RUBUS_MM_ARRAY 2      /**< all entries, by columns */

/** Field of a file: what its values are. */
#define RUBUS_MM_REAL 1 /**< also written as double */
#define RUBUS_MM_INTEGER 2
#define RUBUS_MM_PATTERN 3 /**< no values: each entry counts as 1 */
#define RUBUS_MM_COMPLEX 4

/** Symmetry of a file: all but GENERAL store one triangle. */
#define RUBUS_MM_GENERAL 1
#define RUBUS_MM_SYMMETRIC 2
#define RUBUS_MM_SKEW 3
#define RUBUS_MM_HERMITIAN 4

/** How a file is read. Zero means the default. */
typedef struct rubus_mm_options {
    size_t struct_size; /**< set by the caller */
    int32_t real;       /**< of values: RUBUS_F64 (default) or RUBUS_F32 */
    int32_t index;      /**< of row and col: RUBUS_I32 (default) or RUBUS_I64 */
    int32_t complex;    /**< 1: complex files are read too, else refused */
    int32_t dense;      /**< 1: a general array file gives values alone, see rubus_mm */
} rubus_mm_options;

/**
 * A matrix as a list of its entries, in the order of the file. Made by rubus_mm_read,
 * freed by rubus_mm_destroy; members may be added at its end.
 *
 * Entries off the diagonal of a file that stores one triangle are followed by their
 * mirror image. The same place may come more than once: its values add up. Entries with
 * the value 0 are entries.
 */
typedef struct rubus_mm {
    int64_t nrow;
    int64_t ncol;
    int64_t n;         /**< entries, mirror images included */
    int64_t nfile;     /**< entries in the file */
    int64_t noverflow; /**< values in the file too large for the type: read as infinite */
    int32_t format;    /**< RUBUS_MM_COORDINATE or RUBUS_MM_ARRAY */
    int32_t field;     /**< RUBUS_MM_REAL, ... */
    int32_t symmetry;  /**< RUBUS_MM_GENERAL, ... */
    int32_t real;      /**< type of value: RUBUS_F32 or RUBUS_F64 */
    int32_t index;     /**< type of row and col: RUBUS_I32 or RUBUS_I64 */
    int32_t reserved0;
    void *row;   /**< [n] From 0. NULL if n is 0, and for a general array file read with
                    options.dense */
    void *col;   /**< [n] From 0; as row */
    void *value; /**< [n] Complex: [n][2], real and imaginary part. NULL if n is 0 */
} rubus_mm;

/**
 * Reads a Matrix Market file, plain or compressed by gzip (known by its first bytes, not
 * by its name), as a stream. Memory grows with the entries that were read, never with
 * what the file only declares.
 *
 * Taken: lines that end in LF, CR LF or CR, of any length for comments and up to 16 MiB
 * for others; comments and blank lines anywhere behind the banner; words of the banner in
 * any letter case; the fields real, double, integer, unsigned-integer, pattern, and on
 * request complex; exponents after e, E, d or D; inf and nan as words.
 *
 * @param path     A regular file.
 * @param options  NULL for the defaults.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL   NULL, an unknown type in the options
 * @return RUBUS_EIO      the file cannot be read, or is no regular file
 * @return RUBUS_EFORMAT  what it holds is no matrix, or a complex one and options.complex
 *                        is 0; the text begins with FILE:LINE: and says what stands there
 *                        and what was needed. Or the gzip data are damaged or cut short
 * @return RUBUS_ELIMIT   a size, or the number of entries, is larger than the index type
 *                        can count
 * @return RUBUS_ENOMEM
 * @threads Any thread.
 * @owner   The caller: rubus_mm_destroy.
 * @source  Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, NISTIR 5935
 */
RUBUS_API rubus_status rubus_mm_read(const char *path, const rubus_mm_options *options,
                                     rubus_mm **out_mm) RUBUS_CHECKED;

/** NULL allowed. @threads Any thread. */
RUBUS_API void rubus_mm_destroy(rubus_mm *mm);

/**
 * The whole matrix by columns: element (i, j) goes to out[i + j*ld]. What has no entry is
 * 0, entries of the same place add up. Elements between the columns keep their values.
 *
 * @param mm   Real (any field but complex).
 * @param ld   At least nrow.
 * @param out  [ncol][ld] Of the type mm->real.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL       NULL, a complex matrix
 * @return RUBUS_ESHAPE       ld is less than nrow
 * @threads Any thread.
 */
RUBUS_API rubus_status rubus_mm_dense(const rubus_mm *mm, int64_t ld,
                                      void *out) RUBUS_CHECKED;

/** A sparse matrix to be written: compressed rows on the host. Zero means the default. */
typedef struct rubus_mm_csr {
    size_t struct_size; /**< set by the caller */
    int64_t nrow;
    int64_t ncol;
    int64_t nnz;
    int32_t index;      /**< of rowptr and colval: RUBUS_I32 (default) or RUBUS_I64 */
    int32_t real;       /**< of nzval: RUBUS_F64 (default) or RUBUS_F32 */
    const void *rowptr; /**< [nrow + 1] From 0 to nnz, ascending. NULL if nrow is 0 */
    const void *colval; /**< [nnz] From 0. SYMMETRIC: ascending in every row */
    const void *nzval;  /**< [nnz] NULL: the file has the field pattern */
    int32_t symmetry;   /**< RUBUS_MM_GENERAL (default), or RUBUS_MM_SYMMETRIC */
    int32_t reserved0;
    const char *comment; /**< behind the banner, '%' before each of its lines; or NULL */
} rubus_mm_csr;

/**
 * Writes a sparse matrix in the coordinate format, by rows; compressed if the name ends
 * in .gz. The file appears whole or not at all.
 *
 * With RUBUS_MM_SYMMETRIC the lower triangle is written, after a check that the upper one
 * has the same entries with the same values.
 *
 * @return RUBUS_OK
 * @return RUBUS_EINVAL  NULL, an unknown type or symmetry, a negative size, or a
 *                       structure that is none; the text names row and entry
 * @return RUBUS_ESHAPE  symmetric, and nrow is not ncol, or an entry has no equal on the
 *                       other side; the text names it
 * @return RUBUS_EIO     the file cannot be written
 * @return RUBUS_ENOMEM
 * @threads Any thread.
 */
RUBUS_API rubus_status rubus_mm_write(const char *path,
                                      const rubus_mm_csr *csr) RUBUS_CHECKED;

/**
 * Writes a dense matrix in the array format; compressed if the name ends in .gz. The file
 * appears whole or not at all.
 *
 * @param real     Type of the values: RUBUS_F32 or RUBUS_F64.
 * @param ld       At least nrow; 0 counts as nrow.
 * @param value    [ncol][ld] By columns. May be NULL if nrow or ncol is 0.
 * @param comment  As in rubus_mm_csr; may be NULL.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL  NULL, an unknown type, a negative size
 * @return RUBUS_ESHAPE  ld is less than nrow
 * @return RUBUS_EIO     the file cannot be written
 * @return RUBUS_ENOMEM
 * @threads Any thread.
 */
RUBUS_API rubus_status rubus_mm_write_array(const char *path, int32_t real, int64_t nrow,
                                            int64_t ncol, int64_t ld, const void *value,
                                            const char *comment) RUBUS_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
