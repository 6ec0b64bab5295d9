/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TOOLS_BENCH_MATRIX_H
#define RUBUS_TOOLS_BENCH_MATRIX_H
/* Square matrices that benchmarks of sparse products make for themselves. */
#include <stdbool.h>
#include <stdint.h>

typedef enum bench_kind {
    BENCH_GRID2D, // points of a square and their neighbours along the axes
    BENCH_GRID3D,
    BENCH_RANDOM,    // rows of 10 entries at random columns
    BENCH_DENSE_ROW, // a diagonal and one full row
    BENCH_POWER,     // a full row; the lengths of the others after Pareto, exponent 1.2
    BENCH_SMALL,     // a square of some 100 points a side at the default size
    BENCH_KINDS
} bench_kind;

typedef struct bench_matrix {
    int64_t n; // rows and columns
    int64_t nnz;
    int32_t *rowptr;
    int32_t *colval;
    void *nzval; // float, or double
} bench_matrix;

const char *bench_matrix_name(bench_kind kind);
/* The largest size that 32-bit indices can count. */
enum { BENCH_MATRIX_MOST = 32768 };
/* The same numbers at every call. size: of `rubus bench --n`, 16 to BENCH_MATRIX_MOST.
 * false: out of memory, nothing is left. */
bool bench_matrix_make(bench_kind kind, int64_t size, bool f64, bench_matrix *out);
void bench_matrix_free(bench_matrix *m);

#endif
