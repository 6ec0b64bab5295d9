/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's declarations: what is found without parsing is what the parser finds, and
 * of it just what a source can reach is read.
 */
#include "config.h"

#include "libcore/kernel/program.h"
#include "tests/kernel/kernel_unit.h"
#include "tests/support/suite.h"

static test_unit t;

static void setup(void)
{
    unit_open(&t);
    ck_assert_int_eq(setjmp(t.leave), 0);
}

static void teardown(void)
{
    unit_close(&t);
}

/* The source, then of the library what it reaches. */
static void parse_with_library(const char *text)
{
    ck_assert_msg(unit_parse(&t, text), "%s", t.unit.messages.data);
    rk_library_parse(&t.unit);
    ck_assert_msg(t.unit.nerror == 0, "%s", t.unit.messages.data);
}

static int32_t count_of(rk_decl *const *list, int32_t n, const char *name)
{
    int32_t found = 0;
    for (int32_t i = 0; i < n; i++) {
        found += strcmp(list[i]->name, name) == 0 ? 1 : 0;
    }
    return found;
}

START_TEST(library_names_are_those_the_parser_finds)
{
    int32_t n = 0;
    const rk_library_name *name = rk_library_names(&t.unit, &n);
    static const char *const files[] = {"fd.rk", "grid.rk", "math.rk"};
    for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
        const rk_embedded *e = rk_embedded_find(files[f]);
        ck_assert_ptr_nonnull(e);
        rk_source *source = RK_NEW(&t.unit, rk_source);
        *source = *unit_source(&t, e->name, e->text, e->size);
        source->library = true;
        rk_parse(&t.unit, source);
        ck_assert_msg(t.unit.nerror == 0, "%s", t.unit.messages.data);
    }
    const rk_module *module = &t.unit.module;
    ck_assert_int_eq(module->nkernel, 0);
    ck_assert_int_eq(n, module->nop + module->nfunc);
    int32_t op = 0;
    int32_t func = 0;
    for (int32_t i = 0; i < n; i++) {
        const rk_decl *decl = name[i].is_op ? module->op[op++] : module->func[func++];
        ck_assert_int_eq((int)strlen(decl->name), name[i].size);
        ck_assert_int_eq(strncmp(decl->name, name[i].text, strlen(decl->name)), 0);
    }
    ck_assert_int_eq(op, module->nop);
}
END_TEST

START_TEST(library_of_a_source_without_calls_is_empty)
{
    parse_with_library("kernel k(out real A[n], in real B[n]) { A = 2 * B; }");
    ck_assert_int_eq(t.unit.module.nop, 0);
    ck_assert_int_eq(t.unit.module.nfunc, 0);
}
END_TEST

START_TEST(library_op_is_read_in_all_its_ranks_and_alone)
{
    parse_with_library("kernel k(out real A[n], in real B[n + 1]) { A = d_xa(B); }");
    ck_assert_int_eq(t.unit.module.nop,
                     count_of(t.unit.module.op, t.unit.module.nop, "d_xa"));
    ck_assert_int_gt(t.unit.module.nop, 1);
    ck_assert_int_eq(t.unit.module.nfunc, 0);
}
END_TEST

START_TEST(library_funcs_bring_those_they_call)
{
    parse_with_library("kernel k(out real A[n], in real B[n]) { A = sin(B); }");
    const rk_module *module = &t.unit.module;
    ck_assert_int_eq(count_of(module->func, module->nfunc, "sin"), 1);
    ck_assert_int_eq(count_of(module->func, module->nfunc, "is_f32_"), 1);
    ck_assert_int_eq(count_of(module->func, module->nfunc, "atan"), 0);
    ck_assert_int_eq(count_of(module->op, module->nop, "d_xa"), 0);
}
END_TEST

START_TEST(library_power_is_there_for_its_sign)
{
    parse_with_library("kernel k(out real A[n], in real B[n]) { A = B ^ 0.5; }");
    const rk_module *module = &t.unit.module;
    ck_assert_int_eq(count_of(module->func, module->nfunc, "pow"), 1);
}
END_TEST

START_TEST(library_stands_before_the_users_own)
{
    parse_with_library(
        "op mine(A[,]) = inn(A);\n"
        "func real sin(real x) { return x; }\n"
        "kernel k(out real A[n, m], in real B[n + 2, m + 2]) { A = mine(B); }");
    const rk_module *module = &t.unit.module;
    ck_assert_int_gt(module->nop, 1);
    ck_assert_str_eq(module->op[module->nop - 1]->name, "mine");
    ck_assert(!module->op[module->nop - 1]->at.source->library);
    for (int32_t i = 0; i + 1 < module->nop; i++) {
        ck_assert(module->op[i]->at.source->library);
    }
    ck_assert_int_eq(count_of(module->func, module->nfunc, "sin"), 2);
    ck_assert(module->func[0]->at.source->library);
    ck_assert(!module->func[module->nfunc - 1]->at.source->library);
    // places of a part are those of its file
    int32_t line = 0;
    int32_t column = 0;
    rk_line_column(module->op[0]->at, &line, &column);
    ck_assert_int_gt(line, 1);
}
END_TEST

static Suite *library_suite(void)
{
    Suite *suite = suite_create("library");
    TCase *tests = tcase_create("library");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, library_names_are_those_the_parser_finds);
    tcase_add_test(tests, library_of_a_source_without_calls_is_empty);
    tcase_add_test(tests, library_op_is_read_in_all_its_ranks_and_alone);
    tcase_add_test(tests, library_funcs_bring_those_they_call);
    tcase_add_test(tests, library_power_is_there_for_its_sign);
    tcase_add_test(tests, library_stands_before_the_users_own);
    suite_add_tcase(suite, tests);
    return suite;
}

RUBUS_TEST_MAIN("kernel: library", library_suite)
