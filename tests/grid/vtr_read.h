/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_VTR_READ_H
#define RUBUS_TESTS_VTR_READ_H
/*
 * A reader of rectilinear grids that knows the format only, not the writer: finds arrays
 * by name, appended or ascii, f32 or f64. Include after check.h and grid_probe.h.
 */
#include "tests/support/xml_probe.h"

typedef struct vtr_array {
    bool f32;
    int ncomponent;
    int64_t n; /* numbers */
    double *value;
} vtr_array;

/* Opens a file whose XML is well formed. */
static inline bytes vtr_open(const char *path)
{
    bytes b = file_bytes(path);
    const char *raw = strstr(b.data, "encoding=\"raw\">\n_");
    const char *end = raw == NULL ? b.data + b.size : strchr(raw, '_');
    xml_check(b.data, end, raw == NULL ? 0 : 2);
    ck_assert_ptr_nonnull(strstr(b.data, "<VTKFile type=\"RectilinearGrid\""));
    if (raw != NULL) {
        static const char tail[] = "\n  </AppendedData>\n</VTKFile>\n";
        ck_assert_str_eq(b.data + b.size - strlen(tail), tail);
    }
    return b;
}

static inline double vtr_number(const char *at, bool f32)
{
    float narrow = 0;
    double wide = 0;
    memcpy(&narrow, at, sizeof narrow);
    memcpy(&wide, at, sizeof wide);
    return f32 ? (double)narrow : wide;
}

static inline void vtr_appended(const bytes *b, const char *element, vtr_array *out)
{
    char text[200];
    const char *start = strchr(strstr(b->data, "encoding=\"raw\">\n_"), '_') + 1;
    start += strtoull(xml_attribute(element, "offset", text), NULL, 10);
    uint64_t size = 0;
    memcpy(&size, start, sizeof size);
    const size_t each = out->f32 ? 4 : 8;
    ck_assert_uint_le((size_t)(start - b->data) + 8 + size, b->size);
    out->n = (int64_t)(size / each);
    out->value = malloc((size_t)out->n * 8 + 8);
    for (int64_t i = 0; i < out->n; i++) {
        out->value[i] = vtr_number(start + 8 + (size_t)i * each, out->f32);
    }
}

static inline void vtr_ascii(const char *element, vtr_array *out)
{
    const char *at = strchr(element, '>') + 1;
    const size_t room = strcspn(at, "<");
    out->value = malloc(room * 8 + 8);
    for (char *end = NULL;; at = end) {
        const double x = strtod(at, &end);
        if (end == at) {
            break;
        }
        out->value[out->n++] = x;
    }
    at += strspn(at, " \n");
    ck_assert_int_eq(strncmp(at, "</DataArray>", 12), 0);
}

/* The array of this name, its attributes those of the type. */
static inline vtr_array vtr_get(const bytes *b, const char *name)
{
    char mark[100];
    char text[200];
    vtr_array out = {.f32 = false};
    snprintf(mark, sizeof mark, " Name=\"%s\"", name);
    const char *element = strstr(b->data, mark);
    ck_assert_msg(element != NULL, "no array %s", name);
    while (strncmp(element, "<DataArray", 10) != 0) {
        element--;
    }
    const char *type = xml_attribute(element, "type", text);
    out.f32 = strcmp(type, "Float32") == 0;
    ck_assert(out.f32 || strcmp(type, "Float64") == 0);
    out.ncomponent = atoi(xml_attribute(element, "NumberOfComponents", text));
    if (strcmp(xml_attribute(element, "format", text), "appended") == 0) {
        vtr_appended(b, element, &out);
    } else {
        ck_assert_str_eq(text, "ascii");
        vtr_ascii(element, &out);
    }
    return out;
}

/* The array holds exactly these numbers, in the type of the mesh. */
static inline void vtr_is(const bytes *b, const char *name, int32_t type, int ncomponent,
                          const double *want, int64_t n)
{
    vtr_array got = vtr_get(b, name);
    ck_assert_int_eq(got.f32, type == RUBUS_F32);
    ck_assert_int_eq(got.ncomponent, ncomponent);
    ck_assert_int_eq(got.n, n);
    for (int64_t i = 0; i < n; i++) {
        const double w = type == RUBUS_F32 ? (double)(float)want[i] : want[i];
        const double g = type == RUBUS_F32 ? (double)(float)got.value[i] : got.value[i];
        ck_assert_msg(g == w, "%s: number %lld is %.17g, not %.17g", name, (long long)i,
                      g, w);
    }
    free(got.value);
}

#endif
