/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rubus form: solves, applies, assembles the forms of a file on the mesh of a case. The
 * case is read and the name of the output is looked at before any device is opened.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "form_result.h"
#include "measure.h"

enum { FORM_DO = CLI_OWN };

static const struct option options[] = {
    {"case", required_argument, NULL, 'c'},
    {"output", required_argument, NULL, 'o'},
    {"do", required_argument, NULL, FORM_DO},
    CLI_OPTION_BACKEND,
    CLI_OPTION_REAL,
    CLI_OPTION_INDEX,
    CLI_OPTION_CHECK,
    CLI_OPTION_JSON,
    CLI_OPTION_LAST,
};

typedef struct form_options {
    cli_common common;
    const char *source;
    const char *case_path;
    const char *output;
    int32_t what; // -1: as the case says
} form_options;

// --- tasks -----------------------------------------------------------------------------

static rubus_status make_operator(const form_problem *p, rubus_operator **out_operator)
{
    switch (p->c->stored) {
    case FORM_STORED_STENCIL:
        return rubus_form_operator_stored(p->matrix, p->bc, RUBUS_STENCIL, out_operator);
    case FORM_STORED_CSR:
        return rubus_form_operator_stored(p->matrix, p->bc, RUBUS_CSR, out_operator);
    default:
        return rubus_form_operator(p->matrix, p->bc, out_operator);
    }
}

// A new grid function, the field of the result: a copy of `from`, or zeros.
static rubus_status make_field(const form_problem *p, rubus_array *from, form_result *r)
{
    const rubus_status st = rubus_space_array(p->space, 0, &r->field);
    return st == RUBUS_OK && from != NULL ? rubus_array_copy(r->field, from) : st;
}

static rubus_status run_solver(const form_problem *p, rubus_operator *op, rubus_array *F,
                               form_result *r)
{
    const form_case *c = p->c;
    const bool cg =
        c->solver == FORM_CG || (c->solver == FORM_BY_SYMMETRY &&
                                 rubus_operator_symmetric(op) == RUBUS_SYMMETRIC_YES);
    measure_progress progress = measure_progress_begin("|r|");
    const rubus_krylov_desc desc = {
        .struct_size = sizeof(desc),
        .rtol = c->rtol,
        .atol = c->atol,
        .niter = c->niter,
        .progress = progress.terminal ? measure_progress_show : NULL,
        .user = &progress,
    };
    r->report.struct_size = sizeof(r->report);
    r->solver = cg ? "cg" : "bicgstab";
    const double start = measure_seconds();
    const rubus_status st =
        (cg ? rubus_solve_cg : rubus_solve_bicgstab)(op, F, r->field, &desc, &r->report);
    r->seconds = measure_seconds() - start;
    measure_progress_end(&progress);
    return st;
}

// A u = F; x, if the case has it, is the start value.
static rubus_status solve(const form_problem *p, form_result *r)
{
    rubus_operator *op = NULL;
    rubus_array *F = NULL;
    rubus_status st = rubus_space_array(p->space, 0, &F);
    if (st == RUBUS_OK) {
        st = rubus_form_vector(p->vector, p->bc, F);
    }
    if (st == RUBUS_OK) {
        st = make_field(p, p->x, r);
    }
    if (st == RUBUS_OK) {
        st = make_operator(p, &op);
    }
    if (st == RUBUS_OK) {
        st = run_solver(p, op, F, r);
    }
    rubus_operator_destroy(op);
    rubus_array_destroy(F);
    return st;
}

static rubus_status apply(const form_problem *p, form_result *r)
{
    rubus_operator *op = NULL;
    rubus_status st = make_field(p, NULL, r);
    if (st == RUBUS_OK) {
        st = make_operator(p, &op);
    }
    if (st == RUBUS_OK) {
        st = rubus_operator_apply(op, 1, p->x, 0, r->field);
    }
    rubus_operator_destroy(op);
    return st;
}

// F; for a symmetrised matrix with what the known values add to the right side.
static rubus_status vector(const form_problem *p, form_result *r)
{
    rubus_status st = make_field(p, NULL, r);
    if (st == RUBUS_OK) {
        st = rubus_form_vector(p->vector, p->bc, r->field);
    }
    if (st == RUBUS_OK && p->c->symmetrise && p->bc != NULL) {
        st = rubus_form_lift(p->matrix, p->bc, r->field);
    }
    return st;
}

static rubus_status run_task(const form_problem *p, form_result *r)
{
    switch (p->c->what) {
    case FORM_SOLVE:
        return solve(p, r);
    case FORM_APPLY:
        return apply(p, r);
    case FORM_ASSEMBLE:
        return rubus_form_matrix(p->matrix, p->bc,
                                 p->c->symmetrise ? RUBUS_SYM : RUBUS_ROWS, &r->csr);
    case FORM_VECTOR:
        return vector(p, r);
    default:
        return p->matrix != NULL ? rubus_form_value(p->matrix, p->x, p->y, &r->value)
                                 : rubus_form_value(p->vector, NULL, p->y, &r->value);
    }
}

// --- the command -----------------------------------------------------------------------

static int run_in_context(const form_options *o, const form_case *c,
                          rubus_context *context)
{
    form_problem p;
    form_result r = {.info = {.struct_size = sizeof(r.info)}};
    int status = form_problem_make(c, &o->common, o->source, context, &p);
    if (status == CLI_DONE) {
        rubus_status st = rubus_context_info_get(context, &r.info);
        if (st == RUBUS_OK) {
            st = run_task(&p, &r);
        }
        status = st == RUBUS_OK ? form_result_compare(&p, &r) : cli_fail_status(st, NULL);
    }
    if (status == CLI_DONE && r.solver != NULL &&
        r.report.outcome != RUBUS_OUTCOME_CONVERGED) {
        status = form_problem_strange(&p, r.strange, sizeof(r.strange));
    }
    if (status == CLI_DONE) {
        status = form_result_finish(&p, &r, o->output, o->common.json);
    }
    rubus_array_destroy(r.field);
    rubus_csr_destroy(r.csr);
    form_problem_free(&p);
    return status;
}

static int run_case(const form_options *o)
{
    form_case c;
    rubus_context *context = NULL;
    int status = form_case_read(o->case_path, o->common.real, o->what, &c);
    if (status == CLI_DONE) {
        status = form_result_check(&c, o->output);
    }
    if (status == CLI_DONE) {
        status = cli_open(&o->common, &context);
    }
    if (status == CLI_DONE) {
        status = run_in_context(o, &c, context);
    }
    form_case_free(&c);
    rubus_context_destroy(context);
    return status;
}

static int run_form(int argc, char **argv)
{
    form_options o = {.what = -1};
    int status;
    for (;;) {
        const int code =
            cli_next(&cli_form, argc, argv, ":b:c:o:vh", options, &o.common, &status);
        if (code == CLI_STOP) {
            return status;
        }
        if (code == CLI_END) {
            break;
        }
        if (code == 'c') {
            o.case_path = optarg;
        } else if (code == 'o') {
            o.output = optarg;
        } else if (!cli_word(&cli_form, "do", optarg, form_whats, &o.what)) {
            return CLI_USAGE;
        }
    }
    if (argc - optind != 1) {
        return cli_usage("form", "expected one file of forms, got %d", argc - optind);
    }
    if (o.case_path == NULL) {
        return cli_usage("form", "--case is missing");
    }
    o.source = argv[optind];
    return run_case(&o);
}

const cli_command cli_form = {
    .name = "form",
    .summary = "solve, apply or assemble the forms of a file",
    .help =
        "Usage: rubus form FILE.rk --case CASE.json [-o OUT]\n\n"
        "Makes the mesh of the case and the forms of the file on it, and does as the\n"
        "case says: solves A u = F, or gives A, F, A x, or a number.\n"
        "Exit status 0: done; 1: not converged (the field is written all the same).\n\n"
        "  -c, --case FILE        the case (see rubus(1))\n"
        "      --do solve|apply|assemble|vector|value\n"
        "                         instead of what the case says\n"
        "  -o, --output FILE      the field: .vtr, .tsv, .txt, .bin, .png, .mtx;\n"
        "                         a matrix: .mtx or .mtx.gz\n"
        "  -b, --backend SPEC     where to run; default $RUBUS_BACKEND, else threads\n"
        "      --real f32|f64     type of the numbers (that of the case, else f64)\n"
        "      --index i32|i64    type of row and column numbers, and of `int` (i32)\n"
        "      --check            with bounds checks\n"
        "      --json             one JSON object on stdout\n"
        "  -v, --verbose          say which backend, device and plugin are used\n"
        "  -h, --help             this text\n",
    .run = run_form,
};
