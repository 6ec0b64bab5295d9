/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices of forms by contributions: per-point kernels over the table that says where in
 * nzval each pair of taps of each term adds at each point. Contribution k of term t at
 * the point p, k = (test tap) * (trial taps) + (trial tap) of K_t, stands at
 *
 *   base_t + ((p div S) * K_t + k) * S + p mod S,   base_t = padded * (K_0 + ... K_t-1)
 *
 * where the stride S is how many points a device works on side by side, and `padded` the
 * number of points, rounded up to a multiple of S. -1 stands where nothing is added: off
 * the grid or the face, behind a mask, where the row (in mode SYM also the column) is
 * constrained, and at the points that fill up to `padded`. -2 - t: the matrix has no such
 * entry.
 *
 * The kernels that read the table test nothing else: no grid, no face, no constraint.
 */
#include "config.h"

#include "libcore/kernel/form_walk.h"

#include <string.h>

typedef struct table_walk {
    rk_walk k;
    rk_form_job job;
    const char *table;
    const char *other; /* PAIRS: columns; PARTS: values */
    const char *nzval;
    const char *rowptr;
    const char *colval;
    const char *stride;
    const char *padded;
    const char *point; /* locals: number of the point, its place in the table */
    const char *block;
    const char *lane;
    const char *at; /* of an entry */
    const char *last;
    const char *column;
} table_walk;

static const int32_t here[3] = {0, 0, 0};

static table_walk make(rk_writer *w, rk_form_job job)
{
    rk_form *form = w->form;
    table_walk t = {.job = job};
    const bool writes = job == RK_JOB_POSITIONS || job == RK_JOB_PAIRS;
    if (job == RK_JOB_SCATTER || job == RK_JOB_GATHER || job == RK_JOB_CLEAR) {
        t.nzval =
            rk_write_own(w, RK_LEAF_NZVAL, 0, 0, job == RK_JOB_CLEAR ? "out" : "inout");
    }
    if (job == RK_JOB_PARTS) {
        t.other = rk_write_own(w, RK_LEAF_PART, 0, 0, "out");
    }
    if (job != RK_JOB_CLEAR) {
        t.table = rk_write_own(w, RK_LEAF_TABLE, 0, 0, writes ? "out" : "in");
        t.stride = rk_write_own(w, RK_LEAF_STRIDE, 0, 0, "in");
        t.padded = rk_write_own(w, RK_LEAF_PADDED, 0, 0, "in");
    }
    if (job == RK_JOB_PAIRS) {
        t.other = rk_write_own(w, RK_LEAF_TABLE, 1, 0, "out");
    }
    if (job == RK_JOB_POSITIONS) {
        t.rowptr = rk_write_own(w, RK_LEAF_ROWPTR, 0, 0, "in");
        t.colval = rk_write_own(w, RK_LEAF_COLVAL, 0, 0, "in");
    }
    t.k = rk_walk_make(w);
    t.point = rk_form_name(form, "point");
    t.block = rk_form_name(form, "block");
    t.lane = rk_form_name(form, "lane");
    t.at = rk_form_name(form, "place");
    t.last = rk_form_name(form, "last");
    t.column = rk_form_name(form, "column");
    return t;
}

static void line(const table_walk *t, int indent, const char *text)
{
    rk_walk_line(&t->k, indent, text);
}

/* The place of the point in the table, from its number. */
static void write_block(const table_walk *t, int indent)
{
    rk_writer *w = t->k.w;
    line(t, indent,
         rk_write(w, "%s = %s == 1 ? %s : div(%s, %s);", t->block, t->stride, t->point,
                  t->point, t->stride));
    line(t, indent,
         rk_write(w, "%s = %s - %s * %s;", t->lane, t->point, t->block, t->stride));
}

static void declare(const table_walk *t)
{
    rk_writer *w = t->k.w;
    line(t, 1, rk_write(w, "int %s = 0;", t->block));
    line(t, 1, rk_write(w, "int %s = 0;", t->lane));
    line(t, 1, rk_write(w, "int %s = 0;", t->at));
}

/* Contribution `number` of term `term`, after those of `before` others of a point. */
static const char *slot(const table_walk *t, const rk_form_term *term, int32_t before,
                        int32_t number)
{
    return rk_write(t->k.w, "%d * %s + (%s * %d + %d) * %s + %s", (int)before, t->padded,
                    t->block, (int)(term->ntest * term->ntrial), (int)number, t->stride,
                    t->lane);
}

/* --- writing the table -------------------------------------------------------------- */

static const char *and_not(rk_writer *w, const char *when, const char *fixed)
{
    return fixed == NULL ? when : rk_write(w, "%s && !(%s)", when, fixed);
}

/* When a pair of taps adds something at the point. */
static const char *emitted(const table_walk *t, const rk_form_term *term,
                           const rk_tap *test, const rk_tap *trial)
{
    const rk_walk *k = &t->k;
    rk_writer *w = k->w;
    const char *when = rk_write(w, "%s < %s", t->point, rk_walk_points(k));
    when = rk_walk_on_grid(k, test->offset, when);
    when = rk_walk_on_grid(k, trial->offset, when);
    when = rk_walk_on_face(k, term, here, when);
    const char *present = rk_walk_present(k, test, trial, here);
    when = present == NULL ? when : rk_write(w, "%s && %s", when, present);
    when = and_not(w, when, rk_walk_constrained(k, test->component, test->offset));
    if (w->fix->mode == RK_FIX_SYM) {
        when = and_not(w, when, rk_walk_constrained(k, trial->component, trial->offset));
    }
    return when;
}

static void write_slot(const table_walk *t, int32_t number, int32_t before, int32_t pair)
{
    const rk_walk *k = &t->k;
    rk_writer *w = k->w;
    const rk_form_term *term = &w->form->term[number];
    const rk_tap *test = &term->test[pair / term->ntrial];
    const rk_tap *trial = &term->trial[pair % term->ntrial];
    const char *row = rk_walk_number(k, test->component, test->offset);
    const char *column = rk_walk_number(k, trial->component, trial->offset);
    const char *to = slot(t, term, before, pair);
    line(t, 1, rk_write(w, "%s = -1;", t->at));
    line(t, 1, rk_write(w, "%s = -1;", t->column));
    line(t, 1, rk_write(w, "if (%s) {", emitted(t, term, test, trial)));
    line(t, 2, rk_write(w, "%s = %s;", t->column, column));
    if (t->job == RK_JOB_PAIRS) {
        line(t, 2, rk_write(w, "%s = %s;", t->at, row));
    } else {
        line(t, 2, rk_write(w, "%s = %s[%s];", t->at, t->rowptr, row));
        line(t, 2, rk_write(w, "%s = %s[%s + 1];", t->last, t->rowptr, row));
        line(t, 2,
             rk_write(w, "while (%s < %s && %s[%s] < %s) %s++;", t->at, t->last,
                      t->colval, t->at, t->column, t->at));
        line(t, 2,
             rk_write(w, "if (%s == %s || %s[%s] != %s) %s = %d;", t->at, t->last,
                      t->colval, t->at, t->column, t->at, -2 - (int)number));
    }
    line(t, 1, "}");
    line(t, 1, rk_write(w, "%s[%s] = %s;", t->table, to, t->at));
    if (t->job == RK_JOB_PAIRS) {
        line(t, 1, rk_write(w, "%s[%s] = %s;", t->other, to, t->column));
    }
}

/* One point after the other, those that fill up too. */
static void write_table(const table_walk *t)
{
    const rk_walk *k = &t->k;
    rk_writer *w = k->w;
    const rk_form *form = w->form;
    const int32_t ndim = form->desc.ndim;
    w->over = rk_write(w, "%s in 0:%s", t->point, t->padded);
    declare(t);
    line(t, 1, rk_write(w, "int %s = 0;", t->last));
    line(t, 1, rk_write(w, "int %s = 0;", t->column));
    write_block(t, 1);
    const char *rest = t->point;
    for (int32_t d = 0; d < ndim; d++) {
        line(t, 1,
             d == ndim - 1
                 ? rk_write(w, "int %s = %s;", k->index[d], rest)
                 : rk_write(w, "int %s = %s %% %s;", k->index[d], rest, k->extent[d]));
        rest = rk_write(w, "div(%s, %s)", rest, k->extent[d]);
    }
    int32_t before = 0;
    for (int32_t i = 0; i < form->nterm; i++) {
        const int32_t n = form->term[i].ntest * form->term[i].ntrial;
        for (int32_t pair = 0; pair < n; pair++) {
            write_slot(t, i, before, pair);
        }
        before += n;
    }
}

/* --- reading it --------------------------------------------------------------------- */

/* What a point of the terms adds, or gives. */
static void write_parts(const table_walk *t)
{
    const rk_walk *k = &t->k;
    rk_writer *w = k->w;
    const rk_form *form = w->form;
    declare(t);
    line(t, 1, rk_write(w, "int %s = %s;", t->point, rk_walk_number(k, 0, here)));
    write_block(t, 1);
    int32_t before = 0;
    for (int32_t i = 0; i < form->nterm; i++) {
        const rk_form_term *term = &form->term[i];
        const int32_t n = term->ntest * term->ntrial;
        for (int32_t pair = 0; pair < n; pair++) {
            const char *from = slot(t, term, before, pair);
            const char *value = rk_walk_value(k, term, &term->test[pair / term->ntrial],
                                              &term->trial[pair % term->ntrial], here);
            line(t, 1, rk_write(w, "%s = %s[%s];", t->at, t->table, from));
            line(t, 1,
                 t->job == RK_JOB_SCATTER
                     ? rk_write(w, "if (%s >= 0) atomic_add(%s[%s], %s);", t->at,
                                t->nzval, t->at, value)
                     : rk_write(w, "%s[%s] = %s >= 0 ? %s : 0;", t->other, from, t->at,
                                value));
        }
        before += n;
    }
}

/* The row of a component at the point: 0, and 1 on the diagonal if it is constrained. */
static void write_clear(table_walk *t, int32_t component)
{
    const rk_walk *k = &t->k;
    rk_writer *w = k->w;
    const char *row = rk_walk_number(k, component, here);
    const char *fixed = rk_walk_constrained(k, component, here);
    const char *entry = rk_form_name(w->form, "entry");
    const char *value = "0";
    t->rowptr = rk_write_own(w, RK_LEAF_ROWPTR, 0, 0, "in");
    if (fixed != NULL) {
        t->colval = rk_write_own(w, RK_LEAF_COLVAL, 0, 0, "in");
        value = rk_write(w, "(%s) && %s[%s] == %s ? 1 : 0", fixed, t->colval, entry, row);
    }
    line(t, 1,
         rk_write(w, "for (int %s = %s[%s]; %s < %s[%s + 1]; %s++)", entry, t->rowptr,
                  row, entry, t->rowptr, row, entry));
    line(t, 2, rk_write(w, "%s[%s] = %s;", t->nzval, entry, value));
}

/* What the terms add to the row of a component, at the points less the test taps. */
static void write_gather(const table_walk *t, int32_t component)
{
    const rk_walk *k = &t->k;
    rk_writer *w = k->w;
    const rk_form *form = w->form;
    int32_t before = 0;
    for (int32_t i = 0; i < form->nterm; i++) {
        const rk_form_term *term = &form->term[i];
        for (int32_t v = 0; v < term->ntest; v++) {
            const rk_tap *test = &term->test[v];
            const int32_t back[3] = {-test->offset[0], -test->offset[1],
                                     -test->offset[2]};
            if (test->component != component) {
                continue;
            }
            const char *when = rk_walk_on_grid(k, back, NULL);
            line(t, 1, rk_write(w, "if (%s) {", when == NULL ? "true" : when));
            line(t, 2, rk_write(w, "int %s = %s;", t->point, rk_walk_number(k, 0, back)));
            write_block(t, 2);
            for (int32_t u = 0; u < term->ntrial; u++) {
                line(t, 2,
                     rk_write(w, "%s = %s[%s];", t->at, t->table,
                              slot(t, term, before, v * term->ntrial + u)));
                line(t, 2,
                     rk_write(
                         w, "if (%s >= 0) %s[%s] += %s;", t->at, t->nzval, t->at,
                         rk_walk_value(k, term, test, &term->trial[u], test->offset)));
            }
            line(t, 1, "}");
        }
        before += term->ntest * term->ntrial;
    }
}

void rk_write_table(rk_writer *w, rk_form_job job, rk_form_kernel *out)
{
    rk_form *form = w->form;
    out->nterm = form->nterm;
    out->width = rk_new(w->unit, ((size_t)form->nterm + 1) * sizeof(*out->width));
    for (int32_t i = 0; i < form->nterm; i++) {
        out->width[i] = form->term[i].ntest * form->term[i].ntrial;
    }
    table_walk t = make(w, job);
    if (job == RK_JOB_POSITIONS || job == RK_JOB_PAIRS) {
        write_table(&t);
        return;
    }
    if (job == RK_JOB_SCATTER || job == RK_JOB_PARTS) {
        write_parts(&t);
        return;
    }
    if (job == RK_JOB_GATHER) {
        declare(&t);
    }
    for (int32_t c = 0; c < form->desc.ntest; c++) {
        write_clear(&t, c);
        if (job == RK_JOB_GATHER) {
            write_gather(&t, c);
        }
    }
}
