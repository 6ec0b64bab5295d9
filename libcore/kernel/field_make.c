/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields made from fields: types, conversions, and folding of what is known already.
 *
 * Constants fold by the language's own arithmetic, so a folded value has the bits that
 * running would give. Sums and multiples of extents and int scalars stay affine, so a
 * size that went through arithmetic can still be compared with another.
 */
#include "config.h"

#include "libcore/kernel/field_build.h"

#include <string.h>

/* --- errors ------------------------------------------------------------------------- */

void rk_field_error(rk_builder *b, rk_code code, rk_span at, const char *cure,
                    const char *message, ...)
{
    va_list args;
    va_start(args, message);
    va_list again;
    va_copy(again, args);
    const int size = rubus__vsnprintf(NULL, 0, message, again);
    va_end(again);
    char *text = rk_new(b->unit, (size_t)(size < 0 ? 0 : size) + 1);
    rubus__vsnprintf(text, (size_t)(size < 0 ? 0 : size) + 1, message, args);
    va_end(args);
    rk_error(b->unit, code, rk_user_place(b, at), cure, "%s", text);
    rk_note_ops(b, at);
}

rk_span rk_user_place(const rk_builder *b, rk_span at)
{
    return b->nactive > 0 ? b->active[0].at : at;
}

void rk_note_ops(rk_builder *b, rk_span at)
{
    if (b->nactive == 0) {
        return;
    }
    for (int32_t i = 1; i < b->nactive && i < 8; i++) {
        rk_note(b->unit, b->active[i].at, "called by op `%s` here",
                b->active[i - 1].op->name);
    }
    rk_note(b->unit, at, "op `%s` fails here", b->active[b->nactive - 1].op->name);
}

/* --- nodes -------------------------------------------------------------------------- */

static rk_node *node_of(const rk_field *field)
{
    return (rk_node *)(uintptr_t)field;
}

rk_field *rk_field_new(rk_builder *b, rk_field_kind kind, rk_type type, rk_span at)
{
    rk_spend(b->unit, 1, at);
    rk_spend(b->unit, RK_STEPS_OF(sizeof(rk_node)), at);
    rk_node *node = RK_NEW(b->unit, rk_node);
    node->depth = 1;
    node->field.kind = kind;
    node->field.id = b->unit->next_id++;
    node->field.type = type;
    node->field.at = at;
    node->field.param = -1;
    return &node->field;
}

bool rk_field_adopt(rk_builder *b, rk_field *field, const rk_field *child)
{
    rk_node *node = node_of(field);
    const rk_node *below = node_of(child);
    node->reads = node->reads || below->reads;
    node->hosted = node->hosted && below->hosted;
    if (below->depth >= node->depth) {
        node->depth = below->depth + 1;
    }
    if (node->depth > b->unit->deepest) {
        b->unit->deepest = node->depth;
    }
    if (node->depth > RK_FIELD_DEPTH_MAX) {
        rk_field_error(b, RK_TOO_DEEP, field->at,
                       "store a value on the way in an array and go on from there",
                       "this value is nested more than %d operations deep",
                       (int)RK_FIELD_DEPTH_MAX);
        return false;
    }
    return true;
}

bool rk_field_reads(const rk_field *field)
{
    return node_of(field)->reads;
}

bool rk_field_hosted(const rk_field *field)
{
    return node_of(field)->hosted;
}

void rk_field_shape_as(rk_field *field, const rk_field *shape)
{
    field->rank = shape->rank;
    memcpy(field->size, shape->size, sizeof(field->size));
    memcpy(field->any, shape->any, sizeof(field->any));
}

/* --- leaves ------------------------------------------------------------------------- */

rk_field *rk_make_const(rk_builder *b, rk_value value, rk_span at)
{
    rk_field *field = rk_field_new(b, RK_FIELD_CONST, value.type, at);
    field->value = value;
    node_of(field)->hosted = true;
    return field;
}

rk_field *rk_make_symbol(rk_builder *b, rk_affine affine, rk_span at)
{
    rk_value value = {.type = RK_INT};
    if (rk_affine_is_const(affine, &value.u.i)) {
        return rk_make_const(b, rk_convert(&b->unit->numbers, value, RK_INT), at);
    }
    rk_field *field = rk_field_new(b, RK_FIELD_SYMBOL, RK_INT, at);
    field->affine = affine;
    node_of(field)->hosted = true;
    return field;
}

rk_field *rk_make_array(rk_builder *b, int32_t param, rk_span at)
{
    const rk_decl *decl = b->work.decl->param[param];
    rk_field *field = rk_field_new(b, RK_FIELD_ARRAY, decl->type, at);
    field->param = param;
    field->when = b->work.nitem;
    field->rank = decl->rank;
    for (int32_t d = 0; d < decl->rank; d++) {
        field->size[d] = b->work.extent[param][d];
    }
    node_of(field)->reads = true;
    return field;
}

/* --- conversions -------------------------------------------------------------------- */

rk_field *rk_make_real(rk_builder *b, rk_field *field)
{
    if (field->type != RK_INT) {
        return field;
    }
    if (field->kind == RK_FIELD_CONST) {
        return rk_make_const(b, rk_convert(&b->unit->numbers, field->value, RK_REAL),
                             field->at);
    }
    rk_field *real = rk_field_new(b, RK_FIELD_APPLY, RK_REAL, field->at);
    real->op = RK_OP_TO_REAL;
    real->a = field;
    rk_field_shape_as(real, field);
    node_of(real)->hosted = true;
    return rk_field_adopt(b, real, field) ? real : NULL;
}

rk_field *rk_make_store(rk_builder *b, rk_field *field, rk_type to, rk_span at,
                        const char *what)
{
    if (field->type == to) {
        return field;
    }
    if (field->type == RK_INT && to == RK_REAL) {
        return rk_make_real(b, field);
    }
    rk_bad_store(b->unit, rk_user_place(b, at), field->type, to, what);
    rk_note_ops(b, at);
    return NULL;
}

/* --- folding ------------------------------------------------------------------------ */

static bool affine_of(const rk_field *field, rk_affine *out)
{
    if (field->kind == RK_FIELD_SYMBOL) {
        *out = field->affine;
        return true;
    }
    if (field->kind == RK_FIELD_CONST && field->type == RK_INT) {
        *out = rk_affine_int(field->value.u.i);
        return true;
    }
    return false;
}

/* Int arithmetic on extents and int scalars that stays affine; NULL: none. */
static rk_field *fold_affine(rk_builder *b, const rk_field *f)
{
    rk_affine x = rk_affine_int(0);
    rk_affine y = rk_affine_int(0);
    int64_t k = 0;
    if (f->type != RK_INT || !affine_of(f->a, &x) ||
        (f->op != RK_OP_NEG && (f->b == NULL || !affine_of(f->b, &y)))) {
        return NULL;
    }
    switch (f->op) {
    case RK_OP_NEG:
        return rk_make_symbol(b, rk_affine_scale(b->unit, x, -1), f->at);
    case RK_OP_ADD:
        return rk_make_symbol(b, rk_affine_add(b->unit, x, 1, y), f->at);
    case RK_OP_SUB:
        return rk_make_symbol(b, rk_affine_add(b->unit, x, -1, y), f->at);
    case RK_OP_MUL:
        if (rk_affine_is_const(x, &k)) {
            return rk_make_symbol(b, rk_affine_scale(b->unit, y, k), f->at);
        }
        if (rk_affine_is_const(y, &k)) {
            return rk_make_symbol(b, rk_affine_scale(b->unit, x, k), f->at);
        }
        return NULL;
    default:
        return NULL;
    }
}

static bool is_const(const rk_field *field)
{
    return field == NULL || field->kind == RK_FIELD_CONST;
}

/* What f, whose operands are set, folds to; f itself if nothing is known. */
static rk_field *fold(rk_builder *b, rk_field *f)
{
    if (is_const(f->a) && is_const(f->b) && is_const(f->c)) {
        const rk_value none = {.type = RK_VOID};
        return rk_make_const(b,
                             rk_apply(&b->unit->numbers, f->op, f->a->value,
                                      f->b != NULL ? f->b->value : none,
                                      f->c != NULL ? f->c->value : none),
                             f->at);
    }
    if (f->op == RK_OP_SELECT && f->a->kind == RK_FIELD_CONST) {
        rk_field *taken = f->a->value.u.b ? f->b : f->c;
        bool same = taken->rank == f->rank; // a scalar must not lose the other's shape
        for (int32_t d = 0; d < f->rank; d++) {
            same = same && taken->any[d] == f->any[d] &&
                   (f->any[d] || rk_affine_equal(taken->size[d], f->size[d]));
        }
        return same ? taken : f;
    }
    rk_field *affine = fold_affine(b, f);
    return affine != NULL ? affine : f;
}

/* --- operations --------------------------------------------------------------------- */

static const char *op_text(rk_unit *unit, rk_op op)
{
    return rubus__arena_format(unit->arena, "`%s`", rk_op_spelling(op));
}

rk_field *rk_make_apply(rk_builder *b, rk_span at, rk_op op, rk_operand_of x,
                        rk_operand_of y, rk_operand_of z)
{
    rk_operand_of operand[3] = {x, y, z};
    const int n = rk_op_operands(op);
    rk_type type[3] = {RK_VOID, RK_VOID, RK_VOID};
    for (int i = 0; i < n; i++) {
        if (operand[i].field == NULL) {
            return NULL;
        }
        type[i] = operand[i].field->type;
    }
    const rk_type result = rk_op_type(op, type[0], type[1], type[2]);
    if (result == RK_VOID) {
        rk_bad_operands(b->unit, rk_user_place(b, at), op, type[0], type[1], type[2]);
        rk_note_ops(b, at);
        return NULL;
    }
    rk_field *f = rk_field_new(b, RK_FIELD_APPLY, result, at);
    rk_field **slot[3] = {&f->a, &f->b, &f->c};
    rk_operand_of from = operand[0];
    f->op = op;
    node_of(f)->hosted = true;
    for (int i = 0; i < n; i++) {
        if (!rk_shape_join(b, f, from, operand[i], at, op_text(b->unit, op))) {
            return NULL;
        }
        from = from.field->rank == 0 ? operand[i] : from;
        const rk_type want = rk_op_operand_type(op, i, type[0], type[1], type[2]);
        *slot[i] = want == RK_REAL ? rk_make_real(b, operand[i].field) : operand[i].field;
        if (*slot[i] == NULL || !rk_field_adopt(b, f, *slot[i])) {
            return NULL;
        }
    }
    return fold(b, f);
}

rk_field *rk_make_call(rk_builder *b, rk_span at, rk_decl *func, rk_field **arg,
                       const rk_span *arg_at)
{
    rk_field *f = rk_field_new(b, RK_FIELD_CALL, func->type, at);
    f->func = func;
    f->narg = func->nparam;
    f->arg = rk_new(b->unit, ((size_t)func->nparam + 1) * sizeof(rk_field *));
    rk_operand_of from = {NULL, at};
    const char *what = rubus__arena_format(b->unit->arena, "`%s`", func->name);
    for (int32_t i = 0; i < func->nparam; i++) {
        const rk_operand_of next = {arg[i], arg_at[i]};
        from = from.field == NULL ? next : from;
        if (!rk_shape_join(b, f, from, next, at, what)) {
            return NULL;
        }
        from = from.field->rank == 0 ? next : from;
        f->arg[i] =
            rk_make_store(b, arg[i], func->param[i]->type, arg_at[i],
                          rubus__arena_format(b->unit->arena, "parameter `%s` of `%s`",
                                              func->param[i]->name, func->name));
        if (f->arg[i] == NULL || !rk_field_adopt(b, f, f->arg[i])) {
            return NULL;
        }
    }
    rk_use_func(b->unit, func);
    return f;
}
