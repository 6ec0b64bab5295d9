/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the one object that a plugin exports, before any of its code runs: is it ours,
 * of our ABI, complete, and does it carry the name of its file. The ABI numbers stand at
 * places that never change, so even a plugin of a far future is told what it is.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

#include <string.h>

enum { SIZE_ABSURD = 1 << 20 };

static bool is_text(const char *text)
{
    return text != NULL && text[0] != '\0';
}

static rubus_status check_abi(rubus__plugin *plugin, const rubus_plugin_desc *desc)
{
    if (desc->abi_major != RUBUS_ABI_MAJOR) {
        return rubus__plugin_refuse(
            plugin, "descriptor",
            "it speaks plugin ABI %u.%u, this library speaks %u.%u; "
            "rebuild it against this library's headers",
            desc->abi_major, desc->abi_minor, RUBUS_ABI_MAJOR, RUBUS_ABI_MINOR);
    }
    if (desc->abi_minor_min > RUBUS_ABI_MINOR) {
        return rubus__plugin_refuse(
            plugin, "descriptor",
            "it needs plugin ABI %u.%u or later, this library speaks "
            "%u.%u; upgrade the library or take an older plugin",
            desc->abi_major, desc->abi_minor_min, RUBUS_ABI_MAJOR, RUBUS_ABI_MINOR);
    }
    return RUBUS_OK;
}

static rubus_status check_texts(rubus__plugin *plugin, const rubus_plugin_desc *desc,
                                const char *expected)
{
    if (!is_text(desc->name) || !is_text(desc->version) || !is_text(desc->vendor) ||
        !is_text(desc->licence)) {
        return rubus__plugin_refuse(
            plugin, "descriptor",
            "its descriptor lacks name, version, vendor or licence");
    }
    if (strcmp(desc->name, expected) != 0) {
        return rubus__plugin_refuse(
            plugin, "descriptor",
            "it calls itself '%.63s': a plugin of that name is a file "
            "rubus-%.63s.so",
            desc->name, desc->name);
    }
    if (desc->open == NULL) {
        return rubus__plugin_refuse(plugin, "descriptor",
                                    "its descriptor has no open function");
    }
    return RUBUS_OK;
}

rubus_status rubus__descriptor_check(rubus__plugin *plugin, const rubus_plugin_desc *desc,
                                     const char *expected)
{
    if (desc->magic != RUBUS_PLUGIN_MAGIC) {
        return rubus__plugin_refuse(
            plugin, "descriptor",
            "its descriptor does not begin with RUBUS_PLUGIN_MAGIC "
            "(0x%08x stands there)",
            desc->magic);
    }
    const size_t abi_end = offsetof(rubus_plugin_desc, flags);
    if (desc->struct_size < abi_end || desc->struct_size > SIZE_ABSURD) {
        return rubus__plugin_refuse(plugin, "descriptor",
                                    "its descriptor claims a size of %u bytes",
                                    desc->struct_size);
    }
    plugin->abi_major = desc->abi_major;
    plugin->abi_minor = desc->abi_minor;
    rubus_status st = check_abi(plugin, desc);
    if (st != RUBUS_OK || plugin->state != RUBUS__USABLE) {
        return st;
    }
    if (desc->struct_size < sizeof *desc) {
        return rubus__plugin_refuse(plugin, "descriptor",
                                    "its descriptor has %u bytes, the least is %zu; set "
                                    "struct_size to sizeof(rubus_plugin_desc)",
                                    desc->struct_size, sizeof *desc);
    }
    st = check_texts(plugin, desc, expected);
    if (st == RUBUS_OK && plugin->state == RUBUS__USABLE) {
        plugin->desc = desc;
    }
    return st;
}
