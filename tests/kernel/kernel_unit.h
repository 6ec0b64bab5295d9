/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_KERNEL_UNIT_H
#define RUBUS_TESTS_KERNEL_UNIT_H
/*
 * One compilation by hand, for tests of single stages of the kernel compiler:
 *
 *     test_unit t;
 *     unit_open(&t);
 *     if (setjmp(t.leave) == 0) { ... stages ...  }
 *     unit_close(&t);
 */
#include "libcore/kernel/tree.h"

#include <check.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

typedef struct test_unit {
    rk_unit unit;
    jmp_buf leave;
} test_unit;

static inline void unit_out_of_memory(void *user)
{
    rk_unit *unit = user;
    unit->status = RUBUS_ENOMEM;
    longjmp(*(jmp_buf *)unit->leave, 1);
}

static inline void unit_open(test_unit *t)
{
    memset(t, 0, sizeof *t);
    t->unit.numbers.f64 = true;
    t->unit.budget = 1000000;
    t->unit.leave = &t->leave;
    t->unit.arena = rubus__arena_create(unit_out_of_memory, &t->unit);
    rubus__text_init(&t->unit.messages);
}

static inline void unit_close(test_unit *t)
{
    rubus__arena_destroy(t->unit.arena);
    rubus__text_fini(&t->unit.messages);
}

static inline const rk_source *unit_source(test_unit *t, const char *name,
                                           const char *text, size_t size)
{
    rk_source *source = RK_NEW(&t->unit, rk_source);
    source->name = rubus__arena_strndup(t->unit.arena, name, strlen(name));
    char *copy = rk_new(&t->unit, size + 1);
    memcpy(copy, text, size);
    source->text = copy;
    source->size = (int32_t)size;
    return source;
}

/* Parses; false if it was left early or has errors, which are in t->unit.messages. */
static inline bool unit_parse(test_unit *t, const char *text)
{
    if (setjmp(t->leave) != 0) {
        return false;
    }
    rk_parse(&t->unit, unit_source(t, "t.rk", text, strlen(text)));
    return t->unit.nerror == 0;
}

#endif
