/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of meshes, weights, products and projections that were computed independently,
 * from matrices and closed forms, to the digits given.
 */
#include "config.h"

#include <check.h>

#include "tests/grid/grid_probe.h"

static const char text[] =
    "func real square(real x) { return x^2; }\n"
    "func real growth(real x) { return exp(x); }\n"
    "func real product(real x, real y) { return x * y; }\n"
    "func real wave(real x) { return sin(3.14159265358979323846 * x); }\n";

/* A mesh, its space of one component, and the module above. */
typedef struct scene {
    rubus_context *context;
    rubus_module *module;
    rubus_mesh *mesh;
    rubus_space *space;
} scene;

static void scene_mesh(scene *s, rubus_mesh *mesh)
{
    rubus_space_destroy(s->space);
    rubus_mesh_destroy(s->mesh);
    s->mesh = mesh;
    ok(rubus_space_create(mesh, 1, &s->space));
}

static scene scene_open(int at)
{
    scene s = {.context = backends_open(at)};
    s.module = backends_module(s.context, text, RUBUS_F64, 0);
    return s;
}

static void scene_close(scene *s)
{
    rubus_space_destroy(s->space);
    rubus_mesh_destroy(s->mesh);
    rubus_module_destroy(s->module);
    backends_finish(s->context);
}

static rubus_mesh *uniform(rubus_context *context, double a, double b, int64_t n)
{
    return mesh_of(context, RUBUS_F64, 1,
                   &(rubus_axis_desc){.lower = a, .upper = b, .n = n});
}

/* The projection of a func. */
static rubus_array *put(const scene *s, const char *func, int32_t how, const char *labels)
{
    rubus_array *u = NULL;
    ok(rubus_space_array(s->space, 7, &u));
    ok(rubus_project(s->space, rubus_module_func(s->module, func), how, labels, 0, u));
    return u;
}

START_TEST(test_case_10_01_mesh_arrays)
{
    scene s = scene_open(_i);
    scene_mesh(&s, uniform(s.context, 0, 4, 5));
    axis_is(s.mesh, 0, RUBUS_MESH_SPACING, 0, 1, 1, 1, 1, 1);
    axis_is(s.mesh, 0, RUBUS_MESH_FORWARD, 0, 1, 1, 1, 1, 1);
    axis_is(s.mesh, 0, RUBUS_MESH_CELLS, 0, .5, 1, 1, 1, .5);
    axis_is(s.mesh, 0, RUBUS_MESH_MIDDLES, 0, 0, .5, 1.5, 2.5, 3.5, 4);
    scene_mesh(&s, mesh_0135(s.context, RUBUS_F64));
    axis_is(s.mesh, 0, RUBUS_MESH_SPACING, 0, 1, 1, 2, 2);
    axis_is(s.mesh, 0, RUBUS_MESH_FORWARD, 0, 1, 2, 2, 2);
    axis_is(s.mesh, 0, RUBUS_MESH_CELLS, 0, .5, 1.5, 2, 1);
    axis_is(s.mesh, 0, RUBUS_MESH_MIDDLES, 0, 0, .5, 2, 4, 5);
    axis_is(s.mesh, 0, RUBUS_MESH_STAR, 0, 1, 1.5, 2);
    axis_is(s.mesh, 0, RUBUS_MESH_ALIGNED, 0, 0, 1, 2, 2);
    number_is(rubus_mesh_hmax(s.mesh), 2, 0);
    scene_mesh(&s, mesh_of(s.context, RUBUS_F64, 1, &axis_of(0, .2, .6, 1)));
    axis_is(s.mesh, 0, RUBUS_MESH_MIDDLES, 1e-15, 0, .1, .4, .8, 1);
    axis_is(s.mesh, 0, RUBUS_MESH_CELLS, 1e-15, .1, .3, .4, .2);
    scene_mesh(&s, mesh_of(s.context, RUBUS_F32, 1, &axis_of(0, .5, 1)));
    ok(rubus_mesh_refine(s.mesh));
    axis_is(s.mesh, 0, RUBUS_MESH_POINTS, 0, 0, .25, .5, .75, 1);
    rubus_mesh *plane = NULL;
    ok(rubus_mesh_create_box(s.context, RUBUS_F64, RUBUS_SHAPE(4, 5), (double[]){0, 0},
                             (double[]){3, 4}, &plane));
    scene_mesh(&s, plane);
    number_is(rubus_mesh_hmax(s.mesh), sqrt(2), 1e-15);
    ck_assert_int_eq(s.space->count, 20);
    const rubus_axis_desc axis[2] = {axis_of(0, .4348, .4354, 1),
                                     axis_of(0, 1.0 / 3, 2.0 / 3, 1)};
    scene_mesh(&s, mesh_of(s.context, RUBUS_F64, 2, axis));
    number_is(rubus_mesh_hmax(s.mesh), 0.6556556040415663, 1e-15);
    scene_close(&s);
}
END_TEST

START_TEST(test_case_10_04_inner_products_in_1d)
{
    scene s = scene_open(_i);
    double x = 0;
    scene_mesh(&s, mesh_0135(s.context, RUBUS_F64));
    rubus_array *one = array_of(s.space, 1, 1, 1, 1);
    rubus_array *u = array_of(s.space, 0, 1, 3, 5);
    rubus_array *square = array_of(s.space, 0, 1, 9, 25);
    ok(rubus_inner_h(s.space, one, one, NULL, &x));
    number_is(x, 5, 0);
    ok(rubus_inner_h(s.space, u, one, NULL, &x));
    number_is(x, 12.5, 0);
    ok(rubus_inner_h(s.space, u, u, NULL, &x));
    number_is(x, 44.5, 0);
    ok(rubus_inner_plus(s.space, one, one, NULL, &x));
    number_is(x, 5, 0);
    ok(rubus_inner_plus(s.space, u, u, NULL, &x));
    number_is(x, 69, 0);
    ok(rubus_norm_h(s.space, u, NULL, &x));
    number_is(x, 6.670832032063167, 1e-15);
    ok(rubus_seminorm_1h(s.space, u, NULL, &x));
    number_is(x, sqrt(5), 1e-15);
    ok(rubus_norm_1h(s.space, u, NULL, &x));
    number_is(x, 7.035623639735144, 1e-15);
    ok(rubus_seminorm_1h(s.space, square, NULL, &x));
    number_is(x * x, 161, 1e-14);
    ok(rubus_norm_1h(s.space, square, NULL, &x));
    number_is(x, 30.813957876261206, 1e-15);
    rubus_array_destroy(one);
    rubus_array_destroy(u);
    rubus_array_destroy(square);
    scene_close(&s);
}
END_TEST

START_TEST(test_case_10_05_inner_products_in_2d)
{
    scene s = scene_open(_i);
    double x = 0;
    rubus_array *w = NULL;
    scene_mesh(&s, mesh_013_023(s.context, RUBUS_F64));
    ok(rubus_space_array(s.space, 7, &w));
    ok(rubus_space_weight(s.space, 0, w));
    array_is(w, 0, .5, 1.5, 1, .75, 2.25, 1.5, .25, .75, .5);
    ok(rubus_space_weight(s.space, RUBUS_AXIS_X, w));
    array_is(w, 0, 0, 1, 2, 0, 1.5, 3, 0, .5, 1);
    ok(rubus_space_weight(s.space, RUBUS_AXIS_Y, w));
    array_is(w, 0, 0, 0, 0, 1, 3, 2, .5, 1.5, 1);
    ok(rubus_space_weight(s.space, RUBUS_AXIS_X | RUBUS_AXIS_Y, w));
    array_is(w, 0, 0, 0, 0, 0, 2, 4, 0, 1, 2);
    rubus_array *u = array_of(s.space, 0, 1, 3, 4, 5, 7, 6, 7, 9);
    rubus_array *v = array_of(s.space, 0, 0, 0, 0, 2, 6, 0, 3, 9);
    ok(rubus_inner_h(s.space, u, v, NULL, &x));
    number_is(x, 141.75, 0);
    ok(rubus_inner_axes(s.space, RUBUS_AXIS_X, u, v, NULL, &x));
    number_is(x, 232.5, 0);
    ok(rubus_inner_axes(s.space, RUBUS_AXIS_Y, u, v, NULL, &x));
    number_is(x, 226.5, 0);
    ok(rubus_inner_plus(s.space, u, v, NULL, &x));
    number_is(x, 232.5 + 226.5, 0);
    ok(rubus_inner_axes(s.space, RUBUS_AXIS_X | RUBUS_AXIS_Y, u, v, NULL, &x));
    number_is(x, 371, 0);
    ok(rubus_norm_h(s.space, u, NULL, &x));
    number_is(x, 15.443445211480501, 1e-15);
    ok(rubus_seminorm_1h(s.space, u, NULL, &x));
    number_is(x * x, 45, 1e-14);
    ok(rubus_seminorm_1h(s.space, v, NULL, &x));
    number_is(x * x, 63, 1e-14);
    ok(rubus_norm_1h(s.space, v, NULL, &x));
    number_is(x, 13.162446581088183, 1e-15);
    rubus_array_destroy(u);
    rubus_array_destroy(v);
    rubus_array_destroy(w);
    scene_close(&s);
}
END_TEST

static rubus_mesh *cube(rubus_context *context, int32_t ndim, uint64_t seed)
{
    const rubus_axis_desc axis = {.lower = -1, .upper = 4, .n = 4, .seed = seed};
    return mesh_of(context, RUBUS_F64, ndim, (rubus_axis_desc[]){axis, axis, axis});
}

START_TEST(test_case_10_06_weights_and_norms)
{
    scene s = scene_open(_i);
    double x = 0;
    rubus_array *u = NULL;
    rubus_array *v = NULL;
    rubus_mesh *plane = NULL;
    ok(rubus_mesh_create_box(s.context, RUBUS_F64, RUBUS_SHAPE(5, 6), (double[]){0, 0},
                             (double[]){.5, .6}, &plane));
    scene_mesh(&s, plane);
    ok(rubus_space_array(s.space, 0, &u));
    ok(rubus_space_weight(s.space, 0, u));
    double *w = probe_numbers(u);
    double sum = 0;
    for (int p = 0; p < 30; p++) {
        sum += w[p] * w[p];
    }
    number_is(sqrt(sum), 0.05952940449895328, 1e-14);
    free(w);
    rubus_array_destroy(u);
    for (int32_t ndim = 1; ndim <= 3; ndim++) {
        for (uint64_t seed = 0; seed < 3; seed++) {
            const double volume = pow(5, ndim);
            scene_mesh(&s, cube(s.context, ndim, seed));
            ok(rubus_space_array(s.space, 1, &u));
            ok(rubus_space_array(s.space, 2, &v));
            ok(rubus_norm_h(s.space, u, NULL, &x));
            number_is(x, sqrt(volume), 1e-14);
            ok(rubus_inner_h(s.space, u, v, NULL, &x));
            number_is(x, 2 * volume, 1e-14);
            rubus_array_destroy(v);
            double *from = malloc(64 * sizeof *from);
            for (int p = 0; p < 64; p++) {
                double at[3];
                rubus__state_point(s.mesh->state, p, at);
                from[p] = 2 * at[0];
            }
            v = probe_array(s.space, from);
            ok(rubus_seminorm_1h(s.space, v, NULL, &x));
            number_is(x * x, 4 * volume, 1e-13);
            free(from);
            rubus_array_destroy(u);
            rubus_array_destroy(v);
        }
    }
    scene_close(&s);
}
END_TEST

START_TEST(test_case_10_06_norms_in_3d)
{
    scene s = scene_open(_i);
    const rubus_axis_desc axis[3] = {axis_of(0, 1, 3), axis_of(0, 2, 3), axis_of(0, 1)};
    scene_mesh(&s, mesh_of(s.context, RUBUS_F64, 3, axis));
    double x = 0;
    double u[18];
    double v[18];
    for (int p = 0; p < 18; p++) {
        double at[3];
        rubus__state_point(s.mesh->state, p, at);
        u[p] = at[0] + 2 * at[1] + 3 * at[2];
        v[p] = at[0] * at[1] * at[2];
    }
    rubus_array *one = NULL;
    rubus_array *a = probe_array(s.space, u);
    rubus_array *b = probe_array(s.space, v);
    ok(rubus_space_array(s.space, 1, &one));
    ok(rubus_inner_h(s.space, one, one, NULL, &x));
    number_is(x, 9, 1e-15);
    ok(rubus_seminorm_1h(s.space, a, NULL, &x));
    number_is(x * x, 126, 1e-14);
    ok(rubus_seminorm_1h(s.space, b, NULL, &x));
    number_is(x * x, 141.75, 1e-14);
    ok(rubus_norm_h(s.space, b, NULL, &x));
    number_is(x, 7.424621202458749, 1e-15);
    ok(rubus_norm_1h(s.space, b, NULL, &x));
    number_is(x, 14.031215200402281, 1e-15);
    rubus_array_destroy(one);
    rubus_array_destroy(a);
    rubus_array_destroy(b);
    scene_close(&s);
}
END_TEST

START_TEST(test_case_10_07_faces_and_masks)
{
    scene s = scene_open(_i);
    double x = 0;
    rubus_array *u = NULL;
    scene_mesh(&s, mesh_013_023(s.context, RUBUS_F64));
    ok(rubus_space_array(s.space, 7, &u));
    ok(rubus_space_face_weight(s.space, NULL, u));
    array_is(u, 0, 1.5, 1.5, 2, 1.5, 0, 1.5, 1, 1.5, 1.5);
    ok(rubus_space_face_weight(s.space, "bottom", u));
    array_is(u, 0, .5, 1.5, 1, 0, 0, 0, 0, 0, 0);
    ok(rubus_space_face_weight(s.space, "left,bottom", u));
    array_is(u, 0, 1.5, 1.5, 1, 1.5, 0, 0, .5, 0, 0);
    rubus_array_destroy(u);
    rubus_mesh *plane = NULL;
    ok(rubus_mesh_create_box(s.context, RUBUS_F64, RUBUS_SHAPE(5, 5), (double[]){0, 0},
                             (double[]){1, 1}, &plane));
    scene_mesh(&s, plane);
    ok(rubus_space_array(s.space, 1, &u));
    ok(rubus_inner_h(s.space, u, u, "bottom", &x));
    number_is(x, 0.125, 0);
    ok(rubus_inner_h(s.space, u, u, "boundary", &x));
    number_is(x, 0.4375, 0);
    ok(rubus_inner_gamma(s.space, u, u, "bottom", &x));
    number_is(x, 1, 0);
    ok(rubus_inner_gamma(s.space, u, u, NULL, &x));
    number_is(x, 4, 0);
    rubus_array_destroy(u);
    scene_close(&s);
}
END_TEST

/* The sum over all points of the face weights is the area of the faces, in 3D as well. */
START_TEST(test_case_10_07_faces_in_3d)
{
    scene s = scene_open(_i);
    double x = 0;
    double sum = 0;
    rubus_array *one = NULL;
    rubus_array *w = NULL;
    const rubus_axis_desc axis[3] = {axis_of(0, 1, 3), axis_of(0, 2, 3),
                                     axis_of(0, 1, 5)};
    scene_mesh(&s, mesh_of(s.context, RUBUS_F64, 3, axis));
    ok(rubus_space_array(s.space, 1, &one));
    ok(rubus_space_array(s.space, 1, &w));
    ok(rubus_inner_gamma(s.space, one, one, NULL, &x));
    number_is(x, 2 * (15 + 15 + 9), 1e-15);
    ok(rubus_space_face_weight(s.space, "back,top", w));
    double *got = probe_numbers(w);
    for (int p = 0; p < 27; p++) {
        sum += got[p];
    }
    number_is(sum, 15 + 9, 1e-15);
    number_is(got[0], .5 * 1, 1e-15);          // w_y w_z... at (0, 0, 0): 1 * 0.5
    number_is(got[18], 1 * 2 + .5 * 1, 1e-15); // (0, 0, 5): back and top
    free(got);
    rubus_array_destroy(one);
    rubus_array_destroy(w);
    scene_close(&s);
}
END_TEST

START_TEST(test_case_10_08_cell_means)
{
    scene s = scene_open(_i);
    scene_mesh(&s, mesh_0135(s.context, RUBUS_F64));
    rubus_array *u = put(&s, "square", RUBUS_CELL_MEAN, NULL);
    array_is(u, 1e-14, 1.0 / 12, 1.75, 28.0 / 3, 61.0 / 3);
    rubus_array_destroy(u);
    u = put(&s, "growth", RUBUS_CELL_MEAN, NULL);
    array_is(u, 1e-12, 1.2974425414002566, 3.826889885487, 23.6045469671, 93.8150090694);
    rubus_array_destroy(u);
    scene_mesh(&s, mesh_013_023(s.context, RUBUS_F64));
    u = put(&s, "product", RUBUS_CELL_MEAN, NULL);
    array_is(u, 1e-14, .125, .625, 1.25, .4375, 2.1875, 4.375, .6875, 3.4375, 6.875);
    rubus_array_destroy(u);
    u = put(&s, "product", RUBUS_CELL_MEAN, "bottom");
    array_is(u, 1e-14, .125, .625, 1.25, 0, 0, 0, 0, 0, 0);
    rubus_array_destroy(u);
    scene_mesh(&s, uniform(s.context, 0, 1, 5));
    u = put(&s, "growth", RUBUS_CELL_MEAN, NULL);
    array_is(u, 1e-13, 1.0651876245346106, 1.2873718462055, 1.653018171256084,
             2.122517346139503, 2.555252275935576);
    rubus_array_destroy(u);
    scene_close(&s);
}
END_TEST

START_TEST(test_case_10_23_discrete_eigenfunction)
{
    static const double want[3] = {4.686291501015240, 4.871709919277647,
                                   4.918968216773005};
    scene s = scene_open(_i);
    for (int k = 0; k < 3; k++) {
        double x = 0;
        scene_mesh(&s, uniform(s.context, 0, 1, (4 << k) + 1));
        rubus_array *u = put(&s, "wave", RUBUS_POINT, NULL);
        ok(rubus_norm_h(s.space, u, NULL, &x));
        number_is(x * x, 0.5, 1e-14);
        ok(rubus_seminorm_1h(s.space, u, NULL, &x));
        number_is(x * x, want[k], 1e-13);
        rubus_array_destroy(u);
    }
    scene_close(&s);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("cases_grid");
    TCase *tc = tcase_create("cases");
    backends_add(tc, test_case_10_01_mesh_arrays);
    backends_add(tc, test_case_10_04_inner_products_in_1d);
    backends_add(tc, test_case_10_05_inner_products_in_2d);
    backends_add(tc, test_case_10_06_weights_and_norms);
    backends_add(tc, test_case_10_06_norms_in_3d);
    backends_add(tc, test_case_10_07_faces_and_masks);
    backends_add(tc, test_case_10_07_faces_in_3d);
    backends_add(tc, test_case_10_08_cell_means);
    backends_add(tc, test_case_10_23_discrete_eigenfunction);
    suite_add_tcase(s, tc);
    return s;
}

RUBUS_TEST_MAIN("cases_grid", suite)
