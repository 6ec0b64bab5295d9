/* SPDX-License-Identifier: Apache-2.0 */
/* Checks G: statements of per-point kernels, funcs, gathering and scattering. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "conform_compare.h"

static void both(const char *text)
{
    conform_compare(text, RUBUS_I32, 0);
}

static void assignments(void)
{
    both("kernel of_reals(inout real r[n,5], in real a[n]) over (i in 0:n)\n"
         "{\n"
         "    r[i,0] = a[i];\n"
         "    r[i,1] += a[i];\n"
         "    r[i,2] -= a[i];\n"
         "    r[i,3] *= a[i];\n"
         "    r[i,4] /= a[i];\n"
         "}\n"
         "kernel of_ints(inout int k[n,7], in int a[n]) over (i in 0:n)\n"
         "{\n"
         "    k[i,0] = a[i];\n"
         "    k[i,1] += a[i];\n"
         "    k[i,2] -= a[i];\n"
         "    k[i,3] *= a[i];\n"
         "    k[i,4] %= a[i];\n"
         "    k[i,5]++;\n"
         "    k[i,6]--;\n"
         "}\n"
         "kernel of_locals(out real r[n], in real a[n], in int k[n]) over (i in 0:n)\n"
         "{\n"
         "    real x = a[i];\n"
         "    int j;\n"     // 0
         "    bool m;\n"    // false
         "    real q[5];\n" // zeros
         "    x += 1; x *= 2; x -= 0.5; x /= 3;\n"
         "    j += k[i]; j *= 3; j -= 4; j %= 7; j++; j++; j--;\n"
         "    q[2] = x; q[mod(j, 5)] += j; q[1]++;\n"
         "    m = m || x > 0;\n"
         "    r[i] = m ? q[0] + q[1] + q[2] + q[3] + q[4] : j;\n"
         "}\n");
}

static void control_flow(void)
{
    both("kernel branches(inout real r[n], in real a[n], in int k[n]) over (i in 0:n)\n"
         "{\n"
         "    if (a[i] > 1) r[i] = 1; else if (a[i] > 0) r[i] = 2; else { r[i] = 3; }\n"
         "    if (k[i] > 0) if (a[i] < 0) r[i] += 10; else r[i] += 20;\n"
         "    if (k[i] == 3) { return; }\n"
         "    r[i] += 100;\n"
         "}\n"
         "kernel loops(out int r[n,6], in int k[n]) over (i in 0:n)\n"
         "{\n"
         "    int most = mod(k[i], 9);\n"
         "    int s = 0;\n"
         "    for (int t = 0; t < most; t++) { s += t * k[i]; }\n"
         "    r[i,0] = s;\n"
         "    int t = 0;\n"
         "    while (t < 20) { t += 3; if (t == most) { continue; } if (t > 15) break; "
         "s++; }\n"
         "    r[i,1] = s + 1000 * t;\n"
         "    for (;;) { s = s - 1; if (s < 5 || s > 100000) break; s = div(s, 2); }\n"
         "    r[i,2] = s;\n"
         "    for (t = 10; t > 0; t -= 4) s += t;\n"
         "    r[i,3] = s;\n"
         "    for (int u = 0; u < 4; u++)\n"
         "        for (int v = u; v < 4; v++) { if (v == 2) continue; s += u * v; }\n"
         "    r[i,4] = s;\n"
         "    int x = 27;\n"
         "    int steps = 0;\n"
         "    while (x != 1) { x = x % 2 == 0 ? div(x, 2) : 3 * x + 1; steps++; }\n"
         "    r[i,5] = steps;\n"
         "}\n"
         "kernel scopes(inout real r[n], in real a[n]) over (i in 0:n)\n"
         "{\n"
         "    real x = 1;\n"
         "    { real x = 2; x += a[i]; r[i] = x; }\n"
         "    for (int x = 0; x < 3; x++) { real y = x; r[i] += y; }\n"
         "    if (a[i] > 0) { int x = 5; r[i] += x; }\n"
         "    r[i] += 100 * x;\n"
         "}\n"
         "kernel early(inout real r[n], in real a[n]) over (i in 0:n)\n"
         "{\n"
         "    for (int t = 0; t < 5; t++) {\n"
         "        for (int u = 0; u < 5; u++) {\n"
         "            if (a[i] * t > u) { r[i] = t + 10 * u; return; }\n"
         "        }\n"
         "    }\n"
         "}\n");
}

static void local_arrays(void)
{
    both("kernel sorted(out real r[n], in real a[n]) over (i in 0:n)\n"
         "{\n"
         "    real q[9];\n"
         "    for (int t = 0; t < 9; t++) { q[t] = a[mod(i + 3 * t, n)]; }\n"
         "    for (int t = 1; t < 9; t++) {\n"
         "        real x = q[t];\n"
         "        int at = t;\n"
         "        while (at > 0 && q[max(at - 1, 0)] > x) { q[at] = q[at-1]; at--; }\n"
         "        q[at] = x;\n"
         "    }\n"
         "    r[i] = q[0] + 3 * q[4] - q[8];\n"
         "}\n"
         "kernel histogram(out int r[n,4], in int k[n]) over (i in 0:n)\n"
         "{\n"
         "    int h[4];\n"
         "    bool seen[4];\n"
         "    for (int t = 0; t < n && t < 40; t++) { h[mod(k[t], 4)]++; }\n"
         "    seen[mod(k[i], 4)] = true;\n"
         "    for (int t = 0; t < 4; t++) { r[i,t] = seen[t] ? h[t] : -h[t]; }\n"
         "}\n"
         "kernel large(out int r[n], in int k[n]) over (i in 0:n)\n"
         "{\n"
         "    int q[64];\n"
         "    for (int t = 0; t < 200; t++) { q[mod(t * 7 + k[i], 64)] += t; }\n"
         "    int s = 0;\n"
         "    for (int t = 0; t < 64; t++) { s = s * 31 + q[t]; }\n"
         "    r[i] = s;\n"
         "}\n");
}

static void functions(void)
{
    both(
        "func real mean(real a, real b) { return (a + b) / 2; }\n"
        "func int clip(int k, int lo, int hi) { return k < lo ? lo : k > hi ? hi : k; }\n"
        "func bool close(real a, real b) { return abs(a - b) <= 1; }\n"
        "func real horner(real x)\n"
        "{\n"
        "    real c[4];\n"
        "    c[0] = 1; c[1] = -0.5; c[2] = 0.25; c[3] = mean(x, 1);\n"
        "    real s = 0;\n"
        "    for (int k = 3; k >= 0; k--) { s = s * x + c[k]; if (s > 1e6) { return 1e6; "
        "} }\n"
        "    return s;\n"
        "}\n"
        "func int collatz(int n)\n"
        "{\n"
        "    int steps = 0;\n"
        "    int x = clip(n, 1, 30);\n"
        "    while (x > 1) { if (mod(x, 2) == 0) x = div(x, 2); else x = 3 * x + 1; "
        "steps++; }\n"
        "    return steps;\n"
        "}\n"
        "kernel points(out real r[n,3], in real a[n], in int k[n]) over (i in 0:n)\n"
        "{\n"
        "    r[i,0] = horner(a[i]) - mean(a[i], horner(0.5));\n"
        "    r[i,1] = collatz(k[i]) + clip(k[i], -5, i);\n"
        "    r[i,2] = close(a[i], 1) || close(mean(a[i], 3), 2) ? 1 : 0;\n"
        "}\n"
        "kernel fields(out real r[nx,ny], in real a[nx,ny], in int k[nx,ny])\n"
        "{ r = horner(a) + (close(a, 2) ? collatz(k) : mean(a, k)); }\n");
}

static void gather_scatter(void)
{
    both("kernel gather(out real r[n], in real a[n], in index p[n], in index p2[n])\n"
         "    over (i in 0:n)\n"
         "{ r[i] = a[p[i]] + a[p[p2[i]]] * 2; }\n"
         "kernel scatter(inout int r[n], in index p[m], in int k[m]) over (j in 0:m)\n"
         "{ if (n > 0) atomic_add(r[p[j]], k[j]); }\n"
         "kernel count(inout int r[4], in int k[nx,ny]) over (i in 0:nx, j in 0:ny)\n"
         "{ atomic_add(r[mod(k[i,j], 4)], 1); }\n"
         "kernel transpose(out real r[ny,nx], in real a[nx,ny]) over (i in 0:nx, j in "
         "0:ny)\n"
         "{ r[j,i] = a[i,j]; }\n"
         "kernel reversed(out real r[n], in real a[n]) over (i in 0:n) { r[i] = "
         "a[n-1-i]; }\n"
         "kernel strided(out real r[n], in real a[3*n+2]) over (i in 0:n)\n"
         "{ r[i] = a[3*i+2] - a[2*i]; }\n"
         "kernel stencil(out real r[nx,ny,nz], in real a[nx,ny,nz])\n"
         "    over (i in 1:nx-1, j in 1:ny-1, k in 1:nz-1)\n"
         "{\n"
         "    r[i,j,k] = a[i-1,j,k] + a[i+1,j,k] - 2 * a[i,j,k]\n"
         "             + (a[i,j-1,k] + a[i,j+1,k]) * 0.5 + a[i,j,k-1] - a[i,j,k+1];\n"
         "}\n");
}

static void ranges(void)
{
    both("kernel inner(inout real r[nx,ny]) over (i in 1:nx-1, j in 2:ny)\n"
         "{ r[i,j] = i + 100 * j; }\n"
         "kernel by_default(inout real r[nx,ny]) over (i, j) { r[i,j] = i - j; }\n"
         "kernel mixed(inout real r[nx,ny]) over (i in 0:div(nx,2), j) { r[i,j] += j; }\n"
         "kernel by_scalar(inout real r[nx], int lo) over (i in min(lo, nx):nx)\n"
         "{ r[i] = lo; }\n"
         "kernel nothing(inout real r[nx]) over (i in nx:0) { r[i] = 7; }\n"
         "kernel three(inout int r[nx,ny,nz]) over (i in 0:nx, j in 0:ny, k in 1:nz)\n"
         "{ r[i,j,k] = i * 10000 + j * 100 + k; }\n"
         "kernel other_axes(inout real r[nx,ny]) over (j in 0:ny)\n"
         "{ for (int i = 0; i < nx; i++) { r[i,j] += (i > 0 ? r[i-1,j] : 0); } }\n");
}

static void sparse_product(void)
{
    // rowptr is made of what is given: ascending and inside
    both(
        "kernel product(inout real y[n], in real v[5*n], in index p[5*n], in real x[n],\n"
        "    in int k[n], real alpha, real beta) over (row in 0:n)\n"
        "{\n"
        "    real acc = 0;\n"
        "    int first = 5 * row;\n"
        "    int end = first + mod(k[row], 6);\n"
        "    if (alpha != 0)\n"
        "        for (int at = first; at < end; at++)\n"
        "            acc += v[at] * x[p[at]];\n"
        "    y[row] = beta == 0 ? alpha * acc : alpha * acc + beta * y[row];\n"
        "}\n");
}

static void names_of_the_world(void)
{
    both("kernel λ(out real double_[n], in real int32_t[n], in real ∂t[n], real asm,\n"
         "    int static) over (main in 0:n)\n"
         "{\n"
         "    real u₀ = int32_t[main] + asm;\n"
         "    real η̇ = ∂t[main] * 2;\n"
         "    real char = u₀ - η̇;\n"
         "    int uint = static;\n"
         "    real vec4 = char + uint;\n"
         "    double_[main] = vec4 + u₀;\n"
         "}\n"
         "kernel switch(out real out_[nx,ny], in real layout[nx,ny], in real "
         "buffer[nx,ny])\n"
         "{ let void = layout - buffer; out_ = void * layout; }\n"
         "func real union(real restrict) { real goto = restrict + 1; return goto * goto; "
         "}\n"
         "kernel template(out real gl_Position[n], in real __kernel[n]) over (volatile)\n"
         "{ gl_Position[volatile] = union(__kernel[volatile]); }\n");
}

static void wide_ints(void)
{
    static const char text[] =
        "kernel sums(out int r[n,5], in int a[n], in int b[n]) over (i in 0:n)\n"
        "{\n"
        "    r[i,0] = a[i] * b[i] * 1000003;\n"
        "    r[i,1] = div(a[i] * 4294967296, b[i]);\n"
        "    r[i,2] = mod(a[i] * 12345678901, b[i]) - fld(b[i], 7);\n"
        "    r[i,3] = int(real(a[i]) * 1e6);\n"
        "    r[i,4] = a[i]^5 - rem(a[i], b[i]);\n"
        "}\n"
        "kernel gather(out real r[n], in real a[n], in index p[n]) over (i in 0:n)\n"
        "{ real s = 0; for (int t = 0; t <= p[i]; t++) { s += a[t] * t; } r[i] = s; }\n"
        "kernel fields(out int r[nx,ny], in int a[nx,ny])\n"
        "{ r = a * 3000000000 + ix(a) - nx * iy(a); }\n";
    conform_compare(text, RUBUS_I64, 0);
}

/* Guarded accesses that leave their arrays: reported, not made, and no harm done. */
static void checked_builds(void)
{
    conform_compare("kernel in_bounds(out real r[n], in real a[n], in index p[n])\n"
                    "    over (i in 0:n)\n"
                    "{ real s = 0; if (a[i] > 0) { s = a[p[i]]; } r[i] = s; }\n"
                    "kernel whole(out real r[nx,ny], in real a[nx,ny])\n"
                    "{ r = a; inn(r) = inn(a) * 2; }\n",
                    RUBUS_I32, CONFORM_CHECKED);
    static const char text[] =
        "kernel past(inout int r[n], in int k[n]) over (i in 0:n)\n"
        "{ if (k[i] != 0) { r[i + k[i]] = 7; } }\n";
    enum { N = 500 };
    rubus_context *context = conform_open();
    const rubus_module_options options = {
        .struct_size = sizeof options, .real = RUBUS_F32, .check = 1};
    rubus_module *module = NULL;
    conform_ok(rubus_module_create(context, "past.rk", text, &options, &module));
    static const int32_t by[] = {N, -N, 1000000, INT32_MAX - N, INT32_MIN + N};
    for (size_t turn = 0; turn < sizeof by / sizeof by[0]; turn++) {
        conform_window r = conform_window_make(context, RUBUS_I32, RUBUS_SHAPE(N), 1);
        conform_window k = conform_window_make(context, RUBUS_I32, RUBUS_SHAPE(N), 2);
        conform_ok(rubus_array_fill(r.array, 0));
        conform_ok(rubus_array_fill(k.array, 0));
        conform_ok(rubus_array_write_range(k.array, 123, 1, &by[turn]));
        conform_say("index 123 + %d of %d: ", by[turn], N);
        rubus_status st = rubus_launch(conform_kernel(module, "past"), r.array, k.array);
        st = st == RUBUS_OK ? rubus_context_synchronize(context) : st;
        conform_true(st == RUBUS_EBOUNDS, "%s, not RUBUS_EBOUNDS", rubus_status_name(st));
        conform_true(strstr(rubus_error_text(), "past.rk:2:") != NULL,
                     "the text does not name the line: %s", rubus_error_text());
        conform_ok(rubus_context_synchronize(context)); // reported once
        int32_t *got = conform_contents(r.array);
        int32_t *zero = conform_memory(N * sizeof *zero);
        conform_same(got, zero, N, RUBUS_I32, "the array, after an access outside it");
        free(got);
        free(zero);
        conform_window_check(&r, "an access outside the array");
        conform_window_check(&k, "an access outside another array");
        conform_window_destroy(&r);
        conform_window_destroy(&k);
    }
    rubus_module_destroy(module);
    rubus_context_destroy(context);
}

const conform_check conform_language_point_checks[] = {
    {"G08_assignments", CONFORM_BASIC, 120, 0,
     "assignments with every operator, to elements and locals", assignments},
    {"G09_control_flow", CONFORM_BASIC, 120, 0,
     "if, for, while, break, continue, return, and blocks that hide names", control_flow},
    {"G10_local_arrays", CONFORM_BASIC, 120, 0, "small arrays of a point", local_arrays},
    {"G11_functions", CONFORM_BASIC, 120, 0, "funcs of reals, ints and bools", functions},
    {"G12_gather_scatter", CONFORM_BASIC, 120, 0,
     "positions in arrays, atomic adds of ints, stencils, transposition", gather_scatter},
    {"G13_ranges", CONFORM_BASIC, 120, 0, "over, in all its forms", ranges},
    {"G14_sparse_product", CONFORM_BASIC, 120, 0,
     "rows of a sparse matrix times a vector, as a kernel", sparse_product},
    {"G15_names_of_the_world", CONFORM_BASIC, 120, 0,
     "words of C and GLSL, and other letters, as names", names_of_the_world},
    {"G16_wide_ints", CONFORM_FULL, 120, CONFORM_NEEDS_INT64,
     "modules whose ints have 64 bits", wide_ints},
    {"G17_checked_builds", CONFORM_BASIC, 120, 0,
     "with checks, an access outside its array is reported, and not made",
     checked_builds},
    {.name = NULL},
};
