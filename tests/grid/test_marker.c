/* SPDX-License-Identifier: Apache-2.0 */
/* Labels, markers and masks on every backend. */
#include "config.h"

#include <check.h>

#include "tests/grid/grid_probe.h"

static const char text[] =
    "func real radius(real x, real y) { return sqrt(x^2 + y^2); }\n"
    "func bool inlet(real x, real y) { return x == 0 && y > 0.5; }\n"
    "func bool disc(real x, real y, real t) { return radius(x, y) <= t; }\n"
    "func bool line(real x) { return x > 0.5; }\n"
    "func bool ball(real x, real y, real z) { return x + y + z < 0.6; }\n"
    "func real wrong(real x, real y) { return x; }\n"
    "func bool ints(int x, int y) { return x < y; }\n"
    "func bool many(real x, real y, real t, real s) { return x < s; }\n"
    "func bool on_mesh(real x, real y) { return y < x; }\n";

static rubus_mesh *unit_square(rubus_context *context, int64_t nx, int64_t ny)
{
    rubus_mesh *mesh = NULL;
    ok(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(nx, ny), (double[]){0, 0},
                             (double[]){1, 1}, &mesh));
    return mesh;
}

/* Trap T17: left and right are faces of y in 3D. */
START_TEST(test_trap_17_faces_in_3d_have_their_counts)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = NULL;
    ok(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(3, 4, 5),
                             (double[]){0, 0, 0}, (double[]){1, 1, 1}, &mesh));
    static const struct {
        const char *labels;
        int count;
    } want[] = {{"left", 15},
                {"right", 15},
                {"back", 20},
                {"front", 20},
                {"bottom", 12},
                {"top", 12},
                {"ymin", 15},
                {"zmax", 12},
                {"boundary", 54},
                {"interior", 6},
                {"left,right", 30},
                {"back, left", 30},
                {"interior,boundary", 60}};
    for (size_t k = 0; k < sizeof want / sizeof want[0]; k++) {
        ck_assert_msg(probe_count(mesh, want[k].labels) == want[k].count, "%s: %lld",
                      want[k].labels, (long long)probe_count(mesh, want[k].labels));
    }
    rubus_array *mask = NULL;
    uint8_t host[60];
    ok(rubus_mesh_mask(mesh, "left", &mask));
    ok(rubus_array_read(mask, host, 60));
    for (int p = 0; p < 60; p++) {
        ck_assert_int_eq(host[p], p / 3 % 4 == 0); // y is 0
    }
    rubus_array_destroy(mask);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

START_TEST(mask_of_2d_and_1d_faces_is_theirs)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = unit_square(context, 3, 2);
    rubus_array *mask = NULL;
    ok(rubus_mesh_mask(mesh, "left", &mask));
    array_is(mask, 0, 1, 0, 0, 1, 0, 0);
    rubus_array_destroy(mask);
    ok(rubus_mesh_mask(mesh, " top ,xmax,, ", &mask));
    array_is(mask, 0, 0, 0, 1, 1, 1, 1);
    rubus_array_destroy(mask);
    rubus_mesh_destroy(mesh);
    mesh = mesh_0135(context, RUBUS_F32);
    ok(rubus_mesh_mask(mesh, "right", &mask));
    array_is(mask, 0, 0, 0, 0, 1);
    rubus_array_destroy(mask);
    ok(rubus_mesh_mask(mesh, "interior", &mask));
    array_is(mask, 0, 0, 1, 1, 0);
    rubus_array_destroy(mask);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

/* `boundary` leaves out an axis of one point; its faces are its only layer. */
START_TEST(boundary_leaves_a_single_layer_out)
{
    rubus_context *context = backends_open(_i);
    const rubus_axis_desc axis[2] = {{.upper = 1, .n = 4},
                                     {.lower = 2, .upper = 2, .n = 1}};
    rubus_mesh *mesh = mesh_of(context, RUBUS_F64, 2, axis);
    rubus_array *mask = NULL;
    ok(rubus_mesh_mask(mesh, "boundary", &mask));
    array_is(mask, 0, 1, 0, 0, 1);
    rubus_array_destroy(mask);
    ck_assert_int_eq(probe_count(mesh, "top"), 4);
    ck_assert_int_eq(probe_count(mesh, "bottom"), 4);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

static bool corner(void *user, const double *x, double t)
{
    (*(int *)user)++;
    return x[0] + x[1] < 0.3 + t;
}

START_TEST(marker_of_each_kind_has_its_points)
{
    rubus_context *context = backends_open(_i);
    rubus_module *module = backends_module(context, text, RUBUS_F32, 0);
    rubus_mesh *mesh = unit_square(context, 5, 5);
    int ncall = 0;
    ok(rubus_mesh_mark(mesh, "wall", "left, top"));
    ok(rubus_mesh_mark_func(mesh, "inlet", rubus_module_func(module, "inlet")));
    ok(rubus_mesh_mark_func(mesh, "disc", rubus_module_func(module, "disc")));
    ok(rubus_mesh_mark_func(mesh, "below", rubus_module_func(module, "on_mesh")));
    ok(rubus_mesh_mark_callback(mesh, "corner", corner, &ncall));
    ck_assert_int_eq(ncall, 25);
    rubus_module_destroy(module); // the mesh holds it
    ck_assert_int_eq(probe_count(mesh, "wall"), 9);
    ck_assert_int_eq(probe_count(mesh, "inlet"), 2);
    ck_assert_int_eq(probe_count(mesh, "disc"), 1);
    ck_assert_int_eq(probe_count(mesh, "below"), 10);
    ck_assert_int_eq(probe_count(mesh, "corner"), 3);
    ck_assert_int_eq(probe_count(mesh, "corner,wall"), 10);     // 2 are in both
    ck_assert_int_eq(probe_count(mesh, "wall,inlet"), 9);       // all of inlet
    ck_assert_int_eq(probe_count(mesh, "inlet,corner,top"), 9); // (0, 1) is in two
    ok(rubus_mesh_set_time(mesh, 0.5));
    ck_assert_int_eq(ncall, 50);
    ck_assert_uint_eq(rubus_mesh_version(mesh), 2);
    ck_assert_int_eq(probe_count(mesh, "disc"), 6);    // radius <= 1/2
    ck_assert_int_eq(probe_count(mesh, "corner"), 10); // x + y < 0.8
    ok(rubus_mesh_refine(mesh));
    ck_assert_int_eq(ncall, 50 + 81);
    ck_assert_int_eq(probe_count(mesh, "inlet"), 4);
    ck_assert_int_eq(probe_count(mesh, "wall"), 17);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

START_TEST(marker_funcs_work_in_1d_and_3d)
{
    rubus_context *context = backends_open(_i);
    rubus_module *module = backends_module(context, text, RUBUS_F64, 0);
    rubus_mesh *mesh = mesh_0135(context, RUBUS_F32);
    ok(rubus_mesh_mark_func(mesh, "l", rubus_module_func(module, "line")));
    ck_assert_int_eq(probe_count(mesh, "l"), 3);
    rubus_mesh_destroy(mesh);
    ok(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(3, 3, 3),
                             (double[]){0, 0, 0}, (double[]){1, 1, 1}, &mesh));
    ok(rubus_mesh_mark_func(mesh, "b", rubus_module_func(module, "ball")));
    ck_assert_int_eq(probe_count(mesh, "b"), 4);
    rubus_mesh_destroy(mesh);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

START_TEST(mask_is_made_once_for_a_version)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = unit_square(context, 9, 9);
    ck_assert_int_eq(probe_count(mesh, "left,top"), 17);
    const rubus_context_counters before = probe_counters(context);
    ck_assert_int_eq(probe_count(mesh, "top, left"), 17);
    ck_assert_int_eq(probe_count(mesh, "xmin,ymax"), 17);
    const rubus_context_counters after = probe_counters(context);
    ck_assert_uint_eq(after.launches, before.launches);
    ck_assert_uint_eq(after.live_buffers, before.live_buffers);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

static int nwarning;

static void count_warnings(void *user, int32_t level, const char *topic, const char *line)
{
    (void)user;
    if (level == 2 && strcmp(topic, "mesh") == 0 && strstr(line, "boundary") != NULL) {
        nwarning++;
    }
}

/* A marker called `boundary` is what counts from then on: a change, with a warning. */
START_TEST(marker_may_take_the_place_of_boundary)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = unit_square(context, 4, 4);
    nwarning = 0;
    rubus_log_set(count_warnings, NULL);
    ck_assert_int_eq(probe_count(mesh, "boundary"), 12);
    ok(rubus_mesh_mark(mesh, "boundary", "left"));
    rubus_log_set(NULL, NULL);
    ck_assert_int_eq(nwarning, 1);
    ck_assert_uint_eq(rubus_mesh_version(mesh), 2);
    ck_assert_int_eq(probe_count(mesh, "boundary"), 4);
    ck_assert_int_eq(probe_count(mesh, "interior"), 12);
    rubus_mesh_destroy(mesh);
    mesh = unit_square(context, 4, 4);
    int ncall = 0;
    ok(rubus_mesh_mark_callback(mesh, "boundary", corner, &ncall));
    ck_assert_int_eq(probe_count(mesh, "boundary"), 1);
    ck_assert_int_eq(probe_count(mesh, "interior"), 15);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

START_TEST(marker_that_is_wrong_is_refused)
{
    rubus_context *context = backends_open(_i);
    rubus_module *module = backends_module(context, text, RUBUS_F64, 0);
    rubus_mesh *mesh = unit_square(context, 4, 4);
    rubus_array *mask = NULL;
    ok(rubus_mesh_mark(mesh, "wall", "left"));
    fails(rubus_mesh_mark(mesh, "wall", "top"), RUBUS_EINVAL, "a marker `wall` already");
    fails(rubus_mesh_mark(mesh, "a,b", "top"), RUBUS_EINVAL, "rubus_mesh_mark|a,b");
    fails(rubus_mesh_mark(mesh, NULL, "top"), RUBUS_EINVAL, "NULL");
    fails(rubus_mesh_mark(mesh, "", "top"), RUBUS_EINVAL, "a label is a name");
    fails(rubus_mesh_mark(mesh, "a", NULL), RUBUS_EINVAL, "NULL");
    fails(rubus_mesh_mark(mesh, "a", " "), RUBUS_EINVAL, "names no face");
    fails(rubus_mesh_mark(mesh, "a", "left,front"), RUBUS_ENOTFOUND,
          "2 axes|`front`|left, right, bottom, top, xmin, xmax, ymin, ymax");
    fails(rubus_mesh_mark(NULL, "a", "left"), RUBUS_EINVAL, "mesh is NULL");
    fails(rubus_mesh_mark_callback(mesh, "a", NULL, NULL), RUBUS_EINVAL, "NULL");
    fails(rubus_mesh_mark_func(mesh, "a", rubus_module_func(module, "wrong")),
          RUBUS_EINVAL, "`wrong`|2 axes|func bool wrong(real x, real y [, real t])");
    fails(rubus_mesh_mark_func(mesh, "a", rubus_module_func(module, "ints")),
          RUBUS_EINVAL, "`ints`");
    fails(rubus_mesh_mark_func(mesh, "a", rubus_module_func(module, "line")),
          RUBUS_EINVAL, "`line`");
    fails(rubus_mesh_mark_func(mesh, "a", rubus_module_func(module, "many")),
          RUBUS_EINVAL, "`many`");
    fails(rubus_mesh_mark_func(mesh, "a", rubus_module_func(module, "inlt")),
          RUBUS_ENOTFOUND, "no func `inlt`|`inlet`");
    fails(rubus_mesh_mask(mesh, "wall,outlet", &mask), RUBUS_ENOTFOUND,
          "`outlet`|wall, boundary, interior, left");
    fails(rubus_mesh_mask(mesh, " ,", &mask), RUBUS_EINVAL, "no label");
    fails(rubus_mesh_mask(mesh, NULL, &mask), RUBUS_EINVAL, "NULL");
    fails(rubus_mesh_mask(mesh, "wall", NULL), RUBUS_EINVAL, "out_mask");
    rubus_context *other = backends_open(_i);
    rubus_module *foreign = backends_module(other, text, RUBUS_F64, 0);
    fails(rubus_mesh_mark_func(mesh, "a", rubus_module_func(foreign, "inlet")),
          RUBUS_EFOREIGN, "`inlet`|another context");
    rubus_module_destroy(foreign);
    rubus_context_destroy(other);
    ck_assert_uint_eq(rubus_mesh_version(mesh), 1);
    ck_assert_int_eq(probe_count(mesh, "wall"), 4);
    rubus_module_destroy(module);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

START_TEST(marker_list_of_a_mesh_is_read_and_limited)
{
    rubus_context *context = backends_open(_i);
    rubus_module *module = backends_module(context, text, RUBUS_F64, 0);
    rubus_marker_desc marker[3] = {
        {.label = "wall", .faces = "left,right"},
        {.label = "disc", .func = rubus_module_func(module, "disc")},
        {.label = "two", .faces = "top", .func = rubus_module_func(module, "inlet")}};
    rubus_mesh_desc desc = {.struct_size = sizeof desc, .ndim = 2, .time = 0.5};
    desc.axis[0] = (rubus_axis_desc){.upper = 1, .n = 5};
    desc.axis[1] = desc.axis[0];
    desc.marker = marker;
    desc.nmarker = 3;
    rubus_mesh *mesh = NULL;
    fails(rubus_mesh_create(context, &desc, &mesh), RUBUS_EINVAL, "`two` has 2 rules");
    marker[2].label = "disc";
    fails(rubus_mesh_create(context, &desc, &mesh), RUBUS_EINVAL, "`disc` already");
    desc.nmarker = 2;
    ok(rubus_mesh_create(context, &desc, &mesh));
    ck_assert_int_eq(probe_count(mesh, "disc"), 6);
    ck_assert_int_eq(probe_count(mesh, "wall"), 10);
    for (int k = 2; k < RUBUS__MARKERS_MOST; k++) {
        char label[16];
        snprintf(label, sizeof label, "m%d", k);
        ok(rubus_mesh_mark_func(mesh, label, rubus_module_func(module, "inlet")));
    }
    ck_assert_int_eq(probe_count(mesh, "m63"), 2); // bit 63 of the set
    fails(rubus_mesh_mark(mesh, "m64", "top"), RUBUS_ELIMIT, "64 markers|`m64`");
    rubus_module_destroy(module);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("marker");
    TCase *tc = tcase_create("marker");
    backends_add(tc, test_trap_17_faces_in_3d_have_their_counts);
    backends_add(tc, mask_of_2d_and_1d_faces_is_theirs);
    backends_add(tc, boundary_leaves_a_single_layer_out);
    backends_add(tc, marker_of_each_kind_has_its_points);
    backends_add(tc, marker_funcs_work_in_1d_and_3d);
    backends_add(tc, mask_is_made_once_for_a_version);
    backends_add(tc, marker_may_take_the_place_of_boundary);
    backends_add(tc, marker_that_is_wrong_is_refused);
    backends_add(tc, marker_list_of_a_mesh_is_read_and_limited);
    suite_add_tcase(s, tc);
    return s;
}

RUBUS_TEST_MAIN("marker", suite)
