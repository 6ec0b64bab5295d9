/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where canonical text came from. The printer puts a comment line `//@12 kernel.rk`
 * before each statement and declaration; messages of who runs that text name line 12 of
 * kernel.rk and not a line of the text, which nobody has seen. Only text that begins as
 * canonical text does is looked at, so that a user's own comments mean nothing.
 */
#include "config.h"

#include "libcore/kernel/tree.h"

#include <string.h>

static const char header[] = "// rk real=";
static const char mark[] = "//@";

static bool is_canonical(const rk_source *source)
{
    return strncmp(source->text, header, sizeof(header) - 1) == 0;
}

/* The last mark on a line that begins before the place; NULL if there is none. */
static const char *mark_before(rk_span at)
{
    const char *text = at.source->text;
    const char *p = text + at.first;
    while (p > text) {
        p--;
        if (p > text && p[-1] != '\n') {
            continue;
        }
        const char *word = p + strspn(p, " ");
        if (strncmp(word, mark, sizeof(mark) - 1) == 0) {
            return word + sizeof(mark) - 1;
        }
    }
    return NULL;
}

static void copy_name(char *out, size_t room, const char *name, size_t n)
{
    n = n < room ? n : room - 1;
    memcpy(out, name, n);
    out[n] = '\0';
}

/* The place that the mark before `at` tells; false if there is none. */
static bool marked(rk_span at, char *out_name, size_t room, int32_t *out_line)
{
    const char *p = is_canonical(at.source) ? mark_before(at) : NULL;
    if (p == NULL) {
        return false;
    }
    int32_t line = 0;
    while (*p >= '0' && *p <= '9' && line < INT32_MAX / 10 - 1) {
        line = line * 10 + (*p++ - '0');
    }
    p += *p == ' ' ? 1 : 0;
    copy_name(out_name, room, p, strcspn(p, "\n"));
    *out_line = line;
    return true;
}

void rk_origin(rk_span at, char *out_name, size_t room, int32_t *out_line)
{
    if (!marked(at, out_name, room, out_line)) {
        int32_t column = 0;
        rk_line_column(at, out_line, &column);
        copy_name(out_name, room, at.source->name, strlen(at.source->name));
    }
}

void rk_origin_write(rubus__text *out, rk_span at, rk_cursor *cursor)
{
    char name[256];
    int32_t line = 0;
    if (!marked(at, name, sizeof(name), &line)) {
        if (cursor->source != at.source || cursor->at > at.first) {
            *cursor = (rk_cursor){at.source, 0, 1};
        }
        for (; cursor->at < at.first; cursor->at++) {
            cursor->line += at.source->text[cursor->at] == '\n';
        }
        line = cursor->line;
        copy_name(name, sizeof(name), at.source->name, strlen(at.source->name));
    }
    for (char *p = name; *p != '\0'; p++) {
        *p = *p == '\n' || *p == '\r' ? '?' : *p; /* the comment must stay one line */
    }
    rubus__text_format(out, "%s%d %s\n", mark, (int)line, name);
}
