/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_RANDOM_FIELD_H
#define RUBUS_TESTS_RANDOM_FIELD_H
/*
 * Between random_field.c, which makes expressions over fields, and random_whole.c, which
 * makes statements and kernels of them.
 */
#include "tests/kernel/random_kernel.h"

enum { RANDOM_MAX_LET = 12, RANDOM_OFF_LEAST = -4 };

typedef struct shape {
    int rank;
    int axis[3];
    int off[3];
} shape;

typedef enum { READ_NOT, READ_AT, READ_AROUND } read_kind;
typedef struct reads { /* of one array: at point + off, or anywhere */
    read_kind kind;
    int off[3];
} reads;

typedef struct value {
    const char *text;
    int level;
    bool solid; /* has the shape by itself, not by spreading */
    reads reads[RANDOM_MAX_PARAM];
} value;

typedef struct let {
    const char *name;
    rk_type type;
    shape shape;
    bool dead;
    bool padded; /* no single layer of it can be taken: it may lie in a pad */
    int cost;
    reads reads[RANDOM_MAX_PARAM];
} let;

typedef struct fields {
    random_state *r;
    rubus__arena *arena;
    random_kernel *k;
    int budget;
    int scale;  /* how often the expression that is being made will be evaluated */
    int banned; /* array that must not be read now, or -1 */
    bool scalars_only;
    bool padded;                    /* what was made since this was cleared holds a pad */
    bool defined[RANDOM_MAX_PARAM]; /* may be read */
    int nlet;
    int nname; /* names given to LETs */
    let let[RANDOM_MAX_LET];
} fields;

/* An expression of the shape; the second kind never only spreads. */
value random_field(fields *f, rk_type type, const shape *s, int depth);
value random_solid_field(fields *f, rk_type type, const shape *s, int depth);
/* A scalar expression that reads no array. */
const char *random_scalar(fields *f, rk_type type);
shape random_shape_of(const random_param *p);
/* Cuts `from` to `to` (its axes are among those of `from`): "[1:, 0, :-1]", or "" where
 * nothing is to cut. shift: of the result's points; *out_fixed: an axis was dropped. A
 * dimension of `to` that is larger stays whole. named: extents may stand in bounds. */
const char *random_cut(fields *f, const shape *from, const shape *to, bool named,
                       int shift[3], bool *out_fixed);

#endif
