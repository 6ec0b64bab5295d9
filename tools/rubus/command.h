/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TOOLS_COMMAND_H
#define RUBUS_TOOLS_COMMAND_H
/*
 * What the commands share: exit statuses, messages, options, files, JSON on stdout.
 *
 * main puts its thread into the C locale before anything else, so every number here is
 * read and written with a point, also where somebody called setlocale.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>
#include <rubus/rubus.h>

enum {
    CLI_DONE = 0,
    CLI_NO = 1,     // done, but the answer is no
    CLI_USAGE = 2,  // the command line
    CLI_INPUT = 3,  // a file, a kernel, sizes
    CLI_DEVICE = 4, // no such backend or device, or it failed
};

/* --- main.c ---------------------------------------------------------------------------
 */

typedef struct cli_command {
    const char *name;
    const char *summary;
    const char *help;                  // printed by --help
    int (*run)(int argc, char **argv); // argv[0] is the command's name
} cli_command;

extern const cli_command cli_devices;
extern const cli_command cli_solve;
extern const cli_command cli_run;
extern const cli_command cli_form;
extern const cli_command cli_kernel;
extern const cli_command cli_spmv;
extern const cli_command cli_bench;
extern const cli_command cli_conformance;

/* --- message.c ------------------------------------------------------------------------
 */

/* "rubus: TEXT" on stderr; returns exit_status. */
int cli_fail(int exit_status, const char *format, ...) RUBUS_PRINTF(2, 3);
/* The library's error text, after "WHERE: " unless that is NULL; returns the exit status
 * that belongs to st. */
int cli_fail_status(rubus_status st, const char *where);
/* A wrong command line: the message, and where to read more. Returns CLI_USAGE. */
int cli_usage(const char *command, const char *format, ...) RUBUS_PRINTF(2, 3);
int cli_out_of_memory(void); // returns CLI_DEVICE
#ifdef __clang_analyzer__    // it reads one file at a time
#define cli_out_of_memory() ((cli_out_of_memory)(), CLI_DEVICE)
#endif
/* Ends a command that wrote results to stdout: what could not be written is an error. */
int cli_finish(int exit_status);

/* --- cli_options.c
 * ------------------------------------------------------------------------ */

typedef struct cli_common {
    const char *backend; // NULL: $RUBUS_BACKEND
    int32_t real;        // RUBUS_F64, RUBUS_F32; 0 if not given
    int32_t index;       // RUBUS_I32, RUBUS_I64; 0 if not given
    bool check;
    bool json;
    bool verbose;
} cli_common;

/* Codes of options that have no letter. Those of a command start at CLI_OWN. */
enum {
    CLI_REAL = 256,
    CLI_INDEX,
    CLI_CHECK,
    CLI_JSON,
    CLI_OWN,
};
#define CLI_END (-1)  // no more options; optind is the first operand
#define CLI_STOP (-2) // a message or the help was printed: return *exit_status

#define CLI_OPTION_BACKEND                                                               \
    {                                                                                    \
        "backend", required_argument, NULL, 'b'                                          \
    }
#define CLI_OPTION_REAL                                                                  \
    {                                                                                    \
        "real", required_argument, NULL, CLI_REAL                                        \
    }
#define CLI_OPTION_INDEX                                                                 \
    {                                                                                    \
        "index", required_argument, NULL, CLI_INDEX                                      \
    }
#define CLI_OPTION_CHECK                                                                 \
    {                                                                                    \
        "check", no_argument, NULL, CLI_CHECK                                            \
    }
#define CLI_OPTION_JSON                                                                  \
    {                                                                                    \
        "json", no_argument, NULL, CLI_JSON                                              \
    }
#define CLI_OPTION_LAST                                                                  \
    {"verbose", no_argument, NULL, 'v'}, {"help", no_argument, NULL, 'h'},               \
    {                                                                                    \
        NULL, 0, NULL, 0                                                                 \
    }

/* The next option of the command's own, its code (optarg is its value); the common ones
 * are put into *common. CLI_END or CLI_STOP otherwise. */
int cli_next(const cli_command *command, int argc, char **argv, const char *letters,
             const struct option *options, cli_common *common, int *exit_status);
/* Value of the option --name; false after the message of a usage error. */
bool cli_integer(const cli_command *command, const char *name, const char *text,
                 int64_t least, int64_t *out);
bool cli_real(const cli_command *command, const char *name, const char *text,
              double *out);
bool cli_positive(const cli_command *command, const char *name, const char *text,
                  double *out);
/* One of the words at `words` (ends with NULL): its place. */
bool cli_word(const cli_command *command, const char *name, const char *text,
              const char *const *words, int32_t *out);
/* Whole text as a finite or infinite number, or NaN; blanks are not allowed. errno is
 * ERANGE after digits that a double cannot hold; those too small give 0 or a denormal. */
bool cli_parse_real(const char *text, double *out);

/* Opens the device that the options ask for; with -v says which one it is. Returns
 * CLI_DONE, or an exit status after its message. */
int cli_open(const cli_common *common, rubus_context **out_context);
/* Options of a module, from the options of the command. */
rubus_module_options cli_module_options(const cli_common *common);

/* --- input_file.c ---------------------------------------------------------------------
 */

/* Opens a regular file to read, without waiting for a FIFO; the caller closes it.
 * CLI_DONE, or CLI_INPUT after a message with the path and why. */
int cli_open_input(const char *path, FILE **out_file);

/* --- result_file.c --------------------------------------------------------------------
 */

/* Writes a file whole or not at all; "-" is stdout. Returns an exit status. */
int cli_write_file(const char *path, const char *text, size_t size);
/* Whether results written to both paths would replace each other; devices and pipes take
 * several. */
bool cli_same_file(const char *one, const char *other);
/* Whether the path ends in `ending` (".png"), letter case ignored. */
bool cli_has_ending(const char *path, const char *ending);
/* Whether it is a file of a format of fields, which takes one array; .txt is not among
 * them: `rubus run` writes its lines there. */
bool cli_is_field_path(const char *path);

/* --- json_result.c --------------------------------------------------------------------
 */

/* A number for JSON; null where JSON has none (NaN, infinity). */
json_t *cli_json_number(double value);
/* Any text for JSON; bytes that are no UTF-8 (in the names of files) become '?'. */
json_t *cli_json_string(const char *text);
/* Adds a new member; false and nothing leaked if out of memory. */
bool cli_json_add(json_t *object, const char *key, json_t *value);
/* Prints the object on stdout, gives it back and ends the command. */
int cli_json_finish(json_t *object, int exit_status);

#endif
