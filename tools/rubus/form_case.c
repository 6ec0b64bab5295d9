/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a case of forms, member by member: all is checked that can be without the forms
 * and without a device, and each message says which member of which object is wrong.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "form_case.h"

#define BAD(c, where, ...) case_bad((c)->path, (where), __VA_ARGS__)

enum { WHERE_SIZE = 128, MAX_REFINE = 30 };

const char *const form_whats[] = {"solve", "apply", "assemble", "vector", "value", NULL};

// --- members of any object -------------------------------------------------------------

// A whole number; *out stays if it is not there.
static int read_count(const form_case *c, json_t *object, const char *where,
                      const char *member, int64_t least, int64_t most, int64_t *out)
{
    const json_t *value = json_object_get(object, member);
    if (value == NULL) {
        return CLI_DONE;
    }
    if (!json_is_integer(value) || json_integer_value(value) < least ||
        json_integer_value(value) > most) {
        return BAD(c, where, "\"%s\" must be a whole number from %lld to %lld", member,
                   (long long)least, (long long)most);
    }
    *out = json_integer_value(value);
    return CLI_DONE;
}

static int read_finite(const form_case *c, json_t *object, const char *where,
                       const char *member, double *out)
{
    const json_t *value = json_object_get(object, member);
    if (value == NULL) {
        return CLI_DONE;
    }
    if (!json_is_number(value)) {
        return BAD(c, where, "\"%s\" is no number", member);
    }
    *out = json_number_value(value);
    return CLI_DONE;
}

// As the library wants it, to which 0 means its default, and less means 0.
static int read_tolerance(const form_case *c, const char *member, double *out)
{
    double value = 0;
    const int status = read_finite(c, c->document, NULL, member, &value);
    if (status == CLI_DONE && value < 0) {
        return BAD(c, NULL, "\"%s\" is negative", member);
    }
    const bool given = json_object_get(c->document, member) != NULL;
    *out = value > 0 ? value : given ? -1 : 0;
    return status;
}

static int read_truth(const form_case *c, const char *member, bool *out)
{
    const json_t *value = json_object_get(c->document, member);
    if (value != NULL && !json_is_boolean(value)) {
        return BAD(c, NULL, "\"%s\" must be true or false", member);
    }
    *out = json_is_true(value);
    return CLI_DONE;
}

static int read_text(const form_case *c, json_t *object, const char *where,
                     const char *member, const char **out)
{
    const json_t *value = json_object_get(object, member);
    if (value != NULL && !json_is_string(value)) {
        return BAD(c, where, "\"%s\" is no text", member);
    }
    *out = json_string_value(value);
    return CLI_DONE;
}

static int need(const form_case *c, bool there, const char *where, const char *member)
{
    return there ? CLI_DONE : BAD(c, where, "\"%s\" is missing", member);
}

// --- sources ---------------------------------------------------------------------------

static int read_list(const form_case *c, const json_t *list, const char *where,
                     form_source *out)
{
    const size_t n = json_array_size(list);
    out->kind = FORM_LIST;
    out->n = (int64_t)n;
    out->list = calloc(n + 1, c->real == RUBUS_F32 ? sizeof(float) : sizeof(double));
    if (out->list == NULL) {
        return cli_out_of_memory();
    }
    for (size_t i = 0; i < n; i++) {
        if (!case_put_real(c->real, out->list, (int64_t)i, json_array_get(list, i))) {
            return BAD(c, where, "number %zu of the list is no number of type %s", i + 1,
                       c->real == RUBUS_F32 ? "f32" : "f64");
        }
    }
    return CLI_DONE;
}

static int read_func(const form_case *c, json_t *value, const char *where,
                     form_source *out)
{
    static const char *const words[] = {"func", "how", "time", NULL};
    static const char *const hows[] = {"point", "mean", NULL};
    int32_t how = 0;
    int status = case_known(c->path, where, value, words);
    if (status == CLI_DONE) {
        status = read_text(c, value, where, "func", &out->func);
    }
    if (status == CLI_DONE) {
        status = need(c, out->func != NULL, where, "func");
    }
    if (status == CLI_DONE) {
        status = case_word(c->path, where, value, "how", hows, &how);
    }
    out->kind = FORM_FUNC;
    out->how = how == 0 ? RUBUS_POINT : RUBUS_CELL_MEAN;
    return status == CLI_DONE ? read_finite(c, value, where, "time", &out->time) : status;
}

// {"axis": "x", "values": [...]}: for parameters that are fields of one axis
static int read_axis_list(const form_case *c, json_t *value, const char *where,
                          form_source *out)
{
    static const char *const words[] = {"axis", "values", NULL};
    static const char *const axes[] = {"x", "y", "z", NULL};
    int status = case_known(c->path, where, value, words);
    if (status == CLI_DONE) {
        status = case_word(c->path, where, value, "axis", axes, &out->axis);
    }
    if (status == CLI_DONE && out->axis >= c->mesh.ndim) {
        return BAD(c, where, "the mesh has no axis %s", axes[out->axis]);
    }
    const json_t *list = json_object_get(value, "values");
    if (status == CLI_DONE && !json_is_array(list)) {
        return BAD(c, where, "\"values\" must be a list of numbers");
    }
    return status == CLI_DONE ? read_list(c, list, where, out) : status;
}

static int read_source(const form_case *c, json_t *value, const char *where,
                       form_source *out)
{
    *out = (form_source){.axis = -1};
    if (value == NULL) {
        return CLI_DONE;
    }
    if (json_is_array(value)) {
        return read_list(c, value, where, out);
    }
    if (json_is_object(value)) {
        return json_object_get(value, "axis") != NULL
                   ? read_axis_list(c, value, where, out)
                   : read_func(c, value, where, out);
    }
    out->kind = FORM_NUMBER;
    if (!case_real_as(c->real, value, &out->number)) {
        return BAD(c, where,
                   "must be a number of type %s, a list of them, or an object with a "
                   "\"func\"",
                   c->real == RUBUS_F32 ? "f32" : "f64");
    }
    return CLI_DONE;
}

// A member of the document that is a source over all points.
static int read_points_source(const form_case *c, const char *member, form_source *out)
{
    char where[WHERE_SIZE];
    snprintf(where, sizeof(where), "\"%s\"", member);
    const int status = read_source(c, json_object_get(c->document, member), where, out);
    if (status == CLI_DONE && out->axis >= 0) {
        return BAD(c, where, "\"axis\" is for parameters in \"set\" only");
    }
    return status;
}

// --- the mesh --------------------------------------------------------------------------

static int read_interval(const form_case *c, const json_t *value, const char *where,
                         rubus_axis_desc *axis)
{
    const json_t *lower = json_array_get(value, 0);
    const json_t *upper = json_array_get(value, 1);
    if (json_array_size(value) != 2 || !json_is_number(lower) || !json_is_number(upper)) {
        return BAD(c, where, "\"interval\" must be a list of two numbers");
    }
    axis->lower = json_number_value(lower);
    axis->upper = json_number_value(upper);
    return CLI_DONE;
}

static int read_points(form_case *c, const json_t *value, const char *where, int at)
{
    const size_t n = json_array_size(value);
    double *point = calloc(n + 1, sizeof(point[0]));
    if (point == NULL) {
        return cli_out_of_memory();
    }
    c->point[at] = point;
    c->mesh.axis[at].point = point;
    c->mesh.axis[at].n = (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        if (!json_is_number(json_array_get(value, i))) {
            return BAD(c, where, "\"points\": number %zu is no number", i + 1);
        }
        point[i] = json_number_value(json_array_get(value, i));
    }
    return n > 0 && json_is_array(value)
               ? CLI_DONE
               : BAD(c, where, "\"points\" must be a list of numbers");
}

static int read_axis(form_case *c, json_t *value, int at)
{
    static const char *const words[] = {"n", "interval", "points", "seed", NULL};
    rubus_axis_desc *axis = &c->mesh.axis[at];
    char where[WHERE_SIZE];
    snprintf(where, sizeof(where), "axis %c of the mesh", "xyz"[at]);
    if (!json_is_object(value)) {
        return BAD(c, where,
                   "must be an object with \"n\" and \"interval\", or \"points\"");
    }
    int status = case_known(c->path, where, value, words);
    const json_t *points = json_object_get(value, "points");
    const json_t *interval = json_object_get(value, "interval");
    if (status == CLI_DONE && points != NULL &&
        (json_object_get(value, "n") != NULL || json_object_get(value, "seed") != NULL)) {
        return BAD(c, where, "\"points\" goes with neither \"n\" nor \"seed\"");
    }
    if (status == CLI_DONE && interval != NULL) {
        status = read_interval(c, interval, where, axis);
    }
    if (status == CLI_DONE && points != NULL) {
        return read_points(c, points, where, at);
    }
    if (status == CLI_DONE) {
        status = need(c, interval != NULL, where, "interval");
    }
    if (status == CLI_DONE) {
        status = read_count(c, value, where, "n", 1, INT32_MAX, &axis->n);
    }
    if (status == CLI_DONE) {
        status = need(c, axis->n > 0, where, "n");
    }
    int64_t seed = 0;
    if (status == CLI_DONE) {
        status = read_count(c, value, where, "seed", 1, INT64_MAX, &seed);
    }
    axis->seed = (uint64_t)seed;
    return status;
}

static int read_axes(form_case *c, json_t *axes)
{
    const size_t n = json_array_size(axes);
    if (!json_is_array(axes) || n < 1 || n > 3) {
        return BAD(c, "\"mesh\"", "\"axes\" must be a list of 1 to 3 axes");
    }
    c->mesh.ndim = (int32_t)n;
    int status = CLI_DONE;
    for (size_t i = 0; status == CLI_DONE && i < n; i++) {
        status = read_axis(c, json_array_get(axes, i), (int)i);
    }
    return status;
}

static int read_marks(form_case *c, json_t *marks)
{
    static const char *const words[] = {"func", NULL};
    if (marks == NULL) {
        return CLI_DONE;
    }
    if (!json_is_object(marks)) {
        return BAD(c, "\"mesh\"", "\"marks\" must be an object");
    }
    c->mark = calloc(json_object_size(marks) + 1, sizeof(c->mark[0]));
    if (c->mark == NULL) {
        return cli_out_of_memory();
    }
    const char *key;
    json_t *value;
    json_object_foreach(marks, key, value)
    {
        form_mark *mark = &c->mark[c->nmark++];
        mark->label = key;
        mark->faces = json_string_value(value);
        mark->func = json_string_value(json_object_get(value, "func"));
        char where[WHERE_SIZE];
        snprintf(where, sizeof(where), "mark \"%s\"", key);
        if (mark->faces == NULL && mark->func == NULL) {
            return BAD(c, where, "must be names of faces, or an object with a \"func\"");
        }
        const int status = case_known(c->path, where, value, words);
        if (status != CLI_DONE) {
            return status;
        }
    }
    return CLI_DONE;
}

static int read_mesh(form_case *c)
{
    static const char *const words[] = {"axes", "marks", "time", "refine", NULL};
    json_t *mesh = json_object_get(c->document, "mesh");
    if (!json_is_object(mesh)) {
        return BAD(c, NULL, "\"mesh\" must be an object with a list of \"axes\"");
    }
    c->mesh.struct_size = sizeof(c->mesh);
    c->mesh.type = c->real;
    int status = case_known(c->path, "\"mesh\"", mesh, words);
    if (status == CLI_DONE) {
        status = read_axes(c, json_object_get(mesh, "axes"));
    }
    if (status == CLI_DONE) {
        status = read_marks(c, json_object_get(mesh, "marks"));
    }
    if (status == CLI_DONE) {
        status = read_finite(c, mesh, "\"mesh\"", "time", &c->mesh.time);
    }
    return status == CLI_DONE
               ? read_count(c, mesh, "\"mesh\"", "refine", 0, MAX_REFINE, &c->refine)
               : status;
}

// --- parameters and conditions ---------------------------------------------------------

static int read_settings(form_case *c)
{
    json_t *settings = json_object_get(c->document, "set");
    if (settings == NULL) {
        return CLI_DONE;
    }
    if (!json_is_object(settings)) {
        return BAD(c, NULL, "\"set\" must be an object");
    }
    c->setting = calloc(json_object_size(settings) + 1, sizeof(c->setting[0]));
    if (c->setting == NULL) {
        return cli_out_of_memory();
    }
    const char *key;
    json_t *value;
    json_object_foreach(settings, key, value)
    {
        form_setting *setting = &c->setting[c->nsetting++];
        setting->name = key;
        char where[WHERE_SIZE];
        snprintf(where, sizeof(where), "parameter \"%s\"", key);
        const int status = read_source(c, value, where, &setting->source);
        if (status != CLI_DONE) {
            return status;
        }
    }
    return CLI_DONE;
}

static int read_condition(const form_case *c, json_t *value, const char *where,
                          form_condition *out)
{
    static const char *const words[] = {"labels", "component", "value", NULL};
    if (!json_is_object(value)) {
        return BAD(c, where, "must be an object with \"labels\" and \"value\"");
    }
    int64_t component = -1;
    int status = case_known(c->path, where, value, words);
    if (status == CLI_DONE) {
        status = read_text(c, value, where, "labels", &out->labels);
    }
    if (status == CLI_DONE) {
        status = need(c, out->labels != NULL, where, "labels");
    }
    if (status == CLI_DONE) {
        status =
            read_count(c, value, where, "component", 0, c->ncomponent - 1, &component);
    }
    out->component = (int32_t)component;
    if (status == CLI_DONE) {
        status = need(c, json_object_get(value, "value") != NULL, where, "value");
    }
    if (status == CLI_DONE) {
        status = read_source(c, json_object_get(value, "value"), where, &out->source);
    }
    return status == CLI_DONE && out->source.axis >= 0
               ? BAD(c, where, "\"axis\" is for parameters in \"set\" only")
               : status;
}

static int read_conditions(form_case *c)
{
    json_t *conditions = json_object_get(c->document, "dirichlet");
    if (conditions == NULL) {
        return CLI_DONE;
    }
    if (!json_is_array(conditions)) {
        return BAD(c, NULL, "\"dirichlet\" must be a list");
    }
    c->condition = calloc(json_array_size(conditions) + 1, sizeof(c->condition[0]));
    if (c->condition == NULL) {
        return cli_out_of_memory();
    }
    size_t i;
    json_t *value;
    json_array_foreach(conditions, i, value)
    {
        char where[WHERE_SIZE];
        snprintf(where, sizeof(where), "condition %zu of \"dirichlet\"", i + 1);
        c->ncondition++; // form_case_free gives its list back
        const int status = read_condition(c, value, where, &c->condition[i]);
        if (status != CLI_DONE) {
            return status;
        }
    }
    return CLI_DONE;
}

// --- the document ----------------------------------------------------------------------

static int read_solver(form_case *c)
{
    static const char *const solvers[] = {"cg", "bicgstab", NULL};
    static const char *const stored[] = {"none", "stencil", "csr", NULL};
    c->solver = FORM_BY_SYMMETRY;
    int status = case_word(c->path, NULL, c->document, "solver", solvers, &c->solver);
    if (status == CLI_DONE) {
        status = case_word(c->path, NULL, c->document, "stored", stored, &c->stored);
    }
    if (status == CLI_DONE) {
        status = read_tolerance(c, "rtol", &c->rtol);
    }
    if (status == CLI_DONE) {
        status = read_tolerance(c, "atol", &c->atol);
    }
    if (status == CLI_DONE) {
        status = read_count(c, c->document, NULL, "niter", 1, INT64_MAX, &c->niter);
    }
    return status == CLI_DONE ? read_truth(c, "symmetrise", &c->symmetrise) : status;
}

static int read_forms(form_case *c)
{
    int64_t ncomponent = 1;
    int status =
        read_count(c, c->document, NULL, "components", 1, INT32_MAX, &ncomponent);
    c->ncomponent = (int32_t)ncomponent;
    if (status == CLI_DONE) {
        status = read_text(c, c->document, NULL, "matrix", &c->matrix);
    }
    return status == CLI_DONE ? read_text(c, c->document, NULL, "vector", &c->vector)
                              : status;
}

static int read_sources(form_case *c)
{
    int status = read_settings(c);
    if (status == CLI_DONE) {
        status = read_conditions(c);
    }
    if (status == CLI_DONE) {
        status = read_points_source(c, "x", &c->x);
    }
    if (status == CLI_DONE) {
        status = read_points_source(c, "y", &c->y);
    }
    return status == CLI_DONE ? read_points_source(c, "exact", &c->exact) : status;
}

// What the task of the case needs, and is not there.
static int check_needed(const form_case *c)
{
    char where[WHERE_SIZE];
    snprintf(where, sizeof(where), "\"do\": \"%s\"", form_whats[c->what]);
    const bool value = c->what == FORM_VALUE; // of the vector, if there is no matrix
    const bool matrix =
        c->what == FORM_VECTOR ? c->symmetrise : !(value && c->vector != NULL);
    const bool vector = c->what == FORM_SOLVE || c->what == FORM_VECTOR;
    int status = need(c, !matrix || c->matrix != NULL, where, "matrix");
    if (status == CLI_DONE) {
        status = need(c, !vector || c->vector != NULL, where, "vector");
    }
    if (status == CLI_DONE) {
        const bool x = c->what == FORM_APPLY || (value && c->matrix != NULL);
        status = need(c, !x || c->x.kind != FORM_NOTHING, where, "x");
    }
    return status == CLI_DONE ? need(c, !value || c->y.kind != FORM_NOTHING, where, "y")
                              : status;
}

static int read_document(form_case *c, int32_t real, int32_t what)
{
    static const char *const words[] = {
        "real",   "mesh",       "components", "do",   "matrix", "vector",
        "set",    "dirichlet",  "solver",     "rtol", "atol",   "niter",
        "stored", "symmetrise", "x",          "y",    "exact",  NULL};
    static const char *const reals[] = {"f32", "f64", NULL};
    int32_t real_at = 1;
    int status = case_load(c->path, &c->document);
    if (status == CLI_DONE) {
        status = case_known(c->path, NULL, c->document, words);
    }
    if (status == CLI_DONE) {
        status = case_word(c->path, NULL, c->document, "real", reals, &real_at);
    }
    c->real = real != 0 ? real : real_at == 0 ? RUBUS_F32 : RUBUS_F64;
    if (status == CLI_DONE) {
        status = case_word(c->path, NULL, c->document, "do", form_whats, &c->what);
    }
    c->what = what >= 0 ? what : c->what;
    return status;
}

int form_case_read(const char *path, int32_t real, int32_t what, form_case *out_case)
{
    *out_case = (form_case){.path = path};
    int status = read_document(out_case, real, what);
    if (status == CLI_DONE) {
        status = read_mesh(out_case);
    }
    if (status == CLI_DONE) {
        status = read_forms(out_case);
    }
    if (status == CLI_DONE) {
        status = read_solver(out_case);
    }
    if (status == CLI_DONE) {
        status = read_sources(out_case);
    }
    return status == CLI_DONE ? check_needed(out_case) : status;
}

void form_case_free(form_case *c)
{
    for (size_t i = 0; i < c->nsetting; i++) {
        free(c->setting[i].source.list);
    }
    for (size_t i = 0; i < c->ncondition; i++) {
        free(c->condition[i].source.list);
    }
    for (size_t i = 0; i < 3; i++) {
        free(c->point[i]);
    }
    free(c->x.list);
    free(c->y.list);
    free(c->exact.list);
    free(c->mark);
    free(c->setting);
    free(c->condition);
    json_decref(c->document);
    *c = (form_case){.path = NULL};
}
