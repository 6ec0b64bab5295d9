/* SPDX-License-Identifier: Apache-2.0 */
/* rubus kernel check|explain|emit: the compiler without a device. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "command.h"

enum { OPTION_DIALECT = CLI_OWN, OPTION_FORM, OPTION_DIM };

static const struct option options[] = {
    {"dialect", required_argument, NULL, OPTION_DIALECT},
    {"form", required_argument, NULL, OPTION_FORM},
    {"dim", required_argument, NULL, OPTION_DIM},
    CLI_OPTION_REAL,
    CLI_OPTION_INDEX,
    CLI_OPTION_CHECK,
    CLI_OPTION_JSON,
    CLI_OPTION_LAST,
};

typedef struct kernel_options {
    cli_common common;
    const char *dialect;
    const char *form;
    const char *dim;
    const char *path;
} kernel_options;

static int check_source(const kernel_options *o)
{
    const rubus_module_options module = cli_module_options(&o->common);
    rubus_status st = rubus_source_check(o->path, &module);
    if (st != RUBUS_OK) {
        return cli_fail_status(st, NULL);
    }
    printf("%s: no errors\n", o->path);
    return cli_finish(CLI_DONE);
}

static int print_and_free(char *text)
{
    fputs(text, stdout);
    const size_t size = strlen(text);
    if (size > 0 && text[size - 1] != '\n') {
        fputc('\n', stdout);
    }
    rubus_text_free(text);
    return cli_finish(CLI_DONE);
}

static int explain_source(const kernel_options *o)
{
    const rubus_module_options module = cli_module_options(&o->common);
    char *text;
    rubus_status st = RUBUS_OK;
    if (o->form == NULL) {
        st = rubus_source_explain(o->path, &module, o->common.json, &text);
    } else if (o->dim == NULL || strlen(o->dim) != 1 || o->dim[0] < '1' ||
               o->dim[0] > '3') {
        return cli_usage("kernel", "--form needs --dim 1, 2 or 3");
    } else {
        st = rubus_source_explain_form(o->path, &module, o->form, o->dim[0] - '0',
                                       o->common.json, &text);
    }
    return st != RUBUS_OK ? cli_fail_status(st, NULL) : print_and_free(text);
}

static int emit_source(const kernel_options *o)
{
    if (o->dialect == NULL) {
        return cli_usage("kernel", "emit needs --dialect");
    }
    const rubus_module_options module = cli_module_options(&o->common);
    char *text;
    rubus_status st = rubus_source_emit(o->path, &module, o->dialect, &text);
    return st != RUBUS_OK ? cli_fail_status(st, NULL) : print_and_free(text);
}

static int run_kernel(int argc, char **argv)
{
    kernel_options o = {.dialect = NULL};
    int exit_status;
    for (;;) {
        const int code =
            cli_next(&cli_kernel, argc, argv, ":vh", options, &o.common, &exit_status);
        if (code == CLI_STOP) {
            return exit_status;
        }
        if (code == CLI_END) {
            break;
        }
        const char **value = code == OPTION_FORM  ? &o.form
                             : code == OPTION_DIM ? &o.dim
                                                  : &o.dialect;
        *value = optarg;
    }
    if (argc - optind != 2) {
        return cli_usage("kernel", "expected check, explain or emit, and one file");
    }
    const char *what = argv[optind];
    o.path = argv[optind + 1];
    if (o.dialect != NULL && strcmp(what, "emit") != 0) {
        return cli_usage("kernel", "--dialect belongs to emit");
    }
    if ((o.form != NULL || o.dim != NULL) && strcmp(what, "explain") != 0) {
        return cli_usage("kernel", "--form and --dim belong to explain");
    }
    if (o.dim != NULL && o.form == NULL) {
        return cli_usage("kernel", "--dim belongs to --form");
    }
    if (o.common.json && strcmp(what, "explain") != 0) {
        return cli_usage("kernel", "--json belongs to explain");
    }
    if (strcmp(what, "check") == 0) {
        return check_source(&o);
    }
    if (strcmp(what, "explain") == 0) {
        return explain_source(&o);
    }
    if (strcmp(what, "emit") == 0) {
        return emit_source(&o);
    }
    return cli_usage("kernel", "'%s' is none of check, explain, emit", what);
}

const cli_command cli_kernel = {
    .name = "kernel",
    .summary = "check, explain or translate a kernel source",
    .help = "Usage: rubus kernel check FILE.rk\n"
            "       rubus kernel explain FILE.rk [--form NAME --dim D] [--json]\n"
            "       rubus kernel emit FILE.rk --dialect c|glsl|opencl|rk\n\n"
            "check    compiles and prints every error\n"
            "explain  tells the passes of each kernel and why each began; of a form,\n"
            "         its terms, taps, and what its kernels cost\n"
            "emit     prints the text that a backend gets\n\n"
            "      --real f32|f64     what `real` means (f64)\n"
            "      --index i32|i64    width of `int` and `index` (i32)\n"
            "      --check            with bounds checks\n"
            "      --dialect NAME     emit: the language of the text\n"
            "      --form NAME        explain: a form, on a mesh of D dimensions\n"
            "      --dim D            1, 2 or 3\n"
            "      --json             explain: one JSON object\n"
            "  -h, --help             this text\n",
    .run = run_kernel,
};
