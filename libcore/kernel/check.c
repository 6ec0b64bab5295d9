/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of a module: what each declaration may be called, the headers of kernels
 * (modes, results, extents), and per-point kernels and funcs as a whole. Bodies of
 * whole-array kernels are field.c's. The library's own declarations count as correct;
 * its funcs are checked when a kernel reaches them.
 */
#include "config.h"

#include "libcore/kernel/check.h"
#include "libcore/kernel/form_tree.h"

#include <string.h>

/* --- names of declarations ---------------------------------------------------------- */

static bool is_users(const rk_decl *decl)
{
    return !decl->at.source->library;
}

/* Names of built-in functions stay free of user's meanings. */
static void check_taken(rk_unit *unit, const rk_decl *decl)
{
    if (rk_name_is_taken(decl->name)) {
        rk_error(unit, RK_NAME_TAKEN, decl->at, "choose another name",
                 "`%s` is a function of the language", decl->name);
    }
}

static bool same_ranks(const rk_decl *a, const rk_decl *b)
{
    if (a->nparam != b->nparam) {
        return false;
    }
    for (int32_t i = 0; i < a->nparam; i++) {
        if (a->param[i]->rank != b->param[i]->rank) {
            return false;
        }
    }
    return true;
}

/* Ops of one name differ in ranks: looks at all that are bound to the name. */
static void check_op_name(rk_scope *scope, rk_decl *op)
{
    const rk_bound *bound = rk_scope_find(scope, op->name);
    int32_t i = bound == NULL ? -1 : (int32_t)(bound - scope->bound);
    for (; i >= 0; i = scope->bound[i].older) {
        const rk_decl *other = scope->bound[i].decl;
        if (other->name == op->name &&
            (other->kind == RK_DECL_FUNC || same_ranks(op, other))) {
            rk_duplicate(scope->unit, RK_DUPLICATE_NAME, op, other,
                         other->kind == RK_DECL_FUNC
                             ? "give one of them another name"
                             : "ops of one name must differ in the ranks they take");
            break;
        }
    }
    rk_scope_bind(scope, op, NULL);
}

static void check_declared_names(rk_unit *unit)
{
    const rk_module *module = &unit->module;
    rk_scope *kernels = RK_NEW(unit, rk_scope);
    rk_scope *called = RK_NEW(unit, rk_scope);
    rk_scope_init(kernels, unit);
    rk_scope_init(called, unit);
    for (int32_t i = 0; i < module->nkernel; i++) {
        if (is_users(module->kernel[i])) {
            rk_scope_declare(kernels, module->kernel[i], 0);
        }
    }
    for (int32_t i = 0; i < module->nfunc; i++) {
        if (is_users(module->func[i])) {
            check_taken(unit, module->func[i]);
            rk_scope_declare(called, module->func[i], 0);
        }
    }
    for (int32_t i = 0; i < module->nop; i++) {
        if (is_users(module->op[i])) {
            check_taken(unit, module->op[i]);
            check_op_name(called, module->op[i]);
        }
    }
    for (int32_t i = 0; i < module->nform; i++) {
        check_taken(unit, module->form[i]);
        rk_scope_declare(called, module->form[i], 0);
    }
}

/* --- headers of kernels ------------------------------------------------------------- */

static void check_scalar_param(rk_unit *unit, const rk_decl *kernel, rk_decl *param)
{
    param->is_result = param->mode == RK_MODE_OUT;
    if (param->mode == RK_MODE_INOUT) {
        rk_error(unit, RK_BAD_RESULT, param->at,
                 "declare a result `out real NAME`, or an array of one element",
                 "scalars are passed in only: `%s` cannot be `inout`", param->name);
    } else if (param->is_result && kernel->nindex > 0) {
        rk_error(
            unit, RK_BAD_RESULT, param->at,
            "write to an element of an array, or fold in a kernel without `over (...)`",
            "a per-point kernel has no results: `%s`", param->name);
    } else if (param->is_result && param->type != RK_REAL) {
        rk_error(unit, RK_BAD_RESULT, param->at,
                 rubus__arena_format(unit->arena, "write `out real %s`", param->name),
                 "a result is real, but `%s` is %s", param->name,
                 rk_type_text(param->type));
    }
}

static void check_param(rk_unit *unit, const rk_decl *kernel, rk_decl *param)
{
    if (!param->has_brackets) {
        check_scalar_param(unit, kernel, param);
    } else if (param->mode == RK_MODE_NONE) {
        rk_error(unit, RK_MISSING_MODE, param->at,
                 "write `in` (read only), `out` (written) or `inout` before its type",
                 "array `%s` has no mode", param->name);
    }
}

static bool writes_param(const rk_decl *kernel)
{
    for (int32_t i = 0; i < kernel->nparam; i++) {
        const rk_decl *param = kernel->param[i];
        if (param->is_result || (param->rank > 0 && param->mode != RK_MODE_IN)) {
            return true;
        }
    }
    return false;
}

static void writes_nothing(rk_unit *unit, const rk_decl *kernel)
{
    rk_error(unit, RK_WRITES_NOTHING, kernel->at,
             writes_param(kernel)
                 ? "assign to one of its arrays, or remove the kernel"
                 : "give it an `out` or `inout` array, or a result `out real NAME`",
             "kernel `%s` writes nothing", kernel->name);
}

/* Params and extents; false if there were errors. */
static bool check_header(rk_unit *unit, rk_decl *kernel, rk_scope *scope)
{
    const int64_t errors = rk_errors(unit);
    for (int32_t i = 0; i < kernel->nparam; i++) {
        check_param(unit, kernel, kernel->param[i]);
        rk_scope_declare(scope, kernel->param[i], 0);
    }
    rk_work draft;
    memset(&draft, 0, sizeof(draft));
    draft.unit = unit;
    draft.decl = kernel;
    rk_symbols_build(unit, kernel, &draft);
    for (int32_t i = 0; i < kernel->nextent; i++) {
        rk_scope_declare(scope, kernel->extent_decl[i], 0);
    }
    return rk_errors(unit) == errors;
}

/* --- per-point kernels -------------------------------------------------------------- */

static void check_bound(rk_checker *c, rk_expr *bound, const rk_decl *index)
{
    const rk_type type = rk_check_expr(c, bound);
    if (type != RK_VOID && type != RK_INT) {
        rk_error(c->unit, RK_BAD_RANGE, bound->at,
                 "write int(x), or use extents and int parameters",
                 "the range of `%s` is %s, not int", index->name, rk_type_text(type));
    }
}

static void check_ranges(rk_checker *c)
{
    c->in_range = true;
    for (int32_t i = 0; i < c->decl->nindex; i++) {
        const rk_decl *index = c->decl->index[i];
        if (index->lo != NULL) {
            check_bound(c, index->lo, index);
            check_bound(c, index->hi, index);
        }
    }
    c->in_range = false;
    for (int32_t i = 0; i < c->decl->nindex; i++) {
        rk_scope_declare(&c->scope, c->decl->index[i], 0);
    }
}

/* The range of indices without `in` comes from the first array written. */
static void check_default_range(rk_unit *unit, const rk_decl *kernel)
{
    const rk_decl *first = rk_first_written(kernel->body);
    if (first == NULL) {
        writes_nothing(unit, kernel);
        return;
    }
    for (int32_t i = 0; i < kernel->nindex; i++) {
        const rk_decl *index = kernel->index[i];
        if (index->lo == NULL && first->rank != kernel->nindex) {
            rk_error(unit, RK_BAD_RANGE, index->at,
                     rubus__arena_format(unit->arena, "give the range: %s in 0:n",
                                         index->name),
                     "`%s` has no range, and `%s`, the first array written, has %d "
                     "dimension%s for %d ind%s",
                     index->name, first->name, first->rank, first->rank == 1 ? "" : "s",
                     kernel->nindex, kernel->nindex == 1 ? "ex" : "ices");
            return;
        }
    }
}

static void check_point_kernel(rk_checker *c)
{
    rk_decl *kernel = c->decl;
    const int64_t errors = rk_errors(c->unit);
    check_ranges(c);
    rk_check_body(c, kernel->body);
    if (rk_errors(c->unit) == errors) {
        check_default_range(c->unit, kernel);
    }
    for (int32_t i = 0; i < kernel->ncall; i++) {
        rk_use_func(c->unit, kernel->call[i]);
    }
}

static void check_kernel(rk_unit *unit, rk_decl *kernel)
{
    rk_checker checker;
    memset(&checker, 0, sizeof(checker));
    checker.unit = unit;
    checker.decl = kernel;
    rk_scope_init(&checker.scope, unit);
    const int64_t errors = rk_errors(unit);
    const bool good = check_header(unit, kernel, &checker.scope);
    if (kernel->nindex > 0) {
        check_point_kernel(&checker);
    } else if (good && !writes_param(kernel)) {
        writes_nothing(unit, kernel);
    }
    kernel->checked = rk_errors(unit) == errors;
}

/* --- the module --------------------------------------------------------------------- */

void rk_check_module(rk_unit *unit)
{
    const rk_module *module = &unit->module;
    if (rk_errors(unit) > 0) {
        return; // of the parser: what it left out would be reported as missing
    }
    check_declared_names(unit);
    for (int32_t i = 0; i < module->nfunc; i++) {
        if (is_users(module->func[i])) {
            rk_check_func(unit, module->func[i]);
            rk_stop_if_many(unit);
        }
    }
    for (int32_t i = 0; i < module->nfunc; i++) {
        if (is_users(module->func[i])) {
            rk_find_recursion(unit, module->func[i]);
        }
    }
    for (int32_t i = 0; i < module->nop; i++) {
        if (is_users(module->op[i])) {
            rk_check_op(unit, module->op[i]);
            rk_stop_if_many(unit);
        }
    }
    for (int32_t i = 0; i < module->nform; i++) {
        rk_check_form(unit, module->form[i]);
        rk_stop_if_many(unit);
    }
    for (int32_t i = 0; i < module->nkernel; i++) {
        if (is_users(module->kernel[i])) {
            check_kernel(unit, module->kernel[i]);
            rk_stop_if_many(unit);
        }
    }
}
