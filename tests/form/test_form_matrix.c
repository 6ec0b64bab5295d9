/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matrices of forms: known ones, filled in every way, constrained and not, and what is
 * refused.
 */
#include "config.h"

#include <check.h>

#include "tests/form/csr_probe.h"

static const char text[] =
    "form mass(trial u, test v) = inner_h(u, v);\n"
    "form stiffness(trial u, test v) = inner_plus(grad(u), grad(v));\n"
    "form flux(trial u, test v) = inner_plus(Mm(u), Dm(v));\n"
    "form inside(trial u, test v, field c) = inner_plus(Dm(c * Mm(u)), Dm(v));\n"
    "form centred(trial u, test v) = inner_h(Dc(u), v);\n"
    "form upper(trial u, test v) = inner_plus(restrict(Dm(u), \"upper\"), Dm(v));\n"
    "form cross(trial u, test v) =\n"
    "    2 * inner_h(u[0], v[1]) + inner_plus(Dm(u[1]), Dm(v[0]));\n"
    "form diagonal(trial u, test v) = inner_h(u, v);\n"
    "form tall(trial u, test v) = inner_h(u, v[1]);\n"
    "form wide(trial u, test v) = inner_h(u, v) + inner_plus(Dm(u), Dm(v))\n"
    "    + inner_h(shift_x(u, 2), v);\n"
    "form scaled(trial u, test v, real k, field c) = k * inner_h(c * u, v);\n"
    "form load(test v) = inner_h(1, v);\n"
    "func bool beyond(real x) { return x >= 3; }\n";

static form_probe open_0135(int at)
{
    form_probe p = probe_open(at, text);
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    ok(rubus_mesh_mark_func(p.mesh, "upper", rubus_module_func(p.module, "beyond")));
    probe_mesh(&p, p.mesh);
    return p;
}

/* --- known matrices ----------------------------------------------------------------- */

START_TEST(test_case_10_09_in_every_way)
{
    static const struct {
        const char *form;
        double want[16];
    } cases[] = {
        {"mass", {.5, 0, 0, 0, 0, 1.5, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1}},
        {"stiffness", {1, -1, 0, 0, -1, 1.5, -.5, 0, 0, -.5, 1, -.5, 0, 0, -.5, .5}},
        {"flux", {-.5, -.5, 0, 0, .5, 0, -.5, 0, 0, .5, 0, -.5, 0, 0, .5, .5}},
        {"inside",
         {-1.5, -1.5, 0, 0, 2.25, 1, -1.25, 0, -.75, 1.75, .75, -1.75, 0, -1.25, .5,
          1.75}},
        {"centred", {0, 0, 0, 0, -.5, 0, .5, 0, 0, -.5, 0, .5, 0, 0, 0, 0}},
        {"upper", {0, 0, 0, 0, 0, .5, -.5, 0, 0, -.5, 1, -.5, 0, 0, -.5, .5}},
    };
    form_probe p = open_0135(_i);
    rubus_array *c = array_of(p.space, 2, 3, 5, 7);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        rubus_form *form = probe_form(&p, cases[k].form, p.space);
        if (strcmp(cases[k].form, "inside") == 0) {
            ok(rubus_form_set(form, "c", c));
        }
        rubus_csr *csr = csr_make(form, NULL, RUBUS_ROWS);
        csr_is(csr, cases[k].want, 1e-15, cases[k].form);
        for (int h = 0; h < CSR_HOWS; h++) {
            csr_spoil(csr);
            ok(rubus_form_assemble_how(form, csr, csr_hows[h]));
            csr_is(csr, cases[k].want, 1e-15, cases[k].form);
        }
        rubus_csr_destroy(csr);
        rubus_form_destroy(form);
    }
    rubus_array_destroy(c);
    probe_close(&p);
}
END_TEST

/* 33 points in a line, each with its neighbours. */
START_TEST(test_case_10_09_pattern)
{
    form_probe p = probe_open(_i, text);
    rubus_mesh *mesh = NULL;
    ok(rubus_mesh_create_box(p.context, RUBUS_F64, RUBUS_SHAPE(33), probe_pair(0, 0),
                             probe_pair(1, 0), &mesh));
    probe_mesh(&p, mesh);
    rubus_form *form = probe_form(&p, "stiffness", p.space);
    rubus_csr *csr = csr_make(form, NULL, RUBUS_ROWS);
    ck_assert_int_eq(csr_info(csr).nnz, 97);
    ck_assert_int_eq(csr_info(csr).index, RUBUS_I32);
    rubus_csr_destroy(csr);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

START_TEST(test_case_10_17)
{
    static const double want[36] = {0, 0, 0, 1, -1,  0,  0, 0, 0, -1, 1.5, -.5,
                                    0, 0, 0, 0, -.5, .5, 1, 0, 0, 0,  0,   0,
                                    0, 3, 0, 0, 0,   0,  0, 0, 2, 0,  0,   0};
    static const double twice[36] = {.5, 0, 0, 0, 0,   0, 0, 1.5, 0, 0,  0, 0,
                                     0,  0, 1, 0, 0,   0, 0, 0,   0, .5, 0, 0,
                                     0,  0, 0, 0, 1.5, 0, 0, 0,   0, 0,  0, 1};
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, mesh_of(p.context, RUBUS_F64, 1, &axis_of(0, 1, 3)));
    rubus_form *form = probe_form(&p, "cross", p.pair);
    rubus_form *both = probe_form(&p, "diagonal", p.pair);
    rubus_csr *csr = csr_make(form, NULL, RUBUS_ROWS);
    rubus_csr *second = csr_make(both, NULL, RUBUS_ROWS);
    for (int h = 0; h < CSR_HOWS; h++) {
        csr_spoil(csr);
        ok(rubus_form_assemble_how(form, csr, csr_hows[h]));
        csr_is(csr, want, 1e-15, "cross");
        ok(rubus_form_assemble_how(both, second, csr_hows[h]));
        csr_is(second, twice, 1e-15, "diagonal");
    }
    ck_assert_int_eq(csr_info(second).nnz, 6);
    rubus_csr_destroy(csr);
    rubus_csr_destroy(second);
    rubus_form_destroy(form);
    rubus_form_destroy(both);
    probe_close(&p);
}
END_TEST

/* From one component to two: 8 rows, 4 columns. */
START_TEST(matrix_of_unequal_spaces_is_rectangular)
{
    static const double want[32] = {[16] = .5, [21] = 1.5, [26] = 2, [31] = 1};
    form_probe p = open_0135(_i);
    rubus_form *form = NULL;
    ok(rubus_form_create(p.module, "tall", p.space, p.pair, &form));
    rubus_csr *csr = csr_make(form, NULL, RUBUS_ROWS);
    ck_assert_int_eq(csr_info(csr).nrow, 8);
    ck_assert_int_eq(csr_info(csr).ncol, 4);
    for (int h = 0; h < CSR_HOWS; h++) {
        csr_spoil(csr);
        ok(rubus_form_assemble_how(form, csr, csr_hows[h]));
        csr_is(csr, want, 1e-15, "tall");
    }
    rubus_csr_destroy(csr);
    rubus_constraint *bc = NULL;
    ok(rubus_constraint_create(p.pair, &bc));
    fails(rubus_form_matrix(form, bc, RUBUS_ROWS, &csr), RUBUS_EINVAL, "square");
    rubus_constraint_destroy(bc);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

/* --- constraints -------------------------------------------------------------------- */

/* Filled twice: 1 stays 1. */
START_TEST(test_case_10_19_values)
{
    static const double rows[16] = {1, 0,   0, 0,   -1, 1.5, -.5, 0,
                                    0, -.5, 1, -.5, 0,  0,   0,   1};
    static const double sym[16] = {1, 0, 0, 0, 0, 1.5, -.5, 0, 0, -.5, 1, 0, 0, 0, 0, 1};
    form_probe p = open_0135(_i);
    rubus_form *form = probe_form(&p, "stiffness", p.space);
    rubus_constraint *bc = NULL;
    ok(rubus_constraint_create(p.space, &bc));
    ok(rubus_constraint_add(bc, "boundary", RUBUS_ALL, 0.0));
    for (int mode = RUBUS_ROWS; mode <= RUBUS_SYM; mode++) {
        rubus_csr *csr = csr_make(form, bc, mode);
        static const int rowptr[5] = {0, 2, 5, 8, 10};
        static const int colval[10] = {0, 1, 0, 1, 2, 1, 2, 3, 2, 3};
        const rubus_csr_info info = csr_info(csr);
        rubus_csr_mirror mirror = {.struct_size = sizeof mirror};
        ok(rubus_csr_mirror_get(csr, &mirror));
        ck_assert_int_eq(info.nnz, 10);
        ck_assert_mem_eq(mirror.rowptr, rowptr, sizeof rowptr);
        ck_assert_mem_eq(mirror.colval, colval, sizeof colval);
        for (int h = 0; h < 2 * CSR_HOWS; h++) {
            ok(rubus_form_assemble_how(form, csr, csr_hows[h / 2]));
            csr_is(csr, mode == RUBUS_SYM ? sym : rows, 0, "constrained");
        }
        rubus_csr_destroy(csr);
    }
    rubus_constraint_destroy(bc);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

/* A row that the form leaves empty, held by a mask and by a face. */
START_TEST(matrix_constrained_diagonal_always_exists)
{
    static const double held[16] = {1, 0, 0, 0, -.5, 0, .5, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    static const double ends[16] = {1, 0, 0, 0, -.5, 0, .5, 0, 0, -.5, 0, .5, 0, 0, 0, 1};
    static const char *const labels[2] = {"left,upper", "left,right"};
    form_probe p = open_0135(_i);
    rubus_form *form = probe_form(&p, "centred", p.space);
    for (int k = 0; k < 2; k++) {
        rubus_constraint *bc = NULL;
        ok(rubus_constraint_create(p.space, &bc));
        ok(rubus_constraint_add(bc, labels[k], RUBUS_ALL, 0.0));
        rubus_csr *csr = csr_make(form, bc, RUBUS_ROWS);
        rubus_constraint_destroy(bc);
        for (int h = 0; h < CSR_HOWS; h++) {
            csr_spoil(csr);
            ok(rubus_form_assemble_how(form, csr, csr_hows[h]));
            csr_is(csr, k == 0 ? held : ends, 1e-15, labels[k]);
        }
        rubus_csr_destroy(csr);
    }
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

/* A form that stands nowhere has a matrix without entries. */
START_TEST(matrix_of_an_empty_region_has_no_entries)
{
    form_probe p = probe_open(_i, "form none(trial u, test v) = inner_h(u, v, \"no\");\n"
                                  "func bool never(real x) { return x > 9; }\n");
    probe_mesh(&p, mesh_0135(p.context, RUBUS_F64));
    ok(rubus_mesh_mark_func(p.mesh, "no", rubus_module_func(p.module, "never")));
    probe_mesh(&p, p.mesh);
    rubus_form *form = probe_form(&p, "none", p.space);
    rubus_csr *csr = csr_make(form, NULL, RUBUS_ROWS);
    ck_assert_int_eq(csr_info(csr).nnz, 0);
    for (int h = 0; h < CSR_HOWS; h++) {
        ok(rubus_form_assemble_how(form, csr, csr_hows[h]));
    }
    rubus_csr_destroy(csr);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

/* --- what is refused ---------------------------------------------------------------- */

START_TEST(test_trap_20_matrix_of_another_form_is_unchanged)
{
    form_probe p = open_0135(_i);
    rubus_form *form = probe_form(&p, "stiffness", p.space);
    rubus_form *wide = probe_form(&p, "wide", p.space);
    rubus_form *narrow = probe_form(&p, "mass", p.space);
    rubus_csr *csr = csr_make(form, NULL, RUBUS_ROWS);
    double *before = csr_values(csr);
    for (int h = 0; h < CSR_HOWS; h++) {
        fails(rubus_form_assemble_how(wide, csr, csr_hows[h]), RUBUS_EINVAL,
              "made by form `stiffness`|form `wide` at test.rk:12:7 adds to entries");
        fails(rubus_form_assemble_how(narrow, csr, csr_hows[h]), RUBUS_EINVAL,
              "another form, `stiffness`|make one for form `mass`");
    }
    csr_values_are(csr, before, 0, "refused");
    free(before);
    rubus_csr *plain = NULL;
    ok(rubus_csr_create_identity(p.context, RUBUS_I32, RUBUS_F64, 4, &plain));
    fails(rubus_form_assemble(form, plain), RUBUS_EINVAL, "not of a form");
    rubus_csr_destroy(plain);
    rubus_csr_destroy(csr);
    rubus_form_destroy(form);
    rubus_form_destroy(wide);
    rubus_form_destroy(narrow);
    probe_close(&p);
}
END_TEST

START_TEST(matrix_wrong_arguments_fail)
{
    form_probe p = open_0135(_i);
    rubus_form *form = probe_form(&p, "stiffness", p.space);
    rubus_form *open = probe_form(&p, "scaled", p.space);
    rubus_form *linear = probe_linear(&p, "load", p.space);
    rubus_csr *csr = NULL;
    fails(rubus_form_matrix(NULL, NULL, RUBUS_ROWS, &csr), RUBUS_EINVAL, "NULL");
    fails(rubus_form_matrix(form, NULL, RUBUS_ROWS, NULL), RUBUS_EINVAL, "out_matrix");
    fails(rubus_form_matrix(form, NULL, 7, &csr), RUBUS_EINVAL, "mode 7|RUBUS_SYM");
    fails(rubus_form_matrix(linear, NULL, RUBUS_ROWS, &csr), RUBUS_EINVAL, "linear");
    fails(rubus_form_matrix(open, NULL, RUBUS_ROWS, &csr), RUBUS_ESTATE, "`k`");
    ck_assert_ptr_null(csr);
    csr = csr_make(form, NULL, RUBUS_ROWS);
    fails(rubus_form_assemble(NULL, csr), RUBUS_EINVAL, "form is NULL");
    fails(rubus_form_assemble(form, NULL), RUBUS_EINVAL, "matrix is NULL");
    fails(rubus_form_assemble_how(form, csr, -1), RUBUS_EINVAL, "how is -1|_GATHER");
    fails(rubus_form_assemble_how(form, csr, 5), RUBUS_EINVAL, "how is 5");
    ok(rubus_mesh_refine(p.mesh));
    fails(rubus_form_assemble(form, csr), RUBUS_ESTALE, "version");
    rubus_csr *late = NULL;
    fails(rubus_form_matrix(form, NULL, RUBUS_ROWS, &late), RUBUS_ESTALE, "version");
    rubus_csr_destroy(csr);
    rubus_form_destroy(form);
    rubus_form_destroy(open);
    rubus_form_destroy(linear);
    probe_close(&p);
}
END_TEST

/* --- live parameters ---------------------------------------------------------------- */

START_TEST(test_trap_08_refill_reads_what_is_set_now)
{
    form_probe p = open_0135(_i);
    rubus_form *form = probe_form(&p, "scaled", p.space);
    rubus_array *c = array_of(p.space, 2, 2, 2, 2);
    ok(rubus_form_set(form, "c", c));
    ok(rubus_form_set(form, "k", 1.0));
    rubus_csr *csr = csr_make(form, NULL, RUBUS_ROWS);
    rubus_csr_mirror mirror = {.struct_size = sizeof mirror};
    ok(rubus_csr_mirror_get(csr, &mirror));
    for (int h = 0; h < CSR_HOWS; h++) {
        ok(rubus_array_fill(c, 2));
        ok(rubus_form_set(form, "k", 1.0));
        ok(rubus_form_assemble_how(form, csr, csr_hows[h]));
        array_is(rubus_csr_nzval(csr), 1e-15, 1, 3, 4, 2);
        ok(rubus_form_set(form, "k", 3.0));
        ok(rubus_form_assemble_how(form, csr, csr_hows[h]));
        array_is(rubus_csr_nzval(csr), 1e-15, 3, 9, 12, 6);
        ok(rubus_array_fill(c, 20));
        ok(rubus_form_assemble_how(form, csr, csr_hows[h]));
        array_is(rubus_csr_nzval(csr), 1e-15, 30, 90, 120, 60);
        if (csr_hows[h] == RUBUS_FILL_HOST) { // the table is replayed, not searched for
            memset((void *)(uintptr_t)mirror.colval, 0, 4 * sizeof(int32_t));
            ok(rubus_form_assemble_how(form, csr, csr_hows[h]));
            array_is(rubus_csr_nzval(csr), 1e-15, 30, 90, 120, 60);
            memcpy((void *)(uintptr_t)mirror.colval, (const int32_t[]){0, 1, 2, 3},
                   4 * sizeof(int32_t));
        }
    }
    rubus_csr_destroy(csr);
    rubus_array_destroy(c);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

static Suite *matrix_suite(void)
{
    Suite *suite = suite_create("form/matrix");
    TCase *known = tcase_create("known");
    tcase_set_timeout(known, 120);
    backends_add(known, test_case_10_09_in_every_way);
    backends_add(known, test_case_10_09_pattern);
    backends_add(known, test_case_10_17);
    backends_add(known, matrix_of_unequal_spaces_is_rectangular);
    suite_add_tcase(suite, known);
    TCase *constrained = tcase_create("constrained");
    tcase_set_timeout(constrained, 120);
    backends_add(constrained, test_case_10_19_values);
    backends_add(constrained, matrix_constrained_diagonal_always_exists);
    backends_add(constrained, matrix_of_an_empty_region_has_no_entries);
    suite_add_tcase(suite, constrained);
    TCase *use = tcase_create("use");
    tcase_set_timeout(use, 120);
    backends_add(use, test_trap_20_matrix_of_another_form_is_unchanged);
    backends_add(use, matrix_wrong_arguments_fail);
    backends_add(use, test_trap_08_refill_reads_what_is_set_now);
    suite_add_tcase(suite, use);
    return suite;
}

RUBUS_TEST_MAIN("form/matrix", matrix_suite)
