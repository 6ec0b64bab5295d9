/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialects glsl and opencl: sweeps. Any number of workgroups covers the range: of a row,
 * each invocation takes points at the distance of the whole grid of invocations (RK_SPAN
 * says which), and along the other dimensions as many neighbouring rows as it must,
 * mostly one. The points of the interior go through a text without tests, the others
 * through the general one.
 * A grid is seen through macros of the prelude: RK_LO(d), RK_HI(d) are the range;
 * RK_ID(d) of RK_IDS(d) tells which invocation this is, RK_GROUP(d) of RK_GROUPS(d)
 * which workgroup, RK_LANE which invocation of it.
 */
#include "config.h"

#include "libcore/kernel/clike.h"
#include "libcore/kernel/lower.h"

void rk_grid_rows_open(rk_c *c, int32_t rank, const char *id)
{
    static const char axis[3] = {'x', 'y', 'z'};
    for (int d = (int)rank - 1; d > 0; d--) {
        const char a = axis[d];
        rk_c_line(c, "const rk_i64 %cn = (RK_HI(%d) - RK_LO(%d) - 1) / %sS(%d) + 1;", a,
                  d, d, id, d);
        rk_c_line(c, "const rk_i64 %c0 = RK_LO(%d) + %s(%d) * %cn;", a, d, id, d, a);
        rk_c_line(c, "const rk_i64 %c1 = rk_least(%c0 + %cn, RK_HI(%d));", a, a, a, d);
        if (d == 1) {
            rk_c_line(c, "rk_i64 done = y0;");
        }
        rk_c_open(c, "for (rk_i64 %c = %c0; %c < %c1; %c++)", a, a, a, a, a);
    }
    rk_c_line(c, "const rk_i64 lo = RK_LO(0), hi = RK_HI(0);");
}

void rk_grid_rows_close(rk_c *c, int32_t rank)
{
    for (int32_t d = 1; d < rank; d++) {
        rk_c_close(c);
    }
}

/* Points of the interior up to xi, from x on. */
static void write_interior(rk_c *c, bool choice)
{
    rk_c_version version;
    rk_c_version_build(c, &version, true, choice);
    rk_c_open(c, "for (; x < xi; x += stride)");
    if (c->region->plain) {
        rk_c_open(c, "if (x >= xa)");
    }
    rk_c_write_values(c, RK_C_ROW);
    rk_c_write_interior_point(c, "0");
    if (c->region->plain) {
        rk_c_close(c);
    }
    rk_c_close(c);
}

static void write_rest(rk_c *c)
{
    rk_c_version *outer = c->version;
    rk_c_version version;
    rk_c_version_build(c, &version, false, false);
    rk_c_open(c, "for (; x < xe; x += stride)");
    rk_c_write_general_point(c, "0");
    rk_c_close(c);
    c->version = outer;
}

/* A loop of its own for the interior: software devices run both sides of an `if` in
 * every round, and only loops end early. The points before it and behind it share one
 * text, and folds see all points in order. */
void rk_grid_row(rk_c *c, bool rows)
{
    if (c->region->plain) {
        rk_c_line(c, rows ? "const rk_i64 xi = y < done ? xa : xb;"
                          : "const rk_i64 xi = xb;");
        rk_c_write_interiors(c, write_interior);
        return;
    }
    rk_c_line(c, "xa = rk_least(xa, xhi), xb = rk_least(rk_most(xa, xb), xhi);");
    rk_c_open(c, "for (int part = 0; part < 2; part++)");
    rk_c_line(c, "const rk_i64 xe = part == 0 ? xa : xhi, xi = part == 0 ? xb : xa;");
    write_rest(c);
    if (rows) {
        rk_c_line(c,
                  "x = y < done && x < xi ? x + (xi - x + stride - 1) / stride * stride "
                  ": x;");
    }
    rk_c_write_interiors(c, write_interior);
    rk_c_close(c);
}

/* --- several rows at once ---------------------------------------------------------- */

#define ROWS 4         /* at once */
#define NODES_MOST 400 /* of a pass whose text is repeated for each of them */
#define ROWS_MOST 64   /* of arrays, in such a pass */

/* Do two rows differ in y alone, so that one point loads what another has? */
static bool meets(const rk_c_row *a, const rk_c_row *b)
{
    bool other = false;
    for (int d = 0; d < 3; d++) {
        const bool same = rk_at_equal(&a->at[d], &b->at[d], 1);
        if (!same && (a->at[d].axis != 1 || b->at[d].axis != 1)) {
            return false;
        }
        other = other || !same;
    }
    return other && a->param == b->param && a->xdim >= 0;
}

static bool has_rows(rk_c *c)
{
    if (c->pass->rank < 2 || c->pass->nnode > NODES_MOST || c->nrow > ROWS_MOST) {
        return false;
    }
    for (int32_t i = 0; i < c->nrow; i++) {
        for (int32_t k = i + 1; k < c->nrow; k++) {
            if (meets(&c->row[i], &c->row[k])) {
                return true;
            }
        }
    }
    return false;
}

/* "&& ...": is each box met by all of the rows, or by none? */
static void write_rows_equal(rk_c *c)
{
    for (int32_t i = 0; i < c->region->nbox; i++) {
        const rk_box *box = &c->region->box[i];
        if (box->bounded[1]) {
            rk_c_add(c, " && ((y >= ");
            rk_c_affine(c, box->lo[1]);
            rk_c_add(c, " && y + %d < ", ROWS - 1);
            rk_c_affine(c, box->hi[1]);
            rk_c_add(c, ") || y + %d < ", ROWS - 1);
            rk_c_affine(c, box->lo[1]);
            rk_c_add(c, " || y >= ");
            rk_c_affine(c, box->hi[1]);
            rk_c_add(c, ")");
        }
    }
}

static void open_one_row(rk_c *c, int row)
{
    rk_c_line(c, "{");
    c->indent++;
    rk_c_line(c, "const rk_i64 y = base + %d;", row);
    rk_c_write_rows(c);
}

/* All rows load before the first one stores: then a compiler loads once what several of
 * them need. */
static void write_rows(rk_c *c, bool choice)
{
    rk_c_version version;
    rk_c_version_build(c, &version, true, choice);
    const rk_pass *pass = c->pass;
    bool test = false;
    rk_c_open(c, "for (; x < xb; x += stride)");
    for (int row = 0; row < ROWS; row++) {
        for (int32_t i = 0; i < pass->naction; i++) {
            if (rk_region_active(c->region, i, choice, &test)) {
                rk_c_line(c, "%s w%d_%d;", rk_c_type(c, pass->action[i].value->type),
                          (int)i, row);
            }
        }
        open_one_row(c, row);
        rk_c_write_values(c, RK_C_ROW);
        rk_c_write_values(c, RK_C_POINT);
        for (int32_t i = 0; i < pass->naction; i++) {
            if (rk_region_active(c->region, i, choice, &test)) {
                rk_c_begin(c);
                rk_c_add(c, "w%d_%d = ", (int)i, row);
                rk_c_node(c, pass->action[i].value);
                rk_c_add(c, ";\n");
            }
        }
        rk_c_close(c);
    }
    for (int row = 0; row < ROWS; row++) {
        open_one_row(c, row);
        for (int32_t i = 0; i < pass->naction; i++) {
            if (!rk_region_active(c->region, i, choice, &test)) {
                continue;
            }
            const rk_action *a = &pass->action[i];
            rk_c_begin(c);
            if (test) {
                rk_c_add(c, "if (");
                rk_c_node(c, a->cond);
                rk_c_add(c, ") ");
            }
            rk_c_write_element(c, a->param, a->at, c->action_row[i]);
            rk_c_add(c,
                     a->value->type == RK_BOOL ? " = RK_BYTE(w%d_%d);\n" : " = w%d_%d;\n",
                     (int)i, row);
        }
        rk_c_close(c);
    }
    rk_c_close(c);
}

/* The interior of the next rows, where they are alike. Devices with little use for many
 * invocations ask for it (rk_rows): there, neighbouring rows belong to one of them. */
static void write_interior_rows(rk_c *c)
{
    rk_c_begin(c);
    rk_c_add(c, "if (rk_rows && y >= done && y + %d < y1", ROWS - 1);
    write_rows_equal(c);
    rk_c_add(c, ") {\n");
    c->indent++;
    rk_c_line(c, "const rk_i64 base = y;");
    rk_c_line(c, "rk_i64 x = begin;");
    rk_c_line(c, "x = x < xa ? x + (xa - x + stride - 1) / stride * stride : x;");
    rk_c_version *outer = c->version;
    rk_c_write_interiors(c, write_rows);
    c->version = outer;
    rk_c_line(c, "done = y + %d;", ROWS);
    rk_c_close(c);
}

void rk_grid_pass(rk_c *c)
{
    const bool rows = has_rows(c);
    rk_grid_rows_open(c, c->pass->rank, "RK_ID");
    rk_c_line(c, "RK_SPAN");
    rk_c_write_row_head(c);
    rk_c_write_interior_ends(c);
    if (rows) {
        write_interior_rows(c);
    }
    rk_c_line(c, c->region->plain ? "rk_i64 x = RK_FROM(xa);" : "rk_i64 x = begin;");
    rk_grid_row(c, rows);
    rk_grid_rows_close(c, c->pass->rank);
}

void rk_grid_points(rk_c *c)
{
    const rk_decl *decl = c->kernel->decl;
    rk_grid_rows_open(c, decl->nindex, "RK_ID");
    rk_c_line(c, "RK_SPAN");
    rk_c_open(c, "for (rk_i64 x = begin; x < xhi; x += stride)");
    if (c->target->pointers) {
        rk_c_point_body(c);
    } else {
        rk_c_line(c, decl->nindex == 1   ? "rk_point(x, RK_I64(0), RK_I64(0));"
                     : decl->nindex == 2 ? "rk_point(x, y, RK_I64(0));"
                                         : "rk_point(x, y, z);");
    }
    if (c->target->pointers && rk_stmt_has(decl->body, RK_STMT_RETURN)) {
        rk_c_line(c, "done:;");
    }
    rk_c_close(c);
    rk_grid_rows_close(c, decl->nindex);
}
