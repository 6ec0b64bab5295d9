/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialect c: the head of every text: types, and the operations that C does not have with
 * the language's meaning. Nothing is included, so the text compiles where no header is
 * installed, and in a third of the time.
 */
#include "config.h"

#include "libcore/kernel/clike.h"

#define INLINE "static inline __attribute__((unused)) "

static const char head[] =
    "#if defined(__clang__)\n"
    "#pragma clang diagnostic ignored \"-Wpass-failed\"\n"
    "#pragma clang diagnostic ignored \"-Wself-assign\"\n"
    "#pragma clang diagnostic ignored \"-Wbitwise-instead-of-logical\"\n"
    "#pragma clang diagnostic ignored \"-Wparentheses-equality\"\n"
    "#define RK_LOOP _Pragma(\"clang loop vectorize(assume_safety)\")\n"
    "#else\n"
    "#define RK_LOOP _Pragma(\"GCC ivdep\")\n"
    "#endif\n"
    "#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-parameter\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-label\"\n"
    "#pragma GCC diagnostic ignored \"-Wtautological-compare\"\n"
    "typedef __INT64_TYPE__ rk_i64;\n"
    "typedef unsigned char rk_byte;\n"
    "#define RK_FAR ((rk_i64)1 << 62)\n"
    "#define RK_I64(x) ((rk_i64)(x))\n"
    "#define RK_INT(x) ((rk_int)(x))\n"
    "#define RK_REAL(x) ((rk_real)(x))\n"
    "#define RK_FROM_INT(x) ((rk_real)(x))\n"
    "#define RK_BYTE(x) (x)\n"
    "#define RK_TRUE(x) ((x) != 0)\n"
    "#define RK_LOCAL(x) x\n"
    "#define rk_fabs(x) RK_F(fabs)(x)\n"
    "#define rk_sqrt(x) RK_F(sqrt)(x)\n"
    "#define rk_floor(x) RK_F(floor)(x)\n"
    "#define rk_ceil(x) RK_F(ceil)(x)\n"
    "#define rk_trunc(x) RK_F(trunc)(x)\n" INLINE
    "rk_i64 rk_least(rk_i64 a, rk_i64 b) { return a < b ? a : b; }\n" INLINE
    "rk_i64 rk_most(rk_i64 a, rk_i64 b) { return a > b ? a : b; }\n";

static const char f64_types[] = "typedef double rk_real;\n"
                                "typedef __UINT64_TYPE__ rk_bits;\n"
                                "#define RK_F(name) __builtin_##name\n"
                                "#define RK_MANTISSA 52\n"
                                "#define RK_BIAS 1023\n"
                                "#define RK_TINY 0x1p-1022\n";

static const char f32_types[] = "typedef float rk_real;\n"
                                "typedef __UINT32_TYPE__ rk_bits;\n"
                                "#define RK_F(name) __builtin_##name##f\n"
                                "#define RK_MANTISSA 23\n"
                                "#define RK_BIAS 127\n"
                                "#define RK_TINY 0x1p-126f\n";

/* int(x) goes by way of the size of x: under -fno-trapping-math gcc 12 takes a number
 * that is made an int and then real again for trunc(x), which gives -0 where the language
 * gives 0. */
static const char int32_types[] =
    "typedef __INT32_TYPE__ rk_int;\n"
    "typedef __UINT32_TYPE__ rk_uint;\n" INLINE
    "rk_int rk_to_int(rk_real x)\n" /* a double holds both ends */
    "{ const double size = x == x ? (x < 0 ? -(double)x : (double)x) : 0;\n"
    "  const rk_int k = (rk_int)(size < 0x1.fffffffcp30 ? size : 0x1.fffffffcp30);\n"
    "  return x < 0 ? (size >= 0x1p31 ? -k - 1 : -k) : k; }\n";

static const char int64_types[] =
    "typedef __INT64_TYPE__ rk_int;\n"
    "typedef __UINT64_TYPE__ rk_uint;\n" INLINE "rk_int rk_to_int(rk_real x)\n"
    "{ const rk_real size = x < 0 ? -x : x;\n"
    "  const _Bool large = size >= (rk_real)0x1p63;\n"
    "  const rk_int k = (rk_int)((large | (x != x)) ? 0 : size);\n"
    "  return large ? (x < 0 ? -0x7fffffffffffffffLL - 1 : 0x7fffffffffffffffLL)\n"
    "               : x < 0 ? -k : k; }\n";

static const char int_ops[] = INLINE
    "rk_int rk_add(rk_int a, rk_int b) { return (rk_int)((rk_uint)a + (rk_uint)b); "
    "}\n" INLINE "rk_int rk_sub(rk_int a, rk_int b) { return (rk_int)((rk_uint)a - "
    "(rk_uint)b); }\n" INLINE "rk_int rk_mul(rk_int a, rk_int b) { return "
    "(rk_int)((rk_uint)a * (rk_uint)b); }\n" INLINE
    "rk_int rk_neg(rk_int a) { return (rk_int)(0 - (rk_uint)a); }\n" INLINE
    "rk_int rk_div(rk_int a, rk_int b)\n"
    "{ return b == 0 ? 0 : b == -1 ? rk_neg(a) : a / b; }\n" INLINE
    "rk_int rk_rem(rk_int a, rk_int b) { return b == 0 || b == -1 ? 0 : a % b; }\n" INLINE
    "rk_int rk_fld(rk_int a, rk_int b)\n"
    "{ const rk_int r = rk_rem(a, b);\n"
    "  return rk_sub(rk_div(a, b), r != 0 && (r < 0) != (b < 0)); }\n" INLINE
    "rk_int rk_mod(rk_int a, rk_int b)\n"
    "{ const rk_int r = rk_rem(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r; "
    "}\n" INLINE "rk_int rk_imin(rk_int a, rk_int b) { return a < b ? a : b; }\n" INLINE
    "rk_int rk_imax(rk_int a, rk_int b) { return a > b ? a : b; }\n" INLINE
    "rk_int rk_iabs(rk_int a) { return a < 0 ? rk_neg(a) : a; }\n" INLINE
    "rk_int rk_isign(rk_int a) { return (a > 0) - (a < 0); }\n" INLINE
    "rk_int rk_ipow(rk_int x, rk_int n)\n"
    "{ rk_uint left = n < 0 ? 0 - (rk_uint)n : (rk_uint)n; rk_int r = 1;\n"
    "  for (; left != 0; left >>= 1, x = rk_mul(x, x)) { r = left & 1 ? rk_mul(r, x) : "
    "r; }\n"
    "  return n < 0 ? rk_div(1, r) : r; }\n";

static const char real_ops[] = INLINE
    "_Bool rk_isnan(rk_real x) { return x != x; }\n" INLINE
    "_Bool rk_isfinite(rk_real x) { return x - x == 0; }\n" INLINE
    "rk_real rk_min(rk_real a, rk_real b) { return ((a < b) | (b != b)) ? a : b; "
    "}\n" INLINE "rk_real rk_max(rk_real a, rk_real b) { return ((a > b) | (b != b)) ? a "
    ": b; }\n" INLINE
    "rk_real rk_sign(rk_real x) { return x > 0 ? 1 : x < 0 ? -1 : x; }\n" INLINE
    "rk_real rk_round(rk_real x)\n" /* half away from zero; x - trunc(x) is exact */
    "{ const rk_real t = RK_F(trunc)(x);\n"
    "  return RK_F(fabs)(x - t) >= (rk_real)0.5 ? t + RK_F(copysign)(1, x) : t; "
    "}\n" INLINE "rk_bits rk_bits_of(rk_real x)\n"
    "{ rk_bits b; __builtin_memcpy(&b, &x, sizeof(b)); return b; }\n" INLINE
    "rk_real rk_real_of(rk_bits b)\n"
    "{ rk_real x; __builtin_memcpy(&x, &b, sizeof(x)); return x; }\n"
    /* gcc makes one instruction of -fma(a, b, c) that gives 0 where the language gives
     * -0: it must not see that the result of rk_fma comes straight from an fma */
    "#if defined(__GNUC__) && !defined(__clang__)\n"
    "static rk_bits rk_nought __attribute__((used));\n"
    "#define RK_HIDE(x) rk_real_of(rk_bits_of(x) ^ rk_nought)\n"
    "#else\n"
    "#define RK_HIDE(x) (x)\n"
    "#endif\n" INLINE "rk_real rk_fma(rk_real a, rk_real b, rk_real c)\n"
    "{ return RK_HIDE(RK_F(fma)(a, b, c)); }\n" INLINE "rk_real rk_frexp(rk_real x)\n"
    "{ const rk_real m = RK_F(fabs)(x) < RK_TINY ? x * 0x1p60f : x;\n"
    "  const rk_bits field = (rk_bits)(2 * RK_BIAS + 1) << RK_MANTISSA;\n"
    "  const rk_bits half = (rk_bits)(RK_BIAS - 1) << RK_MANTISSA;\n"
    "  const rk_real r = rk_real_of((rk_bits_of(m) & ~field) | half);\n"
    "  return (rk_isfinite(x) & (x != 0)) ? r : x; }\n" INLINE
    "rk_int rk_exponent(rk_real x)\n"
    "{ const _Bool tiny = RK_F(fabs)(x) < RK_TINY;\n"
    "  const rk_bits b = rk_bits_of(tiny ? x * 0x1p60f : x) >> RK_MANTISSA;\n"
    "  const rk_int e = (rk_int)(b & (2 * RK_BIAS + 1)) - RK_BIAS + 1 - (tiny ? 60 : "
    "0);\n"
    "  return (rk_isfinite(x) & (x != 0)) ? e : 0; }\n" INLINE
    "rk_real rk_pow(rk_real x, rk_int n)\n" /* from the top bit down */
    "{ const rk_uint size = n < 0 ? 0 - (rk_uint)n : (rk_uint)n; rk_real r = 1;\n"
    "  rk_uint bit = 1; while (size >> 1 >= bit) { bit <<= 1; }\n"
    "  if (size == 0) { return 1; }\n"
    "  for (r = x, bit >>= 1; bit != 0; bit >>= 1) {\n"
    "    r = r * r; r = size & bit ? r * x : r; }\n"
    "  return n < 0 ? 1 / r : r; }\n";

/* Two exact (or saturating) steps, then the one that rounds. */
static const char f64_ldexp[] =
    INLINE "double rk_step(int *n)\n"
           "{ const int k = *n; *n = k > 1023 ? k - 1023 : k < -1022 ? k + 969 : k;\n"
           "  return k > 1023 ? 0x1p1023 : k < -1022 ? 0x1p-969 : 1.0; }\n" INLINE
           "double rk_ldexp(double x, rk_int n)\n"
           "{ int k = n > 2200 ? 2200 : n < -2200 ? -2200 : (int)n;\n"
           "  x *= rk_step(&k); x *= rk_step(&k);\n"
           "  return x * rk_real_of((rk_bits)(k + 1023) << 52); }\n";

static const char f32_ldexp[] = /* a double holds every float times 2^300 exactly */
    INLINE "float rk_ldexp(float x, rk_int n)\n"
           "{ const int k = n > 300 ? 300 : n < -300 ? -300 : (int)n;\n"
           "  const __UINT64_TYPE__ b = (__UINT64_TYPE__)(k + 1023) << 52; double p;\n"
           "  __builtin_memcpy(&p, &b, sizeof(p)); return (float)((double)x * p); }\n";

static const char fold_ops[] = INLINE
    "rk_real rk_sum(rk_real a, rk_real b) { return a + b; }\n" INLINE
    "rk_real rk_high(rk_real a, rk_real b) { return ((b > a) | (b != b)) ? b : a; "
    "}\n" INLINE "rk_real rk_low(rk_real a, rk_real b) { return ((b < a) | (b != b)) ? b "
    ": a; }\n" INLINE "void rk_two_sum(rk_real *s, rk_real *c, rk_real x)\n"
    "{ const rk_real sum = *s + x, part = sum - *s;\n"
    "  *c += (*s - (sum - part)) + (x - part); *s = sum; }\n" INLINE
    "void rk_lanes(rk_real *l, rk_real v) { for (int k = 0; k < 32; k++) { l[k] = v; } "
    "}\n"
    "#define RK_TREE_OF(join) " INLINE "void join##_tree(rk_real *l, rk_i64 n) \\\n"
    "{ while (n > 1) { const rk_i64 h = n >> 1; \\\n"
    "    for (rk_i64 k = 0; k < h; k++) { l[k] = join(l[2 * k], l[2 * k + 1]); } \\\n"
    "    if (n & 1) { l[h] = l[n - 1]; } \\\n"
    "    n = h + (n & 1); } }\n"
    "RK_TREE_OF(rk_sum)\n"
    "RK_TREE_OF(rk_high)\n"
    "RK_TREE_OF(rk_low)\n" INLINE "void rk_tree_pair(rk_real *l, rk_real *e, rk_i64 n)\n"
    "{ while (n > 1) { const rk_i64 h = n >> 1;\n"
    "    for (rk_i64 k = 0; k < h; k++) {\n"
    "      const rk_real a = l[2 * k], b = l[2 * k + 1], sum = a + b, part = sum - a;\n"
    "      e[k] = (e[2 * k] + e[2 * k + 1]) + ((a - (sum - part)) + (b - part));\n"
    "      l[k] = sum; }\n"
    "    if (n & 1) { l[h] = l[n - 1]; e[h] = e[n - 1]; }\n"
    "    n = h + (n & 1); } }\n";

/* Tested accesses give an offset, or -1 after the error record was claimed; what reads at
 * -1 is 0, and nothing is written there. */
static const char point_ops[] =
    "static __attribute__((unused, noinline, cold)) void\n"
    "rk_claim(rk_i64 *err, rk_i64 site, rk_i64 i, rk_i64 j, rk_i64 k)\n"
    "{ rk_i64 free = 0;\n"
    "  if (err && __atomic_compare_exchange_n(err, &free, site + 1, 0, "
    "__ATOMIC_RELAXED,\n"
    "                                         __ATOMIC_RELAXED)) {\n"
    "    err[1] = i; err[2] = j; err[3] = k; } }\n" INLINE
    "rk_i64 rk_at1(rk_i64 *err, rk_i64 site, rk_i64 i, rk_i64 ni)\n"
    "{ if (i >= 0 && i < ni) { return i; }\n"
    "  rk_claim(err, site, i, 0, 0); return -1; }\n" INLINE
    "rk_i64 rk_at2(rk_i64 *err, rk_i64 site, rk_i64 i, rk_i64 ni, rk_i64 j, rk_i64 nj)\n"
    "{ if (i >= 0 && i < ni && j >= 0 && j < nj) { return i + j * ni; }\n"
    "  rk_claim(err, site, i, j, 0); return -1; }\n" INLINE
    "rk_i64 rk_at3(rk_i64 *err, rk_i64 site, rk_i64 i, rk_i64 ni, rk_i64 j, rk_i64 nj,\n"
    "                     rk_i64 k, rk_i64 nk)\n"
    "{ if (i >= 0 && i < ni && j >= 0 && j < nj && k >= 0 && k < nk) {\n"
    "    return i + (j + k * nj) * ni; }\n"
    "  rk_claim(err, site, i, j, k); return -1; }\n"
    "#define RK_GET(name, type) " INLINE "type name(const type *a, rk_i64 o) \\\n"
    "{ return o < 0 ? 0 : a[o]; }\n"
    "RK_GET(rk_get_real, rk_real)\n"
    "RK_GET(rk_get_int, rk_int)\n"
    "RK_GET(rk_get_bool, rk_byte)\n"
    "#define rk_pick_real rk_get_real\n" /* of arrays inside a kernel */
    "#define rk_pick_int rk_get_int\n"
    "#define rk_pick_bool rk_get_bool\n" INLINE
    "void rk_atomic_real(rk_real *to, rk_real v)\n"
    "{ rk_bits *const cell = (rk_bits *)(void *)to;\n"
    "  rk_bits old = __atomic_load_n(cell, __ATOMIC_RELAXED);\n"
    "  while (!__atomic_compare_exchange_n(cell, &old, rk_bits_of(rk_real_of(old) + v), "
    "1,\n"
    "                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) { } "
    "}\n" INLINE "void rk_atomic_int(rk_int *to, rk_int v)\n"
    "{ (void)__atomic_fetch_add((rk_uint *)to, (rk_uint)v, __ATOMIC_RELAXED); }\n";

void rk_c_prelude(rk_c *c, bool folds, bool points)
{
    const rk_numbers *numbers = &c->unit->numbers;
    rubus__text_add(c->out, head);
    rubus__text_add(c->out, numbers->f64 ? f64_types : f32_types);
    rubus__text_add(c->out, numbers->int64 ? int64_types : int32_types);
    rubus__text_add(c->out, int_ops);
    rubus__text_add(c->out, real_ops);
    rubus__text_add(c->out, numbers->f64 ? f64_ldexp : f32_ldexp);
    if (folds) {
        rubus__text_add(c->out, fold_ops);
    }
    if (points) {
        rubus__text_add(c->out, point_ops);
    }
}
