/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folds a field to one number in the order that every backend keeps: lines along the
 * first index in segments, a segment in interleaved lanes, lanes and then segments joined
 * as aligned binary trees. The order depends on the shape alone, so the bits do too.
 *
 * Sums of floats carry what rounding took away in a second float (two-sum); where a sum
 * is infinite that float is no number and is left out.
 */
#include "config.h"

#include "libcore/kernel/interpret.h"

#include <math.h>

typedef struct partial {
    double value; /* f32 programs: always a float */
    double rest;  /* sums of floats: what `value` lacks */
} partial;

static partial nothing(rk_fold_op op)
{
    partial p = {0.0, 0.0};
    if (op == RK_FOLD_MAX) {
        p.value = -(double)INFINITY;
    } else if (op == RK_FOLD_MIN) {
        p.value = (double)INFINITY;
    }
    return p;
}

/* s + x as float, and exactly what rounding lost */
static float two_sum(float s, float x, float *out_lost)
{
    float sum = s + x;
    float part = sum - s;
    *out_lost = (s - (sum - part)) + (x - part);
    return sum;
}

/* b stands to the right of a in the order of the fold */
static partial join(rk_fold_op op, bool f64, partial a, partial b)
{
    if (op == RK_FOLD_MAX) {
        a.value = b.value > a.value || isnan(b.value) ? b.value : a.value;
    } else if (op == RK_FOLD_MIN) {
        a.value = b.value < a.value || isnan(b.value) ? b.value : a.value;
    } else if (f64) {
        a.value += b.value;
    } else {
        float lost;
        float sum = two_sum((float)a.value, (float)b.value, &lost);
        float rest = (float)a.rest + (float)b.rest;
        a.value = (double)sum;
        a.rest = (double)(rest + lost);
    }
    return a;
}

/* An element joins a lane: as `join`, but there is no second rest to add. */
static partial take(rk_fold_op op, bool f64, partial lane, double x)
{
    if (op == RK_FOLD_SUM && !f64) {
        float lost;
        lane.value = (double)two_sum((float)lane.value, (float)x, &lost);
        lane.rest = (double)((float)lane.rest + lost);
        return lane;
    }
    partial p = {x, 0.0};
    return join(op, f64, lane, p);
}

static double number_at(const rk_numbers *numbers, const rk_grid *grid, const char *p)
{
    return rk_convert(numbers, rk_element_get(grid->type, p), RK_REAL).u.real;
}

static partial segment(const rk_numbers *numbers, rk_fold_op op, const rk_grid *grid,
                       const char *first, int64_t n)
{
    partial lane[RK_LANES];
    for (int k = 0; k < RK_LANES; k++) {
        lane[k] = nothing(op);
    }
    for (int64_t j = 0; j < n; j++) {
        double x = number_at(numbers, grid, first + j * grid->stride[0]);
        partial *to = &lane[j % RK_LANES];
        *to = take(op, numbers->f64, *to, x);
    }
    for (int width = RK_LANES / 2; width >= 1; width /= 2) {
        for (int k = 0; k < width; k++) {
            lane[k] = join(op, numbers->f64, lane[2 * k], lane[2 * k + 1]);
        }
    }
    return lane[0];
}

/* Joins 2k with 2k + 1 until one is left; a value without a partner moves up as it is. */
static partial tree(rk_fold_op op, bool f64, partial *p, int64_t n)
{
    while (n > 1) {
        int64_t half = n / 2;
        for (int64_t k = 0; k < half; k++) {
            p[k] = join(op, f64, p[2 * k], p[2 * k + 1]);
        }
        if (n % 2 != 0) {
            p[half] = p[n - 1];
        }
        n = half + n % 2;
    }
    return n == 1 ? p[0] : nothing(op);
}

rubus_status rk_fold_grid(const rk_numbers *numbers, rk_fold_op op, const rk_grid *grid,
                          double *out_result)
{
    int64_t n0 = grid->rank > 0 ? grid->n[0] : 1;
    int64_t nline = grid->count == 0 ? 0 : grid->count / n0;
    int64_t nsegment = n0 / RK_SEGMENT + (n0 % RK_SEGMENT != 0);
    int64_t npartial = nline * nsegment; /* at most count */
    partial *p = rubus__alloc_array((size_t)npartial, sizeof(*p));
    if (p == NULL) {
        return RUBUS_ENOMEM;
    }
    int64_t n1 = grid->rank > 1 ? grid->n[1] : 1;
    for (int64_t line = 0; line < nline; line++) {
        const char *at = grid->base;
        if (grid->rank > 1) {
            at += line % n1 * grid->stride[1];
        }
        if (grid->rank > 2) {
            at += line / n1 * grid->stride[2];
        }
        for (int64_t s = 0; s < nsegment; s++) {
            int64_t done = s * RK_SEGMENT;
            int64_t n = n0 - done < RK_SEGMENT ? n0 - done : RK_SEGMENT;
            const char *first = at + done * grid->stride[0];
            p[line * nsegment + s] = segment(numbers, op, grid, first, n);
        }
    }
    partial all = tree(op, numbers->f64, p, npartial);
    rubus__free(p);
    if (op == RK_FOLD_SUM && !numbers->f64 && isfinite(all.rest)) {
        all.value = (double)((float)all.value + (float)all.rest);
    }
    *out_result = all.value;
    return RUBUS_OK;
}
