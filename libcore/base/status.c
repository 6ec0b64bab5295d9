/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the status codes, and the error text of the calling thread.
 *
 * The text lies in one of two thread-local buffers. A new text is formatted into the
 * other one, so a message may quote the present message, and nothing is allocated:
 * reporting that memory ran out must not need memory.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <string.h>

enum { TEXT_ROOM = 16 * 1024 };

static _Thread_local char text_buffer[2][TEXT_ROOM];
static _Thread_local int text_at;
static _Thread_local bool text_due;
static _Thread_local bool text_held;

#define STATUS_NAME(name, value, meaning) {value, "RUBUS_" #name, meaning},
static const struct {
    rubus_status status;
    const char *name;
    const char *meaning;
} statuses[] = {{RUBUS_OK, "RUBUS_OK", "done"}, RUBUS_STATUS_LIST(STATUS_NAME)};

enum { NSTATUS = sizeof statuses / sizeof statuses[0] };

RUBUS_API const char *rubus_status_name(rubus_status status)
{
    for (int i = 0; i < NSTATUS; i++) {
        if (statuses[i].status == status) {
            return statuses[i].name;
        }
    }
    return "RUBUS_?";
}

RUBUS_API const char *rubus_status_text(rubus_status status)
{
    for (int i = 0; i < NSTATUS; i++) {
        if (statuses[i].status == status) {
            return statuses[i].meaning;
        }
    }
    return "not a status of this library";
}

RUBUS_API const char *rubus_error_text(void)
{
    return text_buffer[text_at];
}

/* Ends a text that did not fit with an ellipsis, never with half a UTF-8 character. */
static void mark_cut(char *text)
{
    size_t end = TEXT_ROOM - 1 - strlen("...");
    while (end > 0 && ((unsigned char)text[end] & 0xc0u) == 0x80u) {
        end--;
    }
    memcpy(text + end, "...", sizeof "...");
}

/* Bytes of the UTF-8 character that starts at `at`; 0: none does. */
static size_t utf8_length(const unsigned char *at)
{
    const size_t n = at[0] < 0x80    ? 1
                     : at[0] < 0xc2  ? 0
                     : at[0] < 0xe0  ? 2
                     : at[0] < 0xf0  ? 3
                     : at[0] <= 0xf4 ? 4
                                     : 0;
    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xc0u) != 0x80u) {
            return 0;
        }
    }
    return n;
}

/* Texts quote what users gave: bytes that would steer a terminal, or are no characters,
 * become question marks. */
static void clean(char *text)
{
    unsigned char *at = (unsigned char *)text;
    while (*at != '\0') {
        const size_t n = utf8_length(at);
        const bool control = (*at < ' ' && *at != '\n' && *at != '\t') || *at == 0x7f;
        if (n == 0 || control) {
            *at = '?';
        }
        at += n == 0 ? 1 : n;
    }
}

static void text_set(const char *prefix, const char *fmt, va_list args)
{
    if (text_held) {
        return;
    }
    char *out = text_buffer[1 - text_at];
    int n = rubus__vsnprintf(out, TEXT_ROOM, fmt, args);
    if (n < 0) {
        // a wide character that the C locale cannot write: the format itself still helps
        n = rubus__snprintf(out, TEXT_ROOM, "%s", fmt);
    }
    if (n >= TEXT_ROOM) {
        mark_cut(out);
    } else if (prefix != NULL) {
        const size_t used = (size_t)n;
        const int m = rubus__snprintf(out + used, TEXT_ROOM - used, ": %s", prefix);
        if (m >= (int)(TEXT_ROOM - used)) {
            mark_cut(out);
        }
    }
    clean(out);
    text_at = 1 - text_at;
    text_due = false;
}

rubus_status rubus__vfail(rubus_status st, const char *fmt, va_list args)
{
    text_set(NULL, fmt, args);
    return st;
}

// In parentheses: for the analyser, base.h has macros of these names.
rubus_status(rubus__fail)(rubus_status st, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    text_set(NULL, fmt, args);
    va_end(args);
    return st;
}

rubus_status(rubus__fail_prefix)(rubus_status st, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    text_set(text_buffer[text_at], fmt, args);
    va_end(args);
    return st;
}

rubus_status rubus__need(const char *what, ...)
{
    rubus_status st = RUBUS_OK;
    va_list args;
    va_start(args, what);
    const char *name = va_arg(args, const char *);
    while (st == RUBUS_OK && name != NULL) {
        if (va_arg(args, const void *) == NULL) {
            st = rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what, name);
        }
        name = va_arg(args, const char *);
    }
    va_end(args);
    return st;
}

rubus_status rubus__need_struct(const char *what, const char *name, const void *given)
{
    size_t size = 0;
    if (given != NULL) {
        memcpy(&size, given, sizeof(size)); // the first field of all of them
    }
    if (size >= sizeof(size)) {
        return RUBUS_OK;
    }
    return rubus__fail(RUBUS_EINVAL,
                       given == NULL ? "%s: %s is NULL" : "%s: set struct_size of %s",
                       what, name);
}

void rubus__error_clear(void)
{
    text_buffer[text_at][0] = '\0';
}

void rubus__error_expect(void)
{
    text_due = true;
}

bool rubus__error_missing(void)
{
    return text_due || text_buffer[text_at][0] == '\0';
}

void rubus__error_hold(bool hold)
{
    text_held = hold;
}

bool rubus__error_held(void)
{
    return text_held;
}

char *rubus__error_take(void)
{
    char *text = rubus__strdup(text_buffer[text_at]);
    rubus__error_clear();
    return text;
}

void rubus__error_restore(const char *text)
{
    if (text != NULL) {
        rubus__fail(RUBUS_OK, "%s", text);
    }
}

size_t rubus__type_size(int32_t type)
{
    switch (type) {
    case RUBUS_F32:
    case RUBUS_I32:
        return 4;
    case RUBUS_F64:
    case RUBUS_I64:
        return 8;
    case RUBUS_BOOL:
        return 1;
    default:
        return 0;
    }
}

const char *rubus__type_name(int32_t type)
{
    switch (type) {
    case RUBUS_F32:
        return "f32";
    case RUBUS_F64:
        return "f64";
    case RUBUS_I32:
        return "i32";
    case RUBUS_I64:
        return "i64";
    case RUBUS_BOOL:
        return "bool";
    default:
        return "?";
    }
}
