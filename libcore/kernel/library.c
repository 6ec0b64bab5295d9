/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's own ops and funcs, which every source sees. Their files are long, so only
 * those declarations are read whose name occurs in what was read before, in the sources
 * or in another declaration of the library.
 *
 * A declaration begins with its keyword at the begin of a line and ends where the next
 * one begins; a test compares what is found so with what the parser finds.
 */
#include "config.h"

#include "libcore/kernel/parser.h"
#include "libcore/kernel/program.h"

#include <string.h>

static const char *const file_list[] = {"fd.rk", "grid.rk", "math.rk"};
#define NFILE (sizeof(file_list) / sizeof(file_list[0]))

typedef struct part { /* of a file: a declaration */
    const rk_source *source;
    int32_t first;
    int32_t last;
    rk_library_name name;
    bool read;
} part;

typedef struct library {
    int32_t npart;
    part *part;
} library;

static bool is_name_char(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80u; // letters of other scripts
}

/* The name that ends before the first bracket of the line. */
static rk_library_name name_of(const char *line, bool is_op)
{
    const char *end = strchr(line, '(');
    if (end == NULL) {
        return (rk_library_name){line, 0, is_op};
    }
    const char *begin = end;
    while (begin > line && is_name_char(begin[-1])) {
        begin--;
    }
    return (rk_library_name){begin, (int32_t)(end - begin), is_op};
}

static void find_parts(rk_unit *unit, library *l, const rk_source *source)
{
    const char *line = source->text;
    while (line != NULL) {
        const bool is_op = strncmp(line, "op ", 3) == 0;
        if (is_op || strncmp(line, "func ", 5) == 0) {
            l->part = rk_grow(unit, l->part, l->npart, sizeof(*l->part));
            part *p = &l->part[l->npart++];
            *p = (part){.source = source,
                        .first = (int32_t)(line - source->text),
                        .last = source->size,
                        .name = name_of(line, is_op)};
            if (p > l->part && p[-1].source == source) {
                p[-1].last = p->first;
            }
        }
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
}

static library *open_library(rk_unit *unit)
{
    library *l = RK_NEW(unit, library);
    for (size_t i = 0; i < NFILE; i++) {
        const rk_embedded *e = rk_embedded_find(file_list[i]);
        if (e != NULL) {
            rk_source *source = RK_NEW(unit, rk_source);
            *source = (rk_source){.name = e->name,
                                  .text = e->text,
                                  .size = (int32_t)e->size,
                                  .library = true};
            find_parts(unit, l, source);
        }
    }
    return l;
}

/* Marks what is met by name; whether there was any. */
static bool mark(const rk_unit *unit, library *l, bool *wanted)
{
    bool any = false;
    for (int32_t i = 0; i < l->npart; i++) {
        part *p = &l->part[i];
        wanted[i] = !p->read && rk_is_interned(unit, p->name.text, p->name.size);
        p->read = p->read || wanted[i];
        any = any || wanted[i];
    }
    return any;
}

/* Moves the items from `first` on before the others. */
static void bring_forward(rk_unit *unit, rk_decl **list, int32_t n, int32_t first)
{
    if (first == 0 || first == n) {
        return;
    }
    rk_decl **copy = rk_new(unit, (size_t)n * sizeof(*copy));
    memcpy(copy, list + first, (size_t)(n - first) * sizeof(*copy));
    memcpy(copy + (n - first), list, (size_t)first * sizeof(*copy));
    memcpy(list, copy, (size_t)n * sizeof(*copy));
}

void rk_library_parse(rk_unit *unit)
{
    rk_module *module = &unit->module;
    library *l = open_library(unit);
    bool *wanted = rk_new(unit, (size_t)l->npart + 1);
    const int32_t nop = module->nop;
    const int32_t nfunc = module->nfunc;
    if (rk_is_interned(unit, "^", 1)) {
        (void)rk_intern(unit, "pow", 3);
    }
    while (mark(unit, l, wanted)) {
        for (int32_t i = 0; i < l->npart; i++) {
            if (wanted[i]) {
                rk_parse_part(unit, l->part[i].source, l->part[i].first, l->part[i].last);
            }
        }
    }
    bring_forward(unit, module->op, module->nop, nop);
    bring_forward(unit, module->func, module->nfunc, nfunc);
}

const rk_library_name *rk_library_names(rk_unit *unit, int32_t *out_count)
{
    const library *l = open_library(unit);
    rk_library_name *name = rk_new(unit, ((size_t)l->npart + 1) * sizeof(*name));
    for (int32_t i = 0; i < l->npart; i++) {
        name[i] = l->part[i].name;
    }
    *out_count = l->npart;
    return name;
}
