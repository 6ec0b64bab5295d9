/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sparse matrices of a context from Matrix Market files, and back.
 */
#include "config.h"

#include "libcore/sparse/csr.h"
#include "libcore/sparse/mm.h"

#include <string.h>

RUBUS_API rubus_status rubus_csr_create_file(rubus_context *context, int32_t index,
                                             int32_t real, const char *path,
                                             rubus_csr **out_csr)
{
    if (context == NULL || path == NULL || out_csr == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_csr_create_file: %s is NULL",
                           context == NULL ? "the context"
                           : path == NULL  ? "path"
                                           : "the output argument");
    }
    rubus_mm_options options = {.struct_size = sizeof options};
    options.index = index;
    options.real = real;
    rubus_mm *mm = NULL;
    rubus_status st = rubus_mm_read(path, &options, &mm);
    if (st != RUBUS_OK) {
        return st;
    }
    st = rubus_csr_create_coo(context, mm->index, mm->real, mm->nrow, mm->ncol, mm->n,
                              mm->row, mm->col, mm->value, out_csr);
    if (st != RUBUS_OK) {
        st = rubus__fail_prefix(st, "the matrix of '%s', %lld x %lld with %lld entries",
                                path, (long long)mm->nrow, (long long)mm->ncol,
                                (long long)mm->n);
    }
    rubus_mm_destroy(mm);
    return st;
}

RUBUS_API rubus_status rubus_csr_write(const char *path, rubus_csr *csr, int32_t symmetry,
                                       const char *comment)
{
    if (path == NULL || csr == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_csr_write: %s is NULL",
                           path == NULL ? "path" : "the matrix");
    }
    rubus_mm_csr a;
    memset(&a, 0, sizeof a);
    a.struct_size = sizeof a;
    a.nrow = csr->mirror.nrow;
    a.ncol = csr->mirror.ncol;
    a.nnz = csr->mirror.nnz;
    a.index = csr->mirror.index;
    a.real = csr->mirror.real;
    a.rowptr = csr->mirror.rowptr;
    a.colval = csr->mirror.colval;
    a.nzval = csr->mirror.nzval;
    a.symmetry = symmetry;
    a.comment = comment;
    return rubus_mm_write(path, &a);
}
