/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar of a backend spec:
 *
 *   SPEC = ITEM { (";" | ",") ITEM }      ITEM = NAME [":" DEVICE] {":" KEY "=" VALUE}
 *
 * Letter case and blanks around a part do not matter. Everything else does: each error
 * gives the position (1 is the first character) and what would be right.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

#include <string.h>

enum { ITEMS_MOST = 64, QUOTE_MOST = 200, NAME_MOST = 63 };

/* A piece of the text: [first, end). */
typedef struct piece {
    const char *first;
    const char *end;
} piece;

typedef struct parser {
    const char *text;
} parser;

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t size_of(piece p)
{
    return (size_t)(p.end - p.first);
}

static piece trim(piece p)
{
    while (p.first < p.end && is_blank(*p.first)) {
        p.first++;
    }
    while (p.first < p.end && is_blank(p.end[-1])) {
        p.end--;
    }
    return p;
}

static char *lower_copy(piece p)
{
    char *copy = rubus__strndup(p.first, size_of(p));
    for (char *at = copy; at != NULL && *at != '\0'; at++) {
        if (*at >= 'A' && *at <= 'Z') {
            *at = (char)(*at - 'A' + 'a');
        }
    }
    return copy;
}

static rubus_status wrong(const parser *p, const char *at, const char *fmt, ...)
    RUBUS_PRINTF(3, 4);

static rubus_status wrong(const parser *p, const char *at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    rubus__vfail(RUBUS_EINVAL, fmt, args);
    va_end(args);
    char quoted[QUOTE_MOST + 1];
    rubus__snprintf(quoted, sizeof quoted, "%s", p->text);
    for (char *c = quoted; *c != '\0'; c++) {
        *c = *c == '\n' ? '?' : *c; /* a message has lines of its own */
    }
    return rubus__fail_prefix(RUBUS_EINVAL, "backend '%s', position %d", quoted,
                              (int)(at - p->text) + 1);
}

static rubus_status parse_name(const parser *p, piece name, rubus__item *item)
{
    if (size_of(name) == 0) {
        return wrong(p, name.first, "a backend name is missing here; 'auto' is one");
    }
    for (const char *at = name.first; at < name.end; at++) {
        if (*at == '/' || *at == '.') {
            return wrong(
                p, at,
                "this is not a backend name: names are like 'threads' or 'vulkan'; a "
                "plugin file is found by its name rubus-NAME.so in the folders of "
                "RUBUS_PLUGIN_PATH");
        }
        if (!is_letter(*at) && (at == name.first || (!is_digit(*at) && *at != '_'))) {
            return wrong(p, at, "'%c' cannot stand here in a backend name",
                         *at == '\n' ? '?' : *at);
        }
    }
    if (size_of(name) > NAME_MOST) {
        return wrong(p, name.first, "a backend name has at most %d letters", NAME_MOST);
    }
    item->name = lower_copy(name);
    if (item->name != NULL && strcmp(item->name, "cpu") == 0) {
        rubus__free(item->name);
        item->name = rubus__strdup("threads");
    }
    return item->name == NULL ? RUBUS_ENOMEM : RUBUS_OK;
}

static rubus_status parse_device(const parser *p, piece device, rubus__item *item)
{
    if (strcmp(item->name, "auto") == 0) {
        return wrong(p, device.first, "'auto' takes no device: it chooses one");
    }
    bool digits = true;
    for (const char *at = device.first; at < device.end; at++) {
        const bool fits =
            is_letter(*at) || is_digit(*at) || (*at != '\0' && strchr("-_. ", *at));
        if (!fits) {
            return wrong(
                p, at,
                "'%c' cannot stand in a device: write its number, or a part of its "
                "name in letters, digits, blanks and -_.",
                *at);
        }
        digits = digits && is_digit(*at);
    }
    if (digits) {
        int64_t number = 0;
        char text[24];
        rubus__snprintf(text, sizeof text, "%.*s",
                        (int)(size_of(device) < 23 ? size_of(device) : 23), device.first);
        if (!rubus__parse_i64(text, &number) || number > UINT32_MAX) {
            return wrong(p, device.first, "no device has so large a number");
        }
        item->has_number = true;
        item->number = (uint32_t)number;
        return RUBUS_OK;
    }
    item->part = rubus__strndup(device.first, size_of(device));
    return item->part == NULL ? RUBUS_ENOMEM : RUBUS_OK;
}

static int hex_digit(char c)
{
    if (is_digit(c)) {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static rubus_status parse_uuid(const parser *p, piece value, rubus__item *item)
{
    size_t n = 0;
    for (const char *at = value.first; at < value.end; at++) {
        const int digit = hex_digit(*at);
        if (*at == '-') {
            continue;
        }
        if (digit < 0 || n == 32) {
            return wrong(p, at, "a uuid is 32 hexadecimal digits, with or without '-'");
        }
        item->uuid[n / 2] = (uint8_t)(item->uuid[n / 2] << 4 | digit);
        n++;
    }
    if (n != 32) {
        return wrong(p, value.first, "a uuid is 32 hexadecimal digits, this has %d",
                     (int)n);
    }
    item->has_uuid = true;
    return RUBUS_OK;
}

/* The key, if there is such a one; else the error. */
static rubus_status check_key(const parser *p, piece at, const char *key)
{
    static const char *const keys[] = {"threads", "validate", "descriptors",
                                       "fp64",    "uuid",     "cap.NAME"};
    enum { NKEY = sizeof keys / sizeof keys[0] };
    if (strncmp(key, "cap.", 4) == 0) {
        return rubus__caps_known(key + 4) ? RUBUS_OK
                                          : wrong(p, at.first,
                                                  "there is no capability '%.60s' that "
                                                  "can be lowered; there are %s",
                                                  key + 4, rubus__caps_names());
    }
    for (int i = 0; i < NKEY - 1; i++) {
        if (strcmp(key, keys[i]) == 0) {
            return RUBUS_OK;
        }
    }
    const char *near = rubus__nearest(key, keys, NKEY - 1);
    return wrong(
        p, at.first,
        "unknown key '%.60s'%s%s%s; the keys are threads, validate, descriptors, fp64, "
        "uuid and cap.NAME",
        key, near == NULL ? "" : " (did you mean '", near == NULL ? "" : near,
        near == NULL ? "" : "'?)");
}

static rubus_status parse_value(const parser *p, const char *key, piece value,
                                rubus__item *item)
{
    if (size_of(value) == 0) {
        return wrong(p, value.first, "the value of '%s' is missing", key);
    }
    if (strcmp(key, "uuid") == 0) {
        return parse_uuid(p, value, item);
    }
    char text[64];
    rubus__snprintf(text, sizeof text, "%.*s",
                    (int)(size_of(value) < 63 ? size_of(value) : 63), value.first);
    char normal[32];
    const char *wanted = NULL;
    if (rubus__option_normal(key, text, normal, &wanted) != RUBUS_OK) {
        return wrong(p, value.first, "'%s' is no value of '%s': it must be %s", text, key,
                     wanted);
    }
    return rubus__options_set(&item->options, key, normal);
}

static rubus_status parse_key(const parser *p, piece whole, rubus__item *item)
{
    const char *equals = memchr(whole.first, '=', size_of(whole));
    const piece key_at = trim((piece){whole.first, equals});
    const piece value = trim((piece){equals + 1, whole.end});
    if (size_of(key_at) == 0) {
        return wrong(p, whole.first, "a key is missing before '='");
    }
    char *key = lower_copy(key_at);
    if (key == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus_status st = check_key(p, key_at, key);
    const bool twice = rubus__options_get(&item->options, key) != NULL ||
                       (item->has_uuid && strcmp(key, "uuid") == 0);
    if (st == RUBUS_OK && twice) {
        st = wrong(p, key_at.first, "'%s' is given twice", key);
    }
    if (st == RUBUS_OK) {
        st = parse_value(p, key, value, item);
    }
    rubus__free(key);
    return st;
}

static rubus_status parse_item(const parser *p, piece whole, rubus__item *item)
{
    const piece trimmed = trim(whole);
    item->text = rubus__strndup(trimmed.first, size_of(trimmed));
    if (item->text == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus_status st = RUBUS_OK;
    const char *at = whole.first;
    for (int part = 0; st == RUBUS_OK; part++) {
        const char *colon = memchr(at, ':', (size_t)(whole.end - at));
        const piece here = trim((piece){at, colon == NULL ? whole.end : colon});
        if (part == 0) {
            st = parse_name(p, here, item);
        } else if (memchr(here.first, '=', size_of(here)) != NULL) {
            st = parse_key(p, here, item);
        } else if (size_of(here) == 0) {
            st = wrong(p, here.first,
                       "nothing stands here; a device or KEY=VALUE follows ':'");
        } else if (part == 1) {
            st = parse_device(p, here, item);
        } else {
            st = wrong(p, here.first,
                       "KEY=VALUE must stand here; a device comes right after "
                       "the name");
        }
        if (colon == NULL) {
            break;
        }
        at = colon + 1;
    }
    return st;
}

rubus_status rubus__spec_parse(const char *text, rubus__spec *out)
{
    const parser p = {text};
    size_t n = 1;
    for (const char *at = text; *at != '\0'; at++) {
        n += *at == ';' || *at == ',';
    }
    out->n = 0;
    out->item = NULL;
    if (n > ITEMS_MOST) {
        return rubus__fail(RUBUS_EINVAL, "backend '%.*s': more than %d items", QUOTE_MOST,
                           text, ITEMS_MOST);
    }
    out->item = rubus__alloc_array(n, sizeof out->item[0]);
    if (out->item == NULL) {
        return RUBUS_ENOMEM;
    }
    const char *at = text;
    rubus_status st = RUBUS_OK;
    while (out->n < n && st == RUBUS_OK) {
        const size_t size = strcspn(at, ";,");
        const piece whole = {at, at + size};
        if (size_of(trim(whole)) == 0) {
            st = wrong(&p, at, "an item of the list is empty");
        } else {
            st = parse_item(&p, whole, &out->item[out->n++]);
        }
        at += size + 1;
    }
    if (st != RUBUS_OK) {
        rubus__spec_fini(out);
    }
    return st;
}

void rubus__spec_fini(rubus__spec *spec)
{
    for (size_t i = 0; i < spec->n; i++) {
        rubus__item *item = &spec->item[i];
        rubus__free(item->text);
        rubus__free(item->name);
        rubus__free(item->part);
        rubus__options_fini(&item->options);
    }
    rubus__free(spec->item);
    spec->item = NULL;
    spec->n = 0;
}
