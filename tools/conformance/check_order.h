/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_CHECK_ORDER_H
#define RUBUS_CHECK_ORDER_H
/*
 * What the checks of order share: a module of int kernels, whose results are exact, some
 * of them slow, so that what comes after them has time to overtake.
 */
#include "conform.h"

/* The kernels of the module, and how much work is slow on this backend. */
typedef struct order_kit {
    rubus_context *context;
    rubus_module *module;
    const rubus_kernel *add;       // (c, a, b, k): c = a + k * b
    const rubus_kernel *more;      // (u, k): u += k
    const rubus_kernel *slow_put;  // (u, v, turns, 0): u = v + place, late
    const rubus_kernel *slow_copy; // (b, a, turns, 0): b = a, reads late
    int64_t n;                     // a good size for the slow ones
    int64_t turns;
} order_kit;

void order_kit_open(order_kit *kit);
void order_kit_close(order_kit *kit);
rubus_array *order_ints(const order_kit *kit, int64_t n);
/* Every element is first + step * place. */
void order_want(rubus_array *array, int64_t first, int64_t step, const char *what);

#endif
