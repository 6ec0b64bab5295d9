/* SPDX-License-Identifier: Apache-2.0 */
/* Series of files in time, on every backend: the collection after every step, after a run
 * that was killed, and continued; what is refused, what a failure leaves behind. */
#include "config.h"

#include <check.h>

#include "tests/grid/grid_probe.h"
#include "tests/grid/vtr_read.h"
#include "tests/support/work_folder.h"

#include <signal.h>
#include <sys/wait.h>

/* A mesh [0, 1, 3, 5] and one field on it. */
typedef struct problem {
    rubus_context *context;
    rubus_mesh *mesh;
    rubus_space *space;
    rubus_mesh_field field;
} problem;

static problem problem_open(int at)
{
    problem p = {.context = backends_open(at)};
    p.mesh = mesh_0135(p.context, RUBUS_F64);
    p.space = space_of(p.mesh, 1);
    p.field = (rubus_mesh_field){"u", p.space, array_of(p.space, 0, 0, 0, 0)};
    return p;
}

static void problem_close(problem *p)
{
    rubus_array_destroy(p->field.array);
    rubus_space_destroy(p->space);
    rubus_mesh_destroy(p->mesh);
    backends_finish(p->context);
}

/* Step k at time k/4 holds k everywhere. */
static rubus_status step(rubus_series *series, problem *p, int k)
{
    ok(rubus_array_fill(p->field.array, k));
    return rubus_series_add(series, k / 4.0, p->mesh, &p->field, 1);
}

/* The collection is whole XML and lists steps 0 .. n-1 with their times, in files that
 * are whole and hold their step. */
static void collection_is(const char *path, const char *name, int n)
{
    bytes b = file_bytes(path);
    xml_check(b.data, b.data + b.size, 0);
    ck_assert_ptr_nonnull(strstr(b.data, "<VTKFile type=\"Collection\""));
    const char *at = b.data;
    for (int k = 0; k < n; k++) {
        char text[200];
        char want[100];
        at = strstr(at, "<DataSet ");
        ck_assert_msg(at != NULL, "%d steps, not %d", k, n);
        ck_assert(strtod(xml_attribute(at, "timestep", text), NULL) == k / 4.0);
        snprintf(want, sizeof want, "%s_%d.vtr", name, k);
        ck_assert_str_eq(xml_attribute(at, "file", text), want);
        const double u[4] = {k, k, k, k};
        bytes file = vtr_open(want);
        vtr_is(&file, "u", RUBUS_F64, 1, u, 4);
        free(file.data);
        at++;
    }
    ck_assert_ptr_null(strstr(at, "<DataSet "));
    free(b.data);
}

START_TEST(series_is_whole_after_every_step)
{
    problem p = problem_open(_i);
    rubus_series *series = NULL;
    const rubus_mesh_output_desc desc = {
        .struct_size = sizeof desc, .title = "a title", .encoding = RUBUS_VTK_ASCII};
    ok(rubus_series_create("heat & co.pvd", &desc, &series));
    bytes b = file_bytes("heat & co.pvd");
    xml_check(b.data, b.data + b.size, 0);
    ck_assert_ptr_nonnull(strstr(b.data, "<!-- a title -->"));
    ck_assert_ptr_null(strstr(b.data, "<DataSet"));
    free(b.data);
    for (int k = 0; k < 3; k++) {
        ok(step(series, &p, k));
        ck_assert_int_eq(rubus_series_count(series), k + 1);
        b = file_bytes("heat & co.pvd");
        xml_check(b.data, b.data + b.size, 0);
        char want[80];
        snprintf(want, sizeof want,
                 "timestep=\"%g\" part=\"0\" file=\"heat &amp; co_%d.vtr\"", k / 4.0, k);
        ck_assert_ptr_nonnull(strstr(b.data, want));
        free(b.data);
    }
    bytes file = vtr_open("heat & co_2.vtr");
    vtr_is(&file, "u", RUBUS_F64, 1, (double[]){2, 2, 2, 2}, 4);
    ck_assert_ptr_null(strstr(file.data, "appended")); // desc holds for every step
    ck_assert_ptr_nonnull(strstr(file.data, "<!-- a title -->"));
    free(file.data);
    rubus_series_destroy(series);
    const rubus_mesh_output_desc more = {.struct_size = sizeof more, .append = 1};
    ok(rubus_series_create("heat & co.pvd", &more, &series));
    ok(step(series, &p, 3));
    ck_assert_int_eq(access("heat & co_3.vtr", F_OK), 0);
    rubus_series_destroy(series);
    problem_close(&p);
}
END_TEST

/* A time loop that is killed between two steps, or within one: the collection is whole,
 * and the next run goes on behind its last level. */
START_TEST(test_case_10_28_killed_run_leaves_a_collection_to_continue)
{
    ck_assert_int_eq(mkdir("out", 0700), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        problem p = problem_open(_i);
        rubus_series *series = NULL;
        ok(rubus_series_create("out/u.pvd", NULL, &series));
        for (int k = 0; k < 3; k++) {
            ok(step(series, &p, k));
        }
        ok(rubus_mesh_write("out/u_3.vtr", p.mesh, &p.field, 1, NULL)); // not listed yet
        raise(SIGKILL);
    }
    int how = 0;
    ck_assert_int_eq(waitpid(child, &how, 0), child);
    ck_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    ck_assert_int_eq(chdir("out"), 0);
    collection_is("u.pvd", "u", 3);
    problem p = problem_open(_i);
    rubus_series *series = NULL;
    const rubus_mesh_output_desc more = {.struct_size = sizeof more, .append = 1};
    ok(rubus_series_create("u.pvd", &more, &series));
    ck_assert_int_eq(rubus_series_count(series), 3);
    ok(step(series, &p, 3)); // takes the place of the file that nobody listed
    ok(step(series, &p, 4));
    rubus_series_destroy(series);
    collection_is("u.pvd", "u", 5);
    ok(rubus_series_create("u.pvd", NULL, &series)); // without append: from the start
    ck_assert_int_eq(rubus_series_count(series), 0);
    ok(step(series, &p, 0));
    rubus_series_destroy(series);
    collection_is("u.pvd", "u", 1);
    problem_close(&p);
}
END_TEST

/* Levels go on behind the highest, whatever stands between; append also begins. */
START_TEST(series_continues_collections_of_others)
{
    static const char given[] =
        "<?xml version='1.0'?>\n<VTKFile type=\"Collection\"><Collection>"
        "<DataSet file=\"u_7.vtr\" timestep=\"0\"/><DataSet file=\"v_9.vtr\" "
        "timestep=\"1\"/><DataSet file=\"u_x.vtr\" timestep=\"2\"/></Collection>"
        "</VTKFile>\n";
    problem p = problem_open(_i);
    rubus_series *series = NULL;
    const rubus_mesh_output_desc more = {.struct_size = sizeof more, .append = 1};
    ok(rubus__file_write("u.pvd", given, strlen(given)));
    ok(rubus_series_create("u.pvd", &more, &series));
    ck_assert_int_eq(rubus_series_count(series), 3);
    ok(step(series, &p, 8));
    rubus_series_destroy(series);
    bytes b = file_bytes("u.pvd");
    xml_check(b.data, b.data + b.size, 0);
    ck_assert_ptr_nonnull(strstr(b.data, "u_x.vtr"));
    ck_assert_ptr_nonnull(strstr(b.data, "timestep=\"2\" part=\"0\" file=\"u_8.vtr\"/>"));
    ck_assert_int_eq(access("u_8.vtr", F_OK), 0);
    free(b.data);
    ok(rubus_series_create("new.pvd", &more, &series));
    ok(step(series, &p, 0));
    rubus_series_destroy(series);
    collection_is("new.pvd", "new", 1);
    problem_close(&p);
}
END_TEST

START_TEST(series_refuses_what_does_not_fit)
{
    problem p = problem_open(_i);
    rubus_series *series = NULL;
    const rubus_mesh_output_desc more = {.struct_size = sizeof more, .append = 1};
    const rubus_mesh_output_desc unset = {.append = 1};
    fails(rubus_series_create(NULL, NULL, &series), RUBUS_EINVAL, "path is NULL");
    fails(rubus_series_create("a.pvd", NULL, NULL), RUBUS_EINVAL, "out_series");
    fails(rubus_series_create("a.vtr", NULL, &series), RUBUS_EINVAL, "a.vtr|.pvd");
    fails(rubus_series_create("a.pvd", &unset, &series), RUBUS_EINVAL, "struct_size");
    fails(rubus_series_create("no/a.pvd", NULL, &series), RUBUS_EIO, "no/a.pvd");
    static const char *const broken[] = {
        "", "no XML", "<VTKFile type=\"Collection\"><Collection>",
        "<VTKFile type=\"Collection\"><Collection></Collection>",
        "<VTKFile type=\"ImageData\"><Collection></Collection></VTKFile>"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        ok(rubus__file_write("b.pvd", broken[i], strlen(broken[i])));
        fails(rubus_series_create("b.pvd", &more, &series), RUBUS_EINVAL,
              "b.pvd|no collection");
        bytes b = file_bytes("b.pvd");
        ck_assert_str_eq(b.data, broken[i]);
        free(b.data);
    }
    ck_assert_int_eq(mkdir("d.pvd", 0700), 0);
    fails(rubus_series_create("d.pvd", &more, &series), RUBUS_EIO, "d.pvd|folder");
    ck_assert_ptr_null(series);
    ok(rubus_series_create("a.pvd", NULL, &series));
    fails(rubus_series_add(NULL, 0, p.mesh, &p.field, 1), RUBUS_EINVAL, "series is NULL");
    fails(rubus_series_add(series, NAN, p.mesh, &p.field, 1), RUBUS_EINVAL, "time");
    fails(rubus_series_add(series, 0, NULL, &p.field, 1), RUBUS_EINVAL, "mesh is NULL");
    ok(step(series, &p, 0));
    ok(rubus_mesh_refine(p.mesh));
    fails(step(series, &p, 1), RUBUS_ESTALE, "rubus_series_add|version 1|version 2");
    ck_assert_int_eq(rubus_series_count(series), 1);
    collection_is("a.pvd", "a", 1);
    ck_assert_int_ne(access("a_1.vtr", F_OK), 0);
    rubus_series_destroy(series);
    rubus_series_destroy(NULL);
    ck_assert_int_eq(rubus_series_count(NULL), 0);
    problem_close(&p);
}
END_TEST

/* A step that fails at any allocation leaves a whole collection, and may be repeated. */
START_TEST(series_step_that_fails_may_be_repeated)
{
    problem p = problem_open(_i);
    rubus_series *series = NULL;
    rubus_status st = RUBUS_ENOMEM;
    const rubus_mesh_output_desc desc = {
        .struct_size = sizeof desc, .title = "t", .append = 1};
    for (int round = 0; round < 2; round++) { // a new collection, then a continued one
        ok(rubus_array_fill(p.field.array, round)); // before blocks are counted
        ok(rubus_mesh_write("first.vtr", p.mesh, &p.field, 1, NULL));
        const int64_t live = rubus__alloc_live();
        st = RUBUS_ENOMEM;
        for (int64_t n = 1; st != RUBUS_OK; n++) {
            rubus__alloc_fail_after(n, true);
            st = rubus_series_create("a.pvd", &desc, &series);
            rubus__alloc_fail_after(0, true);
            ck_assert_msg(st == RUBUS_OK || st == RUBUS_ENOMEM, "%s", rubus_error_text());
            ck_assert_int_eq(rubus__alloc_live() == live, st != RUBUS_OK);
            ck_assert_int_lt(n, 100);
        }
        st = RUBUS_ENOMEM;
        for (int64_t n = 1; st != RUBUS_OK; n++) {
            rubus__alloc_fail_after(n, true);
            st = rubus_series_add(series, round / 4.0, p.mesh, &p.field, 1);
            rubus__alloc_fail_after(0, true);
            ck_assert_msg(st == RUBUS_OK || st == RUBUS_ENOMEM, "%s", rubus_error_text());
            collection_is("a.pvd", "a", round + (st == RUBUS_OK));
            ck_assert_int_lt(n, 200);
        }
        rubus_series_destroy(series);
        ck_assert_int_eq(rubus__alloc_live(), live);
    }
    problem_close(&p);
}
END_TEST

static Suite *series_suite(void)
{
    Suite *suite = suite_create("series");
    TCase *tc = tcase_create("backends");
    tcase_add_checked_fixture(tc, enter_work_folder, leave_work_folder);
    backends_add(tc, series_is_whole_after_every_step);
    backends_add(tc, test_case_10_28_killed_run_leaves_a_collection_to_continue);
    backends_add(tc, series_continues_collections_of_others);
    backends_add(tc, series_refuses_what_does_not_fit);
    suite_add_tcase(suite, tc);
    TCase *memory = tcase_create("memory");
    tcase_set_tags(memory, "counts"); // see chaos_suite.sh
    tcase_add_checked_fixture(memory, enter_work_folder, leave_work_folder);
    backends_add(memory, series_step_that_fails_may_be_repeated);
    suite_add_tcase(suite, memory);
    return suite;
}

RUBUS_TEST_MAIN("grid: series in time", series_suite)
