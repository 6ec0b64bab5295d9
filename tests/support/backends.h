/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_BACKENDS_H
#define RUBUS_TESTS_BACKENDS_H
/*
 * Every test of the runtime runs on each backend of the table: backends_add(tc, test)
 * adds it in a loop, and the test opens backends_spec[_i]. Include after check.h and
 * config.h.
 */
#include <string.h>

#include <rubus/rubus.h>

#include "libcore/base/base.h"
#include "libcore/runtime/registry.h"
#include "tests/support/one_backend.h"
#include "tests/support/vulkan_specs.h"

static const char *backends_spec[] = {"reference", "threads:threads=1",
                                      "threads:threads=3" VULKAN_SPECS};
enum { BACKENDS = sizeof backends_spec / sizeof backends_spec[0] };

enum { BACKENDS_ONE = 1 }; /* where a backend given by RUBUS_TEST_BACKEND stands */

#define backends_add(tc, test)                                                           \
    do {                                                                                 \
        const bool one_ = one_backend(&backends_spec[BACKENDS_ONE]);                     \
        tcase_add_loop_test((tc), (test), one_ ? BACKENDS_ONE : 0,                       \
                            one_ ? BACKENDS_ONE + 1 : BACKENDS);                         \
    } while (0)

/* The call succeeds. */
#define ok(call)                                                                         \
    do {                                                                                 \
        const rubus_status ok_st_ = (call);                                              \
        ck_assert_msg(ok_st_ == RUBUS_OK, "%s: %s: %s", #call,                           \
                      rubus_status_name(ok_st_), rubus_error_text());                    \
    } while (0)

/* The call fails so, and each of the words, cut at '|', stands in the text. */
#define fails(call, status, words)                                                       \
    backends_fails((call), (status), (words), #call, __LINE__)

static inline void backends_text_has(const char *words, const char *call, int line)
{
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", words);
    char *rest = NULL;
    for (char *word = strtok_r(copy, "|", &rest); word != NULL;
         word = strtok_r(NULL, "|", &rest)) {
        ck_assert_msg(strstr(rubus_error_text(), word) != NULL,
                      "line %d: %s: '%s' is not in '%s'", line, call, word,
                      rubus_error_text());
    }
}

static inline void backends_fails(rubus_status got, rubus_status want, const char *words,
                                  const char *call, int line)
{
    ck_assert_msg(got == want, "line %d: %s gives %s, not %s: %s", line, call,
                  rubus_status_name(got), rubus_status_name(want), rubus_error_text());
    backends_text_has(words, call, line);
}

static inline rubus_context *backends_open(int at)
{
    rubus_context *context = NULL;
    ok(rubus_context_create(backends_spec[at], &context));
    return context;
}

/* The backend's name: what stands before the first ':' of its spec. */
static inline void backends_name(int at, char out[32])
{
    snprintf(out, 32, "%.*s", (int)strcspn(backends_spec[at], ":"), backends_spec[at]);
}

/* Its spec without the key validate=1. */
static inline void backends_plain(int at, char out[80])
{
    const char *key = strstr(backends_spec[at], ":validate=1");
    const int n = key != NULL ? (int)(key - backends_spec[at]) : 79;
    snprintf(out, 80, "%.*s%s", n, backends_spec[at],
             key != NULL ? key + strlen(":validate=1") : "");
}

/* The last thing of a test: nothing of the library is left. */
static inline void backends_finish(rubus_context *context)
{
    rubus_context_destroy(context);
    rubus_shutdown();
    ck_assert_int_eq(rubus__alloc_live(), 0);
}

static inline rubus_module *backends_module(rubus_context *context, const char *text,
                                            int32_t real, int32_t check)
{
    const rubus_module_options options = {
        .struct_size = sizeof options, .real = real, .check = check};
    rubus_module *module = NULL;
    ok(rubus_module_create(context, "test.rk", text, &options, &module));
    return module;
}

static inline const rubus_kernel *backends_kernel(rubus_module *module, const char *name)
{
    const rubus_kernel *kernel = rubus_module_kernel(module, name);
    ck_assert_msg(kernel != NULL, "%s", rubus_error_text());
    return kernel;
}

/* An f64 array of rank 1 with the numbers first, first + 1, ... */
static inline rubus_array *backends_ramp(rubus_context *context, int64_t n, double first)
{
    double *host = malloc(((size_t)n + 1) * sizeof(double));
    for (int64_t i = 0; i < n; i++) {
        host[i] = first + (double)i;
    }
    rubus_array *array = NULL;
    ok(rubus_array_from(context, RUBUS_F64, RUBUS_SHAPE(n), host, &array));
    free(host);
    return array;
}

/* Element `at` of an f64 array. */
static inline double backends_get(rubus_array *array, int64_t at)
{
    double x = 0;
    ok(rubus_array_read_range(array, at, 1, &x));
    return x;
}

#endif
