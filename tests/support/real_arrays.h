/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_REAL_ARRAYS_H
#define RUBUS_TESTS_REAL_ARRAYS_H
/* Arrays of f64 or f32 from doubles of the test, and back. */
#include <check.h>
#include <rubus/rubus.h>
#include <stdlib.h>

static inline rubus_array *real_array(rubus_context *context, int32_t real,
                                      rubus_shape shape, const double *x)
{
    int64_t n = 1;
    for (int d = 0; d < shape.rank; d++) {
        n *= shape.n[d];
    }
    float *single = malloc(((size_t)n + 1) * sizeof(float));
    for (int64_t k = 0; k < n; k++) {
        single[k] = (float)x[k];
    }
    const void *data = real == RUBUS_F32 ? (const void *)single : (const void *)x;
    rubus_array *array = NULL;
    const rubus_status st = rubus_array_from(context, real, shape, data, &array);
    ck_assert_msg(st == RUBUS_OK, "%s", rubus_error_text());
    free(single);
    return array;
}

static inline void real_read(rubus_array *array, double *x)
{
    const bool f32 = rubus_array_type(array) == RUBUS_F32;
    const int64_t n = rubus_array_count(array);
    float *single = malloc(((size_t)n + 1) * sizeof(float));
    void *to = f32 ? (void *)single : (void *)x;
    const rubus_status st = rubus_array_read(array, to, rubus_array_nbyte(array));
    ck_assert_msg(st == RUBUS_OK, "%s", rubus_error_text());
    for (int64_t k = 0; k < n && f32; k++) {
        x[k] = (double)single[k];
    }
    free(single);
}

#endif
