/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_TEXT_RUN_H
#define RUBUS_TESTS_TEXT_RUN_H
/*
 * Runs the C text of a program without the runtime: builds it with the system's
 * compiler, opens it, fills argument blocks and calls the entries, whole or cut into
 * pieces. Arguments are those of interpret_run.h, so one test can run both.
 */
#include "interpret_run.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Warnings are errors; undefined behaviour ends the test. */
#define TEXT_STRICT                                                                      \
    "-std=gnu11", "-O2", "-ftree-vectorize", "-ffp-contract=off", "-fPIC", "-shared",    \
        "-Wall", "-Wextra", "-Werror"
#define TEXT_SANITIZE "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"

typedef struct text_module {
    rk_program *program;
    void *library;
} text_module;

/* How a launch is cut: pieces along each axis. */
typedef struct text_cut {
    int64_t pieces[3];
} text_cut;

static inline void text_path(char path[64], const char *suffix)
{
    static int count;
    snprintf(path, 64, "/tmp/rubus-text-%ld-%d%s", (long)getpid(), count++, suffix);
}

/* Runs the compiler; its exit status. */
static inline int text_build(const char *compiler, const char *from, const char *to,
                             bool sanitize)
{
    const char *plain[] = {compiler, TEXT_STRICT, "-o", to, from, "-lm", NULL};
    const char *tested[] = {compiler, TEXT_STRICT, TEXT_SANITIZE, "-o",
                            to,       from,        "-lm",         NULL};
    pid_t child = fork();
    ck_assert(child >= 0);
    if (child == 0) {
        execvp(compiler, (char *const *)(uintptr_t)(sanitize ? tested : plain));
        _exit(127);
    }
    int status = 0;
    ck_assert(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static inline bool text_has(const char *compiler)
{
    char command[128];
    snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", compiler);
    return system(command) == 0;
}

/* Writes the text of a program to a fresh file. */
static inline void text_write(const rk_program *program, char path[64])
{
    text_path(path, ".c");
    ck_assert_int_eq(rubus__file_write(path, program->text, program->text_size),
                     RUBUS_OK);
}

static inline rk_program *text_compile(const char *source, rk_options options)
{
    options.dialect = "c";
    rk_program *program = NULL;
    const rubus_status st =
        rk_compile(&options, "t.rk", source, strlen(source), &program);
    ck_assert_msg(st == RUBUS_OK, "%s\n%s", rubus_error_text(), source);
    return program;
}

static inline text_module text_open(const char *source, rk_options options, bool sanitize)
{
    text_module m = {text_compile(source, options), NULL};
    char from[64];
    char to[64];
    text_write(m.program, from);
    text_path(to, ".so");
    const int status = text_build("cc", from, to, sanitize);
    ck_assert_msg(status == 0, "the compiler gave %d for\n%s", status, m.program->text);
    m.library = dlopen(to, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(m.library != NULL, "%s", dlerror());
    unlink(from);
    unlink(to);
    return m;
}

static inline void text_close(text_module *m)
{
    dlclose(m->library);
    rk_program_destroy(m->program);
}

static inline void text_call(const text_module *m, const rk_entry *entry, void *block)
{
    void *symbol = dlsym(m->library, entry->symbol);
    ck_assert_msg(symbol != NULL, "no symbol %s", entry->symbol);
    void (*function)(void *);
    memcpy(&function, &symbol, sizeof(function));
    function(block);
}

/* Calls an entry piece by piece, the last pieces first. */
static inline void text_sweep(const text_module *m, const rk_entry *entry, char *block,
                              const rk_range *range, const text_cut *cut)
{
    int64_t n[3];
    for (int d = 0; d < 3; d++) {
        const int64_t size = range->hi[d] - range->lo[d];
        n[d] = cut == NULL || cut->pieces[d] < 1 ? 1 : cut->pieces[d];
        n[d] = n[d] < size ? n[d] : size;
    }
    for (int64_t piece = n[0] * n[1] * n[2] - 1; piece >= 0; piece--) {
        const int64_t at[3] = {piece % n[0], piece / n[0] % n[1], piece / (n[0] * n[1])};
        int64_t box[6];
        for (int d = 0; d < 3; d++) {
            const int64_t size = range->hi[d] - range->lo[d];
            box[d] = range->lo[d] + size * at[d] / n[d];
            box[3 + d] = range->lo[d] + size * (at[d] + 1) / n[d];
        }
        memcpy(block, box, sizeof(box));
        text_call(m, entry, block);
    }
}

/* Joins the partials of one fold until one value is left in *out. */
static inline void text_tree(const text_module *m, const rk_entry *entry, char *partials,
                             int64_t n, void *out)
{
    const size_t real = rubus__type_size(entry->slot[0].type);
    char *from = partials;
    char *to = calloc((size_t)n + 1u, 2u * real);
    char *fresh = to;
    for (bool last = false; !last;) {
        const int64_t groups = (n + RK_TREE - 1) / RK_TREE;
        last = groups == 1;
        char *block = calloc(1, entry->block_size);
        const int64_t flag = last ? 1 : 0;
        void *target = last ? out : to;
        memcpy(block + entry->slot[0].offset, &from, sizeof(from));
        memcpy(block + entry->slot[1].offset, &target, sizeof(target));
        memcpy(block + entry->slot[2].offset, &n, sizeof(n));
        memcpy(block + entry->slot[3].offset, &flag, sizeof(flag));
        const rk_range range = {false, {0, 0, 0}, {groups, 1, 1}, 0};
        const text_cut halves = {{2, 1, 1}};
        text_sweep(m, entry, block, &range, &halves);
        free(block);
        n = groups;
        char *swap = from;
        from = to;
        to = swap;
    }
    free(fresh);
}

static inline void text_neutral(const rk_entry *entry, void *out)
{
    const double value = entry->fold == RK_FOLD_SUM   ? 0.0
                         : entry->fold == RK_FOLD_MAX ? -(double)INFINITY
                                                      : (double)INFINITY;
    const float single = (float)value;
    if (entry->slot[0].type == RUBUS_F64) {
        memcpy(out, &value, sizeof(value));
    } else {
        memcpy(out, &single, sizeof(single));
    }
}

/* One pass and its trees; gives the number of the next entry. */
static inline int32_t text_pass(const text_module *m, int32_t number,
                                const rk_kernel *kernel, const rk_binding *binding,
                                const run_arg *args, int64_t *error, const text_cut *cut)
{
    const rk_entry *entry = &m->program->entry[number];
    const rk_range *range = &binding->pass[entry->pass];
    char *block = calloc(1, entry->block_size);
    char *partial[8] = {NULL};
    for (int32_t k = 0; k < entry->nslot; k++) {
        const rk_slot *slot = &entry->slot[k];
        char *to = block + slot->offset;
        if (slot->kind == RK_SLOT_SYMBOL) {
            memcpy(to, &binding->symbol[slot->index], sizeof(int64_t));
        } else if (slot->kind == RK_SLOT_ERROR) {
            memcpy(to, &error, sizeof(error));
        } else if (slot->kind == RK_SLOT_PARTIAL) {
            partial[slot->index] = calloc((size_t)range->npartial + 1u, 16);
            memcpy(to, &partial[slot->index], sizeof(char *));
        } else if (slot->access != 0) {
            memcpy(to, &args[slot->index].data, sizeof(void *));
        } else {
            run_scalar(to, slot->type, &args[slot->index]);
        }
    }
    if (!range->empty) {
        text_sweep(m, entry, block, range, cut);
    }
    free(block);
    while (++number < kernel->first_entry + kernel->nentry &&
           m->program->entry[number].kind == RK_ENTRY_TREE) {
        const rk_entry *tree = &m->program->entry[number];
        void *out = args[kernel->result_param[tree->number]].data;
        if (range->npartial > 0) {
            text_tree(m, tree, partial[tree->number], range->npartial, out);
        } else {
            text_neutral(tree, out);
        }
        free(partial[tree->number]);
    }
    return number;
}

/* Binds and runs kernel number `number`. error: RK_ERROR_WORDS words of a checked
   program. */
static inline rubus_status text_run_range(const text_module *m, int32_t number,
                                          const run_arg *args, const int64_t *lo,
                                          const int64_t *hi, int64_t *error,
                                          const text_cut *cut)
{
    const rk_kernel *kernel = &m->program->kernel[number];
    const int32_t nparam = kernel->decl->nparam;
    rk_argument *bound = calloc((size_t)nparam + 1u, sizeof(*bound));
    void *memory = malloc(rk_binding_size(kernel) + 8u);
    for (int32_t k = 0; k < nparam; k++) {
        memcpy(bound[k].n, args[k].n, sizeof(bound[k].n));
        bound[k].integer = args[k].integer;
    }
    rk_binding binding;
    const rubus_status st = rk_bind(m->program, kernel, bound, lo, hi, memory, &binding);
    int32_t entry = kernel->first_entry;
    while (st == RUBUS_OK && entry < kernel->first_entry + kernel->nentry) {
        entry = text_pass(m, entry, kernel, &binding, args, error, cut);
    }
    free(memory);
    free(bound);
    return st;
}

/* For launches that must bind. */
static inline void text_run(const text_module *m, int32_t number, const run_arg *args,
                            const text_cut *cut)
{
    const rubus_status st = text_run_range(m, number, args, NULL, NULL, NULL, cut);
    ck_assert_msg(st == RUBUS_OK, "%s", rubus_error_text());
}

#endif
