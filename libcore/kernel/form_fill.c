/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices of forms in rows: per-point kernels in which the owner of a point walks the
 * entries of its rows in the order of their columns. Nothing is searched and nothing set
 * to zero before; a row's place is its rowptr. The same walk counts the entries, writes
 * their columns, and fills in their values, so the three cannot differ.
 *
 * An entry is there when, for some pair of taps, the point of the term, the row and the
 * column are on the grid and the masks on the way hold; the diagonal of a constrained row
 * is always there.
 */
#include "config.h"

#include "libcore/kernel/form_write.h"

#include <string.h>

typedef struct walk {
    rk_writer *w;
    rk_form_job job;
    const char *index[3];
    const char *extent[3];
    const char *at;  /* place of the next entry */
    const char *sum; /* locals of an entry */
    const char *here;
    const char *held;  /* the row is constrained */
    const char *array; /* written */
} walk;

static void line(walk *k, int indent, const char *text)
{
    rubus__text_format(k->w->body, "%*s%s\n", 4 * indent, "", text);
}

static const char *moved(walk *k, int32_t d, int32_t by)
{
    return by == 0  ? k->index[d]
           : by > 0 ? rk_write(k->w, "%s + %d", k->index[d], (int)by)
                    : rk_write(k->w, "%s - %d", k->index[d], (int)-by);
}

/* Whether the point `index + by` is on the grid; NULL: certainly. */
static const char *on_grid(walk *k, const int32_t by[3], const char *before)
{
    const char *text = before;
    for (int32_t d = 0; d < k->w->form->desc.ndim; d++) {
        const char *place = moved(k, d, by[d]);
        const char *one = by[d] < 0   ? rk_write(k->w, "%s >= 0", place)
                          : by[d] > 0 ? rk_write(k->w, "%s < %s", place, k->extent[d])
                                      : NULL;
        if (one != NULL && (text == NULL || strstr(text, one) == NULL)) {
            text = text == NULL ? one : rk_write(k->w, "%s && %s", text, one);
        }
    }
    return text;
}

/* Number of an unknown: its component, then its point. */
static const char *number_of(walk *k, int32_t component, const int32_t by[3])
{
    rk_writer *w = k->w;
    const int32_t ndim = w->form->desc.ndim;
    const char *text = moved(k, ndim - 1, by[ndim - 1]);
    const char *all = k->extent[ndim - 1];
    for (int32_t d = ndim - 2; d >= 0; d--) {
        text = rk_write(w, "%s + %s * (%s)", moved(k, d, by[d]), k->extent[d], text);
        all = rk_write(w, "%s * %s", k->extent[d], all);
    }
    return component == 0 ? text : rk_write(w, "%d * %s + %s", (int)component, all, text);
}

/* Whether the unknown at `index + by` is constrained; NULL: never. */
static const char *constrained(walk *k, int32_t component, const int32_t by[3])
{
    rk_writer *w = k->w;
    const int32_t ndim = w->form->desc.ndim;
    const uint32_t faces = rk_fix_faces(w, component);
    const char *text = NULL;
    if (rk_fix_masked(w, component)) {
        text = rk_write(w, "%s[", rk_write_own(w, RK_LEAF_FIXED, component, 0, "in"));
        for (int32_t d = 0; d < ndim; d++) {
            text = rk_write(w, "%s%s%s", text, d > 0 ? ", " : "", moved(k, d, by[d]));
        }
        return rk_write(w, "%s]", text);
    }
    for (int32_t f = 0; f < 2 * ndim; f++) {
        if ((faces >> f & 1u) != 0) {
            const char *end = f % 2 == 0 ? "0" : rk_write(w, "%s - 1", k->extent[f / 2]);
            const char *one = rk_write(w, "%s == %s", moved(k, f / 2, by[f / 2]), end);
            text = text == NULL ? one : rk_write(w, "%s || %s", text, one);
        }
    }
    return text;
}

/* --- what a pair of taps adds to an entry ------------------------------------------ */

static const char *weight_at(walk *k, const rk_form_term *t, const int32_t back[3])
{
    const char *text = NULL;
    for (int32_t d = 0; d < k->w->form->desc.ndim; d++) {
        if (t->face >= 0 && t->face / 2 == d) {
            continue;
        }
        const bool staggered = (t->staggered >> d & 1u) != 0;
        const char *name =
            rk_write_own(k->w, staggered ? RK_LEAF_A : RK_LEAF_W, 0, d, "in");
        const char *one = rk_write(k->w, "%s[%s]", name, moved(k, d, back[d]));
        text = text == NULL ? one : rk_write(k->w, "%s * %s", text, one);
    }
    return text == NULL ? "1" : rk_write(k->w, "(%s)", text);
}

static void write_pair(walk *k, const rk_form_term *t, const rk_tap *test,
                       const rk_tap *trial)
{
    rk_writer *w = k->w;
    int32_t back[3];
    int32_t column[3];
    for (int32_t d = 0; d < 3; d++) {
        back[d] = -test->offset[d];
        column[d] = trial->offset[d] - test->offset[d];
    }
    const char *when = on_grid(k, column, on_grid(k, back, NULL));
    if (t->face >= 0) {
        const int32_t d = t->face / 2;
        const char *end = t->face % 2 == 0 ? "0" : rk_write(w, "%s - 1", k->extent[d]);
        const char *one = rk_write(w, "%s == %s", moved(k, d, back[d]), end);
        when = when == NULL ? one : rk_write(w, "%s && %s", when, one);
    }
    const rk_ir *coef[2] = {test->coef, trial->coef};
    int indent = when == NULL ? 2 : 3;
    if (when != NULL) {
        line(k, 2, rk_write(w, "if (%s) {", when));
    }
    const char *present = NULL;
    for (int i = 0; i < 2; i++) {
        if (rk_write_masked(w->form, coef[i])) {
            const char *one = rk_write_present(w, coef[i], k->index, test->offset);
            present = present == NULL ? one : rk_write(w, "%s && %s", present, one);
        }
    }
    line(k, indent,
         present == NULL ? rk_write(w, "%s = true;", k->here)
                         : rk_write(w, "%s = %s || %s;", k->here, k->here, present));
    if (k->job == RK_JOB_FILL) {
        const char *scale =
            t->scale == NULL
                ? ""
                : rk_write(w, "%s * ", rk_write_point(w, t->scale, k->index, back));
        line(k, indent,
             rk_write(w, "%s += %s%s * %s * %s;", k->sum, scale, weight_at(k, t, back),
                      rk_write_point(w, coef[0], k->index, test->offset),
                      rk_write_point(w, coef[1], k->index, test->offset)));
    }
    if (when != NULL) {
        line(k, 2, "}");
    }
}

/* --- entries, rows ----------------------------------------------------------------- */

static void write_entry(walk *k, const rk_form_entry *e, const char *fixed)
{
    rk_writer *w = k->w;
    const rk_form *form = w->form;
    const bool diagonal = e->row == e->column && e->offset[0] == 0 && e->offset[1] == 0 &&
                          e->offset[2] == 0;
    line(k, 1, "{");
    line(k, 2,
         rk_write(w, "bool %s = %s;", k->here,
                  diagonal && fixed != NULL ? k->held : "false"));
    if (k->job == RK_JOB_FILL) {
        line(k, 2, rk_write(w, "real %s = 0;", k->sum));
    }
    for (int32_t i = 0; i < form->nterm; i++) {
        const rk_form_term *t = &form->term[i];
        for (int32_t n = 0; n < t->ntest * t->ntrial; n++) {
            const rk_tap *test = &t->test[n / t->ntrial];
            const rk_tap *trial = &t->trial[n % t->ntrial];
            bool same = test->component == e->row && trial->component == e->column;
            for (int32_t d = 0; d < 3; d++) {
                same = same && trial->offset[d] - test->offset[d] == e->offset[d];
            }
            if (same) {
                write_pair(k, t, test, trial);
            }
        }
    }
    line(k, 2, rk_write(w, "if (%s) {", k->here));
    const char *value = k->sum;
    const char *column_fixed = w->fix->mode == RK_FIX_SYM && !diagonal
                                   ? constrained(k, e->column, e->offset)
                                   : NULL;
    if (column_fixed != NULL) {
        value = rk_write(w, "(%s) ? 0 : %s", column_fixed, value);
    }
    if (fixed != NULL) {
        value = rk_write(w, "%s ? %s : %s", k->held, diagonal ? "1" : "0", value);
    }
    if (k->job == RK_JOB_FILL) {
        line(k, 3, rk_write(w, "%s[%s] = %s;", k->array, k->at, value));
    } else if (k->job == RK_JOB_COLUMNS) {
        line(k, 3,
             rk_write(w, "%s[%s] = %s;", k->array, k->at,
                      number_of(k, e->column, e->offset)));
    }
    line(k, 3, rk_write(w, "%s++;", k->at));
    line(k, 2, "}");
    line(k, 1, "}");
}

static void write_row(walk *k, int32_t component, const rk_form_entry *entry, int32_t n)
{
    rk_writer *w = k->w;
    const int32_t here[3] = {0, 0, 0};
    const char *row = number_of(k, component, here);
    const char *fixed = constrained(k, component, here);
    if (k->job == RK_JOB_COUNT) {
        line(k, 1, rk_write(w, "%s = 0;", k->at));
    } else {
        line(k, 1,
             rk_write(w, "%s = %s[%s];", k->at,
                      rk_write_own(w, RK_LEAF_ROWPTR, 0, 0, "in"), row));
    }
    if (fixed != NULL) {
        line(k, 1, rk_write(w, "%s = %s;", k->held, fixed));
    }
    rk_form_entry *mine = rk_new(w->unit, ((size_t)n + 2) * sizeof(*mine));
    int32_t nmine = 0;
    const rk_form_entry diagonal = {component, component, {0, 0, 0}};
    bool has_diagonal = fixed == NULL; // only a constrained row must have one
    for (int32_t i = 0; i <= n; i++) {
        const bool end = i == n || entry[i].row > component;
        if (!end && entry[i].row < component) {
            continue;
        }
        const int order = end ? 1 : rk_form_entry_order(&entry[i], &diagonal);
        if (!has_diagonal && order >= 0) {
            has_diagonal = true;
            if (order > 0) {
                mine[nmine++] = diagonal;
            }
        }
        if (end) {
            break;
        }
        mine[nmine++] = entry[i];
    }
    for (int32_t i = 0; i < nmine; i++) {
        write_entry(k, &mine[i], fixed);
    }
    if (k->job == RK_JOB_COUNT) {
        line(k, 1, rk_write(w, "%s[%s] = %s;", k->array, row, k->at));
    }
}

void rk_write_rows(rk_writer *w, rk_form_job job)
{
    walk k = {.w = w, .job = job};
    const rk_leaf_kind array = job == RK_JOB_FILL      ? RK_LEAF_NZVAL
                               : job == RK_JOB_COLUMNS ? RK_LEAF_COLVAL
                                                       : RK_LEAF_ROWPTR;
    k.array = rk_write_own(w, array, job == RK_JOB_COUNT ? 1 : 0, 0, "out");
    for (int32_t d = 0; d < w->form->desc.ndim; d++) {
        static const char *const names[3] = {"i", "j", "k"};
        k.index[d] = rk_form_name(w->form, names[d]);
        k.extent[d] = rk_write_own(w, RK_LEAF_EXTENT, 0, d, "in");
        w->index[d] = k.index[d];
    }
    k.at = rk_form_name(w->form, "place");
    k.sum = rk_form_name(w->form, "total");
    k.here = rk_form_name(w->form, "here");
    k.held = rk_form_name(w->form, "held");
    line(&k, 1, rk_write(w, "int %s = 0;", k.at));
    line(&k, 1, rk_write(w, "bool %s = false;", k.held));
    int32_t n = 0;
    const rk_form_entry *entry = rk_form_entries(w->form, &n);
    for (int32_t c = 0; c < w->form->desc.ntest; c++) {
        write_row(&k, c, entry, n);
    }
}
