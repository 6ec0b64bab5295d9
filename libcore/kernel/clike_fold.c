/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialects like C: what all of them write of folds: the segments of a row and their
 * numbers.
 */
#include "config.h"

#include "libcore/kernel/clike.h"

/* Sums of floats carry what rounding took in a second float. */
bool rk_c_is_pair(const rk_c *c, rk_fold_op op)
{
    return op == RK_FOLD_SUM && !c->unit->numbers.f64;
}

const char *rk_c_join_name(rk_fold_op op)
{
    return op == RK_FOLD_SUM ? "rk_sum" : op == RK_FOLD_MAX ? "rk_high" : "rk_low";
}

void rk_c_fold_setup(rk_c *c)
{
    const rk_region *r = c->region;
    const int box = r->fold_box;
    rk_c_line(c, "const rk_i64 nsegment = rk_most(1, (b%d_1 - b%d_0 + %d) / %d);", box,
              box, RK_SEGMENT - 1, RK_SEGMENT);
    rk_c_line(c, "rk_i64 first = b%d_0, last = b%d_1;", box, box);
    for (int32_t i = 0; i < r->pass->naction; i++) {
        const int other = r->action_box[i];
        if (other != box && r->box[other].bounded[0]) {
            rk_c_line(c, "first = rk_least(first, b%d_0), last = rk_most(last, b%d_1);",
                      other, other);
        }
    }
}

void rk_c_fold_ends(rk_c *c)
{
    rk_c_line(c, "const rk_i64 xs = b%d_0 + s * %d;", (int)c->region->fold_box,
              RK_SEGMENT);
    rk_c_line(c, "const rk_i64 xlo = s == 0 ? first : xs;");
    rk_c_line(c, "const rk_i64 xhi = s == nsegment - 1 ? last : xs + %d;", RK_SEGMENT);
}

/* Number of the row's line in the box of the folds. */
void rk_c_fold_line(rk_c *c)
{
    const rk_box *box = &c->region->box[c->region->fold_box];
    rk_c_begin(c);
    rk_c_add(c, "const rk_i64 line = ");
    if (box->bounded[1]) {
        rk_c_add(c, "y - ");
        rk_c_affine(c, box->lo[1]);
    } else {
        rk_c_add(c, "0");
    }
    if (box->bounded[2]) {
        rk_c_add(c, " + (z - ");
        rk_c_affine(c, box->lo[2]);
        rk_c_add(c, ") * (");
        rk_c_affine(c, box->hi[1]);
        rk_c_add(c, " - ");
        rk_c_affine(c, box->lo[1]);
        rk_c_add(c, ")");
    }
    rk_c_add(c, ";\n");
}
