/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of forms. A field goes to the file as it stands on its mesh where the format
 * has meshes (.vtr), else as numbers in their order, x fastest.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "form_result.h"

static const char *real_name(const form_case *c)
{
    return c->real == RUBUS_F32 ? "f32" : "f64";
}

static const char *stored_name(const form_case *c)
{
    static const char *const names[] = {"none", "stencil", "csr"};
    return names[c->stored];
}

// --- which files -----------------------------------------------------------------------

static bool is_matrix_market(const char *path)
{
    return cli_has_ending(path, ".mtx") || cli_has_ending(path, ".mtx.gz");
}

// CLI_DONE if a field of the case fits a file of that ending.
static int check_field_path(const form_case *c, const char *output)
{
    static const char *const endings[] = {".vtr", ".tsv", ".txt",    ".bin",
                                          ".png", ".mtx", ".mtx.gz", NULL};
    size_t i = 0;
    while (endings[i] != NULL && !cli_has_ending(output, endings[i])) {
        i++;
    }
    if (endings[i] == NULL) {
        return cli_usage("form",
                         "-o %s: the name must end in .vtr, .tsv, .txt, .bin, .png, .mtx "
                         "or .mtx.gz",
                         output);
    }
    if (c->ncomponent > 1 && cli_has_ending(output, ".png")) {
        return cli_usage("form",
                         "-o %s: a picture shows one component, the case has %d; .vtr "
                         "takes all",
                         output, c->ncomponent);
    }
    if (c->ncomponent > 1 && c->mesh.ndim == 3 && cli_has_ending(output, ".tsv")) {
        return cli_usage("form",
                         "-o %s: a table has no place for components on a mesh of 3 "
                         "axes; .vtr and .txt have",
                         output);
    }
    return CLI_DONE;
}

int form_result_check(const form_case *c, const char *output)
{
    if (output == NULL) {
        return CLI_DONE;
    }
    if (c->what == FORM_VALUE) {
        return cli_usage("form", "-o %s: one number is printed, and goes to no file",
                         output);
    }
    if (c->what == FORM_ASSEMBLE) {
        return is_matrix_market(output)
                   ? CLI_DONE
                   : cli_usage("form", "-o %s: a matrix goes to .mtx or .mtx.gz", output);
    }
    return check_field_path(c, output);
}

// --- numbers ---------------------------------------------------------------------------

// exact = exact - field
static int subtract(const form_problem *p, rubus_array *field)
{
    const size_t nbyte = rubus_array_nbyte(field);
    void *data = malloc(2 * nbyte + 1);
    if (data == NULL) {
        return cli_out_of_memory();
    }
    void *other = (char *)data + nbyte;
    rubus_status st = rubus_array_read(field, data, nbyte);
    if (st == RUBUS_OK) {
        st = rubus_array_read(p->exact, other, nbyte);
    }
    for (int64_t i = 0; st == RUBUS_OK && i < rubus_array_count(field); i++) {
        if (p->c->real == RUBUS_F32) {
            ((float *)other)[i] -= ((const float *)data)[i];
        } else {
            ((double *)other)[i] -= ((const double *)data)[i];
        }
    }
    if (st == RUBUS_OK) {
        st = rubus_array_write(p->exact, other, nbyte);
    }
    free(data);
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, "\"exact\"");
}

int form_result_compare(const form_problem *p, form_result *r)
{
    if (p->exact == NULL || r->field == NULL) {
        return CLI_DONE;
    }
    const int status = subtract(p, r->field);
    if (status != CLI_DONE) {
        return status;
    }
    rubus_status st = rubus_norm_h(p->space, p->exact, NULL, &r->norm_h);
    if (st == RUBUS_OK) {
        st = rubus_norm_1h(p->space, p->exact, NULL, &r->norm_1h);
    }
    if (st == RUBUS_OK) {
        st = rubus_norm_inf(p->space, p->exact, NULL, &r->norm_inf);
    }
    r->has_error = true;
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, "\"exact\"");
}

// --- text ------------------------------------------------------------------------------

// How it ended, for people and for the titles of files: no times, so that equal runs make
// equal files.
static void describe(const form_result *r, char *text, size_t room)
{
    const rubus_krylov_report *k = &r->report;
    if (k->outcome == RUBUS_OUTCOME_CONVERGED) {
        snprintf(text, room, "converged after %lld iterations, |r| = %.6g <= %.6g",
                 (long long)k->iterations, k->residual, k->tolerance);
    } else {
        snprintf(text, room,
                 "not converged (%s): %lld iterations, |r| = %.6g, tolerance %.6g: "
                 "%s%s%s",
                 rubus_outcome_name(k->outcome), (long long)k->iterations, k->residual,
                 k->tolerance, k->why, r->strange[0] != '\0' ? "; " : "", r->strange);
    }
}

static bool wants_numbers(const form_case *c, const char *output)
{
    return output == NULL && (c->what == FORM_APPLY || c->what == FORM_VECTOR);
}

static void print_mesh(const form_problem *p)
{
    const rubus_shape shape = rubus_mesh_shape(p->mesh);
    printf("%dD, %lld", shape.rank, (long long)shape.n[0]);
    for (int32_t axis = 1; axis < shape.rank; axis++) {
        printf(" x %lld", (long long)shape.n[axis]);
    }
    printf(" point%s, %d component%s, %s\n", form_problem_count(shape) == 1 ? "" : "s",
           p->c->ncomponent, p->c->ncomponent == 1 ? "" : "s", real_name(p->c));
}

// number: of the field, or NULL.
static int print_text(const form_problem *p, const form_result *r, const double *number)
{
    rubus_csr_info info = {.struct_size = sizeof(info)};
    const rubus_status st = r->csr != NULL ? rubus_csr_info_get(r->csr, &info) : RUBUS_OK;
    if (st != RUBUS_OK) {
        return cli_fail_status(st, NULL);
    }
    print_mesh(p);
    printf("backend %s, %s\n", r->info.backend, r->info.device);
    if (r->solver != NULL) {
        char text[512];
        describe(r, text, sizeof(text));
        printf("%s, stored: %s\n%s\n%.3g s\n", r->solver, stored_name(p->c), text,
               r->seconds);
    }
    if (r->csr != NULL) {
        printf("matrix: %lld rows, %lld entries\n", (long long)info.nrow,
               (long long)info.nnz);
    }
    if (p->c->what == FORM_VALUE) {
        printf("value: %.17g\n", r->value);
    }
    if (r->has_error) {
        printf("error: norm_h %.10g, norm_1h %.10g, max %.10g\n", r->norm_h, r->norm_1h,
               r->norm_inf);
    }
    for (int64_t i = 0; number != NULL && i < rubus_array_count(r->field); i++) {
        printf("%s %.*g", i == 0 ? "values:" : "", p->c->real == RUBUS_F32 ? 9 : 17,
               number[i]);
    }
    if (number != NULL) {
        putchar('\n');
    }
    return CLI_DONE;
}

// --- JSON ------------------------------------------------------------------------------

static json_t *sizes_json(const form_problem *p)
{
    const rubus_shape shape = rubus_mesh_shape(p->mesh);
    json_t *sizes = json_array();
    for (int32_t axis = 0; axis < shape.rank; axis++) {
        json_array_append_new(sizes, json_integer(shape.n[axis]));
    }
    return sizes;
}

static json_t *numbers_json(const double *number, int64_t n)
{
    json_t *list = json_array();
    for (int64_t i = 0; list != NULL && i < n; i++) {
        if (json_array_append_new(list, cli_json_number(number[i])) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static bool add_report(json_t *object, const form_problem *p, const form_result *r)
{
    const rubus_krylov_report *k = &r->report;
    return cli_json_add(object, "solver", json_string(r->solver)) &&
           cli_json_add(object, "stored", json_string(stored_name(p->c))) &&
           cli_json_add(object, "outcome", json_string(rubus_outcome_name(k->outcome))) &&
           cli_json_add(object, "converged",
                        json_boolean(k->outcome == RUBUS_OUTCOME_CONVERGED)) &&
           cli_json_add(object, "iterations", json_integer(k->iterations)) &&
           cli_json_add(object, "residual", cli_json_number(k->residual)) &&
           cli_json_add(object, "tolerance", cli_json_number(k->tolerance)) &&
           cli_json_add(object, "time_s", cli_json_number(r->seconds));
}

static bool add_error(json_t *object, const form_result *r)
{
    return cli_json_add(object, "norm_h", cli_json_number(r->norm_h)) &&
           cli_json_add(object, "norm_1h", cli_json_number(r->norm_1h)) &&
           cli_json_add(object, "norm_inf", cli_json_number(r->norm_inf));
}

static bool add_matrix(json_t *object, rubus_csr *csr)
{
    rubus_csr_info info = {.struct_size = sizeof(info)};
    return rubus_csr_info_get(csr, &info) == RUBUS_OK &&
           cli_json_add(object, "rows", json_integer(info.nrow)) &&
           cli_json_add(object, "columns", json_integer(info.ncol)) &&
           cli_json_add(object, "entries", json_integer(info.nnz));
}

static json_t *result_json(const form_problem *p, const form_result *r,
                           const double *number)
{
    const form_case *c = p->c;
    json_t *object = json_object();
    const bool good =
        cli_json_add(object, "backend", cli_json_string(r->info.backend)) &&
        cli_json_add(object, "device", cli_json_string(r->info.device)) &&
        cli_json_add(object, "do", json_string(form_whats[c->what])) &&
        cli_json_add(object, "n", sizes_json(p)) &&
        cli_json_add(object, "components", json_integer(c->ncomponent)) &&
        cli_json_add(object, "unknowns",
                     json_integer(form_problem_count(rubus_space_shape(p->space)))) &&
        cli_json_add(object, "real", json_string(real_name(c))) &&
        (r->solver == NULL || add_report(object, p, r)) &&
        (r->csr == NULL || add_matrix(object, r->csr)) &&
        (c->what != FORM_VALUE ||
         cli_json_add(object, "value", cli_json_number(r->value))) &&
        (!r->has_error || add_error(object, r)) &&
        (number == NULL ||
         cli_json_add(object, "values",
                      numbers_json(number, rubus_array_count(r->field))));
    if (!good) {
        json_decref(object);
        return NULL;
    }
    return object;
}

// --- files -----------------------------------------------------------------------------

// The name of what is written.
static const char *field_name(const form_case *c)
{
    return c->what == FORM_SOLVE ? "u" : c->what == FORM_APPLY ? "Ax" : "F";
}

// A vector for other programs: one column.
static int write_column(const form_problem *p, const form_result *r, const char *output)
{
    const size_t nbyte = rubus_array_nbyte(r->field);
    void *data = malloc(nbyte + 1);
    if (data == NULL) {
        return cli_out_of_memory();
    }
    rubus_status st = rubus_array_read(r->field, data, nbyte);
    if (st == RUBUS_OK) {
        st = rubus_mm_write_array(output, p->c->real, rubus_array_count(r->field), 1, 0,
                                  data, NULL);
    }
    free(data);
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, NULL);
}

// Formats without a mesh: points side by side, as far apart as they are on the average.
static rubus_status write_plain(const form_problem *p, const form_result *r,
                                const char *title, const char *output)
{
    rubus_output_desc desc = {
        .struct_size = sizeof(desc), .name = field_name(p->c), .title = title};
    rubus_set set;
    rubus_status st = rubus_mesh_set_get(p->mesh, &set);
    if (st != RUBUS_OK) {
        return st;
    }
    const rubus_shape shape = rubus_mesh_shape(p->mesh);
    for (int32_t d = 0; d < shape.rank; d++) {
        const double n = (double)(shape.n[d] > 1 ? shape.n[d] - 1 : 1);
        desc.spacing[d] = (set.upper[d] - set.lower[d]) / n;
        desc.origin[d] = set.lower[d] - 0.5 * desc.spacing[d];
    }
    if (rubus_array_shape(r->field).rank < 4) {
        return rubus_field_write(output, r->field, &desc);
    }
    rubus_array *flat = NULL; // for .txt and .bin the order of the numbers is all
    st = rubus_array_view(r->field, 0, RUBUS_SHAPE(rubus_array_count(r->field)), &flat);
    if (st == RUBUS_OK) {
        st = rubus_field_write(output, flat, &desc);
    }
    rubus_array_destroy(flat);
    return st;
}

static int write_matrix(const char *output, rubus_csr *csr)
{
    rubus_status st = rubus_csr_pull(csr); // the device filled it
    if (st == RUBUS_OK) {
        st = rubus_csr_write(output, csr, RUBUS_MM_GENERAL, NULL);
    }
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, NULL);
}

static int write_field(const form_problem *p, const form_result *r, const char *output)
{
    if (is_matrix_market(output)) {
        return write_column(p, r, output);
    }
    char title[512] = "";
    if (r->solver != NULL) {
        describe(r, title, sizeof(title));
    }
    rubus_status st;
    if (cli_has_ending(output, ".vtr")) {
        const rubus_mesh_field field = {
            .name = field_name(p->c), .space = p->space, .array = r->field};
        const rubus_mesh_output_desc desc = {.struct_size = sizeof(desc), .title = title};
        st = rubus_mesh_write(output, p->mesh, &field, 1, &desc);
    } else {
        st = write_plain(p, r, title, output);
    }
    return st == RUBUS_OK ? CLI_DONE : cli_fail_status(st, NULL);
}

int form_result_finish(const form_problem *p, const form_result *r, const char *output,
                       bool json)
{
    int status = CLI_DONE;
    double *number = NULL;
    if (wants_numbers(p->c, output)) {
        number = form_problem_numbers(r->field, &status);
    } else if (output != NULL) {
        status =
            r->csr != NULL ? write_matrix(output, r->csr) : write_field(p, r, output);
    }
    if (r->solver != NULL && r->report.outcome != RUBUS_OUTCOME_CONVERGED) {
        char text[512];
        describe(r, text, sizeof(text));
        fprintf(stderr, "rubus: %s\n", text);
        status = status == CLI_DONE ? CLI_NO : status;
    }
    if (json) {
        status = cli_json_finish(result_json(p, r, number), status);
    } else {
        const int printed = print_text(p, r, number);
        status = cli_finish(status == CLI_DONE ? printed : status);
    }
    free(number);
    return status;
}
