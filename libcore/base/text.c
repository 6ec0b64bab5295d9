/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formatting in the C locale, and strings that grow.
 *
 * The process may run in a locale with a decimal comma, and other threads may change it
 * at any time. So each formatting call puts the C locale on its own thread for its
 * duration, which no other thread can see. Growing strings remember that memory ran out,
 * so a long row of additions needs one check at its end.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "libcore/base/c_locale.h"

int rubus__vsnprintf(char *out, size_t room, const char *fmt, va_list args)
{
    const locale_t c = rubus__c_locale();
    const locale_t before = c == (locale_t)0 ? (locale_t)0 : uselocale(c);
    const int n = vsnprintf(out, room, fmt, args);
    if (before != (locale_t)0) {
        uselocale(before);
    }
    return n;
}

int rubus__snprintf(char *out, size_t room, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const int n = rubus__vsnprintf(out, room, fmt, args);
    va_end(args);
    return n;
}

/* What an empty string points to; nobody writes to it, since its room is 0. */
static char nothing[1];

void rubus__text_init(rubus__text *text)
{
    text->data = nothing;
    text->size = 0;
    text->room = 0;
    text->failed = false;
}

void rubus__text_fini(rubus__text *text)
{
    if (text->room > 0) {
        rubus__free(text->data);
    }
    rubus__text_init(text);
}

/* Room for n more bytes and the NUL. */
static bool text_grow(rubus__text *text, size_t n)
{
    if (text->failed) {
        return false;
    }
    if (n >= PTRDIFF_MAX - text->size) {
        rubus__fail(RUBUS_ENOMEM, "out of host memory: a text of %zu and %zu bytes",
                    text->size, n);
        text->failed = true;
        return false;
    }
    const size_t need = text->size + n + 1;
    if (need <= text->room) {
        return true;
    }
    size_t room = text->room < 64 ? 64 : text->room + text->room / 2;
    room = room < need ? need : room;
    char *data = rubus__realloc(text->room > 0 ? text->data : NULL, room);
    if (data == NULL) {
        text->failed = true;
        return false;
    }
    data[text->size] = '\0';
    text->data = data;
    text->room = room;
    return true;
}

void rubus__text_add_n(rubus__text *text, const char *s, size_t n)
{
    if (n == 0 || !text_grow(text, n)) {
        return;
    }
    memcpy(text->data + text->size, s, n);
    text->size += n;
    text->data[text->size] = '\0';
}

void rubus__text_add(rubus__text *text, const char *s)
{
    rubus__text_add_n(text, s, strlen(s));
}

void rubus__text_format(rubus__text *text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    const int n = rubus__vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (n > 0 && text_grow(text, (size_t)n)) {
        rubus__vsnprintf(text->data + text->size, (size_t)n + 1, fmt, again);
        text->size += (size_t)n;
    }
    va_end(again);
}

char *rubus__text_take(rubus__text *text)
{
    char *data = NULL;
    if (!text->failed && text_grow(text, 0)) {
        data = text->data;
        rubus__text_init(text);
        return data;
    }
    rubus__text_fini(text);
    return NULL;
}
