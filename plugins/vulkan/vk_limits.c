/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options that make a device poorer than it is, so that the ways around a missing ability
 * or a small limit are tested on a device that has everything:
 *
 *   cap.fp64, cap.int64, cap.bool8, cap.atomics   0: as if the feature were not there
 *   cap.max_binding, cap.max_alloc, cap.max_buffer   bytes
 *   cap.push     bytes of push constants, 128 or more
 *   cap.groups   of one launch, in each dimension
 *   cap.subgroup   what library and modules are told of the subgroup size: a power of
 *                two, also one that the device does not have
 *
 * A value that cannot be is an error when the device is opened, never passed over.
 */
#include "config.h"

#include "plugins/vulkan/vulkan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SUBGROUP_MOST = 128, PUSH_LEAST = 128 };

static const char *const names[VK_CAPS] = {
    [VK_CAP_FP64] = "cap.fp64",           [VK_CAP_INT64] = "cap.int64",
    [VK_CAP_BOOL8] = "cap.bool8",         [VK_CAP_ATOMICS] = "cap.atomics",
    [VK_CAP_SUBGROUP] = "cap.subgroup",   [VK_CAP_GROUPS] = "cap.groups",
    [VK_CAP_PUSH] = "cap.push",           [VK_CAP_MAX_BINDING] = "cap.max_binding",
    [VK_CAP_MAX_ALLOC] = "cap.max_alloc", [VK_CAP_MAX_BUFFER] = "cap.max_buffer",
};

static bool parse(const char *text, uint64_t *out)
{
    uint64_t n = 0;
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0') {
        return false;
    }
    for (; *text != '\0'; text++) {
        const uint64_t digit = (uint64_t)(*text - '0');
        if (n > (UINT64_MAX - digit) / 10) {
            return false;
        }
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}

rubus_status vk_wishes_read(vk_backend *be)
{
    const rubus_host *host = be->host;
    for (int i = 0; i < VK_CAPS; i++) {
        const char *text = host->option(host->ctx, names[i]);
        if (text == NULL) {
            continue;
        }
        if (!parse(text, &be->wish[i].value)) {
            return host->fail(host->ctx, RUBUS_EINVAL,
                              "%s='%.60s' of the backend vulkan: it must be a number, 0 "
                              "or more",
                              names[i], text);
        }
        be->wish[i].given = true;
    }
    const char *fp64 = host->option(host->ctx, "fp64");
    if (fp64 != NULL && strcmp(fp64, "off") == 0) {
        be->wish[VK_CAP_FP64] = (vk_wish){.given = true, .value = 0};
    }
    return RUBUS_OK;
}

typedef struct report {
    char *why;
    size_t room;
    const char *device;
} report;

/* Writes the reason; for `return refuse(...)`. */
static bool refuse(const report *to, vk_cap cap, uint64_t value, const char *range)
{
    snprintf(to->why, to->room,
             "%s=%" PRIu64 ": the device '%.100s' takes %s; a capability can only be "
             "lowered",
             names[cap], value, to->device, range);
    return false;
}

static bool lower_bit(const vk_backend *be, const report *to, vk_cap cap, bool *ability)
{
    const vk_wish *wish = &be->wish[cap];
    // 1 is "emulated" and 2 "native" in the capabilities of the library.
    if (!wish->given || (wish->value <= 2 && *ability)) {
        *ability = *ability && !(wish->given && wish->value == 0);
        return true;
    }
    return wish->value == 0 ||
           refuse(to, cap, wish->value, *ability ? "0, 1 or 2" : "only 0");
}

static bool lower_number(const vk_backend *be, const report *to, vk_cap cap,
                         uint64_t least, uint64_t *limit)
{
    const vk_wish *wish = &be->wish[cap];
    if (!wish->given) {
        return true;
    }
    if (wish->value < least || wish->value > *limit) {
        char range[80];
        snprintf(range, sizeof range, "%" PRIu64 " to %" PRIu64, least, *limit);
        return refuse(to, cap, wish->value, range);
    }
    *limit = wish->value;
    return true;
}

static bool lower_groups(const vk_backend *be, const report *to, uint32_t groups[3])
{
    uint64_t most = 0;
    for (int i = 0; i < 3; i++) {
        most = groups[i] > most ? groups[i] : most;
    }
    if (!lower_number(be, to, VK_CAP_GROUPS, 1, &most)) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        groups[i] = groups[i] < most ? groups[i] : (uint32_t)most;
    }
    return true;
}

static bool lower_subgroup(const vk_backend *be, const report *to, vk_limits *limits)
{
    const vk_wish *wish = &be->wish[VK_CAP_SUBGROUP];
    if (!wish->given) {
        return true;
    }
    const uint64_t n = wish->value;
    if (n == 0 || n > SUBGROUP_MOST || (n & (n - 1)) != 0) {
        return refuse(to, VK_CAP_SUBGROUP, n, "a power of two from 1 to 128");
    }
    limits->subgroup_least = (uint32_t)n;
    limits->subgroup_most = (uint32_t)n;
    return true;
}

bool vk_limits_lower(const vk_backend *be, const vk_physical *p, vk_limits *out,
                     char *why, size_t room)
{
    const report to = {why, room, p->properties.deviceName};
    vk_limits limits = p->limits;
    uint64_t push = limits.push;
    bool atomics = true;
    const bool fine = lower_bit(be, &to, VK_CAP_FP64, &limits.float64) &&
                      lower_bit(be, &to, VK_CAP_INT64, &limits.int64) &&
                      lower_bit(be, &to, VK_CAP_BOOL8, &limits.bytes) &&
                      lower_bit(be, &to, VK_CAP_ATOMICS, &atomics) &&
                      lower_subgroup(be, &to, &limits) &&
                      lower_groups(be, &to, limits.groups) &&
                      lower_number(be, &to, VK_CAP_PUSH, PUSH_LEAST, &push) &&
                      lower_number(be, &to, VK_CAP_MAX_BINDING,
                                   limits.offset_align * UINT64_C(2), &limits.binding) &&
                      lower_number(be, &to, VK_CAP_MAX_ALLOC, 1, &limits.allocation) &&
                      lower_number(be, &to, VK_CAP_MAX_BUFFER, 1, &limits.buffer);
    if (!fine) {
        return false;
    }
    limits.push = (uint32_t)push;
    if (limits.buffer > limits.allocation) {
        limits.buffer = limits.allocation;
    }
    // What is made of a feature goes with it.
    limits.atomic_f32 = limits.atomic_f32 && atomics;
    limits.atomic_f64 = limits.atomic_f64 && atomics && limits.float64;
    limits.atomic_i64 = limits.atomic_i64 && atomics && limits.int64;
    *out = limits;
    return true;
}

uint32_t vk_lane_width(const vk_physical *p, const vk_limits *limits)
{
    const bool told = limits->subgroup_least == limits->subgroup_most;
    return told ? limits->subgroup_least : p->subgroup_size;
}
