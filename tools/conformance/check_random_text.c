/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes random kernels. Whole-array kernels work on fields of two shapes, that of the
 * arrays and that of their inner points; per-point kernels are free of races: a point
 * writes only its own elements, and reads elsewhere only what no point writes.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_random.h"

typedef enum { REAL, INT, BOOL } value_type;

typedef struct writer {
    conform_dice *dice;
    random_program *p;
    int nlet[3][2]; // whole arrays: by type and shape; points: locals by type, at 0
    int budget;     // operations left in this statement
} writer;

/* --- text ------------------------------------------------------------------------- */

static char *format(const char *text, ...) RUBUS_PRINTF(1, 2);

static char *format(const char *text, ...)
{
    va_list args;
    va_start(args, text);
    char *out = NULL;
    conform_true(vasprintf(&out, text, args) >= 0, "no memory for a random kernel");
    va_end(args);
    return out;
}

static int roll(writer *w, int n)
{
    return (int)conform_below(w->dice, n);
}

static char *pick(writer *w, const char *const *list, int n)
{
    return format("%s", list[roll(w, n)]);
}

const char *random_program_prelude(void)
{
    return "op z_twice(A[]) { let g = A[1:] - A[:-1]; return g[1:] - g[:-1]; }\n"
           "op z_twice(A[,]) { let g = d_xa(A); return g[1:, 1:-1] - g[:-1, 1:-1]; }\n"
           "op z_twice(A[,,]) { let g = d_xa(A);\n"
           "    return g[1:, 1:-1, 1:-1] - g[:-1, 1:-1, 1:-1]; }\n"
           "func real z_mix(real a, real b)\n"
           "{\n"
           "    real q[3];\n"
           "    real s = 0.25;\n"
           "    for (int k = 0; k < 3; k++) {\n"
           "        q[k] = a + k * b;\n"
           "        if (q[k] < s) { continue; }\n"
           "        s += q[k] / (k + 1);\n"
           "    }\n"
           "    return b > 1 ? s : s - q[2];\n"
           "}\n"
           "func int z_step(int a, int b)\n"
           "{\n"
           "    int i = mod(a, 7);\n"
           "    while (i > 2) { i -= 2; if (i == b) { break; } }\n"
           "    return i * b - a;\n"
           "}\n";
}

char *random_program_text(const random_program *p, const char *name)
{
    const size_t room = 1000 + (size_t)p->nstatement * RANDOM_ROOM;
    char *text = conform_memory(room);
    const char *hole = strstr(p->head, "%s");
    size_t used = (size_t)snprintf(text, room, "%.*s%s%s\n{\n", (int)(hole - p->head),
                                   p->head, name, hole + 2);
    for (int i = 0; i < p->nstatement; i++) {
        if (!p->dropped[i]) {
            used +=
                (size_t)snprintf(text + used, room - used, "    %s\n", p->statement[i]);
        }
    }
    snprintf(text + used, room - used, "}\n");
    return text;
}

void random_program_free(random_program *p)
{
    for (int i = 0; i < p->nstatement; i++) {
        free(p->statement[i]);
    }
    free(p);
}

/* --- expressions ------------------------------------------------------------------ */

static char *expression(writer *w, value_type type, bool inner);
static char *point_leaf(writer *w, value_type type);

static char *literal(writer *w, value_type type)
{
    static const char *const reals[] = {"0.5",  "1.0",  "2.0",   "0.1", "3.",
                                        "1e-3", "0.25", "1.5e2", "0.0", "7.0"};
    static const char *const ints[] = {"0", "1", "2", "3", "4", "5", "7", "10", "65537"};
    static const char *const bools[] = {"true", "false", "q"};
    return type == REAL  ? pick(w, reals, 10)
           : type == INT ? pick(w, ints, 9)
                         : pick(w, bools, 3);
}

/* A field of the given shape. u, j and m may be written, so they stand only unmoved. */
static char *field_leaf(writer *w, value_type type, bool inner)
{
    static const char *const outer_reals[] = {"a", "u", "pad(v, 0.5)", "a", "b"};
    static const char *const near1[] = {"inn(a)", "inn(u)",     "v",    "a[2:]",
                                        "a[:-2]", "z_twice(a)", "d2(b)"};
    static const char *const near2[] = {
        "inn(a)", "inn(u)", "v", "a[2:, 1:-1]", "a[1:-1, :-2]", "z_twice(a)", "d2_yi(b)"};
    static const char *const near3[] = {
        "inn(a)",     "inn(u)",  "v", "a[2:, 1:-1, 1:-1]", "a[1:-1, 1:-1, :-2]",
        "z_twice(a)", "d2_zi(b)"};
    static const char *const *const near[] = {near1, near2, near3};
    const int nlet = w->nlet[type][inner];
    if (nlet > 0 && roll(w, 3) == 0) {
        return format("t%d%d_%d", type, inner, roll(w, nlet));
    }
    if (type == REAL) {
        return inner ? pick(w, near[w->p->rank - 1], 7)
                     : (roll(w, 6) == 0 ? format(w->p->rank == 1   ? "h"
                                                 : w->p->rank == 2 ? "h[:, *]"
                                                                   : "h[:, *, *]")
                                        : pick(w, outer_reals, 5));
    }
    const char *const ints[] = {"k", "j", "ix(a)", w->p->rank > 1 ? "iy(a)" : "ix(a)"};
    const char *const bools[] = {"m", "m", "a > 0.5"};
    char *all = type == INT ? pick(w, ints, 4) : pick(w, bools, 3);
    if (!inner) {
        return all;
    }
    char *cut =
        strchr(all, '>') == NULL ? format("inn(%s)", all) : format("inn(a) > 0.5");
    free(all);
    return cut;
}

static char *leaf(writer *w, value_type type, bool inner)
{
    const int how = roll(w, 6);
    if (how == 0) {
        return literal(w, type);
    }
    if (how == 1) {
        return format("%s", type == REAL ? "s" : type == INT ? "t" : "q");
    }
    return w->p->per_point ? point_leaf(w, type) : field_leaf(w, type, inner);
}

/* Joins operands by a pattern with up to three holes. */
static char *join(writer *w, const char *pattern, value_type type, bool inner, int n)
{
    char *part[3] = {NULL, NULL, NULL};
    for (int i = 0; i < n; i++) {
        part[i] = expression(w, type, inner);
    }
    char *out = NULL;
    const char *at = pattern;
    size_t size = strlen(pattern) + 1;
    for (int i = 0; i < n; i++) {
        size += strlen(part[i]);
    }
    out = conform_memory(size);
    for (int i = 0; i < n; i++) {
        const char *hole = strchr(at, '@');
        strncat(out, at, (size_t)(hole - at));
        strcat(out, part[i]);
        at = hole + 1;
    }
    strcat(out, at);
    for (int i = 0; i < n; i++) {
        free(part[i]);
    }
    return out;
}

typedef struct form {
    const char *pattern; // operands stand at @
    value_type operand;
    int n;
} form;

static const form real_forms[] = {
    {"@ + @", REAL, 2},          {"@ - @", REAL, 2},        {"(@) * (@)", REAL, 2},
    {"(@) / (@)", REAL, 2},      {"-(@)", REAL, 1},         {"(@)^2", REAL, 1},
    {"(@)^-1", REAL, 1},         {"min(@, @)", REAL, 2},    {"max(@, @)", REAL, 2},
    {"abs(@)", REAL, 1},         {"sqrt(abs(@))", REAL, 1}, {"floor(@)", REAL, 1},
    {"fma(@, @, @)", REAL, 3},   {"real(@)", INT, 1},       {"(@) / (@)", INT, 2},
    {"z_mix(@, @)", REAL, 2},    {"sign(@)", REAL, 1},      {"round(@)", REAL, 1},
    {"trunc(@) * 0.5", REAL, 1},
};
static const form int_forms[] = {
    {"@ + @", INT, 2},     {"@ - @", INT, 2},        {"(@) * (@)", INT, 2},
    {"-(@)", INT, 1},      {"div(@, @)", INT, 2},    {"fld(@, @)", INT, 2},
    {"mod(@, @)", INT, 2}, {"rem(@, @)", INT, 2},    {"(@) % (@)", INT, 2},
    {"min(@, @)", INT, 2}, {"max(@, @)", INT, 2},    {"abs(@)", INT, 1},
    {"int(@)", REAL, 1},   {"z_step(@, @)", INT, 2}, {"(@)^2", INT, 1},
};
static const form bool_forms[] = {
    {"(@) && (@)", BOOL, 2},  {"(@) || (@)", BOOL, 2}, {"!(@)", BOOL, 1},
    {"(@) < (@)", REAL, 2},   {"(@) >= (@)", REAL, 2}, {"(@) == (@)", INT, 2},
    {"(@) != (@)", BOOL, 2},  {"(@) > (@)", INT, 2},   {"isnan(@)", REAL, 1},
    {"isfinite(@)", REAL, 1}, {"(@) <= (@)", INT, 2},
};

static char *expression(writer *w, value_type type, bool inner)
{
    if (--w->budget <= 0 || roll(w, 4) == 0) {
        return leaf(w, type, inner);
    }
    if (roll(w, 9) == 0) { // a choice
        char *condition = expression(w, BOOL, inner);
        char *yes = expression(w, type, inner);
        char *no = expression(w, type, inner);
        char *out = format("((%s) ? %s : %s)", condition, yes, no);
        free(condition);
        free(yes);
        free(no);
        return out;
    }
    static const form *const forms[] = {real_forms, int_forms, bool_forms};
    static const int counts[] = {sizeof real_forms / sizeof real_forms[0],
                                 sizeof int_forms / sizeof int_forms[0],
                                 sizeof bool_forms / sizeof bool_forms[0]};
    const form *f = &forms[type][roll(w, counts[type])];
    return join(w, f->pattern, f->operand, inner, f->n);
}

static char *value(writer *w, value_type type, bool inner)
{
    w->budget = 8;
    return expression(w, type, inner);
}

/* --- whole-array statements ------------------------------------------------------- */

static char *assignment(writer *w)
{
    static const char *const signs[] = {"=", "=", "+=", "-=", "*="};
    char *out = NULL;
    char *x = NULL;
    switch (roll(w, 6)) {
    case 0:
    case 1:
        x = value(w, REAL, false);
        out = format("u %s %s;", signs[roll(w, 5)], x);
        break;
    case 2:
        x = value(w, REAL, true);
        out = format("inn(u) %s %s;", signs[roll(w, 5)], x);
        break;
    case 3:
        x = value(w, REAL, true);
        out = format("v %s %s;", signs[roll(w, 5)], x);
        break;
    case 4:
        x = value(w, INT, false);
        out = format("j %s %s;", signs[roll(w, 5)], x);
        break;
    default:
        x = value(w, BOOL, false);
        out = format("m = %s;", x);
        break;
    }
    free(x);
    return out;
}

static char *whole_statement(writer *w)
{
    const int how = roll(w, 8);
    if (how < 2) {
        const value_type type = roll(w, 3) == 0 ? (value_type)(1 + roll(w, 2)) : REAL;
        const bool inner = roll(w, 2) == 0;
        char *x = value(w, type, inner);
        char *out = format("let t%d%d_%d = %s;", type, inner, w->nlet[type][inner]++, x);
        free(x);
        return out;
    }
    if (how == 2) {
        static const char *const conditions[] = {"q", "s > 0", "t == 1 && !q", "nx > 3"};
        char *yes = assignment(w);
        char *no = assignment(w);
        char *out = format("if (%s) { %s } else { %s }", conditions[roll(w, 4)], yes, no);
        free(yes);
        free(no);
        return out;
    }
    return assignment(w);
}

static const char *const extents[] = {"nx", "nx,ny", "nx,ny,nz"};
static const char *const inner_extents[] = {"nx-2", "nx-2,ny-2", "nx-2,ny-2,nz-2"};

static void write_whole(writer *w)
{
    random_program *p = w->p;
    const char *all = extents[p->rank - 1];
    snprintf(
        p->head, sizeof p->head,
        "kernel %%s(in real a[%s], in real b[%s], inout real u[%s], inout real v[%s], "
        "in int k[%s], inout int j[%s], inout bool m[%s], in real h[nx], real s, int "
        "t, bool q, out real r0, out real r1)",
        all, all, all, inner_extents[p->rank - 1], all, all, all);
    const int n = 3 + roll(w, RANDOM_STATEMENTS - 6);
    for (int i = 0; i < n; i++) {
        p->statement[p->nstatement++] = whole_statement(w);
    }
    static const char *const folds[] = {"sum", "max", "min"};
    for (int i = 0; i < 2; i++) {
        char *x = value(w, REAL, i == 1);
        p->statement[p->nstatement++] = format("r%d = %s(%s + %s);", i, folds[roll(w, 3)],
                                               i == 1 ? "inn(a)" : "a", x);
        free(x);
    }
}

/* --- per-point statements --------------------------------------------------------- */

static const char *const at_point[] = {"[x]", "[x,y]", "[x,y,z]"};

static char *point_leaf(writer *w, value_type type)
{
    const char *at = at_point[w->p->rank - 1];
    if (w->nlet[type][0] > 0 && roll(w, 2) == 0) {
        return format("l%d_%d", type, roll(w, w->nlet[type][0]));
    }
    switch (type) {
    case REAL:
        switch (roll(w, 5)) {
        case 0:
            return format("h[p[x]]");
        case 1:
            return format("(x > 0 ? h[x-1] : 0.5)");
        case 2:
            return format("u%s", at);
        case 3:
            return format("h[mod(%s, nx)]", w->nlet[INT][0] > 0 ? "l1_0 + x" : "x + 3");
        default:
            return format("a%s", at);
        }
    case INT:
        switch (roll(w, 4)) {
        case 0:
            return format("x");
        case 1:
            return format("k%s", at);
        case 2:
            return format("j%s", at);
        default:
            return format("nx");
        }
    default:
        return format("m%s", at);
    }
}

static char *point_assignment(writer *w)
{
    static const char *const signs[] = {"=", "=", "+=", "-=", "*="};
    const char *at = at_point[w->p->rank - 1];
    const int how = roll(w, 5);
    const value_type type = how < 3 ? REAL : how == 3 ? INT : BOOL;
    char *x = value(w, type, false);
    char *out = NULL;
    if (w->nlet[type][0] > 0 && roll(w, 2) == 0) {
        out = format("l%d_%d %s %s;", type, roll(w, w->nlet[type][0]),
                     type == BOOL ? "=" : signs[roll(w, 5)], x);
    } else {
        out = format("%s%s %s %s;",
                     type == REAL  ? "u"
                     : type == INT ? "j"
                                   : "m",
                     at, type == BOOL ? "=" : signs[roll(w, 5)], x);
    }
    free(x);
    return out;
}

static char *block_of(writer *w)
{
    char *first = point_assignment(w);
    char *second = point_assignment(w);
    char *out = format("{ %s %s }", first, second);
    free(first);
    free(second);
    return out;
}

static char *point_statement(writer *w, int number)
{
    static const char *const names[] = {"real", "int", "bool"};
    char *x = NULL;
    char *body = NULL;
    char *out = NULL;
    const value_type type = (value_type)roll(w, 3);
    switch (roll(w, 9)) {
    case 0:
    case 1:
        x = value(w, type, false);
        out = format("%s l%d_%d = %s;", names[type], type, w->nlet[type][0]++, x);
        break;
    case 2:
        x = value(w, BOOL, false);
        body = block_of(w);
        out = format("if (%s) %s", x, body);
        break;
    case 3:
        body = block_of(w);
        x = value(w, BOOL, false);
        out = format("for (int c%d = 0; c%d < %d; c%d++) { if (%s) { continue; } %s }",
                     number, number, 1 + roll(w, 5), number, x, body);
        break;
    case 4:
        body = block_of(w);
        x = value(w, BOOL, false);
        out = format("{ int c%d = %d; while (c%d > 0) { c%d--; if (%s) { break; } %s } }",
                     number, 1 + roll(w, 6), number, number, x, body);
        break;
    case 5:
        x = value(w, INT, false);
        out = format("atomic_add(c[mod(%s, 5)], %d);", x, 1 + roll(w, 9));
        break;
    case 6:
        x = value(w, REAL, false);
        out = format("{ real e[4]; e[mod(x, 4)] = %s; e[1] += e[2]; u%s = e[0] + e[1] - "
                     "e[3]; }",
                     x, at_point[w->p->rank - 1]);
        break;
    default:
        out = point_assignment(w);
        break;
    }
    free(x);
    free(body);
    return out;
}

static void write_points(writer *w)
{
    static const char *const overs[] = {"x in 0:nx", "x in 0:nx, y in 0:ny",
                                        "x in 0:nx, y in 0:ny, z in 0:nz"};
    random_program *p = w->p;
    const char *all = extents[p->rank - 1];
    snprintf(
        p->head, sizeof p->head,
        "kernel %%s(in real a[%s], inout real u[%s], in int k[%s], inout int j[%s], "
        "inout bool m[%s], in real h[nx], in index p[nx], inout int c[5], real s, int "
        "t, bool q) over (%s)",
        all, all, all, all, all, overs[p->rank - 1]);
    const int n = 3 + roll(w, RANDOM_STATEMENTS - 4);
    for (int i = 0; i < n; i++) {
        p->statement[p->nstatement++] = point_statement(w, i);
    }
}

random_program *random_program_make(conform_dice *dice)
{
    random_program *p = conform_memory(sizeof *p);
    writer w = {.dice = dice, .p = p};
    p->rank = 1 + roll(&w, 3);
    p->per_point = roll(&w, 2) == 0;
    if (p->per_point) {
        write_points(&w);
    } else {
        write_whole(&w);
    }
    return p;
}
