/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms before they are used: their parameters, and names that mean nothing whatever the
 * mesh. All else depends on the mesh and is told when a form is made for one.
 */
#include "config.h"

#include "libcore/kernel/check.h"
#include "libcore/kernel/form_tree.h"

#include <string.h>

typedef struct form_checker {
    rk_unit *unit;
    rk_scope scope;
    rk_decl *form;
} form_checker;

static bool is_form(const rk_unit *unit, const char *name)
{
    for (int32_t i = 0; i < unit->module.nform; i++) {
        if (unit->module.form[i]->name == name) {
            return true;
        }
    }
    return false;
}

static bool is_in_sight(const form_checker *c, const char *name)
{
    char kind = 0;
    int32_t axis = 0;
    return rk_scope_find(&c->scope, name) != NULL || strcmp(name, "x") == 0 ||
           strcmp(name, "y") == 0 || strcmp(name, "z") == 0 ||
           rk_is_axis_array(name, &kind, &axis);
}

static bool is_called(const form_checker *c, const char *name)
{
    rk_word word;
    return rk_word_find(name, &word) || is_form(c->unit, name) ||
           rk_name_is_taken(name) || rk_op_exists(c->unit, name) ||
           rk_find_func_from(c->unit, c->form, name) != NULL;
}

static void walk(form_checker *c, const rk_expr *e)
{
    if (e == NULL) {
        return;
    }
    if (e->kind == RK_EXPR_NAME && !is_in_sight(c, e->name)) {
        rk_unknown_name(&c->scope, e->name, e->at);
    }
    walk(c, e->a);
    walk(c, e->b);
    walk(c, e->c);
    for (int32_t i = 0; i < e->narg; i++) {
        walk(c, e->arg[i]);
    }
    for (int32_t i = 0; i < e->nsub; i++) {
        walk(c, e->sub[i].lo);
        walk(c, e->sub[i].hi);
    }
    if (e->kind == RK_EXPR_CALL && !is_called(c, e->name)) {
        rk_unknown_call(&c->scope, e);
    }
}

static void walk_let(form_checker *c, const rk_stmt *s)
{
    walk(c, s->value);
    rk_scope_let(&c->scope, s, NULL, "give the value another name");
}

static void check_params(rk_unit *unit, const rk_decl *form)
{
    const rk_decl *first[2] = {NULL, NULL};
    for (int32_t i = 0; i < form->nparam; i++) {
        const rk_decl *param = form->param[i];
        if (param->role != RK_ROLE_TRIAL && param->role != RK_ROLE_TEST) {
            continue;
        }
        const rk_decl **one = &first[param->role == RK_ROLE_TRIAL ? 0 : 1];
        if (*one != NULL) {
            const char *word = param->role == RK_ROLE_TRIAL ? "trial" : "test";
            rk_error(unit, RK_FORM_PARAMS, param->at,
                     "spaces of several components have one function, whose parts are "
                     "u[0], u[1]",
                     "form `%s` has two %s functions", form->name, word);
            rk_note(unit, (*one)->at, "the first is here");
        }
        *one = param;
    }
    if (first[1] == NULL) {
        rk_error(unit, RK_FORM_PARAMS, form->at, "give it a parameter: `test v`",
                 "form `%s` has no test function", form->name);
    }
}

void rk_check_form(rk_unit *unit, rk_decl *form)
{
    form_checker checker;
    checker.unit = unit;
    checker.form = form;
    rk_scope_init(&checker.scope, unit);
    const int64_t errors = rk_errors(unit);
    check_params(unit, form);
    for (int32_t i = 0; i < form->nparam; i++) {
        rk_scope_declare(&checker.scope, form->param[i], 0);
    }
    for (int32_t i = 0; i < form->body->nbody; i++) {
        const rk_stmt *s = form->body->body[i];
        if (s->kind == RK_STMT_LET) {
            walk_let(&checker, s);
        } else {
            walk(&checker, s->value);
        }
        rk_stop_if_many(unit);
    }
    form->checked = rk_errors(unit) == errors;
}
