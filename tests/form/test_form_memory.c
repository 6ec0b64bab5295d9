/* SPDX-License-Identifier: Apache-2.0 */
/* Forms on every backend: how often kernels are built, several threads, no memory. */
#include "config.h"

#include <check.h>
#include <pthread.h>

#include "tests/form/form_probe.h"

static const char text[] =
    "form plain(trial u, test v) = inner_h(u, v);\n"
    "form stiffness(trial u, test v) = inner_plus(grad(u), grad(v));\n"
    "form robin(trial u, test v, real beta) = beta * inner_Gamma(u, v, \"left\", "
    "\"top\");\n";

/* Two forms of one text need one kernel. */
START_TEST(form_kernels_are_built_once)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    rubus_array *x = array_of(p.space, 1, 2, 3, 4);
    rubus_array *y = array_of(p.space, 0, 0, 0, 0);
    uint64_t built[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        rubus_form *form = probe_form(&p, "plain", p.space);
        rubus_operator *op = NULL;
        ok(rubus_form_operator(form, NULL, &op));
        const uint64_t before = probe_counters(p.context).modules_built;
        ok(rubus_operator_apply(op, 1, x, 0, y));
        ok(rubus_operator_apply(op, 1, x, 0, y));
        built[k] = probe_counters(p.context).modules_built - before;
        rubus_operator_destroy(op);
        rubus_form_destroy(form);
    }
    ck_assert_uint_eq(built[0], 1);
    ck_assert_uint_eq(built[1], 0);
    rubus_array_destroy(x);
    rubus_array_destroy(y);
    probe_close(&p);
}
END_TEST

/* --- threads ------------------------------------------------------------------------ */

typedef struct worker {
    form_probe *p;
    double factor;
    bool good;
} worker;

/* Makes a form of its own, and applies it many times. */
static void *work(void *user)
{
    worker *w = user;
    rubus_form *form = NULL;
    rubus_operator *op = NULL;
    rubus_array *x = NULL;
    rubus_array *y = NULL;
    w->good = rubus_form_create(w->p->module, "robin", w->p->space, w->p->space, &form) ==
                  RUBUS_OK &&
              rubus_form_set(form, "beta", w->factor) == RUBUS_OK &&
              rubus_form_operator(form, NULL, &op) == RUBUS_OK &&
              rubus_space_array(w->p->space, 1, &x) == RUBUS_OK &&
              rubus_space_array(w->p->space, 0, &y) == RUBUS_OK;
    for (int k = 0; k < 40 && w->good; k++) {
        double got[9] = {0};
        w->good = rubus_operator_apply(op, 1, x, 0, y) == RUBUS_OK &&
                  rubus_array_read(y, got, sizeof got) == RUBUS_OK &&
                  fabs(got[3] - 1.5 * w->factor) < 1e-12 && fabs(got[4]) < 1e-12;
    }
    rubus_array_destroy(x);
    rubus_array_destroy(y);
    rubus_operator_destroy(op);
    rubus_form_destroy(form);
    return NULL;
}

START_TEST(forms_of_one_module_on_several_threads)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_013_023(p.context, RUBUS_F64));
    pthread_t thread[4];
    worker w[4];
    for (int k = 0; k < 4; k++) {
        w[k] = (worker){&p, k + 1, false};
        ck_assert_int_eq(pthread_create(&thread[k], NULL, work, &w[k]), 0);
    }
    for (int k = 0; k < 4; k++) {
        ck_assert_int_eq(pthread_join(thread[k], NULL), 0);
        ck_assert_msg(w[k].good, "thread %d", k);
    }
    probe_close(&p);
}
END_TEST

/* --- memory ------------------------------------------------------------------------- */

START_TEST(form_apply_allocates_nothing)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_013_023(p.context, RUBUS_F64));
    rubus_array *x = NULL;
    rubus_array *y = NULL;
    rubus_constraint *bc = NULL;
    rubus_operator *op = NULL;
    ok(RUBUS_ARRAYS(p.pair, &x, &y));
    rubus_form *form = probe_form(&p, "stiffness", p.pair);
    ok(rubus_constraint_create(p.pair, &bc));
    ok(rubus_constraint_add(bc, "left", 0, 1.0));
    ok(rubus_form_operator(form, bc, &op));
    ok(rubus_operator_apply(op, 1, x, 0, y));
    const int64_t blocks = rubus__alloc_live();
    const bool ours = strncmp(backends_spec[_i], "threads", 7) == 0;
    if (ours) { // others may allocate for themselves
        rubus__alloc_fail_after(1, true);
    }
    const rubus_status st = rubus_operator_apply(op, 1, x, 0.5, y);
    rubus__alloc_fail_after(0, true);
    ck_assert_msg(st == RUBUS_OK, "an allocation in apply: %s", rubus_error_text());
    ck_assert_int_eq(rubus__alloc_live(), blocks);
    rubus_operator_destroy(op);
    rubus_constraint_destroy(bc);
    rubus_form_destroy(form);
    rubus_array_destroy(x);
    rubus_array_destroy(y);
    probe_close(&p);
}
END_TEST

/* All that the first use of a form and a constraint needs. */
static rubus_status use_all(const form_probe *p, rubus_array *x, rubus_array *y)
{
    rubus_form *form = NULL;
    rubus_constraint *bc = NULL;
    rubus_operator *op = NULL;
    rubus_array *mask = NULL;
    rubus_status st = rubus_form_create(p->module, "robin", p->pair, p->pair, &form);
    st = st != RUBUS_OK ? st : rubus_form_set(form, "beta", 3);
    st = st != RUBUS_OK ? st : rubus_constraint_create(p->pair, &bc);
    st = st != RUBUS_OK ? st : rubus_constraint_add(bc, "left", 0, x);
    st = st != RUBUS_OK ? st : rubus_constraint_add(bc, "interior", 1, 2.0);
    st = st != RUBUS_OK ? st : rubus_constraint_apply(bc, x);
    st = st != RUBUS_OK ? st : rubus_form_operator(form, bc, &op);
    st = st != RUBUS_OK ? st : rubus_operator_apply(op, 1, x, 0, y);
    st = st != RUBUS_OK ? st : rubus_operator_diagonal(op, y);
    st = st != RUBUS_OK ? st : rubus_operator_constraint(op, &mask);
    st = st != RUBUS_OK ? st : rubus_form_lift(form, bc, y);
    rubus_operator_destroy(op);
    rubus_constraint_destroy(bc);
    rubus_form_destroy(form);
    return st;
}

START_TEST(forms_without_memory)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_013_023(p.context, RUBUS_F64));
    rubus_array *x = NULL;
    rubus_array *y = NULL;
    ok(RUBUS_ARRAYS(p.pair, &x, &y));
    // what is kept for the context, mesh and module is there; the module's is not counted
    ok(use_all(&p, x, y));
    rubus_status st = RUBUS_ENOMEM;
    int64_t n = 0;
    while (st != RUBUS_OK && n < 4000) {
        n++;
        rubus__alloc_fail_after(n, true);
        st = use_all(&p, x, y);
        rubus__alloc_fail_after(0, true);
        ck_assert_msg(st == RUBUS_OK || st == RUBUS_ENOMEM || st == RUBUS_EDEVMEM,
                      "allocation %d: %s: %s", (int)n, rubus_status_name(st),
                      rubus_error_text());
    }
    ck_assert_int_eq(st, RUBUS_OK);
    ck_assert_int_gt(n, 20);
    rubus_array_destroy(x);
    rubus_array_destroy(y);
    probe_close(&p);
}
END_TEST

static Suite *memory_suite(void)
{
    Suite *suite = suite_create("form_memory");
    TCase *tc = tcase_create("memory");
    backends_add(tc, form_kernels_are_built_once);
    backends_add(tc, forms_of_one_module_on_several_threads);
    backends_add(tc, form_apply_allocates_nothing);
    backends_add(tc, forms_without_memory);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("form_memory", memory_suite)
