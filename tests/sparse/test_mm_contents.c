/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading Matrix Market files: numbers, complex values, long lines, gzip data, dense
 * matrices, the arguments of the calls.
 */
#include "config.h"

#include <check.h>
#include <math.h>

#include "tests/sparse/mm_probe.h"

#define GENERAL "%%MatrixMarket matrix coordinate real general\n"

/* --- numbers ------------------------------------------------------------------------ */

START_TEST(numbers_are_the_nearest)
{
    static const char text[] =
        "%%MatrixMarket matrix coordinate integer general\n2 2 4\n1 1 2147483648\n"
        "1 2 -2147483649\n2 1 4294967297\n2 2 9007199254740993\n";
    const rubus_mm_options options = {.struct_size = sizeof options};
    rubus_mm *mm = NULL;
    ok(probe_read_block(text, strlen(text), &options, 16, &mm));
    static const double whole[] = {2147483648.0, -2147483649.0, 4294967297.0,
                                   9007199254740992.0};
    for (int k = 0; k < 4; k++) {
        ck_assert_double_eq(probe_number(mm, k), whole[k]);
    }
    ck_assert_int_eq(mm->field, RUBUS_MM_INTEGER);
    rubus_mm_destroy(mm);
    static const char digits[] = GENERAL
        "1 5 5\n1 1 0.1234567890123456789012345678901234567890\n"
        "1 2 3.000000000000000000000000000000000000000000000000000000000000000000001\n"
        "1 3 12345678901234567890123456789012345678901234567890e-40\n"
        "1 4 1e400\n1 5 4e-324\n";
    ok(probe_read_block(digits, strlen(digits), &options, 16, &mm));
    static const double real[] = {0.12345678901234568, 3, 1234567890.1234567, INFINITY,
                                  4.9406564584124654e-324};
    for (int k = 0; k < 5; k++) {
        ck_assert_double_eq(probe_number(mm, k), real[k]);
    }
    ck_assert_int_eq(mm->noverflow, 1);
    rubus_mm_destroy(mm);
    // whole numbers of any length, and of f32 with one rounding
    static const char big[] =
        "%%MatrixMarket matrix array integer general\n4 1\n"
        "100000000000000000000000000000000000000000\n9223372036854775807\n16777217\n"
        "9007199791611905\n";
    const rubus_mm_options small = {.struct_size = sizeof small, .real = RUBUS_F32};
    ok(probe_read_block(big, strlen(big), &options, 4096, &mm));
    ck_assert_double_eq(probe_number(mm, 0), 1e41);
    ck_assert_double_eq(probe_number(mm, 1), 9223372036854775808.0);
    rubus_mm_destroy(mm);
    ok(probe_read_block(big, strlen(big), &small, 4096, &mm));
    ck_assert_double_eq(probe_number(mm, 0), (double)INFINITY);
    ck_assert_double_eq(probe_number(mm, 2), 16777216.0);
    // 2^53 + 2^29 + 1: a little above the middle of two floats
    ck_assert_double_eq(probe_number(mm, 3), 9007200328482816.0);
    ck_assert_int_eq(mm->noverflow, 1);
    rubus_mm_destroy(mm);
}
END_TEST

/* --- complex ------------------------------------------------------------------------ */

START_TEST(complex_files_come_on_request)
{
    const rubus_mm_options options = {.struct_size = sizeof options, .complex = 1};
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric",
                                             "hermitian"};
    static const double mirror[][2] = {{0, 0}, {1, -2}, {-1, 2}, {1, 2}};
    for (int k = 0; k < 4; k++) {
        char text[200];
        snprintf(text, sizeof text,
                 "%%%%MatrixMarket matrix coordinate complex %s\n2 2 2\n2 1 1 -2\n"
                 "1 1 %s 0\n",
                 symmetries[k], k == 2 ? "0" : "7");
        rubus_mm *mm = NULL;
        ok(probe_read_block(text, strlen(text), &options, 16, &mm));
        ck_assert_int_eq(mm->field, RUBUS_MM_COMPLEX);
        ck_assert_int_eq(mm->symmetry, k + 1);
        ck_assert_int_eq(mm->n, k == 0 ? 2 : 3);
        ck_assert_double_eq(probe_number(mm, 0), 1);
        ck_assert_double_eq(probe_number(mm, 1), -2);
        if (k > 0) {
            ck_assert_int_eq(probe_row(mm, 1), 0);
            ck_assert_int_eq(probe_col(mm, 1), 1);
            ck_assert_double_eq(probe_number(mm, 2), mirror[k][0]);
            ck_assert_double_eq(probe_number(mm, 3), mirror[k][1]);
        }
        double out[4];
        fails(rubus_mm_dense(mm, 2, out), RUBUS_EINVAL, "complex");
        rubus_mm_destroy(mm);
    }
    static const char bad[] =
        "%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 2 1 3\n";
    rubus_mm *mm = NULL;
    fails(probe_read_block(bad, strlen(bad), &options, 16, &mm), RUBUS_EFORMAT,
          "a.mtx:3: |hermitian|(2,2) = 1 3|real");
    static const char skew[] =
        "%%MatrixMarket matrix array complex skew-symmetric\n2 2\n1 2\n";
    ok(probe_read_block(skew, strlen(skew), &options, 16, &mm));
    ck_assert_int_eq(mm->n, 2);
    ck_assert_double_eq(probe_number(mm, 3), -2);
    rubus_mm_destroy(mm);
    static const char few[] = "%%MatrixMarket matrix array complex general\n1 1\n1\n";
    fails(probe_read_block(few, strlen(few), &options, 16, &mm), RUBUS_EFORMAT,
          "a.mtx:3: |2 numbers|real and imaginary|has 1");
}
END_TEST

/* --- long lines, many lines --------------------------------------------------------- */

START_TEST(lines_may_be_long)
{
    enum { LONG = 70000 };
    const size_t room = 3 * LONG + 1000;
    char *text = malloc(room);
    ck_assert_ptr_nonnull(text);
    char *at = text + sprintf(text, "%s%%", GENERAL);
    memset(at, 'c', LONG);
    at += LONG;
    at += sprintf(at, "\n2 2 2\n1 1 0.");
    memset(at, '3', LONG);
    at += LONG;
    at += sprintf(at, "\n2 2 ");
    memset(at, ' ', LONG);
    at += LONG;
    at += sprintf(at, "7\n");
    const rubus_mm_options options = {.struct_size = sizeof options};
    for (int k = 0; k < 2; k++) {
        rubus_mm *mm = NULL;
        ok(probe_read_block(text, (size_t)(at - text), &options, k == 0 ? 64 : 4096,
                            &mm));
        ck_assert_int_eq(mm->n, 2);
        ck_assert_double_eq(probe_number(mm, 0), 1.0 / 3);
        ck_assert_double_eq(probe_number(mm, 1), 7);
        rubus_mm_destroy(mm);
    }
    // a comment that ends in CR, read together with the LF before it, then a long line
    at = text + sprintf(text, "%s2 2 1\n%%c\r1 1 ", GENERAL);
    memset(at, ' ', 1000);
    at += 1000;
    at += sprintf(at, "7\n");
    for (size_t block = 1; block < 200; block++) {
        rubus_mm *mm = NULL;
        ok(probe_read_block(text, (size_t)(at - text), &options, block, &mm));
        ck_assert_int_eq(mm->n, 1);
        rubus_mm_destroy(mm);
    }
    // the limit holds for other lines than comments
    rubus__mm_limits limits = {64, 900, INT32_MAX};
    rubus__mm_source source;
    rubus_mm *mm = NULL;
    ok(rubus__mm_source_memory(&source, "a.mtx", text, (size_t)(at - text), &limits));
    fails(rubus__mm_read(&source, &options, &limits, &mm), RUBUS_EFORMAT,
          "a.mtx:4: |more than 900 bytes");
    rubus__mm_source_close(&source);
    free(text);
    ck_assert_int_eq(rubus__alloc_live(), 0);
}
END_TEST

START_TEST(many_entries_keep_their_order)
{
    enum { N = 100000 };
    char *text = malloc(N * 32 + 100);
    ck_assert_ptr_nonnull(text);
    char *at = text + sprintf(text, "%s%d %d %d\n", GENERAL, N, N, N);
    for (int k = 0; k < N; k++) {
        at += sprintf(at, "%d %d %d.25\n", N - k, 1 + (int)(k * 7919LL % N), k);
    }
    for (int32_t index = RUBUS_I32; index <= RUBUS_I64; index++) {
        const rubus_mm_options options = {.struct_size = sizeof options, .index = index};
        rubus_mm *mm = NULL;
        ok(probe_read_block(text, (size_t)(at - text), &options, 1 << 16, &mm));
        ck_assert_int_eq(mm->n, N);
        for (int k = 0; k < N; k++) {
            ck_assert(probe_row(mm, k) == N - k - 1 &&
                      probe_col(mm, k) == k * 7919LL % N &&
                      probe_number(mm, k) == k + 0.25);
        }
        rubus_mm_destroy(mm);
    }
    free(text);
}
END_TEST

/* --- gzip --------------------------------------------------------------------------- */

static const char packed_text[] = GENERAL "2 2 3\n1 1 3\n2 1 4\n2 2 5\n";

START_TEST(gzip_cut_short_is_named)
{
    size_t size = 0;
    char *packed = probe_pack(packed_text, strlen(packed_text), &size);
    const rubus_mm_options options = {.struct_size = sizeof options};
    for (size_t n = 2; n < size; n++) {
        rubus_mm *mm = NULL;
        fails(probe_read_block(packed, n, &options, 7, &mm), RUBUS_EFORMAT,
              "a.mtx: |gzip data end too early|fetch");
    }
    free(packed);
    ck_assert_int_eq(rubus__alloc_live(), 0);
}
END_TEST

START_TEST(gzip_damage_is_named)
{
    size_t size = 0;
    char *packed = probe_pack(packed_text, strlen(packed_text), &size);
    const rubus_mm_options options = {.struct_size = sizeof options};
    int nfound = 0;
    for (size_t n = 2; n < size; n++) {
        packed[n] ^= 0x55;
        rubus_mm *mm = NULL;
        const rubus_status st = probe_read_block(packed, size, &options, 7, &mm);
        packed[n] ^= 0x55;
        rubus_mm_destroy(mm);
        nfound += st != RUBUS_OK;
        // time, flags and system in the head of the data have no meaning here
        ck_assert_msg(st != RUBUS_OK || n < 10, "damage of byte %d is not seen", (int)n);
    }
    ck_assert_int_gt(nfound, (int)size - 12);
    free(packed);
    ck_assert_int_eq(rubus__alloc_live(), 0);
}
END_TEST

START_TEST(gzip_of_several_members_is_one_text)
{
    size_t size[2];
    const size_t cut = strlen(GENERAL) + 9; // within a line
    char *packed[2] = {
        probe_pack(packed_text, cut, &size[0]),
        probe_pack(packed_text + cut, strlen(packed_text) - cut, &size[1])};
    char *all = calloc(1, size[0] + size[1] + 600);
    ck_assert_ptr_nonnull(all);
    memcpy(all, packed[0], size[0]);
    memcpy(all + size[0], packed[1], size[1]);
    const rubus_mm_options options = {.struct_size = sizeof options};
    for (int zeros = 0; zeros < 600; zeros += 512) {
        for (int k = 0; k < PROBE_BLOCKS; k++) {
            rubus_mm *mm = NULL;
            ok(probe_read_block(all, size[0] + size[1] + (size_t)zeros, &options,
                                probe_blocks[k], &mm));
            ck_assert_int_eq(mm->n, 3);
            ck_assert_double_eq(probe_number(mm, 2), 5);
            rubus_mm_destroy(mm);
        }
    }
    // other bytes behind the data
    all[size[0] + size[1]] = 'x';
    rubus_mm *mm = NULL;
    fails(probe_read_block(all, size[0] + size[1] + 2, &options, 7, &mm), RUBUS_EFORMAT,
          "a.mtx: |gzip data are damaged");
    free(all);
    free(packed[0]);
    free(packed[1]);
}
END_TEST

/* --- the call ----------------------------------------------------------------------- */

START_TEST(read_checks_its_arguments)
{
    probe_begin();
    rubus_mm *mm = NULL;
    rubus_mm_options options = {.struct_size = sizeof options};
    const char *path = probe_file("a.mtx", packed_text, strlen(packed_text));
    fails(rubus_mm_read(NULL, NULL, &mm), RUBUS_EINVAL, "path is NULL");
    fails(rubus_mm_read(path, NULL, NULL), RUBUS_EINVAL, "out_mm is NULL");
    options.real = RUBUS_I32;
    fails(rubus_mm_read(path, &options, &mm), RUBUS_EINVAL, "options.real is 3");
    options.real = 0;
    options.index = RUBUS_F64;
    fails(rubus_mm_read(path, &options, &mm), RUBUS_EINVAL, "options.index is 2");
    options.struct_size = 0;
    fails(rubus_mm_read(path, &options, &mm), RUBUS_EINVAL, "struct_size");
    // a caller of an older header gives less, of a newer one more
    options.struct_size = offsetof(rubus_mm_options, index);
    ok(rubus_mm_read(path, &options, &mm));
    ck_assert_int_eq(mm->index, RUBUS_I32);
    rubus_mm_destroy(mm);
    mm = NULL;
    fails(rubus_mm_read(probe_folder, NULL, &mm), RUBUS_EIO, "folder");
    fails(rubus_mm_read("/dev/null", NULL, &mm), RUBUS_EIO, "/dev/null|not a regular");
    fails(rubus_mm_read(probe_path("none.mtx"), NULL, &mm), RUBUS_EIO,
          "none.mtx|No such file");
    ck_assert_ptr_null(mm);
    rubus_mm_destroy(NULL);
    unlink(probe_path("a.mtx"));
    probe_end();
}
END_TEST

START_TEST(dense_adds_up_and_keeps_the_padding)
{
    // (row, column) twice adds up; ld 4 of 3 rows; a mark before, between and behind
    static const char *const texts[] = {
        GENERAL "3 2 4\n1 1 1\n3 2 5\n1 1 2\n2 2 -1\n",
        "%%MatrixMarket matrix array real general\n3 2\n3\n0\n0\n0\n-1\n5\n"};
    static const double want[6] = {3, 0, 0, 0, -1, 5};
    for (int way = 0; way < 8; way++) {
        rubus_mm_options options = {.struct_size = sizeof options};
        options.real = way & 1 ? RUBUS_F32 : RUBUS_F64;
        options.index = way & 2 ? RUBUS_I64 : RUBUS_I32;
        options.dense = 1;
        const char *text = texts[way / 4];
        rubus_mm *mm = NULL;
        ok(probe_read_block(text, strlen(text), &options, 16, &mm));
        ck_assert_int_eq(mm->row == NULL, way / 4);
        double f64[10];
        float f32[10];
        for (int k = 0; k < 10; k++) {
            f64[k] = 99;
            f32[k] = 99;
        }
        void *out = way & 1 ? (void *)(f32 + 1) : (void *)(f64 + 1);
        fails(rubus_mm_dense(mm, 2, out), RUBUS_ESHAPE, "leading dimension 2");
        fails(rubus_mm_dense(mm, 4, NULL), RUBUS_EINVAL, "out is NULL");
        fails(rubus_mm_dense(NULL, 4, out), RUBUS_EINVAL, "mm is NULL");
        ok(rubus_mm_dense(mm, 4, out));
        for (int k = 0; k < 10; k++) {
            const bool inside = k >= 1 && k < 9 && (k - 1) % 4 < 3;
            const double value = inside ? want[(k - 1) / 4 * 3 + (k - 1) % 4] : 99;
            ck_assert_double_eq(way & 1 ? (double)f32[k] : f64[k], value);
        }
        rubus_mm_destroy(mm);
    }
    static const char empty[] = GENERAL "3 0 0\n";
    const rubus_mm_options options = {.struct_size = sizeof options};
    rubus_mm *mm = NULL;
    ok(probe_read_block(empty, strlen(empty), &options, 16, &mm));
    ok(rubus_mm_dense(mm, 3, NULL));
    rubus_mm_destroy(mm);
}
END_TEST

static Suite *contents_suite(void)
{
    Suite *suite = suite_create("matrix market: contents");
    TCase *tc = tcase_create("contents");
    tcase_add_test(tc, numbers_are_the_nearest);
    tcase_add_test(tc, complex_files_come_on_request);
    tcase_add_test(tc, lines_may_be_long);
    tcase_add_test(tc, many_entries_keep_their_order);
    tcase_add_test(tc, gzip_cut_short_is_named);
    tcase_add_test(tc, gzip_damage_is_named);
    tcase_add_test(tc, gzip_of_several_members_is_one_text);
    tcase_add_test(tc, read_checks_its_arguments);
    tcase_add_test(tc, dense_adds_up_and_keeps_the_padding);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("matrix market: contents", contents_suite)
