/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory runs out at every place in turn: each call of the runtime is made with its n-th
 * and all later allocations failing, n = 1, 2, ... until it succeeds. It must say so,
 * lose nothing, change nothing, and leave the context usable.
 */
#include "config.h"

#include <check.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcore/runtime/runtime.h"
#include "tests/support/backends.h"
#include "tests/support/suite.h"

enum { MOST = 100000 }; /* no call makes so many allocations */

static const char source[] =
    "import \"imported.rk\";\n"
    "kernel step(inout real a[n], out real s, out real t)\n"
    "{ a = grow(a); s = sum(a); t = max(a); }\n"
    "kernel pick(out real a[n], in real b[n], in index at[n]) over (i)\n"
    "{ if (at[i] != 0) { a[i] = b[at[i]]; } }\n";

typedef struct state {
    int at;
    rubus_context *context;
    rubus_module *module;
    rubus_array *a;
    rubus_array *b;
    double s;
    double t;
    void *mapped;
    char path[60];     /* of the source */
    rubus_status want; /* of the call once there is memory */
} state;

typedef rubus_status (*call)(state *s);

/* Whether a status may mean that memory ran out; the text must say so too. */
static bool ran_out(rubus_status st)
{
    const char *text = rubus_error_text();
    return (st == RUBUS_ENOMEM && strstr(text, "out of") != NULL) ||
           (st == RUBUS_EDEVMEM && strstr(text, "buffer") != NULL &&
            strstr(text, "bytes") != NULL);
}

/* leak: the number of blocks must
 * not change by a failure. Returns the n of the success. */
static int64_t until_success(state *s, const char *what, call f, bool leak)
{
    for (int64_t n = 1; n < MOST; n++) {
        const int64_t live = rubus__alloc_live();
        rubus__alloc_fail_after(n, false);
        const rubus_status st = f(s);
        rubus__alloc_fail_after(0, false);
        if (st == s->want) {
            return n;
        }
        ck_assert_msg(ran_out(st), "%s, allocation %lld: %s: %s", what, (long long)n,
                      rubus_status_name(st), rubus_error_text());
        ck_assert_msg(!leak || rubus__alloc_live() == live,
                      "%s, allocation %lld: %lld blocks are lost", what, (long long)n,
                      (long long)(rubus__alloc_live() - live));
    }
    ck_abort_msg("%s never succeeds", what);
    return 0;
}

static void begin(state *s, int at)
{
    memset(s, 0, sizeof *s);
    s->at = at;
    s->context = backends_open(at);
    snprintf(s->path, sizeof s->path, "/tmp/rubus-test-alloc-%ld", (long)getpid());
    char file[100];
    static const char imported[] = "op grow(A[]) = 2 * A + 1;\n";
    ck_assert_int_eq(mkdir(s->path, 0700), 0);
    snprintf(file, sizeof file, "%s/imported.rk", s->path);
    ok(rubus__file_write(file, imported, strlen(imported)));
    strcat(s->path, "/main.rk");
    ok(rubus__file_write(s->path, source, strlen(source)));
}

static void end(state *s)
{
    rubus_array_destroy(s->a);
    rubus_array_destroy(s->b);
    rubus_module_destroy(s->module);
    unlink(s->path);
    *strrchr(s->path, '/') = '\0';
    char file[100];
    snprintf(file, sizeof file, "%s/imported.rk", s->path);
    unlink(file);
    rmdir(s->path);
    backends_finish(s->context);
}

static void make_module(state *s, int32_t check)
{
    const rubus_module_options options = {.struct_size = sizeof options, .check = check};
    ok(rubus_module_create_file(s->context, s->path, &options, &s->module));
}

/* --- contexts --------------------------------------------------------------------- */

static rubus_status open_context(state *s)
{
    return rubus_context_create(backends_spec[s->at], &s->context);
}

START_TEST(context_create_without_memory)
{
    state s;
    memset(&s, 0, sizeof s);
    s.at = _i;
    // the library has looked for plugins already
    rubus_context *first = backends_open(_i);
    ck_assert_int_gt(until_success(&s, "context", open_context, true), 1);
    rubus_context_destroy(s.context);
    rubus_context_destroy(first);
    rubus_shutdown();
    // and from the very beginning
    for (int64_t n = 1; n < MOST; n++) {
        s.context = NULL;
        rubus__alloc_fail_after(n, false);
        const rubus_status st = open_context(&s);
        rubus__alloc_fail_after(0, false);
        ck_assert_msg((st == RUBUS_OK) == (s.context != NULL), "output of a failure");
        rubus_context_destroy(s.context);
        rubus_shutdown();
        ck_assert_int_eq(rubus__alloc_live(), 0);
        if (st == RUBUS_OK) {
            return;
        }
        ck_assert_msg(ran_out(st), "allocation %lld: %s: %s", (long long)n,
                      rubus_status_name(st), rubus_error_text());
    }
    ck_abort_msg("never succeeds");
}
END_TEST

/* --- arrays ----------------------------------------------------------------------- */

static rubus_status create_array(state *s)
{
    return rubus_array_create(s->context, RUBUS_F64, RUBUS_SHAPE(20, 5), &s->a);
}

static rubus_status array_of_data(state *s)
{
    static const double data[100];
    return rubus_array_from(s->context, RUBUS_F64, RUBUS_SHAPE(20, 5), data, &s->a);
}

static rubus_status view_array(state *s)
{
    return rubus_array_view(s->b, 10, RUBUS_SHAPE(20), &s->a);
}

static rubus_status map_array(state *s)
{
    return rubus_array_map(s->b, RUBUS_READ | RUBUS_WRITE, &s->mapped);
}

static rubus_status fill_array(state *s)
{
    return rubus_array_fill(s->b, 3);
}

static rubus_status random_array(state *s)
{
    return rubus_array_random(s->b, 1, 0, 1);
}

static rubus_status copy_array(state *s)
{
    return rubus_array_copy(s->b, s->a);
}

START_TEST(arrays_without_memory)
{
    state s;
    begin(&s, _i);
    // the first array of a context may bring kernels for fill along: they stay
    until_success(&s, "first array", create_array, false);
    rubus_array_destroy(s.a);
    static const struct {
        const char *what;
        call f;
    } makers[] = {
        {"create", create_array}, {"from", array_of_data}, {"view", view_array}};
    s.b = backends_ramp(s.context, 100, 0);
    for (int k = 0; k < 3; k++) {
        s.a = NULL;
        ck_assert_int_gt(until_success(&s, makers[k].what, makers[k].f, true), 1);
        ck_assert(backends_get(s.a, 0) == (k == 2 ? 10 : 0));
        rubus_array_destroy(s.a);
        s.a = NULL;
    }
    until_success(&s, "map", map_array, true);
    ck_assert(((double *)s.mapped)[99] == 99);
    ok(rubus_array_unmap(s.b));
    until_success(&s, "fill", fill_array, true);
    ck_assert(backends_get(s.b, 99) == 3);
    ck_assert_int_gt(until_success(&s, "random", random_array, true), 1);
    s.a = backends_ramp(s.context, 100, 0);
    until_success(&s, "copy", copy_array, true);
    ck_assert(backends_get(s.b, 99) == 99);
    end(&s);
}
END_TEST

START_TEST(copy_between_contexts_without_memory)
{
    state s;
    begin(&s, _i);
    rubus_context *there = backends_open((_i + 1) % BACKENDS);
    s.a = backends_ramp(there, 100, 0);
    ok(rubus_array_create(s.context, RUBUS_F64, RUBUS_SHAPE(100), &s.b));
    ck_assert_int_gt(until_success(&s, "copy across", copy_array, true), 1);
    ck_assert(backends_get(s.b, 99) == 99);
    rubus_context_destroy(there);
    end(&s);
}
END_TEST

START_TEST(validate_mode_without_memory)
{
    state s;
    begin(&s, _i);
    s.context->validate = true;
    until_success(&s, "first array", create_array, false);
    rubus_array_destroy(s.a);
    s.a = NULL;
    ck_assert_int_gt(until_success(&s, "array with guards", create_array, true), 1);
    ok(rubus_context_synchronize(s.context));
    end(&s);
}
END_TEST

/* --- modules ---------------------------------------------------------------------- */

static rubus_status create_module(state *s)
{
    return rubus_module_create_file(s->context, s->path, NULL, &s->module);
}

static rubus_status create_checked(state *s)
{
    const rubus_module_options options = {.struct_size = sizeof options, .check = 1};
    return rubus_module_create_file(s->context, s->path, &options, &s->module);
}

static rubus_status create_wrong(state *s)
{
    return rubus_module_create(s->context, "wrong.rk",
                               "kernel f(out real a[n]) { a = b; a = c; }\n"
                               "kernel g(out real a[n]) { a = c; }\n",
                               NULL, &s->module);
}

START_TEST(modules_without_memory)
{
    state s;
    begin(&s, _i);
    make_module(&s, 0); // what the backend keeps (its compiler) is there now
    rubus_module_destroy(s.module);
    make_module(&s, 1);
    rubus_module_destroy(s.module);
    s.module = NULL;
    ck_assert_int_gt(until_success(&s, "module", create_module, true), 3);
    rubus__alloc_fail_after(1, false);
    ck_assert_ptr_null(rubus_module_kernel(s.module, "stop"));
    rubus__alloc_fail_after(0, false);
    backends_text_has("no kernel `stop`", "without memory for the nearest", __LINE__);
    s.b = backends_ramp(s.context, 10, 0);
    ok(rubus_launch(backends_kernel(s.module, "step"), s.b, &s.s, &s.t));
    ck_assert(s.s == 100 && s.t == 19);
    rubus_module_destroy(s.module);
    s.module = NULL;
    ck_assert_int_gt(until_success(&s, "checked module", create_checked, true), 3);
    rubus_module_destroy(s.module);
    s.module = NULL;
    s.want = RUBUS_ECOMPILE;
    ck_assert_int_gt(until_success(&s, "wrong module", create_wrong, true), 3);
    backends_text_has("wrong.rk:1:31|`b`|wrong.rk:2:", "all errors", __LINE__);
    ck_assert_ptr_null(s.module);
    end(&s);
}
END_TEST

/* --- launches --------------------------------------------------------------------- */

static rubus_status launch_results(state *s)
{
    return rubus_launch(rubus_module_kernel(s->module, "step"), s->b, &s->s, &s->t);
}

START_TEST(launch_with_results_without_memory)
{
    enum { N = 20000 }; // enough for several threads and a tree of partials
    for (int64_t n = 1;; n++) {
        state s;
        begin(&s, _i);
        make_module(&s, 0);
        s.b = backends_ramp(s.context, N, 0);
        s.s = -1;
        const rubus_kernel *step = backends_kernel(s.module, "step");
        rubus__alloc_fail_after(n, false);
        rubus_status st = rubus_launch(step, s.b, &s.s, &s.t);
        // errors of the interpreter's launches may come with the next waiting call
        rubus__alloc_fail_after(0, false);
        const bool done = st == RUBUS_OK;
        ck_assert_msg(done || ran_out(st), "allocation %lld: %s: %s", (long long)n,
                      rubus_status_name(st), rubus_error_text());
        ck_assert_msg(done || s.s == -1, "allocation %lld: an output was written",
                      (long long)n);
        // the context goes on; what the failed call did to b is not promised
        rubus_array_destroy(s.b);
        s.b = backends_ramp(s.context, N, 0);
        ok(launch_results(&s));
        ck_assert_msg(s.s == (double)N * N && s.t == 2 * N - 1, "%g %g", s.s, s.t);
        end(&s);
        if (done) {
            ck_assert_int_gt(n, 1);
            return;
        }
        ck_assert_int_lt(n, MOST);
    }
}
END_TEST

enum { MANY = 150 };
static rubus_arg many[MANY + 1];

static rubus_status launch_many(state *s)
{
    return rubus_launch_args(rubus_module_kernel(s->module, "many"), many, MANY + 1);
}

START_TEST(launch_with_many_arguments_without_memory)
{
    state s;
    begin(&s, _i);
    rubus__text text;
    rubus__text_init(&text);
    rubus__text_add(&text, "kernel many(out real a[n]");
    for (int k = 0; k < MANY; k++) {
        rubus__text_format(&text, ", real f%d", k);
    }
    rubus__text_format(&text, ") { a = f0 + f%d; }\n", MANY - 1);
    s.module = backends_module(s.context, text.data, RUBUS_F64, 0);
    rubus__text_fini(&text);
    s.a = backends_ramp(s.context, 10, 0);
    many[0] = rubus_arg_array(s.a);
    for (int k = 0; k < MANY; k++) {
        many[k + 1] = rubus_arg_real(k + 1);
    }
    // a backend may keep memory for blocks of this size
    ck_assert_int_gt(until_success(&s, "first launch", launch_many, false), 1);
    ck_assert(backends_get(s.a, 9) == MANY + 1);
    ck_assert_int_gt(until_success(&s, "launch", launch_many, true), 1);
    end(&s);
}
END_TEST

/* --- destruction ------------------------------------------------------------------ */

START_TEST(destroy_needs_no_memory)
{
    for (int mapped = 0; mapped < 2; mapped++) {
        state s;
        begin(&s, _i);
        make_module(&s, 1);
        const int32_t outside[3] = {0, 7, 0};
        rubus_array *at = NULL;
        rubus_array *view = NULL;
        ok(rubus_array_from(s.context, RUBUS_I32, RUBUS_SHAPE(3), outside, &at));
        s.a = backends_ramp(s.context, 3, 0);
        s.b = backends_ramp(s.context, 3, 0);
        ok(rubus_array_view(s.a, 0, RUBUS_SHAPE(2), &view));
        ok(rubus_launch(backends_kernel(s.module, "pick"), s.a, s.b, at));
        if (mapped == 1) {
            ck_assert_int_eq(rubus_context_synchronize(s.context), RUBUS_EBOUNDS);
            ok(rubus_array_map(view, RUBUS_WRITE, &s.mapped));
        }
        rubus__alloc_fail_after(1, false);
        rubus_module_destroy(s.module);
        s.module = NULL;
        rubus_array_destroy(view);
        rubus_array_destroy(at);
        const rubus_status st = rubus_context_synchronize(s.context);
        rubus__alloc_fail_after(0, false);
        // the report comes even if its details could not be kept
        ck_assert_int_eq(st, mapped == 1 ? RUBUS_OK : RUBUS_EBOUNDS);
        ck_assert(mapped == 1 || strstr(rubus_error_text(), "left an array") != NULL ||
                  strstr(rubus_error_text(), "leaves") != NULL);
        ok(rubus_context_synchronize(s.context));
        ck_assert(backends_get(s.b, 2) == 2);
        end(&s);
    }
}
END_TEST

static Suite *alloc_suite(void)
{
    TCase *tc = tcase_create("alloc");
    backends_add(tc, context_create_without_memory);
    backends_add(tc, arrays_without_memory);
    backends_add(tc, copy_between_contexts_without_memory);
    backends_add(tc, validate_mode_without_memory);
    backends_add(tc, modules_without_memory);
    backends_add(tc, launch_with_results_without_memory);
    backends_add(tc, launch_with_many_arguments_without_memory);
    backends_add(tc, destroy_needs_no_memory);
    Suite *suite = suite_create("runtime: out of memory");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: out of memory", alloc_suite)
