/* SPDX-License-Identifier: Apache-2.0 */
/* rubus conformance: certifies a backend. The checks are in tools/conformance. */
#include "config.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "conform.h"

enum {
    OPTION_LEVEL = CLI_OWN,
    OPTION_FILTER,
    OPTION_LIST,
    OPTION_FILE,
    OPTION_SEED,
    OPTION_PATIENCE
};

static const struct option options[] = {
    {"level", required_argument, NULL, OPTION_LEVEL},
    {"filter", required_argument, NULL, OPTION_FILTER},
    {"list", no_argument, NULL, OPTION_LIST},
    {"json", required_argument, NULL, OPTION_FILE},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"patience", required_argument, NULL, OPTION_PATIENCE},
    CLI_OPTION_LAST,
};

typedef struct conformance_options {
    cli_common common;
    int level;
    const char *filter; // NULL: all
    bool list;
    const char *json; // NULL: none
    int64_t seed;
    double patience;
    const char *operand;
} conformance_options;

static bool take_option(int code, conformance_options *o)
{
    switch (code) {
    case OPTION_LEVEL:
        if (!conform_level_parse(optarg, &o->level)) {
            cli_usage("conformance", "--level: '%s' is none of load, basic, full, stress",
                      optarg);
            return false;
        }
        return true;
    case OPTION_FILTER:
        o->filter = optarg;
        return true;
    case OPTION_LIST:
        o->list = true;
        return true;
    case OPTION_FILE:
        o->json = optarg;
        return true;
    case OPTION_SEED:
        return cli_integer(&cli_conformance, "seed", optarg, 0, &o->seed);
    default:
        return cli_positive(&cli_conformance, "patience", optarg, &o->patience);
    }
}

static bool is_wanted(const conformance_options *o, const conform_check *check)
{
    return check->level <= o->level &&
           (o->filter == NULL || fnmatch(o->filter, check->name, 0) == 0);
}

static size_t count_wanted(const conformance_options *o)
{
    size_t n = 0;
    const conform_check *check;
    for (size_t at = 0; (check = conform_check_at(at)) != NULL; at++) {
        n += is_wanted(o, check);
    }
    return n;
}

static int list_checks(const conformance_options *o)
{
    const conform_check *check;
    for (size_t at = 0; (check = conform_check_at(at)) != NULL; at++) {
        if (is_wanted(o, check)) {
            printf("%-40s %-6s %s\n", check->name, conform_level_name(check->level),
                   check->summary);
        }
    }
    return cli_finish(CLI_DONE);
}

/* Whether there is something to examine; else the exit status after a message. */
static int look(const conformance_options *o, conform_facts *facts)
{
    const int exit_status = conform_facts_parse(o->operand, facts);
    if (exit_status != CLI_DONE) {
        return exit_status;
    }
    conform_survey(facts, o->patience);
    if (!facts->listed || facts->status == RUBUS_ENODEV) {
        return cli_fail(facts->status == RUBUS_EINVAL ? CLI_USAGE : CLI_DEVICE,
                        "conformance: %s", facts->reason);
    }
    if (!facts->opened && facts->status == RUBUS_EINVAL) {
        return cli_fail(CLI_USAGE, "conformance: %s", facts->reason);
    }
    return CLI_DONE;
}

/* Runs what is wanted; the exit status. */
static int run_rows(const conformance_options *o, const conform_facts *facts,
                    conform_row *row, size_t n)
{
    int exit_status = CLI_DONE;
    size_t number = 0;
    const conform_check *check;
    conform_tap_plan(n, facts, (uint64_t)o->seed);
    for (size_t at = 0; (check = conform_check_at(at)) != NULL; at++) {
        if (!is_wanted(o, check)) {
            continue;
        }
        conform_result *result = &row[number].result;
        row[number].check = check;
        conform_run(check, facts, (uint64_t)o->seed, o->patience, result);
        if (conform_interrupted()) {
            return CLI_NO; // the process ends by the signal
        }
        conform_tap_result(++number, check, result);
        exit_status = result->outcome == CONFORM_FAILED ? CLI_NO : exit_status;
    }
    if (o->json != NULL) {
        const int written = conform_json_write(o->json, facts, o->level, o->filter,
                                               (uint64_t)o->seed, row, n);
        exit_status = written != CLI_DONE ? written : exit_status;
    }
    return exit_status;
}

static int run_checks(const conformance_options *o)
{
    const size_t n = count_wanted(o);
    if (n == 0) {
        return cli_usage("conformance",
                         "no check of that level matches '%s'; --list shows their names",
                         o->filter);
    }
    char cache[256];
    conform_facts *facts = calloc(1, sizeof *facts);
    conform_row *row = calloc(n, sizeof *row);
    if (facts == NULL || row == NULL) {
        free(facts);
        free(row);
        return cli_out_of_memory();
    }
    int exit_status = CLI_DEVICE;
    if (conform_cache_open(cache)) {
        exit_status = look(o, facts);
        if (exit_status == CLI_DONE) {
            exit_status = run_rows(o, facts, row, n);
        }
        conform_cache_close(cache);
    }
    free(facts);
    free(row);
    return cli_finish(exit_status);
}

static int run_conformance(int argc, char **argv)
{
    conformance_options o = {.level = CONFORM_FULL, .seed = 1, .patience = 1};
    int exit_status;
    for (;;) {
        const int code = cli_next(&cli_conformance, argc, argv, ":vh", options, &o.common,
                                  &exit_status);
        if (code == CLI_STOP) {
            return exit_status;
        }
        if (code == CLI_END) {
            break;
        }
        if (!take_option(code, &o)) {
            return CLI_USAGE;
        }
    }
    if (argc - optind > 1) {
        return cli_usage("conformance", "one backend at a time, not also '%s'",
                         argv[optind + 1]);
    }
    if (o.json != NULL && strcmp(o.json, "-") == 0) {
        return cli_usage("conformance", "--json wants a file: the results go to stdout");
    }
    if (o.list) {
        return list_checks(&o);
    }
    const char *chosen = getenv("RUBUS_BACKEND");
    o.operand = argc > optind                         ? argv[optind]
                : chosen != NULL && chosen[0] != '\0' ? chosen
                                                      : "threads";
    return run_checks(&o);
}

const cli_command cli_conformance = {
    .name = "conformance",
    .summary = "certify a backend: named checks, TAP on stdout",
    .help =
        "Usage: rubus conformance [NAME | SPEC | rubus-NAME.so] [options]\n\n"
        "Examines a backend: each check runs in a process of its own with a limit of\n"
        "time. Results go to stdout as TAP 13. Checks are skipped only for what the\n"
        "plugin declares not to have. Without an argument: $RUBUS_BACKEND, or "
        "threads.\n\n"
        "      --level load|basic|full|stress\n"
        "                       how much: each level includes those before it (full)\n"
        "      --filter GLOB    only checks whose name matches, say 'B*'\n"
        "      --list           print names, levels and summaries, and run nothing\n"
        "      --json FILE      write the certificate\n"
        "      --seed N         of random checks (1)\n"
        "      --patience F     stretches the limits of time, for slow machines (1)\n"
        "  -h, --help           this text\n\n"
        "Exit status: 0 no check failed, 1 one did, 2 usage, 4 no such backend.\n",
    .run = run_conformance,
};
