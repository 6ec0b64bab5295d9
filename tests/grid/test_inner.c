/* SPDX-License-Identifier: Apache-2.0 */
/* Inner products, norms and integrals over faces on every backend. */
#include "config.h"

#include <check.h>

#include "tests/grid/grid_probe.h"

/* Numbers of [-1, 1) on a random mesh of so many points. */
typedef struct scene {
    rubus_context *context;
    rubus_mesh *mesh;
    rubus_space *space;
    rubus_array *u;
    rubus_array *v;
} scene;

static scene scene_open(const char *spec, int32_t ndim, const int64_t *n,
                        int32_t ncomponent)
{
    scene s = {.context = NULL};
    rubus_axis_desc axis[3];
    ok(rubus_context_create(spec, &s.context));
    for (int32_t d = 0; d < ndim; d++) {
        axis[d] = (rubus_axis_desc){.upper = 1 + d, .n = n[d], .seed = (uint64_t)d + 1};
    }
    s.mesh = mesh_of(s.context, RUBUS_F64, ndim, axis);
    s.space = space_of(s.mesh, ncomponent);
    ok(RUBUS_ARRAYS(s.space, &s.u, &s.v));
    ok(rubus_array_random(s.u, 1, -1, 1));
    ok(rubus_array_random(s.v, 2, -1, 1));
    return s;
}

static void scene_close(scene *s)
{
    rubus_array_destroy(s->u);
    rubus_array_destroy(s->v);
    rubus_space_destroy(s->space);
    rubus_mesh_destroy(s->mesh);
    rubus_context_destroy(s->context);
}

enum { NVALUE = 12 };

/* All numbers that a pair of grid functions gives. */
static void values(const scene *s, double out[NVALUE])
{
    static const char labels[] = "xmin,interior";
    ok(rubus_inner_h(s->space, s->u, s->v, NULL, &out[0]));
    ok(rubus_inner_h(s->space, s->u, s->v, labels, &out[1]));
    ok(rubus_inner_plus(s->space, s->u, s->v, NULL, &out[2]));
    ok(rubus_inner_plus(s->space, s->u, s->v, labels, &out[3]));
    ok(rubus_seminorm_1h(s->space, s->u, NULL, &out[4]));
    ok(rubus_seminorm_1h(s->space, s->u, labels, &out[5]));
    ok(rubus_norm_1h(s->space, s->u, NULL, &out[6]));
    ok(rubus_norm_1h(s->space, s->u, labels, &out[7]));
    ok(rubus_norm_inf(s->space, s->u, NULL, &out[8]));
    ok(rubus_norm_inf(s->space, s->u, labels, &out[9]));
    ok(rubus_inner_gamma(s->space, s->u, s->v, NULL, &out[10]));
    ok(rubus_inner_axes(s->space, RUBUS_AXIS_X, s->u, s->v, labels, &out[11]));
}

static const int64_t sizes[3][3] = {{5000}, {71, 43}, {13, 17, 11}};

/* The same bits on all backends, and each time. */
START_TEST(inner_products_have_the_same_bits_everywhere)
{
    for (int32_t ndim = 1; ndim <= 3; ndim++) {
        double want[NVALUE];
        double got[NVALUE];
        double again[NVALUE];
        scene r = scene_open("reference", ndim, sizes[ndim - 1], 1);
        scene s = scene_open(backends_spec[_i], ndim, sizes[ndim - 1], 1);
        values(&r, want);
        values(&s, got);
        values(&s, again);
        for (int k = 0; k < NVALUE; k++) {
            ck_assert_msg(got[k] == want[k] && again[k] == want[k],
                          "%dD, value %d: %.17g and %.17g, not %.17g", (int)ndim, k,
                          got[k], again[k], want[k]);
        }
        scene_close(&r);
        scene_close(&s);
    }
    backends_finish(NULL);
}
END_TEST

/* Sums written out: weights, products and difference quotients by their definitions. */
typedef struct plain {
    int64_t n[3];
    int32_t ndim;
    double *axis[3][RUBUS__AXIS_ARRAYS];
    double *u;
    double *v;
} plain;

static double plain_weight(const plain *p, const int64_t *i, uint32_t axes)
{
    double w = 1;
    for (int32_t d = 0; d < p->ndim; d++) {
        const int which = (axes >> d & 1) != 0 ? RUBUS_MESH_ALIGNED : RUBUS_MESH_CELLS;
        w *= p->axis[d][which][i[d]];
    }
    return w;
}

/* Adds one point to inner_h, inner_plus and the square of the seminorm. */
static void plain_point(const plain *p, int64_t at, const int64_t *i, double *sum)
{
    int64_t stride = 1;
    sum[0] += plain_weight(p, i, 0) * p->u[at] * p->v[at];
    for (int32_t d = 0; d < p->ndim; d++) {
        const double w = plain_weight(p, i, 1u << d);
        const double h = p->axis[d][RUBUS_MESH_SPACING][i[d]];
        const double g = i[d] == 0 ? 0 : (p->u[at] - p->u[at - stride]) / h;
        sum[1] += w * p->u[at] * p->v[at];
        sum[2] += w * g * g;
        stride *= p->n[d];
    }
}

static void plain_sums(const plain *p, double *all, double *masked)
{
    int64_t i[3];
    int64_t at = 0;
    for (i[2] = 0; i[2] < p->n[2]; i[2]++) {
        for (i[1] = 0; i[1] < p->n[1]; i[1]++) {
            for (i[0] = 0; i[0] < p->n[0]; i[0]++, at++) {
                bool in = true;
                for (int32_t d = 0; d < p->ndim; d++) {
                    in = in && i[d] > 0 && i[d] + 1 < p->n[d];
                }
                plain_point(p, at, i, all);
                if (in || i[0] == 0) {
                    plain_point(p, at, i, masked);
                }
            }
        }
    }
}

START_TEST(inner_products_are_their_sums)
{
    for (int32_t ndim = 1; ndim <= 3; ndim++) {
        scene s = scene_open(backends_spec[_i], ndim, sizes[ndim - 1], 1);
        plain p = {.n = {1, 1, 1}, .ndim = ndim};
        for (int32_t d = 0; d < ndim; d++) {
            p.n[d] = sizes[ndim - 1][d];
            for (int k = 0; k < RUBUS__AXIS_ARRAYS; k++) {
                rubus_array *array = NULL;
                ok(rubus_mesh_axis_array(s.mesh, d, k, &array));
                p.axis[d][k] = probe_numbers(array);
                rubus_array_destroy(array);
            }
        }
        p.u = probe_numbers(s.u);
        p.v = probe_numbers(s.v);
        double all[3] = {0};
        double masked[3] = {0};
        double got[NVALUE];
        plain_sums(&p, all, masked);
        values(&s, got);
        // sums of some thousand terms of any sign: relative to those of |terms|, about 1
        number_is(got[0] + 1, all[0] + 1, 1e-13);
        number_is(got[1] + 1, masked[0] + 1, 1e-13);
        number_is(got[2] + 1, all[1] + 1, 1e-13);
        number_is(got[3] + 1, masked[1] + 1, 1e-13);
        number_is(got[4], sqrt(all[2]), 1e-13);
        number_is(got[5], sqrt(masked[2]), 1e-13);
        double h = 0;
        double on = 0;
        ok(rubus_norm_h(s.space, s.u, NULL, &h));
        ok(rubus_norm_h(s.space, s.u, "xmin,interior", &on));
        number_is(got[6], sqrt(all[2] + h * h), 1e-13);
        number_is(got[7], sqrt(masked[2] + on * on), 1e-13);
        for (int32_t d = 0; d < ndim; d++) {
            for (int k = 0; k < RUBUS__AXIS_ARRAYS; k++) {
                free(p.axis[d][k]);
            }
        }
        free(p.u);
        free(p.v);
        scene_close(&s);
    }
    backends_finish(NULL);
}
END_TEST

/* Trap T14: transverse weights are whole at both ends. */
START_TEST(test_trap_14_inner_x_of_one_is_the_area)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = NULL;
    ok(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(5, 4), (double[]){0, 0},
                             (double[]){1, 1}, &mesh));
    rubus_space *space = space_of(mesh, 1);
    rubus_array *one = NULL;
    rubus_array *w = NULL;
    double x = 0;
    ok(rubus_space_array(space, 1, &one));
    ok(rubus_space_array(space, 0, &w));
    ok(rubus_inner_axes(space, RUBUS_AXIS_X, one, one, NULL, &x));
    number_is(x, 1, 1e-15);
    for (uint32_t axes = 1; axes <= 2; axes++) {
        ok(rubus_space_weight(space, axes, w));
        double *got = probe_numbers(w);
        int zeros = 0;
        for (int p = 0; p < 20; p++) {
            zeros += got[p] == 0 ? 1 : 0;
        }
        ck_assert_int_eq(zeros, axes == 1 ? 4 : 5);
        free(got);
    }
    rubus_array_destroy(one);
    rubus_array_destroy(w);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

/* Trap T3: 13 points, and NaN off the mask is not met. */
START_TEST(test_trap_03_mask_of_13_points_and_nan_beyond)
{
    rubus_context *context = backends_open(_i);
    for (int32_t type = RUBUS_F32; type <= RUBUS_F64; type++) {
        rubus_mesh *mesh =
            mesh_of(context, type, 1, &(rubus_axis_desc){.upper = 12, .n = 13});
        rubus_space *space = space_of(mesh, 1);
        double from[13];
        double x = 0;
        for (int i = 0; i < 13; i++) {
            from[i] = i == 0 || i == 12 ? (double)NAN : i;
        }
        rubus_array *u = probe_array(space, from);
        ok(rubus_inner_h(space, u, u, "interior", &x));
        number_is(x, 506, 0); // 1 + 4 + ... + 121
        ok(rubus_norm_inf(space, u, "interior", &x));
        number_is(x, 11, 0);
        ok(rubus_norm_inf(space, u, NULL, &x));
        ck_assert(isnan(x));
        ok(rubus_norm_h(space, u, NULL, &x));
        ck_assert(isnan(x));
        rubus_array_destroy(u);
        rubus_space_destroy(space);
        rubus_mesh_destroy(mesh);
    }
    backends_finish(context);
}
END_TEST

START_TEST(norms_of_components_are_summed)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_0135(context, RUBUS_F64);
    rubus_space *space = space_of(mesh, 2);
    rubus_array *u = array_of(space, 0, 1, 3, 5, 0, 1, 9, -25);
    double x = 7;
    ok(rubus_inner_h(space, u, u, NULL, &x)); // 44.5, and 1.5 + 2 81 + 625
    number_is(x, 44.5 + 788.5, 1e-15);
    ok(rubus_norm_inf(space, u, NULL, &x));
    number_is(x, 25, 0);
    ok(rubus_norm_inf(space, u, "left,interior", &x));
    number_is(x, 9, 0);
    ok(rubus_seminorm_1h(space, u, NULL, &x)); // 5, and 1 + 8^2/2 + 34^2/2
    number_is(x * x, 5 + 1 + 32 + 578, 1e-14);
    ok(rubus_norm_1h(space, u, NULL, &x));
    number_is(x * x, 833 + 616, 1e-14);
    ok(rubus_inner_gamma(space, u, u, NULL, &x));
    number_is(x, 25 + 625, 0);
    x = 7;
    fails(rubus_inner_plus(space, u, u, NULL, &x), RUBUS_EINVAL, "2 components");
    fails(rubus_norm_plus(space, u, NULL, &x), RUBUS_EINVAL, "rubus_norm_plus");
    fails(rubus_inner_axes(space, 1, u, u, NULL, &x), RUBUS_EINVAL, "2 components");
    ck_assert_double_eq(x, 7);
    rubus_array *window = NULL;
    rubus_space *one = space_of(mesh, 1);
    ok(rubus_space_component(space, u, 1, &window));
    ok(rubus_norm_plus(one, window, NULL, &x)); // 1 + 2 81 + 2 625
    number_is(x * x, 1413, 1e-14);
    rubus_array_destroy(window);
    rubus_array_destroy(u);
    rubus_space_destroy(one);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

START_TEST(inner_products_that_make_no_sense_are_refused)
{
    rubus_context *context = backends_open(_i);
    const rubus_axis_desc axis[2] = {axis_of(0, 1, 3), axis_of(0, 2)};
    rubus_mesh *mesh = mesh_of(context, RUBUS_F64, 2, axis);
    rubus_space *space = space_of(mesh, 1);
    rubus_array *u = NULL;
    double x = 7;
    ok(rubus_space_array(space, 1, &u));
    fails(rubus_inner_axes(space, RUBUS_AXIS_Z, u, u, NULL, &x), RUBUS_EINVAL,
          "0x4|2 axes");
    fails(rubus_space_weight(space, RUBUS_AXIS_Z, u), RUBUS_EINVAL, "0x4");
    fails(rubus_inner_gamma(space, u, u, NULL, &x), RUBUS_EINVAL,
          "both faces of axis 1|2 points");
    fails(rubus_space_face_weight(space, "top,bottom", u), RUBUS_EINVAL, "axis 1");
    fails(rubus_inner_gamma(space, u, u, "left,interior", &x), RUBUS_EINVAL,
          "`interior`|whole faces");
    fails(rubus_inner_gamma(space, u, u, "left,wall", &x), RUBUS_ENOTFOUND, "`wall`");
    fails(rubus_inner_gamma(space, u, NULL, "left", &x), RUBUS_EINVAL, "v is NULL");
    fails(rubus_inner_gamma(space, u, u, "left", NULL), RUBUS_EINVAL, "value is NULL");
    fails(rubus_norm_h(space, u, NULL, NULL), RUBUS_EINVAL, "value is NULL");
    fails(rubus_norm_plus(space, u, NULL, NULL), RUBUS_EINVAL, "value is NULL");
    fails(rubus_norm_1h(space, u, NULL, NULL), RUBUS_EINVAL, "value is NULL");
    fails(rubus_norm_inf(space, u, NULL, NULL), RUBUS_EINVAL, "value is NULL");
    fails(rubus_norm_inf(space, u, "wall", &x), RUBUS_ENOTFOUND, "`wall`|boundary");
    ck_assert_double_eq(x, 7);
    ok(rubus_mesh_mark(mesh, "some", "left,top"));
    ok(rubus_inner_gamma(space, u, u, "some", &x));
    number_is(x, 5, 1e-15); // 2 along y and 3 along x
    rubus_array_destroy(u);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

/* A layer of one point counts as 1, and adds nothing to differences. */
START_TEST(norms_on_a_single_layer_are_those_without_it)
{
    rubus_context *context = backends_open(_i);
    const rubus_axis_desc axis[3] = {{.lower = 1, .upper = 1, .n = 1},
                                     axis_of(0, 1, 3, 5),
                                     {.lower = 2, .upper = 2, .n = 1}};
    rubus_mesh *mesh = mesh_of(context, RUBUS_F64, 3, axis);
    rubus_space *space = space_of(mesh, 1);
    rubus_array *u = array_of(space, 0, 1, 3, 5);
    double x = 0;
    ok(rubus_inner_h(space, u, u, NULL, &x));
    number_is(x, 44.5, 1e-15);
    ok(rubus_inner_plus(space, u, u, NULL, &x));
    number_is(x, 69, 1e-15);
    ok(rubus_seminorm_1h(space, u, NULL, &x));
    number_is(x, sqrt(5), 1e-15);
    ok(rubus_inner_gamma(space, u, u, NULL, &x));
    number_is(x, 25, 0);
    rubus_array_destroy(u);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("inner");
    TCase *tc = tcase_create("inner");
    backends_add(tc, inner_products_have_the_same_bits_everywhere);
    backends_add(tc, inner_products_are_their_sums);
    backends_add(tc, test_trap_14_inner_x_of_one_is_the_area);
    backends_add(tc, test_trap_03_mask_of_13_points_and_nan_beyond);
    backends_add(tc, norms_of_components_are_summed);
    backends_add(tc, inner_products_that_make_no_sense_are_refused);
    backends_add(tc, norms_on_a_single_layer_are_those_without_it);
    suite_add_tcase(s, tc);
    return s;
}

RUBUS_TEST_MAIN("inner", suite)
