/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TOOLS_FORM_RESULT_H
#define RUBUS_TOOLS_FORM_RESULT_H
/* What came out of a case of forms: printed, as JSON, and in files. */
#include "form_problem.h"

typedef struct form_result {
    rubus_context_info info;
    rubus_array *field; // solution, product or vector; NULL: the task has none
    rubus_csr *csr;     // of the task "assemble"
    double value;       // of the task "value"
    rubus_krylov_report report;
    const char *solver; // NULL: nothing was solved
    char strange[128];  // of what did not converge: form_problem_strange
    double seconds;     // of the solver
    bool has_error;     // the case has an exact solution
    double norm_h;      // of its difference from the field
    double norm_1h;
    double norm_inf;
} form_result;

/* Whether the file can take what the case gives: CLI_DONE, or CLI_USAGE after a message
 * with the endings that can. output may be NULL. */
int form_result_check(const form_case *c, const char *output);
/* The norms of field - exact, if both are there; an exit status. */
int form_result_compare(const form_problem *p, form_result *r);
/* Writes the file, if output is not NULL, then prints; the exit status of the command. */
int form_result_finish(const form_problem *p, const form_result *r, const char *output,
                       bool json);

#endif
