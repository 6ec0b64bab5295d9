/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_SPARSE_PROBE_H
#define RUBUS_TESTS_SPARSE_PROBE_H
/*
 * For tests of sparse matrices: every index and value type, arrays of them from plain
 * numbers, comparisons of mirrors and device arrays. Include after check.h and config.h.
 */
#include "libcore/sparse/csr.h"
#include "tests/support/backends.h"
#include "tests/support/suite.h"

/* The four kinds of matrices, for loops. */
static const int32_t probe_index[4] = {RUBUS_I32, RUBUS_I64, RUBUS_I32, RUBUS_I64};
static const int32_t probe_real[4] = {RUBUS_F64, RUBUS_F64, RUBUS_F32, RUBUS_F32};

enum { PROBE_ROOM = 4096 };
typedef struct probe_numbers {
    _Alignas(16) char data[PROBE_ROOM * 8];
} probe_numbers;

/* n ints as indices of a type. */
static inline const void *probe_indices(probe_numbers *out, int32_t index, int n,
                                        const int *from)
{
    ck_assert_int_le(n, PROBE_ROOM);
    for (int k = 0; k < n; k++) {
        rubus__index_set(out->data, index, k, from[k]);
    }
    return out->data;
}

/* n doubles as values of a type. */
static inline const void *probe_values(probe_numbers *out, int32_t real, int n,
                                       const double *from)
{
    ck_assert_int_le(n, PROBE_ROOM);
    for (int k = 0; k < n; k++) {
        if (real == RUBUS_F32) {
            ((float *)out->data)[k] = (float)from[k];
        } else {
            ((double *)out->data)[k] = from[k];
        }
    }
    return out->data;
}

static inline double probe_value(const void *from, int32_t real, int64_t k)
{
    return real == RUBUS_F32 ? (double)((const float *)from)[k]
                             : ((const double *)from)[k];
}

/* The mirror, and the arrays on the device, are those of these numbers. */
static inline void probe_csr_is(rubus_csr *csr, int nrow, int ncol, const int *rowptr,
                                const int *colval, const double *nzval)
{
    rubus_csr_info info = {.struct_size = sizeof info};
    rubus_csr_mirror mirror = {.struct_size = sizeof mirror};
    ok(rubus_csr_info_get(csr, &info));
    ok(rubus_csr_mirror_get(csr, &mirror));
    ck_assert_int_eq(info.nrow, nrow);
    ck_assert_int_eq(info.ncol, ncol);
    const int nnz = nrow > 0 ? rowptr[nrow] : 0;
    ck_assert_int_eq(info.nnz, nnz);
    ck_assert_int_eq(rubus_array_type(rubus_csr_rowptr(csr)), info.index);
    ck_assert_int_eq(rubus_array_type(rubus_csr_colval(csr)), info.index);
    ck_assert_int_eq(rubus_array_type(rubus_csr_nzval(csr)), info.real);
    static probe_numbers pointers;
    static probe_numbers columns;
    static probe_numbers values;
    ok(rubus_array_read(rubus_csr_rowptr(csr), pointers.data,
                        rubus_array_nbyte(rubus_csr_rowptr(csr))));
    ok(rubus_array_read(rubus_csr_colval(csr), columns.data,
                        rubus_array_nbyte(rubus_csr_colval(csr))));
    ok(rubus_array_read(rubus_csr_nzval(csr), values.data,
                        rubus_array_nbyte(rubus_csr_nzval(csr))));
    for (int i = 0; i <= nrow; i++) {
        ck_assert_int_eq(rubus__index_get(mirror.rowptr, info.index, i), rowptr[i]);
        ck_assert_int_eq(rubus__index_get(pointers.data, info.index, i), rowptr[i]);
    }
    for (int k = 0; k < nnz; k++) {
        ck_assert_int_eq(rubus__index_get(mirror.colval, info.index, k), colval[k]);
        ck_assert_int_eq(rubus__index_get(columns.data, info.index, k), colval[k]);
        ck_assert_double_eq(probe_value(mirror.nzval, info.real, k), nzval[k]);
        ck_assert_double_eq(probe_value(values.data, info.real, k), nzval[k]);
    }
}

#endif
