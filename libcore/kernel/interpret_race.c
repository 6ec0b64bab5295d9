/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds races between the points of a per-point kernel. Every element of an array that
 * the kernel writes remembers who touched it: one writer, and two different points each
 * that read it or added to it, which is enough to name another point whenever there is
 * one. A race is found in whatever order the points run.
 */
#include "config.h"

#include "libcore/kernel/interpret.h"

typedef struct touched { /* numbers of points, 0: none */
    int64_t writer;
    int64_t reader[2];
    int64_t adder[2];
} touched;

struct rk_shadow {
    touched *element;
};

rubus_status rk_shadow_create(int64_t count, rk_shadow **out_shadow)
{
    rk_shadow *shadow = rubus__alloc(sizeof(*shadow));
    if (shadow == NULL) {
        return RUBUS_ENOMEM;
    }
    shadow->element = rubus__alloc_array((size_t)count, sizeof(touched));
    if (shadow->element == NULL) {
        rubus__free(shadow);
        return RUBUS_ENOMEM;
    }
    *out_shadow = shadow;
    return RUBUS_OK;
}

void rk_shadow_destroy(rk_shadow *shadow)
{
    if (shadow != NULL) {
        rubus__free(shadow->element);
        rubus__free(shadow);
    }
}

/* One of the two that is not `point`, or 0. */
static int64_t another(const int64_t pair[2], int64_t point)
{
    if (pair[0] != 0 && pair[0] != point) {
        return pair[0];
    }
    return pair[1] != 0 && pair[1] != point ? pair[1] : 0;
}

static void enter(int64_t pair[2], int64_t point)
{
    if (pair[0] == 0) {
        pair[0] = point;
    } else if (pair[0] != point && pair[1] == 0) {
        pair[1] = point;
    }
}

int64_t rk_shadow_touch(rk_shadow *shadow, int64_t element, int64_t point, rk_touch touch,
                        rk_touch *out_other)
{
    touched *t = &shadow->element[element];
    *out_other = RK_TOUCH_WRITE;
    if (t->writer != 0 && t->writer != point) {
        return t->writer;
    }
    int64_t other = touch == RK_TOUCH_READ ? 0 : another(t->reader, point);
    if (other != 0) {
        *out_other = RK_TOUCH_READ;
        return other;
    }
    other = touch == RK_TOUCH_ADD ? 0 : another(t->adder, point);
    if (other != 0) {
        *out_other = RK_TOUCH_ADD;
        return other;
    }
    switch (touch) {
    case RK_TOUCH_READ:
        enter(t->reader, point);
        break;
    case RK_TOUCH_WRITE:
        t->writer = point;
        break;
    case RK_TOUCH_ADD:
        enter(t->adder, point);
        break;
    }
    return 0;
}
