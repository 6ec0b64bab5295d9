/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole-array kernels of forms. Every statement stands on the points that are written:
 * what a term gives at the point P goes to P + o for each tap o of the test side, so the
 * row r takes it from r - o, where that is on the grid. Each point is written by itself
 * alone. Terms of a face are thin statements, which the planner puts into the same pass.
 */
#include "config.h"

#include "libcore/kernel/form_write.h"

#include <string.h>

/* --- parts of terms ------------------------------------------------------------------ */

/* "a * b * c" of those that are there; "1" of none. */
static const char *product(rk_writer *w, const char *a, const char *b, const char *c)
{
    const char *text = a;
    text = text == NULL ? b : b == NULL ? text : rk_write(w, "%s * %s", text, b);
    text = text == NULL ? c : c == NULL ? text : rk_write(w, "%s * %s", text, c);
    return text == NULL ? "1" : text;
}

static bool is_one(const rk_ir *node)
{
    return node->kind == RK_IR_CONST && node->type == RK_REAL &&
           node->value.u.real >= 1 && node->value.u.real <= 1;
}

static const char *coefficient(rk_writer *w, const rk_tap *tap)
{
    uint32_t axes = 0;
    return is_one(tap->coef) ? NULL : rk_write_field(w, tap->coef, &axes);
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

/* --- thin statements ----------------------------------------------------------------- */

/* "[0:1, :]" of a face moved by `o` along its axis, without the faces `fixed` of the
 * other axes; NULL: no such row, or one that is constrained. */
static const char *face_rows(rk_writer *w, int32_t face, int32_t o, uint32_t fixed)
{
    const int32_t axis = face / 2;
    const bool upper = face % 2 == 1;
    if ((upper ? o > 0 : o < 0) || (o == 0 && (fixed >> face & 1u) != 0)) {
        return NULL;
    }
    const char *text = "[";
    for (int32_t d = 0; d < w->form->desc.ndim; d++) {
        const char *one = rk_write(w, "%s:%s", (fixed >> (2 * d) & 1u) != 0 ? "1" : "",
                                   (fixed >> (2 * d + 1) & 1u) != 0 ? "-1" : "");
        if (d == axis) {
            one = !upper   ? rk_write(w, "%d:%d", (int)o, (int)o + 1)
                  : o == 0 ? "-1:"
                           : rk_write(w, "-%d:-%d", (int)(1 - o), (int)-o);
        }
        text = rk_write(w, "%s%s%s", text, d > 0 ? ", " : "", one);
    }
    return rk_write(w, "%s]", text);
}

void rk_write_thin(rk_writer *w, const rk_form_term *term, const rk_tap *test,
                   const char *target, const char *value)
{
    const int32_t axis = term->face / 2;
    const uint32_t fixed = rk_fix_faces(w, test->component);
    const char *rows = face_rows(w, term->face, test->offset[axis], fixed);
    if (rows == NULL) {
        return;
    }
    const char *from = face_rows(w, term->face, 0, 0);
    const uint32_t others = fixed & ~(3u << (2 * axis));
    if (w->form->desc.ndim == 1) { // no weight that would give it a size
        value = rk_write_full(w, value);
    }
    value = rk_write(w, "(%s)%s", value, from);
    value = rk_write_moved(w, value, test->offset, axis, "0");
    if (others != 0) { // rows of constrained faces are left out
        const char *inner = "[";
        for (int32_t d = 0; d < w->form->desc.ndim; d++) {
            inner = rk_write(w, "%s%s%s:%s", inner, d > 0 ? ", " : "",
                             (others >> (2 * d) & 1u) != 0 ? "1" : "",
                             (others >> (2 * d + 1) & 1u) != 0 ? "-1" : "");
        }
        value = rk_write(w, "%s%s]", value, inner);
    }
    if (rk_fix_masked(w, test->component)) {
        const char *fix = rk_write_own(w, RK_LEAF_FIXED, test->component, 0, "in");
        value = rk_write(w, "(%s%s ? 0 : %s)", fix, rows, value);
    }
    add_line(w, rk_write(w, "%s%s += %s;", target, rows, value));
}

/* --- apply and vector ---------------------------------------------------------------- */

/* Sum over the terms of the mesh of what row `component` takes; "0" if nothing. what:
 * value of each term. */
static const char *row_sum(rk_writer *w, const char *const *what, int32_t component)
{
    const char *sum = NULL;
    for (int32_t i = 0; i < w->form->nterm; i++) {
        const rk_form_term *term = &w->form->term[i];
        for (int32_t k = 0; k < term->ntest && term->face < 0; k++) {
            const rk_tap *tap = &term->test[k];
            if (tap->component != component) {
                continue;
            }
            const char *one = product(w, coefficient(w, tap), what[i], NULL);
            one = rk_write_moved(w, rk_write(w, "(%s)", one), tap->offset, -1, "0");
            sum = sum == NULL ? one : rk_write(w, "%s + %s", sum, one);
        }
    }
    return sum == NULL ? "0" : sum;
}

/* Value of each term at its point, as lets. */
static const char **term_values(rk_writer *w)
{
    const rk_form *form = w->form;
    const char **what = rk_new(w->unit, ((size_t)form->nterm + 1) * sizeof(*what));
    for (int32_t i = 0; i < form->nterm; i++) {
        const rk_form_term *term = &form->term[i];
        const char *value = product(w, factor(w, term), rk_write_weight(w, term),
                                    rk_write_expr(w, term->a));
        what[i] = add_let(w, rk_write(w, "t%d", (int)i), value);
    }
    return what;
}

static void add_thin(rk_writer *w, const char *const *what, int32_t component,
                     const char *target, const char *scale)
{
    for (int32_t i = 0; i < w->form->nterm; i++) {
        const rk_form_term *term = &w->form->term[i];
        for (int32_t k = 0; k < term->ntest && term->face >= 0; k++) {
            if (term->test[k].component == component) {
                const char *one =
                    product(w, scale, coefficient(w, &term->test[k]), what[i]);
                rk_write_thin(w, term, &term->test[k], target, one);
            }
        }
    }
}

void rk_write_vector(rk_writer *w)
{
    const char **name = rk_new(w->unit, (size_t)w->form->desc.ntest * sizeof(*name));
    for (int32_t c = 0; c < w->form->desc.ntest; c++) {
        name[c] = rk_write_own(w, RK_LEAF_OUT, c, 0, "out");
    }
    w->mesh = name[0];
    const char **what = term_values(w);
    for (int32_t c = 0; c < w->form->desc.ntest; c++) {
        add_line(w, rk_write(w, "%s = %s;", name[c], row_sum(w, what, c)));
        add_thin(w, what, c, name[c], NULL);
    }
}

/* y at `rows` = alpha * value + beta * y, both sliced. */
static void assign_rows(rk_writer *w, const char *y, const char *value, const char *rows)
{
    const char *alpha = rk_write_own(w, RK_LEAF_ALPHA, 0, 0, "in");
    const char *beta = rk_write_own(w, RK_LEAF_BETA, 0, 0, "in");
    add_line(w, rk_write(w, "if (%s == 0) %s%s = %s * %s%s;", beta, y, rows, alpha, value,
                         rows));
    add_line(w, rk_write(w, "else %s%s = %s * %s%s + %s * %s%s;", y, rows, alpha, value,
                         rows, beta, y, rows));
}

/* The faces of a component as slices that share no point, and what is inside them. */
static void assign_pieces(rk_writer *w, const char *y, const char *inside,
                          const char *given, uint32_t faces)
{
    const int32_t ndim = w->form->desc.ndim;
    for (int32_t f = -1; f < 2 * ndim; f++) {
        if (f >= 0 && (faces >> f & 1u) == 0) {
            continue;
        }
        const char *rows = "[";
        for (int32_t d = 0; d < ndim; d++) {
            const bool cut = f < 0 || d < f / 2;
            const char *one =
                rk_write(w, "%s:%s", cut && (faces >> (2 * d) & 1u) != 0 ? "1" : "",
                         cut && (faces >> (2 * d + 1) & 1u) != 0 ? "-1" : "");
            one = f >= 0 && d == f / 2 ? (f % 2 == 0 ? "0:1" : "-1:") : one;
            rows = rk_write(w, "%s%s%s", rows, d > 0 ? ", " : "", one);
        }
        assign_rows(w, y, f < 0 ? inside : given, rk_write(w, "%s]", rows));
    }
}

/* The trial functions as given; in mode SYM the forms see them 0 where constrained. */
static const char **given_names(rk_writer *w)
{
    const rk_form *form = w->form;
    const char **given = rk_new(w->unit, (size_t)form->desc.ntrial * sizeof(*given));
    const int32_t none[3] = {0, 0, 0};
    for (int32_t c = 0; c < form->desc.ntrial; c++) {
        const rk_leaf *leaf = rk_form_leaf(w->form, RK_LEAF_TRIAL, c, 0);
        const uint32_t faces = rk_fix_faces(w, c);
        const bool masked = rk_fix_masked(w, c);
        if (w->fix->mode != RK_FIX_SYM || (faces == 0 && !masked)) {
            given[c] = rk_write_leaf(w, leaf, "in");
            continue;
        }
        rk_leaf other = *leaf;
        other.name = rk_form_name(w->form, "given");
        given[c] = rk_write_leaf(w, &other, "in");
        const char *value = rk_write_inside(w, given[c], faces, none, "0");
        if (masked) {
            value = rk_write(w, "(%s ? 0 : %s)",
                             rk_write_own(w, RK_LEAF_FIXED, c, 0, "in"), given[c]);
        }
        add_line(w, rk_write(w, "let %s = %s;", leaf->name, value));
        w->let_name = rk_extend(w->unit, (void *)(uintptr_t)w->let_name, w->nlet,
                                sizeof(*w->let_name));
        w->let_name[w->nlet++] = leaf->name;
    }
    return given;
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
    const char **what = term_values(w);
    const char *alpha = rk_write_own(w, RK_LEAF_ALPHA, 0, 0, "in");
    for (int32_t c = 0; c < desc->ntest; c++) {
        const char *value = add_let(w, rk_write(w, "s%d", (int)c),
                                    rk_write(w, "(%s)", row_sum(w, what, c)));
        const uint32_t faces = rk_fix_faces(w, c);
        if (rk_fix_masked(w, c)) {
            const char *fix = rk_write_own(w, RK_LEAF_FIXED, c, 0, "in");
            value = rk_write(w, "(%s ? %s : %s)", fix, given[c], value);
        }
        if (faces != 0) {
            assign_pieces(w, name[c], value, given[c], faces);
        } else {
            assign_rows(w, name[c], value, "");
        }
        add_thin(w, what, c, name[c], alpha);
    }
}

/* --- values -------------------------------------------------------------------------- */

void rk_write_value(rk_writer *w)
{
    const rk_form *form = w->form;
    const char *sum[7] = {NULL};
    for (int32_t i = 0; i < form->nterm; i++) {
        const rk_form_term *term = &form->term[i];
        const char *left = product(w, factor(w, term), rk_write_weight(w, term),
                                   rk_write_expr(w, term->a));
        const char *one = product(w, left, rk_write_expr(w, term->b), NULL);
        const char **to = &sum[term->face + 1];
        *to = *to == NULL ? one : rk_write(w, "%s + %s", *to, one);
    }
    for (int32_t k = 0; k < 7; k++) {
        if (sum[k] != NULL) {
            const char *name = rk_write_own(w, RK_LEAF_RESULT, k, 0, "out");
            const char *rows = k == 0 ? "" : face_rows(w, k - 1, 0, 0);
            add_line(w, rk_write(w, "%s = sum((%s)%s);", name, sum[k], rows));
        }
    }
}

/* --- entries of the matrix ----------------------------------------------------------- */

int rk_form_entry_order(const rk_form_entry *a, const rk_form_entry *b)
{
    int order = a->row != b->row ? a->row - b->row : a->column - b->column;
    for (int32_t d = 2; d >= 0 && order == 0; d--) {
        order = a->offset[d] - b->offset[d];
    }
    return order;
}

static rk_form_entry entry_of(const rk_tap *test, const rk_tap *trial)
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
                entry_of(&t->test[k / t->ntrial], &t->trial[k % t->ntrial]);
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

/* What a pair of taps gives at the point of the term; 0 where mode SYM drops it. */
static const char *pair_value(rk_writer *w, const rk_form_term *term, const char *what,
                              const rk_tap *test, const rk_tap *trial)
{
    const char *value = product(w, what, coefficient(w, test), coefficient(w, trial));
    if (w->fix->mode != RK_FIX_SYM) {
        return value;
    }
    value = term->face >= 0 ? rk_write_full(w, value) : value;
    if (rk_fix_masked(w, trial->component)) {
        const char *fix = rk_write_own(w, RK_LEAF_FIXED, trial->component, 0, "in");
        const int32_t back[3] = {-trial->offset[0], -trial->offset[1], -trial->offset[2]};
        fix = rk_write_moved(w, fix, back, -1, "false");
        return rk_write(w, "(%s ? 0 : %s)", fix, value);
    }
    return rk_write_inside(w, value, rk_fix_faces(w, trial->component), trial->offset,
                           "0");
}

/* One array of entries: the terms of the mesh, then those of faces. */
static void write_entry(rk_writer *w, const rk_form_entry *e, const char *name,
                        const char *const *what)
{
    const rk_form *form = w->form;
    const char *sum = NULL;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < form->nterm; i++) {
            const rk_form_term *t = &form->term[i];
            for (int32_t k = 0; k < t->ntest * t->ntrial; k++) {
                const rk_tap *test = &t->test[k / t->ntrial];
                const rk_tap *trial = &t->trial[k % t->ntrial];
                const rk_form_entry own = entry_of(test, trial);
                if ((t->face >= 0) != (pass == 1) || rk_form_entry_order(&own, e) != 0) {
                    continue;
                }
                const char *one = pair_value(w, t, what[i], test, trial);
                if (pass == 1) {
                    rk_write_thin(w, t, test, name, one);
                    continue;
                }
                one = rk_write_moved(w, rk_write(w, "(%s)", one), test->offset, -1, "0");
                sum = sum == NULL ? one : rk_write(w, "%s + %s", sum, one);
            }
        }
        if (pass == 0) {
            const int32_t none[3] = {0, 0, 0};
            const bool diagonal = e->row == e->column && e->offset[0] == 0 &&
                                  e->offset[1] == 0 && e->offset[2] == 0;
            const char *unit = diagonal ? "1" : "0";
            const char *value = sum == NULL ? rk_write_full(w, "0.0") : sum;
            value = rk_write_inside(w, value, rk_fix_faces(w, e->row), none, unit);
            if (rk_fix_masked(w, e->row)) {
                value = rk_write(w, "(%s ? %s : %s)",
                                 rk_write_own(w, RK_LEAF_FIXED, e->row, 0, "in"), unit,
                                 value);
            }
            add_line(w, rk_write(w, "%s = %s;", name, value));
        }
    }
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
    const char **what = rk_new(w->unit, ((size_t)form->nterm + 1) * sizeof(*what));
    for (int32_t i = 0; i < form->nterm; i++) {
        const char *scale = product(w, factor(w, &form->term[i]),
                                    rk_write_weight(w, &form->term[i]), NULL);
        what[i] = add_let(w, rk_write(w, "g%d", (int)i), scale);
    }
    for (int32_t i = 0; i < n; i++) {
        write_entry(w, &entry[i], name[i], what);
    }
    out->nentry = job == RK_JOB_STENCIL ? n : 0;
    out->entry = entry;
}
