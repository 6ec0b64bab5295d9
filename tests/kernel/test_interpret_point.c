/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter on per-point kernels: control flow, locals, ranges, the test of every
 * index, races between points of a checked program; and the interpreter without memory.
 */
#include "config.h"

#include "tests/kernel/interpret_run.h"
#include "tests/support/suite.h"

#include <math.h>

static rubus_status run_checked(const char *text, const run_arg *args)
{
    rk_program *program = run_compile(text, run_options(RUBUS_F64, RUBUS_I64, true));
    rubus_status st = run_number(program, 0, args, NULL, NULL);
    rk_program_destroy(program);
    return st;
}

static void assert_error(const char *part)
{
    ck_assert_msg(strstr(rubus_error_text(), part) != NULL, "`%s` is not in: %s", part,
                  rubus_error_text());
}

START_TEST(csr_product_runs_loops_and_indices)
{
    /* [1 2 0; 0 0 0; 3 0 4] * (1, 10, 100) */
    int32_t rowptr[] = {0, 2, 2, 4};
    int32_t colval[] = {0, 1, 0, 2};
    double nzval[] = {1, 2, 3, 4};
    double x[] = {1, 10, 100};
    double y[] = {1, 1, 1};
    run_arg args[] = {RUN_ARRAY1(y, 3),     RUN_ARRAY1(rowptr, 4), RUN_ARRAY1(colval, 4),
                      RUN_ARRAY1(nzval, 4), RUN_ARRAY1(x, 3),      RUN_REAL(2),
                      RUN_REAL(0.5)};
    run_good("kernel spmv(inout real y[n], in index rowptr[n+1], in index colval[],"
             " in real nzval[], in real x[], real alpha, real beta) over (row in 0:n) {"
             "  real acc = 0;"
             "  if (alpha != 0)"
             "    for (int k = rowptr[row]; k < rowptr[row + 1]; k++)"
             "      acc += nzval[k] * x[colval[k]];"
             "  y[row] = beta == 0 ? alpha * acc : alpha * acc + beta * y[row]; }",
             args);
    ck_assert_double_eq(y[0], 42.5);
    ck_assert_double_eq(y[1], 0.5);
    ck_assert_double_eq(y[2], 806.5);
}
END_TEST

START_TEST(flow_breaks_continues_and_returns)
{
    int32_t out[8] = {0};
    run_arg args[] = {RUN_ARRAY1(out, 8)};
    run_good("kernel k(inout int a[n]) over (i) {"
             "  if (i == 7) return;"
             "  int s = 0; int t;"
             "  for (int j = 0; ; j++) {"
             "    if (j % 2 == 1) continue;"
             "    if (j > i) break;"
             "    int i = 100;" /* hides the index */
             "    int fresh;"
             "    fresh++; t += fresh;"
             "    s += i + j;"
             "  }"
             "  a[i] = s + 1000 * t; }",
             args);
    for (int i = 0; i < 7; i++) { /* even j up to i: i / 2 + 1 of them */
        int m = i / 2 + 1;
        ck_assert_int_eq(out[i], m * 100 + (m - 1) * m + 1000 * m);
    }
    ck_assert_int_eq(out[7], 0);
}
END_TEST

START_TEST(range_of_kernel_and_of_caller_hold)
{
    double u[5 * 4] = {0};
    run_arg args[] = {RUN_ARRAY2(u, 5, 4)};
    const char text[] = "kernel k(inout real u[nx,ny]) over (ix in 1:nx-1, iy)"
                        "{ u[ix,iy] += ix + 10 * iy + 100 * extent(u, 1); }";
    run_good(text, args);
    rk_program *program = run_compile(text, run_options(RUBUS_F64, RUBUS_I32, false));
    const int64_t lo[] = {0, 3, 0};
    const int64_t hi[] = {1, 4, 1};
    ck_assert_int_eq(run_number(program, 0, args, lo, hi), RUBUS_OK);
    const int64_t none[] = {0, 3, 0};
    ck_assert_int_eq(run_number(program, 0, args, lo, none), RUBUS_OK);
    rk_program_destroy(program);
    for (int e = 0; e < 20; e++) {
        int i = e % 5;
        int j = e / 5;
        bool inside = (i >= 1 && i < 4) || (i == 0 && j == 3);
        ck_assert_double_eq(u[e], inside ? i + 10.0 * j + 400 : 0);
    }
}
END_TEST

START_TEST(short_circuit_guards_an_access)
{
    double u[4] = {1, 2, 3, 4};
    double v[4] = {0};
    run_arg args[] = {RUN_ARRAY1(u, 4), RUN_ARRAY1(v, 4)};
    run_good("kernel k(in real u[n], inout real v[n]) over (i in 0:n) {"
             "  v[i] = (i > 0 && u[i-1] > 1) || (i < n - 1 && u[i+1] < 3) ? 1 : 0;"
             "  v[i] += i > 0 ? u[i-1] : 0; }",
             args);
    const double want[4] = {1, 1, 3, 4};
    ck_assert_mem_eq(v, want, sizeof(v));
}
END_TEST

START_TEST(atomic_add_counts)
{
    int32_t bin[3] = {10, 0, 0};
    double sum[1] = {0.5};
    int32_t which[7] = {0, 1, 1, 2, 2, 2, 0};
    run_arg args[] = {RUN_ARRAY1(bin, 3), RUN_ARRAY1(sum, 1), RUN_ARRAY1(which, 7)};
    const char text[] = "kernel k(inout int bin[m], inout real sum[1], in index which[n])"
                        " over (i in 0:n) {"
                        " atomic_add(bin[which[i]], 1); atomic_add(sum[0], i); }";
    run_good(text, args);
    const int32_t want[3] = {12, 2, 3};
    ck_assert_mem_eq(bin, want, sizeof(bin));
    ck_assert_double_eq(sum[0], 21.5);
}
END_TEST

START_TEST(index_outside_is_named_and_writes_nothing)
{
    double u[6] = {1, 2, 3, 4, 5, 6};
    const double before[6] = {1, 2, 3, 4, 5, 6};
    int32_t to[2] = {1, 3};
    run_arg args[] = {RUN_ARRAY2(u, 3, 2), RUN_ARRAY1(to, 2)};
    ck_assert_int_eq(
        run_text("kernel move(inout real u[nx,ny], in index to[n]) over (i in 1:n)\n"
                 "{\n"
                 "    u[to[i], i] = 7;\n"
                 "}\n",
                 args),
        RUBUS_EBOUNDS);
    assert_error("t.rk:3: kernel `move`"); /* a line of the source, not of its text */
    assert_error("`u[3, 1]`");
    assert_error("extents 3, 2");
    assert_error("index 3 in dimension 0 must be in 0:3");
    ck_assert_mem_eq(u, before, sizeof(u));
}
END_TEST

START_TEST(place_survives_printing_twice)
{
    const char text[] = "// a comment\n"
                        "func real f(real x)\n"
                        "{\n"
                        "    //@99 other.rk\n"
                        "    real q[2]; q[int(x)] = 1;\n"
                        "    return q[0];\n"
                        "}\n"
                        "kernel k(inout real u[n]) { if (n > 1) { u = f(u); } }\n";
    rk_program *first = run_compile(text, run_options(RUBUS_F64, RUBUS_I32, false));
    rk_program *second =
        run_compile(first->text, run_options(RUBUS_F64, RUBUS_I32, false));
    double u[2] = {1, 2};
    const run_arg args[] = {RUN_ARRAY1(u, 2)};
    ck_assert_int_eq(run_number(second, 0, args, NULL, NULL), RUBUS_EBOUNDS);
    assert_error("t.rk:5: kernel `k`: `q[2]`");
    rk_program_destroy(second);
    rk_program_destroy(first);
}
END_TEST

START_TEST(read_outside_fails)
{
    double u[2] = {1, 2};
    int32_t from[2] = {0, -1};
    run_arg args[] = {RUN_ARRAY1(u, 2), RUN_ARRAY1(from, 2)};
    ck_assert_int_eq(run_text("kernel k(inout real u[n], in index from[n]) over (i)"
                              "{ if (from[i] < 0) { u[i] = u[from[i]]; } }",
                              args),
                     RUBUS_EBOUNDS);
    assert_error("`u[-1]`");
    ck_assert_double_eq(u[1], 2);
}
END_TEST

START_TEST(local_array_is_tested)
{
    double u[4] = {0};
    run_arg args[] = {RUN_ARRAY1(u, 4)};
    const char text[] =
        "kernel k(inout real u[n]) over (i) { real q[3]; q[i] = 1; u[i] = q[i]; }";
    ck_assert_int_eq(run_text(text, args), RUBUS_EBOUNDS);
    assert_error("`q[3]`");
    ck_assert_double_eq(u[2], 1);
}
END_TEST

START_TEST(loop_with_a_violation_ends)
{
    double u[4] = {0};
    run_arg args[] = {RUN_ARRAY1(u, 4), RUN_INT(4)};
    ck_assert_int_eq(run_text("kernel k(inout real u[n], int m) over (i)"
                              "{ while (u[i + m * 2] == 0) { u[i] += 1; } }",
                              args),
                     RUBUS_EBOUNDS);
    ck_assert_double_eq(u[0], 0);
}
END_TEST

/* --- races ------------------------------------------------------------------------ */

typedef struct race_case {
    const char *text;
    const char *part; /* of the message; NULL: no race */
} race_case;

#define RACE_HEAD                                                                        \
    "kernel k(inout real u[n], inout int c[n], in index p[n]) over (i in 0:n-1) "
static const race_case race_list[] = {
    {RACE_HEAD "{ if (i >= 0) u[i] = u[i + 1]; }",
     "point (1) writes `u[1]`, which point (0) reads"},
    {RACE_HEAD "{ u[i + 1] = p[i]; u[i] = 1; }",
     "point (1) writes `u[1]`, which point (0) writes"},
    {RACE_HEAD "{ u[p[i]] = 1; }", "point (3) writes `u[2]`, which point (1) writes"},
    {RACE_HEAD "{ if (i == 3) { u[0] = 1; } else if (i < 2) { u[i] += 1; } }",
     "point (3) writes `u[0]`, which point (0) writes"},
    {RACE_HEAD "{ if (i == 3) { u[0] = 1; } else if (i < 2) { c[i] = int(u[i]); } }",
     "point (3) writes `u[0]`, which point (0) reads"},
    {RACE_HEAD "{ atomic_add(c[0], 1); u[i] = c[0]; }",
     "point (1) adds to `c[0]`, which point (0) reads"},
    {RACE_HEAD "{ if (i == 2) { c[0] = 1; } else { atomic_add(c[0], 1); } }",
     "point (2) writes `c[0]`, which point (0) adds to"},
    {RACE_HEAD "{ if (i == 0) { c[0] = 1; } else { atomic_add(c[0], 1); } }",
     "point (1) adds to `c[0]`, which point (0) writes"},
    {RACE_HEAD "{ u[i] = u[i] + p[i] + p[i + 1]; u[i] *= 2; }", NULL},
    {RACE_HEAD "{ atomic_add(c[0], 1); atomic_add(c[i], 1); u[i] = u[i]; }", NULL},
    {RACE_HEAD "{ u[i] = c[0] + c[1]; }", NULL},
};

START_TEST(races_are_found_and_named)
{
    const race_case *race = &race_list[_i];
    double u[5] = {0};
    int64_t c[5] = {0};
    int64_t p[5] = {0, 2, 1, 2, 4};
    run_arg args[] = {RUN_ARRAY1(u, 5), RUN_ARRAY1(c, 5), RUN_ARRAY1(p, 5)};
    rubus_status st = run_checked(race->text, args);
    if (race->part == NULL) {
        ck_assert_msg(st == RUBUS_OK, "%s: %s", race->text, rubus_error_text());
    } else {
        ck_assert_msg(st == RUBUS_EBOUNDS, "%s: no race found", race->text);
        assert_error(race->part);
        assert_error("`k`");
        assert_error("atomic_add");
    }
}
END_TEST

START_TEST(race_names_points_of_two_dimensions)
{
    double u[6] = {0};
    run_arg args[] = {RUN_ARRAY2(u, 3, 2)};
    ck_assert_int_eq(run_checked("kernel k(inout real u[nx,ny]) over (ix in 1:nx, iy)"
                                 "{ if (iy < 1) u[ix, 1] = 1; else u[ix, iy] = 2; }",
                                 args),
                     RUBUS_EBOUNDS);
    assert_error("point (1, 1) writes `u[1, 1]`, which point (1, 0) writes");
}
END_TEST

START_TEST(races_are_not_looked_for_unchecked)
{
    double u[5] = {0};
    run_arg args[] = {RUN_ARRAY1(u, 5)};
    run_good("kernel k(inout real u[n]) over (i in 0:n-1) { if (i >= 0) u[i] = u[i + 1] "
             "+ 1; }",
             args);
    ck_assert_double_eq(u[3], 1);
}
END_TEST

/* --- text and memory -------------------------------------------------------------- */

START_TEST(program_text_without_header_is_refused)
{
    static const char *const text[] = {"",
                                       "kernel k(inout real u[n]) { u = 1; }\n",
                                       "// rk real=f64 index=i32 check=0\n",
                                       "// rk real=f16 index=i32 check=0 fast=0\n",
                                       "// rk real=f64 index=i32 check=2 fast=0\n",
                                       "// rk real=f64 index=i32 check=0 fast=0"};
    for (size_t k = 0; k < sizeof(text) / sizeof(text[0]); k++) {
        rk_program *program = NULL;
        ck_assert_int_eq(rk_program_from_text("t.rk", text[k], strlen(text[k]), &program),
                         RUBUS_EFORMAT);
        assert_error("t.rk");
        ck_assert_ptr_null(program);
    }
}
END_TEST

START_TEST(program_text_gives_the_options_back)
{
    for (int k = 0; k < 8; k++) {
        rk_options options = run_options(k & 1 ? RUBUS_F32 : RUBUS_F64,
                                         k & 2 ? RUBUS_I64 : RUBUS_I32, (k & 4) != 0);
        options.fast = (k & 1) != 0;
        rk_program *program =
            run_compile("kernel k(inout real u[n]) { u = 1; }", options);
        ck_assert_int_eq(program->unit->numbers.f64, options.real == RUBUS_F64);
        ck_assert_int_eq(program->unit->numbers.int64, options.index == RUBUS_I64);
        ck_assert_int_eq(program->unit->check, options.check);
        ck_assert_int_eq(program->unit->fast, options.fast);
        rk_program_destroy(program);
    }
}
END_TEST

START_TEST(entry_that_is_none_is_refused)
{
    rk_program *program = run_compile("kernel k(inout real u[n]) { u = 1; }",
                                      run_options(RUBUS_F64, RUBUS_I32, false));
    char block[256] = {0};
    ck_assert_int_eq(rk_interpret(program, -1, block), RUBUS_EINTERNAL);
    ck_assert_int_eq(rk_interpret(program, 1, block), RUBUS_EINTERNAL);
    rk_program_destroy(program);
}
END_TEST

static const char memory_text[] =
    "func real half(real x) { real q[2]; q[0] = x; return q[0] * 0.5; }"
    "kernel a(inout real u[n], inout real v[n], out real s)"
    "{ let old = u; if (n > 2) { u = half(u) + v; } v = old; s = sum(u - old);"
    "  v[1:] = pad(u[:-2], 0, 0:1); }"
    "kernel b(inout real u[n], inout real v[n], real s) over (i) { u[i] = half(v[i]) + "
    "s; }";

START_TEST(every_allocation_failure_is_survived)
{
    rk_program *program =
        run_compile(memory_text, run_options(RUBUS_F64, RUBUS_I32, true));
    double u[6] = {0};
    double v[6] = {0};
    double s = 0;
    const run_arg args[] = {RUN_ARRAY1(u, 6), RUN_ARRAY1(v, 6), {&s, {1, 0, 0}, 1.0, 0}};
    int64_t live = rubus__alloc_live();
    int64_t n = 1;
    for (rubus_status st = RUBUS_ENOMEM; st != RUBUS_OK; n++) {
        rubus__alloc_fail_after(n, true);
        st = run_number(program, _i, args, NULL, NULL);
        rubus__alloc_fail_after(0, true);
        ck_assert_msg(st == RUBUS_OK || st == RUBUS_ENOMEM, "%s", rubus_error_text());
        ck_assert_int_eq(rubus__alloc_live(), live);
        ck_assert_int_lt(n, 1000);
    }
    ck_assert_int_gt(n, 4);
    rk_program_destroy(program);
}
END_TEST

static Suite *interpret_point_suite(void)
{
    Suite *suite = suite_create("interpret_point");
    TCase *tc = tcase_create("points");
    tcase_add_test(tc, csr_product_runs_loops_and_indices);
    tcase_add_test(tc, flow_breaks_continues_and_returns);
    tcase_add_test(tc, range_of_kernel_and_of_caller_hold);
    tcase_add_test(tc, short_circuit_guards_an_access);
    tcase_add_test(tc, atomic_add_counts);
    tcase_add_test(tc, index_outside_is_named_and_writes_nothing);
    tcase_add_test(tc, place_survives_printing_twice);
    tcase_add_test(tc, read_outside_fails);
    tcase_add_test(tc, local_array_is_tested);
    tcase_add_test(tc, loop_with_a_violation_ends);
    suite_add_tcase(suite, tc);
    tc = tcase_create("races");
    tcase_add_loop_test(tc, races_are_found_and_named, 0,
                        (int)(sizeof(race_list) / sizeof(race_list[0])));
    tcase_add_test(tc, race_names_points_of_two_dimensions);
    tcase_add_test(tc, races_are_not_looked_for_unchecked);
    suite_add_tcase(suite, tc);
    tc = tcase_create("text and memory");
    tcase_add_test(tc, program_text_without_header_is_refused);
    tcase_add_test(tc, program_text_gives_the_options_back);
    tcase_add_test(tc, entry_that_is_none_is_refused);
    tcase_add_loop_test(tc, every_allocation_failure_is_survived, 0, 2);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("interpret_point", interpret_point_suite)
