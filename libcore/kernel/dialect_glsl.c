/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialect glsl: compute shaders. One text for all entries of a program: the head, the
 * funcs, and for each entry a part inside `#if RK_ENTRY == number` with its arrays, its
 * parameters as globals, and a main.
 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "libcore/kernel/dialect_glsl.h"
#include <rubus/backend.h>

/* Decimal digits that round to the number; bits where a compiler may not read them. */
static void add_real(rk_c *c, double x)
{
    char text[64];
    const bool f64 = c->unit->numbers.f64;
    if (x == 0) {
        rk_c_add(c, signbit(x) ? "(-rk_zero)" : "rk_zero");
        return;
    }
    if (isfinite(x) && fabs(x) >= (f64 ? 0x1p-1000 : 0x1p-126)) {
        rubus__snprintf(text, sizeof(text), f64 ? "%.17g" : "%.9g", fabs(x));
        const bool point = strpbrk(text, ".e") != NULL;
        rk_c_add(c, signbit(x) ? "(-%s%s%s)" : "%s%s%s", text, point ? "" : ".0",
                 f64 ? "lf" : "f");
        return;
    }
    uint64_t bits = 0;
    const float narrow = (float)x;
    memcpy(&bits, f64 ? (const void *)&x : (const void *)&narrow, f64 ? 8 : 4);
    if (f64) {
        rk_c_add(c, "packDouble2x32(uvec2(0x%xu, 0x%xu))", (unsigned)bits,
                 (unsigned)(bits >> 32));
    } else {
        rk_c_add(c, "uintBitsToFloat(0x%xu)", (unsigned)bits);
    }
}

/* --- the argument block ------------------------------------------------------------ */

static void write_block(rk_c *c)
{
    const unsigned words = (unsigned)(c->entry->block_size / 4u);
    if (c->entry->block_size <= RUBUS_GLSL_PUSH) {
        rk_c_line(c, "layout(push_constant) uniform rk_push { uint w[%u]; } rk_block;",
                  words);
        rk_c_line(c, "#define RK_W(i) rk_block.w[i]");
        return;
    }
    rk_c_line(c, "#if RK_DESCRIPTORS");
    rk_c_line(c, "layout(set = 0, binding = 0, scalar) readonly buffer rk_push "
                 "{ uint w[]; } rk_block;");
    rk_c_line(c, "#define RK_W(i) rk_block.w[i]");
    rk_c_line(c, "#else");
    rk_c_line(c, "layout(push_constant) uniform rk_push { uvec2 at; } rk_block;");
    rk_c_line(c, "#define RK_W(i) rk_words(rk_block.at).w[i]");
    rk_c_line(c, "#endif");
}

/* Type, view and name of a buffer: "rk_real", "rk_reals", "A0" */
typedef struct buffer_text {
    const char *element;
    const char *view;
    char name[24];
} buffer_text;

static bool slot_buffer(const rk_c *c, const rk_slot *slot, buffer_text *out)
{
    if (slot->access == 0u) {
        return false;
    }
    rk_type type = RK_REAL;
    switch (slot->kind) {
    case RK_SLOT_PARAM:
        type = c->kernel->decl->param[slot->index]->type;
        rubus__snprintf(out->name, sizeof(out->name), "A%d", (int)slot->index);
        break;
    case RK_SLOT_PARTIAL:
        rubus__snprintf(out->name, sizeof(out->name), "Q%d", (int)slot->index);
        break;
    case RK_SLOT_TREE_SRC:
        rubus__snprintf(out->name, sizeof(out->name), "SRC");
        break;
    case RK_SLOT_TREE_DST:
        rubus__snprintf(out->name, sizeof(out->name), "DST");
        break;
    default:
        return false;
    }
    out->element = type == RK_REAL ? "rk_real" : type == RK_INT ? "rk_int" : "rk_byte";
    out->view = type == RK_REAL ? "rk_reals" : type == RK_INT ? "rk_ints" : "rk_bytes";
    return true;
}

/* Declares a buffer and its accessor; bits: and another that sees words. */
static void write_buffer(rk_c *c, const rk_slot *slot, int binding, bool bits)
{
    buffer_text b;
    if (!slot_buffer(c, slot, &b)) {
        return;
    }
    const char *keep = (slot->access & RUBUS_WRITE) != 0u ? "" : "readonly ";
    rk_c_line(c, "#if RK_DESCRIPTORS");
    rk_c_line(c,
              "layout(set = 0, binding = %d, scalar) %sbuffer rk_buffer_%s { %s v[]; } "
              "rk_array_%s;",
              binding, keep, b.name, b.element, b.name);
    rk_c_line(c, "uint rk_first_%s;", b.name);
    rk_c_line(c, "#define %s(i) rk_array_%s.v[uint(i) + rk_first_%s]", b.name, b.name,
              b.name);
    if (bits) {
        rk_c_line(c,
                  "layout(set = 0, binding = %d, scalar) buffer rk_bits_%s "
                  "{ rk_bits v[]; } rk_cells_%s;",
                  binding, b.name, b.name);
        rk_c_line(c, "#define B%s(i) rk_cells_%s.v[uint(i) + rk_first_%s]", b.name,
                  b.name, b.name);
    }
    rk_c_line(c, "#else");
    rk_c_line(c, "rk_address rk_at_%s;", b.name);
    rk_c_line(c, "#define %s(i) RK_ELEMENT(%s%s, %s, rk_at_%s, i)", b.name, b.view,
              keep[0] != '\0' ? "_in" : "", b.element, b.name);
    if (bits) {
        rk_c_line(c, "#define B%s(i) RK_ELEMENT(rk_cells, rk_bits, rk_at_%s, i)", b.name,
                  b.name);
    }
    rk_c_line(c, "#endif");
}

static void load_buffer(rk_c *c, const rk_slot *slot)
{
    buffer_text b;
    const unsigned word = (unsigned)(slot->offset / 4u);
    if (slot->kind == RK_SLOT_ERROR) {
        rk_c_line(c, "#if RK_DESCRIPTORS");
        rk_c_line(c, "rk_first_err = RK_W(%u) / 4u;", word);
        rk_c_line(c, "#else");
        rk_c_line(c, "rk_at_err = uvec2(RK_W(%u), RK_W(%u));", word, word + 1u);
        rk_c_line(c, "#endif");
    } else if (slot_buffer(c, slot, &b)) {
        rk_c_line(c, "#if RK_DESCRIPTORS");
        rk_c_line(c, "rk_first_%s = RK_W(%u) / RK_SIZE_%s;", b.name, word, b.element);
        rk_c_line(c, "#else");
        rk_c_line(c, "rk_at_%s = RK_ADDRESS(%u);", b.name, word);
        rk_c_line(c, "#endif");
    }
}

/* Scalars: their globals, or (load) the lines of main that fill them. */
static void write_scalar(rk_c *c, const rk_slot *slot, bool load)
{
    const unsigned word = (unsigned)(slot->offset / 4u);
    char name[24] = "";
    const char *type = "rk_i64";
    if (slot->kind == RK_SLOT_PARAM && slot->access == 0u) {
        const rk_decl *param = c->kernel->decl->param[slot->index];
        rubus__snprintf(name, sizeof(name), "s%d", (int)slot->index);
        type = rk_c_type(c, param->type);
        if (load && param->type == RK_BOOL) {
            rk_c_line(c, "%s = (RK_W(%u) >> %u & 0xffu) != 0u;", name, word,
                      (unsigned)(slot->offset % 4u * 8u));
            return;
        }
    } else if (slot->kind == RK_SLOT_SYMBOL) {
        rubus__snprintf(name, sizeof(name), "n%d", (int)slot->index);
    } else if (slot->kind == RK_SLOT_TREE_N || slot->kind == RK_SLOT_TREE_LAST) {
        rubus__snprintf(name, sizeof(name), "%s",
                        slot->kind == RK_SLOT_TREE_N ? "count" : "last");
    } else {
        return;
    }
    if (!load) {
        rk_c_line(c, "%s %s;", type, name);
    } else {
        rk_c_line(c, "%s = RK_READ_%s(%u);", name, type, word);
    }
}

static void declare_strides(rk_c *c, const rk_slot *slot)
{
    if (slot->kind == RK_SLOT_PARAM && slot->access != 0u) {
        for (int d = 1; d < c->kernel->decl->param[slot->index]->rank; d++) {
            rk_c_line(c, "rk_i64 d%d_%d;", (int)slot->index, d);
        }
    }
}

/* --- entries ----------------------------------------------------------------------- */

/* Descriptors: the block is binding 0, then the buffers of the entry in order. */
static int binding_of(const rk_entry *entry, int32_t slot)
{
    int binding = 1;
    for (int32_t i = 0; i < slot; i++) {
        binding += entry->slot[i].access != 0u ? 1 : 0;
    }
    return binding;
}

static void write_globals(rk_c *c)
{
    const rk_entry *entry = c->entry;
    for (int32_t i = 0; i < entry->nslot; i++) {
        const rk_slot *slot = &entry->slot[i];
        const bool bits = (entry->flags & RUBUS_ENTRY_ATOMICS) != 0u &&
                          slot->kind == RK_SLOT_PARAM && slot->access != 0u &&
                          c->kernel->decl->param[slot->index]->type != RK_BOOL;
        write_buffer(c, slot, binding_of(entry, i), bits);
        write_scalar(c, slot, false);
        if (entry->kind == RK_ENTRY_PASS) {
            declare_strides(c, slot);
        }
    }
}

static void write_loads(rk_c *c)
{
    rk_c_line(c, "RK_SET_ZERO");
    const rk_entry *entry = c->entry;
    for (int32_t i = 0; i < entry->nslot; i++) {
        load_buffer(c, &entry->slot[i]);
        write_scalar(c, &entry->slot[i], true);
    }
    for (int32_t i = 0; entry->kind == RK_ENTRY_PASS && i < entry->nslot; i++) {
        rk_c_write_strides(c, &entry->slot[i], "");
    }
}

static void write_point_function(rk_c *c)
{
    rk_c_line(c, "void rk_point(const rk_i64 x, const rk_i64 y, const rk_i64 z)");
    rk_c_line(c, "{");
    c->indent++;
    rk_c_point_body(c);
    rk_c_close(c);
}

static void write_group(rk_c *c)
{
    if ((c->entry->flags & RUBUS_ENTRY_GROUPS) == 0u) {
        rk_c_line(c, "layout(local_size_x_id = 0, local_size_y_id = 1, "
                     "local_size_z_id = 2) in;");
        rk_c_line(c, "layout(constant_id = 3) const bool rk_rows = false;");
        return;
    }
    const bool tree = c->entry->kind == RK_ENTRY_TREE;
    const int lanes = tree ? RK_TREE : RK_LANES;
    rk_c_line(c, "layout(local_size_x = %d) in;", tree ? RK_TREE / 2 : RK_LANES);
    rk_c_line(c, "shared rk_real rk_l[%d];", lanes);
    rk_c_line(c, "shared rk_real rk_e[%d];", lanes);
}

static void write_entry(rk_c *c, int number)
{
    const bool point = c->entry->kind == RK_ENTRY_PASS && c->kernel->decl->nindex > 0;
    c->next_temp = 0;
    c->next_label = 0;
    rk_c_line(c, "#if RK_ENTRY == %d", number);
    write_group(c);
    write_block(c);
    write_globals(c);
    if (point) {
        write_point_function(c);
    }
    rk_c_line(c, "void main()");
    rk_c_line(c, "{");
    c->indent++;
    write_loads(c);
    if (c->entry->kind == RK_ENTRY_TREE) {
        rk_grid_tree(c);
    } else if (point) {
        rk_grid_points(c);
    } else {
        rk_grid_sweep(c);
    }
    rk_c_close(c);
    rk_c_line(c, "#endif");
}

static const rk_target target = {.boolean = "bool",
                                 .no = "false",
                                 .yes = "true",
                                 .big = "L",
                                 .both = "($0 && $1)",
                                 .either = "($0 || $1)",
                                 .func = "",
                                 .straight = "",
                                 .real = add_real,
                                 .fold_take = rk_grid_fold_take};

/* Where each entry has its error record, for the functions that stand before all of
 * them. */
static void write_error_bindings(rk_c *c)
{
    for (int32_t e = 0; e < c->program->nentry; e++) {
        const rk_entry *entry = &c->program->entry[e];
        for (int32_t i = 0; i < entry->nslot; i++) {
            if (entry->slot[i].kind == RK_SLOT_ERROR) {
                rk_c_line(c, "#if RK_ENTRY == %d", (int)e);
                rk_c_line(c, "#define RK_ERROR_BINDING %d", binding_of(entry, i));
                rk_c_line(c, "#endif");
            }
        }
    }
}

static void emit(rk_program *program, rubus__text *out)
{
    rubus__text *body = &program->unit->body; // the head depends on it
    rk_c c = {.program = program,
              .unit = program->unit,
              .out = body,
              .target = &target,
              .error = "",
              .wide = program->unit->numbers.int64};
    const rk_func_list funcs = rk_c_find_funcs(&c);
    rk_c_write_body(&c, &funcs, write_entry);
    c.out = out;
    const bool fma = body->data != NULL && strstr(body->data, "rk_fma(") != NULL;
    rk_c_line(&c, "#version 460");
    write_error_bindings(&c);
    rk_glsl_prelude(&c, fma);
    rk_c_powers(&c, "");
    rubus__text_add_n(out, body->data, body->size);
    rubus__text_fini(body);
}

const rk_dialect rk_dialect_glsl = {
    .name = "glsl", .version = 4, .emit = emit, .groups = true};
