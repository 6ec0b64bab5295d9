/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar, rule by rule: what each text becomes as a tree. Expressions are compared
 * as text with every parenthesis written.
 */
#include "config.h"

#include "tests/kernel/kernel_unit.h"

#include "tests/support/suite.h"

static test_unit t;

static void setup(void)
{
    unit_open(&t);
}

static void teardown(void)
{
    unit_close(&t);
}

static void again(void)
{
    unit_close(&t);
    unit_open(&t);
}

static void parse(const char *text)
{
    again();
    ck_assert_msg(unit_parse(&t, text), "%s\n%s", text, t.unit.messages.data);
}

/* --- expressions as text: (op a b), every node with parentheses --------------------- */

static void add_tree(rubus__text *out, const rk_expr *e);

static void add_bound(rubus__text *out, const rk_expr *bound, bool end)
{
    rubus__text_add(out, end ? "end-" : "");
    if (bound != NULL) {
        add_tree(out, bound);
    }
}

static void add_subs(rubus__text *out, const rk_expr *e)
{
    rubus__text_add(out, "(index ");
    add_tree(out, e->a);
    for (int32_t i = 0; i < e->nsub; i++) {
        const rk_sub *sub = &e->sub[i];
        rubus__text_add(out, " ");
        add_bound(out, sub->lo, sub->lo_end);
        rubus__text_add(out, sub->kind == RK_SUB_SLICE ? ":" : "");
        rubus__text_add(out, sub->kind == RK_SUB_LIFT ? "*" : "");
        add_bound(out, sub->hi, sub->hi_end);
    }
    rubus__text_add(out, ")");
}

static void add_node(rubus__text *out, const char *name, const rk_expr *const *part,
                     int n)
{
    rubus__text_format(out, "(%s", name);
    for (int i = 0; i < n; i++) {
        rubus__text_add(out, " ");
        add_tree(out, part[i]);
    }
    rubus__text_add(out, ")");
}

static void add_tree(rubus__text *out, const rk_expr *e)
{
    const rk_expr *const part[] = {e->a, e->b, e->c};
    switch (e->kind) {
    case RK_EXPR_REAL:
        rubus__text_add(out, e->text);
        break;
    case RK_EXPR_INT:
        rubus__text_format(out, "%lld", (long long)e->value.i);
        break;
    case RK_EXPR_BOOL:
        rubus__text_add(out, e->value.b ? "true" : "false");
        break;
    case RK_EXPR_NAME:
        rubus__text_add(out, e->name);
        break;
    case RK_EXPR_CALL:
        add_node(out, e->name, (const rk_expr *const *)e->arg, e->narg);
        break;
    case RK_EXPR_INDEX:
        add_subs(out, e);
        break;
    case RK_EXPR_UNARY:
        add_node(out, rk_op_spelling(e->op), part, 1);
        break;
    case RK_EXPR_BINARY:
        add_node(out, rk_op_spelling(e->op), part, 2);
        break;
    case RK_EXPR_POWER:
        add_node(out, "^", part, 2);
        break;
    case RK_EXPR_SELECT:
        add_node(out, "?", part, 3);
        break;
    case RK_EXPR_RANGE:
        rubus__text_format(out, "%lld:%lld", (long long)e->value.range[0],
                           (long long)e->value.range[1]);
        break;
    case RK_EXPR_TUPLE:
        add_node(out, "tuple", (const rk_expr *const *)e->arg, e->narg);
        break;
    case RK_EXPR_LABEL:
        rubus__text_format(out, "\"%s\"", e->name);
        break;
    }
}

static void check_tree(const rk_expr *e, const char *source, const char *want)
{
    rubus__text out;
    rubus__text_init(&out);
    add_tree(&out, e);
    ck_assert_msg(strcmp(out.data, want) == 0, "%s: %s, not %s", source, out.data, want);
    rubus__text_fini(&out);
}

/* An expression of an op, so of fields. */
static void gives(const char *source, const char *want)
{
    char text[512];
    snprintf(text, sizeof text, "op f(a) = %s;", source);
    parse(text);
    check_tree(t.unit.module.op[0]->body->body[0]->value, source, want);
}

/* An expression of a func, so of scalars. */
static void gives_scalar(const char *source, const char *want)
{
    char text[512];
    snprintf(text, sizeof text, "func real f() { return %s; }", source);
    parse(text);
    check_tree(t.unit.module.func[0]->body->body[0]->value, source, want);
}

START_TEST(expr_of_binary_operators_groups_by_level)
{
    gives("a + b * c", "(+ a (* b c))");
    gives("a * b + c", "(+ (* a b) c)");
    gives("a - b - c", "(- (- a b) c)");
    gives("a / b * c % d", "(rem (* (/ a b) c) d)");
    gives("a || b && c == d + e * f", "(|| a (&& b (== c (+ d (* e f)))))");
    gives("a * b + c < d && e || f", "(|| (&& (< (+ (* a b) c) d) e) f)");
    gives("a && b || c && d", "(|| (&& a b) (&& c d))");
    gives("a < b && c >= d", "(&& (< a b) (>= c d))");
    gives("(a + b) * c", "(* (+ a b) c)");
    gives("a - (b - c)", "(- a (- b c))");
}
END_TEST

START_TEST(expr_of_signs_and_powers_groups_by_the_rules)
{
    gives("-x^2", "(- (^ x 2))");
    gives("x^-1", "(^ x (- 1))");
    gives("2^3^2", "(^ 2 (^ 3 2))");
    gives("x^-y^2", "(^ x (- (^ y 2)))");
    gives("-x*y", "(* (- x) y)");
    gives("a - -b", "(- a (- b))");
    gives("- - x", "(- (- x))");
    gives("+x + +y", "(+ x y)");
    gives("!a && b", "(&& (! a) b)");
    gives("!a == b", "(== (! a) b)");
    gives("x[1]^2", "(^ (index x 1) 2)");
    gives("(-x)^2", "(^ (- x) 2)");
}
END_TEST

START_TEST(expr_of_selects_groups_to_the_right)
{
    gives("a ? b : c ? d : e", "(? a b (? c d e))");
    gives("a ? b ? c : d : e", "(? a (? b c d) e)");
    gives("a < b ? -1 : 1", "(? (< a b) (- 1) 1)");
}
END_TEST

START_TEST(expr_of_primaries_gives_leaves)
{
    gives("1", "1");
    gives("1.", "1.");
    gives("true ? .5 : 1e3", "(? true .5 1e3)");
    gives("f()", "(f)");
    gives("f(a, g(b))", "(f a (g b))");
    gives("int(x) + real(k)", "(+ (int x) (real k))");
    gives("sum(max(a, b))", "(sum (max a b))");
    gives("kernel + reduce(op) - func[import]",
          "(- (+ kernel (reduce op)) (index func import))");
}
END_TEST

START_TEST(expr_of_range_arguments_keeps_both)
{
    gives("pad(a, 0, 1:0, 0:2)", "(pad a 0 1:0 0:2)");
    gives("pad(a, 1 ? 2 : 3)", "(pad a (? 1 2 3))");
}
END_TEST

START_TEST(expr_of_subscripts_marks_bounds_from_the_end)
{
    gives("u[1:-1, :]", "(index u 1:end-1 :)");
    gives("u[:-0]", "(index u :end-0)");
    gives("u[-2, k]", "(index u end-2 k)");
    gives("u[:, *]", "(index u : *)");
    gives("u[*, n * 2]", "(index u * (* n 2))");
    gives("u[-n + 1:]", "(index u end-(- (+ (- n) 1)):)");
    gives("u[(-1):(-n)]", "(index u (- 1):(- n))");
    gives("u[- -1 + 2]", "(index u end-(- (+ (- (- 1)) 2)))");
    gives("u[- -1]", "(index u end-(- 1))");
}
END_TEST

START_TEST(expr_of_subscripts_in_scalars_has_signs)
{
    gives_scalar("u[-1 + i]", "(index u (+ (- 1) i))");
    gives_scalar("u[-k, j]", "(index u (- k) j)");
    gives_scalar("a[b[i]][j]", "(index (index a (index b i)) j)");
}
END_TEST

START_TEST(expr_spans_cover_their_text)
{
    parse("op f(a) = (1 + a[2]) * g(3);");
    const rk_expr *e = t.unit.module.op[0]->body->body[0]->value;
    ck_assert_int_eq(e->at.first, 11);
    ck_assert_int_eq(e->at.last, 27);
    ck_assert_int_eq(e->a->at.first, 11);
    ck_assert_int_eq(e->a->at.last, 19);
}
END_TEST

/* --- declarations ------------------------------------------------------------------- */

START_TEST(kernel_of_fields_has_its_parameters)
{
    parse("kernel k(inout real u[nx,ny], in index p[], out bool m[,,], real s, int n, "
          "out real err) { u = s; }");
    ck_assert_int_eq(t.unit.module.nkernel, 1);
    const rk_decl *k = t.unit.module.kernel[0];
    ck_assert_str_eq(k->name, "k");
    ck_assert_int_eq(k->nindex, 0);
    ck_assert_int_eq(k->nparam, 6);
    ck_assert_int_eq(k->param[0]->mode, RK_MODE_INOUT);
    ck_assert_int_eq(k->param[0]->rank, 2);
    ck_assert_str_eq(k->param[0]->extent[1]->name, "ny");
    ck_assert(k->param[1]->is_index);
    ck_assert_int_eq(k->param[1]->type, RK_INT);
    ck_assert_int_eq(k->param[1]->rank, 1);
    ck_assert_ptr_null(k->param[1]->extent[0]);
    ck_assert_int_eq(k->param[2]->rank, 3);
    ck_assert_int_eq(k->param[2]->type, RK_BOOL);
    ck_assert_int_eq(k->param[3]->mode, RK_MODE_NONE);
    ck_assert(!k->param[3]->has_brackets);
    ck_assert_int_eq(k->param[4]->type, RK_INT);
    ck_assert_int_eq(k->param[4]->number, 4);
    ck_assert(k->param[5]->is_result);
    ck_assert(!k->param[0]->is_result);
    ck_assert_int_eq(k->body->nbody, 1);
}
END_TEST

START_TEST(kernel_over_has_its_ranges)
{
    parse("kernel k(out real u[,,]) over (ix in 1:nx-1, iy, iz in 0:2) {}");
    const rk_decl *k = t.unit.module.kernel[0];
    ck_assert_int_eq(k->nindex, 3);
    ck_assert_str_eq(k->index[0]->name, "ix");
    check_tree(k->index[0]->hi, "hi", "(- nx 1)");
    ck_assert_ptr_null(k->index[1]->lo);
    ck_assert_int_eq(k->index[2]->number, 2);
    ck_assert_int_eq(k->index[2]->kind, RK_DECL_INDEX);
}
END_TEST

START_TEST(kernel_without_parameters_parses)
{
    parse("kernel k() {} kernel l() over (i in 0:3) {}");
    ck_assert_int_eq(t.unit.module.nkernel, 2);
    ck_assert_int_ne(t.unit.module.kernel[0]->number, t.unit.module.kernel[1]->number);
}
END_TEST

START_TEST(reduce_becomes_a_kernel_with_a_result)
{
    parse("reduce sum dot(in real d[,], in real z[,]) = d * z;");
    const rk_decl *k = t.unit.module.kernel[0];
    ck_assert(k->from_reduce);
    ck_assert_int_eq(k->nparam, 3);
    ck_assert_str_eq(k->param[2]->name, "dot");
    ck_assert(k->param[2]->is_result);
    ck_assert_int_eq(k->param[2]->mode, RK_MODE_OUT);
    ck_assert_int_eq(k->param[2]->number, 2);
    ck_assert_int_eq(k->body->nbody, 1);
    ck_assert_int_eq(k->body->body[0]->kind, RK_STMT_ASSIGN);
    ck_assert_str_eq(k->body->body[0]->target->name, "dot");
    check_tree(k->body->body[0]->value, "reduce", "(sum (* d z))");
}
END_TEST

START_TEST(op_in_both_forms_is_a_block)
{
    parse("op f(A[], b, C[,,]) = A; op g(A[,]) { let x = A; let y = x; return x + y; }");
    ck_assert_int_eq(t.unit.module.nop, 2);
    const rk_decl *f = t.unit.module.op[0];
    ck_assert_int_eq(f->nparam, 3);
    ck_assert_int_eq(f->param[0]->rank, 1);
    ck_assert_int_eq(f->param[1]->rank, 0);
    ck_assert_int_eq(f->param[2]->rank, 3);
    ck_assert_int_eq(f->body->body[0]->kind, RK_STMT_RETURN);
    const rk_decl *g = t.unit.module.op[1];
    ck_assert_int_eq(g->body->nbody, 3);
    ck_assert_int_eq(g->body->body[0]->kind, RK_STMT_LET);
    ck_assert_str_eq(g->body->body[1]->name, "y");
    check_tree(g->body->body[2]->value, "g", "(+ x y)");
}
END_TEST

START_TEST(func_has_type_parameters_and_body)
{
    parse("func bool f(real x, int k, bool b) { return b; }");
    const rk_decl *f = t.unit.module.func[0];
    ck_assert_int_eq(f->type, RK_BOOL);
    ck_assert_int_eq(f->nparam, 3);
    ck_assert_int_eq(f->param[1]->type, RK_INT);
    ck_assert_int_eq(f->body->body[0]->kind, RK_STMT_RETURN);
}
END_TEST

START_TEST(names_of_other_languages_are_names)
{
    parse("kernel kernel(out real output[n], in real half[n], real float4, real new, "
          "real double) over (register) { real thread = half[register] + float4; "
          "real auto = thread * double; output[register] = auto * new; }");
    ck_assert_str_eq(t.unit.module.kernel[0]->name, "kernel");
}
END_TEST

/* --- statements --------------------------------------------------------------------- */

/* The only statement of a per-point kernel. */
static const rk_stmt *stmt_of(const char *source)
{
    char text[512];
    snprintf(text, sizeof text, "kernel k(out real A[n]) over (i) { %s }", source);
    parse(text);
    ck_assert_int_eq(t.unit.module.kernel[0]->body->nbody, 1);
    return t.unit.module.kernel[0]->body->body[0];
}

START_TEST(stmt_assignments_have_operators)
{
    static const struct {
        const char *text;
        rk_op op;
    } list[] = {{"x = 2;", RK_OP_NONE}, {"x += 2;", RK_OP_ADD}, {"x -= 2;", RK_OP_SUB},
                {"x *= 2;", RK_OP_MUL}, {"x /= 2;", RK_OP_DIV}, {"x %= 2;", RK_OP_REM}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const rk_stmt *s = stmt_of(list[i].text);
        ck_assert_int_eq(s->kind, RK_STMT_ASSIGN);
        ck_assert_int_eq(s->op, list[i].op);
        check_tree(s->value, list[i].text, "2");
    }
    const rk_stmt *s = stmt_of("A[i]++;");
    ck_assert_int_eq(s->op, RK_OP_ADD);
    check_tree(s->target, "A[i]++", "(index A i)");
    check_tree(s->value, "A[i]++", "1");
    s = stmt_of("x--;");
    ck_assert_int_eq(s->op, RK_OP_SUB);
    check_tree(s->value, "x--", "1");
}
END_TEST

START_TEST(stmt_declarations_have_numbers)
{
    parse("func real f() { real a; { int b = 2; } bool q[9]; return a; } "
          "func int g() { int c = 1; return c; }");
    const rk_stmt *body = t.unit.module.func[0]->body;
    ck_assert_int_eq(body->body[0]->kind, RK_STMT_DECL);
    ck_assert_ptr_null(body->body[0]->value);
    ck_assert_int_eq(body->body[0]->decl->number, 0);
    ck_assert_int_eq(body->body[1]->kind, RK_STMT_BLOCK);
    ck_assert_int_eq(body->body[1]->body[0]->decl->number, 1);
    ck_assert_int_eq(body->body[2]->decl->number, 2);
    ck_assert_int_eq(body->body[2]->decl->type, RK_BOOL);
    ck_assert(body->body[2]->decl->has_brackets);
    check_tree(body->body[2]->decl->length, "q", "9");
    ck_assert_int_eq(t.unit.module.func[1]->body->body[0]->decl->number, 0);
}
END_TEST

START_TEST(stmt_else_belongs_to_the_nearest_if)
{
    const rk_stmt *s = stmt_of("if (a) if (b) x = 1; else x = 2;");
    ck_assert_ptr_null(s->other);
    ck_assert_ptr_nonnull(s->then->other);
    s = stmt_of("if (a) { if (b) x = 1; } else if (c) x = 2; else { x = 3; }");
    ck_assert_int_eq(s->other->kind, RK_STMT_IF);
    ck_assert_int_eq(s->other->other->kind, RK_STMT_BLOCK);
}
END_TEST

START_TEST(stmt_for_takes_every_header)
{
    const rk_stmt *s = stmt_of("for (int k = 0; k < n; k++) x += k;");
    ck_assert_int_eq(s->init->kind, RK_STMT_DECL);
    check_tree(s->cond, "for", "(< k n)");
    ck_assert_int_eq(s->step->op, RK_OP_ADD);
    ck_assert_int_eq(s->then->kind, RK_STMT_ASSIGN);
    s = stmt_of("for (;;) break;");
    ck_assert_ptr_null(s->init);
    ck_assert_ptr_null(s->cond);
    ck_assert_ptr_null(s->step);
    ck_assert_int_eq(s->then->kind, RK_STMT_BREAK);
    s = stmt_of("for (k = 3; ; k %= 2) { continue; }");
    ck_assert_int_eq(s->init->kind, RK_STMT_ASSIGN);
    ck_assert_int_eq(s->step->op, RK_OP_REM);
    ck_assert_int_eq(s->then->body[0]->kind, RK_STMT_CONTINUE);
}
END_TEST

START_TEST(stmt_others_have_their_parts)
{
    const rk_stmt *s = stmt_of("while (x < 3) { x++; }");
    ck_assert_int_eq(s->kind, RK_STMT_WHILE);
    check_tree(s->cond, "while", "(< x 3)");
    s = stmt_of("atomic_add(A[i], 2 * v);");
    ck_assert_int_eq(s->kind, RK_STMT_ATOMIC);
    check_tree(s->target, "atomic", "(index A i)");
    check_tree(s->value, "atomic", "(* 2 v)");
    s = stmt_of("return;");
    ck_assert_ptr_null(s->value);
    parse("kernel k(out real a[n]) { if (c) a = 1; else { let x = 2; inn(a) -= x; } }");
    s = t.unit.module.kernel[0]->body->body[0];
    check_tree(s->other->body[1]->target, "inn", "(inn a)");
}
END_TEST

static Suite *parser_suite(void)
{
    Suite *suite = suite_create("parser");
    TCase *expr = tcase_create("expressions");
    tcase_add_checked_fixture(expr, setup, teardown);
    tcase_add_test(expr, expr_of_binary_operators_groups_by_level);
    tcase_add_test(expr, expr_of_signs_and_powers_groups_by_the_rules);
    tcase_add_test(expr, expr_of_selects_groups_to_the_right);
    tcase_add_test(expr, expr_of_primaries_gives_leaves);
    tcase_add_test(expr, expr_of_range_arguments_keeps_both);
    tcase_add_test(expr, expr_of_subscripts_marks_bounds_from_the_end);
    tcase_add_test(expr, expr_of_subscripts_in_scalars_has_signs);
    tcase_add_test(expr, expr_spans_cover_their_text);
    suite_add_tcase(suite, expr);
    TCase *decl = tcase_create("declarations");
    tcase_add_checked_fixture(decl, setup, teardown);
    tcase_add_test(decl, kernel_of_fields_has_its_parameters);
    tcase_add_test(decl, kernel_over_has_its_ranges);
    tcase_add_test(decl, kernel_without_parameters_parses);
    tcase_add_test(decl, reduce_becomes_a_kernel_with_a_result);
    tcase_add_test(decl, op_in_both_forms_is_a_block);
    tcase_add_test(decl, func_has_type_parameters_and_body);
    tcase_add_test(decl, names_of_other_languages_are_names);
    suite_add_tcase(suite, decl);
    TCase *stmt = tcase_create("statements");
    tcase_add_checked_fixture(stmt, setup, teardown);
    tcase_add_test(stmt, stmt_assignments_have_operators);
    tcase_add_test(stmt, stmt_declarations_have_numbers);
    tcase_add_test(stmt, stmt_else_belongs_to_the_nearest_if);
    tcase_add_test(stmt, stmt_for_takes_every_header);
    tcase_add_test(stmt, stmt_others_have_their_parts);
    suite_add_tcase(suite, stmt);
    return suite;
}

RUBUS_TEST_MAIN("kernel: parser", parser_suite)
