/* SPDX-License-Identifier: Apache-2.0 */
/* A matrix as an operator: rubus_spmv and rubus_csr_diagonal, and a mask if one is
 * given. */
#include "config.h"

#include "libcore/sparse/operator_inner.h"
#include "libcore/sparse/csr.h"

typedef struct csr_operator {
    rubus_csr *csr;    /* held */
    rubus_array *mask; /* a view, which keeps the memory of the user's alive; or NULL */
} csr_operator;

static rubus_status apply(void *self, double alpha, rubus_array *x, double beta,
                          rubus_array *y)
{
    return rubus_spmv(alpha, ((csr_operator *)self)->csr, x, beta, y);
}

static rubus_status diagonal(void *self, rubus_array *d)
{
    return rubus_csr_diagonal(((csr_operator *)self)->csr, d);
}

static rubus_status constraint(void *self, rubus_array **out_mask)
{
    *out_mask = ((csr_operator *)self)->mask;
    return RUBUS_OK;
}

static void destroy(void *self)
{
    csr_operator *c = self;
    rubus_array_destroy(c->mask);
    rubus_csr_destroy(c->csr);
    rubus__free(c);
}

static rubus_status take_mask(const rubus_operator *op, rubus_array *mask)
{
    csr_operator *c = op->self;
    const rubus_status st = rubus__operator_check("rubus_operator_create_csr", op, mask,
                                                  RUBUS_BOOL, "the mask");
    return st != RUBUS_OK ? st
                          : rubus_array_view(mask, 0, rubus_array_shape(mask), &c->mask);
}

rubus_status rubus_operator_create_csr(rubus_csr *csr, int32_t symmetric,
                                       rubus_array *mask, rubus_operator **out_operator)
{
    static const char what[] = "rubus_operator_create_csr";
    if (csr == NULL || out_operator == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what,
                           csr == NULL ? "the matrix" : "out_operator");
    }
    const rubus__host_csr *m = &csr->mirror;
    if (m->nrow != m->ncol) {
        return rubus__fail(RUBUS_ESHAPE,
                           "%s: the matrix is %lld x %lld; an operator is square", what,
                           (long long)m->nrow, (long long)m->ncol);
    }
    const rubus_operator_ops ops = {.struct_size = sizeof(ops),
                                    .real = m->real,
                                    .symmetric = symmetric,
                                    .apply = apply,
                                    .diagonal = diagonal,
                                    .constraint = constraint,
                                    .destroy = destroy};
    csr_operator *c = rubus__alloc(sizeof(*c));
    if (c == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus_operator *op = NULL;
    rubus_status st = rubus_operator_create(csr->context, m->nrow, &ops, c, &op);
    if (st != RUBUS_OK) {
        rubus__free(c);
        return st;
    }
    c->csr = csr;
    rubus__csr_hold(csr);
    st = mask == NULL ? RUBUS_OK : take_mask(op, mask);
    if (st != RUBUS_OK) {
        rubus_operator_destroy(op);
        return st;
    }
    *out_operator = op;
    return RUBUS_OK;
}
