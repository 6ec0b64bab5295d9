/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks S: sparse matrices through the library, which calls the plugin's own slots where
 * it has them and kernels where it has not.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_sparse.h"

/* Types of index and value that the device has; the number of pairs. */
static int all_types(int32_t out[4][2])
{
    const rubus_caps *caps = &conform_facts_now()->caps;
    int n = 0;
    for (int32_t index = RUBUS_I32; index <= RUBUS_I64; index++) {
        for (int32_t real = RUBUS_F32; real <= RUBUS_F64; real++) {
            if ((index == RUBUS_I64 && caps->int64 == 0) ||
                (real == RUBUS_F64 && caps->fp64 == 0)) {
                continue;
            }
            out[n][0] = index;
            out[n++][1] = real;
        }
    }
    return n;
}

static void product(rubus_context *context, int which, int32_t index, int32_t real,
                    double alpha, double beta)
{
    sparse_matrix m = sparse_make(which, conform_seed());
    rubus_csr *csr = sparse_upload(context, &m, index, real);
    double *x = sparse_vector(m.ncol, 17);
    double *y = sparse_vector(m.nrow, 18);
    conform_window xw = sparse_put(context, real, x, m.ncol, which % 3);
    conform_window yw = sparse_put(context, real, y, m.nrow, which % 4);
    conform_say("%d-bit indices: ", index == RUBUS_I64 ? 64 : 32);
    for (int round = 0; round < 3; round++) { // the first may prepare, later ones may not
        void *restore = conform_contents(yw.array);
        conform_ok(rubus_spmv(alpha, csr, xw.array, beta, yw.array));
        void *got = conform_contents(yw.array);
        sparse_want(&m, real, alpha, x, beta, y, got, "y = alpha A x + beta y");
        conform_ok(rubus_array_write(yw.array, restore, rubus_array_nbyte(yw.array)));
        free(got);
        free(restore);
    }
    conform_window_check(&xw, "a product, of its x,");
    conform_window_check(&yw, "a product");
    conform_window_destroy(&xw);
    conform_window_destroy(&yw);
    rubus_csr_destroy(csr);
    free(x);
    free(y);
    sparse_free(&m);
    conform_say(NULL);
}

static void spmv_against_oracle(void)
{
    int32_t types[4][2];
    const int n = all_types(types);
    rubus_context *context = conform_open();
    for (int t = 0; t < n; t++) {
        for (int which = 0; which < SPARSE_MATRICES; which++) {
            product(context, which, types[t][0], types[t][1], 1, 0);
        }
    }
    rubus_context_destroy(context);
}

/* --- alpha and beta --------------------------------------------------------------- */

/* beta = 0: y is not read, be it NaN; alpha = 0: neither A nor x. */
static void not_read(rubus_context *context, int32_t real)
{
    sparse_matrix m = sparse_make(1, conform_seed());
    double *x = sparse_vector(m.ncol, 21);
    double *y = conform_memory((size_t)m.nrow * sizeof *y);
    for (int64_t i = 0; i < m.nrow; i++) {
        y[i] = i % 2 == 0 ? NAN : INFINITY;
    }
    rubus_csr *csr = sparse_upload(context, &m, RUBUS_I32, real);
    conform_window xw = sparse_put(context, real, x, m.ncol, 1);
    conform_window yw = sparse_put(context, real, y, m.nrow, 2);
    conform_ok(rubus_spmv(1.5, csr, xw.array, 0, yw.array));
    void *got = conform_contents(yw.array);
    sparse_want(&m, real, 1.5, x, 0, NULL, got, "beta = 0 over NaN in y");
    free(got);
    m.value[m.nnz / 2] = NAN;
    x[m.ncol / 2] = INFINITY;
    rubus_csr *bad = sparse_upload(context, &m, RUBUS_I32, real);
    conform_window bw = sparse_put(context, real, x, m.ncol, 0);
    for (int64_t i = 0; i < m.nrow; i++) {
        y[i] = (double)(i + 1);
    }
    conform_window zw = sparse_put(context, real, y, m.nrow, 3);
    conform_ok(rubus_spmv(0, bad, bw.array, 0.5, zw.array));
    got = conform_contents(zw.array);
    for (int64_t i = 0; i < m.nrow; i++) {
        const double is = conform_real_at(got, real, i);
        conform_true(is == 0.5 * y[i],
                     "alpha = 0, beta = 0.5, NaN in A: row %lld is %g, should be %g",
                     (long long)i, is, 0.5 * y[i]);
    }
    free(got);
    conform_window *all[] = {&xw, &yw, &bw, &zw};
    for (int i = 0; i < 4; i++) {
        conform_window_destroy(all[i]);
    }
    rubus_csr_destroy(csr);
    rubus_csr_destroy(bad);
    free(x);
    free(y);
    sparse_free(&m);
}

static void alpha_beta(void)
{
    static const double factors[][2] = {{1, 1},  {2, 0},    {-1.5, 0.5}, {0.1, -3},
                                        {1, -1}, {1, 1e-3}, {-1, 0}};
    static const int some[] = {0, 1, 4, 5, 6, 9, 11};
    int32_t types[4][2];
    const int n = all_types(types);
    rubus_context *context = conform_open();
    for (int t = 0; t < n; t++) {
        for (int i = 0; i < 7; i++) {
            product(context, some[i], types[t][0], types[t][1], factors[i][0],
                    factors[i][1]);
        }
    }
    not_read(context, RUBUS_F32);
    not_read(context, conform_real());
    rubus_context_destroy(context);
}

/* --- many columns ----------------------------------------------------------------- */

typedef struct block {
    int64_t n; // rows
    int64_t k; // columns
    int64_t ld;
    int32_t layout;
} block;

static int64_t place(const block *b, int64_t i, int64_t j)
{
    return b->layout == RUBUS_COLUMN_MAJOR ? i + j * b->ld : i * b->ld + j;
}

static int64_t block_size(const block *b)
{
    return b->layout == RUBUS_COLUMN_MAJOR ? b->ld * b->k : b->ld * b->n;
}

static rubus_dense dense(const block *b, rubus_array *array)
{
    return b->layout == RUBUS_COLUMN_MAJOR ? rubus_dense_columns(array, b->n, b->k, b->ld)
                                           : rubus_dense_rows(array, b->n, b->k, b->ld);
}

static block make_block(int64_t n, int64_t k, bool rows, int64_t gap)
{
    const block b = {n, k, (rows ? k : n) + gap,
                     rows ? RUBUS_ROW_MAJOR : RUBUS_COLUMN_MAJOR};
    return b;
}

/* Column j of Y is what a single product gives, to the bit; gaps keep their values. */
static void columns_of(rubus_context *context, rubus_csr *csr, const sparse_matrix *m,
                       int32_t real, const block *xb, const block *yb, double beta)
{
    double *x = sparse_vector(block_size(xb), 31);
    double *y = sparse_vector(block_size(yb), 32);
    double *column = conform_memory((size_t)(m->ncol + m->nrow) * sizeof *column);
    conform_window xw = sparse_put(context, real, x, block_size(xb), 1);
    conform_window yw = sparse_put(context, real, y, block_size(yb), 2);
    conform_ok(rubus_spmm(1.25, csr, dense(xb, xw.array), beta, dense(yb, yw.array)));
    void *got = conform_contents(yw.array);
    conform_window_check(&xw, "a product of many columns, of its X,");
    conform_window_check(&yw, "a product of many columns");
    for (int64_t j = 0; j < xb->k; j++) {
        for (int64_t i = 0; i < m->ncol; i++) {
            column[i] = x[place(xb, i, j)];
        }
        conform_window one = sparse_put(context, real, column, m->ncol, 0);
        for (int64_t i = 0; i < m->nrow; i++) {
            column[i] = y[place(yb, i, j)];
            y[place(yb, i, j)] = NAN; // what is left of y are the gaps
        }
        conform_window sum = sparse_put(context, real, column, m->nrow, 0);
        conform_ok(rubus_spmv(1.25, csr, one.array, beta, sum.array));
        void *want = conform_contents(sum.array);
        for (int64_t i = 0; i < m->nrow; i++) {
            const double a = conform_real_at(got, real, place(yb, i, j));
            const double b = conform_real_at(want, real, i);
            conform_true(a == b,
                         "row %lld, column %lld is %.17g, a single product gives "
                         "%.17g",
                         (long long)i, (long long)j, a, b);
        }
        free(want);
        conform_window_destroy(&one);
        conform_window_destroy(&sum);
    }
    for (int64_t i = 0; i < block_size(yb); i++) {
        conform_true(isnan(y[i]) || conform_real_at(got, real, i) == y[i],
                     "number %lld, which lies in a gap between columns, was written",
                     (long long)i);
    }
    free(got);
    free(x);
    free(y);
    free(column);
    conform_window_destroy(&xw);
    conform_window_destroy(&yw);
}

static void spmm_columns(void)
{
    static const int64_t counts[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33};
    static const int some[] = {1, 4, 5};
    int32_t types[4][2];
    const int n = all_types(types);
    rubus_context *context = conform_open();
    const bool interprets = conform_interprets();
    int turn = 0;
    for (int t = 0; t < n; t++) {
        for (int s = 0; s < (interprets ? 1 : 3); s++) {
            sparse_matrix m = sparse_make(some[s], conform_seed());
            rubus_csr *csr = sparse_upload(context, &m, types[t][0], types[t][1]);
            for (int c = t; c < 12; c += interprets ? 5 : s + 1, turn++) {
                const block xb = make_block(m.ncol, counts[c], turn % 2 != 0, turn % 3);
                const block yb =
                    make_block(m.nrow, counts[c], turn / 2 % 2 != 0, turn % 4);
                conform_say("'%s', %s, %lld columns, X by %s with ld %lld, Y by %s with "
                            "ld %lld: ",
                            m.name, conform_type_name(types[t][1]), (long long)counts[c],
                            turn % 2 != 0 ? "rows" : "columns", (long long)xb.ld,
                            turn / 2 % 2 != 0 ? "rows" : "columns", (long long)yb.ld);
                columns_of(context, csr, &m, types[t][1], &xb, &yb,
                           turn % 3 == 0 ? 0 : 0.75);
            }
            rubus_csr_destroy(csr);
            sparse_free(&m);
        }
    }
    conform_say(NULL);
    rubus_context_destroy(context);
}

/* --- structures that are none ----------------------------------------------------- */

static void bad_csr(void)
{
    static const int32_t good_row[] = {0, 2, 3};
    static const int32_t good_col[] = {0, 2, 1};
    static const int32_t rows[][3] = {{0, 3, 2}, {1, 2, 3}, {0, 2, 4}, {0, -1, 3}};
    static const int32_t cols[][3] = {{0, 3, 1}, {0, -1, 1}, {0, INT32_MAX, 1}};
    const float value[] = {1, 2, 3};
    rubus_context *context = conform_open();
    for (int i = 0; i < 7; i++) {
        rubus_csr *csr = NULL;
        const rubus_status st = rubus_csr_create(
            context, RUBUS_I32, RUBUS_F32, 2, 3, 3, i < 4 ? rows[i] : good_row,
            i < 4 ? good_col : cols[i - 4], value, &csr);
        conform_true(st == RUBUS_EINVAL, "structure %d, which is none, gives %s", i,
                     rubus_status_name(st));
        conform_true(rubus_error_text()[0] != '\0' && csr == NULL,
                     "structure %d: no text, or a matrix", i);
    }
    product(context, 1, RUBUS_I32, RUBUS_F32, 1, 0);
    rubus_context_destroy(context);
}

/* --- repeating and properties ----------------------------------------------------- */

static void repeat_bitwise(void)
{
    const int32_t real = conform_real();
    rubus_context *context = conform_open();
    static const int some[] = {1, 4, 5, 11};
    for (int s = 0; s < 4; s++) {
        sparse_matrix m = sparse_make(some[s], conform_seed());
        rubus_csr *csr = sparse_upload(context, &m, RUBUS_I32, real);
        double *x = sparse_vector(m.ncol, 41);
        double *y = sparse_vector(m.nrow, 42);
        conform_window xw = sparse_put(context, real, x, m.ncol, 0);
        conform_window yw = sparse_put(context, real, y, m.nrow, 0);
        void *first = NULL;
        const int rounds = conform_interprets() ? 5 : 50;
        for (int round = 0; round < rounds; round++) {
            conform_ok(rubus_spmv(0.7, csr, xw.array, 0, yw.array));
            void *got = conform_contents(yw.array);
            if (first == NULL) {
                first = got;
                continue;
            }
            conform_say("'%s', round %d: ", m.name, round);
            conform_same(got, first, m.nrow, real, "the same product again");
            free(got);
        }
        free(first);
        conform_window_destroy(&xw);
        conform_window_destroy(&yw);
        rubus_csr_destroy(csr);
        free(x);
        free(y);
        sparse_free(&m);
    }
    conform_say(NULL);
    rubus_context_destroy(context);
}

/* A product by spmv or spmv_transposed, as doubles to be freed. */
static double *times(rubus_context *context, rubus_csr *csr, bool transposed,
                     const double *x, int64_t nx, int64_t ny)
{
    const int32_t real = conform_real();
    double *y = conform_memory((size_t)ny * sizeof *y);
    conform_window xw = sparse_put(context, real, x, nx, 0);
    conform_window yw = sparse_put(context, real, y, ny, 0);
    conform_ok(transposed ? rubus_spmv_transposed(1, csr, xw.array, 0, yw.array)
                          : rubus_spmv(1, csr, xw.array, 0, yw.array));
    void *got = conform_contents(yw.array);
    for (int64_t i = 0; i < ny; i++) {
        y[i] = conform_real_at(got, real, i);
    }
    free(got);
    conform_window_destroy(&xw);
    conform_window_destroy(&yw);
    return y;
}

static void one_matrix_properties(rubus_context *context, int which)
{
    const int32_t real = conform_real();
    const double u = real == RUBUS_F64 ? 0x1p-53 : 0x1p-24;
    sparse_matrix m = sparse_make(which, conform_seed());
    rubus_csr *csr = sparse_upload(context, &m, RUBUS_I32, real);
    double *x = sparse_vector(m.ncol, 51);
    double *z = sparse_vector(m.nrow, 52);
    double *twice = conform_memory((size_t)m.ncol * sizeof *twice);
    for (int64_t i = 0; i < m.ncol; i++) {
        twice[i] = 2 * x[i];
    }
    double *ax = times(context, csr, false, x, m.ncol, m.nrow);
    double *a2x = times(context, csr, false, twice, m.ncol, m.nrow);
    double *atz = times(context, csr, true, z, m.nrow, m.ncol);
    double left = 0;
    double right = 0;
    double size = 0;
    for (int64_t i = 0; i < m.nrow; i++) {
        conform_true(a2x[i] == 2 * ax[i], "'%s': A (2x) is not 2 (A x) in row %lld",
                     m.name, (long long)i);
        left += ax[i] * z[i];
        for (int64_t k = m.rowptr[i]; k < m.rowptr[i + 1]; k++) {
            size += fabs(m.value[k] * x[m.colval[k]] * z[i]);
        }
    }
    for (int64_t i = 0; i < m.ncol; i++) {
        right += atz[i] * x[i];
    }
    const double terms = (double)(m.nnz + m.nrow + m.ncol);
    conform_true(fabs(left - right) <= terms * 2 * u * size,
                 "'%s': (A x, z) is %.17g, (x, A'z) is %.17g", m.name, left, right);
    free(x);
    free(z);
    free(twice);
    free(ax);
    free(a2x);
    free(atz);
    rubus_csr_destroy(csr);
    sparse_free(&m);
}

static void symmetry_linearity(void)
{
    static const int some[] = {0, 1, 2, 3, 4, 6};
    rubus_context *context = conform_open();
    for (int i = 0; i < 6; i++) {
        one_matrix_properties(context, some[i]);
    }
    rubus_csr *one = NULL;
    conform_ok(rubus_csr_create_identity(context, RUBUS_I32, conform_real(), 777, &one));
    double *x = sparse_vector(777, 61);
    double *y = times(context, one, false, x, 777, 777);
    for (int i = 0; i < 777; i++) {
        conform_true(x[i] == y[i], "1 x is not x in row %d", i);
    }
    free(x);
    free(y);
    rubus_csr_destroy(one);
    rubus_context_destroy(context);
}

const conform_check conform_sparse_checks[] = {
    {"S01_spmv_against_oracle", CONFORM_BASIC, 180, 0,
     "products of matrices of every shape, within the bound of their sums",
     spmv_against_oracle},
    {"S02_alpha_beta", CONFORM_BASIC, 180, 0,
     "alpha A x + beta y; with beta 0 y is not read, with alpha 0 neither A nor x",
     alpha_beta},
    {"S03_spmm_columns", CONFORM_BASIC, 240, 0,
     "1 to 33 columns, by rows and by columns, with gaps: each as a single product",
     spmm_columns},
    {"S04_bad_csr", CONFORM_BASIC, 60, 0, "structures that are none are refused",
     bad_csr},
    {"S07_repeat_bitwise", CONFORM_FULL, 120, 0, "50 times the same bits",
     repeat_bitwise},
    {"S08_symmetry_linearity", CONFORM_BASIC, 120, 0,
     "A (2x) = 2 A x, (A x, z) = (x, A'z), 1 x = x", symmetry_linearity},
    {.name = NULL},
};
