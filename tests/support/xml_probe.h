/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_XML_PROBE_H
#define RUBUS_TESTS_XML_PROBE_H
/* Whole files, and the XML of VTK in them, read without the library. Include after
 * check.h. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct bytes {
    char *data; /* ends with a NUL that is not counted */
    size_t size;
} bytes;

static inline bytes file_bytes(const char *path)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "cannot open %s", path);
    struct stat info;
    ck_assert_int_eq(fstat(fileno(file), &info), 0);
    bytes b = {malloc((size_t)info.st_size + 1), (size_t)info.st_size};
    ck_assert_ptr_nonnull(b.data);
    ck_assert_uint_eq(fread(b.data, 1, b.size, file), b.size);
    b.data[b.size] = '\0';
    fclose(file);
    return b;
}

/* The value of an attribute of the first element that has it. */
static inline const char *xml_attribute(const char *xml, const char *name, char out[200])
{
    char start[64];
    snprintf(start, sizeof start, " %s=\"", name);
    const char *found = strstr(xml, start);
    ck_assert_msg(found != NULL, "no attribute %s", name);
    found += strlen(start);
    const size_t n = strcspn(found, "\"");
    ck_assert_uint_lt(n, 200);
    memcpy(out, found, n);
    out[n] = '\0';
    return out;
}

/* Up to `end` elements open and close in order, attributes are quoted, and so many
 * elements stay open: 2 before appended data, 0 at the end of a file. */
static inline void xml_check(const char *s, const char *end, int still_open)
{
    char open[16][40];
    int depth = 0;
    while ((s = memchr(s, '<', (size_t)(end - s))) != NULL) {
        if (strncmp(s, "<?xml", 5) == 0 || strncmp(s, "<!--", 4) == 0) {
            const char *stop = strstr(s, s[1] == '?' ? "?>" : "-->");
            ck_assert(stop != NULL && (s[1] == '?' || strstr(s + 4, "--") == stop));
            s = stop;
            continue;
        }
        const bool closing = s[1] == '/';
        s += closing ? 2 : 1;
        char name[40];
        const size_t n = strcspn(s, " />");
        ck_assert(n > 0 && n < sizeof name);
        memcpy(name, s, n);
        name[n] = '\0';
        bool quoted = false;
        for (; *s != '>' || quoted; s++) {
            quoted = quoted != (*s == '"');
            ck_assert(*s != '\0' && (unsigned char)*s >= 0x20 && *s != '<');
        }
        if (closing) {
            ck_assert_int_gt(depth, 0);
            ck_assert_str_eq(open[--depth], name);
        } else if (s[-1] != '/') {
            ck_assert_int_lt(depth, 16);
            strcpy(open[depth++], name);
        }
    }
    ck_assert_int_eq(depth, still_open);
}

#endif
