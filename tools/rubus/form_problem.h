/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TOOLS_FORM_PROBLEM_H
#define RUBUS_TOOLS_FORM_PROBLEM_H
/*
 * The objects of a case of forms, made in a context: module, mesh, space, the forms with
 * all their parameters set, the constraint, and the grid functions that the case gives.
 */
#include "form_case.h"

typedef struct form_problem {
    const form_case *c;
    rubus_context *context; // not its own
    rubus_module *module;
    rubus_mesh *mesh;
    rubus_space *space;
    rubus_space *fields;  // of one component, as fields of forms are
    rubus_form *matrix;   // NULL where the case needs none
    rubus_form *vector;   // NULL where the case needs none
    rubus_constraint *bc; // NULL: no conditions
    rubus_array *x;       // NULL: not given
    rubus_array *y;
    rubus_array *exact;
} form_problem;

/* CLI_DONE, or an exit status after its message; give the problem back either way.
 * source: the file of the forms. */
int form_problem_make(const form_case *c, const cli_common *common, const char *source,
                      rubus_context *context, form_problem *out_problem);
/* Numbers in a grid function of that shape. */
int64_t form_problem_count(rubus_shape shape);
/* The numbers of an array, as f64 also where they are f32; for free(). NULL after a
 * message, with *status. */
double *form_problem_numbers(rubus_array *array, int *status);
/* The first parameter given by a func that is not finite somewhere, and where, or "": an
 * exit status. For results that are not as wanted: what is computed does not say so. */
int form_problem_strange(const form_problem *p, char *text, size_t room);
void form_problem_free(form_problem *p);

#endif
