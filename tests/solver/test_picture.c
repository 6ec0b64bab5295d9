/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures, through the library as it is installed: the PNG file byte by byte, then its
 * pixels. Maps hold cells of whole pixels in known colours, so counting pixels tells how
 * many cells have one.
 */
#include "config.h"

#include <cairo.h>

#include "tests/solver/output_probe.h"

#define NO_NUMBER 0xB0B0B0u
#define LOW 0x440154u
#define HIGH 0xFDE725u

/* --- the file ----------------------------------------------------------------------- */

static uint32_t big_endian(const char *at)
{
    const unsigned char *u = (const unsigned char *)at;
    return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

/* The polynomial of PNG's annex D, bit by bit. */
static uint32_t crc_of(const char *data, size_t n)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < n; i++) {
        crc ^= (unsigned char)data[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1u ? 0xEDB88320u : 0);
        }
    }
    return ~crc;
}

static void check_png(const bytes *b, uint32_t *wide, uint32_t *high)
{
    ck_assert_uint_gt(b->size, 8 + 25 + 12);
    ck_assert_mem_eq(b->data, "\x89PNG\r\n\x1A\n", 8);
    size_t at = 8;
    bool ended = false;
    for (int chunk = 0; !ended; chunk++) {
        ck_assert_uint_le(at + 12, b->size);
        const uint32_t n = big_endian(b->data + at);
        ck_assert_uint_le(at + 12 + n, b->size);
        ck_assert_uint_eq(crc_of(b->data + at + 4, n + 4),
                          big_endian(b->data + at + 8 + n));
        ck_assert((chunk == 0) == (memcmp(b->data + at + 4, "IHDR", 4) == 0));
        if (chunk == 0) {
            *wide = big_endian(b->data + at + 8);
            *high = big_endian(b->data + at + 12);
        }
        ended = memcmp(b->data + at + 4, "IEND", 4) == 0;
        at += 12 + n;
    }
    ck_assert_uint_eq(at, b->size);
}

typedef struct picture {
    cairo_surface_t *surface;
    int wide;
    int high;
} picture;

/* Writes, checks the file, and inflates it with cairo's own reader. */
static picture draw(rubus_array *field, const rubus_output_desc *desc)
{
    bytes b = written("p.png", field, desc);
    uint32_t wide = 0;
    uint32_t high = 0;
    check_png(&b, &wide, &high);
    free(b.data);
    picture p = {cairo_image_surface_create_from_png("p.png"), 0, 0};
    ck_assert_int_eq(cairo_surface_status(p.surface), CAIRO_STATUS_SUCCESS);
    p.wide = cairo_image_surface_get_width(p.surface);
    p.high = cairo_image_surface_get_height(p.surface);
    ck_assert_int_eq(p.wide, wide);
    ck_assert_int_eq(p.high, high);
    ck_assert(p.wide < 1200 && p.high < 1200 && p.wide > 100 && p.high > 100);
    return p;
}

static uint32_t pixel(const picture *p, int x, int y)
{
    const unsigned char *row =
        cairo_image_surface_get_data(p->surface) +
        (size_t)cairo_image_surface_get_stride(p->surface) * (size_t)y;
    uint32_t rgb = 0;
    memcpy(&rgb, row + 4 * x, sizeof rgb);
    return rgb & 0xFFFFFFu;
}

/* Pixels of one colour in columns x0 to x1 and rows y0 to y1, and their middle. */
typedef struct patch {
    int count;
    double x;
    double y;
} patch;

static patch find(const picture *p, uint32_t colour, int x0, int x1, int y0, int y1)
{
    patch found = {0, 0, 0};
    for (int y = y0; y < y1; y++) {
        for (int x = x0; x < x1; x++) {
            if (pixel(p, x, y) == colour) {
                found.count++;
                found.x += x;
                found.y += y;
            }
        }
    }
    found.x /= found.count > 0 ? found.count : 1;
    found.y /= found.count > 0 ? found.count : 1;
    return found;
}

/* Pixels of a curve: about the colour of its pen. */
static int curve_pixels(const picture *p)
{
    int count = 0;
    for (int y = 0; y < p->high; y++) {
        for (int x = 0; x < p->wide; x++) {
            const uint32_t c = pixel(p, x, y);
            const int red = (int)(c >> 16);
            const int blue = (int)(c & 255u);
            count += red < 160 && blue > red + 40; /* also a pixel half covered */
        }
    }
    return count;
}

static void close_picture(picture *p)
{
    cairo_surface_destroy(p->surface);
}

/* --- maps of 4 x 3 cells: 140 pixels each, in a frame of 560 x 420 ------------------ */

#define CELL (140 * 140)
#define MAP_Y0 44
#define MAP_Y1 (MAP_Y0 + 420)

static picture draw_map(const double values[12])
{
    rubus_array *field = array_of(RUBUS_F64, RUBUS_SHAPE(4, 3), values);
    const picture p = draw(field, NULL);
    rubus_array_destroy(field);
    return p;
}

/* Columns of the map: the frame begins at the first column of the widest plain patch. */
static int map_x0(const picture *p)
{
    for (int x = 1; x < p->wide; x++) {
        int dark = 0;
        for (int y = 0; y < p->high; y++) {
            dark += pixel(p, x, y) == 0x333333;
        }
        if (dark > 400) {
            return x + 1;
        }
    }
    ck_abort_msg("the picture has no frame");
    return 0;
}

START_TEST(map_of_a_constant_has_one_colour)
{
    double values[12];
    for (int i = 0; i < 12; i++) {
        values[i] = 5;
    }
    picture p = draw_map(values);
    const int x0 = map_x0(&p);
    const uint32_t colour = pixel(&p, x0 + 10, 60);
    ck_assert_int_eq(find(&p, colour, x0, x0 + 560, MAP_Y0, MAP_Y1).count, 12 * CELL);
    close_picture(&p);
}
END_TEST

START_TEST(map_shows_what_is_no_number_in_grey)
{
    const double values[12] = {1, 2, 3, 4, 2, NAN, 4, 5, 3, 4, 5, 6};
    picture p = draw_map(values);
    const int x0 = map_x0(&p);
    const patch grey = find(&p, NO_NUMBER, x0, x0 + 560, MAP_Y0, MAP_Y1);
    ck_assert_int_eq(grey.count, CELL); /* one cell, the second of the second row */
    CLOSE(grey.x, x0 + 209.5, 0.01);
    /* the range is that of the others: 1 is at the low end and 6 at the high one */
    const patch low = find(&p, LOW, x0, x0 + 560, MAP_Y0, MAP_Y1);
    const patch high = find(&p, HIGH, x0, x0 + 560, MAP_Y0, MAP_Y1);
    ck_assert_int_eq(low.count, CELL);
    ck_assert_int_eq(high.count, CELL);
    /* x runs to the right, y upwards */
    CLOSE(high.x - low.x, 3 * 140, 0.01);
    CLOSE(low.y - high.y, 2 * 140, 0.01);
    CLOSE(low.y - grey.y, 140, 0.01);
    close_picture(&p);
}
END_TEST

START_TEST(map_without_any_number_is_grey)
{
    double values[12];
    for (int i = 0; i < 12; i++) {
        values[i] = NAN;
    }
    picture p = draw_map(values);
    const int x0 = map_x0(&p);
    ck_assert_int_eq(find(&p, NO_NUMBER, x0, x0 + 560, MAP_Y0, MAP_Y1).count, 12 * CELL);
    close_picture(&p);
    for (int i = 0; i < 12; i++) {
        values[i] = i % 2 == 0 ? INFINITY : -INFINITY;
    }
    p = draw_map(values);
    close_picture(&p);
}
END_TEST

START_TEST(map_shows_infinite_values_in_the_end_colours)
{
    const double values[12] = {1, 2, 3, 4, 2, INFINITY, 4, 5, 3, -INFINITY, 5, 6};
    picture p = draw_map(values);
    const int x0 = map_x0(&p);
    ck_assert_int_eq(find(&p, LOW, x0, x0 + 560, MAP_Y0, MAP_Y1).count, 2 * CELL);
    ck_assert_int_eq(find(&p, HIGH, x0, x0 + 560, MAP_Y0, MAP_Y1).count, 2 * CELL);
    close_picture(&p);
}
END_TEST

/* Ranges that overflow or vanish where they are subtracted without care. */
START_TEST(map_of_extreme_ranges_spans_all_colours)
{
    static const double ends[][2] = {
        {1e-310, 3e-310}, {-1e308, 1e308}, {-1.7e308, 1.7e308}, {0, 5e-324},
        {1, 1 + 1e-15},   {-1e-300, 0},    {1e9, 1e9 + 1},      {-1e20, 1e-20}};
    for (int k = 0; k < 8; k++) {
        double values[12];
        for (int i = 0; i < 12; i++) {
            values[i] = i < 6 ? ends[k][0] : ends[k][1];
        }
        picture p = draw_map(values);
        const int x0 = map_x0(&p);
        ck_assert_int_eq(find(&p, LOW, x0, x0 + 560, MAP_Y0, MAP_Y1).count, 6 * CELL);
        ck_assert_int_eq(find(&p, HIGH, x0, x0 + 560, MAP_Y0, MAP_Y1).count, 6 * CELL);
        close_picture(&p);
        rubus_array *line = array_of(RUBUS_F64, RUBUS_SHAPE(12), values);
        p = draw(line, NULL); /* and as a curve */
        close_picture(&p);
        rubus_array_destroy(line);
    }
}
END_TEST

START_TEST(map_of_a_box_is_its_middle_slice)
{
    double values[3 * 12];
    for (int i = 0; i < 36; i++) {
        values[i] = i / 12 == 1 ? (i == 17 ? NAN : i) : -1000;
    }
    rubus_array *box = array_of(RUBUS_F64, RUBUS_SHAPE(4, 3, 3), values);
    picture p = draw(box, NULL);
    const int x0 = map_x0(&p);
    ck_assert_int_eq(find(&p, NO_NUMBER, x0, x0 + 560, MAP_Y0, MAP_Y1).count, CELL);
    ck_assert_int_eq(find(&p, LOW, x0, x0 + 560, MAP_Y0, MAP_Y1).count, CELL);
    close_picture(&p);
    rubus_array_destroy(box);
}
END_TEST

START_TEST(map_of_every_type_shows_its_values)
{
    const uint8_t flags[12] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const int32_t ints[12] = {-7, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    const float reals[12] = {-7, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    rubus_array *fields[] = {array_of(RUBUS_BOOL, RUBUS_SHAPE(4, 3), flags),
                             array_of(RUBUS_I32, RUBUS_SHAPE(4, 3), ints),
                             array_of(RUBUS_F32, RUBUS_SHAPE(4, 3), reals)};
    for (int i = 0; i < 3; i++) {
        picture p = draw(fields[i], NULL);
        const int x0 = map_x0(&p);
        ck_assert_int_eq(find(&p, LOW, x0, x0 + 560, MAP_Y0, MAP_Y1).count, CELL);
        ck_assert_int_eq(find(&p, HIGH, x0, x0 + 560, MAP_Y0, MAP_Y1).count, 11 * CELL);
        close_picture(&p);
        rubus_array_destroy(fields[i]);
    }
}
END_TEST

/* --- curves, shapes, histories ------------------------------------------------------ */

START_TEST(curve_with_gaps_draws_what_is_there)
{
    const double values[9] = {0, NAN, 1, NAN, INFINITY, 2, -INFINITY, 3, 4};
    rubus_array *line = array_of(RUBUS_F64, RUBUS_SHAPE(9), values);
    picture p = draw(line, NULL);
    ck_assert_int_gt(curve_pixels(&p), 20); /* the pen */
    close_picture(&p);
    rubus_array_destroy(line);
    static const double one[4] = {3, 0, 1e308, NAN};
    for (int i = 0; i < 4; i++) {
        line = array_of(RUBUS_F64, RUBUS_SHAPE(1), &one[i]);
        p = draw(line, NULL);
        const int count = curve_pixels(&p);
        ck_assert(i == 3 ? count == 0 : count > 0); /* a dot */
        close_picture(&p);
        rubus_array_destroy(line);
    }
}
END_TEST

START_TEST(picture_of_any_shape_has_a_sane_size)
{
    static const rubus_shape shapes[] = {
        {2, 0, {1, 1}},    {2, 0, {20000, 3}}, {2, 0, {2, 30000}}, {1, 0, {300000}},
        {3, 0, {5, 5, 1}}, {2, 0, {700, 900}}, {2, 0, {1, 1000}}};
    for (int i = 0; i < 7; i++) {
        rubus_array *field = NULL;
        MUST(rubus_array_create(context, RUBUS_F64, shapes[i], &field));
        MUST(rubus_array_random(field, 7, -1, 1));
        rubus_output_desc desc = {.struct_size = sizeof desc,
                                  .contour_first = -0.5,
                                  .contour_step = 0.5,
                                  .contour_last = 0.5};
        picture p = draw(field, &desc);
        close_picture(&p);
        desc.spacing[0] = 1e-200; /* as flat as can be */
        desc.spacing[1] = 1e200;
        p = draw(field, &desc);
        close_picture(&p);
        rubus_array_destroy(field);
    }
}
END_TEST

static void refused(rubus_array *field, const rubus_output_desc *desc, const char *words)
{
    ck_assert_int_eq(rubus_field_write("history.png", field, desc), RUBUS_EINVAL);
    ck_assert_msg(strstr(rubus_error_text(), words) != NULL, "%s", rubus_error_text());
}

START_TEST(history_draws_what_a_logarithm_can_show)
{
    const double values[4] = {1, 2, 3, 4};
    const double x[6] = {1, 2, 3, 4, 5, 6};
    const double y[6] = {1, 1e-300, 1e300, 1e-7, 1, 1e-7};
    const double bad[5] = {0, -1, NAN, INFINITY, -INFINITY};
    rubus_array *field = array_of(RUBUS_F64, RUBUS_SHAPE(2, 2), values);
    rubus_output_desc desc = {.struct_size = sizeof desc,
                              .title = "with a history",
                              .history_x = x,
                              .history_y = y,
                              .nhistory = 6,
                              .history_label_x = "x",
                              .history_label_y = "y \xFF\n"};
    picture p = draw(field, &desc);
    ck_assert_int_gt(curve_pixels(&p), 10);
    const int high = p.high;
    close_picture(&p);
    desc.nhistory = 1;
    desc.history_label_x = desc.history_label_y = NULL;
    p = draw(field, &desc);
    ck_assert_int_eq(p.high, high);
    close_picture(&p);
    for (int i = 0; i < 5; i++) {
        desc.history_y = &bad[i];
        refused(field, &desc, "point 0 of the history");
        if (i > 1) {
            desc.history_y = y;
            desc.history_x = &bad[i];
            refused(field, &desc, "point 0 of the history");
            desc.history_x = x;
        }
    }
    desc.history_y = NULL;
    refused(field, &desc, "nhistory is 1 and history_y is NULL");
    desc.nhistory = 0; /* no history */
    p = draw(field, &desc);
    ck_assert_int_lt(p.high, high);
    close_picture(&p);
    rubus_array_destroy(field);
}
END_TEST

START_TEST(contours_are_drawn_where_their_level_is)
{
    double values[64 * 64];
    for (int i = 0; i < 64 * 64; i++) {
        values[i] = i % 64;
    }
    rubus_array *field = array_of(RUBUS_F64, RUBUS_SHAPE(64, 64), values);
    picture plain = draw(field, NULL);
    rubus_output_desc desc = {.struct_size = sizeof desc,
                              .contour_first = 31.5,
                              .contour_step = 100,
                              .contour_last = 31.5};
    picture lined = draw(field, &desc);
    double where = 0;
    int changed = 0;
    const int x0 = map_x0(&lined);
    for (int y = 0; y < lined.high; y++) {
        for (int x = x0; x < x0 + 64 * 8; x++) {
            if (pixel(&plain, x, y) != pixel(&lined, x, y)) {
                changed++;
                where += x;
            }
        }
    }
    ck_assert_int_gt(changed, 400);
    CLOSE(where / changed, x0 + 255.5, 1); /* in the middle */
    close_picture(&plain);
    close_picture(&lined);
    rubus_array_destroy(field);
}
END_TEST

START_TEST(picture_with_any_title_is_drawn)
{
    char longest[3000];
    for (size_t i = 0; i < sizeof longest; i += 3) {
        memcpy(longest + i, "\xE2\x82\xAC", 3);
    }
    longest[sizeof longest - 1] = '\0';
    const char *const titles[] = {"\xFF\xFE",
                                  "<b>&amp; \"--\"\n\n",
                                  longest,
                                  "",
                                  " ",
                                  "one of about as many letters as have room in one line "
                                  "over such a picture"};
    const double values[4] = {1, 2, 3, 4};
    rubus_array *field = array_of(RUBUS_F64, RUBUS_SHAPE(2, 2), values);
    rubus_array *line = array_of(RUBUS_F64, RUBUS_SHAPE(4), values);
    for (int i = 0; i < 6; i++) {
        rubus_output_desc desc = {
            .struct_size = sizeof desc, .title = titles[i], .name = titles[i]};
        picture p = draw(field, &desc);
        close_picture(&p);
        desc.title = NULL;
        p = draw(line, &desc);
        close_picture(&p);
    }
    rubus_array_destroy(field);
    rubus_array_destroy(line);
}
END_TEST

START_TEST(picture_does_not_depend_on_the_locale)
{
    const double values[4] = {0.5, 1.25, 2, 2.75};
    rubus_array *field = array_of(RUBUS_F64, RUBUS_SHAPE(2, 2), values);
    bytes plain = written("a.png", field, NULL);
    if (!comma_locale_set()) {
        puts("(without a comma locale: localedef cannot make de_DE.UTF-8)");
    }
    bytes german = written("b.PNG", field, NULL);
    ck_assert_uint_eq(plain.size, german.size);
    ck_assert_mem_eq(plain.data, german.data, plain.size);
    free(plain.data);
    free(german.data);
    REFUSED(rubus_picture_write("no/a.png", field), RUBUS_EIO, "no/a.png");
    rubus_array_destroy(field);
}
END_TEST

static Suite *picture_suite(void)
{
    Suite *suite = suite_create("picture");
    TCase *maps = tcase_create("maps");
    tcase_add_checked_fixture(maps, setup, teardown);
    tcase_add_test(maps, map_of_a_constant_has_one_colour);
    tcase_add_test(maps, map_shows_what_is_no_number_in_grey);
    tcase_add_test(maps, map_without_any_number_is_grey);
    tcase_add_test(maps, map_shows_infinite_values_in_the_end_colours);
    tcase_add_test(maps, map_of_extreme_ranges_spans_all_colours);
    tcase_add_test(maps, map_of_a_box_is_its_middle_slice);
    tcase_add_test(maps, map_of_every_type_shows_its_values);
    suite_add_tcase(suite, maps);
    TCase *rest = tcase_create("rest");
    tcase_add_checked_fixture(rest, setup, teardown);
    tcase_add_test(rest, curve_with_gaps_draws_what_is_there);
    tcase_add_test(rest, picture_of_any_shape_has_a_sane_size);
    tcase_add_test(rest, history_draws_what_a_logarithm_can_show);
    tcase_add_test(rest, contours_are_drawn_where_their_level_is);
    tcase_add_test(rest, picture_with_any_title_is_drawn);
    tcase_add_test(rest, picture_does_not_depend_on_the_locale);
    suite_add_tcase(suite, rest);
    return suite;
}

RUBUS_TEST_MAIN("output: pictures", picture_suite)
