/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transcendental functions of shaders/math.rk, on every backend.
 *
 * math_table.txt holds arguments with correctly rounded results (make_math_table.py).
 * Each function must come within 2 units in the last place of them, give special values
 * exactly, and give the same bits on every backend, in per-point and in whole-array
 * kernels, with int of 32 and of 64 bits. With `fast` the bits may differ, the accuracy
 * holds. Any NaN equals any other: the language gives NaNs no bits.
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
static int nbackend = NBACKEND;

enum { MAX_ROWS = 1024, MAX_GROUPS = 64, MAX_ULP = 2 };

typedef struct group { /* one function in one type */
    char name[16];
    int32_t type;
    int narg;
    int nrow;
    int nspecial; /* the first rows */
    double x[MAX_ROWS];
    double y[MAX_ROWS];
    double result[MAX_ROWS];
} group;

static group groups[MAX_GROUPS];
static int ngroup;

static bool takes_two(const char *name)
{
    return strcmp(name, "atan2") == 0 || strcmp(name, "hypot") == 0 ||
           strcmp(name, "pow") == 0;
}

static bool read_row(FILE *file, int narg, double *x, double *y, double *result)
{
    char word[3][64];
    if (fscanf(file, "%63s %63s", word[0], word[1]) != 2) {
        return false;
    }
    *x = strtod(word[0], NULL);
    *y = 0;
    if (narg == 2) {
        *y = strtod(word[1], NULL);
        if (fscanf(file, "%63s", word[1]) != 1) {
            return false;
        }
    }
    char *end = NULL;
    *result = strtod(word[1], &end);
    return *end == '\0';
}

static void read_table(void)
{
    const char *folder = getenv("RUBUS_TEST_SRCDIR");
    char path[4096];
    snprintf(path, sizeof(path), "%s/tests/kernel/math_table.txt",
             folder != NULL ? folder : ".");
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "cannot read %s", path);
    char line[256];
    ngroup = 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        char type[8];
        group *g = &groups[ngroup];
        if (line[0] == '#' || line[0] == '\n') {
            continue;
        }
        ck_assert_int_eq(
            sscanf(line, "%15s %7s %d %d", g->name, type, &g->nrow, &g->nspecial), 4);
        ck_assert_int_lt(ngroup, MAX_GROUPS - 1);
        ck_assert(g->nrow > g->nspecial && g->nrow <= MAX_ROWS);
        g->type = strcmp(type, "f32") == 0 ? RUBUS_F32 : RUBUS_F64;
        g->narg = takes_two(g->name) ? 2 : 1;
        for (int k = 0; k < g->nrow; k++) {
            ck_assert(read_row(file, g->narg, &g->x[k], &g->y[k], &g->result[k]));
        }
        ngroup++;
    }
    fclose(file);
    ck_assert_int_eq(ngroup, 2 * 17); // 17 functions in two types
}

/* Two kernels for each function: NAME_point and NAME_array. */
static void write_source(char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int k = 0; k < ngroup; k++) {
        const group *g = &groups[k];
        if (g->type != RUBUS_F64) {
            continue; // one text serves both types
        }
        bool two = g->narg == 2;
        int n =
            snprintf(text + used, size - used,
                     "kernel %s_point(out real r[n], in real x[n]%s) over (i in 0:n)\n"
                     "{\n    r[i] = %s(x[i]%s);\n}\n"
                     "kernel %s_array(out real r[n], in real x[n]%s)\n"
                     "{\n    r = %s(x%s);\n}\n",
                     g->name, two ? ", in real y[n]" : "", g->name, two ? ", y[i]" : "",
                     g->name, two ? ", in real y[n]" : "", g->name, two ? ", y" : "");
        ck_assert(n > 0 && (size_t)n < size - used);
        used += (size_t)n;
    }
}

typedef struct runner { /* a backend with the module built in one way */
    rubus_context *context;
    rubus_module *module;
    int32_t type;
    bool fast;
} runner;

static void open_runner(runner *run, const char *backend, int32_t real, int32_t index,
                        bool fast)
{
    static char text[32768];
    write_source(text, sizeof(text));
    rubus_status st = rubus_context_create(backend, &run->context);
    ck_assert_msg(st == RUBUS_OK, "%s: %s", backend, rubus_error_text());
    rubus_module_options options = {.struct_size = sizeof(options)};
    options.real = real;
    options.index = index;
    options.fast = fast;
    run->type = real;
    run->fast = fast;
    st = rubus_module_create(run->context, "math_test.rk", text, &options, &run->module);
    ck_assert_msg(st == RUBUS_OK, "%s: %s", backend, rubus_error_text());
}

static void close_runner(runner *run)
{
    rubus_module_destroy(run->module);
    rubus_context_destroy(run->context);
}

/* result[k] = function(x[k], y[k]) by the kernel FUNCTION_FORM. */
static void apply(const runner *run, const group *g, const char *form, const double *x,
                  const double *y, int n, double *result)
{
    char name[32];
    snprintf(name, sizeof(name), "%s_%s", g->name, form);
    const rubus_kernel *kernel = rubus_module_kernel(run->module, name);
    rubus_array *ax = real_array(run->context, run->type, RUBUS_SHAPE(n), x);
    rubus_array *ay = real_array(run->context, run->type, RUBUS_SHAPE(n), y);
    rubus_array *ar = real_array(run->context, run->type, RUBUS_SHAPE(n), x);
    rubus_status st =
        g->narg == 2 ? rubus_launch(kernel, ar, ax, ay) : rubus_launch(kernel, ar, ax);
    ck_assert_msg(st == RUBUS_OK, "%s: %s", name, rubus_error_text());
    real_read(ar, result);
    rubus_array_destroy(ax);
    rubus_array_destroy(ay);
    rubus_array_destroy(ar);
}

/* Numbers of the type between a and b; both count as far away if one is NaN. */
static uint64_t distance(int32_t type, double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) && isnan(b) ? 0 : UINT64_MAX;
    }
    int64_t i = 0;
    int64_t j = 0;
    if (type == RUBUS_F32) {
        float fa = (float)a;
        float fb = (float)b;
        int32_t ia = 0;
        int32_t ib = 0;
        memcpy(&ia, &fa, sizeof(ia));
        memcpy(&ib, &fb, sizeof(ib));
        i = ia < 0 ? (int64_t)INT32_MIN - ia : ia;
        j = ib < 0 ? (int64_t)INT32_MIN - ib : ib;
    } else {
        memcpy(&i, &a, sizeof(i));
        memcpy(&j, &b, sizeof(j));
        i = i < 0 ? INT64_MIN - i : i;
        j = j < 0 ? INT64_MIN - j : j;
    }
    return i > j ? (uint64_t)i - (uint64_t)j : (uint64_t)j - (uint64_t)i;
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof(a)) == 0;
}

static void check_group(const runner *run, const group *g, const char *backend)
{
    static double got[MAX_ROWS];
    static double array[MAX_ROWS];
    apply(run, g, "point", g->x, g->y, g->nrow, got);
    apply(run, g, "array", g->x, g->y, g->nrow, array);
    for (int k = 0; k < g->nrow; k++) {
        bool good = k < g->nspecial ? same(got[k], g->result[k])
                                    : distance(g->type, got[k], g->result[k]) <= MAX_ULP;
        ck_assert_msg(good, "%s %s: %s(%a, %a) gave %a, expected %a", backend,
                      g->type == RUBUS_F32 ? "f32" : "f64", g->name, g->x[k], g->y[k],
                      got[k], g->result[k]);
        ck_assert_msg(run->fast || same(got[k], array[k]),
                      "%s: %s(%a, %a): %a by point, %a by array", backend, g->name,
                      g->x[k], g->y[k], got[k], array[k]);
    }
}

/* Cases of the loop tests: both types, with int of 32 bits, of 64 bits, and `fast`. */
enum { NCASE = 6 };

static int32_t case_real(int at)
{
    return at % 2 == 0 ? RUBUS_F64 : RUBUS_F32;
}

static int32_t case_index(int at)
{
    return at / 2 == 1 ? RUBUS_I64 : RUBUS_I32;
}

static bool case_fast(int at)
{
    return at / 2 == 2;
}

START_TEST(math_table_arguments_within_two_ulp)
{
    read_table();
    for (int b = 0; b < nbackend; b++) {
        runner run;
        open_runner(&run, backends[b], case_real(_i), case_index(_i), case_fast(_i));
        for (int k = 0; k < ngroup; k++) {
            if (groups[k].type == run.type) {
                check_group(&run, &groups[k], backends[b]);
            }
        }
        close_runner(&run);
    }
}
END_TEST

/* Bits of any kind, so subnormals, huge numbers, infinities and NaNs are among them. */
static double random_number(int32_t type, uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t high = *state >> 32;
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    if (*state >> 62 == 0) { // a quarter is of ordinary size
        return (double)((float)(int32_t)(uint32_t)high * 0x1p-29f);
    }
    if (type == RUBUS_F32) {
        uint32_t bits = (uint32_t)high;
        float x = 0;
        memcpy(&x, &bits, sizeof(x));
        return (double)x;
    }
    uint64_t bits = (high << 32) | (*state >> 32);
    double x = 0;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

START_TEST(math_random_arguments_equal_bits_everywhere)
{
    read_table();
    static double x[MAX_ROWS];
    static double y[MAX_ROWS];
    static double first[MAX_ROWS];
    static double other[MAX_ROWS];
    runner run[NBACKEND];
    for (int b = 0; b < nbackend; b++) {
        open_runner(&run[b], backends[b], case_real(_i), RUBUS_I32, false);
    }
    uint64_t seed = 20240601;
    for (int k = 0; k < MAX_ROWS; k++) {
        x[k] = random_number(run[0].type, &seed);
        y[k] = random_number(run[0].type, &seed);
    }
    for (int g = 0; g < ngroup; g++) {
        if (groups[g].type != run[0].type) {
            continue;
        }
        apply(&run[0], &groups[g], "point", x, y, MAX_ROWS, first);
        for (int b = 1; b < nbackend; b++) {
            apply(&run[b], &groups[g], "point", x, y, MAX_ROWS, other);
            for (int k = 0; k < MAX_ROWS; k++) {
                ck_assert_msg(same(first[k], other[k]),
                              "%s(%a, %a): %s gives %a, %s gives %a", groups[g].name,
                              x[k], y[k], backends[0], first[k], backends[b], other[k]);
            }
        }
    }
    for (int b = 0; b < nbackend; b++) {
        close_runner(&run[b]);
    }
}
END_TEST

static Suite *suite_function(void)
{
    Suite *suite = suite_create("kernel/math");
    nbackend = one_backend(&backends[1]) ? 2 : NBACKEND;
    TCase *tcase = tcase_create("math");
    tcase_add_loop_test(tcase, math_table_arguments_within_two_ulp, 0, NCASE);
    tcase_add_loop_test(tcase, math_random_arguments_equal_bits_everywhere, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUBUS_TEST_MAIN("kernel/math", suite_function)
