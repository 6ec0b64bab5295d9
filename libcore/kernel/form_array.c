/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole-array kernels of forms. Every statement stands on the points that are written:
 * what a term gives at the point P goes to P + o for each tap o of the test side, so the
 * row r takes it from r - o, where that is on the grid. Rows whose taps differ in sign
 * only take the same value. Each point is written by itself
 * alone. What stands on whole faces only, terms and constraints, is chosen by the
 * coordinates of the point, so that all is one pass.
 */
#include "config.h"

#include "libcore/kernel/form_write.h"

#include <string.h>

/* --- parts of terms ---------------------------------------------------------------- */

/* "a * b" of those that are there. */
static const char *times(rk_writer *w, const char *a, const char *b)
{
    return a == NULL ? b : b == NULL ? a : rk_write(w, "%s * %s", a, b);
}

static const char *factor(rk_writer *w, const rk_form_term *term)
{
    return term->number == NULL ? NULL : rk_write_expr(w, term->number);
}

static void add_line(rk_writer *w, const char *text)
{
    rubus__text_format(w->body, "    %s\n", text);
}

/* let NAME = value; gives the name */
static const char *add_let(rk_writer *w, const char *want, const char *value)
{
    const char *name = rk_form_name(w->form, want);
    add_line(w, rk_write(w, "let %s = %s;", name, value));
    return name;
}

/* --- faces ------------------------------------------------------------------------- */

/* Whether the point is on one of the faces. */
static const char *on_faces(rk_writer *w, uint32_t faces)
{
    static const char *const coordinate[3] = {"ix", "iy", "iz"};
    const char *text = NULL;
    for (int32_t f = 0; f < 2 * w->form->desc.ndim; f++) {
        if ((faces >> f & 1u) == 0) {
            continue;
        }
        const char *end =
            f % 2 == 0 ? "0" : rk_write(w, "%s - 1", w->form->extent[f / 2]);
        const char *one = rk_write(w, "%s(%s) == %s", coordinate[f / 2], w->mesh, end);
        text = text == NULL ? one : rk_write(w, "%s || %s", text, one);
    }
    return rk_write(w, "(%s)", text);
}

/* A value of a term where it stands. */
static const char *on_its_face(rk_writer *w, const rk_form_term *term, const char *value)
{
    return term->face < 0
               ? value
               : rk_write(w, "(%s ? %s : 0)", on_faces(w, 1u << term->face), value);
}

/* Whether the point is constrained in a component; NULL: never. */
static const char *constrained(rk_writer *w, int32_t component)
{
    const uint32_t faces = rk_fix_faces(w, component);
    return rk_fix_masked(w, component)
               ? rk_write_own(w, RK_LEAF_FIXED, component, 0, "in")
           : faces != 0 ? on_faces(w, faces)
                        : NULL;
}

/* --- products ---------------------------------------------------------------------- */

/* Products that are lets already. */
typedef struct let {
    const rk_form_term *term;
    const rk_product *product;
    const char *name;
} let;

/* What varies over the mesh in them: products at several points share it. */
typedef struct rest_let {
    const rk_ir *rest;
    const char *name;
} rest_let;

typedef struct lets {
    int32_t n;
    let *item;
    int32_t nrest;
    rest_let *rest;
} lets;

static const char *rest_text(rk_writer *w, lets *all, const rk_ir *rest)
{
    uint32_t axes = 0;
    for (int32_t i = 0; i < all->nrest; i++) {
        if (all->rest[i].rest == rest) {
            return all->rest[i].name;
        }
    }
    const char *text = rk_write_field(w, rest, &axes);
    if (rest->kind == RK_IR_LOAD || axes == 0) {
        return text;
    }
    rk_spend(w->unit, 1 + all->nrest / 4, rest->at_source);
    const char *name = add_let(w, rk_write(w, "q%d", (int)all->nrest), text);
    all->rest = rk_extend(w->unit, all->rest, all->nrest, sizeof(*all->rest));
    all->rest[all->nrest++] = (rest_let){rest, name};
    return name;
}

/* What varies least stands first, so that it is multiplied outside of the inner loop. */
static const char *product_text(rk_writer *w, lets *all, const rk_form_term *term,
                                const rk_product *p, bool row)
{
    uint32_t axes = 0;
    const char *text = p->number == NULL ? NULL : rk_write_field(w, p->number, &axes);
    for (int32_t d = w->ndim - 1; d >= 0; d--) {
        text = times(w, text, p->line[d] == NULL ? NULL : rk_write_line(w, p->line[d]));
    }
    text = times(w, text, p->rest == NULL ? NULL : rest_text(w, all, p->rest));
    text = times(w, text, row && term->written ? rk_write_expr(w, term->a) : NULL);
    return text == NULL ? "1" : text;
}

/* Name of the let of a product of a term, which is made if there is none. */
static const char *product_let(rk_writer *w, lets *all, const rk_form_term *term,
                               const rk_product *p, bool row)
{
    for (int32_t i = 0; i < all->n; i++) {
        const let *old = &all->item[i];
        if (old->term->face == term->face && rk_product_equal(old->product, p) &&
            (old->term == term || !row || (!term->written && !old->term->written))) {
            return old->name;
        }
    }
    rk_spend(w->unit, 1 + all->n / 4, term->at);
    const char *value = on_its_face(w, term, product_text(w, all, term, p, row));
    const char *name = add_let(w, rk_write(w, "p%d", (int)all->n), value);
    all->item = rk_extend(w->unit, all->item, all->n, sizeof(*all->item));
    all->item[all->n++] = (let){term, p, name};
    return name;
}

const char *rk_write_sum(rk_writer *w, const char *sum, bool negative, const char *one)
{
    return sum != NULL ? rk_write(w, "%s %s %s", sum, negative ? "-" : "+", one)
           : negative  ? rk_write(w, "-%s", one)
                       : one;
}

/* --- apply and vector -------------------------------------------------------------- */

/* Sum over the terms of what row `component` takes; "0" if nothing. */
static const char *row_sum(rk_writer *w, lets *all, int32_t component)
{
    const char *sum = NULL;
    for (int32_t i = 0; i < w->form->nterm; i++) {
        const rk_form_term *term = &w->form->term[i];
        for (int32_t k = 0; k < term->ntest; k++) {
            const rk_tap *tap = &term->test[k];
            if (tap->component == component) {
                const char *one = product_let(w, all, term, &term->row[k], true);
                one = rk_write_moved(w, one, tap->offset, "0");
                sum = rk_write_sum(w, sum, term->row[k].negative, one);
            }
        }
    }
    return sum == NULL ? "0" : sum;
}

void rk_write_vector(rk_writer *w)
{
    const char **name = rk_new(w->unit, (size_t)w->form->desc.ntest * sizeof(*name));
    for (int32_t c = 0; c < w->form->desc.ntest; c++) {
        name[c] = rk_write_own(w, RK_LEAF_OUT, c, 0, "out");
    }
    w->mesh = name[0];
    lets all = {0, NULL, 0, NULL};
    for (int32_t c = 0; c < w->form->desc.ntest; c++) {
        add_line(w, rk_write(w, "%s = %s;", name[c], row_sum(w, &all, c)));
    }
}

/* The trial functions as given; in mode SYM the forms see them 0 where constrained. */
static const char **given_names(rk_writer *w)
{
    const rk_form *form = w->form;
    const char **given = rk_new(w->unit, (size_t)form->desc.ntrial * sizeof(*given));
    for (int32_t c = 0; c < form->desc.ntrial; c++) {
        const rk_leaf *leaf = rk_form_leaf(w->form, RK_LEAF_TRIAL, c, 0);
        const char *fixed = w->fix->mode == RK_FIX_SYM ? constrained(w, c) : NULL;
        if (fixed == NULL) {
            given[c] = rk_write_leaf(w, leaf, "in");
            continue;
        }
        rk_leaf other = *leaf;
        other.name = rk_form_name(w->form, "given");
        given[c] = rk_write_leaf(w, &other, "in");
        const char *value = rk_write(w, "%s ? 0 : %s", fixed, given[c]);
        add_line(w, rk_write(w, "let %s = %s;", leaf->name, value));
        w->let_name = rk_extend(w->unit, (void *)(uintptr_t)w->let_name, w->nlet,
                                sizeof(*w->let_name));
        w->let_name[w->nlet++] = leaf->name;
    }
    return given;
}

/* y = alpha * value + beta * y */
static void add_update(rk_writer *w, const char *y, const char *value, int32_t component)
{
    const char *alpha = rk_write_own(w, RK_LEAF_ALPHA, 0, 0, "in");
    const char *beta = rk_write_own(w, RK_LEAF_BETA, 0, 0, "in");
    value = add_let(w, rk_write(w, "s%d", (int)component), value);
    add_line(w, rk_write(w, "if (%s == 0) %s = %s * %s;", beta, y, alpha, value));
    add_line(w, rk_write(w, "else %s = %s * %s + %s * %s;", y, alpha, value, beta, y));
}

void rk_write_apply(rk_writer *w)
{
    const rk_form_desc *desc = &w->form->desc;
    const char **name = rk_new(w->unit, (size_t)desc->ntest * sizeof(*name));
    for (int32_t c = 0; c < desc->ntest; c++) {
        name[c] = rk_write_own(w, RK_LEAF_OUT, c, 0, "inout");
    }
    w->mesh = name[0];
    const char **given = given_names(w);
    lets all = {0, NULL, 0, NULL};
    for (int32_t c = 0; c < desc->ntest; c++) {
        const char *fixed = constrained(w, c);
        const char *value = row_sum(w, &all, c);
        value =
            fixed == NULL ? value : rk_write(w, "%s ? %s : %s", fixed, given[c], value);
        add_update(w, name[c], value, c);
    }
}

/* --- values ------------------------------------------------------------------------ */

/* The sum over the mesh of all terms, each as it is written. */
void rk_write_value(rk_writer *w)
{
    const rk_form *form = w->form;
    const char *result = rk_write_own(w, RK_LEAF_RESULT, 0, 0, "out");
    const rk_leaf *test = NULL;
    for (int32_t i = 0; i < form->nleaf && test == NULL; i++) {
        test = form->leaf[i]->kind == RK_LEAF_TEST ? form->leaf[i] : NULL;
    }
    w->mesh = rk_write_leaf(w, test, "in");
    const char *sum = NULL;
    for (int32_t i = 0; i < form->nterm; i++) {
        const rk_form_term *term = &form->term[i];
        const char *one = times(w, factor(w, term), rk_write_weight(w, term));
        one = times(w, one, rk_write_expr(w, term->a));
        one = times(w, one, rk_write_expr(w, term->b));
        one = on_its_face(w, term, one);
        sum = sum == NULL ? one : rk_write(w, "%s + %s", sum, one);
    }
    add_line(w, rk_write(w, "%s = sum(%s);", result, sum));
}

/* --- entries of the matrix --------------------------------------------------------- */

int rk_form_entry_order(const rk_form_entry *a, const rk_form_entry *b)
{
    int order = a->row != b->row ? a->row - b->row : a->column - b->column;
    for (int32_t d = 2; d >= 0 && order == 0; d--) {
        order = a->offset[d] - b->offset[d];
    }
    return order;
}

bool rk_form_entry_is_diagonal(const rk_form_entry *e)
{
    const rk_form_entry diagonal = {e->row, e->row, {0, 0, 0}};
    return rk_form_entry_order(e, &diagonal) == 0;
}

rk_form_entry rk_form_entry_of(const rk_tap *test, const rk_tap *trial)
{
    rk_form_entry e = {test->component, trial->component, {0, 0, 0}};
    for (int32_t d = 0; d < 3; d++) {
        e.offset[d] = trial->offset[d] - test->offset[d];
    }
    return e;
}

rk_form_entry *rk_form_entries(rk_form *form, int32_t *out_n)
{
    rk_form_entry *list = NULL;
    int32_t n = 0;
    for (int32_t i = 0; i < form->nterm; i++) {
        const rk_form_term *t = &form->term[i];
        for (int32_t k = 0; k < t->ntest * t->ntrial; k++) {
            const rk_form_entry e =
                rk_form_entry_of(&t->test[k / t->ntrial], &t->trial[k % t->ntrial]);
            int32_t at = n;
            while (at > 0 && rk_form_entry_order(&e, &list[at - 1]) < 0) {
                at--;
            }
            rk_spend(form->unit, 2 + n - at, t->at);
            if (at > 0 && rk_form_entry_order(&e, &list[at - 1]) == 0) {
                continue;
            }
            list = rk_extend(form->unit, list, n, sizeof(*list));
            memmove(list + at + 1, list + at, (size_t)(n - at) * sizeof(*list));
            list[at] = e;
            n++;
        }
    }
    *out_n = n;
    return list;
}

/* What a pair of taps gives at the row, up to its sign; 0 where mode SYM drops it. */
static const char *pair_value(rk_writer *w, const char *value, const rk_tap *test,
                              const rk_tap *trial)
{
    const char *fixed =
        w->fix->mode == RK_FIX_SYM ? constrained(w, trial->component) : NULL;
    if (fixed != NULL) {
        const int32_t back[3] = {-trial->offset[0], -trial->offset[1], -trial->offset[2]};
        value =
            rk_write(w, "(%s ? 0 : %s)", rk_write_moved(w, fixed, back, "false"), value);
    }
    return rk_write_moved(w, value, test->offset, "0");
}

static void write_entry(rk_writer *w, const rk_form_entry *e, const char *name, lets *all)
{
    const char *sum = NULL;
    for (int32_t i = 0; i < w->form->nterm; i++) {
        const rk_form_term *t = &w->form->term[i];
        for (int32_t k = 0; k < t->ntest * t->ntrial; k++) {
            const rk_tap *test = &t->test[k / t->ntrial];
            const rk_tap *trial = &t->trial[k % t->ntrial];
            const rk_form_entry own = rk_form_entry_of(test, trial);
            if (rk_form_entry_order(&own, e) == 0) {
                const char *one = product_let(w, all, t, &t->pair[k], false);
                one = pair_value(w, one, test, trial);
                sum = rk_write_sum(w, sum, t->pair[k].negative, one);
            }
        }
    }
    const char *fixed = constrained(w, e->row);
    sum = sum == NULL ? "0.0" : sum;
    add_line(w, fixed == NULL ? rk_write(w, "%s = %s;", name, sum)
                              : rk_write(w, "%s = %s ? %s : %s;", name, fixed,
                                         rk_form_entry_is_diagonal(e) ? "1" : "0", sum));
}

void rk_write_entries(rk_writer *w, rk_form_job job, rk_form_kernel *out)
{
    rk_form *form = w->form;
    int32_t n = 0;
    rk_form_entry *entry = NULL;
    if (job == RK_JOB_STENCIL) {
        entry = rk_form_entries(form, &n);
    } else {
        n = form->desc.ntest;
        entry = rk_new(w->unit, ((size_t)n + 1) * sizeof(*entry));
        for (int32_t c = 0; c < n; c++) {
            entry[c] = (rk_form_entry){c, c, {0, 0, 0}};
        }
    }
    const char **name = rk_new(w->unit, ((size_t)n + 1) * sizeof(*name));
    for (int32_t i = 0; i < n; i++) {
        name[i] = rk_write_own(w, job == RK_JOB_STENCIL ? RK_LEAF_ENTRY : RK_LEAF_OUT, i,
                               0, "out");
    }
    w->mesh = name[0];
    lets all = {0, NULL, 0, NULL};
    for (int32_t i = 0; i < n; i++) {
        write_entry(w, &entry[i], name[i], &all);
    }
    out->nentry = job == RK_JOB_STENCIL ? n : 0;
    out->entry = entry;
}

/* What row `component` of the entries gives; its diagonal is 1 where it is constrained,
 * stored or not. */
static const char *product_sum(rk_writer *w, const rk_form_entry *entry, int32_t n,
                               int32_t component)
{
    const char *sum = NULL;
    bool stored = false;
    for (int32_t i = 0; i < n; i++) {
        const rk_form_entry *e = &entry[i];
        if (e->row != component) {
            continue;
        }
        const rk_leaf *leaf = rk_form_leaf(w->form, RK_LEAF_TRIAL, e->column, 0);
        const int32_t back[3] = {-e->offset[0], -e->offset[1], -e->offset[2]};
        const char *one = rk_write_moved(w, rk_write_leaf(w, leaf, "in"), back, "0");
        one = rk_write(w, "%s * %s", rk_write_own(w, RK_LEAF_ENTRY, i, 0, "in"), one);
        sum = sum == NULL ? one : rk_write(w, "%s + %s", sum, one);
        stored = stored || rk_form_entry_is_diagonal(e);
    }
    const char *fixed = stored ? NULL : constrained(w, component);
    sum = sum == NULL ? "0.0" : sum;
    if (fixed == NULL) {
        return sum;
    }
    const rk_leaf *own = rk_form_leaf(w->form, RK_LEAF_TRIAL, component, 0);
    return rk_write(w, "%s ? %s : %s", fixed, rk_write_leaf(w, own, "in"), sum);
}

void rk_write_product(rk_writer *w, rk_form_kernel *out)
{
    rk_form *form = w->form;
    out->entry = rk_form_entries(form, &out->nentry);
    const char **name = rk_new(w->unit, (size_t)form->desc.ntest * sizeof(*name));
    for (int32_t c = 0; c < form->desc.ntest; c++) {
        name[c] = rk_write_own(w, RK_LEAF_OUT, c, 0, "inout");
    }
    w->mesh = name[0];
    for (int32_t c = 0; c < form->desc.ntest; c++) {
        add_update(w, name[c], product_sum(w, out->entry, out->nentry, c), c);
    }
}

/* --- tables ------------------------------------------------------------------------ */

const char *rk_write_table(rk_writer *w, const rk_table *table)
{
    const rk_writer mesh = *w;
    uint32_t axes = 0;
    w->ndim = 1;
    w->line = true;
    w->mesh = table->leaf->name;
    const char *text = rk_write_field(w, table->value, &axes);
    w->ndim = mesh.ndim;
    w->line = mesh.line;
    w->mesh = mesh.mesh;
    return text;
}

/* Axis by axis: one pass for each. */
void rk_write_tables(rk_writer *w)
{
    for (int32_t i = 0; i < w->form->ntable * w->form->desc.ndim; i++) {
        const rk_table *table = &w->form->table[i % w->form->ntable];
        if (table->leaf->axis == i / w->form->ntable) {
            const char *name = rk_write_leaf(w, table->leaf, "out");
            add_line(w, rk_write(w, "%s = %s;", name, rk_write_table(w, table)));
        }
    }
}
