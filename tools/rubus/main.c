/* SPDX-License-Identifier: Apache-2.0 */
/* The program `rubus`: finds the command and runs it. */
#include "config.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

static const cli_command *const commands[] = {
    &cli_devices, &cli_solve, &cli_run,   &cli_form,
    &cli_kernel,  &cli_spmv,  &cli_bench, &cli_conformance,
};
#define NCOMMAND (sizeof(commands) / sizeof(commands[0]))

static void print_help(void)
{
    fputs("Usage: rubus COMMAND [options]\n\n"
          "Computes on structured grids and sparse matrices with any backend.\n\n"
          "Commands:\n",
          stdout);
    for (size_t i = 0; i < NCOMMAND; i++) {
        printf("  %-13s%s\n", commands[i]->name, commands[i]->summary);
    }
    fputs("\nrubus COMMAND --help tells the options of a command.\n"
          "\n  -h, --help       this text\n  -V, --version    version of the program and "
          "the library\n",
          stdout);
}

static int print_version(void)
{
    printf("rubus %s (library %s)\n", PACKAGE_VERSION, rubus_version());
    return cli_finish(CLI_DONE);
}

int main(int argc, char **argv)
{
    // This thread reads and writes numbers with a point, whatever the process does.
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain != (locale_t)0) {
        uselocale(plain);
    }
    if (argc < 2) {
        return cli_usage(NULL, "a command is missing");
    }
    const char *word = argv[1];
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
        print_help();
        return cli_finish(CLI_DONE);
    }
    if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0) {
        return print_version();
    }
    for (size_t i = 0; i < NCOMMAND; i++) {
        if (strcmp(word, commands[i]->name) == 0) {
            return commands[i]->run(argc - 1, argv + 1);
        }
    }
    return cli_usage(NULL, word[0] == '-' ? "unknown option %s" : "no command '%s'",
                     word);
}
