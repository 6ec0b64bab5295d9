/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inner products, restriction, and sums of products: the terms of a form. Each product
 * becomes one term for every weight, face and diagonal block that it stands for.
 */
#include "config.h"

#include "libcore/kernel/form_value.h"

#include <string.h>

/* --- labels ------------------------------------------------------------------------ */

typedef struct labels {
    int32_t n;
    const rk_expr *const *at; /* [n] */
} labels;

static const rk_form_label *find_label(const rk_form_reader *r, const char *name)
{
    const rk_form_desc *desc = &r->form->desc;
    for (int32_t i = 0; i < desc->nlabel; i++) {
        if (strcmp(desc->label[i].name, name) == 0) {
            return &desc->label[i];
        }
    }
    return NULL;
}

static bool check_label(rk_form_reader *r, const rk_expr *label)
{
    const rk_form_desc *desc = &r->form->desc;
    if (label->kind != RK_EXPR_LABEL) {
        rk_error(r->unit, RK_BAD_LABEL, label->at, "write it between quotes: \"left\"",
                 "this is no label, and only labels may follow");
        return false;
    }
    if (desc->nlabel < 0 || find_label(r, label->name) != NULL) {
        return true;
    }
    const char *list = "";
    for (int32_t i = 0; i < desc->nlabel && i < 32; i++) {
        list = rubus__arena_format(r->unit->arena, "%s%s\"%s\"", list, i > 0 ? ", " : "",
                                   desc->label[i].name);
    }
    rk_error(r->unit, RK_BAD_LABEL, label->at,
             rubus__arena_format(r->unit->arena, "there are %s",
                                 desc->nlabel == 0 ? "none" : list),
             "the mesh has no label \"%s\"", label->name);
    return false;
}

/* The labels from argument `first` on; false: reported. */
static bool read_labels(rk_form_reader *r, const rk_expr *e, int32_t first, labels *out)
{
    out->n = e->narg - first;
    out->at = (const rk_expr *const *)(e->arg + first);
    for (int32_t i = 0; i < out->n; i++) {
        if (!check_label(r, out->at[i])) {
            return false;
        }
    }
    return true;
}

static bool same_set(const rk_label_set *set, const labels *l)
{
    if (set->nlabel != l->n) {
        return false;
    }
    for (int32_t i = 0; i < l->n; i++) {
        if (strcmp(set->label[i], l->at[i]->name) != 0) {
            return false;
        }
    }
    return true;
}

static int32_t set_number(rk_form_reader *r, const labels *l)
{
    rk_form *form = r->form;
    for (int32_t i = 0; i < form->nmask; i++) {
        if (same_set(&form->mask[i], l)) {
            return i;
        }
    }
    form->mask = rk_extend(r->unit, form->mask, form->nmask, sizeof(rk_label_set));
    rk_label_set *set = &form->mask[form->nmask];
    set->nlabel = l->n;
    set->label = rk_new(r->unit, ((size_t)l->n + 1) * sizeof(*set->label));
    for (int32_t i = 0; i < l->n; i++) {
        set->label[i] = l->at[i]->name;
    }
    return form->nmask++;
}

/* mask ? e : 0 */
static rk_form_value *restricted(rk_form_reader *r, rk_form_value *value, rk_span at,
                                 const labels *l)
{
    rk_form_value *mask = rk_form_value_new(r, RK_VALUE_EXPR, at);
    const rk_leaf *leaf = rk_form_leaf(r->form, RK_LEAF_MASK, set_number(r, l), 0);
    mask->expr = rk_leaf_expr(r, leaf, at);
    mask->rank = RK_KIND_FIELD;
    mask->full = true;
    rk_form_value *zero = rk_form_value_new(r, RK_VALUE_EXPR, at);
    zero->expr = rk_expr_int(r->unit, 0, at);
    const rk_expr *model =
        rk_expr_node(r->unit, RK_EXPR_SELECT, RK_OP_SELECT, at, NULL, NULL, NULL);
    rk_form_value *operand[3] = {mask, value, zero};
    return rk_form_map(r, model, operand, 3);
}

/* --- components -------------------------------------------------------------------- */

/* The expression with a whole function replaced by one of its components. */
static rk_expr *part_of(rk_form_reader *r, rk_expr *e, int32_t component)
{
    if (e == NULL) {
        return NULL;
    }
    rk_spend(r->unit, 8, e->at);
    if (e->kind == RK_EXPR_NAME) {
        if (e->decl == NULL) {
            return e;
        }
        const bool trial = e->decl->role == RK_ROLE_TRIAL;
        return rk_leaf_expr(
            r, rk_form_leaf(r->form, trial ? RK_LEAF_TRIAL : RK_LEAF_TEST, component, 0),
            e->at);
    }
    rk_expr *copy = rk_expr_node(r->unit, e->kind, e->op, e->at, NULL, NULL, NULL);
    *copy = *e;
    copy->a = part_of(r, e->a, component);
    copy->b = part_of(r, e->b, component);
    copy->c = part_of(r, e->c, component);
    copy->arg = rk_new(r->unit, ((size_t)e->narg + 1) * sizeof(rk_expr *));
    for (int32_t i = 0; i < e->narg; i++) {
        copy->arg[i] = part_of(r, e->arg[i], component);
    }
    return copy;
}

/* --- terms ------------------------------------------------------------------------- */

static void refuse_sides(rk_form_reader *r, rk_span at, const char *message)
{
    rk_error(r->unit, RK_FORM_SIDES, at,
             r->form->bilinear ? "the trial side comes first, the test side last: "
                                 "inner_h(u, v)"
                               : "the source comes first, the test side last: "
                                 "inner_h(f, v)",
             "%s", message);
}

static bool check_sides(rk_form_reader *r, const rk_form_value *a, const rk_form_value *b)
{
    if ((a->uses & RK_USES_TEST) != 0) {
        refuse_sides(r, a->at,
                     (b->uses & RK_USES_TEST) != 0
                         ? "two test functions in a product"
                         : "the test function stands on the first side of a product");
    } else if ((b->uses & RK_USES_TRIAL) != 0) {
        refuse_sides(r, b->at,
                     (a->uses & RK_USES_TRIAL) != 0
                         ? "two trial functions in a product"
                         : "the trial function stands on the last side of a product");
    } else if ((b->uses & RK_USES_TEST) == 0) {
        refuse_sides(r, b->at, "no test function in a product");
    } else if (r->form->bilinear && (a->uses & RK_USES_TRIAL) == 0) {
        refuse_sides(r, a->at, "no trial function in a product of a bilinear form");
    } else {
        return true;
    }
    return false;
}

static void add_term(rk_form_reader *r, rk_form_value *sum, const rk_form_term *model,
                     rk_expr *a, rk_expr *b)
{
    sum->term = rk_extend(r->unit, sum->term, sum->n, sizeof(rk_form_term));
    sum->term[sum->n] = *model;
    sum->term[sum->n].a = a;
    sum->term[sum->n++].b = b;
}

static void refuse_components(rk_form_reader *r, rk_span at, const char *message)
{
    rk_error(r->unit, RK_BAD_COMPONENT, at,
             "name components on both sides, inner_h(u[0], v[1]), or on none", "%s",
             message);
}

/* The term, or one for each diagonal block if it names no components. */
static bool add_blocks(rk_form_reader *r, rk_form_value *sum, const rk_form_term *model,
                       const rk_form_value *a, const rk_form_value *b)
{
    const rk_form_desc *desc = &r->form->desc;
    const uint32_t whole = (a->uses | b->uses) & (RK_WHOLE_TRIAL | RK_WHOLE_TEST);
    const uint32_t part = (a->uses | b->uses) & (RK_PART_TRIAL | RK_PART_TEST);
    if (whole != 0 && part != 0) {
        refuse_components(r, model->at,
                          "a product names a component of one function, and of another "
                          "all");
        return false;
    }
    if (part != 0 || (whole == 0 && desc->ntest == 1)) {
        add_term(r, sum, model, a->expr, b->expr);
        return true;
    }
    if (r->form->bilinear && desc->ntrial != desc->ntest) {
        refuse_components(
            r, model->at,
            rubus__arena_format(
                r->unit->arena, "the trial space has %d component%s, the test space %d",
                (int)desc->ntrial, desc->ntrial == 1 ? "" : "s", (int)desc->ntest));
        return false;
    }
    for (int32_t c = 0; c < desc->ntest; c++) {
        add_term(r, sum, model, part_of(r, a->expr, c), part_of(r, b->expr, c));
    }
    return true;
}

/* A product of two expressions with one weight. */
static bool add_product(rk_form_reader *r, rk_form_value *sum, const rk_form_term *model,
                        const rk_form_value *a, const rk_form_value *b)
{
    const rk_form_value *side[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        if (side[i]->kind != RK_VALUE_EXPR) {
            const bool terms = side[i]->kind == RK_VALUE_TERMS;
            rk_error(r->unit, terms ? RK_FORM_NUMBER : RK_FORM_TUPLE, side[i]->at,
                     terms ? "multiply the expressions inside the product"
                           : "`inner_plus` takes tuples of one entry for each axis",
                     terms ? "an inner product inside an inner product"
                           : "a tuple where a field is wanted");
            return false;
        }
    }
    return check_sides(r, a, b) && add_blocks(r, sum, model, a, b);
}

/* --- products ---------------------------------------------------------------------- */

static rk_form_value *read_inner(rk_form_reader *r, const rk_word *word,
                                 rk_form_term *model, rk_form_value *a,
                                 const rk_form_value *b)
{
    for (int32_t d = r->form->desc.ndim; d < 3; d++) {
        if ((word->axes & (1u << d)) != 0) {
            return rk_form_no_axis(r, model->at, d);
        }
    }
    rk_form_value *sum = rk_form_value_new(r, RK_VALUE_TERMS, model->at);
    model->staggered = word->axes;
    return add_product(r, sum, model, a, b) ? sum : NULL;
}

static rk_form_value *read_plus(rk_form_reader *r, rk_form_term *model, rk_form_value *a,
                                rk_form_value *b)
{
    const int32_t ndim = r->form->desc.ndim;
    const bool ta = a->kind == RK_VALUE_TUPLE;
    const bool tb = b->kind == RK_VALUE_TUPLE;
    if (ta != tb || (ta && (a->n != ndim || b->n != ndim))) {
        rk_error(r->unit, RK_FORM_TUPLE, model->at,
                 "give two fields, or two tuples of one entry for each axis",
                 "`inner_plus` on a mesh of %d dimension%s of %s and %s", (int)ndim,
                 ndim == 1 ? "" : "s",
                 ta ? rubus__arena_format(r->unit->arena, "a tuple of %d", (int)a->n)
                    : "a field",
                 tb ? rubus__arena_format(r->unit->arena, "a tuple of %d", (int)b->n)
                    : "a field");
        return NULL;
    }
    rk_form_value *sum = rk_form_value_new(r, RK_VALUE_TERMS, model->at);
    for (int32_t d = 0; d < ndim; d++) {
        model->staggered = 1u << d;
        if (!add_product(r, sum, model, ta ? a->item[d] : a, tb ? b->item[d] : b)) {
            return NULL;
        }
    }
    return sum;
}

static uint32_t label_faces(const rk_form_reader *r, const char *name)
{
    const rk_form_label *label = find_label(r, name);
    return label != NULL ? label->faces : rk_face_bits(name, r->form->desc.ndim);
}

/* Faces of the labels, or of the whole boundary without any; 0: reported. */
static uint32_t faces_of(rk_form_reader *r, const labels *l, rk_span at)
{
    uint32_t faces = l->n == 0 ? label_faces(r, "boundary") : 0;
    if (l->n == 0 && faces == 0) {
        rk_error(r->unit, RK_BAD_LABEL, at, "integrals over the boundary need a face",
                 "every axis of the mesh has one point");
    }
    for (int32_t i = 0; i < l->n; i++) {
        const uint32_t bits = label_faces(r, l->at[i]->name);
        if (bits == 0) {
            rk_error(r->unit, RK_BAD_LABEL, l->at[i]->at,
                     "integrals over the boundary take names of faces, or labels made "
                     "of them",
                     "label \"%s\" is not made of whole faces", l->at[i]->name);
            return 0;
        }
        faces |= bits;
    }
    return faces;
}

static rk_form_value *read_gamma(rk_form_reader *r, rk_form_term *model,
                                 const rk_form_value *a, const rk_form_value *b,
                                 const labels *l)
{
    const uint32_t faces = faces_of(r, l, model->at);
    rk_form_value *sum = rk_form_value_new(r, RK_VALUE_TERMS, model->at);
    for (int32_t f = 0; f < 6 && faces != 0; f++) {
        model->face = f;
        if ((faces & (1u << f)) != 0 && !add_product(r, sum, model, a, b)) {
            return NULL;
        }
    }
    return faces == 0 ? NULL : sum;
}

rk_form_value *rk_form_product(rk_form_reader *r, const rk_expr *e, const rk_word *word)
{
    const int32_t want = word->kind == RK_WORD_RESTRICT ? 1 : 2;
    rk_form_value *arg[2] = {NULL, NULL};
    if (e->narg < want || (want == 1 && e->narg == 1)) {
        rk_error(r->unit, RK_WRONG_ARGUMENTS, e->at,
                 want == 1 ? "write restrict(u, \"left\")"
                           : "write inner_h(u, v), with labels behind if wanted",
                 "`%s` has too few arguments", e->name);
        return NULL;
    }
    for (int32_t i = 0; i < want; i++) {
        arg[i] = rk_form_read(r, e->arg[i]);
        if (arg[i] == NULL) {
            return NULL;
        }
        if (arg[i]->kind == RK_VALUE_TERMS) {
            rk_error(r->unit, RK_FORM_NUMBER, e->arg[i]->at,
                     "multiply the expressions inside the product",
                     "`%s` of an inner product", e->name);
            return NULL;
        }
    }
    labels l = {0, NULL};
    if (!read_labels(r, e, want, &l)) {
        return NULL;
    }
    rk_form_term model;
    memset(&model, 0, sizeof(model));
    model.at = e->at;
    model.face = -1;
    if (word->kind == RK_WORD_INNER_GAMMA) {
        return read_gamma(r, &model, arg[0], arg[1], &l);
    }
    if (l.n > 0) {
        arg[0] = restricted(r, arg[0], e->at, &l);
    }
    if (arg[0] == NULL || word->kind == RK_WORD_RESTRICT) {
        return arg[0];
    }
    return word->kind == RK_WORD_INNER_PLUS ? read_plus(r, &model, arg[0], arg[1])
                                            : read_inner(r, word, &model, arg[0], arg[1]);
}

/* --- sums -------------------------------------------------------------------------- */

static void scale_term(rk_form_reader *r, rk_form_term *term, rk_expr_kind kind, rk_op op,
                       rk_expr *number, rk_span at)
{
    rk_expr *one = term->number;
    if (kind == RK_EXPR_BINARY && op == RK_OP_MUL) {
        term->number =
            one == NULL ? number : rk_expr_node(r->unit, kind, op, at, number, one, NULL);
        return;
    }
    one = one != NULL ? one : rk_expr_int(r->unit, 1, at);
    term->number = rk_expr_node(r->unit, kind, op, at, one, number, NULL);
}

static void add_terms(rk_form_reader *r, rk_form_value *sum, const rk_form_value *more)
{
    for (int32_t i = 0; i < more->n; i++) {
        add_term(r, sum, &more->term[i], more->term[i].a, more->term[i].b);
    }
}

/* A sum of terms times, or divided by, what must be a number. */
static rk_form_value *scaled(rk_form_reader *r, const rk_expr *e, rk_op op,
                             const rk_form_value *terms, const rk_form_value *factor)
{
    if (factor->kind != RK_VALUE_EXPR || factor->rank != RK_KIND_NUMBER ||
        factor->uses != 0) {
        rk_error(r->unit, RK_FORM_NUMBER, e->at, "put it inside: inner_h(kappa * u, v)",
                 factor->kind == RK_VALUE_TERMS
                     ? "two inner products are multiplied"
                     : "only numbers multiply an inner product, not fields");
        return NULL;
    }
    rk_form_value *sum = rk_form_value_new(r, RK_VALUE_TERMS, e->at);
    add_terms(r, sum, terms);
    for (int32_t i = 0; i < sum->n; i++) {
        scale_term(r, &sum->term[i], RK_EXPR_BINARY, op, factor->expr, e->at);
    }
    return sum;
}

static rk_form_value *sum_of(rk_form_reader *r, const rk_expr *e, const rk_form_value *a,
                             const rk_form_value *b)
{
    if (a->kind != RK_VALUE_TERMS || (b != NULL && b->kind != RK_VALUE_TERMS)) {
        rk_error(r->unit, RK_FORM_VALUE, e->at, "write every summand as an inner product",
                 "an inner product and a value that is none cannot be added");
        return NULL;
    }
    rk_form_value *sum = rk_form_value_new(r, RK_VALUE_TERMS, e->at);
    const rk_form_value *negated = b == NULL ? a : b;
    if (b != NULL) {
        add_terms(r, sum, a);
    }
    const int32_t first = sum->n;
    add_terms(r, sum, negated);
    for (int32_t i = first; i < sum->n && e->op != RK_OP_ADD; i++) {
        rk_form_term *term = &sum->term[i];
        rk_expr *one =
            term->number != NULL ? term->number : rk_expr_int(r->unit, 1, e->at);
        term->number =
            rk_expr_node(r->unit, RK_EXPR_UNARY, RK_OP_NEG, e->at, one, NULL, NULL);
    }
    return sum;
}

rk_form_value *rk_form_sum(rk_form_reader *r, const rk_expr *e, rk_form_value **operand,
                           int32_t n)
{
    const bool first = operand[0]->kind == RK_VALUE_TERMS;
    if (e->kind == RK_EXPR_UNARY && e->op == RK_OP_NEG) {
        return sum_of(r, e, operand[0], NULL);
    }
    if (e->kind == RK_EXPR_BINARY && (e->op == RK_OP_ADD || e->op == RK_OP_SUB)) {
        return sum_of(r, e, operand[0], operand[1]);
    }
    if (e->kind == RK_EXPR_BINARY && e->op == RK_OP_MUL) {
        return scaled(r, e, e->op, operand[first ? 0 : 1], operand[first ? 1 : 0]);
    }
    if (e->kind == RK_EXPR_BINARY && e->op == RK_OP_DIV && first) {
        return scaled(r, e, e->op, operand[0], operand[1]);
    }
    rk_error(r->unit, RK_FORM_NUMBER, e->at, "use `+`, `-` and factors that are numbers",
             "inner products cannot be operands of `%s`",
             n == 3 ? "?:" : rk_op_spelling(e->op));
    return NULL;
}
