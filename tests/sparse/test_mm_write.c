/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing Matrix Market files, reading them back, and both without memory; matrices of
 * every backend from files and back.
 */
#include "config.h"

#include <check.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include "tests/sparse/mm_probe.h"
#include "tests/sparse/sparse_probe.h"

static uint64_t state = 0x2545F4914F6CDD1Du;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static const int32_t rowptr[] = {0, 2, 2, 4};
static const int32_t colval[] = {0, 2, 0, 1};
static const double nzval[] = {0.1, -2, 1e300, 5e-324};

static rubus_mm_csr sample(void)
{
    rubus_mm_csr a;
    memset(&a, 0, sizeof a);
    a.struct_size = sizeof a;
    a.nrow = 3;
    a.ncol = 3;
    a.nnz = 4;
    a.rowptr = rowptr;
    a.colval = colval;
    a.nzval = nzval;
    return a;
}

/* The file is exactly this text; it is removed. */
static void check_text(const char *name, const char *want)
{
    char *text = NULL;
    size_t size = 0;
    ok(rubus__file_read(probe_path(name), 1 << 20, &text, &size));
    ck_assert_str_eq(text, want);
    rubus__free(text);
    unlink(probe_path(name));
}

START_TEST(write_gives_shortest_decimals_by_rows)
{
    probe_begin();
    rubus_mm_csr a = sample();
    ok(rubus_mm_write(probe_path("a.mtx"), &a));
    check_text("a.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 0.1\n"
                        "1 3 -2\n3 1 1e+300\n3 2 5e-324\n");
    a.nzval = NULL;
    a.comment = "one\ntwo\r\nthree\n";
    ok(rubus_mm_write(probe_path("a.mtx"), &a));
    check_text("a.mtx",
               "%%MatrixMarket matrix coordinate pattern general\n%one\n%two\n%\n%three\n"
               "3 3 4\n1 1\n1 3\n3 1\n3 2\n");
    a = sample();
    a.nrow = 0;
    a.nnz = 0;
    a.rowptr = NULL;
    a.colval = NULL;
    ok(rubus_mm_write(probe_path("a.mtx"), &a));
    check_text("a.mtx", "%%MatrixMarket matrix coordinate real general\n0 3 0\n");
    const float f32[] = {0.1f, 99, 16777216.0f, NAN, 99, -INFINITY};
    ok(rubus_mm_write_array(probe_path("a.mtx"), RUBUS_F32, 1, 2, 2, f32, ""));
    check_text("a.mtx", "%%MatrixMarket matrix array real general\n1 2\n0.1\n"
                        "16777216\n");
    ok(rubus_mm_write_array(probe_path("a.mtx"), RUBUS_F32, 1, 2, 2, f32 + 3, "x"));
    check_text("a.mtx", "%%MatrixMarket matrix array real general\n%x\n1 2\nnan\n-inf\n");
    ok(rubus_mm_write_array(probe_path("a.mtx"), RUBUS_F64, 3, 0, 0, NULL, NULL));
    check_text("a.mtx", "%%MatrixMarket matrix array real general\n3 0\n");
    probe_end();
}
END_TEST

START_TEST(write_symmetric_stores_the_lower_triangle)
{
    probe_begin();
    // 2 -1 . ; -1 . nan ; . nan 3
    const int64_t ptr[] = {0, 2, 4, 6};
    const int64_t col[] = {0, 1, 0, 2, 1, 2};
    float val[] = {2, -1, -1, NAN, NAN, 3};
    rubus_mm_csr a = sample();
    a.nnz = 6;
    a.index = RUBUS_I64;
    a.real = RUBUS_F32;
    a.rowptr = ptr;
    a.colval = col;
    a.nzval = val;
    a.symmetry = RUBUS_MM_SYMMETRIC;
    ok(rubus_mm_write(probe_path("a.mtx"), &a));
    check_text("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n"
                        "2 1 -1\n3 2 nan\n3 3 3\n");
    a.nzval = NULL;
    ok(rubus_mm_write(probe_path("a.mtx"), &a));
    check_text("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 4\n1 1\n"
                        "2 1\n3 2\n3 3\n");
    a.nzval = val;
    val[2] = -1.5f;
    fails(rubus_mm_write(probe_path("a.mtx"), &a), RUBUS_ESHAPE,
          "(0,1)|another value|(1,0)");
    val[2] = -1;
    const int64_t lone[] = {0, 1, 0, 2, 0, 2};
    a.colval = lone;
    fails(rubus_mm_write(probe_path("a.mtx"), &a), RUBUS_ESHAPE, "(1,2)|no other|(2,1)");
    const int64_t descending[] = {1, 0, 0, 2, 1, 2};
    a.colval = descending;
    fails(rubus_mm_write(probe_path("a.mtx"), &a), RUBUS_EINVAL, "row 0, entry 1|ascend");
    a.colval = col;
    a.ncol = 4;
    fails(rubus_mm_write(probe_path("a.mtx"), &a), RUBUS_ESHAPE, "square|3 x 4");
    probe_missing("a.mtx");
    probe_end();
}
END_TEST

START_TEST(write_checks_its_arguments)
{
    probe_begin();
    const char *path = probe_path("a.mtx");
    const int32_t steps[][4] = {{1, 2, 2, 4}, {0, 5, 2, 4}, {0, 2, 1, 4}, {0, 2, 2, 3}};
    static const char *const words[] = {"rowptr[0] is 1",
                                        "row 0: rowptr goes from 0 to 5",
                                        "row 1: rowptr goes from 2 to 1", "ends at 3"};
    rubus_mm_csr a = sample();
    for (int k = 0; k < 4; k++) {
        a.rowptr = steps[k];
        fails(rubus_mm_write(path, &a), RUBUS_EINVAL, words[k]);
    }
    a = sample();
    const int32_t outside[] = {0, 3, 0, 1};
    const int32_t negative[] = {0, 2, -1, 1};
    a.colval = outside;
    fails(rubus_mm_write(path, &a), RUBUS_EINVAL, "row 0, entry 1: column 3 |0..2");
    a.colval = negative;
    fails(rubus_mm_write(path, &a), RUBUS_EINVAL, "row 2, entry 2: column -1 ");
    a.colval = NULL;
    fails(rubus_mm_write(path, &a), RUBUS_EINVAL, "colval is NULL");
    a.rowptr = NULL;
    fails(rubus_mm_write(path, &a), RUBUS_EINVAL, "rowptr is NULL");
    a.nrow = -1;
    fails(rubus_mm_write(path, &a), RUBUS_EINVAL, "negative|-1 x 3");
    a = sample();
    a.real = RUBUS_I64;
    fails(rubus_mm_write(path, &a), RUBUS_EINVAL, "real is 4");
    a.real = 0;
    a.index = RUBUS_F32;
    fails(rubus_mm_write(path, &a), RUBUS_EINVAL, "index is 1");
    a.index = 0;
    a.symmetry = RUBUS_MM_SKEW;
    fails(rubus_mm_write(path, &a), RUBUS_EINVAL, "symmetry is 3");
    a.struct_size = 0;
    fails(rubus_mm_write(path, &a), RUBUS_EINVAL, "struct_size");
    fails(rubus_mm_write(NULL, &a), RUBUS_EINVAL, "path is NULL");
    fails(rubus_mm_write(path, NULL), RUBUS_EINVAL, "csr is NULL");
    fails(rubus_mm_write_array(path, 0, 1, 1, 1, nzval, NULL), RUBUS_EINVAL, "real is 0");
    fails(rubus_mm_write_array(path, RUBUS_F64, 1, -1, 1, nzval, NULL), RUBUS_EINVAL,
          "negative");
    fails(rubus_mm_write_array(path, RUBUS_F64, 2, 1, 1, nzval, NULL), RUBUS_ESHAPE,
          "leading dimension 1");
    fails(rubus_mm_write_array(path, RUBUS_F64, 2, 1, 2, NULL, NULL), RUBUS_EINVAL,
          "value is NULL");
    fails(rubus_mm_write_array(NULL, RUBUS_F64, 2, 1, 2, nzval, NULL), RUBUS_EINVAL,
          "path is NULL");
    probe_missing("a.mtx");
    probe_end();
}
END_TEST

START_TEST(write_failure_leaves_the_old_file)
{
    probe_begin();
    rubus_mm_csr a = sample();
    fails(rubus_mm_write("/dev/full", &a), RUBUS_EIO, "/dev/full|No space");
    fails(rubus_mm_write(probe_folder, &a), RUBUS_EIO, "directory");
    fails(rubus_mm_write(probe_path("none/a.mtx"), &a), RUBUS_EIO, "none/a.mtx");
    probe_file("a.mtx", "old", 3);
    // a limit on the size of files, as a full disk: the signal is ignored
    static double many[40000];
    struct sigaction ignore;
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    ck_assert_int_eq(sigaction(SIGXFSZ, &ignore, NULL), 0);
    const struct rlimit limit = {70000, 70000};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    fails(rubus_mm_write_array(probe_path("a.mtx"), RUBUS_F64, 40000, 1, 0, many, NULL),
          RUBUS_EIO, "a.mtx|too large");
    check_text("a.mtx", "old");
    probe_end();
}
END_TEST

/* --- and back ----------------------------------------------------------------------- */

enum { ROWS = 300 };

/* A random sparse matrix with values of every size; rows sorted, some empty. */
static int64_t fill(int32_t index, int32_t real, void *ptr, void *col, void *val)
{
    int64_t n = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        rubus__index_set(ptr, index, i, n);
        for (int64_t j = 0; j < 50 && i % 7 != 3; j++) {
            if (draw() % 4 == 0) {
                const uint64_t bits = draw();
                rubus__index_set(col, index, n, j);
                memcpy((char *)val + n * (real == RUBUS_F32 ? 4 : 8), &bits,
                       real == RUBUS_F32 ? 4 : 8);
                n++;
            }
        }
    }
    rubus__index_set(ptr, index, ROWS, n);
    return n;
}

static bool same_number(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

START_TEST(round_trips_give_the_same_bits)
{
    static int64_t ptr[ROWS + 1];
    static int64_t col[ROWS * 50];
    static double val[ROWS * 50];
    const int32_t index = probe_index[_i];
    const int32_t real = probe_real[_i];
    probe_begin();
    for (int packed = 0; packed < 2; packed++) {
        rubus_mm_csr a = sample();
        a.nrow = ROWS;
        a.ncol = 50;
        a.nnz = fill(index, real, ptr, col, val);
        a.index = index;
        a.real = real;
        a.rowptr = ptr;
        a.colval = col;
        a.nzval = val;
        const char *name = packed ? "a.mtx.gz" : "a.mtx";
        ok(rubus_mm_write(probe_path(name), &a));
        const rubus_mm_options options = {
            .struct_size = sizeof options, .index = index, .real = real};
        rubus_mm *mm = NULL;
        ok(rubus_mm_read(probe_path(name), &options, &mm));
        ck_assert_int_eq(mm->n, a.nnz);
        ck_assert_int_eq(mm->noverflow, 0);
        for (int64_t i = 0, k = 0; i < ROWS; i++) {
            for (; k < rubus__index_get(ptr, index, i + 1); k++) {
                ck_assert_int_eq(probe_row(mm, k), i);
                ck_assert_int_eq(probe_col(mm, k), rubus__index_get(col, index, k));
                ck_assert_msg(same_number(probe_number(mm, k), probe_value(val, real, k)),
                              "%.17g came back as %.17g", probe_value(val, real, k),
                              probe_number(mm, k));
            }
        }
        rubus_mm_destroy(mm);
        char first[2] = {0};
        FILE *file = fopen(probe_path(name), "rb");
        ck_assert_ptr_nonnull(file);
        ck_assert_uint_eq(fread(first, 1, 2, file), 2);
        fclose(file);
        ck_assert(memcmp(first, packed ? "\x1f\x8b" : "%%", 2) == 0);
        unlink(probe_path(name));
    }
    probe_end();
}
END_TEST

START_TEST(dense_round_trip_gives_the_same_bits)
{
    enum { NROW = 7, NCOL = 5, LD = 9 };
    double value[LD * NCOL];
    double back[LD * NCOL];
    for (int k = 0; k < LD * NCOL; k++) {
        const uint64_t bits = draw();
        memcpy(&value[k], &bits, sizeof bits);
        back[k] = 4;
    }
    probe_begin();
    ok(rubus_mm_write_array(probe_path("a.mtx.GZ"), RUBUS_F64, NROW, NCOL, LD, value,
                            NULL));
    for (int32_t dense = 0; dense < 2; dense++) {
        const rubus_mm_options options = {.struct_size = sizeof options, .dense = dense};
        rubus_mm *mm = NULL;
        ok(rubus_mm_read(probe_path("a.mtx.GZ"), &options, &mm));
        ok(rubus_mm_dense(mm, LD, back));
        for (int k = 0; k < LD * NCOL; k++) {
            // adding to 0 loses the sign of -0, which does not occur here
            ck_assert(same_number(back[k], k % LD < NROW ? value[k] : 4));
        }
        rubus_mm_destroy(mm);
    }
    unlink(probe_path("a.mtx.GZ"));
    probe_end();
}
END_TEST

/* --- without memory ----------------------------------------------------------------- */

typedef rubus_status (*call)(const char *path);

static rubus_status read_it(const char *path)
{
    rubus_mm *mm = NULL;
    const rubus_status st = rubus_mm_read(path, NULL, &mm);
    ck_assert_msg((st == RUBUS_OK) == (mm != NULL), "output of a failure");
    rubus_mm_destroy(mm);
    return st;
}

static rubus_status write_it(const char *path)
{
    rubus_mm_csr a = sample();
    return rubus_mm_write(path, &a);
}

static rubus_status write_array(const char *path)
{
    return rubus_mm_write_array(path, RUBUS_F64, 2, 2, 0, nzval, NULL);
}

static int until_success(call f, const char *path)
{
    for (int n = 1; n < 1000; n++) {
        const int64_t live = rubus__alloc_live();
        rubus__alloc_fail_after(n, false);
        const rubus_status st = f(path);
        rubus__alloc_fail_after(0, false);
        ck_assert_int_eq(rubus__alloc_live(), live);
        if (st == RUBUS_OK) {
            return n;
        }
        fails(st, RUBUS_ENOMEM, "out of host memory");
    }
    ck_abort_msg("never succeeds");
    return 0;
}

START_TEST(every_allocation_may_fail)
{
    probe_begin();
    char path[2][128];
    snprintf(path[0], sizeof path[0], "%s", probe_path("a.mtx"));
    snprintf(path[1], sizeof path[1], "%s", probe_path("a.mtx.gz"));
    for (int k = 0; k < 2; k++) {
        ck_assert_int_gt(until_success(write_it, path[k]), 3);
        ck_assert_int_gt(until_success(read_it, path[k]), 5);
        ck_assert_int_gt(until_success(write_array, path[k]), 3);
        // the arrays grow, and a line is longer than a block
        FILE *file = fopen(path[0], "w");
        ck_assert_ptr_nonnull(file);
        fprintf(file, "%%%%MatrixMarket matrix coordinate integer general\n9 9 3000\n");
        for (int i = 0; i < 3000; i++) {
            fprintf(file, "1 1 %*d\n", i == 7 ? 300000 : 1, i);
        }
        ck_assert_int_eq(fclose(file), 0);
        ck_assert_int_gt(until_success(read_it, path[0]), 10);
    }
    unlink(path[0]);
    unlink(path[1]);
    probe_end();
}
END_TEST

/* --- matrices of a context ---------------------------------------------------------- */

START_TEST(csr_of_a_file_is_sorted_and_added_up)
{
    static const char text[] = "%%MatrixMarket matrix coordinate real general\n4 3 6\n"
                               "3 3 1\n1 2 5\n3 1 -4\n3 3 0.5\n1 2 -5\n4 1 2\n";
    static const int ptr[] = {0, 1, 1, 3, 4};
    static const int col[] = {1, 0, 2, 0};
    static const double val[] = {0, -4, 1.5, 2};
    rubus_context *context = backends_open(_i);
    probe_begin();
    probe_file("a.mtx", text, strlen(text));
    for (int k = 0; k < 4; k++) {
        rubus_csr *csr = NULL;
        ok(rubus_csr_create_file(context, probe_index[k], probe_real[k],
                                 probe_path("a.mtx"), &csr));
        probe_csr_is(csr, 4, 3, ptr, col, val);
        ok(rubus_csr_write(probe_path("b.mtx"), csr, 0, "sorted"));
        rubus_csr_destroy(csr);
        check_text("b.mtx",
                   "%%MatrixMarket matrix coordinate real general\n%sorted\n4 3 4\n"
                   "1 2 0\n3 1 -4\n3 3 1.5\n4 1 2\n");
    }
    rubus_csr *csr = NULL;
    ok(rubus_csr_create_file(context, 0, 0, probe_path("a.mtx"), &csr));
    fails(rubus_csr_write(probe_path("b.mtx"), csr, RUBUS_MM_SYMMETRIC, NULL),
          RUBUS_ESHAPE, "square");
    fails(rubus_csr_write(NULL, csr, 0, NULL), RUBUS_EINVAL, "path is NULL");
    fails(rubus_csr_write(probe_path("b.mtx"), NULL, 0, NULL), RUBUS_EINVAL, "matrix");
    rubus_csr_destroy(csr);
    csr = NULL;
    fails(rubus_csr_create_file(NULL, 0, 0, probe_path("a.mtx"), &csr), RUBUS_EINVAL,
          "context is NULL");
    fails(rubus_csr_create_file(context, 0, 0, NULL, &csr), RUBUS_EINVAL, "path is NULL");
    fails(rubus_csr_create_file(context, 0, 0, probe_path("a.mtx"), NULL), RUBUS_EINVAL,
          "output");
    fails(rubus_csr_create_file(context, 0, RUBUS_I32, probe_path("a.mtx"), &csr),
          RUBUS_EINVAL, "real is 3");
    static const char bad[] = "%%MatrixMarket matrix coordinate real general\n4 3 2\n"
                              "3 3 1\n";
    probe_file("a.mtx", bad, strlen(bad));
    fails(rubus_csr_create_file(context, 0, 0, probe_path("a.mtx"), &csr), RUBUS_EFORMAT,
          "a.mtx:3: only 1 of the 2");
    // more rows than memory holds pointers
    static const char tall[] = "%%MatrixMarket matrix coordinate real general\n"
                               "4611686018427387000 1 1\n3 1 1\n";
    probe_file("a.mtx", tall, strlen(tall));
    const rubus_status st =
        rubus_csr_create_file(context, RUBUS_I64, RUBUS_F64, probe_path("a.mtx"), &csr);
    ck_assert(st == RUBUS_ELIMIT || st == RUBUS_ENOMEM);
    backends_text_has("a.mtx|4611686018427387000 x 1", "tall", __LINE__);
    ck_assert_ptr_null(csr);
    unlink(probe_path("a.mtx"));
    ck_assert_int_eq(rmdir(probe_folder), 0);
    backends_finish(context);
}
END_TEST

static Suite *writer_suite(void)
{
    Suite *suite = suite_create("matrix market: writing");
    TCase *tc = tcase_create("writing");
    tcase_add_test(tc, write_gives_shortest_decimals_by_rows);
    tcase_add_test(tc, write_symmetric_stores_the_lower_triangle);
    tcase_add_test(tc, write_checks_its_arguments);
    tcase_add_test(tc, write_failure_leaves_the_old_file);
    tcase_add_loop_test(tc, round_trips_give_the_same_bits, 0, 4);
    tcase_add_test(tc, dense_round_trip_gives_the_same_bits);
    tcase_add_test(tc, every_allocation_may_fail);
    backends_add(tc, csr_of_a_file_is_sorted_and_added_up);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("matrix market: writing", writer_suite)
