/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialect glsl: sweeps. Each invocation takes points at the distance of the whole grid of
 * invocations, along every dimension, so any number of workgroups covers the range. A
 * point of the interior goes through the text without tests, any other through the
 * general one.
 */
#include "config.h"

#include "libcore/kernel/dialect_glsl.h"

void rk_glsl_rows_open(rk_c *c, int32_t rank, const char *id, const char *count)
{
    static const char axis[3] = {'x', 'y', 'z'};
    for (int d = (int)rank - 1; d > 0; d--) {
        rk_c_open(c,
                  "for (rk_i64 %c = RK_I64W(%d) + RK_I64(%s.%c); %c < RK_I64W(%d); %c += "
                  "RK_I64(%s.%c))",
                  axis[d], 2 * d, id, axis[d], axis[d], 6 + 2 * d, axis[d], count,
                  axis[d]);
    }
    rk_c_line(c, "const rk_i64 lo = RK_I64W(0), hi = RK_I64W(6);");
}

void rk_glsl_rows_close(rk_c *c, int32_t rank)
{
    for (int32_t d = 1; d < rank; d++) {
        rk_c_close(c);
    }
}

static void write_interior(rk_c *c, bool choice)
{
    rk_c_version version;
    rk_c_version_build(c, &version, true, choice);
    rk_c_write_values(c, RK_C_ROW);
    rk_c_write_interior_point(c, "0");
}

void rk_glsl_point(rk_c *c)
{
    rk_c_version *outer = c->version;
    rk_c_open(c, "if (x >= xa && x < xb)");
    rk_c_write_interiors(c, write_interior);
    c->version = outer;
    if (!c->region->plain) {
        c->indent--;
        rk_c_line(c, "} else {");
        c->indent++;
        rk_c_version version;
        rk_c_version_build(c, &version, false, false);
        rk_c_write_general_point(c, "0");
        c->version = outer;
    }
    rk_c_close(c);
}

static void open_points(rk_c *c, int32_t rank)
{
    rk_glsl_rows_open(c, rank, "gl_GlobalInvocationID", "RK_STEP");
}

static void open_row(rk_c *c)
{
    rk_c_open(c, "for (rk_i64 x = lo + RK_I64(gl_GlobalInvocationID.x); x < hi; x += "
                 "RK_I64(RK_STEP.x))");
}

void rk_glsl_pass(rk_c *c)
{
    open_points(c, c->pass->rank);
    rk_c_line(c, "const rk_i64 xlo = lo, xhi = hi;");
    for (int32_t i = 0; i < c->nrow; i++) {
        rk_c_write_row(c, i);
    }
    for (int32_t i = 0; i < c->region->nbox; i++) {
        rk_c_write_box_row(c, i);
    }
    rk_c_write_interior_ends(c);
    open_row(c);
    rk_glsl_point(c);
    rk_c_close(c);
    rk_glsl_rows_close(c, c->pass->rank);
}

void rk_glsl_points(rk_c *c)
{
    static const char *const args[3] = {"x, RK_I64(0), RK_I64(0)", "x, y, RK_I64(0)",
                                        "x, y, z"};
    const int32_t rank = c->kernel->decl->nindex;
    open_points(c, rank);
    open_row(c);
    rk_c_line(c, "rk_point(%s);", args[rank - 1]);
    rk_c_close(c);
    rk_glsl_rows_close(c, rank);
}
