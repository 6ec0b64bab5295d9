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

#include "libcore/kernel/form_walk.h"

#include <string.h>

typedef struct row_walk {
    rk_walk k;
    rk_form_job job;
    const char *at;  /* place of the next entry */
    const char *sum; /* locals of an entry */
    const char *here;
    const char *held;  /* the row is constrained */
    const char *array; /* written */
} row_walk;

/* --- what a pair of taps adds to an entry ------------------------------------------ */

static void write_pair(row_walk *r, const rk_form_term *t, const rk_tap *test,
                       const rk_tap *trial)
{
    const rk_walk *k = &r->k;
    rk_writer *w = k->w;
    int32_t back[3];
    int32_t column[3];
    for (int32_t d = 0; d < 3; d++) {
        back[d] = -test->offset[d];
        column[d] = trial->offset[d] - test->offset[d];
    }
    const char *when = rk_walk_on_grid(k, column, rk_walk_on_grid(k, back, NULL));
    when = rk_walk_on_face(k, t, back, when);
    const int indent = when == NULL ? 2 : 3;
    if (when != NULL) {
        rk_walk_line(k, 2, rk_write(w, "if (%s) {", when));
    }
    const char *present = rk_walk_present(k, test, trial, test->offset);
    rk_walk_line(k, indent,
                 present == NULL
                     ? rk_write(w, "%s = true;", r->here)
                     : rk_write(w, "%s = %s || %s;", r->here, r->here, present));
    if (r->job == RK_JOB_FILL) {
        rk_walk_line(k, indent,
                     rk_write(w, "%s += %s;", r->sum,
                              rk_walk_value(k, t, test, trial, test->offset)));
    }
    if (when != NULL) {
        rk_walk_line(k, 2, "}");
    }
}

/* --- entries, rows ----------------------------------------------------------------- */

static void write_entry(row_walk *r, const rk_form_entry *e, const char *fixed)
{
    const rk_walk *k = &r->k;
    rk_writer *w = k->w;
    const rk_form *form = w->form;
    const bool diagonal = e->row == e->column && e->offset[0] == 0 && e->offset[1] == 0 &&
                          e->offset[2] == 0;
    rk_walk_line(k, 1, "{");
    rk_walk_line(k, 2,
                 rk_write(w, "bool %s = %s;", r->here,
                          diagonal && fixed != NULL ? r->held : "false"));
    if (r->job == RK_JOB_FILL) {
        rk_walk_line(k, 2, rk_write(w, "real %s = 0;", r->sum));
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
                write_pair(r, t, test, trial);
            }
        }
    }
    rk_walk_line(k, 2, rk_write(w, "if (%s) {", r->here));
    const char *value = r->sum;
    const char *column_fixed = w->fix->mode == RK_FIX_SYM && !diagonal
                                   ? rk_walk_constrained(k, e->column, e->offset)
                                   : NULL;
    if (column_fixed != NULL) {
        value = rk_write(w, "(%s) ? 0 : %s", column_fixed, value);
    }
    if (fixed != NULL) {
        value = rk_write(w, "%s ? %s : %s", r->held, diagonal ? "1" : "0", value);
    }
    if (r->job == RK_JOB_FILL) {
        rk_walk_line(k, 3, rk_write(w, "%s[%s] = %s;", r->array, r->at, value));
    } else if (r->job == RK_JOB_COLUMNS) {
        rk_walk_line(k, 3,
                     rk_write(w, "%s[%s] = %s;", r->array, r->at,
                              rk_walk_number(k, e->column, e->offset)));
    }
    rk_walk_line(k, 3, rk_write(w, "%s++;", r->at));
    rk_walk_line(k, 2, "}");
    rk_walk_line(k, 1, "}");
}

static void write_row(row_walk *r, int32_t component, const rk_form_entry *entry,
                      int32_t n)
{
    const rk_walk *k = &r->k;
    rk_writer *w = k->w;
    const int32_t here[3] = {0, 0, 0};
    const char *row = rk_walk_number(k, component, here);
    const char *fixed = rk_walk_constrained(k, component, here);
    if (r->job == RK_JOB_COUNT) {
        rk_walk_line(k, 1, rk_write(w, "%s = 0;", r->at));
    } else {
        rk_walk_line(k, 1,
                     rk_write(w, "%s = %s[%s];", r->at,
                              rk_write_own(w, RK_LEAF_ROWPTR, 0, 0, "in"), row));
    }
    if (fixed != NULL) {
        rk_walk_line(k, 1, rk_write(w, "%s = %s;", r->held, fixed));
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
        write_entry(r, &mine[i], fixed);
    }
    if (r->job == RK_JOB_COUNT) {
        rk_walk_line(k, 1, rk_write(w, "%s[%s] = %s;", r->array, row, r->at));
    }
}

void rk_write_rows(rk_writer *w, rk_form_job job)
{
    const rk_leaf_kind array = job == RK_JOB_FILL      ? RK_LEAF_NZVAL
                               : job == RK_JOB_COLUMNS ? RK_LEAF_COLVAL
                                                       : RK_LEAF_ROWPTR;
    row_walk r = {.job = job};
    r.array = rk_write_own(w, array, job == RK_JOB_COUNT ? 1 : 0, 0, "out");
    r.k = rk_walk_make(w);
    r.at = rk_form_name(w->form, "place");
    r.sum = rk_form_name(w->form, "total");
    r.here = rk_form_name(w->form, "here");
    r.held = rk_form_name(w->form, "held");
    rk_walk_line(&r.k, 1, rk_write(w, "int %s = 0;", r.at));
    rk_walk_line(&r.k, 1, rk_write(w, "bool %s = false;", r.held));
    int32_t n = 0;
    const rk_form_entry *entry = rk_form_entries(w->form, &n);
    for (int32_t c = 0; c < w->form->desc.ntest; c++) {
        write_row(&r, c, entry, n);
    }
}
