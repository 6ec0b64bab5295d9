/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_PICTURE_H
#define RUBUS_PICTURE_H
/*
 * Between the library and its drawing module (rubus-picture.so), which is opened when the
 * first picture is drawn: only that file needs the drawing library. The module resolves
 * no symbol of librubus.
 */
#include <stddef.h>
#include <stdint.h>

#define RUBUS__PICTURE_ABI 1
#define RUBUS__PICTURE_SYMBOL "rubus_picture_draw"

typedef struct rubus__picture {
    uint32_t abi;
    uint32_t rank; /* 1: a curve; 2: a map */
    int64_t n[2];
    double spacing[2];
    double origin[2];
    const double *values; /* [n[1], n[0]], x fastest */
    double lo;            /* range of the finite values; lo == hi: constant */
    double hi;
    int any_finite;
    const char *name; /* texts are valid UTF-8 */
    const char *title;
    double contour_first;
    double contour_step;
    double contour_last;
    const double *history_x;
    const double *history_y;
    size_t nhistory;
    const char *history_label_x;
    const char *history_label_y;
    /* snprintf in the C locale */
    int (*format)(char *out, size_t room, const char *fmt, ...);
    /* receives the bytes of the PNG file; non-zero: stop */
    int (*sink)(void *user, const unsigned char *bytes, unsigned n);
    void *user;
} rubus__picture;

/* 0, or a text that says what failed (constant). */
typedef const char *(*rubus__picture_draw)(const rubus__picture *picture);

/* A field on the host, as the writers take it. */
typedef struct rubus__grid {
    int32_t rank; /* 1 to 3 */
    int32_t type; /* RUBUS_F32 ... of the array */
    int64_t n[3]; /* unused: 1 */
    int64_t count;
    double spacing[3];
    double origin[3];
    char *name;     /* as rubus__label makes them */
    char *title;    /* NULL: none */
    double *values; /* every type as double */
    void *raw;      /* the array's own bytes */
    size_t raw_size;
} rubus__grid;

#endif
