/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When two accesses of a kernel meet: their ranges of elements, as affine expressions,
 * are compared along each dimension of the array. Ranges that are apart along one
 * dimension for all sizes never meet; some are apart only when the arrays are large
 * enough.
 */
#include "config.h"

#include "libcore/kernel/planner.h"

/* --- when do two accesses meet ---------------------------------------------------- */

/* Ranges of elements along array dimension d, one per link of the chain; a fixed
 * subscript has one. Returns false past the last. */
static bool element_range(rk_unit *unit, const rk_at *at, const rk_chain **link,
                          bool *first, rk_affine *lo, rk_affine *hi)
{
    if (at->axis < 0) {
        if (!*first) {
            return false;
        }
        *first = false;
        *lo = at->off;
        *hi = rk_affine_add(unit, at->off, 1, rk_affine_int(1));
        return true;
    }
    while (*link != NULL && !(*link)->box.bounded[at->axis]) {
        *link = (*link)->outer;
    }
    if (*link == NULL) {
        return false;
    }
    *lo = rk_affine_add(unit, (*link)->box.lo[at->axis], 1, at->off);
    *hi = rk_affine_add(unit, (*link)->box.hi[at->axis], 1, at->off);
    *link = (*link)->outer;
    return true;
}

/* True if `gap` is >= 0 for all sizes that are large enough. */
static bool large_enough(const rk_work *work, rk_affine gap)
{
    for (int32_t i = 0; i < gap.nterm; i++) {
        const rk_symbol_kind kind = work->symbol[gap.term[i].symbol].kind;
        if (gap.term[i].coef < 0 ||
            (kind != RK_SYMBOL_EXTENT && kind != RK_SYMBOL_BLANK)) {
            return false;
        }
    }
    return gap.nterm > 0;
}

/* Do accesses a and b along one dimension touch a common element? *out_gap: what must be
 * >= 0 for RK_APART_IF_LARGE. */
static rk_meeting meet_along(rk_planner *p, const rk_at *a, const rk_chain *ca,
                             const rk_at *b, const rk_chain *cb, rk_affine *out_gap)
{
    rk_meeting result = RK_MEET;
    const rk_chain *la = ca;
    bool fa = true;
    rk_affine alo;
    rk_affine ahi;
    while (element_range(p->unit, a, &la, &fa, &alo, &ahi)) {
        const rk_chain *lb = cb;
        bool fb = true;
        rk_affine blo;
        rk_affine bhi;
        while (element_range(p->unit, b, &lb, &fb, &blo, &bhi)) {
            const rk_affine gap[2] = {rk_affine_add(p->unit, blo, -1, ahi),
                                      rk_affine_add(p->unit, alo, -1, bhi)};
            for (int i = 0; i < 2; i++) {
                if (rk_affine_sign(p->work->symbol, gap[i]) >= 0) {
                    return RK_APART;
                }
                if (result == RK_MEET && large_enough(p->work, gap[i])) {
                    result = RK_APART_IF_LARGE;
                    *out_gap = gap[i];
                }
            }
        }
    }
    return result;
}

rk_meeting rk_meet(rk_planner *p, const rk_at *a, const rk_chain *ca, const rk_at *b,
                   const rk_chain *cb, int32_t rank, rk_affine *out_gap)
{
    rk_meeting result = RK_MEET;
    for (int32_t d = 0; d < rank; d++) {
        rk_affine gap = rk_affine_int(0);
        const rk_meeting along = meet_along(p, &a[d], ca, &b[d], cb, &gap);
        if (along == RK_APART) {
            return RK_APART;
        }
        if (along == RK_APART_IF_LARGE && result == RK_MEET) {
            result = along;
            *out_gap = gap;
        }
    }
    return result;
}
