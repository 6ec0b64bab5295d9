/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of modules: each error with its place and cure, and what the check leaves in
 * the tree of correct per-point code (types, conversions, meanings of names, symbols).
 */
#include "config.h"

#include "tests/kernel/check_unit.h"
#include "tests/support/suite.h"

/* A per-point kernel around statements. */
#define POINT(body)                                                                      \
    "kernel k(inout real a[n], inout int c[n], in bool m[n], in real b[n,n], "           \
    "out real o[n], real x, int j) over (i) { a[i] = 0; " body " }"

START_TEST(check_example_of_each_code_gives_it)
{
    expect_examples(40, 79);
}
END_TEST

START_TEST(check_correct_code_passes)
{
    expect_good(
        POINT("real s = 1; for (int p = 0; p < n; p++) { s += p; if (s > 3) break; "
              "else continue; } while (m[i]) { s -= x; return; } a[i] = s;"));
    expect_good(POINT("real q[9]; q[0] = 1; q[j] += 2; atomic_add(c[i], 2); "
                      "atomic_add(o[0], j);"));
    expect_good(
        POINT("real x = 2; { real x = 3; x += 1; } int i = 2; i += 1; a[i] = x;"));
    expect_good(POINT("c[i] = extent(b, 1) + n * j; c[i] %= 3; c[i]++; a[i] = a[i]^2;"));
    expect_good(POINT("a[i] = m[i] ? 1 : x; c[i] = int(x); a[-1 + i] = min(j, 2.5);"));
    expect_good(
        "func int f(int a) { int b = a; while (true) { b += 1; if (b > 9) return b; } }");
    expect_good("func real g(real x) { if (x > 0) return x; else { return 0; } }");
    expect_good("op d(A[]) = 2 * A; kernel k(inout real d[n]) { d = d(d); }");
}
END_TEST

START_TEST(check_unknown_name_suggests_the_nearest)
{
    expect_error("kernel q(inout real u[n], real lambda)\n{\n    u += lamda * u;\n}",
                 RK_UNKNOWN_NAME, "t.rk:3:10: error", "did you mean `lambda`?");
    expect_error(POINT("real speed = 1; a[i] = sped;"), RK_UNKNOWN_NAME,
                 "unknown name `sped`", "did you mean `speed`?");
    expect_error(POINT("a[i] = exp;"), RK_UNKNOWN_NAME, "call it, exp(...)", NULL);
    expect_error("op f(A[]) = A + B; kernel k(inout real a[n]) { a = f(a); }",
                 RK_UNKNOWN_NAME, "unknown name `B`", NULL);
    expect_error("func real f(real x) { return x + n; } "
                 "kernel k(inout real a[n]) { a = f(a); }",
                 RK_UNKNOWN_NAME, "unknown name `n`", NULL);
}
END_TEST

START_TEST(check_unknown_name_is_reported_once)
{
    test_unit t;
    unit_open(&t);
    ck_assert(!check_text(&t, POINT("a[i] = q + q; a[i] = q * q[i];")));
    ck_assert_int_eq(t.unit.nerror, 1);
    unit_close(&t);
}
END_TEST

START_TEST(check_unknown_call_suggests_or_explains)
{
    expect_error(POINT("a[i] = sqr(x);"), RK_UNKNOWN_CALL, "did you mean `sqrt`?", NULL);
    expect_error("kernel k(inout real a[n,m]) { a[1:,:] = d_ax(a); }", RK_UNKNOWN_CALL,
                 "did you mean `d_xa`?", NULL);
    expect_error(POINT("a[i] = b(1, 2);"), RK_UNKNOWN_CALL, "an array parameter",
                 "b[...]");
    expect_error("op f(A[]) = nothing_like_it(A);", RK_UNKNOWN_CALL, "unknown function",
                 "define it with `op`");
}
END_TEST

START_TEST(check_duplicates_name_the_first)
{
    static const char *const list[] = {
        "kernel k(out real a[n]) { a = 1; }\nkernel k(out real a[n]) { a = 1; }",
        "func real f() { return 1; }\nfunc int f() { return 1; }",
        "op f(A[]) = A;\nop f(B[]) = B;",
        "func real f() { return 1; }\nop f(A) = A;",
        "op f(A, A) = A;",
        "func real f(real x, int x) { return 1; }",
        "kernel k(out real a[n], real a) { a = 1; }",
        "kernel k(out real a[n]) over (i, i) { a[i] = 1; }",
        "kernel k(out real a[n]) over (n) { a[n] = 1; }",
        POINT("real s; int s;"),
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        expect_error(list[i], RK_DUPLICATE_NAME, "is already the name of",
                     "declared here");
    }
    expect_good("op f(A[]) = A; op f(A[,]) = A; op f(A) = A;");
    expect_good("op inn(A[]) = A; func real exp(real x) { return x; }");
}
END_TEST

START_TEST(check_names_of_the_language_are_taken)
{
    expect_error("op pad(A[]) = A;", RK_NAME_TAKEN, "`pad`", NULL);
    expect_error("op ix(A[]) = A;", RK_NAME_TAKEN, "`ix`", NULL);
    expect_error("func int div(int a, int b) { return a; }", RK_NAME_TAKEN, "`div`",
                 NULL);
    expect_error("op sum(A[]) = A;", RK_NAME_TAKEN, "`sum`", NULL);
}
END_TEST

START_TEST(check_scalars_and_results_have_their_modes)
{
    expect_error("kernel k(out real a[n], inout real s) { a = s; }", RK_BAD_RESULT,
                 "cannot be `inout`", NULL);
    expect_error("kernel k(out real a[n], out real s) over (i) { a[i] = 1; s = 2; }",
                 RK_BAD_RESULT, "per-point kernel has no results", NULL);
    expect_error("kernel k(in real a[n], out bool s) { s = sum(a); }", RK_BAD_RESULT,
                 "write `out real s`", NULL);
    expect_good(
        "kernel k(out real a[n], in real s, in int t, bool u) { a = u ? s : t; }");
}
END_TEST

START_TEST(check_extents_are_affine_and_solvable)
{
    expect_error("kernel k(out real a[div(n,2)]) { a = 1; }", RK_BAD_EXTENT, "affine",
                 NULL);
    expect_error("kernel k(out real a[n], in real b[a]) { a = 1; }", RK_BAD_EXTENT,
                 "`a` is an array parameter", NULL);
    expect_error("kernel k(out real a[x], real x) { a = 1; }", RK_BAD_EXTENT,
                 "`x` is real, a scalar parameter", NULL);
    expect_error("kernel k(out real a[n+m], in real b[n-m]) { a = 1; }",
                 RK_UNSOLVED_EXTENT, "`n`", "add a parameter `int n`");
    expect_good("kernel k(out real a[n+m], in real b[2*m+1]) { a[0:m] = 1; }");
    expect_good("kernel k(out real a[m], int m) { a = 1; }");
    expect_good("kernel k(out real a[n-2], in real b[n]) { a = 1; }");
}
END_TEST

START_TEST(check_solves_extents_in_order)
{
    test_unit t;
    rk_work *work = NULL;
    unit_open(&t);
    // n stands alone nowhere: p (from c) gives n (from b), which gives m (from a)
    ck_assert_msg(
        build_text(&t,
                   "kernel k(out real a[n+m], in real b[p-n], in real c[3*p+1], "
                   "in real e[,], int s, in real f[s+m]) { a = 1; }",
                   &work),
        "%s", t.unit.messages.data);
    ck_assert_int_eq(work->nsymbol, 6);
    static const struct {
        const char *name;
        rk_symbol_kind kind;
        int32_t param;
        int32_t dim;
    } want[] = {
        {"s", RK_SYMBOL_SCALAR, 4, 0},  {"m", RK_SYMBOL_EXTENT, 5, 0},
        {"p", RK_SYMBOL_EXTENT, 2, 0},  {"n", RK_SYMBOL_EXTENT, 0, 0},
        {"e.x", RK_SYMBOL_BLANK, 3, 0}, {"e.y", RK_SYMBOL_BLANK, 3, 1},
    };
    bool seen[6] = {false};
    for (int32_t i = 0; i < work->nsymbol; i++) {
        for (int32_t k = 0; k < 6; k++) {
            if (strcmp(work->symbol[i].name, want[k].name) == 0) {
                ck_assert_int_eq(work->symbol[i].kind, want[k].kind);
                ck_assert_int_eq(work->symbol[i].param, want[k].param);
                ck_assert_int_eq(work->symbol[i].dim, want[k].dim);
                seen[k] = true;
            }
        }
        // every term of the extent that gives a symbol comes before it
        const rk_symbol *s = &work->symbol[i];
        const rk_affine from = work->extent[s->param][s->dim];
        for (int32_t k = 0; s->kind == RK_SYMBOL_EXTENT && k < from.nterm; k++) {
            ck_assert_int_le(from.term[k].symbol, i);
        }
    }
    for (int32_t k = 0; k < 6; k++) {
        ck_assert_msg(seen[k], "no symbol %s", want[k].name);
    }
    ck_assert_str_eq(rk_affine_text(&t.unit, work->symbol, work->extent[2][0]), "3*p+1");
    unit_close(&t);
}
END_TEST

START_TEST(check_types_of_operations)
{
    expect_error(POINT("a[i] = m[i] + 1;"), RK_BOOL_AS_NUMBER, "`m ? 1 : 0`", NULL);
    expect_error(POINT("a[i] = m[i];"), RK_BOOL_AS_NUMBER, "`a[i]` is real, this is bool",
                 NULL);
    expect_error(POINT("c[i] = x;"), RK_REAL_INTO_INT, "int(x)", NULL);
    expect_error(POINT("c[i] = 1 / 2;"), RK_REAL_INTO_INT, "div", NULL);
    expect_error(POINT("c[i] /= 2;"), RK_REAL_INTO_INT, "c[i] = div(c[i], ...)", NULL);
    expect_error(POINT("c[i] += 0.5;"), RK_REAL_INTO_INT, NULL, NULL);
    expect_error(POINT("a[i] %= 2;"), RK_TYPE_MISMATCH, "takes ints", NULL);
    expect_error(POINT("a[i] = div(x, 2);"), RK_TYPE_MISMATCH, "`div` takes ints", NULL);
    expect_error(POINT("a[i] = !x ? 1 : 2;"), RK_NEEDS_BOOL, "`!` takes bools, not real",
                 NULL);
    expect_error(POINT("if (j) a[i] = 1;"), RK_NEEDS_BOOL, "condition of `if` is int",
                 NULL);
    expect_error(POINT("while (x) a[i] = 1;"), RK_NEEDS_BOOL, "condition of `while`",
                 NULL);
    expect_error(POINT("bool t = x;"), RK_NEEDS_BOOL, "`t` is bool, this is real", NULL);
    expect_error(POINT("a[i] = x > 0 ? 1 : true;"), RK_TYPE_MISMATCH, "int and bool",
                 NULL);
    expect_error(POINT("a[i] = ldexp(x, 2.5);"), RK_TYPE_MISMATCH, "an int", NULL);
    expect_error(POINT("a[i] = m[i] ^ 2;"), RK_BOOL_AS_NUMBER, NULL, NULL);
    expect_error(POINT("c[i] = j ^ -1;"), RK_REAL_INTO_INT, NULL, NULL);
    expect_error(POINT("a[i] = 1; a[x] = 2;"), RK_BAD_SUBSCRIPT,
                 "is an int, this is real", NULL);
    expect_good(POINT("c[i] = j ^ 2; c[i] = -2147483648; bool t = m[i] == true;"));
}
END_TEST

START_TEST(check_targets_must_be_variables)
{
    expect_error(POINT("i = 2;"), RK_NOT_ASSIGNABLE, "`i` is an index", "int my_i = i;");
    expect_error(POINT("x += 2;"), RK_NOT_ASSIGNABLE, "a scalar parameter", NULL);
    expect_error(POINT("n = 2;"), RK_NOT_ASSIGNABLE, "`n` is an extent", NULL);
    expect_error(POINT("a = 2;"), RK_NEEDS_SUBSCRIPT, "a[...] = ...", NULL);
    expect_error(POINT("real q[2]; q = 2;"), RK_NEEDS_SUBSCRIPT, "a local array", NULL);
    expect_error(POINT("b[0,0] = 2;"), RK_WRITE_TO_IN, "declare it `inout real b`",
                 "declared here");
    expect_error(POINT("atomic_add(b[0,0], 2);"), RK_WRITE_TO_IN, "`b` is `in`", NULL);
    expect_error("func real f(real x) { x = 2; return x; }", RK_NOT_ASSIGNABLE, "`x`",
                 NULL);
}
END_TEST

START_TEST(check_out_arrays_are_not_read)
{
    expect_error(POINT("a[i] = o[i];"), RK_READ_OF_OUT, "declare it `inout real o`",
                 NULL);
    expect_error(POINT("o[i] *= 2;"), RK_READ_OF_OUT, "`o` is `out`", NULL);
    expect_good(POINT("o[i] = 2; c[i] = extent(o, 0);"));
}
END_TEST

START_TEST(check_elements_have_right_subscripts)
{
    expect_error(POINT("a[i] = b[i];"), RK_WRONG_SUBSCRIPTS,
                 "`b` has 2 dimensions, but here are 1 subscript", "declared here");
    expect_error(POINT("a[i] = b[i, :];"), RK_SLICE_IN_POINT, "single elements of `b`",
                 NULL);
    expect_error(POINT("a[i] = a[*];"), RK_SLICE_IN_POINT, NULL, NULL);
    expect_error(POINT("a[i] = x[0];"), RK_NOT_AN_ARRAY, "`x` is a scalar parameter",
                 NULL);
    expect_error(POINT("a[i] = a[i][0];"), RK_NOT_AN_ARRAY, "name of an array", NULL);
    expect_error(POINT("a[i] = a;"), RK_NEEDS_SUBSCRIPT, "a[...]", NULL);
    expect_error(POINT("real q[x];"), RK_BAD_LENGTH, "1 to 4096", NULL);
    expect_error(POINT("real q[4097];"), RK_BAD_LENGTH, "1 to 4096", NULL);
    expect_error(POINT("real q[4] = 1;"), RK_BAD_LENGTH, "start at 0", NULL);
    expect_error(POINT("real q[4]; a[i] = extent(q, 0);"), RK_BAD_EXTENT_CALL,
                 "array parameter", NULL);
    expect_error(POINT("c[i] = extent(b, j);"), RK_BAD_EXTENT_CALL, "dimensions 0 to 1",
                 NULL);
    expect_error(POINT("real q[4]; atomic_add(q[0], 1);"), RK_BAD_ATOMIC, "use `+=`",
                 NULL);
}
END_TEST

START_TEST(check_field_functions_stay_out_of_point_code)
{
    expect_error(POINT("a[i] = max(a);"), RK_FOLD_IN_POINT, "`max` over a field", NULL);
    expect_error(POINT("a[i] = inn(a);"), RK_OP_IN_POINT, "`inn` works on whole fields",
                 NULL);
    expect_error(POINT("a[i] = pad(x, 1, 1:0);"), RK_OP_IN_POINT, NULL, NULL);
}
END_TEST

START_TEST(check_calls_count_their_arguments)
{
    expect_error("func real f(real x, int k) { return x; }" POINT("a[i] = f(1);"),
                 RK_WRONG_ARGUMENTS, "`f` takes 2 arguments, not 1", "defined here");
    expect_error("func real f(real x, int k) { return x; }" POINT("a[i] = f(1, 2.5);"),
                 RK_REAL_INTO_INT, "parameter `k` of `f` is int, this is real", NULL);
    expect_error(POINT("a[i] = fma(1, 2);"), RK_WRONG_ARGUMENTS,
                 "`fma` takes 3 arguments", NULL);
    expect_error(POINT("a[i] = extent(a);"), RK_WRONG_ARGUMENTS, "write extent(A, 0)",
                 NULL);
}
END_TEST

START_TEST(check_funcs_return_on_every_path)
{
    expect_error("func real f(real x) { if (x > 0) return 1; }", RK_MISSING_RETURN, "`f`",
                 NULL);
    expect_error("func real f(real x) { while (true) { if (x > 0) break; } }",
                 RK_MISSING_RETURN, "`f`", NULL);
    expect_error("func real f(real x) { while (x > 0) return 1; }", RK_MISSING_RETURN,
                 "`f`", NULL);
    expect_error("func real f() { return; }", RK_BAD_RETURN, "must return a value", NULL);
    expect_error("func int f() { return 1.5; }", RK_REAL_INTO_INT, "the value of `f`",
                 NULL);
    expect_good("func real f(real x) { for (;;) { while (x > 0) { break; } } }");
}
END_TEST

START_TEST(check_recursion_names_the_chain)
{
    expect_error("func real f() { return g(); } func real g() { return h(); } "
                 "func real h() { return g(); }",
                 RK_RECURSION, "g -> h -> g", NULL);
    // the library's pow calls the library's exp, not this one
    expect_good("func real exp(real x) { return x ^ 0.5; } " POINT("a[i] = exp(x);"));
}
END_TEST

START_TEST(check_long_chain_of_funcs_is_no_recursion)
{
    rubus__text text;
    rubus__text_init(&text);
    rubus__text_add(&text, "func real f0() { return 1; }\n");
    for (int i = 1; i <= 3000; i++) {
        rubus__text_format(&text, "func real f%d() { return f%d(); }\n", i, i - 1);
    }
    rubus__text_add(&text, POINT("a[i] = f3000();"));
    expect_good(text.data);
    rubus__text_fini(&text);
}
END_TEST

START_TEST(check_ranges_use_extents_and_ints)
{
    expect_error("kernel k(out real a[n]) over (i in 0:1.5) { a[i] = 1; }", RK_BAD_RANGE,
                 "`i` is real, not int", NULL);
    expect_error("kernel k(inout int a[n]) over (i in 0:a[0]) { a[i] = 1; }",
                 RK_BAD_RANGE, "cannot read `a`", NULL);
    expect_error("kernel k(out real a[n]) over (i in 0:n, j in 0:i) { a[i] = 1; }",
                 RK_UNKNOWN_NAME, "`i`", NULL);
    expect_error("kernel k(out real a[n], out real b[n,n]) over (i, j) { a[i] = 1; "
                 "b[i, j] = 2; }",
                 RK_BAD_RANGE, "`a`, the first array written, has 1 dimension", NULL);
    expect_error("kernel k(out real a[n]) over (i in 0:n) { }", RK_WRITES_NOTHING,
                 "kernel `k` writes nothing", NULL);
    expect_error("kernel k(out real a[n], real x) over (i in 0:int(x)) { a[i] = 1; }",
                 RK_BAD_BOUND, "int parameter", NULL);
}
END_TEST

START_TEST(check_ranges_become_affine)
{
    test_unit t;
    rk_work *work = NULL;
    unit_open(&t);
    ck_assert_msg(build_text(&t,
                             "kernel k(out real a[n], out real b[p,,q], int j) "
                             "over (ix in 1:n-j, iy, iz in 0:div(q, 2)+1) "
                             "{ if (j > 0) b[ix, iy, iz] = 1; a[0] = 1; }",
                             &work),
                  "%s", t.unit.messages.data);
    static const char *const want[3][2] = {
        {"1", "-j+n"}, {"0", "b.y"}, {"0", "div(q, 2)+1"}};
    for (int32_t d = 0; d < 3; d++) {
        ck_assert_str_eq(rk_affine_text(&t.unit, work->symbol, work->range_lo[d]),
                         want[d][0]);
        ck_assert_str_eq(rk_affine_text(&t.unit, work->symbol, work->range_hi[d]),
                         want[d][1]);
    }
    const rk_symbol *last = &work->symbol[work->nsymbol - 1];
    ck_assert_int_eq(last->kind, RK_SYMBOL_OPAQUE);
    ck_assert_int_eq(last->expr->op, RK_OP_IDIV);
    unit_close(&t);
}
END_TEST

START_TEST(check_sets_types_and_conversions)
{
    test_unit t;
    unit_open(&t);
    ck_assert_msg(check_text(&t, POINT("a[i] = x * j + 2;")), "%s", t.unit.messages.data);
    const rk_decl *kernel = t.unit.module.kernel[0];
    const rk_stmt *s = kernel->body->body[1];
    ck_assert_int_eq(s->target->type, RK_REAL);
    ck_assert_ptr_eq(s->target->a->decl, kernel->param[0]);
    ck_assert_ptr_eq(s->target->sub[0].lo->decl, kernel->index[0]);
    const rk_expr *sum = s->value;
    ck_assert_int_eq(sum->type, RK_REAL);
    const rk_expr *two = sum->b;
    ck_assert_int_eq(two->kind, RK_EXPR_CALL);
    ck_assert_int_eq(two->op, RK_OP_TO_REAL);
    ck_assert_int_eq(two->type, RK_REAL);
    ck_assert_int_eq(two->arg[0]->kind, RK_EXPR_INT);
    ck_assert_int_eq(two->arg[0]->type, RK_INT);
    const rk_expr *product = sum->a;
    ck_assert_int_eq(product->a->kind, RK_EXPR_NAME);
    ck_assert_int_eq(product->b->op, RK_OP_TO_REAL);
    ck_assert_ptr_eq(product->b->arg[0]->decl, kernel->param[6]);
    ck_assert_int_eq(kernel->nextent, 1);
    ck_assert_str_eq(kernel->extent_decl[0]->name, "n");
    unit_close(&t);
}
END_TEST

START_TEST(check_power_finds_its_kind)
{
    test_unit t;
    unit_open(&t);
    ck_assert_msg(check_text(&t, POINT("c[i] = j ^ 3; a[i] = j ^ j; a[i] = j ^ x;")),
                  "%s", t.unit.messages.data);
    rk_stmt **body = t.unit.module.kernel[0]->body->body;
    ck_assert_int_eq(body[1]->value->op, RK_OP_POWI);
    ck_assert_int_eq(body[1]->value->type, RK_INT);
    ck_assert_int_eq(body[1]->value->a->kind, RK_EXPR_NAME);
    ck_assert_int_eq(body[2]->value->type, RK_REAL);
    ck_assert_int_eq(body[2]->value->a->op, RK_OP_TO_REAL);
    ck_assert_int_eq(body[2]->value->b->type, RK_INT);
    ck_assert_int_eq(body[3]->value->op, RK_OP_NONE);
    ck_assert_str_eq(body[3]->value->decl->name, "pow");
    ck_assert_int_eq(body[3]->value->a->op, RK_OP_TO_REAL);
    unit_close(&t);
}
END_TEST

START_TEST(check_marks_funcs_that_kernels_reach)
{
    test_unit t;
    unit_open(&t);
    ck_assert_msg(
        check_text(&t, "func real f(real x) { return x ^ 0.5; } "
                       "func real g(real x) { return f(x); } "
                       "func real lonely(real x) { return x; } " POINT("a[i] = g(j);")),
        "%s", t.unit.messages.data);
    for (int32_t i = 0; i < t.unit.module.nfunc; i++) {
        const rk_decl *func = t.unit.module.func[i];
        ck_assert_msg(func->used == (strcmp(func->name, "lonely") != 0), "%s",
                      func->name);
        ck_assert_msg(func->checked, "%s", func->name);
    }
    unit_close(&t);
}
END_TEST

START_TEST(check_deep_and_long_code_is_survived)
{
    rubus__text text;
    rubus__text_init(&text);
    rubus__text_add(&text, "kernel k(out real a[n], real x) over (i) { a[i] = x");
    for (int i = 0; i < 4000; i++) {
        rubus__text_add(&text, " + 1");
    }
    rubus__text_add(&text, "; }");
    expect_good(text.data);
    rubus__text_fini(&text);
    rubus__text_init(&text);
    rubus__text_add(&text, "kernel k(out real a[n], real x) over (i) { a[i] = ");
    for (int i = 0; i < 2000; i++) {
        rubus__text_add(&text, "abs(-");
    }
    rubus__text_add(&text, "x");
    for (int i = 0; i < 2000; i++) {
        rubus__text_add(&text, ")");
    }
    rubus__text_add(&text, "; }");
    expect_good(text.data);
    rubus__text_fini(&text);
}
END_TEST

START_TEST(check_many_errors_end_the_compilation)
{
    rubus__text text;
    rubus__text_init(&text);
    rubus__text_add(&text, "kernel k(out real a[n]) over (i) {\n");
    for (int i = 0; i < 100; i++) {
        rubus__text_format(&text, "a[i] = unknown%d;\n", i);
    }
    rubus__text_add(&text, "}");
    test_unit t;
    unit_open(&t);
    ck_assert(!check_text(&t, text.data));
    ck_assert_int_eq(t.unit.nerror, 20);
    ck_assert_int_eq(t.unit.status, RUBUS_ECOMPILE);
    unit_close(&t);
    rubus__text_fini(&text);
}
END_TEST

static Suite *check_suite(void)
{
    Suite *suite = suite_create("check");
    TCase *names = tcase_create("names");
    tcase_add_test(names, check_example_of_each_code_gives_it);
    tcase_add_test(names, check_correct_code_passes);
    tcase_add_test(names, check_unknown_name_suggests_the_nearest);
    tcase_add_test(names, check_unknown_name_is_reported_once);
    tcase_add_test(names, check_unknown_call_suggests_or_explains);
    tcase_add_test(names, check_duplicates_name_the_first);
    tcase_add_test(names, check_names_of_the_language_are_taken);
    suite_add_tcase(suite, names);
    TCase *headers = tcase_create("headers");
    tcase_add_test(headers, check_scalars_and_results_have_their_modes);
    tcase_add_test(headers, check_extents_are_affine_and_solvable);
    tcase_add_test(headers, check_solves_extents_in_order);
    tcase_add_test(headers, check_ranges_use_extents_and_ints);
    tcase_add_test(headers, check_ranges_become_affine);
    suite_add_tcase(suite, headers);
    TCase *code = tcase_create("code");
    tcase_add_test(code, check_types_of_operations);
    tcase_add_test(code, check_targets_must_be_variables);
    tcase_add_test(code, check_out_arrays_are_not_read);
    tcase_add_test(code, check_elements_have_right_subscripts);
    tcase_add_test(code, check_field_functions_stay_out_of_point_code);
    tcase_add_test(code, check_calls_count_their_arguments);
    tcase_add_test(code, check_funcs_return_on_every_path);
    tcase_add_test(code, check_recursion_names_the_chain);
    tcase_add_test(code, check_long_chain_of_funcs_is_no_recursion);
    tcase_add_test(code, check_sets_types_and_conversions);
    tcase_add_test(code, check_power_finds_its_kind);
    tcase_add_test(code, check_marks_funcs_that_kernels_reach);
    tcase_add_test(code, check_deep_and_long_code_is_survived);
    tcase_add_test(code, check_many_errors_end_the_compilation);
    suite_add_tcase(suite, code);
    return suite;
}

RUBUS_TEST_MAIN("check", check_suite)
