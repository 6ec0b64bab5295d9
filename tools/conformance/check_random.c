/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks G: random kernels, on the backend and in the interpreter. Kernels are tried in
 * batches that share a module, because building is what takes time; one that goes wrong
 * is made smaller by leaving statements out, and printed.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_random.h"
#include "conform_compare.h"

enum { BATCH = 15 };

typedef struct batch {
    random_program *program[BATCH];
    int n;
} batch;

static char *module_text(const batch *b)
{
    size_t size = strlen(random_program_prelude()) + 1;
    char *part[BATCH];
    for (int i = 0; i < b->n; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%d", i);
        part[i] = random_program_text(b->program[i], name);
        size += strlen(part[i]);
    }
    char *text = conform_memory(size);
    strcpy(text, random_program_prelude());
    for (int i = 0; i < b->n; i++) {
        strcat(text, part[i]);
        free(part[i]);
    }
    return text;
}

/* Whether the compiler takes it; the interpreter's context builds fastest. */
static bool is_valid(const conform_pair *pair, const batch *b, int32_t real)
{
    char *text = module_text(b);
    const rubus_module_options options = {.struct_size = sizeof options, .real = real};
    rubus_module *module = NULL;
    const rubus_status st =
        rubus_module_create(pair->context[1], "random.rk", text, &options, &module);
    conform_true(st == RUBUS_OK || st == RUBUS_ECOMPILE, "a random source gives %s: %s",
                 rubus_status_name(st), rubus_error_text());
    rubus_module_destroy(module);
    free(text);
    return st == RUBUS_OK;
}

static void make_batch(const conform_pair *pair, conform_dice *dice, batch *b,
                       int32_t real)
{
    int refused = 0;
    b->n = 0;
    while (b->n < BATCH) {
        batch one = {.program = {random_program_make(dice)}, .n = 1};
        if (is_valid(pair, &one, real)) {
            b->program[b->n++] = one.program[0];
        } else {
            random_program_free(one.program[0]);
            conform_true(++refused < 40 * BATCH,
                         "the generator of random kernels writes hardly a valid one");
        }
    }
}

/* True if the kernel gives the same on both. */
static bool agree(conform_pair *pair, int number, uint64_t seed, char *wrong, size_t room)
{
    static const int64_t shapes[][3] = {{6, 5, 4}, {1, 1, 1}, {21, 5, 3}, {3, 3, 3}};
    char name[16];
    snprintf(name, sizeof name, "k%d", number);
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        conform_case c = {.seed = seed + s, .special = s == 2};
        memcpy(c.n, shapes[s], sizeof c.n);
        if (!conform_pair_same(pair, name, &c, wrong, room)) {
            return false;
        }
    }
    return true;
}

/* Leaves out what is not needed for the fault. */
static void shrink(conform_pair *pair, random_program *p, int32_t real, uint64_t seed,
                   char *wrong, size_t room)
{
    batch one = {.program = {p}, .n = 1};
    bool smaller = true;
    while (smaller) {
        smaller = false;
        for (int i = 0; i < p->nstatement; i++) {
            char now[600];
            if (p->dropped[i]) {
                continue;
            }
            p->dropped[i] = true;
            bool still = is_valid(pair, &one, real);
            if (still) {
                char *text = module_text(&one);
                conform_pair_build(pair, text, real, RUBUS_I32, 0);
                still = !agree(pair, 0, seed, now, sizeof now);
                free(text);
            }
            if (still) {
                snprintf(wrong, room, "%s", now);
                smaller = true;
            } else {
                p->dropped[i] = false;
            }
        }
    }
}

static void run_batch(conform_pair *pair, conform_dice *dice, int number)
{
    const bool f64 = conform_facts_now()->caps.fp64 != 0;
    const int32_t real = f64 && number % 2 == 0 ? RUBUS_F64 : RUBUS_F32;
    batch b;
    make_batch(pair, dice, &b, real);
    char *text = module_text(&b);
    conform_pair_build(pair, text, real, RUBUS_I32, 0);
    const uint64_t seed = conform_roll(dice);
    for (int i = 0; i < b.n; i++) {
        char wrong[600] = "";
        if (!agree(pair, i, seed, wrong, sizeof wrong)) {
            shrink(pair, b.program[i], real, seed, wrong, sizeof wrong);
            char *small = random_program_text(b.program[i], "k0");
            conform_fail(
                "random kernel %d of batch %d in %s: %s. What is left of it (ops "
                "and funcs z_... are in tools/conformance/check_random_text.c):\n%s",
                i, number, conform_type_name(real), wrong, small);
        }
    }
    for (int i = 0; i < b.n; i++) {
        random_program_free(b.program[i]);
    }
    free(text);
}

static void run_batches(int n)
{
    conform_pair pair;
    conform_dice dice = {conform_seed()};
    conform_pair_open(&pair);
    for (int number = 0; number < n; number++) {
        run_batch(&pair, &dice, number);
    }
    conform_pair_close(&pair);
}

static void random_kernels(void)
{
    run_batches(4);
}

static void random_kernels_long(void)
{
    run_batches(200);
}

const conform_check conform_random_checks[] = {
    {"G26_random_kernels", CONFORM_FULL, 300, CONFORM_NEEDS_BOOL,
     "60 random kernels, on the backend and in the interpreter", random_kernels},
    {"G27_random_kernels_long", CONFORM_STRESS, 3600, CONFORM_NEEDS_BOOL,
     "3000 random kernels", random_kernels_long},
    {.name = NULL},
};
