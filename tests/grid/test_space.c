/* SPDX-License-Identifier: Apache-2.0 */
/* Spaces and their grid functions on every backend. */
#include "config.h"

#include <check.h>

#include "tests/grid/grid_probe.h"

START_TEST(space_arrays_have_shape_and_value)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_013_023(context, RUBUS_F32);
    rubus_space *one = space_of(mesh, 1);
    rubus_space *two = space_of(mesh, 2);
    rubus_array *u = NULL;
    rubus_array *v = NULL;
    rubus_array *w = NULL;
    ok(rubus_space_array(one, 2.5, &u));
    array_is(u, 0, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5);
    ck_assert_int_eq(rubus_array_shape(u).rank, 2);
    ck_assert_int_eq(rubus_array_type(u), RUBUS_F32);
    ok(RUBUS_ARRAYS(two, &v, &w));
    const rubus_shape shape = rubus_array_shape(v);
    ck_assert_int_eq(shape.rank, 3);
    ck_assert_int_eq(shape.n[2], 2);
    ck_assert_int_eq(rubus_space_shape(two).rank, 3);
    ck_assert_int_eq(rubus_space_ncomponent(two), 2);
    ck_assert_ptr_eq(rubus_space_mesh(two), mesh);
    ok(rubus_array_fill(v, 1));
    rubus_array *window = NULL;
    ok(rubus_space_component(two, v, 1, &window));
    ck_assert_int_eq(rubus_array_shape(window).rank, 2);
    ok(rubus_array_copy(window, u));
    array_is(v, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5,
             2.5);
    rubus_array_destroy(window);
    rubus_array_destroy(u);
    rubus_array_destroy(v);
    rubus_array_destroy(w);
    rubus_space_destroy(one);
    rubus_mesh_destroy(mesh); // the other space holds it
    ck_assert_int_eq(rubus_mesh_ndim(rubus_space_mesh(two)), 2);
    rubus_space_destroy(two);
    rubus_space_destroy(NULL);
    backends_finish(context);
}
END_TEST

/* ((a, b), c) counts its components depth first. */
START_TEST(space_product_of_products_counts_components)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_0135(context, RUBUS_F64);
    rubus_space *a = space_of(mesh, 1);
    rubus_space *b = space_of(mesh, 2);
    rubus_space *inside = NULL;
    rubus_space *tree = NULL;
    ok(rubus_space_create_product(2, (rubus_space *[]){a, b}, &inside));
    ok(rubus_space_create_product(2, (rubus_space *[]){inside, a}, &tree));
    ck_assert_int_eq(rubus_space_ncomponent(tree), 4);
    rubus_array *u = NULL;
    ok(rubus_space_array(tree, 0, &u));
    ck_assert_int_eq(rubus_array_count(u), 16);
    rubus_array_destroy(u);
    rubus_mesh *second = mesh_0135(context, RUBUS_F64);
    rubus_space *c = space_of(second, 1);
    fails(rubus_space_create_product(2, (rubus_space *[]){a, c}, &tree), RUBUS_EINVAL,
          "space 1 is on another mesh");
    fails(rubus_space_create_product(0, (rubus_space *[]){a}, &tree), RUBUS_EINVAL,
          "0 spaces");
    fails(rubus_space_create_product(1, (rubus_space *[]){NULL}, &tree), RUBUS_EINVAL,
          "space is NULL");
    rubus_context *other = backends_open(_i);
    rubus_mesh *third = mesh_0135(other, RUBUS_F64);
    rubus_space *d = space_of(third, 1);
    fails(rubus_space_create_product(2, (rubus_space *[]){a, d}, &tree), RUBUS_EFOREIGN,
          "space 1|space 0|another context");
    ok(rubus_mesh_refine(mesh));
    rubus_space *fresh = space_of(mesh, 1);
    rubus_space *mixed = NULL;
    fails(rubus_space_create_product(2, (rubus_space *[]){fresh, a}, &mixed),
          RUBUS_ESTALE, "version 1|version 2");
    rubus_space_destroy(fresh);
    rubus_space_destroy(d);
    rubus_mesh_destroy(third);
    rubus_context_destroy(other);
    rubus_space_destroy(a);
    rubus_space_destroy(b);
    rubus_space_destroy(c);
    rubus_space_destroy(inside);
    rubus_space_destroy(tree);
    rubus_mesh_destroy(mesh);
    rubus_mesh_destroy(second);
    backends_finish(context);
}
END_TEST

/* Trap T18: after each change of the mesh every call with an old space says so. */
START_TEST(test_trap_18_stale_space_is_refused_everywhere)
{
    rubus_context *context = backends_open(_i);
    rubus_module *module =
        backends_module(context, "func real f(real x) { return x; }\n", RUBUS_F64, 0);
    const rubus_func *f = rubus_module_func(module, "f");
    rubus_mesh *mesh = mesh_0135(context, RUBUS_F64);
    rubus_space *space = space_of(mesh, 1);
    rubus_array *u = NULL;
    rubus_array *w = NULL;
    double x = 7;
    ok(rubus_space_array(space, 1, &u));
    ok(rubus_mesh_set_points(mesh, 0, 4, (double[]){0, 2, 3, 5}));
    static const char both[] = "version 1|version 2";
    fails(rubus_space_array(space, 0, &w), RUBUS_ESTALE, both);
    fails(RUBUS_ARRAYS(space, &w), RUBUS_ESTALE, both);
    fails(rubus_space_component(space, u, 0, &w), RUBUS_ESTALE, both);
    fails(rubus_project(space, f, RUBUS_POINT, NULL, 0, u), RUBUS_ESTALE, both);
    fails(rubus_inner_h(space, u, u, NULL, &x), RUBUS_ESTALE, "rubus_inner_h|version 1");
    fails(rubus_inner_plus(space, u, u, NULL, &x), RUBUS_ESTALE, both);
    fails(rubus_inner_axes(space, 1, u, u, NULL, &x), RUBUS_ESTALE, both);
    fails(rubus_inner_gamma(space, u, u, NULL, &x), RUBUS_ESTALE, both);
    fails(rubus_norm_h(space, u, NULL, &x), RUBUS_ESTALE, both);
    fails(rubus_norm_plus(space, u, NULL, &x), RUBUS_ESTALE, both);
    fails(rubus_seminorm_1h(space, u, NULL, &x), RUBUS_ESTALE, both);
    fails(rubus_norm_1h(space, u, NULL, &x), RUBUS_ESTALE, both);
    fails(rubus_norm_inf(space, u, NULL, &x), RUBUS_ESTALE, both);
    fails(rubus_space_weight(space, 0, u), RUBUS_ESTALE, both);
    fails(rubus_space_face_weight(space, NULL, u), RUBUS_ESTALE, both);
    ck_assert_double_eq(x, 7);
    ck_assert_ptr_null(w);
    array_is(u, 0, 1, 1, 1, 1);
    rubus_space_destroy(space);
    space = space_of(mesh, 1);
    ok(rubus_inner_h(space, u, u, NULL, &x));
    number_is(x, 5, 0);
    ok(rubus_mesh_mark(mesh, "inside", "left")); // a new label changes nothing
    ok(rubus_inner_h(space, u, u, "inside", &x));
    number_is(x, 1, 0);
    rubus_space_destroy(space);
    rubus_array_destroy(u);
    rubus_mesh_destroy(mesh);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

START_TEST(space_refuses_what_does_not_fit)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_013_023(context, RUBUS_F64);
    rubus_space *one = space_of(mesh, 1);
    rubus_space *two = space_of(mesh, 2);
    rubus_space *none = NULL;
    rubus_array *u = NULL;
    rubus_array *narrow = NULL;
    rubus_array *short1 = NULL;
    rubus_array *w = NULL;
    double x = 0;
    ok(rubus_space_array(one, 1, &u));
    ok(rubus_array_create(context, RUBUS_F32, RUBUS_SHAPE(3, 3), &narrow));
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(9), &short1));
    fails(rubus_space_create(mesh, 0, &none), RUBUS_EINVAL, "0 components");
    fails(rubus_space_create(NULL, 1, &none), RUBUS_EINVAL, "mesh is NULL");
    fails(rubus_space_create(mesh, INT32_MAX, &none), RUBUS_ELIMIT,
          "2147483647|9 points");
    fails(rubus_space_array(NULL, 1, &w), RUBUS_EINVAL, "space is NULL");
    fails(rubus_space_array(one, 1, NULL), RUBUS_EINVAL, "out_array");
    fails(RUBUS_ARRAYS(one, &w, NULL), RUBUS_EINVAL, "pointer 1 is NULL");
    fails(rubus_space_arrays(one, 0, NULL), RUBUS_EINVAL, "no pointers");
    fails(rubus_space_component(two, u, 0, &w), RUBUS_ESHAPE, "u is 3 x 3|3 x 3 x 2");
    fails(rubus_space_component(one, u, 1, &w), RUBUS_EINVAL, "component 1|with 1");
    fails(rubus_space_component(one, u, 0, NULL), RUBUS_EINVAL, "out_window");
    fails(rubus_inner_h(one, u, short1, NULL, &x), RUBUS_ESHAPE, "v is 9");
    fails(rubus_inner_h(one, narrow, u, NULL, &x), RUBUS_ETYPE, "u|f32|f64");
    fails(rubus_inner_h(one, u, NULL, NULL, &x), RUBUS_EINVAL, "v is NULL");
    fails(rubus_inner_h(one, u, u, NULL, NULL), RUBUS_EINVAL, "value is NULL");
    fails(rubus_inner_h(NULL, u, u, NULL, &x), RUBUS_EINVAL, "space is NULL");
    rubus_context *other = backends_open(_i);
    rubus_array *foreign = NULL;
    ok(rubus_array_create(other, RUBUS_F64, RUBUS_SHAPE(3, 3), &foreign));
    fails(rubus_norm_inf(one, foreign, NULL, &x), RUBUS_EFOREIGN, "u lives on|the space");
    fails(rubus_space_weight(one, 0, foreign), RUBUS_EFOREIGN, "rubus_space_weight");
    rubus_array_destroy(foreign);
    rubus_context_destroy(other);
    ck_assert_int_eq(rubus_space_ncomponent(NULL), 0);
    ck_assert_int_eq(rubus_space_shape(NULL).rank, 0);
    ck_assert_ptr_null(rubus_space_mesh(NULL));
    rubus_array_destroy(u);
    rubus_array_destroy(narrow);
    rubus_array_destroy(short1);
    rubus_space_destroy(one);
    rubus_space_destroy(two);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("space");
    TCase *tc = tcase_create("space");
    backends_add(tc, space_arrays_have_shape_and_value);
    backends_add(tc, space_product_of_products_counts_components);
    backends_add(tc, test_trap_18_stale_space_is_refused_everywhere);
    backends_add(tc, space_refuses_what_does_not_fit);
    suite_add_tcase(s, tc);
    return s;
}

RUBUS_TEST_MAIN("space", suite)
