/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference interpreter: runs an entry of a program in dialect "rk" straight from the
 * checked tree. It is what the language means: a whole-array kernel runs statement by
 * statement, each value a full temporary array before anything is written; the planner,
 * its passes and shifts have no part in it. A per-point kernel runs point by point.
 *
 * This file takes the argument block apart and runs the statements of whole-array
 * kernels; the neighbours evaluate fields, fold them, and walk per-point code.
 */
#include "config.h"

#include "libcore/kernel/interpret.h"

#include <string.h>

/* --- elements --------------------------------------------------------------------- */

rk_value rk_element_get(int32_t type, const void *from)
{
    rk_value v = {RK_VOID, {0}};
    v.type = rk_element_type(type);
    if (type == RUBUS_F64) {
        memcpy(&v.u.real, from, sizeof(double));
    } else if (type == RUBUS_F32) {
        float x;
        memcpy(&x, from, sizeof(x));
        v.u.real = (double)x;
    } else if (type == RUBUS_I64) {
        memcpy(&v.u.i, from, sizeof(int64_t));
    } else if (type == RUBUS_I32) {
        int32_t i;
        memcpy(&i, from, sizeof(i));
        v.u.i = i;
    } else {
        v.u.b = *(const uint8_t *)from != 0;
    }
    return v;
}

void rk_element_set(int32_t type, void *to, rk_value v)
{
    if (type == RUBUS_F64) {
        memcpy(to, &v.u.real, sizeof(double));
    } else if (type == RUBUS_F32) {
        float x = (float)v.u.real;
        memcpy(to, &x, sizeof(x));
    } else if (type == RUBUS_I64) {
        memcpy(to, &v.u.i, sizeof(int64_t));
    } else if (type == RUBUS_I32) {
        int32_t i = (int32_t)v.u.i;
        memcpy(to, &i, sizeof(i));
    } else {
        *(uint8_t *)to = v.u.b ? 1 : 0;
    }
}

rk_type rk_element_type(int32_t type)
{
    if (type == RUBUS_F64 || type == RUBUS_F32) {
        return RK_REAL;
    }
    return type == RUBUS_BOOL ? RK_BOOL : RK_INT;
}

int32_t rk_storage_type(const rk_numbers *numbers, rk_type type)
{
    if (type == RK_REAL) {
        return numbers->f64 ? RUBUS_F64 : RUBUS_F32;
    }
    if (type == RK_INT) {
        return numbers->int64 ? RUBUS_I64 : RUBUS_I32;
    }
    return RUBUS_BOOL;
}

rk_value rk_zero(rk_type type)
{
    rk_value v = {type, {0}};
    if (type == RK_INT) {
        v.u.i = 0;
    }
    return v;
}

rk_value rk_operate(const rk_numbers *numbers, rk_op op, rk_type type, rk_value a,
                    rk_value b, rk_value c)
{
    if (a.type == RK_REAL && b.type == RK_REAL && numbers->f64) { /* most of all work */
        rk_value v = {RK_REAL, {0}};
        switch (op) {
        case RK_OP_ADD:
            v.u.real = a.u.real + b.u.real;
            return v;
        case RK_OP_SUB:
            v.u.real = a.u.real - b.u.real;
            return v;
        case RK_OP_MUL:
            v.u.real = a.u.real * b.u.real;
            return v;
        case RK_OP_DIV:
            v.u.real = a.u.real / b.u.real;
            return v;
        default:
            break;
        }
    }
    rk_type want[3];
    rk_value *operand[3] = {&a, &b, &c};
    for (int k = 0; k < 3; k++) {
        want[k] = rk_op_operand_type(op, k, a.type, b.type, c.type);
    }
    if (op == RK_OP_POWI && type == RK_REAL) {
        want[0] = RK_REAL; /* an int to a power that is no literal */
    }
    for (int k = 0; k < 3 && k < rk_op_operands(op); k++) {
        if (want[k] != RK_VOID && want[k] != operand[k]->type) {
            *operand[k] = rk_convert(numbers, *operand[k], want[k]);
        }
    }
    rk_value v = rk_apply(numbers, op, a, b, c);
    return v.type == type || type == RK_VOID ? v : rk_convert(numbers, v, type);
}

/* --- the machine ------------------------------------------------------------------ */

int64_t rk_machine_affine(const rk_machine *machine, rk_affine a)
{
    int64_t v;
    if (!rk_affine_eval(a, machine->symbol, &v)) {
        return 0; /* the binding of the launch refuses such sizes */
    }
    rk_value wide = {RK_INT, {0}};
    wide.u.i = v;
    return rk_convert(machine->numbers, wide, RK_INT).u.i;
}

rubus_status rk_machine_fail(const rk_machine *machine, rubus_status st, rk_span at,
                             const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    st = rubus__vfail(st, fmt, args);
    va_end(args);
    char name[256];
    int32_t line;
    rk_origin(at.source != NULL ? at : machine->kernel->decl->at, name, sizeof(name),
              &line);
    return rubus__fail_prefix(st, "%s:%d: kernel `%s`", name, (int)line,
                              machine->kernel->decl->name);
}

static void take_parameter(rk_machine *m, const rk_slot *slot)
{
    rk_operand *p = &m->operand[slot->index];
    p->type = slot->type;
    if (slot->access == 0) {
        p->value = rk_element_get(slot->type, m->block + slot->offset);
        return;
    }
    memcpy(&p->base, m->block + slot->offset, sizeof(p->base));
}

/* Extents of the arrays, from those of the declarations. */
static void take_extents(rk_machine *m)
{
    const rk_decl *decl = m->kernel->decl;
    for (int32_t k = 0; k < decl->nparam; k++) {
        rk_operand *p = &m->operand[k];
        p->rank = decl->param[k]->rank;
        p->count = 1;
        for (int32_t d = 0; d < p->rank; d++) {
            int64_t n = rk_machine_affine(m, m->kernel->work->extent[k][d]);
            p->n[d] = n > 0 ? n : 0;
            p->count *= p->n[d]; /* such an array exists: no overflow */
        }
    }
}

static void machine_fini(rk_machine *m)
{
    for (int32_t k = 0; m->operand != NULL && k < m->kernel->decl->nparam; k++) {
        rk_shadow_destroy(m->operand[k].shadow);
    }
    rk_points_fini(&m->points);
    rubus__free(m->operand);
    rubus__free(m->symbol);
}

static rubus_status machine_init(rk_machine *m, const rk_program *program,
                                 const rk_entry *entry, const void *block)
{
    memset(m, 0, sizeof(*m));
    m->program = program;
    m->kernel = &program->kernel[entry->kernel];
    m->numbers = &program->unit->numbers;
    m->block = block;
    memcpy(m->lo, m->block, sizeof(m->lo));
    memcpy(m->hi, m->block + sizeof(m->lo), sizeof(m->hi));
    m->symbol = rubus__alloc_array((size_t)m->kernel->work->nsymbol, sizeof(*m->symbol));
    m->operand = rubus__alloc_array((size_t)m->kernel->decl->nparam, sizeof(*m->operand));
    if (m->symbol == NULL || m->operand == NULL) {
        machine_fini(m);
        return RUBUS_ENOMEM;
    }
    for (int32_t k = 0; k < entry->nslot; k++) {
        const rk_slot *slot = &entry->slot[k];
        if (slot->kind == RK_SLOT_SYMBOL) {
            memcpy(&m->symbol[slot->index], m->block + slot->offset, sizeof(int64_t));
        } else if (slot->kind == RK_SLOT_PARAM || slot->kind == RK_SLOT_RESULT) {
            take_parameter(m, slot);
        }
    }
    take_extents(m);
    return RUBUS_OK;
}

/* --- whole-array statements ------------------------------------------------------- */

/* The box of the statement; false if it has no points. */
static bool item_box(const rk_machine *m, const rk_item *item, int64_t n[3])
{
    bool some = true;
    for (int32_t d = 0; d < 3; d++) {
        n[d] = d < item->rank ? rk_machine_affine(m, item->size[d]) : 1;
        some = some && n[d] > 0;
    }
    return some;
}

/* Where the elements of the target lie: address of the first, stride along each axis. */
static rubus_status target_view(const rk_machine *m, const rk_item *item,
                                const int64_t n[3], char **out_base, int64_t stride[3])
{
    static const char *const axis_name[3] = {"x", "y", "z"};
    const rk_operand *array = &m->operand[item->param];
    int64_t step = (int64_t)rubus__type_size(array->type);
    int64_t first = 0;
    int32_t axis = 0;
    for (int32_t d = 0; d < 3 && d < array->rank; d++) {
        int64_t lo = rk_machine_affine(m, item->target[d].lo);
        int64_t size = 1;
        if (item->target[d].keep) {
            size = n[axis];
            stride[axis] = step;
            axis++;
        }
        if (lo < 0 || lo > array->n[d] - size) {
            return rk_machine_fail(
                m, RUBUS_EBOUNDS, item->at,
                "the statement writes %lld:%lld of `%s` along %s, whose "
                "extent is %lld",
                (long long)lo, (long long)(lo + size),
                m->kernel->decl->param[item->param]->name, axis_name[d],
                (long long)array->n[d]);
        }
        first += lo * step;
        step *= array->n[d];
    }
    *out_base = array->base + first;
    return RUBUS_OK;
}

static void store_grid(const rk_machine *m, const rk_grid *value, int32_t type,
                       char *base, const int64_t stride[3], const int64_t n[3])
{
    rk_type want = rk_element_type(type);
    for (int64_t z = 0; z < n[2]; z++) {
        for (int64_t y = 0; y < n[1]; y++) {
            const char *from = value->base + y * value->stride[1] + z * value->stride[2];
            char *to = base + y * stride[1] + z * stride[2];
            for (int64_t x = 0; x < n[0]; x++) {
                rk_value v = rk_element_get(value->type, from);
                if (v.type != want) {
                    v = rk_convert(m->numbers, v, want);
                }
                rk_element_set(type, to, v);
                from += value->stride[0];
                to += stride[0];
            }
        }
    }
}

/* The value must have the box of its statement, or spread to it. */
static rubus_status value_fits(const rk_machine *m, const rk_item *item,
                               const rk_grid *value, const int64_t n[3])
{
    if (value->bad != NULL) {
        return rk_machine_fail(m, RUBUS_EBOUNDS, value->bad->at,
                               "a slice leaves the field that it is taken of");
    }
    for (int32_t d = 0; d < 3 && d < value->rank; d++) {
        bool fits = value->n[d] == n[d] || (value->n[d] == 1 && value->stride[d] == 0);
        if (!fits || value->rank != item->rank) {
            return rk_machine_fail(
                m, RUBUS_EINTERNAL, item->at,
                "the value has extent %lld in dimension %d, its statement "
                "%lld",
                (long long)value->n[d], d, (long long)n[d]);
        }
    }
    return RUBUS_OK;
}

static rubus_status run_assign(rk_machine *m, rk_grids *grids, int32_t number)
{
    const rk_item *item = &m->kernel->work->item[number];
    int64_t n[3];
    if (!item_box(m, item, n)) {
        return RUBUS_OK;
    }
    const rk_grid *value;
    rubus_status st = rk_grids_evaluate(grids, number, false, &value);
    if (st != RUBUS_OK) {
        return st;
    }
    char *base = NULL;
    int64_t stride[3] = {0, 0, 0};
    st = value_fits(m, item, value, n);
    if (st == RUBUS_OK) {
        st = target_view(m, item, n, &base, stride);
    }
    if (st == RUBUS_OK && value->param == item->param) {
        /* a view on the array that is about to change */
        rk_grid copy;
        st = rk_grid_copy(value, &copy);
        if (st == RUBUS_OK) {
            store_grid(m, &copy, m->operand[item->param].type, base, stride, n);
            rk_grid_drop(&copy);
        }
    } else if (st == RUBUS_OK) {
        store_grid(m, value, m->operand[item->param].type, base, stride, n);
    }
    rk_grids_release(grids, number, false);
    return st;
}

static rubus_status run_result(rk_machine *m, rk_grids *grids, int32_t number)
{
    const rk_item *item = &m->kernel->work->item[number];
    const rk_grid *value;
    rubus_status st = rk_grids_evaluate(grids, number, false, &value);
    if (st != RUBUS_OK) {
        return st;
    }
    rk_value result = {RK_REAL, {0}};
    if (value->bad != NULL && value->count > 0) {
        st = rk_machine_fail(m, RUBUS_EBOUNDS, value->bad->at,
                             "a slice leaves the field that it is taken of");
    } else {
        st = rk_fold_grid(m->numbers, item->fold, value, &result.u.real);
    }
    if (st == RUBUS_OK) {
        rk_element_set(m->operand[item->param].type, m->operand[item->param].base,
                       result);
    }
    rk_grids_release(grids, number, false);
    return st;
}

static rubus_status condition(rk_grids *grids, int32_t number, bool *out_true)
{
    const rk_grid *value;
    rubus_status st = rk_grids_evaluate(grids, number, true, &value);
    if (st == RUBUS_OK) {
        *out_true = rk_element_get(value->type, value->base).u.b;
        rk_grids_release(grids, number, true);
    }
    return st;
}

static rubus_status run_item(rk_machine *m, rk_grids *grids, int32_t number)
{
    const rk_item *item = &m->kernel->work->item[number];
    rubus_status st = rk_grids_snapshot(grids, number);
    if (st != RUBUS_OK) {
        return st;
    }
    if (item->kind == RK_ITEM_LET) { /* its value does not depend on the condition */
        return rk_grids_keep(grids, number);
    }
    bool holds = true;
    if (item->cond != NULL) {
        st = condition(grids, number, &holds);
        if (st != RUBUS_OK || !holds) {
            return st;
        }
    }
    return item->kind == RK_ITEM_ASSIGN ? run_assign(m, grids, number)
                                        : run_result(m, grids, number);
}

static rubus_status run_whole(rk_machine *m)
{
    rk_grids *grids;
    rubus_status st = rk_grids_create(m, &grids);
    if (st != RUBUS_OK) {
        return st;
    }
    for (int32_t k = 0; k < m->kernel->work->nitem && st == RUBUS_OK; k++) {
        st = run_item(m, grids, k);
    }
    rk_grids_destroy(grids);
    return st;
}

/* --- entry points ----------------------------------------------------------------- */

static rubus_status run_here(void *user)
{
    rk_machine *m = user;
    return m->kernel->decl->nindex > 0 ? rk_points_run(m) : run_whole(m);
}

rubus_status rk_interpret(const rk_program *program, int32_t entry, const void *block)
{
    if (entry < 0 || entry >= program->nentry ||
        program->entry[entry].kind != RK_ENTRY_KERNEL) {
        return rubus__fail(RUBUS_EINTERNAL,
                           "module `%s` has no entry %d that can be interpreted",
                           program->name, entry);
    }
    rk_machine m;
    rubus_status st = machine_init(&m, program, &program->entry[entry], block);
    if (st != RUBUS_OK) {
        return st;
    }
    st = rubus__with_stack(rk_stack_need(program), run_here, &m);
    machine_fini(&m);
    return st;
}

/* Takes "WORD " off the front of *at. */
static bool take_word(const char **at, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0) {
        return false;
    }
    *at += n;
    return true;
}

/* One of two words; which one goes to *out_second. */
static bool take_either(const char **at, const char *first, const char *second,
                        bool *out_second)
{
    *out_second = false;
    if (take_word(at, first)) {
        return true;
    }
    *out_second = take_word(at, second);
    return *out_second;
}

rubus_status rk_program_from_text(const char *name, const char *text, size_t size,
                                  rk_program **out_program)
{
    const char *at = text;
    bool f64 = false;
    bool int64 = false;
    rk_options options;
    memset(&options, 0, sizeof(options));
    bool good = take_word(&at, "// rk real=") && take_either(&at, "f32", "f64", &f64) &&
                take_word(&at, " index=") && take_either(&at, "i32", "i64", &int64) &&
                take_word(&at, " check=") && take_either(&at, "0", "1", &options.check) &&
                take_word(&at, " fast=") && take_either(&at, "0", "1", &options.fast) &&
                *at == '\n';
    if (!good) {
        return rubus__fail(RUBUS_EFORMAT,
                           "%s: the first line must be like `// rk real=f64 index=i32 "
                           "check=0 fast=0`",
                           name);
    }
    options.real = f64 ? RUBUS_F64 : RUBUS_F32;
    options.index = int64 ? RUBUS_I64 : RUBUS_I32;
    options.dialect = "rk";
    /* the first line is a comment of the language: lines keep their numbers */
    return rk_compile(&options, name, text, size, out_program);
}
