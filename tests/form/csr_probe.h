/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_CSR_PROBE_H
#define RUBUS_TESTS_CSR_PROBE_H
/* For tests of matrices of forms. Include after check.h and config.h. */
#include "tests/form/form_probe.h"

static const int csr_hows[] = {RUBUS_FILL_ROWS, RUBUS_FILL_SCATTER, RUBUS_FILL_GATHER,
                               RUBUS_FILL_HOST, RUBUS_FILL_SEARCH};
enum { CSR_HOWS = sizeof csr_hows / sizeof csr_hows[0] };

static inline rubus_csr *csr_make(rubus_form *form, rubus_constraint *bc, int32_t mode)
{
    rubus_csr *csr = NULL;
    ok(rubus_form_matrix(form, bc, mode, &csr));
    return csr;
}

static inline rubus_csr_info csr_info(rubus_csr *csr)
{
    rubus_csr_info info = {.struct_size = sizeof info};
    ok(rubus_csr_info_get(csr, &info));
    return info;
}

/* The device's values, malloc'ed. */
static inline double *csr_values(rubus_csr *csr)
{
    return probe_numbers(rubus_csr_nzval(csr));
}

/* Every element of a dense matrix; those that are not stored are 0. */
static inline void csr_is(rubus_csr *csr, const double *want, double tol,
                          const char *what)
{
    const rubus_csr_info info = csr_info(csr);
    double *value = csr_values(csr);
    for (int64_t i = 0; i < info.nrow; i++) {
        for (int64_t j = 0; j < info.ncol; j++) {
            const int64_t at = rubus_csr_position(csr, i, j);
            const double got = at < 0 ? 0 : value[at];
            const double expected = want[i * info.ncol + j];
            ck_assert_msg(fabs(got - expected) <= tol,
                          "%s: entry %lld, %lld is %.17g, not %g", what, (long long)i,
                          (long long)j, got, expected);
        }
    }
    free(value);
}

/* The values, within rtol of the largest one; 0: the same bits. */
static inline void csr_values_are(rubus_csr *csr, const double *want, double rtol,
                                  const char *what)
{
    double *value = csr_values(csr);
    const int64_t nnz = csr_info(csr).nnz;
    double scale = 0;
    for (int64_t k = 0; k < nnz; k++) {
        scale = fabs(want[k]) > scale ? fabs(want[k]) : scale;
    }
    for (int64_t k = 0; k < nnz; k++) {
        ck_assert_msg(fabs(value[k] - want[k]) <= rtol * scale,
                      "%s: value %lld is %.17g, not %.17g", what, (long long)k, value[k],
                      want[k]);
    }
    free(value);
}

/* So that a filling that leaves something out shows. */
static inline void csr_spoil(rubus_csr *csr)
{
    ok(rubus_array_fill(rubus_csr_nzval(csr), 1000));
}

#endif
