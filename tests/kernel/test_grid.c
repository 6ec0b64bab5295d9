/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators of shaders/grid.rk: each against the tiny matrices of a mesh with points
 * 0, 1, 3, 5, against values of x^2 and of powers of 2 there, and along each axis in 1, 2
 * and 3 dimensions against rows of its matrix written out here, on a nonuniform mesh. On
 * every backend, in f64 and f32.
 */
#include "config.h"

#include "tests/support/one_backend.h"
#include "tests/support/real_arrays.h"
#include "tests/support/suite.h"
#include "tests/support/vulkan_specs.h"

#include <math.h>
#include <rubus/rubus.h>
#include <stdio.h>
#include <string.h>

static const char *backends[] = {"reference", "threads" VULKAN_SPECS};
enum { NBACKEND = (int)(sizeof(backends) / sizeof(backends[0])) };

typedef enum {
    DIFF_M,
    DIFF_P,
    JUMP,
    D_M,
    D_P,
    M_M,
    M_P,
    D_STAR,
    D_C,
    D_W,
    M_C,
    LAP,
    NOPERATOR
} operator_kind;

typedef struct operator_case {
    const char *name;    /* without its axis */
    const char *printed; /* the same, as in print */
    const char *spacing; /* arrays behind u */
} operator_case;

static const operator_case cases[NOPERATOR] = {
    [DIFF_M] = {"diffm", "diff\u208b", ""},
    [DIFF_P] = {"diffp", "diff\u208a", ""},
    [JUMP] = {"jump", "jump", ""},
    [D_M] = {"Dm", "D\u208b", "h"},
    [D_P] = {"Dp", "D\u208a", "f"},
    [M_M] = {"Mm", "M\u208b", ""},
    [M_P] = {"Mp", "M\u208a", ""},
    [D_STAR] = {"Dstar", "D\u0303", "s"},
    [D_C] = {"Dc", "Dc", "h"},
    [D_W] = {"Dw", "D\u033d", "h"},
    [M_C] = {"Mc", "Mc", ""},
    [LAP] = {"lap", "\u0394", "hs"},
};

enum { NMAX = 8, POINTS = 7 * 5 * 4 };
static const int sizes[4][3] = {{1, 1, 1}, {7, 1, 1}, {7, 5, 1}, {7, 5, 4}};

/* --- one axis ----------------------------------------------------------------------- */

typedef struct axis {
    int n;
    double h[NMAX];
    double f[NMAX];
    double s[NMAX];
} axis;

static axis axis_of(const double *x, int n)
{
    axis a = {.n = n};
    for (int i = 0; i < n; i++) {
        a.h[i] = i > 0 ? x[i] - x[i - 1] : x[1] - x[0];
        a.f[i] = i < n - 1 ? x[i + 1] - x[i] : x[n - 1] - x[n - 2];
    }
    for (int i = 0; i < n - 1; i++) {
        a.s[i] = (a.h[i] + a.h[i + 1]) / 2;
    }
    return a;
}

/* Row i of the matrix of an operator: weights of u[i-1], u[i], u[i+1]. */
static void row_of(operator_kind kind, const axis *a, int i, double w[3])
{
    const bool first = i == 0;
    const bool last = i == a->n - 1;
    const double h = a->h[i];
    const double g = last ? 1 : a->h[i + 1];
    memset(w, 0, 3 * sizeof(*w));
    switch (kind) {
    case DIFF_M:
        w[0] = first ? 0 : -1;
        w[1] = 1;
        break;
    case DIFF_P:
    case JUMP:
        w[1] = -1;
        w[2] = last ? 0 : 1;
        break;
    case D_M:
        w[0] = first ? 0 : -1 / h;
        w[1] = first ? 0 : 1 / h;
        break;
    case D_P:
        w[1] = last ? 0 : -1 / a->f[i];
        w[2] = last ? 0 : 1 / a->f[i];
        break;
    case M_M:
        w[0] = w[1] = first ? 0 : 0.5;
        break;
    case M_P:
        w[1] = w[2] = last ? 0 : 0.5;
        break;
    case D_STAR:
        w[1] = last ? 0 : -1 / a->s[i];
        w[2] = last ? 0 : 1 / a->s[i];
        break;
    case D_C:
        w[2] = first || last ? 0 : 1 / (h + g);
        w[0] = -w[2];
        break;
    case D_W:
        w[0] = first || last ? 0 : -g / h / (h + g);
        w[2] = first || last ? 0 : h / g / (h + g);
        w[1] = -w[0] - w[2];
        break;
    case M_C:
        w[0] = w[2] = first || last ? 0 : 0.25;
        w[1] = 2 * w[0];
        break;
    default: // LAP
        w[0] = first || last ? 0 : 1 / h / a->s[i];
        w[2] = last ? 0 : 1 / g / a->s[i];
        w[1] = -w[0] - w[2];
        break;
    }
}

/* --- kernels ------------------------------------------------------------------------ */

static const char axis_name[] = "xyz";
static const char *const raised[3] = {"\u02e3", "\u02b8", "\u1dbb"};

static void kernel_name(char name[16], operator_kind kind, int rank, int d, bool printed)
{
    snprintf(name, 16, "%s_%d_%d_%d", printed ? "p" : "k", (int)kind, rank, d);
}

/* Adds a kernel: r = the operator along `d` of u. */
static void add_kernel(char *text, size_t size, operator_kind kind, int rank, int d,
                       bool printed)
{
    static const char *const extents[4] = {"", "nx", "nx,ny", "nx,ny,nz"};
    const operator_case *c = &cases[kind];
    char params[64] = "";
    char args[16] = "";
    for (const char *s = c->spacing; *s != '\0'; s++) {
        const size_t at = strlen(params);
        snprintf(params + at, sizeof(params) - at, ", in real %c[n%c%s]", *s,
                 axis_name[d], *s == 's' ? "-1" : "");
        snprintf(args + strlen(args), sizeof(args) - strlen(args), ", %c", *s);
    }
    char name[32];
    if (printed) {
        snprintf(name, sizeof(name), "%s%s", c->printed, raised[d]);
    } else {
        snprintf(name, sizeof(name), "%s_%c", c->name, axis_name[d]);
    }
    char kernel[16];
    kernel_name(kernel, kind, rank, d, printed);
    const size_t used = strlen(text);
    snprintf(text + used, size - used,
             "kernel %s(out real r[%s], in real u[%s]%s)\n{\n    r = %s(u%s);\n}\n",
             kernel, extents[rank], extents[rank], params, name, args);
}

typedef struct runner {
    rubus_context *context;
    rubus_module *module;
    int32_t real;
} runner;

/* r = the operator of u. */
static void run_operator(const runner *run, operator_kind kind, rubus_shape shape, int d,
                         bool printed, const axis *a, const double *u, double *r)
{
    rubus_array *array[4] = {real_array(run->context, run->real, shape, u),
                             real_array(run->context, run->real, shape, u)};
    int n = 2;
    for (const char *s = cases[kind].spacing; *s != '\0'; s++) {
        const double *spacing = *s == 'h' ? a->h : *s == 'f' ? a->f : a->s;
        const rubus_shape line = {.rank = 1, .n = {*s == 's' ? a->n - 1 : a->n}};
        array[n++] = real_array(run->context, run->real, line, spacing);
    }
    char name[16];
    kernel_name(name, kind, shape.rank, d, printed);
    const rubus_kernel *kernel = rubus_module_kernel(run->module, name);
    const rubus_status st =
        n == 2   ? rubus_launch(kernel, array[0], array[1])
        : n == 3 ? rubus_launch(kernel, array[0], array[1], array[2])
                 : rubus_launch(kernel, array[0], array[1], array[2], array[3]);
    ck_assert_msg(st == RUBUS_OK, "%s: %s", name, rubus_error_text());
    real_read(array[0], r);
    for (int k = 0; k < n; k++) {
        rubus_array_destroy(array[k]);
    }
}

static void open_runner(runner *run, int number)
{
    static char text[120 * 200];
    text[0] = '\0';
    for (int kind = 0; kind < NOPERATOR; kind++) {
        for (int at = 0; at < 6; at++) {
            const int rank = at == 0 ? 1 : at < 3 ? 2 : 3;
            const int d = at == 0 ? 0 : at < 3 ? at - 1 : at - 3;
            add_kernel(text, sizeof(text), (operator_kind)kind, rank, d, false);
            if (rank == 2) {
                add_kernel(text, sizeof(text), (operator_kind)kind, rank, d, true);
            }
        }
    }
    run->real = number % 2 == 0 ? RUBUS_F64 : RUBUS_F32;
    rubus_status st = rubus_context_create(backends[number / 2], &run->context);
    ck_assert_msg(st == RUBUS_OK, "%s: %s", backends[number / 2], rubus_error_text());
    rubus_module_options options = {.struct_size = sizeof(options), .real = run->real};
    st = rubus_module_create(run->context, "grid_test.rk", text, &options, &run->module);
    ck_assert_msg(st == RUBUS_OK, "%s\n%s", rubus_error_text(), text);
}

static void close_runner(runner *run)
{
    rubus_module_destroy(run->module);
    rubus_context_destroy(run->context);
}

static double epsilon(const runner *run)
{
    return run->real == RUBUS_F64 ? 0x1p-52 : 0x1p-23;
}

/* --- tests -------------------------------------------------------------------------- */

/* u[i] along axis d at the point p of an array, moved by k; 0 off the grid. */
static double neighbour(const double *u, const int n[3], int d, int p, int k)
{
    const int stride = d == 0 ? 1 : d == 1 ? n[0] : n[0] * n[1];
    const int i = p / stride % n[d] + k;
    return i < 0 || i >= n[d] ? 0 : u[p + k * stride];
}

static void check_along(const runner *run, operator_kind kind, int rank, int d)
{
    static const double x[] = {0, 0.5, 0.8, 2, 2.1, 3, 5};
    const int *n = sizes[rank];
    const rubus_shape shape = {.rank = rank, .n = {n[0], n[1], n[2]}};
    const axis a = axis_of(x, n[d]);
    double u[POINTS] = {0};
    double r[POINTS] = {0};
    const int count = n[0] * n[1] * n[2];
    for (int p = 0; p < count; p++) {
        u[p] = 1 + (double)(p * 37 % 101) / 64;
    }
    run_operator(run, kind, shape, d, rank == 2, &a, u, r);
    const int stride = d == 0 ? 1 : d == 1 ? n[0] : n[0] * n[1];
    for (int p = 0; p < count; p++) {
        double w[3];
        double want = 0;
        double scale = 0;
        row_of(kind, &a, p / stride % n[d], w);
        for (int k = 0; k < 3; k++) {
            const double term = w[k] * neighbour(u, n, d, p, k - 1);
            want += term;
            scale += fabs(term);
        }
        /* each of at most six operations rounds once; spacings of f32 are rounded too */
        ck_assert_msg(fabs(r[p] - want) <= 16 * epsilon(run) * scale,
                      "%s along %c in %dD: element %d is %.17g, expected %.17g",
                      cases[kind].name, axis_name[d], rank, p, r[p], want);
    }
}

START_TEST(operator_equals_its_matrix_along_each_axis)
{
    runner run;
    open_runner(&run, _i);
    for (int kind = 0; kind < NOPERATOR; kind++) {
        for (int rank = 1; rank <= 3; rank++) {
            for (int d = 0; d < rank; d++) {
                check_along(&run, (operator_kind)kind, rank, d);
            }
        }
    }
    close_runner(&run);
}
END_TEST

/* Columns of the operator on points 0, 1, 3, 5, from unit vectors. */
static void check_tiny(const runner *run, operator_kind kind, const double want[4][4])
{
    static const double x[] = {0, 1, 3, 5};
    const axis a = axis_of(x, 4);
    for (int j = 0; j < 4; j++) {
        double u[4] = {0};
        double r[4];
        u[j] = 1;
        run_operator(run, kind, RUBUS_SHAPE(4), 0, false, &a, u, r);
        for (int i = 0; i < 4; i++) {
            ck_assert_msg(fabs(r[i] - want[i][j]) <= epsilon(run),
                          "%s: entry (%d, %d) is %.17g, expected %.17g", cases[kind].name,
                          i, j, r[i], want[i][j]);
        }
    }
}

#define ROW0                                                                             \
    {                                                                                    \
        0, 0, 0, 0                                                                       \
    }
START_TEST(operator_equals_tiny_matrix)
{
    static const double third = 1.0 / 3;
    static const double matrix[NOPERATOR][4][4] = {
        [D_M] = {ROW0, {-1, 1, 0, 0}, {0, -.5, .5, 0}, {0, 0, -.5, .5}},
        [D_P] = {{-1, 1, 0, 0}, {0, -.5, .5, 0}, {0, 0, -.5, .5}, ROW0},
        [M_M] = {ROW0, {.5, .5, 0, 0}, {0, .5, .5, 0}, {0, 0, .5, .5}},
        [M_P] = {{.5, .5, 0, 0}, {0, .5, .5, 0}, {0, 0, .5, .5}, ROW0},
        [DIFF_M] = {{1, 0, 0, 0}, {-1, 1, 0, 0}, {0, -1, 1, 0}, {0, 0, -1, 1}},
        [DIFF_P] = {{-1, 1, 0, 0}, {0, -1, 1, 0}, {0, 0, -1, 1}, {0, 0, 0, -1}},
        [JUMP] = {{-1, 1, 0, 0}, {0, -1, 1, 0}, {0, 0, -1, 1}, {0, 0, 0, -1}},
        [D_STAR] = {{-1, 1, 0, 0}, {0, -2. / 3, 2. / 3, 0}, {0, 0, -.5, .5}, ROW0},
        [D_C] = {ROW0, {-1. / 3, 0, 1. / 3, 0}, {0, -.25, 0, .25}, ROW0},
        [D_W] = {ROW0, {-2. / 3, .5, 1. / 6, 0}, {0, -.25, 0, .25}, ROW0},
        [M_C] = {ROW0, {.25, .5, .25, 0}, {0, .25, .5, .25}, ROW0},
        [LAP] = {{-1, 1, 0, 0}, {2. / 3, -1, 1. / 3, 0}, {0, .25, -.5, .25}, ROW0},
    };
    ck_assert_double_eq(matrix[D_C][1][2], third);
    runner run;
    open_runner(&run, _i);
    for (int kind = 0; kind < NOPERATOR; kind++) {
        check_tiny(&run, (operator_kind)kind, matrix[kind]);
    }
    close_runner(&run);
}
END_TEST

/* u = x^2 on points 0, 1, 3, 5, and powers of 2. */
START_TEST(test_trap_16_case_10_02_known_functions)
{
    static const double x[] = {0, 1, 3, 5};
    static const double squares[] = {0, 1, 9, 25};
    static const double want[NOPERATOR][4] = {
        [D_M] = {0, 1, 4, 8},     [D_P] = {1, 4, 8, 0},       [M_M] = {0, .5, 5, 17},
        [M_P] = {.5, 5, 17, 0},   [D_STAR] = {1, 16. / 3, 8}, [D_C] = {0, 3, 6, 0},
        [D_W] = {0, 2, 6, 0},     [M_C] = {0, 2.75, 11, 0},   [LAP] = {1, 2, 2, 0},
        [DIFF_M] = {0, 1, 8, 16}, [DIFF_P] = {1, 8, 16, -25}, [JUMP] = {1, 8, 16, -25},
    };
    runner run;
    open_runner(&run, _i);
    const axis a = axis_of(x, 4);
    double r[5];
    for (int kind = 0; kind < NOPERATOR; kind++) {
        run_operator(&run, (operator_kind)kind, RUBUS_SHAPE(4), 0, false, &a, squares, r);
        for (int i = 0; i < 4; i++) {
            ck_assert_msg(fabs(r[i] - want[kind][i]) <= 8 * epsilon(&run),
                          "%s of x^2: element %d is %.17g, expected %.17g",
                          cases[kind].name, i, r[i], want[kind][i]);
        }
    }
    static const double powers[] = {1, 2, 4, 8, 16};
    static const double forward[] = {1, 2, 4, 8, -16};
    run_operator(&run, DIFF_P, RUBUS_SHAPE(5), 0, false, &a, powers, r);
    ck_assert_mem_eq(r, forward, sizeof(forward));
    close_runner(&run);
}
END_TEST

/* One point: scaled operators and means are 0, differences see a missing neighbour. */
START_TEST(operator_on_one_point)
{
    runner run;
    open_runner(&run, _i);
    const axis a = {.n = 1, .h = {0}, .f = {0}};
    const double u[1] = {3};
    for (int kind = 0; kind < NOPERATOR; kind++) {
        if (strchr(cases[kind].spacing, 's') != NULL) {
            continue; // its array of spacings would have no element
        }
        double r[1] = {7};
        run_operator(&run, (operator_kind)kind, RUBUS_SHAPE(1), 0, false, &a, u, r);
        const double want = kind == DIFF_M ? 3 : kind == DIFF_P || kind == JUMP ? -3 : 0;
        ck_assert_msg(r[0] == want, "%s of one point is %g", cases[kind].name, r[0]);
    }
    close_runner(&run);
}
END_TEST

static Suite *suite_function(void)
{
    Suite *suite = suite_create("kernel/grid");
    TCase *tcase = tcase_create("grid");
    const bool one = one_backend(&backends[1]);
    const int first = one ? 2 : 0;
    const int end = one ? 4 : 2 * NBACKEND;
    tcase_add_loop_test(tcase, operator_equals_its_matrix_along_each_axis, first, end);
    tcase_add_loop_test(tcase, operator_equals_tiny_matrix, first, end);
    tcase_add_loop_test(tcase, test_trap_16_case_10_02_known_functions, first, end);
    tcase_add_loop_test(tcase, operator_on_one_point, first, end);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUBUS_TEST_MAIN("kernel/grid", suite_function)
