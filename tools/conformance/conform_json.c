/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificate: what was examined, on what device, with which capabilities and slots,
 * and what became of every check. One JSON object.
 */
#include "config.h"

#include "conform.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static json_t *plugin_json(const conform_facts *facts)
{
    char abi[32];
    snprintf(abi, sizeof abi, "%" PRIu32 ".%" PRIu32, facts->abi_major, facts->abi_minor);
    json_t *o = json_object();
    bool good = cli_json_add(o, "name", cli_json_string(facts->name));
    good = good && cli_json_add(o, "file",
                                cli_json_string(facts->file[0] != '\0' ? facts->file
                                                                       : "(built in)"));
    good = good && cli_json_add(o, "version", cli_json_string(facts->version));
    good = good && cli_json_add(o, "vendor", cli_json_string(facts->vendor));
    good = good && cli_json_add(o, "licence", cli_json_string(facts->licence));
    good = good && cli_json_add(o, "abi", json_string(abi));
    good = good && cli_json_add(o, "spec", cli_json_string(facts->spec));
    if (!good) {
        json_decref(o);
    }
    return good ? o : NULL;
}

static json_t *device_json(const conform_facts *facts)
{
    static const char *const kinds[] = {"unknown",  "cpu",     "integrated",
                                        "discrete", "virtual", "software"};
    const rubus_caps *caps = &facts->caps;
    char uuid[33];
    for (size_t i = 0; i < sizeof caps->uuid; i++) {
        snprintf(uuid + 2 * i, 3, "%02x", caps->uuid[i]);
    }
    return json_pack("{s:I, s:o, s:o, s:o, s:s, s:s}", "index", (json_int_t)facts->device,
                     "name", cli_json_string(caps->name), "driver",
                     cli_json_string(caps->driver), "dialect",
                     cli_json_string(caps->dialect), "kind",
                     caps->kind < 6 ? kinds[caps->kind] : kinds[0], "uuid", uuid);
}

static json_t *caps_json(const rubus_caps *caps)
{
    static const char *const places[] = {"unknown", "host", "device", "shared"};
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:I, s:I, s:I, s:I}", "fp64",
        (json_int_t)caps->fp64, "int64", (json_int_t)caps->int64, "bool8",
        (json_int_t)caps->bool8, "atomic_f32_add", (json_int_t)caps->atomic_f32_add,
        "atomic_f64_add", (json_int_t)caps->atomic_f64_add, "lane_width",
        (json_int_t)caps->lane_width, "memory",
        places[caps->memory < 4 ? caps->memory : 0], "offset_align",
        (json_int_t)caps->offset_align, "mem_total", (json_int_t)caps->mem_total,
        "max_alloc", (json_int_t)caps->max_alloc, "max_buffer",
        (json_int_t)caps->max_buffer);
}

static json_t *slots_json(const conform_facts *facts)
{
    static const char *const names[] = {
#define SLOT_NAME(slot, required, since, summary) #slot,
        RUBUS_SLOT_LIST(SLOT_NAME)
#undef SLOT_NAME
    };
    json_t *slots = json_object();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const bool native = (facts->native >> i & 1u) != 0;
        if (!cli_json_add(slots, names[i], json_string(native ? "native" : "stub"))) {
            json_decref(slots);
            return NULL;
        }
    }
    return slots;
}

static json_t *rows_json(const conform_row *row, size_t nrow)
{
    static const char *const outcomes[] = {"ok", "fail", "skip"};
    json_t *rows = json_array();
    for (size_t i = 0; i < nrow; i++) {
        const conform_result *r = &row[i].result;
        char seed[24];
        snprintf(seed, sizeof seed, "%" PRIu64, r->seed);
        json_t *one = json_pack(
            "{s:s, s:s, s:s, s:o, s:s, s:f}", "name", row[i].check->name, "level",
            conform_level_name(row[i].check->level), "result", outcomes[r->outcome],
            "reason", cli_json_string(r->reason), "seed", seed, "seconds", r->seconds);
        if (one == NULL || json_array_append_new(rows, one) != 0) {
            json_decref(rows);
            return NULL;
        }
    }
    return rows;
}

static json_t *counts_json(const conform_row *row, size_t nrow)
{
    json_int_t count[3] = {0, 0, 0};
    for (size_t i = 0; i < nrow; i++) {
        count[row[i].result.outcome]++;
    }
    return json_pack("{s:I, s:I, s:I}", "ok", count[CONFORM_OK], "fail",
                     count[CONFORM_FAILED], "skip", count[CONFORM_SKIPPED]);
}

// Certified: every check of the level ran (no filter), and none failed.
static bool is_certified(const char *filter, const conform_row *row, size_t nrow)
{
    for (size_t i = 0; i < nrow; i++) {
        if (row[i].result.outcome == CONFORM_FAILED) {
            return false;
        }
    }
    return filter == NULL;
}

int conform_json_write(const char *path, const conform_facts *facts, int level,
                       const char *filter, uint64_t seed, const conform_row *row,
                       size_t nrow)
{
    char seed_text[24];
    snprintf(seed_text, sizeof seed_text, "%" PRIu64, seed);
    json_t *o = json_object();
    bool good = cli_json_add(o, "suite", json_string("rubus conformance"));
    good = good && cli_json_add(o, "suite_version", json_string(PACKAGE_VERSION));
    good = good && cli_json_add(o, "library_version", json_string(rubus_version()));
    good = good && cli_json_add(o, "level", json_string(conform_level_name(level)));
    good = good && cli_json_add(o, "filter",
                                filter != NULL ? cli_json_string(filter) : json_null());
    good = good && cli_json_add(o, "seed", json_string(seed_text));
    good = good &&
           cli_json_add(o, "certified", json_boolean(is_certified(filter, row, nrow)));
    good = good && cli_json_add(o, "plugin", plugin_json(facts));
    good = good && cli_json_add(o, "device", device_json(facts));
    good = good && cli_json_add(o, "capabilities", caps_json(&facts->caps));
    good = good && cli_json_add(o, "slots", slots_json(facts));
    good = good && cli_json_add(o, "counts", counts_json(row, nrow));
    good = good && cli_json_add(o, "checks", rows_json(row, nrow));
    char *text = good ? json_dumps(o, JSON_INDENT(1)) : NULL;
    json_decref(o);
    if (text == NULL) {
        return cli_out_of_memory();
    }
    const size_t size = strlen(text);
    text[size] = '\n'; // in place of its NUL
    const int exit_status = cli_write_file(path, text, size + 1);
    free(text);
    return exit_status;
}
