/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From plans to entries: one function of the target's text each, with the layout of its
 * argument block. A block begins with the range (lo[3], hi[3]) and then holds, at natural
 * alignment, the arrays that the entry touches, buffers of partials, the error record,
 * scalars, and the symbols that its bounds and offsets are made of.
 */
#include "config.h"

#include <string.h>

#include <rubus/backend.h>

#include "libcore/kernel/emit.h"
#include "libcore/kernel/lower.h"

#define RANGE_BYTES 48u /* int64 lo[3], hi[3] */

typedef struct layout {
    rk_program *program;
    rk_unit *unit;
    int32_t entry_room;
    int32_t site_room;
    int32_t kernel; /* the present one */
    bool site_seen;
} layout;

static rk_slot *slot_add(layout *l, rk_entry *entry, rk_slot_kind kind, int32_t index,
                         int32_t type, uint32_t access)
{
    rk_slot *slot = &entry->slot[entry->nslot++];
    slot->kind = kind;
    slot->index = index;
    slot->type = type;
    slot->access = access;
    slot->size = access != 0 ? 8u : (uint32_t)rubus__type_size(type);
    slot->offset = (entry->block_size + slot->size - 1u) / slot->size * slot->size;
    slot->name = "";
    entry->block_size = slot->offset + slot->size;
    const rk_kernel *kernel = &l->program->kernel[l->kernel];
    if (kind == RK_SLOT_PARAM || kind == RK_SLOT_RESULT) {
        slot->name = kernel->decl->param[index]->name;
    } else if (kind == RK_SLOT_SYMBOL) {
        slot->name = kernel->work->symbol[index].name;
    } else if (kind == RK_SLOT_PARTIAL) {
        slot->name = kernel->decl->param[kernel->result_param[index]]->name;
    }
    return slot;
}

static rk_entry *entry_add(layout *l, rk_entry_kind kind, int32_t nslot_most)
{
    rk_program *program = l->program;
    rk_kernel *kernel = &program->kernel[l->kernel];
    rk_room(l->unit, (void **)&program->entry, &l->entry_room, program->nentry,
            sizeof(rk_entry));
    if (kernel->nentry == 0) {
        kernel->first_entry = program->nentry;
    }
    kernel->nentry++;
    rk_entry *entry = &program->entry[program->nentry++];
    memset(entry, 0, sizeof(*entry));
    entry->kind = kind;
    entry->kernel = l->kernel;
    entry->ndim = 1;
    entry->slot = rk_new(l->unit, (size_t)nslot_most * sizeof(rk_slot));
    entry->block_size = RANGE_BYTES;
    entry->flags = l->unit->numbers.f64 ? RUBUS_ENTRY_NEEDS_F64 : 0u;
    return entry;
}

static void entry_finish(const layout *l, rk_entry *entry)
{
    if (l->unit->dialect != NULL && l->unit->dialect->groups &&
        (entry->kind == RK_ENTRY_TREE ||
         (entry->kind == RK_ENTRY_PASS &&
          l->program->kernel[entry->kernel].plan->pass[entry->pass].nfold > 0))) {
        entry->flags |= RUBUS_ENTRY_GROUPS;
    }
    entry->block_size = (entry->block_size + 7u) / 8u * 8u;
}

static int32_t real_type(const layout *l)
{
    return l->unit->numbers.f64 ? RUBUS_F64 : RUBUS_F32;
}

/* "k3_step": what the symbols of a kernel's entries begin with. */
static const char *stem(const layout *l, const rk_kernel *kernel)
{
    const char *letters = rk_emit_letters(l->unit, kernel->decl->name);
    return rubus__arena_format(l->unit->arena, letters[0] != '\0' ? "k%d_%s" : "k%d%s",
                               (int)l->kernel, letters);
}

/* --- sites of checked programs ----------------------------------------------------- */

static void site_add(layout *l, rk_expr *expr, int32_t param)
{
    rk_program *program = l->program;
    l->site_seen = true;
    if (expr->value.i != 0) {
        return; /* of a func that another kernel calls too */
    }
    rk_room(l->unit, (void **)&program->site, &l->site_room, program->nsite,
            sizeof(rk_site));
    rk_site *site = &program->site[program->nsite++];
    site->kernel = l->kernel;
    site->param = param;
    site->rank = expr->nsub;
    site->at_source = expr->at;
    expr->value.i = program->nsite;
}

static void site_visit(void *user, rk_expr *expr)
{
    const rk_decl *array = expr->kind == RK_EXPR_INDEX ? expr->a->decl : NULL;
    if (array == NULL) {
        return;
    }
    if (array->kind == RK_DECL_PARAM && !expr->proven) {
        site_add(user, expr, array->number);
    } else if (array->kind == RK_DECL_LOCAL && !rk_local_index_is_sure(expr)) {
        site_add(user, expr, -1);
    }
}

/* Numbers the tested accesses of a kernel or pass and of the funcs behind it; true if
 * there are any. */
static bool find_sites(layout *l, rk_stmt *body, const rk_pass *pass)
{
    if (!l->unit->check) {
        return false;
    }
    rk_func_list list = {l->unit, 0, 0, NULL};
    l->site_seen = false;
    if (body != NULL) {
        rk_visit_stmt(body, site_visit, l);
        rk_func_list_add_stmt(&list, body);
    }
    for (int32_t i = 0; i < pass->nnode; i++) {
        if (pass->node[i]->kind == RK_IR_CALL) {
            rk_func_list_add(&list, pass->node[i]->func);
        }
    }
    for (int32_t i = 0; i < list.n; i++) {
        rk_visit_stmt(list.func[i]->body, site_visit, l);
    }
    return l->site_seen;
}

/* --- entries ----------------------------------------------------------------------- */

static void add_needed(layout *l, rk_entry *entry, const rk_need *need,
                       const uint32_t *access, bool error)
{
    const rk_kernel *kernel = need->kernel;
    const rk_decl *decl = kernel->decl;
    const rk_pass *pass = &kernel->plan->pass[entry->pass];
    for (int32_t p = 0; p < decl->nparam; p++) {
        if (need->param[p] && decl->param[p]->rank > 0) {
            slot_add(l, entry, RK_SLOT_PARAM, p,
                     rk_param_type(l->program, decl->param[p]),
                     access[p] != 0 ? access[p] : RUBUS_READ);
        }
    }
    for (int32_t i = 0; i < pass->naction; i++) {
        if (pass->action[i].kind == RK_ACTION_FOLD) {
            slot_add(l, entry, RK_SLOT_PARTIAL, pass->action[i].number, real_type(l),
                     RUBUS_WRITE);
        }
    }
    if (error) {
        slot_add(l, entry, RK_SLOT_ERROR, 0, RUBUS_I64, RUBUS_READ | RUBUS_WRITE);
    }
    for (int32_t p = 0; p < decl->nparam; p++) {
        if (need->param[p] && decl->param[p]->rank == 0) {
            slot_add(l, entry, RK_SLOT_PARAM, p,
                     rk_param_type(l->program, decl->param[p]), 0u);
        }
    }
    for (int32_t s = 0; s < kernel->work->nsymbol; s++) {
        if (need->symbol[s]) {
            slot_add(l, entry, RK_SLOT_SYMBOL, s, RUBUS_I64, 0u);
        }
    }
}

/* Whether what the user wrote for a point has loops; those of the library are short. */
static bool has_loops(layout *l, rk_stmt *body, const rk_pass *pass)
{
    rk_func_list list = {.unit = l->unit};
    if (body != NULL) {
        rk_func_list_add_stmt(&list, body);
    }
    for (int32_t i = 0; body == NULL && i < pass->nnode; i++) {
        if (pass->node[i]->kind == RK_IR_CALL) {
            rk_func_list_add(&list, pass->node[i]->func);
        }
    }
    bool found = rk_stmt_has(body, RK_STMT_FOR) || rk_stmt_has(body, RK_STMT_WHILE);
    for (int32_t i = 0; i < list.n && !found; i++) {
        const rk_decl *func = list.func[i];
        found = !func->at.source->library && (rk_stmt_has(func->body, RK_STMT_FOR) ||
                                              rk_stmt_has(func->body, RK_STMT_WHILE));
    }
    return found;
}

static void pass_entry(layout *l, int32_t number)
{
    const rk_kernel *kernel = &l->program->kernel[l->kernel];
    rk_pass *pass = &kernel->plan->pass[number];
    const bool point = kernel->decl->nindex > 0;
    rk_need need;
    rk_need_init(l->unit, kernel, &need);
    if (point) {
        rk_need_point(&need, l->unit->check);
    } else {
        rk_need_pass(&need, pass);
    }
    rk_stmt *body = point ? kernel->decl->body : NULL;
    const bool error = find_sites(l, body, pass);
    rk_entry *entry = entry_add(
        l, RK_ENTRY_PASS, kernel->decl->nparam + pass->nfold + 1 + kernel->work->nsymbol);
    entry->pass = number;
    entry->ndim = pass->rank > 0 ? pass->rank : 1;
    entry->symbol =
        rubus__arena_format(l->unit->arena, "%s_p%d", stem(l, kernel), (int)number);
    entry->label = rubus__arena_format(l->unit->arena, "%s:%s, pass %d of %d",
                                       kernel->decl->at.source->name, kernel->decl->name,
                                       (int)number, (int)kernel->plan->npass);
    entry->flags |= need.atomics ? RUBUS_ENTRY_ATOMICS : 0u;
    entry->flags |= need.uneven ? RUBUS_ENTRY_UNEVEN : 0u;
    entry->flags |= has_loops(l, body, pass) ? RUBUS_ENTRY_LOOPS : 0u;
    entry->bytes_per_point = pass->bytes_per_point;
    entry->ops_per_point = pass->ops_per_point;
    if (pass->nfold > 0) { // what is launched are segments
        entry->bytes_per_point *= RK_SEGMENT;
        entry->ops_per_point *= RK_SEGMENT;
    }
    add_needed(l, entry, &need, pass->access, error);
    entry_finish(l, entry);
}

static void tree_entry(layout *l, int32_t number, const rk_action *fold)
{
    const rk_kernel *kernel = &l->program->kernel[l->kernel];
    rk_entry *entry = entry_add(l, RK_ENTRY_TREE, 4);
    entry->pass = number;
    entry->number = fold->number;
    entry->fold = fold->fold;
    entry->symbol = rubus__arena_format(l->unit->arena, "%s_t%d_%d", stem(l, kernel),
                                        (int)number, (int)fold->number);
    entry->label = rubus__arena_format(l->unit->arena, "%s:%s, tree of %s",
                                       kernel->decl->at.source->name, kernel->decl->name,
                                       kernel->decl->param[fold->param]->name);
    const bool pair = fold->fold == RK_FOLD_SUM && !l->unit->numbers.f64;
    entry->bytes_per_point =
        RK_TREE * (int32_t)rubus__type_size(real_type(l)) * (pair ? 2 : 1);
    entry->ops_per_point = RK_TREE;
    slot_add(l, entry, RK_SLOT_TREE_SRC, fold->number, real_type(l), RUBUS_READ)->name =
        "partials";
    slot_add(l, entry, RK_SLOT_TREE_DST, fold->number, real_type(l), RUBUS_WRITE)->name =
        "joined";
    slot_add(l, entry, RK_SLOT_TREE_N, 0, RUBUS_I64, 0u)->name = "count";
    slot_add(l, entry, RK_SLOT_TREE_LAST, 0, RUBUS_I64, 0u)->name = "last";
    entry_finish(l, entry);
}

/* Dialect rk: the whole kernel is one entry, with all of its parameters in order. */
static void kernel_entry(layout *l)
{
    const rk_kernel *kernel = &l->program->kernel[l->kernel];
    const rk_decl *decl = kernel->decl;
    rk_entry *entry =
        entry_add(l, RK_ENTRY_KERNEL, decl->nparam + kernel->work->nsymbol + 1);
    entry->ndim = decl->nindex > 0 ? decl->nindex : 1;
    entry->symbol = stem(l, kernel);
    entry->label =
        rubus__arena_format(l->unit->arena, "%s:%s", decl->at.source->name, decl->name);
    for (int32_t i = 0; i < kernel->plan->npass; i++) {
        entry->bytes_per_point += kernel->plan->pass[i].bytes_per_point;
        entry->ops_per_point += kernel->plan->pass[i].ops_per_point;
    }
    for (int32_t p = 0; p < decl->nparam; p++) {
        const rk_decl *param = decl->param[p];
        const int32_t type = rk_param_type(l->program, param);
        uint32_t access = 0u;
        for (int32_t i = 0; i < kernel->plan->npass; i++) {
            access |= kernel->plan->pass[i].access[p];
        }
        if (param->is_result) {
            slot_add(l, entry, RK_SLOT_RESULT, p, type, RUBUS_WRITE);
        } else if (param->rank > 0) {
            slot_add(l, entry, RK_SLOT_PARAM, p, type, access != 0 ? access : RUBUS_READ);
        } else {
            slot_add(l, entry, RK_SLOT_PARAM, p, type, 0u);
        }
    }
    for (int32_t s = 0; s < kernel->work->nsymbol; s++) {
        slot_add(l, entry, RK_SLOT_SYMBOL, s, RUBUS_I64, 0u);
    }
    if (decl->nindex > 0) {
        rk_need need;
        rk_need_init(l->unit, kernel, &need);
        rk_need_point(&need, false);
        entry->flags |= need.atomics ? RUBUS_ENTRY_ATOMICS : 0u;
        entry->flags |= need.uneven ? RUBUS_ENTRY_UNEVEN : 0u;
    }
    entry_finish(l, entry);
}

void rk_layout(rk_program *program)
{
    layout l;
    memset(&l, 0, sizeof(l));
    l.program = program;
    l.unit = program->unit;
    const bool whole = l.unit->dialect != NULL && l.unit->dialect->whole;
    for (l.kernel = 0; l.kernel < program->nkernel; l.kernel++) {
        if (whole) {
            kernel_entry(&l);
            continue;
        }
        const rk_plan *plan = program->kernel[l.kernel].plan;
        for (int32_t p = 0; p < plan->npass; p++) {
            pass_entry(&l, p);
            for (int32_t i = 0; i < plan->pass[p].naction; i++) {
                if (plan->pass[p].action[i].kind == RK_ACTION_FOLD) {
                    tree_entry(&l, p, &plan->pass[p].action[i]);
                }
            }
        }
    }
}
