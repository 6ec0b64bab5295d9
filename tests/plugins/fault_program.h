/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_FAULT_PROGRAM_H
#define RUBUS_TESTS_FAULT_PROGRAM_H
/*
 * A program for the backend "fault" that comes by every slot, cut into steps that may be
 * made again when they fail. Its numbers are known in closed form. Include after check.h
 * and config.h.
 */
#include <string.h>

#include <rubus/rubus.h>
#include <rubus/solve.h>
#include <rubus/sparse.h>

enum { FAULT_N = 40, FAULT_ROUNDS = 50, FAULT_OPENS = 50 };

static const char fault_source[] =
    "kernel step(out real c[n], in real a[n], in real b[n]) over (i)\n"
    "{ c[i] = a[i] + 2 * b[i]; }\n"
    "kernel total(in real a[n], out real s, out real t) { s = sum(a); t = max(a); }\n";
static const char fault_checked[] =
    "kernel pick(out real c[n], in real a[n]) over (i) { c[i] = a[n - 1 - i]; }\n";

typedef struct program {
    const char *spec;
    bool many_modules; /* one in each round, for the slots of modules */
    bool many_opens;
    int32_t round;
    rubus_context *context;
    rubus_module *module;
    rubus_module *checked;
    rubus_array *a;
    rubus_array *b;
    rubus_array *c;
    rubus_array *one;
    rubus_array *x; /* two columns */
    rubus_array *y;
    rubus_csr *matrix;
    double sum;
    double largest;
    double got[FAULT_N];
} program;

typedef rubus_status (*program_step)(program *p);

static rubus_status step_open(program *p)
{
    return rubus_context_create(p->spec, &p->context);
}

static rubus_status step_build(program *p)
{
    return rubus_module_create(p->context, "fault.rk", fault_source, NULL, &p->module);
}

static rubus_status step_build_checked(program *p)
{
    const rubus_module_options options = {.struct_size = sizeof options, .check = 1};
    return rubus_module_create(p->context, "checked.rk", fault_checked, &options,
                               &p->checked);
}

static rubus_status step_create(program *p)
{
    return rubus_array_create(p->context, RUBUS_F64, RUBUS_SHAPE(FAULT_N), &p->a);
}

static rubus_status step_from(program *p)
{
    double host[FAULT_N];
    for (int i = 0; i < FAULT_N; i++) {
        host[i] = i;
    }
    return rubus_array_from(p->context, RUBUS_F64, RUBUS_SHAPE(FAULT_N), host, &p->b);
}

static rubus_status step_create_more(program *p)
{
    const rubus_status st =
        p->c != NULL
            ? RUBUS_OK
            : rubus_array_create(p->context, RUBUS_F64, RUBUS_SHAPE(FAULT_N), &p->c);
    return st != RUBUS_OK
               ? st
               : rubus_array_create(p->context, RUBUS_F64, RUBUS_SHAPE(1), &p->one);
}

static rubus_status step_write(program *p)
{
    double host[FAULT_N];
    for (int i = 0; i < FAULT_N; i++) {
        host[i] = p->round;
    }
    return rubus_array_write(p->a, host, sizeof host);
}

static rubus_status step_launch(program *p)
{
    return rubus_launch(rubus_module_kernel(p->module, "step"), p->c, p->a, p->b);
}

/* a = the round, b = i: c = round + 2 i */
static rubus_status step_read(program *p)
{
    const rubus_status st = rubus_array_read(p->c, p->got, sizeof p->got);
    for (int i = 0; st == RUBUS_OK && i < FAULT_N; i++) {
        ck_assert_msg(p->got[i] == p->round + 2 * i, "round %d: c[%d] is %g",
                      (int)p->round, i, p->got[i]);
    }
    return st;
}

static rubus_status step_reduce(program *p)
{
    const rubus_status st =
        rubus_launch(rubus_module_kernel(p->module, "total"), p->c, &p->sum, &p->largest);
    if (st == RUBUS_OK) {
        ck_assert_msg(p->sum == FAULT_N * (double)p->round + FAULT_N * (FAULT_N - 1),
                      "round %d: the sum is %g", (int)p->round, p->sum);
        ck_assert(p->largest == p->round + 2 * (FAULT_N - 1));
    }
    return st;
}

static rubus_status step_reduce_on_device(program *p)
{
    rubus_status st =
        rubus_launch(rubus_module_kernel(p->module, "total"), p->b, p->one, &p->largest);
    if (st == RUBUS_OK) {
        st = rubus_array_read(p->one, &p->sum, sizeof p->sum);
    }
    ck_assert(st != RUBUS_OK || p->sum == FAULT_N * (FAULT_N - 1) / 2.0);
    return st;
}

static rubus_status step_fill(program *p)
{
    return rubus_array_fill(p->a, 7);
}

static rubus_status step_copy(program *p)
{
    return rubus_array_copy(p->c, p->a);
}

static rubus_status step_map(program *p)
{
    void *data = NULL;
    rubus_status st = rubus_array_map(p->c, RUBUS_READ | RUBUS_WRITE, &data);
    if (st == RUBUS_OK) {
        double *c = data;
        ck_assert(c[0] == 7 || c[0] == 9); // 9: left by a try that unmap spoiled
        c[0] = 9;
        st = rubus_array_unmap(p->c);
    }
    return st;
}

static rubus_status step_see_map(program *p)
{
    const rubus_status st = rubus_array_read(p->c, p->got, sizeof p->got);
    ck_assert(st != RUBUS_OK || (p->got[0] == 9 && p->got[FAULT_N - 1] == 7));
    return st;
}

static rubus_status step_checked(program *p)
{
    rubus_status st = rubus_launch(rubus_module_kernel(p->checked, "pick"), p->c, p->b);
    if (st == RUBUS_OK) {
        st = rubus_array_read(p->c, p->got, sizeof p->got);
    }
    ck_assert(st != RUBUS_OK || p->got[1] == FAULT_N - 2);
    return st;
}

static rubus_status step_synchronize(program *p)
{
    return rubus_context_synchronize(p->context);
}

/* Tridiagonal: 2, and -1 beside it. */
static rubus_status step_matrix(program *p)
{
    int32_t rowptr[FAULT_N + 1] = {0};
    int32_t colval[3 * FAULT_N];
    double nzval[3 * FAULT_N];
    int32_t n = 0;
    for (int32_t i = 0; i < FAULT_N; i++) {
        for (int32_t j = i - 1; j <= i + 1; j++) {
            if (j >= 0 && j < FAULT_N) {
                colval[n] = j;
                nzval[n++] = i == j ? 2 : -1;
            }
        }
        rowptr[i + 1] = n;
    }
    return rubus_csr_create(p->context, RUBUS_I32, RUBUS_F64, FAULT_N, FAULT_N, n, rowptr,
                            colval, nzval, &p->matrix);
}

/* b = i, so A b is 0 but for its ends. */
static rubus_status step_spmv(program *p)
{
    rubus_status st = rubus_spmv(1, p->matrix, p->b, 0, p->c);
    if (st == RUBUS_OK) {
        st = rubus_array_read(p->c, p->got, sizeof p->got);
    }
    ck_assert(st != RUBUS_OK ||
              (p->got[0] == -1 && p->got[1] == 0 && p->got[FAULT_N - 2] == 0 &&
               p->got[FAULT_N - 1] == FAULT_N));
    return st;
}

static rubus_status step_dense(program *p)
{
    double host[2 * FAULT_N];
    for (int i = 0; i < FAULT_N; i++) {
        host[i] = i;
        host[FAULT_N + i] = 2 * i;
    }
    const rubus_status st = p->x != NULL
                                ? RUBUS_OK
                                : rubus_array_from(p->context, RUBUS_F64,
                                                   RUBUS_SHAPE(FAULT_N, 2), host, &p->x);
    return st != RUBUS_OK ? st
                          : rubus_array_create(p->context, RUBUS_F64,
                                               RUBUS_SHAPE(FAULT_N, 2), &p->y);
}

static rubus_status step_spmm(program *p)
{
    double y[2 * FAULT_N];
    rubus_status st = rubus_spmm(1, p->matrix, rubus_dense_columns(p->x, FAULT_N, 2, 0),
                                 0, rubus_dense_columns(p->y, FAULT_N, 2, 0));
    if (st == RUBUS_OK) {
        st = rubus_array_read(p->y, y, sizeof y);
    }
    ck_assert(st != RUBUS_OK ||
              (y[0] == -1 && y[FAULT_N - 1] == FAULT_N && y[FAULT_N] == -2 &&
               y[FAULT_N + 1] == 0 && y[2 * FAULT_N - 1] == 2 * FAULT_N));
    return st;
}

/* All values become 1. */
static rubus_status step_flush(program *p)
{
    rubus_csr_mirror mirror = {.struct_size = sizeof mirror};
    rubus_status st = rubus_csr_mirror_get(p->matrix, &mirror);
    for (int k = 0; st == RUBUS_OK && k < 3 * FAULT_N - 2; k++) {
        ((double *)mirror.nzval)[k] = 1;
    }
    return st != RUBUS_OK ? st : rubus_csr_flush(p->matrix);
}

static rubus_status step_spmv_of_ones(program *p)
{
    rubus_status st = rubus_spmv(1, p->matrix, p->b, 0, p->c);
    if (st == RUBUS_OK) {
        st = rubus_array_read(p->c, p->got, sizeof p->got);
    }
    ck_assert(st != RUBUS_OK || (p->got[0] == 1 && p->got[7] == 21));
    return st;
}

/* A solver in few of the rounds: it makes many calls. */
static rubus_status step_solve(program *p)
{
    if (p->round % 20 != 1) {
        return RUBUS_OK;
    }
    const rubus_relax_desc desc = {
        .struct_size = sizeof desc, .dim = 1, .n = {16}, .right = 1, .niter = 9};
    rubus_relax *relax = NULL;
    rubus_status st = rubus_relax_create(p->context, &desc, &relax);
    if (st == RUBUS_OK) {
        st = rubus_relax_run(relax, -1, NULL, NULL);
    }
    if (st == RUBUS_OK) {
        double u[16];
        st = rubus_array_read(rubus_relax_field(relax), u, sizeof u);
        ck_assert(st != RUBUS_OK || (u[0] == 0 && u[15] == 1));
    }
    rubus_relax_destroy(relax);
    return st;
}

static rubus_status step_destroy(program *p)
{
    rubus_array_destroy(p->a);
    rubus_array_destroy(p->b);
    rubus_array_destroy(p->c);
    rubus_array_destroy(p->one);
    rubus_array_destroy(p->x);
    rubus_array_destroy(p->y);
    rubus_csr_destroy(p->matrix);
    p->a = p->b = p->c = p->one = p->x = p->y = NULL;
    p->matrix = NULL;
    return RUBUS_OK;
}

static rubus_status step_destroy_module(program *p)
{
    if (p->many_modules) {
        rubus_module_destroy(p->module);
        p->module = NULL;
    }
    return RUBUS_OK;
}

static rubus_status step_build_again(program *p)
{
    return p->module != NULL ? RUBUS_OK : step_build(p);
}

static rubus_status step_open_and_close(program *p)
{
    rubus_context *other = NULL;
    const rubus_status st = rubus_context_create(p->spec, &other);
    rubus_context_destroy(other);
    return st;
}

/* Back to the numbers of the round, which fill and the checked kernel overwrote. */
#define FAULT_ROUND_STEPS                                                                \
    step_build_again, step_create, step_from, step_create_more, step_write, step_launch, \
        step_read, step_reduce, step_reduce_on_device, step_fill, step_copy, step_map,   \
        step_see_map, step_checked, step_synchronize, step_matrix, step_spmv,            \
        step_dense, step_spmm, step_flush, step_spmv_of_ones, step_solve, step_destroy,  \
        step_destroy_module

static inline void program_end(program *p)
{
    (void)step_destroy(p);
    rubus_module_destroy(p->module);
    rubus_module_destroy(p->checked);
    rubus_context_destroy(p->context);
    p->module = p->checked = NULL;
    p->context = NULL;
}

#endif
