/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices of forms in rows: per-point kernels in which the owner of a point walks the
 * entries of its rows in the order of their columns. Nothing is searched and nothing set
 * to zero before; a row's place is its rowptr. The same walk counts the entries, writes
 * their columns, and fills in their values, so the three cannot differ. What the entries
 * are sums of is computed before them, once for a point.
 *
 * An entry is there when, for some pair of taps, the point of the term, the row and the
 * column are on the grid and the masks on the way hold; the diagonal of a constrained row
 * is always there.
 */
#include "config.h"

#include "libcore/kernel/form_walk.h"

#include <string.h>

/* A product at the point `index - offset`, 0 where that is not on the grid. */
typedef struct part {
    const rk_product *product;
    const int32_t *offset;
    int32_t face;
    const char *name;
} part;

typedef struct walk {
    rk_walk p;
    rk_form_job job;
    const char *at;    /* place of the next entry */
    const char *held;  /* the row is constrained */
    const char *array; /* written */
    int32_t npart;
    part *part;
} walk;

/* Leaves those of the region for which index + by lies between lo and extent + hi. */
static void narrow(rk_region *r, const int32_t by[3], const int64_t lo[3],
                   const int64_t hi[3])
{
    for (int32_t d = 0; d < 3; d++) {
        r->lo[d] = r->lo[d] > lo[d] - by[d] ? r->lo[d] : lo[d] - by[d];
        r->hi[d] = r->hi[d] < hi[d] - by[d] ? r->hi[d] : hi[d] - by[d];
    }
}

/* Points for which index + by is on the grid. */
static rk_region on_grid(const int32_t by[3])
{
    static const int64_t end[3] = {0, 0, 0};
    rk_region r = {{0, 0, 0}, {0, 0, 0}};
    narrow(&r, by, end, end);
    return r;
}

/* --- what the entries are sums of -------------------------------------------------- */

/* Name of the variable that holds a product, which is made if there is none. */
static const char *part_name(walk *k, const rk_form_term *t, const rk_product *p,
                             const int32_t offset[3])
{
    rk_writer *w = k->p.w;
    for (int32_t i = 0; i < k->npart; i++) {
        const part *old = &k->part[i];
        if (old->face == t->face &&
            memcmp(old->offset, offset, 3 * sizeof(*offset)) == 0 &&
            rk_product_equal(old->product, p)) {
            return old->name;
        }
    }
    rk_spend(w->unit, 1 + k->npart / 4, t->at);
    const int32_t back[3] = {-offset[0], -offset[1], -offset[2]};
    const rk_region everywhere = {{0, 0, 0}, {0, 0, 0}};
    rk_region where = on_grid(back);
    const rk_ir *rest = p->rest;
    int64_t lo[3];
    int64_t hi[3];
    while (rest != NULL && rk_is_zero_guard(rest) &&
           rk_form_box(w->form, &rest->box, lo, hi)) {
        narrow(&where, back, lo, hi);
        rest = rest->a;
    }
    const char *when =
        rk_walk_on_face(&k->p, t, back, rk_walk_region(&k->p, &where, &everywhere));
    const char *name = rk_form_name(w->form, rk_write(w, "p%d", (int)k->npart));
    const char *value = rk_walk_product(&k->p, p, rest, offset);
    if (when == NULL) {
        rk_walk_line(&k->p, 1, rk_write(w, "real %s = %s;", name, value));
    } else {
        rk_walk_line(&k->p, 1, rk_write(w, "real %s = 0;", name));
        rk_walk_line(&k->p, 1, rk_write(w, "if (%s) %s = %s;", when, name, value));
    }
    k->part = rk_extend(w->unit, k->part, k->npart, sizeof(*k->part));
    k->part[k->npart++] = (part){p, offset, t->face, name};
    return name;
}

/* --- entries, rows ----------------------------------------------------------------- */

/* When a pair of taps is there, at points whose column is; NULL: always. */
static const char *pair_there(walk *k, const rk_form_term *t, const rk_tap *test,
                              const rk_tap *trial, const rk_region *known)
{
    const int32_t back[3] = {-test->offset[0], -test->offset[1], -test->offset[2]};
    const rk_region where = on_grid(back);
    const char *when =
        rk_walk_on_face(&k->p, t, back, rk_walk_region(&k->p, &where, known));
    return rk_walk_both(&k->p, when, rk_walk_present(&k->p, test, trial, test->offset));
}

/* An entry as the sum of its pairs. */
typedef struct entry_sum {
    bool always;       /* it is there wherever its column is */
    int32_t nwhen;     /* else: where one of these holds */
    const char **when; /* no two alike */
    const char *value; /* NULL: of none */
} entry_sum;

static void add_when(walk *k, entry_sum *sum, const char *when)
{
    for (int32_t i = 0; i < sum->nwhen; i++) {
        if (strcmp(sum->when[i], when) == 0) {
            return;
        }
    }
    sum->when = rk_extend(k->p.w->unit, (void *)(uintptr_t)sum->when, sum->nwhen,
                          sizeof(*sum->when));
    sum->when[sum->nwhen++] = when;
}

static entry_sum add_pairs(walk *k, const rk_form_entry *e, const rk_region *known)
{
    rk_writer *w = k->p.w;
    entry_sum sum = {false, 0, NULL, NULL};
    for (int32_t i = 0; i < w->form->nterm; i++) {
        const rk_form_term *t = &w->form->term[i];
        for (int32_t n = 0; n < t->ntest * t->ntrial; n++) {
            const rk_tap *test = &t->test[n / t->ntrial];
            const rk_tap *trial = &t->trial[n % t->ntrial];
            const rk_form_entry own = rk_form_entry_of(test, trial);
            if (rk_form_entry_order(&own, e) != 0) {
                continue;
            }
            const char *when = pair_there(k, t, test, trial, known);
            sum.always = sum.always || when == NULL;
            if (when != NULL) {
                add_when(k, &sum, rk_write(w, "(%s)", when));
            }
            if (k->job == RK_JOB_FILL) {
                const char *one = part_name(k, t, &t->pair[n], test->offset);
                sum.value = rk_write_sum(w, sum.value, t->pair[n].negative, one);
            }
        }
    }
    return sum;
}

static void write_entry(walk *k, const rk_form_entry *e, const char *fixed)
{
    rk_writer *w = k->p.w;
    const bool diagonal = rk_form_entry_is_diagonal(e);
    const rk_region everywhere = {{0, 0, 0}, {0, 0, 0}};
    const rk_region column = on_grid(e->offset);
    entry_sum sum = add_pairs(k, e, &column);
    const char *when = rk_walk_region(&k->p, &column, &everywhere);
    if (diagonal && fixed != NULL) {
        add_when(k, &sum, k->held);
    }
    if (!sum.always) {
        const char *some = sum.nwhen == 0 ? "false" : sum.when[0];
        for (int32_t i = 1; i < sum.nwhen; i++) {
            some = rk_write(w, "%s || %s", some, sum.when[i]);
        }
        when = rk_walk_both(&k->p, when, rk_write(w, "(%s)", some));
    }
    const char *value = sum.value == NULL ? "0" : sum.value;
    const char *column_fixed = w->fix->mode == RK_FIX_SYM && !diagonal
                                   ? rk_walk_constrained(&k->p, e->column, e->offset)
                                   : NULL;
    if (column_fixed != NULL) {
        value = rk_write(w, "((%s) ? 0 : %s)", column_fixed, value);
    }
    if (fixed != NULL) {
        value = rk_write(w, "%s ? %s : %s", k->held, diagonal ? "1" : "0", value);
    }
    const int indent = when == NULL ? 1 : 2;
    if (when != NULL) {
        rk_walk_line(&k->p, 1, rk_write(w, "if (%s) {", when));
    }
    if (k->job == RK_JOB_FILL) {
        rk_walk_line(&k->p, indent, rk_write(w, "%s[%s] = %s;", k->array, k->at, value));
    } else if (k->job == RK_JOB_COLUMNS) {
        rk_walk_line(&k->p, indent,
                     rk_write(w, "%s[%s] = %s;", k->array, k->at,
                              rk_walk_number(&k->p, e->column, e->offset)));
    }
    rk_walk_line(&k->p, indent, rk_write(w, "%s++;", k->at));
    if (when != NULL) {
        rk_walk_line(&k->p, 1, "}");
    }
}

static void write_row(walk *k, int32_t component, const rk_form_entry *entry, int32_t n)
{
    rk_writer *w = k->p.w;
    const int32_t here[3] = {0, 0, 0};
    const char *row = rk_walk_number(&k->p, component, here);
    const char *fixed = rk_walk_constrained(&k->p, component, here);
    if (k->job == RK_JOB_COUNT) {
        rk_walk_line(&k->p, 1, rk_write(w, "%s = 0;", k->at));
    } else {
        rk_walk_line(&k->p, 1,
                     rk_write(w, "%s = %s[%s];", k->at,
                              rk_write_own(w, RK_LEAF_ROWPTR, 0, 0, "in"), row));
    }
    if (fixed != NULL) {
        rk_walk_line(&k->p, 1, rk_write(w, "%s = %s;", k->held, fixed));
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
        rk_walk_line(&k->p, 1, rk_write(w, "%s[%s] = %s;", k->array, row, k->at));
    }
}

void rk_write_rows(rk_writer *w, rk_form_job job)
{
    walk k = {.job = job};
    const rk_leaf_kind array = job == RK_JOB_FILL      ? RK_LEAF_NZVAL
                               : job == RK_JOB_COLUMNS ? RK_LEAF_COLVAL
                                                       : RK_LEAF_ROWPTR;
    k.array = rk_write_own(w, array, job == RK_JOB_COUNT ? 1 : 0, 0, "out");
    k.p = rk_walk_make(w);
    k.at = rk_form_name(w->form, "place");
    k.held = rk_form_name(w->form, "held");
    rk_walk_line(&k.p, 1, rk_write(w, "int %s = 0;", k.at));
    rk_walk_line(&k.p, 1, rk_write(w, "bool %s = false;", k.held));
    int32_t n = 0;
    const rk_form_entry *entry = rk_form_entries(w->form, &n);
    for (int32_t i = 0; i < n && job == RK_JOB_FILL; i++) {
        const rk_region column = on_grid(entry[i].offset);
        (void)add_pairs(&k, &entry[i], &column); // its parts stand before all entries
    }
    for (int32_t c = 0; c < w->form->desc.ntest; c++) {
        write_row(&k, c, entry, n);
    }
}
