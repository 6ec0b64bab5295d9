/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random whole-array kernels: parameters and statements over the expressions that
 * random_field.c makes. Here stand the rules about writing: what may be read in a
 * statement that writes an array, and which LETs die by it.
 */
#include "config.h"

#include "tests/kernel/random_field.h"

#include <string.h>

enum { BUDGET = 60, DEPTH = 4 };

typedef struct writing { /* where a statement writes */
    int param;
    shape shape;
    const char *text;  /* of the left side */
    const char *fixed; /* thin: index that is kept; NULL: full rank */
    int fixed_dim;
    bool whole; /* the array as a whole */
    int shift[3];
} writing;

/* --- parameters ------------------------------------------------------------------- */

static random_param *add_array(fields *f, rk_type type, rk_mode mode, int rank, int least,
                               int most)
{
    random_param *p = random_add_param(f->r, RANDOM_ARRAY, type, mode);
    f->defined[f->k->nparam - 1] = mode != RK_MODE_OUT;
    p->rank = rank;
    int axis = rank == 1 ? random_below(f->r, f->k->ndim) : 0;
    for (int d = 0; d < rank; d++) {
        p->axis[d] = axis + d;
        p->off[d] = least + random_below(f->r, most - least + 1);
    }
    return p;
}

static void add_params(fields *f)
{
    random_kernel *k = f->k;
    int nd = k->ndim;
    (void)add_array(f, RK_REAL, RK_MODE_IN, nd, 0,
                    0); /* names all extents, always readable */
    (void)add_array(f, RK_REAL, RK_MODE_INOUT, nd, 0, 0);
    (void)add_array(f, RK_REAL, RK_MODE_INOUT, nd, -2, 1);
    (void)add_array(f, RK_REAL, RK_MODE_OUT, nd, -2, 0);
    (void)add_array(f, RK_INT, random_once_in(f->r, 2) ? RK_MODE_IN : RK_MODE_INOUT, nd,
                    -1, 1);
    if (random_once_in(f->r, 2)) {
        (void)add_array(f, RK_BOOL, random_once_in(f->r, 2) ? RK_MODE_IN : RK_MODE_INOUT,
                        nd, -1, 0);
    }
    if (random_once_in(f->r, 2)) {
        (void)add_array(f, RK_REAL, random_once_in(f->r, 2) ? RK_MODE_IN : RK_MODE_INOUT,
                        1, -1, 1);
    }
    if (random_once_in(f->r, 3)) {
        random_use(f->r, RANDOM_BLANK);
        add_array(f, RK_REAL, RK_MODE_IN, nd, -1, 1)->blank = true;
    }
    (void)random_add_param(f->r, RANDOM_SCALAR, RK_REAL, RK_MODE_NONE);
    (void)random_add_param(f->r, RANDOM_SCALAR, RK_INT, RK_MODE_NONE);
    if (random_once_in(f->r, 2)) {
        (void)random_add_param(f->r, RANDOM_SCALAR, RK_BOOL, RK_MODE_NONE);
    }
}

/* --- statements ------------------------------------------------------------------- */

static void kill_lets(fields *f, int param)
{
    for (int k = 0; k < f->nlet; k++) {
        f->let[k].dead = f->let[k].dead || f->let[k].reads[param].kind != READ_NOT;
    }
}

/* An array that may be written, -1 if none was hit on. */
static int pick_target(fields *f)
{
    for (int attempt = 0; attempt < 20; attempt++) {
        int p = random_below(f->r, f->k->nparam);
        if (f->k->param[p].kind == RANDOM_ARRAY && f->k->param[p].mode != RK_MODE_IN) {
            return p;
        }
    }
    return -1;
}

/* Writes a layer: all but one axis. */
static void pick_layer(fields *f, writing *w, const shape *all)
{
    static const char *const list[] = {"0", "-1", "1"};
    random_use(f->r, RANDOM_SET_THIN);
    w->fixed = list[random_below(f->r, 3)];
    w->fixed_dim = random_below(f->r, all->rank);
    w->shape.rank = 0;
    w->text = f->k->param[w->param].name;
    for (int d = 0; d < all->rank; d++) {
        if (d != w->fixed_dim) {
            w->shape.axis[w->shape.rank] = all->axis[d];
            w->shape.off[w->shape.rank++] = all->off[d];
        }
        w->text = rubus__arena_format(f->arena, "%s%s%s", w->text, d > 0 ? ", " : "[",
                                      d == w->fixed_dim ? w->fixed : ":");
    }
    w->text = rubus__arena_format(f->arena, "%s]", w->text);
}

static writing pick_writing(fields *f, int param)
{
    const random_param *p = &f->k->param[param];
    writing w;
    memset(&w, 0, sizeof(w));
    w.param = param;
    w.shape = random_shape_of(p);
    w.text = p->name;
    shape all = w.shape;
    int way = random_below(f->r, 8);
    if (way == 0 && p->rank == f->k->ndim) {
        pick_layer(f, &w, &all);
    } else if (way == 1) {
        random_use(f->r, RANDOM_SET_OP);
        w.text = rubus__arena_format(f->arena, "inn(%s)", p->name);
        for (int d = 0; d < p->rank; d++) {
            w.shape.off[d] -= 2;
            w.shift[d] = 1;
        }
    } else if (way < 4) {
        bool fixed;
        random_use(f->r, RANDOM_SET_SLICE);
        for (int d = 0; d < p->rank; d++) {
            w.shape.off[d] -= random_below(f->r, 3);
        }
        const char *cut = random_cut(f, &all, &w.shape, true, w.shift, &fixed);
        w.text = rubus__arena_format(f->arena, "%s%s", p->name, cut);
        w.whole = memcmp(&all, &w.shape, sizeof(all)) == 0;
    } else {
        w.whole = true;
    }
    return w;
}

/* The target's own elements: as they are, those of a LET, or of another layer. */
static const char *own_elements(fields *f, const writing *w)
{
    if (w->fixed != NULL && random_once_in(f->r, 2)) {
        const char *text = f->k->param[w->param].name;
        int rank = f->k->param[w->param].rank;
        const char *other = w->fixed[0] == '0' ? "-2" : w->fixed[0] == '-' ? "1" : "0";
        for (int d = 0; d < rank; d++) {
            text = rubus__arena_format(f->arena, "%s%s%s", text, d > 0 ? ", " : "[",
                                       d == w->fixed_dim ? other : ":");
        }
        return rubus__arena_format(f->arena, "%s]", text);
    }
    for (int k = 0; k < f->nlet; k++) {
        const let *l = &f->let[k];
        if (w->fixed == NULL && !l->dead && l->type == f->k->param[w->param].type &&
            memcmp(&l->shape, &w->shape, sizeof(shape)) == 0 &&
            l->reads[w->param].kind == READ_AT && l->cost <= f->budget &&
            memcmp(l->reads[w->param].off, w->shift, sizeof(w->shift)) == 0) {
            return l->name;
        }
    }
    return w->text;
}

static const char *assignment_sign(fields *f, rk_type type, bool readable)
{
    static const char *const text[] = {"+=", "-=", "*=", "/="};
    static const random_feature feature[] = {RANDOM_SET_ADD, RANDOM_SET_SUB,
                                             RANDOM_SET_MUL, RANDOM_SET_DIV};
    if (type == RK_BOOL || !readable || random_below(f->r, 5) < 3) {
        random_use(f->r, RANDOM_SET);
        return "=";
    }
    int pick = random_below(f->r, type == RK_REAL ? 4 : 3);
    random_use(f->r, feature[pick]);
    return text[pick];
}

/* One assignment; top: it runs whatever the conditions. */
static const char *make_assignment(fields *f, int param, bool top)
{
    rk_type type = f->k->param[param].type;
    bool readable = f->defined[param];
    writing w = pick_writing(f, param);
    f->banned = param;
    f->budget = BUDGET;
    f->scale = 1;
    bool from_int = type == RK_REAL && random_once_in(f->r, 12);
    value v = random_field(f, from_int ? RK_INT : type, &w.shape, DEPTH);
    f->banned = -1;
    const char *value_text = v.text;
    if (readable && type != RK_BOOL && random_once_in(f->r, 3)) {
        value_text =
            rubus__arena_format(f->arena, "%s + %s", own_elements(f, &w),
                                random_wrap(f->r, v.text, v.level, RANDOM_PRODUCT));
    }
    const char *sign = assignment_sign(f, type, readable);
    kill_lets(f, param);
    f->defined[param] = readable || (top && w.whole);
    return rubus__arena_format(f->arena, "%s %s %s;", w.text, sign, value_text);
}

static void add_let(fields *f, random_statement ***at)
{
    static const rk_type type[] = {RK_REAL, RK_REAL, RK_REAL, RK_INT, RK_BOOL};
    if (f->nlet == RANDOM_MAX_LET) {
        return;
    }
    let *l = &f->let[f->nlet];
    memset(l, 0, sizeof(*l));
    l->type = type[random_below(f->r, 5)];
    l->shape.rank = random_once_in(f->r, 5) ? 1 : f->k->ndim;
    for (int d = 0; d < l->shape.rank; d++) {
        l->shape.axis[d] = l->shape.rank == 1 ? random_below(f->r, f->k->ndim) : d;
        l->shape.off[d] = random_below(f->r, 4) - 2;
    }
    f->budget = BUDGET / 2;
    f->scale = 1;
    f->padded = false;
    value v = random_solid_field(f, l->type, &l->shape, 3);
    l->cost = BUDGET / 2 - f->budget + 1;
    l->padded = f->padded;
    memcpy(l->reads, v.reads, sizeof(l->reads));
    l->name = rubus__arena_format(f->arena, "t%d", f->nname++);
    f->nlet++;
    random_use(f->r, RANDOM_LET);
    (void)random_add_statement(
        f->r, at, rubus__arena_format(f->arena, "let %s = %s;", l->name, v.text));
}

static void add_assignment(fields *f, random_statement ***at, bool top)
{
    int param = pick_target(f);
    if (param >= 0) {
        (void)random_add_statement(f->r, at, make_assignment(f, param, top));
    }
}

static void add_if(fields *f, random_statement ***at, int nest)
{
    const char *head =
        rubus__arena_format(f->arena, "if (%s)", random_scalar(f, RK_BOOL));
    random_statement *s = random_add_statement(f->r, at, head);
    random_use(f->r, RANDOM_IF);
    s->has_body = true;
    random_statement **inner = &s->body;
    int n = 1 + random_below(f->r, 2);
    for (int k = 0; k < n; k++) {
        if (nest > 0 && random_once_in(f->r, 6)) {
            add_if(f, &inner, nest - 1);
        } else {
            add_assignment(f, &inner, false);
        }
    }
    if (random_once_in(f->r, 2)) {
        random_use(f->r, RANDOM_ELSE);
        s->has_other = true;
        inner = &s->other;
        add_assignment(f, &inner, false);
    }
}

/* let old = u; u = ...; w = what changed. In one pass, for nothing else touches w. */
static void add_old_value(fields *f, random_statement ***at)
{
    int param = 1; /* inout real, full extents */
    const char *u = f->k->param[param].name;
    random_param *change = add_array(f, RK_REAL, RK_MODE_OUT, f->k->ndim, 0, 0);
    shape all = random_shape_of(change);
    random_use(f->r, RANDOM_OLD_VALUE);
    f->banned = param;
    f->budget = BUDGET;
    f->scale = 1;
    value v = random_field(f, RK_REAL, &all, DEPTH);
    f->banned = -1;
    const char *old = rubus__arena_format(f->arena, "t%d", f->nname++);
    (void)random_add_statement(f->r, at,
                               rubus__arena_format(f->arena, "let %s = %s;", old, u));
    const char *set = random_once_in(f->r, 2) ? "=" : "+=";
    (void)random_add_statement(
        f->r, at, rubus__arena_format(f->arena, "%s %s %s;", u, set, v.text));
    (void)random_add_statement(
        f->r, at,
        rubus__arena_format(f->arena, "%s = abs(%s - %s);", change->name, u, old));
    kill_lets(f, param);
}

static void add_result(fields *f, random_statement ***at)
{
    static const char *const text[] = {"sum", "max", "min"};
    int pick = random_below(f->r, 3);
    shape s;
    memset(&s, 0, sizeof(s));
    s.rank = f->k->ndim;
    for (int d = 0; d < s.rank; d++) {
        s.axis[d] = d;
        s.off[d] = -random_below(f->r, 3);
    }
    random_use(f->r, (random_feature)(RANDOM_FOLD_SUM + pick));
    f->budget = BUDGET;
    f->scale = 1;
    value v = random_solid_field(f, RK_REAL, &s, DEPTH);
    const random_param *p = random_add_param(f->r, RANDOM_RESULT, RK_REAL, RK_MODE_OUT);
    (void)random_add_statement(
        f->r, at,
        rubus__arena_format(f->arena, "%s = %s(%s);", p->name, text[pick], v.text));
}

void random_write_field_kernel(random_state *r)
{
    fields f;
    memset(&f, 0, sizeof(f));
    f.r = r;
    f.k = r->kernel;
    f.arena = r->kernel->arena;
    f.banned = -1;
    add_params(&f);
    random_statement **at = &r->kernel->body;
    int n = 3 + random_below(r, 6);
    int nresult = 0;
    int nold = 0;
    (void)random_add_statement(r, &at, make_assignment(&f, 3, true)); /* the out array */
    for (int k = 0; k < n; k++) {
        int way = random_below(r, 13);
        if (way < 4) {
            add_let(&f, &at);
        } else if (way == 4) {
            add_if(&f, &at, 1);
        } else if ((way == 5 || way == 12) && nresult++ < 3) {
            add_result(&f, &at);
        } else if (way == 6 && nold++ == 0) {
            add_old_value(&f, &at);
        } else {
            add_assignment(&f, &at, true);
        }
    }
}
