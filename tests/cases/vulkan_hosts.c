/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs of users for tests/cases/vulkan_cases.sh, one for each first argument. They
 * end with status 0 and one line on stdout if all is well.
 *
 *   large SPEC           an array beyond the limits fails; the context goes on
 *   exit SPEC            returns from main with everything open
 *   atexit SPEC          the same, and a handler that calls the library once more
 *   fork SPEC            children that exit: one before Vulkan is opened, three after
 *   unload FILE SPEC 0|1 opens the library, runs, (1: destroys,) closes it
 *   threads SPEC 0|1     eight threads, 200 launches each, in one context or (1) in eight
 *   leaks SPEC N         N times everything, with failures between
 *   order SPEC N         N times a fill, a kernel, a write and a copy into one array
 */
#include "config.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rubus/rubus.h>

#define MUST(call)                                                                       \
    do {                                                                                 \
        const rubus_status must_ = (call);                                               \
        if (must_ != RUBUS_OK) {                                                         \
            fprintf(stderr, "%s: %s: %s\n", #call, rubus_status_name(must_),             \
                    rubus_error_text());                                                 \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

static const char twice_text[] =
    "kernel twice(out real B[n], in real A[n]) { B = 2 * A; }";

static int wrong(const char *what)
{
    fprintf(stderr, "wrong: %s\n", what);
    return 1;
}

/* --- one use of the library --------------------------------------------------- */

typedef struct use {
    rubus_context *context;
    rubus_module *module;
    rubus_array *a;
    rubus_array *b;
} use;

static use open_use(const char *spec, int64_t n)
{
    use u = {0};
    MUST(rubus_context_create(spec, &u.context));
    MUST(rubus_module_create(u.context, "twice.rk", twice_text, NULL, &u.module));
    MUST(rubus_array_create(u.context, RUBUS_F64, RUBUS_SHAPE(n), &u.a));
    MUST(rubus_array_create(u.context, RUBUS_F64, RUBUS_SHAPE(n), &u.b));
    MUST(rubus_array_fill(u.a, 1.5));
    return u;
}

static void run_use(const use *u)
{
    MUST(rubus_launch(rubus_module_kernel(u->module, "twice"), u->b, u->a));
}

static double first_of(rubus_array *array)
{
    double x = 0;
    MUST(rubus_array_read_range(array, 0, 1, &x));
    return x;
}

static void close_use(use *u)
{
    rubus_array_destroy(u->a);
    rubus_array_destroy(u->b);
    rubus_module_destroy(u->module);
    rubus_context_destroy(u->context);
}

/* --- allocation --------------------------------------------------------------- */

static int refuse_large(rubus_context *context)
{
    rubus_array *large = NULL;
    const rubus_status st =
        rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(INT64_C(400000000)), &large);
    if (st == RUBUS_OK) {
        rubus_array_destroy(large);
        return wrong("3200000000 bytes were given");
    }
    if (strstr(rubus_error_text(), "3200000000") == NULL) {
        return wrong(rubus_error_text());
    }
    return 0;
}

static int run_large(const char *spec)
{
    use u = open_use(spec, 4);
    rubus_context_counters before = {.struct_size = sizeof before};
    rubus_context_counters after = {.struct_size = sizeof after};
    MUST(rubus_context_counters_get(u.context, &before));
    if (refuse_large(u.context) != 0) {
        return 1;
    }
    fprintf(stderr, "%s\n", rubus_error_text());
    MUST(rubus_context_counters_get(u.context, &after));
    if (before.live_bytes != after.live_bytes ||
        before.live_buffers != after.live_buffers) {
        return wrong("the refused array is counted");
    }
    run_use(&u);
    if (first_of(u.b) != 3) {
        return wrong("the context does not go on");
    }
    close_use(&u);
    return 0;
}

/* --- the end of the process --------------------------------------------------- */

static use open_at_exit;

static void call_at_exit(void)
{
    rubus_array *array = NULL;
    // done or refused: both are right, a crash is not
    const rubus_status st =
        rubus_array_create(open_at_exit.context, RUBUS_F64, RUBUS_SHAPE(4), &array);
    if (st == RUBUS_OK) {
        rubus_array_destroy(array);
    }
}

static int run_exit(const char *spec, int handler)
{
    if (handler) {
        atexit(call_at_exit);
    }
    open_at_exit = open_use(spec, 4);
    run_use(&open_at_exit);
    return first_of(open_at_exit.b) == 3 ? 0 : wrong("not 3");
}

/* Both end by exit with everything open: what drivers registered runs in the child. Under
 * the address sanitizer the stacks of threads that the parent had are gone there, and a
 * driver's handler that looks at them crashes by itself. */
#ifdef __SANITIZE_ADDRESS__
#define child_exit _exit
#else
#define child_exit exit
#endif

static void child_opens(const char *spec)
{
    exit(run_exit(spec, 0));
}

static void child_is_refused(const char *spec)
{
    rubus_context *context = NULL;
    const rubus_status st = rubus_context_create(spec, &context);
    if (st != RUBUS_EFORKED || strstr(rubus_error_text(), "fork first") == NULL) {
        child_exit(wrong(st == RUBUS_OK ? "opened after fork" : rubus_error_text()));
    }
    child_exit(run_exit("threads", 0));
}

static int run_child(void (*body)(const char *), const char *spec)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        body(spec);
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return wrong("fork");
    }
    return status == 0 ? 0 : wrong(WIFSIGNALED(status) ? "a child hung" : "a child");
}

static int run_fork(const char *spec)
{
    if (run_child(child_opens, spec) != 0) {
        return 1;
    }
    use u = open_use(spec, 4);
    run_use(&u);
    if (run_child(child_is_refused, spec) != 0 || first_of(u.b) != 3) {
        return wrong("while a context is open");
    }
    close_use(&u);
    if (run_child(child_is_refused, spec) != 0) {
        return wrong("after the context was closed");
    }
    rubus_shutdown();
    return run_child(child_is_refused, spec);
}

/* Looks the functions up: this program is linked with the library, another copy of which
 * would not be what is asked. */
#define LOOK_UP(name)                                                                    \
    rubus_##name##_type *name = NULL;                                                    \
    *(void **)&name = dlsym(library, "rubus_" #name);                                    \
    if (name == NULL) {                                                                  \
        return wrong("rubus_" #name " is not exported");                                 \
    }
typedef rubus_status rubus_context_create_type(const char *, rubus_context **);
typedef void rubus_context_destroy_type(rubus_context *);
typedef rubus_status rubus_array_create_type(rubus_context *, int32_t, rubus_shape,
                                             rubus_array **);
typedef void rubus_array_destroy_type(rubus_array *);
typedef rubus_status rubus_array_fill_type(rubus_array *, double);
typedef rubus_status rubus_array_read_type(rubus_array *, void *, size_t);

/* Of a program that ends without giving anything back: no leak, they are in sight. */
static rubus_context *volatile left_open;
static rubus_array *volatile left_array;

static int run_unload(const char *file, const char *spec, int destroy)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return wrong(dlerror());
    }
    LOOK_UP(context_create)
    LOOK_UP(context_destroy)
    LOOK_UP(array_create)
    LOOK_UP(array_destroy)
    LOOK_UP(array_fill)
    LOOK_UP(array_read)
    rubus_context *context = NULL;
    rubus_array *array = NULL;
    double x[4] = {0};
    if (context_create(spec, &context) != RUBUS_OK ||
        array_create(context, RUBUS_F64, RUBUS_SHAPE(4), &array) != RUBUS_OK ||
        array_fill(array, 3) != RUBUS_OK || array_read(array, x, sizeof x) != RUBUS_OK ||
        x[3] != 3) {
        return wrong("a call failed");
    }
    if (destroy) {
        array_destroy(array);
        context_destroy(context);
    } else {
        left_open = context;
        left_array = array;
    }
    dlclose(library);
    return 0;
}

/* --- threads ------------------------------------------------------------------ */

enum { THREADS = 8, LAUNCHES = 200, NROW = 3, NNZ = 5 };

static const char sparse_text[] =
    "kernel multiply(out real y[n], in index rowptr[n+1], in index col[], in real "
    "val[],\n"
    "                in real x[]) over (row in 0:n)\n"
    "{\n"
    "    real acc;\n"
    "    for (int k = rowptr[row]; k < rowptr[row + 1]; k++)\n"
    "        acc += val[k] * x[col[k]];\n"
    "    y[row] = acc;\n"
    "}\n";

typedef struct worker {
    pthread_t thread;
    const char *spec;
    rubus_context *shared; /* NULL: a context of its own */
    int number;
    int right;
} worker;

static void multiply_often(worker *w, rubus_context *context, const rubus_kernel *kernel)
{
    static const int32_t rowptr[NROW + 1] = {0, 2, 3, 5};
    static const int32_t col[NNZ] = {0, 1, 1, 0, 2};
    static const double val[NNZ] = {2, -1, 2, 1, 5};
    const double t = w->number;
    const double x[NROW] = {t, t, t};
    rubus_array *array[5];
    MUST(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(NROW), &array[0]));
    MUST(rubus_array_from(context, RUBUS_I32, RUBUS_SHAPE(NROW + 1), rowptr, &array[1]));
    MUST(rubus_array_from(context, RUBUS_I32, RUBUS_SHAPE(NNZ), col, &array[2]));
    MUST(rubus_array_from(context, RUBUS_F64, RUBUS_SHAPE(NNZ), val, &array[3]));
    MUST(rubus_array_from(context, RUBUS_F64, RUBUS_SHAPE(NROW), x, &array[4]));
    for (int i = 0; i < LAUNCHES; i++) {
        double y[NROW] = {0};
        MUST(rubus_launch(kernel, array[0], array[1], array[2], array[3], array[4]));
        MUST(rubus_array_read(array[0], y, sizeof y));
        w->right += y[0] == t && y[1] == 2 * t && y[2] == 6 * t;
    }
    for (int i = 0; i < 5; i++) {
        rubus_array_destroy(array[i]);
    }
}

static void *work(void *pointer)
{
    worker *w = pointer;
    rubus_context *context = w->shared;
    if (context == NULL) {
        MUST(rubus_context_create(w->spec, &context));
    }
    rubus_module *module = NULL;
    MUST(rubus_module_create(context, "multiply.rk", sparse_text, NULL, &module));
    multiply_often(w, context, rubus_module_kernel(module, "multiply"));
    rubus_module_destroy(module);
    if (w->shared == NULL) {
        rubus_context_destroy(context);
    }
    return NULL;
}

static int run_threads(const char *spec, int own)
{
    worker w[THREADS];
    rubus_context *shared = NULL;
    int right = 0;
    if (!own) {
        MUST(rubus_context_create(spec, &shared));
    }
    for (int i = 0; i < THREADS; i++) {
        w[i] = (worker){.spec = spec, .shared = shared, .number = i + 1};
        if (pthread_create(&w[i].thread, NULL, work, &w[i]) != 0) {
            return wrong("no thread");
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(w[i].thread, NULL);
        right += w[i].right;
    }
    rubus_context_destroy(shared);
    rubus_shutdown();
    fprintf(stderr, "%d of %d right\n", right, THREADS * LAUNCHES);
    return right == THREADS * LAUNCHES ? 0 : 1;
}

/* --- leaks -------------------------------------------------------------------- */

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*s %ld", &pages) != 1) {
        pages = 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return pages * 4;
}

static int use_once(const char *spec)
{
    use u = open_use(spec, 4);
    rubus_module *none = NULL;
    if (rubus_module_create(u.context, "bad.rk", "kernel k(out real B[n]) { B = ; }",
                            NULL, &none) == RUBUS_OK) {
        return wrong("a kernel with a mistake was built");
    }
    if (refuse_large(u.context) != 0) {
        return 1;
    }
    run_use(&u);
    if (first_of(u.b) != 3) {
        return wrong("not 3");
    }
    MUST(rubus_context_synchronize(u.context));
    run_use(&u); // still running when everything goes
    close_use(&u);
    return 0;
}

static int run_leaks(const char *spec, int n)
{
    long before = 0;
    for (int i = 0; i < n; i++) {
        if (use_once(spec) != 0) {
            return 1;
        }
        before = i == n / 2 ? resident_kib() : before;
    }
    const long grown = resident_kib() - before;
    rubus_shutdown();
    fprintf(stderr, "grown by %ld KiB in the second half\n", grown);
    return grown < 4096 + 40L * n ? 0 : wrong("the memory grows");
}

/* --- order -------------------------------------------------------------------- */

/* Each element has one last writer: a kernel, a write, or a copy, over a fill. */
static int one_round(const use *u, int64_t n, int round, double *host)
{
    const double fill = round;
    int bad = 0;
    MUST(rubus_array_fill(u->b, -1));
    run_use(u); // b = 2 a = 3
    MUST(rubus_array_fill(u->a, fill));
    run_use(u); // b = 2 fill
    const double mark = 0.5 + round;
    MUST(rubus_array_write_range(u->b, n / 2, 1, &mark));
    MUST(rubus_array_copy(u->a, u->b));
    MUST(rubus_array_fill(u->b, 7));
    MUST(rubus_array_read(u->a, host, (size_t)n * sizeof *host));
    for (int64_t i = 0; i < n; i++) {
        bad += host[i] != (i == n / 2 ? mark : 2 * fill);
    }
    MUST(rubus_array_read(u->b, host, (size_t)n * sizeof *host));
    for (int64_t i = 0; i < n; i++) {
        bad += host[i] != 7;
    }
    MUST(rubus_array_fill(u->a, 1.5));
    return bad;
}

static int run_order(const char *spec, int rounds)
{
    static const int64_t sizes[] = {513, 1025, 2049};
    int bad = 0;
    for (int s = 0; s < 3; s++) {
        use u = open_use(spec, sizes[s]);
        double *host = malloc((size_t)sizes[s] * sizeof *host);
        for (int i = 0; host != NULL && i < rounds / 3; i++) {
            bad += one_round(&u, sizes[s], i, host) != 0;
        }
        free(host);
        MUST(rubus_context_synchronize(u.context));
        close_use(&u);
    }
    rubus_shutdown();
    fprintf(stderr, "mismatches: %d of %d rounds\n", bad, rounds);
    return bad == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    const char *spec = argc > 2 ? argv[2] : "";
    const int number = argc > 3 ? atoi(argv[argc - 1]) : 0;
    int status = 2;
    if (strcmp(what, "large") == 0) {
        status = run_large(spec);
    } else if (strcmp(what, "exit") == 0 || strcmp(what, "atexit") == 0) {
        status = run_exit(spec, what[0] == 'a');
    } else if (strcmp(what, "fork") == 0) {
        status = run_fork(spec);
    } else if (strcmp(what, "unload") == 0 && argc > 4) {
        status = run_unload(spec, argv[3], number);
    } else if (strcmp(what, "threads") == 0) {
        status = run_threads(spec, number);
    } else if (strcmp(what, "leaks") == 0) {
        status = run_leaks(spec, number);
    } else if (strcmp(what, "order") == 0) {
        status = run_order(spec, number);
    }
    puts(status == 0 ? "ok" : "not ok");
    fflush(stdout);
    return status;
}
