/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements of whole-array kernels: lets, assignments to arrays and slices of them,
 * results, and conditions. Each becomes an item of the work, in order, with the
 * condition of the ifs around it.
 */
#include "config.h"

#include "libcore/kernel/field_build.h"

#include <string.h>

static rk_item *add_item(rk_builder *b, rk_item_kind kind, rk_span at)
{
    rk_work *work = &b->work;
    work->item = rk_extend(b->unit, work->item, work->nitem, sizeof(rk_item));
    rk_item *item = &work->item[work->nitem++];
    memset(item, 0, sizeof(*item));
    item->kind = kind;
    item->at = at;
    item->cond = b->cond;
    item->param = -1;
    return item;
}

/* --- lets --------------------------------------------------------------------------- */

static void build_let(rk_builder *b, const rk_stmt *s)
{
    rk_field *value = rk_build_expr(b, s->value);
    rk_scope_let(&b->scope, s, value,
                 "give the value another name; a let keeps its value");
    if (value != NULL) {
        rk_item *item = add_item(b, RK_ITEM_LET, s->at);
        item->name = s->name;
        item->value = value;
        item->rank = value->rank;
        memcpy(item->size, value->size, sizeof(item->size));
    }
}

/* --- left sides --------------------------------------------------------------------- */

static const char *kind_text(const rk_field *field)
{
    switch (field->kind) {
    case RK_FIELD_LIFT:
        return "a field with a new dimension";
    case RK_FIELD_PAD:
        return "a padded field";
    case RK_FIELD_COORD:
        return "a field of coordinates";
    case RK_FIELD_CONST:
    case RK_FIELD_SCALAR:
    case RK_FIELD_SYMBOL:
        return "a scalar value";
    default:
        return "a computed value";
    }
}

static void bad_target(rk_builder *b, const rk_expr *target, const char *what)
{
    rk_field_error(b, RK_BAD_TARGET, target->at,
                   "assign to an array or a slice of one: `u[1:-1, :] = ...`, "
                   "`inn(u) = ...`",
                   "the left side is %s, which cannot be assigned", what);
}

/* The name that the left side is about; NULL: none. */
static const rk_bound *root_of(const rk_builder *b, const rk_expr *target)
{
    while (target->kind == RK_EXPR_INDEX) {
        target = target->a;
    }
    return target->kind == RK_EXPR_NAME ? rk_scope_find(&b->scope, target->name) : NULL;
}

/* Which elements of the array the points of the left side are; the array's parameter. */
static bool locate(rk_builder *b, const rk_expr *target, const rk_field *field,
                   rk_item *item)
{
    rk_field_sub at[3];
    memset(at, 0, sizeof(at));
    for (int32_t d = 0; d < 3; d++) {
        at[d].keep = d < field->rank;
    }
    while (field->kind == RK_FIELD_SLICE) {
        rk_field_sub outer[3];
        memcpy(outer, at, sizeof(outer));
        int32_t next = 0;
        for (int32_t d = 0; d < field->a->rank; d++) {
            at[d] = field->sub[d];
            if (field->sub[d].keep) {
                at[d].keep = outer[next].keep;
                at[d].lo = rk_affine_add(b->unit, outer[next].lo, 1, field->sub[d].lo);
                next++;
            }
        }
        field = field->a;
    }
    if (field->kind != RK_FIELD_ARRAY) {
        bad_target(b, target, kind_text(field));
        return false;
    }
    item->param = field->param;
    memcpy(item->target, at, sizeof(at));
    return true;
}

/* Reports names that stand for no array. */
static bool check_root(rk_builder *b, const rk_expr *target)
{
    const rk_bound *root = root_of(b, target);
    if (root == NULL || rk_decl_is_unknown(root->decl)) {
        return true; // a call, or unknown: reported when it is built
    }
    const rk_decl *decl = root->decl;
    if (decl->kind == RK_DECL_LET) {
        rk_error(
            b->unit, RK_BAD_TARGET, target->at,
            "a let names a value; store it in an array, or give the new one a new name",
            "`%s` is a let and cannot be assigned", decl->name);
        rk_note(b->unit, decl->at, "its value is given here");
        return false;
    }
    if (decl->kind == RK_DECL_EXTENT ||
        (decl->kind == RK_DECL_PARAM && decl->rank == 0 && !decl->is_result)) {
        rk_error(b->unit, RK_NOT_ASSIGNABLE, target->at,
                 "name the new value with `let`, or declare a result `out real NAME`",
                 "`%s` is %s and keeps its value", decl->name, rk_decl_text(decl));
        rk_note(b->unit, decl->at, "declared here");
        return false;
    }
    return true;
}

/* The left side as a field; which elements it is goes to *item. */
static rk_field *build_target(rk_builder *b, const rk_expr *target, rk_item *item)
{
    if (!check_root(b, target)) {
        return NULL;
    }
    const bool reads_out = b->reads_out; // being written is not being read
    rk_field *field = rk_build_expr(b, target);
    b->reads_out = reads_out;
    if (field == NULL || !locate(b, target, field, item)) {
        return NULL;
    }
    const rk_decl *param = b->work.decl->param[item->param];
    if (param->mode == RK_MODE_IN) {
        rk_error(b->unit, RK_WRITE_TO_IN, target->at,
                 rubus__arena_format(b->unit->arena, "declare it `inout %s %s`",
                                     rk_type_text(param->type), param->name),
                 "`%s` is `in`, so it cannot be written", param->name);
        rk_note(b->unit, param->at, "declared here");
        return NULL;
    }
    return field;
}

/* --- assignments -------------------------------------------------------------------- */

/* The value with `+=` and its like applied, in the type of the array. */
static rk_field *stored_value(rk_builder *b, const rk_stmt *s, rk_field *target,
                              const rk_decl *param)
{
    rk_field *value = rk_build_expr(b, s->value);
    const rk_operand_of left = {target, s->target->at};
    rk_operand_of right = {value, s->value->at};
    if (value == NULL || !rk_shape_fits(b, left, right, s->at)) {
        return NULL;
    }
    if (s->op != RK_OP_NONE) {
        const rk_operand_of none = {.field = NULL};
        if (s->op == RK_OP_DIV && param->type == RK_INT && value->type != RK_BOOL) {
            rk_bad_int_division(b->unit, s->at, rk_source_text(b->unit, s->target->at));
            return NULL;
        }
        b->reads_out = b->reads_out || param->mode == RK_MODE_OUT;
        value = rk_make_apply(b, s->at, s->op, left, right, none);
        if (value == NULL) {
            return NULL;
        }
    }
    return rk_make_store(b, value, param->type, s->value->at,
                         rubus__arena_format(b->unit->arena, "`%s`", param->name));
}

static void build_array_assign(rk_builder *b, const rk_stmt *s)
{
    rk_item draft;
    memset(&draft, 0, sizeof(draft));
    rk_field *target = build_target(b, s->target, &draft);
    if (target == NULL) {
        (void)rk_build_expr(b, s->value); // for its own errors
        return;
    }
    const rk_decl *param = b->work.decl->param[draft.param];
    rk_field *value = stored_value(b, s, target, param);
    if (value == NULL) {
        return;
    }
    rk_item *item = add_item(b, RK_ITEM_ASSIGN, s->at);
    item->value = value;
    item->param = draft.param;
    memcpy(item->target, draft.target, sizeof(item->target));
    item->rank = target->rank;
    memcpy(item->size, target->size, sizeof(item->size));
}

/* --- results ------------------------------------------------------------------------ */

static bool check_result(rk_builder *b, const rk_stmt *s, const rk_decl *param)
{
    rk_unit *unit = b->unit;
    const char *form = rubus__arena_format(
        unit->arena, "write `%s = sum(F);`, or max or min of a field", param->name);
    if (s->target->kind != RK_EXPR_NAME || s->op != RK_OP_NONE) {
        rk_error(unit, RK_BAD_RESULT_VALUE, s->at, form,
                 "result `%s` is assigned as a whole, with `=`", param->name);
        return false;
    }
    if (b->nif > 0) {
        rk_error(unit, RK_RESULT_IN_IF, s->at,
                 "assign it outside, of a field that depends on the condition: "
                 "`sum(c ? F : 0 * F)`",
                 "result `%s` is assigned inside an `if`", param->name);
        return false;
    }
    rk_span *first = &b->result[param->number];
    if (first->source != NULL) {
        rk_error(unit, RK_RESULT_TWICE, s->at,
                 "give the second value a result of its own",
                 "result `%s` is assigned twice", param->name);
        rk_note(unit, *first, "first here");
        return false;
    }
    *first = s->at;
    rk_fold_op fold;
    if (s->value->kind != RK_EXPR_CALL || s->value->narg != 1 ||
        !rk_fold_by_name(s->value->name, &fold)) {
        rk_error(unit, RK_BAD_RESULT_VALUE, s->value->at, form,
                 "the value of result `%s` is not a fold", param->name);
        return false;
    }
    return true;
}

static bool check_folded(rk_builder *b, const rk_field *value, rk_span at,
                         const char *name)
{
    if (value->type == RK_BOOL) {
        rk_bad_store(b->unit, at, RK_BOOL, RK_REAL,
                     rubus__arena_format(b->unit->arena, "the operand of `%s`", name));
        return false;
    }
    if (value->rank == 0) {
        rk_error(b->unit, RK_BAD_RESULT_VALUE, at,
                 "fold a field: an array, or made of arrays", "`%s` of a scalar", name);
        return false;
    }
    for (int32_t d = 0; d < value->rank; d++) {
        if (value->any[d]) {
            rk_error(
                b->unit, RK_ANY_SIZE, at, "combine it with a field that has a size there",
                "dimension %d of this field was made by `*`, so it is unknown over how "
                "many points to fold",
                d);
            return false;
        }
    }
    return true;
}

static void build_result(rk_builder *b, const rk_stmt *s, const rk_decl *param)
{
    if (!check_result(b, s, param)) {
        return;
    }
    const rk_expr *operand = s->value->arg[0];
    rk_field *value = rk_build_expr(b, operand);
    if (value == NULL || !check_folded(b, value, operand->at, s->value->name)) {
        return;
    }
    value = rk_make_real(b, value);
    if (value == NULL) {
        return;
    }
    rk_item *item = add_item(b, RK_ITEM_RESULT, s->at);
    item->value = value;
    item->param = param->number;
    (void)rk_fold_by_name(s->value->name, &item->fold);
    item->rank = value->rank;
    memcpy(item->size, value->size, sizeof(item->size));
}

/* --- control ------------------------------------------------------------------------ */

static bool always(const rk_field *cond)
{
    return cond == NULL || (cond->kind == RK_FIELD_CONST && cond->value.u.b);
}

/* x and y; NULL: always */
static rk_field *both(rk_builder *b, rk_field *x, rk_field *y)
{
    if (always(x)) {
        return always(y) ? NULL : y;
    }
    if (always(y)) {
        return x;
    }
    const rk_operand_of none = {.field = NULL};
    return rk_make_apply(b, y->at, RK_OP_AND, (rk_operand_of){x, x->at},
                         (rk_operand_of){y, y->at}, none);
}

static rk_field *negated(rk_builder *b, rk_field *x)
{
    const rk_operand_of none = {.field = NULL};
    return x == NULL ? NULL
                     : rk_make_apply(b, x->at, RK_OP_NOT, (rk_operand_of){x, x->at}, none,
                                     none);
}

/* A scalar bool that reads no array, or NULL. */
static rk_field *build_condition(rk_builder *b, const rk_expr *cond)
{
    rk_field *field = rk_build_expr(b, cond);
    if (field == NULL) {
        return NULL;
    }
    if (field->rank > 0) {
        rk_error(b->unit, RK_BAD_CONDITION, cond->at,
                 "choose point by point with `c ? a : b`",
                 "the condition of `if` is a field %s; it must be one bool",
                 rk_shape_text(b, field));
    } else if (rk_field_reads(field)) {
        rk_error(b->unit, RK_BAD_CONDITION, cond->at,
                 "choose with `c ? a : b`, or pass the value as a parameter",
                 "the condition of `if` reads an array");
    } else if (field->type != RK_BOOL) {
        rk_error(b->unit, RK_NEEDS_BOOL, cond->at, "compare it: `x != 0`",
                 "the condition of `if` is %s, not bool", rk_type_text(field->type));
    } else {
        return field;
    }
    return NULL;
}

static void build_stmt(rk_builder *b, const rk_stmt *s);

static void build_branch(rk_builder *b, const rk_stmt *s, rk_field *cond)
{
    rk_field *around = b->cond;
    const int32_t block = b->scope.nbound;
    b->cond = both(b, around, cond);
    b->nif++;
    build_stmt(b, s);
    b->nif--;
    b->cond = around;
    rk_scope_close(&b->scope, block);
}

static void build_assign(rk_builder *b, const rk_stmt *s)
{
    const rk_bound *root = root_of(b, s->target);
    if (root != NULL && root->decl->kind == RK_DECL_PARAM && root->decl->is_result) {
        build_result(b, s, root->decl);
        return;
    }
    build_array_assign(b, s);
}

static void build_stmt(rk_builder *b, const rk_stmt *s)
{
    switch (s->kind) {
    case RK_STMT_BLOCK:
        for (int32_t i = 0; i < s->nbody; i++) {
            build_stmt(b, s->body[i]);
            rk_stop_if_many(b->unit);
        }
        break;
    case RK_STMT_LET:
        build_let(b, s);
        break;
    case RK_STMT_ASSIGN:
        build_assign(b, s);
        break;
    case RK_STMT_IF: {
        rk_field *cond = build_condition(b, s->cond);
        build_branch(b, s->then, cond);
        if (s->other != NULL) {
            build_branch(b, s->other, negated(b, cond));
        }
        break;
    }
    default:
        rk_error(b->unit, RK_NOT_WHOLE_ARRAY, s->at,
                 "write the kernel with `over (...)` to use it",
                 "this statement cannot stand in whole-array code");
        break;
    }
}

void rk_build_body(rk_builder *b, const rk_stmt *body)
{
    build_stmt(b, body);
}

void rk_build_end(rk_builder *b)
{
    const rk_decl *kernel = b->work.decl;
    bool writes = false;
    for (int32_t i = 0; i < b->work.nitem; i++) {
        writes = writes || b->work.item[i].kind != RK_ITEM_LET;
    }
    for (int32_t p = 0; p < kernel->nparam; p++) {
        if (kernel->param[p]->is_result && b->result[p].source == NULL) {
            rk_error(b->unit, RK_RESULT_MISSING, kernel->param[p]->at,
                     rubus__arena_format(b->unit->arena,
                                         "assign it: `%s = sum(F);`, or max or min",
                                         kernel->param[p]->name),
                     "result `%s` is never assigned", kernel->param[p]->name);
            writes = true; // said enough
        }
    }
    if (!writes) {
        rk_error(b->unit, RK_WRITES_NOTHING, kernel->at,
                 "assign to one of its arrays, or remove the kernel",
                 "kernel `%s` writes nothing", kernel->name);
    }
}
