/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On every backend: orders of the operators on sin, what is refused with which words, and
 * f32 against f64. The numbers were computed independently.
 */
#include "config.h"

#include <check.h>

#include "tests/grid/grid_probe.h"
#include "tests/support/real_arrays.h"

/* n points on [0, 1]; alternating: intervals of widths 1, 2, 1, 2 ... */
static rubus_mesh *line(rubus_context *context, int64_t n, bool alternating)
{
    if (!alternating) {
        return mesh_of(context, RUBUS_F64, 1, &(rubus_axis_desc){.upper = 1, .n = n});
    }
    double *x = malloc((size_t)n * sizeof(double));
    double all = 0;
    for (int64_t i = 0; i + 1 < n; i++) {
        all += i % 2 == 0 ? 1 : 2;
    }
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        x[i] = i + 1 < n ? sum / all : 1;
        sum += i % 2 == 0 ? 1 : 2;
    }
    rubus_mesh *mesh =
        mesh_of(context, RUBUS_F64, 1, &(rubus_axis_desc){.n = n, .point = x});
    free(x);
    return mesh;
}

/* --- case 10.24 ------------------------------------------------------------------- */

static const char operators[] =
    "kernel Dm(out real r[n], in real u[n], in real e[n], in real h[n],\n"
    "           in real s[n-1])\n"
    "{ r = Dm_x(u, h) - e; }\n"
    "kernel Dc(out real r[n], in real u[n], in real e[n], in real h[n],\n"
    "           in real s[n-1])\n"
    "{ r = Dc_x(u, h) - e; }\n"
    "kernel Dw(out real r[n], in real u[n], in real e[n], in real h[n],\n"
    "           in real s[n-1])\n"
    "{ r = Dw_x(u, h) - e; }\n"
    "kernel lap(out real r[n], in real u[n], in real e[n], in real h[n],\n"
    "           in real s[n-1])\n"
    "{ r = lap_x(u, h, s) - e; }\n";

/* The operator on sin, less what it stands for: cos, or -sin for lap. */
static rubus_array *error_of(rubus_module *module, rubus_mesh *mesh, rubus_space *space,
                             const char *name)
{
    const int64_t n = rubus_mesh_shape(mesh).n[0];
    double *x = malloc((size_t)n * sizeof(double));
    double *v = malloc((size_t)n * sizeof(double));
    ok(rubus_mesh_points(mesh, 0, x, n));
    for (int64_t i = 0; i < n; i++) {
        v[i] = sin(x[i]);
    }
    rubus_array *u = probe_array(space, v);
    rubus_array *r = probe_array(space, v);
    const bool second = strcmp(name, "lap") == 0;
    for (int64_t i = 0; i < n; i++) {
        v[i] = second ? -sin(x[i]) : cos(x[i]);
    }
    rubus_array *e = probe_array(space, v);
    rubus_array *h = NULL;
    rubus_array *s = NULL;
    ok(rubus_mesh_axis_array(mesh, 0, RUBUS_MESH_SPACING, &h));
    ok(rubus_mesh_axis_array(mesh, 0, RUBUS_MESH_STAR, &s));
    ok(rubus_launch(backends_kernel(module, name), r, u, e, h, s));
    rubus_array_destroy(e);
    free(x);
    free(v);
    rubus_array_destroy(u);
    rubus_array_destroy(h);
    rubus_array_destroy(s);
    return r;
}

/* The largest error inside, on 21, 41, 81 and 161 points: the first and last, and the
 * order from the last two. */
static void order_is(rubus_module *module, rubus_context *context, const char *name,
                     bool alternating, double first, double last, double order)
{
    double before = 0;
    for (int k = 0; k < 4; k++) {
        rubus_mesh *mesh = line(context, (20 << k) + 1, alternating);
        rubus_space *space = space_of(mesh, 1);
        rubus_array *r = error_of(module, mesh, space, name);
        double error = 0;
        ok(rubus_norm_inf(space, r, "interior", &error));
        // rounding of second differences is about eps / h^2 = 6e-12
        if (k == 0) {
            number_is(error, first, 1e-7);
        }
        if (k == 3) {
            number_is(error, last, 1e-5);
            number_is(log2(before / error), order, 0.01);
        }
        before = error;
        rubus_array_destroy(r);
        rubus_space_destroy(space);
        rubus_mesh_destroy(mesh);
    }
}

START_TEST(test_case_10_24_orders_of_operators)
{
    rubus_context *context = backends_open(_i);
    rubus_module *module = backends_module(context, operators, RUBUS_F64, 0);
    order_is(module, context, "Dc", false, 4.16093927e-4, 6.5102768e-6, 2);
    order_is(module, context, "Dc", true, 1.37178477e-2, 1.7483617e-3, 0.99);
    order_is(module, context, "Dw", true, 3.70000097e-4, 5.7869466e-6, 2);
    order_is(module, context, "lap", false, 1.69447442e-4, 2.72811507e-6, 1.99);
    order_is(module, context, "lap", true, 1.10925982e-2, 1.38885272e-3, 1);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

/* The value 0 at the lower end costs half an order in the norm of all points. */
START_TEST(test_case_10_24_backward_difference_and_its_edge)
{
    static const double all[3] = {0.22500131738, 0.07075844942, 0.02236220271};
    static const double inside[3] = {2.3258852896e-2, 2.5826410788e-3, 2.6080924298e-4};
    static const int64_t n[3] = {11, 101, 1001};
    rubus_context *context = backends_open(_i);
    rubus_module *module = backends_module(context, operators, RUBUS_F64, 0);
    for (int k = 0; k < 3; k++) {
        rubus_mesh *mesh = line(context, n[k], false);
        rubus_space *space = space_of(mesh, 1);
        double norm = 0;
        rubus_array *r = error_of(module, mesh, space, "Dm");
        ok(rubus_norm_h(space, r, NULL, &norm));
        number_is(norm, all[k], 1e-9);
        ok(rubus_norm_h(space, r, "interior", &norm));
        number_is(norm, inside[k], 1e-9);
        rubus_array_destroy(r);
        rubus_space_destroy(space);
        rubus_mesh_destroy(mesh);
    }
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

/* --- case 10.29 ------------------------------------------------------------------- */

enum { TEXTS = 12 };

/* Keeps the present text, which must be none of those before. */
static void new_text(char (*text)[400], int *n)
{
    for (int k = 0; k < *n; k++) {
        ck_assert_str_ne(text[k], rubus_error_text());
    }
    ck_assert_int_lt(*n, TEXTS);
    snprintf(text[(*n)++], sizeof text[0], "%s", rubus_error_text());
}

START_TEST(test_case_10_29_refusals_have_their_own_words)
{
    static const double one[2] = {1, 1};
    static const int32_t index[2] = {0, 1};
    char text[TEXTS][400];
    int ntext = 0;
    rubus_context *context[2] = {backends_open(_i), backends_open(_i)};
    rubus_csr *a[2] = {NULL, NULL};
    rubus_array *x[2] = {NULL, NULL};
    rubus_array *y[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++) {
        ok(rubus_csr_create_coo(context[k], RUBUS_I32, RUBUS_F64, 2, 2, 2, index, index,
                                one, &a[k]));
        x[k] = real_array(context[k], RUBUS_F64, RUBUS_SHAPE(2), one);
        y[k] = real_array(context[k], RUBUS_F64, RUBUS_SHAPE(2), one);
    }
    // six wrong triples of matrix, argument and result
    for (int triple = 1; triple < 7; triple++) {
        fails(rubus_spmv(1, a[triple & 1], x[triple >> 1 & 1], 0, y[triple >> 2 & 1]),
              RUBUS_EFOREIGN, "rubus_spmv|another context|device");
    }
    new_text(text, &ntext);
    ok(rubus_spmv(1, a[0], x[0], 0, y[0]));
    ok(rubus_spmv(1, a[1], x[1], 0, y[1]));
    rubus_context *none = NULL;
    fails(rubus_context_create("nosuch", &none), RUBUS_ENODEV, "nosuch");
    new_text(text, &ntext);
    rubus_csc *csc = NULL;
    ok(rubus_csc_create(context[0], RUBUS_I32, RUBUS_F64, 2, 2, 0, (int32_t[]){0, 0, 0},
                        NULL, NULL, &csc));
    fails(rubus_csc_spmv(1, csc, x[0], 0, y[0]), RUBUS_EUNSUPPORTED, "rubus_csc_to_csr");
    new_text(text, &ntext);
    rubus_mesh *mesh = NULL;
    rubus_csr *csr = NULL;
    context[0]->dev->caps.fp64 = 0;
    fails(rubus_mesh_create_box(context[0], RUBUS_F64, RUBUS_SHAPE(3), one, (double[]){2},
                                &mesh),
          RUBUS_EUNSUPPORTED, "rubus_mesh_create_box|f64|RUBUS_F32");
    new_text(text, &ntext);
    fails(rubus_csr_create_identity(context[0], RUBUS_I32, RUBUS_F64, 2, &csr),
          RUBUS_EUNSUPPORTED, "f64|f32");
    new_text(text, &ntext);
    fails(
        rubus_module_create(context[0], "m.rk", operators, NULL, &(rubus_module *){NULL}),
        RUBUS_EUNSUPPORTED, "f64|f32");
    new_text(text, &ntext);
    ck_assert(none == NULL && mesh == NULL && csr == NULL);
    rubus_csc_destroy(csc);
    for (int k = 0; k < 2; k++) {
        rubus_csr_destroy(a[k]);
        rubus_array_destroy(x[k]);
        rubus_array_destroy(y[k]);
    }
    rubus_context_destroy(context[1]);
    backends_finish(context[0]);
}
END_TEST

/* --- case 10.30 ------------------------------------------------------------------- */

enum { NX = 33, NY = 34, N = NX * NY };

static const char poisson[] =
    "func real exact(real x, real y)  { return exp(x + 2*y); }\n"
    "func real source(real x, real y) { return -5 * exp(x + 2*y); }\n"
    "form stiffness(trial u, test v) = inner_plus(grad(u), grad(v));\n"
    "form load(test v, field f) = inner_h(f, v);\n";

/* A problem on the unit square, in one type. */
typedef struct square {
    rubus_module *module;
    rubus_mesh *mesh;
    rubus_space *space;
    rubus_form *a;
    rubus_form *l;
    rubus_array *u;
    rubus_array *g;
    rubus_array *f;
    rubus_array *F;
} square;

static square square_open(rubus_context *context, int32_t type)
{
    square s = {.module = backends_module(context, poisson, type, 0)};
    ok(rubus_mesh_create_box(context, type, RUBUS_SHAPE(NX, NY), probe_pair(0, 0),
                             probe_pair(1, 1), &s.mesh));
    s.space = space_of(s.mesh, 1);
    ok(RUBUS_ARRAYS(s.space, &s.u, &s.g, &s.f, &s.F));
    ok(rubus_form_create(s.module, "stiffness", s.space, s.space, &s.a));
    ok(rubus_form_create(s.module, "load", NULL, s.space, &s.l));
    return s;
}

static void square_close(square *s)
{
    rubus_form_destroy(s->a);
    rubus_form_destroy(s->l);
    rubus_array_destroy(s->u);
    rubus_array_destroy(s->g);
    rubus_array_destroy(s->f);
    rubus_array_destroy(s->F);
    rubus_space_destroy(s->space);
    rubus_mesh_destroy(s->mesh);
    rubus_module_destroy(s->module);
}

/* All entries of the stiffness matrix: nine vectors that are 1 at every third point of
 * each axis show the entries of all rows, for none has more than one point of each. */
static void entries(rubus_context *context, int32_t type, double (*out)[N])
{
    square s = square_open(context, type);
    rubus_operator *op = NULL;
    ok(rubus_form_operator(s.a, NULL, &op));
    for (int colour = 0; colour < 9; colour++) {
        double host[N];
        for (int p = 0; p < N; p++) {
            host[p] = p % NX % 3 == colour % 3 && p / NX % 3 == colour / 3 ? 1 : 0;
        }
        rubus_array *x = probe_array(s.space, host);
        ok(rubus_operator_apply(op, 1, x, 0, s.F));
        real_read(s.F, out[colour]);
        rubus_array_destroy(x);
    }
    rubus_operator_destroy(op);
    square_close(&s);
}

START_TEST(test_case_10_30_entries_in_f32)
{
    static double wide[9][N];
    static double narrow[9][N];
    rubus_context *context = backends_open(_i);
    entries(context, RUBUS_F64, wide);
    entries(context, RUBUS_F32, narrow);
    for (int k = 0; k < 9 * N; k++) {
        const double w = wide[k / N][k % N];
        ck_assert_msg(fabs(narrow[k / N][k % N] - w) <= 1e-5 * fabs(w),
                      "entry of row %d: %.9g in f32, %.17g in f64", k % N,
                      narrow[k / N][k % N], w);
    }
    backends_finish(context);
}
END_TEST

/* The solution with u = exp(x + 2y) on the boundary. */
static void solution(rubus_context *context, int32_t type, double rtol, double *out)
{
    square s = square_open(context, type);
    rubus_constraint *bc = NULL;
    rubus_operator *op = NULL;
    ok(rubus_project(s.space, rubus_module_func(s.module, "exact"), RUBUS_POINT, NULL, 0,
                     s.g));
    ok(rubus_project(s.space, rubus_module_func(s.module, "source"), RUBUS_CELL_MEAN,
                     NULL, 0, s.f));
    ok(rubus_constraint_create(s.space, &bc));
    ok(rubus_constraint_add(bc, "boundary", RUBUS_ALL, s.g));
    ok(rubus_form_set(s.l, "f", s.f));
    ok(rubus_form_vector(s.l, bc, s.F));
    ok(rubus_form_operator(s.a, bc, &op));
    const rubus_krylov_desc desc = {.struct_size = sizeof desc, .rtol = rtol};
    rubus_krylov_report report = {.struct_size = sizeof report};
    ok(rubus_solve_cg(op, s.F, s.u, &desc, &report));
    ck_assert_int_eq(report.outcome, RUBUS_OUTCOME_CONVERGED);
    real_read(s.u, out);
    rubus_operator_destroy(op);
    rubus_constraint_destroy(bc);
    square_close(&s);
}

START_TEST(test_case_10_30_solution_in_f32)
{
    static double wide[N];
    static double narrow[N];
    rubus_context *context = backends_open(_i);
    solution(context, RUBUS_F64, 1e-12, wide);
    solution(context, RUBUS_F32, 1e-6, narrow);
    for (int p = 0; p < N; p++) {
        ck_assert_msg(fabs(narrow[p] - wide[p]) <= 1e-4 * fabs(wide[p]),
                      "point %d: %.9g in f32, %.17g in f64", p, narrow[p], wide[p]);
    }
    backends_finish(context);
}
END_TEST

static Suite *cases_suite(void)
{
    Suite *suite = suite_create("cases of backends");
    TCase *tc = tcase_create("backends");
    backends_add(tc, test_case_10_24_orders_of_operators);
    backends_add(tc, test_case_10_24_backward_difference_and_its_edge);
    backends_add(tc, test_case_10_29_refusals_have_their_own_words);
    backends_add(tc, test_case_10_30_entries_in_f32);
    backends_add(tc, test_case_10_30_solution_in_f32);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("grid: orders, refusals, f32", cases_suite)
