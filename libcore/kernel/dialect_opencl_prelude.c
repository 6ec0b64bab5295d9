/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialect opencl: the head of every text: types, the grid of work-items, and the
 * operations that OpenCL C does not have with the language's meaning. A text of f32 has
 * no double in it, and only atomic adds of 64 bits ask for an extension.
 */
#include "config.h"

#include <rubus/backend.h>

#include "libcore/kernel/dialect_opencl.h"

// clang-format off
static const char head[] =
    "typedef long rk_i64;\n"
    "typedef uchar rk_byte;\n"
    "#define RK_FAR ((rk_i64)1 << 62)\n"
    "#define RK_I64(x) ((rk_i64)(x))\n"
    "#define RK_INT(x) ((rk_int)(x))\n"
    "#define RK_REAL(x) ((rk_real)(x))\n"
    "#define RK_FROM_INT(x) ((rk_real)(x))\n"
    "#define RK_SMALL(x) ((int)(x))\n"
    "#define RK_BYTE(x) (x)\n"
    "#define RK_TRUE(x) ((x) != 0)\n"
    "#define RK_LOCAL(x) x\n"
    "#define RK_INFINITE RK_REAL(INFINITY)\n"
    "#define RK_RANGE rk_i64 lo0, rk_i64 lo1, rk_i64 lo2, \\\n"
    "    rk_i64 hi0, rk_i64 hi1, rk_i64 hi2\n"
    "#define RK_BUFFER(type, k) __global type *restrict rk_buffer##k, rk_i64 "
    "rk_first##k\n"
    "#define RK_ARRAY(type, name, k) __global type *const name = \\\n"
    "    (__global type *)((__global const char *)rk_buffer##k + rk_first##k);\n"
    "#define RK_LO(d) lo##d\n"
    "#define RK_HI(d) hi##d\n"
    "#define RK_ID(d) ((rk_i64)get_global_id(d))\n"
    "#define RK_IDS(d) ((rk_i64)get_global_size(d))\n"
    "#define RK_GROUP(d) ((rk_i64)get_group_id(d))\n"
    "#define RK_GROUPS(d) ((rk_i64)get_num_groups(d))\n"
    "#define RK_LANE ((int)get_local_id(0))\n"
    "#define RK_BARRIER barrier(CLK_LOCAL_MEM_FENCE)\n"
    "#if RK_BLOCKS\n"
    "#define rk_rows 1\n"
    "#define RK_SPAN const rk_i64 rk_share = (hi - lo - 1) / RK_IDS(0) + 1; \\\n"
    "    const rk_i64 xlo = lo + RK_ID(0) * rk_share, begin = xlo, stride = 1; \\\n"
    "    const rk_i64 xhi = rk_least(xlo + rk_share, hi);\n"
    "#define RK_FROM(xa) rk_most(begin, xa)\n" /* the loop then needs no test */
    "#else\n"
    "#define rk_rows 0\n"
    "#define RK_SPAN const rk_i64 xlo = lo, xhi = hi; \\\n"
    "    const rk_i64 begin = lo + RK_ID(0), stride = RK_IDS(0);\n"
    "#define RK_FROM(xa) begin\n"
    "#endif\n"
    "static rk_i64 rk_least(rk_i64 a, rk_i64 b) { return a < b ? a : b; }\n"
    "static rk_i64 rk_most(rk_i64 a, rk_i64 b) { return a > b ? a : b; }\n";

static const char f64_types[] =
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "typedef double rk_real;\n"
    "typedef ulong rk_bits;\n"
    "#define RK_BITS(x) as_ulong(x)\n"
    "#define RK_OF_BITS(b) as_double(b)\n"
    "#define RK_SWAP(to, old, new) atom_cmpxchg(to, old, new)\n"
    "#define RK_MANTISSA 52\n"
    "#define RK_BIAS 1023\n"
    "#define RK_TINY 0x1p-1022\n"
    /* powers of two: two steps are exact, or have the result already */
    "#define RK_UP 1023\n"
    "#define RK_DOWN 969\n";

static const char f32_types[] =
    "typedef float rk_real;\n"
    "typedef uint rk_bits;\n"
    "#define RK_BITS(x) as_uint(x)\n"
    "#define RK_OF_BITS(b) as_float(b)\n"
    "#define RK_SWAP(to, old, new) atomic_cmpxchg(to, old, new)\n"
    "#define RK_MANTISSA 23\n"
    "#define RK_BIAS 127\n"
    "#define RK_TINY 0x1p-126f\n"
    "#define RK_UP 127\n"
    "#define RK_DOWN 102\n";

static const char int32_types[] =
    "typedef int rk_int;\n"
    "typedef uint rk_uint;\n"
    "#define RK_LAST 0x7fffffff\n"
    "#define RK_BEYOND 0x1p31f\n"
    "#define rk_atomic_int(to, v) (void)atomic_add(to, v)\n";

static const char int64_types[] =
    "typedef long rk_int;\n"
    "typedef ulong rk_uint;\n"
    "#define RK_LAST 0x7fffffffffffffffL\n"
    "#define RK_BEYOND 0x1p63f\n"
    "#define rk_atomic_int(to, v) (void)atom_add(to, v)\n";

static const char int_ops[] =
    "static rk_int rk_add(rk_int a, rk_int b) { return (rk_int)((rk_uint)a + "
    "(rk_uint)b); }\n"
    "static rk_int rk_sub(rk_int a, rk_int b) { return (rk_int)((rk_uint)a - "
    "(rk_uint)b); }\n"
    "static rk_int rk_mul(rk_int a, rk_int b) { return (rk_int)((rk_uint)a * "
    "(rk_uint)b); }\n"
    "static rk_int rk_neg(rk_int a) { return (rk_int)(0 - (rk_uint)a); }\n"
    "static rk_int rk_div(rk_int a, rk_int b)\n"
    "{ return b == 0 ? 0 : b == -1 ? rk_neg(a) : a / b; }\n"
    "static rk_int rk_rem(rk_int a, rk_int b) { return b == 0 || b == -1 ? 0 : a % b; }\n"
    "static rk_int rk_fld(rk_int a, rk_int b)\n"
    "{ const rk_int r = rk_rem(a, b);\n"
    "  return rk_sub(rk_div(a, b), r != 0 && (r < 0) != (b < 0)); }\n"
    "static rk_int rk_mod(rk_int a, rk_int b)\n"
    "{ const rk_int r = rk_rem(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : "
    "r; }\n"
    "static rk_int rk_imin(rk_int a, rk_int b) { return a < b ? a : b; }\n"
    "static rk_int rk_imax(rk_int a, rk_int b) { return a > b ? a : b; }\n"
    "static rk_int rk_iabs(rk_int a) { return a < 0 ? rk_neg(a) : a; }\n"
    "static rk_int rk_isign(rk_int a) { return (a > 0) - (a < 0); }\n"
    "static rk_int rk_ipow(rk_int x, rk_int n)\n"
    "{ rk_uint left = n < 0 ? 0 - (rk_uint)n : (rk_uint)n; rk_int r = 1;\n"
    "  for (; left != 0; left >>= 1, x = rk_mul(x, x)) { r = left & 1 ? rk_mul(r, "
    "x) : r; }\n"
    "  return n < 0 ? rk_div(1, r) : r; }\n"
    "static rk_int rk_to_int(rk_real x)\n"
    "{ return x != x ? 0 : x >= RK_BEYOND ? RK_LAST\n"
    "    : x <= -RK_BEYOND ? -RK_LAST - 1 : (rk_int)x; }\n";

static const char real_ops[] =
    "#define rk_fabs(x) fabs(x)\n"
    "#define rk_sqrt(x) sqrt(x)\n"
    "#define rk_floor(x) floor(x)\n"
    "#define rk_ceil(x) ceil(x)\n"
    "#define rk_trunc(x) trunc(x)\n"
    "#define rk_fma(a, b, c) fma(a, b, c)\n"
    "static bool rk_isnan(rk_real x) { return x != x; }\n"
    "static bool rk_isfinite(rk_real x) { return x - x == 0; }\n"
    "static rk_real rk_min(rk_real a, rk_real b) { return ((a < b) | (b != b)) ? a "
    ": b; }\n"
    "static rk_real rk_max(rk_real a, rk_real b) { return ((a > b) | (b != b)) ? a "
    ": b; }\n"
    "static rk_real rk_sign(rk_real x) { return x > 0 ? 1 : x < 0 ? -1 : x; }\n"
    /* half away from zero; x - trunc(x) is exact */
    "static rk_real rk_round(rk_real x)\n"
    "{ const rk_real t = trunc(x);\n"
    "  return fabs(x - t) >= 0.5f ? t + copysign(RK_REAL(1), x) : t; }\n"
    "static rk_real rk_frexp(rk_real x)\n"
    "{ const rk_real m = fabs(x) < RK_TINY ? x * 0x1p60f : x;\n"
    "  const rk_bits field = (rk_bits)(2 * RK_BIAS + 1) << RK_MANTISSA;\n"
    "  const rk_bits base = (rk_bits)(RK_BIAS - 1) << RK_MANTISSA;\n"
    "  const rk_real r = RK_OF_BITS((RK_BITS(m) & ~field) | base);\n"
    "  return rk_isfinite(x) && x != 0 ? r : x; }\n"
    "static rk_int rk_exponent(rk_real x)\n"
    "{ const bool tiny = fabs(x) < RK_TINY;\n"
    "  const rk_bits b = RK_BITS(tiny ? x * 0x1p60f : x) >> RK_MANTISSA;\n"
    "  const rk_int e = (rk_int)(b & (2 * RK_BIAS + 1)) - RK_BIAS + 1 - (tiny ? 60 "
    ": 0);\n"
    "  return rk_isfinite(x) && x != 0 ? e : 0; }\n"
    "static rk_real rk_two(int k)\n"
    "{ return RK_OF_BITS((rk_bits)(k + RK_BIAS) << RK_MANTISSA); }\n"
    "static rk_real rk_ldexp(rk_real x, rk_int n)\n"
    "{ int k = n > 2200 ? 2200 : n < -2200 ? -2200 : (int)n;\n"
    "  for (int i = 0; i < 2; i++) {\n"
    "    const int step = k > RK_UP ? RK_UP : k < 1 - RK_UP ? -RK_DOWN : 0;\n"
    "    x *= rk_two(step); k -= step; }\n"
    "  k = k > RK_UP ? RK_UP : k < 1 - RK_UP ? 1 - RK_UP : k;\n"
    "  return x * rk_two(k); }\n"
    "static rk_real rk_pow(rk_real x, rk_int n)\n" /* from the top bit down */
    "{ const rk_uint size = n < 0 ? 0 - (rk_uint)n : (rk_uint)n; rk_real r = x;\n"
    "  rk_uint bit = 1; while (size >> 1 >= bit) { bit <<= 1; }\n"
    "  if (size == 0) { return 1; }\n"
    "  for (bit >>= 1; bit != 0; bit >>= 1) {\n"
    "    r = r * r; r = size & bit ? r * x : r; }\n"
    "  return n < 0 ? 1 / r : r; }\n";

static const char fold_ops[] =
    "#define SRC(i) src[i]\n"
    "#define DST(i) dst[i]\n"
    "static rk_real rk_sum(rk_real a, rk_real b) { return a + b; }\n"
    "static rk_real rk_high(rk_real a, rk_real b) { return ((b > a) | (b != b)) ? b "
    ": a; }\n"
    "static rk_real rk_low(rk_real a, rk_real b) { return ((b < a) | (b != b)) ? b "
    ": a; }\n"
    "#define rk_two_sum(s, c, x) rk_two_sum_to(&s, &c, x)\n"
    "static void rk_two_sum_to(rk_real *s, rk_real *c, rk_real x)\n"
    "{ const rk_real sum = *s + x, part = sum - *s;\n"
    "  *c += (*s - (sum - part)) + (x - part); *s = sum; }\n";

/* The record takes the first claim, by its lower half. Tested accesses give an offset, or
 * -1: what reads there is 0, and nothing is written. */
static const char point_ops[] =
    "static void rk_claim(__global rk_i64 *err, rk_i64 site, rk_i64 i, rk_i64 j, "
    "rk_i64 k)\n"
    "{ if (err && atomic_cmpxchg((volatile __global uint *)err, 0u, (uint)(site + "
    "1)) == 0u) {\n"
    "    err[1] = i; err[2] = j; err[3] = k; } }\n"
    "static rk_i64 rk_at1(__global rk_i64 *err, rk_i64 site, rk_i64 i, rk_i64 ni)\n"
    "{ if (i >= 0 && i < ni) { return i; }\n"
    "  rk_claim(err, site, i, 0, 0); return -1; }\n"
    "static rk_i64 rk_at2(__global rk_i64 *err, rk_i64 site, rk_i64 i, rk_i64 ni, "
    "rk_i64 j,\n"
    "    rk_i64 nj)\n"
    "{ if (i >= 0 && i < ni && j >= 0 && j < nj) { return i + j * ni; }\n"
    "  rk_claim(err, site, i, j, 0); return -1; }\n"
    "static rk_i64 rk_at3(__global rk_i64 *err, rk_i64 site, rk_i64 i, rk_i64 ni, "
    "rk_i64 j,\n"
    "    rk_i64 nj, rk_i64 k, rk_i64 nk)\n"
    "{ if (i >= 0 && i < ni && j >= 0 && j < nj && k >= 0 && k < nk) {\n"
    "    return i + (j + k * nj) * ni; }\n"
    "  rk_claim(err, site, i, j, k); return -1; }\n"
    "#define RK_READER(name, space, type) static type name(space const type *a, "
    "rk_i64 o) \\\n"
    "{ return o < 0 ? 0 : a[o]; }\n"
    "RK_READER(rk_get_real, __global, rk_real)\n"
    "RK_READER(rk_get_int, __global, rk_int)\n"
    "RK_READER(rk_get_bool, __global, rk_byte)\n"
    "RK_READER(rk_pick_real, __private, rk_real)\n"
    "RK_READER(rk_pick_int, __private, rk_int)\n"
    "RK_READER(rk_pick_bool, __private, rk_byte)\n";

static const char atomic_longs[] =
    "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n";

static const char atomics[] =
    "static void rk_atomic_real(volatile __global rk_real *to, rk_real v)\n"
    "{ volatile __global rk_bits *const cell = (volatile __global rk_bits *)to;\n"
    "  rk_bits old = *cell;\n"
    "  for (bool done = false; !done;) {\n"
    "    const rk_bits seen = RK_SWAP(cell, old, RK_BITS(RK_OF_BITS(old) + v));\n"
    "    done = seen == old; old = seen; } }\n";
// clang-format on

void rk_opencl_prelude(rk_c *c)
{
    const rk_numbers *numbers = &c->unit->numbers;
    bool uses_atomics = false;
    for (int32_t i = 0; i < c->program->nentry; i++) {
        uses_atomics =
            uses_atomics || (c->program->entry[i].flags & RUBUS_ENTRY_ATOMICS) != 0u;
    }
    rubus__text_add(c->out, c->unit->fast ? "" : "#pragma OPENCL FP_CONTRACT OFF\n");
    if (uses_atomics && (numbers->f64 || numbers->int64)) {
        rubus__text_add(c->out, atomic_longs);
    }
    rubus__text_add(c->out, head);
    rubus__text_add(c->out, numbers->f64 ? f64_types : f32_types);
    rubus__text_add(c->out, numbers->int64 ? int64_types : int32_types);
    rubus__text_add(c->out, int_ops);
    rubus__text_add(c->out, real_ops);
    rubus__text_add(c->out, fold_ops);
    rubus__text_add(c->out, point_ops);
    rubus__text_add(c->out, uses_atomics ? atomics : "");
}
