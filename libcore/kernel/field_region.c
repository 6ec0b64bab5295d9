/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elements of `out` arrays that are read: each must have been written by an earlier
 * unconditional statement of the same kernel.
 *
 * For one statement, the boxes on which its value is needed are passed down from the
 * value to the arrays, through slices and pads, in an order in which every field comes
 * after all its users; so shared fields are visited once. A box that reaches an `out`
 * array must lie inside what one earlier statement wrote.
 */
#include "config.h"

#include "libcore/kernel/field_build.h"

#include <string.h>

typedef struct region {
    rk_affine lo[3];
    rk_affine hi[3];
    struct region *next;
} region;

typedef struct visit {
    const rk_field *field;
    region *need;
} visit;

typedef struct walker {
    rk_builder *b;
    visit *visit; /* users after the fields they use */
    int32_t nvisit;
    int32_t *number; /* by id - first id: 1 + number of the visit, 0: none */
    bool *reported;  /* [nparam] */
} walker;

/* --- which fields ------------------------------------------------------------------- */

static void collect(walker *w, const rk_field *field)
{
    int32_t *number = &w->number[field->id - w->b->first_id];
    if (*number != 0 || !rk_field_reads(field)) {
        return;
    }
    *number = -1;
    rk_spend(w->b->unit, 1, field->at);
    const rk_field *const part[] = {field->a, field->b, field->c};
    for (int i = 0; i < 3; i++) {
        if (part[i] != NULL) {
            collect(w, part[i]);
        }
    }
    for (int32_t i = 0; i < field->narg; i++) {
        collect(w, field->arg[i]);
    }
    w->visit = rk_extend(w->b->unit, w->visit, w->nvisit, sizeof(visit));
    w->visit[w->nvisit++] = (visit){field, NULL};
    *number = w->nvisit;
}

/* --- boxes -------------------------------------------------------------------------- */

/* Whether a <= b for certain. */
static bool not_above(const walker *w, rk_affine a, rk_affine b)
{
    return rk_affine_sign(w->b->work.symbol, rk_affine_add(w->b->unit, b, -1, a)) >= 0;
}

static bool inside(const walker *w, const region *inner, const region *outer,
                   int32_t rank)
{
    for (int32_t d = 0; d < rank; d++) {
        if (!not_above(w, outer->lo[d], inner->lo[d]) ||
            !not_above(w, inner->hi[d], outer->hi[d])) {
            return false;
        }
    }
    return true;
}

static void demand(walker *w, const rk_field *field, const region *box)
{
    if (!rk_field_reads(field)) {
        return;
    }
    visit *v = &w->visit[w->number[field->id - w->b->first_id] - 1];
    for (const region *r = v->need; r != NULL; r = r->next) {
        rk_spend(w->b->unit, 1, field->at);
        if (inside(w, box, r, field->rank)) {
            return;
        }
    }
    region *copy = RK_NEW(w->b->unit, region);
    *copy = *box;
    copy->next = v->need;
    v->need = copy;
}

static void through_slice(walker *w, const rk_field *field, const region *box)
{
    region inner;
    memset(&inner, 0, sizeof(inner));
    int32_t next = 0;
    for (int32_t d = 0; d < field->a->rank; d++) {
        const rk_affine lo = field->sub[d].lo;
        if (field->sub[d].keep) {
            inner.lo[d] = rk_affine_add(w->b->unit, box->lo[next], 1, lo);
            inner.hi[d] = rk_affine_add(w->b->unit, box->hi[next], 1, lo);
            next++;
        } else {
            inner.lo[d] = lo;
            inner.hi[d] = rk_affine_add(w->b->unit, lo, 1, rk_affine_int(1));
        }
    }
    demand(w, field->a, &inner);
}

static void through_lift(walker *w, const rk_field *field, const region *box)
{
    region inner;
    memset(&inner, 0, sizeof(inner));
    int32_t next = 0;
    for (int32_t d = 0; d < field->rank; d++) {
        if (!field->lift[d]) {
            inner.lo[next] = box->lo[d];
            inner.hi[next] = box->hi[d];
            next++;
        }
    }
    demand(w, field->a, &inner);
}

/* Cut to the padded field; where the cut is uncertain, all of it along that axis. */
static void through_pad(walker *w, const rk_field *field, const region *box)
{
    region inner;
    memset(&inner, 0, sizeof(inner));
    for (int32_t d = 0; d < field->rank; d++) {
        const rk_affine shift = rk_affine_int(field->before[d]);
        const rk_affine size = field->a->size[d];
        inner.lo[d] = rk_affine_add(w->b->unit, box->lo[d], -1, shift);
        inner.hi[d] = rk_affine_add(w->b->unit, box->hi[d], -1, shift);
        if (!field->any[d] && !not_above(w, rk_affine_int(0), inner.lo[d])) {
            inner.lo[d] = rk_affine_int(0);
        }
        if (!field->any[d] && !not_above(w, inner.hi[d], size)) {
            inner.hi[d] = size;
        }
    }
    demand(w, field->a, &inner);
}

/* --- what was written --------------------------------------------------------------- */

static void written_box(const walker *w, const rk_item *item, region *out)
{
    const int32_t rank = w->b->work.decl->param[item->param]->rank;
    int32_t axis = 0;
    memset(out, 0, sizeof(*out));
    for (int32_t d = 0; d < rank; d++) {
        const rk_field_sub *t = &item->target[d];
        const rk_affine size = t->keep ? item->size[axis++] : rk_affine_int(1);
        out->lo[d] = t->lo;
        out->hi[d] = rk_affine_add(w->b->unit, t->lo, 1, size);
    }
}

static const char *box_text(walker *w, const region *box, int32_t rank)
{
    rk_unit *unit = w->b->unit;
    const rk_symbol *symbol = w->b->work.symbol;
    const char *text = "[";
    for (int32_t d = 0; d < rank; d++) {
        text = rubus__arena_format(unit->arena, "%s%s%s:%s", text, d > 0 ? ", " : "",
                                   rk_affine_text(unit, symbol, box->lo[d]),
                                   rk_affine_text(unit, symbol, box->hi[d]));
    }
    return rubus__arena_format(unit->arena, "%s]", text);
}

static void report(walker *w, const rk_field *field, const region *box)
{
    const rk_decl *param = w->b->work.decl->param[field->param];
    if (w->reported[field->param]) {
        return;
    }
    w->reported[field->param] = true;
    rk_error(
        w->b->unit, RK_READ_BEFORE_WRITE, field->at,
        rubus__arena_format(w->b->unit->arena,
                            "declare it `inout %s %s`, or write these elements first",
                            rk_type_text(param->type), param->name),
        "`%s` is `out`, and this reads elements %s that no earlier statement surely "
        "wrote",
        param->name, box_text(w, box, param->rank));
    int32_t shown = 0;
    for (int32_t i = 0; i < field->when && shown < 3; i++) {
        const rk_item *item = &w->b->work.item[i];
        region wrote;
        if (item->kind == RK_ITEM_ASSIGN && item->param == field->param) {
            written_box(w, item, &wrote);
            rk_note(w->b->unit, item->at, "this writes %s%s",
                    box_text(w, &wrote, param->rank),
                    item->cond != NULL ? ", but only if a condition holds" : "");
            shown++;
        }
    }
}

/* Whether a statement wrote all of the box. What leaves the array is an error of its own,
 * so a write up to the end of the array covers whatever is read there. */
static bool covered(const walker *w, const rk_item *item, const region *box)
{
    const rk_affine *extent = w->b->work.extent[item->param];
    const int32_t rank = w->b->work.decl->param[item->param]->rank;
    region wrote;
    written_box(w, item, &wrote);
    for (int32_t d = 0; d < rank; d++) {
        const bool from = not_above(w, wrote.lo[d], rk_affine_int(0)) ||
                          not_above(w, wrote.lo[d], box->lo[d]);
        const bool to =
            not_above(w, extent[d], wrote.hi[d]) || not_above(w, box->hi[d], wrote.hi[d]);
        if (!from || !to) {
            return false;
        }
    }
    return true;
}

static void check_array(walker *w, const rk_field *field, const region *box)
{
    const rk_decl *param = w->b->work.decl->param[field->param];
    if (param->mode != RK_MODE_OUT) {
        return;
    }
    for (int32_t d = 0; d < param->rank; d++) {
        if (not_above(w, box->hi[d], box->lo[d])) {
            return; // empty
        }
    }
    for (int32_t i = 0; i < field->when; i++) {
        const rk_item *item = &w->b->work.item[i];
        rk_spend(w->b->unit, 1, field->at);
        if (item->kind == RK_ITEM_ASSIGN && item->param == field->param &&
            item->cond == NULL && covered(w, item, box)) {
            return;
        }
    }
    report(w, field, box);
}

/* --- one statement ------------------------------------------------------------------ */

static void pass_down(walker *w, const rk_field *field, const region *box)
{
    const rk_field *const part[] = {field->a, field->b, field->c};
    switch (field->kind) {
    case RK_FIELD_ARRAY:
        check_array(w, field, box);
        break;
    case RK_FIELD_SLICE:
        through_slice(w, field, box);
        break;
    case RK_FIELD_LIFT:
        through_lift(w, field, box);
        break;
    case RK_FIELD_PAD:
        through_pad(w, field, box);
        demand(w, field->b, box);
        break;
    default:
        for (int i = 0; i < 3; i++) {
            if (part[i] != NULL) {
                demand(w, part[i], box);
            }
        }
        for (int32_t i = 0; i < field->narg; i++) {
            demand(w, field->arg[i], box);
        }
        break;
    }
}

void rk_check_out_reads(rk_builder *b, const rk_item *item)
{
    if (item->kind == RK_ITEM_LET || !rk_field_reads(item->value)) {
        return;
    }
    walker w = {.b = b};
    if (b->visited == NULL) {
        b->visited =
            rk_new(b->unit, (size_t)(b->unit->next_id - b->first_id) * sizeof(int32_t));
    }
    w.number = b->visited;
    w.reported = rk_new(b->unit, (size_t)b->work.decl->nparam + 1);
    collect(&w, item->value);
    region all;
    memset(&all, 0, sizeof(all));
    memcpy(all.hi, item->size, sizeof(all.hi));
    demand(&w, item->value, &all);
    for (int32_t i = w.nvisit - 1; i >= 0; i--) {
        for (const region *r = w.visit[i].need; r != NULL; r = r->next) {
            rk_spend(b->unit, 1, w.visit[i].field->at);
            pass_down(&w, w.visit[i].field, r);
        }
    }
    for (int32_t i = 0; i < w.nvisit; i++) {
        w.number[w.visit[i].field->id - b->first_id] = 0;
    }
}
