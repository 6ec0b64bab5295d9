/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading Matrix Market files: what is taken, and as what; what is refused, and with
 * which words. Every text is read in blocks of many sizes and into every type.
 */
#include "config.h"

#include <check.h>
#include <math.h>
#include <sys/resource.h>

#include "tests/sparse/mm_probe.h"

#define GENERAL "%%MatrixMarket matrix coordinate real general\n"
enum { ENTRIES_MOST = 12 };

typedef struct good {
    const char *text;
    int nrow;
    int ncol;
    int n;
    double entry[ENTRIES_MOST][3]; /* row and column from 0, value */
} good;

static const good goods[] = {
    // one triangle, by columns, without the diagonal
    {"%%MatrixMarket matrix array real skew-symmetric\n% below the diagonal\n4 4\n"
     "2\n-3\n0.5\n7\n-1\n4\n",
     4,
     4,
     12,
     {{1, 0, 2},
      {0, 1, -2},
      {2, 0, -3},
      {0, 2, 3},
      {3, 0, .5},
      {0, 3, -.5},
      {2, 1, 7},
      {1, 2, -7},
      {3, 1, -1},
      {1, 3, 1},
      {3, 2, 4},
      {2, 3, -4}}},
    {"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n",
     2,
     2,
     4,
     {{0, 0, 1}, {1, 0, 2}, {0, 1, 2}, {1, 1, 3}}},
    {"%%MatrixMarket matrix array integer general\n3 2\n1\n2\n3\n4\n5\n6\n",
     3,
     2,
     6,
     {{0, 0, 1}, {1, 0, 2}, {2, 0, 3}, {0, 1, 4}, {1, 1, 5}, {2, 1, 6}}},
    {"%%MatrixMarket matrix array real skew-symmetric\n1 1\n", 1, 1, 0, {{0}}},
    {"%%MatrixMarket matrix array real skew-symmetric\n0 0\n", 0, 0, 0, {{0}}},
    {"%%MatrixMarket matrix array double symmetric\n0 0\n\n", 0, 0, 0, {{0}}},
    {"%%MatrixMarket matrix array real general\n3 0\n", 3, 0, 0, {{0}}},
    // a zero on the diagonal of a skew-symmetric matrix, which is stored
    {"%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 2 0\n3 1 5\n",
     3,
     3,
     3,
     {{1, 1, 0}, {2, 0, 5}, {0, 2, -5}}},
    // a stored place is 1, mirrored too; loops once
    {"%%MatrixMarket matrix coordinate pattern symmetric\n5 5 4\n2 1\n5 1\n3 3\n5 4\n",
     5,
     5,
     7,
     {{1, 0, 1}, {0, 1, 1}, {4, 0, 1}, {0, 4, 1}, {2, 2, 1}, {4, 3, 1}, {3, 4, 1}}},
    // the upper triangle, against the rules, is mirrored as well
    {"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 5\n",
     2,
     2,
     2,
     {{0, 1, 5}, {1, 0, 5}}},
    // free layout
    {"%%matrixmarket   Matrix COORDINATE  Real  GENERAL  \n\n% a comment\n\n"
     "   4  4      6 \n\n\t1 1  3.\n2 2       .5\n3 3             2.5e-3\n\n"
     "4   4                  -7.E1\n  % between entries\n     1      4      +9\n"
     "     +4      02      125.25\n\n%\n \t",
     4,
     4,
     6,
     {{0, 0, 3}, {1, 1, .5}, {2, 2, .0025}, {3, 3, -70}, {0, 3, 9}, {3, 1, 125.25}}},
    {"  \t%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n",
     1,
     1,
     1,
     {{0, 0, 1}}},
    {"\xef\xbb\xbf" GENERAL "1 1 1\n1 1 2\n", 1, 1, 1, {{0, 0, 2}}},
    // no line end at the end
    {GENERAL "1 1 1\n1 1 2", 1, 1, 1, {{0, 0, 2}}},
    {"%%MatrixMarket matrix coordinate pattern general\n1 2 1\n1 2",
     1,
     2,
     1,
     {{0, 1, 1}}},
    // the other line ends
    {"%%MatrixMarket matrix coordinate real symmetric\r\n% made on Windows\r\n\r\n3 3 "
     "3\r\n"
     "1 1 2\r\n2 1 -1\r\n3 3 2\r\n",
     3,
     3,
     4,
     {{0, 0, 2}, {1, 0, -1}, {0, 1, -1}, {2, 2, 2}}},
    {"%%MatrixMarket matrix coordinate real general\r% old\r\r2 2 2\r1 1 2\r2 1 -1\r",
     2,
     2,
     2,
     {{0, 0, 2}, {1, 0, -1}}},
    // places given twice stay two entries, in order
    {GENERAL "2 3 4\n1 1 1\n2 2 0.5\n1 1 2\n2 2 -0.5\n",
     2,
     3,
     4,
     {{0, 0, 1}, {1, 1, .5}, {0, 0, 2}, {1, 1, -.5}}},
    // zeros stay entries
    {GENERAL "2 2 2\n1 1 0\n2 2 0.0\n", 2, 2, 2, {{0, 0, 0}, {1, 1, 0}}},
    {GENERAL "3 0 0\n", 3, 0, 0, {{0}}},
    {GENERAL "0 4 0\n", 0, 4, 0, {{0}}},
    {GENERAL "3 2 0\n% nothing\n", 3, 2, 0, {{0}}},
    {"%%MatrixMarket matrix coordinate unsigned-integer general\n1 1 1\n1 1 7\n",
     1,
     1,
     1,
     {{0, 0, 7}}},
    {GENERAL "1 2 2\n1 1 1.5D+01\n1 2 25d-2\n", 1, 2, 2, {{0, 0, 15}, {0, 1, .25}}},
    {GENERAL "1 3 3\n1 1 -inf\n1 2 Infinity\n1 3 1e9999\n",
     1,
     3,
     3,
     {{0, 0, -INFINITY}, {0, 1, INFINITY}, {0, 2, INFINITY}}},
};

static void check_good(const good *g, const rubus_mm *mm)
{
    ck_assert_int_eq(mm->nrow, g->nrow);
    ck_assert_int_eq(mm->ncol, g->ncol);
    ck_assert_msg(mm->n == g->n, "%lld entries of\n%s", (long long)mm->n, g->text);
    for (int k = 0; k < g->n; k++) {
        const double want =
            mm->real == RUBUS_F32 ? (double)(float)g->entry[k][2] : g->entry[k][2];
        ck_assert_msg(
            (double)probe_row(mm, k) == g->entry[k][0] &&
                (double)probe_col(mm, k) == g->entry[k][1] && probe_number(mm, k) == want,
            "entry %d is (%lld,%lld) = %g of\n%s", k, (long long)probe_row(mm, k),
            (long long)probe_col(mm, k), probe_number(mm, k), g->text);
    }
}

START_TEST(good_texts_are_read_in_every_type)
{
    const good *g = &goods[_i];
    for (int way = 0; way < 4 * PROBE_BLOCKS; way++) {
        rubus_mm_options options = {.struct_size = sizeof options};
        options.real = way & 1 ? RUBUS_F32 : RUBUS_F64;
        options.index = way & 2 ? RUBUS_I64 : RUBUS_I32;
        // a buffer of its own: nothing behind it may be read
        const size_t size = strlen(g->text);
        char *text = malloc(size);
        ck_assert_ptr_nonnull(text);
        memcpy(text, g->text, size);
        rubus_mm *mm = NULL;
        const rubus_status st =
            probe_read_block(text, size, &options, probe_blocks[way / 4], &mm);
        ck_assert_msg(st == RUBUS_OK, "%s\n%s", rubus_error_text(), g->text);
        ck_assert_int_eq(mm->real, options.real);
        ck_assert_int_eq(mm->index, options.index);
        check_good(g, mm);
        rubus_mm_destroy(mm);
        free(text);
    }
    ck_assert_int_eq(rubus__alloc_live(), 0);
}
END_TEST

START_TEST(good_texts_are_read_from_files_and_gzip)
{
    const good *g = &goods[_i];
    probe_begin();
    size_t size = 0;
    char *packed = probe_pack(g->text, strlen(g->text), &size);
    const char *const paths[] = {probe_file("a.mtx", g->text, strlen(g->text)),
                                 probe_file("b.mtx", packed, size)};
    for (int k = 0; k < 2; k++) {
        rubus_mm *mm = NULL;
        ok(rubus_mm_read(paths[k], NULL, &mm));
        check_good(g, mm);
        rubus_mm_destroy(mm);
        unlink(paths[k]);
    }
    for (int k = 0; k < PROBE_BLOCKS; k++) {
        const rubus_mm_options options = {.struct_size = sizeof options};
        rubus_mm *mm = NULL;
        ok(probe_read_block(packed, size, &options, probe_blocks[k], &mm));
        check_good(g, mm);
        rubus_mm_destroy(mm);
    }
    free(packed);
    probe_end();
}
END_TEST

/* --- refused ------------------------------------------------------------------------ */

static const struct {
    const char *text;
    rubus_status status;
    const char *words; /* cut at '|' */
} bads[] = {
    {"", RUBUS_EFORMAT, "a.mtx:1: |empty|%%MatrixMarket matrix"},
    {"\n" GENERAL "1 1 0\n", RUBUS_EFORMAT, "a.mtx:1: |banner"},
    {"%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n", RUBUS_EFORMAT,
     "a.mtx:1: |%%MatrixMarket|'%MatrixMarket matrix coordinate pattern sym"},
    {"3 3 1\n1 1 1\n", RUBUS_EFORMAT, "a.mtx:1: |no %%MatrixMarket banner|'3 3 1'"},
    {"%%MatrixMarketmatrix coordinate real general\n1 1 0\n", RUBUS_EFORMAT, "a.mtx:1: "},
    {"\x7f"
     "ELF\x02 \x01\n",
     RUBUS_EFORMAT, "a.mtx:1: |'?ELF? ?'"},
    {"%%MatrixMarket vector coordinate real general\n4 1\n1 101\n", RUBUS_EFORMAT,
     "a.mtx:1: |object 'vector' where 'matrix' is needed"},
    {"%%MatrixMarket matrix junk real general\n", RUBUS_EFORMAT,
     "a.mtx:1: |format 'junk'"},
    {"%%MatrixMarket matrix array string general\n", RUBUS_EFORMAT,
     "a.mtx:1: |field 'string'|real"},
    {"%%MatrixMarket matrix array real bogus\n", RUBUS_EFORMAT,
     "a.mtx:1: |symmetry 'bogus'|general"},
    {"%%MatrixMarket matrix array real\n", RUBUS_EFORMAT, "a.mtx:1: |4 words|has 3"},
    {"%%MatrixMarket matrix array real general really\n", RUBUS_EFORMAT,
     "a.mtx:1: |4 words|has 5"},
    {"%%MatrixMarket matrix array pattern general\n1 1\n", RUBUS_EFORMAT,
     "a.mtx:1: |pattern|array"},
    {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n", RUBUS_EFORMAT,
     "a.mtx:1: |pattern|skew"},
    {"%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n", RUBUS_EFORMAT,
     "a.mtx:1: |hermitian|complex"},
    {"%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 1 1 -1\n",
     RUBUS_EFORMAT, "a.mtx:1: |complex"},
    // sizes
    {GENERAL "%\n%\n", RUBUS_EFORMAT, "a.mtx:4: |ends before the line of sizes"},
    {GENERAL "3 3\n", RUBUS_EFORMAT, "a.mtx:2: |3 numbers|has 2|'3 3'"},
    {GENERAL "3 3 1 1\n", RUBUS_EFORMAT, "a.mtx:2: |3 numbers|has 4"},
    {"%%MatrixMarket matrix array real general\n3 3 9\n", RUBUS_EFORMAT,
     "a.mtx:2: |2 numbers|has 3"},
    {GENERAL "3 three 1\n", RUBUS_EFORMAT, "a.mtx:2: |'three'"},
    {GENERAL "3 3. 1\n", RUBUS_EFORMAT, "a.mtx:2: |'3.'"},
    {GENERAL "%\n-3 3 3\n", RUBUS_EFORMAT, "a.mtx:3: |negative|rows|-3"},
    {GENERAL "3 3 -3\n", RUBUS_EFORMAT, "a.mtx:2: |negative|entries|-3"},
    {GENERAL "9223372036854775808 1 1\n", RUBUS_ELIMIT, "a.mtx:2: |9223372036854775808"},
    {GENERAL "2147483648 1 1\n1 1 1\n", RUBUS_ELIMIT,
     "a.mtx:2: |2147483648 rows|32 bits|i64"},
    {GENERAL "%\n1 1099511627776 1\n1 1 1\n", RUBUS_ELIMIT,
     "a.mtx:3: |1099511627776 columns|i64"},
    {"%%MatrixMarket matrix coordinate real symmetric\n3 4 1\n2 1 5\n", RUBUS_EFORMAT,
     "a.mtx:2: |symmetric|square|3 x 4"},
    {"%%MatrixMarket matrix array real skew-symmetric\n3 4\n", RUBUS_EFORMAT,
     "a.mtx:2: |skew-symmetric|3 x 4"},
    // entries
    {GENERAL "4 4 5\n1 1 1\n2 2 2\n3 3 3\n", RUBUS_EFORMAT,
     "a.mtx:5: |only 3 of the 5 entries|line 2|line 5"},
    {GENERAL "10 10 4000000000\n1 1 1\n2 2 1\n", RUBUS_EFORMAT,
     "only 2 of the 4000000000 entries"},
    {GENERAL "10 10 9000000000000000000\n1 1 1\n", RUBUS_EFORMAT,
     "only 1 of the 9000000000000000000 entries"},
    {"%%MatrixMarket matrix array real general\n2000000000 2000000000\n1\n",
     RUBUS_EFORMAT, "only 1 of the 4000000000000000000 values"},
    {"%%MatrixMarket matrix array real symmetric\n2000000000 2000000000\n1\n",
     RUBUS_EFORMAT, "only 1 of the 2000000001000000000 values"},
    {GENERAL "3 3 2\n1 1 1\n2 2 1\n%\n\n3 3 2\n", RUBUS_EFORMAT,
     "a.mtx:7: |more than the 2 entries|line 2"},
    {GENERAL "3 0 0\n1 1 1\n", RUBUS_EFORMAT, "a.mtx:3: |more than the 0 entries"},
    {"%%MatrixMarket matrix array real general\n1 1\n1\n2\n", RUBUS_EFORMAT,
     "a.mtx:4: |more than the 1 values"},
    {GENERAL "3 3 3\n1 1 1\n0 2 1\n3 3 1\n", RUBUS_EFORMAT,
     "a.mtx:4: |row 0 is not in 1..3|start at 1"},
    {GENERAL "3 3 3\n1 1 1\n4 1 1\n3 3 1\n", RUBUS_EFORMAT,
     "a.mtx:4: |row 4 is not in 1..3"},
    {GENERAL "3 3 1\n-1 1 1\n", RUBUS_EFORMAT, "a.mtx:3: |row -1 is not in 1..3"},
    {GENERAL "3 3 1\n1 2000 1\n", RUBUS_EFORMAT, "a.mtx:3: |column 2000 is not in 1..3"},
    {GENERAL "3 3 1\n4294967297 1 1\n", RUBUS_EFORMAT, "row 4294967297 is not in 1..3"},
    {GENERAL "3 3 1\n19223372036854775808 1 1\n", RUBUS_EFORMAT,
     "row 19223372036854775808 is not in 1..3"},
    {GENERAL "3 0 1\n1 1 1\n", RUBUS_EFORMAT, "a.mtx:3: |column 1|none"},
    {GENERAL "3 3 1\n1 1\n", RUBUS_EFORMAT, "a.mtx:3: |3 numbers|has 2|'1 1'"},
    {GENERAL "7 7 3\n2 1 1\n4 1 1\n5", RUBUS_EFORMAT, "a.mtx:5: |3 numbers|has 1|'5'"},
    {GENERAL "3 3 1\n1 1 1 1\n", RUBUS_EFORMAT, "a.mtx:3: |3 numbers|has 4"},
    {GENERAL "3 3 1\n1 1 1 % one\n", RUBUS_EFORMAT, "a.mtx:3: |3 numbers|has 5"},
    {"%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1 1\n", RUBUS_EFORMAT,
     "a.mtx:3: |2 numbers|has 3"},
    {"%%MatrixMarket matrix array real general\n2 1\n1 2\n", RUBUS_EFORMAT,
     "a.mtx:3: |1 number |has 2"},
    {GENERAL "3 3 1\n1.0 1 1\n", RUBUS_EFORMAT, "a.mtx:3: |'1.0' is no row"},
    {GENERAL "3 3 1\n1 x 1\n", RUBUS_EFORMAT, "a.mtx:3: |'x' is no column"},
    {GENERAL "3 3 1\n1 1 foo\n", RUBUS_EFORMAT, "a.mtx:3: |'foo' is no number"},
    {GENERAL "3 3 1\n1 1 1,5\n", RUBUS_EFORMAT, "a.mtx:3: |'1,5' is no number"},
    {GENERAL "3 3 1\n1 1 0x10\n", RUBUS_EFORMAT, "a.mtx:3: |'0x10' is no number"},
    {GENERAL "3 3 1\n1 1 1e\n", RUBUS_EFORMAT, "a.mtx:3: |'1e' is no number"},
    {GENERAL "3 3 1\n1 1 -\n", RUBUS_EFORMAT, "a.mtx:3: |'-' is no number"},
    {"%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 1 1.5\n", RUBUS_EFORMAT,
     "a.mtx:3: |'1.5' is no whole number|real"},
    {"%%MatrixMarket matrix coordinate integer general\n3 3 1\n1 1 -inf\n", RUBUS_EFORMAT,
     "a.mtx:3: |'-inf' is no whole number"},
    {"%%MatrixMarket matrix coordinate unsigned-integer general\n3 3 1\n1 1 -1\n",
     RUBUS_EFORMAT, "a.mtx:3: |'-1' is no unsigned whole number"},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 4\n2 2 5\n",
     RUBUS_EFORMAT, "a.mtx:4: |skew-symmetric|(2,2) = 5"},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 nan\n",
     RUBUS_EFORMAT, "a.mtx:3: |(2,2) = nan"},
};

START_TEST(bad_texts_are_refused_with_line_and_reason)
{
    const rubus_mm_options options = {.struct_size = sizeof options};
    const char *text = bads[_i].text;
    for (int k = 0; k < PROBE_BLOCKS; k++) {
        rubus_mm *mm = NULL;
        const rubus_status st =
            probe_read_block(text, strlen(text), &options, probe_blocks[k], &mm);
        ck_assert_msg(st == bads[_i].status && mm == NULL, "%s: %s of\n%s",
                      rubus_status_name(st), st == RUBUS_OK ? "" : rubus_error_text(),
                      text);
        backends_text_has(bads[_i].words, text, __LINE__);
        // nothing goes to a terminal that does not belong there
        for (const char *c = rubus_error_text(); *c != '\0'; c++) {
            ck_assert_msg(*c >= ' ' && *c <= '~', "%s", rubus_error_text());
        }
    }
    ck_assert_int_eq(rubus__alloc_live(), 0);
}
END_TEST

/* What a header declares is not allocated. (A sanitizer needs the address space.) */
START_TEST(header_that_lies_costs_nothing)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
    const struct rlimit limit = {(rlim_t)1 << 30, (rlim_t)1 << 30};
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
#endif
    static const char *const texts[] = {
        GENERAL "1000000 1000000 2000000000\n1 1 1\n",
        "%%MatrixMarket matrix array real general\n100000 100000\n1\n"};
    for (int k = 0; k < 2; k++) {
        const rubus_mm_options options = {.struct_size = sizeof options, .dense = k};
        rubus_mm *mm = NULL;
        fails(probe_read_block(texts[k], strlen(texts[k]), &options, 4096, &mm),
              RUBUS_EFORMAT, "only 1 of");
    }
    // nor are rows and columns, which a list of entries does not need
    static const char wide[] = GENERAL "1099511627776 1099511627776 1\n"
                                       "1099511627775 1099511627776 1\n";
    rubus_mm_options options = {.struct_size = sizeof options, .index = RUBUS_I64};
    rubus_mm *mm = NULL;
    ok(probe_read_block(wide, strlen(wide), &options, 4096, &mm));
    ck_assert_int_eq(probe_row(mm, 0), 1099511627774);
    ck_assert_int_eq(probe_col(mm, 0), 1099511627775);
    rubus_mm_destroy(mm);
}
END_TEST

START_TEST(entries_past_an_index_of_32_bits_are_a_limit)
{
    // mock: an index type that counts to 5
    rubus__mm_limits limits = rubus__mm_limits_standard;
    limits.n_i32 = 5;
    static const char *const texts[] = {
        GENERAL "9 9 6\n1 1 1\n2 2 2\n3 3 3\n4 4 4\n5 5 5\n6 6 6\n",
        "%%MatrixMarket matrix coordinate real symmetric\n9 9 3\n2 1 1\n3 1 1\n4 1 1\n"};
    for (int k = 0; k < 2; k++) {
        for (int32_t index = RUBUS_I32; index <= RUBUS_I64; index++) {
            const rubus_mm_options options = {.struct_size = sizeof options,
                                              .index = index};
            rubus__mm_source source;
            rubus_mm *mm = NULL;
            ok(rubus__mm_source_memory(&source, "a.mtx", texts[k], strlen(texts[k]),
                                       &limits));
            const rubus_status st = rubus__mm_read(&source, &options, &limits, &mm);
            rubus__mm_source_close(&source);
            if (index == RUBUS_I64) {
                ck_assert_int_eq(st, RUBUS_OK);
                ck_assert_int_eq(mm->n, 6);
                rubus_mm_destroy(mm);
            } else {
                fails(st, RUBUS_ELIMIT, k == 0 ? "a.mtx:8: |5 entries|i64" : "a.mtx:5: ");
            }
        }
    }
    // exactly five fit
    static const char five[] = GENERAL "9 9 5\n1 1 1\n2 2 2\n3 3 3\n4 4 4\n5 5 5\n";
    const rubus_mm_options options = {.struct_size = sizeof options};
    rubus__mm_source source;
    rubus_mm *mm = NULL;
    ok(rubus__mm_source_memory(&source, "a.mtx", five, strlen(five), &limits));
    ok(rubus__mm_read(&source, &options, &limits, &mm));
    rubus__mm_source_close(&source);
    rubus_mm_destroy(mm);
}
END_TEST

static Suite *reader_suite(void)
{
    Suite *suite = suite_create("matrix market: reading");
    TCase *tc = tcase_create("reading");
    tcase_add_loop_test(tc, good_texts_are_read_in_every_type, 0,
                        (int)(sizeof goods / sizeof goods[0]));
    tcase_add_loop_test(tc, good_texts_are_read_from_files_and_gzip, 0,
                        (int)(sizeof goods / sizeof goods[0]));
    tcase_add_loop_test(tc, bad_texts_are_refused_with_line_and_reason, 0,
                        (int)(sizeof bads / sizeof bads[0]));
    tcase_add_test(tc, header_that_lies_costs_nothing);
    tcase_add_test(tc, entries_past_an_index_of_32_bits_are_a_limit);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("matrix market: reading", reader_suite)
