/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_OPERATOR_INNER_H
#define RUBUS_OPERATOR_INNER_H
/* An operator from inside: operator.c checks and passes on, csr_operator.c is of one
 * kind, the solvers look at the rest. */
#include <rubus/operator.h>

#include "libcore/runtime/runtime.h"

struct rubus_operator {
    rubus__object object;
    rubus_context *context; /* held */
    int64_t n;
    rubus_operator_ops ops;
    void *self;
};

/* An array of n elements of the operator's type and context: EINVAL (NULL), EFOREIGN,
 * ETYPE, ESHAPE, all said of `name` in `what`. */
rubus_status rubus__operator_check(const char *what, const rubus_operator *op,
                                   const rubus_array *array, int32_t type,
                                   const char *name);
bool rubus__operator_has_diagonal(const rubus_operator *op);

#endif
