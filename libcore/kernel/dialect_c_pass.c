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

#include "libcore/kernel/dialect_c.h"

static const char *const axis_name[3] = {"x", "y", "z"};

/* --- the interior ------------------------------------------------------------------ */

static void write_action(rk_c *c, int32_t number, const char *lane)
{
    const rk_action *action = &c->pass->action[number];
    if (action->kind == RK_ACTION_FOLD) {
        rk_c_fold_take(c, action, lane);
        return;
    }
    rk_c_begin(c);
    rk_c_write_element(c, action->param, action->at, c->action_row[number]);
    rk_c_add(c, " = ");
    rk_c_node(c, action->value);
    rk_c_add(c, ";\n");
}

static void write_interior_point(rk_c *c)
{
    rk_c_write_values(c, RK_C_POINT);
    for (int32_t i = 0; i < c->pass->naction; i++) {
        bool test = false;
        if (!rk_region_active(c->region, i, c->version->choice, &test)) {
            continue;
        }
        if (test) {
            rk_c_begin(c);
            rk_c_add(c, "if (");
            rk_c_node(c, c->pass->action[i].cond);
            rk_c_add(c, ") {\n");
            c->indent++;
        }
        write_action(c, i, "k");
        if (test) {
            rk_c_close(c);
        }
    }
}

/* x from xa to xb; with folds in blocks of a lane's distance. */
static void write_interior(rk_c *c, bool choice)
{
    rk_c_version version;
    rk_c_version_build(c, &version, true, choice);
    rk_c_write_values(c, RK_C_ROW);
    if (c->region->fold_box < 0) {
        rk_c_line(c, "RK_LOOP");
        rk_c_open(c, "for (rk_i64 x = xa; x < xb; x++)");
        write_interior_point(c);
        rk_c_close(c);
        return;
    }
    rk_c_open(c, "for (rk_i64 xk = xa; xk < xb; xk += %d)", RK_LANES);
    rk_c_line(c, "const rk_i64 m = rk_least(%d, xb - xk);", RK_LANES);
    rk_c_line(c, "RK_LOOP");
    rk_c_open(c, "for (rk_i64 k = 0; k < m; k++)");
    rk_c_line(c, "const rk_i64 x = xk + k;");
    write_interior_point(c);
    rk_c_close(c);
    rk_c_close(c);
}

static void write_interiors(rk_c *c)
{
    if (c->region->choice == NULL) {
        write_interior(c, false);
        return;
    }
    rk_c_begin(c);
    rk_c_add(c, "if (");
    rk_c_node(c, c->region->choice);
    rk_c_add(c, ") {\n");
    c->indent++;
    rk_c_version *outer = c->version;
    write_interior(c, true);
    c->version = outer;
    c->indent--;
    rk_c_line(c, "} else {");
    c->indent++;
    write_interior(c, false);
    c->version = outer;
    rk_c_close(c);
}

/* --- any point --------------------------------------------------------------------- */

static void write_general_point(rk_c *c)
{
    const rk_region *r = c->region;
    for (int32_t i = 0; i < r->nbox; i++) {
        rk_c_line(c, "const _Bool i%d = b%d & (x >= b%d_0) & (x < b%d_1);", (int)i,
                  (int)i, (int)i, (int)i);
    }
    for (int32_t i = 0; i < r->nwhen; i++) {
        const rk_when *w = &r->when[i];
        if (w->used && (w->kind == RK_WHEN_AND || w->kind == RK_WHEN_OR)) {
            rk_c_begin(c);
            rk_c_add(c, "const _Bool c%d = ", (int)i);
            rk_c_write_when(c, w->a);
            rk_c_add(c, w->kind == RK_WHEN_AND ? " & " : " | ");
            rk_c_write_when(c, w->b);
            rk_c_add(c, ";\n");
        }
    }
    rk_c_write_values(c, RK_C_POINT);
    for (int32_t i = 0; i < c->pass->naction; i++) {
        rk_c_begin(c);
        rk_c_add(c, "if (");
        rk_c_write_when(c, r->action_when[i]);
        rk_c_add(c, ") {\n");
        c->indent++;
        write_action(c, i, "k");
        rk_c_close(c);
    }
}

/* --- boxes and rows ---------------------------------------------------------------- */

/* Bounds of all boxes along x: the same for all rows. */
static void write_box_ends(rk_c *c)
{
    const rk_region *r = c->region;
    for (int32_t i = 0; i < r->nbox; i++) {
        rk_c_begin(c);
        rk_c_add(c, "const rk_i64 b%d_0 = ", (int)i);
        if (r->box[i].bounded[0]) {
            rk_c_affine(c, r->box[i].lo[0]);
            rk_c_add(c, ", b%d_1 = ", (int)i);
            rk_c_affine(c, r->box[i].hi[0]);
            rk_c_add(c, ";\n");
        } else {
            rk_c_add(c, "-RK_FAR, b%d_1 = RK_FAR;\n", (int)i);
        }
    }
}

/* "(y >= lo) & (y < hi) & ...": does the row meet the box? */
static void write_box_row(rk_c *c, int32_t number)
{
    const rk_box *box = &c->region->box[number];
    bool first = true;
    rk_c_begin(c);
    rk_c_add(c, "const _Bool b%d = ", (int)number);
    for (int axis = 1; axis < 3; axis++) {
        if (box->bounded[axis]) {
            rk_c_add(c, "%s(%s >= ", first ? "" : " & ", axis_name[axis]);
            rk_c_affine(c, box->lo[axis]);
            rk_c_add(c, ") & (%s < ", axis_name[axis]);
            rk_c_affine(c, box->hi[axis]);
            rk_c_add(c, ")");
            first = false;
        }
    }
    rk_c_add(c, first ? "1;\n" : ";\n");
}

/* xa and xb: the interior of the row; empty where it has none. */
static void write_interior_ends(rk_c *c)
{
    const rk_region *r = c->region;
    rk_c_line(c, "rk_i64 xa = xlo, xb = xhi;");
    for (int32_t i = 0; i < r->nbox; i++) {
        if (!r->thin[i]) {
            if (r->box[i].bounded[0]) {
                rk_c_line(c, "xa = rk_most(xa, b%d_0), xb = rk_least(xb, b%d_1);", (int)i,
                          (int)i);
            }
            rk_c_line(c, "xb = b%d ? xb : xa;", (int)i);
        } else if (!r->thin_x[i]) {
            rk_c_line(c, "xb = b%d ? xa : xb;", (int)i);
        }
    }
    for (int32_t i = 0; i < r->nbox; i++) {
        if (r->thin[i] && r->thin_x[i]) { /* the longer piece beside it */
            rk_c_open(c, "if (b%d & (b%d_0 < xb) & (b%d_1 > xa))", (int)i, (int)i,
                      (int)i);
            rk_c_line(c, "const _Bool left = b%d_0 - xa > xb - b%d_1;", (int)i, (int)i);
            rk_c_line(c, "xa = left ? xa : b%d_1, xb = left ? b%d_0 : xb;", (int)i,
                      (int)i);
            rk_c_close(c);
        }
    }
    if (r->fold_box >= 0) {
        rk_c_line(c, "xa = xs + ((xa - xs + %d) & -%d);", RK_LANES - 1, RK_LANES);
    }
}

static void write_row_points(rk_c *c)
{
    const rk_c_version *outer = c->version;
    write_interior_ends(c);
    if (c->region->plain) {
        rk_c_open(c, "if (xa < xb)");
        write_interiors(c);
        c->version = (rk_c_version *)outer;
        rk_c_close(c);
        return;
    }
    rk_c_line(c, "xa = xa < xb ? xa : xhi;");
    rk_c_line(c, "rk_i64 next = xlo;");
    rk_c_open(c, "while (next < xhi)");
    rk_c_open(c, "if (next == xa)");
    write_interiors(c);
    rk_c_line(c, "next = xb;");
    rk_c_line(c, "continue;");
    rk_c_close(c);
    rk_c_line(c, "const rk_i64 x = next++;");
    if (c->region->fold_box >= 0) {
        rk_c_line(c, "const rk_i64 k = (x - xs) & %d;", RK_LANES - 1);
    }
    rk_c_version version;
    rk_c_version_build(c, &version, false, false);
    write_general_point(c);
    c->version = (rk_c_version *)outer;
    rk_c_close(c);
}

static void write_rows(rk_c *c)
{
    for (int32_t i = 0; i < c->nrow; i++) {
        rk_c_write_row(c, i);
    }
    for (int32_t i = 0; i < c->region->nbox; i++) {
        write_box_row(c, i);
    }
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
    rk_region_build(c->unit, c->kernel, c->pass, &region);
    c->region = &region;
    rk_c_find_rows(c);
    rk_c_version version;
    rk_c_version_build(c, &version, false, false);
    rk_c_write_values(c, RK_C_UNIFORM);
    write_box_ends(c);
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
    c->region = NULL;
    c->version = NULL;
}
