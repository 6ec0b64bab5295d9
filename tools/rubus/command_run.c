/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubus run: builds the kernels of a file, makes the arrays of a case, launches, and
 * prints or writes what came out. The order of printing is that of the case.
 */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case_json.h"

enum { MAX_ARGS = 1024 };

static const struct option options[] = {
    {"case", required_argument, NULL, 'c'},
    {"output", required_argument, NULL, 'o'},
    CLI_OPTION_BACKEND,
    CLI_OPTION_REAL,
    CLI_OPTION_INDEX,
    CLI_OPTION_CHECK,
    CLI_OPTION_JSON,
    CLI_OPTION_LAST,
};

static int make_arrays(run_case *c, rubus_context *context)
{
    for (size_t i = 0; i < c->narray; i++) {
        case_array *a = &c->array[i];
        rubus_status st =
            rubus_array_from(context, a->type, a->shape, a->data, &a->array);
        if (st != RUBUS_OK) {
            return cli_fail_status(st, a->name);
        }
    }
    return CLI_DONE;
}

// A scalar argument: a number of the launch itself, or the name of a scalar.
static int take_scalar(const run_case *c, const char *kernel, const json_t *value,
                       const rubus_kernel_param *param, rubus_arg *out)
{
    const char *word = json_string_value(value);
    if (word != NULL && json_object_get(c->scalars, word) != NULL) {
        value = json_object_get(c->scalars, word);
        word = json_string_value(value);
    }
    double real = 0;
    if (json_is_integer(value)) {
        *out = rubus_arg_integer(json_integer_value(value));
    } else if (json_is_boolean(value)) {
        *out = rubus_arg_integer(json_is_true(value));
    } else if (case_real(value, &real)) {
        if (param->type == RUBUS_F32 && isfinite(real) && fabs(real) > (double)FLT_MAX) {
            return cli_fail(CLI_INPUT,
                            "%s: launch of \"%s\": parameter %s is %g, which f32 cannot "
                            "hold; compute in f64, or write \"inf\"",
                            c->path, kernel, param->name, real);
        }
        *out = rubus_arg_real(real);
    } else {
        return cli_fail(
            CLI_INPUT,
            "%s: launch of \"%s\": parameter %s is a scalar, and %s%s%s is no "
            "scalar of the case",
            c->path, kernel, param->name, word != NULL ? "\"" : "",
            word != NULL ? word : "the argument", word != NULL ? "\"" : "");
    }
    return CLI_DONE;
}

static int take_array(run_case *c, const char *kernel, const json_t *value,
                      const rubus_kernel_param *param, rubus_arg *out)
{
    const char *name = json_string_value(value);
    case_array *a = name != NULL ? case_find_array(c, name) : NULL;
    if (a == NULL && param->kind == RUBUS_PARAM_RESULT && name != NULL) {
        case_result *result = case_result_of(c, name);
        if (result == NULL) {
            return cli_out_of_memory();
        }
        result->printed = true;
        return CLI_DONE; // pointed at when all results are known
    }
    if (a == NULL) {
        return cli_fail(
            CLI_INPUT,
            "%s: launch of \"%s\": parameter %s is an array, and %s%s%s is no "
            "array of the case",
            c->path, kernel, param->name, name != NULL ? "\"" : "",
            name != NULL ? name : "the argument", name != NULL ? "\"" : "");
    }
    a->printed |= (param->access & RUBUS_WRITE) != 0;
    *out = rubus_arg_array(a->array);
    return CLI_DONE;
}

// Arguments of a launch, by the kinds of the kernel's parameters.
static int take_args(run_case *c, const case_launch *l, const rubus_kernel *kernel,
                     rubus_arg *args)
{
    const size_t nargs = json_array_size(l->args);
    const size_t nparam = rubus_kernel_param_count(kernel);
    if (nargs != nparam) {
        return cli_fail(CLI_INPUT,
                        "%s: launch of \"%s\": %zu argument%s given, %zu needed", c->path,
                        l->kernel, nargs, nargs == 1 ? "" : "s", nparam);
    }
    if (nargs > MAX_ARGS) {
        return cli_fail(CLI_INPUT, "%s: launch of \"%s\": more than %d arguments",
                        c->path, l->kernel, MAX_ARGS);
    }
    for (size_t i = 0; i < nargs; i++) {
        rubus_kernel_param param = {.struct_size = sizeof(param)};
        rubus_status st = rubus_kernel_param_get(kernel, (uint32_t)i, &param);
        if (st != RUBUS_OK) {
            return cli_fail_status(st, l->kernel);
        }
        const json_t *value = json_array_get(l->args, i);
        const int status = param.kind == RUBUS_PARAM_SCALAR
                               ? take_scalar(c, l->kernel, value, &param, &args[i])
                               : take_array(c, l->kernel, value, &param, &args[i]);
        if (status != CLI_DONE) {
            return status;
        }
    }
    // case_result_of may have moved the results, so their addresses are taken last.
    for (size_t i = 0; i < nargs; i++) {
        if (args[i].kind == 0) {
            case_result *result =
                case_result_of(c, json_string_value(json_array_get(l->args, i)));
            args[i] = rubus_arg_result_f64(&result->value);
        }
    }
    return CLI_DONE;
}

static int launch_one(run_case *c, const case_launch *l, rubus_module *module)
{
    const rubus_kernel *kernel = rubus_module_kernel(module, l->kernel);
    if (kernel == NULL) {
        return cli_fail_status(RUBUS_ENOTFOUND, c->path);
    }
    rubus_arg args[MAX_ARGS];
    memset(args, 0, sizeof(args));
    const int status = take_args(c, l, kernel, args);
    if (status != CLI_DONE) {
        return status;
    }
    const size_t nargs = json_array_size(l->args);
    rubus_status st;
    if (l->nrange == 0) {
        st = rubus_launch_args(kernel, args, nargs);
    } else if ((uint32_t)l->nrange != rubus_kernel_ndim(kernel)) {
        const uint32_t ndim = rubus_kernel_ndim(kernel);
        if (ndim == 0) {
            return cli_fail(CLI_INPUT,
                            "%s: launch of \"%s\": a whole-array kernel takes no range",
                            c->path, l->kernel);
        }
        return cli_fail(
            CLI_INPUT,
            "%s: launch of \"%s\": a range of %d dimension%s for a kernel of %u %s",
            c->path, l->kernel, l->nrange, l->nrange == 1 ? "" : "s", ndim,
            ndim == 1 ? "index" : "indices");
    } else {
        st = rubus_launch_range_args(kernel, l->lo, l->hi, args, nargs);
    }
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, NULL);
}

static int read_back(run_case *c)
{
    for (size_t i = 0; i < c->narray; i++) {
        case_array *a = &c->array[i];
        if (a->printed) {
            rubus_status st =
                rubus_array_read(a->array, a->data, rubus_array_nbyte(a->array));
            if (st != RUBUS_OK) {
                return cli_fail_status(st, a->name);
            }
        }
    }
    return CLI_DONE;
}

// "print" replaces what the launches marked.
static int choose_printed(run_case *c)
{
    if (c->print == NULL) {
        return CLI_DONE;
    }
    for (size_t i = 0; i < c->narray; i++) {
        c->array[i].printed = false;
    }
    for (size_t i = 0; i < c->nresult; i++) {
        c->result[i].printed = false;
    }
    for (size_t i = 0; i < json_array_size(c->print); i++) {
        const char *name = json_string_value(json_array_get(c->print, i));
        case_array *a = case_find_array(c, name);
        bool found = a != NULL;
        if (found) {
            a->printed = true;
        }
        for (size_t k = 0; !found && k < c->nresult; k++) {
            if (strcmp(c->result[k].name, name) == 0) {
                c->result[k].printed = found = true;
            }
        }
        if (!found) {
            return cli_fail(CLI_INPUT,
                            "%s: \"print\" names \"%s\", which is no array and no result",
                            c->path, name);
        }
    }
    return CLI_DONE;
}

static double real_element(const case_array *a, int64_t at)
{
    return a->type == RUBUS_F64 ? ((const double *)a->data)[at]
                                : (double)((const float *)a->data)[at];
}

static int64_t integer_element(const case_array *a, int64_t at)
{
    switch (a->type) {
    case RUBUS_I32:
        return ((const int32_t *)a->data)[at];
    case RUBUS_I64:
        return ((const int64_t *)a->data)[at];
    default:
        return ((const uint8_t *)a->data)[at] != 0;
    }
}

static bool is_real(int32_t type)
{
    return type == RUBUS_F64 || type == RUBUS_F32;
}

static void print_real(FILE *to, double value, int32_t type)
{
    if (isnan(value)) {
        fputs("nan", to); // whatever its sign bit
    } else {
        fprintf(to, "%.*g", type == RUBUS_F32 ? 9 : 17, value);
    }
}

static void print_text(const run_case *c, FILE *to)
{
    for (size_t i = 0; i < c->narray; i++) {
        const case_array *a = &c->array[i];
        if (!a->printed) {
            continue;
        }
        fprintf(to, "%s:", a->name);
        for (int64_t k = 0; k < a->count; k++) {
            fputc(' ', to);
            if (is_real(a->type)) {
                print_real(to, real_element(a, k), a->type);
            } else {
                fprintf(to, "%lld", (long long)integer_element(a, k));
            }
        }
        fputc('\n', to);
    }
    for (size_t i = 0; i < c->nresult; i++) {
        if (c->result[i].printed) {
            fprintf(to, "%s: ", c->result[i].name);
            print_real(to, c->result[i].value, c->real);
            fputc('\n', to);
        }
    }
}

static json_t *real_json(double value)
{
    if (isfinite(value)) {
        return json_real(value);
    }
    return json_string(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static json_t *array_json(const case_array *a)
{
    json_t *list = json_array();
    for (int64_t k = 0; list != NULL && k < a->count; k++) {
        json_t *value = is_real(a->type)        ? real_json(real_element(a, k))
                        : a->type == RUBUS_BOOL ? json_boolean(integer_element(a, k))
                                                : json_integer(integer_element(a, k));
        if (json_array_append_new(list, value) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *results_json(const run_case *c)
{
    json_t *object = json_object();
    bool good = object != NULL;
    for (size_t i = 0; good && i < c->narray; i++) {
        if (c->array[i].printed) {
            good = cli_json_add(object, c->array[i].name, array_json(&c->array[i]));
        }
    }
    for (size_t i = 0; good && i < c->nresult; i++) {
        if (c->result[i].printed) {
            good = cli_json_add(object, c->result[i].name, real_json(c->result[i].value));
        }
    }
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int write_field(const run_case *c, const char *path)
{
    const case_array *only = NULL;
    size_t n = 0;
    for (size_t i = 0; i < c->narray; i++) {
        if (c->array[i].printed) {
            only = &c->array[i];
            n++;
        }
    }
    if (n != 1) {
        return cli_fail(CLI_INPUT,
                        "%s takes one array and the case gives %zu: name it in \"print\"",
                        path, n);
    }
    const rubus_output_desc desc = {.struct_size = sizeof(desc), .name = only->name};
    rubus_status st = rubus_field_write(path, only->array, &desc);
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, NULL);
}

static int write_results(const run_case *c, const char *output, bool json)
{
    if (output != NULL && cli_is_field_path(output)) {
        const int status = write_field(c, output);
        return status != CLI_DONE || !json ? status
                                           : cli_json_finish(results_json(c), CLI_DONE);
    }
    if (output != NULL) {
        char *text = NULL;
        size_t size = 0;
        FILE *to = open_memstream(&text, &size);
        if (to == NULL) {
            return cli_out_of_memory();
        }
        print_text(c, to);
        int status =
            fclose(to) == 0 ? cli_write_file(output, text, size) : cli_out_of_memory();
        free(text);
        if (status != CLI_DONE || !json) {
            return status;
        }
    } else if (!json) {
        print_text(c, stdout);
    }
    return json ? cli_json_finish(results_json(c), CLI_DONE) : cli_finish(CLI_DONE);
}

typedef struct run_options {
    cli_common common;
    const char *source;
    const char *case_path;
    const char *output;
} run_options;

static int run_in_context(const run_options *o, run_case *c, rubus_context *context)
{
    rubus_module_options module_options = cli_module_options(&o->common);
    module_options.real = c->real;
    module_options.index = c->index;
    rubus_module *module = NULL;
    rubus_status st =
        rubus_module_create_file(context, o->source, &module_options, &module);
    if (st != RUBUS_OK) {
        return cli_fail_status(st, NULL);
    }
    int status = make_arrays(c, context);
    for (size_t i = 0; status == CLI_DONE && i < c->nlaunch; i++) {
        status = launch_one(c, &c->launch[i], module);
    }
    if (status == CLI_DONE) {
        // What a checked kernel found is told here, also if nothing is read.
        st = rubus_context_synchronize(context);
        status = st == RUBUS_OK ? choose_printed(c) : cli_fail_status(st, NULL);
    }
    if (status == CLI_DONE) {
        status = read_back(c);
    }
    if (status == CLI_DONE) {
        status = write_results(c, o->output, o->common.json);
    }
    rubus_module_destroy(module);
    return status;
}

static int run_run(int argc, char **argv)
{
    run_options o = {.source = NULL};
    int status;
    for (;;) {
        const int code =
            cli_next(&cli_run, argc, argv, ":b:c:o:vh", options, &o.common, &status);
        if (code == CLI_STOP) {
            return status;
        }
        if (code == CLI_END) {
            break;
        }
        if (code == 'c') {
            o.case_path = optarg;
        } else {
            o.output = optarg;
        }
    }
    if (argc - optind != 1) {
        return cli_usage("run", "expected one kernel file, got %d", argc - optind);
    }
    if (o.case_path == NULL) {
        return cli_usage("run", "--case is missing");
    }
    o.source = argv[optind];
    run_case c;
    rubus_context *context = NULL;
    status = case_read(o.case_path, o.common.real, o.common.index, &c);
    if (status == CLI_DONE) {
        status = cli_open(&o.common, &context);
    }
    if (status == CLI_DONE) {
        status = run_in_context(&o, &c, context);
    }
    case_free(&c);
    rubus_context_destroy(context);
    return status;
}

const cli_command cli_run = {
    .name = "run",
    .summary = "run the kernels of a file on the arrays of a case",
    .help =
        "Usage: rubus run FILE.rk --case CASE.json [-o OUT]\n\n"
        "Builds the kernels, makes the arrays of the case, launches as it says, and\n"
        "prints every array that a kernel may write, one line each.\n\n"
        "  -c, --case FILE        the case (see rubus(1))\n"
        "  -o, --output FILE      write there instead; .vti, .vtk, .tsv, .bin and .png\n"
        "                         take one array\n"
        "  -b, --backend SPEC     where to run; default $RUBUS_BACKEND, else threads\n"
        "      --real f32|f64     what `real` means (that of the case, else f64)\n"
        "      --index i32|i64    width of `int` and `index` (i32)\n"
        "      --check            with bounds checks\n"
        "      --json             one JSON object on stdout\n"
        "  -v, --verbose          say which backend, device and plugin are used\n"
        "  -h, --help             this text\n",
    .run = run_run,
};
