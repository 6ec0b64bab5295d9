/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of kernels: a pass that folds leaves one partial per line and segment; trees of
 * RK_TREE partials a point join them, level by level, in an order that the shape alone
 * fixes. Partials live in scratch memory of the context; the queue is in order, so the
 * next launch may use the same memory.
 */
#include "config.h"

#include "libcore/runtime/runtime.h"

#include <math.h>
#include <string.h>

rubus_status rubus__scratch_get(rubus_context *context, rubus__scratch *scratch,
                                uint64_t nbyte)
{
    if (scratch->buffer != NULL && scratch->nbyte >= nbyte) {
        return RUBUS_OK;
    }
    const uint64_t room = nbyte < 4096 ? 4096 : nbyte + nbyte / 2;
    void *fresh = NULL;
    const rubus_status st = rubus__buffer_create(context->dev, room, &fresh);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__buffer_destroy(context->dev, scratch->buffer);
    scratch->buffer = fresh;
    scratch->nbyte = room;
    return RUBUS_OK;
}

/* Scratch for `n` results and the two levels of a tree. */
static rubus_status scratch_room(rubus_context *context, int32_t n)
{
    if (n + 2 <= context->nscratch) {
        return RUBUS_OK;
    }
    rubus__scratch *more =
        rubus__realloc(context->scratch, ((size_t)n + 2) * sizeof(rubus__scratch));
    if (more == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(more + context->nscratch, 0,
           ((size_t)n + 2 - (size_t)context->nscratch) * sizeof(rubus__scratch));
    context->scratch = more;
    context->nscratch = n + 2;
    return RUBUS_OK;
}

static rubus_status scratch_operand(rubus_context *context, int32_t at, uint64_t nbyte,
                                    rubus__operand *out)
{
    const rubus_status st = rubus__scratch_get(context, &context->scratch[at], nbyte);
    out->buffer = context->scratch[at].buffer;
    out->first_byte = 0;
    out->nbyte = nbyte;
    return st;
}

/* Bytes of one partial: sums of floats carry a second float. */
static uint64_t partial_size(const rubus__bound *bound, rk_fold_op fold)
{
    const bool f64 = bound->kernel->module->program->unit->numbers.f64;
    return f64 || fold == RK_FOLD_SUM ? 8 : 4;
}

/* Nothing to fold: sum 0, max -inf, min inf. */
static rubus_status write_neutral(const rubus__bound *bound, const rk_entry *tree)
{
    const rk_kernel *k = bound->kernel->k;
    const rubus__operand *o = &bound->operand[k->result_param[tree->number]];
    const double wide = tree->fold == RK_FOLD_SUM   ? 0.0
                        : tree->fold == RK_FOLD_MAX ? -(double)INFINITY
                                                    : (double)INFINITY;
    const float narrow = (float)wide;
    const bool f64 = bound->kernel->module->program->unit->numbers.f64;
    return rubus__write_bytes(bound->kernel->module->context, o->buffer, o->first_byte,
                              f64 ? (const void *)&wide : (const void *)&narrow,
                              f64 ? 8 : 4);
}

/* Joins n partials to one, written to the result. */
static rubus_status run_tree(const rubus__bound *bound, int32_t entry,
                             const rubus__operand *partial, int64_t n)
{
    const rubus_module *module = bound->kernel->module;
    const rk_entry *tree = &module->program->entry[entry];
    const uint64_t size = partial_size(bound, tree->fold);
    const int32_t level_at = module->context->nscratch - 2;
    rubus__fold_slots fold;
    memset(&fold, 0, sizeof(fold));
    fold.src = *partial;
    fold.n = n;
    for (int level = 0;; level = 1 - level) {
        const int64_t left = (fold.n + RK_TREE - 1) / RK_TREE;
        rk_range range;
        memset(&range, 0, sizeof(range));
        range.hi[0] = left;
        range.hi[1] = range.hi[2] = 1;
        fold.src.nbyte = (uint64_t)fold.n * size;
        fold.last = left == 1 ? 1 : 0;
        rubus_status st = RUBUS_OK;
        if (left == 1) {
            fold.dst = bound->operand[bound->kernel->k->result_param[tree->number]];
        } else {
            st = scratch_operand(module->context, level_at + level, (uint64_t)left * size,
                                 &fold.dst);
        }
        if (st == RUBUS_OK) {
            st = rubus__launch_entry(bound, entry, &range, &fold);
        }
        if (st != RUBUS_OK || left == 1) {
            return st;
        }
        fold.src = fold.dst;
        fold.n = left;
    }
}

rubus_status rubus__launch_fold_pass(const rubus__bound *bound, int32_t pass,
                                     int32_t first_entry)
{
    const rubus_module *module = bound->kernel->module;
    const rk_kernel *k = bound->kernel->k;
    const rk_range *range = &bound->binding.pass[pass];
    const int32_t nfold = k->plan->pass[pass].nfold;
    rubus_status st = scratch_room(module->context, k->nresult);
    rubus__operand *partial =
        rubus__alloc_array((size_t)k->nresult + 1, sizeof(rubus__operand));
    if (partial == NULL) {
        return RUBUS_ENOMEM;
    }
    for (int32_t i = 1; st == RUBUS_OK && i <= nfold; i++) {
        const rk_entry *tree = &module->program->entry[first_entry + i];
        const uint64_t nbyte = (uint64_t)(range->npartial > 0 ? range->npartial : 1) *
                               partial_size(bound, tree->fold);
        st =
            scratch_operand(module->context, tree->number, nbyte, &partial[tree->number]);
    }
    rubus__fold_slots fold;
    memset(&fold, 0, sizeof(fold));
    fold.partial = partial;
    if (st == RUBUS_OK && !range->empty) {
        st = rubus__launch_entry(bound, first_entry, range, &fold);
    }
    for (int32_t i = 1; st == RUBUS_OK && i <= nfold; i++) {
        const rk_entry *tree = &module->program->entry[first_entry + i];
        st = range->npartial == 0 ? write_neutral(bound, tree)
                                  : run_tree(bound, first_entry + i,
                                             &partial[tree->number], range->npartial);
    }
    rubus__free(partial);
    return st;
}
