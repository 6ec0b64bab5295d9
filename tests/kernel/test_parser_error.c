/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parser says about wrong text, and that one mistake stays one message; imports;
 * the limit of depth. Every code of the lexer and the parser is given by its example in
 * codes.def.
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
    ck_assert_msg(t.unit.nerror == 1, "%d errors:\n%s", t.unit.nerror,
                  t.unit.messages.data);
    expect_message(want);
}

static void check_errors(const char *text, int want)
{
    again();
    unit_parse(&t, text);
    ck_assert_msg(t.unit.nerror == want, "%d errors, not %d:\n%s", t.unit.nerror, want,
                  t.unit.messages.data);
}

/* --- errors ------------------------------------------------------------------------- */

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
        {"op f(a) = pad(a, 0, 1:n);", "expected an int literal, found `n`"},
        {"op f(a) = 1:0;", "expected `;`"},
        {"op f(a) = pad(a, 0, n:1);", "expected `)`"},
        {"op f(a) = pad(a, 0, -1:1);", "expected `)`"},
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
    static const char *const places[] = {
        "t.rk:1:18:", "t.rk:1:31:", "t.rk:2:17:", "t.rk:2:26:",
        "t.rk:3:8:",  "t.rk:4:12:", "t.rk:5:25:"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        expect_message(places[i]);
    }
    // what is whole is kept
    ck_assert_int_eq(t.unit.module.nkernel, 2);
}
END_TEST

START_TEST(one_mistake_is_one_message)
{
    check_errors("kernel k() over (i) { for (int j = 0 j < 3; j++) { x = j; } y = 1; }",
                 1);
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

START_TEST(statements_with_errors_are_left_out)
{
    check_errors("kernel k() over (i) { x = 1; for (j 0; j < 3; j++) { y = 1; } "
                 "atomic_add(a[i]); let z = 1; x = 2; }",
                 3);
    const rk_stmt *body = t.unit.module.kernel[0]->body;
    ck_assert_int_eq(body->nbody, 2);
    ck_assert_int_eq(body->body[0]->value->value.i, 1);
    ck_assert_int_eq(body->body[1]->value->value.i, 2);
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

/* --- imports ------------------------------------------------------------------------ */

typedef struct memory_file {
    const char *name;
    const char *text;
} memory_file;

typedef struct memory_files {
    const memory_file *file;
    int reads;
    char importer[64];
} memory_files;

static char *read_memory(void *user, const char *importer, const char *name,
                         char **out_name, size_t *out_size, const char **out_reason)
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
    ck_assert_msg(parse_with(&files, "import \"a.rk\"; import \"b.rk\"; op c(x) = x;"),
                  "%s", t.unit.messages.data);
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
    static const memory_file list[] = {{"a.rk", "\nimport \"../gone.rk\";"},
                                       {NULL, NULL}};
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

static char *read_deeper(void *user, const char *importer, const char *name,
                         char **out_name, size_t *out_size, const char **out_reason)
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

/* --- depth -------------------------------------------------------------------------- */

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

static Suite *parser_error_suite(void)
{
    Suite *suite = suite_create("parser errors");
    TCase *errors = tcase_create("errors");
    tcase_add_checked_fixture(errors, setup, teardown);
    tcase_add_test(errors, every_code_is_given_by_its_example);
    tcase_add_test(errors, wrong_texts_are_told_what_to_write);
    tcase_add_test(errors, errors_of_one_file_are_all_reported);
    tcase_add_test(errors, one_mistake_is_one_message);
    tcase_add_test(errors, statements_with_errors_are_left_out);
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

RUBUS_TEST_MAIN("kernel: parser errors", parser_error_suite)
