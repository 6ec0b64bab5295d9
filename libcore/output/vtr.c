/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grid functions on their mesh: VTK's rectilinear grids (.vtr), values at points, x
 * fastest. A head of XML comes first; behind it, or within it as text, the points of the
 * three axes and then field by field, so that one field at a time is on the host. Source:
 * VTK file formats, Kitware, the XML formats of VTK 5.
 */
#include "config.h"

#include "libcore/grid/grid.h"
#include "libcore/output/writers.h"

#include <stdio.h>
#include <string.h>

enum { NUMBERS_A_LINE = 6, FLUSH_AT = 1 << 16 };

/* A file that is being written. */
typedef struct writer {
    const char *path;
    rubus__state *state;
    const rubus_mesh_field *field; /* [nfield] */
    int32_t nfield;
    char **name; /* [nfield] */
    char *title; /* NULL: none */
    bool ascii;
    uint64_t offset; /* of the next block behind the head */
    rubus__file *file;
    rubus__text text; /* what waits to be written */
} writer;

/* --- checks ----------------------------------------------------------------------- */

static rubus_status space_check(const char *what, const rubus_mesh *mesh,
                                const rubus__state *state, int32_t at,
                                const rubus_mesh_field *field)
{
    const rubus_status st = rubus__space_fresh(field->space, what);
    if (st != RUBUS_OK) {
        return rubus__fail_prefix(st, "field %d", (int)at);
    }
    if (field->space->mesh->context != mesh->context) {
        char name[48];
        snprintf(name, sizeof(name), "the space of field %d", (int)at);
        return rubus__foreign(what, name, field->space->mesh->context, "the mesh",
                              mesh->context, NULL);
    }
    if (field->space->mesh != mesh || field->space->version != state->version) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: the space of field %d is on another mesh; fields of one "
                           "file stand on one mesh",
                           what, (int)at);
    }
    return RUBUS_OK;
}

/* Names as they will stand in the file: none empty, no two alike. */
static rubus_status names_make(const char *what, writer *w)
{
    w->name = rubus__alloc_array((size_t)w->nfield + 1, sizeof(*w->name));
    if (w->name == NULL) {
        return RUBUS_ENOMEM;
    }
    for (int32_t k = 0; k < w->nfield; k++) {
        const char *given = w->field[k].name;
        if (given == NULL || given[0] == '\0') {
            return rubus__fail(RUBUS_EINVAL, "%s: field %d has no name", what, (int)k);
        }
        w->name[k] = rubus__label(given, "");
        if (w->name[k] == NULL) {
            return RUBUS_ENOMEM;
        }
        for (int32_t j = 0; j < k; j++) {
            if (strcmp(w->name[j], w->name[k]) == 0) {
                return rubus__fail(RUBUS_EINVAL,
                                   "%s: fields %d and %d are both named '%s'; readers "
                                   "would find one of them only",
                                   what, (int)j, (int)k, w->name[k]);
            }
        }
    }
    return RUBUS_OK;
}

static rubus_status fields_check(const char *what, const rubus_mesh *mesh, writer *w)
{
    if (w->nfield < 0) {
        return rubus__fail(RUBUS_EINVAL, "%s: %d fields", what, (int)w->nfield);
    }
    if (w->nfield > 0 && w->field == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the list of fields is NULL", what);
    }
    rubus_status st = names_make(what, w);
    for (int32_t k = 0; st == RUBUS_OK && k < w->nfield; k++) {
        st = space_check(what, mesh, w->state, k, &w->field[k]);
        if (st == RUBUS_OK) {
            st = rubus__space_check(w->field[k].space, what, w->name[k],
                                    w->field[k].array, false);
        }
    }
    return st;
}

/* --- the parts of a file ---------------------------------------------------------- */

static rubus_status flush(writer *w)
{
    if (w->text.failed) {
        return rubus__fail(RUBUS_ENOMEM, "%s: out of memory while writing", w->path);
    }
    const rubus_status st = rubus__file_add(w->file, w->text.data, w->text.size);
    rubus__text_fini(&w->text);
    rubus__text_init(&w->text);
    return st;
}

/* n numbers of the mesh's type as text, each so that it reads back as itself. */
static rubus_status add_numbers(writer *w, const void *data, int64_t n)
{
    rubus_status st = RUBUS_OK;
    for (int64_t i = 0; st == RUBUS_OK && i < n; i++) {
        char number[32];
        if (w->state->type == RUBUS_F32) {
            rubus__print_f32(((const float *)data)[i], number);
        } else {
            rubus__print_f64(((const double *)data)[i], number);
        }
        rubus__text_add(&w->text, number);
        const bool last = i + 1 == n || (i + 1) % NUMBERS_A_LINE == 0;
        rubus__text_add(&w->text, last ? "\n" : " ");
        if (w->text.failed || w->text.size >= FLUSH_AT) {
            st = flush(w);
        }
    }
    return st;
}

/* n numbers as a block behind the head: their bytes, counted. */
static rubus_status add_block(writer *w, const void *data, int64_t n)
{
    const uint64_t size = (uint64_t)n * rubus__type_size(w->state->type);
    rubus__xml_block_size(&w->text, size);
    const rubus_status st = flush(w);
    return st != RUBUS_OK ? st : rubus__file_add(w->file, data, (size_t)size);
}

/* The points of an axis that the mesh has, or the one point 0. */
static rubus_status add_points(writer *w, int32_t d)
{
    static const double zero = 0;
    const bool there = d < w->state->ndim;
    const int64_t n = there ? w->state->axis[d]->n : 1;
    const double *x = there ? w->state->axis[d]->x : &zero;
    if (w->state->type == RUBUS_F64) {
        return w->ascii ? add_numbers(w, x, n) : add_block(w, x, n);
    }
    float *narrow = rubus__narrow(x, n);
    if (narrow == NULL) {
        return RUBUS_ENOMEM;
    }
    const rubus_status st =
        w->ascii ? add_numbers(w, narrow, n) : add_block(w, narrow, n);
    rubus__free(narrow);
    return st;
}

/* Components one after the other become those of each point side by side. */
static void interleave(const char *from, char *to, int64_t n, int32_t ncomponent,
                       size_t size)
{
    for (int32_t k = 0; k < ncomponent; k++) {
        for (int64_t i = 0; i < n; i++) {
            const size_t at = (size_t)(i * ncomponent + k);
            memcpy(to + at * size, from + (size_t)(k * n + i) * size, size);
        }
    }
}

static rubus_status add_field(writer *w, int32_t at)
{
    rubus_array *array = w->field[at].array;
    const int32_t ncomponent = w->field[at].space->ncomponent;
    const size_t size = rubus_array_nbyte(array);
    const int64_t n = rubus_array_count(array);
    char *data = rubus__alloc(size);
    char *turned = data == NULL || ncomponent == 1 ? NULL : rubus__alloc(size);
    rubus_status st = RUBUS_ENOMEM;
    if (data != NULL && (ncomponent == 1 || turned != NULL)) {
        st = rubus_array_read(array, data, size);
    }
    if (st == RUBUS_OK && turned != NULL) {
        interleave(data, turned, n / ncomponent, ncomponent,
                   rubus__type_size(w->state->type));
    }
    if (st == RUBUS_OK) {
        const char *out = turned == NULL ? data : turned;
        st = w->ascii ? add_numbers(w, out, n) : add_block(w, out, n);
    }
    rubus__free(data);
    rubus__free(turned);
    return st;
}

/* --- the head --------------------------------------------------------------------- */

/* One DataArray: of n numbers behind the head, or of those that `add` writes here. */
static rubus_status add_array(writer *w, const char *name, int32_t ncomponent, int64_t n,
                              rubus_status (*add)(writer *w, int32_t at), int32_t at)
{
    rubus__text *out = &w->text;
    rubus__text_format(out, "        <DataArray type=\"%s\" Name=\"",
                       rubus__vtk_type(w->state->type));
    rubus__xml_attribute(out, name);
    rubus__text_format(out, "\" NumberOfComponents=\"%d\" ", (int)ncomponent);
    if (!w->ascii) {
        rubus__text_format(out, "format=\"appended\" offset=\"%llu\"/>\n",
                           (unsigned long long)w->offset);
        w->offset += 8 + (uint64_t)n * rubus__type_size(w->state->type);
        return RUBUS_OK;
    }
    rubus__text_add(out, "format=\"ascii\">\n");
    const rubus_status st = add(w, at);
    rubus__text_add(&w->text, "        </DataArray>\n");
    return st;
}

static void add_extent(writer *w)
{
    int64_t last[3] = {0, 0, 0};
    for (int32_t d = 0; d < w->state->ndim; d++) {
        last[d] = w->state->axis[d]->n - 1;
    }
    rubus__text_format(&w->text, "0 %lld 0 %lld 0 %lld", (long long)last[0],
                       (long long)last[1], (long long)last[2]);
}

static rubus_status add_arrays(writer *w)
{
    static const char *const axis[3] = {"x", "y", "z"};
    rubus_status st = RUBUS_OK;
    rubus__text_add(&w->text, "      <Coordinates>\n");
    for (int32_t d = 0; st == RUBUS_OK && d < 3; d++) {
        const int64_t n = d < w->state->ndim ? w->state->axis[d]->n : 1;
        st = add_array(w, axis[d], 1, n, add_points, d);
    }
    rubus__text_add(&w->text, "      </Coordinates>\n      <PointData");
    if (w->nfield > 0) {
        rubus__text_add(&w->text, " Scalars=\"");
        rubus__xml_attribute(&w->text, w->name[0]);
        rubus__text_add(&w->text, "\"");
    }
    rubus__text_add(&w->text, ">\n");
    for (int32_t k = 0; st == RUBUS_OK && k < w->nfield; k++) {
        st = add_array(w, w->name[k], w->field[k].space->ncomponent,
                       rubus_array_count(w->field[k].array), add_field, k);
    }
    rubus__text_add(&w->text, "      </PointData>\n");
    return st;
}

static rubus_status add_blocks(writer *w)
{
    rubus_status st = RUBUS_OK;
    rubus__text_add(&w->text, "  <AppendedData encoding=\"raw\">\n_");
    for (int32_t d = 0; st == RUBUS_OK && d < 3; d++) {
        st = add_points(w, d);
    }
    for (int32_t k = 0; st == RUBUS_OK && k < w->nfield; k++) {
        st = add_field(w, k);
    }
    rubus__text_add(&w->text, "\n  </AppendedData>\n");
    return st;
}

static rubus_status add_all(writer *w)
{
    rubus__xml_start(&w->text, w->title);
    rubus__text_add(&w->text, "<VTKFile type=\"RectilinearGrid\" version=\"1.0\" "
                              "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
                              "  <RectilinearGrid WholeExtent=\"");
    add_extent(w);
    rubus__text_add(&w->text, "\">\n    <Piece Extent=\"");
    add_extent(w);
    rubus__text_add(&w->text, "\">\n");
    rubus_status st = add_arrays(w);
    rubus__text_add(&w->text, "    </Piece>\n  </RectilinearGrid>\n");
    if (st == RUBUS_OK && !w->ascii) {
        st = add_blocks(w);
    }
    rubus__text_add(&w->text, "</VTKFile>\n");
    return st != RUBUS_OK ? st : flush(w);
}

/* --- the entry -------------------------------------------------------------------- */

static rubus_status write_file(writer *w)
{
    rubus_status st = rubus__file_create(w->path, &w->file);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__text_init(&w->text);
    st = add_all(w);
    rubus__text_fini(&w->text);
    if (st != RUBUS_OK) {
        rubus__file_discard(w->file);
        return st;
    }
    return rubus__file_finish(w->file);
}

rubus_status rubus__mesh_write(const char *what, const char *path, rubus_mesh *mesh,
                               const rubus_mesh_field *field, int32_t nfield,
                               const rubus_mesh_output_desc *desc)
{
    writer w = {.path = path, .field = field, .nfield = nfield};
    w.ascii = desc->encoding == RUBUS_VTK_ASCII;
    rubus_status st = rubus__mesh_enter(mesh, what, &w.state);
    if (st != RUBUS_OK) {
        return st;
    }
    st = fields_check(what, mesh, &w);
    if (st == RUBUS_OK && desc->title != NULL && desc->title[0] != '\0') {
        w.title = rubus__label(desc->title, "");
        st = w.title == NULL ? RUBUS_ENOMEM : RUBUS_OK;
    }
    if (st == RUBUS_OK) {
        st = write_file(&w);
    }
    for (int32_t k = 0; w.name != NULL && k < nfield; k++) {
        rubus__free(w.name[k]);
    }
    rubus__free((void *)w.name);
    rubus__free(w.title);
    rubus__state_release(w.state);
    return st;
}

rubus_status rubus__mesh_output_desc(const char *what, const rubus_mesh_output_desc *desc,
                                     rubus_mesh_output_desc *out)
{
    *out = (rubus_mesh_output_desc){.struct_size = sizeof(*out)};
    if (desc == NULL) {
        return RUBUS_OK;
    }
    const rubus_status st = rubus__need_struct(what, "desc", desc);
    if (st != RUBUS_OK) {
        return st;
    }
    memcpy(out, desc,
           desc->struct_size < sizeof(*out) ? desc->struct_size : sizeof(*out));
    if (out->encoding != RUBUS_VTK_RAW && out->encoding != RUBUS_VTK_ASCII) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: encoding %d; it is RUBUS_VTK_RAW or RUBUS_VTK_ASCII",
                           what, (int)out->encoding);
    }
    return RUBUS_OK;
}

rubus_status rubus_mesh_write(const char *path, rubus_mesh *mesh,
                              const rubus_mesh_field *field, int32_t nfield,
                              const rubus_mesh_output_desc *desc)
{
    static const char what[] = "rubus_mesh_write";
    rubus_mesh_output_desc d;
    const rubus_status st = rubus__mesh_output_desc(what, desc, &d);
    if (st != RUBUS_OK) {
        return st;
    }
    if (path == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the path is NULL", what);
    }
    const char *dot = strrchr(path, '.');
    if (dot == NULL || !rubus__equal_nocase(dot, ".vtr")) {
        return rubus__fail(RUBUS_EINVAL, "%s: the ending must be .vtr", path);
    }
    return rubus__mesh_write(what, path, mesh, field, nfield, &d);
}
