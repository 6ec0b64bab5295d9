/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planner: how many passes a kernel takes and why, what a pass reads and writes,
 * what it refuses, what it leaves to the launch; and the launch's side of it (bind.c).
 */
#include "config.h"

#include "libcore/kernel/program.h"
#include "tests/support/suite.h"

#include <string.h>

static rk_program *compiled(const char *text)
{
    const rk_options options = {.real = RUBUS_F64, .index = RUBUS_I32, .dialect = "c"};
    rk_program *program = NULL;
    ck_assert_msg(rk_compile(&options, "t.rk", text, strlen(text), &program) == RUBUS_OK,
                  "%s", rubus_error_text());
    return program;
}

/* The source has errors, and the first heading has this code. */
static void refused(const char *text, const char *code, const char *word)
{
    const rk_options options = {.real = RUBUS_F64, .index = RUBUS_I32};
    rk_program *program = NULL;
    const rubus_status st = rk_compile(&options, "t.rk", text, strlen(text), &program);
    ck_assert_int_eq(st, RUBUS_ECOMPILE);
    const char *first = strstr(rubus_error_text(), "error[");
    ck_assert_ptr_nonnull(first);
    ck_assert_msg(strncmp(first, code, strlen(code)) == 0, "%s", rubus_error_text());
    ck_assert_msg(strstr(rubus_error_text(), word) != NULL, "%s", rubus_error_text());
}

static int accesses(const rk_kernel *kernel, int32_t pass)
{
    int n = 0;
    for (int32_t i = 0; i < kernel->decl->nparam; i++) {
        const uint32_t a = kernel->plan->pass[pass].access[i];
        n += ((a & RUBUS_READ) != 0 ? 1 : 0) + ((a & RUBUS_WRITE) != 0 ? 1 : 0);
    }
    return n;
}

static int32_t passes(const char *text)
{
    rk_program *program = compiled(text);
    const int32_t n = program->kernel[0].plan->npass;
    rk_program_destroy(program);
    return n;
}

/* --- passes --- */

#define GRID                                                                             \
    "in real lam[nx,ny], in real Q[nx-2,ny-2], real alpha, real beta, real _dx, "        \
    "real _dy"
#define FLUX                                                                             \
    "let qx = -av_xi(lam) * d_xi(v) * _dx; let qy = -av_yi(lam) * d_yi(v) * _dy; "

START_TEST(step_is_one_pass_over_six_arrays)
{
    rk_program *p = compiled(
        "kernel step(out real un[nx,ny], out real dn[nx-2,ny-2], in real u[nx,ny], "
        "in real d[nx-2,ny-2], " GRID ") { let v = u + alpha * pad(d, 0); " FLUX
        "un = v; dn = beta * d - Q * (d_xa(qx) * _dx + d_ya(qy) * _dy); }");
    ck_assert_int_eq(p->kernel[0].plan->npass, 1);
    ck_assert_int_eq(accesses(&p->kernel[0], 0), 6);
    ck_assert_int_eq(p->kernel[0].plan->pass[0].bytes_per_point, 48);
    rk_program_destroy(p);
}
END_TEST

START_TEST(update_then_residual_is_two_passes_over_eight_arrays)
{
    rk_program *p =
        compiled("kernel two(inout real u[nx,ny], inout real d[nx-2,ny-2], " GRID
                 ") { inn(u) += alpha * d; let v = u; " FLUX
                 "d = beta * d - Q * (d_xa(qx) * _dx + d_ya(qy) * _dy); }");
    ck_assert_int_eq(p->kernel[0].plan->npass, 2);
    ck_assert_int_eq(accesses(&p->kernel[0], 0), 3);
    ck_assert_int_eq(accesses(&p->kernel[0], 1), 5);
    const rk_pass *second = &p->kernel[0].plan->pass[1];
    ck_assert_ptr_nonnull(strstr(second->why, "`u`"));
    ck_assert_ptr_nonnull(second->why_other.source);
    rk_program_destroy(p);
}
END_TEST

typedef struct expected {
    int32_t npass;
    const char *text;
} expected;

static const expected plan_case[] = {
    /* reads at its own point what an earlier statement wrote */
    {1, "kernel k(inout real u[n], out real v[n]) { u += 1; v = u; }"},
    /* a shift brings all accesses to one point */
    {1, "kernel k(out real a[n+1], out real b[n]) { a = 1; b = a[1:]; }"},
    /* reads two elements of what was written */
    {2, "kernel k(out real a[n+1], out real b[n]) { a = 1; b = a[1:] + a[:-1]; }"},
    /* overwrites what an earlier statement reads at neighbours */
    {2, "kernel k(inout real a[n+1], out real b[n]) { b = a[1:] + a[:-1]; a = 1; }"},
    /* writes twice, each element by its own point */
    {1, "kernel k(out real a[n]) { a = 1; a[1:] = 2; a[:-1] = 3; }"},
    /* nothing in common */
    {1, "kernel k(out real a[n], out real b[n]) { a = 1; b = 2; }"},
    /* another rank, another size */
    {2, "kernel k(out real a[n], out real b[n,n]) { a = 1; b = 2; }"},
    {2, "kernel k(out real a[n], out real b[m]) { a = 1; b = 2; }"},
    /* the inside and the two edges run over different points */
    {3, "kernel k(inout real u[n,m]) { u[1:-1, :] = 1; u[0, :] = 2; u[-1, :] = 3; }"},
    /* old values are loaded before the point is written */
    {1, "kernel k(inout real u[n], out real c[n]) { let o = u; u = 2 * o; c = u - o; }"},
    /* a result of what was written at the point */
    {1, "kernel k(inout real u[n], out real s) { u += 1; s = sum(u * u); }"},
    {2, "kernel k(inout real u[n], out real s) { u += 1; s = sum(d(u)); }"},
    /* two results over the same points share a sweep, over other points not */
    {1, "kernel k(in real u[n], out real s, out real t) { s = sum(u); t = max(u); }"},
    {2,
     "kernel k(in real u[n], out real s, out real t) { s = sum(u); t = max(inn(u)); }"},
    /* conditions count as if they ran */
    {2, "kernel k(inout real u[n], out real v[n], bool c) { if (c) u = 1; v[1:] = u[:-1];"
        " v[:-1] = u[1:]; }"},
};

START_TEST(kernel_takes_the_passes_that_its_meaning_needs)
{
    const expected *e = &plan_case[_i];
    const int32_t n = passes(e->text);
    ck_assert_msg(n == e->npass, "%d passes, not %d: %s", (int)n, (int)e->npass, e->text);
}
END_TEST

START_TEST(value_written_and_read_at_a_point_is_not_loaded)
{
    rk_program *p =
        compiled("kernel k(out real u[n], out real v[n], in real w[n]) { u = w + 1; "
                 "v = 2 * u; }");
    ck_assert_uint_eq(p->kernel[0].plan->pass[0].access[0], RUBUS_WRITE);
    rk_program_destroy(p);
}
END_TEST

/* --- refusals --- */

START_TEST(race_inside_a_statement_is_refused)
{
    refused("kernel k(inout real u[n]) { u[1:] = u[:-1]; }", "error[K120]",
            "second array");
    refused("kernel k(inout real u[n,m]) { inn(u) = d2_xi(u); }", "error[K120]", "u[i");
    refused("kernel k(inout real u[n]) { u = u - u[0]; }", "error[K120]", "u[0]");
}
END_TEST

START_TEST(let_that_lost_its_array_is_refused_with_both_lines)
{
    refused("kernel k(inout real u[n], out real v[n]) {\n let o = u;\n u = 2 * o;\n"
            " v[1:-1] = o[:-2] + o[2:];\n}",
            "error[K121]", "t.rk:3:");
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "t.rk:4:"));
}
END_TEST

START_TEST(access_that_leaves_its_array_for_certain_is_refused)
{
    refused("kernel k(out real a[n]) { a[0:n+1] = 1; }", "error[K122]", "`a`");
    refused("kernel k(out real a[n], in real b[n]) { a = b[n]; }", "error[K122", "`b`");
    refused("kernel k(out real a[n], in real b[n,n], int j) { a = pad(b, 0)[1:-1, j]; }",
            "error[K123]", "j");
}
END_TEST

START_TEST(code_of_the_planner_has_its_example)
{
    static const struct {
        int number;
        const char *example;
    } code[] = {
#define RK_CODE(number, name, example) {number, example},
#include "libcore/kernel/codes.def"
#undef RK_CODE
    };
    int tried = 0;
    for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++) {
        if (code[i].number >= 120 && code[i].number < 140) {
            char wanted[16];
            rubus__snprintf(wanted, sizeof(wanted), "error[K%03d]", code[i].number);
            refused(code[i].example, wanted, "help: ");
            tried++;
        }
    }
    ck_assert_int_ge(tried, 4);
}
END_TEST

START_TEST(source_that_grows_without_end_is_refused)
{
    rubus__text text;
    rubus__text_init(&text);
    rubus__text_add(&text, "op f0(A[]) = A[1:] + A[:-1] * A[1:];\n");
    for (int i = 1; i < 40; i++) {
        rubus__text_format(&text, "op f%d(A[]) = f%d(f%d(A));\n", i, i - 1, i - 1);
    }
    rubus__text_add(&text, "kernel k(out real a[], in real b[]) { a = f39(b); }\n");
    const rk_options options = {.real = RUBUS_F64, .index = RUBUS_I32};
    rk_program *program = NULL;
    ck_assert_int_eq(rk_compile(&options, "t.rk", text.data, text.size, &program),
                     RUBUS_ECOMPILE);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "error[K14"));
    rubus__text_fini(&text);
}
END_TEST

/* --- binding --- */

static rubus_status bind(const rk_program *p, const rk_argument *args, const int64_t *lo,
                         const int64_t *hi, rk_binding *out)
{
    static int64_t memory[256];
    ck_assert_uint_le(rk_binding_size(&p->kernel[0]), sizeof(memory));
    return rk_bind(p, &p->kernel[0], args, lo, hi, memory, out);
}

START_TEST(launch_on_too_small_arrays_is_refused)
{
    rk_program *p = compiled("kernel k(inout real u[nx,ny]) { u[0, :] = u[-2, :]; }");
    rk_binding b;
    const rk_argument good = {{3, 4, 0}, 0};
    const rk_argument small = {{2, 4, 0}, 0};
    ck_assert_int_eq(bind(p, &good, NULL, NULL, &b), RUBUS_OK);
    ck_assert_int_eq(bind(p, &small, NULL, NULL, &b), RUBUS_ESHAPE);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "`u` is too small"));
    rk_program_destroy(p);
}
END_TEST

START_TEST(extents_are_solved_and_compared)
{
    rk_program *p = compiled(
        "kernel k(out real a[2*n+1], in real b[n-2], in real c[]) { a[0:n-2] = b; "
        "a[0:5] = c; }");
    rk_binding b;
    rk_argument args[3] = {{{21, 0, 0}, 0}, {{8, 0, 0}, 0}, {{5, 0, 0}, 0}};
    ck_assert_int_eq(bind(p, args, NULL, NULL, &b), RUBUS_OK);
    args[1].n[0] = 9;
    ck_assert_int_eq(bind(p, args, NULL, NULL, &b), RUBUS_ESHAPE);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "`k`"));
    args[1].n[0] = 8;
    args[0].n[0] = 20;
    ck_assert_int_eq(bind(p, args, NULL, NULL, &b), RUBUS_ESHAPE);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "20"));
    args[0].n[0] = 21;
    args[2].n[0] = 6;
    ck_assert_int_eq(bind(p, args, NULL, NULL, &b), RUBUS_ESHAPE);
    rk_program_destroy(p);
}
END_TEST

START_TEST(range_that_leaves_an_array_is_refused_with_its_place)
{
    rk_program *p =
        compiled("kernel k(out real b[n], in real a[n]) over (i) { b[i] = a[i + 1]; }");
    rk_binding b;
    const rk_argument args[2] = {{{5, 0, 0}, 0}, {{5, 0, 0}, 0}};
    const int64_t lo[1] = {0};
    const int64_t hi[1] = {4};
    const int64_t none[1] = {0};
    ck_assert_int_eq(bind(p, args, NULL, NULL, &b), RUBUS_EBOUNDS);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "t.rk:1:"));
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "element 5"));
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "0 to 4"));
    ck_assert_int_eq(bind(p, args, lo, hi, &b), RUBUS_OK);
    ck_assert_int_eq(b.pass[0].hi[0], 4);
    ck_assert_int_eq(bind(p, args, lo, none, &b), RUBUS_OK);
    ck_assert(b.pass[0].empty);
    rk_program_destroy(p);
}
END_TEST

START_TEST(empty_shapes_have_nothing_to_do)
{
    rk_program *p = compiled("kernel k(inout real u[nx,ny]) { inn(u) += 1; }");
    rk_binding b;
    const rk_argument thin = {{2, 9, 0}, 0};
    ck_assert_int_eq(bind(p, &thin, NULL, NULL, &b), RUBUS_OK);
    ck_assert(b.pass[0].empty);
    rk_program_destroy(p);
}
END_TEST

START_TEST(fold_counts_its_segments)
{
    rk_program *p = compiled("kernel k(in real u[nx,ny], out real s) { s = sum(u); }");
    rk_binding b;
    rk_argument args[2] = {{{4097, 3, 0}, 0}, {{0, 0, 0}, 0}};
    ck_assert_int_eq(bind(p, args, NULL, NULL, &b), RUBUS_OK);
    ck_assert_int_eq(b.pass[0].npartial, 6);
    ck_assert_int_eq(b.pass[0].hi[0], 2);
    args[0].n[0] = 0;
    ck_assert_int_eq(bind(p, args, NULL, NULL, &b), RUBUS_OK);
    ck_assert_int_eq(b.pass[0].npartial, 0);
    rk_program_destroy(p);
}
END_TEST

START_TEST(extent_past_the_width_of_int_is_refused)
{
    rk_program *p = compiled("kernel k(out real u[n]) { u = 1; }");
    rk_binding b;
    const rk_argument big = {{(int64_t)1 << 31, 0, 0}, 0};
    ck_assert_int_eq(bind(p, &big, NULL, NULL, &b), RUBUS_ELIMIT);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "i64"));
    rk_program_destroy(p);
}
END_TEST

static Suite *plan_suite(void)
{
    Suite *suite = suite_create("plan");
    TCase *pass = tcase_create("passes");
    tcase_add_test(pass, step_is_one_pass_over_six_arrays);
    tcase_add_test(pass, update_then_residual_is_two_passes_over_eight_arrays);
    tcase_add_loop_test(pass, kernel_takes_the_passes_that_its_meaning_needs, 0,
                        (int)(sizeof(plan_case) / sizeof(plan_case[0])));
    tcase_add_test(pass, value_written_and_read_at_a_point_is_not_loaded);
    suite_add_tcase(suite, pass);
    TCase *refusal = tcase_create("refusals");
    tcase_add_test(refusal, race_inside_a_statement_is_refused);
    tcase_add_test(refusal, let_that_lost_its_array_is_refused_with_both_lines);
    tcase_add_test(refusal, access_that_leaves_its_array_for_certain_is_refused);
    tcase_add_test(refusal, code_of_the_planner_has_its_example);
    tcase_add_test(refusal, source_that_grows_without_end_is_refused);
    suite_add_tcase(suite, refusal);
    TCase *binding = tcase_create("binding");
    tcase_add_test(binding, launch_on_too_small_arrays_is_refused);
    tcase_add_test(binding, extents_are_solved_and_compared);
    tcase_add_test(binding, range_that_leaves_an_array_is_refused_with_its_place);
    tcase_add_test(binding, empty_shapes_have_nothing_to_do);
    tcase_add_test(binding, fold_counts_its_segments);
    tcase_add_test(binding, extent_past_the_width_of_int_is_refused);
    suite_add_tcase(suite, binding);
    return suite;
}

RUBUS_TEST_MAIN("plan", plan_suite)
