/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_CHECK_UNIT_H
#define RUBUS_TESTS_CHECK_UNIT_H
/*
 * Sources through parser, check and fields, for tests of these stages: with a small
 * library of its own instead of the real one.
 */
#include "libcore/kernel/form_tree.h"

#include "tests/kernel/kernel_unit.h"

static const char check_library[] =
    "op inn(A[]) = A[1:-1];\n"
    "op inn(A[,]) = A[1:-1, 1:-1];\n"
    "op d_xa(A[]) = A[1:] - A[:-1];\n"
    "op d_xa(A[,]) = A[1:, :] - A[:-1, :];\n"
    "op d_xi(A[,]) = d_xa(A)[:, 1:-1];\n"
    "func real exp(real x) { return 1 + x; }\n"
    "func real pow(real x, real y) { return exp(x) * y; }\n";

/* Parses and checks; leaves the messages in t->unit.messages. */
static inline bool check_text(test_unit *t, const char *text)
{
    if (setjmp(t->leave) != 0) {
        return false;
    }
    rk_source *library = (rk_source *)(uintptr_t)unit_source(
        t, "library.rk", check_library, sizeof(check_library) - 1);
    library->library = true;
    rk_parse(&t->unit, library);
    rk_parse(&t->unit, unit_source(t, "t.rk", text, strlen(text)));
    rk_check_module(&t->unit);
    return t->unit.nerror == 0;
}

/* check_text, then the work of every kernel of the user, and every form in 1D; *out_work:
 * of the last kernel. */
static inline bool build_text(test_unit *t, const char *text, rk_work **out_work)
{
    *out_work = NULL;
    if (!check_text(t, text)) {
        return false;
    }
    if (setjmp(t->leave) != 0) {
        return false;
    }
    for (int32_t i = 0; i < t->unit.module.nkernel; i++) {
        rk_decl *kernel = t->unit.module.kernel[i];
        if (!kernel->at.source->library) {
            *out_work = rk_work_build(&t->unit, kernel);
        }
    }
    const rk_form_desc desc = {1, 1, 1, 0, NULL};
    for (int32_t i = 0; i < t->unit.module.nform; i++) {
        (void)rk_form_make(&t->unit, t->unit.module.form[i], &desc);
    }
    return t->unit.nerror == 0;
}

/* Number of the first error; 0: none. */
static inline int first_code(const test_unit *t)
{
    const char *at = strstr(t->unit.messages.data, "error[K");
    return at == NULL ? 0 : atoi(at + strlen("error[K"));
}

/* The source must give the code first, and the parts of the text in its messages. */
static inline void expect_error(const char *text, int code, const char *part,
                                const char *other)
{
    test_unit t;
    rk_work *work = NULL;
    unit_open(&t);
    const bool good = build_text(&t, text, &work);
    ck_assert_msg(!good, "no error in: %.300s", text);
    ck_assert_msg(first_code(&t) == code, "K%03d wanted, in: %.300s\n%.3000s", code, text,
                  t.unit.messages.data);
    ck_assert_msg(part == NULL || strstr(t.unit.messages.data, part) != NULL,
                  "`%s` wanted in:\n%.3000s", part, t.unit.messages.data);
    ck_assert_msg(other == NULL || strstr(t.unit.messages.data, other) != NULL,
                  "`%s` wanted in:\n%.3000s", other, t.unit.messages.data);
    unit_close(&t);
}

static inline void expect_good(const char *text)
{
    test_unit t;
    rk_work *work = NULL;
    unit_open(&t);
    ck_assert_msg(build_text(&t, text, &work), "%s", t.unit.messages.data);
    unit_close(&t);
}

/* The examples of codes.def from `first` to `last` must give their codes. */
static inline void expect_examples(int first, int last)
{
    static const struct {
        int code;
        const char *example;
    } list[] = {
#define RK_CODE(number, name, example) {number, example},
#include "libcore/kernel/codes.def"
#undef RK_CODE
    };
    int tried = 0;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        if (list[i].code >= first && list[i].code <= last) {
            expect_error(list[i].example, list[i].code, "t.rk:1:", NULL);
            tried++;
        }
    }
    ck_assert_int_gt(tried, 10);
}

#endif
