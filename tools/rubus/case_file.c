/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the JSON document of a case with jansson. Unknown members and numbers that their
 * type cannot hold are errors: a case must not be half read.
 */
#include "config.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "case_file.h"

int case_bad(const char *path, const char *where, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return cli_fail(CLI_INPUT, "%s: %s%s%s", path, where != NULL ? where : "",
                    where != NULL ? ": " : "", text);
}

int case_load(const char *path, json_t **out_document)
{
    json_error_t error;
    FILE *file = NULL;
    const int status = cli_open_input(path, &file);
    if (status != CLI_DONE) {
        return status;
    }
    json_t *document = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);
    if (document == NULL) {
        if (error.line > 0) {
            return cli_fail(CLI_INPUT, "%s:%d:%d: %s", path, error.line, error.column,
                            error.text);
        }
        return case_bad(path, NULL, "%s", error.text);
    }
    if (!json_is_object(document)) {
        json_decref(document);
        return case_bad(path, NULL, "the case is no JSON object");
    }
    *out_document = document;
    return CLI_DONE;
}

// "a, b, c"; `last` stands before the last word.
static void list_words(const char *const *words, const char *quote, const char *last,
                       char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; words[i] != NULL && used < room; i++) {
        const char *between = i == 0 ? "" : words[i + 1] == NULL ? last : ", ";
        const int n = snprintf(text + used, room - used, "%s%s%s%s", between, quote,
                               words[i], quote);
        used += n > 0 ? (size_t)n : 0;
    }
}

int case_known(const char *path, const char *where, json_t *object,
               const char *const *words)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (words[i] != NULL && strcmp(key, words[i]) != 0) {
            i++;
        }
        if (words[i] == NULL) {
            char list[256];
            list_words(words, "", ", ", list, sizeof(list));
            return case_bad(path, where, "unknown member \"%s\" (known: %s)", key, list);
        }
    }
    return CLI_DONE;
}

int case_word(const char *path, const char *where, json_t *object, const char *member,
              const char *const *words, int32_t *out)
{
    const json_t *value = json_object_get(object, member);
    if (value == NULL) {
        return CLI_DONE;
    }
    const char *text = json_string_value(value);
    for (int32_t i = 0; text != NULL && words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = i;
            return CLI_DONE;
        }
    }
    char list[256];
    list_words(words, "\"", " or ", list, sizeof(list));
    return case_bad(path, where, "\"%s\" must be %s", member, list);
}

bool case_real(const json_t *value, double *out)
{
    const char *word = json_string_value(value);
    if (json_is_number(value)) {
        *out = json_number_value(value);
    } else if (word != NULL && strcmp(word, "nan") == 0) {
        *out = (double)NAN;
    } else if (word != NULL && strcmp(word, "inf") == 0) {
        *out = HUGE_VAL;
    } else if (word != NULL && strcmp(word, "-inf") == 0) {
        *out = -HUGE_VAL;
    } else {
        return false;
    }
    return true;
}

bool case_real_as(int32_t type, const json_t *value, double *out)
{
    return case_real(value, out) &&
           (type != RUBUS_F32 || !isfinite(*out) || fabs(*out) <= (double)FLT_MAX);
}

bool case_put_real(int32_t type, void *data, int64_t at, const json_t *value)
{
    double number = 0;
    if (!case_real_as(type, value, &number)) {
        return false;
    }
    if (type == RUBUS_F64) {
        ((double *)data)[at] = number;
    } else {
        ((float *)data)[at] = (float)number;
    }
    return true;
}
