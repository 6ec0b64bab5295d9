/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of a launch against the parameters of its kernel: number, kind, element
 * type, rank, context, state, aliasing. Sizes and accesses are rk_bind's.
 */
#include "config.h"

#include "libcore/runtime/runtime.h"

#include <string.h>

static const char *kind_name(int32_t kind)
{
    switch (kind) {
    case RUBUS_ARG_ARRAY:
        return "an array";
    case RUBUS_ARG_REAL:
        return "a real number";
    case RUBUS_ARG_INTEGER:
        return "an integer";
    case RUBUS_ARG_RESULT_F64:
        return "a pointer to double";
    case RUBUS_ARG_RESULT_F32:
        return "a pointer to float";
    default:
        return "nothing known";
    }
}

static rubus_status wrong_kind(const rubus_kernel *kernel, size_t at, const char *wanted,
                               const rubus_arg *arg)
{
    return rubus__fail(RUBUS_EINVAL,
                       "kernel `%s`: argument %zu (`%s`) must be %s, %s was given",
                       kernel->k->decl->name, at + 1, kernel->k->decl->param[at]->name,
                       wanted, kind_name(arg->kind));
}

static rubus_status check_array(const rubus_kernel *kernel, size_t at,
                                const rubus_arg *arg, int32_t rank)
{
    const rk_decl *decl = kernel->k->decl->param[at];
    const char *name = kernel->k->decl->name;
    const rubus_array *array = arg->u.array;
    if (array == NULL) {
        return rubus__fail(RUBUS_EINVAL, "kernel `%s`: argument %zu (`%s`) is NULL", name,
                           at + 1, decl->name);
    }
    const rubus_context *context = kernel->module->context;
    if (array->storage->context != context) {
        return rubus__fail(
            RUBUS_EFOREIGN,
            "kernel `%s` was built on backend %s (device \"%s\"), but the "
            "array for `%s` lives on %s (device \"%s\") in another context; "
            "copy it with rubus_array_copy",
            name, context->dev->name, context->dev->caps.name, decl->name,
            array->storage->context->dev->name, array->storage->context->dev->caps.name);
    }
    const int32_t type = rk_param_type(kernel->module->program, decl);
    if (array->type != type) {
        return rubus__fail(RUBUS_ETYPE,
                           "kernel `%s`: `%s` has elements of %s, the array "
                           "given has %s",
                           name, decl->name, rubus__type_name(type),
                           rubus__type_name(array->type));
    }
    if (array->shape.rank != rank) {
        return rubus__fail(RUBUS_ESHAPE,
                           "kernel `%s`: `%s` has rank %d, the array given has "
                           "rank %d",
                           name, decl->name, (int)rank, (int)array->shape.rank);
    }
    return RUBUS_OK;
}

static rubus_status check_result(const rubus_kernel *kernel, size_t at,
                                 const rubus_arg *arg)
{
    if (arg->kind == RUBUS_ARG_RESULT_F64 || arg->kind == RUBUS_ARG_RESULT_F32) {
        if (arg->u.result_f64 == NULL) {
            return rubus__fail(RUBUS_EINVAL,
                               "kernel `%s`: the pointer for result `%s` is "
                               "NULL",
                               kernel->k->decl->name, kernel->k->decl->param[at]->name);
        }
        return RUBUS_OK;
    }
    if (arg->kind != RUBUS_ARG_ARRAY) {
        return wrong_kind(kernel, at,
                          "a pointer to double or float, or an array of one "
                          "element",
                          arg);
    }
    const rubus_status st =
        check_array(kernel, at, arg, arg->u.array == NULL ? 1 : arg->u.array->shape.rank);
    if (st == RUBUS_OK && arg->u.array->count != 1) {
        return rubus__fail(RUBUS_ESHAPE,
                           "kernel `%s`: the array for result `%s` has %lld "
                           "elements, it must have one",
                           kernel->k->decl->name, kernel->k->decl->param[at]->name,
                           (long long)arg->u.array->count);
    }
    return st;
}

static rubus_status check_scalar(const rubus_kernel *kernel, size_t at,
                                 const rubus_arg *arg, rk_argument *out)
{
    const rk_decl *decl = kernel->k->decl->param[at];
    if (arg->kind == RUBUS_ARG_REAL && decl->type == RK_REAL) {
        return RUBUS_OK;
    }
    if (arg->kind != RUBUS_ARG_INTEGER) {
        return wrong_kind(kernel, at, decl->type == RK_REAL ? "a number" : "an integer",
                          arg);
    }
    const int64_t v = arg->u.integer;
    const char *name = kernel->k->decl->name;
    if (decl->type == RK_BOOL && v != 0 && v != 1) {
        return rubus__fail(RUBUS_EINVAL,
                           "kernel `%s`: `%s` is a truth value, 0 or 1; %lld "
                           "was given",
                           name, decl->name, (long long)v);
    }
    if (decl->type == RK_INT && !kernel->module->program->unit->numbers.int64 &&
        (v < INT32_MIN || v > INT32_MAX)) {
        return rubus__fail(RUBUS_ELIMIT,
                           "kernel `%s`: %lld for `%s` does not fit the "
                           "module's 32-bit int; build it with index i64",
                           name, (long long)v, decl->name);
    }
    out->integer = v;
    return RUBUS_OK;
}

static rubus_status check_one(const rubus_kernel *kernel, size_t at, const rubus_arg *arg,
                              rk_argument *out)
{
    const rk_decl *decl = kernel->k->decl->param[at];
    if (decl->is_result) {
        return check_result(kernel, at, arg);
    }
    if (decl->rank == 0) {
        return check_scalar(kernel, at, arg, out);
    }
    if (arg->kind != RUBUS_ARG_ARRAY) {
        return wrong_kind(kernel, at, "an array", arg);
    }
    const rubus_status st = check_array(kernel, at, arg, decl->rank);
    for (int32_t d = 0; st == RUBUS_OK && d < decl->rank; d++) {
        out->n[d] = arg->u.array->shape.n[d];
    }
    return st;
}

static bool is_written(const rk_decl *decl)
{
    return decl->is_result || decl->mode == RK_MODE_OUT || decl->mode == RK_MODE_INOUT;
}

static rubus_status check_alias(const rubus_kernel *kernel, const rubus_arg *args,
                                size_t nargs)
{
    const rk_decl *decl = kernel->k->decl;
    for (size_t i = 0; i < nargs; i++) {
        const rubus_array *a = args[i].u.array;
        if (args[i].kind != RUBUS_ARG_ARRAY || !is_written(decl->param[i])) {
            continue;
        }
        for (size_t k = 0; k < nargs; k++) {
            const rubus_array *b = args[k].u.array;
            if (k == i || args[k].kind != RUBUS_ARG_ARRAY ||
                !rubus__array_overlap(a, b)) {
                continue;
            }
            return rubus__fail(
                RUBUS_EALIAS,
                "kernel `%s`: `%s` is written and shares memory with `%s`; "
                "pass two different arrays",
                decl->name, decl->param[i]->name, decl->param[k]->name);
        }
    }
    return RUBUS_OK;
}

rubus_status rubus__launch_check_mapped(const rubus_kernel *kernel, const rubus_arg *args)
{
    const rk_decl *decl = kernel->k->decl;
    for (int32_t i = 0; i < decl->nparam; i++) {
        if (args[i].kind == RUBUS_ARG_ARRAY && rubus__array_mapped(args[i].u.array)) {
            return rubus__fail(RUBUS_ESTATE,
                               "kernel `%s`: the array for `%s` is mapped; "
                               "unmap it first",
                               decl->name, decl->param[i]->name);
        }
    }
    return RUBUS_OK;
}

rubus_status rubus__launch_check(const rubus_kernel *kernel, const rubus_arg *args,
                                 size_t nargs, rk_argument *out_argument)
{
    const rk_decl *decl = kernel->k->decl;
    if (nargs != (size_t)decl->nparam || (args == NULL && nargs > 0)) {
        return rubus__fail(RUBUS_EINVAL, "kernel `%s` takes %d argument%s, %zu given",
                           decl->name, (int)decl->nparam, decl->nparam == 1 ? "" : "s",
                           args == NULL ? 0 : nargs);
    }
    for (size_t i = 0; i < nargs; i++) {
        memset(&out_argument[i], 0, sizeof(out_argument[i]));
        const rubus_status st = check_one(kernel, i, &args[i], &out_argument[i]);
        if (st != RUBUS_OK) {
            return st;
        }
    }
    return check_alias(kernel, args, nargs);
}
