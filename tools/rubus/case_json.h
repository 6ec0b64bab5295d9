/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TOOLS_CASE_JSON_H
#define RUBUS_TOOLS_CASE_JSON_H
/*
 * A case for `rubus run`: arrays, scalars and launches, read from a JSON file and checked
 * before any device is opened. What depends on the kernels (kinds of parameters) is
 * checked when a launch is made.
 */
#include "case_file.h"

typedef struct case_array {
    const char *name; // of the JSON document
    int32_t type;     // RUBUS_F64 ... with the case's real and index filled in
    rubus_shape shape;
    int64_t count;
    void *data; // count elements of type
    bool printed;
    rubus_array *array; // NULL until the case runs
} case_array;

typedef struct case_result {
    const char *name;
    double value;
    bool printed;
} case_result;

typedef struct case_launch {
    const char *kernel;
    json_t *args;   // array of names and numbers
    int32_t nrange; // 0: the kernel's own range
    int64_t lo[3];
    int64_t hi[3];
} case_launch;

typedef struct run_case {
    const char *path; // for messages
    json_t *document;
    int32_t real;  // RUBUS_F32 or RUBUS_F64
    int32_t index; // RUBUS_I32 or RUBUS_I64
    size_t narray;
    case_array *array;
    json_t *scalars; // object, or NULL
    size_t nlaunch;
    case_launch *launch;
    json_t *print; // array of names, or NULL
    size_t nresult;
    case_result *result; // in the order of the launches; grows while they are made
} run_case;

/* Reads the file. real and index: of the command line, 0 if not given there. On failure
 * returns an exit status after its message; give the case back either way. */
int case_read(const char *path, int32_t real, int32_t index, run_case *out_case);
void case_free(run_case *c); /* destroys the arrays too */

case_array *case_find_array(run_case *c, const char *name);
/* The result called `name`, made if need be; NULL if out of memory. */
case_result *case_result_of(run_case *c, const char *name);
const char *case_type_name(int32_t type);

#endif
