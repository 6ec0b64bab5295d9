/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random kernels on every backend of the CPU: the interpreter, which knows nothing of
 * plans and passes, and compiled code on one and on three threads must give the same
 * bits. NaNs count as equal whatever their bits. A difference is printed with its seed
 * and kernel, and with the smallest kernel that still shows it.
 *
 * A test with faults planted in one of the two texts shows that differences are seen.
 */
#include "config.h"

#include <rubus/rubus.h>

#include "tests/support/one_backend.h"
#include "tests/support/vulkan_specs.h"
#include "tests/kernel/random_kernel.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

#ifndef RANDOM_COUNT
#define RANDOM_COUNT 150 /* kernels of `make check` */
#endif

enum {
    BATCH = 5,
    CHUNK = 2,
    NCONTEXT = 3 + VULKAN_SPEC_COUNT,
    LONG_FACTOR = 20,
    TRIALS = 30,
    NPLANTED = 4
};

static const char *spec[NCONTEXT] = {"reference", "threads:threads=1",
                                     "threads:threads=3" VULKAN_SPECS};

static int ncontext = NCONTEXT;

typedef struct bench {
    rubus_context *context[NCONTEXT];
    rubus_module_options options;
    int nran;     /* launches that ran */
    int nrefused; /* by size */
} bench;

/* What a kernel left: the elements of all arrays and results, one after the other. */
typedef struct outcome {
    rubus_status status;
    size_t nbyte;
    unsigned char *bytes;
} outcome;

static void bench_open(bench *b, int number)
{
    memset(b, 0, sizeof(*b));
    for (int c = 0; c < ncontext; c++) {
        rubus_status st = rubus_context_create(spec[c], &b->context[c]);
        ck_assert_msg(st == RUBUS_OK, "%s: %s", spec[c], rubus_error_text());
    }
    b->options.struct_size = sizeof(b->options);
    b->options.real = number & 1 ? RUBUS_F32 : RUBUS_F64;
    b->options.index = number & 2 ? RUBUS_I64 : RUBUS_I32;
}

static void bench_close(bench *b)
{
    for (int c = 0; c < ncontext; c++) {
        rubus_context_destroy(b->context[c]);
    }
}

static int32_t type_of(const bench *b, const random_param *p)
{
    return p->type == RK_REAL  ? b->options.real
           : p->type == RK_INT ? b->options.index
                               : RUBUS_BOOL;
}

/* --- data ------------------------------------------------------------------------- */

static double random_number(random_state *r)
{
    static const double special[] = {0.0, -0.0, 1.0, 0.5, -1.0, 1e30, -1e-30, 3.0};
    if (random_once_in(r, 300)) {
        return random_once_in(r, 2) ? (double)NAN : (double)INFINITY;
    }
    if (random_once_in(r, 12)) {
        return special[random_below(r, 8)];
    }
    return (double)(random_next(r) >> 11) * 0x1p-51 - 2.0;
}

static void fill(const random_kernel *k, const random_param *p, int32_t type, char *data,
                 int64_t count, random_state *r)
{
    for (int64_t e = 0; e < count; e++) {
        double real = random_number(r);
        float single = (float)real;
        int64_t i =
            random_once_in(r, 50) ? (int64_t)random_next(r) : random_below(r, 19) - 9;
        i = p->is_index ? (int64_t)(random_next(r) % (uint64_t)k->n[p->axis[0]]) : i;
        int32_t narrow = (int32_t)(uint32_t)(uint64_t)i;
        char truth = (char)random_below(r, 2);
        const void *from = type == RUBUS_F64   ? (const void *)&real
                           : type == RUBUS_F32 ? (const void *)&single
                           : type == RUBUS_I64 ? (const void *)&i
                           : type == RUBUS_I32 ? (const void *)&narrow
                                               : (const void *)&truth;
        size_t size = rubus__type_size(type);
        memcpy(data + (size_t)e * size, from, size);
    }
}

/* --- running ---------------------------------------------------------------------- */

static rubus_arg array_arg(const bench *b, int c, const random_kernel *k, int param,
                           random_state *r)
{
    const random_param *p = &k->param[param];
    rubus_shape shape;
    memset(&shape, 0, sizeof(shape));
    shape.rank = p->kind == RANDOM_RESULT ? 1 : p->rank;
    shape.n[0] = 1;
    int64_t count = 1;
    for (int d = 0; d < p->rank; d++) {
        shape.n[d] = random_extent(k, param, d);
        count *= shape.n[d];
    }
    int32_t type = type_of(b, p);
    char *data = calloc((size_t)count + 1, rubus__type_size(type));
    ck_assert_ptr_nonnull(data);
    fill(k, p, type, data, count, r);
    rubus_array *array = NULL;
    rubus_status st = rubus_array_from(b->context[c], type, shape, data, &array);
    ck_assert_msg(st == RUBUS_OK, "%s", rubus_error_text());
    free(data);
    return rubus_arg_array(array);
}

static rubus_arg argument(const bench *b, int c, const random_kernel *k, int param,
                          random_state *r)
{
    const random_param *p = &k->param[param];
    if (p->kind != RANDOM_SCALAR) {
        return array_arg(b, c, k, param, r);
    }
    return p->type == RK_REAL
               ? rubus_arg_real(p->real)
               : rubus_arg_integer(p->type == RK_BOOL ? p->integer > 0 : p->integer);
}

static outcome collect(const rubus_arg *arg, const random_kernel *k, rubus_status st)
{
    outcome out = {st, 0, NULL};
    for (int p = 0; p < k->nparam; p++) {
        if (k->param[p].kind == RANDOM_SCALAR) {
            continue;
        }
        size_t n = rubus_array_nbyte(arg[p].u.array);
        unsigned char *bytes = realloc(out.bytes, out.nbyte + n + 1);
        ck_assert_ptr_nonnull(bytes);
        out.bytes = bytes;
        rubus_status read = rubus_array_read(arg[p].u.array, out.bytes + out.nbyte, n);
        if (read != RUBUS_OK && out.status == RUBUS_OK) {
            out.status = read;
        }
        out.nbyte += n;
        rubus_array_destroy(arg[p].u.array);
    }
    return out;
}

static outcome run(const bench *b, int c, rubus_module *module, const random_kernel *k)
{
    random_state r = {k->seed * 77 + 5, NULL};
    rubus_arg arg[RANDOM_MAX_PARAM];
    for (int p = 0; p < k->nparam; p++) {
        arg[p] = argument(b, c, k, p, &r);
    }
    const rubus_kernel *kernel = rubus_module_kernel(module, k->name);
    rubus_status st = rubus_launch_args(kernel, arg, (size_t)k->nparam);
    return collect(arg, k, st);
}

/* --- comparing -------------------------------------------------------------------- */

static bool equal_elements(int32_t type, const unsigned char *a, const unsigned char *b)
{
    double x;
    double y;
    float s;
    float t;
    if (memcmp(a, b, rubus__type_size(type)) == 0) {
        return true;
    }
    if (type == RUBUS_F64) {
        memcpy(&x, a, sizeof(x));
        memcpy(&y, b, sizeof(y));
        return isnan(x) && isnan(y);
    }
    memcpy(&s, a, sizeof(s));
    memcpy(&t, b, sizeof(t));
    return type == RUBUS_F32 && isnan(s) && isnan(t);
}

/* "" if equal, or what differs first. */
static void compare(const bench *b, const random_kernel *k, const outcome *x,
                    const outcome *y, char out[160])
{
    out[0] = '\0';
    if (x->status != y->status) {
        snprintf(out, 160, "%s and %s", rubus_status_name(x->status),
                 rubus_status_name(y->status));
        return;
    }
    size_t at = 0;
    for (int p = 0; p < k->nparam; p++) {
        if (k->param[p].kind == RANDOM_SCALAR) {
            continue;
        }
        int32_t type = type_of(b, &k->param[p]);
        int64_t count = 1;
        for (int d = 0; d < k->param[p].rank; d++) {
            count *= random_extent(k, p, d);
        }
        for (int64_t e = 0; e < count; e++) {
            if (!equal_elements(type, x->bytes + at, y->bytes + at)) {
                snprintf(out, 160, "element %lld of `%s` differs", (long long)e,
                         k->param[p].name);
                return;
            }
            at += rubus__type_size(type);
        }
    }
}

/* Source of some kernels; plant: one plus sign of the kernels becomes a minus. */
static char *source_of(random_kernel *const *k, int n, bool plant)
{
    rubus__text text;
    rubus__text_init(&text);
    rubus__text_add(&text, random_prelude());
    for (int i = 0; i < n; i++) {
        char *kernel = random_kernel_print(k[i]);
        ck_assert_ptr_nonnull(kernel);
        char *sign = plant ? strstr(kernel, " + ") : NULL;
        if (sign != NULL) {
            sign[1] = '-';
        }
        rubus__text_add(&text, kernel);
        rubus__free(kernel);
    }
    return rubus__text_take(&text);
}

static rubus_module *build(const bench *b, int c, const char *source)
{
    rubus_module *module = NULL;
    rubus_status st =
        rubus_module_create(b->context[c], "random.rk", source, &b->options, &module);
    return st == RUBUS_OK ? module : NULL;
}

/* Whether one kernel alone differs between the interpreter and context c. */
static bool differs(const bench *b, random_kernel *k, int c, bool plant)
{
    char *source = source_of(&k, 1, false);
    char *other = source_of(&k, 1, plant);
    rubus_module *mine = build(b, 0, source);
    rubus_module *theirs = build(b, c, other);
    char why[160] = "";
    if (mine != NULL && theirs != NULL) {
        outcome x = run(b, 0, mine, k);
        outcome y = run(b, c, theirs, k);
        compare(b, k, &x, &y, why);
        free(x.bytes);
        free(y.bytes);
    }
    rubus_module_destroy(mine);
    rubus_module_destroy(theirs);
    rubus__free(source);
    rubus__free(other);
    return why[0] != '\0';
}

/* Drops statements as long as the kernel still differs; gives how many went. */
static int shrink(const bench *b, random_kernel *k, int c, bool plant)
{
    int ndropped = 0;
    int ntrial = 0;
    bool progress = true;
    while (progress) {
        progress = false;
        random_statement *s;
        for (int i = 0; (s = random_statement_at(k, i)) != NULL && ntrial < TRIALS; i++) {
            if (s->dropped || s->pinned) {
                continue;
            }
            s->dropped = true;
            ntrial++;
            if (differs(b, k, c, plant)) {
                ndropped++;
                progress = true;
            } else {
                s->dropped = false;
            }
        }
    }
    return ndropped;
}

static void report(const bench *b, random_kernel *k, int c, const char *why)
{
    char *whole = random_kernel_print(k);
    (void)shrink(b, k, c, false);
    char *small = random_kernel_print(k);
    ck_abort_msg(
        "seed %llu on %s, real %s, index %s, n = %lld %lld %lld: %s\n%s\nshrunk:\n%s",
        (unsigned long long)k->seed, spec[c], rubus__type_name(b->options.real),
        rubus__type_name(b->options.index), (long long)k->n[0], (long long)k->n[1],
        (long long)k->n[2], why, whole, small);
}

static void compare_batch(bench *b, random_kernel *const *k, int n)
{
    char *source = source_of(k, n, false);
    rubus_module *module[NCONTEXT];
    for (int c = 0; c < ncontext; c++) {
        module[c] = build(b, c, source);
        ck_assert_msg(module[c] != NULL, "seeds %llu to %llu on %s: %s\n%s",
                      (unsigned long long)k[0]->seed, (unsigned long long)k[n - 1]->seed,
                      spec[c], rubus_error_text(), source);
    }
    for (int i = 0; i < n; i++) {
        outcome x = run(b, 0, module[0], k[i]);
        b->nran += x.status == RUBUS_OK;
        b->nrefused += x.status != RUBUS_OK;
        for (int c = 1; c < ncontext; c++) {
            outcome y = run(b, c, module[c], k[i]);
            char why[160];
            compare(b, k[i], &x, &y, why);
            if (why[0] != '\0') {
                report(b, k[i], c, why);
            }
            free(y.bytes);
        }
        free(x.bytes);
    }
    for (int c = 0; c < ncontext; c++) {
        rubus_module_destroy(module[c]);
    }
    rubus__free(source);
}

/* --- tests ------------------------------------------------------------------------ */

START_TEST(backends_give_the_same_bits)
{
    int nran = 0;
    int nrefused = 0;
    for (int j = 0; j < CHUNK; j++) {
        int number = _i * CHUNK + j;
        bench b;
        bench_open(&b, number);
        random_kernel *k[BATCH];
        for (int i = 0; i < BATCH; i++) {
            k[i] = random_kernel_create((uint64_t)(number * BATCH + i + 1));
        }
        compare_batch(&b, k, BATCH);
        for (int i = 0; i < BATCH; i++) {
            random_kernel_destroy(k[i]);
        }
        nran += b.nran;
        nrefused += b.nrefused;
        bench_close(&b);
    }
    ck_assert_int_gt(nran, nrefused); /* most sizes are large enough */
}
END_TEST

START_TEST(planted_faults_are_seen_and_shrunk)
{
    bench b;
    bench_open(&b, _i);
    int nplanted = 0;
    int nseen = 0;
    int ndropped = 0;
    for (uint64_t seed = 1; nplanted < NPLANTED; seed++) {
        random_kernel *k = random_kernel_create(seed);
        char *text = random_kernel_print(k);
        bool can = strstr(text, " + ") != NULL;
        rubus__free(text);
        if (can) {
            nplanted++;
            ck_assert_msg(!differs(&b, k, 1, false), "seed %llu differs by itself",
                          (unsigned long long)seed);
            if (differs(&b, k, 1, true)) {
                nseen++;
                ndropped += nseen == 1 ? shrink(&b, k, 1, true) : 0;
                ck_assert(differs(&b, k, 1, true));
            }
        }
        random_kernel_destroy(k);
    }
    bench_close(&b);
    ck_assert_int_ge(nseen,
                     NPLANTED / 2); /* the others add 0, or to a value that is not used */
    ck_assert_int_ge(ndropped, 1);
}
END_TEST

START_TEST(kernels_use_the_whole_language)
{
    int feature[RANDOM_FEATURE_COUNT] = {0};
    int op[RK_OP_COUNT] = {0};
    for (uint64_t seed = 1; seed <= RANDOM_COUNT; seed++) {
        random_kernel *k = random_kernel_create(seed);
        for (int i = 0; i < RANDOM_FEATURE_COUNT; i++) {
            feature[i] += k->feature[i] > 0;
        }
        for (int i = 0; i < RK_OP_COUNT; i++) {
            op[i] += k->op[i] > 0;
        }
        random_kernel_destroy(k);
    }
    for (int i = 0; i < RANDOM_FEATURE_COUNT; i++) {
        ck_assert_msg(feature[i] >= 2, "only %d of %d kernels use %s", feature[i],
                      RANDOM_COUNT, random_feature_name(i));
    }
    for (int i = 1; i < RK_OP_COUNT; i++) {
        ck_assert_msg(op[i] >= 2, "only %d of %d kernels use `%s`", op[i], RANDOM_COUNT,
                      rk_op_spelling((rk_op)i));
    }
}
END_TEST

/* Each gives -0 where x is -0.25; signs that gcc 12 does not keep by itself. */
static const char *const zero_text[] = {
    /* outside of vector code it makes trunc(x) of real(int(x)): seed 253 */
    "kernel k(out real a[n], in real x[n]) over (i)"
    "{ a[i] = -real(int(i + 1 < extent(x, 0) ? x[i + 1] : 0.5)); }",
    /* it makes one instruction of -fma(a, b, c), whose 0 is not -0: seed 574 */
    "kernel k(out real a[n], in real x[n]) { a = -fma(x, 2, 0.5); }",
    "kernel k(out real a[n], in real x[n]) { a = fma(x, 2, 0.5) * -1; }",
    "kernel k(out real a[n], in real x[n]) over (i)"
    "{ real t = fma(x[i], 2, 0.5); a[i] = -t; }",
};

START_TEST(zeros_keep_their_signs)
{
    double x[] = {-0.25, -0.25, -0.25, -0.25, -0.25, -0.25, -0.25, -0.25, -0.25};
    enum { N = sizeof(x) / sizeof(x[0]) };
    for (int c = 0; c < ncontext; c++) {
        bench b;
        bench_open(&b, 0);
        const rubus_shape shape = {1, 0, {N}};
        rubus_array *from = NULL;
        rubus_array *to = NULL;
        rubus_module *module = build(&b, c, zero_text[_i]);
        ck_assert_msg(module != NULL, "%s", rubus_error_text());
        ck_assert_int_eq(rubus_array_from(b.context[c], RUBUS_F64, shape, x, &from),
                         RUBUS_OK);
        ck_assert_int_eq(rubus_array_create(b.context[c], RUBUS_F64, shape, &to),
                         RUBUS_OK);
        const rubus_arg arg[] = {rubus_arg_array(to), rubus_arg_array(from)};
        ck_assert_int_eq(rubus_launch_args(rubus_module_kernel(module, "k"), arg, 2),
                         RUBUS_OK);
        double a[N];
        ck_assert_int_eq(rubus_array_read(to, a, sizeof(a)), RUBUS_OK);
        for (int i = 0; i < N; i++) {
            ck_assert_msg(a[i] == 0 && signbit(a[i]), "%s: element %d is %g", spec[c], i,
                          a[i]);
        }
        rubus_array_destroy(from);
        rubus_array_destroy(to);
        rubus_module_destroy(module);
        bench_close(&b);
    }
}
END_TEST

START_TEST(same_seed_gives_the_same_kernel)
{
    for (uint64_t seed = 1; seed < 20; seed++) {
        random_kernel *a = random_kernel_create(seed);
        random_kernel *b = random_kernel_create(seed);
        char *x = random_kernel_print(a);
        char *y = random_kernel_print(b);
        ck_assert_str_eq(x, y);
        rubus__free(x);
        rubus__free(y);
        random_kernel_destroy(a);
        random_kernel_destroy(b);
    }
}
END_TEST

static Suite *random_suite(void)
{
    Suite *suite = suite_create("random");
    ncontext = one_backend(&spec[1]) ? 2 : NCONTEXT;
    TCase *tc = tcase_create("kernels");
    tcase_add_test(tc, same_seed_gives_the_same_kernel);
    tcase_add_test(tc, kernels_use_the_whole_language);
    suite_add_tcase(suite, tc);
    tc = tcase_create("backends");
    int n = RANDOM_COUNT / (BATCH * CHUNK) * (rubus_test_long() ? LONG_FACTOR : 1);
    n /= ncontext == 2 ? 3 : 1; // one given backend, whose compiler may be slow
    tcase_add_loop_test(tc, backends_give_the_same_bits, 0, n);
    tcase_add_loop_test(tc, zeros_keep_their_signs, 0,
                        (int)(sizeof(zero_text) / sizeof(zero_text[0])));
    tcase_add_loop_test(tc, planted_faults_are_seen_and_shrunk, 0, 2);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("random", random_suite)
