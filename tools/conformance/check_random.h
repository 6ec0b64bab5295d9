/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_CHECK_RANDOM_H
#define RUBUS_CHECK_RANDOM_H
/*
 * Random kernels: a head with all parameters, and statements that can be left out one by
 * one. Most are valid; the compiler judges. check_random_text.c writes them.
 */
#include "conform.h"

enum { RANDOM_STATEMENTS = 12, RANDOM_ROOM = 2000 };

typedef struct random_program {
    int rank;
    bool per_point;
    char head[600]; // "kernel NAME(...) over (...)", NAME left out as %s
    int nstatement;
    char *statement[RANDOM_STATEMENTS];
    bool dropped[RANDOM_STATEMENTS];
} random_program;

random_program *random_program_make(conform_dice *dice);
void random_program_free(random_program *program);
/* Funcs and ops that programs use; it must stand before them. */
const char *random_program_prelude(void);
/* The kernel alone, under a name; text to be freed. */
char *random_program_text(const random_program *program, const char *name);

#endif
