/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_FUNC_H
#define RUBUS_FUNC_H
/*
 * Funcs of a user's module at the points and cells of a mesh, on the device. The kernel
 * that calls the func is written in the kernel language and compiled with the module's
 * ops and funcs, once for a use, a number of axes and a type (rubus__module_derive).
 *
 *   RUBUS__FUNC_POINT      u = f(x, y)               out real
 *   RUBUS__FUNC_CELL_MEAN  u = mean of f on the cell of each point
 *   RUBUS__FUNC_MARK       m = f(x, y)               out bool
 */
#include "libcore/grid/grid.h"

typedef enum {
    RUBUS__FUNC_POINT,
    RUBUS__FUNC_CELL_MEAN,
    RUBUS__FUNC_MARK
} rubus__func_use;

enum { RUBUS__GAUSS = 6 };                           /* nodes on a cell along each axis */
extern const double rubus__gauss_node[RUBUS__GAUSS]; /* on [0, 1] */
extern const double rubus__gauss_weight[RUBUS__GAUSS];

/* What a func takes after the coordinates. */
typedef struct rubus__func_takes {
    bool time;      /* one more real */
    bool component; /* an int, last */
} rubus__func_takes;

typedef struct rubus__func_sweep {
    rubus__func_use use;
    rubus_array *mask; /* the func is called there alone, u is 0 elsewhere; NULL: all */
    double time;
    int32_t component;
} rubus__func_sweep;

/* Whether func takes a point of so many axes, and gives `result` (RK_REAL or RK_BOOL;
 * only funcs that give reals may take a component). EINVAL with the right head, EFOREIGN,
 * ENOTFOUND for NULL. */
rubus_status rubus__func_check(const char *what, const rubus_func *func,
                               const rubus_context *context, int32_t ndim, rk_type result,
                               rubus__func_takes *out_takes);
/* Evaluates a checked func everywhere, into an array of the mesh's shape. */
rubus_status rubus__func_run(const rubus_func *func, const rubus__state *state,
                             const rubus__func_sweep *sweep, rubus_array *out);

#endif
