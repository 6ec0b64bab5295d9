/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources as deep as the documented limit, from a thread with 256 KiB of stack: they are
 * compiled, explained and, by the interpreter, run; or refused with K141. Also the
 * service behind it: what a call on a thread of its own gives back.
 */
#include "config.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#include "libcore/kernel/program.h"
#include "tests/support/backends.h"
#include "tests/support/suite.h"

#ifdef __SANITIZE_ADDRESS__
#define SMALL ((size_t)2 << 20u) /* its frames are larger */
#else
#define SMALL ((size_t)256 << 10u)
#endif

static void on_small_stack(void *(*body)(void *), void *user)
{
    pthread_attr_t attr;
    pthread_t thread;
    ck_assert_int_eq(pthread_attr_init(&attr), 0);
    ck_assert_int_eq(pthread_attr_setstacksize(&attr, SMALL), 0);
    ck_assert_int_eq(pthread_create(&thread, &attr, body, user), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    (void)pthread_attr_destroy(&attr);
}

/* --- deep sources ------------------------------------------------------------------- */

typedef struct deep {
    const char *kernel; /* with %s where the expression stands */
    const char *before; /* so many times before the middle ... */
    const char *middle;
    const char *after; /* ... and behind it */
    int count;
    bool runs; /* on four elements */
    double last;
} deep;

#define FIELD "kernel k(in real a[n], inout real w[n]) { w = %s; }"
#define INNER "kernel k(in real a[n], inout real w[n]) { w[1:-1] = %s; }"
#define POINT "kernel k(in real a[n], inout real w[n]) over (i in 0:n) { w[i] = %s; }"

/* The last element of a is 3. */
static const deep cases[] = {
    {FIELD, "-(", "a", ")", 2400, true, 3},
    {INNER, "pad(", "a[1:-1]", ", 0)[1:-1]", 2400, false, 0},
    {FIELD, "pad(", "a", ", 0)[1:-1]", 2400, true, 3},
    {FIELD, "a > 5 ? 1 : (", "a", ")", 2400, true, 3},
    {FIELD, "sqrt(", "a", ")", 4900, true, 1},
    {FIELD, "a + (", "a", ")", 2400, true, 7203},
    {POINT, "-(", "a[i]", ")", 2400, true, 3},
    {POINT, "a[i] > 5 ? 1 : (", "a[i]", ")", 2400, true, 3},
    {POINT, "sqrt(", "a[i]", ")", 4900, true, 1},
    {POINT, "a[i] + (", "a[i]", ")", 2400, true, 7203},
};
enum { NCASE = sizeof cases / sizeof cases[0] };

static char *deep_text(const deep *d)
{
    rubus__text middle;
    rubus__text whole;
    rubus__text_init(&middle);
    rubus__text_init(&whole);
    for (int i = 0; i < d->count; i++) {
        rubus__text_add(&middle, d->before);
    }
    rubus__text_add(&middle, d->middle);
    for (int i = 0; i < d->count; i++) {
        rubus__text_add(&middle, d->after);
    }
    const char *hole = strstr(d->kernel, "%s");
    rubus__text_add_n(&whole, d->kernel, (size_t)(hole - d->kernel));
    rubus__text_add(&whole, middle.data);
    rubus__text_add(&whole, hole + 2);
    rubus__text_fini(&middle);
    return rubus__text_take(&whole);
}

static void compile_and_explain(const char *text, const char *dialect)
{
    const rk_options options = {
        .real = RUBUS_F64, .index = RUBUS_I32, .dialect = dialect};
    rk_program *program = NULL;
    rubus__text out;
    ok(rk_compile(&options, "deep.rk", text, strlen(text), &program));
    rubus__text_init(&out);
    rk_explain(program, false, &out);
    ck_assert(!out.failed && strstr(out.data, "kernel k (deep.rk:1): 1 pass") != NULL);
    rubus__text_fini(&out);
    rk_program_destroy(program);
}

static void *run_deep(void *user)
{
    const deep *d = user;
    char *text = deep_text(d);
    compile_and_explain(text, "c");
    compile_and_explain(text, "rk");
    if (d->runs) {
        rubus_context *context = backends_open(0);
        rubus_module *module = backends_module(context, text, RUBUS_F64, 0);
        rubus_array *a = backends_ramp(context, 4, 0);
        rubus_array *w = backends_ramp(context, 4, 0);
        ok(rubus_launch(backends_kernel(module, "k"), a, w));
        ck_assert_double_eq_tol(backends_get(w, 3), d->last, 1e-9);
        rubus_array_destroy(a);
        rubus_array_destroy(w);
        rubus_module_destroy(module);
        rubus_context_destroy(context);
    }
    rubus__free(text);
    return NULL;
}

START_TEST(deep_sources_need_no_large_stack)
{
    on_small_stack(run_deep, (void *)(uintptr_t)&cases[_i]);
    rubus_shutdown();
    ck_assert_int_eq(rubus__alloc_live(), 0);
}
END_TEST

static void *run_too_deep(void *user)
{
    const deep d = {user, "-(", "a", ")", 6000, false, 0};
    const rk_options options = {.real = RUBUS_F64, .index = RUBUS_I32};
    rk_program *program = NULL;
    char *text = deep_text(&d);
    fails(rk_compile(&options, "deep.rk", text, strlen(text), &program), RUBUS_ECOMPILE,
          "deep.rk:1:|error[K141]");
    rubus__free(text);
    return NULL;
}

START_TEST(deeper_sources_are_refused)
{
    on_small_stack(run_too_deep, (void *)(uintptr_t)FIELD);
    ck_assert_int_eq(rubus__alloc_live(), 0);
}
END_TEST

/* --- the service -------------------------------------------------------------------- */

static rubus_status call_other(void *user)
{
    pthread_t *self = user;
    *self = pthread_self();
    return rubus__fail(RUBUS_ESHAPE, "said there");
}

static rubus_status call_alloc(void *user)
{
    void *p = rubus__alloc(8);
    *(bool *)user = p != NULL;
    rubus__free(p);
    return RUBUS_OK;
}

static void *use_service(void *user)
{
    pthread_t self;
    fails(rubus__with_stack(1024, call_other, &self), RUBUS_ESHAPE, "said there");
    ck_assert(pthread_equal(self, pthread_self()));
    fails(rubus__with_stack((size_t)4 << 20u, call_other, &self), RUBUS_ESHAPE,
          "said there");
    ck_assert(!pthread_equal(self, pthread_self()));
    /* a failure that a test injects into this thread happens there too */
    bool there = false;
    rubus__alloc_fail_after(2, true);
    ok(rubus__with_stack((size_t)4 << 20u, call_alloc, &there));
    ck_assert(there);
    ok(rubus__with_stack((size_t)4 << 20u, call_alloc, &there));
    ck_assert(!there);
    rubus__alloc_fail_after(0, true);
    fails(rubus__with_stack(SIZE_MAX / 4, call_other, &self), RUBUS_ENOMEM,
          "bytes of stack|ulimit");
    return user;
}

START_TEST(call_gives_back_status_and_text)
{
    on_small_stack(use_service, NULL);
}
END_TEST

static Suite *small_stack_suite(void)
{
    TCase *tc = tcase_create("small stack");
    tcase_add_loop_test(tc, deep_sources_need_no_large_stack, 0, NCASE);
    tcase_add_test(tc, deeper_sources_are_refused);
    tcase_add_test(tc, call_gives_back_status_and_text);
    Suite *suite = suite_create("runtime: small stacks");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: small stacks", small_stack_suite)
