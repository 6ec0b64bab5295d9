/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields as text tables, and the entry of all writers: the ending of the path chooses the
 * format, the elements are brought to the host once, the file appears whole.
 */
#include "config.h"

#include "libcore/output/writers.h"

#include <math.h>
#include <string.h>

void rubus__grid_number(const rubus__grid *grid, int64_t at, char out[32])
{
    switch (grid->type) {
    case RUBUS_F64:
        rubus__print_f64(grid->values[at], out);
        break;
    case RUBUS_F32:
        rubus__print_f32((float)grid->values[at], out);
        break;
    case RUBUS_I64: {
        int64_t v = 0;
        memcpy(&v, (const char *)grid->raw + 8 * at, sizeof(v));
        rubus__snprintf(out, 32, "%lld", (long long)v);
        break;
    }
    default:
        rubus__snprintf(out, 32, "%lld", (long long)grid->values[at]);
        break;
    }
}

static void add_title(const rubus__grid *grid, rubus__text *out)
{
    if (grid->title == NULL) {
        return;
    }
    rubus__text_add(out, "# ");
    rubus__text_add(out, grid->title);
    rubus__text_add(out, "\n");
}

void rubus__txt_text(const rubus__grid *grid, rubus__text *out)
{
    add_title(grid, out);
    for (int64_t i = 0; i < grid->count; i++) {
        char number[32];
        rubus__grid_number(grid, i, number);
        rubus__text_add(out, number);
        rubus__text_add(out, "\n");
    }
}

void rubus__tsv_text(const rubus__grid *grid, rubus__text *out)
{
    add_title(grid, out);
    for (int64_t z = 0; z < grid->n[2] && grid->count > 0; z++) {
        if (grid->rank == 3) {
            rubus__text_format(out, "%s# z = %lld\n", z == 0 ? "" : "\n", (long long)z);
        }
        for (int64_t x = 0; x < grid->n[0]; x++) {
            for (int64_t y = 0; y < grid->n[1]; y++) {
                char number[32];
                rubus__grid_number(grid, x + grid->n[0] * (y + grid->n[1] * z), number);
                rubus__text_add(out, y == 0 ? "" : "\t");
                rubus__text_add(out, number);
            }
            rubus__text_add(out, "\n");
        }
    }
}

/* --- bringing the field to the host ------------------------------------------------- */

static double element(int32_t type, const void *raw, int64_t at)
{
    switch (type) {
    case RUBUS_F64: {
        double v = 0;
        memcpy(&v, (const char *)raw + at * 8, sizeof(v));
        return v;
    }
    case RUBUS_F32: {
        float v = 0;
        memcpy(&v, (const char *)raw + at * 4, sizeof(v));
        return (double)v;
    }
    case RUBUS_I32: {
        int32_t v = 0;
        memcpy(&v, (const char *)raw + at * 4, sizeof(v));
        return (double)v;
    }
    case RUBUS_I64: {
        int64_t v = 0;
        memcpy(&v, (const char *)raw + at * 8, sizeof(v));
        return (double)v;
    }
    default:
        return (double)((const uint8_t *)raw)[at];
    }
}

static rubus_status grid_fetch(rubus_array *field, const rubus_output_desc *desc,
                               rubus__grid *grid)
{
    const rubus_shape shape = rubus_array_shape(field);
    grid->rank = shape.rank;
    grid->type = rubus_array_type(field);
    grid->count = rubus_array_count(field);
    for (int d = 0; d < 3; d++) {
        grid->n[d] = d < shape.rank ? shape.n[d] : 1;
        grid->spacing[d] = desc->spacing[d] > 0 ? desc->spacing[d] : 1;
        grid->origin[d] = desc->origin[d];
    }
    grid->name = rubus__label(desc->name, "u");
    if (desc->title != NULL && desc->title[0] != '\0') {
        grid->title = rubus__label(desc->title, "");
    }
    grid->raw_size = rubus_array_nbyte(field);
    grid->raw = rubus__alloc(grid->raw_size + 1);
    grid->values = rubus__alloc_array((size_t)grid->count + 1, sizeof(double));
    if (grid->name == NULL || grid->raw == NULL || grid->values == NULL ||
        (grid->title == NULL && desc->title != NULL && desc->title[0] != '\0')) {
        return RUBUS_ENOMEM;
    }
    const rubus_status st = rubus_array_read(field, grid->raw, grid->raw_size);
    for (int64_t i = 0; st == RUBUS_OK && i < grid->count; i++) {
        grid->values[i] = element(grid->type, grid->raw, i);
    }
    return st;
}

static rubus_status desc_check(const rubus_output_desc *desc)
{
    for (int d = 0; d < 3; d++) {
        if (!isfinite(desc->spacing[d]) || desc->spacing[d] < 0 ||
            !isfinite(desc->origin[d])) {
            return rubus__fail(
                RUBUS_EINVAL,
                "rubus_field_write: origin and spacing along %c are %g and "
                "%g; they must be finite, and the spacing not negative",
                "xyz"[d], desc -> origin[d], desc -> spacing[d]);
        }
    }
    return RUBUS_OK;
}

static rubus_status history_check(const rubus_output_desc *desc)
{
    if (desc->nhistory > 0 && (desc->history_x == NULL || desc->history_y == NULL)) {
        return rubus__fail(RUBUS_EINVAL,
                           "rubus_field_write: nhistory is %zu and history_%c is NULL",
                           desc->nhistory, desc->history_x == NULL ? 'x' : 'y');
    }
    for (size_t i = 0; i < desc->nhistory; i++) {
        if (!isfinite(desc->history_x[i]) || !isfinite(desc->history_y[i]) ||
            desc->history_y[i] <= 0) {
            return rubus__fail(RUBUS_EINVAL,
                               "rubus_field_write: point %zu of the history is (%g, %g); "
                               "both must be finite, and y positive, for its axis is "
                               "logarithmic",
                               i, desc->history_x[i], desc->history_y[i]);
        }
    }
    return RUBUS_OK;
}

/* --- the entry ---------------------------------------------------------------------- */

typedef enum { VTI, VTK, TSV, TXT, BIN, PNG, NO_FORMAT } format;

static format format_of(const char *path)
{
    static const char *const ending[] = {".vti", ".vtk", ".tsv", ".txt", ".bin", ".png"};
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot != NULL && i < (int)NO_FORMAT; i++) {
        if (rubus__equal_nocase(dot, ending[i])) {
            return (format)i;
        }
    }
    return NO_FORMAT;
}

static rubus_status write_as(format f, const char *path, const rubus__grid *grid,
                             const rubus_output_desc *desc)
{
    if (f == BIN) {
        return rubus__file_write(path, grid->raw, grid->raw_size);
    }
    rubus__text text;
    rubus__text_init(&text);
    rubus_status st = RUBUS_OK;
    switch (f) {
    case VTI:
        rubus__vti_text(grid, &text);
        break;
    case VTK:
        rubus__vtk_text(grid, &text);
        break;
    case TSV:
        rubus__tsv_text(grid, &text);
        break;
    case PNG:
        st = rubus__picture_text(grid, desc, &text);
        break;
    default:
        rubus__txt_text(grid, &text);
        break;
    }
    if (st == RUBUS_OK) {
        st = text.failed
                 ? rubus__fail(RUBUS_ENOMEM, "%s: out of memory while writing", path)
                 : rubus__file_write(path, text.data, text.size);
    }
    rubus__text_fini(&text);
    return st;
}

rubus_status rubus_field_write(const char *path, rubus_array *field,
                               const rubus_output_desc *desc)
{
    if (path == NULL || field == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_field_write: %s is NULL",
                           path == NULL ? "the path" : "the field");
    }
    const format f = format_of(path);
    if (f == NO_FORMAT) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: the ending must be .vti, .vtk, .tsv, .txt, .bin or .png",
                           path);
    }
    if (rubus_array_shape(field).rank > 3) {
        return rubus__fail(RUBUS_EINVAL, "%s: a field of rank 4 cannot be written", path);
    }
    rubus_output_desc d;
    memset(&d, 0, sizeof(d));
    if (desc != NULL) {
        const rubus_status known = rubus__need_struct("rubus_field_write", "desc", desc);
        if (known != RUBUS_OK) {
            return known;
        }
        memcpy(&d, desc, desc->struct_size < sizeof(d) ? desc->struct_size : sizeof(d));
    }
    rubus__grid grid;
    memset(&grid, 0, sizeof(grid));
    rubus_status st = desc_check(&d);
    if (st == RUBUS_OK) {
        st = history_check(&d);
    }
    if (st == RUBUS_OK) {
        st = grid_fetch(field, &d, &grid);
    }
    if (st == RUBUS_OK) {
        st = write_as(f, path, &grid, &d);
    }
    rubus__free(grid.name);
    rubus__free(grid.title);
    rubus__free(grid.raw);
    rubus__free(grid.values);
    return st;
}

rubus_status rubus_picture_write(const char *path, rubus_array *field)
{
    if (path != NULL && format_of(path) != PNG) {
        return rubus__fail(RUBUS_EINVAL, "%s: the ending of a picture must be .png",
                           path);
    }
    return rubus_field_write(path, field, NULL);
}
