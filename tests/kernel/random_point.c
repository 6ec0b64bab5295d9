/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random per-point kernels, free of races: a point writes its own elements and adds
 * atomically to ints; what it reads elsewhere no point writes. Indices stay inside by the
 * margin of the range, by a guard, or by mod. Loops end: their counters are written by
 * nothing else.
 */
#include "config.h"

#include "tests/kernel/random_kernel.h"

enum { DEPTH = 3, MAX_VAR = 32 };

typedef struct variable {
    const char *name;
    rk_type type;
    int length;  /* of a local array; 0 a scalar */
    bool frozen; /* counter of a loop */
} variable;

typedef struct points {
    random_state *r;
    rubus__arena *arena;
    random_kernel *k;
    int before[3]; /* margins of the range */
    int after[3];
    int nvar;
    variable var[MAX_VAR]; /* in scope */
    int nname;
    int nest;
    bool in_loop;
    int own; /* parameters: first of those that points write at themselves, and number */
    int nown;
    int counts; /* ints to add to */
    int reals;  /* in array with all axes */
    int line;   /* in array along x */
    int gather; /* positions in `line` */
    int ints;   /* in array with all axes */
    int bools;
} points;

static const char *const index_name[] = {"ix", "iy", "iz"};

static const char *make(points *p, rk_type type, int depth, int *out_level);

static const char *wrapped(points *p, rk_type type, int depth, int level)
{
    int has = 0;
    const char *text = make(p, type, depth, &has);
    return random_wrap(p->r, text, has, level);
}

/* --- elements --------------------------------------------------------------------- */

/* An array at the point, moved by no more than the margins allow. */
static const char *at_point(points *p, int param, bool moved)
{
    const random_param *a = &p->k->param[param];
    const char *text = a->name;
    for (int d = 0; d < a->rank; d++) {
        int axis = a->axis[d];
        int most = p->after[axis] + a->off[d];
        int least = -p->before[axis];
        int by = moved && most > least ? least + random_below(p->r, most - least + 1) : 0;
        if (by != 0) {
            random_use(p->r, RANDOM_POINT_OFFSET);
        }
        text = rubus__arena_format(p->arena, by != 0 ? "%s%s%s%+d" : "%s%s%s", text,
                                   d > 0 ? ", " : "[", index_name[axis], by);
    }
    return rubus__arena_format(p->arena, "%s]", text);
}

/* An element along x that a test keeps inside. */
static const char *guarded(points *p, int *out_level)
{
    const char *a = p->k->param[p->line].name;
    random_use(p->r, RANDOM_POINT_GUARD);
    *out_level = RANDOM_SELECT;
    (void)random_op(p->r, RK_OP_SELECT);
    switch (random_below(p->r, 3)) {
    case 0:
        return rubus__arena_format(p->arena, "ix > 2 ? %s[ix-3] : 0.5", a);
    case 1:
        return rubus__arena_format(p->arena,
                                   "ix + 4 < extent(%s, 0) ? %s[ix + 4] : 2 * ix", a, a);
    default:
        return rubus__arena_format(p->arena, "ix > 0 && %s[ix-1] > 0 ? %s[ix-1] : -1.0",
                                   a, a);
    }
}

static const char *gathered(points *p, int *out_level)
{
    const char *a = p->k->param[p->line].name;
    *out_level = RANDOM_POSTFIX;
    if (random_once_in(p->r, 2)) {
        random_use(p->r, RANDOM_POINT_GATHER);
        return rubus__arena_format(p->arena, "%s[%s]", a, at_point(p, p->gather, true));
    }
    (void)random_op(p->r, RK_OP_MOD);
    return rubus__arena_format(p->arena, "%s[mod(%s, extent(%s, 0))]", a,
                               wrapped(p, RK_INT, 1, RANDOM_SELECT), a);
}

/* Index of a local array that stays inside. */
static const char *local_index(points *p, const variable *v)
{
    if (random_once_in(p->r, 2)) {
        return rubus__arena_format(p->arena, "%d", random_below(p->r, v->length));
    }
    (void)random_op(p->r, RK_OP_MOD);
    return rubus__arena_format(p->arena, "mod(%s, %d)",
                               wrapped(p, RK_INT, 1, RANDOM_SELECT), v->length);
}

/* --- leaves ----------------------------------------------------------------------- */

static const char *use_variable(points *p, rk_type type)
{
    for (int attempt = 0; attempt < 6 && p->nvar > 0; attempt++) {
        const variable *v = &p->var[random_below(p->r, p->nvar)];
        if (v->type == type) {
            return v->length == 0 ? v->name
                                  : rubus__arena_format(p->arena, "%s[%s]", v->name,
                                                        local_index(p, v));
        }
    }
    return NULL;
}

static const char *int_leaf(points *p)
{
    static const char *const extent[] = {"nx", "ny", "nz"};
    switch (random_below(p->r, 5)) {
    case 0:
        return index_name[random_below(p->r, p->k->ndim)];
    case 1:
        random_use(p->r, RANDOM_EXTENT_NAME);
        return extent[random_below(p->r, p->k->ndim)];
    case 2:
        random_use(p->r, RANDOM_POINT_EXTENT);
        (void)random_op(p->r, RK_OP_EXTENT);
        return rubus__arena_format(p->arena, "extent(%s, %d)", p->k->param[p->ints].name,
                                   random_below(p->r, p->k->ndim));
    case 3:
        return at_point(p, p->ints, true);
    default:
        return random_int(p->r);
    }
}

static const char *scalar_of(points *p, rk_type type)
{
    for (int k = 0; k < p->k->nparam; k++) {
        if (p->k->param[k].kind == RANDOM_SCALAR && p->k->param[k].type == type) {
            return p->k->param[k].name;
        }
    }
    return random_real(p->r);
}

static const char *own_element(points *p, rk_type type)
{
    int param = p->own + random_below(p->r, p->nown);
    const random_param *a = &p->k->param[param];
    return a->type == type && a->mode == RK_MODE_INOUT ? at_point(p, param, false) : NULL;
}

static const char *leaf(points *p, rk_type type, int *out_level)
{
    *out_level = RANDOM_POSTFIX;
    const char *text = random_once_in(p->r, 3) ? use_variable(p, type) : NULL;
    if (text == NULL && random_once_in(p->r, 4)) {
        text = own_element(p, type);
    }
    if (text != NULL) {
        return text;
    }
    if (type == RK_INT) {
        return int_leaf(p);
    }
    if (type == RK_BOOL) {
        return random_once_in(p->r, 3) ? scalar_of(p, type) : at_point(p, p->bools, true);
    }
    switch (random_below(p->r, 6)) {
    case 0:
        return random_real(p->r);
    case 1:
        return scalar_of(p, type);
    case 2:
        return gathered(p, out_level);
    case 3:
        return guarded(p, out_level);
    default:
        return at_point(p, p->reals, true);
    }
}

typedef struct operands {
    points *p;
    int depth;
} operands;

static const char *operand_of(void *user, rk_type type, int *out_level)
{
    const operands *o = user;
    return make(o->p, type, o->depth - 1, out_level);
}

static const char *make(points *p, rk_type type, int depth, int *out_level)
{
    if (depth <= 0 || random_once_in(p->r, 5)) {
        return leaf(p, type, out_level);
    }
    operands o = {p, depth};
    return random_pointwise(p->r, type, operand_of, &o, out_level);
}

/* --- statements ------------------------------------------------------------------- */

static void add_statements(points *p, random_statement ***at, int n);

static void enter_variable(points *p, const char *name, rk_type type, int length,
                           bool frozen)
{
    if (p->nvar < MAX_VAR) {
        variable v = {name, type, length, frozen};
        p->var[p->nvar++] = v;
    }
}

/* A body of its own: what is declared in it ends with it. */
static void add_body(points *p, random_statement **list, int n, bool loop)
{
    int nvar = p->nvar;
    bool before = p->in_loop;
    p->in_loop = p->in_loop || loop;
    p->nest++;
    add_statements(p, &list, n);
    p->nest--;
    p->in_loop = before;
    p->nvar = nvar;
}

static void add_declaration(points *p, random_statement ***at)
{
    static const char *const name[] = {"", "real", "int", "bool"};
    static const rk_type type[] = {RK_REAL, RK_REAL, RK_INT, RK_BOOL};
    rk_type t = type[random_below(p->r, 4)];
    const char *local = rubus__arena_format(p->arena, "l%d", p->nname++);
    if (random_once_in(p->r, 5)) {
        random_use(p->r, RANDOM_POINT_ARRAY);
        int length = 1 + random_below(p->r, 6);
        (void)random_add_statement(
            p->r, at,
            rubus__arena_format(p->arena, "%s %s[%d];", name[t], local, length));
        enter_variable(p, local, t, length, false);
        return;
    }
    random_use(p->r, RANDOM_POINT_DECL);
    const char *value =
        random_once_in(p->r, 4)
            ? ""
            : rubus__arena_format(p->arena, " = %s", wrapped(p, t, DEPTH, RANDOM_SELECT));
    if (p->nest > 0 && random_once_in(p->r, 4)) { /* hides an index of the kernel */
        random_use(p->r, RANDOM_POINT_HIDE);
        const char *v = rubus__arena_format(p->arena, "{ int ix = %s; %s += ix; }",
                                            wrapped(p, RK_INT, 1, RANDOM_SELECT), local);
        (void)random_add_statement(p->r, at,
                                   rubus__arena_format(p->arena, "%s %s = 0; %s",
                                                       t == RK_BOOL ? "int" : name[t],
                                                       local, v));
        enter_variable(p, local, t == RK_BOOL ? RK_INT : t, 0, false);
        return;
    }
    (void)random_add_statement(
        p->r, at, rubus__arena_format(p->arena, "%s %s%s;", name[t], local, value));
    enter_variable(p, local, t, 0, false);
}

static const char *sign_for(points *p, rk_type type, bool readable)
{
    static const char *const text[] = {"+=", "-=", "*=", "/=", "%="};
    static const random_feature feature[] = {
        RANDOM_SET_ADD, RANDOM_SET_SUB, RANDOM_SET_MUL, RANDOM_SET_DIV, RANDOM_SET_REM};
    if (type == RK_BOOL || !readable || random_once_in(p->r, 2)) {
        random_use(p->r, RANDOM_POINT_SET);
        return "=";
    }
    int pick = random_below(p->r, 4);
    pick = pick == 3 && type == RK_INT ? 4 : pick;
    random_use(p->r, feature[pick]);
    return text[pick];
}

static void add_set(points *p, random_statement ***at)
{
    const char *target = NULL;
    rk_type type = RK_REAL;
    bool readable = true;
    for (int attempt = 0; attempt < 4 && target == NULL && p->nvar > 0; attempt++) {
        const variable *v = &p->var[random_below(p->r, p->nvar)];
        if (!v->frozen) {
            type = v->type;
            target = v->length == 0 ? v->name
                                    : rubus__arena_format(p->arena, "%s[%s]", v->name,
                                                          local_index(p, v));
        }
    }
    if (target == NULL || random_once_in(p->r, 2)) {
        int param = p->own + random_below(p->r, p->nown);
        target = at_point(p, param, false);
        type = p->k->param[param].type;
        readable = p->k->param[param].mode == RK_MODE_INOUT;
    }
    if (type == RK_INT && readable && random_once_in(p->r, 3)) {
        random_use(p->r, RANDOM_POINT_STEP);
        (void)random_add_statement(
            p->r, at,
            rubus__arena_format(p->arena, "%s%s;", target,
                                random_once_in(p->r, 2) ? "++" : "--"));
        return;
    }
    const char *sign = sign_for(p, type, readable);
    (void)random_add_statement(
        p->r, at,
        rubus__arena_format(p->arena, "%s %s %s;", target, sign,
                            wrapped(p, type, DEPTH, RANDOM_SELECT)));
}

static void add_if(points *p, random_statement ***at)
{
    random_statement *s = random_add_statement(
        p->r, at,
        rubus__arena_format(p->arena, "if (%s)", wrapped(p, RK_BOOL, 2, RANDOM_SELECT)));
    random_use(p->r, RANDOM_POINT_IF);
    s->has_body = true;
    add_body(p, &s->body, 1 + random_below(p->r, 2), false);
    if (random_once_in(p->r, 2)) {
        random_use(p->r, RANDOM_POINT_ELSE);
        s->has_other = true;
        add_body(p, &s->other, 1, false);
    }
}

static void add_for(points *p, random_statement ***at)
{
    static const char *const step[] = {"%s++", "%s += 2", "%s = %s + 1"};
    const char *i = rubus__arena_format(p->arena, "i%d", p->nname++);
    const char *next = rubus__arena_format(p->arena, step[random_below(p->r, 3)], i, i);
    const char *end = random_once_in(p->r, 2)
                          ? rubus__arena_format(p->arena, "%d", random_below(p->r, 6))
                          : rubus__arena_format(p->arena, "mod(%s, 5)",
                                                wrapped(p, RK_INT, 1, RANDOM_SELECT));
    random_statement *s = random_add_statement(
        p->r, at,
        rubus__arena_format(p->arena, "for (int %s = 0; %s < %s; %s)", i, i, end, next));
    random_use(p->r, RANDOM_POINT_FOR);
    s->has_body = true;
    int nvar = p->nvar;
    enter_variable(p, i, RK_INT, 0, true);
    add_body(p, &s->body, 1 + random_below(p->r, 3), true);
    p->nvar = nvar;
}

static void add_while(points *p, random_statement ***at)
{
    const char *i = rubus__arena_format(p->arena, "w%d", p->nname++);
    random_statement *start =
        random_add_statement(p->r, at, rubus__arena_format(p->arena, "int %s = 0;", i));
    start->pinned = true;
    const char *also = wrapped(p, RK_BOOL, 1, RANDOM_COMPARE);
    random_statement *s =
        random_add_statement(p->r, at,
                             rubus__arena_format(p->arena, "while (%s < %d && %s)", i,
                                                 1 + random_below(p->r, 4), also));
    random_use(p->r, RANDOM_POINT_WHILE);
    s->has_body = true;
    int nvar = p->nvar;
    enter_variable(p, i, RK_INT, 0, true);
    random_statement **inner = &s->body;
    random_statement *count =
        random_add_statement(p->r, &inner, rubus__arena_format(p->arena, "%s++;", i));
    count->pinned = true;
    add_body(p, inner, 1 + random_below(p->r, 2), true);
    p->nvar = nvar;
}

static void add_leaving(points *p, random_statement ***at)
{
    static const char *const word[] = {"break", "continue", "return"};
    int pick = p->in_loop ? random_below(p->r, 5) : 2;
    pick = pick > 2 ? pick - 3 : pick;
    random_use(p->r, (random_feature)(RANDOM_POINT_BREAK + pick));
    (void)random_add_statement(p->r, at,
                               rubus__arena_format(p->arena, "if (%s) %s;",
                                                   wrapped(p, RK_BOOL, 2, RANDOM_SELECT),
                                                   word[pick]));
}

static void add_atomic(points *p, random_statement ***at)
{
    const char *a = p->k->param[p->counts].name;
    random_use(p->r, RANDOM_POINT_ATOMIC);
    (void)random_add_statement(
        p->r, at,
        rubus__arena_format(p->arena, "atomic_add(%s[mod(%s, extent(%s, 0))], %s);", a,
                            wrapped(p, RK_INT, 1, RANDOM_SELECT), a,
                            wrapped(p, RK_INT, 1, RANDOM_SELECT)));
}

static void add_statements(points *p, random_statement ***at, int n)
{
    for (int k = 0; k < n; k++) {
        int way = random_below(p->r, 14);
        if (way < 4) {
            add_declaration(p, at);
        } else if (way == 4 && p->nest < 3) {
            add_if(p, at);
        } else if (way == 5 && p->nest < 2) {
            add_for(p, at);
        } else if (way == 6 && p->nest < 2) {
            add_while(p, at);
        } else if (way == 7 && (p->in_loop || random_once_in(p->r, 4))) {
            add_leaving(p, at);
        } else if (way == 8) {
            add_atomic(p, at);
        } else {
            add_set(p, at);
        }
    }
}

/* --- kernels ---------------------------------------------------------------------- */

static int add_array(points *p, rk_type type, rk_mode mode, int rank, int most)
{
    random_param *a = random_add_param(p->r, RANDOM_ARRAY, type, mode);
    a->rank = rank;
    for (int d = 0; d < rank; d++) {
        a->axis[d] = d;
        a->off[d] = random_below(p->r, most + 1);
    }
    return p->k->nparam - 1;
}

static void add_params(points *p)
{
    int nd = p->k->ndim;
    p->own = add_array(p, RK_REAL, RK_MODE_OUT, nd, 0);
    (void)add_array(p, RK_REAL, RK_MODE_INOUT, nd, 0);
    (void)add_array(p, RK_INT, RK_MODE_INOUT, nd, 0);
    (void)add_array(p, RK_BOOL, RK_MODE_OUT, nd, 0);
    p->nown = 4;
    p->counts = add_array(p, RK_INT, RK_MODE_INOUT, 1, 1);
    p->reals = add_array(p, RK_REAL, RK_MODE_IN, nd, 2);
    p->ints = add_array(p, RK_INT, RK_MODE_IN, nd, 1);
    p->bools = add_array(p, RK_BOOL, RK_MODE_IN, nd, 0);
    p->line = add_array(p, RK_REAL, RK_MODE_IN, 1, 0);
    p->gather = add_array(p, RK_INT, RK_MODE_IN, 1, 0);
    p->k->param[p->gather].is_index = true;
    (void)random_add_param(p->r, RANDOM_SCALAR, RK_REAL, RK_MODE_NONE);
    (void)random_add_param(p->r, RANDOM_SCALAR, RK_BOOL, RK_MODE_NONE);
}

static void choose_range(points *p)
{
    static const char *const extent[] = {"nx", "ny", "nz"};
    const char *text = " over (";
    for (int d = 0; d < p->k->ndim; d++) {
        text = rubus__arena_format(p->arena, "%s%s%s", text, d > 0 ? ", " : "",
                                   index_name[d]);
        if (random_once_in(p->r, 3)) {
            random_use(p->r, RANDOM_POINT_DEFAULT_RANGE);
            continue;
        }
        random_use(p->r, RANDOM_POINT_RANGE);
        p->before[d] = random_below(p->r, 3);
        p->after[d] = random_below(p->r, 3);
        text = rubus__arena_format(p->arena, "%s in %d:%s-%d", text, p->before[d],
                                   extent[d], p->after[d]);
    }
    p->k->over = rubus__arena_format(p->arena, "%s)", text);
}

void random_write_point_kernel(random_state *r)
{
    points p = {.r = r, .arena = r->kernel->arena, .k = r->kernel};
    add_params(&p);
    choose_range(&p);
    random_statement **at = &r->kernel->body;
    (void)random_add_statement(
        r, &at,
        rubus__arena_format(p.arena, "%s = %s;", at_point(&p, p.own, false),
                            wrapped(&p, RK_REAL, DEPTH, RANDOM_SELECT)));
    add_statements(&p, &at, 4 + random_below(r, 6));
}
