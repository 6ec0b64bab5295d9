/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialects like C: the boxes of a pass. Of every row the interior, where each action is
 * made and no guard is needed, is one stretch from xa to xb; the other points ask box by
 * box.
 */
#include "config.h"

#include "libcore/kernel/clike.h"

static const char *const axis_name[3] = {"x", "y", "z"};

/* --- actions ----------------------------------------------------------------------- */

static void write_action(rk_c *c, int32_t number, const char *lane)
{
    const rk_action *action = &c->pass->action[number];
    if (action->kind == RK_ACTION_FOLD) {
        c->target->fold_take(c, action, lane);
        return;
    }
    rk_c_begin(c);
    const bool byte = action->value->type == RK_BOOL;
    rk_c_write_element(c, action->param, action->at, c->action_row[number]);
    rk_c_add(c, byte ? " = RK_BYTE(" : " = ");
    rk_c_node(c, action->value);
    rk_c_add(c, byte ? ");\n" : ";\n");
}

void rk_c_write_interior_point(rk_c *c, const char *lane)
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
        write_action(c, i, lane);
        if (test) {
            rk_c_close(c);
        }
    }
}

/* --- any point --------------------------------------------------------------------- */

void rk_c_write_general_point(rk_c *c, const char *lane)
{
    const rk_region *r = c->region;
    for (int32_t i = 0; i < r->nbox; i++) {
        rk_c_line(c, "const %s i%d = b%d && x >= b%d_0 && x < b%d_1;", c->target->boolean,
                  (int)i, (int)i, (int)i, (int)i);
    }
    for (int32_t i = 0; i < r->nwhen; i++) {
        const rk_when *w = &r->when[i];
        if (w->used && (w->kind == RK_WHEN_AND || w->kind == RK_WHEN_OR)) {
            rk_c_begin(c);
            rk_c_add(c, "const %s c%d = ", c->target->boolean, (int)i);
            rk_c_write_when(c, w->a);
            rk_c_add(c, w->kind == RK_WHEN_AND ? " && " : " || ");
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
        write_action(c, i, lane);
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
    rk_c_add(c, "const %s b%d = ", c->target->boolean, (int)number);
    for (int axis = 1; axis < 3; axis++) {
        if (box->bounded[axis]) {
            rk_c_add(c, "%s(%s >= ", first ? "" : " && ", axis_name[axis]);
            rk_c_affine(c, box->lo[axis]);
            rk_c_add(c, ") && (%s < ", axis_name[axis]);
            rk_c_affine(c, box->hi[axis]);
            rk_c_add(c, ")");
            first = false;
        }
    }
    if (first) {
        rk_c_add(c, "%s", c->target->yes);
    }
    rk_c_add(c, ";\n");
}

/* xa and xb: the interior of the row; empty where it has none. */
void rk_c_write_interior_ends(rk_c *c)
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
            rk_c_open(c, "if (b%d && b%d_0 < xb && b%d_1 > xa)", (int)i, (int)i, (int)i);
            rk_c_line(c, "const %s left = b%d_0 - xa > xb - b%d_1;", c->target->boolean,
                      (int)i, (int)i);
            rk_c_line(c, "xa = left ? xa : b%d_1, xb = left ? b%d_0 : xb;", (int)i,
                      (int)i);
            rk_c_close(c);
        }
    }
}

void rk_c_write_interiors(rk_c *c, void (*write)(rk_c *c, bool choice))
{
    if (c->region->choice == NULL) {
        write(c, false);
        return;
    }
    rk_c_begin(c);
    rk_c_add(c, "if (");
    rk_c_node(c, c->region->choice);
    rk_c_add(c, ") {\n");
    c->indent++;
    rk_c_version *outer = c->version;
    write(c, true);
    c->version = outer;
    c->indent--;
    rk_c_line(c, "} else {");
    c->indent++;
    write(c, false);
    c->version = outer;
    rk_c_close(c);
}

/* --- the frame of a pass ----------------------------------------------------------- */

void rk_c_pass_begin(rk_c *c, rk_region *region, rk_c_version *version)
{
    rk_region_build(c->unit, c->kernel, c->pass, region);
    c->region = region;
    rk_c_find_rows(c);
    rk_c_version_build(c, version, false, false);
    rk_c_write_values(c, RK_C_UNIFORM);
    write_box_ends(c);
}

void rk_c_pass_end(rk_c *c)
{
    c->region = NULL;
    c->version = NULL;
}

void rk_c_write_row_head(rk_c *c)
{
    rk_c_write_rows(c);
    for (int32_t i = 0; i < c->region->nbox; i++) {
        write_box_row(c, i);
    }
}
