/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a case with jansson, member by member. Unknown members, counts that do not fit
 * and numbers that their type cannot hold are errors: a test input must not be half read.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case_json.h"

#define BAD(c, ...) case_bad((c)->path, NULL, __VA_ARGS__)

const char *case_type_name(int32_t type)
{
    static const char *const names[] = {"?", "f32", "f64", "i32", "i64", "bool"};
    return type >= RUBUS_F32 && type <= RUBUS_BOOL ? names[type] : names[0];
}

static size_t type_size(int32_t type)
{
    return type == RUBUS_BOOL ? 1 : type == RUBUS_F32 || type == RUBUS_I32 ? 4 : 8;
}

static int read_type(run_case *c, case_array *a, const json_t *value)
{
    if (value == NULL) {
        a->type = c->real;
        return CLI_DONE;
    }
    const struct {
        const char *word;
        int32_t type;
    } words[] = {
        {"real", c->real},  {"index", c->index}, {"int", c->index},  {"bool", RUBUS_BOOL},
        {"f32", RUBUS_F32}, {"f64", RUBUS_F64},  {"i32", RUBUS_I32}, {"i64", RUBUS_I64},
    };
    const char *text = json_string_value(value);
    for (size_t i = 0; text != NULL && i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(text, words[i].word) == 0) {
            a->type = words[i].type;
            return CLI_DONE;
        }
    }
    return BAD(c,
               "array \"%s\": \"type\" must be real, index, bool, f32, f64, i32 or i64",
               a->name);
}

static int read_shape(run_case *c, case_array *a, const json_t *value)
{
    const size_t rank = json_array_size(value);
    if (!json_is_array(value) || rank < 1 || rank > 4) {
        return BAD(c, "array \"%s\": \"shape\" must be a list of 1 to 4 sizes", a->name);
    }
    a->shape.rank = (int32_t)rank;
    a->count = 1;
    for (size_t i = 0; i < rank; i++) {
        const json_t *size = json_array_get(value, i);
        if (!json_is_integer(size) || json_integer_value(size) < 0) {
            return BAD(c, "array \"%s\": size number %zu is not a whole number >= 0",
                       a->name, i + 1);
        }
        a->shape.n[i] = json_integer_value(size);
        if (__builtin_mul_overflow(a->count, a->shape.n[i], &a->count) ||
            a->count > INT64_MAX / 8) {
            return BAD(c, "array \"%s\" is larger than any memory", a->name);
        }
    }
    return CLI_DONE;
}

// Puts a number of the document into element `at`; false if its type cannot hold it.
static bool store_number(const case_array *a, int64_t at, const json_t *value)
{
    char *const to = (char *)a->data + (size_t)at * type_size(a->type);
    if (a->type == RUBUS_F64 || a->type == RUBUS_F32) {
        return case_put_real(a->type, a->data, at, value);
    }
    if (a->type == RUBUS_BOOL) {
        const bool truth =
            json_is_true(value) || (json_is_integer(value) && json_integer_value(value));
        *to = truth;
        return json_is_boolean(value) ||
               (json_is_integer(value) &&
                (json_integer_value(value) == 0 || json_integer_value(value) == 1));
    }
    if (!json_is_integer(value)) {
        return false;
    }
    const int64_t number = json_integer_value(value);
    if (a->type == RUBUS_I64) {
        memcpy(to, &number, sizeof(number));
        return true;
    }
    const int32_t narrow = (int32_t)number;
    memcpy(to, &narrow, sizeof(narrow));
    return narrow == number;
}

static int read_elements(run_case *c, case_array *a, const json_t *data,
                         const json_t *fill)
{
    if (data != NULL && fill != NULL) {
        return BAD(c, "array \"%s\" has both \"data\" and \"fill\"", a->name);
    }
    if (data != NULL &&
        (!json_is_array(data) || json_array_size(data) != (size_t)a->count)) {
        return BAD(c, "array \"%s\": its shape holds %lld numbers, \"data\" %zu", a->name,
                   (long long)a->count, json_array_size(data));
    }
    a->data = calloc(a->count > 0 ? (size_t)a->count : 1, type_size(a->type));
    if (a->data == NULL) {
        return BAD(c, "array \"%s\": no memory for %lld numbers", a->name,
                   (long long)a->count);
    }
    for (int64_t i = 0; (data != NULL || fill != NULL) && i < a->count; i++) {
        const json_t *value = data != NULL ? json_array_get(data, (size_t)i) : fill;
        if (!store_number(a, i, value)) {
            return BAD(c, "array \"%s\": element %lld is no number of type %s", a->name,
                       (long long)i, case_type_name(a->type));
        }
    }
    return CLI_DONE;
}

static int read_array(run_case *c, case_array *a, const char *name, json_t *value)
{
    static const char *const words[] = {"type", "shape", "data", "fill", NULL};
    a->name = name;
    if (!json_is_object(value)) {
        return BAD(c, "array \"%s\" must be an object with a \"shape\"", name);
    }
    char where[128];
    snprintf(where, sizeof(where), "array \"%s\"", name);
    int status = case_known(c->path, where, value, words);
    if (status == CLI_DONE) {
        status = read_type(c, a, json_object_get(value, "type"));
    }
    if (status == CLI_DONE) {
        status = read_shape(c, a, json_object_get(value, "shape"));
    }
    if (status == CLI_DONE) {
        status = read_elements(c, a, json_object_get(value, "data"),
                               json_object_get(value, "fill"));
    }
    return status;
}

static int read_arrays(run_case *c)
{
    json_t *arrays = json_object_get(c->document, "arrays");
    if (arrays == NULL) {
        return CLI_DONE;
    }
    if (!json_is_object(arrays)) {
        return BAD(c, "\"arrays\" must be an object");
    }
    c->array = calloc(json_object_size(arrays) + 1, sizeof(c->array[0]));
    if (c->array == NULL) {
        return cli_out_of_memory();
    }
    const char *key;
    json_t *value;
    json_object_foreach(arrays, key, value)
    {
        c->narray++; // case_free gives its data back
        const int status = read_array(c, &c->array[c->narray - 1], key, value);
        if (status != CLI_DONE) {
            return status;
        }
    }
    return CLI_DONE;
}

static int read_scalars(run_case *c)
{
    c->scalars = json_object_get(c->document, "scalars");
    if (c->scalars != NULL && !json_is_object(c->scalars)) {
        return BAD(c, "\"scalars\" must be an object");
    }
    const char *key;
    json_t *value;
    json_object_foreach(c->scalars, key, value)
    {
        double number;
        if (!case_real(value, &number) && !json_is_boolean(value)) {
            return BAD(c, "scalar \"%s\" is no number", key);
        }
        if (case_find_array(c, key) != NULL) {
            return BAD(c, "\"%s\" is both an array and a scalar", key);
        }
    }
    return CLI_DONE;
}

static int read_range(run_case *c, case_launch *l, const json_t *range)
{
    const size_t n = json_array_size(range);
    if (!json_is_array(range) || n < 1 || n > 3) {
        return BAD(c, "launch of \"%s\": \"range\" must be a list of 1 to 3 pairs",
                   l->kernel);
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *pair = json_array_get(range, i);
        const json_t *lo = json_array_get(pair, 0);
        const json_t *hi = json_array_get(pair, 1);
        if (json_array_size(pair) != 2 || !json_is_integer(lo) || !json_is_integer(hi)) {
            return BAD(c,
                       "launch of \"%s\": range number %zu is no pair of whole numbers",
                       l->kernel, i + 1);
        }
        l->lo[i] = json_integer_value(lo);
        l->hi[i] = json_integer_value(hi);
    }
    l->nrange = (int32_t)n;
    return CLI_DONE;
}

static int read_launch_object(run_case *c, case_launch *l, json_t *value)
{
    static const char *const words[] = {"kernel", "args", "range", NULL};
    const int status = case_known(c->path, "launch", value, words);
    if (status != CLI_DONE) {
        return status;
    }
    l->kernel = json_string_value(json_object_get(value, "kernel"));
    if (l->kernel == NULL) {
        return BAD(c, "a launch names no \"kernel\"");
    }
    json_t *args = json_object_get(value, "args");
    if (args != NULL && !json_is_array(args)) {
        return BAD(c, "launch of \"%s\": \"args\" must be a list", l->kernel);
    }
    for (size_t i = 0; i < json_array_size(args); i++) {
        if (json_array_append(l->args, json_array_get(args, i)) != 0) {
            return cli_out_of_memory();
        }
    }
    json_t *range = json_object_get(value, "range");
    return range != NULL ? read_range(c, l, range) : CLI_DONE;
}

static int read_launch(run_case *c, case_launch *l, json_t *value)
{
    l->args = json_array();
    if (l->args == NULL) {
        return cli_out_of_memory();
    }
    if (json_is_object(value)) {
        return read_launch_object(c, l, value);
    }
    l->kernel = json_string_value(json_array_get(value, 0));
    if (l->kernel == NULL) {
        return BAD(c, "a launch is no list that begins with the name of a kernel");
    }
    for (size_t i = 1; i < json_array_size(value); i++) {
        if (json_array_append(l->args, json_array_get(value, i)) != 0) {
            return cli_out_of_memory();
        }
    }
    return CLI_DONE;
}

static int read_launches(run_case *c)
{
    json_t *launches = json_object_get(c->document, "launch");
    if (!json_is_array(launches)) {
        return BAD(c, "\"launch\" must be a list of launches");
    }
    c->launch = calloc(json_array_size(launches) + 1, sizeof(c->launch[0]));
    if (c->launch == NULL) {
        return cli_out_of_memory();
    }
    size_t i;
    json_t *value;
    json_array_foreach(launches, i, value)
    {
        c->nlaunch++;
        const int status = read_launch(c, &c->launch[i], value);
        if (status != CLI_DONE) {
            return status;
        }
    }
    return CLI_DONE;
}

static int load_document(run_case *c)
{
    static const char *const words[] = {"real",   "index", "arrays", "scalars",
                                        "launch", "print", NULL};
    int status = case_load(c->path, &c->document);
    if (status == CLI_DONE) {
        status = case_known(c->path, NULL, c->document, words);
    }
    if (status != CLI_DONE) {
        return status;
    }
    c->print = json_object_get(c->document, "print");
    for (size_t i = 0; i < json_array_size(c->print); i++) {
        if (!json_is_string(json_array_get(c->print, i))) {
            return BAD(c, "\"print\" must be a list of names");
        }
    }
    if (c->print != NULL && !json_is_array(c->print)) {
        return BAD(c, "\"print\" must be a list of names");
    }
    return CLI_DONE;
}

int case_read(const char *path, int32_t real, int32_t index, run_case *out_case)
{
    static const char *const reals[] = {"f32", "f64", NULL};
    static const char *const indices[] = {"i32", "i64", NULL};
    *out_case = (run_case){.path = path};
    int32_t real_at = 1;
    int32_t index_at = 0;
    int status = load_document(out_case);
    if (status == CLI_DONE) {
        status = case_word(path, NULL, out_case->document, "real", reals, &real_at);
    }
    if (status == CLI_DONE) {
        status = case_word(path, NULL, out_case->document, "index", indices, &index_at);
    }
    if (status == CLI_DONE) {
        out_case->real = real != 0 ? real : real_at == 0 ? RUBUS_F32 : RUBUS_F64;
        out_case->index = index != 0 ? index : index_at == 0 ? RUBUS_I32 : RUBUS_I64;
        status = read_arrays(out_case);
    }
    if (status == CLI_DONE) {
        status = read_scalars(out_case);
    }
    if (status == CLI_DONE) {
        status = read_launches(out_case);
    }
    return status;
}

void case_free(run_case *c)
{
    for (size_t i = 0; i < c->narray; i++) {
        rubus_array_destroy(c->array[i].array);
        free(c->array[i].data);
    }
    for (size_t i = 0; i < c->nlaunch; i++) {
        json_decref(c->launch[i].args);
    }
    free(c->array);
    free(c->launch);
    free(c->result);
    json_decref(c->document);
    *c = (run_case){.path = NULL};
}

case_array *case_find_array(run_case *c, const char *name)
{
    for (size_t i = 0; i < c->narray; i++) {
        if (strcmp(c->array[i].name, name) == 0) {
            return &c->array[i];
        }
    }
    return NULL;
}

case_result *case_result_of(run_case *c, const char *name)
{
    for (size_t i = 0; i < c->nresult; i++) {
        if (strcmp(c->result[i].name, name) == 0) {
            return &c->result[i];
        }
    }
    case_result *grown = realloc(c->result, (c->nresult + 1) * sizeof(grown[0]));
    if (grown == NULL) {
        return NULL;
    }
    c->result = grown;
    grown[c->nresult] = (case_result){.name = name};
    return &grown[c->nresult++];
}
