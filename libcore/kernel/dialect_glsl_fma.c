/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialect glsl: fma(a, b, c) with one rounding, in 32-bit integer operations alone: the
 * fma of GLSL may round twice, and may take subnormal numbers for 0.
 *
 * A finite number is its digits, a whole number, times a power of two. The product of
 * two numbers of d digits has 2 d of them. It and c move to a common exponent e and are
 * added or subtracted as whole numbers of 64 bits (f32, d = 24) or 128 (f64, d = 53), in
 * words, the lowest first. The product may move up by L places, c by K (L = 14 and K =
 * 38 for f32, 20 and 73 for f64): so both stay below a quarter of the range, and e is
 * the lowest for which they do. Bits that move out at the bottom are gathered in the
 * lowest bit. That changes no result: what loses bits lies either far below the top of
 * the other, which ends in L or K zeros, or wholly below the smallest subnormal number.
 * So the sum then has all digits of the result and more than two bits below them, and
 * only whether those from the third on are 0 matters. Nothing loops: lanes that leave a
 * loop one after another are slow, and once spirv-opt had merged the blocks of such
 * loops, llvmpipe 22.3 gave wrong results.
 *
 * The last digit of the result has the exponent last, never below that of the smallest
 * subnormal number. The sum moves to two bits below it and is rounded to even there: 1
 * more, or 2 if the last digit is odd, carries exactly when it should. Then it is added
 * to the field of the exponent. That is one too small, and the leading digit, which a
 * subnormal number has not, makes up for it.
 */
#include "config.h"

#include "libcore/kernel/dialect_glsl.h"

// clang-format off
const char rk_glsl_fma_f32[] =
    "uvec2 rk_fma_add(uvec2 a, uvec2 b)\n"
    "{\n"
    "    a += b;\n"
    "    return uvec2(a.x, a.y + uint(a.x < b.x));\n"
    "}\n"
    /* v * 2^n: the upper half of v moved up from the lower half of twice its words */
    "uvec2 rk_fma_move(uvec2 v, int n)\n"
    "{\n"
    "    uvec2 low = v;\n"
    "    v = uvec2(0u);\n"
    "    n = max(n + 64, 0);\n"
    "    if ((n & 64) != 0) {\n"
    "        v = low;\n"
    "        low = uvec2(0u);\n"
    "    }\n"
    "    if ((n & 32) != 0) {\n"
    "        v = uvec2(low.y, v.x);\n"
    "        low = uvec2(0u, low.x);\n"
    "    }\n"
    "    n &= 31;\n"
    "    v = v << n | uvec2(low.y, v.x) >> 1 >> (31 - n);\n"
    "    low.y <<= n;\n"
    "    return uvec2(v.x | uint(low != uvec2(0u)), v.y);\n"
    "}\n"
    "float rk_fma(float a, float b, float c)\n"
    "{\n"
    "    const uint inf = 0x7f800000u, minus = 0x80000000u;\n"
    "    const uvec3 bits = floatBitsToUint(vec3(a, b, c));\n"
    "    const uvec3 size = bits & ~minus;\n"
    "    const uint large = max(size.x, size.y), small = min(size.x, size.y);\n"
    "    const bool differ = ((bits.x ^ bits.y ^ bits.z) & minus) != 0u;\n"
    "    uint sign = (bits.x ^ bits.y) & minus;\n"
    "    if (max(large, size.z) > inf ||\n"
    "        (large == inf && (small == 0u || (size.z == inf && differ)))) {\n"
    "        return uintBitsToFloat(0x7fc00000u);\n"
    "    }\n"
    "    if (large == inf) {\n"
    "        return uintBitsToFloat(sign | inf);\n"
    "    }\n"
    "    if (size.z == inf || (small == 0u && size.z != 0u)) {\n"
    "        return c;\n"
    "    }\n"
    "    const uvec3 digits = (size & 0x7fffffu) | min(size >> 23, 1u) << 23;\n"
    "    const ivec3 exponent = max(ivec3(size >> 23), 1) - 150;\n"
    "    const int ab = exponent.x + exponent.y, e = max(ab - 14, exponent.z - 38);\n"
    "    uvec2 s;\n"
    "    umulExtended(digits.x, digits.y, s.y, s.x);\n"
    "    s = rk_fma_move(s, ab - e);\n"
    "    const uvec2 t = rk_fma_move(uvec2(digits.z, 0u), exponent.z - e);\n"
    "    s = differ ? ~rk_fma_add(~s, t) : rk_fma_add(s, t);\n" /* ~(~s + t) is s - t */
    "    if (s == uvec2(0u)) {\n"
    "        return uintBitsToFloat(sign & bits.z);\n"
    "    }\n"
    "    if (s.y >= minus) {\n"
    "        s = rk_fma_add(~s, uvec2(1u, 0u));\n"
    "        sign ^= minus;\n"
    "    }\n"
    "    const int top = s.y != 0u ? 32 + findMSB(s.y) : findMSB(s.x);\n"
    "    const int last = max(e + top - 23, -149);\n"
    "    if (last > 104) {\n"
    "        return uintBitsToFloat(sign | inf);\n"
    "    }\n"
    "    s = rk_fma_move(s, e - last + 2);\n"
    "    s.x += 1u + (s.x >> 2 & 1u);\n"
    "    return uintBitsToFloat(sign | ((s.x >> 2) + (uint(last + 149) << 23)));\n"
    "}\n";

const char rk_glsl_fma_f64[] =
    "uvec4 rk_fma_add(uvec4 a, uvec4 b)\n"
    "{\n"
    "    a += b;\n"
    "    uvec3 carry = uvec3(lessThan(a.xyz, b.xyz));\n"
    "    a.y += carry.x;\n"
    "    carry.y += uint(a.y < carry.x);\n"
    "    a.z += carry.y;\n"
    "    carry.z += uint(a.z < carry.y);\n"
    "    a.w += carry.z;\n"
    "    return a;\n"
    "}\n"
    /* v * 2^n: the upper half of v moved up from the lower half of twice its words */
    "uvec4 rk_fma_move(uvec4 v, int n)\n"
    "{\n"
    "    uvec4 low = v;\n"
    "    v = uvec4(0u);\n"
    "    n = max(n + 128, 0);\n"
    "    if ((n & 128) != 0) {\n"
    "        v = low;\n"
    "        low = uvec4(0u);\n"
    "    }\n"
    "    if ((n & 64) != 0) {\n"
    "        v = uvec4(low.zw, v.xy);\n"
    "        low = uvec4(0u, 0u, low.xy);\n"
    "    }\n"
    "    if ((n & 32) != 0) {\n"
    "        v = uvec4(low.w, v.xyz);\n"
    "        low = uvec4(0u, low.xyz);\n"
    "    }\n"
    "    n &= 31;\n"
    "    v = v << n | uvec4(low.w, v.xyz) >> 1 >> (31 - n);\n"
    "    low.w <<= n;\n"
    "    return uvec4(v.x | uint(low != uvec4(0u)), v.yzw);\n"
    "}\n"
    "double rk_fma(double a, double b, double c)\n"
    "{\n"
    "    const uint inf = 0x7ff00000u, minus = 0x80000000u;\n"
    "    const uvec2 x = unpackDouble2x32(a), y = unpackDouble2x32(b);\n"
    "    const uvec2 z = unpackDouble2x32(c);\n"
    "    const uvec3 low = uvec3(x.x, y.x, z.x), high = uvec3(x.y, y.y, z.y) & ~minus;\n"
    "    const uvec3 size = high | uvec3(notEqual(low, uvec3(0u)));\n" /* 0, inf or NaN */
    "    const uint large = max(size.x, size.y), small = min(size.x, size.y);\n"
    "    const bool differ = ((x.y ^ y.y ^ z.y) & minus) != 0u;\n"
    "    uint sign = (x.y ^ y.y) & minus;\n"
    "    if (max(large, size.z) > inf ||\n"
    "        (large == inf && (small == 0u || (size.z == inf && differ)))) {\n"
    "        return packDouble2x32(uvec2(0u, 0x7ff80000u));\n"
    "    }\n"
    "    if (large == inf) {\n"
    "        return packDouble2x32(uvec2(0u, sign | inf));\n"
    "    }\n"
    "    if (size.z == inf || (small == 0u && size.z != 0u)) {\n"
    "        return c;\n"
    "    }\n"
    "    const uvec3 digits = (high & 0xfffffu) | min(high >> 20, 1u) << 20;\n"
    "    const ivec3 exponent = max(ivec3(high >> 20), 1) - 1075;\n"
    "    const int ab = exponent.x + exponent.y, e = max(ab - 20, exponent.z - 73);\n"
    "    uvec4 h, l, s;\n"
    "    s = uvec4(x.x, digits.x, x.x, digits.x);\n"
    "    umulExtended(s, uvec4(y.xx, digits.yy), h, l);\n"
    "    s = rk_fma_add(uvec4(0u, l.y, h.y, 0u), uvec4(0u, l.z, h.z, 0u));\n"
    "    s = rk_fma_move(rk_fma_add(uvec4(l.x, h.x, l.w, h.w), s), ab - e);\n"
    "    const uvec4 t = rk_fma_move(uvec4(z.x, digits.z, 0u, 0u), exponent.z - e);\n"
    "    s = differ ? ~rk_fma_add(~s, t) : rk_fma_add(s, t);\n" /* ~(~s + t) is s - t */
    "    if (s == uvec4(0u)) {\n"
    "        return packDouble2x32(uvec2(0u, sign & z.y));\n"
    "    }\n"
    "    if (s.w >= minus) {\n"
    "        s = rk_fma_add(~s, uvec4(1u, 0u, 0u, 0u));\n"
    "        sign ^= minus;\n"
    "    }\n"
    "    const int top = s.w != 0u   ? 96 + findMSB(s.w)\n"
    "                    : s.z != 0u ? 64 + findMSB(s.z)\n"
    "                    : s.y != 0u ? 32 + findMSB(s.y)\n"
    "                                : findMSB(s.x);\n"
    "    const int last = max(e + top - 52, -1074);\n"
    "    if (last > 971) {\n"
    "        return packDouble2x32(uvec2(0u, sign | inf));\n"
    "    }\n"
    "    s = rk_fma_move(s, e - last + 2);\n"
    "    s = rk_fma_add(s, uvec4(1u + (s.x >> 2 & 1u), 0u, 0u, 0u));\n"
    "    return packDouble2x32(uvec2(s.x >> 2 | s.y << 30,\n"
    "                                sign | ((s.y >> 2) + (uint(last + 1074) << 20))));\n"
    "}\n";
// clang-format on
