/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of a kernel: its symbols, the extents of its arrays, and either the
 * statements of a whole-array kernel as fields, or the default range of a per-point
 * kernel.
 *
 * The builder begins with the work that it hands out, so that bounds can be added to it
 * later (rk_work_affine).
 */
#include "config.h"

#include "libcore/kernel/field_build.h"

#include <string.h>

int32_t rk_work_add_check(rk_work *work, rk_check check)
{
    for (int32_t i = 0; i < work->ncheck; i++) {
        const rk_check *old = &work->check[i];
        const bool same =
            rk_affine_equal(old->a, check.a) && rk_affine_equal(old->b, check.b);
        const bool swapped = check.kind == RK_CHECK_EQUAL &&
                             rk_affine_equal(old->a, check.b) &&
                             rk_affine_equal(old->b, check.a);
        if (old->kind == check.kind && (same || swapped)) {
            return i;
        }
    }
    rk_spend(work->unit, 1 + work->ncheck / 16, check.at);
    work->check = rk_extend(work->unit, work->check, work->ncheck, sizeof(rk_check));
    work->check[work->ncheck] = check;
    return work->ncheck++;
}

rk_affine rk_work_affine(rk_work *work, const rk_expr *expr)
{
    rk_affine affine = rk_affine_int(0);
    return rk_build_affine((rk_builder *)work, expr, &affine) ? affine : rk_affine_int(0);
}

/* --- per-point kernels -------------------------------------------------------------- */

static void build_ranges(rk_builder *b)
{
    rk_work *work = &b->work;
    const rk_decl *kernel = work->decl;
    const rk_decl *first = rk_first_written(kernel->body);
    for (int32_t i = 0; i < kernel->nindex; i++) {
        const rk_decl *index = kernel->index[i];
        if (index->lo != NULL) {
            work->range_lo[i] = rk_work_affine(work, index->lo);
            work->range_hi[i] = rk_work_affine(work, index->hi);
        } else {
            work->range_lo[i] = rk_affine_int(0);
            work->range_hi[i] = work->extent[first->number][i];
        }
    }
}

/* --- whole-array kernels ------------------------------------------------------------ */

static void build_fields(rk_builder *b)
{
    const rk_decl *kernel = b->work.decl;
    const int64_t errors = rk_errors(b->unit);
    rk_build_body(b, kernel->body);
    if (rk_errors(b->unit) != errors) {
        return; // what is missing now would only repeat them
    }
    rk_build_end(b);
    for (int32_t i = 0; i < b->work.nitem && b->reads_out; i++) {
        rk_check_out_reads(b, &b->work.item[i]);
    }
}

/* --- both --------------------------------------------------------------------------- */

rk_builder *rk_builder_new(rk_unit *unit, rk_decl *kernel)
{
    rk_builder *b = RK_NEW(unit, rk_builder);
    b->unit = unit;
    b->first_id = unit->next_id;
    b->work.unit = unit;
    b->work.decl = kernel;
    rk_scope_init(&b->scope, unit);
    if (!rk_symbols_build(unit, kernel, &b->work)) {
        return NULL;
    }
    for (int32_t i = 0; i < kernel->nparam; i++) {
        rk_scope_bind(&b->scope, kernel->param[i], NULL);
    }
    for (int32_t i = 0; i < kernel->nextent; i++) {
        rk_scope_bind(&b->scope, kernel->extent_decl[i], NULL);
    }
    return b;
}

rk_work *rk_work_build(rk_unit *unit, rk_decl *kernel)
{
    if (!kernel->checked) {
        return NULL; // its errors were reported
    }
    const int64_t errors = rk_errors(unit);
    rk_builder *b = rk_builder_new(unit, kernel);
    if (b == NULL) {
        return NULL;
    }
    b->result = rk_new(unit, ((size_t)kernel->nparam + 1) * sizeof(rk_span));
    if (kernel->nindex > 0) {
        build_ranges(b);
    } else {
        build_fields(b);
    }
    return rk_errors(unit) == errors ? &b->work : NULL;
}
