/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialect c: the sweep of a pass. For every row: what of it is interior gets one plain
 * loop that vectorises (all loads, all values, then all stores); the other points go
 * one by one through the general text. A pass with one box and no guards has only the
 * first.
 *
 * The general text shares its loop with the interior one, which keeps it scalar: a
 * compiler does not vectorise a loop around a loop, and would take seconds to try.
 */
#include "config.h"

#include "libcore/kernel/clike.h"

/* --- the interior ------------------------------------------------------------------ */

/* x from xa to xb; with folds in blocks of a lane's distance. */
static void write_interior(rk_c *c, bool choice)
{
    rk_c_version version;
    rk_c_version_build(c, &version, true, choice);
    rk_c_write_values(c, RK_C_ROW);
    if (c->region->fold_box < 0) {
        rk_c_line(c, "RK_LOOP");
        rk_c_open(c, "for (rk_i64 x = xa; x < xb; x++)");
        rk_c_write_interior_point(c, "k");
        rk_c_close(c);
        return;
    }
    rk_c_open(c, "for (rk_i64 xk = xa; xk < xb; xk += %d)", RK_LANES);
    rk_c_line(c, "const rk_i64 m = rk_least(%d, xb - xk);", RK_LANES);
    rk_c_line(c, "RK_LOOP");
    rk_c_open(c, "for (rk_i64 k = 0; k < m; k++)");
    rk_c_line(c, "const rk_i64 x = xk + k;");
    rk_c_write_interior_point(c, "k");
    rk_c_close(c);
    rk_c_close(c);
}

/* --- boxes and rows ---------------------------------------------------------------- */

static void write_row_points(rk_c *c)
{
    const rk_c_version *outer = c->version;
    rk_c_write_interior_ends(c);
    if (c->region->fold_box >= 0) {
        rk_c_line(c, "xa = xs + ((xa - xs + %d) & -%d);", RK_LANES - 1, RK_LANES);
    }
    if (c->region->plain) {
        rk_c_open(c, "if (xa < xb)");
        rk_c_write_interiors(c, write_interior);
        c->version = (rk_c_version *)outer;
        rk_c_close(c);
        return;
    }
    rk_c_line(c, "xa = xa < xb ? xa : xhi;");
    rk_c_line(c, "rk_i64 next = xlo;");
    rk_c_open(c, "while (next < xhi)");
    rk_c_open(c, "if (next == xa)");
    rk_c_write_interiors(c, write_interior);
    rk_c_line(c, "next = xb;");
    rk_c_line(c, "continue;");
    rk_c_close(c);
    rk_c_line(c, "const rk_i64 x = next++;");
    if (c->region->fold_box >= 0) {
        rk_c_line(c, "const rk_i64 k = (x - xs) & %d;", RK_LANES - 1);
    }
    rk_c_version version;
    rk_c_version_build(c, &version, false, false);
    rk_c_write_general_point(c, "k");
    c->version = (rk_c_version *)outer;
    rk_c_close(c);
}

static void write_rows(rk_c *c)
{
    rk_c_write_row_head(c);
    if (c->region->fold_box < 0) {
        rk_c_line(c, "const rk_i64 xlo = range[0], xhi = range[3];");
        write_row_points(c);
        return;
    }
    rk_c_open(c, "for (rk_i64 s = range[0]; s < range[3]; s++)");
    rk_c_fold_begin(c);
    write_row_points(c);
    rk_c_fold_end(c);
    rk_c_close(c);
}

void rk_c_pass(rk_c *c)
{
    rk_region region;
    rk_c_version version;
    rk_c_pass_begin(c, &region, &version);
    if (region.fold_box >= 0) {
        rk_c_fold_setup(c);
    }
    const int32_t rank = c->pass->rank;
    if (rank > 2) {
        rk_c_open(c, "for (rk_i64 z = range[2]; z < range[5]; z++)");
    }
    if (rank > 1) {
        rk_c_open(c, "for (rk_i64 y = range[1]; y < range[4]; y++)");
    } else {
        rk_c_line(c, "{");
        c->indent++;
    }
    write_rows(c);
    rk_c_close(c);
    if (rank > 2) {
        rk_c_close(c);
    }
    rk_c_pass_end(c);
}

/* --- per-point kernels ------------------------------------------------------------- */

void rk_c_points(rk_c *c)
{
    const rk_decl *decl = c->kernel->decl;
    if (decl->nindex > 2) {
        rk_c_open(c, "for (rk_i64 z = range[2]; z < range[5]; z++)");
    }
    if (decl->nindex > 1) {
        rk_c_open(c, "for (rk_i64 y = range[1]; y < range[4]; y++)");
    }
    rk_c_line(c, "const rk_i64 xlo = range[0], xhi = range[3];");
    if (!rk_stmt_has(decl->body, RK_STMT_ATOMIC)) {
        rk_c_line(c, "RK_LOOP");
    }
    rk_c_open(c, "for (rk_i64 x = xlo; x < xhi; x++)");
    rk_c_point_body(c);
    if (rk_stmt_has(decl->body, RK_STMT_RETURN)) {
        rk_c_line(c, "done:;");
    }
    for (int32_t i = 0; i < decl->nindex; i++) {
        rk_c_close(c);
    }
}
