/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products with vectors on every backend: numbers of the specification, sums to the bit,
 * what is not read, transposes, everything that is refused.
 */
#include "config.h"

#include <check.h>
#include <math.h>
#include <pthread.h>

#include "tests/sparse/sparse_probe.h"

/* [1 0 2; 0 0 0; 3 4 5] */
static rubus_csr *case_matrix(rubus_context *context, int32_t index, int32_t real)
{
    static probe_numbers rowptr;
    static probe_numbers colval;
    static probe_numbers value;
    rubus_csr *csr = NULL;
    ok(rubus_csr_create(context, index, real, 3, 3, 5,
                        probe_indices(&rowptr, index, 4, (int[]){0, 2, 2, 5}),
                        probe_indices(&colval, index, 5, (int[]){0, 2, 0, 1, 2}),
                        probe_values(&value, real, 5, (double[]){1, 2, 3, 4, 5}), &csr));
    return csr;
}

/* y, of n elements, becomes `want` by a product. */
static void check_spmv(rubus_csr *csr, double alpha, const double *x, int64_t nx,
                       double beta, const double *y, const double *want, int64_t ny)
{
    rubus_context *context = rubus_csr_context(csr);
    const int32_t real = csr->mirror.real;
    rubus_array *dx = probe_vector(context, real, nx, x);
    rubus_array *dy = probe_vector(context, real, ny, y);
    double got[16];
    ok(rubus_spmv(alpha, csr, dx, beta, dy));
    probe_read(dy, got);
    probe_same(got, want, ny, "y");
    rubus_array_destroy(dx);
    rubus_array_destroy(dy);
}

START_TEST(test_case_10_20_has_its_numbers)
{
    rubus_context *context = backends_open(_i);
    for (int kind = 0; kind < 4; kind++) {
        rubus_csr *csr = case_matrix(context, probe_index[kind], probe_real[kind]);
        const double x[3] = {1, 2, 3};
        check_spmv(csr, 1, x, 3, 0, (double[]){4, 5, 6}, (double[]){7, 0, 26}, 3);
        check_spmv(csr, 2, x, 3, 3, (double[]){10, 20, 30}, (double[]){44, 60, 142}, 3);
        check_spmv(csr, -1, x, 3, 1, (double[]){10, 20, 30}, (double[]){3, 20, 4}, 3);
        rubus_csr_destroy(csr);
    }
    backends_finish(context);
}
END_TEST

/* NaN and Inf in y, where it is only written; the numbers are those of case 10.20. */
START_TEST(test_trap_09_beta_zero_does_not_read_y)
{
    rubus_context *context = backends_open(_i);
    const double nan3[3] = {(double)NAN, (double)NAN, (double)INFINITY};
    for (int kind = 0; kind < 4; kind++) {
        rubus_csr *csr = case_matrix(context, probe_index[kind], probe_real[kind]);
        const double x[3] = {1, 2, 3};
        check_spmv(csr, 1, x, 3, 0, nan3, (double[]){7, 0, 26}, 3);
        check_spmv(csr, 2, x, 3, 0, nan3, (double[]){14, 0, 52}, 3);
        rubus_csr_destroy(csr);
    }
    backends_finish(context);
}
END_TEST

/* alpha 0: NaN in A and x is not met. */
START_TEST(alpha_zero_reads_neither_matrix_nor_x)
{
    rubus_context *context = backends_open(_i);
    const double nan3[3] = {(double)NAN, (double)NAN, (double)INFINITY};
    rubus_csr *csr = case_matrix(context, RUBUS_I32, RUBUS_F64);
    ok(rubus_array_fill(rubus_csr_nzval(csr), (double)NAN));
    check_spmv(csr, 0, nan3, 3, 2, (double[]){1, 2, 3}, (double[]){2, 4, 6}, 3);
    check_spmv(csr, 0, nan3, 3, 0, nan3, (double[]){0, 0, 0}, 3);
    check_spmv(csr, 0, nan3, 3, 1, (double[]){1, 2, 3}, (double[]){1, 2, 3}, 3);
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

/* A NaN or Inf of x shows in the rows that have its column, and in no other. */
START_TEST(special_numbers_stay_in_their_rows)
{
    rubus_context *context = backends_open(_i);
    enum { N = 40 };
    // tridiagonal, with one entry of value 0 at (20, 19), and no (7, 8)
    int32_t row[3 * N];
    int32_t col[3 * N];
    double value[3 * N];
    int n = 0;
    for (int i = 0; i < N; i++) {
        for (int j = i - 1; j <= i + 1; j++) {
            if (j >= 0 && j < N && !(i == 7 && j == 8)) {
                row[n] = i;
                col[n] = j;
                value[n++] = i == 20 && j == 19 ? 0 : 1;
            }
        }
    }
    rubus_csr *csr = NULL;
    ok(rubus_csr_create_coo(context, RUBUS_I32, RUBUS_F64, N, N, n, row, col, value,
                            &csr));
    double x[N];
    double y[N] = {0};
    double got[N];
    for (int i = 0; i < N; i++) {
        x[i] = 1;
    }
    x[8] = (double)INFINITY;
    x[19] = (double)INFINITY;
    x[39] = (double)NAN;
    rubus_array *dx = probe_vector(context, RUBUS_F64, N, x);
    rubus_array *dy = probe_vector(context, RUBUS_F64, N, y);
    for (int repeat = 0; repeat < 4; repeat++) {
        ok(rubus_spmv(1, csr, dx, 0, dy));
        probe_read(dy, got);
        for (int i = 0; i < N; i++) {
            const bool inf = i == 8 || i == 9 || i == 18 || i == 19;
            const bool nan = i == 38 || i == 39 || i == 20; // 0 * Inf is NaN
            const double finite = i == 0 || i == 7 ? 2 : 3;
            ck_assert_msg(inf   ? isinf(got[i])
                          : nan ? isnan(got[i])
                                : got[i] == finite,
                          "product %d, row %d: %g", repeat, i, got[i]);
        }
    }
    rubus_array_destroy(dx);
    rubus_array_destroy(dy);
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

/* Lengths on both sides of every limit. Equal to the bit on every backend. */
START_TEST(sums_are_those_of_the_promised_order)
{
    rubus_context *context = backends_open(_i);
    enum { NROW = 11, NCOL = 9001 };
    static const int64_t lengths[NROW] = {0,    1,    255,  256, 257, 31,
                                          4096, 4097, 9001, 33,  0};
    static const double pairs[][2] = {{1, 0}, {2, 0}, {-1, 1}, {0.5, -3}, {0, 2}};
    static double x[NCOL];
    uint64_t seed = 1;
    for (int i = 0; i < NCOL; i++) {
        x[i] = probe_random(&seed);
    }
    for (int kind = 0; kind < 4; kind++) {
        const int32_t real = probe_real[kind];
        rubus_csr *csr =
            probe_rows(context, probe_index[kind], real, NROW, NCOL, lengths, 7);
        rubus_array *dx = probe_vector(context, real, NCOL, x);
        for (int p = 0; p < 5; p++) {
            double y[NROW];
            double got[NROW];
            for (int i = 0; i < NROW; i++) {
                y[i] = i - 5;
            }
            rubus_array *dy = probe_vector(context, real, NROW, y);
            for (int repeat = 0; repeat < 3; repeat++) {
                ok(rubus_spmv(pairs[p][0], csr, dx, pairs[p][1], dy));
                probe_multiply(csr, 1, pairs[p][0], x, pairs[p][1], y);
                probe_read(dy, got);
                probe_same(got, y, NROW, "y");
            }
            rubus_array_destroy(dy);
        }
        rubus_array_destroy(dx);
        rubus_csr_destroy(csr);
    }
    backends_finish(context);
}
END_TEST

/* Case A27: exact in f64; in f32 within 1e-4, which adding in order would miss. */
START_TEST(one_dense_row_is_summed_well)
{
    rubus_context *context = backends_open(_i);
    enum { N = 200000 };
    int32_t *row = malloc(2 * N * sizeof(int32_t));
    int32_t *col = malloc(2 * N * sizeof(int32_t));
    float *one = malloc(2 * N * sizeof(float));
    float *x = malloc(N * sizeof(float));
    int n = 0;
    for (int i = 0; i < N; i++) {
        row[n] = 0;
        col[n++] = i;
        x[i] = (float)(i + 1);
        if (i > 0) {
            row[n] = i;
            col[n++] = i;
        }
    }
    for (int k = 0; k < n; k++) {
        one[k] = 1;
    }
    rubus_csr *csr = NULL;
    rubus_array *dx = NULL;
    rubus_array *dy = NULL;
    ok(rubus_csr_create_coo(context, RUBUS_I32, RUBUS_F32, N, N, n, row, col, one, &csr));
    ok(rubus_array_from(context, RUBUS_F32, RUBUS_SHAPE(N), x, &dx));
    ok(rubus_array_create(context, RUBUS_F32, RUBUS_SHAPE(N), &dy));
    ok(rubus_spmv(1, csr, dx, 0, dy));
    ok(rubus_array_read(dy, x, N * sizeof(float)));
    ck_assert_double_lt(fabs((double)x[0] - 20000100000.0), 1e-6 * 20000100000.0);
    for (int i = 1; i < N; i++) {
        ck_assert(x[i] == (float)(i + 1));
    }
    rubus_array_destroy(dx);
    rubus_array_destroy(dy);
    rubus_csr_destroy(csr);
    free(row);
    free(col);
    free(one);
    free(x);
    backends_finish(context);
}
END_TEST

START_TEST(empty_matrices_scale_y)
{
    rubus_context *context = backends_open(_i);
    const double seven[3] = {7, 7, 7};
    for (int kind = 0; kind < 4; kind++) {
        const int32_t index = probe_index[kind];
        const int32_t real = probe_real[kind];
        rubus_csr *csr = NULL;
        ok(rubus_csr_create_zeros(context, index, real, 3, 0, &csr));
        check_spmv(csr, 1, seven, 0, 0, seven, (double[]){0, 0, 0}, 3);
        check_spmv(csr, 1, seven, 0, 2, seven, (double[]){14, 14, 14}, 3);
        rubus_csr_destroy(csr);
        ok(rubus_csr_create_zeros(context, index, real, 3, 2, &csr));
        check_spmv(csr, 1, seven, 2, 0, seven, (double[]){0, 0, 0}, 3);
        check_spmv(csr, 1, seven, 2, 2, seven, (double[]){14, 14, 14}, 3);
        rubus_csr_destroy(csr);
        ok(rubus_csr_create_zeros(context, index, real, 0, 2, &csr));
        check_spmv(csr, 1, seven, 2, 2, seven, seven, 0);
        rubus_csr_destroy(csr);
        ok(rubus_csr_create_zeros(context, index, real, 0, 0, &csr));
        check_spmv(csr, 1, seven, 0, 2, seven, seven, 0);
        rubus_csr_destroy(csr);
    }
    backends_finish(context);
}
END_TEST

/* Case A29: [3 x 5], x has 3 elements, y has 5; column 2 is empty. */
START_TEST(transposed_products_follow_the_values)
{
    rubus_context *context = backends_open(_i);
    static probe_numbers row;
    static probe_numbers col;
    static probe_numbers value;
    for (int kind = 0; kind < 4; kind++) {
        const int32_t index = probe_index[kind];
        const int32_t real = probe_real[kind];
        rubus_csr *csr = NULL;
        ok(rubus_csr_create_coo(
            context, index, real, 3, 5, 6,
            probe_indices(&row, index, 6, (int[]){0, 0, 1, 1, 2, 2}),
            probe_indices(&col, index, 6, (int[]){0, 3, 2, 4, 0, 3}),
            probe_values(&value, real, 6, (double[]){1, 2, 3, 4, 5, 6}), &csr));
        rubus_array *x = probe_vector(context, real, 3, (double[]){1, 10, 100});
        rubus_array *y =
            probe_vector(context, real, 5, (double[]){(double)NAN, (double)NAN, 1, 1, 1});
        double got[5];
        ok(rubus_spmv_transposed(1, csr, x, 0, y));
        probe_read(y, got);
        probe_same(got, (double[]){501, 0, 30, 602, 40}, 5, "A'x");
        ok(rubus_spmv_transposed(2, csr, x, -1, y));
        probe_read(y, got);
        probe_same(got, (double[]){501, 0, 30, 602, 40}, 5, "2 A'x - y");
        ok(rubus_array_fill(rubus_csr_nzval(csr), 1)); // the device's own values count
        ok(rubus_spmv_transposed(1, csr, x, 0, y));
        probe_read(y, got);
        probe_same(got, (double[]){101, 0, 10, 101, 10}, 5, "of new values");
        fails(rubus_spmv_transposed(1, csr, y, 0, x), RUBUS_ESHAPE,
              "A' has 5 rows and 3 columns|x needs 3 elements|it has 5");
        rubus_array_destroy(x);
        rubus_array_destroy(y);
        rubus_csr_destroy(csr);
    }
    backends_finish(context);
}
END_TEST

/* <A x, y> = <x, A' y>, exactly: small whole numbers. */
START_TEST(transposed_product_is_the_adjoint)
{
    rubus_context *context = backends_open(_i);
    enum { NROW = 50, NCOL = 700 };
    int64_t lengths[NROW];
    for (int i = 0; i < NROW; i++) {
        lengths[i] = i * i % 300;
    }
    rubus_csr *csr = probe_rows(context, RUBUS_I32, RUBUS_F64, NROW, NCOL, lengths, 3);
    double *value = malloc((size_t)csr->mirror.nnz * sizeof(double));
    for (int64_t k = 0; k < csr->mirror.nnz; k++) {
        value[k] = (double)(k % 7 - 3);
    }
    ok(rubus_array_write(rubus_csr_nzval(csr), value,
                         (size_t)csr->mirror.nnz * sizeof(double)));
    double x[NCOL];
    double y[NROW];
    double ax[NROW];
    double aty[NCOL];
    for (int j = 0; j < NCOL; j++) {
        x[j] = j % 5 - 2;
    }
    for (int i = 0; i < NROW; i++) {
        y[i] = i % 3 - 1;
    }
    rubus_array *dx = probe_vector(context, RUBUS_F64, NCOL, x);
    rubus_array *dy = probe_vector(context, RUBUS_F64, NROW, y);
    rubus_array *dax = probe_vector(context, RUBUS_F64, NROW, y);
    rubus_array *daty = probe_vector(context, RUBUS_F64, NCOL, x);
    ok(rubus_spmv(1, csr, dx, 0, dax));
    ok(rubus_spmv_transposed(1, csr, dy, 0, daty));
    probe_read(dax, ax);
    probe_read(daty, aty);
    double left = 0;
    double right = 0;
    for (int i = 0; i < NROW; i++) {
        left += ax[i] * y[i];
    }
    for (int j = 0; j < NCOL; j++) {
        right += x[j] * aty[j];
    }
    ck_assert(left == right);
    ck_assert(left != 0);
    free(value);
    rubus_array_destroy(dx);
    rubus_array_destroy(dy);
    rubus_array_destroy(dax);
    rubus_array_destroy(daty);
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

/* Any rank will do; windows too. */
START_TEST(grids_and_windows_are_vectors)
{
    rubus_context *context = backends_open(_i);
    rubus_csr *csr = NULL;
    rubus_array *x = NULL;
    rubus_array *y = backends_ramp(context, 20, 100);
    rubus_array *window = NULL;
    const double six[6] = {1, 2, 3, 4, 5, 6};
    ok(rubus_csr_create_identity(context, RUBUS_I32, RUBUS_F64, 6, &csr));
    ok(rubus_array_from(context, RUBUS_F64, RUBUS_SHAPE(2, 3), six, &x));
    ok(rubus_array_view(y, 8, RUBUS_SHAPE(3, 1, 2), &window));
    ok(rubus_spmv(2, csr, x, 1, window));
    for (int k = 0; k < 20; k++) {
        const double more = k >= 8 && k < 14 ? 2 * six[k - 8] : 0;
        ck_assert_double_eq(backends_get(y, k), 100 + k + more);
    }
    rubus_array_destroy(window);
    rubus_array_destroy(x);
    rubus_array_destroy(y);
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

START_TEST(wrong_operands_are_refused_before_anything_runs)
{
    rubus_context *context = backends_open(_i);
    rubus_context *other = backends_open(0);
    rubus_csr *csr = case_matrix(context, RUBUS_I32, RUBUS_F64);
    rubus_array *x = backends_ramp(context, 3, 1);
    rubus_array *y = backends_ramp(context, 3, 1);
    rubus_array *four = backends_ramp(context, 4, 1);
    rubus_array *foreign = backends_ramp(other, 3, 1);
    rubus_array *floats = NULL;
    void *p = NULL;
    ok(rubus_array_create(context, RUBUS_F32, RUBUS_SHAPE(3), &floats));
    fails(rubus_spmv(1, NULL, x, 0, y), RUBUS_EINVAL, "rubus_spmv: A is NULL");
    fails(rubus_spmv(1, csr, NULL, 0, y), RUBUS_EINVAL, "x is NULL");
    fails(rubus_spmv(1, csr, x, 0, NULL), RUBUS_EINVAL, "y is NULL");
    fails(rubus_spmv(1, csr, four, 0, y), RUBUS_ESHAPE, "x needs 3 elements|it has 4");
    fails(rubus_spmv(1, csr, x, 0, four), RUBUS_ESHAPE, "y needs 3 elements|it has 4");
    fails(rubus_spmv(1, csr, floats, 0, y), RUBUS_ETYPE, "A has values of f64|x|f32");
    fails(rubus_spmv(1, csr, x, 0, floats), RUBUS_ETYPE, "A has values of f64|y|f32");
    fails(rubus_spmv(1, csr, x, 0, x), RUBUS_EALIAS, "x and y share");
    fails(rubus_spmv(1, csr, foreign, 0, y), RUBUS_EFOREIGN,
          "reference|x|another context");
    fails(rubus_spmv(1, csr, x, 0, foreign), RUBUS_EFOREIGN, "reference|y");
    rubus_array *values = NULL;
    ok(rubus_array_view(rubus_csr_nzval(csr), 0, RUBUS_SHAPE(3), &values));
    fails(rubus_spmv(1, csr, x, 0, values), RUBUS_EALIAS, "y shares memory with A");
    rubus_array_destroy(values);
    ok(rubus_array_map(y, RUBUS_READ, &p));
    fails(rubus_spmv(1, csr, x, 0, y), RUBUS_ESTATE, "mapped");
    ok(rubus_array_unmap(y));
    ok(rubus_array_map(rubus_csr_nzval(csr), RUBUS_READ, &p));
    fails(rubus_spmv(1, csr, x, 0, y), RUBUS_ESTATE, "mapped");
    ok(rubus_array_unmap(rubus_csr_nzval(csr)));
    fails(rubus_csr_optimize(NULL), RUBUS_EINVAL, "matrix is NULL");
    for (int k = 0; k < 3; k++) {
        ck_assert_double_eq(backends_get(y, k), 1 + k);
    }
    rubus_array_destroy(x);
    rubus_array_destroy(y);
    rubus_array_destroy(four);
    rubus_array_destroy(foreign);
    rubus_array_destroy(floats);
    rubus_csr_destroy(csr);
    rubus_context_destroy(other);
    backends_finish(context);
}
END_TEST

/* After the first product nothing moves between host and device. */
START_TEST(products_move_nothing_and_tell_their_path)
{
    rubus_context *context = backends_open(_i);
    enum { NROW = 4, NCOL = 5000 };
    rubus_csr *csr = probe_rows(context, RUBUS_I32, RUBUS_F64, NROW, NCOL,
                                (int64_t[]){3, 5000, 0, 4}, 1);
    rubus_array *x = backends_ramp(context, NCOL, 0);
    rubus_array *y = backends_ramp(context, NROW, 0);
    rubus_csr_info info = {.struct_size = sizeof info};
    ok(rubus_csr_info_get(csr, &info));
    ck_assert_str_eq(info.path, "");
    ok(rubus_csr_optimize(csr));
    ok(rubus_csr_info_get(csr, &info));
    ck_assert_str_ne(info.path, "");
    ck_assert_uint_gt(info.product_bytes, 5007 * 12);
    ok(rubus_spmv(1, csr, x, 0, y));
    rubus_context_counters before = {.struct_size = sizeof before};
    rubus_context_counters after = before;
    ok(rubus_context_counters_get(context, &before));
    for (int k = 0; k < 5; k++) {
        ok(rubus_spmv(1, csr, x, 0.5, y));
    }
    ok(rubus_context_counters_get(context, &after));
    ck_assert_uint_eq(after.write_calls, before.write_calls);
    ck_assert_uint_eq(after.read_calls, before.read_calls);
    ck_assert_uint_eq(after.modules_built, before.modules_built);
    ck_assert_uint_eq(after.live_buffers, before.live_buffers);
    rubus_array_destroy(x);
    rubus_array_destroy(y);
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

typedef struct worker {
    rubus_csr *csr;
    rubus_array *x;
    rubus_array *y;
    rubus_status st;
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    for (int k = 0; k < 30 && w->st == RUBUS_OK; k++) {
        w->st = k % 3 == 0 ? rubus_spmv_transposed(1, w->csr, w->x, 0, w->y)
                           : rubus_spmv(1, w->csr, w->x, 0, w->y);
    }
    return NULL;
}

/* One matrix with long rows, four threads with vectors of their own. */
START_TEST(threads_share_a_matrix)
{
    rubus_context *context = backends_open(_i);
    enum { N = 600, NTHREAD = 4 };
    int64_t lengths[N];
    for (int i = 0; i < N; i++) {
        lengths[i] = i % 100 == 0 ? N : 3;
    }
    rubus_csr *csr = probe_rows(context, RUBUS_I32, RUBUS_F64, N, N, lengths, 5);
    worker w[NTHREAD];
    pthread_t thread[NTHREAD];
    double x[N];
    double want[N];
    double got[N];
    for (int t = 0; t < NTHREAD; t++) {
        w[t] = (worker){csr, backends_ramp(context, N, t), backends_ramp(context, N, 0),
                        RUBUS_OK};
        ck_assert_int_eq(pthread_create(&thread[t], NULL, work, &w[t]), 0);
    }
    for (int t = 0; t < NTHREAD; t++) {
        pthread_join(thread[t], NULL);
        ck_assert_int_eq(w[t].st, RUBUS_OK);
        probe_read(w[t].x, x);
        probe_multiply(csr, 1, 1, x, 0, want);
        probe_read(w[t].y, got);
        probe_same(got, want, N, "y of a thread");
        rubus_array_destroy(w[t].x);
        rubus_array_destroy(w[t].y);
    }
    rubus_csr_destroy(csr);
    backends_finish(context);
}
END_TEST

static Suite *spmv_suite(void)
{
    TCase *tc = tcase_create("spmv");
    backends_add(tc, test_case_10_20_has_its_numbers);
    backends_add(tc, test_trap_09_beta_zero_does_not_read_y);
    backends_add(tc, alpha_zero_reads_neither_matrix_nor_x);
    backends_add(tc, special_numbers_stay_in_their_rows);
    backends_add(tc, sums_are_those_of_the_promised_order);
    backends_add(tc, one_dense_row_is_summed_well);
    backends_add(tc, empty_matrices_scale_y);
    backends_add(tc, transposed_products_follow_the_values);
    backends_add(tc, transposed_product_is_the_adjoint);
    backends_add(tc, grids_and_windows_are_vectors);
    backends_add(tc, wrong_operands_are_refused_before_anything_runs);
    backends_add(tc, products_move_nothing_and_tell_their_path);
    backends_add(tc, threads_share_a_matrix);
    Suite *suite = suite_create("sparse: products with vectors");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("sparse: products with vectors", spmv_suite)
