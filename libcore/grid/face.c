/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of faces. Note that left and right are faces of x in 1 and 2 dimensions, and of y
 * in 3.
 */
#include "config.h"

#include "libcore/grid/grid.h"

#include <string.h>

/* By number of axes and face: the spoken name, then the one that tells the axis. */
static const char *const spoken[3][6] = {
    {"left", "right"},
    {"left", "right", "bottom", "top"},
    {"back", "front", "left", "right", "bottom", "top"},
};
static const char *const plain[6] = {"xmin", "xmax", "ymin", "ymax", "zmin", "zmax"};

static bool is_name(const char *candidate, const char *name, size_t size)
{
    return strlen(candidate) == size && memcmp(candidate, name, size) == 0;
}

uint32_t rubus__face_find(int32_t ndim, const char *name, size_t size)
{
    for (int32_t face = 0; face < 2 * ndim; face++) {
        if (is_name(spoken[ndim - 1][face], name, size) ||
            is_name(plain[face], name, size)) {
            return (uint32_t)1 << (unsigned)face;
        }
    }
    return 0;
}

void rubus__faces_list(int32_t ndim, rubus__text *out)
{
    for (int32_t face = 0; face < 2 * ndim; face++) {
        rubus__text_format(out, "%s%s", face > 0 ? ", " : "", spoken[ndim - 1][face]);
    }
    for (int32_t face = 0; face < 2 * ndim; face++) {
        rubus__text_format(out, ", %s", plain[face]);
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

bool rubus__list_next(const char **rest, const char **out_name, size_t *out_size)
{
    const char *at = *rest;
    while (*at != '\0') {
        const size_t whole = strcspn(at, ",");
        size_t size = whole;
        const char *name = at;
        while (size > 0 && is_blank(*name)) {
            name++;
            size--;
        }
        while (size > 0 && is_blank(name[size - 1])) {
            size--;
        }
        at += whole + (at[whole] == ',' ? 1 : 0);
        *rest = at;
        if (size > 0) {
            *out_name = name;
            *out_size = size;
            return true;
        }
    }
    *rest = at;
    return false;
}

rubus_status rubus__faces_parse(const char *what, int32_t ndim, const char *names,
                                uint32_t *out_faces)
{
    uint32_t faces = 0;
    const char *rest = names;
    const char *name = NULL;
    size_t size = 0;
    while (rubus__list_next(&rest, &name, &size)) {
        const uint32_t face = rubus__face_find(ndim, name, size);
        if (face == 0) {
            rubus__text valid;
            rubus__text_init(&valid);
            rubus__faces_list(ndim, &valid);
            (void)rubus__fail(RUBUS_ENOTFOUND,
                              "%s: a mesh of %d ax%ss has no face `%.*s`; it has %s",
                              what, (int)ndim, ndim == 1 ? "i" : "e", (int)size, name,
                              valid.failed ? "others" : valid.data);
            rubus__text_fini(&valid);
            return RUBUS_ENOTFOUND;
        }
        faces |= face;
    }
    if (faces == 0) {
        return rubus__fail(RUBUS_EINVAL, "%s: \"%s\" names no face", what, names);
    }
    *out_faces = faces;
    return RUBUS_OK;
}
