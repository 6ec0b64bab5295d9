/* SPDX-License-Identifier: Apache-2.0 */
/* The one JSON object that a command prints with --json. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

json_t *cli_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *cli_json_string(const char *text)
{
    json_t *string = json_string(text);
    if (string != NULL) {
        return string;
    }
    char *copy = strdup(text);
    if (copy == NULL) {
        return NULL;
    }
    for (char *c = copy; *c != '\0'; c++) {
        if ((unsigned char)*c > 127) {
            *c = '?';
        }
    }
    string = json_string(copy);
    free(copy);
    return string;
}

bool cli_json_add(json_t *object, const char *key, json_t *value)
{
    // Takes the value over, also when it fails or when value or object is NULL.
    return json_object_set_new(object, key, value) == 0;
}

int cli_json_finish(json_t *object, int exit_status)
{
    if (object == NULL) {
        return cli_out_of_memory();
    }
    const int failed = json_dumpf(object, stdout, JSON_REAL_PRECISION(17));
    json_decref(object);
    if (failed != 0 && !ferror(stdout)) {
        return cli_out_of_memory();
    }
    fputc('\n', stdout);
    return cli_finish(exit_status);
}
