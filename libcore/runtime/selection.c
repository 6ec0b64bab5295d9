/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a spec to an opened device.
 *
 * Each item of the list is tried in order; only what the list says stands in for what
 * does not work, and a wrong spec stops the search at once instead of falling through.
 * The text of a failure has every item with its reason, what there is, what was refused
 * and where plugins were looked for: what a user needs to see in one place.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

#include <string.h>

enum { QUOTE_MOST = 200, REFUSALS_MOST = 12 };

/* Names that people try because such a product exists; no plugin of Rubus need exist. */
static const char *const vendor_names[] = {"cuda",   "hip",  "rocm",  "metal",
                                           "oneapi", "sycl", "opencl"};
/* Names that a misspelt one may have meant, also where their plugin is not installed. */
static const char *const usual_names[] = {"auto", "cpu", "threads", "reference",
                                          "vulkan"};
enum {
    NVENDOR = sizeof vendor_names / sizeof vendor_names[0],
    NUSUAL = sizeof usual_names / sizeof usual_names[0],
    NAMES_MOST = 64
};

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Usable plugins' names, each once; registry locked, all examined. */
static size_t usable_names(const char *names[NAMES_MOST])
{
    size_t n = 0;
    for (size_t i = 0; i < rubus__registry_count() && n < NAMES_MOST; i++) {
        const rubus__plugin *plugin = rubus__registry_at(i);
        if (plugin->state == RUBUS__USABLE) {
            names[n++] = plugin->name;
        }
    }
    return n;
}

/* Writes why there is no usable plugin of that name; *out_typo: it looks like a slip,
 * which must not fall through to the next item. Registry locked. */
static rubus_status not_found(const rubus__item *item, bool *out_typo)
{
    rubus_status st = rubus__registry_examine_all();
    if (st != RUBUS_OK) {
        return st;
    }
    for (size_t i = 0; i < rubus__registry_count(); i++) {
        const rubus__plugin *plugin = rubus__registry_at(i);
        if (strcmp(plugin->name, item->name) == 0 && plugin->state == RUBUS__REFUSED) {
            return rubus__fail(RUBUS_EPLUGIN, "the plugin was refused, see below");
        }
    }
    const char *names[NAMES_MOST + NUSUAL];
    size_t n = usable_names(names);
    const char *near = NULL;
    if (!is_one_of(item->name, vendor_names, NVENDOR) &&
        !is_one_of(item->name, usual_names, NUSUAL)) {
        memcpy(names + n, usual_names, sizeof usual_names);
        near = rubus__nearest(item->name, names, n + NUSUAL);
        *out_typo = near != NULL;
        return rubus__fail(RUBUS_ENODEV, "there is no backend of that name%s%s%s",
                           near == NULL ? "" : " (did you mean '",
                           near == NULL ? "" : near, near == NULL ? "" : "'?)");
    }
    return rubus__fail(RUBUS_ENODEV,
                       "no plugin of that name is installed: rubus-%s.so was not found",
                       item->name);
}

static rubus_status open_item(rubus__backend *backend, const rubus__item *item,
                              rubus__device **out_device)
{
    uint32_t index = 0;
    rubus_caps caps;
    rubus_status st = rubus__device_pick(backend, item, &index, &caps);
    if (st == RUBUS_OK) {
        st = rubus__device_start(backend, index, &caps, out_device);
    }
    if (st != RUBUS_OK) {
        rubus__backend_release(backend);
    }
    return st;
}

static rubus_status try_named(const rubus__item *item, bool *out_typo,
                              rubus__device **out_device)
{
    rubus_status st = rubus__registry_lock();
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__plugin *plugin = NULL;
    rubus__backend *backend = NULL;
    st = rubus__registry_find(item->name, &plugin);
    if (st == RUBUS_OK) {
        st = plugin == NULL ? not_found(item, out_typo)
                            : rubus__backend_use(plugin, &item->options, &backend);
    }
    rubus__registry_unlock();
    return st != RUBUS_OK ? st : open_item(backend, item, out_device);
}

/* The next usable plugin from *at on, started; NULL at the end of the list. */
static rubus_status next_started(const rubus__item *item, size_t *at,
                                 rubus__backend **out_backend)
{
    *out_backend = NULL;
    rubus_status st = rubus__registry_lock();
    if (st != RUBUS_OK) {
        return st;
    }
    st = rubus__registry_examine_all();
    while (st == RUBUS_OK && *out_backend == NULL && *at < rubus__registry_count()) {
        rubus__plugin *plugin = rubus__registry_at((*at)++);
        if (plugin->state == RUBUS__USABLE &&
            rubus__backend_use(plugin, &item->options, out_backend) == RUBUS_ENOMEM) {
            st = RUBUS_ENOMEM; // other failures to start are no more than one device less
        }
    }
    rubus__registry_unlock();
    return st;
}

/* A hardware GPU if there is one, else threads; never a software GPU. */
static rubus_status try_auto(const rubus__item *item, rubus__device **out_device)
{
    rubus__backend *best = NULL;
    uint32_t best_index = 0;
    rubus_caps best_caps;
    int best_rank = 0;
    size_t at = 0;
    for (;;) {
        rubus__backend *backend = NULL;
        const rubus_status st = next_started(item, &at, &backend);
        if (st != RUBUS_OK || backend == NULL) {
            if (st != RUBUS_OK && best != NULL) {
                rubus__backend_release(best);
            }
            if (st != RUBUS_OK) {
                return st;
            }
            break;
        }
        uint32_t index = 0;
        rubus_caps caps;
        int rank = 0;
        if (rubus__device_best(backend, &index, &caps, &rank) == RUBUS_OK &&
            rank > best_rank) {
            rubus__backend *worse = best;
            best = backend;
            best_index = index;
            best_caps = caps;
            best_rank = rank;
            backend = worse;
        }
        if (backend != NULL) {
            rubus__backend_release(backend);
        }
    }
    if (best != NULL) {
        const rubus_status st =
            rubus__device_start(best, best_index, &best_caps, out_device);
        if (st == RUBUS_OK) {
            return st;
        }
        rubus__log(RUBUS__LOG_WARNING, "load", "auto: '%s' cannot be opened: %s",
                   best_caps.name, rubus_error_text());
        rubus__backend_release(best);
        if (st == RUBUS_ENOMEM || st == RUBUS_EINVAL) {
            return st;
        }
    }
    rubus__item threads = *item;
    char name[] = "threads";
    threads.name = name;
    bool typo = false;
    return try_named(&threads, &typo, out_device);
}

static void add_available(rubus__text *text)
{
    const char *names[NAMES_MOST];
    const size_t n = usable_names(names);
    rubus__text_add(text, "\n  available:");
    for (size_t i = 0; i < n; i++) {
        rubus__text_format(text, "%s %s", i == 0 ? "" : ",", names[i]);
    }
    rubus__text_add(text, n == 0 ? " none" : "");
}

static bool is_asked_for(const rubus__plugin *plugin, const rubus__spec *parsed)
{
    for (size_t i = 0; i < parsed->n; i++) {
        if (strcmp(plugin->name, parsed->item[i].name) == 0) {
            return true;
        }
    }
    return false;
}

/* First those that were asked for by name, all of them; then some of the others. */
static void add_refused(rubus__text *text, const rubus__spec *parsed)
{
    size_t shown = 0;
    for (int asked = 1; asked >= 0; asked--) {
        for (size_t i = 0; i < rubus__registry_count(); i++) {
            const rubus__plugin *plugin = rubus__registry_at(i);
            if (plugin->state != RUBUS__REFUSED ||
                is_asked_for(plugin, parsed) != (asked == 1)) {
                continue;
            }
            if (++shown > REFUSALS_MOST && asked == 0) {
                rubus__text_add(text, "\n  refused: more; rubus devices -v shows all");
                return;
            }
            rubus__text_format(text, "\n  refused: %s (%s): %s", plugin->path,
                               plugin->stage, plugin->reason);
        }
    }
}

static void add_folders(rubus__text *text)
{
    const rubus__folders *folders = rubus__registry_folders();
    rubus__text_add(text, "\n  looked in:");
    for (size_t i = 0; i < folders->n; i++) {
        rubus__text_format(text, "%s %s (%s)", i == 0 ? "" : ",", folders->at[i].path,
                           folders->at[i].origin);
    }
    rubus__text_add(text, folders->n == 0 ? " no folder; set RUBUS_PLUGIN_PATH" : "");
}

/* The whole text of a failed choice; `tried` has a line for each item. */
static rubus_status report(const char *spec, const char *why, const rubus__spec *parsed,
                           const rubus__text *tried, rubus_status st)
{
    rubus_status locked = rubus__registry_lock();
    if (locked == RUBUS_OK) {
        locked = rubus__registry_examine_all();
        if (locked != RUBUS_OK) {
            rubus__registry_unlock();
        }
    }
    if (locked != RUBUS_OK) {
        return locked;
    }
    rubus__text text;
    rubus__text_init(&text);
    const char *origin = strcmp(why, "argument") == 0 ? "" : why;
    rubus__text_format(&text, "%s%sbackend '%.*s'", origin, origin[0] == '\0' ? "" : ": ",
                       QUOTE_MOST, spec);
    rubus__text_add(&text, parsed->n == 1 ? ": " : ": nothing of the list can be used");
    rubus__text_add(&text, tried->data);
    add_available(&text);
    add_refused(&text, parsed);
    add_folders(&text);
    rubus__registry_unlock();
    if (text.failed) {
        rubus__text_fini(&text);
        return RUBUS_ENOMEM;
    }
    rubus__fail(st, "%s", text.data);
    rubus__text_fini(&text);
    return st;
}

static rubus_status try_items(const rubus__spec *parsed, rubus__text *tried,
                              rubus__device **out_device)
{
    rubus_status all = RUBUS_ENODEV;
    for (size_t i = 0; i < parsed->n; i++) {
        const rubus__item *item = &parsed->item[i];
        bool typo = false;
        const rubus_status st = strcmp(item->name, "auto") == 0
                                    ? try_auto(item, out_device)
                                    : try_named(item, &typo, out_device);
        if (st == RUBUS_OK || st == RUBUS_ENOMEM || st == RUBUS_ESTATE) {
            return st;
        }
        if (parsed->n == 1) {
            rubus__text_add(tried, rubus_error_text());
        } else {
            rubus__text_format(tried, "\n  %s: %s", item->text, rubus_error_text());
        }
        all = i == 0 || all == st ? st : RUBUS_ENODEV;
        if (typo || st == RUBUS_EINVAL) {
            return st;
        }
        if (i + 1 < parsed->n) {
            rubus__log(RUBUS__LOG_WARNING, "load", "backend %s: %s; trying %s",
                       item->text, rubus_error_text(), parsed->item[i + 1].text);
        }
    }
    return all;
}

rubus_status rubus__device_open(const char *spec, rubus__device **out_device)
{
    const char *why = "argument";
    if (spec == NULL || spec[strspn(spec, " \t\n\v\f\r")] == '\0') {
        spec = rubus__env(RUBUS__ENV_BACKEND);
        why = spec == NULL ? "default" : "RUBUS_BACKEND";
        spec = spec == NULL ? "threads" : spec;
    }
    rubus_status st = rubus__spec_check_environment();
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__spec parsed;
    st = rubus__spec_parse(spec, &parsed);
    if (st != RUBUS_OK) {
        if (st == RUBUS_EINVAL && strcmp(why, "argument") != 0) {
            rubus__fail_prefix(st, "%s", why);
        }
        return st;
    }
    rubus__text tried;
    rubus__text_init(&tried);
    rubus__device *dev = NULL;
    st = try_items(&parsed, &tried, &dev);
    if (st == RUBUS_OK) {
        dev->why = why;
        rubus__log(RUBUS__LOG_INFO, "load",
                   "backend %s, device %u '%s' (%s), from %s; because: %s", dev->name,
                   dev->index, dev->caps.name, rubus__kind_name(dev->caps.kind),
                   dev->path, why);
        *out_device = dev;
    } else if (st != RUBUS_ENOMEM && st != RUBUS_ESTATE) {
        st = tried.failed ? RUBUS_ENOMEM : report(spec, why, &parsed, &tried, st);
    }
    rubus__text_fini(&tried);
    rubus__spec_fini(&parsed);
    return st;
}
