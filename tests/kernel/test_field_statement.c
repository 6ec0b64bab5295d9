/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements of whole-array kernels: what each leaves as an item, what may stand on the
 * left, conditions, results, and reads of `out` arrays.
 */
#include "config.h"

#include "tests/kernel/check_unit.h"
#include "tests/support/suite.h"

/* A whole-array kernel around statements. */
#define WHOLE(body)                                                                      \
    "kernel k(inout real u[nx,ny], in real d[nx-2,ny-2], in real h[nx], inout int "      \
    "c[nx], "                                                                            \
    "in bool m[nx], out real o[nx,ny], inout real v[,], inout real w[,], real x, int "   \
    "j, "                                                                                \
    "bool f)\n{\n    " body "\n}"

static test_unit t;
static rk_work *work;

static void setup(void)
{
    unit_open(&t);
    work = NULL;
}

static void teardown(void)
{
    unit_close(&t);
}

static void build(const char *text)
{
    ck_assert_msg(build_text(&t, text, &work), "%s", t.unit.messages.data);
    ck_assert_ptr_nonnull(work);
}

static const char *affine(rk_affine a)
{
    return rk_affine_text(&t.unit, work->symbol, a);
}

/* --- statements --------------------------------------------------------------------- */

START_TEST(field_compound_assignment_reads_the_left_side)
{
    build(WHOLE("inn(u) -= d;"));
    const rk_field *value = work->item[0].value;
    ck_assert_int_eq(value->op, RK_OP_SUB);
    ck_assert_int_eq(value->a->kind, RK_FIELD_SLICE);
    ck_assert_int_eq(value->a->a->kind, RK_FIELD_ARRAY);
    ck_assert_int_eq(value->a->a->param, 0);
    ck_assert_int_eq(value->b->param, 1);
}
END_TEST

START_TEST(field_arrays_are_taken_where_they_stand)
{
    build(WHOLE("let a = u + u; u = 2 * a; let b = u; u = a + b + u;"));
    ck_assert_int_eq(work->nitem, 4);
    ck_assert_int_eq(work->item[0].value->a->when, 0);
    ck_assert_ptr_eq(work->item[1].value->b, work->item[0].value);
    ck_assert_int_eq(work->item[2].value->when, 2);
    ck_assert_int_eq(work->item[3].value->b->when, 3);
    ck_assert_str_eq(work->item[2].name, "b");
}
END_TEST

START_TEST(field_left_side_must_be_an_array)
{
    expect_error(WHOLE("d_xa(u) = 1;"), RK_BAD_TARGET, "a computed value", "inn(u)");
    expect_error(WHOLE("u[:, :, *] = 1;"), RK_BAD_TARGET, "a new dimension", NULL);
    expect_error(WHOLE("pad(u, 0) = 1;"), RK_BAD_TARGET, "a padded field", NULL);
    expect_error(WHOLE("let a = u; a = 1;"), RK_BAD_TARGET, "`a` is a let",
                 "its value is given here");
    expect_error(WHOLE("let a = u; a[0, 0] = 1;"), RK_BAD_TARGET, "`a` is a let", NULL);
    expect_error(WHOLE("x = 1;"), RK_NOT_ASSIGNABLE, "a scalar parameter", NULL);
    expect_error(WHOLE("nx = 1;"), RK_NOT_ASSIGNABLE, "an extent", NULL);
    expect_error(WHOLE("d = 1;"), RK_WRITE_TO_IN, "declare it `inout real d`", NULL);
    expect_error(WHOLE("uu = 1;"), RK_UNKNOWN_NAME, "`uu`", NULL);
}
END_TEST

START_TEST(field_lets_do_not_reuse_names)
{
    expect_error(WHOLE("let u = 1;"), RK_LET_REUSES_NAME, "an array parameter",
                 "declared here");
    expect_error(WHOLE("let nx = 1;"), RK_LET_REUSES_NAME, "an extent", NULL);
    expect_error(WHOLE("let a = 1; if (f) { let a = 2; u = a; }"), RK_LET_REUSES_NAME,
                 "a let", NULL);
    expect_good(WHOLE("if (f) { let a = 1; u = a; } else { let a = 2; u = a; }"));
    expect_error(WHOLE("if (f) { let a = 1; u = a; } u = a;"), RK_UNKNOWN_NAME, "`a`",
                 NULL);
}
END_TEST

START_TEST(field_conditions_are_joined)
{
    build(WHOLE("if (f) { if (x > 0) u = 1; else { u = 2; } u = 3; } else u = 4; u = 5; "
                "if (true) u = 6;"));
    ck_assert_int_eq(work->nitem, 6);
    ck_assert_int_eq(work->item[0].cond->op, RK_OP_AND);
    ck_assert_int_eq(work->item[1].cond->op, RK_OP_AND);
    ck_assert_int_eq(work->item[1].cond->b->op, RK_OP_NOT);
    ck_assert_int_eq(work->item[2].cond->kind, RK_FIELD_SCALAR);
    ck_assert_int_eq(work->item[3].cond->op, RK_OP_NOT);
    ck_assert_ptr_null(work->item[4].cond);
    ck_assert_ptr_null(work->item[5].cond);
    expect_error(WHOLE("if (u > 0) u = 1;"), RK_BAD_CONDITION, "a field [nx, ny]",
                 "c ? a : b");
    expect_error(WHOLE("if (h[0] > 0) u = 1;"), RK_BAD_CONDITION, "reads an array", NULL);
    expect_error(WHOLE("if (j) u = 1;"), RK_NEEDS_BOOL, "is int, not bool", NULL);
}
END_TEST

START_TEST(field_results_are_folds)
{
    build("kernel k(in real a[n], in int c[n], out real s, out real m, out real l) "
          "{ s = sum(a * c); m = max(c); if (n > 0) { let q = 1; } l = min(a[1:]); }");
    ck_assert_int_eq(work->nitem, 4);
    ck_assert_int_eq(work->item[0].kind, RK_ITEM_RESULT);
    ck_assert_int_eq(work->item[0].fold, RK_FOLD_SUM);
    ck_assert_int_eq(work->item[0].param, 2);
    ck_assert_int_eq(work->item[1].fold, RK_FOLD_MAX);
    ck_assert_int_eq(work->item[1].value->op, RK_OP_TO_REAL);
    ck_assert_int_eq(work->item[3].fold, RK_FOLD_MIN);
    ck_assert_str_eq(affine(work->item[3].size[0]), "n-1");
    build_text(&t, "reduce max big(in real z[,]) = abs(z);", &work);
    ck_assert_int_eq(work->item[0].fold, RK_FOLD_MAX);
}
END_TEST

START_TEST(field_result_errors_say_what_to_write)
{
#define RESULT(body)                                                                     \
    "kernel k(in real a[n], in bool m[n], out real s, bool f) { " body " }"
    expect_error(RESULT("s = a;"), RK_BAD_RESULT_VALUE, "write `s = sum(F);`", NULL);
    expect_error(RESULT("s += sum(a);"), RK_BAD_RESULT_VALUE, "as a whole", NULL);
    expect_error(RESULT("s = sum(1);"), RK_BAD_RESULT_VALUE, "`sum` of a scalar", NULL);
    expect_error(RESULT("s = sum(m);"), RK_BOOL_AS_NUMBER, "the operand of `sum`", NULL);
    expect_error(RESULT("s = sum(a) + 1;"), RK_BAD_RESULT_VALUE, "not a fold", NULL);
    expect_error(RESULT("s = sum(a); s = max(a);"), RK_RESULT_TWICE, "first here", NULL);
    expect_error(RESULT("if (f) { s = sum(a); }"), RK_RESULT_IN_IF, "outside", NULL);
    expect_error(RESULT("let b = 1;"), RK_RESULT_MISSING, "never assigned", NULL);
    expect_error(RESULT("s = sum(a + s);"), RK_RESULT_READ, "cannot be read", NULL);
    expect_error(RESULT("let b = max(a);"), RK_FOLD_OUTSIDE, "out real NAME", NULL);
#undef RESULT
}
END_TEST

START_TEST(field_kernel_that_writes_nothing_is_an_error)
{
    expect_error(WHOLE("let a = u;"), RK_WRITES_NOTHING, "kernel `k` writes nothing",
                 NULL);
    expect_error("kernel k() { }", RK_WRITES_NOTHING, "give it an `out`", NULL);
}
END_TEST

/* --- out arrays --------------------------------------------------------------------- */

START_TEST(field_written_elements_of_out_may_be_read)
{
    expect_good(WHOLE("o = u; o *= 2; u = o;"));
    expect_good(
        WHOLE("inn(o) = d; inn(u) = inn(o); let a = d_xa(inn(o)); u[1:-2,1:-1] = a;"));
    expect_good(WHOLE("inn(o) = d; u[2:-2, 1:-1] = d_xi(o[1:-1, :])[1:, :];"));
    expect_good(WHOLE("inn(o) = d; u = pad(inn(o), 0);"));
    expect_good(WHOLE("o = u; u[j:, 0] = o[j:, 0];")); // what leaves the array is refused
    expect_good(WHOLE("o[:, j:j+2] = u[:, 0:2]; u[:, 1] = o[:, j+1];"));
    expect_good(WHOLE("let a = ix(o); u = a + extent(o, 0);"));
    expect_good(WHOLE("o = u; if (f) o += 1;"));
}
END_TEST

START_TEST(field_unwritten_elements_of_out_are_not_read)
{
    expect_error(WHOLE("u = o;"), RK_READ_BEFORE_WRITE, "declare it `inout real o`",
                 "[0:nx, 0:ny]");
    expect_error(WHOLE("inn(o) = d; u = o;"), RK_READ_BEFORE_WRITE,
                 "this writes [1:nx-1, 1:ny-1]", NULL);
    expect_error(WHOLE("if (f) o = u; u = o;"), RK_READ_BEFORE_WRITE,
                 "only if a condition holds", NULL);
    expect_error(WHOLE("let a = o; o = u; u = a;"), RK_READ_BEFORE_WRITE, "`o` is `out`",
                 NULL);
    expect_error(WHOLE("o[:, 0] = h; u[:, 1] = o[:, 1];"), RK_READ_BEFORE_WRITE,
                 "[0:nx, 1:2]", NULL);
    expect_error(WHOLE("o[:, 0] += h;"), RK_READ_BEFORE_WRITE, "[0:nx, 0:1]", NULL);
    expect_error(WHOLE("inn(o) = d; u = pad(o[1:, 1:], 0, 1:0, 1:0);"),
                 RK_READ_BEFORE_WRITE, "`o` is `out`", NULL);
    expect_error("kernel k(out real o[n], out real s) { o[1:] = 0; s = sum(o); }",
                 RK_READ_BEFORE_WRITE, "[0:n]", NULL);
}
END_TEST

START_TEST(field_shared_reads_of_out_are_checked_once)
{
    rubus__text text;
    rubus__text_init(&text);
    rubus__text_add(&text, "op f(A[]) = A[1:] + A[:-1];\n"
                           "kernel k(out real o[n], inout real a[n]) { o = a; a[20:] = ");
    for (int i = 0; i < 20; i++) {
        rubus__text_add(&text, "f(");
    }
    rubus__text_add(&text, "o");
    for (int i = 0; i < 20; i++) {
        rubus__text_add(&text, ")");
    }
    rubus__text_add(&text, "; }");
    expect_good(text.data); // 2^20 paths, 21 boxes at most on the way to the array
    rubus__text_fini(&text);
}
END_TEST

/* --- several errors, garbage, memory ------------------------------------------------ */

START_TEST(field_reports_several_errors_in_one_run)
{
    ck_assert(!build_text(
        &t, WHOLE("u = d;\n u = lamda;\n let a = iz(u);\n d = 1;\n u = a;"), &work));
    ck_assert_int_eq(t.unit.nerror, 4); // the use of `a` says nothing more
    ck_assert_ptr_null(work);
}
END_TEST

START_TEST(field_every_failed_allocation_is_survived)
{
    static const char text[] =
        "op f(A[]) = A[1:] + A[:-1]; func real g(real x) { return x^0.5; } " WHOLE(
            "let a = f(h); u[1:, 0] = a + g(x); o = u; if (f) inn(o) += pad(d[1:-1, "
            "1:-1], "
            "0); u[0:div(nx,2), 0] = lamda; u = v + w; u = h;");
    bool done = false;
    for (int64_t n = 1; !done; n++) {
        ck_assert_int_lt(n, 10000);
        test_unit u;
        rubus__alloc_fail_after(n, true);
        memset(&u, 0, sizeof(u));
        unit_open(&u);
        if (u.unit.arena != NULL) {
            (void)build_text(&u, text, &work);
            done = u.unit.status != RUBUS_ENOMEM && !u.unit.messages.failed;
        }
        rubus__alloc_fail_after(0, true);
        if (done) {
            ck_assert_int_gt(u.unit.nerror, 0);
        }
        unit_close(&u);
    }
}
END_TEST

static Suite *statement_suite(void)
{
    Suite *suite = suite_create("field statements");
    TCase *statements = tcase_create("statements");
    tcase_add_checked_fixture(statements, setup, teardown);
    tcase_add_test(statements, field_compound_assignment_reads_the_left_side);
    tcase_add_test(statements, field_arrays_are_taken_where_they_stand);
    tcase_add_test(statements, field_left_side_must_be_an_array);
    tcase_add_test(statements, field_lets_do_not_reuse_names);
    tcase_add_test(statements, field_conditions_are_joined);
    tcase_add_test(statements, field_results_are_folds);
    tcase_add_test(statements, field_result_errors_say_what_to_write);
    tcase_add_test(statements, field_kernel_that_writes_nothing_is_an_error);
    tcase_add_test(statements, field_written_elements_of_out_may_be_read);
    tcase_add_test(statements, field_unwritten_elements_of_out_are_not_read);
    tcase_add_test(statements, field_shared_reads_of_out_are_checked_once);
    tcase_add_test(statements, field_reports_several_errors_in_one_run);
    tcase_add_test(statements, field_every_failed_allocation_is_survived);
    suite_add_tcase(suite, statements);
    return suite;
}

RUBUS_TEST_MAIN("field statements", statement_suite)
