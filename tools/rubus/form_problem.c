/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes what a case of forms names. What the library cannot know is checked here: which
 * member of the case has a list of the wrong length, names a parameter that no form has,
 * or leaves one out.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "form_problem.h"

enum { WHERE_SIZE = 128 };

// The library's text, with the file and the member of the case that led to it.
static int fail_at(const form_problem *p, rubus_status st, const char *where)
{
    char place[2 * WHERE_SIZE];
    snprintf(place, sizeof(place), "%s: %s", p->c->path, where);
    return cli_fail_status(st, place);
}

// --- mesh and space --------------------------------------------------------------------

static int add_marks(const form_problem *p)
{
    for (size_t i = 0; i < p->c->nmark; i++) {
        const form_mark *mark = &p->c->mark[i];
        const rubus_status st =
            mark->faces != NULL
                ? rubus_mesh_mark(p->mesh, mark->label, mark->faces)
                : rubus_mesh_mark_func(p->mesh, mark->label,
                                       rubus_module_func(p->module, mark->func));
        if (st != RUBUS_OK) {
            char where[WHERE_SIZE];
            snprintf(where, sizeof(where), "mark \"%s\"", mark->label);
            return fail_at(p, st, where);
        }
    }
    return CLI_DONE;
}

static int make_spaces(form_problem *p)
{
    rubus_status st = rubus_mesh_create(p->context, &p->c->mesh, &p->mesh);
    if (st != RUBUS_OK) {
        return fail_at(p, st, "\"mesh\"");
    }
    const int status = add_marks(p);
    if (status != CLI_DONE) {
        return status;
    }
    for (int64_t i = 0; st == RUBUS_OK && i < p->c->refine; i++) {
        st = rubus_mesh_refine(p->mesh);
    }
    if (st != RUBUS_OK) {
        return fail_at(p, st, "\"mesh\": \"refine\"");
    }
    st = rubus_space_create(p->mesh, 1, &p->fields);
    if (st == RUBUS_OK) {
        st = rubus_space_create(p->mesh, p->c->ncomponent, &p->space);
    }
    return st == RUBUS_OK ? CLI_DONE : fail_at(p, st, "\"components\"");
}

// --- grid functions --------------------------------------------------------------------

int64_t form_problem_count(rubus_shape shape)
{
    int64_t n = 1;
    for (int32_t i = 0; i < shape.rank; i++) {
        n *= shape.n[i];
    }
    return n;
}

double *form_problem_numbers(rubus_array *array, int *status)
{
    const size_t n = (size_t)rubus_array_count(array);
    double *number = calloc(n + 1, sizeof(number[0]));
    if (number == NULL) {
        *status = cli_out_of_memory();
        return NULL;
    }
    const rubus_status st = rubus_array_read(array, number, rubus_array_nbyte(array));
    if (st != RUBUS_OK) {
        free(number);
        *status = cli_fail_status(st, NULL);
        return NULL;
    }
    if (rubus_array_type(array) == RUBUS_F32) {
        // from the end, so that none is overwritten before it is read
        for (size_t i = n; i-- > 0;) {
            float single;
            memcpy(&single, (const char *)number + i * sizeof(single), sizeof(single));
            number[i] = (double)single;
        }
    }
    return number;
}

static int from_list(const form_problem *p, rubus_shape shape, const form_source *source,
                     const char *where, rubus_array **out_array)
{
    const int64_t n = form_problem_count(shape);
    if (source->n != n) {
        return case_bad(p->c->path, where, "%lld numbers, %lld needed",
                        (long long)source->n, (long long)n);
    }
    const rubus_status st =
        rubus_array_from(p->context, p->c->real, shape, source->list, out_array);
    return st == RUBUS_OK ? CLI_DONE : fail_at(p, st, where);
}

// A grid function of the space.
static int make_function(const form_problem *p, const rubus_space *space,
                         const form_source *source, const char *where,
                         rubus_array **out_array)
{
    if (source->kind == FORM_LIST) {
        return from_list(p, rubus_space_shape(space), source, where, out_array);
    }
    rubus_array *array = NULL;
    rubus_status st = rubus_space_array(space, source->number, &array);
    if (st == RUBUS_OK && source->kind == FORM_FUNC) {
        st = rubus_project(space, rubus_module_func(p->module, source->func), source->how,
                           NULL, source->time, array);
    }
    if (st != RUBUS_OK) {
        rubus_array_destroy(array);
        return fail_at(p, st, where);
    }
    *out_array = array;
    return CLI_DONE;
}

static int make_functions(form_problem *p)
{
    const struct {
        const char *where;
        const form_source *source;
        rubus_array **out_array;
    } functions[] = {{"\"x\"", &p->c->x, &p->x},
                     {"\"y\"", &p->c->y, &p->y},
                     {"\"exact\"", &p->c->exact, &p->exact}};
    int status = CLI_DONE;
    for (size_t i = 0; status == CLI_DONE && i < 3; i++) {
        if (functions[i].source->kind != FORM_NOTHING) {
            status = make_function(p, p->space, functions[i].source, functions[i].where,
                                   functions[i].out_array);
        }
    }
    return status;
}

// --- forms and their parameters --------------------------------------------------------

static int set_number(const form_problem *p, rubus_form *form, const form_source *source,
                      const rubus_form_param *param, const char *where)
{
    if (source->kind != FORM_NUMBER) {
        return case_bad(p->c->path, where, "form \"%s\" wants one number",
                        rubus_form_name(form));
    }
    const rubus_status st = rubus_form_set_number(form, param->name, source->number);
    return st == RUBUS_OK ? CLI_DONE : fail_at(p, st, where);
}

// Numbers of one axis: a list, or the same everywhere.
static int make_line(const form_problem *p, const rubus_form *form,
                     const form_source *source, const rubus_form_param *param,
                     const char *where, rubus_array **out_array)
{
    const rubus_shape shape = RUBUS_SHAPE(rubus_mesh_shape(p->mesh).n[param->axis]);
    if (source->kind == FORM_LIST && source->axis == param->axis) {
        return from_list(p, shape, source, where, out_array);
    }
    if (source->kind != FORM_NUMBER) {
        return case_bad(p->c->path, where,
                        "form \"%s\" wants a number, or {\"axis\": \"%c\", \"values\": "
                        "[...]}",
                        rubus_form_name(form), "xyz"[param->axis]);
    }
    rubus_array *array = NULL;
    rubus_status st = rubus_array_create(p->context, p->c->real, shape, &array);
    if (st == RUBUS_OK) {
        st = rubus_array_fill(array, source->number);
    }
    if (st != RUBUS_OK) {
        rubus_array_destroy(array);
        return fail_at(p, st, where);
    }
    *out_array = array;
    return CLI_DONE;
}

static int set_field(const form_problem *p, rubus_form *form, const form_source *source,
                     const rubus_form_param *param, const char *where)
{
    rubus_array *array = NULL;
    int status;
    if (param->axis >= 0) {
        status = make_line(p, form, source, param, where, &array);
    } else if (source->axis >= 0) {
        status = case_bad(p->c->path, where,
                          "form \"%s\" wants a number, a list of them for all points, or "
                          "a \"func\"",
                          rubus_form_name(form));
    } else {
        status = make_function(p, p->fields, source, where, &array);
    }
    if (status != CLI_DONE) {
        return status;
    }
    const rubus_status st = rubus_form_set_array(form, param->name, array);
    rubus_array_destroy(array); // the form keeps its memory
    return st == RUBUS_OK ? CLI_DONE : fail_at(p, st, where);
}

// The setting of that name, or NULL.
static const form_setting *setting_of(const form_case *c, const char *name)
{
    for (size_t i = 0; i < c->nsetting; i++) {
        if (strcmp(c->setting[i].name, name) == 0) {
            return &c->setting[i];
        }
    }
    return NULL;
}

static int set_parameters(const form_problem *p, rubus_form *form)
{
    for (uint32_t i = 0; i < rubus_form_param_count(form); i++) {
        rubus_form_param param = {.struct_size = sizeof(param)};
        const rubus_status st = rubus_form_param_get(form, i, &param);
        if (st != RUBUS_OK) {
            return fail_at(p, st, "\"set\"");
        }
        const form_setting *setting = setting_of(p->c, param.name);
        char where[WHERE_SIZE];
        snprintf(where, sizeof(where), "parameter \"%s\"", param.name);
        if (setting == NULL) {
            return case_bad(p->c->path, where, "form \"%s\" needs it; give it in \"set\"",
                            rubus_form_name(form));
        }
        const int status = param.kind == RUBUS_FORM_FIELD
                               ? set_field(p, form, &setting->source, &param, where)
                               : set_number(p, form, &setting->source, &param, where);
        if (status != CLI_DONE) {
            return status;
        }
    }
    return CLI_DONE;
}

static int make_form(const form_problem *p, const char *member, const char *name,
                     rubus_space *trial, rubus_form **out_form)
{
    const rubus_status st = rubus_form_create(p->module, name, trial, p->space, out_form);
    if (st != RUBUS_OK) {
        char where[WHERE_SIZE];
        snprintf(where, sizeof(where), "\"%s\"", member);
        return fail_at(p, st, where);
    }
    return set_parameters(p, *out_form);
}

static bool has_param(const rubus_form *form, const char *name)
{
    for (uint32_t i = 0; i < rubus_form_param_count(form); i++) {
        rubus_form_param param = {.struct_size = sizeof(param)};
        if (rubus_form_param_get(form, i, &param) == RUBUS_OK &&
            strcmp(param.name, name) == 0) {
            return true;
        }
    }
    return false;
}

// Adds the parameters of a form that `but` has not.
static void list_parameters(const rubus_form *form, const rubus_form *but, char *list,
                            size_t room)
{
    for (uint32_t i = 0; i < rubus_form_param_count(form); i++) {
        rubus_form_param param = {.struct_size = sizeof(param)};
        const size_t used = strlen(list);
        if (rubus_form_param_get(form, i, &param) == RUBUS_OK &&
            !has_param(but, param.name) && used < room) {
            snprintf(list + used, room - used, "%s%s", used > 0 ? ", " : "", param.name);
        }
    }
}

static int no_parameter(const form_problem *p, const char *where)
{
    char list[256] = "";
    list_parameters(p->matrix, NULL, list, sizeof(list));
    list_parameters(p->vector, p->matrix, list, sizeof(list));
    return case_bad(p->c->path, where, "no form of the case has it (they have: %s)",
                    list[0] != '\0' ? list : "none");
}

// A setting that no form of the case has is a mistake, unless one was not made.
static int check_settings(const form_problem *p)
{
    const form_case *c = p->c;
    if ((c->matrix != NULL && p->matrix == NULL) ||
        (c->vector != NULL && p->vector == NULL)) {
        return CLI_DONE;
    }
    for (size_t i = 0; i < c->nsetting; i++) {
        const char *name = c->setting[i].name;
        if (!has_param(p->matrix, name) && !has_param(p->vector, name)) {
            char where[WHERE_SIZE];
            snprintf(where, sizeof(where), "parameter \"%s\"", name);
            return no_parameter(p, where);
        }
    }
    return CLI_DONE;
}

// The forms that the task of the case uses.
static int make_forms(form_problem *p)
{
    const form_case *c = p->c;
    const bool matrix = c->matrix != NULL && (c->what != FORM_VECTOR || c->symmetrise);
    const bool vector = c->what == FORM_SOLVE || c->what == FORM_VECTOR ||
                        (c->what == FORM_VALUE && !matrix);
    int status = CLI_DONE;
    if (matrix) {
        status = make_form(p, "matrix", c->matrix, p->space, &p->matrix);
    }
    if (status == CLI_DONE && vector) {
        status = make_form(p, "vector", c->vector, NULL, &p->vector);
    }
    return status == CLI_DONE ? check_settings(p) : status;
}

// --- conditions ------------------------------------------------------------------------

static int add_condition(const form_problem *p, const form_condition *condition,
                         const char *where)
{
    const form_source *source = &condition->source;
    rubus_status st;
    if (source->kind == FORM_NUMBER) {
        st = rubus_constraint_add_number(p->bc, condition->labels, condition->component,
                                         source->number);
        return st == RUBUS_OK ? CLI_DONE : fail_at(p, st, where);
    }
    // a list may be shorter: the values of one component
    const bool one = source->kind == FORM_LIST &&
                     source->n == form_problem_count(rubus_space_shape(p->fields));
    rubus_array *array = NULL;
    const int status =
        make_function(p, one ? p->fields : p->space, source, where, &array);
    if (status != CLI_DONE) {
        return status;
    }
    st =
        rubus_constraint_add_array(p->bc, condition->labels, condition->component, array);
    rubus_array_destroy(array); // the constraint keeps its memory
    return st == RUBUS_OK ? CLI_DONE : fail_at(p, st, where);
}

static int make_conditions(form_problem *p)
{
    if (p->c->ncondition == 0) {
        return CLI_DONE;
    }
    const rubus_status st = rubus_constraint_create(p->space, &p->bc);
    int status = st == RUBUS_OK ? CLI_DONE : fail_at(p, st, "\"dirichlet\"");
    for (size_t i = 0; status == CLI_DONE && i < p->c->ncondition; i++) {
        char where[WHERE_SIZE];
        snprintf(where, sizeof(where), "condition %zu of \"dirichlet\"", i + 1);
        status = add_condition(p, &p->c->condition[i], where);
    }
    return status;
}

// --- all of it -------------------------------------------------------------------------

int form_problem_make(const form_case *c, const cli_common *common, const char *source,
                      rubus_context *context, form_problem *out_problem)
{
    *out_problem = (form_problem){.c = c, .context = context};
    rubus_module_options options = cli_module_options(common);
    options.real = c->real;
    const rubus_status st =
        rubus_module_create_file(context, source, &options, &out_problem->module);
    int status = st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, NULL);
    if (status == CLI_DONE) {
        status = make_spaces(out_problem);
    }
    if (status == CLI_DONE) {
        status = make_forms(out_problem);
    }
    if (status == CLI_DONE) {
        status = make_conditions(out_problem);
    }
    return status == CLI_DONE ? make_functions(out_problem) : status;
}

// --- numbers that are none -------------------------------------------------------------

// "parameter "c" is nan at point (1, 2), counted from 0"
static void tell_strange(const char *name, double value, int64_t at, rubus_shape shape,
                         char *text, size_t room)
{
    size_t used =
        (size_t)snprintf(text, room, "parameter \"%s\" is %g at point (", name, value);
    for (int32_t d = 0; d < shape.rank && used < room; d++) {
        used += (size_t)snprintf(text + used, room - used, "%s%lld%s", d > 0 ? ", " : "",
                                 (long long)(at % shape.n[d]),
                                 d + 1 == shape.rank ? "), counted from 0" : "");
        at /= shape.n[d];
    }
}

int form_problem_strange(const form_problem *p, char *text, size_t room)
{
    const form_case *c = p->c;
    int status = CLI_DONE;
    text[0] = '\0';
    for (size_t k = 0; status == CLI_DONE && text[0] == '\0' && k < c->nsetting; k++) {
        const form_setting *setting = &c->setting[k];
        rubus_array *array = NULL;
        if (setting->source.kind != FORM_FUNC) {
            continue; // numbers of a case are finite
        }
        status = make_function(p, p->fields, &setting->source, setting->name, &array);
        double *number = status == CLI_DONE ? form_problem_numbers(array, &status) : NULL;
        for (int64_t i = 0; number != NULL && i < rubus_array_count(array); i++) {
            if (!isfinite(number[i])) {
                tell_strange(setting->name, number[i], i, rubus_array_shape(array), text,
                             room);
                break;
            }
        }
        free(number);
        rubus_array_destroy(array);
    }
    return status;
}

void form_problem_free(form_problem *p)
{
    rubus_array_destroy(p->x);
    rubus_array_destroy(p->y);
    rubus_array_destroy(p->exact);
    rubus_constraint_destroy(p->bc);
    rubus_form_destroy(p->matrix);
    rubus_form_destroy(p->vector);
    rubus_space_destroy(p->space);
    rubus_space_destroy(p->fields);
    rubus_mesh_destroy(p->mesh);
    rubus_module_destroy(p->module);
    *p = (form_problem){.c = NULL};
}
