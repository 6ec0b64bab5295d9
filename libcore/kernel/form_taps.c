/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The linear part of a lowered tree in the components of a space: for each component and
 * offset that is loaded, its coefficient as a tree.
 *
 * Sums merge, factors and divisors scale, and what guards a value guards its coefficient;
 * a tree that holds a component in any other way is not linear in it. Ops are applied
 * literally, so an operator of an operator is their product as matrices, and a
 * coefficient beneath a shift is read where the tap arrives.
 */
#include "config.h"

#include "libcore/kernel/check.h"
#include "libcore/kernel/form_tree.h"

#include <stdlib.h>
#include <string.h>

typedef struct taps {
    bool bad; /* reported */
    bool depends;
    int32_t n;
    rk_tap *tap;
} taps;

typedef struct finder {
    rk_form *form;
    rk_unit *unit;
    rk_leaf_kind space; /* TRIAL or TEST */
    rk_span side;       /* for messages */
    const char *name;   /* of the function */
    int32_t nmemo;
    taps **memo; /* by number of the node */
} finder;

static const rk_leaf *leaf_of(const finder *f, const rk_ir *node)
{
    return f->form->leaf[node->param];
}

/* --- lists of taps ----------------------------------------------------------------- */

static taps *none(finder *f)
{
    return RK_NEW(f->unit, taps);
}

/* Adds a coefficient to what is there at its component and offset. */
static void add_tap(finder *f, taps *list, const rk_tap *tap, rk_op op, rk_span at)
{
    rk_spend(f->unit, 4 + list->n, at);
    for (int32_t i = 0; i < list->n; i++) {
        rk_tap *old = &list->tap[i];
        if (old->component == tap->component &&
            memcmp(old->offset, tap->offset, sizeof(old->offset)) == 0) {
            old->coef = rk_form_apply(f->form, op, at, old->coef, tap->coef, NULL);
            return;
        }
    }
    list->tap = rk_extend(f->unit, list->tap, list->n, sizeof(rk_tap));
    list->tap[list->n] = *tap;
    if (op == RK_OP_SUB) {
        list->tap[list->n].coef =
            rk_form_apply(f->form, RK_OP_NEG, at, tap->coef, NULL, NULL);
    }
    list->n++;
}

static void add_all(finder *f, taps *list, const taps *more, rk_op op, rk_span at)
{
    for (int32_t i = 0; i < more->n; i++) {
        add_tap(f, list, &more->tap[i], op, at);
    }
}

/* --- what is not linear ------------------------------------------------------------ */

static taps *refuse(finder *f, rk_span at, const char *what)
{
    taps *bad = none(f);
    bad->bad = true;
    const bool inside = at.source != NULL && !at.source->library;
    rk_error(f->unit, RK_NOT_LINEAR, f->side,
             "each side is linear: sums of the function times fields and numbers",
             "not linear in `%s`: %s", f->name, what);
    if (inside && (at.first != f->side.first || at.last != f->side.last)) {
        rk_note(f->unit, at, "here");
    }
    return bad;
}

/* A part that holds nothing of the function adds nothing only if it is 0. */
static bool vanishes(const rk_ir *node)
{
    return node->kind == RK_IR_CONST &&
           (node->type == RK_INT ? node->value.u.i == 0 : rk_is_number(node, 0));
}

/* --- the walk ---------------------------------------------------------------------- */

static taps *find(finder *f, const rk_ir *node);

static taps *find_load(finder *f, const rk_ir *node)
{
    taps *list = none(f);
    const rk_leaf *leaf = leaf_of(f, node);
    if (leaf->kind != f->space) {
        return list;
    }
    rk_tap tap;
    memset(&tap, 0, sizeof(tap));
    tap.component = leaf->number;
    for (int32_t d = 0; d < f->form->desc.ndim; d++) {
        int64_t offset = 0;
        if (node->at[d].axis != d || !rk_affine_is_const(node->at[d].off, &offset) ||
            offset < -1000 || offset > 1000) {
            rk_error(f->unit, RK_FORM_SLICE, f->side,
                     "operators shift by numbers of points: shift_x(u, 1)",
                     "`%s` is read at a fixed place, or at one that depends on the sizes",
                     f->name);
            list->bad = true;
            return list;
        }
        tap.offset[d] = (int32_t)offset;
    }
    tap.coef = rk_form_constant(f->form, 1, node->at_source);
    list->depends = true;
    add_tap(f, list, &tap, RK_OP_ADD, node->at_source);
    return list;
}

static taps *find_sum(finder *f, const rk_ir *node, const taps *a, const taps *b)
{
    const rk_op op = node->op;
    if (op != RK_OP_NEG && (!a->depends || !b->depends)) {
        const rk_ir *rest = a->depends ? node->b : node->a;
        if (!vanishes(rest)) {
            return refuse(f, node->at_source, "a part of the sum does not depend on it");
        }
    }
    taps *list = none(f);
    list->depends = true;
    add_all(f, list, a, op == RK_OP_NEG ? RK_OP_SUB : RK_OP_ADD, node->at_source);
    if (b != NULL) {
        add_all(f, list, b, op, node->at_source);
    }
    return list;
}

static taps *find_product(finder *f, const rk_ir *node, const taps *a, const taps *b)
{
    const bool division = node->op == RK_OP_DIV;
    if (b->depends) {
        if (division || a->depends) {
            return refuse(f, node->at_source,
                          division ? "it stands in a denominator"
                                   : "a product of two expressions of it");
        }
        a = b;
    }
    rk_ir *factor = b->depends ? node->a : node->b;
    taps *list = none(f);
    list->depends = true;
    for (int32_t i = 0; i < a->n; i++) {
        rk_tap tap = a->tap[i];
        tap.coef = division ? rk_form_apply(f->form, RK_OP_DIV, node->at_source, tap.coef,
                                            factor, NULL)
                   : b->depends
                       ? rk_form_times(f->form, node->at_source, factor, tap.coef)
                       : rk_form_times(f->form, node->at_source, tap.coef, factor);
        add_tap(f, list, &tap, RK_OP_ADD, node->at_source);
    }
    return list;
}

/* c ? a : b, or a guard with values a and b. */
static taps *find_choice(finder *f, const rk_ir *node, const rk_ir *yes, const rk_ir *no)
{
    const taps *side[2] = {find(f, yes), find(f, no)};
    taps *list = none(f);
    list->bad = side[0]->bad || side[1]->bad;
    list->depends = side[0]->depends || side[1]->depends;
    if (list->bad || !list->depends) {
        return list;
    }
    if ((!side[0]->depends && !vanishes(yes)) || (!side[1]->depends && !vanishes(no))) {
        return refuse(f, node->at_source,
                      "a choice has a side that does not depend on it");
    }
    rk_ir *zero = rk_form_constant(f->form, 0, node->at_source);
    for (int s = 0; s < 2; s++) {
        for (int32_t i = 0; i < side[s]->n; i++) {
            rk_tap tap = side[s]->tap[i];
            rk_ir *a = s == 0 ? tap.coef : zero;
            rk_ir *b = s == 0 ? zero : tap.coef;
            tap.coef = node->kind == RK_IR_GUARD
                           ? rk_form_guarded(f->form, node, a, b)
                           : rk_form_apply(f->form, RK_OP_SELECT, node->at_source,
                                           node->a, a, b);
            add_tap(f, list, &tap, RK_OP_ADD, node->at_source);
        }
    }
    return list;
}

static taps *find_apply(finder *f, const rk_ir *node)
{
    const taps *a = find(f, node->a);
    const taps *b = node->b == NULL ? NULL : find(f, node->b);
    const taps *c = node->c == NULL ? NULL : find(f, node->c);
    taps *list = none(f);
    list->bad = a->bad || (b != NULL && b->bad) || (c != NULL && c->bad);
    const bool depends =
        a->depends || (b != NULL && b->depends) || (c != NULL && c->depends);
    if (list->bad || !depends) {
        return list;
    }
    switch (node->op) {
    case RK_OP_ADD:
    case RK_OP_SUB:
    case RK_OP_NEG:
        return find_sum(f, node, a, b);
    case RK_OP_MUL:
    case RK_OP_DIV:
        return find_product(f, node, a, b);
    case RK_OP_SELECT:
        return a->depends ? refuse(f, node->at_source, "it stands in a condition")
                          : find_choice(f, node, node->b, node->c);
    default:
        return refuse(f, node->at_source,
                      node->type == RK_BOOL
                          ? "it stands in a condition"
                          : rubus__arena_format(f->unit->arena, "a function of it, `%s`",
                                                rk_op_spelling(node->op)));
    }
}

static taps *find_call(finder *f, const rk_ir *node)
{
    taps *list = none(f);
    for (int32_t i = 0; i < node->narg; i++) {
        const taps *arg = find(f, node->arg[i]);
        list->bad = list->bad || arg->bad;
        list->depends = list->depends || arg->depends;
    }
    return list->bad || !list->depends
               ? list
               : refuse(f, node->at_source,
                        rubus__arena_format(f->unit->arena, "a function of it, `%s`",
                                            node->func->name));
}

static taps *find_kind(finder *f, const rk_ir *node)
{
    switch (node->kind) {
    case RK_IR_LOAD:
        return find_load(f, node);
    case RK_IR_APPLY:
        return find_apply(f, node);
    case RK_IR_CALL:
        return find_call(f, node);
    case RK_IR_GUARD:
        return find_choice(f, node, node->a, node->b);
    default:
        return none(f);
    }
}

/* Nodes of trees that were there before the walk have a place in the memo. */
static taps *find(finder *f, const rk_ir *node)
{
    if (f->memo[node->id] == NULL) {
        taps *list = find_kind(f, node);
        f->memo[node->id] = list;
    }
    return f->memo[node->id];
}

/* --- sides ------------------------------------------------------------------------- */

static int compare_taps(const void *x, const void *y)
{
    const rk_tap *a = x;
    const rk_tap *b = y;
    if (a->component != b->component) {
        return a->component < b->component ? -1 : 1;
    }
    for (int32_t d = 2; d >= 0; d--) {
        if (a->offset[d] != b->offset[d]) {
            return a->offset[d] < b->offset[d] ? -1 : 1;
        }
    }
    return 0;
}

/* Taps of one side, sorted; false: reported. */
static bool find_side(finder *f, const rk_expr *e, const rk_ir *tree, rk_tap **out_tap,
                      int32_t *out_n)
{
    f->side = e->at;
    const taps *list = find(f, tree);
    if (list->bad) {
        return false;
    }
    rk_tap *kept = rk_new(f->unit, ((size_t)list->n + 1) * sizeof(*kept));
    int32_t n = 0;
    for (int32_t i = 0; i < list->n; i++) {
        if (!rk_is_number(list->tap[i].coef, 0)) {
            kept[n++] = list->tap[i];
        }
    }
    if (n == 0) {
        rk_error(f->unit, RK_DROPS_OUT, e->at, "remove the product",
                 "`%s` drops out: its factors here are 0", f->name);
        return false;
    }
    qsort(kept, (size_t)n, sizeof(*kept), compare_taps);
    *out_tap = kept;
    *out_n = n;
    return true;
}

static finder make_finder(rk_form *form, rk_role role)
{
    finder f = {.form = form,
                .unit = form->unit,
                .space = role == RK_ROLE_TRIAL ? RK_LEAF_TRIAL : RK_LEAF_TEST,
                .nmemo = form->lower->nnode};
    f.memo = rk_new(f.unit, ((size_t)f.nmemo + 1) * sizeof(taps *));
    for (int32_t i = 0; i < form->decl->nparam; i++) {
        if (form->decl->param[i]->role == role) {
            f.name = form->decl->param[i]->name;
        }
    }
    return f;
}

bool rk_form_taps(rk_form *form)
{
    finder trial = make_finder(form, RK_ROLE_TRIAL);
    finder test = make_finder(form, RK_ROLE_TEST);
    bool good = true;
    for (int32_t i = 0; i < form->nterm; i++) {
        rk_form_term *t = &form->term[i];
        good = (!form->bilinear ||
                find_side(&trial, t->a, t->lowered_a, &t->trial, &t->ntrial)) &&
               good;
        good = find_side(&test, t->b, t->lowered_b, &t->test, &t->ntest) && good;
    }
    return good;
}
