/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices of forms by tables of positions: the table of a known form entry by entry, and
 * random forms against dense matrices, by atomic additions, by gathering and on the host,
 * for tables of several strides. The owners of rows give the same bits as gathering.
 */
#include "config.h"

#include "tests/form/form_setting.h"
#include "tests/support/suite.h"

#include <stdio.h>

static setting shared;
static pattern rows;

/* Contributions of a point. */
static int width_of(const rk_form *form)
{
    int n = 0;
    for (int32_t t = 0; t < form->nterm; t++) {
        n += form->term[t].ntest * form->term[t].ntrial;
    }
    return n;
}

static arguments table_arguments(const setting *s, int64_t stride)
{
    arguments a = {.stride = stride, .nnz = rows.rowptr[unknowns(s)]};
    a.slots = padded(s, stride) * width_of(s->run.form);
    ck_assert_int_le(a.slots, MODEL_SLOTS);
    a.given[RK_LEAF_ROWPTR] = rows.rows;
    a.given[RK_LEAF_COLVAL] = rows.columns;
    return a;
}

/* --- a form that is known ----------------------------------------------------------- */

/* inner_x(Dm(u), Dm(v)) on the points 0, 1, 3, 5. */
static void known_form(setting *s, const char *backend)
{
    static const model_axis axis = {.n = 4,
                                    .x = {0, 1, 3, 5},
                                    .h = {1, 1, 2, 2},
                                    .f = {1, 2, 2, 2},
                                    .s = {1, 1.5, 2},
                                    .w = {0.5, 1.5, 2, 1},
                                    .a = {0, 1, 2, 2}};
    memset(s, 0, sizeof(*s));
    s->m.ndim = 1;
    s->m.ncomponent = 1;
    s->m.npoint = 4;
    s->m.axis[0] = axis;
    form_open(&s->run, backend, RUBUS_F64);
    const rk_form_desc desc = {1, 1, 1, 0, NULL};
    form_make(&s->run, "form a(trial u, test v) = inner_plus(Dm(u), Dm(v));", &desc);
    make_tables(s);
}

static void known_table(setting *s, int64_t stride, rk_fix_mode mode, int32_t *table)
{
    s->mode = mode;
    s->faces[0] = 3; /* both ends */
    for (int p = 0; p < 4; p++) {
        s->fixed[0][p] = mode != RK_FIX_NONE && (p == 0 || p == 3);
    }
    make_pattern(s, &rows);
    static const int32_t rowptr[5] = {0, 2, 5, 8, 10};
    static const int32_t colval[10] = {0, 1, 0, 1, 2, 1, 2, 3, 2, 3};
    ck_assert_mem_eq(rows.rowptr, rowptr, sizeof(rowptr));
    ck_assert_mem_eq(rows.colval, colval, sizeof(colval));
    arguments a = table_arguments(s, stride);
    rk_form_kernel kernel = run_job(s, RK_JOB_POSITIONS, &a);
    ck_assert_int_eq(kernel.nterm, 1);
    ck_assert_int_eq(kernel.width[0], 4);
    read_index(job_array(&kernel, &a, RK_LEAF_POSITION, 0), table);
    end_job(&kernel, &a);
    end_pattern(&rows);
}

static const char *const modes[] = {"NONE", "ROWS", "SYM"};

START_TEST(test_case_10_19_table)
{
    static const int32_t want[3][16] = {
        {-1, -1, -1, 0, 0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9},
        {-1, -1, -1, -1, -1, -1, 2, 3, 3, 4, 5, 6, 6, 7, -1, -1},
        {-1, -1, -1, -1, -1, -1, -1, 3, 3, 4, 5, 6, 6, -1, -1, -1},
    };
    setting *s = &shared;
    known_form(s, "reference");
    for (int mode = 0; mode < 3; mode++) {
        int32_t got[16];
        known_table(s, 1, (rk_fix_mode)mode, got);
        for (int i = 0; i < 16; i++) {
            ck_assert_msg(got[i] == want[mode][i], "%s: point %d, %d: %d, expected %d",
                          modes[mode], i / 4, i % 4, (int)got[i], (int)want[mode][i]);
        }
    }
    end_form(s);
}
END_TEST

START_TEST(test_case_10_19_table_of_stride_2)
{
    static const int32_t want[16] = {-1, -1, -1, -1, -1, 2,  -1, 3,
                                     3,  6,  4,  7,  5,  -1, 6,  -1};
    setting *s = &shared;
    int32_t got[16];
    known_form(s, "reference");
    known_table(s, 2, RK_FIX_ROWS, got);
    for (int i = 0; i < 16; i++) {
        ck_assert_msg(got[i] == want[i], "%d: %d, expected %d", i, (int)got[i],
                      (int)want[i]);
    }
    end_form(s);
}
END_TEST

/* Of 4 points with a stride of 3 there are 6: the last two give nothing. */
START_TEST(test_trap_10_table_past_the_points_is_negative)
{
    setting *s = &shared;
    int32_t got[24];
    known_form(s, "reference");
    known_table(s, 3, RK_FIX_NONE, got);
    for (int i = 12; i < 24; i++) { /* points 3, 4, 5 */
        const int lane = i % 3;
        ck_assert_msg(lane == 0 ? got[i] == 6 + (i - 12) / 3 : got[i] == -1, "%d: %d", i,
                      (int)got[i]);
    }
    end_form(s);
}
END_TEST

/* A matrix that lacks an entry: its term is told, and nothing is taken for it. */
START_TEST(table_of_another_pattern_tells_the_term)
{
    setting *s = &shared;
    known_form(s, "reference");
    const rk_form_desc desc = {1, 1, 1, 0, NULL};
    make_pattern(s, &rows);
    form_make(&s->run,
              "form a(trial u, test v) = inner_h(u, v) + inner_h(shift_x(u, 2), v);",
              &desc);
    end_tables(s);
    make_tables(s);
    arguments a = table_arguments(s, 1);
    rk_form_kernel kernel = run_job(s, RK_JOB_POSITIONS, &a);
    int32_t got[8];
    read_index(job_array(&kernel, &a, RK_LEAF_POSITION, 0), got);
    static const int32_t want[8] = {0, 3, 6, 9, -3, -3, -1, -1};
    for (int i = 0; i < 8; i++) {
        ck_assert_msg(got[i] == want[i], "%d: %d, expected %d", i, (int)got[i],
                      (int)want[i]);
    }
    end_job(&kernel, &a);
    end_pattern(&rows);
    end_form(s);
}
END_TEST

/* --- random forms ------------------------------------------------------------------ */

static double by_rows[MODEL_ENTRIES];

static void expect_values(setting *s, const double *nzval, const char *what)
{
    for (int i = 0; i < unknowns(s); i++) {
        for (int32_t k = rows.rowptr[i]; k < rows.rowptr[i + 1]; k++) {
            const int j = rows.colval[k];
            expect_near(s, nzval[k], s->matrix[i][j], s->scale[i][j], what, i, j);
        }
    }
}

static void fill_by_rows(setting *s)
{
    arguments a = table_arguments(s, 1);
    rk_form_kernel kernel = run_job(s, RK_JOB_FILL, &a);
    real_read(job_array(&kernel, &a, RK_LEAF_NZVAL, 0), by_rows);
    end_job(&kernel, &a);
}

static void check_table(setting *s, const int32_t *table, int64_t stride)
{
    const int64_t width = width_of(s->run.form);
    int64_t base = 0;
    for (int32_t t = 0; t < s->run.form->nterm; t++) {
        const int64_t k = s->run.form->term[t].ntest * s->run.form->term[t].ntrial;
        for (int64_t p = s->m.npoint; p < padded(s, stride); p++) {
            for (int64_t i = 0; i < k; i++) {
                const int64_t at = base + (p / stride * k + i) * stride + p % stride;
                ck_assert_msg(table[at] == -1, "past the points: %d\n%s", (int)table[at],
                              s->m.text);
            }
        }
        base += padded(s, stride) * k;
    }
    for (int64_t i = 0; i < padded(s, stride) * width; i++) {
        ck_assert_msg(table[i] >= -1 && table[i] < rows.rowptr[unknowns(s)],
                      "place %d of the table: %d\n%s", (int)i, (int)table[i], s->m.text);
    }
}

static void check_kernel(setting *s, rk_form_job job, arguments *a, bool same)
{
    static double nzval[MODEL_ENTRIES];
    rk_form_kernel kernel = run_job(s, job, a);
    rubus_array *values = a->given[RK_LEAF_NZVAL];
    real_read(values, nzval);
    expect_values(s, nzval, job == RK_JOB_GATHER ? "gather" : "scatter");
    for (int32_t k = 0; k < a->nnz && same; k++) {
        ck_assert_msg(nzval[k] == by_rows[k],
                      "entry %d gathered: %.17g, by rows %.17g\n%s", (int)k, nzval[k],
                      by_rows[k], s->m.text);
    }
    end_job(&kernel, a);
}

/* Contributions and their places, added up here. */
static void check_parts(setting *s, const arguments *of)
{
    static int32_t row[MODEL_SLOTS];
    static int32_t column[MODEL_SLOTS];
    static double part[MODEL_SLOTS];
    static double sum[MODEL_UNKNOWNS][MODEL_UNKNOWNS];
    arguments a = *of;
    a.given[RK_LEAF_POSITION] = NULL;
    rk_form_kernel kernel = run_job(s, RK_JOB_PAIRS, &a);
    read_index(job_array(&kernel, &a, RK_LEAF_POSITION, 0), row);
    read_index(job_array(&kernel, &a, RK_LEAF_POSITION, 1), column);
    end_job(&kernel, &a);
    a.given[RK_LEAF_POSITION] = of->given[RK_LEAF_POSITION];
    kernel = run_job(s, RK_JOB_PARTS, &a);
    real_read(job_array(&kernel, &a, RK_LEAF_PART, 0), part);
    end_job(&kernel, &a);
    memset(sum, 0, sizeof(sum));
    for (int64_t i = 0; i < a.slots; i++) {
        ck_assert_msg(row[i] >= 0 ? column[i] >= 0 : column[i] == -1 && part[i] == 0,
                      "%d, %d: %g", (int)row[i], (int)column[i], part[i]);
        if (row[i] >= 0) {
            sum[row[i]][column[i]] += part[i];
        }
    }
    for (int i = 0; i < unknowns(s); i++) {
        sum[i][i] += s->fixed[i / s->m.npoint][i % s->m.npoint] ? 1 : 0;
        for (int j = 0; j < unknowns(s); j++) {
            expect_near(s, sum[i][j], s->matrix[i][j], s->scale[i][j], "parts", i, j);
        }
    }
}

static rubus_array *garbage(setting *s, int64_t n)
{
    static double x[MODEL_ENTRIES];
    for (int64_t k = 0; k < n; k++) {
        x[k] = 1234;
    }
    return real_array(s->run.context, s->run.real, RUBUS_SHAPE(n), x);
}

static void check_stride(setting *s, int64_t stride)
{
    static int32_t table[MODEL_SLOTS];
    arguments a = table_arguments(s, stride);
    rubus_array *positions = index_array(&s->run, a.slots);
    a.given[RK_LEAF_POSITION] = positions;
    rk_form_kernel kernel = run_job(s, RK_JOB_POSITIONS, &a);
    end_job(&kernel, &a);
    read_index(positions, table);
    check_table(s, table, stride);
    check_parts(s, &a);
    a.given[RK_LEAF_NZVAL] = garbage(s, a.nnz);
    check_kernel(s, RK_JOB_GATHER, &a, true);
    rubus_array_destroy(a.given[RK_LEAF_NZVAL]);
    a.given[RK_LEAF_NZVAL] = garbage(s, a.nnz);
    kernel = run_job(s, RK_JOB_CLEAR, &a);
    end_job(&kernel, &a);
    check_kernel(s, RK_JOB_SCATTER, &a, false);
    rubus_array_destroy(a.given[RK_LEAF_NZVAL]);
    rubus_array_destroy(positions);
}

static const int64_t strides[] = {1, 2, 32, 48, 64};

static void check_random(const char *backend, int32_t real, uint32_t seed, int ndim,
                         int ncomponent, int nmode)
{
    setting *s = &shared;
    make_form(s, backend, real, seed, ndim, ncomponent, true);
    for (int mode = 0; mode < nmode; mode++) {
        make_constraints(s, (rk_fix_mode)mode);
        make_pattern(s, &rows);
        fill_by_rows(s);
        expect_values(s, by_rows, "rows");
        check_stride(s, strides[(seed + (uint32_t)mode) % 5]);
        end_pattern(&rows);
    }
    end_form(s);
}

START_TEST(test_trap_10_table_of_any_stride_gives_the_matrix)
{
    static const int ndim[] = {1, 2, 3, 1, 2, 3};
    const int kind = _i % 6;
    const int32_t real = _i % 4 == 3 ? RUBUS_F32 : RUBUS_F64;
    check_random("reference", real, seed_of(2000 + _i), ndim[kind], kind < 3 ? 1 : 2, 3);
}
END_TEST

START_TEST(test_trap_10_table_of_any_stride_on_threads)
{
    check_random("threads", _i % 2 == 0 ? RUBUS_F64 : RUBUS_F32, seed_of(3000 + _i),
                 1 + _i % 3, 1, 2);
}
END_TEST

static Suite *suite_function(void)
{
    Suite *suite = suite_create("form/scatter");
    TCase *known = tcase_create("known");
    tcase_add_test(known, test_case_10_19_table);
    tcase_add_test(known, test_case_10_19_table_of_stride_2);
    tcase_add_test(known, test_trap_10_table_past_the_points_is_negative);
    tcase_add_test(known, table_of_another_pattern_tells_the_term);
    suite_add_tcase(suite, known);
    TCase *tcase = tcase_create("reference");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, test_trap_10_table_of_any_stride_gives_the_matrix, 0, 30);
    suite_add_tcase(suite, tcase);
    TCase *threads = tcase_create("threads");
    tcase_set_timeout(threads, 300);
    tcase_add_loop_test(threads, test_trap_10_table_of_any_stride_on_threads, 0, 3);
    suite_add_tcase(suite, threads);
    return suite;
}

RUBUS_TEST_MAIN("form/scatter", suite_function)
