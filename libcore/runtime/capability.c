/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capabilities of a device: asked, checked for sense, and lowered where the spec asks for
 * a poorer device than there is (tests of the ways around a missing ability).
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

#include <string.h>

/* Fields that cap.NAME can lower. A limit of 0 is "not known", so any number lowers it;
 * for an alignment, lower means that less is possible: a larger power of two. */
enum { ABILITY, LIMIT, ALIGNMENT };
typedef struct field {
    const char *name;
    size_t offset;
    size_t size;
    int kind;
} field;

#define FIELDS(X)                                                                        \
    X(fp64, ABILITY)                                                                     \
    X(int64, ABILITY)                                                                    \
    X(bool8, ABILITY)                                                                    \
    X(atomic_f32_add, ABILITY)                                                           \
    X(atomic_f64_add, ABILITY)                                                           \
    X(lane_width, ABILITY)                                                               \
    X(offset_align, ALIGNMENT)                                                           \
    X(mem_total, LIMIT)                                                                  \
    X(max_alloc, LIMIT)                                                                  \
    X(max_buffer, LIMIT)
#define FIELD(name, kind)                                                                \
    {#name, offsetof(rubus_caps, name), sizeof(((rubus_caps *)0)->name), kind},
static const field fields[] = {FIELDS(FIELD)};
enum { NFIELD = sizeof fields / sizeof fields[0] };

static const field *field_find(const char *name)
{
    for (int i = 0; i < NFIELD; i++) {
        if (strcmp(fields[i].name, name) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

/* Limits that only a backend of the dialect "glsl" knows: it lowers them itself. X(name,
 * what stands behind it in a list) */
#define GLSL_LIMITS(X)                                                                   \
    X("max_binding", ", ")                                                               \
    X("groups", ", ")                                                                    \
    X("subgroup", ", ")                                                                  \
    X("atomics", ", ")                                                                   \
    X("push", "")
#define GLSL_LIMIT(name, after) name,
static const char *const glsl_limits[] = {GLSL_LIMITS(GLSL_LIMIT)};

bool rubus__caps_known(const char *name)
{
    for (size_t i = 0; i < sizeof glsl_limits / sizeof glsl_limits[0]; i++) {
        if (strcmp(name, glsl_limits[i]) == 0) {
            return true;
        }
    }
    return field_find(name) != NULL;
}

#define FIELD_WORD(name, kind) #name ", "
#define GLSL_WORD(name, after) name after

const char *rubus__caps_names(void)
{
    return FIELDS(FIELD_WORD) "and for glsl " GLSL_LIMITS(GLSL_WORD);
}

static uint64_t field_get(const rubus_caps *caps, const field *f)
{
    if (f->size == sizeof(uint32_t)) {
        uint32_t value = 0;
        memcpy(&value, (const char *)caps + f->offset, sizeof value);
        return value;
    }
    uint64_t value = 0;
    memcpy(&value, (const char *)caps + f->offset, sizeof value);
    return value;
}

static void field_put(rubus_caps *caps, const field *f, uint64_t value)
{
    if (f->size == sizeof(uint32_t)) {
        const uint32_t narrow = (uint32_t)value;
        memcpy((char *)caps + f->offset, &narrow, sizeof narrow);
    } else {
        memcpy((char *)caps + f->offset, &value, sizeof value);
    }
}

static bool is_power_of_two(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

static rubus_status lower_one(rubus_caps *caps, const field *f, uint64_t value)
{
    const uint64_t now = field_get(caps, f);
    bool lowers = value <= now;
    if (f->kind == LIMIT) {
        lowers = value > 0 && (now == 0 || value <= now);
    } else if (f->kind == ALIGNMENT) {
        lowers = is_power_of_two(value) && value >= now && value <= UINT32_MAX;
    } else if (f->offset == offsetof(rubus_caps, lane_width)) {
        lowers = lowers && value > 0;
    }
    if (!lowers) {
        return rubus__fail(
            RUBUS_EINVAL,
            "cap.%s=%llu: the device '%s' has %llu; a capability can only be %s", f->name,
            (unsigned long long)value, caps->name, (unsigned long long)now,
            f->kind == ALIGNMENT ? "made stricter, by a larger power of two" : "lowered");
    }
    field_put(caps, f, value);
    return RUBUS_OK;
}

rubus_status rubus__caps_lower(rubus_caps *caps, const rubus__options *options)
{
    const char *fp64 = rubus__options_get(options, "fp64");
    if (fp64 != NULL && strcmp(fp64, "off") == 0) {
        caps->fp64 = 0;
    } else if (fp64 != NULL && caps->fp64 == 0) {
        return rubus__fail(RUBUS_EINVAL,
                           "fp64=on: the device '%s' cannot compute in double precision",
                           caps->name);
    }
    for (size_t i = 0; i < options->n; i++) {
        const bool cap = strncmp(options->at[i].key, "cap.", 4) == 0;
        const field *f = cap ? field_find(options->at[i].key + 4) : NULL;
        int64_t value = 0;
        if (cap && f == NULL && strcmp(caps->dialect, "glsl") != 0) {
            return rubus__fail(RUBUS_EINVAL,
                               "%s: the device '%s' has no such limit; only GPUs have",
                               options->at[i].key, caps->name);
        }
        if (f == NULL || !rubus__parse_i64(options->at[i].value, &value)) {
            continue;
        }
        const rubus_status st = lower_one(caps, f, (uint64_t)value);
        if (st != RUBUS_OK) {
            return st;
        }
    }
    return RUBUS_OK;
}

static bool dialect_known(const char *dialect)
{
    static const char *const dialects[] = {"c", "glsl", "opencl", "rk"};
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
        if (strcmp(dialect, dialects[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* NULL, or the name of what makes no sense. */
static const char *nonsense(const rubus_caps *caps)
{
    if (!dialect_known(caps->dialect)) {
        return "dialect";
    }
    if (caps->memory < RUBUS_AT_HOST || caps->memory > RUBUS_AT_SHARED) {
        return "memory";
    }
    if (caps->kind > RUBUS_KIND_SOFTWARE) {
        return "kind";
    }
    if (caps->fp64 > 2 || caps->int64 > 2 || caps->bool8 > 2 ||
        caps->atomic_f32_add > 2 || caps->atomic_f64_add > 2) {
        return "ability (0 no, 1 emulated, 2 native)";
    }
    return is_power_of_two(caps->offset_align) ? NULL : "offset_align";
}

rubus_status rubus__caps_get(rubus__backend *backend, uint32_t device,
                             rubus_caps *out_caps)
{
    rubus_caps caps;
    memset(&caps, 0, sizeof caps);
    caps.struct_size = sizeof caps;
    rubus__error_expect();
    rubus_status st = backend->ops.device_caps(backend->be, device, &caps);
    if (st != RUBUS_OK) {
        return rubus__backend_result(backend, "device_caps", st);
    }
    caps.struct_size = sizeof caps;
    caps.name[sizeof caps.name - 1] = '\0';
    caps.driver[sizeof caps.driver - 1] = '\0';
    caps.dialect[sizeof caps.dialect - 1] = '\0';
    caps.lane_width = caps.lane_width == 0 ? 1 : caps.lane_width;
    caps.offset_align = caps.offset_align == 0 ? 1 : caps.offset_align;
    const char *what = nonsense(&caps);
    if (what != NULL) {
        return rubus__fail(RUBUS_EPLUGIN,
                           "backend '%s', device %u: its capabilities make no sense: %s",
                           backend->plugin->name, device, what);
    }
    *out_caps = caps;
    return RUBUS_OK;
}

const char *rubus__kind_name(uint32_t kind)
{
    static const char *const names[] = {"unknown kind", "CPU",     "integrated GPU",
                                        "discrete GPU", "virtual", "software"};
    return kind < sizeof names / sizeof names[0] ? names[kind] : names[0];
}
