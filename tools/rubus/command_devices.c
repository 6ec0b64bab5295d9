/* SPDX-License-Identifier: Apache-2.0 */
/* rubus devices: backends found and refused, their devices, slots, and the environment.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static const struct option options[] = {
    CLI_OPTION_JSON,
    CLI_OPTION_LAST,
};

static const char *kind_name(uint32_t kind)
{
    static const char *const names[] = {"unknown",      "CPU",         "integrated GPU",
                                        "discrete GPU", "virtual GPU", "software GPU"};
    return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : names[0];
}

static const char *support_name(uint32_t level)
{
    static const char *const names[] = {"no", "emulated", "native"};
    return level < 3 ? names[level] : "?";
}

// Atomic adds are told in other words.
static const char *atomic_name(uint32_t level)
{
    return level == 1 ? "compare-and-swap" : support_name(level);
}

static void print_size(const char *label, uint64_t nbyte)
{
    if (nbyte >= (uint64_t)1 << 30) {
        printf("%s%.1f GiB", label, (double)nbyte / (1 << 30));
    } else if (nbyte > 0) {
        printf("%s%.1f MiB", label, (double)nbyte / (1 << 20));
    }
}

static void print_slots(uint32_t at)
{
    for (int32_t own_wanted = 1; own_wanted >= 0; own_wanted--) {
        printf("    %s:", own_wanted ? "own slots" : "stubs");
        const char *name;
        int32_t own;
        for (uint32_t slot = 0; rubus_plugin_slot(at, slot, &name, &own) == RUBUS_OK;
             slot++) {
            if (own == own_wanted) {
                printf(" %s", name);
            }
        }
        putchar('\n');
    }
}

static void print_device(uint32_t at, uint32_t device, bool verbose)
{
    rubus_device_info info = {.struct_size = sizeof(info)};
    if (rubus_plugin_device_info(at, device, &info) != RUBUS_OK) {
        printf("    %u: %s\n", device, rubus_error_text());
        return;
    }
    printf("    %u: %s (%s", device, info.name, kind_name(info.kind));
    print_size(", ", info.mem_total);
    printf(", fp64 %s)\n", support_name(info.fp64));
    if (verbose) {
        printf("       driver %s; dialect %s; lane width %u; int64 %s\n"
               "       atomic adds: f32 %s, f64 %s",
               info.driver[0] != '\0' ? info.driver : "-", info.dialect, info.lane_width,
               support_name(info.int64), atomic_name(info.atomic_f32_add),
               atomic_name(info.atomic_f64_add));
        print_size("; largest buffer ", info.max_buffer);
        putchar('\n');
    }
}

static void print_plugin(uint32_t at, const rubus_plugin_info *plugin, bool verbose)
{
    printf("%s %s, ABI %u.%u\n    %s\n", plugin->name, plugin->version, plugin->abi_major,
           plugin->abi_minor, plugin->path);
    uint32_t ndevice;
    if (rubus_plugin_device_count(at, &ndevice) != RUBUS_OK) {
        printf("    does not start: %s\n", rubus_error_text());
        return;
    }
    for (uint32_t device = 0; device < ndevice; device++) {
        print_device(at, device, verbose);
    }
    if (ndevice == 0) {
        puts("    no devices");
    }
    if (verbose) {
        printf("    by %s, licence %s\n", plugin->vendor, plugin->licence);
        print_slots(at);
    }
}

static int print_text(uint32_t nplugin, bool verbose)
{
    for (int32_t refused = 0; refused <= 2; refused++) {
        for (uint32_t at = 0; at < nplugin; at++) {
            rubus_plugin_info plugin = {.struct_size = sizeof(plugin)};
            rubus_status st = rubus_plugin_info_get(at, &plugin);
            if (st != RUBUS_OK) {
                return cli_fail_status(st, NULL);
            }
            if (plugin.refused != refused) {
                continue;
            }
            if (refused == 0) {
                print_plugin(at, &plugin, verbose);
            } else if (refused == 1 || verbose) {
                printf("%s (%s): %s: %s\n", refused == 1 ? "refused" : "not used",
                       plugin.stage, plugin.path, plugin.reason);
            }
        }
    }
    if (verbose) {
        puts("environment");
        const char *name;
        const char *value;
        for (uint32_t at = 0; rubus_environment_get(at, &name, &value) == RUBUS_OK;
             at++) {
            printf("    %s=%s\n", name, value);
        }
    }
    return cli_finish(CLI_DONE);
}

static json_t *device_json(uint32_t at, uint32_t device)
{
    rubus_device_info info = {.struct_size = sizeof(info)};
    if (rubus_plugin_device_info(at, device, &info) != RUBUS_OK) {
        return json_pack("{s:o}", "error", cli_json_string(rubus_error_text()));
    }
    char uuid[33];
    for (size_t i = 0; i < sizeof(info.uuid); i++) {
        snprintf(uuid + 2 * i, 3, "%02x", info.uuid[i]);
    }
    return json_pack(
        "{s:o, s:o, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "name",
        cli_json_string(info.name), "driver", cli_json_string(info.driver), "dialect",
        info.dialect, "kind", kind_name(info.kind), "uuid", uuid, "fp64",
        support_name(info.fp64), "int64", support_name(info.int64), "atomic_f32_add",
        atomic_name(info.atomic_f32_add), "atomic_f64_add",
        atomic_name(info.atomic_f64_add), "lane_width", (json_int_t)info.lane_width,
        "mem_total", (json_int_t)info.mem_total, "max_alloc", (json_int_t)info.max_alloc,
        "max_buffer", (json_int_t)info.max_buffer);
}

static bool add_devices(json_t *object, uint32_t at)
{
    uint32_t ndevice;
    if (rubus_plugin_device_count(at, &ndevice) != RUBUS_OK) {
        return cli_json_add(object, "error", cli_json_string(rubus_error_text()));
    }
    json_t *devices = json_array();
    bool good = cli_json_add(object, "devices", devices);
    for (uint32_t device = 0; good && device < ndevice; device++) {
        good = json_array_append_new(devices, device_json(at, device)) == 0;
    }
    json_t *slots = json_object();
    good = good && cli_json_add(object, "slots", slots);
    const char *name;
    int32_t own;
    for (uint32_t i = 0; good && rubus_plugin_slot(at, i, &name, &own) == RUBUS_OK; i++) {
        good = cli_json_add(slots, name, json_string(own ? "own" : "stub"));
    }
    return good;
}

static json_t *plugin_json(uint32_t at)
{
    rubus_plugin_info plugin = {.struct_size = sizeof(plugin)};
    if (rubus_plugin_info_get(at, &plugin) != RUBUS_OK) {
        return NULL;
    }
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:b}", "name", cli_json_string(plugin.name),
        "path", cli_json_string(plugin.path), "version", cli_json_string(plugin.version),
        "vendor", cli_json_string(plugin.vendor), "licence",
        cli_json_string(plugin.licence), "abi_major", (int)plugin.abi_major, "abi_minor",
        (int)plugin.abi_minor, "usable", plugin.refused == 0);
    if (object == NULL) {
        return NULL;
    }
    bool good = plugin.refused == 0
                    ? add_devices(object, at)
                    : cli_json_add(object, "stage", cli_json_string(plugin.stage)) &&
                          cli_json_add(object, "reason", cli_json_string(plugin.reason));
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int print_json(uint32_t nplugin)
{
    json_t *plugins = json_array();
    json_t *environment = json_object();
    json_t *top = json_pack("{s:s, s:o, s:o}", "version", rubus_version(), "plugins",
                            plugins, "environment", environment);
    bool good = top != NULL;
    for (uint32_t at = 0; good && at < nplugin; at++) {
        good = json_array_append_new(plugins, plugin_json(at)) == 0;
    }
    const char *name;
    const char *value;
    for (uint32_t at = 0; good && rubus_environment_get(at, &name, &value) == RUBUS_OK;
         at++) {
        good = cli_json_add(environment, name, cli_json_string(value));
    }
    if (!good) {
        json_decref(top);
        return cli_out_of_memory();
    }
    return cli_json_finish(top, CLI_DONE);
}

static int run_devices(int argc, char **argv)
{
    cli_common common = {.backend = NULL};
    int exit_status = CLI_DONE;
    const int code =
        cli_next(&cli_devices, argc, argv, ":vh", options, &common, &exit_status);
    if (code == CLI_STOP) {
        return exit_status;
    }
    if (optind < argc) {
        return cli_usage("devices", "unexpected argument '%s'", argv[optind]);
    }
    uint32_t nplugin;
    rubus_status st = rubus_plugin_count(&nplugin);
    if (st != RUBUS_OK) {
        return cli_fail_status(st, NULL);
    }
    return common.json ? print_json(nplugin) : print_text(nplugin, common.verbose);
}

const cli_command cli_devices = {
    .name = "devices",
    .summary = "list backends and their devices",
    .help =
        "Usage: rubus devices [--json] [-v]\n\n"
        "Lists every backend that was found with its file and its devices, and every\n"
        "file or folder that was refused, with the reason.\n\n"
        "      --json     one JSON object, with everything\n"
        "  -v, --verbose  also capabilities, slots, shadowed files, and the values\n"
        "                 of the environment variables\n"
        "  -h, --help     this text\n",
    .run = run_devices,
};
