/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialects glsl and opencl: results. A workgroup of RK_LANES invocations takes a
 * segment, each of them one lane, so neighbours read neighbours; lanes are joined in
 * shared memory as the aligned tree that emit.h describes. A workgroup of half of
 * RK_TREE joins partials.
 */
#include "config.h"

#include "libcore/kernel/clike.h"

static const char *neutral(rk_fold_op op)
{
    return op == RK_FOLD_SUM   ? "RK_REAL(0)"
           : op == RK_FOLD_MAX ? "(-RK_INFINITE)"
                               : "RK_INFINITE";
}

void rk_grid_fold_take(rk_c *c, const rk_action *fold, const char *lane)
{
    (void)lane; // each invocation has its own
    const int n = fold->number;
    rk_c_begin(c);
    if (rk_c_is_pair(c, fold->fold)) {
        rk_c_add(c, "rk_two_sum(l%d, e%d, ", n, n);
    } else {
        rk_c_add(c, "l%d = %s(l%d, ", n, rk_c_join_name(fold->fold), n);
    }
    rk_c_node(c, fold->value);
    rk_c_add(c, ");\n");
}

/* Joins rk_l[0..m) (and rk_e) into rk_l[0]; an invocation for each pair. */
static void write_tree(rk_c *c, rk_fold_op op, const char *m)
{
    const bool pair = rk_c_is_pair(c, op);
    rk_c_open(c, "for (int m = %s; m > 1; m = (m + 1) >> 1)", m);
    rk_c_line(c, "const int h = m >> 1;");
    rk_c_line(c, "rk_real l = RK_REAL(0), e = RK_REAL(0);");
    rk_c_open(c, "if (k < h)");
    if (pair) {
        rk_c_line(c, "l = rk_l[2 * k];");
        rk_c_line(c, "e = rk_e[2 * k] + rk_e[2 * k + 1];");
        rk_c_line(c, "rk_real lost = RK_REAL(0);");
        rk_c_line(c, "rk_two_sum(l, lost, rk_l[2 * k + 1]);");
        rk_c_line(c, "e = e + lost;");
    } else {
        rk_c_line(c, "l = %s(rk_l[2 * k], rk_l[2 * k + 1]);", rk_c_join_name(op));
    }
    c->indent--;
    rk_c_line(c, "} else if (k == h && (m & 1) != 0) {");
    c->indent++;
    rk_c_line(c, "l = rk_l[m - 1];");
    if (pair) {
        rk_c_line(c, "e = rk_e[m - 1];");
    }
    rk_c_close(c);
    rk_c_line(c, "RK_BARRIER;");
    rk_c_open(c, "if (k < h + (m & 1))");
    rk_c_line(c, "rk_l[k] = l;");
    if (pair) {
        rk_c_line(c, "rk_e[k] = e;");
    }
    rk_c_close(c);
    rk_c_line(c, "RK_BARRIER;");
    rk_c_close(c);
}

static void write_lanes(rk_c *c)
{
    for (int32_t i = 0; i < c->pass->naction; i++) {
        const rk_action *a = &c->pass->action[i];
        if (a->kind == RK_ACTION_FOLD) {
            rk_c_line(c, "rk_real l%d = %s;", (int)a->number, neutral(a->fold));
            if (rk_c_is_pair(c, a->fold)) {
                rk_c_line(c, "rk_real e%d = RK_REAL(0);", (int)a->number);
            }
        }
    }
}

/* All invocations of the group are here: the row and the segment are the group's. */
static void write_partials(rk_c *c)
{
    const int box = c->region->fold_box;
    rk_c_open(c, "if (b%d && b%d_0 < b%d_1)", box, box, box);
    rk_c_fold_line(c);
    for (int32_t i = 0; i < c->pass->naction; i++) {
        const rk_action *a = &c->pass->action[i];
        if (a->kind != RK_ACTION_FOLD) {
            continue;
        }
        const int n = a->number;
        const bool pair = rk_c_is_pair(c, a->fold);
        rk_c_line(c, "rk_l[k] = l%d;", n);
        if (pair) {
            rk_c_line(c, "rk_e[k] = e%d;", n);
        }
        rk_c_line(c, "RK_BARRIER;");
        char lanes[16];
        rubus__snprintf(lanes, sizeof(lanes), "%d", RK_LANES);
        write_tree(c, a->fold, lanes);
        rk_c_open(c, "if (k == 0)");
        if (pair) {
            rk_c_line(c, "Q%d(2 * (line * nsegment + s)) = rk_l[0];", n);
            rk_c_line(c, "Q%d(2 * (line * nsegment + s) + 1) = rk_e[0];", n);
        } else {
            rk_c_line(c, "Q%d(line * nsegment + s) = rk_l[0];", n);
        }
        rk_c_close(c);
        rk_c_line(c, "RK_BARRIER;");
    }
    rk_c_close(c);
}

static void fold_pass(rk_c *c)
{
    rk_c_fold_setup(c);
    rk_c_line(c, "const int k = RK_LANE;");
    rk_grid_rows_open(c, c->pass->rank, "RK_GROUP");
    rk_c_write_row_head(c);
    rk_c_open(c, "for (rk_i64 s = lo + RK_GROUP(0); s < hi; s += RK_GROUPS(0))");
    rk_c_fold_ends(c);
    write_lanes(c);
    rk_c_write_interior_ends(c);
    rk_c_line(c, "const rk_i64 ahead = (RK_I64(k) - (xlo - xs)) & %d;", RK_LANES - 1);
    rk_c_line(c, "const rk_i64 stride = %d;", RK_LANES);
    rk_c_line(c, "rk_i64 x = xlo + ahead;");
    rk_grid_row(c, false);
    write_partials(c);
    rk_c_close(c);
    rk_grid_rows_close(c, c->pass->rank);
}

void rk_grid_tree(rk_c *c)
{
    const bool pair = rk_c_is_pair(c, c->entry->fold);
    rk_c_line(c, "const int k = RK_LANE;");
    rk_c_line(c, "const rk_i64 lo = RK_LO(0), hi = RK_HI(0);");
    rk_c_open(c, "for (rk_i64 p = lo + RK_GROUP(0); p < hi; p += RK_GROUPS(0))");
    rk_c_line(c, "const int n = RK_SMALL(rk_least(%d, count - p * %d));", RK_TREE,
              RK_TREE);
    rk_c_open(c, "for (int i = k; i < n; i += %d)", RK_TREE / 2);
    if (pair) {
        rk_c_line(c, "rk_l[i] = SRC(2 * (p * %d + RK_I64(i)));", RK_TREE);
        rk_c_line(c, "rk_e[i] = SRC(2 * (p * %d + RK_I64(i)) + 1);", RK_TREE);
    } else {
        rk_c_line(c, "rk_l[i] = SRC(p * %d + RK_I64(i));", RK_TREE);
    }
    rk_c_close(c);
    rk_c_line(c, "RK_BARRIER;");
    write_tree(c, c->entry->fold, "n");
    rk_c_open(c, "if (k == 0)");
    if (pair) {
        rk_c_open(c, "if (last != 0)");
        rk_c_line(c, "DST(p) = rk_isfinite(rk_e[0]) ? rk_l[0] + rk_e[0] : rk_l[0];");
        c->indent--;
        rk_c_line(c, "} else {");
        c->indent++;
        rk_c_line(c, "DST(2 * p) = rk_l[0];");
        rk_c_line(c, "DST(2 * p + 1) = rk_e[0];");
        rk_c_close(c);
    } else {
        rk_c_line(c, "DST(p) = rk_l[0];");
    }
    rk_c_close(c);
    rk_c_line(c, "RK_BARRIER;");
    rk_c_close(c);
}

void rk_grid_sweep(rk_c *c)
{
    rk_region region;
    rk_c_version version;
    rk_c_pass_begin(c, &region, &version);
    if (region.fold_box >= 0) {
        fold_pass(c);
    } else {
        rk_grid_pass(c);
    }
    rk_c_pass_end(c);
}
