/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_INTERPRET_RUN_H
#define RUBUS_TESTS_INTERPRET_RUN_H
/*
 * Runs kernels in the interpreter without the runtime: compiles a source for dialect rk,
 * makes a program of that text as a backend does, binds arguments and fills the block.
 */
#include "libcore/kernel/program.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

typedef struct run_arg { /* in the order of the kernel's parameters */
    void *data;          /* arrays and results */
    int64_t n[3];
    double real;
    int64_t integer;
} run_arg;

#define RUN_ARRAY1(p, a)                                                                 \
    {                                                                                    \
        (p), {(a), 0, 0}, 0.0, 0                                                         \
    }
#define RUN_ARRAY2(p, a, b)                                                              \
    {                                                                                    \
        (p), {(a), (b), 0}, 0.0, 0                                                       \
    }
#define RUN_ARRAY3(p, a, b, c)                                                           \
    {                                                                                    \
        (p), {(a), (b), (c)}, 0.0, 0                                                     \
    }
#define RUN_RESULT(p)                                                                    \
    {                                                                                    \
        (p), {1, 0, 0}, 0.0, 0                                                           \
    }
#define RUN_REAL(x)                                                                      \
    {                                                                                    \
        NULL, {0, 0, 0}, (x), 0                                                          \
    }
#define RUN_INT(i)                                                                       \
    {                                                                                    \
        NULL, {0, 0, 0}, 0.0, (i)                                                        \
    }

static inline rk_options run_options(int32_t real, int32_t index, bool check)
{
    rk_options options;
    memset(&options, 0, sizeof(options));
    options.real = real;
    options.index = index;
    options.check = check;
    options.dialect = "rk";
    return options;
}

/* Aborts the test with the compiler's messages where the source is wrong. */
static inline rk_program *run_compile(const char *text, rk_options options)
{
    rk_program *source = NULL;
    rubus_status st = rk_compile(&options, "t.rk", text, strlen(text), &source);
    ck_assert_msg(st == RUBUS_OK, "%s\n%s", rubus_error_text(), text);
    rk_program *program = NULL;
    st = rk_program_from_text("t.rk", source->text, source->text_size, &program);
    ck_assert_msg(st == RUBUS_OK, "%s\n%s", rubus_error_text(), source->text);
    ck_assert_int_eq(source->nentry, program->nentry);
    for (int32_t k = 0; k < program->nentry; k++) {
        ck_assert_uint_eq(source->entry[k].block_size, program->entry[k].block_size);
        ck_assert_str_eq(source->entry[k].symbol, program->entry[k].symbol);
    }
    rk_program_destroy(source);
    return program;
}

static inline void run_scalar(char *to, int32_t type, const run_arg *arg)
{
    double real = arg->real;
    float single = (float)arg->real;
    int32_t narrow = (int32_t)arg->integer;
    char truth = arg->integer != 0;
    const void *from = type == RUBUS_F64   ? (const void *)&real
                       : type == RUBUS_F32 ? (const void *)&single
                       : type == RUBUS_I64 ? (const void *)&arg->integer
                       : type == RUBUS_I32 ? (const void *)&narrow
                                           : (const void *)&truth;
    memcpy(to, from, rubus__type_size(type));
}

static inline void run_fill(char *block, const rk_entry *entry, const rk_binding *binding,
                            const run_arg *args)
{
    for (int32_t k = 0; k < entry->nslot; k++) {
        const rk_slot *slot = &entry->slot[k];
        char *to = block + slot->offset;
        if (slot->kind == RK_SLOT_SYMBOL) {
            memcpy(to, &binding->symbol[slot->index], sizeof(int64_t));
        } else if (slot->access != 0) {
            memcpy(to, &args[slot->index].data, sizeof(void *));
        } else {
            run_scalar(to, slot->type, &args[slot->index]);
        }
    }
}

/* Binds and runs kernel number `number`; lo, hi: a per-point range of the caller's, or
 * NULL. */
static inline rubus_status run_number(const rk_program *program, int32_t number,
                                      const run_arg *args, const int64_t *lo,
                                      const int64_t *hi)
{
    const rk_kernel *kernel = &program->kernel[number];
    int32_t nparam = kernel->decl->nparam;
    rk_argument *bound = calloc((size_t)nparam + 1, sizeof(*bound));
    void *memory = malloc(rk_binding_size(kernel) + 8);
    const rk_entry *entry = &program->entry[kernel->first_entry];
    char *block = calloc(1, entry->block_size);
    ck_assert(bound != NULL && memory != NULL && block != NULL);
    for (int32_t k = 0; k < nparam; k++) {
        memcpy(bound[k].n, args[k].n, sizeof(bound[k].n));
        bound[k].integer = args[k].integer;
    }
    rk_binding binding;
    rubus_status st = rk_bind(program, kernel, bound, lo, hi, memory, &binding);
    if (st == RUBUS_OK && (kernel->decl->nindex == 0 || !binding.pass[0].empty)) {
        int64_t range[6] = {0, 0, 0, 1, 1, 1};
        if (kernel->decl->nindex > 0) {
            memcpy(range, binding.pass[0].lo, 3 * sizeof(int64_t));
            memcpy(range + 3, binding.pass[0].hi, 3 * sizeof(int64_t));
        }
        memcpy(block, range, sizeof(range));
        run_fill(block, entry, &binding, args);
        st = rk_interpret(program, kernel->first_entry, block);
    }
    free(block);
    free(memory);
    free(bound);
    return st;
}

/* Compiles as f64, i32, unchecked, and runs the first kernel. */
static inline rubus_status run_text(const char *text, const run_arg *args)
{
    rk_program *program = run_compile(text, run_options(RUBUS_F64, RUBUS_I32, false));
    rubus_status st = run_number(program, 0, args, NULL, NULL);
    rk_program_destroy(program);
    return st;
}

/* For sources that must run. */
static inline void run_good(const char *text, const run_arg *args)
{
    rubus_status st = run_text(text, args);
    ck_assert_msg(st == RUBUS_OK, "%s\n%s", rubus_error_text(), text);
}

#endif
