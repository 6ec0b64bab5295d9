/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole-array kernels as fields: shapes, slices, ops, folding, items and launch
 * conditions, and every error of these with its place and cure.
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

/* --- shapes ------------------------------------------------------------------------- */

START_TEST(field_example_of_each_code_gives_it)
{
    expect_examples(80, 119);
}
END_TEST

START_TEST(field_assignment_has_the_box_of_its_left_side)
{
    build(WHOLE("u[1:-1, -2] = h[1:-1];"));
    ck_assert_int_eq(work->nitem, 1);
    const rk_item *item = &work->item[0];
    ck_assert_int_eq(item->kind, RK_ITEM_ASSIGN);
    ck_assert_int_eq(item->param, 0);
    ck_assert_int_eq(item->rank, 1);
    ck_assert_str_eq(affine(item->size[0]), "nx-2");
    ck_assert(item->target[0].keep);
    ck_assert_str_eq(affine(item->target[0].lo), "1");
    ck_assert(!item->target[1].keep);
    ck_assert_str_eq(affine(item->target[1].lo), "ny-2");
    ck_assert_ptr_null(item->cond);
}
END_TEST

START_TEST(field_left_side_goes_through_ops_and_slices)
{
    build(WHOLE("inn(u)[1:, :][:, 2:-1] = 1;"));
    const rk_item *item = &work->item[0];
    ck_assert_str_eq(affine(item->target[0].lo), "2");
    ck_assert_str_eq(affine(item->target[1].lo), "3");
    ck_assert_str_eq(affine(item->size[0]), "nx-3");
    ck_assert_str_eq(affine(item->size[1]), "ny-5");
    ck_assert_int_eq(item->value->kind, RK_FIELD_CONST);
    ck_assert_int_eq(item->value->type, RK_REAL); // the int literal was stored in real
    ck_assert_int_eq(item->value->rank, 0);
}
END_TEST

START_TEST(field_single_element_has_rank_0)
{
    build(WHOLE("u[0, j] = h[-1];"));
    const rk_item *item = &work->item[0];
    ck_assert_int_eq(item->rank, 0);
    ck_assert_str_eq(affine(item->target[0].lo), "0");
    ck_assert_str_eq(affine(item->target[1].lo), "j");
    ck_assert_int_eq(item->value->rank, 0);
    ck_assert_str_eq(affine(item->value->sub[0].lo), "nx-1");
}
END_TEST

START_TEST(field_bounds_from_the_end_and_start)
{
    build(WHOLE("let a = h[-0:]; let b = h[j:nx-j]; let e = h[-3:-1]; let g = h[:-nx+2]; "
                "u = 0;"));
    ck_assert_str_eq(affine(work->item[0].size[0]), "0");
    ck_assert_str_eq(affine(work->item[1].size[0]), "-2*j+nx");
    ck_assert_str_eq(affine(work->item[2].size[0]), "2");
    ck_assert_str_eq(affine(work->item[2].value->sub[0].lo), "nx-3");
    ck_assert_str_eq(affine(work->item[3].size[0]), "2"); // nx - (nx - 2)
}
END_TEST

START_TEST(field_bounds_that_are_not_affine_are_symbols_once)
{
    build(WHOLE("c[0:div(nx, 2)] = c[1:div(nx,2)+1]; let a = h[2*div(nx, 2)-min(j, 3):];"
                "let half = div(nx, 2); let b = h[half:];"));
    int32_t opaque = 0;
    for (int32_t i = 0; i < work->nsymbol; i++) {
        opaque += work->symbol[i].kind == RK_SYMBOL_OPAQUE ? 1 : 0;
    }
    ck_assert_int_eq(opaque, 2);
    ck_assert_str_eq(affine(work->item[1].size[0]), "nx-2*div(nx, 2)+min(j, 3)");
    ck_assert_str_eq(affine(work->item[3].size[0]), "nx-div(nx, 2)");
}
END_TEST

START_TEST(field_shape_errors_name_both_sizes_and_places)
{
    expect_error(WHOLE("u = u + d;"), RK_SHAPE_MISMATCH,
                 "`+` of shapes [nx, ny] and [nx-2, ny-2], which differ along x",
                 "t.rk:3:13: note: this is [nx-2, ny-2]");
    expect_error(WHOLE("u = d;"), RK_SHAPE_MISMATCH,
                 "the left side is [nx, ny] and the value [nx-2, ny-2]", "slice");
    expect_error("kernel k(inout real a[n], in real b[m]) { a = b; }", RK_SHAPE_MISMATCH,
                 "[n]", "declare both with one extent");
    expect_error(WHOLE("u[1:, :] += h[:, *];"), RK_SHAPE_MISMATCH, "[nx-1, ny]", NULL);
    expect_error(WHOLE("u = u + h;"), RK_RANK_MISMATCH, "rank 2 and 1", "h[:, *]");
    expect_error(WHOLE("h[0:2] = 1; u[0, 0] = h;"), RK_WRITE_TO_IN, "`h`", NULL);
    expect_error(WHOLE("u[0, 0] = h;"), RK_RANK_MISMATCH, "rank 0 and the value rank 1",
                 "sum");
    expect_error(WHOLE("v = v[1:, :] + v[:-1, :];"), RK_SHAPE_MISMATCH, "v.x-1", NULL);
    expect_error(WHOLE("c = f ? c : c[1:];"), RK_SHAPE_MISMATCH, "`?:` of shapes", NULL);
    expect_error("func real g(real x, real y) { return x; } " WHOLE("u = g(u, d);"),
                 RK_SHAPE_MISMATCH, "`g` of shapes", NULL);
}
END_TEST

START_TEST(field_error_inside_an_op_is_shown_at_its_call)
{
    expect_error("op f(A[,], B[,]) = A + B; " WHOLE("u = f(u, d);"), RK_SHAPE_MISMATCH,
                 "t.rk:3:9: error", "note: op `f` fails here");
}
END_TEST

START_TEST(field_blanks_are_compared_at_launch)
{
    build(WHOLE("v = w[1:, :] * u + v; w = w;"));
    ck_assert_int_eq(work->ncheck, 4);
    ck_assert_int_eq(work->check[0].kind, RK_CHECK_EQUAL);
    ck_assert_str_eq(affine(work->check[0].a), "w.x-1");
    ck_assert_str_eq(affine(work->check[0].b), "nx");
    ck_assert_str_eq(affine(work->check[1].a), "w.y");
    ck_assert_str_eq(work->check[0].message, "sizes along x must be equal: w.x-1 and nx");
    build_text(&t, "kernel q(inout real a[], in real b[]) { a = a + b; a = b + a; }",
               &work);
    ck_assert_int_eq(work->ncheck, 1); // either way round is one condition
    ck_assert_str_eq(work->check[0].message,
                     "extents of `a` and `b` along x must be equal");
}
END_TEST

START_TEST(field_lifted_dimensions_fit_everything)
{
    build(
        WHOLE("u = h[:, *] * u; u[:, 1:] = h[:, *][:, 1:-1]; let a = h[:, *][:, 2:5]; "
              "let b = h[*, :, *]; let e = h[:, *][1:, 0]; u = inn(h[:, *])[0, :][*, :];"
              "let g = h[:, *] + 1;"));
    ck_assert_str_eq(affine(work->item[0].value->size[1]), "ny");
    ck_assert(!work->item[0].value->any[1]);
    ck_assert(work->item[1].value->any[1]);
    ck_assert_str_eq(affine(work->item[2].size[1]), "3");
    ck_assert_int_eq(work->item[3].rank, 3);
    ck_assert(work->item[3].value->any[0] && !work->item[3].value->any[1] &&
              work->item[3].value->any[2]);
    ck_assert_int_eq(work->item[4].rank, 1);
    ck_assert_str_eq(affine(work->item[4].size[0]), "nx-1");
    ck_assert(work->item[6].value->any[1]);
    expect_error("kernel k(in real h[n], out real s) { s = sum(h[:, *]); }", RK_ANY_SIZE,
                 "dimension 1", NULL);
    expect_error(WHOLE("c = iy(h[:, *])[:, 0];"), RK_ANY_SIZE, "no positions", NULL);
}
END_TEST

START_TEST(field_pad_extends_as_it_says)
{
    build(WHOLE("u = pad(d, 0); u = pad(d, j, 2:0, 0:2); c = pad(c, 1, 0:0);"
                "let a = pad(c, 0.5);"));
    const rk_field *pad = work->item[1].value;
    ck_assert_int_eq(pad->kind, RK_FIELD_PAD);
    ck_assert_int_eq(pad->before[0], 2);
    ck_assert_int_eq(pad->after[0], 0);
    ck_assert_int_eq(pad->before[1], 0);
    ck_assert_int_eq(pad->after[1], 2);
    ck_assert_int_eq(pad->b->type, RK_REAL);
    ck_assert_int_eq(work->item[0].value->before[1], 1);
    ck_assert_int_eq(work->item[3].value->type, RK_REAL); // the ints met a real
    expect_error(WHOLE("u = pad(d, h);"), RK_BAD_PAD, "a scalar, this is a field [nx]",
                 NULL);
    expect_error(WHOLE("u = pad(d, 0, 1:1);"), RK_BAD_PAD,
                 "1 range for a field of rank 2", NULL);
    expect_error(WHOLE("u = pad(d, f);"), RK_BOOL_AS_NUMBER, "the padded field is real",
                 NULL);
    expect_error(WHOLE("u = pad(d, 0, 1, 2);"), RK_BAD_PAD, "ranges of int literals",
                 NULL);
    expect_error(WHOLE("c = max(c, 1:0);"), RK_BAD_PAD, "only `pad` takes ranges", NULL);
    expect_error(WHOLE("u = pad(d);"), RK_WRONG_ARGUMENTS, "write pad(F, v)", NULL);
}
END_TEST

START_TEST(field_coordinates_have_the_shape_of_their_field)
{
    build(WHOLE("u = iy(u) + ix(o); c[1:] = ix(inn(h[:, *]))[0, 0];"
                "u[2:, 2:] = iy(d) + extent(d, 1);"));
    ck_assert_str_eq(affine(work->item[2].value->size[0]), "nx-2");
    expect_error(WHOLE("u = iz(u);"), RK_BAD_AXIS, "3 dimensions", "[nx, ny]");
    expect_error(WHOLE("c = ix(x);"), RK_BAD_AXIS, "a scalar", NULL);
    expect_error(WHOLE("c = extent(c, j);"), RK_BAD_EXTENT_CALL, "0, 1 or 2", NULL);
    expect_error(WHOLE("c = ix(u, 1)[:, 0];"), RK_WRONG_ARGUMENTS, "write ix(F)", NULL);
}
END_TEST

START_TEST(field_subscripts_match_the_rank)
{
    expect_error(WHOLE("u[1:-1] = 1;"), RK_FIELD_SUBSCRIPTS,
                 "1 subscript for a field of rank 2, [nx, ny]", NULL);
    expect_error(WHOLE("u = x[0];"), RK_FIELD_SUBSCRIPTS, "of a scalar", NULL);
    expect_error(WHOLE("u[c, 0] = 1;"), RK_BAD_BOUND, "do not gather", NULL);
    expect_error(WHOLE("u[c[0], 0] = 1;"), RK_BAD_BOUND, "elements of arrays", NULL);
    expect_error(WHOLE("u[0:int(x), 0] = 1;"), RK_BAD_BOUND, "int parameter", NULL);
    expect_error(WHOLE("u[0:0.5, 0] = 1;"), RK_BAD_BOUND, "this is real", NULL);
    expect_error(WHOLE("u[0:f, 0] = 1;"), RK_BAD_BOUND, "this is bool", NULL);
}
END_TEST

/* --- ops ---------------------------------------------------------------------------- */

START_TEST(field_op_is_chosen_by_ranks)
{
    build("op g(A[,], h[]) = A; op g(A[,], h) = A * h; op inn(A[]) = A[2:]; " WHOLE(
        "u = g(u, h) + g(u, 2); let a = inn(h); let b = inn(u);"));
    ck_assert_str_eq(affine(work->item[1].size[0]), "nx-2"); // its own: A[2:]
    ck_assert_str_eq(affine(work->item[1].value->sub[0].lo), "2");
    ck_assert_str_eq(affine(work->item[2].value->sub[0].lo), "1");
    expect_error(WHOLE("u = inn(3);"), RK_NO_SUCH_OP, "rank 0", "there is inn(A[,])");
    expect_error(WHOLE("u = d_xa(u, u);"), RK_NO_SUCH_OP, "arguments of rank 2, 2", NULL);
}
END_TEST

START_TEST(field_library_ops_keep_their_meaning)
{
    // d_xi is written with the library's d_xa, not with this one
    build("op d_xa(A[,]) = A; " WHOLE("let a = d_xi(u); u = d_xa(u);"));
    ck_assert_str_eq(affine(work->item[0].size[0]), "nx-1");
    ck_assert_int_eq(work->item[1].value->kind, RK_FIELD_ARRAY);
}
END_TEST

START_TEST(field_op_sees_only_its_parameters)
{
    expect_error("op f(A[]) = A * x; " WHOLE("c = 1; u[:, 0] = f(h);"), RK_UNKNOWN_NAME,
                 "unknown name `x`", NULL);
    expect_good("op f(A[]) { let x = A + 1; let y = x * 2; return y[1:]; } " WHOLE(
        "u[1:, 0] = f(h) * x;"));
    expect_error("op f(A[]) { let A = 1; return A; }", RK_LET_REUSES_NAME, "`A`", NULL);
}
END_TEST

START_TEST(field_op_recursion_names_the_chain)
{
    expect_error("op f(A[]) = g(A); op g(A[]) = h2(A); op h2(A[]) = g(A); " WHOLE(
                     "u[:, 0] = f(h);"),
                 RK_OP_RECURSION, "g -> h2 -> g", NULL);
    // another op of the same name is none
    expect_good(
        "op f(A[]) = f(A[:, *])[:, 0]; op f(A[,]) = A; " WHOLE("u[:, 0] = f(h);"));
}
END_TEST

START_TEST(field_argument_used_twice_is_one_field)
{
    build("op f(A[]) = A + A; " WHOLE("u[:, 0] = f(f(f(f(f(f(f(f(h))))))));"));
    const rk_field *field = work->item[0].value;
    int32_t height = 0;
    while (field->kind == RK_FIELD_APPLY) {
        ck_assert_ptr_eq(field->a, field->b);
        field = field->a;
        height++;
    }
    ck_assert_int_eq(height, 8);
    ck_assert_int_eq(field->kind, RK_FIELD_ARRAY);
}
END_TEST

START_TEST(field_exponential_expansion_ends)
{
    rubus__text text;
    rubus__text_init(&text);
    rubus__text_add(&text, "op f0(A[]) = A;\n");
    for (int i = 1; i < 64; i++) {
        rubus__text_format(&text, "op f%d(A[]) = f%d(A + 1) + f%d(A + 2);\n", i, i - 1,
                           i - 1);
    }
    rubus__text_add(&text, WHOLE("u[:, 0] = f63(h);"));
    expect_error(text.data, RK_TOO_LARGE, "more steps", NULL);
    rubus__text_fini(&text);
}
END_TEST

START_TEST(field_deep_nesting_is_survived_or_refused)
{
    rubus__text text;
    rubus__text_init(&text);
    rubus__text_add(&text, "op f0(A[]) = A;\n");
    for (int i = 1; i < 6000; i++) {
        rubus__text_format(&text, "op f%d(A[]) = f%d(A);\n", i, i - 1);
    }
    const size_t size = text.size;
    rubus__text_add(&text, WHOLE("u[:, 0] = f2000(h);"));
    expect_good(text.data);
    text.size = size;
    rubus__text_add(&text, WHOLE("u[:, 0] = f5999(h);"));
    expect_error(text.data, RK_TOO_DEEP, "nested more than 5000 deep", NULL);
    rubus__text_fini(&text);

    rubus__text_init(&text);
    rubus__text_add(&text, "kernel k(inout real a[n]) { let v0 = a;\n");
    for (int i = 1; i < 6000; i++) {
        rubus__text_format(&text, "let v%d = v%d + 1;\n", i, i - 1);
    }
    rubus__text_add(&text, "a = v5999; }");
    expect_error(text.data, RK_TOO_DEEP, "more than 5000 operations deep",
                 "store a value");
    rubus__text_fini(&text);

    rubus__text_init(&text);
    rubus__text_add(&text, "kernel k(inout real a[n]) { a = a");
    for (int i = 0; i < 4000; i++) {
        rubus__text_add(&text, " + 1");
    }
    rubus__text_add(&text, "; }");
    expect_good(text.data);
    rubus__text_fini(&text);
}
END_TEST

/* --- values ------------------------------------------------------------------------- */

START_TEST(field_constants_fold_as_running_rounds)
{
    t.unit.numbers.f64 = false;
    build(WHOLE("let a = 0.1 + 0.2; let b = 7 / 2; let e = 2^10; let g = -3 % 2; "
                "let p = 2 > 1 ? 4 : 5.5; let q = false ? h : h[:]; u = 0;"));
    ck_assert(work->item[0].value->value.u.real == (double)(0.1f + 0.2f));
    ck_assert(work->item[1].value->value.u.real == 3.5);
    ck_assert_int_eq(work->item[2].value->value.u.i, 1024);
    ck_assert_int_eq(work->item[3].value->value.u.i, -1);
    ck_assert_int_eq(work->item[4].value->type, RK_REAL);
    ck_assert(work->item[4].value->value.u.real == 4.0);
    ck_assert_int_eq(work->item[5].value->kind, RK_FIELD_ARRAY);
}
END_TEST

START_TEST(field_sums_of_sizes_stay_affine)
{
    build(WHOLE("let a = 2 * (nx - 1) - j; let b = h[a:a+3]; let e = -(nx * 3) + 1; "
                "let g = nx * ny; let p = nx + 0.5; c = nx;"));
    ck_assert_int_eq(work->item[0].value->kind, RK_FIELD_SYMBOL);
    ck_assert_str_eq(affine(work->item[0].value->affine), "-j+2*nx-2");
    ck_assert_str_eq(affine(work->item[1].size[0]), "3");
    ck_assert_str_eq(affine(work->item[2].value->affine), "-3*nx+1");
    ck_assert_int_eq(work->item[3].value->kind, RK_FIELD_APPLY);
    ck_assert_int_eq(work->item[4].value->type, RK_REAL);
    ck_assert_int_eq(work->item[4].value->a->op, RK_OP_TO_REAL);
    ck_assert_int_eq(work->item[5].value->kind, RK_FIELD_SYMBOL);
}
END_TEST

START_TEST(field_constant_condition_keeps_the_shape)
{
    build(WHOLE("let a = true ? 1 : h; let b = a[1:]; u = 0;"));
    ck_assert_int_eq(work->item[0].value->rank, 1);
    ck_assert_int_eq(work->item[0].value->type, RK_REAL);
    ck_assert_str_eq(affine(work->item[1].size[0]), "nx-1");
}
END_TEST

START_TEST(field_calls_convert_their_arguments)
{
    build("func real g(real x, int k) { return x; } " WHOLE(
        "u = g(j, c[0]) * exp(c[:, *]) + u^2 + u^j + u^0.5;"));
    for (int32_t i = 0; i < t.unit.module.nfunc; i++) {
        ck_assert_msg(t.unit.module.func[i]->used, "%s", t.unit.module.func[i]->name);
    }
    expect_error("func real g(real x, int k) { return x; } " WHOLE("u = g(u, u);"),
                 RK_REAL_INTO_INT, "parameter `k` of `g`", NULL);
    expect_error("func real g(real x) { return x; } " WHOLE("u = g(u, u);"),
                 RK_WRONG_ARGUMENTS, "takes 1 argument, not 2", NULL);
    expect_error(WHOLE("u = exq(u);"), RK_UNKNOWN_CALL, "did you mean `exp`?", NULL);
}
END_TEST

START_TEST(field_types_are_as_strict_as_elsewhere)
{
    expect_error(WHOLE("c = c / 2;"), RK_REAL_INTO_INT, "int(x)", NULL);
    expect_error(WHOLE("c /= 2;"), RK_REAL_INTO_INT, "c = div(c, ...)", NULL);
    expect_error(WHOLE("c += 0.5;"), RK_REAL_INTO_INT, "`c` is int, this is real", NULL);
    expect_error(WHOLE("u[:, 0] = m;"), RK_BOOL_AS_NUMBER, "`m ? 1 : 0`", NULL);
    expect_error(WHOLE("u[:, 0] = m * 2;"), RK_BOOL_AS_NUMBER, NULL, NULL);
    expect_error(WHOLE("u = u % 2;"), RK_TYPE_MISMATCH, "takes ints", NULL);
    expect_error(WHOLE("u = u ? 1 : 2;"), RK_NEEDS_BOOL, "`?:` is real", NULL);
    expect_good(WHOLE("c = m ? c : div(c, 2); u *= c[:, *]; u /= 2; c = int(u[:, 0]);"));
}
END_TEST

static Suite *field_suite(void)
{
    Suite *suite = suite_create("field");
    TCase *shapes = tcase_create("shapes");
    tcase_add_checked_fixture(shapes, setup, teardown);
    tcase_add_test(shapes, field_example_of_each_code_gives_it);
    tcase_add_test(shapes, field_assignment_has_the_box_of_its_left_side);
    tcase_add_test(shapes, field_left_side_goes_through_ops_and_slices);
    tcase_add_test(shapes, field_single_element_has_rank_0);
    tcase_add_test(shapes, field_bounds_from_the_end_and_start);
    tcase_add_test(shapes, field_bounds_that_are_not_affine_are_symbols_once);
    tcase_add_test(shapes, field_shape_errors_name_both_sizes_and_places);
    tcase_add_test(shapes, field_error_inside_an_op_is_shown_at_its_call);
    tcase_add_test(shapes, field_blanks_are_compared_at_launch);
    tcase_add_test(shapes, field_lifted_dimensions_fit_everything);
    tcase_add_test(shapes, field_pad_extends_as_it_says);
    tcase_add_test(shapes, field_coordinates_have_the_shape_of_their_field);
    tcase_add_test(shapes, field_subscripts_match_the_rank);
    suite_add_tcase(suite, shapes);
    TCase *ops = tcase_create("ops");
    tcase_add_checked_fixture(ops, setup, teardown);
    tcase_add_test(ops, field_op_is_chosen_by_ranks);
    tcase_add_test(ops, field_library_ops_keep_their_meaning);
    tcase_add_test(ops, field_op_sees_only_its_parameters);
    tcase_add_test(ops, field_op_recursion_names_the_chain);
    tcase_add_test(ops, field_argument_used_twice_is_one_field);
    tcase_add_test(ops, field_exponential_expansion_ends);
    tcase_add_test(ops, field_deep_nesting_is_survived_or_refused);
    suite_add_tcase(suite, ops);
    TCase *values = tcase_create("values");
    tcase_add_checked_fixture(values, setup, teardown);
    tcase_add_test(values, field_constants_fold_as_running_rounds);
    tcase_add_test(values, field_sums_of_sizes_stay_affine);
    tcase_add_test(values, field_constant_condition_keeps_the_shape);
    tcase_add_test(values, field_calls_convert_their_arguments);
    tcase_add_test(values, field_types_are_as_strict_as_elsewhere);
    suite_add_tcase(suite, values);
    return suite;
}

RUBUS_TEST_MAIN("field", field_suite)
