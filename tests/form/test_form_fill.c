/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling matrices of forms: all ways agree, repeat, and move no values; many fillings
 * one after the other; on any number of threads; without atomic additions, without
 * memory, beyond what indices count.
 */
#include "config.h"

#include <check.h>

#include "libcore/form/form_matrix.h"
#include "tests/form/csr_probe.h"

static const char text[] =
    "form laplace(trial u, test v) = inner_plus(grad(u), grad(v));\n"
    "form mixed(trial u, test v, field kappa, real beta) =\n"
    "    inner_plus(Mm(kappa) * grad(u), grad(v)) + beta * inner_Gamma(u, v, \"right\")\n"
    "    + inner_x(Dm_x(kappa * Mm_x(u)), Dm_x(v)) + inner_h(u, Dm_y(v), \"blob\");\n"
    "form pair(trial u, test v, field kappa) = inner_plus(grad(u), grad(v))\n"
    "    + inner_h(kappa * (u[0] - u[1]), v[0] - v[1]);\n"
    "func bool blob(real x, real y) { return (x - 0.4)^2 + (y - 0.5)^2 < 0.1; }\n";

static const char *const names[] = {"rows", "scatter", "gather", "host", "search"};

/* 7 x 6 points anywhere, a region. */
static rubus_mesh *uneven_mesh(const form_probe *p, int32_t type)
{
    rubus_mesh_desc desc = {.struct_size = sizeof desc, .ndim = 2, .type = type};
    desc.axis[0] = (rubus_axis_desc){.upper = 1, .n = 7, .seed = 5};
    desc.axis[1] = (rubus_axis_desc){.upper = 1, .n = 6, .seed = 6};
    rubus_mesh *mesh = NULL;
    ok(rubus_mesh_create(p->context, &desc, &mesh));
    ok(rubus_mesh_mark_func(mesh, "blob", rubus_module_func(p->module, "blob")));
    return mesh;
}

static rubus_form *uneven_form(const form_probe *p, const char *name, rubus_space *space)
{
    double value[42];
    for (int k = 0; k < 42; k++) {
        value[k] = 1 + (k * 37 % 11) / 8.0;
    }
    rubus_form *form = probe_form(p, name, space);
    rubus_array *kappa = probe_array(p->space, value);
    ok(rubus_form_set(form, "kappa", kappa));
    rubus_array_destroy(kappa);
    if (space == p->space) {
        ok(rubus_form_set(form, "beta", 0.75));
    }
    return form;
}

static rubus_constraint *held(rubus_space *space, const char *labels)
{
    rubus_constraint *bc = NULL;
    ok(rubus_constraint_create(space, &bc));
    ok(rubus_constraint_add(bc, labels, RUBUS_ALL, 0.0));
    return bc;
}

static form_probe open_on(const char *spec)
{
    form_probe p = {0};
    ok(rubus_context_create(spec, &p.context));
    p.module = backends_module(p.context, text, RUBUS_F64, 0);
    return p;
}

/* --- all ways ----------------------------------------------------------------------- */

/* Against the owners of rows; gathering adds in the same order: the same bits. */
static void compare_ways(rubus_form *form, rubus_csr *csr, double rtol)
{
    ok(rubus_form_assemble(form, csr));
    double *want = csr_values(csr);
    for (int h = 0; h < CSR_HOWS; h++) {
        csr_spoil(csr);
        ok(rubus_form_assemble_how(form, csr, csr_hows[h]));
        csr_values_are(csr, want, csr_hows[h] == RUBUS_FILL_GATHER ? 0 : rtol, names[h]);
        double *first = csr_values(csr);
        csr_spoil(csr);
        ok(rubus_form_assemble_how(form, csr, csr_hows[h]));
        csr_values_are(csr, first, csr_hows[h] == RUBUS_FILL_SCATTER ? rtol : 0,
                       "repeated");
        free(first);
    }
    free(want);
}

typedef struct way_case {
    const char *form;
    int32_t real;
    const char *labels; /* held; NULL: none */
    int32_t mode;
} way_case;

static const way_case way_cases[] = {
    {"mixed", RUBUS_F64, NULL, RUBUS_ROWS},
    {"mixed", RUBUS_F64, "left,top", RUBUS_ROWS},
    {"pair", RUBUS_F64, "blob,right", RUBUS_SYM},
    {"mixed", RUBUS_F32, "blob", RUBUS_SYM},
};

/* Sums of at most 20 products of 6 factors: some 30 eps of the largest entry. */
START_TEST(test_trap_11_fill_ways_agree_and_repeat)
{
    form_probe p = probe_open(_i, text);
    for (size_t k = 0; k < sizeof way_cases / sizeof way_cases[0]; k++) {
        const way_case *c = &way_cases[k];
        probe_mesh(&p, uneven_mesh(&p, c->real));
        rubus_space *space = strcmp(c->form, "mixed") == 0 ? p.space : p.pair;
        rubus_form *form = uneven_form(&p, c->form, space);
        rubus_constraint *bc = c->labels == NULL ? NULL : held(space, c->labels);
        rubus_csr *csr = csr_make(form, bc, c->mode);
        ck_assert_int_eq(csr_info(csr).real, c->real);
        compare_ways(form, csr,
                     30 * (c->real == RUBUS_F64 ? DBL_EPSILON : (double)FLT_EPSILON));
        rubus_constraint_destroy(bc);
        rubus_csr_destroy(csr);
        rubus_form_destroy(form);
    }
    probe_close(&p);
}
END_TEST

/* Kernels that test every access, on the interpreter races too; indices of 64 bits. */
START_TEST(fill_ways_agree_in_a_checked_module)
{
    const rubus_module_options options = {
        .struct_size = sizeof options, .index = RUBUS_I64, .check = 1};
    form_probe p = {.context = backends_open(_i)};
    ok(rubus_module_create(p.context, "test.rk", text, &options, &p.module));
    probe_mesh(&p, uneven_mesh(&p, RUBUS_F64));
    rubus_form *form = probe_form(&p, "laplace", p.space); // small: checks are long texts
    rubus_constraint *bc = held(p.space, "left,blob");
    rubus_csr *csr = csr_make(form, bc, RUBUS_SYM);
    ck_assert_int_eq(csr_info(csr).index, RUBUS_I64);
    compare_ways(form, csr, 30 * DBL_EPSILON);
    ok(rubus_context_synchronize(p.context));
    rubus_constraint_destroy(bc);
    rubus_csr_destroy(csr);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

/* Filled with other numbers and again with the first: nothing of the others is left, and
 * rows that are held are those of the identity, not twice of it. */
START_TEST(test_trap_13_refill_with_labels_repeats_the_matrix)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, uneven_mesh(&p, RUBUS_F64));
    rubus_form *form = uneven_form(&p, "mixed", p.space);
    rubus_constraint *bc = held(p.space, "left,blob");
    for (int mode = RUBUS_ROWS; mode <= RUBUS_SYM; mode++) {
        rubus_csr *csr = csr_make(form, bc, mode);
        double *want = csr_values(csr);
        for (int h = 0; h < CSR_HOWS; h++) {
            ok(rubus_form_set(form, "beta", 50.0));
            ok(rubus_form_assemble_how(form, csr, csr_hows[h]));
            ok(rubus_form_set(form, "beta", 0.75));
            for (int k = 0; k < 2; k++) {
                ok(rubus_form_assemble_how(form, csr, csr_hows[h]));
                csr_values_are(csr, want, 30 * DBL_EPSILON, names[h]);
                ck_assert(backends_get(rubus_csr_nzval(csr),
                                       rubus_csr_position(csr, 0, 0)) == 1);
            }
        }
        free(want);
        rubus_csr_destroy(csr);
    }
    rubus_constraint_destroy(bc);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

/* --- what moves --------------------------------------------------------------------- */

START_TEST(test_trap_04_fill_moves_no_values)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, uneven_mesh(&p, RUBUS_F64));
    rubus_form *form = uneven_form(&p, "mixed", p.space);
    rubus_csr *csr = csr_make(form, NULL, RUBUS_ROWS);
    const uint64_t nbyte = rubus_array_nbyte(rubus_csr_nzval(csr));
    for (int h = 0; h < CSR_HOWS; h++) {
        const bool host = csr_hows[h] >= RUBUS_FILL_HOST;
        ok(rubus_form_assemble_how(form, csr, csr_hows[h])); // tables are made
        const rubus_context_counters before = probe_counters(p.context);
        ok(rubus_form_assemble_how(form, csr, csr_hows[h]));
        const rubus_context_counters after = probe_counters(p.context);
        ck_assert_msg(after.write_bytes - before.write_bytes == (host ? nbyte : 0),
                      "%s writes %llu bytes", names[h],
                      (unsigned long long)(after.write_bytes - before.write_bytes));
        ck_assert_msg(after.write_calls - before.write_calls == (host ? 1 : 0), "%s",
                      names[h]);
        ck_assert_msg(host || after.read_bytes == before.read_bytes, "%s reads",
                      names[h]);
    }
    rubus_csr_destroy(csr);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

/* Two matrices of one shape; each is its own. */
START_TEST(test_trap_07_fill_leaves_other_matrices)
{
    form_probe p = probe_open(_i, text);
    probe_mesh(&p, uneven_mesh(&p, RUBUS_F64));
    rubus_form *form = uneven_form(&p, "mixed", p.space);
    rubus_constraint *bc = held(p.space, "left");
    rubus_csr *first = csr_make(form, NULL, RUBUS_ROWS);
    rubus_csr *second = csr_make(form, bc, RUBUS_ROWS);
    double *one = csr_values(first);
    double *two = csr_values(second);
    ck_assert(memcmp(one, two, (size_t)csr_info(first).nnz * sizeof *one) != 0);
    for (int h = 0; h < CSR_HOWS; h++) {
        ok(rubus_form_assemble_how(form, first, csr_hows[h]));
        ok(rubus_form_assemble_how(form, second, csr_hows[h]));
        ok(rubus_form_assemble_how(form, first, csr_hows[h]));
        csr_values_are(first, one, 30 * DBL_EPSILON, names[h]);
        csr_values_are(second, two, 30 * DBL_EPSILON, names[h]);
    }
    free(one);
    free(two);
    rubus_constraint_destroy(bc);
    rubus_csr_destroy(first);
    rubus_csr_destroy(second);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

/* --- many fillings ------------------------------------------------------------------ */

/* Entry (row, col) of the stiffness on [0,1]^d with nx, ny points; ny 1: a line. All
 * numbers are powers of 2 and small sums of them: exact. */
static double laplace_entry(int64_t nx, int64_t ny, int64_t row, int64_t col)
{
    const int64_t i = row % nx;
    const int64_t j = row / nx;
    const double hx = 1.0 / (double)(nx - 1);
    const double hy = ny == 1 ? 1 : 1.0 / (double)(ny - 1);
    const double wx = ny == 1 ? 0 : i == 0 || i == nx - 1 ? hx / 2 : hx;
    const double wy = ny == 1 ? 1 : j == 0 || j == ny - 1 ? hy / 2 : hy;
    const double along_x = wy / hx;
    const double along_y = wx / hy;
    if (row == col) {
        return along_x * ((i > 0) + (i < nx - 1)) + along_y * ((j > 0) + (j < ny - 1));
    }
    return col == row - 1 || col == row + 1 ? -along_x : -along_y;
}

static void check_laplace(rubus_csr *csr, int64_t nx, int64_t ny, const char *what)
{
    rubus_csr_mirror mirror = {.struct_size = sizeof mirror};
    ok(rubus_csr_mirror_get(csr, &mirror));
    const int32_t *rowptr = mirror.rowptr;
    const int32_t *colval = mirror.colval;
    double *value = csr_values(csr);
    for (int64_t row = 0; row < nx * ny; row++) {
        for (int32_t k = rowptr[row]; k < rowptr[row + 1]; k++) {
            const double want = laplace_entry(nx, ny, row, colval[k]);
            ck_assert_msg(value[k] == want,
                          "%s, %lld points: (%lld, %d) is %.17g, not %g", what,
                          (long long)nx, (long long)row, (int)colval[k], value[k], want);
        }
    }
    free(value);
}

static void fill_often(const char *spec, int64_t nx, int64_t ny, int times)
{
    form_probe p = open_on(spec);
    rubus_mesh *mesh = NULL;
    const rubus_shape shape = {.rank = ny == 1 ? 1 : 2, .n = {nx, ny}};
    ok(rubus_mesh_create_box(p.context, RUBUS_F64, shape, probe_pair(0, 0),
                             probe_pair(1, 1), &mesh));
    probe_mesh(&p, mesh);
    rubus_form *form = probe_form(&p, "laplace", p.space);
    rubus_csr *csr = csr_make(form, NULL, RUBUS_ROWS);
    check_laplace(csr, nx, ny, "made");
    for (int k = 0; k < times; k++) {
        const int how =
            k * 7 % CSR_HOWS; /* every way, and at times another one after it */
        ok(rubus_form_assemble_how(form, csr, csr_hows[how]));
        if (k % 3 == 1) {
            ok(rubus_form_assemble_how(form, csr, csr_hows[(how + 1) % CSR_HOWS]));
        }
        check_laplace(csr, nx, ny, names[how]);
    }
    rubus_csr_destroy(csr);
    rubus_form_destroy(form);
    probe_close(&p);
}

/* An unordered write shows as +-2/h. */
START_TEST(test_case_10_27_fill_forty_times)
{
    fill_often(backends_spec[_i], 513, 1, 40);
    fill_often(backends_spec[_i], 1025, 1, 40);
    fill_often(backends_spec[_i], 2049, 1, 40);
}
END_TEST

START_TEST(test_case_10_27_fill_forty_times_in_2d)
{
    // the interpreter has no order of writes to get wrong
    const char *spec = backends_spec[_i];
    fill_often(spec, 129, 65, strcmp(spec, "reference") == 0 ? 6 : 40);
}
END_TEST

/* Memory is poisoned, and guarded on both sides. */
START_TEST(test_case_10_27_fill_forty_times_in_validate_mode)
{
    fill_often("threads:threads=3:validate=1", 513, 1, 40);
    fill_often("threads:threads=3:validate=1", 129, 65, 40);
}
END_TEST

/* --- threads, atomics --------------------------------------------------------------- */

/* Values of a matrix on some backend; malloc'ed. */
static double *values_on(const char *spec, int how, int64_t *out_nnz)
{
    form_probe p = open_on(spec);
    probe_mesh(&p, uneven_mesh(&p, RUBUS_F64));
    rubus_form *form = uneven_form(&p, "mixed", p.space);
    rubus_constraint *bc = held(p.space, "left,blob");
    rubus_csr *csr = csr_make(form, bc, RUBUS_ROWS);
    csr_spoil(csr);
    ok(rubus_form_assemble_how(form, csr, how));
    double *value = csr_values(csr);
    *out_nnz = csr_info(csr).nnz;
    rubus_constraint_destroy(bc);
    rubus_csr_destroy(csr);
    rubus_form_destroy(form);
    probe_close(&p);
    return value;
}

/* There are no colours to get wrong: owners of rows fill. */
START_TEST(test_case_10_25_and_10_26_any_number_of_threads)
{
    static const int threads[] = {2, 3, 8};
    for (int h = 0; h < CSR_HOWS; h++) {
        int64_t nnz = 0;
        double *one = values_on("threads:threads=1", csr_hows[h], &nnz);
        for (int k = 0; k < 3; k++) {
            char spec[40];
            snprintf(spec, sizeof spec, "threads:threads=%d", threads[k]);
            double *some = values_on(spec, csr_hows[h], &nnz);
            for (int64_t i = 0; i < nnz; i++) {
                const double tol =
                    csr_hows[h] == RUBUS_FILL_SCATTER ? 30 * DBL_EPSILON * 20 : 0;
                ck_assert_msg(fabs(some[i] - one[i]) <= tol,
                              "%s on %d threads: value %lld is %.17g, on one %.17g",
                              names[h], threads[k], (long long)i, some[i], one[i]);
            }
            free(some);
        }
        free(one);
    }
}
END_TEST

START_TEST(test_trap_11_fill_without_atomics_gathers)
{
    char spec[160];
    int64_t nnz = 0;
    snprintf(spec, sizeof spec, "%s:cap.atomic_f64_add=0", backends_spec[_i]);
    double *scattered = values_on(spec, RUBUS_FILL_SCATTER, &nnz);
    double *gathered = values_on(spec, RUBUS_FILL_GATHER, &nnz);
    ck_assert_mem_eq(scattered, gathered, (size_t)nnz * sizeof *gathered);
    free(scattered);
    free(gathered);
}
END_TEST

/* --- limits ------------------------------------------------------------------------- */

/* Every allocation fails once. */
START_TEST(fill_survives_every_failed_allocation)
{
    form_probe p = probe_open(BACKENDS_ONE, text);
    probe_mesh(&p, uneven_mesh(&p, RUBUS_F64));
    rubus_form *form = uneven_form(&p, "mixed", p.space);
    rubus_constraint *bc = held(p.space, "left,blob");
    rubus_csr *warm = csr_make(form, bc, RUBUS_ROWS); // the kernels are built once
    double *want = csr_values(warm);
    for (int h = 0; h < CSR_HOWS; h++) {
        ok(rubus_form_assemble_how(form, warm, csr_hows[h]));
    }
    rubus_csr_destroy(warm);
    for (int h = 0; h < CSR_HOWS; h++) {
        for (int64_t n = 1;; n++) {
            rubus_csr *csr = NULL;
            rubus__alloc_fail_after(n, false);
            rubus_status st = rubus_form_matrix(form, bc, RUBUS_ROWS, &csr);
            if (st == RUBUS_OK) {
                st = rubus_form_assemble_how(form, csr, csr_hows[h]);
            }
            rubus__alloc_fail_after(0, false);
            if (csr != NULL) { // it can be filled again, whatever happened
                ok(rubus_form_assemble_how(form, csr, csr_hows[h]));
                csr_values_are(csr, want, 30 * DBL_EPSILON, names[h]);
            }
            rubus_csr_destroy(csr);
            if (st == RUBUS_OK) {
                ck_assert_int_gt(n, 10);
                break;
            }
            ck_assert_msg(st == RUBUS_ENOMEM || st == RUBUS_EDEVMEM, "%s: %s",
                          rubus_status_name(st), rubus_error_text());
        }
    }
    free(want);
    rubus_constraint_destroy(bc);
    rubus_form_destroy(form);
    probe_close(&p);
}
END_TEST

/* As of meshes of a size that no test can have. */
START_TEST(test_trap_21_pattern_past_32_bits_is_refused)
{
    int32_t narrow[4] = {0, INT32_MAX - 5, 5, 1};
    int64_t wide[4] = {0, INT32_MAX - 5, 5, 1};
    int64_t nnz = -1;
    fails(rubus__form_sum_rows("here", "a", RUBUS_I32, 3, narrow, &nnz), RUBUS_ELIMIT,
          "form `a`|2147483648 in the first 3 of 3 rows|RUBUS_I64");
    ck_assert_int_eq(nnz, -1);
    narrow[1] = INT32_MAX - 5;
    narrow[2] = 5;
    ok(rubus__form_sum_rows("here", "a", RUBUS_I32, 2, narrow, &nnz));
    ck_assert_int_eq(nnz, INT32_MAX);
    ok(rubus__form_sum_rows("here", "a", RUBUS_I64, 3, wide, &nnz));
    ck_assert_int_eq(nnz, (int64_t)INT32_MAX + 1);
    ck_assert_int_eq(wide[3], nnz);
    int32_t width[2] = {4, 4};
    const rk_form_kernel kernel = {.nterm = 2, .width = width};
    int64_t slots = -1;
    fails(rubus__form_count_slots("here", RUBUS_I32, 1 << 28, &kernel, &slots),
          RUBUS_ELIMIT, "2147483648 positions|RUBUS_I64|RUBUS_FILL_ROWS");
    ck_assert_int_eq(slots, -1);
    ok(rubus__form_count_slots("here", RUBUS_I64, 1 << 28, &kernel, &slots));
    ck_assert_int_eq(slots, (int64_t)1 << 31);
}
END_TEST

static Suite *fill_suite(void)
{
    Suite *suite = suite_create("form/fill");
    TCase *ways = tcase_create("ways");
    tcase_set_timeout(ways, 180);
    backends_add(ways, test_trap_11_fill_ways_agree_and_repeat);
    backends_add(ways, fill_ways_agree_in_a_checked_module);
    backends_add(ways, test_trap_13_refill_with_labels_repeats_the_matrix);
    backends_add(ways, test_trap_04_fill_moves_no_values);
    backends_add(ways, test_trap_07_fill_leaves_other_matrices);
    suite_add_tcase(suite, ways);
    TCase *often = tcase_create("often");
    tcase_set_timeout(often, 180);
    backends_add(often, test_case_10_27_fill_forty_times);
    backends_add(often, test_case_10_27_fill_forty_times_in_2d);
    tcase_add_test(often, test_case_10_27_fill_forty_times_in_validate_mode);
    suite_add_tcase(suite, often);
    TCase *other = tcase_create("other");
    tcase_set_timeout(other, 180);
    tcase_add_test(other, test_case_10_25_and_10_26_any_number_of_threads);
    backends_add(other, test_trap_11_fill_without_atomics_gathers);
    tcase_add_test(other, fill_survives_every_failed_allocation);
    tcase_add_test(other, test_trap_21_pattern_past_32_bits_is_refused);
    suite_add_tcase(suite, other);
    return suite;
}

RUBUS_TEST_MAIN("form/fill", fill_suite)
