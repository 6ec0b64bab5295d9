/* SPDX-License-Identifier: Apache-2.0 */
/* Sets, axes and meshes on every backend: arrays, changes, points found, what is
 * refused. */
#include "config.h"

#include <check.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/grid/grid_probe.h"

/* --- sets ------------------------------------------------------------------------- */

START_TEST(set_constructors_give_their_bounds)
{
    rubus_set x;
    rubus_set y;
    rubus_set all;
    double centre[3];
    ok(rubus_set_interval(-1, 3, &x));
    ok(rubus_set_box(2, (double[]){2, 0}, (double[]){0, 5}, &y));
    ck_assert_double_eq(y.lower[0], 0);
    ck_assert_double_eq(y.upper[0], 2);
    ok(rubus_set_product(&x, &y, &all));
    ck_assert_int_eq(all.ndim, 3);
    ck_assert_double_eq(all.upper[2], 5);
    ok(rubus_set_centre(&all, centre));
    ck_assert_double_eq(centre[0], 1);
    ck_assert_double_eq(centre[1], 1);
    ck_assert_double_eq(centre[2], 2.5);
    ck_assert(rubus_set_contains(&all, (double[]){-1, 2, 5}));
    ck_assert(!rubus_set_contains(&all, (double[]){-1, 2, 5.5}));
    ck_assert(!rubus_set_contains(&all, (double[]){(double)NAN, 1, 1}));
    ok(rubus_set_axis(&all, 2, &x));
    ck_assert_int_eq(x.ndim, 1);
    ck_assert_double_eq(x.upper[0], 5);
    ok(rubus_set_box(2, (double[]){1, 4}, (double[]){2, 4}, &y));
    ck_assert_int_eq(rubus_set_topological_ndim(&y), 1);
    y.upper[1] = 4 + 1e-9; // under 1.5e-8 of 4: a rounding error
    ck_assert_int_eq(rubus_set_topological_ndim(&y), 1);
    y.upper[1] = 4 + 1e-6;
    ck_assert_int_eq(rubus_set_topological_ndim(&y), 2);
}
END_TEST

START_TEST(set_that_is_none_is_refused)
{
    rubus_set a;
    rubus_set b;
    const double nan1 = (double)NAN;
    fails(rubus_set_interval(2, 1, &a), RUBUS_EINVAL, "rubus_set_interval|[2, 1]");
    fails(rubus_set_interval(nan1, 1, &a), RUBUS_EINVAL, "nan");
    fails(rubus_set_interval(0, 1, NULL), RUBUS_EINVAL, "NULL");
    fails(rubus_set_box(4, &nan1, &nan1, &a), RUBUS_EINVAL, "4 axes");
    fails(rubus_set_box(1, &nan1, &nan1, &a), RUBUS_EINVAL, "nan|axis 0");
    ok(rubus_set_box(2, (double[]){0, 0}, (double[]){1, 1}, &a));
    fails(rubus_set_product(&a, &a, &b), RUBUS_EINVAL, "over 3");
    fails(rubus_set_product(NULL, &a, &b), RUBUS_EINVAL, "NULL");
    fails(rubus_set_axis(&a, 2, &b), RUBUS_EINVAL, "axis 2 of a set with 2");
    fails(rubus_set_axis(&a, 0, NULL), RUBUS_EINVAL, "NULL");
    fails(rubus_set_centre(&a, NULL), RUBUS_EINVAL, "rubus_set_centre");
    ck_assert(!rubus_set_contains(NULL, &nan1));
    ck_assert_int_eq(rubus_set_topological_ndim(NULL), 0);
}
END_TEST

/* --- axes ------------------------------------------------------------------------- */

/* The device's points and arrays are the host's formulas, to the bit, in both types. */
static void check_uniform(rubus_context *context, int32_t type, double a, double b, int n)
{
    rubus_mesh *mesh =
        mesh_of(context, type, 1, &(rubus_axis_desc){.lower = a, .upper = b, .n = n});
    double *x = malloc((size_t)n * 8);
    double *want = calloc((size_t)n + 1, sizeof *want);
    ok(rubus_mesh_points(mesh, 0, x, n));
    ck_assert_double_eq(x[n - 1], rubus__round_to(type, b));
    probe_axis(mesh, 0, RUBUS_MESH_POINTS, x, n, 0, "x");
    for (int i = 0; i < n; i++) { // in the type: every step is rounded
        const double below = i > 0 ? rubus__round_to(type, x[i] - x[i - 1]) : 0;
        const double above = i + 1 < n ? rubus__round_to(type, x[i + 1] - x[i]) : 0;
        want[i] = rubus__round_to(type, below + above) / 2;
    }
    probe_axis(mesh, 0, RUBUS_MESH_CELLS, want, n, 0, "w");
    for (int i = 0; i <= n; i++) {
        want[i] = i == 0 ? x[0]
                  : i == n
                      ? x[n - 1]
                      : rubus__round_to(type, rubus__round_to(type, x[i - 1] + x[i]) / 2);
    }
    probe_axis(mesh, 0, RUBUS_MESH_MIDDLES, want, n + 1, 0, "q");
    ck_assert(rubus_mesh_is_uniform(mesh, 0));
    free(x);
    free(want);
    rubus_mesh_destroy(mesh);
}

START_TEST(axis_uniform_has_the_bits_of_the_formula)
{
    rubus_context *context = backends_open(_i);
    for (int32_t type = RUBUS_F32; type <= RUBUS_F64; type++) {
        check_uniform(context, type, 0, 1, 2);
        check_uniform(context, type, 0.1, 0.7, 13);
        check_uniform(context, type, -1, 4, 1000);
        check_uniform(context, type, 1.0 / 3, 1e3, 4097);
    }
    backends_finish(context);
}
END_TEST

START_TEST(axis_of_one_point_has_weight_one)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_of(context, RUBUS_F64, 1,
                               &(rubus_axis_desc){.lower = 2, .upper = 2, .n = 1});
    axis_is(mesh, 0, RUBUS_MESH_POINTS, 0, 2);
    axis_is(mesh, 0, RUBUS_MESH_SPACING, 0, 0);
    axis_is(mesh, 0, RUBUS_MESH_FORWARD, 0, 0);
    axis_is(mesh, 0, RUBUS_MESH_CELLS, 0, 1);
    axis_is(mesh, 0, RUBUS_MESH_ALIGNED, 0, 0);
    axis_is(mesh, 0, RUBUS_MESH_MIDDLES, 0, 2, 2);
    probe_axis(mesh, 0, RUBUS_MESH_STAR, NULL, 0, 0, "s");
    ck_assert_double_eq(rubus_mesh_hmax(mesh), 0);
    ok(rubus_mesh_refine(mesh));
    ck_assert_int_eq(rubus_mesh_shape(mesh).n[0], 1);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

/* The first of a known sequence, the same on the interpreter, and always different
 * numbers that increase. */
START_TEST(test_trap_22_axis_random_depends_on_its_seed_alone)
{
    rubus_context *context = backends_open(_i);
    rubus_context *host = backends_open(0);
    rubus_array *noise = NULL;
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(100), &noise));
    double x[3][20];
    for (int k = 0; k < 3; k++) {
        rubus_mesh *mesh = mesh_of(
            k == 1 ? host : context, RUBUS_F64, 1,
            &(rubus_axis_desc){.upper = 1, .n = 20, .seed = k < 2 ? 12345 : 12346});
        ok(rubus_mesh_points(mesh, 0, x[k], 20));
        probe_axis(mesh, 0, RUBUS_MESH_POINTS, x[k], 20, 0, "x");
        ck_assert(!rubus_mesh_is_uniform(mesh, 0));
        rubus_mesh_destroy(mesh);
        ok(rubus_array_random(noise, 7, 0, 1)); // other launches do not change it
    }
    ck_assert_mem_eq(x[0], x[1], sizeof x[0]);
    ck_assert_mem_ne(x[0], x[2], sizeof x[0]);
    ck_assert_double_eq(x[0][0], 0);
    ck_assert_double_eq(x[0][19], 1);
    number_is(x[0][1], 0.01654784823767841, 1e-15);
    number_is(x[0][2], 0.02040268573909998, 1e-15);
    number_is(x[0][3], 0.03985431743785739, 1e-15);
    // in f32 many of 20000 fall together, and are drawn again
    rubus_mesh *many = mesh_of(context, RUBUS_F32, 1,
                               &(rubus_axis_desc){.upper = 1, .n = 20000, .seed = 5});
    double *y = malloc(20000 * 8);
    ok(rubus_mesh_points(many, 0, y, 20000));
    for (int i = 1; i < 20000; i++) {
        ck_assert_double_gt(y[i], y[i - 1]);
    }
    free(y);
    rubus_mesh_destroy(many);
    rubus_array_destroy(noise);
    rubus_context_destroy(host);
    backends_finish(context);
}
END_TEST

/* --- what is refused -------------------------------------------------------------- */

static rubus_status try_axis(rubus_context *context, int32_t type, rubus_axis_desc axis)
{
    const rubus_mesh_desc desc = {
        .struct_size = sizeof desc, .ndim = 1, .type = type, .axis = {axis}};
    rubus_mesh *mesh = NULL;
    const rubus_status st = rubus_mesh_create(context, &desc, &mesh);
    ck_assert_ptr_null(mesh);
    return st;
}

START_TEST(mesh_of_bad_axes_is_refused)
{
    rubus_context *context = backends_open(_i);
    const double inf = (double)INFINITY;
    const rubus_axis_desc down = {.lower = 1, .upper = 0, .n = 3};
    const rubus_axis_desc open = {.upper = inf, .n = 3};
    const rubus_axis_desc none = {.upper = 1, .n = 0};
    const rubus_axis_desc one = {.upper = 1, .n = 1};
    const rubus_axis_desc flat = {.lower = 1, .upper = 1, .n = 2};
    const rubus_axis_desc huge = {.upper = 1, .n = INT64_C(3000000000)};
    const rubus_axis_desc dense = {.lower = 1, .upper = 1.001, .n = 20000};
    const rubus_axis_desc crowd = {.lower = 1, .upper = 1.001, .n = 9000, .seed = 1};
    fails(try_axis(context, 0, down), RUBUS_EINVAL, "rubus_mesh_create|axis 0|[1, 0]");
    fails(try_axis(context, 0, open), RUBUS_EINVAL, "inf");
    fails(try_axis(context, 0, none), RUBUS_EINVAL, "axis 0 has 0 points");
    fails(try_axis(context, 0, one), RUBUS_EINVAL, "1 point|without length");
    fails(try_axis(context, 0, flat), RUBUS_EINVAL, "2 points|without length");
    fails(try_axis(context, 0, huge), RUBUS_ELIMIT, "3000000000");
    fails(try_axis(context, RUBUS_F32, dense), RUBUS_EINVAL, "does not lie above|f32");
    fails(try_axis(context, RUBUS_F32, crowd), RUBUS_ELIMIT, "cannot all differ in f32");
    fails(try_axis(context, 0, axis_of(0, 1, 1, 2)), RUBUS_EINVAL, "point 2 of axis 0|1");
    fails(try_axis(context, 0, axis_of(3, 2)), RUBUS_EINVAL, "point 1 of axis 0");
    fails(try_axis(context, 0, axis_of(0, inf)), RUBUS_EINVAL, "inf");
    rubus_axis_desc outside = axis_of(0, 1, 3);
    outside.upper = 2;
    fails(try_axis(context, 0, outside), RUBUS_EINVAL, "point 2|3|outside|[0, 2]");
    outside.lower = 0.5;
    outside.upper = 4;
    fails(try_axis(context, 0, outside), RUBUS_EINVAL, "point 0|outside");
    fails(try_axis(context, 7, axis_of(0, 1)), RUBUS_EINVAL, "RUBUS_F32 or RUBUS_F64");
    backends_finish(context);
}
END_TEST

START_TEST(mesh_of_bad_descriptions_is_refused)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = NULL;
    rubus_mesh_desc desc = {.struct_size = sizeof desc, .ndim = 4};
    fails(rubus_mesh_create(context, NULL, &mesh), RUBUS_EINVAL, "description is NULL");
    fails(rubus_mesh_create(context, &desc, &mesh), RUBUS_EINVAL, "4 axes");
    desc.ndim = 1;
    desc.axis[0] = axis_of(0, 1);
    fails(rubus_mesh_create(NULL, &desc, &mesh), RUBUS_EINVAL, "context is NULL");
    fails(rubus_mesh_create(context, &desc, NULL), RUBUS_EINVAL, "out_mesh is NULL");
    desc.time = (double)NAN;
    fails(rubus_mesh_create(context, &desc, &mesh), RUBUS_EINVAL, "time is nan");
    desc.time = 0;
    desc.nmarker = 1;
    fails(rubus_mesh_create(context, &desc, &mesh), RUBUS_EINVAL,
          "list of markers is NULL");
    desc.struct_size = 0;
    fails(rubus_mesh_create(context, &desc, &mesh), RUBUS_EINVAL, "struct_size");
    const double corner[3] = {0, 0, 0};
    const double other[3] = {1, 1, 1};
    fails(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(3, 3, 3, 3), corner,
                                other, &mesh),
          RUBUS_EINVAL, "rubus_mesh_create_box");
    // three axes that fit one by one
    fails(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(2000, 2000, 2000), corner,
                                other, &mesh),
          RUBUS_ELIMIT, "2^31");
    ck_assert_ptr_null(mesh);
    backends_finish(context);
}
END_TEST

/* --- changes ---------------------------------------------------------------------- */

START_TEST(mesh_refined_has_all_sizes_and_masks)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = NULL;
    ok(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(3, 4, 2),
                             (double[]){1, 0, 0}, (double[]){0, 3, 1}, &mesh));
    ck_assert_int_eq(probe_count(mesh, "boundary"), 24);
    ck_assert_uint_eq(rubus_mesh_version(mesh), 1);
    ok(rubus_mesh_refine(mesh));
    ck_assert_uint_eq(rubus_mesh_version(mesh), 2);
    const rubus_shape shape = rubus_mesh_shape(mesh);
    ck_assert_int_eq(shape.rank, 3);
    ck_assert_int_eq(shape.n[0], 5);
    ck_assert_int_eq(shape.n[1], 7);
    ck_assert_int_eq(shape.n[2], 3);
    ck_assert_int_eq(probe_count(mesh, "boundary"), 5 * 7 * 3 - 3 * 5 * 1);
    ck_assert_int_eq(probe_count(mesh, "interior"), 15);
    ck_assert_int_eq(probe_count(mesh, "bottom"), 35);
    axis_is(mesh, 0, RUBUS_MESH_POINTS, 0, 0, .25, .5, .75, 1);
    axis_is(mesh, 2, RUBUS_MESH_CELLS, 0, .25, .5, .25);
    number_is(rubus_mesh_hmax(mesh), sqrt(.25 * .25 + .25 + .25), 1e-15);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

START_TEST(mesh_points_that_cannot_be_set_leave_it_as_it_was)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_013_023(context, RUBUS_F64);
    ok(rubus_mesh_set_points(mesh, 0, 3, (double[]){0, 2, 3}));
    ck_assert_uint_eq(rubus_mesh_version(mesh), 2);
    axis_is(mesh, 0, RUBUS_MESH_POINTS, 0, 0, 2, 3);
    axis_is(mesh, 0, RUBUS_MESH_SPACING, 0, 2, 2, 1);
    ok(rubus_mesh_set_points(mesh, 1, 3, (double[]){0.5, 1, 2})); // inside is enough
    fails(rubus_mesh_set_points(mesh, 0, 4, (double[]){0, 1, 2, 3}), RUBUS_ESHAPE,
          "rubus_mesh_set_points|4 points|axis 0|3");
    fails(rubus_mesh_set_points(mesh, 0, 3, (double[]){0, 2, 2}), RUBUS_EINVAL,
          "point 2 of axis 0");
    fails(rubus_mesh_set_points(mesh, 0, 3, (double[]){0, 2, 3.5}), RUBUS_EINVAL,
          "point 2|outside");
    fails(rubus_mesh_set_points(mesh, 2, 3, (double[]){0, 2, 3}), RUBUS_EINVAL, "axis 2");
    fails(rubus_mesh_set_points(mesh, 0, 3, NULL), RUBUS_EINVAL, "NULL");
    fails(rubus_mesh_set_time(mesh, (double)NAN), RUBUS_EINVAL, "nan");
    fails(rubus_mesh_set_time(NULL, 1), RUBUS_EINVAL, "mesh is NULL");
    fails(rubus_mesh_refine(NULL), RUBUS_EINVAL, "rubus_mesh_refine|NULL");
    ck_assert_uint_eq(rubus_mesh_version(mesh), 3);
    axis_is(mesh, 0, RUBUS_MESH_POINTS, 0, 0, 2, 3);
    rubus_mesh_destroy(mesh);
    // points that fall together when halved
    const double one = 1;
    rubus_mesh *fine =
        mesh_of(context, RUBUS_F64, 1, &axis_of(one, nextafter(one, 2), 2));
    fails(rubus_mesh_refine(fine), RUBUS_EINVAL, "does not lie above");
    ck_assert_uint_eq(rubus_mesh_version(fine), 1);
    rubus_mesh_destroy(fine);
    backends_finish(context);
}
END_TEST

/* --- questions -------------------------------------------------------------------- */

/* The same answer around every point, on uniform and other axes. */
START_TEST(locate_gives_the_last_point_not_beyond)
{
    rubus_context *context = backends_open(_i);
    enum { N = 301 };
    double x[N];
    for (int kind = 0; kind < 2; kind++) {
        const rubus_axis_desc axis = {
            .lower = 0.1, .upper = 0.7, .n = N, .seed = (uint64_t)kind};
        rubus_mesh *mesh = mesh_of(context, RUBUS_F64, 1, &axis);
        ok(rubus_mesh_points(mesh, 0, x, N));
        for (int i = 0; i < N; i++) {
            int64_t at[3];
            ok(rubus_mesh_locate(mesh, &x[i], &at[0]));
            const double below = nextafter(x[i], -1);
            const double above = nextafter(x[i], 1);
            ok(rubus_mesh_locate(mesh, &below, &at[1]));
            ok(rubus_mesh_locate(mesh, &above, &at[2]));
            ck_assert_int_eq(at[0], i);
            ck_assert_int_eq(at[1], i > 0 ? i - 1 : 0);
            ck_assert_int_eq(at[2], i);
        }
        rubus_mesh_destroy(mesh);
    }
    rubus_mesh *mesh = mesh_013_023(context, RUBUS_F32);
    int64_t at[2];
    ok(rubus_mesh_locate(mesh, (double[]){2.9, 17}, at));
    ck_assert_int_eq(at[0], 1);
    ck_assert_int_eq(at[1], 2);
    fails(rubus_mesh_locate(mesh, NULL, at), RUBUS_EINVAL, "point is NULL");
    fails(rubus_mesh_locate(mesh, (double[]){0, 0}, NULL), RUBUS_EINVAL, "out_index");
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

START_TEST(mesh_answers_and_refuses_questions)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_013_023(context, RUBUS_F32);
    rubus_set set;
    rubus_array *array = NULL;
    double x[4];
    ok(rubus_mesh_set_get(mesh, &set));
    ck_assert_int_eq(set.ndim, 2);
    ck_assert_double_eq(set.upper[0], 3);
    ck_assert_int_eq(rubus_mesh_ndim(mesh), 2);
    ck_assert_int_eq(rubus_mesh_type(mesh), RUBUS_F32);
    ck_assert_ptr_eq(rubus_mesh_context(mesh), context);
    fails(rubus_mesh_points(mesh, 0, x, 4), RUBUS_ESHAPE, "4 numbers|3 points");
    fails(rubus_mesh_points(mesh, 2, x, 3), RUBUS_EINVAL, "axis 2 of a mesh with 2");
    fails(rubus_mesh_points(mesh, 0, NULL, 3), RUBUS_EINVAL, "NULL");
    fails(rubus_mesh_points(NULL, 0, x, 3), RUBUS_EINVAL, "mesh is NULL");
    fails(rubus_mesh_axis_array(mesh, 0, 7, &array), RUBUS_EINVAL, "no array 7");
    fails(rubus_mesh_axis_array(mesh, -1, 0, &array), RUBUS_EINVAL, "axis -1");
    fails(rubus_mesh_set_get(mesh, NULL), RUBUS_EINVAL, "out_set");
    ck_assert_uint_eq(rubus_mesh_version(NULL), 0);
    ck_assert_int_eq(rubus_mesh_ndim(NULL), 0);
    ck_assert_int_eq(rubus_mesh_type(NULL), 0);
    ck_assert_double_eq(rubus_mesh_hmax(NULL), 0);
    ck_assert(!rubus_mesh_is_uniform(NULL, 0));
    ck_assert(!rubus_mesh_is_uniform(mesh, 2));
    ck_assert_ptr_null(rubus_mesh_context(NULL));
    rubus_mesh_destroy(NULL);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

/* No geometry grows with the product of the sizes, and uniform axes move no points. */
START_TEST(mesh_geometry_is_small_and_made_on_the_device)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = NULL;
    ok(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(3, 3), (double[]){0, 0},
                             (double[]){1, 1}, &mesh)); // builds the kernels
    rubus_mesh_destroy(mesh);
    const rubus_context_counters before = probe_counters(context);
    ok(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(1000, 900), (double[]){0, 0},
                             (double[]){1, 1}, &mesh));
    ok(rubus_mesh_refine(mesh));
    const rubus_context_counters after = probe_counters(context);
    ck_assert_uint_eq(after.write_calls, before.write_calls);
    ck_assert_uint_eq(after.read_calls, before.read_calls);
    ck_assert_uint_lt(after.live_bytes - before.live_bytes, 8 * 8 * 2 * 2000 + 100000);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

/* Making and changing a mesh with every allocation failing once. */
START_TEST(mesh_survives_every_failed_allocation)
{
    rubus_context *context = backends_open(BACKENDS_ONE);
    rubus_mesh_desc desc = {.struct_size = sizeof desc, .ndim = 2};
    desc.axis[0] = axis_of(0, 1, 3);
    desc.axis[1] = (rubus_axis_desc){.upper = 1, .n = 5, .seed = 3};
    desc.marker = &(rubus_marker_desc){.label = "wall", .faces = "left,top"};
    desc.nmarker = 1;
    rubus_mesh *warm = NULL; // the kernels are built once
    ok(rubus_mesh_create(context, &desc, &warm));
    rubus_mesh_destroy(warm);
    for (int64_t n = 1;; n++) {
        rubus_mesh *mesh = NULL;
        rubus_array *mask = NULL;
        rubus__alloc_fail_after(n, false);
        rubus_status st = rubus_mesh_create(context, &desc, &mesh);
        if (st == RUBUS_OK) {
            st = rubus_mesh_refine(mesh);
        }
        if (st == RUBUS_OK) {
            st = rubus_mesh_mask(mesh, "wall,interior", &mask);
        }
        rubus__alloc_fail_after(0, false);
        rubus_array_destroy(mask);
        rubus_mesh_destroy(mesh);
        if (st == RUBUS_OK) {
            ck_assert_int_gt(n, 20);
            break;
        }
        ck_assert_msg(st == RUBUS_ENOMEM || st == RUBUS_EDEVMEM, "%s: %s",
                      rubus_status_name(st), rubus_error_text());
    }
    backends_finish(context);
}
END_TEST

START_TEST(mesh_in_a_child_process_is_refused)
{
    rubus_context *context = backends_open(BACKENDS_ONE);
    rubus_mesh *mesh = mesh_0135(context, RUBUS_F64);
    const pid_t child = fork();
    if (child == 0) {
        rubus_space *space = NULL;
        const bool right = rubus_mesh_refine(mesh) == RUBUS_EFORKED &&
                           rubus_space_create(mesh, 1, &space) == RUBUS_EFORKED &&
                           rubus_mesh_version(mesh) == 1;
        rubus_mesh_destroy(mesh);
        _exit(right ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

/* One thread refines and moves on; others ask, and get an answer or hear of the change.
 * */
typedef struct crowd {
    rubus_mesh *mesh;
    atomic_bool stop;
    atomic_int nstale;
} crowd;

static void *ask(void *user)
{
    crowd *c = user;
    while (!atomic_load(&c->stop)) {
        rubus_space *space = NULL;
        rubus_array *u = NULL;
        double x = 0;
        ok(rubus_space_create(c->mesh, 1, &space));
        rubus_status st = rubus_space_array(space, 1, &u);
        if (st == RUBUS_OK) {
            st = rubus_inner_h(space, u, u, "left,interior,right", &x);
        }
        ck_assert_msg(st == RUBUS_ESTALE || (st == RUBUS_OK && fabs(x - 1) < 1e-12),
                      "%s, %g", rubus_status_name(st), x);
        atomic_fetch_add(&c->nstale, st == RUBUS_ESTALE ? 1 : 0);
        rubus_array_destroy(u);
        rubus_space_destroy(space);
    }
    return NULL;
}

START_TEST(mesh_may_change_while_others_use_it)
{
    rubus_context *context = backends_open(_i);
    crowd c = {
        .mesh = mesh_of(context, RUBUS_F64, 1, &(rubus_axis_desc){.upper = 1, .n = 3})};
    pthread_t thread[2];
    for (int k = 0; k < 2; k++) {
        ck_assert_int_eq(pthread_create(&thread[k], NULL, ask, &c), 0);
    }
    for (int k = 0; k < 60; k++) {
        if (k % 10 == 0) {
            ok(rubus_mesh_refine(c.mesh));
        } else {
            ok(rubus_mesh_set_time(c.mesh, k));
        }
    }
    atomic_store(&c.stop, true);
    for (int k = 0; k < 2; k++) {
        pthread_join(thread[k], NULL);
    }
    ck_assert_uint_eq(rubus_mesh_version(c.mesh), 61);
    ck_assert_int_eq(rubus_mesh_shape(c.mesh).n[0], 129);
    rubus_mesh_destroy(c.mesh);
    backends_finish(context);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("mesh");
    TCase *sets = tcase_create("set");
    tcase_add_test(sets, set_constructors_give_their_bounds);
    tcase_add_test(sets, set_that_is_none_is_refused);
    suite_add_tcase(s, sets);
    TCase *tc = tcase_create("mesh");
    backends_add(tc, axis_uniform_has_the_bits_of_the_formula);
    backends_add(tc, axis_of_one_point_has_weight_one);
    backends_add(tc, test_trap_22_axis_random_depends_on_its_seed_alone);
    backends_add(tc, mesh_of_bad_axes_is_refused);
    backends_add(tc, mesh_of_bad_descriptions_is_refused);
    backends_add(tc, mesh_refined_has_all_sizes_and_masks);
    backends_add(tc, mesh_points_that_cannot_be_set_leave_it_as_it_was);
    backends_add(tc, locate_gives_the_last_point_not_beyond);
    backends_add(tc, mesh_answers_and_refuses_questions);
    backends_add(tc, mesh_geometry_is_small_and_made_on_the_device);
    backends_add(tc, mesh_may_change_while_others_use_it);
    tcase_add_test(tc, mesh_survives_every_failed_allocation);
    tcase_add_test(tc, mesh_in_a_child_process_is_refused);
    suite_add_tcase(s, tc);
    return s;
}

RUBUS_TEST_MAIN("mesh", suite)
