/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of one slot goes wrong, for every slot and each of its first calls, in a
 * program that comes by all of them. The call of the program that meets it must say what
 * failed, lose nothing, and work when it is made again; a lost device must be told by
 * every later call; objects are destroyable in any case, and a fresh context works.
 */
#include "config.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "libcore/runtime/plugin.h"
#include "tests/plugins/fault_program.h"
#include "tests/support/suite.h"

enum { CALLS = 50, FEW = 9, FEWEST = 2 };

/* What the faults happen in front of. */
enum { OVER_THREADS, OVER_SPARSE, OVER_VULKAN };

/* How a slot may fail, and on which variant of the backend. */
typedef struct fault_case {
    const char *kind;  /* as in RUBUS_TEST_FAULT */
    rubus_status want; /* what the program gets */
    int calls;         /* the first so many; FEW: all 50 in make check-long */
    const char *spec;
    const char *hide; /* slots that the library's stubs do */
    int over;         /* OVER_SPARSE: all sparse slots are filled (mutant_sparse.c) */
} fault_case;

static const char stubs[] = "fill copy map unmap";

static const fault_case cases[] = {
    {"fail -16", RUBUS_EDEVMEM, CALLS, "fault:threads=2", "", OVER_SPARSE},
    {"fail -16", RUBUS_EDEVMEM, FEW, "fault:threads=2", stubs, OVER_THREADS},
    {"fail -20", RUBUS_ETIMEOUT, FEW, "fault:threads=1:validate=1", "", OVER_THREADS},
    {"lost", RUBUS_ELOST, CALLS, "fault:threads=2", "", OVER_SPARSE},
    {"lost", RUBUS_ELOST, FEW, "fault:threads=1:validate=1", stubs, OVER_THREADS},
    {"silent -13", RUBUS_EUNSUPPORTED, FEW, "fault:threads=1", "", OVER_SPARSE},
    {"silent -13", RUBUS_EUNSUPPORTED, FEW, "fault:threads=1", stubs, OVER_THREADS},
    {"fail 5", RUBUS_EPLUGIN, FEW, "fault:threads=1", "", OVER_SPARSE},
    {"fail -16", RUBUS_EDEVMEM, FEWEST, "fault", "", OVER_VULKAN},
    {"lost", RUBUS_ELOST, FEWEST, "fault", "", OVER_VULKAN},
    {"silent -13", RUBUS_EUNSUPPORTED, FEWEST, "fault", stubs, OVER_VULKAN},
    {"hang", RUBUS_OK, 2, "fault:threads=2", "", OVER_SPARSE},
};
enum { NCASE = sizeof cases / sizeof cases[0] };

/* --- what the plugin and the library tell ------------------------------------------- */

static char fired[100]; /* "slot write, call 3"; empty: not yet */
static char left[1000];
static char warnings[8192];

static void keep(void *user, int32_t level, const char *topic, const char *text)
{
    (void)user;
    if (strcmp(topic, "fault") == 0 && strncmp(text, "fired: ", 7) == 0) {
        snprintf(fired, sizeof fired, "%.*s", (int)(strrchr(text, ',') - text - 7),
                 text + 7);
    } else if (strcmp(topic, "fault") == 0 && strncmp(text, "left: ", 6) == 0) {
        snprintf(left, sizeof left, "%s", text);
    } else if (level <= 2) {
        const size_t used = strlen(warnings);
        snprintf(warnings + used, sizeof warnings - used, "%s\n", text);
    }
}

static char plugins[4096]; /* their folder */

static char vulkan_plugin[4096];

static void fault_setup(void)
{
    const char *build = getenv("RUBUS_TEST_BUILDDIR");
    ck_assert_msg(build != NULL, "RUBUS_TEST_BUILDDIR is not set: run by make check");
    snprintf(plugins, sizeof plugins, "%s/tests/plugins/.libs", build);
    snprintf(vulkan_plugin, sizeof vulkan_plugin,
             "%s/.libs/rubus/plugins-1/rubus-vulkan.so", build);
    setenv("RUBUS_PLUGIN_PATH", plugins, 1);
    rubus__env_reset_for_test();
    rubus_log_set(keep, NULL);
}

static void fault_teardown(void)
{
    rubus_log_set(NULL, NULL);
}

/* --- one run ------------------------------------------------------------------------ */

typedef struct run {
    const fault_case *how;
    const char *slot;
    int call;
    bool told; /* the program, or its log, was told of the fault */
    program p;
} run;

static const char stale[] = "the text of an older failure";

static bool is_lost(const run *r)
{
    return strcmp(r->how->kind, "lost") == 0;
}

/* A failed step has the right status and words. */
static void judge(run *r, rubus_status st, const char *step)
{
    const char *text = rubus_error_text();
    char words[100];
    snprintf(words, sizeof words, "slot %s, call %d", r->slot, r->call);
    char quoted[40];
    snprintf(quoted, sizeof quoted, "'%s'", r->slot);
    ck_assert_msg(fired[0] != '\0', "%s fails without a fault: %s", step, text);
    ck_assert_msg(!r->told, "%s: the fault of %s comes twice: %s", step, words, text);
    ck_assert_msg(st == r->how->want, "%s, fault %s %s: %s: %s", step, words,
                  r->how->kind, rubus_status_name(st), text);
    ck_assert_msg(strstr(text, stale) == NULL, "%s, fault %s: the older text", step,
                  words);
    ck_assert_msg(strstr(text, words) != NULL || strstr(text, quoted) != NULL,
                  "%s: '%s' does not tell %s", step, text, words);
    r->told = true;
}

static void lost(rubus_status st, const char *call)
{
    ck_assert_msg(st == RUBUS_ELOST && strstr(rubus_error_text(), "lost") != NULL,
                  "%s on a lost device: %s: %s", call, rubus_status_name(st),
                  rubus_error_text());
}

/* Whatever is tried on the context says that the device is lost. */
static void check_lost(run *r)
{
    program *p = &r->p;
    rubus_array *array = NULL;
    rubus_module *module = NULL;
    void *data = NULL;
    double x[FAULT_N] = {0};
    if (p->context == NULL) {
        return;
    }
    lost(rubus_array_create(p->context, RUBUS_F64, RUBUS_SHAPE(3), &array), "create");
    lost(rubus_module_create(p->context, "m.rk", fault_source, NULL, &module), "module");
    lost(rubus_context_synchronize(p->context), "synchronize");
    ck_assert(array == NULL && module == NULL);
    if (p->a != NULL) {
        lost(rubus_array_write(p->a, x, sizeof x), "write");
        lost(rubus_array_read(p->a, x, sizeof x), "read");
        lost(rubus_array_fill(p->a, 1), "fill");
        lost(rubus_array_map(p->a, RUBUS_READ, &data), "map");
    }
    if (p->c != NULL && p->b != NULL && p->module != NULL) {
        lost(step_launch(p), "launch");
        lost(step_copy(p), "copy");
    }
}

/* Makes the step, and again if the fault came in it. False: the device is lost. */
static bool make(run *r, program_step step, const char *name)
{
    rubus__fail(RUBUS_EIO, "%s", stale);
    rubus_status st = step(&r->p);
    if (st == RUBUS_OK) {
        return true;
    }
    judge(r, st, name);
    if (is_lost(r) && r->p.context != NULL) {
        check_lost(r);
        return false;
    }
    st = step(&r->p);
    ck_assert_msg(st == RUBUS_OK, "%s again, after %s %d %s: %s: %s", name, r->slot,
                  r->call, r->how->kind, rubus_status_name(st), rubus_error_text());
    return true;
}

/* The program up to the round after the fault. False: the device is lost. */
static bool run_program(run *r)
{
    static const program_step round[] = {FAULT_ROUND_STEPS};
    for (int i = 0; i < FAULT_OPENS && r->p.many_opens && fired[0] == '\0'; i++) {
        if (!make(r, step_open_and_close, "opening one of many")) {
            return false;
        }
    }
    if (!make(r, step_open, "open") || !make(r, step_build, "build") ||
        !make(r, step_build_checked, "build with checks")) {
        return false;
    }
    int more = 2; // rounds that are made once the fault came
    for (r->p.round = 0; r->p.round < FAULT_ROUNDS && more > 0; r->p.round++) {
        more -= fired[0] != '\0' ? 1 : 0;
        for (size_t i = 0; i < sizeof round / sizeof round[0]; i++) {
            char name[40];
            snprintf(name, sizeof name, "round %d, step %zu", (int)r->p.round, i);
            if (!make(r, round[i], name)) {
                return false;
            }
        }
    }
    return true;
}

/* A context opened beside the one that met the fault computes. */
static void fresh_context_works(const run *r)
{
    program p = {.spec = r->how->spec};
    static const program_step steps[] = {
        step_open,        step_build, step_build_checked, step_create, step_from,
        step_create_more, step_write, step_launch,        step_read,   step_reduce};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const rubus_status st = steps[i](&p);
        ck_assert_msg(st == RUBUS_OK, "a fresh context after %s %d %s, step %zu: %s: %s",
                      r->slot, r->call, r->how->kind, i, rubus_status_name(st),
                      rubus_error_text());
    }
    program_end(&p);
}

/* Sets the environment for the fault of a run, and forgets what was logged. */
static void prepare_run(run *r)
{
    char value[4200];
    snprintf(value, sizeof value, "%s %d %s", r->slot, r->call, r->how->kind);
    setenv("RUBUS_TEST_FAULT", value, 1);
    setenv("RUBUS_TEST_HIDE", r->how->hide, 1);
    if (r->how->over == OVER_SPARSE) {
        snprintf(value, sizeof value, "%s/rubus-mutant.so", plugins);
        setenv("RUBUS_TEST_INNER", value, 1);
        setenv("RUBUS_TEST_MUTANT", "sparse", 1);
    } else if (r->how->over == OVER_VULKAN) {
        setenv("RUBUS_TEST_INNER", vulkan_plugin, 1);
    } else {
        unsetenv("RUBUS_TEST_INNER");
    }
    fired[0] = left[0] = warnings[0] = '\0';
    r->told = false;
    memset(&r->p, 0, sizeof r->p);
}

/* Whether the fault came. */
static bool run_once(run *r)
{
    prepare_run(r);
    char value[100];
    snprintf(value, sizeof value, "%s %d %s", r->slot, r->call, r->how->kind);
    r->p.spec = r->how->spec;
    r->p.many_modules = strncmp(r->slot, "module", 6) == 0;
    r->p.many_opens = strncmp(r->slot, "device", 6) == 0 ||
                      strncmp(r->slot, "context", 7) == 0 ||
                      strcmp(r->slot, "locality") == 0;
    (void)run_program(r);
    if (fired[0] != '\0' && r->call % 7 == 1) {
        fresh_context_works(r);
    }
    program_end(&r->p);
    rubus_shutdown();
    ck_assert_msg(rubus__alloc_live() == 0, "%s leaves %lld blocks", value,
                  (long long)rubus__alloc_live());
    ck_assert_msg(strstr(left, "left: 0 contexts, 0 buffers, 0 modules") == left,
                  "%s: %s", value, left);
    const bool no_status =
        strstr(r->slot, "destroy") != NULL || strstr(r->slot, "release") != NULL;
    const bool came = fired[0] != '\0';
    if (came && r->how->want != RUBUS_OK && !no_status && !r->told) {
        ck_assert_msg(strstr(warnings, r->slot) != NULL, "%s: nobody was told; log: %s",
                      value, warnings);
    }
    return came;
}

/* Whether the backend vulkan was built and has a device. */
static bool has_vulkan(void)
{
    rubus_context *context = NULL;
    unsetenv("VK_INSTANCE_LAYERS"); // they slow it down, and are about other things
    setenv("RUBUS_TEST_INNER", vulkan_plugin, 1);
    unsetenv("RUBUS_TEST_FAULT");
    const bool there = access(vulkan_plugin, R_OK) == 0 &&
                       rubus_context_create("fault", &context) == RUBUS_OK;
    rubus_context_destroy(context);
    rubus_shutdown();
    return there;
}

START_TEST(slot_that_fails_is_told_and_survived)
{
    const fault_case *how = &cases[_i / RUBUS__SLOT_COUNT];
    const rubus__slot *slot = &rubus__slots[_i % RUBUS__SLOT_COUNT];
    if (how->over == OVER_VULKAN && !has_vulkan()) {
        return;
    }
    const bool slow = getenv("RUBUS_TEST_SLOW") != NULL; // under valgrind
    const int all = slow && how->calls == CALLS ? FEW : how->calls;
    const bool short_of = all == FEW || how->over == OVER_VULKAN;
    const int most = short_of && rubus_test_long() ? CALLS : all;
    int n = 0;
    run r = {.how = how, .slot = slot->name};
    for (r.call = 1; r.call <= most && run_once(&r); r.call++) {
        n++;
    }
    const bool sparse = strncmp(slot->name, "sp", 2) == 0 ||
                        strncmp(slot->name, "csr_", 4) == 0 ||
                        strcmp(slot->name, "scatter_flush") == 0;
    const bool hidden = strstr(how->hide, slot->name) != NULL;
    if ((how->over == OVER_SPARSE || !sparse) && !hidden) {
        ck_assert_msg(n == most, "%s: only %d calls", slot->name, n);
    }
}
END_TEST

/* Two halves of preparing a matrix: the plugin's plan, and tables of long rows for a
 * product of the library. The second may fail, and the first is neither made twice nor
 * lost. */
START_TEST(plan_of_a_matrix_outlives_a_failure_beside_it)
{
    enum { LONG = 300 };
    static int32_t colval[LONG];
    static double nzval[LONG];
    const int32_t rowptr[2] = {0, LONG};
    for (int32_t k = 0; k < LONG; k++) {
        colval[k] = k;
        nzval[k] = k;
    }
    const fault_case how = {"fail -16",        RUBUS_EDEVMEM, CALLS,
                            "fault:threads=1", "spmm",        OVER_SPARSE};
    int nfail = 0;
    for (int call = 1; call <= 20; call++) {
        run r = {.how = &how, .slot = "buffer_create", .call = call};
        prepare_run(&r);
        rubus_csr *csr = NULL;
        rubus_status st = rubus_context_create(how.spec, &r.p.context);
        if (st == RUBUS_OK) {
            st = rubus_csr_create(r.p.context, RUBUS_I32, RUBUS_F64, 1, LONG, LONG,
                                  rowptr, colval, nzval, &csr);
        }
        if (csr != NULL && rubus_csr_optimize(csr) != RUBUS_OK) {
            judge(&r, RUBUS_EDEVMEM, "optimize");
            nfail++;
            ck_assert_int_eq(rubus_csr_optimize(csr), RUBUS_OK);
        }
        rubus_csr_destroy(csr);
        rubus_context_destroy(r.p.context);
        rubus_shutdown();
        ck_assert_msg(rubus__alloc_live() == 0, "call %d leaves %lld blocks", call,
                      (long long)rubus__alloc_live());
        ck_assert_msg(strstr(left, " csr_prepare=2") == NULL, "prepared twice: %s", left);
    }
    ck_assert_int_gt(nfail, 2);
}
END_TEST

static Suite *fault_suite(void)
{
    TCase *tc = tcase_create("fault");
    tcase_add_checked_fixture(tc, fault_setup, fault_teardown);
    tcase_add_loop_test(tc, slot_that_fails_is_told_and_survived, 0,
                        NCASE * RUBUS__SLOT_COUNT);
    tcase_add_test(tc, plan_of_a_matrix_outlives_a_failure_beside_it);
    Suite *suite = suite_create("plugins: faults");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("plugins: faults", fault_suite)
