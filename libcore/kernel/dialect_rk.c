/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialect rk: the checked source itself in canonical form, for backends that run the tree
 * (the reference interpreter). Its first line tells how the module computes, and comments
 * tell where each statement stood in the user's source.
 */
#include "config.h"

#include "libcore/kernel/program.h"

static void emit(rk_program *program, rubus__text *out)
{
    rk_print(program->unit, true, out);
}

const rk_dialect rk_dialect_rk = {
    .name = "rk", .version = 2, .emit = emit, .whole = true};
