/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is to be examined, and what it says of itself: the file, its descriptor, the
 * capabilities of the device and the slots that the plugin fills. From these facts alone,
 * never from an error, follows which checks are skipped.
 */
#include "config.h"

#include "conform.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "conform_direct.h"

/* --- what the user wrote ---------------------------------------------------------- */

static const char file_prefix[] = "rubus-";
static const char file_suffix[] = ".so";

/* FILE.so, perhaps with options behind it. A link keeps its own name and folder. */
static int parse_file(const char *operand, const char *end, conform_facts *facts)
{
    char given[PATH_MAX];
    char folder[PATH_MAX];
    const size_t given_size = (size_t)(end - operand);
    if (given_size >= sizeof given) {
        return cli_fail(CLI_DEVICE, "conformance: the path is too long");
    }
    memcpy(given, operand, given_size);
    given[given_size] = '\0';
    if (access(given, F_OK) != 0) {
        return cli_fail(CLI_DEVICE, "conformance: %s: %s", given, strerror(errno));
    }
    char *slash = strrchr(given, '/');
    const char *base = slash != NULL ? slash + 1 : given;
    const size_t prefix = strlen(file_prefix);
    const size_t size = strlen(base);
    if (strncmp(base, file_prefix, prefix) != 0 || size <= prefix + strlen(file_suffix)) {
        return cli_fail(CLI_DEVICE,
                        "conformance: %s: a plugin is called rubus-NAME.so; rename it",
                        given);
    }
    snprintf(facts->name, sizeof facts->name, "%.*s",
             (int)(size - prefix - strlen(file_suffix)), base + prefix);
    snprintf(facts->spec, sizeof facts->spec, "%s%s", facts->name, end);
    char leaf[NAME_MAX + 1];
    snprintf(leaf, sizeof leaf, "%s", base);
    if (slash != NULL) {
        slash[slash == given] = '\0';
    }
    if (realpath(slash != NULL ? given : ".", folder) == NULL ||
        strlen(folder) + strlen(leaf) + 2 > sizeof facts->file) {
        return cli_fail(CLI_DEVICE, "conformance: %s: no usable path", operand);
    }
    snprintf(facts->folder, sizeof facts->folder, "%s", folder);
    snprintf(facts->file, sizeof facts->file, "%s/%s", folder, leaf);
    return CLI_DONE;
}

int conform_facts_parse(const char *operand, conform_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    const char *suffix = strstr(operand, file_suffix);
    const char *end = suffix != NULL ? suffix + strlen(file_suffix) : NULL;
    if (end != NULL && (*end == '\0' || *end == ':')) {
        return parse_file(operand, end, facts);
    }
    if (strchr(operand, '/') != NULL) {
        return cli_fail(CLI_DEVICE, "conformance: %s is no file rubus-NAME.so", operand);
    }
    if (strpbrk(operand, ";,") != NULL || strcmp(operand, "auto") == 0) {
        return cli_usage("conformance", "'%s': name one backend", operand);
    }
    const size_t blank = strspn(operand, " \t");
    const size_t length = strcspn(operand + blank, ": \t");
    if (length == 0 || length >= sizeof facts->name ||
        strlen(operand) >= sizeof facts->spec) {
        return cli_usage("conformance", "'%s' is no backend", operand);
    }
    snprintf(facts->spec, sizeof facts->spec, "%s", operand);
    for (size_t i = 0; i < length; i++) {
        const char c = operand[blank + i];
        facts->name[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    if (strcmp(facts->name, "cpu") == 0) {
        snprintf(facts->name, sizeof facts->name, "threads");
    }
    return CLI_DONE;
}

/* --- options ---------------------------------------------------------------------- */

/* ":KEY=VALUE" of the spec. */
static bool spec_option(const char *spec, const char *key, char out[256])
{
    const size_t n = strlen(key);
    for (const char *at = strchr(spec, ':'); at != NULL; at = strchr(at, ':')) {
        at += 1 + strspn(at + 1, " \t");
        if (strncmp(at, key, n) == 0 && at[n] == '=') {
            snprintf(out, 256, "%.*s", (int)strcspn(at + n + 1, ": \t"), at + n + 1);
            return true;
        }
    }
    return false;
}

const char *conform_option(const conform_facts *facts, const char *key, char out[256])
{
    static const char *const variables[][2] = {
        {"threads", "RUBUS_NUM_THREADS"}, {"cc", "RUBUS_CC"}, {NULL, NULL}};
    if (spec_option(facts->spec, key, out)) {
        return out;
    }
    for (int i = 0; variables[i][0] != NULL; i++) {
        const char *value = getenv(variables[i][1]);
        if (strcmp(variables[i][0], key) == 0 && value != NULL && value[0] != '\0') {
            snprintf(out, 256, "%s", value);
            return out;
        }
    }
    return NULL;
}

/* The device as the options make it: poorer. */
static void lower_caps(conform_facts *facts)
{
    rubus_caps *caps = &facts->caps;
    const struct {
        const char *key;
        uint32_t *narrow;
        uint64_t *wide;
    } fields[] = {
        {"cap.fp64", &caps->fp64, NULL},
        {"cap.int64", &caps->int64, NULL},
        {"cap.bool8", &caps->bool8, NULL},
        {"cap.atomic_f32_add", &caps->atomic_f32_add, NULL},
        {"cap.atomic_f64_add", &caps->atomic_f64_add, NULL},
        {"cap.lane_width", &caps->lane_width, NULL},
        {"cap.offset_align", &caps->offset_align, NULL},
        {"cap.mem_total", NULL, &caps->mem_total},
        {"cap.max_alloc", NULL, &caps->max_alloc},
        {"cap.max_buffer", NULL, &caps->max_buffer},
    };
    char value[256];
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (spec_option(facts->spec, fields[i].key, value)) {
            const unsigned long long number = strtoull(value, NULL, 10);
            if (fields[i].narrow != NULL) {
                *fields[i].narrow = (uint32_t)number;
            } else {
                *fields[i].wide = number;
            }
        }
    }
    if (spec_option(facts->spec, "fp64", value) && strcmp(value, "off") == 0) {
        caps->fp64 = 0;
    }
}

/* --- asking ----------------------------------------------------------------------- */

/* The plugin of that name, usable or else refused, in the library's list. */
static bool find_plugin(conform_facts *facts, uint32_t *out_at)
{
    uint32_t n = 0;
    if (rubus_plugin_count(&n) != RUBUS_OK) {
        return false;
    }
    const char *base = strrchr(facts->file, '/');
    for (int32_t refused = 0; refused <= 1; refused++) {
        for (uint32_t at = 0; at < n; at++) {
            rubus_plugin_info info = {.struct_size = sizeof info};
            if (rubus_plugin_info_get(at, &info) != RUBUS_OK || info.refused != refused) {
                continue;
            }
            const bool same = strcmp(info.name, facts->name) == 0 ||
                              (base != NULL && strcmp(info.name, base + 1) == 0);
            if (!same) {
                continue;
            }
            facts->listed = true;
            facts->refused = refused != 0;
            if (info.path[0] == '/') {
                snprintf(facts->file, sizeof facts->file, "%s", info.path);
            }
            snprintf(facts->version, sizeof facts->version, "%s", info.version);
            snprintf(facts->vendor, sizeof facts->vendor, "%s", info.vendor);
            snprintf(facts->licence, sizeof facts->licence, "%s", info.licence);
            facts->abi_major = info.abi_major;
            facts->abi_minor = info.abi_minor;
            if (facts->refused) {
                facts->status = RUBUS_EPLUGIN;
                snprintf(facts->reason, sizeof facts->reason, "%s: %s", info.stage,
                         info.reason);
            }
            *out_at = at;
            return true;
        }
    }
    return false;
}

static void find_slots(conform_facts *facts, uint32_t at)
{
    const char *name = NULL;
    int32_t own = 0;
    for (uint32_t slot = 0;
         slot < 32 && rubus_plugin_slot(at, slot, &name, &own) == RUBUS_OK; slot++) {
        facts->native |= own != 0 ? 1u << slot : 0;
    }
}

/* What the library tells of a device; the rest is that of the built-in interpreter. */
static void caps_of_library(conform_facts *facts, uint32_t at)
{
    rubus_device_info info = {.struct_size = sizeof info};
    if (rubus_plugin_device_info(at, facts->device, &info) != RUBUS_OK) {
        return;
    }
    facts->caps = (rubus_caps){
        .struct_size = sizeof(rubus_caps),
        .kind = info.kind,
        .fp64 = info.fp64,
        .int64 = info.int64,
        .bool8 = 2,
        .atomic_f32_add = info.atomic_f32_add,
        .atomic_f64_add = info.atomic_f64_add,
        .lane_width = info.lane_width,
        .memory = info.memory,
        .offset_align = 1,
        .mem_total = info.mem_total,
        .max_alloc = info.max_alloc,
        .max_buffer = info.max_buffer,
    };
    memcpy(facts->caps.name, info.name, sizeof facts->caps.name);
    memcpy(facts->caps.driver, info.driver, sizeof facts->caps.driver);
    memcpy(facts->caps.dialect, info.dialect, sizeof facts->caps.dialect);
    memcpy(facts->caps.uuid, info.uuid, sizeof facts->caps.uuid);
}

void conform_facts_survey(conform_facts *facts)
{
    uint32_t at = 0;
    if (!find_plugin(facts, &at)) {
        // No such name, or no such file: the library's words say what there is.
        rubus_context *none = NULL;
        facts->status = rubus_context_create(facts->spec, &none);
        snprintf(facts->reason, sizeof facts->reason, "%s", rubus_error_text());
        return;
    }
    if (facts->refused) {
        return;
    }
    snprintf(facts->reason, sizeof facts->reason, "it did not come back from starting");
    facts->status = RUBUS_EPLUGIN;
    rubus_context *context = NULL;
    facts->status = rubus_context_create(facts->spec, &context);
    if (facts->status != RUBUS_OK) {
        snprintf(facts->reason, sizeof facts->reason, "%s", rubus_error_text());
        return;
    }
    rubus_context_info info = {.struct_size = sizeof info};
    if (rubus_context_info_get(context, &info) == RUBUS_OK) {
        facts->device = info.device_index;
    }
    find_slots(facts, at);
    if (facts->file[0] != '\0') {
        conform_direct_caps(facts, facts->device, &facts->caps);
    } else {
        caps_of_library(facts, at);
    }
    lower_caps(facts);
    rubus_context_destroy(context);
    facts->opened = true;
    facts->reason[0] = '\0';
}

/* --- skipping --------------------------------------------------------------------- */

bool conform_slot_native(const conform_facts *facts, const char *slot)
{
    uint32_t at = 0;
#define SLOT_BIT(member, required, since, summary)                                       \
    if (strcmp(slot, #member) == 0) {                                                    \
        return (facts->native >> at & 1u) != 0;                                          \
    }                                                                                    \
    at++;
    RUBUS_SLOT_LIST(SLOT_BIT)
#undef SLOT_BIT
    return false;
}

const char *conform_skip_reason(const conform_facts *facts, unsigned needs)
{
    const rubus_caps *caps = &facts->caps;
    if ((needs & CONFORM_NEEDS_FILE) != 0 && facts->file[0] == '\0') {
        return "built in: there is no file";
    }
    if (!facts->opened) {
        return NULL; // nothing is declared; the check says why it fails
    }
    static const struct {
        unsigned need;
        const char *slot;
        const char *reason;
    } slots[] = {
        {CONFORM_NEEDS_FILL, "fill", "slot fill: a stub of the library"},
        {CONFORM_NEEDS_COPY, "copy", "slot copy: a stub of the library"},
        {CONFORM_NEEDS_MAP, "map", "slot map: a stub of the library"},
    };
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
        if ((needs & slots[i].need) != 0 && !conform_slot_native(facts, slots[i].slot)) {
            return slots[i].reason;
        }
    }
    const struct {
        unsigned need;
        bool there;
        const char *reason;
    } abilities[] = {
        {CONFORM_NEEDS_F64, caps->fp64 != 0, "capability fp64: 0"},
        {CONFORM_NEEDS_BOOL, caps->bool8 != 0, "capability bool8: 0"},
        {CONFORM_NEEDS_INT64, caps->int64 != 0, "capability int64: 0"},
        {CONFORM_NEEDS_ADD_F32, caps->atomic_f32_add != 0,
         "capability atomic_f32_add: 0"},
        {CONFORM_NEEDS_ADD_F64, caps->atomic_f64_add != 0 && caps->fp64 != 0,
         "capability atomic_f64_add: 0"},
        {CONFORM_NEEDS_C, strcmp(caps->dialect, "c") == 0, "dialect: not c"},
    };
    for (size_t i = 0; i < sizeof abilities / sizeof abilities[0]; i++) {
        if ((needs & abilities[i].need) != 0 && !abilities[i].there) {
            return abilities[i].reason;
        }
    }
    return NULL;
}
