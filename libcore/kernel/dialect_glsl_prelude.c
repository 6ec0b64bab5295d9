/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialect glsl: the head of every text: types, access to memory, and the operations that
 * GLSL does not have with the language's meaning. The operations work on the bits of
 * doubles in 32-bit halves, so that only wide texts ask for 64-bit integers.
 */
#include "config.h"

#include "libcore/kernel/dialect_glsl.h"
#include <rubus/backend.h>

// clang-format off
static const char extensions[] =
    "#extension GL_EXT_buffer_reference : require\n"
    "#extension GL_EXT_buffer_reference_uvec2 : require\n"
    "#extension GL_EXT_scalar_block_layout : require\n"
    "#extension GL_EXT_shader_8bit_storage : require\n"
    "#if RK_WIDE\n"
    "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n"
    "#define rk_i64 int64_t\n"
    "#define RK_READ_rk_i64(i) int64_t(packUint2x32(uvec2(RK_W(i), RK_W(i + 1))))\n"
    "#define RK_HIGH(a) unpackUint2x32(uint64_t(a)).y\n"
    "#define RK_LOW(a) unpackUint2x32(uint64_t(a)).x\n"
    "#else\n"
    "#define rk_i64 int\n"
    "#define RK_READ_rk_i64(i) int(RK_W(i))\n"
    "#define RK_HIGH(x) (x < 0 ? 0xffffffffu : 0u)\n"
    "#define RK_LOW(x) uint(x)\n"
    "#endif\n"
    "#define RK_I64W(i) RK_READ_rk_i64(i)\n"
    "#define RK_I64(x) rk_i64(x)\n"
    "#define RK_INT(x) rk_int(x)\n"
    "#define RK_REAL(x) rk_real(x)\n"
    "#define rk_byte uint8_t\n"
    "#define RK_BYTE(x) uint8_t((x) ? 1u : 0u)\n"
    "#define RK_TRUE(x) (uint(x) != 0u)\n"
    "#define RK_LOCAL(x) int(x)\n"
    "#define RK_READ_bool(i) (RK_W(i) != 0u)\n"
    "#define RK_FAR RK_I64(0x3fffffff)\n"
    "#define RK_LO(d) RK_I64W(2 * d)\n"
    "#define RK_HI(d) RK_I64W(2 * d + 6)\n"
    "#define RK_ID(d) RK_I64(gl_GlobalInvocationID[d])\n"
    "#define RK_IDS(d) RK_I64(gl_NumWorkGroups[d] * gl_WorkGroupSize[d])\n"
    "#define RK_GROUP(d) RK_I64(gl_WorkGroupID[d])\n"
    "#define RK_GROUPS(d) RK_I64(gl_NumWorkGroups[d])\n"
    "#define RK_LANE int(gl_LocalInvocationID.x)\n"
    "#define RK_SMALL(x) int(x)\n"
    "#define RK_BARRIER barrier()\n"
    "#define RK_SPAN const rk_i64 xlo = lo, xhi = hi, begin = lo + RK_ID(0), \\\n"
    "    stride = RK_IDS(0);\n"
    "#define RK_FROM(xa) begin\n" /* a test in the loop is cheaper than a division */
    "rk_i64 rk_least(rk_i64 a, rk_i64 b) { return a < b ? a : b; }\n"
    "rk_i64 rk_most(rk_i64 a, rk_i64 b) { return a > b ? a : b; }\n";

static const char f64_types[] =
    "#define rk_real double\n"
    "#define RK_READ_rk_real(i) packDouble2x32(uvec2(RK_W(i), RK_W(i + 1)))\n"
    "#define RK_INFINITE packDouble2x32(uvec2(0u, 0x7ff00000u))\n"
    "#define RK_SIZE_rk_real 8u\n"
    "double rk_zero_of(double x)\n"
    "{ return packDouble2x32(uvec2(0u, unpackDouble2x32(x).y & 0x80000000u)); }\n";

static const char f32_types[] =
    "#define rk_real float\n"
    "#define RK_READ_rk_real(i) uintBitsToFloat(RK_W(i))\n"
    "#define RK_INFINITE uintBitsToFloat(0x7f800000u)\n"
    "#define RK_SIZE_rk_real 4u\n"
    "float rk_zero_of(float x)\n"
    "{ return uintBitsToFloat(floatBitsToUint(x) & 0x80000000u); }\n";

/* The number 0 as no compiler can see it: some take x * 0 for 0 and x + 0 for x. What was
 * an int may turn out to be one, when a loop is unrolled. */
static const char zero[] =
    "rk_real rk_zero;\n"
    "#define RK_FROM_INT(x) (rk_real(x) + rk_zero)\n"
    "#define RK_SET_ZERO rk_zero = RK_I64W(6) > RK_I64W(0) ? RK_REAL(0) : RK_REAL(1);\n";

static const char int32_types[] =
    "#define rk_int int\n"
    "#define rk_uint uint\n"
    "#define RK_READ_rk_int(i) int(RK_W(i))\n"
    "#define RK_SIZE_rk_int 4u\n"
    "rk_int rk_to_int(rk_real x)\n"
    "{ return isnan(x) ? 0 : x >= 2147483648.0 ? 0x7fffffff\n"
    "    : x <= -2147483648.0 ? -0x7fffffff - 1 : int(x); }\n";

static const char int64_types[] =
    "#define rk_int int64_t\n"
    "#define rk_uint uint64_t\n"
    "#define RK_READ_rk_int(i) RK_READ_rk_i64(i)\n"
    "#define RK_SIZE_rk_int 8u\n"
    "rk_int rk_to_int(rk_real x)\n"
    "{ return isnan(x) ? 0L : x >= 9223372036854775808.0 ? 0x7fffffffffffffffL\n"
    "    : x <= -9223372036854775808.0 ? -0x7fffffffffffffffL - 1L : int64_t(x); }\n";

/* Views of memory at an address. A wide offset is added to the address. */
static const char memory[] =
    "#define RK_SIZE_rk_byte 1u\n"
    "layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer\n"
    "rk_words { uint w[]; };\n"
    "#if !RK_DESCRIPTORS\n"
    "#define RK_VIEW(name, keep, type, align) layout(buffer_reference, scalar, \\\n"
    "    buffer_reference_align = align) keep buffer name { type v[]; };\n"
    "RK_VIEW(rk_reals, , rk_real, RK_SIZE_rk_real)\n"
    "RK_VIEW(rk_reals_in, readonly, rk_real, RK_SIZE_rk_real)\n"
    "RK_VIEW(rk_ints, , rk_int, RK_SIZE_rk_int)\n"
    "RK_VIEW(rk_ints_in, readonly, rk_int, RK_SIZE_rk_int)\n"
    "#if RK_WIDE\n"
    "#define rk_address uint64_t\n"
    "#define RK_ADDRESS(i) packUint2x32(uvec2(RK_W(i), RK_W(i + 1)))\n"
    "#define RK_ELEMENT(view, type, at, i) \\\n"
    "    view(at + uint64_t(i) * RK_SIZE_##type).v[0]\n"
    "#else\n"
    "#define rk_address uvec2\n"
    "#define RK_ADDRESS(i) uvec2(RK_W(i), RK_W(i + 1))\n"
    "#define RK_ELEMENT(view, type, at, i) view(at).v[i]\n"
    "#endif\n"
    "#endif\n";

static const char bytes[] =
    "#if !RK_DESCRIPTORS\n"
    "RK_VIEW(rk_bytes, , rk_byte, 1)\n"
    "RK_VIEW(rk_bytes_in, readonly, rk_byte, 1)\n"
    "#endif\n";

static const char int_ops[] =
    "rk_int rk_add(rk_int a, rk_int b) { return a + b; }\n"
    "rk_int rk_sub(rk_int a, rk_int b) { return a - b; }\n"
    "rk_int rk_mul(rk_int a, rk_int b) { return a * b; }\n"
    "rk_int rk_neg(rk_int a) { return -a; }\n"
    /* by sizes: what / and % of negative numbers give is not defined everywhere */
    "rk_uint rk_size(rk_int a) { return a < 0 ? rk_uint(-a) : rk_uint(a); }\n"
    "rk_int rk_div(rk_int a, rk_int b)\n"
    "{ if (b == 0) { return rk_int(0); }\n"
    "  const rk_int q = rk_int(rk_size(a) / rk_size(b));\n"
    "  return (a < 0) != (b < 0) ? -q : q; }\n"
    "rk_int rk_rem(rk_int a, rk_int b) { return b == 0 ? b : a - rk_div(a, b) * b; }\n"
    "rk_int rk_fld(rk_int a, rk_int b)\n"
    "{ const rk_int r = rk_rem(a, b);\n"
    "  return rk_div(a, b) - rk_int(r != 0 && (r < 0) != (b < 0)); }\n"
    "rk_int rk_mod(rk_int a, rk_int b)\n"
    "{ const rk_int r = rk_rem(a, b);\n"
    "  return r != 0 && (r < 0) != (b < 0) ? r + b : r; }\n"
    "rk_int rk_imin(rk_int a, rk_int b) { return a < b ? a : b; }\n"
    "rk_int rk_imax(rk_int a, rk_int b) { return a > b ? a : b; }\n"
    "rk_int rk_iabs(rk_int a) { return a < 0 ? -a : a; }\n"
    "rk_int rk_isign(rk_int a) { return rk_int(a > 0) - rk_int(a < 0); }\n"
    "rk_int rk_ipow(rk_int x, rk_int n)\n"
    "{ rk_uint left = rk_size(n); rk_int r = rk_int(1);\n"
    "  for (int i = 0; i < 64 && left != 0; i++) {\n"
    "    if ((left & 1) != 0) { r = r * x; }\n"
    "    x = x * x; left >>= 1; }\n"
    "  return n < 0 ? rk_div(rk_int(1), r) : r; }\n";

static const char real_ops[] =
    "#define rk_fabs abs\n"
    "#define rk_sqrt sqrt\n"
    "bool rk_isnan(rk_real x) { return isnan(x); }\n"
    "bool rk_isfinite(rk_real x) { return !isnan(x) && !isinf(x); }\n"
    "rk_real rk_min(rk_real a, rk_real b) { return a < b || isnan(b) ? a : b; }\n"
    "rk_real rk_max(rk_real a, rk_real b) { return a > b || isnan(b) ? a : b; }\n"
    "rk_real rk_sign(rk_real x)\n"
    "{ return x > 0 ? RK_REAL(1) : x < 0 ? RK_REAL(-1) : x; }\n"
    /* where the result is 0 it has the sign of x, which some devices lose */
    "rk_real rk_floor(rk_real x) { return x == 0 ? x : floor(x); }\n"
    "rk_real rk_ceil(rk_real x)\n"
    "{ const rk_real c = ceil(x); return c == 0 ? rk_zero_of(x) : c; }\n"
    /* not trunc(): some drivers lose the fraction of doubles from 2^30 on */
    "rk_real rk_trunc(rk_real x)\n"
    "{ const rk_real t = x < 0 ? ceil(x) : floor(x);\n"
    "  return t == 0 ? rk_zero_of(x) : t; }\n"
    "rk_real rk_round(rk_real x)\n" /* half away from zero; x - trunc(x) is exact */
    "{ const rk_real t = rk_trunc(x);\n"
    "  return abs(x - t) < RK_REAL(0.5) ? t : isinf(x) || isnan(x) ? x\n"
    "    : x < 0 ? t - RK_REAL(1) : t + RK_REAL(1); }\n"
    "rk_real rk_pow(rk_real x, rk_int n)\n" /* from the top bit down */
    "{ const rk_uint size = rk_size(n);\n"
    "  if (size == 0) { return RK_REAL(1); }\n"
    "  int top = 0;\n"
    "  for (int i = 1; i < 8 * int(RK_SIZE_rk_int); i++) {\n"
    "    if ((size >> i) != 0) { top = i; } }\n"
    "  rk_real r = x;\n"
    "  for (int i = top - 1; i >= 0; i--) {\n"
    "    r = r * r;\n"
    "    if ((size >> i & 1) != 0) { r = r * x; } }\n"
    "  return n < 0 ? RK_REAL(1) / r : r; }\n";

static const char f64_bits[] =
    "double rk_frexp(double x)\n"
    "{ if (!rk_isfinite(x) || x == 0) { return x; }\n"
    "  const bool tiny = abs(x) < packDouble2x32(uvec2(0u, 0x100000u));\n"
    "  const uvec2 b = unpackDouble2x32(tiny ? x * 1152921504606846976.0lf : x);\n"
    "  return packDouble2x32(uvec2(b.x, (b.y & 0x800fffffu) | 0x3fe00000u)); }\n"
    "rk_int rk_exponent(double x)\n"
    "{ if (!rk_isfinite(x) || x == 0) { return rk_int(0); }\n"
    "  const bool tiny = abs(x) < packDouble2x32(uvec2(0u, 0x100000u));\n"
    "  const uvec2 b = unpackDouble2x32(tiny ? x * 1152921504606846976.0lf : x);\n"
    "  return rk_int(int(b.y >> 20 & 0x7ffu) - 1022 - (tiny ? 60 : 0)); }\n"
    "double rk_two(int k) { return packDouble2x32(uvec2(0u, uint(k + 1023) << 20)); }\n"
    /* two exact (or saturating) steps, then the one that rounds */
    "double rk_ldexp(double x, rk_int n)\n"
    "{ int k = n > 2200 ? 2200 : n < -2200 ? -2200 : int(n);\n"
    "  for (int i = 0; i < 2; i++) {\n"
    "    const int step = k > 1023 ? 1023 : k < -1022 ? -969 : 0;\n"
    "    x = x * rk_two(step); k = k - step; }\n"
    "  return x * rk_two(k); }\n";

static const char f32_bits[] =
    "float rk_frexp(float x)\n"
    "{ if (!rk_isfinite(x) || x == 0) { return x; }\n"
    "  const bool tiny = abs(x) < uintBitsToFloat(0x800000u);\n"
    "  const uint b = floatBitsToUint(tiny ? x * 1152921504606846976.0f : x);\n"
    "  return uintBitsToFloat((b & 0x807fffffu) | 0x3f000000u); }\n"
    "rk_int rk_exponent(float x)\n"
    "{ if (!rk_isfinite(x) || x == 0) { return rk_int(0); }\n"
    "  const bool tiny = abs(x) < uintBitsToFloat(0x800000u);\n"
    "  const uint b = floatBitsToUint(tiny ? x * 1152921504606846976.0f : x);\n"
    "  return rk_int(int(b >> 23 & 0xffu) - 126 - (tiny ? 60 : 0)); }\n"
    "float rk_two(int k) { return uintBitsToFloat(uint(k + 127) << 23); }\n"
    "float rk_ldexp(float x, rk_int n)\n"
    "{ int k = n > 300 ? 300 : n < -300 ? -300 : int(n);\n"
    "  for (int i = 0; i < 2; i++) {\n"
    "    const int step = k > 127 ? 127 : k < -126 ? -102 : 0;\n"
    "    x = x * rk_two(step); k = k - step; }\n"
    "  return x * rk_two(k); }\n";

static const char fold_ops[] =
    "rk_real rk_sum(rk_real a, rk_real b) { return a + b; }\n"
    "rk_real rk_high(rk_real a, rk_real b) { return b > a || isnan(b) ? b : a; }\n"
    "rk_real rk_low(rk_real a, rk_real b) { return b < a || isnan(b) ? b : a; }\n"
    "void rk_two_sum(inout rk_real s, inout rk_real c, rk_real x)\n"
    "{ const rk_real sum = s + x; const rk_real part = sum - s;\n"
    "  c = c + ((s - (sum - part)) + (x - part)); s = sum; }\n";

/* The record takes the first claim. Tested accesses give an offset, or -1. */
static const char record[] =
    "#ifdef RK_ERROR_BINDING\n"
    "#if RK_DESCRIPTORS\n"
    "layout(set = 0, binding = RK_ERROR_BINDING, scalar) buffer rk_record\n"
    "{ uint w[]; } rk_err;\n"
    "uint rk_first_err;\n"
    "#define RK_ERR(i) rk_err.w[rk_first_err + i]\n"
    "#else\n"
    "layout(buffer_reference, scalar, buffer_reference_align = 8) buffer rk_record\n"
    "{ uint w[]; };\n"
    "uvec2 rk_at_err;\n"
    "#define RK_ERR(i) rk_record(rk_at_err).w[i]\n"
    "#endif\n"
    "#define RK_NOTE(i, x) RK_ERR(i) = RK_LOW(x); RK_ERR(i + 1) = RK_HIGH(x);\n"
    "void rk_claim(int site, rk_i64 i, rk_i64 j, rk_i64 k)\n"
    "{ if (atomicCompSwap(RK_ERR(0), 0u, uint(site + 1)) == 0u) {\n"
    "    RK_NOTE(2, i) RK_NOTE(4, j) RK_NOTE(6, k) } }\n"
    "#else\n"
    "void rk_claim(int site, rk_i64 i, rk_i64 j, rk_i64 k) { }\n"
    "#endif\n";

static const char tested[] =
    "rk_i64 rk_hold;\n"
    "rk_i64 rk_at1(int site, rk_i64 i, rk_i64 ni)\n"
    "{ if (i >= 0 && i < ni) { return i; }\n"
    "  rk_claim(site, i, RK_I64(0), RK_I64(0)); return RK_I64(-1); }\n"
    "rk_i64 rk_at2(int site, rk_i64 i, rk_i64 ni, rk_i64 j, rk_i64 nj)\n"
    "{ if (i >= 0 && i < ni && j >= 0 && j < nj) { return i + j * ni; }\n"
    "  rk_claim(site, i, j, RK_I64(0)); return RK_I64(-1); }\n"
    "rk_i64 rk_at3(int site, rk_i64 i, rk_i64 ni, rk_i64 j, rk_i64 nj, rk_i64 k,\n"
    "    rk_i64 nk)\n"
    "{ if (i >= 0 && i < ni && j >= 0 && j < nj && k >= 0 && k < nk) {\n"
    "    return i + (j + k * nj) * ni; }\n"
    "  rk_claim(site, i, j, k); return RK_I64(-1); }\n";

static const char atomics_f32[] =
    "#define rk_bits uint\n"
    "#define RK_OF_BITS(b) uintBitsToFloat(b)\n"
    "#define RK_TO_BITS(x) floatBitsToUint(x)\n";

static const char atomic_longs[] =
    "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n"
    "#extension GL_EXT_shader_atomic_int64 : require\n";

static const char atomics_f64[] =
    "#define rk_bits uint64_t\n"
    "#define RK_OF_BITS(b) packDouble2x32(unpackUint2x32(b))\n"
    "#define RK_TO_BITS(x) packUint2x32(unpackDouble2x32(x))\n";

static const char atomics[] =
    "#if !RK_DESCRIPTORS\n"
    "RK_VIEW(rk_cells, , rk_bits, RK_SIZE_rk_real)\n"
    "#endif\n"
    "#define RK_SIZE_rk_bits RK_SIZE_rk_real\n"
    "#define RK_ATOMIC_REAL(cell, value) { const rk_real rk_more = value; \\\n"
    "    rk_bits rk_old = cell; bool rk_done = false; \\\n"
    "    while (!rk_done) { \\\n"
    "        const rk_bits rk_seen = atomicCompSwap(cell, rk_old, \\\n"
    "            RK_TO_BITS(RK_OF_BITS(rk_old) + rk_more)); \\\n"
    "        rk_done = rk_seen == rk_old; rk_old = rk_seen; } }\n";
// clang-format on

/* What the entries use of the optional parts. */
typedef struct uses {
    bool atomics;
    bool bytes;
    bool folds;
} uses;

static uses find_uses(const rk_program *program)
{
    uses u = {false, false, false};
    for (int32_t e = 0; e < program->nentry; e++) {
        const rk_entry *entry = &program->entry[e];
        const rk_decl *decl = program->kernel[entry->kernel].decl;
        u.folds = u.folds || entry->kind == RK_ENTRY_TREE;
        u.atomics = u.atomics || (entry->flags & RUBUS_ENTRY_ATOMICS) != 0u;
        for (int32_t i = 0; i < entry->nslot; i++) {
            const rk_slot *slot = &entry->slot[i];
            u.bytes = u.bytes || (slot->kind == RK_SLOT_PARAM && slot->access != 0u &&
                                  decl->param[slot->index]->type == RK_BOOL);
        }
    }
    return u;
}

void rk_glsl_prelude(rk_c *c, bool fma)
{
    const rk_numbers *numbers = &c->unit->numbers;
    const uses u = find_uses(c->program);
    if (c->wide) {
        rk_c_line(c, "#undef RK_WIDE");
        rk_c_line(c, "#define RK_WIDE 1");
    }
    const bool longs = u.atomics && (numbers->f64 || numbers->int64);
    rubus__text_add(c->out, longs ? atomic_longs : "");
    rubus__text_add(c->out, extensions);
    rubus__text_add(c->out, numbers->f64 ? f64_types : f32_types);
    rubus__text_add(c->out, zero);
    rubus__text_add(c->out, numbers->int64 ? int64_types : int32_types);
    rubus__text_add(c->out, memory);
    rubus__text_add(c->out, u.bytes ? bytes : "");
    if (u.atomics) {
        rubus__text_add(c->out, numbers->f64 ? atomics_f64 : atomics_f32);
        rubus__text_add(c->out, atomics);
    }
    rubus__text_add(c->out, int_ops);
    rubus__text_add(c->out, real_ops);
    rubus__text_add(c->out, numbers->f64 ? f64_bits : f32_bits);
    rubus__text_add(c->out, !fma ? "" : numbers->f64 ? rk_glsl_fma_f64 : rk_glsl_fma_f32);
    rubus__text_add(c->out, u.folds ? fold_ops : "");
    rubus__text_add(c->out, record);
    rubus__text_add(c->out, tested);
}
