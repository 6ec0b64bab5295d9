/* SPDX-License-Identifier: Apache-2.0 */
/* Projections of funcs and host functions on every backend. */
#include "config.h"

#include <check.h>

#include "tests/grid/grid_probe.h"

static const char text[] =
    "func real square(real x) { return x^2; }\n"
    "func real moving(real x, real t) { return x + t; }\n"
    "func real sin(real x) { return x; }\n" // hides the library's
    "func real two(real x, real y) { return x + 10*y; }\n"
    "func real root(real x, real y) { return sqrt(0.5 - y) + x; }\n" // NaN for y > 0.5
    "func real part(real x, int k) { return x + 100*k; }\n"
    "func real late(real x, real t, int k) { return x + t + 100*k; }\n"
    "func real three(real x, real y, real z) { return x + 10*y + 100*z; }\n"
    "func real calls(real x) { return square(sin(x)) + cos(0 * x); }\n"
    "func bool truth(real x) { return x > 0; }\n"
    "func int whole(real x) { return 1; }\n"
    "func real odd(real x) { return x^11; }\n"
    "func real five(real x, real y) { return x^5 * y^4; }\n"
    "kernel other(inout real u[n]) { u = u + 1; }\n";

typedef struct scene {
    rubus_context *context;
    rubus_module *module;
    rubus_mesh *mesh;
    rubus_space *space;
    rubus_array *u;
} scene;

static scene scene_open(int at, int32_t type, int32_t ndim, const rubus_axis_desc *axis,
                        int32_t ncomponent)
{
    scene s = {.context = backends_open(at)};
    s.module = backends_module(s.context, text, RUBUS_F64, 0);
    s.mesh = mesh_of(s.context, type, ndim, axis);
    ok(rubus_space_create(s.mesh, ncomponent, &s.space));
    ok(rubus_space_array(s.space, 7, &s.u));
    return s;
}

static void scene_close(scene *s)
{
    rubus_array_destroy(s->u);
    rubus_space_destroy(s->space);
    rubus_mesh_destroy(s->mesh);
    rubus_module_destroy(s->module);
    backends_finish(s->context);
}

static rubus_status put(scene *s, const char *func, int32_t how, const char *labels,
                        double time)
{
    return rubus_project(s->space, rubus_module_func(s->module, func), how, labels, time,
                         s->u);
}

START_TEST(project_points_in_1d_with_time_and_own_names)
{
    for (int32_t type = RUBUS_F32; type <= RUBUS_F64; type++) {
        scene s = scene_open(_i, type, 1, &axis_of(0, 1, 3, 5), 1);
        ok(put(&s, "square", RUBUS_POINT, NULL, 0));
        array_is(s.u, 0, 0, 1, 9, 25);
        ok(put(&s, "moving", RUBUS_POINT, NULL, 0.5));
        array_is(s.u, 0, 0.5, 1.5, 3.5, 5.5);
        ok(put(&s, "calls", RUBUS_POINT, NULL,
               0)); // sin is the module's, cos the library's
        array_is(s.u, 0, 1, 2, 10, 26);
        scene_close(&s);
    }
}
END_TEST

START_TEST(project_points_in_3d)
{
    const rubus_axis_desc axis[3] = {axis_of(0, 1), axis_of(2, 3, 4), axis_of(5, 7)};
    scene s = scene_open(_i, RUBUS_F64, 3, axis, 1);
    ok(put(&s, "three", RUBUS_POINT, NULL, 0));
    array_is(s.u, 0, 520, 521, 530, 531, 540, 541, 720, 721, 730, 731, 740, 741);
    scene_close(&s);
}
END_TEST

/* Six nodes are exact for degree 11: the means of x^11 on the cells of [0, 1, 3, 5]. */
START_TEST(project_cell_means_are_exact_for_polynomials)
{
    const double q[5] = {0, 0.5, 2, 4, 5};
    double want[4];
    for (int i = 0; i < 4; i++) {
        want[i] = (pow(q[i + 1], 12) - pow(q[i], 12)) / (12 * (q[i + 1] - q[i]));
    }
    scene s = scene_open(_i, RUBUS_F64, 1, &axis_of(0, 1, 3, 5), 1);
    ok(put(&s, "odd", RUBUS_CELL_MEAN, NULL, 0));
    probe_near(s.u, want, 4, 1e-14, "means of x^11");
    scene_close(&s);
}
END_TEST

/* An axis of one point has its coordinate as the only node. */
START_TEST(project_cell_mean_on_a_single_layer)
{
    const rubus_axis_desc axis[2] = {axis_of(0, 1, 3), {.lower = 2, .upper = 2, .n = 1}};
    scene s = scene_open(_i, RUBUS_F64, 2, axis, 1);
    ok(put(&s, "two", RUBUS_CELL_MEAN, NULL, 0));
    array_is(s.u, 1e-15, 20.25, 21.25, 22.5); // means of x on [0,.5], [.5,2], [2,3]
    scene_close(&s);
}
END_TEST

/* Trap T24: off the labels func is not met (NaN there), and old contents (7) become 0. */
START_TEST(test_trap_24_masked_projection_is_zero_elsewhere)
{
    const rubus_axis_desc axis[2] = {{.upper = 1, .n = 5}, {.upper = 1, .n = 3}};
    const double corner = sqrt(0.5);
    for (int how = RUBUS_POINT; how <= RUBUS_CELL_MEAN; how++) {
        scene s = scene_open(_i, RUBUS_F64, 2, axis, 1);
        ok(put(&s, "root", how, "bottom", 0));
        double *got = probe_numbers(s.u);
        for (int p = 0; p < 15; p++) {
            if (p >= 5) {
                ck_assert_double_eq(got[p], 0);
            } else if (how == RUBUS_POINT) {
                number_is(got[p], corner + p * 0.25, 1e-15);
            } else { // cells end at y = 1/4: 2/3 (0.5^1.5 - 0.25^1.5) / 0.25, and x
                const double x = p == 0 ? 0.0625 : p == 4 ? 0.9375 : p * 0.25;
                number_is(got[p], (pow(0.5, 1.5) - 0.125) * 8 / 3 + x, 1e-9);
            }
        }
        free(got);
        ok(rubus_array_fill(s.u, 7));
        ok(put(&s, "two", how, "left,interior", 0));
        got = probe_numbers(s.u);
        ck_assert_double_eq(got[1], 0);
        ck_assert_double_eq(got[9], 0);
        ck_assert_double_ne(got[6], 0);
        ck_assert_double_ne(got[10], 7);
        free(got);
        scene_close(&s);
    }
}
END_TEST

static bool nowhere(void *user, const double *x, double t)
{
    return user != NULL || x[0] > 1e9 + t;
}

static void never(void *user, const double *x, double t, double *out)
{
    (void)user;
    (void)t;
    ck_abort_msg("called at %g", x[0]);
    out[0] = 0;
}

/* Trap T25: no point has the labels. */
START_TEST(test_trap_25_empty_mask_gives_zeros)
{
    scene s = scene_open(_i, RUBUS_F64, 1, &axis_of(0, 1, 3, 5), 1);
    double x = 7;
    ok(rubus_mesh_mark_callback(s.mesh, "nowhere", nowhere, NULL));
    ok(put(&s, "square", RUBUS_POINT, "nowhere", 0));
    array_is(s.u, 0, 0, 0, 0, 0);
    ok(rubus_array_fill(s.u, 7));
    ok(rubus_project_callback(s.space, never, NULL, RUBUS_POINT, "nowhere", 0, s.u));
    array_is(s.u, 0, 0, 0, 0, 0);
    ok(rubus_array_fill(s.u, 7));
    ok(rubus_inner_h(s.space, s.u, s.u, "nowhere", &x));
    ck_assert_double_eq(x, 0);
    ok(rubus_norm_inf(s.space, s.u, "nowhere", &x));
    ck_assert_double_eq(x, 0);
    scene_close(&s);
}
END_TEST

START_TEST(project_components_by_number_or_one_by_one)
{
    scene s = scene_open(_i, RUBUS_F64, 1, &axis_of(0, 1, 3), 2);
    ok(put(&s, "part", RUBUS_POINT, NULL, 0));
    array_is(s.u, 0, 0, 1, 3, 100, 101, 103);
    ok(put(&s, "late", RUBUS_CELL_MEAN, "left", 0.5));
    array_is(s.u, 1e-14, 0.75, 0, 0, 100.75, 0, 0);
    ok(put(&s, "square", RUBUS_POINT, NULL, 0));
    array_is(s.u, 0, 0, 1, 9, 0, 1, 9);
    rubus_array *window = NULL;
    ok(rubus_space_component(s.space, s.u, 1, &window));
    ok(rubus_project(s.space, rubus_module_func(s.module, "moving"), RUBUS_POINT, NULL, 2,
                     window));
    array_is(s.u, 0, 0, 1, 9, 2, 3, 5);
    rubus_array_destroy(window);
    scene_close(&s);
}
END_TEST

static void plain(void *user, const double *x, double t, double *out)
{
    (*(int *)user)++;
    out[0] = x[0] * x[0] + 10 * x[1] + t;
    out[1] = pow(x[0], 5) * pow(x[1], 4);
}

START_TEST(project_callback_equals_func)
{
    const rubus_axis_desc axis[2] = {axis_of(0, 1, 3), axis_of(0, 2, 3)};
    scene s = scene_open(_i, RUBUS_F64, 2, axis, 2);
    int ncall = 0;
    ok(rubus_project_callback(s.space, plain, &ncall, RUBUS_POINT, NULL, 0.5, s.u));
    ck_assert_int_eq(ncall, 9);
    array_is(s.u, 0, 0.5, 1.5, 9.5, 20.5, 21.5, 29.5, 30.5, 31.5, 39.5, 0, 0, 0, 0, 16,
             3888, 0, 81, 19683);
    ncall = 0;
    const rubus_context_counters before = probe_counters(s.context);
    ok(rubus_project_callback(s.space, plain, &ncall, RUBUS_CELL_MEAN, "left", 0, s.u));
    const rubus_context_counters after = probe_counters(s.context);
    ck_assert_int_eq(ncall, 3 * 36);
    ck_assert_uint_eq(after.write_calls, before.write_calls + 1);
    double *got = probe_numbers(s.u);
    rubus_array *window = NULL;
    ok(rubus_space_component(s.space, s.u, 1, &window));
    ok(rubus_project(s.space, rubus_module_func(s.module, "five"), RUBUS_CELL_MEAN,
                     "left", 0, window));
    probe_near(window, got + 9, 9, 1e-14, "component 1");
    ck_assert_double_gt(got[9 + 6], 0);
    ck_assert_double_eq(got[9 + 4], 0);
    free(got);
    rubus_array_destroy(window);
    scene_close(&s);
}
END_TEST

/* Kernels are built once for a func, a use and a type, and nothing moves per point. */
START_TEST(test_trap_04_projection_moves_no_values)
{
    scene s = scene_open(_i, RUBUS_F64, 1, &(rubus_axis_desc){.upper = 1, .n = 5000}, 1);
    ok(put(&s, "moving", RUBUS_CELL_MEAN, "interior", 0));
    const rubus_context_counters before = probe_counters(s.context);
    for (int k = 0; k < 10; k++) {
        ok(put(&s, "moving", RUBUS_CELL_MEAN, "interior", k));
    }
    const rubus_context_counters after = probe_counters(s.context);
    ck_assert_uint_eq(after.modules_built, before.modules_built);
    ck_assert_uint_eq(after.write_bytes, before.write_bytes);
    ck_assert_uint_eq(after.read_bytes, before.read_bytes);
    scene_close(&s);
}
END_TEST

START_TEST(project_refuses_before_anything_runs)
{
    scene s = scene_open(_i, RUBUS_F64, 1, &axis_of(0, 1, 3, 5), 1);
    fails(put(&s, "three", RUBUS_POINT, NULL, 0), RUBUS_EINVAL,
          "`three`|1 axis;|func real three(real x [, real t] [, int component])");
    fails(put(&s, "truth", RUBUS_POINT, NULL, 0), RUBUS_EINVAL, "`truth`");
    fails(put(&s, "whole", RUBUS_POINT, NULL, 0), RUBUS_EINVAL, "`whole`");
    fails(put(&s, "squar", RUBUS_POINT, NULL, 0), RUBUS_ENOTFOUND, "`squar`|`square`");
    fails(put(&s, "square", 3, NULL, 0), RUBUS_EINVAL, "RUBUS_CELL_MEAN, not 3");
    fails(put(&s, "square", RUBUS_POINT, "wall", 0), RUBUS_ENOTFOUND, "`wall`|left");
    const rubus_func *square = rubus_module_func(s.module, "square");
    ck_assert_str_eq(rubus_func_name(square), "square");
    ck_assert_str_eq(rubus_func_name(NULL), "");
    fails(rubus_project(NULL, square, RUBUS_POINT, NULL, 0, s.u), RUBUS_EINVAL, "space");
    fails(rubus_project(s.space, square, RUBUS_POINT, NULL, 0, NULL), RUBUS_EINVAL,
          "u is NULL");
    ck_assert_ptr_null(rubus_module_func(NULL, "square"));
    fails(rubus_project(s.space, NULL, RUBUS_POINT, NULL, 0, s.u), RUBUS_ENOTFOUND,
          "rubus_module_func: the module is NULL");
    ok(rubus_mesh_set_time(s.mesh, 0)); // another text is the last one now
    fails(rubus_mesh_set_time(s.mesh, (double)NAN), RUBUS_EINVAL, "nan");
    fails(rubus_project(s.space, NULL, RUBUS_POINT, NULL, 0, s.u), RUBUS_ENOTFOUND,
          "rubus_project: the func is NULL");
    rubus_context *other = backends_open(_i);
    rubus_module *foreign = backends_module(other, text, RUBUS_F64, 0);
    rubus_space_destroy(s.space);
    ok(rubus_space_create(s.mesh, 1, &s.space));
    fails(rubus_project(s.space, rubus_module_func(foreign, "square"), RUBUS_POINT, NULL,
                        0, s.u),
          RUBUS_EFOREIGN, "`square`|another context");
    rubus_module_destroy(foreign);
    rubus_context_destroy(other);
    fails(rubus_project_callback(s.space, NULL, NULL, RUBUS_POINT, NULL, 0, s.u),
          RUBUS_EINVAL, "function is NULL");
    fails(rubus_project_callback(s.space, never, NULL, 0, NULL, 0, s.u), RUBUS_EINVAL,
          "not 0");
    fails(rubus_project_callback(s.space, never, NULL, RUBUS_POINT, "wall", 0, s.u),
          RUBUS_ENOTFOUND, "`wall`");
    fails(rubus_project_callback(s.space, never, NULL, RUBUS_POINT, NULL, 0, NULL),
          RUBUS_EINVAL, "u is NULL");
    array_is(s.u, 0, 7, 7, 7, 7);
    scene_close(&s);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("project");
    TCase *tc = tcase_create("project");
    backends_add(tc, project_points_in_1d_with_time_and_own_names);
    backends_add(tc, project_points_in_3d);
    backends_add(tc, project_cell_means_are_exact_for_polynomials);
    backends_add(tc, project_cell_mean_on_a_single_layer);
    backends_add(tc, test_trap_24_masked_projection_is_zero_elsewhere);
    backends_add(tc, test_trap_25_empty_mask_gives_zeros);
    backends_add(tc, project_components_by_number_or_one_by_one);
    backends_add(tc, project_callback_equals_func);
    backends_add(tc, test_trap_04_projection_moves_no_values);
    backends_add(tc, project_refuses_before_anything_runs);
    suite_add_tcase(s, tc);
    return s;
}

RUBUS_TEST_MAIN("project", suite)
