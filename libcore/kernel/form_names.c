/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that mean something in a form only: operators on grid functions, with or
 * without an axis, inner products, restriction; in ASCII and as they are printed. What an
 * operator computes is told by the op of grid.rk that each stands for.
 */
#include "config.h"

#include "libcore/kernel/form_tree.h"

#include <string.h>

typedef struct operator_row {
    const char *name;
    const char *printed;
    const char *op;
    const char *spacing;
} operator_row;

static const operator_row operators[] = {
    {"Dm", "D\u208b", "Dm", "h"},
    {"Dp", "D\u208a", "Dp", "f"},
    {"Mm", "M\u208b", "Mm", ""},
    {"Mp", "M\u208a", "Mp", ""},
    {"diffm", "diff\u208b", "diffm", ""},
    {"diffp", "diff\u208a", "diffp", ""},
    {"jump", "jump", "jump", ""},
    {"Dstar", "D\u0303", "Dstar", "s"},
    {"Dc", "Dc", "Dc", "h"},
    {"Dw", "D\u033d", "Dw", "h"},
    {"Mc", "Mc", "Mc", ""},
    {"lap", "\u0394", "lap", "hs"},
};

/* Names of operators along all axes. */
static const char *const vector_names[][2] = {
    {"grad", "Dm"},         {"\u2207\u208b", "Dm"},  {"\u2207\u2095", "Dm"},
    {"\u2207\u208a", "Dp"}, {"\u0394\u2095", "lap"},
};

static const char axis_letter[3] = {'x', 'y', 'z'};
static const char *const axis_raised[3] = {"\u02e3", "\u02b8", "\u1dbb"};

/* The axes that a text consists of, each once and in order: "xy", "ˣʸ". */
static bool axes_of(const char *text, bool raised, uint32_t *out_axes)
{
    *out_axes = 0;
    for (int32_t d = 0; d < 3; d++) {
        const size_t n = raised ? strlen(axis_raised[d]) : 1;
        const bool here =
            raised ? strncmp(text, axis_raised[d], n) == 0 : text[0] == axis_letter[d];
        if (here) {
            *out_axes |= 1u << d;
            text += n;
        }
    }
    return *out_axes != 0 && text[0] == '\0';
}

static bool is_one(uint32_t axes)
{
    return (axes & (axes - 1)) == 0;
}

/* What follows a stem in a name: "_x", "ˣ", or nothing (axes 0). */
static bool suffix_of(const char *name, const char *stem, uint32_t *out_axes)
{
    const size_t n = strlen(stem);
    if (strncmp(name, stem, n) != 0) {
        return false;
    }
    *out_axes = 0;
    return name[n] == '\0' ||
           (name[n] == '_' && axes_of(name + n + 1, false, out_axes)) ||
           axes_of(name + n, true, out_axes);
}

static bool find_operator(const char *name, rk_word *out)
{
    uint32_t axes = 0;
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        const operator_row *row = &operators[i];
        const bool plain = suffix_of(name, row->name, &axes);
        if ((plain || suffix_of(name, row->printed, &axes)) && is_one(axes) &&
            (axes != 0 || plain || strcmp(row->op, "lap") != 0)) {
            *out = (rk_word){RK_WORD_OPERATOR, row->op, row->spacing, axes, 0};
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(vector_names) / sizeof(vector_names[0]); i++) {
        if (strcmp(name, vector_names[i][0]) == 0) {
            return find_operator(vector_names[i][1], out);
        }
    }
    return false;
}

static bool find_inner(const char *name, rk_word *out)
{
    static const struct {
        const char *name;
        rk_word_kind kind;
    } list[] = {
        {"inner_h", RK_WORD_INNER},           {"inner\u2095", RK_WORD_INNER},
        {"inner_plus", RK_WORD_INNER_PLUS},   {"inner\u208a", RK_WORD_INNER_PLUS},
        {"inner_Gamma", RK_WORD_INNER_GAMMA}, {"inner_\u0393", RK_WORD_INNER_GAMMA},
    };
    *out = (rk_word){.kind = RK_WORD_INNER, .op = "", .spacing = ""};
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        if (strcmp(name, list[i].name) == 0) {
            out->kind = list[i].kind;
            return true;
        }
    }
    const size_t plus = strlen("inner\u208a");
    return (strncmp(name, "inner_", 6) == 0 && axes_of(name + 6, false, &out->axes)) ||
           (strncmp(name, "inner\u208a", plus) == 0 &&
            axes_of(name + plus, true, &out->axes));
}

/* "strain_xy", "strainˣʸ": any two axes, in any order, or one twice. */
static bool find_strain(const char *name, rk_word *out)
{
    if (strncmp(name, "strain", 6) != 0) {
        return false;
    }
    for (int32_t d = 0; d < 3; d++) {
        for (int32_t e = 0; e < 3; e++) {
            char plain[4] = {'_', axis_letter[d], axis_letter[e], '\0'};
            const size_t n = strlen(axis_raised[d]);
            const bool raised = strncmp(name + 6, axis_raised[d], n) == 0 &&
                                strcmp(name + 6 + n, axis_raised[e]) == 0;
            if (raised || strcmp(name + 6, plain) == 0) {
                *out = (rk_word){RK_WORD_STRAIN, "", "", 1u << d, 1u << e};
                return true;
            }
        }
    }
    return false;
}

bool rk_word_find(const char *name, rk_word *out_word)
{
    static const struct {
        const char *name;
        rk_word_kind kind;
    } list[] = {
        {"div", RK_WORD_DIV},           {"div\u2095", RK_WORD_DIV},
        {"curl", RK_WORD_CURL},         {"curl\u2095", RK_WORD_CURL},
        {"restrict", RK_WORD_RESTRICT},
    };
    uint32_t axes = 0;
    if (find_operator(name, out_word) || find_strain(name, out_word) ||
        find_inner(name, out_word)) {
        return true;
    }
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        if (strcmp(name, list[i].name) == 0) {
            *out_word = (rk_word){list[i].kind, "", "", 0, 0};
            return true;
        }
    }
    if (suffix_of(name, "shift", &axes) && axes != 0 && is_one(axes)) {
        *out_word = (rk_word){RK_WORD_SHIFT, "", "", axes, 0};
        return true;
    }
    return false;
}

const char *rk_word_op(rk_unit *unit, const char *op, int32_t axis)
{
    const char *name = rubus__arena_format(unit->arena, "%s_%c", op, axis_letter[axis]);
    return rk_intern(unit, name, (int32_t)strlen(name));
}

bool rk_is_axis_array(const char *name, char *out_kind, int32_t *out_axis)
{
    for (int32_t d = 0; d < 3; d++) {
        if (name[0] != '\0' && strchr("hfswa", name[0]) != NULL && name[1] == '_' &&
            name[2] == axis_letter[d] && name[3] == '\0') {
            *out_kind = name[0];
            *out_axis = d;
            return true;
        }
    }
    return false;
}

uint32_t rk_face_bits(const char *name, int32_t ndim)
{
    static const char *const names[3][6][2] = {
        {{"left", "xmin"}, {"right", "xmax"}},
        {{"left", "xmin"}, {"right", "xmax"}, {"bottom", "ymin"}, {"top", "ymax"}},
        {{"back", "xmin"},
         {"front", "xmax"},
         {"left", "ymin"},
         {"right", "ymax"},
         {"bottom", "zmin"},
         {"top", "zmax"}},
    };
    if (strcmp(name, "boundary") == 0) {
        return (1u << (2 * ndim)) - 1;
    }
    for (int32_t i = 0; i < 2 * ndim; i++) {
        if (strcmp(name, names[ndim - 1][i][0]) == 0 ||
            strcmp(name, names[ndim - 1][i][1]) == 0) {
            return 1u << i;
        }
    }
    return 0;
}

/* --- what the library must hold ---------------------------------------------------- */

static void intern_op(rk_unit *unit, const char *op)
{
    for (int32_t d = 0; d < 3; d++) {
        (void)rk_word_op(unit, op, d);
    }
}

static void intern_calls(rk_unit *unit, const rk_expr *e)
{
    if (e == NULL) {
        return;
    }
    rk_word word;
    if (e->kind == RK_EXPR_CALL && rk_word_find(e->name, &word)) {
        if (word.kind == RK_WORD_OPERATOR) {
            intern_op(unit, word.op);
        } else if (word.kind == RK_WORD_DIV || word.kind == RK_WORD_CURL) {
            intern_op(unit, "Dm");
        } else if (word.kind == RK_WORD_STRAIN) {
            intern_op(unit, "Dm");
            intern_op(unit, "Mm");
        }
    }
    intern_calls(unit, e->a);
    intern_calls(unit, e->b);
    intern_calls(unit, e->c);
    for (int32_t i = 0; i < e->narg; i++) {
        intern_calls(unit, e->arg[i]);
    }
    for (int32_t i = 0; i < e->nsub; i++) {
        intern_calls(unit, e->sub[i].lo);
        intern_calls(unit, e->sub[i].hi);
    }
}

void rk_form_intern(rk_unit *unit)
{
    for (int32_t i = 0; i < unit->module.nform; i++) {
        const rk_stmt *body = unit->module.form[i]->body;
        for (int32_t k = 0; k < body->nbody; k++) {
            intern_calls(unit, body->body[k]->value);
        }
    }
}
