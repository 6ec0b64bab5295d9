/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and titles as every format can take them: one line of valid UTF-8. Control
 * characters become blanks, bytes that are no UTF-8 become U+FFFD, so that XML parsers
 * and the drawing library accept whatever a caller passes.
 */
#include "config.h"

#include "libcore/output/writers.h"

#include <string.h>

/* Bytes of the character at s; 0 if there is none (also overlong ones, surrogates). */
static size_t character_size(const unsigned char *s)
{
    if (s[0] < 0x80) {
        return 1;
    }
    const size_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0u) != 0x80) { /* also ends at the NUL */
            return 0;
        }
    }
    const bool wrong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
                       (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F);
    return wrong ? 0 : n;
}

/* U+FFFE and U+FFFF have no place in XML; C1 controls do not print. */
static bool is_unprintable(const unsigned char *s, size_t n)
{
    return (n == 1 && (s[0] < 0x20 || s[0] == 0x7F)) ||
           (n == 2 && s[0] == 0xC2 && s[1] < 0xA0) ||
           (n == 3 && s[0] == 0xEF && s[1] == 0xBF && s[2] >= 0xBE);
}

char *rubus__label(const char *text, const char *otherwise)
{
    const unsigned char *s =
        (const unsigned char *)(text == NULL || text[0] == '\0' ? otherwise : text);
    rubus__text out;
    rubus__text_init(&out);
    while (*s != '\0') {
        const size_t n = character_size(s);
        if (n == 0) {
            rubus__text_add(&out, "\xEF\xBF\xBD");
            s++;
            continue;
        }
        if (is_unprintable(s, n)) {
            rubus__text_add(&out, " ");
        } else {
            rubus__text_add_n(&out, (const char *)s, n);
        }
        s += n;
    }
    char *label = rubus__text_take(&out);
    rubus__text_fini(&out);
    return label;
}
