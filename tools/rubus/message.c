/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything the program says on stderr, and which exit status belongs to which failure
 * of the library. Each message begins with "rubus: ", so that it can be told from the
 * output of whatever else runs in a script.
 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

int cli_fail(int exit_status, const char *format, ...)
{
    fputs("rubus: ", stderr);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return exit_status;
}

int cli_usage(const char *command, const char *format, ...)
{
    fputs("rubus: ", stderr);
    if (command != NULL) {
        fprintf(stderr, "%s: ", command);
    }
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\nTry 'rubus %s%s--help'.\n", command != NULL ? command : "",
            command != NULL ? " " : "");
    return CLI_USAGE;
}

int(cli_out_of_memory)(void) // command.h: a macro of this name for the analyser
{
    return cli_fail(CLI_DEVICE, "out of memory");
}

// RUBUS_ECOMPILE without errors in the source: the backend's own compiler failed.
static int exit_status_of(rubus_status st)
{
    switch (st) {
    case RUBUS_OK:
        return CLI_DONE;
    case RUBUS_EINVAL:
    case RUBUS_ESHAPE:
    case RUBUS_ETYPE:
    case RUBUS_EALIAS:
    case RUBUS_ESTALE:
    case RUBUS_EBOUNDS:
    case RUBUS_ENOTFOUND:
    case RUBUS_EFORMAT:
    case RUBUS_EIO:
    case RUBUS_ELIMIT:
        return CLI_INPUT;
    default:
        return CLI_DEVICE;
    }
}

// Every first line of a compile error ("FILE:LINE:COLUMN: error[K017]: ...") gets the
// program's name too.
static void print_compile_errors(const char *text)
{
    while (*text != '\0') {
        const size_t size = strcspn(text, "\n");
        const char *mark = memmem(text, size, ": error[K", 9);
        if (mark == NULL) {
            mark = memmem(text, size, ": warning[K", 11);
        }
        fprintf(stderr, "%s%.*s\n", mark != NULL ? "rubus: " : "", (int)size, text);
        text += size;
        text += *text == '\n';
    }
}

int cli_fail_status(rubus_status st, const char *where)
{
    const char *text = rubus_error_text();
    if (text[0] == '\0') {
        text = rubus_status_text(st);
    }
    if (st == RUBUS_ECOMPILE && strstr(text, ": error[K") != NULL) {
        print_compile_errors(text);
        return CLI_INPUT;
    }
    if (where != NULL) {
        fprintf(stderr, "rubus: %s: %s\n", where, text);
    } else {
        fprintf(stderr, "rubus: %s\n", text);
    }
    return exit_status_of(st);
}

int cli_finish(int exit_status)
{
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return cli_fail(CLI_INPUT, "cannot write the results to stdout: %s",
                        errno != 0 ? strerror(errno) : "an earlier write failed");
    }
    return exit_status;
}
