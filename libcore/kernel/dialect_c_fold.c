/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialect c: results. A segment is folded in lanes that lie side by side in memory, so
 * the loop over them vectorises without any reassociation; lanes and partials are
 * joined as the aligned trees that emit.h describes.
 */
#include "config.h"

#include "libcore/kernel/clike.h"

static const char *neutral(const rk_c *c, rk_fold_op op)
{
    static const char *const name[2][3] = {
        {"0", "(-__builtin_inff())", "__builtin_inff()"},
        {"0", "(-__builtin_inf())", "__builtin_inf()"}};
    return name[c->unit->numbers.f64 ? 1 : 0][op];
}

void rk_c_fold_begin(rk_c *c)
{
    rk_c_fold_ends(c);
    for (int32_t i = 0; i < c->pass->naction; i++) {
        const rk_action *a = &c->pass->action[i];
        if (a->kind != RK_ACTION_FOLD) {
            continue;
        }
        rk_c_line(c, "rk_real l%d[%d];", (int)a->number, RK_LANES);
        rk_c_line(c, "rk_lanes(l%d, %s);", (int)a->number, neutral(c, a->fold));
        if (rk_c_is_pair(c, a->fold)) {
            rk_c_line(c, "rk_real e%d[%d];", (int)a->number, RK_LANES);
            rk_c_line(c, "rk_lanes(e%d, 0);", (int)a->number);
        }
    }
}

void rk_c_fold_take(rk_c *c, const rk_action *fold, const char *lane)
{
    const int n = fold->number;
    rk_c_begin(c);
    if (rk_c_is_pair(c, fold->fold)) {
        rk_c_add(c, "rk_two_sum(&l%d[%s], &e%d[%s], ", n, lane, n, lane);
    } else {
        rk_c_add(c, "l%d[%s] = %s(l%d[%s], ", n, lane, rk_c_join_name(fold->fold), n,
                 lane);
    }
    rk_c_node(c, fold->value);
    rk_c_add(c, ");\n");
}

void rk_c_fold_end(rk_c *c)
{
    const int box = c->region->fold_box;
    rk_c_open(c, "if (b%d & (b%d_0 < b%d_1))", box, box, box);
    rk_c_fold_line(c);
    for (int32_t i = 0; i < c->pass->naction; i++) {
        const rk_action *a = &c->pass->action[i];
        if (a->kind != RK_ACTION_FOLD) {
            continue;
        }
        const int n = a->number;
        if (rk_c_is_pair(c, a->fold)) {
            rk_c_line(c, "rk_tree_pair(l%d, e%d, %d);", n, n, RK_LANES);
            rk_c_line(c, "q%d[2 * (line * nsegment + s)] = l%d[0];", n, n);
            rk_c_line(c, "q%d[2 * (line * nsegment + s) + 1] = e%d[0];", n, n);
        } else {
            rk_c_line(c, "%s_tree(l%d, %d);", rk_c_join_name(a->fold), n, RK_LANES);
            rk_c_line(c, "q%d[line * nsegment + s] = l%d[0];", n, n);
        }
    }
    rk_c_close(c);
}

void rk_c_tree(rk_c *c)
{
    const bool pair = rk_c_is_pair(c, c->entry->fold);
    rk_c_open(c, "for (rk_i64 p = range[0]; p < range[3]; p++)");
    rk_c_line(c, "const rk_i64 m = rk_least(%d, count - p * %d);", RK_TREE, RK_TREE);
    rk_c_line(c, "rk_real l[%d];", RK_TREE);
    if (pair) {
        rk_c_line(c, "rk_real e[%d];", RK_TREE);
        rk_c_open(c, "for (rk_i64 k = 0; k < m; k++)");
        rk_c_line(c, "l[k] = src[2 * (p * %d + k)];", RK_TREE);
        rk_c_line(c, "e[k] = src[2 * (p * %d + k) + 1];", RK_TREE);
        rk_c_close(c);
        rk_c_line(c, "rk_tree_pair(l, e, m);");
        rk_c_open(c, "if (last)");
        rk_c_line(c, "dst[p] = rk_isfinite(e[0]) ? l[0] + e[0] : l[0];");
        c->indent--;
        rk_c_line(c, "} else {");
        c->indent++;
        rk_c_line(c, "dst[2 * p] = l[0];");
        rk_c_line(c, "dst[2 * p + 1] = e[0];");
        rk_c_close(c);
    } else {
        rk_c_open(c, "for (rk_i64 k = 0; k < m; k++)");
        rk_c_line(c, "l[k] = src[p * %d + k];", RK_TREE);
        rk_c_close(c);
        rk_c_line(c, "%s_tree(l, m);", rk_c_join_name(c->entry->fold));
        rk_c_line(c, "dst[p] = l[0];");
    }
    rk_c_close(c);
}
