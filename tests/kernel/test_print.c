/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees to text: parsing the text gives an equal tree again, printing that gives the same
 * text; and the text holds of the library what the user's code reaches, also where the
 * user has an op or func of the same name.
 */
#include "config.h"

#include "tests/kernel/kernel_unit.h"

#include "tests/support/suite.h"

/* --- equality of trees -------------------------------------------------------------- */

static bool same_name(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_expr(const rk_expr *a, const rk_expr *b);

static bool same_sub(const rk_sub *a, const rk_sub *b)
{
    return a->kind == b->kind && a->lo_end == b->lo_end && a->hi_end == b->hi_end &&
           same_expr(a->lo, b->lo) && same_expr(a->hi, b->hi);
}

static bool same_expr(const rk_expr *a, const rk_expr *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    bool same = a->kind == b->kind && a->op == b->op && same_name(a->name, b->name) &&
                same_name(a->text, b->text) && a->narg == b->narg && a->nsub == b->nsub &&
                memcmp(&a->value, &b->value, sizeof a->value) == 0 &&
                a->real32 == b->real32;
    same =
        same && same_expr(a->a, b->a) && same_expr(a->b, b->b) && same_expr(a->c, b->c);
    for (int32_t i = 0; same && i < a->narg; i++) {
        same = same_expr(a->arg[i], b->arg[i]);
    }
    for (int32_t i = 0; same && i < a->nsub; i++) {
        same = same_sub(&a->sub[i], &b->sub[i]);
    }
    return same;
}

static bool same_decl(const rk_decl *a, const rk_decl *b);

static bool same_stmt(const rk_stmt *a, const rk_stmt *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    bool same = a->kind == b->kind && a->op == b->op && same_name(a->name, b->name) &&
                same_decl(a->decl, b->decl) && same_expr(a->target, b->target) &&
                same_expr(a->value, b->value) && same_expr(a->cond, b->cond) &&
                same_stmt(a->init, b->init) && same_stmt(a->step, b->step) &&
                same_stmt(a->then, b->then) && same_stmt(a->other, b->other) &&
                a->nbody == b->nbody;
    for (int32_t i = 0; same && i < a->nbody; i++) {
        same = same_stmt(a->body[i], b->body[i]);
    }
    return same;
}

static bool same_decl(const rk_decl *a, const rk_decl *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    bool same = a->kind == b->kind && same_name(a->name, b->name) && a->type == b->type &&
                a->is_index == b->is_index && a->mode == b->mode && a->rank == b->rank &&
                a->has_brackets == b->has_brackets && same_expr(a->length, b->length) &&
                a->is_result == b->is_result && same_expr(a->lo, b->lo) &&
                same_expr(a->hi, b->hi) && a->nparam == b->nparam &&
                a->nindex == b->nindex && same_stmt(a->body, b->body) &&
                a->from_reduce == b->from_reduce;
    const bool unnumbered =
        a->kind == RK_DECL_KERNEL || a->kind == RK_DECL_OP ||
        a->kind == RK_DECL_FUNC; // theirs depend on the rest of the unit
    same = same && (unnumbered || a->number == b->number);
    for (int32_t i = 0; same && i < 3; i++) {
        same =
            same_expr(a->extent[i], b->extent[i]) && same_decl(a->index[i], b->index[i]);
    }
    for (int32_t i = 0; same && i < a->nparam; i++) {
        same = same_decl(a->param[i], b->param[i]);
    }
    return same;
}

/* The n-th declaration of a list that is not the library's. */
static const rk_decl *own(rk_decl *const *list, int32_t count, int32_t n)
{
    for (int32_t i = 0; i < count; i++) {
        if (!list[i]->at.source->library && n-- == 0) {
            return list[i];
        }
    }
    return NULL;
}

/* Whether the user's declarations are the last of those of b, in order and equal. */
static bool same_tail(rk_decl *const *a, int32_t na, rk_decl *const *b, int32_t nb)
{
    int32_t mine = 0;
    while (own(a, na, mine) != NULL) {
        mine++;
    }
    int32_t theirs = 0;
    while (own(b, nb, theirs) != NULL) {
        theirs++;
    }
    for (int32_t i = 0; i < mine; i++) {
        const rk_decl *other = own(b, nb, theirs - mine + i);
        if (other == NULL || !same_decl(own(a, na, i), other)) {
            return false;
        }
    }
    return true;
}

static bool same_module(const rk_module *a, const rk_module *b)
{
    return same_tail(a->kernel, a->nkernel, b->kernel, b->nkernel) &&
           same_tail(a->op, a->nop, b->op, b->nop) &&
           same_tail(a->func, a->nfunc, b->func, b->nfunc);
}

/* --- printing ----------------------------------------------------------------------- */

/* Parses library and text into t and prints; a heap string. */
static char *print_of(test_unit *t, const char *library, const char *text)
{
    unit_open(t);
    if (setjmp(t->leave) != 0) {
        ck_abort_msg("%s\n%s", text, t->unit.messages.data);
    }
    rk_source *source = RK_NEW(&t->unit, rk_source);
    *source = *unit_source(t, "lib.rk", library, strlen(library));
    source->library = true;
    rk_parse(&t->unit, source);
    rk_parse(&t->unit, unit_source(t, "t.rk", text, strlen(text)));
    ck_assert_msg(t->unit.nerror == 0, "%s\n%s", text, t->unit.messages.data);
    rubus__text out;
    rubus__text_init(&out);
    rk_print(&t->unit, false, &out);
    char *printed = rubus__text_take(&out);
    ck_assert_ptr_nonnull(printed);
    return printed;
}

/* Prints, parses that, prints again: equal trees and texts. Returns the text. */
static char *round_trip(const char *library, const char *text)
{
    test_unit first;
    test_unit second;
    char *once = print_of(&first, library, text);
    char *twice = print_of(&second, library, once);
    ck_assert_msg(same_module(&first.unit.module, &second.unit.module), "%s\n---\n%s",
                  text, once);
    ck_assert_str_eq(once, twice);
    unit_close(&first);
    unit_close(&second);
    rubus__free(twice);
    return once;
}

static void check_text(const char *library, const char *text, const char *want)
{
    char *printed = round_trip(library, text);
    ck_assert_str_eq(printed, want);
    rubus__free(printed);
}

static const char head[] = "// rk real=f64 index=i32 check=0 fast=0\n";

/* An expression in an op prints as `want`. */
static void check_expr(const char *expr, const char *want)
{
    char text[512];
    char whole[512];
    snprintf(text, sizeof text, "op f(a) = %s;", expr);
    snprintf(whole, sizeof whole, "%s\nop f(a) = %s;\n", head, want);
    check_text("", text, whole);
}

START_TEST(print_expr_writes_only_needed_parentheses)
{
    static const char *const as_is[] = {
        "a + b * c",
        "(a + b) * c",
        "a - b - c",
        "a - (b - c)",
        "a / (b / c)",
        "a % b % c",
        "a < b && c < d || e == f",
        "(a || b) && c",
        "(a < b) == (c < d)",
        "!(a && b)",
        "!a",
        "-a^2",
        "(-a)^2",
        "a^-b",
        "a^b^c",
        "(a^b)^c",
        "a^(b + c)",
        "-(a + b)",
        "-a * b",
        "a * -b",
        "- -a",
        "-!a",
        "a ? b : c ? d : e",
        "(a ? b : c) ? d : e",
        "a ? b ? c : d : e",
        "(a ? b : c) + 1",
        "(a + b)[1]",
        "f(a, b)[1, 2]",
        "(a^b)[1]",
        "int(1.5) + real(2)",
        "pad(a, 0, 1:0, 0:2)",
        "1. + .5 + 1e-3 + 0.10",
        "true ? 1 : 2",
        "u[1:-1, :]",
        "u[:-0]",
        "u[-2, 3]",
        "u[:, *]",
        "u[-(n + 1):]",
        "u[-n^2:]",
        "u[(-1):(-1)]",
        "u[(-n + 1):]",
        "u[(-a ? b : c)]",
        "u[- -1]",
        "u[-(-n + 1):]",
        "u[- -(-n + 1)]",
    };
    for (size_t i = 0; i < sizeof as_is / sizeof *as_is; i++) {
        check_expr(as_is[i], as_is[i]);
    }
    check_expr("(((a)))", "a");
    check_expr("+a + (+b)", "a + b");
    check_expr("((a * b)) + (c)", "a * b + c");
    // a bound that begins with a minus is held without it, so as its negative
    check_expr("u[-n + 1:]", "u[- -(-n + 1):]");
    check_expr("007", "7");
}
END_TEST

START_TEST(print_expr_alone_gives_its_text)
{
    test_unit t;
    unit_open(&t);
    ck_assert(unit_parse(&t, "op f(a) = ((a + 1)) * u[1:-1];"));
    rubus__text out;
    rubus__text_init(&out);
    rk_print_expr(&t.unit, t.unit.module.op[0]->body->body[0]->value, &out);
    ck_assert_str_eq(out.data, "(a + 1) * u[1:-1]");
    rubus__text_fini(&out);
    unit_close(&t);
}
END_TEST

START_TEST(print_statements_keep_their_form)
{
    check_text(
        "",
        "kernel k(inout real y[n], in index p[n+1], in bool m[,,], real a, int i0, out "
        "real e)"
        "over(i in 0:n-1,j){real acc;int q[9];bool b=true;"
        "for(int k=p[i];k<p[i+1];k++)acc+=k;for(;;){break;}for(acc=1;;)continue;"
        "while(b)if(a>1)acc=2;else if(a>2){acc=3;}else acc=4;{acc%=2;}"
        "if(b){if(a>0)acc-=1;}else{}atomic_add(y[i],-a);y[-1+i]/=2;return;}",
        "// rk real=f64 index=i32 check=0 fast=0\n"
        "\n"
        "kernel k(inout real y[n], in index p[n + 1], in bool m[,,], real a, int i0, "
        "out real e) over (i in 0:n - 1, j)\n"
        "{\n"
        "    real acc;\n"
        "    int q[9];\n"
        "    bool b = true;\n"
        "    for (int k = p[i]; k < p[i + 1]; k += 1)\n"
        "        acc += k;\n"
        "    for (; ; ) {\n"
        "        break;\n"
        "    }\n"
        "    for (acc = 1; ; )\n"
        "        continue;\n"
        "    while (b)\n"
        "        if (a > 1)\n"
        "            acc = 2;\n"
        "        else\n"
        "            if (a > 2) {\n"
        "                acc = 3;\n"
        "            }\n"
        "            else\n"
        "                acc = 4;\n"
        "    {\n"
        "        acc %= 2;\n"
        "    }\n"
        "    if (b) {\n"
        "        if (a > 0)\n"
        "            acc -= 1;\n"
        "    }\n"
        "    else {\n"
        "    }\n"
        "    atomic_add(y[i], -a);\n"
        "    y[(-1 + i)] /= 2;\n"
        "    return;\n"
        "}\n");
}
END_TEST

START_TEST(print_declarations_keep_their_form)
{
    check_text("",
               "kernel k(out real a[,n]){let x=1;if(c)a=x;inn(a)*=2;}"
               "reduce max big(in real d[,],in real z[,])=d-z;"
               "op f(A[,],b)=A*b;op g(A[]){let x=A;return x;}"
               "func real h(real x,int k){return x^k;}",
               "// rk real=f64 index=i32 check=0 fast=0\n"
               "\n"
               "op f(A[,], b) = A * b;\n"
               "\n"
               "op g(A[])\n"
               "{\n"
               "    let x = A;\n"
               "    return x;\n"
               "}\n"
               "\n"
               "func real h(real x, int k)\n"
               "{\n"
               "    return x^k;\n"
               "}\n"
               "\n"
               "kernel k(out real a[,n])\n"
               "{\n"
               "    let x = 1;\n"
               "    if (c)\n"
               "        a = x;\n"
               "    inn(a) *= 2;\n"
               "}\n"
               "\n"
               "reduce max big(in real d[,], in real z[,]) = d - z;\n");
}
END_TEST

START_TEST(print_heading_tells_how_to_build)
{
    test_unit t;
    unit_open(&t);
    t.unit.numbers.f64 = false;
    t.unit.numbers.int64 = true;
    t.unit.check = true;
    t.unit.fast = true;
    rubus__text out;
    rubus__text_init(&out);
    rk_print(&t.unit, false, &out);
    ck_assert_str_eq(out.data, "// rk real=f32 index=i64 check=1 fast=1\n");
    rubus__text_fini(&out);
    unit_close(&t);
}
END_TEST

/* --- the library -------------------------------------------------------------------- */

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static const char small_library[] =
    "op inn(A[]) = A[1:-1]; op inn(A[,]) = A[1:-1, 1:-1];"
    "op d(A[]) = A[1:] - A[:-1]; op d2(A[]) = d(d(A)); op unused(A[]) = A;"
    "func real exp(real x) { return 1 + x; }"
    "func real pow(real x, real y) { return exp(x) * y; }"
    "func real lonely(real x) { return x; }"
    "kernel never(out real a[n]) { a = lonely(1.0); }";

START_TEST(print_library_holds_only_what_is_reached)
{
    char *text =
        round_trip(small_library, "kernel k(out real a[n]) { a = d2(a) + inn(a); }");
    ck_assert(has(text, "op d2(A[])"));
    ck_assert(has(text, "op d(A[])"));
    ck_assert(has(text, "op inn(A[])"));
    ck_assert(!has(text, "unused"));
    ck_assert(!has(text, "exp"));
    ck_assert(!has(text, "lonely"));
    ck_assert(!has(text, "never"));
    rubus__free(text);
    text = round_trip(small_library,
                      "kernel k(out real a[n]) over (i) { a[i] = exp(a[i]); }");
    ck_assert(has(text, "func real exp"));
    ck_assert(!has(text, "pow"));
    rubus__free(text);
}
END_TEST

START_TEST(print_library_holds_pow_for_real_exponents)
{
    char *text = round_trip(small_library, "kernel k(out real a[n]) { a = a^0.5; }");
    ck_assert(has(text, "func real pow"));
    ck_assert(has(text, "func real exp"));
    rubus__free(text);
    text = round_trip(small_library, "kernel k(out real a[n]) { a = a^2 + a^-2; }");
    ck_assert(!has(text, "pow"));
    rubus__free(text);
}
END_TEST

START_TEST(print_own_op_hides_the_library_one)
{
    char *text = round_trip(small_library, "op inn(B[]) = B[2:-2]; op inn(B[,,]) = B;"
                                           "kernel k(out real a[n]) { a = inn(a); }");
    ck_assert(has(text, "op inn(B[]) = B[2:-2];"));
    ck_assert(has(text, "op inn(B[,,])"));
    ck_assert(has(text, "op inn(A[,])")); // other ranks are not hidden
    ck_assert(!has(text, "op inn(A[])"));
    rubus__free(text);
}
END_TEST

START_TEST(print_library_keeps_to_its_own_under_another_name)
{
    // d2 of the library still means the library's d, the user's code its own
    char *text =
        round_trip(small_library, "op d(B[]) = 2 * B; op d_(B[]) = B;"
                                  "kernel k(out real a[n]) { a = d2(a) + d(a); }");
    ck_assert(has(text, "op d2(A[]) = d__(d__(A));"));
    ck_assert(has(text, "op d__(A[]) = A[1:] - A[:-1];"));
    ck_assert(has(text, "op d(B[]) = 2 * B;"));
    ck_assert(has(text, "a = d2(a) + d(a);"));
    ck_assert(!has(text, "op d(A[])"));
    rubus__free(text);
    text = round_trip(small_library,
                      "func real exp(real x) { return x; }"
                      "kernel k(out real a[n]) over (i) { a[i] = pow(exp(a[i]), 2.0); }");
    ck_assert(has(text, "return exp_(x) * y;"));
    ck_assert(has(text, "func real exp_(real x)"));
    ck_assert(has(text, "pow(exp(a[i]), 2.0)"));
    rubus__free(text);
}
END_TEST

START_TEST(print_of_own_pow_leaves_real_exponents_to_the_library)
{
    char *text = round_trip(small_library, "func real pow(real x, real y) { return 1; }"
                                           "kernel k(out real a[n]) { a = a^0.5; }");
    ck_assert(!has(text, "pow_"));
    ck_assert(has(text, "a = a^0.5;"));
    rubus__free(text);
}
END_TEST

/* --- many trees --------------------------------------------------------------------- */

static uint32_t state;

static uint32_t next_random(uint32_t below)
{
    state = state * 1664525U + 1013904223U;
    return (state >> 8) % below;
}

static void random_expr(rubus__text *out, int depth)
{
    static const char *const leaf[] = {"a",   "1",           "2.5", "true",
                                       "f()", "u[-1, 2:-n]", "-b"};
    static const char *const binary[] = {" + ", " - ",  " * ",  " / ", " % ",
                                         "^",   " && ", " || ", " < ", " == "};
    if (depth == 0) {
        rubus__text_add(out, leaf[next_random(7)]);
        return;
    }
    switch (next_random(7)) {
    case 0:
        rubus__text_add(out, next_random(2) == 0 ? "- " : "!");
        random_expr(out, depth - 1);
        break;
    case 1:
        rubus__text_add(out, "((");
        random_expr(out, depth - 1);
        rubus__text_add(out, " ? ");
        random_expr(out, depth - 1);
        rubus__text_add(out, " : ");
        random_expr(out, depth - 1);
        rubus__text_add(out, "))");
        break;
    case 2:
        rubus__text_add(out, "(");
        random_expr(out, depth - 1);
        rubus__text_add(out, ")[");
        random_expr(out, depth - 1);
        rubus__text_add(out, next_random(2) == 0 ? ":" : ",");
        random_expr(out, depth - 1);
        rubus__text_add(out, "]");
        break;
    default: // parentheses around both, so that every tree can come
        rubus__text_add(out, "(");
        random_expr(out, depth - 1);
        rubus__text_add(out, ")");
        rubus__text_add(out, binary[next_random(10)]);
        rubus__text_add(out, "(");
        random_expr(out, depth - 1);
        rubus__text_add(out, ")");
        break;
    }
}

START_TEST(print_of_random_trees_parses_to_the_same)
{
    state = 20240229U;
    for (int i = 0; i < 1000; i++) {
        rubus__text text;
        rubus__text_init(&text);
        rubus__text_add(&text, i % 2 == 0 ? "op f(a) = " : "func real f() { return ");
        random_expr(&text, 1 + i % 6);
        rubus__text_add(&text, i % 2 == 0 ? ";" : "; }");
        rubus__free(round_trip("", text.data));
        rubus__text_fini(&text);
    }
}
END_TEST

START_TEST(print_of_deep_trees_parses_again)
{
    static const char *const part[][3] = {
        {"(", "a", " + 1)"},     {"(1 + ", "a", ")"}, {"a^", "a", ""},
        {"- ", "a", ""},         {"f(", "a", ")"},    {"a ? a : ", "a", ""},
        {"(", "a", ")^2"},       {"a[", "1", "]"},    {"-(1 - ", "a", ")"},
        {"(a ? ", "a", " : 1)"},
    };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        rubus__text text;
        rubus__text_init(&text);
        rubus__text_add(&text, "op f(a) = ");
        for (int n = 0; n < 2000; n++) {
            rubus__text_add(&text, part[i][0]);
        }
        rubus__text_add(&text, part[i][1]);
        for (int n = 0; n < 2000; n++) {
            rubus__text_add(&text, part[i][2]);
        }
        rubus__text_add(&text, ";");
        rubus__free(round_trip("", text.data));
        rubus__text_fini(&text);
    }
}
END_TEST

static Suite *print_suite(void)
{
    Suite *suite = suite_create("print");
    TCase *form = tcase_create("form");
    tcase_add_test(form, print_expr_writes_only_needed_parentheses);
    tcase_add_test(form, print_expr_alone_gives_its_text);
    tcase_add_test(form, print_statements_keep_their_form);
    tcase_add_test(form, print_declarations_keep_their_form);
    tcase_add_test(form, print_heading_tells_how_to_build);
    suite_add_tcase(suite, form);
    TCase *library = tcase_create("library");
    tcase_add_test(library, print_library_holds_only_what_is_reached);
    tcase_add_test(library, print_library_holds_pow_for_real_exponents);
    tcase_add_test(library, print_own_op_hides_the_library_one);
    tcase_add_test(library, print_library_keeps_to_its_own_under_another_name);
    tcase_add_test(library, print_of_own_pow_leaves_real_exponents_to_the_library);
    suite_add_tcase(suite, library);
    TCase *many = tcase_create("many");
    tcase_add_test(many, print_of_random_trees_parses_to_the_same);
    tcase_add_test(many, print_of_deep_trees_parses_again);
    suite_add_tcase(suite, many);
    return suite;
}

RUBUS_TEST_MAIN("kernel: print", print_suite)
