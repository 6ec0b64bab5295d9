/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_PRINT_H
#define RK_PRINT_H
/*
 * Which ops and funcs of the library a module needs, and under which names.
 *
 * The user's code sees the library's declarations that no own one hides; the library's
 * code sees all of the library. Where the two views of a name differ, what the library
 * sees is printed under an alias, so that both stand side by side in one text.
 */
#include "libcore/kernel/tree.h"

typedef struct rk_alias {
    const char *name; /* interned */
    const char *alias;
} rk_alias;

typedef struct rk_reached { /* of one list of the module: ops or funcs */
    bool *named;            /* [n] to be printed under its name; the user's own always */
    bool *aliased;          /* [n] to be printed under its alias */
    bool *hidden;           /* [n] of the library, and the user has an own one */
    bool *seen;             /* [n] its body was looked through */
} rk_reached;

typedef struct rk_reach {
    rk_unit *unit;
    rk_reached op;
    rk_reached func;
    int32_t nlibrary_op; /* the library's are among the first so many */
    int32_t nlibrary_func;
    int32_t nalias;
    rk_alias *alias;
    bool again; /* something was reached that has not been looked through */
} rk_reach;

void rk_reach_find(rk_unit *unit, rk_reach *out_reach);
/* What the library's code calls `name` in the text; NULL: by its name. */
const char *rk_reach_alias(const rk_reach *reach, const char *name);

#endif
