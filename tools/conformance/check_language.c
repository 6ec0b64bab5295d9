/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks G: numbers of the kernel language, on the backend and in the interpreter. Every
 * operator and every function, with operands of all kinds.
 */
#include "config.h"

#include "conform_compare.h"

static void both(const char *text)
{
    conform_compare(text, RUBUS_I32, 0);
}

static void int_arithmetic(void)
{
    both("kernel sums(out int r[n,7], in int a[n], in int b[n], int s) over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = a[i] + b[i];\n"
         "    r[i,1] = a[i] - b[i];\n"
         "    r[i,2] = a[i] * b[i];\n"
         "    r[i,3] = -a[i];\n"
         "    r[i,4] = +b[i] - s;\n"
         "    r[i,5] = a[i] * 3 + b[i] * (s - 5) - i;\n"
         "    r[i,6] = abs(a[i]) - sign(b[i]);\n"
         "}\n"
         "kernel quotients(out int r[n,9], in int a[n], in int b[n]) over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = div(a[i], b[i]);\n"
         "    r[i,1] = fld(a[i], b[i]);\n"
         "    r[i,2] = rem(a[i], b[i]);\n"
         "    r[i,3] = mod(a[i], b[i]);\n"
         "    r[i,4] = a[i] % b[i];\n"
         "    r[i,5] = div(a[i], 7) + fld(a[i], -3);\n"
         "    r[i,6] = mod(a[i], 16) * mod(b[i], -5);\n"
         "    r[i,7] = min(a[i], b[i]);\n"
         "    r[i,8] = max(a[i], b[i]) % 10;\n"
         "}\n"
         "kernel powers(out int r[n,5], in int a[n]) over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = a[i]^0;\n"
         "    r[i,1] = a[i]^1;\n"
         "    r[i,2] = a[i]^2;\n"
         "    r[i,3] = -a[i]^3;\n"
         "    r[i,4] = a[i]^7 + 2^10;\n"
         "}\n"
         "kernel fields(out int r[nx,ny], in int a[nx,ny], in int b[nx,ny])\n"
         "{ r = a * b - div(a, b) + mod(a, 5)^2 - (b % 3) + (-a); }\n");
}

static void real_arithmetic(void)
{
    both("kernel sums(out real r[n,8], in real a[n], in real b[n], real s) over (i in "
         "0:n)\n"
         "{\n"
         "    r[i,0] = a[i] + b[i];\n"
         "    r[i,1] = a[i] - b[i];\n"
         "    r[i,2] = a[i] * b[i];\n"
         "    r[i,3] = a[i] / b[i];\n"
         "    r[i,4] = -a[i] + +b[i];\n"
         "    r[i,5] = a[i] * b[i] + s;\n" // not to be fused
         "    r[i,6] = a[i] * s - b[i] * 0.1;\n"
         "    r[i,7] = (a[i] + b[i]) - a[i] - b[i];\n" // not to be simplified
         "}\n"
         "kernel groups(out real r[n,6], in real a[n], in real b[n], in real c[n])\n"
         "    over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = a[i] - b[i] - c[i];\n"
         "    r[i,1] = a[i] - (b[i] - c[i]);\n"
         "    r[i,2] = a[i] / b[i] / c[i];\n"
         "    r[i,3] = a[i] / (b[i] / c[i]);\n"
         "    r[i,4] = a[i] * (b[i] + c[i]);\n"
         "    r[i,5] = -(a[i] - b[i]) * -c[i];\n"
         "}\n"
         "kernel powers(out real r[n,9], in real a[n], in int k[n]) over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = a[i]^2;\n"
         "    r[i,1] = a[i]^3;\n"
         "    r[i,2] = a[i]^5;\n"
         "    r[i,3] = a[i]^-1;\n"
         "    r[i,4] = a[i]^-4;\n"
         "    r[i,5] = a[i]^0;\n"
         "    r[i,6] = -a[i]^2;\n"
         "    r[i,7] = a[i]^mod(k[i], 9);\n"
         "    r[i,8] = 2^(mod(k[i], 7) - 3);\n"
         "}\n"
         "kernel fields(out real r[nx,ny], in real a[nx,ny], in real b[nx,ny], real s)\n"
         "{ r = (a + b) * (a - b) / (1 + s^2) - a^3 / b + 0.1 * a; }\n");
}

static void comparisons_and_logic(void)
{
    both("kernel of_reals(out bool r[n,6], in real a[n], in real b[n]) over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = a[i] == b[i];\n"
         "    r[i,1] = a[i] != b[i];\n"
         "    r[i,2] = a[i] < b[i];\n"
         "    r[i,3] = a[i] <= b[i];\n"
         "    r[i,4] = a[i] > b[i];\n"
         "    r[i,5] = a[i] >= b[i];\n"
         "}\n"
         "kernel of_ints(out bool r[n,6], in int a[n], in int b[n]) over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = a[i] == mod(b[i], 4);\n"
         "    r[i,1] = a[i] != b[i];\n"
         "    r[i,2] = a[i] < b[i];\n"
         "    r[i,3] = a[i] <= b[i];\n"
         "    r[i,4] = a[i] > 2.5;\n"
         "    r[i,5] = a[i] >= b[i];\n"
         "}\n"
         "kernel of_bools(out bool r[n,7], in bool a[n], in bool b[n], bool s)\n"
         "    over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = a[i] && b[i];\n"
         "    r[i,1] = a[i] || b[i];\n"
         "    r[i,2] = !a[i];\n"
         "    r[i,3] = a[i] == b[i];\n"
         "    r[i,4] = a[i] != s;\n"
         "    r[i,5] = a[i] || b[i] && s;\n"
         "    r[i,6] = (a[i] || b[i]) && !s || true;\n"
         "}\n"
         "kernel choices(out real r[n,4], in real a[n], in real b[n], in bool m[n], int "
         "s)\n"
         "    over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = m[i] ? a[i] : b[i];\n"
         "    r[i,1] = a[i] < b[i] ? 1 : a[i] > b[i] ? 2 : 3.5;\n"
         "    r[i,2] = s > 1 ? (m[i] ? a[i] : 0) : i;\n"
         "    r[i,3] = i > 0 && a[i-1] > 0 ? a[i-1] : -1;\n" // the right side is skipped
         "}\n"
         "kernel fields(out bool r[nx,ny], in real a[nx,ny], in bool m[nx,ny], bool s)\n"
         "{ r = (m ? a > 0 : !s) || a == 1.5 && m != s; }\n");
}

static void exact_functions(void)
{
    both("kernel rounding(out real r[n,6], in real a[n]) over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = floor(a[i]);\n"
         "    r[i,1] = ceil(a[i]);\n"
         "    r[i,2] = trunc(a[i]);\n"
         "    r[i,3] = round(a[i]);\n"
         "    r[i,4] = sign(a[i]);\n"
         "    r[i,5] = abs(a[i]);\n"
         "}\n"
         "kernel halves(out real r[n], in int k[n]) over (i in 0:n)\n"
         "{ r[i] = round(k[i] / 2) + 1000 * round(mod(k[i], 100) / 4); }\n"
         "kernel rest(out real r[n,7], in real a[n], in real b[n], in real c[n])\n"
         "    over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = sqrt(a[i]);\n"
         "    r[i,1] = fma(a[i], b[i], c[i]);\n"
         "    r[i,2] = min(a[i], b[i]);\n"
         "    r[i,3] = max(a[i], b[i]);\n"
         "    r[i,4] = frexp(a[i]);\n"
         "    r[i,5] = sqrt(abs(b[i]) + 2);\n"
         "    r[i,6] = min(max(a[i], -1), 1.5);\n"
         "}\n"
         "kernel exponents(out int r[n,2], in real a[n]) over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = exponent(a[i]);\n"
         "    r[i,1] = isnan(a[i]) ? 1 : isfinite(a[i]) ? 2 : 3;\n"
         "}\n"
         "kernel scaled(out real r[n,4], in real a[n], in int k[n]) over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = ldexp(a[i], k[i]);\n"
         "    r[i,1] = ldexp(a[i], mod(k[i], 400) - 200);\n"
         "    r[i,2] = ldexp(a[i], -140);\n"
         "    r[i,3] = ldexp(frexp(a[i]), exponent(a[i]));\n"
         "}\n"
         "kernel fields(out real r[nx,ny], in real a[nx,ny], in real b[nx,ny])\n"
         "{ r = sqrt(abs(a)) + floor(b) * round(a) - (isnan(a) ? 0 : trunc(b)); }\n");
}

static void math_functions(void)
{
    both("kernel exps(out real r[n,6], in real a[n]) over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = exp(a[i]);\n"
         "    r[i,1] = exp2(a[i]);\n"
         "    r[i,2] = log(a[i]);\n"
         "    r[i,3] = log2(abs(a[i]));\n"
         "    r[i,4] = log10(a[i] + 5);\n"
         "    r[i,5] = exp(30 * a[i]);\n"
         "}\n"
         "kernel angles(out real r[n,8], in real a[n], in real b[n]) over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = sin(a[i]);\n"
         "    r[i,1] = cos(a[i]);\n"
         "    r[i,2] = tan(a[i]);\n"
         "    r[i,3] = sin(1000 * a[i]);\n"
         "    r[i,4] = asin(a[i] / 4);\n"
         "    r[i,5] = acos(a[i] / 4);\n"
         "    r[i,6] = atan(a[i]);\n"
         "    r[i,7] = atan2(a[i], b[i]);\n"
         "}\n"
         "kernel others(out real r[n,6], in real a[n], in real b[n]) over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = sinh(a[i]);\n"
         "    r[i,1] = cosh(a[i]);\n"
         "    r[i,2] = tanh(a[i]);\n"
         "    r[i,3] = hypot(a[i], b[i]);\n"
         "    r[i,4] = pow(abs(a[i]), b[i]);\n"
         "    r[i,5] = a[i]^b[i] + abs(b[i])^0.5;\n"
         "}\n"
         "kernel fields(out real r[nx,ny], in real a[nx,ny], in real b[nx,ny])\n"
         "{ r = exp(-a^2) * cos(b) + atan2(b, a) - tanh(a * b); }\n");
}

static void conversions(void)
{
    both(
        "kernel cuts(out int r[n,5], in real a[n], in int k[n], real s) over (i in 0:n)\n"
        "{\n"
        "    r[i,0] = int(a[i]);\n"
        "    r[i,1] = int(a[i] * 1e9);\n"
        "    r[i,2] = int(a[i] * 1e30);\n"
        "    r[i,3] = int(s * k[i]) + int(-0.9) + int(3.99);\n"
        "    r[i,4] = int(real(k[i]));\n"
        "}\n"
        "kernel meets(out real r[n,7], in real a[n], in int k[n], in bool m[n])\n"
        "    over (i in 0:n)\n"
        "{\n"
        "    r[i,0] = k[i];\n"
        "    r[i,1] = a[i] + k[i];\n"
        "    r[i,2] = k[i] / 3;\n"
        "    r[i,3] = 1 / 2 + k[i] * 0.5;\n"
        "    r[i,4] = m[i] ? 1 : a[i];\n"
        "    r[i,5] = real(k[i]) * real(k[i]);\n"
        "    r[i,6] = max(k[i], a[i]) - min(2, a[i]);\n"
        "}\n"
        "kernel literals(out real r[n,12]) over (i in 0:n)\n"
        "{\n"
        "    r[i,0] = 0.1;\n"
        "    r[i,1] = 1e-3 + i;\n"
        "    r[i,2] = 3.;\n"
        "    r[i,3] = 16777217.0;\n"
        "    r[i,4] = 0.1 + 0.2;\n"
        "    r[i,5] = 1.0 / 3.0;\n"
        "    r[i,6] = 1e-40;\n"
        "    r[i,7] = 3.4028235e38;\n"
        "    r[i,8] = 1e-45;\n"
        "    r[i,9] = 2147483647 + 0.0;\n"
        "    r[i,10] = 9007199254740993.0;\n"
        "    r[i,11] = 123456789;\n"
        "}\n"
        "kernel folded(out int r[n,5]) over (i in 0:n)\n"
        "{\n"
        "    r[i,0] = 2147483647 + 1 + i - i;\n"
        "    r[i,1] = div(-7, 2) * 10 + mod(-7, 2);\n"
        "    r[i,2] = int(1e10);\n"
        "    r[i,3] = 7 % -4 + fld(-7, 2) * 100;\n"
        "    r[i,4] = div(5, 0) + mod(5, 0) + 3^5;\n"
        "}\n");
}

static void types_of_parameters(void)
{
    both("kernel all_kinds(out real r[n], out int k[n], out bool m[n], in real a[n],\n"
         "    in int b[n], in bool c[n], in index p[n], real s, int t, bool u, index v)\n"
         "    over (i in 0:n)\n"
         "{\n"
         "    r[i] = (c[i] ? a[p[i]] : s) + v;\n"
         "    k[i] = b[p[i]] * t + (u ? i : p[i]);\n"
         "    m[i] = c[p[i]] != u && a[i] > s;\n"
         "}\n"
         "kernel ranks(inout real r[nx], inout int k[nx,ny], inout bool m[nx,ny,nz])\n"
         "    over (i in 0:nx, j in 0:ny)\n"
         "{\n"
         "    if (j == 0) { r[i] = r[i] * 2; }\n"
         "    k[i,j] = k[i,j] + i - j;\n"
         "    for (int l = 0; l < nz; l++) { m[i,j,l] = !m[i,j,l]; }\n"
         "}\n"
         "kernel blanks(out real r[], in real a[], in int k[,], in bool m[,,])\n"
         "    over (i)\n"
         "{\n"
         "    r[i] = a[i] + extent(k, 0) + 10 * extent(k, 1) + 100 * extent(m, 2);\n"
         "}\n"
         "kernel extents(out real r[nx,ny+1], in real a[2*nx+1,ny], in real "
         "b[nx-1,ny+2])\n"
         "    over (i in 0:nx, j in 0:ny)\n"
         "{ r[i,j] = a[2*i+1,j] + nx * 1000 + ny + (i > 0 ? b[i-1,j+2] : 0); }\n");
}

const conform_check conform_language_checks[] = {
    {"G01_int_arithmetic", CONFORM_BASIC, 120, 0,
     "ints: sums, products, quotients, powers, wrapping around", int_arithmetic},
    {"G02_real_arithmetic", CONFORM_BASIC, 120, 0,
     "reals: sums, products, quotients, powers, in the order of the text",
     real_arithmetic},
    {"G03_comparisons_and_logic", CONFORM_BASIC, 120, CONFORM_NEEDS_BOOL,
     "comparisons, bools, choices, also with NaN", comparisons_and_logic},
    {"G04_exact_functions", CONFORM_BASIC, 120, 0,
     "rounding, sqrt, fma, min, max, frexp, ldexp and their like", exact_functions},
    {"G05_math_functions", CONFORM_FULL, 240, 0,
     "exp, log, sin, pow and their like, to the bit of the library", math_functions},
    {"G06_conversions", CONFORM_BASIC, 120, CONFORM_NEEDS_BOOL,
     "int to real and back, literals, folded constants", conversions},
    {"G07_types_of_parameters", CONFORM_BASIC, 120, CONFORM_NEEDS_BOOL,
     "arrays and scalars of every type and rank, extents of every form",
     types_of_parameters},
    {.name = NULL},
};
