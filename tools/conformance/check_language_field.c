/* SPDX-License-Identifier: Apache-2.0 */
/* Checks G: fields, slices, operators and the passes of whole-array kernels. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform_compare.h"

static void both(const char *text)
{
    conform_compare(text, RUBUS_I32, 0);
}

static void slices(void)
{
    both(
        "kernel line(inout real r[nx], in real a[nx])\n"
        "{ r[1:] = a[:-1]; r[:-1] += a[1:] * 2; r[1:-1] -= a[2:] + a[:-2]; }\n"
        "kernel ends(inout real r[nx], in real a[nx])\n"
        "{ r[0] = a[-1]; r[-1] = a[0] + 1; r[-2:-0] *= 2; }\n"
        "kernel fixed(inout real r[nx,ny], in real a[nx,ny], in real h[nx], in real "
        "g[ny])\n"
        "{ r[0, :] = g; r[-1, :] = a[0, :] - g; r[:, 0] = h; r[:, -1] += a[:, 0] * h; }\n"
        "kernel plane(inout real r[nx,ny], in real a[nx,ny])\n"
        "{ r[1:-1, 1:-1] = a[2:, 1:-1] + a[:-2, 1:-1] - a[1:-1, 2:] * a[1:-1, :-2]; }\n"
        "kernel layers(inout real r[nx,ny,nz], in real a[nx,ny,nz], in real b[nx,ny],\n"
        "    in real c[ny,nz])\n"
        "{ r[:, :, 0] = b; r[0, :, :] += c; r[:, 0, :] = a[:, -1, :]; }\n"
        "kernel solid(inout real r[nx,ny,nz], in real a[nx,ny,nz])\n"
        "{\n"
        "    r[1:-1, 1:-1, 1:-1] = a[2:, 1:-1, 1:-1] - a[1:-1, :-2, 1:-1]\n"
        "                        + a[1:-1, 1:-1, 2:] * 3;\n"
        "}\n"
        "kernel by_scalar(inout real r[nx,ny], in real a[nx,ny], int k)\n"
        "{ r[k:, :] = a[k:, :] * 2; r[:, k] = a[:, 0]; }\n"
        "kernel by_extent(inout real r[nx,ny], in real a[nx,ny])\n"
        "{ r[nx-1, :] = a[0, :]; r[0:nx-1, :] += a[1:nx, :]; }\n"
        "kernel of_value(out real r[nx,ny], in real a[nx,ny])\n"
        "{ let b = a * 2 + 1; r = b; r[1:, :] += b[:-1, :]; }\n");
}

static void lift_pad_coordinates(void)
{
    both("kernel lifted(out real r[nx,ny], in real h[nx], in real g[ny], in real "
         "a[nx,ny])\n"
         "{ r = h[:, *] * a + g[*, :]; }\n"
         "kernel lifted3(out real r[nx,ny,nz], in real h[nx], in real a[ny,nz])\n"
         "{ r = h[:, *, *] + a[*, :, :]; }\n"
         "kernel padded(out real r[nx,ny], in real d[nx-2,ny-2], in real s[nx-1,ny])\n"
         "{ r = pad(d, 0) + pad(s, 2.5, 1:0, 0:0) - pad(s, -1, 0:1, 0:0); }\n"
         "kernel padded1(out real r[nx+3], in real a[nx], real v)\n"
         "{ r = pad(a, v, 1:2) + pad(a, 1, 3:0); }\n"
         "kernel places(out int r[nx,ny,nz], in real a[nx,ny,nz])\n"
         "{ r = ix(a) + 100 * iy(a) + 10000 * iz(a); }\n"
         "kernel places_of_slices(out int r[nx-2,ny-2], in real a[nx,ny])\n"
         "{ r = ix(a)[1:-1, 1:-1] * 1000 + ix(inn(a)) + iy(a)[1:-1, 2:] - nx * ny; }\n"
         "kernel wave(out real r[nx,ny], real k)\n"
         "{ r = sin(k * ix(r)) * cos(iy(r) / 3) + (ix(r) == 0 || iy(r) == ny - 1 ? 1 : "
         "0); }\n");
}

static void statements(void)
{
    both("kernel ifs(inout real r[nx,ny], in real a[nx,ny], real s, int k, bool m)\n"
         "{\n"
         "    if (s > 0) r = a; else { r += a; r *= 2; }\n"
         "    if (m && k == 1) { inn(r) = 0; } else if (k > 1) { r[0, :] = s; }\n"
         "    if (!m) if (s < 1) r -= 1;\n"
         "}\n"
         "kernel lets(inout real u[nx,ny], out real c[nx,ny], in real f[nx,ny])\n"
         "{\n"
         "    let old = u;\n"
         "    u = u * 0.5 + f;\n"
         "    c = abs(u - old);\n"
         "}\n"
         "kernel chained(inout real a[nx,ny], inout real b[nx,ny], inout real c[nx,ny])\n"
         "{\n"
         "    b = a + 1;\n"
         "    c = b * 2;\n"
         "    a = c - b;\n"
         "    b += a;\n"
         "}\n"
         "kernel passes(inout real a[nx,ny], inout real b[nx,ny], inout real c[nx,ny])\n"
         "{\n"
         "    b[1:-1, :] = a[2:, :] - a[:-2, :];\n"
         "    c[:, 1:-1] = b[:, 2:] + b[:, :-2];\n"
         "    a[1:-1, 1:-1] = c[1:-1, 2:] * b[2:, 1:-1];\n"
         "    b[0, :] = a[-1, :];\n"
         "    c[:, 0] = b[:, -1];\n"
         "}\n"
         "kernel compound(inout real r[nx,ny], inout int k[nx,ny], in real a[nx,ny])\n"
         "{\n"
         "    r += a; r -= a * 2; r *= a; r /= 1 + abs(a);\n"
         "    k += ix(k); k -= 3; k *= 2;\n"
         "    inn(r) += inn(a); r[0, :] /= 2; r[:, -1] -= a[:, 0];\n"
         "}\n"
         "kernel kinds(inout bool m[nx,ny], inout int k[nx,ny], inout real r[nx,ny])\n"
         "{ m = m != (r > 0); k = m ? k : -k; r = m && k > 0 ? r : k; }\n"
         "kernel sizes(inout real a[nx], inout real b[nx,ny], inout real c[nx-2,ny-2])\n"
         "{ a *= 2; b += a[:, *]; c = inn(b); c -= 1; }\n");
}

static void user_operators(void)
{
    both("op jump(A[])    = A[1:] - A[:-1];\n"
         "op jump(A[,])   = A[1:, :] - A[:-1, :];\n"
         "op jump(A[,,])  = A[1:, :, :] - A[:-1, :, :];\n"
         "op west(u[,], h[]) = pad(jump(u) / h[1:, *], 0, 1:0, 0:0);\n"
         "op west(u[,], h)   = pad(jump(u) / h, 0, 1:0, 0:0);\n"
         "op left_edge(A[,]) = A[0, :];\n"
         "op core(A[,])      = A[1:-1, 1:-1];\n"
         "op upwind(u[,], v, h)\n"
         "{\n"
         "    let ahead = pad(jump(u) / h, 0, 0:1, 0:0);\n"
         "    return v > 0 ? v * west(u, h) : v * ahead;\n"
         "}\n"
         "op twice(A[,]) { let g = jump(A); return g[1:, :] - g[:-1, :]; }\n"
         "kernel one(out real r[nx-1], in real a[nx]) { r = jump(a); }\n"
         "kernel two(out real r[nx-1,ny], in real a[nx,ny]) { r = jump(a) * 3; }\n"
         "kernel three(out real r[nx-1,ny,nz], in real a[nx,ny,nz]) { r = jump(a); }\n"
         "kernel by_field(out real r[nx,ny], in real a[nx,ny], in real h[nx])\n"
         "{ r = west(a, h) + west(a, 2); }\n"
         "kernel moved(inout real u[nx,ny], in real a[nx,ny], real v, real h)\n"
         "{ u = a - upwind(a, v, 1 + h^2); left_edge(u) = 0; core(u) += core(a); }\n"
         "kernel nested(out real r[nx-2,ny], in real a[nx,ny])\n"
         "{ r = twice(a) - twice(a * 0.5) + jump(jump(a)); }\n"
         "op d_xa(A[,]) = A[1:, :] + A[:-1, :];\n" // takes the place of the library's
         "kernel hidden(out real r[nx-1,ny], in real a[nx,ny]) { r = d_xa(a); }\n");
}

/* --- operators of the library ----------------------------------------------------- */

static const char *const library_ops[3] = {
    "all inn d d2 av harm maxloc minloc",
    "all inn inn_x inn_y d_xa d_ya d_xi d_yi d2_xa d2_ya d2_xi d2_yi av av_xa av_ya "
    "av_xi "
    "av_yi harm harm_xa harm_ya harm_xi harm_yi maxloc minloc",
    "all inn inn_x inn_y inn_z inn_xy inn_xz inn_yz d_xa d_ya d_za d_xi d_yi d_zi d2_xa "
    "d2_ya d2_za d2_xi d2_yi d2_zi av av_xa av_ya av_za av_xi av_yi av_zi av_xya av_xza "
    "av_yza av_xyi av_xzi av_yzi harm harm_xa harm_ya harm_za harm_xi harm_yi harm_zi "
    "harm_xya harm_xza harm_yza harm_xyi harm_xzi harm_yzi maxloc minloc",
};

static bool starts(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* By how much the operator shortens an axis: docs/kernel-language.md. */
static int shortens(const char *name, int axis)
{
    const char *bar = strchr(name, '_');
    const bool named = bar != NULL && strchr(bar, "xyz"[axis]) != NULL;
    if (starts(name, "all")) {
        return 0;
    }
    if (starts(name, "inn")) {
        return bar == NULL || named ? 2 : 0;
    }
    if (starts(name, "maxloc") || starts(name, "minloc")) {
        return 2;
    }
    const int along = starts(name, "d2") ? 2 : 1;
    if (bar == NULL || named) {
        return along;
    }
    return name[strlen(name) - 1] == 'i' ? 2 : 0;
}

static void add_kernel(char *text, size_t room, const char *name, int rank)
{
    static const char *const axes[3] = {"nx", "ny", "nz"};
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, room - used, "kernel k%d_%s(out real r", rank,
                             name);
    for (int d = 0; d < rank; d++) {
        const int less = shortens(name, d);
        used += (size_t)snprintf(text + used, room - used, "%s%s", d == 0 ? "[" : ",",
                                 axes[d]);
        if (less > 0) {
            used += (size_t)snprintf(text + used, room - used, "-%d", less);
        }
    }
    static const char *const whole[3] = {"nx", "nx,ny", "nx,ny,nz"};
    snprintf(text + used, room - used, "], in real a[%s]) { r = %s(a); }\n",
             whole[rank - 1], name);
}

static void library_operators(void)
{
    enum { ROOM = 60000 };
    char *text = conform_memory(ROOM);
    for (int rank = 1; rank <= 3; rank++) {
        const char *at = library_ops[rank - 1];
        while (*at != '\0') {
            char name[16];
            const size_t size = strcspn(at, " ");
            snprintf(name, sizeof name, "%.*s", (int)size, at);
            add_kernel(text, ROOM, name, rank);
            at += size + strspn(at + size, " ");
        }
    }
    both(text);
    free(text);
}

/* --- sizes of the text ------------------------------------------------------------ */

static void deep_expressions(void)
{
    enum { DEPTH = 120, ROOM = 20000 };
    char *text = conform_memory(ROOM);
    size_t used = (size_t)snprintf(text, ROOM,
                                   "kernel deep(out real r[n], in real a[n]) "
                                   "over (i in 0:n)\n{ r[i] = ");
    for (int k = 0; k < DEPTH; k++) {
        used += (size_t)snprintf(text + used, ROOM - used, "(");
    }
    used += (size_t)snprintf(text + used, ROOM - used, "a[i]");
    for (int k = 0; k < DEPTH; k++) {
        used += (size_t)snprintf(text + used, ROOM - used, " * 0.5 + %d)", k % 10);
    }
    used += (size_t)snprintf(
        text + used, ROOM - used,
        "; }\nkernel wide(out real r[nx,ny], in real a[nx,ny])\n{ r = a");
    for (int k = 0; k < 4 * DEPTH; k++) {
        used += (size_t)snprintf(text + used, ROOM - used, " %c %d.25 * a",
                                 k % 3 == 0 ? '-' : '+', k);
    }
    snprintf(text + used, ROOM - used, "; }\n");
    both(text);
    free(text);
}

static void large_module(void)
{
    enum { KERNELS = 60, ROOM = 40000 };
    char *text = conform_memory(ROOM);
    size_t used = 0;
    for (int k = 0; k < KERNELS; k++) {
        used += (size_t)snprintf(text + used, ROOM - used,
                                 "kernel k%d(inout real r[nx,ny], in real a[nx,ny])\n"
                                 "{ r[1:, :] += a[:-1, :] * %d; r[0, :] = %d; }\n",
                                 k, k, k);
    }
    both(text);
    free(text);
}

/* Built with `fast` only the last bits may differ. */
static void fast_builds(void)
{
    static const char text[] = "kernel fused(out real r[n], in real a[n], in real b[n])\n"
                               "{ r = a * b + a + 1; r = r * a + b; }\n";
    enum { N = 4000 };
    const int32_t real = conform_real();
    const double bound = real == RUBUS_F64 ? 1e-14 : 1e-5;
    rubus_context *context = conform_open();
    rubus_array *array[3];
    void *got[2];
    for (int fast = 0; fast < 2; fast++) {
        const rubus_module_options options = {
            .struct_size = sizeof options, .real = real, .fast = fast};
        rubus_module *module = NULL;
        conform_ok(rubus_module_create(context, "fast.rk", text, &options, &module));
        for (int i = 0; i < 3; i++) {
            conform_ok(rubus_array_create(context, real, RUBUS_SHAPE(N), &array[i]));
            conform_ok(rubus_array_random(array[i], 7 + (uint64_t)i, 0.5, 2));
        }
        conform_ok(
            rubus_launch(conform_kernel(module, "fused"), array[0], array[1], array[2]));
        got[fast] = conform_contents(array[0]);
        for (int i = 0; i < 3; i++) {
            rubus_array_destroy(array[i]);
        }
        rubus_module_destroy(module);
    }
    for (int i = 0; i < N; i++) {
        const double exact = conform_real_at(got[0], real, i);
        const double fast = conform_real_at(got[1], real, i);
        conform_true(fast - exact <= bound * exact && exact - fast <= bound * exact,
                     "element %d is %.17g built with fast, %.17g without", i, fast,
                     exact);
    }
    free(got[0]);
    free(got[1]);
    rubus_context_destroy(context);
}

const conform_check conform_language_field_checks[] = {
    {"G18_slices", CONFORM_BASIC, 120, 0, "slices of every form, on both sides", slices},
    {"G19_lift_pad_coordinates", CONFORM_BASIC, 120, 0,
     "new dimensions, padding, coordinates", lift_pad_coordinates},
    {"G20_statements", CONFORM_BASIC, 120, CONFORM_NEEDS_BOOL,
     "statements, conditions, lets and passes of whole-array kernels", statements},
    {"G21_user_operators", CONFORM_BASIC, 120, 0,
     "ops by ranks, of ops, on the left, in place of the library's", user_operators},
    {"G22_library_operators", CONFORM_FULL, 240, 0,
     "all differences, means and neighbours of fd.rk", library_operators},
    {"G23_deep_expressions", CONFORM_FULL, 120, 0,
     "expressions of hundreds of operations", deep_expressions},
    {"G24_large_module", CONFORM_FULL, 240, 0, "60 kernels in one module", large_module},
    {"G25_fast_builds", CONFORM_FULL, 120, 0,
     "the option fast changes the last bits at most", fast_builds},
    {.name = NULL},
};
