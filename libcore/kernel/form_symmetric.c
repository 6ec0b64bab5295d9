/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a bilinear form is symmetric, seen from its terms: each pair of taps of a term
 * is a contribution to an entry, a product of factors; with rows and columns exchanged
 * the contributions must be the same ones. Factors are equal if their trees are, so an
 * answer of "no" may be wrong, one of "yes" is not.
 */
#include "config.h"

#include "libcore/kernel/form_write.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct factor {
    const rk_ir *node; /* a tree; of guards: the guard, whose box counts */
    bool is_guard;
    int32_t power; /* 1 or -1 */
} factor;

typedef struct contribution {
    const rk_form_term *term;
    const rk_tap *row;
    const rk_tap *column;
    double constant;
    int32_t nfactor;
    factor *factor;
    bool paired;
} contribution;

typedef struct symmetry {
    rk_form *form;
    int32_t n;
    contribution *list;
    bool holds;
} symmetry;

/* --- products ---------------------------------------------------------------------- */

static bool same_factor(const factor *a, const factor *b)
{
    return a->is_guard == b->is_guard && a->power == b->power &&
           (a->is_guard ? rk_box_equal(&a->node->box, &b->node->box)
                        : a->node == b->node);
}

/* once: a condition, which holds or not however often it stands there. */
static void add_factor(symmetry *s, contribution *c, factor f, bool once)
{
    for (int32_t i = 0; once && i < c->nfactor; i++) {
        if (same_factor(&c->factor[i], &f)) {
            return;
        }
    }
    c->factor = rk_extend(s->form->unit, c->factor, c->nfactor, sizeof(*c->factor));
    c->factor[c->nfactor++] = f;
}

static void multiply(symmetry *s, contribution *c, const rk_ir *node, int32_t power)
{
    rk_spend(s->form->unit, 1, node->at_source);
    if (node->kind == RK_IR_CONST && node->type == RK_REAL) {
        c->constant *= power > 0 ? node->value.u.real : 1 / node->value.u.real;
        return;
    }
    const bool apply = node->kind == RK_IR_APPLY;
    if (apply && (node->op == RK_OP_MUL || node->op == RK_OP_DIV)) {
        multiply(s, c, node->a, power);
        multiply(s, c, node->b, node->op == RK_OP_MUL ? power : -power);
        return;
    }
    if (apply && node->op == RK_OP_NEG) {
        c->constant = -c->constant;
        multiply(s, c, node->a, power);
        return;
    }
    if (rk_is_zero_guard(node) && power > 0) {
        add_factor(s, c, (factor){node, true, 1}, true);
        multiply(s, c, node->a, power);
        return;
    }
    if (apply && node->op == RK_OP_SELECT && power > 0 && rk_is_number(node->c, 0)) {
        add_factor(s, c, (factor){node->a, false, 1}, true);
        multiply(s, c, node->b, power);
        return;
    }
    add_factor(s, c, (factor){node, false, power}, false);
}

static void add_pair(symmetry *s, const rk_form_term *term, const rk_tap *row,
                     const rk_tap *column)
{
    contribution c = {.term = term, .row = row, .column = column, .constant = 1};
    multiply(s, &c, row->coef, 1);
    multiply(s, &c, column->coef, 1);
    if (term->scale != NULL) {
        multiply(s, &c, term->scale, 1);
    }
    s->list = rk_extend(s->form->unit, s->list, s->n, sizeof(*s->list));
    s->list[s->n++] = c;
}

/* --- comparing --------------------------------------------------------------------- */

static bool same_place(const rk_tap *a, const rk_tap *b)
{
    return a->component == b->component &&
           memcmp(a->offset, b->offset, sizeof(a->offset)) == 0;
}

static bool has_factors(const contribution *a, const contribution *b)
{
    bool used[64] = {false};
    for (int32_t i = 0; i < a->nfactor; i++) {
        int32_t at = 0;
        while (at < b->nfactor &&
               (used[at] || !same_factor(&a->factor[i], &b->factor[at]))) {
            at++;
        }
        if (at == b->nfactor) {
            return false;
        }
        used[at] = true;
    }
    return true;
}

/* Whether b is a with row and column exchanged. */
static bool mirrors(const contribution *a, const contribution *b)
{
    const double eps = 8 * DBL_EPSILON * fabs(a->constant);
    return same_place(a->row, b->column) && same_place(a->column, b->row) &&
           a->term->staggered == b->term->staggered && a->term->face == b->term->face &&
           a->nfactor == b->nfactor && a->nfactor <= 64 &&
           fabs(a->constant - b->constant) <= eps && has_factors(a, b);
}

static bool pair_up(symmetry *s, contribution *a)
{
    for (int32_t k = 0; k < s->n; k++) {
        contribution *b = &s->list[k];
        rk_spend(s->form->unit, 1, a->term->at);
        if (!b->paired && mirrors(a, b)) {
            a->paired = true;
            b->paired = true;
            return true;
        }
    }
    return false;
}

static void find(void *user)
{
    symmetry *s = user;
    const rk_form *form = s->form;
    for (int32_t i = 0; i < form->nterm; i++) {
        const rk_form_term *t = &form->term[i];
        for (int32_t k = 0; k < t->ntest * t->ntrial; k++) {
            add_pair(s, t, &t->test[k / t->ntrial], &t->trial[k % t->ntrial]);
        }
    }
    bool holds = true;
    for (int32_t i = 0; holds && i < s->n; i++) {
        holds = s->list[i].paired || pair_up(s, &s->list[i]);
    }
    s->holds = holds;
}

rubus_status rk_form_is_symmetric(rk_form *form, bool *out_symmetric)
{
    *out_symmetric = false;
    if (!form->bilinear || form->desc.ntrial != form->desc.ntest) {
        return RUBUS_OK;
    }
    symmetry s = {.form = form};
    bool done = false;
    const rubus_status st = rk_form_run(form->unit, find, &s, &done);
    if (st == RUBUS_OK && form->unit->status == RUBUS_ENOMEM) {
        return rubus__fail(RUBUS_ENOMEM, "form `%s`: out of memory", form->decl->name);
    }
    *out_symmetric = done && s.holds; // not done: too large to tell
    return st;
}
