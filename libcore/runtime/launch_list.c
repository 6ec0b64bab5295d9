/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several launches as one: all are checked before the first runs, and the context stays
 * locked from the first to the last, so that scratch memory between them is safe from
 * other threads.
 */
#include "config.h"

#include "libcore/runtime/runtime.h"

static rubus_status prepare_all(char *memory, const rubus__call *call, size_t ncall,
                                rubus__prepared *out)
{
    for (size_t i = 0; i < ncall; i++) {
        const rubus__call *c = &call[i];
        const rubus_status st = rubus__launch_prepare(memory, c->kernel, c->lo, c->hi,
                                                      c->args, c->nargs, &out[i]);
        if (st != RUBUS_OK) {
            return st;
        }
        memory += rubus__launch_room(c->kernel);
    }
    return RUBUS_OK;
}

rubus_status rubus__launch_list(const rubus__call *call, size_t ncall)
{
    if (ncall == 0) {
        return RUBUS_OK;
    }
    if (ncall == 1) {
        return call->lo == NULL
                   ? rubus_launch_args(call->kernel, call->args, call->nargs)
                   : rubus_launch_range_args(call->kernel, call->lo, call->hi, call->args,
                                             call->nargs);
    }
    if (ncall > RUBUS__CALLS_MOST) {
        return rubus__fail(RUBUS_EINTERNAL, "%zu launches in a list; report this", ncall);
    }
    size_t room = 0;
    for (size_t i = 0; i < ncall; i++) {
        room += rubus__launch_room(call[i].kernel);
    }
    char *memory = rubus__alloc(room);
    if (memory == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus_context *context = call->kernel->module->context;
    rubus__prepared prepared[RUBUS__CALLS_MOST];
    rubus_status st = prepare_all(memory, call, ncall, prepared);
    if (st == RUBUS_OK) {
        st = rubus__enter(context, "rubus_launch");
        for (size_t i = 0; st == RUBUS_OK && i < ncall; i++) {
            st = rubus__launch_prepared(&prepared[i]);
            if (st != RUBUS_OK || i + 1 == ncall) {
                st = rubus__leave(context, st);
            }
        }
    }
    rubus__free(memory);
    return st;
}
