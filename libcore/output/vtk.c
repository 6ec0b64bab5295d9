/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VTK files: image data with appended raw values (.vti) and legacy ASCII (.vtk). Values
 * are cell data, x fastest; a field of nx x ny cells has nx+1 x ny+1 points. Source: VTK
 * file formats, Kitware, version 4.2 and the XML formats of VTK 5.
 */
#include "config.h"

#include "libcore/output/writers.h"

#include <string.h>

#define MOST_TITLE 250 /* bytes */

static void add_triple(rubus__text *out, const double *v)
{
    char number[32];
    for (int d = 0; d < 3; d++) {
        rubus__print_f64(v[d], number);
        rubus__text_add(out, d == 0 ? "" : " ");
        rubus__text_add(out, number);
    }
}

static void add_extent(rubus__text *out, const rubus__grid *grid)
{
    rubus__text_format(out, "0 %lld 0 %lld 0 %lld", (long long)grid->n[0],
                       grid->rank > 1 ? (long long)grid->n[1] : 0LL,
                       grid->rank > 2 ? (long long)grid->n[2] : 0LL);
}

void rubus__vti_text(const rubus__grid *grid, rubus__text *out)
{
    rubus__xml_start(out, grid->title);
    rubus__text_add(out, "<VTKFile type=\"ImageData\" version=\"1.0\" "
                         "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
                         "  <ImageData WholeExtent=\"");
    add_extent(out, grid);
    rubus__text_add(out, "\" Origin=\"");
    add_triple(out, grid->origin);
    rubus__text_add(out, "\" Spacing=\"");
    add_triple(out, grid->spacing);
    rubus__text_add(out, "\">\n    <Piece Extent=\"");
    add_extent(out, grid);
    rubus__text_add(out, "\">\n      <CellData Scalars=\"");
    rubus__xml_attribute(out, grid->name);
    rubus__text_format(out, "\">\n        <DataArray type=\"%s\" Name=\"",
                       rubus__vtk_type(grid->type));
    rubus__xml_attribute(out, grid->name);
    rubus__text_add(out, "\" format=\"appended\" offset=\"0\"/>\n      </CellData>\n"
                         "    </Piece>\n  </ImageData>\n"
                         "  <AppendedData encoding=\"raw\">\n_");
    rubus__xml_block_size(out, grid->raw_size);
    rubus__text_add_n(out, grid->raw, grid->raw_size);
    rubus__text_add(out, "\n  </AppendedData>\n</VTKFile>\n");
}

static const char *legacy_type(int32_t type)
{
    switch (type) {
    case RUBUS_F32:
        return "float";
    case RUBUS_F64:
        return "double";
    case RUBUS_I32:
        return "int";
    case RUBUS_I64:
        return "long";
    default:
        return "unsigned_char";
    }
}

/* A legacy title is one line of at most 255 characters, cut between characters. */
static void add_title(rubus__text *out, const char *s)
{
    size_t n = strlen(s);
    if (n > MOST_TITLE) {
        for (n = MOST_TITLE; n > 0 && ((unsigned char)s[n] & 0xC0u) == 0x80;) {
            n--;
        }
    }
    rubus__text_add_n(out, s, n);
}

/* A legacy name has no blanks, and readers take % for the start of a code. */
static void add_name(rubus__text *out, const char *s)
{
    for (; *s != '\0'; s++) {
        const bool bad = *s == ' ' || *s == '"' || *s == '%';
        rubus__text_add_n(out, bad ? "_" : s, 1);
    }
}

void rubus__vtk_text(const rubus__grid *grid, rubus__text *out)
{
    rubus__text_add(out, "# vtk DataFile Version 3.0\n");
    add_title(out, grid->title == NULL ? grid->name : grid->title);
    rubus__text_format(
        out, "\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS %lld %lld %lld\n",
        (long long)grid->n[0] + 1, grid->rank > 1 ? (long long)grid->n[1] + 1 : 1LL,
        grid->rank > 2 ? (long long)grid->n[2] + 1 : 1LL);
    rubus__text_add(out, "ORIGIN ");
    add_triple(out, grid->origin);
    rubus__text_add(out, "\nSPACING ");
    add_triple(out, grid->spacing);
    rubus__text_format(out, "\nCELL_DATA %lld\nSCALARS ", (long long)grid->count);
    add_name(out, grid->name);
    rubus__text_format(out, " %s 1\nLOOKUP_TABLE default\n", legacy_type(grid->type));
    for (int64_t i = 0; i < grid->count; i++) {
        char number[32];
        rubus__grid_number(grid, i, number);
        rubus__text_add(out, number);
        rubus__text_add(out, (i + 1) % grid->n[0] == 0 ? "\n" : " ");
    }
}
