/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writers: every format read back, awkward numbers, names and titles, what is
 * refused, what a failure leaves behind.
 */
#include "config.h"

#include "tests/solver/output_probe.h"

static const double six[6] = {11, 12, 13, 21, 22, 23}; /* 3 x 2: i + 10 j */

static void text_is(const char *path, rubus_array *field, const rubus_output_desc *desc,
                    const char *want)
{
    bytes b = written(path, field, desc);
    ck_assert_str_eq(b.data, want);
    ck_assert_uint_eq(b.size, strlen(want));
    free(b.data);
    rubus_array_destroy(field);
}

/* --- text --------------------------------------------------------------------------- */

START_TEST(vtk_of_a_field_holds_cells_with_x_fastest)
{
    rubus_output_desc desc = {.struct_size = sizeof desc,
                              .name = "T",
                              .title = "a title",
                              .origin = {-1, 0.5, 7},
                              .spacing = {0.25, 2, 3}};
    text_is("f.vtk", array_of(RUBUS_F64, RUBUS_SHAPE(3, 2), six), &desc,
            "# vtk DataFile Version 3.0\na title\nASCII\nDATASET STRUCTURED_POINTS\n"
            "DIMENSIONS 4 3 1\nORIGIN -1 0.5 7\nSPACING 0.25 2 3\nCELL_DATA 6\n"
            "SCALARS T double 1\nLOOKUP_TABLE default\n11 12 13\n21 22 23\n");
    const int32_t line[4] = {4, -3, 2147483647, 0};
    text_is("l.VTK", array_of(RUBUS_I32, RUBUS_SHAPE(4), line), NULL,
            "# vtk DataFile Version 3.0\nu\nASCII\nDATASET STRUCTURED_POINTS\n"
            "DIMENSIONS 5 1 1\nORIGIN 0 0 0\nSPACING 1 1 1\nCELL_DATA 4\n"
            "SCALARS u int 1\nLOOKUP_TABLE default\n4 -3 2147483647 0\n");
    float box[24];
    for (int n = 0; n < 24; n++) {
        box[n] = (float)(n % 2 + 1 + 10 * (n / 2 % 3 + 1) + 100 * (n / 6 + 1));
    }
    rubus_array *field = array_of(RUBUS_F32, RUBUS_SHAPE(2, 3, 4), box);
    bytes b = written("b.vtk", field, NULL);
    ck_assert_ptr_nonnull(strstr(b.data, "DIMENSIONS 3 4 5\n"));
    ck_assert_ptr_nonnull(strstr(b.data, "SCALARS u float 1\n"));
    ck_assert_ptr_nonnull(strstr(b.data, "\n111 112\n121 122\n131 132\n211 212\n"));
    free(b.data);
    rubus_array_destroy(field);
}
END_TEST

START_TEST(txt_and_tsv_hold_one_row_a_place)
{
    rubus_output_desc desc = {.struct_size = sizeof desc, .title = "two\nlines"};
    text_is("a.txt", array_of(RUBUS_F64, RUBUS_SHAPE(3, 2), six), &desc,
            "# two lines\n11\n12\n13\n21\n22\n23\n");
    text_is("a.tsv", array_of(RUBUS_F64, RUBUS_SHAPE(3, 2), six), NULL,
            "11\t21\n12\t22\n13\t23\n");
    text_is("b.tsv", array_of(RUBUS_F64, RUBUS_SHAPE(6), six), NULL,
            "11\n12\n13\n21\n22\n23\n");
    text_is("c.tsv", array_of(RUBUS_F64, RUBUS_SHAPE(1, 3, 2), six), &desc,
            "# two lines\n# z = 0\n11\t12\t13\n\n# z = 1\n21\t22\t23\n");
    const uint8_t flags[3] = {1, 0, 1};
    text_is("d.txt", array_of(RUBUS_BOOL, RUBUS_SHAPE(3), flags), NULL, "1\n0\n1\n");
    const int64_t large[2] = {INT64_MAX, INT64_MIN + 1}; /* no double holds these */
    text_is("e.txt", array_of(RUBUS_I64, RUBUS_SHAPE(2), large), NULL,
            "9223372036854775807\n-9223372036854775807\n");
}
END_TEST

/* Shortest texts that read back as the same number of the same type. */
START_TEST(numbers_in_text_read_back_as_themselves)
{
    const double wide[6] = {0.1, NAN, INFINITY, -INFINITY, 1e308, -0.0};
    text_is("a.txt", array_of(RUBUS_F64, RUBUS_SHAPE(6), wide), NULL,
            "0.1\nnan\ninf\n-inf\n1e+308\n-0\n");
    const double denormal = 5e-324;
    rubus_array *least = array_of(RUBUS_F64, RUBUS_SHAPE(1), &denormal);
    bytes text = written("d.txt", least, NULL);
    ck_assert(strtod(text.data, NULL) == denormal);
    free(text.data);
    rubus_array_destroy(least);
    const float narrow[2] = {0.1f, 16777217.0f};
    text_is("b.txt", array_of(RUBUS_F32, RUBUS_SHAPE(2), narrow), NULL,
            "0.1\n16777216\n");
    rubus_array *field = array_of(RUBUS_F64, RUBUS_SHAPE(6), wide);
    bytes b = written("c.vtk", field, NULL);
    ck_assert_ptr_nonnull(strstr(b.data, "\n0.1 nan inf -inf 1e+308 -0\n"));
    free(b.data);
    rubus_array_destroy(field);
}
END_TEST

START_TEST(numbers_in_a_comma_locale_keep_their_point)
{
    const bool comma = comma_locale_set(); /* else the same in the C locale */
    const double halves[2] = {0.5, 2.25};
    rubus_output_desc desc = {.struct_size = sizeof desc, .spacing = {0.125, 1, 1}};
    static const char *const paths[] = {"a.vtk", "a.tsv", "a.txt", "a.vti"};
    for (int i = 0; i < 4; i++) {
        rubus_array *field = array_of(RUBUS_F64, RUBUS_SHAPE(2), halves);
        bytes b = written(paths[i], field, &desc);
        ck_assert_ptr_nonnull(strstr(b.data, i == 3 ? "\"0.125 1 1\"" : "2.25"));
        ck_assert_ptr_null(strchr(b.data, ','));
        free(b.data);
        rubus_array_destroy(field);
    }
    if (!comma) {
        puts("(without a comma locale: localedef cannot make de_DE.UTF-8)");
    }
}
END_TEST

/* --- raw ---------------------------------------------------------------------------- */

START_TEST(bin_is_the_elements)
{
    rubus_array *field = array_of(RUBUS_F64, RUBUS_SHAPE(3, 2), six);
    bytes b = written("a.bin", field, NULL);
    ck_assert_uint_eq(b.size, sizeof six);
    ck_assert_mem_eq(b.data, six, sizeof six);
    free(b.data);
    rubus_array_destroy(field);
}
END_TEST

/* Checks the XML around the raw data and gives where the data are. */
static const char *check_vti(const bytes *b, const void *data, size_t nbyte)
{
    static const char tail[] = "\n  </AppendedData>\n</VTKFile>\n";
    const char *start = strstr(b->data, "encoding=\"raw\">\n_");
    ck_assert_ptr_nonnull(start);
    start = strchr(start, '_') + 1;
    xml_check(b->data, start, 2);
    uint64_t size = 0;
    for (int i = 0; i < 8; i++) {
        size |= (uint64_t)(unsigned char)start[i] << (8 * i);
    }
    ck_assert_uint_eq(size, nbyte);
    if (nbyte > 0) {
        ck_assert_mem_eq(start + 8, data, nbyte);
    }
    ck_assert_uint_eq((size_t)(start - b->data) + 8 + nbyte + strlen(tail), b->size);
    ck_assert_str_eq(start + 8 + nbyte, tail);
    return start;
}

START_TEST(vti_of_every_type_holds_the_elements)
{
    static const int32_t types[] = {RUBUS_F32, RUBUS_F64, RUBUS_I32, RUBUS_I64,
                                    RUBUS_BOOL};
    static const char *const names[] = {"Float32", "Float64", "Int32", "Int64", "UInt8"};
    static const char *const extents[] = {"0 24 0 0 0 0", "0 4 0 6 0 0", "0 2 0 3 0 4"};
    unsigned char raw[24 * 8] = {0};
    char text[200];
    for (int t = 0; t < 5; t++) {
        for (int rank = 1; rank <= 3; rank++) {
            const rubus_shape shape = rank == 1   ? RUBUS_SHAPE(24)
                                      : rank == 2 ? RUBUS_SHAPE(4, 6)
                                                  : RUBUS_SHAPE(2, 3, 4);
            for (size_t i = 0; i < sizeof raw; i++) {
                raw[i] = types[t] == RUBUS_BOOL ? i % 2 : (unsigned char)(i * 37 % 120);
            }
            rubus_array *field = array_of(types[t], shape, raw);
            rubus_output_desc desc = {.struct_size = sizeof desc,
                                      .spacing = {0.5, 0.25, 2}};
            bytes b = written("a.vti", field, &desc);
            check_vti(&b, raw, rubus_array_nbyte(field));
            ck_assert_str_eq(xml_attribute(b.data, "WholeExtent", text),
                             extents[rank - 1]);
            ck_assert_str_eq(xml_attribute(b.data, "Extent", text), extents[rank - 1]);
            ck_assert_str_eq(xml_attribute(b.data, "Spacing", text), "0.5 0.25 2");
            ck_assert_str_eq(xml_attribute(b.data, "Origin", text), "0 0 0");
            ck_assert_ptr_nonnull(strstr(b.data, names[t]));
            free(b.data);
            rubus_array_destroy(field);
        }
    }
}
END_TEST

START_TEST(vti_of_a_million_cells_is_as_large_as_they_are)
{
    rubus_array *field = NULL;
    MUST(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(1000, 1000), &field));
    bytes b = written("a.vti", field, NULL);
    ck_assert_uint_lt(b.size, 8001000);
    free(b.data);
    rubus_array_destroy(field);
}
END_TEST

/* --- names and titles --------------------------------------------------------------- */

static const char awkward[] = "a \"b\" <c> & 'd' -- e--- \n\t\x01 \xC3\xA9 \xFF\xC3 100%";

START_TEST(vti_with_awkward_texts_is_still_xml)
{
    rubus_output_desc desc = {
        .struct_size = sizeof desc, .name = awkward, .title = awkward};
    rubus_array *field = array_of(RUBUS_F64, RUBUS_SHAPE(3, 2), six);
    bytes b = written("a.vti", field, &desc);
    check_vti(&b, six, sizeof six);
    char text[200];
    ck_assert_str_eq(xml_attribute(b.data, "Name", text),
                     "a &quot;b&quot; &lt;c&gt; &amp; 'd' -- e---     \xC3\xA9 "
                     "\xEF\xBF\xBD\xEF\xBF\xBD 100%");
    ck_assert_ptr_nonnull(
        strstr(b.data, "<!-- a \"b\" <c> & 'd' - - e- - -     \xC3\xA9 "));
    free(b.data);
    desc.title = "ends with -";
    desc.name = "";
    b = written("a.vti", field, &desc);
    check_vti(&b, six, sizeof six);
    ck_assert_str_eq(xml_attribute(b.data, "Name", text), "u");
    free(b.data);
    rubus_array_destroy(field);
}
END_TEST

START_TEST(vtk_with_awkward_texts_keeps_its_lines)
{
    char title[400];
    memset(title, 'x', sizeof title);
    memcpy(title + 248, "\xE2\x82\xAC", 3); /* the limit falls inside this character */
    title[399] = '\0';
    rubus_output_desc desc = {
        .struct_size = sizeof desc, .name = "a b\n%\"", .title = title};
    rubus_array *field = array_of(RUBUS_F64, RUBUS_SHAPE(3, 2), six);
    bytes b = written("a.vtk", field, &desc);
    const char *second = strchr(b.data, '\n') + 1;
    ck_assert_uint_eq(strcspn(second, "\n"), 248);
    ck_assert_ptr_nonnull(strstr(b.data, "\nSCALARS a_b___ double 1\n"));
    free(b.data);
    rubus_array_destroy(field);
}
END_TEST

/* Every way in which a byte sequence is no UTF-8. */
START_TEST(label_of_any_bytes_is_utf8)
{
    static const char *const pair[][2] = {
        {"abc", "abc"},
        {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"\x80", "?"},
        {"\xC0\x80", "??"},
        {"\xE0\x80\x80", "???"},
        {"\xED\xA0\x80", "???"},
        {"\xF0\x80\x80\x80", "????"},
        {"\xF4\x90\x80\x80", "????"},
        {"\xF5", "?"},
        {"\xE2\x82", "??"},
        {"\xE2\x82 x", "?? x"},
        {"a\x7F\x1F\xC2\x85z", "a   z"},
        {"\xEF\xBF\xBF", " "},
    };
    for (size_t i = 0; i < sizeof pair / sizeof pair[0]; i++) {
        rubus_output_desc desc = {.struct_size = sizeof desc, .title = pair[i][0]};
        char want[64] = "# ";
        size_t n = 2;
        for (const char *s = pair[i][1]; *s != '\0'; s++) {
            const bool replaced = *s == '?';
            memcpy(want + n, replaced ? "\xEF\xBF\xBD" : s, replaced ? 3 : 1);
            n += replaced ? 3 : 1;
        }
        memcpy(want + n, "\n1\n", 4);
        const double one = 1;
        text_is("a.txt", array_of(RUBUS_F64, RUBUS_SHAPE(1), &one), &desc, want);
    }
}
END_TEST

/* --- nothing, and what is refused --------------------------------------------------- */

START_TEST(empty_fields_are_written_by_every_format_but_pictures)
{
    static const rubus_shape shapes[] = {{1, 0, {0}},
                                         {2, 0, {0, 5}},
                                         {2, 0, {5, 0}},
                                         {3, 0, {2, 0, 3}},
                                         {3, 0, {2, 3, 0}}};
    for (int i = 0; i < 5; i++) {
        rubus_array *field = array_of(RUBUS_F64, shapes[i], NULL);
        bytes b = written("a.vti", field, NULL);
        check_vti(&b, NULL, 0);
        free(b.data);
        b = written("a.vtk", field, NULL);
        ck_assert_ptr_nonnull(strstr(b.data, "CELL_DATA 0\n"));
        ck_assert_ptr_nonnull(strstr(b.data, "LOOKUP_TABLE default\n"));
        ck_assert_str_eq(strstr(b.data, "default\n"), "default\n");
        free(b.data);
        static const char *const rest[] = {"a.txt", "a.tsv", "a.bin"};
        for (int k = 0; k < 3; k++) {
            b = written(rest[k], field, NULL);
            ck_assert_uint_eq(b.size, 0);
            free(b.data);
        }
        REFUSED(rubus_field_write("a.png", field, NULL), RUBUS_EINVAL,
                "without elements");
        rubus_array_destroy(field);
    }
}
END_TEST

START_TEST(wrong_arguments_are_refused_and_leave_nothing)
{
    rubus_array *field = array_of(RUBUS_F64, RUBUS_SHAPE(3, 2), six);
    rubus_array *four = array_of(RUBUS_F64, RUBUS_SHAPE(1, 2, 1, 3), six);
    REFUSED(rubus_field_write(NULL, field, NULL), RUBUS_EINVAL, "path");
    REFUSED(rubus_field_write("a.txt", NULL, NULL), RUBUS_EINVAL, "field");
    static const char *const endings[] = {"a", "a.xyz", "a.vti.gz", "txt",
                                          "",  "a.vt",  "a."};
    for (int i = 0; i < 7; i++) {
        REFUSED(rubus_field_write(endings[i], field, NULL), RUBUS_EINVAL, ".vti, .vtk");
    }
    static const char *const all[] = {"a.vti", "a.vtk", "a.tsv",
                                      "a.txt", "a.bin", "a.png"};
    for (int i = 0; i < 6; i++) {
        REFUSED(rubus_field_write(all[i], four, NULL), RUBUS_EINVAL, "rank 4");
    }
    rubus_output_desc desc = {.struct_size = 3};
    REFUSED(rubus_field_write("a.txt", field, &desc), RUBUS_EINVAL, "struct_size");
    static const double bad[] = {NAN, INFINITY, -1};
    for (int i = 0; i < 3; i++) {
        desc = (rubus_output_desc){.struct_size = sizeof desc};
        desc.spacing[1] = bad[i];
        REFUSED(rubus_field_write("a.vti", field, &desc), RUBUS_EINVAL, "along y");
    }
    desc = (rubus_output_desc){.struct_size = sizeof desc, .origin = {0, 0, NAN}};
    REFUSED(rubus_field_write("a.vti", field, &desc), RUBUS_EINVAL, "along z");
    REFUSED(rubus_picture_write("a.txt", field), RUBUS_EINVAL, ".png");
    REFUSED(rubus_picture_write(NULL, field), RUBUS_EINVAL, "path");
    ck_assert_int_eq(system("test -z \"$(ls -A)\""), 0);
    rubus_array_destroy(field);
    rubus_array_destroy(four);
}
END_TEST

START_TEST(failed_writing_leaves_what_was_there)
{
    rubus_array *field = array_of(RUBUS_F64, RUBUS_SHAPE(3, 2), six);
    ck_assert_int_eq(mkdir("d.txt", 0700), 0);
    REFUSED(rubus_field_write("no/a.txt", field, NULL), RUBUS_EIO, "no/a.txt");
    REFUSED(rubus_field_write("d.txt", field, NULL), RUBUS_EIO, "d.txt");
    REFUSED(rubus_field_write("d.txt/b/a.vti", field, NULL), RUBUS_EIO, "d.txt/b/a.vti");
    if (geteuid() != 0) { /* root may write anywhere */
        ck_assert_int_eq(chmod("d.txt", 0500), 0);
        REFUSED(rubus_field_write("d.txt/a.txt", field, NULL), RUBUS_EIO, "d.txt/a.txt");
        ck_assert_int_eq(chmod("d.txt", 0700), 0);
    }
    ck_assert_int_eq(system("test \"$(ls -A . d.txt | tr -d '\\n')\" = '.:d.txtd.txt:'"),
                     0);
    MUST(rubus_field_write("d.txt/a.txt", field, NULL));
    MUST(rubus_field_write("d.txt/a.txt", field, NULL)); /* replaces the file */
    ck_assert_int_eq(system("test \"$(ls -A d.txt)\" = a.txt"), 0);
    rubus_array_destroy(field);
}
END_TEST

START_TEST(writers_survive_the_failure_of_any_allocation)
{
    static const char *const all[] = {"a.vti", "a.vtk", "a.tsv", "a.txt", "a.bin"};
    rubus_array *field = array_of(RUBUS_F64, RUBUS_SHAPE(3, 2), six);
    rubus_output_desc desc = {.struct_size = sizeof desc, .name = "n", .title = "t"};
    const int64_t live = rubus__alloc_live();
    for (int i = 0; i < 5; i++) {
        rubus_status st = RUBUS_ENOMEM;
        for (int64_t n = 1; st != RUBUS_OK; n++) {
            rubus__alloc_fail_after(n, false);
            st = rubus_field_write(all[i], field, &desc);
            rubus__alloc_fail_after(0, false);
            ck_assert_msg(st == RUBUS_OK || st == RUBUS_ENOMEM, "%s", rubus_error_text());
            ck_assert_int_eq(rubus__alloc_live(), live);
            ck_assert_int_eq(access(all[i], F_OK) == 0, st == RUBUS_OK);
            ck_assert_int_lt(n, 200);
        }
    }
    rubus_array_destroy(field);
}
END_TEST

/* This program has no drawing module beside it. */
START_TEST(picture_without_its_module_names_the_package)
{
    rubus_array *field = array_of(RUBUS_F64, RUBUS_SHAPE(3, 2), six);
    const rubus_status st = rubus_picture_write("a.png", field);
    if (st == RUBUS_OK) { /* a module of an installed Rubus was found */
        ck_assert_int_eq(access("a.png", F_OK), 0);
    } else {
        ck_assert_int_eq(st, RUBUS_EUNSUPPORTED);
        ck_assert_ptr_nonnull(strstr(rubus_error_text(), "libcairo2"));
        ck_assert_int_ne(access("a.png", F_OK), 0);
    }
    rubus_array_destroy(field);
}
END_TEST

static Suite *output_suite(void)
{
    Suite *suite = suite_create("output");
    TCase *formats = tcase_create("formats");
    tcase_add_checked_fixture(formats, setup, teardown);
    tcase_add_test(formats, vtk_of_a_field_holds_cells_with_x_fastest);
    tcase_add_test(formats, txt_and_tsv_hold_one_row_a_place);
    tcase_add_test(formats, numbers_in_text_read_back_as_themselves);
    tcase_add_test(formats, numbers_in_a_comma_locale_keep_their_point);
    tcase_add_test(formats, bin_is_the_elements);
    tcase_add_test(formats, vti_of_every_type_holds_the_elements);
    tcase_add_test(formats, vti_of_a_million_cells_is_as_large_as_they_are);
    tcase_add_test(formats, vti_with_awkward_texts_is_still_xml);
    tcase_add_test(formats, vtk_with_awkward_texts_keeps_its_lines);
    tcase_add_test(formats, label_of_any_bytes_is_utf8);
    suite_add_tcase(suite, formats);
    TCase *bad = tcase_create("refused");
    tcase_add_checked_fixture(bad, setup, teardown);
    tcase_add_test(bad, empty_fields_are_written_by_every_format_but_pictures);
    tcase_add_test(bad, wrong_arguments_are_refused_and_leave_nothing);
    tcase_add_test(bad, failed_writing_leaves_what_was_there);
    tcase_add_test(bad, writers_survive_the_failure_of_any_allocation);
    tcase_add_test(bad, picture_without_its_module_names_the_package);
    suite_add_tcase(suite, bad);
    return suite;
}

RUBUS_TEST_MAIN("output: files", output_suite)
