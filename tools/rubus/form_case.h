/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TOOLS_FORM_CASE_H
#define RUBUS_TOOLS_FORM_CASE_H
/*
 * A case for `rubus form`: mesh, forms, their parameters, what to do with them; read from
 * a JSON file and checked before any device is opened. What depends on the forms (which
 * parameters they have) and on the mesh (labels, how many numbers a list needs) is
 * checked by form_problem.c.
 */
#include "case_file.h"

/* Where a number, or one for each point, comes from. */
enum {
    FORM_NOTHING, // it is not in the case
    FORM_NUMBER,
    FORM_FUNC, // a func of the module, projected
    FORM_LIST,
};

typedef struct form_source {
    int32_t kind;
    double number;
    const char *func;
    int32_t how; // RUBUS_POINT, RUBUS_CELL_MEAN
    double time;
    int32_t axis; // a list along one axis; -1: over all points
    int64_t n;
    void *list; // [n] numbers of the case's type, x fastest, components one after another
} form_source;

typedef struct form_mark {
    const char *label;
    const char *faces; // names of faces, or NULL
    const char *func;  // or a func of the module
} form_mark;

typedef struct form_setting {
    const char *name;
    form_source source;
} form_setting;

typedef struct form_condition {
    const char *labels;
    int32_t component; // -1: all
    form_source source;
} form_condition;

enum { FORM_SOLVE, FORM_APPLY, FORM_ASSEMBLE, FORM_VECTOR, FORM_VALUE };
enum { FORM_CG, FORM_BICGSTAB, FORM_BY_SYMMETRY };
enum { FORM_STORED_NONE, FORM_STORED_STENCIL, FORM_STORED_CSR };

/* Strings live as long as the document. */
typedef struct form_case {
    const char *path; // for messages
    json_t *document;
    int32_t real; // RUBUS_F32 or RUBUS_F64
    rubus_mesh_desc mesh;
    double *point[3]; // those of mesh.axis, to be freed
    int64_t refine;
    size_t nmark;
    form_mark *mark;
    int32_t ncomponent;
    int32_t what;       // FORM_SOLVE ...
    const char *matrix; // names of forms; NULL: not in the case
    const char *vector;
    size_t nsetting;
    form_setting *setting;
    size_t ncondition;
    form_condition *condition;
    int32_t solver;  // FORM_CG ...
    int32_t stored;  // FORM_STORED_NONE ...
    bool symmetrise; // constrained columns too: what leaves the library
    double rtol;     // 0: the library's
    double atol;
    int64_t niter;
    form_source x;
    form_source y;
    form_source exact;
} form_case;

/* What a case may do, in the order of FORM_SOLVE ...; ends with NULL. */
extern const char *const form_whats[];

/* Reads the file. real and what: of the command line, 0 and -1 if not given there. On
 * failure returns an exit status after its message; give the case back either way. */
int form_case_read(const char *path, int32_t real, int32_t what, form_case *out_case);
void form_case_free(form_case *c);

#endif
