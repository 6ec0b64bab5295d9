/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of dialect opencl: compiles as OpenCL C 1.2 without a warning, has the
 * arguments that the contract promises, and asks for no more of a device than the kernel
 * needs. That it computes what it should is for a backend to show:
 * tests/install/opencl.sh.
 */
#include "config.h"

#include <rubus/backend.h>

#include "tests/support/suite.h"
#include "text_run.h"

static const char all[] =
    "kernel step(out real un[nx,ny], out real dn[nx-2,ny-2], in real u[nx,ny],\n"
    "            in real d[nx-2,ny-2], real alpha, real beta, bool flip, int k)\n"
    "{\n"
    "    let v = u + alpha * pad(d, 0);\n"
    "    un = flip ? v : -v;\n"
    "    dn = beta * d - inn(v) ^ 3 + real(k % 3) / 2 + fma(inn(u), alpha, beta);\n"
    "}\n"
    "kernel thin(inout real u[nx,ny,nz], in bool m[nx,ny,nz], real b)\n"
    "{ if (b > 0) { u[:,:,0] = m[:,:,0] ? 1.5 : -0.0; } u[1:-1,:,1:] += "
    "exp(u[1:-1,:,1:]); }\n"
    "kernel folds(out real s, out real high, out real low, in real u[nx,ny])\n"
    "{ s = sum(u); high = max(abs(u)); low = min(u * 1e30); }\n"
    "func real pick(int i, real x)\n"
    "{ real q[4]; bool hit[2]; q[i] = x; hit[i % 2] = x > 0; return hit[0] ? q[i] : x; "
    "}\n"
    "kernel points(inout real y[n], in index p[n+1], in int c[], in bool m[n])\n"
    "    over (i in 0:n)\n"
    "{\n"
    "    for (int k = p[i]; k < p[i + 1]; k++)\n"
    "    { if (m[i]) { continue; } y[i] += pick(c[k], ldexp(frexp(y[i]), k)); }\n"
    "    if (y[i] > 9) { return; }\n"
    "    y[i] = floor(y[i]) + int(y[i] * 1e30) + mod(c[i], 3) + fld(c[i], -2);\n"
    "}\n";
static const char adds[] =
    "kernel count(inout real h[n], inout int c[n], in int v[m])\n"
    "    over (i in 0:m)\n"
    "{ atomic_add(h[mod(v[i], n)], 0.5); atomic_add(c[0], v[i]); }\n";

static rk_program *compile(const char *source, int32_t real, int32_t index, bool check,
                           bool fast)
{
    rk_options options = run_options(real, index, check);
    options.dialect = "opencl";
    options.fast = fast;
    rk_program *program = NULL;
    const rubus_status st =
        rk_compile(&options, "t.rk", source, strlen(source), &program);
    ck_assert_msg(st == RUBUS_OK, "%s\n%s", rubus_error_text(), source);
    return program;
}

static void has(const rk_program *program, const char *part)
{
    ck_assert_msg(strstr(program->text, part) != NULL, "no '%s' in the text", part);
}

static void lacks(const rk_program *program, const char *part)
{
    const char *at = strstr(program->text, part);
    ck_assert_msg(at == NULL, "'%s' in '%.60s'", part, at);
}

/* --- a compiler takes it ----------------------------------------------------------- */

static const struct {
    int32_t real;
    int32_t index;
    bool check;
} mode[] = {{RUBUS_F64, RUBUS_I32, false},
            {RUBUS_F32, RUBUS_I32, true},
            {RUBUS_F32, RUBUS_I64, false},
            {RUBUS_F64, RUBUS_I64, true}};

static int clang(const char *path, const char *macro, int32_t real)
{
    const char *argv[] = {
        "clang",
        "-x",
        "cl",
        "-cl-std=CL1.2",
        "-Xclang",
        "-finclude-default-header",
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        real == RUBUS_F32 ? "-Wdouble-promotion" : "-Wall",
        "-Werror",
        "-Wno-unused", // helpers, extents, labels, and what an entry has no use for
        "-Wno-unused-parameter",
        macro,
        path,
        NULL};
    const pid_t child = fork();
    ck_assert(child >= 0);
    if (child == 0) {
        execvp("clang", (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    int status = 0;
    ck_assert(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

START_TEST(text_is_opencl_c_without_warning)
{
    char *source = rubus__format("%s%s", all, adds);
    rk_program *program =
        compile(source, mode[_i].real, mode[_i].index, mode[_i].check, false);
    rubus__free(source);
    char path[64];
    text_path(path, ".cl");
    ck_assert_int_eq(rubus__file_write(path, program->text, program->text_size),
                     RUBUS_OK);
    if (text_has("clang")) {
        ck_assert_int_eq(clang(path, "-DRK_BLOCKS=0", mode[_i].real), 0);
        ck_assert_int_eq(clang(path, "-DRK_BLOCKS=1", mode[_i].real), 0);
    }
    unlink(path);
    rk_program_destroy(program);
}
END_TEST

/* --- what the contract says -------------------------------------------------------- */

START_TEST(arguments_come_as_the_contract_says)
{
    rk_program *program = compile(
        "kernel k(inout real a[n], in bool m[n], in int c[n], real x, int j, bool b)\n"
        "{ a = m ? x * a : b ? j : c; }",
        RUBUS_F32, RUBUS_I64, false, false);
    has(program, "#define RK_RANGE rk_i64 lo0, rk_i64 lo1, rk_i64 lo2, \\\n"
                 "    rk_i64 hi0, rk_i64 hi1, rk_i64 hi2\n");
    has(program,
        "#define RK_BUFFER(type, k) __global type *restrict rk_buffer##k, rk_i64 "
        "rk_first##k\n");
    has(program, "__kernel void k0_k_p0(RK_RANGE,\n"
                 "    RK_BUFFER(rk_real, 0),\n"
                 "    RK_BUFFER(const rk_byte, 1),\n"
                 "    RK_BUFFER(const rk_int, 2),\n"
                 "    rk_real s3,\n"
                 "    uchar u5,\n"
                 "    rk_i64 n0,\n" // j, which is the same for all points
                 "    rk_i64 n1)\n");
    const rk_entry *entry = &program->entry[0];
    ck_assert_int_eq(entry->nslot, 7);
    const uint32_t size[] = {8, 8, 8, 4, 1, 8, 8};
    for (int i = 0; i < 7; i++) {
        ck_assert_uint_eq(entry->slot[i].size, size[i]);
        ck_assert_int_eq(entry->slot[i].access != 0, i < 3);
    }
    rk_program_destroy(program);
}
END_TEST

START_TEST(folds_are_the_work_of_groups)
{
    rk_program *program =
        compile("reduce sum s(in real u[n]) = u;", RUBUS_F64, RUBUS_I32, false, false);
    ck_assert_int_eq(program->nentry, 2);
    ck_assert((program->entry[0].flags & RUBUS_ENTRY_GROUPS) != 0);
    ck_assert((program->entry[1].flags & RUBUS_ENTRY_GROUPS) != 0);
    has(program,
        "__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void k0_s_p0(");
    has(program,
        "__kernel __attribute__((reqd_work_group_size(128, 1, 1))) void k0_s_t0_0(");
    lacks(program, "rk_e["); // sums of doubles carry no second number
    rk_program_destroy(program);
    program =
        compile("reduce sum s(in real u[n]) = u;", RUBUS_F32, RUBUS_I32, false, false);
    has(program, "__local rk_real rk_e[256];");
    rk_program_destroy(program);
}
END_TEST

START_TEST(text_asks_for_what_it_needs_only)
{
    rk_program *program = compile(all, RUBUS_F32, RUBUS_I32, false, false);
    lacks(program, "double");
    lacks(program, "EXTENSION");
    lacks(program, "rk_atomic_real");
    has(program, "#pragma OPENCL FP_CONTRACT OFF\n");
    rk_program_destroy(program);
    program = compile(all, RUBUS_F64, RUBUS_I32, false, true);
    has(program, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    lacks(program, "cl_khr_int64_base_atomics");
    lacks(program, "FP_CONTRACT");
    rk_program_destroy(program);
    program = compile(adds, RUBUS_F32, RUBUS_I32, false, false);
    lacks(program, "EXTENSION");
    rk_program_destroy(program);
    program = compile(adds, RUBUS_F32, RUBUS_I64, false, false);
    has(program, "cl_khr_int64_base_atomics : enable\n");
    lacks(program, "cl_khr_fp64");
    rk_program_destroy(program);
    program = compile(adds, RUBUS_F64, RUBUS_I32, false, false);
    has(program, "cl_khr_int64_base_atomics : enable\n");
    rk_program_destroy(program);
}
END_TEST

START_TEST(numbers_are_exact)
{
    rk_program *program =
        compile("kernel k(out real a[n]) { a[0:1] = 0.1; a[1:2] = -1e-310;\n"
                "  a[3:4] = -0.0; a[4:] = 1e308; }",
                RUBUS_F64, RUBUS_I32, false, false);
    has(program, "0x1.999999999999ap-4"); // 0.1 rounded to a double
    has(program, "(-0x0.012688b70e62bp-1022)");
    has(program, "(-0x0p+0)");
    has(program, "0x1.1ccf385ebc8ap+1023");
    rk_program_destroy(program);
    program = compile("kernel k(out real a[n]) { a = 0.1; }", RUBUS_F32, RUBUS_I32, false,
                      false);
    has(program, "0x1.99999ap-4f");
    rk_program_destroy(program);
}
END_TEST

START_TEST(users_names_do_not_reach_the_text)
{
    rk_program *program =
        compile("kernel half(out real global[λ], in real barrier[λ], real uchar)\n"
                "{ global = uchar * barrier; }",
                RUBUS_F64, RUBUS_I32, false, false);
    has(program, "void k0_half_p0(");
    lacks(program, "λ");
    lacks(program, " half");
    lacks(program, "uchar *");
    rk_program_destroy(program);
}
END_TEST

static Suite *dialect_opencl_suite(void)
{
    Suite *suite = suite_create("dialect opencl");
    TCase *text = tcase_create("text");
    tcase_add_loop_test(text, text_is_opencl_c_without_warning, 0,
                        (int)(sizeof(mode) / sizeof(mode[0])));
    tcase_add_test(text, arguments_come_as_the_contract_says);
    tcase_add_test(text, folds_are_the_work_of_groups);
    tcase_add_test(text, text_asks_for_what_it_needs_only);
    tcase_add_test(text, numbers_are_exact);
    tcase_add_test(text, users_names_do_not_reach_the_text);
    suite_add_tcase(suite, text);
    return suite;
}

RUBUS_TEST_MAIN("dialect opencl", dialect_opencl_suite)
