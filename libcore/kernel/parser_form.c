/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms: their header. The words `form`, `trial`, `test` and `field` are names elsewhere,
 * so they are looked at only where a declaration or a parameter of a form begins. The
 * body is that of an op, where tuples and labels may stand too.
 */
#include "config.h"

#include "libcore/kernel/parser.h"

#include <string.h>

static bool is_word(const rk_token *token, const char *word)
{
    return token->kind == RK_TOKEN_NAME && strcmp(token->name, word) == 0;
}

bool rk_parser_at_form(const rk_parser *p)
{
    return is_word(rk_parser_peek(p), "form") &&
           rk_parser_is_name(rk_parser_ahead(p, 1)) &&
           rk_token_is(rk_parser_ahead(p, 2), "(");
}

/* "[" ( "x" | "y" | "z" ) "]" */
static void parse_axis(rk_parser *p, rk_decl *param)
{
    static const char *const names[3] = {"x", "y", "z"};
    rk_parser_next(p);
    for (int32_t d = 0; d < 3 && param->axis < 0; d++) {
        if (is_word(rk_parser_peek(p), names[d])) {
            param->axis = d;
        }
    }
    if (param->axis < 0) {
        rk_parser_expected(p, "`x`, `y` or `z`",
                           "a field is a value at each point of the mesh, or, as in "
                           "`field a[x]`, at each point of an axis");
        return;
    }
    rk_parser_next(p);
    rk_parser_expect(p, "]");
}

/* fparam = ( "trial" | "test" | "real" | "int" ) NAME
 *        | "field" NAME [ "[" ( "x" | "y" | "z" ) "]" ] */
static rk_decl *parse_form_param(rk_parser *p)
{
    static const char *const words[] = {"trial", "test", "field"};
    const rk_token *token = rk_parser_peek(p);
    rk_role role = RK_ROLE_NUMBER;
    rk_type type = RK_REAL;
    for (int i = 0; i < 3; i++) {
        role = is_word(token, words[i]) ? (rk_role)i : role;
    }
    if (role != RK_ROLE_NUMBER) {
        rk_parser_next(p);
    } else if (rk_parser_accept(p, "int")) {
        type = RK_INT;
    } else if (!rk_parser_accept(p, "real")) {
        rk_parser_expected(p, "`trial`, `test`, `field`, `real` or `int`",
                           "each parameter of a form says what it is: `field kappa`");
    }
    rk_decl *param = rk_parser_decl(p, RK_DECL_FORMPARAM,
                                    rk_parser_name(p, "the name of a parameter"));
    param->role = role;
    param->type = type;
    param->axis = -1;
    if (role == RK_ROLE_FIELD && rk_parser_is(p, "[")) {
        parse_axis(p, param);
    } else if (rk_parser_is(p, "[")) {
        rk_parser_expected(p, "`,` or `)`", "only a `field` may name an axis");
    }
    return param;
}

/* form = "form" NAME "(" fparam { "," fparam } ")"
 *        ( "=" expr ";" | "{" { let } "return" expr ";" "}" ) */
rk_decl *rk_parse_form(rk_parser *p)
{
    rk_parser_next(p);
    const rk_token *name = rk_parser_name(p, "the name of a form");
    rk_decl *form = rk_parser_begin(p, RK_DECL_FORM, name, true);
    rk_parse_params(p, form, parse_form_param);
    rk_parse_value_body(p, form);
    p->form = false;
    return p->panic ? NULL : form;
}
