/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random whole-array kernels. Every expression is made for a shape: a list of axes with
 * extents n[axis] + off. Two rules keep kernels valid: an expression tells of each array
 * whether it reads it, and if so at one offset from its own points or at several; and a
 * statement reads the array that it writes at the offset where it writes, or in another
 * layer. Values of LETs die when an array that they read is written.
 */
#include "config.h"

#include "tests/kernel/random_field.h"

#include <string.h>

static const char *wrapped(fields *f, const value *v, int level)
{
    return random_wrap(f->r, v->text, v->level, level);
}

/* What a user of the value reads, when element p of it is element p + shift of the value.
 * */
static void merge(reads *to, const reads *from, const int *shift)
{
    for (int p = 0; p < RANDOM_MAX_PARAM; p++) {
        if (from[p].kind == READ_NOT) {
            continue;
        }
        reads moved = from[p];
        for (int d = 0; d < 3; d++) {
            moved.off[d] += shift == NULL ? 0 : shift[d];
        }
        if (to[p].kind == READ_NOT) {
            to[p] = moved;
        } else if (moved.kind != READ_AT || to[p].kind != READ_AT ||
                   memcmp(moved.off, to[p].off, sizeof(moved.off)) != 0) {
            to[p].kind = READ_AROUND;
        }
    }
}

static void spread_reads(value *v)
{
    for (int p = 0; p < RANDOM_MAX_PARAM; p++) {
        if (v->reads[p].kind != READ_NOT) {
            v->reads[p].kind = READ_AROUND;
        }
    }
}

/* --- slices ----------------------------------------------------------------------- */

/* `lo:hi` that leaves out lo points at the start and hi at the end of extent n[axis] +
 * off. */
static const char *range_text(fields *f, int axis, int off, int lo, int hi, bool named)
{
    static const char *const extent[] = {"nx", "ny", "nz"};
    const char *first =
        lo > 0 || random_once_in(f->r, 6) ? rubus__arena_format(f->arena, "%d", lo) : "";
    if (named && random_once_in(f->r, 5)) {
        random_use(f->r, RANDOM_SLICE_TO_EXTENT);
        int end = off - hi;
        return end == 0
                   ? rubus__arena_format(f->arena, "%s:%s", first, extent[axis])
                   : rubus__arena_format(f->arena, "%s:%s%+d", first, extent[axis], end);
    }
    const char *last =
        hi > 0 || random_once_in(f->r, 6) ? rubus__arena_format(f->arena, "-%d", hi) : "";
    return rubus__arena_format(f->arena, "%s:%s", first, last);
}

static const char *fixed_text(fields *f)
{
    static const char *const list[] = {"0", "1", "-1", "-2"};
    random_use(f->r, RANDOM_FIXED);
    bool by_scalar = random_once_in(f->r, 4);
    for (int p = 0; by_scalar && p < f->k->nparam; p++) {
        if (f->k->param[p].kind == RANDOM_SCALAR && f->k->param[p].type == RK_INT) {
            random_use(f->r, RANDOM_FIXED_BY_SCALAR);
            return f->k->param[p].name;
        }
    }
    return list[random_below(f->r, 4)];
}

const char *random_cut(fields *f, const shape *from, const shape *to, bool named,
                       int shift[3], bool *out_fixed)
{
    const char *text = "[";
    bool cuts = false;
    int next = 0;
    memset(shift, 0, 3 * sizeof(int));
    *out_fixed = false;
    for (int d = 0; d < from->rank; d++) {
        const char *sub;
        if (next < to->rank && to->axis[next] == from->axis[d]) {
            int spare = from->off[d] - to->off[next];
            spare = spare > 0 ? spare : 0;
            int lo = random_below(f->r, spare + 1);
            cuts = cuts || spare > 0;
            shift[next] = lo;
            sub = range_text(f, from->axis[d], from->off[d], lo, spare - lo, named);
            next++;
        } else {
            sub = fixed_text(f);
            cuts = true;
            *out_fixed = true;
        }
        text = rubus__arena_format(f->arena, "%s%s%s", text, d > 0 ? ", " : "", sub);
    }
    if (!cuts && !random_once_in(f->r, 6)) {
        return "";
    }
    random_use(f->r, RANDOM_SLICE);
    return rubus__arena_format(f->arena, "%s]", text);
}

const char *random_scalar(fields *f, rk_type type)
{
    shape none = {0, {0}, {0}};
    bool before = f->scalars_only;
    f->scalars_only = true;
    value v = random_field(f, type, &none, 1);
    f->scalars_only = before;
    return v.text;
}

/* Grows the value to `to` where that is larger than `have`. */
static void pad_to(fields *f, value *v, rk_type type, const shape *have, const shape *to)
{
    const char *counts = "";
    int shift[3] = {0, 0, 0};
    bool grows = false;
    bool even = true;
    for (int d = 0; d < to->rank; d++) {
        int more = to->off[d] - have->off[d];
        int before = more == 2 ? 1 : random_below(f->r, more + 1);
        grows = grows || more > 0;
        even = even && more == 2;
        shift[d] = -before;
        counts =
            rubus__arena_format(f->arena, "%s, %d:%d", counts, before, more - before);
    }
    if (!grows) {
        return;
    }
    random_use(f->r, even ? RANDOM_PAD : RANDOM_PAD_SOME);
    f->padded = true;
    value padded;
    memset(&padded, 0, sizeof(padded));
    merge(padded.reads, v->reads, shift);
    padded.text = rubus__arena_format(f->arena, "pad(%s, %s%s)", v->text,
                                      random_scalar(f, type), even ? "" : counts);
    padded.level = RANDOM_POSTFIX;
    padded.solid = true;
    *v = padded;
}

/* --- leaves ----------------------------------------------------------------------- */

shape random_shape_of(const random_param *p)
{
    shape s;
    memset(&s, 0, sizeof(s));
    s.rank = p->rank;
    memcpy(s.axis, p->axis, sizeof(s.axis));
    memcpy(s.off, p->off, sizeof(s.off));
    return s;
}

static bool covers(const shape *big, const shape *small)
{
    int next = 0;
    for (int d = 0; d < big->rank; d++) {
        next += next < small->rank && small->axis[next] == big->axis[d] ? 1 : 0;
    }
    return next == small->rank;
}

/* The largest shape inside both. */
static shape smaller(const shape *from, const shape *to)
{
    shape s = *to;
    int next = 0;
    for (int d = 0; d < from->rank && next < s.rank; d++) {
        if (s.axis[next] == from->axis[d]) {
            s.off[next] = from->off[d] < s.off[next] ? from->off[d] : s.off[next];
            next++;
        }
    }
    return s;
}

static value cut_leaf(fields *f, const char *name, rk_type type, const shape *from,
                      const reads *given, const shape *to, bool named)
{
    value v;
    memset(&v, 0, sizeof(v));
    shape middle = smaller(from, to);
    int shift[3];
    bool fixed;
    const char *cut = random_cut(f, from, &middle, named, shift, &fixed);
    v.text = rubus__arena_format(f->arena, "%s%s", name, cut);
    v.level = RANDOM_POSTFIX;
    v.solid = to->rank > 0;
    merge(v.reads, given, shift);
    if (fixed) {
        spread_reads(&v);
    }
    pad_to(f, &v, type, &middle, to);
    return v;
}

/* LET number `pick` cut to the shape, if that can be. */
static bool use_let(fields *f, int pick, rk_type type, const shape *s, value *out)
{
    const let *l = &f->let[pick];
    bool reads_banned = f->banned >= 0 && l->reads[f->banned].kind != READ_NOT;
    if (l->dead || l->type != type || reads_banned || !covers(&l->shape, s) ||
        (l->padded && l->shape.rank != s->rank) || l->cost * f->scale > f->budget) {
        return false;
    }
    f->budget -= l->cost * f->scale;
    f->padded = f->padded || l->padded;
    *out = cut_leaf(f, l->name, type, &l->shape, l->reads, s, false);
    return true;
}

/* Parameter number `pick` cut to the shape, if that can be. */
static bool use_array(fields *f, int pick, rk_type type, const shape *s, value *out)
{
    const random_param *p = &f->k->param[pick];
    shape from = random_shape_of(p);
    if (p->kind != RANDOM_ARRAY || p->type != type || pick == f->banned ||
        !f->defined[pick] || !covers(&from, s)) {
        return false;
    }
    reads own[RANDOM_MAX_PARAM];
    memset(own, 0, sizeof(own));
    own[pick].kind = READ_AT;
    *out = cut_leaf(f, p->name, type, &from, own, s, !p->blank);
    return true;
}

/* An array or a LET of the type, cut to the shape. There is always one for reals. */
static bool make_stored(fields *f, rk_type type, const shape *s, value *out)
{
    for (int attempt = 0; attempt < 8; attempt++) {
        int pick = random_below(f->r, f->k->nparam + f->nlet);
        bool done = pick < f->k->nparam ? use_array(f, pick, type, s, out)
                                        : use_let(f, pick - f->k->nparam, type, s, out);
        if (done) {
            return true;
        }
    }
    for (int pick = 0; pick < f->k->nparam; pick++) {
        if (use_array(f, pick, type, s, out)) {
            return true;
        }
    }
    return false;
}

static value make_scalar(fields *f, rk_type type)
{
    static const char *const extent[] = {"nx", "ny", "nz"};
    value v;
    memset(&v, 0, sizeof(v));
    v.level = RANDOM_POSTFIX;
    for (int attempt = 0; attempt < 6; attempt++) {
        const random_param *p = &f->k->param[random_below(f->r, f->k->nparam)];
        if (p->kind == RANDOM_SCALAR && p->type == type) {
            v.text = p->name;
            return v;
        }
    }
    if (type == RK_INT && random_once_in(f->r, 3)) {
        random_use(f->r, RANDOM_EXTENT_NAME);
        v.text = extent[random_below(f->r, f->k->ndim)];
    } else if (type == RK_BOOL) {
        v.text = random_once_in(f->r, 2) ? "true" : "false";
    } else {
        v.text = type == RK_INT || random_once_in(f->r, 3) ? random_int(f->r)
                                                           : random_real(f->r);
    }
    return v;
}

static value make_coordinate(fields *f, const shape *s)
{
    static const char *const name[] = {"ix", "iy", "iz"};
    value of = random_solid_field(f, RK_REAL, s, 0);
    value v;
    memset(&v, 0, sizeof(v));
    random_use(f->r, RANDOM_COORDINATE);
    v.text = rubus__arena_format(f->arena, "%s(%s)", name[random_below(f->r, s->rank)],
                                 of.text);
    v.level = RANDOM_POSTFIX;
    v.solid = true; /* the values of its field are not read */
    return v;
}

static value make_leaf(fields *f, rk_type type, const shape *s)
{
    value v;
    f->budget -= f->scale;
    if (f->scalars_only || random_once_in(f->r, 6)) {
        return make_scalar(f, type);
    }
    if (type == RK_INT && s->rank > 0 && random_once_in(f->r, 3)) {
        return make_coordinate(f, s);
    }
    return make_stored(f, type, s, &v) ? v : make_scalar(f, type);
}

/* --- values made of others -------------------------------------------------------- */

typedef struct operands {
    fields *f;
    const shape *s;
    int depth;
    value sum; /* what all operands together read */
} operands;

static const char *operand_of(void *user, rk_type type, int *out_level)
{
    operands *o = user;
    value v = random_field(o->f, type, o->s, o->depth - 1);
    merge(o->sum.reads, v.reads, NULL);
    o->sum.solid = o->sum.solid || v.solid;
    *out_level = v.level;
    return v.text;
}

static value make_pointwise(fields *f, rk_type type, const shape *s, int depth)
{
    operands o;
    memset(&o, 0, sizeof(o));
    o.f = f;
    o.s = s;
    o.depth = depth;
    o.sum.text = random_pointwise(f->r, type, operand_of, &o, &o.sum.level);
    return o.sum;
}

typedef struct library_op {
    const char *name;
    int more[3]; /* points that the argument has more */
    int cost;
    bool slice; /* element p of it is element p + more / 2 of the argument */
} library_op;

static const library_op ops_1[] = {
    {"all", {0}, 1, true},     {"inn", {2}, 1, true},      {"d", {1}, 2, false},
    {"d2", {2}, 4, false},     {"av", {1}, 2, false},      {"harm", {1}, 2, false},
    {"maxloc", {2}, 3, false}, {"r_twice", {2}, 4, false}, {"r_flux", {0}, 3, false}};
static const library_op ops_2[] = {
    {"inn", {2, 2}, 1, true},      {"inn_x", {2, 0}, 1, true},
    {"inn_y", {0, 2}, 1, true},    {"d_xa", {1, 0}, 2, false},
    {"d_ya", {0, 1}, 2, false},    {"d_xi", {1, 2}, 2, false},
    {"d_yi", {2, 1}, 2, false},    {"d2_xi", {2, 2}, 4, false},
    {"d2_ya", {0, 2}, 4, false},   {"av", {1, 1}, 4, false},
    {"av_xi", {1, 2}, 2, false},   {"av_ya", {0, 1}, 2, false},
    {"harm_xa", {1, 0}, 2, false}, {"minloc", {2, 2}, 5, false},
    {"r_twice", {2, 0}, 4, false}, {"r_flux", {0, 0}, 3, false}};
static const library_op ops_3[] = {
    {"inn", {2, 2, 2}, 1, true},      {"inn_xy", {2, 2, 0}, 1, true},
    {"d_xa", {1, 0, 0}, 2, false},    {"d_zi", {2, 2, 1}, 2, false},
    {"d2_yi", {2, 2, 2}, 4, false},   {"av_za", {0, 0, 1}, 2, false},
    {"av_xyi", {1, 1, 2}, 4, false},  {"d_ya", {0, 1, 0}, 2, false},
    {"r_twice", {2, 0, 0}, 4, false}, {"r_flux", {0, 0, 0}, 2, false}};

/* An op of the libraries or of the prelude, on an argument that is larger as it needs. */
static value make_op(fields *f, const shape *s, int depth)
{
    static const library_op *const list[] = {ops_1, ops_2, ops_3};
    static const size_t size[] = {sizeof(ops_1), sizeof(ops_2), sizeof(ops_3)};
    const library_op *op =
        &list[s->rank - 1][random_below(f->r, (int)(size[s->rank - 1] / sizeof(*op)))];
    shape larger = *s;
    int shift[3];
    for (int d = 0; d < 3; d++) {
        larger.off[d] += d < s->rank ? op->more[d] : 0;
        shift[d] = d < s->rank ? op->more[d] / 2 : 0;
    }
    bool library = strncmp(op->name, "r_", 2) != 0;
    random_use(f->r, library ? RANDOM_LIBRARY_OP : RANDOM_USER_OP);
    f->padded = f->padded || strcmp(op->name, "r_flux") == 0;
    if (f->scale > 1) {
        random_use(f->r, RANDOM_NESTED_OP);
    }
    int scale = f->scale;
    f->scale *= op->cost;
    value a = random_solid_field(f, RK_REAL, &larger, depth - 1);
    f->scale = scale;
    value v;
    memset(&v, 0, sizeof(v));
    merge(v.reads, a.reads, shift);
    if (!op->slice) {
        spread_reads(&v);
    }
    v.level = RANDOM_POSTFIX;
    v.solid = true;
    v.text = rubus__arena_format(f->arena, "%s(%s)", op->name, a.text);
    if (random_once_in(f->r, 8)) {
        random_use(f->r, RANDOM_USER_OP);
        v.text = rubus__arena_format(f->arena, "r_scale(%s, %s)", v.text,
                                     random_scalar(f, RK_REAL));
    }
    return v;
}

/* A slice of a larger value. */
static value make_cut(fields *f, rk_type type, const shape *s, int depth)
{
    shape larger = *s;
    for (int d = 0; d < s->rank; d++) {
        larger.off[d] += random_below(f->r, 3);
    }
    random_use(f->r, RANDOM_SLICE_OF_VALUE);
    value a = random_solid_field(f, type, &larger, depth - 1);
    return cut_leaf(f, wrapped(f, &a, RANDOM_POSTFIX), type, &larger, a.reads, s, false);
}

/* A larger value out of a smaller one. */
static value make_pad(fields *f, rk_type type, const shape *s, int depth)
{
    shape inner = *s;
    for (int d = 0; d < s->rank; d++) {
        int less = random_once_in(f->r, 2) ? 2 : random_below(f->r, 3);
        inner.off[d] -= inner.off[d] - less >= RANDOM_OFF_LEAST ? less : 0;
    }
    value a = random_solid_field(f, type, &inner, depth - 1);
    pad_to(f, &a, type, &inner, s);
    return a;
}

/* A value of fewer dimensions, lifted and joined with one that has them all. */
static value make_lifted(fields *f, const shape *s, int depth)
{
    int out = random_below(f->r, s->rank);
    shape less = *s;
    const char *subs = "";
    less.rank = 0;
    for (int d = 0; d < s->rank; d++) {
        bool keeps =
            d != out && (s->rank == 2 || less.rank == 0 || random_once_in(f->r, 2));
        if (keeps) {
            less.axis[less.rank] = s->axis[d];
            less.off[less.rank++] = s->off[d];
        }
        subs = rubus__arena_format(f->arena, "%s%s%s", subs, d > 0 ? ", " : "",
                                   keeps ? ":" : "*");
    }
    random_use(f->r, RANDOM_LIFT);
    value a = random_solid_field(f, RK_REAL, &less, depth - 1);
    value b = random_solid_field(f, RK_REAL, s, depth - 1);
    value v;
    memset(&v, 0, sizeof(v));
    spread_reads(&a);
    merge(v.reads, a.reads, NULL);
    merge(v.reads, b.reads, NULL);
    v.solid = true;
    v.level = RANDOM_PRODUCT;
    v.text = rubus__arena_format(f->arena, "%s[%s] %s %s", wrapped(f, &a, RANDOM_POSTFIX),
                                 subs, random_op(f->r, RK_OP_MUL),
                                 wrapped(f, &b, RANDOM_UNARY));
    return v;
}

value random_field(fields *f, rk_type type, const shape *s, int depth)
{
    if (depth <= 0 || f->budget <= 0) {
        return make_leaf(f, type, s);
    }
    f->budget -= f->scale;
    int pick = f->scalars_only || s->rank == 0 ? 0 : random_below(f->r, 12);
    if (type == RK_REAL && pick >= 9) {
        return make_op(f, s, depth);
    }
    if (type == RK_REAL && pick == 8 && s->rank > 1) {
        return make_lifted(f, s, depth);
    }
    if (pick == 7) {
        return make_cut(f, type, s, depth);
    }
    if (pick == 6) {
        return make_pad(f, type, s, depth);
    }
    return pick == 5 ? make_leaf(f, type, s) : make_pointwise(f, type, s, depth);
}

/* As make, but never a value that only spreads. */
value random_solid_field(fields *f, rk_type type, const shape *s, int depth)
{
    value v = random_field(f, type, s, depth);
    if (v.solid || s->rank == 0) {
        return v;
    }
    value with;
    if (type == RK_BOOL || !make_stored(f, type, s, &with)) {
        with = make_coordinate(f, s);
    }
    int level = RANDOM_SUM;
    rk_op op = RK_OP_ADD;
    if (type == RK_BOOL) {
        with.text = rubus__arena_format(f->arena, "(%s < 2)", with.text);
        level = RANDOM_COMPARE;
        op = RK_OP_NE;
    }
    v.text = rubus__arena_format(f->arena, "%s %s %s", wrapped(f, &v, RANDOM_SUM),
                                 random_op(f->r, op), wrapped(f, &with, RANDOM_PRODUCT));
    v.level = level;
    v.solid = true;
    merge(v.reads, with.reads, NULL);
    return v;
}
