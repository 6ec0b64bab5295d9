/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A matrix that was read as a list of entries, as a dense one.
 */
#include "config.h"

#include "libcore/sparse/mm.h"

#include <string.h>

static int64_t index_at(const rubus_mm *mm, const void *array, int64_t k)
{
    return mm->index == RUBUS_I64 ? ((const int64_t *)array)[k]
                                  : ((const int32_t *)array)[k];
}

static void add_entries(const rubus_mm *mm, int64_t ld, void *out)
{
    for (int64_t k = 0; k < mm->n; k++) {
        const int64_t at = index_at(mm, mm->row, k) + ld * index_at(mm, mm->col, k);
        if (mm->real == RUBUS_F32) {
            ((float *)out)[at] += ((const float *)mm->value)[k];
        } else {
            ((double *)out)[at] += ((const double *)mm->value)[k];
        }
    }
}

RUBUS_API rubus_status rubus_mm_dense(const rubus_mm *mm, int64_t ld, void *out)
{
    if (mm == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_mm_dense: mm is NULL");
    }
    if (mm->field == RUBUS_MM_COMPLEX) {
        return rubus__fail(RUBUS_EINVAL,
                           "rubus_mm_dense: the matrix is complex, a real one is needed");
    }
    if (ld < mm->nrow) {
        return rubus__fail(RUBUS_ESHAPE,
                           "rubus_mm_dense: the leading dimension %lld is less than the "
                           "%lld rows",
                           (long long)ld, (long long)mm->nrow);
    }
    if (mm->nrow == 0 || mm->ncol == 0) {
        return RUBUS_OK;
    }
    if (out == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_mm_dense: out is NULL");
    }
    const bool values_alone = mm->row == NULL && mm->n > 0;
    const size_t size = rubus__type_size(mm->real);
    const size_t column = (size_t)mm->nrow * size;
    for (int64_t j = 0; j < mm->ncol; j++) {
        char *const to = (char *)out + (size_t)j * (size_t)ld * size;
        if (values_alone) {
            memcpy(to, (const char *)mm->value + (size_t)j * column, column);
        } else {
            memset(to, 0, column);
        }
    }
    if (!values_alone) {
        add_entries(mm, ld, out);
    }
    return RUBUS_OK;
}
