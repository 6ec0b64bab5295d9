/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators: what they are given is checked here, once for all kinds; then the functions
 * of the kind do the work. Nothing is locked meanwhile, as these functions launch
 * kernels.
 */
#include "config.h"

#include "libcore/sparse/operator_inner.h"

#include <string.h>

/* A part of ops up to which every caller's struct must reach. */
#define OPS_LEAST (offsetof(rubus_operator_ops, apply) + sizeof(void *))

static rubus_status check_ops(const rubus_operator_ops *given, rubus_operator_ops *out)
{
    static const char what[] = "rubus_operator_create";
    if (given->struct_size < OPS_LEAST) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: struct_size of ops is %zu; set it to "
                           "sizeof(rubus_operator_ops)",
                           what, given->struct_size);
    }
    memset(out, 0, sizeof(*out));
    memcpy(out, given,
           given->struct_size < sizeof(*out) ? given->struct_size : sizeof(*out));
    if (out->real == 0) {
        out->real = RUBUS_F64;
    }
    if (out->apply == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: ops has no apply, which is required", what);
    }
    if (out->real != RUBUS_F32 && out->real != RUBUS_F64) {
        return rubus__fail(RUBUS_EINVAL, "%s: real is %d; give RUBUS_F64 or RUBUS_F32",
                           what, (int)out->real);
    }
    if (out->symmetric < RUBUS_SYMMETRIC_UNKNOWN || out->symmetric > RUBUS_SYMMETRIC_NO) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: symmetric is %d; give RUBUS_SYMMETRIC_UNKNOWN, _YES or "
                           "_NO",
                           what, (int)out->symmetric);
    }
    return RUBUS_OK;
}

static void destroy_object(void *self)
{
    rubus_operator_destroy(self);
}

rubus_status rubus_operator_create(rubus_context *context, int64_t n,
                                   const rubus_operator_ops *ops, void *self,
                                   rubus_operator **out_operator)
{
    static const char what[] = "rubus_operator_create";
    if (ops == NULL || out_operator == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what,
                           ops == NULL ? "ops" : "out_operator");
    }
    if (n < 0) {
        return rubus__fail(RUBUS_EINVAL, "%s: n is %lld, less than 0", what,
                           (long long)n);
    }
    rubus_operator_ops complete;
    rubus_status st = check_ops(ops, &complete);
    if (st == RUBUS_OK) {
        st = rubus__enter(context, what);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    (void)rubus__leave(context, RUBUS_OK);
    rubus_operator *op = rubus__alloc(sizeof(*op));
    if (op == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus__context_hold(context);
    op->context = context;
    op->n = n;
    op->ops = complete;
    op->self = self;
    rubus__object_add(context, &op->object, RUBUS__RANK_OPERATOR, destroy_object, op);
    *out_operator = op;
    return RUBUS_OK;
}

void rubus_operator_destroy(rubus_operator *op)
{
    if (op == NULL) {
        return;
    }
    rubus__object_remove(op->context, &op->object);
    if (op->ops.destroy != NULL) {
        op->ops.destroy(op->self);
    }
    rubus_context_destroy(op->context);
    rubus__free(op);
}

rubus_status rubus__operator_check(const char *what, const rubus_operator *op,
                                   const rubus_array *array, int32_t type,
                                   const char *name)
{
    if (array == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what, name);
    }
    const rubus_context *other = array->storage->context;
    if (other != op->context) {
        return rubus__fail(
            RUBUS_EFOREIGN,
            "%s: the operator lives on backend %s (device \"%s\"), but %s on %s (device "
            "\"%s\") in another context; copy it with rubus_array_copy",
            what, op->context->dev->name, op->context->dev->caps.name, name,
            other->dev->name, other->dev->caps.name);
    }
    if (array->type != type) {
        return rubus__fail(RUBUS_ETYPE, "%s: %s must have elements of %s; it has %s",
                           what, name, rubus__type_name(type),
                           rubus__type_name(array->type));
    }
    if (array->count != op->n) {
        return rubus__fail(RUBUS_ESHAPE,
                           "%s: the operator has %lld unknowns, %s has %lld elements",
                           what, (long long)op->n, name, (long long)array->count);
    }
    return RUBUS_OK;
}

/* What a function of the operator returned, with a text in any case. */
static rubus_status result_of(const char *what, rubus_status st)
{
    if (st != RUBUS_OK && rubus__error_missing()) {
        return rubus__fail(st, "%s: the operator's own function failed without a text",
                           what);
    }
    return st;
}

static rubus_status no_operator(const char *what)
{
    return rubus__fail(RUBUS_EINVAL, "%s: the operator is NULL", what);
}

rubus_status rubus_operator_apply(rubus_operator *op, double alpha, rubus_array *x,
                                  double beta, rubus_array *y)
{
    static const char what[] = "rubus_operator_apply";
    if (op == NULL) {
        return no_operator(what);
    }
    rubus_status st = rubus__operator_check(what, op, x, op->ops.real, "x");
    if (st == RUBUS_OK) {
        st = rubus__operator_check(what, op, y, op->ops.real, "y");
    }
    if (st == RUBUS_OK && rubus__array_overlap(x, y)) {
        st = rubus__fail(RUBUS_EALIAS,
                         "%s: x and y share memory; pass two different arrays", what);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__error_expect();
    return result_of(what, op->ops.apply(op->self, alpha, x, beta, y));
}

bool rubus__operator_has_diagonal(const rubus_operator *op)
{
    return op->ops.diagonal != NULL;
}

rubus_status rubus_operator_diagonal(rubus_operator *op, rubus_array *d)
{
    static const char what[] = "rubus_operator_diagonal";
    if (op == NULL) {
        return no_operator(what);
    }
    if (!rubus__operator_has_diagonal(op)) {
        return rubus__fail(RUBUS_EUNSUPPORTED,
                           "%s: the operator has no function for its diagonal; fill "
                           "`diagonal` of its ops",
                           what);
    }
    const rubus_status st = rubus__operator_check(what, op, d, op->ops.real, "d");
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__error_expect();
    return result_of(what, op->ops.diagonal(op->self, d));
}

rubus_status rubus_operator_constraint(rubus_operator *op, rubus_array **out_mask)
{
    static const char what[] = "rubus_operator_constraint";
    if (op == NULL || out_mask == NULL) {
        return op == NULL ? no_operator(what)
                          : rubus__fail(RUBUS_EINVAL, "%s: out_mask is NULL", what);
    }
    rubus_array *mask = NULL;
    if (op->ops.constraint != NULL) {
        rubus__error_expect();
        rubus_status st = result_of(what, op->ops.constraint(op->self, &mask));
        if (st == RUBUS_OK && mask != NULL) {
            st = rubus__operator_check(what, op, mask, RUBUS_BOOL, "the mask");
        }
        if (st != RUBUS_OK) {
            return st;
        }
    }
    *out_mask = mask;
    return RUBUS_OK;
}

int64_t rubus_operator_size(const rubus_operator *op)
{
    return op == NULL ? 0 : op->n;
}

int32_t rubus_operator_real(const rubus_operator *op)
{
    return op == NULL ? 0 : op->ops.real;
}

int32_t rubus_operator_symmetric(const rubus_operator *op)
{
    return op == NULL ? RUBUS_SYMMETRIC_UNKNOWN : op->ops.symmetric;
}

rubus_context *rubus_operator_context(const rubus_operator *op)
{
    return op == NULL ? NULL : op->context;
}
