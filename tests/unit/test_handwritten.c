/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The relaxation written by hand for benchmarks: its kernel sets agree to the bit with
 * each other and with the formulas written out point by point, on any number of threads.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "handwritten.h"
#include "tests/support/suite.h"

#define NX 37
#define NY 21
#define N ((size_t)NX * NY)
#define NINNER ((size_t)(NX - 2) * (NY - 2))

typedef struct fields {
    double u[N], d[NINNER], lam[N], Q[NINNER], qx[N], qy[N], r[NINNER], z[NINNER];
    double un[N], dn[NINNER];
} fields;

/* Also holds the fields as floats, where f64 is false. */
static fields given;
static fields expected;
static fields got;

static double number(size_t i, int salt)
{
    return (double)((i * 7919 + (size_t)salt * 104729) % 1000) / 512 - 0.75;
}

static void set(double *at, size_t n, int salt, bool f64)
{
    for (size_t i = 0; i < n; i++) {
        if (f64) {
            at[i] = number(i, salt);
        } else {
            ((float *)(void *)at)[i] = (float)number(i, salt);
        }
    }
}

static handwritten_dr problem(fields *f, bool f64)
{
    *f = given;
    return (handwritten_dr){.f64 = f64,
                            .nx = NX,
                            .ny = NY,
                            .u = f->u,
                            .d = f->d,
                            .lam = f->lam,
                            .Q = f->Q,
                            .qx = f->qx,
                            .qy = f->qy,
                            .r = f->r,
                            .z = f->z,
                            .un = f->un,
                            .dn = f->dn,
                            .alpha = 0.7,
                            .beta = 0.9,
                            .dx_inverse = 3.1,
                            .dy_inverse = 4.3};
}

static void make_given(bool f64)
{
    memset(&given, 0, sizeof given);
    set(given.u, N, 1, f64);
    set(given.d, NINNER, 2, f64);
    set(given.lam, N, 3, f64);
    set(given.Q, NINNER, 4, f64);
}

/* One iteration as the formulas say, in plain loops over points. */
#define DEFINE_PLAIN(NAME, REAL)                                                         \
    static void NAME(const handwritten_dr *p)                                            \
    {                                                                                    \
        REAL *u = p->u;                                                                  \
        REAL *d = p->d;                                                                  \
        const REAL *lam = p->lam;                                                        \
        const REAL *Q = p->Q;                                                            \
        const REAL alpha = (REAL)p->alpha;                                               \
        const REAL beta = (REAL)p->beta;                                                 \
        const REAL half = (REAL)0.5;                                                     \
        const REAL step[2] = {(REAL)p->dx_inverse, (REAL)p->dy_inverse};                 \
        for (int j = 1; j < NY - 1; j++) {                                               \
            for (int i = 1; i < NX - 1; i++) {                                           \
                u[j * NX + i] += alpha * d[(j - 1) * (NX - 2) + i - 1];                  \
            }                                                                            \
        }                                                                                \
        for (int j = 1; j < NY - 1; j++) {                                               \
            for (int i = 1; i < NX - 1; i++) {                                           \
                REAL sum[2];                                                             \
                for (int axis = 0; axis < 2; axis++) {                                   \
                    int c = j * NX + i;                                                  \
                    int s = axis == 0 ? 1 : NX;                                          \
                    REAL lower = -((lam[c - s] + lam[c]) * half) * (u[c] - u[c - s]) *   \
                                 step[axis];                                             \
                    REAL upper = -((lam[c] + lam[c + s]) * half) * (u[c + s] - u[c]) *   \
                                 step[axis];                                             \
                    sum[axis] = (upper - lower) * step[axis];                            \
                }                                                                        \
                int k = (j - 1) * (NX - 2) + i - 1;                                      \
                d[k] = d[k] * beta + Q[k] * -(sum[0] + sum[1]);                          \
            }                                                                            \
        }                                                                                \
    }
DEFINE_PLAIN(plain_f64, double)
DEFINE_PLAIN(plain_f32, float)

static void check(bool f64, int threads)
{
    size_t size = f64 ? sizeof(double) : sizeof(float);
    make_given(f64);
    handwritten_dr dr = problem(&expected, f64);
    (f64 ? plain_f64 : plain_f32)(&dr);
    handwritten_team *team = handwritten_team_create(threads);
    ck_assert_ptr_nonnull(team);
    void (*const in_place[])(handwritten_team *, const handwritten_dr *) = {
        handwritten_math, handwritten_index};
    void (*const buffered[])(handwritten_team *, const handwritten_dr *) = {
        handwritten_fused, handwritten_fused_prefetch};
    for (int i = 0; i < 2; i++) {
        dr = problem(&got, f64);
        in_place[i](team, &dr);
        ck_assert_mem_eq(got.u, expected.u, N * size);
        ck_assert_mem_eq(got.d, expected.d, NINNER * size);
        dr = problem(&got, f64);
        buffered[i](team, &dr);
        ck_assert_mem_eq(got.un, expected.u, N * size);
        ck_assert_mem_eq(got.dn, expected.d, NINNER * size);
        ck_assert_mem_eq(got.u, given.u, N * size); // the input is only read
    }
    handwritten_team_destroy(team);
}

START_TEST(iteration_in_double_is_exact_on_any_team)
{
    for (int threads = 1; threads <= 4; threads++) {
        check(true, threads);
    }
}
END_TEST

START_TEST(iteration_in_float_is_exact_on_any_team)
{
    for (int threads = 1; threads <= 4; threads++) {
        check(false, threads);
    }
}
END_TEST

START_TEST(streams_touch_every_byte)
{
    enum { COUNT = 100003 };
    double *a = malloc(COUNT * sizeof *a);
    double *b = malloc(COUNT * sizeof *b);
    double *c = malloc(COUNT * sizeof *c);
    for (size_t i = 0; i < COUNT; i++) {
        b[i] = number(i, 5);
        c[i] = number(i, 6);
    }
    for (int threads = 1; threads <= 3; threads++) {
        handwritten_team *team = handwritten_team_create(threads);
        ck_assert_ptr_nonnull(team);
        handwritten_touch(team, a, COUNT * (int64_t)sizeof *a);
        ck_assert_double_eq(a[COUNT - 1], 0);
        handwritten_triad(team, true, COUNT, a, b, c, 2);
        for (size_t i = 0; i < COUNT; i++) {
            ck_assert_double_eq(a[i], b[i] + 2 * c[i]);
        }
        handwritten_copy(team, (char *)a + 3, b, 8 * COUNT - 5); // not aligned
        ck_assert_mem_eq((char *)a + 3, b, 8 * COUNT - 5);
        handwritten_team_destroy(team);
    }
    free(a);
    free(b);
    free(c);
}
END_TEST

START_TEST(team_sleeps_and_wakes)
{
    handwritten_team_destroy(NULL);
    handwritten_team *team = handwritten_team_create(3);
    ck_assert_ptr_nonnull(team);
    char a[100];
    for (int i = 0; i < 300; i++) {
        memset(a, 1, sizeof a);
        handwritten_touch(team, a, sizeof a);
        ck_assert_int_eq(a[99], 0);
    }
    handwritten_team_destroy(team);
}
END_TEST

static Suite *handwritten_suite(void)
{
    Suite *suite = suite_create("handwritten");
    TCase *all = tcase_create("all");
    tcase_add_test(all, iteration_in_double_is_exact_on_any_team);
    tcase_add_test(all, iteration_in_float_is_exact_on_any_team);
    tcase_add_test(all, streams_touch_every_byte);
    tcase_add_test(all, team_sleeps_and_wakes);
    suite_add_tcase(suite, all);
    return suite;
}

RUBUS_TEST_MAIN("relaxation by hand", handwritten_suite)
