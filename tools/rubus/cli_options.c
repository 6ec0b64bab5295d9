/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options after the habits of GNU, by getopt_long, with messages of our own: they name
 * the command, the option and its value. Numbers must be numbers to their last character.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static const char *const real_words[] = {"f32", "f64", NULL};
static const char *const index_words[] = {"i32", "i64", NULL};

static int report_bad_option(const cli_command *command, const struct option *options,
                             char **argv)
{
    // getopt leaves 0 in optopt for a long option it does not know, the code of one that
    // got a value and takes none, or the letter that it does not know.
    if (optopt == 0) {
        return cli_usage(command->name, "unknown or ambiguous option %s",
                         argv[optind - 1]);
    }
    for (const struct option *o = options; o->name != NULL; o++) {
        if (o->val == optopt) {
            return cli_usage(command->name, "option --%s takes no value", o->name);
        }
    }
    return cli_usage(command->name, "unknown option -%c", optopt);
}

// A short form of a long option is named as it was typed too: the two may look different.
static int report_missing_value(const cli_command *command, const struct option *options,
                                char **argv)
{
    const char *typed = argv[optind - 1];
    for (const struct option *o = options; o->name != NULL; o++) {
        if (o->val == optopt && strncmp(typed, "--", 2) == 0 &&
            strcmp(typed + 2, o->name) != 0) {
            return cli_usage(command->name, "option %s (short for --%s) needs a value",
                             typed, o->name);
        }
        if (o->val == optopt) {
            return cli_usage(command->name, "option --%s needs a value", o->name);
        }
    }
    return cli_usage(command->name, "option -%c needs a value", optopt);
}

// 1: it was a common option; 0: one of the command's; -1: a message was printed
static int take_common(const cli_command *command, int code, cli_common *common)
{
    int32_t at;
    switch (code) {
    case 'b':
        common->backend = optarg;
        return 1;
    case 'v':
        common->verbose = true;
        return 1;
    case CLI_JSON:
        common->json = true;
        return 1;
    case CLI_CHECK:
        common->check = true;
        return 1;
    case CLI_REAL:
        if (!cli_word(command, "real", optarg, real_words, &at)) {
            return -1;
        }
        common->real = at == 0 ? RUBUS_F32 : RUBUS_F64;
        return 1;
    case CLI_INDEX:
        if (!cli_word(command, "index", optarg, index_words, &at)) {
            return -1;
        }
        common->index = at == 0 ? RUBUS_I32 : RUBUS_I64;
        return 1;
    default:
        return 0;
    }
}

int cli_next(const cli_command *command, int argc, char **argv, const char *letters,
             const struct option *options, cli_common *common, int *exit_status)
{
    opterr = 0;
    for (;;) {
        const int code = getopt_long(argc, argv, letters, options, NULL);
        if (code == -1) {
            return CLI_END;
        }
        if (code == '?') {
            *exit_status = report_bad_option(command, options, argv);
            return CLI_STOP;
        }
        if (code == ':') {
            *exit_status = report_missing_value(command, options, argv);
            return CLI_STOP;
        }
        if (code == 'h') {
            fputs(command->help, stdout);
            *exit_status = cli_finish(CLI_DONE);
            return CLI_STOP;
        }
        const int taken = take_common(command, code, common);
        if (taken < 0) {
            *exit_status = CLI_USAGE;
            return CLI_STOP;
        }
        if (taken == 0) {
            return code;
        }
    }
}

bool cli_integer(const cli_command *command, const char *name, const char *text,
                 int64_t least, int64_t *out)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    const bool number = text[0] != '\0' && strchr(" \t\n\v\f\r", text[0]) == NULL;
    if (!number || end == text || *end != '\0') {
        cli_usage(command->name, "--%s: '%s' is not a whole number", name, text);
        return false;
    }
    if (errno == ERANGE) {
        cli_usage(command->name, "--%s: %s is too large", name, text);
        return false;
    }
    if (value < least) {
        cli_usage(command->name, "--%s: %s is less than %lld", name, text,
                  (long long)least);
        return false;
    }
    *out = value;
    return true;
}

bool cli_parse_real(const char *text, double *out)
{
    if (text[0] == '\0' || strchr(" \t\n\v\f\r", text[0]) != NULL) {
        return false;
    }
    char *end;
    errno = 0;
    const double value = strtod(text, &end);
    if (end == text || *end != '\0') {
        errno = EINVAL;
        return false;
    }
    // A number too small for a double becomes 0 or a denormal, and is right so.
    if (errno == ERANGE && fabs(value) > 1) {
        return false;
    }
    *out = value;
    return true;
}

bool cli_real(const cli_command *command, const char *name, const char *text, double *out)
{
    double value;
    if (!cli_parse_real(text, &value) || !isfinite(value)) {
        cli_usage(command->name, "--%s: '%s' is not a finite number", name, text);
        return false;
    }
    *out = value;
    return true;
}

bool cli_positive(const cli_command *command, const char *name, const char *text,
                  double *out)
{
    double value;
    if (!cli_real(command, name, text, &value)) {
        return false;
    }
    if (value <= 0) {
        cli_usage(command->name, "--%s: %s is not positive", name, text);
        return false;
    }
    *out = value;
    return true;
}

bool cli_word(const cli_command *command, const char *name, const char *text,
              const char *const *words, int32_t *out)
{
    char list[256] = "";
    for (int32_t i = 0; words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = i;
            return true;
        }
        strncat(list, i > 0 ? ", " : "", sizeof(list) - strlen(list) - 1);
        strncat(list, words[i], sizeof(list) - strlen(list) - 1);
    }
    cli_usage(command->name, "--%s: '%s' is none of %s", name, text, list);
    return false;
}

int cli_open(const cli_common *common, rubus_context **out_context)
{
    rubus_status st = rubus_context_create(common->backend, out_context);
    if (st != RUBUS_OK) {
        // A spec that cannot be read is a mistake of the command line.
        const int exit_status = cli_fail_status(st, NULL);
        return st == RUBUS_EINVAL         ? CLI_USAGE
               : exit_status == CLI_INPUT ? CLI_DEVICE
                                          : exit_status;
    }
    if (common->verbose) {
        rubus_context_info info = {.struct_size = sizeof(info)};
        st = rubus_context_info_get(*out_context, &info);
        if (st != RUBUS_OK) {
            rubus_context_destroy(*out_context);
            *out_context = NULL;
            return cli_fail_status(st, NULL);
        }
        fprintf(stderr, "rubus: backend %s (%s), device %u: %s", info.backend, info.why,
                info.device_index, info.device);
        if (info.threads > 0) {
            fprintf(stderr, ", %u threads", info.threads);
        }
        fprintf(stderr, ", plugin %s %s\n", info.plugin, info.version);
    }
    return CLI_DONE;
}

rubus_module_options cli_module_options(const cli_common *common)
{
    return (rubus_module_options){
        .struct_size = sizeof(rubus_module_options),
        .real = common->real,
        .index = common->index,
        .check = common->check,
    };
}
