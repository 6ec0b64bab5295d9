/* SPDX-License-Identifier: Apache-2.0 */
/* What VTK's XML files have in common: their head, texts in attributes, names of types,
 * sizes before raw data. */
#include "config.h"

#include "libcore/output/writers.h"

const char *rubus__vtk_type(int32_t type)
{
    switch (type) {
    case RUBUS_F32:
        return "Float32";
    case RUBUS_F64:
        return "Float64";
    case RUBUS_I32:
        return "Int32";
    case RUBUS_I64:
        return "Int64";
    default:
        return "UInt8";
    }
}

void rubus__xml_attribute(rubus__text *out, const char *s)
{
    for (; *s != '\0'; s++) {
        switch (*s) {
        case '&':
            rubus__text_add(out, "&amp;");
            break;
        case '<':
            rubus__text_add(out, "&lt;");
            break;
        case '>':
            rubus__text_add(out, "&gt;");
            break;
        case '"':
            rubus__text_add(out, "&quot;");
            break;
        default:
            rubus__text_add_n(out, s, 1);
            break;
        }
    }
}

/* Text inside an XML comment, where only "--" must not stand. */
static void add_comment(rubus__text *out, const char *s)
{
    for (; *s != '\0'; s++) {
        rubus__text_add_n(out, s, 1);
        if (s[0] == '-' && s[1] == '-') {
            rubus__text_add(out, " ");
        }
    }
}

void rubus__xml_start(rubus__text *out, const char *title)
{
    rubus__text_add(out, "<?xml version=\"1.0\"?>\n");
    if (title != NULL) {
        rubus__text_add(out, "<!-- ");
        add_comment(out, title);
        rubus__text_add(out, " -->\n");
    }
}

void rubus__xml_block_size(rubus__text *out, uint64_t size)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(size >> (8 * i));
    }
    rubus__text_add_n(out, (const char *)bytes, sizeof(bytes));
}
