/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices: which one of a backend is meant, opening it for a context, and the check that
 * the backend's answers about the place of its memory agree with each other.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

#include <string.h>

int rubus__device_rank(uint32_t kind)
{
    switch (kind) {
    case RUBUS_KIND_DISCRETE:
        return 3;
    case RUBUS_KIND_INTEGRATED:
        return 2;
    case RUBUS_KIND_VIRTUAL:
        return 1;
    default:
        return 0;
    }
}

static rubus_status device_count(rubus__backend *backend, uint32_t *out_n)
{
    uint32_t n = 0;
    rubus__error_expect();
    const rubus_status st = backend->ops.device_count(backend->be, &n);
    if (st != RUBUS_OK) {
        return rubus__backend_result(backend, "device_count", st);
    }
    *out_n = n;
    return RUBUS_OK;
}

rubus_status rubus__device_best(rubus__backend *backend, uint32_t *out_index,
                                rubus_caps *out_caps, int *out_rank)
{
    uint32_t n = 0;
    *out_rank = 0;
    rubus_status st = device_count(backend, &n);
    for (uint32_t i = 0; i < n && st == RUBUS_OK; i++) {
        rubus_caps caps;
        st = rubus__caps_get(backend, i, &caps);
        if (st == RUBUS_OK && rubus__device_rank(caps.kind) > *out_rank) {
            *out_rank = rubus__device_rank(caps.kind);
            *out_index = i;
            *out_caps = caps;
        }
    }
    return st;
}

static bool contains_nocase(const char *text, const char *part)
{
    const size_t n = strlen(part);
    for (; strlen(text) >= n; text++) {
        char here[256];
        rubus__snprintf(here, sizeof here, "%.*s", (int)n, text);
        if (rubus__equal_nocase(here, part)) {
            return true;
        }
    }
    return false;
}

/* Whether the word is the kind of the device: "vulkan:discrete". */
static bool is_kind(const char *word, uint32_t kind)
{
    static const char *const words[] = {"",         "cpu",     "integrated",
                                        "discrete", "virtual", "software"};
    return kind > 0 && kind < sizeof words / sizeof words[0] &&
           rubus__equal_nocase(word, words[kind]);
}

/* How well a device fits the item: 0 not, 1 by kind or a part of its name, 2 in full. */
static int match(const rubus__item *item, const rubus_caps *caps)
{
    if (item->has_uuid && memcmp(item->uuid, caps->uuid, sizeof item->uuid) != 0) {
        return 0;
    }
    if (item->part == NULL || rubus__equal_nocase(caps->name, item->part)) {
        return 2;
    }
    return is_kind(item->part, caps->kind) || (strlen(item->part) < sizeof caps->name &&
                                               contains_nocase(caps->name, item->part));
}

/* The devices there are, "0 'llvmpipe', 1 'A770'", for an error. */
static char *devices_text(rubus__backend *backend, uint32_t n)
{
    rubus__text text;
    rubus__text_init(&text);
    for (uint32_t i = 0; i < n; i++) {
        rubus_caps caps;
        if (rubus__caps_get(backend, i, &caps) == RUBUS_OK) {
            rubus__text_format(&text, "%s%u '%s'", i == 0 ? "" : ", ", i, caps.name);
        }
    }
    return rubus__text_take(&text);
}

static rubus_status no_match(rubus__backend *backend, const rubus__item *item, uint32_t n,
                             int matches)
{
    char *devices = devices_text(backend, n);
    if (devices == NULL) {
        return RUBUS_ENOMEM;
    }
    const char *name = backend->plugin->name;
    rubus_status st = RUBUS_ENODEV;
    if (matches > 1) {
        st = rubus__fail(
            RUBUS_EINVAL,
            "%d devices of backend '%s' match '%s'; write a number, or more of the "
            "name: %s",
            matches, name, item->text, devices);
    } else if (item->has_number) {
        rubus__fail(st, "backend '%s' has no device %u: %s", name, item->number, devices);
    } else {
        rubus__fail(st, "no device of backend '%s' matches '%s': %s", name, item->text,
                    devices);
    }
    rubus__free(devices);
    return st;
}

/* Without a choice: the first that is no software renderer, or the first. */
static rubus_status pick_default(rubus__backend *backend, uint32_t n, uint32_t *out_index,
                                 rubus_caps *out_caps)
{
    for (uint32_t i = 0; i < n; i++) {
        rubus_caps caps;
        const rubus_status st = rubus__caps_get(backend, i, &caps);
        if (st != RUBUS_OK) {
            return st;
        }
        if (i == 0 ||
            (caps.kind != RUBUS_KIND_SOFTWARE && out_caps->kind == RUBUS_KIND_SOFTWARE)) {
            *out_index = i;
            *out_caps = caps;
        }
    }
    return RUBUS_OK;
}

rubus_status rubus__device_pick(rubus__backend *backend, const rubus__item *item,
                                uint32_t *out_index, rubus_caps *out_caps)
{
    uint32_t n = 0;
    rubus_status st = device_count(backend, &n);
    if (st != RUBUS_OK) {
        return st;
    }
    if (n == 0) {
        return rubus__fail(RUBUS_ENODEV, "backend '%s' (%s) finds no device",
                           backend->plugin->name, backend->plugin->path);
    }
    if (!item->has_number && item->part == NULL && !item->has_uuid) {
        return pick_default(backend, n, out_index, out_caps);
    }
    int matches = 0;
    int best = 0;
    for (uint32_t i = 0; i < n; i++) {
        rubus_caps caps;
        if (item->has_number && i != item->number) {
            continue;
        }
        st = rubus__caps_get(backend, i, &caps);
        if (st != RUBUS_OK) {
            return st;
        }
        const int how = match(item, &caps);
        if (how == 0 || how < best) {
            continue;
        }
        matches = how > best ? 1 : matches + 1;
        best = how;
        *out_index = i;
        *out_caps = caps;
    }
    return matches == 1 ? RUBUS_OK : no_match(backend, item, n, matches);
}

/* A backend whose locality slot contradicts its capabilities would have its buffers used
 * wrongly, so it is refused for good. */
static rubus_status locality_check(rubus__device *dev)
{
    enum { PROBE_SIZE = 64 };
    void *buffer = NULL;
    uint32_t where = 0;
    rubus_status st = rubus__buffer_create(dev, PROBE_SIZE, &buffer);
    if (st != RUBUS_OK) {
        return st;
    }
    st = RUBUS__SLOT_OF(dev, "locality", dev->ops->locality(dev->ctx, buffer, &where));
    rubus__buffer_destroy(dev, buffer);
    if (st != RUBUS_OK) {
        return st;
    }
    if (where == dev->caps.memory) {
        return RUBUS_OK;
    }
    char reason[RUBUS__REASON_ROOM];
    rubus__snprintf(
        reason, sizeof reason,
        "its locality slot says %u of an ordinary buffer, but its capabilities say "
        "memory %u (1 host, 2 device, 3 shared)",
        where, dev->caps.memory);
    if (rubus__registry_relock()) {
        st = rubus__plugin_refuse(dev->backend->plugin, "slots", "%s", reason);
        rubus__registry_unlock();
    }
    return st != RUBUS_OK
               ? st
               : rubus__fail(RUBUS_EPLUGIN, "backend '%s' (%s) was refused: %s",
                             dev->name, dev->path, reason);
}

static void device_free(rubus__device *dev, bool opened)
{
    rubus__stub_map_fini(dev);
    if (opened) {
        rubus__error_hold(true);
        dev->ops->context_destroy(dev->ctx);
        rubus__error_hold(false);
    }
    rubus__free(dev);
}

rubus_status rubus__device_start(rubus__backend *backend, uint32_t index,
                                 const rubus_caps *caps, rubus__device **out_device)
{
    rubus__device *dev = rubus__alloc(sizeof *dev);
    if (dev == NULL) {
        return RUBUS_ENOMEM;
    }
    dev->ops = &backend->ops;
    dev->backend = backend;
    dev->index = index;
    dev->caps = *caps;
    dev->name = backend->plugin->name;
    dev->path = backend->plugin->path;
    dev->version = backend->version;
    dev->why = "";
    rubus__table_complete(dev);
    bool opened = false;
    rubus_status st = rubus__caps_lower(&dev->caps, &backend->options);
    if (st == RUBUS_OK) {
        st = RUBUS__SLOT_OF(dev, "context_create",
                            backend->ops.context_create(backend->be, index, &dev->ctx));
        opened = st == RUBUS_OK;
    }
    if (st == RUBUS_OK) {
        st = locality_check(dev);
    }
    if (st != RUBUS_OK) {
        device_free(dev, opened);
        return st;
    }
    *out_device = dev;
    return RUBUS_OK;
}

void rubus__device_close(rubus__device *dev)
{
    if (dev != NULL) {
        rubus__backend *backend = dev->backend;
        device_free(dev, true);
        rubus__backend_release(backend);
    }
}

const char *rubus__device_option(const rubus__device *dev, const char *key)
{
    return rubus__options_get(&dev->backend->options, key);
}
