/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series of files in time: VTK's collections (.pvd). A step is a rectilinear grid beside
 * the collection, NAME_0.vtr, NAME_1.vtr ...; then the whole collection is written anew
 * and takes the old one's place, so that at any moment, whatever ends the run, it is XML
 * and names whole files only.
 */
#include "config.h"

#include "libcore/output/writers.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { MOST_COLLECTION = 1 << 28 }; /* bytes */

struct rubus_series {
    char *path;       /* of the collection */
    char *stem;       /* the same without its ending */
    const char *name; /* behind the folders of stem */
    rubus_mesh_output_desc desc;
    char *title;       /* of desc */
    int64_t level;     /* of the next file */
    int64_t count;     /* entries of the collection */
    rubus__text lines; /* the collection up to its closing tags */
};

static const char tail[] = "  </Collection>\n</VTKFile>\n";

static rubus_status collection_write(const rubus_series *series, const rubus__text *lines)
{
    rubus__text text;
    rubus__text_init(&text);
    rubus__text_add_n(&text, lines->data, lines->size);
    rubus__text_add(&text, tail);
    const rubus_status st =
        lines->failed || text.failed
            ? rubus__fail(RUBUS_ENOMEM, "%s: out of memory while writing", series->path)
            : rubus__file_write(series->path, text.data, text.size);
    rubus__text_fini(&text);
    return st;
}

static rubus_status start_fresh(rubus_series *series)
{
    rubus__xml_start(&series->lines, series->title);
    rubus__text_add(&series->lines, "<VTKFile type=\"Collection\" version=\"1.0\" "
                                    "byte_order=\"LittleEndian\">\n  <Collection>\n");
    return collection_write(series, &series->lines);
}

/* --- continuing ------------------------------------------------------------------- */

/* The level of `file="NAME_12.vtr"` at `at`, or -1. `prefix` is `file="NAME_`. */
static int64_t level_of(const char *at, const rubus__text *prefix)
{
    if (strncmp(at, prefix->data, prefix->size) != 0) {
        return -1;
    }
    const char *digits = at + prefix->size;
    const size_t n = strspn(digits, "0123456789");
    char number[20];
    if (n == 0 || n >= sizeof(number) || strncmp(digits + n, ".vtr\"", 5) != 0) {
        return -1;
    }
    memcpy(number, digits, n);
    number[n] = '\0';
    int64_t level = -1;
    return rubus__parse_i64(number, &level) && level < INT64_MAX ? level : -1;
}

/* Counts the entries of a text, and finds the level behind their last. */
static rubus_status entries_look(rubus_series *series, const char *text)
{
    rubus__text prefix;
    rubus__text_init(&prefix);
    rubus__text_add(&prefix, "file=\"");
    rubus__xml_attribute(&prefix, series->name);
    rubus__text_add(&prefix, "_");
    if (prefix.failed) {
        rubus__text_fini(&prefix);
        return rubus__fail(RUBUS_ENOMEM, "%s: out of memory", series->path);
    }
    for (const char *at = strstr(text, "<DataSet"); at != NULL;
         at = strstr(at + 1, "<DataSet")) {
        series->count++;
    }
    for (const char *at = strstr(text, "file=\""); at != NULL;
         at = strstr(at + 1, "file=\"")) {
        const int64_t level = level_of(at, &prefix);
        series->level = level >= series->level ? level + 1 : series->level;
    }
    rubus__text_fini(&prefix);
    return RUBUS_OK;
}

/* The last place of `part` in a text; NULL: none. */
static char *find_last(char *text, const char *part)
{
    char *found = NULL;
    for (char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        found = at;
    }
    return found;
}

static rubus_status continue_from(rubus_series *series, char *text, size_t size)
{
    char *end = find_last(text, "</Collection>");
    const bool whole = strlen(text) == size && end != NULL &&
                       strstr(end, "</VTKFile>") != NULL &&
                       strstr(text, "<VTKFile type=\"Collection\"") != NULL;
    if (!whole) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: cannot be continued: it is no collection with its "
                           "closing tags; move it away, or leave out append",
                           series->path);
    }
    while (end > text && (end[-1] == ' ' || end[-1] == '\t')) {
        end--; // the tail brings its own
    }
    *end = '\0';
    rubus__text_add(&series->lines, text);
    return entries_look(series, text);
}

static rubus_status start(rubus_series *series)
{
    if (series->desc.append == 0 ||
        (access(series->path, F_OK) != 0 && errno == ENOENT)) {
        return start_fresh(series);
    }
    char *text = NULL;
    size_t size = 0;
    rubus_status st = rubus__file_read(series->path, MOST_COLLECTION, &text, &size);
    if (st == RUBUS_OK) {
        st = continue_from(series, text, size);
        rubus__free(text);
    }
    return st == RUBUS_OK && series->lines.failed
               ? rubus__fail(RUBUS_ENOMEM, "%s: out of memory", series->path)
               : st;
}

/* --- the calls -------------------------------------------------------------------- */

void rubus_series_destroy(rubus_series *series)
{
    if (series != NULL) {
        rubus__text_fini(&series->lines);
        rubus__free(series->path);
        rubus__free(series->stem);
        rubus__free(series->title);
        rubus__free(series);
    }
}

static rubus_status texts_make(rubus_series *series, const char *path)
{
    rubus__text_init(&series->lines);
    series->path = rubus__strdup(path);
    series->stem = rubus__strndup(path, strlen(path) - strlen(".pvd"));
    if (series->path == NULL || series->stem == NULL) {
        return RUBUS_ENOMEM;
    }
    const char *slash = strrchr(series->stem, '/');
    series->name = slash == NULL ? series->stem : slash + 1;
    const char *title = series->desc.title;
    if (title != NULL && title[0] != '\0') {
        series->title = rubus__label(title, "");
        series->desc.title = series->title;
        return series->title == NULL ? RUBUS_ENOMEM : RUBUS_OK;
    }
    return RUBUS_OK;
}

rubus_status rubus_series_create(const char *path, const rubus_mesh_output_desc *desc,
                                 rubus_series **out_series)
{
    static const char what[] = "rubus_series_create";
    if (path == NULL || out_series == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what,
                           path == NULL ? "the path" : "out_series");
    }
    const char *dot = strrchr(path, '.');
    if (dot == NULL || !rubus__equal_nocase(dot, ".pvd")) {
        return rubus__fail(RUBUS_EINVAL, "%s: the ending must be .pvd", path);
    }
    rubus_mesh_output_desc d;
    rubus_status st = rubus__mesh_output_desc(what, desc, &d);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_series *series = rubus__alloc(sizeof(*series));
    if (series == NULL) {
        return RUBUS_ENOMEM;
    }
    series->desc = d;
    st = texts_make(series, path);
    if (st == RUBUS_OK) {
        st = start(series);
    }
    if (st != RUBUS_OK) {
        rubus_series_destroy(series);
        return st;
    }
    *out_series = series;
    return RUBUS_OK;
}

/* The collection with one entry more, written; kept only if that succeeds. */
static rubus_status entry_add(rubus_series *series, double time)
{
    char number[32];
    rubus__print_f64(time, number);
    rubus__text lines;
    rubus__text_init(&lines);
    rubus__text_add_n(&lines, series->lines.data, series->lines.size);
    rubus__text_format(&lines, "    <DataSet timestep=\"%s\" part=\"0\" file=\"", number);
    rubus__xml_attribute(&lines, series->name);
    rubus__text_format(&lines, "_%lld.vtr\"/>\n", (long long)series->level);
    const rubus_status st = collection_write(series, &lines);
    if (st != RUBUS_OK) {
        rubus__text_fini(&lines);
        return st;
    }
    rubus__text_fini(&series->lines);
    series->lines = lines;
    series->level++;
    series->count++;
    return RUBUS_OK;
}

rubus_status rubus_series_add(rubus_series *series, double time, rubus_mesh *mesh,
                              const rubus_mesh_field *field, int32_t nfield)
{
    static const char what[] = "rubus_series_add";
    if (series == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the series is NULL", what);
    }
    if (!isfinite(time)) {
        return rubus__fail(RUBUS_EINVAL, "%s: the time is %g; it must be finite", what,
                           time);
    }
    char *path = rubus__format("%s_%lld.vtr", series->stem, (long long)series->level);
    if (path == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus_status st = rubus__mesh_write(what, path, mesh, field, nfield, &series->desc);
    rubus__free(path);
    return st != RUBUS_OK ? st : entry_add(series, time);
}

int64_t rubus_series_count(const rubus_series *series)
{
    return series == NULL ? 0 : series->count;
}
