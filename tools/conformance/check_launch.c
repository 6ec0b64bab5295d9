/* SPDX-License-Identifier: Apache-2.0 */
/* Checks K: launches, their ranges, arguments and numbers. */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform.h"

/* --- ranges ----------------------------------------------------------------------- */

static const char mark_text[] =
    "kernel mark1(inout int c[nx], inout int u[nx]) over (i)\n"
    "{ atomic_add(c[i], 1); u[i] = i; }\n"
    "kernel mark2(inout int c[nx,ny], inout int u[nx,ny]) over (i, j)\n"
    "{ atomic_add(c[i,j], 1); u[i,j] = i + 1000 * j; }\n"
    "kernel mark3(inout int c[nx,ny,nz], inout int u[nx,ny,nz]) over (i, j, k)\n"
    "{ atomic_add(c[i,j,k], 1); u[i,j,k] = i + 1000 * j + 1000000 * k; }\n";

typedef struct box {
    int rank;
    int64_t n[3];
} box;

static void want_marks(const box *b, const int64_t *lo, const int64_t *hi,
                       const conform_window *c, const conform_window *u)
{
    int32_t *count = conform_contents(c->array);
    int32_t *place = conform_contents(u->array);
    for (int64_t at = 0; at < c->count; at++) {
        const int64_t p[3] = {at % b->n[0], at / b->n[0] % b->n[1],
                              at / b->n[0] / b->n[1]};
        bool inside = true;
        for (int d = 0; d < 3; d++) {
            inside = inside && p[d] >= lo[d] && p[d] < hi[d];
        }
        const int32_t want = (int32_t)(p[0] + 1000 * p[1] + 1000000 * p[2]);
        conform_true(count[at] == inside && place[at] == (inside ? want : -7),
                     "point (%lld, %lld, %lld) of [%lld, %lld, %lld] ran %d times and "
                     "wrote %d; it is %s the range [%lld, %lld) x [%lld, %lld) x [%lld, "
                     "%lld)",
                     (long long)p[0], (long long)p[1], (long long)p[2],
                     (long long)b->n[0], (long long)b->n[1], (long long)b->n[2],
                     count[at], place[at], inside ? "in" : "outside", (long long)lo[0],
                     (long long)hi[0], (long long)lo[1], (long long)hi[1],
                     (long long)lo[2], (long long)hi[2]);
    }
    free(count);
    free(place);
    conform_window_check(c, "a launch");
    conform_window_check(u, "a launch");
}

/* The kernel over [lo, hi), or over everything where lo is NULL. */
static void mark(rubus_context *context, rubus_module *module, const box *b,
                 const int64_t *lo, const int64_t *hi, int shift)
{
    static const int64_t zero[3] = {0, 0, 0};
    static const char *const names[] = {"", "mark1", "mark2", "mark3"};
    const rubus_shape shape = {b->rank, 0, {b->n[0], b->n[1], b->n[2], 0}};
    conform_window c = conform_window_make(context, RUBUS_I32, shape, shift);
    conform_window u = conform_window_make(context, RUBUS_I32, shape, shift + 1);
    const rubus_kernel *kernel = conform_kernel(module, names[b->rank]);
    conform_ok(rubus_array_fill(c.array, 0));
    conform_ok(rubus_array_fill(u.array, -7));
    if (lo == NULL) {
        conform_ok(rubus_launch(kernel, c.array, u.array));
    } else {
        conform_ok(rubus_launch_range(kernel, lo, hi, c.array, u.array));
    }
    want_marks(b, lo == NULL ? zero : lo, lo == NULL ? b->n : hi, &c, &u);
    conform_window_destroy(&c);
    conform_window_destroy(&u);
}

static void index_coverage(void)
{
    static const box boxes[] = {
        {1, {1, 1, 1}},     {1, {2, 1, 1}},     {1, {63, 1, 1}},   {1, {64, 1, 1}},
        {1, {65, 1, 1}},    {1, {257, 1, 1}},   {1, {1023, 1, 1}}, {1, {1025, 1, 1}},
        {1, {99991, 1, 1}}, {2, {1, 1, 1}},     {2, {7, 13, 1}},   {2, {1, 4999, 1}},
        {2, {4999, 1, 1}},  {2, {257, 129, 1}}, {2, {33, 65, 1}},  {3, {1, 1, 1}},
        {3, {5, 7, 11}},    {3, {33, 17, 9}},   {3, {2, 3, 1025}}, {3, {1025, 2, 3}},
        {3, {3, 1025, 2}},  {3, {64, 8, 8}},    {3, {1, 1, 3001}}, {2, {65, 1023, 1}},
    };
    rubus_context *context = conform_open();
    rubus_module *module = conform_module(context, mark_text, RUBUS_F32);
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
        const box *b = &boxes[i];
        mark(context, module, b, NULL, NULL, (int)i % 3);
        // and from the second point on, in every dimension that has one
        const int64_t lo[3] = {b->n[0] > 1, b->n[1] > 1, b->n[2] > 1};
        mark(context, module, b, lo, b->n, (int)i % 2);
    }
    rubus_module_destroy(module);
    rubus_context_destroy(context);
}

static void ranges_of_launches(void)
{
    enum { ROUNDS = 150 };
    conform_dice dice = {conform_seed()};
    rubus_context *context = conform_open();
    rubus_module *module = conform_module(context, mark_text, RUBUS_F32);
    for (int round = 0; round < ROUNDS; round++) {
        static const int64_t most[] = {0, 5000, 90, 20};
        box b = {1 + round % 3, {1, 1, 1}};
        int64_t lo[3] = {0, 0, 0};
        int64_t hi[3] = {1, 1, 1};
        for (int d = 0; d < b.rank; d++) {
            b.n[d] = 1 + conform_below(&dice, most[b.rank]);
            lo[d] = conform_below(&dice, b.n[d] + 1);
            hi[d] = lo[d] + conform_below(&dice, b.n[d] - lo[d] + 1); // perhaps empty
        }
        conform_say("seed %llu, round %d: ", (unsigned long long)conform_seed(), round);
        mark(context, module, &b, lo, hi, round % 3);
    }
    rubus_module_destroy(module);
    rubus_context_destroy(context);
}

/* More points along an axis than most devices have groups, at their usual limits. */
static void group_limits(void)
{
    static const box boxes[] = {
        {1, {65535 * 16 - 1, 1, 1}}, {1, {65535 * 16 + 1, 1, 1}},
        {1, {65535 * 64 + 1, 1, 1}}, {2, {1, 65535, 1}},
        {2, {1, 65536, 1}},          {2, {3, 70001, 1}},
        {3, {1, 1, 65535}},          {3, {1, 1, 65537}},
        {3, {2, 1, 70001}},          {3, {1, 70001, 2}},
    };
    rubus_context *context = conform_open();
    rubus_module *module = conform_module(context, mark_text, RUBUS_F32);
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
        mark(context, module, &boxes[i], NULL, NULL, 0);
    }
    static const char text[] = "kernel place(out int u[nx,ny,nz]) over (i, j, k)\n"
                               "{ u[i,j,k] = i + nx * (j + ny * k); }\n";
    rubus_module *places = conform_module(context, text, RUBUS_F32);
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++) {
        const int64_t *n = boxes[i].n;
        rubus_array *u = NULL;
        conform_ok(
            rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(n[0], n[1], n[2]), &u));
        conform_ok(rubus_launch(conform_kernel(places, "place"), u));
        int32_t *got = conform_contents(u);
        for (int64_t k = 0; k < n[0] * n[1] * n[2]; k++) {
            conform_true(got[k] == k, "[%lld, %lld, %lld]: point %lld has %d",
                         (long long)n[0], (long long)n[1], (long long)n[2], (long long)k,
                         got[k]);
        }
        free(got);
        rubus_array_destroy(u);
    }
    rubus_module_destroy(places);
    rubus_module_destroy(module);
    rubus_context_destroy(context);
}

/* --- arguments -------------------------------------------------------------------- */

enum { MOST_SCALARS = 400 };

/* One array and many scalars: u = s0 + 2 s1 + 3 s2 ... */
static char *wide_kernel(int nscalar)
{
    const size_t room = 200 + (size_t)nscalar * 40;
    char *text = conform_memory(room);
    size_t used = (size_t)snprintf(text, room, "kernel wide(out int u[n]");
    for (int i = 0; i < nscalar; i++) {
        used += (size_t)snprintf(text + used, room - used, ", int s%d", i);
    }
    used += (size_t)snprintf(text + used, room - used, ") over (i) { u[i] = i");
    for (int i = 0; i < nscalar; i++) {
        used += (size_t)snprintf(text + used, room - used, " + %d * s%d", i + 1, i);
    }
    snprintf(text + used, room - used, "; }\n");
    return text;
}

static void param_bytes(void)
{
    static const int counts[] = {0, 1, 2, 7, 15, 16, 17, 18, 31, 60, 250, MOST_SCALARS};
    enum { N = 37 };
    rubus_context *context = conform_open();
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        rubus_arg args[MOST_SCALARS + 1];
        char *text = wide_kernel(counts[c]);
        rubus_module *module = conform_module(context, text, RUBUS_F32);
        conform_window u = conform_window_make(context, RUBUS_I32, RUBUS_SHAPE(N), 1);
        uint32_t sum = 0;
        args[0] = rubus_arg_array(u.array);
        for (int i = 0; i < counts[c]; i++) {
            const int32_t value = 7919 * i - 100;
            args[i + 1] = rubus_arg_integer(value);
            sum += (uint32_t)(i + 1) * (uint32_t)value;
        }
        conform_say("%d scalars: ", counts[c]);
        conform_ok(rubus_launch_args(conform_kernel(module, "wide"), args,
                                     (size_t)counts[c] + 1));
        int32_t *got = conform_contents(u.array);
        for (int i = 0; i < N; i++) {
            conform_true((uint32_t)got[i] == sum + (uint32_t)i,
                         "element %d is %d, should be %d", i, got[i],
                         (int32_t)(sum + (uint32_t)i));
        }
        free(got);
        conform_window_check(&u, "it");
        conform_window_destroy(&u);
        rubus_module_destroy(module);
        free(text);
    }
    rubus_context_destroy(context);
}

/* Sixteen arrays in one kernel, at different offsets. */
static void many_arrays(void)
{
    enum { ARRAYS = 16, N = 1003 };
    char text[2000];
    size_t used = (size_t)snprintf(text, sizeof text, "kernel sums(out int r[n]");
    for (int i = 0; i < ARRAYS; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, ", in int a%d[n]", i);
    }
    used += (size_t)snprintf(text + used, sizeof text - used, ") { r = 0");
    for (int i = 0; i < ARRAYS; i++) {
        used +=
            (size_t)snprintf(text + used, sizeof text - used, " + %d * a%d", i + 1, i);
    }
    snprintf(text + used, sizeof text - used, "; }\n");
    rubus_context *context = conform_open();
    rubus_module *module = conform_module(context, text, RUBUS_F32);
    conform_window w[ARRAYS + 1];
    rubus_arg args[ARRAYS + 1];
    int32_t want[N] = {0};
    for (int i = 0; i <= ARRAYS; i++) {
        w[i] = conform_window_make(context, RUBUS_I32, RUBUS_SHAPE(N), i % 5);
        args[i] = rubus_arg_array(w[i].array);
        int32_t data[N];
        for (int k = 0; k < N; k++) {
            data[k] = i * 31 + k * (i + 3);
            want[k] += i > 0 ? i * data[k] : 0;
        }
        conform_ok(rubus_array_write(w[i].array, data, sizeof data));
    }
    conform_ok(rubus_launch_args(conform_kernel(module, "sums"), args, ARRAYS + 1));
    void *got = conform_contents(w[0].array);
    conform_same(got, want, N, RUBUS_I32, "the sum of sixteen arrays");
    free(got);
    for (int i = 0; i <= ARRAYS; i++) {
        conform_window_check(&w[i], "a kernel of many arrays");
        conform_window_destroy(&w[i]);
    }
    rubus_module_destroy(module);
    rubus_context_destroy(context);
}

static void refuse(rubus_status got, rubus_status want, const char *what)
{
    conform_true(got == want, "%s: %s, not %s", what, rubus_status_name(got),
                 rubus_status_name(want));
    conform_true(rubus_error_text()[0] != '\0', "%s: no text", what);
}

static void bad_arguments(void)
{
    static const char text[] =
        "kernel two(out real u[n], in real v[n], real a) { u = a * v; }\n"
        "kernel past(out real u[n], in real v[n]) over (i in 0:n) { u[i] = v[i+1]; }\n";
    enum { N = 50 };
    const int32_t real = conform_real();
    rubus_context *context = conform_open();
    rubus_context *other = conform_open();
    rubus_module *module = conform_module(context, text, real);
    const rubus_kernel *two = conform_kernel(module, "two");
    conform_window u = conform_window_make(context, real, RUBUS_SHAPE(N), 0);
    conform_window v = conform_window_make(context, real, RUBUS_SHAPE(N), 0);
    conform_window longer = conform_window_make(context, real, RUBUS_SHAPE(N + 1), 0);
    conform_window ints = conform_window_make(context, RUBUS_I32, RUBUS_SHAPE(N), 0);
    conform_window foreign = conform_window_make(other, real, RUBUS_SHAPE(N), 0);
    conform_ok(rubus_array_fill(u.array, 3));
    conform_ok(rubus_array_fill(v.array, 5));
    rubus_array *none = NULL;
    refuse(rubus_launch(two, u.array, v.array), RUBUS_EINVAL, "an argument too few");
    refuse(rubus_launch(two, u.array, v.array, 1.0, 2.0), RUBUS_EINVAL, "one too many");
    refuse(rubus_launch(two, u.array, none, 1.0), RUBUS_EINVAL, "no array");
    refuse(rubus_launch(two, u.array, 2.0, 1.0), RUBUS_EINVAL, "a number for an array");
    refuse(rubus_launch(two, u.array, v.array, v.array), RUBUS_EINVAL,
           "an array for a number");
    refuse(rubus_launch(two, u.array, longer.array, 1.0), RUBUS_ESHAPE, "other extents");
    refuse(rubus_launch(two, u.array, ints.array, 1.0), RUBUS_ETYPE, "another type");
    refuse(rubus_launch(two, u.array, u.array, 1.0), RUBUS_EALIAS, "one array twice");
    refuse(rubus_launch(two, u.array, foreign.array, 1.0), RUBUS_EFOREIGN,
           "an array of another context");
    refuse(rubus_launch(conform_kernel(module, "past"), u.array, v.array), RUBUS_EBOUNDS,
           "an access past the end");
    refuse(rubus_launch(rubus_module_kernel(module, "three"), u.array), RUBUS_ENOTFOUND,
           "a kernel that is not there");
    void *got = conform_contents(u.array);
    for (int i = 0; i < N; i++) {
        conform_true(conform_real_at(got, real, i) == 3,
                     "element %d is %g after launches that were refused", i,
                     conform_real_at(got, real, i));
    }
    free(got);
    conform_ok(rubus_launch(two, u.array, v.array, 2.0));
    got = conform_contents(u.array);
    conform_true(conform_real_at(got, real, N - 1) == 10, "a good launch then gives %g",
                 conform_real_at(got, real, N - 1));
    free(got);
    conform_window *all[] = {&u, &v, &longer, &ints, &foreign};
    for (int i = 0; i < 5; i++) {
        conform_window_check(all[i], "a launch that was refused");
        conform_window_destroy(all[i]);
    }
    rubus_module_destroy(module);
    rubus_context_destroy(context);
    rubus_context_destroy(other);
}

/* --- modules ---------------------------------------------------------------------- */

static void two_kernels_same_name(void)
{
    enum { MODULES = 24, N = 300 };
    rubus_context *context = conform_open();
    rubus_module *module[MODULES];
    rubus_array *u[MODULES];
    for (int i = 0; i < MODULES; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "kernel same(inout int u[n]) { u = u * %d + %d * ix(u); }\n", i + 2,
                 i / 2); // two of a kind, often
        module[i] = conform_module(context, text, RUBUS_F32);
        conform_ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(N), &u[i]));
        conform_ok(rubus_array_fill(u[i], 1));
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MODULES; i++) {
            const int at = (i * 7 + round) % MODULES;
            conform_ok(rubus_launch(conform_kernel(module[at], "same"), u[at]));
        }
    }
    for (int i = 0; i < MODULES; i++) {
        int32_t *got = conform_contents(u[i]);
        for (int k = 0; k < N; k++) {
            int32_t want = 1;
            for (int round = 0; round < 3; round++) {
                want = want * (i + 2) + i / 2 * k;
            }
            conform_true(got[k] == want, "module %d: element %d is %d, should be %d", i,
                         k, got[k], want);
        }
        free(got);
        rubus_array_destroy(u[i]);
    }
    for (int i = 0; i < MODULES; i++) {
        rubus_module_destroy(module[(i * 5) % MODULES]);
    }
    rubus_context_destroy(context);
}

static void compile_error_text(void)
{
    static const char text[] = "kernel wrong(out real u[n])\n{\n    u = 1;\n    u = 2;\n"
                               "    u = 3;\n    u = 4;\n    u = nothing;\n}\n";
    rubus_context *context = conform_open();
    rubus_module *module = NULL;
    for (int round = 0; round < 3; round++) {
        const rubus_status st =
            rubus_module_create(context, "bad.rk", text, NULL, &module);
        conform_true(st == RUBUS_ECOMPILE, "a source with an error gives %s",
                     rubus_status_name(st));
        conform_true(strstr(rubus_error_text(), "bad.rk:7:") != NULL,
                     "the error of line 7 is reported as: %s", rubus_error_text());
        rubus_module *good =
            conform_module(context, "kernel k(out int u[n]) { u = ix(u); }", RUBUS_F32);
        rubus_module_destroy(good);
    }
    rubus_context_destroy(context);
}

/* --- numbers ---------------------------------------------------------------------- */

static const char special_text[] =
    "kernel special(out real r[n,10], in real a[n], in real b[n]) over (i in 0:n)\n"
    "{\n"
    "    real x = a[i];\n"
    "    real y = b[i];\n"
    "    r[i,0] = x;\n"
    "    r[i,1] = -x;\n"
    "    r[i,2] = x + y;\n"
    "    r[i,3] = x - y;\n"
    "    r[i,4] = x * y;\n"
    "    r[i,5] = x / y;\n"
    "    r[i,6] = sqrt(x);\n"
    "    r[i,7] = x / 2;\n"
    "    r[i,8] = abs(x);\n"
    "    r[i,9] = y * y - x;\n"
    "}\n";

static const char *const special_name[10] = {"x",     "-x",       "x + y",  "x - y",
                                             "x * y", "x / y",    "sqrt x", "x / 2",
                                             "abs x", "y * y - x"};

/* NaN is NaN, whatever its bits; all else to the bit, and so zeros by their sign. */
static bool equal(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static double expected64(int k, double x, double y)
{
    const volatile double square = y * y; // rounded before the difference
    const double results[10] = {x,     -x,      x + y, x - y,   x * y,
                                x / y, sqrt(x), x / 2, fabs(x), square - x};
    return results[k];
}

static double expected32(int k, float x, float y)
{
    const volatile float square = y * y;
    const float results[10] = {x,     -x,       x + y, x - y,    x * y,
                               x / y, sqrtf(x), x / 2, fabsf(x), square - x};
    return (double)results[k];
}

enum { SPECIALS = 20, PAIRS = SPECIALS * SPECIALS };

/* Every pair of special numbers. */
static void special_pairs(bool f64, double a[PAIRS], double b[PAIRS])
{
    const double least = f64 ? 0x1p-1074 : 0x1p-149;
    const double smallest = f64 ? DBL_MIN : (double)FLT_MIN;
    const double largest = f64 ? DBL_MAX : (double)FLT_MAX;
    const double list[SPECIALS] = {0.0,
                                   -0.0,
                                   1.0,
                                   -1.0,
                                   3.0,
                                   NAN,
                                   INFINITY,
                                   -INFINITY,
                                   least,
                                   -least,
                                   3 * least,
                                   smallest,
                                   -smallest,
                                   smallest - least,
                                   smallest * 1.5,
                                   largest,
                                   -largest,
                                   largest / 2,
                                   1.0 / 3,
                                   1 + 0x1p-20};
    for (int i = 0; i < PAIRS; i++) {
        a[i] = list[i % SPECIALS];
        b[i] = list[i / SPECIALS];
    }
}

static void specials_in(rubus_context *context, int32_t real)
{
    enum { N = PAIRS };
    const bool f64 = real == RUBUS_F64;
    double a64[N];
    double b64[N];
    float a32[N];
    float b32[N];
    special_pairs(f64, a64, b64);
    for (int i = 0; i < N; i++) {
        a32[i] = (float)a64[i];
        b32[i] = (float)b64[i];
    }
    rubus_module *module = conform_module(context, special_text, real);
    rubus_array *a = NULL;
    rubus_array *b = NULL;
    rubus_array *r = NULL;
    conform_ok(rubus_array_from(context, real, RUBUS_SHAPE(N),
                                f64 ? (void *)a64 : (void *)a32, &a));
    conform_ok(rubus_array_from(context, real, RUBUS_SHAPE(N),
                                f64 ? (void *)b64 : (void *)b32, &b));
    conform_ok(rubus_array_create(context, real, RUBUS_SHAPE(N, 10), &r));
    conform_ok(rubus_launch(conform_kernel(module, "special"), r, a, b));
    void *got = conform_contents(r);
    for (int k = 0; k < 10; k++) {
        for (int i = 0; i < N; i++) {
            const double want =
                f64 ? expected64(k, a64[i], b64[i]) : expected32(k, a32[i], b32[i]);
            const double is = conform_real_at(got, real, k * N + i);
            conform_true(equal(is, want), "%s: %s of x = %a, y = %a is %a, should be %a",
                         conform_type_name(real), special_name[k], a64[i], b64[i], is,
                         want);
        }
    }
    free(got);
    rubus_array_destroy(a);
    rubus_array_destroy(b);
    rubus_array_destroy(r);
    rubus_module_destroy(module);
}

static void nan_inf_denormal_passthrough(void)
{
    rubus_context *context = conform_open();
    specials_in(context, RUBUS_F32);
    if (conform_facts_now()->caps.fp64 != 0) {
        specials_in(context, RUBUS_F64);
    }
    rubus_context_destroy(context);
}

/* A kernel that takes seconds: devices with a watchdog need it cut, or an error. */
static void long_kernel(void)
{
    static const char text[] =
        "kernel long_one(out int u[n], int turns, int zero) over (i)\n"
        "{\n"
        "    int x = i;\n"
        "    for (int t = 0; t < turns; t++) { x = x * 1664525 + 1013904223; }\n"
        "    u[i] = i + x * zero;\n"
        "}\n";
    enum { N = 4096 };
    rubus_context *context = conform_open();
    rubus_module *module = conform_module(context, text, RUBUS_F32);
    rubus_array *u = NULL;
    conform_ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(N), &u));
    int64_t turns = 100;
    for (;;) {
        const double start = conform_clock();
        conform_ok(rubus_array_fill(u, -1));
        rubus_status st = rubus_launch(conform_kernel(module, "long_one"), u, turns, 0);
        if (st == RUBUS_OK) {
            st = rubus_context_synchronize(context);
        }
        if (st == RUBUS_ETIMEOUT || st == RUBUS_ELOST) {
            conform_true(rubus_error_text()[0] != '\0', "%s without a text",
                         rubus_status_name(st));
            break; // said so, and the process lives
        }
        conform_ok(st);
        int32_t *got = conform_contents(u);
        for (int i = 0; i < N; i++) {
            conform_true(got[i] == i, "%lld turns: element %d is %d", (long long)turns, i,
                         got[i]);
        }
        free(got);
        const double seconds = conform_clock() - start;
        if (seconds > 1.5 || turns > INT32_MAX / 8) {
            break;
        }
        turns *= seconds < 0.2 ? 8 : 2;
    }
    rubus_array_destroy(u);
    rubus_module_destroy(module);
    rubus_context_destroy(context);
}

const conform_check conform_launch_checks[] = {
    {"C06_group_limits", CONFORM_FULL, 240, 0,
     "ranges longer than most devices have groups", group_limits},
    {"C07_param_bytes", CONFORM_FULL, 240, 0, "kernels of 0 to 400 scalars", param_bytes},
    {"K01_index_coverage", CONFORM_BASIC, 120, 0,
     "every point of a range runs once, in 1 to 3 dimensions", index_coverage},
    {"K02_bad_arguments", CONFORM_BASIC, 60, 0,
     "launches with wrong arguments are refused and write nothing", bad_arguments},
    {"K04_two_kernels_same_name", CONFORM_FULL, 240, 0,
     "24 modules with kernels of one name, alive together", two_kernels_same_name},
    {"K06_nan_inf_denormal_passthrough", CONFORM_BASIC, 60, 0,
     "NaN, infinities, signed zeros and the smallest numbers, to the bit",
     nan_inf_denormal_passthrough},
    {"K07_compile_error_text", CONFORM_BASIC, 60, 0,
     "an error in a source is reported with its line, and harms nothing",
     compile_error_text},
    {"K08_long_kernel", CONFORM_FULL, 300, 0,
     "a kernel of seconds gives the right result, or an error that says so", long_kernel},
    {"K09_ranges_of_launches", CONFORM_BASIC, 180, 0,
     "ranges given with a launch, also empty ones; nothing outside is written",
     ranges_of_launches},
    {"K10_many_arrays", CONFORM_BASIC, 60, 0, "sixteen arrays in one kernel",
     many_arrays},
    {.name = NULL},
};
