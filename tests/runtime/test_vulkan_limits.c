/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The backend vulkan on devices poorer than the one at hand: options lower its limits and
 * take features away, one at a time and all together, by addresses and by descriptors.
 * Every kernel gives the bits of the backend threads, or an error that names what is
 * missing. Everything runs under validate=1, so a message of the layer is an error too:
 * code for 64-bit floats, say, on a device that was opened without them.
 */
#include "config.h"

#include <stdlib.h>

#include <rubus/solve.h>

#include "tests/runtime/vulkan_probe.h"

/* What is lowered; the last is all of it that leaves every kernel possible. */
static const char *const lowered[] = {"",
                                      ":cap.max_binding=134217728",
                                      ":cap.groups=64",
                                      ":cap.groups=1",
                                      ":cap.subgroup=4",
                                      ":cap.subgroup=64",
                                      ":cap.push=128",
                                      ":cap.atomics=0",
                                      ":cap.int64=0",
                                      ":cap.bool8=0",
                                      ":fp64=off",
                                      ":cap.max_binding=134217728:cap.groups=64"
                                      ":cap.subgroup=4:cap.push=128:cap.atomics=0"
                                      ":cap.int64=0:cap.max_alloc=268435456"};
enum { LOWERED = sizeof lowered / sizeof lowered[0], SPEC = 300 };

/* Loop number _i: which line of the list, and which mode. */
static const char *spec_of(int i, char out[SPEC])
{
    snprintf(out, SPEC, "vulkan:validate=1:descriptors=%s%s", i % 2 == 0 ? "off" : "on",
             lowered[i / 2]);
    return out;
}

static bool lacks(const char *spec, const char *option)
{
    return strstr(spec, option) != NULL;
}

/* --- the same bits as on threads -------------------------------------------------- */

enum { NX = 131, NY = 67, N = NX * NY, BINS = 37 };

static const char arithmetic[] =
    "kernel whole(inout real u[nx,ny], in real f[nx,ny], real dt)\n"
    "{ let g = 0.5 * f + d2(f); inn(u) += dt * (d2_xi(g) + d2_yi(g)) / (1 + abs(inn(f)));"
    " u[0, :] = u[1, :]; }\n"
    "op d2(A[,]) = pad(d2_xi(A) - d2_yi(A), 1);\n"
    "kernel point(out real y[n], in real x[n], in index at[n], int terms) over (i)\n"
    "{ real s; for (int k = 0; k < terms; k++) s += sin(x[at[i]] * (k + 1)) / (1 + k);"
    " y[i] = s > 0.3 ? sqrt(s) : s * s; }\n"
    "kernel fold(in real u[nx,ny], out real s, out real high, out real low)\n"
    "{ s = sum(u * u - 0.1); high = max(u); low = min(u); }\n"
    "kernel ints(out int q[n], in int a[n], int k) over (i)\n"
    "{ q[i] = fld(a[i], k) - 3 * mod(a[i], k) + (a[i] % 7) * div(a[i], k) * a[i]; }\n"
    "kernel many(out real a[n], real f0, real f1, real f2, real f3, real f4, real f5,\n"
    "            real f6, real f7, real f8, real f9, real g0, real g1, real g2, real "
    "g3,\n"
    "            real g4, real g5, real g6, real g7, real g8, real g9)\n"
    "{ a = f0 + 2 * f1 + f2 * f3 - f4 / f5 + f6 + f7 + f8 * ix(a) + f9 - g0 + g1 * g2\n"
    "    + g3 - g4 * g5 + g6 + g7 / g8 - g9; }\n";

static const char masks[] =
    "kernel mask(out bool m[n], inout real x[n], in bool b[n])\n"
    "{ m = (x > 0.25) != b; x = b ? -x : x; }\n"
    "kernel flip(inout bool m[n], in index at[n], bool on) over (i)\n"
    "{ if (at[i] % 3 == 0) { m[i] = m[i] != on; } }\n";

static const char atomics[] =
    "kernel add(inout real h[m], inout int c[m], in index at[n]) over (i in 0:n)\n"
    "{ atomic_add(h[at[i] % m], 2); atomic_add(c[at[i] % m], at[i]); }\n";

typedef struct inputs {
    double real[2][N];
    int32_t index[N];
    int32_t number[N];
    bool bit[N];
} inputs;

static inputs in;

static void make_inputs(void)
{
    uint32_t state = 12345;
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 2; k++) {
            state = state * 1664525u + 1013904223u;
            in.real[k][i] = (double)(state >> 8) / (1 << 24) - 0.5;
        }
        state = state * 1664525u + 1013904223u;
        in.index[i] = (int32_t)((state >> 8) % N);
        state = state * 1664525u + 1013904223u;
        in.number[i] = (int32_t)state;
        in.bit[i] = (state & 0x4000) != 0;
    }
}

/* Everything that the kernels give; bytes, to be compared as a whole. */
typedef struct outputs {
    unsigned char u[N * 8];
    unsigned char y[N * 8];
    unsigned char many[N * 8];
    double fold[3];
    int32_t q[N];
} outputs;

static rubus_array *reals(rubus_context *context, int32_t real, rubus_shape shape, int k)
{
    static float narrow[N];
    const void *data = in.real[k];
    if (real == RUBUS_F32) {
        for (int i = 0; i < N; i++) {
            narrow[i] = (float)in.real[k][i];
        }
        data = narrow;
    }
    rubus_array *array = NULL;
    ok(rubus_array_from(context, real, shape, data, &array));
    return array;
}

static rubus_array *array_of(rubus_context *context, int32_t type, int64_t n,
                             const void *data)
{
    rubus_array *array = NULL;
    ok(rubus_array_from(context, type, RUBUS_SHAPE(n), data, &array));
    return array;
}

static void take(rubus_array *array, void *to)
{
    ok(rubus_array_read(array, to, rubus_array_nbyte(array)));
    rubus_array_destroy(array);
}

static void run_arithmetic(rubus_context *context, int32_t real, outputs *out)
{
    memset(out, 0, sizeof *out);
    rubus_module *module = backends_module(context, arithmetic, real, 0);
    rubus_array *u = reals(context, real, RUBUS_SHAPE(NX, NY), 0);
    rubus_array *f = reals(context, real, RUBUS_SHAPE(NX, NY), 1);
    rubus_array *x = reals(context, real, RUBUS_SHAPE(N), 0);
    rubus_array *y = reals(context, real, RUBUS_SHAPE(N), 1);
    rubus_array *at = array_of(context, RUBUS_I32, N, in.index);
    rubus_array *a = array_of(context, RUBUS_I32, N, in.number);
    rubus_array *q = array_of(context, RUBUS_I32, N, in.number);
    rubus_array *many = reals(context, real, RUBUS_SHAPE(N), 1);
    for (int round = 0; round < 3; round++) {
        ok(rubus_launch(backends_kernel(module, "whole"), u, f, 0.25));
        ok(rubus_launch(backends_kernel(module, "point"), y, x, at, 4));
        ok(rubus_launch(backends_kernel(module, "ints"), q, a, round - 1));
        ok(rubus_launch(backends_kernel(module, "many"), many, 0.1, 0.2, 0.3, 0.4, 0.5,
                        0.6, 0.7, 0.8, 0.9, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9,
                        2.1, round));
    }
    ok(rubus_launch(backends_kernel(module, "fold"), u, &out->fold[0], &out->fold[1],
                    &out->fold[2]));
    take(u, out->u);
    take(y, out->y);
    take(many, out->many);
    take(q, out->q);
    rubus_array_destroy(f);
    rubus_array_destroy(x);
    rubus_array_destroy(at);
    rubus_array_destroy(a);
    rubus_module_destroy(module);
}

/* The call makes the module, or fails for a reason: then NULL. */
static rubus_module *module_or_reason(rubus_context *context, const char *text,
                                      int32_t real, const char *reason)
{
    const rubus_module_options options = {.struct_size = sizeof options, .real = real};
    rubus_module *module = NULL;
    const rubus_status st =
        rubus_module_create(context, "test.rk", text, &options, &module);
    if (reason == NULL) {
        ok(st);
    } else {
        fails(st, RUBUS_EUNSUPPORTED, reason);
        ck_assert_ptr_null(module);
    }
    return module;
}

static void same(const void *got, const void *want, size_t nbyte, const char *what,
                 const char *spec)
{
    const unsigned char *a = got;
    const unsigned char *b = want;
    for (size_t i = 0; i < nbyte; i++) {
        ck_assert_msg(a[i] == b[i], "%s: %s: byte %zu is %02x, not %02x", spec, what, i,
                      a[i], b[i]);
    }
}

START_TEST(arithmetic_gives_the_bits_of_threads)
{
    char spec[SPEC];
    make_inputs();
    static outputs got;
    static outputs want;
    rubus_context *here = open_spec("threads:threads=1");
    rubus_context *there = open_spec(spec_of(_i, spec));
    for (int32_t real = RUBUS_F32; real <= RUBUS_F64; real++) {
        if (real == RUBUS_F64 && _i % 2 != 0 && _i / 2 + 1 < LOWERED) {
            continue; // the mode matters for both alike
        }
        if (real == RUBUS_F64 && lacks(spec, "fp64=off")) {
            ck_assert_ptr_null(
                module_or_reason(there, arithmetic, real, "llvmpipe|no f64|f32"));
            continue;
        }
        run_arithmetic(here, real, &want);
        run_arithmetic(there, real, &got);
        same(got.u, want.u, sizeof got.u, "whole", spec);
        same(got.y, want.y, sizeof got.y, "point", spec);
        same(got.many, want.many, sizeof got.many, "many", spec);
        same(got.fold, want.fold, sizeof got.fold, "fold", spec);
        same(got.q, want.q, sizeof got.q, "ints", spec);
    }
    rubus_context_destroy(here);
    backends_finish(there);
}
END_TEST

typedef struct bits {
    bool m[N];
    float x[N];
} bits;

static void run_masks(rubus_context *context, rubus_module *module, bits *out)
{
    memset(out, 0, sizeof *out);
    bool odd[N];
    for (int i = 0; i < N; i++) {
        odd[i] = i % 2 != 0;
    }
    rubus_array *m = array_of(context, RUBUS_BOOL, N, odd);
    rubus_array *b = array_of(context, RUBUS_BOOL, N, in.bit);
    rubus_array *x = reals(context, RUBUS_F32, RUBUS_SHAPE(N), 0);
    rubus_array *at = array_of(context, RUBUS_I32, N, in.index);
    rubus_array *part = NULL; // bytes that begin and end inside words
    rubus_array *positions = NULL;
    ok(rubus_array_view(m, 3, RUBUS_SHAPE(N - 8), &part));
    ok(rubus_array_view(at, 3, RUBUS_SHAPE(N - 8), &positions));
    ok(rubus_launch(backends_kernel(module, "mask"), m, x, b));
    ok(rubus_launch(backends_kernel(module, "flip"), part, positions, 1));
    rubus_array_destroy(part);
    rubus_array_destroy(positions);
    take(m, out->m);
    take(x, out->x);
    rubus_array_destroy(b);
    rubus_array_destroy(at);
}

START_TEST(masks_give_the_bits_of_threads)
{
    char spec[SPEC];
    make_inputs();
    static bits got;
    static bits want;
    rubus_context *here = open_spec("threads:threads=1");
    rubus_context *there = open_spec(spec_of(_i, spec));
    const bool none = lacks(spec, "bool8=0");
    rubus_module *own = backends_module(here, masks, RUBUS_F32, 0);
    rubus_module *module = module_or_reason(
        there, masks, RUBUS_F32, none ? "llvmpipe|8-bit storage|bool|use int" : NULL);
    if (module != NULL) {
        run_masks(here, own, &want);
        run_masks(there, module, &got);
        same(got.m, want.m, sizeof got.m, "mask", spec);
        same(got.x, want.x, sizeof got.x, "values under a mask", spec);
    }
    rubus_module_destroy(own);
    rubus_module_destroy(module);
    rubus_context_destroy(here);
    backends_finish(there);
}
END_TEST

/* Whole numbers: the same in any order of the additions. */
START_TEST(atomic_sums_are_exact)
{
    char spec[SPEC];
    make_inputs();
    rubus_context *context = open_spec(spec_of(_i, spec));
    for (int32_t real = RUBUS_F32; real <= RUBUS_F64; real++) {
        const bool none =
            real == RUBUS_F64 && (lacks(spec, "atomics=0") || lacks(spec, "int64=0") ||
                                  lacks(spec, "fp64=off"));
        const rubus_module_options options = {.struct_size = sizeof options,
                                              .real = real};
        rubus_module *module = NULL;
        const rubus_status st =
            rubus_module_create(context, "test.rk", atomics, &options, &module);
        if (none && st != RUBUS_OK) {
            fails(st, RUBUS_EUNSUPPORTED, "llvmpipe|64|f32");
            continue;
        }
        ok(st);
        double want_h[BINS] = {0};
        int32_t want_c[BINS] = {0};
        double got_h[BINS];
        int32_t got_c[BINS];
        for (int i = 0; i < N; i++) {
            want_h[in.index[i] % BINS] += 6;
            want_c[in.index[i] % BINS] += 3 * in.index[i];
        }
        rubus_array *at = array_of(context, RUBUS_I32, N, in.index);
        rubus_array *c = NULL;
        rubus_array *h = NULL;
        ok(rubus_array_create(context, RUBUS_I32, RUBUS_SHAPE(BINS), &c));
        ok(rubus_array_create(context, real, RUBUS_SHAPE(BINS), &h));
        ok(rubus_array_fill(c, 0));
        ok(rubus_array_fill(h, 0));
        for (int round = 0; round < 3; round++) {
            ok(rubus_launch(backends_kernel(module, "add"), h, c, at));
        }
        take(h, got_h);
        take(c, got_c);
        for (int i = BINS - 1; i >= 0 && real == RUBUS_F32; i--) {
            float narrow;
            memcpy(&narrow, (const unsigned char *)got_h + i * sizeof narrow,
                   sizeof narrow);
            got_h[i] = (double)narrow;
        }
        for (int i = 0; i < BINS; i++) {
            ck_assert_msg(got_h[i] == want_h[i] && got_c[i] == want_c[i],
                          "%s, bin %d: %g and %d, not %g and %d", spec, i, got_h[i],
                          got_c[i], want_h[i], want_c[i]);
        }
        rubus_array_destroy(at);
        rubus_module_destroy(module);
    }
    backends_finish(context);
}
END_TEST

/* --- 64-bit integers -------------------------------------------------------------- */

static const char far_away[] =
    "kernel far(out real y[n], in int a[n], int first) over (i in first:first + n)\n"
    "{ int j = i - first; y[j] = real(a[j] % 1000003) + real(i - first); }\n"
    "kernel scaled(out int q[n], in int a[n], int k) { q = a * k + ix(a); }\n";

/* Indices past 32 bits, though the arrays are small: that code is made when it is met. */
START_TEST(indices_past_32_bits)
{
    char spec[SPEC];
    rubus_context *context = open_spec(spec_of(_i, spec));
    const rubus_module_options options = {
        .struct_size = sizeof options, .real = RUBUS_F32, .index = RUBUS_I64};
    rubus_module *module = NULL;
    const rubus_status st =
        rubus_module_create(context, "test.rk", far_away, &options, &module);
    if (lacks(spec, "int64=0")) {
        fails(st, RUBUS_EUNSUPPORTED, "llvmpipe|64 bits|32-bit integers");
        backends_finish(context);
        return;
    }
    ok(st);
    enum { M = 3000 };
    int64_t a[M];
    int64_t q[M];
    float y[M];
    for (int i = 0; i < M; i++) {
        a[i] = (INT64_C(3037000507) * i) ^ (i % 2 == 0 ? 0 : INT64_MIN);
    }
    rubus_array *array = array_of(context, RUBUS_I64, M, a);
    rubus_array *product = NULL;
    rubus_array *values = NULL;
    ok(rubus_array_create(context, RUBUS_I64, RUBUS_SHAPE(M), &product));
    ok(rubus_array_create(context, RUBUS_F32, RUBUS_SHAPE(M), &values));
    static const int64_t places[] = {0, INT64_C(5000000000), -INT64_C(5000000000),
                                     INT64_C(1) << 62};
    for (int k = 0; k < 4; k++) {
        ok(rubus_launch(backends_kernel(module, "far"), values, array, places[k]));
        ok(rubus_launch(backends_kernel(module, "scaled"), product, array, places[k]));
        ok(rubus_array_read(values, y, sizeof y));
        ok(rubus_array_read(product, q, sizeof q));
        for (int i = 0; i < M; i++) {
            const float want = (float)(a[i] % 1000003) + (float)i;
            const int64_t times =
                (int64_t)((uint64_t)a[i] * (uint64_t)places[k] + (uint64_t)i);
            ck_assert_msg(y[i] == want && q[i] == times,
                          "%s, from %lld, %d: %g and %lld, not %g and %lld", spec,
                          (long long)places[k], i, (double)y[i], (long long)q[i],
                          (double)want, (long long)times);
        }
    }
    rubus_array_destroy(array);
    rubus_array_destroy(product);
    rubus_array_destroy(values);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

/* --- the solver ------------------------------------------------------------------- */

static void solve(rubus_context *context, const rubus_relax_desc *desc, double **out_u,
                  rubus_relax_report *report)
{
    rubus_relax *relax = NULL;
    ok(rubus_relax_create(context, desc, &relax));
    ok(rubus_relax_run(relax, -1, NULL, NULL));
    *report = (rubus_relax_report){.struct_size = sizeof *report};
    ok(rubus_relax_report_get(relax, report));
    rubus_array *field = rubus_relax_field(relax);
    *out_u = malloc(rubus_array_nbyte(field));
    ok(rubus_array_read(field, *out_u, rubus_array_nbyte(field)));
    rubus_relax_destroy(relax);
}

static void solver_takes_the_path_of_threads(const char *spec, rubus_relax_desc desc,
                                             int64_t iterations)
{
    rubus_context *here = open_spec("threads:threads=1");
    rubus_context *there = open_spec(spec);
    rubus_relax_report a;
    rubus_relax_report b;
    double *want = NULL;
    double *got = NULL;
    solve(here, &desc, &want, &a);
    solve(there, &desc, &got, &b);
    size_t nbyte = desc.real == RUBUS_F32 ? 4 : 8;
    for (int d = 0; d < desc.dim; d++) {
        nbyte *= (size_t)desc.n[d];
    }
    ck_assert_msg(b.iterations == a.iterations, "%s: %lld iterations, not %lld", spec,
                  (long long)b.iterations, (long long)a.iterations);
    ck_assert(iterations == 0 || b.iterations == iterations);
    ck_assert_int_eq(b.outcome, a.outcome);
    ck_assert(b.residual == a.residual && b.beta == a.beta);
    same(got, want, nbyte, "the field", spec);
    free(got);
    free(want);
    rubus_context_destroy(here);
    backends_finish(there);
}

static rubus_relax_desc problem(int32_t dim, int64_t nx, int64_t ny, int64_t nz)
{
    return (rubus_relax_desc){.struct_size = sizeof(rubus_relax_desc),
                              .dim = dim,
                              .n = {nx, ny, nz},
                              .right = 1};
}

/* Bit 0 the mode, the rest the kernel set. */
START_TEST(solver_2d_128_takes_845_iterations)
{
    char spec[SPEC];
    spec_of(2 * (LOWERED - 1) + _i % 2, spec);
    rubus_relax_desc desc = problem(2, 128, 128, 0);
    desc.kernels = 1 + _i / 2;
    solver_takes_the_path_of_threads(spec, desc, 845);
}
END_TEST

START_TEST(small_solvers_take_the_path_of_threads)
{
    char spec[SPEC];
    spec_of(_i, spec);
    rubus_relax_desc desc[3] = {problem(1, 64, 0, 0), problem(2, 33, 40, 0),
                                problem(3, 14, 13, 12)};
    const bool narrow = lacks(spec, "fp64=off");
    if (narrow) {
        rubus_context *context = open_spec(spec);
        rubus_relax *relax = NULL;
        fails(rubus_relax_create(context, &desc[0], &relax), RUBUS_EUNSUPPORTED,
              "llvmpipe|no f64|f32");
        backends_finish(context);
    }
    for (int k = 0; k < 3; k++) {
        desc[k].kernels = 1 + (_i + k) % 3;
        desc[k].real = narrow || (_i + k) % 2 == 0 ? RUBUS_F32 : RUBUS_F64;
        const bool whole = k == 0 && desc[k].real == RUBUS_F64;
        desc[k].niter = whole ? 0 : 60;
        solver_takes_the_path_of_threads(spec, desc[k], whole ? 630 : 0);
    }
}
END_TEST

static Suite *limits_suite(void)
{
    TCase *kernels = tcase_create("kernels");
    tcase_add_loop_test(kernels, arithmetic_gives_the_bits_of_threads, 0, 2 * LOWERED);
    tcase_add_loop_test(kernels, masks_give_the_bits_of_threads, 0, 2 * LOWERED);
    tcase_add_loop_test(kernels, atomic_sums_are_exact, 0, 2 * LOWERED);
    tcase_add_loop_test(kernels, indices_past_32_bits, 0, 2 * LOWERED);
    TCase *solver = tcase_create("solver");
    tcase_add_loop_test(solver, solver_2d_128_takes_845_iterations, 0, 6);
    tcase_add_loop_test(solver, small_solvers_take_the_path_of_threads, 0, 2 * LOWERED);
    Suite *suite = suite_create("runtime: vulkan limits");
    suite_add_tcase(suite, kernels);
    suite_add_tcase(suite, solver);
    return suite;
}

VULKAN_TEST_MAIN("runtime: vulkan limits", limits_suite)
