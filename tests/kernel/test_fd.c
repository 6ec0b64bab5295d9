/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The difference operators of shaders/fd.rk, each against a formula written out by hand
 * as offsets: exact values, exact size of the result, use on the left for those that only
 * select. On every backend, in f64 and f32, on arrays of odd sizes with distinct values.
 */
#include "config.h"

#include "tests/support/one_backend.h"
#include "tests/support/real_arrays.h"
#include "tests/support/vulkan_specs.h"
#include "tests/support/suite.h"

#include <math.h>
#include <rubus/rubus.h>
#include <string.h>

static const char *backends[] = {"reference", "threads" VULKAN_SPECS};
enum { NBACKEND = (int)(sizeof(backends) / sizeof(backends[0])) };

typedef enum {
    PICK,  // p
    DIFF,  // p - q
    DIFF2, // (p - q) - (q - r)
    MEAN,  // (p + q + ...) * (1 / n)
    HARM,  // 1 / (1/p + 1/q + ...) * n
    MOST,  // max(max(p, q), r), then max with max(s, t), max(u, v)
    LEAST  // the same with min
} form;

typedef struct op_case {
    int rank;
    const char *name;
    form form;
    const char *at; // offsets of p, q, ...: a digit for each dimension
    int less[3];    // by how much the result is smaller than the array
} op_case;

#define CORNERS "000 100 010 110 001 101 011 111"
static const op_case cases[] = {
    {1, "all", PICK, "0", {0}},
    {1, "inn", PICK, "1", {2}},
    {1, "d", DIFF, "1 0", {1}},
    {1, "d2", DIFF2, "2 1 0", {2}},
    {1, "av", MEAN, "0 1", {1}},
    {1, "harm", HARM, "0 1", {1}},
    {1, "maxloc", MOST, "0 2 1", {2}},
    {1, "minloc", LEAST, "0 2 1", {2}},

    {2, "all", PICK, "00", {0, 0}},
    {2, "inn", PICK, "11", {2, 2}},
    {2, "inn_x", PICK, "10", {2, 0}},
    {2, "inn_y", PICK, "01", {0, 2}},
    {2, "d_xa", DIFF, "10 00", {1, 0}},
    {2, "d_ya", DIFF, "01 00", {0, 1}},
    {2, "d_xi", DIFF, "11 01", {1, 2}},
    {2, "d_yi", DIFF, "11 10", {2, 1}},
    {2, "d2_xa", DIFF2, "20 10 00", {2, 0}},
    {2, "d2_ya", DIFF2, "02 01 00", {0, 2}},
    {2, "d2_xi", DIFF2, "21 11 01", {2, 2}},
    {2, "d2_yi", DIFF2, "12 11 10", {2, 2}},
    {2, "av", MEAN, "00 10 01 11", {1, 1}},
    {2, "av_xa", MEAN, "00 10", {1, 0}},
    {2, "av_ya", MEAN, "00 01", {0, 1}},
    {2, "av_xi", MEAN, "01 11", {1, 2}},
    {2, "av_yi", MEAN, "10 11", {2, 1}},
    {2, "harm", HARM, "00 10 01 11", {1, 1}},
    {2, "harm_xa", HARM, "00 10", {1, 0}},
    {2, "harm_ya", HARM, "00 01", {0, 1}},
    {2, "harm_xi", HARM, "01 11", {1, 2}},
    {2, "harm_yi", HARM, "10 11", {2, 1}},
    {2, "maxloc", MOST, "01 21 11 10 12", {2, 2}},
    {2, "minloc", LEAST, "01 21 11 10 12", {2, 2}},

    {3, "all", PICK, "000", {0, 0, 0}},
    {3, "inn", PICK, "111", {2, 2, 2}},
    {3, "inn_x", PICK, "100", {2, 0, 0}},
    {3, "inn_y", PICK, "010", {0, 2, 0}},
    {3, "inn_z", PICK, "001", {0, 0, 2}},
    {3, "inn_xy", PICK, "110", {2, 2, 0}},
    {3, "inn_xz", PICK, "101", {2, 0, 2}},
    {3, "inn_yz", PICK, "011", {0, 2, 2}},
    {3, "d_xa", DIFF, "100 000", {1, 0, 0}},
    {3, "d_ya", DIFF, "010 000", {0, 1, 0}},
    {3, "d_za", DIFF, "001 000", {0, 0, 1}},
    {3, "d_xi", DIFF, "111 011", {1, 2, 2}},
    {3, "d_yi", DIFF, "111 101", {2, 1, 2}},
    {3, "d_zi", DIFF, "111 110", {2, 2, 1}},
    {3, "d2_xa", DIFF2, "200 100 000", {2, 0, 0}},
    {3, "d2_ya", DIFF2, "020 010 000", {0, 2, 0}},
    {3, "d2_za", DIFF2, "002 001 000", {0, 0, 2}},
    {3, "d2_xi", DIFF2, "211 111 011", {2, 2, 2}},
    {3, "d2_yi", DIFF2, "121 111 101", {2, 2, 2}},
    {3, "d2_zi", DIFF2, "112 111 110", {2, 2, 2}},
    {3, "av", MEAN, CORNERS, {1, 1, 1}},
    {3, "av_xa", MEAN, "000 100", {1, 0, 0}},
    {3, "av_ya", MEAN, "000 010", {0, 1, 0}},
    {3, "av_za", MEAN, "000 001", {0, 0, 1}},
    {3, "av_xi", MEAN, "011 111", {1, 2, 2}},
    {3, "av_yi", MEAN, "101 111", {2, 1, 2}},
    {3, "av_zi", MEAN, "110 111", {2, 2, 1}},
    {3, "av_xya", MEAN, "000 100 010 110", {1, 1, 0}},
    {3, "av_xza", MEAN, "000 100 001 101", {1, 0, 1}},
    {3, "av_yza", MEAN, "000 010 001 011", {0, 1, 1}},
    {3, "av_xyi", MEAN, "001 101 011 111", {1, 1, 2}},
    {3, "av_xzi", MEAN, "010 110 011 111", {1, 2, 1}},
    {3, "av_yzi", MEAN, "100 110 101 111", {2, 1, 1}},
    {3, "harm", HARM, CORNERS, {1, 1, 1}},
    {3, "harm_xa", HARM, "000 100", {1, 0, 0}},
    {3, "harm_ya", HARM, "000 010", {0, 1, 0}},
    {3, "harm_za", HARM, "000 001", {0, 0, 1}},
    {3, "harm_xi", HARM, "011 111", {1, 2, 2}},
    {3, "harm_yi", HARM, "101 111", {2, 1, 2}},
    {3, "harm_zi", HARM, "110 111", {2, 2, 1}},
    {3, "harm_xya", HARM, "000 100 010 110", {1, 1, 0}},
    {3, "harm_xza", HARM, "000 100 001 101", {1, 0, 1}},
    {3, "harm_yza", HARM, "000 010 001 011", {0, 1, 1}},
    {3, "harm_xyi", HARM, "001 101 011 111", {1, 1, 2}},
    {3, "harm_xzi", HARM, "010 110 011 111", {1, 2, 1}},
    {3, "harm_yzi", HARM, "100 110 101 111", {2, 1, 1}},
    {3, "maxloc", MOST, "011 211 111 101 121 110 112", {2, 2, 2}},
    {3, "minloc", LEAST, "011 211 111 101 121 110 112", {2, 2, 2}},
};
enum { NCASE = (int)(sizeof(cases) / sizeof(cases[0])) };

static const int sizes[4][3] = {{1, 1, 1}, {7, 1, 1}, {7, 5, 1}, {6, 5, 4}};
enum { MAX_POINTS = 6 * 5 * 4 };

/* --- the formulas ----------------------------------------------------------------- */

/* A result as the type holds it. Rounding the double of one operation on floats gives
 * what float arithmetic gives, since a double has more than twice the bits and two. */
static double as(int32_t real, double x)
{
    return real == RUBUS_F32 ? (double)(float)x : x;
}

static int index_of(int rank, const int at[3])
{
    return at[0] + sizes[rank][0] * (at[1] + sizes[rank][1] * at[2]);
}

/* The elements p, q, ... of the formula at a point; returns how many. */
static int gather(const op_case *op, const double *a, const int point[3], double p[8])
{
    int n = 0;
    for (const char *s = op->at; *s != '\0'; n++) {
        int at[3] = {0, 0, 0};
        for (int d = 0; d < op->rank; d++) {
            at[d] = point[d] + (*s++ - '0');
        }
        p[n] = a[index_of(op->rank, at)];
        s += *s == ' ';
    }
    return n;
}

static double extremum(form f, double a, double b)
{
    return (f == MOST) == (a > b) ? a : b;
}

static double formula(const op_case *op, int32_t real, const double *p, int n)
{
    double sum = 0;
    switch (op->form) {
    case PICK:
        return p[0];
    case DIFF:
        return as(real, p[0] - p[1]);
    case DIFF2:
        return as(real, as(real, p[0] - p[1]) - as(real, p[1] - p[2]));
    case MEAN:
        sum = p[0];
        for (int k = 1; k < n; k++) {
            sum = as(real, sum + p[k]);
        }
        return as(real, sum * (1.0 / n));
    case HARM:
        sum = as(real, 1 / p[0]);
        for (int k = 1; k < n; k++) {
            sum = as(real, sum + as(real, 1 / p[k]));
        }
        return as(real, as(real, 1 / sum) * n);
    case MOST:
    case LEAST:
        sum = extremum(op->form, extremum(op->form, p[0], p[1]), p[2]);
        for (int k = 3; k < n; k += 2) {
            sum = extremum(op->form, sum, extremum(op->form, p[k], p[k + 1]));
        }
        return sum;
    }
    return NAN;
}

/* Distinct numbers between 1 and 2, in no order, all of them floats. */
static void fill(double *a, int n)
{
    uint32_t state = 12345;
    for (int k = 0; k < n; k++) {
        state = state * 1664525u + 1013904223u;
        a[k] = 1 + (double)((state >> 16) * 128 + (uint32_t)k) * 0x1p-23;
    }
}

/* --- the kernels ------------------------------------------------------------------ */

/* "nx-1,ny" */
static void extents(int rank, const int less[3], char text[48])
{
    static const char *const names[3] = {"nx", "ny", "nz"};
    size_t used = 0;
    for (int d = 0; d < rank; d++) {
        used += (size_t)sprintf(text + used, d == 0 ? "%s" : ",%s", names[d]);
        if (less[d] != 0) {
            used += (size_t)sprintf(text + used, "%+d", -less[d]);
        }
    }
}

/* Kernel get<NUMBER> computes operator `at` into an array smaller by `less`. */
static int write_get(char *text, size_t size, int at, int number, const int less[3])
{
    const op_case *op = &cases[at];
    const int none[3] = {0, 0, 0};
    char whole[48];
    char part[48];
    extents(op->rank, none, whole);
    extents(op->rank, less, part);
    return snprintf(text, size,
                    "kernel get%d(out real r[%s], in real a[%s])\n{\n    r = %s(a);\n}\n",
                    number, part, whole, op->name);
}

/* Kernel put<NUMBER> writes through operator `at`. */
static int write_put(char *text, size_t size, int at, int number)
{
    const op_case *op = &cases[at];
    const int none[3] = {0, 0, 0};
    char whole[48];
    char part[48];
    extents(op->rank, none, whole);
    extents(op->rank, op->less, part);
    return snprintf(
        text, size,
        "kernel put%d(inout real a[%s], in real r[%s])\n{\n    %s(a) = r;\n}\n", number,
        whole, part, op->name);
}

typedef struct runner {
    rubus_context *context;
    rubus_module *module;
    int32_t real;
} runner;

static void open_runner(runner *run, const char *backend, int32_t real)
{
    static char text[NCASE * 320];
    int used = 0;
    for (int k = 0; k < NCASE; k++) {
        size_t left = sizeof(text) - (size_t)used;
        used += write_get(text + used, left, k, k, cases[k].less);
        left = sizeof(text) - (size_t)used;
        used += cases[k].form == PICK ? write_put(text + used, left, k, k) : 0;
    }
    run->real = real;
    rubus_status st = rubus_context_create(backend, &run->context);
    ck_assert_msg(st == RUBUS_OK, "%s: %s", backend, rubus_error_text());
    rubus_module_options options = {.struct_size = sizeof(options), .real = real};
    st = rubus_module_create(run->context, "fd_test.rk", text, &options, &run->module);
    ck_assert_msg(st == RUBUS_OK, "%s: %s", backend, rubus_error_text());
}

static void close_runner(runner *run)
{
    rubus_module_destroy(run->module);
    rubus_context_destroy(run->context);
}

static rubus_shape shape_of(const op_case *op, bool part)
{
    rubus_shape shape = {.rank = op->rank};
    for (int d = 0; d < op->rank; d++) {
        shape.n[d] = sizes[op->rank][d] - (part ? op->less[d] : 0);
    }
    return shape;
}

/* Point number k of the result. */
static void point_of(const op_case *op, int k, int point[3])
{
    for (int d = 0; d < 3; d++) {
        int n = sizes[op->rank][d] - op->less[d];
        point[d] = k % n;
        k /= n;
    }
}

static void launch(const runner *run, const char *what, int at, rubus_array *a,
                   rubus_array *b)
{
    char name[16];
    snprintf(name, sizeof(name), "%s%d", what, at);
    rubus_status st = rubus_launch(rubus_module_kernel(run->module, name), a, b);
    ck_assert_msg(st == RUBUS_OK, "%s of %s: %s", what, cases[at].name,
                  rubus_error_text());
}

static void check_get(const runner *run, const char *backend, int at)
{
    const op_case *op = &cases[at];
    double a[MAX_POINTS];
    double r[MAX_POINTS] = {0};
    fill(a, MAX_POINTS);
    rubus_array *from = real_array(run->context, run->real, shape_of(op, false), a);
    rubus_array *to = real_array(run->context, run->real, shape_of(op, true), r);
    launch(run, "get", at, to, from);
    real_read(to, r);
    int n = (int)rubus_array_count(to);
    ck_assert_int_gt(n, 0);
    for (int k = 0; k < n; k++) {
        int point[3];
        double p[8] = {0};
        point_of(op, k, point);
        int np = gather(op, a, point, p);
        double want = formula(op, run->real, p, np);
        ck_assert_msg(r[k] == want,
                      "%s %s: %s in %dD at (%d, %d, %d) gave %a, expected %a", backend,
                      run->real == RUBUS_F32 ? "f32" : "f64", op->name, op->rank,
                      point[0], point[1], point[2], r[k], want);
    }
    rubus_array_destroy(from);
    rubus_array_destroy(to);
}

/* Writing through an operator changes the elements that it selects and no others. */
static void check_put(const runner *run, const char *backend, int at)
{
    const op_case *op = &cases[at];
    double a[MAX_POINTS];
    double r[MAX_POINTS];
    fill(a, MAX_POINTS);
    for (int k = 0; k < MAX_POINTS; k++) {
        r[k] = -1 - k;
    }
    rubus_array *to = real_array(run->context, run->real, shape_of(op, false), a);
    rubus_array *from = real_array(run->context, run->real, shape_of(op, true), r);
    launch(run, "put", at, to, from);
    for (int k = 0; k < rubus_array_count(from); k++) {
        int point[3];
        point_of(op, k, point);
        for (int d = 0; d < op->rank; d++) {
            point[d] += op->at[d] - '0';
        }
        a[index_of(op->rank, point)] = r[k];
    }
    double got[MAX_POINTS];
    real_read(to, got);
    for (int k = 0; k < rubus_array_count(to); k++) {
        ck_assert_msg(got[k] == a[k], "%s: %s in %dD as target: element %d is %g, not %g",
                      backend, op->name, op->rank, k, got[k], a[k]);
    }
    rubus_array_destroy(to);
    rubus_array_destroy(from);
}

START_TEST(fd_operator_equals_formula)
{
    runner run;
    open_runner(&run, backends[_i / 2], _i % 2 == 0 ? RUBUS_F64 : RUBUS_F32);
    for (int k = 0; k < NCASE; k++) {
        check_get(&run, backends[_i / 2], k);
        if (cases[k].form == PICK) {
            check_put(&run, backends[_i / 2], k);
        }
    }
    close_runner(&run);
}
END_TEST

/* A module of kernels that are all wrong: there must be an error in each, in its third
 * line, with the code of shapes that differ. */
static void check_wrong(rubus_context *context, const char *text, int nkernel)
{
    rubus_module *module = NULL;
    rubus_status st = rubus_module_create(context, "wrong.rk", text, NULL, &module);
    ck_assert_msg(st == RUBUS_ECOMPILE, "status %d for\n%s", (int)st, text);
    ck_assert_ptr_null(module);
    for (int k = 0; k < nkernel; k++) {
        char place[32];
        snprintf(place, sizeof(place), "wrong.rk:%d:", 4 * k + 3);
        const char *error = strstr(rubus_error_text(), place);
        ck_assert_msg(error != NULL, "no error at %s in\n%s\nbut\n%s", place, text,
                      rubus_error_text());
        const char *code = strstr(error, "error[K080]");
        ck_assert_msg(code != NULL && code < strchr(error, '\n'), "%s", error);
    }
}

START_TEST(fd_operator_into_wrong_extent_fails)
{
    rubus_context *context = NULL;
    rubus_status st = rubus_context_create(backends[_i], &context);
    ck_assert_msg(st == RUBUS_OK, "%s", rubus_error_text());
    for (int k = 0; k < NCASE; k++) {
        char text[2048];
        int used = 0;
        for (int d = 0; d < 2 * cases[k].rank; d++) { // one too few, one too many
            int less[3] = {cases[k].less[0], cases[k].less[1], cases[k].less[2]};
            less[d / 2] += d % 2 == 0 ? 1 : -1;
            used += write_get(text + used, sizeof(text) - (size_t)used, k, d, less);
        }
        check_wrong(context, text, 2 * cases[k].rank);
    }
    rubus_context_destroy(context);
}
END_TEST

START_TEST(fd_table_holds_every_operator)
{
    // 8, 24 and 45 operators, and d2_xa, d2_ya, d2_za in 3D; none twice
    int count[4] = {0, 0, 0, 0};
    for (int k = 0; k < NCASE; k++) {
        count[cases[k].rank]++;
        for (int j = 0; j < k; j++) {
            ck_assert(cases[j].rank != cases[k].rank ||
                      strcmp(cases[j].name, cases[k].name) != 0);
        }
    }
    ck_assert_int_eq(count[1], 8);
    ck_assert_int_eq(count[2], 24);
    ck_assert_int_eq(count[3], 45 + 3);
}
END_TEST

static Suite *suite_function(void)
{
    Suite *suite = suite_create("kernel/fd");
    TCase *tcase = tcase_create("fd");
    tcase_add_test(tcase, fd_table_holds_every_operator);
    const bool one = one_backend(&backends[1]);
    const int first = one ? 1 : 0;
    const int end = one ? 2 : NBACKEND;
    tcase_add_loop_test(tcase, fd_operator_equals_formula, 2 * first, 2 * end);
    tcase_add_loop_test(tcase, fd_operator_into_wrong_extent_fails, first, end);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUBUS_TEST_MAIN("kernel/fd", suite_function)
