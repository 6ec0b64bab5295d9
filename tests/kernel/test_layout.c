/* SPDX-License-Identifier: Apache-2.0 */
/* Entries and argument blocks: what stands where, for dialects c and rk. */
#include "config.h"

#include <rubus/backend.h>

#include "interpret_run.h"
#include "tests/support/suite.h"

static const char mixed[] =
    "kernel first(out real a[n, m], in bool on[n, m], out real top, real s, int k, bool "
    "b)\n"
    "{\n"
    "    if (b) { a = on ? s : k; }\n"
    "    top = max(on ? 1.0 : 2.0);\n"
    "}\n"
    "kernel Näme_2(inout int c[p], in int d[p, 3], real unused) over (i in 0:p)\n"
    "{\n"
    "    for (int j = d[i, 0]; j < d[i, 1]; j++) { atomic_add(c[mod(j, p)], 1); }\n"
    "}\n";

static rk_program *compile(const char *text, const char *dialect, int32_t real,
                           bool check)
{
    rk_options options = run_options(real, RUBUS_I32, check);
    options.dialect = dialect;
    rk_program *program = NULL;
    const rubus_status st = rk_compile(&options, "t.rk", text, strlen(text), &program);
    ck_assert_msg(st == RUBUS_OK, "%s", rubus_error_text());
    return program;
}

static void expect_slot(const rk_slot *slot, rk_slot_kind kind, const char *name,
                        int32_t type, uint32_t access, uint32_t offset)
{
    ck_assert_int_eq(slot->kind, kind);
    ck_assert_str_eq(slot->name, name);
    ck_assert_int_eq(slot->type, type);
    ck_assert_uint_eq(slot->access, access);
    ck_assert_uint_eq(slot->offset, offset);
}

START_TEST(pass_slots_stand_at_natural_alignment)
{
    rk_program *program = compile(mixed, "c", RUBUS_F32, false);
    const rk_entry *e = &program->entry[0];
    ck_assert_int_eq(e->kind, RK_ENTRY_PASS);
    ck_assert_str_eq(e->symbol, "k0_first_p0");
    ck_assert_str_eq(e->label, "t.rk:first, pass 0 of 1");
    ck_assert_int_eq(e->ndim, 2);
    ck_assert_int_eq(e->nslot, 8);
    expect_slot(&e->slot[0], RK_SLOT_PARAM, "a", RUBUS_F32, RUBUS_WRITE, 48);
    expect_slot(&e->slot[1], RK_SLOT_PARAM, "on", RUBUS_BOOL, RUBUS_READ, 56);
    expect_slot(&e->slot[2], RK_SLOT_PARTIAL, "top", RUBUS_F32, RUBUS_WRITE, 64);
    expect_slot(&e->slot[3], RK_SLOT_PARAM, "s", RUBUS_F32, 0, 72);
    expect_slot(&e->slot[4], RK_SLOT_PARAM, "b", RUBUS_BOOL, 0, 76);
    expect_slot(&e->slot[5], RK_SLOT_SYMBOL, "k", RUBUS_I64, 0, 80); // an int is a symbol
    expect_slot(&e->slot[6], RK_SLOT_SYMBOL, "n", RUBUS_I64, 0, 88);
    expect_slot(&e->slot[7], RK_SLOT_SYMBOL, "m", RUBUS_I64, 0, 96);
    ck_assert_uint_eq(e->block_size, 104);
    ck_assert_uint_eq(e->flags, 0);
    rk_program_destroy(program);
}
END_TEST

START_TEST(tree_follows_the_pass_of_its_fold)
{
    rk_program *program = compile(mixed, "c", RUBUS_F64, false);
    const rk_entry *e = &program->entry[1];
    ck_assert_int_eq(program->kernel[0].nentry, 2);
    ck_assert_int_eq(e->kind, RK_ENTRY_TREE);
    ck_assert_int_eq(e->fold, RK_FOLD_MAX);
    ck_assert_int_eq(e->ndim, 1);
    ck_assert_str_eq(e->symbol, "k0_first_t0_0");
    ck_assert_int_eq(e->nslot, 4);
    expect_slot(&e->slot[0], RK_SLOT_TREE_SRC, "partials", RUBUS_F64, RUBUS_READ, 48);
    expect_slot(&e->slot[1], RK_SLOT_TREE_DST, "joined", RUBUS_F64, RUBUS_WRITE, 56);
    expect_slot(&e->slot[2], RK_SLOT_TREE_N, "count", RUBUS_I64, 0, 64);
    expect_slot(&e->slot[3], RK_SLOT_TREE_LAST, "last", RUBUS_I64, 0, 72);
    ck_assert_uint_eq(e->block_size, 80);
    ck_assert_uint_eq(e->flags, RUBUS_ENTRY_NEEDS_F64);
    rk_program_destroy(program);
}
END_TEST

START_TEST(point_kernel_shows_its_flags)
{
    rk_program *program = compile(mixed, "c", RUBUS_F64, false);
    const rk_kernel *kernel = &program->kernel[1];
    ck_assert_int_eq(kernel->first_entry, 2);
    ck_assert_int_eq(kernel->nentry, 1);
    const rk_entry *e = &program->entry[2];
    ck_assert_str_eq(e->symbol, "k1_nme_2_p0");
    ck_assert_uint_eq(e->flags, RUBUS_ENTRY_ATOMICS | RUBUS_ENTRY_UNEVEN |
                                    RUBUS_ENTRY_NEEDS_F64 | RUBUS_ENTRY_LOOPS);
    // c, d and the extent p: the scalar that no statement reads has no place
    ck_assert_int_eq(e->nslot, 3);
    expect_slot(&e->slot[0], RK_SLOT_PARAM, "c", RUBUS_I32, RUBUS_READ | RUBUS_WRITE, 48);
    expect_slot(&e->slot[1], RK_SLOT_PARAM, "d", RUBUS_I32, RUBUS_READ, 56);
    expect_slot(&e->slot[2], RK_SLOT_SYMBOL, "p", RUBUS_I64, 0, 64);
    ck_assert_int_eq(program->nsite, 0);
    rk_program_destroy(program);
}
END_TEST

START_TEST(checked_program_numbers_its_sites)
{
    rk_program *program = compile(mixed, "c", RUBUS_F64, true);
    const rk_entry *e = &program->entry[2];
    // the loop's second bound and the target are not certain to be reached; d[i, 0] is
    // proven by the launch
    ck_assert_int_eq(e->slot[2].kind, RK_SLOT_ERROR);
    ck_assert_uint_eq(e->slot[2].access, RUBUS_READ | RUBUS_WRITE);
    ck_assert_int_ge(program->nsite, 1);
    for (int32_t i = 0; i < program->nsite; i++) {
        ck_assert_int_eq(program->site[i].kernel, 1);
    }
    const rk_site *target = &program->site[program->nsite - 1];
    ck_assert_int_eq(target->param, 0);
    ck_assert_int_eq(target->rank, 1);
    // a whole-array kernel is proven as a whole: no record
    for (int32_t i = 0; i < program->entry[0].nslot; i++) {
        ck_assert_int_ne(program->entry[0].slot[i].kind, RK_SLOT_ERROR);
    }
    rk_program_destroy(program);
}
END_TEST

START_TEST(kernel_entry_has_all_parameters_in_order)
{
    rk_program *program = compile(mixed, "rk", RUBUS_F64, true);
    ck_assert_int_eq(program->nentry, 2);
    const rk_entry *e = &program->entry[0];
    ck_assert_int_eq(e->kind, RK_ENTRY_KERNEL);
    ck_assert_str_eq(e->symbol, "k0_first");
    ck_assert_str_eq(e->label, "t.rk:first");
    ck_assert_int_eq(e->nslot, 9);
    expect_slot(&e->slot[0], RK_SLOT_PARAM, "a", RUBUS_F64, RUBUS_WRITE, 48);
    expect_slot(&e->slot[1], RK_SLOT_PARAM, "on", RUBUS_BOOL, RUBUS_READ, 56);
    expect_slot(&e->slot[2], RK_SLOT_RESULT, "top", RUBUS_F64, RUBUS_WRITE, 64);
    expect_slot(&e->slot[3], RK_SLOT_PARAM, "s", RUBUS_F64, 0, 72);
    expect_slot(&e->slot[4], RK_SLOT_PARAM, "k", RUBUS_I32, 0, 80);
    expect_slot(&e->slot[5], RK_SLOT_PARAM, "b", RUBUS_BOOL, 0, 84);
    expect_slot(&e->slot[6], RK_SLOT_SYMBOL, "k", RUBUS_I64, 0, 88);
    expect_slot(&e->slot[7], RK_SLOT_SYMBOL, "n", RUBUS_I64, 0, 96);
    expect_slot(&e->slot[8], RK_SLOT_SYMBOL, "m", RUBUS_I64, 0, 104);
    ck_assert_int_eq(program->entry[1].ndim, 1);
    rk_program_destroy(program);
}
END_TEST

START_TEST(symbols_are_short_and_differ)
{
    const char *text =
        "kernel a_name_of_more_than_sixty_three_letters_is_nothing_unusual_in_"
        "generated_sources(out real u[n]) { u = 1; }\n"
        "kernel A_NAME_OF_MORE_THAN_SIXTY_THREE_LETTERS(out real u[n])\n"
        "{ u = 1; }\n"
        "kernel λ(out real u[n]) { u = 1; }\n";
    rk_program *program = compile(text, "c", RUBUS_F64, false);
    for (int32_t i = 0; i < program->nentry; i++) {
        const char *symbol = program->entry[i].symbol;
        ck_assert_uint_le(strlen(symbol), 63);
        ck_assert_uint_eq(strspn(symbol, "abcdefghijklmnopqrstuvwxyz0123456789_"),
                          strlen(symbol));
        for (int32_t j = 0; j < i; j++) {
            ck_assert_str_ne(symbol, program->entry[j].symbol);
        }
    }
    ck_assert_str_eq(program->entry[2].symbol, "k2_p0");
    rk_program_destroy(program);
}
END_TEST

START_TEST(failing_allocation_leaves_an_error)
{
    int64_t n = 1;
    for (rubus_status st = RUBUS_ENOMEM; st != RUBUS_OK; n++) {
        rk_options options = run_options(RUBUS_F64, RUBUS_I32, true);
        options.dialect = "c";
        rk_program *program = NULL;
        rubus__alloc_fail_after(n, true);
        st = rk_compile(&options, "t.rk", mixed, strlen(mixed), &program);
        rubus__alloc_fail_after(0, true);
        ck_assert(st == RUBUS_OK || st == RUBUS_ENOMEM);
        rk_program_destroy(program);
    }
    ck_assert_int_gt(n, 2);
}
END_TEST

static Suite *layout_suite(void)
{
    Suite *suite = suite_create("layout");
    TCase *tcase = tcase_create("entries");
    tcase_add_test(tcase, pass_slots_stand_at_natural_alignment);
    tcase_add_test(tcase, tree_follows_the_pass_of_its_fold);
    tcase_add_test(tcase, point_kernel_shows_its_flags);
    tcase_add_test(tcase, checked_program_numbers_its_sites);
    tcase_add_test(tcase, kernel_entry_has_all_parameters_in_order);
    tcase_add_test(tcase, symbols_are_short_and_differ);
    tcase_add_test(tcase, failing_allocation_leaves_an_error);
    suite_add_tcase(suite, tcase);
    return suite;
}

RUBUS_TEST_MAIN("layout", layout_suite)
