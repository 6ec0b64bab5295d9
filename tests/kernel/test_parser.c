/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar, rule by rule, as trees; what each wrong text is told; how one mistake stays
 * one message; imports; depth. Every code of the lexer and the parser is given by its example
 * in codes.def.
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

static void expect_message(const char *want)
{
    ck_assert_msg(strstr(t.unit.messages.data, want) != NULL, "no \"%s\" in:\n%s", want,
                  t.unit.messages.data);
}

/* One error, and its text holds `want`. */
static void fails(const char *text, const char *want)
{
    again();
    ck_assert_msg(!unit_parse(&t, text), "parsed: %s", text);
    ck_assert_msg(t.unit.nerror == 1, "%d errors:\n%s", t.unit.nerror, t.unit.messages.data);
    expect_message(want);
}

static void check_errors(const char *text, int want)
{
    again();
    unit_parse(&t, text);
    ck_assert_msg(t.unit.nerror == want, "%d errors, not %d:\n%s", t.unit.nerror, want,
                  t.unit.messages.data);
}

/* --- expressions as text: (op a b), every node with parentheses -------------------------------- */

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

static void add_node(rubus__text *out, const char *name, const rk_expr *const *part, int n)
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
    fails("op f(a) = pad(a, 0, 1:n);", "expected an int literal, found `n`");
    fails("op f(a) = 1:0;", "expected `;`");
    fails("op f(a) = pad(a, 0, n:1);", "expected `)`");
    fails("op f(a) = pad(a, 0, -1:1);", "expected `)`");
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

/* --- declarations ------------------------------------------------------------------------------ */

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

/* --- statements ---------------------------------------------------------------------------------- */

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

/* --- errors ---------------------------------------------------------------------------------------- */

START_TEST(every_code_is_given_by_its_example)
{
    static const struct {
        int number;
        const char *name;
        const char *example;
    } list[] = {
#define RK_CODE(number, name, example) {number, #name, example},
#include "libcore/kernel/codes.def"
#undef RK_CODE
    };
    int tried = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (list[i].number > 39) {
            continue;
        }
        again();
        unit_parse(&t, list[i].example);
        const char *first = strstr(t.unit.messages.data, "error[K");
        ck_assert_msg(first != NULL, "%s: no error", list[i].name);
        ck_assert_msg(atoi(first + 7) == list[i].number, "%s:\n%s", list[i].name,
                      t.unit.messages.data);
        tried++;
    }
    ck_assert_int_ge(tried, 15);
}
END_TEST

START_TEST(wrong_texts_are_told_what_to_write)
{
    static const char *const list[][2] = {
        {"kernl k() {}", "did you mean `kernel`?"},
        {"kernel k() {} }", "one `}` too many"},
        {"kernel k(in double x) {}", "write `real`"},
        {"kernel k(real while) {}", "`while` is a word of the language"},
        {"kernel k(real x[n,n,n,n]) {}", "too many dimensions"},
        {"kernel k() over (a, b, c, d) {}", "too many indices"},
        {"kernel k() x;", "expected `{` or `over`"},
        {"op f(A[n]) = A;", "A[,] is one of rank 2"},
        {"op f(A[,,,]) = A;", "too many dimensions"},
        {"op f(A) { let x = A; }", "the body of an op is lets"},
        {"op f(A) { return A; return A; }", "nothing follows"},
        {"func real f(real x[]) { return 1; }", "parameters of a func are scalars"},
        {"func f(real x) { return 1; }", "expected `real`, `int` or `bool`"},
        {"reduce avg f(in real x[]) = x;", "expected `sum`, `max` or `min`"},
        {"import foo;", "write it between quotes"},
        {"op f(a) = a < b < c;", "comparisons do not chain"},
        {"op f(a) = a == b < c + 1;", "comparisons do not chain"},
        {"op f(a) = a \u2212 b;", "write `-` for minus"},
        {"op f(a) = a * ;", "expected an expression, found `;`"},
        {"op f(a) = a[* 2];", "stands alone"},
        {"op f(a) = index + 1;", "`index` is a word of the language"},
        {"op f(a) = bool(a);", "x != 0"},
        {"op f(a) = --a;", "`++` and `--` are statements"},
        {"op f(a) = g(a,);", "expected another argument"},
        {"op f(a) = a[];", "expected an expression, found `]`"},
        {"op f(a) = (a;", "expected `)`, found `;`"},
        {"op f(a) = a", "expected `;`, found the end of the file"},
        {"kernel k() { a = 1; b }", "a statement begins with"},
        {"kernel k() { let a; }", "expected `=`, found `;`"},
        {"kernel k() { { } }", "blocks in a whole-array kernel"},
        {"kernel k() { real x = 1; }", "write `let NAME = ...;`"},
        {"kernel k() { for (int i = 0; i < 3; i++) { a += i; } }", "use slices"},
        {"kernel k() { a++; }", "write `a += 1;`"},
        {"kernel k() { a %= 2; }", "write `a = a % b;`"},
        {"kernel k() { return; }", "`over (...)`"},
        {"kernel k() { atomic_add(a[1], 2); }", "`over (...)`"},
        {"kernel k() over (i) { let x = 1; }", "real NAME = ...;"},
        {"kernel k() over (i) { f(x); }", "the value of `f` is not used"},
        {"kernel k() over (i) { atomic_add(x, 1); }", "atomic_add(A[i], value);"},
        {"kernel k() over (i) { real q[]; }", "fixed length"},
        {"kernel k() over (i) { int a = 1, b = 2; }", "one name a statement"},
        {"kernel k() over (i) { else x = 1; }", "follows the body of its `if`"},
        {"kernel k() over (i) { while (c); }", "no empty statement"},
        {"kernel k() over (i) { index j = 0; }", "locals are"},
        {"kernel k() over (i in 0) { }", "expected `:`"},
        {"kernel k() over () { }", "expected the name of an index"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        fails(list[i][0], list[i][1]);
    }
}
END_TEST

START_TEST(errors_of_one_file_are_all_reported)
{
    check_errors("kernel a() { x = ; y = 1; z = ); }\n"
                 "kernel b(in real) { x = 1 1; }\n"
                 "op c(A = A;\n"
                 "op d(A) = A A;\n"
                 "func real e() { return 1 }\n",
                 7);
    static const char *const places[] = {"t.rk:1:18:", "t.rk:1:31:", "t.rk:2:17:",
                                         "t.rk:2:26:", "t.rk:3:8:",  "t.rk:4:12:",
                                         "t.rk:5:25:"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        expect_message(places[i]);
    }
    // what is whole is kept
    ck_assert_int_eq(t.unit.module.nkernel, 2);
}
END_TEST

START_TEST(one_mistake_is_one_message)
{
    check_errors("kernel k() over (i) { for (int j = 0 j < 3; j++) { x = j; } y = 1; }", 1);
    check_errors("kernel k() over (i) { if (a b) { x = 1; } else { x = 2; } y = 1; }", 1);
    check_errors("kernel k() over (i) { if (a { x = 1; } else x = 2; }", 1);
    check_errors("kernel k() over (i) { while (f(a, ) { x = 1; } y = 2; }", 1);
    check_errors("kernel k() over (i, ) { real x = 1; x++; }", 1);
    check_errors("kernel k(in real a, , in real b) over (i) { real x = 1; x++; }", 1);
    check_errors("kernel k() { a = b c d e f; g = 2; }", 1);
    check_errors("kernel k() { a = { 1, 2, 3 }; b = 2; }", 1);
    check_errors("kernel k() over (i) { a = 1\n b = 2\n c = 3; }", 2);
    check_errors("kernel k() { a = 1;\nkernel l() { a = 1; }", 1);
    expect_message("t.rk:1:12: note: the block begins here");
    check_errors("kernel k() over (i) { if (a) { b = 1;\nkernel l() { a = 1; }", 1);
    ck_assert_int_eq(t.unit.module.nkernel, 2);
    check_errors("kernel k(in real a { a = 1; }", 1);
    check_errors("kernel k(", 1);
    check_errors("kernel k() {", 1);
    check_errors("op f(", 1);
    check_errors("reduce sum f(in real x[]", 1);
}
END_TEST

START_TEST(errors_stop_at_20)
{
    char text[4096] = "kernel k() {";
    for (int i = 0; i < 50; i++) {
        strcat(text, "a = ;\n");
    }
    strcat(text, "}");
    check_errors(text, 20);
    expect_message("only the first 20 errors");
    ck_assert_int_eq(t.unit.status, RUBUS_ECOMPILE);
}
END_TEST

/* --- imports ----------------------------------------------------------------------------------------- */

typedef struct memory_file {
    const char *name;
    const char *text;
} memory_file;

typedef struct memory_files {
    const memory_file *file;
    int reads;
    char importer[64];
} memory_files;

static char *read_memory(void *user, const char *importer, const char *name, char **out_name,
                         size_t *out_size, const char **out_reason)
{
    memory_files *files = user;
    files->reads++;
    snprintf(files->importer, sizeof files->importer, "%s", importer);
    for (const memory_file *f = files->file; f->name != NULL; f++) {
        if (strcmp(f->name, name) == 0) {
            char *text = rubus__strdup(f->text);
            *out_size = strlen(f->text);
            *out_name = text != NULL ? rubus__strdup(name) : NULL;
            return text;
        }
    }
    *out_reason = "no such file";
    return NULL;
}

static bool parse_with(memory_files *files, const char *text)
{
    again();
    t.unit.read = read_memory;
    t.unit.read_user = files;
    return unit_parse(&t, text);
}

START_TEST(import_reads_each_file_once)
{
    static const memory_file list[] = {
        {"a.rk", "import \"b.rk\"; op a(x) = x;"},
        {"b.rk", "import \"a.rk\"; import \"t.rk\"; op b(x) = x;"},
        {"t.rk", "op never(x) = x;"},
        {NULL, NULL}};
    memory_files files = {.file = list};
    ck_assert_msg(parse_with(&files, "import \"a.rk\"; import \"b.rk\"; op c(x) = x;"), "%s",
                  t.unit.messages.data);
    ck_assert_int_eq(t.unit.module.nop, 3);
    ck_assert_str_eq(t.unit.module.op[0]->name, "b");
    ck_assert_str_eq(t.unit.module.op[1]->name, "a");
    ck_assert_str_eq(t.unit.module.op[2]->name, "c");
    ck_assert_str_eq(t.unit.module.op[0]->at.source->name, "b.rk");
    ck_assert_str_eq(files.importer, "t.rk");
}
END_TEST

START_TEST(import_that_fails_names_its_line)
{
    static const memory_file list[] = {{"a.rk", "\nimport \"../gone.rk\";"}, {NULL, NULL}};
    memory_files files = {.file = list};
    ck_assert(!parse_with(&files, "import \"a.rk\"; op f(x) = ;"));
    ck_assert_int_eq(t.unit.nerror, 2);
    expect_message("a.rk:2:8: error[K010]: cannot import `../gone.rk`: no such file");
    expect_message("t.rk:1:26: error[K005]");
    ck_assert(!parse_with(&files, "import \"math.rk\";"));
    expect_message("it is always imported");
}
END_TEST

START_TEST(import_without_reader_fails)
{
    fails("import \"a.rk\";", "this program does not read files");
}
END_TEST

static char *read_deeper(void *user, const char *importer, const char *name, char **out_name,
                         size_t *out_size, const char **out_reason)
{
    (void)user;
    (void)name;
    (void)out_reason;
    *out_name = rubus__format("./%s", importer);
    *out_size = strlen("import \"x\";");
    return rubus__strdup("import \"x\";");
}

START_TEST(import_without_end_fails)
{
    t.unit.read = read_deeper;
    ck_assert(!unit_parse(&t, "import \"x\";"));
    ck_assert_int_eq(t.unit.nerror, 1);
    expect_message("nested too deep");
}
END_TEST

START_TEST(import_out_of_memory_leaks_nothing)
{
    static const memory_file list[] = {{"a.rk", "op a(x) = x;"}, {NULL, NULL}};
    bool done = false;
    for (int n = 1; n < 100 && !done; n++) {
        unit_close(&t);
        const int64_t before = rubus__alloc_live();
        unit_open(&t);
        memory_files files = {.file = list};
        t.unit.read = read_memory;
        t.unit.read_user = &files;
        rubus__alloc_fail_after(n, true);
        done = unit_parse(&t, "import \"a.rk\"; op b(x) = x;");
        rubus__alloc_fail_after(0, true);
        const bool refused = t.unit.status == RUBUS_ENOMEM || t.unit.nerror > 0;
        ck_assert(done || refused);
        unit_close(&t);
        ck_assert_int_eq(rubus__alloc_live(), before);
        unit_open(&t);
    }
    ck_assert(done);
}
END_TEST

/* --- depth --------------------------------------------------------------------------------------------- */

/* PREFIX, open n times, middle, close n times, SUFFIX; heap string of the test. */
static char *nested(const char *prefix, const char *open, const char *middle,
                    const char *close, const char *suffix, int n)
{
    rubus__text out;
    rubus__text_init(&out);
    rubus__text_add(&out, prefix);
    for (int i = 0; i < n; i++) {
        rubus__text_add(&out, open);
    }
    rubus__text_add(&out, middle);
    for (int i = 0; i < n; i++) {
        rubus__text_add(&out, close);
    }
    rubus__text_add(&out, suffix);
    return rubus__text_take(&out);
}

static const char *const nestings[][5] = {
    {"op f(a) = ", "(", "a", ")", ";"},
    {"op f(a) = ", "(", "a", " + 1)", ";"},
    {"op f(a) = ", "(1 + ", "a", ")", ";"},
    {"op f(a) = ", "(a || 1 + ", "a", ")", ";"},
    {"op f(a) = ", "- ", "a", "", ";"},
    {"op f(a) = ", "!", "a", "", ";"},
    {"op f(a) = ", "a^", "a", "", ";"},
    {"op f(a) = ", "a ? a : ", "a", "", ";"},
    {"op f(a) = ", "a ? ", "a", " : a", ";"},
    {"op f(a) = ", "a[", "1", "]", ";"},
    {"op f(a) = ", "f(", "a", ")", ";"},
    {"op f(a) = ", "a + ", "a", "", ";"},
    {"op f(a) = ", "", "a", "[1]", ";"},
    {"func int f() { ", "{", "return 1;", "}", " }"},
    {"func int f() { ", "if (true) ", "return 1;", "", " }"},
    {"func int f() { ", "if (true) {} else ", "return 1;", "", " }"},
    {"func int f() { ", "while (true) ", "return 1;", "", " }"},
    {"func int f() { ", "for (;;) {", "return 1;", "}", " }"},
};

START_TEST(nesting_of_2000_parses)
{
    for (size_t i = 0; i < sizeof nestings / sizeof *nestings; i++) {
        const char *const *p = nestings[i];
        char *text = nested(p[0], p[1], p[2], p[3], p[4], 2000);
        again();
        ck_assert_msg(unit_parse(&t, text), "%zu: %s", i, t.unit.messages.data);
        rubus__free(text);
    }
}
END_TEST

START_TEST(nesting_of_100000_fails)
{
    for (size_t i = 0; i < sizeof nestings / sizeof *nestings; i++) {
        const char *const *p = nestings[i];
        char *text = nested(p[0], p[1], p[2], p[3], p[4], 100000);
        again();
        ck_assert_msg(!unit_parse(&t, text), "%zu", i);
        ck_assert_int_eq(t.unit.nerror, 1);
        expect_message("error[K141]");
        ck_assert_int_eq(t.unit.status, RUBUS_ECOMPILE);
        rubus__free(text);
    }
}
END_TEST

START_TEST(nesting_in_the_middle_stays_in_the_limit)
{
    // 4990 parentheses around a sum of 20 terms: no deeper tree than either
    char *text = nested("op f(a) = ", "(", "a+a+a+a+a+a", ")", ";", 4990);
    ck_assert_msg(unit_parse(&t, text), "%s", t.unit.messages.data);
    rubus__free(text);
    again();
    text = nested("op f(a) = ", "(", "a", ")", ";", 5001);
    ck_assert(!unit_parse(&t, text));
    expect_message("error[K141]");
    rubus__free(text);
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
    TCase *errors = tcase_create("errors");
    tcase_add_checked_fixture(errors, setup, teardown);
    tcase_add_test(errors, every_code_is_given_by_its_example);
    tcase_add_test(errors, wrong_texts_are_told_what_to_write);
    tcase_add_test(errors, errors_of_one_file_are_all_reported);
    tcase_add_test(errors, one_mistake_is_one_message);
    tcase_add_test(errors, errors_stop_at_20);
    suite_add_tcase(suite, errors);
    TCase *imports = tcase_create("imports");
    tcase_add_checked_fixture(imports, setup, teardown);
    tcase_add_test(imports, import_reads_each_file_once);
    tcase_add_test(imports, import_that_fails_names_its_line);
    tcase_add_test(imports, import_without_reader_fails);
    tcase_add_test(imports, import_without_end_fails);
    tcase_add_test(imports, import_out_of_memory_leaks_nothing);
    suite_add_tcase(suite, imports);
    TCase *depth = tcase_create("depth");
    tcase_add_checked_fixture(depth, setup, teardown);
    tcase_add_test(depth, nesting_of_2000_parses);
    tcase_add_test(depth, nesting_of_100000_fails);
    tcase_add_test(depth, nesting_in_the_middle_stays_in_the_limit);
    suite_add_tcase(suite, depth);
    return suite;
}

RUBUS_TEST_MAIN("kernel: parser", parser_suite)
