/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees of a form as text of the kernel language: as fields on the mesh, for whole-array
 * kernels, and at a point, for per-point ones.
 *
 * A load at an offset becomes a slice that is filled up with zeros to the size of the
 * mesh; the guard that made the load safe becomes a pad of a slice of what it guards. The
 * planner sees that the inner one lies inside the outer one and drops it.
 */
#include "config.h"

#include "libcore/kernel/form_write.h"

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20 };

const char *rk_write(rk_writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    const int size = rubus__vsnprintf(NULL, 0, format, again);
    va_end(again);
    const size_t n = (size_t)(size < 0 ? 0 : size);
    if (n > TEXT_MAX) {
        rk_error(
            w->unit, RK_TOO_LARGE, w->form->decl->at, "make a form of fewer products",
            "the text of a kernel of form `%s` grows too large", w->form->decl->name);
        rk_give_up(w->unit);
    }
    rk_spend(w->unit, RK_STEPS_OF(n), w->form->decl->at);
    char *text = rk_new(w->unit, n + 1);
    rubus__vsnprintf(text, n + 1, format, args);
    va_end(args);
    return text;
}

/* --- parameters -------------------------------------------------------------------- */

const char *rk_write_leaf(rk_writer *w, const rk_leaf *leaf, const char *mode)
{
    for (int32_t i = 0; i < w->nparam; i++) {
        if (w->param[i].name == leaf->name) {
            return leaf->name;
        }
    }
    for (int32_t i = 0; i < w->nlet; i++) {
        if (w->let_name[i] == leaf->name) {
            return leaf->name;
        }
    }
    w->param = rk_extend(w->unit, w->param, w->nparam, sizeof(*w->param));
    w->mode = rk_extend(w->unit, (void *)(uintptr_t)w->mode, w->nparam, sizeof(*w->mode));
    w->param[w->nparam] = *leaf;
    w->mode[w->nparam++] = rk_leaf_rank(w->form, leaf) == 0 && mode[0] == 'i' ? "" : mode;
    return leaf->name;
}

const char *rk_write_own(rk_writer *w, rk_leaf_kind kind, int32_t number, int32_t axis,
                         const char *mode)
{
    return rk_write_leaf(w, rk_form_leaf(w->form, kind, number, axis), mode);
}

uint32_t rk_fix_faces(const rk_writer *w, int32_t component)
{
    const rk_form_fix *fix = w->fix;
    return fix->mode == RK_FIX_NONE || fix->faces == NULL || rk_fix_masked(w, component)
               ? 0
               : fix->faces[component];
}

bool rk_fix_masked(const rk_writer *w, int32_t component)
{
    const rk_form_fix *fix = w->fix;
    return fix->mode != RK_FIX_NONE && fix->mask != NULL && fix->mask[component];
}

/* Marks the leaves that an expression names. */
static void use_names(rk_writer *w, const rk_expr *e)
{
    if (e == NULL) {
        return;
    }
    for (int32_t i = 0; i < w->form->nleaf && e->kind == RK_EXPR_NAME; i++) {
        if (w->form->leaf[i]->name == e->name) {
            (void)rk_write_leaf(w, w->form->leaf[i], "in");
            return;
        }
    }
    rk_spend(w->unit, 1, e->at);
    use_names(w, e->a);
    use_names(w, e->b);
    use_names(w, e->c);
    for (int32_t i = 0; i < e->narg; i++) {
        use_names(w, e->arg[i]);
    }
    for (int32_t i = 0; i < e->nsub; i++) {
        use_names(w, e->sub[i].lo);
        use_names(w, e->sub[i].hi);
    }
}

const char *rk_write_expr(rk_writer *w, const rk_expr *e)
{
    use_names(w, e);
    rubus__text *text = &w->unit->draft;
    rk_print_expr(w->unit, e, text);
    const bool large = !text->failed && text->size > TEXT_MAX;
    char *copy = large || text->failed || text->data == NULL
                     ? NULL
                     : rubus__arena_strndup(w->unit->arena, text->data, text->size);
    rubus__text_fini(text);
    if (copy == NULL && !large) {
        w->unit->status = RUBUS_ENOMEM;
        rk_give_up(w->unit);
    }
    return copy != NULL ? rk_write(w, "(%s)", copy)
                        : rk_write(w, "%*s", TEXT_MAX + 2, "");
}

/* --- pieces ------------------------------------------------------------------------ */

static const char *number_text(rk_writer *w, rk_value value)
{
    if (value.type == RK_BOOL) {
        return value.u.b ? "true" : "false";
    }
    if (value.type == RK_INT) {
        return rk_write(w, value.u.i < 0 ? "(%lld)" : "%lld", (long long)value.u.i);
    }
    const double x = value.u.real;
    if (isnan(x)) {
        return "(0.0 / 0)";
    }
    if (isinf(x)) {
        return x < 0 ? "(-1.0 / 0)" : "(1.0 / 0)";
    }
    const char *text = rk_write(w, "%.17g", fabs(x));
    text = strpbrk(text, ".e") == NULL ? rk_write(w, "%s.0", text) : text;
    return signbit(x) ? rk_write(w, "(-%s)", text) : text;
}

static const char *affine_text(rk_writer *w, rk_affine a)
{
    const rk_work *work = w->form->work;
    for (int32_t i = 0; i < a.nterm; i++) {
        const rk_symbol *s = &work->symbol[a.term[i].symbol];
        if (s->kind == RK_SYMBOL_SCALAR) {
            (void)rk_write_leaf(w, w->form->leaf[s->param], "in");
        }
    }
    return rk_affine_text(w->unit, work->symbol, a);
}

/* "[1:, :]" */
static const char *slice_text(rk_writer *w, const int64_t lo[3], const int64_t hi[3])
{
    const char *text = "[";
    for (int32_t d = 0; d < w->ndim; d++) {
        text = rk_write(w, "%s%s", text, d > 0 ? ", " : "");
        text = lo[d] > 0 ? rk_write(w, "%s%lld:", text, (long long)lo[d])
                         : rk_write(w, "%s:", text);
        text = hi[d] > 0 ? rk_write(w, "%s-%lld", text, (long long)hi[d]) : text;
    }
    return rk_write(w, "%s]", text);
}

/* pad(field, outside, before:after, ...) */
static const char *pad_text(rk_writer *w, const char *field, const char *outside,
                            const int64_t before[3], const int64_t after[3])
{
    const char *text = rk_write(w, "pad(%s, %s", field, outside);
    for (int32_t d = 0; d < w->ndim; d++) {
        text =
            rk_write(w, "%s, %lld:%lld", text, (long long)before[d], (long long)after[d]);
    }
    return rk_write(w, "%s)", text);
}

const char *rk_write_moved(rk_writer *w, const char *field, const int32_t offset[3],
                           const char *outside)
{
    int64_t up[3] = {0, 0, 0};
    int64_t down[3] = {0, 0, 0};
    bool any = false;
    for (int32_t d = 0; d < w->ndim; d++) {
        up[d] = offset[d] > 0 ? offset[d] : 0;
        down[d] = offset[d] < 0 ? -offset[d] : 0;
        any = any || offset[d] != 0;
    }
    if (!any) {
        return field;
    }
    const char *slice = rk_write(w, "%s%s", field, slice_text(w, down, up));
    return pad_text(w, slice, outside, up, down);
}

const char *rk_write_line(rk_writer *w, const rk_leaf *leaf)
{
    const char *name = rk_write_leaf(w, leaf, "in");
    const char *sub = "";
    for (int32_t k = 0; k < w->ndim && w->ndim > 1; k++) {
        sub = rk_write(w, "%s%s%s", sub, k > 0 ? ", " : "", k == leaf->axis ? ":" : "*");
    }
    return w->ndim > 1 ? rk_write(w, "%s[%s]", name, sub) : name;
}

const char *rk_write_weight(rk_writer *w, const rk_form_term *term)
{
    const char *text = NULL;
    for (int32_t d = 0; d < w->ndim; d++) {
        if (term->face >= 0 && term->face / 2 == d) {
            continue;
        }
        const bool staggered = (term->staggered >> d & 1u) != 0;
        const char *name = rk_write_line(
            w, rk_form_leaf(w->form, staggered ? RK_LEAF_A : RK_LEAF_W, 0, d));
        text = text == NULL ? name : rk_write(w, "%s * %s", text, name);
    }
    return text == NULL ? NULL : rk_write(w, "(%s)", text);
}

/* --- operations, the same in both -------------------------------------------------- */

static const char *apply_text(rk_writer *w, rk_op op, const char *a, const char *b,
                              const char *c)
{
    const char *name = rk_op_spelling(op);
    const bool word = (name[0] >= 'a' && name[0] <= 'z');
    if (op == RK_OP_SELECT) {
        return rk_write(w, "(%s ? %s : %s)", a, b, c);
    }
    if (!word && op == RK_OP_POWI) {
        return rk_write(w, "(%s^%s)", a, b);
    }
    if (!word) {
        return b == NULL ? rk_write(w, "(%s%s)", name, a)
                         : rk_write(w, "(%s %s %s)", a, name, b);
    }
    return c != NULL   ? rk_write(w, "%s(%s, %s, %s)", name, a, b, c)
           : b != NULL ? rk_write(w, "%s(%s, %s)", name, a, b)
                       : rk_write(w, "%s(%s)", name, a);
}

/* --- as fields --------------------------------------------------------------------- */

static const char *coordinate_name(int32_t axis)
{
    return axis == 0 ? "ix" : axis == 1 ? "iy" : "iz";
}

static const char *zero_of(rk_type type)
{
    return type == RK_BOOL ? "false" : "0";
}

static const char *unknown_place(rk_writer *w, rk_span at)
{
    rk_error(w->unit, RK_FORM_SLICE, at, "use operators, or slices by numbers of points",
             "a field is read where only the sizes tell");
    rk_give_up(w->unit);
}

static const char *load_text(rk_writer *w, const rk_ir *node, uint32_t *axes)
{
    const rk_leaf *leaf = w->form->leaf[node->param];
    const int32_t rank = rk_leaf_rank(w->form, leaf);
    const int32_t ndim = w->ndim;
    const int64_t less = leaf->kind == RK_LEAF_S ? 1 : 0;
    const char *text = rk_write(w, "%s[", rk_write_leaf(w, leaf, "in"));
    int64_t before[3] = {0, 0, 0};
    int64_t after[3] = {0, 0, 0};
    bool padded = false;
    int32_t axis = 0; // next one of the mesh to be given a subscript
    *axes = 0;
    const char *comma = "";
    for (int32_t k = 0; k < rank; k++) {
        int64_t off = 0;
        if (node->at[k].axis < 0) {
            text = rk_write(w, "%s%s%s", text, comma, affine_text(w, node->at[k].off));
            comma = ", ";
            continue;
        }
        if (!rk_affine_is_const(node->at[k].off, &off) || node->at[k].axis < axis) {
            return unknown_place(w, node->at_source);
        }
        for (; axis < node->at[k].axis; axis++) {
            text = rk_write(w, "%s%s*", text, comma);
            comma = ", ";
        }
        const int64_t end = less + off;
        text = off > 0 ? rk_write(w, "%s%s%lld:", text, comma, (long long)off)
                       : rk_write(w, "%s%s:", text, comma);
        text = end < 0 ? rk_write(w, "%s-%lld", text, (long long)-end) : text;
        comma = ", ";
        before[axis] = off < 0 ? -off : 0;
        after[axis] = end > 0 ? end : 0;
        padded = padded || before[axis] > 0 || after[axis] > 0;
        *axes |= 1u << axis++;
    }
    for (; axis < ndim && *axes != 0; axis++) {
        text = rk_write(w, "%s%s*", text, comma);
        comma = ", ";
    }
    text = rk_write(w, "%s]", text);
    return padded ? pad_text(w, text, zero_of(node->type), before, after) : text;
}

/* The value with a size along all axes. */
static const char *full_text(rk_writer *w, const char *value)
{
    return rk_write(w, "(true ? %s : 0 * ix(%s))", value, w->mesh);
}

static const char *box_text(rk_writer *w, const rk_box *box, const char *const index[3])
{
    const char *text = NULL;
    for (int32_t d = 0; d < w->ndim; d++) {
        if (!box->bounded[d]) {
            continue;
        }
        const char *lo = affine_text(w, box->lo[d]);
        const char *hi = affine_text(w, box->hi[d]);
        const char *one =
            rk_write(w, "%s >= (%s) && %s < (%s)", index[d], lo, index[d], hi);
        text = text == NULL ? one : rk_write(w, "%s && %s", text, one);
    }
    return text == NULL ? "true" : rk_write(w, "(%s)", text);
}

static const char *guard_text(rk_writer *w, const rk_ir *node, uint32_t *axes)
{
    const rk_box *box = &node->box;
    int64_t lo[3] = {0, 0, 0};
    int64_t hi[3] = {0, 0, 0};
    uint32_t bounded = 0;
    // tables have no slices: an axis may be shorter than these
    const bool simple =
        node->b->kind == RK_IR_CONST && !w->line && rk_form_box(w->form, box, lo, hi);
    for (int32_t d = 0; d < w->ndim && simple; d++) {
        lo[d] = lo[d] < 0 ? 0 : lo[d];
        hi[d] = hi[d] > 0 ? 0 : -hi[d];
        bounded |= lo[d] > 0 || hi[d] > 0 ? 1u << d : 0;
    }
    uint32_t own = 0;
    const char *a = rk_write_field(w, node->a, &own);
    if (simple && bounded == 0) {
        *axes = own;
        return a;
    }
    if (simple) {
        const bool sized = (own & bounded) == bounded;
        a = sized ? rk_write(w, "(%s)", a) : full_text(w, a);
        *axes = sized ? own : (1u << w->ndim) - 1;
        return pad_text(w, rk_write(w, "%s%s", a, slice_text(w, lo, hi)),
                        number_text(w, node->b->value), lo, hi);
    }
    const char *index[3];
    for (int32_t d = 0; d < w->ndim; d++) {
        index[d] = rk_write(w, "%s(%s)", coordinate_name(d), w->mesh);
    }
    *axes = (1u << w->ndim) - 1;
    return rk_write(w, "(%s ? %s : %s)", box_text(w, box, index), a,
                    rk_write_field(w, node->b, &own));
}

static const char *call_field(rk_writer *w, const rk_ir *node, uint32_t *axes)
{
    const char *text = rk_write(w, "%s(", node->func->name);
    for (int32_t i = 0; i < node->narg; i++) {
        uint32_t own = 0;
        text = rk_write(w, "%s%s%s", text, i > 0 ? ", " : "",
                        rk_write_field(w, node->arg[i], &own));
        *axes |= own;
    }
    return rk_write(w, "%s)", text);
}

const char *rk_write_field(rk_writer *w, const rk_ir *node, uint32_t *axes)
{
    const rk_ir *part[3] = {node->a, node->b, node->c};
    const char *text[3] = {NULL, NULL, NULL};
    *axes = 0;
    switch (node->kind) {
    case RK_IR_CONST:
        return number_text(w, node->value);
    case RK_IR_SCALAR:
        return rk_write_leaf(w, w->form->leaf[node->param], "in");
    case RK_IR_AFFINE:
        return rk_write(w, "(%s)", affine_text(w, node->affine));
    case RK_IR_COORD:
        *axes = (1u << w->ndim) - 1;
        return rk_write(w, "(%s(%s) + (%s))", coordinate_name(node->axis), w->mesh,
                        affine_text(w, node->affine));
    case RK_IR_LOAD:
        return load_text(w, node, axes);
    case RK_IR_GUARD:
        return guard_text(w, node, axes);
    case RK_IR_CALL:
        return call_field(w, node, axes);
    default:
        break;
    }
    for (int i = 0; i < 3 && part[i] != NULL; i++) {
        uint32_t own = 0;
        text[i] = rk_write_field(w, part[i], &own);
        *axes |= own;
    }
    return apply_text(w, node->op, text[0], text[1], text[2]);
}

/* --- at a point -------------------------------------------------------------------- */

/* "i - 1" */
static const char *place_text(rk_writer *w, const char *index, int64_t less)
{
    return less == 0  ? index
           : less > 0 ? rk_write(w, "%s - %lld", index, (long long)less)
                      : rk_write(w, "%s + %lld", index, (long long)-less);
}

static const char *load_point(rk_writer *w, const rk_ir *node, const char *const index[3],
                              const int32_t offset[3])
{
    const rk_leaf *leaf = w->form->leaf[node->param];
    const int32_t rank = rk_leaf_rank(w->form, leaf);
    const char *text = rk_write(w, "%s[", rk_write_leaf(w, leaf, "in"));
    for (int32_t k = 0; k < rank; k++) {
        const rk_at *at = &node->at[k];
        int64_t off = 0;
        const char *one = affine_text(w, at->off);
        if (at->axis >= 0) {
            one = rk_affine_is_const(at->off, &off)
                      ? place_text(w, index[at->axis], offset[at->axis] - off)
                      : rk_write(w, "%s + (%s)",
                                 place_text(w, index[at->axis], offset[at->axis]), one);
        }
        text = rk_write(w, "%s%s%s", text, k > 0 ? ", " : "", one);
    }
    return rk_write(w, "%s]", text);
}

static const char *guard_point(rk_writer *w, const rk_box *box,
                               const char *const index[3], const int32_t offset[3])
{
    const char *place[3] = {NULL, NULL, NULL};
    for (int32_t d = 0; d < w->ndim; d++) {
        place[d] = place_text(w, index[d], offset[d]);
    }
    return box_text(w, box, place);
}

const char *rk_write_point(rk_writer *w, const rk_ir *node, const char *const index[3],
                           const int32_t offset[3])
{
    const rk_ir *part[3] = {node->a, node->b, node->c};
    const char *text[3] = {NULL, NULL, NULL};
    if (node->kind == RK_IR_LOAD) {
        return load_point(w, node, index, offset);
    }
    if (node->kind == RK_IR_COORD) {
        return rk_write(w, "(%s + (%s))",
                        place_text(w, index[node->axis], offset[node->axis]),
                        affine_text(w, node->affine));
    }
    if (node->kind == RK_IR_CALL) {
        const char *call = rk_write(w, "%s(", node->func->name);
        for (int32_t i = 0; i < node->narg; i++) {
            call = rk_write(w, "%s%s%s", call, i > 0 ? ", " : "",
                            rk_write_point(w, node->arg[i], index, offset));
        }
        return rk_write(w, "%s)", call);
    }
    for (int i = 0; i < 3 && part[i] != NULL; i++) {
        text[i] = rk_write_point(w, part[i], index, offset);
    }
    if (node->kind == RK_IR_GUARD) {
        return rk_write(w, "(%s ? %s : %s)", guard_point(w, &node->box, index, offset),
                        text[0], text[1]);
    }
    uint32_t axes = 0;
    return node->kind == RK_IR_APPLY ? apply_text(w, node->op, text[0], text[1], text[2])
                                     : rk_write_field(w, node, &axes);
}

/* --- when a tap is there ----------------------------------------------------------- */

bool rk_write_masked(const rk_form *form, const rk_ir *node)
{
    if (node == NULL) {
        return false;
    }
    if (node->kind == RK_IR_LOAD) {
        return form->leaf[node->param]->kind == RK_LEAF_MASK;
    }
    return rk_write_masked(form, node->a) || rk_write_masked(form, node->b) ||
           rk_write_masked(form, node->c);
}

const char *rk_write_present(rk_writer *w, const rk_ir *node, const char *const index[3],
                             const int32_t offset[3])
{
    if (!rk_write_masked(w->form, node)) {
        return node->kind == RK_IR_CONST && node->type == RK_REAL &&
                       node->value.u.real == 0
                   ? "false"
                   : "true";
    }
    if (node->kind == RK_IR_GUARD) {
        return rk_write(w, "(%s && %s)", guard_point(w, &node->box, index, offset),
                        rk_write_present(w, node->a, index, offset));
    }
    if (node->kind == RK_IR_APPLY && node->op == RK_OP_SELECT &&
        rk_write_masked(w->form, node->a)) {
        return rk_write(w, "(%s ? %s : %s)", rk_write_point(w, node->a, index, offset),
                        rk_write_present(w, node->b, index, offset),
                        rk_write_present(w, node->c, index, offset));
    }
    const bool sum = node->op == RK_OP_ADD || node->op == RK_OP_SUB;
    const char *a = rk_write_present(w, node->a, index, offset);
    return node->b == NULL ? a
                           : rk_write(w, "(%s %s %s)", a, sum ? "||" : "&&",
                                      rk_write_present(w, node->b, index, offset));
}
