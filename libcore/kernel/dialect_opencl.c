/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialect opencl: OpenCL C 1.2. One text holds all entries of a program, each a kernel
 * whose arguments are the range (lo0 to hi2) and then its slots one by one: a buffer is
 * a pointer and the byte at which the array begins in it, a bool is a uchar.
 *
 * Pieces of expressions are those of dialect c, since OpenCL C has pointers and goto;
 * sweeps and folds are those of a grid of invocations, as in dialect glsl.
 */
#include "config.h"

#include <math.h>

#include <rubus/backend.h>

#include "libcore/kernel/dialect_opencl.h"

/* Exact, in hexadecimal. */
static void add_real(rk_c *c, double x)
{
    const char *minus = signbit(x) ? "-" : "";
    if (isnan(x) || isinf(x)) {
        rk_c_add(c, "(%s%s)", minus, isnan(x) ? "RK_REAL(NAN)" : "RK_INFINITE");
    } else {
        const char *end = c->unit->numbers.f64 ? "" : "f";
        rk_c_add(c, signbit(x) ? "(%s%a%s)" : "%s%a%s", minus, fabs(x), end);
    }
}

/* --- arguments --------------------------------------------------------------------- */

/* A buffer in the text: "const rk_real" and "a0" */
typedef struct buffer_text {
    char element[24];
    char name[24];
} buffer_text;

static buffer_text buffer_of(const rk_c *c, const rk_slot *slot)
{
    const char *element = "rk_real";
    const char *name = "src";
    switch (slot->kind) {
    case RK_SLOT_PARAM:
        element = rk_c_element(c, c->kernel->decl->param[slot->index]->type, false);
        name = "a";
        break;
    case RK_SLOT_PARTIAL:
        name = "q";
        break;
    case RK_SLOT_ERROR:
        element = "rk_i64";
        name = "err";
        break;
    case RK_SLOT_TREE_DST:
        name = "dst";
        break;
    default:
        break;
    }
    buffer_text b = {.name = ""};
    const bool written = (slot->access & RUBUS_WRITE) != 0u;
    rubus__snprintf(b.element, sizeof(b.element), written ? "%s" : "const %s", element);
    const bool numbered = slot->kind == RK_SLOT_PARAM || slot->kind == RK_SLOT_PARTIAL;
    rubus__snprintf(b.name, sizeof(b.name), numbered ? "%s%d" : "%s", name,
                    (int)slot->index);
    return b;
}

static void write_argument(rk_c *c, const rk_slot *slot, int number)
{
    rk_c_add(c, ",\n    ");
    if (slot->access != 0u) {
        rk_c_add(c, "RK_BUFFER(%s, %d)", buffer_of(c, slot).element, number);
    } else if (slot->kind == RK_SLOT_PARAM) {
        const rk_type type = c->kernel->decl->param[slot->index]->type;
        const bool truth = type == RK_BOOL;
        rk_c_add(c, "%s %c%d", truth ? "uchar" : rk_c_type(c, type), truth ? 'u' : 's',
                 (int)slot->index);
    } else if (slot->kind == RK_SLOT_SYMBOL) {
        rk_c_add(c, "rk_i64 n%d", (int)slot->index);
    } else {
        rk_c_add(c, "rk_i64 %s", slot->kind == RK_SLOT_TREE_N ? "count" : "last");
    }
}

/* Locals for what arrives otherwise than the text wants it. */
static void write_local(rk_c *c, const rk_slot *slot, int number)
{
    if (slot->access != 0u) {
        const buffer_text b = buffer_of(c, slot);
        rk_c_line(c, "RK_ARRAY(%s, %s, %d)", b.element, b.name, number);
        if (slot->kind == RK_SLOT_PARTIAL) {
            rk_c_line(c, "#define Q%d(i) %s[i]", (int)slot->index, b.name);
        } else if (slot->kind == RK_SLOT_ERROR) {
            c->error = "err";
        }
    } else if (slot->kind == RK_SLOT_PARAM &&
               c->kernel->decl->param[slot->index]->type == RK_BOOL) {
        rk_c_line(c, "const bool s%d = u%d != 0;", (int)slot->index, (int)slot->index);
    }
}

/* --- entries ----------------------------------------------------------------------- */

/* Entries of groups fix their size, and join lanes in the group's own memory. */
static void write_group(rk_c *c, bool memory)
{
    if ((c->entry->flags & RUBUS_ENTRY_GROUPS) == 0u) {
        return;
    }
    const bool tree = c->entry->kind == RK_ENTRY_TREE;
    if (!memory) {
        rk_c_add(c, "__attribute__((reqd_work_group_size(%d, 1, 1))) ",
                 tree ? RK_TREE / 2 : RK_LANES);
        return;
    }
    const int lanes = tree ? RK_TREE : RK_LANES;
    rk_c_line(c, "__local rk_real rk_l[%d];", lanes);
    if (rk_c_is_pair(c, RK_FOLD_SUM)) {
        rk_c_line(c, "__local rk_real rk_e[%d];", lanes);
    }
}

static void write_entry(rk_c *c, int number)
{
    (void)number; // entries are functions, known by their symbols
    const rk_entry *entry = c->entry;
    c->error = "0";
    c->next_temp = 0;
    c->next_label = 0;
    rk_c_add(c, "__kernel ");
    write_group(c, false);
    rk_c_add(c, "void %s(RK_RANGE", entry->symbol);
    for (int32_t i = 0; i < entry->nslot; i++) {
        write_argument(c, &entry->slot[i], (int)i);
    }
    rk_c_add(c, ")\n{\n");
    c->indent++;
    write_group(c, true);
    for (int32_t i = 0; i < entry->nslot; i++) {
        write_local(c, &entry->slot[i], (int)i);
    }
    for (int32_t i = 0; entry->kind == RK_ENTRY_PASS && i < entry->nslot; i++) {
        rk_c_write_strides(c, &entry->slot[i], "const rk_i64 ");
    }
    if (entry->kind == RK_ENTRY_TREE) {
        rk_grid_tree(c);
    } else if (c->kernel->decl->nindex > 0) {
        rk_grid_points(c);
    } else {
        rk_grid_sweep(c);
    }
    rk_c_close(c);
}

static const rk_target target = {.boolean = "bool",
                                 .no = "0",
                                 .yes = "1",
                                 .big = "L",
                                 .both = "($0 & $1)",
                                 .either = "($0 | $1)",
                                 .func = "static ",
                                 .straight = "static ",
                                 .record = "__global rk_i64 *err",
                                 .pointers = true,
                                 .real = add_real,
                                 .fold_take = rk_grid_fold_take};

static void emit(rk_program *program, rubus__text *out)
{
    rubus__text *body = &program->unit->body; // the head depends on it
    rk_c c = {.program = program,
              .unit = program->unit,
              .out = body,
              .target = &target,
              .error = "0"};
    const rk_func_list funcs = rk_c_find_funcs(&c);
    rk_c_write_body(&c, &funcs, write_entry);
    c.out = out;
    rk_opencl_prelude(&c);
    rk_c_powers(&c, target.func);
    rubus__text_add_n(out, body->data, body->size);
    rubus__text_fini(body);
}

const rk_dialect rk_dialect_opencl = {
    .name = "opencl", .version = 1, .emit = emit, .groups = true};
