/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialect c: the text of a program as C functions `void SYMBOL(void *block)`, one an
 * entry. Each reads its slots into locals and sweeps its range; this file writes what
 * stands around the sweeps.
 */
#include "config.h"

#include <math.h>

#include "libcore/kernel/clike.h"

/* Exact, in hexadecimal. */
static void add_real(rk_c *c, double x)
{
    const char *suffix = c->unit->numbers.f64 ? "" : "f";
    const char *sign = signbit(x) ? "-" : "";
    x = fabs(x);
    const char *open = sign[0] != '\0' ? "(" : "";
    const char *close = sign[0] != '\0' ? ")" : "";
    if (isnan(x)) {
        rk_c_add(c, "(%s__builtin_nan%s(\"\"))", sign, suffix);
    } else if (isinf(x)) {
        rk_c_add(c, "(%s__builtin_inf%s())", sign, suffix);
    } else {
        rk_c_add(c, "%s%s%a%s%s", open, sign, x, suffix, close);
    }
}

static void write_buffer(rk_c *c, const rk_slot *slot, const char *element,
                         const char *name)
{
    const char *qualifier = (slot->access & RUBUS_WRITE) != 0u ? "" : "const ";
    rk_c_line(c, "%s%s *restrict const %s = *(%s%s *const *)(slots + %u);", qualifier,
              element, name, qualifier, element, (unsigned)slot->offset);
}

static void write_param(rk_c *c, const rk_slot *slot)
{
    const rk_decl *param = c->kernel->decl->param[slot->index];
    char name[32];
    if (slot->access != 0u) {
        rubus__snprintf(name, sizeof(name), "a%d", (int)slot->index);
        write_buffer(c, slot, rk_c_element(c, param->type, false), name);
    } else if (param->type == RK_BOOL) {
        rk_c_line(c, "const _Bool s%d = *(const rk_byte *)(slots + %u) != 0;",
                  (int)slot->index, (unsigned)slot->offset);
    } else {
        rk_c_line(c, "const %s s%d = *(const %s *)(slots + %u);",
                  rk_c_type(c, param->type), (int)slot->index, rk_c_type(c, param->type),
                  (unsigned)slot->offset);
    }
}

static void write_slot(rk_c *c, const rk_slot *slot)
{
    char name[32];
    switch (slot->kind) {
    case RK_SLOT_PARAM:
        write_param(c, slot);
        break;
    case RK_SLOT_SYMBOL:
        rk_c_line(c, "const rk_i64 n%d = *(const rk_i64 *)(slots + %u);",
                  (int)slot->index, (unsigned)slot->offset);
        break;
    case RK_SLOT_PARTIAL:
        rubus__snprintf(name, sizeof(name), "q%d", (int)slot->index);
        write_buffer(c, slot, "rk_real", name);
        break;
    case RK_SLOT_ERROR:
        rk_c_line(c, "rk_i64 *const err = *(rk_i64 *const *)(slots + %u);",
                  (unsigned)slot->offset);
        c->error = "err";
        break;
    case RK_SLOT_TREE_SRC:
        write_buffer(c, slot, "rk_real", "src");
        break;
    case RK_SLOT_TREE_DST:
        write_buffer(c, slot, "rk_real", "dst");
        break;
    case RK_SLOT_TREE_N:
        rk_c_line(c, "const rk_i64 count = *(const rk_i64 *)(slots + %u);",
                  (unsigned)slot->offset);
        break;
    case RK_SLOT_TREE_LAST:
        rk_c_line(c, "const rk_i64 last = *(const rk_i64 *)(slots + %u);",
                  (unsigned)slot->offset);
        break;
    case RK_SLOT_RESULT:
        break; /* dialect rk only */
    }
}

static void write_entry(rk_c *c, int number)
{
    (void)number; // entries are functions, known by their symbols
    const rk_entry *entry = c->entry;
    c->error = "0";
    c->next_temp = 0;
    c->next_label = 0;
    rk_c_line(c, "void %s(void *block);", entry->symbol);
    rk_c_line(c, "void %s(void *block)", entry->symbol);
    rk_c_line(c, "{");
    c->indent++;
    rk_c_line(c, "const rk_i64 *const range = block;");
    rk_c_line(c, "const char *const slots = block;");
    for (int32_t i = 0; i < entry->nslot; i++) {
        write_slot(c, &entry->slot[i]);
    }
    for (int32_t i = 0; entry->kind == RK_ENTRY_PASS && i < entry->nslot; i++) {
        rk_c_write_strides(c, &entry->slot[i], "const rk_i64 ");
    }
    if (entry->kind == RK_ENTRY_TREE) {
        rk_c_tree(c);
    } else if (c->kernel->decl->nindex > 0) {
        rk_c_points(c);
    } else {
        rk_c_pass(c);
    }
    rk_c_close(c);
}

#define FUNC "static inline __attribute__(("

static const rk_target target = {.boolean = "_Bool",
                                 .no = "0",
                                 .yes = "1",
                                 .big = "LL",
                                 .both = "($0 & $1)",
                                 .either = "($0 | $1)",
                                 .func = FUNC "unused)) ",
                                 .straight = FUNC "unused, always_inline)) ",
                                 .record = "rk_i64 *err",
                                 .pointers = true,
                                 .real = add_real,
                                 .fold_take = rk_c_fold_take};

static void emit(rk_program *program, rubus__text *out)
{
    rubus__text *body = &program->unit->body; // the head depends on it
    rk_c c = {.program = program,
              .unit = program->unit,
              .out = body,
              .target = &target,
              .error = "0"};
    const rk_func_list funcs = rk_c_find_funcs(&c);
    bool folds = false;
    bool points = funcs.n > 0;
    for (int32_t i = 0; i < program->nentry; i++) {
        folds = folds || program->entry[i].kind == RK_ENTRY_TREE;
        points = points || program->kernel[program->entry[i].kernel].decl->nindex > 0;
    }
    rk_c_write_body(&c, &funcs, write_entry);
    c.out = out;
    rk_c_prelude(&c, folds, points);
    rk_c_powers(&c, target.func);
    rubus__text_add_n(out, body->data, body->size);
    rubus__text_fini(body);
}

const rk_dialect rk_dialect_c = {.name = "c", .version = 4, .emit = emit};
