/* SPDX-License-Identifier: Apache-2.0 */
/* y = y + alpha x for whole arrays, in pieces that a 32-bit int can count. */
#include "config.h"

#include "libcore/runtime/runtime.h"

#define PIECE ((int64_t)1 << 30u) /* elements of one launch */

static rubus_status check(const char *what, const rubus_array *x, const rubus_array *y)
{
    const rubus_status st = rubus__need(what, "x", x, "y", y, NULL);
    if (st != RUBUS_OK) {
        return st;
    }
    if (x->storage->context != y->storage->context) {
        return rubus__foreign(what, "x", x->storage->context, "y", y->storage->context,
                              "copy it with rubus_array_copy");
    }
    if (y->type != RUBUS_F32 && y->type != RUBUS_F64) {
        return rubus__fail(RUBUS_ETYPE, "%s: arrays of %s; it takes f32 and f64", what,
                           rubus__type_name(y->type));
    }
    return rubus__array_pair_check(what, y, x);
}

rubus_status rubus_array_axpy(double alpha, rubus_array *x, rubus_array *y)
{
    static const char what[] = "rubus_array_axpy";
    rubus_status st = check(what, x, y);
    if (st == RUBUS_OK) {
        st = rubus__array_enter(y, what);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_context *context = y->storage->context;
    if (rubus__array_mapped(x)) {
        st = rubus__fail(RUBUS_ESTATE, "%s: x is mapped; unmap it first", what);
    }
    st = rubus__leave(context, st);
    const rubus_module_options options = {
        .struct_size = sizeof(options), .real = y->type, .index = RUBUS_I32};
    const rubus_kernel *kernel = NULL;
    if (st == RUBUS_OK && y->count > 0) {
        st = rubus__kept_kernel(context, "blas.rk", &options, "axpy", &kernel);
    }
    for (int64_t done = 0; st == RUBUS_OK && done < y->count; done += PIECE) {
        const int64_t left = y->count - done;
        const int64_t n = left < PIECE ? left : PIECE;
        rubus_array to = rubus__array_line(y, done, n);
        rubus_array from = rubus__array_line(x, done, n);
        const rubus_arg args[] = {rubus_arg_array(&to), rubus_arg_array(&from),
                                  rubus_arg_real(alpha)};
        st = rubus_launch_args(kernel, args, 3);
    }
    return st;
}
