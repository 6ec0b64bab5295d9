/* SPDX-License-Identifier: Apache-2.0 */
/* Grid functions as VTK rectilinear grids, on every backend: read back by a reader of its
 * own, names and titles, what is refused, what a failure leaves behind. */
#include "config.h"

#include <check.h>

#include "tests/grid/grid_probe.h"
#include "tests/grid/vtr_read.h"
#include "tests/support/work_folder.h"

/* Numbers with many digits, all different, small and large, negative too. */
static double odd_number(int64_t i)
{
    return (i % 3 == 0 ? -1.0 : 1.0) * ((double)i + 1.0 / 3.0) *
           (i % 5 == 0 ? 1e-30 : 1.1);
}

static const double points[3][6] = {
    {-1, 0.1, 0.7, 1.5, 2, 1e3}, {0, 1.0 / 3, 5, 7}, {2, 2.5, 4}};
static const int64_t sizes[3][3] = {{6, 1, 1}, {5, 4, 1}, {3, 4, 3}};

static rubus_mesh *odd_mesh(rubus_context *context, int32_t type, int ndim)
{
    rubus_axis_desc axis[3] = {{.n = 1}, {.n = 1}, {.n = 1}};
    for (int d = 0; d < ndim; d++) {
        axis[d].n = sizes[ndim - 1][d];
        axis[d].point = points[d];
    }
    return mesh_of(context, type, ndim, axis);
}

/* Writes two fields, of one and of two components, and compares all that is there. */
static void round_trip(rubus_context *context, int32_t type, int ndim, int32_t encoding)
{
    static const char *const extent[3] = {"0 5 0 0 0 0", "0 4 0 3 0 0", "0 2 0 3 0 2"};
    static const char *const axis[3] = {"x", "y", "z"};
    const int64_t *size = sizes[ndim - 1];
    const int64_t n = size[0] * size[1] * size[2];
    double one[40];
    double two[80];
    double turned[80];
    for (int64_t i = 0; i < 2 * n; i++) {
        two[i] = odd_number(i + 7);
        turned[2 * (i % n) + i / n] = two[i];
        one[i % n] = odd_number(i % n);
    }
    rubus_mesh *mesh = odd_mesh(context, type, ndim);
    rubus_space *scalar = space_of(mesh, 1);
    rubus_space *pair = space_of(mesh, 2);
    const rubus_mesh_field field[2] = {{"T", scalar, probe_array(scalar, one)},
                                       {"velocity", pair, probe_array(pair, two)}};
    const rubus_mesh_output_desc desc = {.struct_size = sizeof desc,
                                         .encoding = encoding};
    const rubus_context_counters before = probe_counters(context);
    ok(rubus_mesh_write("a.vtr", mesh, field, 2, &desc));
    const rubus_context_counters after = probe_counters(context);
    ck_assert_uint_eq(after.read_calls - before.read_calls, 2); // one a field
    ck_assert_uint_eq(after.read_bytes - before.read_bytes,
                      rubus_array_nbyte(field[0].array) +
                          rubus_array_nbyte(field[1].array));
    ck_assert_uint_eq(after.write_calls, before.write_calls);
    bytes b = vtr_open("a.vtr");
    char text[200];
    ck_assert_str_eq(xml_attribute(b.data, "WholeExtent", text), extent[ndim - 1]);
    ck_assert_str_eq(xml_attribute(b.data, "Extent", text), extent[ndim - 1]);
    ck_assert_str_eq(xml_attribute(b.data, "byte_order", text), "LittleEndian");
    ck_assert_int_eq(strstr(b.data, "<AppendedData") != NULL, encoding == RUBUS_VTK_RAW);
    const double zero = 0;
    for (int d = 0; d < 3; d++) {
        vtr_is(&b, axis[d], type, 1, d < ndim ? points[d] : &zero, size[d]);
    }
    vtr_is(&b, "T", type, 1, one, n);
    vtr_is(&b, "velocity", type, 2, turned, 2 * n);
    free(b.data);
    rubus_array_destroy(field[0].array);
    rubus_array_destroy(field[1].array);
    rubus_space_destroy(scalar);
    rubus_space_destroy(pair);
    rubus_mesh_destroy(mesh);
}

START_TEST(test_case_10_28_file_reads_back)
{
    rubus_context *context = backends_open(_i);
    for (int ndim = 1; ndim <= 3; ndim++) {
        round_trip(context, RUBUS_F64, ndim, RUBUS_VTK_RAW);
        round_trip(context, RUBUS_F32, ndim, RUBUS_VTK_RAW);
        round_trip(context, RUBUS_F64, ndim, RUBUS_VTK_ASCII);
        round_trip(context, RUBUS_F32, ndim, RUBUS_VTK_ASCII);
    }
    backends_finish(context);
}
END_TEST

/* Text is written in pieces; many numbers make many of them. */
START_TEST(mesh_write_of_many_numbers_keeps_them_all)
{
    enum { N = 20011 };
    rubus_context *context = backends_open(_i);
    const double p[1] = {0};
    const double q[1] = {1};
    rubus_mesh *mesh = NULL;
    ok(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(N), p, q, &mesh));
    rubus_space *space = space_of(mesh, 1);
    double *x = malloc(N * sizeof *x);
    double *u = malloc(N * sizeof *u);
    ok(rubus_mesh_points(mesh, 0, x, N));
    for (int64_t i = 0; i < N; i++) {
        u[i] = odd_number(i);
    }
    const rubus_mesh_field field = {"u", space, probe_array(space, u)};
    for (int32_t encoding = RUBUS_VTK_RAW; encoding <= RUBUS_VTK_ASCII; encoding++) {
        const rubus_mesh_output_desc desc = {.struct_size = sizeof desc,
                                             .encoding = encoding};
        ok(rubus_mesh_write("a.vtr", mesh, &field, 1, &desc));
        bytes b = vtr_open("a.vtr");
        vtr_is(&b, "x", RUBUS_F64, 1, x, N);
        vtr_is(&b, "u", RUBUS_F64, 1, u, N);
        free(b.data);
    }
    free(x);
    free(u);
    rubus_array_destroy(field.array);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

/* Names that XML could not hold, a title, a mesh alone, a single layer. */
START_TEST(mesh_write_takes_awkward_names_and_no_fields)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_0135(context, RUBUS_F64);
    rubus_space *space = space_of(mesh, 1);
    rubus_mesh_field field = {"a \"b\" <c> & 'd'\n\xFF", space,
                              array_of(space, 1, 2, 3, 4)};
    const rubus_mesh_output_desc desc = {.struct_size = sizeof desc,
                                         .title = "one -- two\nthree"};
    ok(rubus_mesh_write("a.VTR", mesh, &field, 1, &desc));
    bytes b = vtr_open("a.VTR");
    ck_assert_ptr_nonnull(strstr(b.data, "<!-- one - - two three -->\n"));
    vtr_is(&b, "a &quot;b&quot; &lt;c&gt; &amp; 'd' \xEF\xBF\xBD", RUBUS_F64, 1,
           (double[]){1, 2, 3, 4}, 4);
    free(b.data);
    ok(rubus_mesh_write("b.vtr", mesh, NULL, 0, NULL));
    b = vtr_open("b.vtr");
    vtr_is(&b, "x", RUBUS_F64, 1, (double[]){0, 1, 3, 5}, 4);
    ck_assert_ptr_null(strstr(b.data, "<!--"));
    ck_assert_ptr_nonnull(strstr(b.data, "<PointData>"));
    free(b.data);
    rubus_array_destroy(field.array);
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    mesh = mesh_of(context, RUBUS_F64, 2,
                   (const rubus_axis_desc[]){axis_of(0, 1), axis_of(4)});
    ok(rubus_mesh_write("c.vtr", mesh, NULL, 0, NULL));
    b = vtr_open("c.vtr");
    char text[200];
    ck_assert_str_eq(xml_attribute(b.data, "Extent", text), "0 1 0 0 0 0");
    vtr_is(&b, "y", RUBUS_F64, 1, (double[]){4}, 1);
    free(b.data);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

#define written(n, ...)                                                                  \
    rubus_mesh_write("a.vtr", mesh, (const rubus_mesh_field[]){__VA_ARGS__}, (n), NULL)

START_TEST(mesh_write_refuses_what_does_not_fit)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_0135(context, RUBUS_F64);
    rubus_mesh *second = mesh_0135(context, RUBUS_F64);
    rubus_space *space = space_of(mesh, 1);
    rubus_space *pair = space_of(mesh, 2);
    rubus_space *aside = space_of(second, 1);
    rubus_array *u = array_of(space, 1, 2, 3, 4);
    rubus_array *narrow = NULL;
    ok(rubus_array_create(context, RUBUS_F32, RUBUS_SHAPE(4), &narrow));
    const rubus_mesh_field good = {"u", space, u};
    const rubus_mesh_output_desc unset = {.encoding = 0};
    const rubus_mesh_output_desc wrong = {.struct_size = sizeof wrong, .encoding = 2};
    fails(rubus_mesh_write(NULL, mesh, &good, 1, NULL), RUBUS_EINVAL, "path is NULL");
    fails(rubus_mesh_write("a.vtr", NULL, &good, 1, NULL), RUBUS_EINVAL, "mesh is NULL");
    fails(rubus_mesh_write("a.vti", mesh, &good, 1, NULL), RUBUS_EINVAL, "a.vti|.vtr");
    fails(rubus_mesh_write("a", mesh, &good, 1, NULL), RUBUS_EINVAL, "must be .vtr");
    fails(rubus_mesh_write("a.vtr", mesh, &good, -1, NULL), RUBUS_EINVAL, "-1 fields");
    fails(rubus_mesh_write("a.vtr", mesh, NULL, 1, NULL), RUBUS_EINVAL,
          "list of fields is NULL");
    fails(rubus_mesh_write("a.vtr", mesh, &good, 1, &unset), RUBUS_EINVAL, "struct_size");
    fails(rubus_mesh_write("a.vtr", mesh, &good, 1, &wrong), RUBUS_EINVAL,
          "encoding 2|RUBUS_VTK_ASCII");
    fails(written(2, {"u", space, u}, {"u", space, u}), RUBUS_EINVAL,
          "fields 0 and 1|'u'");
    fails(written(2, {"u\n", space, u}, {"u\t", space, u}), RUBUS_EINVAL, "both named");
    fails(written(1, {"", space, u}), RUBUS_EINVAL, "field 0 has no name");
    fails(written(1, {NULL, space, u}), RUBUS_EINVAL, "field 0 has no name");
    fails(written(1, {"u", NULL, u}), RUBUS_EINVAL, "field 0|space is NULL");
    fails(written(1, {"u", space, NULL}), RUBUS_EINVAL, "u is NULL");
    fails(written(2, {"u", space, u}, {"w", pair, u}), RUBUS_ESHAPE, "w is 4|4 x 2");
    fails(written(1, {"u", space, narrow}), RUBUS_ETYPE, "u has elements of f32");
    fails(written(1, {"u", aside, u}), RUBUS_EINVAL, "field 0|another mesh");
    rubus_context *other = backends_open(_i);
    rubus_mesh *third = mesh_0135(other, RUBUS_F64);
    rubus_space *foreign = space_of(third, 1);
    rubus_array *v = array_of(foreign, 1, 2, 3, 4);
    fails(written(1, {"v", foreign, v}), RUBUS_EFOREIGN, "field 0|another context");
    fails(written(1, {"v", space, v}), RUBUS_EFOREIGN, "v lives on|the space on");
    ok(rubus_mesh_refine(mesh));
    fails(written(1, {"u", space, u}), RUBUS_ESTALE, "field 0|version 1|version 2");
    ck_assert_int_ne(access("a.vtr", F_OK), 0);
    rubus_array_destroy(v);
    rubus_space_destroy(foreign);
    rubus_mesh_destroy(third);
    rubus_context_destroy(other);
    rubus_array_destroy(u);
    rubus_array_destroy(narrow);
    rubus_space_destroy(space);
    rubus_space_destroy(pair);
    rubus_space_destroy(aside);
    rubus_mesh_destroy(mesh);
    rubus_mesh_destroy(second);
    backends_finish(context);
}
END_TEST

START_TEST(mesh_write_that_fails_leaves_what_was_there)
{
    rubus_context *context = backends_open(_i);
    rubus_mesh *mesh = mesh_0135(context, RUBUS_F32);
    rubus_space *pair = space_of(mesh, 2);
    const rubus_mesh_field field = {"w", pair, array_of(pair, 1, 2, 3, 4, 5, 6, 7, 8)};
    fails(rubus_mesh_write("no/a.vtr", mesh, &field, 1, NULL), RUBUS_EIO, "no/a.vtr");
    for (int32_t encoding = RUBUS_VTK_RAW; encoding <= RUBUS_VTK_ASCII; encoding++) {
        const rubus_mesh_output_desc desc = {
            .struct_size = sizeof desc, .title = "t", .encoding = encoding};
        const int64_t live = rubus__alloc_live();
        (void)remove("a.vtr");
        rubus_status st = RUBUS_ENOMEM;
        for (int64_t n = 1; st != RUBUS_OK; n++) {
            rubus__alloc_fail_after(n, true);
            st = rubus_mesh_write("a.vtr", mesh, &field, 1, &desc);
            rubus__alloc_fail_after(0, true);
            ck_assert_msg(st == RUBUS_OK || st == RUBUS_ENOMEM, "%s", rubus_error_text());
            ck_assert_int_eq(rubus__alloc_live(), live);
            ck_assert_int_eq(access("a.vtr", F_OK) == 0, st == RUBUS_OK);
            ck_assert_int_lt(n, 200);
        }
    }
    ck_assert_int_eq(system("test \"$(ls -A)\" = a.vtr"), 0);
    rubus_array_destroy(field.array);
    rubus_space_destroy(pair);
    rubus_mesh_destroy(mesh);
    backends_finish(context);
}
END_TEST

static Suite *vtr_suite(void)
{
    Suite *suite = suite_create("vtr");
    TCase *tc = tcase_create("backends");
    tcase_add_checked_fixture(tc, enter_work_folder, leave_work_folder);
    backends_add(tc, test_case_10_28_file_reads_back);
    backends_add(tc, mesh_write_of_many_numbers_keeps_them_all);
    backends_add(tc, mesh_write_takes_awkward_names_and_no_fields);
    backends_add(tc, mesh_write_refuses_what_does_not_fit);
    suite_add_tcase(suite, tc);
    TCase *memory = tcase_create("memory");
    tcase_set_tags(memory, "counts"); // see chaos_suite.sh
    tcase_add_checked_fixture(memory, enter_work_folder, leave_work_folder);
    backends_add(memory, mesh_write_that_fails_leaves_what_was_there);
    suite_add_tcase(suite, memory);
    return suite;
}

RUBUS_TEST_MAIN("grid: rectilinear files", vtr_suite)
