/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_RELAX_PROBE_H
#define RUBUS_TESTS_RELAX_PROBE_H
/*
 * What the tests of the relaxation solver share: an empty work folder, solvers made and
 * run with every failure reported, fields and reports brought to the host.
 */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <rubus/solve.h>

#include "libcore/base/base.h"
#include "tests/support/suite.h"
#include "tests/support/work_folder.h"

#define MUST(call)                                                                       \
    do {                                                                                 \
        const rubus_status must_ = (call);                                               \
        ck_assert_msg(must_ == RUBUS_OK, "%s: %s: %s", #call, rubus_status_name(must_),  \
                      rubus_error_text());                                               \
    } while (0)

/* The call gives this status, and a text with `part` in it. */
#define REFUSED(call, status, part)                                                      \
    do {                                                                                 \
        const rubus_status refused_ = (call);                                            \
        ck_assert_msg(refused_ == (status), "%s: %s instead of %s: %s", #call,           \
                      rubus_status_name(refused_), rubus_status_name(status),            \
                      refused_ == RUBUS_OK ? "" : rubus_error_text());                   \
        ck_assert_msg(strstr(rubus_error_text(), (part)) != NULL, "no '%s' in: %s",      \
                      (part), rubus_error_text());                                       \
    } while (0)

#define MOST_SETS 3
static const int32_t all_sets[MOST_SETS] = {RUBUS_KERNELS_MATH, RUBUS_KERNELS_INDEX,
                                            RUBUS_KERNELS_FUSED};

/* What a run leaves. */
typedef struct result {
    rubus_relax_report report;
    int64_t n[3];
    int64_t count;
    double *u; /* also of an f32 run */
} result;

static inline rubus_context *open_context(const char *spec)
{
    rubus_context *context = NULL;
    MUST(rubus_context_create(spec, &context));
    return context;
}

static inline rubus_relax_desc problem(int32_t dim, int64_t nx, int64_t ny, int64_t nz)
{
    rubus_relax_desc desc = {.struct_size = sizeof desc, .dim = dim, .n = {nx, ny, nz}};
    desc.right = 1;
    return desc;
}

static inline rubus_relax *make(rubus_context *context, const rubus_relax_desc *desc)
{
    rubus_relax *relax = NULL;
    MUST(rubus_relax_create(context, desc, &relax));
    return relax;
}

static inline rubus_relax_report report_of(rubus_relax *relax)
{
    rubus_relax_report report = {.struct_size = sizeof report};
    MUST(rubus_relax_report_get(relax, &report));
    return report;
}

static inline result result_of(rubus_relax *relax)
{
    result r = {.report = report_of(relax)};
    rubus_array *field = rubus_relax_field(relax);
    r.count = rubus_array_count(field);
    for (int k = 0; k < 3; k++) {
        r.n[k] = rubus_relax_desc_get(relax)->n[k];
    }
    const size_t nbyte = rubus_array_nbyte(field);
    r.u = malloc((size_t)r.count * sizeof(double));
    float *narrow = malloc(nbyte);
    ck_assert(r.u != NULL && narrow != NULL);
    if (rubus_array_type(field) == RUBUS_F64) {
        MUST(rubus_array_read(field, r.u, nbyte));
    } else {
        MUST(rubus_array_read(field, narrow, nbyte));
        for (int64_t i = 0; i < r.count; i++) {
            r.u[i] = (double)narrow[i];
        }
    }
    free(narrow);
    return r;
}

static inline result solve_in(rubus_context *context, const rubus_relax_desc *desc)
{
    rubus_relax *relax = make(context, desc);
    MUST(rubus_relax_run(relax, -1, NULL, NULL));
    const result r = result_of(relax);
    rubus_relax_destroy(relax);
    return r;
}

static inline result solve_on(const char *spec, const rubus_relax_desc *desc)
{
    rubus_context *context = open_context(spec);
    const result r = solve_in(context, desc);
    rubus_context_destroy(context);
    return r;
}

static inline void result_free(result *r)
{
    free(r->u);
    r->u = NULL;
}

/* Counted from 0. */
static inline double at(const result *r, int64_t i, int64_t j, int64_t k)
{
    return r->u[i + r->n[0] * (j + r->n[1] * k)];
}

#define CLOSE(got, want, tolerance)                                                      \
    do {                                                                                 \
        const double got_ = (got);                                                       \
        const double want_ = (want);                                                     \
        ck_assert_msg(fabs(got_ - want_) <= (tolerance),                                 \
                      "%s is %.17g instead of %.17g (within %g)", #got, got_, want_,     \
                      (double)(tolerance));                                              \
    } while (0)

static inline void same_bits(const result *a, const result *b)
{
    ck_assert_int_eq(a->count, b->count);
    for (int64_t i = 0; i < a->count; i++) {
        ck_assert_msg(memcmp(&a->u[i], &b->u[i], sizeof(double)) == 0,
                      "element %lld: %.17g and %.17g", (long long)i, a->u[i], b->u[i]);
    }
}

static inline void ended(const result *r, int32_t outcome, int64_t iterations)
{
    ck_assert_msg(r->report.outcome == outcome && r->report.iterations == iterations,
                  "%s after %lld instead of %s after %lld, max|r| %g, tolerance %g",
                  rubus_outcome_name(r->report.outcome), (long long)r->report.iterations,
                  rubus_outcome_name(outcome), (long long)iterations, r->report.residual,
                  r->report.tolerance);
}

/* --- allocations that fail ---------------------------------------------------------- */

/* Something done with allocation n and all after it failing (0: none). */
typedef rubus_status (*failing_try)(void *user, int64_t n);

static inline rubus_status one_failing_try(failing_try try, void *user, int64_t n)
{
    const int64_t live = rubus__alloc_live();
    const rubus_status st = try(user, n);
    ck_assert_int_eq(rubus__alloc_live(), live);
    ck_assert_msg(st == RUBUS_OK || st == RUBUS_ENOMEM || st == RUBUS_EDEVMEM, "%s: %s",
                  rubus_status_name(st), rubus_error_text());
    return st;
}

/* Lets the first 10 and the `last` allocations fail one by one, and of those between
 * (most are the compiler's, which has a test of its own) some 20. */
static inline void fail_allocations(failing_try try, void *user, int64_t last)
{
    MUST(try(user, 0)); /* what stays in caches is made here */
    int64_t fails = 0;
    int64_t works = 16;
    while (one_failing_try(try, user, works) != RUBUS_OK) {
        fails = works;
        works *= 2;
    }
    while (works - fails > 1) {
        const int64_t middle = fails + (works - fails) / 2;
        if (one_failing_try(try, user, middle) == RUBUS_OK) {
            works = middle;
        } else {
            fails = middle;
        }
    }
    ck_assert_int_gt(fails, 0);
    for (int64_t n = 1; n <= fails;
         n += n < 10 || n + last > fails ? 1 : fails / 20 + 1) {
        ck_assert_int_ne(one_failing_try(try, user, n), RUBUS_OK);
    }
}

#endif
